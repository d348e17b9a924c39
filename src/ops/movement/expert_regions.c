/*
 * expert_regions.c: the tokens of one expert out of the buffer that all share, and back; and how many tokens each expert has.
 *
 * Models ExtractDeviceOperation, InsertDeviceOperation and MaskedBincountDeviceOperation of ttnn 0.81 (deepseek_prefill) with their factories:
 * specs, refusals, memory, cores. What upstream leaves undefined behind an expert's tokens is zero here.
 */
#include <inttypes.h>
#include <stdio.h>

#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "golden/golden.h"
#include "ops/cost.h"
#include "ops/mem_rows.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"
#include "ops/values.h"
#include "tensor/core.h"
#include "tensor/enums.h"
#include "tensor/memory.h"
#include "tensor/shape.h"
#include "tensor/tile.h"

#define EXTRACT_ATTRS(X)                                                                           \
	X(EXPERT, "local_expert_id")                                                               \
	X(MOST, "max_dispatched_tokens_per_expert")
TT_ATTRS(extract_schema, "ExtractParams", EXTRACT_ATTRS);
#define INSERT_ATTRS(X) X(INSERT_EXPERT, "local_expert_id")
TT_ATTRS(insert_schema, "InsertParams", INSERT_ATTRS);
/* Where regions begin, how long they are, and which expert of all one of the chip's is; a tensor of tokens stands before them, or two. */
enum { START, COUNTS, TABLE, INDICES };
#define TILES_AT_ONCE 32

static bool in_dram(const struct ttnn_tensor_spec *spec)
{
	return spec->memory.buffer == TTNN_DRAM && !tt_memory_config_is_sharded(&spec->memory);
}

/* ---- refusals ------------------------------------------------------------------------------------------------- */

/* `as` is what conditions call the tensor. */
static tt_status check_tokens(const struct ttnn_tensor_spec *spec, const char *name, const char *as)
{
	char condition[160];

	snprintf(condition, sizeof(condition),
		 "%s.dtype() == tt::tt_metal::DataType::BFLOAT8_B || %s.dtype() == "
		 "tt::tt_metal::DataType::BFLOAT16",
		 as, as);
	TT_REQUIRE(spec->dtype == TTNN_BFLOAT8_B || spec->dtype == TTNN_BFLOAT16, condition,
		   "%s must be BFLOAT8_B or BFLOAT16, got DataType::%s", name,
		   tt_enum_name(&tt_enum_dtype, (int64_t)spec->dtype));
	snprintf(condition, sizeof(condition), "%s.layout() == tt::tt_metal::Layout::TILE", as);
	TT_REQUIRE(spec->layout == TTNN_TILE, condition, "%s must be TILE layout, got Layout::%s",
		   name, tt_enum_name(&tt_enum_layout, (int64_t)spec->layout));
	snprintf(condition, sizeof(condition), "is_dram_interleaved(%s)", as);
	TT_REQUIRE(in_dram(spec), condition, "%s must be DRAM interleaved", name);
	snprintf(condition, sizeof(condition), "%s.logical_shape().rank() == 2", as);
	TT_REQUIRE(spec->shape.rank == 2, condition, "%s must be 2D, got rank %u", name,
		   spec->shape.rank);
	return TTNN_OK;
}

static tt_status check_index(const struct ttnn_tensor_spec *spec, const char *name)
{
	TT_REQUIRE(spec->dtype == TTNN_UINT32, "tensor.dtype() == tt::tt_metal::DataType::UINT32",
		   "%s must be UINT32, got DataType::%s", name,
		   tt_enum_name(&tt_enum_dtype, (int64_t)spec->dtype));
	TT_REQUIRE(spec->layout == TTNN_ROW_MAJOR,
		   "tensor.layout() == tt::tt_metal::Layout::ROW_MAJOR",
		   "%s must be ROW_MAJOR layout, got Layout::%s", name,
		   tt_enum_name(&tt_enum_layout, (int64_t)spec->layout));
	TT_REQUIRE(in_dram(spec), "is_dram_interleaved(tensor)", "%s must be DRAM interleaved",
		   name);
	if (spec->shape.rank != 1 && (spec->shape.rank != 2 || spec->shape.dim[0] != 1)) {
		char text[96];

		snprintf(text, sizeof(text),
			 "%s must be 1D or 2D with first dimension == 1, got shape %%s", name);
		return tt_fail_shapes(TTNN_INVALID, "valid_1d || valid_2d", text, &spec->shape,
				      &spec->shape);
	}
	return TTNN_OK;
}

/* The three that say where tokens are; an expert of the chip's is among its own. */
static tt_status check_indices(struct tt_tensor *const *inputs, int64_t expert)
{
	static const char *const names[INDICES] = {"start", "counts", "global_expert_idx_table"};
	uint32_t last[INDICES];

	for (size_t i = 0; i < INDICES; i++) {
		TT_TRY(check_index(&inputs[i]->spec, names[i]));
		last[i] = tt_shape_last(&inputs[i]->spec.shape, 1);
	}
	TT_REQUIRE(last[START] == last[COUNTS], "start_last_dim == counts_last_dim",
		   "start and counts must have the same last dimension, got start=%u and counts=%u",
		   last[START], last[COUNTS]);
	TT_REQUIRE(expert < last[TABLE],
		   "operation_attributes.local_expert_id < idx_table_last_dim",
		   "local_expert_id (%" PRId64
		   ") must be in the range [0, %u] (global_expert_idx_table last dimension - 1)",
		   expert, last[TABLE] - 1);
	return TTNN_OK;
}

static tt_status check_rows(uint32_t rows, const char *condition, const char *name)
{
	TT_REQUIRE(rows % TT_TILE == 0, condition,
		   "%s rows/tokens (%u) must be a multiple of TILE_HEIGHT (%u)", name, rows,
		   TT_TILE);
	return TTNN_OK;
}

static tt_status check_width(uint32_t width, const char *condition)
{
	TT_REQUIRE(width % TT_TILE == 0, condition,
		   "global_tensor hidden_dim (%u) must be a multiple of TILE_WIDTH (%u)", width,
		   TT_TILE);
	return TTNN_OK;
}

static tt_status extract_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *all = &launch->inputs[0]->spec;
	int64_t most = launch->attrs[MOST].integer;

	TT_TRY(check_tokens(all, "global_tensor", "global_tensor"));
	TT_TRY(check_indices(&launch->inputs[1], launch->attrs[EXPERT].integer));
	TT_TRY(check_rows(all->shape.dim[0], "global_rows % tile_height == 0", "global_tensor"));
	TT_TRY(check_width(all->shape.dim[1], "hidden_dim % tile_width == 0"));
	TT_REQUIRE(most > 0, "operation_attributes.max_dispatched_tokens_per_expert > 0",
		   "max_dispatched_tokens_per_expert must be > 0");
	TT_REQUIRE(most % TT_TILE == 0,
		   "operation_attributes.max_dispatched_tokens_per_expert % tile_height == 0",
		   "max_dispatched_tokens_per_expert (%" PRId64
		   ") must be a multiple of TILE_HEIGHT "
		   "(%u)",
		   most, TT_TILE);
	return TTNN_OK;
}

static tt_status insert_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *all = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *own = &launch->inputs[1]->spec;

	TT_TRY(check_tokens(all, "global_tensor", "tensor"));
	TT_TRY(check_tokens(own, "local_tensor", "tensor"));
	TT_REQUIRE(all->dtype == own->dtype, "global_tensor.dtype() == local_tensor.dtype()",
		   "global_tensor and local_tensor must have the same dtype, got "
		   "global=DataType::%s local=DataType::%s",
		   tt_enum_name(&tt_enum_dtype, (int64_t)all->dtype),
		   tt_enum_name(&tt_enum_dtype, (int64_t)own->dtype));
	TT_REQUIRE(all->shape.dim[1] == own->shape.dim[1], "global_hidden_dim == local_hidden_dim",
		   "local_tensor hidden_dim (%u) must match global_tensor hidden_dim (%u)",
		   own->shape.dim[1], all->shape.dim[1]);
	TT_TRY(check_indices(&launch->inputs[2], launch->attrs[INSERT_EXPERT].integer));
	TT_TRY(check_rows(all->shape.dim[0], "global_rows % tile_height == 0", "global_tensor"));
	TT_TRY(check_width(all->shape.dim[1], "global_hidden_dim % tile_width == 0"));
	TT_TRY(check_rows(own->shape.dim[0], "local_rows % tile_height == 0", "local_tensor"));
	TT_REQUIRE(own->shape.dim[0] > 0, "local_rows > 0",
		   "local_tensor must have at least one tile row/token");
	return TTNN_OK;
}

/* ---- programs -------------------------------------------------------------------------------------------------- */

static tt_status extract_infer(struct tt_launch *launch)
{
	static const struct ttnn_memory_config plain = {.buffer = TTNN_DRAM};
	const struct ttnn_tensor_spec *all = &launch->inputs[0]->spec;
	struct ttnn_shape shape = {
		2, {(uint32_t)launch->attrs[MOST].integer, tt_shape_last(&all->shape, 1)}};

	launch->output_count = 1;
	return tt_spec_simple(&launch->specs[0], &shape, all->dtype, TTNN_TILE, &plain);
}

static tt_status insert_infer(struct tt_launch *launch)
{
	launch->output_count = 1;
	launch->specs[0] = launch->inputs[0]->spec;
	return TTNN_OK;
}

/* Each core reads the indices twice: to read tokens, and to write them. */
static tt_status plan_indices(struct tt_plan *plan, const struct tt_launch *launch,
			      struct tt_tensor *const *indices, bool first_start)
{
	uint64_t start = tt_aligned_page(indices[START]), counts = tt_aligned_page(indices[COUNTS]);
	uint64_t table = tt_aligned_page(indices[TABLE]), tile = tt_page_in0(launch);

	return TT_PLAN(
		plan, launch->grid, TT_CB_ROW(0, "cb_tile", .pages = TILES_AT_ONCE, .page = tile),
		TT_CB_ROW(1, "scratch", .pages = 1, .page = first_start ? start : counts),
		TT_CB_ROW(2, "scratch", .pages = 1, .page = first_start ? counts : start),
		TT_CB_ROW(3, "cb_counts_scratch_writer", .pages = 1, .page = counts),
		TT_CB_ROW(4, "cb_global_expert_idx_scratch_reader", .pages = 1, .page = table),
		TT_CB_ROW(5, "cb_global_expert_idx_scratch_writer", .pages = 1, .page = table));
}

static tt_status extract_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	return plan_indices(plan, launch, &launch->inputs[1], true);
}

static tt_status insert_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	return plan_indices(plan, launch, &launch->inputs[2], false);
}

/* The first row of an expert's region and how many it has, to the end of a tile; `first` is the input of the starts. */
static tt_status region_of(uint64_t *start, uint64_t *rows, const struct tt_launch *launch,
			   size_t first)
{
	double *values[INDICES];
	uint64_t counts[INDICES], expert;

	for (size_t i = 0; i < INDICES; i++)
		TT_TRY(tt_values_of(&values[i], &counts[i], launch, first + i));
	expert = (uint64_t)values[TABLE][launch->attrs[0].integer];
	TT_NEED(expert < counts[START], "expert %" PRIu64 " is not among the %" PRIu64, expert,
		counts[START]);
	*start = (uint64_t)values[START][expert] / TT_TILE * TT_TILE;
	*rows = ((uint64_t)values[COUNTS][expert] + TT_TILE - 1) / TT_TILE * TT_TILE;
	return TTNN_OK;
}

/* Rows from one place of a tensor to one of another; those that either has not are left out. */
static tt_status move_rows(struct tt_tensor *out, uint64_t to, struct tt_tensor *in, uint64_t from,
			   uint64_t rows)
{
	uint64_t room = to < out->spec.shape.dim[0] ? out->spec.shape.dim[0] - to : 0;
	uint64_t left = from < in->spec.shape.dim[0] ? in->spec.shape.dim[0] - from : 0;
	uint64_t count = rows < room ? rows : room;
	const struct tt_move_loop loops[] = {
		{(uint32_t)(count < left ? count : left), 0, 0, 1, 1},
		{out->spec.shape.dim[1], 1, 1, 1, 1},
	};
	struct tt_move_job job = {.out = out, .in = in, .loops = loops, .loop_count = 2};

	job.in_start[0] = (int64_t)from;
	job.out_start[0] = (int64_t)to;
	return loops[0].extent ? tt_backend_get()->move(&job) : TTNN_OK;
}

static tt_status extract_kernel(struct tt_launch *launch)
{
	uint64_t start, rows;

	TT_TRY(region_of(&start, &rows, launch, 1));
	TT_TRY(tt_backend_get()->fill(launch->outputs[0], 0, TT_FILL_ALL));
	return move_rows(launch->outputs[0], 0, launch->inputs[0], start, rows);
}

static tt_status insert_kernel(struct tt_launch *launch)
{
	uint64_t start, rows;

	TT_TRY(region_of(&start, &rows, launch, 2));
	return move_rows(launch->outputs[0], start, launch->inputs[1], 0, rows);
}

#define PREFILL "ttnn::operations::experimental::deepseek_prefill::"
static const struct tt_prog extract_program = {
	.device_op = "ExtractDeviceOperation",
	.prim = "ttnn::prim::prefill_extract",
	.attrs = &extract_schema,
	.infer = extract_infer,
	.validate = extract_validate,
	TT_FACTORY(PREFILL "extract::ExtractProgramFactory", extract_memory),
	TT_KERNEL(extract_kernel),
	.cost = tt_cost_unmodelled_move,
};
static const struct tt_prog insert_program = {
	.device_op = "InsertDeviceOperation",
	.prim = "ttnn::prim::prefill_insert",
	.attrs = &insert_schema,
	.infer = insert_infer,
	.validate = insert_validate,
	TT_FACTORY(PREFILL "insert::InsertProgramFactory", insert_memory),
	TT_KERNEL(insert_kernel),
	.cost = tt_cost_unmodelled_move,
};

static tt_status extract_expand(struct tt_call *call)
{
	return TT_LAUNCH_RETURN(call, &extract_program,
				TT_INPUTS(tt_call_tensor(call, "global_tensor"),
					  tt_call_tensor(call, "start"),
					  tt_call_tensor(call, "counts"),
					  tt_call_tensor(call, "global_expert_idx_table")),
				TT_BIND(call, extract_schema, [EXPERT] = {0}));
}

static tt_status insert_expand(struct tt_call *call)
{
	struct tt_tensor *all = tt_call_tensor(call, "global_tensor");

	return TT_LAUNCH_RETURN(call, &insert_program,
				TT_INPUTS(all, tt_call_tensor(call, "local_tensor"),
					  tt_call_tensor(call, "start"),
					  tt_call_tensor(call, "counts"),
					  tt_call_tensor(call, "global_expert_idx_table")),
				TT_OUTPUTS(all), .in_place = true,
				TT_BIND(call, insert_schema, [INSERT_EXPERT] = {0}));
}

/* ---- how many tokens experts have ------------------------------------------------------------------------------- */

#define COUNT_ATTRS(X)                                                                             \
	X(EXPERTS, "n_routed_experts")                                                             \
	X(CHOICES, "num_experts_per_token")
TT_ATTRS(count_schema, "MaskedBincountParams", COUNT_ATTRS);
enum { CHOSEN, MASK };
#define COUNT_GRID 8
#define FACE 16

static tt_status count_infer(struct tt_launch *launch)
{
	static const struct ttnn_memory_config plain = {.buffer = TTNN_DRAM};
	struct ttnn_shape shape = {1, {(uint32_t)launch->attrs[EXPERTS].integer}};

	launch->output_count = 1;
	return tt_spec_simple(&launch->specs[0], &shape, TTNN_UINT32, TTNN_ROW_MAJOR, &plain);
}

static tt_status check_choices(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[CHOSEN]->spec;
	int64_t choices = launch->attrs[CHOICES].integer;

	TT_REQUIRE(in->tile.height == TT_TILE && in->tile.width == TT_TILE,
		   "tile.get_height() == kTileDim && tile.get_width() == kTileDim",
		   "Only 32x32 tiles are supported (the in-kernel untilize assumes four 16x16 "
		   "faces), got %ux%u",
		   in->tile.height, in->tile.width);
	TT_REQUIRE(in->padded.dim[1] == TT_TILE, "input_shape[1] == tile.get_width()",
		   "topk_dim must fit in a single tile column (padded width %u), got padded width "
		   "%u",
		   TT_TILE, in->padded.dim[1]);
	TT_REQUIRE(choices > 0 && choices <= in->shape.dim[1],
		   "args.num_experts_per_token > 0 && args.num_experts_per_token <= logical_topk",
		   "num_experts_per_token must be in (0, %u], got %" PRId64, in->shape.dim[1],
		   choices);
	TT_REQUIRE(choices <= FACE, "args.num_experts_per_token <= kFaceDim",
		   "num_experts_per_token must be <= %u (the reader untiles only the left faces "
		   "of each tile), got %" PRId64,
		   FACE, choices);
	return TTNN_OK;
}

static tt_status count_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[CHOSEN]->spec;
	const struct ttnn_tensor_spec *mask = &launch->inputs[MASK]->spec;
	int64_t experts = launch->attrs[EXPERTS].integer;
	uint32_t rank = mask->padded.rank, last = tt_shape_last(&mask->padded, 1);

	TT_REQUIRE(in->dtype == TTNN_UINT16,
		   "input_tensor.dtype() == tt::tt_metal::DataType::UINT16",
		   "Only UINT16 is supported for input!");
	TT_REQUIRE(in->layout == TTNN_TILE, "input_tensor.layout() == tt::tt_metal::Layout::TILE",
		   "Only TILE layout is supported for input!");
	TT_REQUIRE(in->padded.rank == 2, "input_shape.size() == 2",
		   "Input tensor must be 2D [sp_dim, topk_dim], got %u dimensions",
		   in->padded.rank);
	TT_REQUIRE(!tt_memory_config_is_sharded(&in->memory),
		   "input_tensor.memory_config().memory_layout() == "
		   "tt::tt_metal::TensorMemoryLayout::INTERLEAVED",
		   "Input tensor must be interleaved!");
	TT_REQUIRE(in->shape.dim[0] % (COUNT_GRID * COUNT_GRID) == 0, "tokens % kNumCores == 0",
		   "Token count (%u) must be divisible by the %u-core grid used by "
		   "masked_bincount",
		   in->shape.dim[0], COUNT_GRID * COUNT_GRID);
	TT_REQUIRE(experts > 0, "args.n_routed_experts > 0", "n_routed_experts must be > 0");
	TT_TRY(check_choices(launch));
	TT_REQUIRE(mask->dtype == TTNN_INT32,
		   "expert_mask.dtype() == tt::tt_metal::DataType::INT32",
		   "Expert dispatch table must be INT32!");
	TT_REQUIRE(mask->layout == TTNN_ROW_MAJOR,
		   "expert_mask.layout() == tt::tt_metal::Layout::ROW_MAJOR",
		   "Expert dispatch table must be ROW_MAJOR!");
	TT_REQUIRE((rank == 1 || (rank == 2 && mask->padded.dim[0] == 1)) && last >= experts,
		   "valid_1d || valid_2d",
		   "Expert dispatch table must have shape [>=%" PRId64 "] or [1, >=%" PRId64
		   "], got %uD tensor with last dim %u",
		   experts, experts, rank, last);
	return TTNN_OK;
}

/* The rows of a core are halved; a half may begin and end amid tiles. */
static tt_status count_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t rows = launch->inputs[CHOSEN]->spec.padded.dim[0] / (COUNT_GRID * COUNT_GRID);
	uint64_t half = rows / 2, page = tt_page_in0(launch);
	uint64_t out = tt_aligned_page(launch->outputs[0]);
	const ttnn_core_set *cores;

	TT_TRY(tt_core_set_grid(&cores, COUNT_GRID, COUNT_GRID));
	return TT_PLAN(
		plan, cores,
		TT_CB_ROW(0, "cb_in_brisc", .pages = tt_div_up(half, TT_TILE) + 1, .page = page),
		TT_CB_ROW(1, "cb_out", .pages = 1, .page = out),
		TT_CB_ROW(2, "cb_in_ncrisc", .pages = tt_div_up(rows - half, TT_TILE) + 1,
			  .page = page),
		TT_CB_ROW(3, "cb_gather_tmp", .pages = 1, .page = out),
		TT_CB_ROW(4, "cb_mask", .pages = 1, .page = tt_aligned_page(launch->inputs[MASK])));
}

/* Experts of others (whose entry of the table is negative) and beyond all have none. */
static tt_status count_kernel(struct tt_launch *launch)
{
	uint64_t experts = (uint64_t)launch->attrs[EXPERTS].integer, count, unused;
	uint64_t width = launch->inputs[CHOSEN]->spec.shape.dim[1];
	double *chosen, *mask;
	uint32_t *found;

	TT_TRY(tt_values_of(&chosen, &count, launch, CHOSEN));
	TT_TRY(tt_values_of(&mask, &unused, launch, MASK));
	found = tt_arena_calloc(launch->arena, experts, sizeof(*found));
	if (!found)
		return tt_fail_nomem();
	for (uint64_t i = 0; i < count; i++)
		if (i % width < (uint64_t)launch->attrs[CHOICES].integer &&
		    chosen[i] < (double)experts && mask[(uint64_t)chosen[i]] >= 0)
			found[(uint64_t)chosen[i]]++;
	return tt_values_write(launch->outputs[0], found, TTNN_UINT32);
}

static const struct tt_prog count_program = {
	.device_op = "MaskedBincountDeviceOperation",
	.prim = "ttnn::prim::masked_bincount",
	.attrs = &count_schema,
	.infer = count_infer,
	.validate = count_validate,
	TT_FACTORY("ttnn::experimental::prim::MaskedBincountProgramFactory", count_memory),
	TT_KERNEL(count_kernel),
};

static tt_status count_expand(struct tt_call *call)
{
	return TT_LAUNCH_RETURN(call, &count_program,
				TT_INPUTS(tt_call_tensor(call, "input_tensor"),
					  tt_call_tensor(call, "expert_mask")),
				TT_BIND(call, count_schema, [EXPERTS] = {0}));
}

/* ---- goldens ----------------------------------------------------------------------------------------------------- */

/* Which row of an expert's a row of the shared buffer is; -1 if none, as for rows behind the last tile. */
static int64_t own_row(struct tt_golden *golden, uint64_t row)
{
	const struct tt_array *start = tt_golden_in(golden, "start");
	const struct tt_array *counts = tt_golden_in(golden, "counts");
	const struct tt_array *table = tt_golden_in(golden, "global_expert_idx_table");
	int64_t own = tt_call_int(&golden->call, "local_expert_id", 0), first, count;
	uint64_t expert;

	if (!start || !counts || !table || own < 0 || (uint64_t)own >= table->count)
		return -1;
	expert = (uint64_t)*tt_at(table, (uint64_t)own);
	if (expert >= start->count || expert >= counts->count)
		return -1;
	first = (int64_t)*tt_at(start, expert);
	count = (int64_t)*tt_at(counts, expert);
	first -= first % 32;
	while (count % 32)
		count++;
	return (int64_t)row >= first && (int64_t)row < first + count ? (int64_t)row - first : -1;
}

static tt_status golden_extract(struct tt_golden *golden)
{
	const struct tt_array *all = tt_golden_in(golden, "global_tensor");
	struct ttnn_shape shape = {
		2, {(uint32_t)tt_call_int(&golden->call, "max_dispatched_tokens_per_expert", 0)}};
	struct tt_array *out;

	TT_GOLDEN_NEED(all && all->shape.rank == 2);
	shape.dim[1] = all->shape.dim[1];
	out = tt_golden_out(golden, &shape, all->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < all->count; i++) {
		int64_t row = own_row(golden, i / shape.dim[1]);

		if (row >= 0 && row < shape.dim[0])
			*tt_at(out, (uint64_t)row * shape.dim[1] + i % shape.dim[1]) =
				*tt_at(all, i);
	}
	return TTNN_OK;
}

static tt_status golden_insert(struct tt_golden *golden)
{
	const struct tt_array *all = tt_golden_in(golden, "global_tensor");
	const struct tt_array *own = tt_golden_in(golden, "local_tensor");
	struct tt_array *out = all ? tt_golden_out(golden, &all->shape, all->dtype) : NULL;

	TT_GOLDEN_NEED(out && own && all->shape.rank == 2 && own->shape.rank == 2);
	for (uint64_t i = 0; i < all->count; i++) {
		uint64_t width = all->shape.dim[1];
		int64_t row = own_row(golden, i / width);
		bool there = row >= 0 && row < own->shape.dim[0] && own->shape.dim[1] == width;

		*tt_at(out, i) =
			there ? *tt_at(own, (uint64_t)row * width + i % width) : *tt_at(all, i);
	}
	return TTNN_OK;
}

static tt_status golden_count(struct tt_golden *golden)
{
	const struct tt_array *chosen = tt_golden_in(golden, "input_tensor");
	const struct tt_array *mask = tt_golden_in(golden, "expert_mask");
	int64_t each = tt_call_int(&golden->call, "num_experts_per_token", 0);
	struct ttnn_shape shape = {1,
				   {(uint32_t)tt_call_int(&golden->call, "n_routed_experts", 0)}};
	struct tt_array *out = tt_golden_out(golden, &shape, TTNN_UINT32);

	TT_GOLDEN_NEED(out && chosen && mask && chosen->shape.rank == 2);
	for (uint64_t expert = 0; expert < out->count && expert < mask->count; expert++) {
		double found = 0;

		for (uint64_t i = 0; i < chosen->count; i++)
			found += (int64_t)(i % chosen->shape.dim[1]) < each &&
				 *tt_at(chosen, i) == (double)expert;
		*tt_at(out, expert) = *tt_at(mask, expert) < 0 ? 0 : found;
	}
	return TTNN_OK;
}

static const struct tt_prog *const extract_programs[] = {&extract_program, NULL};
static const struct tt_prog *const insert_programs[] = {&insert_program, NULL};
static const struct tt_prog *const count_programs[] = {&count_program, NULL};
static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.deepseek_prefill.extract",
	 .family = "expert_regions",
	 .doc = "The tokens of one expert of the chip, out of the buffer of all.",
	 .sigs = {"global_tensor: Tensor, start: Tensor, counts: Tensor, global_expert_idx_table: "
		  "Tensor, *, local_expert_id: size, max_dispatched_tokens_per_expert: size"},
	 .expand = extract_expand,
	 .golden = golden_extract,
	 .pcc = 0.9999,
	 .programs = extract_programs},
	{.name = "ttnn.experimental.deepseek_prefill.insert",
	 .family = "expert_regions",
	 .doc = "The tokens of one expert of the chip go into the buffer of all, in place.",
	 .sigs = {"global_tensor: Tensor, local_tensor: Tensor, start: Tensor, counts: Tensor, "
		  "global_expert_idx_table: Tensor, *, local_expert_id: size"},
	 .expand = insert_expand,
	 .golden = golden_insert,
	 .pcc = 0.9999,
	 .programs = insert_programs},
	{.name = "ttnn.experimental.deepseek_prefill.masked_bincount",
	 .family = "expert_regions",
	 .doc = "How many tokens chose each expert of the group.",
	 .sigs = {"input_tensor: Tensor, expert_mask: Tensor, n_routed_experts: size, "
		  "num_experts_per_token: size"},
	 .expand = count_expand,
	 .golden = golden_count,
	 .pcc = 0.9999,
	 .programs = count_programs},
};

const struct tt_op_family tt_family_expert_regions = {"expert_regions", ops, TT_COUNT(ops)};
