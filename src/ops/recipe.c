/* recipe.c: reads a recipe and does at once what it says. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/activation.h"
#include "ops/op_enums.h"
#include "ops/recipe.h"

#define NAMES_MAX 24
#define TEMPS_MAX 24
#define ARGS_MAX 10
#define PARAMS_MAX 3 /* of a function */

struct cook {
	const char *at;
	struct tt_call *call;
	const struct tt_recipe *recipe;
	struct {
		const char *name;
		size_t length;
		struct ttnn_value value;
	} names[NAMES_MAX];
	size_t name_count;
	struct tt_tensor *temps[TEMPS_MAX]; /* of this statement, in the order they were made */
	size_t temp_count;
	unsigned depth;
};

/* ---- words ------------------------------------------------------------------------------------- */

static tt_status bad(const struct cook *cook, const char *what)
{
	return tt_fail(TTNN_INVALID, "%s: the recipe has %s at \"%.20s\"",
		       cook->call->entry->op->name, what, cook->at);
}

static void skip(struct cook *cook)
{
	while (isspace((unsigned char)*cook->at))
		cook->at++;
}

static bool accept(struct cook *cook, char mark)
{
	skip(cook);
	if (*cook->at != mark)
		return false;
	cook->at++;
	return true;
}

static size_t word(const char **start, struct cook *cook)
{
	skip(cook);
	*start = cook->at;
	while (isalnum((unsigned char)*cook->at) || *cook->at == '_' || *cook->at == '.')
		cook->at++;
	return (size_t)(cook->at - *start);
}

static bool is_word(const char *word, size_t length, const char *text)
{
	return strlen(text) == length && memcmp(word, text, length) == 0;
}

static char *copy(struct cook *cook, const char *text, size_t length)
{
	return tt_arena_strndup(cook->call->arena, text, length);
}

/* ---- what names stand for ------------------------------------------------------------------------ */

static struct ttnn_value *find(struct cook *cook, const char *name, size_t length)
{
	for (size_t i = 0; i < cook->name_count; i++)
		if (cook->names[i].length == length &&
		    memcmp(cook->names[i].name, name, length) == 0)
			return &cook->names[i].value;
	return NULL;
}

/*
 * A name is a result of an earlier step, one that the caller of the recipe gave, or an argument
 * of the call.
 */
static tt_status lookup(struct ttnn_value *out, struct cook *cook, const char *name, size_t length)
{
	const struct tt_recipe *recipe = cook->recipe;
	const struct ttnn_value *value = find(cook, name, length);
	char *text;

	for (size_t i = 0; i < recipe->name_count && !value; i++)
		if (is_word(name, length, recipe->names[i].name))
			value = &recipe->names[i].value;
	if (!value) {
		text = copy(cook, name, length);
		TT_NEED_MEMORY(text);
		value = tt_call_arg(cook->call, text);
	}
	if (value->kind == TTNN_VALUE_ABSENT)
		return bad(cook, "an unknown name");
	*out = *value;
	return TTNN_OK;
}

/* ---- expressions ------------------------------------------------------------------------------------ */

static tt_status expression(struct ttnn_value *out, struct cook *cook);

/* FUNCTION or FUNCTION(parameter, ...): the bare function, or an object with the parameters. */
static tt_status function(struct ttnn_value *out, struct cook *cook)
{
	const char *start;
	size_t length = word(&start, cook);
	char *name = copy(cook, start, length);
	struct ttnn_value *fields;
	size_t count = 0;
	int64_t number;

	TT_NEED_MEMORY(name);
	if (!tt_enum_find(&number, &tt_enum_unary, name))
		return bad(cook, "an unknown function");
	*out = tt_value_enum(&tt_enum_unary, number);
	if (!accept(cook, '('))
		return TTNN_OK;
	fields = tt_arena_calloc(cook->call->arena, 2 + PARAMS_MAX, sizeof(*fields));
	TT_NEED_MEMORY(fields);
	fields[0] = *out;
	do {
		if (count == PARAMS_MAX)
			return bad(cook, "too many parameters");
		TT_TRY(expression(&fields[2 + count++], cook));
	} while (accept(cook, ','));
	fields[1] = ttnn_v_list(&fields[2], count);
	*out = tt_value_object(&tt_schema_unary, fields);
	return accept(cook, ')') ? TTNN_OK : bad(cook, "no )");
}

/* [FUNCTION, ...]: unary functions as activations. */
static tt_status functions(struct ttnn_value *out, struct cook *cook)
{
	struct ttnn_value *items = tt_arena_calloc(cook->call->arena, 4, sizeof(*items));
	size_t count = 0;

	TT_NEED_MEMORY(items);
	do {
		if (count == 4)
			return bad(cook, "too many functions");
		TT_TRY(function(&items[count++], cook));
	} while (accept(cook, ','));
	if (!accept(cook, ']'))
		return bad(cook, "no ]");
	*out = ttnn_v_list(items, count);
	return TTNN_OK;
}

static tt_status string(struct ttnn_value *out, struct cook *cook)
{
	const char *end = strchr(cook->at, '\'');
	char *text;

	if (!end)
		return bad(cook, "an open string");
	text = copy(cook, cook->at, (size_t)(end - cook->at));
	TT_NEED_MEMORY(text);
	cook->at = end + 1;
	*out = ttnn_v_string(text);
	return TTNN_OK;
}

/* Whole numbers stay integers: operations tell 1 from 1.0. */
static tt_status number(struct ttnn_value *out, struct cook *cook)
{
	char *end;
	double real = strtod(cook->at, &end);
	bool whole = isfinite(real) && memchr(cook->at, '.', (size_t)(end - cook->at)) == NULL &&
		     memchr(cook->at, 'e', (size_t)(end - cook->at)) == NULL;

	if (end == cook->at)
		return bad(cook, "no expression");
	cook->at = end;
	*out = whole ? ttnn_v_int((int64_t)real) : ttnn_v_real(real);
	return TTNN_OK;
}

static tt_status argument(struct ttnn_arg *out, struct cook *cook)
{
	const char *before, *start;
	size_t length;

	skip(cook);
	before = cook->at;
	length = word(&start, cook);
	if (length && accept(cook, '=')) {
		char *name = copy(cook, start, length);

		TT_NEED_MEMORY(name);
		out->name = name;
	} else {
		cook->at = before;
	}
	return expression(&out->value, cook);
}

/* Holds a tensor until the statement ends; false when there is no room. */
static bool hold(struct cook *cook, struct tt_tensor *tensor)
{
	if (cook->temp_count == TEMPS_MAX || cook->call->owned_count == TT_OUTPUTS_MAX)
		return false;
	cook->temps[cook->temp_count++] = tt_call_own(cook->call, tensor);
	return true;
}

/*
 * Upstream's where() takes its values as variants, which are copies: they outlive the name when the
 * result is assigned to it.
 */
static tt_status hold_values(struct cook *cook, const struct ttnn_arg *args, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (args[i].value.kind == TTNN_VALUE_TENSOR && !args[i].name &&
		    !hold(cook, ttnn_tensor_ref(args[i].value.tensor)))
			return bad(cook, "too many steps");
	return TTNN_OK;
}

/*
 * name(arguments): an operation called within the call. Results are held until the recipe ends;
 * those that are overwritten go in upstream's order.
 */
static tt_status step(struct ttnn_value *out, struct cook *cook, const char *name, bool plain)
{
	struct ttnn_arg args[ARGS_MAX + 1] = {0};
	struct tt_tensor *result;
	size_t count = 0;

	while (!accept(cook, ')')) {
		if (count == ARGS_MAX)
			return bad(cook, "too many arguments");
		TT_TRY(argument(&args[count++], cook));
		accept(cook, ',');
	}
	if (!plain && cook->recipe->memory)
		args[count++] =
			(struct ttnn_arg){"memory_config", ttnn_v_memory(cook->recipe->memory)};
	if (strcmp(name, "where") == 0)
		TT_TRY(hold_values(cook, args, count));
	TT_TRY(tt_call_op(&result, cook->call, name, args, count));
	if (!hold(cook, result)) {
		ttnn_tensor_unref(result);
		return bad(cook, "too many steps");
	}
	*out = ttnn_v_tensor(result);
	return TTNN_OK;
}

static tt_status named(struct ttnn_value *out, struct cook *cook)
{
	const char *start;
	size_t length = word(&start, cook);
	bool plain = *cook->at == '~';
	char *name;

	if (is_word(start, length, "None"))
		*out = ttnn_v_none();
	else if (is_word(start, length, "inf") || is_word(start, length, "nan"))
		*out = ttnn_v_real(*start == 'i' ? (double)INFINITY : (double)NAN);
	else if (is_word(start, length, "True") || is_word(start, length, "False"))
		*out = ttnn_v_bool(*start == 'T');
	else if (*cook->at != '(' && !plain)
		return lookup(out, cook, start, length);
	else {
		name = copy(cook, start, length);
		TT_NEED_MEMORY(name);
		cook->at += plain;
		if (!accept(cook, '('))
			return bad(cook, "no (");
		return step(out, cook, name, plain);
	}
	return TTNN_OK;
}

/* -name */
static tt_status negative(struct ttnn_value *out, struct cook *cook)
{
	double value;

	cook->at++;
	TT_TRY(named(out, cook));
	if (!tt_value_number(&value, out))
		return bad(cook, "no number behind -");
	*out = ttnn_v_real(-value);
	return TTNN_OK;
}

static tt_status expression(struct ttnn_value *out, struct cook *cook)
{
	tt_status status;

	if (cook->depth == 16)
		return bad(cook, "too deep a nest");
	cook->depth++;
	skip(cook);
	if (accept(cook, '['))
		status = functions(out, cook);
	else if (accept(cook, '\''))
		status = string(out, cook);
	else if (isalpha((unsigned char)*cook->at) || *cook->at == '_')
		status = named(out, cook);
	else if (*cook->at == '-' && isalpha((unsigned char)cook->at[1]))
		status = negative(out, cook);
	else
		status = number(out, cook);
	cook->depth--;
	return status;
}

/* ---- statements --------------------------------------------------------------------------------------- */

/* The tensor of a value belongs to a name now: it no longer goes with the statement. */
static void keep(struct cook *cook, const struct ttnn_value *value)
{
	if (value->kind != TTNN_VALUE_TENSOR)
		return;
	for (size_t i = 0; i < cook->temp_count; i++) {
		if (cook->temps[i] != value->tensor)
			continue;
		cook->temp_count--;
		for (; i < cook->temp_count; i++)
			cook->temps[i] = cook->temps[i + 1];
		return;
	}
	tt_call_own(cook->call, ttnn_tensor_ref(value->tensor));
}

static void end_statement(struct cook *cook)
{
	while (cook->temp_count)
		tt_call_drop(cook->call, cook->temps[--cook->temp_count]);
}

static tt_status assign(struct cook *cook, const char *name, size_t length)
{
	struct ttnn_value value, *old = find(cook, name, length);

	TT_TRY(expression(&value, cook));
	keep(cook, &value);
	if (old) {
		if (old->kind == TTNN_VALUE_TENSOR)
			tt_call_overwrite(cook->call, old->tensor);
		*old = value;
	} else if (cook->name_count < NAMES_MAX) {
		cook->names[cook->name_count].name = name;
		cook->names[cook->name_count].length = length;
		cook->names[cook->name_count++].value = value;
	} else {
		return bad(cook, "too many names");
	}
	end_statement(cook);
	return TTNN_OK;
}

static tt_status drop(struct cook *cook)
{
	const char *start;
	size_t length = word(&start, cook);
	struct ttnn_value *value = find(cook, start, length);

	if (!value || value->kind != TTNN_VALUE_TENSOR)
		return bad(cook, "nothing to drop");
	tt_call_drop(cook->call, value->tensor);
	*value = ttnn_v_none();
	return TTNN_OK;
}

static tt_status give(struct cook *cook)
{
	do {
		struct ttnn_value value;

		TT_TRY(expression(&value, cook));
		if (value.kind != TTNN_VALUE_TENSOR)
			return bad(cook, "no tensor to return");
		tt_call_return(cook->call, ttnn_tensor_ref(value.tensor));
	} while (accept(cook, ','));
	return TTNN_OK;
}

static tt_status statement(struct cook *cook)
{
	const char *start;
	size_t length = word(&start, cook);

	if (is_word(start, length, "return"))
		return give(cook);
	if (is_word(start, length, "drop"))
		return drop(cook);
	if (!length || !accept(cook, '='))
		return bad(cook, "no statement");
	return assign(cook, start, length);
}

/* Behind a step that was refused: what the rest of the text drops goes in that order all the same. */
static void drop_rest(struct cook *cook)
{
	end_statement(cook);
	while ((cook->at = strstr(cook->at, "; drop ")) != NULL) {
		const char *start;
		struct ttnn_value *value;
		size_t length;

		cook->at += strlen("; drop ");
		length = word(&start, cook);
		value = find(cook, start, length);
		if (!value || value->kind != TTNN_VALUE_TENSOR)
			continue;
		tt_call_drop(cook->call, value->tensor);
		*value = ttnn_v_none();
	}
}

tt_status tt_recipe_run(struct tt_call *call, const struct tt_recipe *recipe)
{
	struct cook cook = {.at = recipe->text, .call = call, .recipe = recipe};

	do {
		tt_status status = statement(&cook);

		if (status != TTNN_OK) {
			drop_rest(&cook);
			return status;
		}
	} while (accept(&cook, ';'));
	end_statement(&cook);
	while (cook.name_count) {
		const struct ttnn_value *value = &cook.names[--cook.name_count].value;

		if (value->kind == TTNN_VALUE_TENSOR)
			tt_call_drop(call, value->tensor);
	}
	return TTNN_OK;
}

tt_status tt_recipe_compose(struct tt_call *call, const char *text,
			    const struct tt_recipe_name *names, size_t name_count)
{
	const struct tt_recipe recipe = {.text = text,
					 .memory = tt_call_memory(call, "memory_config"),
					 .names = names,
					 .name_count = name_count};

	return tt_recipe_run(call, &recipe);
}
