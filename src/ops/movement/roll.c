/*
 * roll.c: elements moved along a dimension, those that leave it coming back at its other end.
 *
 * Models the sharded RollDeviceOperation of ttnn 0.81 (data_movement/roll) with its one factory,
 * and the slices and concatenations that serve other tensors, in upstream's order: memory,
 * cores. Not modelled: how rows pass from core to core.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "golden/golden_movement.h"
#include "ops/movement/movement.h"
#include "ops/movement/shard_ops.h"
#include "ops/movement/slice.h"

/* ---- the program for shards ------------------------------------------------------------------------------------ */

#define ATTRS(X)                                                                                   \
	X(SHIFT, "shift")                                                                          \
	X(DIM, "dim")                                                                              \
	X(MEMORY, "output_mem_config")
TT_ATTRS(schema, "RollParams", ATTRS);

/* Whether there is anything in shards that is no element. */
static bool has_padding(const struct ttnn_tensor_spec *in)
{
	uint64_t rows;

	if (!in->memory.has_shard)
		return false;
	return !ttnn_shape_equal(&in->shape, &in->padded) ||
	       tt_shape_rows(&rows, &in->padded) != TTNN_OK || rows % in->memory.shard.height ||
	       tt_shape_last(&in->padded, 1) % in->memory.shard.width;
}

/* Shards on one rectangle, without padding. */
static tt_status roll_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	size_t ranges = 0;

	TT_REQUIRE(tt_tensor_buffer(launch->inputs[0]), "input.buffer() != nullptr",
		   "Operands need to be allocated in buffers on device!");
	TT_NEED(in->memory.has_shard, "bad optional access");
	ttnn_core_set_ranges(in->memory.shard.grid, &ranges);
	TT_REQUIRE(ranges == 1, "input.shard_spec().value().grid.ranges().size() == 1",
		   "Native sharded roll requires a single contiguous rectangular CoreRange");
	TT_REQUIRE(!has_padding(in), "!ttnn::prim::sharded_roll_input_has_padding(input)",
		   "Native sharded roll does not support tile or shard padding; ttnn::roll routes "
		   "these through DRAM");
	TT_REQUIRE(in->layout != TTNN_TILE || (in->tile.height == 32 && in->tile.width == 32),
		   "tile.get_height() == tt::constants::TILE_HEIGHT && tile.get_width() == "
		   "tt::constants::TILE_WIDTH",
		   "roll does not currently support tiles other than 32x32, got %ux%u",
		   in->tile.height, in->tile.width);
	return TTNN_OK;
}

/* In L1 the shards themselves and a little scratch; in DRAM what comes from two shards and goes to one. */
static tt_status roll_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	const struct ttnn_shard_spec *shard = &out->spec.memory.shard;
	bool dram = in->spec.memory.buffer == TTNN_DRAM, tiles = in->spec.layout == TTNN_TILE;
	uint64_t cell = tiles ? tt_tile_bytes_of(in->spec.dtype) : tt_element_bytes(in);
	uint64_t l1 = tt_memory_alignment(launch->device, TTNN_L1);
	uint64_t pitch =
		tt_align_to(shard->width / (tiles ? TT_TILE : 1) * cell, tt_page_alignment(in));
	uint64_t bytes = shard->height / (tiles ? TT_TILE : 1) * pitch;
	uint64_t page = tiles ? cell : pitch, pages = dram ? 0 : bytes / page;
	bool staged = dram && !tiles;

	return TT_PLAN(plan, shard->grid,
		       TT_CB_ROW(0, "input", .pages = pages, .page = page, .backing = in),
		       TT_CB_ROW(16, "output", .pages = pages, .page = page, .backing = out),
		       TT_CB_ROW(1, "scratch", .pages = !staged,
				 .page = dram ? bytes : 2 * (pitch + 2 * l1)),
		       TT_CB_ROW(2, "dram_rm_src0", .pages = staged, .page = bytes),
		       TT_CB_ROW(3, "dram_rm_src1", .pages = staged, .page = bytes),
		       TT_CB_ROW(4, "dram_rm_dst", .pages = staged, .page = bytes));
}

/* Two blocks change places. */
static tt_status roll_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	uint32_t dim = (uint32_t)launch->attrs[DIM].integer, extent[TTNN_MAX_RANK];
	uint32_t shift = (uint32_t)launch->attrs[SHIFT].integer;
	int64_t start[TTNN_MAX_RANK] = {0};

	for (uint32_t d = 0; d < in->spec.shape.rank; d++)
		extent[d] = in->spec.shape.dim[d];
	extent[dim] -= shift;
	start[dim] = shift;
	TT_TRY(tt_move_part(out, in,
			    &(struct tt_move_block){.extent = extent, .out_start = start}));
	start[dim] = extent[dim];
	extent[dim] = shift;
	return tt_move_part(out, in, &(struct tt_move_block){.extent = extent, .in_start = start});
}

static const struct tt_prog prog = {
	.device_op = "RollDeviceOperation",
	.prim = "ttnn::prim::roll_sharded",
	.attrs = &schema,
	.validate = roll_validate,
	TT_FACTORY("ttnn::prim::RollShardedProgramFactory", roll_memory),
	TT_KERNEL(roll_kernel),
	.cost = tt_cost_move,
};

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

struct request {
	struct tt_tensor *in;
	uint32_t count, dim[TTNN_MAX_RANK], shift[TTNN_MAX_RANK]; /* shifts below the extent */
	const struct ttnn_memory_config *memory;
};

static tt_status roll(struct tt_tensor **out, struct tt_call *call, const struct request *request);

static tt_status roll_place(struct tt_tensor **tensor, struct tt_call *call,
			    const struct request *request)
{
	struct tt_tensor *moved = NULL;

	if (ttnn_memory_config_equal(request->memory, &(*tensor)->spec.memory))
		return TTNN_OK;
	return tt_call_replace(tensor, call,
			       tt_call_to_memory(&moved, call, *tensor, request->memory), &moved);
}

/* ---- cut and joined ---------------------------------------------------------------------------------------------------- */

/* The last `shift` slices in front of the others. */
static tt_status cut_and_join(struct tt_tensor **tensor, struct tt_call *call, uint32_t dim,
			      uint32_t shift)
{
	struct ttnn_shape zeros = {.rank = (*tensor)->spec.shape.rank}, middle = zeros;
	struct ttnn_shape end = (*tensor)->spec.shape, cut = end;
	struct tt_part back = {.in = *tensor, .begin = &middle, .end = &end};
	struct tt_part front = {.in = *tensor, .begin = &zeros, .end = &cut};
	struct tt_tensor *left, *right = NULL, *joined = NULL;
	struct ttnn_value both[2];
	struct ttnn_arg args[] = {{"tensors", ttnn_v_none()}, {"dim", ttnn_v_int(dim)}};
	tt_status status;

	middle.dim[dim] = cut.dim[dim] = end.dim[dim] - shift;
	TT_TRY(tt_call_slice(&left, call, &back));
	status = tt_call_slice(&right, call, &front);
	if (status == TTNN_OK) {
		both[0] = ttnn_v_tensor(left);
		both[1] = ttnn_v_tensor(right);
		args[0].value = ttnn_v_list(both, TT_COUNT(both));
		status = tt_call_op(&joined, call, "ttnn.concat", args, TT_COUNT(args));
	}
	if (status == TTNN_OK) {
		tt_call_overwrite(call, *tensor);
		*tensor = joined;
	}
	tt_call_drop(call, right);
	tt_call_drop(call, left);
	return status;
}

/* One dimension after the other. */
static tt_status roll_interleaved(struct tt_tensor **out, struct tt_call *call,
				  const struct request *request)
{
	struct tt_tensor *now = ttnn_tensor_ref(request->in);
	tt_status status = TTNN_OK;

	for (uint32_t i = 0; i < request->count && status == TTNN_OK; i++)
		if (request->shift[i])
			status = cut_and_join(&now, call, request->dim[i], request->shift[i]);
	if (status == TTNN_OK)
		status = roll_place(&now, call, request);
	*out = now;
	if (status != TTNN_OK)
		ttnn_tensor_unref(now);
	return status;
}

/* ---- shards ---------------------------------------------------------------------------------------------------------- */

/* Which row a row comes from when a dimension that is not the last rolls. */
static uint64_t source_row(const struct ttnn_shape *shape, uint32_t dim, uint32_t shift,
			   uint64_t row)
{
	uint64_t stride = 1, extent = shape->dim[dim], at;

	for (uint32_t d = dim + 1; d + 1 < shape->rank; d++)
		stride *= shape->dim[d];
	at = row / stride % extent;
	return row + ((at + extent - shift % extent) % extent - at) * stride;
}

/* Whether a shard of rows in DRAM is made of more than two others, which the program cannot hold. */
static bool needs_many(const struct ttnn_tensor_spec *in, uint32_t dim, uint32_t shift)
{
	uint64_t rows, high = in->memory.shard.height;

	if (in->memory.buffer != TTNN_DRAM || in->layout != TTNN_ROW_MAJOR ||
	    !in->memory.has_shard || dim + 1 == in->padded.rank || !high ||
	    tt_shape_rows(&rows, &in->padded) != TTNN_OK || rows % high ||
	    tt_shape_last(&in->padded, 1) % in->memory.shard.width ||
	    shift % in->padded.dim[dim] == 0)
		return false;
	for (uint64_t first = 0; first < rows; first += high) {
		uint64_t seen[2], count = 0;

		for (uint64_t row = first; row < first + high; row++) {
			uint64_t from = source_row(&in->padded, dim, shift, row) / high;

			if ((count > 0 && seen[0] == from) || (count > 1 && seen[1] == from))
				continue;
			if (count == 2)
				return true;
			seen[count++] = from;
		}
	}
	return false;
}

/* Tiles roll by whole tiles; rows by steps that few transfers make. */
static bool program_serves(const struct request *request)
{
	const struct ttnn_tensor_spec *in = &request->in->spec;

	for (uint32_t i = 0; i < request->count; i++)
		if (in->layout == TTNN_TILE
			    ? request->dim[i] + 2 >= in->shape.rank && request->shift[i] % TT_TILE
			    : needs_many(in, request->dim[i], request->shift[i]))
			return false;
	return true;
}

/* A launch for each dimension that moves. */
static tt_status by_program(struct tt_tensor **out, struct tt_call *call,
			    const struct request *request)
{
	struct tt_tensor *now = ttnn_tensor_ref(request->in), *next;
	const struct ttnn_memory_config memory = request->in->spec.memory;
	tt_status status = TTNN_OK;

	for (uint32_t i = 0; i < request->count && status == TTNN_OK; i++) {
		struct ttnn_value attrs[schema_count] = {
			[SHIFT] = ttnn_v_int(request->shift[i]),
			[DIM] = ttnn_v_int(request->dim[i]),
			[MEMORY] = ttnn_v_memory(&memory),
		};

		if (!request->shift[i])
			continue;
		status = TT_LAUNCH(&next, call, &prog, .attrs = attrs, TT_INPUTS(now));
		tt_call_overwrite(call, now);
		now = status == TTNN_OK ? next : NULL;
	}
	if (status == TTNN_OK)
		status = roll_place(&now, call, request);
	*out = now;
	return status;
}

/* Tiles that would be cut: as rows, in the same shards. */
static tt_status through_rows(struct tt_tensor **out, struct tt_temps *temps,
			      const struct request *request)
{
	struct tt_call *call = temps->call;
	const struct ttnn_memory_config *memory = &request->in->spec.memory;
	struct ttnn_arg tilize[] = {{"input_tensor", ttnn_v_none()},
				    {"memory_config", ttnn_v_memory(memory)},
				    {"dtype", ttnn_v_dtype(request->in->spec.dtype)}};
	struct request inner = *request;
	struct tt_tensor *rolled, *tiles;

	TT_TRY(TT_CALL(&inner.in, call, "ttnn.untilize",
		       {"input_tensor", ttnn_v_tensor(request->in)},
		       {"memory_config", ttnn_v_memory(memory)}));
	tt_temps_keep(temps, inner.in);
	inner.memory = &inner.in->spec.memory;
	TT_TRY(roll(&rolled, call, &inner));
	tilize[0].value = ttnn_v_tensor(tt_temps_keep(temps, rolled));
	TT_TRY(tt_call_op(&tiles, call, "ttnn.tilize", tilize, TT_COUNT(tilize)));
	*out = tiles;
	if (ttnn_memory_config_equal(request->memory, &tiles->spec.memory))
		return TTNN_OK;
	return tt_call_to_memory(out, call, tt_temps_keep(temps, tiles), request->memory);
}

/* Out of shards, rolled, and back into them. */
static tt_status through_dram(struct tt_tensor **out, struct tt_temps *temps,
			      const struct request *request)
{
	struct tt_call *call = temps->call;
	static const struct ttnn_memory_config dram;
	struct request inner = *request;
	struct tt_tensor *rolled;

	TT_TRY(tt_call_to_memory(&inner.in, call, request->in, &dram));
	tt_temps_keep(temps, inner.in);
	inner.memory = &inner.in->spec.memory;
	TT_TRY(roll(&rolled, call, &inner));
	tt_temps_keep(temps, rolled);
	return tt_call_to_memory(out, call, rolled, request->memory);
}

/* Shards with padding cannot roll where they are. */
static tt_status roll(struct tt_tensor **out, struct tt_call *call, const struct request *request)
{
	struct tt_temps temps = {.call = call};
	bool shifts = false;

	for (uint32_t i = 0; i < request->count; i++)
		shifts = shifts || request->shift[i];
	if (!tt_tensor_is_sharded(request->in))
		return roll_interleaved(out, call, request);
	if (shifts && has_padding(&request->in->spec))
		return tt_temps_end(&temps, through_dram(out, &temps, request));
	if (program_serves(request))
		return by_program(out, call, request);
	if (request->in->spec.layout != TTNN_TILE)
		return tt_temps_end(&temps, through_dram(out, &temps, request));
	return tt_temps_end(&temps, through_rows(out, &temps, request));
}

/* ---- the operation ------------------------------------------------------------------------------------------------------ */

/* Shifts are taken modulo the extent, so that none is negative. */
static tt_status read_shifts(struct request *request, const struct tt_call *call,
			     const struct ttnn_shape *shape)
{
	int64_t shifts[TTNN_MAX_RANK], dims[TTNN_MAX_RANK], rank = shape->rank;
	size_t count, dim_count;

	TT_TRY(tt_call_ints(shifts, &count, TTNN_MAX_RANK, call, "shifts"));
	TT_TRY(tt_call_ints(dims, &dim_count, TTNN_MAX_RANK, call, "dim"));
	TT_REQUIRE(count && count == dim_count,
		   "!shifts.empty() && shifts.size() == input_dims.size()",
		   "Roll expects shifts %zu and dims %zu to have the same length", count,
		   dim_count);
	for (size_t i = 0; i < count; i++)
		TT_REQUIRE(dims[i] >= -rank && dims[i] < rank, "dim >= -num_dims && dim < num_dims",
			   "Invalid dimension index %" PRId64
			   ". The dimension must be within the range [%" PRId64 ", %" PRId64 "].",
			   dims[i], -rank, rank - 1);
	request->count = (uint32_t)count;
	for (size_t i = 0; i < count; i++) {
		int64_t extent;

		request->dim[i] = (uint32_t)(dims[i] + (dims[i] < 0 ? rank : 0));
		extent = shape->dim[request->dim[i]];
		request->shift[i] = extent ? (uint32_t)((shifts[i] % extent + extent) % extent) : 0;
	}
	return TTNN_OK;
}

/* Without a dimension, all elements as one row. */
static tt_status roll_flat(struct tt_tensor **out, struct tt_call *call, struct request *request)
{
	struct ttnn_shape shape = request->in->spec.shape, flat = {2, {1, 1}};
	int64_t shift = tt_call_int(call, "shifts", 0);
	struct tt_tensor *rolled;
	uint64_t volume;
	tt_status status;

	TT_REQUIRE(
		!tt_tensor_is_sharded(request->in), "!input_tensor.is_sharded()",
		"ttnn::roll without dims does not support sharded inputs. Convert to interleaved "
		"first.");
	TT_TRY(ttnn_shape_volume(&volume, &shape));
	TT_NEED(volume && volume <= INT32_MAX, "ttnn.roll: %" PRIu64 " elements cannot be one row",
		volume);
	flat.dim[1] = (uint32_t)volume;
	TT_TRY(tt_call_reshape(&request->in, call,
			       &(struct tt_reshape_args){.in = request->in, .shape = &flat}));
	request->count = 1;
	request->dim[0] = 1;
	request->shift[0] =
		(uint32_t)((shift % (int64_t)volume + (int64_t)volume) % (int64_t)volume);
	if (!request->memory)
		request->memory = &request->in->spec.memory;
	status = roll(&rolled, call, request);
	if (status != TTNN_OK) {
		tt_call_drop(call, request->in);
		return status;
	}
	tt_call_overwrite(call, request->in);
	return tt_call_overwrite_after(
		call,
		tt_call_reshape(out, call,
				&(struct tt_reshape_args){.in = rolled, .shape = &shape}),
		rolled);
}

/* Without dimensions the tensor is rolled as one line. */
static tt_status roll_expand(struct tt_call *call)
{
	struct request request = {.in = tt_call_tensor(call, "input_tensor"),
				  .memory = tt_call_memory(call, "memory_config")};
	struct tt_tensor *out;

	TT_TRY(tt_need_device(request.in));
	if (!tt_value_given(tt_call_arg(call, "dim"))) {
		TT_TRY(roll_flat(&out, call, &request));
	} else {
		TT_TRY(read_shifts(&request, call, &request.in->spec.shape));
		if (!request.memory)
			request.memory = &request.in->spec.memory;
		TT_TRY(roll(&out, call, &request));
	}
	tt_call_return(call, out);
	return TTNN_OK;
}

#define MEMORY_ARG ", *, memory_config: MemoryConfig? = None"

static const struct tt_op ops[] = {
	{TT_MOVE_ROW("roll", roll_expand, tt_golden_roll,
		     "A tensor whose elements move on along dimensions, from the end to the begin.",
		     "input_tensor: Tensor, shifts: ints, dim: ints" MEMORY_ARG,
		     "input_tensor: Tensor, shifts: int, dim: int" MEMORY_ARG,
		     "input_tensor: Tensor, shifts: int" MEMORY_ARG)},
};

const struct tt_op_family tt_family_roll = {"movement", ops, TT_COUNT(ops)};
