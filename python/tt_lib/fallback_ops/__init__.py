"""Functions and modules of torch that take and give tensors of ttnn."""

from tt_lib.fallback_ops.fallback_ops import *
