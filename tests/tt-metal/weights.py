"""Random weights and made-up pictures instead of downloads, for upstream's models (tests/tt-metal/cases.py).

A model asks the network for three things: a configuration, weights, pictures. Here a configuration is what the model's own
class has by default (or the row below says), weights are random, of that architecture, and pictures are made. Nothing of
ttnn is replaced. To add one: a row in `checkpoints` (a file that torch.load reads) or in `configurations` (a name of a hub).
"""

import functools
import importlib
import io
import os
import pathlib

import torch


class Fresh(dict):
    """The weights of a checkpoint that is not there: a module that loads them keeps its own."""


def settle(module, size=(4, 3, 64, 64)):
    """Statistics of batch norms that fit random weights; with their first ones a deep network fades or bursts."""
    norms = [m for m in module.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    if not norms:
        return module
    keep = [(m, m.momentum) for m in norms]
    training = module.training
    with torch.no_grad():
        for norm in norms:
            norm.reset_running_stats()
            norm.momentum = None  # the plain mean of all batches
        module.train()
        generator = torch.Generator().manual_seed(0)
        module(torch.rand(size, generator=generator))
    for norm, momentum in keep:
        norm.momentum = momentum
    return module.train(training)


def _reference(path, name, *arguments):
    """The state of a model of the checkout; one that loads its state when it is made is given a fresh one."""
    module = getattr(importlib.import_module(f"models.{path}"), name)(*arguments)
    return settle(module).state_dict()


def _mobilenet():
    from torchvision import models

    return settle(models.mobilenet_v2()).state_dict()


# What torch.load finds under a file's name; other files that are not there are Fresh.
checkpoints = {
    "mobilenet_v2-b0353104.pth": _mobilenet,
    "unet.pt": functools.partial(_reference, "demos.vision.segmentation.vanilla_unet.reference.model", "UNet"),
}

# What from_pretrained knows of a name, where the default of the configuration's class is another.
configurations = {
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
            return settle(self)
        return fill(self, state_dict, *args, **kwargs)

    torch.load = torch_load
    torch.nn.Module.load_state_dict = load_state_dict
    os.system = lambda command: 0 if "_download.sh" in command else system(command)
    torch.hub.load_state_dict_from_url = lambda *args, **kwargs: Fresh()


def _torchvision():
    import torchvision

    torchvision.models._api.WeightsEnum.get_state_dict = lambda self, *args, **kwargs: Fresh()

    class MNIST(torchvision.datasets.FakeData):
        def __init__(self, root=None, train=True, transform=None, target_transform=None, download=False):
            super().__init__(10000, (1, 28, 28), 10, transform, target_transform)

    torchvision.datasets.MNIST = MNIST


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
        return cls(config or cls.config_class(**configurations.get(str(name), {}))).eval()

    config = transformers.PretrainedConfig.from_pretrained.__func__
    model = transformers.PreTrainedModel.from_pretrained.__func__
    transformers.PretrainedConfig.from_pretrained = classmethod(config_of)
    transformers.PreTrainedModel.from_pretrained = classmethod(model_of)
    BaseImageProcessor.from_pretrained = classmethod(lambda cls, *args, **kwargs: cls())
    transformers.AutoImageProcessor.from_pretrained = classmethod(lambda cls, name, *args, **kwargs: transformers.ViTImageProcessor())


def _timm():
    import timm

    create = timm.create_model

    def create_model(name, pretrained=False, **kwargs):
        if not pretrained:
            return create(name, **kwargs)
        return settle(create(name.split("/")[-1].split(".")[0], **kwargs), (4, 3, 224, 224)).eval()

    timm.create_model = create_model


def _efficientnet():
    from efficientnet_pytorch import EfficientNet

    EfficientNet.from_pretrained = classmethod(lambda cls, name, **kwargs: settle(cls.from_name(name), (4, 3, 224, 224)))


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
    """Every package that is there is told; what is missing will be said by the file that wants it."""
    for part in (_torch_files, _torchvision, _transformers, _timm, _efficientnet, _pictures):
        try:
            part()
        except ImportError:
            pass
