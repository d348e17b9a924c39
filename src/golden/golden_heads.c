/*
 * golden_heads.c: goldens of what takes rows apart into heads and puts them together again. Head
 * h of a row begins at start + h × width; results are [batch, heads, rows, width], or [1, users,
 * heads, width] while decoding.
 */
#include "golden/golden_attention.h"

#include <inttypes.h>

/*
 * Heads of `width` columns out of rows: head h of a row begins at start + h × width; or heads are in groups of `each`,
 * `pitch` columns apart.
 */
struct cut {
	const struct tt_array *in;
	uint32_t batches, rows, heads, width, start;
	uint32_t each, pitch; /* (optional) */
	uint32_t out_rows; /* (optional) with padding, which is 0, as columns beyond the last are */
	bool transpose;    /* columns before rows */
	bool decode;       /* [1, rows, heads, width] instead of [batches, heads, rows, width] */
};

static uint64_t column_of(const struct cut *cut, uint64_t head)
{
	if (!cut->each)
		return cut->start + head * cut->width;
	return cut->start + head / cut->each * cut->pitch + head % cut->each * cut->width;
}

static tt_status cut(struct tt_golden *golden, const struct cut *cut)
{
	uint32_t rows = cut->out_rows ? cut->out_rows : cut->rows;
	struct ttnn_shape shape = TT_SHAPE(cut->batches, cut->heads, rows, cut->width);
	uint32_t across = tt_shape_last(&cut->in->shape, 1);
	struct tt_array *out;

	if (!cut->width || (!cut->out_rows && (uint64_t)cut->heads * cut->width > across))
		return tt_fail(TTNN_INVALID, "%s: %u columns are too few for the heads",
			       golden->op->name, across);
	if (cut->transpose)
		shape = TT_SHAPE(cut->batches, cut->heads, cut->width, cut->rows);
	if (cut->decode)
		shape = TT_SHAPE(1, cut->rows, cut->heads, cut->width);
	out = tt_golden_out(golden, &shape, cut->in->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t b = 0; b < cut->batches; b++)
		for (uint64_t r = 0; r < rows; r++)
			for (uint64_t h = 0; h < cut->heads; h++)
				for (uint64_t c = 0; c < cut->width; c++) {
					const uint64_t to[TTNN_MAX_RANK] = {b, h,
									    cut->transpose ? c : r,
									    cut->transpose ? r : c};
					const uint64_t decoded[TTNN_MAX_RANK] = {0, r, h, c};
					uint64_t column = column_of(cut, h) + c;
					bool is = r < cut->rows && column < across;

					*tt_at(out,
					       tt_array_index(out, cut->decode ? decoded : to)) =
						is ? *tt_at(cut->in,
							    (b * cut->rows + r) * across + column)
						   : 0;
				}
	return TTNN_OK;
}

static const struct tt_array *input_of(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");

	return in ? in : tt_golden_in(golden, "input");
}

static const struct tt_array *kv_of(struct tt_golden *golden)
{
	const struct tt_array *kv = tt_golden_in(golden, "kv_input_tensor");

	return kv ? kv : tt_golden_in(golden, "input_kv");
}

/*
 * Queries, then keys (perhaps transposed), then values: out of one tensor, or keys and values
 * out of a second one. Tied values are the keys' columns.
 */
static tt_status three(struct tt_golden *golden, struct cut *part, uint32_t heads,
		       uint32_t kv_heads)
{
	const struct tt_array *kv = kv_of(golden);
	bool tied = tt_call_bool(&golden->call, "kv_tied", false);
	bool transpose = tt_call_bool(&golden->call, "transpose_k_heads",
				      tt_call_bool(&golden->call, "transpose_key", false));

	part->heads = heads;
	TT_TRY(cut(golden, part));
	part->start = kv ? 0 : heads * part->width;
	part->in = kv ? kv : part->in;
	part->heads = kv_heads;
	part->transpose = transpose;
	TT_TRY(cut(golden, part));
	part->start += tied ? 0 : kv_heads * part->width;
	part->transpose = false;
	return cut(golden, part);
}

tt_status tt_golden_create_heads(struct tt_golden *golden)
{
	const struct tt_array *in = input_of(golden);
	uint32_t heads = (uint32_t)tt_call_int(&golden->call, "num_heads", 1);
	uint32_t kv_heads = (uint32_t)tt_call_int(&golden->call, "num_kv_heads", heads);
	bool tied = tt_call_bool(&golden->call, "kv_tied", false);
	struct cut part = {.in = in};

	TT_GOLDEN_NEED(in);
	part.batches = in->shape.dim[0];
	part.rows = tt_shape_last(&in->shape, 2);
	part.width = tt_shape_last(&in->shape, 1) /
		     (kv_of(golden) ? heads : heads + (tied ? 1 : 2) * kv_heads);
	return three(golden, &part, heads, kv_heads);
}

/* In shards each core has the queries of a head of keys, that key and its value. */
tt_status tt_golden_nlp_create_heads(struct tt_golden *golden)
{
	const struct tt_tensor *tensor = tt_call_tensor(&golden->call, "input");
	const struct tt_array *in = input_of(golden), *kv = kv_of(golden);
	uint32_t heads = (uint32_t)tt_call_int(&golden->call, "num_heads", 1);
	uint32_t keys = (uint32_t)tt_call_int(&golden->call, "num_kv_heads", heads);
	uint32_t sections = tt_call_bool(&golden->call, "kv_tied", false) ? 1 : 2, queries;
	struct cut part = {.in = in, .heads = heads};

	TT_GOLDEN_NEED(in);
	if (!tt_memory_config_is_sharded(&tensor->spec.memory))
		return tt_golden_create_heads(golden);
	if (!keys || heads % keys)
		return tt_fail(TTNN_INVALID, "golden: %u heads are not shared by %u of keys", heads,
			       keys);
	queries = heads / keys;
	part.batches = in->shape.dim[0];
	part.rows = tt_shape_last(&in->shape, 2);
	part.width = tt_shape_last(&in->shape, 1) / keys / (kv ? queries : queries + sections);
	part.each = queries;
	part.pitch = (kv ? queries : queries + sections) * part.width;
	TT_TRY(cut(golden, &part));
	part.start = kv ? 0 : queries * part.width;
	part.pitch = (kv ? sections : queries + sections) * part.width;
	part.in = kv ? kv : in;
	part.heads = keys;
	part.each = 1;
	TT_TRY(cut(golden, &part));
	part.start += (sections - 1) * part.width;
	return cut(golden, &part);
}

/* A head of keys follows its queries, then come its values. */
tt_status tt_golden_grouped_heads(struct tt_golden *golden)
{
	const struct tt_array *in = input_of(golden);
	uint64_t heads = (uint64_t)tt_call_int(&golden->call, "num_heads", 1);
	uint64_t groups = (uint64_t)tt_call_int(&golden->call, "num_kv_heads", (int64_t)heads);
	bool transpose = tt_call_bool(&golden->call, "transpose_k_heads",
				      tt_call_bool(&golden->call, "transpose_key", true));
	uint64_t across, width, rows, per = heads / groups;

	TT_GOLDEN_NEED(in);
	if (!per || heads % groups)
		return tt_fail(TTNN_INVALID,
			       "%s: %" PRIu64 " heads are not shared by %" PRIu64 " of keys",
			       golden->op->name, heads, groups);
	across = tt_shape_last(&in->shape, 1);
	rows = tt_shape_last(&in->shape, 2);
	width = across / (heads + 2 * groups);
	for (uint64_t which = 0; which < 3; which++) {
		bool transposed = which == 1 && transpose;
		uint64_t count = which ? groups : heads, each = which ? 1 : per;
		struct ttnn_shape shape = TT_SHAPE(in->shape.dim[0], (uint32_t)count,
						   (uint32_t)(transposed ? width : rows),
						   (uint32_t)(transposed ? rows : width));
		struct tt_array *out = tt_golden_out(golden, &shape, in->dtype);

		TT_GOLDEN_NEED(out);
		for (uint64_t i = 0; i < in->shape.dim[0] * count * rows * width; i++) {
			uint64_t c = i % width, r = i / width % rows, h = i / width / rows % count;
			uint64_t b = i / width / rows / count;
			const uint64_t to[TTNN_MAX_RANK] = {b, h, transposed ? c : r,
							    transposed ? r : c};
			uint64_t head = which ? per + which - 1 : h % each;

			*tt_at(out, tt_array_index(out, to)) =
				*tt_at(in, (b * rows + r) * across +
						   (h / each * (per + 2) + head) * width + c);
		}
	}
	return TTNN_OK;
}

/* Fused rows in blocks are in another order than others. */
tt_status tt_golden_split_fused_heads(struct tt_golden *golden)
{
	const struct tt_tensor *in = tt_call_tensor(&golden->call, "input_tensor");

	return tt_memory_config_is_sharded(&in->spec.memory) ? tt_golden_grouped_heads(golden)
							     : tt_golden_create_heads(golden);
}

/* A sharded tensor has a block of columns for every core across, each with the heads of its own. */
static uint32_t blocks_of(const struct ttnn_memory_config *memory)
{
	struct ttnn_core_range box;

	if (!memory->has_shard || tt_core_set_box(&box, memory->shard.grid) != TTNN_OK)
		return 1;
	return memory->shard.orientation == TTNN_ORIENT_ROW_MAJOR ? box.end.x + 1 : box.end.y + 1;
}

/* Head h is the one of number h % per in its block of columns. */
tt_status tt_golden_split_heads(struct tt_golden *golden)
{
	const struct tt_array *in = input_of(golden);
	uint64_t heads = (uint64_t)tt_call_int(&golden->call, "num_heads", 16), across, width, per;

	TT_GOLDEN_NEED(in);
	across = in->shape.dim[3];
	width = across / 3 / heads;
	per = heads / blocks_of(&tt_golden_tensor(golden, "input_tensor")->spec.memory);
	if (!per || !width)
		return tt_fail(TTNN_INVALID, "%s: %" PRIu64 " columns are too few for the heads",
			       golden->op->name, across);
	for (uint64_t which = 0; which < 3; which++) {
		bool keys = which == 1;
		uint32_t rows = in->shape.dim[2];
		struct ttnn_shape shape =
			TT_SHAPE(in->shape.dim[0], (uint32_t)heads, keys ? (uint32_t)width : rows,
				 keys ? rows : (uint32_t)width);
		struct tt_array *out = tt_golden_out(golden, &shape, in->dtype);

		TT_GOLDEN_NEED(out);
		for (uint64_t i = 0; i < (uint64_t)in->shape.dim[0] * heads * rows * width; i++) {
			uint64_t c = i % width, r = i / width % rows, h = i / width / rows % heads;
			uint64_t b = i / width / rows / heads;
			const uint64_t to[TTNN_MAX_RANK] = {b, h, keys ? c : r, keys ? r : c};

			*tt_at(out, tt_array_index(out, to)) =
				*tt_at(in, (b * rows + r) * across + h / per * 3 * per * width +
						   (which * per + h % per) * width + c);
		}
	}
	return TTNN_OK;
}

tt_status tt_golden_create_heads_decode(struct tt_golden *golden)
{
	const struct tt_array *in = input_of(golden);
	uint32_t heads = (uint32_t)tt_call_int(&golden->call, "num_heads", 1);
	uint32_t kv_heads = (uint32_t)tt_call_int(&golden->call, "num_kv_heads", heads);
	struct cut part = {.in = in, .batches = 1, .decode = true};

	TT_GOLDEN_NEED(in);
	part.rows = tt_shape_last(&in->shape, 2);
	part.width = tt_shape_last(&in->shape, 1) / (heads + 2 * kv_heads);
	return three(golden, &part, heads, kv_heads);
}

tt_status tt_golden_fixed_heads(struct tt_golden *golden)
{
	const struct tt_fixed_heads *fixed = golden->op->row;
	const struct tt_array *in = input_of(golden);
	struct cut part = {.in = in, .width = fixed->width};

	TT_GOLDEN_NEED(in);
	part.batches = in->shape.dim[0];
	part.rows = tt_shape_last(&in->shape, 2);
	part.out_rows = (uint32_t)tt_div_up(part.rows, TT_TILE) * TT_TILE;
	if (fixed->heads)
		return three(golden, &part, fixed->heads, fixed->kv_heads);
	part.heads = (uint32_t)tt_div_up(tt_shape_last(&in->shape, 1), fixed->width);
	for (int i = 0; i < 3; i++)
		TT_TRY(cut(golden, &part));
	return TTNN_OK;
}

/* [batch, heads, rows, width] → [batch, 1, rows, heads × width], or without the 1. */
tt_status tt_golden_concat_heads(struct tt_golden *golden)
{
	const struct tt_array *in = input_of(golden);
	struct tt_array *out;
	struct ttnn_shape shape;
	const uint32_t *dim;

	TT_GOLDEN_NEED(in);
	dim = in->shape.dim;
	shape = TT_SHAPE(dim[0], 1, dim[2], dim[1] * dim[3]);
	if (golden->op->name[5] == 't') /* ttnn.transformer: three dimensions */
		shape = TT_SHAPE(dim[0], dim[2], dim[1] * dim[3]);
	out = tt_golden_out(golden, &shape, in->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < in->count; i++) {
		uint64_t at[TTNN_MAX_RANK] = {0};

		tt_array_coordinate(at, in, i);
		*tt_at(out, ((at[0] * dim[2] + at[2]) * dim[1] + at[1]) * dim[3] + at[3]) =
			*tt_at(in, i);
	}
	return TTNN_OK;
}

/* [1, users, heads, width] → [1, 1, 32, heads × width]. */
tt_status tt_golden_concat_heads_decode(struct tt_golden *golden)
{
	const struct tt_array *in = input_of(golden);
	uint32_t heads = (uint32_t)tt_call_int(&golden->call, "num_heads", 1), width;
	struct ttnn_shape shape;
	struct tt_array *out;

	TT_GOLDEN_NEED(in);
	width = in->shape.dim[3];
	shape = TT_SHAPE(1, 1, TT_TILE, heads * width);
	out = tt_golden_out(golden, &shape, in->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < in->count; i++) {
		uint64_t at[TTNN_MAX_RANK] = {0};

		tt_array_coordinate(at, in, i);
		if (at[2] < heads)
			*tt_at(out, (at[1] * heads + at[2]) * width + at[3]) = *tt_at(in, i);
	}
	return TTNN_OK;
}
