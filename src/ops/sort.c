/*
 * sort.c: the values along a dimension in order, and where they were. A core sorts a row of tiles, or
 * all cores together one that is too long for that.
 */
#include <inttypes.h>
#include <math.h>

#include "device/device.h"
#include "device/devtensor.h"
#include "device/split.h"
#include "ops/golden_reduction.h"
#include "ops/movement.h"
#include "ops/ordering.h"
#include "ops/reduce.h"
#include "ops/rows.h"
#include "tensor/core.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

enum { DIM, DESCENDING, STABLE, MEMORY, PADDED, ATTRS };

static const struct tt_field fields[ATTRS] = {
	[DIM] = {.name = "dim"},          [DESCENDING] = {.name = "descending"},
	[STABLE] = {.name = "stable"},    [MEMORY] = {.name = "output_mem_config"},
	[PADDED] = {.name = "is_padded"},
};
static const struct tt_schema schema = {"SortParams", fields, ATTRS, false};

#define MOST_16_BITS 65535

/* Whether places have 32 bits. */
static bool is_wide(const struct ttnn_tensor_spec *in)
{
	return in->dtype != TTNN_BFLOAT16 || tt_shape_last(&in->padded, 1) > MOST_16_BITS;
}

static tt_status infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *memory = launch->attrs[MEMORY].memory;

	launch->output_count = 2;
	if (launch->outputs[0] && launch->outputs[1]) {
		launch->specs[0] = launch->outputs[0]->spec;
		launch->specs[1] = launch->outputs[1]->spec;
		return TTNN_OK;
	}
	TT_TRY(tt_spec_simple(&launch->specs[0], &in->shape, in->dtype, in->layout, memory));
	return tt_spec_simple(&launch->specs[1], &in->shape,
			      is_wide(in) ? TTNN_UINT32 : TTNN_UINT16, in->layout, memory);
}

static tt_status validate(struct tt_launch *launch)
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
/* Numbers: bytes of tiles of values and places; tiles of a row or a part; layout and type of them. */
enum { VALUE_BYTES, PLACE_BYTES, TILES, FROM_ROWS, FROM_TILES, CASTS };

#define MOST_TILES 64

/* A table that tells the cores of each other, on the device while the program runs. */
static tt_status plan_cross(struct tt_launch *launch, struct tt_move_work *work, uint64_t width)
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
	work->number[TILES] = width / cores;
	args.shape.dim[1] = (uint32_t)(2 * cores);
	TT_TRY(tt_split_cores(&work->cores[0], grid, origin, cores, TTNN_ORIENT_ROW_MAJOR));
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

static tt_status choose(uint32_t *out, struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_reduce_tiles tiles = tt_reduce_tiles_of(in);
	struct tt_move_work *work = tt_move_work_new(launch);
	bool wide = in->dtype != TTNN_BFLOAT16;
	struct tt_work_split split;
	uint64_t rows;

	if (!work)
		return TTNN_NOMEM;
	work->number[VALUE_BYTES] = tt_tile_bytes_of(wide ? TTNN_FLOAT32 : TTNN_BFLOAT16);
	work->number[PLACE_BYTES] = tt_tile_bytes_of(is_wide(in) ? TTNN_UINT32 : TTNN_UINT16);
	work->number[TILES] = tiles.width;
	work->number[FROM_ROWS] = in->layout == TTNN_ROW_MAJOR;
	work->number[FROM_TILES] = in->layout == TTNN_TILE;
	work->number[CASTS] = in->dtype == TTNN_UINT16;
	*out = tiles.width > MOST_TILES ? CROSS : SINGLE;
	if (*out == CROSS)
		return plan_cross(launch, work, tiles.width);
	rows = tiles.matrices * tiles.height;
	TT_TRY(tt_split_work(&split, tt_grid_size(launch->grid), rows, TTNN_ORIENT_ROW_MAJOR));
	work->cores[0] = split.all;
	return TTNN_OK;
}

static uint64_t half_kilobyte(const struct tt_launch *launch)
{
	(void)launch;
	return 512;
}

#define ROW(index_, ...)                                                                           \
	{                                                                                          \
		.kind = TT_DFB, .index = index_, .cores = tt_work_cores0, __VA_ARGS__              \
	}
#define VALUE tt_number0
#define PLACE tt_number1

static const struct tt_mem_row single_rows[] = {
	ROW(0, .when = tt_has4, .page_count = 4, .page = VALUE),
	ROW(1, .when = tt_has4, .page_count = 4, .page = PLACE),
	ROW(2, .pages = tt_number2, .page = VALUE),
	ROW(3, .pages = tt_number2, .page = PLACE),
	ROW(4, .when = tt_has4, .page_count = 2, .page = VALUE),
	ROW(5, .when = tt_has4, .page_count = 2, .page = PLACE),
	ROW(4, .when = tt_has3, .pages = tt_number2, .page = VALUE),
	ROW(5, .when = tt_has3, .pages = tt_number2, .page = PLACE),
	ROW(6, .page_count = 2, .page = half_kilobyte),
	ROW(7, .when = tt_has5, .page_count = 1, .page = tt_page_in0),
	ROW(8, .when = tt_has5, .page_count = 1, .page = tt_page_out0),
	ROW(9, .when = tt_has3, .pages = tt_number2, .page = VALUE),
	ROW(10, .when = tt_has3, .pages = tt_number2, .page = PLACE),
	ROW(11, .when = tt_has3, .pages = tt_number2, .page = VALUE),
	ROW(12, .when = tt_has3, .pages = tt_number2, .page = PLACE),
};

#define PAIR(index_)                                                                               \
	ROW(index_, .page_count = 2, .page = VALUE), ROW(index_ + 1, .page_count = 2, .page = PLACE)

static const struct tt_mem_row cross_rows[] = {
	PAIR(0),
	ROW(2, .pages = tt_number2, .page = VALUE),
	ROW(3, .pages = tt_number2, .page = PLACE),
	PAIR(4),
	PAIR(6),
	PAIR(8),
	ROW(10, .page_count = 1, .page = tt_page_f32),
	ROW(11, .page_count = 1, .page = tt_page_bf16),
};
static const struct tt_factory factories[] = {
	[SINGLE] = {"ttnn::prim::SortProgramFactorySingleRowSingleCore", single_rows,
		    TT_COUNT(single_rows), NULL},
	[CROSS] = {"ttnn::prim::SortProgramFactoryCrossCoreDataExchange", cross_rows,
		   TT_COUNT(cross_rows), NULL},
};

static tt_status kernel(struct tt_launch *launch)
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
	.infer = infer,
	.validate = validate,
	.factories = factories,
	.factory_count = TT_COUNT(factories),
	.choose = choose,
	TT_KERNEL(kernel),
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

/* Tiles have padding that comes last, and a sortable width. *padded tells whether there was any. */
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
	const struct ttnn_value *out = tt_call_arg(call, "out");
	struct ttnn_value attrs[ATTRS] = {
		[DIM] = ttnn_v_int(-1),
		[DESCENDING] = ttnn_v_bool(tt_call_bool(call, "descending", false)),
		[STABLE] = ttnn_v_bool(tt_call_bool(call, "stable", false)),
		[MEMORY] = ttnn_v_memory(order->memory),
		[PADDED] = ttnn_v_bool(padded),
	};
	struct tt_tensor *given[2] = {NULL, NULL};
	uint32_t width = tt_shape_last(&order->shape, 1);
	struct tt_program_args args = {.prog = &prog,
				       .attrs = attrs,
				       .extra = &width,
				       .inputs = &in,
				       .input_count = 1,
				       .outputs = given,
				       .output_count = 2};
	size_t count;

	for (uint32_t i = 0; out->kind == TTNN_VALUE_LIST && i < 2 && i < out->count; i++)
		if (out->items[i].kind == TTNN_VALUE_TENSOR &&
		    ttnn_shape_equal(&out->items[i].tensor->spec.shape, &in->spec.shape) &&
		    !order->swapped)
			given[i] = out->items[i].tensor;
	return tt_call_programs(results, &count, call, &args);
}

static tt_status expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *cube, *results[2];
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	int64_t dim = tt_call_int(call, "dim", -1), rank = in->spec.shape.rank;
	double last = tt_call_bool(call, "descending", false) ? -INFINITY : INFINITY;
	struct tt_ordering order = {.call = call, .memory = memory ? memory : &in->spec.memory};
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
	 .expand = expand,
	 .golden = tt_golden_sort,
	 .pcc = 0.999,
	 .many = true},
};

const struct tt_op_family tt_family_sort = {"sort", ops, TT_COUNT(ops)};
