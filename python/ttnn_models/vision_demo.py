"""What vision demos run: a picture and a question. A layer of each kind is computed, then the tower and the decoder run
whole without dispatch. Gemma has a picture between the words, Llama beside them, for layers of their own."""

import argparse
import array
import dataclasses
import os
import random
import time

import ttnn

from ttnn_models import cross, machine, rows, text_demo, vision
from ttnn_models.decoder import TILE, Decoder, precision
from ttnn_models.reference import Reference
from ttnn_models.source import Source
from ttnn_models.weights import Weights

NAME = "google/gemma-3-27b-it"
BEFORE, AFTER = 32, 224  # words before and behind the picture
L1_SMALL = 24576


@dataclasses.dataclass(frozen=True)
class Part:
    """How many layers of each kind are run; of the decoder these numbers."""

    layers: tuple
    vision: int = 0
    behind: int = 0  # gated ones of the tower
    cross: int = 0


def whole(row):
    return Part(tuple(range(row.layers)), row.tower.layers, row.tower.global_layers, len(row.cross))


def _between(decoder, seen):
    """The picture's rows between those of the words: (rows, where the picture is)."""
    words = [decoder.embed(decoder.weights.whole_numbers(None, (1, 1, 1, count), ttnn.uint32)) for count in (BEFORE, AFTER)]
    x = ttnn.concat([words[0], seen, words[1]], dim=2)
    return x, dict(picture=(BEFORE, BEFORE + seen.shape[2]))


def _beside(decoder, seen, sizes, count):
    """The words alone; layers of their own see the picture."""
    seen = decoder.links.gather(seen, ttnn.DRAM_MEMORY_CONFIG)
    decoder.cross = {place: cross.Layer(decoder, i, seen.shape[2]) for i, place in enumerate(decoder.row.cross[:count])}
    length = BEFORE + AFTER
    x = decoder.embed(decoder.weights.whole_numbers(None, (1, 1, 1, length), ttnn.uint32))
    shown = sizes.patches + sizes.tower.class_token
    return x, dict(seen=cross.Seen(decoder, seen, shown, sizes.rows // sizes.tower.tiles, BEFORE, length))


def dry(row, device, types, part=None):
    """Picture and question, then two words of the answer."""
    part = part or whole(row)
    with machine.Dry() as run:
        weights = Weights(device, dry=True)
        tower = vision.Tower(row.tower, weights, row.width, part.vision, part.behind)
        decoder = Decoder(row, weights, Source(row, weights), types=types, layers=part.layers)
        seen = tower(tower.given())
        x, picture = _beside(decoder, seen, tower.sizes, part.cross) if row.cross else _between(decoder, seen)
        length = x.shape[2]
        decoder.prefill_embedded(x, weights.whole_numbers(None, (1, length // decoder.block)), length - 1, **picture)
        step = decoder.step([length], [range(decoder.blocks)])
        given = weights.whole_numbers(None, (1, 1, 1, TILE), ttnn.uint32)
        for _ in range(2):
            decoder.sample(decoder.decode(given, step, picture.get("seen")), step)
    return run


def _counts(row, device, types):
    """(operations of the ends, [(what, how many there are, operations of each)])."""
    count = lambda part: len(dry(row, device, types, part).operations())
    ends = count(Part(()))
    each = lambda **more: count(Part((), **more)) - ends
    kinds = {row.is_local(number): count(Part((number,))) - ends for number in row.kinds()}
    number = lambda local: sum(row.is_local(n) == local for n in range(row.layers))
    found = [("layers with a window" if local else "layers", number(local), operations) for local, operations in kinds.items()]
    found.append(("vision layers", row.tower.layers, each(vision=1)))
    if row.tower.global_layers:
        found.append(("gated vision layers", row.tower.global_layers, each(behind=1)))
    if row.cross:
        place = row.cross[0]
        alone = count(Part((place,), cross=1)) - ends - kinds[row.is_local(place)]
        found.append(("layers that see the picture", len(row.cross), alone))
    return ends + vision.kept_operations(row.tower), found


def _tell_dry(row, device, types, say):
    """Operations of all layers and of what is around them make the whole."""
    run = dry(row, device, types)
    operations = len(run.operations())
    ends, parts = _counts(row, device, types)
    found = ends + sum(number * each for _, number, each in parts)
    assert found == operations, f"the layers and their ends have {found} operations, the whole has {operations}"
    told = ", ".join(f"{each} of each of {number} {what}" for what, number, each in parts)
    say(f"  without dispatch: {operations} operations, {told}, {run.seconds:.2f} s")


def compute_cross(row, device, types, part=64, parts=2, shown=40, begin=32):
    """{what: correlation} of a layer that sees a picture, on a prompt and on the token behind it. The picture has some tiles
    with rows that do not count behind those that do."""
    trial = text_demo.Trial(row, device, types, [])
    layer = cross.Layer(trial.decoder, 0, part * parts)
    weights, width = trial.weights, row.width
    numbers = random.Random(1)
    values = array.array("f", (numbers.gauss(0.0, 1.0) for _ in range(part * parts * width)))
    picture = weights.put(trial.source.on_host(values, (part * parts, width)), (1, 1, part * parts, width))
    seen = cross.Seen(trial.decoder, picture, shown, part, begin, trial.length)
    found = trial.passed(lambda x: layer(x, seen, False), lambda x: layer(x, seen, True))
    if not machine.compares():
        return {}
    truth = Reference(trial.row, trial.source)
    counted = array.array("f")
    for tile in range(parts):
        counted += values[tile * part * width : (tile * part + shown) * width]
    picture = truth.f.take(trial.source.on_host(counted, (shown * parts, width)))
    expected = cross.reference(truth, truth.f.take(trial.on_host(0, trial.length + 1)), picture, 0, begin)
    return trial.compared("layer that sees a picture", found, truth.f.give(expected))


def _compute(row, device, types, numbers, tower):
    """Correlations of these layers, and of one of each other kind if `tower`."""
    found = {}
    for number in numbers:
        picture = None if row.cross else (32, 96)
        found.update(text_demo.compute_layer(row, device, number, types, picture=picture))
    if tower and row.cross:
        found.update(compute_cross(row, device, types))
    if tower:
        found.update(vision.compute_layers(row.tower, device))
    return found


def run(name=None, layers=None, say=print):
    name, row, _ = rows.find(name or os.environ.get("HF_MODEL") or NAME)
    if row.tower is None:
        raise ValueError(f"{name} takes no pictures")
    types = precision(row, "performance")
    count, rule = machine.plan(name, row.weights(), row.layers, layers)
    say(rule)
    found = {}
    with machine.opened(row.machine, divides=row.kv_heads, l1_small_size=L1_SMALL) as device:
        may_compute, may_dry = machine.passes(device, say)
        started = time.monotonic()
        if may_compute:
            found = _compute(row, device, types, row.kinds() if layers is None else range(count), count)
        seconds = time.monotonic() - started
        if may_dry:
            _tell_dry(row, device, types, say)
    for what, value in found.items():
        say(f"  {what}: correlation {value:.5f} (at least {text_demo.LAYER_BOUND})")
    say(f"  computed in {seconds:.1f} s; {machine.peak_memory() / 1e6:.0f} MB at most")
    low = {what: value for what, value in found.items() if not value >= text_demo.LAYER_BOUND}
    assert not low, f"{name}: correlations below {text_demo.LAYER_BOUND}: {low}"
    return found


def main():
    parser = argparse.ArgumentParser(description="a picture and a question, for the model that HF_MODEL names")
    parser.add_argument("--layers", type=int, help="compute so many layers")
    options, _ = parser.parse_known_args()
    run(layers=options.layers)
