/*
 * reshape_on_device.c: the same elements under another shape, by the older of upstream's two ways. One core moves
 * tiles, all cores rows.
 *
 * Models ReshapeDeviceOperation of ttnn 0.81 with both factories: refusals, memory, cores.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "golden/golden_movement.h"
#include "ops/movement/movement.h"

#define ATTRS(X)                                                                                   \
	X(SHAPE, "logical_output_shape")                                                           \
	X(PADDED, "padded_output_shape")                                                           \
	X(MEMORY, "output_mem_config")
TT_ATTRS(schema, "ReshapeOnDeviceParams", ATTRS);

static tt_status on_device_reshape_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	return tt_infer_one(launch, launch->attrs[SHAPE].shape, in->dtype, in->layout);
}

static uint64_t last(const struct tt_tensor *tensor)
{
	return tensor->spec.padded.dim[tensor->spec.padded.rank - 1];
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

/* One factory for tiles, one for rows. Tiles need the same padded volume. */
static tt_status on_device_reshape_choose(uint32_t *out, struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0], *result = launch->outputs[0];

	*out = in->spec.layout != TTNN_TILE;
	if (in->spec.layout == TTNN_TILE)
		TT_REQUIRE(physical(in) == physical(result),
			   "input_tensor_a.physical_volume() == output_physical_volume",
			   "Tile reshape requires the input and output to have the same "
			   "tile-padded physical volume, but got input %" PRIu64
			   " and output %" PRIu64,
			   physical(in), physical(result));
	return TTNN_OK;
}

/* One core moves tiles. */
static tt_status tile_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t landing = landing_pad(launch);
	const ttnn_core_set *core;

	TT_TRY(tt_cores_set(&core, &(struct ttnn_core){0, 0}, 1));
	return TT_PLAN(plan, core,
		       TT_CB_ROW(0, "cb_src0", .pages = 1, .page = 2 * tt_page_in0(launch)),
		       TT_CB_ROW(1, "cb_landing", .pages = landing ? 1 : 0, .page = landing));
}

/* All cores move rows: each takes as many whole ones as its share of the new is. */
static tt_status row_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0], *result = launch->outputs[0];
	uint64_t cores = ttnn_core_set_cores(launch->grid), element = tt_element_bytes(in);
	uint64_t share = tt_align_to(result->spec.rows, cores) / cores * last(result) * element;
	uint64_t row = last(in) * element;

	return TT_PLAN(plan, launch->grid,
		       TT_CB_ROW(0, "cb_src0", .pages = 1, .page = share < row ? row : share));
}

static const struct tt_factory factories[] = {
	{.name = "ttnn::prim::ReshapeTileProgramFactory", .memory = tile_memory},
	{.name = "ttnn::prim::ReshapeRMProgramFactory", .memory = row_memory},
};

/* What was padding counts where it becomes part of a shape: it is 0 then. */
static tt_status on_device_reshape_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0], *whole;
	struct ttnn_shape shape = in->spec.padded;
	uint64_t was, is;

	TT_TRY(ttnn_shape_volume(&was, &in->spec.shape));
	TT_TRY(ttnn_shape_volume(&is, &out->spec.shape));
	if (was == is)
		return tt_backend_get()->reshape(out, in);
	TT_TRY(tt_scratch_f32(&whole, &shape));
	TT_TRY(tt_backend_get()->fill(whole, 0, TT_FILL_ALL));
	TT_TRY(tt_move_part(whole, in, &(struct tt_move_block){.extent = in->spec.shape.dim}));
	return tt_backend_get()->reshape(out, whole);
}

static tt_status on_device_reshape_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	TT_REQUIRE(in->dtype == TTNN_BFLOAT16 || in->dtype == TTNN_FLOAT32,
		   "input_tensor_a.dtype() == DataType::BFLOAT16 or input_tensor_a.dtype() == "
		   "DataType::FLOAT32",
		   "Input tensor dtype must be BFLOAT16 or FLOAT32 but got DataType::%s",
		   tt_enum_name(&tt_enum_dtype, in->dtype));
	TT_REQUIRE(!tt_memory_config_is_sharded(&in->memory),
		   "input_tensor_a.memory_config().memory_layout() == "
		   "TensorMemoryLayout::INTERLEAVED",
		   "Use ttnn::reshape for reshaping sharded inputs");
	TT_REQUIRE(!tt_memory_config_is_sharded(launch->attrs[MEMORY].memory),
		   "operation_attributes.output_mem_config.memory_layout() == "
		   "TensorMemoryLayout::INTERLEAVED",
		   "Reshape does not currently support sharding. Use ttnn::reshape for reshaping "
		   "sharded inputs");
	TT_REQUIRE(in->layout != TTNN_ROW_MAJOR ||
			   (tt_shape_last(&in->padded, 1) % 8 == 0 &&
			    tt_shape_last(launch->attrs[PADDED].shape, 1) % 8 == 0),
		   "input_tensor_a.padded_shape()[3] % ROW_MAJOR_WIDTH == 0 && "
		   "operation_attributes.padded_output_shape[3] % ROW_MAJOR_WIDTH == 0",
		   "Operand/target width must be a multiple of 8");
	return TTNN_OK;
}

static const struct tt_prog program = {
	.device_op = "ReshapeDeviceOperation",
	.prim = "ttnn::prim::reshape_on_device",
	.attrs = &schema,
	.infer = on_device_reshape_infer,
	.validate = on_device_reshape_validate,
	TT_FACTORIES(factories),
	.choose = on_device_reshape_choose,
	TT_KERNEL(on_device_reshape_kernel),
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

/* The same width is a view. */
static tt_status reshape_on_device_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *out;
	struct ttnn_shape shape;

	TT_TRY(reshape_shape(&shape, call, in));
	TT_TRY(tt_need_dim(&in->spec.padded, 3));
	if (in->spec.padded.dim[3] == shape.dim[3]) {
		return tt_call_give(call, tt_call_view(&out, call, in, &shape, &shape), &out);
	}
	TT_TRY(tt_need_device(in));
	return TT_LAUNCH_RETURN(
		call, &program, TT_INPUTS(in),
		TT_BIND(call,
			schema, [SHAPE] = ttnn_v_shape(&shape), [PADDED] = ttnn_v_shape(&shape),
			[MEMORY] = tt_value_memory_or_like(call, in)));
}

static const struct tt_op ops[] = {
	{
		.name = "ttnn.reshape_on_device",
		.doc = "The same elements under a shape of four extents; one may be -1.",
		.sigs = {"input_tensor: Tensor, W: int, Z: int, Y: int, X: int, *, memory_config: "
			 "MemoryConfig? = None"},
		.expand = reshape_on_device_expand,
		.golden = tt_golden_reshape_on_device,
	},
};

const struct tt_op_family tt_family_reshape_on_device = {"reshape_on_device", ops, TT_COUNT(ops)};
