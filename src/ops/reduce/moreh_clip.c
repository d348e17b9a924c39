/*
 * moreh_clip.c: gradients made smaller, in place, until the norm of all of them together is no more than a number: the sum of powers of
 * each tensor, the norm, and a factor for all.
 *
 * Models MorehClipGradNormStep1Operation to MorehClipGradNormStep3Operation of ttnn 0.81 with their factories: refusals, memory, cores.
 * A program takes as many tensors as there are cores, here at most 64. Infinite orders are the largest and the smallest size, which
 * upstream's kernels do not know. Not modelled: how they round on the way.
 */
#include <math.h>

#include "backend/backend.h"
#include "device/devtensor.h"
#include "golden/golden_moreh.h"
#include "ops/moreh.h"
#include "ops/movement/movement.h"
#include "ops/reduce/reduce.h"

/* ---- the sum of powers of each tensor -------------------------------------------------------------- */

#define STEP1_ATTRS(X)                                                                             \
	X(STEP1_P, "norm_type")                                                                    \
	X(STEP1_FIRST, "tile_offset_of_tmp_pow_sum")                                               \
	X(STEP1_MEMORY, "memory_config")                                                           \
	X(STEP1_COMPUTE, "compute_kernel_config")
TT_ATTRS(step1_schema, "operation_attributes_t", STEP1_ATTRS);

/* Tensors that a step works on: all of its inputs but the last. */
static size_t tensor_count(const struct tt_launch *launch)
{
	return launch->input_count - 1;
}

static tt_status step1_infer(struct tt_launch *launch)
{
	launch->specs[0] = launch->inputs[tensor_count(launch)]->spec;
	return TTNN_OK;
}

/* What steps 1 and 3 refuse: each tensor by one name, the last by another. */
static tt_status check_tensors(const struct tt_launch *launch, const char *program,
			       const char *last)
{
	const struct tt_moreh_names names = {.program = program};

	for (size_t i = 0; i < tensor_count(launch); i++)
		TT_TRY(tt_moreh_check_one(launch->inputs[i], &names, "input"));
	return tt_moreh_check_one(launch->inputs[tensor_count(launch)], &names, last);
}

static tt_status step1_validate(struct tt_launch *launch)
{
	return check_tensors(launch, "moreh_clip_grad_norm_step1", "tmp_pow_sum");
}

/* A tensor for each core; upstream asks for dimensions 2 and 3. */
static tt_status step1_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t tile = tt_page_out0(launch);
	const ttnn_core_set *cores;

	for (size_t i = 0; i < tensor_count(launch); i++) {
		uint32_t rank = launch->inputs[i]->spec.shape.rank;

		TT_REQUIRE(rank > 3, "tt::exception",
			   "ShapeBase[] index out of range. %u not in [-4, %u)", rank < 3 ? 2u : 3u,
			   rank);
	}
	TT_TRY(tt_cores_for(&cores, launch, tensor_count(launch)));
	return TT_PLAN(plan, cores, TT_CB_ROW(0, "input", .pages = 1, .page = tile),
		       TT_CB_ROW(1, "one", .pages = 1, .page = tile),
		       TT_CB_ROW(2, "decimal", .pages = 1, .page = tile),
		       TT_CB_ROW(3, "mask_h_w", .pages = 2, .page = tile),
		       TT_CB_ROW(16, "output", .pages = 1, .page = tile),
		       TT_CB_ROW(24, "xabs", .pages = 1, .page = tile),
		       TT_CB_ROW(25, "xpow", .pages = 1, .page = tile),
		       TT_CB_ROW(26, "xpowadd", .pages = 1, .page = tile),
		       TT_CB_ROW(27, "logx", .pages = 1, .page = tile),
		       TT_CB_ROW(28, "exp_lxmd", .pages = 1, .page = tile),
		       TT_CB_ROW(29, "correct_xpow", .pages = 1, .page = tile));
}

/* How the values of one tensor, or those of all, come together. */
static enum tt_reduce_kind kind_of(double p)
{
	return !isinf(p) ? TT_REDUCE_SUM : p > 0 ? TT_REDUCE_MAX : TT_REDUCE_MIN;
}

static tt_status step1_kernel(struct tt_launch *launch)
{
	double p = launch->attrs[STEP1_P].real;
	static const uint32_t one[] = {1, 1, 1};
	const struct ttnn_shape single = {3, {1, 1, 1}};
	struct tt_tensor *powers, *sum;

	for (size_t i = 0; i < tensor_count(launch); i++) {
		struct tt_tensor *in = launch->inputs[i];
		int64_t to[] = {launch->attrs[STEP1_FIRST].integer + (int64_t)i, 0, 0};

		TT_TRY(tt_scratch_f32(&powers, &in->spec.shape));
		TT_TRY(tt_scratch_f32(&sum, &single));
		TT_TRY(tt_moreh_power(powers, in, isinf(p) ? 1 : p));
		TT_TRY(tt_backend_get()->reduce(
			&(struct tt_reduce_job){.out = sum,
						.in = powers,
						.kind = kind_of(p),
						.dims = (1u << in->spec.shape.rank) - 1,
						.scale = 1}));
		TT_TRY(tt_move_part(launch->outputs[0], sum,
				    &(struct tt_move_block){.extent = one, .out_start = to}));
	}
	return TTNN_OK;
}

#define CLIP_FACTORY(name_, memory_)                                                               \
	TT_FACTORY("ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::operations::moreh::"  \
		   "moreh_clip_grad_norm_" name_ "Operation>::DirectDescriptorFactory",            \
		   memory_)

static const struct tt_prog step1_program = {
	.device_op = "MorehClipGradNormStep1Operation",
	.prim = "ttnn::prim::moreh_clip_grad_norm_step1",
	.attrs = &step1_schema,
	.infer = step1_infer,
	.validate = step1_validate,
	CLIP_FACTORY("step1::MorehClipGradNormStep1", step1_memory),
	TT_KERNEL(step1_kernel),
};

/* ---- the norm of all ----------------------------------------------------------------------------- */

#define STEP2_ATTRS(X)                                                                             \
	X(STEP2_P, "norm_type")                                                                    \
	X(STEP2_MEMORY, "memory_config")                                                           \
	X(STEP2_COMPUTE, "compute_kernel_config")
TT_ATTRS(step2_schema, "operation_attributes_t", STEP2_ATTRS);

static tt_status step2_infer(struct tt_launch *launch)
{
	return tt_infer_one(launch, &(struct ttnn_shape){2, {1, 1}}, launch->inputs[0]->spec.dtype,
			    TTNN_TILE);
}

static tt_status step2_validate(struct tt_launch *launch)
{
	static const struct tt_moreh_names names = {.program = "moreh_clip_grad_norm_step2",
						    .tensors = {"tmp_pow_sum", "total_norm"}};

	return tt_moreh_check(launch, &names);
}

static tt_status step2_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t tile = tt_page_out0(launch);
	const ttnn_core_set *one;

	TT_TRY(tt_core_set_grid(&one, 1, 1));
	return TT_PLAN(plan, one, TT_CB_ROW(0, "input", .pages = 1, .page = tile),
		       TT_CB_ROW(1, "decimal", .pages = 1, .page = tile),
		       TT_CB_ROW(16, "output", .pages = 1, .page = tile),
		       TT_CB_ROW(24, "x", .pages = 1, .page = tile),
		       TT_CB_ROW(25, "xpow", .pages = 1, .page = tile),
		       TT_CB_ROW(26, "logx", .pages = 1, .page = tile),
		       TT_CB_ROW(27, "exp_lxmd", .pages = 1, .page = tile));
}

/* The first element of the result; a given tensor may have more, which stay. */
static tt_status step2_kernel(struct tt_launch *launch)
{
	double p = launch->attrs[STEP2_P].real;
	struct tt_tensor *out = launch->outputs[0], *sum;
	struct ttnn_shape single = {.rank = out->spec.shape.rank};
	uint64_t volume;

	TT_TRY(ttnn_shape_volume(&volume, &out->spec.shape));
	TT_NEED(volume, "moreh_clip_grad_norm: total_norm must have an element");
	for (uint32_t d = 0; d < single.rank; d++)
		single.dim[d] = 1;
	TT_TRY(tt_scratch_f32(&sum, &single));
	TT_TRY(tt_backend_get()->reduce(&(struct tt_reduce_job){
		.out = sum, .in = launch->inputs[0], .kind = kind_of(p), .dims = 7, .scale = 1}));
	TT_TRY(tt_moreh_power(sum, sum, isinf(p) ? 1 : 1 / p));
	return volume == 1 ? tt_backend_get()->reshape(out, sum)
			   : tt_move_part(out, sum, &(struct tt_move_block){.extent = single.dim});
}

static const struct tt_prog step2_program = {
	.device_op = "MorehClipGradNormStep2Operation",
	.prim = "ttnn::prim::moreh_clip_grad_norm_step2",
	.attrs = &step2_schema,
	.infer = step2_infer,
	.validate = step2_validate,
	CLIP_FACTORY("step2::MorehClipGradNormStep2", step2_memory),
	TT_KERNEL(step2_kernel),
};

/* ---- the factor for all -------------------------------------------------------------------------- */

#define STEP3_ATTRS(X)                                                                             \
	X(STEP3_MEMORY, "memory_config")                                                           \
	X(STEP3_COMPUTE, "compute_kernel_config")
TT_ATTRS(step3_schema, "operation_attributes_t", STEP3_ATTRS);

static tt_status step3_infer(struct tt_launch *launch)
{
	launch->output_count = tensor_count(launch);
	for (size_t i = 0; i < launch->output_count; i++)
		launch->specs[i] = launch->inputs[i]->spec;
	return TTNN_OK;
}

static tt_status step3_validate(struct tt_launch *launch)
{
	return check_tensors(launch, "moreh_clip_grad_norm_step3", "clip_coef_clamped");
}

static tt_status step3_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t tile = tt_page_in0(launch);
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_for(&cores, launch, tensor_count(launch)));
	return TT_PLAN(plan, cores, TT_CB_ROW(0, "input", .pages = 1, .page = tile),
		       TT_CB_ROW(1, "clip_coef_clamped", .pages = 1, .page = tile),
		       TT_CB_ROW(16, "output", .pages = 1, .page = tile));
}

static tt_status step3_kernel(struct tt_launch *launch)
{
	const struct ttnn_shape single = {1, {1}};
	struct tt_tensor *factor, *first = launch->inputs[tensor_count(launch)];
	static const uint32_t one[TTNN_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
	struct tt_tensor *scratch;
	struct ttnn_shape shape = {.rank = first->spec.shape.rank};

	for (uint32_t d = 0; d < shape.rank; d++)
		shape.dim[d] = 1;
	TT_TRY(tt_scratch_f32(&scratch, &shape));
	TT_TRY(tt_move_part(scratch, first, &(struct tt_move_block){.extent = one}));
	TT_TRY(tt_moreh_view(&factor, &single, scratch));
	for (size_t i = 0; i < tensor_count(launch); i++)
		TT_TRY(tt_moreh_map(launch->outputs[i], TT_BINARY_MUL, launch->inputs[i], factor));
	return TTNN_OK;
}

static const struct tt_prog step3_program = {
	.device_op = "MorehClipGradNormStep3Operation",
	.prim = "ttnn::prim::moreh_clip_grad_norm_step3",
	.attrs = &step3_schema,
	.infer = step3_infer,
	.validate = step3_validate,
	CLIP_FACTORY("step3::MorehClipGradNormStep3", step3_memory),
	TT_KERNEL(step3_kernel),
};

/* ---- the operation ------------------------------------------------------------------------------- */

/* So many tensors at a time. */
struct batch {
	struct tt_tensor *tensors[TT_PROGRAM_INPUTS_MAX];
	size_t first, count;
};

/* The tensors after those of the last batch; false when there are none left. */
static bool next_batch(struct batch *batch, const struct ttnn_value *list, size_t most)
{
	batch->first += batch->count;
	batch->count = list->count - batch->first;
	if (batch->count > most)
		batch->count = most;
	for (size_t i = 0; i < batch->count; i++)
		batch->tensors[i] = tt_value_item_tensor(list, batch->first + i);
	return batch->count > 0;
}

static size_t most_at_once(const struct tt_tensor *first)
{
	struct ttnn_core grid = tt_tensor_device(first)->info.compute_grid;
	size_t cores = (size_t)grid.x * grid.y;

	return cores < TT_OUTPUTS_MAX ? cores : TT_OUTPUTS_MAX;
}

static struct ttnn_value memory_of(const struct tt_call *call, const struct tt_tensor *like)
{
	return tt_moreh_memory(call, "memory_config", like);
}

/* One number for each tensor, in a new tensor. */
static tt_status sum_powers(struct tt_tensor **out, struct tt_call *call,
			    const struct ttnn_value *list)
{
	struct tt_tensor *first = tt_value_item_tensor(list, 0), *same;
	struct ttnn_value memory = memory_of(call, first);
	struct ttnn_shape shape = {3, {(uint32_t)list->count, 1, 1}};
	struct batch batch = {.count = 0};
	struct ttnn_tensor_spec spec;

	TT_TRY(tt_spec_simple(&spec, &shape, first->spec.dtype, TTNN_TILE, memory.memory));
	TT_TRY(tt_call_owned(call, tt_call_create(out, call, tt_tensor_device(first), &spec), out));
	while (next_batch(&batch, list, most_at_once(first))) {
		batch.tensors[batch.count] = *out;
		TT_TRY(TT_LAUNCH(
			&same, call, &step1_program, .inputs = batch.tensors,
			.input_count = batch.count + 1, TT_OUTPUTS(*out), .in_place = true,
			TT_BIND(call,
				step1_schema, [STEP1_FIRST] = ttnn_v_int((int64_t)batch.first),
				[STEP1_MEMORY] = memory_of(call, batch.tensors[0]),
				[STEP1_COMPUTE] = tt_moreh_compute(call))));
		ttnn_tensor_unref(same);
	}
	return TTNN_OK;
}

/* Upstream's words for a norm that is no number. */
static tt_status refuse_norm(const struct tt_call *call, bool holds, const char *condition)
{
	TT_REQUIRE(
		holds, condition,
		"The total norm of order %g for gradients from `parameters` is non-finite, so it "
		"cannot be clipped. To disable this error and scale the gradients by the "
		"non-finite norm anyway, set `error_if_nonfinite=False`",
		(double)(float)tt_call_real(call, "norm_type", 2));
	return TTNN_OK;
}

static tt_status check_finite(struct tt_call *call, struct tt_tensor *norm)
{
	struct tt_tensor *host;
	double *values;
	uint64_t count;

	TT_TRY(tt_call_owned(call, tt_host_from_device(&host, call, norm), &host));
	if (tt_run_mode() == TTNN_RUN_NO_DISPATCH)
		return TTNN_OK;
	TT_TRY(ttnn_shape_volume(&count, &norm->spec.shape));
	values = tt_arena_calloc(call->arena, count + 1, sizeof(*values));
	TT_NEED_MEMORY(values);
	TT_TRY(tt_tensor_numbers(values, count, norm));
	return refuse_norm(call, isfinite(values[0]), "std::isfinite(fp32_total_norm)");
}

/* A number as a tensor of the gradients' type. */
static tt_status number(struct tt_tensor **out, struct tt_call *call, double value,
			struct tt_tensor *like)
{
	const struct ttnn_shape shape = {1, {1}};

	return tt_call_owned(call,
			     TT_CALL(out, call, "ttnn.full", {"shape", ttnn_v_shape(&shape)},
				     {"fill_value", ttnn_v_real(value)},
				     {"dtype", ttnn_v_dtype(like->spec.dtype)},
				     {"layout", tt_value_enum(&tt_enum_layout, TTNN_TILE)},
				     {"device", ttnn_v_device(tt_tensor_device(like))}),
			     out);
}

/* min(max_norm / (norm + 1e-6), 1) */
static tt_status factor_of(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *norm,
			   struct tt_tensor *like)
{
	struct tt_tensor *most, *sum, *ratio, *one;

	TT_TRY(number(&most, call, tt_call_real(call, "max_norm", 0), like));
	TT_TRY(tt_call_owned(call,
			     TT_CALL(&sum, call, "ttnn.add",
				     {"input_tensor_a", ttnn_v_tensor(norm)},
				     {"input_tensor_b", ttnn_v_real(1e-6f)}),
			     &sum));
	TT_TRY(tt_call_owned(call,
			     TT_CALL(&ratio, call, "ttnn.div", {NULL, ttnn_v_tensor(most)},
				     {NULL, ttnn_v_tensor(sum)}),
			     &ratio));
	TT_TRY(number(&one, call, 1, like));
	TT_TRY(tt_call_owned(call,
			     TT_CALL(out, call, "ttnn.minimum", {NULL, ttnn_v_tensor(ratio)},
				     {NULL, ttnn_v_tensor(one)}),
			     out));
	tt_call_deallocate(call, one);
	tt_call_deallocate(call, most);
	return TTNN_OK;
}

static tt_status scale_all(struct tt_call *call, const struct ttnn_value *list,
			   struct tt_tensor *factor)
{
	struct batch batch = {.count = 0};
	struct tt_tensor *same[TT_OUTPUTS_MAX];
	size_t count;

	while (next_batch(&batch, list, most_at_once(tt_value_item_tensor(list, 0)))) {
		batch.tensors[batch.count] = factor;
		TT_TRY(tt_call_programs(
			same, &count, call,
			&(struct tt_program_args){
				.prog = &step3_program,
				.inputs = batch.tensors,
				.input_count = batch.count + 1,
				.outputs = batch.tensors,
				.output_count = batch.count,
				.in_place = true,
				TT_BIND(call, step3_schema,
					[STEP3_MEMORY] = memory_of(call, batch.tensors[0]),
					[STEP3_COMPUTE] = tt_moreh_compute(call))}));
		while (count)
			ttnn_tensor_unref(same[--count]);
	}
	return TTNN_OK;
}

static tt_status check_list(const struct ttnn_value *list)
{
	if (list->kind != TTNN_VALUE_LIST || !list->count)
		return tt_fail(TTNN_RANGE,
			       "vector::_M_range_check: __n (which is 0) >= this->size() (which is "
			       "0)");
	for (size_t i = 0; i < list->count; i++)
		TT_TRY(tt_need_device(tt_value_item_tensor(list, i)));
	return TTNN_OK;
}

static tt_status clip_grad_norm_expand(struct tt_call *call)
{
	const struct ttnn_value *list = tt_call_arg(call, "inputs");
	struct tt_tensor *given = tt_call_tensor(call, "total_norm"), *first, *sums, *norm, *factor;
	bool finite = tt_call_bool(call, "error_if_nonfinite", false);
	tt_status status;

	TT_TRY(refuse_norm(call, !finite || !isnan(tt_call_real(call, "norm_type", 2)), "false"));
	TT_TRY(check_list(list));
	first = tt_value_item_tensor(list, 0);
	TT_TRY(sum_powers(&sums, call, list));
	TT_TRY(TT_LAUNCH(&norm, call, &step2_program, TT_INPUTS(sums, given), TT_OUTPUTS(given),
			 .in_place = true,
			 TT_BIND(call, step2_schema, [STEP2_MEMORY] = memory_of(call, sums),
				 [STEP2_COMPUTE] = tt_moreh_compute(call))));
	status = finite ? check_finite(call, norm) : TTNN_OK;
	if (status == TTNN_OK)
		status = factor_of(&factor, call, norm, first);
	if (status == TTNN_OK)
		status = scale_all(call, list, factor);
	if (status != TTNN_OK) {
		tt_call_drop(call, norm);
		return status;
	}
	tt_call_return(call, norm);
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.moreh_clip_grad_norm",
	 .doc = "Gradients made smaller in place until their norm is no more than a number; the norm.",
	 .sigs = {"inputs: Tensors, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool "
		  "= False, *, total_norm: Tensor? = None, memory_config: MemoryConfig? = None, "
		  "compute_kernel_config: ComputeConfig? = None"},
	 .expand = clip_grad_norm_expand,
	 .golden = tt_golden_moreh_clip_grad_norm,
	 TT_PROGRAMS(&step1_program, &step2_program, &step3_program)},
};

const struct tt_op_family tt_family_moreh_clip = {"moreh_clip", ops, TT_COUNT(ops)};
