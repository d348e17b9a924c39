/*
 * finish.h: the last steps of a job whose results are float32 rows: scale, bias, functions, and the
 * way into the output's type and layout. For products, convolutions and normalisation.
 */
#ifndef TT_BACKEND_CPU_FINISH_H
#define TT_BACKEND_CPU_FINISH_H

#include "backend/cpu/cpu_backend.h"

struct tt_finish {
	double scale; /* multiplies the rows */
	/* Dense float32 rows that are added, broadcast to the output; no data: none. */
	struct tt_area bias;
	const struct tt_unary_step *post;
	uint32_t post_count;
};

/* Whether all functions are known for floats; else says which is not. */
tt_status tt_finish_check(const struct tt_unary_step *post, uint32_t count);

/* Applies the functions to floats in place. */
void tt_finish_steps(float *x, size_t count, const struct tt_unary_step *post, uint32_t steps);

/*
 * out = post(rows × scale + bias). `rows` are all of the output's, dense, in its order; they may be
 * the output itself, and are changed.
 */
tt_status tt_finish_rows(const struct tt_area *out, float *rows, const struct tt_finish *finish);

/*
 * Dense float32 rows for a job to write its results to: the output itself if it is such and no input
 * (NULL ends them) lies there, else a scratch, which the caller deinits either way.
 */
tt_status tt_finish_room(float **out, struct tt_scratch *scratch, const struct tt_area *area,
			 const struct tt_area *const *inputs);

#endif
