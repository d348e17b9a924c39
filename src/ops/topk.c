/*
 * topk.c: the largest or smallest values along a dimension, and where they were. Long rows are split
 * over many cores and what those found is searched again; short ones are searched by a core each.
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

enum { K, DIM, LARGEST, SORTED, STABLE, MEMORY, CORES, ATTRS };

static const struct tt_field fields[ATTRS] = {
	[K] = {.name = "k"},
	[DIM] = {.name = "dim"},
	[LARGEST] = {.name = "largest"},
	[SORTED] = {.name = "sorted"},
	[STABLE] = {.name = "stable"},
	[MEMORY] = {.name = "output_memory_config"},
	[CORES] = {.name = "sub_core_grids", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>"},
};
static const struct tt_schema schema = {"TopkParams", fields, ATTRS, false};

/* Places beyond 16 bits, and those of 32-bit values, have 32 bits. */
#define MOST_16_BITS 65536

static tt_status infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *memory = launch->attrs[MEMORY].memory;
	struct ttnn_shape shape = in->shape;
	bool wide = tt_shape_last(&in->padded, 1) > MOST_16_BITS || in->dtype == TTNN_FLOAT32;

	launch->output_count = 2;
	if (launch->outputs[0] && launch->outputs[1]) {
		launch->specs[0] = launch->outputs[0]->spec;
		launch->specs[1] = launch->outputs[1]->spec;
		return TTNN_OK;
	}
	shape.dim[shape.rank - 1] = (uint32_t)launch->attrs[K].integer;
	TT_TRY(tt_spec_simple(&launch->specs[0], &shape, in->dtype, TTNN_TILE, memory));
	return tt_spec_simple(&launch->specs[1], &shape, wide ? TTNN_UINT32 : TTNN_UINT16,
			      TTNN_TILE, memory);
}

static tt_status validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	TT_REQUIRE(in->layout == TTNN_TILE, "input_tensor.layout() == Layout::TILE",
		   "The input must be in tiled format");
	TT_REQUIRE(in->dtype == TTNN_BFLOAT16 || in->dtype == TTNN_BFLOAT8_B ||
			   in->dtype == TTNN_FLOAT32,
		   "input_tensor_dtype == DataType::BFLOAT16 || input_tensor_dtype == "
		   "DataType::BFLOAT8_B || input_tensor_dtype == DataType::FLOAT32",
		   "Input tensor must be BFLOAT16, BFLOAT8_B, or FLOAT32, got: DataType::%s",
		   tt_enum_name(&tt_enum_dtype, in->dtype));
	return TTNN_OK;
}

/* ---- program memory -------------------------------------------------------------------------------------- */

enum { SINGLE, MULTI };
/*
 * Numbers: bytes of tiles of values and places on the way; tiles of the result, of a core's part, of
 * all parts' results; whether values and places travel as one. Cores: those with parts, the one that
 * gathers, both.
 */
enum { VALUE_BYTES, PLACE_BYTES, RESULT, PART, GATHERED, PAIRED, APART };

/* How the search is split. */
struct parts {
	uint32_t columns, rows; /* of cores */
	uint64_t tiles;         /* of each */
};

/* The flattest rectangle of that many cores. */
static bool rectangle(struct parts *out, uint64_t cores, uint32_t columns, uint32_t rows)
{
	for (uint32_t y = 1; y <= rows; y++)
		if (cores % y == 0 && cores / y <= columns) {
			out->columns = (uint32_t)(cores / y);
			out->rows = y;
			return true;
		}
	return false;
}

#define LEAST_TILES 4
#define SORTING_COST 3

/* Powers of two; sorting parts costs three times what gathering their results does. */
static bool find_parts(struct parts *out, const struct tt_launch *launch, uint64_t width)
{
	struct ttnn_core grid = tt_grid_size(launch->attrs[CORES].core_set);
	uint64_t result = tt_div_up((uint64_t)launch->attrs[K].integer, 32), best = UINT64_MAX;

	if (grid.x < 2 || grid.y < 3)
		return false;
	for (uint64_t cores = 2; cores <= width / LEAST_TILES; cores *= 2) {
		uint64_t cost = width / cores * SORTING_COST + cores * result;
		struct parts parts = {.tiles = width / cores};

		if (cost >= best || !rectangle(&parts, cores, grid.x - 1, grid.y - 2))
			continue;
		best = cost;
		*out = parts;
	}
	return best != UINT64_MAX;
}

#define LEAST_WIDTH 1024
#define LONG_WIDTH 8192
#define FEW_ROWS 2
#define MOST_K 64

static bool is_multi(struct parts *out, const struct tt_launch *launch)
{
	struct tt_reduce_tiles tiles = tt_reduce_tiles_of(&launch->inputs[0]->spec);
	uint64_t width = tt_shape_last(&launch->inputs[0]->spec.padded, 1);

	if (width < LEAST_WIDTH || width >= MOST_16_BITS || (width & (width - 1)) ||
	    launch->attrs[K].integer > MOST_K)
		return false;
	if (width < LONG_WIDTH && tiles.matrices * tiles.height > FEW_ROWS)
		return false;
	return find_parts(out, launch, tiles.width);
}

static tt_status plan_multi(struct tt_move_work *work, const struct parts *parts)
{
	struct ttnn_core_range range[2] = {{{0, 0}, {parts->columns - 1, parts->rows - 1}},
					   {{0, parts->rows}, {0, parts->rows}}};

	work->number[PART] = parts->tiles;
	work->number[GATHERED] = (uint64_t)parts->columns * parts->rows * work->number[RESULT];
	TT_TRY(ttnn_core_set_make(&work->cores[1], &range[0], 1));
	TT_TRY(ttnn_core_set_make(&work->cores[2], &range[1], 1));
	return ttnn_core_set_make(&work->cores[0], range, 2);
}

static tt_status choose(uint32_t *out, struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_reduce_tiles tiles = tt_reduce_tiles_of(in);
	struct tt_move_work *work = tt_move_work_new(launch);
	struct tt_work_split split;
	struct parts parts = {0};
	bool wide = in->dtype == TTNN_FLOAT32;

	if (!work)
		return TTNN_NOMEM;
	work->number[VALUE_BYTES] = tt_tile_bytes_of(wide ? TTNN_FLOAT32 : TTNN_BFLOAT16);
	work->number[PLACE_BYTES] = tt_tile_bytes_of(launch->outputs[1]->spec.dtype);
	work->number[RESULT] = tt_div_up((uint64_t)launch->attrs[K].integer, 32);
	*out = is_multi(&parts, launch) ? MULTI : SINGLE;
	work->number[PAIRED] = *out == MULTI && launch->attrs[STABLE].boolean && !wide;
	work->number[APART] = !work->number[PAIRED];
	if (*out == MULTI)
		return plan_multi(work, &parts);
	TT_TRY(tt_split_work_in(&split, launch->attrs[CORES].core_set,
				tiles.matrices * tiles.height, TTNN_ORIENT_ROW_MAJOR));
	work->cores[0] = split.all;
	return TTNN_OK;
}

static uint64_t page_values(const struct tt_launch *launch)
{
	return tt_has5(launch) ? 2 * tt_number0(launch) : tt_number0(launch);
}

static uint64_t twice_result(const struct tt_launch *launch)
{
	return 2 * tt_number2(launch);
}

static uint64_t page_places(const struct tt_launch *launch)
{
	return tt_dtype_tile_bytes(launch->outputs[1]->spec.dtype, &launch->outputs[1]->spec.tile);
}

#define ROW(kind_, index_, cores_, ...)                                                            \
	{                                                                                          \
		.kind = kind_, .index = index_, .cores = cores_, __VA_ARGS__                       \
	}
#define ALL tt_work_cores0
#define PARTS tt_work_cores1
#define LAST tt_work_cores2

static const struct tt_mem_row single_rows[] = {
	ROW(TT_DFB, 0, ALL, .page_count = 2, .page = tt_page_in0),
	ROW(TT_DFB, 1, ALL, .page_count = 2, .page = tt_number1),
	ROW(TT_DFB, 2, ALL, .page_count = 4, .page = tt_number0),
	ROW(TT_DFB, 3, ALL, .page_count = 4, .page = tt_number1),
	ROW(TT_DFB, 4, ALL, .pages = twice_result, .page = tt_number0),
	ROW(TT_DFB, 5, ALL, .pages = twice_result, .page = tt_number1),
	ROW(TT_DFB, 6, ALL, .pages = tt_number2, .page = tt_page_out0),
	ROW(TT_DFB, 7, ALL, .pages = tt_number2, .page = page_places),
};

/* Values and places that travel as one have one buffer for both, and one tile to part them in. */
static const struct tt_mem_row multi_rows[] = {
	ROW(TT_CB, 0, ALL, .page_count = 4, .page = tt_page_in0),
	ROW(TT_CB, 1, ALL, .page_count = 4, .page = tt_number1),
	ROW(TT_CB, 26, ALL, .pages = tt_number4, .page = page_values),
	ROW(TT_CB, 27, ALL, .when = tt_has6, .pages = tt_number4, .page = tt_number1),
	ROW(TT_CB, 17, ALL, .when = tt_has6, .page_count = 2, .page = tt_number1),
	ROW(TT_CB, 27, LAST, .when = tt_has5, .page_count = 1, .page = tt_number1),
	ROW(TT_CB, 17, LAST, .when = tt_has5, .page_count = 2, .page = tt_number1),
	ROW(TT_CB, 24, PARTS, .pages = tt_number3, .page = page_values),
	ROW(TT_CB, 25, PARTS, .when = tt_has6, .pages = tt_number3, .page = tt_number1),
	ROW(TT_CB, 25, PARTS, .when = tt_has5, .page_count = 4, .page = tt_number1),
	ROW(TT_CB, 30, PARTS, .when = tt_has6, .page_count = 2, .page = tt_number0),
	ROW(TT_CB, 16, LAST, .page_count = 2, .page = tt_page_out0),
	ROW(TT_CB, 28, LAST, .pages = tt_number4, .page = page_values),
	ROW(TT_CB, 29, LAST, .when = tt_has6, .pages = tt_number4, .page = tt_number1),
	ROW(TT_CB, 29, LAST, .when = tt_has5, .page_count = 1, .page = tt_number1),
};
static const struct tt_factory factories[] = {
	[SINGLE] = {"ttnn::prim::TopKDeviceOperation::TopKSingleCoreProgramFactory", single_rows,
		    TT_COUNT(single_rows), NULL},
	[MULTI] = {"ttnn::prim::TopKDeviceOperation::TopKMultiCoreProgramFactory", multi_rows,
		   TT_COUNT(multi_rows), NULL},
};

static tt_status kernel(struct tt_launch *launch)
{
	struct tt_ordering_job job = {
		.values = launch->outputs[0],
		.indices = launch->outputs[1],
		.in = launch->inputs[0],
		.given = launch->input_count > 1 ? launch->inputs[1] : NULL,
		.count = (uint64_t)launch->attrs[K].integer,
		.width = *(const uint32_t *)launch->extra,
		.descending = launch->attrs[LARGEST].boolean,
	};

	return tt_ordering_run(&job);
}

static const struct tt_prog prog = {
	.device_op = "TopKDeviceOperation",
	.prim = "ttnn::prim::topk",
	.attrs = &schema,
	.infer = infer,
	.validate = validate,
	.factories = factories,
	.factory_count = TT_COUNT(factories),
	.choose = choose,
	TT_KERNEL(kernel),
};

/* ---- the operation ------------------------------------------------------------------------------------------ */

static tt_status check(const struct tt_call *call, const struct tt_tensor *in, int64_t dim,
		       int64_t k)
{
	int64_t rank = in->spec.shape.rank, size;

	TT_REQUIRE((dim >= -rank && dim <= rank - 1) || (rank == 0 && (dim == 0 || dim == -1)),
		   "(dim >= -rank && dim <= (rank - 1)) || (rank == 0 && (dim == 0 || dim == -1))",
		   "Dimension for topk is out of range (expected to be in range of [%" PRId64
		   ", %" PRId64 "])",
		   -rank, rank - 1);
	size = rank ? in->spec.shape.dim[dim < 0 ? dim + rank : dim] : 1;
	TT_REQUIRE(size >= k,
		   "(rank == 0 && k <= 1) || input_tensor.logical_shape()[adjusted_dim] >= k",
		   "K cannot be larger than the dimension size! K=%" PRId64
		   ", dimension size=%" PRId64,
		   k, size);
	(void)call;
	return tt_need_device(in);
}

#define LEAST_ROW 64

/* At least two tiles wide, with padding that loses. */
static tt_status widen(struct tt_tensor **tensor, struct tt_call *call, double loser)
{
	struct tt_tensor *next;

	if (tt_shape_last(&(*tensor)->spec.shape, 1) < LEAST_ROW) {
		TT_TRY(tt_ordering_pad(&next, call, *tensor, LEAST_ROW, loser));
		*tensor = tt_call_own(call, next);
	}
	return tt_ordering_fill(tensor, call, *tensor, loser);
}

static tt_status launch_topk(struct tt_tensor **results, struct tt_call *call, struct tt_tensor *in,
			     const struct tt_ordering *order)
{
	const struct ttnn_value *out = tt_call_arg(call, "output_tensor");
	const ttnn_core_set *cores = tt_call_core_set(call, "sub_core_grids");
	bool largest = tt_call_bool(call, "largest", true);
	bool padded = tt_ordering_padded(in) ||
		      tt_shape_last(&in->spec.shape, 1) != tt_shape_last(&order->shape, 1);
	struct ttnn_value attrs[ATTRS] = {
		[K] = ttnn_v_int((int64_t)tt_align_to((uint64_t)tt_call_int(call, "k", 32), 32)),
		[DIM] = ttnn_v_int(-1),
		[LARGEST] = ttnn_v_bool(largest),
		[SORTED] = ttnn_v_bool(tt_call_bool(call, "sorted", true)),
		[STABLE] = ttnn_v_bool(tt_call_bool(call, "stable", false) || padded),
		[MEMORY] = ttnn_v_memory(order->memory),
		[CORES] = ttnn_v_core_set(cores ? cores : tt_tensor_device(in)->grid),
	};
	struct tt_tensor *inputs[] = {in, tt_call_tensor(call, "indices_tensor")};
	struct tt_tensor *given[2] = {NULL, NULL};
	uint32_t width = tt_shape_last(&order->shape, 1);
	struct tt_program_args args = {.prog = &prog,
				       .attrs = attrs,
				       .extra = &width,
				       .inputs = inputs,
				       .input_count = inputs[1] ? 2 : 1,
				       .outputs = given,
				       .output_count = 2};
	size_t count;

	/* Given outputs are written where they have the program's own shape. */
	for (uint32_t i = 0; out->kind == TTNN_VALUE_LIST && i < 2 && i < out->count; i++)
		if (out->items[i].kind == TTNN_VALUE_TENSOR && order->shape.rank == 4 &&
		    !order->swapped && attrs[K].integer == tt_call_int(call, "k", 32))
			given[i] = out->items[i].tensor;
	return tt_call_programs(results, &count, call, &args);
}

static tt_status expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *cube, *results[2];
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	int64_t k = tt_call_int(call, "k", 32), dim = tt_call_int(call, "dim", -1);
	double loser = tt_call_bool(call, "largest", true) ? -INFINITY : INFINITY;
	struct tt_ordering order = {.call = call, .memory = memory ? memory : &in->spec.memory};
	tt_status status = TTNN_OK;

	TT_TRY(check(call, in, dim, k));
	order.dim = (uint32_t)(dim < 0 ? dim + in->spec.shape.rank : dim);
	TT_TRY(tt_ordering_begin(&cube, &order, in));
	TT_TRY(widen(&cube, call, loser));
	TT_TRY(launch_topk(results, call, cube, &order));
	if (tt_shape_last(&results[0]->spec.shape, 1) != (uint32_t)k)
		status = tt_ordering_cut(results, &order, (uint32_t)k);
	if (status != TTNN_OK) {
		tt_call_drop(call, results[0]);
		tt_call_drop(call, results[1]);
		return status;
	}
	return tt_ordering_end(results, &order);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.topk",
	 .family = "ordering",
	 .doc = "The largest or smallest values along a dimension, and where they were.",
	 .sigs = {"input_tensor: Tensor, k: int = 32, dim: int = -1, largest: bool = True, sorted: "
		  "bool = True, *, memory_config: MemoryConfig? = None, sub_core_grids: "
		  "CoreRangeSet? = None, indices_tensor: Tensor? = None, output_tensor: Tensors? "
		  "= None, stable: bool = False"},
	 .expand = expand,
	 .golden = tt_golden_topk,
	 .pcc = 0.999,
	 .many = true},
};

const struct tt_op_family tt_family_topk = {"topk", ops, TT_COUNT(ops)};
