/*
 * group_norm_setup.c: what callers of group_norm prepare: masks, and over which cores to spread a tensor.
 *
 * A group's channels lie in as many tiles as the widest group needs; in the first of them they begin
 * where they begin in the tile of the core that has them.
 */
#include <ttnn_frontend.h>

#include "base/mem.h"
#include "base/status.h"
#include "ops/movement/movement.h"

/* How many tiles a group can touch, wherever in all channels it lies. */
static uint32_t most_tiles(const struct ttnn_group_mask *mask, uint32_t size)
{
	uint32_t most = 1;

	for (uint32_t first = 0; first + size <= mask->channels; first += size) {
		uint32_t last = first + size - 1;
		uint32_t tiles = last / mask->tile_width - first / mask->tile_width + 1;

		most = tiles > most ? tiles : most;
	}
	return most;
}

/* Sizes that upstream's Python helper assumes, and bounds against overflow. */
static tt_status group_norm_check(const struct ttnn_group_mask *mask)
{
	TT_NEED(mask->channels && mask->groups && mask->cores && mask->groups <= mask->channels &&
			mask->tile_height && mask->tile_width && mask->channels <= 1 << 24 &&
			mask->tile_height <= 1 << 12 && mask->tile_width <= 1 << 12 &&
			mask->last_rows <= mask->tile_height,
		"create_group_norm_input_mask: %u channels in %u groups on %u cores cannot be "
		"masked",
		(unsigned)mask->channels, (unsigned)mask->groups, (unsigned)mask->cores);
	TT_REQUIRE(mask->groups % mask->cores == 0, "num_groups % num_cores_across_channel == 0",
		   "create_group_norm_input_mask: num_groups (%u) must be divisible by "
		   "num_cores_across_channel (%u). The num_virtual_cols / "
		   "num_cores_across_channel value must evenly divide both the channels into "
		   "tiles and the number of groups.",
		   (unsigned)mask->groups, (unsigned)mask->cores);
	return TTNN_OK;
}

/*
 * For each group a row of tiles: ones where its channels are, counted from the tile in which they
 * begin. With last_rows a second set follows for the last tile of an image.
 */
static void group_norm_fill(float *to, const struct ttnn_group_mask *mask, uint32_t size,
			    uint64_t width)
{
	uint32_t per_core = mask->groups / mask->cores;
	uint32_t sets = mask->last_rows ? 2 : 1;

	for (uint32_t group = 0; group < sets * mask->groups; group++) {
		uint32_t first = group % mask->groups % per_core * size % mask->tile_width;
		uint32_t rows = group < mask->groups ? mask->tile_height : mask->last_rows;

		for (uint32_t row = 0; row < mask->tile_height; row++)
			for (uint64_t col = 0; col < width; col++) {
				bool in = col >= first && col < first + size;

				*to++ = row < rows && in != mask->negative ? 1.0f : 0.0f;
			}
	}
}

/* [1, groups, tile height, tiles × tile width], on the host. */
enum ttnn_status ttnn_group_mask_new(ttnn_tensor **out, const struct ttnn_group_mask *mask)
{
	struct ttnn_spec_args args = {.dtype = mask->dtype, .layout = TTNN_TILE};
	struct ttnn_tensor_spec spec;
	uint32_t size, tiles;
	uint64_t volume;
	tt_status status;
	float *data;

	TT_TRY(group_norm_check(mask));
	size = mask->channels / mask->groups;
	tiles = most_tiles(mask, size);
	args.shape = (struct ttnn_shape){4,
					 {1, (mask->last_rows ? 2 : 1) * mask->groups,
					  mask->tile_height, tiles * mask->tile_width}};
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(ttnn_shape_volume(&volume, &args.shape));
	data = tt_calloc((size_t)volume, sizeof(*data));
	TT_NEED_MEMORY(data);
	group_norm_fill(data, mask, size, (uint64_t)tiles * mask->tile_width);
	status = ttnn_tensor_from_data(out, data, TTNN_FLOAT32, &spec, 0);
	tt_free(data);
	return status;
}

/* ---- cores ------------------------------------------------------------------------------------------ */

/* Both helpers below take whole tiles of channels. */
static tt_status check_spread(const struct ttnn_group_spread *spread)
{
	TT_NEED(spread->groups && spread->channels && spread->rows && spread->grid.x &&
			spread->grid.y && spread->rows <= UINT32_MAX - TT_TILE,
		"group_norm needs channels, groups, rows and cores");
	TT_REQUIRE(spread->channels % spread->groups == 0, "num_channels % num_groups == 0",
		   "num_channels must be divisible by num_groups");
	TT_REQUIRE(spread->channels % TT_TILE == 0, "num_channels % 32 == 0",
		   "num_channels must be divisible by 32");
	return TTNN_OK;
}

/* The most cores that can share the channels: whole groups, and at least a tile for each. */
static uint32_t channel_cores(const struct ttnn_group_spread *spread, uint32_t most)
{
	uint32_t size = spread->channels / spread->groups, n = most;

	while (n > 1 && (spread->channels / 8 % n || spread->channels / n % size ||
			 spread->channels / n < TT_TILE))
		n--;
	return n;
}

/*
 * Height shards take as many cores as divide the rows; blocks also divide the channels. COL_MAJOR
 * blocks swap the axes of grid and shard.
 */
enum ttnn_status ttnn_group_norm_shards(struct ttnn_memory_config *out, struct ttnn_core *grid,
					const struct ttnn_group_spread *spread)
{
	struct ttnn_core most = spread->grid;
	uint32_t tiles, rows, cores, channels = 1;
	struct ttnn_shard_spec shard = {0};
	bool transposed = !spread->height && !spread->row_major;

	TT_TRY(check_spread(spread));
	tiles = (uint32_t)((spread->rows + TT_TILE - 1) / TT_TILE);
	if (spread->height) {
		cores = (uint32_t)tt_split_divisor(tiles, (uint64_t)most.x * most.y);
		*grid = (struct ttnn_core){cores < most.x ? cores : most.x,
					   (cores + most.x - 1) / most.x};
	} else {
		cores = (uint32_t)tt_split_divisor(tiles, transposed ? most.x : most.y);
		channels = channel_cores(spread, transposed ? most.y : most.x);
		*grid = transposed ? (struct ttnn_core){cores, channels}
				   : (struct ttnn_core){channels, cores};
	}
	rows = tiles / cores * TT_TILE;
	shard.height = transposed ? spread->channels / channels : rows;
	shard.width = transposed ? rows : spread->channels / channels;
	shard.orientation = transposed ? TTNN_ORIENT_COL_MAJOR : TTNN_ORIENT_ROW_MAJOR;
	TT_TRY(ttnn_core_set_make(
		&shard.grid, &(struct ttnn_core_range){{0, 0}, {grid->x - 1, grid->y - 1}}, 1));
	return ttnn_memory_config_sharded(
		out, spread->height ? TTNN_HEIGHT_SHARDED : TTNN_BLOCK_SHARDED, TTNN_L1, &shard);
}

/* How many of x cores share the channels of the same rows. */
static uint32_t sharers(const struct ttnn_group_spread *spread, uint32_t x)
{
	for (uint32_t n = x; n > 1; n--)
		if (x % n == 0 && spread->channels % (TT_TILE * n) == 0 && spread->groups % n == 0)
			return n;
	return 1;
}

/* The largest grid, columns first, whose cores get equal shares of the rows. */
enum ttnn_status ttnn_group_norm_grid(struct ttnn_core *out, const struct ttnn_group_spread *spread)
{
	uint64_t tiles = (spread->rows + TT_TILE - 1) / TT_TILE;

	TT_TRY(check_spread(spread));
	for (uint32_t x = spread->grid.x; x > 0; x--) {
		uint32_t across = sharers(spread, x);

		for (uint32_t y = spread->grid.y; y > 0; y--) {
			uint64_t shares = (uint64_t)x / across * y;

			if (shares && tiles % shares == 0) {
				*out = (struct ttnn_core){x, y};
				return TTNN_OK;
			}
		}
	}
	return tt_fail(TTNN_INVALID, "no grid of cores fits the tensor");
}
