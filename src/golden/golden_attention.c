/*
 * golden_attention.c: softmax(q · kᵀ × scale + mask) · v, row by row, for all forms of
 * attention: whole sequences, one token at a time, pages, windows, segments, sinks, latent
 * values, chosen columns.
 *
 * A row of queries has a `place` (batch, head, row, position), and a `view` says what it may
 * look at; the forms differ in how these are filled in. Keys and values in pages are looked up
 * element by element through the table (column()).
 */
#include <math.h>
#include <string.h>

#include "golden/golden_attention.h"
#include "ops/objects.h"

/* One row of queries and everything it may look at. */
struct view {
	const struct tt_array *q, *k, *v, *mask, *pages, *segments, *sink, *chosen;
	double scale;
	bool causal, decode, latent; /* latent: the mask is scaled, too */
	int64_t window, modulo;
	uint64_t v_width; /* columns of v that are values */
	uint64_t block;   /* columns of a choice */
};

/* An element of four coordinates; an extent of 1 serves all (masks, shared caches). */
static uint64_t at(const struct tt_array *array, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const uint64_t where[TTNN_MAX_RANK] = {array->shape.dim[0] == 1 ? 0 : a,
					       array->shape.dim[1] == 1 ? 0 : b,
					       array->shape.dim[2] == 1 ? 0 : c, d};

	return tt_array_index(array, where);
}

/* Where column j of a batch and key head begins. */
static uint64_t column(const struct view *view, const struct tt_array *cache, uint64_t batch,
		       uint64_t head, uint64_t j)
{
	uint64_t rows = cache->shape.dim[2], page;
	const struct tt_array *pages = view->pages;

	if (!pages)
		return at(cache, batch, head, j, 0);
	if (view->modulo > 0)
		j %= (uint64_t)view->modulo;
	page = batch * tt_shape_last(&pages->shape, 1) + j / rows;
	return at(cache, (uint64_t)*tt_at(pages, page), head, j % rows, 0);
}

static uint64_t columns(const struct view *view)
{
	return view->pages ? (uint64_t)tt_shape_last(&view->pages->shape, 1) * view->k->shape.dim[2]
			   : view->k->shape.dim[2];
}

/* The part of the sequence that a position belongs to. */
static uint64_t segment(const struct tt_array *segments, uint64_t position)
{
	uint64_t i = 0;

	while (i + 1 < segments->count && *tt_at(segments, i + 1) <= (double)position)
		i++;
	return i;
}

/*
 * Whether column j is visible from a position: not the future if causal; a window looks back
 * only if causal, half to each side otherwise; and only into the own segment.
 */
static bool sees(const struct view *view, int64_t position, uint64_t j)
{
	int64_t away = position - (int64_t)j;

	if (view->causal && away < 0)
		return false;
	if (view->window && view->causal && away >= view->window)
		return false;
	if (view->window && !view->causal && (away > view->window / 2 || -away > view->window / 2))
		return false;
	return !view->segments ||
	       segment(view->segments, (uint64_t)position) == segment(view->segments, j);
}

/* A row of the result: `row` of q at these places, standing at this position. */
struct place {
	uint64_t batch, head, row;
	int64_t position;
};

/* So many elements from an index on; NULL, and the golden fails, when the array has not all of them. */
static const double *row_at(const struct tt_array *array, uint64_t index, uint64_t width)
{
	if (index < array->count && width <= array->count - index)
		return array->data + index;
	tt_array_stray();
	return NULL;
}

/*
 * Several query heads share a key head: key = head / (heads of q / heads of k). A page that is
 * not there counts as -inf. Latent attention scales its mask too: the chip adds it before it
 * multiplies.
 */
static double score(const struct view *view, const struct place *p, const double *q, uint64_t j)
{
	uint64_t heads = view->decode ? view->q->shape.dim[2] : view->q->shape.dim[1];
	uint64_t key = p->head / tt_divisor(heads / tt_divisor(view->k->shape.dim[1]));
	uint64_t width = view->q->shape.dim[3];
	const double *k = row_at(view->k, column(view, view->k, p->batch, key, j), width);
	double sum = 0;

	if (!k)
		return -INFINITY;
	for (uint64_t c = 0; c < width; c++)
		sum += q[c] * k[c];
	sum *= view->scale;
	if (view->mask)
		sum += (view->latent ? view->scale : 1) *
		       (view->decode
				? *tt_at(view->mask, at(view->mask, p->batch, 0, p->head, j))
				: *tt_at(view->mask, at(view->mask, p->batch, p->head, p->row, j)));
	return sum;
}

/*
 * Two passes, largest score first, so that exp() stays below 1. A sink is a column without a
 * value: it takes part in the sum alone. Rows that see nothing stay zeros, as do users at
 * position -1.
 */
static void attend(double *out, const struct view *view, const struct place *p, const double *q)
{
	uint64_t heads = view->decode ? view->q->shape.dim[2] : view->q->shape.dim[1];
	uint64_t key = p->head / tt_divisor(heads / tt_divisor(view->v->shape.dim[1]));
	uint64_t width = view->v_width, most = columns(view);
	double best = -INFINITY, total = 0, sink = -INFINITY;

	if (p->position < 0)
		return;
	for (uint64_t j = 0; j < most; j++)
		if (sees(view, p->position, j))
			best = fmax(best, score(view, p, q, j));
	if (view->sink)
		sink = *tt_at(view->sink, p->head * (view->sink->count / heads)) * view->scale;
	best = fmax(best, sink);
	if (best == -INFINITY)
		return;
	total = exp(sink - best);
	for (uint64_t j = 0; j < most; j++) {
		const double *v;
		double weight;

		if (!sees(view, p->position, j))
			continue;
		v = row_at(view->v, column(view, view->v, p->batch, key, j), width);
		if (!v)
			continue;
		weight = exp(score(view, p, q, j) - best);
		total += weight;
		for (uint64_t c = 0; c < width; c++)
			out[c] += weight * v[c];
	}
	for (uint64_t c = 0; c < width; c++)
		out[c] /= total;
}

/* A paged cache with the blocks that the call says it has; NULL on failure. */
static const struct tt_array *seen_as(struct tt_golden *golden, const struct tt_array *cache,
				      const struct tt_array *q)
{
	const struct ttnn_value *geometry = tt_call_arg(&golden->call, "paged_cache_geometry");
	int64_t heads, rows, width = q->shape.dim[3];
	struct tt_paged_view view;
	struct ttnn_shape shape;
	struct tt_array *out;
	uint64_t at[TTNN_MAX_RANK] = {0};

	if (geometry->kind != TTNN_VALUE_OBJECT ||
	    !tt_value_integer(&rows, &geometry->items[TT_PAGED_BLOCK]) ||
	    !tt_value_integer(&heads, &geometry->items[TT_PAGED_KV_HEADS]) || rows <= 0 ||
	    heads <= 0)
		return cache;
	view = (struct tt_paged_view){(uint64_t)heads, (uint64_t)rows, (uint64_t)width};
	shape = TT_SHAPE(cache->shape.dim[0], (uint32_t)heads, (uint32_t)rows, (uint32_t)width);
	out = tt_golden_temp(golden, &shape);
	if (!out || out->count != cache->count)
		return NULL;
	for (uint64_t i = 0; i < out->count; i++) {
		at[3] = i % view.width;
		at[2] = i / view.width % view.rows;
		at[1] = i / view.width / view.rows % view.heads;
		at[0] = i / view.width / view.rows / view.heads;
		*tt_at(out, i) = *tt_at(cache, tt_golden_paged_element(cache, &view, at));
	}
	return out;
}

static struct view view_of(struct tt_golden *golden)
{
	struct view view = {
		.q = tt_golden_in4(golden, "input_tensor_q"),
		.k = tt_golden_in4(golden, "input_tensor_k"),
		.v = tt_golden_in4(golden, "input_tensor_v"),
		.mask = tt_golden_in(golden, "attn_mask"),
		.pages = tt_golden_in(golden, "page_table_tensor"),
		.segments = tt_golden_in(golden, "cu_window_seqlens"),
		.sink = tt_golden_in(golden, "attention_sink"),
		.causal = tt_call_bool(&golden->call, "is_causal", true),
		.window = tt_call_int(&golden->call, "sliding_window_size", 0),
		.modulo = tt_call_int(&golden->call, "cache_position_modulo", 0),
	};

	view.latent = !view.v || strstr(golden->op->name, "mla_prefill");
	view.v = view.v ? view.v : view.k;
	if (view.v)
		view.v_width =
			(uint64_t)tt_call_int(&golden->call, "head_dim_v", view.v->shape.dim[3]);
	if (view.q && view.k && view.v) {
		view.k = seen_as(golden, view.k, view.q);
		view.v = seen_as(golden, view.v, view.q);
	}
	if (view.q)
		view.scale = tt_call_real(&golden->call, "scale", 1 / sqrt(view.q->shape.dim[3]));
	return view;
}

/* Queries share keys evenly, and rows are as wide as those they meet. */
static tt_status check_view(const struct tt_golden *golden, const struct view *view)
{
	const uint32_t *q, *k, *v;

	TT_GOLDEN_NEED(view->q && view->k && view->v);
	q = view->q->shape.dim;
	k = view->k->shape.dim;
	v = view->v->shape.dim;
	if (!k[1] || !k[2] || !k[3] || !v[1] || (view->decode ? q[2] : q[1]) % v[1] ||
	    (view->decode ? q[2] : q[1]) % k[1] || q[3] != k[3] || v[2] != k[2] || v[3] > q[3] ||
	    view->v_width > v[3])
		return tt_fail(TTNN_INVALID, "%s: the shapes of its inputs do not fit together",
			       golden->op->name);
	return TTNN_OK;
}

/* Whole sequences; chunk_start_idx or windowed_q_token_offset say where the first row stands. */
tt_status tt_golden_attention(struct tt_golden *golden)
{
	struct view view = view_of(golden);
	bool concat = tt_call_bool(&golden->call, "output_concat_heads", false);
	int64_t start = tt_call_int(&golden->call, "chunk_start_idx",
				    tt_call_int(&golden->call, "windowed_q_token_offset", 0));
	const struct tt_array *begin = tt_golden_in(golden, "chunk_start_idx_tensor");
	struct ttnn_shape shape;
	struct tt_array *out;
	const uint32_t *dim;
	uint64_t width;

	TT_TRY(check_view(golden, &view));
	TT_GOLDEN_NEED(view.q);
	if (begin && begin->count)
		start = tt_whole(*tt_at(begin, 0));
	tt_divisor(start >= 0 && start <= INT32_MAX);
	dim = view.q->shape.dim;
	width = view.v_width;
	shape = concat ? TT_SHAPE(dim[0], 1, dim[2], dim[1] * dim[3])
		       : TT_SHAPE(dim[0], dim[1], dim[2], (uint32_t)width);
	out = tt_golden_out(golden, &shape, view.q->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t b = 0; b < dim[0]; b++)
		for (uint64_t h = 0; h < dim[1]; h++)
			for (uint64_t row = 0; row < dim[2]; row++) {
				const struct place place = {b, h, row, start + (int64_t)row};
				uint64_t to = concat ? (b * dim[2] + row) * dim[1] + h
						     : (b * dim[1] + h) * dim[2] + row;

				attend(tt_array_span(out, to * width, width), &view, &place,
				       tt_array_span(view.q, at(view.q, b, h, row, 0), dim[3]));
			}
	return TTNN_OK;
}

/*
 * Queries are [1, users, heads, width]: one row for each head of each user, at that user's
 * position.
 */
tt_status tt_golden_attention_decode(struct tt_golden *golden)
{
	struct view view = view_of(golden);
	const struct tt_array *positions = tt_golden_in(golden, "cur_pos_tensor");
	struct ttnn_shape shape;
	struct tt_array *out;
	int64_t list[64];
	size_t count;

	view.decode = true;
	TT_TRY(check_view(golden, &view));
	shape = view.q->shape;
	shape.dim[3] = (uint32_t)view.v_width;
	out = tt_golden_out(golden, &shape, view.q->dtype);
	TT_GOLDEN_NEED(out);
	TT_TRY(tt_call_ints(list, &count, 64, &golden->call, "cur_pos"));
	for (uint64_t b = 0; b < shape.dim[1]; b++)
		for (uint64_t h = 0; h < shape.dim[2]; h++) {
			struct place place = {b, h, 0, 0};
			uint64_t row = b * shape.dim[2] + h;

			if (positions)
				place.position = (int64_t)*tt_at(positions, b);
			else if (b < count)
				place.position = list[b];
			attend(tt_array_span(out, row * view.v_width, view.v_width), &view, &place,
			       tt_array_span(view.q, row * view.q->shape.dim[3],
					     view.q->shape.dim[3]));
		}
	return TTNN_OK;
}

/* What a row chooses, column by column as it comes: adds up weights, twice at most for its maximum. */
static void attend_chosen(double *out, const struct view *view, const struct place *p,
			  const double *q)
{
	const struct tt_array *chosen = view->chosen;
	uint64_t heads = view->q->shape.dim[1], group = heads / chosen->shape.dim[1];
	uint64_t each = chosen->shape.dim[3],
		 key = p->head / tt_divisor(heads / tt_divisor(view->k->shape.dim[1]));
	const double *list = row_at(chosen, at(chosen, 0, p->head / group, p->row, 0), each);
	double best = -INFINITY, total = 0;

	if (!list)
		return;
	if (view->sink)
		best = *tt_at(view->sink, p->head) * view->scale;
	total = view->sink ? 1 : 0;
	for (uint64_t n = 0; n < each * view->block; n++) {
		double number = list[n / view->block] * (double)view->block;
		uint64_t j = (uint64_t)number + n % view->block;
		const double *v;
		double sum, scale;

		if (list[n / view->block] >= UINT32_MAX || j >= view->k->shape.dim[2] ||
		    !sees(view, p->position, j))
			continue;
		v = row_at(view->v, at(view->v, p->batch, key, j, 0), view->v_width);
		if (!v)
			continue;
		sum = score(view, p, q, j);
		scale = sum > best ? exp(best - sum) : 1;
		best = fmax(best, sum);
		total = total * scale + exp(sum - best);
		for (uint64_t c = 0; c < view->v_width; c++)
			out[c] = out[c] * scale + exp(sum - best) * v[c];
	}
	for (uint64_t c = 0; c < view->v_width && total > 0; c++)
		out[c] /= total;
}

/*
 * Each row has a list of columns, or of blocks of columns (msa), that it attends to; a causal
 * one still hides what comes later.
 */
tt_status tt_golden_attention_sparse(struct tt_golden *golden)
{
	bool msa = strstr(golden->op->name, "msa") != NULL;
	int64_t start = tt_call_int(&golden->call, "chunk_start_idx", -1);
	uint64_t slot = (uint64_t)tt_call_int(&golden->call, "cache_batch_idx", 0);
	struct view view = {
		.q = tt_golden_in4(golden, "q"),
		.k = tt_golden_in4(golden, msa ? "k" : "kv"),
		.chosen = tt_golden_in4(golden, "indices"),
		.sink = msa ? NULL : tt_golden_in(golden, "attention_sink"),
		.causal = start >= 0,
		.block = msa ? (uint64_t)tt_call_int(&golden->call, "block_size", 128) : 1,
	};
	struct ttnn_shape shape;
	struct tt_array *out;

	view.v = msa ? tt_golden_in4(golden, "v") : view.k;
	if (!view.v || !view.chosen)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	view.v_width = (uint64_t)tt_call_int(&golden->call, "v_dim", view.v->shape.dim[3]);
	TT_TRY(check_view(golden, &view));
	shape = view.q->shape;
	if (!view.chosen->shape.dim[1] || shape.dim[1] % view.chosen->shape.dim[1] ||
	    view.chosen->shape.dim[2] != shape.dim[2] || !view.block ||
	    slot >= view.k->shape.dim[0])
		return tt_fail(TTNN_INVALID, "%s: the shapes of its inputs do not fit together",
			       golden->op->name);
	shape.dim[3] = (uint32_t)view.v_width;
	out = tt_golden_out(golden, &shape, view.q->dtype);
	if (!out)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	view.scale = tt_call_real(&golden->call, "scale", 1 / sqrt(view.q->shape.dim[3]));
	for (uint64_t h = 0; h < shape.dim[1]; h++)
		for (uint64_t row = 0; row < shape.dim[2]; row++) {
			const struct place place = {slot, h, row,
						    (start > 0 ? start : 0) + (int64_t)row};

			attend_chosen(tt_array_span(out, (h * shape.dim[2] + row) * view.v_width,
						    view.v_width),
				      &view, &place,
				      tt_array_span(view.q, at(view.q, 0, h, row, 0),
						    view.q->shape.dim[3]));
		}
	return TTNN_OK;
}
