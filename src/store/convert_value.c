/* convert_value.c: values of arguments from layout to layout. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "store/convert_parts.h"

/* Lists nest no deeper than that in texts. */
#define LISTS 16

/* ---- V1 to V2 ---------------------------------------------------------------------------------------------- */

/* A number at the start of a text, written if there is a writer; its end, or NULL. */
static const char *put_number(struct tt_jsonw *w, const char *text)
{
	size_t length = strspn(text, "+-0123456789.eE");
	char *end;
	long long whole;
	double real;

	if (!length || !strpbrk(text, "0123456789"))
		return NULL;
	errno = 0;
	whole = strtoll(text, &end, 10);
	if (end == text + length && !errno) {
		if (w)
			tt_jsonw_int(w, whole);
		return end;
	}
	real = strtod(text, &end);
	if (end != text + length || !isfinite(real))
		return NULL;
	if (w)
		tt_jsonw_real(w, real);
	return end;
}

/* "[1, -1]", "[[0, 0], [0, 13]]", "[]": the same; NULL when the text is nothing like it. */
static const char *put_list(struct tt_jsonw *w, const char *text, int depth)
{
	if (*text++ != '[' || depth == LISTS)
		return NULL;
	if (w)
		tt_jsonw_array(w);
	for (bool first = true; *text != ']'; first = false) {
		if (!first && *text++ != ',')
			return NULL;
		text += strspn(text, " ");
		text = *text == '[' ? put_list(w, text, depth + 1) : put_number(w, text);
		if (!text)
			return NULL;
	}
	if (w)
		tt_jsonw_end(w);
	return text + 1;
}

/* How long the type of "DataType::BFLOAT16" is; 0 when a text is no member of an enumeration. */
static size_t type_length(const char *text)
{
	size_t length = 0, rest;

	while (isalnum((unsigned char)text[length]) || text[length] == '_')
		length++;
	if (!length || !isupper((unsigned char)text[0]) || strncmp(text + length, "::", 2) != 0)
		return 0;
	rest = length + 2;
	while (isalnum((unsigned char)text[rest]) || text[rest] == '_')
		rest++;
	return text[rest] || rest == length + 2 ? 0 : length;
}

static void text_to_v2(struct tt_jsonw *w, const char *text, size_t length)
{
	size_t type = type_length(text);
	struct tt_str member = {0};
	const char *end;

	if (strcmp(text, "nullopt") == 0 || strcmp(text, "std::nullopt") == 0) {
		tt_jsonw_null(w);
	} else if ((end = put_number(NULL, text)) && !*end) {
		put_number(w, text);
	} else if ((end = put_list(NULL, text, 0)) && !*end) {
		put_list(w, text, 0);
	} else if (type) {
		tt_str_add(&member, text, type);
		tt_str_addc(&member, '.');
		tt_str_adds(&member, text + type + 2);
		tt_jsonw_object(w);
		tt_jsonw_key_string(w, "repr", tt_str_text(&member));
		tt_jsonw_key(w, "type");
		tt_jsonw_stringn(w, text, type);
		tt_jsonw_end(w);
	} else {
		tt_jsonw_stringn(w, text, length);
	}
	tt_str_deinit(&member);
}

static void shape_to_v2(struct tt_jsonw *w, const struct tt_json *shape)
{
	struct tt_json_iter it = tt_json_iter(shape);
	struct tt_str text = {0};
	int64_t number;

	tt_str_adds(&text, "Shape([");
	for (bool first = true; tt_json_next(&it); first = false) {
		if (!tt_json_int(&number, it.value))
			number = 0;
		tt_str_adds(&text, first ? "" : ", ");
		tt_str_addi(&text, number);
	}
	tt_str_adds(&text, "])");
	tt_jsonw_object(w);
	tt_jsonw_key_string(w, "type", "Shape");
	tt_jsonw_key_string(w, "value", tt_str_text(&text));
	tt_jsonw_end(w);
	tt_str_deinit(&text);
}

/* {"Name": {fields}} as {fields, "type": "Name"}. */
static void named_to_v2(struct tt_jsonw *w, const struct tt_json_iter *named)
{
	struct tt_json_iter it = tt_json_iter(named->value);

	tt_jsonw_object(w);
	while (tt_json_next(&it)) {
		tt_jsonw_keyn(w, it.key, it.key_length);
		tt_jsonw_value(w, it.value);
	}
	tt_jsonw_key(w, "type");
	tt_jsonw_stringn(w, named->key, named->key_length);
	tt_jsonw_end(w);
}

static void object_to_v2(struct tt_jsonw *w, const struct tt_json *object)
{
	struct tt_json_iter it = tt_json_iter(object);
	bool named = tt_json_count(object) == 1 && tt_json_next(&it);

	if (tt_json_get(object, "tensor_spec"))
		tt_convert_tensor(w, object, TT_MASTER_V2);
	else if (named && strcmp(it.key, "Tensor") == 0)
		tt_convert_tensor(w, it.value, TT_MASTER_V2);
	else if (named && strcmp(it.key, "MemoryConfig") == 0)
		tt_convert_memory(w, it.value, TT_MASTER_V2);
	else if (named && strcmp(it.key, "Shape") == 0 && tt_json_kind(it.value) == TT_JSON_ARRAY)
		shape_to_v2(w, it.value);
	else if (named && tt_json_kind(it.value) == TT_JSON_OBJECT &&
		 !tt_json_get(it.value, "type"))
		named_to_v2(w, &it);
	else
		tt_jsonw_value(w, object);
}

void tt_convert_to_v2(struct tt_jsonw *w, const struct tt_json *value)
{
	struct tt_json_iter it = tt_json_iter(value);
	size_t length;
	const char *text = tt_json_string(value, &length);

	if (text) {
		text_to_v2(w, text, length);
	} else if (tt_json_kind(value) == TT_JSON_ARRAY) {
		tt_jsonw_array(w);
		while (tt_json_next(&it))
			tt_convert_to_v2(w, it.value);
		tt_jsonw_end(w);
	} else if (tt_json_kind(value) == TT_JSON_OBJECT) {
		object_to_v2(w, value);
	} else {
		tt_jsonw_value(w, value);
	}
}

/* ---- V2 to V1 ---------------------------------------------------------------------------------------------- */

/* Appends a number as V1 has it: truth values are 0 and 1, reals have six digits. False: it is none. */
static bool add_number(struct tt_str *out, const struct tt_json *value)
{
	bool truth = false;
	int64_t whole;
	uint64_t large;
	double real = 0;

	if (tt_json_kind(value) == TT_JSON_BOOL) {
		tt_json_bool(&truth, value);
		tt_str_addc(out, truth ? '1' : '0');
	} else if (tt_json_kind(value) == TT_JSON_REAL) {
		tt_json_real(&real, value);
		tt_str_addf(out, "%g", real);
	} else if (tt_json_kind(value) != TT_JSON_INT) {
		return false;
	} else if (tt_json_int(&whole, value)) {
		tt_str_addi(out, whole);
	} else if (tt_json_uint(&large, value)) {
		tt_str_addu(out, large);
	}
	return true;
}

/* A list of numbers, or of such lists, as a text; false when there is anything else in it. */
static bool add_numbers(struct tt_str *out, const struct tt_json *list)
{
	struct tt_json_iter it = tt_json_iter(list);

	tt_str_addc(out, '[');
	for (bool first = true; tt_json_next(&it); first = false) {
		tt_str_adds(out, first ? "" : ", ");
		if (!add_number(out, it.value) &&
		    (tt_json_kind(it.value) != TT_JSON_ARRAY || !add_numbers(out, it.value)))
			return false;
	}
	tt_str_addc(out, ']');
	return true;
}

static void list_to_v1(struct tt_jsonw *w, const struct tt_json *list)
{
	struct tt_json_iter it = tt_json_iter(list);
	struct tt_str text = {0};

	if (add_numbers(&text, list)) {
		tt_jsonw_stringn(w, tt_str_text(&text), text.length);
		tt_str_deinit(&text);
		return;
	}
	tt_str_deinit(&text);
	tt_jsonw_array(w);
	while (tt_json_next(&it)) {
		const char *type = tt_json_string(tt_json_get(it.value, "type"), NULL);

		/* Tensors in a list have no name. */
		if (type && strcmp(type, "ttnn.Tensor") == 0)
			tt_convert_bare_tensor(w, it.value, TT_MASTER_V1);
		else
			tt_convert_to_v1(w, it.value);
	}
	tt_jsonw_end(w);
}

/* {"type": "DataType", "repr": "DataType.BFLOAT16"} as a text; false when an object is nothing like it. */
static bool member_to_v1(struct tt_jsonw *w, const struct tt_json *object, const char *type,
			 size_t length)
{
	const char *repr = tt_json_string(tt_json_get(object, "repr"), NULL);
	struct tt_str text = {0};

	if (!repr || tt_json_count(object) != 2 || strncmp(repr, type, length) != 0 ||
	    repr[length] != '.')
		return false;
	tt_str_add(&text, type, length);
	tt_str_adds(&text, "::");
	tt_str_adds(&text, repr + length + 1);
	tt_jsonw_string(w, tt_str_text(&text));
	tt_str_deinit(&text);
	return true;
}

static bool shape_to_v1(struct tt_jsonw *w, const struct tt_json *object)
{
	const char *text = tt_json_string(tt_json_get(object, "value"), NULL), *end;

	if (!text || strncmp(text, "Shape(", 6) != 0 || !(end = put_list(NULL, text + 6, 0)) ||
	    strcmp(end, ")") != 0)
		return false;
	tt_jsonw_object(w);
	tt_jsonw_key(w, "Shape");
	put_list(w, text + 6, 0);
	tt_jsonw_end(w);
	return true;
}

/* {"type": "Name", fields} as {"Name": {fields}}. */
static void typed_to_v1(struct tt_jsonw *w, const struct tt_json *object, const char *type,
			size_t length)
{
	struct tt_json_iter it = tt_json_iter(object);

	tt_jsonw_object(w);
	tt_jsonw_keyn(w, type, length);
	tt_jsonw_object(w);
	while (tt_json_next(&it)) {
		if (strcmp(it.key, "type") == 0)
			continue;
		tt_jsonw_keyn(w, it.key, it.key_length);
		tt_jsonw_value(w, it.value);
	}
	tt_jsonw_end(w);
	tt_jsonw_end(w);
}

/* A field of a compute kernel configuration: "MathFidelity.LoFi", "False", true. */
static void kernel_field_to_v1(struct tt_jsonw *w, const char *key, const struct tt_json *value)
{
	const char *text = tt_json_string(value, NULL);
	bool truth = false;

	tt_jsonw_key(w, key);
	if (text && strncmp(text, "MathFidelity.", 13) == 0) {
		tt_jsonw_string(w, text + 13);
	} else if (text && strncmp(text, "ThrottleLevel.", 14) == 0) {
		char level[64];

		snprintf(level, sizeof(level), "ThrottleLevel::%s", text + 14);
		tt_jsonw_string(w, level);
	} else if (tt_json_bool(&truth, value) || (text && strcmp(text, "False") == 0)) {
		tt_jsonw_int(w, truth);
	} else if (text && strcmp(text, "True") == 0) {
		tt_jsonw_int(w, 1);
	} else {
		tt_jsonw_value(w, value);
	}
}

/* {"math_fidelity": ..., ...}: a configuration that has no type in traces of 2026. */
static void kernel_to_v1(struct tt_jsonw *w, const struct tt_json *object)
{
	static const char *const fields[] = {"math_fidelity",    "math_approx_mode",
					     "fp32_dest_acc_en", "packer_l1_acc",
					     "dst_full_sync_en", "throttle_level"};

	tt_jsonw_object(w);
	tt_jsonw_key(w, "WormholeComputeKernelConfig");
	tt_jsonw_object(w);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (tt_json_get(object, fields[i]))
			kernel_field_to_v1(w, fields[i], tt_json_get(object, fields[i]));
	tt_jsonw_end(w);
	tt_jsonw_end(w);
}

static void named(struct tt_jsonw *w, const char *name,
		  void (*put)(struct tt_jsonw *w, const struct tt_json *value,
			      enum tt_master_layout to),
		  const struct tt_json *value, enum tt_master_layout to)
{
	tt_jsonw_object(w);
	tt_jsonw_key(w, name);
	put(w, value, to);
	tt_jsonw_end(w);
}

static void object_to_v1(struct tt_jsonw *w, const struct tt_json *object)
{
	size_t length = 0;
	const char *type = tt_json_string(tt_json_get(object, "type"), &length);

	if (type && strcmp(type, "ttnn.Tensor") == 0)
		named(w, "Tensor", tt_convert_tensor, object, TT_MASTER_V1);
	else if (!type && tt_json_get(object, "memory_layout") &&
		 tt_json_get(object, "buffer_type"))
		named(w, "MemoryConfig", tt_convert_memory, object, TT_MASTER_V1);
	else if (!type && tt_json_get(object, "math_fidelity"))
		kernel_to_v1(w, object);
	else if (!type)
		tt_jsonw_value(w, object);
	else if (!member_to_v1(w, object, type, length) &&
		 !(strcmp(type, "Shape") == 0 && shape_to_v1(w, object)))
		typed_to_v1(w, object, type, length);
}

void tt_convert_to_v1(struct tt_jsonw *w, const struct tt_json *value)
{
	struct tt_str text = {0};

	switch (tt_json_kind(value)) {
	case TT_JSON_NULL:
	case TT_JSON_ABSENT:
		tt_jsonw_string(w, "nullopt");
		break;
	case TT_JSON_BOOL:
	case TT_JSON_INT:
	case TT_JSON_REAL:
		add_number(&text, value);
		tt_jsonw_stringn(w, tt_str_text(&text), text.length);
		break;
	case TT_JSON_STRING:
		tt_jsonw_value(w, value);
		break;
	case TT_JSON_ARRAY:
		list_to_v1(w, value);
		break;
	case TT_JSON_OBJECT:
		object_to_v1(w, value);
		break;
	}
	tt_str_deinit(&text);
}

/* ---- V1 and the seed's block ---------------------------------------------------------------------------------- */

void tt_convert_list(struct tt_jsonw *w, const struct tt_json *value, enum tt_master_layout to)
{
	struct tt_json_iter it = tt_json_iter(value);
	const struct tt_json *tensor = tt_json_get(value, "Tensor"),
			     *memory = tt_json_get(value, "MemoryConfig");

	if (tensor && tt_json_count(value) == 1)
		named(w, "Tensor", tt_convert_tensor, tensor, to);
	else if (memory && tt_json_count(value) == 1)
		named(w, "MemoryConfig", tt_convert_memory, memory, to);
	else if (tt_json_get(value, "tensor_spec"))
		tt_convert_bare_tensor(w, value, to);
	else if (tt_json_kind(value) == TT_JSON_ARRAY) {
		tt_jsonw_array(w);
		while (tt_json_next(&it))
			tt_convert_list(w, it.value, to);
		tt_jsonw_end(w);
	} else {
		tt_jsonw_value(w, value);
	}
}
