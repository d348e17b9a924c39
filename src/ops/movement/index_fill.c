/*
 * index_fill.c: slices of a tensor set to a number: those that an index names, along one
 * dimension.
 *
 * Models IndexFillOperation and IndexFillNewOperation of ttnn 0.81 with their factories, for
 * rows that are not cut: refusals, memory, cores. Not modelled: shards that cut rows, which both
 * sides must then have alike.
 */
#include "backend/backend.h"
#include "golden/golden_movement.h"
#include "ops/movement/movement.h"
#include "ops/values.h"

#define ATTRS(X)                                                                                   \
	X(DIM, "dim")                                                                              \
	X(VALUE, "value", .text = TT_TEXT_FIXED, .fixed = "<variant>")                             \
	X(MEMORY, "memory_config")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);

enum { INPUT, INDEX };

/* Shards that cut rows must be equally wide on both sides. */
static tt_status check_shards(const struct tt_launch *launch)
{
	const struct ttnn_memory_config *in = &launch->inputs[INPUT]->spec.memory;
	const struct ttnn_memory_config *out = launch->attrs[MEMORY].memory;

	if (!tt_is_cut_across(in) || !tt_is_cut_across(out))
		return TTNN_OK;
	TT_REQUIRE(in->has_shard && out->has_shard,
		   "input.shard_spec().has_value() && "
		   "operation_attributes.memory_config.shard_spec().has_value()",
		   "Index fill: both input and output must have a shard spec when both are "
		   "column-sharded");
	TT_REQUIRE(in->shard.width == out->shard.width,
		   "input.shard_spec().value().shape[1] == "
		   "operation_attributes.memory_config.shard_spec().value().shape[1]",
		   "Index fill: When input and output are both column-sharded (WIDTH/BLOCK), their "
		   "column shard width (shard_spec.shape[1]) must match; got input=%u output=%u",
		   in->shard.width, out->shard.width);
	return TTNN_OK;
}

/* Rows only; the value's kind must be that of the dtype. `range` is how the program says what a dimension is. */
static tt_status check(const struct tt_launch *launch, const char *range)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[INPUT]->spec;
	const struct ttnn_tensor_spec *index = &launch->inputs[INDEX]->spec;
	bool real = launch->attrs[VALUE].kind == TTNN_VALUE_REAL;
	bool takes_real = in->dtype == TTNN_BFLOAT16 || in->dtype == TTNN_FLOAT32;

	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR, "input.layout() == Layout::ROW_MAJOR",
		   "Index fill: Only supporting row major layout");
	TT_TRY(check_shards(launch));
	TT_REQUIRE(index->shape.rank == 1, "index.logical_shape().rank() == 1",
		   "Index fill: Index tensor must be 1D");
	TT_REQUIRE(index->dtype == TTNN_UINT32, "index.dtype() == DataType::UINT32",
		   "Index fill: Index tensor must have UINT32 dtype; got DataType::%s",
		   tt_enum_name(&tt_enum_dtype, (int64_t)index->dtype));
	TT_REQUIRE(launch->attrs[DIM].integer >= 0 && launch->attrs[DIM].integer < in->shape.rank,
		   range, "Index fill: Invalid dimension");
	TT_REQUIRE(real ? takes_real : in->dtype == TTNN_INT32,
		   "(is_float_dtype && value_is_float) || (is_int_dtype && value_is_int)",
		   "Index fill: Value type must match input tensor dtype. Got DataType::%s input "
		   "dtype with %s value type",
		   tt_enum_name(&tt_enum_dtype, (int64_t)in->dtype), real ? "float" : "int");
	return TTNN_OK;
}

static tt_status index_fill_validate(struct tt_launch *launch)
{
	return check(launch, "dim < input.logical_shape().rank() && dim >= 0");
}

static tt_status index_fill_new_validate(struct tt_launch *launch)
{
	return check(launch, "dim < input.logical_shape().rank()");
}

/* A row in, all indices, and a row of the value. */
static tt_status index_fill_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[INPUT];
	uint64_t row = tt_aligned_page(in);
	const ttnn_core_set *cores = in->spec.memory.has_shard ? in->spec.memory.shard.grid : NULL;

	if (!cores)
		TT_TRY(tt_cores_for(&cores, launch, in->spec.pages));
	return TT_PLAN(plan, cores, TT_CB_ROW(0, "in", .pages = 2, .page = row),
		       TT_CB_ROW(1, "index", .pages = launch->inputs[INDEX]->spec.pages,
				 .page = tt_aligned_page(launch->inputs[INDEX])),
		       TT_CB_ROW(2, "fill", .pages = 1, .page = row));
}

/* One element of the input's type, which has this value. */
static tt_status make_value(struct tt_tensor **out, const struct ttnn_tensor_spec *like,
			    const struct ttnn_value *value)
{
	struct ttnn_spec_args args = {.shape = {.rank = like->shape.rank}, .dtype = like->dtype};
	const float real = (float)value->real;
	const int32_t whole = (int32_t)value->integer;
	bool is_real = value->kind == TTNN_VALUE_REAL;
	struct ttnn_tensor_spec spec;

	for (uint32_t d = 0; d < args.shape.rank; d++)
		args.shape.dim[d] = 1;
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	return ttnn_tensor_from_data(out, is_real ? (const void *)&real : &whole,
				     is_real ? TTNN_FLOAT32 : TTNN_INT32, &spec, 0);
}

/* Indices beyond the dimension are passed over, as the chip does. */
static tt_status index_fill_kernel(struct tt_launch *launch)
{
	struct tt_tensor *out = launch->outputs[0], *value;
	int64_t still[TTNN_MAX_RANK] = {0}, to[TTNN_MAX_RANK] = {0};
	struct ttnn_shape extent = out->spec.shape;
	uint32_t dim = (uint32_t)launch->attrs[DIM].integer;
	struct tt_move_block block = {.extent = extent.dim, .in_step = still, .out_start = to};
	uint64_t count;
	double *index;

	TT_TRY(tt_values_of(&index, &count, launch, INDEX));
	TT_TRY(tt_move_copy(out, launch->inputs[INPUT]));
	TT_TRY(make_value(&value, &out->spec, &launch->attrs[VALUE]));
	TT_TRY(tt_scratch_keep(value));
	extent.dim[dim] = 1;
	for (uint64_t i = 0; i < count; i++) {
		to[dim] = (int64_t)index[i];
		if (to[dim] < out->spec.shape.dim[dim]) /* the chip looks for its own rows only */
			TT_TRY(tt_move_part(out, value, &block));
	}
	return TTNN_OK;
}

static const struct tt_prog prog = {
	.device_op = "IndexFillOperation",
	.prim = "ttnn::prim::index_fill",
	.attrs = &schema,
	.validate = index_fill_validate,
	TT_FACTORY("ttnn::operations::index_fill::IndexFillOperation::MultiCore",
		   index_fill_memory),
	TT_KERNEL(index_fill_kernel),
	.cost = tt_cost_move,
};

static const struct tt_prog new_prog = {
	.device_op = "IndexFillNewOperation",
	.prim = "ttnn::prim::index_fill_new",
	.attrs = &schema,
	.validate = index_fill_new_validate,
	TT_FACTORY("ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::operations::"
		   "index_fill_new::IndexFillNewOperation>::DirectDescriptorFactory",
		   index_fill_memory),
	TT_KERNEL(index_fill_kernel),
	.cost = tt_cost_move,
};

/* The row of the operation is its program. */
static tt_status index_fill_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input");

	return TT_LAUNCH_RETURN(
		call, call->entry->op->row, TT_INPUTS(in, tt_call_tensor(call, "index")),
		TT_BIND(call, schema, [MEMORY] = tt_value_memory_or_like(call, in)));
}

static const struct tt_op ops[] = {
	{TT_MOVE_ROW("index_fill", index_fill_expand, tt_golden_index_fill,
		     "A tensor of which slices are set to a number.",
		     "input: Tensor, dim: int, index: Tensor, value: float | int, *, "
		     "memory_config: MemoryConfig? = None"),
	 .row = &prog},
	{TT_MOVE_ROW("index_fill_new", index_fill_expand, tt_golden_index_fill,
		     "index_fill by the program that took its place.",
		     "input: Tensor, dim: size, index: Tensor, value: float | int, *, "
		     "memory_config: MemoryConfig? = None"),
	 .row = &new_prog},
};

const struct tt_op_family tt_family_index_fill = {"movement", ops, TT_COUNT(ops)};
