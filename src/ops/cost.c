#include "ops/cost.h"

#include "device/device.h"

uint32_t tt_cost_grid(const struct tt_launch *launch)
{
	return launch->device->info.compute_grid.x * launch->device->info.compute_grid.y;
}

void tt_cost_set_move(struct tt_cost *cost, const struct tt_launch *launch,
		      struct tt_perf_move move)
{
	struct tt_grid grid = {launch->device->info.compute_grid.x,
			       launch->device->info.compute_grid.y};

	if (!launch->input_count || !launch->inputs[0] || !launch->output_count ||
	    !launch->outputs[0])
		return;
	if (!move.input)
		move.input = &launch->inputs[0]->spec;
	move.output = &launch->outputs[0]->spec;
	/* Nothing takes no time; the model divides by what is moved. */
	cost->modelled = move.input->pages && move.output->pages;
	if (cost->modelled)
		cost->cycles = tt_perf_move_cycles(&launch->device->profile->arch, grid, &move);
}

void tt_cost_set_product(struct tt_cost *cost, const struct tt_launch *launch,
			 const struct tt_perf_product *product)
{
	struct tt_perf_product with = *product;

	with.passes = tt_perf_passes(cost->fidelity);
	cost->modelled = true;
	cost->cycles = tt_perf_product_cycles(&with, tt_cost_grid(launch));
}

void tt_cost_product(struct tt_cost *cost, const struct tt_launch *launch)
{
	const struct ttnn_shape *a = &launch->inputs[0]->spec.shape,
				*out = &launch->outputs[0]->spec.shape;
	struct tt_perf_product product = {.m = tt_shape_last(out, 2),
					  .k = tt_shape_last(a, 1),
					  .n = tt_shape_last(out, 1),
					  .batch = 1};

	for (uint32_t i = 0; i + 2 < out->rank; i++)
		product.batch *= out->dim[i];
	cost->inputs = 2;
	tt_cost_set_product(cost, launch, &product);
}

/* ---- moves ------------------------------------------------------------------------------------------ */

void tt_cost_move(struct tt_cost *cost, const struct tt_launch *launch)
{
	cost->moves = true;
	cost->inputs = 1;
	tt_cost_set_move(cost, launch, (struct tt_perf_move){0});
}

void tt_cost_convert(struct tt_cost *cost, const struct tt_launch *launch)
{
	tt_cost_move(cost, launch);
	cost->moves = !launch->inputs[0] || !launch->output_count || !launch->outputs[0] ||
		      launch->inputs[0]->spec.dtype == launch->outputs[0]->spec.dtype;
}

void tt_cost_computed_move(struct tt_cost *cost, const struct tt_launch *launch)
{
	cost->inputs = 1;
	tt_cost_set_move(cost, launch, (struct tt_perf_move){0});
}

/* Cycles that a tile takes where a row of them can be packed at once, and where it cannot. */
#define PACKED_CYCLES 80
#define UNPACKED_CYCLES 390
#define PACKED_TILES 8

void tt_cost_untilize(struct tt_cost *cost, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *spec = &launch->inputs[0]->spec;
	uint64_t tile =
		(uint64_t)spec->tile.width * spec->tile.height * tt_dtype_bytes(spec->dtype);
	/* As upstream counts: elements by the bytes of a tile. */
	uint64_t tiles = tile ? (spec->rows * spec->cols + tile - 1) / tile : 0;
	uint64_t wide = (tt_shape_last(&spec->padded, 1) + spec->tile.width - 1) / spec->tile.width;
	uint64_t cycles = tiles * (wide <= PACKED_TILES ? PACKED_CYCLES : UNPACKED_CYCLES);

	cost->inputs = 1;
	tt_cost_set_move(cost, launch, (struct tt_perf_move){.compute_cycles = cycles});
}

void tt_cost_unmodelled_move(struct tt_cost *cost, const struct tt_launch *launch)
{
	(void)launch;
	cost->moves = true;
}

/* ---- the rest --------------------------------------------------------------------------------------- */

void tt_cost_tensors(struct tt_cost *cost, const struct tt_launch *launch)
{
	(void)launch;
	cost->modelled = true;
	cost->cycles = 1;
	cost->inputs = 1;
}

void tt_cost_moved_tensors(struct tt_cost *cost, const struct tt_launch *launch)
{
	tt_cost_tensors(cost, launch);
	/* Tiles that become rows on the way go through the matrix engine. */
	cost->moves = !launch->inputs[0] || launch->inputs[0]->spec.layout != TTNN_TILE;
}
