/*
 * paged_cache.c: keys and values that are kept in blocks, which a table assigns to users.
 *
 * Models PagedUpdateCacheDeviceOperation, PagedFusedUpdateCacheDeviceOperation (the factory of tiles) and
 * PagedFillCacheDeviceOperation of ttnn 0.81: refusals, memory, cores. Not modelled: the fused update of rows.
 */
#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "device/work_split.h"
#include "ops/attention/kv_cache.h"
#include "ops/compute.h"
#include "ops/cost.h"
#include "ops/mem_rows.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"
#include "tensor/core.h"
#include "tensor/enums.h"
#include "tensor/shape.h"
#include "tensor/spec.h"
#include "tensor/tile.h"

static uint64_t tile_of(const struct tt_tensor *tensor)
{
	return tt_tile_bytes_of(tensor->spec.dtype);
}

static uint64_t tiles_across(const struct tt_tensor *tensor)
{
	return tt_shape_last(&tensor->spec.padded, 1) / TT_TILE;
}

/* A list argument of positions as a backend wants it; NULL when it is empty. */
static tt_status positions_of(const int32_t **out, const struct tt_launch *launch,
			      const struct ttnn_value *list)
{
	int32_t *numbers;

	*out = NULL;
	if (list->kind != TTNN_VALUE_LIST || !list->count)
		return TTNN_OK;
	numbers = tt_arena_calloc(launch->arena, list->count, sizeof(*numbers));
	if (!numbers)
		return tt_fail_nomem();
	for (uint32_t i = 0; i < list->count; i++)
		numbers[i] = (int32_t)list->items[i].integer;
	*out = numbers;
	return TTNN_OK;
}

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
/* The fused form has a second pair; the cache and input of the first stand where these stand. */
enum { CACHE, IN, POSITION_TENSOR, PAGES, CACHE2, IN2, INPUTS };

static tt_status check_positions(const struct tt_launch *launch)
{
	const struct tt_tensor *tensor = launch->inputs[POSITION_TENSOR];
	const struct ttnn_value *list = &launch->attrs[POSITIONS];
	bool listed = list->kind == TTNN_VALUE_LIST && list->count;
	uint32_t users = launch->inputs[IN]->spec.padded.dim[1];

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

static tt_status validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *cache = &launch->inputs[CACHE]->spec;
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
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
	TT_TRY(check_positions(launch));
	TT_REQUIRE(tt_memory_config_is_sharded(&in->memory) && in->memory.has_shard,
		   "input_tensor.is_sharded()", "Expect input_tensor to be sharded");
	return TTNN_OK;
}

/* What both forms hold beside the inputs, for as many users as there are. */
struct held {
	uint64_t width, users, cache, inter; /* tiles, users, bytes of tiles */
};

static struct held held_of(const struct tt_launch *launch)
{
	const struct tt_tensor *cache = launch->inputs[CACHE];
	bool fp32 = cache->spec.dtype == TTNN_FLOAT32 ||
		    tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32);

	return (struct held){
		.width = tiles_across(cache),
		.users = launch->inputs[IN]->spec.padded.dim[1],
		.cache = tile_of(cache),
		.inter = tt_tile_bytes_of(fp32 ? TTNN_FLOAT32 : TTNN_BFLOAT16),
	};
}

static tt_status rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct held held = held_of(launch);
	struct tt_tensor *in = launch->inputs[IN], *pages = launch->inputs[PAGES];
	struct tt_tensor *positions = launch->inputs[POSITION_TENSOR];

	return TT_PLAN(
		plan, in->spec.memory.shard.grid,
		TT_DFB_ROW(0, "src0_cb", .pages = 2 * held.width, .page = held.cache),
		TT_DFB_ROW(1, "src1_cb", .pages = tt_shard_tiles(&in->spec), .page = tile_of(in),
			   .backing = in),
		TT_DFB_ROW(24, "intermed0_cb", .pages = 2 * held.width, .page = held.inter),
		TT_DFB_ROW(25, "intermed1_cb", .pages = 2 * held.width, .page = held.inter),
		TT_DFB_ROW(16, "output_cb", .pages = held.users * held.width, .page = held.cache),
		TT_DFB_ROW(2, "cb_index", .pages = positions != NULL,
			   .page = positions ? tile_of(positions) : 0),
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

	TT_TRY(positions_of(&job.position_list, launch, &launch->attrs[POSITIONS]));
	return tt_backend_get()->cache(&job);
}

static tt_status kernel(struct tt_launch *launch)
{
	return write_token(launch, CACHE, IN);
}

static const struct tt_prog program = {
	.device_op = "PagedUpdateCacheDeviceOperation",
	.prim = "ttnn::prim::paged_update_cache",
	.attrs = &schema,
	.infer = tt_cache_infer,
	.validate = validate,
	TT_FACTORY("ttnn::experimental::prim::PagedUpdateCacheProgramFactory", rows),
	TT_KERNEL(kernel),
};

/* ---- keys and values at once ----------------------------------------------------------------------------- */

static const struct tt_schema both_schema = {"PagedFusedUpdateCacheParams", schema_fields, MESH + 1,
					     false};

static tt_status both_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct held held = held_of(launch);
	struct tt_tensor *one = launch->inputs[IN], *two = launch->inputs[IN2];
	struct tt_tensor *pages = launch->inputs[PAGES],
			 *positions = launch->inputs[POSITION_TENSOR];
	const struct tt_buffer_row first =
		TT_DFB_ROW(0, "src0_cb", .pages = 2 * held.width, .page = held.cache);
	const struct tt_buffer_row own =
		TT_DFB_ROW(1, "src1_cb", .pages = tt_shard_tiles(&one->spec), .page = tile_of(one),
			   .backing = one);
	const struct tt_buffer_row other =
		TT_DFB_ROW(2, "src2_cb", .pages = tt_shard_tiles(&two->spec), .page = tile_of(two),
			   .backing = two);
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
			   .page = pages ? pages->spec.page_bytes : 0));
}

static tt_status both_validate(struct tt_launch *launch)
{
	TT_TRY(validate(launch));
	TT_REQUIRE(launch->inputs[IN2]->spec.memory.has_shard, "input_tensor.is_sharded()",
		   "Expect input_tensor to be sharded");
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
enum { FILL_CACHE, FILL_IN, FILL_PAGES, FILL_BATCH_TENSOR, FILL_INPUTS };

static tt_status check_geometry(const struct ttnn_tensor_spec *cache,
				const struct ttnn_tensor_spec *in,
				const struct ttnn_tensor_spec *pages)
{
	const uint32_t *c = cache->padded.dim, *i = in->padded.dim;
	uint32_t table = tt_shape_last(&pages->shape, 1);
	uint64_t held = (uint64_t)c[1] * c[2] * c[3], given = (uint64_t)i[1] * c[2] * i[3];

	TT_REQUIRE(
		held == given, "view_elems_per_block == cache_elems_per_block",
		"paged_fill_cache geometry mismatch: cache has %llu elems/block (kv_heads=%u, "
		"block_size=%u, head_dim=%u) but input view is %llu (kv_heads=%u, block_size=%u, "
		"head_dim=%u).",
		(unsigned long long)held, c[1], c[2], c[3], (unsigned long long)given, i[1], c[2],
		i[3]);
	TT_REQUIRE(i[2] <= (uint64_t)c[2] * table,
		   "input_shape[2] <= effective_block_size * page_table_shape[1]",
		   "Input seq_len (%u) must fit in max_num_blocks_per_seq (%u) * block_size (%u)",
		   i[2], table, c[2]);
	return TTNN_OK;
}

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
	TT_REQUIRE(pages->dtype == TTNN_INT32, "page_table_tensor.dtype() == DataType::INT32",
		   "Expect page_table_tensor to have datatype INT32");
	if (in->shape.rank != 4 || cache->shape.rank != 4 || pages->shape.rank < 2)
		return tt_fail(TTNN_INVALID, "paged_fill_cache takes a cache and an input of four "
					     "dimensions and a table of two");
	TT_REQUIRE(launch->inputs[FILL_BATCH_TENSOR] ||
			   (batch >= 0 && batch < tt_shape_last(&pages->shape, 2)),
		   "args.batch_idx_fallback < page_table_shape[0]",
		   "Batch idx must be within the page_table batch size");
	return check_geometry(cache, in, pages);
}

static tt_status fill_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[FILL_IN];
	struct tt_tensor *batch = launch->inputs[FILL_BATCH_TENSOR];
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid, in->spec.rows / TT_TILE,
			     TTNN_ORIENT_ROW_MAJOR));
	return tt_plan_buffers(
		plan, split.all,
		(struct tt_buffer_row[]){
			TT_DFB_ROW(0, "src0_cb", .pages = 2 * tiles_across(in),
				   .page = tile_of(in)),
			TT_DFB_ROW(1, "page_table_cb", .pages = 1,
				   .page = tt_aligned_page(launch->inputs[FILL_PAGES])),
			TT_DFB_ROW(2, "cb_batch_idx", .pages = batch != NULL,
				   .page = batch ? tt_element_bytes(batch) : 0),
		},
		3);
}

static tt_status fill_kernel(struct tt_launch *launch)
{
	return tt_backend_get()->cache(
		&(struct tt_cache_job){.cache = launch->outputs[0],
				       .in = launch->inputs[FILL_IN],
				       .pages = launch->inputs[FILL_PAGES],
				       .batch_index = launch->inputs[FILL_BATCH_TENSOR],
				       .batch_start = (uint32_t)launch->attrs[FILL_BATCH].integer});
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

static tt_status update(struct tt_call *call)
{
	struct tt_tensor *const inputs[] = {
		tt_call_tensor(call, "cache_tensor"), tt_call_tensor(call, "input_tensor"),
		tt_call_tensor(call, "update_idxs_tensor"), tt_call_tensor(call, "page_table")};
	struct ttnn_value attrs[schema_count];

	token_attrs(attrs, call);
	return tt_cache_launch(call, &(struct tt_program_args){.prog = &program,
							       .attrs = attrs,
							       .inputs = inputs,
							       .input_count = PAGES + 1});
}

static tt_status update_both(struct tt_call *call)
{
	struct tt_tensor *const inputs[INPUTS] = {
		tt_call_tensor(call, "cache_tensor1"),      tt_call_tensor(call, "input_tensor1"),
		tt_call_tensor(call, "update_idxs_tensor"), tt_call_tensor(call, "page_table"),
		tt_call_tensor(call, "cache_tensor2"),      tt_call_tensor(call, "input_tensor2")};
	struct tt_tensor *const caches[] = {inputs[CACHE], inputs[CACHE2]};
	struct ttnn_value attrs[schema_count];
	struct tt_tensor *out[2];
	size_t count;

	token_attrs(attrs, call);
	TT_TRY(tt_call_programs(out, &count, call,
				&(struct tt_program_args){.prog = &both_program,
							  .attrs = attrs,
							  .inputs = inputs,
							  .input_count = INPUTS,
							  .outputs = caches,
							  .output_count = 2,
							  .in_place = true}));
	tt_call_return(call, out[0]);
	tt_call_return(call, out[1]);
	return TTNN_OK;
}

static tt_status fill(struct tt_call *call)
{
	struct tt_tensor *const inputs[FILL_INPUTS] = {
		tt_call_tensor(call, "cache_tensor"), tt_call_tensor(call, "input_tensor"),
		tt_call_tensor(call, "page_table"), tt_call_tensor(call, "batch_idx_tensor")};
	const struct ttnn_value attrs[fill_schema_count] = {
		[FILL_BATCH] = ttnn_v_int(tt_call_int(call, "batch_idx", 0)),
		[FILL_MESH] = ttnn_v_none(),
		[FILL_NOOP] = ttnn_v_bool(false),
		[FILL_BLOCK] = *tt_call_arg(call, "block_size"),
		[FILL_MODULO] = *tt_call_arg(call, "cache_position_modulo"),
	};

	TT_REQUIRE(
		!tt_call_tensor(call, "valid_seq_len_tensor") ||
			tt_value_given(&attrs[FILL_MODULO]),
		"args.cache_position_modulo.has_value()",
		"valid_seq_len tensor is only supported when cache_position_modulo is set (bounded "
		"fill)");
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
	 .family = "paged_cache",
	 .doc = "The first tokens of one user go into the blocks that the table gives it.",
	 .sigs = {"cache_tensor: Tensor, input_tensor: Tensor, page_table: Tensor, *, "
		  "batch_idx_tensor: Tensor? = None, batch_idx: int = 0, compute_kernel_config: "
		  "ComputeConfig? = None, mesh_coords: any? = None, block_size: int? = None, "
		  "cache_position_modulo: int? = None, valid_seq_len_tensor: Tensor? = None"},
	 .expand = fill,
	 .golden = tt_golden_paged_fill,
	 .pcc = 0.9999},
	{.name = "ttnn.experimental.paged_fused_update_cache",
	 .family = "paged_cache",
	 .doc = "One token of every user goes into two caches, of keys and of values.",
	 .sigs = {"cache_tensor1: Tensor, input_tensor1: Tensor, cache_tensor2: Tensor, "
		  "input_tensor2: Tensor, *, " POSITIONS_SIG},
	 .expand = update_both,
	 .golden = tt_golden_paged_update_both,
	 .pcc = 0.9999,
	 .gives = "[Tensor]"},
	{.name = "ttnn.experimental.paged_update_cache",
	 .family = "paged_cache",
	 .doc = "One token of every user goes into the cache, at positions of their own.",
	 .sigs = {"cache_tensor: Tensor, input_tensor: Tensor, *, " POSITIONS_SIG
		  ", block_size: int? = None, num_kv_heads: int? = None, cache_position_modulo: "
		  "int? = None"},
	 .expand = update,
	 .golden = tt_golden_paged_update,
	 .pcc = 0.9999},
};

const struct tt_op_family tt_family_paged_cache = {"paged_cache", ops, TT_COUNT(ops)};
