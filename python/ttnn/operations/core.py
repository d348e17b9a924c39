"""Tensors from and to other libraries, files, and back."""

import math
import os
import pathlib

from ttnn import _ttnn, python_io
from ttnn._ttnn.tensor import DataType, Layout, Tensor
from ttnn.decorators import register_python_operation
from ttnn.distributed import ReplicateTensorToMeshWrapper, _need

_own = _ttnn.all_operations()


@register_python_operation(name="ttnn.from_torch", in_library=True)
def from_torch(
    tensor,
    dtype=None,
    *,
    spec=None,
    tile=None,
    pad_value=None,
    layout=None,
    device=None,
    memory_config=None,
    mesh_mapper=None,
    cq_id=None,
    preserve_nan_values=False,
    col_tilize=False,
    enable_bfloat_opt=False,
):
    """A tensor from a torch tensor, numpy array, or anything with DLPack or the buffer protocol."""
    if tensor is None:
        return None
    if col_tilize:
        for wrong, why in (
            (spec is not None, "is not supported with spec"),
            (dtype not in (DataType.BFLOAT8_B, DataType.BFLOAT4_B), "requires BFP dtype (bfloat8_b or bfloat4_b)"),
            (len(tensor.shape) < 2, "requires tensor.ndim >= 2"),
            (layout not in (None, Layout.TILE), "requires layout to be None or ttnn.TILE_LAYOUT"),
        ):
            if wrong:
                raise RuntimeError(f"ttnn.from_torch: col_tilize=True {why}")
    if spec is not None:
        if any(given is not None for given in (dtype, layout, memory_config, tile)):
            raise RuntimeError("ttnn.from_torch: `spec` says dtype, layout, memory_config and tile")
        dtype, layout, memory_config, tile = spec.dtype, spec.layout, spec.memory_config, spec.tile
        if tuple(tensor.shape) != tuple(spec.shape):
            raise RuntimeError(f"ttnn.from_torch: the tensor has shape {tuple(tensor.shape)}, `spec` {tuple(spec.shape)}")
    if col_tilize:
        tensor = tensor.transpose(-2, -1)
    options = dict(dtype=dtype, tile=tile, pad_value=pad_value, layout=layout, cq_id=cq_id)
    options.update(preserve_nan_values=bool(preserve_nan_values), enable_bfloat_opt=bool(enable_bfloat_opt))
    return _own["ttnn.from_torch"].run(_data(tensor, dtype, mesh_mapper), device=device, memory_config=memory_config, **options)


def _data(tensor, dtype, mesh_mapper):
    """The elements in rows, cut for a mesh where a mapper says how."""
    data = _ttnn.tensor.from_data(tensor, dtype)
    if mesh_mapper is None:
        return data
    _need(mesh_mapper, "mesh_mapper", "a mapper to a mesh", "map", "dims")
    parts = _ttnn.tensor.gather_data(mesh_mapper.map(data), mesh_mapper.shape, mesh_mapper.dims, mesh_mapper.mesh_device.shape)
    parts.tensor_id = data.tensor_id
    return parts


def _host_rows(tensor, mesh_composer):
    """The logical elements as a host tensor in rows, put together of a mesh where a composer says how."""
    run = _own["ttnn.to_torch"].run
    if mesh_composer is None:
        return run(tensor)
    _need(mesh_composer, "mesh_composer", "a composer from a mesh", "compose")
    return mesh_composer.compose([run(part) for part in _ttnn.run_method("ttnn.Tensor.cpu", tensor)._parts()])


def _to_dlpack_library(tensor):
    """The torch tensor over the bytes of a host tensor in rows."""
    import torch

    found = torch.utils.dlpack.from_dlpack(tensor._dlpack_view())
    return found.view(torch.float8_e4m3fn) if tensor.dtype == DataType.FP8_E4M3 else found


@register_python_operation(name="ttnn.to_torch", in_library=True)
def to_torch(tensor, dtype=None, *, torch_rank=None, mesh_composer=None, device=None, cq_id=None):
    """The logical elements as a torch tensor; block floats as float32."""
    rows = _host_rows(tensor, mesh_composer)
    found = _to_dlpack_library(rows)
    if torch_rank is not None:
        while found.dim() > torch_rank:
            if found.shape[0] != 1:
                raise RuntimeError("ttnn: Unable to squeeze to desired rank!")
            found = found.squeeze(0)
    if dtype is not None:
        found = found.to(dtype)
    if python_io.is_python_io_recording_enabled():
        found.tensor_id = rows.tensor_id
    return found


@register_python_operation(name="ttnn.as_tensor", in_library=True)
def as_tensor(
    tensor,
    dtype=None,
    *,
    layout=Layout.ROW_MAJOR,
    device=None,
    memory_config=None,
    cache_file_name=None,
    preprocess=None,
    mesh_mapper=None,
    cache_dump_mode=None,
):
    """As from_torch; with a file name the tensor is kept there and read the next time."""

    def make(place, mapper):
        array = preprocess(tensor) if preprocess else tensor
        python_io.inner.mean(array, dtype=dtype, layout=layout, mesh_mapper=mapper, memory_config=memory_config, device=place)
        try:
            there = memory_config if place else None
            return _own["ttnn.as_tensor"].run(_data(array, dtype, mapper), dtype, layout=layout, device=place, memory_config=there)
        finally:
            python_io.inner.mean()

    if device is not None and memory_config is None:
        raise RuntimeError("memory_config must be specified when device is specified")
    if cache_file_name is None:
        return make(device, mesh_mapper)
    names = f"_dtype_{dtype.name if dtype else 'None'}_layout_{layout.name if layout else 'None'}"
    path = pathlib.Path(f"{cache_file_name}{names}.tensorbin")
    if path.exists():
        found = _ttnn.tensor.load(path)
        if list(found.shape) == list(tensor.shape) if tensor is not None else True:
            return _own["ttnn.to_device"].run(found, device, memory_config=memory_config) if device else found
    found = make(None, None if isinstance(mesh_mapper, ReplicateTensorToMeshWrapper) else mesh_mapper)  # for any mesh
    path.parent.mkdir(parents=True, exist_ok=True)
    found._save(path)
    return _own["ttnn.to_device"].run(found, device, memory_config=memory_config) if device else found


_HOST_ONLY = (DataType.BFLOAT8_B, DataType.BFLOAT4_B, DataType.FP8_E4M3, DataType.INVALID)


@register_python_operation(name="ttnn.from_buffer")
def from_buffer(buffer, shape, dtype, device, layout=None, memory_config=None):
    """A tensor on a device with the elements of a list, row after row."""
    if dtype in _HOST_ONLY:
        raise RuntimeError(f"Unreachable: no list has elements of {dtype}")
    if len(buffer) != math.prod(shape):
        raise RuntimeError(f"Buffer size {len(buffer)} differs from shape volume {math.prod(shape)}")
    whole = dtype not in (DataType.FLOAT32, DataType.BFLOAT16)
    if whole and not all(isinstance(value, int) for value in buffer):
        raise RuntimeError(f"ttnn.from_buffer: an element is no whole number, and {dtype} has no others")
    rows = Tensor(list(buffer), list(shape), dtype, Layout.ROW_MAJOR)
    laid = rows if layout in (None, Layout.ROW_MAJOR) else _ttnn.run_method("ttnn.to_layout", rows, layout)
    return _ttnn.run_method("ttnn.to_device", laid, device, memory_config=memory_config)


def _check_name(file_name):
    if not os.fspath(file_name).endswith((".tensorbin", ".npy")):
        raise RuntimeError(f"File {file_name} must have .tensorbin extension")


@register_python_operation(name="ttnn.load_tensor")
def load_tensor(file_name, *, device=None):
    """A tensor from a .tensorbin file."""
    if not os.fspath(file_name):
        raise RuntimeError("the path of a file or folder is empty")
    _check_name(file_name)
    if not os.path.exists(file_name):
        raise RuntimeError(f"Unable to load the tensor from {file_name}.  The file does not exist.")
    found = _ttnn.tensor.load(file_name)
    return found if device is None else _ttnn.run_method("ttnn.Tensor.to", found, device)


@register_python_operation(name="ttnn.dump_tensor")
def dump_tensor(file_name, tensor, *, mode=None):
    """Writes a tensor to a .tensorbin file."""
    if os.fspath(file_name):
        _check_name(file_name)
    tensor._save(file_name)


@register_python_operation(name="ttnn.allocate_tensor_on_host")
def allocate_tensor_on_host(shape, dtype=None, layout=None, mesh_device=None, memory_config=None):
    """A host tensor of zeros; `shape` may be a TensorSpec."""
    import ttnn

    if isinstance(shape, ttnn.TensorSpec):
        shape, dtype, layout = shape.shape, shape.dtype, shape.layout
    return _ttnn.run_method("ttnn.zeros", list(shape), dtype=dtype, layout=layout)


@register_python_operation(name="ttnn.allocate_tensor_on_device")
def allocate_tensor_on_device(shape=None, dtype=None, layout=None, mesh_device=None, memory_config=None, *, tensor_spec=None):
    """Room on a device: (tensor_spec, mesh_device), or (shape, dtype, layout, mesh_device, memory_config)."""
    import ttnn

    spec = tensor_spec if tensor_spec is not None else shape
    if isinstance(spec, ttnn.TensorSpec):
        device = mesh_device if mesh_device is not None else dtype
        return _ttnn.run_method("ttnn.empty", spec.shape, spec.dtype, spec.layout, device, spec.memory_config)
    return _ttnn.run_method("ttnn.empty", shape, dtype, layout, mesh_device, memory_config or ttnn.DRAM_MEMORY_CONFIG)


@register_python_operation(name="ttnn.copy_device_to_host_tensor")
def copy_device_to_host_tensor(device_tensor, host_tensor, blocking=True, cq_id=None):
    """Gives a host tensor the values of a device tensor."""
    if device_tensor.shape != host_tensor.shape or device_tensor.dtype != host_tensor.dtype:
        raise RuntimeError("ttnn.copy_device_to_host_tensor: the tensors differ in shape or dtype")
    host_tensor.__init__(_ttnn.run_method("ttnn.Tensor.cpu", device_tensor))


def _numpy(self, mesh_composer=None):
    """The logical elements as a numpy array; bfloat16 and block floats as float32."""
    import numpy

    rows = _host_rows(self, mesh_composer)
    if rows.dtype in (DataType.BFLOAT16, DataType.FP8_E4M3):
        rows = _own["ttnn.to_dtype"].run(rows, DataType.FLOAT32)
    return numpy.from_dlpack(_Shared(rows))


class _Shared:
    """Lets numpy share a host tensor's bytes instead of asking for a copy."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack__(self, **unused):
        return self.tensor._dlpack_view()

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


def _array(self, dtype=None, copy=None):
    found = _numpy(self)
    return found if dtype is None else found.astype(dtype)


Tensor.to_torch = lambda self, mesh_composer=None: to_torch.function(self, mesh_composer=mesh_composer)
Tensor.to_torch_with_padded_shape = lambda self: _to_dlpack_library(_own["ttnn.to_torch"].run(_ttnn.run_method("ttnn.Tensor.reshape", self, self.padded_shape)))
Tensor.to_numpy = _numpy
Tensor.host_buffer = lambda self: self._parts()
Tensor.is_per_core_allocated = Tensor.is_range_lockstep_allocated = lambda self: False
Tensor.__array__ = _array
_ttnn.operations.complex.ComplexTensor.deallocate = lambda self, force=False: [part.deallocate(force) for part in self]


def _rows(value):
    """Any tensor or array as a host tensor in rows."""
    return _own["ttnn.to_torch"].run(value) if isinstance(value, Tensor) else _ttnn.tensor.from_data(value, DataType.FLOAT32)


@register_python_operation(name="ttnn.pearson_correlation_coefficient")
def pearson_correlation_coefficient(expected, actual):
    """How alike two tensors are: 1 when one is the other times a positive number, plus another."""
    return _ttnn.tensor.pcc(_rows(expected), _rows(actual))
