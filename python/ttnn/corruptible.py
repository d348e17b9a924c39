"""Tensors that a trace may overwrite when it runs again. Here it overwrites none: there is nothing to watch, and marks only name a buffer."""

import contextlib

from ttnn import _ttnn
from ttnn.types import StorageType


@contextlib.contextmanager
def corruptible_allocation_scope(mesh_device):
    """What is made inside may be overwritten."""
    yield


def mark_corruptible(tensor):
    """The tensor's buffer may be overwritten; gives its buffer_unique_id()."""
    if not isinstance(tensor, _ttnn.tensor.Tensor):
        raise TypeError(f"mark_corruptible expects a ttnn.Tensor, got {type(tensor).__name__}")
    if tensor.storage_type() != StorageType.DEVICE:
        raise ValueError("mark_corruptible expects a tensor with device storage")
    if not tensor.is_allocated():
        raise ValueError("mark_corruptible expected an allocated tensor")
    return tensor.buffer_unique_id()
