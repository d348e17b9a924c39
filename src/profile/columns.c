/* columns.c: the columns of performance reports: what is in their cells. */
#include "profile/columns_table.h"

#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "base/utf8.h"
#include "base/vec.h"

/* ---- cells -------------------------------------------------------------------------------------------- */

#define SEED 1u
#define MAIN 2u
#define BOTH (SEED | MAIN)

const struct tt_ops_layout tt_ops_layouts[] = {
	[TTNN_DIALECT_SEED] = {SEED, {"_W", "_Z", "_Y", "_X"}, false, "None"},
	[TTNN_DIALECT_TT_METAL] = {MAIN,
				   {"_W_PAD[LOGICAL]", "_Z_PAD[LOGICAL]", "_Y_PAD[LOGICAL]",
				    "_X_PAD[LOGICAL]"},
				   true,
				   ""},
};

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

/* Two digits at a time: a line has some twenty numbers. */
static void put_number(struct tt_ops_csv *csv, uint64_t number)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930"
				    "31323334353637383940414243444546474849505152535455565758596061"
				    "62636465666768697071727374757677787980818283848586878889909192"
				    "93949596979899";
	char text[24], *at = text + sizeof(text), *to = tt_ops_csv_few(csv);

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

static void outer_call(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	if (row->outer)
		put_number(csv, row->outer);
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

void tt_ops_cell_inputs(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	const struct tt_ops_program *program = row->program;

	for (uint32_t i = 0; i < csv->shape.inputs; i++) {
		if (i)
			tt_str_addc(&csv->line, ',');
		put_tensor(csv, program && i < program->inputs ? &program->tensors[i] : NULL);
	}
}

void tt_ops_cell_outputs(struct tt_ops_csv *csv, const struct tt_ops_row *row)
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
	struct loc_cell *kept = &csv->locs[(row->line ^ (uintptr_t)row->name >> 4) % TT_OPS_LOCS];
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

/*
 * All columns in their order; those of a layout are the ones with its bit. To add one: a row, and its line in
 * docs/formats/perf_csv.md. One without a function is blank.
 */
/* clang-format off */
const struct tt_ops_column tt_ops_columns[] = {
	{"OP CODE", BOTH, TT_OPS_RECORDED, TT_OPS_SHARED, op_code},
	{"OP TYPE", BOTH, TT_OPS_RECORDED, TT_OPS_SHARED, op_type},
	{"GLOBAL CALL COUNT", BOTH, TT_OPS_RECORDED, TT_OPS_VARIES, call_count},
	{"DEVICE ID", BOTH, TT_OPS_RECORDED, TT_OPS_VARIES, device_id},
	{"DEVICE ARCH", MAIN, TT_OPS_RECORDED, TT_OPS_VARIES, device_arch},
	{"ATTRIBUTES", BOTH, TT_OPS_RECORDED, TT_OPS_SHARED, attributes},
	{"MATH FIDELITY", BOTH, TT_OPS_RECORDED, TT_OPS_SHARED, math_fidelity},
	{"CORE COUNT", BOTH, TT_OPS_RECORDED, TT_OPS_VARIES, core_count},
	{"AVAILABLE WORKER CORE COUNT", MAIN, TT_OPS_RECORDED, TT_OPS_VARIES, available_cores},
	{"SUB DEVICE ID", MAIN, TT_OPS_BLANK, TT_OPS_VARIES, NULL},
	{"PARALLELIZATION STRATEGY", BOTH, TT_OPS_BLANK, TT_OPS_VARIES, NULL},
	{"HOST START TS", BOTH, TT_OPS_MEASURED, TT_OPS_VARIES, host_start},
	{"HOST END TS", BOTH, TT_OPS_MEASURED, TT_OPS_VARIES, host_end},
	{"HOST DURATION [ns]", BOTH, TT_OPS_MEASURED, TT_OPS_VARIES, host_duration},
	{"DEVICE FW START CYCLE", BOTH, TT_OPS_MEASURED, TT_OPS_VARIES, fw_start},
	{"DEVICE FW END CYCLE", BOTH, TT_OPS_MEASURED, TT_OPS_VARIES, fw_end},
	{"OP TO OP LATENCY [ns]", BOTH, TT_OPS_MEASURED, TT_OPS_VARIES, latency},
	{"OP TO OP LATENCY BR/NRISC START [ns]", BOTH, TT_OPS_BLANK, TT_OPS_VARIES, NULL},
	{"DEVICE FW DURATION [ns]", BOTH, TT_OPS_MEASURED, TT_OPS_VARIES, fw_duration},
	{"DEVICE KERNEL DURATION [ns]", BOTH, TT_OPS_MEASURED, TT_OPS_VARIES, kernel_duration},
	{"DEVICE KERNEL DURATION DM START [ns]", BOTH, TT_OPS_BLANK, TT_OPS_VARIES, NULL},
	{"DEVICE KERNEL DURATION PER CORE MIN [ns]", BOTH, TT_OPS_MEASURED, TT_OPS_VARIES, busy_min},
	{"DEVICE KERNEL DURATION PER CORE MAX [ns]", BOTH, TT_OPS_MEASURED, TT_OPS_VARIES, busy_max},
	{"DEVICE KERNEL DURATION PER CORE AVG [ns]", BOTH, TT_OPS_MEASURED, TT_OPS_VARIES, busy_avg},
	{"DEVICE KERNEL FIRST TO LAST START [ns]", BOTH, TT_OPS_MEASURED, TT_OPS_VARIES, first_to_last},
	{"DEVICE BRISC KERNEL DURATION [ns]", BOTH, TT_OPS_BLANK, TT_OPS_SHARED, NULL},
	{"DEVICE NCRISC KERNEL DURATION [ns]", BOTH, TT_OPS_BLANK, TT_OPS_SHARED, NULL},
	{"DEVICE TRISC0 KERNEL DURATION [ns]", BOTH, TT_OPS_BLANK, TT_OPS_SHARED, NULL},
	{"DEVICE TRISC1 KERNEL DURATION [ns]", BOTH, TT_OPS_BLANK, TT_OPS_SHARED, NULL},
	{"DEVICE TRISC2 KERNEL DURATION [ns]", BOTH, TT_OPS_BLANK, TT_OPS_SHARED, NULL},
	{"DEVICE ERISC KERNEL DURATION [ns]", BOTH, TT_OPS_BLANK, TT_OPS_SHARED, NULL},
	{"DEVICE COMPUTE CB WAIT FRONT [ns]", BOTH, TT_OPS_BLANK, TT_OPS_SHARED, NULL},
	{"DEVICE COMPUTE CB RESERVE BACK [ns]", BOTH, TT_OPS_BLANK, TT_OPS_SHARED, NULL},
	{"DISPATCH TOTAL CQ CMD OP TIME [ns]", BOTH, TT_OPS_BLANK, TT_OPS_SHARED, NULL},
	{"DISPATCH GO SEND WAIT TIME [ns]", BOTH, TT_OPS_BLANK, TT_OPS_SHARED, NULL},
	{"INPUT", BOTH, TT_OPS_RECORDED, TT_OPS_SHARED, tt_ops_cell_inputs},
	{"OUTPUT", BOTH, TT_OPS_RECORDED, TT_OPS_SHARED, tt_ops_cell_outputs},
	{"METAL TRACE ID", BOTH, TT_OPS_RECORDED, TT_OPS_VARIES, trace_id},
	{"METAL TRACE REPLAY SESSION ID", BOTH, TT_OPS_RECORDED, TT_OPS_VARIES, session},
	{"COMPUTE KERNEL SOURCE", BOTH, TT_OPS_RECORDED, TT_OPS_SHARED, compute_source},
	{"COMPUTE KERNEL HASH", BOTH, TT_OPS_RECORDED, TT_OPS_SHARED, compute_hash},
	{"DATA MOVEMENT KERNEL SOURCE", BOTH, TT_OPS_RECORDED, TT_OPS_SHARED, movement_source},
	{"DATA MOVEMENT KERNEL HASH", BOTH, TT_OPS_RECORDED, TT_OPS_SHARED, movement_hash},
	{"PROGRAM HASH", MAIN, TT_OPS_RECORDED, TT_OPS_SHARED, program_hash},
	{"PROGRAM CACHE HIT", MAIN, TT_OPS_RECORDED, TT_OPS_VARIES, cache_hit},
	{"BRISC MAX KERNEL SIZE [B]", SEED, TT_OPS_BLANK, TT_OPS_SHARED, NULL},
	{"NCRISC MAX KERNEL SIZE [B]", SEED, TT_OPS_BLANK, TT_OPS_SHARED, NULL},
	{"TRISC 0 MAX KERNEL SIZE [B]", SEED, TT_OPS_BLANK, TT_OPS_SHARED, NULL},
	{"TRISC 1 MAX KERNEL SIZE [B]", SEED, TT_OPS_BLANK, TT_OPS_SHARED, NULL},
	{"TRISC 2 MAX KERNEL SIZE [B]", SEED, TT_OPS_BLANK, TT_OPS_SHARED, NULL},
	{"ERISC MAX KERNEL SIZE [B]", SEED, TT_OPS_BLANK, TT_OPS_SHARED, NULL},
	{"PM IDEAL [ns]", BOTH, TT_OPS_MODELLED, TT_OPS_SHARED, pm_ideal},
	{"PM COMPUTE [ns]", BOTH, TT_OPS_MODELLED, TT_OPS_SHARED, pm_compute},
	{"PM BANDWIDTH [ns]", BOTH, TT_OPS_MODELLED, TT_OPS_SHARED, pm_bandwidth},
	{"PM REQ I BW", BOTH, TT_OPS_MODELLED, TT_OPS_SHARED, pm_inputs},
	{"PM REQ O BW", BOTH, TT_OPS_MODELLED, TT_OPS_SHARED, pm_outputs},
	{"PM FPU UTIL (%)", BOTH, TT_OPS_MODELLED, TT_OPS_VARIES, pm_util},
	{"NOC UTIL (%)", BOTH, TT_OPS_BLANK, TT_OPS_VARIES, NULL},
	{"MULTICAST NOC UTIL (%)", MAIN, TT_OPS_BLANK, TT_OPS_VARIES, NULL},
	{"DRAM BW UTIL (%)", BOTH, TT_OPS_BLANK, TT_OPS_VARIES, NULL},
	{"DRAM BW UTIL PER CTRL (%)", MAIN, TT_OPS_BLANK, TT_OPS_VARIES, NULL},
	{"ETH BW UTIL (%)", MAIN, TT_OPS_BLANK, TT_OPS_VARIES, NULL},
	{"NPE CONG IMPACT (%)", BOTH, TT_OPS_BLANK, TT_OPS_VARIES, NULL},
	{"LOC", SEED, TT_OPS_RECORDED, TT_OPS_VARIES, loc},
	{"CONST_EVAL_OP", SEED, TT_OPS_RECORDED, TT_OPS_VARIES, const_eval},
	{"PROGRAM_METADATA", SEED, TT_OPS_RECORDED, TT_OPS_VARIES, metadata},
	{"CALL", TT_OPS_OWN, TT_OPS_RECORDED, TT_OPS_VARIES, outer_call},
};
/* clang-format on */

const size_t tt_ops_column_count = TT_COUNT(tt_ops_columns);

_Static_assert(TT_COUNT(tt_ops_columns) <= TT_OPS_COLUMNS_MAX,
	       "struct tt_ops_csv has room for all columns");

bool tt_ops_column_at(struct tt_ops_column_info *out, size_t index)
{
	if (index >= TT_COUNT(tt_ops_columns) || !(tt_ops_columns[index].layouts & BOTH))
		return false; /* what follows is our own */
	*out = (struct tt_ops_column_info){tt_ops_columns[index].name, tt_ops_columns[index].origin,
					   tt_ops_columns[index].layouts & SEED,
					   tt_ops_columns[index].layouts & MAIN};
	return true;
}
