#include "store/loader.h"

#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "event/value.h"
#include "store/repair.h"
#include "tensor/enums.h"

/* Columns that a user gave an operation. */
struct own_rule {
	const char *op;
	const char *columns;
};

struct tt_loader {
	struct tt_master *master;
	struct tt_arena arena;
	TT_VEC(struct own_rule) rules;
};

struct tt_loaded {
	struct tt_arena arena;
	struct ttnn_value value;
};

/* ---- files ------------------------------------------------------------------------------------------------- */

enum ttnn_status ttnn_configs_open(ttnn_configs **out, const char *path)
{
	struct tt_loader *configs = tt_calloc(1, sizeof(*configs));
	tt_status status;

	if (!configs)
		return tt_fail_nomem();
	status = tt_master_open(&configs->master, path);
	if (status != TTNN_OK) {
		tt_free(configs);
		return status;
	}
	*out = configs;
	return TTNN_OK;
}

void ttnn_configs_free(ttnn_configs *configs)
{
	if (!configs)
		return;
	tt_master_free(configs->master);
	tt_arena_deinit(&configs->arena);
	TT_VEC_DEINIT(&configs->rules);
	tt_free(configs);
}

size_t ttnn_configs_count(const ttnn_configs *configs)
{
	return tt_master_op_count(configs->master);
}

const char *ttnn_configs_name(const ttnn_configs *configs, size_t index)
{
	return index < tt_master_op_count(configs->master)
		       ? tt_master_op_name(configs->master, index)
		       : NULL;
}

/* The operation that a name means first of all; false when there is none. */
static bool find(size_t *op, const ttnn_configs *configs, const char *name)
{
	return tt_master_find(op, 1, configs->master, name) > 0;
}

size_t ttnn_configs_of(const ttnn_configs *configs, const char *name)
{
	size_t op;

	return find(&op, configs, name) ? tt_master_config_count(configs->master, op) : 0;
}

/* ---- values by themselves ---------------------------------------------------------------------------------- */

void ttnn_loaded_free(ttnn_loaded *loaded)
{
	if (!loaded)
		return;
	tt_arena_deinit(&loaded->arena);
	tt_free(loaded);
}

const struct ttnn_value *ttnn_loaded_value(const ttnn_loaded *loaded)
{
	return &loaded->value;
}

/* Makes the value of one configuration. */
typedef tt_status each_config(struct ttnn_value *out, struct tt_arena *arena,
			      const struct tt_json *args);

/* A list of what `each` makes of all configurations of a name. */
static tt_status all_of(ttnn_loaded **out, ttnn_configs *configs, const char *name,
			each_config *each)
{
	struct tt_loaded *loaded = tt_calloc(1, sizeof(*loaded));
	struct tt_json_parser parser = {0};
	size_t op = 0, count = 0;
	struct ttnn_value *items = NULL;
	tt_status status = TTNN_OK;

	if (!loaded)
		return tt_fail_nomem();
	if (find(&op, configs, name))
		count = tt_master_config_count(configs->master, op);
	items = tt_arena_calloc(&loaded->arena, count + 1, sizeof(*items));
	if (!items)
		status = tt_fail_nomem();
	for (size_t i = 0; status == TTNN_OK && i < count; i++) {
		const struct tt_json *args;

		status = tt_master_repaired(&args, configs->master, &parser, op, i);
		if (status == TTNN_OK)
			status = each(&items[i], &loaded->arena, args);
	}
	tt_json_parser_deinit(&parser);
	if (status != TTNN_OK) {
		ttnn_loaded_free(loaded);
		return status;
	}
	loaded->value = ttnn_v_list(items, count);
	*out = loaded;
	return TTNN_OK;
}

enum ttnn_status ttnn_configs_arguments(ttnn_loaded **out, ttnn_configs *configs, const char *name)
{
	return all_of(out, configs, name, tt_loader_json);
}

/* A dictionary that is being filled. */
struct dict {
	struct tt_arena *arena;
	struct ttnn_value *items;
	size_t count;
};

static tt_status put(struct dict *dict, const char *name, const char *suffix,
		     struct ttnn_value value)
{
	const char *key = tt_arena_printf(dict->arena, "%s%s", name, suffix);

	if (!key)
		return tt_fail_nomem();
	dict->items[dict->count++] = ttnn_v_string(key);
	dict->items[dict->count++] = value;
	return TTNN_OK;
}

static tt_status put_tensor(struct dict *dict, const char *suffix,
			    const struct tt_loader_tensor *tensor)
{
	struct ttnn_value memory;

	TT_TRY(tt_loader_memory_value(&memory, dict->arena, &tensor->config));
	TT_TRY(put(dict, "shape", suffix, tensor->shape));
	TT_TRY(put(dict, "dtype", suffix, tensor->dtype));
	TT_TRY(put(dict, "layout", suffix, tensor->layout));
	return put(dict, "memory_config", suffix, memory);
}

static tt_status tensors_of(struct ttnn_value *out, struct tt_arena *arena,
			    const struct tt_json *args)
{
	struct dict dict = {arena, NULL, 0};
	struct tt_loader_call call;
	struct ttnn_value memory;
	tt_status status = tt_loader_read(&call, arena, args);

	if (status ==
	    TTNN_FORMAT) /* nothing is known of it, which is no reason to refuse the others */
		call.tensor_count = 0;
	else
		TT_TRY(status);
	dict.items = tt_arena_calloc(arena, 8 * call.tensor_count + 5, sizeof(struct ttnn_value));
	if (!dict.items)
		return tt_fail_nomem();
	for (size_t i = 0; i < call.tensor_count; i++) {
		char suffix[] = {'_', (char)('a' + i), '\0'};

		TT_TRY(put_tensor(&dict, call.tensor_count > 1 ? suffix : "", &call.tensors[i]));
	}
	if (call.tensor_count) {
		TT_TRY(tt_loader_memory_value(&memory, arena, &call.tensors[0].config));
		TT_TRY(put(&dict, "output_memory_config", "", memory));
		TT_TRY(put(&dict, "storage_type", "", call.tensors[0].storage));
	}
	*out = ttnn_v_list(dict.items, dict.count);
	out->kind = TTNN_VALUE_DICT;
	return TTNN_OK;
}

enum ttnn_status ttnn_configs_tensors(ttnn_loaded **out, ttnn_configs *configs, const char *name)
{
	return all_of(out, configs, name, tensors_of);
}

/* ---- single arguments -------------------------------------------------------------------------------------- */

/* The tensor in an element {"argN": VALUE}, in VALUE itself or in {"Tensor": ...}; NULL. */
static const struct tt_json *tensor_in(const struct tt_json *element)
{
	struct tt_json_iter it = tt_json_iter(element);

	if (tt_loader_is_tensor(element))
		return element;
	while (it.object && tt_json_next(&it))
		if (tt_loader_is_tensor(it.value))
			return it.value;
	return NULL;
}

static tt_status describe_tensor(struct ttnn_value *out, struct tt_arena *arena,
				 const struct tt_json *value)
{
	struct dict dict = {arena, tt_arena_calloc(arena, 12, sizeof(struct ttnn_value)), 0};
	const struct tt_json *inner =
		tt_json_get(value, "Tensor") ? tt_json_get(value, "Tensor") : value;
	const struct tt_json *page =
		tt_json_get(tt_json_get(inner, "tensor_spec"), "tensor_layout");
	struct tt_loader_tensor tensor;
	struct ttnn_value memory;

	if (!dict.items)
		return tt_fail_nomem();
	*out = ttnn_v_none();
	TT_TRY(tt_loader_tensor(&tensor, arena, value));
	if (!tensor.extents.rank)
		return TTNN_OK;
	TT_TRY(tt_loader_json(&memory, arena, tt_json_get(page ? page : inner, "memory_config")));
	TT_TRY(put(&dict, "shape", "", tensor.shape));
	TT_TRY(put(&dict, "dtype", "", tensor.dtype));
	TT_TRY(put(&dict, "layout", "", tensor.layout));
	TT_TRY(put(&dict, "memory_config", "", memory));
	TT_TRY(put(&dict, "storage_type", "", tensor.storage));
	*out = ttnn_v_list(dict.items, dict.count);
	out->kind = TTNN_VALUE_DICT;
	return TTNN_OK;
}

enum ttnn_status ttnn_configs_tensor(ttnn_loaded **out, const char *json, size_t length)
{
	struct tt_loaded *loaded = tt_calloc(1, sizeof(*loaded));
	struct tt_repair repair = {0};
	struct tt_json_doc *doc = NULL;
	const struct tt_json *element = NULL;
	tt_status status =
		loaded ? tt_json_parse(&doc, json, length, "the argument") : tt_fail_nomem();

	if (status == TTNN_OK) {
		size_t text_length;
		const char *text = tt_repair_unparsed(tt_json_root(doc), &text_length);

		element = tt_json_root(doc);
		if (text)
			status = tt_repair_text(&element, &repair, text, text_length);
	}
	if (status == TTNN_OK) {
		element = tensor_in(element);
		loaded->value = ttnn_v_none();
		if (element)
			status = describe_tensor(&loaded->value, &loaded->arena, element);
	}
	tt_repair_deinit(&repair);
	tt_json_free(doc);
	if (status == TTNN_OK)
		*out = loaded;
	else
		ttnn_loaded_free(loaded);
	return status;
}

enum ttnn_status ttnn_configs_memory(struct ttnn_memory_config *out, const char *json,
				     size_t length)
{
	struct tt_json_doc *doc;
	tt_status status;

	TT_TRY(tt_json_parse(&doc, json, length, "the memory config"));
	status = tt_loader_memory(out, tt_json_root(doc));
	tt_json_free(doc);
	return status;
}

/* ---- rules --------------------------------------------------------------------------------------------------- */

/* The last word of "ttnn::experimental::x". */
static const char *bare(const char *name)
{
	const char *last = name;

	for (; *name; name++)
		if (*name == ':' || *name == '.')
			last = name + 1;
	return last;
}

enum ttnn_status ttnn_configs_rule(ttnn_configs *configs, const char *name, const char *columns)
{
	struct tt_loader_columns parsed = {0};
	tt_status status = tt_loader_columns_add(&parsed, &configs->arena, columns);
	struct own_rule *rule;

	tt_loader_columns_deinit(&parsed);
	TT_TRY(status);
	rule = TT_VEC_PUSH(&configs->rules);
	if (!rule)
		return tt_fail_nomem();
	*rule = (struct own_rule){tt_arena_strdup(&configs->arena, bare(name)),
				  tt_arena_strdup(&configs->arena, columns)};
	if (rule->op && rule->columns)
		return TTNN_OK;
	configs->rules.count--;
	return tt_fail_nomem();
}

/* ---- suites -------------------------------------------------------------------------------------------------- */

/* A suite that is being made. */
struct making {
	struct tt_suite *suite;
	ttnn_configs *configs;
	size_t op, count; /* its configurations */
	struct tt_json_parser parser;
	struct tt_arena scratch;    /* of a configuration that is only looked at */
	struct tt_loader_call call; /* the one that is being read */
	struct tt_loader_columns columns;
	size_t cases;  /* columns that all cases have; 0: as ever */
	size_t inputs; /* configurations whose tensors no other before has */
	struct tt_map seen, seen_inputs;
};

static tt_status read_call(struct making *m, struct tt_arena *arena, size_t number)
{
	const struct tt_json *args;

	TT_TRY(tt_master_repaired(&args, m->configs->master, &m->parser, m->op, number));
	return tt_loader_read(&m->call, arena, args);
}

/* What most configurations are like. */
struct usual {
	size_t tensors; /* the larger number of two that are as frequent */
	bool other;     /* as the rule asks */
};

static tt_status look(struct usual *out, struct making *m, const struct tt_loader_rule *rule)
{
	size_t frequency[TT_LOADER_TENSORS + 1] = {0}, best = 0, others = 0;

	for (size_t i = 0; i < m->count; i++) {
		tt_status status;

		tt_arena_reset(&m->scratch);
		status = read_call(m, &m->scratch, i);
		if (status == TTNN_FORMAT)
			continue;
		TT_TRY(status);
		frequency[m->call.tensor_count]++;
		others += rule && rule->other && rule->other(&m->call);
	}
	for (size_t i = 0; i <= TT_LOADER_TENSORS; i++)
		if (frequency[i] && frequency[i] >= frequency[best])
			best = i;
	*out = (struct usual){best, 2 * others > m->count};
	return TTNN_OK;
}

static tt_status choose_columns(struct making *m)
{
	struct tt_arena *arena = &m->suite->arena;
	const char *name = tt_master_op_name(m->configs->master, m->op);
	const struct tt_loader_rule *rule = tt_loader_rule(name);
	struct usual usual = {0};

	if (!rule || !rule->whole || rule->other)
		TT_TRY(look(&usual, m, rule));
	if (!rule || !rule->whole) {
		const char *text = tt_loader_usual(&m->cases, arena, usual.tensors);

		if (!text)
			return tt_fail_nomem();
		TT_TRY(tt_loader_columns_add(&m->columns, arena, text));
	}
	if (rule)
		TT_TRY(tt_loader_columns_add(&m->columns, arena,
					     usual.other ? rule->others : rule->columns));
	for (size_t i = 0; i < m->configs->rules.count; i++)
		if (strcmp(m->configs->rules.data[i].op, bare(name)) == 0)
			TT_TRY(tt_loader_columns_add(&m->columns, arena,
						     m->configs->rules.data[i].columns));
	return TTNN_OK;
}

/* Whether no values like these were seen yet; 128 bits stand for them. */
static tt_status first_time(bool *first, struct tt_map *seen, const struct ttnn_value *values,
			    size_t count)
{
	uint64_t hash[2] = {count, ~count};

	for (size_t i = 0; i < count; i++) {
		hash[0] = tt_value_hash(hash[0], &values[i]);
		hash[1] = tt_value_hash(hash[1] * 31 + 1, &values[i]);
	}
	return tt_map_add(seen, hash, sizeof(hash), first) ? TTNN_OK : tt_fail_nomem();
}

/* Counts the configurations whose tensors are unlike those of all before. */
static tt_status count_inputs(struct making *m)
{
	const struct tt_loader_call *call = &m->call;
	struct ttnn_value values[4 * TT_LOADER_TENSORS];
	size_t count = 0;
	bool first;

	for (size_t i = 0; i < call->tensor_count; i++) {
		const struct tt_loader_tensor *tensor = &call->tensors[i];

		values[count++] = tensor->shape;
		values[count++] = tensor->dtype;
		values[count++] = tensor->layout;
		values[count++] = ttnn_v_memory(&tensor->config);
	}
	TT_TRY(first_time(&first, &m->seen_inputs, values, count));
	m->inputs += first;
	return TTNN_OK;
}

/* Fills row `row` with the columns of a configuration; TTNN_NOTFOUND when it has not all of them. */
static tt_status fill_row(struct ttnn_value **columns, struct making *m, size_t row, size_t number)
{
	TT_TRY(read_call(m, &m->suite->arena, number));
	for (size_t i = 0; i < m->columns.list.count; i++)
		TT_TRY(tt_loader_column(&columns[i][row], &m->columns.list.data[i], &m->call));
	return TTNN_OK;
}

/* Binary operations and those with more tensors keep rows that are alike, as the original does. */
static bool keeps_equal_rows(const struct making *m)
{
	return m->cases != 5;
}

static tt_status fill_rows(struct ttnn_value **columns, struct making *m, size_t *numbers)
{
	struct ttnn_suite_info *info = &m->suite->info;
	struct ttnn_value *row =
		tt_arena_calloc(&m->suite->arena, m->columns.list.count + 1, sizeof(*row));

	if (!row)
		return tt_fail_nomem();
	for (size_t i = 0; i < m->count; i++) {
		tt_status status = fill_row(columns, m, info->row_count, i);
		bool first = true;

		if (status == TTNN_NOTFOUND || status == TTNN_FORMAT) {
			info->left_out++;
			continue;
		}
		TT_TRY(status);
		TT_TRY(count_inputs(m));
		for (size_t c = 0; c < m->columns.list.count; c++)
			row[c] = columns[c][info->row_count];
		if (!keeps_equal_rows(m))
			TT_TRY(first_time(&first, &m->seen, row, m->columns.list.count));
		if (first)
			numbers[info->row_count++] = i;
	}
	return TTNN_OK;
}

/* The values of a column that are unlike those before, in place. */
static tt_status unique(struct ttnn_suite_column *column, struct ttnn_value *values)
{
	struct tt_map seen = {0};
	tt_status status = TTNN_OK;
	size_t kept = 0;
	bool first;

	for (size_t i = 0; status == TTNN_OK && i < column->count; i++) {
		status = first_time(&first, &seen, &values[i], 1);
		if (status == TTNN_OK && first)
			values[kept++] = values[i];
	}
	tt_map_deinit(&seen);
	column->count = kept;
	return status;
}

/* How many different values the columns of a kind have. */
static tt_status count_unique(size_t *out, const struct making *m, const char *suffix)
{
	struct tt_map seen = {0};
	tt_status status = TTNN_OK;
	bool first;

	*out = 0;
	for (size_t c = 0; c < m->suite->info.column_count; c++) {
		const struct ttnn_suite_column *column = &m->suite->info.columns[c];

		if (!tt_ends_with(column->name, suffix) || strncmp(column->name, "output", 6) == 0)
			continue;
		for (size_t i = 0; status == TTNN_OK && i < column->count; i++) {
			status = first_time(&first, &seen, &column->values[i], 1);
			*out += status == TTNN_OK && first;
		}
	}
	tt_map_deinit(&seen);
	return status;
}

/* The lines that the guide shows. */
static tt_status describe(struct making *m, const char *name)
{
	static const struct {
		const char *title, *suffix;
	} kinds[] = {
		{"Dtypes", "_dtype"}, {"Layouts", "_layout"}, {"Memory Configs", "_memory_config"}};
	struct ttnn_suite_info *info = &m->suite->info;
	struct tt_str text = {0};
	tt_status status = TTNN_OK;
	size_t rows = m->count - info->left_out, unique_count;

	tt_str_addf(&text, "✅ Loaded %zu model-traced configurations for %s\n   • Shapes: %zu",
		    rows, name, info->product ? info->columns[0].count : info->row_count);
	for (size_t i = 0; status == TTNN_OK && i < TT_COUNT(kinds); i++) {
		status = count_unique(&unique_count, m, kinds[i].suffix);
		if (unique_count)
			tt_str_addf(&text, "\n   • %s: %zu unique", kinds[i].title, unique_count);
	}
	if (m->inputs != rows)
		tt_str_addf(&text, "\n   • %zu configurations, %zu with distinct inputs", rows,
			    m->inputs);
	if (info->left_out)
		tt_str_addf(&text, "\n   • %zu more have other arguments and are left out",
			    info->left_out);
	if (status == TTNN_OK)
		status = tt_str_status(&text);
	info->text = status == TTNN_OK ? tt_arena_strdup(&m->suite->arena, tt_str_text(&text)) : "";
	tt_str_deinit(&text);
	return info->text ? status : tt_fail_nomem();
}

static tt_status fill_suite(struct making *m, const char *name, bool all_cases)
{
	struct tt_arena *arena = &m->suite->arena;
	struct ttnn_suite_info *info = &m->suite->info;
	size_t width, *numbers = tt_arena_calloc(arena, m->count + 1, sizeof(*numbers));
	struct ttnn_suite_column *columns;
	struct ttnn_value **values;

	TT_TRY(choose_columns(m));
	info->product = all_cases && m->cases;
	if (info->product) /* what only some configurations have is no reason to leave the others out */
		m->columns.list.count = m->cases;
	width = m->columns.list.count;
	columns = tt_arena_calloc(arena, width + 1, sizeof(*columns));
	values = tt_arena_calloc(arena, width + 1, sizeof(*values));
	if (!columns || !values || !numbers)
		return tt_fail_nomem();
	for (size_t i = 0; i < width; i++) {
		values[i] = tt_arena_calloc(arena, m->count + 1, sizeof(**values));
		if (!values[i])
			return tt_fail_nomem();
	}
	TT_TRY(fill_rows(values, m, numbers));
	info->column_count = width;
	info->columns = columns;
	info->numbers = numbers;
	for (size_t i = 0; i < info->column_count; i++) {
		columns[i] = (struct ttnn_suite_column){
			m->columns.list.data[i].name, values[i], info->row_count,
			tt_loader_is_tuple(&m->columns.list.data[i])};
		if (info->product)
			TT_TRY(unique(&columns[i], values[i]));
	}
	return describe(m, name);
}

static tt_status make_suite(struct tt_suite *suite, ttnn_configs *configs, const char *name,
			    bool all_cases)
{
	struct making m = {.suite = suite, .configs = configs};
	tt_status status;

	if (!find(&m.op, configs, name) ||
	    !(m.count = tt_master_config_count(configs->master, m.op))) {
		suite->info.text = tt_arena_printf(
			&suite->arena, "⚠️ No configurations found for operation: %s", name);
		return suite->info.text ? TTNN_OK : tt_fail_nomem();
	}
	suite->info.configurations = m.count;
	if (tt_master_layout(configs->master) == TT_MASTER_V2)
		return tt_loader_suite_v2(suite, configs->master, m.op);
	status = fill_suite(&m, name, all_cases);
	tt_json_parser_deinit(&m.parser);
	tt_arena_deinit(&m.scratch);
	tt_map_deinit(&m.seen);
	tt_map_deinit(&m.seen_inputs);
	tt_loader_columns_deinit(&m.columns);
	return status;
}

enum ttnn_status ttnn_configs_suite(ttnn_suite **out, ttnn_configs *configs, const char *name,
				    bool all_cases)
{
	struct tt_suite *suite = tt_calloc(1, sizeof(*suite));
	tt_status status;

	if (!suite)
		return tt_fail_nomem();
	status = make_suite(suite, configs, name, all_cases);
	if (status == TTNN_OK)
		*out = suite;
	else
		ttnn_suite_free(suite);
	return status;
}

void ttnn_suite_free(ttnn_suite *suite)
{
	if (!suite)
		return;
	tt_arena_deinit(&suite->arena);
	tt_free(suite);
}

const struct ttnn_suite_info *ttnn_suite_get(const ttnn_suite *suite)
{
	return &suite->info;
}
