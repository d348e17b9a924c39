"""Llama-class decoders on a row of chips, as they are written for TT: weights in width shards of DRAM,
activations split over chips by width between the layers, heads over chips inside, paged caches, prompts
interleaved in DRAM, decoding sharded in L1.
"""

import dataclasses

import ttnn

from ttnn_models import grids
from ttnn_models.grids import TILE
from ttnn_models.source import causal

MOST_HEAD_ROWS = 2048  # rows of one product that makes heads
WIDE_NORM = 5120
MOST_PLACES = 1 << 16  # words on a chip that 16 bits count
HEAD_COLUMNS = 668  # of the vocabulary, to a core at a time
LINKS = dict(chunks_per_sync=10, num_workers_per_link=2, num_buffers_per_channel=2)
_FIDELITY = ttnn.MathFidelity


class Precision:
    """Types of weights and caches, and how products are computed; arguments replace what is usual."""

    def __init__(self, **other):
        self.gate = self.down = self.attention = self.cache = ttnn.bfloat8_b  # the gate's is the up matrix's, too
        self.gate_kernel = self.down_kernel = grids.kernel(_FIDELITY.HiFi2, False, False)
        self.product_kernel = self.decode_kernel = grids.kernel(_FIDELITY.HiFi2, True, True)
        self.attention_kernel = grids.kernel(_FIDELITY.HiFi4, False, True)
        self.__dict__.update(other)


def precision(row, name):
    """By the names of the demos: performance halves the gates, accuracy has bfloat16 where attention needs it."""
    if name == "performance":
        return Precision(gate=ttnn.bfloat4_b, gate_kernel=grids.kernel(_FIDELITY.LoFi, False, False))
    if row.half_precise:
        return Precision()
    fine = grids.kernel(_FIDELITY.HiFi4, False, True)
    return Precision(attention=ttnn.bfloat16, cache=ttnn.bfloat16, product_kernel=fine, decode_kernel=fine)


def padded_length(tokens):
    """A prompt's length on the chips: a power of two, beyond 1024 a multiple of 2048."""
    if tokens <= 128:
        return 128
    return 1 << (tokens - 1).bit_length() if tokens <= 1024 else grids.up(tokens, MOST_HEAD_ROWS)


def first(x, dim, count):
    """The first rows of a dimension."""
    end = list(x.shape)
    end[dim] = count
    return ttnn.slice(x, [0] * len(end), end, [1] * len(end))


class Layout:
    """Sizes on one chip, places in memory and program configurations, all from the row's numbers."""

    def __init__(self, row, device, users):
        self.row, self.device, self.users = row, device, users
        self.chips = chips = device.get_num_devices()
        self.heads, self.kv_heads = row.heads // chips, row.kv_heads // chips
        self.inner, self.part = row.padded // chips, row.width // chips
        self.attended = self.heads * row.head
        self.fused = self.attended + 2 * self.kv_heads * row.head
        width, tiles = row.width, row.width // TILE
        residual = grids.grid_for(self.part // TILE)
        attention, head = grids.grid_for(tiles), grids.head_grid(width)
        gate = grids.grid_for_both(tiles, self.inner // TILE)
        down = grids.grid_for_both(self.inner // TILE, tiles)
        self.residual = grids.width_sharded(TILE, self.part, residual)
        self.attention_in = grids.width_sharded(TILE, width, attention)
        self.gate_in = grids.width_sharded(TILE, width, gate)
        self.down_in = grids.width_sharded(TILE, self.inner, down)
        self.head_in = grids.width_sharded(TILE, width, head)
        self.attention_norm = grids.sharded_norm(width, attention)
        self.gate_norm = grids.sharded_norm(width, gate)
        self.head_norm = grids.sharded_norm(width, head)
        self.decode_fused = grids.decode_product(width, self.fused, attention.num_cores)
        self.decode_out = grids.decode_product(self.attended, width, self.heads)
        self.decode_gate = grids.decode_product(width, self.inner, gate.num_cores)
        self.decode_down = grids.decode_product(self.inner, width, down.num_cores)
        self.decode_attention = grids.attention(256)
        self.rotary = grids.user_sharded(users, TILE, row.head)
        self.scores = grids.user_sharded(users, self.heads, row.head)
        self.vocabulary = grids.up(row.vocabulary, TILE * chips) // chips
        self.cutoff = 1024  # rows of a feed-forward product
        most = HEAD_COLUMNS * head.num_cores
        self.pieces = [min(most, self.vocabulary - i) for i in range(0, self.vocabulary, most)]
        self.decode_pieces = [grids.decode_product(width, piece, head.num_cores) for piece in self.pieces]
        self.topology = ttnn.Topology.Ring if chips == 8 else ttnn.Topology.Linear

    def prefill_out(self, length):
        m = min(length, 1024)
        return grids.prefill_product(m, self.attended, self.row.width, fuse=length <= 1024)

    def prefill_gate(self, length):
        return grids.prefill_product(min(length, self.cutoff), self.row.width, self.inner)

    def prefill_down(self, length):
        return grids.prefill_product(min(length, self.cutoff), self.inner, self.row.width, grid_k=self.row.padded)


class Links:
    """Collectives over the row of chips; with one chip there are none."""

    def __init__(self, layout):
        self.layout = layout
        device = layout.device
        grid = device.compute_with_storage_grid_size()
        cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(grid.x - 1, grid.y - 1))})
        self.gathering = [ttnn.create_global_semaphore(device, cores, 0) for _ in range(2)]
        self.scattering = [ttnn.create_global_semaphore(device, cores, 0) for _ in range(3)]
        self.barrier = ttnn.create_global_semaphore(device, cores, 0)

    def gather(self, x, place):
        """All widths on every chip."""
        if self.layout.chips == 1:
            return ttnn.to_memory_config(x, place)
        return ttnn.experimental.all_gather_async(
            x,
            persistent_output_buffer=None,
            dim=3,
            multi_device_global_semaphore=self.gathering,
            num_links=1,
            topology=self.layout.topology,
            memory_config=place,
            barrier_semaphore=self.barrier,
            **LINKS,
        )

    def scatter(self, x, place, topology=None):
        """The sum over chips, its width split over them. Gives x back."""
        if self.layout.chips == 1:
            return x
        shape = x.shape
        if shape[0] != 1 or shape[1] != 1:
            x = ttnn.reshape(x, (1, 1, shape[0] * shape[1] * shape[2], shape[3]))
        summed = ttnn.experimental.reduce_scatter_minimal_async(
            x,
            persistent_output_buffers=None,
            dim=3,
            multi_device_global_semaphore=self.scattering,
            barrier_semaphore=self.barrier,
            num_links=1,
            memory_config=place,
            intermediate_memory_config=ttnn.DRAM_MEMORY_CONFIG,
            topology=topology or self.layout.topology,
            **LINKS,
        )
        x.deallocate(True)
        return summed


class Norm:
    """RMS norm of a width that is split over chips: gathered first."""

    def __init__(self, decoder, name, place, config):
        row, weights = decoder.row, decoder.weights
        self.decoder, self.place, self.config = decoder, place, config
        self.weight = norm_weight(weights, row, name, row.width)

    def __call__(self, x, decoding):
        links, row = self.decoder.links, self.decoder.row
        x = links.gather(x, self.place if decoding else ttnn.DRAM_MEMORY_CONFIG)
        return ttnn.rms_norm(
            x,
            epsilon=row.epsilon,
            weight=self.weight,
            program_config=self.config if decoding else None,
            memory_config=self.place if decoding else None,
            compute_kernel_config=norm_kernel(row.width),
        )


def norm_kernel(width):
    """Norms of a prompt hold whole rows in L1; wider ones only fit when they accumulate in bfloat16."""
    return grids.kernel(_FIDELITY.HiFi2, False, width < WIDE_NORM)


def norm_weight(weights, row, name, width):
    """In rows of 32, as norms read it."""
    host = None if weights.dry else norm_host(weights, row, name, width)
    return weights.put(host, (1, 1, width // TILE, TILE), layout=ttnn.ROW_MAJOR_LAYOUT)


def norm_host(weights, row, name, width):
    if weights.folder:
        return weights.folder.tensor(name) + (1.0 if row.unit_offset else 0.0)
    return weights.host(name, (1, width), spread=0.05, middle=1.0)


class Attention:
    def __init__(self, decoder, number, name):
        self.decoder, self.layout, self.row = decoder, decoder.layout, decoder.row
        self.local = self.row.is_local(number)
        row, layout, weights, device = self.row, self.layout, decoder.weights, decoder.device
        chips, types = layout.chips, decoder.precision
        fused, attended = layout.fused * chips, layout.attended * chips
        place = grids.dram_sharded(device, row.width, layout.fused)
        host = None if weights.dry else decoder.source.fused(name)
        self.fused = weights.put(host, (1, 1, row.width, fused), types.attention, place=place, split=3)
        place = grids.dram_sharded(device, layout.attended, row.width)
        host = None if weights.dry else decoder.source.matrix(f"{name}.self_attn.o_proj", (attended, row.width))
        self.out = weights.put(host, (1, 1, attended, row.width), types.attention, place=place, split=2)
        self.bias = self.decode_bias = self.query_norm = self.key_norm = None
        if row.bias:
            self._make_bias(weights, name, fused)
        if row.head_norms:
            self.query_norm = norm_weight(weights, row, f"{name}.self_attn.q_norm.weight", row.head)
            self.key_norm = norm_weight(weights, row, f"{name}.self_attn.k_norm.weight", row.head)
        shape = (decoder.blocks, layout.kv_heads, decoder.block, row.head)
        self.keys, self.values = (weights.zeros(shape, types.cache) for _ in range(2))

    def _make_bias(self, weights, name, fused):
        host = None if weights.dry else self.decoder.source.bias(name)
        self.bias = weights.put(host, (1, 1, 1, fused), split=3)
        host = None if weights.dry else self.decoder.source.repeated_bias(name, TILE)
        self.decode_bias = weights.put(host, (TILE, fused), split=1)

    def _normed(self, x, weight, decoding):
        if weight is None:
            return x
        place = x.memory_config()
        if decoding:
            x = ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG, dtype=x.dtype)
        x = ttnn.rms_norm(x, epsilon=self.row.epsilon, weight=weight, compute_kernel_config=norm_kernel(self.row.head))
        return ttnn.to_memory_config(x, place, dtype=x.dtype) if decoding else x

    def _turned(self, x, rotary, turn, decoding):
        turned = ttnn.experimental.rotary_embedding_llama(x, rotary[0], rotary[1], turn, is_decode_mode=decoding)
        ttnn.deallocate(x)
        return turned

    def _heads(self, x, length):
        """Queries, keys and values of a prompt, before they are turned."""
        row, layout, types = self.row, self.layout, self.decoder.precision
        if length > MOST_HEAD_ROWS:
            x = ttnn.reshape(x, [1, length // MOST_HEAD_ROWS, MOST_HEAD_ROWS, -1])
        fused = ttnn.linear(
            x,
            self.fused,
            dtype=ttnn.bfloat16,
            memory_config=ttnn.DRAM_MEMORY_CONFIG,
            compute_kernel_config=types.product_kernel,
            program_config=grids.prefill_heads(length, layout.fused, MOST_HEAD_ROWS),
        )
        if self.bias is not None:
            fused = fused + self.bias
        if length > MOST_HEAD_ROWS:
            fused = ttnn.reshape(fused, [1, 1, length, -1])
        ttnn.deallocate(x)
        heads = ttnn.experimental.nlp_create_qkv_heads(
            fused,
            num_heads=layout.heads,
            num_kv_heads=layout.kv_heads,
            transpose_k_heads=False,
            memory_config=ttnn.DRAM_MEMORY_CONFIG,
        )
        ttnn.deallocate(fused)
        return heads

    def _fill(self, keys, values, pages):
        """Into the cache, without the rows that only pad the prompt."""
        filled = pages.shape[1] * self.decoder.block
        for cache, new in ((self.keys, keys), (self.values, values)):
            part = first(new, 2, filled) if filled < new.shape[2] else new
            ttnn.experimental.paged_fill_cache(cache, part, pages, batch_idx=0)

    def prefill(self, x, rotary, pages, mask=None):
        """A mask is given where tokens see more than what is before them."""
        row, layout, types = self.row, self.layout, self.decoder.precision
        length = x.shape[-2]
        q, k, v = self._heads(x, length)
        q, k = self._normed(q, self.query_norm, False), self._normed(k, self.key_norm, False)
        turn = self.decoder.turn
        q, k = self._turned(q, rotary, turn, False), self._turned(k, rotary, turn, False)
        keys = ttnn.typecast(k, dtype=types.cache)
        ttnn.deallocate(k)
        values = ttnn.typecast(v, dtype=types.cache)
        ttnn.deallocate(v)
        self._fill(keys, values, pages)
        queries = ttnn.typecast(q, dtype=ttnn.bfloat8_b)
        ttnn.deallocate(q)
        causal_only = dict(is_causal=True, sliding_window_size=row.window if self.local else None)
        sees = causal_only if mask is None else dict(attn_mask=mask, is_causal=False)
        context = ttnn.transformer.scaled_dot_product_attention(
            queries,
            keys,
            values,
            **sees,
            scale=row.scale,
            compute_kernel_config=types.attention_kernel,
            program_config=grids.attention(256 if length >= 2048 else 64),
        )
        for used in (queries, keys, values):
            ttnn.deallocate(used)
        context = ttnn.reshape(context, [1, layout.heads, -1, row.head])
        merged = ttnn.experimental.nlp_concat_heads(context, memory_config=ttnn.DRAM_MEMORY_CONFIG)
        ttnn.deallocate(context)
        return self._out(merged, length)

    def _out(self, merged, length):
        layout, types = self.layout, self.decoder.precision
        if length > 1024:
            merged = ttnn.reshape(merged, [1, length // 1024, 1024, -1])
        out = ttnn.linear(
            merged,
            self.out,
            compute_kernel_config=types.product_kernel,
            dtype=ttnn.bfloat8_b,
            memory_config=ttnn.DRAM_MEMORY_CONFIG,
            program_config=layout.prefill_out(length),
        )
        if length > 1024:
            out = ttnn.reshape(out, [1, 1, length, -1])
        ttnn.deallocate(merged)
        return self.decoder.links.scatter(out, ttnn.DRAM_MEMORY_CONFIG)

    def _decode_heads(self, x):
        layout = self.layout
        fused = ttnn.linear(
            x,
            self.fused,
            memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG,
            program_config=layout.decode_fused,
            compute_kernel_config=self.decoder.precision.product_kernel,
            dtype=ttnn.bfloat16,
        )
        if self.decode_bias is not None:
            fused = fused + self.decode_bias
        ttnn.deallocate(x)
        rows = ttnn.sharded_to_interleaved(fused, ttnn.L1_MEMORY_CONFIG, ttnn.bfloat16)
        ttnn.deallocate(fused)
        rows = ttnn.reshape(rows, (1, 1, layout.users, layout.fused), (1, 1, TILE, layout.fused))
        heads = ttnn.experimental.nlp_create_qkv_heads_decode(
            rows,
            num_heads=layout.heads,
            num_kv_heads=layout.kv_heads,
            memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG,
        )
        ttnn.deallocate(rows)
        return heads

    def decode(self, x, rotary, step):
        row, layout, types = self.row, self.layout, self.decoder.precision
        q, k, v = self._decode_heads(x)
        q, k = self._normed(q, self.query_norm, True), self._normed(k, self.key_norm, True)
        turn = self.decoder.decode_turn
        q, k = self._turned(q, rotary, turn, True), self._turned(k, rotary, turn, True)
        for cache, new in ((self.keys, k), (self.values, v)):
            ttnn.experimental.paged_update_cache(cache, new, update_idxs_tensor=step.positions, page_table=step.pages)
            ttnn.deallocate(new)
        context = ttnn.transformer.paged_scaled_dot_product_attention_decode(
            q,
            self.keys,
            self.values,
            cur_pos_tensor=step.positions,
            page_table_tensor=step.pages,
            scale=row.scale,
            sliding_window_size=row.window if self.local else None,
            program_config=layout.decode_attention,
            compute_kernel_config=types.decode_kernel,
            memory_config=ttnn.DRAM_MEMORY_CONFIG,
        )
        ttnn.deallocate(q)
        sharded = ttnn.to_memory_config(context, memory_config=layout.scores)
        merged = ttnn.experimental.nlp_concat_heads_decode(sharded, num_heads=layout.heads)
        ttnn.deallocate(sharded)
        ttnn.deallocate(context)
        out = ttnn.matmul(
            merged,
            self.out,
            program_config=layout.decode_out,
            memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG,
            compute_kernel_config=types.product_kernel,
        )
        ttnn.deallocate(merged)
        return ttnn.to_memory_config(self.decoder.links.scatter(out, layout.residual), layout.residual)


class FeedForward:
    def __init__(self, decoder, name):
        self.decoder, self.layout, self.row = decoder, decoder.layout, decoder.row
        row, layout, weights, device = self.row, self.layout, decoder.weights, decoder.device
        wide, tall = (row.width, row.padded), (row.padded, row.width)
        make = (lambda part: None) if weights.dry else (lambda part: decoder.source.feed_forward(name, part))
        place = grids.dram_sharded(device, row.width, layout.inner)
        dtype = decoder.precision.gate
        self.gate, self.up = (weights.put(make(part), wide, dtype, place=place, split=1) for part in ("gate_proj", "up_proj"))
        place = grids.dram_sharded(device, layout.inner, row.width)
        self.down = weights.put(make("down_proj"), tall, decoder.precision.down, place=place, split=0)

    def __call__(self, x, decoding):
        row, layout, types = self.row, self.layout, self.decoder.precision
        length = x.shape[-2]
        if not decoding and length >= layout.cutoff:
            x = ttnn.reshape(x, [1, length // layout.cutoff, layout.cutoff, -1])
        place = ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG if decoding else ttnn.DRAM_MEMORY_CONFIG
        config = layout.decode_gate if decoding else layout.prefill_gate(length)
        last = layout.decode_down if decoding else layout.prefill_down(length)
        gate, up = (
            ttnn.linear(x, w, dtype=ttnn.bfloat16, compute_kernel_config=types.gate_kernel, program_config=config, memory_config=place)
            for w in (self.gate, self.up)
        )
        ttnn.deallocate(x)
        both = ttnn.multiply(
            gate,
            up,
            input_tensor_a_activations=[getattr(ttnn.UnaryOpType, row.activation.upper())],
            dtype=ttnn.bfloat8_b,
            memory_config=gate.memory_config(),
        )
        if decoding:
            both = ttnn.to_memory_config(both, layout.down_in)
        ttnn.deallocate(up)
        ttnn.deallocate(gate)
        kernel = types.down_kernel
        down = ttnn.linear(both, self.down, compute_kernel_config=kernel, dtype=ttnn.bfloat16, program_config=last, memory_config=place)
        ttnn.deallocate(both)
        reduced = self.decoder.links.scatter(down, down.memory_config() if decoding else ttnn.DRAM_MEMORY_CONFIG)
        shape = reduced.shape
        reduced = ttnn.reshape(reduced, (1, 1, shape[-4] * shape[-3] * shape[-2], shape[-1]))
        return ttnn.to_memory_config(reduced, layout.residual) if decoding else reduced


class Layer:
    def __init__(self, decoder, number):
        self.decoder = decoder
        layout, name = decoder.layout, f"model.layers.{number}"
        gate = (layout.gate_in, layout.gate_norm)
        self.attention_norm = Norm(decoder, f"{name}.input_layernorm.weight", layout.attention_in, layout.attention_norm)
        self.attention = Attention(decoder, number, name)
        self.after_norm = Norm(decoder, f"{name}.post_attention_layernorm.weight", *gate)
        self.before_norm = self.outer_norm = None
        if decoder.row.outer_norms:
            self.before_norm = Norm(decoder, f"{name}.pre_feedforward_layernorm.weight", *gate)
            self.outer_norm = Norm(decoder, f"{name}.post_feedforward_layernorm.weight", layout.attention_in, layout.attention_norm)
        self.feed_forward = FeedForward(decoder, name)

    def _split(self, x):
        """What a norm left whole on every chip, split over them again: the sum of equals, divided."""
        if self.decoder.layout.chips > 1:
            x = self.decoder.links.scatter(x, ttnn.DRAM_MEMORY_CONFIG, ttnn.Topology.Ring)
            x = ttnn.div(x, self.decoder.layout.chips)
        return x

    def __call__(self, x, run_attention, decoding):
        place = self.decoder.layout.residual if decoding else ttnn.DRAM_MEMORY_CONFIG
        attended = run_attention(self.attention, self.attention_norm(x, decoding))
        if self.before_norm is None:
            h = ttnn.add(x, attended, memory_config=place)
            if not decoding:
                x.deallocate(True)
            normed = self.after_norm(h, decoding)
        else:
            h = ttnn.add(x, self._split(self.after_norm(attended, decoding)), memory_config=place)
            normed = self.before_norm(h, decoding)
        ttnn.deallocate(attended)
        fed = self.feed_forward(normed, decoding)
        if self.outer_norm is not None:
            fed = self._split(self.outer_norm(fed, decoding))
        return ttnn.add(h, fed, memory_config=place, dtype=ttnn.bfloat16)


@dataclasses.dataclass
class Step:
    """Where every user of a decoding step is."""

    positions: ttnn.Tensor  # one for each user
    turns: ttnn.Tensor  # the same, for the rotary tables: 32 of them
    pages: ttnn.Tensor


class Decoder:
    """`layers` are numbers of layers; without `ends` there are no embedding and no head."""

    def __init__(self, row, weights, source, *, users=1, most=1024, block=32, blocks=1024, layers=None, ends=True, types=None):
        self.row, self.weights, self.source, self.device = row, weights, source, weights.device
        self.users, self.most, self.block, self.blocks = users, most, block, blocks
        self.precision = types or precision(row, "performance")
        self.layout = Layout(row, self.device, users)
        self.links = Links(self.layout)
        self._make_rotary()
        self.numbers = list(range(row.layers) if layers is None else layers)
        self.layers = [Layer(self, number) for number in self.numbers]
        self.cross = {}  # layers that see a picture, by the number of the layer that they come before (cross.py)
        if ends:
            self._make_ends()

    def _make_rotary(self):
        row, weights, source = self.row, self.weights, self.source
        ropes = [row.rope] + ([row.local_rope] if row.local_rope else [])
        shape = (1, 1, self.most, row.head)
        tables = [(None, None) if weights.dry else source.rotary(rope, self.most) for rope in ropes]
        self.rotary = [[weights.put(host, shape) for host in pair] for pair in tables]
        turn = None if weights.dry else source.turn(TILE, 1)
        self.turn = weights.put(turn, (1, 1, TILE, TILE))
        turn = None if weights.dry else source.turn(TILE, self.users)
        place = grids.user_sharded(self.users, TILE, TILE)
        self.decode_turn = weights.put(turn, (1, 1, TILE * self.users, TILE), place=place)

    def _make_ends(self):
        row, layout, weights, source = self.row, self.layout, self.weights, self.source
        shape = (1, 1, row.vocabulary, row.width)
        host = None if weights.dry else source.embedding()
        self.words = weights.put(host, shape, layout=ttnn.ROW_MAJOR_LAYOUT, split=3)
        self.norm = Norm(self, "model.norm.weight", layout.head_in, layout.head_norm)
        hosts = [None] * len(layout.pieces) if weights.dry else source.head_pieces(layout)
        places = [grids.dram_sharded(self.device, row.width, piece) for piece in layout.pieces]
        self.pieces = [
            weights.put(host, (row.width, piece * layout.chips), ttnn.bfloat8_b, place=place, split=1)
            for host, piece, place in zip(hosts, layout.pieces, places)
        ]
        if layout.vocabulary <= MOST_PLACES:
            self._make_places()

    def _make_places(self):
        """The number of each word on its chip, and what comes before the words of each chip."""
        layout, weights, tiles = self.layout, self.weights, ttnn.TILE_LAYOUT
        places = None if weights.dry else [*range(layout.vocabulary)] * TILE
        self.places = weights.whole_numbers(places, (1, 1, TILE, layout.vocabulary), ttnn.uint16, tiles)
        offsets = [chip * layout.vocabulary for chip in range(layout.chips) for _ in range(32)]
        self.offsets = weights.whole_numbers(offsets * TILE, (1, 1, TILE, len(offsets)), ttnn.int32, tiles)

    def _rotary_of(self, layer, tables):
        return tables[1] if layer.attention.local and len(tables) > 1 else tables[0]

    def clear_caches(self):
        """Forgets all users."""
        for layer in self.layers:
            for cache in (layer.attention.keys, layer.attention.values):
                ttnn.multiply(cache, 0, output_tensor=cache)

    def embed(self, tokens):
        x = ttnn.embedding(tokens, self.words, layout=ttnn.TILE_LAYOUT, memory_config=ttnn.DRAM_MEMORY_CONFIG)
        if self.row.scaled_embedding:
            x = ttnn.multiply(x, self.row.width**0.5)
        return ttnn.unsqueeze_to_4D(x)

    def picture_masks(self, length, picture):
        """{whether a layer looks back only so far: what its prompt sees}, where a picture is seen both ways."""
        def mask(window):
            host = None if self.weights.dry else self.source.on_host(causal(length, window, picture), (length, length))
            return self.weights.put(host, (1, 1, length, length))

        return {local: mask(self.row.window if local else 0) for local in map(self.row.is_local, self.row.kinds())}

    def _see(self, x, number, seen, decoding):
        """Past the layer that sees a picture, where there are both."""
        return self.cross[number](x, seen, decoding) if seen and number in self.cross else x

    def prefill_layers(self, x, pages, length=None, picture=None, seen=None):
        """Through all layers; x has the padded length. Long prompts use the beginning of the rotary tables. A picture is
        between the words, from one row to another (`picture`), or beside them (`seen`)."""
        end = self.most if length is None else length
        tables = [[first(table, 2, end) for table in pair] for pair in self.rotary]
        masks = self.picture_masks(x.shape[-2], picture) if picture else {}
        for number, layer in zip(self.numbers, self.layers):
            x = self._see(x, number, seen, False)
            rotary, mask = self._rotary_of(layer, tables), masks.get(layer.attention.local)
            x = layer(x, lambda attention, normed: attention.prefill(normed, rotary, pages, mask), False)
        return x

    def prefill(self, tokens, pages, last):
        """Logits of the 32 tokens around `last`, of one prompt of the padded length."""
        return self.prefill_embedded(self.embed(tokens), pages, last)

    def prefill_embedded(self, x, pages, last, picture=None, seen=None):
        """The same of rows that were embedded already: of words, and of pictures."""
        length = x.shape[-2]
        x = self.prefill_layers(x, pages, length if length > 1024 else None, picture, seen)
        begin = last // TILE * TILE
        x = ttnn.slice(x, (0, 0, begin, 0), (1, 1, begin + TILE, x.shape[-1]))
        x = self.norm(x, False)
        x = ttnn.interleaved_to_sharded(x, self.layout.head_in)
        return ttnn.to_layout(self.head(x), layout=ttnn.ROW_MAJOR_LAYOUT, memory_config=ttnn.DRAM_MEMORY_CONFIG)

    def head(self, x):
        """Each chip's part of the vocabulary."""
        kernel = grids.kernel(_FIDELITY.HiFi2, False, False)
        parts = []
        for weight, config in zip(self.pieces, self.layout.decode_pieces):
            place = ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG
            part = ttnn.linear(x, weight, compute_kernel_config=kernel, program_config=config, memory_config=place, dtype=ttnn.bfloat8_b)
            parts.append(ttnn.sharded_to_interleaved(part, memory_config=ttnn.L1_MEMORY_CONFIG))
        ttnn.deallocate(x)
        return ttnn.concat(parts, dim=-1, memory_config=ttnn.L1_MEMORY_CONFIG)

    def step(self, positions, pages_of_user):
        """A decoding step at these positions; every user has its own pages."""
        padded = list(positions) + [0] * (TILE - len(positions))
        pages = [page for pages in pages_of_user for page in pages]
        return Step(
            self.weights.whole_numbers(positions, (len(positions),)),
            self.weights.whole_numbers(padded, (1, TILE), ttnn.uint32),
            self.weights.whole_numbers(pages, (len(positions), len(pages_of_user[0]))),
        )

    def _decode_rotary(self, step, pair):
        turned = []
        for table in pair:
            rows = ttnn.unsqueeze_to_4D(ttnn.embedding(step.turns, table, layout=ttnn.TILE_LAYOUT))
            rows = ttnn.transpose(rows, 1, 2)
            if self.users % TILE:
                rows = first(rows, 1, self.users)
            turned.append(ttnn.interleaved_to_sharded(rows, self.layout.rotary))
        return turned

    def decode_layers(self, x, step, seen=None):
        """Through all layers; x is width-sharded, 32 rows of which each user has one."""
        tables = [self._decode_rotary(step, pair) for pair in self.rotary]
        for number, layer in zip(self.numbers, self.layers):
            x = self._see(ttnn.to_memory_config(x, self.layout.residual), number, seen, True)
            rotary = self._rotary_of(layer, tables)
            x = layer(x, lambda attention, normed: attention.decode(normed, rotary, step), True)
        return x

    def decode(self, tokens, step, seen=None):
        """Logits of the tokens that follow: each chip's part of the vocabulary."""
        x = ttnn.to_memory_config(self.embed(tokens), self.layout.residual)
        x = self.norm(self.decode_layers(x, step, seen), True)
        return self.head(x)

    def _gathered_logits(self, logits):
        """All logits in rows, for the host to choose from."""
        logits = ttnn.untilize(self.links.gather(logits, logits.memory_config()), use_multicore=True)
        return ttnn.to_memory_config(logits, ttnn.DRAM_MEMORY_CONFIG)

    def _likeliest(self, logits):
        """(values, words) of the 32 likeliest words of every chip, on all chips."""
        values, places = ttnn.topk(ttnn.typecast(logits, ttnn.bfloat16), 32, -1, indices_tensor=self.places)
        if self.layout.chips > 1:
            values, places = (ttnn.all_gather(t, dim=3, memory_config=ttnn.L1_MEMORY_CONFIG) for t in (values, places))
        words = ttnn.add(self.offsets, ttnn.typecast(places, ttnn.int32), dtype=ttnn.int32)
        return ttnn.untilize(values), ttnn.untilize(words, use_multicore=True)

    def sample(self, logits, step):
        """The likeliest words, or all logits where the chips' parts are too large to be counted in 16 bits.
        The positions move on."""
        if self.layout.vocabulary > MOST_PLACES:
            return self._gathered_logits(logits)
        found = self._likeliest(logits)
        ttnn.plus_one(step.positions, skip_negative_entries=True)
        ttnn.plus_one(step.turns)
        return found
