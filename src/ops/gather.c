/*
 * gather.c: elements of a tensor taken from places along a dimension that a tensor of indices names.
 * Programs work along the last of four dimensions; tensors are brought there, and the result back.
 */
#include "ops/gather.h"

#include <inttypes.h>

#include "device/device.h"
#include "device/devtensor.h"
#include "ops/golden_movement.h"
#include "ops/movement.h"
#include "ops/permute.h"
#include "ops/shard.h"
#include "ops/slice.h"
#include "tensor/shape.h"

struct wish {
	struct tt_tensor *in, *index;
	uint32_t dim, rank;
	bool last; /* dimension */
};

/* A tensor of shape [1] stays as it is. */
static bool is_single(const struct tt_tensor *tensor)
{
	return tensor->spec.shape.rank == 1 && tensor->spec.shape.dim[0] == 1;
}

static tt_status turn(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
		      const struct wish *wish)
{
	uint32_t dims[] = {wish->dim, wish->rank - 1};
	struct tt_permute_args args = {.in = in, .dims = dims, .memory = &in->spec.memory};

	if (!wish->last)
		return tt_call_transpose(out, call, &args);
	*out = ttnn_tensor_ref(in);
	return TTNN_OK;
}

static tt_status in_four(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	if (in->spec.shape.rank < 4)
		return tt_call_to_4d(out, call, in);
	return tt_call_fold_to_4d(out, call, in, NULL);
}

static tt_status fill(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
		      double value)
{
	struct ttnn_arg args[] = {{"input_tensor", ttnn_v_tensor(in)},
				  {"fill_value", ttnn_v_real(value)}};

	if (in->spec.layout == TTNN_TILE)
		return tt_call_op(out, call, "ttnn.fill_implicit_tile_padding", args,
				  TT_COUNT(args));
	*out = ttnn_tensor_ref(in);
	return TTNN_OK;
}

static tt_status prepare_index(struct tt_tensor **out, struct tt_temps *temps,
			       const struct wish *wish)
{
	struct tt_tensor *turned, *four;

	TT_TRY(turn(&turned, temps->call, wish->index, wish));
	tt_temps_keep(temps, turned);
	TT_TRY(in_four(&four, temps->call, turned));
	tt_temps_keep(temps, four);
	return fill(out, temps->call, four, 0);
}

/* Of more than four dimensions, those that are folded are cut as the index has them. */
static tt_status cut_outer(struct tt_tensor **tensor, struct tt_call *call, const struct wish *wish)
{
	const struct ttnn_shape *has = &(*tensor)->spec.shape;
	struct ttnn_shape begin = {.rank = wish->rank}, end = *has;
	struct ttnn_shape index = wish->index->spec.shape;
	struct tt_part part = {.in = *tensor, .begin = &begin, .end = &end};
	struct tt_tensor *next = NULL;

	index.dim[wish->dim] = wish->index->spec.shape.dim[wish->rank - 1];
	index.dim[wish->rank - 1] = wish->index->spec.shape.dim[wish->dim];
	for (uint32_t d = 0; d + 3 < wish->rank; d++) {
		uint32_t asked = !wish->last && d == wish->dim ? wish->rank - 1 : d;

		TT_REQUIRE(index.dim[d] <= has->dim[d], "index_extents[i] <= input_lshape[i]",
			   "gather: index tensor size %" PRIu32 " on dimension %" PRIu32
			   " exceeds the input tensor size %" PRIu32 "; only dimension %" PRIu32
			   " may be larger",
			   index.dim[d], asked, has->dim[d], wish->dim);
		end.dim[d] = index.dim[d];
	}
	if (ttnn_shape_equal(&end, has))
		return TTNN_OK;
	return tt_call_replace(tensor, call, tt_call_slice(&next, call, &part), &next);
}

/* The rows that the index has, with its padding, and in them all elements. */
static tt_status prepare_input(struct tt_tensor **out, struct tt_temps *temps,
			       const struct wish *wish, const struct ttnn_shape *index)
{
	struct tt_call *call = temps->call;
	struct ttnn_shape begin = {.rank = 4}, end = *index;
	struct tt_part part = {.begin = &begin, .end = &end, .memory = &wish->in->spec.memory};
	struct tt_tensor *turned, *four, *cut;
	tt_status status;

	TT_TRY(turn(&turned, call, wish->in, wish));
	status = wish->rank > 4 ? cut_outer(&turned, call, wish) : TTNN_OK;
	tt_temps_keep(temps, turned);
	TT_TRY(status);
	TT_TRY(in_four(&four, call, turned));
	tt_temps_keep(temps, four);
	end.dim[3] = tt_shape_last(&four->spec.shape, 1);
	part.in = four;
	TT_TRY(tt_call_slice(&cut, call, &part));
	tt_temps_keep(temps, cut);
	return fill(out, call, cut, 1.1754943508222875e-38);
}

static tt_status bring_back(struct tt_tensor **tensor, struct tt_call *call,
			    const struct wish *wish)
{
	struct ttnn_shape shape = wish->index->spec.shape;
	uint32_t dims[] = {wish->dim, wish->rank - 1}, last = shape.dim[wish->rank - 1];
	struct tt_permute_args back = {.dims = dims, .memory = &wish->index->spec.memory};
	struct tt_reshape_args unfold = {.in = *tensor, .shape = &shape};
	struct tt_tensor *next = NULL;

	shape.dim[wish->rank - 1] = shape.dim[wish->dim];
	shape.dim[wish->dim] = last;
	if (wish->rank < 4)
		TT_TRY(tt_call_replace(tensor, call,
				       tt_call_from_4d(&next, call, *tensor, wish->rank), &next));
	else if (wish->rank > 4)
		TT_TRY(tt_call_replace(tensor, call, tt_call_reshape(&next, call, &unfold), &next));
	back.in = *tensor;
	if (wish->last)
		return TTNN_OK;
	return tt_call_replace(tensor, call, tt_call_transpose(&next, call, &back), &next);
}

static tt_status gather(struct tt_tensor **out, struct tt_call *call, const struct wish *wish,
			struct tt_gather_args *args, bool fast)
{
	struct tt_temps temps = {.call = call};

	args->index = wish->index;
	args->in = wish->in;
	if (!is_single(wish->index)) {
		TT_TRY(tt_temps_end(&temps, prepare_index(&args->index, &temps, wish)));
		tt_call_own(call, args->index);
	}
	if (!is_single(wish->in)) {
		TT_TRY(tt_temps_end(
			&temps, prepare_input(&args->in, &temps, wish, &args->index->spec.padded)));
		tt_call_own(call, args->in);
	}
	TT_TRY(tt_gather_launch(out, call, args, fast));
	return is_single(wish->index) ? TTNN_OK : bring_back(out, call, wish);
}

/* Rows that are cut, and not at tiles. */
static bool is_cut(const struct tt_tensor *tensor)
{
	const struct ttnn_memory_config *memory = &tensor->spec.memory;

	return (memory->layout == TTNN_WIDTH_SHARDED || memory->layout == TTNN_BLOCK_SHARDED) &&
	       tt_shape_last(&tensor->spec.shape, 1) % 32;
}

/* In tiles, interleaved in L1. */
static tt_status as_tiles(struct tt_tensor **tensor, struct tt_temps *temps)
{
	static const struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	struct tt_tensor *plain;
	struct ttnn_arg args[] = {{"tensor", ttnn_v_none()}, {"layout", ttnn_v_layout(TTNN_TILE)}};
	tt_status status;

	TT_TRY(tt_call_to_memory(&plain, temps->call, *tensor, &l1));
	args[0].value = ttnn_v_tensor(plain);
	status = tt_call_op(tensor, temps->call, "ttnn.to_layout", args, TT_COUNT(args));
	tt_call_drop(temps->call, plain);
	if (status == TTNN_OK)
		tt_temps_keep(temps, *tensor);
	return status;
}

/* Such rows are gathered as tiles. */
static tt_status gather_cut(struct tt_tensor **out, struct tt_temps *temps,
			    const struct tt_gather_args *asked, struct wish wish)
{
	static const struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	struct tt_call *call = temps->call;
	struct tt_gather_args args = *asked;
	struct ttnn_arg rows[] = {{"tensor", ttnn_v_none()},
				  {"layout", ttnn_v_layout(TTNN_ROW_MAJOR)}};
	struct tt_tensor *tiles;

	TT_TRY(as_tiles(&wish.in, temps));
	TT_TRY(as_tiles(&wish.index, temps));
	args.memory = &l1;
	TT_TRY(gather(&tiles, call, &wish, &args, false));
	rows[0].value = ttnn_v_tensor(tt_temps_keep(temps, tiles));
	TT_TRY(tt_call_op(&tiles, call, "ttnn.to_layout", rows, TT_COUNT(rows)));
	return tt_call_to_memory(out, call, tt_temps_keep(temps, tiles), asked->memory);
}

static tt_status check(const struct wish *wish, const struct tt_tensor *given, int64_t dim)
{
	uint32_t index = wish->index->spec.shape.rank;

	TT_REQUIRE(wish->rank == index, "input_tensor_rank == index_tensor_rank",
		   "Input and index tensor must have the same number of dimensions. Got input "
		   "dim: %" PRIu32 " and index dim: %" PRIu32,
		   wish->rank, index);
	TT_REQUIRE(wish->dim < wish->rank,
		   "normalized_dim >= 0 && normalized_dim < static_cast<int8_t>(input_tensor_rank)",
		   "gather: dim %" PRId64 " is out of range for tensor rank %" PRIu32, dim,
		   wish->rank);
	TT_TRY(tt_need_device(wish->in));
	TT_TRY(tt_need_device(wish->index));
	if (given && (wish->rank != 4 || !wish->last))
		return tt_fail(TTNN_UNSUPPORTED,
			       "gather: an output is only taken along the last of four dimensions");
	return TTNN_OK;
}

static tt_status expand(struct tt_call *call)
{
	struct wish wish = {.in = tt_call_tensor(call, "input"),
			    .index = tt_call_tensor(call, "index")};
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct tt_gather_args args = {.in = wish.in,
				      .index = wish.index,
				      .out = tt_call_tensor(call, "out"),
				      .memory = memory ? memory : &wish.in->spec.memory,
				      .cores = tt_call_core_set(call, "sub_core_grids")};
	int64_t dim = tt_call_int(call, "dim", 0);
	struct tt_temps temps = {.call = call};
	struct tt_tensor *out;

	wish.rank = wish.in->spec.shape.rank;
	wish.dim = (uint32_t)(dim < 0 ? dim + wish.rank : dim);
	wish.last = wish.dim + 1 == wish.rank;
	TT_TRY(check(&wish, args.out, dim));
	args.dim = wish.dim;
	if (wish.in->spec.layout == TTNN_ROW_MAJOR && (is_cut(wish.in) || is_cut(wish.index)))
		TT_TRY(tt_temps_end(&temps, gather_cut(&out, &temps, &args, wish)));
	else
		TT_TRY(gather(&out, call, &wish, &args, tt_gather_is_fast(&args)));
	tt_call_return(call, out);
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{TT_MOVE_ROW("gather", expand, tt_golden_gather,
		     "The elements of a tensor that indices name, along a dimension.",
		     "input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, "
		     "memory_config: MemoryConfig? = None, out: Tensor? = None, sub_core_grids: "
		     "CoreRangeSet? = None")},
};

const struct tt_op_family tt_family_gather = {"gather", ops, TT_COUNT(ops)};
