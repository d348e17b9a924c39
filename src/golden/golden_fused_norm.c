/*
 * golden_fused_norm.c: goldens of norms of rows that lie across chips: sums over all of a row, then what the first chip
 * has of it, head by head.
 */
#include <math.h>

#include "device/device.h"
#include "golden/golden_fused.h"
#include "golden/golden_mesh.h"

/* What a row, or a head of it, is brought to a scale by. */
struct scale {
	double mean, factor;
};

/* Of elements `from` on, so many, of a row on each of these chips. */
static tt_status scale_of(struct scale *out, struct tt_golden *golden,
			  const struct tt_golden_mesh *mesh, uint64_t from, uint64_t count)
{
	bool layer = golden->op->row != NULL;
	double sum = 0, squares = 0, all = (double)(mesh->count * count);

	for (int pass = 0; pass < 2; pass++) {
		out->mean = pass && layer ? sum / all : 0;
		for (uint32_t i = 0; i < mesh->count; i++) {
			const struct tt_array *in =
				tt_golden_mesh_in(golden, "input_tensor", i * mesh->step);

			if (!in)
				return tt_fail_nomem();
			for (uint64_t k = 0; k < count; k++) {
				double x = *tt_at(in, from + k) - out->mean;

				sum += pass ? 0 : x;
				squares += pass ? x * x : 0;
			}
		}
	}
	out->factor = 1 / sqrt(squares / all + tt_call_real(&golden->call, "epsilon", 1e-5));
	return TTNN_OK;
}

/* Rows of the input, scaled and shifted. */
static tt_status scaled(struct tt_array **out, struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_mesh_in(golden, "input_tensor", 0);
	const struct tt_array *weight = tt_golden_mesh_in(golden, "weight", 0);
	const struct tt_array *bias = tt_golden_mesh_in(golden, "bias", 0);
	uint32_t heads = (uint32_t)tt_call_int(&golden->call, "num_heads_per_device", 1);
	bool each = tt_call_bool(&golden->call, "per_head_norm", false);
	struct tt_golden_mesh mesh;
	struct scale scale = {0};
	uint64_t at[TTNN_MAX_RANK], width;

	TT_TRY(tt_golden_mesh_find(&mesh, golden, "input_tensor"));
	if (each || !tt_value_given(tt_call_arg(&golden->call, "cluster_axis")))
		mesh = (struct tt_golden_mesh){1, 1};
	*out = in ? tt_golden_temp(golden, &in->shape) : NULL;
	TT_NEED_MEMORY(*out);
	width = in->shape.dim[3] / (each ? heads : 1);
	for (uint64_t i = 0; i < in->count; i++) {
		if (i % width == 0)
			TT_TRY(scale_of(&scale, golden, &mesh, i, width));
		tt_array_coordinate(at, in, i);
		*tt_at(*out, i) = (*tt_at(in, i) - scale.mean) * scale.factor;
		if (weight)
			*tt_at(*out, i) *= tt_array_broadcast(weight, &in->shape, at);
		if (bias)
			*tt_at(*out, i) += tt_array_broadcast(bias, &in->shape, at);
	}
	return TTNN_OK;
}

/* A table's value for a batch, head, row and column: it may have one for all batches, and heads. */
static double angle(const struct tt_array *table, const uint64_t *place)
{
	const uint64_t at[TTNN_MAX_RANK] = {table->shape.dim[0] > 1 ? place[0] : 0,
					    table->shape.dim[1] > 1 ? place[1] : 0, place[2],
					    place[3]};

	return *tt_at(table, tt_array_index(table, at));
}

static tt_status fused_norm(struct tt_golden *golden)
{
	const struct tt_tensor *in = tt_call_tensor(&golden->call, "input_tensor");
	const uint32_t *dim = in->spec.shape.dim;
	uint32_t heads = (uint32_t)tt_call_int(&golden->call, "num_heads_per_device", 1);
	uint64_t width;
	struct ttnn_shape shape;
	const struct tt_array *matrix = tt_golden_mesh_in(golden, "transformation_mat", 0),
			      *cos = tt_golden_mesh_in(golden, "rope_cos", 0),
			      *sin = tt_golden_mesh_in(golden, "rope_sin", 0);
	struct tt_array *rows, *out;

	TT_NEED(in->spec.shape.rank == 4 && heads && dim[3] >= heads,
		"rows of %u elements have not %u heads", dim[3], heads);
	width = dim[3] / heads;
	shape = TT_SHAPE(1, heads > 1 ? heads : dim[1], heads > 1 ? dim[1] * dim[2] : dim[2],
			 (uint32_t)width);
	TT_TRY(scaled(&rows, golden));
	out = tt_golden_out(golden, &shape, tt_call_dtype(&golden->call, "dtype", in->spec.dtype));
	for (uint64_t i = 0; out && i < out->count; i++) {
		uint64_t head = i / width / (dim[1] * dim[2]), row = i / width % (dim[1] * dim[2]);
		uint64_t column = i % width, from = row * dim[3] + head * width;
		const uint64_t place[TTNN_MAX_RANK] = {row / dim[2], head, row % dim[2], column};
		double turned = 0;

		*tt_at(out, i) = *tt_at(rows, from + column);
		if (!cos || !sin || !matrix)
			continue;
		for (uint64_t k = 0; k < 32; k++)
			turned += *tt_at(rows, from + column / 32 * 32 + k) *
				  *tt_at(matrix, k * 32 + column % 32);
		*tt_at(out, i) = *tt_at(out, i) * angle(cos, place) + turned * angle(sin, place);
	}
	return out ? TTNN_OK : tt_fail_nomem();
}

tt_status tt_golden_fused_rms(struct tt_golden *golden)
{
	return fused_norm(golden);
}

tt_status tt_golden_fused_layer(struct tt_golden *golden)
{
	return fused_norm(golden);
}

/* What a row is brought to a scale by: squares of what all chips have of it, with what is added to it. */
static tt_status row_factor(double *out, struct tt_golden *golden,
			    const struct tt_golden_mesh *mesh, uint64_t row, uint64_t width)
{
	bool adds = tt_call_tensor(&golden->call, "residual_input_tensor") != NULL;
	double squares = 0;

	for (uint32_t i = 0; i < mesh->count; i++) {
		const struct tt_array *in =
			tt_golden_mesh_in(golden, "input_tensor", i * mesh->step);
		const struct tt_array *added =
			tt_golden_mesh_in(golden, "residual_input_tensor", i * mesh->step);

		TT_NEED_MEMORY(in && (added || !adds));
		for (uint64_t k = row * width; k < (row + 1) * width; k++)
			squares += pow(*tt_at(in, k) + (adds ? *tt_at(added, k) : 0), 2);
	}
	*out = 1 / sqrt(squares / (double)(mesh->count * width) +
			tt_call_real(&golden->call, "epsilon", 1e-12));
	return TTNN_OK;
}

tt_status tt_golden_rms_minimal(struct tt_golden *golden)
{
	const struct tt_tensor *input = tt_call_tensor(&golden->call, "input_tensor");
	const struct tt_array *in = tt_golden_mesh_in(golden, "input_tensor", 0);
	const struct tt_array *added = tt_golden_mesh_in(golden, "residual_input_tensor", 0);
	const struct tt_array *weight = tt_golden_mesh_in(golden, "weight", 0);
	enum ttnn_dtype dtype = tt_call_dtype(&golden->call, "dtype", input->spec.dtype);
	uint64_t width = tt_shape_last(&input->spec.shape, 1);
	struct tt_array *out = tt_golden_out(golden, &input->spec.shape, dtype);
	struct tt_golden_mesh mesh;
	double factor = 0;

	TT_NEED_MEMORY(out && in && weight);
	TT_TRY(tt_golden_mesh_find(&mesh, golden, "input_tensor"));
	for (uint64_t i = 0; i < out->count; i++) {
		if (i % width == 0)
			TT_TRY(row_factor(&factor, golden, &mesh, i / width, width));
		*tt_at(out, i) = (*tt_at(in, i) + (added ? *tt_at(added, i) : 0)) * factor *
				 *tt_at(weight, i % width);
	}
	return TTNN_OK;
}
