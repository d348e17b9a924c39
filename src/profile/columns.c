/* The columns of performance reports. */
#include "profile/columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"

/* ---- texts -------------------------------------------------------------------------------------------- */

/* Python leaves the others as they are. */
static const char *escape_of(unsigned char c)
{
	return c == '\\'   ? "\\\\"
	       : c == '\n' ? "\\n"
	       : c == '\r' ? "\\r"
	       : c == '\t' ? "\\t"
			   : NULL;
}

void tt_ops_repr(struct tt_str *out, const char *text)
{
	char quote = strchr(text, '\'') && !strchr(text, '"') ? '"' : '\'';

	tt_str_addc(out, quote);
	for (const char *at = text; *at; at++) {
		unsigned char c = (unsigned char)*at;
		const char *escape = escape_of(c);

		if (escape)
			tt_str_adds(out, escape);
		else if (c < 0x20 || c == 0x7f)
			tt_str_addf(out, "\\x%02x", c);
		else if (*at == quote)
			tt_str_addf(out, "\\%c", quote);
		else
			tt_str_addc(out, *at);
	}
	tt_str_addc(out, quote);
}

/* Thousandths of a number that is not near the middle of two, as text; false for others. */
static bool add_thousandths(struct tt_str *out, double number)
{
	double scaled = number * 1000, apart = scaled - floor(scaled);
	char text[TT_FMT_MAX];
	uint64_t whole;
	size_t length;

	if (!(scaled >= 0 && scaled < 1e12) || fabs(apart - 0.5) < 1e-4)
		return false;
	whole = (uint64_t)(scaled + 0.5);
	tt_str_addu(out, whole / 1000);
	/* A thousand more: so that zeros in front are digits too. */
	length = tt_fmt_u64(text, 1000 + whole % 1000);
	while (length > 2 && text[length - 1] == '0')
		length--;
	text[0] = '.';
	tt_str_add(out, text, length);
	return true;
}

void tt_ops_round3(struct tt_str *out, double number)
{
	char text[400], shortest[TT_FMT_MAX];

	if (add_thousandths(out, number))
		return;

	/* Rounds the number itself, half to even, as Python does; then the fewest digits. */
	snprintf(text, sizeof(text), "%.3f", number);
	tt_fmt_double(shortest, strtod(text, NULL));
	tt_str_adds(out, shortest);
}

double tt_ops_fpu_util(const struct tt_ops_row *row)
{
	const struct tt_ops_program *program = row->program;
	uint64_t ns = tt_ops_ns(row->kernel_end - row->kernel_begin, row->chip->clock_mhz);

	if (!ns)
		return 0;
	return 100.0 * (program->modelled ? (double)program->compute_ns : 1.0) / (double)ns;
}

/* ---- cells -------------------------------------------------------------------------------------------- */

/* What differs between layouts. To add one: a row here and its bit in the columns. */
struct layout {
	unsigned bit;
	const char *dims[4]; /* ends of the names of a tensor's extents */
	bool logical;        /* extents are written "padded[logical]" */
	const char *none;    /* in place of attributes that there are none of */
};
#define SEED 1u
#define MAIN 2u
#define BOTH (SEED | MAIN)

static const struct layout layouts[] = {
	[TTNN_DIALECT_SEED] = {SEED, {"_W", "_Z", "_Y", "_X"}, false, "None"},
	[TTNN_DIALECT_TT_METAL] = {MAIN,
				   {"_W_PAD[LOGICAL]", "_Z_PAD[LOGICAL]", "_Y_PAD[LOGICAL]",
				    "_X_PAD[LOGICAL]"},
				   true,
				   ""},
};

#define LOCS 64

struct tt_ops_csv {
	struct tt_ops_shape shape;
	const struct layout *layout;
	tt_ops_write_fn *write;
	void *context;
	struct tt_str line; /* what was not written yet */
	struct tt_str text; /* of one cell */
	bool there[80];     /* which columns there are */
	struct loc_cell {   /* of places that were written lately */
		const char *file, *name;
		uint32_t line;
		struct tt_str text;
	} locs[LOCS];
	tt_status status;
};

/* Room that is there for a number or the commas of blank cells. */
#define FEW 96

/* A cell is written behind what is in csv->line. */
typedef void cell_fn(struct tt_ops_csv *csv, const struct tt_ops_row *row);

/* A text as a cell; `commas`: they stay. */
static void put(struct tt_ops_csv *csv, const char *text, bool commas)
{
	struct tt_str *out = &csv->line;
	bool quoted = strpbrk(text, commas ? "\",\r\n" : "\"\r\n");

	if (quoted)
		tt_str_addc(out, '"');
	for (;;) {
		size_t plain = strcspn(text, "\",");

		tt_str_add(out, text, plain);
		text += plain;
		if (!*text)
			break;
		if (*text == '"')
			tt_str_adds(out, "\"\"");
		else
			tt_str_addc(out, commas ? ',' : ';');
		text++;
	}
	if (quoted)
		tt_str_addc(out, '"');
}

/* Where a few characters can be written behind the line; NULL when memory is exhausted. */
static inline char *few(struct tt_ops_csv *csv)
{
	struct tt_str *line = &csv->line;

	return line->room - line->length > FEW ? line->data + line->length : tt_str_room(line, FEW);
}

/* Two digits at a time: a line has some twenty numbers. */
static void put_number(struct tt_ops_csv *csv, uint64_t number)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930"
				    "31323334353637383940414243444546474849505152535455565758596061"
				    "62636465666768697071727374757677787980818283848586878889909192"
				    "93949596979899";
	char text[24], *at = text + sizeof(text), *to = few(csv);

	for (; number >= 100; number /= 100)
		memcpy(at -= 2, &pairs[2 * (number % 100)], 2);
	if (number >= 10)
		memcpy(at -= 2, &pairs[2 * number], 2);
	else
		*--at = (char)('0' + number);
	if (!to)
		return;
	memcpy(to, at, (size_t)(text + sizeof(text) - at));
	tt_str_end(&csv->line, to + (text + sizeof(text) - at));
}

/* The text that was gathered. */
static void put_gathered(struct tt_ops_csv *csv)
{
	put(csv, tt_str_text(&csv->text), false);
	tt_str_clear(&csv->text);
}

/* What a program said, which may be any bytes: readers of the file take UTF-8 alone. */
static void put_said(struct tt_ops_csv *csv, const char *text)
{
	size_t length = text ? strlen(text) : 0;
	char utf8[4];
	uint32_t code;

	for (size_t at = 0; at < length;) {
		at += tt_utf8_get(&code, text + at, length - at);
		tt_str_add(&csv->text, utf8, tt_utf8_put(utf8, code));
	}
	put_gathered(csv);
}

static bool is_op(const struct tt_ops_row *row)
{
	return row->kind == TT_OPS_DEVICE || row->kind == TT_OPS_HOST;
}

static void op_code(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	if (row->program)
		put(csv, row->program->op_code, false);
	else
		put_said(csv, row->text);
}

static void op_type(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	static const char *const words[] = {[TT_OPS_DEVICE] = "tt_dnn_device",
					    [TT_OPS_HOST] = "python_fallback",
					    [TT_OPS_SIGNPOST] = "signpost",
					    [TT_OPS_TRACE] = ""};

	put(csv, words[row->kind], false);
}

static void call_count(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	if (is_op(row))
		put_number(csv, row->call);
}

static void device_id(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	if (row->kind == TT_OPS_DEVICE)
		put_number(csv, row->device);
}

static void device_arch(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	if (row->ran)
		put(csv, row->chip->arch, false);
}

static void attributes(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	const struct tt_ops_attributes *all = row->program ? row->program->attributes : NULL;

	if (!row->program) {
		put_said(csv, row->message);
		return;
	}
	if (!all) {
		put(csv, csv->layout->none, false);
		return;
	}
	tt_str_addc(&csv->text, '{');
	for (uint32_t i = 0; i < all->count; i++) {
		if (i)
			tt_str_adds(&csv->text, ", ");
		tt_ops_repr(&csv->text, all->rows[i].name);
		tt_str_adds(&csv->text, ": ");
		tt_ops_repr(&csv->text, all->rows[i].text);
	}
	tt_str_addc(&csv->text, '}');
	put_gathered(csv);
}

static void math_fidelity(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	if (row->program && row->program->fidelity)
		put(csv, row->program->fidelity, false);
}

static void core_count(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	if (row->ran && row->program->cores)
		put_number(csv, row->program->cores);
}

static void available_cores(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	if (row->ran && row->chip->cores)
		put_number(csv, row->chip->cores);
}

static void host_start(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	put_number(csv, row->begin_ns);
}

static void host_end(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	if (is_op(row))
		put_number(csv, row->begin_ns + row->duration_ns);
}

static void host_duration(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	if (is_op(row))
		put_number(csv, row->duration_ns);
}

static void fw_start(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	if (row->ran)
		put_number(csv, row->fw_begin);
}

static void fw_end(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	if (row->ran)
		put_number(csv, row->fw_end);
}

static void latency(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	if (row->has_latency)
		tt_str_addi(&csv->line, row->latency);
}

static void put_cycles(struct tt_ops_csv *csv, const struct tt_ops_row *row, uint64_t cycles)
{
	if (row->ran)
		put_number(csv, tt_ops_ns(cycles, row->chip->clock_mhz));
}

static void fw_duration(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	put_cycles(csv, row, row->fw_end - row->fw_begin);
}

static void kernel_duration(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	put_cycles(csv, row, row->kernel_end - row->kernel_begin);
}

static void put_busy(struct tt_ops_csv *csv, const struct tt_ops_row *row, uint64_t ns)
{
	if (row->ran && row->has_busy)
		put_number(csv, ns);
}

static void busy_min(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	put_busy(csv, row, row->busy_min);
}

static void busy_max(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	put_busy(csv, row, row->busy_max);
}

static void busy_avg(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	put_busy(csv, row, row->busy_avg);
}

static void first_to_last(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	put_busy(csv, row, row->starts);
}

/* One tensor: its cells, or as many blank ones. */
static void put_tensor(struct tt_ops_csv *csv, const struct tt_ops_tensor *tensor)
{
	struct tt_str *out = &csv->line;

	if (!tensor) {
		tt_str_adds(out, ",,,,,,");
		return;
	}
	for (int i = 0; i < 4; i++) {
		tt_str_addu(out, tensor->padded[i]);
		if (csv->layout->logical)
			tt_str_addf(out, "[%u]", tensor->logical[i]);
		tt_str_addc(out, ',');
	}
	tt_str_addf(out, "%s,%s,", tt_ops_layout_name(tensor), tt_ops_dtype_name(tensor));
	tt_ops_memory_text(out, tensor);
}

static void inputs(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	const struct tt_ops_program *program = row->program;

	for (uint32_t i = 0; i < csv->shape.inputs; i++) {
		if (i)
			tt_str_addc(&csv->line, ',');
		put_tensor(csv, program && i < program->inputs ? &program->tensors[i] : NULL);
	}
}

static void outputs(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	const struct tt_ops_program *program = row->program;

	for (uint32_t i = 0; i < csv->shape.outputs; i++) {
		if (i)
			tt_str_addc(&csv->line, ',');
		put_tensor(csv, program && i < program->outputs
					? &program->tensors[program->inputs + i]
					: NULL);
	}
}

static void trace_id(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	if (row->session)
		put_number(csv, row->trace_id);
}

static void session(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	if (row->session)
		put_number(csv, row->session);
}

/* "['src/ops/eltwise/binary.c']", "[]" of the other kind, nothing when no file is known. */
static void put_kernel(struct tt_ops_csv *csv, const struct tt_ops_row *row, bool computes,
		       bool hash)
{
	const struct tt_ops_program *program = row->program;
	const char *slash;
	struct tt_str name = {0};

	if (!program || !program->source)
		return;
	tt_str_addc(&csv->text, '[');
	if (program->computes == computes && !hash) {
		tt_ops_repr(&csv->text, program->source);
	} else if (program->computes == computes) {
		slash = strrchr(program->source, '/');
		slash = slash ? slash + 1 : program->source;
		tt_str_addf(&name, "%.*s/%llu/", (int)strcspn(slash, "."), slash,
			    (unsigned long long)program->hash);
		tt_ops_repr(&csv->text, tt_str_text(&name));
		csv->text.failed |= name.failed;
		tt_str_deinit(&name);
	}
	tt_str_addc(&csv->text, ']');
	put_gathered(csv);
}

static void compute_source(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	put_kernel(csv, row, true, false);
}

static void compute_hash(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	put_kernel(csv, row, true, true);
}

static void movement_source(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	put_kernel(csv, row, false, false);
}

static void movement_hash(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	put_kernel(csv, row, false, true);
}

static void program_hash(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	if (row->program && row->program->known)
		put_number(csv, row->program->hash);
}

static void cache_hit(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	if (row->program && row->program->known)
		put(csv, row->cache_hit ? "True" : "False", false);
}

/* An operation without a model has 1, 1, 1, as upstream says it. */
static void put_model(struct tt_ops_csv *csv, const struct tt_ops_row *row, uint64_t ns)
{
	if (row->program && row->program->known)
		put_number(csv, row->program->modelled ? ns : 1);
}

static void pm_ideal(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	put_model(csv, row, row->program ? row->program->ideal_ns : 0);
}

static void pm_compute(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	put_model(csv, row, row->program ? row->program->compute_ns : 0);
}

static void pm_bandwidth(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	put_model(csv, row, row->program ? row->program->bandwidth_ns : 0);
}

static void put_bandwidths(struct tt_ops_csv *csv, const double *numbers, uint32_t count)
{
	char text[TT_FMT_MAX];

	tt_str_addc(&csv->line, '[');
	for (uint32_t i = 0; numbers && i < count; i++) {
		tt_fmt_double(text, numbers[i]);
		tt_str_addf(&csv->line, "%s%s", i ? "; " : "", text);
	}
	tt_str_addc(&csv->line, ']');
}

static void pm_inputs(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	if (row->program && row->program->known)
		put_bandwidths(csv, row->program->bandwidths, row->program->input_bws);
}

static void pm_outputs(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	const struct tt_ops_program *program = row->program;

	if (program && program->known)
		put_bandwidths(
			csv, program->bandwidths ? program->bandwidths + program->input_bws : NULL,
			program->output_bws);
}

static void pm_util(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	if (row->ran && row->program->known)
		tt_ops_round3(&csv->line, tt_ops_fpu_util(row));
}

/* A place that a mark gave is made each time; others are found by their addresses. */
static void loc(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	struct loc_cell *kept = &csv->locs[(row->line ^ (uintptr_t)row->name >> 4) % LOCS];
	size_t start = csv->line.length;

	if (row->file && !row->loc && kept->text.length && kept->file == row->file &&
	    kept->name == row->name && kept->line == row->line) {
		tt_str_add(&csv->line, kept->text.data, kept->text.length);
		return;
	}
	tt_ops_loc_text(&csv->text, row);
	put(csv, tt_str_text(&csv->text), true);
	tt_str_clear(&csv->text);
	if (!row->file || row->loc || csv->line.failed)
		return;
	tt_str_clear(&kept->text);
	tt_str_add(&kept->text, csv->line.data + start, csv->line.length - start);
	kept->file = row->file;
	kept->name = row->name;
	kept->line = row->line;
}

static void const_eval(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	put(csv, row->const_eval ? row->const_eval : "false", true);
}

/* Of a call whose place is known nothing else is: blank. "{}" is what upstream writes when nobody said anything. */
static void metadata(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	put(csv, row->metadata ? row->metadata : row->file ? "" : "{}", true);
}

/* ---- the table ---------------------------------------------------------------------------------------- */

/* What a cell depends on. */
enum fixed {
	VARIES,
	SHARED, /* on the program alone: made once for all rows of it */
};

/*
 * All columns in their order; those of a layout are the ones with its bit. To add one: a row, and its line in
 * docs/formats/perf_csv.md. One without a function is blank.
 */
/* clang-format off */
static const struct column {
	const char *name;
	unsigned layouts;
	enum tt_ops_origin origin;
	enum fixed fixed;
	cell_fn *cell;
} columns[] = {
	{"OP CODE", BOTH, TT_OPS_RECORDED, SHARED, op_code},
	{"OP TYPE", BOTH, TT_OPS_RECORDED, SHARED, op_type},
	{"GLOBAL CALL COUNT", BOTH, TT_OPS_RECORDED, VARIES, call_count},
	{"DEVICE ID", BOTH, TT_OPS_RECORDED, VARIES, device_id},
	{"DEVICE ARCH", MAIN, TT_OPS_RECORDED, VARIES, device_arch},
	{"ATTRIBUTES", BOTH, TT_OPS_RECORDED, SHARED, attributes},
	{"MATH FIDELITY", BOTH, TT_OPS_RECORDED, SHARED, math_fidelity},
	{"CORE COUNT", BOTH, TT_OPS_RECORDED, VARIES, core_count},
	{"AVAILABLE WORKER CORE COUNT", MAIN, TT_OPS_RECORDED, VARIES, available_cores},
	{"SUB DEVICE ID", MAIN, TT_OPS_BLANK, VARIES, NULL},
	{"PARALLELIZATION STRATEGY", BOTH, TT_OPS_BLANK, VARIES, NULL},
	{"HOST START TS", BOTH, TT_OPS_MEASURED, VARIES, host_start},
	{"HOST END TS", BOTH, TT_OPS_MEASURED, VARIES, host_end},
	{"HOST DURATION [ns]", BOTH, TT_OPS_MEASURED, VARIES, host_duration},
	{"DEVICE FW START CYCLE", BOTH, TT_OPS_MEASURED, VARIES, fw_start},
	{"DEVICE FW END CYCLE", BOTH, TT_OPS_MEASURED, VARIES, fw_end},
	{"OP TO OP LATENCY [ns]", BOTH, TT_OPS_MEASURED, VARIES, latency},
	{"OP TO OP LATENCY BR/NRISC START [ns]", BOTH, TT_OPS_BLANK, VARIES, NULL},
	{"DEVICE FW DURATION [ns]", BOTH, TT_OPS_MEASURED, VARIES, fw_duration},
	{"DEVICE KERNEL DURATION [ns]", BOTH, TT_OPS_MEASURED, VARIES, kernel_duration},
	{"DEVICE KERNEL DURATION DM START [ns]", BOTH, TT_OPS_BLANK, VARIES, NULL},
	{"DEVICE KERNEL DURATION PER CORE MIN [ns]", BOTH, TT_OPS_MEASURED, VARIES, busy_min},
	{"DEVICE KERNEL DURATION PER CORE MAX [ns]", BOTH, TT_OPS_MEASURED, VARIES, busy_max},
	{"DEVICE KERNEL DURATION PER CORE AVG [ns]", BOTH, TT_OPS_MEASURED, VARIES, busy_avg},
	{"DEVICE KERNEL FIRST TO LAST START [ns]", BOTH, TT_OPS_MEASURED, VARIES, first_to_last},
	{"DEVICE BRISC KERNEL DURATION [ns]", BOTH, TT_OPS_BLANK, SHARED, NULL},
	{"DEVICE NCRISC KERNEL DURATION [ns]", BOTH, TT_OPS_BLANK, SHARED, NULL},
	{"DEVICE TRISC0 KERNEL DURATION [ns]", BOTH, TT_OPS_BLANK, SHARED, NULL},
	{"DEVICE TRISC1 KERNEL DURATION [ns]", BOTH, TT_OPS_BLANK, SHARED, NULL},
	{"DEVICE TRISC2 KERNEL DURATION [ns]", BOTH, TT_OPS_BLANK, SHARED, NULL},
	{"DEVICE ERISC KERNEL DURATION [ns]", BOTH, TT_OPS_BLANK, SHARED, NULL},
	{"DEVICE COMPUTE CB WAIT FRONT [ns]", BOTH, TT_OPS_BLANK, SHARED, NULL},
	{"DEVICE COMPUTE CB RESERVE BACK [ns]", BOTH, TT_OPS_BLANK, SHARED, NULL},
	{"DISPATCH TOTAL CQ CMD OP TIME [ns]", BOTH, TT_OPS_BLANK, SHARED, NULL},
	{"DISPATCH GO SEND WAIT TIME [ns]", BOTH, TT_OPS_BLANK, SHARED, NULL},
	{"INPUT", BOTH, TT_OPS_RECORDED, SHARED, inputs},
	{"OUTPUT", BOTH, TT_OPS_RECORDED, SHARED, outputs},
	{"METAL TRACE ID", BOTH, TT_OPS_RECORDED, VARIES, trace_id},
	{"METAL TRACE REPLAY SESSION ID", BOTH, TT_OPS_RECORDED, VARIES, session},
	{"COMPUTE KERNEL SOURCE", BOTH, TT_OPS_RECORDED, SHARED, compute_source},
	{"COMPUTE KERNEL HASH", BOTH, TT_OPS_RECORDED, SHARED, compute_hash},
	{"DATA MOVEMENT KERNEL SOURCE", BOTH, TT_OPS_RECORDED, SHARED, movement_source},
	{"DATA MOVEMENT KERNEL HASH", BOTH, TT_OPS_RECORDED, SHARED, movement_hash},
	{"PROGRAM HASH", MAIN, TT_OPS_RECORDED, SHARED, program_hash},
	{"PROGRAM CACHE HIT", MAIN, TT_OPS_RECORDED, VARIES, cache_hit},
	{"BRISC MAX KERNEL SIZE [B]", SEED, TT_OPS_BLANK, SHARED, NULL},
	{"NCRISC MAX KERNEL SIZE [B]", SEED, TT_OPS_BLANK, SHARED, NULL},
	{"TRISC 0 MAX KERNEL SIZE [B]", SEED, TT_OPS_BLANK, SHARED, NULL},
	{"TRISC 1 MAX KERNEL SIZE [B]", SEED, TT_OPS_BLANK, SHARED, NULL},
	{"TRISC 2 MAX KERNEL SIZE [B]", SEED, TT_OPS_BLANK, SHARED, NULL},
	{"ERISC MAX KERNEL SIZE [B]", SEED, TT_OPS_BLANK, SHARED, NULL},
	{"PM IDEAL [ns]", BOTH, TT_OPS_MODELLED, SHARED, pm_ideal},
	{"PM COMPUTE [ns]", BOTH, TT_OPS_MODELLED, SHARED, pm_compute},
	{"PM BANDWIDTH [ns]", BOTH, TT_OPS_MODELLED, SHARED, pm_bandwidth},
	{"PM REQ I BW", BOTH, TT_OPS_MODELLED, SHARED, pm_inputs},
	{"PM REQ O BW", BOTH, TT_OPS_MODELLED, SHARED, pm_outputs},
	{"PM FPU UTIL (%)", BOTH, TT_OPS_MODELLED, VARIES, pm_util},
	{"NOC UTIL (%)", BOTH, TT_OPS_BLANK, VARIES, NULL},
	{"MULTICAST NOC UTIL (%)", MAIN, TT_OPS_BLANK, VARIES, NULL},
	{"DRAM BW UTIL (%)", BOTH, TT_OPS_BLANK, VARIES, NULL},
	{"DRAM BW UTIL PER CTRL (%)", MAIN, TT_OPS_BLANK, VARIES, NULL},
	{"ETH BW UTIL (%)", MAIN, TT_OPS_BLANK, VARIES, NULL},
	{"NPE CONG IMPACT (%)", BOTH, TT_OPS_BLANK, VARIES, NULL},
	{"LOC", SEED, TT_OPS_RECORDED, VARIES, loc},
	{"CONST_EVAL_OP", SEED, TT_OPS_RECORDED, VARIES, const_eval},
	{"PROGRAM_METADATA", SEED, TT_OPS_RECORDED, VARIES, metadata},
};
/* clang-format on */

_Static_assert(TT_COUNT(columns) <= 80, "struct tt_ops_csv has room for all columns");

bool tt_ops_column_at(struct tt_ops_column_info *out, size_t index)
{
	if (index >= TT_COUNT(columns))
		return false;
	*out = (struct tt_ops_column_info){columns[index].name, columns[index].origin,
					   columns[index].layouts & SEED,
					   columns[index].layouts & MAIN};
	return true;
}

/* ---- lines -------------------------------------------------------------------------------------------- */

/* Bytes that are gathered before they are written. */
#define GATHERED ((size_t)256 << 10)

/* The columns of the tensors of one kind have no cells when no operation has any. */
static bool is_there(const struct tt_ops_csv *csv, const struct column *column)
{
	if (!(column->layouts & csv->layout->bit))
		return false;
	return (column->cell != inputs || csv->shape.inputs) &&
	       (column->cell != outputs || csv->shape.outputs);
}

tt_status tt_ops_csv_new(struct tt_ops_csv **out, const struct tt_ops_shape *shape,
			 tt_ops_write_fn *write, void *context)
{
	struct tt_ops_csv *csv = tt_calloc(1, sizeof(*csv));

	if (!csv)
		return tt_fail_nomem();
	csv->shape = *shape;
	csv->layout = &layouts[shape->dialect == TTNN_DIALECT_TT_METAL ? TTNN_DIALECT_TT_METAL
								       : TTNN_DIALECT_SEED];
	csv->write = write;
	csv->context = context;
	for (size_t i = 0; i < TT_COUNT(columns); i++)
		csv->there[i] = is_there(csv, &columns[i]);
	*out = csv;
	return TTNN_OK;
}

static void header_of_tensors(struct tt_ops_csv *csv, const char *name, uint32_t count)
{
	struct tt_str *out = &csv->line;

	for (uint32_t i = 0; i < count; i++) {
		if (i)
			tt_str_addc(out, ',');
		for (int k = 0; k < 4; k++)
			tt_str_addf(out, "%s_%u%s,", name, i, csv->layout->dims[k]);
		tt_str_addf(out, "%s_%u_LAYOUT,%s_%u_DATATYPE,%s_%u_MEMORY", name, i, name, i, name,
			    i);
	}
}

void tt_ops_csv_header(struct tt_ops_csv *csv)
{
	bool first = true;

	for (size_t i = 0; i < TT_COUNT(columns); i++) {
		if (!csv->there[i])
			continue;
		if (!first)
			tt_str_addc(&csv->line, ',');
		first = false;
		if (columns[i].cell == inputs)
			header_of_tensors(csv, columns[i].name, csv->shape.inputs);
		else if (columns[i].cell == outputs)
			header_of_tensors(csv, columns[i].name, csv->shape.outputs);
		else
			tt_str_adds(&csv->line, columns[i].name);
	}
	tt_str_adds(&csv->line, "\r\n");
}

/* Of blank cells, fewer than there are columns. */
static void put_commas(struct tt_ops_csv *csv, size_t count)
{
	char *to = few(csv);

	if (!to)
		return;
	memset(to, ',', count);
	tt_str_end(&csv->line, to + count);
}

/* The cells of columns first to last - 1, each with the comma before it but the very first. */
static void put_cells(struct tt_ops_csv *csv, const struct tt_ops_row *row, size_t first,
		      size_t last)
{
	size_t blank = 0;

	for (size_t i = first; i < last; i++) {
		if (!csv->there[i])
			continue;
		blank += i > 0;
		if (!columns[i].cell)
			continue;
		put_commas(csv, blank);
		blank = 0;
		columns[i].cell(csv, row);
	}
	put_commas(csv, blank);
}

/* Where the columns end that are like this one. */
static size_t run_end(size_t first)
{
	size_t end = first;

	while (end < TT_COUNT(columns) && columns[end].fixed == columns[first].fixed)
		end++;
	return end;
}

/* Cells that all rows of the program have: made now and kept with it. */
static void make_shared(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	struct tt_ops_program *program = row->program;
	size_t start, run = 0;

	for (size_t first = 0; first < TT_COUNT(columns); first = run_end(first)) {
		if (columns[first].fixed != SHARED)
			continue;
		start = csv->line.length;
		put_cells(csv, row, first, run_end(first));
		tt_str_add(&program->cells, tt_str_text(&csv->line) + start,
			   csv->line.length - start);
		csv->line.length = start;
		program->cell_ends[run++] = (uint32_t)program->cells.length;
	}
	program->celled = !program->cells.failed && !csv->line.failed;
}

static void put_shared_rows(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	const struct tt_ops_program *program = row->program;
	uint32_t at = 0;
	size_t run = 0, last;

	for (size_t first = 0; first < TT_COUNT(columns); first = last) {
		last = run_end(first);
		if (columns[first].fixed != SHARED) {
			put_cells(csv, row, first, last);
			continue;
		}
		tt_str_add(&csv->line, program->cells.data + at, program->cell_ends[run] - at);
		at = program->cell_ends[run++];
	}
}

static void flush(struct tt_ops_csv *csv)
{
	if (csv->status == TTNN_OK)
		csv->status = tt_str_status(&csv->line);
	if (csv->status == TTNN_OK && csv->line.length)
		csv->write(csv->context, csv->line.data, csv->line.length);
	tt_str_clear(&csv->line);
}

void tt_ops_csv_row(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	if (row->kind == TT_OPS_TRACE)
		return;
	if (row->kind == TT_OPS_DEVICE && !row->program->celled)
		make_shared(csv, row);
	if (row->kind == TT_OPS_DEVICE && row->program->celled)
		put_shared_rows(csv, row);
	else
		put_cells(csv, row, 0, TT_COUNT(columns));
	tt_str_add(&csv->line, "\r\n", 2);
	if (csv->line.length >= GATHERED)
		flush(csv);
}

tt_status tt_ops_csv_end(struct tt_ops_csv *csv)
{
	tt_status status;

	if (!csv)
		return TTNN_OK;
	flush(csv);
	status = csv->status;
	if (status == TTNN_OK)
		status = tt_str_status(&csv->text);
	for (size_t i = 0; i < LOCS; i++)
		tt_str_deinit(&csv->locs[i].text);
	tt_str_deinit(&csv->line);
	tt_str_deinit(&csv->text);
	tt_free(csv);
	return status;
}
