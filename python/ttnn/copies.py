"""Tensors that are pickled and copied: as .tensorbin, which nothing is lost in and nothing of is run; specs and operations.

A tensor of a device is pickled as the host tensor that `ttnn.from_device` gives, with its memory config: whoever reads it may have
another device, or none. copy.copy() gives another name for the same data, copy.deepcopy() data of its own where the tensor lies.
"""

import os
import tempfile

from ttnn import _ttnn, decorators

Tensor, TensorSpec = _ttnn.tensor.Tensor, _ttnn.tensor.TensorSpec


def _on_device(tensor):
    return tensor.storage_type() == _ttnn.tensor.StorageType.DEVICE


def _through_a_file(use):
    """What `use` gives for the path of a file that is gone after."""
    with tempfile.TemporaryDirectory(prefix="ttnn-") as folder:
        return use(os.path.join(folder, "copy.tensorbin"))


def _bytes(tensor):
    def save(path):
        (_ttnn.run_method("ttnn.Tensor.cpu", tensor) if _on_device(tensor) else tensor)._save(path)
        with open(path, "rb") as file:
            return file.read()

    return _through_a_file(save)


def restore_tensor(data):
    """The host tensor of what a pickle holds."""

    def load(path):
        with open(path, "wb") as file:
            file.write(data)
        return _ttnn.tensor.load(path)

    return _through_a_file(load)


def _reduce(self):
    return restore_tensor, (_bytes(self),)


def _copy(self):
    return Tensor(self)


def _deepcopy(self, memo):
    copy = restore_tensor(_bytes(self))
    return _ttnn.run_method("ttnn.Tensor.to", copy, self.device(), self.memory_config()) if _on_device(self) else copy


def _reduce_spec(self):
    members = self.shape, self.dtype, self.layout, self.memory_config, self.tile
    if TensorSpec(*members) != self:
        raise TypeError("cannot pickle a TensorSpec whose padding does not follow from its layout")
    return TensorSpec, members


def operation_named(name):
    """The operation that is registered under a name."""
    found = decorators.REGISTERED_OPERATIONS.get(name)
    if found is None:
        raise RuntimeError(f"there is no operation {name}")
    return found


def _reduce_operation(self):
    return operation_named, (self.python_fully_qualified_name,)


TensorSpec.__reduce__ = _reduce_spec
decorators.FastOperation.__reduce__ = decorators.PythonOperation.__reduce__ = _reduce_operation
_ttnn.tensor.CoreGrid.__reduce__ = lambda self: (_ttnn._rebuild, (type(self), (), {"x": self.x, "y": self.y}))
Tensor.__reduce__, Tensor.__copy__, Tensor.__deepcopy__ = _reduce, _copy, _deepcopy
