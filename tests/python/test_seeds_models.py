"""The model tests that TT-NN's documents start from: as their command lines are printed, and the networks behind them.

Small networks are computed whole, large ones run whole without dispatch; with torch all are compared with it.
"""

import dataclasses
import json
import os
import pathlib
import re
import struct
import subprocess
import sys

import pytest

import model_configurations
import model_operations
import ttnn
from ttnn import program
from ttnn_models import decoder, distilbert, efficientnet, machine, mnist, reference, resnet50, rows, sentence_bert, source, text_demo, vision, vision_demo, weights

COMPAT = pathlib.Path(__file__).resolve().parents[2] / "python" / "compat"
TEXT = "models/tt_transformers/demo/simple_text_demo.py::test_demo_text"
WEIGHTS = {  # published numbers of the text models, in 1e9
    "meta-llama/Llama-3.2-1B-Instruct": 1.24,
    "meta-llama/Llama-3.2-11B-Vision-Instruct": 8.03,
    "Qwen/Qwen2.5-Coder-7B-Instruct": 7.62,
    "deepseek-ai/deepseek-llm-7b-chat": 6.91,
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B": 32.76,
    "Qwen/Qwen2.5-Coder-32B": 32.76,
    "google/gemma-3-27b-it": 27.01,
}
PLAIN = rows.Row(layers=2, width=256, heads=8, kv_heads=2, inner=512, vocabulary=2048, rope=rows.Rope(10000.0), half_precise=True)
ALL = dataclasses.replace(
    PLAIN, bias=True, head_norms=True, outer_norms=True, unit_offset=True, window=64, window_every=2, layers=2,
    local_rope=rows.Rope(500.0), rope=rows.Rope(50000.0, "llama3", 8.0, original=64), activation="gelu", scaled_embedding=True,
)


@pytest.fixture
def workspace(tmp_path):
    """The folder that command lines are run in."""
    subprocess.run([program.path(), "workspace", tmp_path / "ws"], check=True, capture_output=True)
    return tmp_path / "ws"


def shell(line, folder):
    """Runs a line as it is printed, with this Python as `python` and `pytest`."""
    programs = folder.parent / "bin"
    programs.mkdir(exist_ok=True)
    for name, words in (("pytest", "-m pytest -p no:cacheprovider"), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} {words} "$@"\n')
        (programs / name).chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name not in ("HF_MODEL", "TTNN_DEVICE")}
    package = str(pathlib.Path(ttnn.__file__).resolve().parents[1])
    environment |= {"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": package, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8"}
    ran = subprocess.run(line, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def new_operations(folder):
    """Operations of which a workspace's master has configurations that it did not come with."""
    subprocess.run([program.path(), "workspace", folder.parent / "fresh"], check=True, capture_output=True)
    found = [json.loads((place / "traced_operations/ttnn_operations_master.json").read_text())["operations"] for place in (folder.parent / "fresh", folder)]
    return {name for name, op in found[1].items() if len(op["configurations"]) > len(found[0].get(name, {"configurations": ()})["configurations"])}


# ---- command lines -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_small_command_lines(workspace):
    lines = (
        'pytest -svv "tests/models/mnist/test_mnist.py::test_mnist_train[single_device-full-eval]"',
        "pytest tests/torch/test_basic.py",
        "pytest models/experimental/efficientnetb0/tests/pcc/test_ttnn_efficientnetb0.py::test_efficientnetb0_model",
    )
    for line in lines:
        assert "1 passed" in shell(line, workspace)
    assert "6 passed, 6 skipped" in shell("pytest tests/models/mnist/test_mnist.py", workspace)  # op_by_op_*: a process for each operation


@pytest.mark.slow
def test_demos_in_one_run(workspace):
    demos = " ".join(f"models/demos/wormhole/{name}/demo/demo.py::test_demo" for name in ("resnet50", "distilbert"))
    assert "2 passed" in shell(f"pytest {demos} --layers 1", workspace)


@pytest.mark.slow
def test_the_largest_row_within_its_limits(workspace):
    """A minute and 2 GB, whole without dispatch."""
    told = shell(f"HF_MODEL=google/gemma-3-27b-it pytest -s {TEXT} --layers 0 -k performance-batch-32", workspace)
    found = re.search(r"batch-32 without dispatch: (\d+) operations, \d+ of each layer, ([\d.]+) s; .* (\d+) MB at most", told)
    assert int(found[1]) > 30000 and float(found[2]) < 60 and int(found[3]) < 2000


@pytest.mark.slow
def test_text_demo_command_line(workspace):
    """One of many users, one of a long prompt; one layer is computed."""
    line = f"HF_MODEL=meta-llama/Llama-3.2-1B-Instruct pytest -s {TEXT} --layers 1 -k 'performance and (batch or 64k)'"
    told = shell(line, workspace)
    assert "3 passed" in told
    assert "16 layers, 1.24e9 weights; 1 computed, as --layers asks, then all without dispatch" in told


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in WEIGHTS if name != "google/gemma-3-27b-it"])
def test_traced_text_demos(name, workspace):
    """The lines of the guide's tables; nothing is computed. What the master has of a T3000 is what is traced again."""
    line = f"HF_MODEL={name} python model_tracer/generic_ops_tracer.py {TEXT}"
    told = shell(f"{line} --layers 0 -k 'performance and batch'", workspace)
    assert "Test Result: ✅ PASSED" in told
    added = new_operations(workspace)
    assert added <= {"ttnn::empty"} if rows.ROWS[name].machine == "t3k" else "ttnn::linear" in told


@pytest.mark.slow
def test_traced_vision_demo(workspace):
    """Without a test behind it: a script."""
    line = "HF_MODEL=google/gemma-3-27b-it python model_tracer/generic_ops_tracer.py models/demos/gemma3/demo/vision_demo.py"
    assert "Test Result: ✅ PASSED" in shell(f"{line} --layers 0", workspace)
    assert new_operations(workspace) <= {"ttnn::empty"}


def test_traced_efficientnet(workspace):
    """The tracer sees as many configurations of the accurate sigmoid as it saw of the real model."""
    line = "python model_tracer/generic_ops_tracer.py models/experimental/efficientnetb0/tests/pcc/test_ttnn_efficientnetb0.py::test_efficientnetb0_model"
    told = shell(line, workspace)
    assert "Test Result: ✅ PASSED" in told and "ttnn::sigmoid_accurate: 30 unique configs" in told


@pytest.mark.slow
def test_vision_demo_is_a_script(workspace):
    line = "HF_MODEL=google/gemma-3-27b-it python models/demos/gemma3/demo/vision_demo.py --layers 0"
    assert "of each of 27 vision layers" in shell(line, workspace)
    assert "1 passed" in shell("pytest models/demos/gemma3/demo/vision_demo.py --layers 0", workspace)
    told = shell("HF_MODEL=meta-llama/Llama-3.2-11B-Vision-Instruct pytest -s models/tt_transformers/demo/simple_vision_demo.py --layers 0", workspace)
    assert "1 passed" in told and "of each of 8 layers that see the picture" in told


def test_the_add_is_where_profiles_say():
    """A profile of the smallest test names its line."""
    lines = (COMPAT / "tests/torch/test_basic.py").read_text().splitlines()
    assert lines[59].strip() == "result = ttnn.add(a, b)"


# ---- rows ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WEIGHTS)
def test_a_row_runs_whole_without_dispatch(name, monkeypatch):
    """On the machine of the row; operations of the layers and of the ends make the whole (run() checks it)."""
    monkeypatch.delenv("TTNN_DEVICE", raising=False)
    row = rows.ROWS[name]
    assert row.weights() / 1e9 == pytest.approx(WEIGHTS[name], abs=0.01)
    result = text_demo.run("batch-32", name=name, layers=0, say=lambda text: None)
    assert result.operations > row.layers * 300 and result.dry_seconds < 60


def test_a_machine_may_be_named(monkeypatch):
    monkeypatch.setenv("TTNN_DEVICE", "t3k")
    with machine.opened("n300", divides=4) as device:
        assert device.get_num_devices() == 4


def test_unknown_models_are_refused():
    with pytest.raises(ValueError, match="HF_MODEL is 'nobody/nothing'; it can be a folder with config.json or one of"):
        rows.find("nobody/nothing")


def test_models_without_pictures_are_refused(monkeypatch):
    monkeypatch.setenv("HF_MODEL", "Qwen/Qwen2.5-Coder-32B")
    with pytest.raises(ValueError, match="Qwen2.5-Coder-32B takes no pictures"):
        vision_demo.run()


def test_rotary_scaling():
    """Slow turns are stretched, fast ones stay."""
    plain, stretched = (source.frequencies(rope, 64) for rope in (rows.Rope(500000.0), rows.Rope(500000.0, "llama3", 32.0)))
    assert stretched[0] == plain[0] and stretched[-1] == plain[-1] / 32
    assert all(a >= b > a / 33 for a, b in zip(plain, stretched))
    assert source.frequencies(rows.Rope(10000.0, "linear", 8.0), 8)[0] == 1 / 8


# ---- decoders, computed --------------------------------------------------------------------------------


@pytest.mark.parametrize("row", [PLAIN, ALL], ids=["plain", "all"])
@pytest.mark.parametrize("chips", ["n150", "n300"])
def test_layers(row, chips, monkeypatch):
    """A prompt and the token behind it; windows of 64 in a prompt of 128."""
    monkeypatch.setenv("TTNN_DEVICE", chips)
    types = decoder.precision(row, "accuracy")
    with machine.opened(chips) as device:
        for number in row.kinds():
            found = text_demo.compute_layer(row, device, number, types)
            assert min(found.values()) > 0.995, found


def test_what_a_prompt_sees():
    """Rows of a mask, as texts: # is seen. A picture is at 2 to 4."""
    shown = lambda *given: ["".join("#" if value == 0 else "." for value in source.causal(6, *given)[6 * i : 6 * i + 6]) for i in range(6)]
    assert shown() == ["#.....", "##....", "###...", "####..", "#####.", "######"]
    assert shown(2) == ["#.....", "##....", ".##...", "..##..", "...##.", "....##"]
    assert shown(2, (2, 5)) == ["#.....", "##....", ".####.", "..###.", "..###.", "....##"]


@pytest.mark.parametrize("number", ALL.kinds())
def test_pictures_are_seen_both_ways(number, monkeypatch):
    """In layers with windows and without; what a layer does that only looks back is something else."""
    monkeypatch.setenv("TTNN_DEVICE", "n300")
    types, picture = decoder.precision(ALL, "accuracy"), (32, 96)
    with machine.opened("n300") as device:
        found = text_demo.compute_layer(ALL, device, number, types, picture=picture)
        assert min(found.values()) > 0.999, found
        monkeypatch.setattr(text_demo, "Reference", lambda row, source, picture: reference.Reference(row, source))
        blind = text_demo.compute_layer(ALL, device, number, types, picture=picture)
    assert blind[f"layer {number}, a picture, prompt"] < 0.996


@pytest.mark.parametrize("chips", ["n150", "n300"])
def test_a_layer_that_sees_a_picture(chips, monkeypatch):
    """Two tiles with rows that do not count behind those that do; words before the picture see nothing."""
    monkeypatch.setenv("TTNN_DEVICE", chips)
    with machine.opened(chips) as device:
        found = vision_demo.compute_cross(PLAIN, device, decoder.precision(PLAIN, "accuracy"))
    assert min(found.values()) > 0.9995, found


@pytest.mark.parametrize("row", [PLAIN, ALL], ids=["plain", "all"])
def test_whole_decoder(row, torch, monkeypatch):
    """Embedding, layers, head and caches; the same tokens every time."""
    monkeypatch.setenv("TTNN_DEVICE", "n300")
    types = decoder.precision(row, "accuracy")
    with machine.opened("n300") as device:
        runs = [text_demo.compute_whole(row, device, types) for _ in range(2)]
    assert runs[0] == runs[1]
    assert min(runs[0][0].values()) > 0.99, runs[0]


def safetensors(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        raw = tensor.contiguous().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def in_halves(row, tensors, tokens, torch):
    """A Llama in Hugging Face's order: rotary embeddings turn halves."""
    f = torch.nn.functional
    x = tensors["model.embed_tokens.weight"][tokens]
    angles = torch.outer(torch.arange(len(tokens)).float(), torch.tensor(source.frequencies(row.rope, row.head)))
    cos, sin = (torch.cat([t, t], -1) for t in (angles.cos(), angles.sin()))
    turn = lambda t: t * cos + torch.cat([-t[..., row.head // 2 :], t[..., : row.head // 2]], -1) * sin
    norm = lambda t, name: t * (t.pow(2).mean(-1, keepdim=True) + row.epsilon).rsqrt() * tensors[name]
    for i in range(row.layers):
        get = lambda part: tensors[f"model.layers.{i}.{part}.weight"]
        n = norm(x, f"model.layers.{i}.input_layernorm.weight")
        q, k, v = ((n @ get(f"self_attn.{p}_proj").T).reshape(len(tokens), -1, row.head).transpose(0, 1) for p in "qkv")
        k, v = (t.repeat_interleave(row.heads // row.kv_heads, 0) for t in (turn(k), v))
        merged = f.scaled_dot_product_attention(turn(q), k, v, is_causal=True).transpose(0, 1).reshape(len(tokens), -1)
        x = x + merged @ get("self_attn.o_proj").T
        n = norm(x, f"model.layers.{i}.post_attention_layernorm.weight")
        x = x + (f.silu(n @ get("mlp.gate_proj").T) * (n @ get("mlp.up_proj").T)) @ get("mlp.down_proj").T
    return norm(x, "model.norm.weight") @ tensors["lm_head.weight"].T


def test_checkpoint_folder(tmp_path, torch, monkeypatch):
    row, numbers = PLAIN, torch.Generator().manual_seed(1)
    make = lambda out, inputs: torch.randn(out, inputs, generator=numbers) * inputs**-0.5
    tensors = {"model.embed_tokens.weight": make(row.vocabulary, row.width), "lm_head.weight": make(row.vocabulary, row.width)}
    tensors["model.norm.weight"] = torch.ones(row.width)
    for i in range(row.layers):
        name = f"model.layers.{i}"
        kv, q = row.kv_heads * row.head, row.heads * row.head
        sizes = {"self_attn.q_proj": (q, row.width), "self_attn.k_proj": (kv, row.width), "self_attn.v_proj": (kv, row.width)}
        sizes |= {"self_attn.o_proj": (row.width, q), "mlp.down_proj": (row.width, row.inner)}
        sizes |= {"mlp.gate_proj": (row.inner, row.width), "mlp.up_proj": (row.inner, row.width)}
        tensors |= {f"{name}.{part}.weight": make(*size) for part, size in sizes.items()}
        tensors |= {f"{name}.{part}.weight": torch.ones(row.width) for part in ("input_layernorm", "post_attention_layernorm")}
    safetensors(tmp_path / "model.safetensors", tensors)
    config = dict(num_hidden_layers=row.layers, hidden_size=row.width, num_attention_heads=row.heads, num_key_value_heads=row.kv_heads)
    config |= dict(intermediate_size=row.inner, vocab_size=row.vocabulary, rms_norm_eps=row.epsilon, rope_theta=row.rope.theta, model_type="llama")
    (tmp_path / "config.json").write_text(json.dumps(config))
    name, found, folder = rows.find(str(tmp_path))
    assert found == row and folder == tmp_path
    monkeypatch.setenv("TTNN_DEVICE", "n300")
    with machine.opened("n300") as device:
        made = weights.Weights(device, folder=folder)
        tokens = list(range(7, 107))
        ours = reference.Reference(found, source.Source(found, made)).logits(tokens)
        theirs = in_halves(row, tensors, tokens, torch)
        assert reference.correlation(theirs, ours) > 0.99999
        correlations, _ = text_demo.compute_whole(found, device, decoder.precision(found, "accuracy"), folder)
    assert min(correlations.values()) > 0.99, correlations
    monkeypatch.setenv("HF_MODEL", str(tmp_path))
    told = []
    result = text_demo.run(layers=1, say=told.append)
    assert told[0].startswith(f"{tmp_path}: 2 layers") and min(result.correlations.values()) > 0.99


def test_users_do_not_disturb_each_other(torch, monkeypatch):
    """Four users in one step get what each gets alone."""
    monkeypatch.setenv("TTNN_DEVICE", "n300")
    row, types = PLAIN, decoder.precision(PLAIN, "accuracy")
    with machine.opened("n300") as device:
        made = weights.Weights(device)
        found = {}
        for users in ((0,), (1,), (2,), (3,), (0, 1, 2, 3)):
            network = decoder.Decoder(row, made, source.Source(row, made), types=types, users=len(users), most=256, blocks=20)
            pages = [list(range(5 * i, 5 * i + 5)) for i in range(len(users))]
            for user, own in zip(users, pages):
                tokens = [(7 * user + 3 * i) % row.vocabulary for i in range(128)]
                prompt = made.whole_numbers(tokens, (1, 1, 1, 128), ttnn.uint32)
                network.prefill(prompt, made.whole_numbers(own[:4], (1, 4)), 127)
            given = [11 * user + 5 for user in users]
            step = network.step([128] * len(users), pages)
            words = made.whole_numbers(given + [0] * (32 - len(given)), (1, 1, 1, 32), ttnn.uint32)
            logits = ttnn.get_device_tensors(network.decode(words, step))
            whole = torch.cat([ttnn.to_torch(part).float() for part in logits], -1)[0, 0]
            for place, user in enumerate(users):
                found.setdefault(user, []).append(whole[place])
    for alone, together in found.values():
        assert reference.correlation(alone, together) > 0.9999
    assert reference.correlation(found[0][0], found[1][0]) < 0.9


@pytest.mark.parametrize("mode", ["NORMAL", "NO_DISPATCH"])
def test_inside_of_a_capture(mode, monkeypatch):
    """The outermost capture decides: in one that computes nothing runs dry, in a dry one nothing is compared."""
    monkeypatch.delenv("TTNN_DEVICE", raising=False)
    told = []
    ttnn.graph.begin_graph_capture(getattr(ttnn.graph.RunMode, mode))
    try:
        result = text_demo.run(layers=0, say=told.append)
        with machine.opened("n150") as device:
            mnist.run_eval(device, told.append)
    finally:
        graph = ttnn.graph.end_graph_capture()
    assert (result.operations > 0) == (mode == "NO_DISPATCH")
    assert ("correlation" in " ".join(told)) == (mode == "NORMAL" and machine.has_torch())
    assert f"a capture in mode {mode} is active" in told[1] and len(graph) > 100


# ---- other networks ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_operations_in_processes():
    """Every operation of MNIST in a process of its own."""
    told = []
    mnist.op_by_op("op_by_op_torch", told.append)
    assert [line.split(":")[0] for line in told] == [name for name, _ in mnist.KINDS["op_by_op_torch"]()]


def test_training_on_two_chips(monkeypatch):
    monkeypatch.setenv("TTNN_DEVICE", "n300")
    with machine.opened("n300") as device:
        mnist.run_train(device, say=lambda text: None)


@pytest.mark.slow
def test_network_counts(monkeypatch):
    """Blocks and layers of the published networks, and what they call."""
    monkeypatch.setenv("TTNN_DEVICE", "n300")
    assert [shape.outputs for shape in efficientnet.shapes()] == [16, 24, 24, 40, 40, 80, 80, 80, 112, 112, 112, 192, 192, 192, 192, 320]
    with machine.chip("n300", l1_small_size=efficientnet.L1_SMALL) as device:
        called = efficientnet.dry(device).operations()
        assert called.count("ttnn::conv2d") == 16 * 5 - 1 + 2 and called.count("ttnn::sigmoid_accurate") == 15 + 16 * 3 + 1
    with machine.chip("n300", l1_small_size=resnet50.L1_SMALL) as device:
        called = resnet50.dry(device).operations()
        assert called.count("ttnn::conv2d") == 53 and called.count("ttnn::add_") == 16
    with machine.opened("n300") as device:
        assert distilbert.dry(device).operations().count("ttnn::linear") == 6 * 4 + 1


@pytest.mark.parametrize("name", ["google/gemma-3-27b-it", "meta-llama/Llama-3.2-11B-Vision-Instruct"])
def test_towers(name, monkeypatch):
    monkeypatch.delenv("TTNN_DEVICE", raising=False)
    row = rows.ROWS[name]
    with machine.opened(row.machine, l1_small_size=24576) as device:
        count = lambda layers: len(vision.dry(row.tower, device, row.width, layers).operations())
        assert count(2) - count(1) == count(1) - count(0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["google/gemma-3-27b-it", "meta-llama/Llama-3.2-11B-Vision-Instruct"])
def test_layers_of_towers(name, monkeypatch):
    monkeypatch.delenv("TTNN_DEVICE", raising=False)
    row = rows.ROWS[name]
    with machine.opened(row.machine, l1_small_size=24576) as device:
        found = vision.compute_layers(row.tower, device, rows=64)
    assert min(found.values()) > vision.BOUND, found


def test_what_was_computed_does_not_disturb_a_dry_run(monkeypatch):
    """Tensors of a decoder that nobody holds any more lie in L1, where pools of a dry run would refuse them."""
    monkeypatch.setenv("TTNN_DEVICE", "n150")
    tower = dataclasses.replace(rows.ROWS["google/gemma-3-27b-it"].tower, layers=1)
    with machine.opened("n150", l1_small_size=24576) as device:
        text_demo.compute_layer(PLAIN, device, 0, decoder.precision(PLAIN, "accuracy"))
        assert "ttnn::avg_pool2d" in vision.dry(tower, device, 256).operations()


# ---- beside real models --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model, least", [("efficientnetb0", 220), ("meta-llama/Llama-3.2-1B-Instruct", 316), ("meta-llama/Llama-3.2-11B-Vision-Instruct", 66)]
)
def test_configurations_of_real_models(model, least, monkeypatch):
    """Four of five operations and half of the configurations at least; the numbers are in docs/models.md."""
    monkeypatch.delenv("TTNN_DEVICE", raising=False)
    types, of_types, common, of_all = model_configurations.totals(model_configurations.compare(model)[0])
    assert types >= 0.8 * of_types and common >= 0.5 * of_all
    assert common >= least


def test_operations_of_recorded_models(monkeypatch):
    """Upstream's own networks, recorded: what is called there and not here, and the other way round (docs/models.md)."""
    monkeypatch.delenv("TTNN_DEVICE", raising=False)
    turned, kept = "experimental.rotary_embedding_llama", "experimental.paged_update_cache"
    fused = ["to_memory_config", "to_memory_config", f"{turned}_fused_qk", "experimental.paged_fused_update_cache", "linear", "to_memory_config"]
    step = fused, [turned, turned, kept, kept, "matmul"]
    expected = {
        "a layer of a prompt": (["deallocate", "to_memory_config"], ["deallocate", "Tensor.deallocate"]),
        "a layer of a step": step,
        "a layer of a step, of 16": step,
    }
    assert {what: model_operations.differences(*pair) for what, pair in model_operations.decoder_layers().items()} == expected
    theirs, ours = model_operations.sentence_bert_layer()
    assert len(theirs) == 19 and ours == theirs
    more = {"deallocate": 1, "to_memory_config": 1, "reshape": 17, "avg_pool2d": 17, "sigmoid": 64}, {"sigmoid_accurate": 64, "global_avg_pool2d": 17}
    assert model_operations.counted(*model_operations.efficientnet()) == more
    theirs, ours = model_operations.mnist_network()
    assert ours == theirs
