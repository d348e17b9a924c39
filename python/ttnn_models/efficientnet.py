"""EfficientNet-B0, 224x224: a stem, 16 inverted residual blocks with squeeze and excitation, a head, a classifier."""

import dataclasses

import ttnn

from ttnn_models import machine
from ttnn_models.convolution import BLOCK, HEIGHT, WIDTH, Convolution, Size
from ttnn_models.reference import correlation
from ttnn_models.weights import Weights

# expansion, channels, repeats, stride, kernel
STAGES = ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3))
HEAD, CLASSES, PICTURE = 1280, 1000, 224
L1_SMALL = 79104
LEAST_CHANNELS = 16  # of the picture, with zeros
GAIN = 1.6  # of random weights, so that numbers keep their size
BOUND = 0.92
IN_TILES = (32, 96)  # channels that are averaged as tiles


@dataclasses.dataclass(frozen=True)
class Shape:
    """Of one block; places by its number: pixels over cores first, channels over cores later."""

    number: int
    inputs: int
    outputs: int
    expansion: int
    kernel: int
    stride: int

    @property
    def skips(self):
        return self.stride == 1 and self.inputs == self.outputs

    @property
    def place(self):
        return HEIGHT if self.number < 8 else WIDTH

    @property
    def depth_place(self):
        return HEIGHT if self.number < 3 else BLOCK if self.number < 12 else WIDTH


def shapes():
    found, channels = [], 32
    for expansion, outputs, repeats, stride, kernel in STAGES:
        for i in range(repeats):
            found.append(Shape(len(found), channels, outputs, expansion, kernel, stride if i == 0 else 1))
            channels = outputs
    return found


def gated(x):
    """x * sigmoid(x), in two operations."""
    return x * ttnn.sigmoid_accurate(x, True)


class Block:
    def __init__(self, weights, shape, plain):
        self.shape, self.plain = shape, plain
        wide, squeezed = shape.inputs * shape.expansion, max(1, shape.inputs // 4)
        name = f"blocks.{shape.number}"

        def make(part, *sizes, place, **more):
            double = {"enable_weights_double_buffer": place == BLOCK, "reshard_if_not_optimal": True, "shard_layout": place}
            config = {"plain": True} if plain else {**double, "deallocate_activation": not shape.skips}
            return Convolution(weights, f"{name}.{part}", *sizes, **config, **more)

        self.expand = make("expand", shape.inputs, wide, 1, place=shape.place, gain=GAIN) if shape.expansion > 1 else None
        self.depth = make("depth", wide, wide, shape.kernel, shape.stride, place=shape.depth_place, groups=wide, gain=GAIN)
        self.reduce = make("reduce", wide, squeezed, 1, place=WIDTH)
        self.excite = make("excite", squeezed, wide, 1, place=BLOCK)
        self.project = make("project", wide, shape.outputs, 1, place=shape.place, gain=GAIN)

    def __call__(self, x, size):
        before = x
        if self.expand:
            x, size = self.expand(x, size)
            x = gated(x)
        x, size = self.depth(x, size)
        x = gated(x)
        x = self._squeezed(x)
        x, size = self.project(x, size)
        if self.shape.skips:
            x = x + before
            ttnn.deallocate(before)
        return x, size

    def _squeezed(self, x):
        kept = x
        if x.is_sharded():
            x = ttnn.sharded_to_interleaved(x, ttnn.L1_MEMORY_CONFIG)
        if x.shape[-1] not in IN_TILES:
            x = ttnn.to_layout(x, layout=ttnn.ROW_MAJOR_LAYOUT)
        one = Size(1, 1, 1)
        x, _ = self.reduce(ttnn.global_avg_pool2d(x), one)
        x, _ = self.excite(gated(x), one)
        x = ttnn.sigmoid_accurate(x, True)
        rows = ttnn.sharded_to_interleaved(kept, ttnn.L1_MEMORY_CONFIG) if kept.is_sharded() else kept
        if x.is_sharded():
            x = ttnn.sharded_to_interleaved(x, ttnn.L1_MEMORY_CONFIG)
        if rows is not kept:
            ttnn.deallocate(kept)
        return x * rows

    def in_torch(self, x):
        import torch

        before, silu = x, torch.nn.functional.silu
        if self.expand:
            x = silu(self.expand.in_torch(x))
        x = silu(self.depth.in_torch(x))
        mean = x.mean((2, 3), keepdim=True)
        x = x * torch.sigmoid(self.excite.in_torch(silu(self.reduce.in_torch(mean))))
        x = self.project.in_torch(x)
        return x + before if self.shape.skips else x


class EfficientNet:
    def __init__(self, weights, plain=False):
        self.weights, self.plain = weights, plain
        place = dict(plain=True) if plain else dict(shard_layout=HEIGHT, deallocate_activation=True, reshard_if_not_optimal=True)
        self.stem = Convolution(weights, "stem", 3, 32, 3, 2, gain=GAIN, **place)
        self.blocks = [Block(weights, shape, plain) for shape in shapes()]
        place = place if plain else {**place, "shard_layout": WIDTH}
        self.channels = self.blocks[-1].shape.outputs
        self.head = Convolution(weights, "head", self.channels, HEAD, 1, gain=GAIN, **place)
        dtype = ttnn.float32 if plain else ttnn.bfloat16
        self.classes = weights.make("classes.weight", (HEAD, CLASSES), dtype)
        self.bias = weights.make("classes.bias", (1, CLASSES), dtype, spread=0.05)

    def __call__(self, picture):
        """Logits of a picture in channels, height-sharded in rows."""
        channels = picture
        if not self.plain:
            channels = ttnn.pad(picture, ((0, 0), (0, LEAST_CHANNELS - picture.shape[1]), (0, 0), (0, 0)), value=0.0)
        pixels = ttnn.permute(channels, (0, 2, 3, 1))
        ttnn.deallocate(channels)
        ttnn.deallocate(picture)
        pixels = ttnn.reallocate(pixels)
        x = ttnn.reshape(pixels, [1, 1, PICTURE * PICTURE, pixels.shape[-1]])
        x, size = self.stem(x, Size(1, PICTURE, PICTURE))
        x = ttnn.swish(x)
        for block in self.blocks:
            x, size = block(x, size)
        x, size = self.head(x, size)
        x = ttnn.to_layout(gated(x), layout=ttnn.ROW_MAJOR_LAYOUT)
        x = ttnn.reshape(ttnn.global_avg_pool2d(x), (1, -1))
        return ttnn.linear(x, self.classes, bias=self.bias)

    def in_torch(self, picture):
        import torch

        x = torch.nn.functional.silu(self.stem.in_torch(picture))
        for block in self.blocks:
            x = block.in_torch(x)
        x = torch.nn.functional.silu(self.head.in_torch(x)).mean((2, 3))
        weights = self.weights
        return x @ weights.host("classes.weight", (HEAD, CLASSES)) + weights.host("classes.bias", (1, CLASSES), spread=0.05)


def picture(weights, plain=False):
    """(on the host, on the device): every core has some rows of the channels."""
    shape = (1, 3, PICTURE, PICTURE)
    host = weights.host("picture", shape, spread=1.0)
    rows = ttnn.ShardSpec(
        ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 7))}), (PICTURE, PICTURE), ttnn.ShardOrientation.ROW_MAJOR
    )
    place = ttnn.DRAM_MEMORY_CONFIG if plain else ttnn.MemoryConfig(HEIGHT, ttnn.BufferType.L1, rows)
    dtype = ttnn.float32 if plain else ttnn.bfloat16
    return host, ttnn.from_torch(host, dtype=dtype, layout=ttnn.ROW_MAJOR_LAYOUT, device=weights.device, memory_config=place)


def compute(device, seed=0):
    """The correlation with torch, or without it with ttnn's float32."""
    weights = Weights(device, seed=seed)
    network = EfficientNet(weights)
    host, given = picture(weights)
    found = network(given)
    if weights.torch:
        import torch

        with torch.no_grad():
            return correlation(network.in_torch(host), ttnn.to_torch(found).float())
    if not machine.compares():
        return None
    expected = EfficientNet(weights, plain=True)(picture(weights, plain=True)[1])
    return correlation(expected.to_list(), found.to_list())


def dry(device):
    """The weights are made before: convolutions prepare them on the host."""
    weights = Weights(device)
    network, given = EfficientNet(weights), picture(weights)[1]
    with machine.Dry() as run:
        network(given)
    return run


def run(device, say=print):
    """What the test does: the whole network, computed, and without dispatch."""
    title = f"EfficientNet-B0, all of its {len(shapes())} blocks"
    return machine.demo(device, title, BOUND, lambda: compute(device), lambda: dry(device), say)
