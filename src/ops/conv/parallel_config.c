/*
 * parallel_config.c: which cores work on windows over images. Shared by convolutions, pools and
 * upsampling.
 *
 * Models determine_parallel_config and determine_output_parallel_config of ttnn 0.81, and
 * ParallelConfig, which is an attribute of halos. Rules: work is cut evenly, padding included; a
 * core whose share would be padding alone is left out; blocks are a rectangle of cores from the
 * corner, other shards fill rows of cores.
 */
#include "ops/conv/parallel_config.h"

#include "ops/movement/movement.h"

/* Counts down instead of trying divisors: numbers are those of cores. */
uint32_t tt_divisor_below(uint32_t num, uint32_t from)
{
	while (num % from)
		from--;
	return from;
}

uint32_t tt_divisor_below_both(uint32_t a, uint32_t b, uint32_t from)
{
	while (a % from || b % from)
		from--;
	return from;
}

/* As many shares as possible, up to `from`, none of which is padding alone; shares of `unit`. */
static uint32_t shares_below(uint32_t num, uint32_t from, uint32_t unit)
{
	for (; from > 1; from--) {
		uint64_t padded = tt_align_to(num, (uint64_t)from * unit);

		if (padded - num < padded / from)
			break;
	}
	return from;
}

static tt_status first_cores(const ttnn_core_set **out, struct ttnn_core grid, uint32_t count)
{
	return tt_split_cores(out, grid, (struct ttnn_core){0, 0}, count, TTNN_ORIENT_ROW_MAJOR);
}

static tt_status block_grid(const ttnn_core_set **out, uint32_t rows, uint32_t channels,
			    enum ttnn_orientation orientation)
{
	return orientation == TTNN_ORIENT_COL_MAJOR ? tt_core_set_grid(out, rows, channels)
						    : tt_core_set_grid(out, channels, rows);
}

/*
 * Rows of pixels along one axis of the grid, channels along the other; COL_MAJOR swaps them.
 * Where channels may not be padded (a matmul follows), their cores must divide channels in and
 * out.
 */
static tt_status choose_block(const ttnn_core_set **out, const struct tt_parallel_request *request,
			      uint32_t rows, uint32_t unit)
{
	bool columns = request->orientation == TTNN_ORIENT_COL_MAJOR;
	uint32_t most_rows = columns ? request->grid.x : request->grid.y;
	uint32_t most_channels = columns ? request->grid.y : request->grid.x;
	uint32_t in = tt_div_up32(request->in_channels, request->alignment);
	uint32_t outs =
		tt_div_up32(request->out_channels, request->tile_width ? TT_TILE : TT_TILE / 2);

	return block_grid(out, shares_below(rows, most_rows, unit),
			  request->pad_channels ? shares_below(in, most_channels, 1)
						: tt_divisor_below_both(outs, in, most_channels),
			  request->orientation);
}

/*
 * Height and width shards are counted over all cores, blocks over both axes. `unit` is a block
 * of rows that the caller wants whole (act_block_h_override).
 */
tt_status tt_parallel_choose(struct tt_parallel *out, const struct tt_parallel_request *request)
{
	uint32_t cores = request->grid.x * request->grid.y;
	uint32_t rows = tt_div_up32(request->batch * request->out[0] * request->out[1],
				    request->tile_height ? TT_TILE : 1);
	uint32_t unit = request->block_height ? request->block_height / TT_TILE : 1;
	uint32_t channels =
		tt_div_up32(request->in_channels, request->tile_width ? TT_TILE : TT_TILE / 2);

	*out = (struct tt_parallel){.scheme = request->scheme,
				    .orientation = TTNN_ORIENT_ROW_MAJOR};
	TT_REQUIRE(unit > 0, "act_block_h_override % 32 == 0",
		   "Config Error: act_block_h_override must be a multiple of 32 (tile height).");
	switch (request->scheme) {
	case TTNN_HEIGHT_SHARDED:
		return first_cores(&out->grid, request->grid, shares_below(rows, cores, unit));
	case TTNN_BLOCK_SHARDED:
		out->orientation = request->orientation;
		return choose_block(&out->grid, request, rows, unit);
	case TTNN_WIDTH_SHARDED:
		return first_cores(&out->grid, request->grid,
				   request->pad_channels ? shares_below(channels, cores, 1)
							 : tt_divisor_below(channels, cores));
	default:
		return tt_fail_cond(
			TTNN_INVALID, "tt::exception",
			"Conv2d supports Height, Block or Width Sharded Layouts but got "
			"TensorMemoryLayout::%s",
			tt_enum_name(&tt_enum_memory_layout, request->scheme));
	}
}

/*
 * The result is on the cores of the image, but for its channels: there may be more or fewer of
 * them.
 */
tt_status tt_parallel_output(struct tt_parallel *out, const struct tt_parallel *in,
			     struct ttnn_core grid, uint32_t channels)
{
	uint32_t tiles = tt_div_up32(channels, TT_TILE);
	bool columns = in->orientation == TTNN_ORIENT_COL_MAJOR;

	*out = *in;
	if (in->scheme == TTNN_WIDTH_SHARDED)
		return first_cores(&out->grid, grid, shares_below(tiles, grid.x * grid.y, 1));
	if (in->scheme == TTNN_BLOCK_SHARDED)
		return block_grid(&out->grid, tt_parallel_rows(in),
				  shares_below(tiles, columns ? grid.y : grid.x, 1),
				  in->orientation);
	return TTNN_OK;
}

struct tt_parallel tt_parallel_of(const struct ttnn_memory_config *memory)
{
	return (struct tt_parallel){memory->shard.grid, memory->layout, memory->shard.orientation};
}

static struct ttnn_core box_size(const ttnn_core_set *grid)
{
	struct ttnn_core_range box = {0};

	if (tt_core_set_box(&box, grid) != TTNN_OK)
		return (struct ttnn_core){1, 1};
	return (struct ttnn_core){box.end.x - box.start.x + 1, box.end.y - box.start.y + 1};
}

uint32_t tt_parallel_rows(const struct tt_parallel *p)
{
	struct ttnn_core box = box_size(p->grid);

	if (p->scheme == TTNN_WIDTH_SHARDED)
		return 1;
	if (p->scheme == TTNN_HEIGHT_SHARDED)
		return (uint32_t)ttnn_core_set_cores(p->grid);
	return p->orientation == TTNN_ORIENT_COL_MAJOR ? box.x : box.y;
}

uint32_t tt_parallel_channels(const struct tt_parallel *p)
{
	struct ttnn_core box = box_size(p->grid);

	if (p->scheme == TTNN_HEIGHT_SHARDED)
		return 1;
	if (p->scheme == TTNN_WIDTH_SHARDED)
		return (uint32_t)ttnn_core_set_cores(p->grid);
	return p->orientation == TTNN_ORIENT_COL_MAJOR ? box.y : box.x;
}

tt_status tt_parallel_memory(struct ttnn_memory_config *out, const struct tt_parallel *p,
			     uint64_t rows, uint64_t channels, uint32_t unit)
{
	uint32_t along = tt_parallel_rows(p), across = tt_parallel_channels(p);
	struct ttnn_shard_spec shard = {.grid = p->grid, .orientation = p->orientation};

	if (p->scheme != TTNN_WIDTH_SHARDED)
		rows = tt_align_to(rows, (uint64_t)along * unit);
	TT_REQUIRE(channels % across == 0, "channels % num_cores_channels == 0",
		   "Channels: %u, num core channels: %u", (unsigned)channels, across);
	shard.height = (uint32_t)(rows / along);
	shard.width = (uint32_t)(channels / across);
	return ttnn_memory_config_sharded(out, p->scheme, TTNN_L1, &shard);
}

static const struct tt_field fields[TT_PARALLEL_FIELDS] = {
	{.name = "grid", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>"},
	{.name = "shard_scheme"},
	{.name = "shard_orientation"},
};
static const struct tt_schema schema = {"ParallelConfig", fields, TT_PARALLEL_FIELDS, false};

struct ttnn_value tt_parallel_value(struct ttnn_value v[TT_PARALLEL_FIELDS],
				    const struct tt_parallel *p)
{
	v[0] = ttnn_v_core_set(p->grid);
	v[1] = tt_value_enum(&tt_enum_memory_layout, p->scheme);
	v[2] = tt_value_enum(&tt_enum_orientation, p->orientation);
	return tt_value_object(&schema, v);
}
