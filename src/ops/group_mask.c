/*
 * group_mask.c: masks for group_norm. A group's channels lie in as many tiles as the widest group
 * needs; in the first of them they begin where they begin in the tile of the core that has them.
 */
#include <ttnn_frontend.h>

#include "base/mem.h"
#include "base/status.h"

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

static tt_status check(const struct ttnn_group_mask *mask)
{
	if (!mask->channels || !mask->groups || !mask->cores || mask->groups > mask->channels ||
	    !mask->tile_height || !mask->tile_width || mask->channels > 1 << 24 ||
	    mask->tile_height > 1 << 12 || mask->tile_width > 1 << 12 ||
	    mask->last_rows > mask->tile_height)
		return tt_fail(TTNN_INVALID,
			       "create_group_norm_input_mask: %u channels in %u "
			       "groups on %u cores cannot be masked",
			       (unsigned)mask->channels, (unsigned)mask->groups,
			       (unsigned)mask->cores);
	if (mask->groups % mask->cores)
		return tt_fail_cond(
			TTNN_INVALID, "num_groups % num_cores_across_channel == 0",
			"create_group_norm_input_mask: num_groups (%u) must be divisible by "
			"num_cores_across_channel (%u). The num_virtual_cols / "
			"num_cores_across_channel value must evenly divide both the channels into "
			"tiles and the number of groups.",
			(unsigned)mask->groups, (unsigned)mask->cores);
	return TTNN_OK;
}

static void fill(float *to, const struct ttnn_group_mask *mask, uint32_t size, uint64_t width)
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

enum ttnn_status ttnn_group_mask_new(ttnn_tensor **out, const struct ttnn_group_mask *mask)
{
	struct ttnn_spec_args args = {.dtype = mask->dtype, .layout = TTNN_TILE};
	struct ttnn_tensor_spec spec;
	uint32_t size, tiles;
	uint64_t volume;
	tt_status status;
	float *data;

	TT_TRY(check(mask));
	size = mask->channels / mask->groups;
	tiles = most_tiles(mask, size);
	args.shape = (struct ttnn_shape){4,
					 {1, (mask->last_rows ? 2 : 1) * mask->groups,
					  mask->tile_height, tiles * mask->tile_width}};
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(ttnn_shape_volume(&volume, &args.shape));
	data = tt_calloc((size_t)volume, sizeof(*data));
	if (!data)
		return tt_fail_nomem();
	fill(data, mask, size, (uint64_t)tiles * mask->tile_width);
	status = ttnn_tensor_from_data(out, data, TTNN_FLOAT32, &spec, 0);
	tt_free(data);
	return status;
}
