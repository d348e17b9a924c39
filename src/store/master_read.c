/*
 * master_read.c: where configurations lie in a file. What they hold is only looked at where that decides the layout.
 *
 *	{"operations": {NAME: {"configurations": [CONFIG, ...]}, ...}, "metadata": {...}}
 *	{"content": [{"operation": NAME, "arguments": ARGS}, ...]}                      the oldest
 *
 *	CONFIG    {"arguments": [{"argN": VALUE}, ...], "source": ...}                  V1
 *	          {"arguments": {"argN": VALUE, ...}, "executions": [...], ...}         V2
 *	          [{"argN": VALUE}, ...]                                                SEED, the oldest of V1
 */
#include <string.h>

#include "base/jsondump.h"
#include "store/master_parts.h"

static bool is_key(const struct tt_jsonslice *file, const char *key)
{
	const char *found = tt_jsonslice_key(file, NULL);

	return found && strcmp(found, key) == 0;
}

/* Goes into the present value; an error if it is not of that kind. */
static tt_status enter(struct tt_jsonslice *file, enum tt_json_kind kind, const char *what)
{
	if (tt_jsonslice_kind(file) != kind)
		return tt_jsonslice_fail(file, tt_jsonslice_place(file).start, what);
	tt_jsonslice_enter(file);
	return tt_jsonslice_status(file);
}

/* Notes a member; its place only if it is passed over: looking for its end takes a while. */
static tt_status note(struct tt_master *master, tt_master_members *members, bool passed)
{
	struct tt_jsonslice *file = master->file;
	struct tt_master_member *member = TT_VEC_PUSH(members);
	size_t length = 0;
	const char *key = tt_jsonslice_key(file, &length);

	if (!member)
		return tt_fail_nomem();
	*member = (struct tt_master_member){.key = tt_arena_strndup(&master->arena, key, length)};
	if (passed)
		member->place = tt_jsonslice_place(file);
	TT_TRY(tt_jsonslice_status(file));
	return member->key ? TTNN_OK : tt_fail_nomem();
}

static tt_status read_configurations(struct tt_master *master, size_t op)
{
	struct tt_jsonslice *file = master->file;

	TT_TRY(enter(file, TT_JSON_ARRAY, "\"configurations\" is no list"));
	while (tt_jsonslice_next(file)) {
		struct tt_master_entry *entry;

		if (tt_jsonslice_kind(file) == TT_JSON_ABSENT)
			return tt_jsonslice_fail(file, tt_jsonslice_place(file).start,
						 "a configuration is neither an object nor a list");
		entry = tt_master_push(master, op);
		if (!entry)
			return tt_fail_nomem();
		entry->place = tt_jsonslice_place(file);
	}
	return tt_jsonslice_status(file);
}

static tt_status read_operations(struct tt_master *master)
{
	struct tt_jsonslice *file = master->file;

	TT_TRY(enter(file, TT_JSON_OBJECT, "\"operations\" is no object"));
	while (tt_jsonslice_next(file)) {
		size_t length = 0, op;
		const char *name = tt_jsonslice_key(file, &length);

		TT_TRY(tt_master_op_of(&op, master, name, length));
		TT_TRY(enter(file, TT_JSON_OBJECT, "an operation is no object"));
		while (tt_jsonslice_next(file)) {
			if (is_key(file, "configurations"))
				TT_TRY(read_configurations(master, op));
			else
				TT_TRY(note(master, &master->ops.data[op].others, true));
		}
		TT_TRY(tt_jsonslice_status(file));
	}
	return tt_jsonslice_status(file);
}

/* The oldest files: calls one after another. They are kept as configurations of an unknown source. */
static tt_status read_content(struct tt_master *master)
{
	struct tt_jsonslice *file = master->file;

	TT_TRY(enter(file, TT_JSON_ARRAY, "\"content\" is no list"));
	while (tt_jsonslice_next(file)) {
		const struct tt_json *call = tt_jsonslice_read(file), *args;
		struct tt_master_entry *entry;
		const char *name;
		size_t length = 0, op;

		TT_TRY(tt_jsonslice_status(file));
		name = tt_json_string(tt_json_get(call, "operation"), &length);
		args = tt_json_get(call, "arguments");
		if (!name || tt_json_kind(args) != TT_JSON_ARRAY)
			return tt_jsonslice_fail(
				file, tt_jsonslice_place(file).start,
				"a call needs a text \"operation\" and a list \"arguments\"");
		TT_TRY(tt_master_op_of(&op, master, name, length));
		entry = tt_master_push(master, op);
		if (!entry)
			return tt_fail_nomem();
		tt_str_clear(&master->made);
		tt_str_adds(&master->made, "{\"arguments\": ");
		tt_json_dump(&master->made, args);
		tt_str_adds(&master->made, ", \"source\": \"unknown\"}");
		TT_TRY(tt_str_status(&master->made));
		entry->length = master->made.length;
		entry->made = tt_arena_strndup(&master->arena, master->made.data, entry->length);
		if (!entry->made)
			return tt_fail_nomem();
	}
	master->dirty = true; /* it is written as configurations */
	return tt_jsonslice_status(file);
}

static tt_status read_metadata(struct tt_master *master)
{
	struct tt_jsonslice *file = master->file;
	const struct tt_json *metadata, *models;
	struct tt_json_iter it;
	const char *text;
	size_t length;

	master->metadata = tt_jsonslice_place(file);
	metadata = tt_jsonslice_read(file);
	TT_TRY(tt_jsonslice_status(file));
	models = tt_json_get(metadata, "models");
	it = tt_json_iter(models);
	while (tt_json_kind(models) == TT_JSON_ARRAY && tt_json_next(&it)) {
		text = tt_json_string(it.value, &length);
		if (text && !tt_map_add(&master->models, text, length, NULL))
			return tt_fail_nomem();
	}
	tt_json_uint(&master->total_operations, tt_json_get(metadata, "total_operations"));
	text = tt_json_string(tt_json_get(metadata, "last_updated"), &length);
	if (text && length < sizeof(master->last_updated))
		memcpy(master->last_updated, text, length + 1);
	if (tt_json_get(metadata, "operations_summary"))
		master->layout = TT_MASTER_V2; /* unless a configuration says otherwise */
	return TTNN_OK;
}

/* A file that has a member twice is written with it once. */
static bool has_member(const struct tt_master *master, const char *key)
{
	for (size_t i = 0; i < master->members.count; i++)
		if (strcmp(master->members.data[i].key, key) == 0)
			return true;
	return false;
}

static tt_status read_member(struct tt_master *master, bool *operations)
{
	struct tt_jsonslice *file = master->file;

	if (is_key(file, "content") && !*operations) {
		*operations = true;
		return read_content(master);
	}
	if (is_key(file, "operations")) {
		if (!has_member(master, "operations"))
			TT_TRY(note(master, &master->members, false));
		*operations = true;
		return read_operations(master);
	}
	if (!is_key(file, "metadata"))
		return note(master, &master->members, true);
	if (!has_member(master, "metadata"))
		TT_TRY(note(master, &master->members, true));
	return read_metadata(master);
}

/* The first configuration tells the layout; where there is none, the metadata did. */
static tt_status tell_layout(struct tt_master *master)
{
	for (size_t i = 0; i < master->ops.count; i++) {
		const struct tt_master_op *op = &master->ops.data[i];
		const struct tt_json *config;
		struct tt_master_said said;

		if (!op->entries.count)
			continue;
		TT_TRY(tt_master_entry(&config, master, &master->parser, &op->entries.data[0]));
		tt_master_say(&said, config);
		master->layout = TT_MASTER_V1;
		if (tt_json_kind(said.args) == TT_JSON_OBJECT)
			master->layout = TT_MASTER_V2;
		else if (said.args == config && strncmp(op->name, "ttnn", 4) != 0)
			master->layout = TT_MASTER_SEED;
		break;
	}
	return TTNN_OK;
}

tt_status tt_master_read(struct tt_master *master)
{
	struct tt_jsonslice *file = master->file;
	bool operations = false;
	size_t size;
	char last;

	if (!tt_jsonslice_next(file)) {
		TT_TRY(tt_jsonslice_status(file));
		return tt_fail(TTNN_FORMAT, "%s: the file is empty", master->path);
	}
	TT_TRY(enter(file, TT_JSON_OBJECT, "a master file is an object"));
	while (tt_jsonslice_next(file))
		TT_TRY(read_member(master, &operations));
	TT_TRY(tt_jsonslice_status(file));
	tt_jsonslice_next(file); /* what follows is wrong */
	TT_TRY(tt_jsonslice_status(file));
	if (!operations)
		return tt_fail(TTNN_FORMAT, "%s: no \"operations\": not a master file",
			       master->path);
	tt_jsonslice_tell(file, &size);
	if (size && tt_jsonslice_copy(&last, file, size - 1, 1) == TTNN_OK)
		master->final_newline = last == '\n';
	return tell_layout(master);
}
