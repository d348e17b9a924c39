/*
 * rotate.c: images turned around a point. Models RotateDeviceOperation of ttnn 0.81 with both factories: refusals,
 * memory, cores, and places in fixed point (16 bits behind the point). Not modelled: the weights of four pixels
 * rounded to bfloat16, and that float32 images are filled with two bfloat16 side by side.
 */
#include <math.h>
#include <string.h>

#include "backend/backend.h"
#include "golden/golden.h"
#include "ops/movement/movement.h"

#define FACE 16u
#define MOST_TILES 8u /* of a pixel's channels, where four pixels are weighted; of a buffer else */
#define BURST 5u      /* pixels that the reader asks for at once */

#define ATTRS(X)                                                                                   \
	X(ANGLE, "angle")                                                                          \
	X(CENTER, "center", .text = TT_TEXT_FIXED, .fixed = "<tuple>")                             \
	X(FILL, "fill")                                                                            \
	X(EXPAND, "expand")                                                                        \
	X(MODE, "interpolation_mode")                                                              \
	X(MEMORY, "memory_config")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);

static bool is_linear(const struct ttnn_value *mode)
{
	return mode->kind == TTNN_VALUE_STRING && strcmp(mode->text, "bilinear") == 0;
}

static double number_of(const struct ttnn_value *value)
{
	return value->kind == TTNN_VALUE_INT ? (double)value->integer : value->real;
}

/* ---- specs and refusals ----------------------------------------------------------------------- */

static tt_status rotate_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	return tt_spec_simple(&launch->specs[0], &in->shape, in->dtype, TTNN_ROW_MAJOR,
			      launch->attrs[MEMORY].memory);
}

/*
 * Four neighbours are reduced by the engine, which takes channels in tiles and as many as its
 * registers hold.
 */
static tt_status check_linear(const struct ttnn_tensor_spec *in)
{
	uint32_t channels = in->padded.dim[3], tiles = (channels + TT_TILE - 1) / TT_TILE;

	if (channels % TT_TILE)
		return tt_fail_cond(TTNN_INVALID, "input_channels % tt::constants::TILE_WIDTH == 0",
				    "Input tensor last dimension must be divisible by TILE_WIDTH "
				    "(%u), but got %u in padded shape Shape([%u, %u, %u, %u])",
				    TT_TILE, channels, in->padded.dim[0], in->padded.dim[1],
				    in->padded.dim[2], channels);
	TT_REQUIRE(tiles <= MOST_TILES, "in_ntiles_c <= MAX_TILES_PER_REDUCTION",
		   "Wide reduction (in_ntiles_c > MAX_TILES_PER_REDUCTION) is not supported for "
		   "bilinear rotate. in_ntiles_c=%u exceeds MAX_TILES_PER_REDUCTION=%u. Reduce "
		   "channel count to <= %u.",
		   tiles, MOST_TILES, MOST_TILES * TT_TILE);
	return TTNN_OK;
}

static tt_status rotate_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_value *mode = &launch->attrs[MODE];

	TT_REQUIRE(in->shape.rank == 4, "input.logical_shape().rank() == 4",
		   "Input tensor must be 4D (N, H, W, C), got rank %u", in->shape.rank);
	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR, "input.layout() == Layout::ROW_MAJOR",
		   "Input tensor must be in ROW_MAJOR layout");
	TT_REQUIRE(in->dtype == TTNN_BFLOAT16 || in->dtype == TTNN_FLOAT32,
		   "input.dtype() == DataType::BFLOAT16 || input.dtype() == DataType::FLOAT32",
		   "Input tensor dtype must be bfloat16 or float32, got DataType::%s",
		   tt_enum_name(&tt_enum_dtype, (int64_t)in->dtype));
	TT_REQUIRE(!launch->attrs[EXPAND].boolean, "!operation_attributes.expand",
		   "expand=True is not supported. Only same-size rotation (expand=False) is "
		   "implemented");
	TT_REQUIRE(is_linear(mode) || strcmp(mode->text, "nearest") == 0,
		   "operation_attributes.interpolation_mode == \"nearest\" || "
		   "operation_attributes.interpolation_mode == \"bilinear\"",
		   "Only 'nearest' and 'bilinear' interpolation_mode are supported, got '%s'",
		   mode->text);
	TT_REQUIRE(!tt_tensor_is_sharded(launch->inputs[0]) ||
			   in->memory.layout == TTNN_HEIGHT_SHARDED,
		   "mem_layout == tt::tt_metal::TensorMemoryLayout::HEIGHT_SHARDED",
		   "Only height sharding is supported for rotate operation. Got memory layout %d",
		   (int)in->memory.layout);
	return is_linear(mode) ? check_linear(in) : TTNN_OK;
}

/* ---- the program ------------------------------------------------------------------------------ */

/* The cores, and pixels of the fullest. */
static tt_status rotate_cores(const ttnn_core_set **cores, uint64_t *most,
			      const struct tt_launch *launch, const struct tt_tensor *shards)
{
	struct tt_work_split split;

	if (shards) {
		*cores = shards->spec.memory.shard.grid;
		*most = shards->spec.memory.shard.height;
		return TTNN_OK;
	}
	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid,
			     launch->inputs[0]->spec.rows, TTNN_ORIENT_COL_MAJOR));
	*cores = split.all;
	*most = split.units[0]; /* the first group has no less than the second */
	return TTNN_OK;
}

static struct tt_tensor *if_sharded(struct tt_tensor *tensor)
{
	return tensor->spec.memory.has_shard ? tensor : NULL;
}

/*
 * Rows are copied, as many at once as half of the registers' tiles would take; bursts are whole.
 */
static tt_status rotate_nearest_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	struct tt_tensor *shards = if_sharded(in);
	uint64_t stick = in->spec.padded.dim[3] * tt_element_bytes(in);
	uint64_t page = shards ? stick : tt_align_to(stick, tt_page_alignment(in));
	uint64_t room = (uint64_t)MOST_TILES * TT_TILE * TT_TILE * tt_element_bytes(in) / 2;
	const ttnn_core_set *cores;
	uint64_t pages, most;

	TT_TRY(rotate_cores(&cores, &most, launch, shards));
	pages = page && room / page < most ? room / page : most;
	TT_REQUIRE(pages > 0, "num_cb_pages > 0",
		   "Not enough L1 for even a single CB page: aligned_input_stick_nbytes=%llu "
		   "exceeds l1_for_cb=%llu",
		   (unsigned long long)page, (unsigned long long)room);
	pages -= pages > BURST ? pages % BURST : 0;
	return TT_PLAN(
		plan, cores, TT_CB_ROW(0, "fill", .pages = 1, .page = page),
		TT_CB_ROW(1, "input", .pages = shards ? most : 0, .page = page, .backing = shards),
		TT_CB_ROW(shards ? 2 : 1, "output", .pages = shards ? most : 2 * pages,
			  .page = page, .backing = shards ? if_sharded(out) : NULL));
}

/*
 * As a pool over four rows: the neighbours as a tile, a scalar tile of weights, the result in
 * faces.
 */
static tt_status linear_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	struct tt_tensor *shards = if_sharded(in) ? in : if_sharded(out);
	uint64_t channels = in->spec.padded.dim[3], element = tt_element_bytes(in);
	uint64_t faces = tt_div_up(channels, FACE);
	const ttnn_core_set *cores;
	uint64_t most;

	TT_TRY(rotate_cores(&cores, &most, launch, shards));
	if (if_sharded(out))
		most = out->spec.memory.shard.height;
	return TT_PLAN(
		plan, cores, TT_CB_ROW(0, "fill", .pages = 1, .page = channels * element),
		TT_CB_ROW(1, "input", .pages = 2,
			  .page = tt_div_up(channels, TT_TILE) * TT_TILE * TT_TILE * element),
		TT_CB_ROW(3, "scalar", .pages = 2, .page = tt_tile_bytes_of(in->spec.dtype)),
		TT_CB_ROW(5, "output", .pages = shards ? most * faces : 2 * faces,
			  .page = FACE * element, .backing = if_sharded(out)));
}

static const struct tt_factory factories[] = {
	{.name = "ttnn::operations::rotate::RotateDeviceOperation::NearestProgramFactory",
	 .memory = rotate_nearest_memory},
	{.name = "ttnn::operations::rotate::RotateDeviceOperation::BilinearProgramFactory",
	 .memory = linear_memory},
};

static tt_status rotate_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = is_linear(&launch->attrs[MODE]);
	return TTNN_OK;
}

/* A number in fixed point; far away if it has no room there. */
static int64_t fixed_of(float number)
{
	return fabsf(number) < 0x1p24f ? (int64_t)(number * 65536.0f) : INT64_C(1) << 40;
}

/*
 * Coordinates in fixed point with 16 bits behind the point, as the reader computes them; the
 * middle is the image's, or the caller's pixel, whose own middle is half a pixel off.
 */
static tt_status rotate_kernel(struct tt_launch *launch)
{
	const struct ttnn_shape *shape = &launch->inputs[0]->spec.shape;
	const struct ttnn_value *center = &launch->attrs[CENTER];
	float angle = (float)((float)number_of(&launch->attrs[ANGLE]) * acos(-1.0) / 180.0);
	float at[2] = {((float)shape->dim[1] - 1) / 2, ((float)shape->dim[2] - 1) / 2};

	if (center->kind == TTNN_VALUE_LIST) {
		at[0] = (float)number_of(&center->items[1]) - 0.5f;
		at[1] = (float)number_of(&center->items[0]) - 0.5f;
	}
	return tt_backend_get()->rotate(
		&(struct tt_rotate_job){.out = launch->outputs[0],
					.in = launch->inputs[0],
					.cosine = fixed_of(cosf(angle)),
					.sine = fixed_of(sinf(angle)),
					.center = {fixed_of(at[0]), fixed_of(at[1])},
					.fill = (float)number_of(&launch->attrs[FILL]),
					.linear = is_linear(&launch->attrs[MODE])});
}

static void rotate_cost(struct tt_cost *cost, const struct tt_launch *launch)
{
	tt_cost_tensors(cost, launch);
}

static const struct tt_prog program = {
	.device_op = "RotateDeviceOperation",
	.prim = "ttnn::prim::rotate",
	.attrs = &schema,
	.infer = rotate_infer,
	.validate = rotate_validate,
	TT_FACTORIES(factories),
	.choose = rotate_choose,
	TT_KERNEL(rotate_kernel),
	.cost = rotate_cost,
};

static tt_status rotate_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	const struct ttnn_memory_config *request = tt_call_memory(call, "memory_config");
	struct ttnn_value attrs[schema_count] = {
		[ANGLE] = ttnn_v_real(tt_call_real(call, "angle", 0)),
		[CENTER] = *tt_call_arg(call, "center"),
		[FILL] = ttnn_v_real(tt_call_real(call, "fill", 0)),
		[EXPAND] = *tt_call_arg(call, "expand"),
		[MODE] = *tt_call_arg(call, "interpolation_mode"),
		[MEMORY] = ttnn_v_memory(request ? request : &in->spec.memory),
	};
	uint64_t count;

	TT_TRY(tt_need_device(in));
	TT_TRY(ttnn_shape_volume(&count, &in->spec.shape));
	if (!count) { /* nothing to turn */
		return TT_CALL_RETURN(call, "ttnn.clone", {"input", ttnn_v_tensor(in)});
	}
	return TT_LAUNCH_RETURN(call, &program, .attrs = attrs, .inputs = &in, .input_count = 1);
}

/* ---- golden ------------------------------------------------------------------------------------- */

struct golden_turn {
	const struct tt_array *in;
	double cosine, sine, center[2], fill;
	bool linear;
};

/* As many bits behind the point as places have. */
static double to_fixed(double number)
{
	return trunc(number * 65536) / 65536;
}

static double golden_pixel(const struct golden_turn *turn, const uint64_t at[4], double y, double x)
{
	const struct tt_array *in = turn->in;

	if (!(y >= 0 && x >= 0 && y < in->shape.dim[1] && x < in->shape.dim[2]))
		return turn->fill;
	return *tt_at(
		in, tt_array_index(in, (const uint64_t[]){at[0], (uint64_t)y, (uint64_t)x, at[3]}));
}

/* Each step rounds to 1/65536, since pixels at edges depend on it. */
static double golden_value(const struct golden_turn *t, const uint64_t at[4])
{
	double dy = (double)at[1] - t->center[0], dx = (double)at[2] - t->center[1];
	double x = floor((dx * t->cosine - dy * t->sine) * 65536) / 65536 + t->center[1];
	double y = floor((dx * t->sine + dy * t->cosine) * 65536) / 65536 + t->center[0];
	double fx = x - floor(x), fy = y - floor(y);

	if (!t->linear)
		return golden_pixel(t, at, floor(y + 0.5), floor(x + 0.5));
	x = floor(x);
	y = floor(y);
	return (1 - fy) * (1 - fx) * golden_pixel(t, at, y, x) +
	       (1 - fy) * fx * golden_pixel(t, at, y, x + 1) +
	       fy * (1 - fx) * golden_pixel(t, at, y + 1, x) +
	       fy * fx * golden_pixel(t, at, y + 1, x + 1);
}

static tt_status rotate_golden(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	const struct ttnn_value *center = tt_call_arg(&golden->call, "center");
	float angle = (float)((float)tt_call_real(&golden->call, "angle", 0) * acos(-1.0) / 180.0);
	struct golden_turn turn = {
		.in = in,
		.cosine = to_fixed((double)cosf(angle)),
		.sine = to_fixed((double)sinf(angle)),
		.fill = tt_call_real(&golden->call, "fill", 0),
		.linear = is_linear(tt_call_arg(&golden->call, "interpolation_mode"))};
	struct tt_array *out;
	uint64_t at[4];

	if (!in || in->shape.rank != 4)
		return tt_fail(TTNN_INVALID, "images to rotate are of rank 4");
	for (int d = 0; d < 2; d++)
		turn.center[d] = to_fixed(center->kind == TTNN_VALUE_LIST
						  ? number_of(&center->items[1 - d]) - 0.5
						  : (in->shape.dim[1 + d] - 1.0) / 2);
	out = tt_golden_out(golden, &in->shape, in->dtype);
	if (!out)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t rest = i;

		for (int d = 3; d >= 0; d--) {
			at[d] = rest % in->shape.dim[d];
			rest /= in->shape.dim[d];
		}
		out->data[i] = golden_value(&turn, at);
	}
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.rotate",
	 .doc = "Images turned around a point, counter-clockwise and in degrees.",
	 .sigs = {"input_tensor: Tensor, angle: float, *, center: point? = None, fill: float = 0.0, "
		  "expand: bool = False, interpolation_mode: str = nearest, memory_config: "
		  "MemoryConfig? = None"},
	 .expand = rotate_expand,
	 .golden = rotate_golden,
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_rotate = {"rotate", ops, TT_COUNT(ops)};
