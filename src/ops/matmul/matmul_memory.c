/*
 * matmul_memory.c: what programs of matrix products keep in L1. Each kind of config has the same
 * buffers in the same order, with other sizes and cores:
 *
 *	in0	blocks of a (cb_in0)          in1	blocks of b (cb_in1)
 *	shard	a in shards (cb_in0_sharded)  out	the result (cb_out)
 *	interm	sums on the way, where they are not of the result's type (cb_intermed0)
 *	bias	(cb_bias)                     transposed	of a (cb_in0_transposed)
 *
 * Blocks are double where more than one follows.
 *
 * Models the factories of matmul/device/factory of ttnn 0.81: matmul_multicore (memory_multi),
 * _reuse_optimized (memory_reuse), _reuse_mcast_2d, _reuse_mcast_1d (memory_cast_a,
 * memory_cast_b, and memory_gather for gather_in0), _reuse_mcast_dram_sharded and
 * _reuse_batched_hs_dram_sharded. Modelled are buffers with their sizes, pages, cores and the
 * tensors they stand for; not modelled are semaphores, arguments of kernels and who sends to
 * whom.
 */
#include "device/work_split.h"
#include "device/workers.h"
#include "ops/matmul/matmul.h"
#include "ops/mem_rows.h"
#include "ops/objects.h"

/* A buffer of this many tiles; none: no such buffer. */
struct part {
	uint64_t tiles;
	const ttnn_core_set *cores;
	struct tt_tensor *backing;
};

/* What a program keeps; bytes of tiles are found from the tensors. */
struct keep {
	struct part in0, in0_idle; /* on cores with work, and on those that only pass on */
	struct part shard_early;   /* before in1 */
	struct part in1, shard, out, interm, bias;
	bool separate; /* sums on the way have a place of their own */
};

static const struct tt_matmul_plan *plan_of(const struct tt_launch *launch)
{
	return launch->work;
}

static uint64_t aligned(const struct tt_launch *launch, uint64_t bytes)
{
	uint64_t out;

	return tt_round_up(&out, bytes, launch->device->limits.alignment) ? out : bytes;
}

static bool in_shards(const struct tt_tensor *tensor)
{
	return tt_memory_config_is_sharded(&tensor->spec.memory) && tensor->spec.memory.has_shard;
}

/* ---- sums on the way ---------------------------------------------------------------------------------- */

/*
 * The type of sums that wait between two steps of depth. float32 registers are kept as float32;
 * the packer adds in bfloat16 when it accumulates in L1 (packer_l1_acc) over several steps;
 * otherwise sums are of the result's type and need no buffer of their own.
 */
enum ttnn_dtype tt_matmul_sums(const struct tt_matmul *matmul, uint64_t steps)
{
	if (matmul->fp32)
		return TTNN_FLOAT32;
	return matmul->l1_acc && steps > 1 ? TTNN_BFLOAT16 : matmul->dtype;
}

static enum ttnn_dtype sums_of(const struct tt_matmul_plan *plan)
{
	return tt_matmul_sums(&plan->matmul, plan->config.k ? plan->matmul.k / plan->config.k : 1);
}

/* ---- rows ------------------------------------------------------------------------------------------------ */

/* A part without tiles or cores is no buffer. */
static tt_status add(struct tt_plan *plan, const struct part *part, uint64_t page)
{
	if (!part->tiles || !part->cores || !ttnn_core_set_cores(part->cores))
		return TTNN_OK;
	return TT_PLAN(plan, part->cores,
		       {.kind = TT_MEMORY_DATAFLOW_BUFFER,
			.pages = part->tiles,
			.page = page,
			.backing = part->backing});
}

static uint64_t tile_bytes(enum ttnn_dtype dtype, const struct ttnn_tile *tile)
{
	return tt_dtype_tile_bytes(dtype, tile);
}

/* Tiles that are read from banks take the room they take there. */
static uint64_t page_of(const struct tt_launch *launch, const struct tt_tensor *tensor, bool local)
{
	uint64_t bytes = tile_bytes(tensor->spec.dtype, &tensor->spec.tile);

	return local ? bytes : aligned(launch, bytes);
}

/*
 * Where a collective is in the program: circular buffers with fixed numbers, on all cores that take part. Behind one,
 * sums lie before the result and signals behind shards.
 */
static tt_status add_all_circular(struct tt_plan *plan, const struct tt_launch *launch,
				  const struct keep *keep)
{
	const struct tt_matmul *matmul = &plan_of(launch)->matmul;
	enum ttnn_dtype sums = sums_of(plan_of(launch));
	uint64_t page_a = page_of(launch, matmul->a, in_shards(matmul->a));
	uint64_t page_b = page_of(launch, matmul->b, keep->in1.backing != NULL);
	uint64_t page_sums = tile_bytes(sums, &matmul->tile);
	uint64_t bias = matmul->bias ? page_of(launch, matmul->bias, keep->bias.backing) : 0;
	bool apart = keep->separate || sums != matmul->dtype;
	bool behind = plan_of(launch)->fused == TT_MATMUL_BEHIND;
	const ttnn_core_set *cores = keep->in0.cores;

	if (keep->in0_idle.cores)
		TT_TRY(tt_core_set_merge(&cores, cores, keep->in0_idle.cores));
#define PART(index_, name_, part_, page_, when_)                                                   \
	TT_CB_ROW(index_, name_, .pages = (when_) ? (part_).tiles : 0, .page = (page_),            \
		  .backing = (part_).backing)
	return TT_PLAN(
		plan, cores, PART(0, "in0", keep->in0, page_a, true),
		PART(2, "in2", keep->shard_early, page_a, true),
		PART(1, "in1", keep->in1, page_b, true), PART(2, "in2", keep->shard, page_a, true),
		TT_CB_ROW(6, "l1_array", .pages = behind && keep->shard.tiles, .page = 64),
		PART(5, "interm0", keep->interm, page_sums, apart && behind),
		PART(4, "out", keep->out, tile_bytes(matmul->dtype, &matmul->tile), true),
		PART(5, "interm0", keep->interm, page_sums, apart && !behind),
		PART(3, "in3", keep->bias, bias, matmul->bias != NULL),
		TT_CB_ROW(10, "in0_transpose", .pages = matmul->transpose_a ? keep->in0.tiles : 0,
			  .page = page_a));
#undef PART
}

/*
 * Buffers in the order in which upstream makes them: addresses follow from it. interm shares the
 * memory of out when both are of one type and the result is not sharded, so it has a row only
 * otherwise.
 */
static tt_status add_all(struct tt_plan *plan, const struct tt_launch *launch,
			 const struct keep *keep)
{
	const struct tt_matmul *matmul = &plan_of(launch)->matmul;
	enum ttnn_dtype sums = sums_of(plan_of(launch));
	uint64_t page_a = page_of(launch, matmul->a, in_shards(matmul->a));
	uint64_t page_b = page_of(launch, matmul->b, keep->in1.backing != NULL);
	struct part transposed = keep->in0;

	if (plan_of(launch)->fused)
		return add_all_circular(plan, launch, keep);
	TT_TRY(add(plan, &keep->in0, page_a));
	TT_TRY(add(plan, &keep->in0_idle, page_a));
	TT_TRY(add(plan, &keep->shard_early, page_a));
	TT_TRY(add(plan, &keep->in1, page_b));
	TT_TRY(add(plan, &keep->shard, page_a));
	TT_TRY(add(plan, &keep->out, tile_bytes(matmul->dtype, &matmul->tile)));
	if (keep->separate || sums != matmul->dtype)
		TT_TRY(add(plan, &keep->interm, tile_bytes(sums, &matmul->tile)));
	if (matmul->bias)
		TT_TRY(add(plan, &keep->bias,
			   page_of(launch, matmul->bias, keep->bias.backing != NULL)));
	transposed.backing = NULL;
	return matmul->transpose_a ? add(plan, &transposed, page_a) : TTNN_OK;
}

/* ---- the sizes that all kinds with blocks share --------------------------------------------------------------- */

/*
 * Blocks of both operands are kept twice where more than one comes, so that one is read while the
 * other is used. A sharded result is its own buffer; sums then need one of their own if a core has
 * several blocks.
 */
static void keep_blocks(struct keep *keep, const struct tt_matmul_plan *plan,
			struct tt_tensor *output, const ttnn_core_set *working)
{
	const struct tt_matmul_config *config = &plan->config;
	uint64_t steps = plan->matmul.k / config->k;
	uint64_t batch_b = config->fuse_batch ? 1 : plan->matmul.batch_b;
	uint64_t batch_a = config->fuse_batch ? 1 : plan->matmul.batch_a;
	uint64_t blocks_a = steps * (batch_b > batch_a ? batch_b : batch_a);
	uint64_t blocks_b = config->kind == TT_MATMUL_2D ? blocks_a : steps * batch_b;
	bool local = in_shards(output);

	keep->in0 = (struct part){(uint64_t)config->block_h * config->k * (blocks_a > 1 ? 2 : 1),
				  working, NULL};
	keep->in1 = (struct part){(uint64_t)config->block_w * config->k * (blocks_b > 1 ? 2 : 1),
				  working, NULL};
	keep->interm = (struct part){(uint64_t)config->block_h * config->block_w, working, NULL};
	keep->out = keep->interm;
	if (local) {
		keep->out.tiles = (uint64_t)config->m * config->n;
		keep->out.backing = output;
	}
	keep->separate = local && (config->m != config->block_h || config->n != config->block_w);
	keep->bias = (struct part){config->block_w, working, NULL};
}

/*
 * Where the cores of a product begin: a sub-device decides, else allowed_worker_cores of its
 * config, else the corner.
 */
static tt_status first_core(struct ttnn_core *out, const struct tt_matmul_plan *plan)
{
	const ttnn_core_set *cores =
		plan->matmul.sub_device ? plan->matmul.sub_device : plan->config.allowed;
	struct ttnn_core_range box;

	*out = (struct ttnn_core){0, 0};
	if (!cores)
		return TTNN_OK;
	TT_TRY(tt_core_set_box(&box, cores));
	*out = box.start;
	return TTNN_OK;
}

/* ---- 2-D ---------------------------------------------------------------------------------------------------- */

/*
 * a in blocks may be on more columns (rows) than the result has: those cores compute nothing,
 * but they send their part of a, so they have the buffer that is sent from.
 */
static tt_status idle_2d(struct keep *keep, const struct tt_matmul_plan *plan,
			 const ttnn_core_set *working)
{
	const struct ttnn_shard_spec *shard = &plan->matmul.a->spec.memory.shard;
	const ttnn_core_set *all, *idle;

	TT_TRY(tt_core_set_merge(&all, working, shard->grid));
	TT_TRY(tt_core_set_subtract(&idle, all, working));
	keep->in0_idle = (struct part){keep->in0.tiles, idle, NULL};
	keep->shard =
		(struct part){(uint64_t)plan->config.m * (shard->width / plan->matmul.a_tile.width),
			      all, plan->matmul.a};
	return TTNN_OK;
}

/*
 * MatmulMultiCoreReuseMultiCast: a is sent along rows of cores, b along columns (the other way
 * round with transpose_mcast). The cores that have a block are a rectangle; others only pass on
 * their shard of a. The refusal is of tt-metal's dispatcher, which upstream reaches with a
 * program outside of the sub-device.
 */
static tt_status memory_2d(struct tt_plan *out, const struct tt_launch *launch)
{
	const struct tt_matmul_plan *plan = plan_of(launch);
	const struct tt_matmul_config *config = &plan->config;
	const struct ttnn_memory_config *a = &plan->matmul.a->spec.memory;
	const struct ttnn_memory_config *b = &plan->matmul.b->spec.memory;
	uint64_t rows = tt_div_up(tt_matmul_rows(&plan->matmul, config->fuse_batch), config->m);
	uint64_t cols = tt_div_up(plan->matmul.n, config->n);
	const ttnn_core_set *working;
	struct ttnn_core start;
	struct keep keep = {0};

	TT_TRY(first_core(&start, plan));
	TT_TRY(config->transpose_cast ? tt_matmul_rectangle(&working, start, rows, cols)
				      : tt_matmul_rectangle(&working, start, cols, rows));
	TT_REQUIRE(!plan->matmul.sub_device ||
			   tt_core_set_includes(plan->matmul.sub_device, working),
		   "num_intersections == num_cores",
		   "Kernel group cores do not match sub device cores for programmable core type "
		   "TENSIX");
	keep_blocks(&keep, plan, launch->outputs[0], working);
	if (a->layout == TTNN_BLOCK_SHARDED && a->has_shard)
		TT_TRY(idle_2d(&keep, plan, working));
	else if (a->layout == TTNN_HEIGHT_SHARDED && a->has_shard)
		keep.in0.backing = plan->matmul.a;
	if (b->layout == TTNN_WIDTH_SHARDED && b->buffer != TTNN_DRAM)
		keep.in1.backing = plan->matmul.b;
	return add_all(out, launch, &keep);
}

/* ---- 1-D ------------------------------------------------------------------------------------------------------ */

/* The first cores of the config's grid, row by row. */
static tt_status line_of_cores(const ttnn_core_set **out, const struct tt_matmul_plan *plan,
			       uint64_t count)
{
	const ttnn_core_set *grid;
	struct ttnn_core start;

	TT_TRY(first_core(&start, plan));
	TT_TRY(tt_matmul_rectangle(&grid, start, plan->config.grid.x, plan->config.grid.y));
	return tt_split_cores_in(out, grid, start, count, TTNN_ORIENT_ROW_MAJOR);
}

/*
 * mcast_in0: a goes to all cores, each has columns of b. Shards of a may be on more cores than
 * there is work for; those send and idle. b in L1 shards is multiplied where it is: its buffer
 * is the shard, all of K deep.
 */
static tt_status memory_cast_a(struct tt_plan *out, const struct tt_launch *launch)
{
	const struct tt_matmul_plan *plan = plan_of(launch);
	const struct tt_matmul_config *config = &plan->config;
	const struct tt_matmul *matmul = &plan->matmul;
	const ttnn_core_set *working, *all, *idle;
	uint64_t count = tt_div_up(matmul->n, config->n);
	struct keep keep = {0};

	TT_TRY(line_of_cores(&working, plan, count));
	keep_blocks(&keep, plan, launch->outputs[0], working);
	if (in_shards(matmul->a)) {
		const struct ttnn_shard_spec *shard = &matmul->a->spec.memory.shard;
		size_t holders = ttnn_core_set_cores(shard->grid);

		TT_TRY(line_of_cores(&all, plan, holders > count ? holders : count));
		TT_TRY(tt_core_set_subtract(&idle, all, working));
		keep.in0_idle = (struct part){keep.in0.tiles, idle, NULL};
		keep.shard =
			(struct part){(uint64_t)config->m * (shard->width / matmul->a_tile.width),
				      all, matmul->a};
	}
	if (in_shards(matmul->b) && matmul->b->spec.memory.buffer != TTNN_DRAM) {
		keep.in1.tiles = (uint64_t)config->n *
				 (matmul->b->spec.memory.shard.height / matmul->b_tile.height);
		keep.in1.backing = matmul->b;
		if (matmul->bias && in_shards(matmul->bias))
			keep.bias.backing = matmul->bias;
	}
	return add_all(out, launch, &keep);
}

/*
 * b goes to all cores; each core has its rows of a. A shard of a is the buffer itself if it is
 * used up in one go; when it is walked in blocks, upstream copies them out of the shard (cb_in2)
 * into a buffer of the whole, and so the small one stands before in1. With one a for many b, a
 * is read once and kept.
 */
static tt_status memory_cast_b(struct tt_plan *out, const struct tt_launch *launch)
{
	const struct tt_matmul_plan *plan = plan_of(launch);
	const struct tt_matmul_config *config = &plan->config;
	const struct tt_matmul *matmul = &plan->matmul;
	uint64_t rows = tt_div_up(tt_matmul_rows(matmul, config->fuse_batch), config->m);
	uint64_t whole = (uint64_t)config->m * matmul->k;
	const ttnn_core_set *working;
	struct keep keep = {0};

	TT_TRY(line_of_cores(&working, plan, rows));
	keep_blocks(&keep, plan, launch->outputs[0], working);
	if (in_shards(matmul->a)) {
		keep.in0.tiles = whole;
		if (matmul->k > config->k ||
		    (config->m > config->block_h && config->n > config->block_w))
			keep.shard_early = (struct part){(uint64_t)config->block_h * config->k,
							 working, matmul->a};
		else
			keep.in0.backing = matmul->a;
	} else if (matmul->batch_a == 1 && matmul->batch_b > 1) {
		keep.in0.tiles = whole;
	}
	return add_all(out, launch, &keep);
}

/* ---- whole matrices ---------------------------------------------------------------------------------------------- */

/*
 * Cores of the blocks: those of the first tensor in shards, else as many as there are blocks,
 * column by column.
 */
static tt_status cores_of_blocks(const ttnn_core_set **out, const struct tt_launch *launch)
{
	const struct tt_matmul_plan *plan = plan_of(launch);
	const struct tt_matmul_config *config = &plan->config;
	const struct tt_tensor *const leads[] = {plan->matmul.a, plan->matmul.b,
						 launch->outputs[0]};
	uint64_t blocks = (uint64_t)tt_matmul_rows(&plan->matmul, true) / config->m *
			  (plan->matmul.n / config->n);
	struct tt_work_split split;

	for (size_t i = 0; i < 3; i++)
		if (in_shards(leads[i])) {
			*out = leads[i]->spec.memory.shard.grid;
			return TTNN_OK;
		}
	TT_TRY(config->allowed
		       ? tt_split_work_in(&split, config->allowed, blocks, TTNN_ORIENT_COL_MAJOR)
		       : tt_split_work(&split, config->grid, blocks, TTNN_ORIENT_COL_MAJOR));
	*out = split.all;
	return TTNN_OK;
}

/*
 * MatmulMultiCoreReuse: every core multiplies matrices of its own, nothing is sent. Double
 * blocks of one matrix at a time; shards are buffers as they are.
 */
static tt_status memory_reuse(struct tt_plan *out, const struct tt_launch *launch)
{
	const struct tt_matmul_plan *plan = plan_of(launch);
	const struct tt_matmul_config *config = &plan->config;
	const struct tt_matmul *matmul = &plan->matmul;
	uint64_t rows = config->m < matmul->m ? config->m : matmul->m;
	const ttnn_core_set *cores;
	struct keep keep = {0};

	TT_TRY(cores_of_blocks(&cores, launch));
	keep.in0 = (struct part){2 * rows * config->k, cores, NULL};
	keep.in1 = (struct part){2ull * config->n * config->k, cores, NULL};
	keep.interm = (struct part){(uint64_t)config->m * config->n, cores, NULL};
	keep.out = keep.interm;
	if (in_shards(matmul->a)) {
		keep.in0.tiles = (uint64_t)config->m * config->k;
		keep.in0.backing = matmul->a;
	}
	if (in_shards(matmul->b)) {
		keep.in1.tiles = tt_shard_tiles(&matmul->b->spec);
		keep.in1.backing = matmul->b;
	}
	if (in_shards(launch->outputs[0]))
		keep.out.backing = launch->outputs[0];
	keep.bias = (struct part){rows * config->n, cores, NULL};
	return add_all(out, launch, &keep);
}

/* ---- b in DRAM, by banks -------------------------------------------------------------------------------------------- */

#define BANKS_MAX 32

/* The cores that read the banks, one for each: those nearest to the bank's own port, on NoC 0. */
static tt_status bank_readers(struct ttnn_core *out, const struct tt_launch *launch)
{
	if (launch->device->info.dram_banks > BANKS_MAX)
		return tt_fail(TTNN_UNSUPPORTED, "a device has more than %d DRAM banks", BANKS_MAX);
	return tt_workers_dram(out, &launch->device->workers, 0);
}

static void widen(struct ttnn_core_range *box, const struct ttnn_core_range *by)
{
	box->start.x = box->start.x < by->start.x ? box->start.x : by->start.x;
	box->start.y = box->start.y < by->start.y ? box->start.y : by->start.y;
	box->end.x = box->end.x > by->end.x ? box->end.x : by->end.x;
	box->end.y = box->end.y > by->end.y ? box->end.y : by->end.y;
}

/*
 * The rectangle around the readers of so many banks and the cores that hold a, and optionally the result:
 * upstream makes its buffers on all of it, since a is sent to the readers by a rectangular multicast.
 */
static tt_status dram_cores(const ttnn_core_set **out, const struct tt_launch *launch,
			    uint64_t banks, const struct tt_tensor *result)
{
	const struct tt_tensor *const holders[] = {launch->inputs[0], result};
	struct ttnn_core readers[BANKS_MAX];
	struct ttnn_core_range box, one;

	TT_TRY(bank_readers(readers, launch));
	box = (struct ttnn_core_range){readers[0], readers[0]};
	for (uint64_t i = 1; i < banks; i++)
		widen(&box, &(struct ttnn_core_range){readers[i], readers[i]});
	for (size_t i = 0; i < 2; i++)
		if (holders[i] && in_shards(holders[i])) {
			TT_TRY(tt_core_set_box(&one, holders[i]->spec.memory.shard.grid));
			widen(&box, &one);
		}
	return ttnn_core_set_make(out, &box, 1);
}

#define DEST_TILES 8 /* of a subblock; half of it in float32 */

/*
 * How wide the result of a core is kept: whole subblocks of one row. Where the widest that divides `width` is narrower
 * than the registers are, a wider one is taken that leaves fewer subblocks, the last of them not full.
 */
static uint64_t dram_width(uint64_t width, const struct tt_matmul *matmul)
{
	uint64_t most = matmul->fp32 ? DEST_TILES / 2 : DEST_TILES, sub = most, count;

	while (width % sub)
		sub--;
	count = width / sub;
	for (uint64_t wider = sub + 1; wider <= most; wider++)
		if (tt_div_up(width, wider) < count) {
			sub = wider;
			count = tt_div_up(width, wider);
		}
	return sub * count;
}

/* Weights are kept three steps deep, a two. Several workers of a bank share its width. */
static tt_status memory_dram(struct tt_plan *out, const struct tt_launch *launch)
{
	const struct tt_matmul_plan *plan = plan_of(launch);
	const struct tt_matmul_config *config = &plan->config;
	const struct tt_matmul *matmul = &plan->matmul;
	uint64_t steps = matmul->k / config->k;
	uint64_t width = matmul->b->spec.memory.shard.width / matmul->b_tile.width, out_width,
		 banks;
	const ttnn_core_set *cores = launch->device->grid;
	struct keep keep = {0};

	if (config->bank_workers > 1) {
		TT_REQUIRE(width % config->bank_workers == 0,
			   "in1_shard_width_tiles % workers_per_bank == 0",
			   "DRAM-sharded matmul weight shard width %llu tiles per bank must be "
			   "divisible by workers_per_bank %u",
			   (unsigned long long)width, config->bank_workers);
		width /= config->bank_workers;
	} else {
		banks = tt_div_up(matmul->n, width); /* the others hold padding alone */
		width = tt_div_up(matmul->n, banks);
		TT_TRY(dram_cores(&cores, launch, banks, NULL));
	}
	out_width = dram_width(width, matmul);
	keep.in0 =
		(struct part){(uint64_t)config->m * config->k * (steps > 1 ? 2 : 1), cores, NULL};
	keep.in1 = (struct part){width * config->k * (steps > 1 ? 3 : 1), cores, NULL};
	keep.out = keep.interm = (struct part){config->m * out_width, cores, NULL};
	keep.bias = (struct part){out_width, cores, NULL};
	return add_all(out, launch, &keep);
}

/*
 * The core that holds a shard must be the one that reads the bank of the same number: batched
 * weights are not sent on.
 */
static tt_status check_holders(const struct tt_launch *launch, const struct tt_tensor *tensor,
			       bool input)
{
	uint32_t banks = launch->device->info.dram_banks;
	const char *what = input ? "Input" : "Output";
	struct ttnn_core readers[BANKS_MAX];
	const ttnn_core_set *grid;

	if (!in_shards(tensor))
		return TTNN_OK;
	grid = tensor->spec.memory.shard.grid;
	TT_REQUIRE(ttnn_core_set_cores(grid) == banks,
		   input ? "input_storage_cores_ordered.size() == num_workers"
			 : "output_storage_cores_ordered.size() == num_workers",
		   "%s storage cores (%zu) must match number of workers/DRAM banks (%u)", what,
		   ttnn_core_set_cores(grid), banks);
	TT_TRY(bank_readers(readers, launch));
	for (uint32_t i = 0; i < banks; i++) {
		struct ttnn_core core =
			tt_core_set_at(grid, i, tensor->spec.memory.shard.orientation);

		TT_REQUIRE(core.x == readers[i].x && core.y == readers[i].y,
			   input ? "input_storage_cores_ordered[i] == all_worker_cores_ordered[i]"
				 : "output_storage_cores_ordered[i] == all_worker_cores_ordered[i]",
			   "%s storage core ordering mismatch at index %u", what, i);
	}
	return TTNN_OK;
}

/* Factory's own refusal: a core has whole matrices. */
static tt_status check_matrices(const struct tt_matmul_plan *plan)
{
	const struct tt_matmul_config *config = &plan->config;

	TT_REQUIRE(config->m == plan->matmul.m, "per_core_M == M",
		   "For batch sharding, per_core_M (%u) must equal M (%u)", config->m,
		   plan->matmul.m);
	TT_REQUIRE(config->n == plan->matmul.n, "per_core_N == N",
		   "For batch sharding, per_core_N (%u) must equal N (%u)", config->n,
		   plan->matmul.n);
	return TTNN_OK;
}

/*
 * Each reader has whole matrices of b, and those of a and the result that belong to them.
 * Weights are kept three steps deep, as in memory_dram().
 */
static tt_status memory_batched_dram(struct tt_plan *out, const struct tt_launch *launch)
{
	const struct tt_matmul_plan *plan = plan_of(launch);
	const struct tt_matmul_config *config = &plan->config;
	const struct tt_matmul *matmul = &plan->matmul;
	uint64_t area = (uint64_t)config->m * config->n;
	uint64_t matrices = tt_div_up(matmul->batch_a, launch->device->info.dram_banks);
	const ttnn_core_set *cores;
	struct keep keep = {0};

	TT_TRY(check_matrices(plan));
	TT_TRY(check_holders(launch, matmul->a, true));
	TT_TRY(check_holders(launch, launch->outputs[0], false));
	TT_TRY(dram_cores(&cores, launch, launch->device->info.dram_banks, launch->outputs[0]));
	keep.in0 = (struct part){2ull * config->m * config->k, cores, NULL};
	keep.in1 = (struct part){3ull * config->n * config->k, cores, NULL};
	keep.out = (struct part){matrices * area, cores, NULL};
	keep.interm = (struct part){area, cores, NULL};
	keep.separate = matrices > 1 && matmul->k > config->k;
	return add_all(out, launch, &keep);
}

/* ---- shards of a that go round -------------------------------------------------------------------------------------- */

/* This factory still has circular buffers with fixed numbers. */
static tt_status add_circular(struct tt_plan *plan, uint32_t index, const struct part *part,
			      uint64_t page)
{
	return tt_plan_empty(plan, &(struct tt_buffer_row){.kind = TT_MEMORY_CIRCULAR_BUFFER,
							   .index = index,
							   .pages = part->tiles,
							   .page = page,
							   .cores = part->cores,
							   .backing = part->backing});
}

/*
 * The cores of the ring and those that pass it on: within each rectangle of a sub-device's cores, the smallest
 * rectangle around them.
 */
static tt_status ring_cores(const ttnn_core_set **out, const struct tt_launch *launch)
{
	const ttnn_core_set *own = launch->grid;
	const struct tt_matmul_plan *plan = plan_of(launch);
	const struct ttnn_core_range *ranges;
	const ttnn_core_set *working;
	struct ttnn_core_range box;
	size_t count;

	TT_TRY(tt_core_set_merge(&working, plan->matmul.a->spec.memory.shard.grid,
				 plan->config.hops));
	*out = NULL;
	if (plan->taken)
		TT_TRY(tt_core_set_subtract(&own, own, plan->taken));
	ranges = ttnn_core_set_ranges(own, &count);
	for (size_t i = 0; i < count; i++) {
		const ttnn_core_set *range, *part;
		bool wide =
			ranges[i].end.x > ranges[i].start.x && ranges[i].end.y > ranges[i].start.y;

		TT_TRY(ttnn_core_set_make(&range, &ranges[i], 1));
		TT_TRY(tt_core_set_intersect(&part, working, range));
		if (ttnn_core_set_cores(part) == 0)
			continue;
		TT_TRY(tt_core_set_box(&box, part));
		if (wide)
			TT_TRY(ttnn_core_set_make(&part, &box, 1));
		if (*out)
			TT_TRY(tt_core_set_merge(out, *out, part));
		else
			*out = part;
	}
	TT_NEED(*out, "The shards of input A are not on cores of the sub-device");
	return TTNN_OK;
}

tt_status tt_matmul_add_sent(struct tt_plan *out, const struct tt_launch *launch,
			     const ttnn_core_set *cores, uint64_t page, uint64_t block)
{
	const struct ttnn_value *ring = plan_of(launch)->matmul.global_cb.items;
	const struct ttnn_value *senders = &ring[TT_GLOBAL_CB_SENDERS];
	uint64_t size = (uint64_t)ring[TT_GLOBAL_CB_SIZE].integer;
	struct part sent = {0, cores, ring[TT_GLOBAL_CB_ROOM].tensor};
	const ttnn_core_set *all = NULL;

	TT_NEED(block > 0, "A product through a global circular buffer has blocks of tiles");
	sent.tiles = size / (block * page) * block;
	for (uint32_t i = 0; i < senders->count; i++) {
		const struct ttnn_core core = senders->items[i].core;
		const ttnn_core_set *sender;

		TT_TRY(ttnn_core_set_make(&sender, &(struct ttnn_core_range){core, core}, 1));
		TT_TRY(tt_core_set_merge(&all, sender, all));
		TT_TRY(tt_core_set_merge(&all, all,
					 ring[TT_GLOBAL_CB_RECEIVERS].items[i].core_set));
	}
	TT_REQUIRE(tt_core_set_includes(all, cores),
		   "global_circular_buffer.impl().all_cores().contains(this->core_ranges_)",
		   "Specified cores are not contained in associated GlobalCircularBuffer");
	return add_circular(out, plan_of(launch)->first_buffer + 1, &sent, page);
}

/*
 * gather_in0, a ring: each core multiplies its shard of a with the matching rows of its b and
 * passes it on, so that every core has seen all of a after as many steps as there are cores. Two
 * rows of 16 bytes are the signals of the ring. The numbers of buffers are fixed, since a
 * prefetcher on other cores writes into them.
 */
static tt_status memory_gather(struct tt_plan *out, const struct tt_launch *launch)
{
	const struct tt_matmul_plan *plan = plan_of(launch);
	const struct tt_matmul *matmul = &plan->matmul;
	const struct ttnn_shard_spec *a = &matmul->a->spec.memory.shard;
	uint64_t width = a->width / matmul->a_tile.width, size = ttnn_core_set_cores(a->grid),
		 page_a = tile_bytes(matmul->a->spec.dtype, &matmul->a->spec.tile);
	uint64_t page_b = tile_bytes(matmul->b->spec.dtype, &matmul->b->spec.tile);
	uint32_t first = plan->first_buffer;
	enum ttnn_dtype sums = tt_matmul_sums(matmul, size);
	struct part shard = {plan->config.m * width, NULL, matmul->a}, others, weights, signal,
		    result;
	const ttnn_core_set *cores;

	TT_TRY(ring_cores(&cores, launch));
	shard.cores = cores;
	others = (struct part){shard.tiles * (size - 1), cores, NULL};
	weights = (struct part){2 * plan->config.n * width, cores, NULL};
	signal = (struct part){1, cores, NULL};
	result = (struct part){(uint64_t)plan->config.m * plan->config.n, cores, NULL};
	if (in_shards(matmul->b) && matmul->b->spec.memory.buffer != TTNN_DRAM)
		weights = (struct part){tt_shard_tiles(&matmul->b->spec), cores, matmul->b};
	TT_TRY(add_circular(out, first, &shard, page_a));
	if (tt_value_given(&matmul->global_cb))
		TT_TRY(tt_matmul_add_sent(out, launch, cores, page_b, plan->config.n * width));
	else
		TT_TRY(add_circular(out, first + 1, &weights, page_b));
	if (others.tiles)
		TT_TRY(add_circular(out, first + 2, &others, page_a));
	TT_TRY(add_circular(out, first + 3, &signal, 16));
	TT_TRY(add_circular(out, first + 4, &signal, 16));
	if (sums != matmul->dtype)
		TT_TRY(add_circular(out, first + 6, &result, tile_bytes(sums, &matmul->tile)));
	for (uint32_t i = 0; i < (matmul->also ? 2 : 1); i++) {
		result.backing = launch->outputs[i];
		TT_TRY(add_circular(out, first + 5 + 2 * i, &result,
				    tile_bytes(matmul->dtype, &matmul->tile)));
	}
	return TTNN_OK;
}

/* ---- any tile on any core ----------------------------------------------------------------------------------------------- */

/*
 * MatmulMultiCore: one tile of the result at a time, two of each operand; every operand tile is
 * read as often as it is needed. What upstream falls back to.
 */
static tt_status memory_multi(struct tt_plan *out, const struct tt_launch *launch)
{
	const struct tt_matmul_plan *plan = plan_of(launch);
	const struct tt_matmul *matmul = &plan->matmul;
	uint64_t tiles = (uint64_t)tt_matmul_rows(matmul, true) * matmul->n;
	struct tt_work_split split;
	struct keep keep = {0};

	TT_TRY(plan->config.allowed
		       ? tt_split_work_in(&split, plan->config.allowed, tiles,
					  TTNN_ORIENT_COL_MAJOR)
		       : tt_split_work(&split, matmul->full_grid, tiles, TTNN_ORIENT_COL_MAJOR));
	keep.in0 = keep.in1 = keep.out = (struct part){2, split.all, NULL};
	return add_all(out, launch, &keep);
}

/* The factory of each kind of config. */
tt_status tt_matmul_memory(struct tt_plan *out, const struct tt_launch *launch)
{
	const struct tt_matmul_config *config = &plan_of(launch)->config;

	switch (config->kind) {
	case TT_MATMUL_MULTI:
		return memory_multi(out, launch);
	case TT_MATMUL_REUSE:
		return memory_reuse(out, launch);
	case TT_MATMUL_2D:
		return memory_2d(out, launch);
	case TT_MATMUL_BATCHED_DRAM:
		return memory_batched_dram(out, launch);
	case TT_MATMUL_1D:
		if (config->gather_a)
			return memory_gather(out, launch);
		return config->cast_a ? memory_cast_a(out, launch) : memory_cast_b(out, launch);
	default:
		return memory_dram(out, launch);
	}
}
