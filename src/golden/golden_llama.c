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
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t row = i / shape.dim[3], column = i % shape.dim[3];
		uint64_t chip = row / dim[1],
			 at[] = {0, row % dim[1], column / dim[3], column % dim[3]};
		const struct tt_array *in;

		if (chip >= mesh.count)
			continue;
		in = tt_golden_mesh_in(golden, "input_tensor", (uint32_t)chip * mesh.step);
		TT_NEED_MEMORY(in);
		*tt_at(out, i) = *tt_at(in, tt_array_index(in, at));
	}
	return TTNN_OK;
}
