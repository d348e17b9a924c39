"""The operations that models.py uses, said in torch: the same model twice, once in float32.

Tensors are torch tensors; all that is no operation (types, layouts, configs) is the package's own.
"""

import math
import types

import torch

import ttnn

F = torch.nn.functional
ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu, None: lambda x: x}


def __getattr__(name):
    return getattr(ttnn, name)


def activate(x, given):
    """`given`: a name, a UnaryWithParam, or None."""
    return ACTIVATIONS[given if given is None or isinstance(given, str) else given.op_type.name.lower()](x)


def from_torch(tensor, dtype=None, **unused):
    if dtype == ttnn.uint32:
        return tensor.long()
    return tensor.bfloat16().float() if dtype == ttnn.bfloat16 else tensor.clone()


def same(tensor, *unused, **ignored):
    return tensor


to_torch = to_layout = to_memory_config = typecast = sharded_to_interleaved = interleaved_to_sharded = same
torch.Tensor.memory_config = lambda self: None


def deallocate(tensor):
    pass


def reshape(x, shape):
    return x.reshape(tuple(shape))


def slice(x, start, end):  # noqa: A001
    for d, (first, last) in enumerate(zip(start, end)):
        x = x.narrow(d, first, last - first)
    return x


def unsqueeze_to_4D(x):
    return x.reshape((1,) * (4 - x.dim()) + tuple(x.shape))


def relu(x, **unused):
    return F.relu(x)


def sigmoid(x, **unused):
    return torch.sigmoid(x)


def add(a, b, activations=(), **unused):
    x = a + b
    for given in activations:
        x = activate(x, given)
    return x


def multiply(a, b, **unused):
    # A row of channels meets all places of an image.
    return a * b


def matmul(a, b, **unused):
    return a @ b


def linear(x, weight, bias=None, activation=None, program_config=None, **unused):
    x = x @ weight if bias is None else x @ weight + bias
    return activate(activate(x, activation), program_config.fused_activation if program_config else None)


def softmax(x, dim=-1, **unused):
    return torch.softmax(x, dim)


def mean(x, dim=None, keepdim=False, **unused):
    return x.mean(dim, keepdim)


def embedding(ids, table, **unused):
    return table[ids]


def layer_norm(x, weight=None, bias=None, epsilon=1e-12, residual_input_tensor=None, **unused):
    x = x if residual_input_tensor is None else x + residual_input_tensor
    return F.layer_norm(x, x.shape[-1:], weight.flatten(), bias.flatten(), epsilon)


def rms_norm(x, weight=None, epsilon=1e-12, **unused):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + epsilon) * weight.flatten()


# ---- images: (1, 1, places of all images, channels) ---------------------------------------------


def to_images(x, batch, height, width):
    return x.reshape(batch, height, width, -1).permute(0, 3, 1, 2)


def to_places(x):
    return x.permute(0, 2, 3, 1).reshape(1, 1, -1, x.shape[1])


def conv2d(*, input_tensor, weight_tensor, bias_tensor, batch_size, input_height, input_width, stride, padding, groups, conv_config, **unused):
    x = to_images(input_tensor, batch_size, input_height, input_width)
    x = F.conv2d(x, weight_tensor, bias_tensor.flatten(), stride, padding, groups=groups)
    return to_places(activate(x, conv_config.activation)), tuple(x.shape[2:]), (weight_tensor, bias_tensor)


def max_pool2d(x, *, batch_size, input_h, input_w, kernel_size, stride, padding, **unused):
    return to_places(F.max_pool2d(to_images(x, batch_size, input_h, input_w), kernel_size, stride, padding))


# ---- attention --------------------------------------------------------------------------------------


def heads_of(x, heads):
    """(batch, length, width) as (batch, heads, length, width of a head)."""
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


def split_query_key_value_and_split_heads(qkv, num_heads, **unused):
    q, k, v = (heads_of(x, num_heads) for x in qkv.chunk(3, -1))
    return q, k.transpose(-1, -2), v


def attention_softmax_(scores, attention_mask, head_size):
    return torch.softmax(scores / math.sqrt(head_size) + attention_mask, -1)


def concatenate_heads(x, **unused):
    return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)


def scaled_dot_product_attention(q, k, v, is_causal):
    return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal, enable_gqa=True)


def scaled_dot_product_attention_decode(q, keys, values, cur_pos, **unused):
    """q: (1, users, heads, width)."""
    seen = cur_pos[0] + 1
    out = F.scaled_dot_product_attention(q.permute(1, 2, 0, 3), keys[:, :, :seen], values[:, :, :seen], enable_gqa=True)
    return out.permute(2, 0, 1, 3)


def nlp_create_qkv_heads(qkv, num_heads, num_kv_heads, transpose_k_heads):
    heads = heads_of(qkv.squeeze(0), num_heads + 2 * num_kv_heads)
    return heads.split([num_heads, num_kv_heads, num_kv_heads], 1)


def nlp_create_qkv_heads_decode(qkv, num_heads, num_kv_heads, **unused):
    heads = qkv.reshape(1, qkv.shape[2], num_heads + 2 * num_kv_heads, -1)
    return heads.split([num_heads, num_kv_heads, num_kv_heads], 2)


def nlp_concat_heads(x):
    return concatenate_heads(x).unsqueeze(0)


def nlp_concat_heads_decode(x, num_heads):
    return x.reshape(1, 1, x.shape[1], -1)


def rotary_embedding_llama(x, cos, sin, turn, is_decode_mode):
    turned = (x.reshape(*x.shape[:-1], -1, 32) @ turn.reshape(32, 32)).reshape(x.shape)
    return x * cos + turned * sin


def fill_cache(cache, x, batch):
    cache[batch : batch + 1, :, : x.shape[2]] = x


def paged_update_cache(cache, x, update_idxs):
    cache[0, :, update_idxs[0]] = x[0, 0]


transformer = types.SimpleNamespace(
    split_query_key_value_and_split_heads=split_query_key_value_and_split_heads,
    attention_softmax_=attention_softmax_,
    concatenate_heads=concatenate_heads,
    scaled_dot_product_attention=scaled_dot_product_attention,
    scaled_dot_product_attention_decode=scaled_dot_product_attention_decode,
)
experimental = types.SimpleNamespace(
    nlp_create_qkv_heads=nlp_create_qkv_heads,
    nlp_create_qkv_heads_decode=nlp_create_qkv_heads_decode,
    nlp_concat_heads=nlp_concat_heads,
    nlp_concat_heads_decode=nlp_concat_heads_decode,
    rotary_embedding_llama=rotary_embedding_llama,
    paged_update_cache=paged_update_cache,
)
