/*
 * welford.c: the program of standard deviation and variance.
 *
 * Models WelfordReduceDeviceOperation of ttnn 0.81 (reduction/generic/device) with its one
 * factory: specs, memory, cores. It takes mean and squares in one pass over tiles (Welford's
 * method), for which the engine keeps both in its registers. Not modelled: the order of its
 * sums; the backend takes two passes.
 */
#include <math.h>

#include "backend/backend.h"
#include "ops/movement/movement.h"
#include "ops/reduce/reduce_program.h"

#define ATTRS(X)                                                                                   \
	X(MATH, "math_op")                                                                         \
	X(DIM, "dim")                                                                              \
	X(SCALAR, "scalar")                                                                        \
	X(MEMORY, "output_mem_config")                                                             \
	X(DTYPE, "output_dtype")                                                                   \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(CORES, "sub_core_grids", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>")               \
	X(CORRECTION, "correction")                                                                \
	X(BATCH, "reduce_batch_size")
TT_ATTRS(schema, "WelfordReduceParams", ATTRS);

static enum tt_reduce_dim dim_of(const struct tt_launch *launch)
{
	return (enum tt_reduce_dim)launch->attrs[DIM].integer;
}

/* Which dimensions are reduced, as bits: the last ones, and as many before them as the batch has. */
static uint32_t reduced(const struct tt_launch *launch)
{
	const struct ttnn_shape *shape = &launch->inputs[0]->spec.shape;
	uint32_t rank = shape->rank, last = 1u << (rank - 1), before = 1u << (rank - 2), bits;
	uint64_t batch = (uint64_t)launch->attrs[BATCH].integer;

	if (dim_of(launch) != TT_DIM_HW)
		return dim_of(launch) == TT_DIM_W ? last : before;
	bits = last | before;
	for (uint32_t d = rank - 2; d-- > 0 && batch > 1;) {
		bits |= 1u << d;
		batch /= shape->dim[d] ? shape->dim[d] : 1;
	}
	return bits;
}

static tt_status welford_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_spec_args args = {.shape = in->shape,
				      .dtype = (enum ttnn_dtype)launch->attrs[DTYPE].integer,
				      .layout = TTNN_TILE,
				      .tile = in->tile};
	uint32_t bits = reduced(launch);

	for (uint32_t d = 0; d < args.shape.rank; d++)
		if (bits >> d & 1)
			args.shape.dim[d] = 1;
	return tt_reduced_spec(&launch->specs[0], &args, launch->attrs[MEMORY].memory, in);
}

static tt_status welford_validate(struct tt_launch *launch)
{
	enum ttnn_dtype dtype = launch->inputs[0]->spec.dtype;

	TT_REQUIRE(dtype == TTNN_BFLOAT16 || dtype == TTNN_FLOAT32 || dtype == TTNN_BFLOAT8_B,
		   "tensor_args.dtype() == DataType::BFLOAT16 || tensor_args.dtype() == "
		   "DataType::FLOAT32 || tensor_args.dtype() == DataType::BFLOAT8_B",
		   "Only FLOAT32, BFLOAT16, and BFLOAT8_B are supported for Std/Var reduction - "
		   "got DataType::%s",
		   tt_enum_name(&tt_enum_dtype, dtype));
	return TTNN_OK;
}

/* Long lines are kept whole, for two passes over them. */
#define PAGES 8
#define WIDE 24

static tt_status welford_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_reduce_tiles tiles = tt_reduce_tiles_of(&launch->inputs[0]->spec);
	enum tt_reduce_dim dim = dim_of(launch);
	bool gathers = dim == TT_DIM_HW; /* results of rows become one */
	uint64_t units = tiles.matrices, at_once = dim == TT_DIM_W ? tiles.width : tiles.height;
	uint64_t f32 = tt_tile_bytes_of(TTNN_FLOAT32);
	const ttnn_core_set *cores;

	if (gathers && launch->attrs[BATCH].integer)
		units /= (uint64_t)launch->attrs[BATCH].integer;
	else if (!gathers)
		units *= dim == TT_DIM_W ? tiles.height : tiles.width;
	TT_TRY(tt_cores_of(&cores, launch, &launch->attrs[CORES], units));
	if (at_once < WIDE && (at_once <= PAGES || !gathers))
		at_once = PAGES;
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "input", .pages = at_once, .page = tt_page_in0(launch)),
		       TT_DFB_ROW(1, "output", .pages = 2, .page = tt_page_out0(launch)),
		       TT_DFB_ROW(2, "partial", .pages = gathers ? 4 : 0, .page = f32),
		       TT_DFB_ROW(3, "combined", .pages = gathers, .page = f32));
}

static tt_status welford_kernel(struct tt_launch *launch)
{
	bool deviation = launch->attrs[MATH].integer == TT_MATH_STD;
	double factor = launch->attrs[SCALAR].real; /* of the values */
	struct tt_reduce_job job = {
		.out = launch->outputs[0],
		.in = launch->inputs[0],
		.kind = deviation ? TT_REDUCE_STD : TT_REDUCE_VAR,
		.dims = reduced(launch),
		.scale = deviation ? fabs(factor) : factor * factor,
		.correction = launch->attrs[CORRECTION].boolean,
	};

	return tt_backend_get()->reduce(&job);
}

static const struct tt_prog prog = {
	.device_op = "WelfordReduceDeviceOperation",
	.prim = "ttnn::prim::welford_reduce",
	.attrs = &schema,
	.infer = welford_infer,
	.validate = welford_validate,
	TT_FACTORY("ttnn::prim::WelfordReduceDeviceOperation::WelfordReduceProgramFactory",
		   welford_memory),
	TT_KERNEL(welford_kernel),
};

tt_status tt_welford_pass(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_welford_pass *pass)
{
	struct ttnn_value attrs[schema_count] = {
		[MATH] = tt_value_enum(&tt_enum_reduce_math, pass->math),
		[DIM] = tt_value_enum(&tt_enum_reduce_dim, pass->dim),
		[SCALAR] = ttnn_v_real(pass->scalar),
		[MEMORY] = ttnn_v_memory(pass->memory),
		[DTYPE] = ttnn_v_dtype(pass->in->spec.dtype),
		[COMPUTE] = pass->compute,
		[CORES] = tt_value_cores(pass->cores),
		[CORRECTION] = ttnn_v_bool(pass->correction),
		[BATCH] = ttnn_v_int(pass->batch),
	};

	return TT_LAUNCH(out, call, &prog, .attrs = attrs, TT_INPUTS(pass->in));
}
