/*
 * moreh.c: reductions, norms and softmax of the moreh operations. They keep the last two dimensions
 * always, and drop others unless told to keep them.
 */
#include <math.h>

#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "ops/compute.h"
#include "ops/golden_reduction.h"
#include "ops/movement.h"
#include "ops/reduce.h"
#include "ops/reduction.h"
#include "ops/rows.h"
#include "ops/softmax_lines.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true};

static struct ttnn_value compute_of(struct tt_call *call)
{
	return tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
}

/* ---- what the programs over one dimension share --------------------------------------------------------- */

/* Where each has its dimension, whether it is kept, and the rest: by position in the attributes. */
struct place {
	uint32_t dim, keep, memory, compute;
};

static uint32_t rank_of(const struct tt_launch *launch)
{
	return launch->inputs[0]->spec.shape.rank;
}

static tt_status infer_at(struct tt_launch *launch, const struct place *place)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_reduction_dims dims = {.dim = {(uint32_t)launch->attrs[place->dim].integer},
					 .count = 1};
	bool keep = launch->attrs[place->keep].boolean || dims.dim[0] + 2 >= in->shape.rank;
	struct ttnn_shape shape = tt_reduction_shape(&in->shape, &dims, keep);

	launch->output_count = 1;
	if (launch->outputs[0]) {
		launch->specs[0] = launch->outputs[0]->spec;
		return TTNN_OK;
	}
	return tt_spec_simple(&launch->specs[0], &shape, in->dtype, TTNN_TILE,
			      launch->attrs[place->memory].memory);
}

/* Height, before the last two, width: the order of upstream's factories. */
enum { H, NC, W };

static uint32_t way_of(const struct tt_launch *launch, uint32_t dim)
{
	return dim + 1 == rank_of(launch) ? W : dim + 2 == rank_of(launch) ? H : NC;
}

/* Numbers: 0 bytes of a tile of sums. */
static tt_status plan_at(uint32_t *way, struct tt_launch *launch, const struct place *place)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_reduce_tiles tiles = tt_reduce_tiles_of(in);
	struct tt_move_work *work = tt_move_work_new(launch);
	bool wide = tt_compute_has(&launch->attrs[place->compute], TT_COMPUTE_FP32);
	uint32_t dim = (uint32_t)launch->attrs[place->dim].integer;
	uint64_t extent;

	if (!work)
		return TTNN_NOMEM;
	*way = way_of(launch, dim);
	extent = *way == W ? tiles.width : *way == H ? tiles.height : in->padded.dim[dim];
	work->number[0] = wide ? tt_tile_bytes_of(TTNN_FLOAT32) : tt_page_in0(launch);
	return tt_cores_for(&work->cores[0], launch,
			    tiles.matrices * tiles.height * tiles.width / (extent ? extent : 1));
}

static tt_status reduce_at(struct tt_launch *launch, const struct place *place,
			   enum tt_reduce_kind kind, double scale)
{
	struct tt_reduce_job job = {.out = launch->outputs[0],
				    .in = launch->inputs[0],
				    .kind = kind,
				    .dims = 1u << launch->attrs[place->dim].integer,
				    .scale = scale};

	return tt_backend_get()->reduce(&job);
}

#define IN(index_, count_)                                                                         \
	{                                                                                          \
		.kind = TT_DFB, .index = index_, .page_count = count_, .page = tt_page_in0,        \
		.cores = tt_work_cores0                                                            \
	}
#define SUM(index_)                                                                                \
	{                                                                                          \
		.kind = TT_DFB, .index = index_, .page_count = 1, .page = tt_number0,              \
		.cores = tt_work_cores0                                                            \
	}
#define OUT(index_, count_)                                                                        \
	{                                                                                          \
		.kind = TT_DFB, .index = index_, .page_count = count_, .page = tt_page_out0,       \
		.cores = tt_work_cores0                                                            \
	}

/* ---- sums ------------------------------------------------------------------------------------------------- */

enum { SUM_DIM, SUM_KEEP, SUM_MEMORY, SUM_COMPUTE, SUM_ATTRS };
static const struct place sum_place = {SUM_DIM, SUM_KEEP, SUM_MEMORY, SUM_COMPUTE};
static const struct tt_field sum_fields[SUM_ATTRS] = {
	[SUM_DIM] = {.name = "dim"},
	[SUM_KEEP] = {.name = "keepdim"},
	[SUM_MEMORY] = {.name = "memory_config"},
	[SUM_COMPUTE] = {.name = "compute_kernel_config"},
};
static const struct tt_schema sum_schema = {"operation_attributes_t", sum_fields, SUM_ATTRS, false};

static tt_status sum_infer(struct tt_launch *launch)
{
	return infer_at(launch, &sum_place);
}

/* Integers have factories of their own, behind the others. */
static tt_status sum_choose(uint32_t *out, struct tt_launch *launch)
{
	TT_TRY(plan_at(out, launch, &sum_place));
	if (tt_dtype_is_integer(launch->inputs[0]->spec.dtype))
		*out += W + 1;
	return TTNN_OK;
}

static tt_status sum_kernel(struct tt_launch *launch)
{
	return reduce_at(launch, &sum_place, TT_REDUCE_SUM, 1);
}

static const struct tt_mem_row sum_h_rows[] = {IN(0, 2), IN(1, 1), IN(2, 1),
					       SUM(3),   IN(4, 1), OUT(16, 2)};
static const struct tt_mem_row sum_w_rows[] = {IN(0, 2), IN(1, 2), IN(2, 1),
					       SUM(3),   IN(4, 1), OUT(16, 2)};
static const struct tt_mem_row sum_nc_rows[] = {IN(0, 2), IN(1, 1), OUT(16, 2)};
static const struct tt_mem_row sum_int_rows[] = {IN(0, 2), IN(1, 1), IN(2, 1), OUT(16, 2)};

#define SUM_FACTORY(name, rows)                                                                    \
	{                                                                                          \
		"ttnn::operations::moreh::moreh_sum::MorehSumOperation::MorehSum" name "Factory",  \
			rows, TT_COUNT(rows), NULL                                                 \
	}
static const struct tt_factory sum_factories[] = {
	SUM_FACTORY("H", sum_h_rows),      SUM_FACTORY("NC", sum_nc_rows),
	SUM_FACTORY("W", sum_w_rows),      SUM_FACTORY("HInt", sum_int_rows),
	SUM_FACTORY("NCInt", sum_nc_rows), SUM_FACTORY("WInt", sum_int_rows),
};

static const struct tt_prog prog_sum = {
	.device_op = "MorehSumOperation",
	.prim = "ttnn::prim::moreh_sum",
	.attrs = &sum_schema,
	.infer = sum_infer,
	.factories = sum_factories,
	.factory_count = TT_COUNT(sum_factories),
	.choose = sum_choose,
	TT_KERNEL(sum_kernel),
};

/* ---- means ------------------------------------------------------------------------------------------------ */

enum { MEAN_DIM, MEAN_KEEP, MEAN_DIVISOR, MEAN_MEMORY, MEAN_COMPUTE, MEAN_ATTRS };
static const struct place mean_place = {MEAN_DIM, MEAN_KEEP, MEAN_MEMORY, MEAN_COMPUTE};
static const struct tt_field mean_fields[MEAN_ATTRS] = {
	[MEAN_DIM] = {.name = "dim"},
	[MEAN_KEEP] = {.name = "keepdim"},
	[MEAN_DIVISOR] = {.name = "divisor"},
	[MEAN_MEMORY] = {.name = "memory_config"},
	[MEAN_COMPUTE] = {.name = "compute_kernel_config"},
};
static const struct tt_schema mean_schema = {"operation_attributes_t", mean_fields, MEAN_ATTRS,
					     false};

static tt_status mean_infer(struct tt_launch *launch)
{
	return infer_at(launch, &mean_place);
}

static tt_status mean_choose(uint32_t *out, struct tt_launch *launch)
{
	return plan_at(out, launch, &mean_place);
}

static tt_status mean_kernel(struct tt_launch *launch)
{
	const struct ttnn_value *divisor = &launch->attrs[MEAN_DIVISOR];
	uint32_t extent = launch->inputs[0]->spec.shape.dim[launch->attrs[MEAN_DIM].integer];
	double by = tt_value_given(divisor) ? (double)divisor->integer : (double)extent;

	return reduce_at(launch, &mean_place, TT_REDUCE_SUM, 1 / by);
}

static const struct tt_mem_row mean_rows[] = {IN(0, 2), IN(1, 1), IN(2, 1),
					      SUM(3),   IN(4, 1), OUT(16, 1)};
static const struct tt_mem_row mean_nc_rows[] = {IN(0, 2), IN(1, 1), IN(2, 1), IN(3, 1),
						 OUT(16, 2)};

#define MEAN_FACTORY(name, rows)                                                                   \
	{                                                                                          \
		"ttnn::operations::moreh::moreh_mean::MorehMeanOperation::MorehMean" name          \
		"Factory",                                                                         \
			rows, TT_COUNT(rows), NULL                                                 \
	}
static const struct tt_factory mean_factories[] = {
	MEAN_FACTORY("H", mean_rows),
	MEAN_FACTORY("NC", mean_nc_rows),
	MEAN_FACTORY("W", mean_rows),
};

static const struct tt_prog prog_mean = {
	.device_op = "MorehMeanOperation",
	.prim = "ttnn::prim::moreh_mean",
	.attrs = &mean_schema,
	.infer = mean_infer,
	.factories = mean_factories,
	.factory_count = TT_COUNT(mean_factories),
	.choose = mean_choose,
	TT_KERNEL(mean_kernel),
};

/* ---- norms: how many are not 0, the largest and the smallest size --------------------------------------- */

enum { NORM_P, NORM_DIM, NORM_KEEP, NORM_MEMORY, NORM_COMPUTE, NORM_ATTRS };
static const struct place norm_place = {NORM_DIM, NORM_KEEP, NORM_MEMORY, NORM_COMPUTE};
static const struct tt_field norm_fields[NORM_ATTRS] = {
	[NORM_P] = {.name = "p"},
	[NORM_DIM] = {.name = "dim"},
	[NORM_KEEP] = {.name = "keepdim"},
	[NORM_MEMORY] = {.name = "memory_config"},
	[NORM_COMPUTE] = {.name = "compute_kernel_config"},
};
static const struct tt_schema norm_schema = {"operation_attributes_t", norm_fields, NORM_ATTRS,
					     false};

static tt_status norm_infer(struct tt_launch *launch)
{
	return infer_at(launch, &norm_place);
}

static tt_status norm_choose(uint32_t *out, struct tt_launch *launch)
{
	static const uint32_t order[] = {[W] = 0, [H] = 1, [NC] = 2};

	TT_TRY(plan_at(out, launch, &norm_place));
	*out = order[*out];
	return TTNN_OK;
}

static tt_status norm_kernel(struct tt_launch *launch)
{
	double p = launch->attrs[NORM_P].real;
	struct tt_unary_step step = {.fn = p == 0 ? TT_UNARY_NEZ : TT_UNARY_ABS};
	struct ttnn_spec_args args = {.shape = launch->inputs[0]->spec.shape,
				      .dtype = TTNN_FLOAT32};
	struct tt_tensor *sizes, *in = launch->inputs[0];
	struct ttnn_tensor_spec spec;
	struct tt_reduce_job job = {.out = launch->outputs[0],
				    .kind = p == 0  ? TT_REDUCE_SUM
					    : p > 0 ? TT_REDUCE_MAX
						    : TT_REDUCE_MIN,
				    .dims = 1u << launch->attrs[NORM_DIM].integer,
				    .scale = 1};
	tt_status status;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(ttnn_tensor_new(&sizes, &spec));
	status = tt_backend_get()->map(&(struct tt_map_job){
		.out = sizes, .arity = 1, .in = {in}, .post = &step, .post_count = 1});
	job.in = sizes;
	if (status == TTNN_OK)
		status = tt_backend_get()->reduce(&job);
	ttnn_tensor_unref(sizes);
	return status;
}

static const struct tt_mem_row norm_rows[] = {IN(0, 1),  IN(1, 1),  IN(2, 1), OUT(16, 1),
					      IN(24, 1), IN(25, 1), IN(26, 1)};
static const struct tt_mem_row norm_nc_rows[] = {IN(0, 1), IN(1, 1), OUT(16, 1), IN(24, 1),
						 IN(25, 1)};

#define NORM_FACTORY(name, rows)                                                                   \
	{                                                                                          \
		"ttnn::operations::moreh::moreh_norm::MorehNormOperation::ProgramFactory" name     \
		"Other",                                                                           \
			rows, TT_COUNT(rows), NULL                                                 \
	}
static const struct tt_factory norm_factories[] = {
	NORM_FACTORY("W", norm_rows),
	NORM_FACTORY("H", norm_rows),
	NORM_FACTORY("NC", norm_nc_rows),
};

static const struct tt_prog prog_norm = {
	.device_op = "MorehNormOperation",
	.prim = "ttnn::prim::moreh_norm",
	.attrs = &norm_schema,
	.infer = norm_infer,
	.factories = norm_factories,
	.factory_count = TT_COUNT(norm_factories),
	.choose = norm_choose,
	TT_KERNEL(norm_kernel),
};

/* ---- powers of sizes ---------------------------------------------------------------------------------------- */

enum { POW_P, POW_MEMORY, POW_COMPUTE, POW_ATTRS };
static const struct tt_field pow_fields[POW_ATTRS] = {
	[POW_P] = {.name = "p"},
	[POW_MEMORY] = {.name = "memory_config"},
	[POW_COMPUTE] = {.name = "compute_kernel_config"},
};
static const struct tt_schema pow_schema = {"operation_attributes_t", pow_fields, POW_ATTRS, false};

static tt_status pow_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	launch->output_count = 1;
	if (launch->outputs[0]) {
		launch->specs[0] = launch->outputs[0]->spec;
		return TTNN_OK;
	}
	return tt_spec_simple(&launch->specs[0], &in->shape, in->dtype, TTNN_TILE,
			      launch->attrs[POW_MEMORY].memory);
}

/* A row of tiles is a unit of work. */
static tt_status pow_choose(uint32_t *out, struct tt_launch *launch)
{
	struct tt_reduce_tiles tiles = tt_reduce_tiles_of(&launch->inputs[0]->spec);
	struct tt_move_work *work = tt_move_work_new(launch);

	if (!work)
		return TTNN_NOMEM;
	*out = 0;
	return tt_cores_for(&work->cores[0], launch, tiles.matrices * tiles.height);
}

static tt_status pow_kernel(struct tt_launch *launch)
{
	struct tt_unary_step steps[] = {
		{.fn = TT_UNARY_ABS},
		{.fn = TT_UNARY_POWER, .count = 1, .params = {launch->attrs[POW_P].real}}};

	return tt_backend_get()->map(&(struct tt_map_job){.out = launch->outputs[0],
							  .arity = 1,
							  .in = {launch->inputs[0]},
							  .post = steps,
							  .post_count = TT_COUNT(steps)});
}

static const struct tt_mem_row pow_rows[] = {IN(0, 1),  IN(1, 1),  IN(2, 1),  IN(3, 1), OUT(16, 1),
					     IN(24, 1), IN(25, 1), IN(26, 1), IN(27, 1)};
static const struct tt_factory pow_factories[] = {
	{"ttnn::operations::moreh::moreh_abs_pow::MorehAbsPowOperation::MorehAbsPowProgramFactory",
	 pow_rows, TT_COUNT(pow_rows), NULL}};

static const struct tt_prog prog_pow = {
	.device_op = "MorehAbsPowOperation",
	.prim = "ttnn::prim::moreh_abs_pow",
	.attrs = &pow_schema,
	.infer = pow_infer,
	.factories = pow_factories,
	.factory_count = 1,
	.choose = pow_choose,
	TT_KERNEL(pow_kernel),
};

/* ---- softmax ------------------------------------------------------------------------------------------------- */

enum { SOFT_DIM, SOFT_OP, SOFT_STRATEGY, SOFT_MEMORY, SOFT_COMPUTE, SOFT_ATTRS };
enum soft { SOFTMAX, SOFTMIN, LOGSOFTMAX };

static const struct tt_field soft_fields[SOFT_ATTRS] = {
	[SOFT_DIM] = {.name = "dim"},
	[SOFT_OP] = {.name = "op"},
	[SOFT_STRATEGY] = {.name = "strategy",
			   .text = TT_TEXT_FIXED,
			   .fixed = "MorehSoftmaxOpParallelizationStrategy::NONE"},
	[SOFT_MEMORY] = {.name = "memory_config"},
	[SOFT_COMPUTE] = {.name = "compute_kernel_config"},
};
static const struct tt_schema soft_schema = {"operation_attributes_t", soft_fields, SOFT_ATTRS,
					     false};
static const struct tt_enum_row soft_rows[] = {
	{SOFTMAX, "SOFTMAX"}, {SOFTMIN, "SOFTMIN"}, {LOGSOFTMAX, "LOGSOFTMAX"}};
static const struct tt_enum soft_enum = {"MorehSoftmaxOp", soft_rows, TT_COUNT(soft_rows)};

static tt_status soft_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	launch->output_count = 1;
	if (launch->outputs[0]) {
		launch->specs[0] = launch->outputs[0]->spec;
		return TTNN_OK;
	}
	return tt_spec_simple(&launch->specs[0], &in->shape, in->dtype, TTNN_TILE,
			      launch->attrs[SOFT_MEMORY].memory);
}

static tt_status soft_choose(uint32_t *out, struct tt_launch *launch)
{
	enum ttnn_dtype dtype = launch->inputs[0]->spec.dtype;
	bool wide = tt_compute_has(&launch->attrs[SOFT_COMPUTE], TT_COMPUTE_FP32);
	struct tt_lines_wish wish = {.dim = (uint32_t)launch->attrs[SOFT_DIM].integer,
				     .value = dtype,
				     .sum = wide ? TTNN_FLOAT32 : dtype,
				     .between = wide ? TTNN_FLOAT32 : dtype};
	enum tt_lines lines;

	TT_TRY(tt_lines_plan(&lines, launch, &wish));
	*out = lines;
	return TTNN_OK;
}

static tt_status soft_kernel(struct tt_launch *launch)
{
	enum soft op = (enum soft)launch->attrs[SOFT_OP].integer;
	struct tt_softmax_job job = {.out = launch->outputs[0],
				     .in = launch->inputs[0],
				     .dim = (uint32_t)launch->attrs[SOFT_DIM].integer,
				     .scale = op == SOFTMIN ? -1 : 1,
				     .stable = true,
				     .log = op == LOGSOFTMAX};

	return tt_backend_get()->softmax(&job);
}

#define SOFT_FACTORY(name, rows, count)                                                            \
	{                                                                                          \
		"ttnn::operations::moreh::moreh_softmax::MorehSoftmaxOperation::MorehSoftmax" name \
		"Factory",                                                                         \
			rows, count, NULL                                                          \
	}
static const struct tt_factory soft_factories[] = {
	[TT_LINES_OUTER] = SOFT_FACTORY("CLarge", tt_outer_rows, TT_OUTER_ROWS),
	[TT_LINES_H_LARGE] = SOFT_FACTORY("HLarge", tt_line_rows, TT_LINE_ROWS),
	[TT_LINES_H_SMALL] = SOFT_FACTORY("HSmall", tt_line_rows, TT_LINE_ROWS),
	[TT_LINES_W_LARGE] = SOFT_FACTORY("WLarge", tt_line_rows, TT_LINE_ROWS),
	[TT_LINES_W_SMALL] = SOFT_FACTORY("WSmall", tt_line_rows, TT_LINE_ROWS),
};

static const struct tt_prog prog_soft = {
	.device_op = "MorehSoftmaxOperation",
	.prim = "ttnn::prim::moreh_softmax",
	.attrs = &soft_schema,
	.infer = soft_infer,
	.factories = soft_factories,
	.factory_count = TT_COUNT(soft_factories),
	.choose = soft_choose,
	TT_KERNEL(soft_kernel),
};

/* ---- the operations ---------------------------------------------------------------------------------------------- */

static tt_status launch(struct tt_tensor **out, struct tt_call *call,
			const struct tt_program_args *args)
{
	TT_TRY(tt_need_device(args->inputs[0]));
	return tt_call_program(out, call, args);
}

/* One pass over a dimension. */
typedef tt_status (*pass_fn)(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			     struct tt_tensor *given, uint32_t dim);

/* The config asked for, or the input's. */
static struct ttnn_value memory_of(const struct tt_call *call, const struct tt_tensor *in)
{
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");

	return ttnn_v_memory(memory ? memory : &in->spec.memory);
}

static tt_status pass_sum(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			  struct tt_tensor *given, uint32_t dim)
{
	struct ttnn_value attrs[SUM_ATTRS] = {
		[SUM_DIM] = ttnn_v_int(dim),
		[SUM_KEEP] = ttnn_v_bool(tt_call_bool(call, "keepdim", false)),
		[SUM_MEMORY] = memory_of(call, in),
		[SUM_COMPUTE] = compute_of(call),
	};

	return launch(out, call,
		      &(struct tt_program_args){.prog = &prog_sum,
						.attrs = attrs,
						.inputs = &in,
						.input_count = 1,
						.outputs = &given,
						.output_count = 1});
}

static tt_status pass_mean(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			   struct tt_tensor *given, uint32_t dim)
{
	struct ttnn_value attrs[MEAN_ATTRS] = {
		[MEAN_DIM] = ttnn_v_int(dim),
		[MEAN_KEEP] = ttnn_v_bool(tt_call_bool(call, "keepdim", false)),
		[MEAN_DIVISOR] = *tt_call_arg(call, "divisor"),
		[MEAN_MEMORY] = memory_of(call, in),
		[MEAN_COMPUTE] = compute_of(call),
	};

	return launch(out, call,
		      &(struct tt_program_args){.prog = &prog_mean,
						.attrs = attrs,
						.inputs = &in,
						.input_count = 1,
						.outputs = &given,
						.output_count = 1});
}

static tt_status pass_norm(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			   struct tt_tensor *given, uint32_t dim)
{
	struct ttnn_value attrs[NORM_ATTRS] = {
		[NORM_P] = ttnn_v_real(tt_call_real(call, "p", 2)),
		[NORM_DIM] = ttnn_v_int(dim),
		[NORM_KEEP] = ttnn_v_bool(tt_call_bool(call, "keepdim", false)),
		[NORM_MEMORY] = memory_of(call, in),
		[NORM_COMPUTE] = compute_of(call),
	};

	return launch(out, call,
		      &(struct tt_program_args){.prog = &prog_norm,
						.attrs = attrs,
						.inputs = &in,
						.input_count = 1,
						.outputs = &given,
						.output_count = 1});
}

static tt_status pass_pow(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			  struct tt_tensor *given, double p)
{
	struct ttnn_value attrs[POW_ATTRS] = {
		[POW_P] = ttnn_v_real(p),
		[POW_MEMORY] = memory_of(call, in),
		[POW_COMPUTE] = compute_of(call),
	};

	return launch(out, call,
		      &(struct tt_program_args){.prog = &prog_pow,
						.attrs = attrs,
						.inputs = &in,
						.input_count = 1,
						.outputs = &given,
						.output_count = 1});
}

/*
 * Pass after pass, the last dimension first; `first` may differ from the others. What lies between
 * goes when the next is there, the last of it when all is done.
 */
static tt_status run_passes(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			    pass_fn first, pass_fn others)
{
	struct tt_tensor *given = tt_call_tensor(call, "output"), *between = NULL, *next;
	struct tt_reduction_dims dims;

	TT_TRY(tt_reduction_dims(&dims, call, "dim", in->spec.shape.rank));
	for (uint32_t i = dims.count; i-- > 0;) {
		pass_fn pass = i + 1 == dims.count ? first : others;
		tt_status status =
			pass(&next, call, between ? between : in, i ? NULL : given, dims.dim[i]);

		if (between && (status != TTNN_OK || i == 0))
			tt_call_drop(call, between);
		else if (between)
			tt_call_overwrite(call, between);
		if (status != TTNN_OK)
			return status;
		between = next;
	}
	*out = between ? between : ttnn_tensor_ref(in);
	return TTNN_OK;
}

static tt_status expand_sum(struct tt_call *call)
{
	struct tt_tensor *out;

	TT_TRY(run_passes(&out, call, tt_call_tensor(call, "input"), pass_sum, pass_sum));
	tt_call_return(call, out);
	return TTNN_OK;
}

static tt_status expand_mean(struct tt_call *call)
{
	struct tt_tensor *out;

	TT_TRY(run_passes(&out, call, tt_call_tensor(call, "input"), pass_mean, pass_mean));
	tt_call_return(call, out);
	return TTNN_OK;
}

static tt_status expand_norm(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input"), *out, *powers, *sum;
	double p = tt_call_real(call, "p", 2);
	tt_status status;

	if (p == 0 || isinf(p)) {
		TT_TRY(run_passes(&out, call, in, pass_norm, p == 0 ? pass_sum : pass_norm));
		tt_call_return(call, out);
		return TTNN_OK;
	}
	TT_TRY(pass_pow(&powers, call, in, NULL, p));
	status = run_passes(&sum, call, powers, pass_sum, pass_sum);
	tt_call_overwrite(call, powers);
	TT_TRY(status);
	tt_call_own(call, sum);
	TT_TRY(pass_pow(&out, call, sum, tt_call_tensor(call, "output"), 1 / p));
	tt_call_return(call, out);
	return TTNN_OK;
}

static tt_status expand_pow(struct tt_call *call)
{
	struct tt_tensor *out;

	TT_TRY(pass_pow(&out, call, tt_call_tensor(call, "input"), tt_call_tensor(call, "output"),
			tt_call_real(call, "p", 2)));
	tt_call_return(call, out);
	return TTNN_OK;
}

static tt_status expand_soft(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *out;
	struct tt_tensor *given = tt_call_tensor(call, "output_tensor");
	uint32_t dim;
	struct ttnn_value attrs[SOFT_ATTRS] = {
		[SOFT_OP] = tt_value_enum(&soft_enum, *(const enum soft *)call->entry->op->row),
		[SOFT_STRATEGY] = ttnn_v_int(0),
		[SOFT_MEMORY] = memory_of(call, in),
		[SOFT_COMPUTE] = compute_of(call),
	};

	TT_TRY(tt_normal_dim(&dim, tt_call_int(call, "dim", -1), in->spec.shape.rank));
	attrs[SOFT_DIM] = ttnn_v_int(dim);
	TT_TRY(launch(&out, call,
		      &(struct tt_program_args){.prog = &prog_soft,
						.attrs = attrs,
						.inputs = &in,
						.input_count = 1,
						.outputs = &given,
						.output_count = 1}));
	tt_call_return(call, out);
	return TTNN_OK;
}

/* Running sums are those of cumsum; back they run from the end. */
static tt_status expand_cumsum(struct tt_call *call)
{
	bool back = call->entry->op->row != NULL;
	struct tt_tensor *in = tt_call_tensor(call, back ? "output_grad" : "input"), *out;
	struct ttnn_arg args[] = {{"input", ttnn_v_tensor(in)},
				  {"dim", *tt_call_arg(call, "dim")},
				  {"reverse_order", ttnn_v_bool(back)},
				  {"out", *tt_call_arg(call, back ? "input_grad" : "output")},
				  {"memory_config", *tt_call_arg(call, "memory_config")}};

	TT_TRY(tt_call_op(&out, call, "ttnn.cumsum", args, TT_COUNT(args)));
	tt_call_return(call, out);
	return TTNN_OK;
}

#define TAIL                                                                                       \
	"output: Tensor? = None, memory_config: MemoryConfig? = None, "                            \
	"compute_kernel_config: ComputeConfig? = None"
#define SOFT_SIG                                                                                   \
	"input_tensor: Tensor, dim: int, *, output_tensor: Tensor? = None, op: any? = None, "      \
	"strategy: any? = None, memory_config: MemoryConfig? = None, compute_kernel_config: "      \
	"ComputeConfig? = None"

static const enum soft softmax = SOFTMAX, softmin = SOFTMIN, logsoftmax = LOGSOFTMAX;
static const int backward;

#define OP(name_, expand_, golden_, row_, sig_, doc_)                                              \
	{                                                                                          \
		.name = "ttnn.moreh_" name_, .family = "moreh", .doc = doc_, .sigs = {sig_},       \
		.expand = expand_, .golden = golden_, .pcc = 0.999, .row = row_                    \
	}

static const struct tt_op ops[] = {
	OP("sum", expand_sum, tt_golden_moreh_sum, NULL,
	   "input: Tensor, dim: int | ints ? = None, *, keepdim: bool = False, " TAIL,
	   "The sum over dimensions."),
	OP("mean", expand_mean, tt_golden_moreh_mean, NULL,
	   "input: Tensor, *, dim: int | ints ? = None, keepdim: bool = False, divisor: int? = "
	   "None, " TAIL,
	   "The mean over dimensions."),
	OP("norm", expand_norm, tt_golden_moreh_norm, NULL,
	   "input: Tensor, p: float, *, dim: int | ints ? = None, keepdim: bool = False, " TAIL,
	   "The p-norm over dimensions."),
	OP("abs_pow", expand_pow, tt_golden_moreh_abs_pow, NULL,
	   "input: Tensor, p: float, *, " TAIL, "The size of each value to a power."),
	OP("softmax", expand_soft, tt_golden_softmax, &softmax, SOFT_SIG,
	   "exp(x) over its sum along a dimension."),
	OP("softmin", expand_soft, tt_golden_softmin, &softmin, SOFT_SIG,
	   "exp(-x) over its sum along a dimension."),
	OP("logsoftmax", expand_soft, tt_golden_logsoftmax, &logsoftmax, SOFT_SIG,
	   "The logarithm of softmax along a dimension."),
	OP("cumsum", expand_cumsum, tt_golden_cumsum, NULL,
	   "input: Tensor, dim: int, *, output: Tensor? = None, memory_config: MemoryConfig? = None",
	   "The sum of all values up to each, along a dimension."),
	OP("cumsum_backward", expand_cumsum, tt_golden_cumsum_backward, &backward,
	   "output_grad: Tensor, dim: int, *, input_grad: Tensor? = None, memory_config: "
	   "MemoryConfig? = None",
	   "The sum of all values from each on, along a dimension."),
};

const struct tt_op_family tt_family_moreh = {"moreh", ops, TT_COUNT(ops)};
