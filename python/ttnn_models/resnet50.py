"""ResNet-50, 224x224, 16 pictures: a folded stem, 16 bottlenecks, a classifier. Activations stay sharded in L1:
by rows in the first two stages, by rows and channels in the others."""

import ttnn

from ttnn_models import machine
from ttnn_models.convolution import BLOCK, HEIGHT, Convolution, Size
from ttnn_models.reference import correlation
from ttnn_models.weights import Weights

STAGES = ((64, 3), (128, 4), (256, 6), (512, 3))
BATCH, PICTURE, CLASSES = 16, 224, 1000
L1_SMALL = 24576
BOUND = 0.988
FOLD = 2  # the stem of stride 2 sees squares of 2x2 pixels as channels
CHANNELS = 4  # of a pixel, with a zero
EDGE = 3  # zeros around the picture
ROW_BLOCK = 14 * 32  # rows at a time of the 3x3 convolutions that have most of them
STEM_BLOCK = 49 * 32


def _relu():
    return ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)


class Bottleneck:
    """`plain` computes in float32 and leaves places to the library: a reference."""

    def __init__(self, weights, name, inputs, middle, stride, stage, plain=False):
        self.plain = plain
        place = dict(plain=plain, shard_layout=HEIGHT if stage < 2 else BLOCK, whole=False, wide=False, reshard_if_not_optimal=False)
        rows = ROW_BLOCK if stage == 0 and not name.endswith(".0") else 0
        relu = dict(activation=_relu())
        outputs = 4 * middle
        self.first = Convolution(weights, f"{name}.conv1", inputs, middle, 1, padding=(0, 0), gain=1.4, **place, **relu)
        self.second = Convolution(
            weights, f"{name}.conv2", middle, middle, 3, stride, padding=(1, 1), gain=1.4, deallocate_activation=True,
            act_block_h_override=rows, enable_weights_double_buffer=True, full_inner_dim=True, **place, **relu,
        )
        place.update(padding=(0, 0), deallocate_activation=True)
        self.third = Convolution(weights, f"{name}.conv3", middle, outputs, 1, gain=0.5, **place)
        self.short = None
        if inputs != outputs or stride != 1:
            self.short = Convolution(weights, f"{name}.downsample", inputs, outputs, 1, stride, **place)

    def __call__(self, x, size):
        y, _ = self.first(x, size)
        y, after = self.second(y, size)
        y, _ = self.third(y, after)
        if self.short:
            x, _ = self.short(x, size)
        if self.plain:
            return ttnn.relu(ttnn.add(y, x)), after
        if x.memory_config() != y.memory_config():
            x = ttnn.to_memory_config(x, y.memory_config())
        y = ttnn.add_(y, x, activations=[_relu()])
        ttnn.deallocate(x)
        return y, after

    def in_torch(self, x):
        y = self.first.in_torch(x).relu()
        y = self.third.in_torch(self.second.in_torch(y).relu())
        return (y + (self.short.in_torch(x) if self.short else x)).relu()


class Stem(Convolution):
    """7x7 of stride 2 as 4x4 of stride 1 over the folded picture."""

    def __init__(self, weights, plain=False):
        folded = CHANNELS * FOLD * FOLD
        place = dict(plain=plain, shard_layout=HEIGHT, whole=False, wide=False, act_block_h_override=STEM_BLOCK, deallocate_activation=True)
        super().__init__(weights, "conv1", folded, 64, 4, padding=(0, 0), gain=1.4, activation=_relu(), **place)

    def in_torch(self, x):
        """Of a picture with its edge, in channels."""
        return super().in_torch(folded_in_torch(x))


def folded_in_torch(x):
    batch, channels, height, width = x.shape
    x = x.reshape(batch, channels, height // FOLD, FOLD, width // FOLD, FOLD).permute(0, 3, 5, 1, 2, 4)
    return x.reshape(batch, FOLD * FOLD * channels, height // FOLD, width // FOLD)


class ResNet50:
    def __init__(self, weights, stages=None, plain=False):
        self.weights = weights
        self.stem = Stem(weights, plain)
        self.stages, channels = [], 64
        for number, (middle, repeats) in enumerate(STAGES[:stages]):
            blocks = []
            for i in range(repeats):
                stride = 2 if number and not i else 1
                blocks.append(Bottleneck(weights, f"layer{number + 1}.{i}", channels, middle, stride, number, plain))
                channels = 4 * middle
            self.stages.append(blocks)
        self.channels = channels
        dtype = ttnn.float32 if plain else ttnn.bfloat8_b
        self.classes = weights.make("fc.weight", (1, 1, channels, CLASSES), dtype)
        self.bias = weights.make("fc.bias", (1, 1, 1, CLASSES), dtype, spread=0.05)

    def __call__(self, x):
        """Logits of pictures in rows of pixels, with their edges."""
        x = ttnn.fold(x, FOLD, FOLD)
        side = (PICTURE + 2 * EDGE) // FOLD
        x = ttnn.reshape(x, (1, 1, BATCH * side * side, CHANNELS * FOLD * FOLD))
        x, size = self.stem(x, Size(BATCH, side, side))
        x = ttnn.max_pool2d(
            input_tensor=x, batch_size=BATCH, input_h=size.height, input_w=size.width, channels=64,
            kernel_size=[3, 3], stride=[2, 2], padding=[1, 1], dilation=[1, 1],
        )
        size = Size(BATCH, size.height // 2, size.width // 2)
        rows = ttnn.create_sharded_memory_config_(
            x.shape, ttnn.CoreGrid(x=8, y=7), HEIGHT, ttnn.ShardOrientation.ROW_MAJOR, tile_layout=True
        )
        x = ttnn.to_layout(ttnn.to_memory_config(x, rows), ttnn.TILE_LAYOUT, dtype=ttnn.bfloat8_b)
        for number, blocks in enumerate(self.stages):
            if number >= 2:
                x = ttnn.to_memory_config(x, self._block_place(x, 8 if number == 2 else 7))
            for block in blocks:
                x, size = block(x, size)
        return self._classified(x, size)

    def _block_place(self, x, rows):
        return ttnn.create_sharded_memory_config(x.shape, ttnn.CoreGrid(x=8, y=rows), ttnn.ShardStrategy.BLOCK)

    def _by_channels(self, x, grid):
        cores = grid.x * grid.y
        height = -(-x.shape[2] // 32) * 32
        return ttnn.create_sharded_memory_config(
            (height, x.shape[3] // cores), grid, ttnn.ShardStrategy.WIDTH, ttnn.ShardOrientation.ROW_MAJOR,
            use_height_and_width_as_shard_shape=True,
        )

    def _classified(self, x, size):
        whole = len(self.stages) == len(STAGES)  # what is larger does not fit into L1 beside the pool
        x = ttnn.to_memory_config(x, self._by_channels(x, ttnn.CoreGrid(x=8, y=8)) if whole else ttnn.DRAM_MEMORY_CONFIG)
        kernel = ttnn.init_device_compute_kernel_config(self.weights.device.arch(), math_fidelity=ttnn.MathFidelity.LoFi)
        x = ttnn.avg_pool2d(
            input_tensor=x, batch_size=BATCH, input_h=size.height, input_w=size.width, channels=x.shape[3],
            kernel_size=[size.height, size.width], stride=[1, 1], padding=[0, 0, 0, 0],
            output_layout=ttnn.TILE_LAYOUT, dtype=ttnn.bfloat8_b, compute_kernel_config=kernel,
        )
        x = ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG)
        x = ttnn.linear(x, self.classes, bias=self.bias, compute_kernel_config=kernel, memory_config=ttnn.L1_MEMORY_CONFIG)
        x = ttnn.untilize_with_unpadding(x, output_tensor_end=(0, 0, BATCH - 1, CLASSES - 1), memory_config=ttnn.L1_MEMORY_CONFIG)
        return ttnn.reshape(x, (BATCH, 1, 1, CLASSES))

    def in_ttnn(self, x):
        """Logits of one picture in plain operations, in float32 but for the pool; x is folded already."""
        side = (PICTURE + 2 * EDGE) // FOLD
        x, size = self.stem(ttnn.typecast(ttnn.reshape(x, (1, 1, side * side, CHANNELS * FOLD * FOLD)), ttnn.float32), Size(1, side, side))
        x = ttnn.max_pool2d(
            input_tensor=ttnn.to_layout(ttnn.typecast(x, ttnn.bfloat16), ttnn.ROW_MAJOR_LAYOUT), batch_size=1, input_h=size.height, input_w=size.width, channels=64,
            kernel_size=[3, 3], stride=[2, 2], padding=[1, 1], dilation=[1, 1],
        )
        x = ttnn.typecast(ttnn.to_layout(ttnn.to_memory_config(x, ttnn.DRAM_MEMORY_CONFIG), ttnn.TILE_LAYOUT), ttnn.float32)
        size = Size(1, size.height // 2, size.width // 2)
        for block in [block for blocks in self.stages for block in blocks]:
            x, size = block(x, size)
        x = ttnn.mean(ttnn.to_memory_config(x, ttnn.DRAM_MEMORY_CONFIG), dim=2, keepdim=True)
        return ttnn.linear(x, self.classes, bias=self.bias)

    def in_torch(self, x):
        import torch

        x = self.stem.in_torch(x).relu()
        x = torch.nn.functional.max_pool2d(x, 3, 2, 1)
        for blocks in self.stages:
            for block in blocks:
                x = block.in_torch(x)
        weight = self.weights.host("fc.weight", (1, 1, self.channels, CLASSES))[0, 0]
        return x.mean((2, 3)) @ weight + self.weights.host("fc.bias", (1, 1, 1, CLASSES), spread=0.05).flatten()


def pictures(weights):
    """(pictures with their edges on the host, in channels; on the device, in pixels)."""
    side = PICTURE + 2 * EDGE
    if weights.torch:
        import torch

        host = torch.zeros(BATCH, CHANNELS, side, side)
        inner = weights.host("pictures", (BATCH, 3, PICTURE, PICTURE), spread=1.0)
        host[:, :3, EDGE:-EDGE, EDGE:-EDGE] = inner
        pixels = host.permute(0, 2, 3, 1).contiguous()
    else:
        host = None
        pixels = weights.host("pictures", (BATCH, side, side, CHANNELS), spread=1.0)
    return host, ttnn.from_torch(pixels, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=weights.device)


def compute(device, stages=None, seed=0):
    """The correlation with torch, of all pictures; without it with ttnn's float32, of the first."""
    weights = Weights(device, seed=seed)
    network = ResNet50(weights, stages)
    host, given = pictures(weights)
    first = None
    if not weights.torch and machine.compares():
        side = PICTURE + 2 * EDGE
        first = ttnn.fold(ttnn.slice(given, (0, 0, 0, 0), (1, side, side, CHANNELS)), FOLD, FOLD)
    found = network(given)
    if first is not None:
        return correlation(ResNet50(weights, stages, plain=True).in_ttnn(first).to_list(), [found.cpu().to_list()[0]])
    if not weights.torch:
        return None
    import torch

    with torch.no_grad():
        return correlation(network.in_torch(host), ttnn.to_torch(found).float().reshape(BATCH, CLASSES))


def dry(device):
    """The weights are made before: convolutions prepare them on the host."""
    weights = Weights(device)
    network, given = ResNet50(weights), pictures(weights)[1]
    with machine.Dry() as run:
        network(given)
    return run


def run(device, stages=None, say=print):
    """What the demo does: the network computed, and without dispatch."""
    count = len(STAGES) if stages is None else min(stages, len(STAGES))
    title = f"ResNet-50, {count} of {len(STAGES)} stages, {BATCH} pictures"
    return machine.demo(device, title, BOUND, lambda: compute(device, count) if count else None, lambda: dry(device), say)
