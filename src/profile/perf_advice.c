/* What may help an operation, in the words of tt-perf-report 1.4 where it has any. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "profile/perf_op.h"

/* ---- fidelity of products --------------------------------------------------------------------------------- */

enum verdict { SUFFICIENT, TOO_LOW, TOO_HIGH, UNJUDGED };

/* How precise operands and result are decides what their product needs. */
enum precision { WIDE_IN, WIDE_IN_SHORT_OUT, BLOCK, BLOCK_SHORT_OUT, SHORT_WEIGHTS, PRECISIONS };

static const char bf16_low[] =
	"If your matmuls are not FLOP-bound use HiFi4 with BF16 activations for full accuracy";
static const char bfp8_high[] =
	"HiFi2 is sufficient for BFP8 multiplication and has 2x the throughput of HiFi4";
static const char bfp8_higher[] =
	"HiFi2 is sufficient for BFP8 multiplication and has higher throughput than HiFi3";
static const char lofi_maybe[] =
	"LoFi might also be sufficient with BFP4 output and has almost 2x the throughput of HiFi2";
static const char lofi_enough[] =
	"LoFi is sufficient with BFP4 weights, use it for much higher throughput";

/* By precision and fidelity: LoFi, HiFi2, HiFi3, HiFi4. */
static const struct judgement {
	enum verdict verdict;
	const char *advice;
} judgements[PRECISIONS][4] = {
	[WIDE_IN] = {{TOO_LOW, "Use HiFi2 or HiFi4 with BF16 activations for improved accuracy"},
		     {TOO_LOW, bf16_low},
		     {TOO_LOW, bf16_low},
		     {SUFFICIENT,
		      "HiFi2 may also work, it discards the lowest bit of the activations "
		      "and has 2x the throughput of HiFi4"}},
	[WIDE_IN_SHORT_OUT] =
		{{TOO_LOW,
		  "HiFi2 may give better accuracy for large matmuls with many intermediate "
		  "accumulations"},
		 {SUFFICIENT, lofi_maybe},
		 {TOO_HIGH,
		  "HiFi2 is very likely to work for BFP4 output and has higher throughput than HiFi3"},
		 {TOO_HIGH,
		  "HiFi2 is very likely to work for BFP4 output; it discards the lowest bit "
		  "of the activations and has 2x the throughput of HiFi4"}},
	[BLOCK] = {{TOO_LOW,
		    "HiFi2 is recommended for accuracy; LoFi discards the lowest 2 bits of "
		    "the weights"},
		   {SUFFICIENT, NULL},
		   {TOO_HIGH, bfp8_higher},
		   {TOO_HIGH, bfp8_high}},
	[BLOCK_SHORT_OUT] = {{TOO_LOW, "HiFi2 may give slightly better accuracy for large matmuls "
				       "with many intermediate accumulations"},
			     {SUFFICIENT, lofi_maybe},
			     {TOO_HIGH, bfp8_higher},
			     {TOO_HIGH, bfp8_high}},
	[SHORT_WEIGHTS] = {{SUFFICIENT, NULL},
			   {TOO_HIGH, lofi_enough},
			   {TOO_HIGH, lofi_enough},
			   {TOO_HIGH, lofi_enough}},
};

/* Bits of a mantissa; 0: not one of these. */
static int bits_of(const char *type)
{
	static const struct {
		const char *name;
		int bits;
	} rows[] = {{"FLOAT32", 23}, {"BFLOAT16", 8}, {"BFLOAT8_B", 7}, {"BFLOAT4_B", 3}};

	for (size_t i = 0; i < TT_COUNT(rows); i++)
		if (strcmp(type, rows[i].name) == 0)
			return rows[i].bits;
	return 0;
}

static struct judgement judge(const struct tt_perf_op *op)
{
	static const char *const order[] = {"LoFi", "HiFi2", "HiFi3", "HiFi4"};
	int in0 = bits_of(op->in0_type), in1 = bits_of(op->in1_type), out = bits_of(op->out_type);
	enum precision precision;

	if (!in0 || !in1 || !out)
		return (struct judgement){UNJUDGED, NULL};
	if (in0 == 8 && out >= 7)
		precision = WIDE_IN;
	else if (in0 == 8)
		precision = WIDE_IN_SHORT_OUT;
	else if (in1 >= 7 && out >= 7)
		precision = BLOCK;
	else if (in1 >= 7)
		precision = BLOCK_SHORT_OUT;
	else
		precision = SHORT_WEIGHTS;
	for (int i = 0; i < 4; i++)
		if (strcmp(op->fidelity, order[i]) == 0)
			return judgements[precision][i];
	return (struct judgement){UNJUDGED, NULL};
}

/* ---- sentences -------------------------------------------------------------------------------------------- */

struct advice {
	struct tt_str *out;
	const char *between;
	bool any;
};

TTNN_PRINTF(2, 3) static void say(struct advice *advice, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (advice->any)
		tt_str_adds(advice->out, advice->between);
	tt_str_adds(advice->out, text);
	advice->any = true;
}

static void of_blocks(struct advice *advice, const struct tt_perf_op *op)
{
	bool good = true;
	int w = (int)op->block_w, h = (int)op->subblock_h, v = (int)op->subblock_w;

	if (!op->dram_sharded && w < 0 && h < 0 && v < 0) {
		say(advice,
		    "No program_config specified, try using one to override in0_block_w and "
		    "out_subblock_h/w");
		return;
	}
	if (w < 2) {
		good = false;
		if (w < 0)
			say(advice, "No inner dim block size found");
		else
			say(advice, "in0_block_w=%d is small, try in0_block_w=2 or above", w);
	}
	if (!op->dram_sharded && (h < 0 || v < 0)) {
		good = false;
		say(advice, "No output subblock size found");
	} else if (!op->dram_sharded && h * v < 2) {
		good = false;
		say(advice,
		    "Output subblock %dx%d is small, try out_subblock_h * out_subblock_w >= 2 if "
		    "possible",
		    h, v);
	}
	if (good && op->dram_sharded)
		say(advice, "in0_block_w=%d looks good 🤷", w);
	else if (good)
		say(advice, "in0_block_w=%d and output subblock %dx%d look good 🤷", w, h, v);
}

static void of_product(struct advice *advice, const struct tt_perf_op *op)
{
	struct judgement fidelity = judge(op);
	bool sparse = strstr(op->op_code, "SparseMatmul");

	if (strcmp(op->bound, "DRAM") == 0 || strcmp(op->bound, "BOTH") == 0) {
		if (!op->dram_sharded && !sparse)
			say(advice,
			    "Try a DRAM-sharded program config "
			    "(MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig) to improve "
			    "throughput further");
		if (fidelity.verdict == TOO_HIGH ||
		    (fidelity.verdict == TOO_LOW && op->flops_percent.value < 40))
			say(advice, "%s", fidelity.advice);
	} else if (strcmp(op->bound, "FLOP") == 0) {
		if (!op->dram_sharded && op->cores && op->cores < op->available)
			say(advice, "Increase grid size (currently using %u of %u)", op->cores,
			    op->available);
		if (fidelity.verdict == TOO_HIGH)
			say(advice, "%s", fidelity.advice);
	} else if (strcmp(op->bound, "SLOW") == 0) {
		if (*op->in0_memory && !strstr(op->in0_memory, "L1"))
			say(advice, "If possible place input 0 in L1 (currently in %s)",
			    op->in0_memory);
		of_blocks(advice, op);
		if (fidelity.advice)
			say(advice, "%s", fidelity.advice);
	}
}

/* A gap of more microseconds could be avoided by a captured trace. */
#define LONG_GAP_US 6.5

void tt_perf_advice(struct tt_str *out, const struct tt_perf_op *op, const char *between)
{
	struct advice advice = {out, between, false};

	if (op->signpost)
		return;
	if (op->category == TT_PERF_OF_HOST)
		say(&advice, "Move it to the device");
	if (strstr(op->op_code, "Matmul"))
		of_product(&advice, op);
	if (op->gap.known && op->gap.value > LONG_GAP_US)
		say(&advice, "The device waited %.0f us for the host", op->gap.value);
	if (op->us.known && op->cores && op->cores < 10 && 2 * op->cores < op->available &&
	    op->us.value > 1)
		say(&advice, "It uses %u of %u cores", op->cores, op->available);
}
