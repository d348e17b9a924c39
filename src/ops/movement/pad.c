/*
 * pad.c: tensors made larger. Rows may grow on all sides; tiles only at the end of dimensions, where
 * a part of the new elements may have been padding before.
 */
#include "ops/movement/pad.h"

#include "golden/golden_movement.h"
#include "ops/movement/movement.h"
#include "ops/movement/permute.h"
#include "ops/movement/shard_ops.h"

/* Elements to put before and after each dimension. */
struct amounts {
	uint32_t rank, before[TTNN_MAX_RANK], after[TTNN_MAX_RANK];
};

struct request {
	struct tt_tensor *in;
	struct amounts pads;
	const struct ttnn_memory_config *memory; /* (optional) */
	double value;
	bool multicore;
	const ttnn_core_set *cores; /* (optional) */
};

static bool is_nothing(const struct amounts *pads)
{
	for (uint32_t d = 0; d < pads->rank; d++)
		if (pads->before[d] || pads->after[d])
			return false;
	return true;
}

/* ---- four dimensions --------------------------------------------------------------------------------------- */

/* Shards of equal numbers of rows on these cores. */
static tt_status by_height(struct ttnn_memory_config *out, const struct ttnn_shape *shape,
			   const ttnn_core_set *cores)
{
	struct ttnn_shard_spec shard = {.grid = cores, .width = tt_shape_last(shape, 1)};
	uint64_t rows;

	TT_REQUIRE(shape->rank >= 2, "rank >= 2", "rank of tensor to shard must be at least 2.");
	TT_TRY(tt_shape_rows(&rows, shape));
	shard.height = (uint32_t)tt_div_up(rows, ttnn_core_set_cores(cores));
	return ttnn_memory_config_sharded(out, TTNN_HEIGHT_SHARDED, TTNN_L1, &shard);
}

static tt_status pad_rows_of_shards(struct tt_tensor **out, struct tt_call *call,
				    const struct tt_pad_args *args);

/* Width or block shards in DRAM are padded as a whole. */
static tt_status pad_apart(struct tt_tensor **out, struct tt_call *call,
			   const struct tt_pad_args *args)
{
	struct ttnn_memory_config together = {.buffer = args->in->spec.memory.buffer};
	struct ttnn_memory_config plain = *args->memory;
	struct tt_pad_args inner = *args;
	struct tt_tensor *padded;

	TT_TRY(tt_call_to_memory(&inner.in, call, args->in, &together));
	tt_call_own(call, inner.in);
	if (tt_memory_config_is_sharded(args->memory))
		plain = (struct ttnn_memory_config){.buffer = args->memory->buffer};
	inner.memory = &plain;
	TT_TRY(tt_pad_launch(&padded, call, &inner));
	if (!tt_memory_config_is_sharded(args->memory)) {
		*out = padded;
		return TTNN_OK;
	}
	tt_call_own(call, padded);
	if (args->memory->buffer == TTNN_DRAM)
		return tt_call_to_memory(out, call, padded, args->memory);
	return tt_call_to_shards(out, call, padded, args->memory, NULL);
}

/* The tensor in one of this shape. args->memory is NULL when none was asked for. */
static tt_status pad_four(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_pad_args *args)
{
	const struct ttnn_memory_config *in = &args->in->spec.memory;
	struct tt_pad_args launch = *args;
	const struct ttnn_shape *const shapes[] = {args->shape, args->start};
	bool cut = in->layout == TTNN_WIDTH_SHARDED || in->layout == TTNN_BLOCK_SHARDED;

	if (ttnn_shape_equal(&args->in->spec.shape, args->shape)) {
		*out = ttnn_tensor_ref(args->in);
		return TTNN_OK;
	}
	if (!tt_tensor_device(args->in))
		return tt_host_pad(out, call, args->in, shapes, args->value);
	TT_REQUIRE(args->in->spec.shape.rank == 4, "rank == 4",
		   "ttnn.pad: input tensor passed to pad_impl must have rank == 4, but got rank "
		   "%u.",
		   args->in->spec.shape.rank);
	if (!launch.memory)
		launch.memory = in;
	if (cut && in->buffer == TTNN_DRAM)
		return pad_apart(out, call, &launch);
	if (in->layout == TTNN_HEIGHT_SHARDED && in->has_shard &&
	    tt_memory_config_is_sharded(launch.memory) &&
	    launch.memory->layout != TTNN_ND_SHARDED &&
	    args->in->spec.shape.dim[3] != args->shape->dim[3])
		return pad_rows_of_shards(out, call, args);
	return tt_pad_launch(out, call, &launch);
}

/* Rows in shards become longer first, in shards of the same cores; then more. */
static tt_status pad_rows_of_shards(struct tt_tensor **out, struct tt_call *call,
				    const struct tt_pad_args *args)
{
	const ttnn_core_set *cores = args->in->spec.memory.shard.grid;
	struct ttnn_shape wide = args->in->spec.shape, start = {4, {0, 0, 0, args->start->dim[3]}};
	struct ttnn_memory_config wider, larger;
	struct tt_pad_args inner = *args;
	uint64_t before, after;
	tt_status status;

	wide.dim[3] = args->shape->dim[3];
	TT_TRY(by_height(&wider, &wide, cores));
	TT_TRY(tt_shape_rows(&before, &wide));
	TT_TRY(tt_shape_rows(&after, args->shape));
	inner.memory = &wider;
	if (before == after)
		return tt_pad_launch(out, call, &inner);
	inner.shape = &wide;
	inner.start = &start;
	inner.cores = NULL;
	TT_TRY(tt_pad_launch(&inner.in, call, &inner));
	status = by_height(&larger, args->shape, cores);
	inner.shape = args->shape;
	inner.start = args->start;
	inner.memory = args->memory ? args->memory : &larger;
	if (status == TTNN_OK)
		status = pad_four(out, call, &inner);
	if (status == TTNN_OK)
		tt_call_deallocate(call, inner.in);
	ttnn_tensor_unref(inner.in);
	return status;
}

/* ---- any number of dimensions ---------------------------------------------------------------------------------- */

/* More than four dimensions are folded into the first: that one cannot be padded then. */
static tt_status check_folds(const struct request *request, const struct tt_tensor *four)
{
	const struct ttnn_shape *shape = &request->in->spec.shape;
	const struct amounts *pads = &request->pads;
	uint32_t extra = shape->rank - 4;
	bool clear = true;

	for (uint32_t d = 0; d < extra; d++)
		clear = clear && !pads->before[d] && !pads->after[d];
	if (four->spec.shape.dim[0] != shape->dim[extra])
		clear = clear && !pads->before[extra] && !pads->after[extra];
	TT_REQUIRE(clear,
		   "std::all_of(padding.begin(), padding.begin() + "
		   "static_cast<std::ptrdiff_t>(extra_index), is_unpadded) && (!axis0_is_merged || "
		   "is_unpadded(padding[extra_index]))",
		   "ttnn.pad: padding on the leading dimensions of a rank %u tensor must be "
		   "consumed before the squeeze to 4D; got a non-zero pad on a dimension that "
		   "the 4D kernel cannot address",
		   shape->rank);
	return TTNN_OK;
}

static tt_status to_four(struct tt_tensor **out, struct tt_call *call,
			 const struct request *request)
{
	if (request->in->spec.shape.rank < 4)
		return tt_call_to_4d(out, call, request->in);
	return tt_call_fold_to_4d(out, call, request->in, NULL);
}

static tt_status pad_any(struct tt_tensor **out, struct tt_call *call,
			 const struct request *request);

/* Block floats are padded as bfloat16. */
static tt_status pad_wide(struct tt_tensor **out, struct tt_call *call,
			  const struct request *request)
{
	struct request inner = *request;
	struct tt_tensor *padded;
	tt_status status;

	TT_TRY(tt_call_cast(&inner.in, call, request->in, TTNN_BFLOAT16));
	status = pad_any(&padded, call, &inner);
	if (status == TTNN_OK) {
		status = tt_call_cast(out, call, padded, TTNN_BFLOAT8_B);
		tt_call_drop(call, padded);
	}
	tt_call_drop(call, inner.in);
	return status;
}

/* The result has four dimensions, and no padding of its own. */
static tt_status pad_any(struct tt_tensor **out, struct tt_call *call,
			 const struct request *request)
{
	const struct amounts *pads = &request->pads;
	uint32_t rank = request->in->spec.shape.rank;
	struct ttnn_shape start = {.rank = 4}, shape = {.rank = 4};
	struct tt_pad_args args = {.shape = &shape,
				   .start = &start,
				   .memory = request->memory,
				   .value = request->value,
				   .multicore = request->multicore,
				   .cores = request->cores};
	bool tiles = request->in->spec.layout == TTNN_TILE;
	tt_status status;

	if (tiles && request->in->spec.dtype == TTNN_BFLOAT8_B)
		return pad_wide(out, call, request);
	TT_TRY(to_four(&args.in, call, request));
	status = rank > 4 ? check_folds(request, args.in) : TTNN_OK;
	for (uint32_t back = 1; back <= 4; back++) {
		const struct ttnn_tensor_spec *four = &args.in->spec;
		bool has = back <= rank;

		start.dim[4 - back] = has ? pads->before[rank - back] : 0;
		shape.dim[4 - back] = start.dim[4 - back] +
				      tt_shape_last(tiles ? &four->padded : &four->shape, back) +
				      (has ? pads->after[rank - back] : 0);
	}
	if (status == TTNN_OK && tiles && (shape.dim[2] % TT_TILE || shape.dim[3] % TT_TILE))
		status = tt_fail_cond(
			TTNN_INVALID,
			"target_height % ttnn::TILE_SIZE == 0 && target_width % "
			"ttnn::TILE_SIZE == 0",
			"ttnn.pad: for tiled tensors padding end must be a multiple of "
			"the tile size on height and width for a tensor in tile layout");
	if (status == TTNN_OK)
		status = pad_four(out, call, &args);
	tt_call_drop(call, args.in);
	return status;
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

/* Replaces a tensor by itself under other shapes. */
static tt_status under_shapes(struct tt_tensor **tensor, struct tt_call *call,
			      const struct ttnn_shape *shape, const struct ttnn_shape *padded)
{
	struct tt_reshape_args args = {.in = *tensor, .shape = shape, .padded = padded};
	struct tt_tensor *out;

	return tt_call_assign(tensor, call, tt_call_reshape(&out, call, &args), &out);
}

/* Through four dimensions, and back: below four by two reshapes, as upstream. */
static tt_status pad_rows(struct tt_tensor **out, struct tt_call *call,
			  const struct request *request)
{
	const struct ttnn_shape *in = &request->in->spec.shape;
	struct ttnn_shape shape = {.rank = in->rank};

	TT_TRY(pad_any(out, call, request));
	if (in->rank == 4)
		return TTNN_OK;
	for (uint32_t d = 0; d < in->rank; d++)
		shape.dim[d] = in->rank < 4 ? (*out)->spec.padded.dim[4 - in->rank + d]
					    : request->pads.before[d] + in->dim[d] +
						      request->pads.after[d];
	TT_TRY(under_shapes(out, call, &shape, &shape));
	return in->rank < 4 ? under_shapes(out, call, &shape, NULL) : TTNN_OK;
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

static tt_status pad_fill(struct tt_tensor **out, struct tt_call *call,
			  const struct request *request)
{
	struct ttnn_arg args[] = {{"input_tensor", ttnn_v_tensor(request->in)},
				  {"fill_value", ttnn_v_real(request->value)},
				  {"memory_config", ttnn_v_memory(request->memory)}};

	return tt_call_op(out, call, "ttnn.fill_implicit_tile_padding", args,
			  request->memory ? 3 : 2);
}

/* Whether whole tiles must come: more than what was padding. */
static bool grows(const struct request *request, const struct ttnn_shape *shape,
		  const struct ttnn_shape *padded)
{
	const struct ttnn_tensor_spec *in = &request->in->spec;

	if (shape->rank == 1)
		return false;
	for (uint32_t d = 0; d + 2 < shape->rank; d++)
		if (shape->dim[d] != in->shape.dim[d])
			return true;
	return tt_shape_last(padded, 1) != tt_shape_last(&in->padded, 1) ||
	       tt_shape_last(padded, 2) != tt_shape_last(&in->padded, 2);
}

/* Sharded where it must be, interleaved where it must be. Takes over the tensor. */
static tt_status pad_place(struct tt_tensor **tensor, struct tt_call *call,
			   const struct request *request, const struct ttnn_shape *shape)
{
	const struct ttnn_memory_config *want =
		request->memory ? request->memory : &request->in->spec.memory;
	struct ttnn_memory_config memory = *want;
	struct tt_tensor *moved;
	tt_status status = TTNN_OK;

	if ((*tensor)->spec.memory.has_shard == want->has_shard)
		return TTNN_OK;
	if (!request->memory)
		status = by_height(&memory, shape, request->in->spec.memory.shard.grid);
	if (status == TTNN_OK)
		status = tt_call_to_memory(&moved, call, *tensor, &memory);
	tt_call_overwrite(call, *tensor);
	*tensor = status == TTNN_OK ? moved : NULL;
	return status;
}

static tt_status view(struct tt_tensor **tensor, struct tt_call *call,
		      const struct ttnn_shape *shape, const struct ttnn_shape *padded)
{
	struct tt_tensor *out;

	return tt_call_assign(tensor, call, tt_call_view(&out, call, *tensor, shape, padded), &out);
}

/*
 * Padding of the old tiles gets the value first; new tiles follow only if the shape needs more of
 * them.
 */
static tt_status pad_tiles(struct tt_tensor **out, struct tt_call *call,
			   const struct request *request)
{
	const struct ttnn_tensor_spec *in = &request->in->spec;
	struct ttnn_shape shape = in->shape, padded, zeros = {.rank = in->shape.rank};
	const struct ttnn_shape *const shapes[] = {&padded, &zeros};
	struct request inner = *request;

	for (uint32_t d = 0; d < shape.rank; d++) {
		TT_REQUIRE(!request->pads.before[d], "front_padding_is_zero",
			   "ttnn.pad: on device tile padding does not support front padding");
		shape.dim[d] += request->pads.after[d];
	}
	padded = tt_shape_in_tiles(&shape);
	if (!tt_tensor_device(request->in))
		return tt_host_pad(out, call, request->in, shapes, request->value);
	TT_TRY(pad_fill(out, call, request));
	if (grows(request, &shape, &padded)) {
		inner.in = *out;
		for (uint32_t d = 0; d < shape.rank; d++)
			inner.pads.after[d] = padded.dim[d] - in->padded.dim[d];
		TT_TRY(tt_call_overwrite_after(call, pad_any(out, call, &inner), inner.in));
	}
	TT_TRY(view(out, call, &shape, &padded));
	return pad_place(out, call, request, &shape);
}

/* ---- dimensions in front of the last three ------------------------------------------------------------------------ */

static tt_status pad(struct tt_tensor **out, struct tt_call *call, const struct request *request);

static uint64_t product(const struct ttnn_shape *shape, uint32_t from, uint32_t to)
{
	uint64_t volume = 1;

	for (uint32_t d = from; d < to; d++)
		volume *= shape->dim[d];
	return volume;
}

/* One dimension, as the second of four. Takes over the tensor in request->in when it is not `first`. */
static tt_status pad_one(struct tt_tensor **out, struct tt_call *call,
			 const struct request *request, uint32_t dim)
{
	const struct ttnn_shape *shape = &request->in->spec.shape;
	uint32_t rank = shape->rank, inner = (uint32_t)product(shape, dim + 1, rank - 2);
	struct ttnn_shape four = {4,
				  {(uint32_t)product(shape, 0, dim),
				   (uint32_t)product(shape, dim, rank - 2), shape->dim[rank - 2],
				   shape->dim[rank - 1]}};
	struct ttnn_shape target = *shape;
	struct request part = *request;
	struct tt_tensor *padded;
	tt_status status;

	target.dim[dim] += request->pads.before[dim] + request->pads.after[dim];
	part.memory = NULL;
	part.pads = (struct amounts){.rank = 4,
				     .before = {0, request->pads.before[dim] * inner},
				     .after = {0, request->pads.after[dim] * inner}};
	TT_TRY(tt_call_reshape(&part.in, call,
			       &(struct tt_reshape_args){.in = request->in, .shape = &four}));
	status = pad(&padded, call, &part);
	if (status == TTNN_OK) {
		status = tt_call_reshape(out, call,
					 &(struct tt_reshape_args){.in = padded, .shape = &target});
		tt_call_drop(call, padded);
	}
	tt_call_drop(call, part.in);
	return status;
}

/* All of them; request->in and request->pads become what is left to do. request->in is the caller's to drop. */
static tt_status pad_leading(struct tt_call *call, struct request *request)
{
	uint32_t rank = request->in->spec.shape.rank;

	ttnn_tensor_ref(request->in);
	for (uint32_t d = 0; d < rank - 3; d++) {
		const struct ttnn_shape *shape = &request->in->spec.shape;
		struct tt_tensor *padded;
		tt_status status;

		if (!request->pads.before[d] && !request->pads.after[d])
			continue;
		if (d == rank - 4 && product(shape, 0, rank - 3) == shape->dim[d])
			continue;
		status = pad_one(&padded, call, request, d);
		tt_call_overwrite(call, request->in);
		request->in = status == TTNN_OK ? padded : NULL;
		TT_TRY(status);
		request->pads.before[d] = request->pads.after[d] = 0;
	}
	return TTNN_OK;
}

static tt_status pad_last(struct tt_tensor **out, struct tt_call *call,
			  const struct request *request)
{
	if (request->in->spec.layout == TTNN_TILE)
		return pad_tiles(out, call, request);
	return pad_rows(out, call, request);
}

/* Above four dimensions: leading ones by concatenation, the last three by the program. */
static tt_status pad_many(struct tt_tensor **out, struct tt_call *call,
			  const struct request *request)
{
	struct request rest = *request;
	uint32_t rank = request->in->spec.shape.rank, first = 0;
	tt_status status;

	if (!tt_tensor_device(request->in)) {
		while (first < rank && !request->pads.after[first])
			first++;
		TT_REQUIRE(first >= rank - 3, "first_pad_idx >= original_rank - 3",
			   "ttnn::pad only supports padding on the lowest 3 dimensions for host "
			   "tensors with rank > 4");
		return pad_last(out, call, request);
	}
	status = pad_leading(call, &rest);
	if (status == TTNN_OK && !is_nothing(&rest.pads)) {
		status = pad_last(out, call, &rest);
	} else if (status == TTNN_OK && request->memory) {
		status = tt_call_to_memory(out, call, rest.in, request->memory);
	} else if (status == TTNN_OK) {
		*out = rest.in;
		return TTNN_OK;
	}
	tt_call_drop(call, rest.in);
	return status;
}

static tt_status pad(struct tt_tensor **out, struct tt_call *call, const struct request *request)
{
	if (is_nothing(&request->pads)) {
		*out = ttnn_tensor_ref(request->in);
		return TTNN_OK;
	}
	return request->in->spec.shape.rank > 4 ? pad_many(out, call, request)
						: pad_last(out, call, request);
}

/* ---- the operation --------------------------------------------------------------------------------------------------- */

/* Pairs for the last dimensions, as many as were given. */
static tt_status amounts_by_pairs(struct amounts *out, const struct ttnn_value *pairs,
				  const struct ttnn_shape *shape)
{
	TT_REQUIRE(pairs->count <= shape->rank, "diff > 0",
		   "ttnn.pad: padding len can't be larger than input tensor rank");
	for (uint32_t i = 0; i < pairs->count; i++) {
		uint32_t d = shape->rank - pairs->count + i;

		out->before[d] = (uint32_t)pairs->items[i].items[0].integer;
		out->after[d] = (uint32_t)pairs->items[i].items[1].integer;
	}
	return TTNN_OK;
}

/* The older signature: the padded shape, and where the input begins in it. */
static tt_status amounts_by_shape(struct amounts *out, struct tt_call *call,
				  const struct ttnn_shape *shape)
{
	int64_t sizes[4], starts[4];
	size_t count, start_count;

	TT_TRY(tt_call_ints(sizes, &count, 4, call, "output_padded_shape"));
	TT_TRY(tt_call_ints(starts, &start_count, 4, call, "input_tensor_start"));
	TT_NEED(count == shape->rank && start_count == shape->rank,
		"ttnn.pad: a tensor of rank %u cannot be padded to a shape of rank %zu from a "
		"start of rank %zu",
		shape->rank, count, start_count);
	for (uint32_t d = 0; d < shape->rank; d++) {
		out->before[d] = (uint32_t)starts[d];
		out->after[d] = (uint32_t)(sizes[d] - shape->dim[d] - starts[d]);
	}
	return TTNN_OK;
}

/* Both signatures become amounts before and behind each dimension. */
static tt_status expand_pad(struct tt_call *call)
{
	struct request request = {.in = tt_call_tensor(call, "input_tensor"),
				  .memory = tt_call_memory(call, "memory_config"),
				  .value = tt_call_real(call, "value", 0),
				  .multicore = tt_call_bool(call, "use_multicore", true),
				  .cores = tt_call_core_set(call, "sub_core_grids")};
	const struct ttnn_value *pairs = tt_call_arg(call, "padding");
	const struct ttnn_shape *shape = &request.in->spec.shape;
	struct tt_tensor *out;

	request.pads.rank = shape->rank;
	if (tt_value_given(pairs))
		TT_TRY(amounts_by_pairs(&request.pads, pairs, shape));
	else
		TT_TRY(amounts_by_shape(&request.pads, call, shape));
	return tt_call_give(call, pad(&out, call, &request), &out);
}

#define TAIL                                                                                       \
	"value: float, *, use_multicore: bool = True, memory_config: MemoryConfig? = None, "       \
	"sub_core_grids: CoreRangeSet? = None"

static const struct tt_op ops[] = {
	{TT_MOVE_ROW(
		"pad", expand_pad, tt_golden_pad,
		"A tensor with more elements around it, all of one value.",
		"input_tensor: Tensor, padding: pairs, " TAIL,
		"input_tensor: Tensor, output_padded_shape: sizes, input_tensor_start: sizes, " TAIL)},
};

const struct tt_op_family tt_family_pad = {"movement", ops, TT_COUNT(ops)};
