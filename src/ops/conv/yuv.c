/*
 * yuv.c: pictures [3, height, width, times] in red, green and blue as bytes of brightness and colour, the colours of four
 * pixels in one (4:2:0). Models RgbToYuvDeviceOperation of ttnn 0.81 with its one factory: specs, refusals, memory, cores,
 * coefficients of bfloat16. Not modelled: sums rounded to bfloat16 on the way.
 */
#include <math.h>
#include <string.h>

#include "golden/golden.h"
#include "ops/conv/conv.h"
#include "ops/movement/movement.h"
#include "ops/op_enums.h"
#include "tensor/bf16.h"

#define ATTRS(X)                                                                                   \
	X(COEFFICIENTS, "coefficients")                                                            \
	X(FORMAT, "format")                                                                        \
	X(WIDE, "wide_rows")                                                                       \
	X(MEMORY, "output_memory_config")
TT_ATTRS(schema, "RgbToYuvParams", ATTRS);
enum { Y, CB, CR, PLANES };
#define TERMS 4u /* of a plane: red, green, blue and what is added */
#define BUFFER_TILES 4u
#define MOST_WIDE_TIMES 32u

static const struct tt_field coefficient_fields[PLANES] = {
	[Y] = {.name = "y", .text = TT_TEXT_ARRAY},
	[CB] = {.name = "cb", .text = TT_TEXT_ARRAY},
	[CR] = {.name = "cr", .text = TT_TEXT_ARRAY},
};
const struct tt_schema tt_schema_yuv = {"YUVCoefficients", coefficient_fields, PLANES, false};

struct coefficients {
	float of[PLANES][TERMS];
};

/* ---- coefficients ------------------------------------------------------------------------------- */

/* By the weights of red and blue in the standards, and the ranges of both sides. */
static struct coefficients standard(int64_t space, bool centered, bool limited)
{
	static const float red[] = {0.299f, 0.2126f, 0.2627f}, blue[] = {0.114f, 0.0722f, 0.0593f};
	float kr = red[space], kb = blue[space], kg = 1.f - kr - kb;
	float low = centered ? -1.f : 0.f, s = 1.f / (1.f - low);
	float bright = limited ? 219.f : 255.f, colour = limited ? 224.f : 255.f;
	float cb = colour * s / (2.f * (1.f - kb)), cr = colour * s / (2.f * (1.f - kr));

	return (struct coefficients){{[Y] = {bright * s * kr, bright * s * kg, bright * s * kb,
					     (limited ? 16.f : 0.f) - bright * s * low},
				      [CB] = {-cb * kr, -cb * kg, cb * (1.f - kb), 128.f},
				      [CR] = {cr * (1.f - kr), -cr * kg, -cr * kb, 128.f}}};
}

static float number_of(const struct ttnn_value *value)
{
	return (float)(value->kind == TTNN_VALUE_INT ? (double)value->integer : value->real);
}

static int64_t member(const struct tt_call *call, const char *name, int64_t fallback)
{
	const struct ttnn_value *value = tt_call_arg(call, name);

	return value->kind == TTNN_VALUE_ENUM ? value->integer : fallback;
}

static tt_status read_coefficients(struct coefficients *out, const struct tt_call *call)
{
	const struct ttnn_value *given = tt_call_arg(call, "coefficients");
	int64_t space = member(call, "color_space", 0);

	TT_NEED(space >= 0 && space <= 2, "rgb_to_yuv: no such color space");
	*out = standard(space, member(call, "input_range", 0) == 0,
			member(call, "output_range", 1) == 1);
	if (given->kind != TTNN_VALUE_OBJECT)
		return TTNN_OK;
	TT_NEED(given->schema == &tt_schema_yuv && given->count == PLANES,
		"rgb_to_yuv takes YUVCoefficients as its coefficients");
	for (int p = 0; p < PLANES; p++) {
		const struct ttnn_value *row = &given->items[p];

		TT_NEED(row->kind == TTNN_VALUE_LIST && (row->count == TERMS || !row->count),
			"YUVCoefficients have four numbers for each plane");
		for (uint32_t i = 0; i < TERMS; i++)
			out->of[p][i] = row->count ? number_of(&row->items[i]) : 0;
	}
	return TTNN_OK;
}

static tt_status coefficients_value(struct ttnn_value *out, struct tt_call *call)
{
	struct ttnn_value *items =
		tt_arena_alloc(call->arena, (PLANES + PLANES * TERMS) * sizeof(*items));
	struct coefficients numbers;

	TT_TRY(read_coefficients(&numbers, call));
	TT_NEED_MEMORY(items);
	for (uint32_t p = 0; p < PLANES; p++) {
		struct ttnn_value *row = &items[PLANES + p * TERMS];

		for (uint32_t i = 0; i < TERMS; i++)
			row[i] = ttnn_v_real((double)numbers.of[p][i]);
		items[p] = ttnn_v_list(row, TERMS);
	}
	*out = tt_value_object(&tt_schema_yuv, items);
	return TTNN_OK;
}

/* ---- specs and refusals ----------------------------------------------------------------------- */

static tt_status check_memory(const struct ttnn_memory_config *memory)
{
	TT_REQUIRE(memory->layout == TTNN_INTERLEAVED,
		   "mem_cfg.memory_layout() == TensorMemoryLayout::INTERLEAVED",
		   "Sharded output is not supported; output memory must be interleaved, got "
		   "TensorMemoryLayout::%s",
		   tt_enum_name(&tt_enum_memory_layout, (int64_t)memory->layout));
	return TTNN_OK;
}

/* A plane of bytes; with wide rows the times of all pixels of a row are in one. */
static struct ttnn_shape plane_shape(const struct ttnn_shape *in, int plane, bool wide)
{
	uint32_t share = plane == Y ? 1 : 2;
	uint32_t height = in->dim[1] / share, width = in->dim[2] / share;

	return wide ? TT_SHAPE(1, height, width * in->dim[3])
		    : TT_SHAPE(1, height, width, in->dim[3]);
}

static tt_status yuv_infer(struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[0]->spec.shape;
	const struct ttnn_memory_config *memory = launch->attrs[MEMORY].memory;

	TT_TRY(check_memory(memory));
	TT_REQUIRE(in->rank == 4, "shape.rank() == 4", "Input must be 4D (C, H, W, T), got rank %u",
		   in->rank);
	launch->output_count = PLANES;
	for (int p = 0; p < PLANES; p++) {
		struct ttnn_shape shape = plane_shape(in, p, launch->attrs[WIDE].boolean);

		TT_TRY(tt_spec_simple(&launch->specs[p], &shape, TTNN_UINT8, TTNN_ROW_MAJOR,
				      memory));
	}
	return TTNN_OK;
}

static tt_status check_shape(const struct tt_launch *launch)
{
	const uint32_t *dim = launch->inputs[0]->spec.shape.dim;

	TT_REQUIRE(dim[0] == 3, "shape[0] == 3", "Input must have C=3 (RGB)");
	TT_REQUIRE(dim[1] >= 2 && dim[1] % 2 == 0, "shape[1] >= 2 && shape[1] % 2 == 0",
		   "H must be even and >= 2 for 4:2:0 subsampling (got %u)", dim[1]);
	TT_REQUIRE(dim[2] >= 2 && dim[2] % 2 == 0, "shape[2] >= 2 && shape[2] % 2 == 0",
		   "W must be even and >= 2 for 4:2:0 subsampling (got %u)", dim[2]);
	TT_REQUIRE(dim[3] > 0, "shape[3] > 0", "T must be positive (got %u)", dim[3]);
	TT_REQUIRE(!launch->attrs[WIDE].boolean || dim[3] <= MOST_WIDE_TIMES,
		   "!attrs.wide_rows || shape[3] <= 32",
		   "wide_rows needs T <= 32 (one T tile per unit), got T=%u", dim[3]);
	return TTNN_OK;
}

static tt_status yuv_validate(struct tt_launch *launch)
{
	static const char *const finite[PLANES] = {
		"std::isfinite(c.y[i])", "std::isfinite(c.cb[i])", "std::isfinite(c.cr[i])"};
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	TT_REQUIRE(in->dtype == TTNN_BFLOAT16, "in.dtype() == DataType::BFLOAT16",
		   "Input must be bfloat16");
	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR, "in.layout() == Layout::ROW_MAJOR",
		   "Input must be row-major (CHWT)");
	TT_TRY(check_shape(launch));
	TT_REQUIRE(in->memory.layout == TTNN_INTERLEAVED,
		   "in.memory_config().memory_layout() == TensorMemoryLayout::INTERLEAVED",
		   "Input memory must be interleaved, got TensorMemoryLayout::%s",
		   tt_enum_name(&tt_enum_memory_layout, (int64_t)in->memory.layout));
	for (uint32_t i = 0; i < TERMS; i++)
		for (int p = 0; p < PLANES; p++)
			TT_REQUIRE(isfinite(launch->attrs[COEFFICIENTS].items[p].items[i].real),
				   finite[p], "%s coefficient [%u] is not finite",
				   coefficient_fields[p].name, i);
	return TTNN_OK;
}

/* ---- the program ------------------------------------------------------------------------------ */

static tt_status yuv_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const uint32_t *dim = launch->inputs[0]->spec.shape.dim;
	uint64_t tile = tt_tile_bytes_of(TTNN_BFLOAT16), sticks = 2 * (uint64_t)dim[2];
	struct tt_buffer_row rows[23];
	struct tt_work_split split;
	size_t count = 0;

	TT_TRY(tt_split_work(&split, tt_grid_size(launch->grid),
			     dim[1] / 2 * tt_div_up(dim[3], TT_TILE), TTNN_ORIENT_ROW_MAJOR));
	for (uint32_t i = 0; i < 3; i++) /* red, green, blue */
		rows[count++] = (struct tt_buffer_row)TT_CB_ROW(i, "rgb_rm", .pages = BUFFER_TILES,
								.page = tile);
	for (uint32_t i = 3; i < 7; i++) /* in tiles, a product, a sum on its way, a sum */
		rows[count++] =
			(struct tt_buffer_row)TT_CB_ROW(i, "partial", .pages = 1, .page = tile);
	for (uint32_t i = 10; i < 10 + PLANES * TERMS; i++)
		rows[count++] =
			(struct tt_buffer_row)TT_CB_ROW(i, "scalar", .pages = 1, .page = tile);
	rows[count++] = (struct tt_buffer_row)TT_CB_ROW(7, "out_bf16", .pages = 2, .page = tile);
	rows[count++] =
		(struct tt_buffer_row)TT_CB_ROW(8, "out_rm", .pages = 2, .page = TT_TILE * TT_TILE);
	rows[count++] = (struct tt_buffer_row)TT_CB_ROW(
		9, "scratch", .pages = 1, .page = 3 * sticks * TT_TILE * sizeof(uint16_t));
	if (launch->attrs[WIDE].boolean)
		rows[count++] = (struct tt_buffer_row)TT_CB_ROW(
			22, "rows", .pages = 2,
			.page = tt_align_to((uint64_t)dim[2] * dim[3],
					    tt_memory_alignment(launch->device, TTNN_DRAM)));
	return tt_plan_buffers(plan, split.all, rows, count);
}

static tt_status yuv_kernel(struct tt_launch *launch)
{
	struct tt_yuv_job job = {.in = launch->inputs[0]};

	for (int p = 0; p < PLANES; p++) {
		const struct ttnn_value *row = &launch->attrs[COEFFICIENTS].items[p];

		job.out[p] = launch->outputs[p];
		for (uint32_t i = 0; i < TERMS; i++)
			job.terms[p][i] = tt_bf16_load(tt_bf16_store(number_of(&row->items[i])));
	}
	return tt_backend_get()->yuv(&job);
}

static const struct tt_prog program = {
	.device_op = "RgbToYuvDeviceOperation",
	.prim = "ttnn::prim::rgb_to_yuv",
	.attrs = &schema,
	.infer = yuv_infer,
	.validate = yuv_validate,
	TT_FACTORY("ttnn::experimental::prim::RgbToYuvProgramFactory", yuv_memory),
	TT_KERNEL(yuv_kernel),
	.mute = true, /* in a tuple */
	.drops_forward = true,
};

static tt_status yuv_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input");
	struct ttnn_value coefficients;

	TT_TRY(coefficients_value(&coefficients, call));
	return TT_LAUNCH_RETURN(call, &program, TT_INPUTS(in),
				TT_BIND(call, schema, [COEFFICIENTS] = coefficients,
					[FORMAT] = tt_value_enum(&tt_enum_yuv_format, 0),
					[MEMORY] = tt_value_memory_or_like(call, in)));
}

/* ---- golden ------------------------------------------------------------------------------------- */

static double bf16(float number)
{
	uint32_t bits;

	memcpy(&bits, &number, sizeof(bits));
	bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
	memcpy(&number, &bits, sizeof(bits));
	return (double)number;
}

/* Products of bfloat16 are exact here, so that equal sums round alike. */
static tt_status yuv_golden(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in4(golden, "input");
	bool wide = tt_call_bool(&golden->call, "wide_rows", false);
	struct coefficients numbers;

	TT_GOLDEN_NEED(in && in->shape.dim[0] == 3);
	TT_TRY(read_coefficients(&numbers, &golden->call));
	for (int p = 0; p < PLANES; p++) {
		struct ttnn_shape shape = plane_shape(&in->shape, p, wide);
		struct tt_array *out = tt_golden_out(golden, &shape, TTNN_UINT8);
		uint64_t share = p == Y ? 1 : 2, times = in->shape.dim[3];
		uint64_t width = in->shape.dim[2] / share;

		TT_GOLDEN_NEED(out);
		for (uint64_t i = 0; i < out->count; i++) {
			double sum = bf16(numbers.of[p][3]), pixels = 0;

			for (uint64_t k = 0; k < 3 * share * share; k++) {
				uint64_t at[] = {k / (share * share),
						 i / times / width * share + k / share % share,
						 i / times % width * share + k % share, i % times};

				pixels += bf16(numbers.of[p][at[0]]) *
					  *tt_at(in, tt_array_index(in, at));
			}
			sum += pixels / (double)(share * share);
			*tt_at(out, i) = rint(fmin(fmax(sum, 0), 255));
		}
	}
	return TTNN_OK;
}

/* Bound without a decorator: recordings show the program alone. */
static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.rgb_to_yuv",
	 .doc = "Pictures in red, green and blue as bytes of brightness and colour (4:2:0).",
	 .frontend = "",
	 .sigs = {"input: Tensor, *, format: YUVFormat = YUV420Planar, color_space: YUVColorSpace = "
		  "BT601, input_range: RGBRange = MinusOneToOne, output_range: YUVRange = Limited, "
		  "coefficients: YUVCoefficients? = None, memory_config: MemoryConfig? = None, "
		  "wide_rows: bool = False"},
	 .expand = yuv_expand,
	 .golden = yuv_golden,
	 .pcc = 0.99,
	 .gives = "Tensor, Tensor, Tensor",
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_yuv = {"yuv", ops, TT_COUNT(ops)};
