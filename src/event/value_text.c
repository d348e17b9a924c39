#include "event/value_text.h"

#include <string.h>

#include "base/fmt.h"
#include "event/event.h"
#include "event/value_kinds.h"
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

/* A list whose items print as members do. */
static void add_array(struct tt_str *out, const struct ttnn_value *value)
{
	tt_str_adds(out, "array(");
	for (uint32_t i = 0; i < value->count; i++) {
		tt_str_adds(out, i ? ", " : "");
		add_plain(out, &value->items[i]);
	}
	tt_str_addc(out, ')');
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
		add_array(out, value);
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
	/* One that upstream cannot print: "<Params>". */
	if (schema->name[0] == '<')
		return;
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

#define TEXT(word, statement)                                                                      \
	static void text_##word(struct tt_str *out, const struct ttnn_value *value)                \
	{                                                                                          \
		statement;                                                                         \
	}

static void text_member(struct tt_str *out, const struct ttnn_value *value)
{
	if (tt_enum_name(value->enumeration, value->integer))
		tt_text_enum(out, value->enumeration, value->integer, "::");
	else
		tt_str_addf(out, "%s::INVALID", value->enumeration->name);
}

static void text_device(struct tt_str *out, const struct ttnn_value *value)
{
	uint32_t device = 0;

	tt_value_seen_device(&device, value);
	tt_str_addf(out, "0x%012x", 0x10000000u + 0x100u * device);
}

static void text_tensor(struct tt_str *out, const struct ttnn_value *value)
{
	struct tt_event_tensor tensor;

	if (!tt_value_seen_tensor(&tensor, value)) {
		tt_str_adds(out, tt_value_kind_name(value));
		return;
	}
	tt_str_adds(out, tensor.on_device ? "Tensor(storage=DeviceStorage(),tensor_spec="
					  : "Tensor(storage=HostStorage(),tensor_spec=");
	tt_text_tensor_spec(out, tensor.spec, TTNN_DIALECT_TT_METAL);
	tt_str_addc(out, ')');
}

static void text_nullopt(struct tt_str *out, const struct ttnn_value *value)
{
	(void)value;
	tt_str_adds(out, "std::nullopt");
}

/* clang-format off */
TEXT(boolean, tt_str_addc(out, value->boolean ? '1' : '0'))
TEXT(integer, tt_str_addi(out, value->integer))
TEXT(real, add_float(out, value->real))
TEXT(string, tt_str_adds(out, value->text))
TEXT(shape, tt_text_shape(out, value->shape, TTNN_DIALECT_TT_METAL))
TEXT(memory, tt_text_memory_config(out, value->memory, TTNN_DIALECT_TT_METAL))
TEXT(core, tt_text_core(out, value->core, TTNN_DIALECT_TT_METAL))
TEXT(core_set, tt_text_core_set(out, value->core_set, TTNN_DIALECT_TT_METAL))
TEXT(tile, tt_text_tile(out, value->tile))
TEXT(shard, tt_text_shard_spec(out, value->shard))
TEXT(nd_shard, tt_text_nd_shard_spec(out, value->nd_shard))
TEXT(items, add_list(out, value, "{", "}"))
TEXT(object, add_object(out, value))
TEXT(name, tt_str_adds(out, tt_value_kind_name(value)))
/* clang-format on */

void tt_value_text(struct tt_str *out, const struct ttnn_value *value)
{
	static void (*const texts[TTNN_VALUE_KINDS])(struct tt_str *, const struct ttnn_value *) = {
#define ROW(KIND, name, content, alike, text, json) [TTNN_VALUE_##KIND] = text_##text,
		TT_VALUE_KIND_LIST(ROW)
#undef ROW
	};

	(value->kind < TTNN_VALUE_KINDS ? texts[value->kind] : text_name)(out, value);
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

#define JSON(word, statement)                                                                      \
	static void json_##word(struct tt_jsonw *w, const struct ttnn_value *value,                \
				enum ttnn_dialect dialect)                                         \
	{                                                                                          \
		(void)dialect;                                                                     \
		statement;                                                                         \
	}

static void json_items(struct tt_jsonw *w, const struct ttnn_value *value,
		       enum ttnn_dialect dialect)
{
	tt_jsonw_array(w);
	for (uint32_t i = 0; i < value->count; i++)
		tt_value_json(w, &value->items[i], dialect);
	tt_jsonw_end(w);
}

static void json_object(struct tt_jsonw *w, const struct ttnn_value *value,
			enum ttnn_dialect dialect)
{
	tt_jsonw_object(w);
	tt_value_json_members(w, value, dialect);
	tt_jsonw_end(w);
}

static void json_null(struct tt_jsonw *w, const struct ttnn_value *value, enum ttnn_dialect dialect)
{
	(void)value;
	(void)dialect;
	tt_jsonw_null(w);
}

/* clang-format off */
JSON(boolean, tt_jsonw_bool(w, value->boolean))
JSON(integer, tt_jsonw_int(w, value->integer))
JSON(real, tt_jsonw_real(w, value->real))
JSON(string, tt_jsonw_string(w, value->text))
JSON(shape, tt_json_write_shape(w, value->shape))
JSON(memory, tt_json_write_memory_config(w, value->memory, dialect))
JSON(core, tt_json_write_core(w, value->core))
JSON(core_set, tt_json_write_core_set(w, value->core_set))
JSON(shard, tt_json_write_shard_spec(w, value->shard))
JSON(nd_shard, tt_json_write_nd_shard_spec(w, value->nd_shard, dialect))
/* clang-format on */

void tt_value_json(struct tt_jsonw *w, const struct ttnn_value *value, enum ttnn_dialect dialect)
{
	static void (*const writers[TTNN_VALUE_KINDS])(struct tt_jsonw *, const struct ttnn_value *,
						       enum ttnn_dialect) = {
#define ROW(KIND, name, content, alike, text, json) [TTNN_VALUE_##KIND] = json_##json,
		TT_VALUE_KIND_LIST(ROW)
#undef ROW
	};

	(value->kind < TTNN_VALUE_KINDS ? writers[value->kind] : json_null)(w, value, dialect);
}

/* ---- at a glance --------------------------------------------------------------------------------------- */

static void add_enum(struct tt_str *out, const struct tt_enum *type, int64_t value)
{
	const char *name = tt_enum_name(type, value);

	tt_str_adds(out, name ? name : "?");
}

void tt_value_text_glance(struct tt_str *out, const struct tt_event_tensor *tensor)
{
	const struct ttnn_tensor_spec *spec = tensor->spec;

	if (!spec) {
		tt_str_adds(out, "Tensor");
		return;
	}
	tt_shape_list(out, &spec->shape);
	tt_str_addc(out, ' ');
	add_enum(out, &tt_enum_dtype, spec->dtype);
	tt_str_addc(out, ' ');
	add_enum(out, &tt_enum_layout, spec->layout);
	tt_str_addc(out, ' ');
	if (!tensor->on_device) {
		tt_str_adds(out, "HOST");
		return;
	}
	add_enum(out, &tt_enum_buffer_type, spec->memory.buffer);
	if (spec->memory.layout != TTNN_INTERLEAVED) {
		tt_str_addc(out, ' ');
		add_enum(out, &tt_enum_memory_layout, spec->memory.layout);
	}
}

void tt_value_text_cut(struct tt_str *out, size_t from, size_t most)
{
	size_t at = from + most;

	if (out->length <= at || tt_str_status(out) != TTNN_OK)
		return;
	while (at > from && ((unsigned char)out->data[at] & 0xc0) == 0x80)
		at--;
	tt_str_end(out, out->data + at);
	tt_str_adds(out, "...");
}
