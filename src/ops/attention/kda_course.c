/* kda_course.c: where the rows of a chip are in a sequence that goes round the chips as a cache grows. */
#include "device/device.h"
#include "device/devtensor.h"
#include "ops/attention/kda.h"

static tt_status read_number(uint64_t *out, const struct tt_launch *launch, size_t input)
{
	double value = 0;

	TT_TRY(tt_tensor_numbers(&value, 1, launch->inputs[input]));
	*out = (uint64_t)value;
	return TTNN_OK;
}

tt_status tt_kda_course_of(struct tt_kda_course *c, const struct tt_launch *launch,
			   const struct tt_kda_question *question)
{
	bool down = question->axis == 0;
	uint64_t rank =
		down ? launch->chip / launch->device->cols : launch->chip % launch->device->cols;
	uint64_t start, end, count, before, cut;

	*c = (struct tt_kda_course){.chips = down ? launch->device->rows : launch->device->cols,
				    .rows = question->rows};
	TT_TRY(read_number(&start, launch, question->start));
	count = c->chips * c->rows;
	if (launch->input_count > question->end && launch->inputs[question->end]) {
		TT_TRY(read_number(&end, launch, question->end));
		count = tt_lesser(count, end > start ? end - start : 0);
	}
	c->first = start / c->rows % c->chips;
	c->place = (rank + c->chips - c->first) % c->chips;
	cut = c->chips > 1 ? start % c->rows : 0; /* on one chip all rows follow each other */
	c->head = c->place ? c->rows : c->rows - cut;
	before = c->place * c->rows - (c->place ? cut : 0);
	c->own = count > before ? tt_lesser(count - before, c->head) : 0;
	return TTNN_OK;
}
