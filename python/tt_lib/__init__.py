"""The name that older programs of TT-NN import: helpers for torch tensors, and functions of torch on tensors of ttnn."""

from ttnn._ttnn.deprecated import operations
