/*
 * repeat_interleave.c: elements repeated one by one.
 *
 * Models RepeatInterleaveCodegenDeviceOperation of ttnn 0.81 (data_movement/repeat_interleave)
 * with its one factory: memory, cores; and the operations that upstream calls where that does
 * not serve.
 * Not modelled: the code that upstream generates.
 */

#include "backend/backend.h"
#include "golden/golden_movement.h"
#include "ops/movement/movement.h"
#include "ops/movement/permute.h"
#include "ops/movement/shard_ops.h"

/* ---- the program -------------------------------------------------------------------------------------------- */

#define ATTRS(X)                                                                                   \
	X(DIM, "rep_dim")                                                                          \
	X(TIMES, "num_repeats")                                                                    \
	X(LOWER, "lower_pages")                                                                    \
	X(PAGES, "rep_dim_pages")                                                                  \
	X(ALL_PAGES, "total_out_pages")                                                            \
	X(STICK, "stick_size")                                                                     \
	X(STICK_OUT, "stick_size_out")                                                             \
	X(MEMORY, "output_mem_config")
TT_ATTRS(schema, "RepeatInterleaveCodegenParams", ATTRS);

/* The attribute counts dimensions as if there were four. */
static uint32_t dim_of(const struct tt_launch *launch)
{
	return (uint32_t)launch->attrs[DIM].integer + launch->inputs[0]->spec.shape.rank - 4;
}

static tt_status repeat_interleave_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_shape shape = in->shape;

	shape.dim[dim_of(launch)] *= (uint32_t)launch->attrs[TIMES].integer;
	return tt_infer_one(launch, &shape, in->dtype, in->layout);
}

static tt_status repeat_interleave_validate(struct tt_launch *launch)
{
	TT_REQUIRE(tt_tensor_buffer(launch->inputs[0]), "input_tensor.buffer() != nullptr",
		   "Operands need to be allocated in buffers on device!");
	return TTNN_OK;
}

/* Bytes of a row in L1: aligned as the stricter of both sides wants it. */
static uint64_t row_bytes(const struct tt_tensor *in, const struct ttnn_memory_config *memory)
{
	struct tt_device *device = tt_tensor_device(in);
	uint64_t bytes = tt_shape_last(&in->spec.shape, 1) * tt_element_bytes(in);
	uint64_t a = tt_align_to(bytes, tt_memory_alignment(device, in->spec.memory.buffer));
	uint64_t b = tt_align_to(bytes, tt_memory_alignment(device, memory->buffer));

	return a > b ? a : b;
}

/* Pages that are on the way at a time: half of them read, half of them written. */
#define BATCH 4

/* Rows are gathered in batches of at most BATCH, fewer where L1 is full. */
static tt_status repeat_interleave_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0];
	uint64_t page = tt_tile_bytes_of(in->spec.dtype), fit, batch = BATCH;
	const ttnn_core_set *cores;

	if (in->spec.layout == TTNN_ROW_MAJOR) {
		page = row_bytes(in, launch->attrs[MEMORY].memory);
		fit = tt_l1_free(launch->device) / page;
		while (batch > 1 && 2 * batch > fit)
			batch /= 2;
	}
	TT_TRY(tt_cores_for(&cores, launch, (uint64_t)launch->attrs[ALL_PAGES].integer));
	return TT_PLAN(plan, cores, TT_CB_ROW(0, "cb_out", .pages = 2 * batch, .page = page));
}

/* The first loop is the repetition: it moves the output only. */
static tt_status repeat_interleave_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0];
	const struct ttnn_shape *shape = &in->spec.shape;
	uint32_t dim = dim_of(launch), times = (uint32_t)launch->attrs[TIMES].integer;
	struct tt_move_loop loops[TTNN_MAX_RANK + 1];
	struct tt_move_job job = {
		.out = launch->outputs[0], .in = in, .loops = loops, .loop_count = shape->rank + 1};

	loops[0] = (struct tt_move_loop){times, -1, (int32_t)dim, 0, 1};
	for (uint32_t d = 0; d < shape->rank; d++)
		loops[d + 1] = (struct tt_move_loop){shape->dim[d], (int32_t)d, (int32_t)d, 1,
						     d == dim ? times : 1};
	return tt_backend_get()->move(&job);
}

static const struct tt_prog prog = {
	.device_op = "RepeatInterleaveCodegenDeviceOperation",
	.prim = "ttnn::prim::repeat_interleave_codegen",
	.attrs = &schema,
	.infer = repeat_interleave_infer,
	.validate = repeat_interleave_validate,
	TT_FACTORY("ttnn::prim::RepeatInterleaveCodegenProgramFactory", repeat_interleave_memory),
	TT_KERNEL(repeat_interleave_kernel),
	.cost = tt_cost_unmodelled_move,
};

/* ---- whether it serves ------------------------------------------------------------------------------------------ */

struct request {
	struct tt_tensor *in;
	uint32_t times;
	int64_t dim;                             /* may count from the end */
	const struct ttnn_memory_config *memory; /* (optional) */
};

/* Pages are copied whole: a dimension within a page, or shards, need the other way. */
static bool program_serves(const struct request *request)
{
	const struct ttnn_tensor_spec *in = &request->in->spec;
	const struct ttnn_memory_config *memory = request->memory ? request->memory : &in->memory;
	int64_t rank = in->shape.rank, dim = request->dim + (request->dim < 0 ? rank : 0);

	if (!tt_tensor_buffer(request->in) || tt_memory_config_is_sharded(&in->memory) ||
	    tt_memory_config_is_sharded(memory) || rank < 2 || rank > 4 || request->times < 2)
		return false;
	for (uint32_t d = 0; d < rank; d++)
		if (!in->shape.dim[d])
			return false;
	if (dim < 0 || dim >= rank ||
	    (in->dtype != TTNN_BFLOAT16 && in->dtype != TTNN_FLOAT32 && in->dtype != TTNN_INT32))
		return false;
	if (in->layout == TTNN_TILE)
		return in->tile.height == 32 && in->tile.width == 32 && !in->tile.transpose &&
		       dim < rank - 2;
	return in->shape.dim[rank - 1] >= 2 && dim < rank - 1 &&
	       2 * row_bytes(request->in, memory) <= tt_l1_free(tt_tensor_device(request->in));
}

/* The generated program counts in pages: how many below the dimension, along it, and in all. */
static tt_status by_program(struct tt_tensor **out, struct tt_call *call,
			    const struct request *request)
{
	struct tt_tensor *in = request->in;
	struct ttnn_shape pages = in->spec.shape;
	bool tiles = in->spec.layout == TTNN_TILE;
	uint32_t dim, lower = 1, all = request->times, rank = pages.rank;
	uint64_t stick = tiles ? 0 : pages.dim[rank - 1] * tt_element_bytes(in);
	struct ttnn_value attrs[schema_count];

	TT_TRY(tt_normal_dim(&dim, request->dim, rank));
	pages.dim[rank - 1] = tiles ? (uint32_t)tt_div_up(pages.dim[rank - 1], TT_TILE) : 1;
	if (tiles)
		pages.dim[rank - 2] = (uint32_t)tt_div_up(pages.dim[rank - 2], TT_TILE);
	for (uint32_t d = 0; d < rank; d++) {
		lower *= d > dim ? pages.dim[d] : 1;
		all *= pages.dim[d];
	}
	attrs[DIM] = ttnn_v_int(dim + 4 - rank);
	attrs[TIMES] = ttnn_v_int(request->times);
	attrs[LOWER] = ttnn_v_int(lower);
	attrs[PAGES] = ttnn_v_int(pages.dim[dim]);
	attrs[ALL_PAGES] = ttnn_v_int(all);
	attrs[STICK] = ttnn_v_int((int64_t)stick);
	attrs[STICK_OUT] = ttnn_v_int(0);
	attrs[MEMORY] = ttnn_v_memory(request->memory ? request->memory : &in->spec.memory);
	return TT_LAUNCH(out, call, &prog, TT_INPUTS(in), .attrs = attrs);
}

/* ---- by joining copies ---------------------------------------------------------------------------------------------- */

static tt_status by_copies(struct tt_tensor **out, struct tt_call *call,
			   const struct request *request);

static tt_status with_dim(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			  uint32_t dim)
{
	return TT_CALL(out, call, "ttnn.unsqueeze", {"input_tensor", ttnn_v_tensor(in)},
		       {"dim", ttnn_v_int(dim)});
}

static tt_status cast(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
		      enum ttnn_dtype dtype, const struct ttnn_memory_config *memory)
{
	return TT_CALL(out, call, "ttnn.typecast", {"input_tensor", ttnn_v_tensor(in)},
		       {"dtype", ttnn_v_dtype(dtype)}, {"memory_config", ttnn_v_memory(memory)});
}

static tt_status in_layout(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			   enum ttnn_layout layout)
{
	return TT_CALL(out, call, "ttnn.to_layout", {"tensor", ttnn_v_tensor(in)},
		       {"layout", ttnn_v_layout(layout)});
}

static tt_status join(struct tt_tensor **out, struct tt_call *call, struct ttnn_value *items,
		      size_t count, uint32_t dim)
{
	return TT_CALL(out, call, "ttnn.concat", {"tensors", ttnn_v_list(items, count)},
		       {"dim", ttnn_v_int(dim)});
}

/* Copies of a tensor joined along a dimension, up to 32 at a time. */
#define TOGETHER 32

struct batches {
	struct ttnn_value *items;
	uint32_t count;
};

/* So many copies of the tensor joined, at most TOGETHER at once. */
static tt_status join_copies(struct tt_tensor **out, struct tt_call *call, struct batches *batches,
			     struct tt_tensor *in, uint32_t dim)
{
	uint32_t times = batches->count, count = (uint32_t)tt_div_up(times, TOGETHER);
	struct ttnn_value copies[TOGETHER];

	batches->count = 0;
	batches->items = tt_arena_calloc(call->arena, count, sizeof(*batches->items));
	TT_NEED_MEMORY(batches->items);
	for (uint32_t i = 0; i < TOGETHER; i++)
		copies[i] = ttnn_v_tensor(in);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t left = times - i * TOGETHER;
		struct tt_tensor *batch;

		TT_TRY(join(&batch, call, copies, left < TOGETHER ? left : TOGETHER, dim));
		batches->items[batches->count++] = ttnn_v_tensor(batch);
	}
	return join(out, call, batches->items, count, dim);
}

/* The last dimension is repeated as the one before it. */
static tt_status turn_and_back(struct tt_tensor **out, struct tt_temps *temps,
			       const struct request *request,
			       const struct ttnn_memory_config *memory)
{
	struct tt_call *call = temps->call;
	uint32_t rank = request->in->spec.shape.rank, dims[] = {rank - 1, rank - 2};
	bool bytes = request->in->spec.dtype == TTNN_UINT8;
	struct tt_permute_args swap = {.in = request->in, .dims = dims, .memory = memory};
	struct request inner = {.times = request->times, .dim = -2, .memory = memory};
	struct tt_tensor *back;

	if (bytes) {
		TT_TRY(cast(&swap.in, call, request->in, TTNN_BFLOAT16, memory));
		tt_temps_keep(temps, swap.in);
	}
	TT_TRY(tt_call_transpose(&inner.in, call, &swap));
	tt_temps_keep(temps, inner.in);
	TT_TRY(by_copies(&swap.in, call, &inner));
	tt_temps_keep(temps, swap.in);
	TT_TRY(tt_call_transpose(&back, call, &swap));
	if (!bytes) {
		*out = back;
		return TTNN_OK;
	}
	return cast(out, call, tt_temps_keep(temps, back), TTNN_UINT8, memory);
}

/* Rows of the tensor, in a dtype that rows can have. */
static tt_status to_rows(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			 const struct ttnn_memory_config *memory)
{
	enum ttnn_dtype dtype = in->spec.dtype;
	struct tt_tensor *wide;

	if (dtype != TTNN_BFLOAT8_B && dtype != TTNN_BFLOAT4_B && dtype != TTNN_UINT8)
		return in_layout(out, call, in, TTNN_ROW_MAJOR);
	TT_TRY(cast(&wide, call, in, TTNN_BFLOAT16, memory));
	return tt_call_overwrite_after(call, in_layout(out, call, wide, TTNN_ROW_MAJOR), wide);
}

/* A new dimension behind the repeated one, joined copies along it, and both folded together. */
static tt_status join_and_fold(struct tt_tensor **out, struct tt_temps *temps,
			       const struct request *request, struct batches *batches)
{
	const struct ttnn_tensor_spec *in = &request->in->spec;
	const struct ttnn_memory_config *memory = request->memory ? request->memory : &in->memory;
	struct tt_call *call = temps->call;
	struct tt_reshape_args fold = {0};
	struct ttnn_shape shape = in->shape;
	struct tt_tensor *made;
	uint32_t dim;

	TT_TRY(tt_normal_dim(&dim, request->dim, shape.rank));
	shape.dim[dim] *= request->times;
	fold.shape = &shape;
	TT_TRY(to_rows(&made, call, request->in, memory));
	TT_TRY(with_dim(&made, call, tt_temps_keep(temps, made), dim + 1));
	batches->count = request->times;
	TT_TRY(join_copies(&made, call, batches, tt_temps_keep(temps, made), dim + 1));
	fold.in = tt_temps_keep(temps, made);
	TT_TRY(tt_call_reshape(&made, call, &fold));
	TT_TRY(in_layout(&made, call, tt_temps_keep(temps, made), in->layout));
	tt_temps_keep(temps, made);
	if (made->spec.dtype != in->dtype)
		return cast(out, call, made, in->dtype, memory);
	return tt_call_to_memory(out, call, made, memory);
}

/* The batches go when the result is there. */
static tt_status by_joining(struct tt_tensor **out, struct tt_call *call,
			    const struct request *request)
{
	struct tt_temps temps = {.call = call};
	struct batches batches = {0};
	tt_status status = tt_temps_end(&temps, join_and_fold(out, &temps, request, &batches));

	for (uint32_t i = 0; batches.items && i < batches.count; i++)
		tt_call_drop(call, batches.items[i].tensor);
	return status;
}

/* ---- sharded tensors --------------------------------------------------------------------------------------------------- */

static tt_status scale(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
		       uint32_t down, uint32_t across)
{
	struct ttnn_value factors[] = {ttnn_v_int(down), ttnn_v_int(across)};

	return TT_CALL(out, call, "ttnn.upsample", {"input_tensor", ttnn_v_tensor(in)},
		       {"scale_factor", ttnn_v_list(factors, TT_COUNT(factors))});
}

/* Rows of four dimensions in L1 are made larger as images are. */
static tt_status by_scaling(struct tt_tensor **out, struct tt_temps *temps,
			    const struct request *request, uint32_t dim)
{
	struct tt_call *call = temps->call;
	const struct ttnn_shape *shape = &request->in->spec.shape;
	struct ttnn_shape flat = {4,
				  {1, shape->dim[0], shape->dim[1] * shape->dim[2], shape->dim[3]}};
	struct ttnn_shape result = *shape;
	uint32_t dims[] = {2, 3};
	struct tt_permute_args swap = {.in = request->in, .dims = dims};
	struct tt_tensor *seen, *larger;

	if (dim == 1 || dim == 2)
		return scale(out, call, request->in, dim == 1 ? request->times : 1,
			     dim == 2 ? request->times : 1);
	if (dim == 0) {
		result.dim[0] *= request->times;
		TT_TRY(tt_call_reshape(
			&seen, call, &(struct tt_reshape_args){.in = request->in, .shape = &flat}));
		tt_temps_keep(temps, seen);
		TT_TRY(scale(&larger, call, seen, request->times, 1));
		tt_temps_keep(temps, larger);
		return tt_call_reshape(out, call,
				       &(struct tt_reshape_args){.in = larger, .shape = &result});
	}
	TT_TRY(tt_call_transpose(&seen, call, &swap));
	tt_temps_keep(temps, seen);
	TT_TRY(scale(&larger, call, seen, 1, request->times));
	swap.in = tt_temps_keep(temps, larger);
	return tt_call_transpose(out, call, &swap);
}

/* Rows of four dimensions in L1 by upsample's program; others through DRAM. */
static tt_status from_shards(struct tt_tensor **out, struct tt_temps *temps,
			     const struct request *request)
{
	struct tt_call *call = temps->call;
	static const struct ttnn_memory_config dram;
	const struct ttnn_tensor_spec *in = &request->in->spec;
	struct request inner = {.times = request->times, .dim = request->dim, .memory = &dram};
	struct tt_tensor *result;
	uint32_t dim;

	TT_TRY(tt_normal_dim(&dim, request->dim, in->shape.rank));
	if (in->layout == TTNN_ROW_MAJOR && in->shape.rank == 4 && in->memory.buffer != TTNN_DRAM) {
		TT_TRY(by_scaling(&result, temps, request, dim));
		if (!request->memory) {
			*out = result;
			return TTNN_OK;
		}
		tt_temps_keep(temps, result);
		return tt_call_to_memory(out, call, result, request->memory);
	}
	TT_TRY(tt_call_to_memory(&inner.in, call, request->in, &dram));
	tt_temps_keep(temps, inner.in);
	TT_TRY(by_copies(&result, call, &inner));
	tt_temps_keep(temps, result);
	return tt_call_to_memory(out, call, result, request->memory ? request->memory : &dram);
}

/* A line has no dimension before its last: it gets one behind. */
static tt_status of_line(struct tt_tensor **out, struct tt_temps *temps,
			 const struct request *request)
{
	struct tt_call *call = temps->call;
	struct ttnn_shape shape = {1, {request->in->spec.shape.dim[0] * request->times}};
	struct request inner = *request;
	struct tt_tensor *result;

	TT_TRY(with_dim(&inner.in, call, request->in, 1));
	tt_temps_keep(temps, inner.in);
	inner.dim = 0;
	TT_TRY(by_copies(&result, call, &inner));
	tt_temps_keep(temps, result);
	return tt_call_reshape(out, call, &(struct tt_reshape_args){.in = result, .shape = &shape});
}

/* Upstream's way without its program: through rows, concat and reshape. */
static tt_status by_copies(struct tt_tensor **out, struct tt_call *call,
			   const struct request *request)
{
	const struct ttnn_tensor_spec *in = &request->in->spec;
	const struct ttnn_memory_config *memory = request->memory ? request->memory : &in->memory;
	struct tt_temps temps = {.call = call};
	uint32_t dim;

	if (in->shape.rank == 1)
		return tt_temps_end(&temps, of_line(out, &temps, request));
	if (tt_tensor_is_sharded(request->in) && request->times > 1)
		return tt_temps_end(&temps, from_shards(out, &temps, request));
	if (request->times == 1)
		return tt_call_to_memory(out, call, request->in, memory);
	TT_TRY(tt_normal_dim(&dim, request->dim, in->shape.rank));
	if (dim + 1 == in->shape.rank)
		return tt_temps_end(&temps, turn_and_back(out, &temps, request, memory));
	return by_joining(out, call, request);
}

/* ---- the operation -------------------------------------------------------------------------------------------------------- */

#define REPEATS_MAX                                                                                \
	(1 << 24) /* more than a device has room for, also of tensors without elements */

/* The program where it serves, else copies. */
static tt_status repeat_interleave_expand(struct tt_call *call)
{
	int64_t repeats = tt_call_int(call, "repeats", 1);
	struct request request = {.in = tt_call_tensor(call, "input_tensor"),
				  .times = (uint32_t)repeats,
				  .dim = tt_call_int(call, "dim", 0),
				  .memory = tt_call_memory(call, "memory_config")};
	struct tt_tensor *out;

	TT_TRY(tt_need_device(request.in));
	TT_NEED(repeats >= 1 && repeats <= REPEATS_MAX,
		"ttnn.repeat_interleave: repeats must be 1 to %d", REPEATS_MAX);
	if (program_serves(&request))
		TT_TRY(by_program(&out, call, &request));
	else
		TT_TRY(by_copies(&out, call, &request));
	tt_call_return(call, out);
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{TT_MOVE_ROW(
		"repeat_interleave", repeat_interleave_expand, tt_golden_repeat_interleave,
		"Each element of a dimension repeated before the next one.",
		"input_tensor: Tensor, repeats: int, dim: int, *, memory_config: MemoryConfig? = "
		"None")},
};

const struct tt_op_family tt_family_repeat_interleave = {"movement", ops, TT_COUNT(ops)};
