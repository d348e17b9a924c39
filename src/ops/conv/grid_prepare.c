/*
 * grid_prepare.c: grids worked out before (prepare_grid_sample_grid of ttnn 0.81), on the host: the pixel to the upper left of
 * each point and the weights of the four around it, or the nearest pixel. Numbers of pixels are the bits of elements.
 */
#include <math.h>
#include <string.h>

#include "golden/golden.h"
#include "ops/movement/movement.h"
#include "tensor/bf16.h"

#define NUMBERS 6u /* of a point; the nearest pixel has 2 */
#define FARTHEST 32767

struct points {
	float scale[2], offset; /* down, across */
	int64_t size[2];
	bool nearest, corners;
};

static bool is_nearest(const struct tt_call *call)
{
	const struct ttnn_value *mode = tt_call_arg(call, "mode");

	return mode->kind == TTNN_VALUE_STRING && strcmp(mode->text, "nearest") == 0;
}

static tt_status check_grid(const struct tt_call *call, const struct tt_tensor *grid)
{
	const struct ttnn_shape *shape = &grid->spec.shape;
	const struct ttnn_value *padding = tt_call_arg(call, "padding_mode");
	int64_t image[TTNN_MAX_RANK];
	size_t rank;

	TT_REQUIRE(!tt_tensor_device(grid), "is_cpu_tensor(grid)", "Grid tensor must be on host");
	TT_REQUIRE(grid->spec.layout == TTNN_ROW_MAJOR, "grid.layout() == Layout::ROW_MAJOR",
		   "Grid tensor must be in row major layout");
	TT_REQUIRE(shape->rank == 4, "grid.logical_shape().rank() == 4", "Grid tensor must be 4D");
	TT_REQUIRE(shape->dim[3] == 2, "grid.logical_shape()[-1] == 2",
		   "Grid tensor last dimension must be 2 (x, y coordinates)");
	TT_REQUIRE(padding->kind == TTNN_VALUE_STRING && strcmp(padding->text, "zeros") == 0,
		   "padding_mode == \"zeros\"", "Currently only 'zeros' padding mode is supported");
	TT_TRY(tt_call_ints(image, &rank, TTNN_MAX_RANK, call, "input_shape"));
	TT_REQUIRE(rank == 4, "input_shape.size() == 4",
		   "Input shape must have 4 dimensions [N, H, W, C]");
	TT_REQUIRE(tt_call_dtype(call, "output_dtype", TTNN_BFLOAT16) == TTNN_BFLOAT16,
		   "output_dtype == DataType::BFLOAT16 || !output_dtype.has_value()",
		   "Currently only BFLOAT16 is supported for the grid output dtype");
	TT_REQUIRE(grid->spec.dtype == TTNN_FLOAT32, "grid.dtype() == DataType::FLOAT32",
		   "Currently only float32 input grid is supported");
	return TTNN_OK;
}

static tt_status read_points(struct points *out, const struct tt_call *call)
{
	int64_t image[TTNN_MAX_RANK];
	size_t rank;

	TT_TRY(tt_call_ints(image, &rank, TTNN_MAX_RANK, call, "input_shape"));
	out->nearest = is_nearest(call);
	out->corners = tt_call_bool(call, "align_corners", false);
	out->offset = out->corners ? 0.0f : -0.5f;
	for (int d = 0; d < 2; d++) {
		out->size[d] = image[d + 1];
		out->scale[d] = 0.5f * (float)(out->corners ? image[d + 1] - 1 : image[d + 1]);
	}
	return TTNN_OK;
}

/* Where a point of the grid lies in the image, down or across. */
static float place_of(const struct points *points, int d, float number)
{
	return (number + 1.0f) * points->scale[d] + points->offset;
}

static uint16_t bits_of(float place)
{
	float near = fminf(fmaxf(place, -FARTHEST - 1), FARTHEST);

	return (uint16_t)(int16_t)(isnan(near) ? -FARTHEST - 1 : near);
}

static bool is_inside(const struct points *points, int d, float place)
{
	return place >= 0 && place < (float)points->size[d];
}

static void nearest_point(uint16_t *out, const struct points *points, const float at[2])
{
	float y = points->corners ? roundf(at[0]) : floorf(at[0] + 0.5f);
	float x = points->corners ? roundf(at[1]) : floorf(at[1] + 0.5f);
	bool inside = is_inside(points, 0, y) && is_inside(points, 1, x);

	out[0] = inside ? bits_of(y) : UINT16_MAX;
	out[1] = inside ? bits_of(x) : UINT16_MAX;
}

static void weighted_point(uint16_t *out, const struct points *points, const float at[2])
{
	float y = floorf(at[0]), x = floorf(at[1]), down = at[0] - y, across = at[1] - x;

	out[0] = bits_of(y);
	out[1] = bits_of(x);
	for (int i = 0; i < 4; i++) {
		bool lower = i >= 2, right = i % 2;
		bool inside = is_inside(points, 0, y + (float)lower) &&
			      is_inside(points, 1, x + (float)right);
		float weight = (lower ? down : 1.0f - down) * (right ? across : 1.0f - across);

		out[2 + i] = tt_bf16_store(inside ? weight : 0.0f);
	}
}

static tt_status prepare_expand(struct tt_call *call)
{
	struct tt_tensor *grid = tt_call_tensor(call, "grid"), *out;
	struct ttnn_spec_args args = {.shape = grid->spec.shape, .dtype = TTNN_BFLOAT16};
	struct ttnn_tensor_spec spec;
	struct points points;
	uint64_t count, numbers;
	double *values;
	uint16_t *bits;

	TT_TRY(check_grid(call, grid));
	TT_TRY(read_points(&points, call));
	TT_TRY(ttnn_shape_volume(&count, &args.shape));
	numbers = points.nearest ? 2 : NUMBERS;
	args.shape.dim[3] = (uint32_t)numbers;
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	values = tt_arena_alloc(call->arena, (count + 1) * sizeof(*values));
	bits = tt_arena_alloc(call->arena, (count / 2 + 1) * numbers * sizeof(*bits));
	if (!values || !bits)
		return tt_fail_nomem();
	TT_TRY(tt_tensor_numbers(values, count, grid));
	for (uint64_t i = 0; i < count / 2; i++) {
		const float at[] = {place_of(&points, 0, (float)values[2 * i + 1]),
				    place_of(&points, 1, (float)values[2 * i])};

		(points.nearest ? nearest_point : weighted_point)(&bits[i * numbers], &points, at);
	}
	return tt_call_give(call, ttnn_tensor_from_data(&out, bits, TTNN_BFLOAT16, &spec, 0), &out);
}

/* ---- golden ------------------------------------------------------------------------------------- */

/* The bfloat16 of these bits. */
static double element_of(double number)
{
	uint32_t bits = (uint32_t)(uint16_t)(int16_t)number << 16;
	float element;

	memcpy(&element, &bits, sizeof(element));
	return (double)element;
}

static bool golden_inside(double y, double x, const int64_t size[2])
{
	return y >= 0 && x >= 0 && y < (double)size[0] && x < (double)size[1];
}

static void golden_point(double *out, const struct points *points, double y, double x)
{
	double fy = y - floor(y), fx = x - floor(x);

	if (points->nearest) {
		y = points->corners ? round(y) : floor(y + 0.5);
		x = points->corners ? round(x) : floor(x + 0.5);
		out[0] = element_of(golden_inside(y, x, points->size) ? y : -1);
		out[1] = element_of(golden_inside(y, x, points->size) ? x : -1);
		return;
	}
	y = floor(y);
	x = floor(x);
	out[0] = element_of(y);
	out[1] = element_of(x);
	out[2] = golden_inside(y, x, points->size) ? (1 - fy) * (1 - fx) : 0;
	out[3] = golden_inside(y, x + 1, points->size) ? (1 - fy) * fx : 0;
	out[4] = golden_inside(y + 1, x, points->size) ? fy * (1 - fx) : 0;
	out[5] = golden_inside(y + 1, x + 1, points->size) ? fy * fx : 0;
}

static tt_status grid_prepare_golden(struct tt_golden *golden)
{
	const struct tt_array *grid = tt_golden_in4(golden, "grid");
	struct points points;
	struct tt_array *out;
	struct ttnn_shape shape;
	uint32_t numbers;

	TT_GOLDEN_NEED(grid);
	TT_TRY(check_grid(&golden->call, tt_call_tensor(&golden->call, "grid")));
	TT_TRY(read_points(&points, &golden->call));
	numbers = points.nearest ? 2 : 6;
	shape = grid->shape;
	shape.dim[3] = numbers;
	out = tt_golden_out(golden, &shape, TTNN_BFLOAT16);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < grid->count / 2; i++) {
		double x = (*tt_at(grid, 2 * i) + 1) / 2, y = (*tt_at(grid, 2 * i + 1) + 1) / 2;
		double height = (double)points.size[0], width = (double)points.size[1];

		x = points.corners ? x * (width - 1) : x * width - 0.5;
		y = points.corners ? y * (height - 1) : y * height - 0.5;
		golden_point(tt_array_span(out, i * numbers, numbers), &points, y, x);
	}
	return TTNN_OK;
}

/* In Python a function: recordings do not show it. */
static const struct tt_op ops[] = {
	{.name = "ttnn.prepare_grid_sample_grid",
	 .doc = "A grid worked out before: pixels and weights for each of its points.",
	 .frontend = "",
	 .sigs = {"grid: Tensor, input_shape: sizes, *, mode: str = bilinear, padding_mode: str = "
		  "zeros, align_corners: bool = False, output_dtype: DataType? = None"},
	 .expand = prepare_expand,
	 .golden = grid_prepare_golden},
};

const struct tt_op_family tt_family_grid_prepare = {"grid_prepare", ops, TT_COUNT(ops)};
