"""The published sizes of every decoder, keyed by HF_MODEL; a new one is a new row.

Rotary embeddings turn neighbouring pairs of elements, as rotary_embedding_llama does; rows of a
checkpoint in the order of halves are put into that order when they are read (weights.py).
"""

import dataclasses
import json
import os
import pathlib


@dataclasses.dataclass(frozen=True)
class Rope:
    """Rotary frequencies: theta, and how they are stretched."""

    theta: float
    kind: str = "plain"  # or "llama3", "linear"
    factor: float = 1.0
    low: float = 1.0
    high: float = 4.0
    original: int = 8192


@dataclasses.dataclass(frozen=True)
class Tower:
    """A vision transformer and the way of its output into the decoder."""

    layers: int
    width: int
    heads: int
    inner: int
    picture: int
    patch: int
    epsilon: float
    activation: str = "gelu"
    global_layers: int = 0  # gated layers behind the others
    tiles: int = 1  # pictures are cut into so many
    pooled: int = 0  # tokens that the projection leaves
    class_token: bool = False


@dataclasses.dataclass(frozen=True)
class Row:
    layers: int
    width: int
    heads: int
    kv_heads: int
    inner: int
    vocabulary: int
    rope: Rope
    machine: str = "n300"
    epsilon: float = 1e-5
    head: int = 0  # width / heads unless the model says otherwise
    padded: int = 0  # inner width on the chips, with zeros at its end so that cores share it evenly
    bias: bool = False  # of queries, keys and values
    activation: str = "silu"
    tied: bool = False  # the head is the embedding
    head_norms: bool = False  # norms of queries and keys
    outer_norms: bool = False  # norms behind attention and feed-forward, too
    unit_offset: bool = False  # norms multiply by 1 + weight
    window: int = 0  # of layers that look back only so far
    window_every: int = 0  # every so-many-th layer looks back all the way
    local_rope: Rope | None = None
    scale: float = 0.0  # of scores, 1 / sqrt(head) unless given
    scaled_embedding: bool = False  # times sqrt(width)
    half_precise: bool = False  # "accuracy" keeps block floats in attention
    tower: Tower | None = None
    cross: tuple = ()  # layers before which one stands that sees pictures and takes no part in text

    def __post_init__(self):
        object.__setattr__(self, "head", self.head or self.width // self.heads)
        object.__setattr__(self, "padded", self.padded or self.inner)
        object.__setattr__(self, "scale", self.scale or self.head**-0.5)

    def is_local(self, layer):
        """Whether a layer looks back only `window` tokens."""
        return bool(self.window) and (layer + 1) % self.window_every != 0

    def kinds(self):
        """One layer number of every kind there is."""
        kinds = {}
        for layer in range(self.layers):
            kinds.setdefault(self.is_local(layer), layer)
        return sorted(kinds.values())

    def layer_weights(self):
        heads = self.heads * self.head
        return self.width * (2 * heads + 2 * self.kv_heads * self.head) + 3 * self.width * self.inner

    def weights(self):
        """How many numbers the model has, but for norms and biases."""
        return self.layers * self.layer_weights() + (1 if self.tied else 2) * self.vocabulary * self.width


_QWEN_32B = dict(
    layers=64, width=5120, heads=40, kv_heads=8, inner=27648, padded=28672, vocabulary=152064,
    rope=Rope(1000000.0), bias=True, machine="t3k",
)

ROWS = {
    "meta-llama/Llama-3.2-1B-Instruct": Row(
        layers=16, width=2048, heads=32, kv_heads=8, inner=8192, vocabulary=128256,
        rope=Rope(500000.0, "llama3", 32.0), tied=True, half_precise=True,
    ),
    "meta-llama/Llama-3.2-11B-Vision-Instruct": Row(
        layers=32, width=4096, heads=32, kv_heads=8, inner=14336, vocabulary=128256,
        rope=Rope(500000.0, "llama3", 8.0), half_precise=True, cross=tuple(range(3, 32, 4)),
        tower=Tower(32, 1280, 16, 5120, 560, 14, 1e-5, global_layers=8, tiles=4, class_token=True),
    ),
    "Qwen/Qwen2.5-Coder-7B-Instruct": Row(
        layers=28, width=3584, heads=28, kv_heads=4, inner=18944, vocabulary=152064,
        rope=Rope(1000000.0), epsilon=1e-6, bias=True,
    ),
    "deepseek-ai/deepseek-llm-7b-chat": Row(
        layers=30, width=4096, heads=32, kv_heads=32, inner=11008, vocabulary=102400,
        rope=Rope(10000.0), epsilon=1e-6,
    ),
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B": Row(**_QWEN_32B, epsilon=1e-5),
    "Qwen/Qwen2.5-Coder-32B": Row(**_QWEN_32B, epsilon=1e-6),
    "google/gemma-3-27b-it": Row(
        layers=62, width=5376, heads=32, kv_heads=16, inner=21504, vocabulary=262208, head=128, machine="t3k",
        rope=Rope(1000000.0, "linear", 8.0), local_rope=Rope(10000.0), epsilon=1e-6, activation="gelu", tied=True,
        head_norms=True, outer_norms=True, unit_offset=True, window=1024, window_every=6, scale=168**-0.5,
        scaled_embedding=True, tower=Tower(27, 1152, 16, 4304, 896, 14, 1e-6, pooled=256),
    ),
}
ROWS["Qwen/Qwen2.5-Coder-32B-Instruct"] = ROWS["Qwen/Qwen2.5-Coder-32B"]
ROWS["meta-llama/Llama-3.2-11B-Vision"] = ROWS["meta-llama/Llama-3.2-11B-Vision-Instruct"]
DEFAULT = "meta-llama/Llama-3.2-1B-Instruct"


def _from_folder(folder):
    """A row of a checkpoint's config.json: Llama- and Qwen-like models."""
    config = json.loads((folder / "config.json").read_text())
    text = config.get("text_config", config)
    scaling = text.get("rope_scaling") or {}
    kind = scaling.get("rope_type", scaling.get("type", "plain"))
    if kind not in ("plain", "default", "llama3", "linear"):
        raise ValueError(f"{folder}/config.json: rotary scaling {kind!r} is not one of llama3, linear")
    rope = Rope(
        text.get("rope_theta", 10000.0),
        "plain" if kind == "default" else kind,
        scaling.get("factor", 1.0),
        scaling.get("low_freq_factor", 1.0),
        scaling.get("high_freq_factor", 4.0),
        scaling.get("original_max_position_embeddings", 8192),
    )
    return Row(
        layers=text["num_hidden_layers"],
        width=text["hidden_size"],
        heads=text["num_attention_heads"],
        kv_heads=text.get("num_key_value_heads", text["num_attention_heads"]),
        inner=text["intermediate_size"],
        vocabulary=text["vocab_size"],
        rope=rope,
        epsilon=text.get("rms_norm_eps", 1e-5),
        head=text.get("head_dim") or 0,
        bias=text.get("attention_bias", text.get("model_type") == "qwen2"),
        tied=text.get("tie_word_embeddings", False),
        half_precise=text.get("model_type") == "llama",
    )


def find(name=None):
    """(name, row, checkpoint folder or None) of HF_MODEL: a name of the table, or the path of a folder."""
    name = name or os.environ.get("HF_MODEL") or DEFAULT
    if name in ROWS:
        return name, ROWS[name], None
    folder = pathlib.Path(name)
    if (folder / "config.json").is_file():
        return name, _from_folder(folder), folder
    raise ValueError(f"HF_MODEL is {name!r}; it can be a folder with config.json or one of\n  " + "\n  ".join(ROWS))
