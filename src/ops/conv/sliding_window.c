/*
 * sliding_window.c: windows over images: sizes, halos and their tables.
 *
 * The image, with padding, is a line of sticks. A core makes a run of results; the sticks from
 * the first window to the last are its halo, and most of them are in other cores' shards.
 * Upstream works that out on the host, as tables of commands for two readers on each core, and
 * sends these along as tensors: their widths show in recordings.
 *
 * Models, of ttnn 0.81 (sliding_window/sliding_window.cpp): SlidingWindowConfig,
 * generate_shard_boundaries, generate_tensor_metadata, generate_halo_kernel_config_tensors and
 * generate_sliding_window_op_config, as far as sizes depend on them. Not modelled: what is in
 * the tables.
 */
#include "ops/conv/sliding_window.h"

#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "ops/op.h"
#include "ops/op_enums.h"
#include "tensor/fn.h"

/* Tiles become sticks in blocks of this many. */
#define BLOCK 32u

/* ---- sizes -------------------------------------------------------------------------------------------- */

static uint32_t pad_sum(const struct tt_slide *s, int d)
{
	return s->pad[2 * d] + s->pad[2 * d + 1];
}

static uint32_t reach(const struct tt_slide *s, int d)
{
	return s->dilation[d] * (s->window[d] - 1) + 1;
}

/*
 * How often a window can be moved. Upstream divides in float32, which matters for images of
 * millions of elements.
 */
static float steps(const struct tt_slide *s, int d)
{
	return (float)(s->in[d] + pad_sum(s, d) - s->dilation[d] * (s->window[d] - 1) - 1) /
	       (float)s->stride[d];
}

static uint32_t ceil_steps(const struct tt_slide *s, int d)
{
	float exact = steps(s, d);
	uint32_t whole = (uint32_t)exact;

	return whole + ((float)whole < exact ? 1 : 0);
}

static uint32_t out_size(const struct tt_slide *s, int d)
{
	uint32_t out;

	if (s->transpose)
		return (s->in[d] - 1) * s->stride[d] - pad_sum(s, d) +
		       s->dilation[d] * (s->window[d] - 1) + s->out_pad[d] + 1;
	if (s->bilinear)
		return s->in[d] * s->scale[d];
	if (!s->ceil)
		return (uint32_t)steps(s, d) + 1;
	out = ceil_steps(s, d) + 1;
	/* The last window must begin in the image or in the padding before it. */
	return (out - 1) * s->stride[d] >= s->in[d] + s->pad[2 * d] ? out - 1 : out;
}

void tt_slide_out(uint32_t out[2], const struct tt_slide *slide)
{
	out[0] = out_size(slide, 0);
	out[1] = out_size(slide, 1);
}

/* Padding behind the image that ceil_mode needs: as much as the last window hangs over. */
void tt_slide_ceil_pad(uint32_t out[2], const struct tt_slide *s)
{
	for (int d = 0; d < 2; d++) {
		int64_t more = (int64_t)s->stride[d] * ceil_steps(s, d) + reach(s, d) - s->in[d] -
			       pad_sum(s, d);

		out[d] = s->has_ceil_pad       ? s->ceil_pad[d]
			 : s->ceil && more > 0 ? (uint32_t)more
					       : 0;
	}
}

/*
 * Size and padding of the image that a transposed window slides over: elements `stride` apart,
 * and a rim such that the result has the size that out_size() says; what is odd goes below and
 * right.
 */
void tt_slide_transposed(uint32_t size[2], uint32_t pad[4], const struct tt_slide *s)
{
	for (int d = 0; d < 2; d++) {
		uint32_t holes = (s->in[d] - 1) * s->stride[d] + 1;

		size[d] = out_size(s, d) + s->dilation[d] * (s->window[d] - 1);
		pad[2 * d] = s->dilation[d] * (s->window[d] - 1) - s->pad[2 * d];
		pad[2 * d + 1] = size[d] - holes - pad[2 * d];
	}
}

/* ---- sticks ------------------------------------------------------------------------------------------- */

/* The images as sticks: what a loop over them needs, worked out once. */
struct sticks {
	uint32_t size[2]; /* with padding */
	uint32_t pad[2];  /* top, left */
	uint32_t hole[2]; /* the image has an element every so many */
	uint32_t in[2], out[2], stride[2];
	uint32_t scale[2]; /* of an image that becomes larger, or 0 */
	uint64_t results;
};

static struct sticks sticks_of(const struct tt_slide *s)
{
	struct sticks k = {.in = {s->in[0], s->in[1]}, .hole = {1, 1}};
	uint32_t more[2], pad[4];

	tt_slide_out(k.out, s);
	k.results = (uint64_t)s->batch * k.out[0] * k.out[1];
	if (s->transpose) {
		tt_slide_transposed(k.size, pad, s);
		k.pad[0] = pad[0];
		k.pad[1] = pad[2];
		memcpy(k.hole, s->stride, sizeof(k.hole));
		k.stride[0] = k.stride[1] = 1;
		return k;
	}
	tt_slide_ceil_pad(more, s);
	for (int d = 0; d < 2; d++) {
		k.scale[d] = s->bilinear ? s->scale[d] : 0;
		k.size[d] = s->in[d] + pad_sum(s, d) + more[d];
		k.pad[d] = s->pad[2 * d];
		k.stride[d] = s->stride[d];
	}
	return k;
}

/* Where a result is in an image that is smaller and has an element of padding: in the middle. */
static uint64_t scaled(uint64_t at, uint32_t scale)
{
	return (2 * at + 1 + scale) / (2 * (uint64_t)scale);
}

/* The first stick of a result's window. */
static uint64_t window_at(const struct sticks *k, uint64_t result)
{
	uint64_t area = (uint64_t)k->out[0] * k->out[1], inside = result % area;
	uint64_t y = inside / k->out[1], x = inside % k->out[1];

	if (k->scale[0])
		return result / area * k->size[0] * k->size[1] +
		       scaled(y, k->scale[0]) * k->size[1] + scaled(x, k->scale[1]);
	return result / area * k->size[0] * k->size[1] + y * k->stride[0] * k->size[1] +
	       x * k->stride[1];
}

/* Which element of the images a stick is; false: padding. */
static bool element_at(uint64_t *out, const struct sticks *k, uint64_t stick)
{
	uint64_t area = (uint64_t)k->size[0] * k->size[1], inside = stick % area;
	uint64_t at[2] = {inside / k->size[1], inside % k->size[1]};

	for (int d = 0; d < 2; d++) {
		if (at[d] < k->pad[d])
			return false;
		at[d] -= k->pad[d];
		if (at[d] % k->hole[d] || at[d] / k->hole[d] >= k->in[d])
			return false;
		at[d] /= k->hole[d];
	}
	*out = stick / area * k->in[0] * k->in[1] + at[0] * k->in[1] + at[1];
	return true;
}

/* What one core makes and reads: sticks `first` .. `last`; last may be before first. */
struct bound {
	uint64_t start, end; /* results, end excluded */
	uint64_t first, last;
};

static uint64_t halo_length(const struct tt_slide *s, const struct sticks *k)
{
	return (uint64_t)(reach(s, 0) - 1) * k->size[1] + reach(s, 1) - 1;
}

/*
 * The part of an image that some results need, as a window of its own: padding that is not
 * reached is left out, and at the edges of the image the original one stays, even where no
 * window reaches it.
 */
struct tt_slide tt_slide_part(uint32_t start[2], const struct tt_slide *slide,
			      const struct tt_slice *slice)
{
	struct tt_slide part = *slide;
	uint32_t out[2];

	tt_slide_out(out, slide);
	for (int d = 0; d < 2; d++) {
		int64_t first = (int64_t)slice->start[d] * slide->stride[d] - slide->pad[2 * d];
		int64_t last = (int64_t)(slice->end[d] - 1) * slide->stride[d] - slide->pad[2 * d] +
			       (int64_t)(slide->window[d] - 1) * (slide->dilation[d] - 1) +
			       slide->window[d];
		int64_t size = slide->in[d];

		part.pad[2 * d] = first < 0 ? (uint32_t)-first : 0;
		part.pad[2 * d + 1] = last > size ? (uint32_t)(last - size) : 0;
		first = first < 0 ? 0 : first;
		last = last > size ? size : last;
		if (slice->start[d] == 0) {
			part.pad[2 * d] = slide->pad[2 * d];
			first = 0;
		}
		if (slice->end[d] == out[d]) {
			part.pad[2 * d + 1] = slide->pad[2 * d + 1];
			last = size;
		}
		start[d] = (uint32_t)first;
		part.in[d] = (uint32_t)(last - first);
	}
	return part;
}

/*
 * Results of a core: equal shares of whole tiles where results are tiles (snap), so the last
 * cores may have few or none.
 */
uint32_t tt_slide_share(const struct tt_slide *s)
{
	uint32_t out[2];
	uint64_t results, unit = (uint64_t)s->cores_nhw * (s->snap ? TT_TILE : 1);

	tt_slide_out(out, s);
	results = (uint64_t)s->batch * out[0] * out[1];
	return (uint32_t)((results + unit - 1) / unit * unit / s->cores_nhw);
}

/* Lines of a larger image go back and forth: the outermost sticks may belong to any result. */
static void widest(struct bound *b, const struct tt_slide *s, const struct sticks *k)
{
	uint64_t most = 0;

	b->first = b->start < b->end ? UINT64_MAX : 1;
	for (uint64_t i = b->start; i < b->end; i++) {
		uint64_t at = window_at(k, i);

		b->first = at < b->first ? at : b->first;
		most = at > most ? at : most;
	}
	b->last = b->start < b->end ? most + halo_length(s, k) : 0;
}

/*
 * What one core makes and needs. Cores behind the last result get an empty range that still
 * begins within the image; upstream's loops rely on that.
 */
static struct bound bound_of(const struct tt_slide *s, const struct sticks *k, uint32_t core)
{
	uint64_t share = tt_slide_share(s), start = core * share;
	struct bound b;

	b.start = start < k->results ? start : k->results;
	b.end = b.start + share < k->results ? b.start + share : k->results;
	if (s->bilinear) {
		widest(&b, s, k);
		return b;
	}
	b.first = window_at(k, b.start < k->results ? b.start : k->results - 1);
	b.last = window_at(k, b.end - 1) + halo_length(s, k);
	if (b.first == 0 && b.start) {
		b.first = window_at(k, b.end - 1) + 1;
		b.last = b.first - 1;
	}
	return b;
}

uint32_t tt_slide_halo_sticks(const struct tt_slide *slide)
{
	struct sticks k = sticks_of(slide);
	uint64_t most = 0;

	for (uint32_t core = 0; core < slide->cores_nhw && k.results; core++) {
		struct bound b = bound_of(slide, &k, core);

		if (b.last + 1 - b.first > most)
			most = b.last + 1 - b.first;
	}
	return most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
}

/* ---- the tables of a halo -------------------------------------------------------------------------------- */

/* Sticks that are beside each other in the shard of one core and in the halo of another. */
struct run {
	uint32_t from, to; /* cores */
	uint32_t source, at, length;
	uint32_t x, y; /* where commands find the other core */
};

/* All runs, first by the core they come from, then by the one they go to. */
struct runs {
	struct run *items;
	size_t count, room;
	uint32_t *pads; /* runs of padding of each core */
	uint32_t core;  /* that gathers now */
};

static tt_status add_run(struct runs *runs, struct tt_arena *arena, const struct run *run)
{
	if (runs->count == runs->room) {
		size_t room = runs->room ? 2 * runs->room : 256;
		struct run *items = tt_arena_alloc(arena, room * sizeof(*items));

		TT_NEED_MEMORY(items);
		if (runs->count)
			memcpy(items, runs->items, runs->count * sizeof(*items));
		runs->items = items;
		runs->room = room;
	}
	runs->items[runs->count++] = *run;
	return TTNN_OK;
}

/* The last run into this core that comes from that one. */
static struct run *last_run(struct runs *runs, size_t begin, uint32_t from)
{
	for (size_t i = runs->count; i-- > begin;)
		if (runs->items[i].from == from)
			return &runs->items[i];
	return NULL;
}

/*
 * What one core gathers: sticks that follow each other both in their shard and in the halo are
 * one run, as the reader copies a run in one go. Runs of padding are counted apart, for those
 * who fill them.
 */
static tt_status window_gather(struct runs *runs, struct tt_arena *arena, const struct sticks *k,
			       const struct bound *bound, uint32_t shard_height)
{
	uint32_t core = runs->core;
	uint64_t pad_end = UINT64_MAX;
	size_t begin = runs->count;

	for (uint64_t stick = bound->first; stick <= bound->last; stick++) {
		struct run run = {.to = core, .length = 1}, *back;
		uint64_t element;

		if (!element_at(&element, k, stick)) {
			runs->pads[core] += pad_end == stick ? 0 : 1;
			pad_end = stick + 1;
			continue;
		}
		run.from = (uint32_t)(element / shard_height);
		run.source = (uint32_t)(element % shard_height);
		run.at = (uint32_t)(stick - bound->first);
		back = last_run(runs, begin, run.from);
		if (back && back->source + back->length == run.source &&
		    back->at + back->length == run.at)
			back->length++;
		else
			TT_TRY(add_run(runs, arena, &run));
	}
	return TTNN_OK;
}

static int by_cores(const void *a, const void *b)
{
	const struct run *l = a, *r = b;

	if (l->from != r->from)
		return l->from < r->from ? -1 : 1;
	/* A core's own sticks come before those for others. */
	if ((l->to == l->from) != (r->to == r->from))
		return l->to == l->from ? -1 : 1;
	if (l->to != r->to)
		return l->to < r->to ? -1 : 1;
	return l->at < r->at ? -1 : 1;
}

static int by_source(const void *a, const void *b)
{
	const struct run *l = a, *r = b;

	if (l->source != r->source)
		return l->source < r->source ? -1 : 1;
	if (l->x != r->x)
		return l->x < r->x ? -1 : 1;
	return l->y < r->y ? -1 : l->y > r->y;
}

/* How long the table of one reader is: a head for each change of core, then its runs. */
struct reader {
	uint32_t runs, heads, to;
};

static void read_run(struct reader *reader, uint32_t to)
{
	if (!reader->runs++ || reader->to != to)
		reader->heads++;
	reader->to = to;
}

/* Runs of a core that reads tiles: cut at blocks, in the order of blocks, which take turns. */
static tt_status read_blocks(struct reader out[2], struct tt_arena *arena, const struct run *runs,
			     size_t count)
{
	struct runs cut = {0};

	for (size_t i = 0; i < count; i++) {
		uint32_t left = runs[i].length, at = runs[i].source;

		while (left) {
			uint32_t part = BLOCK - at % BLOCK;
			struct run piece = runs[i];

			piece.source = at;
			piece.length = part < left ? part : left;
			TT_TRY(add_run(&cut, arena, &piece));
			at += piece.length;
			left -= piece.length;
		}
	}
	if (cut.count)
		qsort(cut.items, cut.count, sizeof(*cut.items), by_source);
	for (size_t i = 0; i < cut.count; i++)
		read_run(&out[cut.items[i].source / BLOCK % 2], cut.items[i].to);
	return TTNN_OK;
}

/* Commands name the other core by its place on the NoC, and are sorted by that. */
static tt_status locate(struct runs *runs, const struct tt_slide_source *source,
			struct tt_device *device)
{
	for (size_t i = 0; i < runs->count; i++) {
		uint32_t to = runs->items[i].to;
		struct ttnn_core core = {to % source->box_width, to / source->box_width}, worker;

		if (source->block)
			core = source->transposed ? (struct ttnn_core){to, 0}
						  : (struct ttnn_core){0, to};
		TT_TRY(ttnn_device_worker_core(&worker, device, core));
		runs->items[i].x = worker.x;
		runs->items[i].y = worker.y;
	}
	return TTNN_OK;
}

static void widen(uint32_t *most, uint32_t width)
{
	*most = width > *most ? width : *most;
}

/*
 * The tables of sticks: as wide as the core with most needs, 3 numbers for every run and for
 * every change of core, and even. Readers take turns: run by run from rows, block by block from
 * tiles.
 */
static tt_status stick_tables(uint32_t out[2], struct tt_arena *arena, struct runs *runs,
			      bool tiled)
{
	out[0] = out[1] = 1; /* how many heads there are */
	if (runs->count)
		qsort(runs->items, runs->count, sizeof(*runs->items), by_cores);
	for (size_t begin = 0, end; begin < runs->count; begin = end) {
		struct reader reader[2] = {0};

		for (end = begin;
		     end < runs->count && runs->items[end].from == runs->items[begin].from; end++)
			if (!tiled)
				read_run(&reader[(end - begin) % 2], runs->items[end].to);
		if (tiled)
			TT_TRY(read_blocks(reader, arena, &runs->items[begin], end - begin));
		for (int r = 0; r < 2; r++)
			widen(&out[r], 1 + 3 * (reader[r].heads + reader[r].runs));
	}
	for (int r = 0; r < 2; r++)
		out[r] = (out[r] + 1) / 2 * 2;
	return TTNN_OK;
}

/*
 * Padding: two numbers for a run, and the halves of all runs go to two readers; then an end
 * mark.
 */
tt_status tt_slide_halo_tables(uint32_t out[4], struct tt_arena *arena,
			       const struct tt_slide *slide, const struct tt_slide_source *source,
			       struct tt_device *device)
{
	struct sticks k = sticks_of(slide);
	struct runs runs = {.pads = tt_arena_calloc(arena, slide->cores_nhw, sizeof(uint32_t))};

	TT_NEED_MEMORY(runs.pads);
	out[0] = out[1] = 0;
	for (uint32_t core = 0; core < slide->cores_nhw && k.results; core++) {
		struct bound bound = bound_of(slide, &k, core);

		runs.core = core;
		TT_TRY(window_gather(&runs, arena, &k, &bound, source->shard_height));
		widen(&out[0], 2 * (runs.pads[core] / 2));
		widen(&out[1], 2 * (runs.pads[core] - runs.pads[core] / 2));
	}
	out[0] += 2; /* an end mark */
	out[1] += 2;
	TT_TRY(locate(&runs, source, device));
	return stick_tables(&out[2], arena, &runs, source->tiled);
}

/* ---- the table of windows ---------------------------------------------------------------------------------- */

/* A block is its number of segments, a gap, and the first and last window of each. */
static uint32_t core_windows(const struct sticks *k, const struct bound *bound, uint32_t stride,
			     const uint32_t blocks[2])
{
	uint32_t width = 0, reader = 0, left = 0;
	uint64_t before = 0;
	bool fresh = true;

	for (uint64_t i = bound->start; i < bound->end; i++) {
		uint64_t at = window_at(k, i);

		if (fresh) {
			left = blocks[1] && reader ? blocks[1] : blocks[0];
			width += 3;
			fresh = false;
		} else if (at != before + stride) {
			width += 2;
		}
		before = at;
		if (--left && i + 1 != bound->end)
			continue;
		width++;
		fresh = blocks[0] != 0;
		reader = !reader;
	}
	return width;
}

uint32_t tt_slide_window_table(const struct tt_slide *slide, uint32_t stride, uint32_t first,
			       uint32_t second)
{
	struct sticks k = sticks_of(slide);
	uint32_t blocks[2] = {first, second}, most = 0;

	for (uint32_t core = 0; core < slide->cores_nhw && k.results; core++) {
		struct bound bound = bound_of(slide, &k, core);

		widen(&most, core_windows(&k, &bound, stride, blocks));
	}
	return most;
}

/* ---- as an attribute ------------------------------------------------------------------------------------------ */

static const struct tt_field fields[] = {
	{.name = "batch_size"},
	{.name = "channels"},
	{.name = "input_hw"},
	{.name = "window_hw"},
	{.name = "stride_hw"},
	{.name = "padding", .text = TT_TEXT_ARRAY},
	{.name = "output_pad_hw"},
	{.name = "dilation_hw"},
	{.name = "ceil_pad_hw"},
	{.name = "scale_h"},
	{.name = "scale_w"},
	{.name = "num_cores_nhw"},
	{.name = "num_cores_c"},
	{.name = "core_range_set", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>"},
	{.name = "snap_to_tile"},
	{.name = "is_bilinear"},
	{.name = "is_transpose"},
	{.name = "ceil_mode"},
	{.name = "padding_mode"},
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))
static const struct tt_schema schema = {"SlidingWindowConfig", fields, FIELDS, false};

static struct ttnn_value numbers(struct tt_arena *arena, const uint32_t *from, size_t count)
{
	struct ttnn_value *items = tt_arena_alloc(arena, count * sizeof(*items));

	if (!items)
		return (struct ttnn_value){0};
	for (size_t i = 0; i < count; i++)
		items[i] = ttnn_v_int(from[i]);
	return ttnn_v_list(items, count);
}

struct ttnn_value tt_slide_value(struct tt_arena *arena, const struct tt_slide *s)
{
	struct ttnn_value *v = tt_arena_calloc(arena, FIELDS, sizeof(*v));
	size_t i = 0;

	if (!v)
		return (struct ttnn_value){0};
	v[i++] = ttnn_v_int(s->batch);
	v[i++] = ttnn_v_int(s->channels);
	v[i++] = numbers(arena, s->in, 2);
	v[i++] = numbers(arena, s->window, 2);
	v[i++] = numbers(arena, s->stride, 2);
	v[i++] = numbers(arena, s->pad, 4);
	v[i++] = numbers(arena, s->out_pad, 2);
	v[i++] = numbers(arena, s->dilation, 2);
	v[i++] = s->has_ceil_pad ? numbers(arena, s->ceil_pad, 2) : ttnn_v_none();
	v[i++] = ttnn_v_int(s->scale[0] ? s->scale[0] : 1);
	v[i++] = ttnn_v_int(s->scale[1] ? s->scale[1] : 1);
	v[i++] = ttnn_v_int(s->cores_nhw);
	v[i++] = ttnn_v_int(s->cores_c);
	v[i++] = s->cores ? ttnn_v_core_set(s->cores) : ttnn_v_none();
	v[i++] = ttnn_v_bool(s->snap);
	v[i++] = ttnn_v_bool(s->bilinear);
	v[i++] = ttnn_v_bool(s->transpose);
	v[i++] = ttnn_v_bool(s->ceil);
	v[i++] = tt_value_enum(&tt_enum_padding, s->replicate);
	return tt_value_object(&schema, v);
}

/* ---- arguments ---------------------------------------------------------------------------------------- */

tt_status tt_slide_pair(uint32_t out[2], const struct tt_call *call, const char *name)
{
	int64_t items[2];
	size_t count;

	TT_TRY(tt_call_ints(items, &count, 2, call, name));
	for (size_t i = 0; i < count; i++)
		out[i] = (uint32_t)items[i];
	return TTNN_OK;
}

tt_status tt_slide_padding(uint32_t out[4], const struct tt_call *call)
{
	int64_t items[4];
	size_t count;

	TT_TRY(tt_call_ints(items, &count, 4, call, "padding"));
	for (size_t i = 0; i < 4 && count; i++)
		out[i] = (uint32_t)items[count == 2 ? i / 2 : i];
	return TTNN_OK;
}
