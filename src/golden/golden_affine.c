/*
 * golden_affine.c: what groups of chunks do to a state, put together, token by token: every chunk of 32 is asked where it is in the
 * sequence, and what changes the state is applied in the order of the sequence.
 */
#include "device/device.h"
#include "device/devtensor.h"
#include "golden/golden_attention.h"

#define CHUNK 32

/* The first chip's part of the sequence, which is on `chips` of them. */
struct course {
	uint64_t chips, rows, start, count; /* count: tokens of the sequence */
};

static uint64_t number(struct tt_golden *golden, const char *name, uint64_t fallback)
{
	const struct tt_array *array = tt_golden_in(golden, name);

	return array ? (uint64_t)*tt_at(array, 0) : fallback;
}

static tt_status read_course(struct course *c, struct tt_golden *golden, const char *tensor)
{
	const struct tt_device *device = tt_golden_device(golden, tensor);
	bool down = tt_call_int(&golden->call, "sequence_parallel_axis", 0) == 0;
	uint64_t end;

	TT_NEED(device, "%s must be on a device", tensor);
	c->chips = down ? device->rows : device->cols;
	c->rows = (uint64_t)tt_call_int(&golden->call, "local_rows", CHUNK);
	c->start = number(golden, "actual_start", 0);
	end = number(golden, "actual_end", c->start + c->chips * c->rows);
	c->count = end - c->start;
	golden->first_chip = true;
	TT_NEED(c->rows && c->rows <= UINT32_MAX, "a chip must have rows");
	return TTNN_OK;
}

/* Which token of the sequence (from its start) a row of the first chip is: tokens go round the chips as a cache grows. */
static uint64_t token_of(const struct course *c, uint64_t row)
{
	uint64_t seen = 0;

	for (uint64_t n = 0; n < c->chips * c->rows; n++) {
		tt_golden_step();
		if ((c->start + n) / c->rows % c->chips == 0 && seen++ == row)
			return n;
	}
	return UINT64_MAX;
}

/* Whether a row of the first chip follows the row before it in the sequence. */
static bool follows(const struct course *c, uint64_t row)
{
	return row == 0 || token_of(c, row) == token_of(c, row - 1) + 1;
}

/* The n-th matrix of an array of them. */
static double *matrix(const struct tt_array *array, uint64_t n, const uint64_t size[2])
{
	return tt_array_span(array, n * size[0] * size[1], size[0] * size[1]);
}

/* state = A·state + B of group g, in double. */
static void step(double *state, double *next, const double *a, const double *b,
		 const uint64_t size[2])
{
	if (!a)
		return;
	for (uint64_t i = 0; i < size[0] * size[1]; i++) {
		next[i] = b ? b[i] : 0;
		for (uint64_t k = 0; k < size[0]; k++)
			next[i] += a[i / size[1] * size[0] + k] * state[k * size[1] + i % size[1]];
	}
	for (uint64_t i = 0; i < size[0] * size[1]; i++)
		state[i] = next[i];
}

tt_status tt_golden_affine_reduce(struct tt_golden *golden)
{
	const struct tt_array *a = tt_golden_in(golden, "a"), *b = tt_golden_in(golden, "b");
	uint64_t groups = (uint64_t)tt_call_int(&golden->call, "groups_per_head", 1);
	struct tt_array *all, *sums, *next;
	struct course c;

	TT_GOLDEN_NEED(a && b);
	TT_NEED(groups, "a head must have groups");
	TT_TRY(read_course(&c, golden, "a"));
	const uint64_t keys[2] = {a->shape.dim[1], a->shape.dim[1]};
	const uint64_t size[2] = {b->shape.dim[1], b->shape.dim[2]};
	const uint32_t heads = (uint32_t)(a->shape.dim[0] / groups);

	all = tt_golden_out(golden,
			    &(struct ttnn_shape){3, {heads, (uint32_t)keys[0], (uint32_t)keys[0]}},
			    TTNN_FLOAT32);
	sums = tt_golden_out(golden,
			     &(struct ttnn_shape){3, {heads, (uint32_t)size[0], (uint32_t)size[1]}},
			     TTNN_FLOAT32);
	next = tt_golden_temp(golden,
			      &(struct ttnn_shape){1, {(uint32_t)(keys[0] * (keys[0] + size[1]))}});
	TT_GOLDEN_NEED(all && sums && next);
	for (uint64_t h = 0; h < heads; h++) {
		for (uint64_t i = 0; i < keys[0]; i++)
			*tt_at(all, (h * keys[0] + i) * keys[0] + i) = 1;
		for (uint64_t row = 0; row < c.rows && follows(&c, row); row += CHUNK) {
			uint64_t g = h * groups + row / tt_divisor(c.rows / groups);

			if (row % tt_divisor(c.rows / groups) || token_of(&c, row) >= c.count)
				continue;
			step(matrix(all, h, keys), tt_array_span(next, 0, keys[0] * keys[1]),
			     matrix(a, g, keys), NULL, keys);
			step(matrix(sums, h, size), tt_array_span(next, 0, size[0] * size[1]),
			     matrix(a, g, keys), matrix(b, g, size), size);
		}
	}
	return TTNN_OK;
}

/* Copies a matrix. */
static void copy(double *out, const double *in, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		out[i] = in[i];
}

tt_status tt_golden_affine_scan(struct tt_golden *golden)
{
	static const char *const names[] = {"a",      "b",      "initial_state",
					    "tail_a", "tail_b", "tail_entry_states"};
	uint64_t groups = (uint64_t)tt_call_int(&golden->call, "groups_per_head", 1), part, square;
	const struct tt_array *in[6];
	struct tt_array *out, *state, *next;
	struct course c;

	for (int i = 0; i < 6; i++) {
		in[i] = tt_golden_in(golden, names[i]);
		TT_GOLDEN_NEED(in[i]);
	}
	TT_TRY(read_course(&c, golden, "a"));
	const uint64_t size[2] = {in[1]->shape.dim[1], in[1]->shape.dim[2]};

	part = size[0] * size[1];
	square = size[0] * size[0];
	out = tt_golden_out(golden, &in[1]->shape, TTNN_FLOAT32);
	state = tt_golden_temp(golden, &(struct ttnn_shape){1, {(uint32_t)(part)}});
	next = tt_golden_temp(golden, &(struct ttnn_shape){1, {(uint32_t)(part)}});
	TT_GOLDEN_NEED(out && state && next);
	for (uint64_t n = 0; n < in[0]->shape.dim[0]; n++) {
		uint64_t each = c.rows / tt_divisor(groups), first = n % tt_divisor(groups) * each,
			 h = n / groups;
		bool tail = false;

		if (first == 0)
			copy(matrix(state, 0, size), matrix(in[2], h, size), part);
		if (!follows(&c, first))
			copy(matrix(state, 0, size), matrix(in[5], h, size), part);
		copy(matrix(out, n, size), matrix(state, 0, size), part);
		for (uint64_t row = first + 1; row < first + each; row++)
			if (!follows(&c, row)) {
				copy(matrix(state, 0, size), matrix(in[5], h, size), part);
				tail = true;
			}
		for (uint64_t row = 1; row <= first && !tail; row++)
			tail = !follows(&c, row);
		step(matrix(state, 0, size), matrix(next, 0, size),
		     tt_array_span(in[tail ? 3 : 0], n * square, square),
		     matrix(in[tail ? 4 : 1], n, size), size);
	}
	return TTNN_OK;
}

tt_status tt_golden_affine_chain(struct tt_golden *golden)
{
	const struct tt_array *steps = tt_golden_in(golden, "transforms");
	const struct tt_array *initial = tt_golden_in(golden, "initial_state");
	struct tt_array *entry, *state, *next, *parts;
	struct course c;

	TT_GOLDEN_NEED(steps && initial);
	TT_TRY(read_course(&c, golden, "transforms"));
	const uint64_t size[2] = {initial->shape.dim[1], initial->shape.dim[2]};
	uint64_t part = size[0] * size[1], wide = size[0] + size[1], heads = initial->shape.dim[0];
	uint64_t first = c.start / c.rows % c.chips;

	entry = tt_golden_out(golden, &initial->shape, TTNN_FLOAT32);
	state = tt_golden_out(golden, &initial->shape, TTNN_FLOAT32);
	next = tt_golden_temp(golden, &(struct ttnn_shape){1, {(uint32_t)(part)}});
	parts = tt_golden_temp(golden, &(struct ttnn_shape){1, {(uint32_t)(size[0] * wide)}});
	TT_GOLDEN_NEED(entry && state && next && parts);
	copy(tt_array_span(state, 0, initial->count), tt_array_span(initial, 0, initial->count),
	     initial->count);
	for (uint64_t s = 0; s < c.chips; s++) {
		uint64_t rank = (first + s) % c.chips;

		if (rank == 0)
			copy(tt_array_span(entry, 0, state->count),
			     tt_array_span(state, 0, state->count), state->count);
		for (uint64_t h = 0; h < heads; h++) {
			for (uint64_t i = 0; i < size[0] * wide; i++) {
				uint64_t row = i / wide, column = i % wide;
				uint64_t to = column < size[0] ? row * size[0] + column
							       : size[0] * size[0] + row * size[1] +
									 column - size[0];

				*tt_at(parts, to) =
					*tt_at(steps, ((rank * heads + h) * size[0]) * wide + i);
			}
			step(matrix(state, h, size), matrix(next, 0, size),
			     tt_array_span(parts, 0, size[0] * size[0]),
			     tt_array_span(parts, size[0] * size[0], part), size);
		}
	}
	return TTNN_OK;
}
