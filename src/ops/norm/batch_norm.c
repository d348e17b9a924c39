/*
 * batch_norm.c: each channel with given statistics, or in training with its own. Models BatchNormOperation and
 * RunningStatistics of ttnn 0.81, each with its one factory. Not modelled: the order of sums on the chip.
 */
#include "backend/backend.h"
#include "golden/golden_norm.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"

static const struct tt_compute_usual usual = {.fidelity = TT_HIFI3, .fp32 = true, .l1_acc = true};

static uint64_t tile_of(const struct tt_tensor *tensor)
{
	return tt_tile_bytes_of(tensor ? tensor->spec.dtype : TTNN_BFLOAT16);
}

/* ---- normalising -------------------------------------------------------------------------------- */

#define ATTRS(X)                                                                                   \
	X(EPS, "eps")                                                                              \
	X(MEMORY, "memory_config")                                                                 \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(IN_DTYPE, "input_dtype")                                                                 \
	X(DTYPE, "dtype")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);
enum { IN, MEAN, VARIANCE, WEIGHT, BIAS, INPUTS };

/* Every tensor that is there has as many channels (dimension 1) as the input. */
static tt_status batch_norm_validate(struct tt_launch *launch)
{
	static const char *const names[INPUTS] = {"input_shape", "batch_mean_shape",
						  "batch_var_shape", "weight_shape", "bias_shape"};
	uint32_t channels = launch->inputs[IN]->spec.shape.dim[1];

	for (int i = 0; i < INPUTS; i++) {
		const struct ttnn_tensor_spec *spec;

		if (!launch->inputs[i])
			continue;
		spec = &launch->inputs[i]->spec;
		TT_REQUIRE(spec->dtype == TTNN_BFLOAT16 || spec->dtype == TTNN_FLOAT32,
			   "tensor.dtype() == DataType::BFLOAT16 || tensor.dtype() == "
			   "DataType::FLOAT32",
			   "batch_norm only supports bfloat16, float32. Got: DataType::%s",
			   ttnn_dtype_name(spec->dtype, TTNN_DIALECT_TT_METAL));
		TT_REQUIRE(spec->shape.rank > 1 && spec->shape.dim[1] == channels,
			   "tensor.logical_shape()[1] == input_c_dim",
			   "%s[1] must be the same as input's channel size.", names[i]);
	}
	TT_REQUIRE(launch->inputs[IN]->spec.layout == TTNN_TILE, "input.layout() == Layout::TILE",
		   "Input tensor must be must be tilized");
	return TTNN_OK;
}

/* Two tiles of each, on every core of the grid; missing weight and bias keep their buffers. */
static tt_status batch_norm_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *const *in = launch->inputs;

	return TT_PLAN(plan, launch->grid,
		       TT_DFB_ROW(0, "input", .pages = 2, .page = tile_of(in[IN])),
		       TT_DFB_ROW(1, "batch_mean", .pages = 2, .page = tile_of(in[MEAN])),
		       TT_DFB_ROW(2, "output", .pages = 2, .page = tile_of(launch->outputs[0])),
		       TT_DFB_ROW(3, "batch_var", .pages = 2, .page = tile_of(in[VARIANCE])),
		       TT_DFB_ROW(4, "eps", .pages = 2, .page = tile_of(in[IN])),
		       TT_DFB_ROW(16, "weight", .pages = 2, .page = tile_of(in[WEIGHT])),
		       TT_DFB_ROW(18, "bias", .pages = 2, .page = tile_of(in[BIAS])),
		       TT_DFB_ROW(5, "den", .pages = 2, .page = tile_of(in[IN])),
		       TT_DFB_ROW(6, "temp_1", .pages = 2, .page = tile_of(in[IN])));
}

/* Statistics come as tensors, whether they were given or made of the input (own_statistics). */
static tt_status batch_norm_kernel(struct tt_launch *launch)
{
	return tt_backend_get()->norm(&(struct tt_norm_job){.out = launch->outputs[0],
							    .in = launch->inputs[IN],
							    .gamma = launch->inputs[WEIGHT],
							    .beta = launch->inputs[BIAS],
							    .mean = launch->inputs[MEAN],
							    .variance = launch->inputs[VARIANCE],
							    .kind = TT_NORM_BATCH,
							    .epsilon = launch->attrs[EPS].real});
}

static const struct tt_prog program = {
	.device_op = "BatchNormOperation",
	.prim = "ttnn::prim::batch_norm",
	.attrs = &schema,
	.infer = tt_infer_tiles,
	.validate = batch_norm_validate,
	TT_FACTORY("ttnn::operations::normalization::BatchNormOperation::BatchNormFactory",
		   batch_norm_rows),
	TT_KERNEL(batch_norm_kernel),
};

/* ---- statistics that run along --------------------------------------------------------------------- */

#define RUN_ATTRS(X)                                                                               \
	X(RUN_MOMENTUM, "momentum")                                                                \
	X(RUN_MEMORY, "memory_config")                                                             \
	X(RUN_COMPUTE, "compute_kernel_config")                                                    \
	X(RUN_IN_DTYPE, "input_dtype")                                                             \
	X(RUN_DTYPE, "dtype")
TT_ATTRS(run_schema, "operation_attributes_t", RUN_ATTRS);
enum { RUN_MEAN, RUN_VARIANCE, RUN_OLD_MEAN, RUN_OLD_VARIANCE, RUN_INPUTS };

/* A result that nobody reads, and the statistics that are given as outputs behind it. */
static tt_status run_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *mean = &launch->inputs[RUN_MEAN]->spec;

	TT_TRY(tt_infer_one(launch, &mean->shape, mean->dtype, TTNN_TILE));
	while (tt_infer_given(launch, launch->output_count))
		launch->output_count++;
	return TTNN_OK;
}

static uint64_t converts(struct tt_tensor *const *in, int index)
{
	return in[index] && in[index]->spec.dtype != in[RUN_MEAN]->spec.dtype ? 2 : 0;
}

/*
 * The program that moves running statistics towards those of the batch: old × (1 - momentum) + new
 * × momentum.
 */
static tt_status run_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *const *in = launch->inputs;
	uint64_t tile = tile_of(in[RUN_MEAN]);

	return TT_PLAN(
		plan, launch->grid, TT_DFB_ROW(0, "batch_mean", .pages = 2, .page = tile),
		TT_DFB_ROW(1, "batch_var", .pages = 2, .page = tile_of(in[RUN_VARIANCE])),
		TT_DFB_ROW(2, "output", .pages = 2, .page = tile_of(launch->outputs[0])),
		TT_DFB_ROW(3, "old_running_mean", .pages = 2, .page = tile_of(in[RUN_OLD_MEAN])),
		TT_DFB_ROW(4, "old_running_var", .pages = 2, .page = tile_of(in[RUN_OLD_VARIANCE])),
		TT_DFB_ROW(5, "momentum", .pages = 2, .page = tile),
		TT_DFB_ROW(6, "one", .pages = 2, .page = tile),
		TT_DFB_ROW(7, "tmp1", .pages = 2, .page = tile),
		TT_DFB_ROW(8, "tmp2", .pages = 2, .page = tile),
		/* What goes back to statistics of another type. */
		TT_DFB_ROW(9, "writer_updated_mean", .pages = converts(in, RUN_OLD_MEAN),
			   .page = tile_of(in[RUN_OLD_MEAN])),
		TT_DFB_ROW(10, "writer_updated_var", .pages = converts(in, RUN_OLD_VARIANCE),
			   .page = tile_of(in[RUN_OLD_VARIANCE])));
}

/* old += momentum × (new - old), for each that is given. */
static tt_status batch_norm_run_kernel(struct tt_launch *launch)
{
	size_t next = 1;

	TT_TRY(tt_move_copy(launch->outputs[0], launch->inputs[RUN_MEAN]));
	for (int i = 0; i < 2; i++) {
		struct tt_map_job job = {
			.arity = 3,
			.in = {launch->inputs[RUN_OLD_MEAN + i], launch->inputs[i]},
			.scalar = {0, 0, launch->attrs[RUN_MOMENTUM].real},
			.op = TT_TERNARY_LERP};

		if (!job.in[0])
			continue;
		job.out = launch->outputs[next++];
		TT_TRY(tt_backend_get()->map(&job));
	}
	return TTNN_OK;
}

static const struct tt_prog run_program = {
	.device_op = "RunningStatistics",
	.prim = "ttnn::prim::running_statistics",
	.attrs = &run_schema,
	.infer = run_infer,
	TT_FACTORY(
		"ttnn::operations::normalization::RunningStatistics::RunningStatisticsProgramFactory",
		run_rows),
	TT_KERNEL(batch_norm_run_kernel),
	.emits = 1,
};

/* ---- the operation ------------------------------------------------------------------------------------ */

static tt_status mean_along(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			    struct ttnn_value dims)
{
	const struct ttnn_arg args[] = {
		{NULL, ttnn_v_tensor(in)}, {NULL, dims}, {NULL, ttnn_v_bool(true)}};

	return tt_call_op(out, call, "ttnn.mean", args, TT_COUNT(args));
}

/* The mean of each channel: of each image, then of all. *out is the caller's. */
static tt_status channel_mean(struct tt_tensor **out, struct tt_temps *temps, struct tt_tensor *in)
{
	const struct ttnn_value dims[] = {ttnn_v_int(2), ttnn_v_int(3)};
	struct tt_tensor *inner;

	TT_TRY(mean_along(&inner, temps->call, in, ttnn_v_list(dims, 2)));
	return mean_along(out, temps->call, tt_temps_keep(temps, inner), ttnn_v_int(0));
}

/* The mean of (x - mean)². */
static tt_status channel_variance(struct tt_tensor **out, struct tt_temps *temps,
				  struct tt_tensor *in, struct tt_tensor *mean)
{
	const struct ttnn_arg both[] = {{NULL, ttnn_v_tensor(in)}, {NULL, ttnn_v_tensor(mean)}};
	struct tt_tensor *step;

	TT_TRY(tt_call_op(&step, temps->call, "ttnn.subtract", both, 2));
	tt_temps_keep(temps, step);
	TT_TRY(tt_call_op(&step, temps->call, "ttnn.square",
			  (const struct ttnn_arg[]){{NULL, ttnn_v_tensor(step)}}, 1));
	return channel_mean(out, temps, tt_temps_keep(temps, step));
}

/* What the input itself says; both belong to the call. */
static tt_status own_statistics(struct tt_tensor *inputs[INPUTS], struct tt_call *call)
{
	struct tt_temps temps = {.call = call};

	TT_TRY(tt_temps_end(&temps, channel_mean(&inputs[MEAN], &temps, inputs[IN])));
	tt_call_own(call, inputs[MEAN]);
	temps = (struct tt_temps){.call = call};
	TT_TRY(tt_temps_end(&temps,
			    channel_variance(&inputs[VARIANCE], &temps, inputs[IN], inputs[MEAN])));
	tt_call_own(call, inputs[VARIANCE]);
	return TTNN_OK;
}

/* The running statistics take their part of the new ones; the variance without its bias. */
static tt_status run_along(struct tt_call *call, struct tt_tensor *const inputs[INPUTS],
			   const struct ttnn_value *memory)
{
	struct tt_tensor *old[] = {tt_call_tensor(call, "running_mean"),
				   tt_call_tensor(call, "running_var")};
	const struct ttnn_shape *shape = &inputs[IN]->spec.shape;
	double count = (double)shape->dim[0] * shape->dim[2] * shape->dim[3];
	const struct ttnn_arg scaled[] = {{NULL, ttnn_v_tensor(inputs[VARIANCE])},
					  {NULL, ttnn_v_real(count / (count - 1))}};
	struct tt_tensor *given[3] = {NULL, old[0] ? old[0] : old[1], old[0] ? old[1] : NULL};
	struct tt_tensor *unbiased, *out[3];
	struct ttnn_value attrs[run_schema_count];
	size_t made;

	if (!old[0] && !old[1])
		return TTNN_OK;
	TT_TRY(tt_call_op(&unbiased, call, "ttnn.multiply", scaled, TT_COUNT(scaled)));
	tt_call_own(call, unbiased);
	attrs[RUN_MOMENTUM] = ttnn_v_real(tt_call_real(call, "momentum", 0.1));
	attrs[RUN_MEMORY] = *memory;
	attrs[RUN_COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	attrs[RUN_IN_DTYPE] = ttnn_v_dtype(inputs[MEAN]->spec.dtype);
	attrs[RUN_DTYPE] = ttnn_v_none();
	TT_TRY(tt_call_programs(
		out, &made, call,
		&(struct tt_program_args){
			.prog = &run_program,
			.attrs = attrs,
			.inputs = (struct tt_tensor *[]){inputs[MEAN], unbiased, old[0], old[1]},
			.input_count = RUN_INPUTS,
			.outputs = given,
			.output_count = 3,
			.in_place = true}));
	for (size_t i = 1; i < made; i++)
		ttnn_tensor_unref(out[i]);
	tt_call_own(call, out[0]);
	return TTNN_OK;
}

/*
 * In training the statistics are the batch's own, and the running ones are updated by a second
 * program; otherwise both must be given.
 */
static tt_status batch_norm_expand(struct tt_call *call)
{
	struct tt_tensor *inputs[INPUTS] = {
		tt_call_tensor(call, "input"), tt_call_tensor(call, "running_mean"),
		tt_call_tensor(call, "running_var"), tt_call_tensor(call, "weight"),
		tt_call_tensor(call, "bias")};
	struct tt_tensor *given = tt_call_tensor(call, "output"), *out;
	bool training = tt_call_bool(call, "training", false);
	struct ttnn_value attrs[schema_count];

	TT_REQUIRE(inputs[IN]->spec.shape.rank >= 4, "input.logical_shape().rank() >= 4",
		   "batch_norm not supported for tensors with rank < 4. (rank=%u)",
		   inputs[IN]->spec.shape.rank);
	TT_REQUIRE(training || (inputs[MEAN] && inputs[VARIANCE]),
		   "(running_mean.has_value() && running_var.has_value())",
		   "running_mean and running_var must be defined in evaluation mode");
	if (training)
		TT_TRY(own_statistics(inputs, call));
	attrs[EPS] = ttnn_v_real(tt_call_real(call, "eps", 1e-5));
	attrs[MEMORY] = tt_value_memory_or_like(call, inputs[IN]);
	attrs[COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	attrs[IN_DTYPE] = ttnn_v_dtype(inputs[IN]->spec.dtype);
	attrs[DTYPE] = ttnn_v_none();
	TT_TRY(TT_LAUNCH(&out, call, &program, .attrs = attrs, .inputs = inputs,
			 .input_count = INPUTS, TT_OUTPUTS(given)));
	tt_call_return(call, out);
	return training ? run_along(call, inputs, &attrs[MEMORY]) : TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.batch_norm",
	 .doc = "Each channel with its mean taken off and divided by its deviation.",
	 .sigs = {"input: Tensor, *, running_mean: Tensor? = None, running_var: Tensor? = None, "
		  "training: bool = False, eps: float = 1e-05, momentum: float = 0.1, weight: "
		  "Tensor? = None, bias: Tensor? = None, output: Tensor? = None, memory_config: "
		  "MemoryConfig? = None, compute_kernel_config: ComputeConfig? = None"},
	 .expand = batch_norm_expand,
	 .golden = tt_golden_batch_norm,
	 TT_PROGRAMS(&program, &run_program)},
};

const struct tt_op_family tt_family_batch_norm = {"batch_norm", ops, TT_COUNT(ops)};
