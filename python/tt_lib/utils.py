"""Helpers of older programs: torch tensors padded to whole tiles, and roundings."""

import struct

TILE = 32


def divup(a, b):
    return -(-a // b)


def roundup(a, b):
    return b * divup(a, b)


def roundup32(a):
    return roundup(a, TILE)


_nearest_y = roundup
_nearest_32 = roundup32


def _padded(x):
    """Zeros below and to the right, up to whole tiles."""
    import torch

    rows, columns = x.shape[-2:]
    return torch.nn.functional.pad(x.float(), (0, roundup32(columns) - columns, 0, roundup32(rows) - rows))


def _checked(x):
    import torch

    if not isinstance(x, torch.Tensor) or not 1 <= x.dim() <= 4:
        raise AssertionError("What is padded is a torch tensor of one to four dimensions.")
    return x


def pad_activation(x):
    """In four dimensions and whole tiles: a vector is a row, a matrix is a row for each of a batch."""
    shapes = {1: (1, 1, 1, -1), 2: (len(x), 1, 1, -1), 3: (len(x), 1, *x.shape[1:]), 4: tuple(x.shape)}
    return _padded(_checked(x).reshape(shapes[x.dim()]))


def pad_weight(x):
    """In whole tiles; a vector or matrix in four dimensions."""
    shapes = {1: (1, 1, 1, -1), 2: (1, 1, *x.shape)}
    return _padded(_checked(x).reshape(shapes.get(x.dim(), tuple(x.shape))))


def tilize(x):
    """Tensors are given in rows; their layout is the library's work."""
    return x


untilize = tilize


def tilize_to_list(x):
    return x.reshape(-1).tolist()


def tt2torch(tensor):
    return tensor.cpu().to_torch()


tt2torch_rm = tt2torch


def float_to_bits(x):
    """The bits of a float32 as a signed number."""
    return struct.unpack(">l", struct.pack(">f", x))[0]


def print_diff_argmax(a, b, annotation=""):
    """Prints where two tensors differ most, and gives by how much."""
    difference = (a - b).abs().reshape(-1)
    at = difference.argmax().item()
    print(f"{annotation} largest difference {difference[at].item()} at {at}: {a.reshape(-1)[at].item()}, {b.reshape(-1)[at].item()}")
    return difference[at].item()


def is_close(a, b, rtol=8e-2, atol=8e-2, max_mag=4.0, max_mag_fraction=0.02):
    """Whether all elements are close: by their difference, their ratio, or that of one more than they are."""
    import torch

    ratio, shifted = a.abs() / b.abs() - 1, (a.abs() + 1) / (b.abs() + 1) - 1
    close = (a - b).abs() < max(atol, max_mag * max_mag_fraction)
    close |= (ratio.abs() < rtol) | (shifted.abs() < rtol)
    return torch.all(close)


def find_closest_largest_divisor(num, start_divisor):
    return next(divisor for divisor in range(start_divisor, 0, -1) if num % divisor == 0)


def find_closest_largest_divisor_with_num_padding(num, start_divisor):
    """The largest number of parts of which none would be padding alone."""
    return next(d for d in range(start_divisor, 0, -1) if roundup(num, d) - num < roundup(num, d) // d)
