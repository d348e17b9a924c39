/* conv_slice.c: convolutions of images that do not fit into L1, slice by slice. */
#include <string.h>

#include "base/deadline.h"
#include "ops/conv/conv.h"
#include "ops/movement/movement.h"

/* ---- slices -------------------------------------------------------------------------------------------- */

static int64_t max(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* How far a number lies before the next multiple of another. */
static int64_t short_of(int64_t n, int64_t unit)
{
	return n % unit ? unit - n % unit : 0;
}

/*
 * The same of a transposed one along dimension d, where pixels are `stride` apart: upstream's
 * ConvT2DSliceAttr::get_input_slice_and_padding(), step by step.
 */
static void part_along(struct tt_conv *part, uint32_t *start, const struct tt_conv *conv,
		       const struct tt_slice *slice, int d)
{
	int64_t base = (int64_t)conv->dilation[d] * (conv->kernel[d] - 1), step = conv->stride[d];
	int64_t around[2] = {base - conv->pad[2 * d], base - conv->pad[2 * d + 1]};
	int64_t begin = slice->start[d], end = slice->end[d], size = conv->in[d];
	int64_t first = begin > around[0] ? (begin - around[0] + step - 1) / step : 0;
	int64_t reach = end - around[0] + base, last = (reach - 1) / step + 1;
	int64_t pads[2];
	uint32_t out[2];

	tt_conv_out(out, conv);
	pads[0] = max(max(0, around[0] - begin), short_of(max(0, begin - around[0]), step));
	pads[1] = max(max(0, reach - out[d]), end < out[d] ? (reach - 1) % step : 0);
	last = last < size ? last : size;
	part->out_pad[d] = 0;
	if (begin == 0) {
		pads[0] = around[0];
		first = 0;
	}
	if (end == out[d]) {
		pads[1] = around[1];
		last = size;
		part->out_pad[d] = conv->out_pad[d];
	}
	*start = (uint32_t)first;
	part->in[d] = (uint32_t)(last - first);
	part->pad[2 * d] = (uint32_t)(base - pads[0]);
	part->pad[2 * d + 1] = (uint32_t)(base - pads[1]);
}

static struct tt_conv transposed_part(uint32_t start[2], const struct tt_conv *conv,
				      const struct tt_slice *slice)
{
	uint32_t beyond = (slice->end[1] - slice->start[1]) % TT_TILE;
	struct tt_conv part = *conv;

	for (int d = 0; d < 2; d++)
		part_along(&part, &start[d], conv, slice, d);
	if ((part.in[0] != conv->in[0] || part.in[1] != conv->in[1]) && beyond &&
	    conv->config.out_layout == TTNN_TILE)
		part.out_pad[1] += TT_TILE - beyond;
	return part;
}

/* The part of the image that a slice of the result needs, as a convolution of its own. */
static struct tt_conv part_of(uint32_t start[2], const struct tt_conv *conv,
			      const struct tt_slice *slice)
{
	struct tt_slide slide = tt_conv_slide(conv), window = tt_slide_part(start, &slide, slice);
	uint32_t beyond = (slice->end[1] - slice->start[1]) % TT_TILE;
	struct tt_conv part = *conv;

	if (conv->transposed)
		return transposed_part(start, conv, slice);
	memcpy(part.in, window.in, sizeof(part.in));
	memcpy(part.pad, window.pad, sizeof(part.pad));
	/* Tiles of the result are written whole. */
	if ((part.in[0] != conv->in[0] || part.in[1] != conv->in[1]) && beyond &&
	    conv->config.out_layout == TTNN_TILE)
		part.pad[3] += (TT_TILE - beyond) * conv->stride[1];
	return part;
}

/* How the input of a slice is sharded; the convolution gets the layout. */
static tt_status slice_memory(struct ttnn_memory_config *memory, struct tt_conv *part,
			      const struct tt_conv *conv)
{
	bool whole = part->in[0] == conv->in[0] && part->in[1] == conv->in[1];
	struct tt_conv exact = tt_conv_untransposed(part), shape = exact;
	struct tt_parallel parallel;
	uint32_t alignment, out[2];

	tt_conv_out(out, part);
	/* Only the sizes matter to the choice of cores, not how they come about. */
	for (int d = 0; d < 2; d++) {
		exact.pad[2 * d] = conv->transposed ? 0 : conv->pad[2 * d];
		exact.pad[2 * d + 1] = conv->transposed ? 0 : conv->pad[2 * d + 1];
		shape.in[d] = out[d];
		shape.kernel[d] = shape.stride[d] = shape.dilation[d] = 1;
		shape.pad[2 * d] = shape.pad[2 * d + 1] = 0;
	}
	if (!part->config.has_layout) {
		TT_TRY(tt_conv_choose_layout(&exact, false));
		part->config.has_layout = shape.config.has_layout = true;
		part->config.layout = shape.config.layout = exact.config.layout;
	}
	alignment = tt_conv_alignment(part->config.layout, part->in_layout, !whole, false, NULL);
	shape.config.block_height = 0;
	TT_TRY(tt_conv_parallel(&parallel, &shape, false, alignment));
	return tt_conv_input_memory(
		memory, part, &parallel, (uint64_t)part->batch * part->in[0] * part->in[1],
		tt_conv_alignment(parallel.scheme, part->in_layout, !whole, false, NULL));
}

/*
 * A slice needs its buffers, or while its halo is gathered the image and the halo: the larger
 * one.
 */
static tt_status slice_usage(uint64_t *out, const struct tt_conv *conv,
			     const struct tt_slice *slice)
{
	struct ttnn_memory_config memory;
	struct tt_conv_usage usage;
	struct tt_conv part;
	uint32_t start[2];

	part = part_of(start, conv, slice);
	TT_TRY(slice_memory(&memory, &part, conv));
	TT_TRY(tt_conv_usage(&usage, &part, false, &memory));
	*out = usage.halo_in + usage.halo_out > usage.total ? usage.halo_in + usage.halo_out
							    : usage.total;
	return TTNN_OK;
}

/* ---- how many -------------------------------------------------------------------------------------------- */

struct tt_slice_walk tt_slice_walk(const uint32_t out[2], enum ttnn_layout layout,
				   const struct tt_conv_slices *slices)
{
	bool across = slices->kind != TT_SLICE_HEIGHT;

	return (struct tt_slice_walk){.out = {out[0], out[1]},
				      .along = across,
				      .unit = layout == TTNN_TILE && across ? TT_TILE : 1,
				      .count = slices->count};
}

/*
 * Slices as even as their unit allows: the first ones have one unit more. Empty ones are left
 * out.
 */
bool tt_slice_next(struct tt_slice *out, struct tt_slice_walk *walk)
{
	uint32_t size = walk->out[walk->along];
	uint32_t units = (uint32_t)tt_div_up(size, walk->unit);

	while (walk->at < size && walk->index < walk->count) {
		uint32_t share = walk->unit * (units / walk->count +
					       (walk->index < units % walk->count ? 1 : 0));
		uint32_t end = walk->at + share < size ? walk->at + share : size;

		walk->index++;
		if (end == walk->at)
			continue;
		*out = (struct tt_slice){.end = {walk->out[0], walk->out[1]}};
		out->start[walk->along] = walk->at;
		out->end[walk->along] = end;
		walk->at += share;
		return true;
	}
	return false;
}

static struct tt_slice_walk walk_begin(const struct tt_conv *conv,
				       const struct tt_conv_slices *slices)
{
	uint32_t out[2];

	tt_conv_out(out, conv);
	return tt_slice_walk(out, conv->config.out_layout, slices);
}

/* Slices at the edges have other padding, so all of them are asked, until one takes more than there is room. */
static tt_status most_usage(uint64_t *out, const struct tt_conv *conv,
			    const struct tt_conv_slices *slices, uint64_t room)
{
	struct tt_slice_walk walk = walk_begin(conv, slices);
	struct tt_slice slice;
	uint64_t bytes;

	*out = 0;
	while (*out <= room && tt_slice_next(&slice, &walk)) {
		TT_TRY(slice_usage(&bytes, conv, &slice));
		*out = bytes > *out ? bytes : *out;
	}
	return TTNN_OK;
}

/* Slices across need less halo, but tall images would become too thin, and tiles too few. */
enum tt_slice_kind tt_slice_guess(const uint32_t in[2], enum ttnn_layout layout)
{
	uint32_t h = in[0], w = in[1];

	if (layout == TTNN_ROW_MAJOR)
		return h > 3 * w ? TT_SLICE_HEIGHT : TT_SLICE_WIDTH;
	return w < 200 || h > w ? TT_SLICE_HEIGHT : TT_SLICE_WIDTH;
}

/*
 * As few slices as fit into what is free of L1 now. Widths in tiles cannot be cut finer than
 * tiles; if that is not enough and the caller left the direction open, heights are tried.
 */
static tt_status search(struct tt_conv_slices *out, const struct tt_conv *conv, bool open)
{
	uint64_t room = tt_allocator_stats(&conv->device->memory->allocator, TTNN_L1).free, bytes;
	bool across = out->kind == TT_SLICE_WIDTH, tiled = conv->config.out_layout == TTNN_TILE;
	uint32_t size[2], most, count;

	tt_conv_out(size, conv);
	/* Upstream takes the width here, whatever is cut. */
	most = size[1];
	for (count = 1; count <= (most + 1) / 2; count++) {
		out->count = count;
		if (tt_deadline_stop())
			return tt_deadline_check();
		TT_TRY(most_usage(&bytes, conv, out, room));
		if (room >= bytes)
			break;
	}
	if (tiled && across && out->count > tt_div_up(most, TT_TILE))
		out->count = (uint32_t)tt_div_up(most, TT_TILE);
	if (open && tiled && across && count > (most - 1) / 2) {
		out->kind = TT_SLICE_HEIGHT;
		return search(out, conv, false);
	}
	return TTNN_OK;
}

tt_status tt_conv_choose_slices(struct tt_conv_slices *out, const struct tt_conv *conv,
				const struct tt_conv_slices *request)
{
	struct tt_slice_walk walk;
	uint32_t most;

	*out = *request;
	if (!out->given)
		out->kind = tt_slice_guess(conv->in, conv->config.out_layout);
	if (!out->count)
		TT_TRY(search(out, conv, !request->given));
	out->given = true;
	walk = walk_begin(conv, out);
	most = (uint32_t)tt_div_up(walk.out[walk.along], walk.unit);
	out->count = out->count < most ? out->count : most;
	return TTNN_OK;
}

/* Upstream's setup_conv_prep_config(): nothing is padded behind the slice, the image is as long as that needs. */
tt_status tt_conv_first_slice(struct ttnn_memory_config *memory, struct tt_conv *conv,
			      const struct tt_conv_slices *slices)
{
	struct tt_slice_walk walk = walk_begin(conv, slices);
	uint32_t size = walk.out[walk.along], d = walk.along, start[2];
	struct tt_slice slice = {.end = {walk.out[0], walk.out[1]}};
	struct tt_conv part;
	uint64_t least;

	TT_REQUIRE(slices->count <= size, "dram_slice_config.num_slices <= output_sliced_dim",
		   " Number of slices %u should be less or equal than the dimension being sliced "
		   "%u in Conv2D DRAM Slicing",
		   slices->count, size);
	least = tt_div_up(tt_div_up(size, walk.unit), slices->count) * walk.unit;
	slice.end[d] = (uint32_t)least;
	part = part_of(start, conv, &slice);
	TT_TRY(slice_memory(memory, &part, conv));
	conv->in[d] = (slice.end[d] - 1) * conv->stride[d] +
		      (conv->kernel[d] - 1) * (conv->dilation[d] - 1) + conv->kernel[d] -
		      conv->pad[2 * d];
	conv->pad[2 * d + 1] = 0;
	return TTNN_OK;
}

/* ---- running --------------------------------------------------------------------------------------------- */

/* Slices are made in tiles, whatever the result is made of. */
static tt_status to_rows(struct tt_tensor **result, struct tt_call *call)
{
	struct tt_tensor *tiles = *result;
	tt_status status = TT_CALL(result, call, "ttnn.untilize", {NULL, ttnn_v_tensor(tiles)});

	if (status == TTNN_OK)
		tt_call_overwrite(call, tiles);
	else
		tt_call_drop(call, tiles);
	return status;
}

static tt_status run_slice(struct tt_conv_run *run, struct tt_tensor *out,
			   const struct tt_slice *slice)
{
	struct tt_conv_run part = *run;
	struct tt_image_part piece = {.batch = run->conv.batch, .channels = run->conv.in_channels};
	struct ttnn_memory_config memory;
	struct tt_tensor *result;
	tt_status status;
	uint32_t size[2];

	part.conv = part_of(piece.start, &run->conv, slice);
	piece.size[0] = part.conv.in[0];
	piece.size[1] = part.conv.in[1];
	TT_TRY(slice_memory(&memory, &part.conv, &run->conv));
	TT_TRY(tt_part_fetch(&part.in, run->call, run->in, &piece, &memory));
	tt_call_own(run->call, part.in);
	part.memory = NULL;
	part.conv.in_dtype = part.in->spec.dtype;
	part.conv.in_layout = part.in->spec.layout;
	part.conv.config.free_input = part.conv.config.move_halo = true;
	part.conv.config.out_layout = TTNN_TILE;
	status = tt_conv_run_l1(&result, &part);
	run->weight = part.weight;
	run->bias = part.bias;
	run->new_weight = part.new_weight;
	run->new_bias = part.new_bias;
	TT_TRY(status);
	tt_call_drop(run->call, part.in);
	if (run->conv.config.out_layout == TTNN_ROW_MAJOR)
		TT_TRY(to_rows(&result, run->call));
	tt_conv_out(size, &part.conv);
	piece = (struct tt_image_part){
		.batch = run->conv.batch,
		.start = {slice->start[0], slice->start[1]},
		.size = {slice->end[0] - slice->start[0], slice->end[1] - slice->start[1]},
		.channels = run->conv.out_channels,
		.pitch = size[1]};
	return tt_call_drop_after(run->call, tt_part_write(run->call, result, out, &piece), result);
}

tt_status tt_conv_run_slices(struct tt_conv_run *run, struct tt_tensor *out,
			     const struct tt_conv_slices *slices)
{
	struct tt_slice_walk walk = walk_begin(&run->conv, slices);
	struct tt_slice slice;

	while (tt_slice_next(&slice, &walk))
		TT_TRY(run_slice(run, out, &slice));
	return TTNN_OK;
}
