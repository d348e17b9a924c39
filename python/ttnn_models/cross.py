"""Layers that attend to a picture: keys and values come from the rows of a vision tower, queries from the text. They stand
between the other layers of a decoder and add as much as their gates say. A text without a picture passes by them."""

import array
import math

import ttnn

from ttnn_models import grids
from ttnn_models.decoder import FeedForward, Norm, norm_kernel, norm_weight
from ttnn_models.grids import TILE
from ttnn_models.source import HIDDEN

DRAM = ttnn.DRAM_MEMORY_CONFIG
ROWS = 1024  # of the text, in one product
FILL_CORES = 64


def gates(weights, name):
    """How much of attention and of feed-forward a layer adds, before tanh."""
    return [0.5 + 0.1 * (weights.number(f"{name}.{part}") % 7) for part in ("attention", "feed_forward")]


def token_mask(length, begin, width):
    """1 in rows from `begin` on, 0 before."""
    return array.array("f", bytes(4 * begin * width)) + array.array("f", [1.0]) * ((length - begin) * width)


def matrices(row):
    """{part: shape} of a layer's attention."""
    heads, kv_heads = row.heads * row.head, row.kv_heads * row.head
    return {"q": (row.width, heads), "k": (row.width, kv_heads), "v": (row.width, kv_heads), "o": (heads, row.width)}


class Seen:
    """A picture: the tower's rows, whole on every chip, and which tokens of the text see which of them.

    The tower makes `part` rows of each tile of a picture, of which the first `shown` count; tokens from `begin` on see them."""

    def __init__(self, decoder, x, shown, part, begin, length):
        layout, row = decoder.layout, decoder.row
        self.decoder, self.x, self.part = decoder, x, part
        rows, heads = x.shape[-2], layout.heads
        hidden = array.array("f", (0.0 if i % part < shown else HIDDEN for i in range(rows)))
        sees = lambda width: (lambda: token_mask(length, begin, width))
        self.mask = self._put(lambda: hidden * length, (1, 1, length, rows))
        self.step_mask = self._put(lambda: hidden * (decoder.users * heads), (decoder.users, 1, heads, rows))
        self.sees = self._put(sees(row.head), (1, 1, length, row.head))
        self.sees_wide = self._put(sees(layout.part), (1, 1, length, layout.part))

    def _put(self, make, shape):
        weights = self.decoder.weights
        return weights.put(None if weights.dry else self.decoder.source.on_host(make(), shape), shape)


class Attention:
    def __init__(self, decoder, name, rows):
        self.decoder, self.row, self.layout = decoder, decoder.row, decoder.layout
        row, layout, weights = self.row, self.layout, decoder.weights
        self.weights = {}
        for part, shape in matrices(row).items():
            host = None if weights.dry else decoder.source.matrix(f"{name}.cross_attn.{part}_proj", shape)
            self.weights[part] = weights.put(host, shape, ttnn.bfloat8_b, split=0 if part == "o" else 1)
        self.norms = {part: norm_weight(weights, row, f"{name}.cross_attn.{part}_norm.weight", row.head) for part in "qk"}
        shape = (decoder.users, layout.kv_heads, rows, row.head)
        self.keys, self.values = (weights.zeros(shape, ttnn.bfloat16) for _ in range(2))
        self.kernel = grids.kernel(ttnn.MathFidelity.HiFi4, False, True)

    def _product(self, x, part, config):
        return ttnn.linear(
            x, self.weights[part], dtype=ttnn.bfloat16, memory_config=DRAM, compute_kernel_config=self.kernel, program_config=config
        )

    def _normed(self, x, part):
        return ttnn.rms_norm(x, epsilon=self.row.epsilon, weight=self.norms[part], compute_kernel_config=norm_kernel(self.row.head))

    def _split(self, x, heads):
        """All columns are of one kind: as queries, with keys that nobody reads."""
        if heads == 1:
            return x
        return ttnn.experimental.nlp_create_qkv_heads(x, x, num_heads=heads, num_kv_heads=heads // 2, transpose_k_heads=False)[0]

    def see(self, seen, user):
        """Keys and values of a picture, into the user's part of the caches."""
        rows, part, heads = seen.x.shape[-2], seen.part, self.layout.kv_heads
        x = ttnn.reshape(seen.x, [1, rows // part, part, -1]) if rows > part else seen.x
        config = grids.square_product(part, heads * self.row.head, rows <= part)
        found = [self._product(x, kind, config) for kind in "kv"]
        if rows > part:
            found = [ttnn.reshape(t, [1, 1, rows, -1]) for t in found]
        k, v = (self._split(t, heads) for t in found)
        k = self._normed(k, "k")
        place = grids.height_sharded(heads * rows, self.row.head, FILL_CORES)
        for cache, new in ((self.keys, k), (self.values, v)):
            ttnn.fill_cache(cache, ttnn.interleaved_to_sharded(new, place), user)
        return k, v

    def prefill(self, x, seen, user=0):
        row, layout = self.row, self.layout
        k, v = self.see(seen, user)
        length, fuse = x.shape[-2], x.shape[-2] <= ROWS
        if not fuse:
            x = ttnn.reshape(x, [1, length // ROWS, ROWS, -1])
        q = self._product(x, "q", grids.square_product(min(length, ROWS), layout.attended, fuse))
        ttnn.deallocate(x)
        if not fuse:
            q = ttnn.reshape(q, [1, 1, length, -1])
        q = self._normed(self._split(q, layout.heads), "q")
        context = ttnn.transformer.scaled_dot_product_attention(
            q, k, v, is_causal=False, attn_mask=seen.mask, scale=row.scale, program_config=grids.attention(grids.divisor(length, 128)),
            compute_kernel_config=self.kernel,
        )
        context = ttnn.multiply(context, seen.sees)
        merged = ttnn.experimental.nlp_concat_heads(context)
        ttnn.deallocate(context)
        if not fuse:
            merged = ttnn.reshape(merged, [1, length // ROWS, ROWS, -1])
        out = self._product(merged, "o", grids.square_product(min(length, ROWS), row.width, False))
        if not fuse:
            out = ttnn.reshape(out, [1, 1, length, -1])
        return self.decoder.links.scatter(out, DRAM)

    def _query(self, x):
        """One row of heads for each user."""
        layout, users = self.layout, self.decoder.users
        x = ttnn.sharded_to_interleaved(x, ttnn.L1_MEMORY_CONFIG)
        q = self._split(self._product(x, "q", grids.square_product(TILE, layout.attended, True)), layout.heads)
        q = ttnn.to_layout(q, layout=ttnn.ROW_MAJOR_LAYOUT)
        q = ttnn.transpose(ttnn.slice(q, (0, 0, 0, 0), (1, layout.heads, users, self.row.head)), 1, 2)
        return self._normed(ttnn.to_layout(q, layout=ttnn.TILE_LAYOUT), "q")

    def decode(self, x, seen):
        """The tokens of a step are behind the picture and see all of it."""
        row, layout, users = self.row, self.layout, self.decoder.users
        context = ttnn.transformer.scaled_dot_product_attention_decode(
            self._query(x), self.keys, self.values, is_causal=False, attn_mask=seen.step_mask, scale=row.scale,
            program_config=grids.attention(32, 128), compute_kernel_config=self.kernel,
        )
        context = ttnn.transpose(ttnn.to_layout(context, layout=ttnn.ROW_MAJOR_LAYOUT), 1, 2)
        context = ttnn.slice(context, (0, 0, 0, 0), (1, layout.heads, users, row.head))
        merged = ttnn.experimental.nlp_concat_heads(ttnn.to_layout(context, layout=ttnn.TILE_LAYOUT))
        merged = ttnn.reshape(merged, merged.padded_shape, merged.padded_shape)
        out = self._product(merged, "o", grids.square_product(TILE, row.width, False))
        return ttnn.to_memory_config(self.decoder.links.scatter(out, DRAM), layout.residual)


class Layer:
    """`rows` are those of the pictures that it can see."""

    def __init__(self, decoder, number, rows):
        layout, weights, row = decoder.layout, decoder.weights, decoder.row
        self.decoder, name = decoder, f"cross.{number}"
        self.attention_norm = Norm(decoder, f"{name}.input_layernorm.weight", layout.attention_in, layout.attention_norm)
        self.attention = Attention(decoder, name, rows)
        self.after_norm = Norm(decoder, f"{name}.post_attention_layernorm.weight", layout.gate_in, layout.gate_norm)
        self.feed_forward = FeedForward(decoder, name)
        self.gates = []
        for gate in gates(weights, name):
            host = None if weights.dry else decoder.source.on_host(array.array("f", [gate]) * row.width, (1, row.width))
            self.gates.append(weights.put(host, (1, row.width), split=1))

    def __call__(self, x, seen, decoding):
        normed = self.attention_norm(x, decoding)
        attended = self.attention.decode(normed, seen) if decoding else self.attention.prefill(normed, seen)
        attended = ttnn.multiply(ttnn.to_memory_config(attended, DRAM), ttnn.tanh(self.gates[0]))
        h = ttnn.add(x, attended)
        fed = ttnn.to_memory_config(self.feed_forward(self.after_norm(h, decoding), decoding), DRAM)
        if not decoding:
            fed = ttnn.multiply(fed, seen.sees_wide)
        return ttnn.add(h, ttnn.multiply(fed, ttnn.tanh(self.gates[1])))


def reference(truth, x, picture, number, begin):
    """The layer in float32, in the operations of a Reference; `picture` has the rows that count, x sees them from `begin` on."""
    row, f, name = truth.row, truth.f, f"cross.{number}"
    matrix = lambda part: f.take(truth.source.matrix(f"{name}.cross_attn.{part}_proj", matrices(row)[part]))
    norm = lambda t, part: truth.norm(t, f"{name}.cross_attn.{part}_norm.weight", row.head)
    sees = lambda t: f.multiply(t, f.numbers(token_mask(t.shape[0], begin, t.shape[1]), t.shape))
    attend, feed = (math.tanh(gate) for gate in gates(truth.weights, name))
    n = truth.norm(x, f"{name}.input_layernorm.weight", row.width)
    q = norm(f.heads(f.matmul(n, matrix("q")), row.heads), "q")
    k, v = (f.heads(f.matmul(picture, matrix(part)), row.kv_heads) for part in "kv")
    k, v = (f.repeat(t, row.heads // row.kv_heads) for t in (norm(k, "k"), v))
    scores = f.softmax(f.multiply(f.matmul(q, f.transposed(k)), row.scale))
    merged = sees(f.merged(f.matmul(scores, v)))
    x = f.add(x, f.multiply(f.matmul(merged, matrix("o")), attend))
    fed = sees(truth.feed_forward(truth.norm(x, f"{name}.post_attention_layernorm.weight", row.width), name))
    return f.add(x, f.multiply(fed, feed))
