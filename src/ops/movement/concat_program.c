/*
 * concat_program.c: the program that joins tensors.
 *
 * Models ConcatDeviceOperation of ttnn 0.81 (data_movement/concat/device): refusals, memory,
 * cores, and the choice of a factory (pick()):
 *
 *	ConcatProgramFactory                pages of any kind, one after the other
 *	ConcatTiledUnalignedProgramFactory  tiles whose edge is not where the next begins
 *	ConcatS2IProgramFactory             shards into an interleaved result
 *	ConcatBlockShardedProgramFactory    block shards
 *	ConcatS2SRMProgramFactory           two tensors side by side, rows that groups divide
 *	ConcatS2STiledProgramFactory        two tensors side by side, else
 *	ConcatS2SMultiProgramFactory        several, side by side or below each other
 *
 * Not modelled: how the reader of unaligned tiles shifts rows.
 */
#include <inttypes.h>

#include "ops/movement/concat.h"
#include "ops/movement/movement.h"

#define ATTRS(X)                                                                                   \
	X(DIM, "dim")                                                                              \
	X(GROUPS, "groups")                                                                        \
	X(MEMORY, "output_mem_config")                                                             \
	X(CORES, "sub_core_grids")
TT_ATTRS(schema, "ConcatParams", ATTRS);

enum { PAGES, SHARD_TILES, SHARD_ROWS, SHARDS, TO_INTERLEAVED, BLOCKS, UNALIGNED };

/* The launch's attributes as the arguments the helpers take. */
static struct tt_concat_args args_of(const struct tt_launch *launch)
{
	return (struct tt_concat_args){
		.in = launch->inputs,
		.count = launch->input_count,
		.dim = (uint32_t)launch->attrs[DIM].integer,
		.groups = (uint32_t)launch->attrs[GROUPS].integer,
		.memory = launch->attrs[MEMORY].memory,
		.cores = tt_value_given(&launch->attrs[CORES]) ? launch->attrs[CORES].core_set
							       : NULL,
	};
}

bool tt_concat_in_place(const struct tt_concat_args *args)
{
	if (!tt_tensor_is_sharded(args->in[0]))
		return false;
	for (size_t i = 0; i < args->count; i++)
		if (args->in[i]->spec.memory.buffer == TTNN_DRAM)
			return false;
	return !(tt_memory_config_is_sharded(args->memory) && args->memory->buffer == TTNN_DRAM);
}

/* Tiles across all inputs and across the output, and rows of tiles. */
struct bands {
	uint64_t in, out, count;
};

/* Rows of tiles (bands) and how many tiles of each the inputs and the output have. */
static struct bands bands_of(const struct tt_concat_args *args)
{
	struct bands bands = {.count = args->in[0]->spec.rows / TT_TILE};
	uint64_t width = 0;

	for (size_t i = 0; i < args->count; i++) {
		bands.in += args->in[i]->spec.cols / TT_TILE;
		width += tt_shape_last(&args->in[i]->spec.shape, 1);
	}
	bands.out = tt_div_up(width, TT_TILE);
	return bands;
}

/*
 * Widths that end inside tiles: 2 to 32 tensors, bfloat16 or float32, interleaved, along the last
 * dimension.
 */
static bool unaligned_serves(const struct tt_concat_args *args)
{
	const struct ttnn_tensor_spec *first = &args->in[0]->spec;
	bool unaligned = false;

	if (args->groups != 1 || args->count < 2 || args->count > 32 ||
	    tt_memory_config_is_sharded(args->memory) || first->shape.rank < 2 ||
	    args->dim != first->shape.rank - 1 ||
	    (first->dtype != TTNN_BFLOAT16 && first->dtype != TTNN_FLOAT32))
		return false;
	for (size_t i = 0; i < args->count; i++) {
		const struct ttnn_tensor_spec *in = &args->in[i]->spec;

		if (in->layout != TTNN_TILE || tt_memory_config_is_sharded(&in->memory) ||
		    !tt_tensor_device(args->in[i]) || in->tile.height != 32 || in->tile.width != 32)
			return false;
		unaligned =
			unaligned || tt_shape_last(&in->shape, 1) != tt_shape_last(&in->padded, 1);
	}
	return unaligned && first->rows / TT_TILE;
}

/*
 * Three bands of all tensors must fit into L1; before the output exists, its own share counts too.
 */
bool tt_concat_unaligned_can(const struct tt_concat_args *args, bool pending)
{
	struct tt_device *device = tt_tensor_device(args->in[0]);
	struct ttnn_spec_args output;
	struct bands bands;
	uint64_t need;

	if (!unaligned_serves(args))
		return false;
	bands = bands_of(args);
	need = 3 * (bands.in + bands.out) * tt_tile_bytes_of(args->in[0]->spec.dtype);
	output = (struct ttnn_spec_args){.shape = args->in[0]->spec.padded,
					 .dtype = args->in[0]->spec.dtype,
					 .layout = TTNN_TILE,
					 .memory = *args->memory};
	output.shape.dim[output.shape.rank - 1] = (uint32_t)bands.out * TT_TILE;
	return need + (pending ? tt_l1_pending(device, &output) : 0) <= tt_l1_free(device);
}

/* ---- output and refusals ---------------------------------------------------------------------------------- */

/* Extents along the dimension add up. */
static tt_status concat_infer(struct tt_launch *launch)
{
	struct tt_concat_args args = args_of(launch);
	const struct ttnn_tensor_spec *first = &args.in[0]->spec;
	struct ttnn_shape shape = first->shape;

	shape.dim[args.dim] = 0;
	for (size_t i = 0; i < args.count; i++)
		shape.dim[args.dim] += args.in[i]->spec.shape.dim[args.dim];
	return tt_spec_simple(&launch->specs[0], &shape, first->dtype, first->layout, args.memory);
}

/* All are cut as the first one is. */
static tt_status check_shard(const struct ttnn_memory_config *memory,
			     const struct ttnn_memory_config *first)
{
	TT_REQUIRE(memory->has_shard, "in_ref.shard_spec().has_value()",
		   "Sharded tensors must have a shard spec.");
	TT_REQUIRE(memory->shard.grid == first->shard.grid,
		   "in_ref.shard_spec().value().grid == first_input.shard_spec().value().grid",
		   "Sharded tensors must have the same grid.");
	TT_REQUIRE(memory->layout == first->layout,
		   "in_ref.memory_config().memory_layout() == "
		   "first_input.memory_config().memory_layout()",
		   "Sharded tensors must have the same memory layout.");
	TT_REQUIRE(memory->shard.orientation == first->shard.orientation,
		   "in_ref.shard_spec().value().orientation == "
		   "first_input.shard_spec().value().orientation",
		   "Sharded tensors must have the same shard orientation.");
	return TTNN_OK;
}

/* Each against the first. */
static tt_status check_input(const struct tt_tensor *in, const struct tt_tensor *first,
			     uint32_t dim)
{
	struct ttnn_shape shape = in->spec.shape, wanted = first->spec.shape;
	bool sharded = tt_tensor_is_sharded(first);

	TT_REQUIRE(tt_tensor_buffer(in), "in_ref.buffer()",
		   "Operand to concat needs to be allocated in a buffer on device.");
	TT_REQUIRE(tt_tensor_device(in) == tt_tensor_device(first),
		   "in_ref.device() == first_input.device()",
		   "Operands to concat need to be on the same device.");
	TT_REQUIRE(in->spec.layout == first->spec.layout, "in_ref.layout() == first_input.layout()",
		   "All Tensors should have same layouts.");
	TT_REQUIRE(in->spec.dtype == first->spec.dtype, "in_ref.dtype() == first_input.dtype()",
		   "All Tensors should have same dtypes.");
	TT_REQUIRE(shape.rank == wanted.rank, "curr_shape.rank() == shape_first.rank()",
		   "Input tensor ranks must be equal");
	shape.dim[dim] = wanted.dim[dim] = 0;
	TT_REQUIRE(ttnn_shape_equal(&shape, &wanted), "curr_shape == shape_first",
		   "concat tensors differ in shape across non-concat dimensions.");
	TT_REQUIRE(tt_tensor_is_sharded(in) == sharded, "in_ref.is_sharded() == shard_first",
		   "All tensors must be sharded or all must be interleaved");
	return sharded ? check_shard(&in->spec.memory, &first->spec.memory) : TTNN_OK;
}

/* Shards stay where they are, so only dimensions can be joined that lie within one core. */
static tt_status check_direction(const struct tt_concat_args *args)
{
	const struct ttnn_tensor_spec *first = &args->in[0]->spec;
	enum ttnn_memory_layout layout = first->memory.layout;
	bool block = layout == TTNN_BLOCK_SHARDED;

	if (args->dim + 1 == first->shape.rank)
		TT_REQUIRE(
			block || layout == TTNN_HEIGHT_SHARDED,
			"memory_layout == TensorMemoryLayout::HEIGHT_SHARDED || memory_layout == "
			"TensorMemoryLayout::BLOCK_SHARDED",
			"Only support width concat on height-sharded or block-sharded tensors.");
	else if (args->dim + 2 == first->shape.rank)
		TT_REQUIRE(block || layout == TTNN_WIDTH_SHARDED,
			   "memory_layout == TensorMemoryLayout::WIDTH_SHARDED || memory_layout == "
			   "TensorMemoryLayout::BLOCK_SHARDED",
			   "Only support height concat on width-sharded or block-sharded tensors.");
	else
		TT_REQUIRE(false, "false", "Only width or height concat on sharded tensors");
	TT_REQUIRE(args->groups == 1 || layout == TTNN_HEIGHT_SHARDED,
		   "args.groups == 1 || memory_layout == TensorMemoryLayout::HEIGHT_SHARDED",
		   "Groups > 1 is only supported on height-sharded tensors (groups=%u and "
		   "memory_layout=TensorMemoryLayout::%s was provided)",
		   args->groups, tt_enum_name(&tt_enum_memory_layout, (int64_t)layout));
	return TTNN_OK;
}

/* A sharded result is cut and placed as its inputs. */
static tt_status check_in_place(const struct tt_concat_args *args)
{
	const struct ttnn_memory_config *first = &args->in[0]->spec.memory, *out = args->memory;

	TT_REQUIRE(out->layout == first->layout,
		   "args.output_mem_config.memory_layout() == memory_layout",
		   "Sharded output and inputs must have the same memory layout.");
	TT_REQUIRE(out->has_shard && out->shard.grid == first->shard.grid,
		   "args.output_mem_config.shard_spec().value().grid == "
		   "first_input.shard_spec().value().grid",
		   "Sharded output and inputs must have the same grid.");
	TT_REQUIRE(out->shard.orientation == first->shard.orientation,
		   "args.output_mem_config.shard_spec().value().orientation == "
		   "first_input.shard_spec().value().orientation",
		   "Sharded output and inputs must have the same shard orientation.");
	return check_direction(args);
}

/* Groups interleave parts of two tensors; pages know nothing of that. */
static tt_status concat_validate(struct tt_launch *launch)
{
	struct tt_concat_args args = args_of(launch);

	for (size_t i = 0; i < args.count; i++)
		TT_TRY(check_input(args.in[i], args.in[0], args.dim));
	if (tt_concat_in_place(&args))
		return check_in_place(&args);
	TT_REQUIRE(!tt_tensor_is_sharded(args.in[0]) || args.groups == 1, "args.groups == 1",
		   "Groups > 1 is not supported for DRAM-sharded concat (groups=%u was "
		   "provided). Move the inputs and output to L1 sharding, or unshard them first.",
		   args.groups);
	return TTNN_OK;
}

/* ---- program memory ------------------------------------------------------------------------------------------ */

/*
 * Two tensors side by side have programs of their own, for rows and for tiles; more than two share
 * one.
 */
static uint32_t pick(const struct tt_concat_args *args)
{
	const struct ttnn_tensor_spec *first = &args->in[0]->spec;
	bool width = first->shape.rank >= 2 && args->dim + 1 == first->shape.rank;
	bool height = args->dim + 2 == first->shape.rank;

	if (!tt_concat_in_place(args))
		return !tt_tensor_is_sharded(args->in[0]) && tt_concat_unaligned_can(args, false)
			       ? UNALIGNED
			       : PAGES;
	if (!tt_memory_config_is_sharded(args->memory))
		return TO_INTERLEAVED;
	if (first->memory.layout == TTNN_ND_SHARDED || args->memory->layout == TTNN_ND_SHARDED)
		return PAGES;
	if (first->memory.layout == TTNN_BLOCK_SHARDED)
		return BLOCKS;
	if (args->count == 2 && width) {
		if (first->layout == TTNN_ROW_MAJOR &&
		    tt_shape_last(&first->padded, 1) % args->groups == 0 &&
		    tt_shape_last(&args->in[1]->spec.padded, 1) % args->groups == 0)
			return SHARD_ROWS;
		return SHARD_TILES;
	}
	return width || height ? SHARDS : PAGES;
}

/* A page of the output at a time, or a whole row. */
static tt_status concat_pages_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_concat_args args = args_of(launch);
	const struct tt_tensor *out = launch->outputs[0];
	const struct tt_device *device = launch->device;
	bool rows = out->spec.layout == TTNN_ROW_MAJOR;
	uint64_t alignment = tt_page_alignment(out), pages = out->spec.rows, page;
	const ttnn_core_set *cores;

	if (alignment < tt_page_alignment(args.in[0]))
		alignment = tt_page_alignment(args.in[0]);
	if (!rows)
		pages = out->spec.rows * out->spec.cols / 1024;
	page = rows ? tt_align_to(out->spec.cols * tt_element_bytes(out), alignment)
		    : tt_tile_bytes_of(out->spec.dtype);
	TT_REQUIRE(page <= tt_l1_room(device), "single_page_size <= l1_capacity",
		   "ttnn.concat: required DFB entry size (%" PRIu64
		   " B) exceeds per-core L1 capacity (%" PRIu64
		   " B); op cannot fit on this device.",
		   page, tt_l1_room(device));
	if (!args.cores || tt_tensor_is_sharded(out))
		TT_TRY(tt_cores_for(&cores, launch, pages));
	else
		TT_TRY(tt_split_cores_in(&cores, args.cores,
					 tt_core_set_at(args.cores, 0, TTNN_ORIENT_COL_MAJOR),
					 tt_split_divisor(pages, ttnn_core_set_cores(args.cores)),
					 TTNN_ORIENT_COL_MAJOR));
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "src0", .pages = 2 * page > tt_l1_half(device) ? 1 : 2,
				  .page = page));
}

/* Rows of tiles become rows, are joined and become tiles again. */
static tt_status concat_unaligned_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_concat_args args = args_of(launch);
	uint64_t tile = tt_tile_bytes_of(args.in[0]->spec.dtype);
	struct bands bands = bands_of(&args);
	struct tt_block_split split;

	TT_TRY(tt_split_blocks(&split, args.cores ? args.cores : launch->device->grid, bands.count,
			       TTNN_ORIENT_COL_MAJOR));
	return TT_PLAN(plan, split.all, TT_CB_ROW(0, "in", .pages = 2 * bands.in, .page = tile),
		       TT_CB_ROW(1, "in_rm", .pages = bands.in, .page = tile),
		       TT_CB_ROW(2, "out_rm", .pages = bands.out, .page = tile),
		       TT_CB_ROW(16, "out", .pages = 2 * bands.out, .page = tile));
}

static tt_status concat_choose(uint32_t *out, struct tt_launch *launch)
{
	struct tt_concat_args args = args_of(launch);

	*out = pick(&args);
	return TTNN_OK;
}

/*
 * The greatest common divisor of the rows' bytes: the page of buffers of rows that differ in
 * width.
 */
static uint64_t divisor_of_all(const struct tt_launch *launch)
{
	uint64_t common = launch->outputs[0]->spec.memory.shard.width;

	for (size_t i = 0; i < launch->input_count; i++) {
		uint64_t b = launch->inputs[i]->spec.memory.shard.width *
			     tt_element_bytes(launch->inputs[i]);

		while (b) {
			uint64_t rest = common % b;

			common = b;
			b = rest;
		}
	}
	return common;
}

/* A buffer over the shard of each input, and of the output if that is sharded, in units of `page` bytes. */
static tt_status add_shards(struct tt_plan *plan, const struct tt_launch *launch,
			    enum tt_program_memory_kind kind, uint64_t page)
{
	for (size_t i = 0; i <= launch->input_count; i++) {
		bool is_input = i < launch->input_count;
		struct tt_tensor *tensor = is_input ? launch->inputs[i] : launch->outputs[0];
		const struct ttnn_shard_spec *shard = &tensor->spec.memory.shard;
		uint64_t row = (uint64_t)shard->width * tt_element_bytes(tensor);
		struct tt_buffer_row add = {.kind = kind,
					    .index = is_input ? (uint32_t)i : 16,
					    .name = is_input ? "input" : "output",
					    .page = page,
					    .backing = tensor};

		if (!is_input && !tt_tensor_is_sharded(tensor))
			break;
		add.pages = tensor->spec.layout == TTNN_TILE ? tt_shard_tiles(&tensor->spec)
							     : tt_div_up(row, page) * shard->height;
		TT_TRY(tt_plan_buffers(plan, launch->inputs[0]->spec.memory.shard.grid, &add, 1));
	}
	return TTNN_OK;
}

/* A buffer on each shard; page sizes are those upstream's factories take. */
static tt_status concat_shards_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *first = launch->inputs[0];

	if (first->spec.layout == TTNN_TILE)
		return add_shards(plan, launch, TT_CB, tt_tile_bytes_of(first->spec.dtype));
	return add_shards(plan, launch, TT_CB,
			  tt_factory_index(launch) == BLOCKS ? tt_element_bytes(first)
							     : divisor_of_all(launch));
}

/* Rows of shards, each rounded up to 32 bytes. */
static tt_status concat_shard_rows_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	bool shards = tt_factory_index(launch) == SHARD_ROWS;

	for (size_t i = 0; i < launch->input_count + shards; i++) {
		bool is_input = i < launch->input_count;
		struct tt_tensor *tensor = is_input ? launch->inputs[i] : launch->outputs[0];
		const struct tt_tensor *like = shards ? tensor : launch->inputs[0];
		struct tt_buffer_row add = {
			.kind = shards ? TT_DFB : TT_CB,
			.index = is_input ? (uint32_t)i : 16,
			.name = is_input ? "input" : "output",
			.pages = tensor->spec.memory.shard.height,
			.page = tt_align_to(like->spec.memory.shard.width * tt_element_bytes(like),
					    32),
			.backing = tensor};

		TT_TRY(tt_plan_buffers(plan, launch->inputs[0]->spec.memory.shard.grid, &add, 1));
	}
	return TTNN_OK;
}

/* Tiles of shards, and what transposing them takes. */
static tt_status concat_shard_tiles_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	enum ttnn_dtype dtype = launch->inputs[0]->spec.dtype;
	uint64_t tile = tt_tile_bytes_of(dtype);
	uint64_t wide = tt_tile_bytes_of(dtype == TTNN_BFLOAT8_B ? TTNN_BFLOAT16 : dtype);
	uint64_t first = launch->inputs[0]->spec.memory.shard.width / TT_TILE;
	uint64_t second = launch->inputs[1]->spec.memory.shard.width / TT_TILE;

	TT_TRY(add_shards(plan, launch, TT_DFB, tile));
	return TT_PLAN(plan, launch->inputs[0]->spec.memory.shard.grid,
		       TT_DFB_ROW(3, "input0_transpose", .pages = first, .page = wide),
		       TT_DFB_ROW(4, "input1_transpose", .pages = second, .page = wide),
		       TT_DFB_ROW(5, "concat", .pages = first + second, .page = wide),
		       TT_DFB_ROW(6, "output_transpose", .pages = first + second, .page = tile));
}

static const struct tt_factory factories[] = {
	[PAGES] = {.name = "ttnn::prim::ConcatProgramFactory", .memory = concat_pages_memory},
	[SHARD_TILES] = {.name = "ttnn::prim::ConcatS2STiledProgramFactory",
			 .memory = concat_shard_tiles_memory},
	[SHARD_ROWS] = {.name = "ttnn::prim::ConcatS2SRMProgramFactory",
			.memory = concat_shard_rows_memory},
	[SHARDS] = {.name = "ttnn::prim::ConcatS2SMultiProgramFactory",
		    .memory = concat_shards_memory},
	[TO_INTERLEAVED] = {.name = "ttnn::prim::ConcatS2IProgramFactory",
			    .memory = concat_shard_rows_memory},
	[BLOCKS] = {.name = "ttnn::prim::ConcatBlockShardedProgramFactory",
		    .memory = concat_shards_memory},
	[UNALIGNED] = {.name = "ttnn::prim::ConcatTiledUnalignedProgramFactory",
		       .memory = concat_unaligned_memory},
};

/* ---- running --------------------------------------------------------------------------------------------------- */

/* Group by group of the dimension, each input's part behind the one before. */
static tt_status concat_kernel(struct tt_launch *launch)
{
	uint32_t dim = (uint32_t)launch->attrs[DIM].integer;
	uint32_t groups = (uint32_t)launch->attrs[GROUPS].integer;
	struct tt_tensor *out = launch->outputs[0];
	int64_t to[TTNN_MAX_RANK] = {0}, from[TTNN_MAX_RANK] = {0};

	for (uint32_t group = 0; group < groups; group++)
		for (size_t i = 0; i < launch->input_count; i++) {
			struct ttnn_shape extent = launch->inputs[i]->spec.shape;
			struct tt_move_block block = {
				.extent = extent.dim, .in_start = from, .out_start = to};

			extent.dim[dim] /= groups;
			from[dim] = (int64_t)group * extent.dim[dim];
			TT_TRY(tt_move_part(out, launch->inputs[i], &block));
			to[dim] += extent.dim[dim];
		}
	return TTNN_OK;
}

/* Inputs that are the same tensor make another program. */
static void concat_key(struct tt_key *key, const struct tt_launch *launch)
{
	struct tt_concat_args args = args_of(launch);

	tt_key_values(key, launch->attrs, schema_count);
	tt_key_number(key, pick(&args));
	for (size_t i = 0; i < launch->input_count; i++) {
		size_t same = 0;

		while (launch->inputs[same]->storage != launch->inputs[i]->storage)
			same++;
		tt_key_number(key, same);
		tt_key_spec(key, &launch->inputs[i]->spec);
	}
}

static void concat_cost(struct tt_cost *cost, const struct tt_launch *launch)
{
	cost->moves = true;
	tt_cost_set_move(cost, launch, (struct tt_perf_move){.joins = true});
}

static const struct tt_prog prog = {
	.device_op = "ConcatDeviceOperation",
	.prim = "ttnn::prim::concat",
	.attrs = &schema,
	.infer = concat_infer,
	.validate = concat_validate,
	TT_FACTORIES(factories),
	.choose = concat_choose,
	.key = concat_key,
	TT_KERNEL(concat_kernel),
	.cost = concat_cost,
};

/* Attributes in upstream's order: dim, groups, memory, cores. */
tt_status tt_concat_launch(struct tt_tensor **out, struct tt_call *call,
			   const struct tt_concat_args *args)
{
	struct ttnn_value attrs[schema_count] = {ttnn_v_int(args->dim), ttnn_v_int(args->groups),
						 ttnn_v_memory(args->memory),
						 tt_value_cores(args->cores)};

	return TT_LAUNCH(out, call, &prog, .attrs = attrs, .inputs = args->in,
			 .input_count = args->count);
}
