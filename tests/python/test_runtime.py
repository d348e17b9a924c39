"""Switches and facts of machines with cards, tiles of block floats, pictures, parts of experts: names that models call."""

import struct
import sys

import pytest

import ttnn

numpy = pytest.importorskip("numpy")


def rows(values, dtype, device):
    return ttnn.to_device(ttnn.Tensor(values.flatten().tolist(), list(values.shape), dtype, ttnn.ROW_MAJOR_LAYOUT), device)


def test_memory_is_given_back(device):
    free = ttnn.get_memory_view(device, ttnn.BufferType.DRAM).total_bytes_free_per_bank
    tensor = ttnn.zeros([64, 64], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    other = tensor
    ttnn.device.DeallocateBuffers(device)
    assert not tensor.is_allocated() and not other.is_allocated()
    assert ttnn.get_memory_view(device, ttnn.BufferType.DRAM).total_bytes_free_per_bank >= free
    with pytest.raises(RuntimeError):
        ttnn.to_torch(ttnn.add(tensor, tensor))
    again = ttnn.ones([32, 32], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    assert numpy.array_equal(numpy.asarray(ttnn.from_device(again)), numpy.ones((32, 32)))
    with pytest.raises(TypeError):
        ttnn.device.DeallocateBuffers(3)


def test_switches(device):
    assert ttnn.device.EnableMemoryReports() is None and ttnn.device.DisableMemoryReports() is None
    assert ttnn.device.ClearKernelCache() is None
    assert ttnn.device.IsProgramRealtimeProfilerActive() is False
    first, second = (ttnn.device.RegisterProgramRealtimeProfilerCallback(print) for _ in range(2))
    assert second == first + 1
    ttnn.device.UnregisterProgramRealtimeProfilerCallback(first)
    with pytest.raises(TypeError):
        ttnn.device.RegisterProgramRealtimeProfilerCallback(3)
    assert not ttnn.device.is_asynchronous_slow_dispatch_enabled(device)
    with pytest.raises(RuntimeError, match="needs a machine with cards"):
        ttnn.device.enable_asynchronous_slow_dispatch(device)
    with ttnn.device.setup_fast_dispatch(device):
        assert ttnn.ones([2, 2], device=device).shape == ttnn.Shape([2, 2])
    assert ttnn._ttnn.device.DEFAULT_WORKER_L1_SIZE == 0
    assert isinstance(ttnn.get_memory_view(device, ttnn.BufferType.L1), ttnn._ttnn.device.MemoryView)


def test_packets_between_chips():
    with pytest.raises(RuntimeError, match="un-initialized fabric context"):
        ttnn.get_tt_fabric_max_payload_size_bytes()
    for config, header in ((ttnn.FabricConfig.FABRIC_1D, 48), (ttnn.FabricConfig.FABRIC_2D, 96), (ttnn.FabricConfig.FABRIC_1D_RING, 48)):
        ttnn.set_fabric_config(config)
        try:
            assert ttnn.get_fabric_config() == config
            assert ttnn.get_tt_fabric_max_payload_size_bytes() == 4352
            assert ttnn.get_tt_fabric_packet_header_size_bytes() == header
        finally:
            ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)


def test_words_of_block_floats():
    """A face of sixteen by sixteen: one exponent a row, then bytes of sign and seven bits."""
    tools = ttnn._ttnn.bfp_utils
    values = numpy.zeros(1024, dtype=numpy.float32)
    values[:4] = [1, -0.5, 0.25, 2]
    packed = tools.pack_bfp8(values)
    assert packed.dtype == numpy.uint32 and packed.size == 272
    data = packed.tobytes()
    assert data[0] == 128 and set(data[1:64]) == {0}
    assert list(data[64:68]) == [32, 128 + 16, 8, 64]
    assert numpy.array_equal(tools.unpack_bfp8(packed), values)
    random = (numpy.random.default_rng(1).integers(-7, 8, 2048) / 4).astype(numpy.float32)
    for name, words in (("8", 544), ("4", 288)):
        packed = getattr(tools, f"pack_bfp{name}")(random, row_major_input=True)
        assert packed.size == words
        found = getattr(tools, f"unpack_bfp{name}")(packed, row_major_output=True)
        assert numpy.abs(found - random).max() <= (0 if name == "8" else 0.25)
    for refused in (lambda: tools.pack_bfp8(values[:5]), lambda: tools.unpack_bfp4(packed[:5]), lambda: tools.pack_bfp2(values)):
        with pytest.raises(RuntimeError):
            refused()
    assert (tools.get_dram_alignment(), tools.get_l1_alignment()) == (ttnn.get_dram_alignment(), ttnn.get_l1_alignment())


def test_pages_of_shards():
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 0))])
    found = ttnn._ttnn.bfp_utils.compute_shard_page_mapping([64, 128], [64, 64], 32, 32, cores, ttnn.ShardOrientation.ROW_MAJOR)
    assert [((core.x, core.y), pages) for core, pages in found] == [((0, 0), [0, 1, 4, 5]), ((1, 0), [2, 3, 6, 7])]


def test_files(tmp_path):
    tensor = ttnn.Tensor([1.0, 2.0, 3.0, 4.0], [2, 2], ttnn.float32, ttnn.ROW_MAJOR_LAYOUT)
    path = str(tmp_path / "x.tensorbin")
    ttnn._ttnn.tensor.dump_tensor_flatbuffer(path, tensor)
    assert numpy.array_equal(numpy.asarray(ttnn._ttnn.tensor.load_tensor_flatbuffer(path)), [[1, 2], [3, 4]])


def test_machine(capsys):
    from ttnn.distributed.distributed import ConcatMeshToTensor

    assert ConcatMeshToTensor is ttnn.ConcatMeshToTensor
    assert ttnn.distributed.get_num_pcie_devices() == ttnn.GetNumPCIeDevices()
    with open(ttnn.cluster.serialize_cluster_descriptor()) as file:
        assert file.readline() == "arch:\n" and "  0: wormhole_b0\n" == file.readline()
    ttnn.visualize_tensor(ttnn.Tensor([1.0, 2.0], [1, 2], ttnn.float32, ttnn.ROW_MAJOR_LAYOUT))
    assert "Shape([1, 2])" in capsys.readouterr().out


def test_group_masks():
    assert ttnn.operations.normalization.find_max_tile_span(320, 10, 32) == 2
    assert ttnn.operations.normalization.find_max_tile_span(960, 40, 32) == 2
    mask = ttnn._ttnn.operations.normalization.create_group_norm_input_mask(320, 32, 1)
    assert mask.shape == ttnn.Shape([1, 32, 32, 64]) and mask.dtype == ttnn.bfloat16


@pytest.mark.parametrize(
    "name",
    "generic_op experimental.send_async experimental.start_tensor_prefetcher experimental.quasar.matmul".split(),
)
def test_what_needs_cards_says_so(name):
    function = ttnn
    for part in name.split("."):
        function = getattr(function, part)
    with pytest.raises(RuntimeError, match=f"ttnn.{name} needs a machine with cards"):
        function(1, 2, x=3)


def test_coefficients(device):
    def single(number):
        return struct.unpack("f", struct.pack("f", number))[0]

    # as the released library has them
    found = ttnn.experimental.yuv_bt601_coefficients()
    assert list(found.y) == [single(32.740498), single(64.276497), single(12.483), 125.5]
    assert list(found.cb) == [single(-18.89842), single(-37.101578), 56.0, 128.0]
    assert list(found.cr) == [56.0, single(-46.89301), single(-9.10699), 128.0]
    assert list(ttnn.experimental.yuv_bt709_coefficients().y)[0] == single(23.2797)
    picture = numpy.random.default_rng(2).integers(-4, 5, (3, 4, 6, 2)) / 4
    tensor = rows(picture, ttnn.bfloat16, device)
    usual = ttnn.experimental.rgb_to_yuv(tensor)
    given = ttnn.experimental.rgb_to_yuv(tensor, coefficients=found)
    assert [list(plane.shape) for plane in usual] == [[1, 4, 6, 2], [1, 2, 3, 2], [1, 2, 3, 2]]
    for a, b in zip(usual, given):
        assert numpy.array_equal(numpy.asarray(ttnn.from_device(a)), numpy.asarray(ttnn.from_device(b)))
    red = ttnn.experimental.YUVCoefficients(y=[100, 0, 0, 100], cb=[0, 40, 0, 128], cr=[0, 0, 40, 128])
    y, cb, cr = (numpy.asarray(ttnn.from_device(plane)) for plane in ttnn.experimental.rgb_to_yuv(tensor, coefficients=red))
    assert numpy.array_equal(y[0], numpy.clip(numpy.rint(100 * picture[0] + 100), 0, 255))
    for plane, colour in ((cb, 1), (cr, 2)):
        small = picture[colour].reshape(2, 2, 3, 2, 2).mean(axis=(1, 3))
        assert numpy.array_equal(plane[0], numpy.clip(numpy.rint(40 * small + 128), 0, 255))


def test_weights_of_chips(monkeypatch):
    monkeypatch.setenv("TTNN_DEVICE", "t3k")
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 4))
    try:
        weights = numpy.zeros((1, 32))
        places = [2, 4, 10, 13, 14, 18, 22, 24]
        weights[0, places] = range(1, 9)
        found = ttnn.moe_routing_remap(rows(weights, ttnn.bfloat16, mesh), 8, 4, 1)
        for chip, part in enumerate(ttnn.get_device_tensors(found)):
            wanted = numpy.zeros((1, 32))
            for place in places[2 * chip : 2 * chip + 2]:
                wanted[0, place] = weights[0, place]
            assert numpy.array_equal(numpy.asarray(ttnn.from_device(part)), wanted)
        with pytest.raises(RuntimeError, match="should be the same as size of cluster axis 0"):
            ttnn.moe_routing_remap(rows(weights, ttnn.bfloat16, mesh), 8, 4, 0)
    finally:
        ttnn.close_mesh_device(mesh)


def test_profiles_of_tests(tmp_path, monkeypatch):
    monkeypatch.setenv("TT_METAL_PROFILER_DIR", str(tmp_path))
    import importlib

    import tracy.common
    import tracy.process_model_log

    importlib.reload(tracy.common)
    log = importlib.reload(tracy.process_model_log)
    with pytest.raises(FileNotFoundError, match="run_device_profiler"):
        log.get_latest_ops_log_filename("part")
    script = tmp_path / "work.py"
    script.write_text(
        "import tracy, ttnn\n"
        "d = ttnn.open_device(device_id=0)\n"
        "x = ttnn.ones([64, 64], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=d)\n"
        "tracy.signpost('start')\n"
        "ttnn.add(x, x)\n"
        "tracy.signpost('stop')\n"
        "ttnn.relu(x)\n"
    )
    log.run_device_profiler(f"{sys.executable} {script}", "part", is_command_binary_exe=True)
    assert log.get_latest_ops_log_filename("part").is_file()
    whole = log.post_process_ops_log("part", ["DEVICE KERNEL DURATION [ns]"], sum_vals=False)["DEVICE KERNEL DURATION [ns]"]
    part = log.post_process_ops_log("part", ["DEVICE KERNEL DURATION [ns]"], has_signposts=True)["DEVICE KERNEL DURATION [ns]"]
    assert len(whole) >= 2 and 0 < part < sum(whole)
    assert log.get_samples_per_s(5e8, 4) == 8
    import subprocess

    with pytest.raises(subprocess.CalledProcessError):
        log.run_device_profiler("runpy /nowhere", "part")


def test_logs_of_devices(tmp_path):
    from tracy import device_post_proc_config, process_device_log

    log = tmp_path / "profile_log_device.csv"
    log.write_text("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n")
    assert process_device_log.extract_device_info(log) == ("wormhole_b0", 1000, 64)
    assert device_post_proc_config.default_setup().deviceInputLog.endswith("profile_log_device.csv")
    with pytest.raises(RuntimeError, match="machine with cards"):
        process_device_log.import_log_run_stats(device_post_proc_config.default_setup())
