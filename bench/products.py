#!/usr/bin/env python3
"""The torch side of bench/products.c: reads cases, one a line, and answers with seconds.

A line is: threads, kind, dtype, numbers. Time is the processor's for one thread, else the clock's.
Where torch has no bfloat16 products for the processor, and would take a hundred times as long, it
is given float32, and an asterisk says so.
"""
import sys
import time
import warnings

warnings.filterwarnings("ignore")
import torch
import torch.nn.functional as F

ROUNDS = 5
ROUND_SECONDS = 10e-3
REST_SECONDS = 50e-3  # until the other side's threads have stopped waiting for work
TYPES = {"bf16": torch.bfloat16, "f32": torch.float32}


def rand(dtype, *shape):
    return torch.rand(*shape).mul_(2).sub_(1).to(dtype)


def matmul(dtype, m, k, n):
    a, b, out = rand(dtype, m, k), rand(dtype, k, n), torch.empty(m, n, dtype=dtype)
    return lambda: torch.mm(a, b, out=out)


def linear(dtype, m, k, n):
    a, b, bias = rand(dtype, m, k), rand(dtype, n, k), rand(dtype, n)
    return lambda: F.linear(a, b, bias)


def conv(dtype, batch, size, c_in, c_out, kernel, stride, pad, groups):
    x = rand(dtype, batch, c_in, size, size).to(memory_format=torch.channels_last)
    w = rand(dtype, c_out, c_in // groups, kernel, kernel).to(memory_format=torch.channels_last)
    return lambda: F.conv2d(x, w, stride=stride, padding=pad, groups=groups)


def sdpa(dtype, batch, heads, key_heads, rows, columns, width, causal):
    q = rand(dtype, batch, heads, rows, width)
    k, v = rand(dtype, batch, key_heads, columns, width), rand(dtype, batch, key_heads, columns, width)
    gqa = heads != key_heads
    return lambda: F.scaled_dot_product_attention(q, k, v, is_causal=bool(causal), enable_gqa=gqa)


def layer_norm(dtype, rows, width):
    x, gamma, beta = rand(dtype, rows, width), rand(dtype, width), rand(dtype, width)
    return lambda: F.layer_norm(x, (width,), gamma, beta)


def softmax(dtype, rows, width):
    x = rand(dtype, rows, width)
    return lambda: torch.softmax(x, -1)


def measure(run, clock):
    time.sleep(REST_SECONDS)
    start = clock()
    run()
    best = clock() - start
    for _ in range(ROUNDS if best < 1 else 0):
        begin = clock()
        count = 0
        while count == 0 or clock() - begin < ROUND_SECONDS:
            run()
            count += 1
        best = min(best, (clock() - begin) / count)
    return best


def main():
    half = torch.ops.mkldnn._is_mkldnn_bf16_supported()
    with torch.inference_mode():
        for line in sys.stdin:
            threads, kind, dtype, *numbers = line.split()
            torch.set_num_threads(int(threads))
            clock = time.process_time if threads == "1" else time.perf_counter
            slow = dtype == "bf16" and not half and kind not in ("layer_norm", "softmax")
            run = globals()[kind](TYPES["f32" if slow else dtype], *(int(n) for n in numbers))
            print(measure(run, clock), "*" if slow else "", flush=True)


main()
