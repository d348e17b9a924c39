/*
 * golden_attention_ring.c: what the first chip of a ring has, with every key of every chip looked at where it lies; and
 * the rows that it computes of a sequence that all chips have.
 */
#include <math.h>

#include "device/device.h"
#include "device/devtensor.h"
#include "golden/golden_attention.h"
#include "tensor/shape.h"

#define RING_MAX 64

/* Keys or values of the chips of the first one's ring; a second sequence, whole or cut. */
struct ring {
	const struct tt_array *parts[RING_MAX], *joint[RING_MAX];
	uint64_t count, joints;
};

struct rules {
	uint64_t rows, joint_rows, own; /* own: queries of a chip */
	uint64_t slot, window;
	bool causal, halves, slabs;
	double scale;
};

static tt_status read_shards(const struct tt_array **out, struct tt_golden *golden,
			     const char *name, const struct ring *ring, int64_t axis)
{
	struct tt_tensor *tensor = tt_golden_tensor(golden, name);
	uint64_t step = axis == 0 ? tt_golden_device(golden, name)->cols : 1;

	for (uint64_t i = 0; i < ring->count; i++) {
		out[i] = tt_golden_part(golden, tensor, (uint32_t)(i * step));
		TT_GOLDEN_NEED(out[i]);
	}
	return TTNN_OK;
}

/* Where row i of a chip stands in the sequence. */
static uint64_t place(const struct rules *rules, const struct ring *ring, uint64_t chip, uint64_t i)
{
	uint64_t rows = ring->parts[0]->shape.dim[2];

	if (rules->slabs)
		return (i / rules->own * ring->count + chip) * rules->own + i % rules->own;
	if (rules->halves && i >= rows / 2)
		return (2 * ring->count - 1 - chip) * (rows / 2) + i - rows / 2;
	return chip * (rules->halves ? rows / 2 : rows) + i;
}

static const double *row_of(const struct tt_array *array, uint64_t batch, uint64_t head,
			    uint64_t heads, uint64_t i)
{
	const uint32_t *dim = array->shape.dim;

	head /= tt_divisor(heads / tt_divisor(dim[1]));
	return tt_array_span(array, ((batch * dim[1] + head) * dim[2] + i) * dim[3], dim[3]);
}

/* A row's sums so far: of weights and of weighted values, both relative to the largest score. */
struct sums {
	double best, total;
	double *values;
	uint64_t width, at; /* where the row stands in its sequence */
};

static void add_score(struct sums *sums, double score, const double *value)
{
	double best = fmax(sums->best, score), old = exp(sums->best - best),
	       own = exp(score - best);

	sums->total = sums->total * old + own;
	for (uint64_t c = 0; c < sums->width; c++)
		sums->values[c] = sums->values[c] * old + (value ? own * value[c] : 0);
	sums->best = best;
}

static double dot(const double *a, const double *b, uint64_t width)
{
	double sum = 0;

	for (uint64_t c = 0; c < width; c++)
		sum += a[c] * b[c];
	return sum;
}

/* A row of the sequence, or of the second one, which has no place. */
static void attend_row(struct sums *sums, const double *q, const uint64_t head[3],
		       const struct rules *rules, const struct ring both[2])
{
	const struct ring *k = &both[0], *v = &both[1];
	uint64_t width = k->parts[0]->shape.dim[3];

	for (uint64_t chip = 0; chip < k->count; chip++)
		for (uint64_t i = 0; i < k->parts[chip]->shape.dim[2]; i++) {
			uint64_t j = place(rules, k, chip, i), batch = rules->slot + head[0];

			if (j >= rules->rows || (rules->causal && j > sums->at) ||
			    (rules->window && j + rules->window <= sums->at))
				continue;
			add_score(sums,
				  rules->scale *
					  dot(q, row_of(k->parts[chip], batch, head[1], head[2], i),
					      width),
				  row_of(v->parts[chip], batch, head[1], head[2], i));
		}
	for (uint64_t chip = 0; chip < k->joints; chip++)
		for (uint64_t i = 0; i < k->joint[chip]->shape.dim[2]; i++)
			if (chip * k->joint[chip]->shape.dim[2] + i < rules->joint_rows)
				add_score(sums,
					  rules->scale * dot(q,
							     row_of(k->joint[chip], head[0],
								    head[1], head[2], i),
							     width),
					  row_of(v->joint[chip], head[0], head[1], head[2], i));
}

/* Where row i of the first chip's queries stands; UINT64_MAX: it is not one. */
static uint64_t query_place(const struct tt_golden *golden, const struct rules *rules,
			    const struct ring *ring, uint64_t i)
{
	uint64_t group = rules->own * ring->count, before, left, first;

	if (!rules->slabs)
		return place(rules, ring, 0, i);
	if (!tt_value_given(tt_call_arg(&golden->call, "kv_actual_isl")))
		return rules->rows - group + i;
	before = (uint64_t)tt_call_int(&golden->call, "kv_actual_isl", 0);
	first = before / group * group;
	left = before - first < rules->own ? first + rules->own - before : 0;
	if (left > rules->rows - before)
		left = rules->rows - before;
	if (i < left)
		return before + i;
	first += group + i - left;
	return first < rules->rows && i - left < rules->own ? first : UINT64_MAX;
}

/* Queries are as wide as keys, values at least as wide as results; otherwise the golden ends. */
static void check_widths(const struct tt_array *q, const struct ring both[2], uint32_t width)
{
	const struct ring *k = &both[0], *v = &both[1];

	tt_divisor(tt_array_extent(k->parts[0], 3) == tt_array_extent(q, 3));
	tt_divisor(tt_array_extent(v->parts[0], 3) >= width);
	if (!k->joints)
		return;
	tt_divisor(tt_array_extent(k->joint[0], 3) == tt_array_extent(q, 3));
	tt_divisor(tt_array_extent(v->joint[0], 3) >= width);
}

static tt_status attend_all(struct tt_golden *golden, const struct tt_array *q,
			    const struct rules *rules, const struct ring both[2], bool joint)
{
	const struct tt_array *sink = tt_call_tensor(&golden->call, "attention_sink")
					      ? tt_golden_in4(golden, "attention_sink")
					      : NULL;
	uint32_t width =
		(uint32_t)tt_call_int(&golden->call, "head_dim_v", both[1].parts[0]->shape.dim[3]);
	uint32_t *dim;
	struct ttnn_shape shape = q->shape;
	struct tt_array *out;

	shape.dim[3] = width;
	out = tt_golden_out(golden, &shape, TTNN_BFLOAT16);
	TT_GOLDEN_NEED(out);
	check_widths(q, both, width);
	dim = shape.dim;
	for (uint64_t n = 0; n < (uint64_t)dim[0] * dim[1] * dim[2]; n++) {
		uint64_t row = n % dim[2],
			 head[] = {n / dim[2] / dim[1], n / dim[2] % dim[1], dim[1]};
		uint64_t at = joint ? 0 : query_place(golden, rules, &both[0], row);
		struct sums sums = {-INFINITY, 0, tt_array_span(out, n * width, width), width, at};

		if (at == UINT64_MAX)
			continue;
		if (sink)
			add_score(&sums, *tt_at(sink, head[1]) * rules->scale, NULL);
		attend_row(&sums, tt_array_span(q, n * q->shape.dim[3], q->shape.dim[3]), head,
			   rules, both);
		for (uint32_t c = 0; c < width && sums.total > 0; c++)
			sums.values[c] /= sums.total;
	}
	return TTNN_OK;
}

tt_status tt_golden_attention_ring(struct tt_golden *golden)
{
	struct tt_call *call = &golden->call;
	const struct tt_array *q = tt_golden_in4(golden, "input_tensor_q"), *joint = NULL;
	const struct tt_device *device = tt_golden_device(golden, "input_tensor_q");
	int64_t axis = tt_call_int(call, "cluster_axis", 1);
	bool latent = tt_call_tensor(call, "input_tensor_kv") != NULL;
	struct ttnn_shape rest;
	struct ring both[2] = {0};
	const struct tt_array *length = tt_golden_in(golden, "logical_n");
	struct rules rules;

	TT_GOLDEN_NEED(q);
	TT_NEED(device, "%s: the golden needs tensors on a mesh of chips", golden->op->name);
	both[0].count = both[1].count = axis == 0 ? device->rows : device->cols;
	both[0].joints = both[1].joints = 0;
	TT_NEED(both[0].count <= RING_MAX, "%s: a ring of more than %d chips", golden->op->name,
		RING_MAX);
	golden->first_chip = true;
	TT_TRY(read_shards(both[0].parts, golden, latent ? "input_tensor_kv" : "input_tensor_k",
			   &both[0], axis));
	TT_TRY(read_shards(both[1].parts, golden, latent ? "input_tensor_kv" : "input_tensor_v",
			   &both[1], axis));
	TT_GOLDEN_NEED(both[0].parts[0] && both[1].parts[0]);
	rules = (struct rules){
		.rows = length ? (uint64_t)*tt_at(length, 0)
			       : (uint64_t)tt_call_int(call, "logical_n", 0),
		.joint_rows = (uint64_t)tt_call_int(call, "logical_l", 0),
		.own = q->shape.dim[2],
		.slot = (uint64_t)(tt_call_int(call, "kv_cache_batch_idx", 0) *
					   tt_call_int(call, "kv_cache_num_layers", 1) +
				   tt_call_int(call, "kv_cache_layer_idx", 0)),
		.window = (uint64_t)tt_call_int(call, "sliding_window_size", 0),
		.causal = latent || tt_call_bool(call, "is_causal", false),
		.halves = tt_call_bool(call, "is_balanced", false),
		.slabs = q->shape.dim[2] < both[0].parts[0]->shape.dim[2] &&
			 !tt_call_bool(call, "is_cross", false),
		.scale = tt_call_real(call, "scale", 1 / sqrt((double)q->shape.dim[3])),
	};
	if (tt_call_tensor(call, "joint_tensor_q")) {
		joint = tt_golden_in4(golden, "joint_tensor_q");
		TT_GOLDEN_NEED(joint);
		TT_TRY(read_shards(both[0].joint, golden, "joint_tensor_k", &both[0], axis));
		TT_TRY(read_shards(both[1].joint, golden, "joint_tensor_v", &both[1], axis));
		both[0].joints = rules.joint_rows > joint->shape.dim[2] ? both[0].count : 1;
		if (!rules.joint_rows)
			rules.joint_rows = joint->shape.dim[2];
	}
	TT_TRY(attend_all(golden, q, &rules, both, false));
	rest = q->shape;
	rest.dim[2] = 0;
	rest.dim[3] = both[1].parts[0]->shape.dim[3];
	if (joint)
		TT_TRY(attend_all(golden, joint, &rules, both, true));
	else if (!latent)
		TT_GOLDEN_NEED(tt_golden_out(golden, &rest, TTNN_BFLOAT16));
	rest = q->shape;
	rest.dim[2] = 2 * ((q->shape.dim[2] + 31) / 32 * 32 +
			   (joint ? (joint->shape.dim[2] + 31) / 32 * 32 : 0));
	rest.dim[3] = 1;
	TT_GOLDEN_NEED(tt_golden_out(golden, &rest, TTNN_BFLOAT16));
	return TTNN_OK;
}

/* The block and row of a cache where key j of a batch lies; without pages the batch itself. */
static void find_key(uint64_t out[2], const struct tt_array *pages, uint64_t batch, uint64_t j,
		     uint64_t rows)
{
	out[0] = pages ? (uint64_t)*tt_at(pages, batch * pages->shape.dim[1] + j / rows) : batch;
	out[1] = pages ? j % rows : j;
}

tt_status tt_golden_attention_distributed(struct tt_golden *golden)
{
	const struct tt_array *q = tt_golden_in4(golden, "input_tensor_q");
	const struct tt_array *k = tt_golden_in4(golden, "input_tensor_k");
	const struct tt_array *v = tt_golden_in4(golden, "input_tensor_v"), *pages = NULL;
	uint64_t ring = (uint64_t)tt_call_int(&golden->call, "ring_size", 2), part;
	uint64_t place = (uint64_t)tt_call_int(&golden->call, "ring_id", 0);
	uint64_t start = (uint64_t)tt_call_int(&golden->call, "chunk_start_idx", 0), key[2];
	struct ttnn_shape shape;
	struct tt_array *out;
	double scale;

	TT_GOLDEN_NEED(q && k && v);
	if (tt_value_given(tt_call_arg(&golden->call, "chunk_start_idx"))) {
		pages = tt_golden_in(golden, "page_table");
		TT_GOLDEN_NEED(pages);
	}
	scale = tt_call_real(&golden->call, "scale", 1 / sqrt((double)q->shape.dim[3]));
	shape = q->shape;
	part = shape.dim[2] / (2 * ring);
	shape.dim[2] = (uint32_t)(2 * part);
	golden->first_chip = true;
	out = tt_golden_out(golden, &shape, q->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t n = 0; n < (uint64_t)shape.dim[0] * shape.dim[1] * 2 * part; n++) {
		uint64_t i = n % (2 * part), head = n / (2 * part) % shape.dim[1];
		uint64_t batch = n / (2 * part) / shape.dim[1], width = shape.dim[3];
		uint64_t at = i < part ? place * part + i : (2 * ring - 2 - place) * part + i;
		struct sums sums = {-INFINITY, 0, tt_array_span(out, n * width, width), width, at};
		const double *own = row_of(q, batch, head, shape.dim[1], at);

		for (uint64_t j = 0; j <= start + at; j++) {
			find_key(key, pages, batch, j, k->shape.dim[2]);
			add_score(&sums,
				  scale * dot(own, row_of(k, key[0], head, shape.dim[1], key[1]),
					      width),
				  row_of(v, key[0], head, shape.dim[1], key[1]));
		}
		for (uint64_t c = 0; c < width; c++)
			sums.values[c] /= sums.total;
	}
	return TTNN_OK;
}
