/*
 * scan.c: running sums and products. The program works along one of the first dimensions, tile
 * by tile; sums of bfloat16 also along the last two. Other dimensions change places with the
 * first.
 *
 * Models AccumulationDeviceOperation of ttnn 0.81 (reduction/accumulation/device) with its one
 * factory, for cumsum and cumprod: memory, cores. A core has whole lines of tiles, since each
 * tile needs the one before. Not modelled: rounding on the way.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "golden/golden_reduction.h"
#include "ops/movement/movement.h"
#include "ops/reduce/reduce_program.h"

#define RANK 4

/* ---- the program -------------------------------------------------------------------------------------- */

enum scan { CUMPROD, CUMSUM };

#define ATTRS(X)                                                                                   \
	X(DIM, "dim")                                                                              \
	X(DTYPE, "dtype")                                                                          \
	X(MEMORY, "output_memory_config")                                                          \
	X(REVERSE, "reverse_order")                                                                \
	X(OP, "op")                                                                                \
	X(PLAIN_SUM, "disable_compensated_sum")
TT_ATTRS(schema, "AccumulationParams", ATTRS);
static const struct tt_enum_row op_rows[] = {{CUMPROD, "CUMPROD"}, {CUMSUM, "CUMSUM"}};
static const struct tt_enum op_enum = {"AccumulationOp", op_rows, TT_COUNT(op_rows)};

static tt_status scan_infer(struct tt_launch *launch)
{
	return tt_infer_one(launch, &launch->inputs[0]->spec.shape,
			    (enum ttnn_dtype)launch->attrs[DTYPE].integer, TTNN_TILE);
}

static tt_status scan_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	TT_REQUIRE(in->layout == TTNN_TILE, "input_tensor.layout() == Layout::TILE",
		   "The provided input tensor has a non-tile layout: %s.",
		   tt_enum_name(&tt_enum_layout, in->layout));
	return TTNN_OK;
}

/* What is carried along: floats as float32, integers as they are. */
static uint64_t carried_bytes(enum ttnn_dtype dtype)
{
	return tt_tile_bytes_of(tt_dtype_is_integer(dtype) ? dtype : TTNN_FLOAT32);
}

/*
 * Outer dimensions carry a tile of sums along; float32 also one of what rounding lost (compensated
 * sums).
 */
static tt_status scan_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_reduce_tiles tiles = tt_reduce_tiles_of(in);
	uint32_t dim = (uint32_t)launch->attrs[DIM].integer, rank = in->padded.rank;
	uint64_t extent = dim + 1 == rank   ? tiles.width
			  : dim + 2 == rank ? tiles.height
					    : in->padded.dim[dim];
	uint64_t carried = carried_bytes(in->dtype);
	bool compensates = in->dtype == TTNN_FLOAT32 && launch->attrs[OP].integer == CUMSUM &&
			   !launch->attrs[PLAIN_SUM].boolean;
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_for(&cores, launch,
			    tiles.matrices * tiles.height * tiles.width / (extent ? extent : 1)));
	return TT_PLAN(plan, cores, TT_DFB_ROW(0, "src", .pages = 4, .page = tt_page_in0(launch)),
		       TT_DFB_ROW(1, "dst", .pages = 4, .page = tt_page_out0(launch)),
		       TT_DFB_ROW(2, "acc", .pages = dim + 2 < rank, .page = carried),
		       TT_DFB_ROW(3, "compensation", .pages = compensates, .page = carried));
}

/* From the front, or from the end. */
static tt_status scan_kernel(struct tt_launch *launch)
{
	struct tt_scan_job job = {.out = launch->outputs[0],
				  .in = launch->inputs[0],
				  .dim = (uint32_t)launch->attrs[DIM].integer,
				  .product = launch->attrs[OP].integer == CUMPROD,
				  .reverse = launch->attrs[REVERSE].boolean};

	return tt_backend_get()->scan(&job);
}

static const struct tt_prog prog = {
	.device_op = "AccumulationDeviceOperation",
	.prim = "ttnn::prim::accumulation",
	.attrs = &schema,
	.infer = scan_infer,
	.validate = scan_validate,
	TT_FACTORY("ttnn::prim::AccumulationDeviceOperation::AccumulationProgramFactory",
		   scan_memory),
	TT_KERNEL(scan_kernel),
};

/* ---- the operations -------------------------------------------------------------------------------------- */

struct request {
	struct tt_call *call;
	enum scan op;
	uint32_t dim;
	enum ttnn_dtype dtype;
	const struct ttnn_memory_config *memory;
	bool reverse, plain_sum;
	struct tt_tensor *cast; /* (optional) what is read, in the type asked for; owned */
};

/* A given output's memory counts. */
static tt_status launch_scan(struct tt_tensor **out, const struct request *request,
			     struct tt_tensor *in, struct tt_tensor *given)
{
	struct ttnn_value attrs[schema_count] = {
		[DIM] = ttnn_v_int(request->dim),
		[DTYPE] = ttnn_v_dtype(request->dtype),
		[MEMORY] = ttnn_v_memory(given ? &given->spec.memory : request->memory),
		[REVERSE] = ttnn_v_bool(request->reverse),
		[OP] = tt_value_enum(&op_enum, request->op),
		[PLAIN_SUM] = ttnn_v_bool(request->plain_sum),
	};

	return TT_LAUNCH(out, request->call, &prog, .attrs = attrs, TT_INPUTS(in),
			 TT_OUTPUTS(given));
}

/* Whether the program works along that dimension: three must follow it, or none or one. */
static bool is_direct(const struct request *request, const struct tt_tensor *in)
{
	uint32_t behind = in->spec.shape.rank - request->dim - 1;

	if (behind <= 1)
		return request->op == CUMSUM && in->spec.dtype == TTNN_BFLOAT16 &&
		       !request->reverse && in->spec.layout == TTNN_TILE;
	return behind >= RANK - 1;
}

/* The dimension becomes the first. */
static tt_status swap_first(struct tt_tensor **out, const struct request *request,
			    struct tt_tensor *in, const struct ttnn_memory_config *memory)
{
	uint32_t dims[TTNN_MAX_RANK];

	for (uint32_t d = 0; d < in->spec.shape.rank; d++)
		dims[d] = d;
	dims[0] = request->dim;
	dims[request->dim] = 0;
	return tt_call_permute(out, request->call,
			       &(struct tt_permute_args){.in = in, .dims = dims, .memory = memory});
}

/*
 * With the dimension in front. What was read is given up as soon as something new is there, but for
 * *scanned, which the caller gives up.
 */
static tt_status scan_swapped(struct tt_tensor **out, struct tt_tensor **scanned,
			      struct request *request, struct tt_tensor *in)
{
	struct tt_tensor *front;
	struct request inner = *request;
	tt_status status;

	inner.dim = 0;
	TT_TRY(swap_first(&front, request, in, &in->spec.memory));
	if (request->cast)
		tt_call_drop(request->call, request->cast);
	request->cast = NULL;
	status = launch_scan(scanned, &inner, front, NULL);
	if (status != TTNN_OK) {
		tt_call_drop(request->call, front);
		return status;
	}
	tt_call_overwrite(request->call, front);
	return swap_first(out, request, *scanned, request->memory);
}

/* A given output that the last program did not write gets the values all the same. */
static tt_status fill_given(struct tt_tensor *given, struct tt_tensor *result)
{
	if (tt_run_mode() != TTNN_RUN_NORMAL)
		return TTNN_OK;
	for (uint32_t chip = 0; chip < tt_tensor_chips(given); chip++) {
		struct tt_tensor *to = NULL, *from = NULL;
		tt_status status = tt_tensor_resident(&to, given, chip, TT_BUFFER_OVERWRITE);

		if (status == TTNN_OK)
			status = tt_tensor_resident(&from, result, chip, TT_BUFFER_READ);
		if (status == TTNN_OK)
			status = tt_move_copy(to, from);
		ttnn_tensor_unref(to);
		ttnn_tensor_unref(from);
		TT_TRY(status);
	}
	return TTNN_OK;
}

/* Ones in front. */
static tt_status to_4d(struct tt_tensor **out, struct request *request, struct tt_tensor *in)
{
	struct ttnn_shape shape = in->spec.shape;

	*out = in;
	if (shape.rank >= RANK)
		return TTNN_OK;
	request->dim += RANK - shape.rank;
	while (shape.rank < RANK) {
		for (uint32_t d = shape.rank++; d > 0; d--)
			shape.dim[d] = shape.dim[d - 1];
		shape.dim[0] = 1;
	}
	return tt_call_reshape(out, request->call,
			       &(struct tt_reshape_args){.in = in, .shape = &shape});
}

/* Directly where the program can, else through a permutation and back. */
static tt_status scan(struct tt_tensor **out, struct request *request, struct tt_tensor *in,
		      struct tt_tensor *given)
{
	struct ttnn_shape shape = in->spec.shape;
	struct tt_tensor *cube, *result = NULL, *scanned = NULL;
	tt_status status;

	TT_TRY(to_4d(&cube, request, in));
	if (is_direct(request, cube))
		status = launch_scan(&result, request, cube, shape.rank < RANK ? NULL : given);
	else
		status = scan_swapped(&result, &scanned, request, cube);
	if (cube != in)
		ttnn_tensor_unref(cube);
	*out = result;
	if (status == TTNN_OK && shape.rank < RANK) {
		status = tt_call_reshape(out, request->call,
					 &(struct tt_reshape_args){.in = result, .shape = &shape});
		tt_call_overwrite(request->call, result);
	}
	if (scanned)
		tt_call_overwrite(request->call, scanned);
	return status;
}

/*
 * Another dtype is a typecast first. A result that was not written into the given tensor is copied
 * there.
 */
static tt_status scan_expand(struct tt_call *call)
{
	enum scan op = *(const enum scan *)call->entry->op->row;
	struct tt_tensor *in = tt_call_tensor(call, op == CUMSUM ? "input" : "input_tensor"), *out;
	struct tt_tensor *given = tt_call_tensor(call, "out"), *cast = in;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	int64_t dim = tt_call_int(call, "dim", 0), rank = in->spec.shape.rank;
	struct request request = {.call = call,
				  .op = op,
				  .dtype = tt_call_dtype(call, "dtype", in->spec.dtype),
				  .memory = memory  ? memory
					    : given ? &given->spec.memory
						    : &in->spec.memory,
				  .reverse = tt_call_bool(call, "reverse_order", false),
				  .plain_sum =
					  tt_call_bool(call, "disable_compensated_sum", false)};

	if (!rank && given) /* one number is its own sum, along any dimension */
		return tt_call_give(call,
				    TT_CALL(&out, call, "ttnn.copy", {NULL, ttnn_v_tensor(in)},
					    {NULL, ttnn_v_tensor(given)}),
				    &out);
	if (!rank)
		return tt_call_give(call,
				    TT_CALL(&out, call, "ttnn.clone", {NULL, ttnn_v_tensor(in)},
					    {"memory_config", *tt_call_arg(call, "memory_config")}),
				    &out);
	TT_REQUIRE(dim >= -rank && dim < rank,
		   "((dim >= -static_cast<decltype(dim)>(input_shape.rank())) && (dim < "
		   "static_cast<decltype(dim)>(input_shape.rank())))",
		   "The requested accumulation axis is %" PRId64 ", while the input tensor has "
		   "rank %" PRId64 ".",
		   dim, rank);
	TT_TRY(tt_need_device(in));
	request.dim = (uint32_t)(dim < 0 ? dim + rank : dim);
	if (request.dtype != in->spec.dtype) {
		TT_TRY(tt_call_cast(&cast, call, in, request.dtype));
		request.cast = tt_call_own(call, cast);
	}
	TT_TRY(scan(&out, &request, cast, given));
	if (request.cast)
		tt_call_overwrite(call, request.cast);
	if (given && out->storage != given->storage)
		TT_TRY(fill_given(given, out));
	tt_call_return(call, out);
	return TTNN_OK;
}

#define TAIL                                                                                       \
	": Tensor, dim: int, *, dtype: DataType? = None, reverse_order: bool = False, "            \
	"out: Tensor? = None, memory_config: MemoryConfig? = None"

static const enum scan sum = CUMSUM, product = CUMPROD;

static const struct tt_op ops[] = {
	{.name = "ttnn.cumsum",
	 .doc = "The sum of all values up to each, along a dimension.",
	 .sigs = {"input" TAIL ", disable_compensated_sum: bool = False"},
	 .expand = scan_expand,
	 .golden = tt_golden_cumsum,
	 .row = &sum},
	{.name = "ttnn.cumprod",
	 .doc = "The product of all values up to each, along a dimension.",
	 .sigs = {"input_tensor" TAIL},
	 .expand = scan_expand,
	 .golden = tt_golden_cumprod,
	 .row = &product},
};

const struct tt_op_family tt_family_scan = {"scan", ops, TT_COUNT(ops)};
