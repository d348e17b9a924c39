/*
 * topk.c: the largest or smallest values along a dimension, and where they were. Long rows are
 * split over many cores and what those found is searched again; short ones are searched by a
 * core each.
 *
 * Models TopKDeviceOperation of ttnn 0.81 (reduction/topk/device) with its two factories,
 * TopKSingleCoreProgramFactory and TopKMultiCoreProgramFactory: refusals, memory, cores. The
 * second serves widths that are powers of two within 16-bit indices, k up to 64, and rows that
 * are long or few, if the parts fit into L1 (is_multi()). Not modelled: the order of equal
 * values.
 */
#include <inttypes.h>
#include <math.h>

#include "golden/golden_reduction.h"
#include "ops/movement/movement.h"
#include "ops/reduce/ordering.h"
#include "ops/reduce/reduce_program.h"

#define ATTRS(X)                                                                                   \
	X(K, "k")                                                                                  \
	X(DIM, "dim")                                                                              \
	X(LARGEST, "largest")                                                                      \
	X(SORTED, "sorted")                                                                        \
	X(STABLE, "stable")                                                                        \
	X(MEMORY, "output_memory_config")                                                          \
	X(CORES, "sub_core_grids", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>")
TT_ATTRS(schema, "TopkParams", ATTRS);

/* Places beyond 16 bits, and those of 32-bit values, have 32 bits. */
#define MOST_16_BITS 65536

/* k values; places as uint16 where they fit. */
static tt_status topk_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *memory = launch->attrs[MEMORY].memory;
	struct ttnn_shape shape = in->shape;
	bool wide = tt_shape_last(&in->padded, 1) > MOST_16_BITS || in->dtype == TTNN_FLOAT32;

	launch->output_count = 2;
	if (tt_ordering_given(launch))
		return TTNN_OK;
	shape.dim[shape.rank - 1] = (uint32_t)launch->attrs[K].integer;
	TT_TRY(tt_spec_simple(&launch->specs[0], &shape, in->dtype, TTNN_TILE, memory));
	return tt_spec_simple(&launch->specs[1], &shape, wide ? TTNN_UINT32 : TTNN_UINT16,
			      TTNN_TILE, memory);
}

static bool is_place(enum ttnn_dtype dtype)
{
	return dtype == TTNN_UINT16 || dtype == TTNN_UINT32 || dtype == TTNN_INT32;
}

/* Places that the caller names. */
static tt_status check_places(const struct ttnn_tensor_spec *places,
			      const struct ttnn_tensor_spec *in)
{
	TT_REQUIRE(is_place(places->dtype),
		   "indices_tensor_dtype == DataType::UINT16 || indices_tensor_dtype == "
		   "DataType::UINT32 || indices_tensor_dtype == DataType::INT32",
		   "Optional input tensor must be UINT16, UINT32, or INT32, got: DataType::%s",
		   tt_enum_name(&tt_enum_dtype, places->dtype));
	TT_REQUIRE(in->dtype != TTNN_FLOAT32 || places->dtype != TTNN_UINT16,
		   "!(input_tensor_dtype == DataType::FLOAT32 && indices_tensor_dtype == "
		   "DataType::UINT16)",
		   "Optional indices tensor must be UINT32 when input tensor is FLOAT32, got "
		   "UINT16");
	return TTNN_OK;
}

static tt_status check_outputs(const struct tt_launch *launch)
{
	enum ttnn_dtype in = launch->inputs[0]->spec.dtype;
	enum ttnn_dtype values = launch->outputs[0]->spec.dtype;
	enum ttnn_dtype places = launch->outputs[1]->spec.dtype;

	TT_REQUIRE(values == TTNN_BFLOAT16 || values == TTNN_BFLOAT8_B || values == TTNN_FLOAT32,
		   "output_tensor0_dtype == DataType::BFLOAT16 || output_tensor0_dtype == "
		   "DataType::BFLOAT8_B || output_tensor0_dtype == DataType::FLOAT32",
		   "Preallocated output tensor must be BFLOAT16, BFLOAT8_B, or FLOAT32 got: "
		   "DataType::%s",
		   tt_enum_name(&tt_enum_dtype, values));
	TT_REQUIRE(is_place(places),
		   "output_tensor1_dtype == DataType::UINT16 || output_tensor1_dtype == "
		   "DataType::UINT32 || output_tensor1_dtype == DataType::INT32",
		   "Preallocated indices tensor must be UINT16, UINT32, or INT32 got: DataType::%s",
		   tt_enum_name(&tt_enum_dtype, places));
	TT_REQUIRE(values == in, "output_tensor0_dtype == input_tensor_dtype",
		   "Preallocated output tensor dtype must match input tensor dtype. Got output: "
		   "DataType::%s, input: DataType::%s",
		   tt_enum_name(&tt_enum_dtype, values), tt_enum_name(&tt_enum_dtype, in));
	return TTNN_OK;
}

/* Tiles of floats. */
static tt_status topk_validate(struct tt_launch *launch)
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
	if (launch->input_count > 1)
		TT_TRY(check_places(&launch->inputs[1]->spec, in));
	return launch->outputs[0] ? check_outputs(launch) : TTNN_OK;
}

/* ---- program memory -------------------------------------------------------------------------------------- */

enum { SINGLE, MULTI };
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
	uint64_t result = tt_div_up((uint64_t)launch->attrs[K].integer, TT_TILE), best = UINT64_MAX;

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

/* Bytes of tiles of values on the way; of places there; tiles of the result. */
static uint64_t value_bytes(const struct tt_launch *launch)
{
	bool wide = launch->inputs[0]->spec.dtype == TTNN_FLOAT32;

	return tt_tile_bytes_of(wide ? TTNN_FLOAT32 : TTNN_BFLOAT16);
}

static uint64_t place_bytes(const struct tt_launch *launch)
{
	return tt_tile_bytes_of(launch->outputs[1]->spec.dtype);
}

static uint64_t result_tiles(const struct tt_launch *launch)
{
	return tt_div_up((uint64_t)launch->attrs[K].integer, TT_TILE);
}

static tt_status topk_choose(uint32_t *out, struct tt_launch *launch)
{
	struct parts parts;

	*out = is_multi(&parts, launch) ? MULTI : SINGLE;
	return TTNN_OK;
}

static tt_status topk_single_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_reduce_tiles tiles = tt_reduce_tiles_of(&launch->inputs[0]->spec);
	const struct ttnn_tensor_spec *places = &launch->outputs[1]->spec;
	uint64_t value = value_bytes(launch), place = place_bytes(launch);
	uint64_t result = result_tiles(launch);
	struct tt_work_split split;

	TT_TRY(tt_split_work_in(&split, launch->attrs[CORES].core_set,
				tiles.matrices * tiles.height, TTNN_ORIENT_ROW_MAJOR));
	return TT_PLAN(plan, split.all,
		       TT_DFB_ROW(0, "input", .pages = 2, .page = tt_page_in0(launch)),
		       TT_DFB_ROW(1, "index", .pages = 2, .page = place),
		       TT_DFB_ROW(2, "transposed_val", .pages = 4, .page = value),
		       TT_DFB_ROW(3, "transposed_ind", .pages = 4, .page = place),
		       TT_DFB_ROW(4, "result_prep_val", .pages = 2 * result, .page = value),
		       TT_DFB_ROW(5, "result_prep_ind", .pages = 2 * result, .page = place),
		       TT_DFB_ROW(6, "output_val", .pages = result, .page = tt_page_out0(launch)),
		       TT_DFB_ROW(7, "output_ind", .pages = result,
				  .page = tt_dtype_tile_bytes(places->dtype, &places->tile)));
}

/*
 * Cores that search a part each, and one below them that gathers what they found and searches
 * that again. All have all buffers, as upstream makes them on both sets. Stable order sends
 * values and places as one.
 */
static tt_status topk_multi_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t value = value_bytes(launch), place = place_bytes(launch), gathered, values;
	/* Values and places travel as one: one buffer for both, and one tile to part them in. */
	bool paired =
		launch->attrs[STABLE].boolean && launch->inputs[0]->spec.dtype != TTNN_FLOAT32;
	const ttnn_core_set *both, *searching, *last;
	struct ttnn_core_range range[2];
	struct parts parts = {0};

	is_multi(&parts, launch);
	range[0] = (struct ttnn_core_range){{0, 0}, {parts.columns - 1, parts.rows - 1}};
	range[1] = (struct ttnn_core_range){{0, parts.rows}, {0, parts.rows}};
	TT_TRY(ttnn_core_set_make(&searching, &range[0], 1));
	TT_TRY(ttnn_core_set_make(&last, &range[1], 1));
	TT_TRY(ttnn_core_set_make(&both, range, 2));
	gathered = (uint64_t)parts.columns * parts.rows * result_tiles(launch);
	values = paired ? 2 * value : value;
	return TT_PLAN(
		plan, both, TT_CB_ROW(0, "input_cb", .pages = 4, .page = tt_page_in0(launch)),
		TT_CB_ROW(1, "index_cb", .pages = 4, .page = place),
		TT_CB_ROW(26, "gathered_values_cb", .pages = gathered, .page = values),
		TT_CB_ROW(27, "gathered_indices_cb", .pages = paired ? 1 : gathered, .page = place,
			  .cores = paired ? last : NULL),
		TT_CB_ROW(17, "output_ind_cb", .pages = 2, .page = place,
			  .cores = paired ? last : NULL),
		TT_CB_ROW(24, "input_transposed_cb", .pages = parts.tiles, .page = values,
			  .cores = searching),
		TT_CB_ROW(25, "index_transposed_cb", .pages = paired ? 4 : parts.tiles,
			  .page = place, .cores = searching),
		TT_CB_ROW(30, "values_cb", .pages = paired ? 0 : 2, .page = value,
			  .cores = searching),
		TT_CB_ROW(16, "output_val_cb", .pages = 2, .page = tt_page_out0(launch),
			  .cores = last),
		TT_CB_ROW(28, "final_values_cb", .pages = gathered, .page = values, .cores = last),
		TT_CB_ROW(29, "final_indices_cb", .pages = paired ? 1 : gathered, .page = place,
			  .cores = last));
}

static const struct tt_factory factories[] = {
	[SINGLE] = {.name = "ttnn::prim::TopKDeviceOperation::TopKSingleCoreProgramFactory",
		    .memory = topk_single_memory},
	[MULTI] = {.name = "ttnn::prim::TopKDeviceOperation::TopKMultiCoreProgramFactory",
		   .memory = topk_multi_memory},
};

static tt_status topk_kernel(struct tt_launch *launch)
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
	.infer = topk_infer,
	.validate = topk_validate,
	TT_FACTORIES(factories),
	.choose = topk_choose,
	TT_KERNEL(topk_kernel),
};

/* ---- the operation ------------------------------------------------------------------------------------------ */

static tt_status topk_check(const struct tt_tensor *in, int64_t dim, int64_t k)
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
	return tt_need_device(in);
}

/*
 * Tensors that the caller gives: for results, which must have the final shape, and with names of
 * places, which the program returns instead of counting.
 */
static tt_status check_given(const struct tt_call *call, const struct tt_tensor *in, uint32_t dim)
{
	const struct tt_tensor *places = tt_call_tensor(call, "indices_tensor");
	const struct ttnn_value *given = tt_call_arg(call, "output_tensor");
	const struct ttnn_shape *shape = &in->spec.shape;
	struct ttnn_shape wanted = *shape;
	static const char *const texts[] = {
		"Preallocated values tensor has incorrect shape! Got : %s, expected: %s",
		"Preallocated indices tensor has incorrect shape! Got : %s, expected: %s"};

	if (shape->rank)
		wanted.dim[dim] = (uint32_t)tt_call_int(call, "k", 32);
	for (size_t i = 0; i < TT_COUNT(texts); i++) {
		const struct tt_tensor *out = tt_value_item_tensor(given, i);

		if (out && !ttnn_shape_equal(&out->spec.shape, &wanted))
			return tt_fail_shapes(
				TTNN_INVALID,
				i ? "preallocated_indices.logical_shape() == desired_final_shape"
				  : "preallocated_values.logical_shape() == desired_final_shape",
				texts[i], &out->spec.shape, &wanted);
	}
	if (!places)
		return TTNN_OK;
	if (!ttnn_shape_equal(&places->spec.shape, shape))
		return tt_fail_shapes(
			TTNN_INVALID,
			"indices_tensor->logical_shape() == input_tensor.logical_shape()",
			"Indices tensor has incorrect shape! Got : %s, expected: %s",
			&places->spec.shape, shape);
	TT_REQUIRE(dim + 1 >= shape->rank, "is_dim_last_idx",
		   "Indices tensor is only supported for a reduction on the last dimension, got "
		   "dim=%" PRId64 " for rank %" PRIu32,
		   tt_call_int(call, "dim", -1), shape->rank);
	return TTNN_OK;
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
	const ttnn_core_set *cores = tt_call_core_set(call, "sub_core_grids");
	uint32_t width = tt_shape_last(&order->shape, 1);
	int64_t k = tt_call_int(call, "k", 32);
	int64_t found = (int64_t)tt_align_to((uint64_t)k, TT_TILE);
	bool padded = tt_ordering_padded(in) || tt_shape_last(&in->spec.shape, 1) != width;
	bool stable = tt_call_bool(call, "stable", false) || padded;
	struct tt_tensor *inputs[] = {in, tt_call_tensor(call, "indices_tensor")};
	/* Given outputs are written where they have the program's own shape. */
	bool direct = order->shape.rank == 4 && !order->swapped && found == k;
	const struct ttnn_value *given = tt_call_arg(call, "output_tensor");
	struct tt_program_args args = {
		.prog = &prog,
		.extra = &width,
		.inputs = inputs,
		.input_count = inputs[1] ? 2 : 1,
		TT_BIND(call, schema, [K] = ttnn_v_int(found), [DIM] = ttnn_v_int(-1),
			[STABLE] = ttnn_v_bool(stable), [MEMORY] = ttnn_v_memory(order->memory),
			[CORES] = ttnn_v_core_set(cores ? cores : tt_tensor_device(in)->grid)),
		TT_OUTPUTS(direct ? tt_value_item_tensor(given, 0) : NULL,
			   direct ? tt_value_item_tensor(given, 1) : NULL)};
	size_t count;

	return tt_call_programs(results, &count, call, &args);
}

/* Two tensors without values, both of the input's type: made on the host and sent. */
static tt_status nothing(struct tt_call *call, struct tt_tensor *in, uint32_t dim)
{
	const struct ttnn_memory_config *memory = tt_memory_or_like(call, in);
	struct ttnn_shape shape = in->spec.shape;
	struct tt_tensor *host, *out;
	struct ttnn_tensor_spec spec;
	tt_status status;

	shape.dim[dim] = 0;
	TT_TRY(tt_spec_simple(&spec, &shape, in->spec.dtype, in->spec.layout, memory));
	for (int i = 0; i < 2; i++) {
		TT_TRY(tt_tensor_alloc(&host, &spec));
		status = tt_host_to_device(&out, call, host, tt_tensor_device(in), memory);
		ttnn_tensor_unref(host);
		TT_TRY(status);
		tt_call_return(call, out);
	}
	return TTNN_OK;
}

static tt_status topk_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *cube, *results[2];
	int64_t k = tt_call_int(call, "k", 32), dim = tt_call_int(call, "dim", -1);
	double loser = tt_call_bool(call, "largest", true) ? -INFINITY : INFINITY;
	struct tt_ordering order = {.call = call, .memory = tt_memory_or_like(call, in)};
	tt_status status = TTNN_OK;

	TT_TRY(topk_check(in, dim, k));
	order.dim = (uint32_t)(dim < 0 ? dim + in->spec.shape.rank : dim);
	TT_TRY(check_given(call, in, order.dim));
	if (k == 0 && in->spec.shape.rank)
		return nothing(call, in, order.dim);
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
	 .doc = "The largest or smallest values along a dimension, and where they were.",
	 .sigs = {"input_tensor: Tensor, k: int = 32, dim: int = -1, largest: bool = True, sorted: "
		  "bool = True, *, memory_config: MemoryConfig? = None, sub_core_grids: "
		  "CoreRangeSet? = None, indices_tensor: Tensor? = None, output_tensor: Tensors? "
		  "= None, stable: bool = False"},
	 .expand = topk_expand,
	 .golden = tt_golden_topk,
	 .gives = "[Tensor]"},
};

const struct tt_op_family tt_family_topk = {"ordering", ops, TT_COUNT(ops)};
