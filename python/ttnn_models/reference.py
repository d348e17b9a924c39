"""The same networks in float32, one operation after the other: in torch, or in ttnn's plain operations.

A decoder is given a whole sequence; what a decoding step gives is the last row of the longer one.
"""

import math
import operator

import ttnn

from ttnn_models import source as numbers
from ttnn_models.decoder import norm_host


class InTorch:
    def take(self, host):
        return host.float()

    give = take

    def matmul(self, a, b):
        return a @ b

    def add(self, a, b):
        return a + b

    def multiply(self, a, b):
        return a * b

    def softmax(self, x):
        return x.softmax(-1)

    def silu(self, x):
        import torch

        return torch.nn.functional.silu(x)

    def gelu(self, x):
        import torch

        return torch.nn.functional.gelu(x, approximate="tanh")

    def rms_norm(self, x, weight, epsilon):
        return x * (x.pow(2).mean(-1, keepdim=True) + epsilon).rsqrt() * weight

    def layer_norm(self, x, weight, bias, epsilon):
        import torch

        return torch.nn.functional.layer_norm(x, x.shape[-1:], weight.flatten(), bias.flatten(), epsilon)

    def columns(self, x, ranges):
        import torch

        return torch.cat([x[:, begin:end] for begin, end in ranges], dim=-1)

    def rows(self, x, count):
        return x[:count]

    def heads(self, x, count):
        """[rows, heads * size] to [heads, rows, size]."""
        return x.reshape(x.shape[0], count, -1).transpose(0, 1)

    def repeat(self, x, times):
        return x.repeat_interleave(times, dim=0)

    def transposed(self, x):
        return x.transpose(-1, -2)

    def merged(self, x):
        return x.transpose(0, 1).reshape(x.shape[1], -1)

    def numbers(self, values, shape):
        import torch

        return torch.frombuffer(values, dtype=torch.float32).reshape(shape)


class InTtnn:
    """Interleaved float32 tiles on the first chips of the mesh, all chips alike."""

    def __init__(self, device):
        self.device = device
        self.kernel = ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=False, fp32_dest_acc_en=True, packer_l1_acc=True
        )

    def take(self, host):
        whole = ttnn.ReplicateTensorToMesh(self.device)
        return ttnn.from_torch(host, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=self.device, mesh_mapper=whole)

    def give(self, x):
        return ttnn.to_layout(ttnn.get_device_tensors(x)[0].cpu(), ttnn.ROW_MAJOR_LAYOUT)

    def matmul(self, a, b):
        return ttnn.matmul(a, b, compute_kernel_config=self.kernel)

    def add(self, a, b):
        return ttnn.add(a, b)

    def multiply(self, a, b):
        return ttnn.multiply(a, b)

    def softmax(self, x):
        return ttnn.softmax(x, dim=-1, numeric_stable=True, compute_kernel_config=self.kernel)

    def silu(self, x):
        return ttnn.silu(x)

    def gelu(self, x):
        return ttnn.gelu(x)

    def rms_norm(self, x, weight, epsilon):
        mean = ttnn.mean(ttnn.multiply(x, x), dim=-1, keepdim=True)
        return ttnn.multiply(ttnn.multiply(x, ttnn.rsqrt(ttnn.add(mean, epsilon))), weight)

    def layer_norm(self, x, weight, bias, epsilon):
        return ttnn.layer_norm(x, weight=weight, bias=bias, epsilon=epsilon, compute_kernel_config=self.kernel)

    def columns(self, x, ranges):
        return ttnn.concat([ttnn.slice(x, [0, begin], [x.shape[0], end]) for begin, end in ranges], dim=-1)

    def rows(self, x, count):
        return ttnn.slice(x, [0, 0], [count, x.shape[1]])

    def heads(self, x, count):
        return ttnn.permute(ttnn.reshape(x, [x.shape[0], count, x.shape[1] // count]), (1, 0, 2))

    def repeat(self, x, times):
        return ttnn.repeat_interleave(x, times, 0)

    def transposed(self, x):
        return ttnn.permute(x, (0, 2, 1))

    def merged(self, x):
        return ttnn.reshape(ttnn.permute(x, (1, 0, 2)), [x.shape[1], x.shape[0] * x.shape[2]])

    def numbers(self, values, shape):
        return self.take(memoryview(values).cast("B").cast("f", list(shape)))


class Reference:
    """A decoder's layers, its ends in torch only; `picture` is the begin and the end of one in the sequence."""

    def __init__(self, row, source, picture=None):
        self.row, self.source, self.weights, self.picture = row, source, source.weights, picture
        self.f = InTorch() if self.weights.torch else InTtnn(self.weights.device)

    def norm(self, x, name, width):
        return self.f.rms_norm(x, self.f.take(norm_host(self.weights, self.row, name, width)), self.row.epsilon)

    def _mask(self, length, window):
        return self.f.numbers(numbers.causal(length, window, self.picture), (1, length, length))

    def _split_heads(self, both):
        """Queries, keys and values, from the columns of every chip."""
        row, f, chips = self.row, self.f, self.source.chips
        sizes = [row.heads // chips * row.head] + 2 * [row.kv_heads // chips * row.head]
        step, begin, parts = sum(sizes), 0, []
        for size in sizes:
            parts.append(f.columns(both, [(chip * step + begin, chip * step + begin + size) for chip in range(chips)]))
            begin += size
        return [f.heads(part, count) for part, count in zip(parts, (row.heads, row.kv_heads, row.kv_heads))]

    def _attention(self, x, name, number):
        row, f = self.row, self.f
        local = row.is_local(number)
        length = x.shape[0]
        both = f.matmul(x, f.take(self.source.fused(name)))
        if row.bias:
            both = f.add(both, f.take(self.source.bias(name)))
        q, k, v = self._split_heads(both)
        if row.head_norms:
            q, k = (self.norm(t, f"{name}.self_attn.{n}_norm.weight", row.head) for t, n in ((q, "q"), (k, "k")))
        cos, sin = map(f.take, self.source.rotary(row.local_rope if local and row.local_rope else row.rope, length))
        turn = f.numbers(numbers.block_turn(row.head, 1), (row.head, row.head))
        q, k = (f.add(f.multiply(t, cos), f.multiply(f.matmul(t, turn), sin)) for t in (q, k))
        k, v = (f.repeat(t, row.heads // row.kv_heads) for t in (k, v))
        scores = f.multiply(f.matmul(q, f.transposed(k)), row.scale)
        weights = f.softmax(f.add(scores, self._mask(length, row.window if local else 0)))
        merged = f.merged(f.matmul(weights, v))
        return f.matmul(merged, f.take(self.source.matrix(f"{name}.self_attn.o_proj", (row.heads * row.head, row.width))))

    def feed_forward(self, x, name):
        row, f = self.row, self.f
        matrix = lambda part, shape: f.take(self.source.matrix(f"{name}.mlp.{part}", shape))
        wide = (row.width, row.inner)
        gate = getattr(f, row.activation)(f.matmul(x, matrix("gate_proj", wide)))
        both = f.multiply(gate, f.matmul(x, matrix("up_proj", wide)))
        return f.matmul(both, matrix("down_proj", (row.inner, row.width)))

    def layer(self, x, number):
        row, f, name = self.row, self.f, f"model.layers.{number}"
        attended = self._attention(self.norm(x, f"{name}.input_layernorm.weight", row.width), name, number)
        if row.outer_norms:
            attended = self.norm(attended, f"{name}.post_attention_layernorm.weight", row.width)
        x = f.add(x, attended)
        before = "pre_feedforward_layernorm" if row.outer_norms else "post_attention_layernorm"
        n = self.norm(x, f"{name}.{before}.weight", row.width)
        fed = self.feed_forward(n, name)
        if row.outer_norms:
            fed = self.norm(fed, f"{name}.post_feedforward_layernorm.weight", row.width)
        return f.add(x, fed)

    def layers(self, x, layers):
        """x: [length, width] on the host; every layer after the other."""
        x = self.f.take(x)
        for number in layers:
            x = self.layer(x, number)
        return self.f.give(x)

    def logits(self, tokens):
        """Of every token of a sequence; torch only."""
        import torch

        with torch.no_grad():
            x = self.source.embedding()[torch.tensor(tokens)]
            x = self.layers(x * self.row.width**0.5 if self.row.scaled_embedding else x, range(self.row.layers))
            return self.norm(x, "model.norm.weight", self.row.width) @ self.source.head()


def _flat(value):
    return [inner for part in value for inner in _flat(part)] if isinstance(value, list) else [value]


def correlation(expected, found):
    """Pearson's coefficient of two tensors of the same size, or of nested lists."""
    if not isinstance(expected, list):
        return ttnn.pearson_correlation_coefficient(expected, found)
    expected, found = _flat(expected), _flat(found)
    means = [math.fsum(values) / len(values) for values in (expected, found)]
    a, b = ([value - mean for value in values] for values, mean in zip((expected, found), means))
    return math.fsum(map(operator.mul, a, b)) / math.sqrt(math.fsum(v * v for v in a) * math.fsum(v * v for v in b))
