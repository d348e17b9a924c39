/*
 * conv_memory.c: the circular buffers of a convolution.
 *
 * Models the tables of buffers of conv2d_op_program_factory_common of ttnn 0.81
 * (conv/conv2d/device): which there are, their tiles and pages, and whether they share a
 * tensor's shard; and the estimate by which two readers share the gathering of windows. Rates
 * and cycles in it were measured on chips by upstream and are its numbers. Not modelled: who
 * of the readers takes which rows.
 */
#include <math.h>

#include "ops/conv/conv.h"
#include "ops/movement/movement.h"

#define SCRATCH_BYTES 64u

/* ---- one reader or two ---------------------------------------------------------------------------------- */

/* A rate grows with the size of a transfer, from 16 bytes on, up to a peak. GB/s. */
struct rate {
	uint32_t growth; /* bytes at the peak */
	float least, most;
};
enum { LOCAL, DRAM, MULTICAST, RATES };
static const struct rate rates[2][RATES] = {
	{{1024, 0.868f, 27.84f}, {2048, 0.436f, 28.411f}, {65536, 0.318f, 25.345f}}, /* Wormhole */
	{{4096, 1.124f, 80.48f}, {2048, 0.671f, 80.885f}, {65536, 0.182f, 57.677f}}, /* Blackhole */
};

/* Linear between 16 bytes and the size at which the peak is reached; constant beyond. */
static float rate_of(const struct rate *rate, uint32_t bytes)
{
	uint32_t least = 16;
	float step = (rate->most - rate->least) / (float)(rate->growth - least);

	bytes = bytes < least ? least : bytes > rate->growth ? rate->growth : bytes;
	return rate->least + step * (float)(bytes - least);
}

/* Cycles for a tile: [Blackhole][float32 in][float32, bfloat16 or block out][float32 sums]. */
static float tilize_cycles(bool blackhole, enum ttnn_dtype in, enum ttnn_dtype out, bool fp32)
{
	static const uint16_t cycles[2][2][3][2] = {
		{{{92, 117}, {61, 68}, {40, 43}}, {{107, 128}, {74, 74}, {74, 70}}},
		{{{105, 128}, {72, 72}, {60, 60}}, {{132, 132}, {132, 80}, {132, 77}}},
	};
	int to = out == TTNN_FLOAT32 ? 0 : tt_dtype_is_block(out) ? 2 : 1;

	return cycles[blackhole][in == TTNN_FLOAT32][to][fp32];
}

/*
 * Whether two readers begin to multiply earlier than one, who is not kept from reading weights.
 * With one reader, gathering and tilizing follow each other while the other core loads weights;
 * with two, gathering takes half the time, but weights wait for it.
 */
static bool split_pays(const struct tt_conv *conv, const struct tt_conv_plan *plan,
		       uint32_t channels)
{
	bool blackhole = tt_is_blackhole(conv->device);
	const struct rate *rate = rates[blackhole];
	float clock = blackhole ? 1.35f : 1.0f;
	uint32_t element = conv->in_dtype == TTNN_FLOAT32 ? 4 : 2;
	uint32_t tile = (uint32_t)tt_tile_bytes_of(conv->config.weights_dtype);
	uint32_t unit = element * channels * (conv->dilation[1] == 1 ? conv->kernel[1] : 1);
	uint32_t act = element * plan->act_h * TT_TILE * channels * conv->kernel[1];
	uint32_t weights = tile * plan->out_w * plan->act_w;
	float read = clock * (float)act / rate_of(&rate[LOCAL], unit);
	float load =
		clock * (float)weights *
		(1.0f / rate_of(&rate[DRAM], tile) + 1.0f / rate_of(&rate[MULTICAST], weights));
	float tilize = tilize_cycles(blackhole, conv->in_dtype, conv->dtype, conv->fp32) *
		       (float)(plan->act_w * plan->act_h);

	return read / 2 + fmaxf(load, tilize) < fmaxf(read + tilize, load);
}

bool tt_conv_splits(const struct tt_conv *conv, const struct tt_conv_plan *plan,
		    enum ttnn_memory_layout scheme, uint32_t channels)
{
	if (scheme == TTNN_WIDTH_SHARDED || tt_conv_is_depthwise_1d(conv) || plan->act_h <= 1)
		return false;
	if (conv->config.split_reader != TT_CHOICE_OPEN)
		return conv->config.split_reader == TT_CHOICE_YES;
	return scheme == TTNN_BLOCK_SHARDED || conv->config.reuse ||
	       split_pays(conv, plan, channels);
}

/* ---- buffers ------------------------------------------------------------------------------------------- */

/* What the sizes depend on, worked out once. */
struct sizes {
	const struct tt_conv *conv;
	const struct tt_conv_plan *plan;
	const struct tt_conv_cb_args *args;
	uint64_t in_tile, out_tile, weight_tile;
	uint64_t act, second; /* tiles that the readers hold */
	bool depthwise, height, block;
};

/* With reuse, a reader holds the input of a row of results, and what the next ones add to it. */
static uint64_t reused(const struct sizes *z, uint32_t rows)
{
	const struct tt_conv *conv = z->conv;
	uint64_t channels = z->args->weight_rows / ((uint64_t)conv->kernel[0] * conv->kernel[1]);
	uint32_t out[2], rest, left;
	uint64_t width, loops, more;

	tt_conv_out(out, conv);
	width = tt_div_up(out[1], TT_TILE);
	loops = tt_div_up(rows, width);
	rest = out[1] % TT_TILE;
	left = rest ? TT_TILE - rest : 0;
	more = loops * channels * conv->kernel[1] * (1 + (uint64_t)left * conv->kernel[0]) *
	       (conv->in_dtype == TTNN_FLOAT32 ? 4 : 2);
	return width * z->plan->act_w + tt_div_up(more, z->in_tile);
}

static void share_act(struct sizes *z)
{
	uint32_t last = z->plan->act_h / 2, first = z->plan->act_h - last;

	z->act = (uint64_t)z->plan->act_h * z->plan->act_w;
	z->second = 0;
	if (!tt_conv_splits(z->conv, z->plan, z->args->scheme, z->plan->channels))
		return;
	z->act = z->conv->config.reuse ? reused(z, first) : (uint64_t)first * z->plan->act_w;
	z->second = z->conv->config.reuse ? reused(z, last) : (uint64_t)last * z->plan->act_w;
}

/* Whether a core's result is made in more than one block of rows. */
static bool many_blocks(const struct tt_conv_plan *plan)
{
	return plan->out_h / plan->act_h > 1;
}

static uint64_t weight_tiles(const struct sizes *z)
{
	const struct tt_conv *conv = z->conv;
	uint64_t taps = z->plan->by_taps ? 1 : conv->kernel[1];
	uint64_t tiles =
		(uint64_t)z->plan->out_w * (z->depthwise ? z->plan->act_h * taps : z->plan->act_w);

	if (z->height && conv->config.reuse)
		return tiles;
	if (z->height && many_blocks(z->plan))
		return tiles * (z->plan->by_taps ? conv->kernel[1] : conv->kernel[0]);
	return conv->config.double_weights ? 2 * tiles : tiles;
}

/* Sums are kept in the result, unless they are of another type. */
static void partials(struct tt_conv_cb *out, const struct sizes *z)
{
	const struct tt_conv *conv = z->conv;
	uint64_t blocks = z->args->weight_rows / TT_TILE / z->plan->act_w;
	bool accumulate;
	enum ttnn_dtype dtype = conv->dtype;

	if (z->block)
		blocks *= z->args->weight_cols / TT_TILE / z->plan->out_w;
	accumulate = conv->l1_acc && ((conv->bias && blocks > 1) || blocks > 2);
	if (accumulate)
		dtype = conv->fp32 ? TTNN_FLOAT32 : TTNN_BFLOAT16;
	out->pages = z->depthwise ? 0 : (uint64_t)z->plan->act_h * z->plan->out_w;
	out->page = tt_tile_bytes_of(dtype);
	if (z->plan->by_taps && many_blocks(z->plan)) {
		/* Sums of a block of taps, which a result that stays cannot hold. */
		out->pages = z->act;
		out->page = z->out_tile;
	}
	out->borrowed =
		conv->config.out_layout != TTNN_ROW_MAJOR && dtype == conv->dtype && !z->depthwise;
}

static void activations(struct tt_conv_cb out[TT_CONV_CBS], const struct sizes *z)
{
	const struct tt_conv *conv = z->conv;
	bool same = (conv->in_dtype == TTNN_FLOAT32) == (conv->dtype == TTNN_FLOAT32) &&
		    !tt_dtype_is_block(conv->dtype);
	bool overlap = z->block && same && !z->args->alone;
	uint64_t twice = conv->config.double_act ? 2 : 1, rows = 0;

	out[TT_CONV_ACT].page = z->height ? z->in_tile : z->out_tile;
	out[TT_CONV_ACT].pages = twice * (z->height ? z->act : z->act + z->second);
	if (!z->height && z->args->alone)
		out[TT_CONV_ACT].pages = 0;
	out[TT_CONV_SECOND].page = z->in_tile;
	out[TT_CONV_SECOND].pages = overlap ? 0 : twice * z->second;
	if (z->args->scheme == TTNN_WIDTH_SHARDED)
		rows = 2 * (uint64_t)z->plan->act_w;
	else if (z->block)
		rows = twice * z->act;
	out[TT_CONV_ROWS].page = z->in_tile;
	out[TT_CONV_ROWS].pages = overlap ? 0 : rows;
}

void tt_conv_cbs(struct tt_conv_cb out[TT_CONV_CBS], const struct tt_conv *conv,
		 const struct tt_conv_cb_args *args)
{
	const struct tt_conv_plan *plan = args->plan;
	bool wide = conv->in_dtype == TTNN_FLOAT32;
	struct sizes z = {.conv = conv,
			  .plan = plan,
			  .args = args,
			  .in_tile = tt_tile_bytes_of(wide ? TTNN_FLOAT32 : TTNN_BFLOAT16),
			  .out_tile = tt_tile_bytes_of(conv->dtype),
			  .weight_tile = tt_tile_bytes_of(conv->config.weights_dtype),
			  .depthwise = tt_conv_is_depthwise_1d(conv),
			  .height = args->scheme == TTNN_HEIGHT_SHARDED,
			  .block = args->scheme == TTNN_BLOCK_SHARDED};

	for (int i = 0; i < TT_CONV_CBS; i++)
		out[i] = (struct tt_conv_cb){0};
	share_act(&z);
	out[TT_CONV_WEIGHTS] = (struct tt_conv_cb){weight_tiles(&z), z.weight_tile, false};
	partials(&out[TT_CONV_PARTIALS], &z);
	activations(out, &z);
	out[TT_CONV_TILIZED] =
		(struct tt_conv_cb){(uint64_t)plan->act_h * plan->act_w, z.out_tile, false};
	out[TT_CONV_BIAS] = (struct tt_conv_cb){conv->bias ? plan->out_w : 0, z.weight_tile, false};
	out[TT_CONV_OUT] =
		(struct tt_conv_cb){(uint64_t)plan->out_h * plan->out_w, z.out_tile, true};
	out[TT_CONV_INDICES] = (struct tt_conv_cb){1, (uint64_t)plan->out_h * TT_TILE * 2,
						   !conv->config.tables_in_dram};
	out[TT_CONV_SCRATCH] = (struct tt_conv_cb){1, SCRATCH_BYTES, false};
	out[TT_CONV_SHARD] = (struct tt_conv_cb){
		args->shard_height, (uint64_t)args->shard_width * (wide ? 4 : 2), true};
}
