/*
 * heads_split.c: heads out of fused rows as BERT has them. Where the rows are in blocks, every
 * block has the queries of its heads, then their keys, then their values, and each core keeps
 * what it has.
 *
 * Models SplitFusedQKVAndSplitHeadsDeviceOperation of ttnn 0.81 (experimental/transformer) with
 * both factories: refusals, memory, cores. Not modelled: how the
 * kernels walk a block.
 */
#include "backend/backend.h"
#include "ops/attention/heads.h"
#include "ops/movement/movement.h"
#include "ops/objects.h"

#define ATTRS(X)                                                                                   \
	X(GRID, "compute_with_storage_grid_size", .text = TT_TEXT_FIXED, .fixed = "<xy_pair>")     \
	X(MEMORY, "output_mem_config")                                                             \
	X(HEADS, "num_heads")
TT_ATTRS(schema, "SplitQueryKeyValueAndSplitHeadsParams", ATTRS);

/* How many blocks of columns a fused tensor has, each with queries, keys and values of its own heads. */
static uint32_t block_count(const struct ttnn_tensor_spec *in)
{
	struct ttnn_core_range box;

	if (!in->memory.has_shard || tt_core_set_box(&box, in->memory.shard.grid) != TTNN_OK)
		return 1;
	return in->memory.shard.orientation == TTNN_ORIENT_ROW_MAJOR ? box.end.x + 1
								     : box.end.y + 1;
}

static uint32_t head_width(const struct tt_launch *launch)
{
	return launch->inputs[0]->spec.padded.dim[3] / 3 / (uint32_t)launch->attrs[HEADS].integer;
}

/* The shards of heads of so many rows and columns, on the cores of the input. */
static tt_status split_heads_place(struct ttnn_memory_config *out, const struct tt_launch *launch,
				   uint32_t rows, uint32_t columns)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *wanted = launch->attrs[MEMORY].memory;
	struct ttnn_shard_spec shard = in->memory.shard;

	*out = *wanted;
	if (!in->memory.has_shard)
		return TTNN_OK;
	shard.height = (uint32_t)launch->attrs[HEADS].integer / block_count(in) * rows;
	shard.width = columns;
	return ttnn_memory_config_sharded(out, wanted->layout, wanted->buffer, &shard);
}

static tt_status split_heads_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint32_t rows = in->padded.dim[2], width = head_width(launch);

	launch->output_count = 3;
	for (int i = 0; i < 3; i++) {
		struct ttnn_shape shape = TT_SHAPE(
			in->padded.dim[0], (uint32_t)launch->attrs[HEADS].integer, rows, width);
		struct ttnn_memory_config memory;

		if (i == 1) {
			shape.dim[2] = width;
			shape.dim[3] = rows;
		}
		TT_TRY(split_heads_place(&memory, launch, shape.dim[2], shape.dim[3]));
		TT_TRY(tt_spec_simple(&launch->specs[i], &shape, in->dtype, TTNN_TILE, &memory));
	}
	return TTNN_OK;
}

static tt_status split_heads_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_core grid = launch->attrs[GRID].core;
	struct ttnn_core_range box;
	uint32_t batch = in->padded.dim[0];
	size_t ranges;

	if (in->dtype != TTNN_BFLOAT16 && in->dtype != TTNN_BFLOAT8_B)
		return tt_fail_cond(TTNN_INVALID,
				    "input_tensor.dtype() == tt::tt_metal::DataType::BFLOAT16 || "
				    "input_tensor.dtype() == tt::tt_metal::DataType::BFLOAT8_B",
				    "Unsupported data format");
	if (!in->memory.has_shard) {
		TT_REQUIRE(batch >= 7 && batch <= 9, "batch_size >= 7 && batch_size <= 9",
			   "Input batch size must be between 7 to 9 for bert large TM ops!");
		return TTNN_OK;
	}
	TT_TRY(tt_core_set_box(&box, in->memory.shard.grid));
	TT_REQUIRE(box.end.x < grid.x && box.end.y < grid.y,
		   "(bbox.end_coord.x < operation_attributes.compute_with_storage_grid_size.x && "
		   "bbox.end_coord.y < operation_attributes.compute_with_storage_grid_size.y)",
		   "Bounding box end coordinates (%u, %u) must be less than grid size (%u, %u)",
		   box.end.x, box.end.y, grid.x, grid.y);
	ttnn_core_set_ranges(in->memory.shard.grid, &ranges);
	TT_REQUIRE(ranges == 1, "input_tensor.shard_spec().value().grid.ranges().size() == 1",
		   "Input tensor shard spec must have exactly 1 grid range but got %zu", ranges);
	TT_REQUIRE(
		in->memory.layout == TTNN_BLOCK_SHARDED,
		"input_tensor.memory_config().memory_layout() == "
		"tt::tt_metal::TensorMemoryLayout::BLOCK_SHARDED",
		"Input tensor memory layout must be BLOCK_SHARDED but got TensorMemoryLayout::%s",
		tt_enum_name(&tt_enum_memory_layout, in->memory.layout));
	return TTNN_OK;
}

/* A core for each tile row of each batch; keys go through tiles of their own to be transposed. */
static tt_status split_heads_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint64_t tile = tt_tile_bytes_of(in->dtype), tiles = in->padded.dim[3] / TT_TILE / 3;
	uint32_t across = in->padded.dim[2] / TT_TILE, down = in->padded.dim[0];
	const ttnn_core_set *cores;

	TT_TRY(tt_core_set_grid(&cores, across, down));
	return TT_PLAN(plan, cores, TT_CB_ROW(0, "src0_cb", .pages = 2 * tiles, .page = tile),
		       TT_CB_ROW(1, "src1_cb", .pages = 4 * tiles, .page = tile),
		       TT_CB_ROW(16, "out_cb", .pages = tiles, .page = tile));
}

/* All where they lie, and a head of keys. */
static tt_status sharded_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *const *out = launch->outputs;
	uint64_t tile = tt_tile_bytes_of(in->spec.dtype);
	uint64_t head = in->spec.padded.dim[2] / TT_TILE * (head_width(launch) / TT_TILE);

	return TT_PLAN(plan, in->spec.memory.shard.grid,
		       TT_CB_ROW(0, "cb_in0", .pages = tt_shard_tiles(&in->spec), .page = tile,
				 .backing = in),
		       TT_CB_ROW(24, "cb_im0", .pages = head, .page = tile),
		       TT_CB_ROW(16, "cb_out0", .pages = tt_shard_tiles(&out[0]->spec),
				 .page = tile, .backing = out[0]),
		       TT_CB_ROW(17, "cb_out1", .pages = tt_shard_tiles(&out[1]->spec),
				 .page = tile, .backing = out[1]),
		       TT_CB_ROW(18, "cb_out2", .pages = tt_shard_tiles(&out[2]->spec),
				 .page = tile, .backing = out[2]));
}

static tt_status heads_split_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = tt_tensor_is_sharded(launch->inputs[0]);
	return TTNN_OK;
}

/* Queries, keys or values: the heads of every block, which begin at `start` in it. */
static tt_status split_heads_take(const struct tt_launch *launch, uint32_t which, uint32_t groups)
{
	struct tt_tensor *out = launch->outputs[which], *in = launch->inputs[0];
	uint32_t width = head_width(launch), row = which == 1 ? 3 : 2, column = which == 1 ? 2 : 3;
	uint32_t heads = out->spec.shape.dim[1] / groups;
	const struct tt_move_loop loops[] = {
		{groups, 3, 1, 3 * heads * width, heads},
		{out->spec.shape.dim[0], 0, 0, 1, 1},
		{heads, 3, 1, width, 1},
		{out->spec.shape.dim[row], 2, (int32_t)row, 1, 1},
		{width, 3, (int32_t)column, 1, 1},
	};
	struct tt_move_job job = {.out = out, .in = in, .loops = loops, .loop_count = 5};

	job.in_start[3] = which * heads * width;
	return tt_backend_get()->move(&job);
}

static tt_status split_heads_kernel(struct tt_launch *launch)
{
	uint32_t groups = block_count(&launch->inputs[0]->spec);

	for (uint32_t i = 0; i < 3; i++)
		TT_TRY(split_heads_take(launch, i, groups));
	return TTNN_OK;
}

static const struct tt_factory factories[] = {
	{.name = "ttnn::experimental::prim::SplitFusedQKVAndSplitHeadsProgramFactory",
	 .memory = split_heads_rows},
	{.name = "ttnn::experimental::prim::SplitFusedQKVAndSplitHeadsShardedProgramFactory",
	 .memory = sharded_rows},
};
static const struct tt_prog program = {
	.device_op = "SplitFusedQKVAndSplitHeadsDeviceOperation",
	.prim = "ttnn::prim::split_query_key_value_and_split_heads",
	.attrs = &schema,
	.infer = split_heads_infer,
	.drops_forward = true,
	.validate = split_heads_validate,
	TT_FACTORIES(factories),
	.choose = heads_split_choose,
	.kernel = split_heads_kernel,
};

static tt_status split_heads_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	const struct ttnn_value *list = tt_call_arg(call, "output_tensors");
	int64_t heads = tt_call_int(call, "num_heads", 16);
	struct tt_tensor *given[3] = {0};
	struct ttnn_value attrs[schema_count];
	struct ttnn_core grid;

	TT_TRY(tt_need_device(in));
	TT_TRY(tt_need_dim(&in->spec.padded, 3));
	if (!tt_object_core(&grid, tt_call_arg(call, "compute_with_storage_grid_size")))
		return tt_fail(TTNN_TYPE, "compute_with_storage_grid_size is no CoreCoord");
	if (heads <= 0 || heads % block_count(&in->spec) || in->spec.layout != TTNN_TILE ||
	    in->spec.padded.dim[3] % (3 * TT_TILE * (uint64_t)heads))
		return tt_fail(
			TTNN_INVALID,
			"%u columns are no queries, keys and values of %lld heads in whole tiles",
			in->spec.padded.dim[3], (long long)heads);
	for (uint32_t i = 0; list->kind == TTNN_VALUE_LIST && i < 3 && i < list->count; i++)
		if (list->items[i].kind == TTNN_VALUE_TENSOR)
			given[i] = list->items[i].tensor;
	attrs[GRID] = (struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = grid};
	attrs[MEMORY] = tt_value_memory_or_like(call, in);
	attrs[HEADS] = ttnn_v_int(heads);
	return TT_LAUNCH_RETURN(call, &program, .attrs = attrs, TT_INPUTS(in), .outputs = given,
				.output_count = 3);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.split_query_key_value_and_split_heads",
	 .doc = "Queries, keys (transposed) and values of each head out of fused rows, block by block where they are sharded.",
	 .sigs = {"input_tensor: Tensor, compute_with_storage_grid_size: CoreCoord, *, "
		  "memory_config: MemoryConfig? = None, num_heads: int = 16, output_tensors: any? = "
		  "None"},
	 .expand = split_heads_expand,
	 .golden = tt_golden_split_heads,
	 .pcc = 0.9999,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_heads_split = {"heads", ops, TT_COUNT(ops)};
