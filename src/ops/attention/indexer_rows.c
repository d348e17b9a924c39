/*
 * indexer_rows.c: the numbers of indexer_score: of a chip's queries with the keys before each, which a ring collects first.
 *
 * Rows lie on chips one chip's behind the other's, or slab by slab as a cache grows: then a chip has those rows of the chunk
 * that it would get if the chunk were appended to the cache.
 */
#include <math.h>
#include <string.h>

#include "ops/attention/indexer_score.h"
#include "ops/collective/collective.h"
#include "ops/values.h"

struct scores {
	uint64_t heads, rows, keys, width, groups, block;
	float *q, *k, *weights; /* k: by columns */
	float *line, *out;      /* line: of one head */
	float scale;
	bool relu;
};

/* Where a chip's queries stand: its rank, and with slabs of `chunk` rows its first row. */
struct places {
	uint64_t start, rank, rows, ratio, valid;
	uint64_t chips, chunk, first; /* chunk 0: no slabs */
};

/* ---- what is read -------------------------------------------------------------------------------------------------- */

/* A chip's tensor as float32; *count is how many numbers that are. */
static tt_status read_floats(float **out, uint64_t *count, const struct tt_launch *launch,
			     struct tt_tensor *tensor)
{
	double *values;

	TT_TRY(ttnn_shape_volume(count, &tensor->spec.shape));
	values = tt_arena_alloc(launch->arena, (*count + 1) * sizeof(*values));
	*out = tt_arena_alloc(launch->arena, (*count + 1) * sizeof(**out));
	TT_NEED_MEMORY(values && *out);
	TT_TRY(tt_tensor_numbers(values, *count, tensor));
	for (uint64_t i = 0; i < *count; i++)
		(*out)[i] = (float)values[i];
	return TTNN_OK;
}

/* The same of an input on this chip of a mesh. */
static tt_status read_chip(float **out, uint64_t *count, const struct tt_launch *launch,
			   size_t input, uint32_t chip)
{
	struct tt_tensor *tensor;
	tt_status status;

	TT_TRY(tt_tensor_resident(&tensor, launch->inputs[input], chip, TT_BUFFER_READ));
	status = read_floats(out, count, launch, tensor);
	ttnn_tensor_unref(tensor);
	return status;
}

/* A number that is on the device; `fallback` where it is not there. */
static tt_status read_number(uint64_t *out, const struct tt_launch *launch, size_t input,
			     uint64_t fallback)
{
	struct tt_tensor *tensor;
	double value = 0;
	tt_status status;

	*out = fallback;
	if (!launch->inputs[input])
		return TTNN_OK;
	TT_TRY(tt_tensor_resident(&tensor, launch->inputs[input], 0, TT_BUFFER_READ));
	status = tt_tensor_numbers(&value, 1, tensor);
	ttnn_tensor_unref(tensor);
	*out = (uint64_t)value;
	return status;
}

/* The slot of a cache: of a user's layer, where only the user is said. */
static tt_status slot_of(uint64_t *out, const struct tt_launch *launch)
{
	const struct ttnn_value *slot = &launch->attrs[TT_SCORE_SLOT];
	uint64_t slots = launch->inputs[TT_SCORE_LOCAL]->spec.shape.dim[0];

	*out = tt_value_given(slot) ? (uint64_t)slot->integer : 0;
	if (!launch->inputs[TT_SCORE_SLOT_THERE])
		return TTNN_OK;
	TT_TRY(read_number(out, launch, TT_SCORE_SLOT_THERE, 0));
	*out = *out * (uint64_t)launch->attrs[TT_SCORE_LAYERS].integer +
	       (uint64_t)launch->attrs[TT_SCORE_LAYER].integer;
	TT_NEED(*out < slots, "indexer_score: there is no slot %llu among %llu",
		(unsigned long long)*out, (unsigned long long)slots);
	return TTNN_OK;
}

/* ---- where rows stand ---------------------------------------------------------------------------------------------- */

static uint64_t rank_along(const struct tt_launch *launch, size_t which, uint32_t chip)
{
	const struct ttnn_value *axes = &launch->attrs[TT_SCORE_AXES];

	if (which >= axes->count)
		return which ? 0 : chip;
	return axes->items[which].integer == 0 ? chip / launch->device->cols
					       : chip % launch->device->cols;
}

static void set_places(struct places *p, const struct tt_launch *launch, uint32_t chip)
{
	const struct ttnn_value *cyclic = &launch->attrs[TT_SCORE_CYCLIC];
	uint64_t sub = rank_along(launch, 1, chip), edge, slab;

	p->rank = rank_along(launch, 0, chip);
	p->rows = launch->inputs[TT_SCORE_Q]->spec.shape.dim[2];
	p->ratio = tt_attr_u32(launch, TT_SCORE_RATIO);
	p->chunk = 0;
	if (!tt_value_given(cyclic)) {
		p->rank += sub;
		return;
	}
	p->chips = (uint64_t)cyclic->items[TT_SCORE_CHIPS].integer;
	p->chunk = (uint64_t)cyclic->items[TT_SCORE_CHUNK].integer * p->ratio;
	slab = p->start / (p->chunk * p->chips);
	edge = p->start / p->chunk % p->chips;
	p->first = (slab + (p->rank < edge)) * p->chunk + sub * p->rows;
	if (p->rank == edge)
		p->first += p->start % p->chunk;
}

/* How many keys a query may see. */
static uint64_t keys_before(const struct places *p, uint64_t row)
{
	uint64_t local = p->first + row, place = p->start + p->rank * p->rows + row, keys;

	if (p->chunk)
		place = local / p->chunk * p->chunk * p->chips + p->rank * p->chunk +
			local % p->chunk;
	keys = (place + 1) / p->ratio;
	return keys < p->valid ? keys : p->valid;
}

/* ---- scores -------------------------------------------------------------------------------------------------------- */

/* Keys in rows, to columns in the order of their sequence. */
static tt_status set_keys(struct scores *s, const struct tt_launch *launch, const float *rows)
{
	const struct ttnn_value *cyclic = &launch->attrs[TT_SCORE_CYCLIC];
	uint64_t stripes = 1, chunk = s->keys;

	if (tt_value_given(cyclic)) {
		uint64_t cuts = (uint64_t)launch->attrs[TT_SCORE_STRIPES].integer;

		stripes = (uint64_t)cyclic->items[TT_SCORE_CHIPS].integer * cuts;
		chunk = (uint64_t)cyclic->items[TT_SCORE_CHUNK].integer / cuts;
	}
	s->k = tt_arena_alloc(launch->arena, (s->keys * s->width + 1) * sizeof(*s->k));
	TT_NEED_MEMORY(s->k);
	for (uint64_t t = 0; t < s->keys; t++) {
		uint64_t stripe = t / chunk % stripes;
		uint64_t row =
			stripe * (s->keys / stripes) + t / (chunk * stripes) * chunk + t % chunk;

		for (uint64_t i = 0; i < s->width; i++)
			s->k[i * s->keys + t] = rows[row * s->width + i];
	}
	return TTNN_OK;
}

/* Adds what a head says of the first keys to a row of sums. */
static void add_head(float *sums, const struct scores *s, uint64_t head, uint64_t row,
		     uint64_t keys)
{
	const float *q = &s->q[(head * s->rows + row) * s->width];
	float weight = s->weights ? s->weights[row * s->heads + head] : s->scale;

	memset(s->line, 0, keys * sizeof(*s->line));
	for (uint64_t i = 0; i < s->width; i++)
		for (uint64_t t = 0; t < keys; t++)
			s->line[t] += q[i] * s->k[i * s->keys + t];
	for (uint64_t t = 0; t < keys; t++)
		sums[t] += weight * (s->relu && s->line[t] < 0 ? 0 : s->line[t]);
}

/* What cannot be seen is less than everything; of a block the most counts. */
static void finish_row(float *out, float *sums, const struct scores *s, uint64_t keys)
{
	for (uint64_t t = keys; t < s->keys; t++)
		sums[t] = -INFINITY;
	for (uint64_t b = 0; b < s->keys / s->block; b++) {
		out[b] = sums[b * s->block];
		for (uint64_t t = 1; t < s->block; t++)
			out[b] = fmaxf(out[b], sums[b * s->block + t]);
	}
}

/* What all chips have in common. */
static struct scores scores_of(const struct tt_launch *launch)
{
	const uint32_t *q = launch->inputs[TT_SCORE_Q]->spec.shape.dim;
	uint64_t block = tt_attr_u32(launch, TT_SCORE_BLOCK);

	return (struct scores){.heads = q[1],
			       .rows = q[2],
			       .width = q[3],
			       .keys = launch->inputs[TT_SCORE_K]->spec.shape.dim[2],
			       .groups = tt_attr_u32(launch, TT_SCORE_GROUPS),
			       .block = block ? block : 1,
			       .scale = (float)launch->attrs[TT_SCORE_SCALE].real,
			       .relu = launch->attrs[TT_SCORE_RELU].boolean};
}

static tt_status write_scores(struct tt_tensor *out, struct scores *s,
			      const struct tt_launch *launch, const struct places *p)
{
	uint64_t own = s->heads / s->groups, columns = s->keys / s->block;
	float *sums = tt_arena_alloc(launch->arena, (s->keys + 1) * sizeof(float));

	s->line = tt_arena_alloc(launch->arena, (s->keys + 1) * sizeof(float));
	s->out = tt_arena_alloc(launch->arena, (s->groups * s->rows * columns + 1) * sizeof(float));
	TT_NEED_MEMORY(s->line && sums && s->out);
	for (uint64_t n = 0; n < s->groups * s->rows; n++) {
		uint64_t row = n % s->rows, keys = keys_before(p, row);

		memset(sums, 0, s->keys * sizeof(*sums));
		for (uint64_t h = n / s->rows * own; h < (n / s->rows + 1) * own; h++)
			add_head(sums, s, h, row, keys);
		finish_row(&s->out[n * columns], sums, s, keys);
	}
	return tt_values_write(out, s->out, TTNN_FLOAT32);
}

tt_status tt_score_kernel(struct tt_launch *launch)
{
	const struct ttnn_value *length = &launch->attrs[TT_SCORE_LENGTH];
	const struct ttnn_value *slot = &launch->attrs[TT_SCORE_SLOT];
	struct scores s = scores_of(launch);
	struct places p = {.start = (uint64_t)launch->attrs[TT_SCORE_START].integer};
	uint64_t from = tt_value_given(slot) ? (uint64_t)slot->integer : 0, count;
	float *rows;

	p.valid = tt_value_given(length) ? (uint64_t)length->integer : s.keys;
	set_places(&p, launch, launch->chip);
	TT_TRY(read_floats(&s.q, &count, launch, launch->inputs[TT_SCORE_Q]));
	TT_TRY(read_floats(&rows, &count, launch, launch->inputs[TT_SCORE_K]));
	TT_TRY(set_keys(&s, launch, rows + from * s.keys * s.width));
	if (!launch->attrs[TT_SCORE_GATE].boolean)
		TT_TRY(read_floats(&s.weights, &count, launch, launch->inputs[TT_SCORE_WEIGHTS]));
	return write_scores(launch->outputs[0], &s, launch, &p);
}

/* ---- of a ring ----------------------------------------------------------------------------------------------------- */

/* What the other chips of the ring have goes to the gathered keys; all of them are in `rows` afterwards. */
static tt_status gather(float *rows, const struct tt_launch *launch, const struct tt_group *group,
			uint32_t chip)
{
	const uint32_t *local = launch->inputs[TT_SCORE_LOCAL]->spec.shape.dim;
	uint64_t part = (uint64_t)local[2] * local[3], slot, count;
	struct tt_tensor *gathered;
	float *numbers, *kept;
	tt_status status;

	TT_TRY(slot_of(&slot, launch));
	TT_TRY(tt_tensor_resident(&gathered, launch->inputs[TT_SCORE_K], chip, TT_BUFFER_UPDATE));
	status = read_floats(&kept, &count, launch, gathered);
	for (uint32_t i = 0; i < group->count && status == TTNN_OK; i++) {
		status = read_chip(&numbers, &count, launch, TT_SCORE_LOCAL, group->chips[i]);
		if (status != TTNN_OK)
			break;
		memcpy(&rows[i * part], &numbers[slot * part], part * sizeof(*rows));
		if (i != group->own)
			memcpy(&kept[i * part], &rows[i * part], part * sizeof(*kept));
	}
	if (status == TTNN_OK)
		status = tt_values_write(gathered, kept, TTNN_FLOAT32);
	ttnn_tensor_unref(gathered);
	return status;
}

/* How far keys are valid: what is said, or with numbers on the device the end of the chunk, or of what is in it. */
static tt_status set_valid(struct places *p, const struct tt_launch *launch, uint64_t keys)
{
	const struct ttnn_value *length = &launch->attrs[TT_SCORE_LENGTH];
	const struct ttnn_value *cyclic = &launch->attrs[TT_SCORE_CYCLIC];
	uint64_t end;

	p->valid = tt_value_given(length) ? (uint64_t)length->integer : keys;
	p->ratio = tt_attr_u32(launch, TT_SCORE_RATIO);
	TT_TRY(read_number(&p->start, launch, TT_SCORE_START_THERE,
			   (uint64_t)launch->attrs[TT_SCORE_START].integer));
	if (!launch->inputs[TT_SCORE_START_THERE] || !tt_value_given(cyclic))
		return TTNN_OK;
	p->valid = tt_lesser(keys, p->start / p->ratio +
					   (uint64_t)cyclic->items[TT_SCORE_CHIPS].integer *
						   (uint64_t)cyclic->items[TT_SCORE_CHUNK].integer);
	TT_TRY(read_number(&end, launch, TT_SCORE_END_THERE, keys * p->ratio));
	end = tt_div_up(tt_div_up(end, p->ratio), TT_TILE) * TT_TILE;
	p->valid = tt_lesser(p->valid, end);
	return TTNN_OK;
}

static tt_status ring_chip(struct tt_launch *launch, struct places p, uint32_t chip)
{
	const struct ttnn_value *axes = &launch->attrs[TT_SCORE_AXES];
	struct scores s = scores_of(launch);
	struct tt_group group;
	struct tt_tensor *out;
	uint64_t count;
	tt_status status;
	float *rows = tt_arena_alloc(launch->arena, (s.keys * s.width + 1) * sizeof(*rows));

	TT_NEED_MEMORY(rows);
	tt_group_find(&group, launch->device, axes->count ? axes->items[0].integer : -1, chip);
	set_places(&p, launch, chip);
	TT_TRY(gather(rows, launch, &group, chip));
	TT_TRY(set_keys(&s, launch, rows));
	TT_TRY(read_chip(&s.q, &count, launch, TT_SCORE_Q, chip));
	TT_TRY(read_chip(&s.weights, &count, launch, TT_SCORE_WEIGHTS, chip));
	TT_TRY(tt_tensor_resident(&out, launch->outputs[0], chip, TT_BUFFER_OVERWRITE));
	status = write_scores(out, &s, launch, &p);
	ttnn_tensor_unref(out);
	return status;
}

tt_status tt_score_ring_kernel(struct tt_launch *launch)
{
	struct places p = {0};

	TT_TRY(set_valid(&p, launch, launch->inputs[TT_SCORE_K]->spec.shape.dim[2]));
	for (uint32_t chip = 0; chip < launch->device->rows * launch->device->cols; chip++)
		TT_TRY(ring_chip(launch, p, chip));
	return TTNN_OK;
}
