/*
 * executions.c: who made a configuration how often, folded into its JSON: executions of V2, machines and sources of V1.
 */
#include <stdlib.h>
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

/* What was counted of one configuration: numbers of counts. All are folded at once: it may have thousands of executions. */
struct group {
	const size_t *counts;
	size_t count;
};

/* What makes executions one, as texts that the master keeps: the same text is at the same place. */
struct identity {
	const char *source, *trace_uid, *machine;
};

static bool is_same(const struct identity *a, const struct tt_master_run *run)
{
	return a->source == run->source && a->trace_uid == run->trace_uid &&
	       a->machine == run->machine;
}

/* Where the master keeps a text; false when it does not, so that no run has it. */
static bool find_kept(const char **out, const struct tt_master *master, const struct tt_json *value)
{
	size_t length;
	const char *text = tt_json_string(value, &length);
	const struct tt_map_entry *entry = text ? tt_map_find(&master->texts, text, length) : NULL;

	*out = entry ? entry->key : NULL;
	return entry || !text;
}

static bool identify(struct identity *out, struct tt_master *master,
		     const struct tt_json *execution)
{
	const struct tt_map_entry *machine;

	if (!find_kept(&out->source, master, tt_json_get(execution, "source")) || !out->source ||
	    !find_kept(&out->trace_uid, master, tt_json_get(execution, "trace_uid")))
		return false;
	tt_str_clear(&master->text);
	tt_sorted_dump(&master->text, tt_json_get(execution, "machine_info"));
	machine = tt_map_find(&master->texts, tt_str_text(&master->text), master->text.length);
	out->machine = machine ? machine->key : NULL;
	return machine != NULL;
}

/* The largest count of an identity; those that have it are done then. False: there is none, or it was done before. */
static bool take_counts(uint64_t *most, struct tt_master *master, const struct group *group,
			const struct identity *identity)
{
	bool any = false;

	*most = 0;
	for (size_t i = 0; i < group->count; i++) {
		struct tt_master_count *of = &master->counts.data[group->counts[i]];

		if (!of->waits || !is_same(identity, &master->runs.data[of->run]))
			continue;
		*most = of->count > *most ? of->count : *most;
		of->waits = false;
		any = true;
	}
	return any;
}

/* Executions of V2: the same source, run and machine is one. */
static tt_status add_executions(struct tt_master *master, const struct tt_json *executions,
				const struct group *group)
{
	struct tt_json_iter it = tt_json_iter(executions);
	struct tt_str *out = &master->made;
	struct identity identity;
	bool first = true;
	uint64_t times;

	tt_str_addc(out, '[');
	for (; tt_json_next(&it); first = false) {
		bool same = identify(&identity, master, it.value) &&
			    take_counts(&times, master, group, &identity);

		tt_str_adds(out, first ? "" : ", ");
		if (same)
			add_counted(out, it.value, times);
		else
			tt_json_dump(out, it.value);
	}
	for (size_t i = 0; i < group->count; i++) {
		const struct tt_master_run *run =
			&master->runs.data[master->counts.data[group->counts[i]].run];

		if (!take_counts(&times, master, group,
				 &(struct identity){run->source, run->trace_uid, run->machine}))
			continue;
		tt_str_adds(out, first ? "" : ", ");
		add_execution(out, run, times);
		first = false;
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

/* Keeps the text in master->made, if it is another than before. */
static tt_status keep_changed(struct tt_master *master, struct tt_master_entry *entry)
{
	const struct tt_str *out = &master->made;

	TT_TRY(tt_str_status(out));
	if (entry->made && entry->length == out->length &&
	    memcmp(entry->made, tt_str_text(out), out->length) == 0)
		return TTNN_OK;
	return tt_master_keep_made(master, entry);
}

static tt_status fold_v2(struct tt_master *master, struct tt_master_entry *entry,
			 const struct group *group)
{
	struct tt_str *out = &master->made;
	const struct tt_json *config;
	struct tt_json_iter it;
	bool first = true;

	TT_TRY(tt_master_entry(&config, master, &master->parser, entry));
	if (tt_json_kind(config) != TT_JSON_OBJECT)
		return TTNN_OK;
	tt_str_clear(out);
	tt_str_addc(out, '{');
	for (it = tt_json_iter(config); tt_json_next(&it); first = false) {
		tt_json_dump_key(out, it.key, it.key_length, first);
		if (strcmp(it.key, "executions") == 0)
			TT_TRY(add_executions(master, it.value, group));
		else
			tt_json_dump(out, it.value);
	}
	if (!tt_json_get(config, "executions")) {
		tt_str_adds(out, ", \"executions\": ");
		TT_TRY(add_executions(master, NULL, group));
	}
	tt_str_addc(out, '}');
	return keep_changed(master, entry);
}

static tt_status fold_v1(struct tt_master *master, struct tt_master_entry *entry,
			 const struct tt_master_run *run)
{
	const bool machine = strcmp(run->machine, "null") != 0;
	struct tt_str *out = &master->made;
	const struct tt_json *config;
	struct tt_json_iter it;
	bool first = true;

	TT_TRY(tt_master_entry(&config, master, &master->parser, entry));
	if (tt_json_kind(config) != TT_JSON_OBJECT ||
	    (!machine && tt_json_kind(tt_json_get(config, "source")) != TT_JSON_ARRAY))
		return TTNN_OK;
	tt_str_clear(out);
	tt_str_addc(out, '{');
	for (it = tt_json_iter(config); tt_json_next(&it); first = false) {
		tt_json_dump_key(out, it.key, it.key_length, first);
		if (machine && strcmp(it.key, "machine_info") == 0)
			TT_TRY(add_machines(master, it.value, run));
		else if (strcmp(it.key, "source") == 0)
			add_sources(out, it.value, run->source);
		else
			tt_json_dump(out, it.value);
	}
	if (machine && !tt_json_get(config, "machine_info")) {
		tt_str_adds(out, ", \"machine_info\": ");
		TT_TRY(add_machines(master, NULL, run));
	}
	tt_str_addc(out, '}');
	return keep_changed(master, entry);
}

static tt_status fold_group(struct tt_master *master, const struct group *group)
{
	const struct tt_master_count *of = &master->counts.data[group->counts[0]];
	struct tt_master_entry *entry = &master->ops.data[of->op].entries.data[of->number];

	if (master->layout == TT_MASTER_V2)
		return fold_v2(master, entry, group);
	for (size_t i = 0; i < group->count; i++)
		TT_TRY(fold_v1(master, entry,
			       &master->runs.data[master->counts.data[group->counts[i]].run]));
	return TTNN_OK;
}

/* By configuration, then in the order in which they were made. */
static int by_entry(const void *a, const void *b, void *context)
{
	const struct tt_master_count *counts = context;
	const size_t left = *(const size_t *)a, right = *(const size_t *)b;

	if (counts[left].op != counts[right].op)
		return counts[left].op < counts[right].op ? -1 : 1;
	if (counts[left].number != counts[right].number)
		return counts[left].number < counts[right].number ? -1 : 1;
	return (left > right) - (left < right);
}

tt_status tt_master_fold(struct tt_master *master)
{
	const struct tt_master_count *counts = master->counts.data;
	const size_t *waiting = master->waiting.data, all = master->waiting.count;
	struct group group = {0};

	if (!all)
		return TTNN_OK;
	qsort_r(master->waiting.data, all, sizeof(*waiting), by_entry, master->counts.data);
	for (size_t done = 0; done < all; done += group.count) {
		const struct tt_master_count *first = &counts[waiting[done]];

		group = (struct group){&waiting[done], 0};
		while (done + group.count < all) {
			const struct tt_master_count *of = &counts[waiting[done + group.count]];

			if (of->op != first->op || of->number != first->number)
				break;
			group.count++;
		}
		TT_TRY(fold_group(master, &group));
	}
	for (size_t i = 0; i < all; i++)
		master->counts.data[waiting[i]].waits = false;
	master->waiting.count = 0;
	return TTNN_OK;
}
