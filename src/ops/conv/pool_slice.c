/*
 * pool_slice.c: pools of images in DRAM that do not fit into L1, slice by slice. Models Pool2dSliceAttr of ttnn 0.81 and
 * its estimate of L1.
 */
#include "base/deadline.h"
#include "ops/conv/pool_ops.h"
#include "ops/movement/movement.h"

#define ELEMENT 2u /* of a halo: bytes of bfloat16 */

/* A slice of the call: its pool, and where its part of the images begins. */
static struct tt_pool_run part_of(uint32_t start[2], const struct tt_pool_run *run,
				  const struct tt_slice *slice)
{
	struct tt_pool_run part = *run;
	struct tt_slide *slide = &part.pool.slide;
	uint32_t width = slice->end[1] - slice->start[1], size[2], ceil[2];

	*slide = tt_slide_part(start, &run->pool.slide, slice);
	tt_slide_out(size, &run->pool.slide);
	tt_slide_ceil_pad(ceil, &run->pool.slide);
	slide->has_ceil_pad = true;
	for (int d = 0; d < 2; d++)
		slide->ceil_pad[d] = slice->end[d] == size[d] ? ceil[d] : 0;
	part.memory = NULL;
	part.free_input = part.move_halo = true;
	/* Tiles of the result are written whole. */
	if (run->pool.layout == TTNN_TILE && width % TT_TILE) {
		uint32_t pad = slide->pad[3];

		width = (uint32_t)tt_align_to(width, TT_TILE);
		slide->pad[3] = (width - 1) * slide->stride[1] +
				(slide->window[1] - 1) * slide->dilation[1] + 1 - slide->in[1];
		part.pool.beyond = slide->pad[3] - pad;
	}
	return part;
}

/* A slice has a part of the images, and not its padding alone. */
static tt_status check_part(const struct tt_pool_run *part, const struct tt_pool_run *run)
{
	TT_NEED(part->pool.slide.in[0] <= run->pool.slide.in[0] &&
			part->pool.slide.in[1] <= run->pool.slide.in[1],
		"a slice of the result lies wholly in the padding");
	return TTNN_OK;
}

/* Shards of a slice, of the kind that suits the whole. */
static tt_status part_memory(struct ttnn_memory_config *out, const struct tt_pool_run *part,
			     const struct tt_pool_run *run)
{
	const struct tt_slide *slide = &part->pool.slide;
	uint64_t rows = (uint64_t)slide->batch * slide->in[0] * slide->in[1];
	struct tt_pool_run like = *part;
	struct tt_parallel whole;

	TT_TRY(check_part(part, run));
	if (!tt_value_given(&run->scheme)) {
		TT_TRY(tt_pool_parallel(&whole, &run->pool,
					tt_grid_size(tt_tensor_device(run->in)->grid)));
		like.scheme = tt_value_enum(&tt_enum_memory_layout, (int64_t)whole.scheme);
	}
	return tt_pool_shards(
		out, &like, part->pool.in_layout == TTNN_TILE ? tt_align_to(rows, TT_TILE) : rows);
}

/* The bytes of L1 that a core needs for a slice: while its halo is gathered, or while windows are reduced. */
static tt_status part_usage(uint64_t *out, const struct tt_pool_run *run,
			    const struct tt_slice *slice)
{
	uint32_t start[2];
	struct tt_pool_run part = part_of(start, run, slice);
	struct tt_slide *slide = &part.pool.slide;
	struct ttnn_memory_config memory;
	struct ttnn_shard_spec result;
	struct tt_parallel parallel;
	uint64_t halo, gather, reduce, stick;
	uint32_t size[2];

	TT_TRY(part_memory(&memory, &part, run));
	parallel = tt_parallel_of(&memory);
	slide->cores_nhw = tt_parallel_rows(&parallel);
	slide->cores_c = tt_parallel_channels(&parallel);
	slide->snap = part.pool.layout == TTNN_TILE;
	stick = (uint64_t)memory.shard.width * ELEMENT;
	halo = tt_slide_halo_sticks(slide) * stick;
	gather = memory.shard.height * stick + halo +
		 2 * tt_align_to(stick, tt_memory_alignment(tt_tensor_device(run->in), TTNN_L1));
	if (part.pool.in_layout == TTNN_TILE)
		gather += 4 * tt_div_up(memory.shard.width, TT_TILE) * TT_TILE * TT_TILE * ELEMENT;
	tt_slide_out(size, slide);
	result = memory.shard;
	result.height = size[0] * size[1] / slide->cores_nhw;
	if (slide->snap)
		result.height = (uint32_t)tt_align_to(result.height, TT_TILE);
	TT_TRY(tt_pool_usage(&reduce, &part.pool, slide->cores_c, &result));
	reduce += halo + result.height * stick;
	*out = gather > reduce ? gather : reduce;
	return TTNN_OK;
}

/* What the largest slice takes, or the first that takes more than there is room. */
static tt_status most_usage(uint64_t *out, const struct tt_pool_run *run,
			    const struct tt_conv_slices *slices, uint64_t room)
{
	struct tt_slice_walk walk;
	struct tt_slice slice;
	uint32_t size[2];
	uint64_t bytes;

	*out = 0;
	tt_slide_out(size, &run->pool.slide);
	walk = tt_slice_walk(size, run->pool.layout, slices);
	while (*out <= room && tt_slice_next(&slice, &walk)) {
		TT_TRY(part_usage(&bytes, run, &slice));
		*out = bytes > *out ? bytes : *out;
	}
	return TTNN_OK;
}

/* The fewest slices of this kind that fit; more than `most` when none do. */
static tt_status search(struct tt_conv_slices *out, const struct tt_pool_run *run, uint32_t most)
{
	struct tt_device *device = tt_tensor_device(run->in);
	uint64_t room = tt_allocator_stats(&device->memory->allocator, TTNN_L1).free, bytes;

	for (out->count = 1; out->count <= most; out->count++) {
		if (tt_deadline_stop())
			return tt_deadline_check();
		TT_TRY(most_usage(&bytes, run, out, room));
		if (bytes <= room)
			break;
	}
	return TTNN_OK;
}

static uint32_t most_slices(const struct tt_pool_run *run, const struct tt_conv_slices *slices)
{
	struct tt_slice_walk walk;
	uint32_t size[2];

	tt_slide_out(size, &run->pool.slide);
	walk = tt_slice_walk(size, run->pool.layout, slices);
	return (uint32_t)tt_div_up(size[walk.along], walk.unit);
}

tt_status tt_pool_choose_slices(struct tt_conv_slices *out, const struct tt_pool_run *run)
{
	const struct tt_slide *slide = &run->pool.slide;
	bool open;

	tt_conv_slices_read(out, tt_call_arg(run->call, "dram_slice_config"));
	open = !out->given;
	if (out->given && out->kind == TT_SLICE_L1)
		out->count = 1;
	if (out->count) {
		TT_REQUIRE(out->kind == TT_SLICE_L1 || out->count <= most_slices(run, out),
			   "dram_slice_config.num_slices <= max_num_slices",
			   "Number of slices (%u) exceeds the maximum allowed (%u) for the given "
			   "output dimension and alignment.",
			   out->count, most_slices(run, out));
		return TTNN_OK;
	}
	if (open)
		out->kind = tt_slice_guess(slide->in, run->pool.layout);
	TT_TRY(search(out, run, most_slices(run, out)));
	if (open && out->count > most_slices(run, out)) {
		out->kind = out->kind == TT_SLICE_HEIGHT ? TT_SLICE_WIDTH : TT_SLICE_HEIGHT;
		TT_TRY(search(out, run, most_slices(run, out)));
	}
	TT_REQUIRE(
		out->count <= most_slices(run, out), "found_valid_config",
		"DRAM Auto slice could not find valid slice configuration. Tried up to %u slices "
		"for %s-slicing on output dimension %u. Operation requires more memory than "
		"available even with maximum slicing.",
		out->count - 1, out->kind == TT_SLICE_HEIGHT ? "height" : "width",
		most_slices(run, out));
	return TTNN_OK;
}

static tt_status run_slice(struct tt_pool_run *run, struct tt_tensor *out,
			   const struct tt_slice *slice)
{
	struct tt_image_part piece = {.batch = run->pool.slide.batch,
				      .channels = run->pool.slide.channels};
	struct tt_pool_run part = part_of(piece.start, run, slice);
	struct ttnn_memory_config memory;
	struct tt_tensor *result[2];
	uint32_t size[2];
	size_t count;

	for (int d = 0; d < 2; d++)
		piece.size[d] = part.pool.slide.in[d];
	TT_TRY(part_memory(&memory, &part, run));
	TT_TRY(tt_part_fetch(&part.in, run->call, run->in, &piece, &memory));
	tt_call_own(run->call, part.in);
	part.scheme = ttnn_v_none();
	part.pool.in_dtype = part.in->spec.dtype;
	part.pool.in_layout = part.in->spec.layout;
	TT_TRY(tt_pool_run_l1(result, &count, &part));
	tt_call_drop(run->call, part.in);
	tt_slide_out(size, &part.pool.slide);
	piece = (struct tt_image_part){
		.batch = run->pool.slide.batch,
		.start = {slice->start[0], slice->start[1]},
		.size = {slice->end[0] - slice->start[0], slice->end[1] - slice->start[1]},
		.channels = run->pool.slide.channels,
		.pitch = size[1]};
	return tt_call_drop_after(run->call, tt_part_write(run->call, result[0], out, &piece),
				  result[0]);
}

tt_status tt_pool_run_slices(struct tt_tensor **out, struct tt_pool_run *run,
			     const struct tt_conv_slices *slices)
{
	const struct tt_slide *slide = &run->pool.slide;
	struct ttnn_shape image = {4, {slide->batch, slide->in[0], slide->in[1], slide->channels}};
	struct ttnn_spec_args args = {.dtype = run->pool.dtype,
				      .layout = run->pool.layout,
				      .memory = {.buffer = TTNN_DRAM}};
	struct tt_tensor *given = run->in, *result;
	struct tt_slice_walk walk;
	struct ttnn_tensor_spec spec;
	struct tt_slice slice;
	uint32_t size[2];

	tt_slide_out(size, slide);
	args.shape = (struct ttnn_shape){4, {slide->batch, size[0], size[1], slide->channels}};
	if (!ttnn_shape_equal(&given->spec.shape, &image)) {
		TT_TRY(tt_call_reshape(&run->in, run->call,
				       &(struct tt_reshape_args){given, &image, &image, NULL}));
		tt_call_own(run->call, run->in);
	}
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(tt_call_create(&result, run->call, tt_tensor_device(given), &spec));
	tt_call_own(run->call, result);
	walk = tt_slice_walk(size, run->pool.layout, slices);
	while (tt_slice_next(&slice, &walk))
		TT_TRY(run_slice(run, result, &slice));
	if (run->free_input)
		tt_call_deallocate(run->call, given);
	*out = ttnn_tensor_ref(result);
	return TTNN_OK;
}
