/*
 * moe_compute_run.c: what moe_compute computes: which tokens a chip's experts have (moe_work.c), the products, and where their rows
 * go: to the cores that combine, where every second expert takes the place of the one before the last, and to the tokens.
 */
#include <math.h>

#include "backend/backend.h"
#include "device/devtensor.h"
#include "ops/collective/exchange.h"
#include "ops/collective/moe_compute.h"
#include "ops/collective/moe_places.h"
#include "ops/collective/moe_work.h"
#include "ops/scratch.h"
#include "tensor/core.h"

#define LINE (TT_RING_WIDE * TT_TILE) /* elements of a row of packed weights */
#define SWIGLU_LIMIT 7.0f
#define SWIGLU_ALPHA 1.702f

enum { GATE, UP, BACK, MATRICES };

/* What a launch needs on the side, made once. */
struct moe {
	const struct tt_launch *launch;
	struct tt_expert_ring ring;
	bool bias;
	uint32_t in, between;                  /* elements */
	struct tt_tensor *packed[2], *rows[2]; /* one expert's weights: as they are; in rows */
	struct tt_tensor *matrix[MATRICES],
		*added[MATRICES]; /* and as matrices with what is added */
	struct tt_moe_places places;
	float *result; /* of all cores that combine */
};

/* ---- weights ----------------------------------------------------------------------------------------------------- */

/* One expert's packed weights alone, then all of them in rows. */
static tt_status take_expert(const struct moe *moe, uint32_t chip, uint32_t expert, size_t which)
{
	const struct tt_launch *launch = moe->launch;
	const int64_t from[TTNN_MAX_RANK] = {[1] = tt_attr_u32(launch, TT_MOE_LAYER), [2] = expert};
	static const int64_t start[TTNN_MAX_RANK];
	struct tt_tensor *in;
	tt_status status;

	TT_TRY(tt_tensor_resident(&in, launch->inputs[TT_MOE_GATE_UP + which], chip,
				  TT_BUFFER_READ));
	status = tt_move_part(moe->packed[which], in,
			      &(struct tt_move_block){.extent = moe->packed[which]->spec.shape.dim,
						      .in_start = from,
						      .out_start = start});
	ttnn_tensor_unref(in);
	TT_TRY(status);
	return tt_backend_get()->reshape(moe->rows[which], moe->packed[which]);
}

/* A tile at a line of tiles and one of its four places, to a tile of a matrix; behind its rows the bias is added up. */
static void put_tile(const struct moe *moe, size_t matrix, uint64_t line, uint32_t slot,
		     const uint32_t to[2])
{
	uint32_t rows = matrix == BACK ? moe->between : moe->in;
	uint32_t cols = matrix == BACK ? moe->in : moe->between;
	const float *from = tt_tensor_data(moe->rows[matrix == BACK]);
	float *out = tt_tensor_data(moe->matrix[matrix]), *added;

	added = tt_tensor_data(moe->added[matrix]);
	from += line * TT_TILE * LINE + (uint64_t)slot * TT_TILE;
	for (uint32_t r = 0; r < TT_TILE; r++) {
		uint64_t row = (uint64_t)to[0] * TT_TILE + r;

		if (row < rows)
			memcpy(out + row * cols + (uint64_t)to[1] * TT_TILE,
			       from + (uint64_t)r * LINE, TT_TILE * sizeof(*out));
		for (uint32_t c = 0;
		     row >= rows && row < rows + TT_TILE && moe->bias && c < TT_TILE; c++)
			added[(uint64_t)to[1] * TT_TILE + c] += from[(uint64_t)r * LINE + c];
	}
}

/*
 * Columns of tiles of gate and up in turn: two pairs beside each other; of an odd one's rows every other one. No more than `most` of a
 * core are read.
 */
static void unpack_gate_up(const struct moe *moe, uint32_t most)
{
	const struct tt_expert_ring *ring = &moe->ring;
	uint32_t rows = ring->in + moe->bias, high = tt_ring_filled(ring, rows, TT_RING_WIDE);
	uint32_t half = tt_ring_filled(ring, rows, TT_RING_HALF) / 2, column = 0;
	uint64_t line = 0;

	for (uint32_t core = 0; core < ring->cores; core++) {
		uint32_t own = tt_ring_share(ring, ring->between, core);
		uint32_t kept = tt_ring_stored(ring, core);

		for (uint32_t pair = 0; pair < kept / 2; pair++, line += high)
			for (uint32_t i = 0; i < rows * TT_RING_WIDE; i++) {
				uint32_t slot = i % TT_RING_WIDE, place = 2 * pair + slot / 2;
				const uint32_t to[] = {i / TT_RING_WIDE, column + place};

				if (place < own && place < most)
					put_tile(moe, slot % 2, line + to[0], slot, to);
			}
		for (uint32_t i = 0; kept % 2 && kept <= own && kept <= most && i < rows * 2; i++) {
			const uint32_t to[] = {i / 2, column + kept - 1};

			put_tile(moe, i % 2, line + to[0] / 2, to[0] % 2 * 2 + i % 2, to);
		}
		line += kept % 2 ? half : 0;
		column += own;
	}
}

/* The n-th row of tiles of a core for the place-th of its columns; in a half block two rows are beside each other. */
static void put_down(const struct moe *moe, uint32_t core, uint32_t n, const uint32_t place_to[3])
{
	const struct tt_expert_ring *ring = &moe->ring;
	uint32_t place = place_to[0], group = place / TT_RING_WIDE, slot = place % TT_RING_WIDE;
	uint32_t high = tt_ring_filled(ring, ring->between + moe->bias, TT_RING_WIDE);
	uint64_t line = tt_moe_blocks_down(ring, moe->bias) *
				tt_ring_block_rows(ring, TT_RING_WIDE) * core +
			(uint64_t)group * high;

	if (tt_ring_half_down(ring) && group + 1 == tt_ring_groups_down(ring)) {
		slot += n % 2 * TT_RING_HALF;
		n /= 2;
	}
	put_tile(moe, BACK, line + n, slot, place_to + 1);
}

/* Rows as they come along the ring: a core's own first, then those of the cores before it; the bias behind all. */
static void unpack_down(const struct moe *moe)
{
	const struct tt_expert_ring *ring = &moe->ring;
	uint32_t first[TT_RING_MOST + 1] = {0}, column = 0;

	for (uint32_t i = 0; i < ring->cores; i++)
		first[i + 1] = first[i] + tt_ring_share(ring, ring->between, i);
	for (uint32_t core = 0; core < ring->cores; core++) {
		uint32_t own = tt_ring_share_down(ring, core);

		for (uint32_t place = 0; place < own; place++) {
			uint32_t to[] = {place, 0, column + place}, n = 0;

			for (uint32_t step = 0; step < ring->cores; step++) {
				uint32_t from = (core + ring->cores - step) % ring->cores;

				for (to[1] = first[from]; to[1] < first[from + 1]; to[1]++)
					put_down(moe, core, n++, to);
			}
			to[1] = ring->between;
			if (moe->bias)
				put_down(moe, core, n, to);
		}
		column += own;
	}
}

/* ---- products ------------------------------------------------------------------------------------------------------ */

static float sigmoid(float x)
{
	return 1 / (1 + expf(-x));
}

static float activated(float gate, float up, int64_t kind, float limit)
{
	float least = -limit;

	switch ((enum tt_moe_activation)kind) {
	case TT_MOE_SWIGLU:
		gate = fminf(gate, SWIGLU_LIMIT);
		up = fmaxf(fminf(up, SWIGLU_LIMIT), -SWIGLU_LIMIT);
		return (up + 1) * gate * sigmoid(SWIGLU_ALPHA * gate);
	case TT_MOE_GELU:
		return up * 0.5f * gate *
		       (1 + tanhf(0.7978845608f * (gate + 0.044715f * gate * gate * gate)));
	case TT_MOE_CLAMPED:
		gate = fminf(gate, limit);
		return fmaxf(fminf(up, limit), least) * gate * sigmoid(gate);
	case TT_MOE_SILU:
		break;
	}
	return up * gate * sigmoid(gate);
}

static tt_status multiply(struct tt_tensor *out, struct tt_tensor *in, const struct moe *moe,
			  size_t which)
{
	return tt_backend_get()->matmul(&(struct tt_matmul_job){.out = out,
								.a = in,
								.b = moe->matrix[which],
								.alpha = 1,
								.bias = moe->added[which],
								.beta = 1});
}

static uint32_t token_of(const struct tt_moe_work *work, uint32_t expert, uint32_t n)
{
	return work->maps[((uint64_t)expert * (work->tokens + 1) + n) * work->map_words];
}

/* The tokens of one expert, each as a row. */
static tt_status gather(struct tt_tensor *out, const struct moe *moe,
			const struct tt_moe_work *work, uint32_t expert)
{
	double *tokens;
	float *to = tt_tensor_data(out);

	TT_TRY(tt_chip_read(&tokens, moe->launch, TT_MOE_TOKENS, work->chip));
	for (uint32_t i = 0; i < work->counts[expert]; i++)
		for (uint32_t c = 0; c < moe->in; c++)
			to[(uint64_t)i * moe->in + c] =
				(float)tokens[(uint64_t)token_of(work, expert, i) * moe->in + c];
	return TTNN_OK;
}

/* Tokens among rows of cores, their columns among columns of such; every second expert in the other half of a shard. */
static void place(const struct moe *moe, uint32_t expert, const struct tt_tensor *made)
{
	const struct tt_launch *launch = moe->launch;
	uint32_t high = tt_attr_u32(launch, TT_MOE_ROWS),
		 wide = tt_attr_u32(launch, TT_MOE_COLUMNS);
	uint32_t part = moe->in / wide, count = made->spec.shape.dim[0], row = 0, n = 0;
	uint64_t half = (uint64_t)TT_TILE * moe->in, columns = launch->device->info.compute_grid.x;
	const float *values = tt_tensor_data((struct tt_tensor *)made);

	for (uint32_t i = 0; i < count; i++, n++) {
		if (n == count / high + (row < count % high))
			row++, n = 0;
		for (uint32_t c = 0; c < moe->in; c++) {
			struct ttnn_core core = moe->places.combiner[row * wide + c / part];
			uint64_t at = (uint64_t)n * part + c % part;

			if (at < half)
				moe->result[(core.y * columns + core.x) * TT_MOE_HALVES * half +
					    expert % TT_MOE_HALVES * half + at] =
					values[(uint64_t)i * moe->in + c];
		}
	}
}

/* Which choice of its n-th token an expert was; where cores combine, the last one if it was several. */
static uint32_t choice_of(const struct moe *moe, const struct tt_moe_work *work, uint32_t expert,
			  uint32_t n)
{
	uint64_t at = ((uint64_t)expert * (work->tokens + 1) + n) * work->map_words, row = 0;

	if (moe->launch->attrs[TT_MOE_PATH].integer == TT_MOE_CLUSTER)
		return work->maps[at + 1];
	while (row < work->found && work->active[row * work->row_words] != work->maps[at])
		row++;
	return work->active[row * work->row_words + 1 + expert];
}

/* A row to a row of a result, whatever shape a caller's has. */
static tt_status send_row(struct tt_tensor *out, struct tt_tensor *made, uint32_t n, uint64_t row)
{
	const struct ttnn_shape *shape = &out->spec.shape;
	struct tt_move_loop loop = {tt_shape_last(shape, 1), 1, (int32_t)shape->rank - 1, 1, 1};
	struct tt_move_job job = {.out = out, .in = made, .loops = &loop, .loop_count = 1};

	if (row >= tt_shape_count(shape) / loop.extent)
		return TTNN_OK;
	job.in_start[0] = n;
	for (uint32_t d = shape->rank - 1; d-- > 0; row /= shape->dim[d])
		job.out_start[d] = (int64_t)(row % shape->dim[d]);
	return tt_backend_get()->move(&job);
}

/* The rows of one chip's tokens, of which each has as many. */
static tt_status send_to(struct tt_tensor *out, const struct moe *moe,
			 const struct tt_moe_work *work, struct tt_tensor *made,
			 const uint32_t expert_member[2])
{
	uint32_t each = work->tokens / tt_moe_members(moe->launch), expert = expert_member[0];

	for (uint32_t i = 0; i < work->counts[expert]; i++) {
		uint32_t token = token_of(work, expert, i);

		if (each && token / each == expert_member[1])
			TT_TRY(send_row(out, made, i,
					(uint64_t)choice_of(moe, work, expert, i) * each +
						token % each));
	}
	return TTNN_OK;
}

/* Each row to its token, as the choice that this expert was. */
static tt_status send_back(const struct moe *moe, const struct tt_moe_work *work, uint32_t expert,
			   struct tt_tensor *made)
{
	const struct tt_launch *launch = moe->launch;
	struct tt_group group = {.chips = {work->chip}, .count = 1};
	tt_status status = TTNN_OK;

	if (launch->attrs[TT_MOE_PATH].integer == TT_MOE_FABRIC)
		tt_group_find(&group, launch->device, work->along, work->chip);
	for (uint32_t i = 0; i < group.count && status == TTNN_OK; i++) {
		struct tt_tensor *out;

		TT_TRY(tt_tensor_resident(&out, launch->outputs[TT_MOE_COMBINED], group.chips[i],
					  TT_BUFFER_UPDATE));
		if (tt_shape_count(&out->spec.shape))
			status = send_to(out, moe, work, made, (const uint32_t[]){expert, i});
		ttnn_tensor_unref(out);
	}
	return status;
}

/* All of a core's columns; of shared experts, the last ones, those that are its part where chips across the axis share them. */
static uint32_t columns_read(const struct moe *moe, uint32_t expert)
{
	const struct tt_launch *launch = moe->launch;
	const struct ttnn_value *shared = &launch->attrs[TT_MOE_SHARED];
	uint32_t parts = tt_group_size(launch->device, !tt_moe_along(launch));
	int64_t path = launch->attrs[TT_MOE_PATH].integer;

	if (!tt_value_given(shared) || expert + shared->integer < tt_moe_experts(launch) ||
	    path != TT_MOE_FABRIC)
		return UINT32_MAX;
	return tt_ring_packed(&moe->ring, parts);
}

static tt_status compute(const struct moe *moe, const struct tt_moe_work *work, uint32_t expert)
{
	struct ttnn_shape rows = TT_SHAPE(work->counts[expert], moe->in), middle = rows;
	const struct tt_launch *launch = moe->launch;
	int64_t path = launch->attrs[TT_MOE_PATH].integer;
	struct tt_tensor *in, *gate, *up;
	float *to, *by;

	if (!work->counts[expert])
		return TTNN_OK;
	for (size_t i = 0; i < 2; i++)
		TT_TRY(take_expert(moe, work->chip, expert, i));
	for (size_t i = 0; i < MATRICES; i++) {
		memset(tt_tensor_data(moe->matrix[i]), 0, (size_t)moe->matrix[i]->spec.bytes);
		memset(tt_tensor_data(moe->added[i]), 0, (size_t)moe->added[i]->spec.bytes);
	}
	unpack_gate_up(moe, columns_read(moe, expert));
	unpack_down(moe);
	middle.dim[1] = moe->between;
	TT_TRY(tt_scratch_f32(&in, &rows));
	TT_TRY(tt_scratch_f32(&gate, &middle));
	TT_TRY(tt_scratch_f32(&up, &middle));
	TT_TRY(gather(in, moe, work, expert));
	TT_TRY(multiply(gate, in, moe, GATE));
	TT_TRY(multiply(up, in, moe, UP));
	to = tt_tensor_data(gate);
	by = tt_tensor_data(up);
	for (uint64_t i = 0; i < (uint64_t)rows.dim[0] * moe->between; i++)
		to[i] = activated(to[i], by[i], launch->attrs[TT_MOE_ACTIVATION].integer,
				  (float)launch->attrs[TT_MOE_LIMIT].real);
	TT_TRY(multiply(in, gate, moe, BACK));
	if (path != TT_MOE_CLUSTER)
		place(moe, expert, in);
	return path == TT_MOE_ONLY ? TTNN_OK : send_back(moe, work, expert, in);
}

/* ---- the chip -------------------------------------------------------------------------------------------------------- */

/* Every core in the rectangle around those that work is told the counts. */
static tt_status tell_counts(const struct moe *moe, const struct tt_moe_work *work)
{
	const struct ttnn_shape *shape = &moe->launch->outputs[TT_MOE_COUNTS]->spec.shape;
	uint32_t columns = moe->launch->device->info.compute_grid.x, *all;

	all = tt_arena_calloc(moe->launch->arena, tt_shape_count(shape), sizeof(*all));
	TT_NEED_MEMORY(all);
	for (uint32_t i = 0; i < shape->dim[0]; i++)
		if (tt_core_range_contains(&moe->places.around,
					   (struct ttnn_core){i % columns, i / columns}))
			memcpy(all + (uint64_t)i * shape->dim[1], work->counts,
			       work->experts * sizeof(*all));
	return tt_chip_write_as(moe->launch, TT_MOE_COUNTS, work->chip, all, TTNN_UINT32);
}

static tt_status moe_chip(struct moe *moe, uint32_t chip)
{
	const struct tt_launch *launch = moe->launch;
	const struct ttnn_shape *mapping = &launch->inputs[TT_MOE_MAPPING]->spec.shape;
	uint32_t *numbers[TT_MOE_MAPS + 1];
	double *tables[TT_MOE_MAPPING + 1];
	struct tt_moe_work work = {
		.chip = chip,
		.tokens = (uint32_t)tt_moe_tokens(launch),
		.experts = tt_moe_experts(launch),
		.k = tt_shape_last(&launch->inputs[TT_MOE_CHOICES]->spec.shape, 1),
		.all = tt_shape_last(mapping, 1),
		.rows = (uint32_t)tt_moe_tokens(launch),
		.row_words = (uint32_t)tt_moe_row_words(launch),
		.map_words = (uint32_t)tt_moe_map_words(launch),
		.owners = tt_shape_count(mapping),
		.along = tt_moe_along(launch),
		.slots = true,
	};

	for (size_t i = TT_MOE_COUNTS; i <= TT_MOE_MAPS; i++) {
		numbers[i] = tt_arena_calloc(launch->arena,
					     tt_shape_count(&launch->outputs[i]->spec.shape) + 1,
					     sizeof(uint32_t));
		TT_NEED_MEMORY(numbers[i]);
	}
	for (size_t i = TT_MOE_CHOICES; i <= TT_MOE_MAPPING; i++)
		TT_TRY(tt_chip_read(&tables[i], launch, i, chip));
	work.counts = numbers[TT_MOE_COUNTS];
	work.active = numbers[TT_MOE_ACTIVE];
	work.maps = numbers[TT_MOE_MAPS];
	work.ids = tables[TT_MOE_CHOICES];
	work.scores = tables[TT_MOE_SCORES];
	work.mapping = tables[TT_MOE_MAPPING];
	tt_moe_find(&work, launch);
	TT_TRY(tell_counts(moe, &work));
	TT_TRY(tt_chip_write_as(launch, TT_MOE_ACTIVE, chip, work.active, TTNN_UINT32));
	TT_TRY(tt_chip_write_as(launch, TT_MOE_MAPS, chip, work.maps, TTNN_UINT32));
	memset(moe->result, 0,
	       tt_shape_count(&launch->outputs[TT_MOE_RESULT]->spec.shape) * sizeof(float));
	for (uint32_t e = 0; e < work.experts; e++)
		TT_TRY(compute(moe, &work, e));
	return tt_chip_write(launch, TT_MOE_RESULT, chip, moe->result);
}

/* Rows for all tokens, and weights of the ring's own layout for the layer. */
static tt_status check_tables(const struct moe *moe)
{
	const struct tt_launch *launch = moe->launch;
	const struct ttnn_shape *mapping = &launch->inputs[TT_MOE_MAPPING]->spec.shape;
	const struct ttnn_tensor_spec *out =
		launch->extra ? &launch->outputs[TT_MOE_COMBINED]->spec : NULL;
	uint64_t rows = tt_shape_count(mapping) / tt_shape_last(mapping, 1);

	for (size_t i = TT_MOE_CHOICES; i <= TT_MOE_SCORES; i++)
		TT_NEED(tt_shape_count(&launch->inputs[i]->spec.shape) >=
				tt_moe_tokens(launch) *
					tt_shape_last(&launch->inputs[TT_MOE_CHOICES]->spec.shape,
						      1),
			"indices and scores of experts must have a row for each token");
	TT_NEED(!launch->extra || (tt_shape_last(&out->shape, 1) == moe->in &&
				   out->dtype == TTNN_BFLOAT16 && out->layout == TTNN_ROW_MAJOR),
		"optional_output_tensor must have rows of %u numbers of bfloat16 in row-major "
		"layout",
		moe->in);
	TT_NEED(tt_moe_tokens(launch) <= tt_moe_rows(launch),
		"tokens must be in the last dimension but one");
	TT_NEED(rows == 1 || rows >= tt_chip_count(launch),
		"the mapping of experts must have a row for each of %u devices",
		tt_chip_count(launch));
	TT_NEED(tt_attr_u32(launch, TT_MOE_LAYER) < tt_moe_layers(launch),
		"layer_id is %u, and the weights are of %u layers",
		tt_attr_u32(launch, TT_MOE_LAYER), tt_moe_layers(launch));
	for (size_t i = 0; i < 2; i++) {
		const struct ttnn_shape *shape = &launch->inputs[TT_MOE_GATE_UP + i]->spec.shape;

		TT_NEED(shape->dim[0] == moe->ring.cores &&
				shape->dim[1] == tt_moe_layers(launch) &&
				shape->dim[2] == tt_moe_experts(launch) && shape->dim[5] == LINE,
			"weights of experts must be as they were packed for %u banks",
			moe->ring.cores);
	}
	return TTNN_OK;
}

static tt_status make_room(struct moe *moe)
{
	for (size_t i = 0; i < 2; i++) {
		const struct ttnn_tensor_spec *spec =
			&moe->launch->inputs[TT_MOE_GATE_UP + i]->spec;
		struct ttnn_shape shape = spec->shape;

		shape.dim[1] = shape.dim[2] = 1;
		TT_TRY(tt_scratch(&moe->packed[i], &shape, spec->dtype, spec->layout));
		TT_TRY(tt_scratch_f32(&moe->rows[i], &shape));
	}
	for (size_t i = 0; i < MATRICES; i++) {
		uint32_t rows = i == BACK ? moe->between : moe->in;
		uint32_t cols = i == BACK ? moe->in : moe->between;

		TT_TRY(tt_scratch_f32(&moe->matrix[i], &TT_SHAPE(rows, cols)));
		TT_TRY(tt_scratch_f32(&moe->added[i], &TT_SHAPE(1, cols)));
	}
	return TTNN_OK;
}

/* A new result begins with zeros. */
static tt_status clear_combined(const struct tt_launch *launch, uint32_t chip)
{
	struct tt_tensor *out;
	tt_status status;

	TT_TRY(tt_tensor_resident(&out, launch->outputs[TT_MOE_COMBINED], chip,
				  TT_BUFFER_OVERWRITE));
	status = tt_backend_get()->fill(out, 0, TT_FILL_ALL);
	ttnn_tensor_unref(out);
	return status;
}

tt_status tt_moe_kernel(struct tt_launch *launch)
{
	struct moe moe = {.launch = launch,
			  .bias = launch->attrs[TT_MOE_BIAS].integer,
			  .in = tt_moe_width(launch),
			  .between = tt_attr_u32(launch, TT_MOE_BETWEEN)};
	bool only = launch->attrs[TT_MOE_PATH].integer == TT_MOE_ONLY;

	TT_TRY(tt_moe_ring(&moe.ring, launch));
	TT_TRY(check_tables(&moe));
	TT_TRY(tt_moe_places_of(&moe.places, launch));
	TT_TRY(make_room(&moe));
	moe.result = tt_chip_zeros(launch, TT_MOE_RESULT);
	TT_NEED_MEMORY(moe.result);
	for (uint32_t chip = 0; chip < tt_chip_count(launch) && !only && !launch->extra; chip++)
		TT_TRY(clear_combined(launch, chip));
	for (uint32_t chip = 0; chip < tt_chip_count(launch); chip++)
		TT_TRY(moe_chip(&moe, chip));
	return TTNN_OK;
}
