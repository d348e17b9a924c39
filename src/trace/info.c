#include "trace/info.h"

#include <inttypes.h>
#include <time.h>

#include "event/encode.h"

/* How many names the text shows. */
#define NAMES 20

static const char *const scope_kinds[] = {
	[TT_SCOPE_FRONTEND] = "frontend", [TT_SCOPE_OPERATION] = "operation",
	[TT_SCOPE_PRIM] = "prim",         [TT_SCOPE_DEVICE_OP] = "device operation",
	[TT_SCOPE_CREATE] = "create",     [TT_SCOPE_HOST] = "host",
};

static void add_bytes(struct tt_str *out, uint64_t bytes)
{
	if (bytes < (uint64_t)10 << 10)
		tt_str_addf(out, "%" PRIu64 " bytes", bytes);
	else if (bytes < (uint64_t)10 << 20)
		tt_str_addf(out, "%" PRIu64 " KiB", bytes >> 10);
	else
		tt_str_addf(out, "%" PRIu64 " MiB", bytes >> 20);
}

static void add_time(struct tt_str *out, int64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm parts;
	char text[64];

	if (!gmtime_r(&seconds, &parts) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &parts))
		text[0] = '\0';
	tt_str_adds(out, text);
}

static void add_number(struct tt_str *out, uint64_t number, const char *one, const char *many)
{
	tt_str_addf(out, "%" PRIu64 " %s", number, number == 1 ? one : many);
}

void tt_trace_info_line(struct tt_str *out, const struct tt_trace_info *info)
{
	add_number(out, info->events, "event", "events");
	tt_str_adds(out, " of ");
	add_number(out, info->operations, "call", "calls");
	tt_str_adds(out, " in ");
	add_number(out, info->threads, "thread", "threads");
	tt_str_adds(out, ", ");
	add_bytes(out, info->file_bytes);
	if (info->lost)
		tt_str_addf(out, ", %" PRIu64 " records lost", info->lost);
	if (!info->complete)
		tt_str_adds(out, ", not finished");
}

static void add_counts(struct tt_str *out, const struct tt_trace_info *info)
{
	for (int i = 0; i < TT_EVENT_KINDS; i++)
		if (info->counts[i])
			tt_str_addf(out, "  %-16s %10" PRIu64 "\n", tt_event_kind_name(i),
				    info->counts[i]);
}

void tt_trace_info_text(struct tt_str *out, const struct tt_trace_info *info)
{
	tt_str_addf(out, "program    %s, process %" PRIu64 "\n", info->program, info->pid);
	if (info->arguments[0])
		tt_str_addf(out, "command    %s\n", info->arguments);
	tt_str_adds(out, "began      ");
	add_time(out, info->began_ns);
	tt_str_addf(out, "\nlasted     %.6f s\n", (double)info->duration_ns / 1e9);
	tt_str_adds(out, "holds      ");
	tt_trace_info_line(out, info);
	tt_str_addf(out, "\nchunks     %" PRIu64 ", unpacked ", info->chunks);
	add_bytes(out, info->raw_bytes);
	tt_str_addf(out, "\nformat     version %" PRIu32 ", ttnn %s\n", info->version,
		    info->library);
	if (info->damage)
		tt_str_addf(out, "damage     at byte %" PRIu64 ": %s (%" PRIu64 " in all)\n",
			    info->bad_offset, info->damage, info->bad_chunks);
	tt_str_adds(out, "\nevents\n");
	add_counts(out, info);
	if (info->name_count)
		tt_str_adds(out, "\nscopes\n");
	for (size_t i = 0; i < info->name_count && i < NAMES; i++)
		tt_str_addf(out, "  %10" PRIu64 "  %-16s  %s\n", info->names[i].count,
			    scope_kinds[info->names[i].kind], info->names[i].name);
	if (info->name_count > NAMES)
		tt_str_addf(out, "  and %zu more names\n", info->name_count - NAMES);
}

static void write_names(struct tt_jsonw *w, const struct tt_trace_info *info)
{
	tt_jsonw_key(w, "scopes");
	tt_jsonw_array(w);
	for (size_t i = 0; i < info->name_count; i++) {
		tt_jsonw_object(w);
		tt_jsonw_key_string(w, "name", info->names[i].name);
		tt_jsonw_key_string(w, "kind", scope_kinds[info->names[i].kind]);
		tt_jsonw_key_int(w, "count", (int64_t)info->names[i].count);
		tt_jsonw_end(w);
	}
	tt_jsonw_end(w);
}

void tt_trace_info_json(struct tt_jsonw *w, const struct tt_trace_info *info)
{
	tt_jsonw_object(w);
	tt_jsonw_key_int(w, "version", info->version);
	tt_jsonw_key_string(w, "program", info->program);
	tt_jsonw_key_string(w, "command", info->arguments);
	tt_jsonw_key_string(w, "library", info->library);
	tt_jsonw_key_int(w, "pid", (int64_t)info->pid);
	tt_jsonw_key_int(w, "began_ns", info->began_ns);
	tt_jsonw_key_int(w, "duration_ns", (int64_t)info->duration_ns);
	tt_jsonw_key(w, "complete");
	tt_jsonw_bool(w, info->complete);
	tt_jsonw_key_int(w, "events", (int64_t)info->events);
	tt_jsonw_key_int(w, "operations", (int64_t)info->operations);
	tt_jsonw_key_int(w, "lost", (int64_t)info->lost);
	tt_jsonw_key_int(w, "threads", info->threads);
	tt_jsonw_key_int(w, "chunks", (int64_t)info->chunks);
	tt_jsonw_key_int(w, "file_bytes", (int64_t)info->file_bytes);
	tt_jsonw_key_int(w, "raw_bytes", (int64_t)info->raw_bytes);
	tt_jsonw_key_int(w, "bad_chunks", (int64_t)info->bad_chunks);
	if (info->damage) {
		tt_jsonw_key_string(w, "damage", info->damage);
		tt_jsonw_key_int(w, "damage_offset", (int64_t)info->bad_offset);
	}
	tt_jsonw_key(w, "counts");
	tt_jsonw_object(w);
	for (int i = 0; i < TT_EVENT_KINDS; i++)
		tt_jsonw_key_int(w, tt_event_kind_name(i), (int64_t)info->counts[i]);
	tt_jsonw_end(w);
	write_names(w, info);
	tt_jsonw_end(w);
}
