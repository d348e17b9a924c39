/*
 * conv3d_kernel.c: convolutions of volumes as products of matrices: a row of the left side is what a window sees,
 * made when it is needed; the right side are the weights as they were prepared.
 */
#include <string.h>

#include "backend/cpu/finish.h"
#include "backend/cpu/gemm.h"
#include "base/large.h"
#include "base/pool.h"
#include "tensor/bf16.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

struct work {
	const struct tt_conv3d_job *job;
	const uint32_t *in, *out;     /* extents: batch, depth, height, width, channels */
	const uint8_t *pixels, *halo; /* dense rows of channels */
	size_t bytes;                 /* of an element */
	int64_t origin[2];
	size_t taps, depth; /* of a kernel; elements that a window sees */
	size_t first;       /* element of what is seen that the product in work begins with */
	float *c;
	const float *bias;
	float *sums; /* of one block of channels */
};

/* ---- what windows see ---------------------------------------------------------------------------- */

/* Whether the place is beyond the part of the picture that counts. */
static bool is_masked(const struct work *work, const int64_t at[3])
{
	for (int d = 0; d < 2; d++)
		if (work->job->mask[d] &&
		    (uint32_t)(work->origin[d] + at[1 + d]) >= work->job->mask[d])
			return true;
	return false;
}

/* The number of a row of the halo: those above, below, left and right of all slices. */
static size_t halo_row(const struct work *work, uint64_t batch, const int64_t at[3])
{
	size_t slices = (size_t)work->in[0] * work->in[1], height = work->in[2],
	       width = work->in[3];
	size_t rows = work->job->pad[1], cols = work->job->pad[2], high = height + 2 * rows;
	size_t slice = (size_t)batch * work->in[1] + (size_t)at[0];
	size_t side = 2 * slices * rows * width;

	if (at[2] < 0)
		return side + (slice * high + (size_t)(at[1] + (int64_t)rows)) * cols +
		       (size_t)(at[2] + (int64_t)cols);
	if (at[2] >= (int64_t)width)
		return side + slices * cols * high +
		       (slice * high + (size_t)(at[1] + (int64_t)rows)) * cols +
		       ((size_t)at[2] - width);
	if (at[1] < 0)
		return (slice * rows + (size_t)(at[1] + (int64_t)rows)) * width + (size_t)at[2];
	return slices * rows * width + (slice * rows + (size_t)at[1] - height) * width +
	       (size_t)at[2];
}

/* The channels at a place, or NULL for zeros. */
static const uint8_t *channels_at(const struct work *work, uint64_t batch, const int64_t place[3])
{
	size_t row = (size_t)work->in[4] * work->bytes, number = (size_t)batch;
	int64_t at[3];

	if (is_masked(work, place))
		return NULL;
	for (int d = 0; d < 3; d++) {
		int64_t end = work->in[1 + d];

		at[d] = place[d];
		if (at[d] >= 0 && at[d] < end) {
			number = number * (size_t)end + (size_t)at[d];
			continue;
		}
		if (work->halo && d && place[0] >= 0 && place[0] < work->in[1])
			return work->halo + halo_row(work, batch, place) * row;
		if (!work->job->replicate || !end)
			return NULL;
		number = number * (size_t)end + (size_t)(at[d] < 0 ? 0 : end - 1);
	}
	return work->pixels + number * row;
}

/* The place of a row of the result before kernels; false in the zeros around. */
static bool place_of(uint64_t *batch, int64_t from[3], const struct work *work, size_t row)
{
	const struct tt_conv3d_job *job = work->job;
	int64_t at[3];

	for (int d = 2; d >= 0; d--) {
		uint32_t rim = d ? job->out_pad[d - 1] : 0;

		at[d] = (int64_t)(row % work->out[1 + d]) - rim;
		row /= work->out[1 + d];
		if (at[d] < 0 || at[d] >= (int64_t)work->out[1 + d] - 2 * (int64_t)rim)
			return false;
		from[d] = at[d] * job->stride[d] - job->pad[d];
	}
	*batch = row;
	return true;
}

/* Elements [k, k + count) of what a window sees, of one tap. */
static void copy_tap(uint8_t *to, const struct work *work, const int64_t from[3], uint64_t batch,
		     const size_t part[2])
{
	const struct tt_conv3d_job *job = work->job;
	size_t tap = part[0] / job->block % work->taps;
	size_t channel = part[0] / job->block / work->taps * job->block + part[0] % job->block;
	const int64_t at[3] = {
		from[0] + (int64_t)(tap / job->kernel[2] / job->kernel[1]) * job->dilation[0],
		from[1] + (int64_t)(tap / job->kernel[2] % job->kernel[1]) * job->dilation[1],
		from[2] + (int64_t)(tap % job->kernel[2]) * job->dilation[2]};
	const uint8_t *channels = channels_at(work, batch, at);

	if (channels)
		memcpy(to, channels + channel * work->bytes, part[1] * work->bytes);
	else
		memset(to, 0, part[1] * work->bytes);
}

static struct tt_matrix seen(const void *context, float *room, const struct tt_gemm_part *part)
{
	const struct work *work = context;
	uint32_t block = work->job->block;

	for (size_t i = 0; i < part->rows; i++) {
		uint8_t *to = (uint8_t *)room + i * part->depth * work->bytes;
		size_t k = work->first + part->from, end = k + part->depth;
		uint64_t batch;
		int64_t from[3];

		if (!place_of(&batch, from, work, part->row + i)) {
			memset(to, 0, part->depth * work->bytes);
			continue;
		}
		while (k < end) {
			size_t some[2] = {k, block - k % block};

			if (some[1] > end - k)
				some[1] = end - k;
			copy_tap(to, work, from, batch, some);
			to += some[1] * work->bytes;
			k += some[1];
		}
	}
	return (struct tt_matrix){room, work->bytes == 2, part->depth, 1};
}

/* ---- products ------------------------------------------------------------------------------------ */

static size_t result_rows(const struct work *work)
{
	return (size_t)work->out[0] * work->out[1] * work->out[2] * work->out[3];
}

/* c = what windows see of rows [work->first, + rows) of the weights, times these. */
static tt_status multiply(struct work *work, float *c, const struct tt_area *weights, size_t rows)
{
	size_t outs = work->out[4], all = result_rows(work);
	bool half = weights->dtype == TTNN_BFLOAT16;
	struct tt_matrix right = {(const uint8_t *)weights->data +
					  work->first * outs * tt_dtype_bytes(weights->dtype),
				  half, outs, 1};
	struct tt_panels panels = {
		.fns = tt_gemm_fns_get(), .rows = rows, .cols = outs, .half = half};
	struct tt_gemm_left left = {.rows = all, .half = work->bytes == 2, .step = outs};
	struct tt_gemm gemm = {
		.left = seen, .context = work, .rows = all, .right = &panels, .c = c, .step = outs};
	size_t bytes;
	tt_status status;

	gemm.c = c;
	tt_panels_choose(&panels, &left);
	bytes = tt_panels_bytes(&panels);
	panels.data = bytes == SIZE_MAX ? NULL : tt_large_alloc(bytes);
	status = panels.data ? tt_panels_pack(&panels, &right) : tt_fail_nomem();
	if (status == TTNN_OK)
		status = tt_gemm_run(&gemm);
	if (panels.data)
		tt_large_free(panels.data, bytes);
	tt_panels_release(&panels);
	return status;
}

static float rounded(float value)
{
	return tt_bf16_load(tt_bf16_store(value));
}

static void add_rounded(void *context, size_t begin, size_t end)
{
	const struct work *work = context;

	for (size_t i = begin; i < end; i++)
		work->c[i] = rounded((work->first ? work->c[i] : 0) + rounded(work->sums[i]));
}

/* Block after block of channels, each sum as a bfloat16. */
static tt_status multiply_blocks(struct work *work, const struct tt_area *weights)
{
	size_t rows = work->taps * work->job->block, count = result_rows(work) * work->out[4];
	tt_status status = TTNN_OK;

	work->sums = tt_large_alloc(count * sizeof(float));
	if (!work->sums)
		return tt_fail_nomem();
	for (work->first = 0; status == TTNN_OK && work->first < work->depth; work->first += rows) {
		status = multiply(work, work->sums, weights, rows);
		if (status == TTNN_OK)
			tt_pool_for(count, TT_CPU_GRAIN, add_rounded, work);
	}
	tt_large_free(work->sums, count * sizeof(float));
	return status;
}

static void add_bias(void *context, size_t begin, size_t end)
{
	const struct work *work = context;
	uint64_t batch;
	int64_t from[3];

	for (size_t row = begin; row < end; row++)
		if (place_of(&batch, from, work, row))
			for (size_t i = 0; i < work->out[4]; i++)
				work->c[row * work->out[4] + i] += work->bias[i];
}

/* ---- the job ------------------------------------------------------------------------------------- */

enum { IN, WEIGHT, LOW, BIAS, HALO, ORIGIN, TENSORS };

static enum ttnn_dtype kept_dtype(int which, const struct tt_conv3d_job *job)
{
	enum ttnn_dtype dtype = (which == WEIGHT ? job->weight : job->in)->spec.dtype;

	if (which == ORIGIN)
		return TTNN_UINT32;
	return which == LOW || which == BIAS || dtype != TTNN_BFLOAT16 || job->weight_low
		       ? TTNN_FLOAT32
		       : TTNN_BFLOAT16;
}

static void add_low(float *weights, const struct tt_area *low, size_t count)
{
	for (size_t i = 0; i < count; i++)
		weights[i] += ((const float *)low->data)[i];
}

static void read_origin(struct work *work, const struct tt_area *origin, struct tt_tensor *tensor)
{
	uint64_t count;

	if (tt_cpu_volume(&count, tensor) == TTNN_OK)
		for (uint64_t d = 0; d < 2 && d < count; d++)
			work->origin[d] = ((const uint32_t *)origin->data)[d];
}

static tt_status run(struct work *work, struct tt_session *session, struct tt_scratch *scratch)
{
	const struct tt_conv3d_job *job = work->job;
	struct tt_tensor *const tensors[TENSORS] = {job->in,   job->weight, job->weight_low,
						    job->bias, job->halo,   job->origin};
	struct tt_finish finish = {.scale = 1};
	struct tt_area rows[TENSORS] = {{0}}, area, out;

	for (int i = 0; i < TENSORS; i++) {
		if (!tensors[i])
			continue;
		TT_TRY(tt_session_read(&area, session, tensors[i]));
		TT_TRY(tt_cpu_rows(&rows[i], &scratch[i], &area, kept_dtype(i, job)));
	}
	TT_TRY(tt_session_write(&out, session, job->out, false));
	if (job->weight_low) {
		TT_TRY(tt_scratch_init(&scratch[TENSORS + 1], &rows[WEIGHT].shape, TTNN_FLOAT32,
				       NULL));
		TT_TRY(tt_cpu_copy(&scratch[TENSORS + 1].area, &rows[WEIGHT]));
		rows[WEIGHT] = scratch[TENSORS + 1].area;
		add_low(rows[WEIGHT].data, &rows[LOW], work->depth * work->out[4]);
	}
	if (job->origin)
		read_origin(work, &rows[ORIGIN], job->origin);
	work->pixels = rows[IN].data;
	work->halo = rows[HALO].data;
	work->bias = rows[BIAS].data;
	work->bytes = tt_dtype_bytes(rows[IN].dtype);
	TT_TRY(tt_finish_room(&work->c, &scratch[TENSORS], &out,
			      (const struct tt_area *const[]){&rows[IN], NULL}));
	if (job->halves && job->block < work->in[4])
		TT_TRY(multiply_blocks(work, &rows[WEIGHT]));
	else
		TT_TRY(multiply(work, work->c, &rows[WEIGHT], work->depth));
	if (work->bias)
		tt_pool_for(result_rows(work), TT_CPU_GRAIN / (work->out[4] + 1) + 1, add_bias,
			    work);
	return tt_finish_rows(&out, work->c, &finish);
}

tt_status tt_cpu_conv3d(const struct tt_conv3d_job *job)
{
	struct work work = {
		.job = job, .in = job->in->spec.shape.dim, .out = job->out->spec.shape.dim};
	struct tt_scratch scratch[TENSORS + 2] = {0};
	struct tt_session session = {0};
	uint64_t volume;
	tt_status status;

	TT_TRY(tt_cpu_volume(&volume, job->out));
	if (volume == 0)
		return TTNN_OK;
	work.taps = (size_t)job->kernel[0] * job->kernel[1] * job->kernel[2];
	work.depth = work.taps * work.in[4];
	status = run(&work, &session, scratch);
	for (size_t i = 0; i < TENSORS + 2; i++)
		tt_scratch_deinit(&scratch[i]);
	return tt_session_end(&session, status);
}
