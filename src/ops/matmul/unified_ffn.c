/*
 * unified_ffn.c: what all experts of a chip make of their tokens in the buffer that they share: down(act(gate(x), up(x))).
 *
 * Models UnifiedRoutedExpertFfnDeviceOperation of ttnn 0.81 (deepseek_prefill) with its factory: refusals, the choice of blocks that fit
 * into L1, memory, cores. Rows of tiles go in place where they can; experts with fewer tokens than the least or more than the most that are
 * active are left alone. Not modelled: weights that lie in shards by rows of tiles.
 */
#include <inttypes.h>
#include <math.h>

#include "backend/backend.h"
#include "device/generation.h"
#include "golden/golden_ffn.h"
#include "ops/compute.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/movement.h"
#include "ops/op_enums.h"
#include "ops/usual.h"
#include "ops/values.h"
#include "tensor/text.h"

#define ATTRS(X)                                                                                   \
	X(ROWS, "m_tiles")                                                                         \
	X(EXPERTS, "experts_per_chip")                                                             \
	X(IN_ROWS, "x_is_row_major")                                                               \
	X(ACTIVATION, "activation")                                                                \
	X(BIASED, "fuse_bias")                                                                     \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(LEAST, "min_active_tokens")                                                              \
	X(MOST, "max_active_tokens")
TT_ATTRS(schema, "UnifiedRoutedExpertFfnParams", ATTRS);
enum { SILU, SWIGLU_OAI, SITU_GLU, CLAMPED_SILU_GLU };
enum { GATE, UP, DOWN, PARTS };
/* Inputs: tokens, three weights of each expert, these, three biases of each expert. */
enum { COUNTS, TABLE, OUTPUT, REGIONS, TABLES };
#define COLS 11
#define CORE_ROWS 8
#define MOST_CORE_ROWS 4 /* tiles that a core takes at once, */
#define MOST_DEPTH 16    /* and how deep */
#define MOST_SUB 8
#define SCRATCH_MARGIN (48 * 1024)
#define MOST_EXPERTS 1024

static uint32_t experts_of(const struct tt_launch *launch)
{
	return tt_attr_u32(launch, EXPERTS);
}

static struct tt_tensor *weight_of(const struct tt_launch *launch, uint32_t part, uint32_t expert)
{
	return launch->inputs[1 + part * experts_of(launch) + expert];
}

static struct tt_tensor *table_of(const struct tt_launch *launch, uint32_t table)
{
	return launch->inputs[1 + PARTS * experts_of(launch) + table];
}

static struct tt_tensor *bias_of(const struct tt_launch *launch, uint32_t part, uint32_t expert)
{
	if (!launch->attrs[BIASED].boolean)
		return NULL;
	return launch->inputs[1 + PARTS * experts_of(launch) + TABLES + part * experts_of(launch) +
			      expert];
}

/* An extent in tiles, from the end. */
static uint32_t tiles(const struct tt_tensor *tensor, uint32_t from_end)
{
	return tt_shape_last(&tensor->spec.padded, from_end) / TT_TILE;
}

static bool in_dram(const struct tt_tensor *tensor)
{
	return tensor->spec.memory.buffer == TTNN_DRAM &&
	       !tt_memory_config_is_sharded(&tensor->spec.memory);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static tt_status check_tokens(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *x = &launch->inputs[0]->spec;
	const char *dtype = tt_enum_name(&tt_enum_dtype, (int64_t)x->dtype);

	if (launch->attrs[IN_ROWS].boolean)
		TT_REQUIRE(x->dtype == TTNN_BFLOAT16,
			   "t.x.dtype() == tt::tt_metal::DataType::BFLOAT16",
			   "x must be BFLOAT16 when x_is_row_major, got DataType::%s", dtype);
	else
		TT_REQUIRE(x->dtype == TTNN_BFLOAT8_B,
			   "t.x.dtype() == tt::tt_metal::DataType::BFLOAT8_B",
			   "x must be BFLOAT8_B, got DataType::%s", dtype);
	TT_REQUIRE(in_dram(launch->inputs[0]), "is_dram_interleaved(t.x)",
		   "x must be DRAM-interleaved");
	TT_REQUIRE(x->shape.rank >= 2, "t.x.logical_shape().rank() >= 2",
		   "x must have rank >= 2, got rank %u", x->shape.rank);
	for (uint32_t i = 0; i + 2 < x->shape.rank; i++)
		TT_REQUIRE(x->shape.dim[i] == 1, "t.x.logical_shape()[i] == 1",
			   "x leading dim %u must be 1, got %u", i, x->shape.dim[i]);
	return TTNN_OK;
}

static tt_status check_extents(const struct tt_launch *launch)
{
	const struct ttnn_shape *x = &launch->inputs[0]->spec.padded;
	const struct ttnn_shape *gate = &weight_of(launch, GATE, 0)->spec.padded;
	const struct ttnn_shape *up = &weight_of(launch, UP, 0)->spec.padded;
	const struct ttnn_shape *down = &weight_of(launch, DOWN, 0)->spec.padded;
	uint32_t rows = tt_attr_u32(launch, ROWS), width = tt_shape_last(x, 1);

	TT_REQUIRE(width == tt_shape_last(gate, 2) && width == tt_shape_last(up, 2),
		   "x_shape[-1] == gate_shape[-2] && x_shape[-1] == up_shape[-2]",
		   "x's last dim %u must match gate/up's K dim (%u, %u)", width,
		   tt_shape_last(gate, 2), tt_shape_last(up, 2));
	TT_REQUIRE(tt_shape_last(gate, 1) == tt_shape_last(up, 1) &&
			   tt_shape_last(gate, 1) == tt_shape_last(down, 2),
		   "gate_shape[-1] == up_shape[-1] && gate_shape[-1] == down_shape[-2]",
		   "gate/up N (%u) must equal down K (%u)", tt_shape_last(gate, 1),
		   tt_shape_last(down, 2));
	TT_REQUIRE(tt_shape_last(down, 1) == width, "down_shape[-1] == x_shape[-1]",
		   "down N (%u) must equal x K (%u)", tt_shape_last(down, 1), width);
	TT_REQUIRE(tt_shape_last(x, 2) % TT_TILE == 0, "x_shape[-2] % TILE == 0",
		   "x M (%u) must be tile-aligned", tt_shape_last(x, 2));
	TT_REQUIRE(rows > 0, "op.m_tiles > 0", "m_tiles must be > 0");
	TT_REQUIRE(rows <= tt_shape_last(x, 2) / TT_TILE, "op.m_tiles <= x_shape[-2] / TILE",
		   "m_tiles (%u) must be <= x M in tiles (%u)", rows,
		   tt_shape_last(x, 2) / TT_TILE);
	TT_NEED(width && tt_shape_last(gate, 1), "weights must not be empty");
	return TTNN_OK;
}

static tt_status check_weight(const struct tt_launch *launch, uint32_t part, uint32_t expert)
{
	static const char *const names[] = {"gate_proj", "up_proj", "down_proj"};
	const struct tt_tensor *own = weight_of(launch, part, expert);
	const struct ttnn_tensor_spec *first = &weight_of(launch, part, 0)->spec;
	struct tt_str memory = {0};
	char text[224];
	tt_status status;

	TT_REQUIRE(own->spec.layout == TTNN_TILE, "w.layout() == tt::tt_metal::Layout::TILE",
		   "%s[%u] must be TILE layout", names[part], expert);
	if (!in_dram(own)) {
		tt_text_memory_config(&memory, &own->spec.memory, TTNN_DIALECT_TT_METAL);
		status = tt_fail_cond(
			TTNN_INVALID,
			"is_dram_interleaved(w) || is_dram_nd_sharded_by_tile_rows(w)",
			"%s[%u] must be DRAM-interleaved or DRAM ND-sharded with a tile-aligned "
			"shard, got %s",
			names[part], expert, tt_str_text(&memory));
		tt_str_deinit(&memory);
		return status;
	}
	if (ttnn_shape_equal(&own->spec.padded, &first->padded) && own->spec.dtype == first->dtype)
		return TTNN_OK;
	snprintf(text, sizeof(text),
		 "%s[%u] shape/dtype (%%s, DataType::%s) must match expert 0 (%%s, DataType::%s) — "
		 "all experts share one program",
		 names[part], expert, tt_enum_name(&tt_enum_dtype, (int64_t)own->spec.dtype),
		 tt_enum_name(&tt_enum_dtype, (int64_t)first->dtype));
	return tt_fail_shapes(TTNN_INVALID,
			      "w.padded_shape() == ref.padded_shape() && w.dtype() == ref.dtype()",
			      text, &own->spec.padded, &first->padded);
}

static tt_status check_counts(const struct tt_launch *launch)
{
	static const char *const names[] = {"counts", "global_expert_idx_table"};
	uint32_t own = experts_of(launch), there;

	for (uint32_t i = COUNTS; i <= TABLE; i++) {
		const struct tt_tensor *table = table_of(launch, i);
		uint32_t count = tt_shape_last(&table->spec.shape, 1);

		TT_REQUIRE(table->spec.dtype == TTNN_UINT32,
			   "a.dtype() == tt::tt_metal::DataType::UINT32", "%s must be UINT32",
			   names[i]);
		TT_REQUIRE(in_dram(table), "is_dram_interleaved(a)", "%s must be DRAM-interleaved",
			   names[i]);
		TT_REQUIRE(count <= MOST_EXPERTS, "num_entries <= MAX_GLOBAL_EXPERTS",
			   "%s length (%u) exceeds the maximum supported number of experts (%d) — "
			   "the reader fetches only page 0 of this tensor into a fixed-size L1 "
			   "scratch",
			   names[i], count, MOST_EXPERTS);
	}
	there = tt_shape_last(&table_of(launch, TABLE)->spec.shape, 1);
	TT_REQUIRE(own <= there,
		   "op.experts_per_chip <= t.global_expert_idx_table.logical_shape()[-1]",
		   "experts_per_chip (%u) must be <= idx_table size (%u)", own, there);
	return TTNN_OK;
}

static tt_status check_regions(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *spec = &table_of(launch, REGIONS)->spec;
	uint32_t last = tt_shape_last(&spec->shape, 1);
	uint32_t counts = tt_shape_last(&table_of(launch, COUNTS)->spec.shape, 1);

	TT_REQUIRE(spec->dtype == TTNN_UINT32, "start.dtype() == tt::tt_metal::DataType::UINT32",
		   "expert_region_offsets must be UINT32");
	TT_REQUIRE(spec->layout == TTNN_ROW_MAJOR,
		   "start.layout() == tt::tt_metal::Layout::ROW_MAJOR",
		   "expert_region_offsets must be ROW_MAJOR layout, got Layout::%s",
		   tt_enum_name(&tt_enum_layout, (int64_t)spec->layout));
	TT_REQUIRE(in_dram(table_of(launch, REGIONS)), "is_dram_interleaved(start)",
		   "expert_region_offsets must be DRAM-interleaved");
	if (spec->shape.rank != 1 && (spec->shape.rank != 2 || spec->shape.dim[0] != 1))
		return tt_fail_shapes(
			TTNN_INVALID, "start_valid_1d || start_valid_2d",
			"expert_region_offsets must be 1D or 2D with first dimension == 1, got "
			"shape %s",
			&spec->shape, &spec->shape);
	TT_REQUIRE(last <= MOST_EXPERTS,
		   "static_cast<uint32_t>(start_shape[-1]) <= "
		   "MAX_GLOBAL_EXPERTS",
		   "expert_region_offsets length (%u) exceeds the maximum supported number of "
		   "experts (%d)",
		   last, MOST_EXPERTS);
	TT_REQUIRE(last == counts, "start_shape[-1] == t.counts.logical_shape()[-1]",
		   "expert_region_offsets length (%u) must equal counts length (%u)", last, counts);
	return TTNN_OK;
}

static tt_status check_bias(const struct tt_launch *launch, uint32_t part, uint32_t expert)
{
	static const char *const names[] = {"gate_bias", "up_bias", "down_bias"};
	const struct tt_tensor *bias = bias_of(launch, part, expert);
	uint32_t width = tt_shape_last(&weight_of(launch, part, 0)->spec.padded, 1);
	char text[160];

	TT_REQUIRE(bias->spec.layout == TTNN_TILE, "b.layout() == tt::tt_metal::Layout::TILE",
		   "%s[%u] must be TILE layout", names[part], expert);
	TT_REQUIRE(in_dram(bias), "is_dram_interleaved(b)", "%s[%u] must be DRAM-interleaved",
		   names[part], expert);
	if (tt_shape_last(&bias->spec.shape, 1) == width &&
	    tt_shape_count(&bias->spec.shape) == width)
		return TTNN_OK;
	snprintf(text, sizeof(text),
		 "%s[%u] logical shape %%s must be a single row of its projection N (%u)",
		 names[part], expert, width);
	return tt_fail_shapes(TTNN_INVALID,
			      "static_cast<uint32_t>(lshape[-1]) == expected_n && "
			      "lshape.volume() == expected_n",
			      text, &bias->spec.shape, &bias->spec.shape);
}

static tt_status check_biases(const struct tt_launch *launch)
{
	int64_t activation = launch->attrs[ACTIVATION].integer;

	if (!launch->attrs[BIASED].boolean)
		return TTNN_OK;
	for (uint32_t e = 0; e < experts_of(launch); e++) {
		for (uint32_t part = GATE; part < PARTS; part++)
			TT_TRY(check_bias(launch, part, e));
		for (uint32_t part = GATE; part < PARTS; part++)
			TT_REQUIRE(bias_of(launch, part, e)->spec.dtype ==
					   bias_of(launch, GATE, 0)->spec.dtype,
				   "t.up_biases[e].dtype() == t.gate_biases[0].dtype() && "
				   "t.down_biases[e].dtype() == t.gate_biases[0].dtype() && "
				   "t.gate_biases[e].dtype() == t.gate_biases[0].dtype()",
				   "all gate/up/down biases must share one dtype");
	}
	TT_REQUIRE(activation == SWIGLU_OAI || activation == SITU_GLU,
		   "op.activation == RoutedExpertActivation::SwiGluOai || op.activation == "
		   "RoutedExpertActivation::SituGlu",
		   "unified_routed_expert_moe: expert biases are enabled only for SwiGluOai and "
		   "SituGlu.");
	return TTNN_OK;
}

static tt_status ffn_validate(struct tt_launch *launch)
{
	int64_t activation = launch->attrs[ACTIVATION].integer;

	if (activation == SITU_GLU || activation == CLAMPED_SILU_GLU)
		TT_REQUIRE(tt_is_blackhole(launch->device),
			   "t.x.device()->arch() == tt::ARCH::BLACKHOLE",
			   "unified_routed_expert_ffn: SiTU-GLU and clamped SiLU-GLU are "
			   "implemented for Blackhole only, got arch %s",
			   launch->device->info.arch);
	TT_TRY(check_tokens(launch));
	TT_TRY(check_extents(launch));
	for (uint32_t e = 0; e < experts_of(launch); e++)
		for (uint32_t part = GATE; part < PARTS; part++)
			TT_TRY(check_weight(launch, part, e));
	TT_TRY(check_counts(launch));
	TT_TRY(check_regions(launch));
	return check_biases(launch);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* How a core takes its part: rows of tiles, depth at once, columns, and how many of those a subblock has. */
struct cut {
	uint64_t m, k, hidden, out, sub;
};

static uint64_t tile_bytes(const struct tt_tensor *tensor)
{
	return tensor ? tt_tensor_tile_bytes(tensor) : 0;
}

static uint64_t bytes_of(const struct tt_launch *launch, const struct cut *cut)
{
	bool rows = launch->attrs[IN_ROWS].boolean;
	uint64_t half = tt_tile_bytes_of(TTNN_BFLOAT16), block = tt_tile_bytes_of(TTNN_BFLOAT8_B);
	uint64_t weights =
		tile_bytes(weight_of(launch, GATE, 0)) + tile_bytes(weight_of(launch, UP, 0));

	return cut->m * cut->k * (rows ? 1 : 2) * block + (rows ? cut->m * cut->k * 2 * half : 0) +
	       2 * cut->k * cut->hidden * weights +
	       2 * cut->hidden * cut->out * tile_bytes(weight_of(launch, DOWN, 0)) +
	       2 * cut->m * cut->hidden * (block + half) + cut->m * cut->out * half +
	       2 * cut->sub * tile_bytes(table_of(launch, OUTPUT)) +
	       2 * cut->m * cut->hidden * block +
	       (2 * cut->hidden + cut->out) * tile_bytes(bias_of(launch, GATE, 0));
}

/* As many rows as fit, then as deep as fits. */
static tt_status fit(struct cut *cut, const struct tt_launch *launch)
{
	uint64_t room =
		launch->device->limits.l1_size - launch->device->limits.l1_base - SCRATCH_MARGIN;
	uint64_t depth = tiles(launch->inputs[0], 1), most;
	struct cut least;

	cut->hidden = tt_div_up(tiles(weight_of(launch, GATE, 0), 1), COLS);
	cut->out = tt_div_up(tiles(weight_of(launch, DOWN, 0), 1), COLS);
	for (cut->sub = MOST_SUB; cut->out % cut->sub; cut->sub--)
		;
	for (most = MOST_DEPTH; depth % most; most--)
		;
	for (cut->m = MOST_CORE_ROWS; cut->m; cut->m--)
		for (cut->k = most; cut->k; cut->k--)
			if (depth % cut->k == 0 && bytes_of(launch, cut) <= room)
				return TTNN_OK;
	least = *cut;
	least.m = least.k = 1;
	TT_REQUIRE(false, "fit_M != 0",
		   "unified_routed_expert_ffn: per-core CBs do not fit in L1 even at the smallest "
		   "config (per_core_M=1, in0_block_w_gu=1): need %" PRIu64 " B but only %" PRIu64
		   " B available (emb=%u, hidden=%u, grid %dx%d). Reduce model dims.",
		   bytes_of(launch, &least), room, tiles(weight_of(launch, DOWN, 0), 1) * TT_TILE,
		   tiles(weight_of(launch, GATE, 0), 1) * TT_TILE, COLS, CORE_ROWS);
	return TTNN_OK;
}

static tt_status ffn_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct ttnn_core grid = tt_grid_size(launch->grid);
	bool rows = launch->attrs[IN_ROWS].boolean;
	uint64_t half = tt_page_bf16(launch), block = tt_tile_bytes_of(TTNN_BFLOAT8_B);
	uint64_t bias = tile_bytes(bias_of(launch, GATE, 0)), start;
	const ttnn_core_set *cores;
	struct cut cut;

	TT_REQUIRE(grid.x >= COLS && grid.y >= CORE_ROWS,
		   "grid_size.x >= kCoreGridX && grid_size.y >= kCoreGridY",
		   "unified_routed_expert_ffn: expected at least %dx%d compute grid, got %ux%u",
		   COLS, CORE_ROWS, grid.x, grid.y);
	TT_TRY(fit(&cut, launch));
	TT_TRY(tt_core_set_grid(&cores, COLS, CORE_ROWS));
	start = tt_aligned_page(table_of(launch, REGIONS));
	return TT_PLAN(
		plan, cores,
		TT_CB_ROW(0, "in0_x", .pages = cut.m * cut.k * (rows ? 1 : 2), .page = block),
		TT_CB_ROW(16, "x_rm", .pages = rows ? 2 * cut.m * cut.k : 0, .page = half),
		TT_CB_ROW(1, "in1_gate", .pages = 2 * cut.k * cut.hidden,
			  .page = tile_bytes(weight_of(launch, GATE, 0))),
		TT_CB_ROW(2, "in1_up", .pages = 2 * cut.k * cut.hidden,
			  .page = tile_bytes(weight_of(launch, UP, 0))),
		TT_CB_ROW(3, "in1_down", .pages = 2 * cut.hidden * cut.out,
			  .page = tile_bytes(weight_of(launch, DOWN, 0))),
		TT_CB_ROW(4, "gate_int", .pages = cut.m * cut.hidden, .page = block),
		TT_CB_ROW(6, "activated", .pages = cut.m * cut.hidden, .page = block),
		TT_CB_ROW(7, "partials_gu", .pages = cut.m * cut.hidden, .page = half),
		TT_CB_ROW(13, "partials_up", .pages = cut.m * cut.hidden, .page = half),
		TT_CB_ROW(8, "partials_d", .pages = cut.m * cut.out, .page = half),
		TT_CB_ROW(9, "out", .pages = 2 * cut.sub,
			  .page = tile_bytes(table_of(launch, OUTPUT))),
		TT_CB_ROW(12, "in0_down_full", .pages = 2 * cut.m * cut.hidden, .page = block),
		TT_CB_ROW(10, "counts_scratch", .pages = 1,
			  .page = tt_aligned_page(table_of(launch, COUNTS))),
		TT_CB_ROW(11, "idx_scratch", .pages = 1,
			  .page = tt_aligned_page(table_of(launch, TABLE))),
		TT_CB_ROW(14, "start_scratch", .pages = 1, .page = start),
		TT_CB_ROW(15, "start_scratch_reader", .pages = 1, .page = start),
		TT_CB_ROW(17, "gate_bias", .pages = bias ? cut.hidden : 0, .page = bias),
		TT_CB_ROW(18, "up_bias", .pages = bias ? cut.hidden : 0, .page = bias),
		TT_CB_ROW(19, "down_bias", .pages = bias ? cut.out : 0, .page = bias));
}

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

#define OAI_ALPHA 1.702F
#define OAI_LIMIT 7.0F
#define SITU_GATE 4.0F
#define SITU_UP 25.0F
#define CLAMP_LIMIT 10.0F

static float sigmoid(float x)
{
	return 1 / (1 + expf(-x));
}

static float activated(int64_t activation, float gate, float up)
{
	switch (activation) {
	case SWIGLU_OAI:
		gate = fminf(gate, OAI_LIMIT);
		return (fmaxf(-OAI_LIMIT, fminf(up, OAI_LIMIT)) + 1) * gate *
		       sigmoid(OAI_ALPHA * gate);
	case SITU_GLU:
		return SITU_GATE * tanhf(gate / SITU_GATE) * sigmoid(gate) * SITU_UP *
		       tanhf(up / SITU_UP);
	case CLAMPED_SILU_GLU:
		gate = fminf(gate, CLAMP_LIMIT);
		return gate * sigmoid(gate) * fmaxf(-CLAMP_LIMIT, fminf(up, CLAMP_LIMIT));
	default:
		return gate * sigmoid(gate) * up;
	}
}

/* Rows of a tensor, whose dimensions in front are 1, from and to these places. */
static tt_status move_rows(struct tt_tensor *out, uint64_t to, struct tt_tensor *in, uint64_t from,
			   uint32_t rows)
{
	uint32_t in_rank = in->spec.shape.rank, out_rank = out->spec.shape.rank;
	const struct tt_move_loop loops[] = {
		{rows, (int32_t)in_rank - 2, (int32_t)out_rank - 2, 1, 1},
		{tt_shape_last(&out->spec.shape, 1), (int32_t)in_rank - 1, (int32_t)out_rank - 1, 1,
		 1},
	};
	struct tt_move_job job = {.out = out, .in = in, .loops = loops, .loop_count = 2};

	job.in_start[in_rank - 2] = (int64_t)from;
	job.out_start[out_rank - 2] = (int64_t)to;
	return tt_backend_get()->move(&job);
}

static tt_status product(struct tt_tensor **out, const struct tt_launch *launch,
			 struct tt_tensor *a, uint32_t part, uint32_t expert)
{
	struct tt_tensor *b = weight_of(launch, part, expert);
	struct ttnn_shape shape = {2, {a->spec.shape.dim[0], tt_shape_last(&b->spec.shape, 1)}};

	TT_TRY(tt_scratch_f32(out, &shape));
	return tt_backend_get()->matmul(
		&(struct tt_matmul_job){.out = *out,
					.a = a,
					.b = b,
					.alpha = 1,
					.bias = bias_of(launch, part, expert),
					.beta = 1});
}

/* What an expert makes of rows from `start` on. */
static tt_status run_expert(struct tt_launch *launch, uint32_t expert, uint64_t start,
			    uint32_t rows)
{
	struct tt_tensor *x = launch->inputs[0], *own, *gate, *up, *down;
	struct ttnn_shape shape = {2, {rows, tt_shape_last(&x->spec.shape, 1)}};
	float *gates, *ups;
	uint64_t count;

	TT_TRY(tt_scratch_f32(&own, &shape));
	TT_TRY(move_rows(own, 0, x, start, rows));
	TT_TRY(product(&gate, launch, own, GATE, expert));
	TT_TRY(product(&up, launch, own, UP, expert));
	gates = tt_tensor_data(gate);
	ups = tt_tensor_data(up);
	count = tt_shape_count(&gate->spec.shape);
	for (uint64_t i = 0; i < count; i++)
		gates[i] = activated(launch->attrs[ACTIVATION].integer, gates[i], ups[i]);
	TT_TRY(product(&down, launch, gate, DOWN, expert));
	return move_rows(launch->outputs[0], start, down, 0, rows);
}

static tt_status ffn_kernel(struct tt_launch *launch)
{
	uint64_t first = 1 + (uint64_t)PARTS * experts_of(launch), count, all;
	uint64_t room = tt_shape_last(&launch->inputs[0]->spec.shape, 2);
	uint64_t most = (uint64_t)tt_attr_u32(launch, ROWS) * TT_TILE;
	double *counts, *table, *regions;

	TT_TRY(tt_values_of(&counts, &all, launch, first + COUNTS));
	TT_TRY(tt_values_of(&table, &count, launch, first + TABLE));
	TT_TRY(tt_values_of(&regions, &count, launch, first + REGIONS));
	if (launch->attrs[IN_ROWS].boolean)
		TT_TRY(tt_backend_get()->fill(launch->outputs[0], 0, TT_FILL_ALL));
	for (uint32_t e = 0; e < experts_of(launch); e++) {
		uint64_t own = (uint64_t)table[e], rows, start;

		if (own >= all || counts[own] < (double)launch->attrs[LEAST].integer ||
		    counts[own] > (double)launch->attrs[MOST].integer)
			continue;
		start = (uint64_t)regions[own] / TT_TILE * TT_TILE;
		rows = tt_align_to((uint64_t)counts[own], TT_TILE);
		rows = rows < most ? rows : most;
		rows = start >= room ? 0 : rows < room - start ? rows : room - start;
		if (rows)
			TT_TRY(run_expert(launch, e, start, (uint32_t)rows));
	}
	return TTNN_OK;
}

static tt_status ffn_infer(struct tt_launch *launch)
{
	launch->output_count = 1;
	launch->specs[0] = table_of(launch, OUTPUT)->spec;
	return TTNN_OK;
}

static const struct tt_prog program = {
	.device_op = "UnifiedRoutedExpertFfnDeviceOperation",
	.prim = "ttnn::prim::unified_routed_expert_moe",
	.attrs = &schema,
	.infer = ffn_infer,
	.validate = ffn_validate,
	TT_FACTORY("ttnn::operations::experimental::deepseek_prefill::unified_routed_expert_ffn::"
		   "UnifiedRoutedExpertFfnProgramFactory",
		   ffn_memory),
	TT_KERNEL(ffn_kernel),
};

/* ---- calls ------------------------------------------------------------------------------------------------------- */

struct lists {
	const struct ttnn_value *weights[PARTS], *biases[PARTS];
	uint32_t experts;
	bool biased;
};

static tt_status read_lists(struct lists *lists, const struct tt_call *call)
{
	static const char *const weights[] = {"gate_projs", "up_projs", "down_projs"};
	static const char *const biases[] = {"gate_biases", "up_biases", "down_biases"};
	int given = 0;

	for (int i = GATE; i < PARTS; i++) {
		lists->weights[i] = tt_call_arg(call, weights[i]);
		lists->biases[i] = tt_call_arg(call, biases[i]);
		given += tt_value_given(lists->biases[i]);
	}
	TT_REQUIRE(lists->weights[GATE]->count == lists->weights[UP]->count &&
			   lists->weights[GATE]->count == lists->weights[DOWN]->count,
		   "gate_projs.size() == up_projs.size() && gate_projs.size() == down_projs.size()",
		   "gate/up/down projection lists must have the same length (got %u, %u, %u)",
		   lists->weights[GATE]->count, lists->weights[UP]->count,
		   lists->weights[DOWN]->count);
	lists->experts = lists->weights[GATE]->count;
	TT_REQUIRE(lists->experts > 0, "experts_per_chip > 0", "Need at least one expert per chip");
	TT_REQUIRE(given == 0 || given == PARTS, "bias_lists == 0 || bias_lists == 3",
		   "gate/up/down bias lists must all be provided together or all omitted (got %d "
		   "of 3)",
		   given);
	lists->biased = given == PARTS;
	for (int i = GATE; i < PARTS && lists->biased; i++)
		TT_REQUIRE(lists->biases[i]->count == lists->experts,
			   "gate_biases->size() == experts_per_chip && up_biases->size() == "
			   "experts_per_chip && down_biases->size() == experts_per_chip",
			   "bias lists must have one entry per local expert (%u), got (%u, %u, %u)",
			   lists->experts, lists->biases[GATE]->count, lists->biases[UP]->count,
			   lists->biases[DOWN]->count);
	TT_NEED((lists->biased ? 2 : 1) * PARTS * lists->experts + TABLES + 1 <=
			TT_PROGRAM_INPUTS_MAX,
		"unified_routed_expert_moe: %u experts are too many for a program", lists->experts);
	return TTNN_OK;
}

/* In place, unless rows become tiles. */
static tt_status output_of(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *x)
{
	static const struct ttnn_memory_config dram = {.buffer = TTNN_DRAM};

	*out = x;
	if (x->spec.layout == TTNN_TILE)
		return TTNN_OK;
	return tt_call_owned(call,
			     TT_CALL(out, call, "ttnn.empty",
				     {"shape", ttnn_v_shape(&x->spec.shape)},
				     {"dtype", ttnn_v_dtype(TTNN_BFLOAT8_B)},
				     {"layout", ttnn_v_layout(TTNN_TILE)},
				     {"device", ttnn_v_device(tt_tensor_device(x))},
				     {"memory_config", ttnn_v_memory(&dram)}),
			     out);
}

/* A config counts only if there is one. */
static struct ttnn_value compute_of(struct tt_call *call)
{
	static const struct tt_compute_usual none = {TT_LOFI, false, false, false};
	const struct ttnn_value *given = tt_call_arg(call, "compute_kernel_config");

	return tt_value_given(given) ? tt_compute_config(call, given, &none) : ttnn_v_none();
}

static tt_status ffn_expand(struct tt_call *call)
{
	struct tt_tensor *x = tt_call_tensor(call, "dispatched_buffer"), *out;
	int64_t most = tt_call_int(call, "max_dispatched_tokens_per_expert", 0);
	struct tt_tensor *inputs[TT_PROGRAM_INPUTS_MAX] = {x};
	struct lists lists = {.experts = 0};
	size_t count = 1;

	TT_REQUIRE(tt_tensor_device(x), "t.x.storage_type() == ttnn::StorageType::DEVICE",
		   "x must be on device");
	TT_TRY(read_lists(&lists, call));
	TT_TRY(output_of(&out, call, x));
	for (int i = GATE; i < PARTS; i++)
		for (uint32_t e = 0; e < lists.experts; e++)
			inputs[count++] = tt_value_item_tensor(lists.weights[i], e);
	inputs[count + COUNTS] = tt_call_tensor(call, "expert_token_counts");
	inputs[count + TABLE] = tt_call_tensor(call, "global_expert_idx_table");
	inputs[count + OUTPUT] = out;
	inputs[count + REGIONS] = tt_call_tensor(call, "expert_region_offsets");
	count += TABLES;
	for (int i = GATE; i < PARTS && lists.biased; i++)
		for (uint32_t e = 0; e < lists.experts; e++)
			inputs[count++] = tt_value_item_tensor(lists.biases[i], e);
	for (size_t i = 0; i < count; i++)
		TT_NEED(inputs[i] && tt_tensor_device(inputs[i]),
			"unified_routed_expert_moe: all tensors must be on device");
	return TT_LAUNCH_RETURN(
		call, &program, .inputs = inputs, .input_count = count, TT_OUTPUTS(out),
		.in_place = true,
		TT_BIND(call, schema, [ROWS] = ttnn_v_int((most + TT_TILE - 1) / TT_TILE),
			[EXPERTS] = ttnn_v_int(lists.experts), [COMPUTE] = compute_of(call),
			[IN_ROWS] = ttnn_v_bool(out != x), [BIASED] = ttnn_v_bool(lists.biased)));
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.deepseek_prefill.unified_routed_expert_moe",
	 .family = "unified_ffn",
	 .doc = "What all experts of the chip make of their tokens in a shared buffer.",
	 .sigs = {"dispatched_buffer: Tensor, expert_region_offsets: Tensor, expert_token_counts: "
		  "Tensor, global_expert_idx_table: Tensor, gate_projs: Tensors, up_projs: Tensors, "
		  "down_projs: Tensors, max_dispatched_tokens_per_expert: size, *, "
		  "compute_kernel_config: ComputeConfig? = None, activation: "
		  "RoutedExpertActivation = Silu, gate_biases: Tensors? = None, up_biases: Tensors? "
		  "= None, down_biases: Tensors? = None, min_active_tokens: size = 0, "
		  "max_active_tokens: size = 4294967295"},
	 .expand = ffn_expand,
	 .golden = tt_golden_unified_ffn,
	 .pcc = 0.99,
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_unified_ffn = {"unified_ffn", ops, TT_COUNT(ops)};
