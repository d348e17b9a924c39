"""Random weights and made-up pictures instead of downloads, for upstream's models (tests/tt-metal/cases.py).

A model asks the network for three things: a configuration, weights, pictures. Here a configuration is what the model's own
class has by default (or the row below says), weights are random, of that architecture, and pictures are made. Nothing of
ttnn is replaced. To add one: a row in `checkpoints` (a file that torch.load reads) or in `configurations` (a name of a hub).
"""

import atexit
import functools
import importlib
import inspect
import io
import json
import os
import pathlib
import string
import tempfile

import torch


class Fresh(dict):
    """The weights of a checkpoint that is not there: a module that loads them keeps its own."""


def _reference(path, name):
    """The state of a model of the checkout."""
    return getattr(importlib.import_module(f"models.{path}"), name)().state_dict()


def _mobilenet():
    from torchvision import models

    return models.mobilenet_v2().state_dict()


# What torch.load finds under a file's name; other files that are not there are Fresh.
checkpoints = {
    "mobilenet_v2-b0353104.pth": _mobilenet,
    "unet.pt": functools.partial(_reference, "demos.vision.segmentation.vanilla_unet.reference.model", "UNet"),
}

# What from_pretrained knows of a name, where the default of the configuration's class is another.
_LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
configurations = {
    "phiyodr/bert-large-finetuned-squad2": _LARGE,
    "emrecan/bert-base-turkish-cased-mean-nli-stsb-tr": {"vocab_size": 32000, "position_embedding_type": "absolute"},
    "distil-whisper/distil-large-v3": {
        "vocab_size": 51866, "num_mel_bins": 128, "d_model": 1280, "encoder_layers": 32, "encoder_attention_heads": 20, "decoder_layers": 2,
        "decoder_attention_heads": 20, "encoder_ffn_dim": 5120, "decoder_ffn_dim": 5120, "decoder_start_token_id": 50258,
    },
    "google/vit-base-patch16-224": {"num_labels": 1000},
    "nvidia/segformer-b0-finetuned-ade-512-512": {"num_labels": 150},
    "nvidia/mit-b0": {"num_labels": 1000},
}


def picture(width=640, height=480):
    """Waves and noise in three colours."""
    from PIL import Image

    y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    waves = torch.stack([127 + 100 * torch.sin(x / (9.0 + c) + y / (23.0 - 5 * c)) for c in range(3)], -1)
    noise = torch.randn(waves.shape, generator=torch.Generator().manual_seed(1))
    return Image.fromarray((waves + 10 * noise).clamp(0, 255).to(torch.uint8).numpy())


def _torch_files():
    load, fill, system = torch.load, torch.nn.Module.load_state_dict, os.system

    def torch_load(f, *args, **kwargs):
        if isinstance(f, (str, os.PathLike)) and not os.path.exists(f):
            return checkpoints.get(pathlib.PurePath(f).name, Fresh)()
        return load(f, *args, **kwargs)

    def load_state_dict(self, state_dict, *args, **kwargs):
        if isinstance(state_dict, Fresh):
            return torch.nn.modules.module._IncompatibleKeys([], [])
        return fill(self, state_dict, *args, **kwargs)

    torch.load = torch_load
    torch.nn.Module.load_state_dict = load_state_dict
    os.system = lambda command: 0 if "_download.sh" in command else system(command)
    torch.hub.load_state_dict_from_url = lambda *args, **kwargs: Fresh()


def _torchvision():
    import torchvision

    torchvision.models._api.WeightsEnum.get_state_dict = lambda self, *args, **kwargs: Fresh()

    def made(*shape):
        class Made(torchvision.datasets.FakeData):
            def __init__(self, root=None, train=True, transform=None, target_transform=None, download=False):
                super().__init__(10000, shape, 10, transform, target_transform)

        return Made

    torchvision.datasets.MNIST, torchvision.datasets.CIFAR10 = made(1, 28, 28), made(3, 32, 32)


def _transformers():
    import transformers
    from transformers.image_processing_utils import BaseImageProcessor

    def config_of(cls, name, *args, **kwargs):
        if os.path.exists(name):
            return config(cls, name, *args, **kwargs)
        return cls(**configurations.get(str(name), {}))

    def model_of(cls, name=None, *args, config=None, **kwargs):
        if name is not None and os.path.exists(name):
            return model(cls, name, *args, config=config, **kwargs)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)  # whoever asks again gets the same weights
            return cls(config or cls.config_class(**configurations.get(str(name), {}))).eval()

    config = transformers.PretrainedConfig.from_pretrained.__func__
    model = transformers.PreTrainedModel.from_pretrained.__func__
    transformers.PretrainedConfig.from_pretrained = classmethod(config_of)
    transformers.PreTrainedModel.from_pretrained = classmethod(model_of)
    BaseImageProcessor.from_pretrained = classmethod(lambda cls, *args, **kwargs: cls())
    transformers.AutoImageProcessor.from_pretrained = classmethod(lambda cls, name, *args, **kwargs: transformers.ViTImageProcessor())


def _language():
    """Language models: automatic classes, a tokenizer of letters, sound, and configurations that the checkout has."""
    import datasets
    import transformers
    from transformers.models.auto import modeling_auto
    from transformers.models.auto.auto_factory import _BaseAutoModelClass
    from transformers.utils import hub

    automatic = {"emrecan/bert-base-turkish-cased-mean-nli-stsb-tr": transformers.BertConfig}  # by name: the class
    layers = int(os.environ.get("LAYERS", "0"))  # so many, where the checkpoint's are too many for a test
    config = transformers.AutoConfig.from_pretrained.__func__
    cached, load = hub.cached_file, datasets.load_dataset

    def config_of(cls, name, *args, **kwargs):
        if str(name) in automatic:
            return automatic[str(name)](**configurations.get(str(name), {}))
        return config(cls, _params(name), *args, **kwargs)

    def model_of(cls, name, *args, config=None, **kwargs):
        torch.manual_seed(0)  # whoever asks again gets the same weights
        config = config or config_of(transformers.AutoConfig, name)
        if layers:
            config.num_hidden_layers = layers
        return cls.from_config(config).eval()

    def cached_file(name, file, *args, **kwargs):
        if not str(name).startswith("state-spaces/mamba-2.8b") or file != "config.json":
            return cached(name, file, *args, **kwargs)
        written = tempfile.NamedTemporaryFile("w", suffix=".json", delete=False)
        with written:
            json.dump({"d_model": 2560, "n_layer": layers or 64, "vocab_size": 50277}, written)
        atexit.register(os.unlink, written.name)
        return written.name

    def sound(name, *args, **kwargs):
        if "librispeech" not in name:
            return load(name, *args, **kwargs)
        noise = torch.randn(160000, generator=torch.Generator().manual_seed(3)) * 0.1
        return [{"audio": {"array": noise.numpy()}}]

    transformers.AutoConfig.from_pretrained = classmethod(config_of)
    for kind in vars(modeling_auto).values():  # each has a from_pretrained of its own
        if isinstance(kind, type) and issubclass(kind, _BaseAutoModelClass):
            kind.from_pretrained = classmethod(model_of)
    transformers.AutoTokenizer.from_pretrained = classmethod(lambda cls, *args, **kwargs: letters())
    transformers.BertTokenizer.from_pretrained = classmethod(lambda cls, *args, **kwargs: letters())
    transformers.CLIPTokenizer.from_pretrained = classmethod(lambda cls, *args, **kwargs: letters_of_clip())
    transformers.AutoFeatureExtractor.from_pretrained = classmethod(
        lambda cls, name, *args, **kwargs: transformers.WhisperFeatureExtractor(feature_size=configurations.get(name, {}).get("num_mel_bins", 80))
    )
    hub.cached_file, datasets.load_dataset = cached_file, sound


def _params(name):
    """Where the checkout has a model's configuration; else its name."""
    import models.tt_transformers

    folder = pathlib.Path(models.tt_transformers.__path__[0]) / "model_params" / str(name).split("/")[-1]
    return str(folder if folder.is_dir() else name)


def letters():
    """A tokenizer of the real class whose words are letters: a vocabulary is data that a checkpoint comes with."""
    import transformers

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *string.ascii_letters, *string.digits, *string.punctuation]
    words += [f"##{word}" for word in string.ascii_letters + string.digits]
    if "vocab_file" not in inspect.signature(transformers.BertTokenizer.__init__).parameters:  # since transformers 5
        return transformers.BertTokenizer(vocab={word: i for i, word in enumerate(words)})
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as written:
        written.write("\n".join(words) + "\n")
        written.flush()
        return transformers.BertTokenizer(written.name)


def letters_of_clip():
    """The same for CLIP's: letters, those that end a word, and the two marks; no pairs are merged."""
    import transformers

    signs = string.ascii_lowercase + string.digits + string.punctuation
    words = [*signs, *(f"{sign}</w>" for sign in signs), "<|startoftext|>", "<|endoftext|>"]
    vocabulary = {word: i for i, word in enumerate(words)}
    if "vocab_file" not in inspect.signature(transformers.CLIPTokenizer.__init__).parameters:  # since transformers 5
        return transformers.CLIPTokenizer(vocab=vocabulary, merges=[])
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "vocab.json").write_text(json.dumps(vocabulary))
        (pathlib.Path(folder) / "merges.txt").write_text("#version: 0.2\n")
        return transformers.CLIPTokenizer(f"{folder}/vocab.json", f"{folder}/merges.txt")


def _timm():
    import timm

    create = timm.create_model

    def create_model(name, pretrained=False, **kwargs):
        if not pretrained:
            return create(name, **kwargs)
        return create(name.split("/")[-1].split(".")[0], **kwargs).eval()

    timm.create_model = create_model


def _efficientnet():
    from efficientnet_pytorch import EfficientNet

    EfficientNet.from_pretrained = classmethod(lambda cls, name, **kwargs: cls.from_name(name))


def _pictures():
    import datasets
    import requests

    get = requests.get

    def answer(url, *args, **kwargs):
        if not url.endswith((".jpg", ".jpeg", ".png")):
            return get(url, *args, **kwargs)
        found, file = requests.Response(), io.BytesIO()
        picture().save(file, "PNG")
        file.seek(0)
        found.status_code, found.raw, found._content = 200, file, file.getvalue()
        return found

    requests.get = answer
    datasets.load_dataset = lambda *args, **kwargs: {"test": {"image": [picture()]}, "validation": {"image": [picture()]}}


def install():
    """Every package that is there is patched; what is missing, or cannot be loaded, will be said by the file that wants it."""
    for part in (_torch_files, _torchvision, _transformers, _timm, _efficientnet, _pictures, _language):
        try:
            part()
        except (ImportError, RuntimeError):  # of a torchvision that was built for another torch
            pass
