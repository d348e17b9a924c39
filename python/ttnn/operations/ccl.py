"""Names around collective operations."""

import ttnn
from ttnn.types import DispatchAlgorithm, MMSignalAggregatorMode, MoEActivationFunction, Topology, WorkerMode


def get_usable_topology(tensor, topology=None, cluster_axis=None):
    """A ring where the chips along an axis close one; links are modelled as lines, so that is never so."""
    line = {Topology.Ring: Topology.Linear, getattr(Topology, "Torus", None): getattr(Topology, "Mesh", None)}
    return line.get(topology, Topology.Linear if topology is None else topology)


ttnn.get_usable_topology = get_usable_topology

__all__ = ["DispatchAlgorithm", "MMSignalAggregatorMode", "MoEActivationFunction", "Topology", "WorkerMode", "get_usable_topology"]
