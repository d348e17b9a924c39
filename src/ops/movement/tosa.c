/*
 * tosa.c: gather and scatter as the TOSA specification has them: rows of C values, taken or set by an index of W
 * rows for each of N batches. Upstream makes them of gather and of the program of scatter.
 */

#include "golden/golden_movement.h"
#include "ops/movement/movement.h"
#include "ops/recipe.h"

/* The index for each of C values: [N, W, C]. */
#define WIDE "e = expand~(unsqueeze~(index, -1), shape); "

struct extents {
	struct ttnn_value list[3];
};

/* The recipes of this file share their names. */
static tt_status tosa_run(struct tt_call *call, const char *text, const struct extents *extents)
{
	struct tt_tensor *in = tt_call_tensor(call, "input");
	const struct tt_recipe_name names[] = {
		{"shape", ttnn_v_list(extents->list, 3)},
		{"mem", ttnn_v_memory(tt_memory_or_like(call, in))},
		{"rows", ttnn_v_layout(TTNN_ROW_MAJOR)},
		{"layout", ttnn_v_layout(in->spec.layout)},
		{"u16", ttnn_v_dtype(TTNN_UINT16)},
		{"device", ttnn_v_device(tt_tensor_device(in))},
	};

	return tt_recipe_run(
		call,
		&(struct tt_recipe){.text = text, .names = names, .name_count = TT_COUNT(names)});
}

/* [N, K, C] and [N, W] give [N, W, C]. */
static tt_status expand_gather(struct tt_call *call)
{
	const struct ttnn_shape *in = &tt_call_tensor(call, "input")->spec.shape;
	const struct ttnn_shape *index = &tt_call_tensor(call, "index")->spec.shape;
	struct extents wide;

	TT_REQUIRE(in->rank == 3, "input_tensor_rank == input_tensor_rank_constraint",
		   "Input tensor rank must be 3, got: %u", in->rank);
	TT_REQUIRE(index->rank == 2,
		   "input_index_tensor_rank == input_index_tensor_rank_constraint",
		   "Index tensor rank must be 2, got: %u", index->rank);
	TT_REQUIRE(in->dim[0] == index->dim[0], "N == original_input_index_tensor_lshape[0]",
		   "Index tensor first dimension must be equal to input tensor first dimension");
	wide = (struct extents){
		{ttnn_v_int(in->dim[0]), ttnn_v_int(index->dim[1]), ttnn_v_int(in->dim[2])}};
	return tosa_run(call, WIDE "return gather~(input, 1, e, memory_config=mem)", &wide);
}

/* Ranks as the specification has them; all three texts name the input's rank. */
static tt_status check_scatter(const struct ttnn_shape *in, const struct ttnn_shape *index,
			       const struct ttnn_shape *source)
{
	static const char rank[] =
		"According to TOSA specification, %s tensor must be of rank %d, it is %u instead.";

	TT_REQUIRE(in->rank == 3, "input_shape.rank() == INPUT_RANK_CONSTRAINT", rank, "input", 3,
		   in->rank);
	TT_REQUIRE(index->rank == 2, "index_shape.rank() == INDEX_RANK_CONSTRAINT", rank, "index",
		   2, in->rank);
	TT_REQUIRE(source->rank == 3, "source_shape.rank() == SOURCE_RANK_CONSTRAINT", rank,
		   "source", 3, in->rank);
	if (in->dim[0] != source->dim[0])
		return tt_fail_shapes(TTNN_INVALID, "input_shape[0] == source_shape[0]",
				      "Input shape has a different dimension N than source shape "
				      "(input shape: %s, source shape: %s).",
				      in, source);
	if (in->dim[2] != source->dim[2])
		return tt_fail_shapes(TTNN_INVALID, "input_shape[2] == source_shape[2]",
				      "Input shape has a different dimension C than source shape "
				      "(input shape: %s, source shape: %s).",
				      in, source);
	if (in->dim[0] != index->dim[0])
		return tt_fail_shapes(TTNN_INVALID, "input_shape[0] == index_shape[0]",
				      "Input shape has a different dimension C than index shape "
				      "(input shape: %s, index shape: %s).",
				      in, index);
	if (index->dim[1] != source->dim[1])
		return tt_fail_shapes(TTNN_INVALID, "index_shape[1] == source_shape[1]",
				      "Index shape has a different dimension W than source shape "
				      "(index shape: %s, source shape: %s).",
				      index, source);
	return TTNN_OK;
}

/* The values of a batch are laid across, so that the program scatters along rows. */
#define ACROSS(name) name " = transpose~(" name ", -2, -1); "
#define IN_ROWS(name) name " = to_layout~(" name ", rows); "
#define IN_4D(name) name " = unsqueeze_to_4D~(" name "); "
#define INDEX WIDE "e = from_device~(e); e = to_dtype~(e, u16); e = Tensor.to~(e, device); "
#define SCATTER                                                                                    \
	"y = scatter~(x, -1, e, s, memory_config=mem); z = transpose~(y, -2, -1); z = squeeze~(z, 0); "

/* By scatter along the last dimension of the transposed tensor. */
static tt_status expand_scatter(struct tt_call *call)
{
	const struct ttnn_tensor_spec *in = &tt_call_tensor(call, "input")->spec;
	const struct ttnn_shape *index = &tt_call_tensor(call, "index")->spec.shape;
	struct extents wide;

	TT_TRY(check_scatter(&in->shape, index, &tt_call_tensor(call, "src")->spec.shape));
	wide = (struct extents){{ttnn_v_int(in->shape.dim[0]), ttnn_v_int(index->dim[1]),
				 ttnn_v_int(in->shape.dim[2])}};
	if (in->layout == TTNN_ROW_MAJOR)
		return tosa_run(call,
				"x = transpose~(input, -2, -1); " IN_4D("x") INDEX ACROSS("e")
					IN_4D("e") "s = transpose~(src, -2, -1); " IN_4D("s")
						SCATTER "return z",
				&wide);
	return tosa_run(call,
			"x = transpose~(input, -2, -1); " IN_ROWS("x") IN_4D("x") INDEX ACROSS("e")
				IN_ROWS("e") IN_4D("e") "s = transpose~(src, -2, -1); " IN_ROWS("s")
					IN_4D("s") SCATTER "z = to_layout~(z, layout); return z",
			&wide);
}

#define MC ", *, memory_config: MemoryConfig? = None"

static const struct tt_op ops[] = {
	{TT_MOVE_ROW("tosa_gather", expand_gather, tt_golden_tosa_gather,
		     "Rows of a batch, taken by an index.", "input: Tensor, index: Tensor" MC)},
	{TT_MOVE_ROW("tosa_scatter", expand_scatter, tt_golden_tosa_scatter,
		     "Rows of a batch, set by an index.",
		     "input: Tensor, index: Tensor, src: Tensor" MC)},
};

const struct tt_op_family tt_family_tosa = {"movement", ops, TT_COUNT(ops)};
