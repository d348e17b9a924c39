/*
 * conv3d.c: convolutions of volumes. Models Conv3dDeviceOperation of ttnn 0.81: refusals, memory, cores. Not modelled: that
 * reading without an image in L1 (kernels of one element, dilation) does not look at masks, and what lies in
 * the rim of a padded output (zeros here).
 */
#include <string.h>

#include "golden/golden_window.h"
#include "ops/compute.h"
#include "ops/conv/conv.h"
#include "ops/conv/conv3d.h"
#include "ops/movement/movement.h"

#define L1_FOR_CODE (200u * 1024)  /* left free beside circular buffers */
#define L1_FOR_IMAGE (500u * 1024) /* at most, of what windows see */

#define MOST 65535u /* of sizes and steps that callers give */

#define ATTRS(X)                                                                                   \
	X(CONFIG, "config", .text = TT_TEXT_FIXED, .fixed = "<Conv3dConfig>")                      \
	X(MEMORY, "output_mem_config")                                                             \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(DTYPE, "dtype")                                                                          \
	X(OUT_CHANNELS, "output_channels")                                                         \
	X(KERNEL, "kernel_size", .text = TT_TEXT_ARRAY)                                            \
	X(STRIDE, "stride", .text = TT_TEXT_ARRAY)                                                 \
	X(PADDING, "padding", .text = TT_TEXT_ARRAY)                                               \
	X(DILATION, "dilation", .text = TT_TEXT_ARRAY)                                             \
	X(MODE, "padding_mode")                                                                    \
	X(GROUPS, "groups")                                                                        \
	X(MASK_H, "logical_h_mask")                                                                \
	X(MASK_W, "logical_w_mask")                                                                \
	X(PAD_H, "output_pad_h")                                                                   \
	X(PAD_W, "output_pad_w")
TT_ATTRS(schema, "Conv3dParams", ATTRS);

enum { IN, WEIGHT, BIAS, HALO, ORIGIN, LOW, INPUTS };

enum {
	WEIGHTS_DTYPE,
	OUT_LAYOUT,
	T_BLOCK,
	W_BLOCK,
	H_BLOCK,
	OUT_BLOCK,
	IN_BLOCK,
	CONFIG_DILATION,
	ALIGNMENT,
	GRID,
	SPLIT,
	FIELDS
};
static const struct tt_field config_fields[FIELDS] = {
	[WEIGHTS_DTYPE] = {.name = "weights_dtype"},
	[OUT_LAYOUT] = {.name = "output_layout"},
	[T_BLOCK] = {.name = "T_out_block"},
	[W_BLOCK] = {.name = "W_out_block"},
	[H_BLOCK] = {.name = "H_out_block"},
	[OUT_BLOCK] = {.name = "C_out_block"},
	[IN_BLOCK] = {.name = "C_in_block"},
	[CONFIG_DILATION] = {.name = "dilation"},
	[ALIGNMENT] = {.name = "alignment"},
	[GRID] = {.name = "compute_with_storage_grid_size"},
	[SPLIT] = {.name = "enable_fp32_operand_split"},
};
const struct tt_schema tt_schema_conv3d = {"Conv3dConfig", config_fields, FIELDS, true};

/* The call in numbers. */
struct volume {
	uint64_t kernel[3], stride[3], pad[3], dilation[3];
	uint64_t blocks[3]; /* of places that a core works on at a time */
	uint64_t out_channels, groups, out_block, in_block, mask[2], out_pad[2];
	uint64_t size[3]; /* of the result, without its rim */
	struct ttnn_core grid;
	bool split, replicate;
};

static const struct volume *volume_of(const struct tt_launch *launch)
{
	return launch->extra;
}

static uint64_t taps_of(const struct volume *v)
{
	return v->kernel[0] * v->kernel[1] * v->kernel[2];
}

/* ---- specs and refusals ----------------------------------------------------------------------- */

/*
 * [batch, frames, rows, columns, channels]; a rim that the caller wants around each frame
 * (output_pad) is part of the shape, channels are padded to tiles.
 */
static tt_status conv3d_infer(struct tt_launch *launch)
{
	const struct volume *v = volume_of(launch);
	const struct ttnn_shape *in = &launch->inputs[IN]->spec.shape;
	struct ttnn_spec_args args = {.dtype = (enum ttnn_dtype)launch->attrs[DTYPE].integer,
				      .layout = TTNN_ROW_MAJOR,
				      .memory = *launch->attrs[MEMORY].memory};
	struct ttnn_shape padded;

	args.shape = (struct ttnn_shape){
		5,
		{in->dim[0], (uint32_t)v->size[0], (uint32_t)(v->size[1] + 2 * v->out_pad[0]),
		 (uint32_t)(v->size[2] + 2 * v->out_pad[1]), (uint32_t)v->out_channels}};
	padded = args.shape;
	padded.dim[4] = (uint32_t)tt_align_to(v->out_channels, TT_TILE);
	return tt_tensor_spec_padded(&launch->specs[0], &args, &padded);
}

static const char *dtype_name(const struct tt_tensor *tensor)
{
	return tt_enum_name(&tt_enum_dtype, (int64_t)tensor->spec.dtype);
}

static bool is_float(const struct tt_tensor *tensor)
{
	return tensor->spec.dtype == TTNN_BFLOAT16 || tensor->spec.dtype == TTNN_FLOAT32;
}

static tt_status check_bias(const struct tt_tensor *bias, const struct tt_tensor *in)
{
	if (!bias)
		return TTNN_OK;
	TT_REQUIRE(bias->spec.layout == TTNN_TILE, "bias_tensor.layout() == Layout::TILE",
		   "Bias tensor must be tiled.");
	TT_REQUIRE(bias->spec.dtype == in->spec.dtype,
		   "bias_tensor.dtype() == input_tensor_a.dtype()",
		   "Bias tensor must have the same dtype as input tensor. got DataType::%s vs "
		   "DataType::%s",
		   dtype_name(bias), dtype_name(in));
	TT_REQUIRE(bias->spec.shape.rank == 2, "bias_tensor.logical_shape().size() == 2",
		   "Bias tensor must have 2 dimensions. got %u", bias->spec.shape.rank);
	return TTNN_OK;
}

static tt_status check_tensors(struct tt_tensor *const *inputs)
{
	const struct tt_tensor *in = inputs[IN], *weight = inputs[WEIGHT];

	TT_REQUIRE(in->spec.shape.rank == 5, "input_tensor_a.logical_shape().size() == 5",
		   "Activation tensor must have 5 dimensions. got %u", in->spec.shape.rank);
	TT_REQUIRE(in->spec.layout == TTNN_ROW_MAJOR,
		   "input_tensor_a.layout() == Layout::ROW_MAJOR",
		   "Activation tensor must be row-major.");
	TT_REQUIRE(is_float(in),
		   "input_tensor_a.dtype() == DataType::BFLOAT16 || input_tensor_a.dtype() == "
		   "DataType::FLOAT32",
		   "Activation tensor must be bfloat16 or float32. got DataType::%s",
		   dtype_name(in));
	TT_REQUIRE(is_float(weight),
		   "weight_tensor.dtype() == DataType::BFLOAT16 || weight_tensor.dtype() == "
		   "DataType::FLOAT32",
		   "Weight tensor must be bfloat16 or float32. got DataType::%s",
		   dtype_name(weight));
	TT_REQUIRE(in->spec.dtype == weight->spec.dtype,
		   "input_tensor_a.dtype() == weight_tensor.dtype()",
		   "Input and weight tensors must have the same dtype. got DataType::%s vs "
		   "DataType::%s",
		   dtype_name(in), dtype_name(weight));
	return check_bias(inputs[BIAS], in);
}

static tt_status check_window(const struct volume *v, const struct ttnn_value *attrs,
			      const uint32_t *in)
{
	static const struct {
		const char *condition, *name, *letter;
	} rows[] = {
		{"T_in + 2 * static_cast<uint64_t>(args.padding[0]) >= effective_k_t", "T", "t"},
		{"H_in + 2 * static_cast<uint64_t>(args.padding[1]) >= effective_k_h", "H", "h"},
		{"W_in + 2 * static_cast<uint64_t>(args.padding[2]) >= effective_k_w", "W", "w"},
	};

	TT_REQUIRE(v->groups, "args.groups > 0", "groups must be greater than 0");
	TT_REQUIRE(in[4] % v->groups == 0, "input_tensor_a.logical_shape()[4] % args.groups == 0",
		   "Input channels must be divisible by groups. Got input channels %u and groups "
		   "%llu",
		   in[4], (unsigned long long)v->groups);
	TT_REQUIRE(v->out_channels % v->groups == 0, "args.output_channels % args.groups == 0",
		   "Output channels must be divisible by groups. Got output channels %llu and "
		   "groups %llu",
		   (unsigned long long)v->out_channels, (unsigned long long)v->groups);
	TT_REQUIRE(v->replicate || strcmp(attrs[MODE].text, "zeros") == 0,
		   "args.padding_mode == \"zeros\" || args.padding_mode == \"replicate\"",
		   "Padding mode must be zeros or replicate. got %s", attrs[MODE].text);
	TT_REQUIRE(v->dilation[0] && v->dilation[1] && v->dilation[2],
		   "args.dilation[0] >= 1 && args.dilation[1] >= 1 && args.dilation[2] >= 1",
		   "Dilation must be >= 1 for all dimensions. got (%llu, %llu, %llu)",
		   (unsigned long long)v->dilation[0], (unsigned long long)v->dilation[1],
		   (unsigned long long)v->dilation[2]);
	for (int d = 0; d < 3; d++)
		TT_REQUIRE(in[1 + d] + 2 * v->pad[d] >= v->dilation[d] * (v->kernel[d] - 1) + 1,
			   rows[d].condition,
			   "Effective kernel size exceeds padded %s dimension (%s_in=%u, "
			   "pad_%s=%llu, k_%s=%llu, d_%s=%llu)",
			   rows[d].name, rows[d].name, in[1 + d], rows[d].letter,
			   (unsigned long long)v->pad[d], rows[d].letter,
			   (unsigned long long)v->kernel[d], rows[d].letter,
			   (unsigned long long)v->dilation[d]);
	return TTNN_OK;
}

static tt_status check_shapes(const struct volume *v, struct tt_tensor *const *inputs)
{
	const struct ttnn_shape *weight = &inputs[WEIGHT]->spec.shape;
	uint64_t patch = taps_of(v) * inputs[IN]->spec.shape.dim[4];
	uint64_t padded = tt_align_to(v->out_channels, TT_TILE);

	TT_REQUIRE(!v->out_block || (padded % v->out_block == 0 && v->out_block % TT_TILE == 0),
		   "padded_C_out % args.config.C_out_block == 0 && args.config.C_out_block % "
		   "tt::constants::TILE_WIDTH == 0",
		   "C_out_block must be a multiple of 32 and divide evenly into padded output "
		   "channels (%llu). Got C_out_block=%llu and output_channels=%llu.",
		   (unsigned long long)padded, (unsigned long long)v->out_block,
		   (unsigned long long)v->out_channels);
	TT_REQUIRE(weight->dim[0] == patch, "weight_tensor.logical_shape()[0] == patch_size",
		   "Weight patch size must match input patch size. got %u vs %llu", weight->dim[0],
		   (unsigned long long)patch);
	TT_REQUIRE(weight->dim[1] == v->out_channels,
		   "weight_tensor.logical_shape()[1] == args.output_channels",
		   "Weight output channels must match input output channels. got %u vs %llu",
		   weight->dim[1], (unsigned long long)v->out_channels);
	TT_REQUIRE(!inputs[BIAS] || (inputs[BIAS]->spec.shape.dim[0] &&
				     inputs[BIAS]->spec.shape.dim[1] == v->out_channels),
		   "bias_tensor.logical_shape()[1] == args.output_channels",
		   "Bias must match output channels. got %u vs %llu",
		   inputs[BIAS]->spec.shape.dim[1], (unsigned long long)v->out_channels);
	return TTNN_OK;
}

/* Weights in two parts, for all bits of float32. */
static tt_status check_split(const struct volume *v, const struct tt_launch *launch)
{
	const struct tt_tensor *low = launch->inputs[LOW], *weight = launch->inputs[WEIGHT];

	TT_REQUIRE(v->split || !low, "!tensor_args.weight_lo_tensor.has_value()",
		   "weight_lo_tensor is only read with enable_fp32_operand_split=True.");
	if (!v->split)
		return TTNN_OK;
	TT_REQUIRE(low, "tensor_args.weight_lo_tensor.has_value()",
		   "enable_fp32_operand_split needs weight_lo_tensor (the W - bf16(W) residual).");
	TT_REQUIRE(weight->spec.dtype == TTNN_FLOAT32,
		   "input_tensor_a.dtype() == DataType::FLOAT32",
		   "enable_fp32_operand_split recovers fp32 operand bits; the activation must be "
		   "float32. got DataType::%s",
		   dtype_name(weight));
	if (low->spec.dtype != weight->spec.dtype ||
	    !ttnn_shape_equal(&low->spec.shape, &weight->spec.shape))
		return tt_fail_cond(
			TTNN_INVALID,
			"weight_lo.dtype() == weight_tensor.dtype() && "
			"weight_lo.logical_shape() == weight_tensor.logical_shape()",
			"weight_lo_tensor must match weight_tensor in dtype and shape. got "
			"DataType::%s Shape([%u, %u]) vs DataType::%s Shape([%u, %u])",
			dtype_name(low), low->spec.shape.dim[0], low->spec.shape.dim[1],
			dtype_name(weight), weight->spec.shape.dim[0], weight->spec.shape.dim[1]);
	TT_REQUIRE(tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32), "fp32_dest_acc",
		   "enable_fp32_operand_split accumulates three products in fp32 DST; "
		   "fp32_dest_acc_en must be set.");
	return TTNN_OK;
}

/*
 * Channels in may be cut into blocks that cores sum up together (C_in_block): as many cores as
 * blocks at least, and rows that begin aligned.
 */
static tt_status check_cores(const struct volume *v, const struct tt_launch *launch)
{
	struct ttnn_core grid = launch->device->info.compute_grid;
	uint32_t channels = launch->inputs[IN]->spec.shape.dim[4];
	uint64_t alignment = tt_memory_alignment(launch->device, TTNN_L1);
	uint64_t cores = (uint64_t)v->grid.x * v->grid.y;

	TT_REQUIRE(v->grid.x <= grid.x && v->grid.y <= grid.y,
		   "args.config.compute_with_storage_grid_size.x <= device_grid.x && "
		   "args.config.compute_with_storage_grid_size.y <= device_grid.y",
		   "Requested grid size (%u, %u) exceeds device grid size (%u, %u)", v->grid.x,
		   v->grid.y, grid.x, grid.y);
	TT_REQUIRE(channels % v->in_block == 0, "C_in % args.config.C_in_block == 0",
		   "Input channels (%u) must be divisible by C_in_block (%llu)", channels,
		   (unsigned long long)v->in_block);
	TT_REQUIRE(v->in_block % alignment == 0, "args.config.C_in_block % l1_alignment == 0",
		   "C_in_block (%llu) must be a multiple of %llu", (unsigned long long)v->in_block,
		   (unsigned long long)alignment);
	TT_REQUIRE(channels / v->in_block <= cores, "C_in_blocks <= total_cores",
		   "Number of C_in blocks (%llu) must be <= the number of cores (%llu)",
		   (unsigned long long)(channels / v->in_block), (unsigned long long)cores);
	return TTNN_OK;
}

/*
 * Rows that neighbours on other chips sent: there must be as many as the padding would take, and
 * windows that a halo can serve.
 */
static tt_status check_halo(const struct volume *v, struct tt_tensor *const *inputs)
{
	const struct tt_tensor *halo = inputs[HALO], *in = inputs[IN];
	const uint32_t *dim = in->spec.shape.dim;
	uint64_t slices = (uint64_t)dim[0] * dim[1], needed;
	const uint64_t *k = v->kernel, *d = v->dilation;

	if (!halo)
		return TTNN_OK;
	TT_REQUIRE(!v->replicate, "args.padding_mode == \"zeros\"",
		   "Halo mode requires padding_mode \"zeros\". got replicate");
	TT_REQUIRE(taps_of(v) > 1 && d[0] == 1 && d[1] == 1 && d[2] == 1,
		   "has_spatial_reuse && has_no_dilation",
		   "Halo mode requires a kernel with spatial reuse and no dilation. got "
		   "kernel_size=(%llu, %llu, %llu), dilation=(%llu, %llu, %llu)",
		   (unsigned long long)k[0], (unsigned long long)k[1], (unsigned long long)k[2],
		   (unsigned long long)d[0], (unsigned long long)d[1], (unsigned long long)d[2]);
	TT_REQUIRE(halo->spec.dtype == in->spec.dtype,
		   "halo_tensor.dtype() == input_tensor_a.dtype()",
		   "Halo buffer dtype must match the input dtype. got DataType::%s vs DataType::%s",
		   dtype_name(halo), dtype_name(in));
	TT_REQUIRE(halo->spec.layout == TTNN_ROW_MAJOR, "halo_tensor.layout() == Layout::ROW_MAJOR",
		   "Halo buffer must be row-major.");
	needed = 2 * slices * (v->pad[1] * dim[3] + v->pad[2] * (dim[2] + 2 * v->pad[1]));
	TT_REQUIRE(halo->spec.pages >= needed && halo->spec.rows >= needed,
		   "halo_tensor.buffer()->num_pages() >= required_pages",
		   "Halo buffer holds %llu pages but the [Htop|Hbot|Wleft|Wright] sections need "
		   "%llu (N*T_in=%llu, H_in=%u, W_in=%u, pad_h=%llu, pad_w=%llu)",
		   (unsigned long long)halo->spec.pages, (unsigned long long)needed,
		   (unsigned long long)slices, dim[2], dim[3], (unsigned long long)v->pad[1],
		   (unsigned long long)v->pad[2]);
	TT_REQUIRE(tt_aligned_page(halo) == tt_aligned_page(in) &&
			   tt_shape_last(&halo->spec.shape, 1) == dim[4],
		   "halo_tensor.buffer()->aligned_page_size() == "
		   "input_tensor_a.buffer()->aligned_page_size()",
		   "Halo buffer page size (%llu B) must match the input's (%llu B); the reader "
		   "fetches halo sticks with the input's row size",
		   (unsigned long long)tt_aligned_page(halo),
		   (unsigned long long)tt_aligned_page(in));
	return TTNN_OK;
}

static tt_status conv3d_validate(struct tt_launch *launch)
{
	const struct volume *v = volume_of(launch);
	const struct tt_tensor *origin = launch->inputs[ORIGIN];

	TT_TRY(check_tensors(launch->inputs));
	TT_TRY(check_window(v, launch->attrs, launch->inputs[IN]->spec.shape.dim));
	TT_TRY(check_shapes(v, launch->inputs));
	TT_TRY(check_split(v, launch));
	TT_TRY(check_cores(v, launch));
	TT_TRY(check_halo(v, launch->inputs));
	TT_REQUIRE(!origin || origin->spec.dtype == TTNN_UINT32,
		   "offset_tensor.dtype() == DataType::UINT32",
		   "Pad offset tensor must be uint32. got DataType::%s", dtype_name(origin));
	return TTNN_OK;
}

/* ---- the program ------------------------------------------------------------------------------ */

/* Sizes in tiles and bytes, as the program of upstream has them. */
struct sizes {
	uint64_t patch, rows, rm_pages;      /* a window in rows of channels */
	uint64_t m, k, n, subblock, partial; /* tiles; bytes of a partial sum's */
	uint64_t tile, channels;             /* bytes, of a block of channels */
	uint64_t blocks;                     /* of channels */
	uint64_t staging;                    /* bytes for reads that DRAM does not align */
};

static uint64_t largest_divisor(uint64_t number, uint64_t most)
{
	uint64_t divisor = number < most ? number : most;

	while (divisor > 1 && number % divisor)
		divisor--;
	return divisor ? divisor : 1;
}

static bool is_dram_interleaved(const struct tt_tensor *in)
{
	return in->spec.memory.buffer == TTNN_DRAM && in->spec.memory.layout == TTNN_INTERLEAVED &&
	       !in->spec.memory.has_nd_shard;
}

/*
 * A block of the result is made of windows laid out as rows (vol2col), which are tilized and
 * multiplied: m, k, n are that product's tiles. Reads from DRAM that are not aligned go through
 * a staging page.
 */
static struct sizes sizes_of(const struct tt_launch *launch)
{
	const struct volume *v = volume_of(launch);
	const struct tt_tensor *in = launch->inputs[IN];
	uint64_t places = v->blocks[0] * v->blocks[1] * v->blocks[2];
	uint64_t element = tt_element_bytes(in), columns = tt_align_to(v->out_channels, TT_TILE);
	uint64_t registers = tt_compute_tiles(&launch->attrs[COMPUTE]), wide;
	uint64_t alignment = tt_memory_alignment(launch->device, TTNN_DRAM);
	struct sizes s = {.patch = taps_of(v) * v->in_block, .channels = v->in_block * element};

	s.rows = tt_align_to(s.patch, TT_TILE) * element;
	s.rm_pages = places % TT_TILE ? 2 * TT_TILE : TT_TILE;
	if (places < s.rm_pages)
		s.rm_pages = places;
	s.m = tt_div_up(places, TT_TILE);
	s.k = tt_div_up(s.patch, TT_TILE);
	s.n = tt_div_up(v->out_block ? v->out_block : columns, TT_TILE);
	wide = s.n < registers ? s.n : registers;
	s.subblock = wide == s.n && !tt_is_blackhole(launch->device)
			     ? largest_divisor(s.m, registers / wide)
			     : 1;
	s.tile = tt_tile_bytes_of(in->spec.dtype);
	s.blocks = in->spec.shape.dim[4] / v->in_block;
	s.partial = s.blocks > 1 && tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32)
			    ? tt_tile_bytes_of(TTNN_FLOAT32)
			    : s.tile;
	if (is_dram_interleaved(in) && tt_aligned_page(in) % alignment == 0 &&
	    s.channels % alignment)
		s.staging = tt_align_to(s.channels + alignment - 1, alignment) + alignment;
	return s;
}

/* Rows of channels of the image that a block of places sees, with room to sort what is read; 0: none is kept. */
static uint64_t image_pages(const struct tt_launch *launch, const struct sizes *s, uint64_t others)
{
	const struct volume *v = volume_of(launch);
	const struct tt_tensor *in = launch->inputs[IN];
	uint64_t banks = launch->device->info.dram_banks, most = 0, fit, rows, least, side[3];
	uint64_t room = tt_l1_room(launch->device) - L1_FOR_CODE, all;

	if (taps_of(v) == 1 || v->dilation[0] != 1 || v->dilation[1] != 1 || v->dilation[2] != 1)
		return 0;
	for (int d = 0; d < 3; d++)
		side[d] = (v->blocks[d] - 1) * v->stride[d] + v->kernel[d];
	all = side[0] * side[1] * side[2];
	if (others < room)
		most = room - others < L1_FOR_IMAGE ? room - others : L1_FOR_IMAGE;
	if (all * s->channels > most)
		return 0;
	if (!is_dram_interleaved(in) || s->blocks != 1 || s->channels != tt_aligned_page(in) ||
	    side[2] < 2 * banks)
		return all;
	rows = side[0] * side[1];
	least = rows < banks ? rows : banks;
	fit = (most - all * s->channels) / (side[2] * s->channels);
	if (rows > fit)
		rows = fit;
	return rows >= least ? all + rows * side[2] : all;
}

/*
 * Numbers are given in the order in which buffers are made, so each depends on which others
 * there are. What is left of L1 holds a part of the image (input_shard), of which windows that
 * overlap are read only once.
 */
static tt_status conv3d_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct volume *v = volume_of(launch);
	struct sizes s = sizes_of(launch);
	bool bias = launch->inputs[BIAS] != NULL, several = s.blocks > 1;
	bool kept = several && launch->inputs[IN]->spec.dtype == TTNN_FLOAT32 &&
		    tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32);
	bool masked = launch->inputs[ORIGIN] && (v->mask[0] || v->mask[1]);
	uint64_t tiled = s.subblock * s.k, sums = s.m * s.n, others, image;
	const ttnn_core_set *cores;
	uint32_t at = 5, ack, b, low, staging, origin;

	TT_TRY(tt_core_set_grid(&cores, v->grid.x, v->grid.y));
	others = s.rows * s.rm_pages + s.tile * (tiled + s.k * s.n + sums) +
		 s.partial * sums * (1u + several + kept) + s.staging +
		 s.tile * ((several ? 1 : 0) + (bias ? s.n : 0)) +
		 (v->split ? s.tile * (2 * tiled + s.k * s.n) : 0);
	image = image_pages(launch, &s, others);
	ack = at + several;
	b = ack + several + kept;
	low = b + bias;
	staging = low + (v->split ? 3 : 0);
	origin = staging + (s.staging > 0);
	return TT_PLAN(
		plan, cores, TT_CB_ROW(0, "vol2col_rm", .pages = s.rm_pages, .page = s.rows),
		TT_CB_ROW(1, "vol2col_tiled", .pages = tiled, .page = s.tile),
		TT_CB_ROW(2, "weight_tiled", .pages = s.k * s.n, .page = s.tile),
		TT_CB_ROW(3, "matmul_interm_tiled", .pages = sums, .page = s.partial),
		TT_CB_ROW(4, "matmul_result_rm", .pages = sums, .page = s.tile),
		TT_CB_ROW(at, "reduction_tiled", .pages = several ? sums : 0, .page = s.partial),
		TT_CB_ROW(ack, "worker_ack_back", .pages = several, .page = s.tile),
		TT_CB_ROW(ack + 1, "sum_tiled", .pages = kept ? sums : 0, .page = s.partial),
		TT_CB_ROW(b, "bias_tiled", .pages = bias ? s.n : 0, .page = s.tile),
		TT_CB_ROW(low, "vol2col_hi", .pages = v->split ? tiled : 0, .page = s.tile),
		TT_CB_ROW(low + 1, "vol2col_lo", .pages = v->split ? tiled : 0, .page = s.tile),
		TT_CB_ROW(low + 2, "weight_lo", .pages = v->split ? s.k * s.n : 0, .page = s.tile),
		TT_CB_ROW(staging, "dram_read_scratch", .pages = s.staging > 0, .page = s.staging),
		TT_CB_ROW(origin, "pad_offset", .pages = masked,
			  .page = tt_align_to(2 * sizeof(uint32_t),
					      tt_memory_alignment(launch->device, TTNN_DRAM))),
		TT_CB_ROW(origin + masked, "input_shard", .pages = image, .page = s.channels));
}

static tt_status conv3d_kernel(struct tt_launch *launch)
{
	const struct volume *v = volume_of(launch);
	struct tt_tensor *const *inputs = launch->inputs;
	struct tt_conv3d_job job = {
		.out = launch->outputs[0],
		.in = inputs[IN],
		.weight = inputs[WEIGHT],
		.weight_low = inputs[LOW],
		.bias = inputs[BIAS],
		.halo = inputs[HALO],
		.origin = inputs[ORIGIN],
		.block = (uint32_t)v->in_block,
		.halves = inputs[IN]->spec.dtype == TTNN_BFLOAT16 &&
			  !tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32),
		.replicate = v->replicate,
		.out_pad = {(uint32_t)v->out_pad[0], (uint32_t)v->out_pad[1]}};

	for (int d = 0; d < 3; d++) {
		job.kernel[d] = (uint32_t)v->kernel[d];
		job.stride[d] = (uint32_t)v->stride[d];
		job.pad[d] = (uint32_t)v->pad[d];
		job.dilation[d] = (uint32_t)v->dilation[d];
		if (d < 2 && job.origin)
			job.mask[d] = (uint32_t)v->mask[d];
	}
	return tt_backend_get()->conv3d(&job);
}

/* For profiles: the product of all windows with all weights. */
static void conv3d_cost(struct tt_cost *cost, const struct tt_launch *launch)
{
	const struct volume *v = volume_of(launch);

	tt_cost_set_product(
		cost, launch,
		&(struct tt_perf_product){.m = v->size[0] * v->size[1] * v->size[2],
					  .k = taps_of(v) * launch->inputs[IN]->spec.shape.dim[4],
					  .n = v->out_channels,
					  .batch = launch->inputs[IN]->spec.shape.dim[0]});
}

static const struct tt_prog program = {
	.device_op = "Conv3dDeviceOperation",
	.prim = "ttnn::prim::conv3d",
	.attrs = &schema,
	.infer = conv3d_infer,
	.validate = conv3d_validate,
	TT_FACTORY("ttnn::experimental::prim::Conv3dProgramFactory", conv3d_memory),
	TT_KERNEL(conv3d_kernel),
	.cost = conv3d_cost,
};

/* ---- the operation ---------------------------------------------------------------------------- */

/* Three numbers of a list, none too large to count with. */
static tt_status three(uint64_t out[3], const struct ttnn_value *list, const char *name,
		       uint64_t least)
{
	int64_t item;

	if (list->kind != TTNN_VALUE_LIST || list->count != 3)
		return tt_fail(TTNN_INVALID, "%s of a convolution of volumes has three numbers",
			       name);
	for (int d = 0; d < 3; d++) {
		if (!tt_value_integer(&item, &list->items[d]) || item < 0 ||
		    (uint64_t)item < least || item > MOST)
			return tt_fail(TTNN_INVALID, "%s of a convolution is from %u to %u", name,
				       (unsigned)least, MOST);
		out[d] = (uint64_t)item;
	}
	return TTNN_OK;
}

static tt_status number(uint64_t *out, const struct ttnn_value *value, const char *name,
			uint64_t least)
{
	int64_t item;

	if (!tt_value_integer(&item, value) || item < 0 || (uint64_t)item < least || item > MOST)
		return tt_fail(TTNN_INVALID, "%s of a convolution is from %u to %u", name,
			       (unsigned)least, MOST);
	*out = (uint64_t)item;
	return TTNN_OK;
}

/* The configuration that was given, or the usual one on the whole grid, with a block of channels. */
static tt_status read_config(struct ttnn_value config[FIELDS], struct tt_call *call,
			     struct volume *v)
{
	const struct ttnn_value *given = tt_call_arg(call, "config");
	bool has = tt_value_given(given);
	struct ttnn_value usual;
	const uint32_t kernel[3] = {(uint32_t)v->kernel[0], (uint32_t)v->kernel[1],
				    (uint32_t)v->kernel[2]};

	if (has && (given->kind != TTNN_VALUE_OBJECT || given->schema != &tt_schema_conv3d))
		return tt_fail(TTNN_INVALID, "the config of conv3d is a Conv3dConfig");
	if (!has) {
		TT_TRY(tt_object_make(&usual, call->arena, "Conv3dConfig", NULL, 0));
		given = &usual;
	}
	memcpy(config, given->items, FIELDS * sizeof(*config));
	if (!has) {
		config[OUT_BLOCK] = ttnn_v_int(TT_TILE);
		config[CONFIG_DILATION] = *tt_call_arg(call, "dilation");
		config[GRID] = (struct ttnn_value){.kind = TTNN_VALUE_CORE,
						   .core = call->device->info.compute_grid};
	}
	TT_TRY(number(&v->in_block, &config[IN_BLOCK], "C_in_block", 0));
	if (!v->in_block) {
		v->in_block = tt_conv3d_block(kernel);
		config[IN_BLOCK] = ttnn_v_int((int64_t)v->in_block);
	}
	TT_TRY(number(&v->out_block, &config[OUT_BLOCK], "C_out_block", 0));
	TT_TRY(number(&v->blocks[0], &config[T_BLOCK], "T_out_block", 1));
	TT_TRY(number(&v->blocks[1], &config[H_BLOCK], "H_out_block", 1));
	TT_TRY(number(&v->blocks[2], &config[W_BLOCK], "W_out_block", 1));
	v->grid = config[GRID].core;
	v->split = config[SPLIT].boolean;
	if (config[GRID].kind != TTNN_VALUE_CORE || !v->grid.x || !v->grid.y)
		return tt_fail(TTNN_INVALID, "the grid of conv3d has no cores");
	return TTNN_OK;
}

static tt_status read_numbers(struct volume *v, const struct tt_call *call)
{
	const struct ttnn_value *mode = tt_call_arg(call, "padding_mode");

	TT_TRY(three(v->kernel, tt_call_arg(call, "kernel_size"), "kernel_size", 1));
	TT_TRY(three(v->stride, tt_call_arg(call, "stride"), "stride", 1));
	TT_TRY(three(v->pad, tt_call_arg(call, "padding"), "padding", 0));
	TT_TRY(three(v->dilation, tt_call_arg(call, "dilation"), "dilation", 0));
	TT_TRY(number(&v->out_channels, tt_call_arg(call, "output_channels"), "output_channels",
		      1));
	TT_TRY(number(&v->groups, tt_call_arg(call, "groups"), "groups", 0));
	TT_TRY(number(&v->mask[0], tt_call_arg(call, "logical_h_mask"), "logical_h_mask", 0));
	TT_TRY(number(&v->mask[1], tt_call_arg(call, "logical_w_mask"), "logical_w_mask", 0));
	TT_TRY(number(&v->out_pad[0], tt_call_arg(call, "output_pad_h"), "output_pad_h", 0));
	TT_TRY(number(&v->out_pad[1], tt_call_arg(call, "output_pad_w"), "output_pad_w", 0));
	v->replicate = mode->kind == TTNN_VALUE_STRING && strcmp(mode->text, "replicate") == 0;
	return TTNN_OK;
}

/* Dilation is an argument or a field of the configuration; both may say the same. */
static tt_status choose_dilation(struct volume *v, struct ttnn_value *attr,
				 const struct ttnn_value *config)
{
	static const uint64_t none[3] = {1, 1, 1};
	uint64_t other[3];
	bool is_own = memcmp(v->dilation, none, sizeof(none)) != 0;

	TT_TRY(three(other, config, "dilation", 0));
	TT_REQUIRE(!is_own || memcmp(other, none, sizeof(none)) == 0 ||
			   memcmp(other, v->dilation, sizeof(other)) == 0,
		   "config.dilation == default_dilation || dilation_ == default_dilation || "
		   "config.dilation == dilation_",
		   "dilation in Conv3dConfig and op args must match when both are set. "
		   "config=(%llu, %llu, %llu), args=(%llu, %llu, %llu)",
		   (unsigned long long)other[0], (unsigned long long)other[1],
		   (unsigned long long)other[2], (unsigned long long)v->dilation[0],
		   (unsigned long long)v->dilation[1], (unsigned long long)v->dilation[2]);
	if (is_own)
		return TTNN_OK;
	memcpy(v->dilation, other, sizeof(other));
	*attr = *config;
	return TTNN_OK;
}

/* A weight that is prepared, in tiles; the call owns it. */
static tt_status ready_weight(struct tt_tensor **weight, struct tt_call *call,
			      const struct volume *v, const struct ttnn_value *config)
{
	struct tt_tensor *out = NULL;
	struct tt_conv3d_prep prep = {.weight = *weight,
				      .groups = (int64_t)v->groups,
				      .block = (int64_t)v->in_block,
				      .alignment = config[ALIGNMENT].integer,
				      .device = tt_call_arg(call, "device")->device};
	uint32_t rank;

	if (!*weight)
		return TTNN_OK;
	rank = (*weight)->spec.shape.rank;
	if (rank == 5) {
		TT_REQUIRE(!tt_tensor_device(*weight), "prepared_weight_tensor.device() == nullptr",
			   "Unprepared weight tensor must be on host");
		TT_REQUIRE(tt_value_given(tt_call_arg(call, "device")), "device.has_value()",
			   "Device must be provided when weight tensor is unprepared (rank 5)");
		TT_TRY(tt_conv3d_prepare(&out, call, &prep));
	} else if (rank != 2) {
		return tt_fail(TTNN_INVALID, "Unsupported weight tensor rank: %u", rank);
	}
	if (out)
		*weight = out;
	if ((*weight)->spec.layout != TTNN_TILE) {
		struct tt_tensor *tiles = NULL;
		tt_status status =
			TT_CALL(&tiles, call, "ttnn.to_layout", {"tensor", ttnn_v_tensor(*weight)},
				{"layout", ttnn_v_layout(TTNN_TILE)});

		if (out)
			TT_TRY(tt_call_replace(&out, call, status, &tiles));
		TT_TRY(status);
		out = tiles;
		*weight = out;
	}
	if (out)
		tt_call_own(call, out);
	return tt_need_device(*weight);
}

static void set_size(struct volume *v, const uint32_t *in)
{
	for (int d = 0; d < 3; d++) {
		uint64_t reach = v->dilation[d] * (v->kernel[d] - 1) + 1;
		uint64_t wide = in[1 + d] + 2 * v->pad[d];

		v->size[d] = wide < reach ? 0 : (wide - reach) / v->stride[d] + 1;
	}
}

static tt_status conv3d_expand(struct tt_call *call)
{
	static const struct ttnn_memory_config dram = {.layout = TTNN_INTERLEAVED,
						       .buffer = TTNN_DRAM};
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct tt_tensor *inputs[INPUTS] = {[IN] = tt_call_tensor(call, "input_tensor"),
					    [WEIGHT] = tt_call_tensor(call, "weight_tensor"),
					    [BIAS] = tt_call_tensor(call, "bias_tensor"),
					    [HALO] = tt_call_tensor(call, "halo_buffer"),
					    [ORIGIN] = tt_call_tensor(call, "pad_offset_tensor"),
					    [LOW] = tt_call_tensor(call, "weight_lo_tensor")};
	struct ttnn_value config[FIELDS], attrs[schema_count] = {{0}};
	struct volume v = {.groups = 0};

	TT_TRY(tt_need_device(inputs[IN]));
	for (int i = BIAS; i < LOW; i++)
		if (inputs[i])
			TT_TRY(tt_need_device(inputs[i]));
	TT_TRY(read_numbers(&v, call));
	TT_TRY(read_config(config, call, &v));
	TT_TRY(ready_weight(&inputs[WEIGHT], call, &v, config));
	TT_TRY(ready_weight(&inputs[LOW], call, &v, config));
	TT_TRY(choose_dilation(&v, &attrs[DILATION], &config[CONFIG_DILATION]));
	TT_REQUIRE(inputs[IN]->spec.shape.rank == 5, "input_tensor_a.logical_shape().size() == 5",
		   "Activation tensor must have 5 dimensions. got %u", inputs[IN]->spec.shape.rank);
	set_size(&v, inputs[IN]->spec.shape.dim);
	attrs[CONFIG] = tt_value_object(&tt_schema_conv3d, config);
	attrs[MEMORY] = ttnn_v_memory(memory ? memory : &dram);
	attrs[COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"),
				  &(struct tt_compute_usual){.fidelity = TT_HIFI2, .approx = true});
	return TT_LAUNCH_RETURN(call, &program, .inputs = inputs, .input_count = INPUTS,
				.attrs = tt_attrs_bind(call, &schema, attrs), .extra = &v);
}

static tt_status expand_prepare(struct tt_call *call)
{
	struct tt_tensor *out = NULL;
	struct tt_conv3d_prep prep = {.weight = tt_call_tensor(call, "weight_tensor"),
				      .groups = tt_call_int(call, "groups", 1),
				      .block = tt_call_int(call, "C_in_block", 0),
				      .alignment = tt_call_int(call, "alignment", 32),
				      .device = tt_call_arg(call, "device")->device};

	return tt_call_give(call, tt_conv3d_prepare(&out, call, &prep), &out);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.conv3d",
	 .doc = "Convolves volumes, channels last, with kernels.",
	 .sigs = {"*, input_tensor: Tensor, weight_tensor: Tensor, device: Device? = None, "
		  "bias_tensor: Tensor? = None, config: any ? = None, dtype: DataType, "
		  "output_channels: size, kernel_size: sizes, stride: sizes = [1, 1, 1], padding: "
		  "sizes = [0, 0, 0], dilation: sizes = [1, 1, 1], padding_mode: str = zeros, "
		  "groups: size = 1, memory_config: MemoryConfig? = None, compute_kernel_config: "
		  "ComputeConfig? = None, halo_buffer: Tensor? = None, logical_h_mask: size = 0, "
		  "logical_w_mask: size = 0, pad_offset_tensor: Tensor? = None, output_pad_h: size "
		  "= 0, output_pad_w: size = 0, weight_lo_tensor: Tensor? = None"},
	 .expand = conv3d_expand,
	 .golden = tt_golden_conv3d,
	 TT_PROGRAMS(&program)},
	{.name = "ttnn.experimental.prepare_conv3d_weights",
	 .doc = "Weights as convolutions of volumes read them, so that they need not do it again.",
	 .sigs = {"*, weight_tensor: Tensor, groups: size = 1, C_in_block: size = 0, alignment: size "
		  "= 32, device: Device? = None"},
	 .expand = expand_prepare,
	 .golden = tt_golden_conv3d_weights},
};

const struct tt_op_family tt_family_conv3d = {"conv3d", ops, TT_COUNT(ops)};
