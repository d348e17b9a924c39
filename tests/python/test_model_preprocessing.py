"""ttnn.model_preprocessing: trees of a torch model's parameters."""

import subprocess
import sys

import pytest

import ttnn


@pytest.fixture
def prep(torch):
    import ttnn.model_preprocessing

    return ttnn.model_preprocessing


def model_of(torch):
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = torch.nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False)
            self.norm = torch.nn.BatchNorm2d(8)
            self.pool = torch.nn.MaxPool2d(2)

        def forward(self, x):
            return self.pool(self.norm(self.conv(x)))

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = torch.nn.Sequential(Block(), torch.nn.ReLU())
            self.layers = torch.nn.ModuleList([torch.nn.Linear(8, 16), torch.nn.Linear(16, 4, bias=False)])
            self.words = torch.nn.Embedding(10, 4)
            self.last = torch.nn.LayerNorm(4)
            self.scale = torch.nn.Parameter(torch.ones(4))

        def forward(self, x):
            x = self.stem(x).mean((2, 3))
            for layer in self.layers:
                x = layer(x)
            return self.last(x) * self.scale

    torch.manual_seed(1)
    return Model().eval()


def test_trees(prep, torch):
    model = model_of(torch)
    found = prep.preprocess_model_parameters(initialize_model=lambda: model)
    assert list(found) == ["scale", "stem", "layers", "words", "last"]
    assert isinstance(found.layers, prep.ParameterList) and 1 in found.layers and 2 not in found.layers
    assert found.layers[0].weight.shape == (8, 16) and found.layers[0].bias.shape == (1, 16)
    assert "bias" not in found.layers[1] and found.layers[0].weight.layout == ttnn.TILE_LAYOUT
    assert found.last.weight.shape == (1, 4) and found.words.weight.layout == ttnn.ROW_MAJOR_LAYOUT
    assert found.stem[0].conv.weight.shape == (8, 3, 3, 3) and 1 not in found.stem  # what has no parameters is no branch
    assert found.scale.dtype == ttnn.bfloat16
    want = model.layers[0].weight.T.to(torch.bfloat16).float()
    assert torch.equal(ttnn.to_torch(found.layers[0].weight).float(), want)
    with pytest.raises(KeyError):
        found.layers[0].nothing
    assert repr(found.layers[1]) == "{\n  weight: ttnn.Tensor(shape=Shape([16, 4]), layout=Layout.TILE, dtype=DataType.BFLOAT16)\n}"


def test_device_and_training_mode(prep, torch, device):
    with pytest.warns(UserWarning, match="eval mode"):
        found = prep.preprocess_model_parameters(initialize_model=lambda: model_of(torch).train(), device=device)
    assert ttnn.is_tensor_storage_on_device(found.stem[0].conv.weight)


def test_own_rules(prep, torch):
    model = model_of(torch)
    asked = []

    def custom(module, name, convert_to_ttnn):
        asked.append(name)
        if isinstance(module, torch.nn.LayerNorm):
            return {"both": prep.preprocess_layernorm_parameter(module.weight, dtype=ttnn.float32)}

    found = prep.preprocess_model_parameters(
        initialize_model=lambda: model,
        custom_preprocessor=custom,
        convert_to_ttnn=lambda module, name: not isinstance(module, torch.nn.Linear),
        prefix="top",
    )
    assert found.last.both.dtype == ttnn.float32 and list(found.last) == ["both"]
    assert isinstance(found.layers[0].weight, torch.Tensor) and found.layers[0].weight.shape == (8, 16)
    assert "top.stem.0.conv" in asked and "top.layers.1" in asked
    with pytest.raises(RuntimeError, match="wants other, which is none of ttnn_module_args, convert_to_ttnn"):
        prep.preprocess_model_parameters(initialize_model=lambda: model, custom_preprocessor=lambda module, name, other: None)


def test_arguments_of_modules(prep, torch):
    model = model_of(torch)
    args = prep.infer_ttnn_module_args(model=model, run_model=lambda model: model(torch.ones(2, 3, 16, 24)), device=None)
    conv, pool = args.stem[0].conv, args.stem["0"].pool
    assert isinstance(conv, prep.Conv2dArgs) and (conv.batch_size, conv.input_height, conv.input_width) == (2, 16, 24)
    assert conv.stride == (2, 2) and conv.math_fidelity == ttnn.MathFidelity.HiFi4 and conv.device is None
    assert isinstance(pool, prep.MaxPool2dArgs) and (pool.input_channels, pool.input_width) == (8, 12)
    assert args.layers[1] == {} and not model._forward_pre_hooks
    whole = prep.preprocess_model(initialize_model=lambda: model, run_model=lambda model: model(torch.ones(2, 3, 16, 24)))
    assert whole.stem[0].conv.ttnn_module_args.input_height == 16 and "device" not in whole.stem[0].conv.ttnn_module_args


def test_folding(prep, torch):
    block = model_of(torch).stem[0]
    block.norm.running_mean.uniform_(-1, 1)
    block.norm.running_var.uniform_(0.5, 2)
    weight, bias = prep.fold_batch_norm2d_into_conv2d(block.conv, block.norm)
    x = torch.randn(1, 3, 8, 8)
    folded = torch.nn.functional.conv2d(x, weight, bias, stride=2, padding=1)
    assert torch.allclose(folded, block.norm(block.conv(x)), atol=1e-5)


def test_the_cache(prep, torch, tmp_path):
    def load(version, make):
        with ttnn.manage_config("enable_model_cache", True), ttnn.manage_config("model_cache_path", tmp_path / "cache"):
            return prep.preprocess_model_parameters(model_name="a/model", version=version, initialize_model=make)

    made = load("1", lambda: model_of(torch))
    again = load("1", None)
    assert repr(made) == repr(again) and isinstance(again.layers, prep.ParameterList)
    assert torch.equal(ttnn.to_torch(made.layers[0].weight), ttnn.to_torch(again.layers[0].weight))
    with pytest.raises(RuntimeError, match="a/model: version 2 is not in the cache"):
        load("2", None)
    load("2", lambda: torch.nn.Sequential(torch.nn.Linear(4, 4)).eval())
    assert load("2", None)[0].weight.shape == (4, 4)
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["a_model"]


def test_without_torch():
    code = "import sys; sys.modules['torch'] = None\nimport ttnn\ntry:\n    import ttnn.model_preprocessing\nexcept ImportError as e:\n    print(e)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "torch" in ran.stdout and "not installed" in ran.stdout, ran.stderr


def test_the_cache_runs_nothing(prep, torch, tmp_path, monkeypatch):
    """Tensors are .tensorbin files or bytes, arguments are JSON; a cache of another format is made anew."""

    def load(make, version="1"):
        with ttnn.manage_config("enable_model_cache", True), ttnn.manage_config("model_cache_path", tmp_path / "cache"):
            return prep.preprocess_model(
                model_name="mine", version=version, initialize_model=make, run_model=lambda model: model(torch.ones(2, 3, 16, 24))
            )

    made = load(lambda: model_of(torch))
    folder = tmp_path / "cache" / "mine"
    assert all(not file.read_bytes().startswith((b"\x80", b"PK")) for file in folder.iterdir())
    for module in ("pickle.loads", "torch.load"):
        monkeypatch.setattr(module, lambda *args, **more: pytest.fail("it is run"))
    again = load(None)
    assert repr(again) == repr(made)
    before, after = made.stem[0].conv, again.stem[0].conv
    assert after.ttnn_module_args == before.ttnn_module_args and type(after.ttnn_module_args) is prep.Conv2dArgs
    assert after.ttnn_module_args.stride == (2, 2) and after.ttnn_module_args.math_fidelity == ttnn.MathFidelity.HiFi4
    assert torch.equal(after.weight, before.weight) if isinstance(after.weight, torch.Tensor) else True
    (folder / "tree.json").write_text("[]")  # as older ones are
    with pytest.raises(RuntimeError, match="is not in the cache"):
        load(None)
    load(lambda: model_of(torch))
    assert repr(load(None)) == repr(made)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int64", "bool", "complex64"])
@pytest.mark.parametrize("shape", [(), (3,), (0, 2), (2, 3)])
def test_torch_tensors_of_the_cache(dtype, shape, prep, torch, tmp_path):
    value = (torch.rand(shape) * 3).to(getattr(torch, dtype))
    found = prep._load(tmp_path, prep._dump(tmp_path, value))
    assert found.dtype == value.dtype and torch.equal(found, value)
