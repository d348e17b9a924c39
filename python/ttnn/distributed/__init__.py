"""Tensors on meshes: how they are cut, and put together again."""

import contextlib
import dataclasses
import functools
import itertools
import math
import operator

from ttnn import _ttnn
from ttnn._ttnn.multi_device import MeshCoordinate, MeshDevice, MeshShape
from ttnn._ttnn.tensor import Tensor


def _need(value, name, kind, *members):
    """The value of an argument, which must have these members to be of its kind."""
    if all(hasattr(value, member) for member in members):
        return value
    raise TypeError(f"{name} must be {kind}, not {type(value).__name__}")


def _numbers(values, name, *, none=False):
    """Whole numbers (or None, if that has a meaning) as a list."""
    try:
        return [None if none and value is None else operator.index(value) for value in values]
    except TypeError:
        raise TypeError(f"{name} must be a list of whole numbers, not {values!r:.100}") from None


def _mesh_shape(mesh_device, mesh_shape):
    _need(mesh_device, "mesh_device", "a MeshDevice", "shape")
    return _numbers(mesh_device.shape if mesh_shape is None else mesh_shape, "mesh_shape")


def _list(values, name, kind):
    if not hasattr(values, "__iter__") or isinstance(values, (str, dict)):
        raise TypeError(f"{name} must be a list of {kind}, not {type(values).__name__}")
    return list(values)


def _tensors(values, name="tensors"):
    return [_need(value, "a tensor shard", "a ttnn.Tensor", "_parts") for value in _list(values, name, "tensors")]


class PlacementReplicate:
    """A dimension of the mesh whose devices all have the same."""

    dim = None

    def __repr__(self):
        return "PlacementReplicate()"

    def __eq__(self, other):
        return isinstance(other, PlacementReplicate)

    __hash__ = object.__hash__


@dataclasses.dataclass(frozen=True)
class PlacementShard:
    """A dimension of the mesh that cuts this dimension of the tensor."""

    dim: int

    def __repr__(self):
        return f"PlacementShard({self.dim})"


def _placements(values):
    kind = "PlacementShard or PlacementReplicate"
    placements = [_need(value, "a placement", kind, "dim") for value in _list(values, "placements", kind)]
    _numbers([placement.dim for placement in placements], "the dimensions of placements", none=True)
    return placements


class MeshMapperConfig:
    def __init__(self, placements=None, mesh_shape_override=None, *, row_dim=None, col_dim=None):
        if placements is None:
            placements = [PlacementReplicate() if d is None else PlacementShard(d) for d in (row_dim, col_dim)]
        self.placements, self.mesh_shape_override = _placements(placements), mesh_shape_override

    @property
    def _ttnn_value(self):
        """Extents of the distribution (none: those of the mesh), then what each of its dimensions cuts (None: nothing)."""
        return [list(self.mesh_shape_override or []), [p.dim for p in self.placements]]

    def __repr__(self):
        return f"MeshMapperConfig(placements={self.placements})"


class MeshComposerConfig:
    def __init__(self, dims, mesh_shape_override=None):
        self.dims, self.mesh_shape_override = list(dims) if isinstance(dims, (list, tuple)) else [dims], mesh_shape_override

    def __repr__(self):
        return f"MeshComposerConfig(dims={self.dims})"


class TensorToMesh:
    """Cuts a tensor for the devices of a mesh: one placement for each dimension of it."""

    def __init__(self, mesh_device, placements, mesh_shape=None):
        shape, placements = _mesh_shape(mesh_device, mesh_shape), _placements(placements)
        if len(placements) == 1 and len(shape) > 1:  # the mesh as a line
            shape = [math.prod(shape)]
        if len(shape) != len(placements):
            raise RuntimeError(f"{len(placements)} placements do not fit a mesh of {len(shape)} dimensions")
        self.mesh_device, self.shape, self.placements = mesh_device, shape, placements

    def map(self, tensor):
        """The parts of a host tensor in rows, row by row over the mesh."""
        return _ttnn.tensor.cut(tensor, self.shape, self.dims)

    @property
    def dims(self):
        return [p.dim for p in self.placements]


TensorToMesh.__module__, TensorToMesh.__name__ = "ttnn._ttnn.multi_device", "CppTensorToMesh"  # as recordings show it
TensorToMesh.__qualname__ = TensorToMesh.__name__
CppTensorToMesh = TensorToMesh


class ReplicateTensorToMeshWrapper(TensorToMesh):
    """Gives every device the whole tensor."""

    __module__ = "ttnn.distributed.distributed"


def ReplicateTensorToMesh(mesh_device):
    return ReplicateTensorToMeshWrapper(mesh_device, [PlacementReplicate()])


def ShardTensorToMesh(mesh_device, dim):
    return TensorToMesh(mesh_device, [PlacementShard(dim)])


def ShardTensor2dMesh(mesh_device, mesh_shape=None, dims=None):
    """dims: the dimensions that rows and columns cut; None: all have the same."""
    dims = _numbers(dims, "dims", none=True)
    placements = [PlacementReplicate() if d is None else PlacementShard(d) for d in dims[:2]]
    return TensorToMesh(mesh_device, placements, mesh_shape)


def create_mesh_mapper(mesh_device, config):
    _need(config, "config", "a MeshMapperConfig", "placements", "mesh_shape_override")
    return TensorToMesh(mesh_device, config.placements, config.mesh_shape_override)


def replicate_tensor_to_mesh_mapper(mesh_device):
    return TensorToMesh(mesh_device, [PlacementReplicate()])


def shard_tensor_to_mesh_mapper(mesh_device, dim):
    return ShardTensorToMesh(mesh_device, dim)


class MeshToTensor:
    """Puts the parts of a tensor together, along one dimension for each dimension of the mesh."""

    def __init__(self, mesh_device, dims, mesh_shape=None):
        shape, dims = _mesh_shape(mesh_device, mesh_shape), _numbers(dims, "dims")
        if len(dims) == 1:
            shape = [math.prod(shape)]
        self.shape, self.dims = shape, dims

    def compose(self, parts):
        """One tensor of parts in rows; the part of a single device is whole."""
        return _ttnn.tensor.join(parts, self.shape if len(parts) > 1 else [1] * len(self.shape), self.dims)


CppMeshToTensor = MeshToTensor


def ConcatMeshToTensor(mesh_device, dim):
    return MeshToTensor(mesh_device, [dim])


def ConcatMesh2dToTensor(mesh_device, mesh_shape=None, dims=None):
    return MeshToTensor(mesh_device, dims, mesh_shape)


concat_mesh_to_tensor_composer = ConcatMeshToTensor


def create_mesh_composer(mesh_device, config):
    _need(config, "config", "a MeshComposerConfig", "dims", "mesh_shape_override")
    return MeshToTensor(mesh_device, config.dims, config.mesh_shape_override)


@contextlib.contextmanager
def distribute(default):
    """Inside of it from_torch() has this mapper, or to_torch() this composer, where none is given."""
    if not isinstance(default, (TensorToMesh, MeshToTensor)):
        raise ValueError("distribute() takes a mapper to a mesh or a composer from one, not " + type(default).__name__)
    import ttnn

    name, option = ("from_torch", "mesh_mapper") if isinstance(default, TensorToMesh) else ("to_torch", "mesh_composer")
    before = getattr(ttnn, name)
    setattr(ttnn, name, functools.partial(before, **{option: default}))
    try:
        yield
    finally:
        setattr(ttnn, name, before)


class MeshCoordinateRange:
    """A box of coordinates: from start to end, or all of a mesh."""

    def __init__(self, start, end=None):
        if end is None:
            start, end = MeshCoordinate([0] * len(list(start))), MeshCoordinate([d - 1 for d in start])
        self.start, self.end = start, end

    def __iter__(self):
        axes = [range(a, b + 1) for a, b in zip(self.start, self.end)]
        return (MeshCoordinate(list(place)) for place in itertools.product(*axes))

    def __repr__(self):
        return f"MeshCoordinateRange(start={self.start!r}, end={self.end!r})"

    def __eq__(self, other):
        return isinstance(other, MeshCoordinateRange) and self.start == other.start and self.end == other.end

    def __hash__(self):
        return hash((tuple(self.start), tuple(self.end)))


class MeshCoordinateRangeSet:
    """Boxes of coordinates; two that are one box together become one."""

    def __init__(self, range=None):
        self.ranges = [] if range is None else [range]

    def merge(self, range):
        for other in self.ranges:
            low = [min(a, b) for a, b in zip(range.start, other.start)]
            high = [max(a, b) for a, b in zip(range.end, other.end)]
            both = MeshCoordinateRange(MeshCoordinate(low), MeshCoordinate(high))
            if set(map(tuple, both)) == set(map(tuple, range)) | set(map(tuple, other)):
                self.ranges.remove(other)
                return self.merge(both)
        self.ranges.append(range)

    def __repr__(self):
        return f"MeshCoordinateRangeSet([{', '.join(map(repr, self.ranges))}])"


class TensorTopology:
    """How a tensor lies on its mesh."""

    def __init__(self, distribution_shape, placements, mesh_coords):
        self._shape, self._placements, self._coords = distribution_shape, placements, mesh_coords

    def distribution_shape(self):
        return self._shape

    def placements(self):
        return self._placements

    def mesh_coords(self):
        return self._coords

    def __eq__(self, other):
        return isinstance(other, TensorTopology) and vars(self) == vars(other)

    __hash__ = None

    def __repr__(self):
        placements = ", ".join(map(repr, self._placements))
        coords = ", ".join(map(repr, self._coords))
        return f"TensorTopology(distribution_shape={self._shape!r}, placements=SmallVector([{placements}]), mesh_coords={coords})"


def tensor_topology(tensor):
    shape, dims, coords = tensor._topology()
    return TensorTopology(shape, [PlacementReplicate() if d is None else PlacementShard(d) for d in dims], coords)


def update_tensor_topology(tensor, topology):
    """Says how the values of a tensor are spread over its mesh; where its parts lie stays as it is."""
    _need(topology, "topology", "a TensorTopology", "distribution_shape", "placements")
    _ttnn.tensor.set_placements(tensor, topology.distribution_shape(), [p.dim for p in topology.placements()])


def get_device_tensors(tensor):
    """One tensor for each device that holds a part."""
    return _need(tensor, "tensor", "a ttnn.Tensor", "_parts")._parts()


def from_host_shards(tensors, mesh_shape):
    tensors, size = _tensors(tensors), math.prod(_numbers(mesh_shape, "mesh_shape"))
    if len(tensors) != size:
        raise RuntimeError("Number of tensor shards must match mesh size")
    return _ttnn.tensor.gather(list(tensors), [size], [0], mesh_shape)


def combine_device_tensors(tensors):
    """The parts that get_device_tensors() gave, as one tensor again."""
    tensors = _tensors(tensors)
    if not tensors:
        raise RuntimeError("At least one tensor shard must be provided")
    if any(tensor.storage_type() != _ttnn.tensor.StorageType.DEVICE for tensor in tensors):
        raise RuntimeError("All tensor shards must be on device")
    mesh = list(tensors[0].device().shape)
    whole = len(tensors) == mesh[0] * mesh[1]
    tensor = _ttnn.tensor.gather(list(tensors), [len(tensors)], [0], mesh if whole else [1, len(tensors)])
    if not whole:
        raise RuntimeError(f"{len(tensors)} parts are not one for each of the {mesh[0] * mesh[1]} devices")
    return tensor


def distribute_tensor(tensor, mapper, mesh_device=None):
    import ttnn

    return ttnn.from_torch(ttnn.to_torch(tensor), dtype=tensor.dtype, layout=tensor.layout, mesh_mapper=mapper, device=mesh_device)


def aggregate_tensor(tensor, composer):
    """One host tensor of all parts."""
    import ttnn

    return ttnn.from_torch(ttnn.to_torch(tensor, mesh_composer=composer), dtype=tensor.dtype, layout=tensor.layout)


def using_distributed_env():
    return False


def get_num_pcie_devices():
    """Chips that the machine itself talks to: all of them."""
    return _ttnn.device.system_info()["chips"]


def visualize_tensor(tensor):
    """Prints which part of a tensor each chip of its mesh has."""
    parts = get_device_tensors(tensor)
    placements = getattr(tensor.tensor_topology(), "placements", lambda: [])()
    print(f"Tensor of {tensor.shape} on {len(parts)} chips, placements {list(placements)}:")
    for number, part in enumerate(parts):
        print(f"  {number}: {part.shape}, {part.dtype}, {part.layout}")
