/* ordering.c: what sort and topk share (ordering.h). */
#include "ops/reduce/ordering.h"

#include "backend/backend.h"
#include "ops/movement/movement.h"

#define RANK 4

/* ---- there and back ------------------------------------------------------------------------------------- */

static tt_status swap(struct tt_tensor **out, const struct tt_ordering *order, struct tt_tensor *in,
		      const struct ttnn_memory_config *memory)
{
	uint32_t dims[] = {order->dim, in->spec.shape.rank - 1};

	return tt_call_transpose(
		out, order->call,
		&(struct tt_permute_args){.in = in, .dims = dims, .memory = memory});
}

/* The dimension becomes the last one, the tensor four-dimensional. */
tt_status tt_ordering_begin(struct tt_tensor **out, struct tt_ordering *order, struct tt_tensor *in)
{
	struct ttnn_shape shape;

	order->swapped = NULL;
	if (in->spec.shape.rank && order->dim + 1 < in->spec.shape.rank) {
		TT_TRY(swap(&order->swapped, order, in, &in->spec.memory));
		in = tt_call_own(order->call, order->swapped);
	}
	order->shape = in->spec.shape;
	*out = in;
	if (order->shape.rank == RANK)
		return TTNN_OK;
	shape = tt_shape_folded(&order->shape, RANK);
	while (shape.rank < RANK) {
		for (uint32_t d = shape.rank++; d > 0; d--)
			shape.dim[d] = shape.dim[d - 1];
		shape.dim[0] = 1;
	}
	TT_TRY(tt_call_reshape(out, order->call,
			       &(struct tt_reshape_args){.in = in, .shape = &shape}));
	tt_call_own(order->call, *out);
	return TTNN_OK;
}

/* One result becomes another; the old one is given up. */
static void assign(struct tt_call *call, struct tt_tensor **result, struct tt_tensor *next)
{
	tt_call_overwrite(call, *result);
	*result = next;
}

/* The values that are left over become padding: nothing moves. */
static tt_status narrow(struct tt_tensor **results, const struct tt_ordering *order, uint32_t count)
{
	for (int i = 0; i < 2; i++) {
		struct ttnn_shape shape = results[i]->spec.shape, padded = results[i]->spec.padded;
		struct tt_tensor *next;

		shape.dim[RANK - 1] = count;
		TT_TRY(tt_call_view(&next, order->call, results[i], &shape, &padded));
		assign(order->call, &results[i], next);
	}
	return TTNN_OK;
}

/* A count that ends in the same tile needs no slice: the logical shape is narrowed. */
tt_status tt_ordering_cut(struct tt_tensor **results, const struct tt_ordering *order,
			  uint32_t count)
{
	struct ttnn_shape begin = {RANK, {0}};

	if (order->shape.rank == RANK && !order->swapped &&
	    tt_align_to(count, 32) == tt_shape_last(&results[0]->spec.padded, 1))
		return narrow(results, order, count);
	for (int i = 0; i < 2; i++) {
		struct ttnn_shape end = results[i]->spec.shape;
		struct tt_tensor *next;

		end.dim[RANK - 1] = count;
		TT_TRY(tt_call_slice(&next, order->call,
				     &(struct tt_part){.in = results[i],
						       .begin = &begin,
						       .end = &end,
						       .memory = order->memory}));
		assign(order->call, &results[i], next);
	}
	return TTNN_OK;
}

/* Shape and dimension as they were. */
tt_status tt_ordering_restore(struct tt_tensor **results, const struct tt_ordering *order)
{
	struct ttnn_shape shape = order->shape;
	struct tt_tensor *next;

	if (shape.rank)
		shape.dim[shape.rank - 1] = tt_shape_last(&results[0]->spec.shape, 1);
	for (int i = 0; i < 2 && shape.rank != RANK; i++) {
		TT_TRY(tt_call_reshape(
			&next, order->call,
			&(struct tt_reshape_args){.in = results[i], .shape = &shape}));
		assign(order->call, &results[i], next);
	}
	for (int i = 0; i < 2 && order->dim + 1 < shape.rank; i++) {
		TT_TRY(swap(&next, order, results[i], order->memory));
		assign(order->call, &results[i], next);
	}
	return TTNN_OK;
}

/* Both results, or none. */
tt_status tt_ordering_end(struct tt_tensor **results, const struct tt_ordering *order)
{
	tt_status status = tt_ordering_restore(results, order);

	for (int i = 0; i < 2; i++) {
		if (status == TTNN_OK)
			tt_call_return(order->call, results[i]);
		else
			tt_call_drop(order->call, results[i]);
	}
	return status;
}

/* ---- padding ---------------------------------------------------------------------------------------------- */

bool tt_ordering_padded(const struct tt_tensor *tensor)
{
	return tt_shape_last(&tensor->spec.shape, 1) != tt_shape_last(&tensor->spec.padded, 1);
}

/* What sorts last: infinities, or the ends of uint16. */
tt_status tt_ordering_fill(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			   double value)
{
	/* Block floats share an exponent with their padding; no result sees it anyway. */
	struct ttnn_arg args[] = {
		{"input_tensor", ttnn_v_tensor(in)},
		{"fill_value", ttnn_v_real(tt_dtype_is_block(in->spec.dtype) ? 0 : value)}};

	if (tt_dtype_is_integer(in->spec.dtype))
		args[1].value = ttnn_v_int(value > 0 ? UINT16_MAX : 0);
	return tt_call_owned(
		call,
		tt_call_op(out, call, "ttnn.fill_implicit_tile_padding", args, TT_COUNT(args)),
		out);
}

/* To a width of whole tiles, or a power of two, with what sorts last. */
tt_status tt_ordering_pad(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			  uint32_t width, double value)
{
	struct ttnn_value none[] = {ttnn_v_int(0), ttnn_v_int(0)};
	struct ttnn_value last[] = {ttnn_v_int(0),
				    ttnn_v_int(width - tt_shape_last(&in->spec.shape, 1))};
	struct ttnn_value pairs[RANK];
	struct ttnn_arg args[] = {{"input_tensor", ttnn_v_tensor(in)},
				  {"padding", ttnn_v_list(pairs, RANK)},
				  {"value", ttnn_v_real(value)}};

	if (tt_dtype_is_block(in->spec.dtype))
		args[2].value = ttnn_v_real(0);
	else if (tt_dtype_is_integer(in->spec.dtype))
		args[2].value = ttnn_v_real(value > 0 ? UINT16_MAX : 0);
	for (int i = 0; i < RANK; i++)
		pairs[i] = ttnn_v_list(i + 1 < RANK ? none : last, 2);
	return tt_call_op(out, call, "ttnn.pad", args, TT_COUNT(args));
}

/* ---- running ------------------------------------------------------------------------------------------------ */

/* A scratch tensor of the input's shape with another width. */
static tt_status row_scratch(struct tt_tensor **out, const struct tt_tensor *like, uint64_t width,
			     enum ttnn_dtype dtype)
{
	struct ttnn_shape shape = like->spec.shape;

	shape.dim[shape.rank - 1] = (uint32_t)width;
	return tt_scratch(out, &shape, dtype, TTNN_ROW_MAJOR);
}

/* A result that is narrower than what it goes into. */
static tt_status put(struct tt_tensor *out, struct tt_tensor *part)
{
	TT_TRY(tt_backend_get()->fill(out, 0, TT_FILL_ALL));
	return tt_move_part(out, part, &(struct tt_move_block){.extent = part->spec.shape.dim});
}

/* What the places name, where names were given. */
static tt_status rename_places(struct tt_tensor **places, const struct tt_ordering_job *job,
			       uint64_t count)
{
	struct tt_index_job gather = {.in = job->given,
				      .index = *places,
				      .kind = TT_INDEX_GATHER,
				      .dim = job->in->spec.shape.rank - 1};

	if (!job->given)
		return TTNN_OK;
	TT_TRY(row_scratch(&gather.out, job->in, count, TTNN_UINT32));
	*places = gather.out;
	return tt_backend_get()->index(&gather);
}

/* Floats are sorted in float32; places are numbered as the caller's. */
static tt_status ordering_run(const struct tt_ordering_job *job)
{
	uint32_t rank = job->in->spec.shape.rank;
	uint64_t width = job->in->spec.shape.dim[rank - 1];
	struct tt_sort_job sort = {.in = job->in,
				   .dim = rank - 1,
				   .count = job->count < width ? job->count : width,
				   .descending = job->descending};
	struct tt_tensor *places;

	TT_TRY(row_scratch(&sort.values, job->in, sort.count,
			   tt_dtype_is_integer(job->in->spec.dtype) ? job->in->spec.dtype
								    : TTNN_FLOAT32));
	TT_TRY(row_scratch(&sort.indices, job->in, sort.count, TTNN_UINT32));
	TT_TRY(tt_backend_get()->sort(&sort));
	places = sort.indices;
	TT_TRY(rename_places(&places, job, sort.count));
	TT_TRY(put(job->values, sort.values));
	return put(job->indices, places);
}

/* Only the first `width` elements of a padded row count. */
tt_status tt_ordering_run(const struct tt_ordering_job *job)
{
	struct tt_ordering_job narrower = *job;
	enum ttnn_dtype dtype = job->in->spec.dtype;

	if (job->width == 0 || job->width >= tt_shape_last(&job->in->spec.shape, 1))
		return ordering_run(job);
	TT_TRY(row_scratch(&narrower.in, job->in, job->width,
			   tt_dtype_is_integer(dtype) ? dtype : TTNN_FLOAT32));
	TT_TRY(tt_move_part(narrower.in, job->in,
			    &(struct tt_move_block){.extent = narrower.in->spec.shape.dim}));
	return ordering_run(&narrower);
}

bool tt_ordering_given(struct tt_launch *launch)
{
	return launch->outputs[0] && launch->outputs[1] && tt_infer_given(launch, 0) &&
	       tt_infer_given(launch, 1);
}
