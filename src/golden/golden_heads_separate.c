#include "golden/golden_attention.h"

static uint32_t whole_tiles(uint32_t extent)
{
	return (extent + TT_TILE - 1) / TT_TILE * TT_TILE;
}

/* Heads of so many columns each, which begin `step` columns apart. */
struct heads {
	const struct tt_array *in;
	uint32_t count, width, first, step;
	bool turned;
};

/* Results have whole tiles of rows: zeros behind what there is. */
static tt_status take(struct tt_golden *golden, const struct heads *heads)
{
	const uint32_t *dim = heads->in->shape.dim;
	uint32_t rows = whole_tiles(dim[2]);
	const struct ttnn_shape shape =
		TT_SHAPE(dim[0], heads->count, heads->turned ? heads->width : rows,
			 heads->turned ? rows : heads->width);
	struct tt_array *out = tt_golden_out(golden, &shape, heads->in->dtype);

	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t to[TTNN_MAX_RANK], row, column;

		tt_array_coordinate(to, out, i);
		row = to[heads->turned ? 3 : 2];
		column = heads->first + to[1] * heads->step + to[heads->turned ? 2 : 3];
		if (row < dim[2]) {
			const uint64_t from[TTNN_MAX_RANK] = {to[0], 0, row, column};

			*tt_at(out, i) = *tt_at(heads->in, tt_array_index(heads->in, from));
		}
	}
	return TTNN_OK;
}

tt_status tt_golden_separate_heads(struct tt_golden *golden)
{
	const struct tt_array *q = tt_golden_in4(golden, "input");
	const struct tt_array *kv = tt_golden_in4(golden, "input_kv");
	uint32_t heads = (uint32_t)tt_call_int(&golden->call, "num_heads", 1), width;
	uint32_t kv_heads = (uint32_t)tt_call_int(&golden->call, "num_kv_heads", heads);

	TT_GOLDEN_NEED(q && kv);
	if (!heads || !kv_heads || q->shape.dim[3] % heads ||
	    kv->shape.dim[3] / 2 / kv_heads != q->shape.dim[3] / heads)
		return tt_fail(TTNN_INVALID, "%s: its heads do not fit together", golden->op->name);
	width = q->shape.dim[3] / heads;
	TT_TRY(take(golden, &(struct heads){q, heads, width, 0, width, false}));
	TT_TRY(take(golden,
		    &(struct heads){kv, kv_heads, width, 0, 2 * width,
				    tt_call_bool(&golden->call, "transpose_k_heads", true)}));
	return take(golden, &(struct heads){kv, kv_heads, width, width, 2 * width, false});
}

/* Heads have whole tiles of columns, too. */
tt_status tt_golden_concat_bert_heads(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in4(golden, "input_tensor");
	uint32_t width, rows;
	struct ttnn_shape shape;
	struct tt_array *out;

	TT_GOLDEN_NEED(in);
	width = whole_tiles(in->shape.dim[3]);
	rows = whole_tiles(in->shape.dim[2]);
	shape = TT_SHAPE(in->shape.dim[0], 1, rows, in->shape.dim[1] * width);
	out = tt_golden_out(golden, &shape, in->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < in->count; i++) {
		uint64_t at[TTNN_MAX_RANK];

		tt_array_coordinate(at, in, i);
		*tt_at(out, (at[0] * rows + at[2]) * shape.dim[3] + at[1] * width + at[3]) =
			in->data[i];
	}
	return TTNN_OK;
}
