/*
 * attn_matmul.c: products of one new token of every user: row b of each head of a with the matrix of user b.
 *
 *	a    [1, heads, users, k]       out    [1, heads, users, n]
 *	b    [users, key heads, k, n]; out of a cache also [users, 1, tokens, k], its first rows
 *
 * Models AttnMatmulDeviceOperation and GroupAttnMatmulDeviceOperation of ttnn 0.81 with a factory each: refusals, memory,
 * cores. Not modelled: which core multicasts which key head. Rows and columns that a tile adds count as zeros.
 */
#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "ops/attention/attention.h"
#include "ops/attention/heads.h"
#include "ops/compute.h"
#include "ops/mem_rows.h"
#include "ops/movement/movement.h"
#include "ops/objects.h"
#include "ops/usual.h"
#include "tensor/core.h"
#include "tensor/enums.h"
#include "tensor/memory.h"
#include "tensor/shape.h"
#include "tensor/spec.h"
#include "tensor/tile.h"

#define XY .text = TT_TEXT_FIXED, .fixed = "<xy_pair>"
#define ATTRS(X)                                                                                   \
	X(TOKENS, "num_tokens")                                                                    \
	X(TRANSPOSE, "transpose_hw")                                                               \
	X(GRID, "compute_with_storage_grid_size", XY)                                              \
	X(MEMORY, "output_mem_config")                                                             \
	X(DTYPE, "output_dtype")                                                                   \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(schema, "AttnMatmulParams", ATTRS);
#define GROUP_ATTRS(X)                                                                             \
	X(GROUP_TOKENS, "num_tokens")                                                              \
	X(GROUP_TRANSPOSE, "transpose_hw")                                                         \
	X(GROUP_SUBBLOCK, "out_subblock_w")                                                        \
	X(GROUP_GRID, "compute_with_storage_grid_size", XY)                                        \
	X(GROUP_MEMORY, "output_mem_config")                                                       \
	X(GROUP_DTYPE, "output_dtype")                                                             \
	X(GROUP_ROWS, "row_major")                                                                 \
	X(GROUP_COMPUTE, "compute_kernel_config")
TT_ATTRS(group_schema, "GroupAttnMatmulParams", GROUP_ATTRS);
enum { A, B };

#define GROUP_USERS 32 /* a core multicasts the keys of each */

/* ---- specs --------------------------------------------------------------------------------------------- */

/* Whether b is read transposed; a product that is not out of a cache has none of both attributes. */
static bool is_transposed(const struct tt_launch *launch)
{
	return tt_value_given(&launch->attrs[TRANSPOSE]) && launch->attrs[TRANSPOSE].boolean;
}

static tt_status shape_of(struct ttnn_shape *out, const struct tt_launch *launch)
{
	const struct ttnn_shape *a = &launch->inputs[A]->spec.padded;
	const struct ttnn_shape *b = &launch->inputs[B]->spec.padded;

	TT_TRY(tt_heads_need_rank(a, 2));
	TT_TRY(tt_heads_need_rank(b, 3));
	*out = TT_SHAPE(1, a->dim[1], a->dim[2],
			is_transposed(launch) ? (uint32_t)launch->attrs[TOKENS].integer
					      : b->dim[3]);
	return TTNN_OK;
}

static tt_status attn_infer(struct tt_launch *launch)
{
	struct ttnn_shape shape;

	TT_TRY(shape_of(&shape, launch));
	return tt_infer_one(launch, &shape, (enum ttnn_dtype)launch->attrs[DTYPE].integer,
			    TTNN_TILE);
}

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
	return tt_cores_first(out, grid, launch->inputs[A]->spec.padded.dim[1], order_of(launch));
}

/* Shards that are asked for without a spec have a head each. */
static tt_status group_infer(struct tt_launch *launch)
{
	struct ttnn_memory_config memory = *launch->attrs[GROUP_MEMORY].memory;
	struct ttnn_shard_spec shard = {.orientation = order_of(launch)};
	struct ttnn_shape shape;

	TT_TRY(shape_of(&shape, launch));
	launch->output_count = 1;
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

static tt_status check_kinds(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[A]->spec, *b = &launch->inputs[B]->spec;

	TT_REQUIRE(a->layout == TTNN_TILE && b->layout == TTNN_TILE,
		   "(input_tensor_a.layout() == Layout::TILE && input_tensor_b.layout() == "
		   "Layout::TILE)",
		   "Inputs to matmul must be tilized");
	TT_REQUIRE(a->padded.dim[0] == 1, "(ashape[0] == 1)", "Input q_len must be 1!");
	return TTNN_OK;
}

static tt_status check_users(const struct tt_launch *launch)
{
	TT_REQUIRE(launch->inputs[A]->spec.padded.dim[2] == launch->inputs[B]->spec.padded.dim[0],
		   "(ashape[2] == bshape[0])", "Num of users must match!");
	return tt_heads_need_rank(&launch->inputs[A]->spec.padded, 3);
}

static tt_status attn_validate(struct tt_launch *launch)
{
	const struct ttnn_shape *a = &launch->inputs[A]->spec.padded;
	const struct ttnn_shape *b = &launch->inputs[B]->spec.padded;
	bool cache = tt_value_given(&launch->attrs[TOKENS]);

	TT_TRY(check_kinds(launch));
	TT_REQUIRE(b->dim[1] == 1, "(bshape[1] == 1)", "Number of kv_heads must be 1!");
	TT_TRY(check_users(launch));
	TT_REQUIRE(!is_transposed(launch) || a->dim[3] == b->dim[3], "ashape[3] == bshape[3]",
		   "For pre-attention matmul, dimension K for B is in B.shape[3], so A.shape[3] "
		   "must match B.shape[3]");
	TT_REQUIRE(!cache || is_transposed(launch) || a->dim[3] == launch->attrs[TOKENS].integer,
		   "ashape[3] == args.num_tokens",
		   "For post-attention matmul, dimension K (A.shape[3]) is the kv_seq_len in this "
		   "case and must match the length of the cache we read");
	if (!cache && a->dim[3] != b->dim[2])
		return tt_fail_shapes(TTNN_INVALID, "ashape[3] == bshape[2]",
				      "Dimension K (A.shape[3]and B.shape[2]) must match for A "
				      "shape: %s and B shape: %s in attn_matmul op",
				      a, b);
	return TTNN_OK;
}

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
	const struct ttnn_tensor_spec *a = &launch->inputs[A]->spec;
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
	const struct ttnn_tensor_spec *b = &launch->inputs[B]->spec;
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
	TT_TRY(shape_of(&shape, launch));
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
	const uint32_t *a = launch->inputs[A]->spec.padded.dim;
	const uint32_t *b = launch->inputs[B]->spec.padded.dim;
	struct ttnn_core grid = launch->attrs[GROUP_GRID].core;

	TT_TRY(check_kinds(launch));
	TT_REQUIRE(b[1] && a[1] % b[1] == 0, "(ashape[1] % bshape[1] == 0)",
		   "Number of q_heads must be divisible by kv_heads!");
	TT_TRY(check_users(launch));
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

/* Bytes of a tile on the way: sums of float32 stay so if a is. Refuses float32 whose sums are not. */
static tt_status between_page(uint64_t *out, const struct tt_launch *launch,
			      const struct ttnn_value *compute)
{
	bool fp32 = tt_compute_has(compute, TT_COMPUTE_FP32);
	enum ttnn_dtype a = launch->inputs[A]->spec.dtype, b = launch->inputs[B]->spec.dtype;

	TT_REQUIRE(fp32 || (a != TTNN_FLOAT32 && b != TTNN_FLOAT32 &&
			    launch->outputs[0]->spec.dtype != TTNN_FLOAT32),
		   "fp32_dest_acc_en == true",
		   "when inputs/output are in fp32 format, fp32_dest_acc_en must be set");
	*out = tt_tile_bytes_of(fp32 && a == TTNN_FLOAT32 ? TTNN_FLOAT32 : TTNN_BFLOAT16);
	return TTNN_OK;
}

static tt_status attn_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t between;

	TT_TRY(between_page(&between, launch, &launch->attrs[COMPUTE]));
	return TT_PLAN(plan, launch->grid,
		       TT_CB_ROW(0, "cb_src0",
				 .pages = launch->inputs[A]->spec.padded.dim[3] / TT_TILE,
				 .page = tt_page_in0(launch)),
		       TT_CB_ROW(1, "cb_src1", .pages = 2, .page = tt_page_in1(launch)),
		       TT_CB_ROW(2, "cb_intermed0", .pages = 1, .page = between),
		       TT_CB_ROW(3, "cb_intermed1", .pages = 1, .page = between),
		       TT_CB_ROW(4, "cb_intermed2", .pages = 1, .page = between),
		       TT_CB_ROW(5, "cb_output", .pages = 2, .page = tt_page_out0(launch)));
}

static tt_status group_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *a = launch->inputs[A], *b = launch->inputs[B], *out = launch->outputs[0];
	uint64_t k = a->spec.padded.dim[3] / TT_TILE, n = b->spec.padded.dim[3] / TT_TILE;
	uint64_t block = (uint64_t)launch->attrs[GROUP_SUBBLOCK].integer, between;
	uint64_t heads = b->spec.padded.dim[1], rows = a->spec.padded.dim[2] / TT_TILE;
	bool a_shards = tt_tensor_is_sharded(a), out_shards = tt_tensor_is_sharded(out);

	TT_TRY(between_page(&between, launch, &launch->attrs[GROUP_COMPUTE]));
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

/* ---- running ------------------------------------------------------------------------------------------- */

/* The extents of the product, of what tensors hold: what tiles add is zeros. */
struct extents {
	uint32_t users, heads, groups, each; /* groups: key heads; each: heads of a group */
	uint32_t k, n;
	bool transposed;
};

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static struct extents extents_of(const struct tt_launch *launch)
{
	const uint32_t *a = launch->inputs[A]->spec.shape.dim;
	const uint32_t *b = launch->inputs[B]->spec.shape.dim;
	struct extents e = {.users = least(a[2], b[0]),
			    .heads = a[1],
			    .groups = b[1],
			    .each = a[1] / b[1],
			    .transposed = is_transposed(launch)};

	e.k = least(a[3], e.transposed ? b[3] : b[2]);
	e.n = e.transposed ? least((uint32_t)launch->attrs[TOKENS].integer, b[2]) : b[3];
	return e;
}

/* Tiles of float32, or of bfloat16 when all that comes from `like` fits in it. */
static tt_status scratch(struct tt_tensor **out, const struct ttnn_shape *shape,
			 const struct tt_tensor *like)
{
	struct ttnn_spec_args args = {.shape = *shape, .dtype = TTNN_FLOAT32, .layout = TTNN_TILE};
	struct ttnn_tensor_spec spec;

	if (like && like->spec.dtype != TTNN_FLOAT32)
		args.dtype = TTNN_BFLOAT16;
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	return ttnn_tensor_new(out, &spec);
}

static tt_status move(struct tt_tensor *out, struct tt_tensor *in, const struct tt_move_loop *loops,
		      uint32_t count)
{
	return tt_backend_get()->move(
		&(struct tt_move_job){.out = out, .in = in, .loops = loops, .loop_count = count});
}

/* a as [users, key heads, heads of each, k]. */
static tt_status rows_by_user(struct tt_tensor **out, struct tt_tensor *a, const struct extents *e)
{
	const struct ttnn_shape shape = TT_SHAPE(e->users, e->groups, e->each, e->k);
	const struct tt_move_loop loops[] = {
		{e->users, 2, 0, 1, 1},
		{e->groups, 1, 1, e->each, 1},
		{e->each, 1, 2, 1, 1},
		{e->k, 3, 3, 1, 1},
	};

	TT_TRY(scratch(out, &shape, a));
	return move(*out, a, loops, TT_COUNT(loops));
}

/* The part of b that takes part: its first rows, of as many users. */
static tt_status part_of(struct tt_tensor **out, struct tt_tensor *b, const struct extents *e)
{
	const struct ttnn_shape shape = TT_SHAPE(e->users, e->groups, e->transposed ? e->n : e->k,
						 e->transposed ? e->k : e->n);
	const struct tt_move_loop loops[] = {
		{shape.dim[0], 0, 0, 1, 1},
		{shape.dim[1], 1, 1, 1, 1},
		{shape.dim[2], 2, 2, 1, 1},
		{shape.dim[3], 3, 3, 1, 1},
	};

	if (ttnn_shape_equal(&shape, &b->spec.shape)) {
		*out = ttnn_tensor_ref(b);
		return TTNN_OK;
	}
	TT_TRY(scratch(out, &shape, b));
	return move(*out, b, loops, TT_COUNT(loops));
}

/* Rows of users back to where they belong, and zeros around them. */
static tt_status give_rows(struct tt_tensor *out, struct tt_tensor *rows, const struct extents *e)
{
	const struct tt_move_loop loops[] = {
		{e->users, 0, 2, 1, 1},
		{e->groups, 1, 1, 1, e->each},
		{e->each, 2, 1, 1, 1},
		{e->n, 3, 3, 1, 1},
	};

	if (out->spec.shape.dim[2] != e->users || out->spec.shape.dim[3] != e->n)
		TT_TRY(tt_backend_get()->fill(out, 0, TT_FILL_ALL));
	return move(out, rows, loops, TT_COUNT(loops));
}

static tt_status attn_kernel(struct tt_launch *launch)
{
	struct extents e = extents_of(launch);
	const struct ttnn_shape shape = TT_SHAPE(e.users, e.groups, e.each, e.n);
	struct tt_matmul_job job = {.transpose_b = e.transposed, .alpha = 1, .beta = 1};
	tt_status status = rows_by_user(&job.a, launch->inputs[A], &e);

	if (status == TTNN_OK)
		status = part_of(&job.b, launch->inputs[B], &e);
	if (status == TTNN_OK)
		status = scratch(&job.out, &shape, NULL);
	if (status == TTNN_OK)
		status = tt_backend_get()->matmul(&job);
	if (status == TTNN_OK)
		status = give_rows(launch->outputs[0], job.out, &e);
	ttnn_tensor_unref(job.a);
	ttnn_tensor_unref(job.b);
	ttnn_tensor_unref(job.out);
	return status;
}

static const struct tt_prog program = {
	.device_op = "AttnMatmulDeviceOperation",
	.prim = "ttnn::prim::attn_matmul",
	.attrs = &schema,
	.infer = attn_infer,
	.validate = attn_validate,
	TT_FACTORY("ttnn::experimental::prim::AttnMatmulProgramFactory", attn_rows),
	TT_KERNEL(attn_kernel),
};
static const struct tt_prog group_program = {
	.device_op = "GroupAttnMatmulDeviceOperation",
	.prim = "ttnn::prim::group_attn_matmul",
	.attrs = &group_schema,
	.infer = group_infer,
	.validate = group_validate,
	TT_FACTORY("ttnn::experimental::prim::GroupAttnMatmulProgramFactory", group_rows),
	TT_KERNEL(attn_kernel),
};

/* ---- operations ------------------------------------------------------------------------------------------ */

static const struct tt_compute_usual usual = {.fidelity = TT_LOFI, .approx = true};

static struct ttnn_value compute_of(struct tt_call *call)
{
	return tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
}

static struct ttnn_value grid_of(struct tt_call *call)
{
	struct ttnn_value grid = {.kind = TTNN_VALUE_CORE};

	tt_object_core(&grid.core, tt_call_arg(call, "compute_with_storage_grid_size"));
	return grid;
}

static tt_status attn(struct tt_call *call)
{
	struct tt_tensor *a = tt_call_tensor(call, "input_tensor_a");
	struct tt_tensor *b = tt_call_tensor(call, "input_tensor_b");
	struct ttnn_value tokens = *tt_call_arg(call, "num_tokens");

	TT_TRY(tt_need_device(a));
	if (tt_value_given(&tokens)) {
		TT_REQUIRE(tokens.integer > 0, "num_tokens > 0",
			   "Number of tokens must be at least 1!");
		TT_TRY(tt_heads_need_rank(&b->spec.padded, 2));
		TT_REQUIRE(tokens.integer <= b->spec.padded.dim[2],
			   "num_tokens <= input_tensor_b.padded_shape()[2]",
			   "Number of tokens must be smaller or equal to the max cache length "
			   "(B.shape[2])!");
		tokens.integer = (tokens.integer + TT_TILE - 1) / TT_TILE * TT_TILE;
	}
	return TT_LAUNCH_RETURN(
		call, &program, TT_INPUTS(a, b), TT_OUTPUTS(tt_call_tensor(call, "output_tensor")),
		TT_BIND(call, schema, [TOKENS] = tt_value_given(&tokens) ? tokens : ttnn_v_none(),
			[TRANSPOSE] = tt_value_given(&tokens) ? *tt_call_arg(call, "transpose_hw")
							      : ttnn_v_none(),
			[GRID] = grid_of(call), [MEMORY] = tt_value_memory_or_like(call, a),
			[DTYPE] = ttnn_v_dtype(tt_call_dtype(call, "dtype", a->spec.dtype)),
			[COMPUTE] = compute_of(call)));
}

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
	struct ttnn_value compute = compute_of(call);
	uint32_t columns = tt_shape_last(&b->spec.padded, 1) / TT_TILE;
	uint32_t most = tt_compute_has(&compute, TT_COMPUTE_FP32) ? 4 : 8;

	TT_TRY(tt_need_device(a));
	return TT_LAUNCH_RETURN(
		call, &group_program, TT_INPUTS(a, b),
		TT_OUTPUTS(tt_call_tensor(call, "optional_output_tensor")),
		TT_BIND(call, group_schema, [GROUP_TOKENS] = ttnn_v_none(),
			[GROUP_TRANSPOSE] = ttnn_v_none(),
			[GROUP_SUBBLOCK] = ttnn_v_int(least(columns, most)),
			[GROUP_GRID] = grid_of(call), [GROUP_MEMORY] = ttnn_v_memory(memory),
			[GROUP_DTYPE] = ttnn_v_dtype(tt_call_dtype(call, "dtype", a->spec.dtype)),
			[GROUP_ROWS] = ttnn_v_bool(counts_rows(a, b, memory)),
			[GROUP_COMPUTE] = compute));
}

#define AB "input_tensor_a: Tensor, input_tensor_b: Tensor, *, "
#define GRID_ARG "compute_with_storage_grid_size: CoreCoord, "
#define COMPUTE_ARG "compute_kernel_config: ComputeConfig? = None, "
static const struct tt_prog *const programs[] = {&program, NULL};
static const struct tt_prog *const group_programs[] = {&group_program, NULL};
static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.attn_matmul",
	 .family = "attn_matmul",
	 .doc = "Row b of each head times the matrix of user b.",
	 .sigs = {AB GRID_ARG "dtype: DataType? = None, " COMPUTE_ARG
			      "memory_config: MemoryConfig? = None, output_tensor: Tensor? = None"},
	 .expand = attn,
	 .golden = tt_golden_attn_matmul,
	 .pcc = 0.999,
	 .programs = programs},
	{.name = "ttnn.experimental.attn_matmul_from_cache",
	 .family = "attn_matmul",
	 .doc = "Row b of each head times the first rows of user b's cache, transposed or as they are.",
	 .sigs = {AB "num_tokens: int, transpose_hw: bool, " GRID_ARG
		     "memory_config: MemoryConfig? = None, dtype: DataType? = None, " COMPUTE_ARG
		     "output_tensor: Tensor? = None"},
	 .expand = attn,
	 .golden = tt_golden_attn_matmul,
	 .pcc = 0.999,
	 .programs = programs},
	{.name = "ttnn.experimental.group_attn_matmul",
	 .family = "attn_matmul",
	 .doc = "Row b of each head times the matrix of user b that its group of heads has.",
	 .sigs = {AB GRID_ARG
		  "memory_config: MemoryConfig? = DRAM, dtype: DataType? = None, " COMPUTE_ARG
		  "optional_output_tensor: Tensor? = None"},
	 .expand = group_attn,
	 .golden = tt_golden_attn_matmul,
	 .pcc = 0.999,
	 .programs = group_programs},
};

const struct tt_op_family tt_family_attn_matmul = {"attn_matmul", ops, TT_COUNT(ops)};
