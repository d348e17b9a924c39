/*
 * attn_matmul.c: products of one new token of every user: row b of each head of a with the matrix of user b, which may be
 * the first rows of a cache. Models AttnMatmulDeviceOperation of ttnn 0.81 with its one factory: refusals, memory, cores.
 */
#include "ops/attention/attn_matmul.h"
#include "backend/backend.h"
#include "ops/attention/heads.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"
#include "ops/objects.h"

#define ATTRS(X)                                                                                   \
	X(TOKENS, "num_tokens")                                                                    \
	X(TRANSPOSE, "transpose_hw")                                                               \
	X(GRID, "compute_with_storage_grid_size", TT_ATTN_XY)                                      \
	X(MEMORY, "output_mem_config")                                                             \
	X(DTYPE, "output_dtype")                                                                   \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(schema, "AttnMatmulParams", ATTRS);
/* ---- specs --------------------------------------------------------------------------------------------- */

/* Whether b is read transposed; a product that is not out of a cache has none of both attributes. */
static bool is_transposed(const struct tt_launch *launch)
{
	return tt_value_given(&launch->attrs[TT_ATTN_TRANSPOSE]) &&
	       launch->attrs[TT_ATTN_TRANSPOSE].boolean;
}

tt_status tt_attn_shape(struct ttnn_shape *out, const struct tt_launch *launch)
{
	const struct ttnn_shape *a = &launch->inputs[TT_ATTN_A]->spec.padded;
	const struct ttnn_shape *b = &launch->inputs[TT_ATTN_B]->spec.padded;

	TT_TRY(tt_need_dim(a, 2));
	TT_TRY(tt_need_dim(b, 3));
	*out = TT_SHAPE(1, a->dim[1], a->dim[2],
			is_transposed(launch) ? (uint32_t)launch->attrs[TT_ATTN_TOKENS].integer
					      : b->dim[3]);
	return TTNN_OK;
}

static tt_status attn_infer(struct tt_launch *launch)
{
	struct ttnn_shape shape;

	TT_TRY(tt_attn_shape(&shape, launch));
	return tt_infer_one(launch, &shape, (enum ttnn_dtype)launch->attrs[DTYPE].integer,
			    TTNN_TILE);
}

/* ---- refusals ------------------------------------------------------------------------------------------ */

tt_status tt_attn_check_kinds(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[TT_ATTN_A]->spec,
				      *b = &launch->inputs[TT_ATTN_B]->spec;

	TT_REQUIRE(a->layout == TTNN_TILE && b->layout == TTNN_TILE,
		   "(input_tensor_a.layout() == Layout::TILE && input_tensor_b.layout() == "
		   "Layout::TILE)",
		   "Inputs to matmul must be tilized");
	TT_REQUIRE(a->padded.dim[0] == 1, "(ashape[0] == 1)", "Input q_len must be 1!");
	return TTNN_OK;
}

tt_status tt_attn_check_users(const struct tt_launch *launch)
{
	TT_REQUIRE(launch->inputs[TT_ATTN_A]->spec.padded.dim[2] ==
			   launch->inputs[TT_ATTN_B]->spec.padded.dim[0],
		   "(ashape[2] == bshape[0])", "Num of users must match!");
	return tt_need_dim(&launch->inputs[TT_ATTN_A]->spec.padded, 3);
}

static tt_status attn_validate(struct tt_launch *launch)
{
	const struct ttnn_shape *a = &launch->inputs[TT_ATTN_A]->spec.padded;
	const struct ttnn_shape *b = &launch->inputs[TT_ATTN_B]->spec.padded;
	bool cache = tt_value_given(&launch->attrs[TT_ATTN_TOKENS]);

	TT_TRY(tt_attn_check_kinds(launch));
	TT_REQUIRE(b->dim[1] == 1, "(bshape[1] == 1)", "Number of kv_heads must be 1!");
	TT_TRY(tt_attn_check_users(launch));
	TT_REQUIRE(!is_transposed(launch) || a->dim[3] == b->dim[3], "ashape[3] == bshape[3]",
		   "For pre-attention matmul, dimension K for B is in B.shape[3], so A.shape[3] "
		   "must match B.shape[3]");
	TT_REQUIRE(!cache || is_transposed(launch) ||
			   a->dim[3] == launch->attrs[TT_ATTN_TOKENS].integer,
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

/* ---- program memory ------------------------------------------------------------------------------------ */

/* Bytes of a tile on the way: sums of float32 stay so if a is. Refuses float32 whose sums are not. */
tt_status tt_attn_between(uint64_t *out, const struct tt_launch *launch,
			  const struct ttnn_value *compute)
{
	bool fp32 = tt_compute_has(compute, TT_COMPUTE_FP32);
	enum ttnn_dtype a = launch->inputs[TT_ATTN_A]->spec.dtype,
			b = launch->inputs[TT_ATTN_B]->spec.dtype;

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

	TT_TRY(tt_attn_between(&between, launch, &launch->attrs[COMPUTE]));
	return TT_PLAN(plan, launch->grid,
		       TT_CB_ROW(0, "cb_src0",
				 .pages = launch->inputs[TT_ATTN_A]->spec.padded.dim[3] / TT_TILE,
				 .page = tt_page_in0(launch)),
		       TT_CB_ROW(1, "cb_src1", .pages = 2, .page = tt_page_in1(launch)),
		       TT_CB_ROW(2, "cb_intermed0", .pages = 1, .page = between),
		       TT_CB_ROW(3, "cb_intermed1", .pages = 1, .page = between),
		       TT_CB_ROW(4, "cb_intermed2", .pages = 1, .page = between),
		       TT_CB_ROW(5, "cb_output", .pages = 2, .page = tt_page_out0(launch)));
}

/* ---- running ------------------------------------------------------------------------------------------- */

/* The extents of the product, of what tensors hold: what tiles add is zeros. */
struct extents {
	uint32_t users, groups, each; /* groups: key heads; each: heads of a group */
	uint32_t k, n;
	bool transposed;
};

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static struct extents extents_of(const struct tt_launch *launch)
{
	const uint32_t *a = launch->inputs[TT_ATTN_A]->spec.shape.dim;
	const uint32_t *b = launch->inputs[TT_ATTN_B]->spec.shape.dim;
	struct extents e = {.users = least(a[2], b[0]),
			    .groups = b[1],
			    .each = a[1] / b[1],
			    .transposed = is_transposed(launch)};

	e.k = least(a[3], e.transposed ? b[3] : b[2]);
	e.n = e.transposed ? least((uint32_t)launch->attrs[TT_ATTN_TOKENS].integer, b[2]) : b[3];
	return e;
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

	TT_TRY(tt_scratch(out, &shape, a->spec.dtype == TTNN_FLOAT32 ? TTNN_FLOAT32 : TTNN_BFLOAT16,
			  TTNN_TILE));
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
		*out = b;
		return TTNN_OK;
	}
	TT_TRY(tt_scratch(out, &shape, b->spec.dtype == TTNN_FLOAT32 ? TTNN_FLOAT32 : TTNN_BFLOAT16,
			  TTNN_TILE));
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

tt_status tt_attn_kernel(struct tt_launch *launch)
{
	struct extents e = extents_of(launch);
	const struct ttnn_shape shape = TT_SHAPE(e.users, e.groups, e.each, e.n);
	struct tt_matmul_job job = {.transpose_b = e.transposed, .alpha = 1, .beta = 1};

	TT_TRY(rows_by_user(&job.a, launch->inputs[TT_ATTN_A], &e));
	TT_TRY(part_of(&job.b, launch->inputs[TT_ATTN_B], &e));
	TT_TRY(tt_scratch(&job.out, &shape, TTNN_FLOAT32, TTNN_TILE));
	TT_TRY(tt_backend_get()->matmul(&job));
	return give_rows(launch->outputs[0], job.out, &e);
}

static const struct tt_prog program = {
	.device_op = "AttnMatmulDeviceOperation",
	.prim = "ttnn::prim::attn_matmul",
	.attrs = &schema,
	.infer = attn_infer,
	.validate = attn_validate,
	TT_FACTORY("ttnn::experimental::prim::AttnMatmulProgramFactory", attn_rows),
	TT_KERNEL(tt_attn_kernel),
};
/* ---- operations ------------------------------------------------------------------------------------------ */

static const struct tt_compute_usual usual = {.fidelity = TT_LOFI, .approx = true};

struct ttnn_value tt_attn_compute(struct tt_call *call)
{
	return tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
}

struct ttnn_value tt_attn_grid(struct tt_call *call)
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
		TT_TRY(tt_need_dim(&b->spec.padded, 2));
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
			[GRID] = tt_attn_grid(call), [MEMORY] = tt_value_memory_or_like(call, a),
			[DTYPE] = ttnn_v_dtype(tt_call_dtype(call, "dtype", a->spec.dtype)),
			[COMPUTE] = tt_attn_compute(call)));
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.attn_matmul",
	 .doc = "Row b of each head times the matrix of user b.",
	 .sigs = {TT_ATTN_ARGS TT_ATTN_GRID_ARG
		  "dtype: DataType? = None, " TT_ATTN_COMPUTE_ARG
		  "memory_config: MemoryConfig? = None, output_tensor: Tensor? = None"},
	 .expand = attn,
	 .golden = tt_golden_attn_matmul,
	 TT_PROGRAMS(&program)},
	{.name = "ttnn.experimental.attn_matmul_from_cache",
	 .doc = "Row b of each head times the first rows of user b's cache, transposed or as they are.",
	 .sigs = {TT_ATTN_ARGS
		  "num_tokens: int, transpose_hw: bool, " TT_ATTN_GRID_ARG
		  "memory_config: MemoryConfig? = None, dtype: DataType? = None, " TT_ATTN_COMPUTE_ARG
		  "output_tensor: Tensor? = None"},
	 .expand = attn,
	 .golden = tt_golden_attn_matmul,
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_attn_matmul = {"attn_matmul", ops, TT_COUNT(ops)};
