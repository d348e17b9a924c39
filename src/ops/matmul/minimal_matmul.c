/*
 * minimal_matmul.c: minimal_matmul, a product in blocks of a given size; the same cut into chunks, and the same gated
 * and added to a tensor.
 *
 * Models MinimalMatmulDeviceOperation of ttnn 0.81 with its factory for one device: refusals, memory, cores; and its
 * kernel for the programs of collectives (ops/collective/fused_minimal.c). Not modelled: fuse_swiglu but for those.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "golden/golden_matmul.h"
#include "ops/activation.h"
#include "ops/compute.h"
#include "ops/matmul/matmul.h"
#include "ops/usual.h"

/* Tiles of a block along each dimension when no config says otherwise. */
#define DEFAULT_BLOCK 8

enum {
	MIN_M = TT_MINIMAL_M,
	MIN_K,
	MIN_N,
	MIN_SUB_H,
	MIN_SUB_W,
	MIN_GRID = TT_MINIMAL_GRID,
	MIN_FIELDS
};

static const struct tt_field min_config_fields[MIN_FIELDS] = {
	[MIN_M] = {.name = "M_block_size"},
	[MIN_K] = {.name = "K_block_size"},
	[MIN_N] = {.name = "N_block_size"},
	[MIN_SUB_H] = {.name = "subblock_h"},
	[MIN_SUB_W] = {.name = "subblock_w"},
	[MIN_GRID] = {.name = "compute_with_storage_grid_size",
		      .text = TT_TEXT_FIXED,
		      .fixed = "<xy_pair>"},
};
const struct tt_schema tt_schema_minimal_matmul = {"MinimalMatmulConfig", min_config_fields,
						   MIN_FIELDS, false};

enum {
	CONFIG = TT_MINIMAL_CONFIG,
	ACTIVATION = TT_MINIMAL_ACTIVATION,
	MEMORY = TT_MINIMAL_MEMORY,
	DTYPE = TT_MINIMAL_DTYPE,
	SCALAR = TT_MINIMAL_SCALAR,
	COMPUTE = TT_MINIMAL_COMPUTE,
	CHUNKS = TT_MINIMAL_CHUNKS,
	DIM = TT_MINIMAL_DIM,
	SWIGLU = TT_MINIMAL_SWIGLU,
	schema_count = TT_MINIMAL_ATTR_COUNT
};
static const struct tt_field fields[] = {TT_MINIMAL_ATTRS(TT_ATTR_FIELD)};
static const struct tt_schema schema = {"MinimalMatmulParams", fields, TT_MINIMAL_ATTR_COUNT,
					false};
enum { ACT, WEIGHT, BIAS, ADDED, GATE }; /* the inputs */

/* One tensor, or as many chunks of its width. */
static tt_status minimal_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[ACT]->spec;
	const struct ttnn_value *dtype = &launch->attrs[DTYPE];
	const struct ttnn_value *memory = &launch->attrs[MEMORY];
	struct ttnn_shape shape = a->shape;

	launch->output_count = (size_t)launch->attrs[CHUNKS].integer;
	if (shape.rank) /* else it is refused */
		shape.dim[shape.rank - 1] = tt_shape_last(&launch->inputs[WEIGHT]->spec.shape, 1) /
					    (uint32_t)launch->output_count;
	for (size_t i = 0; i < launch->output_count; i++)
		TT_TRY(tt_spec_simple(
			&launch->specs[i], &shape,
			tt_value_given(dtype) ? (enum ttnn_dtype)dtype->integer : a->dtype,
			TTNN_TILE,
			memory->kind == TTNN_VALUE_MEMORY ? memory->memory : &a->memory));
	return TTNN_OK;
}

/* A bias is a row: 1 in all dimensions but the last. */
static tt_status check_bias(const struct ttnn_shape *bias, uint32_t n)
{
	for (uint32_t i = 0; i + 1 < bias->rank; i++)
		TT_REQUIRE(bias->dim[i] == 1, "b_logical[i] == 1",
			   "minimal_matmul bias must be 1 in all dims except the last");
	TT_REQUIRE(tt_shape_last(bias, 1) == n, "b_logical[-1] == N",
		   "minimal_matmul bias last dimension must equal N (%u), got %u", n,
		   tt_shape_last(bias, 1));
	return TTNN_OK;
}

/* Each outer extent is 1, or that of the product. */
static tt_status check_outer(const char *name, const struct ttnn_shape *shape,
			     const struct ttnn_shape *act)
{
	for (uint32_t back = 3; back <= shape->rank; back++) {
		uint32_t own = tt_shape_last(shape, back), whole = tt_shape_last(act, back);

		TT_REQUIRE(own == 1 || own == whole,
			   "ternary_logical[i] == 1 || ternary_logical[i] == output[i]",
			   "%s has %u in dimension -%u, where the output has %u", name, own, back,
			   whole);
	}
	return TTNN_OK;
}

/* What is added is as large as the product; what it is gated by may be one row. */
tt_status tt_minimal_check_gated(const struct ttnn_shape *added, const struct ttnn_shape *gate,
				 const struct ttnn_shape *act, uint32_t n)
{
	uint32_t m = tt_shape_last(act, 2);

	TT_REQUIRE(tt_shape_last(added, 2) == m && tt_shape_last(added, 1) == n,
		   "ternary_a_logical[-2] == M && ternary_a_logical[-1] == N",
		   "fused_ternary_input_a shape must match output [M=%u, N=%u], got [%u, %u]", m, n,
		   tt_shape_last(added, 2), tt_shape_last(added, 1));
	TT_REQUIRE((tt_shape_last(gate, 2) == 1 || tt_shape_last(gate, 2) == m) &&
			   tt_shape_last(gate, 1) == n,
		   "(ternary_b_logical[-2] == 1 || ternary_b_logical[-2] == M) && "
		   "ternary_b_logical[-1] == N",
		   "fused_ternary_input_b shape must be [1, N=%u] (broadcast) or [M=%u, N=%u] "
		   "(full), got [%u, %u]",
		   n, m, n, tt_shape_last(gate, 2), tt_shape_last(gate, 1));
	TT_TRY(check_outer("fused_ternary_input_a", added, act));
	return check_outer("fused_ternary_input_b", gate, act);
}

/* Tiles of floats; the operation has few forms and so few refusals. */
static tt_status minimal_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[ACT]->spec;
	const struct ttnn_tensor_spec *b = &launch->inputs[WEIGHT]->spec;
	struct tt_tensor *const *in = launch->inputs;

	TT_REQUIRE(a->layout == TTNN_TILE && b->layout == TTNN_TILE,
		   "act_tensor.layout() == Layout::TILE && weight_tensor.layout() == Layout::TILE",
		   "minimal_matmul requires TILE layout for activation and weight");
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
	if (in[BIAS])
		TT_TRY(check_bias(&in[BIAS]->spec.shape, tt_shape_last(&b->shape, 1)));
	if (in[ADDED] && in[GATE])
		TT_TRY(tt_minimal_check_gated(&in[ADDED]->spec.shape, &in[GATE]->spec.shape,
					      &a->shape, tt_shape_last(&b->shape, 1)));
	return TTNN_OK;
}

/* The field of a MinimalMatmulConfig, or upstream's default. */
uint64_t tt_minimal_block(const struct ttnn_value *config, size_t field)
{
	int64_t size;

	if (config->kind == TTNN_VALUE_OBJECT && tt_value_integer(&size, &config->items[field]) &&
	    size > 0)
		return (uint64_t)size;
	return DEFAULT_BLOCK;
}

/*
 * in0 and in1 hold two blocks of the config each (M × K and K × N tiles), the output two, sums one
 * in float32 or bfloat16. Bias and the gated operands have a buffer only if they are there.
 */
static tt_status minimal_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_value *config = &launch->attrs[CONFIG];
	const struct tt_tensor *bias = launch->inputs[BIAS], *added = launch->inputs[ADDED];
	const struct tt_tensor *gate = launch->inputs[GATE];
	bool fp32 = tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32);
	uint64_t m = tt_minimal_block(&launch->attrs[CONFIG], MIN_M),
		 k = tt_minimal_block(&launch->attrs[CONFIG], MIN_K);
	uint64_t n = tt_minimal_block(&launch->attrs[CONFIG], MIN_N);
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
				  .page = bias ? tt_tile_bytes_of(bias->spec.dtype) : 0),
		       TT_DFB_ROW(5, "ternary_a_cb", .pages = added ? m * n : 0,
				  .page = added ? tt_tile_bytes_of(added->spec.dtype) : 0),
		       TT_DFB_ROW(6, "ternary_b_cb", .pages = gate ? n : 0,
				  .page = gate ? tt_tile_bytes_of(gate->spec.dtype) : 0));
}

/* Columns of the product, as many as a chunk has. */
static tt_status cut_chunk(struct tt_tensor *out, struct tt_tensor *product, uint64_t from)
{
	const struct ttnn_shape *shape = &out->spec.shape;
	struct tt_move_loop loops[TTNN_MAX_RANK];
	struct tt_move_job job = {
		.out = out, .in = product, .loops = loops, .loop_count = shape->rank};

	for (uint32_t d = 0; d < shape->rank; d++)
		loops[d] = (struct tt_move_loop){.extent = shape->dim[d],
						 .in_dim = (int32_t)d,
						 .out_dim = (int32_t)d,
						 .in_step = 1,
						 .out_step = 1};
	job.in_start[shape->rank - 1] = (int64_t)from;
	return tt_backend_get()->move(&job);
}

/* What becomes of the whole product: chunks, or added + scalar × product × gate. */
static tt_status minimal_finish(struct tt_launch *launch, struct tt_tensor *product)
{
	uint64_t from = 0;

	if (!launch->inputs[GATE]) {
		for (size_t i = 0; i < launch->output_count; i++) {
			TT_TRY(cut_chunk(launch->outputs[i], product, from));
			from += tt_shape_last(&launch->outputs[i]->spec.shape, 1);
		}
		return TTNN_OK;
	}
	return tt_backend_get()->map(
		&(struct tt_map_job){.out = launch->outputs[0],
				     .arity = 3,
				     .op = TT_TERNARY_ADDCMUL,
				     .params = {launch->attrs[SCALAR].real},
				     .in = {launch->inputs[ADDED], product, launch->inputs[GATE]}});
}

/* Room for a product that is not the result yet. */
static tt_status new_product(struct tt_tensor **out, const struct tt_launch *launch)
{
	struct ttnn_shape shape = launch->inputs[ACT]->spec.shape;

	shape.dim[shape.rank - 1] = tt_shape_last(&launch->inputs[WEIGHT]->spec.shape, 1);
	return tt_scratch_f32(out, &shape);
}

/* Every other tile column of a product, from the first or the second on. */
static tt_status tile_columns(struct tt_tensor *out, struct tt_tensor *product, uint32_t first)
{
	const struct ttnn_shape *shape = &out->spec.shape;
	uint32_t last = shape->rank - 1;
	struct tt_move_loop loops[TTNN_MAX_RANK + 1];
	struct tt_move_job job = {
		.out = out, .in = product, .loops = loops, .loop_count = shape->rank + 1};

	for (uint32_t d = 0; d <= last; d++)
		loops[d] = (struct tt_move_loop){.extent = shape->dim[d],
						 .in_dim = (int32_t)d,
						 .out_dim = (int32_t)d,
						 .in_step = 1,
						 .out_step = 1};
	loops[last].extent /= TT_TILE;
	loops[last].in_step = 2 * TT_TILE;
	loops[last].out_step = TT_TILE;
	loops[last + 1] = (struct tt_move_loop){TT_TILE, (int32_t)last, (int32_t)last, 1, 1};
	job.in_start[last] = (int64_t)first * TT_TILE;
	return tt_backend_get()->move(&job);
}

/* silu(gate) × up, which take turns in the tile columns of the product. */
static tt_status swiglu(struct tt_tensor **product)
{
	static const struct tt_unary_step silu = {.fn = TT_UNARY_SILU};
	struct ttnn_shape shape = (*product)->spec.shape;
	struct tt_map_job job = {.arity = 2, .op = TT_BINARY_MUL, .pre = {&silu}, .pre_count = {1}};

	shape.dim[shape.rank - 1] /= 2;
	for (uint32_t i = 0; i < 2; i++) {
		TT_TRY(tt_scratch_f32(&job.in[i], &shape));
		TT_TRY(tile_columns(job.in[i], *product, i));
	}
	TT_TRY(tt_scratch_f32(&job.out, &shape));
	*product = job.out;
	return tt_backend_get()->map(&job);
}

/* Chunks and gates need the whole product first; it is computed aside and then given out. */
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
	if (launch->output_count == 1 && !launch->inputs[GATE] && !launch->attrs[SWIGLU].boolean)
		return tt_backend_get()->matmul(&job);
	TT_TRY(new_product(&job.out, launch));
	TT_TRY(tt_backend_get()->matmul(&job));
	if (launch->attrs[SWIGLU].boolean)
		TT_TRY(swiglu(&job.out));
	return minimal_finish(launch, job.out);
}

const struct tt_prog tt_prog_minimal_matmul = {
	.device_op = "MinimalMatmulDeviceOperation",
	.prim = "ttnn::prim::minimal_matmul",
	.attrs = &schema,
	.infer = minimal_infer,
	.validate = minimal_validate,
	TT_FACTORY("ttnn::experimental::prim::MinimalMatmulDeviceOperation::ProgramFactory",
		   minimal_memory),
	TT_KERNEL(minimal_kernel),
	.cost = tt_cost_product,
	.drops_forward = true,
};

/* What an operation takes besides an operand, a matrix and a bias. */
struct minimal_call {
	const char *act, *weight;
	struct tt_tensor *added, *gate;
	struct ttnn_value scalar;
	uint32_t chunks;
};

/* HiFi2 with float32 sums is what upstream takes without a compute kernel config. */
static tt_status minimal_launch(struct tt_call *call, const struct minimal_call *how)
{
	static const struct tt_compute_usual usual = {
		.fidelity = TT_HIFI2, .fp32 = true, .l1_acc = true};
	struct ttnn_value activation;

	if (tt_call_bool(call, "fuse_swiglu", false))
		return tt_fail(TTNN_UNSUPPORTED, "%s does not support fuse_swiglu yet",
			       call->entry->op->name);
	TT_TRY(tt_activation_of(&activation, call->arena, tt_call_arg(call, "fused_activation")));
	return TT_LAUNCH_RETURN(
		call, &tt_prog_minimal_matmul,
		TT_INPUTS(tt_call_tensor(call, how->act), tt_call_tensor(call, how->weight),
			  tt_call_tensor(call, "bias_tensor"), how->added, how->gate),
		TT_BIND(call, schema, [ACTIVATION] = activation,
			[MEMORY] = *tt_call_arg(call, "memory_config"),
			[DTYPE] = *tt_call_arg(call, "dtype"), [SCALAR] = how->scalar,
			[COMPUTE] = tt_compute_config(
				call, tt_call_arg(call, "compute_kernel_config"), &usual),
			[CHUNKS] = ttnn_v_int(how->chunks), [DIM] = ttnn_v_int(-1),
			[SWIGLU] = ttnn_v_bool(false)));
}

static tt_status minimal_expand(struct tt_call *call)
{
	return minimal_launch(call, &(struct minimal_call){.act = "input_tensor",
							   .weight = "weight_tensor",
							   .scalar = ttnn_v_none(),
							   .chunks = 1});
}

/* Chunks are along the last dimension, alike and whole tiles wide. */
static tt_status split_expand(struct tt_call *call)
{
	int64_t chunks = tt_call_int(call, "chunks", 3), dim = tt_call_int(call, "dim", -1);
	uint32_t n = tt_shape_last(&tt_call_tensor(call, "weight_tensor")->spec.shape, 1);

	TT_REQUIRE(chunks >= 1, "chunks >= 1",
		   "minimal_matmul_split requires chunks >= 1, got chunks=%" PRId64, chunks);
	TT_REQUIRE(dim == -1, "dim == -1",
		   "minimal_matmul_split currently only supports dim=-1, got dim=%" PRId64, dim);
	TT_REQUIRE(chunks <= TT_OUTPUTS_MAX, "chunks <= 64",
		   "minimal_matmul_split makes at most %d chunks, got chunks=%" PRId64,
		   TT_OUTPUTS_MAX, chunks);
	TT_REQUIRE(n % chunks == 0, "N % chunks == 0",
		   "Output width N=%u must be divisible by chunks=%" PRId64, n, chunks);
	TT_REQUIRE(n / chunks % TT_TILE == 0, "N_per_chunk % tt::constants::TILE_WIDTH == 0",
		   "Each chunk size N/chunks=%" PRId64 " must be a multiple of TILE_WIDTH=32",
		   n / chunks);
	return minimal_launch(call, &(struct minimal_call){.act = "input_tensor",
							   .weight = "weight_tensor",
							   .scalar = ttnn_v_none(),
							   .chunks = (uint32_t)chunks});
}

/* input1 + scalar × product × input2, fused behind the product. */
static tt_status gated_expand(struct tt_call *call)
{
	return minimal_launch(
		call, &(struct minimal_call){.act = "matmul_input_tensor",
					     .weight = "matmul_weight_tensor",
					     .added = tt_call_tensor(call, "addcmul_input_tensor1"),
					     .gate = tt_call_tensor(call, "addcmul_input_tensor2"),
					     .scalar = ttnn_v_real(tt_call_real(call, "scalar", 1)),
					     .chunks = 1});
}

#define PLACE                                                                                      \
	"config: ProgramConfig ? = None, memory_config: MemoryConfig ? = None, "                   \
	"dtype: DataType ? = None, compute_kernel_config: ComputeConfig ? = None"
static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.minimal_matmul",
	 .doc = "The matrix product of a tensor and one matrix, in blocks of a given size.",
	 .sigs = {"input_tensor: Tensor, weight_tensor: Tensor, *, bias_tensor: Tensor ? = None, "
		  "fused_activation: UnaryWithParam ? = None, config: ProgramConfig ? = None, "
		  "memory_config: MemoryConfig ? = None, dtype: DataType ? = None, "
		  "compute_kernel_config: ComputeConfig ? = None, fuse_swiglu: bool = False"},
	 .expand = minimal_expand,
	 .golden = tt_golden_minimal_matmul},
	{.name = "ttnn.experimental.minimal_matmul_split",
	 .doc = "The matrix product of a tensor and one matrix, cut into chunks of columns.",
	 .sigs = {"input_tensor: Tensor, weight_tensor: Tensor, *, chunks: int = 3, "
		  "dim: int = -1, bias_tensor: Tensor ? = None, "
		  "fused_activation: UnaryWithParam ? = None, " PLACE
		  ", fuse_swiglu: bool = False"},
	 .expand = split_expand,
	 .golden = tt_golden_minimal_matmul_split,
	 .gives = "[Tensor]"},
	{.name = "ttnn.experimental.dit_minimal_matmul_addcmul_fused",
	 .doc = "A tensor plus the scaled product of a matrix product and a gate.",
	 .sigs = {"matmul_input_tensor: Tensor, matmul_weight_tensor: Tensor, scalar: float, "
		  "addcmul_input_tensor1: Tensor, addcmul_input_tensor2: Tensor, "
		  "bias_tensor: Tensor ? = None, *, " PLACE},
	 .expand = gated_expand,
	 .golden = tt_golden_gated_matmul},
};

const struct tt_op_family tt_family_minimal_matmul = {"minimal_matmul", ops, TT_COUNT(ops)};
