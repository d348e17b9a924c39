/*
 * pool_plan.c: what a pool needs of each core, and which cores it takes.
 *
 * Models, of ttnn 0.81 (pool/pool_utils.cpp): get_factory_parameters, calculate_L1_usage and
 * determine_pool_config_for_auto_shard, which takes the sharding that needs the least L1.
 */
#include "ops/conv/pool_ops.h"
#include "ops/movement/movement.h"

#define TILE_ELEMENTS 1024u

/* ---- blocks -------------------------------------------------------------------------------------------- */

/* Results are bfloat16, or tiles of it packed. */
#define ELEMENT 2u

/* In single precision and rounded up, as upstream does it. */
static uint32_t parts(uint32_t channels, uint32_t shards, uint32_t width)
{
	float exact = (float)channels / (float)shards / (float)width;
	uint32_t whole = (uint32_t)exact;

	return whole + ((float)whole < exact ? 1 : 0);
}

/*
 * What the channels of a core are rounded up to: a face where rows come out, unless the rest
 * would be less than a face behind other faces, which the packer cannot write.
 */
uint32_t tt_pool_unit(const struct tt_pool *pool)
{
	uint32_t shards = pool->slide.cores_c ? pool->slide.cores_c : 1;
	uint32_t share = (uint32_t)tt_div_up(pool->slide.channels, shards), rest = share % TT_TILE;
	bool part = rest && rest < TT_FACE && share > TT_FACE; /* of a face, behind others */

	return pool->layout == TTNN_TILE || part ? TT_TILE : TT_FACE;
}

enum ttnn_dtype tt_pool_index_dtype(const struct tt_slide *slide)
{
	return (uint64_t)slide->in[0] * slide->in[1] > UINT16_MAX ? TTNN_UINT32 : TTNN_UINT16;
}

/*
 * How many tiles a core reduces at once, and the page that a window is read into. A window of
 * more rows than the destination registers hold is `large`: reduced in several steps, with fewer
 * channels at once. One scalar serves all windows, unless an average counts other elements at
 * the edges.
 */
tt_status tt_pool_blocks(struct tt_pool_blocks *out, const struct tt_pool *pool, uint32_t shards)
{
	const struct tt_slide *slide = &pool->slide;
	uint32_t window = slide->window[0] * slide->window[1], ceil[2];
	uint32_t rows = window <= TT_FACE ? window : TT_TILE,
		 rest = slide->channels / shards % TT_TILE;
	bool average = pool->kind == TT_POOL_AVERAGE;
	bool large = window > (rest && rest <= TT_FACE ? TT_TILE / 2 : TT_TILE);
	uint32_t most = pool->indices ? 1 : average && large ? 4 : 8, tiles;

	out->large = large;
	tt_slide_ceil_pad(ceil, slide);
	out->in_tiles = parts(slide->channels, shards, TT_TILE);
	out->out_tiles =
		parts(slide->channels, shards, pool->layout == TTNN_TILE ? TT_TILE : TT_FACE);
	out->one_scalar = !average || pool->divisor ||
			  ((!slide->ceil || (!ceil[0] && !ceil[1])) &&
			   (pool->count_padding ||
			    !(slide->pad[0] + slide->pad[1] + slide->pad[2] + slide->pad[3])));
	tiles = pool->indices || out->in_tiles > most ? most : out->in_tiles;
	out->in_page = ELEMENT * tt_align_to(tiles * TT_TILE * (pool->indices ? TT_TILE : rows),
					     TILE_ELEMENTS);
	return TTNN_OK;
}

/* ---- scalars ------------------------------------------------------------------------------------------- */

/* Elements that a window along one dimension is divided by. */
static int64_t counted(const struct tt_pool *pool, int d, uint32_t at)
{
	const struct tt_slide *s = &pool->slide;
	int64_t start = (int64_t)at * s->stride[d] - s->pad[2 * d];
	int64_t end = start + s->window[d], last = (int64_t)s->in[d] + s->pad[2 * d + 1];

	end = end < last ? end : last;
	if (!pool->count_padding) {
		start = start > 0 ? start : 0;
		end = end < (int64_t)s->in[d] ? end : (int64_t)s->in[d];
	}
	return end - start;
}

/*
 * How many different divisors an average needs on the core that needs most: a table has one
 * entry for each run of equal ones.
 */
uint32_t tt_pool_scalars(const struct tt_pool *pool, enum ttnn_memory_layout scheme, uint32_t share)
{
	uint32_t cores = scheme == TTNN_WIDTH_SHARDED ? 1 : pool->slide.cores_nhw, out[2], most = 0;
	uint64_t at = 0, area;

	tt_slide_out(out, &pool->slide);
	area = (uint64_t)out[0] * out[1];
	for (uint32_t core = 0; core < cores; core++) {
		int64_t before = -1;
		uint32_t runs = 0;

		for (uint32_t i = 0; i < share; i++) {
			uint64_t inside = (at + i) % area;
			int64_t down = counted(pool, 0, (uint32_t)(inside / out[1]));
			int64_t across = counted(pool, 1, (uint32_t)(inside % out[1]));
			int64_t now = down > 0 && across > 0 ? down * across : 0;

			runs += now != before;
			before = now;
		}
		most = runs > most ? runs : most;
		at += share;
		if (at / area == pool->slide.batch)
			at = 0;
	}
	return most;
}

/* ---- shards -------------------------------------------------------------------------------------------- */

static uint64_t out_bytes(const struct tt_pool *pool, const struct tt_pool_blocks *blocks,
			  const struct ttnn_shard_spec *shard)
{
	if (pool->layout == TTNN_TILE)
		return (uint64_t)shard->height * shard->width / TILE_ELEMENTS *
		       tt_tile_bytes_of(pool->dtype);
	return (uint64_t)shard->height * blocks->out_tiles *
	       (shard->width < TT_FACE ? shard->width : TT_FACE) * ELEMENT;
}

/*
 * Upstream's estimate of a core's L1: scalars, a cleared tile, four pages of input, the result
 * with its alignment, and what indices take besides.
 */
tt_status tt_pool_usage(uint64_t *out, const struct tt_pool *pool, uint32_t shards,
			const struct ttnn_shard_spec *shard)
{
	uint64_t tile = TILE_ELEMENTS * ELEMENT, result;
	uint64_t index = tt_dtype_bytes(tt_pool_index_dtype(&pool->slide));
	struct tt_pool_blocks blocks;

	TT_TRY(tt_pool_blocks(&blocks, pool, shards));
	*out = 2 * tile * (blocks.one_scalar ? 1 : 2) + tile + 4 * blocks.in_page;
	if (pool->indices)
		*out += tile + (blocks.large ? 8u : 6u) * index * TILE_ELEMENTS;
	if (pool->layout == TTNN_TILE)
		*out += blocks.in_tiles * tile;
	if (pool->tables_in_dram)
		*out += 6 * (uint64_t)shard->height * (blocks.one_scalar ? 1 : 2) + 2;
	result = out_bytes(pool, &blocks, shard);
	*out += tt_align_to(result, 32);
	if (pool->indices)
		*out += tt_align_to(result / ELEMENT * index, 32);
	return TTNN_OK;
}

static tt_status consider(struct tt_parallel *out, uint64_t *bytes, const struct tt_pool *pool,
			  const struct tt_parallel_request *request)
{
	struct ttnn_memory_config memory;
	uint32_t shards;

	TT_TRY(tt_parallel_choose(out, request));
	shards = tt_parallel_channels(out);
	TT_TRY(tt_parallel_memory(
		&memory, out, (uint64_t)request->batch * request->out[0] * request->out[1],
		tt_align_to(request->in_channels, (uint64_t)shards * TT_TILE), TT_TILE));
	return tt_pool_usage(bytes, pool, shards, &memory.shard);
}

/* Height first, then width, then blocks: an equal one does not replace the one before. */
tt_status tt_pool_parallel(struct tt_parallel *out, const struct tt_pool *pool,
			   struct ttnn_core grid)
{
	static const enum ttnn_memory_layout schemes[] = {TTNN_HEIGHT_SHARDED, TTNN_WIDTH_SHARDED,
							  TTNN_BLOCK_SHARDED};
	bool tiled = pool->layout == TTNN_TILE;
	struct tt_parallel_request request = {.batch = pool->slide.batch,
					      .in_channels = pool->slide.channels,
					      .out_channels = pool->slide.channels,
					      .alignment = TT_TILE,
					      .grid = grid,
					      .tile_height = tiled,
					      .tile_width = tiled || pool->in_layout == TTNN_TILE};
	struct tt_parallel found[3];
	uint64_t bytes[3];
	int best;

	tt_slide_out(request.out, &pool->slide);
	for (int i = 0; i < 3; i++) {
		request.scheme = schemes[i];
		TT_TRY(consider(&found[i], &bytes[i], pool, &request));
	}
	best = bytes[0] > bytes[1] ? 1 : 0;
	if (bytes[best] > bytes[2])
		best = 2;
	*out = found[best];
	return TTNN_OK;
}
