#include "ops/activation.h"

#include <string.h>

#include "ops/op_enums.h"

#define PARAMS_MAX 2

/* To add a name: a row here. */
static const struct row {
	const char *name;
	enum tt_unary_fn fn;
	uint32_t count;
	double params[PARAMS_MAX];
} rows[] = {
	{"abs", TT_UNARY_ABS, 0, {0}},
	{"alt_complex_rotate90", TT_UNARY_ALT_COMPLEX_ROTATE90, 0, {0}},
	{"cos", TT_UNARY_COS, 0, {0}},
	{"cosh", TT_UNARY_COSH, 0, {0}},
	{"exp", TT_UNARY_EXP, 1, {1}},
	{"gelu", TT_UNARY_GELU, 1, {1}},
	{"gelu_approx", TT_UNARY_GELU, 1, {1}},
	{"gelu_tanh", TT_UNARY_GELU_TANH, 0, {0}},
	{"hardsigmoid", TT_UNARY_HARDSIGMOID, 0, {0}},
	{"hardtanh", TT_UNARY_HARDTANH, 2, {-1, 1}},
	{"log", TT_UNARY_LOG, 1, {1}},
	{"log10", TT_UNARY_LOG10, 1, {1}},
	{"log1p", TT_UNARY_LOG1P, 1, {1}},
	{"log2", TT_UNARY_LOG2, 1, {1}},
	{"mish", TT_UNARY_MISH, 0, {0}},
	{"recip", TT_UNARY_RECIP, 0, {0}},
	{"relu", TT_UNARY_RELU, 0, {0}},
	{"relu6", TT_UNARY_RELU6, 0, {0}},
	{"rsqrt", TT_UNARY_RSQRT, 1, {0}},
	{"selu", TT_UNARY_SELU, 2, {1.0507009873554805, 1.6732632423543772}},
	{"sigmoid", TT_UNARY_SIGMOID, 2, {4, 0}},
	{"sigmoid_approx", TT_UNARY_SIGMOID, 2, {4, 1}},
	{"sign", TT_UNARY_SIGN, 0, {0}},
	{"silu", TT_UNARY_SILU, 0, {0}},
	{"sin", TT_UNARY_SIN, 0, {0}},
	{"sinh", TT_UNARY_SINH, 0, {0}},
	{"softplus", TT_UNARY_SOFTPLUS, 2, {1, 20}},
	{"sqrt", TT_UNARY_SQRT, 1, {0}},
	{"square", TT_UNARY_SQUARE, 0, {0}},
	{"tanh", TT_UNARY_TANH, 1, {0}},
	{"xielu", TT_UNARY_XIELU, 2, {0.8, 0.8}},
};

static const struct row *find(const char *name)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

tt_status tt_activation_named(struct ttnn_value *out, struct tt_arena *arena, const char *name)
{
	const struct row *row = find(name);
	struct ttnn_value *fields = tt_arena_calloc(arena, 2 + PARAMS_MAX, sizeof(*fields));

	TT_NEED(row, "Unknown unary op: %s", name);
	TT_NEED_MEMORY(fields);
	for (uint32_t i = 0; i < row->count; i++)
		fields[2 + i] = ttnn_v_real(row->params[i]);
	fields[0] = tt_value_enum(&tt_enum_unary, (int64_t)row->fn);
	fields[1] = ttnn_v_list(&fields[2], row->count);
	*out = tt_value_object(&tt_schema_unary, fields);
	return TTNN_OK;
}

/* A function, or it and its parameter, as an object; the parameter is a float, whatever was given. */
static tt_status step_object(struct ttnn_value *out, struct tt_arena *arena,
			     const struct ttnn_value *value)
{
	struct ttnn_value *fields = tt_arena_calloc(arena, 3, sizeof(*fields));
	double number = 0;
	bool pair = value->kind == TTNN_VALUE_LIST;

	TT_NEED_MEMORY(fields);
	if (pair && value->items[1].kind == TTNN_VALUE_BOOL)
		number = value->items[1].boolean;
	else if (pair)
		tt_value_number(&number, &value->items[1]);
	fields[0] = pair ? value->items[0] : *value;
	fields[1] = ttnn_v_list(pair ? &fields[2] : NULL, pair ? 1 : 0);
	fields[2] = ttnn_v_real(number);
	*out = tt_value_object(&tt_schema_unary, fields);
	return TTNN_OK;
}

tt_status tt_activation_of(struct ttnn_value *out, struct tt_arena *arena,
			   const struct ttnn_value *value)
{
	if (value->kind == TTNN_VALUE_STRING)
		return tt_activation_named(out, arena, value->text);
	if (value->kind == TTNN_VALUE_ENUM || value->kind == TTNN_VALUE_LIST)
		return step_object(out, arena, value);
	*out = tt_value_given(value) ? *value : ttnn_v_none();
	return TTNN_OK;
}

/* ---- chains of functions as values ------------------------------------------------------------- */

static const struct tt_field step_fields[] = {
	{.name = "op_type"},
	{.name = "params", .omit_empty = true, .spaced = true, .json = "param"},
};
const struct tt_schema tt_schema_unary = {"UnaryWithParam", step_fields, 2, true};

/* How binary programs print theirs: a choice of parameter types, of which it is float. */
static const struct tt_field base_fields[] = {{.name = "op_type"}, {.name = "param"}};
static const struct tt_schema base_schema = {"BasicUnaryWithParam<float>", base_fields, 2, true};
static const struct tt_field choice_fields[] = {{.name = "base"}};
static const struct tt_schema choice_schema = {"BasicUnaryWithParam<float, int, unsigned int>",
					       choice_fields, 1, true};

tt_status tt_unary_activations(struct ttnn_value *out, struct tt_arena *arena,
			       const struct ttnn_value *list)
{
	uint32_t count = list && list->kind == TTNN_VALUE_LIST ? list->count : 0;
	struct ttnn_value *items = NULL;

	if (count)
		items = tt_arena_calloc(arena, 4 * (size_t)count, sizeof(*items));
	if (count && !items)
		return tt_fail_nomem();
	for (uint32_t i = 0; i < count; i++) {
		struct ttnn_value *base = &items[count + i], *fields = &items[2 * (count + i)];
		struct ttnn_value from;

		TT_TRY(tt_activation_of(&from, arena, &list->items[i]));
		fields[0] = from.items[0];
		fields[1] = from.items[1];
		*base = tt_value_object(&base_schema, fields);
		items[i] = tt_value_object(&choice_schema, base);
	}
	*out = ttnn_v_list(items, count);
	return TTNN_OK;
}

/* A list of numbers, or a bare one. */
static tt_status read_params(struct tt_unary_step *step, const struct ttnn_value *params, bool bare)
{
	const struct ttnn_value *items = bare ? params : params->items;
	uint32_t count = bare ? 1 : params->kind == TTNN_VALUE_LIST ? params->count : 0;

	for (; step->count < count && step->count < 3; step->count++)
		TT_NEED(tt_value_number(&step->params[step->count], &items[step->count]),
			"a parameter of an activation is %s", tt_value_kind_name(items));
	return TTNN_OK;
}

/* Whether it is a function and its parameters: objects of any kind are given for one. */
static bool is_step(const struct ttnn_value *item)
{
	size_t count = item->kind == TTNN_VALUE_LIST     ? item->count
		       : item->kind == TTNN_VALUE_OBJECT ? item->schema->count
							 : 0;

	return count >= 2 && item->items[0].kind == TTNN_VALUE_ENUM;
}

tt_status tt_unary_steps(struct tt_unary_step *out, size_t *count, const struct ttnn_value *chain)
{
	*count = 0;
	if (!tt_value_given(chain))
		return TTNN_OK;
	for (uint32_t i = 0; i < chain->count; i++) {
		const struct ttnn_value *item = &chain->items[i];
		struct tt_unary_step *step = &out[*count];

		TT_NEED(*count != TT_UNARY_STEPS_MAX, "a chain of more than %d functions",
			TT_UNARY_STEPS_MAX);
		*step = (struct tt_unary_step){0};
		if (item->kind == TTNN_VALUE_OBJECT && item->schema == &choice_schema)
			item = item->items;
		if (item->kind == TTNN_VALUE_ENUM) {
			step->fn = (enum tt_unary_fn)item->integer;
		} else {
			const struct ttnn_value *params = &item->items[1];

			TT_NEED(is_step(item), "%s is no activation", tt_value_kind_name(item));
			step->fn = (enum tt_unary_fn)item->items[0].integer;
			TT_TRY(read_params(step, params, item->kind == TTNN_VALUE_LIST));
		}
		++*count;
	}
	return TTNN_OK;
}

bool tt_rounding_find(enum tt_rounding *out, const struct ttnn_value *value)
{
	*out = TT_ROUND_NOT;
	if (!tt_value_given(value))
		return true;
	if (value->kind != TTNN_VALUE_STRING)
		return false;
	*out = strcmp(value->text, "floor") == 0 ? TT_ROUND_FLOOR : TT_ROUND_TRUNC;
	return *out == TT_ROUND_FLOOR || strcmp(value->text, "trunc") == 0;
}
