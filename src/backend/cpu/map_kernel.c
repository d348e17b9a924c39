/*
 * map_kernel.c: element-wise jobs. Piece by piece of the output: load the operands' elements into lanes,
 * apply the functions, store.
 *
 * Tensors in rows, and tiles that all lie alike, are walked as strided arrays (map_rows.c); other
 * tiles one by one (map_tiles.c). What lies otherwise than the output is copied first.
 */
#include <string.h>

#include "backend/cpu/map_kernel.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/tile.h"

/* ---- one piece -------------------------------------------------------------------------------- */

static const void *apply_before(const struct tt_map_work *work, uint32_t which,
				union tt_lanes *room, const void *lanes, size_t count)
{
	const struct tt_map_job *job = work->job;

	for (uint32_t i = 0; i < job->pre_count[which]; i++) {
		tt_lanes_step(&work->kind, room, lanes, count, &job->pre[which][i]);
		if (job->in[which])
			tt_lanes_wrap(&work->kind, room, job->in[which]->spec.dtype, count);
		lanes = room;
	}
	return lanes;
}

void tt_map_apply(const struct tt_map_work *work, void *out, union tt_lanes room[3],
		  const void *const in[3], size_t count)
{
	const struct tt_map_job *job = work->job;
	const struct tt_lane_kind *kind = &work->kind;
	void *target = job->post_count ? (void *)&room[0] : out;
	const void *v[3] = {NULL, NULL, NULL};

	for (uint32_t k = 0; k < job->arity; k++)
		v[k] = apply_before(work, k, &room[k], in[k], count);
	if (job->arity == 2 && kind->whole)
		kind->int_fns->binary[job->op](target, v[0], v[1], count, job->params);
	else if (job->arity == 2)
		kind->real_fns->binary[job->op](target, v[0], v[1], count, job->params);
	else if (job->arity == 3 && kind->whole)
		kind->int_fns->ternary[job->op](target, (const int64_t *const[]){v[0], v[1], v[2]},
						count, job->params);
	else if (job->arity == 3)
		kind->real_fns->ternary[job->op](target, (const float *const[]){v[0], v[1], v[2]},
						 count, job->params);
	if (job->arity > 1) {
		v[0] = target;
		if (job->post_count)
			tt_lanes_wrap(kind, target, job->out->spec.dtype, count);
	}
	for (uint32_t i = 0; i < job->post_count; i++) {
		target = i + 1 < job->post_count ? (void *)&room[0] : out;
		tt_lanes_step(kind, target, v[0], count, &job->post[i]);
		if (i + 1 < job->post_count)
			tt_lanes_wrap(kind, target, job->out->spec.dtype, count);
		v[0] = target;
	}
	if (v[0] != out)
		memcpy(out, v[0], count * kind->bytes);
}

/* ---- which lanes, and whether they know the functions ------------------------------------------ */

/* A chain that casts to or from floats is computed in floats. */
static bool casts_floats(const struct tt_unary_step *steps, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (steps[i].fn == TT_UNARY_TYPECAST && steps[i].count >= 2 &&
		    !(tt_dtype_is_integer((enum ttnn_dtype)steps[i].params[0]) &&
		      tt_dtype_is_integer((enum ttnn_dtype)steps[i].params[1])))
			return true;
	return false;
}

static bool computes_whole(const struct tt_map_job *job)
{
	bool any = false;

	if (job->as_float || casts_floats(job->post, job->post_count))
		return false;
	for (uint32_t k = 0; k < job->arity; k++) {
		if (casts_floats(job->pre[k], job->pre_count[k]))
			return false;
		if (!job->in[k])
			continue;
		if (!tt_dtype_is_integer(job->in[k]->spec.dtype))
			return false;
		any = true;
	}
	return any || tt_dtype_is_integer(job->out->spec.dtype);
}

static tt_status check_steps(const struct tt_lane_kind *kind, const struct tt_unary_step *steps,
			     uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!tt_lanes_know(kind, steps[i].fn))
			return tt_fail(TTNN_UNSUPPORTED,
				       "unary function %d is none of single %s elements",
				       (int)steps[i].fn, kind->whole ? "integer" : "float");
	return TTNN_OK;
}

static tt_status check_functions(const struct tt_map_work *work)
{
	const struct tt_map_job *job = work->job;
	const struct tt_lane_kind *kind = &work->kind;
	bool known = job->arity == 1;

	if (job->arity == 2 && job->op < TT_BINARY_FNS)
		known = kind->whole ? kind->int_fns->binary[job->op] != NULL
				    : kind->real_fns->binary[job->op] != NULL;
	if (job->arity == 3 && job->op < TT_TERNARY_FNS)
		known = kind->whole ? kind->int_fns->ternary[job->op] != NULL
				    : kind->real_fns->ternary[job->op] != NULL;
	if (!known)
		return tt_fail(TTNN_UNSUPPORTED,
			       "function %u of %u operands is none of single %s elements", job->op,
			       job->arity, kind->whole ? "integer" : "float");
	for (uint32_t k = 0; k < job->arity; k++)
		TT_TRY(check_steps(kind, job->pre[k], job->pre_count[k]));
	return check_steps(kind, job->post, job->post_count);
}

/* ---- operands --------------------------------------------------------------------------------- */

static tt_status check_broadcast(const struct ttnn_shape *in, const struct ttnn_shape *out)
{
	bool fits = true;

	for (uint32_t back = 1; fits && back <= in->rank; back++)
		fits = tt_shape_last(in, back) == 1 ||
		       tt_shape_last(in, back) == tt_shape_last(out, back);
	if (!fits)
		return tt_fail(TTNN_INTERNAL, "an operand cannot be broadcast to the result");
	return TTNN_OK;
}

/* One value, read once, is as good as a number in the job. */
static tt_status make_constant(struct tt_map_operand *operand)
{
	static const uint32_t origin[TTNN_MAX_RANK];

	operand->constant = true;
	return tt_area_get(&operand->value, &operand->area, origin);
}

static tt_status prepare_operand(struct tt_map_work *work, uint32_t which)
{
	struct tt_map_operand *operand = &work->in[which];
	const struct tt_area *out = &work->out;
	enum ttnn_dtype dtype;
	uint64_t volume;

	if (operand->constant)
		return TTNN_OK;
	TT_TRY(check_broadcast(&operand->area.shape, &out->shape));
	TT_TRY(ttnn_shape_volume(&volume, &operand->area.shape));
	if (volume == 1)
		return make_constant(operand);
	if (tt_tile_equal(&operand->area.tile, &out->tile))
		return TTNN_OK;
	dtype = tt_cpu_single(operand->area.dtype);
	if (dtype == TTNN_FP8_E4M3) /* not in tiles */
		dtype = TTNN_BFLOAT16;
	TT_TRY(tt_scratch_init(&operand->scratch, &operand->area.shape, dtype,
			       tt_area_is_tiled(out) ? &out->tile : NULL));
	TT_TRY(tt_cpu_copy(&operand->scratch.area, &operand->area));
	operand->area = operand->scratch.area;
	return TTNN_OK;
}

/* Whether all that is stored can be taken as one long row, padding and all. */
static bool is_linear(const struct tt_map_work *work)
{
	if (tt_dtype_is_block(work->out.dtype))
		return false;
	for (uint32_t k = 0; k < work->job->arity; k++)
		if (!work->in[k].constant && (tt_dtype_is_block(work->in[k].area.dtype) ||
					      !tt_area_alike(&work->in[k].area, &work->out)))
			return false;
	return true;
}

/* ---- jobs ------------------------------------------------------------------------------------- */

/* Nothing but another type or layout. */
static bool is_copy(const struct tt_map_job *job)
{
	const struct tt_tensor *in = job->in[0];

	if (job->arity != 1 || !in || !ttnn_shape_equal(&in->spec.shape, &job->out->spec.shape) ||
	    (job->as_float && in->spec.dtype != TTNN_FLOAT32))
		return false;
	for (uint32_t i = 0; i < job->pre_count[0]; i++)
		if (job->pre[0][i].fn != TT_UNARY_IDENTITY)
			return false;
	for (uint32_t i = 0; i < job->post_count; i++)
		if (job->post[i].fn != TT_UNARY_IDENTITY)
			return false;
	return true;
}

static tt_status run(struct tt_map_work *work)
{
	struct tt_scratch staged;
	struct tt_area target;
	tt_status status = TTNN_OK;

	staged.block = NULL;

	/* Kernels do not know transposed tiles: such a result is made in rows and copied. */
	if (work->out.tile.transpose) {
		enum ttnn_dtype dtype = work->out.dtype;

		target = work->out;
		if (tt_dtype_is_block(dtype))
			dtype = TTNN_FLOAT32; /* so that it is rounded once */
		TT_TRY(tt_scratch_init(&staged, &target.shape, dtype, NULL));
		work->out = staged.area;
	}
	for (uint32_t k = 0; k < work->job->arity && status == TTNN_OK; k++)
		status = prepare_operand(work, k);
	if (status == TTNN_OK) {
		if (tt_area_is_tiled(&work->out) && !is_linear(work))
			tt_map_tiles(work);
		else
			tt_map_rows(work);
		if (staged.block)
			status = tt_cpu_copy(&target, &staged.area);
	}
	for (uint32_t k = 0; k < work->job->arity; k++)
		tt_scratch_deinit(&work->in[k].scratch);
	tt_scratch_deinit(&staged);
	return status;
}

/* An operand that is the output itself is worked on where it lies. */
static tt_status open_tensors(struct tt_map_work *work)
{
	const struct tt_map_job *job = work->job;
	bool in_place = false;

	for (uint32_t k = 0; k < job->arity; k++) {
		struct tt_map_operand *operand = &work->in[k];

		operand->constant = !job->in[k];
		operand->value = job->scalar[k];
		in_place |= job->in[k] == job->out;
		if (job->in[k] && job->in[k] != job->out)
			TT_TRY(tt_session_read(&operand->area, &work->session, job->in[k]));
	}
	TT_TRY(tt_session_write(&work->out, &work->session, job->out, in_place));
	for (uint32_t k = 0; k < job->arity; k++)
		if (job->in[k] == job->out)
			work->in[k].area = work->out;
	return TTNN_OK;
}

static tt_status run_open(struct tt_map_work *work)
{
	TT_TRY(open_tensors(work));
	if (is_copy(work->job))
		return tt_cpu_copy(&work->out, &work->in[0].area);
	return run(work);
}

tt_status tt_cpu_map(const struct tt_map_job *job)
{
	struct tt_map_work work; /* large, and most of it not needed: so it is not cleared */
	uint64_t volume;

	work.job = job;
	work.session.count = 0;
	work.kind = tt_lane_kind(computes_whole(job));
	for (uint32_t k = 0; k < 3; k++)
		work.in[k].scratch.block = NULL;
	TT_TRY(tt_cpu_volume(&volume, job->out));
	TT_TRY(check_functions(&work));
	if (volume == 0)
		return TTNN_OK;
	return tt_session_end(&work.session, run_open(&work));
}
