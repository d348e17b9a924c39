/* eltwise.c: shapes and shards of element-wise results (eltwise.h). */
#include "ops/eltwise/eltwise.h"

#include "device/work_split.h"
#include "tensor/distribution.h"

/* As NumPy broadcasts; whether they fit was checked before. */
void tt_eltwise_shape(struct ttnn_shape *out, const struct ttnn_shape *a,
		      const struct ttnn_shape *b)
{
	uint32_t rank = a->rank > b->rank ? a->rank : b->rank;

	out->rank = rank;
	for (uint32_t back = 1; back <= rank; back++) {
		uint32_t left = tt_shape_last(a, back), right = tt_shape_last(b, back);

		out->dim[rank - back] = left == 1 ? right : left;
	}
}

/* ---- shards ------------------------------------------------------------------------------------ */

bool tt_eltwise_uneven(const struct ttnn_tensor_spec *spec)
{
	const struct ttnn_shard_spec *shard = &spec->memory.shard;

	if (!tt_memory_config_is_sharded(&spec->memory))
		return false;
	return !spec->memory.has_shard || !shard->height || !shard->width ||
	       spec->rows % shard->height != 0 || spec->cols % shard->width != 0;
}

/* edge × to / from, at least a tile's. */
static bool scale(uint32_t *edge, uint64_t from, uint64_t to)
{
	uint64_t scaled;

	if (__builtin_mul_overflow((uint64_t)*edge, to, &scaled) || scaled / from > UINT32_MAX)
		return false;
	*edge = scaled / from < TT_TILE ? TT_TILE : (uint32_t)(scaled / from);
	return true;
}

/* A shard in proportion to the shape, in upstream's integer arithmetic. */
tt_status tt_eltwise_rescale(struct ttnn_shard_spec *out, const struct ttnn_tensor_spec *from,
			     const struct ttnn_shape *padded)
{
	uint64_t rows_from, rows_to;

	TT_TRY(tt_shape_rows(&rows_from, &from->padded));
	TT_TRY(tt_shape_rows(&rows_to, padded));
	TT_REQUIRE(rows_from != 0, "from_volume_except_width > 0",
		   "Invalid from_shape: volume is zero");
	TT_REQUIRE(tt_shape_last(&from->padded, 1) != 0, "from_width > 0",
		   "Invalid from_shape: width dimension is zero");
	*out = from->memory.shard;
	TT_NEED(scale(&out->height, rows_from, rows_to) &&
			scale(&out->width, tt_shape_last(&from->padded, 1),
			      tt_shape_last(padded, 1)),
		"a shard of that size is beyond 32 bits");
	return TTNN_OK;
}

/* What the layout of another tensor would pad this shape to. */
tt_status tt_eltwise_padded(struct ttnn_shape *out, const struct ttnn_tensor_spec *like,
			    const struct ttnn_shape *shape)
{
	struct ttnn_spec_args args = tt_tensor_spec_args(like);
	struct ttnn_tensor_spec spec;

	args.shape = *shape;
	args.memory = (struct ttnn_memory_config){0};
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	*out = spec.padded;
	return TTNN_OK;
}

/* The memory of an operand for a result of another shape. */
tt_status tt_eltwise_memory_like(struct ttnn_memory_config *out,
				 const struct ttnn_tensor_spec *like,
				 const struct ttnn_shape *shape)
{
	struct ttnn_shard_spec shard;
	struct ttnn_shape padded;

	if (!like->memory.has_shard) {
		*out = like->memory;
		return TTNN_OK;
	}
	TT_TRY(tt_eltwise_padded(&padded, like, shape));
	TT_TRY(tt_eltwise_rescale(&shard, like, &padded));
	return ttnn_memory_config_sharded(out, like->memory.layout, like->memory.buffer, &shard);
}

/* The edge of shards that spread `extent` over `parts`, in whole units. */
static uint64_t spread_edge(uint64_t extent, uint64_t parts, uint64_t unit)
{
	uint64_t edge = tt_div_up(extent, parts);

	return edge ? tt_div_up(edge, unit) * unit : unit;
}

/* Row-major widths: the first multiple of the step that divides the width, else whole tiles. */
static uint64_t spread_width(uint64_t width, uint64_t cores, uint64_t step)
{
	uint64_t edge = spread_edge(width, cores, step);

	for (uint64_t w = edge; w <= width; w += step)
		if (width % w == 0)
			return w;
	return step == 1 ? edge : spread_edge(width, cores, TT_TILE);
}

/*
 * Shards for a config that names only a layout: equal shares over the grid, whole tiles or aligned
 * rows.
 */
tt_status tt_eltwise_spread(struct ttnn_memory_config *memory, const struct tt_device *device,
			    const struct ttnn_tensor_spec *spec, uint32_t width_step)
{
	struct ttnn_core grid = device->info.compute_grid, origin = {0, 0};
	uint64_t cores = (uint64_t)grid.x * grid.y, height = spec->rows, width = spec->cols;
	uint64_t unit = spec->layout == TTNN_TILE ? TT_TILE : 1, used_x, used_y;
	struct ttnn_shard_spec shard = {.orientation = TTNN_ORIENT_ROW_MAJOR};

	if (memory->layout == TTNN_HEIGHT_SHARDED) {
		height = spread_edge(height, cores, unit);
	} else if (memory->layout == TTNN_WIDTH_SHARDED) {
		width = unit == 1 ? spread_width(width, cores, width_step)
				  : spread_edge(width, cores, unit);
	} else {
		height = spread_edge(height, grid.y, unit);
		width = spread_edge(width, grid.x, unit);
	}
	TT_NEED(height && width && height <= UINT32_MAX && width <= UINT32_MAX,
		"an empty tensor cannot be spread over cores");
	shard.height = (uint32_t)height;
	shard.width = (uint32_t)width;
	used_y = tt_div_up(spec->rows, height);
	used_x = tt_div_up(spec->cols, width);
	if (memory->layout == TTNN_BLOCK_SHARDED) {
		struct ttnn_core_range range = {
			origin,
			{used_x ? (uint32_t)used_x - 1 : 0, used_y ? (uint32_t)used_y - 1 : 0}};

		TT_TRY(ttnn_core_set_make(&shard.grid, &range, 1));
	} else {
		TT_TRY(tt_split_cores(&shard.grid, grid, origin,
				      used_x && used_y ? used_x * used_y : 1,
				      TTNN_ORIENT_ROW_MAJOR));
	}
	return ttnn_memory_config_sharded(memory, memory->layout, memory->buffer, &shard);
}

/* ---- how shards lie, for keys and texts ---------------------------------------------------------- */

/*
 * Merges neighbouring dimensions: when the shard spans the inner one, or is 1 thick and divides
 * the inner one. No page changes its place by that, and programs are cached by the merged shape.
 */
static void squeeze(struct ttnn_shape *tensor, struct ttnn_shape *shard)
{
	uint32_t top = tensor->rank;

	for (uint32_t i = tensor->rank; i-- > 1;) {
		uint32_t outer = i - 1;
		bool spans = shard->dim[i] == tensor->dim[i];
		bool thin = shard->dim[outer] == 1 && tensor->dim[i] % shard->dim[i] == 0;

		if (!spans && !thin)
			continue;
		tensor->dim[outer] *= tensor->dim[i];
		shard->dim[outer] *= shard->dim[i];
		for (uint32_t k = i; k + 1 < top; k++) {
			tensor->dim[k] = tensor->dim[k + 1];
			shard->dim[k] = shard->dim[k + 1];
		}
		top--;
	}
	tensor->rank = shard->rank = top;
}

static bool lay(struct tt_distribution *out, const struct ttnn_tensor_spec *spec)
{
	if (tt_distribution_make(out, spec) != TTNN_OK)
		return false;
	for (uint32_t i = 0; i < out->shard.rank; i++)
		if (!out->shard.dim[i])
			return false;
	return true;
}

/*
 * Pages of a sharded result, dimensions that do not matter folded: what upstream's cache key has.
 */
bool tt_eltwise_pages(struct ttnn_shape *out, const struct ttnn_tensor_spec *spec)
{
	struct tt_distribution d;

	if (!lay(&d, spec))
		return false;
	squeeze(&d.tensor, &d.shard);
	*out = d.tensor;
	return true;
}

/* The same for the key of an operand. */
void tt_eltwise_key_shards(struct tt_key *key, const struct ttnn_tensor_spec *spec)
{
	struct tt_distribution d;

	if (!tt_memory_config_is_sharded(&spec->memory) || !lay(&d, spec))
		return;
	squeeze(&d.tensor, &d.shard);
	tt_key_shape(key, &d.shard);
	tt_key_number(key, d.core_count);
}
