/*
 * layer_norm.c: layer_norm and rms_norm, and the program of both.
 *
 * Models LayerNormDeviceOperation of ttnn 0.81 (normalization/layernorm/device) with
 * LayerNormMultiCoreProgramFactory (a row of tiles for each core) and
 * LayerNormShardedProgramFactory (a row is spread over cores, which exchange sums): refusals,
 * cores; memory is in layer_norm_memory.c. Not modelled: the order of sums on the chip.
 */
#include "ops/norm/layer_norm.h"

#include "golden/golden_norm.h"
#include "ops/activation.h"
#include "ops/movement/movement.h"

static const struct tt_enum_row type_rows[] = {{TT_NORM_LAYER, "LAYERNORM"},
					       {TT_NORM_RMS, "RMSNORM"}};
const struct tt_enum tt_enum_norm_type = {"LayerNormType", type_rows, 2};
const struct tt_enum tt_enum_norm_distributed = {"LayerNormDistributedType", type_rows, 2};

static const struct tt_enum_row stage_rows[] = {{TT_NORM_WHOLE, "NOT_DISTRIBUTED"},
						{TT_NORM_BEFORE_GATHER, "PRE_ALL_GATHER"},
						{TT_NORM_AFTER_GATHER, "POST_ALL_GATHER"}};
const struct tt_enum tt_enum_norm_stage = {"DistributedLayerNormStage", stage_rows, 3};

static const struct tt_field attr_fields[TT_NORM_ATTRS] = {
	[TT_NORM_TYPE] = {.name = "norm_type"},
	[TT_NORM_STAGE] = {.name = "distributed_norm_stage"},
	[TT_NORM_EPS] = {.name = "eps"},
	[TT_NORM_MEMORY] = {.name = "output_mem_config"},
	[TT_NORM_CONFIG] = {.name = "program_config", .text = TT_TEXT_ALWAYS, .fixed = "<variant>"},
	[TT_NORM_COMPUTE] = {.name = "compute_kernel_config"},
	[TT_NORM_DTYPE] = {.name = "dtype"},
	[TT_NORM_ACTIVATION] = {.name = "fused_activation",
				.text = TT_TEXT_FIXED,
				.fixed = "<BasicUnaryWithParam>"},
};
static const struct tt_schema attrs_schema = {"LayerNormParams", attr_fields, TT_NORM_ATTRS, false};

bool tt_norm_fp32(const struct tt_launch *launch)
{
	return tt_compute_has(&launch->attrs[TT_NORM_COMPUTE], TT_COMPUTE_FP32);
}

/* ---- specs --------------------------------------------------------------------------------------- */

/* What goes to the other devices: one tile column for each sum, all on the first core. */
static tt_status infer_sums(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[TT_NORM_IN]->spec;
	struct ttnn_spec_args args = tt_tensor_spec_args(in);
	uint32_t kinds = launch->attrs[TT_NORM_TYPE].integer == TT_NORM_RMS ? 1 : 2;
	struct ttnn_shard_spec shard = in->memory.shard;
	struct ttnn_core_range first;

	TT_NEED(in->memory.has_shard, "bad optional access");
	TT_NEED(in->shape.rank, "a scalar has no row to sum up");
	first.start = first.end = ttnn_core_set_ranges(shard.grid, NULL)[0].start;
	TT_TRY(ttnn_core_set_make(&shard.grid, &first, 1));
	shard.width = kinds * TT_TILE;
	args.shape.dim[args.shape.rank - 1] = kinds * TT_TILE;
	if (tt_value_given(&launch->attrs[TT_NORM_DTYPE]))
		args.dtype = (enum ttnn_dtype)launch->attrs[TT_NORM_DTYPE].integer;
	TT_TRY(ttnn_memory_config_sharded(&args.memory, TTNN_WIDTH_SHARDED, TTNN_L1, &shard));
	return ttnn_tensor_spec_make(&launch->specs[0], &args);
}

/* The same spec with the asked memory and dtype. Before a gather there are sums only. */
static tt_status layer_norm_infer(struct tt_launch *launch)
{
	struct ttnn_spec_args args = tt_tensor_spec_args(&launch->inputs[TT_NORM_IN]->spec);
	struct ttnn_memory_config own;

	if (tt_infer_given(launch, 0))
		return TTNN_OK;
	if (launch->attrs[TT_NORM_STAGE].integer == TT_NORM_BEFORE_GATHER)
		return infer_sums(launch);
	own = args.memory;
	args.memory = *launch->attrs[TT_NORM_MEMORY].memory;
	/* Shards that nobody described are those of the input. */
	if (tt_memory_config_is_sharded(&args.memory) && !args.memory.has_shard && own.has_shard)
		TT_TRY(ttnn_memory_config_sharded(&args.memory, args.memory.layout,
						  args.memory.buffer, &own.shard));
	if (tt_value_given(&launch->attrs[TT_NORM_DTYPE]))
		args.dtype = (enum ttnn_dtype)launch->attrs[TT_NORM_DTYPE].integer;
	return ttnn_tensor_spec_make(&launch->specs[0], &args);
}

/* ---- refusals ------------------------------------------------------------------------------------ */

static const char *dtype_name(const struct ttnn_tensor_spec *spec)
{
	return ttnn_dtype_name(spec->dtype, TTNN_DIALECT_TT_METAL);
}

/* Rows are taken where they are whole tiles wide. */
static tt_status check_input(const struct ttnn_tensor_spec *in)
{
	if (in->layout == TTNN_ROW_MAJOR)
		TT_REQUIRE(tt_shape_last(&in->shape, 1) % TT_TILE == 0,
			   "a.logical_shape()[-1] % tile_width == 0",
			   "ROW_MAJOR input requires W (%u) to be a multiple of tile width (%u)",
			   tt_shape_last(&in->shape, 1), TT_TILE);
	TT_REQUIRE(in->dtype == TTNN_FLOAT32 || in->dtype == TTNN_BFLOAT16 ||
			   in->dtype == TTNN_BFLOAT8_B,
		   "a.dtype() == DataType::FLOAT32 or a.dtype() == DataType::BFLOAT16 or a.dtype() "
		   "== DataType::BFLOAT8_B",
		   "Input tensor must be FLOAT32, BFLOAT16, or BFLOAT8_B, got: DataType::%s",
		   dtype_name(in));
	return TTNN_OK;
}

/* The residual is added tile by tile, so both shapes agree, padding too. */
static tt_status check_residual(const struct ttnn_tensor_spec *in,
				const struct ttnn_tensor_spec *residual)
{
	struct tt_str texts[4] = {{0}};
	const struct ttnn_shape *shapes[] = {&in->shape, &in->padded, &residual->shape,
					     &residual->padded};
	tt_status status;

	TT_REQUIRE(residual->layout == TTNN_TILE, "b.value().layout() == Layout::TILE",
		   "Residual tensor must have TILE layout, got: Layout::%s",
		   tt_enum_name(&tt_enum_layout, residual->layout));
	if (ttnn_shape_equal(&in->shape, &residual->shape) &&
	    ttnn_shape_equal(&in->padded, &residual->padded))
		return TTNN_OK;
	for (int i = 0; i < 4; i++)
		tt_shape_list(&texts[i], shapes[i]);
	status = tt_fail_cond(TTNN_INVALID,
			      "a.logical_shape() == b.value().logical_shape() && a.padded_shape() "
			      "== b.value().padded_shape()",
			      "Input and residual logical and padded shapes must match, got input: "
			      "logical=Shape(%s) padded=Shape(%s) vs residual: logical=Shape(%s) "
			      "padded=Shape(%s)",
			      tt_str_text(&texts[0]), tt_str_text(&texts[1]),
			      tt_str_text(&texts[2]), tt_str_text(&texts[3]));
	for (int i = 0; i < 4; i++)
		tt_str_deinit(&texts[i]);
	return status;
}

static uint64_t volume_of(const struct ttnn_tensor_spec *spec)
{
	return spec->rows * spec->cols;
}

/* Weights in rows are cut into pieces of 32, one under the other: [.., W / 32, 32]. */
static tt_status check_gamma_rows(const struct ttnn_tensor_spec *in,
				  const struct ttnn_tensor_spec *gamma)
{
	if (tt_shape_last(&gamma->padded, 1) != TT_TILE ||
	    volume_of(gamma) / TT_TILE != tt_shape_last(&in->padded, 1) / TT_TILE) {
		struct tt_str texts[2] = {{0}};
		tt_status status;

		tt_shape_list(&texts[0], &gamma->padded);
		tt_shape_list(&texts[1], &in->padded);
		status = tt_fail_cond(
			TTNN_INVALID,
			"(gamma.value().padded_shape()[-1] == tile_width && "
			"gamma.value().physical_volume() / tile_width == a.padded_shape()[-1] / "
			"tile_width)",
			"Gamma's last padded dim needs to equal tile width and gamma's volume needs "
			"to align with last padded dim of input. Error with "
			"gamma.value().padded_shape(): Shape(%s), tile_width: %u, "
			"gamma.value().physical_volume(): %llu, a.padded_shape(): Shape(%s)",
			tt_str_text(&texts[0]), TT_TILE, (unsigned long long)volume_of(gamma),
			tt_str_text(&texts[1]));
		tt_str_deinit(&texts[0]);
		tt_str_deinit(&texts[1]);
		return status;
	}
	TT_REQUIRE(gamma->dtype == TTNN_FLOAT32 || gamma->dtype == TTNN_BFLOAT16,
		   "gamma.value().dtype() == DataType::FLOAT32 or gamma.value().dtype() == "
		   "DataType::BFLOAT16",
		   "Gamma tensor must be FLOAT32 or BFLOAT16, got: DataType::%s",
		   dtype_name(gamma));
	return TTNN_OK;
}

/* Weights in tiles are one row of them, as wide as the input. */
static tt_status check_gamma(const struct ttnn_tensor_spec *in,
			     const struct ttnn_tensor_spec *gamma)
{
	uint32_t width = tt_shape_last(&in->shape, 1), padded = tt_shape_last(&in->padded, 1);
	uint32_t own = tt_shape_last(&gamma->shape, 1),
		 own_padded = tt_shape_last(&gamma->padded, 1);

	if (gamma->layout == TTNN_ROW_MAJOR)
		return check_gamma_rows(in, gamma);
	TT_REQUIRE(
		padded == own_padded && own >= width,
		"a.padded_shape()[-1] == gamma.value().padded_shape()[-1] && "
		"gamma.value().logical_shape()[-1] >= a.logical_shape()[-1]",
		"Input and gamma padded widths must match and gamma logical width must be >= "
		"input logical width (otherwise valid input columns would be multiplied by gamma "
		"padding). Got input: logical[-1]=%u padded[-1]=%u vs gamma: logical[-1]=%u "
		"padded[-1]=%u",
		width, padded, own, own_padded);
	TT_REQUIRE(tt_shape_last(&gamma->padded, 2) == TT_TILE,
		   "gamma.value().padded_shape()[-2] == tile_height",
		   "Gamma tensor height must equal tile height (%u), got: %u", TT_TILE,
		   tt_shape_last(&gamma->padded, 2));
	return TTNN_OK;
}

/* The same for the bias, with upstream's other texts. */
static tt_status check_beta(const struct ttnn_tensor_spec *in, const struct ttnn_tensor_spec *beta)
{
	uint32_t width = tt_shape_last(&in->shape, 1), padded = tt_shape_last(&in->padded, 1);
	uint32_t own = tt_shape_last(&beta->shape, 1), own_padded = tt_shape_last(&beta->padded, 1);

	if (beta->layout == TTNN_ROW_MAJOR) {
		TT_REQUIRE(
			own_padded == TT_TILE && volume_of(beta) / TT_TILE == padded / TT_TILE,
			"(beta.value().padded_shape()[-1] == tile_width && "
			"beta.value().physical_volume() / tile_width == a.padded_shape()[-1] / "
			"tile_width)",
			"Beta tensor dimensions must align with input tensor. Got beta padded "
			"shape: %u, physical volume: %llu, input padded shape: %u, tile_width: %u",
			own_padded, (unsigned long long)volume_of(beta), padded, TT_TILE);
		TT_REQUIRE(beta->dtype == TTNN_FLOAT32 || beta->dtype == TTNN_BFLOAT16,
			   "beta.value().dtype() == DataType::FLOAT32 or beta.value().dtype() == "
			   "DataType::BFLOAT16",
			   "Beta tensor must be FLOAT32 or BFLOAT16, got: DataType::%s",
			   dtype_name(beta));
		return TTNN_OK;
	}
	TT_REQUIRE(
		padded == own_padded && own >= width,
		"a.padded_shape()[-1] == beta.value().padded_shape()[-1] && "
		"beta.value().logical_shape()[-1] >= a.logical_shape()[-1]",
		"Input and beta padded widths must match and beta logical width must be >= input "
		"logical width (otherwise valid input columns would be offset by beta padding). "
		"Got input: logical[-1]=%u padded[-1]=%u vs beta: logical[-1]=%u padded[-1]=%u",
		width, padded, own, own_padded);
	TT_REQUIRE(tt_shape_last(&beta->padded, 2) == TT_TILE,
		   "beta.value().padded_shape()[-2] == tile_height",
		   "Beta tensor height must equal tile height (%u), got: %u", TT_TILE,
		   tt_shape_last(&beta->padded, 2));
	return TTNN_OK;
}

/* The blocks that a program config gives against the shards. */
static tt_status check_blocks(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[TT_NORM_IN]->spec;
	const struct ttnn_value *config = launch->attrs[TT_NORM_CONFIG].items;
	const struct tt_norm_blocks blocks = tt_norm_blocks(launch);
	bool by_columns = in->memory.shard.orientation == TTNN_ORIENT_COL_MAJOR;
	bool wide = in->memory.layout == TTNN_WIDTH_SHARDED;
	uint64_t rows = in->rows / TT_TILE, cols = in->cols / TT_TILE;
	uint64_t down = wide ? 1 : by_columns ? blocks.grid.x : blocks.grid.y;
	uint64_t across = wide         ? ttnn_core_set_cores(in->memory.shard.grid)
			  : by_columns ? blocks.grid.y
				       : blocks.grid.x;
	struct ttnn_core grid = {0, 0};

	(void)tt_object_core(&grid, &config[TT_NORM_GRID]);
	TT_REQUIRE(grid.x >= blocks.grid.x && grid.y >= blocks.grid.y,
		   "program_range.contains(shifted_shard_bbox)",
		   "shard_spec.grid size %ux%u does not fit within program_config grid %ux%u",
		   blocks.grid.x, blocks.grid.y, grid.x, grid.y);
	TT_REQUIRE(config[TT_NORM_SUBBLOCK_W].integer > 0, "program_config.subblock_w > 0",
		   "subblock_w must be greater than 0.");
	TT_REQUIRE((int64_t)blocks.w % config[TT_NORM_SUBBLOCK_W].integer == 0,
		   "program_config.block_w % program_config.subblock_w == 0",
		   "block_w must be divisible by subblock_w.");
	TT_REQUIRE(!wide || tt_div_up(cols, across) == blocks.w,
		   "tt::div_up(Kt, shard_spec.num_cores()) == program_config.block_w",
		   "block_w (%llu) must equal to K (in tiles) / num_cores (%llu)",
		   (unsigned long long)blocks.w, (unsigned long long)tt_div_up(cols, across));
	TT_REQUIRE(tt_div_up(cols, across) == blocks.w,
		   "tt::div_up(Kt, num_cores_c) == program_config.block_w",
		   "block_w (%llu) must equal to K (in tiles) / num_cores_c (%llu)",
		   (unsigned long long)blocks.w, (unsigned long long)tt_div_up(cols, across));
	TT_REQUIRE(
		tt_div_up(rows, down) == blocks.h,
		"tt::div_up(Mt, num_cores_r) == program_config.block_h",
		"block_h (%llu) must equal ceil(Mt / num_cores_r) (%llu); Mt=%llu, num_cores_r=%llu",
		(unsigned long long)blocks.h, (unsigned long long)tt_div_up(rows, down),
		(unsigned long long)rows, (unsigned long long)down);
	return TTNN_OK;
}

/* Height shards are refused; sharded input gives a sharded result and takes a sharded residual. */
static tt_status check_sharded(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[TT_NORM_IN]->spec;
	const struct tt_tensor *residual = launch->inputs[TT_NORM_RESIDUAL];
	const struct ttnn_memory_config *out = launch->attrs[TT_NORM_MEMORY].memory;
	const struct ttnn_value *config = &launch->attrs[TT_NORM_CONFIG];

	TT_REQUIRE(in->memory.layout != TTNN_HEIGHT_SHARDED,
		   "a.memory_config().memory_layout() != TensorMemoryLayout::HEIGHT_SHARDED",
		   "Height sharded inputs are not supported.");
	TT_REQUIRE(tt_memory_config_is_sharded(out) && out->layout != TTNN_HEIGHT_SHARDED,
		   "operation_attributes.output_mem_config.is_sharded() && "
		   "operation_attributes.output_mem_config.memory_layout() != "
		   "TensorMemoryLayout::HEIGHT_SHARDED",
		   "Sharded inputs require sharded outputs.");
	TT_REQUIRE(!residual || tt_tensor_is_sharded(residual), "b.value().is_sharded()",
		   "residual tensor b should be sharded if input a is sharded");
	TT_NEED(in->memory.has_shard, "bad optional access");
	if (config->kind != TTNN_VALUE_OBJECT)
		return TTNN_OK;
	TT_NEED(config->schema == &tt_schema_norm_sharded, "std::get: wrong index for variant");
	return check_blocks(launch);
}

/*
 * In upstream's order. A config for shards is of no use to interleaved input, and ends in an
 * exception there.
 */
static tt_status layer_norm_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[TT_NORM_IN]->spec;
	struct tt_tensor *residual = launch->inputs[TT_NORM_RESIDUAL];
	struct tt_tensor *gamma = launch->inputs[TT_NORM_WEIGHT];
	struct tt_tensor *beta = launch->inputs[TT_NORM_BIAS];
	const struct ttnn_value *config = &launch->attrs[TT_NORM_CONFIG];

	TT_TRY(check_input(in));
	if (residual)
		TT_TRY(check_residual(in, &residual->spec));
	if (gamma)
		TT_TRY(check_gamma(in, &gamma->spec));
	TT_REQUIRE(!gamma || !beta || gamma->spec.layout == beta->spec.layout,
		   "gamma.value().layout() == beta.value().layout()",
		   "Gamma and beta must have the same layout!");
	if (beta)
		TT_TRY(check_beta(in, &beta->spec));
	if (tt_memory_config_is_sharded(&in->memory))
		return check_sharded(launch);
	TT_NEED(config->kind != TTNN_VALUE_OBJECT || config->schema != &tt_schema_norm_sharded,
		"bad optional access");
	return TTNN_OK;
}

/* ---- the program ------------------------------------------------------------------------------------ */

static tt_status layer_norm_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = tt_tensor_is_sharded(launch->inputs[TT_NORM_IN]);
	return TTNN_OK;
}

static const struct tt_factory factories[] = {
	{.name = "ttnn::prim::LayerNormMultiCoreProgramFactory",
	 .memory = tt_norm_rows_interleaved},
	{.name = "ttnn::prim::LayerNormShardedProgramFactory", .memory = tt_norm_rows_sharded},
};

/*
 * Before a gather it gives averages of this device's part; behind it, it takes those of all
 * devices.
 */
static tt_status layer_norm_kernel(struct tt_launch *launch)
{
	const struct ttnn_value *activation = &launch->attrs[TT_NORM_ACTIVATION];
	struct ttnn_value chain = ttnn_v_list(activation, 1);
	struct tt_unary_step post[TT_UNARY_STEPS_MAX];
	size_t count = 0;
	struct tt_norm_job job = {
		.out = launch->outputs[0],
		.in = launch->inputs[TT_NORM_IN],
		.residual = launch->inputs[TT_NORM_RESIDUAL],
		.gamma = launch->inputs[TT_NORM_WEIGHT],
		.beta = launch->inputs[TT_NORM_BIAS],
		.kind = (enum tt_norm_kind)launch->attrs[TT_NORM_TYPE].integer,
		.epsilon = launch->attrs[TT_NORM_EPS].real,
		.post = post,
	};

	if (tt_value_given(activation))
		TT_TRY(tt_unary_steps(post, &count, &chain));
	job.post_count = (uint32_t)count;
	switch (launch->attrs[TT_NORM_STAGE].integer) {
	case TT_NORM_BEFORE_GATHER:
		return tt_norm_sums(&job, true);
	case TT_NORM_AFTER_GATHER:
		return tt_norm_apply(&job, launch->inputs[TT_NORM_STATS], true);
	default:
		return tt_backend_get()->norm(&job);
	}
}

static const struct tt_prog program = {
	.device_op = "LayerNormDeviceOperation",
	.prim = "ttnn::prim::layer_norm",
	.attrs = &attrs_schema,
	.infer = layer_norm_infer,
	.validate = layer_norm_validate,
	.factories = factories,
	.factory_count = TT_COUNT(factories),
	.choose = layer_norm_choose,
	TT_KERNEL(layer_norm_kernel),
};

static bool in_place(const struct tt_norm_args *args)
{
	const struct ttnn_value *config = args->config;

	return args->stage == TT_NORM_WHOLE && config && config->kind == TTNN_VALUE_OBJECT &&
	       config->schema == &tt_schema_norm_sharded &&
	       config->items[TT_NORM_INPLACE].boolean && tt_tensor_is_sharded(args->inputs[0]);
}

/* Attributes of both operations and of the two halves of a distributed one. */
tt_status tt_norm_launch(struct tt_tensor **out, struct tt_call *call,
			 const struct tt_norm_args *args)
{
	struct tt_tensor *in = args->inputs[TT_NORM_IN];
	struct tt_tensor *output = in_place(args) ? in : NULL;
	const struct ttnn_memory_config *own = &in->spec.memory;
	struct ttnn_value attrs[TT_NORM_ATTRS];

	attrs[TT_NORM_TYPE] = tt_value_enum(&tt_enum_norm_type, args->type);
	attrs[TT_NORM_STAGE] = tt_value_enum(&tt_enum_norm_stage, args->stage);
	attrs[TT_NORM_EPS] = ttnn_v_real(args->eps);
	attrs[TT_NORM_MEMORY] = ttnn_v_memory(args->memory ? args->memory : own);
	attrs[TT_NORM_CONFIG] = args->config ? *args->config : ttnn_v_none();
	attrs[TT_NORM_COMPUTE] = args->compute;
	attrs[TT_NORM_DTYPE] = args->dtype;
	attrs[TT_NORM_ACTIVATION] =
		tt_value_given(&args->activation) ? args->activation : ttnn_v_none();
	return TT_LAUNCH(out, call, &program, .attrs = attrs, .inputs = args->inputs,
			 .input_count = TT_NORM_INPUTS, TT_OUTPUTS(output), .in_place = true);
}

/* ---- operations --------------------------------------------------------------------------------------- */

/* Nothing to normalise: a copy. */
static tt_status nothing(struct tt_call *call, struct tt_tensor *in)
{
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	const struct ttnn_arg args[] = {
		{NULL, ttnn_v_tensor(in)},
		{"memory_config", memory ? ttnn_v_memory(memory) : ttnn_v_none()}};
	struct tt_tensor *out;

	return tt_call_give(call, tt_call_op(&out, call, "ttnn.clone", args, TT_COUNT(args)), &out);
}

/*
 * rms_norm sums in bfloat16 unless told otherwise, layer_norm in float32: the defaults of their
 * compute kernel configs differ.
 */
static tt_status layer_norm_expand(struct tt_call *call)
{
	bool rms = *(const bool *)call->entry->op->row;
	struct tt_norm_args args = {
		.type = rms ? TT_NORM_RMS : TT_NORM_LAYER,
		.inputs = {tt_call_tensor(call, "input_tensor"),
			   tt_call_tensor(call, "residual_input_tensor"),
			   tt_call_tensor(call, "weight"), tt_call_tensor(call, "bias")},
		.memory = tt_call_memory(call, "memory_config"),
		.config = tt_call_arg(call, "program_config"),
		.dtype = ttnn_v_none(),
		.eps = tt_call_real(call, "epsilon", 1e-12),
	};
	/* The operation with a function of the results sums float32 as it is, and takes rows. */
	bool fused = tt_sig_index(call->args->sig, "activation") >= 0;
	bool whole = fused && args.inputs[0]->spec.dtype == TTNN_FLOAT32;
	const struct tt_compute_usual usual = {
		.fidelity = whole ? TT_HIFI3 : TT_HIFI4, .approx = rms, .fp32 = !rms || whole};
	struct tt_tensor *in = args.inputs[0], *out;

	TT_REQUIRE(!rms || fused || in->spec.layout != TTNN_ROW_MAJOR,
		   "input_tensor.layout() != Layout::ROW_MAJOR",
		   "ttnn::rms_norm does not support ROW_MAJOR input tensors. Use TILE layout.");
	if (volume_of(&in->spec) == 0)
		return nothing(call, in);
	args.compute = tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	TT_TRY(tt_activation_of(&args.activation, call->arena, tt_call_arg(call, "activation")));
	return tt_call_give(call, tt_norm_launch(&out, call, &args), &out);
}

static const bool is_layer = false, is_rms = true;

#define SIG                                                                                         \
	"input_tensor: Tensor, *, epsilon: float = 1e-12, weight: Tensor? = None, bias: Tensor? = " \
	"None, residual_input_tensor: Tensor? = None, memory_config: MemoryConfig? = None, "        \
	"program_config: ProgramConfig? = None, compute_kernel_config: ComputeConfig? = None"
static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.dit_rms_norm_unary_fused",
	 .doc = "Each row divided by the root of the mean of its squares, and a function of that.",
	 .sigs = {"input_tensor: Tensor, epsilon: float = 1e-5, weight: Tensor? = None, "
		  "bias: Tensor? = None, residual_input_tensor: Tensor? = None, *, "
		  "memory_config: MemoryConfig? = None, program_config: ProgramConfig? = None, "
		  "compute_kernel_config: ComputeConfig? = None, "
		  "activation: str | UnaryWithParam ? = None"},
	 .expand = layer_norm_expand,
	 .golden = tt_golden_norm,
	 .row = &is_rms,
	 TT_PROGRAMS(&program)},
	{.name = "ttnn.layer_norm",
	 .doc = "Each row with its mean taken off and divided by its deviation.",
	 .sigs = {SIG ", recip_tensor: Tensor? = None"},
	 .expand = layer_norm_expand,
	 .golden = tt_golden_norm,
	 .row = &is_layer,
	 TT_PROGRAMS(&program)},
	{.name = "ttnn.rms_norm",
	 .doc = "Each row divided by the root of the mean of its squares.",
	 .sigs = {SIG},
	 .expand = layer_norm_expand,
	 .golden = tt_golden_norm,
	 .row = &is_rms,
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_norm = {"norm", ops, TT_COUNT(ops)};
