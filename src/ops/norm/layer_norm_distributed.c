/*
 * layer_norm_distributed.c: normalisation of rows that lie across devices, in two halves. The first gives the
 * sums of each device's part, which are gathered; the second normalises with the sums of all. Models
 * LayerNormPreAllGather and LayerNormPostAllGather of ttnn 0.81, one factory each. Not modelled: their forms on a grid
 * of two dimensions and with Welford's method.
 */
#include "golden/golden_norm.h"
#include "ops/movement/movement.h"
#include "ops/norm/layer_norm.h"
#include "ops/objects.h"

/* Whether an operation is the one that subtracts no mean. */
static bool is_rms(const struct tt_call *call)
{
	return *(const bool *)call->entry->op->row;
}

static uint64_t kinds_of(bool rms)
{
	return rms ? 1 : 2;
}

/* ---- computing ----------------------------------------------------------------------------------- */

/* The sum of each row of `in` (+ residual), squared first, times scale, into column `column` of the output. */
static tt_status sum_into(const struct tt_norm_job *job, bool squared, uint32_t column,
			  double scale)
{
	const struct tt_unary_step square = {.fn = TT_UNARY_SQUARE};
	const struct tt_backend *backend = tt_backend_get();
	uint32_t rank = job->in->spec.shape.rank, extent[TTNN_MAX_RANK];
	struct tt_tensor *values = NULL, *sums = NULL;
	int64_t start[TTNN_MAX_RANK] = {0};

	TT_TRY(tt_scratch_f32(&values, &job->in->spec.shape));
	TT_TRY(tt_scratch_width(&sums, &job->in->spec.shape, 1));
	TT_TRY(backend->map(&(struct tt_map_job){.out = values,
						 .arity = job->residual ? 2 : 1,
						 .in = {job->in, job->residual},
						 .op = TT_BINARY_ADD,
						 .post = &square,
						 .post_count = squared}));
	TT_TRY(backend->reduce(&(struct tt_reduce_job){.out = sums,
						       .in = values,
						       .kind = TT_REDUCE_SUM,
						       .dims = 1u << (rank - 1),
						       .scale = scale}));
	for (uint32_t d = 0; d < rank; d++)
		extent[d] = d + 1 < rank ? job->in->spec.shape.dim[d] : 1;
	start[rank - 1] = column;
	return tt_move_part(job->out, sums,
			    &(struct tt_move_block){.extent = extent, .out_start = start});
}

/*
 * A tile for each kind of sum, in its first column: of squares, and for layer_norm of values. The
 * program for shards gives averages, values first; the other one sums, squares first.
 */
tt_status tt_norm_sums(const struct tt_norm_job *job, bool averages)
{
	double scale = averages ? 1.0 / tt_shape_last(&job->in->spec.shape, 1) : 1;
	uint32_t squares = averages && job->kind != TT_NORM_RMS ? TT_TILE : 0;

	TT_TRY(tt_backend_get()->fill(job->out, 0, TT_FILL_ALL));
	TT_TRY(sum_into(job, true, squares, scale));
	return job->kind == TT_NORM_RMS ? TTNN_OK : sum_into(job, false, TT_TILE - squares, scale);
}

/* The mean over all devices of one kind of sums: column `column` of each device's tiles. */
static tt_status mean_of(struct tt_tensor **out, const struct tt_norm_job *job,
			 struct tt_tensor *stats, uint32_t column, bool averages)
{
	uint32_t step = (uint32_t)kinds_of(job->kind == TT_NORM_RMS) * TT_TILE;
	uint32_t devices = tt_shape_last(&stats->spec.shape, 1) / step;
	uint32_t rank = stats->spec.shape.rank, extent[TTNN_MAX_RANK];
	int64_t start[TTNN_MAX_RANK] = {0}, steps[TTNN_MAX_RANK];
	double width = (averages ? 1 : (double)tt_shape_last(&job->in->spec.shape, 1)) * devices;
	struct tt_tensor *parts = NULL;

	TT_TRY(tt_scratch_width(&parts, &stats->spec.shape, devices));
	for (uint32_t d = 0; d < rank; d++) {
		extent[d] = d + 1 < rank ? stats->spec.shape.dim[d] : devices;
		steps[d] = d + 1 < rank ? 1 : step;
	}
	start[rank - 1] = column;
	TT_TRY(tt_move_part(
		parts, stats,
		&(struct tt_move_block){.extent = extent, .in_start = start, .in_step = steps}));
	TT_TRY(tt_scratch_width(out, &stats->spec.shape, 1));
	return tt_backend_get()->reduce(&(struct tt_reduce_job){.out = *out,
								.in = parts,
								.kind = TT_REDUCE_SUM,
								.dims = 1u << (rank - 1),
								.scale = 1 / width});
}

/* factor = 1 / sqrt(squares - mean² + epsilon), in place of squares. */
static tt_status factor_of(struct tt_tensor *squares, struct tt_tensor *mean, double epsilon)
{
	const struct tt_unary_step steps[] = {{.fn = TT_UNARY_ADD_UNARY_SFPU, .params = {epsilon}},
					      {.fn = TT_UNARY_RSQRT}};
	const struct tt_unary_step square = {.fn = TT_UNARY_SQUARE};
	struct tt_map_job job = {.out = squares,
				 .arity = mean ? 2 : 1,
				 .in = {squares, mean},
				 .op = TT_BINARY_SUB,
				 .pre = {NULL, &square},
				 .pre_count = {0, mean ? 1 : 0},
				 .post = steps,
				 .post_count = 2};

	return tt_backend_get()->map(&job);
}

/* The first `width` weights as one row, whatever shape they came in. */
static tt_status weights_of(struct tt_tensor **out, struct tt_tensor *tensor, uint32_t width)
{
	struct tt_tensor *all = NULL;
	uint64_t count = 0;

	TT_TRY(ttnn_shape_volume(&count, &tensor->spec.shape));
	TT_NEED(count >= width && count <= UINT32_MAX, "%llu weights for rows of %u elements",
		(unsigned long long)count, width);
	TT_TRY(tt_scratch_f32(out, &TT_SHAPE(width)));
	TT_TRY(tt_scratch_f32(&all, &TT_SHAPE((uint32_t)count)));
	TT_TRY(tt_backend_get()->reshape(all, tensor));
	return tt_move_part(*out, all, &(struct tt_move_block){.extent = &width});
}

/* (x - mean) × factor × gamma + beta, one job of the backend a step. */
static tt_status apply(const struct tt_norm_job *job, struct tt_tensor *mean,
		       struct tt_tensor *factor, struct tt_tensor *values)
{
	const struct tt_backend *backend = tt_backend_get();
	uint32_t width = tt_shape_last(&job->in->spec.shape, 1);
	struct tt_tensor *gamma = NULL, *beta = NULL, *last = values;

	TT_TRY(backend->map(&(struct tt_map_job){
		.out = values, .arity = 2, .in = {job->in, mean}, .op = TT_BINARY_SUB}));
	TT_TRY(backend->map(&(struct tt_map_job){
		.out = last, .arity = 2, .in = {values, factor}, .op = TT_BINARY_MUL}));
	if (job->gamma)
		TT_TRY(weights_of(&gamma, job->gamma, width));
	if (job->beta)
		TT_TRY(weights_of(&beta, job->beta, width));
	if (gamma)
		TT_TRY(backend->map(&(struct tt_map_job){
			.out = last, .arity = 2, .in = {last, gamma}, .op = TT_BINARY_MUL}));
	return backend->map(&(struct tt_map_job){
		.out = job->out, .arity = 2, .in = {last, beta}, .op = TT_BINARY_ADD});
}

/* Statistics of all devices side by side: a tile or two from each. */
tt_status tt_norm_apply(const struct tt_norm_job *job, struct tt_tensor *stats, bool averages)
{
	struct tt_tensor *mean = NULL, *factor = NULL, *values = NULL;
	uint32_t squares = averages && job->kind != TT_NORM_RMS ? TT_TILE : 0;

	TT_TRY(mean_of(&factor, job, stats, squares, averages));
	if (job->kind != TT_NORM_RMS)
		TT_TRY(mean_of(&mean, job, stats, TT_TILE - squares, averages));
	TT_TRY(factor_of(factor, mean, job->epsilon));
	TT_TRY(tt_scratch_f32(&values, &job->in->spec.shape));
	return apply(job, mean, factor, values);
}

/* ---- before the gathering --------------------------------------------------------------------------- */

#define BEFORE_ATTRS(X)                                                                            \
	X(BEFORE_TYPE, "norm_type")                                                                \
	X(BEFORE_DTYPE, "dtype")                                                                   \
	X(BEFORE_MEMORY, "output_mem_config")                                                      \
	X(BEFORE_COMPUTE, "compute_kernel_config")                                                 \
	X(BEFORE_CONFIG, "program_config", .text = TT_TEXT_ALWAYS, .fixed = "<variant>")           \
	X(BEFORE_2D, "use_2d_core_grid")                                                           \
	X(BEFORE_FAST, "fast_and_approximate_mode")
TT_ATTRS(before_schema, "LayerNormPreAllGatherParams", BEFORE_ATTRS);

/* As many rows as the input, a tile wide for each kind of sum. */
static tt_status norm_before_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_shape shape = in->shape;

	if (!shape.rank)
		return tt_need_dim(&shape, 3);
	shape.dim[shape.rank - 1] =
		(uint32_t)kinds_of(launch->attrs[BEFORE_TYPE].integer == TT_NORM_RMS) * TT_TILE;
	return tt_infer_one(launch, &shape, (enum ttnn_dtype)launch->attrs[BEFORE_DTYPE].integer,
			    TTNN_TILE);
}

static bool fp32_of(const struct ttnn_value *compute)
{
	return tt_compute_has(compute, TT_COMPUTE_FP32);
}

/* Squares of float32 need registers of float32. */
static tt_status norm_before_validate(struct tt_launch *launch)
{
	bool rms = launch->attrs[BEFORE_TYPE].integer == TT_NORM_RMS;

	TT_REQUIRE(
		launch->inputs[0]->spec.dtype != TTNN_FLOAT32 ||
			fp32_of(&launch->attrs[BEFORE_COMPUTE]),
		"!(input.dtype() == DataType::FLOAT32 && "
		"!args.compute_kernel_config.fp32_dest_acc_en)",
		"%s_norm_pre_all_gather with Float32 input requires fp32_dest_acc_en=true in the "
		"compute kernel config; otherwise precision is silently lost in the unpacker "
		"format conversion.",
		rms ? "rms" : "layer");
	return TTNN_OK;
}

/* A row of tiles twice, its squares, and with a residual the sum of both. */
static tt_status norm_before_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	bool rms = launch->attrs[BEFORE_TYPE].integer == TT_NORM_RMS;
	const struct tt_tensor *residual = launch->inputs[1];
	uint64_t inter = tt_tile_bytes_of(fp32_of(&launch->attrs[BEFORE_COMPUTE]) ? TTNN_FLOAT32
										  : TTNN_BFLOAT16);
	uint64_t width = tt_tiles_across(launch->inputs[0]);
	const ttnn_core_set *cores;

	TT_TRY(tt_norm_cores(&cores, launch));
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "input", .pages = 2 * width,
				  .page = tt_tensor_tile_bytes(launch->inputs[0])),
		       TT_DFB_ROW(1, "reduce", .pages = 1, .page = inter),
		       TT_DFB_ROW(6, "x2", .pages = 2 * width, .page = inter),
		       TT_DFB_ROW(7, "fused", .pages = residual ? width : 0, .page = inter),
		       TT_DFB_ROW(5, "residual", .pages = residual ? 2 * width : 0,
				  .page = tt_tensor_tile_bytes(residual)),
		       TT_DFB_ROW(14, "out", .pages = kinds_of(rms),
				  .page = tt_tensor_tile_bytes(launch->outputs[0])));
}

/* Sums, not averages: the second half divides by the width of all devices. */
static tt_status norm_before_kernel(struct tt_launch *launch)
{
	return tt_norm_sums(
		&(struct tt_norm_job){
			.out = launch->outputs[0],
			.in = launch->inputs[0],
			.residual = launch->inputs[1],
			.kind = (enum tt_norm_kind)launch->attrs[BEFORE_TYPE].integer},
		false);
}

static const struct tt_prog before_program = {
	.device_op = "LayerNormPreAllGatherDeviceOperation",
	.prim = "ttnn::prim::layer_norm_pre_all_gather",
	.attrs = &before_schema,
	.infer = norm_before_infer,
	.validate = norm_before_validate,
	TT_FACTORY("ttnn::prim::LayerNormPreAllGatherProgramFactory", norm_before_rows),
	TT_KERNEL(norm_before_kernel),
};

/* ---- after it ---------------------------------------------------------------------------------------- */

#define AFTER_ATTRS(X)                                                                             \
	X(AFTER_TYPE, "norm_type")                                                                 \
	X(AFTER_EPS, "eps")                                                                        \
	X(AFTER_MEMORY, "memory_config")                                                           \
	X(AFTER_COMPUTE, "compute_kernel_config")                                                  \
	X(AFTER_DTYPE, "dtype")                                                                    \
	X(AFTER_2D, "use_2d_core_grid")                                                            \
	X(AFTER_CONFIG, "program_config", .text = TT_TEXT_ALWAYS, .fixed = "<variant>")
TT_ATTRS(after_schema, "LayerNormPostAllGatherParams", AFTER_ATTRS);
enum { AFTER_IN, AFTER_STATS, AFTER_WEIGHT, AFTER_BIAS, AFTER_INPUTS };

/* As the input, in tiles. */
static tt_status norm_after_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[AFTER_IN]->spec;
	const struct ttnn_value *dtype = &launch->attrs[AFTER_DTYPE];

	return tt_infer_one(launch, &in->shape,
			    tt_value_given(dtype) ? (enum ttnn_dtype)dtype->integer : in->dtype,
			    TTNN_TILE);
}

/* Statistics have a row for each row of the input. */
static tt_status norm_after_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[AFTER_IN]->spec;
	const struct ttnn_tensor_spec *stats = &launch->inputs[AFTER_STATS]->spec;

	if (!in->shape.rank || !stats->shape.rank) /* a scalar is a tile, which has two dimensions */
		return tt_need_dim(&TT_SHAPE(1, 1), 2);
	TT_REQUIRE(tt_shape_last(&stats->padded, 2) == tt_shape_last(&in->padded, 2),
		   "stats.padded_shape()[2] == a.padded_shape()[2]",
		   "Stats and input dim2 must match, got stats: %u vs input: %u",
		   tt_shape_last(&stats->padded, 2), tt_shape_last(&in->padded, 2));
	TT_REQUIRE(
		(in->dtype != TTNN_FLOAT32 && stats->dtype != TTNN_FLOAT32) ||
			fp32_of(&launch->attrs[AFTER_COMPUTE]),
		"!((in_data_format == tt::DataFormat::Float32 || stats_data_format == "
		"tt::DataFormat::Float32) && !fp32_dest_acc_en)",
		"FLOAT32 input/stats require fp32_dest_acc_en=true in the compute kernel config.");
	return TTNN_OK;
}

/* A whole row of tiles stays in L1 between its two passes; layer_norm keeps x - mean beside it. */
static tt_status norm_after_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	bool mean = launch->attrs[AFTER_TYPE].integer != TT_NORM_RMS;
	const struct tt_tensor *gamma = launch->inputs[AFTER_WEIGHT];
	const struct tt_tensor *beta = launch->inputs[AFTER_BIAS];
	uint64_t small = tt_tile_bytes_of(TTNN_BFLOAT16);
	uint64_t inter = tt_tile_bytes_of(fp32_of(&launch->attrs[AFTER_COMPUTE]) ? TTNN_FLOAT32
										 : TTNN_BFLOAT16);
	uint64_t width = tt_tiles_across(launch->inputs[AFTER_IN]);
	const ttnn_core_set *cores;

	TT_TRY(tt_norm_cores(&cores, launch));
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "input", .pages = width,
				  .page = tt_tensor_tile_bytes(launch->inputs[AFTER_IN])),
		       TT_DFB_ROW(1, "stats", .pages = tt_tiles_across(launch->inputs[AFTER_STATS]),
				  .page = tt_tensor_tile_bytes(launch->inputs[AFTER_STATS])),
		       TT_DFB_ROW(2, "gamma", .pages = gamma ? width : 0,
				  .page = tt_tensor_tile_bytes(gamma)),
		       TT_DFB_ROW(3, "beta", .pages = beta ? width : 0,
				  .page = tt_tensor_tile_bytes(beta)),
		       TT_DFB_ROW(4, "eps", .pages = 1, .page = small),
		       TT_DFB_ROW(5, "reduce", .pages = 1, .page = small),
		       TT_DFB_ROW(6, "stats_reduced", .pages = mean ? 2 : 0, .page = inter),
		       TT_DFB_ROW(7, "mean_squared", .pages = mean, .page = inter),
		       TT_DFB_ROW(9, "x_minus_mean", .pages = mean ? width : 0, .page = inter),
		       TT_DFB_ROW(8, "var", .pages = 1, .page = inter),
		       TT_DFB_ROW(10, "recip_sqrt_var", .pages = 1, .page = inter),
		       TT_DFB_ROW(12, "times_gamma_out", .pages = gamma ? width : 0, .page = inter),
		       TT_DFB_ROW(13, "x_normed", .pages = beta ? width : 0, .page = inter),
		       TT_DFB_ROW(14, "out", .pages = width,
				  .page = tt_tensor_tile_bytes(launch->outputs[0])));
}

/* The counterpart of before_kernel. */
static tt_status norm_after_kernel(struct tt_launch *launch)
{
	return tt_norm_apply(
		&(struct tt_norm_job){.out = launch->outputs[0],
				      .in = launch->inputs[AFTER_IN],
				      .gamma = launch->inputs[AFTER_WEIGHT],
				      .beta = launch->inputs[AFTER_BIAS],
				      .kind = (enum tt_norm_kind)launch->attrs[AFTER_TYPE].integer,
				      .epsilon = launch->attrs[AFTER_EPS].real},
		launch->inputs[AFTER_STATS], false);
}

static const struct tt_prog after_program = {
	.device_op = "LayerNormPostAllGatherDeviceOperation",
	.prim = "ttnn::prim::layer_norm_post_all_gather",
	.attrs = &after_schema,
	.infer = norm_after_infer,
	.validate = norm_after_validate,
	TT_FACTORY("ttnn::prim::LayerNormPostAllGatherProgramFactory", norm_after_rows),
	TT_KERNEL(norm_after_kernel),
};

/* ---- operations ---------------------------------------------------------------------------------------- */

/* Shards go through the program of the whole, which wants a configuration. */
static tt_status on_shards(struct tt_call *call, const struct tt_norm_args *args)
{
	static const struct ttnn_value fields[3] = {
		{.kind = TTNN_VALUE_BOOL}, {.kind = TTNN_VALUE_BOOL}, {.kind = TTNN_VALUE_BOOL}};
	const struct ttnn_value plain = tt_value_object(&tt_schema_norm_default, fields);
	struct tt_norm_args with = *args;
	struct tt_tensor *out;

	if (!tt_value_given(args->config))
		with.config = &plain;
	return tt_call_give(call, tt_norm_launch(&out, call, &with), &out);
}

/*
 * Shards go through the program of layer_norm.c with a stage; only interleaved input takes this
 * one.
 */
static tt_status norm_before(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	struct tt_tensor *residual = tt_call_tensor(call, "residual_input_tensor");
	struct tt_tensor *const inputs[] = {in, residual};
	const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true};
	struct tt_norm_args args = {
		.type = is_rms(call) ? TT_NORM_RMS : TT_NORM_LAYER,
		.stage = TT_NORM_BEFORE_GATHER,
		.inputs = {in, residual},
		.memory = tt_call_memory(call, "memory_config"),
		.config = tt_call_arg(call, "program_config"),
		.dtype = ttnn_v_dtype(tt_call_dtype(call, "dtype", TTNN_BFLOAT16)),
		.compute =
			tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual),
	};
	struct ttnn_memory_config own = in->spec.memory;
	struct ttnn_value attrs[before_schema_count];

	if (tt_tensor_is_sharded(in))
		return on_shards(call, &args);
	attrs[BEFORE_TYPE] = tt_value_enum(&tt_enum_norm_distributed, args.type);
	attrs[BEFORE_DTYPE] = args.dtype;
	attrs[BEFORE_MEMORY] = ttnn_v_memory(args.memory ? args.memory : &own);
	attrs[BEFORE_COMPUTE] = args.compute;
	attrs[BEFORE_CONFIG] = *args.config;
	attrs[BEFORE_2D] = *tt_call_arg(call, "use_2d_core_grid");
	attrs[BEFORE_FAST] = *tt_call_arg(call, "fast_and_approximate_mode");
	return TT_LAUNCH_RETURN(call, &before_program, .attrs = attrs, .inputs = inputs,
				.input_count = 2);
}

/* The same for the second half. */
static tt_status norm_after(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	struct tt_tensor *const inputs[AFTER_INPUTS] = {in, tt_call_tensor(call, "stats"),
							tt_call_tensor(call, "weight"),
							tt_call_tensor(call, "bias")};
	const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true};
	struct tt_norm_args args = {
		.type = is_rms(call) ? TT_NORM_RMS : TT_NORM_LAYER,
		.stage = TT_NORM_AFTER_GATHER,
		.inputs = {in, NULL, inputs[AFTER_WEIGHT], inputs[AFTER_BIAS], inputs[AFTER_STATS]},
		.memory = tt_call_memory(call, "memory_config"),
		.config = tt_call_arg(call, "program_config"),
		.dtype = *tt_call_arg(call, "dtype"),
		.compute =
			tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual),
		.eps = tt_call_real(call, "epsilon", 1e-12),
	};
	struct ttnn_memory_config own = in->spec.memory;
	struct ttnn_value attrs[after_schema_count];

	if (tt_tensor_is_sharded(in))
		return on_shards(call, &args);
	attrs[AFTER_TYPE] = tt_value_enum(&tt_enum_norm_distributed, args.type);
	attrs[AFTER_EPS] = ttnn_v_real(args.eps);
	attrs[AFTER_MEMORY] = ttnn_v_memory(args.memory ? args.memory : &own);
	attrs[AFTER_COMPUTE] = args.compute;
	attrs[AFTER_DTYPE] = args.dtype;
	attrs[AFTER_2D] = *tt_call_arg(call, "use_2d_core_grid");
	attrs[AFTER_CONFIG] = *args.config;
	return TT_LAUNCH_RETURN(call, &after_program, .attrs = attrs, .inputs = inputs,
				.input_count = AFTER_INPUTS);
}

static const bool layer = false, rms = true;

#define BEFORE                                                                                     \
	"input_tensor: Tensor, *, dtype: DataType = BFLOAT16, residual_input_tensor: Tensor? = "   \
	"None, compute_kernel_config: ComputeConfig? = None, program_config: ProgramConfig? = "    \
	"None, memory_config: MemoryConfig? = None, "
#define AFTER                                                                                      \
	"input_tensor: Tensor, stats: Tensor, *, epsilon: float = 1e-12, weight: Tensor? = None, " \
	"bias: Tensor? = None, memory_config: MemoryConfig? = None, compute_kernel_config: "       \
	"ComputeConfig? = None, program_config: ProgramConfig? = None, dtype: DataType? = None"
#define OP(called, what, sig, function, truth, which)                                              \
	{                                                                                          \
		.name = called, .doc = what, .sigs = {sig}, .expand = function, .golden = truth,   \
		.row = which                                                                       \
	}
static const struct tt_op ops[] = {
	OP("ttnn.layer_norm_post_all_gather", "layer_norm with the sums of all devices.", AFTER,
	   norm_after, tt_golden_norm_apply, &layer),
	OP("ttnn.layer_norm_pre_all_gather",
	   "The sums that layer_norm needs, of one device's part.",
	   BEFORE "recip_tensor: Tensor? = None, fast_and_approximate_mode: bool = False",
	   norm_before, tt_golden_norm_sums, &layer),
	OP("ttnn.rms_norm_post_all_gather", "rms_norm with the sums of all devices.",
	   AFTER ", use_2d_core_grid: bool? = None", norm_after, tt_golden_norm_apply, &rms),
	OP("ttnn.rms_norm_pre_all_gather", "The sums that rms_norm needs, of one device's part.",
	   BEFORE "use_2d_core_grid: bool? = None, fast_and_approximate_mode: bool = False",
	   norm_before, tt_golden_norm_sums, &rms),
};

const struct tt_op_family tt_family_norm_gather = {"norm_gather", ops, TT_COUNT(ops)};
