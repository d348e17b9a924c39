/*
 * welford.c: the program of standard deviation and variance.
 */
#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "device/split.h"
#include "ops/movement.h"
#include "ops/reduce.h"
#include "ops/rows.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

enum { MATH, DIM, SCALAR, MEMORY, DTYPE, COMPUTE, CORES, CORRECTION, BATCH, ATTRS };

static const struct tt_field fields[ATTRS] = {
	[MATH] = {.name = "math_op"},
	[DIM] = {.name = "dim"},
	[SCALAR] = {.name = "scalar"},
	[MEMORY] = {.name = "output_mem_config"},
	[DTYPE] = {.name = "output_dtype"},
	[COMPUTE] = {.name = "compute_kernel_config"},
	[CORES] = {.name = "sub_core_grids", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>"},
	[CORRECTION] = {.name = "correction"},
	[BATCH] = {.name = "reduce_batch_size"},
};
static const struct tt_schema schema = {"WelfordReduceParams", fields, ATTRS, false};

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

static tt_status infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_spec_args args = {.shape = in->shape,
				      .dtype = (enum ttnn_dtype)launch->attrs[DTYPE].integer,
				      .layout = TTNN_TILE,
				      .tile = in->tile};
	uint32_t bits = reduced(launch);

	launch->output_count = 1;
	for (uint32_t d = 0; d < args.shape.rank; d++)
		if (bits >> d & 1)
			args.shape.dim[d] = 1;
	return tt_reduced_spec(&launch->specs[0], &args, launch->attrs[MEMORY].memory, in);
}

static tt_status validate(struct tt_launch *launch)
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

/* Numbers: 0 pages in, 1 whether results of rows are gathered into one. */
static tt_status choose(uint32_t *out, struct tt_launch *launch)
{
	struct tt_reduce_tiles tiles = tt_reduce_tiles_of(&launch->inputs[0]->spec);
	struct tt_move_work *work = tt_move_work_new(launch);
	enum tt_reduce_dim dim = dim_of(launch);
	struct tt_work_split split;
	uint64_t units = tiles.matrices, at_once;

	if (!work)
		return TTNN_NOMEM;
	*out = 0;
	if (dim == TT_DIM_HW)
		units /= (uint64_t)launch->attrs[BATCH].integer;
	else
		units *= dim == TT_DIM_W ? tiles.height : tiles.width;
	if (launch->attrs[CORES].kind == TTNN_VALUE_CORE_SET)
		TT_TRY(tt_split_work_in(&split, launch->attrs[CORES].core_set, units,
					TTNN_ORIENT_COL_MAJOR));
	else
		TT_TRY(tt_split_work(&split, tt_grid_size(launch->grid), units,
				     TTNN_ORIENT_COL_MAJOR));
	work->cores[0] = split.all;
	at_once = dim == TT_DIM_W ? tiles.width : tiles.height;
	work->number[0] =
		at_once >= WIDE || (at_once > PAGES && dim == TT_DIM_HW) ? at_once : PAGES;
	work->number[1] = dim == TT_DIM_HW;
	return TTNN_OK;
}

#define ROW(index_, ...)                                                                           \
	{                                                                                          \
		.kind = TT_DFB, .index = index_, .cores = tt_work_cores0, __VA_ARGS__              \
	}

static const struct tt_mem_row memory_rows[] = {
	ROW(0, .pages = tt_number0, .page = tt_page_in0),
	ROW(1, .page_count = 2, .page = tt_page_out0),
	ROW(2, .when = tt_has1, .page_count = 4, .page = tt_page_f32),
	ROW(3, .when = tt_has1, .page_count = 1, .page = tt_page_f32),
};
static const struct tt_factory factories[] = {
	{"ttnn::prim::WelfordReduceDeviceOperation::WelfordReduceProgramFactory", memory_rows,
	 TT_COUNT(memory_rows), NULL}};

static tt_status kernel(struct tt_launch *launch)
{
	bool deviation = launch->attrs[MATH].integer == TT_MATH_STD;
	struct tt_reduce_job job = {
		.out = launch->outputs[0],
		.in = launch->inputs[0],
		.kind = deviation ? TT_REDUCE_STD : TT_REDUCE_VAR,
		.dims = reduced(launch),
		.scale = launch->attrs[SCALAR].real,
		.correction = launch->attrs[CORRECTION].boolean,
	};

	return tt_backend_get()->reduce(&job);
}

static const struct tt_prog prog = {
	.device_op = "WelfordReduceDeviceOperation",
	.prim = "ttnn::prim::welford_reduce",
	.attrs = &schema,
	.infer = infer,
	.validate = validate,
	.factories = factories,
	.factory_count = TT_COUNT(factories),
	.choose = choose,
	TT_KERNEL(kernel),
};

tt_status tt_welford_pass(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_welford_pass *pass)
{
	struct ttnn_value attrs[ATTRS] = {
		[MATH] = tt_value_enum(&tt_enum_reduce_math, pass->math),
		[DIM] = tt_value_enum(&tt_enum_reduce_dim, pass->dim),
		[SCALAR] = ttnn_v_real(pass->scalar),
		[MEMORY] = ttnn_v_memory(pass->memory),
		[DTYPE] = ttnn_v_dtype(pass->in->spec.dtype),
		[COMPUTE] = pass->compute,
		[CORES] = pass->cores ? ttnn_v_core_set(pass->cores) : ttnn_v_none(),
		[CORRECTION] = ttnn_v_bool(pass->correction),
		[BATCH] = ttnn_v_int(pass->batch),
	};
	struct tt_tensor *in = pass->in;
	struct tt_program_args args = {
		.prog = &prog, .attrs = attrs, .inputs = &in, .input_count = 1};

	return tt_call_program(out, call, &args);
}
