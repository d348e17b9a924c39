"""Vision transformers on a row of chips: rows of patches whole on every chip, heads and inner widths split over
chips, sums over chips behind each. Heads have their size in tiles, with zeros."""

import math

import ttnn

from ttnn_models import grids, machine
from ttnn_models.decoder import LINKS
from ttnn_models.grids import TILE

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


class TowerWeights:
    """Numbers on the host, by name; matrices have their inputs in rows. Needs torch, but for dry runs."""

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

    def _padded(self, columns):
        """Columns of heads with zeros behind each head."""
        import torch

        sizes, tower = self.sizes, self.tower
        split = columns.reshape(-1, tower.heads, sizes.head)
        return torch.nn.functional.pad(split, (0, sizes.padded - sizes.head))

    def fused(self, name):
        """(weight, bias) of all heads, chip by chip: its queries, its keys, its values."""
        import torch

        found = []
        for which in (0, 1):
            parts = [self._padded(self.heads(name, part)[which]).chunk(self.weights.chips, dim=1) for part in ("q", "k", "v")]
            rows = parts[0][0].shape[0]
            found.append(torch.cat([part[chip].reshape(rows, -1) for chip in range(self.weights.chips) for part in parts], dim=1))
        return found

    def out(self, name):
        """Rows of heads with zeros behind each head."""
        width = self.tower.width
        matrix = self.matrix(f"{name}.out", (width, width))
        return self._padded(matrix.T).reshape(width, -1).T.contiguous()

    def inner(self, name, part):
        import torch

        tower, missing = self.tower, self.sizes.inner - self.tower.inner
        if part == "up":
            matrix, bias = self.matrix(f"{name}.up", (tower.width, tower.inner)), self.bias(f"{name}.up", tower.inner)
            return torch.nn.functional.pad(matrix, (0, missing)), torch.nn.functional.pad(bias, (0, missing))
        matrix = self.matrix(f"{name}.down", (tower.inner, tower.width))
        return torch.nn.functional.pad(matrix, (0, 0, 0, missing)), self.bias(f"{name}.down", tower.width)

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


def reference_layer(numbers, name, x, gated=False):
    """A layer in float32, in torch."""
    import torch

    tower = numbers.tower
    f = torch.nn.functional
    norm = lambda t, part: f.layer_norm(t, (tower.width,), *(h.flatten() for h in numbers.norm(f"{name}.{part}")), tower.epsilon)
    gates = numbers.gates(name) if gated else (1.0, 1.0)
    n = norm(x, "norm1")
    q, k, v = ((n @ w + b).reshape(-1, tower.heads, numbers.sizes.head).transpose(0, 1) for w, b in (numbers.heads(name, p) for p in "qkv"))
    merged = f.scaled_dot_product_attention(q, k, v).transpose(0, 1).reshape(-1, tower.width)
    x = x + gates[0] * (merged @ numbers.matrix(f"{name}.out", (tower.width, tower.width)) + numbers.bias(f"{name}.out", tower.width))
    n = norm(x, "norm2")
    linear = lambda t, part, *shape: t @ numbers.matrix(f"{name}.{part}", shape) + numbers.bias(f"{name}.{part}", shape[1])
    inner = f.gelu(linear(n, "up", tower.width, tower.inner), approximate="tanh")
    return x + gates[1] * linear(inner, "down", tower.inner, tower.width)


def compute_layers(tower, device, seed=0, rows=512):
    """{what: correlation} of one layer of each kind, on some rows, against torch."""
    import torch

    from ttnn_models.reference import correlation
    from ttnn_models.weights import Weights

    weights = Weights(device, seed=seed)
    network = Tower(tower, weights, 0, layers=1, ends=False)
    network.sizes.rows = rows
    host = weights.host("rows", (rows, tower.width), spread=1.0)
    found = {}
    kinds = [("layers.0", network.layers[0], False)] + [("global.0", layer, True) for layer in network.global_layers]
    with torch.no_grad():
        for name, layer, gated in kinds:
            out = layer(weights.put(host, (1, 1, rows, tower.width)))
            out = ttnn.to_torch(ttnn.get_device_tensors(out)[0]).float()[0, 0]
            found[f"vision {name}"] = correlation(reference_layer(network.numbers, name, host, gated), out)
    return found


def dry(tower, device, width, layers=None):
    """The whole tower without dispatch."""
    from ttnn_models.weights import Weights

    with machine.Dry() as run:
        network = Tower(tower, Weights(device, dry=True), width, layers)
        network(network.given())
    return run
