"""Sentence BERT: BERT-base over 8 texts of 384 words, block-sharded on 6x8 cores, and the mean of each text's words.

Each column of cores has two heads: the columns of the fused matrix are its queries, its keys, its values.
"""

import array
import random

import ttnn

from ttnn_models import machine
from ttnn_models.reference import InTorch, InTtnn, correlation
from ttnn_models.weights import Weights

LAYERS, WIDTH, HEADS, INNER, VOCABULARY, POSITIONS, KINDS = 12, 768, 12, 3072, 32000, 512, 2
LENGTH, TEXTS = 384, 8
COLUMNS, ROWS = 6, 8  # of cores
EPSILON = 1e-12
BOUND = 0.98
HEAD = WIDTH // HEADS
L1 = ttnn.L1_MEMORY_CONFIG
BLOCKS = ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG
MATRICES = {"qkv": (WIDTH, 3 * WIDTH), "out": (WIDTH, WIDTH), "up": (WIDTH, INNER), "down": (INNER, WIDTH)}
NORMS = ("norm", "last_norm")


def _host(weights, name, part):
    """(weight, bias) of a part of a layer."""
    if part in MATRICES:
        shape = MATRICES[part]
        return weights.host(f"{name}.{part}.weight", shape), weights.host(f"{name}.{part}.bias", (1, shape[1]), spread=0.02)
    scale = weights.host(f"{name}.{part}.weight", (1, WIDTH), spread=0.05, middle=1.0)
    return scale, weights.host(f"{name}.{part}.bias", (1, WIDTH), spread=0.05)


def _put(weights, name, part):
    hosts = (None, None) if weights.dry else _host(weights, name, part)
    shapes = (MATRICES[part], (1, MATRICES[part][1])) if part in MATRICES else ((1, WIDTH),) * 2
    if part == "qkv":
        shapes = shapes[0], shapes[1][1:]
    dtype = ttnn.bfloat8_b if part == "qkv" else ttnn.bfloat16
    return [weights.put(host, shape, dtype) for host, shape in zip(hosts, shapes)]


def _product(width, subblock, activation=None, block=4):
    """Of rows in blocks with a matrix of which each core makes so many tiles."""
    return ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=(COLUMNS, ROWS), in0_block_w=block, out_subblock_h=subblock[0], out_subblock_w=subblock[1],
        per_core_M=LENGTH // 32, per_core_N=width, transpose_mcast=False, fused_activation=activation,
    )


def _blocks():
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(COLUMNS - 1, ROWS - 1))})
    return ttnn.create_sharded_memory_config(
        (LENGTH, WIDTH // COLUMNS), cores, ttnn.ShardStrategy.BLOCK, ttnn.ShardOrientation.ROW_MAJOR, use_height_and_width_as_shard_shape=True
    )


def _normed(x, weights, residual=None):
    config = ttnn.LayerNormShardedMultiCoreProgramConfig(
        compute_with_storage_grid_size=(COLUMNS, ROWS), subblock_w=4, block_h=LENGTH // 32, block_w=WIDTH // COLUMNS // 32,
        inplace=True, legacy_reduction=True,
    )
    kernel = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4)
    given = {} if residual is None else dict(residual_input_tensor=residual)
    return ttnn.layer_norm(
        x, weight=weights[0], bias=weights[1], memory_config=BLOCKS, epsilon=EPSILON, compute_kernel_config=kernel, program_config=config, **given
    )


class Layer:
    def __init__(self, weights, number):
        for part in (*MATRICES, *NORMS):
            setattr(self, part, _put(weights, f"layer.{number}", part))

    def _linear(self, x, part, config, **more):
        weight, bias = getattr(self, part)
        return ttnn.linear(x, weight, bias=bias, memory_config=BLOCKS, program_config=config, dtype=ttnn.bfloat8_b, **more)

    def _attended(self, x, mask):
        heights = ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG
        fused = self._linear(x, "qkv", _product(12, (1, 6)))
        q, k, v = ttnn.experimental.split_query_key_value_and_split_heads(
            fused, memory_config=heights, compute_with_storage_grid_size=ttnn.CoreCoord(8, 8), num_heads=HEADS
        )
        ttnn.deallocate(fused)
        rows = TEXTS * HEADS * LENGTH // (COLUMNS * ROWS) // 32
        config = ttnn.MatmulMultiCoreReuseProgramConfig(
            compute_with_storage_grid_size=(COLUMNS, ROWS), in0_block_w=2, out_subblock_h=1, out_subblock_w=6, per_core_M=rows, per_core_N=LENGTH // 32
        )
        scores = ttnn.matmul(q, k, memory_config=heights, dtype=ttnn.bfloat8_b, program_config=config)
        ttnn.deallocate(q), ttnn.deallocate(k)
        config = ttnn.SoftmaxShardedMultiCoreProgramConfig(
            compute_with_storage_grid_size=(COLUMNS, ROWS), subblock_w=6, block_h=rows, block_w=LENGTH // 32
        )
        scores = ttnn.transformer.attention_softmax_(scores, attention_mask=mask, head_size=HEAD, program_config=config)
        context = ttnn.matmul(scores, v, memory_config=heights, dtype=ttnn.bfloat8_b)
        ttnn.deallocate(scores), ttnn.deallocate(v)
        merged = ttnn.experimental.nlp_concat_heads(context, memory_config=BLOCKS)
        return self._linear(merged, "out", _product(4, (2, 4)))

    def __call__(self, x, mask):
        attended = ttnn.reshard(self._attended(x, mask), _blocks())
        h = _normed(attended, self.norm, x)
        ttnn.deallocate(x)
        gelu = ttnn.UnaryWithParam(ttnn.UnaryOpType.GELU, 1.0)
        kernel = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi2, math_approx_mode=False)
        inner = self._linear(h, "up", _product(16, (1, 8), gelu), compute_kernel_config=kernel)
        fed = ttnn.reshard(self._linear(inner, "down", _product(12, (1, 6))), _blocks())
        return _normed(fed, self.last_norm, h)


class SentenceBert:
    def __init__(self, weights, layers=LAYERS):
        rows = dict(layout=ttnn.ROW_MAJOR_LAYOUT, spread=1.0)
        self.words = weights.make("words", (VOCABULARY, WIDTH), **rows)
        self.kinds = weights.make("kinds", (KINDS, WIDTH), **rows)
        self.places = weights.make("positions", (POSITIONS, WIDTH), **rows)
        self.norm = _put(weights, "embedding", "norm")
        self.layers = [Layer(weights, number) for number in range(layers)]

    def embed(self, tokens, kinds, positions):
        place = dict(layout=ttnn.TILE_LAYOUT, memory_config=L1)
        words = ttnn.embedding(tokens, weight=self.words, padding_idx=0, **place)
        kinds, places = ttnn.embedding(kinds, self.kinds, **place), ttnn.embedding(positions, self.places, **place)
        x = ttnn.add(ttnn.add(words, kinds), places)
        for used in (words, kinds, places):
            ttnn.deallocate(used)
        x = ttnn.to_memory_config(ttnn.unsqueeze(x, dim=1), memory_config=_blocks(), dtype=ttnn.bfloat8_b)
        return _normed(x, self.norm)

    def __call__(self, tokens, kinds, positions, hidden, shown):
        """A row for each text: `hidden` is added to scores, `shown` is 1 for words and 0 for padding."""
        x = self.embed(tokens, kinds, positions)
        for layer in self.layers:
            x = layer(x, hidden)
        rows = ttnn.sharded_to_interleaved(x, L1)
        ttnn.deallocate(x)
        rows = ttnn.squeeze(rows, dim=1)
        shown = ttnn.repeat(ttnn.unsqueeze(shown, dim=-1), [1, 1, WIDTH])
        total = ttnn.sum(ttnn.multiply(rows, shown), 1)
        return ttnn.div(total, ttnn.clamp(ttnn.sum(shown, 1), min=1e-9))


def texts(seed=0):
    """[(tokens, how many are words and no padding)], some shorter than others."""
    numbers = random.Random(seed)
    lengths = [numbers.randrange(LENGTH // 2, LENGTH + 1) for _ in range(TEXTS)]
    return [([numbers.randrange(VOCABULARY) if i < n else 0 for i in range(LENGTH)], n) for n in lengths]


def _given(weights, rows):
    def put(values, shape, kind, dtype, layout):
        if weights.dry:
            return ttnn.empty(list(shape), dtype, layout, weights.device, L1)
        host = memoryview(array.array(kind, values)).cast("B").cast(kind, list(shape))
        return ttnn.from_torch(host, dtype=dtype, layout=layout, device=weights.device, memory_config=L1)

    in_rows, in_tiles = ("i", ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT), ("f", ttnn.bfloat16, ttnn.TILE_LAYOUT)
    shown = [float(i < n) for _, n in rows for i in range(LENGTH)]
    return (
        put([t for row, _ in rows for t in row], (TEXTS, LENGTH), *in_rows),
        put([0] * (TEXTS * LENGTH), (TEXTS, LENGTH), *in_rows),
        put(range(LENGTH), (1, LENGTH), *in_rows),
        put([-1e5 * (1 - value) for value in shown], (TEXTS, 1, 1, LENGTH), *in_tiles),
        put(shown, (TEXTS, LENGTH), *in_tiles),
    )


def _embedded(weights, tokens):
    """Words, their kind and their places, added on the host."""
    tables = (("words", VOCABULARY, tokens), ("kinds", KINDS, [0] * len(tokens)), ("positions", POSITIONS, [*range(len(tokens))]))
    if weights.torch:
        return sum(weights.host(name, (size, WIDTH), spread=1.0)[wanted] for name, size, wanted in tables)
    found = []
    for name, size, wanted in tables:
        table = weights.make(name, (size, WIDTH), layout=ttnn.ROW_MAJOR_LAYOUT, spread=1.0)
        found.append(ttnn.embedding(weights.whole_numbers(wanted, (1, len(tokens)), ttnn.uint32), table).cpu().to_list()[0])
    values = array.array("f", (sum(numbers) for rows in zip(*found) for numbers in zip(*rows)))
    return ttnn.from_torch(memoryview(values).cast("B").cast("f", [len(tokens), WIDTH]), dtype=ttnn.float32, layout=ttnn.ROW_MAJOR_LAYOUT)


def _expected(weights, row, words, layers):
    """One text in float32, without its padding: the rows of its words."""
    f = InTorch() if weights.torch else InTtnn(weights.device)
    get = lambda name, part: [f.take(host) for host in _host(weights, name, part)]
    each = HEADS // COLUMNS * HEAD  # columns of a core's queries, keys or values
    x = f.layer_norm(f.take(_embedded(weights, row[:words])), *get("embedding", "norm"), EPSILON)
    for number in range(layers):
        name = f"layer.{number}"
        linear = lambda t, part: (lambda w, b: f.add(f.matmul(t, w), b))(*get(name, part))
        fused = linear(x, "qkv")
        ranges = [[((3 * c + i) * each, (3 * c + i + 1) * each) for c in range(COLUMNS)] for i in range(3)]
        q, k, v = (f.heads(f.columns(fused, part), HEADS) for part in ranges)
        scores = f.softmax(f.multiply(f.matmul(q, f.transposed(k)), HEAD**-0.5))
        x = f.layer_norm(f.add(x, linear(f.merged(f.matmul(scores, v)), "out")), *get(name, "norm"), EPSILON)
        x = f.layer_norm(f.add(x, linear(f.gelu(linear(x, "up")), "down")), *get(name, "last_norm"), EPSILON)
    return f.give(x)


def _mean(rows):
    if isinstance(rows, list):
        return [sum(column) / len(rows) for column in zip(*rows)]
    return rows.mean(0)


def compute(device, layers=LAYERS, compared=2, seed=0):
    """The smallest correlation of some texts, with torch or with ttnn's plain operations."""
    weights = Weights(device, seed=seed)
    rows = texts(seed)
    out = SentenceBert(weights, layers)(*_given(weights, rows)).cpu()
    if not machine.compares():
        return None
    found = []
    for index in range(0, TEXTS, max(1, TEXTS // compared)):
        expected = _expected(weights, *rows[index], layers)
        if weights.torch:
            found.append(correlation(_mean(expected), ttnn.to_torch(out)[index].float()))
        else:
            found.append(correlation(_mean(expected.to_list()), out.to_list()[index]))
    return min(found)


def dry(device, layers=LAYERS):
    with machine.Dry() as run:
        weights = Weights(device, dry=True)
        SentenceBert(weights, layers)(*_given(weights, texts()))
    return run


def run(device, layers=None, say=print):
    """The network computed, and without dispatch."""
    layers = LAYERS if layers is None else min(layers, LAYERS)
    title = f"sentence BERT, {layers} of {LAYERS} layers, {TEXTS} texts"
    return machine.demo(device, title, BOUND, lambda: compute(device, layers), lambda: machine.counted(lambda layers: dry(device, layers), LAYERS), say)
