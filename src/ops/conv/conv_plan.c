/*
 * conv_plan.c: how convolutions are spread over cores and cut into blocks.
 *
 * A convolution is a product of matrices: rows are pixels of the result, columns are channels of
 * the result, and the depth is a window of input channels. Height shards give each core rows of
 * pixels (all weights go to all cores), width shards give each core channels (the image goes
 * round), block shards both.
 *
 * Models, of ttnn 0.81 (conv/conv2d/conv2d_utils.cpp): determine_parallel_config,
 * determine_output_parallel_config, determine_per_core_conv_block_config, calculate_L1_usage and
 * the choice of a sharding where the caller has none. Not modelled: convolutions on several
 * devices.
 */
#include "ops/conv/conv.h"
#include "ops/movement/movement.h"

/* ---- sizes --------------------------------------------------------------------------------------------- */

/* The window of a convolution for halos: results snap to tiles, as they are made in tiles. */
struct tt_slide tt_conv_slide(const struct tt_conv *c)
{
	struct tt_slide s = {.batch = c->batch,
			     .snap = true,
			     .transpose = c->transposed,
			     .replicate = c->config.replicate};

	for (int d = 0; d < 2; d++) {
		s.in[d] = c->in[d];
		s.window[d] = c->kernel[d];
		s.stride[d] = c->stride[d];
		s.dilation[d] = c->dilation[d];
		s.out_pad[d] = c->transposed ? c->out_pad[d] : 0;
		s.pad[2 * d] = c->pad[2 * d];
		s.pad[2 * d + 1] = c->pad[2 * d + 1];
	}
	return s;
}

/*
 * In 32-bit unsigned numbers, as upstream has them: a window larger than its padded image wraps
 * to a size that a later check refuses. Transposed ones are counted by the window
 * (sliding_window.c).
 */
void tt_conv_out(uint32_t out[2], const struct tt_conv *c)
{
	struct tt_slide slide = tt_conv_slide(c);

	if (c->transposed) {
		tt_slide_out(out, &slide);
		return;
	}
	for (int d = 0; d < 2; d++)
		out[d] = (c->in[d] - c->kernel[d] - (c->kernel[d] - 1) * (c->dilation[d] - 1) +
			  c->pad[2 * d] + c->pad[2 * d + 1]) /
				 c->stride[d] +
			 1;
}

/*
 * A transposed convolution is a plain one over an image with holes between its elements and a
 * rim around it: the halo makes that image, and the program that follows knows nothing of it.
 */
struct tt_conv tt_conv_untransposed(const struct tt_conv *conv)
{
	struct tt_slide slide = tt_conv_slide(conv);
	struct tt_conv plain = *conv;
	uint32_t pad[4];

	if (!conv->transposed)
		return plain;
	tt_slide_transposed(plain.in, pad, &slide);
	plain.transposed = false;
	for (int d = 0; d < 2; d++) {
		plain.stride[d] = 1;
		plain.pad[2 * d] = plain.pad[2 * d + 1] = 0;
	}
	return plain;
}

/*
 * Windows of one element need no halo and no gathering: upstream launches ttnn.linear instead.
 * Width shards are left out, since no matmul takes them as they are cut here.
 */
bool tt_conv_is_matmul(const struct tt_conv *c)
{
	for (int d = 0; d < 2; d++)
		if (c->kernel[d] != 1 || c->stride[d] != 1 || c->dilation[d] != 1 ||
		    c->pad[2 * d] || c->pad[2 * d + 1])
			return false;
	return !c->config.has_layout || c->config.layout != TTNN_WIDTH_SHARDED;
}

/*
 * One channel in, one out, along one dimension: a program multiplies element by element instead.
 */
bool tt_conv_is_depthwise_1d(const struct tt_conv *c)
{
	return c->groups_given == c->in_channels && c->groups == c->out_channels &&
	       c->kernel[0] == 1 && c->in[0] == 1 && !c->bias;
}

/* ---- cores --------------------------------------------------------------------------------------------- */

/*
 * What a core's channels are rounded up to: tiles where tiles are read, else what a transfer
 * within L1 is aligned to (16 bytes: 8 of bfloat16), or what the caller's shard allows.
 */
uint32_t tt_conv_alignment(enum ttnn_memory_layout scheme, enum ttnn_layout layout, bool sliced,
			   bool matmul, const struct ttnn_memory_config *memory)
{
	uint32_t width = memory ? memory->shard.width : 0;

	if (matmul || scheme == TTNN_WIDTH_SHARDED || (layout != TTNN_ROW_MAJOR && !sliced))
		return TT_TILE;
	if (!memory || !memory->has_shard)
		return 8; /* 16 bytes of bfloat16: what L1 is aligned to */
	return width % TT_TILE == 0 ? TT_TILE : width % 16 == 0 ? 16 : width % 8 == 0 ? 8 : TT_TILE;
}

static enum ttnn_orientation block_orientation(const struct tt_conv *conv)
{
	return conv->config.transpose_shards ? TTNN_ORIENT_COL_MAJOR : TTNN_ORIENT_ROW_MAJOR;
}

tt_status tt_conv_parallel(struct tt_parallel *out, const struct tt_conv *conv, bool matmul,
			   uint32_t alignment)
{
	struct tt_parallel_request request = {.scheme = conv->config.layout,
					      .batch = conv->batch,
					      .in_channels = conv->in_channels,
					      .out_channels = conv->out_channels,
					      .alignment = alignment,
					      .grid = tt_grid_size(conv->device->grid),
					      .orientation = block_orientation(conv),
					      .pad_channels = !matmul,
					      .tile_height = true,
					      .tile_width = true,
					      .block_height = conv->config.block_height};

	tt_conv_out(request.out, conv);
	return tt_parallel_choose(out, &request);
}

/*
 * Shards of the image as the program wants them: equal on all cores, so the last ones have
 * padding.
 */
tt_status tt_conv_input_memory(struct ttnn_memory_config *out, const struct tt_conv *conv,
			       const struct tt_parallel *parallel, uint64_t rows,
			       uint32_t alignment)
{
	enum ttnn_memory_layout scheme = parallel->scheme;
	uint32_t unit =
		scheme == TTNN_WIDTH_SHARDED && conv->in_layout == TTNN_ROW_MAJOR ? 1 : TT_TILE;
	uint64_t cores = tt_parallel_channels(parallel);

	return tt_parallel_memory(out, parallel,
				  tt_align_to(rows, (uint64_t)tt_parallel_rows(parallel) * unit),
				  tt_align_to(conv->in_channels, cores * alignment), unit);
}

/* Columns and rows of cores for the result: the caller may want others. */
static tt_status output_grid(struct ttnn_core *out, const struct tt_conv *conv,
			     const struct tt_parallel *in)
{
	struct ttnn_core grid = tt_grid_size(conv->device->grid);
	struct ttnn_core_range box;

	*out = grid;
	if (!conv->config.override_output)
		return TTNN_OK;
	TT_REQUIRE(conv->config.cores, "conv_config.core_grid.has_value()",
		   "When override_output_sharding_config is set to true, core_grid must have a "
		   "value.");
	TT_REQUIRE(in->scheme == TTNN_BLOCK_SHARDED,
		   "input_parallel_config.shard_scheme == "
		   "ttnn::TensorMemoryLayout::BLOCK_SHARDED",
		   "Output sharding config override is only supported for BLOCK_SHARDED layout.");
	TT_TRY(tt_core_set_box(&box, conv->config.cores));
	*out = (struct ttnn_core){box.end.x - box.start.x + 1, box.end.y - box.start.y + 1};
	TT_REQUIRE(grid.x >= out->x && grid.y >= out->y,
		   "device_compute_grid_size.x >= override_compute_grid_size.x && "
		   "device_compute_grid_size.y >= override_compute_grid_size.y",
		   "Invalid core grid override: %ux%u for device compute grid size: %ux%u", out->x,
		   out->y, grid.x, grid.y);
	TT_REQUIRE((in->orientation == TTNN_ORIENT_ROW_MAJOR ? out->y : out->x) ==
			   tt_parallel_rows(in),
		   "(input_parallel_config.shard_orientation == ShardOrientation::ROW_MAJOR ? "
		   "override_compute_grid_size.y : override_compute_grid_size.x) == "
		   "get_num_cores_nhw_from_parallel_config(input_parallel_config)",
		   "NHW cores must match for input and output when overriding the grid size.");
	return TTNN_OK;
}

/* ---- blocks -------------------------------------------------------------------------------------------- */

/*
 * The largest part of a block that the matrix engine holds at once: eight tiles, four with sums
 * in float32. More than one row of tiles is taken only if a row is as wide as the block: the
 * packer writes whole rows.
 */
static tt_status sub_block(struct tt_conv_plan *plan, bool fp32)
{
	static const uint8_t sizes[][2] = {
		{2, 4}, {4, 2}, {1, 8}, {8, 1}, {1, 7}, {7, 1}, {2, 3}, {3, 2}, {1, 6}, {6, 1},
		{1, 5}, {5, 1}, {2, 2}, {1, 4}, {4, 1}, {1, 3}, {3, 1}, {1, 2}, {2, 1}, {1, 1},
	};

	for (size_t i = 0; i < TT_COUNT(sizes); i++) {
		uint32_t h = sizes[i][0], w = sizes[i][1];

		if ((fp32 && h * w > 4) || plan->act_h % h || plan->out_w % w)
			continue;
		if (w != plan->out_w && h != 1)
			continue;
		plan->sub_h = h;
		plan->sub_w = w;
		return TTNN_OK;
	}
	return tt_fail_cond(TTNN_INVALID, "subblock_h > 0 && subblock_w > 0",
			    "Could not find valid subblock size for block size %ux%u, fp32_accum: "
			    "%s",
			    plan->act_h, plan->out_w, fp32 ? "true" : "false");
}

/*
 * A depthwise kernel's taps are read in one burst where the channels of one fill tiles and the burst is not
 * too long for the network on the chip; otherwise one by one.
 */
static bool takes_taps(const struct tt_conv *conv, const struct tt_conv_plan *plan)
{
	uint64_t element = conv->in_dtype == TTNN_FLOAT32 ? 4 : 2;
	uint64_t burst = 256 * (tt_is_blackhole(conv->device) ? 64 : 32);

	if (!tt_conv_is_depthwise_1d(conv) || plan->in.scheme != TTNN_HEIGHT_SHARDED)
		return false;
	return conv->kernel[1] <= 1 || conv->dilation[1] != 1 || plan->channels % TT_TILE != 0 ||
	       plan->channels * element * conv->kernel[1] > burst;
}

/*
 * How wide a block of the input is: what is multiplied at once, in elements. Height shards take
 * a row of the window (with activation reuse the whole window), block shards a core's channels
 * of that, width shards the whole window of a core's channels, cut by act_block_w_div.
 */
static uint64_t block_width(const struct tt_conv *conv, const struct tt_conv_plan *plan)
{
	const struct tt_conv_config *config = &conv->config;
	uint64_t window = plan->by_taps ? 1 : conv->kernel[1];

	switch (plan->in.scheme) {
	case TTNN_HEIGHT_SHARDED:
		if (config->reuse)
			window *= conv->kernel[0];
		return tt_align_to(plan->channels * window, TT_TILE);
	case TTNN_BLOCK_SHARDED:
		if (config->full_inner)
			window *= conv->kernel[0];
		return tt_align_to(plan->channels / plan->cores_in * window, TT_TILE);
	default:
		return (uint64_t)plan->channels * conv->kernel[0] * conv->kernel[1] /
		       (ttnn_core_set_cores(plan->in.grid) * (uint64_t)config->width_div);
	}
}

/*
 * act_block_h_override is asked for in rows and must divide a shard: the largest divisor below
 * it is taken. Reuse keeps rows of the image between blocks, which needs blocks longer than a
 * row of results.
 */
static tt_status cut(struct tt_conv_plan *plan, const struct tt_conv *conv, uint32_t out_width)
{
	uint32_t request = conv->config.block_height / TT_TILE;
	uint32_t rows = plan->memory.shard.height / TT_TILE;

	plan->act_h = plan->out_h;
	if (request)
		plan->act_h = tt_divisor_below(rows, request);
	if (plan->in.scheme == TTNN_HEIGHT_SHARDED && conv->config.reuse)
		TT_REQUIRE(plan->act_h > tt_div_up(out_width, TT_TILE),
			   "act_block_h_ntiles > output_image_width_ntiles",
			   "Activation reuse needs act block h (%u) to be bigger than output image "
			   "width in tiles (%u) for the optimization to give boost",
			   plan->act_h, (unsigned)tt_div_up(out_width, TT_TILE));
	plan->by_taps = takes_taps(conv, plan);
	plan->act_w = (uint32_t)(block_width(conv, plan) / TT_TILE);
	TT_NEED(plan->act_h && plan->act_w && plan->out_w,
		"a convolution needs results and channels");
	return sub_block(plan, conv->fp32);
}

tt_status tt_conv_plan(struct tt_conv_plan *plan, const struct tt_conv *conv,
		       const struct tt_parallel *in, uint32_t alignment, bool matmul)
{
	struct ttnn_core grid;
	struct ttnn_core_range box;
	uint32_t out[2];

	*plan = (struct tt_conv_plan){.in = *in, .out = *in};
	tt_conv_out(out, conv);
	TT_TRY(output_grid(&grid, conv, in));
	if (!matmul)
		TT_TRY(tt_parallel_output(&plan->out, in, grid, conv->out_channels));
	plan->cores_nhw = tt_parallel_rows(in);
	plan->cores_in = tt_parallel_channels(in);
	plan->cores_out = tt_parallel_channels(&plan->out);
	plan->channels =
		(uint32_t)tt_align_to(conv->in_channels, (uint64_t)plan->cores_in * alignment);
	TT_TRY(tt_parallel_memory(
		&plan->memory, &plan->out, (uint64_t)conv->batch * out[0] * out[1],
		tt_align_to(conv->out_channels, (uint64_t)plan->cores_out * TT_TILE), TT_TILE));
	TT_TRY(tt_core_set_box(&box, plan->out.grid));
	plan->out_grid =
		(struct ttnn_core){box.end.x - box.start.x + 1, box.end.y - box.start.y + 1};
	plan->out_h = (uint32_t)tt_div_up(plan->memory.shard.height, TT_TILE);
	plan->out_w = (uint32_t)tt_div_up(plan->memory.shard.width, TT_TILE);
	return cut(plan, conv, out[1]);
}

/* ---- L1 ------------------------------------------------------------------------------------------------ */

/* Bytes of an element of the halo, which is in rows. */
static uint32_t halo_element(const struct tt_conv *conv)
{
	return conv->in_dtype == TTNN_FLOAT32 ? 4 : 2;
}

/*
 * Circular buffers of the program that take memory: those that are a tensor's shard count once,
 * as the result that will be there.
 */
static uint64_t cb_bytes(const struct tt_conv *conv, const struct tt_conv_plan *plan,
			 uint32_t alignment)
{
	uint64_t kernel = (uint64_t)conv->kernel[0] * conv->kernel[1], bytes = 0;
	struct tt_conv_cb cbs[TT_CONV_CBS];
	struct tt_conv_cb_args args = {.plan = plan,
				       .scheme = plan->in.scheme,
				       .weight_rows =
					       tt_align_to(conv->in_channels, alignment) * kernel,
				       .weight_cols = tt_align_to(conv->out_channels, TT_TILE)};

	tt_conv_cbs(cbs, conv, &args);
	for (int i = 0; i < TT_CONV_CBS; i++)
		bytes += cbs[i].borrowed ? 0 : cbs[i].pages * cbs[i].page;
	return bytes + cbs[TT_CONV_OUT].pages * cbs[TT_CONV_OUT].page;
}

/*
 * What a convolution would take of a core's L1, as upstream estimates it to choose shards or
 * slices: buffers, and the halo, which exists besides the image while it is gathered.
 */
tt_status tt_conv_usage(struct tt_conv_usage *out, const struct tt_conv *conv, bool matmul,
			const struct ttnn_memory_config *given)
{
	uint32_t alignment =
		tt_conv_alignment(conv->config.layout, conv->in_layout, false, matmul, NULL);
	uint64_t rows = (uint64_t)conv->batch * conv->in[0] * conv->in[1], element;
	struct tt_slide slide = tt_conv_slide(conv);
	struct ttnn_memory_config memory;
	struct tt_conv_plan plan;
	struct tt_parallel in;
	size_t cores[2];

	if (given)
		in = tt_parallel_of(given);
	else
		TT_TRY(tt_conv_parallel(&in, conv, matmul, alignment));
	TT_TRY(tt_conv_plan(&plan, conv, &in, alignment, matmul));
	if (given)
		memory = *given;
	else
		TT_TRY(tt_conv_input_memory(
			&memory, conv, &in, rows,
			tt_conv_alignment(in.scheme, conv->in_layout, false, matmul, NULL)));
	element = halo_element(conv);
	slide.cores_nhw = plan.cores_nhw;
	out->halo_in = (uint64_t)memory.shard.height * memory.shard.width * element /
		       (conv->in_dtype == TTNN_BFLOAT8_B ? 2 : 1);
	out->halo_out = (uint64_t)tt_slide_halo_sticks(&slide) * memory.shard.width * element;
	out->total = cb_bytes(conv, &plan, alignment) + out->halo_out;
	cores[0] = ttnn_core_set_cores(in.grid);
	cores[1] = ttnn_core_set_cores(plan.out.grid);
	out->cores = (uint32_t)(cores[0] > cores[1] ? cores[0] : cores[1]);
	return TTNN_OK;
}

/*
 * The sharding that takes the least L1, height shards first where it is equal. Blocks count only
 * if they fill a row of cores, as they would otherwise be height shards on fewer cores; and a
 * convolution that will be a matmul cannot take width shards.
 */
tt_status tt_conv_choose_layout(struct tt_conv *conv, bool matmul)
{
	struct tt_conv_usage height, block, width;
	struct tt_conv_config *config = &conv->config;
	uint32_t columns = tt_grid_size(conv->device->grid).x;
	uint64_t least;

	config->has_layout = true;
	config->layout = TTNN_HEIGHT_SHARDED;
	TT_TRY(tt_conv_usage(&height, conv, matmul, NULL));
	if (tt_conv_is_depthwise_1d(conv))
		return TTNN_OK;
	config->layout = TTNN_BLOCK_SHARDED;
	TT_TRY(tt_conv_usage(&block, conv, matmul, NULL));
	config->layout = TTNN_WIDTH_SHARDED;
	TT_TRY(tt_conv_usage(&width, conv, matmul, NULL));
	config->layout = TTNN_HEIGHT_SHARDED;
	least = height.total;
	/* Blocks must cut the channels too. */
	if (block.total < least && block.cores >= columns) {
		config->layout = TTNN_BLOCK_SHARDED;
		least = block.total;
	}
	if (width.total < least && !matmul)
		config->layout = TTNN_WIDTH_SHARDED;
	return TTNN_OK;
}
