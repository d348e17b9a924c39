/*
 * delta_chunk_kernel.c: the numbers of gated delta nets in chunks. What tokens of a chunk do to each other is a triangular
 * system, solved before states are known; states then go from chunk to chunk.
 */
#include <math.h>
#include <string.h>

#include "ops/attention/delta_chunk.h"
#include "ops/values.h"

/* What a chunk's tokens say without the state, as the first program gives it. */
enum { V_BETA, K_BETA, Q_DECAY, INTRA, K_DECAY, LAST, INVERSE };

struct chunks {
	const struct tt_launch *launch;
	uint64_t heads, count, size, keys, values;
	uint64_t v_heads, qk_heads, tokens;
	bool v_flat, qk_flat, norm;
	double scale;
	double *in[TT_DELTA_BETA + 1];
	double *part[TT_DELTA_PARTS], *state, *out;
	double *q, *k; /* of one chunk */
};

static uint64_t part_size(const struct chunks *c, int part)
{
	const uint64_t sizes[TT_DELTA_PARTS] = {
		[V_BETA] = c->size * c->values, [K_BETA] = c->size * c->keys,
		[Q_DECAY] = c->size * c->keys,  [INTRA] = c->size * c->size,
		[K_DECAY] = c->keys * c->size,  [LAST] = TT_TILE * TT_TILE,
		[INVERSE] = c->size * c->size,
	};

	return sizes[part];
}

static void read_shape(struct chunks *c, const struct tt_launch *launch)
{
	const struct ttnn_value *shape = tt_delta_shape(launch);

	c->launch = launch;
	c->heads = (uint64_t)shape[TT_DELTA_HEADS].integer;
	c->count = (uint64_t)shape[TT_DELTA_CHUNKS].integer;
	c->size = (uint64_t)shape[TT_DELTA_CHUNK].integer;
	c->keys = (uint64_t)shape[TT_DELTA_KEY].integer;
	c->values = (uint64_t)shape[TT_DELTA_VALUE].integer;
	if (launch->prog->attrs->count <= TT_DELTA_SHAPE_ATTRS)
		return;
	c->v_flat = shape[TT_DELTA_V_FLAT].boolean;
	c->v_heads = (uint64_t)shape[TT_DELTA_V_HEADS].integer;
	c->qk_flat = shape[TT_DELTA_QK_FLAT].boolean;
	c->qk_heads = (uint64_t)shape[TT_DELTA_QK_HEADS].integer;
	c->norm = shape[TT_DELTA_NORM].boolean;
	c->scale = shape[TT_DELTA_SCALE].real;
}

/* Inputs as far as they have numbers; g and beta have one for each token and head. */
static tt_status read_inputs(struct chunks *c)
{
	uint64_t batches, all = c->heads * c->count * c->size, counts[TT_DELTA_BETA + 1];
	const struct ttnn_shape *g = &c->launch->inputs[TT_DELTA_G]->spec.shape;

	for (size_t i = 0; i <= TT_DELTA_BETA; i++)
		TT_TRY(tt_values_of(&c->in[i], &counts[i], c->launch, i));
	TT_NEED(g->rank == 3 && c->v_heads && c->qk_heads && c->v_heads % c->qk_heads == 0 &&
			c->heads % c->v_heads == 0,
		"g and beta are [batches, tokens, heads]");
	c->tokens = g->dim[1];
	batches = c->heads / c->v_heads;
	TT_NEED(counts[TT_DELTA_G] == batches * c->tokens * c->v_heads &&
			counts[TT_DELTA_BETA] == counts[TT_DELTA_G],
		"g and beta are not of the tokens and heads of v");
	if (c->qk_flat)
		all = batches * c->count * c->size * c->qk_heads;
	TT_NEED(counts[TT_DELTA_Q] == all * c->keys && counts[TT_DELTA_K] == all * c->keys,
		"q and k do not fit");
	TT_NEED(counts[TT_DELTA_V] == c->heads * c->count * c->size * c->values, "v does not fit");
	c->q = tt_delta_zeros(c->launch, c->size * c->keys);
	c->k = tt_delta_zeros(c->launch, c->size * c->keys);
	TT_NEED_MEMORY(c->q && c->k);
	for (int i = 0; i < TT_DELTA_PARTS; i++) {
		c->part[i] = tt_delta_zeros(c->launch, c->heads * c->count * part_size(c, i));
		TT_NEED_MEMORY(c->part[i]);
	}
	return TTNN_OK;
}

/* Where a token of a head lies in an input that is flat, or has heads first. */
static const double *row_of(const struct chunks *c, int input, uint64_t head, uint64_t token)
{
	bool v = input == TT_DELTA_V;
	uint64_t heads = v ? c->v_heads : c->qk_heads, width = v ? c->values : c->keys;
	uint64_t all = c->count * c->size, batch = head / c->v_heads;
	uint64_t own = head % c->v_heads / (c->v_heads / heads);

	if (v ? c->v_flat : c->qk_flat)
		return &c->in[input][((batch * all + token) * heads + own) * width];
	return &c->in[input][(head * all + token) * width];
}

/* Flat queries and keys come as they are: their lengths are made one. */
static void copy_row(double *out, const struct chunks *c, const double *in, double scale)
{
	double sum = 1e-6;

	for (uint64_t i = 0; c->norm && i < c->keys; i++)
		sum += in[i] * in[i];
	for (uint64_t i = 0; i < c->keys; i++)
		out[i] = c->norm ? in[i] / sqrt(sum) * scale : in[i];
}

/* I + what lies under the diagonal, inverted row after row: each is one less what those before it give. */
static void invert(double *out, const double *lower, uint64_t size)
{
	for (uint64_t r = 0; r < size; r++) {
		out[r * size + r] = 1;
		for (uint64_t i = 0; i < r; i++)
			for (uint64_t c = 0; c <= i; c++)
				out[r * size + c] -= lower[r * size + i] * out[i * size + c];
	}
}

static double dot(const double *a, const double *b, uint64_t count)
{
	double sum = 0;

	for (uint64_t i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

/* One chunk: sums of decay from its beginning, and what tokens do to those behind them. */
static tt_status prepare(struct chunks *c, uint64_t n)
{
	uint64_t head = n / c->count, size = c->size, keys = c->keys, first = n % c->count * size;
	double *part[TT_DELTA_PARTS], *decay = tt_delta_zeros(c->launch, size);
	double *beta = tt_delta_zeros(c->launch, size);
	double *lower = tt_delta_zeros(c->launch, size * size), sum = 0;

	TT_NEED_MEMORY(decay && beta && lower);
	for (int i = 0; i < TT_DELTA_PARTS; i++)
		part[i] = &c->part[i][n * part_size(c, i)];
	for (uint64_t r = 0; r < size; r++) {
		uint64_t token = first + r, batch = head / c->v_heads;
		uint64_t at = (batch * c->tokens + token) * c->v_heads + head % c->v_heads;

		sum += token < c->tokens ? c->in[TT_DELTA_G][at] : 0;
		decay[r] = sum;
		beta[r] = token < c->tokens ? c->in[TT_DELTA_BETA][at] : 0;
		copy_row(&c->q[r * keys], c, row_of(c, TT_DELTA_Q, head, token), c->scale);
		copy_row(&c->k[r * keys], c, row_of(c, TT_DELTA_K, head, token), 1);
		for (uint64_t i = 0; i < c->values; i++)
			part[V_BETA][r * c->values + i] =
				beta[r] * row_of(c, TT_DELTA_V, head, token)[i];
	}
	for (uint64_t r = 0; r < size; r++) {
		for (uint64_t i = 0; i <= r; i++) {
			double weight = exp(decay[r] - decay[i]);

			part[INTRA][r * size + i] =
				weight * dot(&c->q[r * keys], &c->k[i * keys], keys);
			if (i < r)
				lower[r * size + i] = beta[r] * weight *
						      dot(&c->k[r * keys], &c->k[i * keys], keys);
		}
		for (uint64_t i = 0; i < keys; i++) {
			double key = c->k[r * keys + i];

			part[Q_DECAY][r * keys + i] = c->q[r * keys + i] * exp(decay[r]);
			part[K_BETA][r * keys + i] = -key * beta[r] * exp(decay[r]);
			part[K_DECAY][i * size + r] = key * exp(sum - decay[r]);
		}
	}
	for (uint64_t i = 0; i < TT_TILE; i++)
		part[LAST][i * TT_TILE + i] = exp(sum);
	invert(part[INVERSE], lower, size);
	return TTNN_OK;
}

tt_status tt_delta_prep_kernel(struct tt_launch *launch)
{
	struct chunks c = {0};

	read_shape(&c, launch);
	TT_TRY(read_inputs(&c));
	for (uint64_t n = 0; n < c.heads * c.count; n++)
		TT_TRY(prepare(&c, n));
	for (size_t i = 0; i < TT_DELTA_PARTS; i++)
		TT_TRY(tt_delta_write(launch, i, c.part[i]));
	return TTNN_OK;
}

/* States go on from chunk to chunk: what values are new, what comes out, what is kept. */
static tt_status scan(struct chunks *c, size_t state)
{
	uint32_t size = (uint32_t)c->size, keys = (uint32_t)c->keys, values = (uint32_t)c->values;
	const uint32_t with_keys[3] = {size, keys, values}, square[3] = {size, size, values};
	const uint32_t learn[3] = {keys, size, values};
	uint64_t area = c->keys * c->values, rows = c->size * c->values;
	double *fresh = tt_delta_zeros(c->launch, rows), *rest = tt_delta_zeros(c->launch, rows);

	c->out = tt_delta_zeros(c->launch, c->heads * c->count * rows);
	TT_NEED_MEMORY(fresh && rest && c->out);
	TT_TRY(tt_delta_numbers(&c->state, c->launch, state, c->heads * area));
	for (uint64_t n = 0; n < c->heads * c->count; n++) {
		double *part[TT_DELTA_PARTS], *at = &c->state[n / c->count * area];

		for (int i = 0; i < TT_DELTA_PARTS; i++)
			part[i] = &c->part[i][n * part_size(c, i)];
		memcpy(rest, part[V_BETA], rows * sizeof(*rest));
		memset(fresh, 0, rows * sizeof(*fresh));
		tt_delta_product(rest, part[K_BETA], at, with_keys, 1);
		tt_delta_product(fresh, part[INVERSE], rest, square, 1);
		tt_delta_product(&c->out[n * rows], part[Q_DECAY], at, with_keys, 1);
		tt_delta_product(&c->out[n * rows], part[INTRA], fresh, square, 1);
		for (uint64_t i = 0; i < area; i++)
			at[i] *= *part[LAST];
		tt_delta_product(at, part[K_DECAY], fresh, learn, 1);
	}
	TT_TRY(tt_delta_write(c->launch, 0, c->out));
	return tt_delta_write(c->launch, 1, c->state);
}

tt_status tt_delta_scan_kernel(struct tt_launch *launch)
{
	struct chunks c = {0};

	read_shape(&c, launch);
	for (int i = 0; i < TT_DELTA_PARTS; i++)
		TT_TRY(tt_delta_numbers(&c.part[i], launch, (size_t)i,
					c.heads * c.count * part_size(&c, i)));
	return scan(&c, TT_DELTA_PARTS);
}

tt_status tt_delta_chunk_kernel(struct tt_launch *launch)
{
	struct chunks c = {0};

	read_shape(&c, launch);
	TT_TRY(read_inputs(&c));
	for (uint64_t n = 0; n < c.heads * c.count; n++)
		TT_TRY(prepare(&c, n));
	return scan(&c, TT_DELTA_STATE);
}
