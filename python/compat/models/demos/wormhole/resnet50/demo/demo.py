"""ResNet-50, 16 pictures on one chip. With --layers N the first N of its four stages are computed."""

from ttnn_models import machine, resnet50


def test_demo(layers):
    with machine.chip("n150", l1_small_size=resnet50.L1_SMALL) as device:
        resnet50.run(device, layers)
