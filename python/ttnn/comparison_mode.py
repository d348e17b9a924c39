"""Comparison mode: every operation beside its golden function, while CONFIG.enable_comparison_mode is on.

Locally the golden function is given what the operation was given; globally what golden functions before it gave, so that
errors add up as they do in a whole model. The correlation must reach CONFIG.comparison_mode_pcc; if it does not, that is
logged, or a RuntimeError with CONFIG.comparison_mode_should_raise_exception. Needs torch.
"""

import itertools
import logging
import math
import weakref

from ttnn import _ttnn, comparison_records
from ttnn.decorators import with_tensors

_log = logging.getLogger("ttnn")
_goldens = {}  # number of a tensor: what golden functions make of it, as long as the tensor lives
_numbers = itertools.count(1 << 40)  # of golden tensors in records: beyond those of tensors, and exact as a double


class _Skipped(Exception):
    """There is nothing to compare, and this is why."""


def forget():
    """The mode is off: later comparisons begin anew."""
    _goldens.clear()


def _torch(tensor):
    import ttnn

    if not tensor.is_allocated():
        raise _Skipped("a tensor was deallocated")
    if len(tensor._parts()) > 1:
        raise _Skipped("a tensor is on several devices")
    try:
        return ttnn.to_torch(tensor).clone()
    except RuntimeError as error:  # while a trace is captured nothing is read
        raise _Skipped(str(error)) from error


def _known(tensor):
    golden = _goldens.get(tensor.tensor_id)
    return _torch(tensor) if golden is None else golden


def _listed(outputs):
    import torch

    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    tensors = (_ttnn.tensor.Tensor, torch.Tensor)
    return [tensor for tensor in outputs if isinstance(tensor, tensors)]


def _prepared(operation, args, kwargs):
    """What golden functions are given, of both levels; taken before the call, which may overwrite it."""
    levels, own = {}, getattr(operation, "preprocess_golden_function_inputs", None)
    for level, convert in (("locally", _torch), ("globally", _known)):
        try:
            if own is not None and level == "locally":
                levels[level] = own(args, kwargs)
            else:
                levels[level] = with_tensors((args, kwargs), convert)
        except _Skipped as why:
            _log.debug("%s is not compared %s: %s", operation.name, level, why)
        except Exception as error:  # what prepares the inputs may be anyone's
            _failed(operation, level, "what prepares its inputs", error)
    return levels


def _failed(operation, level, what, error):
    """Something of a golden function raised an error: so does the call, or it goes on without a comparison."""
    import ttnn

    if ttnn.CONFIG.comparison_mode_should_raise_exception:
        raise error
    _log.warning("%s is not compared %s: %s failed: %s", operation.name, level, what, error)


def _alike(golden, output):
    """The correlation; tensors that differ in dimensions of 1 only are alike in shape."""
    from ttnn import testing

    shapes = [[extent for extent in tensor.shape if extent != 1] for tensor in (golden, output)]
    if shapes[0] != shapes[1]:
        raise RuntimeError(f"shape is {list(output.shape)} but should be {list(golden.shape)}")
    if math.prod(golden.shape) == 0:
        return 1.0
    return testing.comp_pcc(golden.reshape(output.shape), output)[1]


def _number(golden):
    """A number for a golden tensor, by which records know it."""
    golden.tensor_id = next(_numbers)
    return {
        "tensor_id": golden.tensor_id,
        "shape": str(golden.shape),
        "dtype": str(golden.dtype),
        "layout": str(golden.layout),
    }


def _judge(operation, level, golden, output, values, index):
    """The record of one output."""
    import ttnn

    config = ttnn.CONFIG
    what = f"{operation.name}: Comparing output tensor {index} against CPU {level} failed: "
    try:
        found = _alike(golden, values)
        good, why = found >= config.comparison_mode_pcc, f"pcc is {found} but should be >={config.comparison_mode_pcc}"
    except RuntimeError as error:
        found, good, why = 0.0, False, str(error)
    if not good:
        if config.comparison_mode_should_raise_exception:
            raise RuntimeError(what + why)
        _log.error("%s%s", what, why)
    return {
        "tensor_id": int(output.tensor_id),
        "golden_tensor_id": golden.tensor_id,
        "matches": good,
        "desired_pcc": float(config.comparison_mode_pcc),
        "actual_pcc": float(found),
    }


def _remember(output, golden):
    number = output.tensor_id
    _goldens[number] = golden
    weakref.finalize(output, _goldens.pop, number, None)


def _place(tensor):
    """Where the values of a tensor are, which several tensors may share."""
    if tensor.storage_type() != _ttnn.tensor.StorageType.DEVICE or not tensor.is_allocated():
        return None
    return id(tensor.device()), tensor.memory_config().buffer_type, tensor.buffer_address()


def _renew(given, outputs):
    """What golden functions made of a tensor that was written to is what they made of the output in its place, if anything."""
    places = {_place(output): output for output in outputs}
    for tensor in given:
        place = _place(tensor)
        output = None if place is None else places.get(place)
        if output is None or output is tensor or output.shape != tensor.shape:  # of another shape it is a view
            continue
        if (golden := _goldens.get(output.tensor_id)) is None:
            _goldens.pop(tensor.tensor_id, None)
        else:
            _remember(tensor, golden)


def _compare(operation, level, given, outputs):
    import ttnn

    try:
        goldens = [
            _torch(golden) if isinstance(golden, _ttnn.tensor.Tensor) else golden
            for golden in _listed(ttnn.get_golden_function(operation)(*given[0], **given[1]))
        ]
        values = [_torch(output) for output in outputs]
    except _Skipped as why:
        _log.debug("%s is not compared %s: %s", operation.name, level, why)
        return
    except Exception as error:  # a golden function may be anyone's
        _failed(operation, level, "its golden function", error)
        return
    tensors = [_number(golden) for golden in goldens]
    if level == "globally":
        for output, golden in zip(outputs, goldens):
            _remember(output, golden)
    records = [_judge(operation, level, *each, i) for i, each in enumerate(zip(goldens, outputs, values))]
    where = "local_tensor_comparison_records" if level == "locally" else "global_tensor_comparison_records"
    comparison_records.record_tensor_comparison_data(tensors=tensors, **{where: records})


def run(operation, args, kwargs, quietly):
    """Calls an operation and compares what it gives. quietly(function, …) calls without hooks."""
    import ttnn

    if ttnn.graph.is_dry():
        return operation.run(*args, **kwargs)
    given = []
    with_tensors((args, kwargs), given.append)
    known = getattr(operation, "golden_function", None) is not None
    levels = quietly(_prepared, operation, args, kwargs) if known else {}
    output = operation.run(*args, **kwargs)
    outputs = [tensor for tensor in _listed(output) if isinstance(tensor, _ttnn.tensor.Tensor)]
    for level, inputs in levels.items():
        if outputs and all(tensor.is_allocated() and len(tensor._parts()) == 1 for tensor in outputs):
            quietly(_compare, operation, level, inputs, outputs)
    if output is None:  # it wrote to what it was given, if anything
        for tensor in given:
            _goldens.pop(tensor.tensor_id, None)
    _renew(given, outputs)
    return output
