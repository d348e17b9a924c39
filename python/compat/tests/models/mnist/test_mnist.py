"""MNIST: evaluation against torch, training with ttnn's gradients; whole, or every operation in its own process."""

import pytest

from ttnn_models import machine, mnist

CHIPS = {"single_device": "n150", "data_parallel": "n300"}


@pytest.mark.parametrize("mode", ["train", "eval"])
@pytest.mark.parametrize("execution", ["op_by_op_shlo", "op_by_op_torch", "full"])
@pytest.mark.parametrize("devices", list(CHIPS))
def test_mnist_train(devices, execution, mode):
    if execution != "full":
        if mode == "train" or devices != "single_device":
            pytest.skip("operations are run one by one of the evaluation on one chip")
        return mnist.op_by_op(execution)
    with machine.opened(CHIPS[devices]) as device:
        (mnist.run_train if mode == "train" else mnist.run_eval)(device)
