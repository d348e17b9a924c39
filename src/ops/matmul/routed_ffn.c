/*
 * routed_ffn.c: what one expert of a prefill makes of its tokens: down(silu(gate(x)) * up(x)).
 *
 * Models routed_expert_ffn of ttnn 0.81 (deepseek_prefill), which is made of products with configs of its own: by Wormhole in 8 x 8
 * cores (of many rows without configs), by Blackhole in 11 x 8 cores, of many rows part by part.
 */
#include <inttypes.h>

#include "device/generation.h"
#include "golden/golden_ffn.h"
#include "ops/activation.h"
#include "ops/matmul/matmul.h"
#include "ops/usual.h"

/* The grids for which upstream has chosen blocks. */
#define ROWS 8
#define COLS_WORMHOLE 8
#define COLS_BLACKHOLE 11
#define ROW_TILES 4 /* of a core, before more rows of cores are taken */
#define MOST_TILES 64
#define GATE_BLOCK 16 /* on Blackhole */
#define MOST_SUB 8

struct ffn {
	struct tt_call *call;
	struct tt_tensor *x, *gate, *up, *down, *output;
	bool blackhole;
	uint32_t cols, rows, m; /* the cores of a product, and their rows of tiles */
};

static uint32_t tiles(const struct tt_tensor *tensor, uint32_t from_end)
{
	return tt_shape_last(&tensor->spec.padded, from_end) / TT_TILE;
}

static uint32_t largest_divisor(uint32_t number, uint32_t most)
{
	while (most > 1 && number % most)
		most--;
	return most;
}

/* The config of a product with so many columns of tiles for each core. */
static tt_status config_of(struct ttnn_value *out, const struct ffn *ffn, uint32_t n,
			   const uint32_t k_sub[2], bool fuse)
{
	struct tt_matmul_config config = {.kind = TT_MATMUL_2D,
					  .grid = {ffn->cols, ffn->rows},
					  .k = k_sub[0],
					  .sub_h = 1,
					  .sub_w = k_sub[1],
					  .block_h = ffn->m,
					  .block_w = n,
					  .m = ffn->m,
					  .n = n,
					  .fuse_batch = fuse,
					  .activation = ttnn_v_none()};

	return tt_matmul_config_value(out, ffn->call->arena, &config);
}

static tt_status shards_of(struct ttnn_memory_config *out, const struct ffn *ffn, uint32_t n)
{
	struct ttnn_shard_spec shard = {.height = ffn->m * TT_TILE, .width = n * TT_TILE};

	TT_TRY(tt_core_set_grid(&shard.grid, ffn->cols, ffn->rows));
	return ttnn_memory_config_sharded(out, TTNN_BLOCK_SHARDED, TTNN_L1, &shard);
}

/* What differs between products; what is NULL is left out. */
struct product {
	struct tt_tensor *a, *b, *output;
	const struct ttnn_memory_config *memory;
	const struct ttnn_value *config;
	bool silu;
};

static tt_status multiply(struct tt_tensor **out, struct tt_call *call, const struct product *of)
{
	struct ttnn_arg args[7] = {
		{"input_tensor_a", ttnn_v_tensor(of->a)},
		{"input_tensor_b", ttnn_v_tensor(of->b)},
		{"compute_kernel_config", *tt_call_arg(call, "compute_kernel_config")}};
	size_t count = 3;

	if (of->memory)
		args[count++] = (struct ttnn_arg){"memory_config", ttnn_v_memory(of->memory)};
	if (of->config)
		args[count++] = (struct ttnn_arg){"program_config", *of->config};
	if (of->silu)
		args[count++] = (struct ttnn_arg){"activation", ttnn_v_string("silu")};
	if (of->output)
		args[count++] =
			(struct ttnn_arg){"optional_output_tensor", ttnn_v_tensor(of->output)};
	return tt_call_owned(call, tt_call_op(out, call, "ttnn.matmul", args, count), out);
}

static tt_status times(struct tt_tensor *gate, struct ffn *ffn, struct tt_tensor *up)
{
	struct tt_tensor *same;

	TT_TRY(TT_CALL(&same, ffn->call, "ttnn.multiply_", {NULL, ttnn_v_tensor(gate)},
		       {NULL, ttnn_v_tensor(up)}));
	ttnn_tensor_unref(same);
	tt_call_drop(ffn->call, up);
	return TTNN_OK;
}

/* The deepest block of the product that fits into L1 with what is there already. */
static tt_status best_block(uint32_t *out, const struct ffn *ffn, struct tt_tensor *a, uint32_t n,
			    uint32_t depth)
{
	struct tt_matmul matmul = {
		.call = ffn->call, .a = a, .b = ffn->down, .activation = ttnn_v_none()};
	enum ttnn_dtype dtype = ffn->x->spec.dtype;

	TT_TRY(tt_matmul_complete(&matmul, NULL, &dtype, NULL,
				  tt_call_arg(ffn->call, "compute_kernel_config")));
	*out = 0;
	for (uint32_t k = 1; k <= depth; k++)
		if (depth % k == 0 && tt_matmul_estimate(&matmul, ffn->m, n, k) < matmul.room)
			*out = k;
	TT_REQUIRE(*out, "false",
		   "best_in0_block_w: no in0_block_w divides upper bound %u and fits L1. "
		   "per_core_M=%u, per_core_N=%u, in0 dtype=DataType::%s, in1 dtype=DataType::%s, "
		   "output dtype=DataType::%s. L1 budget 100%%: %" PRIu64
		   " B; minimum estimated CB size (at in0_block_w=1): %u B. Consider reducing "
		   "per_core_M/per_core_N, using a smaller weight dtype (bfp8/bfp4), or using a "
		   "larger compute grid to shrink per-core work.",
		   depth, ffn->m, n, tt_enum_name(&tt_enum_dtype, (int64_t)a->spec.dtype),
		   tt_enum_name(&tt_enum_dtype, (int64_t)ffn->down->spec.dtype),
		   tt_enum_name(&tt_enum_dtype, (int64_t)dtype), matmul.room,
		   tt_matmul_estimate(&matmul, ffn->m, n, 1));
	return TTNN_OK;
}

/* Rows of cores for the rows of tiles. */
static tt_status cut_rows(struct ffn *ffn)
{
	uint32_t all = tiles(ffn->x, 2), wanted = tt_div_up32(all, ROW_TILES);

	TT_NEED(all && tiles(ffn->gate, 1) && tiles(ffn->gate, 2) && tiles(ffn->down, 1),
		"routed_expert_ffn: there is nothing to multiply");
	ffn->rows = wanted < ROWS ? wanted : ROWS;
	ffn->m = tt_div_up32(all, ffn->rows);
	return TTNN_OK;
}

/* ---- Wormhole ---------------------------------------------------------------------------------------------------- */

/* Without configs. */
static tt_status run_default(struct tt_tensor **out, struct ffn *ffn)
{
	struct tt_tensor *gate, *up;

	TT_TRY(multiply(&gate, ffn->call,
			&(struct product){.a = ffn->x, .b = ffn->gate, .silu = true}));
	TT_TRY(multiply(&up, ffn->call, &(struct product){.a = ffn->x, .b = ffn->up}));
	TT_TRY(times(gate, ffn, up));
	TT_TRY(multiply(out, ffn->call,
			&(struct product){.a = gate, .b = ffn->down, .output = ffn->output}));
	tt_call_drop(ffn->call, gate);
	return TTNN_OK;
}

/* The first of upstream's favourites that divides the depth. */
static uint32_t gate_block(uint32_t depth)
{
	static const uint32_t favourites[] = {7, 5, 8, 4, 3, 2};

	for (size_t i = 0; i < TT_COUNT(favourites); i++)
		if (depth % favourites[i] == 0)
			return favourites[i];
	return 1;
}

static tt_status run_down_wormhole(struct tt_tensor **out, struct ffn *ffn, struct tt_tensor *gate,
				   uint32_t gate_n)
{
	static const struct ttnn_memory_config dram = {.buffer = TTNN_DRAM};
	uint32_t n = tt_div_up32(tiles(ffn->down, 1), ffn->cols), k_sub[2];
	const struct ttnn_value *given = tt_call_arg(ffn->call, "output");
	struct ttnn_memory_config memory;
	struct ttnn_value config;
	struct tt_tensor *result;

	k_sub[1] = largest_divisor(n, MOST_SUB);
	TT_TRY(best_block(&k_sub[0], ffn, gate, n, tt_matmul_gcd(tiles(ffn->gate, 1), gate_n)));
	TT_TRY(config_of(&config, ffn, n, k_sub, true));
	TT_TRY(shards_of(&memory, ffn, n));
	TT_TRY(multiply(&result, ffn->call,
			&(struct product){gate, ffn->down, .memory = &memory, .config = &config}));
	tt_call_drop(ffn->call, gate);
	TT_TRY(tt_call_owned(
		ffn->call,
		TT_CALL(out, ffn->call, "ttnn.to_memory_config", {"tensor", ttnn_v_tensor(result)},
			{"memory_config", ttnn_v_memory(&dram)}, {"output_tensor", *given}),
		out));
	tt_call_drop(ffn->call, result);
	return TTNN_OK;
}

static tt_status run_wormhole(struct tt_tensor **out, struct ffn *ffn)
{
	struct ttnn_core grid = ffn->call->device->info.compute_grid;
	struct ttnn_memory_config memory;
	struct tt_tensor *gate, *up;
	struct ttnn_value config;
	uint32_t n, k_sub[2];

	TT_REQUIRE(grid.x == COLS_WORMHOLE && grid.y == ROWS,
		   "grid_size.x == GRID_X && grid_size.y == GRID_Y",
		   "routed_expert_ffn_wh: expected %dx%d compute grid, got %ux%u", COLS_WORMHOLE,
		   ROWS, grid.x, grid.y);
	TT_TRY(cut_rows(ffn));
	n = tt_div_up32(tiles(ffn->gate, 1), ffn->cols);
	k_sub[0] = gate_block(tiles(ffn->gate, 2));
	k_sub[1] = largest_divisor(n, MOST_SUB);
	TT_TRY(config_of(&config, ffn, n, k_sub, false));
	TT_TRY(shards_of(&memory, ffn, n));
	TT_TRY(multiply(&gate, ffn->call,
			&(struct product){ffn->x, ffn->gate, NULL, &memory, &config, true}));
	TT_TRY(multiply(&up, ffn->call,
			&(struct product){ffn->x, ffn->up, NULL, &memory, &config, false}));
	TT_TRY(times(gate, ffn, up));
	return run_down_wormhole(out, ffn, gate, n);
}

/* ---- Blackhole --------------------------------------------------------------------------------------------------- */

/* The product of both, of which one goes through silu, out of shards. */
static tt_status activate(struct tt_tensor **out, struct ffn *ffn, struct tt_tensor *gate,
			  struct tt_tensor *up)
{
	static const struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	struct ttnn_value silu;

	TT_TRY(tt_activation_named(&silu, ffn->call->arena, "silu"));
	TT_TRY(tt_call_owned(ffn->call,
			     TT_CALL(out, ffn->call, "ttnn.multiply",
				     {"input_tensor_a", ttnn_v_tensor(gate)},
				     {"input_tensor_b", ttnn_v_tensor(up)},
				     {"memory_config", ttnn_v_memory(&l1)},
				     {"input_tensor_a_activations", ttnn_v_list(&silu, 1)}),
			     out));
	tt_call_drop(ffn->call, gate);
	tt_call_drop(ffn->call, up);
	return TTNN_OK;
}

static tt_status run_blackhole(struct tt_tensor **out, struct ffn *ffn)
{
	struct ttnn_core grid = ffn->call->device->info.compute_grid;
	uint32_t n = tt_div_up32(tiles(ffn->gate, 1), ffn->cols), k_sub[2] = {GATE_BLOCK, n};
	struct tt_tensor *gate, *up, *active;
	struct ttnn_memory_config memory;
	struct ttnn_value config;

	TT_REQUIRE(grid.x >= COLS_BLACKHOLE && grid.y >= ROWS,
		   "grid_size.x >= GRID_X && grid_size.y >= GRID_Y",
		   "routed_expert_ffn_bh: expected at least %dx%d compute grid, got %ux%u",
		   COLS_BLACKHOLE, ROWS, grid.x, grid.y);
	TT_TRY(cut_rows(ffn));
	TT_TRY(config_of(&config, ffn, n, k_sub, false));
	TT_TRY(shards_of(&memory, ffn, n));
	TT_TRY(multiply(&gate, ffn->call,
			&(struct product){ffn->x, ffn->gate, NULL, &memory, &config, false}));
	TT_TRY(multiply(&up, ffn->call,
			&(struct product){ffn->x, ffn->up, NULL, &memory, &config, false}));
	TT_TRY(activate(&active, ffn, gate, up));
	n = tt_div_up32(tiles(ffn->down, 1), ffn->cols);
	k_sub[1] = largest_divisor(n, MOST_SUB);
	TT_TRY(best_block(&k_sub[0], ffn, active, n, tiles(ffn->down, 2)));
	TT_TRY(config_of(&config, ffn, n, k_sub, false));
	TT_TRY(multiply(out, ffn->call,
			&(struct product){active, ffn->down, ffn->output, NULL, &config, false}));
	tt_call_drop(ffn->call, active);
	return TTNN_OK;
}

/* Some rows of a tensor, in its memory. */
static tt_status rows_of(struct tt_tensor **out, struct ffn *ffn, struct tt_tensor *tensor,
			 const uint32_t first_count[2])
{
	int64_t dim = (int64_t)ffn->x->spec.shape.rank - 2;

	return tt_call_owned(
		ffn->call,
		TT_CALL(out, ffn->call, "ttnn.narrow", {"input_tensor", ttnn_v_tensor(tensor)},
			{"dim", ttnn_v_int(dim)}, {"start", ttnn_v_int(first_count[0])},
			{"length", ttnn_v_int(first_count[1])}),
		out);
}

/* What many rows need: a result of all of them, if none was given. */
static tt_status full_output(struct tt_tensor **out, struct ffn *ffn)
{
	static const struct ttnn_memory_config dram = {.buffer = TTNN_DRAM};
	struct ttnn_shape shape = ffn->x->spec.padded;
	uint32_t width = tt_shape_last(&ffn->down->spec.padded, 1);

	for (uint32_t i = 0; i + 2 < shape.rank; i++)
		TT_REQUIRE(shape.dim[i] == 1, "x_shape[i] == 1",
			   "routed_expert_ffn_chunked: x leading dim %u must be 1, got %u", i,
			   shape.dim[i]);
	shape.dim[shape.rank - 1] = width;
	if (ffn->output) {
		const struct ttnn_shape *given = &ffn->output->spec.padded;
		char text[128];

		*out = ffn->output;
		if (tt_shape_last(given, 2) == tt_shape_last(&shape, 2) &&
		    tt_shape_last(given, 1) == width)
			return TTNN_OK;
		snprintf(text, sizeof(text),
			 "routed_expert_ffn_chunked: supplied output tensor shape %%s does not "
			 "match expected (%u, %u)",
			 tt_shape_last(&shape, 2), width);
		return tt_fail_shapes(TTNN_INVALID,
				      "output->padded_shape()[-2] == M && "
				      "output->padded_shape()[-1] == N",
				      text, given, given);
	}
	return tt_call_owned(ffn->call,
			     TT_CALL(out, ffn->call, "ttnn.empty", {"shape", ttnn_v_shape(&shape)},
				     {"dtype", ttnn_v_dtype(ffn->x->spec.dtype)},
				     {"layout", ttnn_v_layout(TTNN_TILE)},
				     {"device", ttnn_v_device(tt_tensor_device(ffn->x))},
				     {"memory_config", ttnn_v_memory(&dram)}),
			     out);
}

/* Part by part, read and written where their rows are. */
static tt_status run_parts(struct tt_tensor **out, struct ffn *ffn)
{
	uint32_t all = tiles(ffn->x, 2), count = tt_div_up32(all, MOST_TILES);

	TT_TRY(full_output(out, ffn));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t left = all - i * MOST_TILES, most = left < MOST_TILES ? left : MOST_TILES;
		uint32_t rows[2] = {i * MOST_TILES * TT_TILE, most * TT_TILE};
		struct ffn part = *ffn;
		struct tt_tensor *result;

		TT_TRY(rows_of(&part.x, ffn, ffn->x, rows));
		TT_TRY(rows_of(&part.output, ffn, *out, rows));
		TT_TRY(run_blackhole(&result, &part));
		tt_call_overwrite(ffn->call, result);
		tt_call_overwrite(ffn->call, part.output);
		tt_call_overwrite(ffn->call, part.x);
	}
	return TTNN_OK;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static tt_status run(struct tt_tensor **out, struct ffn *ffn)
{
	uint32_t rows = tiles(ffn->x, 2);
	enum ttnn_dtype dtype = ffn->x->spec.dtype;

	if (!ffn->blackhole && rows > MOST_TILES)
		return run_default(out, ffn);
	TT_REQUIRE(dtype == TTNN_BFLOAT16 || dtype == TTNN_BFLOAT8_B,
		   "x.dtype() == DataType::BFLOAT16 || x.dtype() == DataType::BFLOAT8_B",
		   "routed_expert_ffn: x must be BFLOAT16 or BFLOAT8_B, got DataType::%s",
		   tt_enum_name(&tt_enum_dtype, (int64_t)dtype));
	if (!ffn->blackhole)
		return run_wormhole(out, ffn);
	return rows > MOST_TILES ? run_parts(out, ffn) : run_blackhole(out, ffn);
}

static tt_status ffn_expand(struct tt_call *call)
{
	struct ffn ffn = {.call = call,
			  .x = tt_call_tensor(call, "x"),
			  .gate = tt_call_tensor(call, "gate_proj"),
			  .up = tt_call_tensor(call, "up_proj"),
			  .down = tt_call_tensor(call, "down_proj"),
			  .output = tt_call_tensor(call, "output")};
	struct tt_tensor *out = NULL;

	TT_REQUIRE(call->device && tt_tensor_device(ffn.x), "storage_type == DEVICE",
		   "%s: the tensor must be on a device", call->entry->op->name);
	TT_NEED(ffn.x->spec.shape.rank > 1 && ffn.gate->spec.shape.rank > 1 &&
			ffn.down->spec.shape.rank > 1,
		"routed_expert_ffn: tensors have two dimensions at least");
	ffn.blackhole = tt_is_blackhole(call->device);
	ffn.cols = ffn.blackhole ? COLS_BLACKHOLE : COLS_WORMHOLE;
	TT_TRY(run(&out, &ffn));
	tt_call_return(call, ttnn_tensor_ref(out));
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.deepseek_prefill.routed_expert_ffn",
	 .family = "routed_ffn",
	 .doc = "What an expert makes of tokens: their gates, through silu, times up, then down.",
	 .sigs = {"x: Tensor, gate_proj: Tensor, up_proj: Tensor, down_proj: Tensor, *, "
		  "compute_kernel_config: ComputeConfig? = None, output: Tensor? = None"},
	 .expand = ffn_expand,
	 .golden = tt_golden_routed_ffn,
	 .pcc = 0.99},
};

const struct tt_op_family tt_family_routed_ffn = {"routed_ffn", ops, TT_COUNT(ops)};
