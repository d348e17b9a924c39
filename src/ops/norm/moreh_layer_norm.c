/*
 * moreh_layer_norm.c: normalisation over the last dimensions, as many as one says; mean and the
 * reciprocal of the deviation go to tensors that the caller may give. Models MorehLayerNormOperation of ttnn 0.81 with
 * its one factory, for large rows and small. Not modelled: the order of its sums.
 */
#include <math.h>

#include "backend/backend.h"
#include "golden/golden.h"
#include "ops/compute.h"
#include "ops/moreh.h"
#include "ops/movement/movement.h"
#include "ops/norm/norm_gradient.h"

#define ATTRS(X)                                                                                   \
	X(DIMS, "normalized_dims")                                                                 \
	X(EPS, "eps")                                                                              \
	X(MEMORY, "memory_config")                                                                 \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);

enum { IN, GAMMA, BETA, INPUTS };
enum { OUT, MEAN, RSTD, OUTPUTS };

/* ---- specs and refusals ----------------------------------------------------------------------- */

/* mean and rstd are outputs only if they are given. */
static tt_status moreh_layer_norm_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;

	for (size_t i = MEAN; i < OUTPUTS; i++)
		if (launch->outputs[i]) {
			launch->specs[i] = launch->outputs[i]->spec;
			launch->output_count = i + 1;
		}
	/* One that is left out before another one is given stands for nothing. */
	if (launch->output_count == OUTPUTS && !launch->outputs[MEAN])
		launch->specs[MEAN] = launch->specs[RSTD];
	if (launch->outputs[OUT]) {
		launch->specs[OUT] = launch->outputs[OUT]->spec;
		return TTNN_OK;
	}
	return tt_spec_simple(&launch->specs[OUT], &in->shape, in->dtype, TTNN_TILE,
			      launch->attrs[MEMORY].memory);
}

/* At least the last dimension, at most all. */
static tt_status check_dims(int64_t dims, const struct tt_tensor *in)
{
	uint32_t rank = in->spec.padded.rank;

	TT_REQUIRE(dims > 0, "normalized_dims > 0", "normalized_dims should > 0. Got %lld",
		   (long long)dims);
	TT_REQUIRE(dims <= rank, "normalized_dims <= input.padded_shape().rank()",
		   "normalized_dims should <= input rank (%u). Got: %lld", rank, (long long)dims);
	return TTNN_OK;
}

static void fill_to_two(struct ttnn_shape *shape)
{
	if (shape->rank < 2)
		*shape = TT_SHAPE(1, shape->rank ? shape->dim[0] : 1);
}

/* A row has one number; shapes of fewer than two dimensions are compared as those of two. */
static tt_status check_statistic(const struct tt_launch *launch, size_t which)
{
	static const char *const names[] = {[MEAN] = "mean", [RSTD] = "rstd"};
	struct ttnn_shape want = launch->inputs[IN]->spec.shape;
	struct ttnn_shape have = launch->outputs[which]->spec.shape;
	struct tt_str texts[2] = {{0}};
	char condition[96];
	tt_status status;

	want.rank -= (uint32_t)launch->attrs[DIMS].integer;
	fill_to_two(&want);
	fill_to_two(&have);
	if (ttnn_shape_equal(&want, &have))
		return TTNN_OK;
	snprintf(condition, sizeof(condition),
		 "canonicalize_shape_for_validation(%s->logical_shape()) == "
		 "expected_mean_rstd_shape",
		 names[which]);
	tt_shape_list(&texts[0], &want);
	tt_shape_list(&texts[1], &launch->outputs[which]->spec.shape);
	status = tt_fail_cond(TTNN_INVALID, condition,
			      "%s must have logical shape Shape(%s). Got Shape(%s).", names[which],
			      tt_str_text(&texts[0]), tt_str_text(&texts[1]));
	tt_str_deinit(&texts[0]);
	tt_str_deinit(&texts[1]);
	return status;
}

/* Only bfloat16 in tiles. */
static tt_status check_tensor(const struct tt_tensor *tensor)
{
	if (!tensor)
		return TTNN_OK;
	TT_REQUIRE(tensor->spec.layout == TTNN_TILE, "tensor.layout() == Layout::TILE",
		   "moreh_layer_norm only supports tiled layout. Got: Layout::ROW_MAJOR");
	TT_REQUIRE(tensor->spec.dtype == TTNN_BFLOAT16, "tensor.dtype() == DataType::BFLOAT16",
		   "moreh_layer_norm only supports bfloat16. Got: DataType::%s",
		   ttnn_dtype_name(tensor->spec.dtype, TTNN_DIALECT_TT_METAL));
	return TTNN_OK;
}

static tt_status moreh_layer_norm_validate(struct tt_launch *launch)
{
	for (size_t i = 0; i < launch->input_count; i++) {
		TT_TRY(check_tensor(launch->inputs[i]));
		if (i == IN)
			TT_TRY(check_dims(launch->attrs[DIMS].integer, launch->inputs[IN]));
	}
	for (size_t i = MEAN; i < launch->output_count; i++)
		if (launch->outputs[i]) {
			TT_TRY(check_tensor(launch->outputs[i]));
			TT_TRY(check_statistic(launch, i));
		}
	return TTNN_OK;
}

/* ---- program memory --------------------------------------------------------------------------- */

/* The largest number of tiles up to `most` that divides them all. */
static uint64_t block_of(uint64_t tiles, uint64_t most)
{
	while (most > 1 && tiles % most != 0)
		most--;
	return most;
}

/*
 * All tiles that are normalised together stay in L1 (`inner`), or a block of at most 4 (2 in
 * float32) at a time. Masks are there only for ragged edges.
 */
static tt_status moreh_layer_norm_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	uint32_t dims = (uint32_t)launch->attrs[DIMS].integer;
	bool fp32 = tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32);
	bool gain = launch->inputs[GAMMA] || launch->inputs[BETA];
	uint64_t tile = tt_tile_bytes_of(in->dtype),
		 inner = tt_shape_last(&in->padded, 1) / TT_TILE;
	uint64_t wide = fp32 ? tt_tile_bytes_of(TTNN_FLOAT32) : tile, all = in->bytes / tile, two;
	struct tt_work_split split;

	for (uint32_t d = 2; d <= dims; d++)
		inner *= d == 2 ? tt_shape_last(&in->padded, 2) / TT_TILE
				: tt_shape_last(&in->padded, d);
	inner = inner ? inner : 1;
	two = 2 * block_of(inner, fp32 ? 2 : 4);
	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid, all / inner,
			     TTNN_ORIENT_COL_MAJOR));
	{
		struct tt_buffer_row rows[] = {
			TT_CB_ROW(0, "cb_x", .pages = inner, .page = tile),
			TT_CB_ROW(1, "cb_scaler", .pages = 1, .page = tile),
			TT_CB_ROW(2, "cb_eps", .pages = 1, .page = tile),
			TT_CB_ROW(3, "cb_gamma", .pages = launch->inputs[GAMMA] ? two : 0,
				  .page = tile),
			TT_CB_ROW(4, "cb_beta", .pages = launch->inputs[BETA] ? two : 0,
				  .page = tile),
			TT_CB_ROW(5, "cb_mask_h",
				  .pages = dims > 1 && tt_shape_last(&in->shape, 2) % TT_TILE != 0,
				  .page = tile),
			TT_CB_ROW(6, "cb_mask_w",
				  .pages = tt_shape_last(&in->shape, 1) % TT_TILE != 0,
				  .page = tile),
			TT_CB_ROW(16, "cb_out", .pages = two, .page = tile),
			TT_CB_ROW(17, "cb_mean", .pages = launch->outputs[MEAN] != NULL,
				  .page = tile),
			TT_CB_ROW(18, "cb_rstd", .pages = launch->outputs[RSTD] != NULL,
				  .page = tile),
			TT_CB_ROW(24, "cb_ex", .pages = 1, .page = wide),
			TT_CB_ROW(25, "cb_xmm", .pages = inner, .page = wide),
			TT_CB_ROW(26, "cb_xmm2", .pages = 1, .page = wide),
			TT_CB_ROW(27, "cb_xmm2sum", .pages = 1, .page = wide),
			TT_CB_ROW(28, "cb_var", .pages = 1, .page = wide),
			TT_CB_ROW(29, "cb_recip_std", .pages = 1, .page = wide),
			TT_CB_ROW(30, "cb_gamma_beta", .pages = gain ? two : 0, .page = wide),
			TT_CB_ROW(31, "cb_xsum", .pages = 2, .page = wide),
		};

		/* What does not fit is read block by block, again and again. */
		if (tt_buffers_bytes(rows, TT_COUNT(rows)) >=
		    launch->device->limits.l1_size - launch->device->limits.l1_base) {
			rows[0].pages = rows[11].pages = rows[12].pages = two;
		}
		return tt_plan_buffers(plan, split.all, rows, TT_COUNT(rows));
	}
}

/* ---- the kernel ------------------------------------------------------------------------------- */

/* Host tensors of float32 in rows, for what lies between the steps. */
static tt_status rows_of(struct tt_tensor **out, uint64_t rows, uint64_t cols)
{
	struct ttnn_shape shape = {2, {(uint32_t)rows, (uint32_t)cols}};

	return tt_scratch_f32(out, &shape);
}

/* The normalised dimensions become one, and the result goes back to the shape. */
static tt_status normalise(struct tt_launch *launch, struct tt_tensor *x, struct tt_tensor *y)
{
	struct tt_norm_job job = {.out = y,
				  .in = x,
				  .gamma = launch->inputs[GAMMA],
				  .beta = launch->inputs[BETA],
				  .kind = TT_NORM_LAYER,
				  .epsilon = launch->attrs[EPS].real};

	TT_TRY(tt_backend_get()->reshape(x, launch->inputs[IN]));
	TT_TRY(tt_backend_get()->norm(&job));
	TT_TRY(tt_backend_get()->reshape(launch->outputs[OUT], y));
	if (launch->output_count > MEAN && launch->outputs[MEAN])
		TT_TRY(tt_norm_mean(launch->outputs[MEAN], x));
	if (launch->output_count > RSTD && launch->outputs[RSTD])
		TT_TRY(tt_norm_rstd(launch->outputs[RSTD], x, launch->attrs[EPS].real));
	return TTNN_OK;
}

/* Computed on rows of the backend; the tensors of the model are only read and written. */
static tt_status moreh_layer_norm_kernel(struct tt_launch *launch)
{
	const struct ttnn_shape *shape = &launch->inputs[IN]->spec.shape;
	uint64_t inner = 1, all;
	struct tt_tensor *x, *y;

	TT_TRY(ttnn_shape_volume(&all, shape));
	for (uint32_t d = 1; d <= (uint32_t)launch->attrs[DIMS].integer; d++)
		inner *= tt_shape_last(shape, d);
	if (!all)
		return TTNN_OK;
	TT_TRY(rows_of(&x, all / inner, inner));
	TT_TRY(rows_of(&y, all / inner, inner));
	return normalise(launch, x, y);
}

static const struct tt_prog program = {
	.device_op = "MorehLayerNormOperation",
	.prim = "ttnn::prim::moreh_layer_norm",
	.attrs = &schema,
	.infer = moreh_layer_norm_infer,
	.validate = moreh_layer_norm_validate,
	TT_FACTORY(
		"ttnn::operations::moreh::moreh_layer_norm::MorehLayerNormOperation::ProgramFactory",
		moreh_layer_norm_memory),
	TT_KERNEL(moreh_layer_norm_kernel),
};

/* ---- the operation ---------------------------------------------------------------------------- */

/* Results in upstream's order; those that nobody gave a tensor for are None. */
static tt_status moreh_layer_norm_expand(struct tt_call *call)
{
	struct tt_tensor *inputs[INPUTS] = {
		[IN] = tt_call_tensor(call, "input"),
		[GAMMA] = tt_call_tensor(call, "gamma"),
		[BETA] = tt_call_tensor(call, "beta"),
	};
	struct tt_tensor *given[OUTPUTS] = {
		[OUT] = tt_call_tensor(call, "output"),
		[MEAN] = tt_call_tensor(call, "mean"),
		[RSTD] = tt_call_tensor(call, "rstd"),
	};
	struct ttnn_value attrs[schema_count] = {
		[DIMS] = *tt_call_arg(call, "normalized_dims"),
		[EPS] = ttnn_v_real(tt_call_real(call, "eps", 1e-5)),
		[MEMORY] = tt_value_memory_or_like(call, inputs[IN]),
		[COMPUTE] = tt_moreh_compute(call),
	};
	struct tt_tensor *outputs[TT_OUTPUTS_MAX];
	size_t count;

	TT_TRY(tt_need_device(inputs[IN]));
	TT_TRY(tt_call_programs(outputs, &count, call,
				&(struct tt_program_args){.prog = &program,
							  .attrs = attrs,
							  .inputs = inputs,
							  .input_count = INPUTS,
							  .outputs = given,
							  .output_count = OUTPUTS}));
	if (count > MEAN && !given[MEAN]) {
		ttnn_tensor_unref(outputs[MEAN]);
		outputs[MEAN] = NULL;
	}
	for (size_t i = 0; i < OUTPUTS; i++)
		tt_call_return(call, i < count ? outputs[i] : NULL);
	return TTNN_OK;
}

/* One more result of the shape of a tensor that the caller gave; NULL when there is none. */
static tt_status golden_statistic(struct tt_array **out, struct tt_golden *golden, const char *name)
{
	const struct tt_array *given = tt_golden_in(golden, name);

	*out = NULL;
	if (!given)
		return TTNN_OK;
	*out = tt_golden_out(golden, &given->shape, given->dtype);
	return *out ? TTNN_OK : tt_fail_prefix(TTNN_NOMEM, "golden");
}

/* In float64 by the textbook: mean, then squares of distances to it. */
static tt_status moreh_layer_norm_golden(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input");
	const struct tt_array *gamma = tt_golden_in(golden, "gamma");
	const struct tt_array *beta = tt_golden_in(golden, "beta");
	double eps = tt_call_real(&golden->call, "eps", 1e-5);
	int64_t dims = tt_call_int(&golden->call, "normalized_dims", 1);
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;
	struct tt_array *means, *rstds;
	uint64_t inner = 1;

	TT_GOLDEN_NEED(out && dims >= 1 && dims <= in->shape.rank);
	TT_TRY(golden_statistic(&means, golden, "mean"));
	TT_TRY(golden_statistic(&rstds, golden, "rstd"));
	for (uint32_t d = 1; d <= dims; d++)
		inner *= tt_shape_last(&in->shape, d);
	if (!inner)
		return TTNN_OK;
	for (uint64_t row = 0; row < in->count; row += inner) {
		double mean = 0, square = 0;

		for (uint64_t i = 0; i < inner; i++)
			mean += *tt_at(in, row + i) / (double)inner;
		for (uint64_t i = 0; i < inner; i++)
			square += (*tt_at(in, row + i) - mean) * (*tt_at(in, row + i) - mean) /
				  (double)inner;
		for (uint64_t i = 0; i < inner; i++)
			*tt_at(out, row + i) = (*tt_at(in, row + i) - mean) / sqrt(square + eps) *
						       (gamma ? *tt_at(gamma, i) : 1) +
					       (beta ? *tt_at(beta, i) : 0);
		if (means && row / inner < means->count)
			*tt_at(means, row / inner) = mean;
		if (rstds && row / inner < rstds->count)
			*tt_at(rstds, row / inner) = 1 / sqrt(square + eps);
	}
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.moreh_layer_norm",
	 .doc = "Normalisation over the last dimensions; mean and 1 / deviation where one wants "
		"them.",
	 .sigs = {"input: Tensor, normalized_dims: size, eps: float = 9.999999747378752e-06, gamma: "
		  "Tensor? = None, beta: Tensor? = None, *, output: Tensor? = None, mean: Tensor? = "
		  "None, rstd: Tensor? = None, memory_config: MemoryConfig? = None, "
		  "compute_kernel_config: ComputeConfig? = None"},
	 .expand = moreh_layer_norm_expand,
	 .golden = moreh_layer_norm_golden,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_moreh_layer_norm = {"moreh_layer_norm", ops, TT_COUNT(ops)};
