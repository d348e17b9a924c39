/*
 * master_add.c: adding calls. A configuration is found by a digest of its arguments: in V2 together with the machine, as
 * its config_hash has it. Who made it how often is counted aside and folded into its JSON when that is wanted.
 */
#include <string.h>

#include "base/hash.h"
#include "base/jsondump.h"
#include "base/mem.h"
#include "store/master_parts.h"
#include "store/sorted.h"

const char *tt_master_keep(struct tt_master *master, const char *text, size_t length)
{
	struct tt_map_entry *entry = tt_map_add(&master->texts, text, length, NULL);

	return entry ? entry->key : NULL;
}

/* ---- runs ------------------------------------------------------------------------------------------------- */

static tt_status identify(struct tt_master_run *run, struct tt_master *master)
{
	const struct tt_json *machine;
	struct tt_str text = {0};
	bool added;
	struct tt_map_entry *entry =
		tt_map_add(&master->machine_numbers, run->machine, run->machine_length, &added);

	if (!entry)
		return tt_fail_nomem();
	if (added)
		entry->number = master->machine_numbers.count;
	run->machine_number = (uint32_t)entry->number;
	TT_TRY(tt_json_parser_read(&machine, &master->third,
				   &(struct tt_json_part){.name = "a machine",
							  .whole = run->machine,
							  .length = run->machine_length}));
	tt_sorted_dump_machine(&text, machine);
	run->identity = tt_str_status(&text) == TTNN_OK
				? tt_master_keep(master, tt_str_text(&text), text.length)
				: NULL;
	run->identity_length = text.length;
	tt_str_deinit(&text);
	return run->identity ? TTNN_OK : tt_fail_nomem();
}

/* The number of a run, made if absent. */
tt_status tt_master_run_of(uint32_t *out, struct tt_master *master, const char *source,
			   const char *const details[2], struct tt_master_machine_text machine)
{
	struct tt_str *key = &master->name;
	struct tt_master_run run = {0};
	struct tt_map_entry *entry;
	bool added;

	tt_str_clear(key);
	tt_str_adds(key, source);
	for (size_t i = 0; i < 2; i++) {
		tt_str_addc(key, details[i] ? '\1' : '\2');
		tt_str_adds(key, details[i] ? details[i] : "");
	}
	tt_str_addc(key, '\1');
	tt_str_add(key, machine.text, machine.length);
	TT_TRY(tt_str_status(key));
	entry = tt_map_find(&master->run_numbers, key->data, key->length);
	if (entry) {
		*out = (uint32_t)entry->number;
		return TTNN_OK;
	}
	run.source = tt_master_keep(master, source, strlen(source));
	run.trace_uid = details[0] ? tt_master_keep(master, details[0], strlen(details[0])) : NULL;
	run.pytest_args =
		details[1] ? tt_master_keep(master, details[1], strlen(details[1])) : NULL;
	run.machine = tt_master_keep(master, machine.text, machine.length);
	run.machine_length = machine.length;
	if (!run.source || !run.machine || (details[0] && !run.trace_uid) ||
	    (details[1] && !run.pytest_args))
		return tt_fail_nomem();
	TT_TRY(identify(&run, master));
	if (*source && !tt_map_add(&master->models, source, strlen(source), NULL))
		return tt_fail_nomem();
	if (!TT_VEC_RESERVE(&master->runs, 1))
		return tt_fail_nomem();
	entry = tt_map_add(&master->run_numbers, key->data, key->length, &added);
	if (!entry)
		return tt_fail_nomem();
	entry->number = master->runs.count;
	master->runs.data[master->runs.count++] = run;
	*out = (uint32_t)entry->number;
	return TTNN_OK;
}

/* A machine as V2 has it. */
static void add_machine(struct tt_str *out, const struct tt_master_machine *machine)
{
	if (!machine->board_type) {
		tt_str_adds(out, "null");
		return;
	}
	tt_str_adds(out, "{\"board_type\": ");
	tt_json_dump_text(out, machine->board_type, strlen(machine->board_type));
	tt_str_addf(out, ", \"card_count\": %u", machine->card_count ? machine->card_count : 1);
	if (machine->device_count) {
		tt_str_addf(out, ", \"device_count\": %u", machine->device_count);
		tt_str_adds(out, ", \"device_ids\": [");
		for (uint32_t i = 0; i < machine->device_count; i++)
			tt_str_addf(out, "%s%u", i ? ", " : "", i);
		tt_str_adds(out, "]");
	}
	tt_str_adds(out, ", \"device_series\": ");
	if (machine->device_series)
		tt_json_dump_text(out, machine->device_series, strlen(machine->device_series));
	else
		tt_str_adds(out, "null");
	if (machine->mesh[0])
		tt_str_addf(out, ", \"mesh_device_shape\": [%u, %u]", machine->mesh[0],
			    machine->mesh[1]);
	tt_str_addc(out, '}');
}

/* ---- keys ------------------------------------------------------------------------------------------------- */

/* What the config_hash of V2 is the digest of. */
static void add_hashed(struct tt_str *text, const char *op, const struct tt_json *args,
		       const char *identity)
{
	tt_str_adds(text, "{\"arguments\": ");
	tt_sorted_dump_lasting(text, args);
	tt_str_adds(text, ", ");
	tt_str_adds(text, identity);
	tt_str_adds(text, ", \"operation\": ");
	tt_json_dump_text(text, op, strlen(op));
	tt_str_addc(text, '}');
}

/* The text by which arguments in the master's layout are told apart, in master->key_text. */
static void make_key_text(struct tt_master *master, const char *op, const struct tt_json *args,
			  const char *identity)
{
	struct tt_str *text = &master->key_text;

	tt_str_clear(text);
	if (master->layout != TT_MASTER_V2) {
		tt_repair_canonical(text, args);
		return;
	}
	add_hashed(text, op, args, identity);
}

tt_status tt_master_config_hash(char out[TT_DIGEST_TEXT], struct tt_str *text, const char *op,
				const struct tt_json *args, const char *identity)
{
	tt_str_clear(text);
	add_hashed(text, op, args, identity);
	TT_TRY(tt_str_status(text));
	return tt_digest_text(out, TT_SHA256, tt_str_text(text), text->length);
}

static tt_status digest_key(uint64_t key[2], struct tt_master *master)
{
	unsigned char digest[TT_DIGEST_MAX];

	TT_TRY(tt_str_status(&master->key_text));
	TT_TRY(tt_digest(digest, TT_SHA256, tt_str_text(&master->key_text),
			 master->key_text.length));
	memcpy(key, digest, 2 * sizeof(key[0]));
	return TTNN_OK;
}

/* Of operation and key. */
struct index_key {
	uint64_t key[2];
	uint64_t op;
};

static struct tt_map_entry *index_at(struct tt_master *master, size_t op, const uint64_t key[2],
				     bool *added)
{
	struct index_key at = {{key[0], key[1]}, op};

	return added ? tt_map_add(&master->index, &at, sizeof(at), added)
		     : tt_map_find(&master->index, &at, sizeof(at));
}

/* The identity of the machine of a configuration of V2. */
static tt_status identity_of(struct tt_str *out, const struct tt_master_said *said)
{
	tt_str_clear(out);
	tt_sorted_dump_machine(out, tt_json_get(tt_json_at(said->executions, 0), "machine_info"));
	return tt_str_status(out);
}

/* Computes the key of a configuration. */
static tt_status make_key(struct tt_master *master, size_t op, struct tt_master_entry *entry)
{
	const struct tt_json *config, *args;
	struct tt_master_said said;
	uint64_t id;

	TT_TRY(tt_master_entry(&config, master, &master->parser, entry));
	tt_master_say(&said, config);
	if (tt_json_uint(&id, tt_json_get(config, "config_id")) && id >= master->next_id &&
	    id < UINT64_MAX)
		master->next_id = id + 1;
	TT_TRY(identity_of(&master->made, &said));
	args = said.args;
	if (tt_repair_needed(args)) {
		size_t lost;

		tt_str_clear(&master->text);
		TT_TRY(tt_repair_args(&master->text, &lost, &master->repair, args));
		TT_TRY(tt_json_parser_read(
			&args, &master->third,
			&(struct tt_json_part){.name = "repaired arguments",
					       .whole = tt_str_text(&master->text),
					       .length = master->text.length}));
	}
	make_key_text(master, master->ops.data[op].name, args, tt_str_text(&master->made));
	TT_TRY(digest_key(entry->key, master));
	entry->has_key = true;
	return TTNN_OK;
}

/* Of equal configurations the first is found. */
static tt_status index_entry(struct tt_master *master, size_t op, size_t number)
{
	struct tt_master_entry *entry = &master->ops.data[op].entries.data[number];
	struct tt_map_entry *found;
	bool added;

	if (!entry->has_key)
		TT_TRY(make_key(master, op, entry));
	found = index_at(master, op, entry->key, &added);
	if (!found)
		return tt_fail_nomem();
	if (added)
		found->number = number;
	return TTNN_OK;
}

tt_status tt_master_index(struct tt_master *master)
{
	if (master->indexed)
		return TTNN_OK;
	for (size_t op = 0; op < master->ops.count; op++)
		for (size_t i = 0; i < master->ops.data[op].entries.count; i++)
			TT_TRY(index_entry(master, op, i));
	master->indexed = true;
	return TTNN_OK;
}

/* ---- adding ------------------------------------------------------------------------------------------------- */

/* The operation under which a name is filed, in the master's spelling: in master->name. */
static tt_status spell(struct tt_master *master, const char *op)
{
	static const char alias[] = "ttnn.global_avg_pool2d";

	tt_str_clear(&master->name);
	tt_master_spell(&master->name, op, master->layout);
	TT_TRY(tt_str_status(&master->name));
	if (master->layout == TT_MASTER_V2 &&
	    strcmp(tt_str_text(&master->name), "ttnn.avg_pool2d") == 0 &&
	    tt_map_finds(&master->by_name, alias)) {
		tt_str_clear(&master->name);
		tt_str_adds(&master->name, alias);
	}
	return tt_str_status(&master->name);
}

/* The arguments in the master's layout: as text in master->text, and read. */
static tt_status adapt(const struct tt_json **out, struct tt_master *master,
		       const struct tt_master_incoming *call)
{
	size_t lost;

	tt_str_clear(&master->text);
	*out = call->args;
	if (call->layout == master->layout && call->layout != TT_MASTER_V2) {
		if (call->raw && !tt_repair_needed(call->args))
			tt_str_add(&master->text, call->raw, call->length);
		else
			TT_TRY(tt_repair_args(&master->text, &lost, &master->repair, call->args));
	} else {
		TT_TRY(tt_convert_args(&master->text, &master->convert, call->args, call->layout,
				       master->layout));
	}
	TT_TRY(tt_str_status(&master->text));
	if (call->layout == master->layout && !tt_repair_needed(call->args))
		return TTNN_OK;
	return tt_json_parser_read(out, &master->third,
				   &(struct tt_json_part){.name = "arguments",
							  .whole = tt_str_text(&master->text),
							  .length = master->text.length});
}

/* The JSON of a new configuration, whose arguments are in master->text. */
static tt_status make_entry(struct tt_master *master, const struct tt_master_incoming *call)
{
	const struct tt_master_run *run = &master->runs.data[call->run];
	struct tt_str *made = &master->made;
	char hash[TT_DIGEST_TEXT];

	tt_str_clear(made);
	if (master->layout == TT_MASTER_SEED) {
		tt_str_add(made, tt_str_text(&master->text), master->text.length);
		return tt_str_status(made);
	}
	tt_str_adds(made, "{\"arguments\": ");
	tt_str_add(made, tt_str_text(&master->text), master->text.length);
	if (master->layout == TT_MASTER_V1) {
		tt_str_adds(made, ", \"source\": ");
		tt_json_dump_text(made, run->source, strlen(run->source));
	} else {
		TT_TRY(tt_digest_text(hash, TT_SHA256, tt_str_text(&master->key_text),
				      master->key_text.length));
		tt_str_addf(made, ", \"config_hash\": \"%s\", \"config_id\": %llu", hash,
			    (unsigned long long)master->next_id++);
		tt_str_adds(made, ", \"executions\": []");
		if (call->sweep_hash) {
			tt_str_adds(made, ", \"sweep_source_hash\": ");
			tt_json_dump(made, call->sweep_hash);
		}
	}
	tt_str_addc(made, '}');
	return tt_str_status(made);
}

tt_status tt_master_keep_made(struct tt_master *master, struct tt_master_entry *entry)
{
	const char *made =
		tt_arena_strndup(&master->arena, tt_str_text(&master->made), master->made.length);

	if (!made)
		return tt_fail_nomem();
	entry->made = made;
	entry->length = master->made.length;
	entry->changed = true;
	return TTNN_OK;
}

static tt_status append(size_t *number, struct tt_master *master,
			const struct tt_master_incoming *call, size_t op)
{
	struct tt_master_entry *entry;
	struct tt_map_entry *found;
	uint64_t key[2];
	bool added;

	TT_TRY(make_entry(master, call));
	TT_TRY(digest_key(key, master));
	entry = tt_master_push(master, op);
	if (!entry)
		return tt_fail_nomem();
	memcpy(entry->key, key, sizeof(key));
	entry->has_key = true;
	*number = master->ops.data[op].entries.count - 1;
	found = index_at(master, op, key, &added);
	if (!found || tt_master_keep_made(master, entry) != TTNN_OK) {
		master->ops.data[op].entries.count--;
		return tt_fail_nomem();
	}
	found->number = *number;
	return TTNN_OK;
}

/* One more of a configuration by a run. */
tt_status tt_master_count_call(struct tt_master *master, const struct tt_master_incoming *call,
			       size_t op, size_t number)
{
	uint32_t key[3] = {(uint32_t)op, (uint32_t)number, call->run};
	struct tt_master_count *of;
	struct tt_map_entry *entry;
	bool added;

	if (!TT_VEC_RESERVE(&master->counts, 1) || !TT_VEC_RESERVE(&master->waiting, 1))
		return tt_fail_nomem();
	entry = tt_map_add(&master->count_numbers, key, sizeof(key), &added);
	if (!entry)
		return tt_fail_nomem();
	if (added) {
		entry->number = master->counts.count;
		master->counts.data[master->counts.count++] =
			(struct tt_master_count){.op = key[0], .number = key[1], .run = key[2]};
	}
	of = &master->counts.data[entry->number];
	if (!call->most)
		of->count += call->count;
	else if (call->count > of->count)
		of->count = call->count;
	if (!of->waits)
		master->waiting.data[master->waiting.count++] = (size_t)entry->number;
	of->waits = true;
	master->dirty = true;
	return TTNN_OK;
}

/* By the very text: most calls of a model are made again and again. */
struct raw_key {
	uint64_t hashes[2];
	uint32_t op, machine, layout, length;
};

tt_status tt_master_add_parsed(size_t *op, size_t *number, bool *added, struct tt_master *master,
			       const struct tt_master_incoming *call)
{
	const struct tt_json *args;
	struct tt_map_entry *known, *found = NULL;
	uint64_t key[2];

	TT_TRY(tt_master_index(master));
	TT_TRY(adapt(&args, master, call));
	TT_TRY(spell(master, call->op));
	make_key_text(master, tt_str_text(&master->name), args,
		      master->runs.data[call->run].identity);
	TT_TRY(digest_key(key, master));
	known = tt_map_find(&master->by_name, tt_str_text(&master->name), master->name.length);
	if (known)
		found = index_at(master, (size_t)known->number, key, NULL);
	*added = !found;
	if (found) {
		*op = (size_t)known->number;
		*number = (size_t)found->number;
		return TTNN_OK;
	}
	TT_TRY(tt_master_op_of(op, master, tt_str_text(&master->name), master->name.length));
	return append(number, master, call, *op);
}

tt_status tt_master_fail_args(const char *op, enum tt_master_layout layout,
			      const struct tt_json *args)
{
	return tt_fail(TTNN_FORMAT, "%s: arguments of this layout are %s, not %s", op,
		       layout == TT_MASTER_V2 ? "an object" : "a list", tt_json_kind_name(args));
}

tt_status tt_master_add(bool *added, struct tt_master *master, const struct tt_master_call *call)
{
	const char *const details[2] = {call->trace_uid, call->pytest_args};
	struct tt_master_incoming in = {.op = call->op,
					.layout = call->layout,
					.raw = call->args,
					.length = call->length,
					.count = call->count ? call->count : 1};
	struct tt_map_entry *known, *raw = NULL;
	struct raw_key key;
	size_t op, number;
	enum tt_json_kind kind = call->layout == TT_MASTER_V2 ? TT_JSON_OBJECT : TT_JSON_ARRAY;

	*added = false;
	tt_str_clear(&master->made);
	add_machine(&master->made, &call->machine);
	TT_TRY(tt_str_status(&master->made));
	TT_TRY(tt_master_run_of(
		&in.run, master, call->source ? call->source : "", details,
		(struct tt_master_machine_text){master->made.data, master->made.length}));
	TT_TRY(spell(master, call->op));
	known = tt_map_find(&master->by_name, tt_str_text(&master->name), master->name.length);
	key = (struct raw_key){
		.hashes = {tt_hash(0, call->args, call->length),
			   tt_hash(1, call->args, call->length)},
		.op = known ? (uint32_t)known->number : 0,
		.machine = master->layout == TT_MASTER_V2 ? master->runs.data[in.run].machine_number
							  : 0,
		.layout = call->layout,
		.length = (uint32_t)call->length,
	};
	if (known)
		raw = tt_map_find(&master->raw, &key, sizeof(key));
	if (raw) {
		op = (size_t)known->number;
		number = (size_t)raw->number;
	} else {
		TT_TRY(tt_json_parser_read(&in.args, &master->second,
					   &(struct tt_json_part){.name = call->op,
								  .whole = call->args,
								  .length = call->length}));
		if (tt_json_kind(in.args) != kind)
			return tt_master_fail_args(call->op, call->layout, in.args);
		TT_TRY(tt_master_add_parsed(&op, &number, added, master, &in));
		key.op = (uint32_t)op;
		raw = tt_map_add(&master->raw, &key, sizeof(key), NULL);
		if (!raw)
			return tt_fail_nomem();
		raw->number = number;
	}
	master->total_operations += in.count;
	return tt_master_count_call(master, &in, op, number);
}
