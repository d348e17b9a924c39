"""The loader of traced configurations against what the original made of the same file (tests/data/master/loader_v1.json.gz).

Ours keeps what was traced. The original loses or changes some of it; `original()` does the same to our results, and then
they are equal, all 160 of them. DAMAGE counts how often each kind of it was needed, in cells of the results.
"""

import collections
import contextlib
import gzip
import io
import json
import pathlib
import subprocess

import ttnn
from ttnn import configs, program
from ttnn.configs import MasterConfigLoader

DATA = pathlib.Path(__file__).resolve().parent.parent / "data" / "master"
MASTER = DATA / "master_2025-11.json.gz"
RECORDED = json.loads(gzip.decompress((DATA / "loader_v1.json.gz").read_bytes()))
DRAM = {"MemoryConfig": {"buffer_type": 0, "created_with_nd_shard_spec": False, "memory_layout": 0}}
NOTHING = {
    "input_shape": [[1, 32, 32]],
    "input_a_dtype": [],
    "input_a_layout": [],
    "input_a_memory_config": [],
    "output_memory_config": [],
}

# What the original does to the values of the file: how many cells of its results that changes.
DAMAGE = {
    "a name without its namespace is not found: results": 16,
    "a sharded memory config without a shard becomes DRAM, interleaved": 32,
    "all_cases: memory configs of a second tensor are repeated": 16,
    "all_gather_async: the output's memory config is no object": 64,
    "an ND shard becomes one of two dimensions": 8,
    "conv2d: of padding that differs between the sides one is lost": 40,
    "embedding and paged attention: ROW_MAJOR becomes TILE": 348,
    "linear: always bfloat16, TILE and DRAM, interleaved": 768,
    "linear: configurations with a sharded input are lost": 156,
    "more than 56 cores become DRAM, interleaved": 80,
    "pad: rows that get the parameters of another, or are lost": 138,
    "parameters of its own for the bare name alone": 354,
    "reshape: a -1 that is left": 1,
    "rows with equal inputs are one, whatever the rest": 10,
    "shards are rounded up to multiples of 32": 112,
}


def plain(value):
    """As the recording has values."""
    if isinstance(value, ttnn.MemoryConfig):
        found = json.loads(value.to_json())
        del found["per_core_allocation"]  # newer than the recording
        return {"MemoryConfig": found}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def cores(spec):
    sides = ((r["end"][a] - r["start"][a] + 1 for a in "xy") for r in spec["grid"])
    return sum(x * y for x, y in sides)


def memory(value, seen):
    """More than 56 cores, or no shard: DRAM, interleaved; shards rounded up to tiles."""
    config = value["MemoryConfig"]
    if config["memory_layout"] == 0:
        return value
    if "nd_shard_spec" in config:
        seen["an ND shard becomes one of two dimensions"] += 1
        spec = config["nd_shard_spec"]
        spec = {"grid": spec["grid"], "orientation": spec["orientation"], "shape": spec["shard_shape"]}
        config = {**value["MemoryConfig"], "created_with_nd_shard_spec": False, "shard_spec": spec}
        del config["nd_shard_spec"]
        value = {"MemoryConfig": config}
    spec = config.get("shard_spec")
    if spec is None:
        seen["a sharded memory config without a shard becomes DRAM, interleaved"] += 1
        return DRAM
    if cores(spec) > 56:
        seen["more than 56 cores become DRAM, interleaved"] += 1
        return DRAM
    rounded = [-(-side // 32) * 32 for side in spec["shape"]]
    if rounded == spec["shape"]:
        return value
    seen["shards are rounded up to multiples of 32"] += 1
    return {"MemoryConfig": {**config, "shard_spec": {**spec, "shape": rounded}}}


def cell(name, value, seen):
    if isinstance(value, dict) and "MemoryConfig" in value:
        return memory(value, seen)
    if value == "DataType.BFLOAT4_B":
        seen["BFLOAT4_B becomes BFLOAT16"] += 1
        return "DataType.BFLOAT16"
    return value


def distinct(rows, key=lambda row: row):
    found = {}
    for row in rows:
        found.setdefault(json.dumps(key(row)), row)
    return list(found.values())


# ---- single operations


def linear(names, row, seen):
    fixed = {"dtype": "DataType.BFLOAT16", "layout": "Layout.TILE", "config": DRAM}
    for i, name in enumerate(names):
        wanted = fixed.get(name.rsplit("_", 1)[-1], row[i])
        seen["linear: always bfloat16, TILE and DRAM, interleaved"] += wanted != row[i]
        row[i] = wanted
    return row


def conv2d(names, row, seen):
    row[0] = list(row[0])
    for i, value in enumerate(row[0]):
        if isinstance(value, list):
            seen["conv2d: of padding that differs between the sides one is lost"] += 1
            row[0][i] = value[0]
    return row


def tiles(names, row, seen):
    for i, name in enumerate(names):
        if name.endswith("_layout") and row[i] != "Layout.TILE":
            seen["embedding and paged attention: ROW_MAJOR becomes TILE"] += 1
            row[i] = "Layout.TILE"
    return row


def reshape(names, row, seen):
    if "target_shape" in names and row[0] == [1, 1, 1, 1280] and row[-1] == [1, 1280]:
        seen["reshape: a -1 that is left"] += 1
        row[-1] = [1, -1]
    return row


ROWS = {
    "linear": linear,
    "conv2d": conv2d,
    "embedding": tiles,
    "paged_scaled_dot_product_attention_decode": tiles,
    "reshape": reshape,
}
# Columns that the original has only when the operation is asked for by its bare name.
BARE_ONLY = {
    "transpose": {"dim0", "dim1"},
    "reshape": {"target_shape"},
    "untilize_with_unpadding": {"end_shape"},
    "tilize_with_val_padding": {"padded_shape", "pad_value"},
}


def pad(rows, seen):
    """The inputs and the parameters are listed apart, the latter without the one call of another form, and paired anew."""
    inputs = distinct(rows, lambda row: row[:6])
    paired = [given[:6] + other[6:] for given, other in zip(inputs, inputs[1:])]
    seen["pad: rows that get the parameters of another, or are lost"] += len(rows)
    return paired


# ---- results


def damaged_rows(bare, names, rows, wanted, seen):
    if bare == "linear":
        sharded = [row for row in rows if row[names.index("input_a_memory_config")]["MemoryConfig"]["memory_layout"]]
        seen["linear: configurations with a sharded input are lost"] += len(sharded)
        rows = [row for row in rows if row not in sharded]
    change = ROWS.get(bare)
    rows = [change(names, list(row), seen) if change else list(row) for row in rows]
    kept = "output_memory_config" if bare == "all_gather_async" else None
    rows = [[value if name == kept else cell(name, value, seen) for name, value in zip(names, row)] for row in rows]
    if bare == "pad":
        return pad(rows, seen)
    if names != wanted:
        assert set(names) - set(wanted) == BARE_ONLY[bare]
        seen["parameters of its own for the bare name alone"] += len(rows) * (len(names) - len(wanted))
        rows = [[value for name, value in zip(names, row) if name in wanted] for row in rows]
    if "storage_type" not in wanted:
        return rows
    inputs = ("input_shape", "input_a_dtype", "input_a_layout", "input_a_memory_config", "target_shape")
    once = distinct(rows, lambda row: [value for name, value in zip(wanted, row) if name in inputs])
    seen["rows with equal inputs are one, whatever the rest"] += len(rows) - len(once)
    return once


def damaged_columns(bare, found, wanted, seen):
    result = {}
    for name, values in found.items():
        kept = bare == "all_gather_async" and name == "output_memory_config"
        changed = values if kept else [cell(name, value, seen) for value in values]
        result[name] = sorted(distinct(changed), key=json.dumps)
    return result


def known(value, seen):
    """Of the recording: what the original left as it stands in the file is read now."""
    if isinstance(value, dict) and isinstance(value.get("memory_layout"), str):
        seen["all_gather_async: the output's memory config is no object"] += 1
        return plain(MasterConfigLoader().parse_memory_config(value))
    return value


def compare(name, found, recorded, seen):
    bare = name.rsplit("::", 1)[-1]
    if name == "ttnn::sharded_to_interleaved":
        # For this spelling the original gives the output the input's sharded memory.
        if len(recorded) > 1:
            found = {**found, "output_memory_config": found["input_a_memory_config"]}
        else:
            ((names, rows),) = found.items()
            found = {names: [row[:4] + [row[3]] + row[5:] for row in rows]}
        seen["parameters of its own for the bare name alone"] += sum(map(len, found.values()))
    if recorded == NOTHING:
        seen["a name without its namespace is not found: results"] += found != NOTHING
        return found != NOTHING
    if len(recorded) == 1:
        ((wanted, rows),) = recorded.items()
        ((names, ours),) = found.items()
        rows = [[known(value, seen) for value in row] for row in rows]
        if bare == "reshape" and "target_shape" not in wanted:
            # Without the target's shape none was left out, which ours cannot tell from this result.
            seen["parameters of its own for the bare name alone"] += len(rows)
            return len(rows) == 196
        return damaged_rows(bare, names.split(","), ours, wanted.split(","), seen) == rows
    want = {}
    for column, values in recorded.items():
        once = distinct([known(value, seen) for value in values])
        seen["all_cases: memory configs of a second tensor are repeated"] += len(values) - len(once)
        want[column] = sorted(once, key=json.dumps)
    return damaged_columns(bare, found, want, seen) == want


LOADER = MasterConfigLoader(MASTER)


def ask(name, all_cases=False):
    with contextlib.redirect_stdout(io.StringIO()):
        return plain(LOADER.get_suite_parameters(name, all_cases=all_cases))


def test_all_recorded_results():
    seen, wrong, same = collections.Counter(), [], 0
    for case, recorded in RECORDED.items():
        name, all_cases = case.split("|all_cases=")
        found = ask(name, all_cases == "True")
        same += found == recorded["result"]
        if not compare(name, found, recorded["result"], seen):
            wrong.append(case)
    assert not wrong
    assert {kind: count for kind, count in seen.items() if count} == DAMAGE
    assert len(RECORDED) == 160 and same == 75


def test_every_configuration_is_kept():
    """Rows that are there twice are those whose arguments differ in what is no parameter; none is left out but reshapes
    whose target has another number of elements."""
    rows = {}
    for name in LOADER._open().names():
        ((_, found),) = ask(name).items()
        rows[name.rsplit("::", 1)[-1]] = (LOADER._open().count(name), len(found))
    fewer = {name: counts for name, counts in rows.items() if counts[0] != counts[1]}
    assert sum(before for before, _ in rows.values()) == 1079 and len(rows) == 35
    assert fewer == {"reshape": (235, 188), "slice": (39, 28)}


def test_names():
    for name in ("add", "ttnn.add", "ttnn::add"):
        assert len(LOADER.get_operation_configs(name)) == 47
    for name in ("plus_one", "ttnn.plus_one"):
        assert len(LOADER.get_operation_configs(name)) == 3
    for prefix in ("", "experimental::", "ttnn::experimental::", "experimental.", "ttnn.experimental."):
        assert len(LOADER.get_operation_configs(prefix + "paged_update_cache")) == 11
    for prefix in ("", "transformer::", "ttnn.transformer."):
        assert len(LOADER.get_operation_configs(prefix + "scaled_dot_product_attention")) == 19


def test_extractors():
    """A user's row adds a parameter, by a field of the table or by a function of the arguments."""

    class Own(MasterConfigLoader):
        extractors = {"slice": {"begins": "ints@1", "ends": "ints@2"}, "topk": lambda arguments: {"k": int(arguments[1]["arg1"])}}

    ((names, rows),) = Own(MASTER).get_suite_parameters("ttnn::slice").items()
    assert names.endswith("storage_type,begins,ends") and len(rows) == 39
    assert rows[0][-2:] == ([0, 0, 0, 0], [1, 1, 1024, 64])
    ((names, rows),) = Own(MASTER).get_suite_parameters("topk").items()
    assert names.endswith(",k") and [row[-1] for row in rows] == [32, 32]


def test_a_bad_extractor_is_told(capsys):
    class Own(MasterConfigLoader):
        extractors = {"slice": {"begins": "numbers@1"}}

    assert Own(MASTER).get_suite_parameters("slice") == NOTHING
    assert 'does not tell columns' in capsys.readouterr().out


def test_names_of_configurations():
    """A name leads to its tensors, five values or seven; others to nothing, or to values that always work."""
    ask("add")
    names = LOADER.get_traced_config_names("add")
    assert names[0] == "add_traced_0" and len(names) == 47 == len(LOADER.traced_configs_cache["add"])
    assert len(configs.unpack_binary_traced_config("add_traced_46")) == 7
    assert configs.unpack_traced_config("add_traced_46") == (None,) * 5
    assert configs.unpack_traced_config("sigmoid_accurate_traced_0")[0] == [1, 1, 12544, 32]
    assert configs.unpack_binary_traced_config("sigmoid_accurate_traced_0") == (None,) * 7
    assert configs.get_traced_config("rotary_embedding_llama_traced_0")["is_binary"]
    for name in ("add_traced_47", "add", "nothing_traced_0", "", "add_traced_x"):
        assert configs.unpack_binary_traced_config(name) == (None,) * 7
    default = configs.unpack_traced_config("nothing_traced_0", use_defaults=True)
    assert default == ([1, 32, 32], ttnn.bfloat16, ttnn.TILE_LAYOUT, ttnn.DRAM_MEMORY_CONFIG, ttnn.DRAM_MEMORY_CONFIG)
    assert configs.unpack_binary_traced_config("x", use_defaults=True)[0] == {"self": [1, 32, 32], "other": [1, 32, 32]}


def test_single_values():
    for text in ("DataType::BFLOAT4_B", "DataType.BFLOAT4_B", "bfloat4_b"):
        assert LOADER.parse_dtype(text) == ttnn.bfloat4_b
    assert LOADER.parse_dtype("DataType::UINT8") == ttnn.uint8
    assert LOADER.parse_layout("Layout::ROW_MAJOR") == ttnn.ROW_MAJOR_LAYOUT and LOADER.parse_layout("TILE") == ttnn.TILE_LAYOUT
    assert LOADER.parse_memory_config(None, None) == ttnn.DRAM_MEMORY_CONFIG
    assert LOADER.extract_tensor_config({"arg1": "nullopt"}) is None


def test_missing_and_broken_files(tmp_path, capsys):
    assert MasterConfigLoader(tmp_path / "none.json").get_suite_parameters("add") == NOTHING
    (tmp_path / "broken.json").write_text('{"operations": {"ttnn::add": [}')
    assert MasterConfigLoader(tmp_path / "broken.json").get_operation_configs("add") == []
    said = capsys.readouterr().out
    assert "none.json" in said and "broken.json:1:" in said


def test_layout_v2():
    """A row for each execution, by one extraction for all operations."""
    loader = MasterConfigLoader(DATA / "master_v2.json.gz")
    file = json.loads(gzip.decompress((DATA / "master_v2.json.gz").read_bytes()))["operations"]
    for name, operation in file.items():
        with contextlib.redirect_stdout(io.StringIO()):
            ((names, rows),) = loader.get_suite_parameters(name).items()
        assert len(rows) == sum(len(c["executions"]) for c in operation["configurations"]), name
        assert names.endswith("traced_source,traced_machine_info,config_hash")
    ((names, rows),) = loader.get_suite_parameters("permute").items()
    row = dict(zip(names.split(","), rows[0]))
    assert row["input_a_shape"] == [1, 16, 224, 224] and row["arg1"] == [0, 2, 3, 1]
    assert list(row["input_a_memory_config"].shard_spec.shape) == [224, 224]
    assert row["output_memory_config"] == row["input_a_memory_config"] and row["config_hash"].startswith("4d89fea6")


def test_all_layouts_give_the_same(tmp_path):
    """Exported as a store or in the guide's layout it is the same file to the loader, but for ND shards (in three rows), which the latter
    has no room for."""
    for name, different in (("store.sqlite", 0), ("seed.json", 3)):
        layout = ["--layout", "seed"] if name == "seed.json" else []
        subprocess.run([program.path(), "configs", "export", "-o", tmp_path / name, *layout, MASTER], check=True, capture_output=True)
        other, seen = MasterConfigLoader(tmp_path / name), collections.Counter()
        for operation in LOADER._open().names():
            with contextlib.redirect_stdout(io.StringIO()):
                ((_, rows),) = plain(other.get_suite_parameters(operation)).items()
            ((_, wanted),) = ask(operation).items()
            assert len(rows) == len(wanted)
            for row, want in zip(rows, wanted):
                seen["changed"] += row != want
                damage = collections.Counter()
                assert [cell("", v, damage) for v in row] == [cell("", v, damage) for v in want]
        assert seen["changed"] == different
