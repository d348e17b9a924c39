/*
 * layer_norm_parts.c: what the two halves of normalisation across devices compute: sums and averages of rows, or
 * their mean and variance (Welford's method upstream), a tile each with the numbers in its first column.
 */
#include "ops/movement/movement.h"
#include "ops/norm/layer_norm.h"

/* ---- sums, and averages --------------------------------------------------------------------------- */

/* The sum of each row of `in` (+ residual), squared first, times scale, into column `column` of the output. */
static tt_status sum_into(const struct tt_norm_job *job, bool squared, uint32_t column,
			  double scale)
{
	const struct tt_unary_step square = {.fn = TT_UNARY_SQUARE};
	const struct tt_backend *backend = tt_backend_get();
	uint32_t rank = job->in->spec.shape.rank, extent[TTNN_MAX_RANK];
	struct tt_tensor *values = NULL, *sums = NULL;
	int64_t start[TTNN_MAX_RANK] = {0};

	TT_TRY(tt_scratch_f32(&values, &job->in->spec.shape));
	TT_TRY(tt_scratch_width(&sums, &job->in->spec.shape, 1));
	TT_TRY(backend->map(&(struct tt_map_job){.out = values,
						 .arity = job->residual ? 2 : 1,
						 .in = {job->in, job->residual},
						 .op = TT_BINARY_ADD,
						 .post = &square,
						 .post_count = squared}));
	TT_TRY(backend->reduce(&(struct tt_reduce_job){.out = sums,
						       .in = values,
						       .kind = TT_REDUCE_SUM,
						       .dims = 1u << (rank - 1),
						       .scale = scale}));
	for (uint32_t d = 0; d < rank; d++)
		extent[d] = d + 1 < rank ? job->in->spec.shape.dim[d] : 1;
	start[rank - 1] = column;
	return tt_move_part(job->out, sums,
			    &(struct tt_move_block){.extent = extent, .out_start = start});
}

/*
 * A tile for each kind of sum, in its first column: of squares, and for layer_norm of values. The
 * program for shards gives averages, values first; the other one sums, squares first.
 */
tt_status tt_norm_sums(const struct tt_norm_job *job, bool averages)
{
	double scale = averages ? 1.0 / tt_shape_last(&job->in->spec.shape, 1) : 1;
	uint32_t squares = averages && job->kind != TT_NORM_RMS ? TT_TILE : 0;

	TT_TRY(tt_backend_get()->fill(job->out, 0, TT_FILL_ALL));
	TT_TRY(sum_into(job, true, squares, scale));
	return job->kind == TT_NORM_RMS ? TTNN_OK : sum_into(job, false, TT_TILE - squares, scale);
}

/* The mean over all devices of one kind of sums: column `column` of each device's tiles. */
static tt_status mean_of(struct tt_tensor **out, const struct tt_norm_job *job,
			 struct tt_tensor *stats, uint32_t column, bool averages)
{
	uint32_t step = (job->kind == TT_NORM_RMS ? 1 : 2) * TT_TILE;
	uint32_t devices = tt_shape_last(&stats->spec.shape, 1) / step;
	uint32_t rank = stats->spec.shape.rank, extent[TTNN_MAX_RANK];
	int64_t start[TTNN_MAX_RANK] = {0}, steps[TTNN_MAX_RANK];
	double width = (averages ? 1 : (double)tt_shape_last(&job->in->spec.shape, 1)) * devices;
	struct tt_tensor *parts = NULL;

	TT_TRY(tt_scratch_width(&parts, &stats->spec.shape, devices));
	for (uint32_t d = 0; d < rank; d++) {
		extent[d] = d + 1 < rank ? stats->spec.shape.dim[d] : devices;
		steps[d] = d + 1 < rank ? 1 : step;
	}
	start[rank - 1] = column;
	TT_TRY(tt_move_part(
		parts, stats,
		&(struct tt_move_block){.extent = extent, .in_start = start, .in_step = steps}));
	TT_TRY(tt_scratch_width(out, &stats->spec.shape, 1));
	return tt_backend_get()->reduce(&(struct tt_reduce_job){.out = *out,
								.in = parts,
								.kind = TT_REDUCE_SUM,
								.dims = 1u << (rank - 1),
								.scale = 1 / width});
}

/* factor = 1 / sqrt(squares - mean² + epsilon), in place of squares. */
static tt_status factor_of(struct tt_tensor *squares, struct tt_tensor *mean, double epsilon)
{
	const struct tt_unary_step steps[] = {{.fn = TT_UNARY_ADD_UNARY_SFPU, .params = {epsilon}},
					      {.fn = TT_UNARY_RSQRT}};
	const struct tt_unary_step square = {.fn = TT_UNARY_SQUARE};
	struct tt_map_job job = {.out = squares,
				 .arity = mean ? 2 : 1,
				 .in = {squares, mean},
				 .op = TT_BINARY_SUB,
				 .pre = {NULL, &square},
				 .pre_count = {0, mean ? 1 : 0},
				 .post = steps,
				 .post_count = 2};

	return tt_backend_get()->map(&job);
}

/* The first `width` weights as one row, whatever shape they came in. */
static tt_status weights_of(struct tt_tensor **out, struct tt_tensor *tensor, uint32_t width)
{
	struct tt_tensor *all = NULL;
	uint64_t count = 0;

	TT_TRY(ttnn_shape_volume(&count, &tensor->spec.shape));
	TT_NEED(count >= width && count <= UINT32_MAX, "%llu weights for rows of %u elements",
		(unsigned long long)count, width);
	TT_TRY(tt_scratch_f32(out, &TT_SHAPE(width)));
	TT_TRY(tt_scratch_f32(&all, &TT_SHAPE((uint32_t)count)));
	TT_TRY(tt_backend_get()->reshape(all, tensor));
	return tt_move_part(*out, all, &(struct tt_move_block){.extent = &width});
}

/* (x - mean) × factor × gamma + beta, one job of the backend a step. */
static tt_status apply(const struct tt_norm_job *job, struct tt_tensor *mean,
		       struct tt_tensor *factor, struct tt_tensor *values)
{
	const struct tt_backend *backend = tt_backend_get();
	uint32_t width = tt_shape_last(&job->in->spec.shape, 1);
	struct tt_tensor *gamma = NULL, *beta = NULL, *last = values;

	TT_TRY(backend->map(&(struct tt_map_job){
		.out = values, .arity = 2, .in = {job->in, mean}, .op = TT_BINARY_SUB}));
	TT_TRY(backend->map(&(struct tt_map_job){
		.out = last, .arity = 2, .in = {values, factor}, .op = TT_BINARY_MUL}));
	if (job->gamma)
		TT_TRY(weights_of(&gamma, job->gamma, width));
	if (job->beta)
		TT_TRY(weights_of(&beta, job->beta, width));
	if (gamma)
		TT_TRY(backend->map(&(struct tt_map_job){
			.out = last, .arity = 2, .in = {last, gamma}, .op = TT_BINARY_MUL}));
	return backend->map(&(struct tt_map_job){
		.out = job->out, .arity = 2, .in = {last, beta}, .op = TT_BINARY_ADD});
}

/* Statistics of all devices side by side: a tile or two from each. */
tt_status tt_norm_apply(const struct tt_norm_job *job, struct tt_tensor *stats, bool averages)
{
	struct tt_tensor *mean = NULL, *factor = NULL, *values = NULL;
	uint32_t squares = averages && job->kind != TT_NORM_RMS ? TT_TILE : 0;

	TT_TRY(mean_of(&factor, job, stats, squares, averages));
	if (job->kind != TT_NORM_RMS)
		TT_TRY(mean_of(&mean, job, stats, TT_TILE - squares, averages));
	TT_TRY(factor_of(factor, mean, job->epsilon));
	TT_TRY(tt_scratch_f32(&values, &job->in->spec.shape));
	return apply(job, mean, factor, values);
}

/* ---- mean and variance ------------------------------------------------------------------------------ */

/* A tile for the mean, one for the variance. */
enum { MEAN_COLUMN = 0, VAR_COLUMN = TT_TILE, PART = 2 * TT_TILE };

/* One number for each row, as *out. */
static tt_status reduced(struct tt_tensor **out, struct tt_tensor *in, enum tt_reduce_kind kind)
{
	const struct ttnn_shape *shape = &in->spec.shape;

	TT_TRY(tt_scratch_width(out, shape, 1));
	return tt_backend_get()->reduce(&(struct tt_reduce_job){
		.out = *out, .in = in, .kind = kind, .dims = 1u << (shape->rank - 1), .scale = 1});
}

/* Columns from `column` on, `step` apart, as many as `count`: out of `in` into the first ones, or the first into them. */
static tt_status columns(struct tt_tensor *out, struct tt_tensor *in, uint32_t column,
			 uint32_t count, bool into)
{
	uint32_t rank = in->spec.shape.rank, extent[TTNN_MAX_RANK];
	int64_t start[TTNN_MAX_RANK] = {0}, step[TTNN_MAX_RANK];

	for (uint32_t d = 0; d < rank; d++) {
		extent[d] = d + 1 < rank ? in->spec.shape.dim[d] : count;
		step[d] = d + 1 < rank || into ? 1 : PART;
	}
	start[rank - 1] = column;
	return tt_move_part(out, in,
			    &(struct tt_move_block){.extent = extent,
						    .in_start = into ? NULL : start,
						    .in_step = step,
						    .out_start = into ? start : NULL});
}

tt_status tt_norm_parts(struct tt_tensor *out, struct tt_tensor *in)
{
	struct tt_tensor *mean = NULL, *var = NULL;

	TT_TRY(tt_backend_get()->fill(out, 0, TT_FILL_ALL));
	TT_TRY(reduced(&mean, in, TT_REDUCE_MEAN));
	TT_TRY(reduced(&var, in, TT_REDUCE_VAR));
	TT_TRY(columns(out, mean, MEAN_COLUMN, 1, true));
	return columns(out, var, VAR_COLUMN, 1, true);
}

tt_status tt_norm_parts_of(const struct tt_norm_job *job)
{
	struct tt_tensor *sum = NULL;

	if (!job->residual)
		return tt_norm_parts(job->out, job->in);
	TT_TRY(tt_scratch_f32(&sum, &job->in->spec.shape));
	TT_TRY(tt_backend_get()->map(&(struct tt_map_job){
		.out = sum, .arity = 2, .in = {job->in, job->residual}, .op = TT_BINARY_ADD}));
	return tt_norm_parts(job->out, sum);
}

/* The variance of all is that within their parts and that between those. */
tt_status tt_norm_join(struct tt_tensor **mean, struct tt_tensor **factor, struct tt_tensor *stats,
		       double epsilon)
{
	const struct tt_unary_step root[] = {{.fn = TT_UNARY_ADD_UNARY_SFPU, .params = {epsilon}},
					     {.fn = TT_UNARY_RSQRT}};
	const struct ttnn_shape *shape = &stats->spec.shape;
	uint32_t devices = tt_shape_last(shape, 1) / PART;
	struct tt_tensor *parts = NULL, *within = NULL;

	TT_TRY(tt_scratch_width(&parts, shape, devices));
	TT_TRY(columns(parts, stats, VAR_COLUMN, devices, false));
	TT_TRY(reduced(&within, parts, TT_REDUCE_MEAN));
	TT_TRY(columns(parts, stats, MEAN_COLUMN, devices, false));
	TT_TRY(reduced(mean, parts, TT_REDUCE_MEAN));
	TT_TRY(reduced(factor, parts, TT_REDUCE_VAR));
	return tt_backend_get()->map(&(struct tt_map_job){.out = *factor,
							  .arity = 2,
							  .in = {*factor, within},
							  .op = TT_BINARY_ADD,
							  .post = root,
							  .post_count = TT_COUNT(root)});
}

tt_status tt_norm_apply_parts(const struct tt_norm_job *job, struct tt_tensor *stats)
{
	struct tt_tensor *mean = NULL, *factor = NULL, *values = NULL;

	TT_TRY(tt_norm_join(&mean, &factor, stats, job->epsilon));
	TT_TRY(tt_scratch_f32(&values, &job->in->spec.shape));
	return apply(job, mean, factor, values);
}
