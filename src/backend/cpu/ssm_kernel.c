/* ssm_kernel.c: states of state space models: products, sums and scans over rows of them. */
#include <stdatomic.h>
#include <string.h>

#include "backend/cpu/strips.h"
#include "base/large.h"
#include "base/pool.h"
#include "tensor/shape.h"

#define STRIP_ELEMENTS 16384

struct work {
	const struct tt_states_job *job;
	struct tt_strips strips; /* out, a, b */
	uint64_t width[TT_STRIPS_AREAS], all;
	uint32_t areas;
	_Atomic tt_status status;
};

/* ---- rows ------------------------------------------------------------------------------------------ */

/* An operand as wide as the result, or one of each group: a row of states repeated, or a channel spread. */
static void spread(const struct work *work, float *y, const float *a, const float *b)
{
	uint64_t latent = work->job->latent, width = work->width[0];
	bool repeats = work->width[1] != width, spreads = work->width[2] != width;

	for (uint64_t i = 0; i < width; i += latent)
		for (uint64_t k = 0; k < latent; k++)
			y[i + k] = a[repeats ? k : i + k] * b[spreads ? i / latent : i + k];
}

static void sum(const struct work *work, float *y, const float *a)
{
	uint64_t latent = work->job->latent;

	for (uint64_t i = 0; i < work->width[0]; i++) {
		double total = 0;

		for (uint64_t k = 0; k < latent; k++)
			total += a[i * latent + k];
		y[i] = (float)total;
	}
}

static void run_strips(void *context, size_t begin, size_t end)
{
	struct work *work = context;
	uint64_t tall = work->strips.tall;
	size_t bytes = (size_t)(tall * work->all) * sizeof(float);
	float *rooms = tt_large_alloc(bytes), *y, *b;
	struct tt_strip strip;

	if (!rooms) {
		work->status = TTNN_NOMEM;
		return;
	}
	y = rooms + tall * work->width[1];
	b = y + tall * work->width[0];
	for (uint64_t i = begin; i < end; i++) {
		const float *from[2] = {NULL, NULL};

		tt_strip_get(&strip, &work->strips, i);
		from[0] = tt_part_load(rooms, &strip.part[1], TTNN_FLOAT32);
		if (work->areas == 3)
			from[1] = tt_part_load(b, &strip.part[2], TTNN_FLOAT32);
		for (uint32_t row = 0; row < strip.rows && !tt_strips_stop(work->width[1]); row++) {
			float *to = y + row * work->width[0];

			if (from[1])
				spread(work, to, from[0] + row * work->width[1],
				       from[1] + row * work->width[2]);
			else
				sum(work, to, from[0] + row * work->width[1]);
		}
		tt_part_store(&strip.part[0], y, TTNN_FLOAT32);
	}
	tt_large_free(rooms, bytes);
}

/* ---- the scan -------------------------------------------------------------------------------------- */

struct scan {
	const float *a, *b;
	float *y, *state;
	uint64_t rows, width;
};

/* Some columns, from the first row to the last. */
static void scan_columns(void *context, size_t begin, size_t end)
{
	const struct scan *scan = context;

	for (uint64_t row = 0; row < scan->rows; row++) {
		uint64_t at = row * scan->width;

		for (size_t i = begin; i < end; i++)
			scan->y[at + i] = scan->state[i] =
				scan->a[at + i] * scan->state[i] + scan->b[at + i];
	}
}

/* Strip after strip, since each begins with the state that the one before has left. */
static tt_status scan_rows(struct work *work, const struct tt_area *state)
{
	uint64_t tall = work->strips.tall, width = work->width[0];
	size_t bytes = (size_t)(tall * work->all) * sizeof(float);
	float *rooms = tt_large_alloc(bytes);
	struct tt_strip strip;

	if (!rooms)
		return tt_fail_nomem();
	for (uint64_t i = 0; i < work->strips.count && !tt_strips_stop(width); i++) {
		struct scan scan = {.y = rooms, .state = state->data, .width = width};

		tt_strip_get(&strip, &work->strips, i);
		scan.a = tt_part_load(rooms + tall * width, &strip.part[1], TTNN_FLOAT32);
		scan.b = tt_part_load(rooms + 2 * tall * width, &strip.part[2], TTNN_FLOAT32);
		scan.rows = strip.rows;
		tt_pool_for((size_t)width, 1024, scan_columns, &scan);
		tt_part_store(&strip.part[0], scan.y, TTNN_FLOAT32);
	}
	tt_large_free(rooms, bytes);
	return TTNN_OK;
}

/* The state is the first row of its tensor's elements, whatever their shape. */
static tt_status scan_from(struct work *work, const struct tt_area *state)
{
	struct tt_scratch scratch = {0};
	tt_status status = tt_scratch_init(&scratch, &state->shape, TTNN_FLOAT32, NULL);

	if (status == TTNN_OK)
		status = tt_cpu_copy(&scratch.area, state);
	if (status == TTNN_OK)
		status = scan_rows(work, &scratch.area);
	if (status == TTNN_OK)
		status = tt_cpu_copy(state, &scratch.area);
	tt_scratch_deinit(&scratch);
	return status;
}

/* ---- the job --------------------------------------------------------------------------------------- */

static tt_status open_all(struct work *work, struct tt_session *session)
{
	const struct tt_states_job *job = work->job;
	struct tt_area area[TT_STRIPS_AREAS], state;
	const struct tt_area *areas[TT_STRIPS_AREAS] = {&area[0], &area[1], NULL};

	TT_TRY(tt_session_read(&area[1], session, job->a));
	if (job->b) {
		TT_TRY(tt_session_read(&area[2], session, job->b));
		areas[2] = &area[2];
	}
	TT_TRY(tt_session_write(&area[0], session, job->out, false));
	if (job->state)
		TT_TRY(tt_session_write(&state, session, job->state, true));
	/* What pads an operand is taken as it is on the chip. */
	for (uint32_t k = 1; k < work->areas; k++) {
		const struct ttnn_shape *padded = &(k == 1 ? job->a : job->b)->spec.padded;

		area[k].shape.dim[2] = area[0].shape.dim[2];
		area[k].shape.dim[3] =
			job->kind == TT_STATES_SCAN ? area[0].shape.dim[3] : padded->dim[3];
	}
	for (uint32_t k = 0; k < work->areas; k++) {
		work->width[k] = tt_shape_last(&area[k].shape, 1);
		work->all += work->width[k];
	}
	tt_strips_init(&work->strips, areas, STRIP_ELEMENTS);
	if (job->kind == TT_STATES_SCAN)
		return scan_from(work, &state);
	tt_pool_for((size_t)work->strips.count, 1, run_strips, work);
	return work->status == TTNN_OK ? TTNN_OK : tt_fail_nomem();
}

tt_status tt_cpu_states(const struct tt_states_job *job)
{
	struct work work = {.job = job, .areas = job->b ? 3 : 2};
	struct tt_session session = {0};
	uint64_t volume;

	TT_TRY(tt_cpu_volume(&volume, job->out));
	if (volume == 0)
		return TTNN_OK;
	return tt_session_end(&session, open_all(&work, &session));
}
