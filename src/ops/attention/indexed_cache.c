/*
 * indexed_cache.c: rows go into two caches of pages, each to a row of its own: indexed_fused_update_cache.
 *
 * Models IndexedFusedUpdateCacheDeviceOperation of ttnn 0.81 with its one factory: refusals, memory, cores.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "device/buffer.h"
#include "ops/attention/attention.h"
#include "ops/attention/kv_cache.h"
#include "ops/creation/creation.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"

static const struct tt_schema schema = {"IndexedFusedUpdateCacheParams", NULL, 0, false};
enum { CACHE, IN, CACHE2, IN2, PLACES, INPUTS };
#define ROWS_MOST 256

/* ---- refusals ------------------------------------------------------------------------------------------------------ */

static tt_status check_kinds(const struct tt_launch *launch, int cache, int number)
{
	const struct ttnn_tensor_spec *to = &launch->inputs[cache]->spec;
	const struct ttnn_tensor_spec *from = &launch->inputs[cache + 1]->spec;

	TT_REQUIRE(to->layout == TTNN_TILE, "cache.layout() == Layout::TILE",
		   "cache_tensor%d must use TILE layout", number);
	TT_REQUIRE(from->layout == TTNN_TILE, "input.layout() == Layout::TILE",
		   "input_tensor%d must use TILE layout", number);
	TT_REQUIRE(to->dtype == TTNN_BFLOAT16, "cache.dtype() == DataType::BFLOAT16",
		   "cache_tensor%d must use BFLOAT16", number);
	TT_REQUIRE(from->dtype == TTNN_BFLOAT16, "input.dtype() == DataType::BFLOAT16",
		   "input_tensor%d must use BFLOAT16", number);
	TT_REQUIRE(!tt_memory_config_is_sharded(&to->memory), "!cache.is_sharded()",
		   "cache_tensor%d must be interleaved", number);
	TT_REQUIRE(!tt_memory_config_is_sharded(&from->memory), "!input.is_sharded()",
		   "input_tensor%d must be interleaved", number);
	TT_REQUIRE(to->shape.rank == 4, "cache.logical_shape().size() == 4",
		   "cache_tensor%d must have rank 4", number);
	TT_REQUIRE(from->shape.rank == 4, "input.logical_shape().size() == 4",
		   "input_tensor%d must have rank 4", number);
	return TTNN_OK;
}

static tt_status check_pair(const struct tt_launch *launch, int cache, int number)
{
	const uint32_t *to = launch->inputs[cache]->spec.shape.dim;
	const uint32_t *from = launch->inputs[cache + 1]->spec.shape.dim;

	TT_TRY(check_kinds(launch, cache, number));
	TT_REQUIRE(from[0] == 1, "input.logical_shape()[0] == 1", "input_tensor%d dim 0 must be 1",
		   number);
	TT_REQUIRE(to[1] == from[1], "cache.logical_shape()[1] == input.logical_shape()[1]",
		   "cache_tensor%d and input_tensor%d must have the same number of heads", number,
		   number);
	TT_REQUIRE(to[3] == from[3], "cache.logical_shape()[3] == input.logical_shape()[3]",
		   "cache_tensor%d and input_tensor%d must have the same head dimension", number,
		   number);
	TT_REQUIRE(to[2] % TT_TILE == 0, "cache.logical_shape()[2] % 32 == 0",
		   "cache_tensor%d rows per physical page must be tile aligned", number);
	TT_REQUIRE(to[3] % TT_TILE == 0, "cache.logical_shape()[3] % 32 == 0",
		   "cache_tensor%d head dimension must be tile aligned", number);
	TT_NEED(to[0] && to[1] && to[2] && to[3], "cache_tensor%d has no rows", number);
	TT_REQUIRE(from[2] > 0, "input.logical_shape()[2] > 0",
		   "input_tensor%d must have at least one source row", number);
	TT_REQUIRE(from[2] <= ROWS_MOST, "input.logical_shape()[2] <= max_update_rows",
		   "input_tensor%d supports at most %d source rows", number, ROWS_MOST);
	return TTNN_OK;
}

static tt_status check_places(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *places = &launch->inputs[PLACES]->spec;
	const uint32_t *dim = places->shape.dim;

	TT_REQUIRE(places->dtype == TTNN_INT32, "positions.dtype() == DataType::INT32",
		   "physical_update_idxs_tensor must use INT32");
	TT_REQUIRE(places->layout == TTNN_ROW_MAJOR, "positions.layout() == Layout::ROW_MAJOR",
		   "physical_update_idxs_tensor must use ROW_MAJOR layout");
	TT_REQUIRE(places->shape.rank == 2 && dim[0] == 1,
		   "positions.logical_shape().size() == 2 && positions.logical_shape()[0] == 1",
		   "physical_update_idxs_tensor must have shape [1, num_rows]");
	TT_REQUIRE(dim[1] >= launch->inputs[IN]->spec.shape.dim[2],
		   "positions.logical_shape()[1] >= args.input_tensor1.logical_shape()[2]",
		   "physical_update_idxs_tensor has fewer entries than the packed input has rows");
	TT_REQUIRE(dim[1] <= ROWS_MOST, "positions.logical_shape()[1] <= max_update_rows",
		   "physical_update_idxs_tensor supports at most %d entries", ROWS_MOST);
	return TTNN_OK;
}

static tt_status indexed_validate(struct tt_launch *launch)
{
	TT_TRY(check_pair(launch, CACHE, 1));
	TT_TRY(check_pair(launch, CACHE2, 2));
	TT_REQUIRE(ttnn_shape_equal(&launch->inputs[CACHE]->spec.shape,
				    &launch->inputs[CACHE2]->spec.shape),
		   "args.cache_tensor1.logical_shape() == args.cache_tensor2.logical_shape()",
		   "cache_tensor1 and cache_tensor2 must have identical shapes");
	TT_REQUIRE(
		ttnn_shape_equal(&launch->inputs[IN]->spec.shape, &launch->inputs[IN2]->spec.shape),
		"args.input_tensor1.logical_shape() == args.input_tensor2.logical_shape()",
		"input_tensor1 and input_tensor2 must have identical shapes");
	return check_places(launch);
}

/* ---- the program ---------------------------------------------------------------------------------------------------- */

/* A row of all heads to its place; there are pages of rows. */
static tt_status write_row(struct tt_tensor *cache, struct tt_tensor *in, uint32_t row,
			   int64_t place)
{
	const uint32_t *dim = cache->spec.shape.dim;
	const struct tt_move_loop loops[] = {
		{dim[1], 1, 1, 1, 1},
		{dim[3], 3, 3, 1, 1},
	};

	if (place < 0 || place >= (int64_t)dim[0] * dim[2])
		return TTNN_OK;
	return tt_backend_get()->move(
		&(struct tt_move_job){.out = cache,
				      .in = in,
				      .loops = loops,
				      .loop_count = TT_COUNT(loops),
				      .in_start = {0, 0, row, 0},
				      .out_start = {place / dim[2], 0, place % dim[2], 0}});
}

/* A core for each tile of a head's row: a tile of the cache, double, and all places. */
static tt_status indexed_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const uint32_t *dim = launch->inputs[CACHE]->spec.shape.dim;
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid,
			     (uint64_t)dim[1] * (dim[3] / TT_TILE), TTNN_ORIENT_ROW_MAJOR));
	return TT_PLAN(
		plan, split.all,
		TT_DFB_ROW(0, "cache", .pages = 2, .page = tt_tile_bytes_of(TTNN_BFLOAT16)),
		TT_DFB_ROW(1, "places", .pages = 1,
			   .page = tt_tensor_buffer(launch->inputs[PLACES])->layout.aligned_page));
}

static tt_status indexed_kernel(struct tt_launch *launch)
{
	uint32_t rows = launch->inputs[IN]->spec.shape.dim[2];
	uint64_t count = launch->inputs[PLACES]->spec.shape.dim[1];
	double *places = tt_arena_alloc(launch->arena, (count + 1) * sizeof(*places));

	TT_NEED_MEMORY(places);
	TT_TRY(tt_tensor_numbers(places, count, launch->inputs[PLACES]));
	for (uint32_t i = 0; i < rows; i++) {
		TT_TRY(write_row(launch->inputs[CACHE], launch->inputs[IN], i, (int64_t)places[i]));
		TT_TRY(write_row(launch->inputs[CACHE2], launch->inputs[IN2], i,
				 (int64_t)places[i]));
	}
	return TTNN_OK;
}

static const struct tt_prog program = {
	.device_op = "IndexedFusedUpdateCacheDeviceOperation",
	.prim = "ttnn::prim::indexed_fused_update_cache",
	.attrs = &schema,
	.infer = tt_cache_infer,
	.validate = indexed_validate,
	TT_FACTORY("ttnn::experimental::prim::indexed_fused_update_cache::"
		   "IndexedFusedUpdateCacheProgramFactory",
		   indexed_memory),
	TT_KERNEL(indexed_kernel),
	.cost = tt_cost_unmodelled_move,
	.mute = true,
};

static tt_status indexed_expand(struct tt_call *call)
{
	static const char *const names[INPUTS] = {"cache_tensor1", "input_tensor1", "cache_tensor2",
						  "input_tensor2", "physical_update_idxs_tensor"};
	struct tt_tensor *in[INPUTS];

	for (int i = 0; i < INPUTS; i++) {
		in[i] = tt_call_tensor(call, names[i]);
		TT_TRY(tt_need_device(in[i]));
	}
	return TT_LAUNCH_RETURN(call, &program,
				TT_INPUTS(in[CACHE], in[IN], in[CACHE2], in[IN2], in[PLACES]),
				TT_OUTPUTS(in[CACHE], in[CACHE2]), .in_place = true);
}

/* ---- the golden ----------------------------------------------------------------------------------------------------- */

/* Row after row of a cache: the last row of the input that goes there, or what it was. */
static tt_status golden_one(struct tt_golden *golden, const char *cache, const char *in,
			    const struct tt_array *places)
{
	const struct tt_array *before = tt_golden_in4(golden, cache),
			      *rows = tt_golden_in4(golden, in);
	const uint32_t *dim, *from;
	struct tt_array *out;

	TT_GOLDEN_NEED(before && rows);
	dim = before->shape.dim;
	from = rows->shape.dim;
	out = tt_golden_out(golden, &before->shape, before->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t column = i % dim[3], row = i / dim[3] % dim[2];
		uint64_t head = i / dim[3] / dim[2] % dim[1], page = i / dim[3] / dim[2] / dim[1];

		*tt_at(out, i) = *tt_at(before, i);
		for (uint64_t r = 0; r < from[2]; r++)
			if (*tt_at(places, r) == (double)(page * dim[2] + row))
				*tt_at(out, i) =
					*tt_at(rows, (head * from[2] + r) * dim[3] + column);
	}
	return TTNN_OK;
}

static tt_status golden_indexed(struct tt_golden *golden)
{
	const struct tt_array *places = tt_golden_in(golden, "physical_update_idxs_tensor");

	TT_GOLDEN_NEED(places);
	TT_TRY(golden_one(golden, "cache_tensor1", "input_tensor1", places));
	return golden_one(golden, "cache_tensor2", "input_tensor2", places);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.indexed_fused_update_cache",
	 .doc = "Rows go into two caches of pages, each to a row of its own.",
	 .sigs = {"cache_tensor1: Tensor, input_tensor1: Tensor, cache_tensor2: Tensor, "
		  "input_tensor2: Tensor, physical_update_idxs_tensor: Tensor"},
	 .expand = indexed_expand,
	 .golden = golden_indexed,
	 .pcc = 0.9999,
	 .gives = "Tensor, Tensor",
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_indexed_cache = {"indexed_cache", ops, TT_COUNT(ops)};
