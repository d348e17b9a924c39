/*
 * untilize_unpad.c: from tiles to rows, without padding: untilize_with_unpadding.
 *
 * Models UntilizeWithUnpaddingDeviceOperation of ttnn 0.81
 * (data_movement/untilize_with_unpadding/device): refusals, memory, cores, and the choice of a
 * factory (unpad_choose()):
 *
 *	MultiCoreSharded, MultiCoreNDSharded  the input is sharded
 *	MultiCoreInterleaved                  the result is, or rows are narrow
 *	MultiCoreBlockInterleaved             wide tensors, or a row does not fit into L1
 *	SingleCore                            asked for
 *
 * Not modelled: where a block's last row is cut.
 */
#include <inttypes.h>

#include "golden/golden_movement.h"
#include "ops/movement/movement.h"
#include "ops/movement/untilize.h"

#define ATTRS(X)                                                                                   \
	X(END, "output_tensor_end")                                                                \
	X(MEMORY, "output_mem_config")                                                             \
	X(MULTI, "use_multicore")                                                                  \
	X(FP32, "fp32_dest_acc_en")                                                                \
	X(ENOUGH, "enough_space_height")                                                           \
	X(CORES, "sub_core_grids")
TT_ATTRS(schema, "UntilizeWithUnpaddingParams", ATTRS);

enum { SINGLE, LINES, SHARDS, BLOCKS, ND_SHARDS, FACTORIES };

/* ---- output ------------------------------------------------------------------------------------------ */

static struct ttnn_shape output_shape(const struct tt_launch *launch)
{
	struct ttnn_shape shape = *launch->attrs[END].shape;

	shape.rank = launch->inputs[0]->spec.shape.rank;
	for (uint32_t d = 0; d < shape.rank; d++)
		shape.dim[d]++;
	return shape;
}

/* One core's share, in whole tiles. */
static uint32_t part(uint64_t total, uint64_t cores, uint32_t tile)
{
	return (uint32_t)tt_align_to(tt_div_up(total, cores), tile);
}

/* Columns and rows of the rectangle of cores, as shards are laid on it. */
static tt_status shard_grid(uint64_t *cols, uint64_t *rows, const struct ttnn_shard_spec *shard)
{
	struct ttnn_core_range box;
	uint64_t x, y;

	TT_TRY(tt_core_set_box(&box, shard->grid));
	x = box.end.x - box.start.x + 1;
	y = box.end.y - box.start.y + 1;
	*cols = shard->orientation == TTNN_ORIENT_ROW_MAJOR ? x : y;
	*rows = shard->orientation == TTNN_ORIENT_ROW_MAJOR ? y : x;
	return TTNN_OK;
}

/* How many whole matrices are in a height shard. */
static uint64_t matrices_in(const struct ttnn_tensor_spec *in)
{
	uint64_t matrix = (uint64_t)tt_shape_last(&in->padded, 1) * tt_shape_last(&in->padded, 2);
	uint64_t count =
		(uint64_t)in->memory.shard.height * in->memory.shard.width / (matrix ? matrix : 1);

	return count ? count : 1;
}

/* Shards of the output; `shard` is the caller's, or the input's when that is sharded alike. */
static tt_status output_shard(struct ttnn_shard_spec *shard, const struct ttnn_tensor_spec *in,
			      const struct ttnn_shape *shape, enum ttnn_memory_layout layout)
{
	bool inherits = tt_memory_config_is_sharded(&in->memory);
	uint64_t rows, cores = ttnn_core_set_cores(shard->grid), down, across;
	uint32_t width = tt_shape_last(shape, 1);

	TT_TRY(tt_shape_rows(&rows, shape));
	if (layout == TTNN_BLOCK_SHARDED) {
		TT_TRY(shard_grid(&across, &down, shard));
		shard->height = part(rows, down, in->tile.height);
		shard->width = part(width, across, in->tile.width);
	} else if (layout == TTNN_WIDTH_SHARDED) {
		shard->height = (uint32_t)rows;
		if (!inherits)
			shard->width = part(width, cores, in->tile.width);
	} else {
		uint64_t count = inherits ? matrices_in(in) : 1;

		shard->height = count > 1 ? (uint32_t)count * tt_shape_last(shape, 2)
					  : part(rows, cores, in->tile.height);
		if (inherits)
			shard->width = width;
	}
	return TTNN_OK;
}

/* Shards shrink with the shape, where they are cut as before. */
static tt_status unpad_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *to = launch->attrs[MEMORY].memory;
	struct ttnn_spec_args args = {.shape = output_shape(launch),
				      .dtype = tt_untilized_dtype(in->dtype),
				      .layout = TTNN_ROW_MAJOR,
				      .memory = *to};
	bool from_shards = tt_memory_config_is_sharded(&in->memory);
	struct ttnn_shard_spec shard = from_shards ? in->memory.shard : to->shard;

	if (tt_memory_config_is_sharded(to) &&
	    (from_shards ? in->memory.has_shard && in->memory.layout == to->layout
			 : to->has_shard)) {
		TT_TRY(output_shard(&shard, in, &args.shape, to->layout));
		TT_TRY(ttnn_memory_config_sharded(&args.memory, to->layout, to->buffer, &shard));
	}
	return ttnn_tensor_spec_make(&launch->specs[0], &args);
}

/* ---- refusals ---------------------------------------------------------------------------------------- */

static const char *layout_text(enum ttnn_memory_layout layout)
{
	return tt_enum_name(&tt_enum_memory_layout, (int64_t)layout);
}

static bool is_single_matrix(const struct ttnn_tensor_spec *in)
{
	return in->rows * in->cols ==
	       (uint64_t)tt_shape_last(&in->padded, 1) * tt_shape_last(&in->padded, 2);
}

/* How many shards lie side by side. */
static uint32_t shard_columns(const struct ttnn_memory_config *memory)
{
	struct ttnn_core_range box;

	if (memory->layout == TTNN_WIDTH_SHARDED)
		return (uint32_t)ttnn_core_set_cores(memory->shard.grid);
	if (tt_core_set_box(&box, memory->shard.grid) != TTNN_OK)
		return 0;
	return memory->shard.orientation == TTNN_ORIENT_ROW_MAJOR ? box.end.x - box.start.x + 1
								  : box.end.y - box.start.y + 1;
}

#define UNBATCHED                                                                                  \
	"input_tensor_a.logical_volume() == 0 || input_tensor_a.physical_volume() / "              \
	"(input_tensor_a.padded_shape()[-2] * input_tensor_a.padded_shape()[-1]) == 1"
#define OUT_LAYOUT "operation_attributes.output_mem_config.memory_layout()"

/* The text says for which input. */
static tt_status check_interleaved_output(const struct tt_launch *launch, const char *what)
{
	const struct ttnn_memory_config *out = launch->attrs[MEMORY].memory;

	TT_REQUIRE(out->layout == TTNN_INTERLEAVED,
		   OUT_LAYOUT " == TensorMemoryLayout::INTERLEAVED",
		   "Output memory config layout must be INTERLEAVED%s but got "
		   "TensorMemoryLayout::%s",
		   what, layout_text(out->layout));
	return TTNN_OK;
}

/*
 * Blocks to width shards, or the other way: columns of shards stay where they are, so as many of them
 * must be left, and as wide.
 */
static tt_status check_cross(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *out = launch->attrs[MEMORY].memory;
	const char *from = layout_text(in->memory.layout), *to = layout_text(out->layout);
	uint32_t width = tt_shape_last(&launch->outputs[0]->spec.padded, 1);
	uint32_t had = shard_columns(&in->memory), has;

	TT_REQUIRE(out->has_shard,
		   "operation_attributes.output_mem_config.shard_spec().has_value()",
		   "Output memory config is sharded but no shard spec is provided");
	TT_REQUIRE(in->memory.shard.width == out->shard.width,
		   "input_tensor_a.shard_spec().value().shape[1] == "
		   "operation_attributes.output_mem_config.shard_spec().value().shape[1]",
		   "%s -> %s requires matching column shard width; got input=%u output=%u", from,
		   to, in->memory.shard.width, out->shard.width);
	has = (width + out->shard.width - 1) / out->shard.width;
	TT_REQUIRE(had == has, "input_kw == effective_output_kw",
		   "%s -> %s requires the output to effectively span the same number of column "
		   "shards as the input (%u), got %u (output width %u / shard width %u); "
		   "width-unpadding that reduces the column-shard count is not yet supported",
		   from, to, had, has, width, out->shard.width);
	TT_REQUIRE(is_single_matrix(in), UNBATCHED, "Can only write unbatched output for %s -> %s",
		   from, to);
	return TTNN_OK;
}

/* Blocks to blocks, width shards or interleaved; one matrix only. */
static tt_status check_block(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *out = launch->attrs[MEMORY].memory;
	size_t ranges;

	ttnn_core_set_ranges(in->memory.shard.grid, &ranges);
	TT_REQUIRE(ranges == 1, "input_tensor_a.shard_spec().value().grid.ranges().size() == 1",
		   "Expected single grid range and got %zu", ranges);
	if (!tt_memory_config_is_sharded(out)) {
		TT_TRY(check_interleaved_output(launch, " for block sharded input"));
		TT_REQUIRE(is_single_matrix(in), UNBATCHED,
			   "Can only write unbatched output interleaved");
		return TTNN_OK;
	}
	TT_REQUIRE(out->layout == TTNN_BLOCK_SHARDED || out->layout == TTNN_WIDTH_SHARDED,
		   "same_type || cross_to_width",
		   "Output memory config layout (TensorMemoryLayout::%s) must be BLOCK_SHARDED (or "
		   "WIDTH_SHARDED with a matching column shard width) when input is BLOCK_SHARDED "
		   "and output is sharded",
		   layout_text(out->layout));
	if (out->layout == TTNN_WIDTH_SHARDED)
		return check_cross(launch);
	TT_REQUIRE(is_single_matrix(in), UNBATCHED,
		   "Can only write unbatched output for BLOCK_SHARDED -> BLOCK_SHARDED");
	return TTNN_OK;
}

/* Height shards to height shards, or to interleaved where they hold whole rows. */
static tt_status check_height(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *out = launch->attrs[MEMORY].memory;

	if (tt_memory_config_is_sharded(out)) {
		TT_REQUIRE(out->layout == TTNN_HEIGHT_SHARDED,
			   OUT_LAYOUT " == TensorMemoryLayout::HEIGHT_SHARDED",
			   "Output memory config layout must be HEIGHT_SHARDED when output is "
			   "sharded but got TensorMemoryLayout::%s",
			   layout_text(out->layout));
		return TTNN_OK;
	}
	TT_TRY(check_interleaved_output(launch, ""));
	TT_REQUIRE(in->memory.shard.width == tt_shape_last(&in->padded, 1),
		   "input_tensor_a.shard_spec().value().shape[1] == "
		   "input_tensor_a.padded_shape()[-1]",
		   "Height-sharded untilize to interleaved output requires the shard width (%u) "
		   "to equal the padded tensor width (%u)",
		   in->memory.shard.width, tt_shape_last(&in->padded, 1));
	return TTNN_OK;
}

/* Nothing but the last two dimensions may shrink. */
static tt_status check_width(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *out = launch->attrs[MEMORY].memory;
	uint32_t was = tt_shape_last(&in->padded, 1);
	const struct ttnn_shape *to = &launch->outputs[0]->spec.shape;
	uint32_t is = tt_shape_last(&launch->outputs[0]->spec.padded, 1);

	for (uint32_t d = 0; d + 2 < in->padded.rank; d++)
		TT_REQUIRE(in->padded.dim[d] == to->dim[d],
			   "input_tensor_a.padded_shape()[i] == output_shape[i]",
			   "Input tensor padded shape[%u] (%u) must equal output shape[%u] (%u)", d,
			   in->padded.dim[d], d, to->dim[d]);
	if (!tt_memory_config_is_sharded(out)) {
		TT_TRY(check_interleaved_output(launch, ""));
		TT_REQUIRE(is_single_matrix(in), UNBATCHED,
			   "Can only write unbatched output interleaved");
		TT_REQUIRE(was - is < in->memory.shard.width,
			   "input_tensor_a.padded_shape()[-1] - output_shape[-1] < "
			   "input_tensor_a.shard_spec().value().shape[1]",
			   "Input tensor width difference (%u) must be less than shard width (%u)",
			   was - is, in->memory.shard.width);
		return TTNN_OK;
	}
	TT_REQUIRE(out->layout == TTNN_WIDTH_SHARDED || out->layout == TTNN_BLOCK_SHARDED,
		   "same_type || cross_to_block",
		   "Output memory config layout (TensorMemoryLayout::%s) must match input tensor "
		   "memory layout (TensorMemoryLayout::%s) (or be BLOCK_SHARDED with a matching "
		   "column shard width)",
		   layout_text(out->layout), layout_text(in->memory.layout));
	if (out->layout == TTNN_BLOCK_SHARDED)
		return check_cross(launch);
	TT_REQUIRE(was == is || (is + in->memory.shard.width - 1) / in->memory.shard.width ==
					ttnn_core_set_cores(in->memory.shard.grid),
		   "input_tensor_a.padded_shape()[-1] == output_shape[-1] || "
		   "(tt::div_up(output_shape[-1], input_tensor_a.shard_spec().value().shape[1]) == "
		   "input_tensor_a.shard_spec().value().grid.num_cores())",
		   "Input tensor width (%u) must equal output width (%u) or output width / shard "
		   "width must equal num cores",
		   was, is);
	return TTNN_OK;
}

/* Two-dimensional shards by their layout; ND shards are not checked. */
static tt_status check_shards(const struct tt_launch *launch)
{
	const struct ttnn_memory_config *in = &launch->inputs[0]->spec.memory;
	const struct ttnn_memory_config *out = launch->attrs[MEMORY].memory;

	if (!in->has_shard)
		return TTNN_OK;
	TT_REQUIRE(out->layout != TTNN_ND_SHARDED,
		   OUT_LAYOUT " != tt::tt_metal::TensorMemoryLayout::ND_SHARDED",
		   "Output memory config layout must not be ND_SHARDED when input has a legacy 2d "
		   "shard_spec");
	if (out->layout == in->layout)
		TT_REQUIRE(out->buffer == TTNN_L1,
			   "operation_attributes.output_mem_config.buffer_type() == "
			   "tt::tt_metal::BufferType::L1",
			   "%s -> %s output must be in L1; got buffer_type=BufferType::%s",
			   layout_text(in->layout), layout_text(out->layout),
			   tt_enum_name(&tt_enum_buffer_type, (int64_t)out->buffer));
	return in->layout == TTNN_BLOCK_SHARDED    ? check_block(launch)
	       : in->layout == TTNN_HEIGHT_SHARDED ? check_height(launch)
						   : check_width(launch);
}

/* In upstream's order. */
static tt_status unpad_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	TT_REQUIRE(tt_tensor_buffer(launch->inputs[0]), "input_tensor_a.buffer() != nullptr",
		   "Operands need to be allocated in buffers on device!");
	TT_REQUIRE(in->layout == TTNN_TILE, "input_tensor_a.layout() == Layout::TILE",
		   "Can only untilize tile major data");
	TT_REQUIRE(in->rows * in->cols % 1024 == 0,
		   "input_tensor_a.physical_volume() % tt::constants::TILE_HW == 0",
		   "Input tensor physical volume (%" PRIu64 ") must be divisible by TILE_HW (1024)",
		   in->rows * in->cols);
	if (tt_memory_config_is_sharded(&in->memory))
		return check_shards(launch);
	TT_REQUIRE(!tt_memory_config_is_sharded(launch->attrs[MEMORY].memory) ||
			   launch->attrs[MEMORY].memory->has_shard,
		   "operation_attributes.output_mem_config.shard_spec().has_value()",
		   "Output memory config is sharded but no shard spec is provided");
	return TTNN_OK;
}

/* ---- program memory ---------------------------------------------------------------------------------- */

/* As in untilize, with what the attribute says of L1. */
static tt_status unpad_choose(uint32_t *out, struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint64_t tiles =
		(uint64_t)tt_shape_last(&in->padded, 1) * tt_shape_last(&in->padded, 2) / 1024;
	bool wider;

	if (tt_memory_config_is_sharded(&in->memory)) {
		TT_REQUIRE(!tt_value_given(&launch->attrs[CORES]),
			   "!operation_attributes.sub_core_grids.has_value()",
			   "Sharded untilize does not support sub core grid specification");
		*out = in->memory.has_shard ? SHARDS : ND_SHARDS;
	} else if (tt_memory_config_is_sharded(launch->attrs[MEMORY].memory)) {
		*out = LINES;
	} else if (!launch->attrs[MULTI].boolean) {
		*out = SINGLE;
	} else if (!launch->attrs[ENOUGH].boolean) {
		*out = BLOCKS;
	} else {
		TT_TRY(tt_block_is_wider(&wider, tt_cores_or_all(launch, &launch->attrs[CORES]),
					 &in->padded, tiles, in->rows / TT_TILE));
		*out = wider ? BLOCKS : LINES;
	}
	return TTNN_OK;
}

static const char *const names[2] = {"in0", "out0"};

/* The sizes are upstream's: two buffers and a row in half of L1. */
static tt_status unpad_single_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t element = tt_element_bytes(launch->outputs[0]);
	uint64_t max = (tt_l1_half(launch->device) - 32) / (element * 32 * 2 + element) / 32;
	uint64_t tiles = tt_shape_last(&launch->inputs[0]->spec.padded, 1) / TT_TILE;
	const ttnn_core_set *one;

	TT_TRY(tt_cores_first(&one, tt_cores_or_all(launch, &launch->attrs[CORES]), 1,
			      TTNN_ORIENT_ROW_MAJOR));
	return tt_untilize_pair(plan, launch, one,
				tiles <= max ? tiles : tt_split_divisor(tiles, max), names);
}

static tt_status unpad_lines_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_block_split split;

	TT_TRY(tt_split_blocks(&split, tt_cores_or_all(launch, &launch->attrs[CORES]),
			       in->rows / TT_TILE, TTNN_ORIENT_COL_MAJOR));
	return tt_untilize_pair(plan, launch, split.all, in->cols / TT_TILE, names);
}

/* Rows of 16 elements are packed from faces, so many tiles at once. */
#define FACE_WIDTH 16
#define FACE_TILES 16

/* The shards of the input, rows on their way, and the shard of the output where that is cut alike. */
static tt_status unpad_shards_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *from = launch->inputs[0], *to = launch->outputs[0];
	const struct ttnn_tensor_spec *in = &from->spec, *out = &to->spec;
	const struct ttnn_shard_spec *shard = &out->memory.shard;
	bool to_shards = tt_memory_config_is_sharded(&out->memory);
	bool alike = to_shards && out->memory.layout == in->memory.layout;
	uint64_t across = in->memory.shard.width / TT_TILE,
		 down = in->memory.shard.height / TT_TILE;
	uint64_t matrices = in->memory.layout == TTNN_HEIGHT_SHARDED
				    ? matrices_in(in)
				    : in->rows / (tt_shape_last(&in->padded, 2) +
						  !tt_shape_last(&in->padded, 2));
	uint64_t tiles = 2 * across, rows = 0;

	TT_NEED(matrices, "untilize_with_unpadding: there is nothing in the shards");
	if (to_shards)
		tiles = 2 * (across * down / matrices);
	if (alike && tt_shape_last(&out->padded, 1) == FACE_WIDTH &&
	    tt_shape_last(&out->padded, 2) % TT_TILE == 0)
		tiles = FACE_TILES;
	if (alike)
		rows = shard->height - (tt_align_to(out->rows, shard->height) - out->rows);
	return TT_PLAN(
		plan, in->memory.shard.grid,
		TT_DFB_ROW(0, "in0", .pages = across * down, .page = tt_tile_bytes_of(in->dtype),
			   .backing = from),
		TT_DFB_ROW(1, "untilize_out", .pages = tiles, .page = tt_tile_bytes_of(out->dtype)),
		TT_DFB_ROW(2, "out", .pages = rows, .page = tt_aligned_page(to), .backing = to));
}

static tt_status unpad_nd_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	return tt_untilize_nd_pair(plan, launch, names);
}

/* As in untilize, column by column. */
static tt_status unpad_blocks_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	return tt_untilize_blocks(plan, launch, tt_cores_or_all(launch, &launch->attrs[CORES]),
				  TTNN_ORIENT_COL_MAJOR);
}

#define FACTORY(name_, memory_)                                                                    \
	TT_FACTORY_ROW("ttnn::prim::UntilizeWithUnpadding" name_ "ProgramFactory", memory_)

static const struct tt_factory factories[FACTORIES] = {
	[SINGLE] = FACTORY("SingleCore", unpad_single_memory),
	[LINES] = FACTORY("MultiCoreInterleaved", unpad_lines_memory),
	[SHARDS] = FACTORY("MultiCoreSharded", unpad_shards_memory),
	[BLOCKS] = FACTORY("MultiCoreBlockInterleaved", unpad_blocks_memory),
	[ND_SHARDS] = FACTORY("MultiCoreNDSharded", unpad_nd_memory),
};

/*
 * The output is the input's first corner. It may reach into the padding, which is copied, and beyond it, where
 * nothing is written.
 */
static tt_status unpad_kernel(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_shape extent = launch->outputs[0]->spec.shape;
	struct tt_move_block block = {.extent = extent.dim};
	struct tt_tensor *whole;
	struct ttnn_tensor_spec spec;
	struct ttnn_spec_args args = {.shape = in->padded,
				      .dtype = in->dtype,
				      .layout = in->layout,
				      .tile = in->tile,
				      .memory = in->memory};
	bool inside = true;
	tt_status status;

	args.shape = in->shape;
	for (uint32_t d = 0; d < extent.rank && in->shape.rank == extent.rank; d++) {
		uint32_t most = tt_shape_last(&in->padded, extent.rank - d);

		inside &= extent.dim[d] <= in->shape.dim[d];
		args.shape.dim[d] = most;
		if (extent.dim[d] > most)
			extent.dim[d] = most;
	}
	if (inside)
		return tt_move_part(launch->outputs[0], launch->inputs[0], &block);
	tt_memory_config_strip(&args.memory);
	TT_TRY(tt_tensor_spec_padded(&spec, &args, &in->padded));
	TT_TRY(tt_tensor_share(&whole, launch->inputs[0], &spec));
	status = tt_move_part(launch->outputs[0], whole, &block);
	ttnn_tensor_unref(whole);
	return status;
}

static const struct tt_prog prog = {
	.device_op = "UntilizeWithUnpaddingDeviceOperation",
	.prim = "ttnn::prim::untilize_with_unpadding",
	.attrs = &schema,
	.infer = unpad_infer,
	.validate = unpad_validate,
	TT_FACTORIES(factories),
	.choose = unpad_choose,
	TT_KERNEL(unpad_kernel),
	.cost = tt_cost_untilize,
};

/* ---- the operation ------------------------------------------------------------------------------------ */

/* The end of the elements when outer dimensions fold until four are left. */
static struct ttnn_shape folded_end(const struct ttnn_shape *end)
{
	struct ttnn_shape shape = *end;

	for (uint32_t d = 0; d < shape.rank; d++)
		shape.dim[d]++;
	shape = tt_shape_folded(&shape, 4);
	for (uint32_t d = 0; d < shape.rank; d++)
		shape.dim[d]--;
	return shape;
}

/* Numbers of four bytes need registers of float32. */
static tt_status launch_unpad(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			      const struct tt_unpad_args *args, bool enough)
{
	struct ttnn_shape end = folded_end(args->end);
	enum ttnn_dtype dtype = in->spec.dtype;
	struct ttnn_value attrs[schema_count];

	attrs[END] = ttnn_v_shape(&end);
	attrs[MEMORY] = ttnn_v_memory(args->memory ? args->memory : &in->spec.memory);
	attrs[MULTI] = ttnn_v_bool(args->multicore);
	attrs[FP32] =
		ttnn_v_bool(dtype == TTNN_INT32 || dtype == TTNN_UINT32 || dtype == TTNN_FLOAT32);
	attrs[ENOUGH] = ttnn_v_bool(enough);
	attrs[CORES] = tt_value_cores(args->cores);
	return TT_LAUNCH(out, call, &prog, TT_INPUTS(in), .attrs = attrs);
}

/* `end` is the last element, not one behind it. */
static tt_status unpad_expand(struct tt_call *call)
{
	struct ttnn_shape end, shape;
	struct tt_unpad_args args = {.in = tt_call_tensor(call, "input_tensor"),
				     .end = &end,
				     .memory = tt_call_memory(call, "memory_config"),
				     .cores = tt_call_core_set(call, "sub_core_grids"),
				     .multicore = tt_call_bool(call, "use_multicore", true)};
	const struct ttnn_memory_config *memory = args.memory ? args.memory : &args.in->spec.memory;
	struct tt_tensor *folded, *out;
	int64_t dims[TTNN_MAX_RANK];
	bool enough;
	size_t rank;

	TT_TRY(tt_call_ints(dims, &rank, TTNN_MAX_RANK, call, "output_tensor_end"));
	TT_TRY(tt_need_device(args.in));
	TT_NEED(rank >= args.in->spec.shape.rank, "output_tensor_end has %zu entries, not %u", rank,
		args.in->spec.shape.rank);
	end.rank = args.in->spec.shape.rank;
	for (uint32_t d = 0; d < end.rank; d++)
		end.dim[d] = (uint32_t)dims[d];
	shape = folded_end(&end);
	for (uint32_t d = 0; d < shape.rank; d++)
		shape.dim[d]++;
	enough = tt_untilize_has_space(args.in, &shape, memory);
	TT_TRY(tt_call_fold_to_4d(&folded, call, args.in, args.cores));
	tt_call_own(call, folded);
	TT_TRY(launch_unpad(&out, call, folded, &args, enough));
	if (end.rank > 4) {
		struct tt_reshape_args back = {
			.in = tt_call_own(call, out), .shape = &shape, .sub_cores = args.cores};

		shape = end;
		for (uint32_t d = 0; d < shape.rank; d++)
			shape.dim[d]++;
		TT_TRY(tt_call_reshape(&out, call, &back));
	}
	tt_call_return(call, out);
	return TTNN_OK;
}

/* The operation, for other operations. */
tt_status tt_call_unpad(struct tt_tensor **out, struct tt_call *call,
			const struct tt_unpad_args *args)
{
	struct ttnn_arg given[5] = {{"input_tensor", ttnn_v_tensor(args->in)},
				    {"output_tensor_end", ttnn_v_shape(args->end)},
				    {"use_multicore", ttnn_v_bool(args->multicore)}};
	size_t count = 3;

	if (args->memory)
		given[count++] = (struct ttnn_arg){"memory_config", ttnn_v_memory(args->memory)};
	if (args->cores)
		given[count++] = (struct ttnn_arg){"sub_core_grids", ttnn_v_core_set(args->cores)};
	return tt_call_op(out, call, "ttnn.untilize_with_unpadding", given, count);
}

static const struct tt_op ops[] = {
	{TT_MOVE_ROW(
		"untilize_with_unpadding", unpad_expand, tt_golden_unpad,
		"Tiles to rows, up to and including the element at an index.",
		"input_tensor: Tensor, output_tensor_end: Shape, *, memory_config: MemoryConfig? = "
		"None, use_multicore: bool = True, sub_core_grids: CoreRangeSet? = None")},
};

const struct tt_op_family tt_family_untilize_unpad = {"movement", ops, TT_COUNT(ops)};
