/*
 * golden_rotary.c: goldens of rotary position embedding: x × cos + rotated(x) × sin, where a
 * rotated row has its halves swapped, its neighbours swapped, or is multiplied by a matrix.
 */
#include "golden/golden_attention.h"

/* What a row is turned by. */
struct turn {
	const struct tt_array *in, *cos, *sin;
	const struct tt_array *matrix; /* NULL: halves */
	uint64_t start;
	bool same_row; /* all rows of a matrix have the table's row `start` */
	uint64_t from; /* first entry of the tables' dimension 1 that is meant */
};

/* An element of a table for the element of the input at these four coordinates. */
static double entry(const struct tt_array *table, const struct turn *turn, const uint64_t at[4])
{
	const uint32_t *dim = table->shape.dim;
	uint64_t row = turn->same_row ? turn->start : turn->start + at[2];
	const uint64_t there[TTNN_MAX_RANK] = {dim[0] == 1 ? 0 : at[0],
					       dim[1] == 1 ? 0 : at[1] + turn->from,
					       dim[2] == 1 ? 0 : row, at[3]};

	return *tt_at(table, tt_array_index(table, there));
}

/* `row` is where the row begins. */
static double rotated(const struct turn *turn, uint64_t row, uint64_t column)
{
	uint64_t width = turn->in->shape.dim[3], size;
	double sum = 0;

	if (!turn->matrix)
		return column < width / 2 ? -*tt_at(turn->in, row + column + width / 2)
					  : *tt_at(turn->in, row + column - width / 2);
	size = tt_shape_last(&turn->matrix->shape, 1);
	if (!size)
		return *tt_at(turn->matrix, 0);
	for (uint64_t k = 0; k < size; k++)
		sum += *tt_at(turn->in, row + column / size * size + k) *
		       *tt_at(turn->matrix, k * size + column % size);
	return sum;
}

static tt_status compute(struct tt_golden *golden, const struct turn *turn)
{
	struct tt_array *out;

	TT_GOLDEN_NEED(turn->in && turn->cos && turn->sin);
	out = tt_golden_out(golden, &turn->in->shape, turn->in->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t at[TTNN_MAX_RANK] = {0};

		tt_array_coordinate(at, out, i);
		*tt_at(out, i) = *tt_at(turn->in, i) * entry(turn->cos, turn, at) +
				 rotated(turn, i - at[3], at[3]) * entry(turn->sin, turn, at);
	}
	return TTNN_OK;
}

static struct turn tables(struct tt_golden *golden)
{
	return (struct turn){.in = tt_golden_in4(golden, "input_tensor"),
			     .cos = tt_golden_in4(golden, "cos_cache"),
			     .sin = tt_golden_in4(golden, "sin_cache"),
			     .same_row = tt_call_bool(&golden->call, "is_decode_mode", false)};
}

tt_status tt_golden_rotary(struct tt_golden *golden)
{
	struct turn turn = tables(golden);
	int64_t token = tt_call_int(&golden->call, "token_index", -1);

	if (token >= 0) {
		turn.start = (uint64_t)token;
		turn.same_row = true;
	}
	return compute(golden, &turn);
}

tt_status tt_golden_rotary_llama(struct tt_golden *golden)
{
	struct turn turn = tables(golden);

	turn.matrix = tt_golden_in(golden, "trans_mat");
	return compute(golden, &turn);
}

tt_status tt_golden_rotary_fused(struct tt_golden *golden)
{
	struct turn turn = tables(golden);

	turn.matrix = tt_golden_in(golden, "trans_mat");
	turn.same_row = true;
	turn.in = tt_golden_in4(golden, "q_input_tensor");
	TT_TRY(compute(golden, &turn));
	turn.from = turn.in->shape.dim[1];
	turn.in = tt_golden_in4(golden, "k_input_tensor");
	return compute(golden, &turn);
}

tt_status tt_golden_rotate_half(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input");
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;
	uint64_t width;

	TT_GOLDEN_NEED(out);
	width = tt_shape_last(&in->shape, 1);
	for (uint64_t i = 0; i < in->count; i++)
		*tt_at(out, i) = i % width < width / 2 ? -*tt_at(in, i + width / 2)
						       : *tt_at(in, i - width / 2);
	return TTNN_OK;
}
