"""A classifier of digits, 784-120-84-10, and its training with ttnn's own gradients.

The digits are made: ten patterns with noise, from a seed. `python -m ttnn_models.mnist KIND NUMBER` runs
one operation of the network in a process of its own (op_by_op below).
"""

import array
import random
import subprocess
import sys
import time

import ttnn

from ttnn_models import machine
from ttnn_models.reference import correlation
from ttnn_models.weights import Weights

SIZES = (784, 120, 84, 10)
BATCH, SIDE, CLASSES = 128, 28, 10
BOUND = 0.99
RATE, STEPS, WANTED = 0.2, 40, 0.9


def digits(count, seed=0):
    """(values of all pixels, labels): a pattern for each class, and noise."""
    numbers = random.Random(seed)
    patterns = [[numbers.uniform(-1.0, 1.0) for _ in range(SIZES[0])] for _ in range(CLASSES)]
    numbers = random.Random(seed + 1)
    labels = [numbers.randrange(CLASSES) for _ in range(count)]
    return array.array("f", (p + 0.3 * numbers.gauss(0, 1) for label in labels for p in patterns[label])), labels


def _host(values, shape):
    return memoryview(values).cast("B").cast("f", list(shape))


class Mnist:
    """The classifier as it is used: bfloat16, activations fused into the products."""

    def __init__(self, weights):
        self.weights = weights
        pairs = list(zip(SIZES, SIZES[1:]))
        self.layers = [
            (weights.make(f"{i}.weight", shape), weights.make(f"{i}.bias", (1, shape[1]), spread=0.1)) for i, shape in enumerate(pairs)
        ]

    def __call__(self, values):
        """Probabilities of pictures."""
        shape = (BATCH, 1, SIDE, SIDE)
        device = self.weights.device
        spread = {"mesh_mapper": ttnn.ShardTensorToMesh(device, dim=0)} if device.get_num_devices() > 1 else {}
        x = ttnn.from_torch(_host(values, shape), dtype=ttnn.bfloat16, device=device, **spread)
        x = ttnn.reshape(x, (x.shape[0], -1))
        x = ttnn.to_layout(x, layout=ttnn.TILE_LAYOUT)
        for weight, bias in self.layers:
            x = ttnn.linear(x, weight, bias=bias, memory_config=ttnn.L1_MEMORY_CONFIG, activation="relu")
        return ttnn.softmax(x)


def expected(weights, values):
    """The same in float32, of torch or of ttnn: lists of rows."""
    if weights.torch:
        import torch

        x = torch.frombuffer(values, dtype=torch.float32).reshape(BATCH, SIZES[0])
        for i, shape in enumerate(zip(SIZES, SIZES[1:])):
            x = (x @ weights.host(f"{i}.weight", shape) + weights.host(f"{i}.bias", (1, shape[1]), spread=0.1)).relu()
        return x.softmax(-1).tolist()
    trainer = Trainer(weights)
    return _gathered(trainer.forward(trainer.put(values, (BATCH, SIZES[0]))))


class Trainer:
    """float32 on one or more chips, each with its part of the pictures; gradients are summed over chips."""

    def __init__(self, weights):
        self.weights, self.device = weights, weights.device
        self.kernel = ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=False, fp32_dest_acc_en=True, packer_l1_acc=True
        )
        self.layers = [
            [weights.make(f"{i}.weight", shape, ttnn.float32), weights.make(f"{i}.bias", (1, shape[1]), ttnn.float32, spread=0.1)]
            for i, shape in enumerate(zip(SIZES, SIZES[1:]))
        ]

    def put(self, values, shape):
        """Every chip gets its rows."""
        mapper = ttnn.ShardTensorToMesh(self.device, dim=0)
        return ttnn.from_torch(_host(values, shape), dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=self.device, mesh_mapper=mapper)

    def _product(self, a, b, **transposed):
        return ttnn.matmul(a, b, compute_kernel_config=self.kernel, **transposed)

    def forward(self, x):
        """Probabilities; keeps what the gradients need."""
        self.kept = []
        for weight, bias in self.layers:
            before = self._product(x, weight)
            sums = ttnn.add(before, bias)
            self.kept.append((x, before, sums))
            x = ttnn.relu(sums)
        self.shifted = ttnn.subtract(x, ttnn.max(x, dim=-1, keepdim=True))
        self.powers = ttnn.exp(self.shifted)
        self.total = ttnn.sum(self.powers, dim=-1, keepdim=True)
        self.inverse = ttnn.reciprocal(self.total)
        self.chances = ttnn.multiply(self.powers, self.inverse)
        return self.chances

    def _loss_gradient(self, wanted, count):
        """Of -mean(log(chance of the label)), by what the sums of the last layer became."""
        given = ttnn.multiply(wanted, -1.0 / count)
        (chances,) = ttnn.log_bw(given, self.chances)
        spread = ttnn.multiply(ttnn.ones_like(self.powers), self.inverse)  # as large as what it multiplies
        powers, inverse = ttnn.mul_bw(chances, self.powers, spread)
        (total,) = ttnn.reciprocal_bw(ttnn.sum(inverse, dim=-1, keepdim=True), self.total)
        (shifted,) = ttnn.exp_bw(ttnn.add(powers, total), self.shifted)
        return shifted

    def gradients(self, wanted, count):
        """[(of the weight, of the bias)] of every layer."""
        grad = self._loss_gradient(wanted, count)
        found = []
        for (weight, bias), (x, before, sums) in zip(reversed(self.layers), reversed(self.kept)):
            (grad,) = ttnn.relu_bw(grad, sums)
            wide = ttnn.add(ttnn.zeros_like(before), bias)
            before_grad, bias_grad = ttnn.add_bw(grad, before, wide)
            found.append((self._product(x, before_grad, transpose_a=True), ttnn.sum(bias_grad, dim=0, keepdim=True)))
            grad = self._product(before_grad, weight, transpose_b=True)
        return [self._summed(pair) for pair in reversed(found)]

    def _summed(self, pair):
        if self.device.get_num_devices() == 1:
            return pair
        return tuple(ttnn.reshape(ttnn.all_reduce(ttnn.unsqueeze_to_4D(grad)), list(grad.shape)) for grad in pair)

    def step(self, x, wanted, count):
        """One step of gradient descent."""
        self.forward(x)
        for layer, grads in zip(self.layers, self.gradients(wanted, count)):
            layer[:] = [ttnn.subtract(old, ttnn.multiply(grad, RATE)) for old, grad in zip(layer, grads)]


def one_hot(labels):
    return array.array("f", (float(label == i) for label in labels for i in range(CLASSES)))


def _gathered(tensor):
    """Rows of all chips."""
    return [row for part in ttnn.get_device_tensors(tensor) for row in part.cpu().to_list()]


def accuracy(chances, labels):
    return sum(row.index(max(row)) == label for row, label in zip(chances, labels)) / len(labels)


def evaluate(device, seed=0):
    """The correlation of all probabilities."""
    weights = Weights(device, seed=seed)
    values, _ = digits(BATCH, seed)
    found = _gathered(Mnist(weights)(values))
    if not machine.compares():
        return None
    return correlation(expected(weights, values), found)


def _torch_gradients(weights, values, labels):
    import torch

    x = torch.frombuffer(values, dtype=torch.float32).reshape(-1, SIZES[0])
    made = []
    for i, shape in enumerate(zip(SIZES, SIZES[1:])):
        pair = [weights.host(f"{i}.weight", shape), weights.host(f"{i}.bias", (1, shape[1]), spread=0.1)]
        made.append([t.requires_grad_() for t in pair])
        x = (x @ made[-1][0] + made[-1][1]).relu()
    torch.nn.functional.cross_entropy(x, torch.tensor(labels)).backward()
    return [[t.grad for t in pair] for pair in made]


def train(device, seed=0):
    """(smallest correlation of a gradient with torch's or None, accuracy before, after)."""
    weights = Weights(device, seed=seed)
    trainer = Trainer(weights)
    values, labels = digits(BATCH, seed)
    x, wanted = trainer.put(values, (BATCH, SIZES[0])), trainer.put(one_hot(labels), (BATCH, CLASSES))
    before = accuracy(_gathered(trainer.forward(x)), labels)
    worst = None
    if weights.torch:
        theirs = _torch_gradients(weights, values, labels)
        ours = trainer.gradients(wanted, BATCH)
        both = [pair for a, b in zip(theirs, ours) for pair in zip(a, b)]
        worst = min(correlation(t, ttnn.to_torch(ttnn.get_device_tensors(o)[0]).float()) for t, o in both)
    for _ in range(STEPS):
        trainer.step(x, wanted, BATCH)
    return worst, before, accuracy(_gathered(trainer.forward(x)), labels)


def dry(device, seed=0):
    weights = Weights(device, seed=seed)
    network, (values, _) = Mnist(weights), digits(BATCH, seed)
    with machine.Dry() as run:
        network(values)
    return run


def run_eval(device, say=print):
    return machine.demo(device, "MNIST", BOUND, lambda: evaluate(device), lambda: dry(device), say)


def run_train(device, say=print):
    if not machine.passes(device, say)[0]:
        return
    started = time.monotonic()
    worst, before, after = train(device)
    told = "" if worst is None else f"gradients have correlation {worst:.5f} at least, "
    say(f"MNIST: {told}accuracy {before:.2f} before and {after:.2f} after {STEPS} steps, {time.monotonic() - started:.2f} s")
    assert worst is None or worst >= BOUND, f"MNIST: a gradient has correlation {worst}, below {BOUND}"
    assert after >= WANTED > before, f"MNIST: accuracy {before} before, {after} after"


# ---- one operation at a time, each in a process of its own ----------------------------------------------


def _wide():
    """Operations as a model has them: (name, function of input and layers)."""
    steps = []
    for i in range(len(SIZES) - 1):
        steps.append((f"linear_{i}", lambda x, w, i=i: ttnn.linear(x, w[i][0], bias=w[i][1])))
        steps.append((f"relu_{i}", lambda x, w: ttnn.relu(x)))
    return steps + [("softmax", lambda x, w: ttnn.softmax(x))]


def _narrow():
    """The same as a compiler splits them."""
    steps = []
    for i in range(len(SIZES) - 1):
        steps.append((f"dot_general_{i}", lambda x, w, i=i: ttnn.matmul(x, w[i][0])))
        steps.append((f"add_{i}", lambda x, w, i=i: ttnn.add(x, w[i][1])))
        steps.append((f"maximum_{i}", lambda x, w: ttnn.maximum(x, ttnn.zeros_like(x))))
    return steps + [
        ("subtract", lambda x, w: ttnn.subtract(x, ttnn.max(x, dim=-1, keepdim=True))),
        ("exponential", lambda x, w: ttnn.exp(x)),
        ("divide", lambda x, w: ttnn.divide(x, ttnn.sum(x, dim=-1, keepdim=True))),
    ]


KINDS = {"op_by_op_torch": _wide, "op_by_op_shlo": _narrow}


def one(kind, number, seed=0):
    """Runs operation `number` in bfloat16 on what float32 gives it; (its name, the correlation)."""
    with machine.opened("n150") as device:
        weights = Weights(device, seed=seed, torch=False)
        layers = {}
        for dtype in (ttnn.float32, ttnn.bfloat16):
            layers[dtype] = [
                (weights.make(f"{i}.weight", shape, dtype), weights.make(f"{i}.bias", (1, shape[1]), dtype, spread=0.1))
                for i, shape in enumerate(zip(SIZES, SIZES[1:]))
            ]
        values, _ = digits(BATCH, seed)
        x = ttnn.from_torch(_host(values, (BATCH, SIZES[0])), dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
        steps = KINDS[kind]()
        for _, function in steps[:number]:
            x = function(x, layers[ttnn.float32])
        name, function = steps[number]
        wanted = function(x, layers[ttnn.float32])
        found = function(ttnn.typecast(x, ttnn.bfloat16), layers[ttnn.bfloat16])
        return name, correlation(wanted.to_list(), found.to_list())


def op_by_op(kind, say=print):
    """Every operation in its own process, one after the other."""
    for number, (name, _) in enumerate(KINDS[kind]()):
        command = [sys.executable, "-m", "ttnn_models.mnist", kind, str(number)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"{name}: {done.stderr}"
        say(done.stdout.strip())


if __name__ == "__main__":
    _name, _found = one(sys.argv[1], int(sys.argv[2]))
    print(f"{_name}: correlation {_found:.5f} (at least {BOUND})")
    sys.exit(_found < BOUND)
