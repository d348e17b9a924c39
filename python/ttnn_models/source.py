"""The numbers of a decoder on the host: random by name, or of a checkpoint in Hugging Face's order.

Matrices have their inputs in rows. Queries, keys and values are one matrix in which the columns of
every chip lie together: its queries, its keys, its values.
"""

import array
import math

import ttnn


def frequencies(rope, head):
    """Angles of position 1, one for each pair of elements."""
    plain = [rope.theta ** (-2 * i / head) for i in range(head // 2)]
    if rope.kind == "linear":
        return [f / rope.factor for f in plain]
    if rope.kind != "llama3":
        return plain

    def stretched(f):
        turns = rope.original * f / (2 * math.pi)  # in the original context
        if turns < rope.low:
            return f / rope.factor
        if turns > rope.high:
            return f
        smooth = (turns - rope.low) / (rope.high - rope.low)
        return (1 - smooth) * f / rope.factor + smooth * f

    return [stretched(f) for f in plain]


def block_turn(size, copies):
    """`copies` matrices below each other that turn pairs of elements: (a, b) becomes (-b, a)."""
    rows = array.array("f", bytes(4 * size * size))
    for i in range(0, size, 2):
        rows[i * size + i + 1] = 1.0
        rows[(i + 1) * size + i] = -1.0
    return rows * copies


def on_host(values, shape, in_torch):
    """Numbers of an array as a tensor on the host: of torch, or of ttnn in rows."""
    if in_torch:
        import torch

        return torch.frombuffer(values, dtype=torch.float32).reshape(shape)
    view = memoryview(values).cast("B").cast("f", list(shape))
    return ttnn.from_torch(view, dtype=ttnn.float32, layout=ttnn.ROW_MAJOR_LAYOUT)


HIDDEN = -1e9  # added to a score that does not count


def causal(length, window=0, picture=None):
    """What is added to the scores of a prompt, row by row. A token sees those before it, `window` of them where that is given;
    tokens of a picture (its begin and end) see all of the picture."""
    rows = array.array("f")
    for i in range(length):
        begin, end = max(0, i + 1 - window) if window else 0, i + 1
        row = array.array("f", [HIDDEN]) * length
        row[begin:end] = array.array("f", bytes(4 * (end - begin)))
        if picture and picture[0] <= i < picture[1]:
            row[picture[0] : picture[1]] = array.array("f", bytes(4 * (picture[1] - picture[0])))
        rows += row
    return rows


class Source:
    def __init__(self, row, weights):
        self.row, self.weights, self.chips = row, weights, weights.chips

    def on_host(self, values, shape):
        """Numbers of an array as the host tensors of this run."""
        return on_host(values, shape, self.weights.torch)

    def rotary(self, rope, length):
        """(cosines, sines) of all positions, each twice beside itself."""
        angles = frequencies(rope, self.row.head)
        shape = (length, self.row.head)
        if self.weights.torch:
            import torch

            turned = torch.outer(torch.arange(length).double(), torch.tensor(angles, dtype=torch.double))
            turned = turned.repeat_interleave(2, dim=-1)
            return turned.cos().float(), turned.sin().float()
        tables = []
        for function in (math.cos, math.sin):
            values = array.array("f", [function(p * a) for p in range(length) for a in angles for _ in range(2)])
            tables.append(self.on_host(values, shape))
        return tuple(tables)

    def turn(self, size, copies):
        return self.on_host(block_turn(size, copies), (size * copies, size))

    def matrix(self, name, shape):
        if self.weights.folder:
            return self.weights.folder.tensor(f"{name}.weight").T.contiguous()
        return self.weights.host(name, shape)

    def _paired(self, rows, heads):
        """Rows of heads in the order of halves, put into the order of pairs."""
        head = self.row.head
        return rows.reshape(heads, 2, head // 2, *rows.shape[1:]).transpose(1, 2).reshape(rows.shape)

    def _together(self, name, kind):
        """Queries, keys and values of a checkpoint, chip by chip."""
        import torch

        row, folder = self.row, self.weights.folder
        parts = []
        for part, heads in (("q", row.heads), ("k", row.kv_heads), ("v", row.kv_heads)):
            found = folder.tensor(f"{name}.self_attn.{part}_proj.{kind}")
            parts.append((found if part == "v" else self._paired(found, heads)).chunk(self.chips))
        return torch.cat([part[chip] for chip in range(self.chips) for part in parts])

    def fused(self, name):
        row = self.row
        if self.weights.folder:
            return self._together(name, "weight").T.contiguous()
        return self.weights.host(f"{name}.qkv", (row.width, (row.heads + 2 * row.kv_heads) * row.head))

    def bias(self, name):
        row = self.row
        if self.weights.folder:
            return self._together(name, "bias").reshape(1, -1)
        return self.weights.host(f"{name}.qkv_bias", (1, (row.heads + 2 * row.kv_heads) * row.head), spread=0.5)

    def feed_forward(self, name, part):
        """A matrix of the feed-forward, with zeros where the inner width is padded; that needs torch."""
        row, down = self.row, part == "down_proj"
        found = self.matrix(f"{name}.mlp.{part}", (row.inner, row.width) if down else (row.width, row.inner))
        missing = row.padded - row.inner
        if not missing:
            return found
        import torch

        return torch.nn.functional.pad(found, (0, 0, 0, missing) if down else (0, missing))

    def repeated_bias(self, name, times):
        """The bias in so many rows."""
        bias = self.bias(name)
        if self.weights.torch:
            return bias.reshape(1, -1).repeat(times, 1)
        row = array.array("f", bias.to_list()[0])
        return self.on_host(row * times, (times, len(row)))

    def embedding(self):
        name = "model.embed_tokens"
        if self.weights.folder:
            return self.weights.folder.tensor(f"{name}.weight")
        return self.weights.host(name, (self.row.vocabulary, self.row.width), spread=1.0)

    def head(self):
        """Inputs in rows, words in columns. Needs torch, as all that is computed whole does."""
        row = self.row
        if row.tied:
            scale = 1.0 if self.weights.folder else row.width**-0.5  # random logits stay near 1
            return (self.embedding() * scale).T
        return self.matrix("lm_head", (row.width, row.vocabulary))

    def head_pieces(self, layout):
        """The columns of every chip in pieces, as the products want them."""
        import torch

        head = self.head()
        missing = layout.vocabulary * self.chips - head.shape[1]
        head = torch.nn.functional.pad(head, (0, missing))
        pieces, begin = [], 0
        for size in layout.pieces:
            starts = [chip * layout.vocabulary + begin for chip in range(self.chips)]
            pieces.append(torch.cat([head[:, s : s + size] for s in starts], dim=-1))
            begin += size
        return pieces
