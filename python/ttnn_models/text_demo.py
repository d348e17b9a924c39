"""What simple_text_demo.py runs: a decoder computed as far as the machine allows, then whole without dispatch."""

import array
import dataclasses
import random
import time

import ttnn

from ttnn_models import machine, rows
from ttnn_models.decoder import TILE, Decoder, padded_length, precision
from ttnn_models.reference import Reference, correlation
from ttnn_models.source import Source
from ttnn_models.weights import Weights

LAYER_BOUND = 0.99  # of one layer
WHOLE_BOUNDS = {"performance": 0.86, "accuracy": 0.94}  # of all layers
WARM = (128, 256, 512, 1024)  # prompts that are prepared before the first user comes


@dataclasses.dataclass(frozen=True)
class Variant:
    """A run of the demo; prompts are lengths in tokens, one for each padded length among its users."""

    name: str
    users: int
    most: int
    block: int
    blocks: int
    prompts: tuple


VARIANTS = {
    v.name: v
    for v in (
        Variant("batch-1", 1, 1024, 32, 1024, (145,)),
        Variant("batch-32", 32, 1024, 32, 1024, (145, 90)),
        Variant("long-context-64k", 1, 128 * 1024, 64, 2048, (60720,)),
        Variant("long-context-32k", 1, 64 * 1024, 64, 1024, (30290,)),
        Variant("long-context-16k", 1, 32 * 1024, 32, 1024, (16240,)),
        Variant("reasoning-1", 1, 16 * 1024, 32, 1024, (60,)),
        Variant("ci-1", 1, 8192, 32, 1024, (145,)),
        Variant("ci-32", 32, 2000, 64, 1024, (145, 90)),
    )
}


@dataclasses.dataclass
class Result:
    """What a run found: correlations by what was compared, operations of the dry run, costs."""

    rule: str
    correlations: dict
    operations: int = 0
    per_layer: int = 0
    real_seconds: float = 0.0
    dry_seconds: float = 0.0
    peak_bytes: int = 0
    tokens: tuple = ()


def _rows_of(tensor, torch):
    """The widths of all chips side by side: a torch tensor, or lists of rows."""
    parts = [ttnn.to_layout(t.cpu(), ttnn.ROW_MAJOR_LAYOUT) for t in ttnn.get_device_tensors(tensor)]
    if torch:
        import torch

        return torch.cat([ttnn.to_torch(p).float() for p in parts], dim=-1)[0, 0]
    return [sum(pieces, []) for pieces in zip(*(p.to_list()[0][0] for p in parts))]


class Trial:
    """Some layers without ends, a random prompt and the token behind it."""

    def __init__(self, row, device, types, layers, folder=None, length=128, seed=0):
        self.weights = weights = Weights(device, folder=folder, seed=seed)
        self.row = row if weights.torch else dataclasses.replace(row, inner=row.padded)  # without zeros behind it
        self.source, self.length, self.blocks = Source(self.row, weights), length, length // 32 + 1
        self.decoder = Decoder(
            self.row, weights, self.source, layers=layers, ends=False, types=types, most=2 * length, blocks=self.blocks
        )
        numbers = random.Random(seed)
        self.values = array.array("f", (numbers.gauss(0.0, 1.0) for _ in range((length + 1) * row.width)))

    def on_host(self, begin, end, rows=None):
        """Rows of the sequence, with zeros up to so many."""
        width = self.row.width
        values = self.values[begin * width : end * width]
        rows = rows or end - begin
        return self.source.on_host(values + array.array("f", bytes(4 * (rows * width - len(values)))), (rows, width))

    def passed(self, prefill, decode):
        """(rows of the prompt, the row of the token): each is called with rows on the chips."""
        width, length, put = self.row.width, self.length, self.weights.put
        prompt = _rows_of(prefill(put(self.on_host(0, length), (1, 1, length, width), split=3)), self.weights.torch)
        last = put(self.on_host(length, length + 1, TILE), (1, 1, TILE, width), split=3)
        out = decode(ttnn.to_memory_config(last, self.decoder.layout.residual))
        return prompt, _rows_of(ttnn.to_memory_config(out, ttnn.DRAM_MEMORY_CONFIG), self.weights.torch)[:1]

    def compared(self, name, found, expected):
        """{what: correlation}; `expected` are all rows, on the host."""
        expected = expected if self.weights.torch else expected.to_list()
        pairs = {"prompt": expected[: self.length], "next token": expected[self.length :]}
        return {f"{name}, {what}": correlation(rows, ours) for (what, rows), ours in zip(pairs.items(), found)}


def compute_layer(row, device, number, types, folder=None, picture=None):
    """{what: correlation} of one layer on a prompt and on the token behind it, against float32. `picture` is the begin and
    the end of a picture in the prompt."""
    trial = Trial(row, device, types, [number], folder)
    decoder, blocks = trial.decoder, trial.blocks
    pages = trial.weights.whole_numbers(range(blocks), (1, blocks))
    found = trial.passed(
        lambda x: decoder.prefill_layers(x, pages, trial.length, picture),
        lambda x: decoder.decode_layers(x, decoder.step([trial.length], [list(range(blocks))])),
    )
    if not machine.compares():
        return {}
    expected = Reference(trial.row, trial.source, picture).layers(trial.on_host(0, trial.length + 1), [number])
    return trial.compared(f"layer {number}, a picture" if picture else f"layer {number}", found, expected)


def _logits(tensor, row, index):
    """One user's logits, of all chips."""
    import torch

    parts = [ttnn.to_torch(t.cpu()).float() for t in ttnn.get_device_tensors(tensor)]
    return torch.cat(parts, dim=-1)[0, 0, index, : row.vocabulary]


def compute_whole(row, device, types, folder=None, steps=3, length=128, seed=0):
    """({what: correlation}, tokens): a prompt and some greedy steps, against torch in float32."""
    weights = Weights(device, folder=folder, seed=seed)
    source = Source(row, weights)
    decoder = Decoder(row, weights, source, types=types, most=1024, blocks=32)
    tokens = [random.Random(seed).randrange(row.vocabulary) for _ in range(length - 3)]
    padded = padded_length(len(tokens))
    filled = -(-len(tokens) // decoder.block)
    prompt = weights.whole_numbers(tokens + [0] * (padded - len(tokens)), (1, 1, 1, padded), ttnn.uint32)
    logits = decoder.prefill(prompt, weights.whole_numbers(range(filled), (1, filled)), len(tokens) - 1)
    found = [_logits(logits, row, (len(tokens) - 1) % TILE)]
    for _ in range(steps):
        tokens.append(int(found[-1].argmax()))
        step = decoder.step([len(tokens) - 1], [list(range(32))])
        given = weights.whole_numbers([tokens[-1]] + [0] * 31, (1, 1, 1, TILE), ttnn.uint32)
        found.append(_logits(decoder.decode(given, step), row, 0))
    expected = Reference(row, source).logits(tokens)[-steps - 1 :]
    names = ["prompt"] + [f"token {i + 1}" for i in range(steps)]
    return {n: correlation(e, f) for n, e, f in zip(names, expected, found)}, tuple(tokens[-steps:])


def _dry_passes(decoder, weights, variant):
    """Operations of the prompts and of two steps."""
    def prefill(tokens):
        length = padded_length(tokens)
        pages = weights.whole_numbers(None, (1, -(-tokens // variant.block)))
        decoder.prefill(weights.whole_numbers(None, (1, 1, 1, length), ttnn.uint32), pages, tokens - 1)

    for tokens in WARM:
        prefill(tokens)
    decoder.clear_caches()
    for tokens in variant.prompts:
        prefill(tokens)
    pages = variant.blocks // variant.users
    step = decoder.step([0] * variant.users, [range(pages)] * variant.users)
    given = weights.whole_numbers(None, (1, 1, 1, TILE), ttnn.uint32)
    for _ in range(2):
        decoder.sample(decoder.decode(given, step), step)


def dry(row, device, types, variant, layers=None):
    """The whole model without dispatch."""
    with machine.Dry() as run:
        weights = Weights(device, dry=True)
        decoder = Decoder(
            row, weights, Source(row, weights), types=types, users=variant.users, most=variant.most,
            block=variant.block, blocks=variant.blocks, layers=layers,
        )
        _dry_passes(decoder, weights, variant)
    return run


def operations_per_layer(row, device, types, variant):
    """How many operations each layer adds to a run: the difference of one layer and none."""
    none = len(dry(row, device, types, variant, []).operations())
    counts = {row.is_local(n): len(dry(row, device, types, variant, [n]).operations()) - none for n in row.kinds()}
    return none, [counts[row.is_local(n)] for n in range(row.layers)]


def run(variant="batch-1", optimizations="performance", name=None, layers=None, compute=True, say=print):
    """One variant of the demo. Only the first variant is computed; all are run without dispatch."""
    name, row, folder = rows.find(name)
    variant = VARIANTS[variant]
    types = precision(row, optimizations)
    count, rule = machine.plan(name, row.weights(), row.layers, layers)
    if count is None and optimizations != "performance":
        count, rule = 1, f"{name}: {row.layers} layers; \"performance\" is computed whole, here one layer of each kind"
    compute = compute and variant.name == "batch-1"
    say(rule if compute else f"{name}: {row.layers} layers without dispatch")
    if variant.users > 1:
        say(f"of {variant.users} prompts {len(variant.prompts)} are run: the others have the same lengths on the chips")
    result = Result(rule, {})
    with machine.opened(row.machine, divides=row.kv_heads) as device:
        may_compute, may_dry = machine.passes(device, say)
        compute = compute and may_compute
        started = time.monotonic()
        if compute and count is None:
            result.correlations, result.tokens = compute_whole(row, device, types, folder)
        elif compute and count:
            numbers = row.kinds() if layers is None else range(count)
            for number in numbers:
                result.correlations.update(compute_layer(row, device, number, types, folder))
        result.real_seconds = time.monotonic() - started
        if may_dry:
            _count_dry(result, row, device, types, variant)
    result.peak_bytes = machine.peak_memory()
    bound = WHOLE_BOUNDS[optimizations] if compute and count is None else LAYER_BOUND
    _tell(result, name, variant, device, bound, say)
    return result


def _count_dry(result, row, device, types, variant):
    whole = dry(row, device, types, variant)
    result.operations, result.dry_seconds = len(whole.operations()), whole.seconds
    ends, each = operations_per_layer(row, device, types, variant)
    result.per_layer = max(each)
    if ends + sum(each) != result.operations:
        raise AssertionError(f"{len(each)} layers have {sum(each)} operations and the ends {ends}, the whole has {result.operations}")


def _tell(result, name, variant, device, bound, say):
    for what, value in result.correlations.items():
        say(f"  {what}: correlation {value:.5f} (at least {bound})")
    say(
        f"  {variant.name} without dispatch: {result.operations} operations, {result.per_layer} of each layer, "
        f"{result.dry_seconds:.2f} s; computed in {result.real_seconds:.1f} s; {result.peak_bytes / 1e6:.0f} MB at most"
    )
    low = {what: value for what, value in result.correlations.items() if not value >= bound}
    assert not low, f"{name}: correlations below {bound}: {low}"
