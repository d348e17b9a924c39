"""What the modules of traced operations run: a traced vector as the call that it was, any other one as a call with what it has."""

import re

import ttnn
from ttnn import _ttnn, sweeps
from ttnn.testing import check_with_pcc

# ---- traced vectors


def row_key(names, values):
    """Equal parameters, equal text."""
    return repr([(name, sweeps.encode(value)) for name, value in zip(names, values)])


class Traced:
    """The configurations of a loader's file, by the parameters that its suites have."""

    def __init__(self, loader):
        self.loader, self.found, self.replayer = loader, {}, None

    def numbers(self, name, vector):
        """The numbers of an operation's configurations that have these parameters."""
        if name not in self.found:
            configs = self.loader._open()
            parameters, numbers, _ = configs.suite(name, False) if configs else ({}, [], None)
            rows, columns = {}, []
            for names, listed in parameters.items():
                columns = names.split(",")
                for number, row in zip(numbers, listed):
                    rows.setdefault(row_key(columns, row), []).append(number)
            self.found[name] = columns, rows
        columns, rows = self.found[name]
        return rows.get(row_key(columns, [vector.get(column) for column in columns]), []) if columns else []

    def run(self, name, numbers, device):
        """All of them: what has the same parameters may differ in other arguments."""
        if self.replayer is None:
            self.replayer = _ttnn.sweep.Replayer(self.loader.master_file_path)
        results = [self.replayer.run(name, number, device) for number in numbers]
        worst = min(results, key=lambda result: (result["passed"], result["pcc"]))
        how = "moved" if worst["moved"] else "stand-in" if worst["stood_in"] else "plain" if worst["judged"] else "unjudged"
        known = {key: worst[key] for key in ("operation", "pcc", "bound", "error", "notes") if worst[key] != ""}
        sweeps.tell(how=how, model=worst["source"] or None, **known)
        done = str(worst["pcc"]) if worst["judged"] else "it ran: there is no golden to compare with"
        message = done if worst["passed"] else worst["why"]
        return [(worst["passed"], message), sum(result["ns"] for result in results)]


# ---- other vectors

# Parameters that an operation calls otherwise; None: it has no such argument. For all operations, then for some.
NAMES = {"output_memory_config": "memory_config", "storage_type": None, "input_shape": None}
OWN_NAMES = {
    "transpose": {"dim0": "dim1", "dim1": "dim2"},
    "reshape": {"target_shape": "shape"},
    "typecast": {"output_dtype": "dtype"},
    "untilize_with_unpadding": {"end_shape": "output_tensor_end"},
    "tilize_with_val_padding": {"padded_shape": "output_tensor_shape"},
    "linear": {"weight_shape": None, "bias_shape": None, "has_bias": None},
    "nlp_create_qkv_heads": {"num_q_heads": "num_heads"},
}


def find_operation(name):
    """ "add", "ttnn::experimental::x": the operation."""
    parts = name.replace("::", ".").split(".")
    for place in (ttnn, ttnn.experimental, ttnn.transformer):
        found = place
        for part in parts if parts[0] != "ttnn" else parts[1:]:
            found = getattr(found, part, None)
        if found is not None:
            return found
    raise ValueError(f"there is no operation {name}")


def _shapes(vector):
    given = vector["input_shape"]
    return [list(shape) for shape in given.values()] if isinstance(given, dict) else [list(given)]


class Inputs:
    """Random tensors of a vector; what a second one lacks it has of the first."""

    def __init__(self, vector, device):
        self.vector, self.device = vector, device
        self.shapes = _shapes(vector) if "input_shape" in vector else []

    def _of(self, letter, what):
        return self.vector.get(f"input_{letter}_{what}") or self.vector.get(f"input_a_{what}")

    def tensor(self, number, shape=None, **other):
        letter = "abcdefgh"[number]
        shape = shape or (self.shapes[number] if number < len(self.shapes) else self.shapes[0])
        options = {what: self._of(letter, what) for what in ("dtype", "layout", "memory_config")}
        options.update(other)
        integers = "int" in str(options["dtype"]).lower()
        return ttnn.rand(shape, device=self.device, **options, **({"low": 0, "high": 100} if integers else {"low": -1.0, "high": 1.0}))


def _needed(operation):
    """How many tensors every call of it has."""
    head = operation.signatures[0].partition("(")[2]
    return max(1, len(re.findall(r"\w+: ttnn\.Tensor(?=[,)])", head)))


def _one_shard(shape):
    """The whole tensor on one core."""
    rows = 1
    for side in shape[:-1]:
        rows *= side
    core = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(0, 0))})
    spec = ttnn.ShardSpec(core, [-(-rows // 32) * 32, -(-shape[-1] // 32) * 32], ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)


def _general(name, operation, inputs):
    """Its tensors by position, its other parameters by the names of arguments."""
    vector, renamed = inputs.vector, {**NAMES, **OWN_NAMES.get(name, {})}
    known = set(re.findall(r"(\w+):", " ".join(operation.signatures)))
    keywords = {}
    for key, value in vector.items():
        argument = renamed.get(key, key)
        if argument in known and not re.fullmatch(r"input_[a-h]_\w+", key):
            keywords[argument] = value
    told = 1 + max(("abcdefgh".index(key[6]) for key in vector if re.match("input_[a-h]_", key)), default=0)
    tensors = [inputs.tensor(number) for number in range(max(_needed(operation), told, len(inputs.shapes)))]
    return tensors, keywords


def _concat(inputs):
    tensors = [inputs.tensor(number) for number in range(len(inputs.shapes))]
    return [tensors], {"dim": inputs.vector.get("dim", -1), "memory_config": inputs.vector["output_memory_config"]}


def _linear(inputs):
    vector = inputs.vector
    weight = inputs.tensor(1, list(vector["weight_shape"]))
    bias = inputs.tensor(1, list(vector["bias_shape"])) if vector.get("has_bias") and vector.get("bias_shape") else None
    return [inputs.tensor(0), weight], {"bias": bias, "memory_config": vector["output_memory_config"]}


def _conv2d(inputs):
    batch, out, channels, height, width, kh, kw, sh, sw, ph, pw, groups, dh, dw, bias = inputs.vector["input_specs"]
    rows = {"dtype": ttnn.bfloat16, "layout": ttnn.ROW_MAJOR_LAYOUT}
    image = ttnn.rand([1, 1, batch * height * width, channels], device=inputs.device, memory_config=ttnn.DRAM_MEMORY_CONFIG, **rows)
    weight = ttnn.from_device(ttnn.rand([out, channels // groups, kh, kw], device=inputs.device, **rows))
    sizes = {"batch_size": batch, "input_height": height, "input_width": width, "in_channels": channels, "out_channels": out}
    steps = {"kernel_size": [kh, kw], "stride": [sh, sw], "padding": [ph, pw], "dilation": [dh, dw], "groups": groups}
    offset = {"bias_tensor": ttnn.from_device(ttnn.rand([1, 1, 1, out], device=inputs.device, **rows))} if bias else {}
    return [], {"input_tensor": image, "weight_tensor": weight, "device": inputs.device, **sizes, **steps, **offset}


def _slice(inputs):
    """Its first half, along the last dimension."""
    shape = inputs.shapes[0]
    return [inputs.tensor(0), [0] * len(shape), [*shape[:-1], shape[-1] // 2], [1] * len(shape)], {}


def _rms_norm(inputs):
    weight = inputs.tensor(1, [1, 1, 1, inputs.shapes[0][-1]])
    return [inputs.tensor(0)], {"weight": weight, "memory_config": inputs.vector["output_memory_config"]}


def _to_sharded(inputs):
    return [inputs.tensor(0), _one_shard(inputs.shapes[0])], {}


def _to_interleaved(inputs):
    given = inputs.tensor(0, memory_config=_one_shard(inputs.shapes[0]))
    return [given], {"memory_config": inputs.vector["output_memory_config"]}


def _plus_one(inputs):
    return [inputs.tensor(0, dtype=ttnn.int32)], {}


def _rotary(inputs):
    turn = inputs.tensor(0, [1, 1, 32, 32])
    return [inputs.tensor(0), inputs.tensor(0), inputs.tensor(0), turn], {}


def _create_heads(inputs):
    """The vector's width is that of the queries; keys and values of as many heads lie beside them."""
    count, shape = inputs.vector["num_heads"], inputs.shapes[0]
    return [inputs.tensor(0, [*shape[:-1], 3 * shape[-1]])], {"num_heads": count, "num_kv_heads": count}


def _rows_on_cores(shape):
    """A shard of the last two dimensions for each of the others, on a row of cores."""
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(min(shape[1], 8) - 1, (shape[1] - 1) // 8))})
    spec = ttnn.ShardSpec(cores, [-(-shape[2] // 32) * 32, shape[3]], ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)


def _concat_heads_decode(inputs):
    """As many heads as users: [1, users, heads, width], a user on each core."""
    shape = [1, 8, *inputs.shapes[0][2:]]
    return [inputs.tensor(0, shape, memory_config=_rows_on_cores(shape))], {"num_heads": 8}


def _page_table(inputs, users, blocks):
    return ttnn.zeros([users, blocks], dtype=ttnn.int32, layout=ttnn.ROW_MAJOR_LAYOUT, device=inputs.device)


def _fill_cache(inputs):
    """One block of a cache, for one user."""
    return [inputs.tensor(0), inputs.tensor(0), _page_table(inputs, 1, 1)], {}


def _update_cache(inputs):
    """The first row of a cache of one user."""
    shape = inputs.shapes[0]
    given = inputs.tensor(0, shape, memory_config=_rows_on_cores(shape))
    return [inputs.tensor(0), given], {"update_idxs": [0]}


def _paged_attention(inputs):
    """One user whose keys and values are one block."""
    heads, width = inputs.shapes[0][1], inputs.shapes[0][3]
    cache = [inputs.tensor(0, [1, heads, 32, width]) for _ in "kv"]
    place = ttnn.zeros([1], dtype=ttnn.int32, layout=ttnn.ROW_MAJOR_LAYOUT, device=inputs.device)
    return [inputs.tensor(0, [1, 1, heads, width]), *cache, _page_table(inputs, 1, 1)], {"cur_pos_tensor": place}


# Operations whose calls need more than their vectors say. To add one: a row.
CALLS = {
    "concat": _concat,
    "conv2d": _conv2d,
    "interleaved_to_sharded": _to_sharded,
    "linear": _linear,
    "nlp_concat_heads_decode": _concat_heads_decode,
    "nlp_create_qkv_heads": _create_heads,
    "nlp_create_qkv_heads_decode": _create_heads,
    "paged_fill_cache": _fill_cache,
    "paged_scaled_dot_product_attention_decode": _paged_attention,
    "paged_update_cache": _update_cache,
    "plus_one": _plus_one,
    "rms_norm": _rms_norm,
    "rotary_embedding_llama": _rotary,
    "sharded_to_interleaved": _to_interleaved,
    "slice": _slice,
}


def _first(result):
    return result[0] if isinstance(result, (list, tuple)) else result


def run_untraced(name, vector, device):
    """A call with random tensors of the vector's specs, against its golden."""
    operation = find_operation(name)
    bare = name.replace("::", ".").rsplit(".", 1)[-1]
    inputs = Inputs(vector, device)
    tensors, keywords = CALLS[bare](inputs) if bare in CALLS else _general(bare, operation, inputs)
    expected = _first(operation.golden(*tensors, **keywords))  # before the call: some write into what they are given
    start = sweeps.start_measuring_time()
    result = _first(operation(*tensors, **keywords))
    spent = sweeps.stop_measuring_time(start)
    sweeps.tell(operation=operation.python_fully_qualified_name, bound=operation.pcc)
    return [check_with_pcc(expected, result, operation.pcc), spent]
