#include "ops/movement/shard_derive.h"

#include "ops/movement/movement.h"

/* A shard in proportion to the shape; false where that is no whole number. */
bool tt_shard_scale(struct ttnn_shard_spec *out, const struct ttnn_shard_spec *shard,
		    const struct ttnn_shape *from, const struct ttnn_shape *to)
{
	uint64_t from_rows, to_rows, height, width;

	if (tt_shape_rows(&from_rows, from) != TTNN_OK || tt_shape_rows(&to_rows, to) != TTNN_OK ||
	    !from_rows || !tt_shape_last(from, 1))
		return false;
	height = shard->height * to_rows;
	width = (uint64_t)shard->width * tt_shape_last(to, 1);
	if (height % from_rows || width % tt_shape_last(from, 1))
		return false;
	*out = *shard;
	out->height = (uint32_t)(height / from_rows);
	out->width = (uint32_t)(width / tt_shape_last(from, 1));
	return true;
}

static uint32_t share(uint64_t extent, uint64_t parts, uint32_t align)
{
	return (uint32_t)tt_align_to(tt_div_up(extent, parts), align);
}

/* The first cores of the grid, line after line. */
static tt_status first_cores(const ttnn_core_set **out, const struct tt_shard_request *request,
			     uint64_t count)
{
	uint64_t all = ttnn_core_set_cores(request->device->grid);

	if (count >= all) {
		*out = request->device->grid;
		return TTNN_OK;
	}
	return tt_split_cores(out, tt_grid_size(request->device->grid), (struct ttnn_core){0, 0},
			      count ? count : 1, request->orientation);
}

/*
 * Rows along one side of the grid, columns along the other, by orientation; as many cores as get
 * something.
 */
static tt_status block_shard(struct ttnn_shard_spec *out, const struct tt_shard_request *request,
			     uint64_t rows, const char *who)
{
	struct ttnn_core grid = tt_grid_size(request->device->grid);
	bool by_row = request->orientation == TTNN_ORIENT_ROW_MAJOR;
	uint32_t align = request->tiled ? 32 : 1, down, across, x, y;

	out->height = share(rows, by_row ? grid.y : grid.x, align);
	out->width = share(tt_shape_last(request->padded, 1), by_row ? grid.x : grid.y, align);
	down = (uint32_t)tt_div_up(rows, out->height);
	across = (uint32_t)tt_div_up(tt_shape_last(request->padded, 1), out->width);
	x = by_row ? across : down;
	y = by_row ? down : across;
	TT_REQUIRE(x <= grid.x && y <= grid.y,
		   "n_along_x <= static_cast<uint32_t>(compute_grid_size.x) && n_along_y <= "
		   "static_cast<uint32_t>(compute_grid_size.y)",
		   "%s: BLOCK shard-grid (%ux%u along x/y) exceeds compute grid (%ux%u); "
		   "shard=(%u,%u) orientation=%s",
		   who, x, y, grid.x, grid.y, out->height, out->width,
		   by_row ? "ROW_MAJOR" : "COL_MAJOR");
	return tt_core_set_grid(&out->grid, x ? x : 1, y ? y : 1);
}

/*
 * Shards for a result that was asked to be sharded without a word about how: equal shares over
 * the whole grid, in whole tiles where the tensor has tiles, and no more cores than have
 * something. The shares decide how many cores there are, not the other way round.
 */
tt_status tt_shard_make(struct ttnn_shard_spec *out, const struct tt_shard_request *request,
			const char *who)
{
	uint64_t cores = ttnn_core_set_cores(request->device->grid), rows;
	uint64_t cols = tt_shape_last(request->padded, 1);
	uint32_t align = request->tiled ? 32 : 1;

	TT_TRY(tt_shape_rows(&rows, request->padded));
	*out = (struct ttnn_shard_spec){.orientation = request->orientation};
	TT_NEED(rows && cols, "%s: a tensor without elements cannot be sharded", who);
	if (request->layout == TTNN_HEIGHT_SHARDED) {
		out->height = share(rows, cores, align);
		out->width = (uint32_t)tt_align_to(cols, align);
		return first_cores(&out->grid, request, tt_div_up(rows, out->height));
	}
	if (request->layout == TTNN_WIDTH_SHARDED) {
		out->height = (uint32_t)tt_align_to(rows, align);
		out->width = share(cols, cores, align);
		return first_cores(&out->grid, request, tt_div_up(cols, out->width));
	}
	return block_shard(out, request, rows, who);
}

/*
 * Scaled if the layout stays and tiles stay whole; made anew otherwise. Its text names Transpose,
 * whoever calls it.
 */
tt_status tt_shards_derive(struct ttnn_memory_config *memory, const struct tt_launch *launch,
			   const struct ttnn_shape *from, const struct ttnn_shape *to)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_shard_spec *old = &in->memory.shard;
	bool has = in->memory.has_shard;
	struct tt_shard_request request = {.device = launch->device,
					   .padded = to,
					   .layout = memory->layout,
					   .orientation =
						   has ? old->orientation : TTNN_ORIENT_ROW_MAJOR,
					   .tiled = true};
	struct ttnn_shard_spec shard;

	if (!has || in->memory.layout != memory->layout || !tt_shard_scale(&shard, old, from, to) ||
	    (in->layout == TTNN_TILE && (shard.height % TT_TILE || shard.width % TT_TILE)))
		TT_TRY(tt_shard_make(&shard, &request, "Transpose"));
	return ttnn_memory_config_sharded(memory, memory->layout, memory->buffer, &shard);
}

static bool fits(uint64_t width, uint64_t cols, uint64_t element, uint64_t alignment)
{
	return width && width * element % alignment == 0 && cols % width == 0;
}

/*
 * Rows of shards must be aligned, as a core cannot write to half a word: fewer cores are tried
 * until a share is. `strict`: a caller that has another way gives up instead of taking padded
 * shares.
 */
tt_status tt_shard_align_rows(bool *found, struct ttnn_shard_spec *shard,
			      const struct tt_shard_request *request, uint64_t element, bool strict)
{
	uint64_t cols = tt_shape_last(request->padded, 1);
	uint64_t alignment = tt_devmem_alignment(request->device->memory, TTNN_L1);
	uint64_t cores = ttnn_core_set_cores(request->device->grid), width = 0;

	*found = fits(shard->width, cols, element, alignment) || !strict;
	if (!cols || fits(shard->width, cols, element, alignment) ||
	    request->layout != TTNN_WIDTH_SHARDED)
		return TTNN_OK;
	while (cores > 0 && (cols % cores || !fits(cols / cores, cols, element, alignment)))
		cores--;
	if (!cores && strict)
		return TTNN_OK;
	*found = true;
	width = cores ? cols / cores : share(cols, ttnn_core_set_cores(request->device->grid), 32);
	shard->width = (uint32_t)width;
	return first_cores(&shard->grid, request, tt_div_up(cols, width));
}

/*
 * As many shards along each dimension as before, with the new extents: an operation that changes
 * the shape of a tensor in such shards keeps how it was cut, not how large pieces were.
 * Dimensions that the spec does not mention count with its first one.
 */
struct ttnn_nd_shard_spec tt_nd_shard_fit(const struct ttnn_nd_shard_spec *shard,
					  const struct ttnn_shape *from,
					  const struct ttnn_shape *to, const struct ttnn_tile *tile)
{
	struct ttnn_nd_shard_spec out = *shard;
	uint32_t rank = shard->shape.rank, more = from->rank - rank;

	for (uint32_t i = 0; i < rank; i++) {
		uint64_t old = from->dim[more + i], new = to->dim[more + i];
		uint32_t cut = shard->shape.dim[i] ? shard->shape.dim[i] : 1;

		/* Dimensions that the shard does not speak of are folded into its first one. */
		for (uint32_t d = 0; i == 0 && d < more; d++) {
			old *= from->dim[d];
			new *= to->dim[d];
		}
		out.shape.dim[i] = cut;
		if (!new)
			continue;
		old = tt_div_up(old, cut);
		new = tt_div_up(new, old ? old : 1);
		if (tile && from->rank >= 2 && i + 2 >= rank)
			new = tt_align_to(new, i + 2 == rank ? tile->height : tile->width);
		out.shape.dim[i] = (uint32_t) new;
	}
	return out;
}
