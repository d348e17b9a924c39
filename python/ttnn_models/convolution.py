"""What the convolutional networks share: one convolution with its weights, activations in rows of pixels."""

import dataclasses

import ttnn

HEIGHT = ttnn.TensorMemoryLayout.HEIGHT_SHARDED
WIDTH = ttnn.TensorMemoryLayout.WIDTH_SHARDED
BLOCK = ttnn.TensorMemoryLayout.BLOCK_SHARDED


@dataclasses.dataclass(frozen=True)
class Size:
    """Pixels of what a convolution reads."""

    batch: int
    height: int
    width: int


def same_padding(size, kernel, stride):
    """Zeros that make the output as large as the input is, over the stride: more below and right if they are odd."""
    padding = []
    for extent in (size.height, size.width):
        missing = max((-(-extent // stride) - 1) * stride + kernel - extent, 0)
        padding += [missing // 2, missing - missing // 2]
    even = padding[0] == padding[1] and padding[2] == padding[3]
    return (padding[0], padding[2]) if even else tuple(padding)


class Convolution:
    """Keeps its prepared weights. `plain` computes in float32 and leaves places to the library: a reference."""

    def __init__(self, weights, name, inputs, outputs, kernel, stride=1, padding=None, groups=1, gain=1.0, plain=False, **config):
        self.name, self.inputs, self.outputs, self.groups = name, inputs, outputs, groups
        self.kernel, self.stride, self.padding, self.plain = kernel, stride, padding, plain
        self.device = weights.device
        fan = inputs // groups * kernel * kernel
        shape = (outputs, inputs // groups, kernel, kernel)
        # Dry runs prepare weights, too: they are few, and lie on the host first.
        self.host_weight = weights.host(f"{name}.weight", shape, spread=gain * fan**-0.5)
        self.host_bias = weights.host(f"{name}.bias", (1, 1, 1, outputs), spread=0.1)
        self.weight = ttnn.from_torch(self.host_weight, dtype=ttnn.float32)
        self.bias = ttnn.from_torch(self.host_bias, dtype=ttnn.float32)
        if plain:
            self.config = ttnn.Conv2dConfig(weights_dtype=ttnn.float32, activation=config.get("activation"))
            self.compute = self._compute(ttnn.MathFidelity.HiFi4, True)
            self.slices = {}
        else:
            config.setdefault("deallocate_activation", False)
            self.compute = self._compute(ttnn.MathFidelity.LoFi, config.pop("wide", True))
            self.slices = {"slice_config": ttnn.Conv2dL1FullSliceConfig} if config.pop("whole", True) else {}
            self.config = ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat8_b, enable_act_double_buffer=True, **config)

    def _compute(self, fidelity, wide):
        arch = self.device.arch()
        return ttnn.init_device_compute_kernel_config(
            arch, math_fidelity=fidelity, math_approx_mode=False, fp32_dest_acc_en=wide, packer_l1_acc=True
        )

    def __call__(self, x, size):
        """(output, its size)."""
        padding = self.padding if self.padding is not None else same_padding(size, self.kernel, self.stride)
        x, (height, width), (self.weight, self.bias) = ttnn.conv2d(
            input_tensor=x,
            weight_tensor=self.weight,
            in_channels=self.inputs,
            out_channels=self.outputs,
            device=self.device,
            bias_tensor=self.bias,
            kernel_size=(self.kernel, self.kernel),
            stride=(self.stride, self.stride),
            padding=padding,
            dilation=(1, 1),
            batch_size=size.batch,
            input_height=size.height,
            input_width=size.width,
            conv_config=self.config,
            compute_config=self.compute,
            groups=self.groups,
            return_weights_and_bias=True,
            return_output_dim=True,
            dtype=ttnn.float32 if self.plain else ttnn.bfloat8_b,
            **self.slices,
        )
        return x, Size(size.batch, height, width)

    def in_torch(self, x):
        """The same in float32 of a picture in channels."""
        import torch

        size = Size(x.shape[0], x.shape[2], x.shape[3])
        padding = self.padding if self.padding is not None else same_padding(size, self.kernel, self.stride)
        if len(padding) == 4:
            top, bottom, left, right = padding
            x, padding = torch.nn.functional.pad(x, (left, right, top, bottom)), 0
        bias = self.host_bias.flatten()
        return torch.nn.functional.conv2d(x, self.host_weight, bias, self.stride, padding, 1, self.groups)
