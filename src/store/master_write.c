/* master_write.c: masters as files, in their own layout or another. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "store/master_parts.h"
#include "store/sorted.h"

void tt_master_stamp(char out[32], const struct tt_master *master)
{
	time_t now = time(NULL);
	struct tm local;

	if (!master->dirty && master->last_updated[0])
		memcpy(out, master->last_updated, sizeof(master->last_updated));
	else if (!localtime_r(&now, &local) || !strftime(out, 32, "%Y-%m-%d %H:%M:%S", &local))
		out[0] = '\0';
}

/* ---- configurations ------------------------------------------------------------------------------------------ */

/* One that was made by a source on a machine. */
static void put_execution(struct tt_jsonw *w, const char *source, const struct tt_json *machine)
{
	tt_jsonw_object(w);
	tt_jsonw_key_int(w, "count", 1);
	tt_jsonw_key(w, "machine_info");
	tt_jsonw_value(w, machine);
	tt_jsonw_key(w, "pytest_args");
	tt_jsonw_null(w);
	tt_jsonw_key_string(w, "source", source);
	tt_jsonw_key(w, "trace_uid");
	tt_jsonw_null(w);
	tt_jsonw_end(w);
}

static void put_executions(struct tt_jsonw *w, const struct tt_master_said *said)
{
	struct tt_json_iter it = tt_json_iter(said->sources);
	const char *first = tt_master_said_source(said);

	tt_jsonw_key(w, "executions");
	if (said->executions) {
		tt_jsonw_value(w, said->executions);
		return;
	}
	tt_jsonw_array(w);
	/* Each machine with the first source, then the other sources. */
	put_execution(w, first, tt_json_at(said->machines, 0));
	for (size_t i = 1; i < tt_json_count(said->machines); i++)
		put_execution(w, first, tt_json_at(said->machines, i));
	while (tt_json_kind(said->sources) == TT_JSON_ARRAY && tt_json_next(&it)) {
		const char *source = tt_json_string(it.value, NULL);

		if (source && strcmp(source, first) != 0)
			put_execution(w, source, tt_json_at(said->machines, 0));
	}
	tt_jsonw_end(w);
}

/* A configuration of V2; its arguments are in master->text already. */
static tt_status put_v2(struct tt_jsonw *w, struct tt_master *master,
			const struct tt_master_said *said, const char *op)
{
	const struct tt_json *args, *machine = tt_json_at(said->machines, 0);
	struct tt_str identity = {0};
	char hash[TT_DIGEST_TEXT];
	tt_status status;

	if (said->executions)
		machine = tt_json_get(tt_json_at(said->executions, 0), "machine_info");
	TT_TRY(tt_json_parser_read(&args, &master->third,
				   &(struct tt_json_part){.name = "arguments",
							  .whole = tt_str_text(&master->text),
							  .length = master->text.length}));
	tt_sorted_dump_machine(&identity, machine);
	status = tt_str_status(&identity);
	if (status == TTNN_OK)
		status = tt_master_config_hash(hash, &master->key_text, op, args,
					       tt_str_text(&identity));
	tt_str_deinit(&identity);
	TT_TRY(status);
	tt_jsonw_object(w);
	tt_jsonw_key(w, "arguments");
	tt_jsonw_value(w, args);
	tt_jsonw_key_string(w, "config_hash", hash);
	tt_jsonw_key(w, "config_id");
	tt_jsonw_uint(w, master->next_id++);
	put_executions(w, said);
	tt_jsonw_end(w);
	return TTNN_OK;
}

/* Each source once: a text if there is one alone. */
static void put_sources(struct tt_jsonw *w, const struct tt_master_said *said)
{
	const char *first = tt_master_said_source(said);
	struct tt_json_iter it = tt_json_iter(said->executions), before;
	size_t others = 0;

	while (tt_json_next(&it)) {
		const char *source = tt_json_string(tt_json_get(it.value, "source"), NULL);

		others += source && strcmp(source, first) != 0;
	}
	tt_jsonw_key(w, "source");
	if (!others) {
		tt_jsonw_string(w, first);
		return;
	}
	tt_jsonw_array(w);
	for (it = tt_json_iter(said->executions); tt_json_next(&it);) {
		const char *source = tt_json_string(tt_json_get(it.value, "source"), NULL),
			   *earlier;
		bool seen = !source;

		for (before = tt_json_iter(said->executions);
		     tt_json_next(&before) && before.value != it.value && !seen;) {
			earlier = tt_json_string(tt_json_get(before.value, "source"), NULL);
			seen = earlier && strcmp(earlier, source) == 0;
		}
		if (!seen)
			tt_jsonw_string(w, source);
	}
	tt_jsonw_end(w);
}

static bool same_machine(const struct tt_json *a, const struct tt_json *b)
{
	struct tt_str left = {0}, right = {0};
	bool same;

	tt_sorted_dump_machine(&left, a);
	tt_sorted_dump_machine(&right, b);
	same = strcmp(tt_str_text(&left), tt_str_text(&right)) == 0;
	tt_str_deinit(&left);
	tt_str_deinit(&right);
	return same;
}

/* The machines of executions as V1 has them, each once. */
/* Machines that were written; beyond so many they may be written twice. */
struct machines {
	const struct tt_json *seen[64];
	size_t count;
};

static bool is_new(struct machines *machines, const struct tt_json *machine)
{
	for (size_t i = 0; i < machines->count; i++)
		if (same_machine(machines->seen[i], machine))
			return false;
	if (machines->count < TT_COUNT(machines->seen))
		machines->seen[machines->count++] = machine;
	return true;
}

static void put_machines(struct tt_jsonw *w, const struct tt_master_said *said)
{
	static const char *const keys[] = {"board_type", "device_series", "card_count"};
	struct tt_json_iter it = tt_json_iter(said->executions);
	struct machines machines = {.count = 0};
	bool any = false;

	while (tt_json_next(&it)) {
		const struct tt_json *machine = tt_json_get(it.value, "machine_info");

		if (tt_json_kind(machine) != TT_JSON_OBJECT || !is_new(&machines, machine))
			continue;
		if (!any) {
			tt_jsonw_key(w, "machine_info");
			tt_jsonw_array(w);
		}
		any = true;
		tt_jsonw_object(w);
		for (size_t i = 0; i < TT_COUNT(keys); i++) {
			tt_jsonw_key(w, keys[i]);
			tt_jsonw_value(w, tt_json_get(machine, keys[i]));
		}
		tt_jsonw_end(w);
	}
	if (any)
		tt_jsonw_end(w);
}

tt_status tt_master_write_config(struct tt_jsonw *w, struct tt_master *master, size_t op,
				 size_t number, enum tt_master_layout to)
{
	const struct tt_master_op *of = &master->ops.data[op];
	const struct tt_json *config, *args;
	struct tt_master_said said;

	TT_TRY(tt_master_entry(&config, master, &master->parser, &of->entries.data[number]));
	if (to == master->layout) {
		tt_jsonw_value(w, config);
		return TTNN_OK;
	}
	tt_master_say(&said, config);
	if (tt_json_kind(said.args) != TT_JSON_ARRAY && tt_json_kind(said.args) != TT_JSON_OBJECT)
		return tt_fail(TTNN_FORMAT, "%s, configuration %zu: it has no arguments", of->name,
			       number);
	tt_str_clear(&master->text);
	TT_TRY(tt_convert_args(&master->text, &master->convert, said.args, master->layout, to));
	if (to == TT_MASTER_V2) {
		tt_str_clear(&master->name);
		tt_master_spell(&master->name, of->name, to);
		TT_TRY(tt_str_status(&master->name));
		return put_v2(w, master, &said, tt_str_text(&master->name));
	}
	TT_TRY(tt_json_parser_read(&args, &master->third,
				   &(struct tt_json_part){.name = "arguments",
							  .whole = tt_str_text(&master->text),
							  .length = master->text.length}));
	if (to == TT_MASTER_SEED) {
		tt_jsonw_value(w, args);
		return TTNN_OK;
	}
	tt_jsonw_object(w);
	tt_jsonw_key(w, "arguments");
	tt_jsonw_value(w, args);
	put_sources(w, &said);
	put_machines(w, &said);
	tt_jsonw_end(w);
	return TTNN_OK;
}

/* ---- operations ------------------------------------------------------------------------------------------------ */

/* An operation under the name that it has in a layout. */
struct named {
	const char *name;
	size_t op;
	size_t first, next; /* the first of that name; the one behind this, 0: none is */
};

struct listing {
	struct named *ops;
	size_t count;
	struct tt_arena arena;
};

static int by_name(const void *a, const void *b)
{
	const struct named *left = a, *right = b;
	int order = strcmp(left->name, right->name);

	return order ? order : (left->op > right->op) - (left->op < right->op);
}

static void free_listing(struct listing *list)
{
	tt_arena_deinit(&list->arena);
}

/* Finds those of one name. */
static tt_status link_names(struct listing *list)
{
	struct tt_map last = {0}; /* name -> the last one so far */
	tt_status status = TTNN_OK;

	for (size_t i = 0; i < list->count && status == TTNN_OK; i++) {
		struct named *op = &list->ops[i];
		bool added = false;
		struct tt_map_entry *entry = tt_map_add(&last, op->name, strlen(op->name), &added);

		op->first = i;
		if (!entry) {
			status = tt_fail_nomem();
			break;
		}
		if (!added) {
			op->first = list->ops[entry->number].first;
			list->ops[entry->number].next = i;
		}
		entry->number = i;
	}
	tt_map_deinit(&last);
	return status;
}

/* V2 has its operations in the order of the alphabet. */
static tt_status list_ops(struct listing *out, struct tt_master *master, enum tt_master_layout to)
{
	*out = (struct listing){.count = master->ops.count};
	out->ops = tt_arena_calloc(&out->arena, out->count + 1, sizeof(*out->ops));
	for (size_t i = 0; out->ops && i < out->count; i++) {
		tt_str_clear(&master->name);
		if (to == master->layout)
			tt_str_adds(&master->name, master->ops.data[i].name);
		else
			tt_master_spell(&master->name, master->ops.data[i].name, to);
		out->ops[i] = (struct named){
			tt_arena_strdup(&out->arena, tt_str_text(&master->name)), i, 0, 0};
		if (!out->ops[i].name || master->name.failed)
			out->ops = NULL;
	}
	if (!out->ops) {
		free_listing(out);
		return tt_fail_nomem();
	}
	if (to == TT_MASTER_V2 && (master->dirty || to != master->layout))
		qsort(out->ops, out->count, sizeof(*out->ops), by_name);
	if (link_names(out) == TTNN_OK)
		return TTNN_OK;
	free_listing(out);
	return tt_fail_nomem();
}

static size_t count_of(const struct listing *list, const struct tt_master *master, size_t first)
{
	size_t count = 0, i = first;

	do
		count += master->ops.data[list->ops[i].op].entries.count;
	while ((i = list->ops[i].next));
	return count;
}

/* A member that is passed on. */
static tt_status put_other(struct tt_jsonw *w, struct tt_master *master,
			   const struct tt_master_member *member)
{
	const struct tt_json *value;

	TT_TRY(tt_jsonslice_fetch(&value, master->file, &master->parser, &member->place));
	tt_jsonw_key(w, member->key);
	tt_jsonw_value(w, value);
	return TTNN_OK;
}

/* One operation, and others of the same name in this layout. */
static tt_status put_operation(struct tt_jsonw *w, struct tt_master *master,
			       const struct listing *list, size_t first, enum tt_master_layout to)
{
	const struct tt_master_op *op = &master->ops.data[list->ops[first].op];

	tt_jsonw_key(w, list->ops[first].name);
	tt_jsonw_object(w);
	tt_jsonw_key(w, "configurations");
	tt_jsonw_array(w);
	for (size_t i = first, more = 1; more; i = more = list->ops[i].next) {
		size_t at = list->ops[i].op;

		for (size_t c = 0; c < master->ops.data[at].entries.count; c++)
			TT_TRY(tt_master_write_config(w, master, at, c, to));
	}
	tt_jsonw_end(w);
	for (size_t i = 0; to == master->layout && i < op->others.count; i++)
		TT_TRY(put_other(w, master, &op->others.data[i]));
	tt_jsonw_end(w);
	return TTNN_OK;
}

static tt_status put_operations(struct tt_jsonw *w, struct tt_master *master,
				const struct listing *list, enum tt_master_layout to)
{
	tt_jsonw_key(w, "operations");
	tt_jsonw_object(w);
	for (size_t i = 0; i < list->count; i++)
		if (list->ops[i].first == i)
			TT_TRY(put_operation(w, master, list, i, to));
	tt_jsonw_end(w);
	return TTNN_OK;
}

/* ---- metadata ---------------------------------------------------------------------------------------------------- */

static void put_models(struct tt_jsonw *w, const struct tt_master *master)
{
	tt_jsonw_key(w, "models");
	tt_jsonw_array(w);
	for (size_t i = 0; i < master->models.count; i++)
		tt_jsonw_stringn(w, master->models.entries[i].key,
				 master->models.entries[i].length);
	tt_jsonw_end(w);
}

static void put_counts(struct tt_jsonw *w, const struct tt_master *master,
		       const struct listing *list, const char *key)
{
	tt_jsonw_key(w, key);
	tt_jsonw_object(w);
	for (size_t i = 0; i < list->count; i++) {
		if (list->ops[i].first != i)
			continue;
		tt_jsonw_key(w, list->ops[i].name);
		tt_jsonw_uint(w, count_of(list, master, i));
	}
	tt_jsonw_end(w);
}

/* The members of each layout, in their order. */
enum field { MODELS, TOTAL, UNIQUE, CONFIGURATIONS, UPDATED, TYPES, SUMMARY, END };
static const char *const field_names[] = {
	[MODELS] = "models",
	[TOTAL] = "total_operations",
	[UNIQUE] = "unique_operations",
	[CONFIGURATIONS] = "total_configurations",
	[UPDATED] = "last_updated",
	[TYPES] = "operation_types",
	[SUMMARY] = "operations_summary",
};
static const enum field fields[][8] = {
	[TT_MASTER_V1] = {MODELS, TOTAL, UNIQUE, CONFIGURATIONS, UPDATED, TYPES, END},
	[TT_MASTER_V2] = {UPDATED, MODELS, SUMMARY, CONFIGURATIONS, UNIQUE, END},
	[TT_MASTER_SEED] = {MODELS, UNIQUE, CONFIGURATIONS, UPDATED, END},
};

static bool is_field(const char *key)
{
	for (size_t i = 0; i < TT_COUNT(field_names); i++)
		if (strcmp(field_names[i], key) == 0)
			return true;
	return false;
}

/* How many calls a master has seen: told, or what its configurations say. */
static tt_status count_calls(uint64_t *out, struct tt_master *master)
{
	*out = master->total_operations;
	for (size_t op = 0; !master->total_operations && op < master->ops.count; op++)
		for (size_t i = 0; i < master->ops.data[op].entries.count; i++) {
			const struct tt_json *config;
			struct tt_master_said said;

			TT_TRY(tt_master_entry(&config, master, &master->parser,
					       &master->ops.data[op].entries.data[i]));
			tt_master_say(&said, config);
			*out += tt_master_said_count(&said);
		}
	return TTNN_OK;
}

static tt_status put_field(struct tt_jsonw *w, struct tt_master *master, const struct listing *list,
			   enum field field)
{
	size_t unique = 0, configurations = 0;
	uint64_t calls;
	char stamp[32];

	for (size_t i = 0; i < list->count; i++) {
		unique += list->ops[i].first == i;
		configurations += master->ops.data[list->ops[i].op].entries.count;
	}
	switch (field) {
	case MODELS:
		put_models(w, master);
		return TTNN_OK;
	case TYPES:
	case SUMMARY:
		put_counts(w, master, list, field_names[field]);
		return TTNN_OK;
	case TOTAL:
		TT_TRY(count_calls(&calls, master));
		tt_jsonw_key(w, field_names[field]);
		tt_jsonw_uint(w, calls);
		return TTNN_OK;
	case UPDATED:
		tt_master_stamp(stamp, master);
		tt_jsonw_key_string(w, field_names[field], stamp);
		return TTNN_OK;
	default:
		tt_jsonw_key(w, field_names[field]);
		tt_jsonw_uint(w, field == UNIQUE ? unique : configurations);
		return TTNN_OK;
	}
}

static tt_status put_metadata(struct tt_jsonw *w, struct tt_master *master,
			      const struct listing *list, enum tt_master_layout to)
{
	const struct tt_json *old;
	bool same = to == master->layout;
	struct tt_json_iter it;

	if (same && !master->dirty && !master->metadata.length && master->file)
		return TTNN_OK; /* it had none */
	tt_jsonw_key(w, "metadata");
	if (same && !master->dirty && master->metadata.length) {
		TT_TRY(tt_jsonslice_fetch(&old, master->file, &master->parser, &master->metadata));
		tt_jsonw_value(w, old);
		return TTNN_OK;
	}
	tt_jsonw_object(w);
	for (size_t i = 0; fields[to][i] != END; i++)
		TT_TRY(put_field(w, master, list, fields[to][i]));
	if (same && master->metadata.length) {
		TT_TRY(tt_jsonslice_fetch(&old, master->file, &master->parser, &master->metadata));
		for (it = tt_json_iter(old);
		     tt_json_kind(old) == TT_JSON_OBJECT && tt_json_next(&it);)
			if (!is_field(it.key)) {
				tt_jsonw_keyn(w, it.key, it.key_length);
				tt_jsonw_value(w, it.value);
			}
	}
	tt_jsonw_end(w);
	return TTNN_OK;
}

/* ---- files --------------------------------------------------------------------------------------------------------- */

static bool has_member(const struct tt_master *master, const char *key)
{
	for (size_t i = 0; i < master->members.count; i++)
		if (strcmp(master->members.data[i].key, key) == 0)
			return true;
	return false;
}

/* In the order of the file it came from; otherwise as the layout has it. */
static tt_status put_members(struct tt_jsonw *w, struct tt_master *master,
			     const struct listing *list, enum tt_master_layout to)
{
	bool same = to == master->layout, late;

	late = to == TT_MASTER_V2 && !(same && has_member(master, "metadata"));
	if (late)
		TT_TRY(put_metadata(w, master, list, to));
	if (!(same && has_member(master, "operations")))
		TT_TRY(put_operations(w, master, list, to));
	for (size_t i = 0; same && i < master->members.count; i++) {
		const struct tt_master_member *member = &master->members.data[i];

		if (strcmp(member->key, "operations") == 0)
			TT_TRY(put_operations(w, master, list, to));
		else if (strcmp(member->key, "metadata") == 0)
			TT_TRY(put_metadata(w, master, list, to));
		else
			TT_TRY(put_other(w, master, member));
	}
	if (!late && !(same && has_member(master, "metadata")))
		TT_TRY(put_metadata(w, master, list, to));
	return TTNN_OK;
}

static tt_status write_file(struct tt_file_out *file, struct tt_master *master,
			    enum tt_master_layout to)
{
	uint64_t next_id = master->next_id;
	struct listing list;
	struct tt_jsonw w;
	tt_status status;

	TT_TRY(list_ops(&list, master, to));
	if (to != master->layout)
		master->next_id = 1; /* they are numbered anew */
	tt_jsonw_init_file(&w, file, (struct tt_jsonw_style){.indent = 2});
	tt_jsonw_object(&w);
	status = put_members(&w, master, &list, to);
	tt_jsonw_end(&w);
	free_listing(&list);
	if (to != master->layout)
		master->next_id = next_id;
	TT_TRY(status);
	TT_TRY(tt_jsonw_finish(&w));
	if (master->final_newline)
		tt_file_write(file, "\n", 1);
	return tt_file_status(file);
}

tt_status tt_master_save(struct tt_master *master, const char *path, enum tt_master_layout layout)
{
	struct tt_file_out *file;
	tt_status status;

	TT_TRY(tt_master_fold(master));
	if (tt_master_is_store(path))
		return tt_master_save_store(master, path, layout);
	if (tt_ends_with(path, ".gz"))
		return tt_fail(
			TTNN_UNSUPPORTED,
			"%s: master files are read from gzip, but written plain: give a name without .gz",
			path);
	TT_TRY(tt_file_create(&file, path));
	status = write_file(file, master, layout);
	if (status != TTNN_OK) {
		tt_file_discard(file);
		return status;
	}
	return tt_file_commit(file);
}
