#include "device/perf.h"

#include <math.h>

#include "tensor/dtype.h"

/* Multiplications and additions of one core in a cycle at LoFi, and values pooled. */
#define PRODUCTS_PER_CYCLE 4096
#define POOLED_PER_CYCLE 2048

/* A count from a quotient; what divides by 0 is 0 (0 / 0) or as much as there is. */
static uint64_t whole(float value)
{
	if (!(value > 0))
		return 0;
	return value < 0x1p64f ? (uint64_t)value : UINT64_MAX;
}

/* ---- time of an operation ------------------------------------------------------------------- */

/* Bytes as the model counts them: block floats with one byte per element. */
static uint64_t model_bytes(const struct ttnn_tensor_spec *spec)
{
	return spec->rows * spec->cols * tt_dtype_bytes(spec->dtype);
}

static float tensor_ns(const struct tt_arch *arch, const struct ttnn_tensor_spec *spec)
{
	if (spec->memory.buffer != TTNN_DRAM)
		return 1;
	return (float)model_bytes(spec) / (float)arch->dram_gb_per_s / 1024 / 1024 / 1024 * 1000 *
	       1000 * 1000;
}

static void add_tensors(struct tt_perf *perf, const struct tt_arch *arch,
			const struct ttnn_tensor_spec *const *specs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		float ns = tensor_ns(arch, specs[i]);

		if (ns > (float)perf->bandwidth_ns)
			perf->bandwidth_ns = whole(ns);
	}
}

struct tt_perf tt_perf_ideal(const struct tt_arch *arch, const struct tt_perf_work *work)
{
	struct tt_perf perf = TT_PERF_NONE;
	float ghz = (float)arch->clock_mhz / 1000;

	perf.compute_ns = whole(ceilf((float)work->cycles / ghz));
	add_tensors(&perf, arch, work->inputs, work->input_count);
	add_tensors(&perf, arch, work->outputs, work->output_count);
	perf.ideal_ns = perf.compute_ns > perf.bandwidth_ns ? perf.compute_ns : perf.bandwidth_ns;
	return perf;
}

float tt_perf_request(const struct tt_perf *perf, const struct ttnn_tensor_spec *spec)
{
	return (float)model_bytes(spec) / (float)perf->ideal_ns;
}

/* ---- cycles of arithmetic ------------------------------------------------------------------- */

uint32_t tt_perf_passes(uint32_t code)
{
	if (code > 4)
		return 0;
	return code < 2 ? 1 : code;
}

uint64_t tt_perf_product_cycles(const struct tt_perf_product *product, uint32_t cores)
{
	double products = 2 * (double)product->k * (double)product->m * (double)product->n *
			  (double)product->batch;

	return whole(ceilf((float)products / (float)(cores * PRODUCTS_PER_CYCLE) *
			   (float)product->passes));
}

uint64_t tt_perf_pool_cycles(uint64_t values, uint32_t cores)
{
	return whole(ceilf((float)values / (float)(cores * POOLED_PER_CYCLE)));
}

/* ---- cycles of transfers --------------------------------------------------------------------- */

/* Larger transactions are not faster. */
#define BEST_TRANSACTION 2048

static uint64_t div_up(uint64_t a, uint64_t b)
{
	return whole(ceilf((float)a / (float)b));
}

/* One side of a move. */
struct side {
	const struct ttnn_tensor_spec *spec;
	bool dram, sharded;
	uint64_t transaction; /* bytes */
	uint64_t count;       /* transactions */
};

/* The rate of the nearer of the two powers of two around a size; rates: one of the columns. */
static float rate(const struct tt_noc_rates *table, const float *rates, uint64_t size)
{
	uint64_t lower = 1, upper;
	uint32_t low = 0, high = 0;

	while (lower <= size / 2)
		lower *= 2;
	upper = lower == size ? lower : lower * 2;
	while (low < table->count && table->size[low] < lower)
		low++;
	while (high < table->count && table->size[high] < upper)
		high++;
	low = low < table->count ? low : 0;
	high = high < table->count ? high : table->count - 1;
	return size - lower < upper - size ? rates[low] : rates[high];
}

/* Bytes that one step of a tensor moves. */
static uint64_t transaction(const struct ttnn_tensor_spec *spec, const struct ttnn_shape *shape,
			    bool sharded, uint64_t element)
{
	const struct ttnn_memory_config *memory = &spec->memory;
	uint64_t row = (shape->rank ? shape->dim[shape->rank - 1] : 1) * element;

	if (spec->layout == TTNN_TILE)
		return (uint64_t)spec->tile.height * spec->tile.width * element;
	if (!sharded)
		return row;
	row = memory->shard.width * element;
	if (memory->layout == TTNN_HEIGHT_SHARDED && memory->buffer != TTNN_DRAM) {
		row *= memory->shard.height;
		return row < BEST_TRANSACTION ? row : BEST_TRANSACTION;
	}
	return row;
}

static uint64_t volume(const struct ttnn_shape *shape)
{
	uint64_t product = 1;

	for (uint32_t i = 0; i < shape->rank; i++)
		product *= shape->dim[i];
	return product;
}

static struct side make_side(const struct ttnn_tensor_spec *spec, const struct ttnn_shape *shape,
			     uint64_t element)
{
	struct side side = {.spec = spec,
			    .dram = spec->memory.buffer == TTNN_DRAM,
			    .sharded = spec->memory.layout != TTNN_INTERLEAVED &&
				       spec->memory.has_shard};

	side.transaction = transaction(spec, shape, side.sharded, element);
	side.count = div_up(volume(shape) * element, side.transaction);
	return side;
}

/* The extent of a dimension counted from the end, 1 where there is none. */
static uint32_t extent(const struct ttnn_shape *shape, uint32_t from_end)
{
	return from_end <= shape->rank ? shape->dim[shape->rank - from_end] : 1;
}

static void write_face_rows(struct side *output, const struct ttnn_shape *from, uint64_t element)
{
	const struct ttnn_shape *to = &output->spec->padded;

	if (output->spec->layout != TTNN_TILE || extent(from, 1) != extent(to, 1) ||
	    extent(from, 2) == extent(to, 2))
		return;
	output->transaction = output->spec->tile.width / 2 * element;
	output->count = div_up(volume(&output->spec->shape) * element, output->transaction);
}

struct mover {
	const struct tt_noc *noc;
	const struct tt_perf_move *move;
	struct side in, out;
	uint32_t cores, lines; /* of the grid: all cores; rows and columns */
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* As many cores as the memory behind them can serve. */
static uint64_t dram_cores(const struct mover *m, const struct side *side)
{
	float one = rate(&m->noc->rates, m->noc->rates.dram, side->transaction);

	return least((uint64_t)ceilf((float)m->noc->dram_limit / one), m->cores);
}

static uint64_t l1_cores(const struct mover *m, const struct side *side)
{
	const struct tt_noc_rates *rates = &m->noc->rates;
	const float *column = side == &m->out ? rates->write : rates->read;
	float one = rate(rates, column, side->transaction);

	return least((uint64_t)ceilf((float)m->noc->l1_limit * (float)m->lines / one), m->cores);
}

/* Both sides are of one kind of memory: the slower side decides. */
static uint64_t shared_cores(const struct mover *m, uint64_t read, uint64_t write)
{
	read = least(read, m->in.count);
	write = least(write, m->out.count);
	return div_up(m->in.count, read) < div_up(m->out.count, write) ? write : read;
}

/* How many cores share the work. */
static uint64_t choose_cores(const struct mover *m)
{
	const struct side *dram = m->in.dram ? &m->in : &m->out;
	const struct side *l1 = m->in.dram ? &m->out : &m->in;
	uint64_t cores, others;

	if (m->in.dram && m->out.dram)
		return shared_cores(m, dram_cores(m, &m->in), dram_cores(m, &m->out));
	if (!m->in.dram && !m->out.dram)
		return shared_cores(m, l1_cores(m, &m->in), l1_cores(m, &m->out));
	cores = dram_cores(m, dram);
	others = l1_cores(m, l1);
	return div_up(dram->count, cores) < l1->count / others ? others : cores;
}

struct cycles {
	uint64_t transfer, latency;
};

static struct cycles side_cycles(const struct mover *m, const struct side *side, uint64_t cores,
				 bool local)
{
	const struct tt_noc_rates *rates = &m->noc->rates;
	uint64_t size = side->transaction > 16 ? side->transaction : 16;
	bool write = side == &m->out;
	const float *column = write ? rates->write : rates->read;
	struct cycles c = {0, write ? m->noc->write_latency : m->noc->read_latency};
	float bytes, per_second;

	if (local) {
		column = rates->local;
		c.latency = m->noc->local_latency;
	}
	if (side->dram) {
		column = rates->dram;
		c.latency = m->noc->dram_latency;
	}
	bytes = (float)(div_up(side->count, cores) * size) * (float)(m->noc->clock_ghz * 1e9);
	per_second = (float)((double)rate(rates, column, size) * 1e9);
	c.transfer = (uint64_t)ceilf(bytes / per_second);
	return c;
}

static uint64_t both_cycles(const struct mover *m, uint64_t cores, bool local)
{
	struct cycles read = side_cycles(m, &m->in, cores, local);
	struct cycles write = side_cycles(m, &m->out, cores, local);
	uint64_t reading = read.transfer + read.latency, writing = write.transfer + write.latency;

	if (m->move->output_only)
		return writing;
	if ((m->in.dram && m->out.dram) || m->move->local)
		return reading + write.transfer;
	return reading > writing ? reading : writing;
}

/* Whether every core finds what it writes in its own shard. */
static bool stays(const struct mover *m)
{
	return m->in.sharded && !m->in.dram && m->out.sharded && !m->out.dram &&
	       m->in.spec->memory.shard.grid == m->out.spec->memory.shard.grid;
}

uint64_t tt_perf_move_cycles(const struct tt_arch *arch, struct tt_grid grid,
			     const struct tt_perf_move *move)
{
	uint64_t element = tt_dtype_bytes(move->input->dtype), cores, own, cycles, most, compute;
	const struct ttnn_shape *from = move->joins ? &move->output->padded : &move->input->padded;
	const struct ttnn_shape *to = move->splits ? from : &move->output->padded;
	struct mover m = {.noc = &arch->noc,
			  .move = move,
			  .in = make_side(move->input, from, element),
			  .out = make_side(move->output, to, element),
			  .cores = grid.x * grid.y,
			  .lines = grid.x + grid.y};
	bool local;

	if (move->per_face_row)
		write_face_rows(&m.out, from, element);
	local = stays(&m) || move->local;
	cores = own = choose_cores(&m);
	if (local && m.out.sharded)
		own = ttnn_core_set_cores(m.out.spec->memory.shard.grid);
	cycles = both_cycles(&m, own, local);
	/* Going elsewhere for more cores can be faster than staying. */
	if (stays(&m) && cores > own && !move->local)
		cycles = least(cycles, both_cycles(&m, cores, false));
	if (move->compute_cycles == 0)
		return cycles;
	most = m.in.count > m.out.count ? m.in.count : m.out.count;
	compute = div_up(move->compute_cycles, least(m.cores, most));
	return compute > cycles ? compute : cycles;
}
