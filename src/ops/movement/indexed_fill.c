/*
 * indexed_fill.c: slices of a tensor replaced by those of another one: slice ids[i] of a becomes
 * slice i of b, along one dimension.
 *
 * Models IndexedFillDeviceOperation of ttnn 0.81 (data_movement/indexed_fill/device) with its
 * one factory: refusals, memory, cores. A dimension
 * within pages is permuted to the front first, and back. Not modelled: which of equal ids comes last.
 */
#include <inttypes.h>

#include "golden/golden_movement.h"
#include "ops/movement/movement.h"
#include "ops/movement/permute.h"
#include "ops/movement/shard_derive.h"
#include "ops/values.h"

enum { IDS, A, B, INPUTS };
#define ATTRS(X)                                                                                   \
	X(MEMORY, "output_mem_config")                                                             \
	X(DIM, "dim")                                                                              \
	X(CORES, "worker_grid", .text = TT_TEXT_ALWAYS, .fixed = "<CoreRangeSet>")
TT_ATTRS(schema, "IndexedFillParams", ATTRS);

/* Shards that the config leaves open: those of the input, or new ones. */
static tt_status indexed_fill_resolve(struct ttnn_memory_config *out, const struct tt_tensor *in,
				      const struct ttnn_memory_config *wanted)
{
	struct tt_shard_request request = {.device = tt_tensor_device(in),
					   .padded = &in->spec.padded,
					   .layout = wanted->layout,
					   .orientation = TTNN_ORIENT_ROW_MAJOR,
					   .tiled = in->spec.layout == TTNN_TILE};
	struct ttnn_shard_spec shard = in->spec.memory.shard;

	*out = *wanted;
	if (!tt_memory_config_is_sharded(wanted) || wanted->has_shard ||
	    (wanted->created_with_nd_shard && wanted->has_nd_shard))
		return TTNN_OK;
	if (!in->spec.memory.has_shard)
		TT_TRY(tt_shard_make(&shard, &request, "IndexedFill"));
	return ttnn_memory_config_sharded(out, wanted->layout, wanted->buffer, &shard);
}

/* As the first tensor, in shards that may be worked out. */
static tt_status indexed_fill_infer(struct tt_launch *launch)
{
	const struct tt_tensor *a = launch->inputs[A];
	struct ttnn_memory_config memory;

	TT_TRY(indexed_fill_resolve(&memory, a, launch->attrs[MEMORY].memory));
	return tt_spec_simple(&launch->specs[0], &a->spec.shape, a->spec.dtype, a->spec.layout,
			      &memory);
}

/* ---- where it works ------------------------------------------------------------------------------------------- */

static bool is_l1_sharded(const struct ttnn_memory_config *memory)
{
	return tt_memory_config_is_sharded(memory) && memory->has_shard &&
	       memory->buffer == TTNN_L1;
}

static bool have_same_shards(const struct ttnn_memory_config *a, const struct ttnn_memory_config *b)
{
	return is_l1_sharded(a) && is_l1_sharded(b) && a->layout == b->layout &&
	       a->shard.grid == b->shard.grid && a->shard.height == b->shard.height &&
	       a->shard.width == b->shard.width && a->shard.orientation == TTNN_ORIENT_ROW_MAJOR &&
	       b->shard.orientation == TTNN_ORIENT_ROW_MAJOR;
}

static bool is_even(const struct ttnn_tensor_spec *spec)
{
	uint64_t rows = 1;

	for (uint32_t back = 2; back <= spec->padded.rank; back++)
		rows *= tt_shape_last(&spec->padded, back);
	return rows % spec->memory.shard.height == 0 &&
	       tt_shape_last(&spec->padded, 1) % spec->memory.shard.width == 0;
}

/* A batch in each core. */
static bool has_batch_a_core(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[A]->spec;
	const struct ttnn_memory_config *out = &launch->specs[0].memory;

	return launch->attrs[DIM].integer == 0 && a->memory.layout == TTNN_HEIGHT_SHARDED &&
	       launch->inputs[IDS]->spec.memory.buffer == TTNN_L1 &&
	       have_same_shards(&a->memory, out) && is_even(a) &&
	       ttnn_core_set_cores(a->memory.shard.grid) == a->padded.dim[0] &&
	       a->memory.shard.height == a->padded.dim[1] * a->padded.dim[2] &&
	       a->memory.shard.width == a->padded.dim[3];
}

/* Whether b can be read for shards that stay where they are. */
static bool serves_shards(const struct ttnn_memory_config *b, const struct ttnn_memory_config *a)
{
	return !tt_memory_config_is_sharded(b) ||
	       (a->layout == TTNN_WIDTH_SHARDED && b->layout == TTNN_WIDTH_SHARDED &&
		is_l1_sharded(b) && b->shard.grid == a->shard.grid &&
		b->shard.width == a->shard.width && b->shard.orientation == TTNN_ORIENT_ROW_MAJOR);
}

/* The rows of cores of a grid that is one rectangle; 0 when it is none. */
static uint32_t core_rows(const ttnn_core_set *grid)
{
	struct ttnn_core_range box;

	if (tt_core_set_box(&box, grid) != TTNN_OK ||
	    ttnn_core_set_cores(grid) !=
		    (size_t)(box.end.x - box.start.x + 1) * (box.end.y - box.start.y + 1))
		return 0;
	return box.end.y - box.start.y + 1;
}

/* All batches in each core, cut across. */
static bool stays_in_shards(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[A]->spec;
	const struct ttnn_memory_config *memory = &a->memory;
	uint32_t rows;

	if (launch->attrs[DIM].integer || !have_same_shards(memory, &launch->specs[0].memory) ||
	    memory->layout == TTNN_HEIGHT_SHARDED || !is_even(a))
		return false;
	rows = core_rows(memory->shard.grid);
	if (memory->layout == TTNN_BLOCK_SHARDED && (!rows || a->padded.dim[0] % rows))
		return false;
	return serves_shards(&launch->inputs[B]->spec.memory, memory);
}

/* ---- refusals -------------------------------------------------------------------------------------------------- */

/* Shards of tiles are whole tiles, on all three sides. */
static tt_status check_shards(const struct tt_launch *launch)
{
	static const char *const names[] = {"input_a", "input_b", "output"};
	const struct ttnn_memory_config *const all[] = {&launch->inputs[A]->spec.memory,
							&launch->inputs[B]->spec.memory,
							launch->attrs[MEMORY].memory};

	for (size_t i = 0; i < TT_COUNT(all); i++) {
		if (!tt_memory_config_is_sharded(all[i]) || !all[i]->has_shard)
			continue;
		TT_REQUIRE(all[i]->shard.height % TT_TILE == 0,
			   "s.shape[0] % tt::constants::TILE_HEIGHT == 0",
			   "indexed_fill (TILE): %s shard_spec.shape[0] (%u) must be divisible "
			   "by TILE_HEIGHT (32)",
			   names[i], all[i]->shard.height);
		TT_REQUIRE(all[i]->shard.width % TT_TILE == 0,
			   "s.shape[1] % tt::constants::TILE_WIDTH == 0",
			   "indexed_fill (TILE): %s shard_spec.shape[1] (%u) must be divisible "
			   "by TILE_WIDTH (32)",
			   names[i], all[i]->shard.width);
	}
	return TTNN_OK;
}

/* Rows that are cut can only be filled in their shards. */
static tt_status check_cut_rows(const struct tt_launch *launch)
{
	int64_t dim = launch->attrs[DIM].integer;

	if (launch->inputs[A]->spec.layout != TTNN_ROW_MAJOR ||
	    !(tt_is_cut_across(&launch->inputs[A]->spec.memory) ||
	      tt_is_cut_across(&launch->inputs[B]->spec.memory) ||
	      tt_is_cut_across(launch->attrs[MEMORY].memory)))
		return TTNN_OK;
	TT_REQUIRE(dim == 0, "args.dim == 0",
		   "indexed_fill: a ROW_MAJOR WIDTH_SHARDED/BLOCK_SHARDED input_a, input_b or "
		   "output is only supported for dim=0 (got dim=%" PRId64
		   "); other dims take the generic path, which does not support ROW_MAJOR sharded "
		   "page addressing",
		   dim);
	TT_REQUIRE(
		stays_in_shards(launch),
		"ttnn::operations::data_movement::indexed_fill::is_shard_local_indexed_fill( "
		"input_tensor_a.tensor_spec(), input_tensor_b.tensor_spec(), resolved_out)",
		"indexed_fill: a ROW_MAJOR WIDTH_SHARDED/BLOCK_SHARDED input_a, input_b or "
		"output is only supported via the shard-local path, and this combination is not "
		"eligible for it (the generic fallback does not support ROW_MAJOR sharded page "
		"addressing). Eligibility requires: input_a and output in L1 with the same "
		"sharding layout, grid and shard shape; ROW_MAJOR shard orientation; even "
		"sharding; input_b INTERLEAVED or WIDTH_SHARDED matching input_a's grid and "
		"shard width; and for BLOCK_SHARDED a rectangular shard grid with B divisible by "
		"the grid row count");
	return TTNN_OK;
}

/* Four dimensions; indices are a row. */
static tt_status indexed_fill_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *ids = &launch->inputs[IDS]->spec;
	const struct ttnn_tensor_spec *a = &launch->inputs[A]->spec;

	TT_REQUIRE(launch->inputs[B]->spec.layout == a->layout,
		   "input_tensor_b.layout() == input_tensor_a.layout()",
		   "Inputs must be same layout");
	TT_REQUIRE(a->padded.rank == 4, "input_tensor_a_shape.rank() == 4",
		   "indexed_fill: only rank-4 tensors are supported; got rank %u", a->padded.rank);
	if (a->layout == TTNN_TILE)
		TT_TRY(check_shards(launch));
	TT_REQUIRE(ids->layout == TTNN_ROW_MAJOR, "batch_ids.layout() == Layout::ROW_MAJOR",
		   "Batch IDs must be ROW MAJOR");
	TT_REQUIRE(ids->dtype == TTNN_UINT32 || ids->dtype == TTNN_INT32,
		   "batch_ids.dtype() == DataType::UINT32 || batch_ids.dtype() == DataType::INT32",
		   "indexed_fill: batch_id must be UINT32 or INT32, got DataType::%s",
		   tt_enum_name(&tt_enum_dtype, (int64_t)ids->dtype));
	TT_REQUIRE(tt_tensor_buffer(launch->inputs[A]), "input_tensor_a.buffer() != nullptr",
		   "Operands to Index Fill need to be allocated in buffers on device!");
	return check_cut_rows(launch);
}

/* ---- program memory ---------------------------------------------------------------------------------------------- */

/* The first sharded tensor's cores, in upstream's order: output, a, b, indices. */
static const ttnn_core_set *worker_cores(const struct tt_launch *launch)
{
	const struct ttnn_memory_config *const all[] = {
		launch->attrs[MEMORY].memory, &launch->inputs[A]->spec.memory,
		&launch->inputs[B]->spec.memory, &launch->inputs[IDS]->spec.memory};

	for (size_t i = 0; i < TT_COUNT(all); i++)
		if (tt_memory_config_is_sharded(all[i]) && all[i]->has_shard)
			return all[i]->shard.grid;
	return launch->device->grid;
}

/* Pages of a row, or tiles, of a batch that is this wide. */
static uint64_t batch_pages(const struct ttnn_tensor_spec *a, uint64_t width)
{
	uint64_t rows = (uint64_t)a->padded.dim[1] * a->padded.dim[2];

	return a->layout == TTNN_TILE ? rows / TT_TILE * (width / TT_TILE) : rows;
}

static uint64_t page_bytes(const struct tt_tensor *a, uint64_t width)
{
	return a->spec.layout == TTNN_TILE ? tt_tile_bytes_of(a->spec.dtype)
					   : tt_align_to(width * tt_element_bytes(a), 32);
}

/* One buffer serves all pages. */
static uint64_t widest_page(const struct tt_launch *launch)
{
	const struct tt_tensor *const all[] = {launch->inputs[A], launch->inputs[B],
					       launch->outputs[0]};
	uint64_t widest = 0;

	if (all[0]->spec.layout == TTNN_TILE)
		return tt_tile_bytes_of(all[0]->spec.dtype);
	for (size_t i = 0; i < TT_COUNT(all); i++)
		widest = tt_aligned_page(all[i]) > widest ? tt_aligned_page(all[i]) : widest;
	return widest;
}

/* Batches stay in the shards of the output where that serves, else pages go through a buffer. */
static tt_status indexed_fill_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *a = launch->inputs[A];
	const struct ttnn_tensor_spec *spec = &a->spec;
	uint64_t ids = launch->inputs[B]->spec.padded.dim[launch->attrs[DIM].integer];
	uint64_t batches = spec->padded.dim[0], width = tt_shard_width(&spec->memory);
	uint64_t pages = 2, page = widest_page(launch);
	bool native = true;

	if (has_batch_a_core(launch)) {
		pages = batch_pages(spec, spec->padded.dim[3]);
		page = page_bytes(a, spec->padded.dim[3]);
	} else if (stays_in_shards(launch)) {
		uint64_t down = core_rows(spec->memory.shard.grid);

		if (spec->memory.layout == TTNN_BLOCK_SHARDED && down)
			batches /= down;
		pages = batches * batch_pages(spec, width);
		page = page_bytes(a, width);
	} else {
		native = false;
	}
	return TT_PLAN(plan, worker_cores(launch),
		       TT_DFB_ROW(0, "if_data", .pages = pages, .page = page,
				  .backing = native ? launch->outputs[0] : NULL),
		       TT_SCRATCH_ROW(0, "if_batch", .pages = 1,
				      .page = tt_align_to(sizeof(uint32_t) * ids, 32)));
}

/* a copied, then slices of b over it; indices outside are passed over. */
static tt_status indexed_fill_kernel(struct tt_launch *launch)
{
	struct tt_tensor *out = launch->outputs[0], *b = launch->inputs[B];
	uint32_t dim = (uint32_t)launch->attrs[DIM].integer, count = b->spec.shape.dim[dim];
	int64_t from[TTNN_MAX_RANK] = {0}, to[TTNN_MAX_RANK] = {0};
	uint32_t extent[TTNN_MAX_RANK];
	uint64_t all;
	double *ids;

	TT_TRY(tt_values_of(&ids, &all, launch, IDS));
	TT_TRY(tt_move_copy(out, launch->inputs[A]));
	for (uint32_t d = 0; d < out->spec.shape.rank; d++)
		extent[d] = d == dim ? 1 : out->spec.shape.dim[d];
	for (uint32_t i = 0; i < count && i < all; i++) {
		struct tt_move_block block = {.extent = extent, .in_start = from, .out_start = to};

		from[dim] = i;
		to[dim] = (int64_t)ids[i];
		if (to[dim] >= 0 && to[dim] < out->spec.shape.dim[dim])
			TT_TRY(tt_move_part(out, b, &block));
	}
	return TTNN_OK;
}

static const struct tt_prog prog = {
	.device_op = "IndexedFillDeviceOperation",
	.prim = "ttnn::prim::indexed_fill",
	.attrs = &schema,
	.infer = indexed_fill_infer,
	.validate = indexed_fill_validate,
	TT_FACTORY("ttnn::prim::IndexedFillProgramFactory", indexed_fill_memory),
	TT_KERNEL(indexed_fill_kernel),
	.cost = tt_cost_move,
};

/* ---- the operation ------------------------------------------------------------------------------------------------ */

struct request {
	struct tt_tensor *inputs[INPUTS];
	uint32_t dim;
	const struct ttnn_memory_config *memory;
};

/* The program takes dimensions before those of a page. */
static tt_status indexed_fill_launch(struct tt_tensor **out, struct tt_call *call,
				     const struct request *request)
{
	struct ttnn_value attrs[schema_count] = {[MEMORY] = ttnn_v_memory(request->memory),
						 [DIM] = ttnn_v_int(request->dim),
						 [CORES] = ttnn_v_none()};

	return TT_LAUNCH(out, call, &prog, .attrs = attrs, .inputs = request->inputs,
			 .input_count = INPUTS);
}

/* The dimension comes to the front, and goes back. */
static tt_status fill_permuted(struct tt_tensor **out, struct tt_call *call,
			       const struct request *request)
{
	uint32_t rank = request->inputs[A]->spec.shape.rank, dims[TTNN_MAX_RANK],
		 back[TTNN_MAX_RANK];
	struct ttnn_memory_config between = {.buffer = request->inputs[A]->spec.memory.buffer},
				  memory;
	struct tt_permute_args order = {.dims = dims, .memory = &between};
	struct request permuted = {.inputs = {request->inputs[IDS]}, .memory = &between};

	dims[0] = request->dim;
	for (uint32_t d = 0, next = 1; d < rank; d++)
		if (d != request->dim)
			dims[next++] = d;
	for (uint32_t d = 0; d < rank; d++)
		back[dims[d]] = d;
	for (uint32_t i = A; i <= B; i++) {
		order.in = request->inputs[i];
		TT_TRY(tt_call_permute(&permuted.inputs[i], call, &order));
		tt_call_own(call, permuted.inputs[i]);
	}
	order.dims = back;
	TT_TRY(indexed_fill_launch(&order.in, call, &permuted));
	tt_call_own(call, order.in);
	TT_TRY(indexed_fill_resolve(&memory, request->inputs[A], request->memory));
	order.memory = &memory;
	return tt_call_permute(out, call, &order);
}

/* a and b agree but along the dimension, where b has as many slices as there are indices. */
static tt_status check_shapes(const struct request *request, int64_t dim)
{
	const struct ttnn_shape *a = &request->inputs[A]->spec.shape,
				*b = &request->inputs[B]->spec.shape;
	uint32_t ids = tt_shape_last(&request->inputs[IDS]->spec.padded, 1);

	TT_REQUIRE(dim >= 0 && dim < a->rank, "dim >= 0 && dim < rank",
		   "indexed_fill: dim %" PRId64 " is out of bounds for rank %u", dim, a->rank);
	TT_REQUIRE(a->rank == b->rank, "rank == b_rank",
		   "indexed_fill: input_a and input_b must have the same rank; got "
		   "input_a.rank() = %u and input_b.rank() = %u",
		   a->rank, b->rank);
	for (uint32_t d = 0; d < a->rank; d++)
		TT_REQUIRE(d == dim || a->dim[d] == b->dim[d], "a_shape[d] == b_shape[d]",
			   "indexed_fill: input_a and input_b must have the same size along "
			   "every dimension except dim %" PRId64
			   "; mismatch at dim %u: input_a.size(%u) = %u, input_b.size(%u) = %u",
			   dim, d, d, a->dim[d], d, b->dim[d]);
	TT_REQUIRE(b->dim[dim] == ids,
		   "static_cast<uint32_t>(b_shape[dim]) == batch_id.padded_shape()[-1]",
		   "indexed_fill: input_b.size(%" PRId64
		   ") = %u must equal the number of indices (batch_id count = %u)",
		   dim, b->dim[dim], ids);
	return TTNN_OK;
}

/* A dimension within pages is permuted to the front first. */
static tt_status indexed_fill_expand(struct tt_call *call)
{
	struct request request = {.inputs = {tt_call_tensor(call, "batch_id"),
					     tt_call_tensor(call, "input_tensor_a"),
					     tt_call_tensor(call, "input_tensor_b")},
				  .memory = tt_call_memory(call, "memory_config")};
	const struct ttnn_tensor_spec *a = &request.inputs[A]->spec;
	int64_t dim = tt_call_int(call, "dim", 0);
	struct tt_tensor *out;

	dim += dim < 0 ? a->shape.rank : 0;
	TT_TRY(check_shapes(&request, dim));
	request.dim = (uint32_t)dim;
	if (!request.memory)
		request.memory = &a->memory;
	if (request.dim + (a->layout == TTNN_TILE ? 2 : 1) < a->shape.rank)
		TT_TRY(indexed_fill_launch(&out, call, &request));
	else
		TT_TRY(fill_permuted(&out, call, &request));
	tt_call_return(call, out);
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{TT_MOVE_ROW("indexed_fill", indexed_fill_expand, tt_golden_indexed_fill,
		     "A tensor of which slices are replaced by those of another one.",
		     "batch_id: Tensor, input_tensor_a: Tensor, input_tensor_b: Tensor, *, "
		     "memory_config: MemoryConfig? = None, dim: int = 0")},
};

const struct tt_op_family tt_family_indexed_fill = {"movement", ops, TT_COUNT(ops)};
