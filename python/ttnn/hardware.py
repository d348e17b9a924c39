"""What only machines with cards have: kernels of one's own, sockets, streams, several processes.

Programs that name these can be imported; settings can be made and read; what would need a card says so.
"""

import enum
import sys
import types

from ttnn._ttnn.multi_device import MeshDevice
from ttnn.counter_channel import InterProcessCounterChannel

_SETTINGS = """
    CBDescriptor CBFormatDescriptor ComputeConfigDescriptor DataMovementConfigDescriptor FaceGeometry KernelDescriptor
    MeshProgramDescriptor ProgramDescriptor ReaderConfigDescriptor RuntimeArgs SemaphoreDescriptor TileDescriptor
    WriterConfigDescriptor Mcast McastConfig McastExplicitFixedSenderConfig McastFixedSenderConfig McastRotatingSenderConfig
    SocketConfig SocketConnection SocketMemoryConfig MeshCoreCoord D2DStageGateConfig D2DStageGateDescriptor
    LayerNormParams LayerNormInputs MatmulParams MatmulInputs SliceParams SliceInputs
"""
_MACHINES = """
    H2DSocket D2HSocket MeshSocket H2DStreamService D2HStreamService D2DStreamService D2DStreamServiceReceiver D2DStreamServiceSender
    LayerAckService LightMetalReplay
    LayerNormDeviceOperation LayerNormMultiCoreProgramFactory LayerNormShardedProgramFactory MatmulDeviceOperation
    SliceDeviceOperation SliceTileProgramFactory
"""
_CALLS = """
    create_socket_pair light_metal_begin_capture light_metal_end_capture compute_fabric_connection_rt_args
    fabric_connection_rt_args setup_fabric_connection setup_routing_plane_connection get_eth_forwarding_direction
    get_forwarding_link_indices get_cb_address cb_descriptor_from_sharded_tensor merge_program_descriptors
    compute_program_descriptor_hash generic_op create_matmul_attributes matmul_select_program_factory
"""
# Of ttnn._ttnn, and modules that are nothing else.
_INNER = """
    multi_device.recv_bytes multi_device.send_bytes cluster.get_chip_unique_id_from_fabric_node_id operations.trace.get_unsafe_tracked_ids
    operations.experimental.FusionSemaphoreBank operations.experimental.FusionDispatchState operations.experimental.fusion_dispatch_op
    operations.experimental.cb_has_backing operations.experimental.cb_backing_address operations.experimental.copy_cb_backing
    operations.experimental.compute_address_slots multi_device.experimental.generate_blitz_decode_pipeline
    multi_device.experimental.resolve_blitz_decode_pipeline_allocation
"""
_INNER_MODULES = "ttnn._ttnn.operations.experimental.quasar ttnn._experimental.layer_completion ttnn.distributed.ttrun"
# Of ttnn.experimental: between processes, and kernels that fetch weights ahead. A name with a dot is a module's.
_TRIALS = """
    send_async recv_async send_direct_async recv_direct_async send_async_d2h recv_async_h2d queue_tensor_prefetcher_request
    create_global_circular_buffer_for_tensor_prefetcher create_global_circular_buffer_for_matmul_1d start_tensor_prefetcher
    stop_tensor_prefetcher wait_for_cq_on_tensor_prefetcher tensor_prefetcher_matmul tensor_prefetcher_block_count_for_matmul_1d
    test_dram_prefetcher_validator test_dram_prefetcher_consumer
    deepseek_prefill.inbound_socket_service_sync deepseek_prefill.outbound_socket_service_sync
"""
_TRIAL_MODULES = "quasar"


class Settings:
    """Arguments under their names; those without one in `args`."""

    def __init__(self, *args, **kwargs):
        self.args = args
        self.__dict__.update(kwargs)

    def __repr__(self):
        given = [repr(a) for a in self.args] + [f"{k}={v!r}" for k, v in vars(self).items() if k != "args"]
        return f"{type(self).__name__}({', '.join(given)})"

    def __eq__(self, other):
        return type(other) is type(self) and vars(other) == vars(self)

    __hash__ = object.__hash__


class FabricRouterConfig(Settings):
    """Settings of routers between chips."""

    max_packet_payload_size_bytes = None


def _refuse(name):
    def call(*unused, **ignored):
        raise RuntimeError(f"ttnn.{name} needs a machine with cards")

    return call


class _Machine(type):
    """Classes whose functions (D2DStreamService.create_pair) refuse as their making does."""

    def __getattr__(cls, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return _refuse(f"{cls.__name__}.{name}")


for _name in _SETTINGS.split():
    globals()[_name] = type(_name, (Settings,), {"__module__": "ttnn"})
KernelDescriptor.SourceType = enum.Enum("SourceType", ["FILE_PATH", "SOURCE_CODE"], start=0)  # noqa: F821
for _name in _MACHINES.split():
    globals()[_name] = _Machine(_name, (), {"__module__": "ttnn", "__init__": _refuse(_name)})
for _name in _CALLS.split():
    globals()[_name] = _refuse(_name)


class _Refusing(types.ModuleType):
    """A module whose members all say that they need cards."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _refuse(f"{self.__name__.removeprefix('ttnn.')}.{name}")


def refuse_trials(experimental):
    """Puts what needs cards into ttnn.experimental, unless it is there."""
    for name in _TRIALS.split():
        module, _, last = name.rpartition(".")
        owner = getattr(experimental, module) if module else experimental
        if not hasattr(owner, last):
            setattr(owner, last, _refuse(f"experimental.{name}"))
    for name in _TRIAL_MODULES.split():
        module = sys.modules.setdefault(f"ttnn.experimental.{name}", _Refusing(f"ttnn.experimental.{name}"))
        setattr(experimental, name, module)
    experimental.is_tensor_prefetcher_supported = lambda *unused, **ignored: False


def refuse_inner(extension):
    """The same for the modules of the extension."""
    for name in _INNER.split():
        *path, last = name.split(".")
        owner = extension
        for part in path:
            owner = getattr(owner, part)
        if not hasattr(owner, last):
            setattr(owner, last, _refuse(f"_ttnn.{name}"))
    for name in _INNER_MODULES.split():
        owner, _, last = name.rpartition(".")
        if owner not in sys.modules:
            sys.modules[owner] = types.ModuleType(owner)
            setattr(sys.modules["ttnn"], owner.rpartition(".")[2], sys.modules[owner])
        sys.modules[name] = _Refusing(name)
        setattr(sys.modules[owner], last, sys.modules[name])


class _Number(int):
    def __repr__(self):
        return f"{type(self).__name__}({int(self)})"

    __str__ = __repr__


class QueueId(_Number):
    pass


class MeshId(_Number):
    pass


class Rank(_Number):
    pass


class Size(_Number):
    pass


class SubcontextId(_Number):
    pass


class FabricNodeId:
    def __init__(self, mesh_id, chip_id):
        self.mesh_id, self.chip_id = mesh_id, chip_id

    def __repr__(self):
        return f"FabricNodeId(M{int(self.mesh_id)}, D{int(self.chip_id)})"

    def __eq__(self, other):
        return isinstance(other, FabricNodeId) and (self.mesh_id, self.chip_id) == (other.mesh_id, other.chip_id)

    def __hash__(self):
        return hash((int(self.mesh_id), int(self.chip_id)))


def _fabric_node_id(self, coord):
    """The chip at a coordinate as the machine's fabric counts it."""
    return FabricNodeId(MeshId(0), self._fabric_chip(coord))


MeshDevice.get_fabric_node_id = _fabric_node_id


# ---- processes: there is one ------------------------------------------------------------------------

_initialized = False


def init_distributed_context(*unused, **ignored):
    global _initialized
    _initialized = True


def distributed_context_is_initialized():
    return _initialized


def _context(value):
    def ask(*unused, **ignored):
        if not _initialized:
            raise RuntimeError("Distributed context not initialized. Call init_distributed_context() first.")
        return value

    return ask


distributed_context_get_rank = distributed_context_world_rank = distributed_context_local_to_world_rank = _context(Rank(0))
distributed_context_get_size = distributed_context_world_size = distributed_context_subcontext_size = _context(Size(1))
distributed_context_subcontext_count = _context(1)
distributed_context_subcontext_id = _context(SubcontextId(0))
distributed_context_subcontext_sizes = _context([Size(1)])
distributed_context_barrier = _context(None)


def distributed_context_allgather_int(value, *unused):
    _context(None)()
    return [value]


# ---- what has no effect --------------------------------------------------------------------------------


def _nothing(*unused, **ignored):
    pass


apply_device_delay = enable_asynchronous_slow_dispatch = disable_asynchronous_slow_dispatch = dump_stack_trace_on_segfault = _nothing


def get_all_mgd_fabric_types(*unused):
    """What a descriptor of the machine's links says of each mesh; there is no such file here."""
    return {}


def get_latest_programs_perf_data(*unused):
    return {}


get_all_programs_perf_data = get_latest_programs_perf_data
__all__ = [n for n in globals() if not n.startswith("_") and n not in ("MeshDevice", "Settings", "refuse_trials", "sys", "types")]
