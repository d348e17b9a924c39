/*
 * bcast.c: a matrix combined with one row, one column or one value of another.
 *
 * Models BcastDeviceOperation of ttnn 0.81 (data_movement/bcast/device): refusals, memory,
 * cores, and the choice of a factory (bcast_choose()): a row for all (H) over pages, over
 * shards, or over shards whose batches fit (optimised); a column for all (W); a value for all
 * (HW). The newer binary program (binary.c) does all of this and more; this one is what
 * ttnn.bcast still launches. Not modelled: rounding in the registers.
 */

#include "backend/backend.h"
#include "golden/golden_movement.h"
#include "ops/movement/movement.h"
#include "ops/op_enums.h"

/* ---- the program that combines ----------------------------------------------------------------------------- */

#define ATTRS(X)                                                                                   \
	X(MATH, "math_op")                                                                         \
	X(DIM, "dim")                                                                              \
	X(MEMORY, "output_mem_config")                                                             \
	X(IN_PLACE, "in_place")
TT_ATTRS(schema, "BcastParams", ATTRS);

static uint32_t last(const struct tt_tensor *tensor, uint32_t back)
{
	const struct ttnn_shape *padded = &tensor->spec.padded;

	return back <= padded->rank ? padded->dim[padded->rank - back] : 1;
}

static bool interleaved(const struct ttnn_memory_config *memory)
{
	return memory->layout == TTNN_INTERLEAVED;
}

/* A sharded result is cut as the input, whatever its config says. */
static tt_status bcast_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_memory_config memory = *launch->attrs[MEMORY].memory;

	if (tt_infer_given(launch, 0))
		return TTNN_OK;
	if (tt_memory_config_is_sharded(&memory) && tt_memory_config_is_sharded(&in->memory)) {
		enum ttnn_memory_layout layout = memory.layout;

		memory = in->memory;
		memory.layout = layout;
	}
	return tt_spec_simple(&launch->specs[0], &in->shape, in->dtype, TTNN_TILE, &memory);
}

/* Each direction has its own rules. */
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

/* Batches of b agree with a's, or there is one. */
static tt_status bcast_validate(struct tt_launch *launch)
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

/* Rows of shards have a faster form where batches fit. */
static tt_status bcast_choose(uint32_t *out, struct tt_launch *launch)
{
	const struct ttnn_memory_config *memory = &launch->inputs[0]->spec.memory;
	bool sharded = tt_memory_config_is_sharded(memory);
	uint32_t many = launch->inputs[0]->spec.padded.dim[0];
	uint32_t few = launch->inputs[1]->spec.padded.dim[0];

	switch ((enum tt_bcast_dim)launch->attrs[DIM].integer) {
	case TT_BCAST_H:
		*out = !sharded                                ? H_SPREAD
		       : many == few || (many > 1 && few == 1) ? H_SHARDED_BEST
							       : H_SHARDED;
		TT_NEED(!sharded || memory->layout != TTNN_HEIGHT_SHARDED,
			"Unsupported memory layout");
		break;
	case TT_BCAST_W:
		*out = W_SPREAD;
		break;
	case TT_BCAST_HW:
		*out = HW_SPREAD;
		break;
	}
	return TTNN_OK;
}

/* Shards are buffers; a row of b for the width of a shard. */
static tt_status bcast_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *a = launch->inputs[0], *out = launch->outputs[0];
	const struct ttnn_memory_config *memory = &a->spec.memory;
	bool sharded = tt_memory_config_is_sharded(memory);
	bool rows = sharded && launch->attrs[DIM].integer == TT_BCAST_H;

	return TT_PLAN(plan, sharded ? memory->shard.grid : launch->grid,
		       TT_DFB_ROW(0, "cb_src0", .pages = sharded ? tt_shard_tiles(&a->spec) : 2,
				  .page = tt_page_in0(launch), .backing = sharded ? a : NULL),
		       TT_DFB_ROW(1, "cb_src1",
				  .pages = rows ? tt_shard_width(memory) / TT_TILE : 2,
				  .page = tt_page_in1(launch)),
		       TT_DFB_ROW(2, "cb_output", .pages = sharded ? tt_shard_tiles(&out->spec) : 2,
				  .page = tt_page_out0(launch),
				  .backing = tt_tensor_is_sharded(out) ? out : NULL));
}

#define FACTORY(name_)                                                                             \
	{                                                                                          \
		.name = "ttnn::prim::Bcast" name_ "ProgramFactory", .memory = bcast_memory         \
	}
static const struct tt_factory factories[] = {
	[H_SHARDED_BEST] = FACTORY("ShardedHOptimised"),
	[H_SHARDED] = FACTORY("ShardedH"),
	[H_SPREAD] = FACTORY("MultiCoreH"),
	[W_SPREAD] = FACTORY("MultiCoreW"),
	[HW_SPREAD] = FACTORY("MultiCoreHW"),
};

/* The first row, column or value of the second input is all that counts of it. */
static tt_status bcast_kernel(struct tt_launch *launch)
{
	static const uint32_t fns[] = {
		[TT_BCAST_ADD] = TT_BINARY_ADD,
		[TT_BCAST_SUB] = TT_BINARY_SUB,
		[TT_BCAST_MUL] = TT_BINARY_MUL,
	};
	enum tt_bcast_dim dim = (enum tt_bcast_dim)launch->attrs[DIM].integer;
	struct tt_tensor *b = launch->inputs[1], *first;
	struct ttnn_shape shape = b->spec.shape;
	struct tt_map_job job = {.out = launch->outputs[0],
				 .arity = 2,
				 .in = {launch->inputs[0]},
				 .op = fns[launch->attrs[MATH].integer]};
	uint32_t rank = shape.rank;

	if (dim != TT_BCAST_H && rank > 0)
		shape.dim[rank - 1] = 1;
	if (dim != TT_BCAST_W && rank > 1)
		shape.dim[rank - 2] = 1;
	TT_TRY(tt_scratch_f32(&first, &shape));
	job.in[1] = first;
	TT_TRY(tt_move_part(first, b, &(struct tt_move_block){.extent = shape.dim}));
	return tt_backend_get()->map(&job);
}

/* The operand that is spread is what moves. */
static void bcast_cost(struct tt_cost *cost, const struct tt_launch *launch)
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
	.infer = bcast_infer,
	.validate = bcast_validate,
	.factories = factories,
	.factory_count = TT_COUNT(factories),
	.choose = bcast_choose,
	TT_KERNEL(bcast_kernel),
	.cost = bcast_cost,
};

#define A_H "input_tensor_a.padded_shape()[-2]"
#define A_W "input_tensor_a.padded_shape()[-1]"
#define B_H "input_tensor_b.padded_shape()[-2]"
#define B_W "input_tensor_b.padded_shape()[-1]"

/* A column: one element wide, or a tile. */
static tt_status check_width(const struct tt_tensor *a, const struct tt_tensor *b)
{
	uint32_t width = last(b, 1);

	TT_REQUIRE(last(a, 2) == last(b, 2), A_H " == " B_H,
		   "Input tensor A height (%u) must equal input tensor B height (%u) for width "
		   "broadcast",
		   last(a, 2), last(b, 2));
	TT_REQUIRE(b->spec.layout != TTNN_TILE || width == 32, B_W " == TILE_WIDTH",
		   "Input tensor B width (%u) must equal TILE_WIDTH (32) for tile layout", width);
	TT_REQUIRE(width == 1 || width == 32, B_W " == 1 || " B_W " == TILE_WIDTH",
		   "Input tensor B width (%u) must be 1 or TILE_WIDTH (32) for row major layout",
		   width);
	return TTNN_OK;
}

/* A row: one element high, or a tile. */
static tt_status check_height(const struct tt_tensor *a, const struct tt_tensor *b)
{
	uint32_t height = last(b, 2);

	TT_REQUIRE(last(a, 1) == last(b, 1), A_W " == " B_W,
		   "Input tensor A width (%u) must equal input tensor B width (%u) for height "
		   "broadcast",
		   last(a, 1), last(b, 1));
	TT_REQUIRE(b->spec.layout != TTNN_TILE || height == 32, B_H " == TILE_HEIGHT",
		   "Input tensor B height (%u) must equal TILE_HEIGHT (32) for tile layout",
		   height);
	TT_REQUIRE(height == 1 || height == 32, B_H " == 1 || " B_H " == TILE_HEIGHT",
		   "Input tensor B height (%u) must be 1 or TILE_HEIGHT (32) for row major layout",
		   height);
	return TTNN_OK;
}

/* One element, or a tile of it. */
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
	return tt_call_owned(
		call, tt_call_op(out, call, "ttnn.tilize_with_val_padding", args, TT_COUNT(args)),
		out);
}

/* Rows become tiles first. */
static tt_status bcast_expand(struct tt_call *call)
{
	struct tt_tensor *given = tt_call_tensor(call, "output_tensor"), *in[2];
	struct tt_tensor *a = tt_call_tensor(call, "input_a"), *b = tt_call_tensor(call, "input_b");
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	enum tt_bcast_dim dim = (enum tt_bcast_dim)tt_call_arg(call, "dim")->integer;
	struct ttnn_value attrs[schema_count] = {
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
	return TT_LAUNCH_RETURN(call, &prog, .attrs = attrs, TT_INPUTS(in[0], in[1]),
				TT_OUTPUTS(given));
}

static const struct tt_op ops[] = {
	{
		.name = "ttnn.bcast",
		.doc = "Combines all rows, columns or values of each matrix with one of another "
		       "tensor.",
		.sigs = {"input_a: Tensor, input_b: Tensor, math_op: BcastOpMath, dim: BcastOpDim, *, "
			 "memory_config: MemoryConfig? = None, output_tensor: Tensor? = None"},
		.expand = bcast_expand,
		.golden = tt_golden_bcast,
	},
};

const struct tt_op_family tt_family_bcast = {"bcast", ops, TT_COUNT(ops)};
