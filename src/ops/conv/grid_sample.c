/*
 * grid_sample.c: images looked at in places that a grid names. A row of the grid holds one point
 * or several: x and y from -1 to 1; or, worked out before, the pixel and the weights of the four
 * around the point (bilinear), or the pixel alone (nearest), whose numbers are the bits of the
 * elements.
 *
 * Models GridSampleOperation of ttnn 0.81 (pool/grid_sample/device) with both factories,
 * bilinear and nearest: refusals, memory, cores. Not modelled: weights rounded to bfloat16 on
 * the way.
 */
#include <math.h>
#include <string.h>

#include "backend/backend.h"
#include "golden/golden.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"

#define ATTRS(X)                                                                                   \
	X(MODE, "mode")                                                                            \
	X(PADDING, "padding_mode")                                                                 \
	X(CORNERS, "align_corners")                                                                \
	X(PRECOMPUTED, "use_precomputed_grid")                                                     \
	X(STACKED, "batch_output_channels")                                                        \
	X(MEMORY, "output_mem_config")                                                             \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(schema, "GridSampleParams", ATTRS);

#define MOST_TILES 8        /* of channels at a time */
#define BLACKHOLE_TWICE 224 /* channels that two processors read faster than one there */

static bool is_nearest(const struct ttnn_value *mode)
{
	return mode->kind == TTNN_VALUE_STRING && strcmp(mode->text, "nearest") == 0;
}

static tt_status check_mode(const struct ttnn_value *mode)
{
	if (is_nearest(mode) ||
	    (mode->kind == TTNN_VALUE_STRING && strcmp(mode->text, "bilinear") == 0))
		return TTNN_OK;
	return tt_fail(TTNN_INVALID,
		       "grid_sample has the modes \"bilinear\" and \"nearest\", not %s",
		       mode->kind == TTNN_VALUE_STRING ? mode->text : "this one");
}

/* How many numbers of the grid make a point. */
static uint32_t point_numbers(bool nearest, bool precomputed)
{
	return precomputed && !nearest ? 6 : 2;
}

/* ---- specs and refusals ----------------------------------------------------------------------- */

/* The shape of the result: several points of a row are side by side, or as more channels. */
static struct ttnn_shape result_shape(const struct ttnn_shape *in, const struct ttnn_shape *grid,
				      uint32_t numbers, bool stacked)
{
	uint32_t points = tt_shape_last(grid, 1) / numbers, channels = tt_shape_last(in, 1);

	return TT_SHAPE(in->dim[0], grid->dim[1], stacked ? grid->dim[2] : grid->dim[2] * points,
			stacked ? channels * points : channels);
}

/* Shards of the result: those of the grid, or what the rows of the grid are on each core. */
static tt_status result_shards(struct ttnn_memory_config *out, const struct tt_launch *launch,
			       const struct ttnn_shape *shape)
{
	const struct ttnn_tensor_spec *grid = &launch->inputs[1]->spec;
	const struct ttnn_shard_spec *given = &grid->memory.shard;
	uint64_t times = shape->dim[2] / (grid->shape.dim[2] ? grid->shape.dim[2] : 1);
	struct ttnn_shard_spec shard = {.orientation = TTNN_ORIENT_ROW_MAJOR};
	struct tt_work_split split;

	TT_NEED(times && shape->dim[3], "grid_sample has no result to cut into shards");
	if (grid->memory.has_shard) {
		shard = *given;
		shard.height = (uint32_t)(given->height * times);
	} else {
		TT_TRY(tt_split_work(&split, launch->device->info.compute_grid, grid->rows,
				     TTNN_ORIENT_COL_MAJOR));
		shard.grid = split.all;
		shard.height = (uint32_t)(split.units[0] * times);
	}
	shard.width = shape->dim[3];
	return ttnn_memory_config_sharded(out, TTNN_HEIGHT_SHARDED, TTNN_L1, &shard);
}

/* What upstream says of a grid's last dimension, by how many numbers a point has. */
static tt_status check_last(const struct ttnn_shape *grid, bool nearest, bool precomputed)
{
	uint32_t numbers = point_numbers(nearest, precomputed), last = tt_shape_last(grid, 1);
	struct tt_str text = {0};

	if (last % numbers == 0 && last >= numbers)
		return TTNN_OK;
	tt_shape_list(&text, grid);
	if (precomputed)
		tt_fail_cond(TTNN_INVALID,
			     "grid_last_dim % PRECOMPUTED_GRID_ELEMENTS_PER_POINT == 0",
			     "Precomputed grid tensor last dimension must be a multiple of %u (for "
			     "h_nw, w_nw, weight_nw, weight_ne, weight_sw, weight_se), but got %u "
			     "in shape Shape(%s)",
			     numbers, last, tt_str_text(&text));
	else
		tt_fail_cond(TTNN_INVALID,
			     "grid_last_dim % STANDARD_GRID_ELEMENTS_PER_POINT == 0 && "
			     "grid_last_dim >= STANDARD_GRID_ELEMENTS_PER_POINT",
			     "Standard grid tensor last dimension must be a multiple of %u (for x, "
			     "y coordinates), but got %u in shape Shape(%s)",
			     numbers, last, tt_str_text(&text));
	tt_str_deinit(&text);
	return TTNN_INVALID;
}

static tt_status fail_rank(const struct ttnn_shape *shape, const char *condition, const char *text)
{
	struct tt_str list = {0};

	tt_shape_list(&list, shape);
	tt_fail_cond(TTNN_INVALID, condition, "%s, but got shape Shape(%s) with %u dimensions",
		     text, tt_str_text(&list), shape->rank);
	tt_str_deinit(&list);
	return TTNN_INVALID;
}

static tt_status check_shapes(const struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[0]->spec.shape;
	const struct ttnn_shape *grid = &launch->inputs[1]->spec.shape;
	struct tt_str texts[2] = {{0}};

	if (in->rank != 4)
		return fail_rank(in, "input_tensor.logical_shape().rank() == 4",
				 "Input tensor must be 4D (N, H, W, C)");
	if (grid->rank != 4)
		return fail_rank(grid, "grid_tensor.logical_shape().rank() == 4",
				 "Grid tensor must be 4D (N, H_out, W_out, coords)");
	TT_TRY(check_last(grid, is_nearest(&launch->attrs[MODE]),
			  launch->attrs[PRECOMPUTED].boolean));
	if (in->dim[0] == grid->dim[0])
		return TTNN_OK;
	tt_shape_list(&texts[0], in);
	tt_shape_list(&texts[1], grid);
	tt_fail_cond(
		TTNN_INVALID, "input_tensor.logical_shape()[0] == grid_tensor.logical_shape()[0]",
		"Batch size mismatch: input tensor shape Shape(%s) has batch size %u, but grid "
		"tensor shape Shape(%s) has batch size %u",
		tt_str_text(&texts[0]), in->dim[0], tt_str_text(&texts[1]), grid->dim[0]);
	tt_str_deinit(&texts[0]);
	tt_str_deinit(&texts[1]);
	return TTNN_INVALID;
}

/*
 * A row of the grid with several points gives as many pixels, beside each other as channels or
 * as columns.
 */
static tt_status grid_sample_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *grid = &launch->inputs[1]->spec;
	struct ttnn_memory_config memory = *launch->attrs[MEMORY].memory;
	bool nearest = is_nearest(&launch->attrs[MODE]), cut = grid->memory.has_shard;
	bool stacked = launch->attrs[STACKED].boolean;
	uint32_t numbers = point_numbers(nearest, launch->attrs[PRECOMPUTED].boolean);
	uint32_t points = tt_shape_last(&grid->shape, 1) / numbers;
	struct ttnn_shape shape, padded;

	TT_NEED(grid->shape.rank > 2, "ShapeBase[] index out of range. 2 not in [-4, %u)",
		grid->shape.rank);
	TT_NEED(in->shape.rank, "ShapeBase[] index out of range. 0 not in [-4, 0)");
	shape = result_shape(&in->shape, &grid->shape, numbers, stacked);
	if (cut || (!memory.has_shard && (nearest || memory.layout != TTNN_INTERLEAVED)))
		TT_TRY(result_shards(&memory, launch, &shape));
	padded = TT_SHAPE(grid->padded.dim[0], grid->padded.dim[1],
			  grid->padded.dim[2] * (stacked ? 1 : points),
			  tt_shape_last(&in->padded, 1) * (stacked ? points : 1));
	return tt_tensor_spec_padded(&launch->specs[0],
				     &(struct ttnn_spec_args){.shape = shape,
							      .dtype = in->dtype,
							      .layout = TTNN_ROW_MAJOR,
							      .memory = memory},
				     &padded);
}

static tt_status check_tensors(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *grid = &launch->inputs[1]->spec;
	bool precomputed = launch->attrs[PRECOMPUTED].boolean;

	TT_REQUIRE(in->dtype == TTNN_BFLOAT16 || in->dtype == TTNN_FLOAT32,
		   "input_tensor.dtype() == DataType::BFLOAT16 || input_tensor.dtype() == "
		   "DataType::FLOAT32",
		   "Input tensor must be BFLOAT16 or FLOAT32");
	if (precomputed)
		TT_REQUIRE(grid->dtype == TTNN_BFLOAT16,
			   "grid_tensor.dtype() == DataType::BFLOAT16",
			   "Precomputed grid tensor must be BFLOAT16");
	TT_REQUIRE(grid->dtype == TTNN_BFLOAT16 || grid->dtype == TTNN_FLOAT32,
		   "grid_tensor.dtype() == DataType::BFLOAT16 || grid_tensor.dtype() == "
		   "DataType::FLOAT32",
		   "Grid tensor must be BFLOAT16 or FLOAT32");
	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR, "input_tensor.layout() == Layout::ROW_MAJOR",
		   "Input tensor must be ROW_MAJOR layout");
	TT_REQUIRE(grid->layout == TTNN_ROW_MAJOR, "grid_tensor.layout() == Layout::ROW_MAJOR",
		   "Grid tensor must be ROW_MAJOR layout");
	return TTNN_OK;
}

static tt_status check_places(const struct tt_launch *launch)
{
	const struct ttnn_memory_config *places[] = {&launch->inputs[0]->spec.memory,
						     &launch->inputs[1]->spec.memory,
						     launch->attrs[MEMORY].memory};
	static const char *const names[] = {"Input", "Grid", "Output"};

	for (size_t i = 0; i < TT_COUNT(places); i++)
		TT_REQUIRE(places[i]->layout == TTNN_INTERLEAVED ||
				   places[i]->layout == TTNN_HEIGHT_SHARDED,
			   "memory_layout == TensorMemoryLayout::INTERLEAVED || memory_layout == "
			   "TensorMemoryLayout::HEIGHT_SHARDED",
			   "%s tensor must have INTERLEAVED or HEIGHT_SHARDED memory layout",
			   names[i]);
	return TTNN_OK;
}

/* In upstream's order. Nearest ones need a grid that was worked out before. */
static tt_status grid_sample_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *grid = &launch->inputs[1]->spec;
	const struct ttnn_value *padding = &launch->attrs[PADDING];
	bool nearest = is_nearest(&launch->attrs[MODE]);
	bool precomputed = launch->attrs[PRECOMPUTED].boolean;
	struct tt_str text = {0};

	TT_TRY(check_shapes(launch));
	TT_REQUIRE(!launch->attrs[STACKED].boolean ||
			   grid->shape.dim[3] / point_numbers(nearest, precomputed) > 1,
		   "grid_batching_factor > 1",
		   "batch_output_channels=True requires grid batching factor K > 1. Use a batched "
		   "grid with multiple coordinate sets per row of grid.");
	TT_TRY(check_tensors(launch));
	TT_REQUIRE(padding->kind == TTNN_VALUE_STRING && strcmp(padding->text, "zeros") == 0,
		   "operation_attributes.padding_mode == \"zeros\"",
		   "Only zeros padding mode is currently supported");
	TT_REQUIRE(
		!nearest || precomputed,
		"!(operation_attributes.mode == \"nearest\" && "
		"!operation_attributes.use_precomputed_grid)",
		"use_precomputed_grid = false is not supported with mode = 'nearest'. Please use "
		"precomputed grid with nearest mode.");
	TT_TRY(check_places(launch));
	if (in->padded.dim[3] % TT_TILE == 0)
		return TTNN_OK;
	tt_shape_list(&text, &in->padded);
	tt_fail_cond(TTNN_INVALID,
		     "input_tensor.padded_shape()[-1] % tt::constants::TILE_WIDTH == 0",
		     "Input tensor last dimension must be divisible by TILE_WIDTH (%u), but got %u "
		     "in padded shape Shape(%s)",
		     TT_TILE, in->padded.dim[3], tt_str_text(&text));
	tt_str_deinit(&text);
	return TTNN_INVALID;
}

/* ---- the program ------------------------------------------------------------------------------ */

/* A row of the grid; shards have it as it is. */
static uint64_t grid_stick(struct tt_tensor *grid)
{
	uint64_t stick = grid->spec.padded.dim[3] * tt_element_bytes(grid);

	return grid->spec.memory.has_shard ? stick : tt_align_to(stick, tt_page_alignment(grid));
}

/* Whether both data movement processors read images, each for itself: of a sharded grid, bilinear. */
static bool reads_twice(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	if (!launch->inputs[1]->spec.memory.has_shard)
		return false;
	if (!launch->attrs[PRECOMPUTED].boolean)
		return true;
	return in->memory.buffer != TTNN_DRAM &&
	       (!tt_is_blackhole(launch->device) || in->padded.dim[3] <= BLACKHOLE_TWICE);
}

/* So many tiles of channels at a time as the destination registers hold. */
static tt_status bilinear_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *grid = launch->inputs[1];
	struct tt_tensor *out = launch->outputs[0];
	const struct ttnn_value *compute = &launch->attrs[COMPUTE];
	uint64_t most = tt_compute_has(compute, TT_COMPUTE_FP32) &&
					!tt_compute_has(compute, TT_COMPUTE_FULL_SYNC)
				? MOST_TILES / 2
				: MOST_TILES;
	uint64_t tiles = tt_div_up(in->spec.padded.dim[3], TT_TILE);
	uint64_t page = (tiles < most ? tiles : most) * TT_TILE * TT_TILE * tt_element_bytes(in);
	uint64_t faces = tt_div_up(out->spec.padded.dim[3], TT_FACE);
	bool shards = grid->spec.memory.has_shard;
	uint32_t more = reads_twice(launch) ? 2 : 0;
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid, grid->spec.rows,
			     TTNN_ORIENT_COL_MAJOR));
	return TT_PLAN(
		plan, shards ? grid->spec.memory.shard.grid : split.all,
		TT_CB_ROW(0, "grid", .pages = shards ? grid->spec.memory.shard.height : 1,
			  .page = grid_stick(grid), .backing = shards ? grid : NULL),
		TT_CB_ROW(1, "input", .pages = 2, .page = page),
		TT_CB_ROW(2, "input_1", .pages = more, .page = page),
		TT_CB_ROW(more ? 3 : 2, "scalar", .pages = 2,
			  .page = tt_tile_bytes_of(in->spec.dtype)),
		TT_CB_ROW(4, "scalar_1", .pages = more, .page = tt_tile_bytes_of(in->spec.dtype)),
		TT_CB_ROW(more ? 5 : 3, "output",
			  .pages = shards ? out->spec.memory.shard.height * faces : 2 * faces,
			  .page = TT_FACE * tt_element_bytes(out), .backing = shards ? out : NULL));
}

/* Rows are copied, by both processors; one of zeros lies ready. */
static tt_status grid_sample_nearest_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *grid = launch->inputs[1], *out = launch->outputs[0];
	const struct ttnn_memory_config *where = &out->spec.memory;
	uint64_t row = out->spec.padded.dim[3] * tt_element_bytes(out), rows = grid->spec.rows;
	bool shards = grid->spec.memory.has_shard;
	struct tt_work_split split;

	if (where->has_shard)
		rows = where->shard.height * ttnn_core_set_cores(where->shard.grid);
	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid, rows,
			     TTNN_ORIENT_COL_MAJOR));
	return TT_PLAN(plan, where->has_shard ? where->shard.grid : split.all,
		       TT_CB_ROW(0, "grid", .pages = shards ? grid->spec.memory.shard.height : 1,
				 .page = grid_stick(grid), .backing = shards ? grid : NULL),
		       TT_CB_ROW(1, "grid_1", .pages = !shards, .page = grid_stick(grid)),
		       TT_CB_ROW(shards ? 1 : 2, "fill", .pages = 1, .page = row),
		       TT_CB_ROW(shards ? 2 : 3, "output",
				 .pages = where->has_shard ? where->shard.height : split.units[0],
				 .page = row, .backing = out));
}

static const struct tt_factory factories[] = {
	{.name = "ttnn::prim::GridSampleBilinearProgramFactory", .memory = bilinear_memory},
	{.name = "ttnn::prim::GridSampleNearestProgramFactory",
	 .memory = grid_sample_nearest_memory},
};

static tt_status grid_sample_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = is_nearest(&launch->attrs[MODE]);
	return TTNN_OK;
}

static tt_status grid_sample_kernel(struct tt_launch *launch)
{
	return tt_backend_get()->sample(
		&(struct tt_sample_job){.out = launch->outputs[0],
					.in = launch->inputs[0],
					.grid = launch->inputs[1],
					.nearest = is_nearest(&launch->attrs[MODE]),
					.precomputed = launch->attrs[PRECOMPUTED].boolean,
					.corners = launch->attrs[CORNERS].boolean});
}

static void grid_sample_cost(struct tt_cost *cost, const struct tt_launch *launch)
{
	tt_cost_tensors(cost, launch);
	cost->inputs = 2;
}

static const struct tt_prog program = {
	.device_op = "GridSampleOperation",
	.prim = "ttnn::prim::grid_sample",
	.attrs = &schema,
	.infer = grid_sample_infer,
	.validate = grid_sample_validate,
	TT_FACTORIES(factories),
	.choose = grid_sample_choose,
	TT_KERNEL(grid_sample_kernel),
	.cost = grid_sample_cost,
};

/* ---- the operation ---------------------------------------------------------------------------- */

static tt_status grid_sample_expand(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4};
	struct tt_tensor *inputs[] = {tt_call_tensor(call, "input_tensor"),
				      tt_call_tensor(call, "grid")};
	const struct ttnn_memory_config *request = tt_call_memory(call, "memory_config");
	struct ttnn_value attrs[schema_count] = {
		[MODE] = *tt_call_arg(call, "mode"),
		[PADDING] = *tt_call_arg(call, "padding_mode"),
		[CORNERS] = *tt_call_arg(call, "align_corners"),
		[PRECOMPUTED] = *tt_call_arg(call, "use_precomputed_grid"),
		[STACKED] = *tt_call_arg(call, "batch_output_channels"),
		[MEMORY] = ttnn_v_memory(request ? request : &inputs[1]->spec.memory),
		[COMPUTE] =
			tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual),
	};

	TT_TRY(tt_need_device(inputs[0]));
	TT_TRY(tt_need_device(inputs[1]));
	TT_TRY(check_mode(&attrs[MODE]));
	return TT_LAUNCH_RETURN(call, &program, .attrs = attrs, .inputs = inputs, .input_count = 2);
}

/* ---- golden ------------------------------------------------------------------------------------- */

/* A pixel of the image, 0 outside of it. */
static double pixel(const struct tt_array *in, const uint64_t at[2], double y, double x)
{
	uint64_t place[] = {at[0], 0, 0, at[1]};

	/* What is no number is outside too. */
	if (!(y >= 0 && x >= 0 && y < in->shape.dim[1] && x < in->shape.dim[2]))
		return 0;
	place[1] = (uint64_t)y;
	place[2] = (uint64_t)x;
	return *tt_at(in, tt_array_index(in, place));
}

/* The number whose bits an element of bfloat16 has. */
static double bits_of(double element)
{
	float number = (float)element;
	uint32_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return (int16_t)(bits >> 16);
}

struct golden_point {
	const struct tt_array *in;
	const double *numbers;
	bool nearest, precomputed, corners;
};

/*
 * Coordinates from -1 to 1, of the outermost pixels' middles (align_corners) or of the image's
 * edges.
 */
static double golden_value(const struct golden_point *p, const uint64_t at[2])
{
	double height = p->in->shape.dim[1], width = p->in->shape.dim[2], y, x, fy, fx;

	if (p->precomputed && p->nearest)
		return pixel(p->in, at, bits_of(p->numbers[0]), bits_of(p->numbers[1]));
	if (p->precomputed) {
		y = bits_of(p->numbers[0]);
		x = bits_of(p->numbers[1]);
		return p->numbers[2] * pixel(p->in, at, y, x) +
		       p->numbers[3] * pixel(p->in, at, y, x + 1) +
		       p->numbers[4] * pixel(p->in, at, y + 1, x) +
		       p->numbers[5] * pixel(p->in, at, y + 1, x + 1);
	}
	x = (p->numbers[0] + 1) / 2;
	y = (p->numbers[1] + 1) / 2;
	x = p->corners ? x * (width - 1) : x * width - 0.5;
	y = p->corners ? y * (height - 1) : y * height - 0.5;
	fy = y - floor(y);
	fx = x - floor(x);
	y = floor(y);
	x = floor(x);
	return (1 - fy) * ((1 - fx) * pixel(p->in, at, y, x) + fx * pixel(p->in, at, y, x + 1)) +
	       fy * ((1 - fx) * pixel(p->in, at, y + 1, x) + fx * pixel(p->in, at, y + 1, x + 1));
}

static tt_status grid_sample_golden(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	const struct tt_array *grid = tt_golden_in(golden, "grid");
	struct golden_point point = {
		.in = in,
		.nearest = is_nearest(tt_call_arg(&golden->call, "mode")),
		.precomputed = tt_call_bool(&golden->call, "use_precomputed_grid", false),
		.corners = tt_call_bool(&golden->call, "align_corners", false)};
	uint32_t numbers = point_numbers(point.nearest, point.precomputed);
	struct tt_array *out;
	struct ttnn_shape shape;
	uint64_t channels, per_image;

	if (!in || !grid || in->shape.rank != 4 || grid->shape.rank != 4)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	TT_TRY(check_mode(tt_call_arg(&golden->call, "mode")));
	if (in->shape.dim[0] != grid->shape.dim[0] || grid->shape.dim[3] % numbers)
		return tt_fail(TTNN_INVALID,
			       "a grid of %ux%ux%ux%u does not fit %u images: points have %u "
			       "numbers",
			       grid->shape.dim[0], grid->shape.dim[1], grid->shape.dim[2],
			       grid->shape.dim[3], in->shape.dim[0], numbers);
	shape = result_shape(&in->shape, &grid->shape, numbers,
			     tt_call_bool(&golden->call, "batch_output_channels", false));
	out = tt_golden_out(golden, &shape, in->dtype);
	if (!out)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	channels = in->shape.dim[3];
	per_image = out->count / (in->shape.dim[0] ? in->shape.dim[0] : 1);
	for (uint64_t i = 0; i < out->count; i++) {
		point.numbers = tt_array_span(grid, i / tt_divisor(channels) * numbers, numbers);
		*tt_at(out, i) =
			golden_value(&point, (const uint64_t[]){i / per_image, i % channels});
	}
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.grid_sample",
	 .doc = "Images looked at in the places that a grid names, zeros outside of them.",
	 .sigs = {"input_tensor: Tensor, grid: Tensor, *, mode: str = bilinear, padding_mode: str = "
		  "zeros, align_corners: bool = False, use_precomputed_grid: bool = False, "
		  "batch_output_channels: bool = False, memory_config: MemoryConfig? = None, "
		  "compute_kernel_config: ComputeConfig? = None"},
	 .expand = grid_sample_expand,
	 .golden = grid_sample_golden,
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_grid_sample = {"grid_sample", ops, TT_COUNT(ops)};
