/* golden_llama.c: goldens of fused collectives of Llama, number by number: who has a number of the result, and where. */
#include "golden/golden_fused.h"
#include "golden/golden_mesh.h"

tt_status tt_golden_gather_concat(struct tt_golden *golden)
{
	const struct tt_tensor *tensor = tt_call_tensor(&golden->call, "input_tensor");
	uint64_t heads = (uint64_t)tt_call_int(&golden->call, "num_heads", 1);
	const uint32_t *dim = tensor->spec.shape.dim;
	const struct ttnn_shape shape = {4, {1, 1, 32, (uint32_t)heads * dim[3]}};
	struct tt_array *out = tt_golden_out(golden, &shape, tensor->spec.dtype);
	struct tt_golden_mesh mesh;

	TT_NEED_MEMORY(out);
	TT_TRY(tt_golden_mesh_find(&mesh, golden, "input_tensor"));
	for (uint32_t chip = 0; chip < mesh.count; chip++) {
		const struct tt_array *in =
			tt_golden_mesh_in(golden, "input_tensor", chip * mesh.step);

		TT_NEED_MEMORY(in);
		for (uint64_t i = 0; i < out->count; i++) {
			uint64_t row = i / shape.dim[3], column = i % shape.dim[3];
			uint64_t at[TTNN_MAX_RANK] = {0, row % dim[1], column / dim[3],
						      column % dim[3]};

			if (row / dim[1] == chip)
				*tt_at(out, i) = *tt_at(in, tt_array_index(in, at));
		}
	}
	return TTNN_OK;
}

/* Heads from `first` on of rows from `row` on, as a result. */
static tt_status heads_of(struct tt_golden *golden, const struct tt_array *sum, uint64_t row,
			  const struct ttnn_shape *shape, uint64_t first)
{
	struct tt_array *out = tt_golden_out(golden, shape, TTNN_BFLOAT16);
	uint64_t at[TTNN_MAX_RANK];

	TT_NEED_MEMORY(out);
	for (uint64_t i = 0; i < out->count; i++) {
		tt_array_coordinate(at, out, i);
		*tt_at(out, i) = *tt_at(sum, (row + at[1]) * sum->shape.dim[3] +
						     (first + at[2]) * shape->dim[3] + at[3]);
	}
	return TTNN_OK;
}

tt_status tt_golden_reduce_heads(struct tt_golden *golden)
{
	const struct tt_tensor *tensor = tt_call_tensor(&golden->call, "input_tensor");
	const struct tt_array *offset = tt_golden_mesh_in(golden, "batch_offset", 0);
	uint32_t heads = (uint32_t)tt_call_int(&golden->call, "num_heads", 1);
	uint32_t kv = (uint32_t)tt_call_int(&golden->call, "num_kv_heads", heads);
	uint32_t users = tensor->spec.shape.dim[2], width = tensor->spec.shape.dim[3];
	struct ttnn_shape shape = {4,
				   {1, (uint32_t)tt_call_int(&golden->call, "slice_size", users),
				    heads, width / (heads + 2 * kv)}};
	struct tt_array *sum = tt_golden_out(golden, &tensor->spec.shape, TTNN_BFLOAT16);
	struct tt_golden_mesh mesh;

	TT_NEED_MEMORY(sum && offset);
	TT_TRY(tt_golden_mesh_find(&mesh, golden, "input_tensor"));
	for (uint32_t chip = 0; chip < mesh.count; chip++) {
		const struct tt_array *in =
			tt_golden_mesh_in(golden, "input_tensor", chip * mesh.step);

		TT_NEED_MEMORY(in);
		for (uint64_t i = 0; i < sum->count; i++)
			*tt_at(sum, i) += *tt_at(in, i);
	}
	TT_TRY(heads_of(golden, sum, (uint64_t)*tt_at(offset, 0), &shape, 0));
	shape.dim[2] = kv;
	TT_TRY(heads_of(golden, sum, (uint64_t)*tt_at(offset, 0), &shape, heads));
	return heads_of(golden, sum, (uint64_t)*tt_at(offset, 0), &shape, heads + kv);
}
