#include "event/value_text.h"

#include <string.h>

#include "base/fmt.h"
#include "event/event.h"
#include "tensor/shape.h"
#include "tensor/text.h"
#include "tensor/value_json.h"

/* A float without the ".0" that Python would add. */
static void add_float(struct tt_str *out, double number)
{
	char text[TT_FMT_MAX];
	size_t length = tt_fmt_float(text, (float)number);

	if (length > 2 && strcmp(text + length - 2, ".0") == 0)
		length -= 2;
	tt_str_add(out, text, length);
}

static void add_list(struct tt_str *out, const struct ttnn_value *value, const char *open,
		     const char *close)
{
	tt_str_adds(out, open);
	for (uint32_t i = 0; i < value->count; i++) {
		if (i)
			tt_str_adds(out, ", ");
		tt_value_text(out, &value->items[i]);
	}
	tt_str_adds(out, close);
}

static void add_small_shape(struct tt_str *out, const struct ttnn_shape *shape)
{
	tt_str_adds(out, "SmallVector(");
	tt_shape_list(out, shape);
	tt_str_addc(out, ')');
}

static void add_each(struct tt_str *out, const char *text, uint32_t count)
{
	tt_str_addc(out, '{');
	for (uint32_t i = 0; i < count; i++)
		tt_str_addf(out, "%s%s", i ? ", " : "", text);
	tt_str_addc(out, '}');
}

/* A member of a struct that prints by position: streams know six digits, and no cores. */
static void add_plain(struct tt_str *out, const struct ttnn_value *value)
{
	if (value->kind == TTNN_VALUE_REAL)
		tt_str_addf(out, "%g", value->real);
	else if (value->kind == TTNN_VALUE_CORE)
		tt_str_adds(out, "<xy_pair>");
	else if (value->kind == TTNN_VALUE_CORE_SET)
		tt_str_adds(out, "<CoreRangeSet>");
	else
		tt_value_text(out, value);
}

static void add_places(struct tt_str *out, const struct ttnn_value *value)
{
	tt_str_adds(out, value->schema->name);
	tt_str_addc(out, '(');
	for (uint32_t i = 0; i < value->count; i++) {
		tt_str_adds(out, i ? ", " : "");
		add_plain(out, &value->items[i]);
	}
	tt_str_addc(out, ')');
}

static void add_field(struct tt_str *out, const struct tt_field *field,
		      const struct ttnn_value *value)
{
	const char *member;

	if (field->text == TT_TEXT_ALWAYS ||
	    (field->text == TT_TEXT_FIXED && tt_value_given(value)))
		tt_str_adds(out, field->fixed);
	else if (field->text == TT_TEXT_MEMBER && value->kind == TTNN_VALUE_ENUM &&
		 (member = tt_enum_name(value->enumeration, value->integer)))
		tt_str_adds(out, member);
	else if (field->text == TT_TEXT_SMALL && value->kind == TTNN_VALUE_LIST)
		add_list(out, value, "SmallVector([", "])");
	else if (field->text == TT_TEXT_SMALL && value->kind == TTNN_VALUE_SHAPE)
		add_small_shape(out, value->shape);
	else if (field->text == TT_TEXT_ARRAY && value->kind == TTNN_VALUE_LIST)
		add_list(out, value, "array(", ")");
	else if (field->text == TT_TEXT_EACH && value->kind == TTNN_VALUE_LIST)
		add_each(out, field->fixed, value->count);
	else if (field->text == TT_TEXT_PLACES && value->kind == TTNN_VALUE_OBJECT)
		add_places(out, value);
	else if (field->words && value->kind == TTNN_VALUE_BOOL)
		tt_str_adds(out, value->boolean ? "true" : "false");
	else if (field->omit_empty)
		add_list(out, value, "[", "]");
	else
		tt_value_text(out, value);
}

static void add_object(struct tt_str *out, const struct ttnn_value *value)
{
	const struct tt_schema *schema = value->schema;
	bool first = true;

	tt_str_adds(out, schema->name);
	tt_str_addc(out, '(');
	for (size_t i = 0; i < schema->count; i++) {
		const struct tt_field *field = &schema->fields[i];

		if (field->unprinted || (field->omit_empty && !value->items[i].count))
			continue;
		if (!first)
			tt_str_adds(out, schema->named && !field->spaced ? "," : ", ");
		first = false;
		if (schema->named) {
			tt_str_adds(out, field->name);
			tt_str_addc(out, '=');
		}
		if (!schema->named && field->text == TT_TEXT_VALUE && !field->words &&
		    !field->omit_empty)
			add_plain(out, &value->items[i]);
		else
			add_field(out, field, &value->items[i]);
	}
	tt_str_addc(out, ')');
}

void tt_value_text(struct tt_str *out, const struct ttnn_value *value)
{
	const enum ttnn_dialect dialect = TTNN_DIALECT_TT_METAL;
	uint32_t device;

	switch ((enum ttnn_value_kind)value->kind) {
	case TTNN_VALUE_ABSENT:
	case TTNN_VALUE_NONE:
		tt_str_adds(out, "std::nullopt");
		break;
	case TTNN_VALUE_BOOL:
		tt_str_addc(out, value->boolean ? '1' : '0');
		break;
	case TTNN_VALUE_INT:
		tt_str_addi(out, value->integer);
		break;
	case TTNN_VALUE_REAL:
		add_float(out, value->real);
		break;
	case TTNN_VALUE_STRING:
		tt_str_adds(out, value->text);
		break;
	case TTNN_VALUE_ENUM:
		if (tt_enum_name(value->enumeration, value->integer))
			tt_text_enum(out, value->enumeration, value->integer, "::");
		else
			tt_str_addf(out, "%s::INVALID", value->enumeration->name);
		break;
	case TTNN_VALUE_SHAPE:
		tt_text_shape(out, value->shape, dialect);
		break;
	case TTNN_VALUE_MEMORY:
		tt_text_memory_config(out, value->memory, dialect);
		break;
	case TTNN_VALUE_CORE:
		tt_text_core(out, value->core, dialect);
		break;
	case TTNN_VALUE_CORE_SET:
		tt_text_core_set(out, value->core_set, dialect);
		break;
	case TTNN_VALUE_TILE:
		tt_text_tile(out, value->tile);
		break;
	case TTNN_VALUE_SHARD:
		tt_text_shard_spec(out, value->shard);
		break;
	case TTNN_VALUE_ND_SHARD:
		tt_text_nd_shard_spec(out, value->nd_shard);
		break;
	case TTNN_VALUE_LIST:
		add_list(out, value, "{", "}");
		break;
	case TTNN_VALUE_OBJECT:
		add_object(out, value);
		break;
	default:
		if (tt_value_seen_device(&device, value))
			tt_str_addf(out, "0x%012x", 0x10000000u + 0x100u * device);
		else
			tt_str_adds(out, tt_value_kind_name(value));
	}
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static const char *key_of(const struct tt_field *field)
{
	return field->json ? field->json : field->name;
}

/* The field whose key follows `last` in the alphabet; NULL when there is none. */
static const struct tt_field *next_field(const struct tt_schema *schema, const char *last)
{
	const struct tt_field *next = NULL;

	for (size_t i = 0; i < schema->count; i++) {
		const struct tt_field *field = &schema->fields[i];

		if (last && strcmp(key_of(field), last) <= 0)
			continue;
		if (!next || strcmp(key_of(field), key_of(next)) < 0)
			next = field;
	}
	return next;
}

void tt_value_json_members(struct tt_jsonw *w, const struct ttnn_value *value,
			   enum ttnn_dialect dialect)
{
	const struct tt_schema *schema = value->schema;
	const struct tt_field *field = next_field(schema, NULL);

	for (; field; field = next_field(schema, key_of(field))) {
		tt_jsonw_key(w, key_of(field));
		tt_value_json(w, &value->items[field - schema->fields], dialect);
	}
}

void tt_value_json(struct tt_jsonw *w, const struct ttnn_value *value, enum ttnn_dialect dialect)
{
	switch ((enum ttnn_value_kind)value->kind) {
	case TTNN_VALUE_BOOL:
		tt_jsonw_bool(w, value->boolean);
		break;
	case TTNN_VALUE_INT:
	case TTNN_VALUE_ENUM:
		tt_jsonw_int(w, value->integer);
		break;
	case TTNN_VALUE_REAL:
		tt_jsonw_real(w, value->real);
		break;
	case TTNN_VALUE_STRING:
		tt_jsonw_string(w, value->text);
		break;
	case TTNN_VALUE_SHAPE:
		tt_json_write_shape(w, value->shape);
		break;
	case TTNN_VALUE_MEMORY:
		tt_json_write_memory_config(w, value->memory, dialect);
		break;
	case TTNN_VALUE_CORE:
		tt_json_write_core(w, value->core);
		break;
	case TTNN_VALUE_CORE_SET:
		tt_json_write_core_set(w, value->core_set);
		break;
	case TTNN_VALUE_SHARD:
		tt_json_write_shard_spec(w, value->shard);
		break;
	case TTNN_VALUE_ND_SHARD:
		tt_json_write_nd_shard_spec(w, value->nd_shard, dialect);
		break;
	case TTNN_VALUE_LIST:
		tt_jsonw_array(w);
		for (uint32_t i = 0; i < value->count; i++)
			tt_value_json(w, &value->items[i], dialect);
		tt_jsonw_end(w);
		break;
	case TTNN_VALUE_OBJECT:
		tt_jsonw_object(w);
		tt_value_json_members(w, value, dialect);
		tt_jsonw_end(w);
		break;
	default:
		tt_jsonw_null(w);
	}
}
