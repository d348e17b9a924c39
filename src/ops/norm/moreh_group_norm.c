/*
 * moreh_group_norm.c: normalisation of groups of channels [N, C, H, W] for training, and its gradients. Means and reciprocal
 * deviations are [1, 1, N, groups], gamma and beta [1, 1, 1, C].
 *
 * Models MorehGroupNormOperation, MorehGroupNormBackwardInputGradOperation and MorehGroupNormBackwardGammaBetaGradOperation of
 * ttnn 0.81 with their factories: specs, refusals, memory, cores. Not modelled: the order of their sums.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "golden/golden_moreh.h"
#include "ops/compute.h"
#include "ops/moreh.h"
#include "ops/movement/movement.h"
#include "ops/norm/norm_gradient.h"

#define MAX_BLOCK 8 /* tiles that the kernel takes at once */

/* ---- groups -------------------------------------------------------------------------------------- */

/* How a tensor is cut: `rows` groups of so many elements, or channels of so many. */
struct groups {
	uint64_t rows, cols;
	uint64_t batch, channels, plane;
};

static struct groups groups_of(const struct tt_tensor *tensor, uint64_t groups)
{
	const struct ttnn_shape *shape = &tensor->spec.shape;
	struct groups out = {.batch = shape->dim[0],
			     .channels = shape->dim[1],
			     .plane = (uint64_t)shape->dim[2] * shape->dim[3]};

	out.rows = out.batch * groups;
	out.cols = out.channels / groups * out.plane;
	return out;
}

/* A scratch tensor with the same elements, cut by channels: [batch, channels, plane]. */
static tt_status by_channel(struct tt_tensor **out, const struct groups *groups,
			    struct tt_tensor *in)
{
	return tt_moreh_view(
		out,
		&(struct ttnn_shape){3,
				     {(uint32_t)groups->batch, (uint32_t)groups->channels,
				      (uint32_t)groups->plane}},
		in);
}

/* gamma or beta, an element for each channel. */
static tt_status channel_values(struct tt_tensor **out, const struct groups *groups,
				struct tt_tensor *in)
{
	return tt_moreh_view(out, &(struct ttnn_shape){3, {1, (uint32_t)groups->channels, 1}}, in);
}

/* ---- refusals ------------------------------------------------------------------------------------ */

static tt_status check_rank(const struct tt_tensor *tensor, const char *program)
{
	TT_NEED(tensor->spec.shape.rank == 4, "%s takes tensors of four dimensions", program);
	return TTNN_OK;
}

/* A number of channels, from dimension 1 or (gains) the last one, is one of whole groups. */
static tt_status check_channels(const struct tt_tensor *tensor, bool gain, int64_t groups,
				const char *name)
{
	uint32_t channels;

	if (!tensor)
		return TTNN_OK;
	channels = gain ? tt_shape_last(&tensor->spec.shape, 1)
			: tt_shape_last(&tensor->spec.padded, 3);
	TT_REQUIRE(channels % groups == 0, "C % num_groups == 0",
		   "%s_shape[%s] must be divisible by num_groups.", name, gain ? "-1" : "1");
	return TTNN_OK;
}

/* A tensor that is written element by element has as many as what it is written from. */
static tt_status check_volume(const struct tt_tensor *tensor, uint64_t want, const char *name)
{
	uint64_t volume;

	if (!tensor)
		return TTNN_OK;
	TT_TRY(ttnn_shape_volume(&volume, &tensor->spec.shape));
	TT_NEED(volume == want, "%s must have %" PRIu64 " elements, not %" PRIu64, name, want,
		volume);
	return TTNN_OK;
}

static tt_status check_groups(const struct ttnn_value *groups)
{
	TT_NEED(groups->integer > 0, "num_groups must be greater than 0");
	return TTNN_OK;
}

/* ---- forward ------------------------------------------------------------------------------------- */

#define ATTRS(X)                                                                                   \
	X(GROUPS, "num_groups")                                                                    \
	X(EPS, "eps")                                                                              \
	X(REQUIRED, "are_required_outputs")                                                        \
	X(MEMORY, "memory_config")                                                                 \
	X(MEAN_MEMORY, "mean_memory_config")                                                       \
	X(RSTD_MEMORY, "rstd_memory_config")                                                       \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);
enum { IN, GAMMA, BETA, OUT_GIVEN, MEAN_GIVEN, RSTD_GIVEN, INPUTS };
enum { OUT, MEAN, RSTD, OUTPUTS };

static tt_status group_norm_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const struct ttnn_memory_config *memory = launch->attrs[MEMORY].memory;
	struct ttnn_tensor_spec made[TT_MOREH_SLOTS];
	struct ttnn_shape shape = {4, {1, 1, in->shape.dim[0], tt_attr_u32(launch, GROUPS)}};

	TT_TRY(tt_spec_simple(&made[OUT], &in->shape, in->dtype, TTNN_TILE, memory));
	TT_TRY(tt_spec_simple(&made[MEAN], &shape, in->dtype, TTNN_TILE, memory));
	made[RSTD] = made[MEAN];
	return tt_moreh_infer(launch, made);
}

static tt_status group_norm_validate(struct tt_launch *launch)
{
	static const struct tt_moreh_names names = {.program = "moreh_group_norm",
						    .tensors = {[IN] = "input",
								[OUT_GIVEN] = "output",
								[MEAN_GIVEN] = "mean",
								[RSTD_GIVEN] = "rstd"}};
	static const struct tt_moreh_names gains = {
		.program = "moreh_group_norm", .tensors = {[GAMMA] = "gamma", [BETA] = "beta"}};
	struct tt_tensor *const *in = launch->inputs;
	int64_t groups = launch->attrs[GROUPS].integer;

	TT_TRY(tt_moreh_check(launch, &names));
	TT_TRY(tt_moreh_check(launch, &gains));
	TT_TRY(check_channels(in[IN], false, groups, "input"));
	TT_TRY(check_channels(in[OUT_GIVEN], false, groups, "output"));
	TT_TRY(check_channels(in[GAMMA], true, groups, "gamma"));
	TT_TRY(check_channels(in[BETA], true, groups, "beta"));
	TT_REQUIRE(!in[MEAN_GIVEN] || tt_shape_last(&in[MEAN_GIVEN]->spec.shape, 1) == groups,
		   "mean.value().logical_shape()[-1] == num_groups",
		   "mean_shape[-1] must match num_groups.");
	TT_REQUIRE(!in[RSTD_GIVEN] || tt_shape_last(&in[RSTD_GIVEN]->spec.shape, 1) == groups,
		   "rstd.value().logical_shape()[-1] == num_groups",
		   "rstd_shape[-1] must match num_groups.");
	return TTNN_OK;
}

/* All tiles of a group stay in L1, or are read block by block where they do not fit. */
static tt_status group_norm_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	uint64_t groups = tt_attr_u32(launch, GROUPS), tile = tt_tile_bytes_of(in->dtype);
	uint64_t inner = in->padded.dim[1] / groups * (in->padded.dim[2] / TT_TILE) *
			 (in->padded.dim[3] / TT_TILE);
	uint64_t block = MAX_BLOCK;
	bool gamma = launch->inputs[GAMMA], beta = launch->inputs[BETA];
	const ttnn_core_set *cores;

	while (block > 1 && inner % block != 0)
		block /= 2;
	TT_TRY(tt_cores_for(&cores, launch, in->padded.dim[0] * groups));
	{
		struct tt_buffer_row rows[] = {
			TT_CB_ROW(0, "input", .pages = inner, .page = tile),
			TT_CB_ROW(1, "scaler", .pages = 1, .page = tile),
			TT_CB_ROW(2, "eps", .pages = 1, .page = tile),
			TT_CB_ROW(3, "gamma", .pages = gamma ? block : 0, .page = tile),
			TT_CB_ROW(4, "beta", .pages = beta ? block : 0, .page = tile),
			TT_CB_ROW(5, "mask_h", .pages = in->shape.dim[2] % TT_TILE != 0,
				  .page = tile),
			TT_CB_ROW(6, "mask_w", .pages = in->shape.dim[3] % TT_TILE != 0,
				  .page = tile),
			TT_CB_ROW(16, "output", .pages = block, .page = tile),
			TT_CB_ROW(17, "mean", .pages = tt_moreh_has(launch, MEAN), .page = tile),
			TT_CB_ROW(18, "rstd", .pages = tt_moreh_has(launch, RSTD), .page = tile),
			TT_CB_ROW(24, "ex", .pages = 1, .page = tile),
			TT_CB_ROW(25, "xmm", .pages = inner, .page = tile),
			TT_CB_ROW(26, "xmm2", .pages = 1, .page = tile),
			TT_CB_ROW(27, "xmm2sum", .pages = 1, .page = tile),
			TT_CB_ROW(28, "var", .pages = 1, .page = tile),
			TT_CB_ROW(29, "recip_std", .pages = 1, .page = tile),
			TT_CB_ROW(30, "gamma_beta", .pages = gamma || beta ? 2 * block : 0,
				  .page = tile),
			TT_CB_ROW(31, "xsum", .pages = 2, .page = tile),
		};

		if (tt_buffers_bytes(rows, TT_COUNT(rows)) >=
		    launch->device->limits.l1_size - launch->device->limits.l1_base) {
			rows[0].pages = block;
			rows[11].pages = rows[12].pages = 2 * block;
		}
		return tt_plan_buffers(plan, cores, rows, TT_COUNT(rows));
	}
}

/* What would be written beside its tensor is refused here: upstream takes it. */
static tt_status check_fit(const struct tt_launch *launch, const struct groups *groups)
{
	TT_TRY(check_volume(tt_moreh_slot(launch, OUT), groups->rows * groups->cols, "output"));
	TT_TRY(check_volume(tt_moreh_slot(launch, MEAN), groups->rows, "mean"));
	TT_TRY(check_volume(tt_moreh_slot(launch, RSTD), groups->rows, "rstd"));
	TT_TRY(check_volume(launch->inputs[GAMMA], groups->channels, "gamma"));
	return check_volume(launch->inputs[BETA], groups->channels, "beta");
}

static tt_status group_norm_kernel(struct tt_launch *launch)
{
	struct groups groups = groups_of(launch->inputs[IN], tt_attr_u32(launch, GROUPS));
	struct tt_tensor *x, *y, *gain;

	TT_TRY(check_fit(launch, &groups));
	if (!groups.rows || !groups.cols)
		return TTNN_OK;
	TT_TRY(tt_moreh_matrix(&x, groups.rows, groups.cols, launch->inputs[IN]));
	TT_TRY(tt_moreh_matrix(&y, groups.rows, groups.cols, launch->inputs[IN]));
	TT_TRY(tt_backend_get()->norm(&(struct tt_norm_job){
		.out = y, .in = x, .kind = TT_NORM_LAYER, .epsilon = launch->attrs[EPS].real}));
	TT_TRY(by_channel(&y, &groups, y));
	for (size_t i = GAMMA; i <= BETA; i++)
		if (launch->inputs[i]) {
			TT_TRY(channel_values(&gain, &groups, launch->inputs[i]));
			TT_TRY(tt_moreh_map(y, i == GAMMA ? TT_BINARY_MUL : TT_BINARY_ADD, y,
					    gain));
		}
	TT_TRY(tt_backend_get()->reshape(tt_moreh_slot(launch, OUT), y));
	if (tt_moreh_has(launch, MEAN))
		TT_TRY(tt_norm_mean(tt_moreh_slot(launch, MEAN), x));
	if (tt_moreh_has(launch, RSTD))
		TT_TRY(tt_norm_rstd(tt_moreh_slot(launch, RSTD), x, launch->attrs[EPS].real));
	return TTNN_OK;
}

static const struct tt_prog program = {
	.device_op = "MorehGroupNormOperation",
	.prim = "ttnn::prim::moreh_group_norm",
	.attrs = &schema,
	.infer = group_norm_infer,
	.validate = group_norm_validate,
	TT_FACTORY("ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::operations::moreh::"
		   "moreh_group_norm::MorehGroupNormOperation>::DirectDescriptorFactory",
		   group_norm_memory),
	TT_KERNEL(group_norm_kernel),
	.drops_forward = true,
};

/* The output is always there, the others if they are given or asked for. */
static tt_status group_norm_expand(struct tt_call *call)
{
	struct tt_tensor *in[INPUTS] = {
		tt_call_tensor(call, "input"), tt_call_tensor(call, "gamma"),
		tt_call_tensor(call, "beta"),  tt_call_tensor(call, "output"),
		tt_call_tensor(call, "mean"),  tt_call_tensor(call, "rstd")};
	struct tt_moreh_slots slots = {
		OUTPUTS, {true}, {in[OUT_GIVEN], in[MEAN_GIVEN], in[RSTD_GIVEN]}};

	TT_TRY(check_rank(in[IN], "moreh_group_norm"));
	TT_TRY(check_groups(tt_call_arg(call, "num_groups")));
	for (size_t i = MEAN; i < OUTPUTS; i++) {
		TT_TRY(tt_moreh_required(&slots.there[i], call, i));
		slots.there[i] |= slots.given[i] != NULL;
	}
	return tt_moreh_launch_return(
		call,
		&(struct tt_program_args){
			.prog = &program,
			.inputs = in,
			.input_count = INPUTS,
			TT_BIND(call,
				schema, [MEMORY] = tt_moreh_memory(call, "memory_config", in[IN]),
				[MEAN_MEMORY] = tt_moreh_memory(call, "mean_memory_config", in[IN]),
				[RSTD_MEMORY] = tt_moreh_memory(call, "rstd_memory_config", in[IN]),
				[COMPUTE] = tt_moreh_compute(call))},
		&slots);
}

/* ---- backward: what both programs have ------------------------------------------------------------ */

enum { GRAD, X, GRAD_MEAN, GRAD_RSTD };
enum { GRAD_GAMMA = 4, INPUT_GRAD, INPUT_GRAD_INPUTS };
enum { GAMMA_GRAD = 4, BETA_GRAD, GAIN_INPUTS };

/* Means and deviations are those of the groups. */
static tt_status check_statistics(const struct tt_launch *launch, int64_t groups, bool gain)
{
	static const char *const names[] = {"mean", "rstd"};
	static const char *const last[] = {"mean.logical_shape()[-1] == num_groups",
					   "rstd.logical_shape()[-1] == num_groups"};
	static const char *const volumes[][2] = {
		{"mean.logical_volume() == expected_mean_rstd_volume_input_grad(output_grad, "
		 "num_groups)",
		 "rstd.logical_volume() == expected_mean_rstd_volume_input_grad(output_grad, "
		 "num_groups)"},
		{"mean.logical_volume() == expected_mean_rstd_volume_gamma_beta_grad(output_grad, "
		 "num_groups)",
		 "rstd.logical_volume() == expected_mean_rstd_volume_gamma_beta_grad(output_grad, "
		 "num_groups)"}};
	uint64_t volume, want = launch->inputs[GRAD]->spec.shape.dim[0] * (uint64_t)groups;

	for (size_t i = 0; i < 2; i++) {
		const struct ttnn_shape *shape = &launch->inputs[GRAD_MEAN + i]->spec.shape;

		TT_REQUIRE(tt_shape_last(shape, 1) == groups, last[i],
			   "%s_shape[-1] must match num_groups.", names[i]);
		TT_TRY(ttnn_shape_volume(&volume, shape));
		TT_REQUIRE(volume == want, volumes[gain][i],
			   "%s must have logical volume %" PRIu64 ". Got %" PRIu64 ".", names[i],
			   want, volume);
	}
	return TTNN_OK;
}

/* rows->rows is 0 where there are no elements. */
static tt_status rows_of(struct tt_norm_rows *rows, struct groups *groups,
			 const struct tt_launch *launch)
{
	*groups = groups_of(launch->inputs[GRAD], (uint64_t)launch->attrs[0].integer);
	*rows = (struct tt_norm_rows){.rows = 0};
	if (!groups->rows || !groups->cols)
		return TTNN_OK;
	return tt_norm_rows(rows,
			    &(struct tt_norm_given){launch->inputs[GRAD], launch->inputs[X],
						    launch->inputs[GRAD_MEAN],
						    launch->inputs[GRAD_RSTD]},
			    groups->rows, groups->cols);
}

/* ---- backward: the gradient of the input ----------------------------------------------------------- */

#define INPUT_ATTRS(X)                                                                             \
	X(INPUT_GROUPS, "num_groups")                                                              \
	X(INPUT_MEMORY, "input_grad_memory_config")                                                \
	X(INPUT_COMPUTE, "compute_kernel_config")
TT_ATTRS(input_schema, "operation_attributes_t", INPUT_ATTRS);

static tt_status input_grad_validate(struct tt_launch *launch)
{
	static const struct tt_moreh_names names = {
		.program = "moreh_group_norm_backward_input_grad",
		.tensors = {"output_grad", "input", "mean", "rstd", NULL, "input_grad"}};
	int64_t groups = launch->attrs[INPUT_GROUPS].integer;

	TT_TRY(tt_moreh_check(launch, &names));
	TT_TRY(tt_moreh_check_one(launch->inputs[GRAD_GAMMA], &names, "gamma"));
	TT_TRY(check_channels(launch->inputs[GRAD], false, groups, "output_grad"));
	TT_TRY(check_channels(launch->inputs[X], false, groups, "input"));
	TT_TRY(check_channels(launch->inputs[INPUT_GRAD], false, groups, "input_grad"));
	TT_TRY(check_channels(launch->inputs[GRAD_GAMMA], true, groups, "gamma"));
	return check_statistics(launch, groups, false);
}

static tt_status input_grad_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *grad = &launch->inputs[GRAD]->spec;
	uint64_t groups = tt_attr_u32(launch, INPUT_GROUPS), tile = tt_tile_bytes_of(grad->dtype);
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_for(&cores, launch, grad->padded.dim[0] * groups));
	return tt_norm_gradient_memory(
		plan, launch, cores,
		&(struct tt_norm_buffers){
			.inner = grad->padded.dim[1] / groups * (grad->padded.dim[2] / TT_TILE) *
				 (grad->padded.dim[3] / TT_TILE),
			.tile = tile,
			.sum = tile,
			.gamma = launch->inputs[GRAD_GAMMA] != NULL,
			.masks = grad->shape.dim[2] % TT_TILE || grad->shape.dim[3] % TT_TILE});
}

/* gamma is a factor of the gradient, channel by channel. */
static tt_status input_grad_kernel(struct tt_launch *launch)
{
	struct tt_tensor *dy, *gamma;
	struct tt_norm_rows rows;
	struct groups groups;

	TT_TRY(rows_of(&rows, &groups, launch));
	TT_TRY(check_volume(launch->outputs[0], groups.rows * groups.cols, "input_grad"));
	TT_TRY(check_volume(launch->inputs[GRAD_GAMMA], groups.channels, "gamma"));
	if (!rows.rows)
		return TTNN_OK;
	dy = rows.dy;
	if (launch->inputs[GRAD_GAMMA]) {
		TT_TRY(channel_values(&gamma, &groups, launch->inputs[GRAD_GAMMA]));
		TT_TRY(by_channel(&dy, &groups, dy));
		TT_TRY(tt_moreh_map(dy, TT_BINARY_MUL, dy, gamma));
		TT_TRY(tt_moreh_matrix(&dy, rows.rows, rows.cols, dy));
	}
	return tt_norm_gradient(launch->outputs[0], &rows, dy);
}

static const struct tt_prog input_program = {
	.device_op = "MorehGroupNormBackwardInputGradOperation",
	.prim = "ttnn::prim::moreh_group_norm_backward_input_grad",
	.attrs = &input_schema,
	.infer = tt_infer_tiles,
	.validate = input_grad_validate,
	TT_FACTORY("ttnn::operations::moreh::moreh_group_norm_backward::"
		   "MorehGroupNormBackwardInputGradOperation::"
		   "MorehGroupNormBackwardInputGradFactory",
		   input_grad_memory),
	TT_KERNEL(input_grad_kernel),
};

/* ---- backward: the gradients of gamma and beta ------------------------------------------------------ */

#define GAIN_ATTRS(X)                                                                              \
	X(GAIN_GROUPS, "num_groups")                                                               \
	X(GAIN_REQUIRED, "are_required_outputs")                                                   \
	X(GAMMA_MEMORY, "gamma_grad_memory_config")                                                \
	X(BETA_MEMORY, "beta_grad_memory_config")                                                  \
	X(GAIN_COMPUTE, "compute_kernel_config")
TT_ATTRS(gain_schema, "operation_attributes_t", GAIN_ATTRS);
enum { GAMMA_SLOT, BETA_SLOT };

static tt_status gain_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *grad = &launch->inputs[GRAD]->spec;
	struct ttnn_shape shape = {4, {1, 1, 1, grad->padded.dim[1]}};
	struct ttnn_tensor_spec made[TT_MOREH_SLOTS];

	for (int i = GAMMA_SLOT; i <= BETA_SLOT; i++)
		TT_TRY(tt_spec_simple(&made[i], &shape, grad->dtype, TTNN_TILE,
				      launch->attrs[GAMMA_MEMORY + i].memory));
	return tt_moreh_infer(launch, made);
}

static tt_status gain_validate(struct tt_launch *launch)
{
	static const struct tt_moreh_names names = {
		.program = "moreh_group_norm_backward_gamma_beta_grad",
		.tensors = {"output_grad", "input", "mean", "rstd", "gamma_grad", "beta_grad"}};
	int64_t groups = launch->attrs[GAIN_GROUPS].integer;

	TT_TRY(tt_moreh_check(launch, &names));
	TT_TRY(check_channels(launch->inputs[GRAD], false, groups, "output_grad"));
	TT_TRY(check_channels(launch->inputs[X], false, groups, "input"));
	TT_TRY(check_channels(launch->inputs[GAMMA_GRAD], true, groups, "gamma_grad"));
	TT_TRY(check_channels(launch->inputs[BETA_GRAD], true, groups, "beta_grad"));
	return check_statistics(launch, groups, true);
}

/* A channel is a unit of work. */
static tt_status gain_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *grad = &launch->inputs[GRAD]->spec;
	uint64_t tile = tt_tile_bytes_of(grad->dtype);
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_for(&cores, launch, grad->padded.dim[1]));
	return tt_norm_gain_memory(
		plan, cores,
		&(struct tt_norm_gain_buffers){.tile = tile,
					       .sum = tile,
					       .mask_h = grad->shape.dim[2] % TT_TILE,
					       .mask_w = grad->shape.dim[3] % TT_TILE,
					       .gamma = tt_moreh_has(launch, GAMMA_SLOT),
					       .beta = tt_moreh_has(launch, BETA_SLOT)});
}

/* Sums over batch and plane of each channel. */
static tt_status sum_channels(struct tt_tensor *out, const struct groups *groups,
			      struct tt_tensor *in)
{
	struct tt_tensor *sum;

	TT_TRY(check_volume(out, groups->channels, "gamma_grad and beta_grad"));
	TT_TRY(by_channel(&in, groups, in));
	TT_TRY(tt_moreh_sum(&sum, in, 1 | 4));
	return tt_backend_get()->reshape(out, sum);
}

static tt_status gain_kernel(struct tt_launch *launch)
{
	struct tt_norm_rows rows;
	struct groups groups;

	TT_TRY(rows_of(&rows, &groups, launch));
	if (!rows.rows)
		return TTNN_OK;
	if (tt_moreh_has(launch, BETA_SLOT))
		TT_TRY(sum_channels(tt_moreh_slot(launch, BETA_SLOT), &groups, rows.dy));
	if (!tt_moreh_has(launch, GAMMA_SLOT))
		return TTNN_OK;
	TT_TRY(tt_moreh_map(rows.y, TT_BINARY_MUL, rows.y, rows.dy));
	return sum_channels(tt_moreh_slot(launch, GAMMA_SLOT), &groups, rows.y);
}

static const struct tt_prog gain_program = {
	.device_op = "MorehGroupNormBackwardGammaBetaGradOperation",
	.prim = "ttnn::prim::moreh_group_norm_backward_gamma_beta_grad",
	.attrs = &gain_schema,
	.infer = gain_infer,
	.validate = gain_validate,
	TT_FACTORY("ttnn::operations::moreh::moreh_group_norm_backward::"
		   "MorehGroupNormBackwardGammaBetaGradOperation::"
		   "MorehGroupNormBackwardGammaBetaGradFactory",
		   gain_memory),
	TT_KERNEL(gain_kernel),
	.drops_forward = true,
};

/* ---- the operations ------------------------------------------------------------------------------ */

static tt_status input_gradient(struct tt_call *call, struct tt_tensor *const *in)
{
	return TT_LAUNCH_RETURN(
		call, &input_program, .inputs = in, .input_count = INPUT_GRAD_INPUTS,
		TT_OUTPUTS(in[INPUT_GRAD]), .in_place = true,
		TT_BIND(call, input_schema,
			[INPUT_MEMORY] =
				tt_moreh_memory(call, "input_grad_memory_config", in[GRAD]),
			[INPUT_COMPUTE] = tt_moreh_compute(call)));
}

/* `wanted` says which of the two; a tensor that is given for the other one is an input only. */
static tt_status gain_gradients(struct tt_call *call, struct tt_tensor *const *in,
				const bool *wanted)
{
	struct ttnn_value required[] = {ttnn_v_bool(wanted[0]), ttnn_v_bool(wanted[1])};
	struct tt_moreh_slots slots = {2, {wanted[0], wanted[1]}, {in[GAMMA_GRAD], in[BETA_GRAD]}};

	return tt_moreh_launch_return(
		call,
		&(struct tt_program_args){
			.prog = &gain_program,
			.inputs = in,
			.input_count = GAIN_INPUTS,
			TT_BIND(call, gain_schema, [GAIN_REQUIRED] = ttnn_v_list(required, 2),
				[GAMMA_MEMORY] =
					tt_moreh_memory(call, "gamma_grad_memory_config", in[GRAD]),
				[BETA_MEMORY] =
					tt_moreh_memory(call, "beta_grad_memory_config", in[GRAD]),
				[GAIN_COMPUTE] = tt_moreh_compute(call))},
		&slots);
}

static tt_status group_norm_backward_expand(struct tt_call *call)
{
	struct tt_tensor *in[INPUT_GRAD_INPUTS] = {
		tt_call_tensor(call, "output_grad"), tt_call_tensor(call, "input"),
		tt_call_tensor(call, "mean"),        tt_call_tensor(call, "rstd"),
		tt_call_tensor(call, "gamma"),       tt_call_tensor(call, "input_grad")};
	struct tt_tensor *gain[GAIN_INPUTS] = {in[GRAD],
					       in[X],
					       in[GRAD_MEAN],
					       in[GRAD_RSTD],
					       tt_call_tensor(call, "gamma_grad"),
					       tt_call_tensor(call, "beta_grad")};
	bool wanted[OUTPUTS];

	TT_TRY(check_rank(in[GRAD], "moreh_group_norm_backward"));
	TT_TRY(check_rank(in[X], "moreh_group_norm_backward"));
	TT_TRY(check_groups(tt_call_arg(call, "num_groups")));
	for (size_t i = 0; i < OUTPUTS; i++)
		TT_TRY(tt_moreh_required(&wanted[i], call, i));
	if (wanted[0])
		TT_TRY(input_gradient(call, in));
	else
		tt_call_return(call, NULL);
	if (wanted[1] || wanted[2])
		return gain_gradients(call, gain, &wanted[1]);
	tt_call_return(call, NULL);
	tt_call_return(call, NULL);
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.moreh_group_norm",
	 .doc = "Normalisation of groups of channels; mean and 1 / deviation where one wants them.",
	 .sigs = {"input: Tensor, num_groups: size, eps: float = 9.999999747378752e-06, gamma: "
		  "Tensor? = None, beta: Tensor? = None, *, are_required_outputs: bools = [True, "
		  "False, False], output: Tensor? = None, mean: Tensor? = None, rstd: Tensor? = "
		  "None, memory_config: MemoryConfig? = None, mean_memory_config: MemoryConfig? = "
		  "None, rstd_memory_config: MemoryConfig? = None, compute_kernel_config: "
		  "ComputeConfig? = None"},
	 .expand = group_norm_expand,
	 .golden = tt_golden_moreh_group_norm,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&program)},
	{.name = "ttnn.moreh_group_norm_backward",
	 .doc = "The gradients of moreh_group_norm.",
	 .sigs = {"output_grad: Tensor, input: Tensor, mean: Tensor, rstd: Tensor, num_groups: size, "
		  "*, are_required_outputs: bools = [True, False, False], gamma: Tensor? = None, "
		  "input_grad: Tensor? = None, gamma_grad: Tensor? = None, beta_grad: Tensor? = "
		  "None, input_grad_memory_config: MemoryConfig? = None, gamma_grad_memory_config: "
		  "MemoryConfig? = None, beta_grad_memory_config: MemoryConfig? = None, "
		  "compute_kernel_config: ComputeConfig? = None"},
	 .expand = group_norm_backward_expand,
	 .golden = tt_golden_moreh_group_norm_backward,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&input_program, &gain_program)},
};

const struct tt_op_family tt_family_moreh_group_norm = {"moreh_group_norm", ops, TT_COUNT(ops)};
