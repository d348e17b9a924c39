/*
 * minimal_matmul.c: minimal_matmul, a product in blocks of a given size; the same cut into chunks, and the same gated
 * and added to a tensor.
 *
 * Models MinimalMatmulDeviceOperation of ttnn 0.81 with its factory for one device: refusals, memory, cores; and its
 * kernel for the programs of collectives (ops/collective/fused_minimal.c).
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "golden/golden_matmul.h"
#include "ops/activation.h"
#include "ops/compute.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/movement.h"
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
/* SUFFIX continues the rows of ACT, as if both were one. */
enum { ACT, WEIGHT, BIAS, ADDED, GATE, SUFFIX };

/* Columns of the result: of each pair of tiles, a gate and what goes through it, one is left. */
static uint32_t result_width(const struct tt_launch *launch)
{
	uint32_t n = tt_shape_last(&launch->inputs[WEIGHT]->spec.shape, 1);

	return launch->attrs[SWIGLU].boolean ? n / 2 : n;
}

/* One tensor, or as many chunks of its width. */
static tt_status minimal_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[ACT]->spec;
	const struct ttnn_value *dtype = &launch->attrs[DTYPE];
	const struct ttnn_value *memory = &launch->attrs[MEMORY];
	struct ttnn_shape shape = a->shape;

	launch->output_count = (size_t)launch->attrs[CHUNKS].integer;
	if (shape.rank) /* else it is refused */
		shape.dim[shape.rank - 1] = result_width(launch) / (uint32_t)launch->output_count;
	for (size_t i = 0; i < launch->output_count; i++)
		TT_TRY(tt_spec_simple(
			&launch->specs[i], &shape,
			tt_value_given(dtype) ? (enum ttnn_dtype)dtype->integer : a->dtype,
			TTNN_TILE,
			memory->kind == TTNN_VALUE_MEMORY ? memory->memory : &a->memory));
	return TTNN_OK;
}

static bool is_float(const struct ttnn_tensor_spec *spec)
{
	return !tt_dtype_is_integer(spec->dtype);
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

/* A suffix is like what it continues in all but its columns; the matrix has rows for the tiles of both. */
static tt_status check_suffix(const struct ttnn_tensor_spec *a, const struct ttnn_tensor_spec *more,
			      const struct ttnn_tensor_spec *b)
{
	uint32_t k = tt_shape_last(&a->padded, 1), rest = tt_shape_last(&more->padded, 1);

	TT_REQUIRE(more->layout == TTNN_TILE, "second_input.layout() == Layout::TILE",
		   "minimal_matmul fused concat requires TILE layout for second input");
	TT_REQUIRE(is_float(more), "dtype_supported(second_input.dtype())",
		   "minimal_matmul fused concat supports only BFLOAT16, BFLOAT8_B, BFLOAT4_B, and "
		   "FLOAT32 for second input");
	TT_REQUIRE(more->dtype == a->dtype, "second_input.dtype() == act_tensor.dtype()",
		   "minimal_matmul fused concat: second-input dtype (DataType::%s) must match "
		   "activation dtype (DataType::%s)",
		   ttnn_dtype_name(more->dtype, TTNN_DIALECT_TT_METAL),
		   ttnn_dtype_name(a->dtype, TTNN_DIALECT_TT_METAL));
	TT_REQUIRE(more->shape.rank == a->shape.rank, "opt_logical.rank() == a_logical.rank()",
		   "minimal_matmul fused concat: second-input rank (%u) must match input rank (%u)",
		   more->shape.rank, a->shape.rank);
	for (uint32_t i = 0; i + 1 < a->shape.rank; i++)
		TT_REQUIRE(more->shape.dim[i] == a->shape.dim[i], "opt_logical[i] == a_logical[i]",
			   "minimal_matmul fused concat: inputs must differ only on the K (last) "
			   "axis; dim %u differs (input=%u, second=%u)",
			   i, a->shape.dim[i], more->shape.dim[i]);
	TT_REQUIRE(k + rest == tt_shape_last(&b->padded, 2),
		   "prefix_padded_K + suffix_padded_K == weight_padded_K",
		   "minimal_matmul fused concat: prefix_padded_K(%u) + suffix_padded_K(%u) must "
		   "equal weight_padded_K(%u) — use prepare_weight_for_concatenated_input to build "
		   "the weight.",
		   k, rest, tt_shape_last(&b->padded, 2));
	return TTNN_OK;
}

/* Pairs of tiles, a gate and what goes through it, whole in each chunk; nothing else is fused with them. */
static tt_status check_swiglu(const struct tt_launch *launch, uint32_t n)
{
	uint32_t chunks = (uint32_t)launch->attrs[CHUNKS].integer;

	TT_REQUIRE(!tt_value_given(&launch->attrs[ACTIVATION]),
		   "!operation_attributes.fused_activation.has_value()",
		   "minimal_matmul cannot combine fuse_swiglu with a unary fused_activation");
	TT_REQUIRE(n % (2 * TT_TILE) == 0, "N % (2 * tt::constants::TILE_WIDTH) == 0",
		   "minimal_matmul fuse_swiglu requires weight width N=%u to be a multiple of "
		   "2*TILE_WIDTH=64",
		   n);
	TT_REQUIRE(n / chunks % (2 * TT_TILE) == 0,
		   "(N / chunks) % (2 * tt::constants::TILE_WIDTH) == 0",
		   "minimal_matmul fuse_swiglu requires per-chunk weight width N/chunks=%u to be a "
		   "multiple of 2*TILE_WIDTH=64",
		   n / chunks);
	return TTNN_OK;
}

/* Blocks are whole subblocks, which registers hold; cores are 2 x 2 at least. */
static tt_status check_config(const struct tt_launch *launch)
{
	const struct ttnn_value *config = &launch->attrs[CONFIG];
	struct ttnn_core most = launch->device->info.compute_grid, grid = {0, 0};
	int64_t size[MIN_GRID];

	if (config->kind != TTNN_VALUE_OBJECT)
		return TTNN_OK;
	for (size_t i = 0; i < MIN_GRID; i++)
		if (!tt_value_integer(&size[i], &config->items[i]))
			size[i] = 1;
	(void)tt_object_core(&grid, &config->items[MIN_GRID]);
	TT_REQUIRE(size[MIN_M] > 0 && size[MIN_K] > 0 && size[MIN_N] > 0,
		   "cfg.M_block_size > 0 && cfg.K_block_size > 0 && cfg.N_block_size > 0",
		   "Block sizes must be > 0");
	TT_REQUIRE(size[MIN_SUB_H] > 0 && size[MIN_SUB_W] > 0,
		   "cfg.subblock_h > 0 && cfg.subblock_w > 0", "Subblock sizes must be > 0");
	TT_REQUIRE(size[MIN_M] % size[MIN_SUB_H] == 0, "(cfg.M_block_size % cfg.subblock_h) == 0",
		   "M_block_size (%" PRId64 ") must be divisible by subblock_h (%" PRId64 ")",
		   size[MIN_M], size[MIN_SUB_H]);
	TT_REQUIRE(size[MIN_N] % size[MIN_SUB_W] == 0, "(cfg.N_block_size % cfg.subblock_w) == 0",
		   "N_block_size (%" PRId64 ") must be divisible by subblock_w (%" PRId64 ")",
		   size[MIN_N], size[MIN_SUB_W]);
	TT_REQUIRE(grid.x >= 2 && grid.y >= 2,
		   "cfg.compute_with_storage_grid_size.x >= min_grid_dim && "
		   "cfg.compute_with_storage_grid_size.y >= min_grid_dim",
		   "compute_with_storage_grid_size must be >= 2x2");
	TT_REQUIRE(grid.x <= most.x && grid.y <= most.y,
		   "cfg.compute_with_storage_grid_size.x <= device_grid.x && "
		   "cfg.compute_with_storage_grid_size.y <= device_grid.y",
		   "compute_with_storage_grid_size must be <= device grid size");
	TT_REQUIRE(size[MIN_SUB_H] * size[MIN_SUB_W] <=
			   (int64_t)tt_compute_tiles(&launch->attrs[COMPUTE]),
		   "cfg.subblock_h * cfg.subblock_w <= max_dest_volume",
		   "subblock_h * subblock_w must be <= max_dest_volume");
	return TTNN_OK;
}

/* Tiles of floats, and a single matrix. */
static tt_status check_matrices(const struct ttnn_tensor_spec *a, const struct ttnn_tensor_spec *b,
				const struct tt_tensor *bias)
{
	TT_REQUIRE(a->layout == TTNN_TILE && b->layout == TTNN_TILE,
		   "act_tensor.layout() == Layout::TILE && weight_tensor.layout() == Layout::TILE",
		   "minimal_matmul requires TILE layout for activation and weight");
	TT_REQUIRE(!bias || bias->spec.layout == TTNN_TILE, "bias_ptr->layout() == Layout::TILE",
		   "minimal_matmul requires TILE layout for bias");
	TT_REQUIRE(is_float(a) && is_float(b),
		   "dtype_supported(act_tensor.dtype()) && "
		   "dtype_supported(weight_tensor.dtype())",
		   "minimal_matmul supports only BFLOAT16, BFLOAT8_B, BFLOAT4_B, and FLOAT32 "
		   "for inputs");
	TT_REQUIRE(!bias || is_float(&bias->spec), "dtype_supported(bias_ptr->dtype())",
		   "minimal_matmul supports only BFLOAT16, BFLOAT8_B, and BFLOAT4_B for bias");
	TT_REQUIRE(a->shape.rank >= 2 && b->shape.rank >= 2,
		   "a_logical.rank() >= 2 && w_logical.rank() >= 2",
		   "minimal_matmul expects rank >= 2 tensors");
	for (uint32_t i = 0; i + 2 < b->shape.rank; i++)
		TT_REQUIRE(b->shape.dim[i] == 1, "w_logical[i] == 1",
			   "minimal_matmul weight must have 1 in all dims < -2");
	return TTNN_OK;
}

/* In upstream's order. */
static tt_status minimal_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[ACT]->spec;
	const struct ttnn_tensor_spec *b = &launch->inputs[WEIGHT]->spec;
	struct tt_tensor *const *in = launch->inputs;
	uint32_t n = tt_shape_last(&b->shape, 1);

	TT_TRY(check_matrices(a, b, in[BIAS]));
	if (in[SUFFIX])
		TT_TRY(check_suffix(a, &in[SUFFIX]->spec, b));
	TT_REQUIRE(in[SUFFIX] || tt_shape_last(&a->shape, 1) == tt_shape_last(&b->shape, 2),
		   "K == K_w", "minimal_matmul inner dimensions must match, got K=%u and K_w=%u",
		   tt_shape_last(&a->shape, 1), tt_shape_last(&b->shape, 2));
	TT_REQUIRE(tt_shape_last(&a->shape, 2) && tt_shape_last(&a->shape, 1) && n,
		   "M > 0 && K > 0 && N > 0", "minimal_matmul dimensions must be positive");
	if (launch->attrs[SWIGLU].boolean)
		TT_TRY(check_swiglu(launch, n));
	if (in[BIAS])
		TT_TRY(check_bias(&in[BIAS]->spec.shape, n));
	if (in[ADDED] && in[GATE])
		TT_TRY(tt_minimal_check_gated(&in[ADDED]->spec.shape, &in[GATE]->spec.shape,
					      &a->shape, n));
	return check_config(launch);
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

/* Pairs of tiles are dealt out whole, to cores of columns or, where the result is tall, of rows; blocks have whole ones. */
static tt_status check_pairs(const struct tt_launch *launch, uint64_t block)
{
	const struct ttnn_tensor_spec *b = &launch->inputs[WEIGHT]->spec;
	struct ttnn_core grid = launch->device->info.compute_grid;
	const struct ttnn_value *config = &launch->attrs[CONFIG];
	uint64_t m = launch->inputs[ACT]->spec.rows / TT_TILE, n = b->cols / TT_TILE, cores;

	if (config->kind == TTNN_VALUE_OBJECT)
		(void)tt_object_core(&grid, &config->items[MIN_GRID]);
	cores = m > n ? grid.y : grid.x;
	TT_REQUIRE(n % 2 == 0 && block % 2 == 0,
		   "N_tiles % 2 == 0 && N_tiles_per_core % 2 == 0 && N_block_tiles % 2 == 0",
		   "minimal_matmul fuse_swiglu requires N_tiles (%" PRIu64
		   "), N_tiles_per_core (%" PRIu64 ") and N_block_tiles (%" PRIu64 ") all even",
		   n, 2 * tt_div_up(n / 2, cores ? cores : 1), block);
	return TTNN_OK;
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
	bool pairs = launch->attrs[SWIGLU].boolean;
	const ttnn_core_set *cores = launch->grid;

	if (pairs)
		TT_TRY(check_pairs(launch, n));
	if (config->kind == TTNN_VALUE_OBJECT && config->items[MIN_GRID].kind == TTNN_VALUE_CORE)
		TT_TRY(tt_core_set_grid(&cores, config->items[MIN_GRID].core.x,
					config->items[MIN_GRID].core.y));
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "in0_cb", .pages = 2 * m * k,
				  .page = tt_tile_bytes_of(launch->inputs[ACT]->spec.dtype)),
		       TT_DFB_ROW(1, "in1_cb", .pages = 2 * k * n,
				  .page = tt_tile_bytes_of(launch->inputs[WEIGHT]->spec.dtype)),
		       TT_DFB_ROW(2, "out_cb", .pages = pairs ? m * n : 2 * m * n,
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

/* Every other tile of columns, from tile `first` on, side by side. */
static tt_status every_other_tile(struct tt_tensor **out, struct tt_tensor *product, uint32_t first)
{
	const struct ttnn_shape *shape = &product->spec.shape;
	uint32_t last = shape->rank - 1;
	struct tt_move_loop loops[TTNN_MAX_RANK + 1];
	struct tt_move_job job = {.in = product, .loops = loops, .loop_count = shape->rank + 1};

	TT_TRY(tt_scratch_width(out, shape, shape->dim[last] / 2));
	for (uint32_t d = 0; d < last; d++)
		loops[d] = (struct tt_move_loop){.extent = shape->dim[d],
						 .in_dim = (int32_t)d,
						 .out_dim = (int32_t)d,
						 .in_step = 1,
						 .out_step = 1};
	for (uint32_t i = 0; i < 2; i++) /* tiles, and columns in one */
		loops[last + i] = (struct tt_move_loop){
			.extent = i ? TT_TILE : shape->dim[last] / (2 * TT_TILE),
			.in_dim = (int32_t)last,
			.out_dim = (int32_t)last,
			.in_step = i ? 1 : 2 * TT_TILE,
			.out_step = i ? 1 : TT_TILE};
	job.out = *out;
	job.in_start[last] = (int64_t)first * TT_TILE;
	return tt_backend_get()->move(&job);
}

/* silu(gate) × what goes through it, in place of the product. */
static tt_status gate_pairs(struct tt_tensor **product)
{
	const struct tt_unary_step silu = {.fn = TT_UNARY_SILU};
	struct tt_tensor *gates = NULL, *values = NULL;

	TT_TRY(every_other_tile(&gates, *product, 0));
	TT_TRY(every_other_tile(&values, *product, 1));
	*product = values;
	return tt_backend_get()->map(&(struct tt_map_job){.out = values,
							  .arity = 2,
							  .in = {gates, values},
							  .op = TT_BINARY_MUL,
							  .pre = {&silu, NULL},
							  .pre_count = {1, 0}});
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

/* Rows of both tensors as one, each with the columns that its tiles add, which are zeros. */
static tt_status joined_rows(struct tt_tensor **out, const struct tt_launch *launch)
{
	const uint32_t rank = launch->inputs[ACT]->spec.shape.rank;
	uint32_t width = tt_shape_last(&launch->inputs[WEIGHT]->spec.shape, 2), begin = 0;
	int64_t start[TTNN_MAX_RANK] = {0};

	TT_TRY(tt_scratch_width(out, &launch->inputs[ACT]->spec.shape, width));
	for (int i = 0; i < 2; i++) {
		struct tt_tensor *in = launch->inputs[i ? SUFFIX : ACT];
		struct ttnn_shape part = in->spec.shape;

		start[rank - 1] = begin;
		if (part.dim[rank - 1] > width - begin)
			part.dim[rank - 1] = width - begin;
		TT_TRY(tt_move_part(
			*out, in, &(struct tt_move_block){.extent = part.dim, .out_start = start}));
		begin += tt_shape_last(&in->spec.padded, 1);
	}
	return TTNN_OK;
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
	if (launch->inputs[SUFFIX])
		TT_TRY(joined_rows(&job.a, launch));
	if (launch->output_count == 1 && !launch->inputs[GATE] && !launch->attrs[SWIGLU].boolean)
		return tt_backend_get()->matmul(&job);
	TT_TRY(new_product(&job.out, launch));
	TT_TRY(tt_backend_get()->matmul(&job));
	if (launch->attrs[SWIGLU].boolean)
		TT_TRY(gate_pairs(&job.out));
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
	const char *weight;
	struct tt_tensor *act, *suffix, *added, *gate;
	struct ttnn_value scalar;
	uint32_t chunks;
};

/* HiFi2 with float32 sums is what upstream takes without a compute kernel config. */
static tt_status minimal_launch(struct tt_call *call, const struct minimal_call *how)
{
	static const struct tt_compute_usual usual = {
		.fidelity = TT_HIFI2, .fp32 = true, .l1_acc = true};
	struct ttnn_value activation;

	TT_TRY(tt_activation_of(&activation, call->arena, tt_call_arg(call, "fused_activation")));
	return TT_LAUNCH_RETURN(
		call, &tt_prog_minimal_matmul,
		TT_INPUTS(how->act, tt_call_tensor(call, how->weight),
			  tt_call_tensor(call, "bias_tensor"), how->added, how->gate, how->suffix),
		TT_BIND(call, schema, [ACTIVATION] = activation,
			[MEMORY] = *tt_call_arg(call, "memory_config"),
			[DTYPE] = *tt_call_arg(call, "dtype"), [SCALAR] = how->scalar,
			[COMPUTE] = tt_compute_config(
				call, tt_call_arg(call, "compute_kernel_config"), &usual),
			[CHUNKS] = ttnn_v_int(how->chunks), [DIM] = ttnn_v_int(-1),
			[SWIGLU] = ttnn_v_bool(tt_call_bool(call, "fuse_swiglu", false))));
}

/* One tensor, or two whose rows continue each other. */
static tt_status minimal_expand(struct tt_call *call)
{
	const struct ttnn_value *input = tt_call_arg(call, "input_tensor");
	struct minimal_call how = {.act = tt_call_tensor(call, "input_tensor"),
				   .weight = "weight_tensor",
				   .scalar = ttnn_v_none(),
				   .chunks = 1};

	if (input->kind == TTNN_VALUE_LIST) {
		TT_REQUIRE(input->count == 2, "inputs->size() == 2",
			   "minimal_matmul: list input must be exactly 2 tensors [prefix, suffix] "
			   "for fused concat over K, got %u",
			   input->count);
		how.act = input->items[0].tensor;
		how.suffix = input->items[1].tensor;
	}
	return minimal_launch(call, &how);
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
	return minimal_launch(call,
			      &(struct minimal_call){.act = tt_call_tensor(call, "input_tensor"),
						     .weight = "weight_tensor",
						     .scalar = ttnn_v_none(),
						     .chunks = (uint32_t)chunks});
}

/* input1 + scalar × product × input2, fused behind the product. */
static tt_status gated_expand(struct tt_call *call)
{
	return minimal_launch(
		call, &(struct minimal_call){.act = tt_call_tensor(call, "matmul_input_tensor"),
					     .weight = "matmul_weight_tensor",
					     .added = tt_call_tensor(call, "addcmul_input_tensor1"),
					     .gate = tt_call_tensor(call, "addcmul_input_tensor2"),
					     .scalar = ttnn_v_real(tt_call_real(call, "scalar", 1)),
					     .chunks = 1});
}

#define PLACE                                                                                      \
	"config: ProgramConfig ? = None, memory_config: MemoryConfig ? = None, "                   \
	"dtype: DataType ? = None, compute_kernel_config: ComputeConfig ? = None"
#define REST                                                                                       \
	"weight_tensor: Tensor, *, bias_tensor: Tensor ? = None, "                                 \
	"fused_activation: UnaryWithParam ? = None, " PLACE ", fuse_swiglu: bool = False"
static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.minimal_matmul",
	 .doc = "The matrix product of a tensor and one matrix, in blocks of a given size.",
	 .sigs = {"input_tensor: Tensor | Tensors, " REST},
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
