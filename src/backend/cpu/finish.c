#include "backend/cpu/finish.h"

#include "backend/cpu/lane.h"
#include "backend/cpu/strips.h"
#include "backend/cpu/sums.h"
#include "base/pool.h"
#include "tensor/shape.h"

#define STRIP_ELEMENTS 16384

tt_status tt_finish_check(const struct tt_unary_step *post, uint32_t count)
{
	struct tt_lane_kind kind = tt_lane_kind(false);

	for (uint32_t i = 0; i < count; i++)
		if (!tt_lanes_know(&kind, post[i].fn))
			return tt_fail(TTNN_UNSUPPORTED, "the CPU backend has no function %d",
				       (int)post[i].fn);
	return TTNN_OK;
}

void tt_finish_steps(float *x, size_t count, const struct tt_unary_step *post, uint32_t steps)
{
	struct tt_lane_kind kind = tt_lane_kind(false);

	if (!steps)
		return;
	for (size_t from = 0; from < count; from += TT_CPU_PIECE) {
		size_t some = count - from < TT_CPU_PIECE ? count - from : TT_CPU_PIECE;

		for (uint32_t i = 0; i < steps; i++)
			tt_lanes_step(&kind, x + from, x + from, some, &post[i]);
	}
}

struct work {
	const struct tt_finish *finish;
	const struct tt_sums *fns;
	struct tt_strips strips; /* out, rows */
	uint64_t width, bias_width;
	uint64_t bias_step[TTNN_MAX_RANK]; /* elements from one index of the output to the next */
};

static void add_bias(const struct work *work, float *x, uint64_t row)
{
	const struct ttnn_shape *shape = &work->strips.area[0].shape;
	const float *bias = work->finish->bias.data;
	float scale = (float)work->finish->scale;

	if (!bias) {
		if (work->finish->scale != 1)
			work->fns->line(x, x, (size_t)work->width, scale, 0);
		return;
	}
	for (uint32_t back = 2; back <= shape->rank; back++) {
		uint32_t d = shape->rank - back;

		bias += row % shape->dim[d] * work->bias_step[d];
		row /= shape->dim[d];
	}
	if (work->bias_width == 1)
		work->fns->line(x, x, (size_t)work->width, scale, *bias);
	else
		work->fns->bias(x, x, bias, (size_t)work->width, scale);
}

static void finish_strips(void *context, size_t begin, size_t end)
{
	const struct work *work = context;
	const struct tt_finish *finish = work->finish;
	struct tt_strip strip;

	for (uint64_t i = begin; i < end; i++) {
		float *x;

		tt_strip_get(&strip, &work->strips, i);
		x = strip.part[1].data;
		if (finish->bias.data || finish->scale != 1)
			for (uint32_t row = 0; row < strip.rows; row++)
				add_bias(work, x + row * work->width, strip.first + row);
		tt_finish_steps(x, (size_t)(strip.rows * work->width), finish->post,
				finish->post_count);
		if (x != strip.part[0].data)
			tt_part_store(&strip.part[0], x, TTNN_FLOAT32);
	}
}

tt_status tt_finish_rows(const struct tt_area *out, float *rows, const struct tt_finish *finish)
{
	struct tt_area from = tt_area_rows(rows, &out->shape, TTNN_FLOAT32);
	struct work work = {.finish = finish, .fns = tt_sums_get()};
	const struct ttnn_shape *bias = &finish->bias.shape;
	uint64_t step = 1, volume, elements;

	TT_TRY(ttnn_shape_volume(&volume, &out->shape));
	if (volume == 0 ||
	    (rows == out->data && finish->scale == 1 && !finish->bias.data && !finish->post_count))
		return TTNN_OK;
	work.width = tt_shape_last(&out->shape, 1);
	if (finish->bias.data) {
		work.bias_width = step = tt_shape_last(bias, 1);
		for (uint32_t back = 2; back <= bias->rank && back <= out->shape.rank; back++) {
			uint32_t extent = tt_shape_last(bias, back);

			work.bias_step[out->shape.rank - back] = extent == 1 ? 0 : step;
			step *= extent;
		}
	}
	tt_strips_init(&work.strips, (const struct tt_area *const[]){out, &from, NULL},
		       STRIP_ELEMENTS);
	elements = work.strips.tall * work.width;
	tt_pool_for((size_t)work.strips.count,
		    elements < TT_CPU_GRAIN ? (size_t)(TT_CPU_GRAIN / (elements + 1)) : 1,
		    finish_strips, &work);
	return TTNN_OK;
}

tt_status tt_finish_room(float **out, struct tt_scratch *scratch, const struct tt_area *area,
			 const struct tt_area *const *inputs)
{
	bool direct = area->dtype == TTNN_FLOAT32 && tt_area_is_dense(area);

	*scratch = (struct tt_scratch){0};
	for (; direct && *inputs; inputs++)
		direct = (*inputs)->data != area->data;
	if (!direct)
		TT_TRY(tt_scratch_init(scratch, &area->shape, TTNN_FLOAT32, NULL));
	*out = direct ? area->data : scratch->block;
	return TTNN_OK;
}
