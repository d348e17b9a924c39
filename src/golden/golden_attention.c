#include <math.h>

#include "golden/golden_attention.h"
#include "tensor/shape.h"

/* One row of queries and everything it may look at. */
struct view {
	const struct tt_array *q, *k, *v, *mask, *pages, *segments, *sink;
	double scale;
	bool causal, decode;
	int64_t window;
};

static uint64_t at(const struct tt_array *array, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const uint64_t where[4] = {array->shape.dim[0] == 1 ? 0 : a,
				   array->shape.dim[1] == 1 ? 0 : b,
				   array->shape.dim[2] == 1 ? 0 : c, d};

	return tt_array_index(array, where);
}

/* Where column j of a batch and key head begins. */
static uint64_t column(const struct view *view, const struct tt_array *cache, uint64_t batch,
		       uint64_t head, uint64_t j)
{
	uint64_t rows = cache->shape.dim[2];
	const struct tt_array *pages = view->pages;

	if (!pages)
		return at(cache, batch, head, j, 0);
	return at(cache, (uint64_t)pages->data[batch * tt_shape_last(&pages->shape, 1) + j / rows],
		  head, j % rows, 0);
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

	while (i + 1 < segments->count && segments->data[i + 1] <= (double)position)
		i++;
	return i;
}

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

static double score(const struct view *view, const struct place *p, const double *q, uint64_t j)
{
	uint64_t heads = view->decode ? view->q->shape.dim[2] : view->q->shape.dim[1];
	uint64_t key = p->head / (heads / view->k->shape.dim[1]);
	const double *k = &view->k->data[column(view, view->k, p->batch, key, j)];
	uint64_t width = view->q->shape.dim[3];
	double sum = 0;

	for (uint64_t c = 0; c < width; c++)
		sum += q[c] * k[c];
	sum *= view->scale;
	if (view->mask)
		sum += view->decode
			       ? view->mask->data[at(view->mask, p->batch, 0, p->head, j)]
			       : view->mask->data[at(view->mask, p->batch, p->head, p->row, j)];
	return sum;
}

static void attend(double *out, const struct view *view, const struct place *p, const double *q)
{
	uint64_t heads = view->decode ? view->q->shape.dim[2] : view->q->shape.dim[1];
	uint64_t key = p->head / (heads / view->k->shape.dim[1]);
	uint64_t width = view->v->shape.dim[3], most = columns(view);
	double best = -INFINITY, total = 0;

	if (p->position < 0)
		return;
	for (uint64_t j = 0; j < most; j++)
		if (sees(view, p->position, j))
			best = fmax(best, score(view, p, q, j));
	if (view->sink)
		best = fmax(best, view->sink->data[p->head * (view->sink->count / heads)]);
	if (best == -INFINITY)
		return;
	if (view->sink)
		total = exp(view->sink->data[p->head * (view->sink->count / heads)] - best);
	for (uint64_t j = 0; j < most; j++) {
		const double *v = &view->v->data[column(view, view->v, p->batch, key, j)];
		double weight;

		if (!sees(view, p->position, j))
			continue;
		weight = exp(score(view, p, q, j) - best);
		total += weight;
		for (uint64_t c = 0; c < width; c++)
			out[c] += weight * v[c];
	}
	for (uint64_t c = 0; c < width; c++)
		out[c] /= total;
}

static struct view view_of(struct tt_golden *golden)
{
	struct view view = {
		.q = tt_golden_in(golden, "input_tensor_q"),
		.k = tt_golden_in(golden, "input_tensor_k"),
		.v = tt_golden_in(golden, "input_tensor_v"),
		.mask = tt_golden_in(golden, "attn_mask"),
		.pages = tt_golden_in(golden, "page_table_tensor"),
		.segments = tt_golden_in(golden, "cu_window_seqlens"),
		.sink = tt_golden_in(golden, "attention_sink"),
		.causal = tt_call_bool(&golden->call, "is_causal", true),
		.window = tt_call_int(&golden->call, "sliding_window_size", 0),
	};

	if (view.q)
		view.scale = tt_call_real(&golden->call, "scale", 1 / sqrt(view.q->shape.dim[3]));
	return view;
}

tt_status tt_golden_attention(struct tt_golden *golden)
{
	struct view view = view_of(golden);
	bool concat = tt_call_bool(&golden->call, "output_concat_heads", false);
	int64_t start = tt_call_int(&golden->call, "chunk_start_idx",
				    tt_call_int(&golden->call, "windowed_q_token_offset", 0));
	struct ttnn_shape shape;
	struct tt_array *out;
	const uint32_t *dim;

	if (!view.q || !view.k || !view.v)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	dim = view.q->shape.dim;
	shape = concat ? TT_SHAPE(dim[0], 1, dim[2], dim[1] * dim[3]) : view.q->shape;
	out = tt_golden_out(golden, &shape, view.q->dtype);
	if (!out)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	for (uint64_t b = 0; b < dim[0]; b++)
		for (uint64_t h = 0; h < dim[1]; h++)
			for (uint64_t row = 0; row < dim[2]; row++) {
				const struct place place = {b, h, row, start + (int64_t)row};
				uint64_t to = concat ? (b * dim[2] + row) * dim[1] + h
						     : (b * dim[1] + h) * dim[2] + row;

				attend(&out->data[to * dim[3]], &view, &place,
				       &view.q->data[at(view.q, b, h, row, 0)]);
			}
	return TTNN_OK;
}

tt_status tt_golden_attention_decode(struct tt_golden *golden)
{
	struct view view = view_of(golden);
	const struct tt_array *positions = tt_golden_in(golden, "cur_pos_tensor");
	struct tt_array *out = view.q ? tt_golden_out(golden, &view.q->shape, view.q->dtype) : NULL;
	int64_t list[64];
	size_t count;

	if (!out || !view.k || !view.v)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	view.decode = true;
	TT_TRY(tt_call_ints(list, &count, 64, &golden->call, "cur_pos"));
	for (uint64_t b = 0; b < out->shape.dim[1]; b++)
		for (uint64_t h = 0; h < out->shape.dim[2]; h++) {
			struct place place = {b, h, 0, 0};
			uint64_t from = (b * out->shape.dim[2] + h) * out->shape.dim[3];

			if (positions)
				place.position = (int64_t)positions->data[b];
			else if (b < count)
				place.position = list[b];
			attend(&out->data[from], &view, &place, &view.q->data[from]);
		}
	return TTNN_OK;
}
