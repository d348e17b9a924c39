/*
 * gather.c: elements of a tensor taken from places along a dimension that a tensor of indices names.
 * Programs work along the last of four dimensions; tensors are brought there, and the result back.
 */
#include "ops/movement/gather.h"

#include <inttypes.h>

#include "golden/golden_movement.h"
#include "ops/movement/movement.h"
#include "ops/movement/permute.h"
#include "ops/movement/shard_ops.h"
#include "ops/movement/slice.h"

struct request {
	struct tt_tensor *in, *index;
	uint32_t dim, rank;
	bool last; /* dimension */
};

/* A tensor of shape [1] stays as it is. */
static bool is_single(const struct tt_tensor *tensor)
{
	return tensor->spec.shape.rank == 1 && tensor->spec.shape.dim[0] == 1;
}

/* Brings the dimension to the last place, where it is not there already. */
static tt_status transpose(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			   const struct request *request)
{
	uint32_t dims[] = {request->dim, request->rank - 1};
	struct tt_permute_args args = {.in = in, .dims = dims, .memory = &in->spec.memory};

	if (!request->last)
		return tt_call_transpose(out, call, &args);
	*out = ttnn_tensor_ref(in);
	return TTNN_OK;
}

static tt_status gather_fill(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			     double value)
{
	if (in->spec.layout == TTNN_TILE)
		return TT_CALL(out, call, "ttnn.fill_implicit_tile_padding",
			       {"input_tensor", ttnn_v_tensor(in)},
			       {"fill_value", ttnn_v_real(value)});
	*out = ttnn_tensor_ref(in);
	return TTNN_OK;
}

/* Transposed, four dimensions, padding of tiles set to index 0, which is always valid. */
static tt_status prepare_index(struct tt_tensor **out, struct tt_temps *temps,
			       const struct request *request)
{
	struct tt_tensor *transposed, *four;

	TT_TRY(transpose(&transposed, temps->call, request->index, request));
	tt_temps_keep(temps, transposed);
	TT_TRY(tt_call_in_4d(&four, temps->call, transposed));
	tt_temps_keep(temps, four);
	return gather_fill(out, temps->call, four, 0);
}

/* Of more than four dimensions, those that are folded are cut as the index has them. */
static tt_status cut_outer(struct tt_tensor **tensor, struct tt_call *call,
			   const struct request *request)
{
	const struct ttnn_shape *has = &(*tensor)->spec.shape;
	struct ttnn_shape begin = {.rank = request->rank}, end = *has;
	struct ttnn_shape index = request->index->spec.shape;
	struct tt_part part = {.in = *tensor, .begin = &begin, .end = &end};
	struct tt_tensor *next = NULL;

	index.dim[request->dim] = request->index->spec.shape.dim[request->rank - 1];
	index.dim[request->rank - 1] = request->index->spec.shape.dim[request->dim];
	for (uint32_t d = 0; d + 3 < request->rank; d++) {
		uint32_t asked = !request->last && d == request->dim ? request->rank - 1 : d;

		TT_REQUIRE(index.dim[d] <= has->dim[d], "index_extents[i] <= input_lshape[i]",
			   "gather: index tensor size %u on dimension %u exceeds the input "
			   "tensor size %u; only dimension %u may be larger",
			   index.dim[d], asked, has->dim[d], request->dim);
		end.dim[d] = index.dim[d];
	}
	if (ttnn_shape_equal(&end, has))
		return TTNN_OK;
	return tt_call_replace(tensor, call, tt_call_slice(&next, call, &part), &next);
}

/* The rows that the index has, with its padding, and in them all elements. */
static tt_status prepare_input(struct tt_tensor **out, struct tt_temps *temps,
			       const struct request *request, const struct ttnn_shape *index)
{
	struct tt_call *call = temps->call;
	struct ttnn_shape begin = {.rank = 4}, end = *index;
	struct tt_part part = {.begin = &begin, .end = &end, .memory = &request->in->spec.memory};
	struct tt_tensor *transposed, *four, *cut;
	tt_status status;

	TT_TRY(transpose(&transposed, call, request->in, request));
	status = request->rank > 4 ? cut_outer(&transposed, call, request) : TTNN_OK;
	tt_temps_keep(temps, transposed);
	TT_TRY(status);
	TT_TRY(tt_call_in_4d(&four, call, transposed));
	tt_temps_keep(temps, four);
	end.dim[3] = tt_shape_last(&four->spec.shape, 1);
	part.in = four;
	TT_TRY(tt_call_slice(&cut, call, &part));
	tt_temps_keep(temps, cut);
	return gather_fill(out, call, cut, 1.1754943508222875e-38);
}

/* The result has the shape of the index: the same steps backwards. */
static tt_status bring_back(struct tt_tensor **tensor, struct tt_call *call,
			    const struct request *request)
{
	struct ttnn_shape shape = request->index->spec.shape;
	uint32_t dims[] = {request->dim, request->rank - 1}, last = shape.dim[request->rank - 1];
	struct tt_permute_args back = {.dims = dims, .memory = &request->index->spec.memory};
	struct tt_reshape_args unfold = {.in = *tensor, .shape = &shape};
	struct tt_tensor *next = NULL;

	shape.dim[request->rank - 1] = shape.dim[request->dim];
	shape.dim[request->dim] = last;
	if (request->rank < 4)
		TT_TRY(tt_call_replace(
			tensor, call, tt_call_from_4d(&next, call, *tensor, request->rank), &next));
	else if (request->rank > 4)
		TT_TRY(tt_call_replace(tensor, call, tt_call_reshape(&next, call, &unfold), &next));
	back.in = *tensor;
	if (request->last)
		return TTNN_OK;
	return tt_call_replace(tensor, call, tt_call_transpose(&next, call, &back), &next);
}

/* Tensors of one element are taken as they are. */
static tt_status gather(struct tt_tensor **out, struct tt_call *call, const struct request *request,
			struct tt_gather_args *args, bool fast)
{
	struct tt_temps temps = {.call = call};

	args->index = request->index;
	args->in = request->in;
	if (!is_single(request->index)) {
		TT_TRY(tt_temps_end(&temps, prepare_index(&args->index, &temps, request)));
		tt_call_own(call, args->index);
	}
	if (!is_single(request->in)) {
		TT_TRY(tt_temps_end(&temps, prepare_input(&args->in, &temps, request,
							  &args->index->spec.padded)));
		tt_call_own(call, args->in);
	}
	TT_TRY(tt_gather_launch(out, call, args, fast));
	return is_single(request->index) ? TTNN_OK : bring_back(out, call, request);
}

/* Rows that are cut, and not at tiles. */
static bool is_cut(const struct tt_tensor *tensor)
{
	const struct ttnn_memory_config *memory = &tensor->spec.memory;

	return (memory->layout == TTNN_WIDTH_SHARDED || memory->layout == TTNN_BLOCK_SHARDED) &&
	       tt_shape_last(&tensor->spec.shape, 1) % TT_TILE;
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
			    const struct tt_gather_args *asked, struct request request)
{
	static const struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	struct tt_call *call = temps->call;
	struct tt_gather_args args = *asked;
	struct ttnn_arg rows[] = {{"tensor", ttnn_v_none()},
				  {"layout", ttnn_v_layout(TTNN_ROW_MAJOR)}};
	struct tt_tensor *tiles;

	TT_TRY(as_tiles(&request.in, temps));
	TT_TRY(as_tiles(&request.index, temps));
	args.memory = &l1;
	TT_TRY(gather(&tiles, call, &request, &args, false));
	rows[0].value = ttnn_v_tensor(tt_temps_keep(temps, tiles));
	TT_TRY(tt_call_op(&tiles, call, "ttnn.to_layout", rows, TT_COUNT(rows)));
	return tt_call_to_memory(out, call, tt_temps_keep(temps, tiles), asked->memory);
}

/* Ranks agree. An output can be given only where the program writes it at once. */
static tt_status gather_check(const struct request *request, const struct tt_tensor *given,
			      int64_t dim)
{
	uint32_t index = request->index->spec.shape.rank;

	TT_REQUIRE(request->rank == index, "input_tensor_rank == index_tensor_rank",
		   "Input and index tensor must have the same number of dimensions. Got input "
		   "dim: %u and index dim: %u",
		   request->rank, index);
	TT_REQUIRE(request->dim < request->rank,
		   "normalized_dim >= 0 && normalized_dim < static_cast<int8_t>(input_tensor_rank)",
		   "gather: dim %" PRId64 " is out of range for tensor rank %u", dim,
		   request->rank);
	TT_TRY(tt_need_device(request->in));
	if (request->rank != 4 || !request->last)
		TT_TRY(tt_need_device(request->index));
	if (given && (request->rank != 4 || !request->last))
		return tt_fail(TTNN_UNSUPPORTED,
			       "gather: an output is only taken along the last of four dimensions");
	return TTNN_OK;
}

/* Rows cut by shards have a detour (gather_cut); otherwise one of two programs. */
static tt_status gather_expand(struct tt_call *call)
{
	struct request request = {.in = tt_call_tensor(call, "input"),
				  .index = tt_call_tensor(call, "index")};
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct tt_gather_args args = {.in = request.in,
				      .index = request.index,
				      .out = tt_call_tensor(call, "out"),
				      .memory = memory ? memory : &request.in->spec.memory,
				      .cores = tt_call_core_set(call, "sub_core_grids"),
				      .sparse = tt_call_bool(call, "sparse_grad", false)};
	int64_t dim = tt_call_int(call, "dim", 0);
	struct tt_temps temps = {.call = call};
	struct tt_tensor *out;

	request.rank = request.in->spec.shape.rank;
	request.dim = (uint32_t)(dim < 0 ? dim + request.rank : dim);
	request.last = request.dim + 1 == request.rank;
	TT_TRY(gather_check(&request, args.out, dim));
	args.dim = request.dim;
	if (request.in->spec.layout == TTNN_ROW_MAJOR &&
	    (is_cut(request.in) || is_cut(request.index)))
		TT_TRY(tt_temps_end(&temps, gather_cut(&out, &temps, &args, request)));
	else
		TT_TRY(gather(&out, call, &request, &args, tt_gather_is_fast(&args)));
	tt_call_return(call, out);
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{TT_MOVE_ROW("gather", gather_expand, tt_golden_gather,
		     "The elements of a tensor that indices name, along a dimension.",
		     "input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, "
		     "memory_config: MemoryConfig? = None, out: Tensor? = None, sub_core_grids: "
		     "CoreRangeSet? = None")},
};

const struct tt_op_family tt_family_gather = {"movement", ops, TT_COUNT(ops)};
