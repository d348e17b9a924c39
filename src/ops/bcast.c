/*
 * bcast.c: a matrix combined with one row, one column or one value of another; and the same elements
 * under another shape by the older of two ways.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "ops/cost.h"
#include "ops/enums.h"
#include "ops/golden_movement.h"
#include "ops/movement.h"
#include "ops/rows.h"
#include "ops/view.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

/* ---- the program that combines ----------------------------------------------------------------------------- */

enum { MATH, DIM, MEMORY, IN_PLACE, ATTRS };

static const struct tt_field fields[ATTRS] = {
	[MATH] = {.name = "math_op"},
	[DIM] = {.name = "dim"},
	[MEMORY] = {.name = "output_mem_config"},
	[IN_PLACE] = {.name = "in_place"},
};
static const struct tt_schema schema = {"BcastParams", fields, ATTRS, false};

static uint32_t last(const struct tt_tensor *tensor, uint32_t back)
{
	const struct ttnn_shape *padded = &tensor->spec.padded;

	return back <= padded->rank ? padded->dim[padded->rank - back] : 1;
}

static bool interleaved(const struct ttnn_memory_config *memory)
{
	return memory->layout == TTNN_INTERLEAVED;
}

static tt_status infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_memory_config memory = *launch->attrs[MEMORY].memory;

	launch->output_count = 1;
	if (launch->outputs[0]) {
		launch->specs[0] = launch->outputs[0]->spec;
		return TTNN_OK;
	}
	if (tt_memory_config_is_sharded(&memory) && tt_memory_config_is_sharded(&in->memory)) {
		enum ttnn_memory_layout layout = memory.layout;

		memory = in->memory;
		memory.layout = layout;
	}
	return tt_spec_simple(&launch->specs[0], &in->shape, in->dtype, TTNN_TILE, &memory);
}

static tt_status validate_memory(const struct tt_launch *launch)
{
	const struct ttnn_memory_config *in = &launch->inputs[0]->spec.memory;
	const struct ttnn_memory_config *out = launch->outputs[0] ? &launch->outputs[0]->spec.memory
								  : launch->attrs[MEMORY].memory;

	switch ((enum tt_bcast_dim)launch->attrs[DIM].integer) {
	case TT_BCAST_W:
		TT_REQUIRE(interleaved(in) && interleaved(out),
			   "input_tensor_a.memory_config().memory_layout() == "
			   "TensorMemoryLayout::INTERLEAVED && out_mem_config.memory_layout() == "
			   "TensorMemoryLayout::INTERLEAVED",
			   "Bcast does not currently support input0 sharding, except if dim is W");
		return TTNN_OK;
	case TT_BCAST_H:
		TT_REQUIRE(!interleaved(in) || interleaved(out),
			   "input_tensor_a.memory_config().memory_layout() == "
			   "TensorMemoryLayout::INTERLEAVED && out_mem_config.memory_layout() == "
			   "TensorMemoryLayout::INTERLEAVED",
			   "Bcast does not currently support input0 sharding, except if dim is HW");
		TT_REQUIRE(interleaved(in) || tt_memory_config_is_sharded(out),
			   "input_tensor_a.memory_config().is_sharded() && "
			   "out_mem_config.is_sharded()",
			   "Input and output mem layouts must be the same for bcast H op!");
		return TTNN_OK;
	case TT_BCAST_HW:
		TT_REQUIRE(interleaved(in) || in->layout == TTNN_HEIGHT_SHARDED,
			   "input_tensor_a.memory_config().memory_layout() == "
			   "TensorMemoryLayout::INTERLEAVED || "
			   "input_tensor_a.memory_config().memory_layout() == "
			   "TensorMemoryLayout::HEIGHT_SHARDED",
			   "HW bcast in0 supports Height Sharding or Interleaving");
		TT_REQUIRE(in->layout == out->layout,
			   "input_tensor_a.memory_config().memory_layout() == "
			   "out_mem_config.memory_layout()",
			   "Input and output mem layouts must be the same for bcast HW op!");
		return TTNN_OK;
	}
	return TTNN_OK;
}

static tt_status validate(struct tt_launch *launch)
{
	const struct tt_tensor *a = launch->inputs[0], *b = launch->inputs[1];
	const struct ttnn_shape *shape = &a->spec.padded, *other = &b->spec.padded;
	uint64_t batch = 1;

	TT_REQUIRE(!tt_dtype_is_integer(a->spec.dtype), "is_floating_point(input_tensor_a.dtype())",
		   "Unsupported data format");
	TT_TRY(validate_memory(launch));
	if (!interleaved(&a->spec.memory) && launch->attrs[DIM].integer == TT_BCAST_H)
		return TTNN_OK;
	for (uint32_t d = 0; d + 2 < other->rank; d++)
		batch *= other->dim[d];
	if (batch == 1)
		return TTNN_OK;
	TT_REQUIRE(shape->rank == other->rank, "input_shape_a.rank() == input_shape_b.rank()",
		   "Broadcast with batch is currently only supported when input tensor ranks are "
		   "the same");
	for (uint32_t d = 0; d + 2 < shape->rank; d++)
		TT_REQUIRE(shape->dim[d] == other->dim[d], "input_shape_a[i] == input_shape_b[i]",
			   "Broadcast with batch is currently only supported when bN*bC=1 or N & C "
			   "match or equivalent");
	return TTNN_OK;
}

enum { H_SPREAD, H_SHARDED, H_SHARDED_BEST, W_SPREAD, HW_SPREAD };

/* Tiles of the three buffers are numbers 0 to 2; cores 0 are those at work. */
static tt_status choose(uint32_t *out, struct tt_launch *launch)
{
	const struct tt_tensor *a = launch->inputs[0], *b = launch->inputs[1];
	const struct ttnn_memory_config *memory = &a->spec.memory;
	struct tt_move_work *work = tt_move_work_new(launch);
	bool sharded = tt_memory_config_is_sharded(memory), rows = false;
	uint32_t many = a->spec.padded.dim[0], few = b->spec.padded.dim[0];

	if (!work)
		return TTNN_NOMEM;
	switch ((enum tt_bcast_dim)launch->attrs[DIM].integer) {
	case TT_BCAST_H:
		rows = sharded;
		*out = !sharded                                ? H_SPREAD
		       : many == few || (many > 1 && few == 1) ? H_SHARDED_BEST
							       : H_SHARDED;
		break;
	case TT_BCAST_W:
		*out = W_SPREAD;
		break;
	case TT_BCAST_HW:
		*out = HW_SPREAD;
		break;
	}
	if (rows && memory->layout == TTNN_HEIGHT_SHARDED)
		return tt_fail(TTNN_INVALID, "Unsupported memory layout");
	work->number[0] = sharded ? tt_shard_tiles(&a->spec) : 2;
	work->number[1] = rows ? tt_shard_width(memory) / 32 : 2;
	work->number[2] = sharded ? tt_shard_tiles(&launch->outputs[0]->spec) : 2;
	if (!sharded)
		return tt_cores_grid(&work->cores[0], launch);
	work->cores[0] = memory->shard.grid;
	return TTNN_OK;
}

static struct tt_tensor *back_in(const struct tt_launch *launch)
{
	return tt_tensor_is_sharded(launch->inputs[0]) ? launch->inputs[0] : NULL;
}

static struct tt_tensor *back_out(const struct tt_launch *launch)
{
	return tt_tensor_is_sharded(launch->outputs[0]) ? launch->outputs[0] : NULL;
}

static const struct tt_mem_row memory_rows[] = {
	{TT_DFB, 0, .pages = tt_number0, .page = tt_page_in0, .cores = tt_work_cores0,
	 .backing = back_in},
	{TT_DFB, 1, .pages = tt_number1, .page = tt_page_in1, .cores = tt_work_cores0},
	{TT_DFB, 2, .pages = tt_number2, .page = tt_page_out0, .cores = tt_work_cores0,
	 .backing = back_out},
};

#define FACTORY(name)                                                                              \
	{                                                                                          \
		"ttnn::prim::Bcast" name "ProgramFactory", memory_rows, TT_COUNT(memory_rows),     \
			NULL                                                                       \
	}
static const struct tt_factory factories[] = {
	[H_SHARDED_BEST] = FACTORY("ShardedHOptimised"),
	[H_SHARDED] = FACTORY("ShardedH"),
	[H_SPREAD] = FACTORY("MultiCoreH"),
	[W_SPREAD] = FACTORY("MultiCoreW"),
	[HW_SPREAD] = FACTORY("MultiCoreHW"),
};

/* The first row, column or value of the second input is all that counts of it. */
static tt_status kernel(struct tt_launch *launch)
{
	static const uint32_t fns[] = {
		[TT_BCAST_ADD] = TT_BINARY_ADD,
		[TT_BCAST_SUB] = TT_BINARY_SUB,
		[TT_BCAST_MUL] = TT_BINARY_MUL,
	};
	enum tt_bcast_dim dim = (enum tt_bcast_dim)launch->attrs[DIM].integer;
	struct tt_tensor *b = launch->inputs[1], *first;
	struct ttnn_spec_args args = {.shape = b->spec.shape, .dtype = TTNN_FLOAT32};
	struct tt_map_job job = {.out = launch->outputs[0],
				 .arity = 2,
				 .in = {launch->inputs[0]},
				 .op = fns[launch->attrs[MATH].integer]};
	struct ttnn_tensor_spec spec;
	uint32_t rank = args.shape.rank;
	tt_status status;

	if (dim != TT_BCAST_H && rank > 0)
		args.shape.dim[rank - 1] = 1;
	if (dim != TT_BCAST_W && rank > 1)
		args.shape.dim[rank - 2] = 1;
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(ttnn_tensor_new(&first, &spec));
	job.in[1] = first;
	status = tt_move_part(first, b, &(struct tt_move_block){.extent = spec.shape.dim});
	if (status == TTNN_OK)
		status = tt_backend_get()->map(&job);
	ttnn_tensor_unref(first);
	return status;
}

/* The operand that is spread is what moves. */
static void cost(struct tt_cost *cost, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[0]->spec, *b = &launch->inputs[1]->spec,
				      *out = &launch->outputs[0]->spec;
	struct tt_perf_move move = {.local = a->memory.has_shard && a->memory.buffer != TTNN_DRAM &&
					     out->memory.has_shard &&
					     out->memory.buffer != TTNN_DRAM &&
					     a->memory.shard.grid == out->memory.shard.grid};

	move.input = b;
	if (!out->memory.has_shard)
		cost->cores = tt_cost_split(launch, out->pages);
	tt_cost_set_move(cost, launch, move);
}

static const struct tt_prog prog = {
	.device_op = "BcastDeviceOperation",
	.prim = "ttnn::prim::bcast",
	.attrs = &schema,
	.infer = infer,
	.validate = validate,
	.factories = factories,
	.factory_count = TT_COUNT(factories),
	.choose = choose,
	TT_KERNEL(kernel),
	.cost = cost,
};

#define A_H "input_tensor_a.padded_shape()[-2]"
#define A_W "input_tensor_a.padded_shape()[-1]"
#define B_H "input_tensor_b.padded_shape()[-2]"
#define B_W "input_tensor_b.padded_shape()[-1]"

static tt_status check_width(const struct tt_tensor *a, const struct tt_tensor *b)
{
	uint32_t width = last(b, 1);

	TT_REQUIRE(last(a, 2) == last(b, 2), A_H " == " B_H,
		   "Input tensor A height (%" PRIu32 ") must equal input tensor B height (%" PRIu32
		   ") for width broadcast",
		   last(a, 2), last(b, 2));
	TT_REQUIRE(b->spec.layout != TTNN_TILE || width == 32, B_W " == TILE_WIDTH",
		   "Input tensor B width (%" PRIu32 ") must equal TILE_WIDTH (32) for tile layout",
		   width);
	TT_REQUIRE(width == 1 || width == 32, B_W " == 1 || " B_W " == TILE_WIDTH",
		   "Input tensor B width (%" PRIu32
		   ") must be 1 or TILE_WIDTH (32) for row major layout",
		   width);
	return TTNN_OK;
}

static tt_status check_height(const struct tt_tensor *a, const struct tt_tensor *b)
{
	uint32_t height = last(b, 2);

	TT_REQUIRE(last(a, 1) == last(b, 1), A_W " == " B_W,
		   "Input tensor A width (%" PRIu32 ") must equal input tensor B width (%" PRIu32
		   ") for height broadcast",
		   last(a, 1), last(b, 1));
	TT_REQUIRE(b->spec.layout != TTNN_TILE || height == 32, B_H " == TILE_HEIGHT",
		   "Input tensor B height (%" PRIu32
		   ") must equal TILE_HEIGHT (32) for tile layout",
		   height);
	TT_REQUIRE(height == 1 || height == 32, B_H " == 1 || " B_H " == TILE_HEIGHT",
		   "Input tensor B height (%" PRIu32
		   ") must be 1 or TILE_HEIGHT (32) for row major layout",
		   height);
	return TTNN_OK;
}

static tt_status check_value(const struct tt_tensor *b)
{
	bool tile = last(b, 2) == 32 && last(b, 1) == 32, one = last(b, 2) == 1 && last(b, 1) == 1;

	TT_REQUIRE(b->spec.layout != TTNN_TILE || tile,
		   B_H " == TILE_HEIGHT && " B_W " == TILE_WIDTH", "Error");
	TT_REQUIRE(tile || one,
		   "(" B_H " == 1 && " B_W " == 1) || (" B_H " == TILE_HEIGHT && " B_W
		   " == TILE_WIDTH)",
		   "Error");
	return TTNN_OK;
}

/* In tiles, as it is or as a new tensor that goes with the call. */
static tt_status tiled(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	struct ttnn_shape padded = tt_shape_in_tiles(&in->spec.padded);
	struct ttnn_arg args[] = {{"input_tensor", ttnn_v_tensor(in)},
				  {"output_tensor_shape", ttnn_v_shape(&padded)},
				  {"pad_value", ttnn_v_real(0)},
				  {"memory_config", ttnn_v_memory(&in->spec.memory)}};

	*out = in;
	if (in->spec.layout == TTNN_TILE)
		return TTNN_OK;
	TT_TRY(tt_call_op(out, call, "ttnn.tilize_with_val_padding", args, TT_COUNT(args)));
	tt_call_own(call, *out);
	return TTNN_OK;
}

static tt_status expand(struct tt_call *call)
{
	struct tt_tensor *given = tt_call_tensor(call, "output_tensor"), *in[2], *out;
	struct tt_tensor *a = tt_call_tensor(call, "input_a"), *b = tt_call_tensor(call, "input_b");
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	enum tt_bcast_dim dim = (enum tt_bcast_dim)tt_call_arg(call, "dim")->integer;
	struct ttnn_value attrs[ATTRS] = {
		[MATH] = *tt_call_arg(call, "math_op"),
		[DIM] = *tt_call_arg(call, "dim"),
		[MEMORY] = ttnn_v_memory(memory ? memory : &a->spec.memory),
		[IN_PLACE] = ttnn_v_bool(false),
	};

	TT_TRY(dim == TT_BCAST_W   ? check_width(a, b)
	       : dim == TT_BCAST_H ? check_height(a, b)
				   : check_value(b));
	TT_TRY(tt_need_device(a));
	TT_TRY(tt_need_device(b));
	TT_TRY(tiled(&in[0], call, a));
	TT_TRY(tiled(&in[1], call, b));
	TT_TRY(tt_call_program(&out, call,
			       &(struct tt_program_args){.prog = &prog,
							 .attrs = attrs,
							 .inputs = in,
							 .input_count = 2,
							 .outputs = &given,
							 .output_count = 1}));
	tt_call_return(call, out);
	return TTNN_OK;
}

/* ---- the program that reshapes ------------------------------------------------------------------------------- */

enum { SHAPE, PADDED, RESHAPE_MEMORY, RESHAPE_ATTRS };

static const struct tt_field reshape_fields[RESHAPE_ATTRS] = {
	[SHAPE] = {.name = "logical_output_shape"},
	[PADDED] = {.name = "padded_output_shape"},
	[RESHAPE_MEMORY] = {.name = "output_mem_config"},
};
static const struct tt_schema reshape_schema = {"ReshapeOnDeviceParams", reshape_fields,
						RESHAPE_ATTRS, false};

static tt_status reshape_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	launch->output_count = 1;
	return tt_spec_simple(&launch->specs[0], launch->attrs[SHAPE].shape, in->dtype, in->layout,
			      launch->attrs[RESHAPE_MEMORY].memory);
}

/* Elements with padding. */
static uint64_t physical(const struct tt_tensor *tensor)
{
	return tensor->spec.rows * tensor->spec.cols;
}

/* What a line of a face cannot be read into where memory is aligned to more than that. */
static uint64_t landing_pad(const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0];
	uint64_t alignment = tt_memory_alignment(launch->device, in->spec.memory.buffer);

	return alignment > 16 * tt_element_bytes(in) ? alignment : 0;
}

/* One core moves tiles, all of them rows: each takes as many whole ones as its share of the new is. */
static tt_status reshape_choose(uint32_t *out, struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0], *result = launch->outputs[0];
	struct tt_move_work *work = tt_move_work_new(launch);
	uint64_t was = last(in, 1), is = last(result, 1), cores;

	if (!work)
		return TTNN_NOMEM;
	*out = in->spec.layout != TTNN_TILE;
	if (in->spec.layout == TTNN_TILE) {
		TT_REQUIRE(physical(in) == physical(result),
			   "input_tensor_a.physical_volume() == output_physical_volume",
			   "Tile reshape requires the input and output to have the same "
			   "tile-padded physical volume, but got input %" PRIu64
			   " and output %" PRIu64,
			   physical(in), physical(result));
		work->number[0] = 2 * tt_page_in0(launch);
		work->number[1] = landing_pad(launch);
		return tt_cores_set(&work->cores[0], &(struct ttnn_core){0, 0}, 1);
	}
	TT_TRY(tt_cores_grid(&work->cores[0], launch));
	cores = ttnn_core_set_cores(work->cores[0]);
	work->number[0] = tt_align_to(result->spec.rows, cores) / cores * is * tt_element_bytes(in);
	if (work->number[0] < was * tt_element_bytes(in))
		work->number[0] = was * tt_element_bytes(in);
	return TTNN_OK;
}

static const struct tt_mem_row reshape_rows[] = {
	{TT_CB, 0, .page_count = 1, .page = tt_number0, .cores = tt_work_cores0},
	{TT_CB, 1, .page_count = 1, .page = tt_number1, .cores = tt_work_cores0, .when = tt_has1},
};
static const struct tt_factory reshape_factories[] = {
	{"ttnn::prim::ReshapeTileProgramFactory", reshape_rows, TT_COUNT(reshape_rows), NULL},
	{"ttnn::prim::ReshapeRMProgramFactory", reshape_rows, TT_COUNT(reshape_rows), NULL},
};

/* What was padding counts where it becomes part of a shape: it is 0 then. */
static tt_status reshape_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0], *whole;
	struct ttnn_spec_args args = {.shape = in->spec.padded, .dtype = TTNN_FLOAT32};
	struct ttnn_tensor_spec spec;
	uint64_t was, is;
	tt_status status;

	TT_TRY(ttnn_shape_volume(&was, &in->spec.shape));
	TT_TRY(ttnn_shape_volume(&is, &out->spec.shape));
	if (was == is)
		return tt_backend_get()->reshape(out, in);
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(ttnn_tensor_new(&whole, &spec));
	status = tt_backend_get()->fill(whole, 0, TT_FILL_ALL);
	if (status == TTNN_OK)
		status = tt_move_part(whole, in,
				      &(struct tt_move_block){.extent = in->spec.shape.dim});
	if (status == TTNN_OK)
		status = tt_backend_get()->reshape(out, whole);
	ttnn_tensor_unref(whole);
	return status;
}

static const struct tt_prog prog_reshape = {
	.device_op = "ReshapeDeviceOperation",
	.prim = "ttnn::prim::reshape_on_device",
	.attrs = &reshape_schema,
	.infer = reshape_infer,
	.factories = reshape_factories,
	.factory_count = TT_COUNT(reshape_factories),
	.choose = reshape_choose,
	TT_KERNEL(reshape_kernel),
	.cost = tt_cost_move,
};

/* Four extents, of which one may be -1: what is left over. */
static tt_status reshape_shape(struct ttnn_shape *out, const struct tt_call *call,
			       const struct tt_tensor *in)
{
	static const char *const names[] = {"W", "Z", "Y", "X"};
	int64_t dims[TT_COUNT(names)], open = -1;
	uint64_t volume = 1, was;

	TT_TRY(ttnn_shape_volume(&was, &in->spec.shape));
	for (size_t i = 0; i < TT_COUNT(names); i++) {
		dims[i] = tt_call_int(call, names[i], 1);
		if (dims[i] < 0)
			open = (int64_t)i;
		else if (__builtin_mul_overflow(volume, (uint64_t)dims[i], &volume))
			return tt_fail(TTNN_INVALID, "a shape of more than 2^63 elements");
	}
	TT_REQUIRE(open < 0 || (volume && was % volume == 0), "old_volume % new_volume == 0",
		   "Invalid arguments to reshape");
	if (open >= 0)
		dims[open] = (int64_t)(was / volume);
	TT_REQUIRE(open >= 0 || volume == was, "new_volume == old_volume",
		   "Invalid arguments to reshape");
	return ttnn_shape_make(out, dims, TT_COUNT(names));
}

static tt_status expand_reshape(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *out;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct ttnn_value attrs[RESHAPE_ATTRS] = {
		[RESHAPE_MEMORY] = ttnn_v_memory(memory ? memory : &in->spec.memory),
	};
	struct ttnn_shape shape;

	TT_TRY(reshape_shape(&shape, call, in));
	if (in->spec.padded.rank < 4)
		return tt_fail(TTNN_INVALID,
			       "ShapeBase[] index out of range. 3 not in [-4, %" PRIu32 ")",
			       in->spec.padded.rank);
	if (in->spec.padded.dim[3] == shape.dim[3]) {
		TT_TRY(tt_call_view(&out, call, in, &shape, &shape));
		tt_call_return(call, out);
		return TTNN_OK;
	}
	TT_TRY(tt_need_device(in));
	attrs[SHAPE] = ttnn_v_shape(&shape);
	attrs[PADDED] = ttnn_v_shape(&shape);
	TT_TRY(tt_call_program(
		&out, call,
		&(struct tt_program_args){
			.prog = &prog_reshape, .attrs = attrs, .inputs = &in, .input_count = 1}));
	tt_call_return(call, out);
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{
		.name = "ttnn.bcast",
		.family = "bcast",
		.doc = "Combines all rows, columns or values of each matrix with one of another "
		       "tensor.",
		.sigs = {"input_a: Tensor, input_b: Tensor, math_op: BcastOpMath, dim: BcastOpDim, *, "
			 "memory_config: MemoryConfig? = None, output_tensor: Tensor? = None"},
		.expand = expand,
		.golden = tt_golden_bcast,
		.pcc = 0.999,
	},
	{
		.name = "ttnn.reshape_on_device",
		.family = "bcast",
		.doc = "The same elements under a shape of four extents; one may be -1.",
		.sigs = {"input_tensor: Tensor, W: int, Z: int, Y: int, X: int, *, memory_config: "
			 "MemoryConfig? = None"},
		.expand = expand_reshape,
		.golden = tt_golden_reshape_on_device,
		.pcc = 0.999,
	},
};

const struct tt_op_family tt_family_bcast = {"bcast", ops, TT_COUNT(ops)};
