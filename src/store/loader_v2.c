/*
 * loader_v2.c: suites of files of layout v2, as the loader of 2026 makes them: one extraction for all operations, a row
 * for each execution of a configuration. Tensors become input_a_shape, input_a_dtype and so on, tensors that were given
 * by name NAME_shape ..., other arguments keep their names.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "event/value.h"
#include "store/loader.h"
#include "store/master_parts.h"
#include "tensor/enums.h"

/* What stands where a configuration has no value for a column that others have. */
#define ABSENT "__ABSENT__"

/* Columns are found by their names, in the order in which they are met. */
struct filling {
	struct tt_suite *suite;
	struct tt_map names; /* number of the column */
	TT_VEC(struct ttnn_value *) columns;
	size_t row, room; /* rows that there is room for */
};

static tt_status column_of(struct ttnn_value **out, struct filling *f, const char *name)
{
	bool added;
	struct tt_map_entry *entry = tt_map_add(&f->names, name, strlen(name), &added);

	if (!entry)
		return tt_fail_nomem();
	if (added) {
		struct ttnn_value **column = TT_VEC_PUSH(&f->columns);

		entry->number = f->columns.count - 1;
		if (column)
			*column = tt_arena_calloc(&f->suite->arena, f->room, sizeof(**column));
		if (!column || !*column)
			return tt_fail_nomem();
	}
	*out = f->columns.data[entry->number];
	return TTNN_OK;
}

static tt_status put(struct filling *f, const char *name, const char *part,
		     const struct ttnn_value *value)
{
	const char *key = tt_arena_printf(&f->suite->arena, "%s%s", name, part);
	struct ttnn_value *column = NULL;

	if (!key)
		return tt_fail_nomem();
	TT_TRY(column_of(&column, f, key));
	column[f->row] = *value;
	return TTNN_OK;
}

static tt_status put_tensor(struct filling *f, const char *name, const struct tt_json *value)
{
	struct tt_loader_tensor tensor;
	struct ttnn_value memory;

	TT_TRY(tt_loader_tensor(&tensor, &f->suite->arena, value));
	TT_TRY(tt_loader_memory_value(&memory, &f->suite->arena, &tensor.config));
	TT_TRY(put(f, name, "_shape", &tensor.shape));
	TT_TRY(put(f, name, "_dtype", &tensor.dtype));
	TT_TRY(put(f, name, "_layout", &tensor.layout));
	TT_TRY(put(f, name, "_memory_config", &memory));
	if (tt_value_given(&tensor.placement))
		TT_TRY(put(f, name, "_tensor_placement", &tensor.placement));
	if (strstr(tensor.storage.text, "HOST"))
		TT_TRY(put(f, name, "_storage_type", &tensor.storage));
	return TTNN_OK;
}

/* An argument that is no tensor: enumerations as members, "inf" as a number, the rest as it is. */
static tt_status plain_value(struct ttnn_value *out, struct tt_arena *arena,
			     const struct tt_json *value)
{
	static const struct {
		const char *type;
		const struct tt_enum *members;
	} enums[] = {
		{"DataType", &tt_enum_dtype},
		{"Layout", &tt_enum_layout},
		{"TensorMemoryLayout", &tt_enum_memory_layout},
		{"ShardOrientation", &tt_enum_orientation},
	};
	const char *type = tt_json_string(tt_json_get(value, "type"), NULL),
		   *text = tt_json_string(value, NULL);
	struct ttnn_memory_config config;
	char *end;

	for (size_t i = 0; type && i < TT_COUNT(enums); i++)
		if (strcmp(type, enums[i].type) == 0 &&
		    tt_loader_enum(out, enums[i].members, value))
			return TTNN_OK;
	if (tt_loader_is_memory(value)) {
		TT_TRY(tt_loader_memory(&config, value));
		return tt_loader_memory_value(out, arena, &config);
	}
	if (text &&
	    (strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0 || strcmp(text, "nan") == 0)) {
		*out = ttnn_v_real(strtod(text, &end));
		return TTNN_OK;
	}
	return tt_loader_json(out, arena, value);
}

static tt_status put_plain(struct filling *f, const char *name, const struct tt_json *value)
{
	struct ttnn_value plain;

	TT_TRY(plain_value(&plain, &f->suite->arena, value));
	return put(f, name, "", &plain);
}

/* The output's memory: as it was asked for, else that of the first tensor. */
static tt_status put_output(struct filling *f, const struct tt_json *args)
{
	const struct tt_json *asked = tt_json_get(args, "memory_config");
	struct tt_map_entry *first;

	if (tt_loader_is_memory(asked))
		return put_plain(f, "output_memory_config", asked);
	first = tt_map_finds(&f->names, "input_a_memory_config");
	if (!first || !tt_value_given(&f->columns.data[first->number][f->row]))
		return TTNN_OK;
	return put(f, "output_memory_config", "", &f->columns.data[first->number][f->row]);
}

static tt_status put_args(struct filling *f, const struct tt_json *args)
{
	struct tt_json_iter it = tt_json_iter(args);
	size_t count = tt_json_count(args);
	char name[] = "input_a";

	for (size_t i = 0; i < count; i++) {
		const struct tt_json *value = tt_loader_arg(args, i);
		char key[32];

		if (tt_loader_is_tensor(value) && name[6] <= 'z') {
			TT_TRY(put_tensor(f, name, value));
			name[6]++;
			continue;
		}
		snprintf(key, sizeof(key), "arg%zu", i);
		if (value)
			TT_TRY(put_plain(f, key, value));
	}
	while (tt_json_next(&it)) {
		if (strncmp(it.key, "arg", 3) == 0 && it.key[3] >= '0' && it.key[3] <= '9')
			continue;
		if (tt_loader_is_tensor(it.value))
			TT_TRY(put_tensor(f, it.key, it.value));
		else if (strcmp(it.key, "memory_config") != 0)
			TT_TRY(put_plain(f, it.key, it.value));
	}
	return put_output(f, args);
}

static tt_status put_execution(struct filling *f, const struct tt_json *config,
			       const struct tt_json *execution)
{
	const struct tt_json *args = tt_json_get(config, "arguments");

	if (tt_json_kind(args) != TT_JSON_OBJECT)
		return tt_fail(TTNN_FORMAT, "arguments of this layout are an object, not %s",
			       tt_json_kind_name(args));
	TT_TRY(put_args(f, args));
	TT_TRY(put_plain(f, "traced_source", tt_json_get(execution, "source")));
	TT_TRY(put_plain(f, "traced_machine_info", tt_json_get(execution, "machine_info")));
	return put_plain(f, "config_hash", tt_json_get(config, "config_hash"));
}

/* Where a row comes from stands behind all parameters, also those that only later rows have. */
static const char *const origins[] = {"traced_source", "traced_machine_info", "config_hash"};

static bool is_origin(const char *name)
{
	for (size_t i = 0; i < TT_COUNT(origins); i++)
		if (strcmp(name, origins[i]) == 0)
			return true;
	return false;
}

/* What a row has not is told so. */
static tt_status finish_column(struct ttnn_suite_column *out, const struct filling *f,
			       size_t number)
{
	struct ttnn_value *values = f->columns.data[number];
	char *name = tt_arena_strdup(&f->suite->arena, f->names.entries[number].key);

	if (!name)
		return tt_fail_nomem();
	for (size_t i = 0; i < f->row; i++)
		if (values[i].kind == TTNN_VALUE_ABSENT)
			values[i] = ttnn_v_string(ABSENT);
	*out = (struct ttnn_suite_column){name, values, f->row, false};
	return TTNN_OK;
}

/* The columns become those of the suite. */
static tt_status finish(struct filling *f)
{
	struct ttnn_suite_info *info = &f->suite->info;
	struct ttnn_suite_column *columns =
		tt_arena_calloc(&f->suite->arena, f->columns.count + 1, sizeof(*columns));

	if (!columns)
		return tt_fail_nomem();
	for (int origin = 0; origin < 2; origin++)
		for (size_t c = 0; c < f->columns.count; c++)
			if (is_origin(f->names.entries[c].key) == origin)
				TT_TRY(finish_column(&columns[info->column_count++], f, c));
	info->columns = columns;
	info->row_count = f->row;
	return TTNN_OK;
}

/* A configuration without executions counts as one. */
static size_t execution_count(const struct tt_json *config)
{
	size_t count = tt_json_count(tt_json_get(config, "executions"));

	return count ? count : 1;
}

static tt_status count_rows(size_t *out, struct tt_master *master, struct tt_json_parser *parser,
			    size_t op)
{
	*out = 0;
	for (size_t i = 0; i < tt_master_config_count(master, op); i++) {
		const struct tt_json *config;

		TT_TRY(tt_master_entry(&config, master, parser,
				       &master->ops.data[op].entries.data[i]));
		*out += execution_count(config);
	}
	return TTNN_OK;
}

/* Rows for all executions of a configuration; TTNN_FORMAT when its arguments make no sense, and then none. */
static tt_status put_config(struct filling *f, const struct tt_json *config, size_t number,
			    size_t *numbers)
{
	for (size_t i = 0; i < execution_count(config); i++) {
		tt_status status =
			put_execution(f, config, tt_json_at(tt_json_get(config, "executions"), i));

		for (size_t c = 0; status != TTNN_OK && c < f->columns.count; c++)
			f->columns.data[c][f->row] = (struct ttnn_value){0};
		TT_TRY(status);
		numbers[f->row++] = number;
	}
	return TTNN_OK;
}

static tt_status fill(struct filling *f, struct tt_master *master, struct tt_json_parser *parser,
		      size_t op)
{
	struct ttnn_suite_info *info = &f->suite->info;
	size_t *numbers;

	TT_TRY(count_rows(&f->room, master, parser, op));
	numbers = tt_arena_calloc(&f->suite->arena, f->room, sizeof(*numbers));
	if (!numbers)
		return tt_fail_nomem();
	for (size_t i = 0; i < tt_master_config_count(master, op); i++) {
		const struct tt_json *config;
		tt_status status;

		TT_TRY(tt_master_entry(&config, master, parser,
				       &master->ops.data[op].entries.data[i]));
		status = put_config(f, config, i, numbers);
		if (status != TTNN_FORMAT)
			TT_TRY(status);
		info->left_out += status == TTNN_FORMAT;
	}
	info->numbers = numbers;
	return finish(f);
}

tt_status tt_loader_suite_v2(struct tt_suite *suite, struct tt_master *master, size_t op)
{
	struct filling f = {.suite = suite};
	struct tt_json_parser parser = {0};
	tt_status status = fill(&f, master, &parser, op);

	if (status == TTNN_OK) {
		suite->info.text = tt_arena_printf(
			&suite->arena,
			"✅ Loaded %zu model-traced configurations for %s\n   • Executions: %zu",
			suite->info.configurations - suite->info.left_out,
			tt_master_op_name(master, op), f.row);
		if (!suite->info.text)
			status = tt_fail_nomem();
	}
	tt_json_parser_deinit(&parser);
	tt_map_deinit(&f.names);
	TT_VEC_DEINIT(&f.columns);
	return status;
}
