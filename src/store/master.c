/* master.c: configurations in memory: looking them up. */
#include "store/master.h"

#include <string.h>

#include "base/mem.h"
#include "store/master_parts.h"

tt_status tt_master_new(struct tt_master **out, enum tt_master_layout layout)
{
	struct tt_master *master = tt_calloc(1, sizeof(*master));

	if (!master)
		return tt_fail_nomem();
	master->layout = layout;
	master->lock.fd = -1;
	master->next_id = 1;
	*out = master;
	return TTNN_OK;
}

tt_status tt_master_open(struct tt_master **out, const char *path)
{
	struct tt_master *master = NULL;
	tt_status status;

	TT_TRY(tt_master_new(&master, TT_MASTER_V1));
	master->path = tt_strdup(path);
	status = master->path ? TTNN_OK : tt_fail_nomem();
	if (status == TTNN_OK && tt_master_is_store(path)) {
		status = tt_master_read_store(master);
	} else if (status == TTNN_OK) {
		status = tt_jsonslice_open(&master->file, path);
		if (status == TTNN_OK)
			status = tt_master_read(master);
	}
	if (status != TTNN_OK) {
		tt_master_free(master);
		return status;
	}
	*out = master;
	return TTNN_OK;
}

void tt_master_free(struct tt_master *master)
{
	if (!master)
		return;
	for (size_t i = 0; i < master->ops.count; i++) {
		TT_VEC_DEINIT(&master->ops.data[i].entries);
		TT_VEC_DEINIT(&master->ops.data[i].others);
	}
	TT_VEC_DEINIT(&master->ops);
	TT_VEC_DEINIT(&master->members);
	tt_map_deinit(&master->by_name);
	tt_map_deinit(&master->models);
	tt_map_deinit(&master->index);
	tt_map_deinit(&master->raw);
	tt_map_deinit(&master->run_numbers);
	tt_map_deinit(&master->machine_numbers);
	tt_map_deinit(&master->count_numbers);
	tt_map_deinit(&master->texts);
	TT_VEC_DEINIT(&master->runs);
	TT_VEC_DEINIT(&master->counts);
	TT_VEC_DEINIT(&master->waiting);
	tt_json_parser_deinit(&master->parser);
	tt_json_parser_deinit(&master->second);
	tt_json_parser_deinit(&master->third);
	tt_convert_deinit(&master->convert);
	tt_repair_deinit(&master->repair);
	tt_str_deinit(&master->text);
	tt_str_deinit(&master->key_text);
	tt_str_deinit(&master->made);
	tt_str_deinit(&master->name);
	tt_jsonslice_free(master->file);
	tt_master_close_store(master);
	tt_arena_deinit(&master->arena);
	tt_free(master->path);
	tt_master_let_go(&master->lock);
	tt_free(master);
}

enum tt_master_layout tt_master_layout(const struct tt_master *master)
{
	return master->layout;
}

size_t tt_master_op_count(const struct tt_master *master)
{
	return master->ops.count;
}

const char *tt_master_op_name(const struct tt_master *master, size_t op)
{
	return master->ops.data[op].name;
}

size_t tt_master_config_count(const struct tt_master *master, size_t op)
{
	return master->ops.data[op].entries.count;
}

tt_status tt_master_op_of(size_t *out, struct tt_master *master, const char *name, size_t length)
{
	bool added;
	struct tt_map_entry *entry = tt_map_add(&master->by_name, name, length, &added);
	struct tt_master_op *op;

	if (!entry)
		return tt_fail_nomem();
	if (added) {
		entry->number = master->ops.count;
		op = TT_VEC_PUSH(&master->ops);
		if (!op)
			return tt_fail_nomem();
		*op = (struct tt_master_op){.name = entry->key};
	}
	*out = (size_t)entry->number;
	return TTNN_OK;
}

struct tt_master_entry *tt_master_push(struct tt_master *master, size_t op)
{
	struct tt_master_entry *entry = TT_VEC_PUSH(&master->ops.data[op].entries);

	if (entry)
		*entry = (struct tt_master_entry){0};
	return entry;
}

/* ---- names -------------------------------------------------------------------------------------------- */

/* The words of a name, without a leading "ttnn": each is a stretch between dots or pairs of colons. */
struct words {
	const char *at;
};

static bool next_word(const char **word, size_t *length, struct words *words)
{
	if (!*words->at)
		return false;
	*word = words->at;
	*length = strcspn(words->at, ".:");
	words->at += *length;
	if (*words->at == '.')
		words->at++;
	else
		words->at += strspn(words->at, ":");
	return true;
}

static struct words words_of(const char *name)
{
	struct words words = {name}, rest = words;
	const char *word;
	size_t length;

	if (next_word(&word, &length, &rest) && length == 4 && memcmp(word, "ttnn", 4) == 0 &&
	    *rest.at)
		return rest;
	return words;
}

void tt_master_spell(struct tt_str *out, const char *name, enum tt_master_layout layout)
{
	static const struct {
		const char *first, *between;
	} spellings[] = {
		[TT_MASTER_V1] = {"ttnn::", "::"},
		[TT_MASTER_V2] = {"ttnn.", "."},
		[TT_MASTER_SEED] = {"", "::"},
	};
	struct words words = words_of(name);
	const char *word;
	size_t length;

	tt_str_adds(out, spellings[layout].first);
	for (bool first = true; next_word(&word, &length, &words); first = false) {
		if (!first)
			tt_str_adds(out, spellings[layout].between);
		tt_str_add(out, word, length);
	}
}

static bool same_words(const char *a, const char *b)
{
	struct words left = words_of(a), right = words_of(b);
	const char *word, *other;
	size_t length, other_length;

	for (;;) {
		bool more = next_word(&word, &length, &left);

		if (next_word(&other, &other_length, &right) != more)
			return false;
		if (!more)
			return true;
		if (length != other_length || memcmp(word, other, length) != 0)
			return false;
	}
}

static const char *last_word(const char *name)
{
	const char *last = name + strlen(name);

	while (last > name && last[-1] != '.' && last[-1] != ':')
		last--;
	return last;
}

size_t tt_master_find(size_t *out, size_t most, const struct tt_master *master, const char *name)
{
	struct words words = words_of(name);
	size_t found = 0;

	for (size_t i = 0; i < master->ops.count; i++)
		if (same_words(master->ops.data[i].name, name) && found++ < most)
			out[found - 1] = i;
	/* A bare name stands for those of any namespace. */
	for (size_t i = 0; !strpbrk(words.at, ".:") && i < master->ops.count; i++)
		if (!same_words(master->ops.data[i].name, name) &&
		    strcmp(last_word(master->ops.data[i].name), words.at) == 0 && found++ < most)
			out[found - 1] = i;
	return found < most ? found : most;
}

/* ---- configurations ----------------------------------------------------------------------------------- */

void tt_master_say(struct tt_master_said *out, const struct tt_json *config)
{
	*out = (struct tt_master_said){.args = config};
	if (tt_json_kind(config) != TT_JSON_OBJECT)
		return; /* the oldest files and the seed: the arguments alone */
	out->args = tt_json_get(config, "arguments");
	out->sources = tt_json_get(config, "source");
	out->machines = tt_json_get(config, "machine_info");
	out->executions = tt_json_get(config, "executions");
}

const char *tt_master_said_source(const struct tt_master_said *said)
{
	const struct tt_json *source = said->sources;
	const char *text;

	if (!source)
		source = tt_json_get(tt_json_at(said->executions, 0), "source");
	if (tt_json_kind(source) == TT_JSON_ARRAY)
		source = tt_json_at(source, 0);
	text = tt_json_string(source, NULL);
	return text ? text : "";
}

uint64_t tt_master_said_count(const struct tt_master_said *said)
{
	struct tt_json_iter it = tt_json_iter(said->executions);
	uint64_t count = 0, one;

	while (tt_json_next(&it)) {
		if (!tt_json_uint(&one, tt_json_get(it.value, "count")))
			one = 1;
		if (__builtin_add_overflow(count, one, &count))
			return UINT64_MAX;
	}
	return count ? count : 1;
}

tt_status tt_master_entry(const struct tt_json **out, struct tt_master *master,
			  struct tt_json_parser *parser, const struct tt_master_entry *entry)
{
	if (entry->made)
		return tt_json_parser_read(out, parser,
					   &(struct tt_json_part){.name = "a configuration",
								  .whole = entry->made,
								  .length = entry->length});
	if (entry->row)
		return tt_master_row(out, master, parser, entry);
	return tt_jsonslice_fetch(out, master->file, parser, &entry->place);
}

void tt_master_config(struct tt_master_config *out, const struct tt_master *master, size_t op,
		      size_t number)
{
	/* What is looked up is kept: to the caller nothing changes. */
	struct tt_master *own = (struct tt_master *)(uintptr_t)master;
	const struct tt_master_op *of = &master->ops.data[op];
	const struct tt_json *config;
	struct tt_master_said said;
	const char *source;

	*out = (struct tt_master_config){of->name, "", number, 1};
	if (tt_master_fold(own) != TTNN_OK ||
	    tt_master_entry(&config, own, &own->parser, &of->entries.data[number]) != TTNN_OK)
		return;
	tt_master_say(&said, config);
	source = tt_master_said_source(&said);
	source = tt_master_keep(own, source, strlen(source));
	out->source = source ? source : "";
	out->count = tt_master_said_count(&said);
}

static tt_status bad_args(const struct tt_master *master, size_t op, size_t number)
{
	return tt_fail(TTNN_FORMAT, "%s: %s, configuration %zu: it has no arguments",
		       master->path ? master->path : "a master", master->ops.data[op].name, number);
}

tt_status tt_master_args(const struct tt_json **out, struct tt_master *master,
			 struct tt_json_parser *parser, size_t op, size_t number)
{
	const struct tt_json *config;
	struct tt_master_said said;

	TT_TRY(tt_master_fold(master));
	TT_TRY(tt_master_entry(&config, master, parser,
			       &master->ops.data[op].entries.data[number]));
	tt_master_say(&said, config);
	if (tt_json_kind(said.args) != TT_JSON_ARRAY && tt_json_kind(said.args) != TT_JSON_OBJECT)
		return bad_args(master, op, number);
	*out = said.args;
	return TTNN_OK;
}

tt_status tt_master_repaired(const struct tt_json **out, struct tt_master *master,
			     struct tt_json_parser *parser, size_t op, size_t number)
{
	size_t lost;

	TT_TRY(tt_master_args(out, master, parser, op, number));
	if (!tt_repair_needed(*out))
		return TTNN_OK;
	tt_str_clear(&master->text);
	TT_TRY(tt_repair_args(&master->text, &lost, &master->repair, *out));
	return tt_json_parser_read(out, parser,
				   &(struct tt_json_part){.name = "repaired arguments",
							  .whole = tt_str_text(&master->text),
							  .length = master->text.length});
}
