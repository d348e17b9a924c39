"""Tables of where chunks of caches are: messages of the released library to the byte, refusals, chunks in memory."""

import array
import random
import socket

import pytest

import ttnn

tables = ttnn.experimental.disaggregation
STRIDED = tables.ChunkCompression.STRIDED_ROWS
HOST = "6a" + f"{len(socket.gethostname()):02x}" + socket.gethostname().encode().hex()


def config(**fields):
    out = tables.KvChunkAddressTableConfig()
    for name, value in {"num_layers": 2, "max_sequence_length": 100, "num_slots": 2, **fields}.items():
        setattr(out, name, value)
    return out


def node(chip, mesh=0):
    return ttnn.FabricNodeId(ttnn.MeshId(mesh), chip)


def place(address, size, group=None):
    out = tables.KvCacheLocation()
    out.noc_addr, out.size_bytes = address, size
    if group is not None:
        out.device_group_index = group
    return out


def message(table, folder):
    path = folder / "table.pb"
    tables.export_to_protobuf_file(table, str(path))
    assert sorted(p.name for p in folder.iterdir()) == ["table.pb"]  # nothing is left beside it
    return path.read_bytes()


def chunks():
    """A table of the released library, and two entries more than it has of a third."""
    table = tables.KvChunkAddressTable(config())
    table.add_device_group([node(3), node(1)])
    assert table.add_device_group([node(1), node(3)]) == tables.DeviceGroupIndex(0)
    at = place((3 << 32) | 4096, 19584, table.add_device_group([node(0, mesh=1)]))
    table.set_fabric_node_host(node(1), "hosta")
    table.set_fabric_node_host(node(1, mesh=5), "unused")
    table.set(1, 32, 0, at)
    table.set(0, 96, 1, at, config_id=0)
    table.set(0, 0, 0, at, config="0")
    return table


def named():
    return tables.KvChunkAddressTable({"b": config(num_layers=1), "a": config(num_slots=1, tensor_type=tables.KvChunkTensorType.Snapshot)})


def rows():
    table = tables.KvChunkAddressTable({"b": config(num_layers=3, max_sequence_length=200)}, {"b": STRIDED})
    group = table.add_device_group([node(0)])
    table.set_strided_row(2, 0, 1, [1], [1], [0])
    table.set_strided_row(0, 1, 1, [70], [-3], [group])
    table.set_strided_row(0, 0, 1, [1, 9, 8], [1, 0, 5], [0, 0, 0])
    return table


RECORDED = [  # by the released library, without the name of the host at the end
    (
        chunks,
        "08021064180220202880990132080a0210010a02100332040a0208013a0910011a05686f737461420c2080a08080302880990130014210100118202080a0808030"
        "2880990130014210080118602080a08080302880990130014a0f0a01301002186420022820308099016001",
    ),
    (named, "0802106418012020288099014a110a016110021864200128203080990140014a0f0a0162100118642002282030809901" + "6001"),
    (
        rows,
        "080310c801180220202880990132020a004a120a0162100318c801200228203080990138015a0a280330033801400248015a0a200128033002380948015a0c2002"
        "280330023808400a48015a0c1802280130073801400248015a0c1001280130073846400548016001",
    ),
    (lambda: tables.KvChunkAddressTable({"b": config()}, {"b": STRIDED}), "0802106418022020288099014a0f0a016210021864200228203080990160" + "01"),
]


@pytest.mark.parametrize("make, recorded", RECORDED)
def test_messages(make, recorded, tmp_path):
    data = message(make(), tmp_path)
    assert data.hex() == recorded + HOST
    assert message(tables.import_from_protobuf(data), tmp_path) == data
    assert message(tables.import_from_protobuf_file(str(tmp_path / "table.pb")), tmp_path) == data


def test_lookups():
    table = chunks()
    assert (table.total_entries(), table.num_position_chunks(), table.num_configs(), table.num_device_groups()) == (16, 4, 1, 2)
    assert [at.noc_addr for at in table.lookup_range(1, 0, 70, 0)] == [0, 12884905984, 0] and table.lookup_range(1, 64, 64, 0) == []
    at = table.lookup(1, 32, 0)
    assert (at.size_bytes, repr(at.device_group_index)) == (19584, "DeviceGroupIndex(1)")
    at.noc_addr = 5
    assert table.lookup(1, 32, 0, config="0").noc_addr == 12884905984  # a copy
    assert table.has_host(node(1)) and table.get_host(node(1)) == "hosta" and not table.has_host(node(3))
    assert [str(chip) for chip in table.get_device_group(tables.DeviceGroupIndex(0)).fabric_node_ids] == [
        "FabricNodeId(M0, D1)",
        "FabricNodeId(M0, D3)",
    ]
    strided = tables.KvChunkAddressTable({"a": config(), "b": config(max_sequence_length=200)}, {"b": STRIDED})
    groups = [strided.add_device_group([node(chip)]) for chip in range(2)]
    strided.set_strided_row(1, 1, 100, [1 << 33 | 5, 2, 7], [3000, 4, 0], [groups[0], groups[1], 0], config_id=1)
    found = [(at.noc_addr, at.size_bytes, int(at.device_group_index)) for at in strided.lookup_range(1, 0, 200, 1, 1)]
    assert [address for address, _, _ in found] == [8589934597, 2, 7, 8589937597, 6, 7, 8589940597]
    assert {size for _, size, _ in found} == {100} and [group for _, _, group in found] == [0, 1, 0, 0, 1, 0, 0]
    assert strided.lookup(0, 64, 1, config="b").noc_addr == 0
    assert strided.config_id_of("b") == 1 and strided.config_name(0) == "a" and strided.compression(1) is STRIDED


def test_refusals(tmp_path):
    table, at = chunks(), place(1, 1)
    strided = rows()
    for call, text in [
        (lambda: table.set(2, 0, 0, at), r"layer 2 >= num_layers 2 \(config 0\)"),
        (lambda: table.set(0, 100, 0, at), r"position 100 >= max_sequence_length 100 \(config 0\)"),
        (lambda: table.set(0, 33, 0, at), "position 33 is not a multiple of chunk_n_tokens 32"),
        (lambda: table.set(0, 0, 2, at), "slot 2 >= num_slots 2"),
        (lambda: table.set(0, 0, 0, at, config_id=1), "config_id 1 >= num_configs 1"),
        (lambda: table.set(0, 0, 0, at, config="x"), "config name 'x' not found"),
        (lambda: table.lookup_range(0, 0, 101, 0), "end_pos 101 > max_sequence_length 100"),
        (lambda: table.get_device_group(tables.DeviceGroupIndex(9)), "device_group_index 9 >= num_device_groups 2"),
        (lambda: table.get_host(node(3)), "FabricNodeId not found in host map"),
        (lambda: table.set_strided_row(0, 0, 1, [1], [1], [0]), "on an UNROLLED config 0"),
        (lambda: strided.set(0, 0, 0, at), "on a compressed .STRIDED_ROWS. config 0"),
        (lambda: strided.set_strided_row(0, 0, 1, [1], [1, 2], [0]), "strided row has bases 1 / strides 2 / device groups 1; all must match"),
        (lambda: strided.set_strided_row(0, 0, 1, [], [], []), r"strided row step 0 must be in \[1, 7\]"),
        (lambda: strided.set_strided_row(0, 0, 1, [1], [1], [7]), "device group index 7 not registered"),
        (lambda: strided.set_strided_row(5, 0, 1, [1], [1], [0]), r"layer 5 out of range \[0, 3\)"),
        (lambda: strided.set_strided_row(0, 0, 0, [0], [0], [0]), "size_bytes must be > 0"),
        (lambda: strided.set_strided_row(0, 0, 1, [1], [-1], [0]), "residue 0 wraps: base 0x1 . stride -1 x 6"),
        (lambda: tables.KvChunkAddressTable([]), "requires at least one config"),
        (lambda: tables.KvChunkAddressTable(config(chunk_n_tokens=0)), "chunk_n_tokens must be > 0"),
        (lambda: tables.KvChunkAddressTable({"": config()}), "name must be non-empty"),
        (lambda: tables.KvChunkAddressTable({"a": config()}, {"z": STRIDED}), "compression given for unknown config 'z'"),
        (lambda: tables.import_from_protobuf_file(str(tmp_path / "none")), "Failed to open file for reading"),
        (lambda: tables.export_to_protobuf_file(table, str(tmp_path / "none" / "x")), "Failed to open file for writing"),
        (lambda: tables.read_dram_umd(0, 0, 1), "needs a machine with cards"),
        (lambda: table.read_device_chunk(0, 32, 1), "D1. not found in logical-to-physical chip mapping"),
    ]:
        with pytest.raises(RuntimeError, match=text):
            call()
    for call in (lambda: table.set(-1, 0, 0, at), lambda: table.set(0, 0, 0, 5), lambda: setattr(at, "size_bytes", 1 << 32)):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(TypeError):
        tables.DeviceGroupIndex(-1)


@pytest.mark.parametrize(
    "data, text",
    [
        ("08", "Failed to parse"),
        ("", "chunk_n_tokens must be > 0"),
        ("080110201801202042023805", "entry config_idx out of range"),
        ("0801102018012020420408052000", "slot 5 >= num_slots 1"),
        ("4a030a01614a030a0161", "duplicate config name 'a'"),
        ("08011020180120206002", "format_version=2 is newer"),
        ("4a070a013028204005", "unknown tensor_type=5"),
        *(
            ("4a0d0a013010011840200128203801" + f"5a{len(run) // 2:02x}" + run, text)
            for run, text in [
                ("2802300138014864", "row runs do not cover all residues"),
                ("28013003380148645000", "run count does not tile the row"),
                ("10052801300238014864", "run layer/slot out of range"),
                ("2800300238014864", "run chunk_step out of range"),
                ("2801300038014864", "run count must be >= 1"),
                ("08052801300238014864", "run config_idx out of range"),
                ("20052801300238014864", "run start_chunk must be < chunk_step"),
            ]
        ),
        ("4a0d0a013010011840200128203803", "unknown compression=3"),
        ("4a0d0a013010011840200128203801", "tagged STRIDED_ROWS but has no runs"),
    ],
)
def test_broken_messages(data, text):
    with pytest.raises(RuntimeError, match=text):
        tables.import_from_protobuf(bytes.fromhex(data))


def test_mutated_messages(tmp_path):
    """Whatever the bytes are, there is a table or a RuntimeError, soon."""
    draw = random.Random(3)
    good = [message(make(), tmp_path) for make, _ in RECORDED]
    for _ in range(3000):
        data = bytearray(draw.choice(good))
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(data))
            data[at : at + draw.randint(0, 2)] = draw.randbytes(draw.randint(0, 2))
        try:
            tables.import_from_protobuf(bytes(data)).total_entries()
        except RuntimeError:
            pass


def test_cached_tables(tmp_path, monkeypatch):
    monkeypatch.setenv("TT_METAL_CACHE", str(tmp_path / "cache"))
    built = []

    def build():
        built.append(1)
        return chunks()

    out = str(tmp_path / "out.pb")
    hits = [tables.get_or_build_kv_chunk_table(seed, key, build, out) for seed, key in [("s", {"x": 1})] * 2 + [("s", {"x": 2}), ("", {})]]
    assert hits == [False, True, False, False] and len(built) == 3
    assert tables.import_from_protobuf_file(out).lookup(1, 32, 0).size_bytes == 19584


def test_bytes():
    assert tables.tensor_from_bf16_bytes(bytes.fromhex("803f0040"), [1, 2]).to_list() == [[1.0, 2.0]]
    assert tables.tensor_from_bfp8_bytes(bytes(1088), [32, 32]).dtype == ttnn.bfloat8_b
    for call, text in [
        (lambda: tables.tensor_from_bf16_bytes(b"123", [1]), "is not a multiple of 2"),
        (lambda: tables.tensor_from_bf16_bytes(b"1234", [3]), "do not match the requested shape's volume 3"),
        (lambda: tables.tensor_from_bfp8_bytes(b"123", [32, 32]), "is not a multiple of 4"),
        (lambda: tables.tensor_from_bfp8_bytes(b"1234", [32, 32]), "4 bytes are given, the tensor has 1088"),
    ]:
        with pytest.raises(RuntimeError, match=text):
            call()


def upload(device, shape, dtype, layout, memory_config):
    count = 1
    for extent in shape:
        count *= extent
    numbers = array.array("f", [(i * 7 % 251) - 125 for i in range(count)])
    return ttnn.from_torch(memoryview(numbers).cast("B").cast("f", shape), dtype=dtype, layout=layout, device=device, memory_config=memory_config)


def read(device, chip, tensor, bank, offset, size):
    """Bytes of a bank behind the address of a tensor."""
    table = tables.KvChunkAddressTable(config())
    group = table.add_device_group([device.get_fabric_node_id(ttnn.MeshCoordinate(0, chip))])
    table.set(0, 0, 0, place(bank << 32 | tensor.buffer_address() + offset, size, group))
    return table.read_device_chunk(0, 0, 0)


def test_chunks_in_memory(device):
    banks = 12
    tiles = upload(device, [1, 1, 32, 32 * 30], ttnn.bfloat8_b, ttnn.TILE_LAYOUT, ttnn.DRAM_MEMORY_CONFIG)
    whole = tiles.to_list()[0][0]
    for tile in (0, 1, 11, 12, 29):
        data = read(device, 0, tiles, tile % banks, tile // banks * 1088, 1088)
        assert tables.tensor_from_bfp8_bytes(data, [32, 32]).to_list() == [row[32 * tile : 32 * tile + 32] for row in whole]
    part = read(device, 0, tiles, 0, 1000, 200)  # the end of a page and the beginning of the next
    assert part == read(device, 0, tiles, 0, 0, 1088)[1000:] + read(device, 0, tiles, 0, 1088, 112)
    grid = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(3, 0))])
    sharded = ttnn.MemoryConfig(ttnn.BufferType.DRAM, ttnn.NdShardSpec([1, 1, 32, 64], grid, ttnn.ShardOrientation.ROW_MAJOR))
    cache = upload(device, [2, 1, 128, 64], ttnn.bfloat8_b, ttnn.TILE_LAYOUT, sharded)
    numbers = cache.to_list()
    for chunk in range(8):
        data = read(device, 0, cache, chunk % 4, chunk // 4 * 2176, 2176)
        expected = numbers[chunk // 4][0][chunk % 4 * 32 : chunk % 4 * 32 + 32]
        assert tables.tensor_from_bfp8_bytes(data, [32, 64]).to_list() == expected
    rows = upload(device, [4, 64], ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, ttnn.DRAM_MEMORY_CONFIG)
    assert tables.tensor_from_bf16_bytes(read(device, 0, rows, 2, 0, 128), [1, 64]).to_list() == rows.to_list()[2:3]
    with pytest.raises(RuntimeError, match="dram_view=77 is outside of num_dram_views=12"):
        read(device, 0, rows, 77, 0, 1)
    address = rows.buffer_address()
    rows.deallocate()
    assert device._read_bank(0, 2, address, 128) == bytes(128)


def test_nodes_of_a_mesh(monkeypatch):
    """As the released library numbers the chips of a t3k."""
    monkeypatch.setenv("TTNN_DEVICE", "t3k")
    for shape, expected in [((1, 8), [0, 1, 2, 3, 7, 6, 5, 4]), ((2, 4), list(range(8))), ((1, 4), [0, 1, 2, 3])]:
        with ttnn.create_mesh_device(ttnn.MeshShape(*shape)) as mesh:
            places = [ttnn.MeshCoordinate(row, column) for row in range(shape[0]) for column in range(shape[1])]
            assert [str(mesh.get_fabric_node_id(at)) for at in places] == [f"FabricNodeId(M0, D{n})" for n in expected]
            with pytest.raises(RuntimeError):
                mesh.get_fabric_node_id(ttnn.MeshCoordinate(9, 9))
    with ttnn.create_mesh_device(ttnn.MeshShape(1, 8)) as mesh:
        numbers = array.array("f", range(8 * 32 * 32))
        data = memoryview(numbers).cast("B").cast("f", [8, 32, 32])
        mapper = ttnn.ShardTensorToMesh(mesh, dim=0)
        tensor = ttnn.from_torch(data, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=mesh, mesh_mapper=mapper)
        found = tables.tensor_from_bf16_bytes(read(mesh, 4, tensor, 1, 0, 64), [1, 32]).to_list()[0]
        assert found == ttnn.get_device_tensors(tensor)[4].to_list()[0][1] and found[0] == 4128.0
