/*
 * sort.c: the values along a dimension in order, and where they were. A core sorts a row of tiles, or
 * all cores together one that is too long for that. Models SortDeviceOperation of ttnn 0.81: two of its factories
 * (one core a row, exchange between cores), their memory, cores and table. Not modelled: its factory for one
 * core after the other, and the order of equal values.
 */
#include <inttypes.h>
#include <math.h>

#include "device/device.h"
#include "device/devtensor.h"
#include "device/work_split.h"
#include "golden/golden_reduction.h"
#include "ops/mem_rows.h"
#include "ops/movement/movement.h"
#include "ops/reduce/ordering.h"
#include "ops/reduce/reduce_program.h"
#include "ops/usual.h"
#include "tensor/core.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#define ATTRS(X)                                                                                   \
	X(DIM, "dim")                                                                              \
	X(DESCENDING, "descending")                                                                \
	X(STABLE, "stable")                                                                        \
	X(MEMORY, "output_mem_config")                                                             \
	X(PADDED, "is_padded")
TT_ATTRS(schema, "SortParams", ATTRS);

#define MOST_16_BITS 65535

/* Whether places have 32 bits. */
static bool is_wide(const struct ttnn_tensor_spec *in)
{
	return in->dtype != TTNN_BFLOAT16 || tt_shape_last(&in->padded, 1) > MOST_16_BITS;
}

static tt_status sort_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *memory = launch->attrs[MEMORY].memory;

	launch->output_count = 2;
	if (tt_ordering_given(launch))
		return TTNN_OK;
	TT_TRY(tt_spec_simple(&launch->specs[0], &in->shape, in->dtype, in->layout, memory));
	return tt_spec_simple(&launch->specs[1], &in->shape,
			      is_wide(in) ? TTNN_UINT32 : TTNN_UINT16, in->layout, memory);
}

static tt_status sort_validate(struct tt_launch *launch)
{
	enum ttnn_dtype dtype = launch->inputs[0]->spec.dtype;

	TT_REQUIRE(dtype == TTNN_BFLOAT16 || dtype == TTNN_UINT16 || dtype == TTNN_FLOAT32,
		   "input.dtype() == DataType::BFLOAT16 || input.dtype() == DataType::UINT16 || "
		   "input.dtype() == DataType::FLOAT32",
		   "Input tensor data type must be BFLOAT16, UINT16, or FLOAT32, got DataType::%s",
		   tt_enum_name(&tt_enum_dtype, dtype));
	return TTNN_OK;
}

/* ---- program memory -------------------------------------------------------------------------------------- */

enum { SINGLE, CROSS };
/* What choose() works out. */
struct sort_work {
	const ttnn_core_set *cores;
	uint64_t tiles; /* of a row, or of a core's part */
};

#define MOST_TILES 64

/* A table by which the cores find each other, on the device while the program runs. */
static tt_status plan_cross(struct tt_launch *launch, struct sort_work *work, uint64_t width)
{
	struct ttnn_core grid = tt_grid_size(launch->grid);
	uint64_t cores = 1, all = (uint64_t)grid.x * grid.y;
	struct ttnn_spec_args args = {.shape = {2, {1, 0}}, .dtype = TTNN_UINT32};
	struct ttnn_core origin = {0, 0};
	struct tt_tensor *host, *same, *table;
	struct ttnn_tensor_spec spec;
	tt_status status;

	while (2 * cores <= all && 2 * cores * 2 <= width)
		cores *= 2;
	work->tiles = width / cores;
	args.shape.dim[1] = (uint32_t)(2 * cores);
	TT_TRY(tt_split_cores(&work->cores, grid, origin, cores, TTNN_ORIENT_ROW_MAJOR));
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(tt_host_hollow(&host, &spec));
	status = tt_host_to_dtype(&same, launch->call, host, TTNN_UINT32);
	ttnn_tensor_unref(host);
	TT_TRY(status);
	status = tt_host_to_device(&table, launch->call, same, launch->device, NULL);
	ttnn_tensor_unref(same);
	TT_TRY(status);
	return tt_launch_keep(launch, table);
}

static tt_status sort_choose(uint32_t *out, struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_reduce_tiles tiles = tt_reduce_tiles_of(in);
	struct sort_work *work = tt_work_new(launch, sizeof(*work));
	struct tt_work_split split;
	uint64_t rows;

	if (!work)
		return TTNN_NOMEM;
	work->tiles = tiles.width;
	*out = tiles.width > MOST_TILES ? CROSS : SINGLE;
	if (*out == CROSS)
		return plan_cross(launch, work, tiles.width);
	rows = tiles.matrices * tiles.height;
	TT_TRY(tt_split_work(&split, tt_grid_size(launch->grid), rows, TTNN_ORIENT_ROW_MAJOR));
	work->cores = split.all;
	return TTNN_OK;
}

/* Bytes of tiles of values and of places. */
static uint64_t value_bytes(const struct ttnn_tensor_spec *in)
{
	return tt_tile_bytes_of(in->dtype == TTNN_BFLOAT16 ? TTNN_BFLOAT16 : TTNN_FLOAT32);
}

static uint64_t place_bytes(const struct ttnn_tensor_spec *in)
{
	return tt_tile_bytes_of(is_wide(in) ? TTNN_UINT32 : TTNN_UINT16);
}

/* A row of places, that the kernel keeps between its steps. */
#define SYNC_BYTES 512

static tt_status single_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct sort_work *work = launch->work;
	uint64_t value = value_bytes(in), place = place_bytes(in), tiles = work->tiles;
	bool rows = in->layout == TTNN_ROW_MAJOR, casts = in->dtype == TTNN_UINT16;
	uint64_t in_rows = rows ? tiles : 0, in_tiles = rows ? 0 : 4;

	return TT_PLAN(plan, work->cores, TT_DFB_ROW(0, "input", .pages = in_tiles, .page = value),
		       TT_DFB_ROW(1, "index", .pages = in_tiles, .page = place),
		       TT_DFB_ROW(2, "input_transposed", .pages = tiles, .page = value),
		       TT_DFB_ROW(3, "index_transposed", .pages = tiles, .page = place),
		       TT_DFB_ROW(4, "value", .pages = rows ? tiles : 2, .page = value),
		       TT_DFB_ROW(5, "index_output", .pages = rows ? tiles : 2, .page = place),
		       TT_DFB_ROW(6, "sync", .pages = 2, .page = SYNC_BYTES),
		       TT_DFB_ROW(7, "cast_in", .pages = casts, .page = tt_page_in0(launch)),
		       TT_DFB_ROW(8, "cast_out", .pages = casts, .page = tt_page_out0(launch)),
		       TT_DFB_ROW(9, "rows_in", .pages = in_rows, .page = value),
		       TT_DFB_ROW(10, "index_rows_in", .pages = in_rows, .page = place),
		       TT_DFB_ROW(11, "rows_out", .pages = in_rows, .page = value),
		       TT_DFB_ROW(12, "index_rows_out", .pages = in_rows, .page = place));
}

static tt_status cross_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct sort_work *work = launch->work;
	uint64_t value = value_bytes(in), place = place_bytes(in);

	return TT_PLAN(plan, work->cores, TT_DFB_ROW(0, "input", .pages = 2, .page = value),
		       TT_DFB_ROW(1, "index", .pages = 2, .page = place),
		       TT_DFB_ROW(2, "input_transposed", .pages = work->tiles, .page = value),
		       TT_DFB_ROW(3, "index_transposed", .pages = work->tiles, .page = place),
		       TT_DFB_ROW(4, "value", .pages = 2, .page = value),
		       TT_DFB_ROW(5, "index_output", .pages = 2, .page = place),
		       TT_DFB_ROW(6, "value_intermediate", .pages = 2, .page = value),
		       TT_DFB_ROW(7, "index_intermediate", .pages = 2, .page = place),
		       TT_DFB_ROW(8, "value_peer", .pages = 2, .page = value),
		       TT_DFB_ROW(9, "index_peer", .pages = 2, .page = place),
		       TT_DFB_ROW(10, "physical_core_lookup_table", .pages = 1,
				  .page = tt_tile_bytes_of(TTNN_FLOAT32)),
		       TT_DFB_ROW(11, "packer_unpacker_sync", .pages = 1,
				  .page = tt_tile_bytes_of(TTNN_BFLOAT16)));
}

static const struct tt_factory factories[] = {
	[SINGLE] = {.name = "ttnn::prim::SortProgramFactorySingleRowSingleCore",
		    .memory = single_memory},
	[CROSS] = {.name = "ttnn::prim::SortProgramFactoryCrossCoreDataExchange",
		   .memory = cross_memory},
};

static tt_status sort_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0];
	struct tt_ordering_job job = {.values = launch->outputs[0],
				      .indices = launch->outputs[1],
				      .in = in,
				      .count = tt_shape_last(&in->spec.shape, 1),
				      .width = *(const uint32_t *)launch->extra,
				      .descending = launch->attrs[DESCENDING].boolean};

	return tt_ordering_run(&job);
}

static const struct tt_prog prog = {
	.device_op = "SortDeviceOperation",
	.prim = "ttnn::prim::sort",
	.attrs = &schema,
	.infer = sort_infer,
	.validate = sort_validate,
	TT_FACTORIES(factories),
	.choose = sort_choose,
	TT_KERNEL(sort_kernel),
};

/* ---- the operation ------------------------------------------------------------------------------------------ */

/* Nothing to sort: a copy, and zeros. */
static tt_status expand_single(struct tt_call *call, struct tt_tensor *in,
			       const struct ttnn_memory_config *memory)
{
	struct ttnn_value device = {.kind = TTNN_VALUE_DEVICE, .device = tt_tensor_device(in)};
	struct ttnn_arg copy[] = {{"input", ttnn_v_tensor(in)},
				  {"memory_config", ttnn_v_memory(memory)}};
	struct ttnn_arg zeros[] = {{"shape", ttnn_v_shape(&in->spec.shape)},
				   {"dtype", ttnn_v_dtype(TTNN_UINT16)},
				   {"layout", ttnn_v_layout(in->spec.layout)},
				   {"device", device},
				   {"memory_config", ttnn_v_memory(memory)}};
	struct tt_tensor *values, *places;

	TT_TRY(tt_call_op(&values, call, "ttnn.clone", copy, TT_COUNT(copy)));
	tt_call_return(call, values);
	TT_TRY(tt_call_op(&places, call, "ttnn.zeros", zeros, TT_COUNT(zeros)));
	tt_call_return(call, places);
	return TTNN_OK;
}

/* The width that can be sorted: a power of two, at least two tiles. */
static uint32_t sortable_width(uint32_t width)
{
	uint32_t out = 64;

	while (out < width)
		out *= 2;
	return out;
}

/* Tiles have padding that comes last, and a sortable width. *padded is whether there was any. */
static tt_status widen(struct tt_tensor **tensor, bool *padded, struct tt_ordering *order,
		       double last)
{
	uint32_t width = tt_shape_last(&(*tensor)->spec.padded, 1);
	struct tt_tensor *next;

	*padded = tt_ordering_padded(*tensor);
	if ((*tensor)->spec.layout == TTNN_TILE)
		TT_TRY(tt_ordering_fill(tensor, order->call, *tensor, last));
	if (width == sortable_width(width))
		return TTNN_OK;
	*padded = true;
	TT_TRY(tt_ordering_pad(&next, order->call, *tensor, sortable_width(width), last));
	if (order->swapped)
		tt_call_drop(order->call, order->swapped);
	*tensor = tt_call_own(order->call, next);
	return TTNN_OK;
}

static tt_status launch_sort(struct tt_tensor **results, struct tt_call *call, struct tt_tensor *in,
			     const struct tt_ordering *order, bool padded)
{
	uint32_t width = tt_shape_last(&order->shape, 1);
	struct tt_tensor *given[2];
	size_t count;

	for (uint32_t i = 0; i < 2; i++) {
		given[i] = tt_value_item_tensor(tt_call_arg(call, "out"), i);
		if (order->swapped ||
		    (given[i] && !ttnn_shape_equal(&given[i]->spec.shape, &in->spec.shape)))
			given[i] = NULL;
	}
	return tt_call_programs(
		results, &count, call,
		&(struct tt_program_args){.prog = &prog,
					  .extra = &width,
					  TT_BIND(call, schema, [DIM] = ttnn_v_int(-1),
						  [MEMORY] = ttnn_v_memory(order->memory),
						  [PADDED] = ttnn_v_bool(padded)),
					  TT_INPUTS(in),
					  TT_OUTPUTS(given[0], given[1])});
}

static tt_status sort_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *cube, *results[2];
	int64_t dim = tt_call_int(call, "dim", -1), rank = in->spec.shape.rank;
	double last = tt_call_bool(call, "descending", false) ? -INFINITY : INFINITY;
	struct tt_ordering order = {.call = call, .memory = tt_memory_or_like(call, in)};
	uint32_t width;
	bool padded;

	TT_REQUIRE(
		(dim >= -rank && dim < rank) || (rank == 0 && (dim == 0 || dim == -1)),
		"(dim >= -static_cast<int8_t>(rank) && dim < static_cast<int8_t>(rank)) || (rank "
		"== 0 && (dim == 0 || dim == -1))",
		"Sort dim %" PRId64 " is out of range for rank-%" PRId64 " tensor", dim, rank);
	TT_TRY(tt_need_device(in));
	order.dim = (uint32_t)(dim < 0 ? dim + rank : dim);
	if (rank == 0 || in->spec.shape.dim[order.dim] == 1)
		return expand_single(call, in, order.memory);
	TT_TRY(tt_ordering_begin(&cube, &order, in));
	width = tt_shape_last(&cube->spec.shape, 1);
	TT_TRY(widen(&cube, &padded, &order, last));
	TT_TRY(launch_sort(results, call, cube, &order, padded));
	if (tt_shape_last(&results[0]->spec.shape, 1) != width) {
		tt_status status = tt_ordering_cut(results, &order, width);

		if (status != TTNN_OK) {
			tt_call_drop(call, results[0]);
			tt_call_drop(call, results[1]);
			return status;
		}
	}
	return tt_ordering_end(results, &order);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.sort",
	 .family = "ordering",
	 .doc = "The values along a dimension in order, and where they were.",
	 .sigs = {"input_tensor: Tensor, dim: int = -1, descending: bool = False, stable: bool = "
		  "False, *, memory_config: MemoryConfig? = None, out: Tensors? = None"},
	 .expand = sort_expand,
	 .golden = tt_golden_sort,
	 .pcc = 0.999,
	 .gives = "[Tensor]"},
};

const struct tt_op_family tt_family_sort = {"sort", ops, TT_COUNT(ops)};
