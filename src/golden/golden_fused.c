/*
 * golden_fused.c: goldens of operations that are a collective and something else, as two steps after one another: parts put
 * together or added up, and products as sums over float64.
 */
#include "golden/golden_fused.h"

#include <string.h>

#include "golden/golden_mesh.h"

/* rows x depth times depth x columns, each the last two dimensions of what it comes from. */
static tt_status product(struct tt_array *out, const struct tt_golden *golden,
			 const struct tt_array *a, const struct tt_array *b,
			 const struct tt_array *bias)
{
	bool turned_a = tt_call_bool(&golden->call, "transpose_a", false);
	bool turned_b = tt_call_bool(&golden->call, "transpose_b", false);
	uint64_t columns = tt_shape_last(&out->shape, 1);
	uint64_t depth = tt_shape_last(&a->shape, turned_a ? 2 : 1);
	uint64_t rows = columns ? out->count / columns : 0;

	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t r = i / columns, c = i % columns;
		double sum = bias ? *tt_at(bias, c) : 0;

		for (uint64_t k = 0; k < depth; k++)
			sum += *tt_at(a, turned_a ? k * rows + r : r * depth + k) *
			       *tt_at(b, turned_b ? c * depth + k : k * columns + c);
		*tt_at(out, i) = sum;
	}
	return TTNN_OK;
}

/* The shape of a product with these rows. */
static struct ttnn_shape product_shape(const struct tt_golden *golden, const struct ttnn_shape *a,
				       const struct ttnn_shape *b)
{
	struct ttnn_shape shape = *a;

	if (tt_call_bool(&golden->call, "transpose_a", false) && shape.rank > 1)
		shape.dim[shape.rank - 2] = tt_shape_last(a, 1);
	shape.dim[shape.rank - 1] =
		tt_shape_last(b, tt_call_bool(&golden->call, "transpose_b", false) ? 2 : 1);
	return shape;
}

tt_status tt_golden_gather_matmul(struct tt_golden *golden)
{
	struct ttnn_shape shape = tt_call_tensor(&golden->call, "input_tensor")->spec.shape;
	const struct tt_array *weight, *bias = tt_golden_mesh_in(golden, "bias", 0);
	enum ttnn_dtype dtype = tt_call_tensor(&golden->call, "input_tensor")->spec.dtype;
	struct tt_golden_mesh mesh;
	struct tt_array *all, *out;
	uint64_t width, own = tt_shape_last(&shape, 1);

	TT_TRY(tt_golden_mesh_find(&mesh, golden, "input_tensor"));
	width = own * mesh.count;
	shape.dim[shape.rank - 1] = (uint32_t)width;
	all = tt_golden_out(golden, &shape, dtype);
	weight = tt_golden_mesh_in(golden, "weight_tensor", 0);
	TT_NEED_MEMORY(all && weight ? all : NULL);
	for (uint32_t chip = 0; chip < mesh.count; chip++) {
		const struct tt_array *part =
			tt_golden_mesh_in(golden, "input_tensor", chip * mesh.step);

		TT_NEED_MEMORY(part);
		for (uint64_t i = 0; i < part->count; i++)
			*tt_at(all, i / own * width + chip * own + i % own) = *tt_at(part, i);
	}
	shape = product_shape(golden, &shape, &weight->shape);
	out = tt_golden_out(golden, &shape, tt_call_dtype(&golden->call, "dtype", dtype));
	return out ? product(out, golden, all, weight, bias) : tt_fail_nomem();
}

tt_status tt_golden_matmul_scatter(struct tt_golden *golden)
{
	const struct tt_tensor *in = tt_call_tensor(&golden->call, "input_tensor");
	const struct tt_tensor *given = tt_call_tensor(&golden->call, "persistent_output_buffer");
	enum ttnn_dtype dtype = tt_call_dtype(&golden->call, "dtype", in->spec.dtype);
	struct tt_golden_mesh mesh;
	struct tt_array *own = NULL, *out = NULL;
	struct ttnn_shape shape;

	TT_TRY(tt_golden_mesh_find(&mesh, golden, "input_tensor"));
	for (uint32_t i = 0; i < mesh.count; i++) {
		uint32_t chip = i * mesh.step;
		const struct tt_array *a = tt_golden_mesh_in(golden, "input_tensor", chip);
		const struct tt_array *b = tt_golden_mesh_in(golden, "weight_tensor", chip);
		const struct tt_array *bias = tt_golden_mesh_in(golden, "bias", chip);
		struct tt_array *one;
		uint64_t width, part;

		TT_NEED_MEMORY(a && b ? a : NULL);
		shape = product_shape(golden, &a->shape, &b->shape);
		one = i ? tt_golden_temp(golden, &shape) : tt_golden_out(golden, &shape, dtype);
		if (i == 0) {
			own = one;
			shape.dim[shape.rank - 1] /= mesh.count;
			out = tt_golden_out(golden, &shape, given->spec.dtype);
		}
		TT_NEED_MEMORY(one && out ? one : NULL);
		TT_TRY(product(one, golden, a, b, bias));
		width = tt_shape_last(&one->shape, 1);
		part = tt_shape_last(&out->shape, 1);
		for (uint64_t k = 0; k < out->count; k++)
			*tt_at(out, k) += *tt_at(one, k / part * width + k % part);
	}
	return own ? TTNN_OK : tt_fail_nomem();
}
