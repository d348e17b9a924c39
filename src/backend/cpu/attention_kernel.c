/* attention_kernel.c: attention: what the tensors are, and what a row sees. See attention_kernel.h. */
#include "backend/cpu/attention_kernel.h"

#include <math.h>
#include <string.h>

#include "backend/cpu/strips.h"
#include "base/deadline.h"
#include "base/large.h"
#include "tensor/shape.h"

#define FEW_ROWS 16 /* that share their keys, and are not worth a product of matrices */

/* ---- what a row sees ------------------------------------------------------------------------------ */

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The part of the sequence that a position lies in; none when beyond the last. */
static void clip_to_segment(int64_t *low, int64_t *high, const struct tt_attention *work,
			    int64_t position)
{
	const int32_t *bound = work->bounds.block;

	for (uint32_t i = 0; i + 1 < work->segments; i++)
		if (position < bound[i + 1]) {
			*low = most(*low, bound[i]);
			*high = least(*high, bound[i + 1]);
			return;
		}
	*low = *high;
}

struct tt_seen tt_attention_seen(const struct tt_attention *work, uint64_t batch, uint64_t row)
{
	const struct tt_attention_job *job = work->job;
	int64_t position = work->starts[batch] + (int64_t)row, window = job->window;
	int64_t low = 0, high = (int64_t)work->columns;

	if (work->starts[batch] < 0)
		return (struct tt_seen){0, 0};
	if (job->causal)
		high = least(high, position + 1);
	if (window && job->causal)
		low = position - window + 1;
	else if (window) {
		low = position - window / 2;
		high = least(high, position + window / 2 + 1);
	}
	if (work->segments)
		clip_to_segment(&low, &high, work, position);
	high = most(high, 0);
	low = least(most(low, 0), high);
	return (struct tt_seen){(uint64_t)low, (uint64_t)high};
}

/* ---- where things lie ----------------------------------------------------------------------------- */

struct tt_plane_part tt_attention_part(const struct tt_attention *work, uint64_t batch,
				       uint64_t head, uint64_t row, uint32_t rows)
{
	if (work->job->decode)
		return (struct tt_plane_part){0, batch, head, rows};
	return (struct tt_plane_part){batch, head, row, rows};
}

/* Pages were checked, so none is missing here. */
const float *tt_attention_keys(float *room, const struct tt_attention *work,
			       const struct tt_planes *planes, const uint64_t at[4])
{
	uint64_t batch = !work->pages.data && planes->outer == 1 ? 0 : at[0] + work->job->slot;
	uint64_t count = at[3];

	for (uint64_t done = 0; done < count;) {
		struct tt_plane_part part = {.inner = at[1] / (work->key_heads / planes->inner),
					     .rows = (uint32_t)(count - done)};
		float *to = room + done * planes->width;
		const float *rows;

		if (tt_pages_find(&part, &work->pages, planes, batch, at[2] + done) != TTNN_OK)
			return room;
		rows = tt_planes_load(to, planes, &part);
		if (part.rows == count)
			return rows;
		if (rows != to)
			memmove(to, rows, (size_t)part.rows * planes->width * sizeof(float));
		done += part.rows;
	}
	return room;
}

const float *tt_attention_mask(size_t *step, float *room, const struct tt_attention *work,
			       const struct tt_scores *scores)
{
	const struct tt_planes *mask = &work->mask;
	struct tt_plane_part part = {scores->batch, scores->head, scores->row, scores->rows};
	struct tt_planes columns = *mask;

	*step = scores->count;
	if (!work->masked)
		return NULL;
	if (work->job->decode)
		part = (struct tt_plane_part){scores->batch, 0, scores->head, 1};
	part.outer = mask->outer == 1 ? 0 : part.outer;
	part.inner = mask->inner == 1 ? 0 : part.inner * mask->inner / work->heads;
	if (mask->rows == 1) {
		part.row = 0;
		part.rows = 1;
		*step = 0;
	}
	columns.area = tt_part_columns(&mask->area, scores->from, scores->count);
	columns.area.shape = mask->area.shape;
	columns.area.shape.dim[columns.area.shape.rank - 1] = scores->count;
	columns.width = scores->count;
	return tt_planes_load(room, &columns, &part);
}

void tt_attention_begin(float *largest, double *sum, const struct tt_attention *work, uint64_t head)
{
	*largest = -INFINITY;
	*sum = 0;
	if (!work->job->sink)
		return;
	*largest =
		((const float *)work->sink.block)[head * work->sink_step] * (float)work->job->scale;
	*sum = 1;
}

/* ---- checks ----------------------------------------------------------------------------------- */

static bool is_one_or(uint64_t extent, uint64_t other)
{
	return extent == 1 || extent == other;
}

static tt_status check_mask(const struct tt_attention *work)
{
	const struct tt_planes *mask = &work->mask;
	uint64_t inner = work->job->decode ? 1 : work->heads;
	uint64_t rows = work->job->decode ? work->heads : work->rows;

	if (!is_one_or(mask->outer, work->batches) || !mask->inner || inner % mask->inner ||
	    !is_one_or(mask->rows, rows))
		return tt_fail(TTNN_INTERNAL, "the mask cannot be broadcast to the scores");
	return TTNN_OK;
}

static tt_status set_sizes(struct tt_attention *work)
{
	const struct tt_attention_job *job = work->job;
	bool fits;

	work->batches = job->decode ? work->q.inner : work->q.outer;
	work->heads = job->decode ? work->q.rows : work->q.inner;
	work->rows = job->decode ? 1 : work->q.rows;
	work->width = work->q.width;
	work->out_width = work->out.width;
	work->key_heads = work->k.inner > work->v.inner ? work->k.inner : work->v.inner;
	work->pages.modulo = job->modulo;
	work->columns = work->k.rows;
	if (work->pages.data)
		work->columns *= work->pages.blocks;
	if (work->masked && work->mask.width < work->columns)
		work->columns = work->mask.width;
	fits = work->k.width == work->width && work->k.inner && work->v.inner &&
	       work->heads % work->key_heads == 0 && work->key_heads % work->k.inner == 0 &&
	       work->key_heads % work->v.inner == 0 &&
	       (work->pages.data || is_one_or(work->k.outer, job->slot + work->batches) ||
		work->k.outer > job->slot + work->batches) &&
	       (!work->pages.data || work->pages.batches >= work->batches) &&
	       work->out.outer == work->q.outer && work->out.inner == work->q.inner &&
	       work->out.rows == work->q.rows && (!job->decode || work->q.outer == 1) &&
	       (work->shared ? work->out_width <= work->width
			     : work->v.outer == work->k.outer && work->v.rows == work->k.rows &&
				       work->v.width == work->out_width);
	if (!fits)
		return tt_fail(TTNN_INTERNAL, "queries, keys and values do not go together");
	work->groups = work->heads / work->key_heads;
	return work->masked ? check_mask(work) : TTNN_OK;
}

/* ---- the job ------------------------------------------------------------------------------------ */

static tt_status open_planes(struct tt_planes *out, struct tt_session *session,
			     const struct tt_tensor *tensor)
{
	struct tt_area area;

	TT_TRY(tt_session_read(&area, session, tensor));
	return tt_planes_init(out, &area);
}

/* A small tensor as dense rows of that type. */
static tt_status open_small(struct tt_scratch *out, struct tt_session *session,
			    const struct tt_tensor *tensor, enum ttnn_dtype dtype)
{
	struct tt_area area;

	TT_TRY(tt_session_read(&area, session, tensor));
	TT_TRY(tt_scratch_init(out, &area.shape, dtype, NULL));
	return tt_cpu_copy(&out->area, &area);
}

/* A mask out of the blocks of columns that rows choose; one that is chosen n times counts n times. */
static tt_status open_chosen(struct tt_attention *work, struct tt_session *session)
{
	const struct tt_attention_job *job = work->job;
	const struct ttnn_shape *shape = &job->chosen->spec.shape;
	uint32_t each = tt_shape_last(shape, 1), columns = (uint32_t)work->k.rows;
	uint64_t rows = (uint64_t)tt_shape_last(shape, 2) * tt_shape_last(shape, 3);
	struct ttnn_shape all =
		TT_SHAPE(1, tt_shape_last(shape, 3), tt_shape_last(shape, 2), columns);
	struct tt_scratch list = {0};
	tt_status status = open_small(&list, session, job->chosen, TTNN_UINT32);

	if (status == TTNN_OK)
		status = tt_scratch_init(&work->chosen, &all, TTNN_FLOAT32, NULL);
	for (uint64_t i = 0; status == TTNN_OK && i < rows; i++) {
		const uint32_t *choice = (const uint32_t *)list.block + i * each;
		float *mask = (float *)work->chosen.block + i * columns;

		if (tt_deadline_stop()) {
			status = tt_deadline_check();
			break;
		}
		for (uint32_t j = 0; j < columns; j++)
			mask[j] = -INFINITY;
		for (uint32_t n = 0; n < each && status == TTNN_OK; n++) {
			uint64_t from = (uint64_t)choice[n] * job->block;

			if (choice[n] == UINT32_MAX)
				continue;
			if (from + job->block > columns)
				status =
					tt_fail(TTNN_INVALID, "block %u of %u columns is beyond %u",
						choice[n], job->block, columns);
			for (uint64_t j = from; j < from + job->block && status == TTNN_OK; j++)
				mask[j] = mask[j] == -INFINITY ? 0 : logf(expf(mask[j]) + 1);
		}
	}
	tt_scratch_deinit(&list);
	TT_TRY(status);
	return tt_planes_init(&work->mask, &work->chosen.area);
}

static tt_status open_inputs(struct tt_attention *work, struct tt_session *session)
{
	const struct tt_attention_job *job = work->job;
	uint64_t count, heads;

	TT_TRY(open_planes(&work->q, session, job->q));
	TT_TRY(open_planes(&work->k, session, job->k));
	work->shared = !job->v;
	work->v = work->k;
	if (job->v)
		TT_TRY(open_planes(&work->v, session, job->v));
	work->masked = job->mask || job->chosen;
	if (job->chosen)
		TT_TRY(open_chosen(work, session));
	else if (job->mask)
		TT_TRY(open_planes(&work->mask, session, job->mask));
	TT_TRY(tt_pages_read(&work->pages, session, job->pages));
	if (job->sink) {
		TT_TRY(open_small(&work->sink, session, job->sink, TTNN_FLOAT32));
		TT_TRY(tt_cpu_volume(&count, job->sink));
		heads = job->decode ? work->q.rows : work->q.inner;
		if (count < heads)
			return tt_fail(TTNN_INTERNAL, "there is not a sink for each head");
		work->sink_step = count / heads;
	}
	if (job->segments) {
		TT_TRY(open_small(&work->bounds, session, job->segments, TTNN_INT32));
		TT_TRY(tt_cpu_volume(&count, job->segments));
		work->segments = (uint32_t)count;
	}
	return TTNN_OK;
}

/* Every column that a row sees has a block. */
static tt_status check_pages(const struct tt_attention *work)
{
	for (uint64_t batch = 0; work->pages.data && batch < work->batches; batch++) {
		struct tt_seen first = tt_attention_seen(work, batch, 0);
		struct tt_seen last = tt_attention_seen(work, batch, work->rows - 1);
		struct tt_plane_part part;

		for (uint64_t j = first.low; j < last.high; j += part.rows) {
			part = (struct tt_plane_part){.rows = UINT32_MAX};
			TT_TRY(tt_pages_find(&part, &work->pages, &work->k, batch, j));
			if (part.outer == TT_NO_PLANE)
				return tt_fail(TTNN_INVALID,
					       "the page table has no block for row %llu",
					       (unsigned long long)j);
		}
	}
	return TTNN_OK;
}

/* To the output, or to a scratch when keys or values lie there. */
static tt_status run(struct tt_attention *work, const struct tt_area *out)
{
	/* In decoding, heads are rows of one plane: they are stored together. */
	bool few = work->job->decode || work->groups * work->rows <= FEW_ROWS;
	bool apart = out->data != work->k.area.data && out->data != work->v.area.data &&
		     (!work->masked || out->data != work->mask.area.data) &&
		     (!few || out->data != work->q.area.data);
	struct tt_scratch scratch = {0};
	tt_status status = TTNN_OK;

	if (!apart) {
		TT_TRY(tt_scratch_init(&scratch, &out->shape, TTNN_FLOAT32, NULL));
		status = tt_planes_init(&work->out, &scratch.area);
	}
	if (status == TTNN_OK)
		status = few ? tt_attention_rows(work) : tt_attention_blocks(work);
	if (status == TTNN_OK && !apart)
		status = tt_cpu_copy(out, &scratch.area);
	tt_scratch_deinit(&scratch);
	return status;
}

static tt_status attention_run(struct tt_attention *work, struct tt_session *session)
{
	const struct tt_attention_job *job = work->job;
	struct tt_area out;

	TT_TRY(open_inputs(work, session));
	TT_TRY(tt_session_write(&out, session, job->out, false));
	TT_TRY(tt_planes_init(&work->out, &out));
	TT_TRY(set_sizes(work));
	TT_TRY(tt_starts_read(&work->starts, session,
			      &(struct tt_starts){job->positions, job->position_list, job->start},
			      work->batches));
	TT_TRY(check_pages(work));
	return run(work, &out);
}

static tt_status attention_open(struct tt_attention *work, struct tt_session *session)
{
	tt_status status = attention_run(work, session);

	if (work->starts)
		tt_large_free(work->starts, (size_t)work->batches * sizeof(*work->starts));
	tt_scratch_deinit(&work->pages.scratch);
	tt_scratch_deinit(&work->sink);
	tt_scratch_deinit(&work->chosen);
	tt_scratch_deinit(&work->bounds);
	return status;
}

tt_status tt_cpu_attention(const struct tt_attention_job *job)
{
	struct tt_attention work = {.job = job, .fns = tt_gemm_fns_get(), .sums = tt_sums_get()};
	struct tt_session session = {0};
	uint64_t volume;

	TT_TRY(tt_cpu_volume(&volume, job->out));
	if (volume == 0)
		return TTNN_OK;
	return tt_session_end(&session, attention_open(&work, &session));
}
