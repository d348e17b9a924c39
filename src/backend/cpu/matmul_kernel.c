/* matmul_kernel.c: products of matrices, batch by batch. */
#include <stdatomic.h>
#include <string.h>

#include "backend/cpu/finish.h"
#include "backend/cpu/gemm.h"
#include "backend/cpu/weights.h"
#include "base/large.h"
#include "base/pool.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#define SMALL_PRODUCTS ((uint64_t)1 << 20) /* that are not worth another thread */
#define MANY_BATCHES 4

/* One side, as dense rows. */
struct side {
	struct tt_area rows;
	struct tt_scratch scratch;
	uint32_t height, width;       /* of a matrix as it lies */
	uint64_t step[TTNN_MAX_RANK]; /* matrices from one index of the batch to the next */
	uint64_t count;               /* of matrices */
	bool transposed;
};

struct work {
	const struct tt_matmul_job *job;
	struct side a, b;
	struct ttnn_shape batch; /* broadcast */
	uint64_t batches, rows, depth, cols;
	uint64_t live;              /* rows of each A that are multiplied */
	struct tt_weights *weights; /* of the only right side; or NULL */
	struct tt_panels panels;    /* of those */
	float *c;
	_Atomic tt_status status;
};

/* ---- shapes ------------------------------------------------------------------------------------ */

/* The extent of batch dimension d of `rank`, for a side that may have fewer. */
static uint32_t batch_extent(const struct ttnn_shape *shape, uint32_t rank, uint32_t d)
{
	return tt_shape_last(shape, rank - d + 2);
}

static tt_status set_batch(struct work *work, const struct ttnn_shape *a,
			   const struct ttnn_shape *b)
{
	uint32_t rank = a->rank > b->rank ? a->rank : b->rank;

	work->batches = 1;
	work->batch.rank = rank > 2 ? rank - 2 : 0;
	for (uint32_t d = work->batch.rank; d-- > 0;) {
		uint32_t x = batch_extent(a, work->batch.rank, d);
		uint32_t y = batch_extent(b, work->batch.rank, d);

		if (x != y && x != 1 && y != 1)
			return tt_fail(TTNN_INTERNAL, "batches of %u and %u matrices", x, y);
		work->batch.dim[d] = x == 1 ? y : x;
		work->a.step[d] = x == 1 ? 0 : work->a.count;
		work->b.step[d] = y == 1 ? 0 : work->b.count;
		work->a.count *= x;
		work->b.count *= y;
		if (__builtin_mul_overflow(work->batches, work->batch.dim[d], &work->batches))
			return tt_fail_nomem();
	}
	return TTNN_OK;
}

static tt_status set_shapes(struct work *work)
{
	const struct tt_matmul_job *job = work->job;
	const struct ttnn_shape *a = &job->a->spec.shape, *b = &job->b->spec.shape;
	const struct ttnn_shape *out = &job->out->spec.shape;
	const struct ttnn_shape *bias = job->bias ? &job->bias->spec.shape : NULL;
	uint64_t out_rows;

	work->a = (struct side){.height = tt_shape_last(a, 2), .width = tt_shape_last(a, 1)};
	work->b = (struct side){.height = tt_shape_last(b, 2), .width = tt_shape_last(b, 1)};
	work->a.transposed = job->transpose_a;
	work->b.transposed = job->transpose_b;
	work->a.count = work->b.count = 1;
	TT_TRY(set_batch(work, a, b));
	work->rows = job->transpose_a ? work->a.width : work->a.height;
	work->depth = job->transpose_a ? work->a.height : work->a.width;
	work->cols = job->transpose_b ? work->b.height : work->b.width;
	if (work->depth != (job->transpose_b ? work->b.width : work->b.height))
		return tt_fail(TTNN_INTERNAL, "a matrix of %llu columns times one of other rows",
			       (unsigned long long)work->depth);
	TT_TRY(tt_shape_rows(&out_rows, out));
	if (out_rows != work->batches * work->rows || tt_shape_last(out, 1) != work->cols)
		return tt_fail(TTNN_INTERNAL, "the product has another shape than the output");
	for (uint32_t back = 1; bias && back <= bias->rank; back++)
		if (tt_shape_last(bias, back) != 1 &&
		    (back > out->rank || tt_shape_last(bias, back) != tt_shape_last(out, back)))
			return tt_fail(TTNN_INTERNAL, "the bias cannot be broadcast");
	return TTNN_OK;
}

/* All batches of A are rows of one matrix when they go with the same B. */
static void fold(struct work *work)
{
	if (work->b.count != 1 || work->a.transposed || work->a.count != work->batches)
		return;
	work->rows *= work->batches;
	work->batches = 1;
	work->batch.rank = 0;
}

/* ---- one product ------------------------------------------------------------------------------- */

/* What is kept of a tensor: bfloat16 when that holds all its values. */
static enum ttnn_dtype kept_dtype(enum ttnn_dtype dtype)
{
	bool half = tt_dtype_is_block(dtype) || dtype == TTNN_BFLOAT16 || dtype == TTNN_FP8_E4M3;

	return half ? TTNN_BFLOAT16 : TTNN_FLOAT32;
}

/* Matrix number n of a side, as the product sees it. */
static struct tt_matrix matrix_of(const struct side *side, uint64_t n)
{
	struct tt_matrix matrix = {
		.data = (uint8_t *)side->rows.data +
			n * side->height * side->width * tt_dtype_bytes(side->rows.dtype),
		.half = side->rows.dtype == TTNN_BFLOAT16,
		.row_step = side->transposed ? 1 : side->width,
		.col_step = side->transposed ? side->width : 1,
	};

	return matrix;
}

/* The number of the side's matrix that goes with batch n. */
static uint64_t number_of(const struct side *side, const struct ttnn_shape *batch, uint64_t n)
{
	uint64_t number = 0;

	for (uint32_t d = batch->rank; d-- > 0;) {
		number += n % batch->dim[d] * side->step[d];
		n /= batch->dim[d];
	}
	return number;
}

static tt_status multiply(const struct work *work, uint64_t batch, const struct tt_panels *panels)
{
	struct tt_matrix a = matrix_of(&work->a, number_of(&work->a, &work->batch, batch));

	return tt_gemm_run(&(struct tt_gemm){
		.left = tt_gemm_left,
		.context = &a,
		.rows = (size_t)work->live,
		.right = panels,
		.c = work->c + batch * work->rows * work->cols,
		.step = (size_t)work->cols,
	});
}

/* ---- all products ------------------------------------------------------------------------------ */

/* Of any matrix of the right side; for tt_panels_release(). */
static struct tt_panels panels_of(const struct work *work)
{
	struct tt_panels panels = {
		.fns = tt_gemm_fns_get(),
		.rows = (size_t)work->depth,
		.cols = (size_t)work->cols,
		.half = kept_dtype(work->job->b->spec.dtype) == TTNN_BFLOAT16,
	};
	bool half = kept_dtype(work->job->a->spec.dtype) == TTNN_BFLOAT16;

	tt_panels_choose(&panels,
			 &(struct tt_gemm_left){(size_t)work->live, half, (size_t)work->cols});
	return panels;
}

static void multiply_batches(void *context, size_t begin, size_t end)
{
	struct work *work = context;
	struct tt_panels panels = panels_of(work);
	size_t bytes = tt_panels_bytes(&panels);
	uint64_t packed = UINT64_MAX;
	tt_status status = TTNN_OK;

	panels.data = bytes == SIZE_MAX ? NULL : tt_large_alloc(bytes);
	if (!panels.data)
		status = TTNN_NOMEM;
	for (uint64_t n = begin; n < end && status == TTNN_OK; n++) {
		uint64_t number = number_of(&work->b, &work->batch, n);

		if (number != packed) {
			struct tt_matrix b = matrix_of(&work->b, number);

			status = tt_panels_pack(&panels, &b);
			packed = number;
		}
		if (status == TTNN_OK)
			status = multiply(work, n, &panels);
	}
	if (status != TTNN_OK)
		work->status = status;
	tt_large_free(panels.data, bytes);
	tt_panels_release(&panels);
}

static tt_status run(struct work *work)
{
	uint64_t products = work->rows * work->cols * work->depth;
	size_t grain = (size_t)work->batches;

	if (work->weights) {
		tt_status status = TTNN_OK;

		if (work->live < work->rows)
			memset(work->c + work->live * work->cols, 0,
			       (size_t)((work->rows - work->live) * work->cols) * sizeof(float));
		for (uint64_t n = 0; status == TTNN_OK && n < work->batches; n++)
			status = multiply(work, n, &work->panels);
		return status;
	}
	if (work->batches >= MANY_BATCHES)
		grain = products < SMALL_PRODUCTS ? (size_t)(SMALL_PRODUCTS / (products + 1)) : 1;
	tt_pool_for((size_t)work->batches, grain, multiply_batches, work);
	return work->status == TTNN_OK ? TTNN_OK : tt_fail_nomem();
}

/* ---- the job ------------------------------------------------------------------------------------ */

struct scaling {
	float *numbers, by;
};

static void scale_numbers(void *context, size_t begin, size_t end)
{
	const struct scaling *scaling = context;

	for (size_t i = begin; i < end; i++)
		scaling->numbers[i] *= scaling->by;
}

/* Float32 rows of the bias, times beta. */
static tt_status read_bias(struct tt_finish *finish, struct tt_scratch *scratch,
			   const struct tt_matmul_job *job, const struct tt_area *bias)
{
	uint64_t volume;

	TT_TRY(tt_scratch_init(scratch, &bias->shape, TTNN_FLOAT32, NULL));
	finish->bias = scratch->area;
	TT_TRY(tt_cpu_copy(&finish->bias, bias));
	TT_TRY(ttnn_shape_volume(&volume, &bias->shape));
	if (job->beta != 1)
		tt_pool_for((size_t)volume, TT_CPU_GRAIN, scale_numbers,
			    &(struct scaling){finish->bias.data, (float)job->beta});
	return TTNN_OK;
}

static tt_status matmul_run(struct work *work, const struct tt_area *out,
			    const struct tt_area *bias, struct tt_scratch scratch[2])
{
	const struct tt_matmul_job *job = work->job;
	struct tt_finish finish = {
		.scale = job->alpha, .post = job->post, .post_count = job->post_count};

	TT_TRY(tt_finish_room(
		&work->c, &scratch[0], out,
		(const struct tt_area *const[]){&work->a.rows, &work->b.rows, bias, NULL}));
	if (bias)
		TT_TRY(read_bias(&finish, &scratch[1], job, bias));
	TT_TRY(run(work));
	return tt_finish_rows(out, work->c, &finish);
}

/*
 * Rows of A down to the last that is not all zeros, but one at least: a step of a language model has
 * a tile of rows, of which those of its users are filled.
 */
static uint64_t live_rows(const struct work *work)
{
	size_t bytes = (size_t)work->depth * tt_dtype_bytes(work->a.rows.dtype);
	uint64_t live = work->rows;

	if (work->batches != 1 || work->a.transposed || bytes == 0)
		return live;
	for (const uint8_t *row; live > 1; live--) {
		row = (const uint8_t *)work->a.rows.data + (live - 1) * bytes;
		if (row[0] != 0 || memcmp(row, row + 1, bytes - 1) != 0)
			break;
	}
	return live;
}

/* The only matrix of the right side is packed here, or was before. */
static tt_status open_packed(struct work *work, struct tt_weights_key *key)
{
	struct tt_matrix matrix;

	work->panels = panels_of(work);
	key->how[2] = work->panels.plan != NULL;
	work->weights = tt_weights_find(key);
	if (!work->weights) {
		TT_TRY(tt_cpu_rows(&work->b.rows, &work->b.scratch, &key->area,
				   kept_dtype(key->area.dtype)));
		TT_TRY(tt_weights_new(&work->weights, key, tt_panels_bytes(&work->panels)));
		matrix = matrix_of(&work->b, 0);
		work->panels.data = work->weights->data;
		TT_TRY(tt_panels_pack(&work->panels, &matrix));
		tt_weights_keep(work->weights);
	}
	work->panels.data = work->weights->data;
	return TTNN_OK;
}

/* Rows of zeros are left out, unless they meet numbers with which they are not zero. */
static tt_status open_weights(struct work *work, struct tt_weights_key *key)
{
	work->live = live_rows(work);
	TT_TRY(open_packed(work, key));
	if (work->live == work->rows || tt_weights_finite(work->weights, work->panels.half))
		return TTNN_OK;
	tt_weights_release(work->weights);
	tt_panels_release(&work->panels);
	tt_scratch_deinit(&work->b.scratch);
	work->b.rows = key->area;
	work->weights = NULL;
	work->live = work->rows;
	return open_packed(work, key);
}

static tt_status open_right(struct work *work, struct tt_session *session)
{
	uint32_t before = session->count;
	struct tt_weights_key key = {.how = {TT_WEIGHTS_MATMUL, work->b.transposed},
				     .fns = tt_gemm_fns_get()};

	TT_TRY(tt_session_read(&key.area, session, work->job->b));
	key.storage = session->count > before ? session->held[before] : NULL;
	work->b.rows = key.area;
	if (work->b.count == 1)
		return open_weights(work, &key);
	return tt_cpu_rows(&work->b.rows, &work->b.scratch, &key.area, kept_dtype(key.area.dtype));
}

static tt_status matmul_open(struct work *work, struct tt_session *session)
{
	const struct tt_matmul_job *job = work->job;
	struct tt_area a, bias, out;
	struct tt_scratch scratch[2] = {0};
	tt_status status;

	TT_TRY(tt_session_read(&a, session, job->a));
	status = tt_cpu_rows(&work->a.rows, &work->a.scratch, &a, kept_dtype(a.dtype));
	if (status == TTNN_OK)
		status = open_right(work, session);
	if (status == TTNN_OK && job->bias)
		status = tt_session_read(&bias, session, job->bias);
	if (status == TTNN_OK)
		status = tt_session_write(&out, session, job->out, false);
	if (status == TTNN_OK)
		status = matmul_run(work, &out, job->bias ? &bias : NULL, scratch);
	tt_scratch_deinit(&work->a.scratch);
	tt_scratch_deinit(&work->b.scratch);
	tt_scratch_deinit(&scratch[0]);
	tt_scratch_deinit(&scratch[1]);
	tt_weights_release(work->weights);
	tt_panels_release(&work->panels);
	return status;
}

tt_status tt_cpu_matmul(const struct tt_matmul_job *job)
{
	struct work work = {.job = job};
	struct tt_session session = {0};
	uint64_t volume;

	TT_TRY(set_shapes(&work));
	fold(&work);
	work.live = work.rows;
	TT_TRY(tt_finish_check(job->post, job->post_count));
	TT_TRY(tt_cpu_volume(&volume, job->out));
	if (volume == 0)
		return TTNN_OK;
	return tt_session_end(&session, matmul_open(&work, &session));
}
