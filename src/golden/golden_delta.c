/*
 * golden_delta.c: gated delta nets, value by value: a column of the state for each, of which a token sees what all
 * before it left there.
 */
#include <math.h>

#include "golden/golden_attention.h"

/* Queries and keys [batches, tokens, heads, keys], values with heads of their own, which share those of keys. */
struct rule {
	const struct tt_array *q, *k, *v, *g, *beta, *first;
	uint64_t batches, tokens, heads, keys, all, values;
	bool norm; /* lengths of queries and keys are made one */
	double scale;
	double *state; /* of a column, as it goes on */
};

/* A column: of a batch, of a head, of a value. */
struct column {
	uint64_t batch, head, value;
};

static double length_of(const struct rule *r, const struct tt_array *array, uint64_t at)
{
	double sum = 1e-6;

	for (uint64_t k = 0; r->norm && k < r->keys; k++)
		sum += *tt_at(array, at + k) * *tt_at(array, at + k);
	return r->norm ? sqrt(sum) : 1;
}

static double token_out(const struct rule *r, const struct column *c, uint64_t token)
{
	uint64_t row = c->batch * r->tokens + token, number = row * r->all + c->head;
	uint64_t at = (row * r->heads + c->head / (r->all / r->heads)) * r->keys;
	double key = 1 / length_of(r, r->k, at), query = r->scale / length_of(r, r->q, at);
	double fresh = *tt_at(r->v, number * r->values + c->value), sum = 0;
	double decay = exp(*tt_at(r->g, number));

	for (uint64_t k = 0; k < r->keys; k++)
		fresh -= decay * r->state[k] * key * *tt_at(r->k, at + k);
	for (uint64_t k = 0; k < r->keys; k++) {
		r->state[k] = decay * r->state[k] +
			      *tt_at(r->beta, number) * fresh * key * *tt_at(r->k, at + k);
		sum += query * *tt_at(r->q, at + k) * r->state[k];
	}
	return sum;
}

static tt_status read_rule(struct rule *r, struct tt_golden *golden)
{
	uint32_t rank;

	*r = (struct rule){.q = tt_golden_in(golden, "q"),
			   .k = tt_golden_in(golden, "k"),
			   .v = tt_golden_in(golden, "v"),
			   .g = tt_golden_in(golden, "g"),
			   .beta = tt_golden_in(golden, "beta"),
			   .first = tt_golden_in(golden, "initial_state")};
	TT_GOLDEN_NEED(r->q && r->k && r->v && r->g && r->beta && r->g->shape.rank == 3);
	rank = r->q->shape.rank;
	TT_GOLDEN_NEED((rank == 3 || rank == 4) && r->v->shape.rank == rank);
	r->batches = r->q->shape.dim[0];
	r->tokens = r->q->shape.dim[1];
	r->all = r->g->shape.dim[2];
	TT_GOLDEN_NEED(r->all && r->g->count == r->batches * r->tokens * r->all && r->g->count);
	r->values = r->v->count / r->g->count;
	r->keys = rank == 4 ? r->q->shape.dim[3] : r->values;
	r->heads = r->keys ? r->q->count / (r->batches * r->tokens * r->keys) : 0;
	TT_GOLDEN_NEED(r->heads && r->all % r->heads == 0);
	r->norm = rank == 3;
	r->scale = tt_call_real(&golden->call, "scale", 1 / sqrt((double)r->keys));
	r->state = tt_arena_calloc(golden->arena, r->keys + 1, sizeof(*r->state));
	TT_GOLDEN_NEED(r->state);
	return TTNN_OK;
}

/* Where states go: the last, or every one, by tokens first in a ring. */
struct states {
	struct tt_array *out;
	const struct tt_array *blocks;
	bool each;
};

static void put_state(const struct states *states, const struct rule *r, const struct column *c,
		      uint64_t token)
{
	uint64_t heads = r->batches * r->all, place = c->batch * r->all + c->head;

	if (!states->out || (!states->each && token + 1 < r->tokens))
		return;
	if (states->each)
		place = states->blocks ? token * heads + place
				       : (c->batch * r->tokens + token) * r->all + c->head;
	for (uint64_t k = 0; k < r->keys; k++)
		*tt_at(states->out, (place * r->keys + k) * r->values + c->value) = r->state[k];
}

/* `major`: heads first, then tokens. */
static void run_column(struct tt_array *out, const struct states *states, const struct rule *r,
		       const struct column *c, bool major)
{
	uint64_t head = c->batch * r->all + c->head;
	uint64_t from = states->blocks ? (uint64_t)*tt_at(states->blocks, head) : head;

	for (uint64_t k = 0; k < r->keys; k++)
		r->state[k] =
			r->first ? *tt_at(r->first, (from * r->keys + k) * r->values + c->value)
				 : 0;
	for (uint64_t t = 0; t < r->tokens; t++) {
		uint64_t row = major ? head * r->tokens + t
				     : (c->batch * r->tokens + t) * r->all + c->head;

		*tt_at(out, row * r->values + c->value) = token_out(r, c, t);
		put_state(states, r, c, t);
	}
}

static void run_columns(struct tt_array *out, const struct states *states, const struct rule *r,
			bool major)
{
	for (uint64_t i = 0; i < r->batches * r->all * r->values; i++)
		run_column(out, states, r,
			   &(struct column){i / r->values / r->all, i / r->values % r->all,
					    i % r->values},
			   major);
}

tt_status tt_golden_delta_recurrent(struct tt_golden *golden)
{
	bool final = tt_call_bool(&golden->call, "output_final_state", false);
	struct states states = {
		.blocks = tt_golden_in(golden, "initial_state_block_idx"),
		.each = tt_call_bool(&golden->call, "output_per_token_state", false)};
	struct tt_array *out;
	struct rule r;

	TT_TRY(read_rule(&r, golden));
	out = tt_golden_out(golden, &r.v->shape, TTNN_FLOAT32);
	TT_GOLDEN_NEED(out && !r.norm);
	if (states.each || final) {
		uint32_t batches = (uint32_t)r.batches, tokens = (uint32_t)r.tokens;
		uint32_t heads = (uint32_t)r.all, keys = (uint32_t)r.keys;
		uint32_t values = (uint32_t)r.values;
		const struct ttnn_shape each = TT_SHAPE(batches, tokens, heads, keys, values);
		const struct ttnn_shape ring = TT_SHAPE(tokens * batches * heads, keys, values);
		const struct ttnn_shape last = TT_SHAPE(batches, heads, keys, values);

		states.out = tt_golden_out(golden,
					   !states.each    ? &last
					   : states.blocks ? &ring
							   : &each,
					   TTNN_FLOAT32);
		TT_GOLDEN_NEED(states.out);
	}
	run_columns(out, &states, &r, false);
	return TTNN_OK;
}

tt_status tt_golden_delta_chunk(struct tt_golden *golden)
{
	bool major = tt_call_bool(&golden->call, "output_head_major", false);
	struct states states = {0};
	struct ttnn_shape shape;
	struct tt_array *out;
	struct rule r;

	TT_TRY(read_rule(&r, golden));
	shape = TT_SHAPE((uint32_t)r.batches, (uint32_t)r.tokens, (uint32_t)r.all,
			 (uint32_t)r.values);
	if (major)
		shape = TT_SHAPE((uint32_t)(r.batches * r.all), (uint32_t)r.tokens,
				 (uint32_t)r.values);
	out = tt_golden_out(golden, &shape, TTNN_FLOAT32);
	TT_GOLDEN_NEED(out);
	shape = TT_SHAPE((uint32_t)r.batches, (uint32_t)r.all, (uint32_t)r.keys,
			 (uint32_t)r.values);
	if (tt_call_bool(&golden->call, "output_final_state", false)) {
		states.out = tt_golden_out(golden, &shape, TTNN_FLOAT32);
		TT_GOLDEN_NEED(states.out);
	}
	run_columns(out, &states, &r, major);
	return TTNN_OK;
}
