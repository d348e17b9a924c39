/*
 * minimal_matmul.c: minimal_matmul, a product in blocks of a given size.
 *
 * Models MinimalMatmulDeviceOperation of ttnn 0.81 with its factory for one device: refusals, memory, cores. Not
 * modelled: the factory that receives an operand over the fabric, results in chunks, fuse_swiglu.
 */
#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "golden/golden_matmul.h"
#include "ops/activation.h"
#include "ops/compute.h"
#include "ops/cost.h"
#include "ops/matmul/matmul.h"
#include "ops/mem_rows.h"
#include "ops/usual.h"
#include "tensor/core.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

/* Tiles of a block along each dimension when no config says otherwise. */
#define DEFAULT_BLOCK 8

enum { MIN_M, MIN_K, MIN_N, MIN_SUB_H, MIN_SUB_W, MIN_GRID, MIN_FIELDS };

static const struct tt_field min_config_fields[MIN_FIELDS] = {
	[MIN_M] = {.name = "M_block_size"},
	[MIN_K] = {.name = "K_block_size"},
	[MIN_N] = {.name = "N_block_size"},
	[MIN_SUB_H] = {.name = "subblock_h"},
	[MIN_SUB_W] = {.name = "subblock_w"},
	[MIN_GRID] = {.name = "compute_with_storage_grid_size"},
};
const struct tt_schema tt_schema_minimal_matmul = {"MinimalMatmulConfig", min_config_fields,
						   MIN_FIELDS, true};

#define ATTRS(X)                                                                                   \
	X(CONFIG, "config")                                                                        \
	X(ACTIVATION, "fused_activation", .text = TT_TEXT_FIXED, .fixed = "<BasicUnaryWithParam>") \
	X(MEMORY, "output_mem_config")                                                             \
	X(DTYPE, "output_dtype")                                                                   \
	X(SCALAR, "scalar")                                                                        \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(CHUNKS, "chunks")                                                                        \
	X(DIM, "dim")                                                                              \
	X(SWIGLU, "fuse_swiglu")
TT_ATTRS(schema, "MinimalMatmulParams", ATTRS);
enum { ACT, WEIGHT, BIAS };

static tt_status minimal_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[ACT]->spec;
	const struct ttnn_value *dtype = &launch->attrs[DTYPE];
	const struct ttnn_value *memory = &launch->attrs[MEMORY];
	struct ttnn_shape shape = a->shape;

	launch->output_count = 1;
	if (shape.rank) /* else it is refused */
		shape.dim[shape.rank - 1] = tt_shape_last(&launch->inputs[WEIGHT]->spec.shape, 1);
	return tt_spec_simple(&launch->specs[0], &shape,
			      tt_value_given(dtype) ? (enum ttnn_dtype)dtype->integer : a->dtype,
			      TTNN_TILE,
			      memory->kind == TTNN_VALUE_MEMORY ? memory->memory : &a->memory);
}

static tt_status minimal_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[ACT]->spec;
	const struct ttnn_tensor_spec *b = &launch->inputs[WEIGHT]->spec;

	TT_REQUIRE(a->shape.rank >= 2 && b->shape.rank >= 2,
		   "a_logical.rank() >= 2 && w_logical.rank() >= 2",
		   "minimal_matmul expects rank >= 2 tensors");
	TT_REQUIRE(!tt_dtype_is_integer(a->dtype) && !tt_dtype_is_integer(b->dtype),
		   "dtype_supported(act_tensor.dtype()) && "
		   "dtype_supported(weight_tensor.dtype())",
		   "minimal_matmul supports only BFLOAT16, BFLOAT8_B, BFLOAT4_B, and FLOAT32 "
		   "for inputs");
	TT_REQUIRE(tt_shape_last(&a->shape, 1) == tt_shape_last(&b->shape, 2), "K == K_w",
		   "minimal_matmul inner dimensions must match, got K=%u and K_w=%u",
		   tt_shape_last(&a->shape, 1), tt_shape_last(&b->shape, 2));
	return TTNN_OK;
}

static uint64_t block_size(const struct tt_launch *launch, size_t field)
{
	const struct ttnn_value *config = &launch->attrs[CONFIG];
	int64_t size;

	if (config->kind == TTNN_VALUE_OBJECT && tt_value_integer(&size, &config->items[field]) &&
	    size > 0)
		return (uint64_t)size;
	return DEFAULT_BLOCK;
}

static tt_status minimal_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_value *config = &launch->attrs[CONFIG];
	const struct tt_tensor *bias = launch->inputs[BIAS];
	bool fp32 = tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32);
	uint64_t m = block_size(launch, MIN_M), k = block_size(launch, MIN_K);
	uint64_t n = block_size(launch, MIN_N);
	const ttnn_core_set *cores = launch->grid;

	if (config->kind == TTNN_VALUE_OBJECT && config->items[MIN_GRID].kind == TTNN_VALUE_CORE)
		TT_TRY(tt_core_set_grid(&cores, config->items[MIN_GRID].core.x,
					config->items[MIN_GRID].core.y));
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "in0_cb", .pages = 2 * m * k,
				  .page = tt_tile_bytes_of(launch->inputs[ACT]->spec.dtype)),
		       TT_DFB_ROW(1, "in1_cb", .pages = 2 * k * n,
				  .page = tt_tile_bytes_of(launch->inputs[WEIGHT]->spec.dtype)),
		       TT_DFB_ROW(2, "out_cb", .pages = 2 * m * n,
				  .page = tt_tile_bytes_of(launch->outputs[0]->spec.dtype)),
		       TT_DFB_ROW(3, "intermediate_cb", .pages = m * n,
				  .page = tt_tile_bytes_of(fp32 ? TTNN_FLOAT32 : TTNN_BFLOAT16)),
		       TT_DFB_ROW(4, "in2_cb", .pages = bias ? n : 0,
				  .page = bias ? tt_tile_bytes_of(bias->spec.dtype) : 0));
}

static tt_status minimal_kernel(struct tt_launch *launch)
{
	struct tt_unary_step post[TT_UNARY_STEPS_MAX];
	struct tt_matmul_job job = {.out = launch->outputs[0],
				    .a = launch->inputs[ACT],
				    .b = launch->inputs[WEIGHT],
				    .alpha = 1,
				    .bias = launch->inputs[BIAS],
				    .beta = 1,
				    .post = post};
	size_t count = 0;

	if (tt_value_given(&launch->attrs[ACTIVATION])) {
		struct ttnn_value chain = ttnn_v_list(&launch->attrs[ACTIVATION], 1);

		TT_TRY(tt_unary_steps(post, &count, &chain));
	}
	job.post_count = (uint32_t)count;
	return tt_backend_get()->matmul(&job);
}

static const struct tt_prog program = {
	.device_op = "MinimalMatmulDeviceOperation",
	.prim = "ttnn::prim::minimal_matmul",
	.attrs = &schema,
	.infer = minimal_infer,
	.validate = minimal_validate,
	TT_FACTORY("ttnn::experimental::prim::MinimalMatmulDeviceOperation::ProgramFactory",
		   minimal_memory),
	TT_KERNEL(minimal_kernel),
	.cost = tt_cost_product,
};

static tt_status minimal_expand(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {
		.fidelity = TT_HIFI2, .fp32 = true, .l1_acc = true};
	struct ttnn_value activation;

	if (tt_call_bool(call, "fuse_swiglu", false))
		return tt_fail(TTNN_UNSUPPORTED, "minimal_matmul does not support fuse_swiglu yet");
	TT_TRY(tt_activation_of(&activation, call->arena, tt_call_arg(call, "fused_activation")));
	return TT_LAUNCH_RETURN(
		call, &program,
		TT_INPUTS(tt_call_tensor(call, "input_tensor"),
			  tt_call_tensor(call, "weight_tensor"),
			  tt_call_tensor(call, "bias_tensor")),
		TT_BIND(call, schema, [ACTIVATION] = activation,
			[MEMORY] = *tt_call_arg(call, "memory_config"),
			[DTYPE] = *tt_call_arg(call, "dtype"), [SCALAR] = ttnn_v_none(),
			[COMPUTE] = tt_compute_config(
				call, tt_call_arg(call, "compute_kernel_config"), &usual),
			[CHUNKS] = ttnn_v_int(1), [DIM] = ttnn_v_int(-1)));
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.minimal_matmul",
	 .family = "matmul_other",
	 .doc = "The matrix product of a tensor and one matrix, in blocks of a given size.",
	 .sigs = {"input_tensor: Tensor, weight_tensor: Tensor, *, bias_tensor: Tensor ? = None, "
		  "fused_activation: UnaryWithParam ? = None, config: ProgramConfig ? = None, "
		  "memory_config: MemoryConfig ? = None, dtype: DataType ? = None, "
		  "compute_kernel_config: ComputeConfig ? = None, fuse_swiglu: bool = False"},
	 .expand = minimal_expand,
	 .golden = tt_golden_minimal_matmul,
	 .pcc = 0.999},
};

const struct tt_op_family tt_family_matmul_other = {"matmul_other", ops, TT_COUNT(ops)};
