/* reduce_kernel.c: sums, means, maxima, minima, products and variances over any dimensions. */
#include "backend/cpu/reduce_kernel.h"

#include <math.h>

#include "backend/cpu/lane.h"
#include "base/large.h"
#include "base/pool.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

/* ---- parts ------------------------------------------------------------------------------------ */

struct tt_partial tt_reduce_nothing(const struct tt_reduce *reduce)
{
	struct tt_partial nothing = {0};

	if (reduce->whole)
		nothing.value.whole = tt_sum_neutral_int(reduce->sum);
	else if (!reduce->spread)
		nothing.value.real = tt_sum_neutral(reduce->sum);
	return nothing;
}

void tt_reduce_combine(struct tt_partial *into, const struct tt_partial *part,
		       const struct tt_reduce *reduce)
{
	double count = into->count + part->count, apart;

	if (reduce->whole) {
		into->value.whole =
			tt_sum_two_int(reduce->sum, into->value.whole, part->value.whole);
	} else if (!reduce->spread) {
		into->value.real = tt_sum_two(reduce->sum, into->value.real, part->value.real);
	} else if (part->count > 0) {
		apart = part->value.real - into->value.real;
		into->squares += part->squares + apart * apart * into->count * part->count / count;
		into->value.real += apart * part->count / count;
	}
	into->count = count;
}

/* ---- preparing -------------------------------------------------------------------------------- */

static enum tt_sum sum_of(enum tt_reduce_kind kind)
{
	switch (kind) {
	case TT_REDUCE_MAX:
		return TT_SUM_MAX;
	case TT_REDUCE_MIN:
		return TT_SUM_MIN;
	case TT_REDUCE_PROD:
		return TT_SUM_MUL;
	default:
		return TT_SUM_ADD;
	}
}

/* Dense rows: neighbouring dimensions that go, or stay, together are one. */
static void merge_dims(struct tt_reduce *reduce, const struct tt_area *in, uint32_t dims)
{
	struct ttnn_shape shape = {0};

	for (uint32_t d = 0; d < in->shape.rank; d++) {
		bool goes = dims >> d & 1;

		if (in->shape.dim[d] == 1)
			continue;
		if (shape.rank && tt_reduce_goes(reduce, shape.rank - 1) == goes &&
		    (uint64_t)shape.dim[shape.rank - 1] * in->shape.dim[d] <= UINT32_MAX) {
			shape.dim[shape.rank - 1] *= in->shape.dim[d];
			continue;
		}
		reduce->dims |= (uint32_t)goes << shape.rank;
		shape.dim[shape.rank++] = in->shape.dim[d];
	}
	if (!shape.rank) {
		shape = TT_SHAPE(1);
		reduce->dims = 1;
	}
	reduce->in = tt_area_rows(in->data, &shape, in->dtype);
}

static void set_shape(struct tt_reduce *reduce, const struct tt_area *in, uint32_t dims)
{
	if (tt_area_is_dense(in)) {
		merge_dims(reduce, in, dims);
	} else {
		reduce->in = *in;
		reduce->dims = dims;
		if (!in->shape.rank)
			reduce->in.shape = TT_SHAPE(1);
	}
	reduce->out_count = 1;
	for (uint32_t d = 0; d < reduce->in.shape.rank; d++)
		if (!tt_reduce_goes(reduce, d))
			reduce->out_count *= reduce->in.shape.dim[d];
}

/* ---- finishing -------------------------------------------------------------------------------- */

struct finish {
	const struct tt_reduce *reduce;
	const struct tt_reduce_job *job;
	double count;        /* numbers that came to one result */
	struct tt_area rows; /* dense: the output or a scratch */
};

static double finish_real(const struct finish *finish, uint64_t i)
{
	const struct tt_reduce *reduce = finish->reduce;
	double value = reduce->cells[i].real;

	if (reduce->spread) {
		value = reduce->squares[i] / fmax(0, finish->count - finish->job->correction);
		value = finish->job->kind == TT_REDUCE_STD ? sqrt(value) : value;
	} else if (finish->job->kind == TT_REDUCE_MEAN) {
		value /= finish->count;
	}
	return value * finish->job->scale;
}

static void finish_piece(const struct finish *finish, uint64_t from, size_t count)
{
	const struct tt_reduce *reduce = finish->reduce;
	const struct tt_lane_kind kind = tt_lane_kind(true);
	uint8_t *to = (uint8_t *)finish->rows.data + from * tt_dtype_bytes(finish->rows.dtype);
	double reals[TT_CPU_PIECE];
	int64_t wholes[TT_CPU_PIECE];

	if (!reduce->whole) {
		for (size_t i = 0; i < count; i++)
			reals[i] = finish_real(finish, from + i);
		(void)tt_convert_from_f64(to, finish->rows.dtype, reals, count);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		wholes[i] = reduce->cells[from + i].whole;
		if (finish->job->scale != 1)
			wholes[i] = tt_whole((double)wholes[i] * finish->job->scale);
	}
	tt_lanes_store(&kind, to, finish->rows.dtype, wholes, count);
}

static void finish_pieces(void *context, size_t begin, size_t end)
{
	for (size_t from = begin; from < end; from += TT_CPU_PIECE)
		finish_piece(context, from, end - from < TT_CPU_PIECE ? end - from : TT_CPU_PIECE);
}

static tt_status finish(const struct tt_reduce *reduce, const struct tt_reduce_job *job,
			const struct tt_area *out, double count)
{
	struct finish finish = {reduce, job, count, *out};
	struct tt_scratch scratch = {0};
	tt_status status = TTNN_OK;

	if (!tt_area_is_dense(out)) {
		TT_TRY(tt_scratch_init(&scratch, &out->shape,
				       tt_dtype_is_block(out->dtype) ? TTNN_FLOAT32 : out->dtype,
				       NULL));
		finish.rows = scratch.area;
	}
	tt_pool_for((size_t)reduce->out_count, TT_CPU_GRAIN, finish_pieces, &finish);
	if (scratch.block)
		status = tt_cpu_copy(out, &scratch.area);
	tt_scratch_deinit(&scratch);
	return status;
}

/* ---- jobs ------------------------------------------------------------------------------------- */

/* Nothing to combine: every result is what no numbers come to. */
static void fill_nothing(struct tt_reduce *reduce)
{
	struct tt_partial nothing = tt_reduce_nothing(reduce);

	for (uint64_t i = 0; i < reduce->out_count; i++) {
		reduce->cells[i] = nothing.value;
		if (reduce->spread)
			reduce->squares[i] = 0;
	}
}

static tt_status run(struct tt_reduce *reduce, const struct tt_reduce_job *job,
		     const struct tt_area *out, uint64_t in_count)
{
	size_t bytes = (size_t)reduce->out_count * sizeof(union tt_cell);
	tt_status status = TTNN_OK;

	reduce->cells = tt_large_alloc(bytes);
	reduce->squares = reduce->spread ? tt_large_alloc(bytes) : NULL;
	if (!reduce->cells || (reduce->spread && !reduce->squares))
		status = tt_fail_nomem();
	else if (in_count == 0)
		fill_nothing(reduce);
	else if (tt_reduce_goes(reduce, reduce->in.shape.rank - 1))
		status = tt_reduce_rows(reduce);
	else
		status = tt_reduce_columns(reduce);
	if (status == TTNN_OK)
		status = finish(reduce, job, out, (double)in_count / (double)reduce->out_count);
	tt_large_free(reduce->cells, bytes);
	tt_large_free(reduce->squares, bytes);
	return status;
}

static tt_status reduce_open(const struct tt_reduce_job *job, struct tt_session *session)
{
	struct tt_reduce reduce = {
		.sum = sum_of(job->kind),
		.spread = job->kind == TT_REDUCE_VAR || job->kind == TT_REDUCE_STD,
		.fns = tt_sums_get(),
		.int_fns = tt_int_fns_get(),
	};
	struct tt_area in, out;
	uint64_t in_count, out_count;

	reduce.whole = tt_dtype_is_integer(job->in->spec.dtype) && !reduce.spread &&
		       job->kind != TT_REDUCE_MEAN;
	TT_TRY(tt_cpu_volume(&in_count, job->in));
	TT_TRY(tt_cpu_volume(&out_count, job->out));
	if (out_count == 0)
		return TTNN_OK;
	TT_TRY(tt_session_read(&in, session, job->in));
	TT_TRY(tt_session_write(&out, session, job->out, false));
	set_shape(&reduce, &in, job->dims);
	if (reduce.out_count != out_count)
		return tt_fail(TTNN_INTERNAL, "a reduction gives %llu elements, not %llu",
			       (unsigned long long)reduce.out_count, (unsigned long long)out_count);
	return run(&reduce, job, &out, in_count);
}

tt_status tt_cpu_reduce(const struct tt_reduce_job *job)
{
	struct tt_session session = {0};

	return tt_session_end(&session, reduce_open(job, &session));
}
