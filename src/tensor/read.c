#include "tensor/read.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "tensor/enums.h"
#include "tensor/memory.h"

#define EXCERPT 60 /* of a bad text, in messages */
#define DEPTH 32   /* of brackets */

struct tt_span tt_span(const char *text)
{
	return (struct tt_span){text, strlen(text)};
}

static tt_status fail(const char *what, struct tt_span text)
{
	bool cut = text.length > EXCERPT;

	return tt_fail(TTNN_FORMAT, "expected %s, not \"%.*s%s\"", what,
		       (int)(cut ? EXCERPT : text.length), text.text, cut ? "..." : "");
}

static struct tt_span trim(struct tt_span span)
{
	while (span.length && isspace((unsigned char)span.text[0])) {
		span.text++;
		span.length--;
	}
	while (span.length && isspace((unsigned char)span.text[span.length - 1]))
		span.length--;
	return span;
}

static bool span_is(struct tt_span span, const char *text)
{
	return span.length == strlen(text) && memcmp(span.text, text, span.length) == 0;
}

bool tt_read_is_none(struct tt_span text)
{
	static const char *const none[] = {"None", "nullopt", "std::nullopt", "<nullopt>", "null"};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (span_is(text, none[i]))
			return true;
	return false;
}

/* ---- numbers ---------------------------------------------------------------------------------- */

/* Takes the decimal number at the start of a span; false when there is none or it is too large. */
static bool take_number(uint32_t *out, struct tt_span *span)
{
	uint64_t value = 0;
	size_t i = 0;

	for (; i < span->length && isdigit((unsigned char)span->text[i]); i++) {
		value = value * 10 + (uint64_t)(span->text[i] - '0');
		if (value > UINT32_MAX)
			return false;
	}
	span->text += i;
	span->length -= i;
	*out = (uint32_t)value;
	return i > 0;
}

/* Passes over characters of `set`; returns how many. */
static size_t skip_any(struct tt_span *span, const char *set)
{
	size_t length = span->length;

	while (span->length && span->text[0] && strchr(set, span->text[0])) {
		span->text++;
		span->length--;
	}
	return length - span->length;
}

tt_status tt_read_shape(struct ttnn_shape *out, struct tt_span text)
{
	struct tt_span rest = trim(text);
	struct ttnn_shape shape = {0};
	size_t open;

	while (rest.length && (isalnum((unsigned char)rest.text[0]) || rest.text[0] == '.')) {
		rest.text++; /* a name in front, then brackets */
		rest.length--;
	}
	open = skip_any(&rest, "[{(");
	while (rest.length && isdigit((unsigned char)rest.text[0])) {
		if (shape.rank == TTNN_MAX_RANK || !take_number(&shape.dim[shape.rank], &rest))
			return fail("a shape", text);
		shape.rank++;
		skip_any(&rest, ", ");
	}
	if (!open || skip_any(&rest, "]})") != open || rest.length)
		return fail("a shape", text);
	*out = shape;
	return TTNN_OK;
}

/* Brackets, and the letters of the keys x, y, start, end: after them only a number can come. */
static const char core_noise[] = "[]{}() \",:=-xyenstrad";

tt_status tt_read_core_set(const ttnn_core_set **out, struct tt_span text)
{
	TT_VEC(struct ttnn_core_range) ranges = {0};
	struct ttnn_core_range *range = NULL;
	struct tt_span rest = trim(text);
	tt_status status = TTNN_OK;
	size_t numbers = 0;

	if (!rest.length || !strchr("[{", rest.text[0]))
		return fail("a core range set", text);
	skip_any(&rest, core_noise);
	for (; status == TTNN_OK && rest.length; skip_any(&rest, core_noise)) {
		if (numbers % 4 == 0)
			range = TT_VEC_PUSH(&ranges);
		if (!range)
			status = tt_fail_nomem();
		else if (!take_number((uint32_t *[]){&range->start.x, &range->start.y,
						     &range->end.x, &range->end.y}[numbers++ % 4],
				      &rest))
			status = fail("a core range set", text);
	}
	if (status == TTNN_OK && numbers % 4)
		status = fail("a core range set", text);
	if (status == TTNN_OK)
		status = ttnn_core_set_make(out, ranges.data, ranges.count);
	TT_VEC_DEINIT(&ranges);
	return status;
}

/* ---- fields ------------------------------------------------------------------------------------ */

struct field {
	struct tt_span name, value;
};

/* The inside of "Name(...)", "Name{...}" or "{...}"; false when the text is no such thing. */
static bool enter(struct tt_span *inside, struct tt_span text)
{
	size_t open = 0;

	text = trim(text);
	while (open < text.length && text.text[open] != '(' && text.text[open] != '{')
		open++;
	if (open + 1 >= text.length || !strchr(")}", text.text[text.length - 1]))
		return false;
	*inside = (struct tt_span){text.text + open + 1, text.length - open - 2};
	return true;
}

/*
 * Where the field at the start of the span ends: at the next comma outside brackets. A closing
 * bracket also closes those inside it that were left open, as legacy shard specs leave them.
 */
static size_t field_end(struct tt_span span)
{
	static const char opening[] = "([{", closing[] = ")]}";
	char stack[DEPTH];
	size_t depth = 0, i = 0;

	for (; i < span.length; i++) {
		char c = span.text[i];

		if (c == ',' && !depth)
			break;
		if (c && strchr(opening, c) && depth < DEPTH)
			stack[depth++] = closing[strchr(opening, c) - opening];
		else if (c && strchr(closing, c))
			while (depth && stack[--depth] != c)
				;
	}
	return i;
}

/* Takes the next "name=value" or "\"name\":value"; false at the end. */
static bool next_field(struct field *out, struct tt_span *rest)
{
	struct tt_span field = {rest->text, field_end(*rest)};
	size_t eaten = field.length < rest->length ? field.length + 1 : field.length;
	size_t split = 0;

	rest->text += eaten;
	rest->length -= eaten;
	field = trim(field);
	while (split < field.length && field.text[split] != '=' && field.text[split] != ':')
		split++;
	if (split == field.length)
		return false;
	out->name = trim((struct tt_span){field.text, split});
	out->value = trim((struct tt_span){field.text + split + 1, field.length - split - 1});
	for (struct tt_span *part = &out->name;; part = &out->value) { /* quotes are noise */
		if (part->length >= 2 && part->text[0] == '"' &&
		    part->text[part->length - 1] == '"')
			*part = (struct tt_span){part->text + 1, part->length - 2};
		if (part == &out->value)
			return true;
	}
}

static tt_status read_enum(int64_t *out, const struct tt_enum *type, struct tt_span text)
{
	if (tt_enum_parse(out, type, text.text, text.length))
		return TTNN_OK;
	return fail(type->name, text);
}

static bool is_true(struct tt_span text)
{
	return span_is(text, "1") || span_is(text, "true") || span_is(text, "True");
}

/* ---- structs ------------------------------------------------------------------------------------ */

tt_status tt_read_shard_spec(struct ttnn_shard_spec *out, struct tt_span text)
{
	struct ttnn_shard_spec spec = {0};
	struct ttnn_shape shape = {0};
	struct tt_span rest;
	struct field field;
	int64_t member;

	if (!enter(&rest, text))
		return fail("a shard spec", text);
	while (next_field(&field, &rest)) {
		if (span_is(field.name, "grid")) {
			TT_TRY(tt_read_core_set(&spec.grid, field.value));
		} else if (span_is(field.name, "shape")) {
			TT_TRY(tt_read_shape(&shape, field.value));
		} else if (span_is(field.name, "orientation")) {
			TT_TRY(read_enum(&member, &tt_enum_orientation, field.value));
			spec.orientation = (enum ttnn_orientation)member;
		}
	}
	if (!spec.grid || shape.rank != 2)
		return fail("a shard spec", text);
	spec.height = shape.dim[0];
	spec.width = shape.dim[1];
	*out = spec;
	return TTNN_OK;
}

tt_status tt_read_nd_shard_spec(struct ttnn_nd_shard_spec *out, struct tt_span text)
{
	struct ttnn_nd_shard_spec spec = {0};
	bool has_shape = false;
	struct tt_span rest;
	struct field field;
	int64_t member;

	if (!enter(&rest, text))
		return fail("an ND shard spec", text);
	while (next_field(&field, &rest)) {
		if (span_is(field.name, "grid")) {
			TT_TRY(tt_read_core_set(&spec.grid, field.value));
		} else if (span_is(field.name, "shard_shape")) {
			TT_TRY(tt_read_shape(&spec.shape, field.value));
			has_shape = true;
		} else if (span_is(field.name, "orientation")) {
			TT_TRY(read_enum(&member, &tt_enum_orientation, field.value));
			spec.orientation = (enum ttnn_orientation)member;
		} else if (span_is(field.name, "shard_distribution_strategy")) {
			TT_TRY(read_enum(&member, &tt_enum_shard_strategy, field.value));
			spec.strategy = (enum ttnn_shard_strategy)member;
		}
	}
	if (!spec.grid || !has_shape)
		return fail("an ND shard spec", text);
	*out = spec;
	return TTNN_OK;
}

static tt_status read_memory_field(struct ttnn_memory_config *config, const struct field *field)
{
	int64_t member;

	if (span_is(field->name, "memory_layout")) {
		TT_TRY(read_enum(&member, &tt_enum_memory_layout, field->value));
		config->layout = (enum ttnn_memory_layout)member;
	} else if (span_is(field->name, "buffer_type")) {
		TT_TRY(read_enum(&member, &tt_enum_buffer_type, field->value));
		config->buffer = (enum ttnn_buffer_type)member;
	} else if (span_is(field->name, "shard_spec") && !tt_read_is_none(field->value)) {
		TT_TRY(tt_read_shard_spec(&config->shard, field->value));
		config->has_shard = true;
	} else if (span_is(field->name, "nd_shard_spec") && !tt_read_is_none(field->value)) {
		TT_TRY(tt_read_nd_shard_spec(&config->nd_shard, field->value));
		config->has_nd_shard = true;
	} else if (span_is(field->name, "created_with_nd_shard_spec")) {
		config->created_with_nd_shard = is_true(field->value);
	} else if (span_is(field->name, "per_core_allocation")) {
		config->per_core_allocation = is_true(field->value);
	} else if (span_is(field->name, "range_lockstep_allocation")) {
		config->range_lockstep_allocation = is_true(field->value);
	}
	return TTNN_OK;
}

tt_status tt_read_memory_config(struct ttnn_memory_config *out, struct tt_span text)
{
	struct ttnn_memory_config config = {0};
	bool has_layout = false;
	struct tt_span rest;
	struct field field;

	if (!enter(&rest, text))
		return fail("a memory config", text);
	while (next_field(&field, &rest)) {
		has_layout = has_layout || span_is(field.name, "memory_layout");
		TT_TRY(read_memory_field(&config, &field));
	}
	if (!has_layout)
		return fail("a memory config", text);
	*out = config;
	return TTNN_OK;
}

/* "PageConfig(config=TilePageConfig(tile=Tile(tile_shape={32, 32},...)))". */
static tt_status read_page_config(struct ttnn_spec_args *args, struct tt_span text)
{
	struct ttnn_shape shape = {0};
	struct tt_span rest;
	struct field field;

	if (!enter(&rest, text) || !next_field(&field, &rest))
		return fail("a page config", text);
	args->layout =
		field.value.length && field.value.text[0] == 'T' ? TTNN_TILE : TTNN_ROW_MAJOR;
	if (!enter(&rest, field.value) || !next_field(&field, &rest) ||
	    !enter(&rest, field.value) || !next_field(&field, &rest))
		return TTNN_OK; /* no tile is named: the usual one */
	TT_TRY(tt_read_shape(&shape, field.value));
	if (shape.rank != 2)
		return fail("a tile", text);
	args->tile.height = shape.dim[0];
	args->tile.width = shape.dim[1];
	return TTNN_OK;
}

static tt_status read_tensor_layout(struct ttnn_spec_args *args, struct tt_span text)
{
	struct tt_span rest;
	struct field field;
	int64_t member;

	if (!enter(&rest, text))
		return fail("a tensor layout", text);
	while (next_field(&field, &rest)) {
		if (span_is(field.name, "dtype")) {
			TT_TRY(read_enum(&member, &tt_enum_dtype, field.value));
			args->dtype = (enum ttnn_dtype)member;
		} else if (span_is(field.name, "page_config")) {
			TT_TRY(read_page_config(args, field.value));
		} else if (span_is(field.name, "memory_config")) {
			TT_TRY(tt_read_memory_config(&args->memory, field.value));
		} else if (span_is(field.name, "alignment")) {
			TT_TRY(tt_read_shape(&args->alignment, field.value));
		}
	}
	return TTNN_OK;
}

tt_status tt_read_tensor_spec(struct ttnn_spec_args *out, struct tt_span text)
{
	struct ttnn_spec_args args = {0};
	bool has_shape = false;
	struct tt_span rest;
	struct field field;

	if (!enter(&rest, text))
		return fail("a tensor spec", text);
	while (next_field(&field, &rest)) {
		if (span_is(field.name, "logical_shape")) {
			TT_TRY(tt_read_shape(&args.shape, field.value));
			has_shape = true;
		} else if (span_is(field.name, "tensor_layout")) {
			TT_TRY(read_tensor_layout(&args, field.value));
		}
	}
	if (!has_shape)
		return fail("a tensor spec", text);
	tt_memory_config_strip(&args.memory);
	*out = args;
	return TTNN_OK;
}
