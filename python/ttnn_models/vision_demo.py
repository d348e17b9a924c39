"""What gemma's vision_demo.py runs: a picture and a question. A layer of each kind is computed, then the tower and the
decoder run whole without dispatch."""

import argparse
import os
import time

import ttnn

from ttnn_models import machine, rows, text_demo, vision
from ttnn_models.decoder import TILE, Decoder, precision
from ttnn_models.source import Source
from ttnn_models.weights import Weights

NAME = "google/gemma-3-27b-it"
BEFORE, AFTER = 32, 224  # words before and behind the picture
L1_SMALL = 24576


def dry(row, device, types, layers=None, vision_layers=None):
    """Picture and question, then two words of the answer."""
    with machine.Dry() as run:
        weights = Weights(device, dry=True)
        tower = vision.Tower(row.tower, weights, row.width, vision_layers)
        decoder = Decoder(row, weights, Source(row, weights), types=types, layers=layers)
        seen = tower(tower.given())
        words = [decoder.embed(weights.whole_numbers(None, (1, 1, 1, count), ttnn.uint32)) for count in (BEFORE, AFTER)]
        x = ttnn.concat([words[0], seen, words[1]], dim=2)
        length = x.shape[2]
        decoder.prefill_embedded(x, weights.whole_numbers(None, (1, length // decoder.block)), length - 1)
        step = decoder.step([length], [range(decoder.blocks)])
        for _ in range(2):
            decoder.sample(decoder.decode(weights.whole_numbers(None, (1, 1, 1, TILE), ttnn.uint32), step), step)
    return run


def _check_count(row, device, types, whole):
    """Operations of all layers and of what is around them make the whole."""
    count = lambda *layers: len(dry(row, device, types, *layers).operations())
    ends = count([], 0)
    seeing = count([], 1) - ends
    each = {row.is_local(number): count([number], 0) - ends for number in row.kinds()}
    found = ends + row.tower.layers * seeing + sum(each[row.is_local(n)] for n in range(row.layers))
    assert found == whole, f"the layers and their ends have {found} operations, the whole has {whole}"
    return seeing, max(each.values())


def _tell_dry(row, device, types, say):
    whole = dry(row, device, types)
    operations = len(whole.operations())
    seeing, each = _check_count(row, device, types, operations)
    say(
        f"  without dispatch: {operations} operations, {seeing} of each of {row.tower.layers} vision layers, {each} of each of "
        f"{row.layers} layers, {whole.seconds:.2f} s"
    )


def run(name=None, layers=None, say=print):
    name, row, _ = rows.find(name or os.environ.get("HF_MODEL") or NAME)
    if row.tower is None or not row.tower.pooled:
        raise ValueError(f"{name} takes no pictures between its words")
    types = precision(row, "performance")
    count, rule = machine.plan(name, row.weights(), row.layers, layers)
    say(rule)
    found = {}
    with machine.opened(row.machine, divides=row.kv_heads, l1_small_size=L1_SMALL) as device:
        may_compute, may_dry = machine.passes(device, say)
        started = time.monotonic()
        numbers = row.kinds() if layers is None else range(count)
        for number in numbers if may_compute else ():
            found.update(text_demo.compute_layer(row, device, number, types))
        if may_compute and count and machine.has_torch():
            found.update(vision.compute_layers(row.tower, device))
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
