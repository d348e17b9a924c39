/*
 * One line of a performance report. Figures, names of categories and thresholds are those of tt-perf-report 1.4.
 */
#include "profile/perf_op.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/vec.h"

/* ---- chips ------------------------------------------------------------------------------------------------ */

/* A core of Wormhole, from the peaks of a chip of 72; of Blackhole, from its clock. To add one: a row. */
#define WORMHOLE                                                                                   \
	{                                                                                          \
		262.0 / 72, 148.0 / 72, 74.0 / 72 * 4 / 3, 74.0 / 72                               \
	}
#define AT_GHZ(ghz)                                                                                \
	{                                                                                          \
		4096 * (ghz) / 1000, 4096 * (ghz) / 1000 / 2, 4096 * (ghz) / 1000 / 3,             \
			4096 * (ghz) / 1000 / 4                                                    \
	}
static const struct tt_perf_chip chips[] = {
	{"wormhole", 64, 12, 288, WORMHOLE},
	{"blackhole", 110, 8, 512, AT_GHZ(1.35)},
	{"blackhole_p100", 110, 7, 448, AT_GHZ(1.35)},
	{"bh20", 20, 8, 512, AT_GHZ(1.35)},
	{"n1", 20, 8, 120, AT_GHZ(0.65)},
};

/* Other names of them. */
static const char *const aliases[][2] = {
	{"", "wormhole"},           {"wormhole_b0", "wormhole"},
	{"p100", "blackhole_p100"}, {"p100a", "blackhole_p100"},
	{"p150", "blackhole"},      {"p150a", "blackhole"},
	{"p150b", "blackhole"},     {"p150c", "blackhole"},
};

const struct tt_perf_chip *tt_perf_chip_find(const char *name)
{
	for (size_t i = 0; i < TT_COUNT(aliases); i++)
		if (strcasecmp(name, aliases[i][0]) == 0)
			name = aliases[i][1];
	for (size_t i = 0; i < TT_COUNT(chips); i++)
		if (strcasecmp(name, chips[i].name) == 0)
			return &chips[i];
	return NULL;
}

/* ---- categories ------------------------------------------------------------------------------------------- */

/* By the first word of an operation's name, with or without "DeviceOperation" behind; separated by blanks. */
static const struct {
	const char *name, *words;
} categories[TT_PERF_CATEGORIES] = {
	[TT_PERF_OF_COMPUTE] =
		{"Compute",
		 " AllGatherMatmul RMSAllGather ScaledDotProductAttentionDecode SdpaDecode "
		 "RotaryEmbeddingLlama RotaryEmbedding SDPAOperation OptimizedConvNew Conv2d Matmul "
		 "BinaryNg Binary Unary Pool2D UpSample UpsampleOperation GroupNorm GridSample "
		 "Accumulation LayerNorm ScaledDotProductAttention Reduce FastReduceNC ArgMax Softmax "
		 "Embeddings MinimalMatmulOp SparseMatmul IntImg GridSampleOperation MoeGroupedTopk "
		 "MaskedBincount OffsetCumsum UnifiedRoutedExpertFfn PostCombineReduce "},
	[TT_PERF_OF_CCL] =
		{"CCL",
		 " AllGather AllGatherAsync AllGatherConcat ReduceScatter ReduceScatterMinimalAsync "
		 "ReduceScatterMinimalDirect StridedReduceScatterAsync LlamaReduceScatter "
		 "DeepseekMoEReduceScatter StridedAllGatherAsync SliceReshardAsync "
		 "SelectiveReduceCombine ReduceToRootOp AllReduceAsync AllToAllAsync "
		 "AllToAllAsyncGeneric AllToAllDispatch AllToAllDispatchMetadata AllToAllCombine "
		 "AllBroadcast Broadcast SendAsync RecvAsync SendDirectAsync RecvDirectAsync Dispatch "
		 "Combine "},
	[TT_PERF_OF_TM] =
		{"TM",
		 " NLPCreateHeadsDecodeDeviceOperation NLPCreateQKVHeadsDecodeDeviceOperation "
		 "NLPConcatHeadsDecodeDeviceOperation Fold CreateQKVHeadsDeviceOperation "
		 "ConcatenateHeads Reshape ReshapeView Transpose Permute Slice PaddedSlice SliceWrite "
		 "Concat Split Repeat TilizeWithValPadding Tilize UntilizeWithUnpadding Untilize "
		 "Typecast NLPConcatHeads NlpCreateHeads Ternary FillPad PadDeviceOperation "},
	[TT_PERF_OF_DM] = {"DM", " PagedUpdateCacheDeviceOperation Move Copy InterleavedToSharded "
				 "ShardedToInterleaved InterleavedToShardedPartial "
				 "ShardedToInterleavedPartial Halo Where CloneOperation Reshard "},
	[TT_PERF_OF_HOST] = {"Host", " "},
	[TT_PERF_OF_OTHER] = {"Other", " "},
};

const char *tt_perf_category_name(enum tt_perf_category category)
{
	return categories[category].name;
}

static bool has_word(const char *words, const char *word, size_t length)
{
	for (const char *at = words; (at = strchr(at, ' ')) && at[1]; at++)
		if (strncmp(at + 1, word, length) == 0 && at[1 + length] == ' ')
			return true;
	return false;
}

static bool is_host(const char *op_code)
{
	return strstr(op_code, "(torch)");
}

static enum tt_perf_category category_of(const char *op_code)
{
	static const char tail[] = "DeviceOperation";
	size_t length, shorter;

	if (is_host(op_code))
		return TT_PERF_OF_HOST;
	op_code += strspn(op_code, " \t");
	length = strcspn(op_code, " \t");
	shorter = length > strlen(tail) &&
				  strncmp(op_code + length - strlen(tail), tail, strlen(tail)) == 0
			  ? length - strlen(tail)
			  : length;
	for (int i = 0; length && i < TT_PERF_CATEGORIES; i++)
		if (has_word(categories[i].words, op_code, length) ||
		    has_word(categories[i].words, op_code, shorter))
			return (enum tt_perf_category)i;
	return TT_PERF_OF_OTHER;
}

const char *tt_perf_limit_name(enum tt_perf_limit limit)
{
	static const char *const names[] = {[TT_PERF_UNKNOWN] = "",
					    [TT_PERF_COMPUTE_LIMIT] = "compute",
					    [TT_PERF_DRAM_LIMIT] = "DRAM",
					    [TT_PERF_DISPATCH_LIMIT] = "dispatch",
					    [TT_PERF_HOST_LIMIT] = "host"};

	return names[limit];
}

/* ---- headers and cells ------------------------------------------------------------------------------------ */

/* Their names; what one may have behind it in the later layouts. */
static const char *const names[TT_PERF_COLUMNS] = {
	[TT_PERF_OP_CODE] = "OP CODE",
	[TT_PERF_OP_TYPE] = "OP TYPE",
	[TT_PERF_CALL] = "GLOBAL CALL COUNT",
	[TT_PERF_OUTER] = "CALL",
	[TT_PERF_DEVICE] = "DEVICE ID",
	[TT_PERF_ARCH] = "DEVICE ARCH",
	[TT_PERF_ATTRIBUTES] = "ATTRIBUTES",
	[TT_PERF_FIDELITY] = "MATH FIDELITY",
	[TT_PERF_CORES] = "CORE COUNT",
	[TT_PERF_AVAILABLE] = "AVAILABLE WORKER CORE COUNT",
	[TT_PERF_HOST_START] = "HOST START TS",
	[TT_PERF_HOST_DURATION] = "HOST DURATION [ns]",
	[TT_PERF_LATENCY] = "OP TO OP LATENCY [ns]",
	[TT_PERF_DURATION] = "DEVICE KERNEL DURATION [ns]",
	[TT_PERF_BRISC] = "DEVICE BRISC KERNEL DURATION [ns]",
	[TT_PERF_COMPUTE] = "PM COMPUTE [ns]",
	[TT_PERF_BANDWIDTH] = "PM BANDWIDTH [ns]",
	[TT_PERF_IN0_W] = "INPUT_0_W",
	"INPUT_0_Z",
	"INPUT_0_Y",
	"INPUT_0_X",
	"INPUT_0_DATATYPE",
	"INPUT_0_MEMORY",
	"INPUT_1_W",
	"INPUT_1_Z",
	"INPUT_1_Y",
	"INPUT_1_X",
	"INPUT_1_DATATYPE",
	"INPUT_1_MEMORY",
	"OUTPUT_0_W",
	"OUTPUT_0_Z",
	"OUTPUT_0_Y",
	"OUTPUT_0_X",
	"OUTPUT_0_DATATYPE",
	"OUTPUT_0_MEMORY",
};
static const char padded[] = "_PAD[LOGICAL]";

tt_status tt_perf_header_read(struct tt_perf_header *out, const char *const *cells, size_t count)
{
	static const enum tt_perf_column needed[] = {TT_PERF_OP_CODE, TT_PERF_OP_TYPE,
						     TT_PERF_DURATION};

	for (int i = 0; i < TT_PERF_COLUMNS; i++) {
		size_t length = strlen(names[i]);

		out->at[i] = SIZE_MAX;
		for (size_t k = 0; k < count && out->at[i] == SIZE_MAX; k++)
			if (strncmp(cells[k], names[i], length) == 0 &&
			    (!cells[k][length] || strcmp(cells[k] + length, padded) == 0))
				out->at[i] = k;
	}
	for (size_t i = 0; i < TT_COUNT(needed); i++)
		if (out->at[needed[i]] == SIZE_MAX)
			return tt_fail(TTNN_FORMAT,
				       "this is no performance report: it has no column %s",
				       names[needed[i]]);
	out->late = out->at[TT_PERF_ARCH] != SIZE_MAX || out->at[TT_PERF_AVAILABLE] != SIZE_MAX;
	return TTNN_OK;
}

const char *tt_perf_cell(const struct tt_perf_header *header, enum tt_perf_column column,
			 const char *const *cells, size_t count)
{
	return header->at[column] < count ? cells[header->at[column]] : "";
}

struct tt_perf_number tt_perf_number_of(const char *cell)
{
	struct tt_perf_number out = {false, 0};
	char *end;

	if (!*cell)
		return out;
	out.value = strtod(cell, &end);
	end += strspn(end, " ");
	out.known = !*end && isfinite(out.value);
	return out;
}

/* A whole number from 1 to most; 0: it is none. */
static uint64_t whole(const char *cell, double most)
{
	struct tt_perf_number number = tt_perf_number_of(cell);

	if (!number.known || number.value < 1 || number.value > most ||
	    number.value != floor(number.value))
		return 0;
	return (uint64_t)number.value;
}

/* More cores than any chip has, longer extents than any tensor's: damaged cells. */
#define MOST_CORES ((double)(1 << 20))
#define MOST_EXTENT 4294967296.0

/* "32[1]" is 32. */
static double extent(const char *cell)
{
	char text[32];
	size_t length = strcspn(cell, "[");

	if (length >= sizeof(text))
		return 0;
	memcpy(text, cell, length);
	text[length] = '\0';
	return (double)whole(text, MOST_EXTENT);
}

/* ---- figures ---------------------------------------------------------------------------------------------- */

/* A line as it is read. */
struct line {
	const struct tt_perf_header *header;
	const char *const *cells;
	size_t count;
};

static const char *cell(const struct line *line, int column)
{
	return tt_perf_cell(line->header, (enum tt_perf_column)column, line->cells, line->count);
}

/* Bytes of an element: the digits of the type's name. */
static double type_bytes(const char *type)
{
	const char *digits = strpbrk(type, "0123456789");

	return digits ? strtod(digits, NULL) / 8 : 4;
}

/* Latencies below this tell of clocks that do not fit together. */
#define ABSURD_NS 1e6

static bool is_invalid(struct tt_perf_number ns, struct tt_perf_number gap)
{
	if (!ns.known || ns.value < 0)
		return true;
	return gap.known && gap.value < -ABSURD_NS && -gap.value > fmax(ns.value * 0.5, ABSURD_NS);
}

/* TFLOPs of a core; 0: the fidelity is not known. */
static double core_tflops(const struct tt_perf_chip *chip, const char *fidelity)
{
	static const char *const order[] = {"LoFi", "HiFi2", "HiFi3", "HiFi4"};

	for (int i = 0; i < 4; i++)
		if (strcmp(fidelity, order[i]) == 0)
			return chip->tflops[i];
	return 0;
}

/* A number that makes sense. */
static struct tt_perf_number known(double value)
{
	return (struct tt_perf_number){isfinite(value), isfinite(value) ? value : 0};
}

/* From the operations that were done, in the time that was taken. */
static void put_flops(struct tt_perf_op *op, const struct tt_perf_chip *chip, double flop)
{
	double peak = core_tflops(chip, op->fidelity) * 1e12 * op->cores;

	if (!op->us.known || op->us.value <= 0)
		return;
	op->tflops = known(flop / (op->us.value * 1e-6) / 1e12);
	if (peak > 0 && op->tflops.known)
		op->flops_percent = known(op->tflops.value * 1e14 / peak);
}

/* Elements of a tensor if all of its extents are known, else 0. */
static double volume(double *extents, const struct line *line, int first)
{
	double product = 1;

	for (int i = 0; i < 4; i++) {
		extents[i] = extent(cell(line, first + i));
		product *= extents[i];
	}
	return product;
}

static void put_dram(struct tt_perf_op *op, const struct tt_perf_chip *chip, double bytes)
{
	if (!op->us.known || op->us.value <= 0 || bytes <= 0)
		return;
	op->gb_s = known(bytes / (op->us.value * 1e-6) / 1e9);
	if (op->gb_s.known)
		op->dram_percent = known(op->gb_s.value / chip->dram_gb_s * 100);
}

/* At this share of a peak an operation is as good as it gets. */
#define BOUND_PERCENT 65

static const char *bound_of(const struct tt_perf_op *op)
{
	bool dram = op->dram_percent.value >= BOUND_PERCENT,
	     flops = op->flops_percent.value >= BOUND_PERCENT;

	if (!op->dram_percent.known || !op->flops_percent.known)
		return "";
	return dram && flops ? "BOTH" : dram ? "DRAM" : flops ? "FLOP" : "SLOW";
}

static void take_product(struct tt_perf_op *op, const struct tt_perf_chip *chip,
			 const struct line *line)
{
	static const int firsts[] = {TT_PERF_IN0_W, TT_PERF_IN1_W, TT_PERF_OUT_W};
	double extents[3][4], bytes = 0, batch;

	op->dram_sharded = strstr(cell(line, TT_PERF_ATTRIBUTES),
				  "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig");
	if (op->dram_sharded)
		op->cores = chip->dram_sharded_cores;
	for (int i = 0; i < 3; i++) {
		double elements = volume(extents[i], line, firsts[i]);

		if (elements <= 0) {
			op->size = "unknown shape";
			return;
		}
		if (strstr(cell(line, firsts[i] + 5), "DRAM"))
			bytes += elements * type_bytes(cell(line, firsts[i] + 4));
	}
	/* How much of a sparse product is done is not in the shapes. */
	if (strstr(op->op_code, "SparseMatmul"))
		return;
	batch = fmax(extents[0][0], extents[1][0]) * fmax(extents[0][1], extents[1][1]);
	if (batch > 1)
		snprintf(op->size_text, sizeof(op->size_text), "b={%.0f} x %.0f x %.0f x %.0f",
			 batch, extents[0][2], extents[0][3], extents[1][3]);
	else
		snprintf(op->size_text, sizeof(op->size_text), "%.0f x %.0f x %.0f", extents[0][2],
			 extents[0][3], extents[1][3]);
	op->size = op->size_text;
	put_dram(op, chip, bytes);
	put_flops(op, chip, 2 * extents[0][2] * extents[0][3] * extents[1][3] * batch);
	op->bound = bound_of(op);
}

/* The two numbers of "window_hw=(3;3); ". */
static bool read_window(double out[2], const char *attributes)
{
	const char *at = strstr(attributes, "window_hw");
	char *end;

	if (!at || strlen(at) < strlen("window_hw=("))
		return false;
	at += strlen("window_hw=(");
	out[0] = strtod(at, &end);
	if (*end != ';' && *end != ',')
		return false;
	out[1] = strtod(end + 1, &end);
	return *end == ')' && out[0] >= 1 && out[1] >= 1 && out[0] < MOST_EXTENT &&
	       out[1] < MOST_EXTENT;
}

static void take_convolution(struct tt_perf_op *op, const struct tt_perf_chip *chip,
			     const struct line *line)
{
	double rows = extent(cell(line, TT_PERF_OUT_W + 2)),
	       channels = extent(cell(line, TT_PERF_IN0_W + 3)),
	       columns = extent(cell(line, TT_PERF_IN1_W + 3)), window[2];

	if (rows <= 0 || channels <= 0 || columns <= 0 ||
	    !read_window(window, cell(line, TT_PERF_ATTRIBUTES))) {
		op->size = "unknown shape";
		return;
	}
	snprintf(op->size_text, sizeof(op->size_text), "%.0f x %.0f x %.0f", rows,
		 channels * window[0] * window[1], columns);
	op->size = op->size_text;
	put_flops(op, chip, 2 * rows * channels * window[0] * window[1] * columns);
}

/* ---- lines ------------------------------------------------------------------------------------------------ */

/* The number behind "name=" in the attributes; -1: there is none. */
static int64_t number_behind(const char *attributes, const char *name)
{
	const char *at = strstr(attributes, name);
	char *end;
	long number;

	if (!at)
		return -1;
	at += strlen(name);
	number = strtol(at, &end, 10);
	return end == at || number < 0 || number > 1000000 ? -1 : number;
}

static void take_config(struct tt_perf_op *op, const char *attributes)
{
	op->block_w = op->subblock_h = op->subblock_w = -1;
	if (!strstr(attributes, "program_config"))
		return;
	op->block_w = number_behind(attributes, "in0_block_w=");
	op->subblock_h = number_behind(attributes, "out_subblock_h=");
	op->subblock_w = number_behind(attributes, "out_subblock_w=");
}

/* When the device waits for the host longer than it works, nothing else matters; else the model says. */
static enum tt_perf_limit limit_of(const struct tt_perf_op *op, const struct line *line)
{
	struct tt_perf_number compute = tt_perf_number_of(cell(line, TT_PERF_COMPUTE)),
			      bandwidth = tt_perf_number_of(cell(line, TT_PERF_BANDWIDTH));

	if (op->category == TT_PERF_OF_HOST)
		return TT_PERF_HOST_LIMIT;
	if (op->signpost || !op->us.known)
		return TT_PERF_UNKNOWN;
	if (op->gap.known && op->gap.value > op->us.value)
		return TT_PERF_DISPATCH_LIMIT;
	if (!compute.known || !bandwidth.known || fmax(compute.value, bandwidth.value) <= 1)
		return TT_PERF_UNKNOWN;
	return compute.value >= bandwidth.value ? TT_PERF_COMPUTE_LIMIT : TT_PERF_DRAM_LIMIT;
}

/* Times and the gap before, as far as they make sense. */
static void take_times(struct tt_perf_op *op, struct tt_perf_state *state, const struct line *line)
{
	struct tt_perf_number ns = tt_perf_number_of(cell(line, TT_PERF_DURATION)),
			      gap = tt_perf_number_of(cell(line, TT_PERF_LATENCY)),
			      host = tt_perf_number_of(cell(line, TT_PERF_HOST_DURATION));

	op->invalid = is_invalid(ns, gap);
	if (!op->invalid && !op->signpost)
		op->us = (struct tt_perf_number){true, ns.value / 1000};
	if (state->any && gap.known && gap.value >= 0 &&
	    !((op->invalid || state->invalid) && gap.value > ABSURD_NS))
		op->gap = (struct tt_perf_number){true, gap.value / 1000};
	if (host.known && host.value >= 0)
		op->host_us = (struct tt_perf_number){true, host.value / 1000};
	if (op->signpost)
		return;
	state->any = true;
	state->invalid = op->invalid;
}

static uint64_t config_of(const struct line *line)
{
	uint64_t hash = 0;

	for (int i = TT_PERF_IN0_W; i <= TT_PERF_OUT_MEMORY; i++)
		hash = tt_hash(hash, cell(line, i), strlen(cell(line, i)) + 1);
	return hash;
}

void tt_perf_op_read(struct tt_perf_op *op, struct tt_perf_state *state,
		     const struct tt_perf_header *header, const char *const *cells, size_t count)
{
	const struct line line = {header, cells, count};
	struct tt_perf_number device = tt_perf_number_of(cell(&line, TT_PERF_DEVICE));

	*op = (struct tt_perf_op){
		.op_code = cell(&line, TT_PERF_OP_CODE),
		.size = "",
		.bound = "",
		.call = cell(&line, TT_PERF_CALL),
		.outer = whole(cell(&line, TT_PERF_OUTER), 9007199254740992.0),
		.signpost = strstr(cell(&line, TT_PERF_OP_TYPE), "signpost"),
		.device = device.known && device.value >= 0 && device.value < 1e9 &&
					  device.value == floor(device.value)
				  ? (int64_t)device.value
				  : -1,
		.cores = (uint32_t)whole(cell(&line, TT_PERF_CORES), MOST_CORES),
		.available = (uint32_t)whole(cell(&line, TT_PERF_AVAILABLE), MOST_CORES),
		.fidelity = cell(&line, TT_PERF_FIDELITY),
		.in0_type = cell(&line, TT_PERF_IN0_TYPE),
		.in1_type = cell(&line, TT_PERF_IN1_TYPE),
		.out_type = cell(&line, TT_PERF_OUT_TYPE),
		.in0_memory = cell(&line, TT_PERF_IN0_MEMORY),
	};
	op->config = config_of(&line);
	if (!op->available)
		op->available = state->cores;
	op->category = op->signpost ? TT_PERF_OF_OTHER : category_of(op->op_code);
	take_times(op, state, &line);
	take_config(op, cell(&line, TT_PERF_ATTRIBUTES));
	if (strstr(op->op_code, "Matmul"))
		take_product(op, state->chip, &line);
	else if (strstr(op->op_code, "OptimizedConvNew") || strstr(op->op_code, "Conv2d"))
		take_convolution(op, state->chip, &line);
	else if (is_host(op->op_code))
		op->bound = "HOST";
	op->limit = limit_of(op, &line);
}
