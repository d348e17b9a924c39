/*
 * conv_parts.c: parts of images in DRAM: the programs that fetch one into shards, and that write
 * one from shards back.
 *
 * Models PaddedSliceDeviceOperation (experimental/padded_slice) and SliceWriteDeviceOperation
 * (experimental/slice_write) of ttnn 0.81 as convolutions use them, each with a factory for rows
 * and one for tiles: memory (that of fetching is padded_slice.c's), cores. Not modelled: their
 * use by others, for which slice_write.c has the rest.
 */
#include "ops/conv/conv.h"
#include "ops/movement/movement.h"

enum { START, END, STEP, MEMORY };

static const struct tt_field fields[] = {
	[START] = {.name = "slice_start"},
	[END] = {.name = "slice_end"},
	[STEP] = {.name = "step"},
	[MEMORY] = {.name = "output_mem_config"},
};
static const struct tt_schema fetch_schema = {"PaddedSliceParams", fields, 4, false};
static const struct tt_schema write_schema = {"SliceWriteParams", fields, 3, false};

static const struct tt_image_part *part_of(const struct tt_launch *launch)
{
	return launch->extra;
}

/* ---- program memory ---------------------------------------------------------------------------------- */

static tt_status shard_memory(struct tt_plan *plan, struct tt_tensor *sharded)
{
	const struct ttnn_shard_spec *shard = &sharded->spec.memory.shard;
	uint64_t bytes =
		sharded->spec.layout == TTNN_TILE
			? tt_shard_tiles(&sharded->spec) * sharded->spec.page_bytes
			: (uint64_t)shard->height * shard->width * tt_element_bytes(sharded);

	return TT_PLAN(plan, shard->grid,
		       TT_CB_ROW(0, "shard", .pages = 1, .page = bytes, .backing = sharded));
}

static tt_status write_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	return shard_memory(plan, launch->inputs[0]);
}

static tt_status conv_parts_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = launch->inputs[0]->spec.layout == TTNN_TILE;
	return TTNN_OK;
}

/* ---- fetching ----------------------------------------------------------------------------------------- */

static tt_status fetch_infer(struct tt_launch *launch)
{
	const struct tt_image_part *part = part_of(launch);
	enum ttnn_dtype dtype = launch->inputs[0]->spec.dtype;
	struct ttnn_spec_args args = {.dtype = tt_dtype_is_block(dtype) ? TTNN_BFLOAT16 : dtype,
				      .layout = TTNN_ROW_MAJOR,
				      .memory = *launch->attrs[MEMORY].memory};
	struct ttnn_shape padded;

	args.shape = (struct ttnn_shape){
		4, {1, 1, part->batch * part->size[0] * part->size[1], part->channels}};
	padded = args.shape;
	padded.dim[3] = (uint32_t)tt_align_to(padded.dim[3], args.memory.shard.width);
	return tt_tensor_spec_padded(&launch->specs[0], &args, &padded);
}

static tt_status fetch_kernel(struct tt_launch *launch)
{
	const struct tt_image_part *p = part_of(launch);
	const struct tt_move_loop loops[4] = {
		{p->batch, 0, 2, 1, (int64_t)p->size[0] * p->size[1]},
		{p->size[0], 1, 2, 1, p->size[1]},
		{p->size[1], 2, 2, 1, 1},
		{p->channels, 3, 3, 1, 1},
	};
	struct tt_move_job job = {.out = launch->outputs[0],
				  .in = launch->inputs[0],
				  .loops = loops,
				  .loop_count = 4,
				  .in_start = {0, p->start[0], p->start[1], 0}};

	return tt_backend_get()->move(&job);
}

static const struct tt_prog fetch_prog = {
	.device_op = "PaddedSliceDeviceOperation",
	.prim = "ttnn::prim::padded_slice",
	.attrs = &fetch_schema,
	.infer = fetch_infer,
	TT_FACTORIES(tt_padded_slice_factories),
	.choose = conv_parts_choose,
	TT_KERNEL(fetch_kernel),
	.cost = tt_cost_moved_tensors,
};

/* ---- writing ------------------------------------------------------------------------------------------- */

static tt_status write_infer(struct tt_launch *launch)
{
	launch->specs[0] = launch->inputs[1]->spec;
	return TTNN_OK;
}

static tt_status write_kernel(struct tt_launch *launch)
{
	const struct tt_image_part *p = part_of(launch);
	const struct tt_move_loop loops[4] = {
		{p->batch, 2, 0, (int64_t)p->size[0] * p->pitch, 1},
		{p->size[0], 2, 1, p->pitch, 1},
		{p->size[1], 2, 2, 1, 1},
		{p->channels, 3, 3, 1, 1},
	};
	struct tt_move_job job = {.out = launch->outputs[0],
				  .in = launch->inputs[0],
				  .loops = loops,
				  .loop_count = 4,
				  .out_start = {0, p->start[0], p->start[1], 0}};

	return tt_backend_get()->move(&job);
}

static const struct tt_factory write_factories[] = {
	{.name = "ttnn::experimental::prim::SliceWriteRMShardedInputProgramFactory",
	 .memory = write_memory},
	{.name = "ttnn::experimental::prim::SliceWriteTiledShardedInputProgramFactory",
	 .memory = write_memory},
};
static void write_cost(struct tt_cost *cost, const struct tt_launch *launch)
{
	tt_cost_tensors(cost, launch);
	cost->moves = true;
}

static const struct tt_prog write_prog = {
	.device_op = "SliceWriteDeviceOperation",
	.prim = "ttnn::prim::slice_write",
	.attrs = &write_schema,
	.infer = write_infer,
	TT_FACTORIES(write_factories),
	.choose = conv_parts_choose,
	TT_KERNEL(write_kernel),
	.cost = write_cost,
};

/* ---- launching ------------------------------------------------------------------------------------------ */

struct bounds {
	struct ttnn_shape start, end, step;
};

static struct bounds bounds_of(const struct tt_image_part *p)
{
	return (struct bounds){
		.start = {4, {0, p->start[0], p->start[1], 0}},
		.end = {4,
			{p->batch, p->start[0] + p->size[0], p->start[1] + p->size[1],
			 p->channels}},
		.step = {4, {1, 1, 1, 1}},
	};
}

tt_status tt_part_fetch(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *image,
			const struct tt_image_part *part, const struct ttnn_memory_config *memory)
{
	struct bounds b = bounds_of(part);
	struct ttnn_value attrs[] = {ttnn_v_shape(&b.start), ttnn_v_shape(&b.end),
				     ttnn_v_shape(&b.step), ttnn_v_memory(memory)};

	return TT_LAUNCH(out, call, &fetch_prog, .attrs = attrs, TT_INPUTS(image), .extra = part);
}

tt_status tt_part_write(struct tt_call *call, struct tt_tensor *sharded, struct tt_tensor *image,
			const struct tt_image_part *part)
{
	struct bounds b = bounds_of(part);
	struct ttnn_value attrs[] = {ttnn_v_shape(&b.start), ttnn_v_shape(&b.end),
				     ttnn_v_shape(&b.step)};
	struct tt_tensor *inputs[] = {sharded, image}, *out;

	/* Tiles are written whole. */
	if (image->spec.layout == TTNN_TILE)
		b.end.dim[2] = (uint32_t)tt_align_to(b.end.dim[2], TT_TILE);
	TT_TRY(TT_LAUNCH(&out, call, &write_prog, .attrs = attrs, .inputs = inputs,
			 .input_count = 2, TT_OUTPUTS(image), .extra = part, .in_place = true));
	ttnn_tensor_unref(out);
	return TTNN_OK;
}
