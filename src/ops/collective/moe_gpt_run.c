/*
 * moe_gpt_run.c: what moe_gpt computes: which tokens a chip's experts have, and the products, which are of one shape: 2880 by 2880
 * with bias, on twelve cores in a ring. The weights' first dimension is the place in the ring.
 */
#include <math.h>

#include "backend/backend.h"
#include "device/devtensor.h"
#include "ops/collective/exchange.h"
#include "ops/collective/moe_gpt.h"
#include "ops/collective/moe_work.h"

#define RING 12u
#define TILES_ALL 90u /* of a token, and between the products */
#define EXTENT (TILES_ALL * TT_TILE)
#define LIMIT 7.0f /* of what comes out of the first product */
#define ALPHA 1.702f

/* Six cores of the ring have a column of tiles more than the others. */
static uint32_t share_of(uint32_t core)
{
	return core % 4 < 2 ? TT_GPT_TILES_MOST : TT_GPT_TILES_MOST - 1;
}

static uint32_t first_of(uint32_t core)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < core; i++)
		first += share_of(i);
	return first;
}

/* ---- products ------------------------------------------------------------------------------------------------- */

/*
 * A chip's weights of one expert, in rows of float32: gate, up, down, and a row to be added to each product; and as they are packed,
 * gate and up together, in their own type and in rows.
 */
struct weights {
	struct tt_tensor *matrix[3], *bias[3];
	struct tt_tensor *packed[2], *rows[2];
};
enum { GATE, UP, BACK };

/* A block of a packed expert, from this place of core and group on, to rows and columns of a matrix. */
struct block {
	uint32_t core, group, row, column, rows, columns;
	uint32_t to_row, to_column;
};

static tt_status move_block(struct tt_tensor *out, struct tt_tensor *in, const struct block *block)
{
	const struct tt_move_loop loops[] = {{block->rows, 4, 0, 1, 1},
					     {block->columns, 5, 1, 1, 1}};
	struct tt_move_job job = {.out = out, .in = in, .loops = loops, .loop_count = 2};
	const int64_t from[] = {block->core, 0, 0, block->group, block->row, block->column};

	memcpy(job.in_start, from, sizeof(from));
	job.out_start[0] = block->to_row;
	job.out_start[1] = block->to_column;
	return tt_backend_get()->move(&job);
}

/* Columns of tiles of gate and up in turn. */
static tt_status unpack_gate_up(const struct weights *out, struct tt_tensor *in)
{
	for (uint32_t core = 0; core < RING; core++)
		for (uint32_t i = 0; i < 2 * share_of(core); i++) {
			struct block block = {.core = core,
					      .group = i / TT_GPT_GROUP,
					      .column = i % TT_GPT_GROUP * TT_TILE,
					      .rows = EXTENT,
					      .columns = TT_TILE};

			block.to_column = (first_of(core) + i / 2) * TT_TILE;
			TT_TRY(move_block(out->matrix[i % 2], in, &block));
			block.row = EXTENT;
			block.rows = TT_TILE;
			TT_TRY(move_block(out->bias[i % 2], in, &block));
		}
	return TTNN_OK;
}

/* Rows as they come along the ring: a core's own first, then those of the cores before it. */
static tt_status unpack_down(const struct weights *out, struct tt_tensor *in)
{
	for (uint32_t n = 0; n < 2 * RING; n++) {
		struct block block = {.core = n / 2, .group = n % 2};
		uint32_t tiles = share_of(block.core) - block.group * TT_GPT_GROUP;

		block.columns = (tiles < TT_GPT_GROUP ? tiles : TT_GPT_GROUP) * TT_TILE;
		block.to_column = (first_of(block.core) + block.group * TT_GPT_GROUP) * TT_TILE;
		for (uint32_t step = 0; step < RING; step++) {
			uint32_t from = (block.core + RING - step) % RING;

			block.rows = share_of(from) * TT_TILE;
			block.to_row = first_of(from) * TT_TILE;
			TT_TRY(move_block(out->matrix[BACK], in, &block));
			block.row += block.rows;
		}
		block.rows = TT_TILE;
		block.to_row = 0;
		TT_TRY(move_block(out->bias[BACK], in, &block));
	}
	return TTNN_OK;
}

/* The rows of a bias are added up: it is multiplied with a tile of ones. */
static tt_status add_bias_rows(struct tt_tensor **bias)
{
	struct tt_reduce_job job = {.in = *bias, .kind = TT_REDUCE_SUM, .dims = 1, .scale = 1};

	TT_TRY(tt_scratch_f32(&job.out, &TT_SHAPE(1, EXTENT)));
	*bias = job.out;
	return tt_backend_get()->reduce(&job);
}

/* One expert's packed weights alone, then all of them in rows: each number is converted once. */
static tt_status take_expert(struct weights *out, const struct tt_launch *launch, uint32_t chip,
			     uint32_t expert, size_t which)
{
	static const int64_t start[TTNN_MAX_RANK];
	const int64_t from[TTNN_MAX_RANK] = {[2] = expert};
	struct tt_tensor *in;
	tt_status status;

	TT_TRY(tt_tensor_resident(&in, launch->inputs[TT_GPT_GATE_UP + which], chip,
				  TT_BUFFER_READ));
	status = tt_move_part(out->packed[which], in,
			      &(struct tt_move_block){.extent = out->packed[which]->spec.shape.dim,
						      .in_start = from,
						      .out_start = start});
	ttnn_tensor_unref(in);
	TT_TRY(status);
	return tt_backend_get()->reshape(out->rows[which], out->packed[which]);
}

static tt_status make_weights(struct weights *out, const struct tt_launch *launch)
{
	for (size_t i = 0; i < 2; i++) {
		const struct ttnn_tensor_spec *spec = &launch->inputs[TT_GPT_GATE_UP + i]->spec;
		struct ttnn_shape shape = spec->shape;

		shape.dim[1] = shape.dim[2] = 1;
		TT_TRY(tt_scratch(&out->packed[i], &shape, spec->dtype, spec->layout));
		TT_TRY(tt_scratch_f32(&out->rows[i], &shape));
	}
	for (size_t i = 0; i < 3; i++) {
		TT_TRY(tt_scratch_f32(&out->matrix[i], &TT_SHAPE(EXTENT, EXTENT)));
		TT_TRY(tt_scratch_f32(&out->bias[i], &TT_SHAPE(TT_TILE, EXTENT)));
	}
	return TTNN_OK;
}

static tt_status multiply(struct tt_tensor *out, struct tt_tensor *in, const struct weights *by,
			  size_t which)
{
	return tt_backend_get()->matmul(&(struct tt_matmul_job){.out = out,
								.a = in,
								.b = by->matrix[which],
								.alpha = 1,
								.bias = by->bias[which],
								.beta = 1});
}

/* gate = (up + 1) × gate × sigmoid(1.702 × gate), both within their limits. */
static void activate(float *gate, const float *up, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		float g = gate[i] > LIMIT ? LIMIT : gate[i];
		float u = up[i] > LIMIT ? LIMIT : up[i] < -LIMIT ? -LIMIT : up[i];

		gate[i] = (u + 1) * (g / (1 + expf(-ALPHA * g)));
	}
}

/* The tokens of one expert, each as a row. */
static tt_status gather(struct tt_tensor *out, const struct tt_launch *launch,
			const struct tt_moe_work *work, uint32_t expert)
{
	const uint32_t *tokens = work->maps + (uint64_t)expert * (tt_gpt_tokens(launch) + 1) *
						      tt_gpt_map_words(launch);
	const uint32_t extent[] = {1, EXTENT};
	tt_status status = TTNN_OK;
	struct tt_tensor *in;

	TT_TRY(tt_tensor_resident(&in, launch->inputs[TT_GPT_TOKENS], work->chip, TT_BUFFER_READ));
	for (uint32_t i = 0; i < work->counts[expert] && status == TTNN_OK; i++) {
		const int64_t from[] = {tokens[(uint64_t)i * tt_gpt_map_words(launch)], 0};
		const int64_t to[] = {i, 0};

		status = tt_move_part(out, in,
				      &(struct tt_move_block){
					      .extent = extent, .in_start = from, .out_start = to});
	}
	ttnn_tensor_unref(in);
	return status;
}

/* Rows of the result to the cores that collect them: tokens among rows of cores, their columns among columns of such. */
static void place(float *result, const struct tt_launch *launch, const struct tt_gpt_cores *cores,
		  uint32_t expert, struct tt_tensor *made)
{
	uint32_t high = tt_attr_u32(launch, TT_GPT_ROWS),
		 wide = tt_attr_u32(launch, TT_GPT_COLUMNS);
	uint32_t part = tt_attr_u32(launch, TT_GPT_WIDTH) / TT_TILE / wide * TT_TILE;
	uint32_t count = made->spec.shape.dim[0], row = 0, n = 0;
	uint64_t shard = 2ull * TT_TILE * tt_attr_u32(launch, TT_GPT_WIDTH);
	uint64_t block = (uint64_t)(tt_gpt_tokens(launch) / high) * part;
	const float *values = tt_tensor_data(made);

	for (uint32_t i = 0; i < count; i++, n++) {
		if (n == count / high + (row < count % high))
			row++, n = 0;
		for (uint32_t c = 0; c < EXTENT && part && c / part < wide && row < high; c++) {
			uint64_t core = (uint64_t)(cores->first.y + row) *
						launch->device->info.compute_grid.x +
					cores->first.x + c / part;
			uint64_t at = expert * block + (uint64_t)n * part + c % part;

			if (at < shard)
				result[core * shard + at] = values[(uint64_t)i * EXTENT + c];
		}
	}
}

static tt_status compute(float *result, const struct tt_launch *launch,
			 const struct tt_moe_work *work, struct weights weights, uint32_t expert)
{
	struct tt_tensor *in, *gate, *up;
	struct ttnn_shape shape = TT_SHAPE(work->counts[expert], EXTENT);
	struct tt_gpt_cores cores;

	if (!work->counts[expert])
		return TTNN_OK;
	for (size_t i = 0; i < 2; i++)
		TT_TRY(take_expert(&weights, launch, work->chip, expert, i));
	TT_TRY(unpack_gate_up(&weights, weights.rows[0]));
	TT_TRY(unpack_down(&weights, weights.rows[1]));
	for (size_t i = 0; i < 3; i++)
		TT_TRY(add_bias_rows(&weights.bias[i]));
	TT_TRY(tt_scratch_f32(&in, &shape));
	TT_TRY(tt_scratch_f32(&gate, &shape));
	TT_TRY(tt_scratch_f32(&up, &shape));
	TT_TRY(gather(in, launch, work, expert));
	TT_TRY(multiply(gate, in, &weights, GATE));
	TT_TRY(multiply(up, in, &weights, UP));
	activate(tt_tensor_data(gate), tt_tensor_data(up), (uint64_t)shape.dim[0] * EXTENT);
	TT_TRY(multiply(in, gate, &weights, BACK));
	TT_TRY(tt_gpt_cores(&cores, launch));
	place(result, launch, &cores, expert, in);
	return TTNN_OK;
}

/* The products are of one shape. */
static tt_status check_extents(const struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[TT_GPT_TOKENS]->spec.shape;
	const struct ttnn_shape *first = &launch->inputs[TT_GPT_GATE_UP]->spec.shape;
	const struct ttnn_shape *back = &launch->inputs[TT_GPT_DOWN]->spec.shape;
	const struct ttnn_shape *mapping = &launch->inputs[TT_GPT_MAPPING]->spec.shape;
	uint64_t rows = tt_shape_count(mapping) / tt_shape_last(mapping, 1);

	TT_NEED(in->rank == 2 && in->dim[1] == EXTENT &&
			tt_attr_u32(launch, TT_GPT_WIDTH) == EXTENT,
		"moe_gpt takes tokens of %u numbers in rows", EXTENT);
	TT_NEED(first->dim[0] == RING && first->dim[3] == TT_GPT_TILES_MOST / 2 &&
			first->dim[4] == EXTENT + TT_TILE && back->dim[3] == 2 &&
			back->dim[4] == EXTENT + TT_TILE && first->dim[1] && back->dim[1],
		"moe_gpt takes weights of %u by %u with their biases, as %u cores read them",
		EXTENT, EXTENT, RING);
	TT_NEED(rows == 1 || rows >= tt_chip_count(launch),
		"expert_mapping must have a row for each of %u devices", tt_chip_count(launch));
	TT_NEED(tt_shape_count(&launch->inputs[TT_GPT_CHOICES]->spec.shape) ==
				tt_shape_count(&launch->inputs[TT_GPT_SCORES]->spec.shape) &&
			tt_shape_count(&launch->inputs[TT_GPT_CHOICES]->spec.shape) ==
				(uint64_t)in->dim[0] *
					tt_shape_last(&launch->inputs[TT_GPT_CHOICES]->spec.shape,
						      1),
		"expert_indices and expert_scores must have a row for each token");
	return TTNN_OK;
}

static tt_status gpt_chip(float *result, const struct tt_launch *launch, uint32_t chip,
			  const struct weights *weights)
{
	uint32_t *numbers[TT_GPT_MAPS + 1];
	double *tables[TT_GPT_MAPPING + 1];
	struct tt_moe_work work = {
		.chip = chip,
		.tokens = tt_gpt_tokens(launch),
		.experts = tt_gpt_experts(launch),
		.k = tt_shape_last(&launch->inputs[TT_GPT_CHOICES]->spec.shape, 1),
		.all = tt_shape_last(&launch->inputs[TT_GPT_MAPPING]->spec.shape, 1),
		.rows = tt_gpt_tokens(launch) + 1,
		.row_words = tt_gpt_row_words(launch),
		.map_words = tt_gpt_map_words(launch),
		.owners = tt_shape_count(&launch->inputs[TT_GPT_MAPPING]->spec.shape),
		.along = tt_group_axis(&launch->attrs[TT_GPT_AXIS]) > 0,
		.unsent = true,
	};

	memset(result, 0,
	       tt_shape_count(&launch->outputs[TT_GPT_RESULT]->spec.shape) * sizeof(*result));
	for (size_t i = TT_GPT_COUNTS; i <= TT_GPT_MAPS; i++) {
		numbers[i] = tt_arena_calloc(launch->arena,
					     tt_shape_count(&launch->outputs[i]->spec.shape) + 1,
					     sizeof(uint32_t));
		TT_NEED_MEMORY(numbers[i]);
	}
	for (size_t i = TT_GPT_CHOICES; i <= TT_GPT_MAPPING; i++)
		TT_TRY(tt_chip_read(&tables[i], launch, i, chip));
	work.counts = numbers[TT_GPT_COUNTS];
	work.active = numbers[TT_GPT_ACTIVE];
	work.maps = numbers[TT_GPT_MAPS];
	work.ids = tables[TT_GPT_CHOICES];
	work.scores = tables[TT_GPT_SCORES];
	work.mapping = tables[TT_GPT_MAPPING];
	tt_moe_find(&work, launch);
	for (size_t i = TT_GPT_COUNTS; i <= TT_GPT_MAPS; i++)
		TT_TRY(tt_chip_write_as(launch, i, chip, numbers[i], TTNN_UINT32));
	for (uint32_t e = 0; e < tt_gpt_experts(launch); e++)
		TT_TRY(compute(result, launch, &work, *weights, e));
	return tt_chip_write(launch, TT_GPT_RESULT, chip, result);
}

tt_status tt_gpt_kernel(struct tt_launch *launch)
{
	float *result = tt_chip_zeros(launch, TT_GPT_RESULT);
	struct weights weights;

	TT_NEED_MEMORY(result);
	TT_TRY(check_extents(launch));
	TT_TRY(make_weights(&weights, launch));
	for (uint32_t chip = 0; chip < tt_chip_count(launch); chip++)
		TT_TRY(gpt_chip(result, launch, chip, &weights));
	return TTNN_OK;
}
