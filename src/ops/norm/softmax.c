/*
 * softmax.c: the program of all forms of softmax: over the last dimension with scale and mask,
 * or over any dimension.
 *
 * Models SoftmaxDeviceOperation of ttnn 0.81 (normalization/softmax/device): refusals, memory,
 * cores, and the choice of a factory (softmax_choose()):
 *
 *	AttentionOptimized         four dimensions, over the last; also with scale and mask
 *	ShardedAttentionOptimized  the same where shards are, by a config of the caller's
 *	GeneralWSmall, GeneralHSmall  over width or height, a line fits into L1
 *	GeneralWLarge, GeneralHLarge  it does not: it is read three times
 *	GeneralCLarge              over an outer dimension
 *
 * The general ones are those of moreh_softmax (softmax_lines.c). Not modelled: the order in
 * which the chip sums a line.
 */
#include "ops/norm/softmax.h"

#include <math.h>

#include "backend/backend.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"
#include "ops/reduce/reduce.h"

#define ATTRS(X)                                                                                   \
	X(TYPE, "softmax_type")                                                                    \
	X(DIM, "dim")                                                                              \
	X(SCALE, "scale")                                                                          \
	X(IN_PLACE, "inplace")                                                                     \
	X(MEMORY, "output_mem_config")                                                             \
	X(CONFIG, "program_config", .text = TT_TEXT_FIXED, .fixed = "<variant>")                   \
	X(CAUSAL, "is_causal_mask")                                                                \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(CAUSAL_HW, "is_scale_causal_mask_hw_dims_softmax")                                       \
	X(STABLE, "numeric_stable")                                                                \
	X(MASKED_PADDING, "mask_padded_data")
TT_ATTRS(schema, "SoftmaxParams", ATTRS);

static const struct tt_enum_row type_rows[] = {
	{TT_SOFTMAX_PLAIN, "Softmax"},
	{TT_SOFTMAX_SCALE_MASK, "ScaleMaskSoftmax"},
	{TT_SOFTMAX_IN_PLACE, "SoftmaxInPlace"},
	{TT_SOFTMAX_SCALE_MASK_IN_PLACE, "ScaleMaskSoftmaxInPlace"},
	{TT_SOFTMAX_CAUSAL_HW_IN_PLACE, "ScaleCausalMaskHWSoftmaxInPlace"},
};
static const struct tt_enum type_enum = {"SoftmaxOperationType", type_rows, TT_COUNT(type_rows)};

const struct tt_schema tt_schema_softmax_default = {"SoftmaxDefaultProgramConfig", NULL, 0, true};
static const struct tt_field sharded_fields[TT_SOFTMAX_SHARDED_FIELDS] = {
	[TT_SOFTMAX_GRID] = {.name = "compute_with_storage_grid_size"},
	[TT_SOFTMAX_SUBBLOCK_W] = {.name = "subblock_w", .spaced = true},
	[TT_SOFTMAX_BLOCK_H] = {.name = "block_h", .spaced = true},
	[TT_SOFTMAX_BLOCK_W] = {.name = "block_w", .spaced = true},
};
const struct tt_schema tt_schema_softmax_sharded = {
	"SoftmaxShardedMultiCoreProgramConfig", sharded_fields, TT_SOFTMAX_SHARDED_FIELDS, true};

/* ---- what the attributes say ------------------------------------------------------------------------ */

static struct tt_tensor *mask_of(const struct tt_launch *launch)
{
	return launch->input_count > 1 ? launch->inputs[1] : NULL;
}

/* The config for shards, or NULL. */
static const struct ttnn_value *sharded_config(const struct tt_launch *launch)
{
	const struct ttnn_value *config = &launch->attrs[CONFIG];

	return config->kind == TTNN_VALUE_OBJECT && config->schema == &tt_schema_softmax_sharded
		       ? config->items
		       : NULL;
}

static uint64_t config_number(const struct tt_launch *launch, enum tt_softmax_sharded_field field)
{
	return (uint64_t)sharded_config(launch)[field].integer;
}

/* A grid is a core or a list of two numbers. */
static struct ttnn_core grid_of(const struct tt_launch *launch)
{
	const struct ttnn_value *grid = &sharded_config(launch)[TT_SOFTMAX_GRID];

	if (grid->kind == TTNN_VALUE_LIST && grid->count == 2)
		return (struct ttnn_core){(uint32_t)grid->items[0].integer,
					  (uint32_t)grid->items[1].integer};
	return grid->core;
}

static bool is_f32(const struct tt_launch *launch)
{
	return launch->inputs[0]->spec.dtype == TTNN_FLOAT32;
}

/* Sums are kept as the compute config says. */
static bool wide_sums(const struct tt_launch *launch)
{
	return tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32);
}

/* ---- specs and refusals ------------------------------------------------------------------------------- */

/* A core has whole rows: block_w is the width, and blocks of all cores are the tensor. */
static tt_status check_sharded(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_core grid = grid_of(launch);
	uint64_t width = tt_shape_last(&in->padded, 1);
	uint64_t block_w = config_number(launch, TT_SOFTMAX_BLOCK_W);
	uint64_t block_h = config_number(launch, TT_SOFTMAX_BLOCK_H);
	uint64_t subblock = config_number(launch, TT_SOFTMAX_SUBBLOCK_W);
	uint64_t cores = (uint64_t)grid.x * grid.y;

	TT_REQUIRE(in->memory.has_shard,
		   "tensors_args.input_tensor.is_sharded() && "
		   "tensors_args.input_tensor.shard_spec().has_value()",
		   "Input tensor must be sharded when using SoftmaxShardedMultiCoreProgramConfig");
	TT_REQUIRE(subblock && block_w % subblock == 0,
		   "program_config.block_w % program_config.subblock_w == 0",
		   "block_w must be divisible by subblock_w.");
	TT_REQUIRE(block_w * in->tile.width == width,
		   "program_config.block_w * tensors_args.input_tensor.tensor_spec().tile()."
		   "get_width() == shape[3]",
		   "shard width must equal to input tensor shape[3]!");
	TT_REQUIRE(launch->attrs[CAUSAL_HW].boolean ||
			   block_w * block_h * 1024 * cores == in->rows * in->cols,
		   "M * K / ((program_config.block_w * program_config.block_h) * "
		   "tensors_args.input_tensor.tensor_spec().tile().get_tile_hw()) == num_cores_r * "
		   "num_cores_c",
		   "number of shards must equal to number of cores. M = %llu, K = %llu, block_w = "
		   "%llu, block_h = %llu, num_cores = %llu",
		   (unsigned long long)in->rows, (unsigned long long)width,
		   (unsigned long long)block_w, (unsigned long long)block_h,
		   (unsigned long long)cores);
	return TTNN_OK;
}

/*
 * A mask in shards is as the input; otherwise it has one row of heads (1 in the middle dimensions)
 * and the same batches.
 */
static tt_status check_mask(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec,
				      *mask = &mask_of(launch)->spec;

	if (tt_memory_config_is_sharded(&mask->memory)) {
		TT_REQUIRE(mask->layout == TTNN_TILE, "mask.layout() == Layout::TILE",
			   "Sharded mask must have TILE layout");
		TT_REQUIRE(ttnn_shape_equal(&mask->padded, &in->padded),
			   "mask.padded_shape() == tensors_args.input_tensor.padded_shape()",
			   "Sharded mask shape must match input tensor shape");
		return sharded_config(launch) ? check_sharded(launch) : TTNN_OK;
	}
	for (uint32_t i = 1; i + 2 < in->padded.rank; i++)
		TT_REQUIRE(mask->padded.dim[i] == 1, "mask.padded_shape()[i] == 1",
			   "Non-sharded mask intermediate dimensions must be 1");
	if (sharded_config(launch))
		return check_sharded(launch);
	if (in->padded.dim[0] != mask->padded.dim[0])
		return tt_fail_shapes(TTNN_INVALID,
				      "tensors_args.input_tensor.padded_shape()[0] == "
				      "tensors_args.mask.value().padded_shape()[0]",
				      "Input and mask batch sizes must match, got %s for input and "
				      "%s for mask",
				      &in->padded, &mask->padded);
	TT_REQUIRE(!launch->attrs[CAUSAL_HW].boolean,
		   "!attributes.is_scale_causal_mask_hw_dims_softmax",
		   "Scale causal mask HW dims softmax not supported in default program config");
	return TTNN_OK;
}

/* A scale needs a mask: without one the caller is to scale before. */
static tt_status softmax_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	TT_REQUIRE(in->layout == TTNN_TILE, "(tensors_args.input_tensor.layout() == Layout::TILE)",
		   "Inputs to softmax must be tilized");
	TT_REQUIRE(in->dtype == TTNN_FLOAT32 || in->dtype == TTNN_BFLOAT16 ||
			   in->dtype == TTNN_BFLOAT8_B,
		   "tensors_args.input_tensor.dtype() == DataType::FLOAT32 || "
		   "tensors_args.input_tensor.dtype() == DataType::BFLOAT16 || "
		   "tensors_args.input_tensor.dtype() == DataType::BFLOAT8_B",
		   "Input tensor must be FLOAT32, BFLOAT16, or BFLOAT8_B, got: DataType::%s",
		   tt_enum_name(&tt_enum_dtype, in->dtype));
	if (mask_of(launch))
		return check_mask(launch);
	TT_REQUIRE(!tt_value_given(&launch->attrs[SCALE]), "not attributes.scale.has_value()",
		   "Scale value must not be set when mask is not present");
	return sharded_config(launch) ? check_sharded(launch) : TTNN_OK;
}

/* ---- program memory ------------------------------------------------------------------------------------- */

/* The order is upstream's: it numbers the factories. */
enum { W_SMALL, W_LARGE, H_SMALL, H_LARGE, C_LARGE, SHARDED, ATTENTION };

/* What choose() works out for the factories over the last dimension. */
struct softmax_work {
	const ttnn_core_set *cores;
	uint64_t in_pages, line, block,
		row;                     /* tiles: read, of a line in work, of a block, of a row */
	uint64_t value_bytes, sum_bytes; /* of tiles of values and sums */
	bool large;                      /* lines are read piece by piece */
	bool has_x;                      /* differences from the largest have a buffer */
};

static bool over_width(const struct tt_launch *launch)
{
	uint32_t rank = launch->inputs[0]->spec.padded.rank;

	return launch->attrs[DIM].integer + 1 == (int64_t)rank;
}

/* Any dimension, one line of tiles after the other. */
static tt_status plan_general(uint32_t *out, struct tt_launch *launch)
{
	static const uint32_t factories_of[] = {[TT_LINES_W_SMALL] = W_SMALL,
						[TT_LINES_W_LARGE] = W_LARGE,
						[TT_LINES_H_SMALL] = H_SMALL,
						[TT_LINES_H_LARGE] = H_LARGE,
						[TT_LINES_OUTER] = C_LARGE};
	struct tt_lines_request request = {
		.dim = (uint32_t)launch->attrs[DIM].integer,
		.value = is_f32(launch) ? TTNN_FLOAT32 : TTNN_BFLOAT16,
		.sum = wide_sums(launch) ? TTNN_FLOAT32 : TTNN_BFLOAT16,
		.between = wide_sums(launch) ? TTNN_FLOAT32 : launch->inputs[0]->spec.dtype,
	};
	enum tt_lines lines;

	TT_NEED(!is_f32(launch) || wide_sums(launch),
		"FP32 destination accumulation must be enabled when input tensor has FLOAT32 data "
		"type. Please update the compute kernel configuration.");
	TT_TRY(tt_lines_plan(&lines, launch, &request));
	*out = factories_of[lines];
	return TTNN_OK;
}

/* Tiles that the matrix engine takes at a time: a large divisor of the line, or as many as it can. */
static uint64_t block_of(uint64_t line, uint64_t most)
{
	uint64_t divisor = tt_split_divisor_no57(line, most);

	return divisor == line || 2 * divisor > most ? divisor : most;
}

/* Lines that leave less than a tenth of L1 free are read piece by piece. */
#define LARGE_PAGES 80
#define SINGLE_TILES 5

/* Whether a line would take more than 90% of L1, by upstream's own sum of its buffers. */
static bool is_large(const struct tt_launch *launch, const struct softmax_work *work, uint64_t line)
{
	uint64_t value = work->value_bytes, block = work->block;
	uint64_t in = tt_page_in0(launch), out = tt_page_out0(launch);
	uint64_t sum = work->in_pages * in + line * value + 2 * block * out + SINGLE_TILES * value;

	if (work->has_x)
		sum += line * value;
	if (mask_of(launch))
		sum += (line + block) * value + tt_tile_bytes_of(TTNN_BFLOAT16) +
		       line * tt_page_in1(launch);
	return (double)launch->device->limits.l1_size * 0.9 < (double)sum;
}

/* The last dimension of four. */
static tt_status plan_attention(struct tt_launch *launch, struct softmax_work *work)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_reduce_tiles tiles = tt_reduce_tiles_of(in);
	bool padded = tt_shape_last(&in->padded, 1) > tt_shape_last(&in->shape, 1);
	bool stable = launch->attrs[STABLE].boolean, plain = !padded && !mask_of(launch);
	uint64_t block = block_of(tiles.width, wide_sums(launch) ? 4 : 8);
	uint64_t line = tt_align_to(tiles.width, block);
	struct tt_work_split split;

	work->block = block;
	work->line = line;
	work->row = line;
	work->sum_bytes = tt_tile_bytes_of(wide_sums(launch) ? TTNN_FLOAT32 : TTNN_BFLOAT16);
	work->value_bytes = tt_tile_bytes_of(is_f32(launch) && wide_sums(launch) ? TTNN_FLOAT32
										 : TTNN_BFLOAT16);
	work->has_x = stable && !plain;
	work->in_pages = stable && plain ? line : 2 * block;
	work->large = is_large(launch, work, line);
	if (work->large) {
		work->in_pages = work->line = LARGE_PAGES;
		work->has_x = true;
	}
	TT_TRY(tt_split_work(&split, tt_grid_size(launch->grid), tiles.matrices * tiles.height,
			     TTNN_ORIENT_ROW_MAJOR));
	work->cores = split.all;
	return TTNN_OK;
}

/* Blocks of the config; the stable form needs a second line for x - max. */
static tt_status plan_sharded(struct tt_launch *launch, struct softmax_work *work)
{
	struct ttnn_core grid = grid_of(launch);

	work->line = config_number(launch, TT_SOFTMAX_BLOCK_W);
	work->block = work->line * config_number(launch, TT_SOFTMAX_BLOCK_H);
	work->value_bytes = tt_tile_bytes_of(is_f32(launch) ? TTNN_FLOAT32 : TTNN_BFLOAT16);
	work->has_x = launch->attrs[STABLE].boolean;
	return tt_core_set_grid(&work->cores, grid.x, grid.y);
}

/*
 * The plain form over the width of four dimensions takes the programs for attention; over other
 * dimensions or ranks, those for lines.
 */
static bool takes_lines(const struct tt_launch *launch)
{
	return launch->attrs[TYPE].integer == TT_SOFTMAX_PLAIN &&
	       !(over_width(launch) && launch->inputs[0]->spec.padded.rank == 4);
}

static tt_status softmax_choose(uint32_t *out, struct tt_launch *launch)
{
	struct softmax_work *work = tt_work_new(launch, sizeof(*work));

	if (!work)
		return TTNN_NOMEM;
	if (takes_lines(launch))
		return plan_general(out, launch);
	*out = sharded_config(launch) ? SHARDED : ATTENTION;
	return *out == SHARDED ? plan_sharded(launch, work) : plan_attention(launch, work);
}

/* A line of exponentials, and with a mask one of scaled and masked values. Large lines are read in pieces, with the running maximum and sum beside them. */
static tt_status attention_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct softmax_work *work = launch->work;
	uint64_t value = work->value_bytes, sum = work->sum_bytes;
	uint64_t bf16 = tt_tile_bytes_of(TTNN_BFLOAT16), in = tt_page_in0(launch);
	bool mask = mask_of(launch) != NULL, stable = launch->attrs[STABLE].boolean;
	/* The scaled and masked line, and a block more; a large one takes what lines take. */
	uint64_t masked = work->large ? LARGE_PAGES : work->row + work->block;

	TT_REQUIRE(
		mask || !launch->attrs[CAUSAL].boolean, "has_mask || !attributes.is_causal_mask",
		"Causal-mask softmax requires an attention mask (is_causal_mask=true with no mask "
		"is unsupported).");
	return TT_PLAN(
		plan, work->cores, TT_DFB_ROW(0, "in0", .pages = work->in_pages, .page = in),
		TT_DFB_ROW(11, "out0", .pages = 2 * work->block, .page = tt_page_out0(launch)),
		TT_DFB_ROW(7, "recip_sum_exps", .pages = 1, .page = sum),
		TT_DFB_ROW(12, "prev_reduce", .pages = work->large, .page = sum),
		TT_DFB_ROW(15, "prev_max", .pages = work->large, .page = value),
		TT_DFB_ROW(16, "recip", .pages = work->large, .page = sum),
		TT_DFB_ROW(2, "max_scaler", .pages = 1, .page = value),
		TT_DFB_ROW(13, "sum_scaler", .pages = 1, .page = sum),
		TT_DFB_ROW(6, "exps", .pages = work->line, .page = value),
		TT_DFB_ROW(9, "scale_mask", .pages = mask ? masked : 0, .page = value),
		TT_DFB_ROW(3, "fused_scale", .pages = mask, .page = bf16),
		TT_DFB_ROW(4, "fused_attn", .pages = mask ? work->row : 0,
			   .page = tt_page_in1(launch)),
		TT_DFB_ROW(5, "mask_padded", .pages = 1, .page = bf16),
		TT_DFB_ROW(8, "max", .pages = stable, .page = value),
		TT_DFB_ROW(10, "x", .pages = work->has_x ? work->line : 0, .page = value));
}

/* Tiles of the mask that a core holds: its shard, or a line, or two while they change. */
static uint64_t shard_mask_pages(const struct tt_launch *launch)
{
	const struct softmax_work *work = launch->work;
	bool twice = launch->attrs[CAUSAL].boolean && !launch->attrs[CAUSAL_HW].boolean;

	if (!mask_of(launch))
		return 0;
	if (tt_tensor_is_sharded(mask_of(launch)))
		return work->block;
	return (twice ? 2 : 1) * work->line;
}

/* Input and output are buffers as they lie; a mask in shards too. */
static tt_status sharded_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct softmax_work *work = launch->work;
	struct tt_tensor *mask = mask_of(launch);
	uint64_t value = work->value_bytes, bf16 = tt_tile_bytes_of(TTNN_BFLOAT16);

	return TT_PLAN(plan, work->cores,
		       TT_DFB_ROW(0, "in0", .pages = work->block, .page = tt_page_in0(launch),
				  .backing = launch->inputs[0]),
		       TT_DFB_ROW(1, "max_scaler", .pages = 1, .page = value),
		       TT_DFB_ROW(13, "sum_scaler", .pages = 1, .page = value),
		       TT_DFB_ROW(8, "scale_mask", .pages = mask ? work->line : 0, .page = value),
		       TT_DFB_ROW(2, "fused_scale", .pages = mask != NULL, .page = bf16),
		       TT_DFB_ROW(3, "fused_attn", .pages = shard_mask_pages(launch),
				  .page = tt_page_in1(launch),
				  .backing = mask && tt_tensor_is_sharded(mask) ? mask : NULL),
		       TT_DFB_ROW(11, "out0", .pages = work->block, .page = tt_page_out0(launch),
				  .backing = launch->outputs[0]),
		       TT_DFB_ROW(6, "exps", .pages = work->line, .page = value),
		       TT_DFB_ROW(7, "recip_sum_exps", .pages = 1, .page = value),
		       TT_DFB_ROW(9, "max", .pages = work->has_x, .page = value),
		       TT_DFB_ROW(10, "x", .pages = work->has_x ? work->line : 0, .page = value));
}

#define FACTORY(name_, memory_)                                                                    \
	TT_FACTORY_ROW("ttnn::prim::SoftmaxDeviceOperation::Softmax" name_, memory_)

static const struct tt_factory factories[] = {
	[W_SMALL] = FACTORY("ProgramFactoryGeneralWSmall", tt_lines_memory),
	[W_LARGE] = FACTORY("ProgramFactoryGeneralWLarge", tt_lines_memory),
	[H_SMALL] = FACTORY("ProgramFactoryGeneralHSmall", tt_lines_memory),
	[H_LARGE] = FACTORY("ProgramFactoryGeneralHLarge", tt_lines_memory),
	[C_LARGE] = FACTORY("ProgramFactoryGeneralCLarge", tt_outer_memory),
	[SHARDED] = FACTORY("ShardedProgramFactoryAttentionOptimized", sharded_memory),
	[ATTENTION] = FACTORY("ProgramFactoryAttentionOptimized", attention_memory),
};

/* ---- running ------------------------------------------------------------------------------------------- */

/*
 * The mask as the chip applies it, as a tensor that can be broadcast: of a mask that is not causal the
 * first row goes to all rows; the rows of a causal one are used in turn over all heads. One in shards is
 * as large as the input.
 */
static tt_status place_mask(struct tt_tensor **out, const struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[0]->spec.shape;
	struct tt_tensor *mask = mask_of(launch);
	uint32_t rank = mask->spec.shape.rank, rows = tt_shape_last(&mask->spec.shape, 2);
	uint32_t height = tt_shape_last(in, 2), width = tt_shape_last(&mask->spec.shape, 1);
	uint32_t heads = rank > 2 && rows > height && rows % height == 0 ? rows / height : 1;
	bool causal = launch->attrs[CAUSAL].boolean;
	uint32_t used = !causal ? 1 : heads > 1 ? height : rows < height ? rows : height;
	struct ttnn_shape shape = mask->spec.shape;
	struct tt_move_loop loops[] = {
		{mask->spec.shape.dim[0], 0, 0, 1, 1},
		{causal && heads > 1 ? in->dim[rank - 3] / heads : 1, -1, (int32_t)rank - 3, 0,
		 heads},
		{heads, (int32_t)rank - 2, (int32_t)rank - 3, height, 1},
		{causal && used ? height / used : 1, -1, (int32_t)rank - 2, 0, used},
		{used, (int32_t)rank - 2, (int32_t)rank - 2, 1, 1},
		{width, (int32_t)rank - 1, (int32_t)rank - 1, 1, 1},
	};
	struct tt_move_job job = {.in = mask, .loops = loops, .loop_count = TT_COUNT(loops)};

	if (tt_tensor_is_sharded(mask)) { /* has an element for each of the input's */
		*out = mask;
		return TTNN_OK;
	}
	if (!causal)
		loops[2].extent = heads = 1;
	TT_NEED(rank >= 3, "a mask has at least three dimensions");
	shape.dim[rank - 2] = causal ? height : 1;
	if (mask->spec.layout == TTNN_ROW_MAJOR && !causal) { /* one row, in pieces of a tile */
		loops[4] =
			(struct tt_move_loop){rows, (int32_t)rank - 2, (int32_t)rank - 1, 1, width};
		shape.dim[rank - 1] = rows * width;
	}
	if (heads > 1)
		shape.dim[rank - 3] = in->dim[rank - 3];
	TT_TRY(tt_scratch_f32(out, &shape));
	job.out = *out;
	return tt_backend_get()->move(&job);
}

/* A mask is broadcast over heads before the backend gets it. The programs for lines always take off the maximum. */
static tt_status softmax_kernel(struct tt_launch *launch)
{
	const struct ttnn_value *scale = &launch->attrs[SCALE];
	struct tt_softmax_job job = {
		.out = launch->outputs[0],
		.in = launch->inputs[0],
		.dim = (uint32_t)launch->attrs[DIM].integer,
		.scale = tt_value_given(scale) ? scale->real : 1,
		.stable = launch->attrs[STABLE].boolean || takes_lines(launch),
	};

	if (mask_of(launch))
		TT_TRY(place_mask(&job.mask, launch));
	return tt_backend_get()->softmax(&job);
}

static const struct tt_prog prog = {
	.device_op = "SoftmaxDeviceOperation",
	.prim = "ttnn::prim::softmax",
	.attrs = &schema,
	.infer = tt_infer_tiles,
	.validate = softmax_validate,
	TT_FACTORIES(factories),
	.choose = softmax_choose,
	TT_KERNEL(softmax_kernel),
	.cost = tt_cost_computed_move,
};

/* All but the plain and the scaled form write over their input. */
tt_status tt_softmax_launch(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_softmax_args *args)
{
	bool in_place = args->type != TT_SOFTMAX_PLAIN && args->type != TT_SOFTMAX_SCALE_MASK;
	struct ttnn_value attrs[schema_count] = {
		[TYPE] = tt_value_enum(&type_enum, args->type),
		[DIM] = ttnn_v_int(args->dim),
		[SCALE] = args->scale ? ttnn_v_real(*args->scale) : ttnn_v_none(),
		[IN_PLACE] = ttnn_v_bool(in_place),
		[MEMORY] = ttnn_v_memory(args->memory),
		[CONFIG] = args->config && tt_value_given(args->config)
				   ? *args->config
				   : tt_value_object(&tt_schema_softmax_default, NULL),
		[CAUSAL] = ttnn_v_bool(args->causal),
		[COMPUTE] = args->compute,
		[CAUSAL_HW] = ttnn_v_bool(args->type == TT_SOFTMAX_CAUSAL_HW_IN_PLACE),
		[STABLE] = ttnn_v_bool(args->stable),
		[MASKED_PADDING] = ttnn_v_bool(false),
	};

	return TT_LAUNCH(out, call, &prog, .attrs = attrs, TT_INPUTS(args->in, args->mask),
			 TT_OUTPUTS(in_place ? args->in : NULL), .in_place = true);
}
