/*
 * kv_cache.c: keys and values that are kept: [batch, heads, positions, width]. Older than the
 * paged ones (paged_cache.c): a user has a batch of its own, as long as anybody's.
 *
 * Models UpdateKVCacheOperation of ttnn 0.81 (kv_cache/device) with its two factories,
 * UpdateCacheMultiCoreProgramFactory (a token of every user) and
 * FillCacheMultiCoreProgramFactory (a user's prompt): refusals, memory, cores. Not modelled: the
 * order in which cores write.
 */
#include "ops/attention/kv_cache.h"

#include <string.h>

#include "backend/backend.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"
#include "ops/objects.h"

tt_status tt_cache_infer(struct tt_launch *launch)
{
	launch->output_count = 0;
	while (launch->output_count < TT_OUTPUTS_MAX && launch->outputs[launch->output_count]) {
		launch->specs[launch->output_count] = launch->outputs[launch->output_count]->spec;
		launch->output_count++;
	}
	return TTNN_OK;
}

tt_status tt_cache_positions(const int32_t **out, const struct tt_launch *launch,
			     const struct ttnn_value *list)
{
	int32_t *numbers;

	*out = NULL;
	if (list->kind != TTNN_VALUE_LIST || !list->count)
		return TTNN_OK;
	numbers = tt_arena_calloc(launch->arena, list->count, sizeof(*numbers));
	TT_NEED_MEMORY(numbers);
	for (uint32_t i = 0; i < list->count; i++)
		numbers[i] = (int32_t)list->items[i].integer;
	*out = numbers;
	return TTNN_OK;
}

/* A program that writes into its first input and returns it. */
tt_status tt_cache_launch(struct tt_call *call, const struct tt_program_args *args)
{
	struct tt_program_args with = *args;

	with.outputs = args->inputs;
	with.output_count = 1;
	with.in_place = true;
	return tt_launch_return(call, &with);
}

/* The same bytes as blocks of another shape; the cache itself where that is what it has. */
tt_status tt_cache_view(struct tt_tensor **out, struct tt_tensor *cache, const uint32_t view[3])
{
	struct ttnn_spec_args args = tt_tensor_spec_args(&cache->spec);
	struct ttnn_tensor_spec spec;

	if (memcmp(&cache->spec.padded.dim[1], view, 3 * sizeof(*view)) == 0) {
		*out = ttnn_tensor_ref(cache);
		return TTNN_OK;
	}
	memcpy(&args.shape.dim[1], view, 3 * sizeof(*view));
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	return tt_tensor_share(out, cache, &spec);
}

struct ttnn_value tt_cache_geometry_arg(const struct tt_call *call)
{
	static const struct ttnn_value zeros[TT_PAGED_FIELDS] = {{.kind = TTNN_VALUE_INT},
								 {.kind = TTNN_VALUE_INT}};
	const struct ttnn_value *given = tt_call_arg(call, "paged_cache_geometry");

	return tt_value_given(given) ? *given : tt_value_object(&tt_schema_paged_geometry, zeros);
}

uint32_t tt_cache_geometry(const struct ttnn_value *geometry, int field)
{
	int64_t number;

	if (geometry->kind != TTNN_VALUE_OBJECT || geometry->schema != &tt_schema_paged_geometry ||
	    !tt_value_integer(&number, &geometry->items[field]) || number < 0 ||
	    number > UINT32_MAX)
		return 0;
	return (uint32_t)number;
}

bool tt_cache_is_overridden(const struct ttnn_value *geometry)
{
	return tt_cache_geometry(geometry, TT_PAGED_BLOCK) ||
	       tt_cache_geometry(geometry, TT_PAGED_KV_HEADS);
}

void tt_cache_view_of(uint32_t view[3], const struct ttnn_value *geometry,
		      const struct tt_tensor *cache, const struct tt_tensor *q)
{
	memcpy(view, &cache->spec.padded.dim[1], 3 * sizeof(*view));
	if (!tt_cache_is_overridden(geometry))
		return;
	view[0] = tt_cache_geometry(geometry, TT_PAGED_KV_HEADS);
	view[1] = tt_cache_geometry(geometry, TT_PAGED_BLOCK);
	view[2] = q->spec.padded.dim[3];
}

tt_status tt_cache_attend(struct tt_attention_job *job, const struct ttnn_value *geometry)
{
	struct tt_tensor *v = job->v;
	uint32_t view[3];

	tt_cache_view_of(view, geometry, job->k, job->q);
	TT_TRY(tt_cache_view(&job->k, job->k, view));
	TT_TRY(tt_scratch_keep(job->k));
	tt_cache_view_of(view, geometry, v, job->q);
	TT_TRY(tt_cache_view(&job->v, v, view));
	TT_TRY(tt_scratch_keep(job->v));
	return tt_backend_get()->attention(job);
}

/* A view must be as large as the cache's blocks, in whole tiles. */
tt_status tt_cache_check_view(const char *operation, const char *what,
			      const struct ttnn_tensor_spec *cache, const uint32_t view[3])
{
	const uint32_t *c = cache->padded.dim;
	uint64_t held = (uint64_t)c[1] * c[2] * c[3], seen = (uint64_t)view[0] * view[1] * view[2];

	TT_REQUIRE(held == seen, "view_elems_per_block == cache_elems_per_block",
		   "%s geometry mismatch: cache has %llu elems/block (kv_heads=%u, block_size=%u, "
		   "head_dim=%u) but %s is %llu (kv_heads=%u, block_size=%u, head_dim=%u).",
		   operation, (unsigned long long)held, c[1], c[2], c[3], what,
		   (unsigned long long)seen, view[0], view[1], view[2]);
	TT_REQUIRE(view[2] % TT_TILE == 0, "input_head_dim % tt::constants::TILE_WIDTH == 0",
		   "input_tensor last dim (%u) must be a multiple of TILE_WIDTH (%u)", view[2],
		   TT_TILE);
	TT_REQUIRE(view[1] % TT_TILE == 0, "effective_block_size % tt::constants::TILE_HEIGHT == 0",
		   "effective block_size (%u) must be a multiple of TILE_HEIGHT (%u)", view[1],
		   TT_TILE);
	return TTNN_OK;
}

/* ---- the program ------------------------------------------------------------------------------------- */

enum kind { FILL, UPDATE };
static const struct tt_enum_row kind_rows[] = {{FILL, "FILL"}, {UPDATE, "UPDATE"}};
static const struct tt_enum kind_enum = {"UpdateCacheOpType", kind_rows, 2};

#define ATTRS(X)                                                                                   \
	X(BATCH, "batch_idx", .unkeyed = true)                                                     \
	X(POSITION, "update_idx", .unkeyed = true)                                                 \
	X(OFFSET, "batch_offset", .unkeyed = true)                                                 \
	X(KIND, "op_type")                                                                         \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(schema, "KvCacheParams", ATTRS);
enum { CACHE, IN, INPUTS };

/* A prompt goes into one batch, from a row on that begins a tile. */
static tt_status check_fill(const struct tt_launch *launch, const struct ttnn_tensor_spec *cache,
			    const struct ttnn_tensor_spec *in)
{
	int64_t batch = launch->attrs[BATCH].integer, position = launch->attrs[POSITION].integer;
	uint32_t height = tt_shape_last(&cache->padded, 2), rows = tt_shape_last(&in->padded, 2);

	TT_REQUIRE(in->dtype == cache->dtype, "input_tensor.dtype() == cache_tensor.dtype()",
		   "Input and cache tensors must have same dtype!");
	TT_REQUIRE(batch >= 0 && batch < cache->padded.dim[0],
		   "args.batch_idx < cache_tensor.padded_shape()[0]",
		   "Batch index (%lld) must be less than cache tensor batch size (%u)",
		   (long long)batch, cache->padded.dim[0]);
	TT_REQUIRE(position % TT_TILE == 0, "args.update_idx % TILE_HEIGHT == 0",
		   "Fill update_idx (%lld) must be a multiple of TILE_HEIGHT (%u)",
		   (long long)position, TT_TILE);
	TT_REQUIRE(
		position >= 0 && position <= height && rows <= height - position,
		"args.update_idx <= cache_tensor.padded_shape()[-2] && "
		"input_tensor.padded_shape()[-2] <= cache_tensor.padded_shape()[-2] - "
		"args.update_idx",
		"Fill update_idx (%lld) + input tensor height (%u) must be <= cache tensor height "
		"(%u)",
		(long long)position, rows, height);
	return TTNN_OK;
}

/* A row of users: fewer than a tile may begin at an offset within it. */
static tt_status check_update(const struct tt_launch *launch, const struct ttnn_tensor_spec *cache,
			      const struct ttnn_tensor_spec *in)
{
	int64_t offset = launch->attrs[OFFSET].integer;
	uint32_t batches = cache->padded.dim[0];

	TT_REQUIRE(batches <= tt_shape_last(&in->padded, 2),
		   "cache_tensor.padded_shape()[0] <= input_tensor.padded_shape()[-2]",
		   "Cache tensor batch size (%u) must be <= input tensor height (%u)", batches,
		   tt_shape_last(&in->padded, 2));
	if (batches < TT_TILE)
		TT_REQUIRE(offset >= 0 && offset + batches <= TT_TILE,
			   "args.batch_offset + cache_tensor.padded_shape()[0] <= 32",
			   "Batch offset (%lld) + cache tensor batch size (%u) must be <= 32",
			   (long long)offset, batches);
	else
		TT_REQUIRE(offset == 0, "args.batch_offset == 0",
			   "Batch offset must be 0 when cache tensor batch size >= 32");
	return TTNN_OK;
}

static tt_status kv_cache_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *cache = &launch->inputs[CACHE]->spec;
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;

	TT_REQUIRE(
		in->layout == TTNN_TILE && cache->layout == TTNN_TILE,
		"(input_tensor.layout() == Layout::TILE && cache_tensor.layout() == Layout::TILE)",
		"Inputs to update_cache must be tilized");
	if (in->shape.rank != 4 || cache->shape.rank != 4)
		return tt_fail(TTNN_INVALID, "Inputs to update_cache must have four dimensions");
	TT_REQUIRE(in->padded.dim[3] == cache->padded.dim[3],
		   "input_tensor.padded_shape()[-1] == cache_tensor.padded_shape()[-1]",
		   "Input tensor width (%u) must equal cache tensor width (%u)", in->padded.dim[3],
		   cache->padded.dim[3]);
	TT_REQUIRE(in->padded.dim[0] == 1, "input_tensor.padded_shape()[0] == 1",
		   "Input tensor batch size must be 1 but got %u", in->padded.dim[0]);
	TT_REQUIRE(in->padded.dim[1] == cache->padded.dim[1],
		   "input_tensor.padded_shape()[1] == cache_tensor.padded_shape()[1]",
		   "Input tensor height (%u) must equal cache tensor height (%u)",
		   in->padded.dim[1], cache->padded.dim[1]);
	return launch->attrs[KIND].integer == FILL ? check_fill(launch, cache, in)
						   : check_update(launch, cache, in);
}

/* One row of each head: tiles of the cache are taken apart, changed and put together again. */
static tt_status rows_update(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *cache = launch->inputs[CACHE], *in = launch->inputs[IN];
	uint64_t width = cache->spec.padded.dim[3] / TT_TILE, own = tt_shard_tiles(&in->spec);
	uint64_t at_once = 2 * width * (cache->spec.padded.dim[0] < 2 ? 1 : 2);
	bool plain = cache->spec.dtype == TTNN_FLOAT32 && in->spec.dtype == TTNN_FLOAT32;
	bool fp32 = plain || tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32);
	uint64_t inter = tt_tile_bytes_of(fp32 ? TTNN_FLOAT32 : TTNN_BFLOAT16);
	uint64_t rows = in->spec.padded.dim[2];
	const struct tt_buffer_row all[] = {
		TT_DFB_ROW(0, "src0_cb", .pages = at_once, .page = tt_tensor_tile_bytes(cache)),
		TT_DFB_ROW(1, "src1_cb",
			   .pages = own     ? own
				    : plain ? width
					    : 2 * width,
			   .page = tt_tensor_tile_bytes(in), .backing = own ? in : NULL),
		TT_DFB_ROW(24, "interm0_cb", .pages = at_once, .page = inter),
		TT_DFB_ROW(25, "interm1_cb", .pages = plain ? width : at_once, .page = inter),
		TT_DFB_ROW(16, "output_cb", .pages = rows * width,
			   .page = tt_tensor_tile_bytes(cache)),
	};
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid,
			     in->spec.padded.dim[1] * (rows / TT_TILE), TTNN_ORIENT_ROW_MAJOR));
	return tt_plan_buffers(plan, own ? in->spec.memory.shard.grid : split.all, all,
			       TT_COUNT(all));
}

/* Tiles are copied through two pages, or out of the input's shards. */
static tt_status rows_fill(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[IN];
	uint64_t own = tt_shard_tiles(&in->spec);
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid, in->spec.rows / TT_TILE,
			     TTNN_ORIENT_ROW_MAJOR));
	return tt_plan_buffers(plan, own ? in->spec.memory.shard.grid : split.all,
			       &(struct tt_buffer_row)TT_DFB_ROW(0, "src0_cb",
								 .pages = own ? own : 2,
								 .page = tt_tensor_tile_bytes(in),
								 .backing = own ? in : NULL),
			       1);
}

static tt_status kv_cache_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = launch->attrs[KIND].integer == FILL;
	return TTNN_OK;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* cache[b, h, position] = in[0, h, offset + b], or cache[batch, h, position + i] = in[0, h, i]. */
static tt_status kv_cache_kernel(struct tt_launch *launch)
{
	struct tt_tensor *cache = launch->outputs[0], *in = launch->inputs[IN];
	const struct ttnn_shape *to = &cache->spec.shape, *from = &in->spec.shape;
	bool fill = launch->attrs[KIND].integer == FILL;
	uint32_t position = (uint32_t)launch->attrs[POSITION].integer;
	uint32_t offset = (uint32_t)launch->attrs[OFFSET].integer;
	uint32_t room = fill ? to->dim[2] - least(position, to->dim[2]) : to->dim[0];
	uint32_t rows = from->dim[2] > offset ? from->dim[2] - offset : 0;
	const struct tt_move_loop loops[] = {
		{least(to->dim[1], from->dim[1]), 1, 1, 1, 1},
		{least(room, rows), 2, fill ? 2 : 0, 1, 1},
		{least(to->dim[3], from->dim[3]), 3, 3, 1, 1},
	};
	struct tt_move_job job = {.out = cache, .in = in, .loops = loops, .loop_count = 3};

	if (!fill && position >= to->dim[2])
		return tt_fail(TTNN_INVALID, "position %u is beyond the cache's %u", position,
			       to->dim[2]);
	job.in_start[2] = offset;
	job.out_start[0] = fill ? launch->attrs[BATCH].integer : 0;
	job.out_start[2] = position;
	return tt_backend_get()->move(&job);
}

static const struct tt_factory factories[] = {
	{.name = "ttnn::prim::UpdateCacheMultiCoreProgramFactory", .memory = rows_update},
	{.name = "ttnn::prim::FillCacheMultiCoreProgramFactory", .memory = rows_fill},
};
static const struct tt_prog program = {
	.device_op = "UpdateKVCacheOperation",
	.prim = "ttnn::prim::update_cache",
	.attrs = &schema,
	.infer = tt_cache_infer,
	.validate = kv_cache_validate,
	TT_FACTORIES(factories),
	.choose = kv_cache_choose,
	TT_KERNEL(kv_cache_kernel),
};

/* ---- operations ------------------------------------------------------------------------------------------ */

/* The two names that a tensor argument has among the operations. */
static struct tt_tensor *either(const struct tt_call *call, const char *one, const char *other)
{
	struct tt_tensor *tensor = tt_call_tensor(call, one);

	return tensor ? tensor : tt_call_tensor(call, other);
}

/* Both operations have two spellings, whose arguments are named differently. */
static tt_status change(struct tt_call *call, enum kind kind)
{
	struct tt_tensor *const inputs[INPUTS] = {either(call, "cache", "cache_tensor"),
						  either(call, "input", "input_tensor")};
	const struct tt_compute_usual usual = {.fidelity = TT_LOFI, .approx = true};
	struct ttnn_value attrs[schema_count];

	attrs[BATCH] =
		ttnn_v_int(tt_call_int(call, "batch_idx", tt_call_int(call, "batch_index", 0)));
	attrs[POSITION] =
		ttnn_v_int(tt_call_int(call, "update_idx", tt_call_int(call, "update_index", 0)));
	attrs[OFFSET] = ttnn_v_int(tt_call_int(call, "batch_offset", 0));
	attrs[KIND] = tt_value_enum(&kind_enum, kind);
	attrs[COMPUTE] = ttnn_v_none();
	if (kind == UPDATE)
		attrs[COMPUTE] =
			tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	return tt_cache_launch(call, &(struct tt_program_args){.prog = &program,
							       .attrs = attrs,
							       .inputs = inputs,
							       .input_count = INPUTS});
}

static tt_status kv_cache_update(struct tt_call *call)
{
	return change(call, UPDATE);
}

static tt_status kv_cache_fill(struct tt_call *call)
{
	return change(call, FILL);
}

#define OP(called, what, sig, function, truth)                                                     \
	{                                                                                          \
		.name = called, .doc = what, .sigs = {sig}, .expand = function, .golden = truth,   \
		.pcc = 0.9999, TT_PROGRAMS(&program)                                               \
	}
static const struct tt_op ops[] = {
	OP("ttnn.fill_cache", "The first tokens of one user go into the cache.",
	   "cache_tensor: Tensor, input_tensor: Tensor, batch_idx: int, *, update_idx: int = 0",
	   kv_cache_fill, tt_golden_fill_cache),
	OP("ttnn.kv_cache.fill_cache_for_user_", "The first tokens of one user go into the cache.",
	   "cache: Tensor, input: Tensor, batch_index: int, *, update_idx: int = 0", kv_cache_fill,
	   tt_golden_fill_cache),
	OP("ttnn.kv_cache.update_cache_for_token_", "One token of every user goes into the cache.",
	   "cache: Tensor, input: Tensor, update_index: int, batch_offset: int = 0, "
	   "compute_kernel_config: ComputeConfig? = None",
	   kv_cache_update, tt_golden_update_cache),
	OP("ttnn.update_cache", "One token of every user goes into the cache.",
	   "cache: Tensor, input: Tensor, update_idx: int, *, batch_offset: int = 0, "
	   "compute_kernel_config: ComputeConfig? = None",
	   kv_cache_update, tt_golden_update_cache),
};

const struct tt_op_family tt_family_kv_cache = {"kv_cache", ops, TT_COUNT(ops)};
