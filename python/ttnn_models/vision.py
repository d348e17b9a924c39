"""Vision transformers on a row of chips: rows of patches whole on every chip, heads and inner widths split over
chips, sums over chips behind each. Heads have their size in tiles, with zeros."""

import array
import ctypes
import math

import ttnn

from ttnn_models import grids, machine
from ttnn_models.decoder import LINKS
from ttnn_models.grids import TILE
from ttnn_models.reference import InTorch, InTtnn, correlation
from ttnn_models.source import on_host
from ttnn_models.weights import Weights

BOUND = 0.99
CHANNELS = 3
KEPT = (3, 7, 15, 23, 30)  # layers whose output goes on beside the last one's, where there are global layers
DRAM = ttnn.DRAM_MEMORY_CONFIG


class Sizes:
    """Of one tower on some chips."""

    def __init__(self, tower, chips):
        self.tower, self.chips = tower, chips
        self.side = tower.picture // tower.patch
        self.patches = self.side**2
        self.rows = grids.up(self.patches + tower.class_token, TILE) * tower.tiles
        self.head = tower.width // tower.heads
        self.padded = grids.up(self.head, TILE)
        self.heads = tower.heads // chips
        self.inner = grids.up(tower.inner, TILE * chips)
        self.pixels = grids.up(CHANNELS * tower.patch**2, TILE)


def rows_of(host):
    """Rows of a matrix on the host."""
    if isinstance(host, ttnn.Tensor):
        return [array.array("f", row) for row in host.to_list()]
    host, width, numbers = host.contiguous(), host.shape[1], array.array("f")
    numbers.frombytes(ctypes.string_at(host.data_ptr(), 4 * host.numel()))
    return [numbers[i * width : (i + 1) * width] for i in range(host.shape[0])]


def joined(parts):
    """Arrays one behind the other."""
    found = array.array("f")
    found.frombytes(b"".join(part.tobytes() for part in parts))
    return found


class TowerWeights:
    """Numbers on the host, by name; matrices have their inputs in rows."""

    def __init__(self, tower, weights):
        self.tower, self.weights = tower, weights
        self.sizes = Sizes(tower, weights.chips)

    def matrix(self, name, shape):
        return self.weights.host(f"vision.{name}.weight", shape)

    def bias(self, name, width):
        return self.weights.host(f"vision.{name}.bias", (1, width), spread=0.05)

    def norm(self, name):
        shape = (1, self.tower.width)
        return self.weights.host(f"vision.{name}.weight", shape, spread=0.05, middle=1.0), self.bias(name, self.tower.width)

    def heads(self, name, part):
        """Queries, keys or values, unpadded: [width, heads * size] and their bias."""
        width = self.tower.width
        return self.matrix(f"{name}.{part}", (width, width)), self.bias(f"{name}.{part}", width)

    def _split(self, host):
        """Rows of a matrix of heads, each as its heads with zeros behind them."""
        size, zeros = self.sizes.head, array.array("f", bytes(4 * (self.sizes.padded - self.sizes.head)))
        return [[row[i * size : (i + 1) * size] + zeros for i in range(self.tower.heads)] for row in rows_of(host)]

    def fused(self, name):
        """(weight, bias) of all heads, chip by chip: its queries, its keys, its values."""
        found, own = [], self.sizes.heads
        for which in (0, 1):
            parts = [self._split(self.heads(name, part)[which]) for part in ("q", "k", "v")]
            chips = range(self.weights.chips)
            rows = [[head for chip in chips for part in row for head in part[chip * own : (chip + 1) * own]] for row in zip(*parts)]
            found.append(self._made(joined(row) for row in rows))
        return found

    def out(self, name):
        """Rows of heads with zeros behind each head."""
        width, size = self.tower.width, self.sizes.head
        rows = rows_of(self.matrix(f"{name}.out", (width, width)))
        zeros = [array.array("f", bytes(4 * width))] * (self.sizes.padded - size)
        return self._made(row for i in range(self.tower.heads) for row in rows[i * size : (i + 1) * size] + zeros)

    def inner(self, name, part):
        tower, missing = self.tower, self.sizes.inner - self.tower.inner
        if part == "up":
            zeros = array.array("f", bytes(4 * missing))
            hosts = self.matrix(f"{name}.up", (tower.width, tower.inner)), self.bias(f"{name}.up", tower.inner)
            return [self._made(row + zeros for row in rows_of(host)) for host in hosts]
        rows = rows_of(self.matrix(f"{name}.down", (tower.inner, tower.width)))
        zeros = [array.array("f", bytes(4 * tower.width))] * missing
        return self._made(rows + zeros), self.bias(f"{name}.down", tower.width)

    def _made(self, rows):
        """Rows as a matrix on the host."""
        rows = list(rows)
        return on_host(joined(rows), (len(rows), len(rows[0])), self.weights.torch)

    def gates(self, name):
        """How much of attention and feed-forward a global layer adds."""
        return [math.tanh(0.5 + 0.1 * (self.weights.number(f"{name}.{part}") % 7)) for part in ("attention", "feed_forward")]


class Layer:
    def __init__(self, numbers, links, name, gated=False):
        tower, weights, self.sizes, self.links = numbers.tower, numbers.weights, numbers.sizes, links
        self.tower, sizes, dry, put = tower, numbers.sizes, weights.dry, weights.put
        fused = 3 * tower.heads * sizes.padded
        make = (lambda function, *given: (None, None)) if dry else (lambda function, *given: function(*given))
        self.norms = [[put(host, (1, 1, 1, tower.width)) for host in make(numbers.norm, f"{name}.{part}")] for part in ("norm1", "norm2")]
        weight, bias = make(numbers.fused, name)
        self.fused = put(weight, (1, 1, tower.width, fused), ttnn.bfloat8_b, split=3), put(bias, (1, 1, 1, fused), split=3)
        rows = tower.heads * sizes.padded
        self.out = put(None if dry else numbers.out(name), (1, 1, rows, tower.width), ttnn.bfloat8_b, split=2)
        self.out_bias = put(None if dry else numbers.bias(f"{name}.out", tower.width), (1, 1, 1, tower.width))
        weight, bias = make(numbers.inner, name, "up")
        self.up = put(weight, (1, 1, tower.width, sizes.inner), ttnn.bfloat8_b, split=3), put(bias, (1, 1, 1, sizes.inner), split=3)
        weight, bias = make(numbers.inner, name, "down")
        self.down = put(weight, (1, 1, sizes.inner, tower.width), ttnn.bfloat8_b, split=2)
        self.down_bias = put(bias, (1, 1, 1, tower.width))
        self.gates = numbers.gates(name) if gated else (None, None)

    def _normed(self, x, which):
        weight, bias = self.norms[which]
        return ttnn.layer_norm(x, weight=weight, bias=bias, epsilon=self.tower.epsilon, memory_config=DRAM)

    def _added(self, x, y, bias, gate):
        y = ttnn.add(self.links.total(y), bias)
        return ttnn.add(x, y if gate is None else ttnn.multiply(y, gate))

    def __call__(self, x, mask=None):
        sizes = self.sizes
        common = dict(dtype=ttnn.bfloat16, memory_config=DRAM, compute_kernel_config=grids.kernel(ttnn.MathFidelity.HiFi2, True, True))
        linear = lambda t, weight, bias, **more: ttnn.linear(t, weight, bias=bias, **common, **more)
        n = self._normed(x, 0)
        fused = linear(n, *self.fused)
        ttnn.deallocate(n)
        q, k, v = ttnn.experimental.nlp_create_qkv_heads(
            fused, num_heads=sizes.heads, num_kv_heads=sizes.heads, transpose_k_heads=False, memory_config=DRAM
        )
        ttnn.deallocate(fused)
        context = ttnn.transformer.scaled_dot_product_attention(
            q, k, v, is_causal=False, scale=sizes.head**-0.5, attn_mask=mask,
            program_config=grids.attention(TILE * grids.divisor(sizes.rows // TILE, 4)),
            compute_kernel_config=grids.kernel(ttnn.MathFidelity.HiFi4, False, True),
        )
        for used in (q, k, v):
            ttnn.deallocate(used)
        merged = ttnn.experimental.nlp_concat_heads(context, memory_config=DRAM)
        ttnn.deallocate(context)
        x = self._added(x, linear(merged, self.out, None), self.out_bias, self.gates[0])
        ttnn.deallocate(merged)
        n = self._normed(x, 1)
        inner = linear(n, *self.up, activation="gelu")
        ttnn.deallocate(n)
        x = self._added(x, linear(inner, self.down, None), self.down_bias, self.gates[1])
        ttnn.deallocate(inner)
        return x


class Links:
    """Sums over the row of chips, whole on every chip: gathered, then added."""

    def __init__(self, device):
        self.chips = device.get_num_devices()
        cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 7))})
        self.semaphores = [ttnn.create_global_semaphore(device, cores, 0) for _ in range(2)]
        self.barrier = ttnn.create_global_semaphore(device, cores, 0)

    def total(self, x):
        if self.chips == 1:
            return x
        gathered = ttnn.experimental.all_gather_async(
            x, persistent_output_buffer=None, dim=1, multi_device_global_semaphore=self.semaphores, num_links=1,
            topology=ttnn.Topology.Ring if self.chips == 8 else ttnn.Topology.Linear, memory_config=DRAM,
            barrier_semaphore=self.barrier, **LINKS,
        )
        ttnn.deallocate(x)
        summed = ttnn.experimental.fast_reduce_nc(gathered, dims=[1], output=None, compute_kernel_config=None, memory_config=DRAM)
        ttnn.deallocate(gathered)
        return summed


def keeps(tower, number):
    """Whether the output of a layer goes on beside the last one's."""
    return bool(tower.global_layers) and number in KEPT


def kept_operations(tower):
    """What a whole tower calls for those: a copy of each, and one to put them together."""
    kept = sum(keeps(tower, number) for number in range(tower.layers))
    return kept + bool(kept)


class Tower:
    """Patches to rows of the decoder's width; `width` is that of the decoder, split over chips."""

    def __init__(self, tower, weights, width, layers=None, behind=None, ends=True):
        self.tower, self.weights = tower, weights
        self.numbers = numbers = TowerWeights(tower, weights)
        self.sizes, self.links = numbers.sizes, Links(weights.device)
        count = tower.layers if layers is None else min(layers, tower.layers)
        behind = count if behind is None and layers is not None else behind
        behind = tower.global_layers if behind is None else min(behind, tower.global_layers)
        self.layers = [Layer(numbers, self.links, f"layers.{i}") for i in range(count)]
        self.global_layers = [Layer(numbers, self.links, f"global.{i}", gated=True) for i in range(behind)]
        if ends:
            self._make_ends(width)

    def _make_ends(self, width):
        tower, sizes, weights = self.tower, self.sizes, self.weights
        make = lambda name, shape, split=None, dtype=ttnn.bfloat8_b: weights.make(f"vision.{name}", shape, dtype, split=split)
        self.patch = make("patch", (1, 1, sizes.pixels, tower.width))
        self.places = make("positions", (1, 1, sizes.rows, tower.width), dtype=ttnn.bfloat16)
        self.norms = [make(f"norm{i}", (1, 1, 1, tower.width), dtype=ttnn.bfloat16) for i in range(2)]
        wide = tower.width * (1 + sum(keeps(self.tower, number) for number in range(len(self.layers))))
        self.projection = make("projection", (1, 1, wide, width), 3)


    def encode(self, x):
        """Through all layers; (the last output, those that are kept)."""
        kept = []
        for number, layer in enumerate(self.layers):
            x = layer(x)
            if keeps(self.tower, number):
                kept.append(ttnn.clone(x))
        for layer in self.global_layers:
            x = layer(x)
        return x, kept

    def __call__(self, patches):
        """Rows of the decoder: one for each patch or, where the tower pools, for each square of patches."""
        tower, sizes = self.tower, self.sizes
        x = ttnn.linear(patches, self.patch, dtype=ttnn.bfloat16, memory_config=DRAM)
        x, kept = self.encode(ttnn.add(x, self.places))
        x = ttnn.layer_norm(x, weight=self.norms[0], epsilon=tower.epsilon)
        if kept:
            x = ttnn.concat([x, *kept], dim=-1)
        if tower.pooled:
            step = sizes.side // math.isqrt(tower.pooled)
            x = ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT)
            x = ttnn.avg_pool2d(
                input_tensor=x, batch_size=1, input_h=sizes.side, input_w=sizes.side, channels=tower.width,
                kernel_size=[step, step], stride=[step, step], padding=[0, 0], output_layout=ttnn.TILE_LAYOUT,
            )
            x = ttnn.to_memory_config(ttnn.reshape(x, (1, 1, tower.pooled, tower.width)), DRAM)
            x = ttnn.rms_norm(x, weight=self.norms[1], epsilon=tower.epsilon)
        return ttnn.linear(x, self.projection, dtype=ttnn.bfloat16, memory_config=DRAM)

    def given(self):
        """The patches of a picture."""
        shape = (1, 1, self.sizes.rows, self.sizes.pixels)
        return self.weights.make("picture", shape, ttnn.bfloat16, spread=1.0)


def reference_layer(f, numbers, name, x, gated=False):
    """A layer in float32, in torch or in ttnn's plain operations."""
    tower = numbers.tower
    take = lambda pair: [f.take(host) for host in pair]
    linear = lambda t, pair: (lambda weight, bias: f.add(f.matmul(t, weight), bias))(*take(pair))
    norm = lambda t, part: f.layer_norm(t, *take(numbers.norm(f"{name}.{part}")), tower.epsilon)
    pair = lambda part, *shape: (numbers.matrix(f"{name}.{part}", shape), numbers.bias(f"{name}.{part}", shape[1]))
    attend, feed = numbers.gates(name) if gated else (1.0, 1.0)
    n = norm(x, "norm1")
    q, k, v = (f.heads(linear(n, numbers.heads(name, part)), tower.heads) for part in "qkv")
    scores = f.softmax(f.multiply(f.matmul(q, f.transposed(k)), numbers.sizes.head**-0.5))
    attended = linear(f.merged(f.matmul(scores, v)), pair("out", tower.width, tower.width))
    x = f.add(x, f.multiply(attended, attend))
    inner = f.gelu(linear(norm(x, "norm2"), pair("up", tower.width, tower.inner)))
    return f.add(x, f.multiply(linear(inner, pair("down", tower.inner, tower.width)), feed))


def compute_layers(tower, device, seed=0, rows=512):
    """{what: correlation} of one layer of each kind, on some rows, against float32."""
    weights = Weights(device, seed=seed)
    network = Tower(tower, weights, 0, layers=1, ends=False)
    network.sizes.rows = rows
    host = weights.host("rows", (rows, tower.width), spread=1.0)
    f = InTorch() if weights.torch else InTtnn(device)
    found = {}
    kinds = [("layers.0", network.layers[0], False)] + [("global.0", layer, True) for layer in network.global_layers]
    for name, layer, gated in kinds:
        out = ttnn.get_device_tensors(layer(weights.put(host, (1, 1, rows, tower.width))))[0].cpu()
        if not machine.compares():
            continue
        expected = f.give(reference_layer(f, network.numbers, name, f.take(host), gated))
        pair = (expected, ttnn.to_torch(out).float()[0, 0]) if weights.torch else (expected.to_list(), out.to_list()[0][0])
        found[f"vision {name}"] = correlation(*pair)
    return found


def dry(tower, device, width, layers=None):
    """The whole tower without dispatch."""
    with machine.Dry() as run:
        network = Tower(tower, Weights(device, dry=True), width, layers)
        network(network.given())
    return run
