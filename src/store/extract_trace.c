/* extract_trace.c: configurations of a trace: its operations (V1), or the calls of its user (V2). */
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "store/clean.h"
#include "store/element.h"
#include "store/extract.h"
#include "store/names.h"
#include "trace/devices.h"
#include "trace/params.h"
#include "trace/source.h"

#define MEMOS 63
#define THREADS 256 /* those beyond share a place */

/* What is known of a name. */
struct memo {
	const char *name;
	struct tt_str dotted;
	bool wanted;
};

struct reader {
	struct tt_extract *extract;
	struct memo memos[MEMOS + 1]; /* of operations, and the last call's */
	const char *name;             /* of the call in hand, dotted */
	struct tt_params_writer writer;
	struct tt_json_parser parser;
	struct tt_seen_devices devices;
	struct tt_str raw, args, source, own;   /* own: what the trace says of itself */
	struct tt_str test;                     /* the one that runs; empty: none */
	uint64_t before;                        /* calls when it began */
	const struct tt_schema *outer[THREADS]; /* of the call from C that each thread began last */
	char board[32], series[32];
	uint32_t cards;
};

/* ---- devices ------------------------------------------------------------------------------------------- */

static const struct ttnn_device_info *find_device(void *context, uint32_t id)
{
	const struct reader *r = context;

	return tt_seen_devices_find(&r->devices, id);
}

static void copy(char out[32], const char *text)
{
	snprintf(out, 32, "%s", text ? text : "");
}

/* What the calls from here on run on. */
static tt_status see_device(struct reader *r, const struct ttnn_device_info *info)
{
	copy(r->board, info->board_type);
	copy(r->series, info->device_series);
	r->cards = info->card_count;
	return tt_seen_devices_add(&r->devices, info);
}

static struct tt_master_machine machine_of(const struct reader *r)
{
	if (!*r->board)
		return (struct tt_master_machine){0};
	return (struct tt_master_machine){
		.board_type = r->board, .device_series = r->series, .card_count = r->cards};
}

/* ---- tests --------------------------------------------------------------------------------------------- */

/* Ends the test that runs, if one does. */
static tt_status end_test(struct reader *r, const char *outcome)
{
	struct tt_extract *extract = r->extract;
	struct tt_extract_test test = {tt_str_text(&r->test), outcome, extract->calls - r->before};
	tt_status status = TTNN_OK;

	if (r->test.length && extract->test)
		status = extract->test(extract->context, &test);
	tt_str_clear(&r->test);
	tt_str_clear(&r->source);
	tt_str_adds(&r->source, extract->source ? extract->source : tt_str_text(&r->own));
	return status;
}

static tt_status see_mark(struct reader *r, const struct tt_event_mark *mark)
{
	char outcome[16];

	if (!mark->detail)
		return TTNN_OK;
	if (strcmp(mark->text, TT_EXTRACT_END) == 0) {
		size_t length = strcspn(mark->detail, " ");

		if (length >= sizeof(outcome))
			length = sizeof(outcome) - 1;
		memcpy(outcome, mark->detail, length);
		outcome[length] = '\0';
		return end_test(r, outcome);
	}
	if (strcmp(mark->text, TT_EXTRACT_BEGIN) != 0)
		return TTNN_OK;
	TT_TRY(end_test(r, "killed"));
	tt_str_adds(&r->test, mark->detail);
	tt_str_clear(&r->source);
	tt_extract_source(&r->source, r->extract, mark->detail);
	r->before = r->extract->calls;
	return tt_str_status(&r->test);
}

/* ---- calls --------------------------------------------------------------------------------------------- */

/* Dots the name; whether its calls are wanted. Names of a source are equal when their pointers are. */
static bool wants(struct reader *r, const char *name)
{
	struct memo *memo = &r->memos[((uintptr_t)name >> 4) % MEMOS];

	if (memo->name != name) {
		tt_str_clear(&memo->dotted);
		tt_names_dotted(&memo->dotted, name);
		memo->name = name;
		memo->wanted = tt_extract_wants(r->extract, tt_str_text(&memo->dotted));
	}
	r->name = tt_str_text(&memo->dotted);
	return memo->wanted;
}

/* The same for a name that lives until the next event. */
static bool wants_call(struct reader *r, const char *name)
{
	struct memo *memo = &r->memos[MEMOS];

	if (!memo->name || strcmp(tt_str_text(&memo->dotted), name) != 0) {
		tt_str_clear(&memo->dotted);
		tt_names_dotted(&memo->dotted, name);
		memo->name = "";
		memo->wanted = tt_extract_wants(r->extract, tt_str_text(&memo->dotted));
	}
	r->name = tt_str_text(&memo->dotted);
	return memo->wanted;
}

static tt_status give(struct reader *r, enum tt_master_layout layout,
		      const struct tt_master_machine *machine)
{
	TT_TRY(tt_str_status(&r->args));
	return tt_extract_give(r->extract,
			       &(struct tt_master_call){.op = r->name,
							.layout = layout,
							.args = tt_str_text(&r->args),
							.length = r->args.length,
							.source = tt_str_text(&r->source),
							.trace_uid = r->extract->trace_uid,
							.pytest_args = r->extract->pytest_args,
							.machine = *machine});
}

static tt_status see_operation(struct reader *r, const struct tt_event_scope_begin *scope)
{
	struct tt_master_machine machine = machine_of(r);
	struct tt_jsonw w;

	if (!scope->arg_count || !wants(r, scope->name))
		return TTNN_OK;
	tt_str_clear(&r->args);
	tt_jsonw_init_str(&w, &r->args, (struct tt_jsonw_style){.compact = true});
	tt_element_args(&w, r->name, scope);
	TT_TRY(tt_jsonw_finish(&w));
	return give(r, TT_MASTER_V1, &machine);
}

/* The place of an argument that a call from C names: the leading ones without a default have one. */
static int place_of(const struct tt_schema *schema, const char *name)
{
	for (size_t i = 0; schema && i < schema->count && !schema->fields[i].defaulted; i++)
		if (strcmp(schema->fields[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* The arguments of a call as a parameter file has them, {"arg0": VALUE, "dtype": VALUE}. */
static void write_raw(struct reader *r, struct tt_jsonw *w, const struct tt_event_call *call,
		      const struct tt_schema *schema)
{
	const struct ttnn_value *args = &call->values[TT_CALL_ARGS],
				*named = &call->values[TT_CALL_KWARGS];
	char key[24];

	tt_jsonw_object(w);
	for (uint32_t i = 0; i < args->count; i++) {
		snprintf(key, sizeof(key), "arg%u", i);
		tt_jsonw_key(w, key);
		tt_params_value(w, &r->writer, &args->items[i]);
	}
	for (uint32_t i = 0; i + 1 < named->count; i += 2) {
		const struct ttnn_value *name = &named->items[i];
		int place = name->kind == TTNN_VALUE_STRING ? place_of(schema, name->text) : -1;

		if (name->kind != TTNN_VALUE_STRING || tt_clean_dropped(name->text))
			continue;
		snprintf(key, sizeof(key), "arg%d", place);
		tt_jsonw_key(w, place >= 0 ? key : name->text);
		tt_params_value(w, &r->writer, &named->items[i + 1]);
	}
	tt_jsonw_end(w);
}

static tt_status see_call(struct reader *r, const struct tt_event_call *call,
			  const struct tt_schema *schema)
{
	struct tt_master_machine machine = machine_of(r);
	struct tt_json_part part = {.name = "a call"};
	const struct tt_json *raw;
	struct tt_jsonw w;

	if (!wants_call(r, call->name))
		return TTNN_OK;
	tt_str_clear(&r->raw);
	tt_jsonw_init_str(&w, &r->raw, (struct tt_jsonw_style){.compact = true});
	write_raw(r, &w, call, schema);
	TT_TRY(tt_jsonw_finish(&w));
	TT_TRY(tt_str_status(&r->raw));
	part.whole = tt_str_text(&r->raw);
	part.length = r->raw.length;
	TT_TRY(tt_json_parser_read(&raw, &r->parser, &part));
	tt_str_clear(&r->args);
	tt_jsonw_init_str(&w, &r->args, (struct tt_jsonw_style){.compact = true});
	tt_clean_value(&w, &machine, raw);
	TT_TRY(tt_jsonw_finish(&w));
	return give(r, TT_MASTER_V2, &machine);
}

static tt_status see(struct reader *r, const struct tt_seen *seen)
{
	const struct tt_event *event = &seen->event;
	bool v1 = r->extract->layout != TT_MASTER_V2;

	switch (event->kind) {
	case TT_EVENT_MARK:
		return see_mark(r, &event->mark);
	case TT_EVENT_DEVICE_OPEN:
		return see_device(r, event->device.info);
	case TT_EVENT_SCOPE_BEGIN:
		if (event->begin.kind != TT_SCOPE_OPERATION)
			return TTNN_OK;
		if (!seen->depth)
			r->outer[seen->thread % THREADS] = event->begin.schema;
		return v1 ? see_operation(r, &event->begin) : TTNN_OK;
	case TT_EVENT_CALL:
		/* What Python wrote is inside of its scope. */
		return v1 || event->call.error
			       ? TTNN_OK
			       : see_call(r, &event->call,
					  seen->depth ? NULL : r->outer[seen->thread % THREADS]);
	default:
		return TTNN_OK;
	}
}

static tt_status read_all(struct reader *r, struct tt_source *source)
{
	const struct tt_seen *seen;

	tt_source_want(source,
		       &(struct tt_source_wants){.kinds = TT_WANT(SCOPE_BEGIN) | TT_WANT(CALL) |
							  TT_WANT(MARK) | TT_WANT(DEVICE_OPEN),
						 .values = true});
	TT_TRY(end_test(r, ""));
	for (;;) {
		TT_TRY(tt_source_next(&seen, source));
		if (!seen)
			return end_test(r, "killed");
		TT_TRY(see(r, seen));
	}
}

tt_status tt_extract_trace(struct tt_extract *extract, const char *path)
{
	struct reader r = {.extract = extract,
			   .writer = {.style = tt_params_style("tt-metal"), .device = find_device}};
	struct tt_source *source;
	tt_status status;

	TT_TRY(tt_source_open(&source, path));
	r.writer.context = &r;
	tt_extract_source(&r.own, extract, tt_source_info(source)->program);
	status = read_all(&r, source);
	tt_source_close(source);
	tt_seen_devices_deinit(&r.devices);
	tt_json_parser_deinit(&r.parser);
	for (size_t i = 0; i <= MEMOS; i++)
		tt_str_deinit(&r.memos[i].dotted);
	tt_str_deinit(&r.raw);
	tt_str_deinit(&r.args);
	tt_str_deinit(&r.source);
	tt_str_deinit(&r.own);
	tt_str_deinit(&r.test);
	return status;
}
