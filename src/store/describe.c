/* describe.c: operations, lists and statistics of master files. */
#include "store/describe.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "store/master_parts.h"

/* So many operations are told of where many are meant. */
#define FIRST 10
#define TOP 15

static void add_line(struct tt_str *out, char c, int count)
{
	while (count-- > 0)
		tt_str_addc(out, c);
	tt_str_addc(out, '\n');
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* A name with "::" between its words, in small letters. */
static void add_plain(struct tt_str *out, const char *name)
{
	for (; *name; name++) {
		if (*name == '.')
			tt_str_adds(out, "::");
		else
			tt_str_addc(out, *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a')
								      : *name);
	}
}

static bool contains(const char *name, const char *term)
{
	struct tt_str left = {0}, right = {0};
	bool found;

	add_plain(&left, name);
	add_plain(&right, term);
	found = strstr(tt_str_text(&left), tt_str_text(&right)) != NULL;
	/* What works in place is another operation. */
	if (!strchr(term, '_') && left.length && left.data[left.length - 1] == '_')
		found = false;
	tt_str_deinit(&left);
	tt_str_deinit(&right);
	return found;
}

static void sort_by_name(size_t *ops, size_t count, const struct tt_master *master)
{
	for (size_t i = 1; i < count; i++)
		for (size_t j = i; j && strcmp(tt_master_op_name(master, ops[j - 1]),
					       tt_master_op_name(master, ops[j])) > 0;
		     j--) {
			size_t other = ops[j];

			ops[j] = ops[j - 1];
			ops[j - 1] = other;
		}
}

size_t tt_describe_find(size_t *out, size_t most, const struct tt_master *master, const char *name)
{
	size_t exact = tt_master_find(out, most, master, name), found = exact;

	for (size_t i = 0; !exact && i < tt_master_op_count(master) && found < most; i++)
		if (contains(tt_master_op_name(master, i), name))
			out[found++] = i;
	sort_by_name(out, found, master);
	return found;
}

/* All operations, sorted by name; NULL for want of memory. Free with tt_free(). */
static size_t *all_sorted(const struct tt_master *master)
{
	size_t count = tt_master_op_count(master), *ops = tt_calloc(count + 1, sizeof(*ops));

	for (size_t i = 0; ops && i < count; i++)
		ops[i] = i;
	if (ops)
		sort_by_name(ops, count, master);
	return ops;
}

void tt_describe_no_match(struct tt_str *out, const struct tt_master *master, const char *name)
{
	size_t count = tt_master_op_count(master), *ops = all_sorted(master);

	tt_str_addf(out, "❌ No operations found matching '%s'\n", name);
	tt_str_adds(out, "\n💡 Available operations:\n");
	for (size_t i = 0; ops && i < count && i < FIRST; i++)
		tt_str_addf(out, "   • %s\n", tt_master_op_name(master, ops[i]));
	if (count > FIRST)
		tt_str_addf(out, "   ... and %zu more (use --list to see all)\n", count - FIRST);
	out->failed |= !ops;
	tt_free(ops);
}

/* ---- one operation ------------------------------------------------------------------------------------------------ */

static void add_machine(struct tt_str *out, const struct tt_json *machine)
{
	const struct tt_json *series = tt_json_get(machine, "device_series"),
			     *cards = tt_json_get(machine, "card_count");
	struct tt_json_iter it = tt_json_iter(series);
	int64_t count = 0;

	tt_describe_python(out, tt_json_get(machine, "board_type"));
	tt_str_adds(out, ": ");
	if (tt_json_kind(series) == TT_JSON_ARRAY)
		for (bool first = true; tt_json_next(&it); first = false) {
			tt_str_adds(out, first ? "" : ", ");
			tt_describe_python(out, it.value);
		}
	else
		tt_describe_python(out, series);
	if (tt_json_int(&count, cards))
		tt_str_addf(out, " (%lld card%s)", (long long)count, count == 1 ? "" : "s");
	tt_str_addc(out, '\n');
}

/* Where a configuration was seen, and on what. */
static void add_origin(struct tt_str *out, const struct tt_master_said *said)
{
	struct tt_json_iter it = tt_json_iter(said->machines);
	size_t number = 1;

	tt_str_adds(out, "📝 Source: ");
	if (said->sources)
		tt_describe_python(out, said->sources);
	else if (said->executions)
		tt_str_adds(out, tt_master_said_source(said));
	else
		tt_str_adds(out, "unknown (legacy format)");
	tt_str_addc(out, '\n');
	if (tt_json_kind(said->machines) != TT_JSON_ARRAY || !tt_json_count(said->machines))
		return;
	tt_str_adds(out, "🖥️  Machines:\n");
	while (tt_json_next(&it)) {
		tt_str_addf(out, "     [%zu] ", number++);
		add_machine(out, it.value);
	}
}

/* The label of an argument: its key, or its position where the key is in a text. */
static void add_label(struct tt_str *out, const struct tt_json *element, size_t position)
{
	struct tt_json_iter it = tt_json_iter(element);

	if (tt_repair_unparsed(element, NULL) || !tt_json_next(&it))
		tt_str_addf(out, "  arg%zu: ", position);
	else
		tt_str_addf(out, "  %s: ", it.key);
}

static tt_status add_args(struct tt_str *out, struct tt_master *master, const struct tt_json *args,
			  const struct tt_describe *how)
{
	struct tt_json_iter it = tt_json_iter(args);
	size_t position = 0, shown = 0;

	for (; tt_json_next(&it); position++) {
		if (!how->debug && tt_describe_is_nothing(it.value))
			continue;
		shown++;
		add_label(out, it.value, position);
		TT_TRY(tt_describe_element(out, &master->repair, it.value, how));
		tt_str_addc(out, '\n');
	}
	if (!shown && !how->debug)
		tt_str_adds(out, "  (All arguments are default/internal)\n");
	return tt_str_status(out);
}

/* The arguments of a configuration, as those of V1 whatever the layout. */
static tt_status as_list(const struct tt_json **out, struct tt_master *master,
			 const struct tt_json *args)
{
	*out = args;
	if (tt_json_kind(args) != TT_JSON_OBJECT)
		return TTNN_OK;
	tt_str_clear(&master->text);
	TT_TRY(tt_convert_args(&master->text, &master->convert, args, TT_MASTER_V2, TT_MASTER_V1));
	return tt_json_parser_read(out, &master->third,
				   &(struct tt_json_part){.name = "arguments",
							  .whole = tt_str_text(&master->text),
							  .length = master->text.length});
}

static tt_status add_configuration(struct tt_str *out, struct tt_master *master, size_t op,
				   size_t number, const struct tt_describe *how)
{
	const struct tt_json *config, *args;
	struct tt_master_said said;

	TT_TRY(tt_master_entry(&config, master, &master->parser,
			       &master->ops.data[op].entries.data[number]));
	tt_master_say(&said, config);
	tt_str_addf(out, "\n📋 Configuration %zu:\n", number + 1);
	add_line(out, '-', 40);
	if (how->classic)
		add_origin(out, &said);
	TT_TRY(as_list(&args, master, said.args));
	return add_args(out, master, args, how);
}

tt_status tt_describe_operation(struct tt_str *out, struct tt_master *master, size_t op,
				const struct tt_describe *how)
{
	size_t count = tt_master_config_count(master, op);

	TT_TRY(tt_master_fold(master));
	tt_str_addf(out, how->classic ? "\n🔧 Operation: %s\n" : "📊 Operation: %s\n",
		    tt_master_op_name(master, op));
	tt_str_addf(out, "📊 Configurations: %zu\n", count);
	add_line(out, '=', 80);
	if (how->brief && how->classic)
		tt_str_adds(out, "💡 Use --details flag to see full configuration data\n");
	for (size_t i = 0; !how->brief && i < count; i++)
		TT_TRY(add_configuration(out, master, op, i, how));
	return tt_str_status(out);
}

/* ---- all of them --------------------------------------------------------------------------------------------------- */

/* Categories in the order of the list; what holds the word is in it. To add one: a row before "core". */
static const struct {
	const char *name, *title, *word;
	bool counted; /* the statistics know of it, too */
} categories[] = {
	{"experimental", "EXPERIMENTAL", "experimental", true},
	{"transformer", "TRANSFORMER", "transformer", true},
	{"moreh", "MOREH", "moreh", true},
	{"kv_cache", "KV_CACHE", "kv_cache", false},
	{"prim", "PRIM", "prim", false},
	{"core", "CORE", "", true},
	{"other", "OTHER", "", true},
};
enum { CORE = 5, OTHER = 6 };

/* The category of an operation: by the word before its last one. */
static size_t category_of(const struct tt_master *master, size_t op, bool counting)
{
	struct tt_str name = {0};
	size_t found = OTHER;

	tt_master_spell(&name, tt_master_op_name(master, op), TT_MASTER_V1);
	for (size_t i = 0; i < CORE && found == OTHER; i++) {
		char word[32];

		snprintf(word, sizeof(word), "::%s::", categories[i].word);
		if ((categories[i].counted || !counting) && strstr(tt_str_text(&name), word))
			found = i;
	}
	if (found == OTHER && name.length)
		found = CORE;
	tt_str_deinit(&name);
	return found;
}

void tt_describe_list(struct tt_str *out, const struct tt_master *master)
{
	static const size_t order[] = {CORE, 0, 1, 2, 3, 4, OTHER};
	size_t count = tt_master_op_count(master), *ops = all_sorted(master);

	tt_str_adds(out, "\n📋 ALL AVAILABLE OPERATIONS\n");
	add_line(out, '=', 80);
	for (size_t c = 0; ops && c < TT_COUNT(order); c++) {
		size_t members = 0;

		for (size_t i = 0; i < count; i++)
			members += category_of(master, i, false) == order[c];
		if (!members)
			continue;
		tt_str_addf(out, "\n🔧 %s OPERATIONS (%zu):\n", categories[order[c]].title, members);
		for (size_t i = 0; i < count; i++)
			if (category_of(master, ops[i], false) == order[c])
				tt_str_addf(out, "   • %s (%zu configs)\n",
					    tt_master_op_name(master, ops[i]),
					    tt_master_config_count(master, ops[i]));
	}
	out->failed |= !ops;
	tt_free(ops);
}

/* By the number of configurations; where that is the same, as in the file. */
static void add_top(struct tt_str *out, const struct tt_master *master)
{
	size_t last = SIZE_MAX, told = 0, count = tt_master_op_count(master);

	while (told < TOP && told < count) {
		size_t most = 0;

		for (size_t i = 0; i < count; i++)
			if (tt_master_config_count(master, i) < last &&
			    tt_master_config_count(master, i) > most)
				most = tt_master_config_count(master, i);
		for (size_t i = 0; i < count && told < TOP; i++)
			if (tt_master_config_count(master, i) == most) {
				tt_str_addf(out, "   %s: %zu configs\n",
					    tt_master_op_name(master, i), most);
				told++;
			}
		if (!most)
			break;
		last = most;
	}
}

tt_status tt_describe_stats(struct tt_str *out, struct tt_master *master)
{
	static const size_t order[] = {CORE, 0, 2, OTHER, 1}; /* of the alphabet */
	size_t configurations = 0;
	uint64_t calls = master->total_operations;

	for (size_t i = 0; i < tt_master_op_count(master); i++)
		configurations += tt_master_config_count(master, i);
	tt_str_adds(out, "\n📊 MASTER FILE STATISTICS\n");
	add_line(out, '=', 80);
	tt_str_addf(out, "📁 File Metadata:\n   🔧 Total Operations: %zu\n",
		    tt_master_op_count(master));
	tt_str_addf(out, "   ⚙️ Total Configurations: %zu\n", configurations);
	tt_str_addf(out, "   📊 Operations Processed: %llu\n", (unsigned long long)calls);
	tt_str_addf(out, "   🎯 Models Processed: %zu\n", master->models.count);
	tt_str_addf(out, "   🕐 Last Updated: %s\n",
		    master->last_updated[0] ? master->last_updated : "Unknown");
	if (master->models.count)
		tt_str_adds(out, "\n📋 Processed Models:\n");
	for (size_t i = 0; i < master->models.count; i++)
		tt_str_addf(out, "   • %s\n", master->models.entries[i].key);
	tt_str_adds(out, "\n🔧 Top Operations by Configuration Count:\n");
	add_top(out, master);
	tt_str_adds(out, "\n📂 Operation Categories:\n");
	for (size_t c = 0; c < TT_COUNT(order); c++) {
		size_t members = 0;

		for (size_t i = 0; i < tt_master_op_count(master); i++)
			members += category_of(master, i, true) == order[c];
		if (members)
			tt_str_addf(out, "   %s: %zu operations\n", categories[order[c]].name,
				    members);
	}
	return tt_str_status(out);
}

tt_status tt_describe_stats_json(struct tt_jsonw *w, struct tt_master *master)
{
	static const char *const layouts[] = {"v1", "v2", "seed"};
	size_t configurations = 0, lost = 0, unparsed = 0;

	for (size_t op = 0; op < tt_master_op_count(master); op++)
		for (size_t i = 0; i < tt_master_config_count(master, op); i++) {
			const struct tt_json *args;
			struct tt_json_iter it;
			size_t left = 0;

			configurations++;
			TT_TRY(tt_master_args(&args, master, &master->parser, op, i));
			for (it = tt_json_iter(args); tt_json_next(&it);)
				unparsed += tt_repair_unparsed(it.value, NULL) != NULL;
			tt_str_clear(&master->text);
			TT_TRY(tt_repair_args(&master->text, &left, &master->repair, args));
			lost += left;
		}
	tt_jsonw_key_string(w, "layout", layouts[master->layout]);
	tt_jsonw_key_int(w, "operations", (int64_t)tt_master_op_count(master));
	tt_jsonw_key_int(w, "configurations", (int64_t)configurations);
	tt_jsonw_key_int(w, "operations_processed", (int64_t)master->total_operations);
	tt_jsonw_key_int(w, "unparsed_elements", (int64_t)unparsed);
	tt_jsonw_key_int(w, "not_recovered", (int64_t)lost);
	tt_jsonw_key_string(w, "last_updated", master->last_updated);
	tt_jsonw_key(w, "models");
	tt_jsonw_array(w);
	for (size_t i = 0; i < master->models.count; i++)
		tt_jsonw_string(w, master->models.entries[i].key);
	tt_jsonw_end(w);
	return TTNN_OK;
}
