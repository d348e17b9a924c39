"""EfficientNet-B0 on one chip of an n300, against torch."""

from ttnn_models import efficientnet, machine


def test_efficientnetb0_model():
    with machine.chip("n300", l1_small_size=efficientnet.L1_SMALL) as device:
        efficientnet.run(device)
