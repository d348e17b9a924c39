/*
 * repeat_interleave.c: each element of a dimension repeated before the next one. A program does it
 * where pages stay whole; otherwise copies are joined along a new dimension, which is then folded in.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "device/split.h"
#include "ops/cost.h"
#include "ops/golden_movement.h"
#include "ops/movement.h"
#include "ops/permute.h"
#include "ops/rows.h"
#include "ops/shard.h"
#include "tensor/shape.h"

/* ---- the program -------------------------------------------------------------------------------------------- */

enum { DIM, TIMES, LOWER, PAGES, ALL_PAGES, STICK, STICK_OUT, MEMORY, ATTRS };

static const struct tt_field fields[ATTRS] = {
	[DIM] = {.name = "rep_dim"},
	[TIMES] = {.name = "num_repeats"},
	[LOWER] = {.name = "lower_pages"},
	[PAGES] = {.name = "rep_dim_pages"},
	[ALL_PAGES] = {.name = "total_out_pages"},
	[STICK] = {.name = "stick_size"},
	[STICK_OUT] = {.name = "stick_size_out"},
	[MEMORY] = {.name = "output_mem_config"},
};
static const struct tt_schema schema = {"RepeatInterleaveCodegenParams", fields, ATTRS, false};

/* The attribute counts dimensions as if there were four. */
static uint32_t dim_of(const struct tt_launch *launch)
{
	return (uint32_t)launch->attrs[DIM].integer + launch->inputs[0]->spec.shape.rank - 4;
}

static tt_status infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_shape shape = in->shape;

	shape.dim[dim_of(launch)] *= (uint32_t)launch->attrs[TIMES].integer;
	launch->output_count = 1;
	return tt_spec_simple(&launch->specs[0], &shape, in->dtype, in->layout,
			      launch->attrs[MEMORY].memory);
}

static tt_status validate(struct tt_launch *launch)
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

/* Numbers: 0 bytes of a page, 1 how many. */
static tt_status choose(uint32_t *out, struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0];
	struct tt_move_work *work = tt_move_work_new(launch);
	uint64_t fit, batch = BATCH;

	if (!work)
		return TTNN_NOMEM;
	*out = 0;
	work->number[0] = tt_tile_bytes_of(in->spec.dtype);
	if (in->spec.layout == TTNN_ROW_MAJOR) {
		work->number[0] = row_bytes(in, launch->attrs[MEMORY].memory);
		fit = tt_l1_free(launch->device) / work->number[0];
		while (batch > 1 && 2 * batch > fit)
			batch /= 2;
	}
	work->number[1] = 2 * batch;
	return tt_cores_for(&work->cores[0], launch, (uint64_t)launch->attrs[ALL_PAGES].integer);
}

static const struct tt_mem_row page_rows[] = {
	{.kind = TT_CB, .pages = tt_number1, .page = tt_number0, .cores = tt_work_cores0}};
static const struct tt_factory factories[] = {{"ttnn::prim::RepeatInterleaveCodegenProgramFactory",
					       page_rows, TT_COUNT(page_rows), NULL}};

static tt_status kernel(struct tt_launch *launch)
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
	.infer = infer,
	.validate = validate,
	.factories = factories,
	.factory_count = TT_COUNT(factories),
	.choose = choose,
	TT_KERNEL(kernel),
	.cost = tt_cost_unmodelled_move,
};

/* ---- whether it serves ------------------------------------------------------------------------------------------ */

struct wish {
	struct tt_tensor *in;
	uint32_t times;
	int64_t dim;                             /* may count from the end */
	const struct ttnn_memory_config *memory; /* (optional) */
};

static bool program_serves(const struct wish *wish)
{
	const struct ttnn_tensor_spec *in = &wish->in->spec;
	const struct ttnn_memory_config *memory = wish->memory ? wish->memory : &in->memory;
	int64_t rank = in->shape.rank, dim = wish->dim + (wish->dim < 0 ? rank : 0);

	if (!tt_tensor_buffer(wish->in) || tt_memory_config_is_sharded(&in->memory) ||
	    tt_memory_config_is_sharded(memory) || rank < 2 || rank > 4 || wish->times < 2)
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
	       2 * row_bytes(wish->in, memory) <= tt_l1_free(tt_tensor_device(wish->in));
}

static tt_status by_program(struct tt_tensor **out, struct tt_call *call, const struct wish *wish)
{
	struct tt_tensor *in = wish->in;
	struct ttnn_shape pages = in->spec.shape;
	bool tiles = in->spec.layout == TTNN_TILE;
	uint32_t dim, lower = 1, all = wish->times, rank = pages.rank;
	uint64_t stick = tiles ? 0 : pages.dim[rank - 1] * tt_element_bytes(in);
	struct ttnn_value attrs[ATTRS];
	struct tt_program_args program = {
		.prog = &prog, .attrs = attrs, .inputs = &in, .input_count = 1};

	TT_TRY(tt_normal_dim(&dim, wish->dim, rank));
	pages.dim[rank - 1] = tiles ? (uint32_t)tt_div_up(pages.dim[rank - 1], 32) : 1;
	if (tiles)
		pages.dim[rank - 2] = (uint32_t)tt_div_up(pages.dim[rank - 2], 32);
	for (uint32_t d = 0; d < rank; d++) {
		lower *= d > dim ? pages.dim[d] : 1;
		all *= pages.dim[d];
	}
	attrs[DIM] = ttnn_v_int(dim + 4 - rank);
	attrs[TIMES] = ttnn_v_int(wish->times);
	attrs[LOWER] = ttnn_v_int(lower);
	attrs[PAGES] = ttnn_v_int(pages.dim[dim]);
	attrs[ALL_PAGES] = ttnn_v_int(all);
	attrs[STICK] = ttnn_v_int((int64_t)stick);
	attrs[STICK_OUT] = ttnn_v_int(0);
	attrs[MEMORY] = ttnn_v_memory(wish->memory ? wish->memory : &in->spec.memory);
	return tt_call_program(out, call, &program);
}

/* ---- by joining copies ---------------------------------------------------------------------------------------------- */

static tt_status by_copies(struct tt_tensor **out, struct tt_call *call, const struct wish *wish);

static tt_status with_dim(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			  uint32_t dim)
{
	struct ttnn_arg args[] = {{"input_tensor", ttnn_v_tensor(in)}, {"dim", ttnn_v_int(dim)}};

	return tt_call_op(out, call, "ttnn.unsqueeze", args, TT_COUNT(args));
}

static tt_status cast(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
		      enum ttnn_dtype dtype, const struct ttnn_memory_config *memory)
{
	struct ttnn_arg args[] = {{"input_tensor", ttnn_v_tensor(in)},
				  {"dtype", ttnn_v_dtype(dtype)},
				  {"memory_config", ttnn_v_memory(memory)}};

	return tt_call_op(out, call, "ttnn.typecast", args, TT_COUNT(args));
}

static tt_status in_layout(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			   enum ttnn_layout layout)
{
	struct ttnn_arg args[] = {{"tensor", ttnn_v_tensor(in)}, {"layout", ttnn_v_layout(layout)}};

	return tt_call_op(out, call, "ttnn.to_layout", args, TT_COUNT(args));
}

static tt_status join(struct tt_tensor **out, struct tt_call *call, struct ttnn_value *items,
		      size_t count, uint32_t dim)
{
	struct ttnn_arg args[] = {{"tensors", ttnn_v_list(items, count)}, {"dim", ttnn_v_int(dim)}};

	return tt_call_op(out, call, "ttnn.concat", args, TT_COUNT(args));
}

/* Copies of a tensor joined along a dimension, up to 32 at a time. */
#define TOGETHER 32

struct batches {
	struct ttnn_value *items;
	uint32_t count;
};

static tt_status join_copies(struct tt_tensor **out, struct tt_call *call, struct batches *batches,
			     struct tt_tensor *in, uint32_t dim)
{
	uint32_t times = batches->count, count = (uint32_t)tt_div_up(times, TOGETHER);
	struct ttnn_value copies[TOGETHER];

	batches->count = 0;
	batches->items = tt_arena_calloc(call->arena, count, sizeof(*batches->items));
	if (!batches->items)
		return tt_fail_nomem();
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
			       const struct wish *wish, const struct ttnn_memory_config *memory)
{
	struct tt_call *call = temps->call;
	uint32_t rank = wish->in->spec.shape.rank, dims[] = {rank - 1, rank - 2};
	bool bytes = wish->in->spec.dtype == TTNN_UINT8;
	struct tt_permute_args turn = {.in = wish->in, .dims = dims, .memory = memory};
	struct wish inner = {.times = wish->times, .dim = -2, .memory = memory};
	struct tt_tensor *back;

	if (bytes) {
		TT_TRY(cast(&turn.in, call, wish->in, TTNN_BFLOAT16, memory));
		tt_temps_keep(temps, turn.in);
	}
	TT_TRY(tt_call_transpose(&inner.in, call, &turn));
	tt_temps_keep(temps, inner.in);
	TT_TRY(by_copies(&turn.in, call, &inner));
	tt_temps_keep(temps, turn.in);
	TT_TRY(tt_call_transpose(&back, call, &turn));
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
	tt_status status;

	if (dtype != TTNN_BFLOAT8_B && dtype != TTNN_BFLOAT4_B && dtype != TTNN_UINT8)
		return in_layout(out, call, in, TTNN_ROW_MAJOR);
	TT_TRY(cast(&wide, call, in, TTNN_BFLOAT16, memory));
	status = in_layout(out, call, wide, TTNN_ROW_MAJOR);
	tt_call_overwrite(call, wide);
	return status;
}

static tt_status join_and_fold(struct tt_tensor **out, struct tt_temps *temps,
			       const struct wish *wish, struct batches *batches)
{
	const struct ttnn_tensor_spec *in = &wish->in->spec;
	const struct ttnn_memory_config *memory = wish->memory ? wish->memory : &in->memory;
	struct tt_call *call = temps->call;
	struct tt_reshape_args fold = {0};
	struct ttnn_shape shape = in->shape;
	struct tt_tensor *made;
	uint32_t dim;

	TT_TRY(tt_normal_dim(&dim, wish->dim, shape.rank));
	shape.dim[dim] *= wish->times;
	fold.shape = &shape;
	TT_TRY(to_rows(&made, call, wish->in, memory));
	TT_TRY(with_dim(&made, call, tt_temps_keep(temps, made), dim + 1));
	batches->count = wish->times;
	TT_TRY(join_copies(&made, call, batches, tt_temps_keep(temps, made), dim + 1));
	fold.in = tt_temps_keep(temps, made);
	TT_TRY(tt_call_reshape(&made, call, &fold));
	TT_TRY(in_layout(&made, call, tt_temps_keep(temps, made), in->layout));
	tt_temps_keep(temps, made);
	if (made->spec.dtype != in->dtype)
		return cast(out, call, made, in->dtype, memory);
	return tt_call_to_memory(out, call, made, memory);
}

static tt_status by_joining(struct tt_tensor **out, struct tt_call *call, const struct wish *wish)
{
	struct tt_temps temps = {.call = call};
	struct batches batches = {0};
	tt_status status = tt_temps_end(&temps, join_and_fold(out, &temps, wish, &batches));

	for (uint32_t i = 0; batches.items && i < batches.count; i++)
		tt_call_drop(call, batches.items[i].tensor);
	return status;
}

/* ---- sharded tensors --------------------------------------------------------------------------------------------------- */

static tt_status scale(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
		       uint32_t down, uint32_t across)
{
	struct ttnn_value factors[] = {ttnn_v_int(down), ttnn_v_int(across)};
	struct ttnn_arg args[] = {{"input_tensor", ttnn_v_tensor(in)},
				  {"scale_factor", ttnn_v_list(factors, TT_COUNT(factors))}};

	return tt_call_op(out, call, "ttnn.upsample", args, TT_COUNT(args));
}

/* Rows of four dimensions in L1 are made larger as images are. */
static tt_status by_scaling(struct tt_tensor **out, struct tt_temps *temps, const struct wish *wish,
			    uint32_t dim)
{
	struct tt_call *call = temps->call;
	const struct ttnn_shape *shape = &wish->in->spec.shape;
	struct ttnn_shape flat = {4,
				  {1, shape->dim[0], shape->dim[1] * shape->dim[2], shape->dim[3]}};
	struct ttnn_shape result = *shape;
	uint32_t dims[] = {2, 3};
	struct tt_permute_args turn = {.in = wish->in, .dims = dims};
	struct tt_tensor *seen, *larger;

	if (dim == 1 || dim == 2)
		return scale(out, call, wish->in, dim == 1 ? wish->times : 1,
			     dim == 2 ? wish->times : 1);
	if (dim == 0) {
		result.dim[0] *= wish->times;
		TT_TRY(tt_call_reshape(&seen, call,
				       &(struct tt_reshape_args){.in = wish->in, .shape = &flat}));
		tt_temps_keep(temps, seen);
		TT_TRY(scale(&larger, call, seen, wish->times, 1));
		tt_temps_keep(temps, larger);
		return tt_call_reshape(out, call,
				       &(struct tt_reshape_args){.in = larger, .shape = &result});
	}
	TT_TRY(tt_call_transpose(&seen, call, &turn));
	tt_temps_keep(temps, seen);
	TT_TRY(scale(&larger, call, seen, 1, wish->times));
	turn.in = tt_temps_keep(temps, larger);
	return tt_call_transpose(out, call, &turn);
}

static tt_status from_shards(struct tt_tensor **out, struct tt_temps *temps,
			     const struct wish *wish)
{
	struct tt_call *call = temps->call;
	static const struct ttnn_memory_config dram;
	const struct ttnn_tensor_spec *in = &wish->in->spec;
	struct wish inner = {.times = wish->times, .dim = wish->dim, .memory = &dram};
	struct tt_tensor *result;
	uint32_t dim;

	TT_TRY(tt_normal_dim(&dim, wish->dim, in->shape.rank));
	if (in->layout == TTNN_ROW_MAJOR && in->shape.rank == 4 && in->memory.buffer != TTNN_DRAM) {
		TT_TRY(by_scaling(&result, temps, wish, dim));
		if (!wish->memory) {
			*out = result;
			return TTNN_OK;
		}
		tt_temps_keep(temps, result);
		return tt_call_to_memory(out, call, result, wish->memory);
	}
	TT_TRY(tt_call_to_memory(&inner.in, call, wish->in, &dram));
	tt_temps_keep(temps, inner.in);
	TT_TRY(by_copies(&result, call, &inner));
	tt_temps_keep(temps, result);
	return tt_call_to_memory(out, call, result, wish->memory ? wish->memory : &dram);
}

/* A line has no dimension before its last: it gets one behind. */
static tt_status of_line(struct tt_tensor **out, struct tt_temps *temps, const struct wish *wish)
{
	struct tt_call *call = temps->call;
	struct ttnn_shape shape = {1, {wish->in->spec.shape.dim[0] * wish->times}};
	struct wish inner = *wish;
	struct tt_tensor *result;

	TT_TRY(with_dim(&inner.in, call, wish->in, 1));
	tt_temps_keep(temps, inner.in);
	inner.dim = 0;
	TT_TRY(by_copies(&result, call, &inner));
	tt_temps_keep(temps, result);
	return tt_call_reshape(out, call, &(struct tt_reshape_args){.in = result, .shape = &shape});
}

static tt_status by_copies(struct tt_tensor **out, struct tt_call *call, const struct wish *wish)
{
	const struct ttnn_tensor_spec *in = &wish->in->spec;
	const struct ttnn_memory_config *memory = wish->memory ? wish->memory : &in->memory;
	struct tt_temps temps = {.call = call};
	uint32_t dim;

	if (in->shape.rank == 1)
		return tt_temps_end(&temps, of_line(out, &temps, wish));
	if (tt_tensor_is_sharded(wish->in) && wish->times > 1)
		return tt_temps_end(&temps, from_shards(out, &temps, wish));
	if (wish->times == 1)
		return tt_call_to_memory(out, call, wish->in, memory);
	TT_TRY(tt_normal_dim(&dim, wish->dim, in->shape.rank));
	if (dim + 1 == in->shape.rank)
		return tt_temps_end(&temps, turn_and_back(out, &temps, wish, memory));
	return by_joining(out, call, wish);
}

/* ---- the operation -------------------------------------------------------------------------------------------------------- */

#define REPEATS_MAX                                                                                \
	(1 << 24) /* more than a device has room for, also of tensors without elements */

static tt_status expand(struct tt_call *call)
{
	int64_t repeats = tt_call_int(call, "repeats", 1);
	struct wish wish = {.in = tt_call_tensor(call, "input_tensor"),
			    .times = (uint32_t)repeats,
			    .dim = tt_call_int(call, "dim", 0),
			    .memory = tt_call_memory(call, "memory_config")};
	struct tt_tensor *out;

	TT_TRY(tt_need_device(wish.in));
	if (repeats < 1 || repeats > REPEATS_MAX)
		return tt_fail(TTNN_INVALID, "ttnn.repeat_interleave: repeats must be 1 to %d",
			       REPEATS_MAX);
	if (program_serves(&wish))
		TT_TRY(by_program(&out, call, &wish));
	else
		TT_TRY(by_copies(&out, call, &wish));
	tt_call_return(call, out);
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{TT_MOVE_ROW(
		"repeat_interleave", expand, tt_golden_repeat_interleave,
		"Each element of a dimension repeated before the next one.",
		"input_tensor: Tensor, repeats: int, dim: int, *, memory_config: MemoryConfig? = "
		"None")},
};

const struct tt_op_family tt_family_repeat_interleave = {"repeat_interleave", ops, TT_COUNT(ops)};
