/*
 * executions.c: who made a configuration how often, folded into its JSON: executions of V2, machines and sources of V1.
 */
#include <string.h>

#include "base/jsondump.h"
#include "store/master_parts.h"
#include "store/sorted.h"

static bool same_text(const struct tt_json *value, const char *text)
{
	const char *found = tt_json_string(value, NULL);

	return found && text ? strcmp(found, text) == 0 : !found && !text;
}

static void add_execution(struct tt_str *out, const struct tt_master_run *run, uint64_t times)
{
	tt_str_addf(out, "{\"count\": %llu, \"machine_info\": ", (unsigned long long)times);
	tt_str_add(out, run->machine, run->machine_length);
	tt_str_adds(out, ", \"pytest_args\": ");
	if (run->pytest_args)
		tt_json_dump_text(out, run->pytest_args, strlen(run->pytest_args));
	else
		tt_str_adds(out, "null");
	tt_str_adds(out, ", \"source\": ");
	tt_json_dump_text(out, run->source, strlen(run->source));
	tt_str_adds(out, ", \"trace_uid\": ");
	if (run->trace_uid)
		tt_json_dump_text(out, run->trace_uid, strlen(run->trace_uid));
	else
		tt_str_adds(out, "null");
	tt_str_addc(out, '}');
}

/* An execution again, with a count that is at least so large. */
static void add_counted(struct tt_str *out, const struct tt_json *execution, uint64_t times)
{
	struct tt_json_iter it = tt_json_iter(execution);
	uint64_t before;

	tt_str_addc(out, '{');
	for (bool first = true; tt_json_next(&it); first = false) {
		tt_json_dump_key(out, it.key, it.key_length, first);
		if (strcmp(it.key, "count") == 0 && tt_json_uint(&before, it.value))
			tt_str_addu(out, before > times ? before : times);
		else
			tt_json_dump(out, it.value);
	}
	tt_str_addc(out, '}');
}

/* Executions of V2: the same source, run and machine is one. */
static tt_status add_executions(struct tt_master *master, const struct tt_json *executions,
				const struct tt_master_count *of)
{
	const struct tt_master_run *run = &master->runs.data[of->run];
	struct tt_json_iter it = tt_json_iter(executions);
	struct tt_str *out = &master->made;
	bool found = false;

	tt_str_addc(out, '[');
	for (bool first = true; tt_json_next(&it); first = false) {
		bool same = same_text(tt_json_get(it.value, "source"), run->source) &&
			    same_text(tt_json_get(it.value, "trace_uid"), run->trace_uid);

		tt_str_clear(&master->text);
		if (same)
			tt_sorted_dump(&master->text, tt_json_get(it.value, "machine_info"));
		same = same && master->text.length == run->machine_length &&
		       memcmp(tt_str_text(&master->text), run->machine, run->machine_length) == 0;
		tt_str_adds(out, first ? "" : ", ");
		if (same && !found)
			add_counted(out, it.value, of->count);
		else
			tt_json_dump(out, it.value);
		found |= same;
	}
	if (!found) {
		tt_str_adds(out, tt_json_count(executions) ? ", " : "");
		add_execution(out, run, of->count);
	}
	tt_str_addc(out, ']');
	return tt_str_status(&master->text);
}

/* The part of a machine that V1 has, from that of V2. */
static void add_short_machine(struct tt_str *out, const struct tt_json *machine)
{
	static const char *const keys[] = {"board_type", "device_series", "card_count"};

	tt_str_addc(out, '{');
	for (size_t i = 0; i < TT_COUNT(keys); i++) {
		tt_json_dump_key(out, keys[i], strlen(keys[i]), !i);
		tt_json_dump(out, tt_json_get(machine, keys[i]));
	}
	tt_str_addc(out, '}');
}

/* The machines of V1 with one more, if it is new. */
static tt_status add_machines(struct tt_master *master, const struct tt_json *machines,
			      const struct tt_master_run *run)
{
	struct tt_json_iter it = tt_json_iter(machines);
	struct tt_str *out = &master->made;
	const struct tt_json *machine;
	struct tt_str one = {0};
	bool found = false;

	TT_TRY(tt_json_parser_read(&machine, &master->third,
				   &(struct tt_json_part){.name = "a machine",
							  .whole = run->machine,
							  .length = run->machine_length}));
	add_short_machine(&one, machine);
	tt_str_addc(out, '[');
	for (bool first = true; tt_json_next(&it); first = false) {
		tt_str_clear(&master->text);
		add_short_machine(&master->text, it.value);
		found |= strcmp(tt_str_text(&master->text), tt_str_text(&one)) == 0;
		tt_str_adds(out, first ? "" : ", ");
		tt_json_dump(out, it.value);
	}
	if (!found) {
		tt_str_adds(out, tt_json_count(machines) ? ", " : "");
		tt_str_adds(out, tt_str_text(&one));
	}
	tt_str_addc(out, ']');
	out->failed |= one.failed || master->text.failed;
	tt_str_deinit(&one);
	return TTNN_OK;
}

/* Where a configuration has a list of sources, one more if it is new. */
static void add_sources(struct tt_str *out, const struct tt_json *sources, const char *source)
{
	struct tt_json_iter it = tt_json_iter(sources);
	bool found = !*source;

	if (tt_json_kind(sources) != TT_JSON_ARRAY) {
		tt_json_dump(out, sources);
		return;
	}
	tt_str_addc(out, '[');
	for (bool first = true; tt_json_next(&it); first = false) {
		found |= same_text(it.value, source);
		tt_str_adds(out, first ? "" : ", ");
		tt_json_dump(out, it.value);
	}
	if (!found) {
		tt_str_adds(out, tt_json_count(sources) ? ", " : "");
		tt_json_dump_text(out, source, strlen(source));
	}
	tt_str_addc(out, ']');
}

static tt_status fold_one(struct tt_master *master, const struct tt_master_count *of)
{
	struct tt_master_entry *entry = &master->ops.data[of->op].entries.data[of->number];
	const struct tt_master_run *run = &master->runs.data[of->run];
	const bool v2 = master->layout == TT_MASTER_V2;
	const bool machine = !v2 && strcmp(run->machine, "null") != 0;
	struct tt_str *out = &master->made;
	const struct tt_json *config;
	struct tt_json_iter it;
	bool first = true;

	TT_TRY(tt_master_entry(&config, master, &master->parser, entry));
	if (tt_json_kind(config) != TT_JSON_OBJECT ||
	    (!v2 && !machine && tt_json_kind(tt_json_get(config, "source")) != TT_JSON_ARRAY))
		return TTNN_OK;
	tt_str_clear(out);
	tt_str_addc(out, '{');
	for (it = tt_json_iter(config); tt_json_next(&it); first = false) {
		tt_json_dump_key(out, it.key, it.key_length, first);
		if (v2 && strcmp(it.key, "executions") == 0)
			TT_TRY(add_executions(master, it.value, of));
		else if (machine && strcmp(it.key, "machine_info") == 0)
			TT_TRY(add_machines(master, it.value, run));
		else if (!v2 && strcmp(it.key, "source") == 0)
			add_sources(out, it.value, run->source);
		else
			tt_json_dump(out, it.value);
	}
	if (v2 && !tt_json_get(config, "executions")) {
		tt_str_adds(out, ", \"executions\": ");
		TT_TRY(add_executions(master, NULL, of));
	}
	if (machine && !tt_json_get(config, "machine_info")) {
		tt_str_adds(out, ", \"machine_info\": ");
		TT_TRY(add_machines(master, NULL, run));
	}
	tt_str_addc(out, '}');
	TT_TRY(tt_str_status(out));
	return tt_master_keep_made(master, entry);
}

tt_status tt_master_fold(struct tt_master *master)
{
	tt_status status = TTNN_OK;
	size_t done;

	for (done = 0; done < master->waiting.count && status == TTNN_OK; done++) {
		struct tt_master_count *of = &master->counts.data[master->waiting.data[done]];

		status = fold_one(master, of);
		if (status == TTNN_OK)
			of->waits = false;
		else
			break;
	}
	if (done) {
		master->waiting.count -= done;
		memmove(master->waiting.data, master->waiting.data + done,
			master->waiting.count * sizeof(master->waiting.data[0]));
	}
	return status;
}
