/*
 * matmul_decode.c: products of few rows with weights that stay in L1, a block of them on each core.
 *
 *	full       b [k, n]                      columns of n on each core
 *	partial    b [k / blocks, blocks × n]    blocks of k beside each other, whose products are added up
 *	batched    b [.., each × k, blocks × n]  blocks of `each` matrices beside each other
 *
 * Models MatmulDecodeDeviceOperation of ttnn 0.81 with its three factories: refusals, memory, cores. Not modelled: how a
 * goes from core to core.
 */
#include "ops/matmul/matmul_decode.h"
#include "backend/backend.h"
#include "golden/golden_matmul.h"
#include "ops/movement/movement.h"

static const struct tt_field fields[TT_DECODE_ATTRS] = {
	[TT_DECODE_ROWS] = {.name = "M"},
	[TT_DECODE_COLS] = {.name = "N"},
	[TT_DECODE_INNER] = {.name = "K"},
	[TT_DECODE_MEMORY] = {.name = "output_mem_config"},
	[TT_DECODE_DTYPE] = {.name = "output_dtype"},
	[TT_DECODE_PARTIAL] = {.name = "partial_width_sharded"},
	[TT_DECODE_BATCH] = {.name = "batch"},
	[TT_DECODE_B_BLOCKS] = {.name = "b_blocks"},
	[TT_DECODE_N_BLOCKS] = {.name = "n_blocks"},
};
static const struct tt_schema schema = {"operation_attributes_t", fields, TT_DECODE_ATTRS, false};
enum { FULL, PARTIAL_K, BATCHED };

/* ---- specs ------------------------------------------------------------------------------------------------- */

/* Columns that the weights of a core have, on those cores, or on the first ones when products are added up. */
static tt_status decode_memory(struct ttnn_memory_config *out, const struct tt_launch *launch)
{
	const struct ttnn_value *wanted = &launch->attrs[TT_DECODE_MEMORY];
	struct ttnn_shard_spec shard = {.orientation = TTNN_ORIENT_ROW_MAJOR};
	uint32_t tile = launch->inputs[TT_DECODE_A]->spec.tile.height, width;

	*out = (struct ttnn_memory_config){0};
	if (tt_value_given(wanted))
		*out = *wanted->memory;
	if (launch->inputs[TT_DECODE_A]->spec.shape.rank == 4)
		return TTNN_OK;
	TT_NEED(launch->inputs[TT_DECODE_B]->spec.memory.has_shard, "bad optional access");
	shard.grid = tt_decode_shard(launch, TT_DECODE_B)->grid;
	if (launch->attrs[TT_DECODE_PARTIAL].boolean) {
		width = tt_decode_shard(launch, TT_DECODE_B)->width / TT_TILE;
		TT_NEED(width, "shards of weights are whole tiles");
		TT_TRY(tt_cores_first(&shard.grid, launch->grid,
				      tt_div_up(tt_decode_number(launch, TT_DECODE_COLS), TT_TILE) /
					      width,
				      TTNN_ORIENT_ROW_MAJOR));
	}
	if (tt_value_given(wanted))
		return TTNN_OK;
	TT_NEED(tile && ttnn_core_set_cores(shard.grid), "matmul_decode: no cores for a result");
	shard.height = (uint32_t)tt_div_up(tt_decode_number(launch, TT_DECODE_ROWS), tile) * tile;
	shard.width = (uint32_t)tt_div_up(tt_decode_number(launch, TT_DECODE_COLS),
					  ttnn_core_set_cores(shard.grid));
	return ttnn_memory_config_sharded(out, TTNN_WIDTH_SHARDED, TTNN_L1, &shard);
}

static tt_status decode_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[TT_DECODE_A]->spec;
	const struct ttnn_value *dtype = &launch->attrs[TT_DECODE_DTYPE];
	struct ttnn_spec_args args = {.shape = a->shape, .layout = TTNN_TILE, .tile = a->tile};

	TT_NEED(a->shape.rank, "matmul_decode: a scalar has no columns");
	args.shape.dim[a->shape.rank - 1] = tt_decode_number(launch, TT_DECODE_COLS);
	args.dtype = tt_value_given(dtype) ? (enum ttnn_dtype)dtype->integer : a->dtype;
	TT_TRY(decode_memory(&args.memory, launch));
	return ttnn_tensor_spec_make(&launch->specs[0], &args);
}

/* ---- program memory -------------------------------------------------------------------------------------------- */

static tt_status decode_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = tt_decode_is_batched(launch)               ? BATCHED
	       : launch->attrs[TT_DECODE_PARTIAL].boolean ? PARTIAL_K
							  : FULL;
	return TTNN_OK;
}

static uint64_t page_of(const struct tt_tensor *tensor)
{
	return tt_dtype_tile_bytes(tensor->spec.dtype, &tensor->spec.tile);
}

/* The rectangle around two sets of cores. */
static tt_status around(const ttnn_core_set **out, const ttnn_core_set *a, const ttnn_core_set *b)
{
	const ttnn_core_set *both;
	struct ttnn_core_range box;

	TT_TRY(tt_core_set_merge(&both, a, b));
	TT_TRY(tt_core_set_box(&box, both));
	return ttnn_core_set_make(out, &box, 1);
}

/* Two of the cores pass a on. */
static tt_status check_hubs(const ttnn_core_set *cores, const char *what)
{
	TT_REQUIRE(ttnn_core_set_cores(cores) >= 2,
		   "num_receivers >= 2 && hub0_logical != hub1_logical",
		   "%s matmul_decode two-hub broadcast requires a compute rectangle of at least 2 "
		   "cores",
		   what);
	return TTNN_OK;
}

static tt_status full_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *a = launch->inputs[TT_DECODE_A], *b = launch->inputs[TT_DECODE_B],
			 *out = launch->outputs[0];
	const struct ttnn_shard_spec *in0 = tt_decode_shard(launch, TT_DECODE_A),
				     *in1 = tt_decode_shard(launch, TT_DECODE_B);
	uint64_t m = tt_decode_row_tiles(launch),
		 k = tt_div_up(tt_decode_number(launch, TT_DECODE_INNER), TT_TILE);
	uint64_t n = in1->width / TT_TILE;
	const ttnn_core_set *cores;

	TT_TRY(tt_decode_check_tiles(launch));
	TT_NEED(out->spec.memory.has_shard, "bad optional access");
	TT_REQUIRE(out->spec.memory.shard.grid == in1->grid,
		   "inputB_core_range_set == output_core_range_set",
		   "Input tensor A and output tensor must have the same core range set");
	TT_REQUIRE(in0->height == m * a->spec.tile.height,
		   "inputA_shard_shape[0] == (M_tiles * inputA_tile_height)",
		   "Input tensor A shard shape %u [0] must be equal to M_tiles %u * tile height %u",
		   in0->height, (uint32_t)m, a->spec.tile.height);
	TT_REQUIRE(in0->width % TT_TILE == 0,
		   "inputA_shard_shape[1] % tt::constants::TILE_WIDTH == 0",
		   "Input tensor A must have a width that is divisible by the tile width");
	TT_REQUIRE(in1->height == k * TT_TILE,
		   "inputB_shard_shape[0] == (K_tiles * tt::constants::TILE_HEIGHT)",
		   "Input tensor B shard shape %u [0] must be equal to K_tiles %u * tile height 32",
		   in1->height, (uint32_t)k);
	TT_REQUIRE(in1->width % TT_TILE == 0,
		   "inputB_shard_shape[1] % tt::constants::TILE_WIDTH == 0",
		   "Input tensor B must have a width that is divisible by the tile width");
	TT_TRY(around(&cores, in0->grid, in1->grid));
	TT_TRY(check_hubs(cores, "full_width_sharded"));
	return TT_PLAN(plan, cores,
		       TT_CB_ROW(0, "in0", .pages = m * (in0->width / TT_TILE), .page = page_of(a),
				 .backing = a),
		       TT_CB_ROW(1, "in1", .pages = k * n, .page = page_of(b), .backing = b),
		       TT_CB_ROW(2, "out", .pages = m * n, .page = page_of(out), .backing = out),
		       TT_CB_ROW(3, "full_in0", .pages = m * k, .page = page_of(a)));
}

static tt_status partial_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *a = launch->inputs[TT_DECODE_A], *b = launch->inputs[TT_DECODE_B],
			 *out = launch->outputs[0];
	const struct ttnn_shard_spec *in0 = tt_decode_shard(launch, TT_DECODE_A),
				     *in1 = tt_decode_shard(launch, TT_DECODE_B);
	uint64_t m = tt_decode_row_tiles(launch),
		 k = tt_div_up(tt_decode_number(launch, TT_DECODE_INNER), TT_TILE);
	uint64_t high = in1->height / TT_TILE, wide = in1->width / TT_TILE, blocks = k / high;
	uint32_t n_blocks = (uint32_t)(ttnn_core_set_cores(in1->grid) / blocks);
	const ttnn_core_set *grid, *cores;

	TT_TRY(tt_decode_check_tiles(launch));
	TT_NEED(out->spec.memory.has_shard, "bad optional access");
	grid = out->spec.memory.shard.grid;
	TT_REQUIRE(ttnn_core_set_cores(grid) == n_blocks,
		   "output_core_range_set.num_cores() == N_blocks",
		   "Output must be sharded across N_blocks %u cores, but got %llu", n_blocks,
		   (unsigned long long)ttnn_core_set_cores(grid));
	TT_TRY(tt_core_set_merge(&cores, in0->grid, in1->grid));
	TT_TRY(around(&cores, cores, grid));
	TT_TRY(check_hubs(cores, "partial_width_sharded"));
	for (uint32_t i = 0; i < n_blocks; i++) {
		struct ttnn_core core = tt_core_set_at(in1->grid, i, TTNN_ORIENT_ROW_MAJOR);

		TT_REQUIRE(tt_core_set_contains(grid, core),
			   "output_core_range_set.contains(b_cores[idx])",
			   "Base core %u-%u is not in output core range set", core.x, core.y);
	}
	return TT_PLAN(plan, cores,
		       TT_CB_ROW(0, "in0", .pages = m * (in0->width / TT_TILE), .page = page_of(a),
				 .backing = a),
		       TT_CB_ROW(1, "in1", .pages = high * wide, .page = page_of(b), .backing = b),
		       TT_CB_ROW(2, "out", .pages = m * wide, .page = page_of(out), .cores = grid,
				 .backing = out),
		       TT_CB_ROW(3, "full_in0", .pages = m * k, .page = page_of(a)),
		       TT_CB_ROW(4, "partial", .pages = m * wide, .page = page_of(out)),
		       TT_CB_ROW(5, "reduce", .pages = blocks * m * wide, .page = page_of(out)));
}

static tt_status batched_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *a = launch->inputs[TT_DECODE_A], *b = launch->inputs[TT_DECODE_B],
			 *out = launch->outputs[0];
	const struct ttnn_shard_spec *in0 = tt_decode_shard(launch, TT_DECODE_A),
				     *in1 = tt_decode_shard(launch, TT_DECODE_B);
	uint64_t m = tt_decode_row_tiles(launch),
		 k = tt_div_up(tt_decode_number(launch, TT_DECODE_INNER), TT_TILE);
	uint64_t batch = tt_decode_number(launch, TT_DECODE_BATCH),
		 each = batch / tt_decode_number(launch, TT_DECODE_B_BLOCKS);
	uint64_t n = in1->width / TT_TILE;
	const ttnn_core_set *cores;

	TT_TRY(tt_decode_check_tiles(launch));
	TT_TRY(around(&cores, in0->grid, in1->grid));
	return TT_PLAN(plan, in1->grid,
		       TT_CB_ROW(0, "in0", .pages = batch * m * (in0->width / TT_TILE),
				 .page = page_of(a), .cores = cores, .backing = a),
		       TT_CB_ROW(1, "in1", .pages = in1->height / TT_TILE * n, .page = page_of(b),
				 .backing = b),
		       TT_CB_ROW(2, "out", .pages = each * m * n, .page = page_of(out)),
		       TT_CB_ROW(3, "full_in0", .pages = each * m * k, .page = page_of(a)));
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Weights whose blocks are beside each other as [blocks × each, k, n]. */
static tt_status unfold(struct tt_tensor **out, struct tt_tensor *b, uint32_t blocks,
			const struct ttnn_shape *shape)
{
	uint32_t each = shape->dim[0] / blocks, k = shape->dim[1], n = shape->dim[2];
	int32_t rows = (int32_t)b->spec.shape.rank - 2, cols = rows + 1;
	const struct tt_move_loop loops[] = {
		{blocks, cols, 0, n, each},
		{each, rows, 0, k, 1},
		{k, rows, 1, 1, 1},
		{n, cols, 2, 1, 1},
	};

	TT_TRY(tt_scratch(out, shape, b->spec.dtype == TTNN_FLOAT32 ? TTNN_FLOAT32 : TTNN_BFLOAT16,
			  TTNN_TILE));
	return tt_backend_get()->move(&(struct tt_move_job){
		.out = *out, .in = b, .loops = loops, .loop_count = TT_COUNT(loops)});
}

/* The weights as they are multiplied with. */
static tt_status weights_of(struct tt_tensor **out, const struct tt_launch *launch)
{
	struct tt_tensor *b = launch->inputs[TT_DECODE_B], *apart;
	const uint32_t *a = launch->inputs[TT_DECODE_A]->spec.shape.dim;
	uint32_t k = tt_decode_number(launch, TT_DECODE_INNER),
		 n = tt_decode_number(launch, TT_DECODE_COLS), blocks;
	struct ttnn_shape shape, whole;

	if (!tt_decode_is_batched(launch) && !launch->attrs[TT_DECODE_PARTIAL].boolean) {
		*out = b;
		return TTNN_OK;
	}
	if (tt_decode_is_batched(launch)) {
		blocks = tt_decode_number(launch, TT_DECODE_B_BLOCKS);
		shape = TT_SHAPE(tt_decode_number(launch, TT_DECODE_BATCH), k, n);
		whole = TT_SHAPE(a[0], a[1], k, n);
	} else {
		blocks = k / tt_shape_last(&b->spec.shape, 2);
		shape = TT_SHAPE(blocks, k / blocks, n);
		whole = TT_SHAPE(k, n);
	}
	TT_TRY(unfold(&apart, b, blocks, &shape));
	TT_TRY(tt_scratch(out, &whole, apart->spec.dtype, TTNN_TILE));
	return tt_backend_get()->reshape(*out, apart);
}

static tt_status decode_kernel(struct tt_launch *launch)
{
	struct tt_matmul_job job = {
		.out = launch->outputs[0], .a = launch->inputs[TT_DECODE_A], .alpha = 1, .beta = 1};

	TT_TRY(weights_of(&job.b, launch));
	return tt_backend_get()->matmul(&job);
}

#define FACTORY "ttnn::operations::experimental::matmul_decode::MatmulDecodeDeviceOperation::"
static const struct tt_factory factories[] = {
	[FULL] = TT_FACTORY_ROW(FACTORY "FullWidthSharded", full_rows),
	[PARTIAL_K] = TT_FACTORY_ROW(FACTORY "PartialWidthSharded", partial_rows),
	[BATCHED] = TT_FACTORY_ROW(FACTORY "BatchedWidthSharded", batched_rows),
};
static const struct tt_prog program = {
	.device_op = "MatmulDecodeDeviceOperation",
	.prim = "ttnn::prim::matmul_decode",
	.attrs = &schema,
	.infer = decode_infer,
	.validate = tt_decode_validate,
	TT_FACTORIES(factories),
	.choose = decode_choose,
	TT_KERNEL(decode_kernel),
};

/* ---- operations ------------------------------------------------------------------------------------------------ */

/* How the weights of a batch are folded follows from their shape. */
static tt_status fold_of(struct ttnn_value attrs[TT_DECODE_ATTRS], const struct tt_tensor *b)
{
	uint32_t batch = (uint32_t)attrs[TT_DECODE_BATCH].integer,
		 k = (uint32_t)attrs[TT_DECODE_INNER].integer;
	uint32_t high = tt_shape_last(&b->spec.shape, 2), wide = tt_shape_last(&b->spec.shape, 1);
	uint32_t each, blocks, cores;

	TT_REQUIRE(b->spec.shape.rank == 4, "input_tensor_b.logical_shape().rank() == 4",
		   "batched matmul_decode with batch %u > 1 requires rank-4 weights, but got rank "
		   "%u",
		   batch, b->spec.shape.rank);
	TT_REQUIRE(k && high % k == 0, "K > 0 && weight_height % K == 0",
		   "batched matmul_decode: weight height %u must be a multiple of K %u (weight "
		   "height = Bc * K)",
		   high, k);
	each = high / k;
	TT_REQUIRE(each && batch % each == 0, "Bc > 0 && batch % Bc == 0",
		   "batched matmul_decode: batch %u must be a multiple of Bc %u (Bc = "
		   "weight_height / K)",
		   batch, each);
	blocks = batch / each;
	TT_REQUIRE(wide % blocks == 0, "weight_width % b_blocks == 0",
		   "batched matmul_decode: weight width %u must be a multiple of b_blocks %u "
		   "(weight width = b_blocks * N)",
		   wide, blocks);
	TT_NEED(b->spec.memory.has_shard, "bad optional access");
	cores = (uint32_t)ttnn_core_set_cores(b->spec.memory.shard.grid);
	TT_REQUIRE(cores % blocks == 0, "num_B_cores % b_blocks == 0",
		   "batched matmul_decode: number of weight cores %u must be a multiple of "
		   "b_blocks %u",
		   cores, blocks);
	attrs[TT_DECODE_COLS] = ttnn_v_int(wide / blocks);
	attrs[TT_DECODE_PARTIAL] = ttnn_v_bool(false);
	attrs[TT_DECODE_B_BLOCKS] = ttnn_v_int(blocks);
	attrs[TT_DECODE_N_BLOCKS] = ttnn_v_int(cores / blocks);
	return TTNN_OK;
}

static tt_status decode(struct tt_call *call)
{
	struct tt_tensor *a = tt_call_tensor(call, "input_tensor_a");
	struct tt_tensor *b = tt_call_tensor(call, "input_tensor_b");
	bool partial = tt_call_bool(call, "partial_width_sharded", false);
	const struct ttnn_shape *shape = &a->spec.shape;
	uint32_t k = tt_shape_last(shape, 1), k_b = tt_shape_last(&b->spec.shape, 2);
	uint32_t n = tt_shape_last(&b->spec.shape, 1);
	struct ttnn_value attrs[TT_DECODE_ATTRS] = {
		[TT_DECODE_ROWS] = ttnn_v_int(tt_shape_last(shape, 2)),
		[TT_DECODE_INNER] = ttnn_v_int(k),
		[TT_DECODE_DTYPE] = *tt_call_arg(call, "dtype"),
		[TT_DECODE_PARTIAL] = ttnn_v_bool(partial),
		[TT_DECODE_BATCH] = ttnn_v_int(1),
		[TT_DECODE_B_BLOCKS] = ttnn_v_int(1),
		[TT_DECODE_N_BLOCKS] = ttnn_v_int(1),
	};

	TT_NEED(shape->rank >= 2 && b->spec.shape.rank >= 2,
		"inputs have two dimensions at least, not %u and %u", shape->rank,
		b->spec.shape.rank);
	if (shape->rank == 4 && (uint64_t)shape->dim[0] * shape->dim[1] > 1) {
		attrs[TT_DECODE_BATCH] = ttnn_v_int((int64_t)shape->dim[0] * shape->dim[1]);
		TT_TRY(fold_of(attrs, b));
	} else {
		TT_REQUIRE(!partial || k < k_b || (k_b && k % k_b == 0), "K_a % K_b == 0",
			   "K_a must be divisible by K_b");
		attrs[TT_DECODE_COLS] = ttnn_v_int(partial && k_b && k >= k_b ? n / (k / k_b) : n);
	}
	return TT_LAUNCH_RETURN(call, &program, TT_INPUTS(a, b),
				.attrs = tt_attrs_bind(call, &schema, attrs));
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.matmul_decode",
	 .doc = "A product of few rows with weights that lie in blocks on cores.",
	 .sigs = {"input_tensor_a: Tensor, input_tensor_b: Tensor, *, partial_width_sharded: bool "
		  "= False, dtype: DataType? = None, output_mem_config: MemoryConfig? = None"},
	 .expand = decode,
	 .golden = tt_golden_matmul_decode,
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_matmul_decode = {"matmul_decode", ops, TT_COUNT(ops)};
