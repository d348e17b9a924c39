/*
 * attention_ring_run.c: what each chip of a ring computes: its queries with the keys and values of all.
 *
 * Rows of a sequence lie on chips in parts: whole, in two halves that meet in the middle (balanced), or slab by slab as
 * a cache grows (chunked). Here keys and values are put in the order of the sequence first.
 */
#include <math.h>

#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "ops/attention/attention_ring.h"
#include "ops/collective/collective.h"
#include "tensor/shape.h"

/* How keys lie: chip `rank` has `count` parts of `rows` rows each. */
struct layout {
	uint64_t rows, count, ring;
	bool halves;
};

static uint64_t place_of(const struct layout *layout, uint64_t rank, uint64_t i)
{
	if (layout->halves)
		return layout->rows * (i ? 2 * layout->ring - 1 - rank : rank);
	return layout->rows * (i * layout->ring + rank);
}

static struct layout layout_of(const struct tt_launch *launch)
{
	uint64_t keys = tt_ring_dim(launch, TT_RING_K, 2);
	struct layout out = {keys, 1, tt_ring_number(launch, TT_RING_SIZE), false};

	if (tt_ring_chunked(launch) && !tt_ring_flag(launch, TT_RING_CROSS)) {
		out.rows = tt_ring_dim(launch, TT_RING_Q, 2);
		out.count = keys / out.rows;
	} else if (tt_ring_flag(launch, TT_RING_BALANCED)) {
		out.rows = keys / 2;
		out.count = 2;
		out.halves = true;
	}
	return out;
}

/* The parts of a chip's queries: at most two. */
static size_t query_parts(struct tt_ring_part out[2], const struct tt_launch *launch, uint64_t rank)
{
	const struct layout layout = layout_of(launch);
	uint64_t rows = tt_ring_dim(launch, TT_RING_Q, 2),
		 all = tt_ring_number(launch, TT_RING_ROWS);
	uint64_t before = tt_ring_number(launch, TT_RING_BEFORE), group = rows * layout.ring,
		 at = 0;
	size_t count = 0;

	if (!tt_ring_chunked(launch)) {
		for (uint64_t i = 0; i < layout.count; i++)
			out[count++] =
				(struct tt_ring_part){i * layout.rows, i * layout.rows, layout.rows,
						      place_of(&layout, rank, i)};
		return count;
	}
	if (!tt_ring_given(launch, TT_RING_BEFORE)) {
		out[0] = (struct tt_ring_part){0, 0, rows,
					       (all > group ? all - group : 0) + rank * rows};
		return 1;
	}
	/* Those of the slab that the cache has begun, then those of the next. */
	for (uint64_t i = before / group; i <= before / group + 1; i++) {
		uint64_t first = place_of(&layout, rank, i), end = tt_lesser(first + rows, all);

		first = first > before ? first : before;
		if (end <= first)
			continue;
		out[count++] = (struct tt_ring_part){at, at, end - first, first};
		at += end - first;
	}
	return count;
}

struct rows {
	struct tt_tensor *tensor;
	uint64_t batch, row;
};

/* Rows of all heads from one tensor to another, of `batches` batches. */
static tt_status copy_rows(struct rows out, struct rows in, uint64_t batches, uint64_t rows)
{
	const uint32_t *dim = in.tensor->spec.shape.dim;
	const struct tt_move_loop loops[] = {
		{(uint32_t)batches, 0, 0, 1, 1},
		{dim[1], 1, 1, 1, 1},
		{(uint32_t)rows, 2, 2, 1, 1},
		{(uint32_t)tt_lesser(dim[3], out.tensor->spec.shape.dim[3]), 3, 3, 1, 1},
	};

	if (!rows || !batches)
		return TTNN_OK;
	return tt_backend_get()->move(&(struct tt_move_job){
		.out = out.tensor,
		.in = in.tensor,
		.loops = loops,
		.loop_count = TT_COUNT(loops),
		.out_start = {(int64_t)out.batch, 0, (int64_t)out.row, 0},
		.in_start = {(int64_t)in.batch, 0, (int64_t)in.row, 0},
	});
}

static tt_status scratch(struct tt_tensor **out, uint32_t batches, uint32_t heads, uint64_t rows,
			 uint32_t width)
{
	struct ttnn_spec_args args = {.shape = TT_SHAPE(batches, heads, (uint32_t)rows, width),
				      .dtype = TTNN_BFLOAT16,
				      .layout = TTNN_TILE};
	struct ttnn_tensor_spec spec;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	return ttnn_tensor_new(out, &spec);
}

/* What one chip of the group has, to its places in the sequence, as far as that goes. */
static tt_status place_part(struct tt_tensor *out, const struct tt_launch *launch,
			    struct tt_tensor *in, uint64_t rank)
{
	const struct layout layout = layout_of(launch);
	uint64_t all = tt_ring_number(launch, TT_RING_ROWS);

	for (uint64_t i = 0; i < layout.count; i++) {
		uint64_t place = place_of(&layout, rank, i);

		if (place < all)
			TT_TRY(copy_rows((struct rows){out, 0, place},
					 (struct rows){in, tt_ring_slot(launch), i * layout.rows},
					 out->spec.shape.dim[0],
					 tt_lesser(layout.rows, all - place)));
	}
	return TTNN_OK;
}

/* A part of the second sequence behind the first: whole, or what a chip has of it. */
static tt_status place_joint(struct tt_tensor *out, const struct tt_launch *launch,
			     struct tt_tensor *in, uint64_t rank)
{
	uint64_t rows = in->spec.shape.dim[2], first = tt_ring_number(launch, TT_RING_ROWS);
	uint64_t room = out->spec.shape.dim[2] - first;

	if (rank * rows >= room)
		return TTNN_OK;
	return copy_rows((struct rows){out, 0, first + rank * rows}, (struct rows){in, 0, 0},
			 out->spec.shape.dim[0], tt_lesser(rows, room - rank * rows));
}

/* The gathered tensor gets what the other chips have, where there is room for all. */
static tt_status keep_part(const struct tt_launch *launch, int input, struct tt_tensor *in,
			   const struct tt_group *group, uint32_t rank)
{
	struct tt_tensor *gathered = launch->inputs[input], *out;
	uint64_t rows = in->spec.shape.dim[2];
	bool one = tt_ring_given(launch, TT_RING_SLOT);
	tt_status status;

	if (!gathered || rank == group->own || tt_ring_given(launch, TT_RING_WINDOW) ||
	    tt_ring_number(launch, TT_RING_DIM) != 2)
		return TTNN_OK;
	TT_TRY(tt_tensor_resident(&out, gathered, group->chips[group->own], TT_BUFFER_UPDATE));
	status = copy_rows((struct rows){out, 0, rank * rows},
			   (struct rows){in, one ? tt_ring_slot(launch) : 0, 0},
			   one ? 1 : in->spec.shape.dim[0], rows);
	ttnn_tensor_unref(out);
	return status;
}

/* Keys or values of all chips in the order of the sequence, and those of the second behind them. */
static tt_status collect(struct tt_tensor **out, const struct tt_launch *launch,
			 const int inputs[4], const struct tt_group *group)
{
	const uint32_t *dim = tt_ring_spec(launch, inputs[0])->shape.dim;
	const struct ttnn_tensor_spec *joint = tt_ring_spec(launch, inputs[1]);
	uint64_t joint_rows = joint ? joint->shape.dim[2] : 0;
	bool cut = launch->inputs[inputs[3]] != NULL;
	tt_status status;

	if (cut)
		joint_rows = tt_ring_number(launch, TT_RING_JOINT_ROWS);
	status = scratch(out, tt_ring_dim(launch, TT_RING_Q, 0), dim[1],
			 tt_ring_number(launch, TT_RING_ROWS) + joint_rows, dim[3]);
	for (uint32_t i = 0; i < group->count && status == TTNN_OK; i++) {
		struct tt_tensor *in = NULL, *second = NULL;

		status = tt_tensor_resident(&in, launch->inputs[inputs[0]], group->chips[i],
					    TT_BUFFER_READ);
		if (status == TTNN_OK)
			status = place_part(*out, launch, in, i);
		if (status == TTNN_OK)
			status = keep_part(launch, inputs[2], in, group, i);
		if (status == TTNN_OK && joint && (cut || i == group->own))
			status = tt_tensor_resident(&second, launch->inputs[inputs[1]],
						    group->chips[i], TT_BUFFER_READ);
		if (status == TTNN_OK && second)
			status = place_joint(*out, launch, second, cut ? i : 0);
		if (status == TTNN_OK && second)
			status = keep_part(launch, inputs[3], second, group, i);
		ttnn_tensor_unref(in);
		ttnn_tensor_unref(second);
	}
	return status;
}

tt_status tt_ring_attend(struct tt_tensor *out, struct tt_tensor *q,
			 const struct tt_ring_part *part, struct tt_attention_job job)
{
	const uint32_t *dim = q->spec.shape.dim;
	tt_status status = scratch(&job.q, dim[0], dim[1], part->rows, dim[3]);

	if (status == TTNN_OK)
		status = scratch(&job.out, dim[0], dim[1], part->rows, out->spec.shape.dim[3]);
	if (status == TTNN_OK)
		status = copy_rows((struct rows){job.q, 0, 0}, (struct rows){q, 0, part->at},
				   dim[0], part->rows);
	job.start = (int64_t)part->place;
	if (status == TTNN_OK)
		status = tt_backend_get()->attention(&job);
	if (status == TTNN_OK)
		status = copy_rows((struct rows){out, 0, part->to}, (struct rows){job.out, 0, 0},
				   dim[0], part->rows);
	ttnn_tensor_unref(job.q);
	ttnn_tensor_unref(job.out);
	return status;
}

/* Queries of one input, cut into parts, and the result that they have. A part without rows ends them. */
static tt_status attend(const struct tt_launch *launch, uint32_t chip, int which,
			const struct tt_ring_part *parts, const struct tt_attention_job *job)
{
	struct tt_tensor *q = NULL, *out = NULL;
	tt_status status = tt_tensor_resident(&out, launch->outputs[which], chip, TT_BUFFER_UPDATE);

	if (status == TTNN_OK)
		status = tt_tensor_resident(&q, launch->inputs[which ? TT_RING_JOINT_Q : TT_RING_Q],
					    chip, TT_BUFFER_READ);
	for (; parts->rows && status == TTNN_OK; parts++)
		status = tt_ring_attend(out, q, parts, *job);
	ttnn_tensor_unref(q);
	ttnn_tensor_unref(out);
	return status;
}

static tt_status run_chip(const struct tt_launch *launch, uint32_t chip)
{
	static const int keys[] = {TT_RING_K, TT_RING_JOINT_K, TT_RING_GATHERED_K,
				   TT_RING_GATHERED_JOINT_K};
	static const int values[] = {TT_RING_V, TT_RING_JOINT_V, TT_RING_GATHERED_V,
				     TT_RING_GATHERED_JOINT_V};
	const struct ttnn_value *scale = &launch->attrs[TT_RING_SCALE];
	struct tt_attention_job job = {
		.scale = tt_value_given(scale) ? scale->real
					       : 1 / sqrt(tt_ring_dim(launch, TT_RING_Q, 3)),
		.causal = tt_ring_flag(launch, TT_RING_CAUSAL),
		.window = (uint32_t)tt_ring_number(launch, TT_RING_WINDOW),
	};
	struct tt_ring_part parts[3] = {0};
	struct tt_ring_part joint[2] = {{.rows = tt_ring_dim(launch, TT_RING_JOINT_Q, 2)}};
	struct tt_group group;
	tt_status status = TTNN_OK;

	tt_group_find(&group, launch->device, tt_group_axis(&launch->attrs[TT_RING_AXIS]), chip);
	parts[query_parts(parts, launch, group.own)].rows = 0;
	if (launch->inputs[TT_RING_SINK])
		status = tt_tensor_resident(&job.sink, launch->inputs[TT_RING_SINK], chip,
					    TT_BUFFER_READ);
	if (status == TTNN_OK)
		status = collect(&job.k, launch, keys, &group);
	if (status == TTNN_OK && launch->inputs[TT_RING_V])
		status = collect(&job.v, launch, values, &group);
	if (status == TTNN_OK)
		status = attend(launch, chip, 0, parts, &job);
	if (status == TTNN_OK && joint->rows)
		status = attend(launch, chip, 1, joint, &job);
	ttnn_tensor_unref(job.sink);
	ttnn_tensor_unref(job.k);
	ttnn_tensor_unref(job.v);
	return status;
}

tt_status tt_ring_run(struct tt_launch *launch)
{
	for (uint32_t chip = 0; chip < launch->device->rows * launch->device->cols; chip++)
		TT_TRY(run_chip(launch, chip));
	return TTNN_OK;
}
