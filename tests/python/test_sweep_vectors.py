"""Vectors and results of sweeps against what upstream's code of November 2025 wrote (tests/data/sweep).

Our modules have what was traced. Upstream's loader lost or changed some of it, so that 233 of its 982 vectors are not ours: DAMAGE
counts them by what was done to them, with the functions of test_configs_loader.py.
"""

import collections
import contextlib
import gzip
import io
import json
import pathlib
import re

import pytest
import test_configs_loader as loader_test
import ttnn
from ttnn import _ttnn, configs, sweeps, sweeps_cli

DATA = pathlib.Path(__file__).resolve().parent.parent / "data" / "sweep"
VECTORS = json.loads(gzip.decompress((DATA / "vectors_v1.json.gz").read_bytes()))
RESULTS = json.loads(gzip.decompress((DATA / "results_v1_demo.json.gz").read_bytes()))
DEMO = "model_traced.zz_demo"

# Of upstream's vectors that are not ours: what its loader did to them, and how many they are.
DAMAGE = {
    "a sharded memory config without a shard becomes DRAM, interleaved": 8,
    "all_gather_async: the output's memory config is no object": 22,
    "an ND shard becomes one of two dimensions": 1,
    "an ND shard becomes one of two dimensions; reshape: a -1 that is left": 1,
    "conv2d: of padding that differs between the sides one is lost": 5,
    "embedding and paged attention: ROW_MAJOR becomes TILE": 31,
    "linear: always bfloat16, TILE and DRAM, interleaved": 72,
    "more than 56 cores become DRAM, interleaved": 9,
    "pad: rows that get the parameters of another, or are lost": 66,
    "shards are rounded up to multiples of 32": 18,
}


def same(vector):
    return json.dumps({key: value for key, value in vector.items() if key not in ("timestamp", "tag")})


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """With the master that upstream's vectors were made of, which has fewer rows than a workspace's."""
    from test_seeds_configs import make_workspace

    made = make_workspace(tmp_path_factory.mktemp("vectors") / "ws")
    (made / configs.PLACES[0]).write_bytes(gzip.decompress(loader_test.MASTER.read_bytes()))
    return made


@pytest.fixture(scope="module")
def generated(workspace):
    """The vector files of all modules of traced operations."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        names = ",".join(name for name in VECTORS if name != DEMO)
        assert sweeps_cli.generate(workspace, ["--module-name", names, "--tag", "x"]) == 0
    assert "SWEEPS - 1048 vectors of 39 modules" in said.getvalue()
    return {path.stem: json.loads(path.read_text()) for path in sweeps.Folder(workspace).vectors.glob("*.json")}


# ---- vectors


def test_every_module_of_upstream_is_there(generated):
    assert set(VECTORS) - {DEMO} == set(generated)
    for name, suites in VECTORS.items():
        for suite in set(suites) - {"model_traced"}:
            if name != DEMO:
                assert [same(v) for v in generated[name][suite].values()] == [same(v) for v in suites[suite].values()], name


def test_equal_vectors(generated):
    """Where the original did no damage they are the same to the byte, in the same order."""
    equal = total = 0
    for name, suites in VECTORS.items():
        for suite, recorded in suites.items() if name != DEMO else ():
            ours = generated[name].get(suite, {})
            both = [hash for hash in recorded if hash in ours]
            assert [hash for hash in ours if hash in recorded] == both
            assert all(same(recorded[hash]) == same(ours[hash]) for hash in both)
            equal, total = equal + len(both), total + len(recorded)
    assert (equal, total) == (749, 982)


def encoded(value):
    """A value of the loader's recording, as a vector file has it."""
    if isinstance(value, dict) and "MemoryConfig" in value:
        data = {key: sweeps._name(key, item) for key, item in value["MemoryConfig"].items()}
        return {"type": "ttnn._ttnn.tensor.MemoryConfig", "data": data}
    return str(value)


def recorded_rows(bare, suite):
    """The rows of the recorded loader that a module's vectors were made of: [(row, hash)]."""
    for case in (f"{bare}|all_cases=False", f"experimental::{bare}|all_cases=False", f"transformer::{bare}|all_cases=False"):
        result = loader_test.RECORDED.get(case, {}).get("result", loader_test.NOTHING)
        if result != loader_test.NOTHING:
            break
    ((names, rows),) = result.items()
    names = names.split(",")
    listed = []
    for row in rows:
        params = {name: encoded(tuple(value) if name == "embedding_args" else value) for name, value in zip(names, row)}
        listed.append({"params": params, "reason": None})
    text = json.dumps({"module": f"model_traced.{bare}_model_traced", "suite": suite, "vectors": listed})
    hashes = [entry["hash"] for entry in json.loads(_ttnn.sweep.vectors(text))]
    return names, list(zip(rows, hashes))


def damaged(bare, wanted):
    """Our rows with the original's damage: {row: what was done to it}."""
    ((names, rows),) = loader_test.ask(bare).items()
    names, found = names.split(","), {}
    if bare == "pad":
        seen = collections.Counter()
        return {json.dumps(row): ("pad: rows that get the parameters of another, or are lost",) for row in loader_test.damaged_rows(bare, names, rows, wanted, seen)}
    for row in rows:
        seen = collections.Counter()
        changed = loader_test.damaged_rows(bare, names, [list(row)], wanted, seen)
        if changed:
            found.setdefault(json.dumps(changed[0]), tuple(sorted(kind for kind, count in seen.items() if count)))
    return found


def test_other_vectors(generated):
    """Upstream's vectors that are not ours are ours with the damage of its loader; all of them are explained."""
    counted, unexplained = collections.Counter(), []
    for module, suites in VECTORS.items():
        bare = module.removeprefix("model_traced.").removesuffix("_model_traced")
        others = {hash for hash in suites.get("model_traced", {}) if hash not in generated.get(module, {}).get("model_traced", {})}
        if module == DEMO or not others:
            continue
        names, rows = recorded_rows(bare, "model_traced")
        ours = damaged(bare, names)
        assert {hash for _, hash in rows} == set(suites["model_traced"]), module
        for row, hash in {hash: (row, hash) for row, hash in reversed(rows)}.values():
            if hash not in others:
                continue
            seen = collections.Counter()
            read = [loader_test.known(value, seen) for value in row]
            kinds = ours.get(json.dumps(read))
            if kinds is None:
                unexplained.append((module, row))
            else:
                counted["; ".join(sorted(set(kinds) | set(seen)))] += 1
    assert not unexplained, unexplained[:3]
    assert dict(counted) == DAMAGE and sum(counted.values()) == 982 - 749


# ---- results

# The module whose results upstream recorded. It runs in a workspace, at its place.
MODULE = """
import time

import ttnn

TIMEOUT = 2
L1 = ttnn.MemoryConfig(
    ttnn.TensorMemoryLayout.HEIGHT_SHARDED,
    ttnn.BufferType.L1,
    ttnn.ShardSpec(ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 6))}), [224, 32], ttnn.ShardOrientation.ROW_MAJOR),
)
parameters = {
    "model_traced": {
        "input_shape,input_a_dtype,kind": [
            ([1, 1, 32, 32], ttnn.bfloat16, "ok"),
            ([1, 1, 32, 64], ttnn.bfloat8_b, "bad"),
            ([1, 1, 64, 64], ttnn.float32, "raise"),
            ([2, 2, 2], ttnn.int32, "oom"),
            ([3, 3], ttnn.uint32, "hang"),
            ([4, 4], ttnn.uint16, "inv"),
        ],
        "input_a_memory_config": [ttnn.DRAM_MEMORY_CONFIG, L1],
    },
    "xfail_suite": {
        "input_shape": [[1, 1, 32, 32]],
        "input_a_dtype": [ttnn.bfloat16],
        "kind": ["ok", "bad"],
        "input_a_memory_config": [None],
    },
}


def invalidate_vector(vector):
    return vector["kind"] == "inv", "kind inv is invalid" if vector["kind"] == "inv" else None


def mesh_device_fixture():
    yield None, "none"


def run(input_shape, input_a_dtype, kind, input_a_memory_config, *, device):
    if kind == "raise":
        raise RuntimeError("TT_FATAL @ foo.cpp:1: boom\\nsecond line")
    if kind == "oom":
        raise RuntimeError("Out of Memory: Not enough space to allocate 123 B L1 buffer")
    if kind == "hang":
        time.sleep(100)
    return [(kind != "bad", "0.5" if kind == "bad" else "0.9999875"), 1234567]
"""
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


@pytest.fixture(scope="module")
def demo(workspace):
    folder = sweeps.Folder(workspace)
    folder.path(DEMO).write_text(MODULE)
    assert sweeps_cli.generate(workspace, ["--module-name", DEMO]) == 0
    return folder


def test_demo_vectors(demo):
    """All of them, suites in their order, with the invalid ones."""
    found = json.loads(demo.file(DEMO).read_text())
    assert list(found) == list(VECTORS[DEMO])
    for suite, recorded in VECTORS[DEMO].items():
        assert [same(vector) for vector in found[suite].values()] == [same(vector) for vector in recorded.values()]
        assert all(list(vector)[-3:] == ["timestamp", "input_hash", "tag"] for vector in found[suite].values())


def masked(record):
    """Without times and what tells of the machine."""
    record = {key: value for key, value in record.items() if key not in ("git_sha", "git_author", "git_branch_name", "host", "initiated_by", "tests")}
    return json.dumps({key: "time" if isinstance(value, str) and STAMP.fullmatch(value) else value for key, value in record.items()})


@pytest.mark.parametrize(
    "run, suite, options",
    [
        pytest.param("023116", "model_traced", ["--perf"], marks=pytest.mark.slow),
        ("023225", "xfail_suite", []),
        ("023231", "model_traced", ["--skip-on-timeout"]),
    ],
)
def test_demo_results(demo, tmp_path, run, suite, options):
    """The runner's files, but for times and the machine."""
    asked = ["--module-name", DEMO, "--suite-name", suite, "--vector-source", "vectors_export", "--result-dest", "results_export"]
    assert sweeps_cli.run(demo.base, [*asked, "--result-dir", str(tmp_path), *options]) == 0
    (oprun,) = (json.loads(path.read_text()) for path in tmp_path.glob("oprun_*.json"))
    (records,) = (path for path in tmp_path.glob("*.json") if not path.name.startswith("oprun_"))
    ((name, recorded),) = ((name, file) for name, file in RESULTS.items() if name.endswith(f"{run}.json") and not name.startswith("oprun"))
    ((_, whole),) = ((name, file) for name, file in RESULTS.items() if name.endswith(f"{run}.json") and name.startswith("oprun"))
    assert re.sub(r"\d{8}_\d{6}", "", records.name) == re.sub(r"\d{8}_\d{6}", "", name)
    found = json.loads(records.read_text())
    assert [masked(record) for record in found] == [masked(record) for record in recorded]
    assert found == oprun["tests"] and list(oprun) == list(whole) and masked(oprun) == masked(whole)


# ---- faults

FAULTS = """
import os
import signal
import sys

TIMEOUT = 5
parameters = {"s": {"kind": ["good", "kill", "exit", "sys", "nan", "nothing", "true", "false", "long", "bytes", "import", "zero", "half", "notes", "last"]}}


def mesh_device_fixture():
    yield None, ""


def run(kind, *, device):
    print("printed by", kind)
    if kind == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "exit":
        os._exit(7)
    if kind == "sys":
        sys.exit("enough")
    if kind == "import":
        import there_is_no_such_module
    if kind == "notes":
        from ttnn import sweeps

        sweeps.tell(notes="n" * 20000, pcc=[1], other=[0] * 9000)
    return {"zero": (False, "a\\0b"), "half": (False, "a\\udcffb"), "nan": (False, float("nan")), "nothing": None, "true": True, "false": False, "long": (False, "x\\u00e4" * 9000), "bytes": [(True, b"\\xff")]}.get(kind, (True, "1.0"))
"""


def test_faults(workspace, tmp_path):
    """Whatever a module does is a result, and the vectors behind it run."""
    folder = sweeps.Folder(workspace)
    folder.path("own.faults").parent.mkdir(exist_ok=True)
    folder.path("own.faults").write_text(FAULTS)
    assert sweeps_cli.generate(workspace, ["--module-name", "own.faults"]) == 0
    asked = ["--module-name", "own.faults", "--vector-source", "vectors_export", "--result-dest", "results_export", "--result-dir", str(tmp_path)]
    assert sweeps_cli.run(workspace, asked) == 0
    assert sweeps_cli.run(workspace, [*asked, "--fail-on-test-failure"]) == 1
    first, _ = sorted((json.loads(path.read_text()) for path in tmp_path.glob("oprun_*.json")), key=lambda run: run["run_start_ts"])
    found = {record["op_params_set"][0]["param_value_text"]: (record["status"], record["error_message"]) for record in first["tests"]}
    assert {kind: status for kind, (status, _) in found.items()} == {
        **dict.fromkeys(("good", "nothing", "true", "bytes", "notes", "last"), "pass"),
        **dict.fromkeys(("sys", "nan", "false", "long", "import", "zero", "half"), "fail_assert_exception"),
        **dict.fromkeys(("kill", "exit"), "fail_crash_hang"),
    }
    assert found["kill"][1] == "TEST CRASHED: its process was ended by SIGKILL"
    assert found["exit"][1] == "TEST CRASHED: its process ended with code 7"
    assert found["sys"][1] == "enough" and found["nan"][1] == "nan" and "there_is_no_such_module" in found["import"][1]
    assert 4000 < len(found["long"][1].encode()) <= 8192
    assert found["zero"][1] == "a\\0b" and found["half"][1] == "a?b"


def test_a_device_that_cannot_be_opened(workspace):
    """Each vector is told why; none runs without its device."""
    folder = sweeps.Folder(workspace)
    folder.path("own.no_device").parent.mkdir(exist_ok=True)
    folder.path("own.no_device").write_text(
        "# TIMEOUT of caf\u00e9s\ndef mesh_device_fixture():\n    raise RuntimeError('no \\udcff card')\n    yield\n\n\ndef run(*, device):\n    return True, ''\n",
        "latin-1",
    )
    assert folder.timeout("own.no_device") == 30
    folder.path("own.no_device").write_text(folder.path("own.no_device").read_text("latin-1"), "utf-8")
    executor = sweeps.Executor(folder, "own.no_device")
    for _ in range(2):
        answer = executor.run({})
        assert not answer["passed"] and answer["message"] == "no ? card"
    executor.close()


def test_values():
    """What a file has is read as literals and members of enumerations, and never evaluated."""
    memory = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.INTERLEAVED, ttnn.BufferType.L1)
    values = [1, -2.5, True, None, "nearest", "sum", "StorageType::DEVICE", [1, [2]], (1, 2), {"a": (1,)}, ttnn.bfloat8_b, ttnn.ROW_MAJOR_LAYOUT, memory, 1e-05]
    for value in values:
        assert sweeps.decode(json.loads(json.dumps(sweeps.encode(value)))) == value
    for text in ("__import__('os').getcwd()", "os.system", "ttnn.open_device", "1 +", "", "[" * 5000, "DataType.NONE", "abs", "a.b.c"):
        assert sweeps.decode(text) == text
    assert sweeps.decode([1, 2]) == [1, 2] and sweeps.decode({"x": 1}) == {"x": 1}
    with pytest.raises(ValueError, match="no such type"):
        sweeps.decode({"type": "os.PathLike", "data": {}})


def test_options(workspace, capsys):
    asked = ["--vector-source", "vectors_export", "--result-dest", "results_export"]
    for options, said in (
        (["--vector-source", "elastic", "--result-dest", "elastic"], "Elasticsearch is not there"),
        (["--vector-source", "file", "--result-dest", "results_export"], "needs --file-path and --module-name"),
        ([*asked, "--file-path", "x"], "--file-path goes with"),
        ([*asked, "--vector-id", "x"], "--vector-id needs --module-name"),
        ([*asked, "--module-name", "a", "--skip-modules", "b"], "--skip-modules goes without"),
    ):
        assert sweeps_cli.run(workspace, options) == 2
        assert said in capsys.readouterr().out
    assert sweeps_cli.run(workspace, [*asked, "--module-name", "no_such"]) == 1
    assert "There is no module no_such" in capsys.readouterr().out
    assert sweeps_cli.generate(workspace, ["--tag", "ci-main"]) == 1


def test_one_vector_and_a_dry_run(demo, tmp_path, capsys):
    asked = ["--module-name", DEMO, "--vector-source", "vectors_export", "--result-dest", "results_export", "--result-dir", str(tmp_path)]
    assert sweeps_cli.run(demo.base, [*asked, "--dry"]) == 0
    assert "14 vectors would run" in capsys.readouterr().out and not list(tmp_path.iterdir())
    wanted = "a4ab21ef9159931ed8ad7837899c70a4c64705a6a02b053276d74020"
    assert sweeps_cli.run(demo.base, [*asked, "--vector-id", wanted]) == 0
    assert f"{wanted} fail_assert_exception 0.5" in capsys.readouterr().out
    good = "bbbcfc8bbb10ff6488f591c5540ac433c8cbb5582f4ffdcc5d3ba966"
    assert sweeps_cli.run(demo.base, [*asked, "--vector-id", good, "--device-perf"]) == 0
    assert f"{good} fail_unsupported_device_perf 0.9999875" in capsys.readouterr().out
    assert sweeps_cli.run(demo.base, [*asked, "--vector-id", good, "--perf-with-cache"]) == 0
    last = max(tmp_path.glob("oprun_*.json"), key=lambda path: path.stat().st_mtime_ns)
    (record,) = json.loads(last.read_text())["tests"]
    assert [metric["metric_name"] for metric in record["metrics"]] == ["e2e_perf_cached_ms", "e2e_perf_uncached_ms"]
    invalid = "4118f3"
    (hash,) = (hash for hash in VECTORS[DEMO]["model_traced"] if hash.startswith(invalid))
    assert sweeps_cli.run(demo.base, [*asked, "--vector-id", hash, "--keep-invalid"]) == 0
    last = max(tmp_path.glob("oprun_*.json"), key=lambda path: path.stat().st_mtime_ns)
    (record,) = json.loads(last.read_text())["tests"]
    assert (record["status"], record["error_message"]) == ("skipped", "INVALID VECTOR: kind inv is invalid")
