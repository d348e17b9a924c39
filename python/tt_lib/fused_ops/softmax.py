"""Softmax of the last dimension, made of simpler operations."""

import ttnn


def softmax(x, stable=False):
    """`stable`: the largest of each row is taken away first."""
    powers = ttnn.exp(ttnn.subtract(x, ttnn.max(x, 3, keepdim=True)) if stable else x)
    return ttnn.multiply(powers, ttnn.reciprocal(ttnn.sum(powers, 3, keepdim=True)))
