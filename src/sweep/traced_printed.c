/*
 * traced_printed.c: objects that a tracer of 2026 wrote as their texts: "8-8", "ttnn.CoreGrid(x=8, y=8)",
 * "Conv2dConfig(weights_dtype=DataType::BFLOAT8_B,activation=UnaryWithParam(op_type=UnaryOpType::RELU),...)".
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ops/objects.h"
#include "sweep/traced.h"
#include "tensor/read.h"

/* Objects nest no deeper than that. */
#define DEEPEST 4

/* "8-8", or the numbers of "ttnn.CoreGrid(x=8, y=8)". */
static bool read_core(struct ttnn_value *out, const char *text)
{
	static const char grid[] = "ttnn.CoreGrid(x=";
	bool is_grid = strncmp(text, grid, sizeof(grid) - 1) == 0;
	char *end;
	unsigned long x, y;

	if (is_grid)
		text += sizeof(grid) - 1;
	if (!isdigit((unsigned char)*text))
		return false;
	x = strtoul(text, &end, 10);
	if (is_grid && strncmp(end, ", y=", 4) == 0)
		end += 4;
	else if (!is_grid && *end == '-')
		end++;
	else
		return false;
	y = strtoul(end, &end, 10);
	if (strcmp(end, is_grid ? ")" : "") != 0 || x > UINT32_MAX || y > UINT32_MAX)
		return false;
	*out = (struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = {(uint32_t)x, (uint32_t)y}};
	return true;
}

/* Where a field ends: at a comma outside of brackets, or at the end. */
static const char *end_of_field(const char *text)
{
	int depth = 0;

	for (; *text; text++) {
		if (strchr("([{", *text))
			depth++;
		else if (strchr(")]}", *text) && depth-- == 0)
			return text;
		else if (*text == ',' && !depth)
			return text;
	}
	return text;
}

static tt_status read_object(struct ttnn_value *out, struct tt_arena *arena, const char *text,
			     int depth);

/* The object that a field is of, and where in others it is. */
struct place {
	struct tt_arena *arena;
	const struct tt_overloads *fields;
	int depth;
};

static tt_status read_field(struct ttnn_value *out, const struct place *in, const char *name,
			    const char *text)
{
	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
		text = *text == 't' ? "1" : "0";
	if (read_core(out, text))
		return TTNN_OK;
	if (*text == '{') {
		*out = (struct ttnn_value){.kind = TTNN_VALUE_CORE_SET};
		return tt_read_core_set(&out->core_set, tt_span(text));
	}
	if (!strchr(text, '(') && tt_traced_text(out, in->arena, in->fields, name, text))
		return TTNN_OK;
	return read_object(out, in->arena, text, in->depth + 1);
}

/* "Name(field=value, ...)". A field of then that there is no more is left out. */
static tt_status read_object(struct ttnn_value *out, struct tt_arena *arena, const char *text,
			     int depth)
{
	const char *open = strchr(text, '(');
	struct tt_overloads fields = {.count = 1};
	const struct place in = {arena, &fields, depth};
	struct ttnn_arg args[TT_ARGS_MAX];
	size_t count = 0;

	if (!open || depth > DEEPEST)
		return tt_fail(TTNN_FORMAT, "'%.60s' is no object", text);
	fields.name = tt_arena_strndup(arena, text, (size_t)(open - text));
	if (!fields.name)
		return tt_fail_nomem();
	TT_TRY(tt_object_signature(&fields.sigs[0], arena, fields.name));
	for (text = open + 1; *text && *text != ')' && count < TT_ARGS_MAX;) {
		const char *end = end_of_field(text),
			   *equals = memchr(text, '=', (size_t)(end - text));
		char *name, *value;

		if (!equals)
			return tt_fail(TTNN_FORMAT, "%s: a field without a name", fields.name);
		name = tt_arena_strndup(arena, text, (size_t)(equals - text));
		value = tt_arena_strndup(arena, equals + 1, (size_t)(end - equals - 1));
		if (!name || !value)
			return tt_fail_nomem();
		text = end + strspn(end, ", ");
		if (tt_sig_index(&fields.sigs[0], name) < 0)
			continue;
		args[count].name = name;
		TT_TRY(read_field(&args[count].value, &in, name, value));
		count++;
	}
	return tt_object_make(out, arena, fields.name, args, count);
}

tt_status tt_traced_printed(struct ttnn_value *out, struct tt_arena *arena, const char *text)
{
	return read_core(out, text) ? TTNN_OK : read_object(out, arena, text, 0);
}
