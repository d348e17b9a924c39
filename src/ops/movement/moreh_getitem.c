/*
 * moreh_getitem.c: the parts of a tensor that lists of indices name, one for each of some dimensions that follow each other. In rows
 * these become one, in tiles all but the last have an extent of 1.
 *
 * Models MorehGetItemOperation of ttnn 0.81 with its two factories: specs, refusals, memory, cores.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "golden/golden_moreh.h"
#include "ops/movement/movement.h"
#include "ops/values.h"

#define ATTRS(X)                                                                                   \
	X(DIMS, "index_dims", .text = TT_TEXT_SMALL)                                               \
	X(MEMORY, "memory_config")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);
#define MOST 5 /* dimensions */
#define INDEX_PAGE 4096

/* Inputs: the tensor, an index for each dimension, and the given output or NULL. */
static size_t index_count(const struct tt_launch *launch)
{
	return launch->input_count - 2;
}

static const struct ttnn_tensor_spec *index_spec(const struct tt_launch *launch, size_t i)
{
	return &launch->inputs[1 + i]->spec;
}

static uint32_t dim_of(const struct tt_launch *launch, size_t i)
{
	return (uint32_t)launch->attrs[DIMS].items[i].integer;
}

/* The dimensions in front of an index and behind, and how many indices there are. */
static tt_status getitem_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	size_t dims = launch->attrs[DIMS].count;
	uint32_t first = dim_of(launch, 0), last = dim_of(launch, dims - 1);
	const struct ttnn_shape *index = &index_spec(launch, 0)->shape;
	uint32_t count = in->layout == TTNN_TILE ? tt_shape_last(index, 1) : index->dim[0];
	struct ttnn_shape shape = {0};

	for (size_t i = 0; i < dims; i++)
		TT_NEED(dim_of(launch, i) < in->shape.rank,
			"moreh_getitem: the tensor has no dimension %u", dim_of(launch, i));
	for (uint32_t d = 0; d < in->shape.rank; d++) {
		bool named = d >= first && d <= last;

		if (in->layout == TTNN_TILE)
			shape.dim[shape.rank++] = d == last ? count : named ? 1 : in->shape.dim[d];
		else if (!named || d == first)
			shape.dim[shape.rank++] = named ? count : in->shape.dim[d];
	}
	return tt_infer_one(launch, &shape, in->dtype, in->layout);
}

static tt_status check_indices(const struct tt_launch *launch)
{
	bool rows = launch->inputs[0]->spec.layout == TTNN_ROW_MAJOR;

	for (size_t i = 0; i < index_count(launch); i++) {
		const struct ttnn_tensor_spec *index = index_spec(launch, i);

		TT_REQUIRE(index->dtype == TTNN_INT32, "index_tensor.dtype() == DataType::INT32",
			   "Index tensor must be of type INT32!");
		TT_REQUIRE(index->layout == TTNN_TILE || index->shape.rank == 1,
			   "index_shape.rank() == 1",
			   "Index tensor must be 1D for ROW_MAJOR layout!");
		TT_REQUIRE(!rows || index->layout == TTNN_ROW_MAJOR,
			   "!(input_layout == Layout::ROW_MAJOR && index_layout == Layout::TILE)",
			   "input layout ROW_MAJOR and index layout TILE not supported");
		TT_REQUIRE(tt_shape_last(&index_spec(launch, 0)->shape, 1) ==
				   tt_shape_last(&index->shape, 1),
			   "index_size == index_shape[-1]",
			   "The shapes of all index tensors must be identical!");
	}
	return TTNN_OK;
}

/* "{0, 2}" */
static void print_dims(struct tt_str *out, const struct ttnn_value *dims)
{
	tt_str_addc(out, '{');
	for (size_t i = 0; i < dims->count; i++)
		tt_str_addf(out, "%s%" PRId64, i ? ", " : "", dims->items[i].integer);
	tt_str_addc(out, '}');
}

static tt_status refuse_dims(const struct tt_launch *launch)
{
	struct tt_str text = {0};
	tt_status status;

	print_dims(&text, &launch->attrs[DIMS]);
	status = tt_fail_cond(TTNN_INVALID, "dim_start + i == dim",
			      "The value of index_dims=%s must be consecutive integers.",
			      tt_str_text(&text));
	tt_str_deinit(&text);
	return status;
}

static tt_status getitem_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct tt_tensor *given = launch->inputs[launch->input_count - 1];
	size_t dims = launch->attrs[DIMS].count;

	TT_REQUIRE(in->dtype == TTNN_INT32 || in->dtype == TTNN_BFLOAT16,
		   "dtype == DataType::INT32 || dtype == DataType::BFLOAT16",
		   "Input tensor must be of type INT32 or BFLOAT16!");
	TT_REQUIRE(in->shape.rank <= MOST, "input_rank <= 5",
		   "getitem supports an input of rank 5 or less, got rank %u!", in->shape.rank);
	TT_TRY(check_indices(launch));
	for (size_t i = 0; i < dims && in->layout == TTNN_ROW_MAJOR; i++)
		TT_REQUIRE(dim_of(launch, i) + 1 != in->shape.rank, "dim + dim_offset != 4",
			   "getitem for ROW_MAJOR layout not support W index tensor!");
	for (size_t i = 0; i < dims; i++)
		if (dim_of(launch, i) != dim_of(launch, 0) + i)
			return refuse_dims(launch);
	TT_REQUIRE(!given || given->spec.dtype == in->dtype,
		   "dtype == output_tensor.value().dtype()",
		   "Output tensor must have the same dtype as input tensor!");
	return TTNN_OK;
}

enum { IN_ROWS, IN_TILES };

/* Rows are read through a view of five dimensions, which is made for the program and forgotten. */
static tt_status getitem_choose(uint32_t *out, struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_shape shape = {.rank = MOST};
	struct tt_tensor *view;

	*out = in->layout == TTNN_TILE ? IN_TILES : IN_ROWS;
	if (*out == IN_TILES)
		return TTNN_OK;
	for (uint32_t back = 1; back <= MOST; back++)
		shape.dim[MOST - back] = tt_shape_last(&in->shape, back);
	TT_TRY(tt_call_view_to(&view, launch->call, launch->inputs[0], &shape));
	ttnn_tensor_unref(view);
	return TTNN_OK;
}

/* Elements of a page of the input, and pages of such of the output: a row, part of a row of a tile, or one element. */
static tt_status getitem_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_shape *out = &launch->outputs[0]->spec.shape;
	uint64_t bytes = tt_dtype_bytes(in->dtype), volume, part, page;
	uint64_t row = tt_shape_last(out, 1);
	bool tiles = in->layout == TTNN_TILE;
	bool across = dim_of(launch, launch->attrs[DIMS].count - 1) + 1 == in->shape.rank;
	const ttnn_core_set *cores;

	part = !tiles ? row : across ? 32 / bytes : 16;
	page = !tiles ? tt_shape_last(&in->shape, 1) * bytes : across ? bytes : 16 * bytes;
	TT_TRY(ttnn_shape_volume(&volume, out));
	TT_TRY(tt_cores_for(&cores, launch, volume ? volume / row * tt_div_up(row, part) : 0));
	TT_TRY(TT_PLAN(
		plan, cores, TT_DFB_ROW(0, "in0", .pages = 1, .page = tt_align_to(page, 32)),
		TT_DFB_ROW(16, "out1", .pages = tiles && across, .page = tt_align_to(page, 32))));
	for (size_t i = 0; i < index_count(launch); i++) {
		const struct tt_buffer_row index = TT_DFB_ROW(
			1 + (uint32_t)i, "index", .pages = 1,
			.page = tiles ? INDEX_PAGE
				      : tt_align_to(4 * (uint64_t)tt_shape_last(
								&index_spec(launch, i)->padded, 1),
						    32));

		TT_TRY(tt_plan_buffers(plan, cores, &index, 1));
	}
	return TTNN_OK;
}

/* One part of the input for each place of the lists; indices below zero count from the end. */
static tt_status getitem_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0], *parts;
	struct ttnn_shape extent = in->spec.shape, shape = extent;
	size_t indices = index_count(launch);
	uint32_t count = tt_shape_last(&index_spec(launch, 0)->shape, 1);
	uint32_t last = dim_of(launch, indices - 1);
	int64_t from[TTNN_MAX_RANK] = {0}, to[TTNN_MAX_RANK] = {0};
	struct tt_move_block block = {.extent = extent.dim, .in_start = from, .out_start = to};
	double *values[MOST];
	uint64_t counts[MOST];

	for (size_t i = 0; i < indices; i++) {
		TT_TRY(tt_values_of(&values[i], &counts[i], launch, 1 + i));
		TT_NEED(counts[i] == count, "moreh_getitem: an index must be one list");
		extent.dim[dim_of(launch, i)] = shape.dim[dim_of(launch, i)] = 1;
	}
	shape.dim[last] = count;
	TT_TRY(tt_scratch(&parts, &shape, in->spec.dtype, TTNN_ROW_MAJOR));
	for (uint32_t k = 0; k < count; k++) {
		to[last] = k;
		for (size_t i = 0; i < indices; i++) {
			uint32_t dim = dim_of(launch, i), size = in->spec.shape.dim[dim];
			int64_t index = (int64_t)values[i][k];

			from[dim] = index < 0 ? index + size : index;
			TT_NEED(from[dim] >= 0 && from[dim] < size,
				"moreh_getitem: dimension %u has no index %" PRId64, dim, index);
		}
		TT_TRY(tt_move_part(parts, in, &block));
	}
	return tt_backend_get()->reshape(out, parts);
}

static const struct tt_factory factories[] = {
	[IN_ROWS] = TT_FACTORY_ROW("ttnn::operations::moreh::moreh_getitem::MorehGetItemOperation::"
				   "MorehGetItemRmFactory",
				   getitem_memory),
	[IN_TILES] = TT_FACTORY_ROW("ttnn::operations::moreh::moreh_getitem::"
				    "MorehGetItemOperation::MorehGetItemTilizedFactory",
				    getitem_memory),
};

static const struct tt_prog program = {
	.device_op = "MorehGetItemOperation",
	.prim = "ttnn::prim::moreh_getitem",
	.attrs = &schema,
	.infer = getitem_infer,
	.validate = getitem_validate,
	TT_FACTORIES(factories),
	.choose = getitem_choose,
	TT_KERNEL(getitem_kernel),
	.cost = tt_cost_move,
};

static tt_status moreh_getitem_expand(struct tt_call *call)
{
	const struct ttnn_value *list = tt_call_arg(call, "index_tensors"),
				*dims = tt_call_arg(call, "index_dims");
	struct tt_tensor *inputs[MOST + 2] = {tt_call_tensor(call, "input")},
					*given = tt_call_tensor(call, "output");

	TT_REQUIRE(inputs[0], "tt::exception",
		   "Input tensor is required for moreh_getitem operation.");
	TT_NEED(dims->kind == TTNN_VALUE_LIST && list->count && list->count <= MOST &&
			list->count == dims->count,
		"moreh_getitem takes from 1 to %d index tensors and as many index_dims", MOST);
	for (size_t i = 0; i < list->count; i++)
		inputs[1 + i] = tt_value_item_tensor(list, i);
	inputs[1 + list->count] = given;
	return TT_LAUNCH_RETURN(
		call, &program, .inputs = inputs, .input_count = list->count + 2, TT_OUTPUTS(given),
		.in_place = true,
		TT_BIND(call, schema, [MEMORY] = tt_value_memory_or_like(call, inputs[0])));
}

static const struct tt_op ops[] = {
	{.name = "ttnn.moreh_getitem",
	 .doc = "The parts of a tensor that lists of indices name.",
	 .sigs = {"input: Tensor? = None, index_tensors: Tensors, index_dims: sizes, *, output: "
		  "Tensor? = None, memory_config: MemoryConfig? = None"},
	 .expand = moreh_getitem_expand,
	 .golden = tt_golden_moreh_getitem,
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_moreh_getitem = {"moreh_getitem", ops, TT_COUNT(ops)};
