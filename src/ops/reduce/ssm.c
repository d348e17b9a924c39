/*
 * ssm.c: what state space models (Mamba) do with their states: 32 of them for each channel, side by side in a
 * row. Models the three device operations of ttnn 0.81's experimental/ssm with their one factory each: memory,
 * cores, refusals. Not modelled: rounding between two steps of a scan.
 */
#include "backend/backend.h"
#include "golden/golden_reduction.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"
#include "ops/op_enums.h"

#define CHANNELS 5120 /* the one width that the product is written for: Mamba 2.8B's */
#define LATENT 32     /* states of a channel */
#define CHUNK 32      /* tiles of a row that a scan takes at once */

#define ATTRS(X)                                                                                   \
	X(MEMORY, "memory_config")                                                                 \
	X(DTYPE, "dtype")                                                                          \
	X(FIDELITY, "math_fidelity")
TT_ATTRS(mul_schema, "RepeatMulParams", ATTRS);
static const struct tt_schema sum_schema = {"HcSumReduceParams", mul_schema_fields,
					    mul_schema_count, false};
static const struct tt_schema scan_schema = {"PrefixScanParams", mul_schema_fields,
					     mul_schema_count, false};

static enum ttnn_dtype dtype_of(const struct tt_launch *launch)
{
	return (enum ttnn_dtype)launch->attrs[DTYPE].integer;
}

static bool is_short_float(enum ttnn_dtype dtype)
{
	return dtype == TTNN_BFLOAT16 || dtype == TTNN_BFLOAT8_B;
}

static bool is_interleaved(const struct ttnn_memory_config *memory)
{
	return memory->layout == TTNN_INTERLEAVED;
}

/* A result in tiles, as wide as said, as tall as the padded input. */
static tt_status infer_wide(struct tt_launch *launch, uint32_t width)
{
	struct ttnn_shape shape = launch->inputs[0]->spec.padded;

	shape.dim[shape.rank - 1] = width;
	return tt_infer_one(launch, &shape, dtype_of(launch), TTNN_TILE);
}

static uint32_t wide(const struct tt_tensor *tensor)
{
	return tt_shape_last(&tensor->spec.padded, 1);
}

/* ---- the product -------------------------------------------------------------------------------------- */

static tt_status mul_infer(struct tt_launch *launch)
{
	return infer_wide(launch, LATENT * CHANNELS);
}

/* Interleaved tiles of bfloat16 or block floats. */
static tt_status mul_types(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[0]->spec, *b = &launch->inputs[1]->spec;

	TT_REQUIRE(a->layout == TTNN_TILE && b->layout == TTNN_TILE,
		   "(input_tensor_a.layout() == Layout::TILE && input_tensor_b.layout() == "
		   "Layout::TILE)",
		   "Inputs to ssm_eltwise_mul must be tilized");
	TT_REQUIRE(is_interleaved(&a->memory),
		   "input_tensor_a.memory_config().memory_layout() == "
		   "TensorMemoryLayout::INTERLEAVED",
		   "Unsupported memory layout for input a!");
	TT_REQUIRE(is_interleaved(&b->memory),
		   "input_tensor_b.memory_config().memory_layout() == "
		   "TensorMemoryLayout::INTERLEAVED",
		   "Unsupported memory layout for input b!");
	TT_REQUIRE(is_short_float(a->dtype),
		   "input_tensor_a.dtype() == tt::tt_metal::DataType::BFLOAT16 || "
		   "input_tensor_a.dtype() == tt::tt_metal::DataType::BFLOAT8_B",
		   "Unsupported data format for input a!");
	TT_REQUIRE(is_short_float(b->dtype),
		   "input_tensor_b.dtype() == tt::tt_metal::DataType::BFLOAT16 || "
		   "input_tensor_b.dtype() == tt::tt_metal::DataType::BFLOAT8_B",
		   "Unsupported data format for input b!");
	TT_REQUIRE(is_interleaved(launch->attrs[MEMORY].memory),
		   "out_memory_config.memory_layout() == TensorMemoryLayout::INTERLEAVED",
		   "Unsupported memory layout for output!");
	TT_REQUIRE(is_short_float(dtype_of(launch)),
		   "output_datatype == tt::tt_metal::DataType::BFLOAT16 || output_datatype == "
		   "tt::tt_metal::DataType::BFLOAT8_B",
		   "Unsupported data format for output!");
	return TTNN_OK;
}

/* One of the operands is to be repeated: equal widths are refused. */
static tt_status mul_validate(struct tt_launch *launch)
{
	const struct ttnn_shape *a = &launch->inputs[0]->spec.padded,
				*b = &launch->inputs[1]->spec.padded;

	TT_TRY(mul_types(launch));
	TT_REQUIRE(a->rank == 4 && b->rank == 4, "rank == 4",
		   "repeat_and_interleave_eltwise_mul wants tensors of rank 4");
	TT_REQUIRE(a->dim[0] == 1 && a->dim[1] == 1, "(ashape[0] == 1 and ashape[1] == 1)",
		   "Batch not supported for input a!");
	TT_REQUIRE(b->dim[0] == 1 && b->dim[1] == 1, "(bshape[0] == 1 and bshape[1] == 1)",
		   "Batch not supported for input b!");
	TT_REQUIRE(a->dim[2] == b->dim[2], "(ashape[2] == bshape[2])",
		   "Num of users must match in both of the input!");
	TT_REQUIRE(a->dim[3] != b->dim[3], "(ashape[3] != bshape[3])",
		   "Use eltwise mul for same size inputs!");
	TT_REQUIRE(a->dim[3] == LATENT || a->dim[3] == LATENT * CHANNELS,
		   "(ashape[3] == TILE_WIDTH || ashape[3] == TILE_WIDTH * HIDDEN_SIZE)",
		   "Input a width must be 32 or 32*5120!");
	TT_REQUIRE(b->dim[3] == CHANNELS || b->dim[3] == LATENT * CHANNELS,
		   "(bshape[3] == HIDDEN_SIZE || bshape[3] == TILE_WIDTH * HIDDEN_SIZE)",
		   "Input b width must be 32 or 32*5120!");
	return TTNN_OK;
}

/* Tiles are transposed to multiply a column of states with a row of channels. */
static tt_status mul_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const uint64_t between = tt_page_bf16(launch);
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_for(&cores, launch, wide(launch->inputs[1]) / TT_TILE));
	return TT_PLAN(plan, cores, TT_DFB_ROW(0, "in0", .pages = 2, .page = tt_page_in0(launch)),
		       TT_DFB_ROW(1, "in1", .pages = 2, .page = tt_page_in1(launch)),
		       TT_DFB_ROW(2, "out", .pages = 2, .page = tt_page_out0(launch)),
		       TT_DFB_ROW(3, "in0_transposed", .pages = 2, .page = between),
		       TT_DFB_ROW(4, "in1_transposed", .pages = 2, .page = between),
		       TT_DFB_ROW(5, "in1_bcast_row", .pages = 2, .page = between),
		       TT_DFB_ROW(6, "out_transposed", .pages = 2, .page = between));
}

static tt_status mul_kernel(struct tt_launch *launch)
{
	return tt_backend_get()->states(&(struct tt_states_job){.kind = TT_STATES_SPREAD,
								.out = launch->outputs[0],
								.a = launch->inputs[0],
								.b = launch->inputs[1],
								.latent = LATENT});
}

static const struct tt_prog mul_prog = {
	.device_op = "RepeatAndInterleaveEltwiseMulDeviceOperation",
	.prim = "ttnn::prim::repeat_and_interleave_eltwise_mul",
	.attrs = &mul_schema,
	.infer = mul_infer,
	.validate = mul_validate,
	TT_FACTORY("ttnn::experimental::prim::RepeatAndInterleaveEltwiseMulProgramFactory",
		   mul_memory),
	TT_KERNEL(mul_kernel),
};

/* ---- the sum ------------------------------------------------------------------------------------------ */

static tt_status sum_infer(struct tt_launch *launch)
{
	return infer_wide(launch, wide(launch->inputs[0]) / LATENT);
}

/* 32 neighbours are one state each. */
static tt_status sum_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_shape *shape = &in->padded;

	TT_REQUIRE(in->layout == TTNN_TILE, "(input_tensor_a.layout() == Layout::TILE)",
		   "Inputs to ssm_1d_sum_reduce must be tilized");
	TT_REQUIRE(is_interleaved(&in->memory),
		   "input_tensor_a.memory_config().memory_layout() == "
		   "TensorMemoryLayout::INTERLEAVED",
		   "Unsupported memory layout for input a!");
	TT_REQUIRE(is_short_float(in->dtype),
		   "input_tensor_a.dtype() == tt::tt_metal::DataType::BFLOAT16 || "
		   "input_tensor_a.dtype() == tt::tt_metal::DataType::BFLOAT8_B",
		   "Unsupported data format for input a!");
	TT_REQUIRE(is_interleaved(launch->attrs[MEMORY].memory),
		   "args.memory_config.memory_layout() == TensorMemoryLayout::INTERLEAVED",
		   "Unsupported memory layout for output!");
	TT_REQUIRE(is_short_float(dtype_of(launch)),
		   "args.dtype == tt::tt_metal::DataType::BFLOAT16 || args.dtype == "
		   "tt::tt_metal::DataType::BFLOAT8_B",
		   "Unsupported data format for output!");
	TT_REQUIRE(shape->rank == 4, "rank == 4", "hc_sum_reduce wants a tensor of rank 4");
	TT_REQUIRE(shape->dim[0] == 1 && shape->dim[1] == 1, "(ashape[0] == 1 and ashape[1] == 1)",
		   "Dim 1 and 2 are expected to be 1 in input a!");
	TT_REQUIRE(shape->dim[3] / TT_TILE % LATENT == 0,
		   "((ashape[3] / TILE_WIDTH) % latent == 0)",
		   "Final dim/TILE_SIZE must be a multiple of latent size!");
	return TTNN_OK;
}

/* What is between input and output is bfloat16. */
static tt_status ssm_sum_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const uint64_t between = tt_page_bf16(launch);
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_for(&cores, launch, wide(launch->inputs[0]) / (TT_TILE * LATENT)));
	return TT_PLAN(plan, cores, TT_CB_ROW(0, "input", .pages = 2, .page = tt_page_in0(launch)),
		       TT_CB_ROW(2, "scalar", .pages = 2, .page = between),
		       TT_CB_ROW(24, "intermed0", .pages = 2, .page = between),
		       TT_CB_ROW(25, "intermed1", .pages = 2, .page = between),
		       TT_CB_ROW(26, "intermed2", .pages = 2, .page = between),
		       TT_CB_ROW(16, "output", .pages = 2, .page = tt_page_in0(launch)));
}

static tt_status ssm_sum_kernel(struct tt_launch *launch)
{
	return tt_backend_get()->states(&(struct tt_states_job){.kind = TT_STATES_SUM,
								.out = launch->outputs[0],
								.a = launch->inputs[0],
								.latent = LATENT});
}

static const struct tt_prog sum_prog = {
	.device_op = "HCSumReduceDeviceOperation",
	.prim = "ttnn::prim::hc_sum_reduce",
	.attrs = &sum_schema,
	.infer = sum_infer,
	.validate = sum_validate,
	TT_FACTORY("ttnn::experimental::prim::HCSumReduceProgramFactory", ssm_sum_memory),
	TT_KERNEL(ssm_sum_kernel),
};

/* ---- the scan ----------------------------------------------------------------------------------------- */

enum { SCAN_A, SCAN_BX, SCAN_STATE };

/* Behind the result the state, in which the last row is left. */
static tt_status ssm_scan_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[SCAN_A]->spec;

	TT_TRY(tt_infer_one(launch, &a->shape, dtype_of(launch), TTNN_TILE));
	if (tt_infer_given(launch, 1))
		launch->output_count = 2;
	return TTNN_OK;
}

/* All three sharded, row by row. */
static tt_status scan_shards(struct tt_launch *launch)
{
	static const char *const names[] = {"A", "Bx", "h"};
	static const char *const conditions[] = {
		"a.shard_spec().value().orientation == ShardOrientation::ROW_MAJOR",
		"bx.shard_spec().value().orientation == ShardOrientation::ROW_MAJOR",
		"h_prev.shard_spec().value().orientation == ShardOrientation::ROW_MAJOR"};
	bool sharded = true, specified = true;

	for (int i = 0; i < 3; i++) {
		const struct ttnn_memory_config *memory = &launch->inputs[i]->spec.memory;

		sharded = sharded && !is_interleaved(memory);
		specified = specified && memory->has_shard;
	}
	TT_REQUIRE(sharded, "a.is_sharded() && bx.is_sharded() && h_prev.is_sharded()",
		   "Expected input tensors to be sharded");
	TT_REQUIRE(specified,
		   "a.shard_spec().has_value() && bx.shard_spec().has_value() && "
		   "h_prev.shard_spec().has_value()",
		   "Expected input tensors to be sharded");
	for (int i = 0; i < 3; i++)
		TT_REQUIRE(
			launch->inputs[i]->spec.memory.shard.orientation == TTNN_ORIENT_ROW_MAJOR,
			conditions[i], "Expected %s tensor to be row major orientation", names[i]);
	return TTNN_OK;
}

/* A state for each column. */
static tt_status ssm_scan_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[SCAN_A]->spec,
				      *bx = &launch->inputs[SCAN_BX]->spec,
				      *state = &launch->inputs[SCAN_STATE]->spec;
	const struct ttnn_shape *shape = &a->padded;

	TT_REQUIRE(a->dtype == bx->dtype, "a.dtype() == bx.dtype()",
		   "Expected input tensors to have the same data type");
	TT_REQUIRE(a->layout == TTNN_TILE && bx->layout == TTNN_TILE,
		   "a.layout() == Layout::TILE && bx.layout() == Layout::TILE",
		   "Expected input tensors to be tile layout");
	TT_REQUIRE(ttnn_shape_equal(&a->padded, &bx->padded),
		   "a.padded_shape() == bx.padded_shape()",
		   "Expected input tensors to have the same shape");
	TT_REQUIRE(shape->rank == 4, "shape.rank() == 4", "Expected input tensors to be rank 4");
	TT_REQUIRE(shape->dim[0] == 1 && shape->dim[1] == 1, "shape[0] == 1 && shape[1] == 1",
		   "Dimension 0 and 1 should be size 1");
	TT_REQUIRE(shape->dim[2] >= TT_TILE,
		   "shape[2] >= tt::constants::TILE_HEIGHT && shape[2] % "
		   "tt::constants::TILE_HEIGHT == 0",
		   "Sequence length should be a multiple of 32");
	TT_REQUIRE(state->dtype == TTNN_BFLOAT16, "h_prev.dtype() == DataType::BFLOAT16",
		   "Expected initial hidden state to be bfloat16");
	TT_REQUIRE(state->layout == TTNN_ROW_MAJOR, "h_prev.layout() == Layout::ROW_MAJOR",
		   "Expected initial hidden state to be row-major");
	TT_TRY(scan_shards(launch));
	/* Upstream reads past the end of a shorter state. */
	TT_REQUIRE(tt_shape_last(&state->shape, 1) >= tt_shape_last(&a->shape, 1),
		   "h_prev.shape[-1] >= shape[3]", "Expected a hidden state for each column");
	return TTNN_OK;
}

/* CHUNK tiles at a time go through rows and back; the states of all columns stay. */
static tt_status ssm_scan_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_shard_spec *shard = &launch->inputs[SCAN_A]->spec.memory.shard;
	uint64_t wide = shard->width / TT_TILE, high = shard->height / TT_TILE;
	uint64_t in = tt_page_in0(launch), between = tt_page_bf16(launch);

	return TT_PLAN(
		plan, shard->grid, TT_CB_ROW(0, "a_in", .pages = CHUNK, .page = in),
		TT_CB_ROW(24, "a_tilize_in", .pages = CHUNK, .page = between),
		TT_CB_ROW(25, "bx_tilize_in", .pages = CHUNK, .page = between),
		TT_CB_ROW(26, "tilize_out", .pages = CHUNK, .page = between),
		TT_CB_ROW(27, "h_prev", .pages = 2, .page = between),
		TT_CB_ROW(28, "ah", .pages = 2, .page = between),
		TT_CB_ROW(29, "h", .pages = 2, .page = between),
		TT_CB_ROW(31, "h_acc", .pages = tt_div_up(wide, CHUNK), .page = between),
		TT_CB_ROW(2, "h_in", .pages = wide, .page = 2 * TT_TILE),
		/* A chunk that is not full is written aside, and what there is of it copied. */
		TT_CB_ROW(30, "out_staging", .pages = wide % CHUNK ? CHUNK : 0, .page = in),
		TT_CB_ROW(16, "out", .pages = wide * high, .page = in,
			  .backing = launch->outputs[0]));
}

static tt_status ssm_scan_kernel(struct tt_launch *launch)
{
	return tt_backend_get()->states(&(struct tt_states_job){.kind = TT_STATES_SCAN,
								.out = launch->outputs[0],
								.a = launch->inputs[SCAN_A],
								.b = launch->inputs[SCAN_BX],
								.state = launch->outputs[1]});
}

static const struct tt_prog scan_prog = {
	.device_op = "PrefixScanDeviceOperation",
	.prim = "ttnn::prim::prefix_scan",
	.attrs = &scan_schema,
	.infer = ssm_scan_infer,
	.validate = ssm_scan_validate,
	TT_FACTORY("ttnn::experimental::prim::PrefixScanProgramFactory", ssm_scan_memory),
	TT_KERNEL(ssm_scan_kernel),
	.emits = 1,
};

/* ---- the operations ----------------------------------------------------------------------------------- */

/* The attributes, from the arguments or the first tensor. */
static struct ttnn_value dtype_or_like(const struct tt_call *call, const struct tt_tensor *like)
{
	return ttnn_v_dtype(tt_call_dtype(call, "dtype", like->spec.dtype));
}

static struct ttnn_value fidelity_of(const struct tt_call *call)
{
	const struct ttnn_value *given = tt_call_arg(call, "math_fidelity");

	return tt_value_given(given) ? *given : tt_value_enum(&tt_enum_math_fidelity, TT_HIFI4);
}

/* Both tensors on the device. */
static tt_status mul_expand(struct tt_call *call)
{
	struct tt_tensor *a = tt_call_tensor(call, "a"), *b = tt_call_tensor(call, "b");

	TT_TRY(tt_need_device(a));
	TT_TRY(tt_need_device(b));
	return TT_LAUNCH_RETURN(
		call, &mul_prog, TT_INPUTS(a, b),
		TT_BIND(call, mul_schema, [MEMORY] = tt_value_memory_or_like(call, a),
			[DTYPE] = dtype_or_like(call, a), [FIDELITY] = fidelity_of(call)));
}

/* The same attributes as the product. */
static tt_status ssm_sum_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input");

	TT_TRY(tt_need_device(in));
	return TT_LAUNCH_RETURN(
		call, &sum_prog, TT_INPUTS(in),
		TT_BIND(call, mul_schema, [MEMORY] = tt_value_memory_or_like(call, in),
			[DTYPE] = dtype_or_like(call, in), [FIDELITY] = fidelity_of(call)));
}

/* The last state is written into h_prev and not returned. */
static tt_status ssm_scan_expand(struct tt_call *call)
{
	struct tt_tensor *a = tt_call_tensor(call, "a"), *bx = tt_call_tensor(call, "bx"),
			 *state = tt_call_tensor(call, "h_prev"), *out[TT_OUTPUTS_MAX];
	size_t count;

	TT_TRY(tt_need_device(a));
	TT_TRY(tt_need_device(bx));
	TT_TRY(tt_need_device(state));
	TT_TRY(tt_call_programs(
		out, &count, call,
		&(struct tt_program_args){
			.prog = &scan_prog,
			TT_INPUTS(a, bx, state),
			TT_OUTPUTS(NULL, state),
			.in_place = true,
			TT_BIND(call, mul_schema, [MEMORY] = tt_value_memory_or_like(call, a),
				[DTYPE] = dtype_or_like(call, a),
				[FIDELITY] = fidelity_of(call))}));
	tt_call_return(call, out[0]);
	if (count > 1)
		ttnn_tensor_unref(out[1]);
	return TTNN_OK;
}

#define TAIL                                                                                       \
	": Tensor, *, memory_config: MemoryConfig? = None, dtype: DataType? = None, "              \
	"math_fidelity: MathFidelity? = None"

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.repeat_and_interleave_eltwise_mul",
	 .doc = "a × b, where a row of 32 states is repeated and each of 5120 channels counts for 32.",
	 .sigs = {"a: Tensor, b" TAIL},
	 .expand = mul_expand,
	 .golden = tt_golden_spread_product},
	{.name = "ttnn.experimental.hc_sum_reduce",
	 .doc = "The sum of each 32 neighbours in a row.",
	 .sigs = {"input" TAIL},
	 .expand = ssm_sum_expand,
	 .golden = tt_golden_neighbour_sum},
	{.name = "ttnn.experimental.prefix_scan",
	 .doc = "h = a × h + bx, row after row; the last h stays in h_prev.",
	 .sigs = {"a: Tensor, bx: Tensor, h_prev" TAIL},
	 .expand = ssm_scan_expand,
	 .golden = tt_golden_prefix_scan},
};

const struct tt_op_family tt_family_ssm = {"ssm", ops, TT_COUNT(ops)};
