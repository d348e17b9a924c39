/*
 * padded_cache.c: caches of keys and values whose positions are dealt out to the chips of a mesh, chunk by chunk: [slots x layers, heads, positions,
 * width]. A chunk has as many positions of each chip as an input has rows; a slab is what a chip has of one.
 *
 * Models UpdatePaddedKvCacheDeviceOperation and ZeroPaddedKvCacheDeviceOperation of ttnn 0.81 (deepseek_prefill) with their factories: refusals,
 * memory, cores. A tp_axis deals the positions of a slab out once more, as the release's documentation says. Not modelled: packing of scaled FP8
 * (scales), and that cluster_axis=None asks how tensors were spread.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "device/work_split.h"
#include "ops/attention/kv_cache.h"
#include "ops/cost.h"
#include "ops/mem_rows.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"
#include "ops/values.h"
#include "tensor/core.h"
#include "tensor/enums.h"
#include "tensor/memory.h"
#include "tensor/shape.h"
#include "tensor/spec.h"
#include "tensor/tile.h"

#define UPDATE_ATTRS(X)                                                                            \
	X(SLOT, "slot_idx")                                                                        \
	X(PRIOR, "kv_actual_global")                                                               \
	X(LAYER, "layer_idx")                                                                      \
	X(LAYERS, "num_layers")                                                                    \
	X(AXIS, "cluster_axis")                                                                    \
	X(VALID, "valid_global")                                                                   \
	X(TP, "tp_axis")
TT_ATTRS(update_schema, "operation_attributes_t", UPDATE_ATTRS);
#define ZERO_ATTRS(X)                                                                              \
	X(ZERO_SLOT, "slot_idx", .unkeyed = true)                                                  \
	X(ZERO_VALID, "valid_global", .unkeyed = true)                                             \
	X(ZERO_CHUNK, "chunk_size_global")                                                         \
	X(ZERO_ALIGN, "pad_align")                                                                 \
	X(ZERO_LAYER, "layer_idx")                                                                 \
	X(ZERO_LAYERS, "num_layers")                                                               \
	X(ZERO_AXIS, "cluster_axis")
TT_ATTRS(zero_schema, "operation_attributes_t", ZERO_ATTRS);
enum { CACHE, IN, IN_SLOT, IN_PRIOR, IN_VALID, ROPE, SCALES, INPUTS };
enum { Z_SLOT = 1, Z_VALID, Z_INPUTS };
#define NUMBER_BYTES 16 /* that a kernel keeps for a number out of a tensor */

/* ---- where a chip's positions are -------------------------------------------------------------------------- */

struct tt_cache_share tt_cache_share(const struct tt_launch *launch, const struct ttnn_value *axis)
{
	const struct tt_device *device = launch->device;

	if (axis->kind != TTNN_VALUE_INT)
		return (struct tt_cache_share){(uint64_t)device->rows * device->cols, launch->chip};
	return axis->integer == 0
		       ? (struct tt_cache_share){device->rows, launch->chip / device->cols}
		       : (struct tt_cache_share){device->cols, launch->chip % device->cols};
}

static struct tt_cache_share tp_of(const struct tt_launch *launch)
{
	return launch->attrs[TP].kind == TTNN_VALUE_INT ? tt_cache_share(launch, &launch->attrs[TP])
							: (struct tt_cache_share){1, 0};
}

/* ---- refusals that both have --------------------------------------------------------------------------------- */

/* A number in a tensor: read when the program runs. */
tt_status tt_cache_check_number(const struct tt_launch *launch, size_t input, const char *name)
{
	const struct ttnn_tensor_spec *spec;

	if (!launch->inputs[input])
		return TTNN_OK;
	spec = &launch->inputs[input]->spec;
	TT_REQUIRE(spec->dtype == TTNN_UINT32, "meta.dtype() == DataType::UINT32",
		   "metadata tensor %s must be UINT32", name);
	TT_REQUIRE(spec->layout == TTNN_ROW_MAJOR, "meta.layout() == Layout::ROW_MAJOR",
		   "metadata tensor %s must be ROW_MAJOR", name);
	TT_REQUIRE(tt_shape_count(&spec->shape) == 1, "meta.logical_volume() == 1",
		   "metadata tensor %s must be a single element (got %" PRIu64 ")", name,
		   tt_shape_count(&spec->shape));
	TT_REQUIRE(!tt_memory_config_is_sharded(&spec->memory), "!meta.is_sharded()",
		   "metadata tensor %s must not be sharded", name);
	return TTNN_OK;
}

static tt_status check_layers(const struct ttnn_tensor_spec *cache, int64_t layers)
{
	TT_REQUIRE(layers > 0, "args.num_layers > 0", "num_layers must be positive");
	TT_REQUIRE(cache->padded.dim[0] % layers == 0, "cache_shape[0] % args.num_layers == 0",
		   "cache batch dim (%u) must be a multiple of num_layers (%" PRId64 ")",
		   cache->padded.dim[0], layers);
	return TTNN_OK;
}

static tt_status check_layer(int64_t layer, int64_t layers)
{
	TT_REQUIRE(layer < layers, "args.layer_idx < args.num_layers",
		   "layer_idx %" PRId64 " out of range for num_layers %" PRId64, layer, layers);
	return TTNN_OK;
}

static tt_status check_slot(const struct ttnn_tensor_spec *cache, int64_t slot, int64_t layers)
{
	int64_t slots = cache->padded.dim[0] / layers;

	TT_REQUIRE(slot < slots, "args.slot_idx < num_slots",
		   "slot_idx (%" PRId64 ") out of range for num_slots (%" PRId64 ")", slot, slots);
	return TTNN_OK;
}

/* ---- update: refusals ------------------------------------------------------------------------------------------ */

static tt_status check_shapes(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *cache = &launch->inputs[CACHE]->spec;
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	uint32_t rows, room;

	TT_REQUIRE(cache->padded.rank == 4, "cache_shape.rank() == 4",
		   "cache must be 4D (got rank %u)", cache->padded.rank);
	TT_REQUIRE(in->padded.rank == 4, "input_shape.rank() == 4",
		   "input must be 4D (got rank %u)", in->padded.rank);
	TT_REQUIRE(launch->inputs[ROPE] || cache->padded.dim[3] == in->padded.dim[3],
		   "tensor_args.rope.has_value() || cache_shape[-1] == input_shape[-1]",
		   "cache and input head dim must match");
	TT_REQUIRE(cache->padded.dim[1] == in->padded.dim[1], "cache_shape[1] == input_shape[1]",
		   "cache and input num-heads dim must match");
	rows = in->padded.dim[2];
	room = cache->padded.dim[2];
	TT_REQUIRE(rows % TT_TILE == 0, "input_seq % TILE_HEIGHT == 0",
		   "input seq dim (%u) must be tile-aligned", rows);
	TT_REQUIRE(room % TT_TILE == 0, "cache_seq % TILE_HEIGHT == 0",
		   "cache seq dim (%u) must be tile-aligned", room);
	return TTNN_OK;
}

static tt_status check_window(const struct tt_launch *launch)
{
	uint32_t rows = launch->inputs[IN]->spec.padded.dim[2];
	uint32_t room = launch->inputs[CACHE]->spec.padded.dim[2];
	uint64_t tp = tp_of(launch).count;

	TT_REQUIRE(rows / TT_TILE % tp == 0, "(input_seq / TILE_HEIGHT) % tp_factor == 0",
		   "input seq in tiles (%u) must be divisible by tp_factor (%" PRIu64
		   ") so each chip writes whole tiles",
		   rows / TT_TILE, tp);
	TT_NEED(rows, "input must have rows");
	TT_REQUIRE(room % (rows / tp) == 0, "cache_seq % written_seq == 0",
		   "cache seq (%u) must be a multiple of the per-chip written chunk (%" PRIu64
		   " = input_seq %u / tp %" PRIu64 ")",
		   room, rows / tp, rows, tp);
	return TTNN_OK;
}

static tt_status check_axes(const struct tt_launch *launch)
{
	const struct ttnn_value *axis = &launch->attrs[AXIS], *tp = &launch->attrs[TP];

	TT_REQUIRE(axis->kind != TTNN_VALUE_INT || axis->integer < 2,
		   "!args.cluster_axis.has_value() || *args.cluster_axis < 2",
		   "cluster_axis must be 0, 1, or None for a complete-mesh row-major cache; got "
		   "%" PRId64,
		   axis->integer);
	if (tp->kind == TTNN_VALUE_INT) {
		TT_REQUIRE(axis->kind == TTNN_VALUE_INT, "args.cluster_axis.has_value()",
			   "tp_axis (%" PRId64
			   ") requires an explicit cluster_axis; complete-mesh mode "
			   "(cluster_axis=None) already spans both mesh axes",
			   tp->integer);
		TT_REQUIRE(tp->integer < 2, "tp_axis == 0 || tp_axis == 1",
			   "tp_axis (%" PRId64 ") must be 0 or 1", tp->integer);
		TT_REQUIRE(tp->integer != axis->integer, "tp_axis != *args.cluster_axis",
			   "tp_axis (%" PRId64 ") must differ from cluster_axis (%" PRId64 ")",
			   tp->integer, axis->integer);
	}
	return check_layer(launch->attrs[LAYER].integer, launch->attrs[LAYERS].integer);
}

/* Latent and rotated parts beside each other: tiles that become rows. */
static tt_status check_split(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *cache = &launch->inputs[CACHE]->spec;
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const struct ttnn_tensor_spec *rope = &launch->inputs[ROPE]->spec;

	TT_REQUIRE(!launch->inputs[SCALES] ||
			   (cache->layout == TTNN_ROW_MAJOR && cache->dtype == TTNN_FP8_E4M3),
		   "cache.layout() == Layout::ROW_MAJOR && cache.dtype() == DataType::FP8_E4M3",
		   "scaled split write requires ROW_MAJOR FP8 cache");
	TT_NEED(!launch->inputs[SCALES], "rows of scaled FP8 are not packed here");
	TT_REQUIRE(cache->layout == TTNN_ROW_MAJOR && cache->dtype == TTNN_BFLOAT16,
		   "cache.layout() == Layout::ROW_MAJOR && cache.dtype() == DataType::BFLOAT16",
		   "split-input cache write requires ROW_MAJOR BF16 cache");
	TT_REQUIRE(in->layout == TTNN_TILE && in->dtype == TTNN_BFLOAT16,
		   "input.layout() == Layout::TILE && input.dtype() == DataType::BFLOAT16",
		   "split-input cache write requires TILE BF16 latent");
	TT_REQUIRE(rope->layout == TTNN_TILE && rope->dtype == TTNN_BFLOAT16,
		   "rope.layout() == Layout::TILE && rope.dtype() == DataType::BFLOAT16",
		   "split-input cache write requires TILE BF16 RoPE");
	TT_REQUIRE(!tt_memory_config_is_sharded(&in->memory) &&
			   !tt_memory_config_is_sharded(&rope->memory),
		   "!input.is_sharded() && !rope.is_sharded()", "split inputs must be interleaved");
	TT_REQUIRE(rope->padded.rank == 4 && in->padded.dim[0] == 1 && in->padded.dim[1] == 1,
		   "shape.rank() == 4 && rope_shape.rank() == 4 && shape[0] == 1 && shape[1] == 1",
		   "split inputs must be 4D single-batch, single-head tensors");
	for (uint32_t i = 0; i < 3; i++)
		TT_REQUIRE(in->padded.dim[i] == rope->padded.dim[i] &&
				   in->shape.dim[i] == rope->shape.dim[i],
			   "shape[dim] == rope_shape[dim] && input.logical_shape()[dim] == "
			   "rope.logical_shape()[dim]",
			   "split inputs must have identical leading shapes");
	TT_REQUIRE(cache->padded.dim[3] == in->padded.dim[3] + rope->padded.dim[3],
		   "cache.padded_shape()[3] == shape[3] + rope_shape[3]",
		   "cache width must equal latent plus RoPE width");
	return TTNN_OK;
}

static tt_status check_formats(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *cache = &launch->inputs[CACHE]->spec;
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;

	if (launch->inputs[ROPE])
		return check_split(launch);
	TT_REQUIRE(cache->dtype == in->dtype, "cache.dtype() == tensor_args.input.dtype()",
		   "cache and input dtype must match (got DataType::%s and DataType::%s)",
		   tt_enum_name(&tt_enum_dtype, (int64_t)cache->dtype),
		   tt_enum_name(&tt_enum_dtype, (int64_t)in->dtype));
	TT_REQUIRE(cache->layout == in->layout,
		   "tensor_args.rope.has_value() || cache.layout() == tensor_args.input.layout()",
		   "cache and input layout must match (got Layout::%s and Layout::%s)",
		   tt_enum_name(&tt_enum_layout, (int64_t)cache->layout),
		   tt_enum_name(&tt_enum_layout, (int64_t)in->layout));
	return TTNN_OK;
}

/* The chunk must fit behind what is there; of one whose end is given only its rows of tokens. */
static tt_status check_room(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *cache = &launch->inputs[CACHE]->spec;
	int64_t prior = launch->attrs[PRIOR].integer, valid = launch->attrs[VALID].integer;
	int64_t sp = (int64_t)tt_cache_share(launch, &launch->attrs[AXIS]).count;
	int64_t chunk = sp * launch->inputs[IN]->spec.padded.dim[2];
	int64_t room = sp * (int64_t)tp_of(launch).count * cache->padded.dim[2];
	int64_t end = (valid + TT_TILE - 1) / TT_TILE * TT_TILE;

	if (launch->attrs[VALID].kind != TTNN_VALUE_INT) {
		TT_REQUIRE(
			prior + chunk <= room,
			"args.kv_actual_global + chunk_global_tokens <= global_cache_capacity",
			"kv_actual_global (%" PRId64 ") + chunk_global (%" PRId64
			") would overflow global cache capacity (%" PRId64
			"). Pass valid_global to clamp the write to the real tokens and keep the "
			"padded tail out of the cache.",
			prior, chunk, room);
		return TTNN_OK;
	}
	TT_REQUIRE(valid >= prior, "valid_global >= args.kv_actual_global",
		   "valid_global (%" PRId64 ") must be >= kv_actual_global (%" PRId64
		   "): the real tokens end at or after the chunk's write offset",
		   valid, prior);
	TT_REQUIRE(valid <= prior + chunk,
		   "valid_global <= args.kv_actual_global + chunk_global_tokens",
		   "valid_global (%" PRId64 ") exceeds this chunk's window [%" PRId64 ", %" PRId64
		   "); one call writes at most one chunk",
		   valid, prior, prior + chunk);
	TT_REQUIRE(end <= room, "write_end <= global_cache_capacity",
		   "valid_global (%" PRId64 " tok, %" PRId64
		   " written after page-row rounding) would overflow global cache capacity "
		   "(%" PRId64 ")",
		   valid, end, room);
	return TTNN_OK;
}

static tt_status update_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *cache = &launch->inputs[CACHE]->spec;
	int64_t prior = launch->attrs[PRIOR].integer, layers = launch->attrs[LAYERS].integer;

	TT_TRY(check_shapes(launch));
	if (launch->attrs[TP].kind != TTNN_VALUE_INT || launch->attrs[TP].integer < 2)
		TT_TRY(check_window(launch));
	TT_TRY(check_layers(cache, layers));
	TT_TRY(check_axes(launch));
	TT_TRY(check_formats(launch));
	TT_TRY(tt_cache_check_number(launch, IN_SLOT, "slot_idx"));
	TT_TRY(tt_cache_check_number(launch, IN_PRIOR, "kv_actual_global"));
	TT_TRY(tt_cache_check_number(launch, IN_VALID, "valid_global"));
	if (!launch->inputs[IN_SLOT]) {
		TT_REQUIRE(prior % TT_TILE == 0, "args.kv_actual_global % TILE_HEIGHT == 0",
			   "kv_actual_global (%" PRId64 ") must be tile-aligned (a multiple of %u)",
			   prior, TT_TILE);
		TT_TRY(check_slot(cache, launch->attrs[SLOT].integer, layers));
	}
	TT_REQUIRE(tp_of(launch).count == 1 || launch->inputs[IN]->spec.padded.dim[1] == 1,
		   "tensor_args.input.padded_shape()[1] == 1",
		   "TP-sharding (tp_axis set) requires a single head dim (got %u)",
		   launch->inputs[IN]->spec.padded.dim[1]);
	return launch->inputs[IN_SLOT] ? TTNN_OK : check_room(launch);
}

/* ---- update: the program ------------------------------------------------------------------------------------ */

/* Slot, length and end are given anew with every call; whether there is an end is the program's. */
static void update_key(struct tt_key *key, const struct tt_launch *launch)
{
	tt_key_values(key, &launch->attrs[LAYER], AXIS - LAYER + 1);
	tt_key_values(key, &launch->attrs[TP], 1);
	tt_key_number(key, launch->attrs[VALID].kind == TTNN_VALUE_INT);
	for (size_t i = 0; i < INPUTS; i++) {
		tt_key_number(key, launch->inputs[i] != NULL);
		if (launch->inputs[i])
			tt_key_spec(key, &launch->inputs[i]->spec);
	}
}

static tt_status update_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *cache = launch->inputs[CACHE], *in = launch->inputs[IN];
	bool split = launch->inputs[ROPE], rows = in->spec.layout == TTNN_ROW_MAJOR;
	uint64_t blocks = (uint64_t)in->spec.padded.dim[1] * in->spec.padded.dim[2] /
			  tp_of(launch).count / (rows ? 1 : TT_TILE);
	uint64_t page = rows ? tt_aligned_page(cache) : tt_tensor_tile_bytes(in);
	uint64_t pages = split ? 2 * cache->spec.padded.dim[3] / TT_TILE : 2;
	uint64_t numbers = launch->inputs[IN_SLOT] ? 1 : 0;
	struct tt_work_split work;

	TT_TRY(tt_split_work(&work, launch->device->info.compute_grid, blocks,
			     TTNN_ORIENT_ROW_MAJOR));
	return TT_PLAN(plan, work.all, TT_CB_ROW(0, "input", .pages = pages, .page = page),
		       TT_CB_ROW(3, "rows", .pages = split ? pages : 0, .page = page),
		       TT_CB_ROW(1, "slot", .pages = numbers, .page = NUMBER_BYTES),
		       TT_CB_ROW(2, "prior", .pages = numbers, .page = NUMBER_BYTES));
}

/* A number of the call, or of the tensor that holds it. */
static tt_status read_number(uint64_t *out, const struct tt_launch *launch, size_t input,
			     const struct ttnn_value *given)
{
	double *value;
	uint64_t count;

	*out = given->kind == TTNN_VALUE_INT ? (uint64_t)given->integer : UINT64_MAX;
	if (!launch->inputs[input])
		return TTNN_OK;
	TT_TRY(tt_values_of(&value, &count, launch, input));
	*out = (uint64_t)value[0];
	return TTNN_OK;
}

/* Rows of an input go to consecutive rows of one batch of the cache, from a column on; what is outside is left out. */
struct rows {
	uint64_t batch, to, from, count, column;
};

static tt_status put_rows(struct tt_tensor *cache, struct tt_tensor *in, const struct rows *rows)
{
	const uint32_t *to = cache->spec.shape.dim, *from = in->spec.shape.dim;
	uint64_t room = rows->to < to[2] ? to[2] - rows->to : 0;
	uint64_t left = rows->from < from[2] ? from[2] - rows->from : 0;
	uint64_t count = rows->count < room ? rows->count : room;
	struct tt_move_loop loops[] = {
		{to[1] < from[1] ? to[1] : from[1], 1, 1, 1, 1},
		{(uint32_t)(count < left ? count : left), 2, 2, 1, 1},
		{to[3] - rows->column < from[3] ? (uint32_t)(to[3] - rows->column) : from[3], 3, 3,
		 1, 1},
	};
	struct tt_move_job job = {.out = cache, .in = in, .loops = loops, .loop_count = 3};

	job.in_start[2] = (int64_t)rows->from;
	job.out_start[0] = (int64_t)rows->batch;
	job.out_start[2] = (int64_t)rows->to;
	job.out_start[3] = (int64_t)rows->column;
	return loops[1].extent ? tt_backend_get()->move(&job) : TTNN_OK;
}

uint64_t tt_cache_first_row(uint64_t prior, uint64_t rows, const struct tt_cache_share *share)
{
	uint64_t slab = prior / (rows * share->count), next = prior / rows % share->count;

	return slab * rows + (share->own < next ? rows : share->own == next ? prior % rows : 0);
}

uint64_t tt_cache_token(uint64_t row, uint64_t rows, const struct tt_cache_share *share)
{
	return (row / rows * share->count + share->own) * rows + row % rows;
}

static tt_status update_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[IN], *rope = launch->inputs[ROPE];
	struct tt_cache_share sp = tt_cache_share(launch, &launch->attrs[AXIS]), tp = tp_of(launch);
	uint64_t rows = in->spec.padded.dim[2], window = rows / tp.count, slot, prior, end;
	uint64_t unit = in->spec.layout == TTNN_TILE ? TT_TILE : 1;

	TT_TRY(read_number(&slot, launch, IN_SLOT, &launch->attrs[SLOT]));
	TT_TRY(read_number(&prior, launch, IN_PRIOR, &launch->attrs[PRIOR]));
	TT_TRY(read_number(&end, launch, IN_VALID, &launch->attrs[VALID]));
	TT_TRY(check_slot(&launch->inputs[CACHE]->spec, (int64_t)slot,
			  launch->attrs[LAYERS].integer));
	if (end <= UINT32_MAX)
		end = (end + TT_TILE - 1) / TT_TILE * TT_TILE;
	if (prior % TT_TILE == 0)
		unit = TT_TILE;
	for (uint64_t i = 0; i < rows; i += unit) {
		uint64_t place = tt_cache_first_row(prior / unit * unit, rows, &sp) + i;
		uint64_t token = tt_cache_token(place, rows, &sp);
		struct rows to = {slot * (uint64_t)launch->attrs[LAYERS].integer +
					  (uint64_t)launch->attrs[LAYER].integer,
				  place / rows * window + place % window, i, unit, 0};

		if (token >= end || place % rows / window != tp.own)
			continue;
		TT_TRY(put_rows(launch->outputs[0], in, &to));
		to.column = in->spec.padded.dim[3];
		if (rope)
			TT_TRY(put_rows(launch->outputs[0], rope, &to));
	}
	return TTNN_OK;
}

static const struct tt_prog update_program = {
	.device_op = "UpdatePaddedKvCacheDeviceOperation",
	.prim = "ttnn::prim::update_padded_kv_cache",
	.attrs = &update_schema,
	.infer = tt_cache_infer,
	.validate = update_validate,
	.key = update_key,
	TT_FACTORY("ttnn::operations::experimental::deepseek_prefill::update_padded_kv_cache::"
		   "UpdatePaddedKvCacheDeviceOperation::MeshWorkloadFactory",
		   update_memory),
	TT_KERNEL(update_kernel),
	.cost = tt_cost_unmodelled_move,
	.per_chip = true,
};

/* ---- zero ------------------------------------------------------------------------------------------------------- */

static tt_status check_zero_chunk(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *cache = &launch->inputs[CACHE]->spec;
	int64_t chunk = launch->attrs[ZERO_CHUNK].integer,
		align = launch->attrs[ZERO_ALIGN].integer;
	int64_t sp = (int64_t)tt_cache_share(launch, &launch->attrs[ZERO_AXIS]).count;
	int64_t room = sp * cache->padded.dim[2], valid = launch->attrs[ZERO_VALID].integer;

	TT_REQUIRE(chunk % sp == 0, "args.chunk_size_global % sp_factor == 0",
		   "chunk_size_global (%" PRId64 ") must be a multiple of sp_factor (%" PRId64 ")",
		   chunk, sp);
	TT_REQUIRE(align > 0, "args.pad_align > 0", "pad_align must be positive");
	TT_REQUIRE(chunk % align == 0, "args.chunk_size_global % args.pad_align == 0",
		   "chunk_size_global (%" PRId64 ") must be a multiple of pad_align (%" PRId64
		   ") so the window stays within one slab",
		   chunk, align);
	TT_REQUIRE(chunk / sp % TT_TILE == 0, "chunk_local % TILE_HEIGHT == 0",
		   "chunk_local (%" PRId64 ") must be tile-aligned (multiple of %u)", chunk / sp,
		   TT_TILE);
	TT_REQUIRE(room % align == 0, "global_capacity % args.pad_align == 0",
		   "global cache capacity (%" PRId64 ") must be a multiple of pad_align (%" PRId64
		   ")",
		   room, align);
	if (!launch->inputs[Z_VALID])
		TT_REQUIRE(valid <= room, "args.valid_global <= global_capacity",
			   "valid_global (%" PRId64 ") exceeds cache capacity (%" PRId64 ")", valid,
			   room);
	return TTNN_OK;
}

static tt_status zero_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *cache = &launch->inputs[CACHE]->spec;
	int64_t layers = launch->attrs[ZERO_LAYERS].integer;
	int64_t axis = launch->attrs[ZERO_AXIS].integer;

	TT_REQUIRE(cache->memory.buffer == TTNN_DRAM,
		   "cache.buffer()->buffer_type() == BufferType::DRAM",
		   "zero_padded_kv_cache requires a DRAM-backed cache");
	TT_REQUIRE(cache->layout == TTNN_TILE || cache->dtype == TTNN_BFLOAT16 ||
			   cache->dtype == TTNN_FP8_E4M3,
		   "cache.dtype() == DataType::BFLOAT16 || cache.dtype() == DataType::FP8_E4M3",
		   "ROW_MAJOR zero_padded_kv_cache supports bfloat16 or fp8_e4m3 (got "
		   "DataType::%s)",
		   tt_enum_name(&tt_enum_dtype, (int64_t)cache->dtype));
	TT_REQUIRE(cache->layout == TTNN_TILE || !launch->inputs[Z_SLOT],
		   "cache.layout() == Layout::TILE",
		   "zero_padded_kv_cache per-element-tensor (metadata) path supports TILE layout "
		   "only; use the scalar signature for ROW_MAJOR");
	TT_REQUIRE(cache->padded.rank == 4, "cache_shape.rank() == 4",
		   "cache must be 4D (got rank %u)", cache->padded.rank);
	TT_REQUIRE(cache->padded.dim[1] == 1, "cache_shape[1] == 1",
		   "cache num-heads dim must be 1 (got %u)", cache->padded.dim[1]);
	TT_TRY(check_layers(cache, layers));
	TT_TRY(check_layer(launch->attrs[ZERO_LAYER].integer, layers));
	TT_REQUIRE(axis == 0 || axis == 1, "args.cluster_axis == 0 || args.cluster_axis == 1",
		   "cluster_axis (%" PRId64 ") must be 0 or 1", axis);
	TT_TRY(tt_cache_check_number(launch, Z_SLOT, "slot_idx"));
	TT_TRY(tt_cache_check_number(launch, Z_VALID, "valid_global"));
	if (!launch->inputs[Z_SLOT])
		TT_TRY(check_slot(cache, launch->attrs[ZERO_SLOT].integer, layers));
	return check_zero_chunk(launch);
}

/* The first core, which masks the tile in which tokens end. */
static tt_status zero_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *cache = launch->inputs[CACHE];
	uint64_t width = cache->spec.padded.dim[3] / TT_TILE, page = tt_tensor_tile_bytes(cache);
	uint64_t numbers = launch->inputs[Z_SLOT] ? 1 : 0;
	const ttnn_core_set *first;

	TT_TRY(tt_core_set_grid(&first, 1, 1));
	if (cache->spec.layout == TTNN_ROW_MAJOR)
		return TT_PLAN(plan, first,
			       TT_CB_ROW(3, "zero", .pages = 1, .page = tt_aligned_page(cache)));
	return TT_PLAN(plan, first, TT_CB_ROW(0, "src", .pages = width, .page = page),
		       TT_CB_ROW(1, "mask", .pages = 1, .page = tt_tile_bytes_of(TTNN_BFLOAT16)),
		       TT_CB_ROW(2, "out", .pages = width, .page = page),
		       TT_CB_ROW(3, "zero", .pages = 1, .page = page),
		       TT_CB_ROW(4, "slot", .pages = numbers, .page = NUMBER_BYTES),
		       TT_CB_ROW(5, "valid", .pages = numbers, .page = NUMBER_BYTES));
}

/* What a chip has of the window between the last token and the next multiple of the alignment; tiles end with it whole. */
static tt_status zero_kernel(struct tt_launch *launch)
{
	struct tt_cache_share sp = tt_cache_share(launch, &launch->attrs[ZERO_AXIS]);
	uint64_t chunk = (uint64_t)launch->attrs[ZERO_CHUNK].integer, rows = chunk / sp.count;
	uint64_t align = (uint64_t)launch->attrs[ZERO_ALIGN].integer, slot, valid, end, from, to;
	struct ttnn_spec_args args = tt_tensor_spec_args(&launch->outputs[0]->spec);
	struct ttnn_tensor_spec spec;
	struct rows window = {0};
	struct tt_tensor *zeros;
	tt_status status;

	TT_TRY(read_number(&slot, launch, Z_SLOT, &launch->attrs[ZERO_SLOT]));
	TT_TRY(read_number(&valid, launch, Z_VALID, &launch->attrs[ZERO_VALID]));
	TT_TRY(check_slot(&launch->inputs[CACHE]->spec, (int64_t)slot,
			  launch->attrs[ZERO_LAYERS].integer));
	if (!rows)
		return TTNN_OK;
	end = (valid + align - 1) / align * align;
	from = valid / chunk * chunk + sp.own * rows;
	to = from + rows < end ? from + rows : end;
	window.to = valid / chunk * rows + (valid > from ? valid - from : 0);
	from = valid > from ? valid : from;
	window.count = to > from ? to - from : 0;
	if (args.layout == TTNN_TILE) /* a tile that the window does not fill to its end stays */
		window.count -= window.count ? (window.to + window.count) % TT_TILE : 0;
	if (!window.count || window.count > rows)
		return TTNN_OK;
	window.batch = slot * (uint64_t)launch->attrs[ZERO_LAYERS].integer +
		       (uint64_t)launch->attrs[ZERO_LAYER].integer;
	args.shape.dim[0] = 1;
	args.shape.dim[2] = (uint32_t)window.count;
	args.memory = (struct ttnn_memory_config){.buffer = TTNN_DRAM};
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(ttnn_tensor_new(&zeros, &spec));
	status = put_rows(launch->outputs[0], zeros, &window);
	ttnn_tensor_unref(zeros);
	return status;
}

static const struct tt_prog zero_program = {
	.device_op = "ZeroPaddedKvCacheDeviceOperation",
	.prim = "ttnn::prim::zero_padded_kv_cache",
	.attrs = &zero_schema,
	.infer = tt_cache_infer,
	.validate = zero_validate,
	TT_FACTORY("ttnn::operations::experimental::deepseek_prefill::zero_padded_kv_cache::"
		   "ZeroPaddedKvCacheDeviceOperation::MeshWorkloadFactory",
		   zero_memory),
	TT_KERNEL(zero_kernel),
	.cost = tt_cost_unmodelled_move,
	.per_chip = true,
};

/* ---- operations ---------------------------------------------------------------------------------------------------- */

/* An argument that is a number; 0 when a tensor is given for it, or a value that None stays for. */
static struct ttnn_value number_of(const struct tt_call *call, const char *name, bool none)
{
	const struct ttnn_value *value = tt_call_arg(call, name);

	if (value->kind == TTNN_VALUE_INT)
		return *value;
	return none ? ttnn_v_none() : ttnn_v_int(0);
}

/* The tensor that an argument is, if it is one. */
static struct tt_tensor *tensor_of(const struct tt_call *call, const char *name)
{
	return tt_call_arg(call, name)->kind == TTNN_VALUE_TENSOR ? tt_call_tensor(call, name)
								  : NULL;
}

static tt_status update_expand(struct tt_call *call)
{
	struct tt_tensor *const inputs[INPUTS] = {
		[CACHE] = tt_call_tensor(call, "cache"),
		[IN] = tt_call_tensor(call, "input"),
		[IN_SLOT] = tensor_of(call, "slot_idx"),
		[IN_PRIOR] = tensor_of(call, "kv_actual_global"),
		[IN_VALID] = tensor_of(call, "valid_global"),
		[ROPE] = tt_call_tensor(call, "rope"),
		[SCALES] = tt_call_tensor(call, "scales"),
	};

	TT_NEED(!inputs[SCALES] || inputs[ROPE], "scales are for split inputs, with rope");
	return tt_cache_launch(
		call,
		&(struct tt_program_args){
			.prog = &update_program,
			.inputs = inputs,
			.input_count = INPUTS,
			TT_BIND(call, update_schema, [SLOT] = number_of(call, "slot_idx", false),
				[PRIOR] = number_of(call, "kv_actual_global", false),
				[VALID] = number_of(call, "valid_global", true))});
}

static tt_status zero_expand(struct tt_call *call)
{
	struct tt_tensor *const inputs[Z_INPUTS] = {
		[CACHE] = tt_call_tensor(call, "cache"),
		[Z_SLOT] = tensor_of(call, "slot_idx"),
		[Z_VALID] = tensor_of(call, "valid_global"),
	};

	return tt_cache_launch(
		call,
		&(struct tt_program_args){
			.prog = &zero_program,
			.inputs = inputs,
			.input_count = Z_INPUTS,
			TT_BIND(call, zero_schema, [ZERO_SLOT] = number_of(call, "slot_idx", false),
				[ZERO_VALID] = number_of(call, "valid_global", false))});
}

static const struct tt_prog *const update_programs[] = {&update_program, NULL};
static const struct tt_prog *const zero_programs[] = {&zero_program, NULL};
static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.deepseek_prefill.update_padded_kv_cache",
	 .family = "padded_cache",
	 .doc = "A chunk of tokens goes behind those in a cache that chips share.",
	 .sigs = {"cache: Tensor, input: Tensor, slot_idx: size, layer_idx: size, num_layers: size, "
		  "kv_actual_global: size, cluster_axis: size?, valid_global: size? = None, tp_axis: "
		  "size? = None, rope: Tensor? = None, scales: Tensor? = None",
		  "cache: Tensor, input: Tensor, slot_idx: Tensor, kv_actual_global: Tensor, "
		  "layer_idx: size, num_layers: size, cluster_axis: size?, valid_global: Tensor? = "
		  "None, tp_axis: size? = None, rope: Tensor? = None, scales: Tensor? = None"},
	 .expand = update_expand,
	 .golden = tt_golden_update_padded_cache,
	 .pcc = 0.9999,
	 .programs = update_programs},
	{.name = "ttnn.experimental.deepseek_prefill.zero_padded_kv_cache",
	 .family = "padded_cache",
	 .doc = "Zeros behind the tokens of a cache that chips share, up to a multiple.",
	 .sigs = {"cache: Tensor, slot_idx: size, layer_idx: size, num_layers: size, valid_global: "
		  "size, chunk_size_global: size, cluster_axis: size, pad_align: size = 128",
		  "cache: Tensor, slot_idx: Tensor, valid_global: Tensor, layer_idx: size, "
		  "num_layers: size, chunk_size_global: size, cluster_axis: size, pad_align: size = "
		  "128"},
	 .expand = zero_expand,
	 .golden = tt_golden_zero_padded_cache,
	 .pcc = 0.9999,
	 .programs = zero_programs},
};

const struct tt_op_family tt_family_padded_cache = {"padded_cache", ops, TT_COUNT(ops)};
