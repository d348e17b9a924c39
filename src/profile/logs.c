/* The files that upstream's post-processing reads. */
#include "profile/logs.h"

#include <string.h>

#include "base/jsonw.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "profile/columns.h"
#include "tensor/core.h"

enum log { DEVICE, TIMES, MESSAGES, REPORT, LOGS };

struct tt_ops_logs {
	enum ttnn_dialect dialect;
	struct tt_file_out *files[LOGS];
	struct tt_str line;
	struct tt_str text;
	struct tt_str loc;  /* as told last */
	struct tt_map told; /* device and hash → number of the program that was described last */
	bool all_cores;
};

static bool is_main(const struct tt_ops_logs *logs)
{
	return logs->dialect == TTNN_DIALECT_TT_METAL;
}

/* What was gathered in the line goes to a file. */
static void send(struct tt_ops_logs *logs, enum log log)
{
	if (logs->files[log] && !logs->line.failed)
		tt_file_write(logs->files[log], tt_str_text(&logs->line), logs->line.length);
	logs->line.length = 0;
}

/* ---- the log of the devices ------------------------------------------------------------------------------- */

/* Zones that upstream's analyses look for. The device as a whole ran the kernel: no single processor did. */
struct zone {
	const char *processor, *name;
};
static const struct zone fw_zone = {"BRISC", "BRISC-FW"},
			 kernel_zone = {"TENSIX_RISC_AGG", "TENSIX_RISC_AGG-KERNEL"};

/* Lines of a marker each that a run may have with all cores; longer ones have those of one core. */
#define MOST_LINES 20000000

static tt_status begin_device_log(struct tt_ops_logs *logs, const struct tt_ops_survey *survey)
{
	logs->all_cores = survey->operations * survey->cores <= MOST_LINES / 4;
	tt_str_addf(&logs->line, "ARCH: %s, CHIP_FREQ[MHz]: %u",
		    survey->arch[0] ? survey->arch : "wormhole_b0",
		    survey->clock_mhz ? survey->clock_mhz : 1000);
	if (is_main(logs))
		tt_str_addf(&logs->line, ", Max Compute Cores: %u", survey->cores);
	tt_str_adds(&logs->line, "\nPCIe slot, core_x, core_y, RISC processor type, timer_id, "
				 "time[cycles since reset], data, run host ID, ");
	tt_str_adds(&logs->line,
		    is_main(logs) ? "trace id, trace id counter, zone name" : " zone name");
	tt_str_adds(&logs->line, ", type, source line, source file, meta data\n");
	send(logs, DEVICE);
	return tt_str_status(&logs->line);
}

/* As upstream numbers zones: FNV-1a of 32 bits, folded to 16, the type of the marker above. */
static uint32_t timer_id(const struct zone *zone, const char *file, bool ends)
{
	const char *const parts[] = {zone->name, ",", file, ",0,KERNEL_PROFILER"};
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < TT_COUNT(parts); i++)
		for (const char *at = parts[i]; *at; at++)
			hash = (hash ^ (unsigned char)*at) * 16777619u;
	return ((hash & 0xffff) ^ hash >> 16) | (ends ? 1u << 16 : 0);
}

struct marker {
	const struct zone *zone;
	uint64_t time;
	bool ends;
};

static void put_marker(struct tt_ops_logs *logs, const struct tt_ops_row *row,
		       struct ttnn_core core, const struct marker *marker)
{
	struct tt_str *out = &logs->line;
	const char *file = row->program->source ? row->program->source : "";

	tt_str_addf(out, "%u,%u,%u,%s,%u,%llu,0,%llu,", row->device, core.x, core.y,
		    marker->zone->processor, timer_id(marker->zone, file, marker->ends),
		    (unsigned long long)marker->time, (unsigned long long)row->call);
	if (is_main(logs) && row->session)
		tt_str_addf(out, "%u,%u,", row->trace_id, row->session);
	else if (is_main(logs))
		tt_str_adds(out, ",,");
	tt_str_addf(out, "%s,%s,0,%s,\n", marker->zone->name,
		    marker->ends ? "ZONE_END" : "ZONE_START", file);
}

/*
 * When the last core began: upstream divides by the time since the first one did, so that there must be one; a
 * single core begins twice.
 */
static uint64_t last_start(const struct tt_ops_row *row)
{
	uint64_t late = tt_ops_cycles(row->starts, row->chip->clock_mhz),
		 most = row->kernel_end - row->kernel_begin;

	if (!late)
		late = 1;
	return row->kernel_begin + (late < most ? late : most);
}

static void emit_device(struct tt_ops_logs *logs, const struct tt_ops_row *row)
{
	/* Of markers at one time readers take the first line first, and FW ends an operation. */
	const struct marker markers[] = {{&kernel_zone, row->kernel_begin, false},
					 {&kernel_zone, last_start(row), false},
					 {&kernel_zone, row->kernel_end, true},
					 {&fw_zone, row->fw_begin, false},
					 {&fw_zone, row->fw_end, true}};
	const ttnn_core_set *set = row->program->core_set;
	uint64_t cores = set && logs->all_cores ? row->program->cores : 1;

	for (uint64_t i = 0; i < cores; i++) {
		struct ttnn_core core =
			set ? tt_core_set_at(set, i, TTNN_ORIENT_ROW_MAJOR) : (struct ttnn_core){0};

		for (size_t k = 0; k < TT_COUNT(markers); k++) {
			/* One of the two starts, unless it is the only core. */
			if (cores > 1 && k == (i + 1 == cores ? 0 : 1))
				continue;
			put_marker(logs, row, core, &markers[k]);
		}
	}
	send(logs, DEVICE);
}

/* ---- the report of the devices ---------------------------------------------------------------------------- */

static void begin_report(struct tt_ops_logs *logs)
{
	tt_str_adds(
		&logs->line,
		"GLOBAL CALL COUNT,METAL TRACE ID,METAL TRACE REPLAY SESSION ID,DEVICE ID,DEVICE "
		"ARCH,OP NAME,CORE COUNT,AVAILABLE WORKER CORE COUNT,DEVICE KERNEL FIRST TO "
		"LAST START [ns],DEVICE FW DURATION [ns],DEVICE FW START CYCLE,DEVICE FW END "
		"CYCLE,DEVICE KERNEL DURATION [ns],DEVICE KERNEL START CYCLE,DEVICE KERNEL END "
		"CYCLE,DEVICE KERNEL DURATION PER CORE MIN [ns],DEVICE KERNEL DURATION PER CORE "
		"MAX [ns],DEVICE KERNEL DURATION PER CORE AVG [ns],OP TO OP LATENCY [ns],OP TO "
		"OP LATENCY BR/NRISC START [ns]\n");
	send(logs, REPORT);
}

/* A number and a comma; the comma alone when it is not known. */
static void put_known(struct tt_str *out, bool known, uint64_t number)
{
	if (known)
		tt_str_addu(out, number);
	tt_str_addc(out, ',');
}

static void emit_report(struct tt_ops_logs *logs, const struct tt_ops_row *row)
{
	struct tt_str *out = &logs->line;
	uint32_t mhz = row->chip->clock_mhz;

	put_known(out, true, row->call);
	put_known(out, row->session, row->trace_id);
	put_known(out, row->session, row->session);
	put_known(out, true, row->device);
	tt_str_addf(out, "%s,%s,", row->chip->arch, row->program->op_code);
	put_known(out, row->program->cores, row->program->cores);
	put_known(out, row->chip->cores, row->chip->cores);
	put_known(out, row->has_busy, row->starts);
	put_known(out, true, tt_ops_ns(row->fw_end - row->fw_begin, mhz));
	put_known(out, true, row->fw_begin);
	put_known(out, true, row->fw_end);
	put_known(out, true, tt_ops_ns(row->kernel_end - row->kernel_begin, mhz));
	put_known(out, true, row->kernel_begin);
	put_known(out, true, row->kernel_end);
	put_known(out, row->has_busy, row->busy_min);
	put_known(out, row->has_busy, row->busy_max);
	put_known(out, row->has_busy, row->busy_avg);
	if (row->has_latency)
		tt_str_addi(out, row->latency);
	tt_str_adds(out, ",\n");
	send(logs, REPORT);
}

/* ---- zones of the host ------------------------------------------------------------------------------------ */

static void emit_zone(struct tt_ops_logs *logs, const struct tt_ops_row *row)
{
	unsigned long long call = row->call;

	tt_str_addf(&logs->line,
		    "TT_DNN_DEVICE_OP,,0,TT_DNN_DEVICE_OP,\"id:%llu\",%llu,%llu,%u,id:%llu,\n",
		    call, (unsigned long long)row->begin_ns, (unsigned long long)row->duration_ns,
		    row->thread, call);
	send(logs, TIMES);
}

/* ---- messages of the host --------------------------------------------------------------------------------- */

static void put_tensor(struct tt_jsonw *w, const struct tt_ops_tensor *tensor, bool logical)
{
	static const char *const names[] = {"W", "X", "Y", "Z"};
	static const int places[] = {0, 3, 2, 1}; /* keys come in the order of the alphabet */
	struct tt_str text = {0};

	tt_jsonw_object(w);
	tt_jsonw_key_string(w, "dtype", tt_ops_dtype_name(tensor));
	tt_jsonw_key_string(w, "layout", tt_ops_layout_name(tensor));
	tt_jsonw_key(w, "shape");
	tt_jsonw_object(w);
	for (int i = 0; i < 4; i++) {
		tt_jsonw_key(w, names[i]);
		if (!logical) {
			tt_jsonw_uint(w, tensor->padded[places[i]]);
			continue;
		}
		tt_str_clear(&text);
		tt_str_addf(&text, "%u[%u]", tensor->padded[places[i]], tensor->logical[places[i]]);
		tt_jsonw_string(w, tt_str_text(&text));
	}
	tt_jsonw_end(w);
	tt_jsonw_key(w, "storage_type");
	if (!tensor->on_device) {
		tt_jsonw_string(w, "HOST");
	} else {
		tt_jsonw_object(w);
		tt_jsonw_key_int(w, "device_id", tensor->device);
		tt_jsonw_key(w, "memory_config");
		tt_jsonw_object(w);
		tt_jsonw_key_string(w, "buffer_type", tt_ops_buffer_name(tensor));
		tt_jsonw_key_string(w, "memory_layout", tt_ops_memory_layout_name(tensor));
		tt_jsonw_end(w);
		tt_jsonw_end(w);
	}
	tt_jsonw_end(w);
	tt_str_deinit(&text);
}

static void put_tensors(struct tt_jsonw *w, const char *key, const struct tt_ops_tensor *tensors,
			uint32_t count, bool logical)
{
	tt_jsonw_key(w, key);
	tt_jsonw_array(w);
	for (uint32_t i = 0; i < count; i++)
		put_tensor(w, &tensors[i], logical);
	tt_jsonw_end(w);
}

static void put_bandwidths(struct tt_jsonw *w, const char *key, const double *numbers,
			   uint32_t count)
{
	tt_jsonw_key(w, key);
	tt_jsonw_array(w);
	for (uint32_t i = 0; i < count; i++)
		tt_jsonw_real(w, numbers[i]);
	tt_jsonw_end(w);
}

static void put_model(struct tt_jsonw *w, const struct tt_ops_program *program)
{
	bool modelled = program->modelled;

	tt_jsonw_key(w, "performance_model");
	tt_jsonw_object(w);
	tt_jsonw_key_int(w, "bandwidth_ns", modelled ? (int64_t)program->bandwidth_ns : 1);
	tt_jsonw_key_int(w, "compute_ns", modelled ? (int64_t)program->compute_ns : 1);
	tt_jsonw_key_int(w, "ideal_ns", modelled ? (int64_t)program->ideal_ns : 1);
	put_bandwidths(w, "input_bws", program->bandwidths, program->input_bws);
	put_bandwidths(w, "output_bws", program->bandwidths + program->input_bws,
		       program->output_bws);
	tt_jsonw_end(w);
}

static void put_kernel(struct tt_jsonw *w, const struct tt_ops_program *program, bool computes)
{
	const char *slash = strrchr(program->source, '/');
	struct tt_str name = {0};

	tt_jsonw_key(w, computes ? "compute_kernels" : "datamovement_kernels");
	tt_jsonw_array(w);
	if (program->computes == computes) {
		slash = slash ? slash + 1 : program->source;
		tt_str_addf(&name, "%.*s/%llu/", (int)strcspn(slash, "."), slash,
			    (unsigned long long)program->hash);
		tt_jsonw_object(w);
		if (computes)
			tt_jsonw_key_string(w, "math_fidelity", program->fidelity);
		tt_jsonw_key_string(w, "name", tt_str_text(&name));
		tt_jsonw_key_string(w, "source", program->source);
		tt_jsonw_end(w);
		tt_str_deinit(&name);
	}
	tt_jsonw_end(w);
}

static void put_attributes(struct tt_jsonw *w, const struct tt_ops_attributes *attributes)
{
	tt_jsonw_key(w, "attributes");
	if (!attributes) {
		tt_jsonw_null(w);
		return;
	}
	tt_jsonw_object(w);
	for (uint32_t i = 0; i < attributes->count; i++)
		tt_jsonw_key_string(w, attributes->rows[i].name, attributes->rows[i].text);
	tt_jsonw_end(w);
}

/* All that is known of the operation, as upstream tells it. */
static tt_status put_json(struct tt_str *out, const struct tt_ops_logs *logs,
			  const struct tt_ops_row *row)
{
	const struct tt_ops_program *program = row->program;
	struct tt_jsonw w;

	tt_jsonw_init_str(&w, out, (struct tt_jsonw_style){.indent = 4, .utf8 = true});
	tt_jsonw_object(&w);
	put_attributes(&w, program->attributes);
	tt_jsonw_key_int(&w, "device_id", row->device);
	tt_jsonw_key_int(&w, "global_call_count", (int64_t)row->call);
	put_tensors(&w, "input_tensors", program->tensors, program->inputs, is_main(logs));
	if (program->source) {
		tt_jsonw_key(&w, "kernel_info");
		tt_jsonw_object(&w);
		put_kernel(&w, program, true);
		put_kernel(&w, program, false);
		tt_jsonw_key(&w, "kernel_sizes");
		tt_jsonw_object(&w);
		tt_jsonw_end(&w);
		tt_jsonw_end(&w);
	}
	tt_jsonw_key_string(&w, "op_code", program->op_code);
	tt_jsonw_key(&w, "op_hash");
	tt_jsonw_uint(&w, program->hash);
	tt_jsonw_key_string(&w, "op_type", "tt_dnn_device");
	tt_jsonw_key(&w, "optional_input_tensors");
	tt_jsonw_array(&w);
	tt_jsonw_end(&w);
	put_tensors(&w, "output_tensors", program->tensors + program->inputs, program->outputs,
		    is_main(logs));
	if (program->known)
		put_model(&w, program);
	tt_jsonw_key(&w, "program_cache_hit");
	tt_jsonw_bool(&w, row->cache_hit);
	tt_jsonw_end(&w);
	return tt_jsonw_finish(&w);
}

/* A message in its quotes, with its time. */
static void send_message(struct tt_ops_logs *logs, const char *text, uint64_t ns)
{
	struct tt_str *out = &logs->line;

	tt_str_addc(out, '`');
	for (size_t plain; *text; text += plain + (text[plain] == '`')) {
		plain = strcspn(text, "`");
		tt_str_add(out, text, plain);
		if (text[plain])
			tt_str_adds(out, "``");
	}
	tt_str_addf(out, "`;%llu\n", (unsigned long long)ns);
	send(logs, MESSAGES);
}

/* Where the operations that follow come from, when that is another place. */
static void emit_loc(struct tt_ops_logs *logs, const struct tt_ops_row *row)
{
	tt_str_clear(&logs->text);
	tt_ops_loc_text(&logs->text, row);
	if ((!row->loc && !row->file) || strchr(tt_str_text(&logs->text), '\n'))
		return;
	if (strcmp(tt_str_text(&logs->text), tt_str_text(&logs->loc)) == 0)
		return;
	tt_str_clear(&logs->loc);
	tt_str_adds(&logs->loc, tt_str_text(&logs->text));
	tt_str_addf(&logs->line, "MLIR_OP_LOCATION;%s;%llu\n", tt_str_text(&logs->loc),
		    (unsigned long long)row->begin_ns);
	send(logs, MESSAGES);
}

/* In full the first time; then the hash stands for what was said. */
static tt_status emit_operation(struct tt_ops_logs *logs, const struct tt_ops_row *row)
{
	uint64_t key[2] = {row->device, row->program->hash};
	struct tt_map_entry *told = tt_map_add(&logs->told, key, sizeof(key), NULL);
	struct tt_str *text = &logs->text;

	if (!told)
		return tt_fail_nomem();
	emit_loc(logs, row);
	tt_str_clear(text);
	tt_str_addf(text, "TT_DNN_DEVICE_OP: \"%s\", %llu, %u, ", row->program->op_code,
		    (unsigned long long)row->program->hash, row->device);
	if (is_main(logs))
		tt_str_addf(text, "%s, ", row->cache_hit ? "true" : "false");
	tt_str_addu(text, row->call);
	if (told->number != row->program->number) {
		tt_str_adds(text, " ->\n");
		TT_TRY(put_json(text, logs, row));
		told->number = row->program->number;
	}
	send_message(logs, tt_str_text(text), row->begin_ns);
	return tt_str_status(text);
}

static tt_status emit_signpost(struct tt_ops_logs *logs, const struct tt_ops_row *row)
{
	tt_str_clear(&logs->text);
	tt_str_addf(&logs->text, "TT_SIGNPOST: %s%s%s", row->text, row->message ? "\n" : "",
		    row->message ? row->message : "");
	send_message(logs, tt_str_text(&logs->text), row->begin_ns);
	return tt_str_status(&logs->text);
}

/* Of each chip by itself. */
static tt_status emit_trace(struct tt_ops_logs *logs, const struct tt_ops_row *row)
{
	static const char *const words[TT_OPS_TRACE_STEPS] = {
		[TT_OPS_TRACE_BEGIN] = "BEGIN",
		[TT_OPS_TRACE_END] = "END",
		[TT_OPS_TRACE_REPLAY] = "REPLAY",
		[TT_OPS_TRACE_RELEASE] = "RELEASE",
	};

	for (uint32_t i = 0; i < row->chip->count; i++) {
		tt_str_clear(&logs->text);
		tt_str_addf(&logs->text, "TT_METAL_TRACE_%s: %u, %u", words[row->step],
			    row->chip->ids[i], row->trace_id);
		send_message(logs, tt_str_text(&logs->text), row->begin_ns);
	}
	return tt_str_status(&logs->text);
}

/* ---- all of them ------------------------------------------------------------------------------------------ */

static tt_status begin(void *context, const struct tt_ops_survey *survey)
{
	struct tt_ops_logs *logs = context;

	tt_str_adds(&logs->line, "name,src_file,src_line,zone_name,zone_text,ns_since_start,exec_"
				 "time_ns,thread,value,special_parent_text\n");
	send(logs, TIMES);
	tt_str_adds(&logs->line, "MessageName;total_ns\n");
	send(logs, MESSAGES);
	begin_report(logs);
	return begin_device_log(logs, survey);
}

static tt_status emit_row(void *context, const struct tt_ops_row *row)
{
	struct tt_ops_logs *logs = context;

	if (row->kind == TT_OPS_SIGNPOST)
		return emit_signpost(logs, row);
	if (row->kind == TT_OPS_TRACE)
		return emit_trace(logs, row);
	if (row->kind != TT_OPS_DEVICE)
		return TTNN_OK;
	if (row->ran) {
		emit_device(logs, row);
		emit_report(logs, row);
	}
	/* A replay has no zone and no message: those of the capture stand for it. */
	if (!row->session) {
		emit_zone(logs, row);
		TT_TRY(emit_operation(logs, row));
	}
	for (int i = 0; i < LOGS; i++)
		if (logs->files[i])
			TT_TRY(tt_file_status(logs->files[i]));
	return tt_str_status(&logs->line);
}

const struct tt_ops_sink tt_ops_logs_sink = {begin, emit_row};

tt_status tt_ops_logs_new(struct tt_ops_logs **out, const char *folder, enum ttnn_dialect dialect)
{
	static const char *const names[LOGS] = {
		[DEVICE] = "profile_log_device.csv",
		[TIMES] = "tracy_ops_times.csv",
		[MESSAGES] = "tracy_ops_data.csv",
		[REPORT] = "cpp_device_perf_report.csv",
	};
	struct tt_ops_logs *logs = tt_calloc(1, sizeof(*logs));
	tt_status status = TTNN_OK;

	if (!logs)
		return tt_fail_nomem();
	logs->dialect = dialect;
	for (int i = 0; status == TTNN_OK && i < LOGS; i++) {
		/* The report of the devices came with the later layout. */
		if (i == REPORT && !is_main(logs))
			continue;
		tt_str_clear(&logs->text);
		tt_str_addf(&logs->text, "%s/%s", folder, names[i]);
		status = tt_str_status(&logs->text);
		if (status == TTNN_OK)
			status = tt_file_create(&logs->files[i], tt_str_text(&logs->text));
	}
	if (status != TTNN_OK)
		return tt_ops_logs_end(logs, status);
	*out = logs;
	return TTNN_OK;
}

tt_status tt_ops_logs_end(struct tt_ops_logs *logs, tt_status status)
{
	if (!logs)
		return status;
	for (int i = 0; i < LOGS; i++) {
		if (status == TTNN_OK && logs->files[i])
			status = tt_file_commit(logs->files[i]);
		else
			tt_file_discard(logs->files[i]);
	}
	tt_map_deinit(&logs->told);
	tt_str_deinit(&logs->line);
	tt_str_deinit(&logs->text);
	tt_str_deinit(&logs->loc);
	tt_free(logs);
	return status;
}
