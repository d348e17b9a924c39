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
#include "device/device.h"
#include "device/work_split.h"
#include "golden/golden.h"
#include "ops/compute.h"
#include "ops/cost.h"
#include "ops/creation/creation.h"
#include "ops/mem_rows.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"
#include "tensor/shape.h"
#include "tensor/tile.h"

#define ATTRS(X)                                                                                   \
	X(MODE, "mode")                                                                            \
	X(PADDING, "padding_mode")                                                                 \
	X(CORNERS, "align_corners")                                                                \
	X(PRECOMPUTED, "use_precomputed_grid")                                                     \
	X(STACKED, "batch_output_channels")                                                        \
	X(MEMORY, "output_mem_config")                                                             \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(schema, "GridSampleParams", ATTRS);

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
	uint32_t points = grid->dim[3] / numbers;

	return TT_SHAPE(in->dim[0], grid->dim[1], stacked ? grid->dim[2] : grid->dim[2] * points,
			stacked ? in->dim[3] * points : in->dim[3]);
}

/*
 * A row of the grid with several points gives as many pixels, beside each other as channels or
 * as columns.
 */
static tt_status grid_sample_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_shape shape = result_shape(
		&in->shape, &launch->inputs[1]->spec.shape,
		point_numbers(is_nearest(&launch->attrs[MODE]), launch->attrs[PRECOMPUTED].boolean),
		launch->attrs[STACKED].boolean);

	launch->output_count = 1;
	return tt_spec_simple(&launch->specs[0], &shape, in->dtype, TTNN_ROW_MAJOR,
			      launch->attrs[MEMORY].memory);
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

/* In upstream's order. Nearest ones need a grid that was worked out before. */
static tt_status grid_sample_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *grid = &launch->inputs[1]->spec;
	const struct ttnn_value *padding = &launch->attrs[PADDING];
	bool nearest = is_nearest(&launch->attrs[MODE]);
	bool precomputed = launch->attrs[PRECOMPUTED].boolean;
	uint32_t channels = in->padded.dim[3];

	TT_REQUIRE(in->shape.dim[0] == grid->shape.dim[0],
		   "input_tensor.logical_shape()[0] == grid_tensor.logical_shape()[0]",
		   "Batch size mismatch: input tensor has batch size %u, but grid tensor has batch "
		   "size %u",
		   in->shape.dim[0], grid->shape.dim[0]);
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
	TT_REQUIRE(channels % TT_TILE == 0,
		   "input_tensor.padded_shape()[-1] % tt::constants::TILE_WIDTH == 0",
		   "Input tensor last dimension must be divisible by TILE_WIDTH (%u), but got %u",
		   TT_TILE, channels);
	TT_REQUIRE(channels <= 8 * TT_TILE,
		   "input_tensor.padded_shape()[-1] <= tt::constants::TILE_WIDTH * "
		   "max_tiles_per_reduction",
		   "Wide reduction not supported: input tensor width %u exceeds maximum %u "
		   "(TILE_WIDTH %u * max_tiles %u)",
		   channels, 8 * TT_TILE, TT_TILE, 8u);
	return TTNN_OK;
}

/* ---- the program ------------------------------------------------------------------------------ */

/*
 * The four neighbours of a point make a tile; weights another; a grid in shards is read where it
 * is.
 */
static tt_status grid_sample_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *grid = launch->inputs[1];
	struct tt_tensor *out = launch->outputs[0];
	bool shards = grid->spec.memory.has_shard;
	uint64_t stick = grid->spec.padded.dim[3] * tt_element_bytes(grid);
	uint64_t channels = out->spec.padded.dim[3];
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid, grid->spec.rows,
			     TTNN_ORIENT_COL_MAJOR));
	return TT_PLAN(
		plan, shards ? grid->spec.memory.shard.grid : split.all,
		TT_CB_ROW(0, "grid", .pages = shards ? grid->spec.memory.shard.height : 1,
			  .page = tt_align_to(stick, tt_page_alignment(grid)),
			  .backing = shards ? grid : NULL),
		TT_CB_ROW(1, "input", .pages = 2,
			  .page = tt_div_up(in->spec.padded.dim[3], TT_TILE) * TT_TILE * TT_TILE *
				  tt_element_bytes(in)),
		TT_CB_ROW(2, "scalar", .pages = 2, .page = tt_tile_bytes_of(grid->spec.dtype)),
		TT_CB_ROW(3, "output", .pages = 2 * tt_div_up(channels, TT_FACE),
			  .page = TT_FACE * tt_element_bytes(out)));
}

static const struct tt_factory factories[] = {
	{.name = "ttnn::prim::GridSampleBilinearProgramFactory", .memory = grid_sample_memory},
	{.name = "ttnn::prim::GridSampleNearestProgramFactory", .memory = grid_sample_memory},
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

static tt_status check_shapes(const struct tt_tensor *in, const struct tt_tensor *grid,
			      uint32_t numbers)
{
	uint32_t last = tt_shape_last(&grid->spec.shape, 1);

	TT_REQUIRE(in->spec.shape.rank == 4, "input_tensor.logical_shape().rank() == 4",
		   "Input tensor must be 4D (N, H, W, C), but got %u dimensions",
		   in->spec.shape.rank);
	TT_REQUIRE(grid->spec.shape.rank == 4, "grid_tensor.logical_shape().rank() == 4",
		   "Grid tensor must be 4D (N, H_out, W_out, coords), but got %u dimensions",
		   grid->spec.shape.rank);
	TT_REQUIRE(last % numbers == 0 && last >= numbers,
		   "grid_last_dim % STANDARD_GRID_ELEMENTS_PER_POINT == 0 && grid_last_dim >= "
		   "STANDARD_GRID_ELEMENTS_PER_POINT",
		   "%s grid tensor last dimension must be a multiple of %u, but got %u",
		   numbers == 6 ? "Precomputed" : "Standard", numbers, last);
	return TTNN_OK;
}

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
		[MEMORY] = ttnn_v_memory(request ? request : &inputs[0]->spec.memory),
		[COMPUTE] =
			tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual),
	};
	struct tt_tensor *out;

	TT_TRY(tt_need_device(inputs[0]));
	TT_TRY(tt_need_device(inputs[1]));
	TT_TRY(check_mode(&attrs[MODE]));
	TT_TRY(check_shapes(inputs[0], inputs[1],
			    point_numbers(is_nearest(&attrs[MODE]), attrs[PRECOMPUTED].boolean)));
	TT_TRY(tt_call_program(
		&out, call,
		&(struct tt_program_args){
			.prog = &program, .attrs = attrs, .inputs = inputs, .input_count = 2}));
	tt_call_return(call, out);
	return TTNN_OK;
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
		point.numbers = grid->data + i / channels * numbers;
		*tt_at(out, i) =
			golden_value(&point, (const uint64_t[]){i / per_image, i % channels});
	}
	return TTNN_OK;
}

static const struct tt_prog *const programs[] = {&program, NULL};
static const struct tt_op ops[] = {
	{.name = "ttnn.grid_sample",
	 .family = "grid_sample",
	 .doc = "Images looked at in the places that a grid names, zeros outside of them.",
	 .sigs = {"input_tensor: Tensor, grid: Tensor, *, mode: str = bilinear, padding_mode: str = "
		  "zeros, align_corners: bool = False, use_precomputed_grid: bool = False, "
		  "batch_output_channels: bool = False, memory_config: MemoryConfig? = None, "
		  "compute_kernel_config: ComputeConfig? = None"},
	 .expand = grid_sample_expand,
	 .golden = grid_sample_golden,
	 .pcc = 0.999,
	 .programs = programs},
};

const struct tt_op_family tt_family_grid_sample = {"grid_sample", ops, TT_COUNT(ops)};
