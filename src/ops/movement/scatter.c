/*
 * scatter.c: elements of a tensor set, or reduced, at indices along a dimension.
 *
 * Models ScatterDeviceOperation of ttnn 0.81 (data_movement/scatter/device) with both factories:
 * ScatterProgramFactory, and ScatterReduceBfloat16ProgramFactory for reductions of bfloat16,
 * which keeps sums in float32 on the way: refusals, memory, cores. Not modelled: the order of
 * equal indices.
 */
#include <inttypes.h>
#include <string.h>

#include "backend/backend.h"
#include "golden/golden_movement.h"
#include "ops/movement/movement.h"
#include "ops/movement/permute.h"
#include "ops/movement/slice.h"

enum { IN, INDEX, SOURCE, INPUTS };
enum { ADD, MULTIPLY, AMIN, AMAX, NONE };

static const struct tt_enum_row reductions[] = {
	{ADD, "ADD"}, {MULTIPLY, "MULTIPLY"}, {AMIN, "AMIN"}, {AMAX, "AMAX"}, {NONE, "INVALID"}};
static const struct tt_enum reduction_enum = {"ScatterReductionType", reductions,
					      TT_COUNT(reductions)};

#define ATTRS(X)                                                                                   \
	X(DIM, "dim")                                                                              \
	X(MEMORY, "output_memory_config")                                                          \
	X(REDUCTION, "opt_reduction")                                                              \
	X(CORES, "sub_core_grid")
TT_ATTRS(schema, "ScatterParams", ATTRS);

static tt_status scatter_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;

	return tt_infer_one(launch, &in->shape, in->dtype, TTNN_ROW_MAJOR);
}

/* ---- refusals ------------------------------------------------------------------------------------------------- */

static const char *dtype_name(const struct tt_tensor *tensor)
{
	return tt_enum_name(&tt_enum_dtype, (int64_t)tensor->spec.dtype);
}

/* What rows of it have. */
static enum ttnn_dtype as_rows(enum ttnn_dtype dtype)
{
	return dtype == TTNN_BFLOAT8_B ? TTNN_BFLOAT16 : dtype;
}

/* Sharded tensors are refused; the index is any whole number type. */
static tt_status check_tensors(struct tt_tensor *const *inputs)
{
	static const char *const small[] = {"input", "index", "src"};
	static const char *const large[] = {"Input", "Index", "Src"};
	enum ttnn_dtype index = inputs[INDEX]->spec.dtype;
	char condition[64];

	TT_REQUIRE(as_rows(inputs[IN]->spec.dtype) == as_rows(inputs[SOURCE]->spec.dtype),
		   "ttnn::operations::data_movement::untilize_output_dtype(input_dtype) == "
		   "ttnn::operations::data_movement::untilize_output_dtype(src_dtype)",
		   "input_dtype differs from src_dtype (input_dtype: %s, src_dtype: %s).",
		   dtype_name(inputs[IN]), dtype_name(inputs[SOURCE]));
	TT_REQUIRE(
		index == TTNN_INT32 || index == TTNN_UINT8 || index == TTNN_UINT16 ||
			index == TTNN_UINT32,
		"index_dtype == DataType::INT32 || index_dtype == DataType::UINT8 || index_dtype "
		"== DataType::UINT16 || index_dtype == DataType::UINT32",
		"index_dtype is not integer, it is %s.", dtype_name(inputs[INDEX]));
	for (size_t i = 0; i < INPUTS; i++) {
		snprintf(condition, sizeof(condition), "!%s_tensor.is_sharded()", small[i]);
		TT_REQUIRE(!tt_tensor_is_sharded(inputs[i]), condition,
			   "Sharded tensors are not supported - %s_tensor is sharded.", small[i]);
	}
	for (size_t i = 0; i < INPUTS; i++) {
		snprintf(condition, sizeof(condition), "%s_tensor.buffer() != nullptr", small[i]);
		TT_REQUIRE(tt_tensor_device(inputs[i]) && tt_tensor_buffer(inputs[i]), condition,
			   "%s tensor's buffer is null.", large[i]);
	}
	return TTNN_OK;
}

static tt_status scatter_validate(struct tt_launch *launch)
{
	return check_tensors(launch->inputs);
}

/* ---- program memory ---------------------------------------------------------------------------------------------- */

enum { PLAIN, REDUCING };

/* The elements of a row that are worked on at once: an even share of L1, less a tenth. */
static uint64_t chunk(const struct tt_launch *launch, const struct tt_tensor *tensor)
{
	uint64_t share = tt_l1_free(launch->device) / 16;
	uint64_t most = tt_align_to(share * 9 / 10 - 32, 32);
	uint64_t row = tt_shape_last(&tensor->spec.shape, 1);

	return row < most ? row : most;
}

static uint64_t chunk_bytes(const struct tt_launch *launch, size_t input)
{
	const struct tt_tensor *tensor = launch->inputs[input];

	return tt_align_to(chunk(launch, tensor) * tt_element_bytes(tensor), 32);
}

static tt_status scatter_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = launch->attrs[REDUCTION].integer != NONE &&
			       launch->inputs[IN]->spec.dtype == TTNN_BFLOAT16
		       ? REDUCING
		       : PLAIN;
	return TTNN_OK;
}

/* A row at a time, or as much of it as fits (chunk_bytes). Reductions sum in float32. */
static tt_status scatter_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[IN];
	struct tt_work_split split;
	uint64_t rows;

	TT_TRY(tt_shape_rows(&rows, &in->spec.shape));
	TT_TRY(tt_split_among(&split, launch, &launch->attrs[CORES], rows));
	return TT_PLAN(plan, split.all,
		       TT_DFB_ROW(0, "output", .pages = 1, .page = chunk_bytes(launch, IN)),
		       TT_SCRATCH_ROW(0, "input", .pages = 1, .page = chunk_bytes(launch, IN)),
		       TT_SCRATCH_ROW(1, "index", .pages = 1, .page = chunk_bytes(launch, INDEX)),
		       TT_SCRATCH_ROW(2, "source", .pages = 1, .page = chunk_bytes(launch, SOURCE)),
		       TT_SCRATCH_ROW(3, "fp32_temp", .pages = tt_factory_index(launch) == REDUCING,
				      .page = tt_align_to(sizeof(float) * chunk(launch, in), 32)));
}

static const struct tt_factory factories[] = {
	[PLAIN] = {.name = "ttnn::prim::ScatterProgramFactory", .memory = scatter_memory},
	[REDUCING] = {.name = "ttnn::prim::ScatterReduceBfloat16ProgramFactory",
		      .memory = scatter_memory},
};

/* Along the last dimension, where prepare() brought it. */
static tt_status scatter_kernel(struct tt_launch *launch)
{
	static const enum tt_scatter_mode modes[] = {[ADD] = TT_SCATTER_ADD,
						     [MULTIPLY] = TT_SCATTER_MUL,
						     [AMIN] = TT_SCATTER_MIN,
						     [AMAX] = TT_SCATTER_MAX,
						     [NONE] = TT_SCATTER_SET};
	struct tt_index_job job = {
		.out = launch->outputs[0],
		.in = launch->inputs[IN],
		.index = launch->inputs[INDEX],
		.source = launch->inputs[SOURCE],
		.kind = TT_INDEX_SCATTER,
		.mode = modes[launch->attrs[REDUCTION].integer],
		.dim = launch->inputs[IN]->spec.shape.rank - 1,
	};

	return tt_backend_get()->index(&job);
}

static const struct tt_prog prog = {
	.device_op = "ScatterDeviceOperation",
	.prim = "ttnn::prim::scatter",
	.attrs = &schema,
	.infer = scatter_infer,
	.validate = scatter_validate,
	TT_FACTORIES(factories),
	.choose = scatter_choose,
	TT_KERNEL(scatter_kernel),
	.cost = tt_cost_move,
};

/* ---- what is asked for --------------------------------------------------------------------------------------------- */

struct request {
	struct tt_tensor *inputs[INPUTS];
	uint32_t dim;
	bool last; /* dimension */
};

/* Floats and long rows of integers cannot be taken from tiles. */
static tt_status check_support(const struct request *request)
{
	static const char *const names[] = {"input", "index", "source"};
	char condition[160];

	for (size_t i = IN; i < INPUTS; i++) {
		const struct ttnn_tensor_spec *spec = &request->inputs[i]->spec;

		snprintf(condition, sizeof(condition),
			 "!(%s_dtype == DataType::FLOAT32 && %s_layout == Layout::TILE)", names[i],
			 names[i]);
		TT_REQUIRE(
			i == INDEX || spec->dtype != TTNN_FLOAT32 || spec->layout != TTNN_TILE,
			condition,
			"Scatter doesn't work for fp32 tiled tensors yet (see to_layout issue #) "
			"- %s tensor is DataType::FLOAT32 Layout::TILE.",
			names[i]);
	}
	for (size_t i = IN; i < INPUTS; i++) {
		const struct ttnn_tensor_spec *spec = &request->inputs[i]->spec;
		uint32_t extent =
			request->dim < spec->shape.rank ? spec->shape.dim[request->dim] : 0;

		snprintf(condition, sizeof(condition),
			 "!(is_i32(%s_dtype) && %s_layout == Layout::TILE && %s_shape[dim] > "
			 "to_layout_int32_scatter_axis_max_length)",
			 names[i], names[i], names[i]);
		TT_REQUIRE((spec->dtype != TTNN_INT32 && spec->dtype != TTNN_UINT32) ||
				   spec->layout != TTNN_TILE || extent <= 256,
			   condition,
			   "Scatter doesn't work for int32 tensors that have scatter row longer "
			   "than 256 elements - %s tensor is of type: %s, layout: TILE and "
			   "%s_shape[scatter_axis] == %u",
			   names[i], dtype_name(request->inputs[i]), names[i], extent);
	}
	return TTNN_OK;
}

/* Which extent of which tensor is in condition and text. */
static tt_status fail_extent(const struct ttnn_shape *index, const struct ttnn_shape *other,
			     uint32_t dim, const char *name)
{
	char condition[96], format[160];

	snprintf(condition, sizeof(condition), "index_shape[probe_dim] <= %s_shape[probe_dim]",
		 name);
	snprintf(format, sizeof(format),
		 "index_shape[%u] <= %s_shape[%u] == false (index_shape: %%s, %s_shape: %%s)", dim,
		 name, dim, name);
	return tt_fail_shapes(TTNN_INVALID, condition, format, index, other);
}

/*
 * The index is within the source everywhere, and within the input but along the dimension, as in
 * torch.
 */
static tt_status check_shapes(const struct request *request, const char *reduce)
{
	const struct ttnn_shape *in = &request->inputs[IN]->spec.shape;
	const struct ttnn_shape *index = &request->inputs[INDEX]->spec.shape;
	const struct ttnn_shape *source = &request->inputs[SOURCE]->spec.shape;

	TT_TRY(tt_need_dim(index, request->dim));
	TT_REQUIRE(in->rank == index->rank, "input_rank == index_rank",
		   "input_rank must be equal to index_rank (input_rank == %u, index_rank == %u)",
		   in->rank, index->rank);
	TT_REQUIRE(in->rank == source->rank, "input_rank == source_rank",
		   "input_rank must be equal to source_rank (input_rank == %u, source_rank == %u)",
		   in->rank, source->rank);
	TT_REQUIRE(!reduce || strcmp(reduce, "add") == 0 || strcmp(reduce, "multiply") == 0,
		   "std::find(std::begin(ALLOWED_REDUCTIONS), std::end(ALLOWED_REDUCTIONS), "
		   "*opt_reduction_string) != std::end(ALLOWED_REDUCTIONS)",
		   "reduce must be either 'add' or 'multiply' (case-sensitive), got %s", reduce);
	for (uint32_t d = 0; d < in->rank; d++) {
		if (index->dim[d] > source->dim[d])
			return fail_extent(index, source, d, "source");
		if (d != request->dim && index->dim[d] > in->dim[d])
			return fail_extent(index, in, d, "input");
	}
	return TTNN_OK;
}

/* ---- there and back ---------------------------------------------------------------------------------------------------- */

/* Replaces a tensor by itself in another layout. */
static tt_status in_layout(struct tt_tensor **tensor, struct tt_call *call, enum ttnn_layout layout)
{
	struct tt_tensor *next = NULL;

	if ((*tensor)->spec.layout == layout)
		return TTNN_OK;
	return tt_call_replace(tensor, call,
			       TT_CALL(&next, call, "ttnn.to_layout",
				       {"tensor", ttnn_v_tensor(*tensor)},
				       {"layout", ttnn_v_layout(layout)}),
			       &next);
}

/* Brings the dimension to the last place, or back. */
static tt_status transpose(struct tt_tensor **tensor, struct tt_call *call,
			   const struct request *request)
{
	uint32_t dims[] = {request->dim, (*tensor)->spec.shape.rank - 1};
	struct ttnn_memory_config memory = (*tensor)->spec.memory;
	struct tt_permute_args args = {.in = *tensor, .dims = dims, .memory = &memory};
	struct tt_tensor *next = NULL;

	if (request->last)
		return TTNN_OK;
	return tt_call_replace(tensor, call, tt_call_transpose(&next, call, &args), &next);
}

/* As rows, the dimension last, of four dimensions at least. *tensor is a reference of the caller's. */
static tt_status scatter_prepare(struct tt_tensor **tensor, struct tt_call *call,
				 const struct request *request)
{
	struct tt_tensor *next = NULL;

	TT_TRY(in_layout(tensor, call, TTNN_ROW_MAJOR));
	TT_TRY(transpose(tensor, call, request));
	if ((*tensor)->spec.shape.rank >= 4)
		return TTNN_OK;
	return tt_call_replace(tensor, call, tt_call_to_4d(&next, call, *tensor), &next);
}

/* Rank, dimension, layout, in this order. */
static tt_status bring_back(struct tt_tensor **tensor, struct tt_call *call,
			    const struct request *request)
{
	const struct ttnn_tensor_spec *in = &request->inputs[IN]->spec;
	struct tt_reshape_args line = {.in = *tensor, .shape = &in->shape};
	struct tt_tensor *next = NULL;

	if (in->shape.rank == 1)
		TT_TRY(tt_call_replace(tensor, call, tt_call_reshape(&next, call, &line), &next));
	else if (in->shape.rank < 4)
		TT_TRY(tt_call_replace(tensor, call,
				       tt_call_from_4d(&next, call, *tensor, in->shape.rank),
				       &next));
	TT_TRY(transpose(tensor, call, request));
	return in_layout(tensor, call, in->layout);
}

/* The part of the source that the index speaks of. */
static tt_status cut_source(struct tt_tensor **out, struct tt_call *call,
			    const struct request *request)
{
	const struct ttnn_shape *end = &request->inputs[INDEX]->spec.shape;
	struct ttnn_shape begin = {.rank = end->rank};
	struct tt_part part = {.in = request->inputs[SOURCE],
			       .begin = &begin,
			       .end = end,
			       .memory = &request->inputs[SOURCE]->spec.memory};

	return tt_call_slice(out, call, &part);
}

/* The program takes rows of four dimensions. */
static tt_status scatter(struct tt_tensor **out, struct tt_call *call,
			 const struct request *request, int64_t reduction)
{
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	const ttnn_core_set *cores = tt_call_core_set(call, "sub_core_grids");
	struct tt_tensor *inputs[INPUTS];
	struct ttnn_value attrs[schema_count] = {
		[DIM] = ttnn_v_int(request->dim),
		[MEMORY] = ttnn_v_memory(memory ? memory : &request->inputs[IN]->spec.memory),
		[REDUCTION] = tt_value_enum(&reduction_enum, reduction),
		[CORES] = cores ? ttnn_v_core_set(cores) : ttnn_v_none(),
	};

	for (size_t i = IN; i < INPUTS; i++) {
		tt_status status;

		if (i == SOURCE)
			TT_TRY(cut_source(&inputs[i], call, request));
		else
			inputs[i] = ttnn_tensor_ref(request->inputs[i]);
		status = scatter_prepare(&inputs[i], call, request);
		tt_call_own(call, inputs[i]);
		TT_TRY(status);
	}
	TT_TRY(TT_LAUNCH(out, call, &prog, .attrs = attrs, .inputs = inputs,
			 .input_count = INPUTS));
	return bring_back(out, call, request);
}

static int64_t find_reduction(const char *name)
{
	return !name ? NONE : strcmp(name, "add") == 0 ? ADD : MULTIPLY;
}

/* An empty index gives the input itself. */
static tt_status scatter_by(struct tt_call *call, const char *reduce)
{
	struct request request = {.inputs = {tt_call_tensor(call, "input"),
					     tt_call_tensor(call, "index"),
					     tt_call_tensor(call, "src")}};
	const struct ttnn_shape *shape = &request.inputs[IN]->spec.shape;
	int64_t given = tt_call_int(call, "dim", 0), dim = given + (given < 0 ? shape->rank : 0);
	struct tt_tensor *out;
	uint64_t volume;

	TT_REQUIRE(
		dim >= 0 && dim < shape->rank,
		"normalized_dim >= 0 && normalized_dim < static_cast<int32_t>(input_tensor_rank)",
		"scatter: dim %" PRId64 " is out of range for tensor rank %u", given, shape->rank);
	request.dim = (uint32_t)dim;
	request.last = request.dim + 1 == shape->rank;
	TT_TRY(check_support(&request));
	TT_TRY(check_shapes(&request, reduce));
	TT_TRY(check_tensors(request.inputs));
	TT_TRY(ttnn_shape_volume(&volume, shape));
	if (!volume || !request.inputs[INDEX]->spec.shape.dim[dim])
		out = ttnn_tensor_ref(request.inputs[IN]);
	else
		TT_TRY(scatter(&out, call, &request, find_reduction(reduce)));
	tt_call_return(call, out);
	return TTNN_OK;
}

static tt_status scatter_expand(struct tt_call *call)
{
	const struct ttnn_value *reduce = tt_call_arg(call, "reduce");

	return scatter_by(call, reduce->kind == TTNN_VALUE_STRING ? reduce->text : NULL);
}

static tt_status expand_add(struct tt_call *call)
{
	return scatter_by(call, "add");
}

#define TENSORS                                                                                    \
	"input: Tensor, dim: int, index: Tensor, src: Tensor, *, memory_config: MemoryConfig? = "  \
	"None, "
#define CORES_ARG "sub_core_grids: CoreRangeSet? = None"

static const struct tt_op ops[] = {
	{TT_MOVE_ROW("scatter", scatter_expand, tt_golden_scatter,
		     "A tensor with elements of another one put to the places that indices name.",
		     TENSORS "reduce: str? = None, " CORES_ARG)},
	{TT_MOVE_ROW("scatter_add", expand_add, tt_golden_scatter,
		     "A tensor with elements of another one added at the places that indices name.",
		     TENSORS CORES_ARG)},
};

const struct tt_op_family tt_family_scatter = {"movement", ops, TT_COUNT(ops)};
