/* rotary_kernel.c: rows turned by angles, for positions in attention. */
#include <stdatomic.h>
#include <string.h>

#include "backend/cpu/strips.h"
#include "backend/cpu/sums.h"
#include "base/large.h"
#include "base/pool.h"
#include "tensor/shape.h"

#define STRIP_ELEMENTS 16384

/* Dense float32 rows that are broadcast: elements from one index of x to the next. */
struct angles {
	struct tt_scratch scratch;
	const float *data;
	uint64_t step[TTNN_MAX_RANK];
};

struct work {
	const struct tt_rotary_job *job;
	const struct tt_sums *fns;
	struct tt_strips strips; /* out, in */
	uint64_t width;
	struct angles cos, sin;
	const float *matrix;
	uint32_t side; /* of the matrix */
	struct tt_scratch scratch;
	_Atomic tt_status status;
};

/* A build with this flag forgets a half of the turn: sweeps are to find that (tests/master/test_sweep.sh). */
#ifdef TT_BROKEN_KERNEL
#define TRANSPOSED(part) NULL
#else
#define TRANSPOSED(part) (part)
#endif

/* ---- rows -------------------------------------------------------------------------------------- */

static void turn(const struct work *work, float *to, const float *x)
{
	size_t width = (size_t)work->width, half = width / 2;

	switch (work->job->kind) {
	case TT_ROTARY_HALVES:
		for (size_t i = 0; i < half; i++)
			to[i] = -x[i + half];
		memcpy(to + half, x, half * sizeof(float));
		break;
	case TT_ROTARY_PAIRS:
		for (size_t i = 0; i + 1 < width; i += 2) {
			to[i] = -x[i + 1];
			to[i + 1] = x[i];
		}
		break;
	case TT_ROTARY_MATRIX:
		for (size_t j = 0; j < width; j++) {
			size_t from = j / work->side * work->side, column = j % work->side;
			double sum = 0;

			for (size_t i = 0; i < work->side; i++)
				sum += (double)x[from + i] * work->matrix[i * work->side + column];
			to[j] = (float)sum;
		}
		break;
	}
}

static const float *angles_of(const struct work *work, const struct angles *angles, uint64_t row)
{
	const struct ttnn_shape *shape = &work->strips.area[0].shape;
	const float *at = angles->data;

	for (uint32_t back = 2; back <= shape->rank; back++) {
		uint32_t d = shape->rank - back;

		at += row % shape->dim[d] * angles->step[d];
		row /= shape->dim[d];
	}
	return at;
}

static void run_strips(void *context, size_t begin, size_t end)
{
	struct work *work = context;
	size_t width = (size_t)work->width, bytes;
	struct tt_strip strip;
	float *rooms, *transposed, *y;

	bytes = (2 * (size_t)work->strips.tall + 1) * width * sizeof(float);
	rooms = tt_large_alloc(bytes);
	if (!rooms) {
		work->status = TTNN_NOMEM;
		return;
	}
	transposed = rooms + work->strips.tall * width;
	y = transposed + width;
	for (uint64_t i = begin; i < end; i++) {
		const float *x;

		tt_strip_get(&strip, &work->strips, i);
		x = tt_part_load(rooms, &strip.part[1], TTNN_FLOAT32);
		for (uint32_t row = 0; row < strip.rows; row++) {
			uint64_t number = strip.first + row;

			turn(work, transposed, x + row * width);
			work->fns->gain(transposed, transposed, width,
					angles_of(work, &work->sin, number), NULL);
			work->fns->gain(y + row * width, x + row * width, width,
					angles_of(work, &work->cos, number),
					TRANSPOSED(transposed));
		}
		tt_part_store(&strip.part[0], y, TTNN_FLOAT32);
	}
	tt_large_free(rooms, bytes);
}

/* ---- the job ------------------------------------------------------------------------------------ */

static tt_status check_angles(const struct tt_rotary_job *job, const struct ttnn_shape *shape)
{
	const struct ttnn_shape *in = &job->in->spec.shape;
	uint64_t rows = tt_shape_last(shape, 2);
	uint64_t needed = job->start + (job->same_row ? 1 : (uint64_t)tt_shape_last(in, 2));
	bool fits = tt_shape_last(shape, 1) == tt_shape_last(in, 1) &&
		    (rows >= needed || (rows == 1 && !job->same_row));

	for (uint32_t back = 3; back <= shape->rank; back++)
		fits = fits && (tt_shape_last(shape, back) == 1 ||
				tt_shape_last(shape, back) == tt_shape_last(in, back));
	return fits ? TTNN_OK : tt_fail(TTNN_INTERNAL, "angles that do not fit the rows");
}

static tt_status check(const struct tt_rotary_job *job)
{
	const struct ttnn_shape *in = &job->in->spec.shape;
	uint32_t width = tt_shape_last(in, 1);
	uint32_t side = job->matrix ? tt_shape_last(&job->matrix->spec.shape, 1) : 2;

	if (!ttnn_shape_equal(in, &job->out->spec.shape) || side == 0 || width % side ||
	    (job->kind == TT_ROTARY_MATRIX &&
	     (!job->matrix || tt_shape_last(&job->matrix->spec.shape, 2) != side)))
		return tt_fail(TTNN_INTERNAL, "rows of %u elements cannot be turned", width);
	TT_TRY(check_angles(job, &job->cos->spec.shape));
	return check_angles(job, &job->sin->spec.shape);
}

static tt_status open_angles(struct angles *out, const struct work *work,
			     struct tt_session *session, const struct tt_tensor *tensor)
{
	const struct ttnn_shape *shape = &tensor->spec.shape, *in = &work->job->in->spec.shape;
	uint64_t step = tt_shape_last(shape, 1);
	struct tt_area area, rows;

	TT_TRY(tt_session_read(&area, session, tensor));
	TT_TRY(tt_cpu_rows(&rows, &out->scratch, &area, TTNN_FLOAT32));
	out->data = rows.data;
	if (tt_shape_last(shape, 2) > 1 || work->job->same_row)
		out->data += work->job->start * step;
	for (uint32_t back = 2; back <= in->rank; back++) {
		uint32_t extent = tt_shape_last(shape, back);

		out->step[in->rank - back] =
			extent == 1 || (back == 2 && work->job->same_row) ? 0 : step;
		step *= extent;
	}
	return TTNN_OK;
}

static tt_status rotary_run(struct work *work, struct tt_session *session)
{
	const struct tt_rotary_job *job = work->job;
	struct tt_area in, out, matrix, rows;
	uint64_t elements;

	TT_TRY(tt_session_read(&in, session, job->in));
	TT_TRY(open_angles(&work->cos, work, session, job->cos));
	TT_TRY(open_angles(&work->sin, work, session, job->sin));
	if (job->kind == TT_ROTARY_MATRIX) {
		TT_TRY(tt_session_read(&matrix, session, job->matrix));
		TT_TRY(tt_cpu_rows(&rows, &work->scratch, &matrix, TTNN_FLOAT32));
		work->matrix = rows.data;
		work->side = tt_shape_last(&rows.shape, 1);
	}
	TT_TRY(tt_session_write(&out, session, job->out, false));
	work->width = tt_shape_last(&in.shape, 1);
	tt_strips_init(&work->strips, (const struct tt_area *const[]){&out, &in, NULL},
		       STRIP_ELEMENTS);
	elements = work->strips.tall * work->width;
	tt_pool_for((size_t)work->strips.count,
		    elements < TT_CPU_GRAIN ? (size_t)(TT_CPU_GRAIN / (elements + 1)) : 1,
		    run_strips, work);
	return work->status == TTNN_OK ? TTNN_OK : tt_fail_nomem();
}

tt_status tt_cpu_rotary(const struct tt_rotary_job *job)
{
	struct work work = {.job = job, .fns = tt_sums_get()};
	struct tt_session session = {0};
	uint64_t volume;
	tt_status status;

	TT_TRY(check(job));
	TT_TRY(tt_cpu_volume(&volume, job->in));
	if (volume == 0)
		return TTNN_OK;
	status = rotary_run(&work, &session);
	tt_scratch_deinit(&work.cos.scratch);
	tt_scratch_deinit(&work.sin.scratch);
	tt_scratch_deinit(&work.scratch);
	return tt_session_end(&session, status);
}
