/* norm_kernel.c: normalisation of rows, of groups of channels, and with statistics that are given. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "backend/cpu/finish.h"
#include "backend/cpu/strips.h"
#include "backend/cpu/sums.h"
#include "base/large.h"
#include "base/pool.h"
#include "tensor/shape.h"
#include "tensor/tile.h"

#define STRIP_ELEMENTS 16384
#define GROUP_COLUMNS 64 /* that one task looks at */
#define LOOK 1024        /* rows of them between two looks at the deadline */

/* Tensors that hold one number for each channel. */
enum { GAMMA, BETA, MEAN, VARIANCE, VECTORS };

struct work {
	const struct tt_norm_job *job;
	const struct tt_sums *fns;
	struct tt_strips strips; /* out, in, residual */
	uint64_t width;
	const float *vector[VECTORS]; /* NULL: none */
	/* GROUP: for each batch and channel. */
	const float *x;        /* dense rows of all batches */
	uint64_t rows;         /* of a batch */
	double *mean, *square; /* then the group's mean, and what to multiply with */
	_Atomic tt_status status;
};

/* ---- strips ------------------------------------------------------------------------------------ */

struct rooms {
	float *x, *residual, *y;
};

/* The next ones make one row of the output from one of the input; they may be the same. */

static void gain_row(const struct work *work, float *y)
{
	const float *gamma = work->vector[GAMMA], *beta = work->vector[BETA];

	if (gamma)
		work->fns->gain(y, y, (size_t)work->width, gamma, beta);
	else if (beta)
		work->fns->bias(y, y, beta, (size_t)work->width, 1);
}

static void layer_row(const struct work *work, float *y, const float *x)
{
	size_t width = (size_t)work->width;
	double mean = 0, square;

	if (work->job->kind == TT_NORM_LAYER)
		mean = work->fns->row[TT_SUM_ADD](x, width) / (double)width;
	square = work->fns->squares(x, width, mean) / (double)width;
	work->fns->center(y, x, width, mean, (float)(1 / sqrt(square + work->job->epsilon)));
	gain_row(work, y);
}

/* The statistics of its batch and group lie ready, channel by channel. */
static void group_row(const struct work *work, float *y, const float *x, uint64_t row)
{
	const double *mean = work->mean + row / work->rows * work->width;
	const double *scale = work->square + row / work->rows * work->width;
	uint64_t per = work->width / work->job->groups;

	for (uint64_t c = 0; c < work->width; c += per)
		work->fns->center(y + c, x + c, (size_t)per, mean[c], (float)scale[c]);
	gain_row(work, y);
}

static void batch_row(const struct work *work, float *y, const float *x, uint64_t row)
{
	const struct ttnn_shape *shape = &work->strips.area[0].shape;
	const float *gamma = work->vector[GAMMA], *beta = work->vector[BETA];
	uint64_t inner = 1, c;
	double scale;

	for (uint32_t d = 2; d + 1 < shape->rank; d++)
		inner *= shape->dim[d];
	c = row / inner % shape->dim[1];
	scale = 1 / sqrt((double)work->vector[VARIANCE][c] + work->job->epsilon);
	work->fns->center(y, x, (size_t)work->width, work->vector[MEAN][c],
			  (float)(gamma ? scale * gamma[c] : scale));
	if (beta)
		work->fns->line(y, y, (size_t)work->width, 1, beta[c]);
}

/* [batch, channels]: the channels are the columns. */
static void batch_columns(const struct work *work, float *y, const float *x)
{
	for (uint64_t c = 0; c < work->width; c++) {
		double scale = 1 / sqrt((double)work->vector[VARIANCE][c] + work->job->epsilon);

		y[c] = (float)((x[c] - work->vector[MEAN][c]) * scale);
	}
	gain_row(work, y);
}

static void normalise(const struct work *work, float *y, const float *x, uint64_t row)
{
	switch (work->job->kind) {
	case TT_NORM_GROUP:
		group_row(work, y, x, row);
		break;
	case TT_NORM_BATCH:
		if (work->strips.area[0].shape.rank == 2)
			batch_columns(work, y, x);
		else
			batch_row(work, y, x, row);
		break;
	default:
		layer_row(work, y, x);
	}
}

static void run_strip(const struct work *work, const struct tt_strip *strip, struct rooms rooms)
{
	const float *x = tt_part_load(rooms.x, &strip->part[1], TTNN_FLOAT32);
	const struct tt_area *out = &strip->part[0];
	size_t count = (size_t)(strip->rows * work->width);
	float *y = rooms.y;

	if (out->dtype == TTNN_FLOAT32 && tt_area_is_dense(out))
		y = out->data;
	if (work->job->residual) {
		const float *add = tt_part_load(rooms.residual, &strip->part[2], TTNN_FLOAT32);

		work->fns->bias(rooms.x, x, add, count, 1);
		x = rooms.x;
	}
	for (uint32_t row = 0; row < strip->rows && !tt_strips_stop(work->width); row++)
		normalise(work, y + row * work->width, x + row * work->width, strip->first + row);
	tt_finish_steps(y, count, work->job->post, work->job->post_count);
	if (y != out->data)
		tt_part_store(out, y, TTNN_FLOAT32);
}

static void run_strips(void *context, size_t begin, size_t end)
{
	struct work *work = context;
	size_t count = (size_t)(work->strips.tall * work->width), bytes = 3 * count * sizeof(float);
	struct rooms rooms = {tt_large_alloc(bytes), NULL, NULL};
	struct tt_strip strip;

	if (!rooms.x) {
		work->status = TTNN_NOMEM;
		return;
	}
	rooms.residual = rooms.x + count;
	rooms.y = rooms.residual + count;
	for (uint64_t i = begin; i < end; i++) {
		tt_strip_get(&strip, &work->strips, i);
		run_strip(work, &strip, rooms);
	}
	tt_large_free(rooms.x, bytes);
}

static tt_status run(struct work *work)
{
	uint64_t elements = work->strips.tall * work->width;

	tt_pool_for((size_t)work->strips.count,
		    elements < TT_CPU_GRAIN ? (size_t)(TT_CPU_GRAIN / (elements + 1)) : 1,
		    run_strips, work);
	return work->status == TTNN_OK ? TTNN_OK : tt_fail_nomem();
}

/* ---- groups ------------------------------------------------------------------------------------ */

/* Mean and squares of some columns of one batch. */
static void spread_columns(void *context, size_t begin, size_t end)
{
	struct work *work = context;
	uint64_t blocks = tt_div_up(work->width, GROUP_COLUMNS);

	for (uint64_t n = begin; n < end; n++) {
		uint64_t batch = n / blocks, from = n % blocks * GROUP_COLUMNS;
		uint64_t count =
			work->width - from < GROUP_COLUMNS ? work->width - from : GROUP_COLUMNS;
		const float *x = work->x + batch * work->rows * work->width + from;
		double *mean = work->mean + batch * work->width + from;
		double *square = work->square + batch * work->width + from;

		memset(mean, 0, count * sizeof(double));
		memset(square, 0, count * sizeof(double));
		for (uint64_t row = 0; row < work->rows; row++) {
			if (row % LOOK == LOOK - 1 && tt_deadline_stop())
				return;
			work->fns->spread(mean, square, x + row * work->width, (size_t)count,
					  (double)row + 1);
		}
	}
}

/* The statistics of a group from those of its channels. */
static void join_channels(struct work *work, double *mean, double *square)
{
	uint64_t per = work->width / work->job->groups;
	double rows = (double)work->rows, all = 0, squares = 0;

	for (uint64_t c = 0; c < per; c++)
		all += mean[c] / (double)per;
	for (uint64_t c = 0; c < per; c++)
		squares += square[c] + rows * (mean[c] - all) * (mean[c] - all);
	squares /= rows * (double)per;
	mean[0] = all;
	square[0] = 1 / sqrt(squares + work->job->epsilon);
}

static tt_status run_groups(struct work *work, const struct tt_area *in)
{
	uint64_t batches = in->shape.rank > 1 ? in->shape.dim[0] : 1, all;
	struct tt_scratch scratch = {0};
	struct tt_area rows;
	size_t bytes = 2 * (size_t)(batches * work->width) * sizeof(double);
	tt_status status = tt_cpu_rows(&rows, &scratch, in, TTNN_FLOAT32);

	work->mean = status == TTNN_OK ? tt_large_alloc(bytes) : NULL;
	if (status == TTNN_OK && !work->mean)
		status = tt_fail_nomem();
	if (status == TTNN_OK)
		status = tt_shape_rows(&all, &in->shape);
	if (status == TTNN_OK) {
		uint64_t per = work->width / work->job->groups;

		work->x = rows.data;
		work->rows = all / batches;
		work->square = work->mean + batches * work->width;
		tt_pool_for((size_t)(batches * tt_div_up(work->width, GROUP_COLUMNS)), 1,
			    spread_columns, work);
		for (uint64_t c = 0; c < batches * work->width; c += per)
			join_channels(work, work->mean + c, work->square + c);
		status = run(work);
	}
	tt_large_free(work->mean, bytes);
	tt_scratch_deinit(&scratch);
	return status;
}

/* ---- the job ------------------------------------------------------------------------------------ */

static tt_status check(const struct tt_norm_job *job)
{
	const struct ttnn_shape *in = &job->in->spec.shape;
	const struct tt_tensor *vectors[VECTORS] = {job->gamma, job->beta, job->mean,
						    job->variance};
	uint64_t channels = tt_shape_last(in, 1), volume;

	if (job->kind == TT_NORM_BATCH) {
		channels = in->rank > 1 ? in->dim[1] : 0;
		if (in->rank < 2 || !job->mean || !job->variance)
			return tt_fail(TTNN_INTERNAL, "no statistics for each channel");
	}
	if (!ttnn_shape_equal(in, &job->out->spec.shape) ||
	    (job->residual && !ttnn_shape_equal(in, &job->residual->spec.shape)))
		return tt_fail(TTNN_INTERNAL, "normalisation to another shape");
	if (job->kind == TT_NORM_GROUP && (job->groups == 0 || channels % job->groups))
		return tt_fail(TTNN_INTERNAL, "%llu channels in %u groups",
			       (unsigned long long)channels, job->groups);
	for (int i = 0; i < VECTORS; i++) {
		if (!vectors[i])
			continue;
		TT_TRY(tt_cpu_volume(&volume, vectors[i]));
		if (volume < tt_norm_vector(channels, job->part))
			return tt_fail(TTNN_INTERNAL, "%llu elements for %llu channels",
				       (unsigned long long)volume, (unsigned long long)channels);
	}
	return tt_finish_check(job->post, job->post_count);
}

/* The elements of a vector whose parts are padded to whole tiles, side by side. */
static tt_status join_parts(struct work *work, int which, struct tt_scratch *scratch)
{
	const struct tt_norm_job *job = work->job;
	uint32_t channels = tt_shape_last(&job->in->spec.shape, 1);
	uint64_t stride = (job->part + TT_TILE - 1) / TT_TILE * TT_TILE;
	const float *from = work->vector[which];
	float *to;

	TT_TRY(tt_scratch_init(scratch, &TT_SHAPE(channels), TTNN_FLOAT32, NULL));
	to = scratch->area.data;
	for (uint32_t c = 0; c < channels; c++)
		to[c] = from[c / job->part * stride + c % job->part];
	work->vector[which] = to;
	return TTNN_OK;
}

/* A vector may need two scratches: its rows, and these without padding. */
static tt_status open_vectors(struct work *work, struct tt_session *session,
			      struct tt_scratch scratch[2 * VECTORS])
{
	const struct tt_norm_job *job = work->job;
	const struct tt_tensor *vectors[VECTORS] = {job->gamma, job->beta, job->mean,
						    job->variance};

	for (int i = 0; i < VECTORS; i++) {
		struct tt_area area, rows;

		if (!vectors[i])
			continue;
		TT_TRY(tt_session_read(&area, session, vectors[i]));
		TT_TRY(tt_cpu_rows(&rows, &scratch[i], &area, TTNN_FLOAT32));
		work->vector[i] = rows.data;
		if (job->part && job->part % TT_TILE)
			TT_TRY(join_parts(work, i, &scratch[VECTORS + i]));
	}
	return TTNN_OK;
}

static tt_status norm_run(struct work *work, struct tt_session *session)
{
	const struct tt_norm_job *job = work->job;
	struct tt_area in, residual, out;

	TT_TRY(tt_session_read(&in, session, job->in));
	if (job->residual)
		TT_TRY(tt_session_read(&residual, session, job->residual));
	TT_TRY(tt_session_write(&out, session, job->out, false));
	work->width = tt_shape_last(&in.shape, 1);
	tt_strips_init(&work->strips,
		       (const struct tt_area *const[]){&out, &in, job->residual ? &residual : NULL},
		       STRIP_ELEMENTS);
	return job->kind == TT_NORM_GROUP ? run_groups(work, &in) : run(work);
}

tt_status tt_cpu_norm(const struct tt_norm_job *job)
{
	struct work work = {.job = job, .fns = tt_sums_get()};
	struct tt_scratch scratch[2 * VECTORS] = {0};
	struct tt_session session = {0};
	uint64_t volume;
	tt_status status;

	TT_TRY(check(job));
	TT_TRY(tt_cpu_volume(&volume, job->in));
	if (volume == 0)
		return TTNN_OK;
	status = open_vectors(&work, &session, scratch);
	if (status == TTNN_OK)
		status = norm_run(&work, &session);
	for (int i = 0; i < 2 * VECTORS; i++)
		tt_scratch_deinit(&scratch[i]);
	return tt_session_end(&session, status);
}
