/* random_kernel.c: uniform, normal and Bernoulli numbers. The place is the element's row-major number. */
#include "backend/cpu/random_kernel.h"

#include <math.h>
#include <stdatomic.h>

#include "backend/cpu/fn_kernel.h"
#include "backend/cpu/strips.h"
#include "base/cpu.h"
#include "base/large.h"
#include "base/pool.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#define STRIP_ELEMENTS 16384

extern const struct tt_random_fns tt_random_fns_plain;
#if defined(__x86_64__)
extern const struct tt_random_fns tt_random_fns_avx2, tt_random_fns_avx512;
#endif

const struct tt_random_fns *tt_random_fns_get(void)
{
	static const struct tt_random_fns *const levels[TT_ISA_COUNT] = {
		[TT_ISA_PLAIN] = &tt_random_fns_plain,
#if defined(__x86_64__)
		[TT_ISA_AVX2] = &tt_random_fns_avx2,
		[TT_ISA_AVX512] = &tt_random_fns_avx512,
#endif
	};

	return levels[tt_cpu_isa()];
}

struct work {
	const struct tt_random_job *job;
	const struct tt_random_fns *fns;
	struct tt_random_line line;
	struct tt_strips strips;
	enum ttnn_dtype dtype;   /* of the rows */
	const float *likelihood; /* of every element; NULL: the same for all */
	uint64_t width;
	_Atomic tt_status status;
};

/* The largest number that does not round to `high` in this type. */
static float most_below(double high, enum ttnn_dtype dtype)
{
	/* Half the distance of neighbours above a power of two, relative to it; below it, the whole. */
	double part = dtype == TTNN_FLOAT32 ? 0x1p-24 : dtype == TTNN_FP8_E4M3 ? 0x1p-4 : 0x1p-8;

	if (high == 0)
		return -0x1p-126f;
	return (float)(high - fabs(high) * (high < 0 ? 2 * part : part));
}

/* Whole numbers: the fraction is cut off downwards, so that all are equally likely. */
static void make_whole(const struct work *work, uint32_t *out, uint64_t first, uint64_t count)
{
	double low = work->job->low, range = work->job->high - low;

	for (uint64_t i = 0; i < count; i++) {
		double part = (double)(tt_random_at(work->line.key, first + i) >> 11) * 0x1p-53;

		out[i] = (uint32_t)tt_whole(floor(low + part * range));
	}
}

static void make_real(const struct work *work, float *out, uint64_t first, uint64_t count)
{
	struct tt_random_line line = work->line;

	line.first = first;
	if (work->job->kind == TT_RANDOM_NORMAL) {
		work->fns->normal(out, (size_t)count, &line);
		return;
	}
	work->fns->uniform(out, (size_t)count, &line);
	for (uint64_t i = 0; work->job->kind == TT_RANDOM_BERNOULLI && i < count; i++)
		out[i] = out[i] <
			 (work->likelihood ? work->likelihood[first + i] : (float)work->job->low);
}

static void make_strips(void *context, size_t begin, size_t end)
{
	struct work *work = context;
	size_t bytes = (size_t)(work->strips.tall * work->width) * sizeof(float);
	void *room = tt_large_alloc(bytes);
	struct tt_strip strip;

	if (!room)
		work->status = TTNN_NOMEM;
	for (uint64_t i = begin; i < end && room; i++) {
		uint64_t first, count;

		tt_strip_get(&strip, &work->strips, i);
		first = strip.first * work->width;
		count = strip.rows * work->width;
		if (work->dtype == TTNN_FLOAT32)
			make_real(work, room, first, count);
		else
			make_whole(work, room, first, count);
		tt_part_store(&strip.part[0], room, work->dtype);
	}
	tt_large_free(room, bytes);
}

/* Elements [begin, end) of dense rows. */
static void make_pieces(void *context, size_t begin, size_t end)
{
	struct work *work = context;
	const struct tt_area *out = &work->strips.area[0];
	size_t bytes = tt_dtype_bytes(out->dtype);
	uint32_t room[TT_CPU_PIECE];

	for (size_t from = begin; from < end; from += TT_CPU_PIECE) {
		size_t count = end - from < TT_CPU_PIECE ? end - from : TT_CPU_PIECE;

		if (work->dtype == TTNN_FLOAT32)
			make_real(work, (float *)(void *)room, from, count);
		else
			make_whole(work, room, from, count);
		(void)tt_convert((uint8_t *)out->data + from * bytes, out->dtype, room, work->dtype,
				 count);
	}
}

static void set_line(struct work *work, enum ttnn_dtype dtype)
{
	const struct tt_random_job *job = work->job;

	work->line.key = tt_random_mix(job->seed + 0x9e3779b97f4a7c15u);
	if (job->kind == TT_RANDOM_BERNOULLI) { /* compared with the likelihood */
		work->line.range = 1;
		work->line.most = 1;
	} else if (job->kind == TT_RANDOM_NORMAL) {
		work->line.low = (float)job->low;
		work->line.range = (float)job->high;
	} else {
		work->line.low = (float)job->low;
		work->line.range = (float)(job->high - job->low);
		work->line.most =
			job->high > job->low ? most_below(job->high, dtype) : (float)job->low;
	}
}

static tt_status make(struct work *work, const struct tt_area *out)
{
	uint64_t elements;

	tt_strips_init(&work->strips, (const struct tt_area *const[]){out, NULL, NULL},
		       STRIP_ELEMENTS);
	if (tt_area_is_dense(out)) {
		tt_pool_for((size_t)(out->rows * out->cols), TT_CPU_GRAIN, make_pieces, work);
		return TTNN_OK;
	}
	work->width = tt_shape_last(&out->shape, 1);
	elements = work->strips.tall * work->width;
	tt_pool_for((size_t)work->strips.count,
		    elements < TT_CPU_GRAIN ? (size_t)(TT_CPU_GRAIN / elements) : 1, make_strips,
		    work);
	return work->status == TTNN_OK ? TTNN_OK : tt_fail_nomem();
}

static tt_status random_open(const struct tt_random_job *job, struct tt_session *session)
{
	struct work work = {.job = job, .fns = tt_random_fns_get(), .dtype = TTNN_FLOAT32};
	struct tt_scratch scratch = {0};
	struct tt_area out, chances, rows;
	tt_status status = TTNN_OK;

	if (job->probability) {
		TT_TRY(tt_session_read(&chances, session, job->probability));
		status = tt_cpu_rows(&rows, &scratch, &chances, TTNN_FLOAT32);
		work.likelihood = rows.data;
	}
	if (status == TTNN_OK)
		status = tt_session_write(&out, session, job->out, false);
	if (status == TTNN_OK) {
		if (job->kind == TT_RANDOM_UNIFORM && tt_dtype_is_integer(out.dtype))
			work.dtype = TTNN_UINT32;
		set_line(&work, out.dtype);
		status = make(&work, &out);
	}
	tt_scratch_deinit(&scratch);
	return status;
}

tt_status tt_cpu_random(const struct tt_random_job *job)
{
	struct tt_session session = {0};
	uint64_t volume, chances;

	TT_TRY(tt_cpu_volume(&volume, job->out));
	if (job->probability) {
		TT_TRY(tt_cpu_volume(&chances, job->probability));
		if (chances != volume)
			return tt_fail(TTNN_INTERNAL, "a probability for every element, or none");
	}
	if (volume == 0)
		return TTNN_OK;
	return tt_session_end(&session, random_open(job, &session));
}
