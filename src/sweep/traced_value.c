/* traced_value.c: texts of traced arguments as values. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <ttnn_frontend.h>

#include "sweep/traced.h"
#include "tensor/read.h"

/* ---- values by type ---------------------------------------------------------------------------------- */

/* Whether any signature takes the value for this argument. */
static bool fits(const struct tt_overloads *overloads, const char *arg,
		 const struct ttnn_value *value)
{
	for (size_t i = 0; i < overloads->count; i++) {
		int index = tt_sig_index(&overloads->sigs[i], arg);

		if (index >= 0 && tt_arg_accepts(&overloads->sigs[i].args[index], value))
			return true;
	}
	return false;
}

static bool number(struct ttnn_value *out, const struct tt_overloads *overloads, const char *arg,
		   const char *text)
{
	char *end;
	long long whole;
	double real;

	errno = 0;
	whole = strtoll(text, &end, 10);
	if (end != text && !*end && !errno) {
		*out = ttnn_v_int(whole);
		if (fits(overloads, arg, out))
			return true;
		*out = ttnn_v_bool(whole != 0);
		if ((whole == 0 || whole == 1) && fits(overloads, arg, out))
			return true;
	}
	real = strtod(text, &end);
	*out = ttnn_v_real(real);
	return end != text && !*end && fits(overloads, arg, out);
}

/* "[1, -1]", "[[0, 0], [0, 13]]", "[]": integers and lists of them; NULL behind bad ones. */
static const char *list(struct ttnn_value *out, struct tt_arena *arena, const char *text)
{
	struct ttnn_value items[64], *kept;
	size_t count = 0;

	text++;
	while (*text && *text != ']' && count < 64) {
		char *end;

		if (*text == ' ' || *text == ',') {
			text++;
		} else if (*text == '[') {
			text = list(&items[count++], arena, text);
			if (!text)
				return NULL;
		} else {
			items[count++] = ttnn_v_int(strtoll(text, &end, 10));
			if (end == text)
				return NULL;
			text = end;
		}
	}
	kept = tt_arena_alloc(arena, count * sizeof(*kept) + 1);
	if (*text != ']' || !kept)
		return NULL;
	memcpy(kept, items, count * sizeof(*kept));
	*out = ttnn_v_list(kept, count);
	return text + 1;
}

/* "DataType::BFLOAT16" says which enumeration; "GENERIC" is a member of whichever fits. */
static bool member(struct ttnn_value *out, const struct tt_overloads *overloads, const char *arg,
		   const char *text)
{
	const char *scope = strstr(text, "::"), *module;
	const struct tt_enum *type;

	for (size_t i = 0; (type = ttnn_enum_at(&module, i)); i++) {
		int64_t value;

		if (scope && (strncmp(type->name, text, (size_t)(scope - text)) != 0 ||
			      strlen(type->name) != (size_t)(scope - text)))
			continue;
		if (!tt_enum_find(&value, type, scope ? scope + 2 : text))
			continue;
		*out = tt_value_enum(type, value);
		if (fits(overloads, arg, out))
			return true;
	}
	return false;
}

bool tt_traced_text(struct ttnn_value *out, struct tt_arena *arena,
		    const struct tt_overloads *overloads, const char *arg, const char *text)
{
	const char *end;

	if (tt_read_is_none(tt_span(text))) {
		*out = ttnn_v_none();
		/* None for an argument that has no None any more is its default. */
		if (!fits(overloads, arg, out))
			*out = (struct ttnn_value){0};
		return true;
	}
	if (*text == '[') {
		end = list(out, arena, text);
		return end && !*end && fits(overloads, arg, out);
	}
	if (number(out, overloads, arg, text) || member(out, overloads, arg, text))
		return true;
	*out = ttnn_v_string(tt_arena_strdup(arena, text));
	return out->text && fits(overloads, arg, out);
}

bool tt_traced_member(struct ttnn_value *out, const char *text)
{
	const char *scope = strstr(text, "::"), *module;
	const struct tt_enum *type;
	int64_t value;

	for (size_t i = 0; scope && (type = ttnn_enum_at(&module, i)); i++) {
		size_t length = (size_t)(scope - text);

		if (strlen(type->name) != length || strncmp(type->name, text, length) != 0 ||
		    !tt_enum_find(&value, type, scope + 2))
			continue;
		*out = tt_value_enum(type, value);
		return true;
	}
	return false;
}
