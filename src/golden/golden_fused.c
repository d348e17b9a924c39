/*
 * golden_fused.c: goldens of operations that are a collective and something else, as two steps after one another: parts put
 * together or added up, and products as sums over float64.
 */
#include "golden/golden_fused.h"

#include <math.h>

#include "device/device.h"
#include "device/devtensor.h"
#include "golden/golden_collective.h"
#include "golden/golden_matmul.h"
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
	uint64_t rows;

	if (!columns)
		return TTNN_OK;
	rows = out->count / columns;
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
		shape.dim[tt_from_end(&shape, 2)] = tt_shape_last(a, 1);
	shape.dim[tt_from_end(&shape, 1)] =
		tt_shape_last(b, tt_call_bool(&golden->call, "transpose_b", false) ? 2 : 1);
	return shape;
}

/* Rows of all chips one behind the other: a result, or only on the way. */
static tt_status gathered(struct tt_array **out, struct tt_golden *golden, const char *name,
			  bool result)
{
	struct tt_tensor *in = tt_call_tensor(&golden->call, name);
	struct ttnn_shape shape;
	uint64_t width, own;
	struct tt_golden_mesh mesh;

	TT_TRY(tt_golden_mesh_find(&mesh, golden, name));
	shape = in->spec.shape;
	own = tt_shape_last(&shape, 1);
	TT_NEED(shape.rank >= 2 && own, "the golden of a product needs rows");
	width = own * mesh.count;
	shape.dim[tt_from_end(&shape, 1)] = (uint32_t)width;
	*out = result ? tt_golden_out(golden, &shape, in->spec.dtype)
		      : tt_golden_temp(golden, &shape);
	TT_NEED_MEMORY(*out);
	for (uint32_t chip = 0; chip < mesh.count; chip++) {
		const struct tt_array *part = tt_golden_mesh_in(golden, name, chip * mesh.step);

		TT_NEED_MEMORY(part);
		for (uint64_t i = 0; i < part->count; i++)
			*tt_at(*out, i / own * width + chip * own + i % own) = *tt_at(part, i);
	}
	return TTNN_OK;
}

tt_status tt_golden_gather_matmul(struct tt_golden *golden)
{
	const struct tt_array *weight, *bias = tt_golden_mesh_in(golden, "bias", 0);
	enum ttnn_dtype dtype = tt_golden_tensor(golden, "input_tensor")->spec.dtype;
	struct tt_array *all, *out;
	struct ttnn_shape shape;

	TT_TRY(gathered(&all, golden, "input_tensor", true));
	weight = tt_golden_mesh_in(golden, "weight_tensor", 0);
	TT_NEED_MEMORY(weight);
	shape = all->shape;
	shape = product_shape(golden, &shape, &weight->shape);
	out = tt_golden_out(golden, &shape, tt_call_dtype(&golden->call, "dtype", dtype));
	return out ? product(out, golden, all, weight, bias) : tt_fail_nomem();
}

/* Products of all chips, added up: that of the first chip, and its part of the sum; the result is of another type, if any. */
static tt_status scattered(struct tt_array **result, struct tt_golden *golden,
			   const struct tt_tensor *given)
{
	const struct tt_tensor *in = tt_call_tensor(&golden->call, "input_tensor");
	struct tt_golden_mesh mesh;
	struct tt_array *own = NULL, *out = NULL;
	struct ttnn_shape shape;
	enum ttnn_dtype dtype;

	TT_TRY(tt_golden_mesh_find(&mesh, golden, "input_tensor"));
	dtype = tt_call_dtype(&golden->call, "dtype", in->spec.dtype);
	TT_NEED(in->spec.shape.rank >= 2, "the golden of a product needs rows");
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
			shape.dim[tt_from_end(&shape, 1)] /= mesh.count;
			out = tt_golden_out(golden, &shape, given ? given->spec.dtype : dtype);
		}
		TT_NEED_MEMORY(one && out ? one : NULL);
		TT_TRY(product(one, golden, a, b, bias));
		TT_TRY(tt_golden_activate(one, golden,
					  tt_call_arg(&golden->call, "fused_activation")));
		width = tt_shape_last(&one->shape, 1);
		part = tt_shape_last(&out->shape, 1);
		for (uint64_t k = 0; k < out->count; k++)
			*tt_at(out, k) += *tt_at(one, k / part * width + k % part);
	}
	*result = out;
	return own ? TTNN_OK : tt_fail_nomem();
}

tt_status tt_golden_matmul_scatter(struct tt_golden *golden)
{
	struct tt_array *out;

	return scattered(&out, golden, tt_call_tensor(&golden->call, "persistent_output_buffer"));
}

/* The product of a chip with this argument: the first chip's as a result, or only on the way. */
static tt_status one_product(struct tt_array **out, struct tt_golden *golden, const char *weights,
			     uint32_t chip)
{
	const struct tt_tensor *in = tt_call_tensor(&golden->call, "input_tensor");
	const struct tt_array *a = tt_golden_mesh_in(golden, "input_tensor", chip);
	const struct tt_array *b = tt_golden_mesh_in(golden, weights, chip);
	const struct ttnn_value *activation = tt_golden_config_activation(golden);
	enum ttnn_dtype dtype = tt_call_dtype(&golden->call, "dtype", in->spec.dtype);
	struct ttnn_shape shape;

	TT_NEED_MEMORY(a && b ? a : NULL);
	shape = product_shape(golden, &a->shape, &b->shape);
	*out = chip ? tt_golden_temp(golden, &shape) : tt_golden_out(golden, &shape, dtype);
	TT_NEED_MEMORY(*out);
	TT_TRY(product(*out, golden, a, b, NULL));
	return tt_golden_activate(*out, golden, activation);
}

/* The first of two products is what is added up. */
tt_status tt_golden_llama_rs_matmul(struct tt_golden *golden)
{
	const struct tt_tensor *in = tt_call_tensor(&golden->call, "input_tensor");
	const struct ttnn_memory_config *memory = tt_call_memory(&golden->call, "memory_config_mm");
	struct tt_array *own, *one, *also, *sum;
	struct tt_golden_mesh mesh;

	TT_TRY(one_product(&own, golden, "weight_tensor", 0));
	if (!tt_call_tensor(&golden->call, "second_weight_tensor"))
		return tt_golden_shards_added(golden, "rs_tensor");
	TT_TRY(one_product(&also, golden, "second_weight_tensor", 0));
	TT_TRY(tt_golden_mesh_find(&mesh, golden, "input_tensor"));
	sum = tt_golden_temp(golden, &own->shape);
	TT_NEED_MEMORY(sum);
	for (uint32_t i = 0; i < mesh.count; i++) {
		one = own;
		if (i)
			TT_TRY(one_product(&one, golden, "weight_tensor", i * mesh.step));
		for (uint64_t k = 0; k < sum->count; k++)
			*tt_at(sum, k) += *tt_at(one, k);
	}
	return tt_golden_first_part(
		golden,
		&(struct tt_golden_shards){sum, memory ? memory : &in->spec.memory, mesh.count,
					   tt_call_dtype(&golden->call, "dtype", in->spec.dtype)});
}

tt_status tt_golden_llama_gather_matmul(struct tt_golden *golden)
{
	const struct tt_tensor *in = tt_call_tensor(&golden->call, "input_tensor0");
	const struct tt_array *weight = tt_golden_mesh_in(golden, "input_tensor1", 0);
	struct tt_array *all, *out;
	struct ttnn_shape shape;

	TT_NEED_MEMORY(weight);
	TT_TRY(gathered(&all, golden, "input_tensor0", false));
	shape = product_shape(golden, &all->shape, &weight->shape);
	out = tt_golden_out(golden, &shape, tt_call_dtype(&golden->call, "dtype", in->spec.dtype));
	TT_NEED_MEMORY(out);
	TT_TRY(product(out, golden, all, weight, NULL));
	return tt_golden_activate(out, golden, tt_golden_config_activation(golden));
}

/* ---- products in blocks --------------------------------------------------------------------------------------------- */

/* What an operation calls its arguments. */
struct names {
	const char *bias, *added, *gate, *scalar;
};

/* The column of the product that is the gate of a column of the result; 32 behind it is what is gated. */
static uint64_t gate_column(uint64_t column)
{
	return column / 32 * 64 + column % 32;
}

/* silu(gate) x up, in turns of 32 columns; or as it is. */
static tt_status paired(struct tt_array **out, struct tt_golden *golden, struct tt_array *whole)
{
	struct ttnn_shape shape = whole->shape;
	uint64_t half = tt_shape_last(&shape, 1) / 2;

	*out = whole;
	if (!half || !tt_call_bool(&golden->call, "fuse_swiglu", false))
		return TTNN_OK;
	shape.dim[tt_from_end(&shape, 1)] = (uint32_t)half;
	*out = tt_golden_temp(golden, &shape);
	TT_NEED_MEMORY(*out);
	for (uint64_t i = 0; i < (*out)->count; i++) {
		uint64_t at = i / half * 2 * half + gate_column(i % half);
		double gate = *tt_at(whole, at);

		*tt_at(*out, i) = gate / (1 + exp(-gate)) * *tt_at(whole, at + 32);
	}
	return TTNN_OK;
}

/* added + scalar x product x gate, where these are given. */
static tt_status gated(struct tt_array *out, struct tt_golden *golden, const struct names *names)
{
	const struct tt_array *added = tt_golden_mesh_in(golden, names->added, 0);
	const struct tt_array *gate = tt_golden_mesh_in(golden, names->gate, 0);
	double scalar = tt_call_real(&golden->call, names->scalar, 1);
	uint64_t at[TTNN_MAX_RANK];

	for (uint64_t i = 0; added && gate && i < out->count; i++) {
		tt_array_coordinate(at, out, i);
		*tt_at(out, i) =
			tt_array_broadcast(added, &out->shape, at) +
			scalar * *tt_at(out, i) * tt_array_broadcast(gate, &out->shape, at);
	}
	return TTNN_OK;
}

/* Columns from `from` on, as many as a chunk has, as a result. */
static tt_status chunk(uint64_t *from, struct tt_golden *golden, const struct tt_array *whole,
		       uint32_t columns)
{
	enum ttnn_dtype dtype = tt_golden_tensor(golden, "input_tensor")->spec.dtype;
	struct ttnn_shape shape = whole->shape;
	uint64_t width = tt_shape_last(&shape, 1);
	struct tt_array *out;

	shape.dim[tt_from_end(&shape, 1)] = columns;
	out = tt_golden_out(golden, &shape, tt_call_dtype(&golden->call, "dtype", dtype));
	TT_NEED_MEMORY(out);
	for (uint64_t i = 0; i < out->count; i++)
		*tt_at(out, i) = *tt_at(whole, i / columns * width + *from + i % columns);
	*from += columns;
	return TTNN_OK;
}

/* The weights as the first chip has them in the end: gathered along the other axis, if at all. */
static const struct tt_array *weights_of(struct tt_golden *golden)
{
	const struct tt_device *device = tt_golden_device(golden, "weight_tensor");
	int64_t axis = tt_call_int(&golden->call, "fsdp_cluster_axis", -1);
	const struct tt_array *own = tt_golden_mesh_in(golden, "weight_tensor", 0);
	uint32_t chips = axis == 0 ? device->rows : device->cols;
	struct ttnn_shape shape;
	struct tt_array *all;

	if (axis < 0 || !own)
		return own;
	shape = own->shape;
	shape.dim[tt_from_end(&shape, 2)] *= chips;
	all = tt_golden_temp(golden, &shape);
	for (uint32_t chip = 0; all && chip < chips; chip++) {
		own = tt_golden_mesh_in(golden, "weight_tensor",
					chip * (axis == 0 ? device->cols : 1));
		for (uint64_t i = 0; own && i < own->count; i++)
			*tt_at(all, chip * own->count + i) = *tt_at(own, i);
	}
	return all;
}

static tt_status minimal(struct tt_golden *golden, const struct names *names, bool result)
{
	const struct ttnn_value *widths = tt_call_arg(&golden->call, "chunk_sizes");
	const struct tt_array *bias = tt_golden_mesh_in(golden, names->bias, 0), *weight;
	uint32_t chunks = (uint32_t)tt_call_int(&golden->call, "chunks", 1);
	struct tt_array *all, *whole;
	struct ttnn_shape shape;
	uint64_t from = 0;

	TT_TRY(gathered(&all, golden, "input_tensor", result));
	weight = weights_of(golden);
	TT_NEED_MEMORY(weight);
	shape = product_shape(golden, &all->shape, &weight->shape);
	whole = tt_golden_temp(golden, &shape);
	TT_NEED_MEMORY(whole);
	TT_TRY(product(whole, golden, all, weight, bias));
	TT_TRY(tt_golden_activate(whole, golden, tt_call_arg(&golden->call, "fused_activation")));
	TT_TRY(paired(&whole, golden, whole));
	TT_TRY(gated(whole, golden, names));
	for (uint32_t i = 0; i < chunks; i++) {
		int64_t columns = tt_shape_last(&whole->shape, 1) / chunks;

		if (widths->kind == TTNN_VALUE_LIST && i < widths->count)
			tt_value_integer(&columns, &widths->items[i]);
		TT_TRY(chunk(&from, golden, whole, (uint32_t)columns));
	}
	return TTNN_OK;
}

tt_status tt_golden_gather_minimal(struct tt_golden *golden)
{
	static const struct names names = {"bias_tensor", "addcmul_input_tensor1",
					   "addcmul_input_tensor2", "scalar"};

	return minimal(golden, &names, false);
}

tt_status tt_golden_strided_minimal(struct tt_golden *golden)
{
	static const struct names names = {"bias", "fused_ternary_input_a", "fused_ternary_input_b",
					   "fused_ternary_scalar"};

	return minimal(golden, &names, true);
}

tt_status tt_golden_minimal_scatter(struct tt_golden *golden)
{
	static const struct names names = {"bias", "addcmul_input_tensor1", "addcmul_input_tensor2",
					   "fused_ternary_scalar"};
	struct tt_array *out;

	TT_TRY(scattered(&out, golden, tt_call_tensor(&golden->call, "optional_rs_output_tensor")));
	return gated(out, golden, &names);
}
