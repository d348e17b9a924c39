/*
 * paged_cache.c: keys and values that are kept in blocks, which a table assigns to users.
 *
 * A cache is [blocks, heads, rows of a block, width]; row i of a user is row i % rows of the
 * block that its row of the page table names at i / rows. Blocks of -1 are not there, and what
 * would go to them is dropped.
 *
 * Models, of ttnn 0.81 (experimental/paged_cache/device), PagedUpdateCacheDeviceOperation,
 * PagedFusedUpdateCacheDeviceOperation (the factory of tiles) and PagedFillCacheDeviceOperation:
 * refusals, memory, cores. Not modelled: the fused update of rows
 * (PagedRowMajorFusedUpdateCacheProgramFactory).
 */
#include "backend/backend.h"
#include "ops/attention/kv_cache.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"
#include "tensor/text.h"

/* ---- one token of every user ------------------------------------------------------------------------- */

#define ATTRS(X)                                                                                   \
	X(POSITIONS, "update_idxs", .unkeyed = true)                                               \
	X(OFFSET, "batch_offset")                                                                  \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(SHARE, "share_cache")                                                                    \
	X(MESH, "mesh_coords")                                                                     \
	X(BLOCK, "block_size")                                                                     \
	X(KV_HEADS, "num_kv_heads")                                                                \
	X(MODULO, "cache_position_modulo")
TT_ATTRS(schema, "PagedUpdateCacheParams", ATTRS);
/* Only the fused form has a second pair. */
enum { CACHE, IN, CACHE2, IN2, POSITION_TENSOR, PAGES, INPUTS };

/*
 * Either a tensor, which the kernel reads, or a list, which goes into the kernel's arguments and
 * has to have a number for every user.
 */
static tt_status check_positions(const struct tt_launch *launch, uint32_t users)
{
	const struct tt_tensor *tensor = launch->inputs[POSITION_TENSOR];
	const struct ttnn_value *list = &launch->attrs[POSITIONS];
	bool listed = list->kind == TTNN_VALUE_LIST && list->count;

	TT_REQUIRE(
		(tensor != NULL) != listed,
		"(update_idxs_tensor.has_value()) != (!operation_attributes.update_idxs.empty())",
		"Only an update tensor or an update vector can be provided. Not both or neither.");
	TT_REQUIRE(!tensor || tensor->spec.dtype == TTNN_INT32,
		   "update_idxs_tensor_val.dtype() == DataType::INT32",
		   "Expected update_idxs to have datatype INT32");
	TT_REQUIRE(!listed || list->count == users, "input_tensor.padded_shape()[1] == num_indices",
		   "Number of update_idxs (%u) should match batch size (%u)", list->count, users);
	return TTNN_OK;
}

/* An attribute that is a number, or what holds without it. */
static uint32_t number_or(const struct ttnn_value *value, uint32_t fallback)
{
	return tt_value_given(value) ? (uint32_t)value->integer : fallback;
}

/*
 * A launch sees the cache as [blocks, heads, rows, width] of these three: what it says
 * (block_size, num_kv_heads) or what the cache has. Caches are shared by layers of other shapes.
 */
static void view_of(uint32_t view[3], const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *cache = &launch->inputs[CACHE]->spec;

	view[0] = number_or(&launch->attrs[KV_HEADS], cache->padded.dim[1]);
	view[1] = number_or(&launch->attrs[BLOCK], cache->padded.dim[2]);
	view[2] = launch->inputs[IN]->spec.padded.dim[3];
}

/* A wrapped position must not split a block. */
static tt_status check_modulo(const struct ttnn_value *modulo, uint32_t block)
{
	TT_REQUIRE(
		!tt_value_given(modulo) ||
			(block && modulo->integer > 0 && modulo->integer % block == 0),
		"cache_position_modulo > 0 && cache_position_modulo % effective_block_size == 0",
		"cache_position_modulo (%lld) must be a positive multiple of effective "
		"block_size (%u); otherwise a wrapped position would split across blocks and the "
		"kernel can't address it.",
		(long long)modulo->integer, block);
	return TTNN_OK;
}

/* Blocks of another shape, and positions that wrap, are for caches with a table. */
static tt_status check_update_view(const struct tt_launch *launch)
{
	static const struct {
		int attr;
		const char *name;
	} paged[] = {{BLOCK, "block_size_override"},
		     {KV_HEADS, "num_kv_heads_override"},
		     {MODULO, "cache_position_modulo"}};
	uint32_t view[3], blocks = launch->inputs[CACHE]->spec.padded.dim[0];
	const struct ttnn_value *modulo = &launch->attrs[MODULO];

	for (size_t i = 0; i < TT_COUNT(paged); i++)
		TT_REQUIRE(launch->inputs[PAGES] || !tt_value_given(&launch->attrs[paged[i].attr]),
			   "page_table.has_value()",
			   "%s is only supported in paged mode (when page_table is provided)",
			   paged[i].name);
	if (!launch->inputs[PAGES])
		return TTNN_OK;
	view_of(view, launch);
	TT_TRY(tt_cache_check_view("paged_update_cache", "call view", &launch->inputs[CACHE]->spec,
				   view));
	TT_TRY(check_modulo(modulo, view[1]));
	TT_REQUIRE(!tt_value_given(modulo) || modulo->integer / view[1] <= blocks,
		   "bounded_blocks_per_seq <= cache_tensor.padded_shape()[0]",
		   "cache_position_modulo/block_size (%lld) must be <= max_num_blocks (%u)",
		   (long long)modulo->integer / view[1], blocks);
	return TTNN_OK;
}

/* A core has one user: its shard is that user's new row, for all heads. */
static tt_status check_grid(const struct ttnn_tensor_spec *in)
{
	uint64_t cores = ttnn_core_set_cores(in->memory.shard.grid);

	TT_REQUIRE(cores == in->padded.dim[1], "input_num_shards == num_users",
		   "Input tensor shard grid must have num_cores (%llu) equal to the number of "
		   "users / batch (%u). The kernel dispatches one user per core; use a "
		   "{num_users, 1} grid (or any CoreRangeSet whose num_cores == num_users).",
		   (unsigned long long)cores, in->padded.dim[1]);
	return TTNN_OK;
}

/*
 * A cache and what goes into it; the fused form asks this of keys and of values. Inputs are [1,
 * users, heads, width] in shards.
 */
static tt_status check_pair(const struct tt_launch *launch, const struct ttnn_tensor_spec *cache,
			    const struct ttnn_tensor_spec *in)
{
	const struct tt_tensor *pages = launch->inputs[PAGES];
	bool share = launch->attrs[SHARE].boolean;

	TT_REQUIRE(cache->layout == TTNN_TILE, "cache_tensor.layout() == Layout::TILE",
		   "Cache tensor in update_cache must be tilized");
	if (in->shape.rank != 4 || cache->shape.rank != 4)
		return tt_fail(TTNN_INVALID, "Inputs to update_cache must have four dimensions");
	TT_REQUIRE(pages || in->padded.dim[3] == cache->padded.dim[3],
		   "input_head_dim == cache_tensor.padded_shape()[-1]",
		   "Last dim of input tensor (%u) must match last dim of cache tensor (%u) in "
		   "non-paged mode",
		   in->padded.dim[3], cache->padded.dim[3]);
	TT_REQUIRE(pages || share || in->padded.dim[1] == cache->padded.dim[0],
		   "input_tensor.padded_shape()[1] == cache_tensor.padded_shape()[0]",
		   "Expect batch in input tensor match the batch in cache tensor");
	TT_REQUIRE(!pages || pages->spec.dtype == TTNN_INT32,
		   "page_table_val.dtype() == DataType::INT32",
		   "Expect page table to have datatype INT32");
	TT_TRY(check_positions(launch, in->padded.dim[1]));
	TT_REQUIRE(tt_memory_config_is_sharded(&in->memory) && in->memory.has_shard,
		   "input_tensor.is_sharded()", "Expect input_tensor to be sharded");
	return TTNN_OK;
}

static tt_status update_validate(struct tt_launch *launch)
{
	TT_TRY(check_pair(launch, &launch->inputs[CACHE]->spec, &launch->inputs[IN]->spec));
	TT_TRY(check_update_view(launch));
	return check_grid(&launch->inputs[IN]->spec);
}

/* What both forms hold beside the inputs, for as many users as there are. */
struct held {
	uint64_t width, users, cache, inter; /* tiles, users, bytes of tiles */
};

/*
 * What both forms hold beside the inputs, for as many users as there are. A row of a block's
 * tile is replaced by untilizing the tile (intermed0), writing the row and tilizing it again
 * (intermed1), in float32 if the cache is.
 */
static struct held held_of(const struct tt_launch *launch)
{
	const struct tt_tensor *cache = launch->inputs[CACHE];
	bool fp32 = cache->spec.dtype == TTNN_FLOAT32 ||
		    tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32);

	return (struct held){
		.width = tt_tiles_across(launch->inputs[IN]),
		.users = launch->inputs[IN]->spec.padded.dim[1],
		.cache = tt_tensor_tile_bytes(cache),
		.inter = tt_tile_bytes_of(fp32 ? TTNN_FLOAT32 : TTNN_BFLOAT16),
	};
}

/*
 * Tiles of the cache in which the new row falls are read (src0), changed and written back, one
 * user to a core.
 */
static tt_status paged_update_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct held held = held_of(launch);
	struct tt_tensor *in = launch->inputs[IN], *pages = launch->inputs[PAGES];
	struct tt_tensor *positions = launch->inputs[POSITION_TENSOR];

	return TT_PLAN(
		plan, in->spec.memory.shard.grid,
		TT_DFB_ROW(0, "src0_cb", .pages = 2 * held.width, .page = held.cache),
		TT_DFB_ROW(1, "src1_cb", .pages = tt_shard_tiles(&in->spec),
			   .page = tt_tensor_tile_bytes(in), .backing = in),
		TT_DFB_ROW(24, "intermed0_cb", .pages = 2 * held.width, .page = held.inter),
		TT_DFB_ROW(25, "intermed1_cb", .pages = 2 * held.width, .page = held.inter),
		TT_DFB_ROW(16, "output_cb", .pages = held.users * held.width, .page = held.cache),
		TT_DFB_ROW(2, "cb_index", .pages = positions != NULL,
			   .page = positions ? tt_tensor_tile_bytes(positions) : 0),
		TT_DFB_ROW(3, "cb_pagetable", .pages = pages != NULL,
			   .page = pages ? pages->spec.page_bytes : 0));
}

static tt_status write_token(const struct tt_launch *launch, int cache, int in)
{
	struct tt_cache_job job = {.cache = launch->outputs[cache == CACHE ? 0 : 1],
				   .in = launch->inputs[in],
				   .pages = launch->inputs[PAGES],
				   .positions = launch->inputs[POSITION_TENSOR],
				   .decode = true};

	TT_TRY(tt_cache_positions(&job.position_list, launch, &launch->attrs[POSITIONS]));
	return tt_backend_get()->cache(&job);
}

/* One token into a cache with a table, as the call sees its blocks. */
static tt_status paged_update_kernel(struct tt_launch *launch)
{
	struct tt_cache_job job = {.in = launch->inputs[IN],
				   .pages = launch->inputs[PAGES],
				   .positions = launch->inputs[POSITION_TENSOR],
				   .modulo = number_or(&launch->attrs[MODULO], 0),
				   .decode = true};
	uint32_t view[3];
	tt_status status;

	if (!job.pages)
		return write_token(launch, CACHE, IN);
	TT_TRY(tt_cache_positions(&job.position_list, launch, &launch->attrs[POSITIONS]));
	view_of(view, launch);
	TT_TRY(tt_cache_view(&job.cache, launch->outputs[0], view));
	status = tt_backend_get()->cache(&job);
	ttnn_tensor_unref(job.cache);
	return status;
}

static const struct tt_prog program = {
	.device_op = "PagedUpdateCacheDeviceOperation",
	.prim = "ttnn::prim::paged_update_cache",
	.attrs = &schema,
	.infer = tt_cache_infer,
	.validate = update_validate,
	TT_FACTORY("ttnn::experimental::prim::PagedUpdateCacheProgramFactory", paged_update_rows),
	TT_KERNEL(paged_update_kernel),
};

/* ---- keys and values at once ----------------------------------------------------------------------------- */

static const struct tt_schema both_schema = {"PagedFusedUpdateCacheParams", schema_fields, MESH + 1,
					     false};

/*
 * Keys and values are on other cores, each with its own shard as source, but with buffers alike:
 * so both sets of cores have all of them and each one its own src.
 */
static tt_status both_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct held held = held_of(launch);
	struct tt_tensor *one = launch->inputs[IN], *two = launch->inputs[IN2];
	struct tt_tensor *pages = launch->inputs[PAGES],
			 *positions = launch->inputs[POSITION_TENSOR];
	const struct tt_buffer_row first =
		TT_DFB_ROW(0, "src0_cb", .pages = 2 * held.width, .page = held.cache);
	const struct tt_buffer_row own =
		TT_DFB_ROW(1, "src1_cb", .pages = tt_shard_tiles(&one->spec),
			   .page = tt_tensor_tile_bytes(one), .backing = one);
	const struct tt_buffer_row other =
		TT_DFB_ROW(2, "src2_cb", .pages = tt_shard_tiles(&two->spec),
			   .page = tt_tensor_tile_bytes(two), .backing = two);
	const ttnn_core_set *all,
		*sets[] = {one->spec.memory.shard.grid, two->spec.memory.shard.grid};

	TT_TRY(tt_core_set_merge(&all, sets[0], sets[1]));
	TT_TRY(tt_plan_buffers(plan, all, &first, 1));
	TT_TRY(tt_plan_buffers(plan, sets[0], &own, 1));
	TT_TRY(tt_plan_buffers(plan, sets[1], &other, 1));
	return TT_PLAN(
		plan, all,
		TT_DFB_ROW(24, "intermed0_cb", .pages = 2 * held.width, .page = held.inter),
		TT_DFB_ROW(25, "intermed1_cb", .pages = 2 * held.width, .page = held.inter),
		TT_DFB_ROW(16, "output_cb", .pages = held.users * held.width, .page = held.cache),
		TT_DFB_ROW(3, "cb_index", .pages = positions != NULL,
			   .page = positions ? tt_aligned_page(positions) : 0),
		TT_DFB_ROW(4, "cb_pagetable", .pages = pages != NULL,
			   .page = pages ? tt_aligned_page(pages) : 0));
}

static tt_status refuse_overlap(const ttnn_core_set *one, const ttnn_core_set *two)
{
	struct tt_str texts[2] = {{0}};
	tt_status status;

	tt_text_core_set(&texts[0], one, TTNN_DIALECT_TT_METAL);
	tt_text_core_set(&texts[1], two, TTNN_DIALECT_TT_METAL);
	status = tt_fail_cond(TTNN_INVALID, "!is_overlap",
			      "input_tensor1 (%s) and input_tensor2 (%s) must not overlap",
			      tt_str_text(&texts[0]), tt_str_text(&texts[1]));
	tt_str_deinit(&texts[0]);
	tt_str_deinit(&texts[1]);
	return status;
}

/*
 * Each pair as in a single update; and cores that no pair shares, as a core works for one of
 * both.
 */
static tt_status both_validate(struct tt_launch *launch)
{
	static const uint8_t pairs[2][2] = {{CACHE, IN}, {CACHE2, IN2}};
	const struct ttnn_tensor_spec *one = &launch->inputs[IN]->spec;
	const struct ttnn_tensor_spec *two = &launch->inputs[IN2]->spec;
	const ttnn_core_set *common;

	TT_REQUIRE(one->layout == two->layout, "false",
		   "input_tensor1 and input_tensor2 must be either both tiled or both row-major");
	for (size_t i = 0; i < 2; i++) {
		const struct ttnn_tensor_spec *cache = &launch->inputs[pairs[i][0]]->spec;
		const struct ttnn_tensor_spec *in = &launch->inputs[pairs[i][1]]->spec;

		TT_REQUIRE(cache->layout != TTNN_TILE ||
				   !tt_memory_config_is_sharded(&cache->memory),
			   "cache_tensor.memory_config().memory_layout() == "
			   "TensorMemoryLayout::INTERLEAVED",
			   "Only interleaved cache is supported");
		TT_REQUIRE(cache->layout != TTNN_TILE || tt_shape_last(&in->padded, 1) ==
								 tt_shape_last(&cache->padded, 1),
			   "input_tensor.padded_shape()[-1] == cache_tensor.padded_shape()[-1]",
			   "Last dim of input tensor must match last dim of cache tensor");
		TT_TRY(check_pair(launch, cache, in));
	}
	TT_TRY(tt_core_set_intersect(&common, one->memory.shard.grid, two->memory.shard.grid));
	if (ttnn_core_set_cores(common))
		return refuse_overlap(one->memory.shard.grid, two->memory.shard.grid);
	return TTNN_OK;
}

static tt_status both_kernel(struct tt_launch *launch)
{
	TT_TRY(write_token(launch, CACHE, IN));
	return write_token(launch, CACHE2, IN2);
}

static const struct tt_prog both_program = {
	.device_op = "PagedFusedUpdateCacheDeviceOperation",
	.prim = "ttnn::prim::paged_fused_update_cache",
	.attrs = &both_schema,
	.infer = tt_cache_infer,
	.validate = both_validate,
	TT_FACTORY("ttnn::experimental::prim::PagedTiledFusedUpdateCacheProgramFactory", both_rows),
	.mute = true,
	TT_KERNEL(both_kernel),
};

/* ---- the first tokens of one user -------------------------------------------------------------------------- */

#define FILL_ATTRS(X)                                                                              \
	X(FILL_BATCH, "batch_idx_fallback", .unkeyed = true)                                       \
	X(FILL_MESH, "mesh_coords")                                                                \
	X(FILL_NOOP, "noop")                                                                       \
	X(FILL_BLOCK, "block_size")                                                                \
	X(FILL_MODULO, "cache_position_modulo")
TT_ATTRS(fill_schema, "PagedFillCacheParams", FILL_ATTRS);
enum { FILL_CACHE, FILL_IN, FILL_PAGES, FILL_BATCH_TENSOR, FILL_VALID, FILL_INPUTS };

static void fill_view_of(uint32_t view[3], const struct tt_launch *launch)
{
	const uint32_t *in = launch->inputs[FILL_IN]->spec.padded.dim;

	view[0] = in[1];
	view[1] = number_or(&launch->attrs[FILL_BLOCK],
			    launch->inputs[FILL_CACHE]->spec.padded.dim[2]);
	view[2] = in[3];
}

/* A prompt has to fit into the blocks that the table gives a user, unless positions wrap. */
static tt_status check_geometry(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *cache = &launch->inputs[FILL_CACHE]->spec;
	uint32_t rows = launch->inputs[FILL_IN]->spec.padded.dim[2], view[3];
	uint32_t table = tt_shape_last(&launch->inputs[FILL_PAGES]->spec.shape, 1);
	const struct ttnn_value *modulo = &launch->attrs[FILL_MODULO];
	uint64_t room;

	fill_view_of(view, launch);
	TT_TRY(tt_cache_check_view("paged_fill_cache", "input view", cache, view));
	TT_TRY(check_modulo(modulo, view[1]));
	room = (uint64_t)view[1] * table;
	TT_REQUIRE(!tt_value_given(modulo) || (uint64_t)modulo->integer <= room,
		   "modulo <= effective_block_size * page_table_shape[1]",
		   "cache_position_modulo (%lld) must fit in max_num_blocks_per_seq (%u) * "
		   "block_size (%u)",
		   (long long)modulo->integer, table, view[1]);
	TT_REQUIRE(tt_value_given(modulo) || rows <= room,
		   "input_shape[2] <= effective_block_size * page_table_shape[1]",
		   "Input seq_len (%u) must fit in max_num_blocks_per_seq (%u) * block_size (%u)",
		   rows, table, view[1]);
	return TTNN_OK;
}

/* How many of the tokens are real: one number. */
static tt_status check_valid(const struct tt_launch *launch)
{
	const struct tt_tensor *valid = launch->inputs[FILL_VALID];
	uint64_t count;

	if (!valid)
		return TTNN_OK;
	TT_REQUIRE(valid->spec.dtype == TTNN_UINT32 || valid->spec.dtype == TTNN_INT32,
		   "tensor.dtype() == DataType::UINT32 || tensor.dtype() == DataType::INT32",
		   "valid_seq_len tensor must be an integer type");
	TT_TRY(ttnn_shape_volume(&count, &valid->spec.shape));
	TT_REQUIRE(count == 1, "tensor.logical_volume() == 1",
		   "valid_seq_len tensor must contain exactly 1 element, got logical_volume=%llu",
		   (unsigned long long)count);
	TT_REQUIRE(valid->spec.layout == TTNN_ROW_MAJOR, "tensor.layout() == Layout::ROW_MAJOR",
		   "valid_seq_len tensor must be in ROW_MAJOR layout");
	TT_REQUIRE(
		tt_value_given(&launch->attrs[FILL_MODULO]),
		"args.cache_position_modulo.has_value()",
		"valid_seq_len tensor is only supported when cache_position_modulo is set (bounded "
		"fill)");
	return TTNN_OK;
}

/* A number for each batch of the input, in one page; without, there is one batch. */
static tt_status check_batches(const struct tt_launch *launch)
{
	const struct tt_tensor *tensor = launch->inputs[FILL_BATCH_TENSOR];
	uint32_t batches = launch->inputs[FILL_IN]->spec.shape.dim[0];
	uint64_t held;

	if (!tensor) {
		TT_REQUIRE(
			batches == 1, "input_batch == 1",
			"When no batch_idx_tensor is provided, input_batch must be 1 (got %u); pass "
			"a batch_idx_tensor of size input_batch to fill multiple batch rows in one "
			"call.",
			batches);
		return TTNN_OK;
	}
	held = tensor->spec.rows * tensor->spec.cols;
	TT_REQUIRE(held == batches, "tensor.physical_volume() == input_batch",
		   "Batch idx tensor must have input_tensor batch dim (%u) elements, got %llu",
		   batches, (unsigned long long)held);
	TT_REQUIRE(tensor->spec.dtype == TTNN_UINT32 || tensor->spec.dtype == TTNN_INT32,
		   "tensor.dtype() == DataType::UINT32 || tensor.dtype() == DataType::INT32",
		   "Batch idx tensor must be an integer type");
	TT_REQUIRE(tensor->spec.layout == TTNN_ROW_MAJOR, "tensor.layout() == Layout::ROW_MAJOR",
		   "Batch idx tensor must be in ROW_MAJOR layout");
	TT_REQUIRE(!tt_tensor_is_sharded(tensor),
		   "tensor.memory_config().memory_layout() == TensorMemoryLayout::INTERLEAVED",
		   "Batch idx tensor must have INTERLEAVED memory layout");
	TT_REQUIRE(tensor->spec.memory.buffer == TTNN_DRAM,
		   "tensor.buffer()->buffer_type() == tt::tt_metal::BufferType::DRAM",
		   "Batch idx tensor must be DRAM-resident");
	return TTNN_OK;
}

/* In upstream's order; which batches a tensor names nobody can check. */
static tt_status fill_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *cache = &launch->inputs[FILL_CACHE]->spec;
	const struct ttnn_tensor_spec *in = &launch->inputs[FILL_IN]->spec;
	const struct ttnn_tensor_spec *pages = &launch->inputs[FILL_PAGES]->spec;
	int64_t batch = launch->attrs[FILL_BATCH].integer;

	TT_REQUIRE(in->dtype == cache->dtype, "input_tensor.dtype() == cache_tensor.dtype()",
		   "Input tensor dtype (DataType::%s) must match cache tensor dtype (DataType::%s) "
		   "for paged_fill_cache; cast prefill K/V to the cache dtype before filling the "
		   "paged cache.",
		   ttnn_dtype_name(in->dtype, TTNN_DIALECT_TT_METAL),
		   ttnn_dtype_name(cache->dtype, TTNN_DIALECT_TT_METAL));
	TT_REQUIRE(!tt_memory_config_is_sharded(&in->memory),
		   "input_tensor.memory_config().memory_layout() == "
		   "TensorMemoryLayout::INTERLEAVED",
		   "Expect input_tensor to have memory layout INTERLEAVED");
	TT_REQUIRE(!tt_memory_config_is_sharded(&pages->memory),
		   "page_table_tensor.memory_config().memory_layout() == "
		   "TensorMemoryLayout::INTERLEAVED",
		   "Expect page_table_tensor to have memory layout INTERLEAVED");
	TT_REQUIRE(pages->dtype == TTNN_INT32, "page_table_tensor.dtype() == DataType::INT32",
		   "Expect page_table_tensor to have datatype INT32");
	TT_TRY(tt_need_dim(&pages->shape, 1));
	if (in->shape.rank != 4 || cache->shape.rank != 4 || pages->shape.rank < 2)
		return tt_fail(TTNN_INVALID, "paged_fill_cache takes a cache and an input of four "
					     "dimensions and a table of two");
	TT_REQUIRE(launch->inputs[FILL_BATCH_TENSOR] ||
			   (batch >= 0 && batch < tt_shape_last(&pages->shape, 2)),
		   "args.batch_idx_fallback < page_table_shape[0]",
		   "Batch idx must be within the page_table batch size");
	TT_TRY(check_geometry(launch));
	TT_TRY(check_batches(launch));
	return check_valid(launch);
}

static tt_status fill_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[FILL_IN];
	struct tt_tensor *batch = launch->inputs[FILL_BATCH_TENSOR];
	struct tt_tensor *valid = launch->inputs[FILL_VALID];
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid, in->spec.rows / TT_TILE,
			     TTNN_ORIENT_ROW_MAJOR));
	return tt_plan_buffers(
		plan, split.all,
		(struct tt_buffer_row[]){
			TT_DFB_ROW(0, "src0_cb", .pages = 2 * tt_tiles_across(in),
				   .page = tt_tensor_tile_bytes(in)),
			TT_DFB_ROW(1, "page_table_cb", .pages = 1,
				   .page = tt_aligned_page(launch->inputs[FILL_PAGES])),
			TT_DFB_ROW(2, "cb_batch_idx", .pages = batch != NULL,
				   .page = batch ? tt_element_bytes(batch) : 0),
			TT_DFB_ROW(3, "cb_valid_seq_len", .pages = valid != NULL,
				   .page = valid ? tt_element_bytes(valid) : 0),
		},
		4);
}

static tt_status fill_kernel(struct tt_launch *launch)
{
	struct tt_cache_job job = {.in = launch->inputs[FILL_IN],
				   .pages = launch->inputs[FILL_PAGES],
				   .batch_index = launch->inputs[FILL_BATCH_TENSOR],
				   .batch_start = (uint32_t)launch->attrs[FILL_BATCH].integer,
				   .valid = launch->inputs[FILL_VALID],
				   .modulo = number_or(&launch->attrs[FILL_MODULO], 0)};
	uint32_t view[3];
	tt_status status;

	fill_view_of(view, launch);
	TT_TRY(tt_cache_view(&job.cache, launch->outputs[0], view));
	status = tt_backend_get()->cache(&job);
	ttnn_tensor_unref(job.cache);
	return status;
}

static const struct tt_prog fill_program = {
	.device_op = "PagedFillCacheDeviceOperation",
	.prim = "ttnn::prim::paged_fill_cache",
	.attrs = &fill_schema,
	.infer = tt_cache_infer,
	.validate = fill_validate,
	TT_FACTORY("ttnn::experimental::prim::PagedFillCacheProgramFactory", fill_rows),
	TT_KERNEL(fill_kernel),
	.cost = tt_cost_unmodelled_move,
};

/* ---- operations ---------------------------------------------------------------------------------------------- */

static void token_attrs(struct ttnn_value attrs[schema_count], struct tt_call *call)
{
	const struct tt_compute_usual usual = {.fidelity = TT_LOFI, .approx = true};

	attrs[POSITIONS] = *tt_call_arg(call, "update_idxs");
	attrs[OFFSET] = ttnn_v_int(tt_call_int(call, "batch_offset", 0));
	attrs[SHARE] = ttnn_v_bool(tt_call_bool(call, "share_cache", false));
	attrs[MESH] = ttnn_v_none();
	attrs[BLOCK] = *tt_call_arg(call, "block_size");
	attrs[KV_HEADS] = *tt_call_arg(call, "num_kv_heads");
	attrs[MODULO] = *tt_call_arg(call, "cache_position_modulo");
	attrs[COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
}

static tt_status paged_cache_update(struct tt_call *call)
{
	struct tt_tensor *const inputs[INPUTS] = {
		[CACHE] = tt_call_tensor(call, "cache_tensor"),
		[IN] = tt_call_tensor(call, "input_tensor"),
		[POSITION_TENSOR] = tt_call_tensor(call, "update_idxs_tensor"),
		[PAGES] = tt_call_tensor(call, "page_table"),
	};
	struct ttnn_value attrs[schema_count];

	token_attrs(attrs, call);
	return tt_cache_launch(call, &(struct tt_program_args){.prog = &program,
							       .attrs = attrs,
							       .inputs = inputs,
							       .input_count = INPUTS});
}

static tt_status update_both(struct tt_call *call)
{
	struct tt_tensor *const inputs[INPUTS] = {
		[CACHE] = tt_call_tensor(call, "cache_tensor1"),
		[IN] = tt_call_tensor(call, "input_tensor1"),
		[CACHE2] = tt_call_tensor(call, "cache_tensor2"),
		[IN2] = tt_call_tensor(call, "input_tensor2"),
		[POSITION_TENSOR] = tt_call_tensor(call, "update_idxs_tensor"),
		[PAGES] = tt_call_tensor(call, "page_table"),
	};
	struct tt_tensor *const caches[] = {inputs[CACHE], inputs[CACHE2]};
	struct ttnn_value attrs[schema_count];

	token_attrs(attrs, call);
	return TT_LAUNCH_RETURN(call, &both_program, .attrs = attrs, .inputs = inputs,
				.input_count = INPUTS, .outputs = caches, .output_count = 2,
				.in_place = true);
}

static tt_status paged_cache_fill(struct tt_call *call)
{
	struct tt_tensor *const inputs[FILL_INPUTS] = {
		tt_call_tensor(call, "cache_tensor"), tt_call_tensor(call, "input_tensor"),
		tt_call_tensor(call, "page_table"), tt_call_tensor(call, "batch_idx_tensor"),
		tt_call_tensor(call, "valid_seq_len_tensor")};
	const struct ttnn_value attrs[fill_schema_count] = {
		[FILL_BATCH] = ttnn_v_int(tt_call_int(call, "batch_idx", 0)),
		[FILL_MESH] = ttnn_v_none(),
		[FILL_NOOP] = ttnn_v_bool(false),
		[FILL_BLOCK] = *tt_call_arg(call, "block_size"),
		[FILL_MODULO] = *tt_call_arg(call, "cache_position_modulo"),
	};

	return tt_cache_launch(call, &(struct tt_program_args){.prog = &fill_program,
							       .attrs = attrs,
							       .inputs = inputs,
							       .input_count = FILL_INPUTS});
}

#define POSITIONS_SIG                                                                               \
	"update_idxs: ints = [], update_idxs_tensor: Tensor? = None, share_cache: bool? = None, "   \
	"page_table: Tensor? = None, batch_offset: int = 0, compute_kernel_config: ComputeConfig? " \
	"= None, mesh_coords: any? = None"
static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.paged_fill_cache",
	 .doc = "The first tokens of one user go into the blocks that the table gives it.",
	 .sigs = {"cache_tensor: Tensor, input_tensor: Tensor, page_table: Tensor, *, "
		  "batch_idx_tensor: Tensor? = None, batch_idx: int = 0, compute_kernel_config: "
		  "ComputeConfig? = None, mesh_coords: any? = None, block_size: int? = None, "
		  "cache_position_modulo: int? = None, valid_seq_len_tensor: Tensor? = None"},
	 .expand = paged_cache_fill,
	 .golden = tt_golden_paged_fill,
	 .pcc = 0.9999},
	{.name = "ttnn.experimental.paged_fused_update_cache",
	 .doc = "One token of every user goes into two caches, of keys and of values.",
	 .sigs = {"cache_tensor1: Tensor, input_tensor1: Tensor, cache_tensor2: Tensor, "
		  "input_tensor2: Tensor, *, " POSITIONS_SIG},
	 .expand = update_both,
	 .golden = tt_golden_paged_update_both,
	 .pcc = 0.9999,
	 .gives = "[Tensor]"},
	{.name = "ttnn.experimental.paged_update_cache",
	 .doc = "One token of every user goes into the cache, at positions of their own.",
	 .sigs = {"cache_tensor: Tensor, input_tensor: Tensor, *, " POSITIONS_SIG
		  ", block_size: int? = None, num_kv_heads: int? = None, cache_position_modulo: "
		  "int? = None"},
	 .expand = paged_cache_update,
	 .golden = tt_golden_paged_update,
	 .pcc = 0.9999},
};

const struct tt_op_family tt_family_paged_cache = {"paged_cache", ops, TT_COUNT(ops)};
