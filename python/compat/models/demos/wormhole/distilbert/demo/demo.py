"""DistilBERT for question answering, 8 texts on each chip of an n300."""

from ttnn_models import distilbert, machine


def test_demo(layers):
    with machine.opened("n300") as device:
        distilbert.run(device, layers)
