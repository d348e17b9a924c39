/*
 * rows_complex.c: what transforms of signals do with rows: products of complex numbers whose parts are tensors of their own, and planes
 * that are transposed.
 *
 * Models ComplexMulDeviceOperation and TransposeRmDeviceOperation of ttnn 0.81 (experimental/fft) with their one factory each: specs,
 * refusals, memory, cores.
 */
#include "backend/backend.h"
#include "golden/golden.h"
#include "ops/creation/creation.h"
#include "ops/movement/movement.h"
#include "ops/values.h"

static bool is_float(const struct ttnn_tensor_spec *spec)
{
	return spec->dtype == TTNN_FLOAT32 || spec->dtype == TTNN_BFLOAT16;
}

/* Upstream's number of a type. */
static int number_of(enum ttnn_dtype dtype)
{
	static const int numbers[] = {
		[TTNN_BFLOAT16] = 0,  [TTNN_FLOAT32] = 1, [TTNN_UINT32] = 2, [TTNN_BFLOAT8_B] = 3,
		[TTNN_BFLOAT4_B] = 4, [TTNN_UINT8] = 5,   [TTNN_UINT16] = 6, [TTNN_INT32] = 7};

	return (size_t)dtype < TT_COUNT(numbers) ? numbers[dtype] : (int)dtype;
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

enum { A_REAL, A_IMAG, B_REAL, B_IMAG, PARTS };
static const struct tt_schema product_schema = {"ComplexMulParams", NULL, 0, false};

static tt_status product_infer(struct tt_launch *launch)
{
	launch->output_count = 2;
	for (size_t i = 0; i < 2; i++)
		launch->specs[i] = launch->inputs[A_REAL]->spec;
	return TTNN_OK;
}

static tt_status product_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *first = &launch->inputs[A_REAL]->spec;
	uint32_t width = tt_shape_last(&first->padded, 1);
	bool types = true, rows = true, shapes = true;

	for (size_t i = 0; i < PARTS; i++) {
		const struct ttnn_tensor_spec *spec = &launch->inputs[i]->spec;

		types = types && spec->dtype == first->dtype;
		rows = rows && spec->layout == TTNN_ROW_MAJOR;
		shapes = shapes && ttnn_shape_equal(&spec->padded, &first->padded);
	}
	TT_REQUIRE(is_float(first),
		   "a_r.dtype() == tt::tt_metal::DataType::FLOAT32 || a_r.dtype() == "
		   "tt::tt_metal::DataType::BFLOAT16",
		   "complex_mul: only Float32 and BFloat16 inputs are supported (got %d).",
		   number_of(first->dtype));
	TT_REQUIRE(types,
		   "a_i.dtype() == a_r.dtype() && b_r.dtype() == a_r.dtype() && b_i.dtype() == "
		   "a_r.dtype()",
		   "complex_mul: all four input tensors must share the same dtype.");
	TT_REQUIRE(rows,
		   "a_r.layout() == tt::tt_metal::Layout::ROW_MAJOR && a_i.layout() == "
		   "tt::tt_metal::Layout::ROW_MAJOR && b_r.layout() == "
		   "tt::tt_metal::Layout::ROW_MAJOR && b_i.layout() == "
		   "tt::tt_metal::Layout::ROW_MAJOR",
		   "complex_mul: only ROW_MAJOR layout is supported.");
	TT_REQUIRE(shapes,
		   "a_r.padded_shape() == a_i.padded_shape() && a_r.padded_shape() == "
		   "b_r.padded_shape() && a_r.padded_shape() == b_i.padded_shape()",
		   "complex_mul: all four input tensors must share the same shape.");
	TT_REQUIRE(width >= 1 && width <= 1024, "P >= 1u && P <= 1024u",
		   "complex_mul: last-dim row length must be in [1, 1024] (got %u).", width);
	return TTNN_OK;
}

/* Rows go to as many cores as a power of two divides them; a row fills a tile of float32 at most. */
static tt_status product_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_shape *shape = &launch->inputs[A_REAL]->spec.padded;
	struct ttnn_core grid = launch->device->info.compute_grid;
	uint64_t rows = tt_shape_count(shape) / tt_shape_last(shape, 1), cores = 1;
	uint64_t tile = tt_page_f32(launch), small = tt_page_bf16(launch);
	bool is_small = launch->inputs[A_REAL]->spec.dtype == TTNN_BFLOAT16;
	struct tt_work_split split;

	while (rows && rows % (2 * cores) == 0 && 2 * cores <= (uint64_t)grid.x * grid.y)
		cores *= 2;
	TT_TRY(tt_split_work(&split, grid, cores, TTNN_ORIENT_ROW_MAJOR));
	for (uint32_t i = 0; i < 8; i++)
		TT_TRY(TT_PLAN(plan, split.all,
			       TT_DFB_ROW(i, NULL, .pages = i < 6 ? 2 : 1, .page = tile)));
	for (uint32_t i = 8; is_small && i < 12; i++)
		TT_TRY(TT_PLAN(plan, split.all, TT_DFB_ROW(i, NULL, .pages = 1, .page = small)));
	return TTNN_OK;
}

static tt_status product_kernel(struct tt_launch *launch)
{
	double *in[PARTS];
	uint64_t count = 0;
	float *out[2];

	for (size_t i = 0; i < PARTS; i++)
		TT_TRY(tt_values_of(&in[i], &count, launch, i));
	for (size_t i = 0; i < 2; i++) {
		out[i] = tt_arena_alloc(launch->arena, (count + 1) * sizeof(float));
		TT_NEED_MEMORY(out[i]);
	}
	for (uint64_t i = 0; i < count; i++) {
		out[0][i] = (float)(in[A_REAL][i] * in[B_REAL][i] - in[A_IMAG][i] * in[B_IMAG][i]);
		out[1][i] = (float)(in[A_REAL][i] * in[B_IMAG][i] + in[A_IMAG][i] * in[B_REAL][i]);
	}
	TT_TRY(tt_values_write(launch->outputs[0], out[0], TTNN_FLOAT32));
	return tt_values_write(launch->outputs[1], out[1], TTNN_FLOAT32);
}

static const struct tt_prog product_program = {
	.device_op = "ComplexMulDeviceOperation",
	.prim = "ttnn::prim::complex_mul",
	.attrs = &product_schema,
	.infer = product_infer,
	.validate = product_validate,
	TT_FACTORY("ttnn::experimental::prim::ComplexMulFactory", product_memory),
	TT_KERNEL(product_kernel),
	.mute = true,
	.drops_forward = true,
};

static const char *const part_names[PARTS] = {"a_real", "a_imag", "b_real", "b_imag"};

static tt_status product_expand(struct tt_call *call)
{
	static const struct ttnn_value none;
	struct tt_tensor *in[PARTS];

	for (size_t i = 0; i < PARTS; i++) {
		in[i] = tt_call_tensor(call, part_names[i]);
		TT_TRY(tt_need_device(in[i]));
	}
	return TT_LAUNCH_RETURN(call, &product_program, .attrs = &none, .inputs = in,
				.input_count = PARTS);
}

static tt_status golden_product(struct tt_golden *golden)
{
	const struct tt_array *in[PARTS];
	struct tt_array *real, *imag;

	for (size_t i = 0; i < PARTS; i++) {
		in[i] = tt_golden_in(golden, part_names[i]);
		TT_GOLDEN_NEED(in[i]);
	}
	real = tt_golden_out(golden, &in[0]->shape, in[0]->dtype);
	imag = tt_golden_out(golden, &in[0]->shape, in[0]->dtype);
	TT_GOLDEN_NEED(real && imag);
	for (uint64_t i = 0; i < real->count; i++) {
		double a = *tt_at(in[A_REAL], i), b = *tt_at(in[A_IMAG], i);
		double c = *tt_at(in[B_REAL], i), d = *tt_at(in[B_IMAG], i);

		/* three products instead of four */
		*tt_at(imag, i) = (a + b) * (c + d) - a * c - b * d;
		*tt_at(real, i) = a * c - b * d;
	}
	return TTNN_OK;
}

/* ---- planes ------------------------------------------------------------------------------------------------------ */

#define PLANE_ATTRS(X) X(UNUSED, "unused")
TT_ATTRS(plane_schema, "TransposeRmParams", PLANE_ATTRS);

static tt_status plane_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_shape shape = in->padded;
	uint32_t rank = shape.rank;

	if (rank == 1) {
		shape = TT_SHAPE(in->padded.dim[0], 1);
	} else if (rank) {
		shape.dim[rank - 2] = in->padded.dim[rank - 1];
		shape.dim[rank - 1] = in->padded.dim[rank - 2];
	}
	return tt_spec_simple(&launch->specs[0], &shape, in->dtype, in->layout, &in->memory);
}

static tt_status plane_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint32_t rows = tt_shape_last(&in->shape, 2), columns = tt_shape_last(&in->shape, 1);

	TT_REQUIRE(is_float(in),
		   "x.dtype() == tt::tt_metal::DataType::FLOAT32 || x.dtype() == "
		   "tt::tt_metal::DataType::BFLOAT16",
		   "transpose_rm: only Float32 and BFloat16 supported (got %d).",
		   number_of(in->dtype));
	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR, "x.layout() == tt::tt_metal::Layout::ROW_MAJOR",
		   "transpose_rm: only ROW_MAJOR layout supported.");
	TT_REQUIRE(in->shape.rank >= 2, "shape.size() >= 2",
		   "transpose_rm: input must have >=2 dims (got %u).", in->shape.rank);
	TT_REQUIRE(rows >= TT_TILE && rows % TT_TILE == 0, "A >= 32u && (A % 32u) == 0u",
		   "transpose_rm: A (second-to-last dim) must be a multiple of 32 and >=32 (got "
		   "%u).",
		   rows);
	TT_REQUIRE(columns >= TT_TILE && columns % TT_TILE == 0, "C >= 32u && (C % 32u) == 0u",
		   "transpose_rm: C (last dim) must be a multiple of 32 and >=32 (got %u).",
		   columns);
	return TTNN_OK;
}

/* A tile of a plane at a time. */
static tt_status plane_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid,
			     tt_shape_count(&in->shape) / (TT_TILE * TT_TILE),
			     TTNN_ORIENT_ROW_MAJOR));
	return TT_PLAN(plan, split.all,
		       TT_DFB_ROW(0, "tile", .pages = 2, .page = tt_tile_bytes_of(in->dtype)));
}

static tt_status plane_kernel(struct tt_launch *launch)
{
	struct tt_move_loop loops[TTNN_MAX_RANK];
	const struct ttnn_shape *in = &launch->inputs[0]->spec.shape;

	for (uint32_t i = 0; i < in->rank; i++) {
		uint32_t to = i + 2 < in->rank ? i : 2 * in->rank - 3 - i;

		loops[i] = (struct tt_move_loop){in->dim[i], (uint8_t)i, (uint8_t)to, 1, 1};
	}
	return tt_backend_get()->move(&(struct tt_move_job){.out = launch->outputs[0],
							    .in = launch->inputs[0],
							    .loops = loops,
							    .loop_count = in->rank});
}

static const struct tt_prog plane_program = {
	.device_op = "TransposeRmDeviceOperation",
	.prim = "ttnn::prim::transpose_rm",
	.attrs = &plane_schema,
	.infer = plane_infer,
	.validate = plane_validate,
	TT_FACTORY("ttnn::experimental::prim::TransposeRmFactory", plane_memory),
	TT_KERNEL(plane_kernel),
	.cost = tt_cost_unmodelled_move,
};

static tt_status plane_expand(struct tt_call *call)
{
	const struct ttnn_value unused = ttnn_v_int(0);
	struct tt_tensor *in = tt_call_tensor(call, "input");

	TT_TRY(tt_need_device(in));
	return TT_LAUNCH_RETURN(call, &plane_program, .attrs = &unused, TT_INPUTS(in));
}

static tt_status golden_plane(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input");
	uint64_t rows, columns;
	struct ttnn_shape shape;
	struct tt_array *out;

	TT_GOLDEN_NEED(in && in->shape.rank > 1);
	shape = in->shape;
	rows = shape.dim[tt_from_end(&shape, 2)];
	columns = shape.dim[tt_from_end(&shape, 1)];
	shape.dim[tt_from_end(&shape, 2)] = (uint32_t)columns;
	shape.dim[tt_from_end(&shape, 1)] = (uint32_t)rows;
	out = tt_golden_out(golden, &shape, in->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++)
		*tt_at(out, i / (rows * columns) * (rows * columns) + i % columns * rows +
				    i / columns % rows) = *tt_at(in, i);
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.complex_mul",
	 .doc = "Products of complex numbers whose parts are tensors of their own.",
	 .sigs = {"a_real: Tensor, a_imag: Tensor, b_real: Tensor, b_imag: Tensor"},
	 .expand = product_expand,
	 .golden = golden_product,
	 .gives = "Tensor, Tensor",
	 TT_PROGRAMS(&product_program)},
	{.name = "ttnn.experimental.transpose_rm",
	 .doc = "The last two dimensions change places, in rows.",
	 .sigs = {"input: Tensor"},
	 .expand = plane_expand,
	 .golden = golden_plane,
	 .pcc = 0.9999,
	 TT_PROGRAMS(&plane_program)},
};

const struct tt_op_family tt_family_rows_complex = {"rows_complex", ops, TT_COUNT(ops)};
