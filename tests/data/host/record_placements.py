"""How results are spread over a mesh: lines of what goes in and what comes out, of any library that is named ttnn.

placements.txt.gz was recorded with ttnn 0.81.1 on mock devices, an n150 and a t3k with FABRIC_1D:
  record_placements.py 1x1 > FILE; record_placements.py 2x4 >> FILE; record_placements.py 1x8 >> FILE
tests/python/test_placements.py makes the same lines here.
"""

import itertools
import re
import sys

SHAPE = [1, 8, 256, 256]


def text(ttnn, tensor):
    """ "2,4 R S3": the distribution, then a placement for each of its dimensions."""
    topology = tensor.tensor_topology()
    words = [re.sub(r"Placement(R|S).*?(-?\d*)\)$", r"\1\2", repr(p)) for p in topology.placements()]
    return ",".join(map(str, topology.distribution_shape())) + " " + " ".join(words)


def placements(ttnn):
    copies, cut = ttnn.PlacementReplicate(), ttnn.PlacementShard
    lines = [(copies,), (cut(3),), (cut(2),), (cut(-1),)]
    both = [(copies, copies), (copies, cut(3)), (cut(3), copies), (cut(2), cut(3)), (cut(3), cut(2)), (cut(-1), copies), (copies, cut(-1))]
    return lines + both + [(cut(3), cut(3)), (cut(2), copies), (copies, cut(2)), (cut(-1), cut(3))]


def spread(ttnn, device, placement):
    """A tensor that says it is spread like this."""
    rows, cols = device.shape
    tensor = ttnn.empty(SHAPE, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    shape = ttnn.MeshShape([rows * cols] if len(placement) == 1 else [rows, cols])
    coordinates = [ttnn.MeshCoordinate(i // cols, i % cols) for i in range(rows * cols)]
    tensor.update_tensor_topology(ttnn.TensorTopology(shape, list(placement), coordinates))
    return tensor


def results(ttnn, device):
    """Operations that know of no mesh."""
    one = {
        "relu": ttnn.relu,
        "reshape": lambda t: ttnn.reshape(t, [8, 1, 256, 256]),
        "sum": lambda t: ttnn.sum(t, -1),
        "empty_like": ttnn.empty_like,
        "part": lambda t: ttnn.get_device_tensors(t)[-1],
        "cpu": lambda t: t.cpu(),
    }
    for (name, function), placement in itertools.product(one.items(), placements(ttnn)):
        tensor = spread(ttnn, device, placement)
        yield name, text(ttnn, tensor), text(ttnn, function(tensor))
    for a, b in itertools.product(placements(ttnn), repeat=2):
        a, b = spread(ttnn, device, a), spread(ttnn, device, b)
        out = spread(ttnn, device, placements(ttnn)[1])
        yield "add", text(ttnn, a), text(ttnn, b), text(ttnn, ttnn.add(a, b))
        ttnn.add(b, a, output_tensor=out)
        yield "add to", text(ttnn, b), text(ttnn, a), text(ttnn, out)


def collectives(ttnn, device):
    """Groups of chips. What one of the libraries refuses is left out."""
    many = {
        "all_gather": ttnn.all_gather,
        "reduce_scatter": ttnn.reduce_scatter,
        "mesh_partition": ttnn.mesh_partition,
        "all_reduce": lambda t, dim, **options: ttnn.all_reduce(t, **options),
        "all_broadcast": lambda t, dim, **options: ttnn.all_broadcast(t, **options)[-1],
        "broadcast": lambda t, dim, **options: ttnn.broadcast(t, ttnn.MeshCoordinate(0, 0), **options),
    }
    for (name, function), placement, axis, dim in itertools.product(many.items(), placements(ttnn), (None, 0, 1), (2, 3)):
        tensor = spread(ttnn, device, placement)
        try:
            found = function(tensor, dim, **({} if axis is None else {"cluster_axis": axis}))
        except RuntimeError:
            continue
        yield name, text(ttnn, tensor), str(axis), str(dim), text(ttnn, found)


def lines(ttnn, mesh):
    """All lines of a mesh ("2x4")."""
    rows, cols = map(int, mesh.split("x"))
    device = ttnn.open_mesh_device(ttnn.MeshShape(rows, cols), dispatch_core_config=ttnn.DispatchCoreConfig(type=ttnn.DispatchCoreType.WORKER))
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
    try:
        for found in itertools.chain(results(ttnn, device), collectives(ttnn, device) if rows * cols > 1 else ()):
            yield "; ".join((mesh, *found))
    finally:
        ttnn.graph.end_graph_capture()
        ttnn.close_mesh_device(device)


if __name__ == "__main__":
    import ttnn

    if sys.argv[1] != "1x1":
        ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
    print("\n".join(lines(ttnn, sys.argv[1])))
