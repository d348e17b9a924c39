/*
 * sort.c: the values along a dimension in order, and where they were.
 *
 * Models SortDeviceOperation of ttnn 0.81 (data_movement/sort/device): refusals, memory, cores,
 * table, and the choice of a factory (factory_of()) by how many tiles a row has:
 *
 *	SortProgramFactorySingleRowSingleCore    a core sorts a row
 *	SortProgramFactoryCrossCoreDataExchange  cores have parts of a row and exchange tiles
 *	SortProgramFactorySingleRowMultiCore     a coordinator has cores take tiles from DRAM
 *
 * A bitonic sort: widths are padded to powers of two with what sorts last. Not modelled: the
 * order of equal values.
 */
#include <inttypes.h>
#include <math.h>

#include "golden/golden_reduction.h"
#include "ops/movement/movement.h"
#include "ops/reduce/ordering.h"
#include "ops/reduce/reduce_program.h"

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

/* Values, and places as uint16 or, for long rows, uint32. */
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

/* What the sorting network takes. */
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

enum { SINGLE, CROSS, MULTI };
/* What choose() works out. */
struct sort_work {
	const ttnn_core_set *cores;
	const ttnn_core_set *coordinator; /* (optional) the core that tells the others what to do */
	uint64_t tiles;                   /* of a row, or of a core's part */
};

#define MOST_TILES 64
#define MOST_TILES_UINT16_ROWS 32
#define MOST_TILES_EXCHANGED 128 /* by a core */

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

/* Pairs of tiles for all cores but the last, which coordinates them. */
static tt_status plan_multi(struct tt_launch *launch, struct sort_work *work, uint64_t width)
{
	struct ttnn_core grid = tt_grid_size(launch->grid);
	struct ttnn_core origin = {0, 0}, last = {grid.x - 1, grid.y - 1};
	uint64_t pairs = width / 2, most = (uint64_t)grid.x * grid.y - 1;

	work->tiles = 2;
	TT_TRY(tt_split_cores(&work->coordinator, grid, last, 1, TTNN_ORIENT_ROW_MAJOR));
	return tt_split_cores(&work->cores, grid, origin, pairs < most ? pairs : most,
			      TTNN_ORIENT_ROW_MAJOR);
}

/* The factory for rows of so many tiles. */
static uint32_t factory_of(const struct tt_launch *launch, uint64_t width)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_core grid = tt_grid_size(launch->grid);
	uint64_t cores = (uint64_t)grid.x * grid.y;
	bool casts = in->dtype == TTNN_UINT16, rows = in->layout == TTNN_ROW_MAJOR;

	if (width <= (casts && rows ? MOST_TILES_UINT16_ROWS : MOST_TILES))
		return SINGLE;
	return casts || width > cores * MOST_TILES_EXCHANGED ? MULTI : CROSS;
}

/* By the length of a row: one core, several that exchange tiles, or a coordinator and DRAM. */
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
	*out = factory_of(launch, tiles.width);
	if (*out == CROSS)
		return plan_cross(launch, work, tiles.width);
	if (*out == MULTI)
		return plan_multi(launch, work, tiles.width);
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

/* A whole row of tiles, values and places; rows are tilized on the way, uint16 is cast. */
static tt_status sort_single_memory(struct tt_plan *plan, const struct tt_launch *launch)
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

/* Tiles from the peer beside one's own, and a table of where cores are. */
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

/* Two tiles of each on every core; the coordinator has buffers of its own. */
static tt_status sort_multi_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct sort_work *work = launch->work;
	uint64_t value = value_bytes(in), place = place_bytes(in);
	bool rows = in->layout == TTNN_ROW_MAJOR, casts = in->dtype == TTNN_UINT16;
	uint64_t in_rows = rows ? 2 : 0, in_tiles = rows ? 0 : 2;

	return TT_PLAN(
		plan, work->cores,
		TT_DFB_ROW(0, "coordinator_value", .pages = in_tiles, .page = value,
			   .cores = work->coordinator),
		TT_DFB_ROW(1, "coordinator_index", .pages = in_tiles, .page = place,
			   .cores = work->coordinator),
		TT_DFB_ROW(2, "input", .pages = 2, .page = value),
		TT_DFB_ROW(3, "index", .pages = 2, .page = place),
		TT_DFB_ROW(4, "input_transposed", .pages = 2, .page = value),
		TT_DFB_ROW(5, "index_transposed", .pages = 2, .page = place),
		TT_DFB_ROW(6, "value", .pages = 2, .page = value),
		TT_DFB_ROW(7, "index_output", .pages = 2, .page = place),
		TT_DFB_ROW(8, "coordinator_value_row", .pages = rows,
			   .page = 32 * tt_element_bytes(launch->inputs[0]),
			   .cores = work->coordinator),
		TT_DFB_ROW(9, "coordinator_index_row", .pages = rows, .page = place / 32,
			   .cores = work->coordinator),
		TT_DFB_ROW(10, "rows_in", .pages = in_rows, .page = value),
		TT_DFB_ROW(11, "index_rows_in", .pages = in_rows, .page = place),
		TT_DFB_ROW(12, "rows_out", .pages = in_rows, .page = value),
		TT_DFB_ROW(13, "index_rows_out", .pages = in_rows, .page = place),
		TT_DFB_ROW(14, "cast_in", .pages = casts, .page = tt_tile_bytes_of(TTNN_UINT16)),
		TT_DFB_ROW(15, "cast_out", .pages = casts, .page = tt_tile_bytes_of(TTNN_UINT16)));
}

static const struct tt_factory factories[] = {
	[SINGLE] = {.name = "ttnn::prim::SortProgramFactorySingleRowSingleCore",
		    .memory = sort_single_memory},
	[CROSS] = {.name = "ttnn::prim::SortProgramFactoryCrossCoreDataExchange",
		   .memory = cross_memory},
	[MULTI] = {.name = "ttnn::prim::SortProgramFactorySingleRowMultiCore",
		   .memory = sort_multi_memory},
};

/* Only the real width is sorted. */
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

/* A call of sort. */
struct request {
	struct tt_call *call;
	struct tt_tensor *in;
	struct tt_tensor *given[2];              /* (optional) where values and places go */
	const struct ttnn_memory_config *memory; /* of the values */
	struct tt_ordering order;
};

static bool is_sharded(const struct ttnn_memory_config *memory)
{
	return memory->layout != TTNN_INTERLEAVED;
}

static enum ttnn_dtype single_places(const struct tt_tensor *in)
{
	return in->spec.dtype == TTNN_BFLOAT16 ? TTNN_UINT16 : TTNN_UINT32;
}

/* Both outputs are there or none; they have to be as the results will be. */
static tt_status check_given(struct request *request)
{
	const struct ttnn_value *out = tt_call_arg(request->call, "out");
	const struct ttnn_tensor_spec *in = &request->in->spec;
	const struct ttnn_tensor_spec *specs[2];

	if (!tt_value_given(out))
		return TTNN_OK;
	for (size_t i = 0; i < 2; i++) {
		request->given[i] = tt_value_item_tensor(out, i);
		TT_NEED(out->count == 2 && request->given[i],
			"out must have a tensor for the values and one for their indices");
		specs[i] = &request->given[i]->spec;
		TT_TRY(tt_need_device(request->given[i]));
		TT_REQUIRE(ttnn_shape_equal(&specs[i]->shape, &in->shape),
			   "preallocated.logical_shape() == input_tensor.logical_shape()",
			   "Output tensors of sort must have the shape of the input");
	}
	TT_REQUIRE(specs[0]->dtype == in->dtype, "values.dtype() == input_tensor.dtype()",
		   "Output values tensor dtype must be the same as input tensor dtype, got "
		   "DataType::%s",
		   tt_enum_name(&tt_enum_dtype, specs[0]->dtype));
	TT_REQUIRE(specs[1]->dtype == TTNN_UINT16 || specs[1]->dtype == TTNN_UINT32,
		   "indices.dtype() == DataType::UINT16 || indices.dtype() == DataType::UINT32",
		   "Output indices tensor dtype must be UINT16 or UINT32, got DataType::%s",
		   tt_enum_name(&tt_enum_dtype, specs[1]->dtype));
	TT_REQUIRE(specs[1]->dtype == TTNN_UINT32 || in->dtype == TTNN_BFLOAT16,
		   "indices.dtype() == DataType::UINT32",
		   "Preallocated sort indices tensor dtype must be UINT32 when input dtype is "
		   "FLOAT32 or UINT16, got DataType::%s",
		   tt_enum_name(&tt_enum_dtype, specs[1]->dtype));
	request->memory = &specs[0]->memory;
	return TTNN_OK;
}

/*
 * One result in the layout and memory that are wanted, in the given tensor if there is one. What it was in
 * other memory is the caller's, in *old.
 */
static tt_status deliver(struct tt_tensor **result, struct tt_tensor **old,
			 const struct request *request, size_t which)
{
	struct tt_call *call = request->call;
	struct tt_tensor *given = request->given[which], *next;
	const struct ttnn_memory_config *memory = given ? &given->spec.memory : request->memory;

	if (given && (*result)->spec.layout != given->spec.layout) {
		TT_TRY(TT_CALL(&next, call, "ttnn.to_layout", {"tensor", ttnn_v_tensor(*result)},
			       {"layout", ttnn_v_layout(given->spec.layout)}));
		tt_call_overwrite(call, *result);
		*result = next;
	}
	if (!ttnn_memory_config_equal(&(*result)->spec.memory, memory)) {
		TT_TRY(TT_CALL(&next, call, "ttnn.to_memory_config",
			       {"tensor", ttnn_v_tensor(*result)},
			       {"memory_config", ttnn_v_memory(memory)}));
		*old = *result;
		*result = next;
	}
	if (given && tt_tensor_buffer(given) != tt_tensor_buffer(*result)) {
		TT_TRY(TT_CALL(&next, call, "ttnn.copy", {"input_a", ttnn_v_tensor(*result)},
			       {"input_b", ttnn_v_tensor(given)}));
		tt_call_overwrite(call, *result);
		*result = next;
	}
	return TTNN_OK;
}

/* Nothing to sort: a copy, and zeros. */
static tt_status expand_single(const struct request *request)
{
	struct tt_call *call = request->call;
	struct tt_tensor *in = request->in, *values;
	enum ttnn_dtype dtype = single_places(in);
	struct tt_tensor *old = NULL;
	tt_status status;

	if (request->given[0]) {
		values = ttnn_tensor_ref(in);
		status = deliver(&values, &old, request, 0);
		if (old)
			tt_call_own(call, old);
		if (status != TTNN_OK) {
			tt_call_drop(call, values);
			return status;
		}
		tt_call_return(call, values);
		return TT_CALL_RETURN(call, "ttnn.zeros_like",
				      {"tensor", ttnn_v_tensor(request->given[1])},
				      {"optional_tensor", ttnn_v_tensor(request->given[1])});
	}
	TT_TRY(TT_CALL(&values, call, "ttnn.clone", {"input", ttnn_v_tensor(in)},
		       {"memory_config", ttnn_v_memory(request->memory)}));
	tt_call_return(call, values);
	return TT_CALL_RETURN(call, "ttnn.zeros", {"shape", ttnn_v_shape(&in->spec.shape)},
			      {"dtype", ttnn_v_dtype(dtype)},
			      {"layout", ttnn_v_layout(in->spec.layout)},
			      {"device", ttnn_v_device(tt_tensor_device(in))},
			      {"memory_config", ttnn_v_memory(request->memory)});
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

/* The given tensors as the program writes them; none where they do not fit what is sorted. */
static tt_status prepare_given(struct tt_tensor **out, const struct request *request,
			       const struct tt_tensor *cube)
{
	out[0] = out[1] = NULL;
	if (!request->given[0] || request->order.swapped || is_sharded(request->memory) ||
	    tt_shape_last(&cube->spec.padded, 1) != tt_shape_last(&request->in->spec.padded, 1))
		return TTNN_OK;
	for (size_t i = 0; i < 2; i++) {
		const struct ttnn_tensor_spec *spec = &request->given[i]->spec;

		if (spec->layout != cube->spec.layout || is_sharded(&spec->memory))
			return TTNN_OK;
	}
	for (size_t i = 0; i < 2; i++) {
		struct tt_ordering order = request->order;

		TT_TRY(tt_ordering_begin(&out[i], &order, request->given[i]));
	}
	return TTNN_OK;
}

/* The width without padding goes along, it is no attribute. */
static tt_status launch_sort(struct tt_tensor **results, const struct request *request,
			     struct tt_tensor *in, bool padded)
{
	uint32_t width = tt_shape_last(&request->order.shape, 1);
	struct tt_tensor *given[2];
	size_t count;

	TT_TRY(prepare_given(given, request, in));
	return tt_call_programs(
		results, &count, request->call,
		&(struct tt_program_args){.prog = &prog,
					  .extra = &width,
					  TT_BIND(request->call, schema, [DIM] = ttnn_v_int(-1),
						  [MEMORY] = ttnn_v_memory(request->order.memory),
						  [PADDED] = ttnn_v_bool(padded)),
					  TT_INPUTS(in),
					  TT_OUTPUTS(given[0], given[1])});
}

/* What the program gives, as the caller wants it. */
static tt_status sort_finish(struct tt_tensor **results, const struct request *request,
			     uint32_t width)
{
	struct tt_tensor *old[2] = {NULL, NULL};
	tt_status status = TTNN_OK;

	if (tt_shape_last(&results[0]->spec.shape, 1) != width)
		TT_TRY(tt_ordering_cut(results, &request->order, width));
	TT_TRY(tt_ordering_restore(results, &request->order));
	for (size_t i = 0; i < 2 && status == TTNN_OK; i++)
		status = deliver(&results[i], &old[i], request, i);
	for (size_t i = 2; i-- > 0;) /* the values go first */
		if (old[i])
			tt_call_own(request->call, old[i]);
	return status;
}

/* Out of shards, the dimension last, padded to a power of two, sorted, cut. */
static tt_status expand_several(struct request *request)
{
	static const struct ttnn_memory_config dram;
	struct tt_call *call = request->call;
	struct tt_tensor *in = request->in, *cube, *results[2];
	double last = tt_call_bool(call, "descending", false) ? -INFINITY : INFINITY;
	tt_status status;
	uint32_t width;
	bool padded;

	request->order.memory = is_sharded(request->memory) ? &dram : request->memory;
	if (is_sharded(&in->spec.memory)) {
		TT_TRY(TT_CALL(&in, call, "ttnn.to_memory_config", {"tensor", ttnn_v_tensor(in)},
			       {"memory_config", ttnn_v_memory(&dram)}));
		tt_call_own(call, in);
	}
	TT_TRY(tt_ordering_begin(&cube, &request->order, in));
	width = tt_shape_last(&cube->spec.shape, 1);
	TT_TRY(widen(&cube, &padded, &request->order, last));
	TT_TRY(launch_sort(results, request, cube, padded));
	status = sort_finish(results, request, width);
	for (int i = 0; i < 2; i++) {
		if (status == TTNN_OK)
			tt_call_return(call, results[i]);
		else
			tt_call_drop(call, results[i]);
	}
	return status;
}

/* One element is sorted. */
static tt_status sort_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	int64_t dim = tt_call_int(call, "dim", -1), rank = in->spec.shape.rank;
	struct request request = {
		.call = call, .in = in, .memory = tt_memory_or_like(call, in), .order.call = call};

	TT_REQUIRE(
		(dim >= -rank && dim < rank) || (rank == 0 && (dim == 0 || dim == -1)),
		"(dim >= -static_cast<int8_t>(rank) && dim < static_cast<int8_t>(rank)) || (rank "
		"== 0 && (dim == 0 || dim == -1))",
		"Sort dim %" PRId64 " is out of range for rank-%" PRId64 " tensor", dim, rank);
	TT_TRY(tt_need_device(in));
	TT_TRY(check_given(&request));
	request.order.dim = (uint32_t)(dim < 0 ? dim + rank : dim);
	if (rank == 0 || in->spec.shape.dim[request.order.dim] == 1)
		return expand_single(&request);
	return expand_several(&request);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.sort",
	 .doc = "The values along a dimension in order, and where they were.",
	 .sigs = {"input_tensor: Tensor, dim: int = -1, descending: bool = False, stable: bool = "
		  "False, *, memory_config: MemoryConfig? = None, out: Tensors? = None"},
	 .expand = sort_expand,
	 .golden = tt_golden_sort,
	 .gives = "[Tensor]"},
};

const struct tt_op_family tt_family_sort = {"ordering", ops, TT_COUNT(ops)};
