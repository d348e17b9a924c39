/*
 * argmax.c: where the largest value is, along a dimension or of all. Rows are searched by many cores,
 * tiles by one; dimensions before the last two have a program of their own.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "device/split.h"
#include "ops/compute.h"
#include "ops/cost.h"
#include "ops/golden_reduction.h"
#include "ops/movement.h"
#include "ops/reduction.h"
#include "ops/rows.h"
#include "tensor/core.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

/* ---- searching ------------------------------------------------------------------------------------------- */

/* The first place of the largest value along a dimension, under whatever shape the output has. */
static tt_status search(struct tt_tensor *out, struct tt_tensor *in, uint32_t dim)
{
	struct ttnn_spec_args args = {.shape = in->spec.shape, .dtype = TTNN_UINT32};
	struct tt_sort_job job = {.in = in, .dim = dim, .count = 1, .descending = true};
	struct ttnn_tensor_spec spec;
	tt_status status;

	args.shape.dim[dim] = 1;
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(ttnn_tensor_new(&job.indices, &spec));
	status = tt_backend_get()->sort(&job);
	if (status == TTNN_OK)
		status = tt_backend_get()->reshape(out, job.indices);
	ttnn_tensor_unref(job.indices);
	return status;
}

/* The same over everything: in one long row. */
static tt_status search_all(struct tt_tensor *out, struct tt_tensor *in)
{
	struct ttnn_spec_args args = {.shape = {2, {1, 0}}, .dtype = in->spec.dtype};
	struct ttnn_tensor_spec spec;
	struct tt_tensor *row;
	uint64_t count;
	tt_status status;

	TT_TRY(ttnn_shape_volume(&count, &in->spec.shape));
	if (count > UINT32_MAX)
		return tt_fail(TTNN_INVALID, "argmax of more than 4294967295 values");
	args.shape.dim[1] = (uint32_t)count;
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(ttnn_tensor_new(&row, &spec));
	status = tt_backend_get()->reshape(row, in);
	if (status == TTNN_OK)
		status = search(out, row, 1);
	ttnn_tensor_unref(row);
	return status;
}

/* ---- the last two dimensions ------------------------------------------------------------------------------- */

enum { DTYPE, DIM, KEEP, CORES, MEMORY, SECOND_READER, ATTRS };

static const struct tt_field fields[ATTRS] = {
	[DTYPE] = {.name = "output_dtype"},
	[DIM] = {.name = "dim"},
	[KEEP] = {.name = "keepdim"},
	[CORES] = {.name = "sub_core_grids", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>"},
	[MEMORY] = {.name = "output_mem_config"},
	[SECOND_READER] = {.name = "enable_secondary_dm"},
};
static const struct tt_schema schema = {"ArgmaxParams", fields, ATTRS, false};

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

static tt_status infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_reduction_dims dims = {.dim = {dim_of(launch)}, .count = 1};
	struct ttnn_shape shape;

	launch->output_count = 1;
	if (launch->outputs[0]) {
		launch->specs[0] = launch->outputs[0]->spec;
		return TTNN_OK;
	}
	if (dims.dim[0] == in->shape.rank)
		for (dims.count = 0; dims.count < in->shape.rank; dims.count++)
			dims.dim[dims.count] = dims.count;
	shape = tt_reduction_shape(&in->shape, &dims, launch->attrs[KEEP].boolean);
	return tt_spec_simple(&launch->specs[0], &shape, TTNN_UINT32, TTNN_ROW_MAJOR,
			      launch->attrs[MEMORY].memory);
}

#define IS(type) "input_tensor_a.dtype() == DataType::" type

static tt_status validate(struct tt_launch *launch)
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

/*
 * Numbers: 0 and 1 bytes that a core of each group reads, 2 bytes of a result, 3 and 4 bytes of the
 * results of all cores: places and values.
 */
enum { READ0, READ1, RESULT, PLACES, VALUES };

/* More cores find parts of a row faster but are asked one by one: a power of two between both. */
static uint64_t cores_wanted(uint64_t row)
{
	uint64_t cores = 1;

	while (4 * cores * cores < row)
		cores *= 2;
	return cores;
}

/* Rows of the grid, then a part of one: a group each. */
static tt_status group_rows(struct tt_move_work *work, struct ttnn_core grid, uint64_t cores)
{
	uint64_t full = cores / grid.x * grid.x;
	struct ttnn_core origin = {0, 0}, next = {0, (uint32_t)(cores / grid.x)};

	TT_TRY(tt_split_cores(&work->cores[0], grid, origin, cores, TTNN_ORIENT_ROW_MAJOR));
	work->cores[1] = work->cores[0];
	if (full == 0 || full == cores)
		return TTNN_OK;
	TT_TRY(tt_split_cores(&work->cores[1], grid, origin, full, TTNN_ORIENT_ROW_MAJOR));
	return tt_split_cores(&work->cores[2], grid, next, cores - full, TTNN_ORIENT_ROW_MAJOR);
}

static tt_status share_rows(struct tt_launch *launch, struct tt_move_work *work, uint64_t *shares)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_value *given = &launch->attrs[CORES];
	uint64_t row = tt_shape_last(&in->padded, 1);
	uint64_t least = tt_page_alignment(launch->inputs[0]) / 2;
	uint64_t units = tt_div_up(row, least), wanted = cores_wanted(row);
	struct ttnn_core grid = tt_grid_size(launch->grid);
	struct tt_work_split split;

	if (given->kind == TTNN_VALUE_CORE_SET) {
		work->cores[0] = work->cores[1] = given->core_set;
		shares[0] = tt_div_up(units, ttnn_core_set_cores(given->core_set)) * least;
		return TTNN_OK;
	}
	if (wanted < units && wanted < (uint64_t)grid.x * grid.y && !launch->attrs[KEEP].boolean &&
	    tt_value_given(&launch->attrs[DIM])) {
		shares[0] = shares[1] = tt_div_up(units, wanted) * least;
		return group_rows(work, grid, wanted);
	}
	TT_TRY(tt_split_work(&split, grid, units, TTNN_ORIENT_COL_MAJOR));
	work->cores[0] = split.all;
	work->cores[1] = split.group[0];
	work->cores[2] = split.units[1] ? split.group[1] : NULL;
	shares[0] = split.units[0] * least;
	shares[1] = split.units[1] * least;
	return TTNN_OK;
}

static tt_status plan_rows(struct tt_launch *launch, struct tt_move_work *work)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	bool one = dim_of(launch) == in->shape.rank || launch->attrs[KEEP].boolean ||
		   in->shape.rank < 2;
	uint64_t results = one ? 1 : tt_shape_last(&in->padded, 2),
		 element = tt_dtype_bytes(in->dtype);
	uint64_t shares[2] = {0, 0}, cores;

	TT_TRY(share_rows(launch, work, shares));
	cores = ttnn_core_set_cores(work->cores[0]);
	/* Several rows: the next is read while one is searched. */
	for (int i = 0; i < 2; i++)
		work->number[READ0 + i] =
			tt_align_to(shares[i] * element, 32) * (results > 1 ? 2 : 1);
	if (!work->cores[2])
		work->number[READ1] = 0;
	work->number[RESULT] = tt_align_to(results * 4, 32);
	work->number[PLACES] = work->number[RESULT] * cores;
	work->number[VALUES] = tt_align_to(results * element, 32) * cores;
	return TTNN_OK;
}

static tt_status choose(uint32_t *out, struct tt_launch *launch)
{
	struct tt_move_work *work = tt_move_work_new(launch);

	if (!work)
		return TTNN_NOMEM;
	*out = launch->inputs[0]->spec.layout == TTNN_ROW_MAJOR ? MULTI : SINGLE;
	if (*out == MULTI)
		return plan_rows(launch, work);
	work->number[RESULT] = launch->outputs[0]->spec.page_bytes;
	return tt_cores_for(&work->cores[0], launch, 1);
}

#define ROW(kind_, index_, page_, cores_, ...)                                                     \
	{                                                                                          \
		.kind = kind_, .index = index_, .page_count = 1, .page = page_, .cores = cores_,   \
		__VA_ARGS__                                                                        \
	}

static const struct tt_mem_row single_rows[] = {
	ROW(TT_DFB, 0, tt_page_in0, tt_work_cores0, .when = NULL),
	ROW(TT_SCRATCH, 0, tt_number2, tt_work_cores0, .when = NULL),
};
static const struct tt_mem_row multi_rows[] = {
	ROW(TT_DFB, 0, tt_number0, tt_work_cores1, .when = NULL),
	ROW(TT_DFB, 0, tt_number1, tt_work_cores2, .when = tt_has1),
	ROW(TT_DFB, 1, tt_number2, tt_work_cores0, .when = NULL),
	ROW(TT_DFB, 2, tt_number3, tt_work_cores0, .when = NULL),
	ROW(TT_DFB, 3, tt_number4, tt_work_cores0, .when = NULL),
};
static const struct tt_factory factories[] = {
	[SINGLE] = {"ttnn::prim::ArgMaxSingleCoreProgramFactory", single_rows,
		    TT_COUNT(single_rows), NULL},
	[MULTI] = {"ttnn::prim::ArgMaxMultiCoreProgramFactory", multi_rows, TT_COUNT(multi_rows),
		   NULL},
};

static tt_status kernel(struct tt_launch *launch)
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
	.infer = infer,
	.validate = validate,
	.factories = factories,
	.factory_count = TT_COUNT(factories),
	.choose = choose,
	TT_KERNEL(kernel),
	.cost = tt_cost_unmodelled_move,
};

/* ---- dimensions before them ------------------------------------------------------------------------------------- */

enum { OUTER_DIM, OUTER_MEMORY, OUTER_COMPUTE, OUTER_CORES, OUTER_ATTRS };

static const struct tt_field outer_fields[OUTER_ATTRS] = {
	[OUTER_DIM] = {.name = "dim"},
	[OUTER_MEMORY] = {.name = "output_mem_config"},
	[OUTER_COMPUTE] = {.name = "compute_kernel_config"},
	[OUTER_CORES] = {.name = "sub_core_grids",
			 .text = TT_TEXT_FIXED,
			 .fixed = "<CoreRangeSet>"},
};
static const struct tt_schema outer_schema = {"ArgMaxNCParams", outer_fields, OUTER_ATTRS, false};

static tt_status outer_infer(struct tt_launch *launch)
{
	struct ttnn_shape shape = launch->inputs[0]->spec.shape;

	launch->output_count = 1;
	shape.dim[launch->attrs[OUTER_DIM].integer] = 1;
	return tt_spec_simple(&launch->specs[0], &shape, TTNN_UINT32, TTNN_TILE,
			      launch->attrs[OUTER_MEMORY].memory);
}

static tt_status outer_choose(uint32_t *out, struct tt_launch *launch)
{
	struct tt_move_work *work = tt_move_work_new(launch);
	struct tt_work_split split;

	if (!work)
		return TTNN_NOMEM;
	*out = 0;
	TT_TRY(tt_split_work(&split, tt_grid_size(launch->grid), launch->outputs[0]->spec.pages,
			     TTNN_ORIENT_ROW_MAJOR));
	work->cores[0] = split.all;
	return TTNN_OK;
}

static const struct tt_mem_row outer_rows[] = {
	{TT_CB, 0, .page_count = 2, .page = tt_page_in0, .cores = tt_work_cores0},
	{TT_CB, 16, .page_count = 2, .page = tt_page_out0, .cores = tt_work_cores0},
};
static const struct tt_factory outer_factories[] = {
	{"ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::prim::ArgMaxNCDeviceOperation>::"
	 "DirectDescriptorFactory",
	 outer_rows, TT_COUNT(outer_rows), NULL}};

static tt_status outer_kernel(struct tt_launch *launch)
{
	return search(launch->outputs[0], launch->inputs[0],
		      (uint32_t)launch->attrs[OUTER_DIM].integer);
}

static const struct tt_prog prog_outer = {
	.device_op = "ArgMaxNCDeviceOperation",
	.prim = "ttnn::prim::argmax_nc",
	.attrs = &outer_schema,
	.infer = outer_infer,
	.factories = outer_factories,
	.factory_count = 1,
	.choose = outer_choose,
	TT_KERNEL(outer_kernel),
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
	const ttnn_core_set *cores = tt_call_core_set(call, "sub_core_grids");
	struct ttnn_value attrs[OUTER_ATTRS] = {
		[OUTER_DIM] = ttnn_v_int(dim),
		[OUTER_MEMORY] = ttnn_v_memory(memory),
		[OUTER_COMPUTE] = tt_compute_config(call, NULL, &usual),
		[OUTER_CORES] = cores ? ttnn_v_core_set(cores) : ttnn_v_none(),
	};
	struct tt_program_args args = {
		.prog = &prog_outer, .attrs = attrs, .inputs = &in, .input_count = 1};
	struct tt_reduction_dims dims = {.dim = {dim}, .count = 1};
	struct ttnn_shape shape = tt_reduction_shape(&in->spec.shape, &dims, false);
	struct tt_tensor *tiled, *rows, *out;
	tt_status status;

	TT_TRY(tt_call_program(&tiled, call, &args));
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

static tt_status expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *out;
	struct tt_tensor *given = tt_call_tensor(call, "output_tensor");
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	const ttnn_core_set *cores = tt_call_core_set(call, "sub_core_grids");
	bool has_dim = tt_value_given(tt_call_arg(call, "dim"));
	int64_t dim = tt_call_int(call, "dim", 0), rank = in->spec.shape.rank;
	uint32_t normal = (uint32_t)(dim < 0 ? dim + rank : dim);
	struct ttnn_value attrs[ATTRS] = {
		[DTYPE] = ttnn_v_dtype(TTNN_UINT32),
		[DIM] = has_dim ? ttnn_v_int(dim) : ttnn_v_none(),
		[KEEP] = ttnn_v_bool(tt_call_bool(call, "keepdim", false)),
		[CORES] = cores ? ttnn_v_core_set(cores) : ttnn_v_none(),
		[MEMORY] = ttnn_v_memory(memory ? memory : &in->spec.memory),
		[SECOND_READER] = *tt_call_arg(call, "enable_secondary_dm"),
	};
	struct tt_program_args args = {.prog = &prog,
				       .attrs = attrs,
				       .inputs = &in,
				       .input_count = 1,
				       .outputs = &given,
				       .output_count = 1};

	TT_REQUIRE(!has_dim || (dim >= -rank && dim < rank), "dim.value() >= -r && dim.value() < r",
		   "argmax: Dimension out of range (expected to be in range of [%" PRId64
		   ", %" PRId64 "], but got %" PRId64 ")",
		   -rank, rank - 1, dim);
	TT_TRY(tt_need_device(in));
	memory = attrs[MEMORY].memory;
	if (has_dim && in->spec.layout == TTNN_ROW_MAJOR && normal + 1 < rank) {
		TT_TRY(to_layout(&in, call, in, TTNN_TILE));
		tt_call_own(call, in);
	}
	if (has_dim && normal + 2 < rank &&
	    (in->spec.dtype == TTNN_BFLOAT16 || in->spec.dtype == TTNN_FLOAT32))
		return expand_outer(call, in, normal, memory);
	TT_TRY(tt_call_program(&out, call, &args));
	tt_call_return(call, out);
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.argmax",
	 .family = "reduction",
	 .doc = "Where the largest value is, along a dimension or of all.",
	 .sigs = {"input_tensor: Tensor, dim: int? = None, keepdim: bool = False, *, "
		  "sub_core_grids: CoreRangeSet? = None, memory_config: MemoryConfig? = None, "
		  "output_tensor: Tensor? = None, enable_secondary_dm: bool? = None"},
	 .expand = expand,
	 .golden = tt_golden_argmax,
	 .pcc = 0.999},
};

const struct tt_op_family tt_family_argmax = {"argmax", ops, TT_COUNT(ops)};
