/*
 * norm_welford.c: layer_norm of rows that lie across devices, in two halves, by mean and variance of each device's part:
 * two tiles each, in whose first columns they are. The second half joins those of all devices.
 *
 * Models dit_layernorm's PreAllGatherDeviceOperation and PostAllGatherDeviceOperation of ttnn 0.81 with a factory each:
 * refusals, memory, cores. Not modelled: columns that a tile adds, which the original counts; the table of reciprocals
 * is not read.
 */
#include "backend/backend.h"
#include "golden/golden_norm.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"
#include "ops/norm/layer_norm.h"

/* A tile for the mean, one for the variance. */
enum { PART = 2 * TT_TILE };

static uint64_t tile_of(const struct tt_tensor *tensor)
{
	return tensor ? tt_tile_bytes_of(tensor->spec.dtype) : 0;
}

static bool is_float(enum ttnn_dtype dtype)
{
	return dtype == TTNN_BFLOAT16 || dtype == TTNN_BFLOAT8_B || dtype == TTNN_FLOAT32;
}

/* Float32 needs registers of float32. */
static tt_status check_exact(const struct tt_launch *launch, const struct ttnn_value *compute,
			     const char *half)
{
	TT_REQUIRE(launch->inputs[0]->spec.dtype != TTNN_FLOAT32 ||
			   tt_compute_has(compute, TT_COMPUTE_FP32),
		   "!(in_data_format == tt::DataFormat::Float32 && !fp32_dest_acc_en)",
		   "dit_layernorm_%s_all_gather with Float32 input requires fp32_dest_acc_en=true "
		   "in the compute kernel config; otherwise precision is silently lost in the "
		   "unpacker format conversion.",
		   half);
	return TTNN_OK;
}

/* ---- before the gathering --------------------------------------------------------------------------- */

#define BEFORE_ATTRS(X)                                                                            \
	X(BEFORE_DTYPE, "dtype")                                                                   \
	X(BEFORE_COMPUTE, "compute_kernel_config")                                                 \
	X(BEFORE_MEMORY, "memory_config")
TT_ATTRS(before_schema, "DitLayernormPreAllGatherParams", BEFORE_ATTRS);
enum { IN, RECIPROCALS };

static tt_status welford_before_infer(struct tt_launch *launch)
{
	struct ttnn_shape shape = launch->inputs[IN]->spec.shape;

	TT_TRY(tt_need_dim(&shape, 3));
	shape.dim[3] = PART;
	return tt_infer_one(launch, &shape, (enum ttnn_dtype)launch->attrs[BEFORE_DTYPE].integer,
			    TTNN_TILE);
}

static tt_status welford_before_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;

	TT_REQUIRE(!tt_memory_config_is_sharded(&in->memory), "!input.is_sharded()",
		   "DIT layernorm pre-all-gather does not support sharded inputs.");
	TT_REQUIRE(in->layout == TTNN_TILE, "input.layout() == Layout::TILE",
		   "Only tilized inputs supported.");
	TT_REQUIRE(is_float(in->dtype),
		   "input.dtype() == DataType::BFLOAT16 || input.dtype() == DataType::BFLOAT8_B || "
		   "input.dtype() == DataType::FLOAT32",
		   "Input data format not supported.");
	return TTNN_OK;
}

static tt_status welford_before_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *reciprocals = launch->inputs[RECIPROCALS];
	uint64_t block = tt_compute_tiles(&launch->attrs[BEFORE_COMPUTE]);
	uint64_t out = tile_of(launch->outputs[0]);
	const ttnn_core_set *cores;

	TT_TRY(check_exact(launch, &launch->attrs[BEFORE_COMPUTE], "pre"));
	TT_TRY(tt_norm_cores(&cores, launch));
	return TT_PLAN(
		plan, cores,
		TT_CB_ROW(0, "cb_inp", .pages = 2 * block, .page = tile_of(launch->inputs[IN])),
		TT_CB_ROW(1, "cb_x2", .pages = 2 * block, .page = out),
		TT_CB_ROW(14, "cb_out", .pages = 4, .page = out),
		TT_CB_ROW(2, "cb_reciprocals", .pages = 1,
			  .page = tt_tensor_buffer(reciprocals)->layout.bank_bytes,
			  .backing = reciprocals));
}

static tt_status welford_before_kernel(struct tt_launch *launch)
{
	return tt_norm_parts(launch->outputs[0], launch->inputs[IN]);
}

static const struct tt_prog before_program = {
	.device_op = "PreAllGatherDeviceOperation",
	.prim = "ttnn::prim::dit_layernorm_pre_all_gather",
	.attrs = &before_schema,
	.infer = welford_before_infer,
	.validate = welford_before_validate,
	TT_FACTORY("ttnn::experimental::prim::PreAllGatherWelfordProgramFactory",
		   welford_before_rows),
	TT_KERNEL(welford_before_kernel),
};

/* ---- after it: refusals ------------------------------------------------------------------------------ */

#define AFTER_ATTRS(X)                                                                             \
	X(AFTER_EPS, "eps")                                                                        \
	X(AFTER_MEMORY, "memory_config")                                                           \
	X(AFTER_COMPUTE, "compute_kernel_config")                                                  \
	X(AFTER_DTYPE, "dtype")
TT_ATTRS(after_schema, "DitLayernormPostAllGatherParams", AFTER_ATTRS);
enum { STATS = 1, GAMMA, BETA, AFTER_INPUTS };

static tt_status welford_after_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const struct ttnn_value *dtype = &launch->attrs[AFTER_DTYPE];

	return tt_infer_one(launch, &in->shape,
			    tt_value_given(dtype) ? (enum ttnn_dtype)dtype->integer : in->dtype,
			    TTNN_TILE);
}

static tt_status check_stats(const struct ttnn_tensor_spec *in,
			     const struct ttnn_tensor_spec *stats)
{
	static const char *const conditions[] = {"stats.padded_shape()[0] == a.padded_shape()[0]",
						 "stats.padded_shape()[1] == a.padded_shape()[1]",
						 "stats.padded_shape()[2] == a.padded_shape()[2]"};
	static const char *const names[] = {"batch sizes", "dim1", "dim2"};
	uint32_t width = tt_shape_last(&stats->padded, 1);

	TT_REQUIRE(stats->layout == TTNN_TILE, "stats.layout() == Layout::TILE",
		   "Stats tensor must have TILE layout, got: Layout::%s",
		   tt_enum_name(&tt_enum_layout, stats->layout));
	TT_REQUIRE(is_float(stats->dtype),
		   "stats.dtype() == DataType::BFLOAT16 || stats.dtype() == DataType::BFLOAT8_B || "
		   "stats.dtype() == DataType::FLOAT32",
		   "Stats tensor must be BF16, BF8_B, or FLOAT32.");
	TT_REQUIRE(width % PART == 0, "stats.padded_shape()[-1] % (2 * TILE_WIDTH) == 0",
		   "Stats inner dimension must be multiple of 64 (two tiles), got: %u", width);
	for (uint32_t i = 0; i < TT_COUNT(names); i++) {
		TT_TRY(tt_need_dim(&in->padded, i));
		TT_TRY(tt_need_dim(&stats->padded, i));
		TT_REQUIRE(stats->padded.dim[i] == in->padded.dim[i], conditions[i],
			   "Stats and input %s must match, got stats: %u vs input: %u", names[i],
			   stats->padded.dim[i], in->padded.dim[i]);
	}
	return TTNN_OK;
}

/* A row of tiles, or tiles one below the other as rows of 32. */
static tt_status check_row(const struct ttnn_tensor_spec *in, const struct tt_tensor *tensor,
			   const char *name)
{
	const struct ttnn_tensor_spec *spec = &tensor->spec;
	const struct ttnn_shape *shape = &spec->padded;
	uint32_t width = tt_shape_last(&in->padded, 1), batch = tt_shape_last(shape, 3);
	uint64_t volume = 0;

	TT_REQUIRE(shape->rank >= 1 && shape->rank <= in->padded.rank,
		   "ndims >= 1 && ndims <= a.padded_shape().rank()",
		   "%s must have 1-%u dimensions, got: %u", name, in->padded.rank, shape->rank);
	if (spec->layout == TTNN_TILE) {
		TT_REQUIRE(tt_shape_last(shape, 1) == width, "shape[-1] == a.padded_shape()[-1]",
			   "%s hidden dimension must match input. Got %u vs %u", name,
			   tt_shape_last(shape, 1), width);
		TT_REQUIRE(tt_shape_last(shape, 2) == TT_TILE, "shape[-2] == TILE_HEIGHT",
			   "%s height must be TILE_HEIGHT (32), got: %u", name,
			   tt_shape_last(shape, 2));
	} else {
		TT_TRY(ttnn_shape_volume(&volume, shape));
		TT_REQUIRE(tt_shape_last(shape, 1) == TT_TILE &&
				   volume / TT_TILE == width / TT_TILE,
			   "shape[-1] == TILE_WIDTH && t.physical_volume() / TILE_WIDTH == "
			   "a.padded_shape()[-1] / TILE_WIDTH",
			   "%s dimensions must align with input.", name);
	}
	if (shape->rank < 3)
		return TTNN_OK;
	TT_REQUIRE(batch == 1 || batch == tt_shape_last(&in->padded, 3),
		   "shape[-3] == 1 || shape[-3] == a.padded_shape()[-3]",
		   "%s batch dimension (dim[-3]) must be 1 or match input batch (%u), got: %u",
		   name, tt_shape_last(&in->padded, 3), batch);
	TT_REQUIRE(batch == 1 || spec->layout == TTNN_TILE, "t.layout() == Layout::TILE",
		   "%s with batch dimension > 1 must use TILE layout. ROW_MAJOR layout does not "
		   "support batch broadcasting.",
		   name);
	return TTNN_OK;
}

static tt_status check_affine(const struct tt_launch *launch)
{
	const struct tt_tensor *gamma = launch->inputs[GAMMA], *beta = launch->inputs[BETA];
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;

	TT_REQUIRE(gamma || !beta, "!beta.has_value()", "Beta must not be provided without gamma.");
	if (!gamma)
		return TTNN_OK;
	TT_REQUIRE(beta, "beta.has_value()", "Beta must be provided when gamma is provided.");
	TT_REQUIRE(gamma->spec.dtype == TTNN_BFLOAT16 || gamma->spec.dtype == TTNN_FLOAT32,
		   "gamma_tensor.dtype() == DataType::BFLOAT16 || gamma_tensor.dtype() == "
		   "DataType::FLOAT32",
		   "Gamma must be BF16 or FLOAT32.");
	TT_REQUIRE(beta->spec.dtype == TTNN_BFLOAT16 || beta->spec.dtype == TTNN_FLOAT32,
		   "beta_tensor.dtype() == DataType::BFLOAT16 || beta_tensor.dtype() == "
		   "DataType::FLOAT32",
		   "Beta must be BF16 or FLOAT32.");
	TT_TRY(check_row(in, gamma, "Gamma"));
	return check_row(in, beta, "Beta");
}

static tt_status welford_after_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;

	TT_REQUIRE(!tt_memory_config_is_sharded(&in->memory), "!a.is_sharded()",
		   "DIT layernorm post-all-gather does not support sharded inputs.");
	TT_REQUIRE(in->layout == TTNN_TILE, "a.layout() == Layout::TILE",
		   "Input tensor must have TILE layout, got: Layout::%s",
		   tt_enum_name(&tt_enum_layout, in->layout));
	TT_REQUIRE(is_float(in->dtype),
		   "a.dtype() == DataType::BFLOAT16 || a.dtype() == DataType::BFLOAT8_B || "
		   "a.dtype() == DataType::FLOAT32",
		   "Input tensor must be BFLOAT16, BFLOAT8_B, or FLOAT32, got: DataType::%s",
		   ttnn_dtype_name(in->dtype, TTNN_DIALECT_TT_METAL));
	TT_TRY(check_stats(in, &launch->inputs[STATS]->spec));
	return check_affine(launch);
}

/* ---- after it: the program ---------------------------------------------------------------------------- */

static tt_status welford_after_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_value *compute = &launch->attrs[AFTER_COMPUTE];
	const struct tt_tensor *gamma = launch->inputs[GAMMA], *beta = launch->inputs[BETA];
	uint64_t block = tt_compute_tiles(compute), small = tt_tile_bytes_of(TTNN_BFLOAT16);
	uint64_t between =
		tt_compute_has(compute, TT_COMPUTE_FP32) ? tt_tile_bytes_of(TTNN_FLOAT32) : small;
	uint64_t width =
		tt_div_up(tt_shape_last(&launch->inputs[IN]->spec.padded, 1) / TT_TILE, block) *
		block;
	uint64_t stats = tt_shape_last(&launch->inputs[STATS]->spec.padded, 1) / TT_TILE;
	const ttnn_core_set *cores;

	TT_TRY(check_exact(launch, compute, "post"));
	TT_TRY(tt_norm_cores(&cores, launch));
	return TT_PLAN(
		plan, cores,
		TT_CB_ROW(0, "input", .pages = 2 * block, .page = tile_of(launch->inputs[IN])),
		TT_CB_ROW(1, "stats", .pages = 2 * stats, .page = tile_of(launch->inputs[STATS])),
		TT_CB_ROW(2, "gamma", .pages = gamma ? width : 0, .page = tile_of(gamma)),
		TT_CB_ROW(3, "beta", .pages = beta ? width : 0, .page = tile_of(beta)),
		TT_CB_ROW(4, "epsilon", .pages = 1, .page = small),
		TT_CB_ROW(5, "stats_reduced", .pages = 2, .page = between),
		TT_CB_ROW(6, "recip_sqrt_var", .pages = 1, .page = between),
		TT_CB_ROW(7, "intermediate", .pages = block, .page = between),
		TT_CB_ROW(8, "output", .pages = 2 * block, .page = tile_of(launch->outputs[0])));
}

static tt_status map2(struct tt_tensor *out, struct tt_tensor *a, enum tt_binary_fn op,
		      struct tt_tensor *b)
{
	return tt_backend_get()->map(
		&(struct tt_map_job){.out = out, .arity = 2, .in = {a, b}, .op = op});
}

/* The first row of weights of each batch, or rows of 32 as one: [batches, 1, width]. */
static tt_status weights_of(struct tt_tensor **out, struct tt_tensor *tensor, uint32_t width)
{
	const struct ttnn_shape *own = &tensor->spec.shape;
	uint32_t batches = own->rank > 2 ? tt_shape_last(own, 3) : 1;
	const struct ttnn_shape shape = TT_SHAPE(batches, 1, width);
	const struct tt_move_loop loops[] = {
		{batches, own->rank > 2 ? (int32_t)own->rank - 3 : -1, 0, 1, 1},
		{width, (int32_t)own->rank - 1, 2, 1, 1},
	};

	TT_TRY(tt_scratch_f32(out, &shape));
	if (tensor->spec.layout != TTNN_TILE)
		return tt_backend_get()->reshape(*out, tensor);
	return tt_backend_get()->move(&(struct tt_move_job){
		.out = *out, .in = tensor, .loops = loops, .loop_count = TT_COUNT(loops)});
}

/* values = values op weights, which are optional. */
static tt_status with_weights(struct tt_tensor *values, enum tt_binary_fn op,
			      struct tt_tensor *weights)
{
	struct tt_tensor *row = NULL;

	if (!weights)
		return TTNN_OK;
	TT_TRY(weights_of(&row, weights, tt_shape_last(&values->spec.shape, 1)));
	return map2(values, values, op, row);
}

static tt_status welford_after_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[IN], *mean, *factor, *values;

	TT_TRY(tt_norm_join(&mean, &factor, launch->inputs[STATS], launch->attrs[AFTER_EPS].real));
	TT_TRY(tt_scratch_f32(&values, &in->spec.shape));
	TT_TRY(map2(values, in, TT_BINARY_SUB, mean));
	TT_TRY(map2(values, values, TT_BINARY_MUL, factor));
	TT_TRY(with_weights(values, TT_BINARY_MUL, launch->inputs[GAMMA]));
	TT_TRY(with_weights(values, TT_BINARY_ADD, launch->inputs[BETA]));
	return tt_backend_get()->map(
		&(struct tt_map_job){.out = launch->outputs[0], .arity = 1, .in = {values}});
}

static const struct tt_prog after_program = {
	.device_op = "PostAllGatherDeviceOperation",
	.prim = "ttnn::prim::dit_layernorm_post_all_gather",
	.attrs = &after_schema,
	.infer = welford_after_infer,
	.validate = welford_after_validate,
	TT_FACTORY("ttnn::experimental::prim::PostAllGatherWelfordProgramFactory",
		   welford_after_rows),
	TT_KERNEL(welford_after_kernel),
};

/* ---- operations ---------------------------------------------------------------------------------------- */

static struct ttnn_value compute_of(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true};

	return tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
}

static tt_status welford_before(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");

	TT_TRY(tt_need_device(in));
	return TT_LAUNCH_RETURN(call, &before_program,
				TT_INPUTS(in, tt_call_tensor(call, "recip_tensor")),
				TT_BIND(call, before_schema, [BEFORE_COMPUTE] = compute_of(call),
					[BEFORE_MEMORY] = tt_value_memory_or_like(call, in)));
}

static tt_status welford_after(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");

	TT_TRY(tt_need_device(in));
	return TT_LAUNCH_RETURN(
		call, &after_program,
		TT_INPUTS(in, tt_call_tensor(call, "stats"), tt_call_tensor(call, "weight"),
			  tt_call_tensor(call, "bias")),
		TT_BIND(call, after_schema,
			[AFTER_EPS] = ttnn_v_real((float)tt_call_real(call, "epsilon", 1e-5)),
			[AFTER_MEMORY] = tt_value_memory_or_like(call, in),
			[AFTER_COMPUTE] = compute_of(call)));
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.dit_layernorm_post_allgather",
	 .doc = "layer_norm with the means and variances of all devices.",
	 .sigs = {"input_tensor: Tensor, stats: Tensor, *, epsilon: float = 1e-5, weight: Tensor? "
		  "= None, bias: Tensor? = None, memory_config: MemoryConfig? = None, "
		  "compute_kernel_config: ComputeConfig? = None, dtype: DataType? = None"},
	 .expand = welford_after,
	 .golden = tt_golden_welford_apply,
	 TT_PROGRAMS(&after_program)},
	{.name = "ttnn.experimental.dit_layernorm_pre_allgather",
	 .doc = "Mean and variance of each row of one device's part.",
	 .sigs = {"input_tensor: Tensor, recip_tensor: Tensor, *, dtype: DataType = BFLOAT16, "
		  "compute_kernel_config: ComputeConfig? = None, memory_config: MemoryConfig? = "
		  "None"},
	 .expand = welford_before,
	 .golden = tt_golden_welford_stats,
	 TT_PROGRAMS(&before_program)},
};

const struct tt_op_family tt_family_norm_welford = {"norm_welford", ops, TT_COUNT(ops)};
