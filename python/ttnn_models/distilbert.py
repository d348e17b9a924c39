"""DistilBERT for question answering: 6 layers, 384 tokens, 8 texts on every chip; nothing goes between chips."""

import array
import random

import ttnn

from ttnn_models import machine
from ttnn_models.reference import InTorch, InTtnn, correlation
from ttnn_models.weights import Weights

LAYERS, WIDTH, HEADS, INNER, VOCABULARY, POSITIONS = 6, 768, 12, 3072, 30522, 512
LENGTH, TEXTS = 384, 8
EPSILON = 1e-12
BOUND = 0.99
L1 = ttnn.L1_MEMORY_CONFIG


class Parameters:
    """Weights of a layer by name: on the chips, or for a reference on the host."""

    MATRICES = {"qkv": (WIDTH, 3 * WIDTH), "out": (WIDTH, WIDTH), "up": (WIDTH, INNER), "down": (INNER, WIDTH)}
    NORMS = ("norm", "last_norm")

    def __init__(self, weights, name):
        self.weights, self.name = weights, name

    def host(self, part):
        name, weights = f"{self.name}.{part}", self.weights
        if part in self.MATRICES:
            shape = self.MATRICES[part]
            return weights.host(f"{name}.weight", shape), weights.host(f"{name}.bias", (1, shape[1]), spread=0.02)
        return weights.host(f"{name}.weight", (1, WIDTH), spread=0.05, middle=1.0), weights.host(f"{name}.bias", (1, WIDTH), spread=0.05)

    def put(self, part):
        shapes = (self.MATRICES[part], (1, self.MATRICES[part][1])) if part in self.MATRICES else ((1, WIDTH),) * 2
        dtype = ttnn.bfloat8_b if part in self.MATRICES else ttnn.bfloat16
        hosts = (None, None) if self.weights.dry else self.host(part)
        return [self.weights.put(host, shape, dtype) for host, shape in zip(hosts, shapes)]


class Layer:
    def __init__(self, weights, number):
        parameters = Parameters(weights, f"layer.{number}")
        for part in (*Parameters.MATRICES, *Parameters.NORMS):
            setattr(self, part, parameters.put(part))
        self.grid = weights.device.core_grid

    def _linear(self, x, part, dtype=ttnn.bfloat16, **more):
        weight, bias = getattr(self, part)
        return ttnn.linear(x, weight, bias=bias, memory_config=L1, dtype=dtype, core_grid=self.grid, **more)

    def _normed(self, x, part):
        weight, bias = getattr(self, part)
        kernel = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4)
        return ttnn.layer_norm(x, weight=weight, bias=bias, epsilon=EPSILON, memory_config=L1, compute_kernel_config=kernel)

    def __call__(self, x, mask):
        fused = self._linear(x, "qkv", ttnn.bfloat8_b)
        q, k, v = ttnn.transformer.split_query_key_value_and_split_heads(fused, memory_config=L1, num_heads=HEADS)
        ttnn.deallocate(fused)
        scores = ttnn.matmul(q, k, memory_config=ttnn.DRAM_MEMORY_CONFIG, dtype=ttnn.bfloat16, core_grid=self.grid)
        ttnn.deallocate(q), ttnn.deallocate(k)
        scores = ttnn.transformer.attention_softmax_(scores, attention_mask=mask, head_size=WIDTH // HEADS)
        context = ttnn.matmul(scores, v, memory_config=L1, dtype=ttnn.bfloat16, core_grid=self.grid)
        ttnn.deallocate(scores), ttnn.deallocate(v)
        merged = ttnn.transformer.concatenate_heads(context, memory_config=L1)
        ttnn.deallocate(context)
        attended = self._linear(merged, "out")
        ttnn.deallocate(merged)
        h = self._normed(x + attended, "norm")
        ttnn.deallocate(x), ttnn.deallocate(attended)
        inner = self._linear(h, "up", activation="gelu")
        fed = self._linear(inner, "down")
        ttnn.deallocate(inner)
        y = self._normed(fed + h, "last_norm")
        ttnn.deallocate(h), ttnn.deallocate(fed)
        return y


class DistilBert:
    def __init__(self, weights, layers=LAYERS):
        self.weights = weights
        rows = dict(layout=ttnn.ROW_MAJOR_LAYOUT, spread=1.0)
        self.words = weights.make("words", (VOCABULARY, WIDTH), **rows)
        self.places = weights.make("positions", (POSITIONS, WIDTH), **rows)
        self.norm = Parameters(weights, "embedding").put("norm")
        self.layers = [Layer(weights, number) for number in range(layers)]
        self.answer = weights.make("answer.weight", (WIDTH, 2))
        self.answer_bias = weights.make("answer.bias", (1, 2), spread=0.05)

    def __call__(self, tokens, positions, mask):
        """Logits of the first and the last word of the answer."""
        words = ttnn.embedding(tokens, self.words, layout=ttnn.TILE_LAYOUT)
        x = words + ttnn.embedding(positions, self.places, layout=ttnn.TILE_LAYOUT)
        ttnn.deallocate(words)
        weight, bias = self.norm
        x = ttnn.layer_norm(x, weight=weight, bias=bias, epsilon=EPSILON, memory_config=L1)
        for layer in self.layers:
            x = layer(x, mask)
        return ttnn.linear(x, self.answer, bias=self.answer_bias, memory_config=ttnn.DRAM_MEMORY_CONFIG)


def texts(count, seed=0):
    """[(tokens, how many are words and no padding)], some shorter than others."""
    numbers = random.Random(seed)
    lengths = [numbers.randrange(LENGTH // 2, LENGTH + 1) for _ in range(count)]
    return [([numbers.randrange(VOCABULARY) if i < n else 0 for i in range(LENGTH)], n) for n in lengths]


def _given(weights, rows):
    """Tokens, positions and mask on the chips, each chip with its own texts."""
    count = len(rows)

    def put(values, shape, kind, dtype, layout):
        if weights.dry:
            local = [shape[0] // weights.chips, *shape[1:]]
            return ttnn.empty(local, dtype, layout, weights.device, ttnn.DRAM_MEMORY_CONFIG)
        host = memoryview(array.array(kind, values)).cast("B").cast(kind, list(shape))
        mapper = ttnn.ShardTensorToMesh(weights.device, dim=0)
        return ttnn.from_torch(host, dtype=dtype, layout=layout, device=weights.device, mesh_mapper=mapper)

    in_rows = ("i", ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT)
    tokens = put([t for row, _ in rows for t in row], (count, LENGTH), *in_rows)
    positions = put([*range(LENGTH)] * count, (count, LENGTH), *in_rows)
    hidden = [0.0 if i < n else -1e5 for _, n in rows for i in range(LENGTH)]
    return tokens, positions, put(hidden, (count, 1, 1, LENGTH), "f", ttnn.bfloat16, ttnn.TILE_LAYOUT)


def _expected(weights, row, words, layers):
    """One text in float32, without its padding."""
    f = InTorch() if weights.torch else InTtnn(weights.device)
    get = lambda name, part: [f.take(host) for host in Parameters(weights, name).host(part)]
    x = f.take(_embedded(weights, row[:words]))
    x = f.layer_norm(x, *get("embedding", "norm"), EPSILON)
    for number in range(layers):
        name = f"layer.{number}"
        linear = lambda t, part: (lambda w, b: f.add(f.matmul(t, w), b))(*get(name, part))
        fused = linear(x, "qkv")
        q, k, v = (f.heads(f.columns(fused, [(i * WIDTH, (i + 1) * WIDTH)]), HEADS) for i in range(3))
        scores = f.multiply(f.matmul(q, f.transposed(k)), (WIDTH // HEADS) ** -0.5)
        attended = linear(f.merged(f.matmul(f.softmax(scores), v)), "out")
        x = f.layer_norm(f.add(x, attended), *get(name, "norm"), EPSILON)
        fed = linear(f.gelu(linear(x, "up")), "down")
        x = f.layer_norm(f.add(x, fed), *get(name, "last_norm"), EPSILON)
    x = f.matmul(x, f.take(weights.host("answer.weight", (WIDTH, 2))))
    return f.give(f.add(x, f.take(weights.host("answer.bias", (1, 2), spread=0.05))))


def _embedded(weights, tokens):
    shapes = (("words", (VOCABULARY, WIDTH), tokens), ("positions", (POSITIONS, WIDTH), range(len(tokens))))
    if weights.torch:
        words, places = (weights.host(name, shape, spread=1.0) for name, shape, _ in shapes)
        return words[tokens] + places[: len(tokens)]
    found = []
    for name, shape, wanted in shapes:
        table = weights.make(name, shape, layout=ttnn.ROW_MAJOR_LAYOUT, spread=1.0)
        picked = ttnn.embedding(weights.whole_numbers(wanted, (1, len(tokens)), ttnn.uint32), table)
        found.append(ttnn.get_device_tensors(picked)[0].cpu().to_list()[0])
    values = array.array("f", (a + b for rows in zip(*found) for a, b in zip(*rows)))
    view = memoryview(values).cast("B").cast("f", [len(tokens), WIDTH])
    return ttnn.from_torch(view, dtype=ttnn.float32, layout=ttnn.ROW_MAJOR_LAYOUT)


def compute(device, layers=LAYERS, per_chip=TEXTS, compared=2, seed=0):
    """The smallest correlation of some texts, with torch or with ttnn's plain operations."""
    weights = Weights(device, seed=seed)
    rows = texts(per_chip * weights.chips, seed)
    out = DistilBert(weights, layers)(*_given(weights, rows))
    parts = [ttnn.to_layout(part.cpu(), ttnn.ROW_MAJOR_LAYOUT) for part in ttnn.get_device_tensors(out)]
    if not machine.compares():
        return None
    found = []
    for index in range(0, len(rows), max(1, len(rows) // compared)):
        row, words = rows[index]
        part, place = parts[index // per_chip], index % per_chip
        expected = _expected(weights, row, words, layers)
        if weights.torch:
            found.append(correlation(expected, ttnn.to_torch(part)[place, :words].float()))
        else:
            found.append(correlation(expected.to_list(), part.to_list()[place][:words]))
    return min(found)


def dry(device, layers=LAYERS):
    with machine.Dry() as run:
        weights = Weights(device, dry=True)
        DistilBert(weights, layers)(*_given(weights, texts(TEXTS * weights.chips)))
    return run


def run(device, layers=None, say=print):
    """What the demo does: the network computed, and without dispatch."""
    layers = LAYERS if layers is None else min(layers, LAYERS)
    title = f"DistilBERT, {layers} of {LAYERS} layers, {TEXTS} texts on each of {device.get_num_devices()} chips"
    return machine.demo(device, title, BOUND, lambda: compute(device, layers), lambda: machine.counted(lambda layers: dry(device, layers), LAYERS), say)
