/*
 * copy.c: copies of tensors: copy, assign, clone, move and reallocate.
 *
 * Models, of ttnn 0.81 (data_movement/copy, clone, move), with refusals, memory, cores:
 *
 *	CopyDeviceOperation
 *	  SameMemoryConfig    both sides are cut alike: each core copies its own pages
 *	  DefaultTilized      else, tile by tile
 *	  DefaultRowMajor     else, row by row
 *	CloneOperation        one factory; it may change the dtype on the way
 *	MoveDeviceOperation
 *	  MoveProgramFactory         source and destination do not overlap: a copy
 *	  MoveOverlapProgramFactory  they do: everything is read before anything is written
 *	  MoveShardedProgramFactory  shards: each core moves its own, in chunks from one end
 *
 * and where move puts a tensor: what it frees first is what makes room. Not modelled: the order
 * in which overlapping pages are moved.
 */

#include "golden/golden_movement.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"
#include "ops/movement/shard_ops.h"

/* ---- copy: refusals -------------------------------------------------------------------------------- */

#define COPY_ATTRS(X)                                                                              \
	X(COPY_MEMORY, "output_mem_config")                                                        \
	X(COPY_DTYPE, "output_dtype")                                                              \
	X(COPY_BACKWARDS, "backwards")
TT_ATTRS(copy_schema, "CopyParams", COPY_ATTRS);

#define DTYPES(x)                                                                                  \
	x " == DataType::BFLOAT16 or " x " == DataType::BFLOAT8_B or " x                           \
	  " == DataType::FLOAT32 or " x " == DataType::BFLOAT4_B or " x                            \
	  " == DataType::UINT32 or " x " == DataType::INT32 or " x " == DataType::UINT16 or " x    \
	  " == DataType::UINT8 or " x " == DataType::FP8_E4M3"

/* All that tensors on a device have, but int8. */
static tt_status check_dtypes(const struct tt_shard_want *want)
{
	TT_REQUIRE(want->in->spec.dtype != TTNN_INT8, DTYPES("input_tensor_a.dtype()"),
		   "ttnn.copy only supports float, bfloat, fp8_e4m3, int32, uint32, uint16 and "
		   "uint8 inputs but got DataType::%s",
		   tt_dtype_text(want->in->spec.dtype));
	TT_REQUIRE(want->dtype != TTNN_INT8, DTYPES("operation_attributes.output_dtype"),
		   "ttnn.copy only supports float, bfloat, fp8_e4m3, int32, uint32, uint16 and "
		   "uint8 output tensors but got DataType::%s",
		   tt_dtype_text(want->dtype));
	TT_REQUIRE(tt_tensor_buffer(want->in), "input_tensor_a.buffer() != nullptr",
		   "Operands to copy need to be allocated in buffers on device!");
	return TTNN_OK;
}

/* A given output agrees in shape and layout, and is what was asked for. */
static tt_status check_given(const struct tt_shard_want *want)
{
	const struct ttnn_tensor_spec *in = &want->in->spec, *out = &want->out->spec;

	if (!ttnn_shape_equal(&out->shape, &in->shape))
		return tt_fail_shapes(
			TTNN_INVALID,
			"out_tensor.logical_shape() == input_tensor_a.logical_shape()",
			"Input tensor shape %s does not match output tensor shape %s", &in->shape,
			&out->shape);
	TT_REQUIRE(in->layout == out->layout, "input_tensor_a.layout() == out_tensor.layout()",
		   "Input tensor layout (Layout::%s) must equal output tensor layout (Layout::%s)",
		   tt_enum_name(&tt_enum_layout, (int64_t)in->layout),
		   tt_enum_name(&tt_enum_layout, (int64_t)out->layout));
	TT_REQUIRE(ttnn_memory_config_equal(&out->memory, want->memory),
		   "out_tensor.memory_config() == operation_attributes.output_mem_config",
		   "Mismatched output memory config. Check to see if the preallocated output "
		   "tensor has a different shard spec than the one specified in the passed-in "
		   "memory config.");
	TT_REQUIRE(out->dtype == want->dtype,
		   "out_tensor.dtype() == operation_attributes.output_dtype",
		   "Mismatched output dtype");
	TT_REQUIRE(tt_tensor_buffer(want->out), "out_tensor.buffer() != nullptr",
		   "Output tensor needs to be allocated in buffers on device!");
	TT_REQUIRE(tt_tensor_device(want->out) == tt_tensor_device(want->in),
		   "out_tensor.device() == input_tensor_a.device()",
		   "Output tensor needs to be on the same device as the input tensor!");
	return TTNN_OK;
}

/* Dtypes are converted tile by tile, so rows keep theirs. */
static tt_status copy_validate(struct tt_launch *launch)
{
	struct tt_shard_want want =
		tt_shard_wanted(launch, &launch->attrs[COPY_MEMORY], &launch->attrs[COPY_DTYPE]);
	const struct ttnn_tensor_spec *in = &want.in->spec;
	const struct ttnn_tile *tile = want.out ? &want.out->spec.tile : &TT_TILE_DEFAULT;

	TT_TRY(check_dtypes(&want));
	if (want.out)
		TT_TRY(check_given(&want));
	TT_REQUIRE(want.dtype == in->dtype || in->layout == TTNN_TILE,
		   "input_tensor_a.layout() == Layout::TILE",
		   "Only tile layout supports dtype conversion");
	TT_REQUIRE(in->layout != TTNN_TILE ||
			   (in->tile.height == tile->height && in->tile.width == tile->width),
		   "input_tensor_a.tensor_spec().tile().get_tile_shape() == "
		   "output_tile.get_tile_shape()",
		   "Input and output tensors must have the same tile shape when layout is TILE");
	return TTNN_OK;
}

/* The spec of the given output, or the input's in another memory and dtype. */
static tt_status copy_infer(struct tt_launch *launch)
{
	struct tt_shard_want want =
		tt_shard_wanted(launch, &launch->attrs[COPY_MEMORY], &launch->attrs[COPY_DTYPE]);
	const struct ttnn_tensor_spec *in = &want.in->spec;
	struct ttnn_spec_args args = {.shape = in->shape,
				      .dtype = want.dtype,
				      .layout = in->layout,
				      .memory = *want.memory};

	TT_TRY(tt_shard_spec(&launch->specs[0], &want));
	if (want.out)
		return TTNN_OK;
	/* The padded shape is the new layout's; only the alignment is written differently. */
	return tt_tensor_spec_padded(&launch->specs[0], &args, &launch->specs[0].padded);
}

/* ---- copy: factories -------------------------------------------------------------------------------- */

enum { SAME_MEMORY, ROWS, TILES };

/* Bytes of the unit that is copied at a time: a tile, or a row, or a row of a shard. */
static uint64_t unit_of(const struct ttnn_tensor_spec *spec, enum ttnn_dtype dtype)
{
	if (spec->layout == TTNN_TILE)
		return tt_tile_bytes_of(dtype);
	if (tt_memory_config_is_sharded(&spec->memory))
		return (uint64_t)tt_shard_width(&spec->memory) * tt_dtype_bytes(dtype);
	return (uint64_t)tt_shape_last(&spec->padded, 1) * tt_dtype_bytes(dtype);
}

static uint64_t same_page(const struct tt_tensor *tensor)
{
	return tt_align_to(unit_of(&tensor->spec, tensor->spec.dtype), tt_page_alignment(tensor));
}

/* Equal memory configs, and two pages of each dtype fit into L1. */
static bool fits_same(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *to = launch->attrs[COPY_MEMORY].memory;
	enum ttnn_dtype dtype = (enum ttnn_dtype)launch->attrs[COPY_DTYPE].integer;
	uint64_t total = 2 * same_page(launch->inputs[0]);

	if (in->memory.layout == TTNN_ND_SHARDED || to->layout == TTNN_ND_SHARDED ||
	    !ttnn_memory_config_equal(&in->memory, to))
		return false;
	if (dtype != in->dtype)
		total += 2 * tt_align_to(unit_of(in, dtype), tt_page_alignment(launch->inputs[0]));
	return total < tt_l1_room(launch->device);
}

/* More than this is copied in pieces. */
#define PIECE_MAX (4 * 65536)

static uint64_t page_width(const struct ttnn_tensor_spec *spec)
{
	if (!tt_memory_config_is_sharded(&spec->memory) ||
	    spec->memory.layout == TTNN_HEIGHT_SHARDED)
		return tt_shape_last(&spec->shape, 1);
	return tt_shard_width(&spec->memory);
}

/* Euclid's: the largest page that divides both sides. */
static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static tt_status copy_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = fits_same(launch)                             ? SAME_MEMORY
	       : launch->inputs[0]->spec.layout == TTNN_TILE ? TILES
							     : ROWS;
	return TTNN_OK;
}

/* Tiles or rows of the output; shards are cut into rows of a shard, but counted as whole rows. */
static tt_status same_cores(const ttnn_core_set **out, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *spec = &launch->outputs[0]->spec;
	uint64_t units = spec->rows;

	if (spec->layout == TTNN_TILE)
		units = spec->rows * spec->cols /
			((uint64_t)TT_TILE_DEFAULT.height * TT_TILE_DEFAULT.width);
	return tt_cores_for(out, launch, units);
}

/* The tiles that the shape needs, without those of further padding. */
static tt_status tile_cores(const ttnn_core_set **out, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint64_t tiles = 1;

	for (uint32_t back = 1; back <= in->shape.rank; back++)
		tiles *= tt_div_up(tt_shape_last(&in->shape, back), back == 1   ? in->tile.width
								    : back == 2 ? in->tile.height
										: 1);
	return tt_cores_for(out, launch, tiles);
}

/* Two pages each way; a second buffer only where the dtype changes. */
static tt_status copy_same_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const ttnn_core_set *cores;

	TT_TRY(same_cores(&cores, launch));
	return TT_PLAN(plan, cores,
		       TT_CB_ROW(0, "src0", .pages = 2, .page = same_page(launch->inputs[0])),
		       TT_CB_ROW(16, "output", .pages = tt_converts(launch) ? 2 : 0,
				 .page = same_page(launch->outputs[0])));
}

/* Rows one by one, or, when there are fewer than cores, in pieces that divide the pages of both sides. */
static tt_status copy_rows_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;
	uint64_t width = tt_shape_last(&in->shape, 1),
		 written = tt_aligned_page(launch->outputs[0]);
	uint64_t alignment = tt_page_alignment(launch->inputs[0]), rows, common, piece;
	const ttnn_core_set *cores;

	TT_TRY(tt_shape_rows(&rows, &in->shape));
	if (alignment < tt_page_alignment(launch->outputs[0]))
		alignment = tt_page_alignment(launch->outputs[0]);
	common = common_divisor(page_width(in), page_width(out));
	piece = common * tt_dtype_bytes(in->dtype);
	if (rows < ttnn_core_set_cores(launch->grid) && common < width && piece <= PIECE_MAX &&
	    piece % alignment == 0) {
		TT_TRY(tt_cores_for(&cores, launch, rows * tt_div_up(width, common ? common : 1)));
		return TT_PLAN(plan, cores,
			       TT_DFB_ROW(0, "input_pages", .pages = piece ? 2 : 0, .page = piece));
	}
	TT_TRY(tt_cores_for(&cores, launch, rows));
	return TT_PLAN(
		plan, cores,
		TT_DFB_ROW(1, "output_page", .pages = written ? 2 : 0,
			   .page = written < PIECE_MAX ? written : PIECE_MAX),
		TT_SCRATCH_ROW(0, "input_page", .pages = in->page_bytes != 0,
			       .page = in->page_bytes < PIECE_MAX ? in->page_bytes : PIECE_MAX));
}

/* The same, for tiles between any memory configs. */
static tt_status copy_tiles_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const ttnn_core_set *cores;

	TT_TRY(tile_cores(&cores, launch));
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "input_pages", .pages = 2,
				  .page = tt_aligned_page(launch->inputs[0])),
		       TT_DFB_ROW(1, "output_page", .pages = tt_converts(launch) ? 2 : 0,
				  .page = tt_aligned_page(launch->outputs[0])));
}

static const struct tt_factory copy_factories[] = {
	[SAME_MEMORY] = {.name = "ttnn::prim::CopyDeviceOperation::SameMemoryConfig",
			 .memory = copy_same_memory},
	[ROWS] = {.name = "ttnn::prim::CopyDeviceOperation::DefaultRowMajor",
		  .memory = copy_rows_memory},
	[TILES] = {.name = "ttnn::prim::CopyDeviceOperation::DefaultTilized",
		   .memory = copy_tiles_memory},
};
static const struct tt_prog prog_copy = {
	.device_op = "CopyDeviceOperation",
	.prim = "ttnn::prim::copy",
	.attrs = &copy_schema,
	.infer = copy_infer,
	.validate = copy_validate,
	TT_FACTORIES(copy_factories),
	.choose = copy_choose,
	TT_KERNEL(tt_kernel_copy),
	.cost = tt_cost_convert,
};

tt_status tt_copy_launch(struct tt_tensor **out, struct tt_call *call,
			 const struct tt_shard_want *want)
{
	struct ttnn_value attrs[copy_schema_count] = {
		ttnn_v_memory(want->memory), ttnn_v_dtype(want->dtype), ttnn_v_bool(false)};

	return tt_shard_launch(out, call, &prog_copy, want, attrs);
}

/* ttnn.copy writes into its second argument. */
static tt_status copy_expand(struct tt_call *call)
{
	struct tt_shard_want want = {.in = tt_call_tensor(call, "input_a"),
				     .out = tt_call_tensor(call, "input_b")};
	struct tt_tensor *out;

	want.memory = &want.out->spec.memory;
	want.dtype = want.out->spec.dtype;
	return tt_call_give(call, tt_copy_launch(&out, call, &want), &out);
}

/* Three signatures; the one with two tensors is copy. */
static tt_status assign_expand(struct tt_call *call)
{
	struct tt_shard_want want = {.in = tt_call_tensor(call, "input_tensor"),
				     .out = tt_call_tensor(call, "output_tensor"),
				     .memory = tt_call_memory(call, "memory_config")};
	struct tt_tensor *out;

	if (!want.in)
		return copy_expand(call);
	want.dtype = tt_call_dtype(call, "dtype", want.in->spec.dtype);
	return tt_call_give(call, tt_copy_launch(&out, call, &want), &out);
}

/* ---- clone ---------------------------------------------------------------------------------------------- */

#define CLONE_ATTRS(X)                                                                             \
	X(CLONE_DTYPE, "dtype")                                                                    \
	X(CLONE_MEMORY, "memory_config")                                                           \
	X(CLONE_COMPUTE, "compute_kernel_config")
TT_ATTRS(clone_schema, "operation_attributes_t", CLONE_ATTRS);

static tt_status clone_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	return tt_infer_padded(launch, &in->shape, &in->padded,
			       (enum ttnn_dtype)launch->attrs[CLONE_DTYPE].integer, in->layout);
}

/* A clone changes dtype or buffer type, not how a tensor is cut. */
static tt_status clone_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *to = launch->attrs[CLONE_MEMORY].memory;
	bool from_shards = tt_memory_config_is_sharded(&in->memory);
	bool to_shards = tt_memory_config_is_sharded(to);

	TT_REQUIRE((enum ttnn_dtype)launch->attrs[CLONE_DTYPE].integer == in->dtype ||
			   in->layout == TTNN_TILE,
		   "input.layout() == Layout::TILE",
		   "Clone: data type conversion is only supported with tile layout");
	TT_REQUIRE(tt_tensor_buffer(launch->inputs[0]), "input.buffer() != nullptr",
		   "Clone: input must be allocated in buffer on device");
	TT_REQUIRE(from_shards == to_shards, "false",
		   "Clone: mixed sharded/interleaved layout not currently supported. Both input "
		   "and output must have the same layout.");
	if (!from_shards)
		return TTNN_OK;
	TT_REQUIRE(
		in->memory.layout == to->layout, "input_memory_layout == output_memory_layout",
		"Clone: input and output must have the same memory layout when both are sharded");
	TT_REQUIRE(to->has_shard, "output_shard_spec.has_value()",
		   "Clone: output memory config must have shard spec when sharded");
	TT_REQUIRE(tt_shard_spec_equal(&in->memory.shard, &to->shard),
		   "input_shard_spec.tensor_shard_spec == output_shard_spec.value()",
		   "Clone: input and output shard specs must be identical (same grid, shape, and "
		   "orientation)");
	return TTNN_OK;
}

/* A tile, a row, or the part of a row that a shard has; aligned as the input's pages are. */
static uint64_t clone_unit(const struct tt_launch *launch, const struct tt_tensor *tensor)
{
	const struct ttnn_tensor_spec *spec = &tensor->spec;
	uint64_t unit = tt_shape_last(&spec->shape, 1) * tt_element_bytes(tensor);

	if (spec->layout == TTNN_TILE)
		unit = tt_tile_bytes_of(spec->dtype);
	else if (tt_tensor_is_sharded(launch->outputs[0]))
		unit = tt_shard_width(&launch->outputs[0]->spec.memory) * tt_element_bytes(tensor);
	return tt_align_to(unit, tt_page_alignment(launch->inputs[0]));
}

/* The cores of the shards, else pages over the grid. */
static tt_status clone_cores(const ttnn_core_set **out, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *spec = &launch->outputs[0]->spec;

	if (tt_memory_config_is_sharded(&spec->memory)) {
		*out = spec->memory.shard.grid;
		return TTNN_OK;
	}
	if (spec->layout == TTNN_TILE || !tt_shape_last(&spec->shape, 1))
		return same_cores(out, launch);
	return tt_cores_for(out, launch, spec->rows * spec->cols / tt_shape_last(&spec->shape, 1));
}

/* Two units each way. */
static tt_status clone_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const ttnn_core_set *cores;

	TT_TRY(clone_cores(&cores, launch));
	return TT_PLAN(
		plan, cores,
		TT_DFB_ROW(0, "src", .pages = 2, .page = clone_unit(launch, launch->inputs[0])),
		TT_DFB_ROW(1, "dst", .pages = tt_converts(launch) ? 2 : 0,
			   .page = clone_unit(launch, launch->outputs[0])));
}

static const struct tt_prog prog_clone = {
	.device_op = "CloneOperation",
	.prim = "ttnn::prim::clone",
	.attrs = &clone_schema,
	.infer = clone_infer,
	.validate = clone_validate,
	TT_FACTORY("ttnn::operations::data_movement::clone::CloneProgramFactory", clone_memory),
	TT_KERNEL(tt_kernel_copy),
	.cost = tt_cost_convert,
};

/* HiFi4 without a compute kernel config. */
static tt_status clone_expand(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true};
	struct tt_tensor *in = tt_call_tensor(call, "input");
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct ttnn_value attrs[clone_schema_count] = {
		[CLONE_DTYPE] = ttnn_v_dtype(tt_call_dtype(call, "dtype", in->spec.dtype)),
		[CLONE_MEMORY] = ttnn_v_memory(memory ? memory : &in->spec.memory),
		[CLONE_COMPUTE] = tt_compute_config(
			call, tt_call_arg(call, "compute_kernel_config"), &usual)};

	return TT_LAUNCH_RETURN(call, &prog_clone, TT_INPUTS(in), .attrs = attrs);
}

/* ---- move ------------------------------------------------------------------------------------------------ */

#define MOVE_ATTRS(X)                                                                              \
	X(MOVE_MEMORY, "output_mem_config")                                                        \
	X(MOVE_STRATEGY, "move_op_parallelization_strategy")                                       \
	X(MOVE_BACKWARDS, "backwards")
TT_ATTRS(move_schema, "MoveOperationAttributes", MOVE_ATTRS);

/* Also the indices of the factories. */
enum strategy { MULTI_CORE, MULTI_CORE_OVERLAP, MULTI_CORE_SHARDED };
static const struct tt_enum_row strategy_rows[] = {
	{MULTI_CORE, "MULTI_CORE"},
	{MULTI_CORE_OVERLAP, "MULTI_CORE_OVERLAP"},
	{MULTI_CORE_SHARDED, "MULTI_CORE_SHARDED"},
};
static const struct tt_enum strategies = {"MoveOpParallelizationStrategy", strategy_rows,
					  TT_COUNT(strategy_rows)};

static tt_status move_infer(struct tt_launch *launch)
{
	launch->specs[0] = launch->inputs[1]->spec;
	return TTNN_OK;
}

static tt_status move_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = (uint32_t)launch->attrs[MOVE_STRATEGY].integer;
	return TTNN_OK;
}

/* Bytes of a bank when the pages of a tensor are spread over `banks` of them. */
static uint64_t bank_bytes(const struct ttnn_tensor_spec *spec, uint64_t banks, uint64_t alignment)
{
	return tt_div_up(spec->pages, banks) * tt_align_to(spec->page_bytes, alignment);
}

static uint64_t l1_bank_bytes(const struct tt_device *device, const struct ttnn_tensor_spec *spec)
{
	return bank_bytes(spec, ttnn_core_set_cores(device->grid),
			  tt_devmem_alignment(device->memory, TTNN_L1));
}

static tt_status move_overlap_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const ttnn_core_set *cores;

	TT_TRY(same_cores(&cores, launch));
	return TT_PLAN(plan, cores,
		       TT_CB_ROW(0, "src", .pages = 1,
				 .page = l1_bank_bytes(launch->device, &launch->outputs[0]->spec)));
}

/* Both shards as they lie; each core moves its own. */
static tt_status move_shards_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0];
	uint64_t pages = tt_tensor_buffer(in)->layout.bank_pages, page = tt_aligned_page(in);

	return TT_PLAN(plan, in->spec.memory.shard.grid,
		       TT_CB_ROW(0, "src_sharded", .pages = pages, .page = page, .backing = in),
		       TT_CB_ROW(1, "dst_sharded", .pages = pages, .page = page,
				 .backing = launch->outputs[0]));
}

static const struct tt_factory move_factories[] = {
	[MULTI_CORE] = {.name = "ttnn::prim::MoveProgramFactory", .memory = copy_same_memory},
	[MULTI_CORE_OVERLAP] = {.name = "ttnn::prim::MoveOverlapProgramFactory",
				.memory = move_overlap_memory},
	[MULTI_CORE_SHARDED] = {.name = "ttnn::prim::MoveShardedProgramFactory",
				.memory = move_shards_memory},
};
static const struct tt_prog prog_move = {
	.device_op = "MoveDeviceOperation",
	.prim = "ttnn::prim::move",
	.attrs = &move_schema,
	.infer = move_infer,
	TT_FACTORIES(move_factories),
	.choose = move_choose,
	TT_KERNEL(tt_kernel_copy),
	.cost = tt_cost_move,
};

/*
 * Within one memory the new place is above the old one in L1 and below it in DRAM; where both
 * overlap, what is moved goes through the L1 of all cores, if it fits there.
 */
static enum strategy strategy_of(struct tt_tensor *ghost, struct tt_tensor *out)
{
	struct tt_device *device = tt_tensor_device(out);
	const struct tt_buffer *from = tt_tensor_buffer(ghost), *to = tt_tensor_buffer(out);
	struct ttnn_core grid = tt_grid_size(device->grid);
	bool into_l1 = to->layout.type == TTNN_L1, apart = from->layout.type != to->layout.type;
	uint64_t banks = tt_devmem_banks(device->memory, to->layout.type)->count;
	uint64_t size = bank_bytes(&out->spec, banks, tt_page_alignment(out));
	uint64_t end = device->limits.l1_base + l1_bank_bytes(device, &out->spec);

	if (!apart && into_l1)
		apart = from->address + size <= to->address;
	else if (!apart && to->layout.type == TTNN_DRAM)
		apart = to->address + size <= from->address;
	if (!apart && end <= (into_l1 ? to->address : device->limits.l1_size) && grid.x > 1 &&
	    grid.y > 1)
		return MULTI_CORE_OVERLAP;
	return MULTI_CORE;
}

static bool moves_backwards(const struct tt_tensor *ghost, const struct tt_tensor *out)
{
	const struct tt_buffer *from = tt_tensor_buffer(ghost), *to = tt_tensor_buffer(out);

	return from->layout.type == TTNN_L1 && to->layout.type == TTNN_L1 &&
	       from->address < to->address + to->layout.size &&
	       to->address < from->address + to->layout.size && to->address > from->address;
}

/*
 * `ghost` is the input after its buffer was given up: its addresses are still read. Overlapping
 * ranges are moved in the order that does not destroy them.
 */
static tt_status launch_move(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *ghost,
			     struct tt_tensor *to)
{
	bool sharded = tt_tensor_is_sharded(ghost);
	enum strategy strategy = sharded ? MULTI_CORE_SHARDED : strategy_of(ghost, to);
	bool backwards = strategy == MULTI_CORE && moves_backwards(ghost, to);
	struct ttnn_value attrs[move_schema_count] = {ttnn_v_memory(&to->spec.memory),
						      tt_value_enum(&strategies, (int64_t)strategy),
						      ttnn_v_bool(backwards)};
	struct tt_tensor *inputs[] = {ghost, to};

	return TT_LAUNCH(out, call, &prog_move, .attrs = attrs, .inputs = inputs, .input_count = 2,
			 TT_OUTPUTS(to), .in_place = true);
}

/* Shards keep their cut; only the memory kind may change. */
static tt_status move_spec(struct ttnn_tensor_spec *out, const struct ttnn_tensor_spec *in,
			   const struct ttnn_memory_config *memory)
{
	struct ttnn_spec_args args = tt_tensor_spec_args(in);

	if (memory && tt_memory_config_is_sharded(&in->memory)) {
		TT_REQUIRE(tt_memory_config_is_sharded(memory), "mem_config->is_sharded()",
			   "Expected output tensor memory config to be sharded");
		TT_TRY(ttnn_memory_config_sharded(&args.memory, memory->layout, memory->buffer,
						  &in->memory.shard));
	} else if (memory) {
		args.memory = *memory;
	}
	return ttnn_tensor_spec_make(out, &args);
}

/* Moves what is at the ghost's place, which is free again. */
static tt_status move_ghost(struct tt_call *call, struct tt_tensor *ghost)
{
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct ttnn_tensor_spec spec;
	struct tt_tensor *to, *out;

	TT_TRY(move_spec(&spec, &ghost->spec, memory));
	TT_TRY(tt_call_create(&to, call, tt_tensor_device(ghost), &spec));
	if (spec.memory.buffer == ghost->spec.memory.buffer &&
	    tt_tensor_buffer(to)->address == tt_tensor_buffer(ghost)->address) {
		tt_call_return(call, to); /* it is where it was */
		return tt_device_tensor_adopt(to, ghost);
	}
	tt_call_own(call, to);
	return tt_call_give(call, launch_move(&out, call, ghost, to), &out);
}

/*
 * A tensor that others still use is returned as it is; otherwise it is deallocated first, so that
 * the allocator may take the same place.
 */
static tt_status move_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *ghost;
	tt_status status;

	in = in ? in : tt_call_tensor(call, "tensor");
	TT_TRY(tt_need_device(in));
	if (!tt_tensor_is_sole(in)) {
		TT_REQUIRE(!tt_tensor_is_sharded(in), "false",
			   "Expect input tensor to be deallocated after move op. Cannot "
			   "deallocate before there is probably another consumer.");
		tt_call_return(call, ttnn_tensor_ref(in));
		return TTNN_OK;
	}
	TT_TRY(tt_device_tensor_ghost(&ghost, in));
	tt_call_deallocate(call, in);
	status = move_ghost(call, ghost);
	tt_call_own(call, ghost);
	return status;
}

/* ---- the rows -------------------------------------------------------------------------------------------- */

static const struct tt_op ops[] = {
	{TT_MOVE_ROW(
		"assign", assign_expand, tt_golden_same,
		"Copies a tensor into another, or into a new one.",
		"input_tensor: Tensor, *, memory_config: MemoryConfig, dtype: DataType? = None, "
		"output_tensor: Tensor? = None",
		"input_a: Tensor, input_b: Tensor")},
	{TT_MOVE_ROW(
		"clone", clone_expand, tt_golden_same, "A copy of a tensor.",
		"input: Tensor, *, dtype: DataType? = None, memory_config: MemoryConfig? = None, "
		"compute_kernel_config: ComputeConfig? = None")},
	{TT_MOVE_ROW("copy", copy_expand, tt_golden_same,
		     "Copies a tensor into another one of the same shape.",
		     "input_a: Tensor, input_b: Tensor")},
	{TT_MOVE_ROW("move", move_expand, tt_golden_same,
		     "Moves a tensor to where memory is free, against fragmentation.",
		     "input_tensor: Tensor, *, memory_config: MemoryConfig? = None")},
	{TT_MOVE_ROW("reallocate", move_expand, tt_golden_same,
		     "Deallocates a tensor and allocates it anew, with the same values.",
		     "tensor: Tensor, memory_config: MemoryConfig? = None")},
};

const struct tt_op_family tt_family_copy = {"movement", ops, TT_COUNT(ops)};
