#include "golden/golden_attention.h"

/* The product for one row of a: head h of user b with n columns of what its group of heads has. */
struct row {
	const struct tt_array *a, *b;
	uint64_t head, user, group;
	bool transposed;
};

static double value(const struct row *row, uint64_t k, uint64_t n)
{
	const uint64_t at[TTNN_MAX_RANK] = {row->user, row->group, row->transposed ? n : k,
					    row->transposed ? k : n};

	return *tt_at(row->b, tt_array_index(row->b, at));
}

static double product(const struct row *row, uint64_t k_count, uint64_t n)
{
	double sum = 0;

	for (uint64_t k = 0; k < k_count; k++) {
		const uint64_t at[TTNN_MAX_RANK] = {0, row->head, row->user, k};

		sum += *tt_at(row->a, tt_array_index(row->a, at)) * value(row, k, n);
	}
	return sum;
}

static uint32_t whole_tiles(uint64_t extent)
{
	return (uint32_t)((extent + TT_TILE - 1) / TT_TILE * TT_TILE);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The result has whole tiles of users and columns: zeros where there are none. */
tt_status tt_golden_attn_matmul(struct tt_golden *golden)
{
	const struct tt_array *a = tt_golden_in4(golden, "input_tensor_a");
	const struct tt_array *b = tt_golden_in4(golden, "input_tensor_b");
	uint64_t tokens = (uint64_t)tt_call_int(&golden->call, "num_tokens", 0), rows, columns;
	bool transposed = tt_call_bool(&golden->call, "transpose_hw", false);
	struct ttnn_shape shape;
	struct tt_array *out;

	TT_GOLDEN_NEED(a && b);
	if (!b->shape.dim[1] || a->shape.dim[1] % b->shape.dim[1])
		return tt_fail(TTNN_INVALID, "%s: %u heads do not fit %u heads of keys",
			       golden->op->name, a->shape.dim[1], b->shape.dim[1]);
	columns = b->shape.dim[transposed ? 2 : 3];
	rows = least(a->shape.dim[3], b->shape.dim[transposed ? 3 : 2]);
	shape = TT_SHAPE(1, a->shape.dim[1], whole_tiles(a->shape.dim[2]),
			 whole_tiles(transposed ? tokens : columns));
	out = tt_golden_out(golden, &shape, tt_call_dtype(&golden->call, "dtype", a->dtype));
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t n = i % shape.dim[3], user = i / shape.dim[3] % shape.dim[2];
		uint64_t head = i / shape.dim[3] / shape.dim[2];
		const struct row row = {
			.a = a,
			.b = b,
			.head = head,
			.user = user,
			.group = head / (a->shape.dim[1] / b->shape.dim[1]),
			.transposed = transposed,
		};

		if (user < least(a->shape.dim[2], b->shape.dim[0]) && n < columns)
			*tt_at(out, i) = product(&row, rows, n);
	}
	return TTNN_OK;
}
