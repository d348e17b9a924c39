/*
 * moreh_reduce.c: reductions and norms of the moreh operations. They keep the last two dimensions
 * always, and drop others unless keepdim says to keep them.
 *
 * Models MorehSum, MorehMean, MorehNorm (the orders 0, inf and -inf) and MorehAbsPow with all
 * their factories, as of ttnn 0.81: memory, cores and choices. Not modelled: how their kernels round on the way.
 */
#include <math.h>

#include "backend/backend.h"
#include "golden/golden_reduction.h"
#include "ops/compute.h"
#include "ops/moreh.h"
#include "ops/movement/movement.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduce_program.h"

/* ---- what the programs over one dimension share --------------------------------------------------------- */

static uint32_t dim_of(const struct tt_launch *launch)
{
	return (uint32_t)tt_launch_attr(launch, "dim")->integer;
}

/* A dimension that the tensor has not is refused later, and makes no difference here. */
static tt_status dim_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_reduction_dims dims = {.dim = {dim_of(launch)}, .count = 1};
	bool keep = tt_launch_attr(launch, "keepdim")->boolean || dims.dim[0] + 2 >= in->shape.rank;
	struct ttnn_shape shape = tt_reduction_shape(&in->shape, &dims, keep);

	return tt_infer_one(launch, &shape, in->dtype, in->layout);
}

/* Norms are in tiles, whatever their input is in. */
static tt_status norm_infer(struct tt_launch *launch)
{
	TT_TRY(dim_infer(launch));
	if (launch->outputs[0])
		return TTNN_OK;
	return tt_spec_simple(&launch->specs[0], &launch->specs[0].shape, launch->specs[0].dtype,
			      TTNN_TILE, &launch->specs[0].memory);
}

#define MOST_DIMENSIONS 8 /* that upstream knows */

/* ---- refusals ------------------------------------------------------------------------------------------- */

static tt_status check_dim(const struct tt_launch *launch)
{
	int64_t dim = tt_launch_attr(launch, "dim")->integer;
	uint32_t rank = launch->inputs[0]->spec.shape.rank;

	TT_REQUIRE(dim >= 0 && dim <= MOST_DIMENSIONS,
		   "(dim >= 0 && dim <= ttnn::MAX_NUM_DIMENSIONS)", "dim must be between 0 and %d.",
		   MOST_DIMENSIONS);
	TT_REQUIRE(dim < rank, "(dim < input_rank)",
		   "dim must be smaller than input tensor rank %u.", rank);
	return TTNN_OK;
}

/* A given output that keeps the dimension: counted from the last one, it has the input's extents. */
static tt_status check_kept(const struct ttnn_shape *in, const struct ttnn_shape *out,
			    const char *condition, const char *which)
{
	for (uint32_t i = 0; i < in->rank; i++)
		if (tt_shape_last(in, i + 1) != tt_shape_last(out, i + 1))
			return tt_fail_cond(TTNN_INVALID, condition,
					    "Input dimension%s[%u] (%u) must equal output "
					    "dimension%s[%u] (%u)",
					    which, i, tt_shape_last(in, i + 1), which, i,
					    tt_shape_last(out, i + 1));
	return TTNN_OK;
}

/* One that drops it: where it was stands an extent of 1 in thought. */
static tt_status check_dropped(const struct ttnn_shape *in, const struct ttnn_shape *out,
			       uint32_t dim, bool padded)
{
	bool tile = dim + 2 >= in->rank;
	struct ttnn_shape expected = {0};

	for (uint32_t i = 0; i < out->rank && expected.rank < TTNN_MAX_RANK; i++) {
		if (i == dim && !tile)
			expected.dim[expected.rank++] = 1;
		if (expected.rank < TTNN_MAX_RANK)
			expected.dim[expected.rank++] = out->dim[i];
	}
	for (uint32_t i = 0; i < expected.rank; i++) {
		TT_REQUIRE(i < in->rank, "tt::exception",
			   "ShapeBase[] index out of range. %u not in [-4, %u)", i, in->rank);
		if (i == dim || in->dim[i] == expected.dim[i])
			continue;
		if (padded)
			return tt_fail_cond(
				TTNN_INVALID,
				"i == padded_dim || input_shape[i] == expected_output_shape[i]",
				"Input shape[%u] (%u) must equal expected output shape[%u] (%u) when "
				"not padded dimension",
				i, in->dim[i], i, expected.dim[i]);
		return tt_fail_cond(
			TTNN_INVALID,
			"i == dim || input_shape_wo_padding[i] == "
			"expected_output_shape_wo_padding[i]",
			"Input shape without padding[%u] (%u) must equal expected output shape "
			"without padding[%u] (%u) when not target dimension",
			i, in->dim[i], i, expected.dim[i]);
	}
	return TTNN_OK;
}

static tt_status check_given(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec, *out;
	uint32_t dim = dim_of(launch), ahead = in->padded.rank - in->shape.rank;
	struct ttnn_shape shape = in->shape, padded = in->padded;

	if (!launch->inputs[1])
		return TTNN_OK;
	out = &launch->inputs[1]->spec;
	if (!tt_launch_attr(launch, "keepdim")->boolean) {
		TT_TRY(check_dropped(&padded, &out->padded, dim + ahead, true));
		return check_dropped(&shape, &out->shape, dim, false);
	}
	padded.dim[dim + ahead] = dim + 2 >= shape.rank ? TT_TILE : 1;
	shape.dim[dim] = 1;
	TT_TRY(check_kept(&padded, &out->padded, "input_dim[i] == output_dim[i]", ""));
	return check_kept(&shape, &out->shape,
			  "input_dim_wo_padding[i] == output_dim_wo_padding[i]",
			  " without padding");
}

static tt_status dim_validate(struct tt_launch *launch, const char *program, bool integers)
{
	static const char *const tensors[] = {"input", "output"};
	const struct tt_moreh_names names = {
		.program = program, .tensors = {tensors[0], tensors[1]}, .integers = integers};

	TT_TRY(tt_moreh_check(launch, &names));
	TT_TRY(check_dim(launch));
	return check_given(launch);
}

static tt_status moreh_sum_validate(struct tt_launch *launch)
{
	return dim_validate(launch, "moreh_sum", true);
}

/* Upstream has an attribute for a divisor, and takes none. */
static tt_status mean_validate(struct tt_launch *launch)
{
	int64_t dim = tt_launch_attr(launch, "dim")->integer;

	TT_REQUIRE(dim >= 0 && dim <= 7,
		   "(operation_attributes.dim >= 0 && operation_attributes.dim <= 7)",
		   "Invalid dimension value: %lld. Expected a value between 0 and 7.",
		   (long long)dim);
	TT_REQUIRE(!tt_value_given(tt_launch_attr(launch, "divisor")),
		   "operation_attributes.divisor.has_value() == false",
		   "divisor not supported yet.");
	return dim_validate(launch, "moreh_mean", false);
}

static tt_status norm_validate(struct tt_launch *launch)
{
	return dim_validate(launch, "moreh_norm", false);
}

/* Height, before the last two, width: the order of upstream's factories. */
enum way { H, NC, W };

static enum way way_of(const struct tt_launch *launch)
{
	uint32_t behind = launch->inputs[0]->spec.shape.rank - dim_of(launch);

	return behind == 1 ? W : behind == 2 ? H : NC;
}

/* The cores of a program over one dimension, and bytes of its tiles. */
struct dim_memory {
	const ttnn_core_set *cores;
	uint64_t in, accum, out;
};

/*
 * What the memory of all forms needs: tiles of the sides, the type of sums, and cores for lines
 * along the dimension.
 */
static tt_status dim_memory_of(struct dim_memory *memory, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_value *compute = tt_launch_attr(launch, "compute_kernel_config");
	struct tt_reduce_tiles tiles = tt_reduce_tiles_of(in);
	enum way way = way_of(launch);
	uint64_t extent = way == W   ? tiles.width
			  : way == H ? tiles.height
				     : in->padded.dim[dim_of(launch)];

	memory->in = tt_page_in0(launch);
	memory->out = tt_page_out0(launch);
	memory->accum = tt_compute_has(compute, TT_COMPUTE_FP32) ? tt_tile_bytes_of(TTNN_FLOAT32)
								 : memory->in;
	return tt_cores_for(&memory->cores, launch,
			    tiles.matrices * tiles.height * tiles.width / (extent ? extent : 1));
}

/* Height or width of floats: masked, multiplied with a scaler, accumulated. */
static tt_status masked_memory(struct tt_plan *plan, const struct dim_memory *memory,
			       uint64_t scalers, uint64_t results)
{
	return TT_PLAN(plan, memory->cores, TT_DFB_ROW(0, "input", .pages = 2, .page = memory->in),
		       TT_DFB_ROW(1, "scaler", .pages = scalers, .page = memory->in),
		       TT_DFB_ROW(2, "mask", .pages = 1, .page = memory->in),
		       TT_DFB_ROW(3, "accum_dst", .pages = 1, .page = memory->accum),
		       TT_DFB_ROW(4, "masked_input", .pages = 1, .page = memory->in),
		       TT_DFB_ROW(16, "out", .pages = results, .page = memory->out));
}

static tt_status dim_reduce(struct tt_launch *launch, struct tt_tensor *in,
			    enum tt_reduce_kind kind, double scale)
{
	return tt_backend_get()->reduce(&(struct tt_reduce_job){.out = launch->outputs[0],
								.in = in,
								.kind = kind,
								.dims = 1u << dim_of(launch),
								.scale = scale});
}

/* ---- sums ------------------------------------------------------------------------------------------------- */

#define SUM_ATTRS(X)                                                                               \
	X(SUM_DIM, "dim")                                                                          \
	X(SUM_KEEP, "keepdim")                                                                     \
	X(SUM_MEMORY, "memory_config")                                                             \
	X(SUM_COMPUTE, "compute_kernel_config")
TT_ATTRS(sum_schema, "operation_attributes_t", SUM_ATTRS);

static bool is_integer(const struct tt_launch *launch)
{
	return tt_dtype_is_integer(launch->inputs[0]->spec.dtype);
}

/* Integers have factories of their own, behind the others. */
static tt_status sum_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = way_of(launch) + (is_integer(launch) ? W + 1 : 0);
	return TTNN_OK;
}

/* Whole numbers have a sum of their own type; floats take the masked form, with a scaler. */
static tt_status moreh_sum_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct dim_memory memory;

	TT_TRY(dim_memory_of(&memory, launch));
	if (way_of(launch) == NC)
		return TT_PLAN(plan, memory.cores,
			       TT_DFB_ROW(0, "input", .pages = 2, .page = memory.in),
			       TT_DFB_ROW(1, is_integer(launch) ? "intermed0" : "zero", .pages = 1,
					  .page = memory.in),
			       TT_DFB_ROW(16, "out", .pages = 2, .page = memory.out));
	if (is_integer(launch))
		return TT_PLAN(plan, memory.cores,
			       TT_DFB_ROW(0, "input", .pages = 2, .page = memory.in),
			       TT_DFB_ROW(1, "mask", .pages = 1, .page = memory.in),
			       TT_DFB_ROW(2, "intermed0", .pages = 1, .page = memory.in),
			       TT_DFB_ROW(16, "out", .pages = 2, .page = memory.out));
	return masked_memory(plan, &memory, way_of(launch) == W ? 2 : 1, 2);
}

static tt_status moreh_sum_kernel(struct tt_launch *launch)
{
	return dim_reduce(launch, launch->inputs[0], TT_REDUCE_SUM, 1);
}

#define SUM_FACTORY(name_)                                                                         \
	{                                                                                          \
		.name = "ttnn::operations::moreh::moreh_sum::MorehSumOperation::MorehSum" name_    \
			"Factory",                                                                 \
		.memory = moreh_sum_memory                                                         \
	}
static const struct tt_factory sum_factories[] = {
	SUM_FACTORY("H"),    SUM_FACTORY("NC"),    SUM_FACTORY("W"),
	SUM_FACTORY("HInt"), SUM_FACTORY("NCInt"), SUM_FACTORY("WInt"),
};

static const struct tt_prog prog_sum = {
	.device_op = "MorehSumOperation",
	.prim = "ttnn::prim::moreh_sum",
	.attrs = &sum_schema,
	.infer = dim_infer,
	.validate = moreh_sum_validate,
	TT_FACTORIES(sum_factories),
	.choose = sum_choose,
	TT_KERNEL(moreh_sum_kernel),
};

/* ---- means ------------------------------------------------------------------------------------------------ */

#define MEAN_ATTRS(X)                                                                              \
	X(MEAN_DIM, "dim")                                                                         \
	X(MEAN_KEEP, "keepdim")                                                                    \
	X(MEAN_DIVISOR, "divisor")                                                                 \
	X(MEAN_MEMORY, "memory_config")                                                            \
	X(MEAN_COMPUTE, "compute_kernel_config")
TT_ATTRS(mean_schema, "operation_attributes_t", MEAN_ATTRS);

static tt_status mean_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = way_of(launch);
	return TTNN_OK;
}

/* As sums, with the scale in a tile of its own. */
static tt_status mean_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct dim_memory memory;

	TT_TRY(dim_memory_of(&memory, launch));
	if (way_of(launch) != NC)
		return masked_memory(plan, &memory, 1, 1);
	return TT_PLAN(plan, memory.cores, TT_DFB_ROW(0, "input", .pages = 2, .page = memory.in),
		       TT_DFB_ROW(1, "in1", .pages = 1, .page = memory.in),
		       TT_DFB_ROW(2, "scalar", .pages = 1, .page = memory.in),
		       TT_DFB_ROW(3, "intermed0", .pages = 1, .page = memory.in),
		       TT_DFB_ROW(16, "out", .pages = 2, .page = memory.out));
}

static tt_status mean_kernel(struct tt_launch *launch)
{
	uint32_t extent = launch->inputs[0]->spec.shape.dim[dim_of(launch)];

	return dim_reduce(launch, launch->inputs[0], TT_REDUCE_SUM, 1 / (double)extent);
}

#define MEAN_FACTORY(name_)                                                                        \
	{                                                                                          \
		.name = "ttnn::operations::moreh::moreh_mean::MorehMeanOperation::MorehMean" name_ \
			"Factory",                                                                 \
		.memory = mean_memory                                                              \
	}
static const struct tt_factory mean_factories[] = {MEAN_FACTORY("H"), MEAN_FACTORY("NC"),
						   MEAN_FACTORY("W")};

static const struct tt_prog prog_mean = {
	.device_op = "MorehMeanOperation",
	.prim = "ttnn::prim::moreh_mean",
	.attrs = &mean_schema,
	.infer = dim_infer,
	.validate = mean_validate,
	TT_FACTORIES(mean_factories),
	.choose = mean_choose,
	TT_KERNEL(mean_kernel),
};

/* ---- norms: how many are not 0, the largest and the smallest size --------------------------------------- */

#define NORM_ATTRS(X)                                                                              \
	X(NORM_P, "p")                                                                             \
	X(NORM_DIM, "dim")                                                                         \
	X(NORM_KEEP, "keepdim")                                                                    \
	X(NORM_MEMORY, "memory_config")                                                            \
	X(NORM_COMPUTE, "compute_kernel_config")
TT_ATTRS(norm_schema, "operation_attributes_t", NORM_ATTRS);

static tt_status norm_choose(uint32_t *out, struct tt_launch *launch)
{
	static const uint32_t order[] = {[W] = 0, [H] = 1, [NC] = 2};

	*out = order[way_of(launch)];
	return TTNN_OK;
}

/* Outer dimensions meet tile by tile, so they need neither mask nor a reduced tile. */
static tt_status norm_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t masks = way_of(launch) == NC ? 0 : 1;
	struct dim_memory memory;

	TT_TRY(dim_memory_of(&memory, launch));
	return TT_PLAN(plan, memory.cores, TT_DFB_ROW(0, "input", .pages = 1, .page = memory.in),
		       TT_DFB_ROW(1, "one", .pages = 1, .page = memory.in),
		       TT_DFB_ROW(2, "mask", .pages = masks, .page = memory.in),
		       TT_DFB_ROW(16, "output", .pages = 1, .page = memory.out),
		       TT_DFB_ROW(24, "val", .pages = 1, .page = memory.accum),
		       TT_DFB_ROW(25, "cal", .pages = 1, .page = memory.accum),
		       TT_DFB_ROW(26, "reduce", .pages = masks, .page = memory.accum));
}

/* Order 0 counts what is not zero; infinite orders take the largest or smallest magnitude. */
static tt_status norm_kernel(struct tt_launch *launch)
{
	double p = launch->attrs[NORM_P].real;
	struct tt_unary_step step = {.fn = p == 0 ? TT_UNARY_NEZ : TT_UNARY_ABS};
	struct ttnn_shape shape = launch->inputs[0]->spec.shape;
	struct tt_tensor *sizes;

	TT_TRY(tt_scratch_f32(&sizes, &shape));
	TT_TRY(tt_backend_get()->map(&(struct tt_map_job){.out = sizes,
							  .arity = 1,
							  .in = {launch->inputs[0]},
							  .post = &step,
							  .post_count = 1}));
	return dim_reduce(launch, sizes,
			  p == 0  ? TT_REDUCE_SUM
			  : p > 0 ? TT_REDUCE_MAX
				  : TT_REDUCE_MIN,
			  1);
}

#define NORM_FACTORY(name_)                                                                             \
	{                                                                                               \
		.name = "ttnn::operations::moreh::moreh_norm::MorehNormOperation::ProgramFactory" name_ \
			"Other",                                                                        \
		.memory = norm_memory                                                                   \
	}
static const struct tt_factory norm_factories[] = {NORM_FACTORY("W"), NORM_FACTORY("H"),
						   NORM_FACTORY("NC")};

static const struct tt_prog prog_norm = {
	.device_op = "MorehNormOperation",
	.prim = "ttnn::prim::moreh_norm",
	.attrs = &norm_schema,
	.infer = norm_infer,
	.validate = norm_validate,
	TT_FACTORIES(norm_factories),
	.choose = norm_choose,
	TT_KERNEL(norm_kernel),
};

/* ---- powers of sizes ---------------------------------------------------------------------------------------- */

#define POW_ATTRS(X)                                                                               \
	X(POW_P, "p")                                                                              \
	X(POW_MEMORY, "memory_config")                                                             \
	X(POW_COMPUTE, "compute_kernel_config")
TT_ATTRS(pow_schema, "operation_attributes_t", POW_ATTRS);

static tt_status pow_validate(struct tt_launch *launch)
{
	static const struct tt_moreh_names names = {
		.program = "moreh_abs_pow", .tensors = {"input", "output"}, .integers = true};

	return tt_moreh_check(launch, &names);
}

/* A row of tiles is a unit of work. */
static tt_status pow_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_reduce_tiles tiles = tt_reduce_tiles_of(&launch->inputs[0]->spec);
	uint64_t in = tt_page_in0(launch);
	uint64_t sum =
		tt_moreh_sum_bytes(&launch->attrs[POW_COMPUTE], launch->inputs[0]->spec.dtype);
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_for(&cores, launch, tiles.matrices * tiles.height));
	return TT_PLAN(plan, cores, TT_DFB_ROW(0, "input_dfb", .pages = 1, .page = in),
		       TT_DFB_ROW(1, "one_dfb", .pages = 1, .page = in),
		       TT_DFB_ROW(2, "decimal_dfb", .pages = 1, .page = in),
		       TT_DFB_ROW(3, "mask_w_dfb", .pages = 1, .page = in),
		       TT_DFB_ROW(16, "output_dfb", .pages = 1, .page = tt_page_out0(launch)),
		       TT_DFB_ROW(24, "xabs_dfb", .pages = 1, .page = sum),
		       TT_DFB_ROW(25, "xpow_dfb", .pages = 1, .page = sum),
		       TT_DFB_ROW(26, "logx_dfb", .pages = 1, .page = sum),
		       TT_DFB_ROW(27, "exp_lxmd_dfb", .pages = 1, .page = sum));
}

/* The magnitude to a power, of which other orders are made. A given output may have another shape. */
static tt_status pow_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];

	if (!ttnn_shape_equal(&in->spec.shape, &out->spec.shape))
		TT_TRY(tt_moreh_view(&in, &out->spec.shape, in));
	return tt_moreh_power(out, in, launch->attrs[POW_P].real);
}

static const struct tt_prog prog_pow = {
	.device_op = "MorehAbsPowOperation",
	.prim = "ttnn::prim::moreh_abs_pow",
	.attrs = &pow_schema,
	.validate = pow_validate,
	TT_FACTORY("ttnn::operations::moreh::moreh_abs_pow::MorehAbsPowOperation::"
		   "MorehAbsPowProgramFactory",
		   pow_memory),
	TT_KERNEL(pow_kernel),
};

/* ---- the operations ---------------------------------------------------------------------------------------------- */

/* One pass over a dimension. */
typedef tt_status (*pass_fn)(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			     struct tt_tensor *given, int64_t dim);

static tt_status sum_pass(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			  struct tt_tensor *given, int64_t dim)
{
	TT_TRY(tt_need_device(in));
	return TT_LAUNCH(out, call, &prog_sum, TT_INPUTS(in, given), TT_OUTPUTS(given),
			 .in_place = true,
			 TT_BIND(call, sum_schema, [SUM_DIM] = ttnn_v_int(dim),
				 [SUM_MEMORY] = tt_value_memory_or_like(call, in),
				 [SUM_COMPUTE] = tt_moreh_compute(call)));
}

static tt_status mean_pass(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			   struct tt_tensor *given, int64_t dim)
{
	TT_TRY(tt_need_device(in));
	return TT_LAUNCH(out, call, &prog_mean, TT_INPUTS(in, given), TT_OUTPUTS(given),
			 .in_place = true,
			 TT_BIND(call, mean_schema, [MEAN_DIM] = ttnn_v_int(dim),
				 [MEAN_MEMORY] = tt_value_memory_or_like(call, in),
				 [MEAN_COMPUTE] = tt_moreh_compute(call)));
}

/* One dimension; the others follow. */
static tt_status norm_pass(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			   struct tt_tensor *given, int64_t dim)
{
	TT_TRY(tt_need_device(in));
	return TT_LAUNCH(
		out, call, &prog_norm, TT_INPUTS(in, given), TT_OUTPUTS(given), .in_place = true,
		TT_BIND(call, norm_schema, [NORM_P] = ttnn_v_real(tt_call_real(call, "p", 2)),
			[NORM_DIM] = ttnn_v_int(dim),
			[NORM_MEMORY] = tt_value_memory_or_like(call, in),
			[NORM_COMPUTE] = tt_moreh_compute(call)));
}

static tt_status pow_pass(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			  struct tt_tensor *given, double p)
{
	TT_TRY(tt_need_device(in));
	return TT_LAUNCH(out, call, &prog_pow, TT_INPUTS(in, given), TT_OUTPUTS(given),
			 .in_place = true,
			 TT_BIND(call, pow_schema, [POW_P] = ttnn_v_real(p),
				 [POW_MEMORY] = tt_value_memory_or_like(call, in),
				 [POW_COMPUTE] = tt_moreh_compute(call)));
}

/* The first pass, over the last dimension, may differ from the others. */
struct passes {
	pass_fn first, others;
};

/*
 * Pass after pass, the last dimension first. What is made between
 * goes when the next is there, the last of it when all is done.
 */
static tt_status run_passes(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			    struct tt_tensor *given, const struct passes *passes)
{
	struct tt_tensor *between = NULL, *next;
	int64_t dims[TTNN_MAX_RANK];
	size_t count;

	TT_TRY(tt_moreh_dims(dims, &count, call, in->spec.shape.rank, true));
	for (size_t i = count; i-- > 0;) {
		pass_fn pass = i + 1 == count ? passes->first : passes->others;
		tt_status status =
			pass(&next, call, between ? between : in, i ? NULL : given, dims[i]);

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

/* A vector is summed up as a row, whose sum becomes a vector unless it goes where it was to go. */
static tt_status sum_passes(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			    struct tt_tensor *given)
{
	const struct ttnn_shape *shape = &in->spec.shape, one = {1, {1}};
	struct tt_tensor *row, *sum;
	int64_t dims[TTNN_MAX_RANK];
	size_t count;
	tt_status status;

	TT_TRY(tt_moreh_dims(dims, &count, call, shape->rank, true));
	if (shape->rank != 1 || count != 1 || dims[0] != 0)
		return run_passes(out, call, in, given, &(struct passes){sum_pass, sum_pass});
	TT_TRY(tt_call_reshape(
		&row, call,
		&(struct tt_reshape_args){.in = in,
					  .shape = &(struct ttnn_shape){2, {1, shape->dim[0]}}}));
	status = sum_pass(&sum, call, row, given, 1);
	if (status == TTNN_OK && !given)
		status = tt_call_drop_after(
			call,
			tt_call_reshape(out, call,
					&(struct tt_reshape_args){.in = sum, .shape = &one}),
			sum);
	else if (status == TTNN_OK)
		*out = sum;
	return tt_call_drop_after(call, status, row);
}

static tt_status return_passes(struct tt_call *call, pass_fn first, pass_fn others)
{
	struct tt_tensor *out;

	return tt_call_give(call,
			    run_passes(&out, call, tt_call_tensor(call, "input"),
				       tt_call_tensor(call, "output"),
				       &(struct passes){first, others}),
			    &out);
}

static tt_status moreh_sum_expand(struct tt_call *call)
{
	struct tt_tensor *out;

	return tt_call_give(call,
			    sum_passes(&out, call, tt_call_tensor(call, "input"),
				       tt_call_tensor(call, "output")),
			    &out);
}

/* Upstream ends the process for a scalar. */
static tt_status mean_expand(struct tt_call *call)
{
	TT_NEED(tt_call_tensor(call, "input")->spec.shape.rank,
		"moreh_mean takes a tensor of at least one dimension, not a scalar");
	return return_passes(call, mean_pass, mean_pass);
}

/* How many are not zero: counted over the last dimension, and summed up over the others. */
static tt_status count_expand(struct tt_call *call, struct tt_tensor *in)
{
	struct tt_tensor *given = tt_call_tensor(call, "output"), *counts, *between, *out;
	int64_t dims[TTNN_MAX_RANK];
	size_t count;
	tt_status status = TTNN_OK;

	TT_TRY(tt_moreh_dims(dims, &count, call, in->spec.shape.rank, true));
	TT_NEED(count, "moreh_norm takes a tensor of at least one dimension, not a scalar");
	TT_TRY(norm_pass(&counts, call, in, count > 1 ? NULL : given, dims[count - 1]));
	out = between = counts;
	for (size_t i = count - 1; i-- > 0 && status == TTNN_OK;) {
		status = sum_pass(&out, call, between, i ? NULL : given, dims[i]);
		if (between != counts && i && status == TTNN_OK)
			tt_call_overwrite(call, between);
		else if (between != counts)
			tt_call_drop(call, between);
		between = out;
	}
	if (out != counts || status != TTNN_OK)
		tt_call_drop(call, counts);
	return tt_call_give(call, status, &out);
}

/* Other orders: powers, sums over all dimensions, and the root as a power. */
static tt_status norm_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input"), *out, *powers, *sum;
	double p = tt_call_real(call, "p", 2);

	if (p == 0)
		return count_expand(call, in);
	if (isinf(p))
		return return_passes(call, norm_pass, norm_pass);
	TT_TRY(pow_pass(&powers, call, in, NULL, p));
	TT_TRY(tt_call_replace(&powers, call, sum_passes(&sum, call, powers, NULL), &sum));
	tt_call_own(call, powers);
	return tt_call_give(
		call, pow_pass(&out, call, powers, tt_call_tensor(call, "output"), 1 / p), &out);
}

static tt_status pow_expand(struct tt_call *call)
{
	struct tt_tensor *out;

	return tt_call_give(call,
			    pow_pass(&out, call, tt_call_tensor(call, "input"),
				     tt_call_tensor(call, "output"), tt_call_real(call, "p", 2)),
			    &out);
}

/* What cumsum calls the arguments of these two operations. */
struct cumsum_names {
	const char *in, *out;
	bool reverse; /* sums run from the end */
};
static const struct cumsum_names forward = {"input", "output", false};
static const struct cumsum_names backward = {"output_grad", "input_grad", true};

/* moreh_cumsum is cumsum under another name, and its backward runs from the end. */
static tt_status cumsum_expand(struct tt_call *call)
{
	const struct cumsum_names *names = call->entry->op->row;
	struct ttnn_arg args[] = {{"input", *tt_call_arg(call, names->in)},
				  {"dim", *tt_call_arg(call, "dim")},
				  {"reverse_order", ttnn_v_bool(names->reverse)},
				  {"out", *tt_call_arg(call, names->out)},
				  {"memory_config", *tt_call_arg(call, "memory_config")}};
	struct tt_tensor *out;

	return tt_call_give(call, tt_call_op(&out, call, "ttnn.cumsum", args, TT_COUNT(args)),
			    &out);
}

#define TAIL                                                                                       \
	"output: Tensor? = None, memory_config: MemoryConfig? = None, "                            \
	"compute_kernel_config: ComputeConfig? = None"
#define OP(name_, expand_, golden_, row_, sig_, doc_)                                              \
	{                                                                                          \
		.name = "ttnn.moreh_" name_, .doc = doc_, .sigs = {sig_}, .expand = expand_,       \
		.golden = golden_, .row = row_                                                     \
	}

static const struct tt_op ops[] = {
	OP("sum", moreh_sum_expand, tt_golden_moreh_sum, NULL,
	   "input: Tensor, dim: int | ints ? = None, *, keepdim: bool = False, " TAIL,
	   "The sum over dimensions."),
	OP("mean", mean_expand, tt_golden_moreh_mean, NULL,
	   "input: Tensor, *, dim: int | ints ? = None, keepdim: bool = False, divisor: int? = "
	   "None, " TAIL,
	   "The mean over dimensions."),
	OP("norm", norm_expand, tt_golden_moreh_norm, NULL,
	   "input: Tensor, p: float, *, dim: int | ints ? = None, keepdim: bool = False, " TAIL,
	   "The p-norm over dimensions."),
	OP("abs_pow", pow_expand, tt_golden_moreh_abs_pow, NULL,
	   "input: Tensor, p: float, *, " TAIL, "The size of each value to a power."),
	OP("cumsum", cumsum_expand, tt_golden_cumsum, &forward,
	   "input: Tensor, dim: int, *, output: Tensor? = None, memory_config: MemoryConfig? = None",
	   "The sum of all values up to each, along a dimension."),
	OP("cumsum_backward", cumsum_expand, tt_golden_cumsum_backward, &backward,
	   "output_grad: Tensor, dim: int, *, input_grad: Tensor? = None, memory_config: "
	   "MemoryConfig? = None",
	   "The sum of all values from each on, along a dimension."),
};

const struct tt_op_family tt_family_moreh = {"moreh", ops, TT_COUNT(ops)};
