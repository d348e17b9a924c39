/*
 * kda_norm.c: heads after linear attention with gates (Kimi Delta Attention): each divided by its root mean square, times weights and the
 * sigmoid of a gate, put beside each other: kda.sigmoid_gated_rms_norm.
 *
 * Models SigmoidGatedRmsNormOperation of ttnn 0.81 with its one factory: specs, refusals, memory, cores.
 */
#include <inttypes.h>
#include <math.h>

#include "ops/attention/attention.h"
#include "ops/compute.h"
#include "ops/creation/creation.h"
#include "ops/usual.h"
#include "ops/values.h"

#define ATTRS(X)                                                                                   \
	X(BATCH, "batch")                                                                          \
	X(HEADS, "num_heads")                                                                      \
	X(ROWS, "sequence")                                                                        \
	X(WIDTH, "value_dim")                                                                      \
	X(EPSILON, "epsilon")                                                                      \
	X(MEMORY, "output_mem_config")                                                             \
	X(DTYPE, "output_dtype")                                                                   \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(OFFSET, "gate_column_offset")
TT_ATTRS(schema, "SigmoidGatedRmsNormParams", ATTRS);
enum { IN, GATE, WEIGHT };

/* ---- specs and refusals ------------------------------------------------------------------------------------------- */

static tt_status kda_norm_infer(struct tt_launch *launch)
{
	struct ttnn_shape shape = {3,
				   {tt_attr_u32(launch, BATCH), tt_attr_u32(launch, ROWS),
				    tt_attr_u32(launch, HEADS) * tt_attr_u32(launch, WIDTH)}};

	return tt_spec_simple(&launch->specs[0], &shape,
			      (enum ttnn_dtype)launch->attrs[DTYPE].integer, TTNN_TILE,
			      launch->attrs[MEMORY].memory);
}

static tt_status check_tensor(const struct tt_launch *launch, int input, const char *name)
{
	const struct ttnn_tensor_spec *spec = &launch->inputs[input]->spec;
	bool fits = spec->dtype == TTNN_BFLOAT16 || (input == IN && spec->dtype == TTNN_FLOAT32);

	TT_REQUIRE(spec->layout == TTNN_TILE, "tensor.layout() == Layout::TILE",
		   "sigmoid_gated_rms_norm: %s must use TILE layout", name);
	TT_REQUIRE(!tt_memory_config_is_sharded(&spec->memory), "!tensor.is_sharded()",
		   "sigmoid_gated_rms_norm: %s must use interleaved memory", name);
	TT_REQUIRE(fits, "std::find(dtypes.begin(), dtypes.end(), tensor.dtype()) != dtypes.end()",
		   "sigmoid_gated_rms_norm: %s has unsupported dtype DataType::%s", name,
		   tt_enum_name(&tt_enum_dtype, (int64_t)spec->dtype));
	return TTNN_OK;
}

static tt_status check_options(const struct tt_launch *launch)
{
	enum ttnn_dtype dtype = (enum ttnn_dtype)launch->attrs[DTYPE].integer;
	double epsilon = launch->attrs[EPSILON].real;

	TT_REQUIRE(dtype == TTNN_FLOAT32 || dtype == TTNN_BFLOAT16,
		   "attrs.output_dtype == DataType::FLOAT32 || attrs.output_dtype == "
		   "DataType::BFLOAT16",
		   "sigmoid_gated_rms_norm: output_dtype must be FLOAT32 or BFLOAT16");
	TT_REQUIRE(!tt_memory_config_is_sharded(launch->attrs[MEMORY].memory),
		   "!attrs.output_mem_config.is_sharded()",
		   "sigmoid_gated_rms_norm: output memory configuration must be interleaved");
	TT_REQUIRE(isfinite(epsilon) && epsilon > 0,
		   "std::isfinite(attrs.epsilon) && attrs.epsilon > 0.0F",
		   "sigmoid_gated_rms_norm: epsilon must be finite and positive");
	TT_REQUIRE(!tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_L1_ACC),
		   "!attrs.compute_kernel_config.packer_l1_acc",
		   "sigmoid_gated_rms_norm: packer_l1_acc=true is unsupported because the compute "
		   "kernel does not accumulate through L1");
	return TTNN_OK;
}

static tt_status check_gate(const struct tt_launch *launch)
{
	const struct ttnn_shape *gate = &launch->inputs[GATE]->spec.shape;
	const struct ttnn_shape *weight = &launch->inputs[WEIGHT]->spec.shape;
	uint64_t offset = tt_attr_u32(launch, OFFSET), width = tt_attr_u32(launch, WIDTH);
	uint64_t columns = tt_attr_u32(launch, HEADS) * width;

	TT_REQUIRE(gate->rank == 3, "gate_shape.rank() == 3",
		   "sigmoid_gated_rms_norm: gate must be rank 3 [B,T,W]");
	TT_REQUIRE(weight->rank == 1, "weight_shape.rank() == 1",
		   "sigmoid_gated_rms_norm: weight must be [V]");
	TT_REQUIRE(offset % TT_TILE == 0,
		   "attrs.gate_column_offset % tt::constants::TILE_WIDTH == 0",
		   "sigmoid_gated_rms_norm: gate_column_offset must be tile aligned");
	TT_REQUIRE(
		gate->dim[0] == tt_attr_u32(launch, BATCH) &&
			gate->dim[1] == tt_attr_u32(launch, ROWS) &&
			gate->dim[2] >= offset + columns,
		"gate_shape[0] == attrs.batch && gate_shape[1] == attrs.sequence && "
		"gate_shape[2] >= attrs.gate_column_offset + gate_width",
		"sigmoid_gated_rms_norm: gate Shape([%u, %u, %u]) must be [B, T, W] and hold H*V "
		"= %" PRIu64 " columns at gate_column_offset %" PRIu64,
		gate->dim[0], gate->dim[1], gate->dim[2], columns, offset);
	TT_REQUIRE(weight->dim[0] == width, "in.weight.logical_volume() == attrs.value_dim",
		   "sigmoid_gated_rms_norm: weight volume must equal V");
	return TTNN_OK;
}

static tt_status kda_norm_validate(struct tt_launch *launch)
{
	uint32_t rows = tt_attr_u32(launch, ROWS), width = tt_attr_u32(launch, WIDTH);

	TT_TRY(check_tensor(launch, IN, "input"));
	TT_TRY(check_tensor(launch, GATE, "gate"));
	TT_TRY(check_tensor(launch, WEIGHT, "weight"));
	TT_TRY(check_options(launch));
	TT_TRY(check_gate(launch));
	TT_REQUIRE(tt_attr_u32(launch, BATCH) > 0, "attrs.batch > 0",
		   "sigmoid_gated_rms_norm: batch must be positive");
	TT_REQUIRE(rows > 0 && rows % TT_TILE == 0,
		   "attrs.sequence > 0 && attrs.sequence % tt::constants::TILE_HEIGHT == 0",
		   "sigmoid_gated_rms_norm: sequence must be positive and tile aligned");
	TT_REQUIRE(width > 0 && width % TT_TILE == 0,
		   "attrs.value_dim > 0 && attrs.value_dim % tt::constants::TILE_WIDTH == 0",
		   "sigmoid_gated_rms_norm: value_dim must be positive and tile aligned");
	return TTNN_OK;
}

/* ---- the program ---------------------------------------------------------------------------------------------------- */

/* As few cores as do not take longer than all. */
static tt_status kda_norm_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct ttnn_core grid = launch->device->info.compute_grid;
	uint64_t all = (uint64_t)launch->inputs[IN]->spec.shape.dim[0] *
		       (tt_attr_u32(launch, ROWS) / TT_TILE);
	uint64_t each = tt_div_up(all, (uint64_t)grid.x * grid.y);
	uint64_t width = tt_attr_u32(launch, WIDTH) / TT_TILE;
	uint64_t small = tt_tile_bytes_of(TTNN_BFLOAT16), large = tt_tile_bytes_of(TTNN_FLOAT32);
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, grid, tt_div_up(all, each), TTNN_ORIENT_ROW_MAJOR));
	return TT_PLAN(plan, split.all,
		       TT_DFB_ROW(0, "x", .pages = 2 * width,
				  .page = tt_tensor_tile_bytes(launch->inputs[IN])),
		       TT_DFB_ROW(1, "gate", .pages = 2 * width, .page = small),
		       TT_DFB_ROW(2, "weight", .pages = width, .page = small),
		       TT_DFB_ROW(3, "tmp", .pages = width, .page = large),
		       TT_DFB_ROW(4, "stats", .pages = 1, .page = large),
		       TT_DFB_ROW(5, "inv", .pages = 1, .page = large),
		       TT_DFB_ROW(6, "norm", .pages = width, .page = large),
		       TT_DFB_ROW(7, "out", .pages = 2 * width,
				  .page = tt_tensor_tile_bytes(launch->outputs[0])),
		       TT_DFB_ROW(8, "scaler", .pages = 1, .page = large),
		       TT_DFB_ROW(9, "epsilon", .pages = 1, .page = small));
}

/* A row of one head. */
static void norm_row(float *out, const double *in, const double *gate, const double *weight,
		     const double size[2])
{
	uint64_t width = (uint64_t)size[0];
	double sum = 0, factor;

	for (uint64_t i = 0; i < width; i++)
		sum += in[i] * in[i];
	factor = 1 / sqrt(sum / size[0] + size[1]);
	for (uint64_t i = 0; i < width; i++)
		out[i] = (float)(in[i] * factor * weight[i] / (1 + exp(-gate[i])));
}

static tt_status kda_norm_kernel(struct tt_launch *launch)
{
	uint64_t heads = tt_attr_u32(launch, HEADS), rows = tt_attr_u32(launch, ROWS), count;
	uint64_t width = tt_attr_u32(launch, WIDTH), wide = launch->inputs[GATE]->spec.shape.dim[2];
	const double size[] = {(double)width, launch->attrs[EPSILON].real};
	double *in, *gate, *weight;
	float *out;

	TT_TRY(tt_values_of(&gate, &count, launch, GATE));
	TT_TRY(tt_values_of(&weight, &count, launch, WEIGHT));
	TT_TRY(tt_values_of(&in, &count, launch, IN));
	out = tt_arena_alloc(launch->arena, (count + 1) * sizeof(*out));
	TT_NEED_MEMORY(out);
	for (uint64_t n = 0; n < count / width; n++) {
		uint64_t row = n % rows, head = n / rows % heads, batch = n / rows / heads;
		uint64_t place = batch * rows + row;

		norm_row(&out[(place * heads + head) * width], &in[n * width],
			 &gate[place * wide + tt_attr_u32(launch, OFFSET) + head * width], weight,
			 size);
	}
	return tt_values_write(launch->outputs[0], out, TTNN_FLOAT32);
}

static const struct tt_prog program = {
	.device_op = "SigmoidGatedRmsNormOperation",
	.prim = "ttnn::prim::sigmoid_gated_rms_norm",
	.attrs = &schema,
	.infer = kda_norm_infer,
	.validate = kda_norm_validate,
	TT_FACTORY("ttnn::experimental::prim::SigmoidGatedRmsNormProgramFactory", kda_norm_memory),
	TT_KERNEL(kda_norm_kernel),
};

static tt_status kda_norm_expand(struct tt_call *call)
{
	static const struct ttnn_memory_config dram;
	static const struct tt_compute_usual usual = {
		.fidelity = TT_HIFI4, .approx = true, .fp32 = true};
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct tt_tensor *in = tt_call_tensor(call, "input"), *gate = tt_call_tensor(call, "gate");
	struct tt_tensor *weight = tt_call_tensor(call, "weight");
	int64_t heads = tt_call_int(call, "num_heads", 0);

	TT_TRY(tt_need_device(in));
	TT_TRY(tt_need_device(gate));
	TT_TRY(tt_need_device(weight));
	TT_REQUIRE(in->spec.shape.rank == 3, "input_shape.rank() == 3",
		   "sigmoid_gated_rms_norm: input must be [B*H,T,V]");
	TT_REQUIRE(heads > 0, "num_heads > 0",
		   "sigmoid_gated_rms_norm: num_heads must be positive");
	TT_REQUIRE(in->spec.shape.dim[0] % heads == 0, "input_shape[0] % num_heads == 0",
		   "sigmoid_gated_rms_norm: leading dimension must be divisible by num_heads");
	return TT_LAUNCH_RETURN(
		call, &program, TT_INPUTS(in, gate, weight),
		TT_BIND(call, schema, [BATCH] = ttnn_v_int(in->spec.shape.dim[0] / heads),
			[ROWS] = ttnn_v_int(in->spec.shape.dim[1]),
			[WIDTH] = ttnn_v_int(in->spec.shape.dim[2]),
			[EPSILON] = ttnn_v_real((float)tt_call_real(call, "epsilon", 1e-5)),
			[MEMORY] = ttnn_v_memory(memory ? memory : &dram),
			[DTYPE] = ttnn_v_dtype(tt_call_dtype(call, "output_dtype", TTNN_FLOAT32)),
			[COMPUTE] = tt_compute_config(
				call, tt_call_arg(call, "compute_kernel_config"), &usual)));
}

/* ---- the golden ------------------------------------------------------------------------------------------------------ */

/* Number after number of the result. */
static tt_status golden_kda_norm(struct tt_golden *golden)
{
	const struct tt_call *call = &golden->call;
	const struct tt_array *in = tt_golden_in(golden, "input"),
			      *gate = tt_golden_in(golden, "gate");
	const struct tt_array *weight = tt_golden_in(golden, "weight");
	uint64_t heads = (uint64_t)tt_call_int(call, "num_heads", 1);
	uint64_t offset = (uint64_t)tt_call_int(call, "gate_column_offset", 0), rows, width;
	double epsilon = tt_call_real(call, "epsilon", 1e-5);
	struct tt_array *out;

	TT_GOLDEN_NEED(in && gate && weight && heads);
	rows = in->shape.dim[1];
	width = in->shape.dim[2];
	TT_GOLDEN_NEED(rows && width);
	out = tt_golden_out(golden,
			    &(struct ttnn_shape){3,
						 {(uint32_t)(in->shape.dim[0] / heads),
						  (uint32_t)rows, (uint32_t)(heads * width)}},
			    tt_call_dtype(call, "output_dtype", TTNN_FLOAT32));
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t column = i % (heads * width), place = i / (heads * width);
		uint64_t head = place / rows * heads + column / width;
		uint64_t first = (head * rows + place % rows) * width;
		double mean = epsilon;

		for (uint64_t k = 0; k < width; k++)
			mean += pow(*tt_at(in, first + k), 2) / (double)width;
		*tt_at(out, i) =
			*tt_at(in, first + column % width) / sqrt(mean) *
			*tt_at(weight, column % width) /
			(1 + exp(-*tt_at(gate, place * gate->shape.dim[2] + offset + column)));
	}
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.kda.sigmoid_gated_rms_norm",
	 .doc = "Heads divided by their root mean square, times weights and the sigmoid of a gate, beside each "
		"other.",
	 .sigs = {"input: Tensor, gate: Tensor, weight: Tensor, num_heads: size, *, epsilon: float = "
		  "1e-5, memory_config: MemoryConfig? = None, compute_kernel_config: ComputeConfig? = "
		  "None, output_dtype: DataType = FLOAT32, gate_column_offset: size = 0"},
	 .expand = kda_norm_expand,
	 .golden = golden_kda_norm,
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_kda_norm = {"kda_norm", ops, TT_COUNT(ops)};
