"""What cards have besides tensors: semaphores and rings in L1, counters between processes, dispatch cores, pictures."""

import errno
import os
import pickle
import sys
import time

import pytest
import ttnn


def cores(x0, y0, x1, y1):
    return ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(x0, y0), ttnn.CoreCoord(x1, y1))])


def buffers(make):
    """What a graph has of it; addresses by their distance from the first, as the released library's."""
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
    try:
        kept = make()
    finally:
        nodes = ttnn.graph.end_graph_capture()
    found = [n["params"] for n in nodes if n["node_type"] == "buffer_allocate"]
    assert {n["node_type"] for n in nodes} == {"capture_start", "buffer", "buffer_allocate", "capture_end"}
    return kept, [tuple(int(p[name]) for name in ("address", "size", "page_size", "num_cores")) for p in found]


def test_semaphores_have_a_place(device):
    free = ttnn.get_memory_view(device, ttnn.BufferType.L1).total_bytes_free_per_bank
    (one, two), found = buffers(
        lambda: (ttnn.create_global_semaphore(device, cores(0, 0, 3, 3), 1), ttnn.create_global_semaphore(device, cores(4, 4, 4, 4), 2))
    )
    first = ttnn.get_global_semaphore_address(one)
    assert found == [(first, 64, 4, 16), (first - 32, 4, 4, 1)]
    ttnn.reset_global_semaphore_value(two, 7)
    assert two.value == 7
    del one, two
    assert ttnn.get_memory_view(device, ttnn.BufferType.L1).total_bytes_free_per_bank == free
    with pytest.raises(RuntimeError, match="only be created for L1"):
        ttnn.create_global_semaphore(device, cores(0, 0, 0, 0), 1, ttnn.BufferType.DRAM)


def test_semaphores_refuse(device):
    here = cores(0, 0, 0, 0)
    for bad in (-1, 2**32, 1.5, "1"):
        with pytest.raises(TypeError):
            ttnn.create_global_semaphore(device, here, bad)
    semaphore = ttnn.create_global_semaphore(device, here, 2**32 - 1)
    with pytest.raises(TypeError, match="32 bits"):
        ttnn.reset_global_semaphore_value(semaphore, -1)
    with pytest.raises(RuntimeError, match="on no device"):
        ttnn.get_global_semaphore_address(ttnn._ttnn.global_semaphore.GlobalSemaphore(here, 1, ttnn.BufferType.L1))
    with pytest.raises(TypeError, match="takes a global semaphore"):
        ttnn.get_global_semaphore_address(3)


def test_rings_between_cores(device):
    pairs = [(ttnn.CoreCoord(1, 1), cores(4, 4, 4, 4)), (ttnn.CoreCoord(2, 2), cores(2, 3, 2, 4))]
    ring, found = buffers(lambda: ttnn.create_global_circular_buffer(device, pairs, 3200))
    at = ring.buffer_address()
    assert found == [(at, 16000, 3200, 5), (at - 128, 560, 112, 5)]
    assert ring.size() == 3200 and ring.receiver_cores().num_cores() == 3 and ring.sender_cores().num_cores() == 2
    with pytest.raises(RuntimeError, match="At least one sender"):
        ttnn.create_global_circular_buffer(device, [], 64)
    with pytest.raises(RuntimeError, match="overlap"):
        ttnn.create_global_circular_buffer(device, [*pairs, pairs[0]], 64)
    with pytest.raises(RuntimeError, match="only be created for L1"):
        ttnn.create_global_circular_buffer(device, pairs, 64, ttnn.BufferType.DRAM)


@pytest.fixture
def name():
    name = f"/ttnn_test_{os.getpid()}"
    yield name
    assert not os.path.exists("/dev/shm" + name)


def test_counters_between_processes(name):
    owner = ttnn.InterProcessCounterChannel(name)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            end = ttnn.InterProcessCounterChannel.connect(name, connect_timeout_ms=5000)
            seen = 0
            while seen < 1000:
                seen += end.try_consume_all()
            end.shutdown()
            code = 0 if seen == 1000 else 2
        finally:
            os._exit(code)
    for _ in range(100):
        owner.inject(10)
    assert os.waitpid(child, 0)[1] == 0
    end = ttnn.InterProcessCounterChannel.connect(name)
    assert end.had_clean_prior_shutdown() and end.pending() == 0
    owner.inject(2**32 - 1)
    owner.inject(3)
    assert end.try_consume_all() == 2  # of 32 bits
    del end
    owner.shutdown()
    with pytest.raises(RuntimeError, match="was shut down"):
        owner.inject(1)


def test_counters_refuse(name):
    with pytest.raises(RuntimeError, match="No such file"):
        ttnn.InterProcessCounterChannel.connect(name, connect_timeout_ms=20)
    owner = ttnn.InterProcessCounterChannel(name)
    with pytest.raises(RuntimeError, match="exists"):
        ttnn.InterProcessCounterChannel(name)
    with pytest.raises(RuntimeError, match="connector's"):
        owner.pending()
    for bad in (-1, 2**32, 1.5):
        with pytest.raises(TypeError):
            owner.inject(bad)
    owner.shutdown()
    for bad in ("none", "/a/b", "/", 3, "/a\0b", "/\ud800"):
        with pytest.raises(RuntimeError, match="no name of shared memory"):
            ttnn.InterProcessCounterChannel(bad)


def test_children_leave_counters_alone(name):
    owner = ttnn.InterProcessCounterChannel(name)
    end = ttnn.InterProcessCounterChannel.connect(name)
    child = os.fork()
    if child == 0:
        try:
            end.shutdown()
            owner.shutdown()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    owner.inject(3)
    next_end = ttnn.InterProcessCounterChannel.connect(name)
    assert not next_end.had_clean_prior_shutdown() and next_end.pending() == 3
    for side in (end, next_end, owner):
        side.shutdown()


@pytest.mark.parametrize("fails", ["os.pwrite", "mmap.mmap"])
def test_counters_that_fail_leave_no_name(name, monkeypatch, fails):
    def full(*unused):
        raise OSError(errno.ENOSPC, "no room")

    with monkeypatch.context() as patch:
        patch.setattr(fails, full)
        with pytest.raises(RuntimeError, match="no room"):
            ttnn.InterProcessCounterChannel(name)
    ttnn.InterProcessCounterChannel(name).shutdown()


def test_counters_are_ready_when_they_have_their_size(name, monkeypatch):
    seen = []

    class Watched(ttnn.InterProcessCounterChannel):
        def _map(self, fd, shm_name):
            seen.append(os.pread(fd, 128, 0))
            super()._map(fd, shm_name)

    monkeypatch.setattr(os, "ftruncate", None)
    Watched(name).shutdown()
    assert seen == [bytes(68) + (1).to_bytes(4, sys.byteorder) + bytes(56)]


def test_counters_wait_only_for_what_may_come(name):
    path, began = "/dev/shm" + name, time.monotonic()
    os.mkdir(path)
    try:
        with pytest.raises(RuntimeError, match="directory"):
            ttnn.InterProcessCounterChannel.connect(name)
    finally:
        os.rmdir(path)
    owner = ttnn.InterProcessCounterChannel(name + "_owner")
    os.symlink(path + "_owner", path)
    try:
        with pytest.raises(RuntimeError, match="symbolic"):
            ttnn.InterProcessCounterChannel.connect(name)
    finally:
        os.unlink(path)
        owner.shutdown()
    assert time.monotonic() - began < 20
    with open(path, "wb"):
        pass
    try:
        with pytest.raises(RuntimeError, match="20 ms: not complete"):
            ttnn.InterProcessCounterChannel.connect(name, connect_timeout_ms=20)
    finally:
        os.unlink(path)


def test_dispatch_cores():
    config = ttnn.DispatchCoreConfig()
    assert (config.type, config.axis) == (ttnn.DispatchCoreType.WORKER, ttnn.DispatchCoreAxis.ROW)
    with pytest.raises(RuntimeError, match="COL axis is not supported"):
        ttnn.DispatchCoreConfig(ttnn.DispatchCoreType.ETH, ttnn.DispatchCoreAxis.COL)


def test_dispatch_cores_can_be_said_later():
    types, axes = ttnn.DispatchCoreType, ttnn.DispatchCoreAxis
    config = ttnn.DispatchCoreConfig()
    grids = {}
    for axis in (axes.ROW, axes.COL):
        config.axis = axis
        said = ttnn.DispatchCoreConfig(axis=axis)
        assert (config.type, config.axis) == (said.type, said.axis) == (types.WORKER, axis)
        for name, one in (("later", config), ("at once", said)):
            device = ttnn.open_device(device_id=0, dispatch_core_config=one)
            grids[name, axis] = device.compute_with_storage_grid_size()
            ttnn.close_device(device)
        assert grids["later", axis] == grids["at once", axis]
    assert grids["later", axes.ROW] != grids["later", axes.COL]
    with pytest.raises(RuntimeError, match="COL axis is not supported"):
        config.type = types.ETH
    assert config.type == types.WORKER
    config.axis = axes.ROW
    config.type = types.ETH
    assert config.type == types.ETH


def test_meshes_are_drawn(device, capsys):
    ttnn.visualize_mesh_device(device)
    assert "Dev. ID: 0" in capsys.readouterr().out


def test_an_address_for_each_core_is_part_of_a_config():
    def made(**flags):
        config = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, ttnn.ShardSpec(cores(0, 0, 0, 0), [1, 64]))
        for name in flags:
            assert getattr(config, f"experimental_set_{name}")(True) is None
        return config

    plain, per_core, lockstep = made(), made(per_core_allocation=True), made(range_lockstep_allocation=True)
    assert len({plain, per_core, lockstep, made(per_core_allocation=True)}) == 3
    assert hash(plain) != hash(per_core) == hash(made(per_core_allocation=True))
    for config in (plain, per_core, lockstep):
        assert ttnn.MemoryConfig.from_json(config.to_json()) == config == pickle.loads(pickle.dumps(config))
    assert "per_core_allocation=1" in repr(per_core) and "range_lockstep_allocation" not in plain.to_json()
    with pytest.raises(RuntimeError, match="mutually exclusive"):
        per_core.experimental_set_range_lockstep_allocation(True)
    with pytest.raises(RuntimeError, match="mutually exclusive"):
        lockstep.experimental_set_per_core_allocation(True)
    per_core.experimental_set_per_core_allocation(False)
    assert per_core == plain


def test_what_needs_cards_says_so():
    from ttnn._experimental.layer_completion import LayerCompletionQueue

    inner = ttnn._ttnn
    for call in (
        ttnn.D2DStreamService.create_pair, ttnn.LightMetalReplay.create, ttnn.MatmulDeviceOperation.compute_output_specs, ttnn.create_matmul_attributes,
        inner.multi_device.recv_bytes, inner.operations.experimental.fusion_dispatch_op, inner.operations.experimental.quasar.add, LayerCompletionQueue,
    ):
        with pytest.raises(RuntimeError, match="needs a machine with cards"):
            call()
    assert ttnn.KernelDescriptor.SourceType.SOURCE_CODE.value == 1 and ttnn.LayerNormParams(eps=1e-5).eps == 1e-5
    assert ttnn.Conv1dConfig is ttnn.Conv2dConfig and ttnn.Conv2dSliceConfig is ttnn.Op2DSliceConfig
    grid = inner.operations.normalization._find_expected_dram_grid
    assert (grid(8, 8, 320, 32, 1024), grid(8, 8, 64, 32, 64, 2)) == (ttnn.CoreGrid(x=8, y=8), ttnn.CoreGrid(x=4, y=1))  # as recorded
