/*
 * golden_softmax.c: goldens of softmax with scale and mask: exp(x − largest) over its sum along
 * a dimension, in float64.
 */
#include <math.h>

#include "golden/golden_reduction.h"

/* Which part of a mask an element of the input sees. */
enum masking {
	MASK_ROW, /* the first row, in all rows */
	MASK_ALL, /* row after row of all heads, from the start again when it ends */
};

struct softening {
	const struct tt_array *in, *mask; /* mask: (optional) */
	double scale;
	enum masking masking;
	uint32_t dim;
	bool log;
};

static double mask_at(const struct softening *soft, const uint64_t *coordinate)
{
	const struct tt_array *mask = soft->mask;
	uint32_t rank = soft->in->shape.rank, mask_rank = mask->shape.rank;
	uint64_t at[TTNN_MAX_RANK] = {0}, rows = mask->shape.dim[mask_rank - 2], row = 0;
	uint64_t across = coordinate[rank - 1], width = mask->shape.dim[mask_rank - 1];

	if (mask->count == soft->in->count && ttnn_shape_equal(&mask->shape, &soft->in->shape))
		return *tt_at(mask, tt_array_index(mask, coordinate));
	if (width < soft->in->shape.dim[rank - 1] && soft->masking == MASK_ROW) {
		at[0] = coordinate[0] % mask->shape.dim[0]; /* the row is in pieces */
		at[mask_rank - 2] = across / width;
		at[mask_rank - 1] = across % width;
		return *tt_at(mask, tt_array_index(mask, at));
	}
	for (uint32_t d = 1; d + 1 < rank; d++)
		row = row * soft->in->shape.dim[d] + coordinate[d];
	at[0] = coordinate[0] % mask->shape.dim[0];
	at[mask_rank - 2] = soft->masking == MASK_ALL ? row % rows : 0;
	at[mask_rank - 1] = across;
	return *tt_at(mask, tt_array_index(mask, at));
}

/* x * scale + mask, in a scratch array. */
static struct tt_array *shifted(struct tt_golden *golden, const struct softening *soft)
{
	struct tt_array *out = tt_golden_temp(golden, &soft->in->shape);
	uint64_t coordinate[TTNN_MAX_RANK];

	for (uint64_t i = 0; out && i < out->count; i++) {
		tt_array_coordinate(coordinate, out, i);
		*tt_at(out, i) = *tt_at(soft->in, i) * soft->scale;
		if (soft->mask)
			*tt_at(out, i) += mask_at(soft, coordinate);
	}
	return out;
}

static tt_status soften(struct tt_golden *golden, const struct softening *soft)
{
	struct tt_array *x = soft->in ? shifted(golden, soft) : NULL;
	struct tt_array *out = x ? tt_golden_out(golden, &x->shape, soft->in->dtype) : NULL;
	uint64_t step = 1, extent;

	TT_GOLDEN_NEED(out);
	if (!x->shape.rank) { /* one number, which is all there is */
		*tt_at(out, 0) = soft->log ? 0 : 1;
		return TTNN_OK;
	}
	extent = x->shape.dim[soft->dim];
	for (uint32_t d = soft->dim + 1; d < x->shape.rank; d++)
		step *= x->shape.dim[d];
	/* Line after line: each begins where its coordinate along `dim` is 0. */
	for (uint64_t first = 0; first < x->count; first++) {
		double largest = -INFINITY, sum = 0;

		if (first / step % extent)
			continue;
		for (uint64_t k = 0; k < extent; k++)
			largest = fmax(largest, *tt_at(x, first + k * step));
		for (uint64_t k = 0; k < extent; k++)
			sum += exp(*tt_at(x, first + k * step) - largest);
		for (uint64_t k = 0; k < extent; k++) {
			double away = *tt_at(x, first + k * step) - largest;

			*tt_at(out, first + k * step) =
				soft->log ? away - log(sum) : exp(away) / sum;
		}
	}
	return TTNN_OK;
}

static tt_status plain(struct tt_golden *golden, struct softening soft)
{
	int64_t dim = tt_call_int(&golden->call, "dim", -1);

	soft.in = tt_golden_in(golden, "input_tensor");
	if (soft.in)
		soft.dim = (uint32_t)(dim < 0 ? dim + soft.in->shape.rank : dim);
	return soften(golden, &soft);
}

tt_status tt_golden_softmax(struct tt_golden *golden)
{
	return plain(golden, (struct softening){.scale = 1});
}

/* Softmax, softmin or the logarithm of softmax, as `op` says. */
tt_status tt_golden_moreh_softmax(struct tt_golden *golden)
{
	int64_t kind = tt_call_arg(&golden->call, "op")->integer;

	return plain(golden, (struct softening){.scale = kind == 1 ? -1 : 1, .log = kind == 2});
}

static tt_status masked(struct tt_golden *golden, const char *input, const char *mask,
			struct softening soft)
{
	soft.in = tt_golden_in(golden, input);
	soft.mask = tt_golden_in(golden, mask);
	if (soft.in && (!soft.in->shape.rank ||
			(soft.mask && (soft.mask->shape.rank < 2 || !soft.mask->count))))
		return tt_fail(TTNN_INVALID, "%s: the shapes of its inputs do not fit together",
			       golden->op->name);
	if (soft.in)
		soft.dim = soft.in->shape.rank - 1;
	return soften(golden, &soft);
}

tt_status tt_golden_scale_mask_softmax(struct tt_golden *golden)
{
	bool causal = tt_call_bool(&golden->call, "is_causal_mask", false);

	return masked(golden, "input_tensor", "mask",
		      (struct softening){.scale = tt_call_real(&golden->call, "scale", 1),
					 .masking = causal ? MASK_ALL : MASK_ROW});
}

tt_status tt_golden_scale_causal_softmax(struct tt_golden *golden)
{
	return masked(golden, "input_tensor", "mask",
		      (struct softening){.scale = tt_call_real(&golden->call, "scale", 1),
					 .masking = MASK_ALL});
}

tt_status tt_golden_attention_softmax(struct tt_golden *golden)
{
	const struct tt_array *mask = tt_golden_in(golden, "attention_mask");
	/* A mask of more than a tile of rows is meant for each of them, whatever else is said. */
	bool causal = tt_call_bool(&golden->call, "causal_mask", false) ||
		      (mask && tt_shape_last(&mask->shape, 2) > 32);
	double size = tt_call_real(&golden->call, "head_size", 1);

	return masked(golden, "tensor", "attention_mask",
		      (struct softening){.scale = 1 / sqrt(size),
					 .masking = causal ? MASK_ALL : MASK_ROW});
}
