/*
 * argmax.c: where the largest value is, along a dimension or of all. Rows are searched by many
 * cores, tiles by one; dimensions before the last two have a program of their own.
 *
 * Models ArgMaxDeviceOperation of ttnn 0.81 (reduction/argmax/device) with
 * ArgMaxMultiCoreProgramFactory (rows) and ArgMaxSingleCoreProgramFactory (tiles), and
 * ArgMaxNCDeviceOperation with its one factory: refusals, memory, cores. Not modelled: which of
 * equal values several cores would name; it is the first here.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "golden/golden_reduction.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"
#include "ops/reduce/reduce.h"

/* ---- searching ------------------------------------------------------------------------------------------- */

/* The first place of the largest value along a dimension, under whatever shape the output has. */
static tt_status search(struct tt_tensor *out, struct tt_tensor *in, uint32_t dim)
{
	struct ttnn_shape shape = in->spec.shape;
	struct tt_sort_job job = {.in = in, .dim = dim, .count = 1, .descending = true};

	shape.dim[dim] = 1;
	TT_TRY(tt_scratch(&job.indices, &shape, TTNN_UINT32, TTNN_ROW_MAJOR));
	TT_TRY(tt_backend_get()->sort(&job));
	return tt_backend_get()->reshape(out, job.indices);
}

/* The same over everything: in one long row. */
static tt_status search_all(struct tt_tensor *out, struct tt_tensor *in)
{
	struct ttnn_shape shape = {2, {1, 0}};
	struct tt_tensor *row;
	uint64_t count;

	TT_TRY(ttnn_shape_volume(&count, &in->spec.shape));
	TT_NEED(count <= UINT32_MAX, "argmax of more than 4294967295 values");
	shape.dim[1] = (uint32_t)count;
	TT_TRY(tt_scratch(&row, &shape, in->spec.dtype, TTNN_ROW_MAJOR));
	TT_TRY(tt_backend_get()->reshape(row, in));
	return search(out, row, 1);
}

/* ---- the last two dimensions ------------------------------------------------------------------------------- */

#define ATTRS(X)                                                                                   \
	X(DTYPE, "output_dtype")                                                                   \
	X(DIM, "dim")                                                                              \
	X(KEEP, "keepdim")                                                                         \
	X(CORES, "sub_core_grids", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>")               \
	X(MEMORY, "output_mem_config")                                                             \
	X(SECOND_READER, "enable_secondary_dm")
TT_ATTRS(schema, "ArgmaxParams", ATTRS);

enum { SINGLE, MULTI };

/* The dimension, or the rank when all are searched. */
static uint32_t dim_of(const struct tt_launch *launch)
{
	uint32_t rank = launch->inputs[0]->spec.shape.rank;
	int64_t dim = launch->attrs[DIM].integer;

	if (!tt_value_given(&launch->attrs[DIM]))
		return rank;
	return (uint32_t)(dim < 0 ? dim + rank : dim);
}

/* Without a dimension all are reduced; indices are rows of uint32. */
static tt_status argmax_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_reduction_dims dims = {.dim = {dim_of(launch)}, .count = 1};
	struct ttnn_shape shape;

	if (dims.dim[0] == in->shape.rank)
		for (dims.count = 0; dims.count < in->shape.rank; dims.count++)
			dims.dim[dims.count] = dims.count;
	shape = tt_reduction_shape(&in->shape, &dims, launch->attrs[KEEP].boolean);
	return tt_infer_one(launch, &shape, TTNN_UINT32, TTNN_ROW_MAJOR);
}

#define IS(type) "input_tensor_a.dtype() == DataType::" type

/* Tiles are searched for floats along a dimension only. */
static tt_status argmax_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const char *type = tt_enum_name(&tt_enum_dtype, in->dtype);
	bool real = in->dtype == TTNN_BFLOAT16 || in->dtype == TTNN_FLOAT32;

	TT_REQUIRE(in->memory.layout == TTNN_INTERLEAVED,
		   "input_tensor_a.memory_config().memory_layout() == "
		   "TensorMemoryLayout::INTERLEAVED",
		   "Only INTERLEAVED memory layout is supported for inputs, got "
		   "TensorMemoryLayout::%s",
		   tt_enum_name(&tt_enum_memory_layout, in->memory.layout));
	if (in->layout == TTNN_TILE) {
		TT_REQUIRE(real, IS("BFLOAT16") " || " IS("FLOAT32"),
			   "Only BFLOAT16, FLOAT32 are supported for inputs with TILE layout, got "
			   "DataType::%s",
			   type);
		TT_REQUIRE(tt_value_given(&launch->attrs[DIM]), "input_layout != Layout::TILE",
			   "For inputs with TILE layout, dim parameter must be specified!");
		return TTNN_OK;
	}
	TT_REQUIRE(real || in->dtype == TTNN_INT32 || in->dtype == TTNN_UINT32 ||
			   in->dtype == TTNN_UINT16,
		   IS("BFLOAT16") " || " IS("FLOAT32") " || " IS("INT32") " || " IS(
			   "UINT32") " || " IS("UINT16"),
		   "Only BFLOAT16, FLOAT32, INT32, UINT32, and UINT16 are supported for inputs "
		   "with ROW_MAJOR layout, got DataType::%s",
		   type);
	return TTNN_OK;
}

/* ---- program memory of the multi-core search ------------------------------------------------------------------ */

/* All cores, and those of each group: the second may be missing. Their shares of a row, in values. */
struct shares {
	const ttnn_core_set *all, *group[2];
	uint64_t values[2];
};

/* What is read and written from L1 by itself is a multiple of so many bytes. */
#define ALIGNMENT 32
#define INDEX_BYTES 4

/* More cores find parts of a row faster but are asked one by one: a power of two between both. */
static uint64_t cores_wanted(uint64_t row)
{
	uint64_t cores = 1;

	while (4 * cores * cores < row)
		cores *= 2;
	return cores;
}

/* Rows of the grid, then a part of one: a group each. */
static tt_status group_rows(struct shares *shares, struct ttnn_core grid, uint64_t cores)
{
	uint64_t full = cores / grid.x * grid.x;
	struct ttnn_core origin = {0, 0}, next = {0, (uint32_t)(cores / grid.x)};

	TT_TRY(tt_split_cores(&shares->all, grid, origin, cores, TTNN_ORIENT_ROW_MAJOR));
	shares->group[0] = shares->all;
	if (full == 0 || full == cores)
		return TTNN_OK;
	TT_TRY(tt_split_cores(&shares->group[0], grid, origin, full, TTNN_ORIENT_ROW_MAJOR));
	return tt_split_cores(&shares->group[1], grid, next, cores - full, TTNN_ORIENT_ROW_MAJOR);
}

/*
 * A row is cut at what DRAM aligns; for short rows fewer cores than there are would do, which take
 * a rectangle of their own.
 */
static tt_status share_rows(struct shares *shares, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_value *given = &launch->attrs[CORES];
	uint64_t row = tt_shape_last(&in->padded, 1);
	uint64_t least = tt_page_alignment(launch->inputs[0]) / 2;
	uint64_t units = tt_div_up(row, least), wanted = cores_wanted(row);
	struct ttnn_core grid = tt_grid_size(launch->grid);
	struct tt_work_split split;

	if (given->kind == TTNN_VALUE_CORE_SET) {
		shares->all = shares->group[0] = given->core_set;
		shares->values[0] = tt_div_up(units, ttnn_core_set_cores(given->core_set)) * least;
		return TTNN_OK;
	}
	if (wanted < units && wanted < (uint64_t)grid.x * grid.y && !launch->attrs[KEEP].boolean &&
	    tt_value_given(&launch->attrs[DIM])) {
		shares->values[0] = shares->values[1] = tt_div_up(units, wanted) * least;
		return group_rows(shares, grid, wanted);
	}
	TT_TRY(tt_split_work(&split, grid, units, TTNN_ORIENT_COL_MAJOR));
	shares->all = split.all;
	for (int i = 0; i < 2; i++) {
		shares->group[i] = split.units[i] ? split.group[i] : NULL;
		shares->values[i] = split.units[i] * least;
	}
	return TTNN_OK;
}

/* Room for what every core found: places and values, for all rows of a matrix. */
static tt_status argmax_multi_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	bool one = dim_of(launch) == in->shape.rank || launch->attrs[KEEP].boolean ||
		   in->shape.rank < 2;
	uint64_t results = one ? 1 : tt_shape_last(&in->padded, 2);
	uint64_t element = tt_dtype_bytes(in->dtype), read[2], cores;
	uint64_t result = tt_align_to(results * INDEX_BYTES, ALIGNMENT);
	struct shares shares = {0};

	TT_TRY(share_rows(&shares, launch));
	cores = ttnn_core_set_cores(shares.all);
	/* Several rows: the next is read while one is searched. */
	for (int i = 0; i < 2; i++)
		read[i] =
			tt_align_to(shares.values[i] * element, ALIGNMENT) * (results > 1 ? 2 : 1);
	return TT_PLAN(plan, shares.all,
		       TT_DFB_ROW(0, "src", .pages = 1, .page = read[0], .cores = shares.group[0]),
		       TT_DFB_ROW(0, "src", .pages = shares.group[1] && read[1], .page = read[1],
				  .cores = shares.group[1]),
		       TT_DFB_ROW(1, "dst", .pages = 1, .page = result),
		       TT_DFB_ROW(2, "red_idxs", .pages = 1, .page = result * cores),
		       TT_DFB_ROW(3, "red_vals", .pages = 1,
				  .page = tt_align_to(results * element, ALIGNMENT) * cores));
}

static tt_status argmax_single_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_for(&cores, launch, 1));
	return TT_PLAN(
		plan, cores, TT_DFB_ROW(0, "src", .pages = 1, .page = tt_page_in0(launch)),
		TT_SCRATCH_ROW(0, "dst", .pages = 1, .page = launch->outputs[0]->spec.page_bytes));
}

static tt_status argmax_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = launch->inputs[0]->spec.layout == TTNN_ROW_MAJOR ? MULTI : SINGLE;
	return TTNN_OK;
}

static const struct tt_factory factories[] = {
	[SINGLE] = {.name = "ttnn::prim::ArgMaxSingleCoreProgramFactory",
		    .memory = argmax_single_memory},
	[MULTI] = {.name = "ttnn::prim::ArgMaxMultiCoreProgramFactory",
		   .memory = argmax_multi_memory},
};

static tt_status argmax_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0];
	uint32_t dim = dim_of(launch);

	return dim == in->spec.shape.rank ? search_all(launch->outputs[0], in)
					  : search(launch->outputs[0], in, dim);
}

static const struct tt_prog prog = {
	.device_op = "ArgMaxDeviceOperation",
	.prim = "ttnn::prim::argmax",
	.attrs = &schema,
	.infer = argmax_infer,
	.validate = argmax_validate,
	TT_FACTORIES(factories),
	.choose = argmax_choose,
	TT_KERNEL(argmax_kernel),
	.cost = tt_cost_unmodelled_move,
};

/* ---- dimensions before them ------------------------------------------------------------------------------------- */

#define OUTER_ATTRS(X)                                                                             \
	X(OUTER_DIM, "dim")                                                                        \
	X(OUTER_MEMORY, "output_mem_config")                                                       \
	X(OUTER_COMPUTE, "compute_kernel_config")                                                  \
	X(OUTER_CORES, "sub_core_grids", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>")
TT_ATTRS(outer_schema, "ArgMaxNCParams", OUTER_ATTRS);

/* The dimension is kept as the caller counts it. */
static uint32_t outer_dim(const struct tt_launch *launch)
{
	int64_t dim = launch->attrs[OUTER_DIM].integer;

	return (uint32_t)(dim < 0 ? dim + launch->inputs[0]->spec.shape.rank : dim);
}

static tt_status argmax_outer_infer(struct tt_launch *launch)
{
	struct ttnn_shape shape = launch->inputs[0]->spec.shape;

	shape.dim[outer_dim(launch)] = 1;
	return tt_infer_one(launch, &shape, TTNN_UINT32, TTNN_TILE);
}

/* A page of the result at a time, two tiles of each side. */
static tt_status argmax_outer_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, tt_grid_size(launch->grid), launch->outputs[0]->spec.pages,
			     TTNN_ORIENT_ROW_MAJOR));
	return TT_PLAN(plan, split.all,
		       TT_CB_ROW(0, "src_cb", .pages = 2, .page = tt_page_in0(launch)),
		       TT_CB_ROW(16, "out_cb", .pages = 2, .page = tt_page_out0(launch)));
}

static tt_status argmax_outer_kernel(struct tt_launch *launch)
{
	return search(launch->outputs[0], launch->inputs[0], outer_dim(launch));
}

static const struct tt_prog prog_outer = {
	.device_op = "ArgMaxNCDeviceOperation",
	.prim = "ttnn::prim::argmax_nc",
	.attrs = &outer_schema,
	.infer = argmax_outer_infer,
	TT_FACTORY("ttnn::device_operation::MeshDeviceOperationAdapter<"
		   "ttnn::prim::ArgMaxNCDeviceOperation>::DirectDescriptorFactory",
		   argmax_outer_memory),
	TT_KERNEL(argmax_outer_kernel),
};

/* ---- the operation ------------------------------------------------------------------------------------------------- */

static tt_status to_layout(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			   enum ttnn_layout layout)
{
	struct ttnn_arg args[] = {{"tensor", ttnn_v_tensor(in)}, {"layout", ttnn_v_layout(layout)}};

	return tt_call_op(out, call, "ttnn.to_layout", args, TT_COUNT(args));
}

/* Tile by tile, then to rows. */
static tt_status expand_outer(struct tt_call *call, struct tt_tensor *in, uint32_t dim,
			      const struct ttnn_memory_config *memory)
{
	const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true};
	struct tt_reduction_dims dims = {.dim = {dim}, .count = 1};
	struct ttnn_shape shape = tt_reduction_shape(&in->spec.shape, &dims, false);
	struct tt_tensor *tiled, *rows, *out;
	tt_status status;

	TT_TRY(TT_LAUNCH(&tiled, call, &prog_outer, TT_INPUTS(in),
			 TT_BIND(call, outer_schema, [OUTER_DIM] = *tt_call_arg(call, "dim"),
				 [OUTER_MEMORY] = ttnn_v_memory(memory),
				 [OUTER_COMPUTE] = tt_compute_config(call, NULL, &usual))));
	tt_call_own(call, tiled);
	TT_TRY(to_layout(&rows, call, tiled, TTNN_ROW_MAJOR));
	if (tt_call_bool(call, "keepdim", false)) {
		tt_call_return(call, rows);
		return TTNN_OK;
	}
	status =
		tt_call_reshape(&out, call, &(struct tt_reshape_args){.in = rows, .shape = &shape});
	tt_call_drop(call, rows);
	if (status == TTNN_OK)
		tt_call_return(call, out);
	return status;
}

/* A number alone is the largest, at 0; it has one dimension to be named. */
static tt_status of_number(struct tt_call *call, struct tt_tensor *in,
			   const struct ttnn_memory_config *memory)
{
	int64_t dim = tt_call_int(call, "dim", 0);

	TT_REQUIRE(dim == 0 || dim == -1, "dim.value() == 0 || dim.value() == -1",
		   "argmax: Dimension out of range for scalar tensor (expected 0 or -1, but got "
		   "%" PRId64 ")",
		   dim);
	TT_TRY(tt_need_device(in));
	return TT_CALL_RETURN(call, "ttnn.zeros", {"shape", ttnn_v_shape(&in->spec.shape)},
			      {"dtype", ttnn_v_dtype(TTNN_UINT32)},
			      {"layout", ttnn_v_layout(in->spec.layout)},
			      {"device", ttnn_v_device(tt_tensor_device(in))},
			      {"memory_config", ttnn_v_memory(memory)});
}

/*
 * Dimensions before the last two have a program of their own for floats; rows become tiles for any
 * dimension but the last.
 */
static tt_status argmax_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	const struct ttnn_memory_config *memory = tt_memory_or_like(call, in);
	bool has_dim = tt_value_given(tt_call_arg(call, "dim"));
	int64_t dim = tt_call_int(call, "dim", 0), rank = in->spec.shape.rank;
	uint32_t normal = (uint32_t)(dim < 0 ? dim + rank : dim);

	if (!rank)
		return of_number(call, in, memory);
	TT_REQUIRE(!has_dim || (dim >= -rank && dim < rank), "dim.value() >= -r && dim.value() < r",
		   "argmax: Dimension out of range (expected to be in range of [%" PRId64
		   ", %" PRId64 "], but got %" PRId64 ")",
		   -rank, rank - 1, dim);
	TT_TRY(tt_need_device(in));
	if (has_dim && in->spec.layout == TTNN_ROW_MAJOR && normal + 1 < rank) {
		TT_TRY(to_layout(&in, call, in, TTNN_TILE));
		tt_call_own(call, in);
	}
	if (has_dim && normal + 2 < rank &&
	    (in->spec.dtype == TTNN_BFLOAT16 || in->spec.dtype == TTNN_FLOAT32))
		return expand_outer(call, in, normal, memory);
	return TT_LAUNCH_RETURN(call, &prog, TT_INPUTS(in),
				TT_OUTPUTS(tt_call_tensor(call, "output_tensor")),
				TT_BIND(call, schema, [DTYPE] = ttnn_v_dtype(TTNN_UINT32),
					[MEMORY] = ttnn_v_memory(memory)));
}

static const struct tt_op ops[] = {
	{.name = "ttnn.argmax",
	 .doc = "Where the largest value is, along a dimension or of all.",
	 .sigs = {"input_tensor: Tensor, dim: int? = None, keepdim: bool = False, *, "
		  "sub_core_grids: CoreRangeSet? = None, memory_config: MemoryConfig? = None, "
		  "output_tensor: Tensor? = None, enable_secondary_dm: bool? = None"},
	 .expand = argmax_expand,
	 .golden = tt_golden_argmax},
};

const struct tt_op_family tt_family_argmax = {"reduction", ops, TT_COUNT(ops)};
