/*
 * attn_matmul_group.c: the same products as attn_matmul.c where groups of heads share a head of keys, with shards of a head
 * each. Models GroupAttnMatmulDeviceOperation of ttnn 0.81 with its one factory: refusals, memory, cores. Not modelled: which
 * core multicasts which head of keys.
 */
#include "ops/attention/attn_matmul.h"
#include "ops/attention/heads.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"

#define GROUP_ATTRS(X)                                                                             \
	X(GROUP_TOKENS, "num_tokens")                                                              \
	X(GROUP_TRANSPOSE, "transpose_hw")                                                         \
	X(GROUP_SUBBLOCK, "out_subblock_w")                                                        \
	X(GROUP_GRID, "compute_with_storage_grid_size", TT_ATTN_XY)                                \
	X(GROUP_MEMORY, "output_mem_config")                                                       \
	X(GROUP_DTYPE, "output_dtype")                                                             \
	X(GROUP_ROWS, "row_major")                                                                 \
	X(GROUP_COMPUTE, "compute_kernel_config")
TT_ATTRS(group_schema, "GroupAttnMatmulParams", GROUP_ATTRS);

#define GROUP_USERS 32 /* a core multicasts the keys of each */

/* ---- specs --------------------------------------------------------------------------------------------- */

static enum ttnn_orientation order_of(const struct tt_launch *launch)
{
	return launch->attrs[GROUP_ROWS].boolean ? TTNN_ORIENT_ROW_MAJOR : TTNN_ORIENT_COL_MAJOR;
}

/* The first cores of the grid that the call gives, as many as there are heads. */
static tt_status group_cores(const ttnn_core_set **out, const struct tt_launch *launch)
{
	struct ttnn_core size = launch->attrs[GROUP_GRID].core;
	const ttnn_core_set *grid;

	TT_TRY(tt_core_set_grid(&grid, size.x, size.y));
	return tt_cores_first(out, grid, launch->inputs[TT_ATTN_A]->spec.padded.dim[1],
			      order_of(launch));
}

/* Shards that are asked for without a spec have a head each. */
static tt_status group_infer(struct tt_launch *launch)
{
	struct ttnn_memory_config memory = *launch->attrs[GROUP_MEMORY].memory;
	struct ttnn_shard_spec shard = {.orientation = order_of(launch)};
	struct ttnn_shape shape;

	TT_TRY(tt_attn_shape(&shape, launch));
	if (tt_infer_given(launch, 0))
		return TTNN_OK;
	if (tt_memory_config_is_sharded(&memory) && !memory.has_shard) {
		TT_TRY(group_cores(&shard.grid, launch));
		shard.height = shape.dim[2];
		shard.width = shape.dim[3];
		TT_TRY(ttnn_memory_config_sharded(&memory, memory.layout, memory.buffer, &shard));
	}
	return tt_spec_simple(&launch->specs[0], &shape,
			      (enum ttnn_dtype)launch->attrs[GROUP_DTYPE].integer, TTNN_TILE,
			      &memory);
}

/* ---- refusals ------------------------------------------------------------------------------------------ */

static tt_status check_orientation(const struct tt_launch *launch,
				   const struct ttnn_memory_config *memory, const char *condition)
{
	TT_REQUIRE(memory->shard.orientation == order_of(launch), condition,
		   "Any sharded memory configs must have the same shard orientation as one "
		   "another!");
	return TTNN_OK;
}

static tt_status check_height_sharded(const struct ttnn_memory_config *memory,
				      const char *condition, const char *what)
{
	TT_REQUIRE(memory->layout == TTNN_HEIGHT_SHARDED, condition,
		   "%s layout must be HEIGHT_SHARDED but got TensorMemoryLayout::%s", what,
		   tt_enum_name(&tt_enum_memory_layout, memory->layout));
	return TTNN_OK;
}

static tt_status check_shard_a(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[TT_ATTN_A]->spec;
	const uint32_t *dim = a->padded.dim;

	if (!tt_memory_config_is_sharded(&a->memory))
		return TTNN_OK;
	TT_TRY(check_height_sharded(&a->memory,
				    "input_tensor_a.memory_config().memory_layout() == "
				    "TensorMemoryLayout::HEIGHT_SHARDED",
				    "Input tensor A memory"));
	TT_NEED(a->memory.has_shard, "bad optional access");
	TT_TRY(check_orientation(
		launch, &a->memory,
		"input_tensor_a.shard_spec().value().orientation == shard_orientation"));
	TT_REQUIRE(ttnn_core_set_cores(a->memory.shard.grid) == dim[1],
		   "input_tensor_a.shard_spec().value().num_cores() == ashape[1]",
		   "Q heads must be sharded on number of q heads!");
	TT_REQUIRE(a->memory.shard.height == dim[2], "shard_shape[0] == ashape[2]",
		   "Input tensor A shard height (%u) must equal batch size (%u)",
		   a->memory.shard.height, dim[2]);
	TT_REQUIRE(a->memory.shard.width == dim[3], "shard_shape[1] == ashape[3]",
		   "Input tensor A shard width (%u) must equal head dimension (%u)",
		   a->memory.shard.width, dim[3]);
	return TTNN_OK;
}

static tt_status check_shard_b(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *b = &launch->inputs[TT_ATTN_B]->spec;
	const uint32_t *dim = b->padded.dim;

	if (!tt_memory_config_is_sharded(&b->memory))
		return TTNN_OK;
	TT_TRY(check_height_sharded(&b->memory,
				    "input_tensor_b.memory_config().memory_layout() == "
				    "TensorMemoryLayout::HEIGHT_SHARDED",
				    "Input tensor B memory"));
	TT_NEED(b->memory.has_shard, "bad optional access");
	TT_TRY(check_orientation(
		launch, &b->memory,
		"input_tensor_b.shard_spec().value().orientation == shard_orientation"));
	TT_REQUIRE(ttnn_core_set_cores(b->memory.shard.grid) == dim[0],
		   "input_tensor_b.shard_spec().value().num_cores() == bshape[0]",
		   "KV heads must be sharded on batch!");
	TT_REQUIRE(b->memory.shard.height == dim[1] * dim[2],
		   "shard_shape[0] == bshape[1] * bshape[2]",
		   "Input tensor B shard height (%u) must equal KV heads * head dimension (%u * "
		   "%u)",
		   b->memory.shard.height, dim[1], dim[2]);
	TT_REQUIRE(b->memory.shard.width == dim[3], "shard_shape[1] == bshape[3]",
		   "Input tensor B shard width (%u) must equal KV length (%u)",
		   b->memory.shard.width, dim[3]);
	return TTNN_OK;
}

static tt_status check_shard_out(const struct tt_launch *launch)
{
	const struct ttnn_memory_config *memory = launch->attrs[GROUP_MEMORY].memory;
	const ttnn_core_set *cores, *given;
	struct ttnn_shape shape;

	if (!tt_memory_config_is_sharded(memory))
		return TTNN_OK;
	TT_TRY(check_height_sharded(memory,
				    "operation_attributes.output_mem_config.memory_layout() == "
				    "TensorMemoryLayout::HEIGHT_SHARDED",
				    "Output memory config"));
	if (!memory->has_shard)
		return TTNN_OK;
	TT_TRY(tt_attn_shape(&shape, launch));
	TT_TRY(group_cores(&cores, launch));
	TT_TRY(tt_core_set_merge(&given, memory->shard.grid, NULL));
	TT_REQUIRE(cores == given,
		   "operation_attributes.output_mem_config.shard_spec().value().grid == all_cores",
		   "Shard spec in output mem config must match shard spec calculated in "
		   "GroupAttnMatmulDeviceOperation::create_output_tensors!");
	TT_TRY(check_orientation(launch, memory,
				 "operation_attributes.output_mem_config.shard_spec().value()."
				 "orientation == shard_orientation"));
	TT_REQUIRE(memory->shard.height == shape.dim[2], "shard_shape[0] == output_shape[2]",
		   "Output shard height (%u) must equal batch size (%u)", memory->shard.height,
		   shape.dim[2]);
	TT_REQUIRE(memory->shard.width == shape.dim[3], "shard_shape[1] == output_shape[3]",
		   "Output shard width (%u) must equal KV length (%u)", memory->shard.width,
		   shape.dim[3]);
	return TTNN_OK;
}

static tt_status group_validate(struct tt_launch *launch)
{
	const uint32_t *a = launch->inputs[TT_ATTN_A]->spec.padded.dim;
	const uint32_t *b = launch->inputs[TT_ATTN_B]->spec.padded.dim;
	struct ttnn_core grid = launch->attrs[GROUP_GRID].core;

	TT_TRY(tt_attn_check_kinds(launch));
	TT_REQUIRE(b[1] && a[1] % b[1] == 0, "(ashape[1] % bshape[1] == 0)",
		   "Number of q_heads must be divisible by kv_heads!");
	TT_TRY(tt_attn_check_users(launch));
	TT_REQUIRE(b[0] == GROUP_USERS, "(bshape[0] == 32)",
		   "Only batch 32 is supported for group attention matmul!");
	TT_REQUIRE((a[1] > GROUP_USERS ? a[1] : GROUP_USERS) <= (uint64_t)grid.x * grid.y,
		   "(num_cores_used <= operation_attributes.compute_with_storage_grid_size.x * "
		   "operation_attributes.compute_with_storage_grid_size.y)",
		   "Compute grid size is too small for group attention matmul! For now, we require "
		   "at most 1 q_heads per core.");
	TT_TRY(check_shard_a(launch));
	TT_TRY(check_shard_b(launch));
	TT_TRY(check_shard_out(launch));
	TT_REQUIRE(a[3] == b[2], "ashape[3] == bshape[2]",
		   "Dimension K (A.shape[3] and B.shape[2]) must match for A and B in attn_matmul "
		   "op");
	return TTNN_OK;
}

/* ---- program memory ------------------------------------------------------------------------------------ */

static tt_status group_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *a = launch->inputs[TT_ATTN_A], *b = launch->inputs[TT_ATTN_B],
			 *out = launch->outputs[0];
	uint64_t k = a->spec.padded.dim[3] / TT_TILE, n = b->spec.padded.dim[3] / TT_TILE;
	uint64_t block = (uint64_t)launch->attrs[GROUP_SUBBLOCK].integer, between;
	uint64_t heads = b->spec.padded.dim[1], rows = a->spec.padded.dim[2] / TT_TILE;
	bool a_shards = tt_tensor_is_sharded(a), out_shards = tt_tensor_is_sharded(out);

	TT_TRY(tt_attn_between(&between, launch, &launch->attrs[GROUP_COMPUTE]));
	return TT_PLAN(plan, launch->grid,
		       TT_CB_ROW(0, "cb_src0", .pages = a_shards ? tt_shard_tiles(&a->spec) : k,
				 .page = tt_page_in0(launch), .backing = a_shards ? a : NULL),
		       TT_CB_ROW(1, "cb_src1", .pages = 2 * heads * k * block,
				 .page = tt_page_in1(launch)),
		       TT_CB_ROW(2, "cb_src2",
				 .pages = tt_tensor_is_sharded(b) ? tt_shard_tiles(&b->spec) : 0,
				 .page = tt_page_in1(launch), .backing = b),
		       TT_CB_ROW(3, "cb_intermed0", .pages = 2 * block, .page = between),
		       TT_CB_ROW(4, "cb_intermed1", .pages = rows * n, .page = between),
		       TT_CB_ROW(5, "cb_output",
				 .pages = out_shards ? tt_shard_tiles(&out->spec) : rows * n,
				 .page = tt_page_out0(launch), .backing = out_shards ? out : NULL));
}

static const struct tt_prog group_program = {
	.device_op = "GroupAttnMatmulDeviceOperation",
	.prim = "ttnn::prim::group_attn_matmul",
	.attrs = &group_schema,
	.infer = group_infer,
	.validate = group_validate,
	TT_FACTORY("ttnn::experimental::prim::GroupAttnMatmulProgramFactory", group_rows),
	TT_KERNEL(tt_attn_kernel),
};

/* ---- the operation --------------------------------------------------------------------------------------- */

/* Cores are counted as the shards of a, of b or of the result are. */
static bool counts_rows(const struct tt_tensor *a, const struct tt_tensor *b,
			const struct ttnn_memory_config *memory)
{
	const struct ttnn_memory_config *const all[] = {&a->spec.memory, &b->spec.memory, memory};

	for (size_t i = 0; i < TT_COUNT(all); i++)
		if (tt_memory_config_is_sharded(all[i]))
			return all[i]->has_shard &&
			       all[i]->shard.orientation == TTNN_ORIENT_ROW_MAJOR;
	return false;
}

static tt_status group_attn(struct tt_call *call)
{
	struct tt_tensor *a = tt_call_tensor(call, "input_tensor_a");
	struct tt_tensor *b = tt_call_tensor(call, "input_tensor_b");
	const struct ttnn_memory_config *memory = tt_memory_or_like(call, a);
	struct ttnn_value compute = tt_attn_compute(call);
	uint32_t columns = tt_shape_last(&b->spec.padded, 1) / TT_TILE;
	uint32_t most = tt_compute_has(&compute, TT_COMPUTE_FP32) ? 4 : 8;

	TT_TRY(tt_need_device(a));
	return TT_LAUNCH_RETURN(
		call, &group_program, TT_INPUTS(a, b),
		TT_OUTPUTS(tt_call_tensor(call, "optional_output_tensor")),
		TT_BIND(call, group_schema, [GROUP_TOKENS] = ttnn_v_none(),
			[GROUP_TRANSPOSE] = ttnn_v_none(),
			[GROUP_SUBBLOCK] = ttnn_v_int(columns < most ? columns : most),
			[GROUP_GRID] = tt_attn_grid(call), [GROUP_MEMORY] = ttnn_v_memory(memory),
			[GROUP_DTYPE] = ttnn_v_dtype(tt_call_dtype(call, "dtype", a->spec.dtype)),
			[GROUP_ROWS] = ttnn_v_bool(counts_rows(a, b, memory)),
			[GROUP_COMPUTE] = compute));
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.group_attn_matmul",
	 .doc = "Row b of each head times the matrix of user b that its group of heads has.",
	 .sigs = {TT_ATTN_ARGS TT_ATTN_GRID_ARG
		  "memory_config: MemoryConfig? = DRAM, dtype: DataType? = None, " TT_ATTN_COMPUTE_ARG
		  "optional_output_tensor: Tensor? = None"},
	 .expand = group_attn,
	 .golden = tt_golden_attn_matmul,
	 TT_PROGRAMS(&group_program)},
};

const struct tt_op_family tt_family_attn_matmul_group = {"attn_matmul", ops, TT_COUNT(ops)};
