/*
 * bcast_to.c: dimensions of extent 1 repeated by one program.
 *
 * Models BcastToOperation of ttnn 0.81 (experimental/bcast_to) with its one factory: refusals,
 * memory, cores. It reads tiles as they are and fills a row, a column or a value over them. Not
 * modelled: the filling itself.
 */

#include "backend/backend.h"
#include "golden/golden_movement.h"
#include "ops/movement/movement.h"
#include "tensor/text.h"

/* What a tile of the input is to those of the output. */
enum subtile { WHOLE, SCALAR, ROW, COL };
static const struct tt_enum_row subtile_rows[] = {
	{WHOLE, "NONE"}, {SCALAR, "SCALAR"}, {ROW, "ROW"}, {COL, "COL"}};
static const struct tt_enum subtile_enum = {"SubtileBroadcastType", subtile_rows,
					    TT_COUNT(subtile_rows)};

#define ATTRS(X)                                                                                   \
	X(SHAPE, "output_shape")                                                                   \
	X(MEMORY, "memory_config")                                                                 \
	X(SUBTILE, "subtile_broadcast_type")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);

#define MOST_RANK 4

static tt_status bcast_to_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	return tt_infer_one(launch, launch->attrs[SHAPE].shape, in->dtype, in->layout);
}

/* Neither side may be sharded. */
static tt_status check_memory(const struct ttnn_memory_config *memory, const char *what,
			      const char *rule)
{
	struct tt_str text = {0};
	tt_status status;

	if (!tt_memory_config_is_sharded(memory))
		return TTNN_OK;
	tt_text_memory_config(&text, memory, TTNN_DIALECT_TT_METAL);
	status = tt_fail_cond(TTNN_INVALID, "memory_config().is_sharded() == false",
			      "bcast_to: Invalid %s memory config %s. %s sharding not supported",
			      what, tt_str_text(&text), rule);
	tt_str_deinit(&text);
	return status;
}

/* Tiles only, and a given output of the asked shape. */
static tt_status bcast_to_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;

	TT_REQUIRE(in->layout == TTNN_TILE, "input.layout() == Layout::TILE",
		   "bcast_to: Invalid tensor memory layout Layout::%s. Input tensor layout must be "
		   "TILE.",
		   tt_enum_name(&tt_enum_layout, in->layout));
	TT_TRY(check_memory(&in->memory, "input", "Input tensor"));
	TT_TRY(check_memory(launch->attrs[MEMORY].memory, "output", "Output memory config"));
	TT_REQUIRE(ttnn_shape_equal(&out->shape, launch->attrs[SHAPE].shape),
		   "output->logical_shape() == operation_attributes.output_shape",
		   "bcast_to: Output shape must match operation attributes");
	TT_REQUIRE(in->layout == out->layout, "input.layout() == output->layout()",
		   "bcast_to: Input Layout::%s and output Layout::%s must have same layout",
		   tt_enum_name(&tt_enum_layout, in->layout),
		   tt_enum_name(&tt_enum_layout, out->layout));
	TT_REQUIRE(in->dtype == out->dtype, "input.dtype() == output->dtype()",
		   "bcast_to: Input DataType::%s and output DataType::%s must have same dtype",
		   tt_enum_name(&tt_enum_dtype, in->dtype),
		   tt_enum_name(&tt_enum_dtype, out->dtype));
	return TTNN_OK;
}

static tt_status bcast_to_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	return TT_PLAN(plan, launch->grid,
		       TT_CB_ROW(0, "cb_src", .pages = 2, .page = tt_page_in0(launch)),
		       TT_CB_ROW(1, "cb_dst", .pages = 2, .page = tt_page_out0(launch)));
}

/*
 * A dimension of 1 is read again for each element of the output: its loop has no place in the
 * input.
 */
static tt_status bcast_to_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	struct tt_move_loop loops[TTNN_MAX_RANK];
	struct tt_move_job job = {.out = out, .in = in, .loops = loops};
	uint32_t rank = out->spec.shape.rank, less = rank - in->spec.shape.rank;

	for (uint32_t d = 0; d < rank; d++) {
		bool moves = d >= less && in->spec.shape.dim[d - less] != 1;

		loops[job.loop_count++] = (struct tt_move_loop){
			out->spec.shape.dim[d], moves ? (int32_t)(d - less) : -1, (int32_t)d, 1, 1};
	}
	return tt_backend_get()->move(&job);
}

static const struct tt_prog prog = {
	.device_op = "BcastToOperation",
	.prim = "ttnn::prim::bcast_to",
	.attrs = &schema,
	.infer = bcast_to_infer,
	.validate = bcast_to_validate,
	TT_FACTORY("ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::operations::"
		   "experimental::broadcast_to::BcastToOperation>::DirectDescriptorFactory",
		   bcast_to_memory),
	TT_KERNEL(bcast_to_kernel),
	.cost = tt_cost_move,
};

/* ---- the operation ------------------------------------------------------------------------------------------ */

/* As NumPy broadcasts, counted from the last dimension, with at most four of them. */
static tt_status check_shapes(const struct ttnn_shape *in, const struct ttnn_shape *out)
{
	struct tt_str texts[2] = {{0}, {0}};
	tt_status status = TTNN_OK;

	tt_text_shape(&texts[0], in, TTNN_DIALECT_TT_METAL);
	tt_text_shape(&texts[1], out, TTNN_DIALECT_TT_METAL);
	if (in->rank > out->rank)
		status = tt_fail_cond(TTNN_INVALID, "input_shape.size() <= output_shape.size()",
				      "Input tensor shape %s(%u) must be at least as large as the "
				      "broadcast shape %s(%u), which it is not",
				      tt_str_text(&texts[0]), in->rank, tt_str_text(&texts[1]),
				      out->rank);
	else if (out->rank > MOST_RANK)
		status = tt_fail_cond(
			TTNN_INVALID, "input_shape.size() <= 4 and output_shape.size() <= 4",
			"Tensor shape and broadcast size %s(%u) %s(%u) must be at "
			"most 4D",
			tt_str_text(&texts[0]), in->rank, tt_str_text(&texts[1]), out->rank);
	tt_str_deinit(&texts[0]);
	tt_str_deinit(&texts[1]);
	for (uint32_t back = 1; status == TTNN_OK && back <= in->rank; back++) {
		uint32_t from = tt_shape_last(in, back), to = tt_shape_last(out, back);

		TT_REQUIRE(from == to || from == 1, "(input_dim == output_dim) || (input_dim == 1)",
			   "Input dimension -%u (size %u) cannot be broadcast to output dimension "
			   "-%u (size %u)",
			   back, from, back, to);
	}
	return status;
}

static enum subtile subtile_of(const struct ttnn_shape *in, const struct ttnn_shape *out)
{
	bool down = tt_shape_last(in, 2) != tt_shape_last(out, 2);
	bool across = tt_shape_last(in, 1) != tt_shape_last(out, 1);

	if (down && tt_shape_last(in, 1) == 1 && tt_shape_last(out, 1) > 1)
		return SCALAR;
	return down ? ROW : across ? COL : WHOLE;
}

/* SUBTILE says which of the last two dimensions grow: it decides upstream's kernels. */
static tt_status bcast_to_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input");
	struct ttnn_shape shape = {0};
	int64_t dims[TTNN_MAX_RANK];
	size_t count;

	TT_TRY(tt_call_ints(dims, &count, TTNN_MAX_RANK, call, "output_shape"));
	shape.rank = (uint32_t)count;
	for (size_t d = 0; d < count; d++)
		shape.dim[d] = (uint32_t)dims[d];
	TT_TRY(check_shapes(&in->spec.shape, &shape));
	TT_TRY(tt_need_device(in));
	return TT_LAUNCH_RETURN(
		call, &prog, TT_INPUTS(in), TT_OUTPUTS(tt_call_tensor(call, "output")),
		TT_BIND(call, schema, [SHAPE] = ttnn_v_shape(&shape),
			[MEMORY] = tt_value_memory_or_like(call, in),
			[SUBTILE] =
				tt_value_enum(&subtile_enum, subtile_of(&in->spec.shape, &shape))));
}

static const struct tt_op ops[] = {
	{TT_MOVE_ROW("experimental.broadcast_to", bcast_to_expand, tt_golden_expand,
		     "A tensor whose dimensions of extent 1 are repeated until it has a shape, by "
		     "one program.",
		     "input: Tensor, output_shape: sizes, *, memory_config: MemoryConfig? = None, "
		     "output: Tensor? = None")},
};

const struct tt_op_family tt_family_bcast_to = {"movement", ops, TT_COUNT(ops)};
