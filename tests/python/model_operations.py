"""Operations of our models beside recordings of upstream's own, with the released ttnn on one chip: `python model_operations.py`.

The recordings are in tests/data/master/calls, a call a line. A layer is what lies between one norm and the norm two further on.
"""

import collections
import difflib
import gzip
import json
import pathlib

CALLS = pathlib.Path(__file__).parents[1] / "data/master/calls"


def recorded(name):
    lines = gzip.decompress((CALLS / f"{name}.jsonl.gz").read_bytes()).splitlines()
    return [json.loads(line)["record"]["operation_name"].removeprefix("ttnn.") for line in lines]


def of_run(run):
    """What a dry run called, in the words of a recording; weights are allocated only there."""
    names = [name.removeprefix("ttnn::").replace("::", ".") for name in run.operations()]
    return [name for name in names if name != "empty"]


def layer(operations, norm, first, before=0):
    """The operations of a layer: from the norm of this number, or from so many operations before it."""
    places = [i for i, name in enumerate(operations) if name == norm]
    return operations[places[first] - before : places[first + 2] - before]


def differences(theirs, ours):
    """([what only they call], [what only we call]), in order."""
    only = [], []
    for kind, *ranges in difflib.SequenceMatcher(None, theirs, ours, autojunk=False).get_opcodes():
        if kind != "equal":
            only[0].extend(theirs[ranges[0] : ranges[1]])
            only[1].extend(ours[ranges[2] : ranges[3]])
    return only


def counted(theirs, ours):
    """({operation: how many more they call}, {operation: how many more we call}), wherever they are called."""
    a, b = collections.Counter(theirs), collections.Counter(ours)
    return dict(a - b), dict(b - a)


def _decoder():
    """(a prompt of 128 tokens, a step) of two layers of Llama-3.2-1B."""
    import ttnn
    from ttnn_models import machine, rows
    from ttnn_models.decoder import Decoder
    from ttnn_models.source import Source
    from ttnn_models.weights import Weights

    row = rows.ROWS[rows.DEFAULT]
    runs = []
    with machine.opened("n150") as device:
        for decoding in (False, True):
            with machine.Dry() as run:
                weights = Weights(device, dry=True)
                network = Decoder(row, weights, Source(row, weights), layers=[0, 1])
                step = network.step([128], [range(network.blocks)])
                if decoding:
                    network.decode(weights.whole_numbers(None, (1, 1, 1, 32), ttnn.uint32), step)
                else:
                    network.prefill(weights.whole_numbers(None, (1, 1, 1, 128), ttnn.uint32), weights.whole_numbers(None, (1, 4)), 127)
            runs.append(of_run(run))
    return runs


def decoder_layers():
    """{what: (their layer, our layer)} of Llama-3.2-1B."""
    both, steps = recorded("up_llama_1b_2layers"), recorded("up_llama_1b_decode")
    prompt, step = _decoder()
    return {
        "a layer of a prompt": (layer(both, "rms_norm", 0, 1), layer(prompt, "rms_norm", 0, 1)),
        "a layer of a step": (layer(both, "rms_norm", 5, 1), layer(step, "rms_norm", 0, 1)),
        "a layer of a step, of 16": (layer(steps, "rms_norm", 28, 1), layer(step, "rms_norm", 0, 1)),
    }


def sentence_bert_layer():
    """(their layer of sentence BERT, ours)."""
    from ttnn_models import machine, sentence_bert

    with machine.chip("n150") as device:
        ours = of_run(sentence_bert.dry(device))
    return layer(recorded("up_sentence_bert"), "layer_norm", 2, -1), layer(ours, "layer_norm", 2, -1)


def efficientnet():
    from ttnn_models import efficientnet, machine

    with machine.chip("n300", l1_small_size=efficientnet.L1_SMALL) as device:
        return recorded("up_efficientnetb0"), of_run(efficientnet.dry(device))


def mnist_network():
    from ttnn_models import machine, mnist

    with machine.opened("n150") as device:
        return recorded("up_mnist"), of_run(mnist.dry(device))


def main():
    pairs = decoder_layers() | {"a layer of sentence BERT": sentence_bert_layer()}
    for what, (theirs, ours) in pairs.items():
        there, here = differences(theirs, ours)
        print(f"{what}: {len(theirs)} there, {len(ours)} here\n  only there: {there}\n  only here: {here}")
    for what, (theirs, ours) in {"EfficientNet-B0": efficientnet(), "MNIST": mnist_network()}.items():
        there, here = counted(theirs, ours)
        print(f"{what}: {len(theirs)} there, {len(ours)} here\n  more there: {there}\n  more here: {here}")


if __name__ == "__main__":
    main()
