/*
 * roll.c: tensors whose elements move on along a dimension, from its end to its begin. Interleaved
 * ones are cut and joined; shards are moved by a program of their own.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "ops/cost.h"
#include "ops/golden_movement.h"
#include "ops/movement.h"
#include "ops/rows.h"
#include "ops/shard.h"
#include "ops/slice.h"
#include "tensor/core.h"
#include "tensor/shape.h"

/* ---- the program for shards ------------------------------------------------------------------------------------ */

enum { SHIFT, DIM, MEMORY, ATTRS };

static const struct tt_field fields[ATTRS] = {
	[SHIFT] = {.name = "shift"},
	[DIM] = {.name = "dim"},
	[MEMORY] = {.name = "output_mem_config"},
};
static const struct tt_schema schema = {"RollParams", fields, ATTRS, false};

static tt_status infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	launch->output_count = 1;
	return tt_spec_simple(&launch->specs[0], &in->shape, in->dtype, in->layout,
			      launch->attrs[MEMORY].memory);
}

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

static tt_status validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	size_t ranges = 0;

	TT_REQUIRE(tt_tensor_buffer(launch->inputs[0]), "input.buffer() != nullptr",
		   "Operands need to be allocated in buffers on device!");
	if (!in->memory.has_shard)
		return tt_fail(TTNN_INVALID, "bad optional access");
	ttnn_core_set_ranges(in->memory.shard.grid, &ranges);
	TT_REQUIRE(ranges == 1, "input.shard_spec().value().grid.ranges().size() == 1",
		   "Native sharded roll requires a single contiguous rectangular CoreRange");
	TT_REQUIRE(!has_padding(in), "!ttnn::prim::sharded_roll_input_has_padding(input)",
		   "Native sharded roll does not support tile or shard padding; ttnn::roll routes "
		   "these through DRAM");
	TT_REQUIRE(in->layout != TTNN_TILE || (in->tile.height == 32 && in->tile.width == 32),
		   "tile.get_height() == tt::constants::TILE_HEIGHT && tile.get_width() == "
		   "tt::constants::TILE_WIDTH",
		   "roll does not currently support tiles other than 32x32, got %" PRIu32
		   "x%" PRIu32,
		   in->tile.height, in->tile.width);
	return TTNN_OK;
}

/*
 * Numbers: 0 bytes of a shard, 1 bytes of a page of it, 2 bytes of scratch, 3 whether in L1, 4 whether
 * in DRAM and of rows, 5 otherwise.
 */
static tt_status choose(uint32_t *out, struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_shard_spec *shard = &launch->outputs[0]->spec.memory.shard;
	bool dram = in->memory.buffer == TTNN_DRAM, tiles = in->layout == TTNN_TILE;
	uint64_t cell = tiles ? tt_tile_bytes_of(in->dtype) : tt_element_bytes(launch->inputs[0]);
	uint64_t l1 = tt_memory_alignment(launch->device, TTNN_L1);
	struct tt_move_work *work = tt_move_work_new(launch);
	uint64_t pitch = tt_align_to(shard->width / (tiles ? 32 : 1) * cell,
				     tt_memory_alignment(launch->device, in->memory.buffer));

	if (!work)
		return TTNN_NOMEM;
	*out = 0;
	work->cores[0] = shard->grid;
	work->number[0] = shard->height / (tiles ? 32 : 1) * pitch;
	work->number[1] = tiles ? cell : pitch;
	work->number[2] = dram ? work->number[0] : 2 * (pitch + 2 * l1);
	work->number[3] = !dram;
	work->number[4] = dram && !tiles;
	work->number[5] = !work->number[4];
	return TTNN_OK;
}

static uint64_t shard_pages(const struct tt_launch *launch)
{
	return tt_number0(launch) / tt_number1(launch);
}

#define SHARD(index_, backing_)                                                                    \
	{                                                                                          \
		.kind = TT_CB, .index = index_, .when = tt_has3, .pages = shard_pages,             \
		.page = tt_number1, .cores = tt_work_cores0, .backing = backing_                   \
	}
#define STAGE(index_, when_, page_)                                                                \
	{                                                                                          \
		.kind = TT_CB, .index = index_, .when = when_, .page_count = 1, .page = page_,     \
		.cores = tt_work_cores0                                                            \
	}

static const struct tt_mem_row shard_rows[] = {
	SHARD(0, tt_back_in0),         SHARD(16, tt_back_out0),       STAGE(1, tt_has5, tt_number2),
	STAGE(2, tt_has4, tt_number0), STAGE(3, tt_has4, tt_number0), STAGE(4, tt_has4, tt_number0),
};
static const struct tt_factory factories[] = {
	{"ttnn::prim::RollShardedProgramFactory", shard_rows, TT_COUNT(shard_rows), NULL}};

/* Two blocks change places. */
static tt_status kernel(struct tt_launch *launch)
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
	.infer = infer,
	.validate = validate,
	.factories = factories,
	.factory_count = TT_COUNT(factories),
	.choose = choose,
	TT_KERNEL(kernel),
	.cost = tt_cost_move,
};

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

struct wish {
	struct tt_tensor *in;
	uint32_t count, dim[TTNN_MAX_RANK], shift[TTNN_MAX_RANK]; /* shifts below the extent */
	const struct ttnn_memory_config *memory;
};

static tt_status roll(struct tt_tensor **out, struct tt_call *call, const struct wish *wish);

static tt_status place(struct tt_tensor **tensor, struct tt_call *call, const struct wish *wish)
{
	struct tt_tensor *moved = NULL;

	if (ttnn_memory_config_equal(wish->memory, &(*tensor)->spec.memory))
		return TTNN_OK;
	return tt_call_replace(tensor, call, tt_call_to_memory(&moved, call, *tensor, wish->memory),
			       &moved);
}

/* ---- cut and joined ---------------------------------------------------------------------------------------------------- */

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

static tt_status roll_interleaved(struct tt_tensor **out, struct tt_call *call,
				  const struct wish *wish)
{
	struct tt_tensor *now = ttnn_tensor_ref(wish->in);
	tt_status status = TTNN_OK;

	for (uint32_t i = 0; i < wish->count && status == TTNN_OK; i++)
		if (wish->shift[i])
			status = cut_and_join(&now, call, wish->dim[i], wish->shift[i]);
	if (status == TTNN_OK)
		status = place(&now, call, wish);
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

static bool program_serves(const struct wish *wish)
{
	const struct ttnn_tensor_spec *in = &wish->in->spec;

	for (uint32_t i = 0; i < wish->count; i++)
		if (in->layout == TTNN_TILE
			    ? wish->dim[i] + 2 >= in->shape.rank && wish->shift[i] % 32
			    : needs_many(in, wish->dim[i], wish->shift[i]))
			return false;
	return true;
}

static tt_status by_program(struct tt_tensor **out, struct tt_call *call, const struct wish *wish)
{
	struct tt_tensor *now = ttnn_tensor_ref(wish->in), *next;
	const struct ttnn_memory_config memory = wish->in->spec.memory;
	tt_status status = TTNN_OK;

	for (uint32_t i = 0; i < wish->count && status == TTNN_OK; i++) {
		struct ttnn_value attrs[ATTRS] = {
			[SHIFT] = ttnn_v_int(wish->shift[i]),
			[DIM] = ttnn_v_int(wish->dim[i]),
			[MEMORY] = ttnn_v_memory(&memory),
		};
		struct tt_program_args program = {
			.prog = &prog, .attrs = attrs, .inputs = &now, .input_count = 1};

		if (!wish->shift[i])
			continue;
		status = tt_call_program(&next, call, &program);
		tt_call_overwrite(call, now);
		now = status == TTNN_OK ? next : NULL;
	}
	if (status == TTNN_OK)
		status = place(&now, call, wish);
	*out = now;
	return status;
}

/* Tiles that would be cut: as rows, in the same shards. */
static tt_status through_rows(struct tt_tensor **out, struct tt_temps *temps,
			      const struct wish *wish)
{
	struct tt_call *call = temps->call;
	const struct ttnn_memory_config *memory = &wish->in->spec.memory;
	struct ttnn_arg untilize[] = {{"input_tensor", ttnn_v_tensor(wish->in)},
				      {"memory_config", ttnn_v_memory(memory)}};
	struct ttnn_arg tilize[] = {{"input_tensor", ttnn_v_none()},
				    {"memory_config", ttnn_v_memory(memory)},
				    {"dtype", ttnn_v_dtype(wish->in->spec.dtype)}};
	struct wish inner = *wish;
	struct tt_tensor *rolled, *tiles;

	TT_TRY(tt_call_op(&inner.in, call, "ttnn.untilize", untilize, TT_COUNT(untilize)));
	tt_temps_keep(temps, inner.in);
	inner.memory = &inner.in->spec.memory;
	TT_TRY(roll(&rolled, call, &inner));
	tilize[0].value = ttnn_v_tensor(tt_temps_keep(temps, rolled));
	TT_TRY(tt_call_op(&tiles, call, "ttnn.tilize", tilize, TT_COUNT(tilize)));
	*out = tiles;
	if (ttnn_memory_config_equal(wish->memory, &tiles->spec.memory))
		return TTNN_OK;
	return tt_call_to_memory(out, call, tt_temps_keep(temps, tiles), wish->memory);
}

static tt_status through_dram(struct tt_tensor **out, struct tt_temps *temps,
			      const struct wish *wish)
{
	struct tt_call *call = temps->call;
	static const struct ttnn_memory_config dram;
	struct wish inner = *wish;
	struct tt_tensor *rolled;

	TT_TRY(tt_call_to_memory(&inner.in, call, wish->in, &dram));
	tt_temps_keep(temps, inner.in);
	inner.memory = &inner.in->spec.memory;
	TT_TRY(roll(&rolled, call, &inner));
	tt_temps_keep(temps, rolled);
	return tt_call_to_memory(out, call, rolled, wish->memory);
}

static tt_status roll(struct tt_tensor **out, struct tt_call *call, const struct wish *wish)
{
	struct tt_temps temps = {.call = call};
	bool shifts = false;

	for (uint32_t i = 0; i < wish->count; i++)
		shifts = shifts || wish->shift[i];
	if (!tt_tensor_is_sharded(wish->in))
		return roll_interleaved(out, call, wish);
	if (shifts && has_padding(&wish->in->spec))
		return tt_temps_end(&temps, through_dram(out, &temps, wish));
	if (program_serves(wish))
		return by_program(out, call, wish);
	if (wish->in->spec.layout != TTNN_TILE)
		return tt_temps_end(&temps, through_dram(out, &temps, wish));
	return tt_temps_end(&temps, through_rows(out, &temps, wish));
}

/* ---- the operation ------------------------------------------------------------------------------------------------------ */

static tt_status read_shifts(struct wish *wish, const struct tt_call *call,
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
	wish->count = (uint32_t)count;
	for (size_t i = 0; i < count; i++) {
		int64_t extent;

		wish->dim[i] = (uint32_t)(dims[i] + (dims[i] < 0 ? rank : 0));
		extent = shape->dim[wish->dim[i]];
		wish->shift[i] = extent ? (uint32_t)((shifts[i] % extent + extent) % extent) : 0;
	}
	return TTNN_OK;
}

/* Without a dimension, all elements as one row. */
static tt_status roll_flat(struct tt_tensor **out, struct tt_call *call, struct wish *wish)
{
	struct ttnn_shape shape = wish->in->spec.shape, flat = {2, {1, 1}};
	int64_t shift = tt_call_int(call, "shifts", 0);
	struct tt_tensor *rolled;
	uint64_t volume;
	tt_status status;

	TT_REQUIRE(
		!tt_tensor_is_sharded(wish->in), "!input_tensor.is_sharded()",
		"ttnn::roll without dims does not support sharded inputs. Convert to interleaved "
		"first.");
	TT_TRY(ttnn_shape_volume(&volume, &shape));
	if (!volume || volume > INT32_MAX)
		return tt_fail(TTNN_INVALID, "ttnn.roll: %" PRIu64 " elements cannot be one row",
			       volume);
	flat.dim[1] = (uint32_t)volume;
	TT_TRY(tt_call_reshape(&wish->in, call,
			       &(struct tt_reshape_args){.in = wish->in, .shape = &flat}));
	wish->count = 1;
	wish->dim[0] = 1;
	wish->shift[0] = (uint32_t)((shift % (int64_t)volume + (int64_t)volume) % (int64_t)volume);
	if (!wish->memory)
		wish->memory = &wish->in->spec.memory;
	status = roll(&rolled, call, wish);
	if (status != TTNN_OK) {
		tt_call_drop(call, wish->in);
		return status;
	}
	tt_call_overwrite(call, wish->in);
	status = tt_call_reshape(out, call,
				 &(struct tt_reshape_args){.in = rolled, .shape = &shape});
	tt_call_overwrite(call, rolled);
	return status;
}

static tt_status expand(struct tt_call *call)
{
	struct wish wish = {.in = tt_call_tensor(call, "input_tensor"),
			    .memory = tt_call_memory(call, "memory_config")};
	struct tt_tensor *out;

	TT_TRY(tt_need_device(wish.in));
	if (!tt_value_given(tt_call_arg(call, "dim"))) {
		TT_TRY(roll_flat(&out, call, &wish));
	} else {
		TT_TRY(read_shifts(&wish, call, &wish.in->spec.shape));
		if (!wish.memory)
			wish.memory = &wish.in->spec.memory;
		TT_TRY(roll(&out, call, &wish));
	}
	tt_call_return(call, out);
	return TTNN_OK;
}

#define MEMORY_ARG ", *, memory_config: MemoryConfig? = None"

static const struct tt_op ops[] = {
	{TT_MOVE_ROW("roll", expand, tt_golden_roll,
		     "A tensor whose elements move on along dimensions, from the end to the begin.",
		     "input_tensor: Tensor, shifts: ints, dim: ints" MEMORY_ARG,
		     "input_tensor: Tensor, shifts: int, dim: int" MEMORY_ARG,
		     "input_tensor: Tensor, shifts: int" MEMORY_ARG)},
};

const struct tt_op_family tt_family_roll = {"roll", ops, TT_COUNT(ops)};
