/*
 * move.c: jobs that put elements elsewhere without looking at them: move, reshape, bitcast.
 *
 * Moves that take whole tiles to whole tiles copy tiles, whatever is in them. Others copy elements
 * from and to where they lie. Only block floats, and moves that change the type, need a copy of
 * their tensors in rows.
 */
#include <string.h>

#include "backend/cpu/strided.h"
#include "base/mem.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/tile.h"

/* ---- checks ----------------------------------------------------------------------------------- */

/* A loop's dimension and step on one side. */
static int32_t dim_of(const struct tt_move_loop *loop, bool out, int64_t *step)
{
	*step = out ? loop->out_step : loop->in_step;
	return out ? loop->out_dim : loop->in_dim;
}

/* The first and the last index of a dimension that a job comes to. */
static void reach_of(int64_t *low, int64_t *high, const struct tt_move_job *job, bool out,
		     uint32_t d)
{
	*low = *high = out ? job->out_start[d] : job->in_start[d];
	for (uint32_t i = 0; i < job->loop_count; i++) {
		int64_t step, reach;

		if (dim_of(&job->loops[i], out, &step) != (int32_t)d)
			continue;
		reach = ((int64_t)job->loops[i].extent - 1) * step;
		*low += reach < 0 ? reach : 0;
		*high += reach > 0 ? reach : 0;
	}
}

static tt_status check_side(const struct tt_move_job *job, bool out)
{
	const struct ttnn_shape *shape = out ? &job->out->spec.shape : &job->in->spec.shape;

	for (uint32_t d = 0; d < shape->rank; d++) {
		int64_t low, high;

		reach_of(&low, &high, job, out, d);
		if (low < 0 || high >= (int64_t)shape->dim[d])
			return tt_fail(TTNN_INTERNAL,
				       "a move reaches index %lld of a dimension of %u",
				       (long long)(low < 0 ? low : high), shape->dim[d]);
	}
	for (uint32_t i = 0; i < job->loop_count; i++) {
		int64_t step;
		int32_t dim = dim_of(&job->loops[i], out, &step);

		if (dim >= (int32_t)shape->rank)
			return tt_fail(TTNN_INTERNAL, "a move along dimension %d of %u", (int)dim,
				       shape->rank);
	}
	return TTNN_OK;
}

/* How many elements are moved. No element is written twice, so this tells if all are. */
static uint64_t moved(const struct tt_move_job *job)
{
	uint64_t count = 1;

	for (uint32_t i = 0; i < job->loop_count; i++)
		count *= job->loops[i].extent;
	return count;
}

/* ---- whole tiles ------------------------------------------------------------------------------ */

/* The extent of the last dimension (1), or the one before (2): 1 where there is none. */
static int64_t start_of(const struct ttnn_shape *shape, const int64_t *start, uint32_t back)
{
	return back <= shape->rank ? start[shape->rank - back] : 0;
}

static bool moves_dim(const struct tt_move_loop *loop, const struct tt_move_job *job, bool out,
		      uint32_t back)
{
	const struct ttnn_shape *shape = out ? &job->out->spec.shape : &job->in->spec.shape;
	int64_t step;

	return back <= shape->rank && dim_of(loop, out, &step) == (int32_t)(shape->rank - back) &&
	       loop->extent > 1;
}

/*
 * Whether along the last dimension (back 1), or the one before, tiles go to tiles: one loop by
 * single elements, the same on both sides, that starts and ends where tiles do (or the tensors do),
 * and all others by whole tiles. Sets the number of that loop, or leaves it.
 */
static bool tiles_along(uint32_t *unit_loop, const struct tt_move_job *job, uint32_t back,
			int64_t size)
{
	const struct ttnn_shape *out = &job->out->spec.shape, *in = &job->in->spec.shape;
	int64_t out_start = start_of(out, job->out_start, back);
	int64_t in_start = start_of(in, job->in_start, back), extent = 1;
	bool others = false;

	for (uint32_t i = 0; i < job->loop_count; i++) {
		const struct tt_move_loop *loop = &job->loops[i];
		bool on_out = moves_dim(loop, job, true, back);
		bool on_in = moves_dim(loop, job, false, back);

		if (on_out && on_in && loop->out_step == 1 && loop->in_step == 1 &&
		    *unit_loop == UINT32_MAX) {
			*unit_loop = i;
			extent = loop->extent;
			continue;
		}
		if ((on_out && loop->out_step % size) || (on_in && loop->in_step % size))
			return false;
		others |= on_out || on_in;
	}
	if (out_start % size || in_start % size)
		return false;
	/* What a tile has beyond the end goes into padding, where only padding is. */
	return extent % size == 0 || (!others && out_start + extent == tt_shape_last(out, back));
}

/* The side in units of tiles. */
static struct tt_strided_side tile_side(const struct tt_area *area, const int64_t *start)
{
	struct tt_strided_side side = {.data = area->data, .rank = area->shape.rank};
	uint64_t across = area->cols / area->tile.width;

	for (uint32_t back = 1; back <= side.rank; back++) {
		uint32_t d = side.rank - back;

		side.axis[d].tile = back == 1   ? 1
				    : back == 2 ? across
						: area->step[d] / area->tile.height * across;
		side.start[d] = back == 1   ? start[d] / area->tile.width
				: back == 2 ? start[d] / area->tile.height
					    : start[d];
	}
	return side;
}

static void tile_steps(struct tt_move_loop *loop, uint32_t rank, const struct ttnn_tile *tile,
		       bool out)
{
	int32_t dim = out ? loop->out_dim : loop->in_dim;
	int64_t *step = out ? &loop->out_step : &loop->in_step;

	if (dim >= 0 && (uint32_t)dim + 1 == rank)
		*step /= tile->width;
	else if (dim >= 0 && (uint32_t)dim + 2 == rank)
		*step /= tile->height;
}

/* Copies whole tiles if the job is made of them; *done tells. */
static tt_status move_tiles(bool *done, const struct tt_move_job *job, const struct tt_area *out,
			    const struct tt_area *in)
{
	struct tt_move_loop loops[2 * TTNN_MAX_RANK];
	uint32_t unit[2] = {UINT32_MAX, UINT32_MAX};
	struct tt_strided copy = {.loops = loops, .loop_count = job->loop_count};

	*done = false;
	if (!tt_area_is_tiled(out) || !tt_tile_equal(&out->tile, &in->tile) ||
	    out->dtype != in->dtype || job->loop_count > 2 * TTNN_MAX_RANK ||
	    !tiles_along(&unit[0], job, 1, out->tile.width) ||
	    !tiles_along(&unit[1], job, 2, out->tile.height))
		return TTNN_OK;
	for (uint32_t i = 0; i < job->loop_count; i++) {
		loops[i] = job->loops[i];
		if (i == unit[0] || i == unit[1]) {
			loops[i].extent = (uint32_t)tt_div_up(
				loops[i].extent, i == unit[0] ? out->tile.width : out->tile.height);
			continue; /* by one tile as by one element */
		}
		tile_steps(&loops[i], out->shape.rank, &out->tile, true);
		tile_steps(&loops[i], in->shape.rank, &in->tile, false);
	}
	copy.out = tile_side(out, job->out_start);
	copy.in = tile_side(in, job->in_start);
	copy.bytes = tt_dtype_tile_bytes(out->dtype, &out->tile);
	*done = true;
	return tt_strided_copy(&copy);
}

/* ---- elements --------------------------------------------------------------------------------- */

/* Both areas have single elements of one type. */
static tt_status move_elements(const struct tt_move_job *job, const struct tt_area *out,
			       const struct tt_area *in)
{
	struct tt_strided copy = {
		.out = tt_strided_of(out),
		.in = tt_strided_of(in),
		.bytes = tt_dtype_bytes(out->dtype),
		.loops = job->loops,
		.loop_count = job->loop_count,
	};

	memcpy(copy.out.start, job->out_start, sizeof(copy.out.start));
	memcpy(copy.in.start, job->in_start, sizeof(copy.in.start));
	return tt_strided_copy(&copy);
}

/* The part of the input that a job reads, in whole tiles: from `start` on, of this shape. */
static void read_box(uint32_t *start, struct ttnn_shape *shape, const struct tt_move_job *job,
		     const struct tt_area *in)
{
	const uint32_t edges[] = {in->tile.width, in->tile.height}; /* 0: rows */
	uint32_t rank = in->shape.rank;

	*shape = in->shape;
	for (uint32_t d = 0; d < rank; d++) {
		uint32_t edge = rank - 1 - d < 2 ? edges[rank - 1 - d] : 0;
		int64_t low, high;

		reach_of(&low, &high, job, false, d);
		start[d] = (uint32_t)(edge ? low / edge * edge : low);
		shape->dim[d] = (uint32_t)(high + 1 - start[d]);
	}
}

/* The matrices of the output from the first one that a job writes into to the last, which lie without gaps. */
static struct tt_area written_part(int64_t *start, const struct tt_move_job *job,
				   const struct tt_area *out)
{
	uint32_t at[TTNN_MAX_RANK] = {0}, rank = out->shape.rank;
	struct ttnn_shape shape = out->shape;
	struct tt_area part;
	uint64_t rows = rank > 2 ? out->step[rank - 3] : out->rows;

	for (uint32_t d = 0; d + 2 < rank && (d == 0 || shape.dim[d - 1] == 1); d++) {
		int64_t low, high;

		reach_of(&low, &high, job, true, d);
		at[d] = (uint32_t)low;
		start[d] -= low;
		shape.dim[d] = (uint32_t)(high + 1 - low);
	}
	for (uint32_t d = 0; d + 2 < rank; d++)
		rows += (shape.dim[d] - 1) * out->step[d];
	part = tt_area_part(out, at, &shape);
	part.rows = rows;
	return part;
}

/* Through rows of a type that both can be converted to and from: what is read, and what is written into. */
static tt_status move_converted(const struct tt_move_job *job, const struct tt_area *out,
				const struct tt_area *in, bool whole)
{
	bool block = tt_dtype_is_block(out->dtype);
	enum ttnn_dtype dtype = block ? TTNN_FLOAT32 : out->dtype;
	struct tt_move_job inner = *job;
	struct tt_scratch from = {0}, to = {0};
	struct tt_area read, written = *out;
	uint32_t start[TTNN_MAX_RANK];
	struct ttnn_shape shape;
	tt_status status;

	read_box(start, &shape, job, in);
	read = ttnn_shape_equal(&shape, &in->shape) ? *in : tt_area_part(in, start, &shape);
	for (uint32_t d = 0; d < shape.rank; d++)
		inner.in_start[d] -= start[d];
	if (block && !whole)
		written = written_part(inner.out_start, job, out);
	status = tt_scratch_init(&from, &shape, dtype, NULL);
	if (status == TTNN_OK)
		status = tt_cpu_copy(&from.area, &read);
	if (status == TTNN_OK && block)
		status = tt_scratch_init(&to, &written.shape, dtype, NULL);
	if (status == TTNN_OK && block && !whole)
		status = tt_cpu_copy(&to.area, &written);
	if (status == TTNN_OK)
		status = move_elements(&inner, block ? &to.area : out, &from.area);
	if (status == TTNN_OK && block)
		status = tt_cpu_copy(&written, &to.area);
	tt_scratch_deinit(&from);
	tt_scratch_deinit(&to);
	return status;
}

static tt_status move_open(const struct tt_move_job *job, struct tt_session *session)
{
	struct tt_area out, in;
	uint64_t volume, count = moved(job);
	bool done = false, whole;

	TT_TRY(tt_cpu_volume(&volume, job->out));
	whole = count == volume;
	TT_TRY(tt_session_read(&in, session, job->in));
	TT_TRY(tt_session_write(&out, session, job->out, !whole));
	if (in.data != out.data)
		TT_TRY(move_tiles(&done, job, &out, &in));
	if (done)
		return TTNN_OK;
	if (in.data == out.data || in.dtype != out.dtype || tt_dtype_is_block(out.dtype))
		return move_converted(job, &out, &in, whole);
	return move_elements(job, &out, &in);
}

tt_status tt_cpu_move(const struct tt_move_job *job)
{
	struct tt_session session = {0};

	if (moved(job) == 0)
		return TTNN_OK;
	TT_TRY(check_side(job, true));
	TT_TRY(check_side(job, false));
	return tt_session_end(&session, move_open(job, &session));
}

/* ---- reshape and bitcast ------------------------------------------------------------------------ */

/* The same elements, whose shape is another, as dense rows. */
static struct tt_area reshaped(const struct tt_area *dense, const struct ttnn_shape *shape)
{
	return tt_area_rows(dense->data, shape, dense->dtype);
}

/* One of the two is in dense rows, or a copy of the input is made that is. */
static tt_status reshape_areas(const struct tt_area *out, const struct tt_area *in)
{
	struct tt_scratch scratch = {0};
	struct tt_area from = *in, to = *out;
	tt_status status = TTNN_OK;

	if (tt_area_is_dense(in)) {
		from = reshaped(in, &out->shape);
	} else if (tt_area_is_dense(out)) {
		to = reshaped(out, &in->shape);
	} else {
		status = tt_cpu_rows(&from, &scratch, in, tt_cpu_single(in->dtype));
		from = reshaped(&from, &out->shape);
	}
	if (status == TTNN_OK)
		status = tt_cpu_copy(&to, &from);
	tt_scratch_deinit(&scratch);
	return status;
}

static tt_status reshape_open(struct tt_tensor *out, struct tt_tensor *in,
			      struct tt_session *session)
{
	struct tt_scratch scratch = {0};
	struct tt_area to, from;
	tt_status status;

	TT_TRY(tt_session_read(&from, session, in));
	TT_TRY(tt_session_write(&to, session, out, false));
	if (ttnn_shape_equal(&to.shape, &from.shape))
		return tt_cpu_copy(&to, &from);
	if (to.dtype == from.dtype && out->spec.bytes == in->spec.bytes &&
	    tt_area_same_places(&to, &from)) {
		tt_cpu_memcpy(to.data, from.data, out->spec.bytes);
		return TTNN_OK;
	}
	if (to.data != from.data)
		return reshape_areas(&to, &from);
	status = tt_scratch_init(&scratch, &from.shape, tt_cpu_single(from.dtype), NULL);
	if (status == TTNN_OK)
		status = tt_cpu_copy(&scratch.area, &from);
	if (status == TTNN_OK)
		status = reshape_areas(&to, &scratch.area);
	tt_scratch_deinit(&scratch);
	return status;
}

tt_status tt_cpu_reshape(struct tt_tensor *out, struct tt_tensor *in)
{
	struct tt_session session = {0};
	uint64_t out_volume, in_volume;

	TT_TRY(tt_cpu_volume(&out_volume, out));
	TT_TRY(tt_cpu_volume(&in_volume, in));
	if (out_volume != in_volume)
		return tt_fail(TTNN_INTERNAL, "a reshape changes the number of elements");
	if (out_volume == 0)
		return TTNN_OK;
	return tt_session_end(&session, reshape_open(out, in, &session));
}

static tt_status bitcast_open(struct tt_tensor *out, struct tt_tensor *in,
			      struct tt_session *session)
{
	struct tt_area to, from;

	TT_TRY(tt_session_read(&from, session, in));
	TT_TRY(tt_session_write(&to, session, out, false));
	from.dtype = to.dtype;
	return tt_cpu_copy(&to, &from);
}

tt_status tt_cpu_bitcast(struct tt_tensor *out, struct tt_tensor *in)
{
	enum ttnn_dtype to = out->spec.dtype, from = in->spec.dtype;
	struct tt_session session = {0};

	if (tt_dtype_is_block(to) || tt_dtype_is_block(from) ||
	    tt_dtype_bytes(to) != tt_dtype_bytes(from) ||
	    !ttnn_shape_equal(&out->spec.shape, &in->spec.shape))
		return tt_fail(TTNN_INTERNAL, "elements of %s cannot be read as %s",
			       ttnn_dtype_name(from, TTNN_DIALECT_SEED),
			       ttnn_dtype_name(to, TTNN_DIALECT_SEED));
	return tt_session_end(&session, bitcast_open(out, in, &session));
}
