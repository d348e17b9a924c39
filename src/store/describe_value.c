/* describe_value.c: arguments as texts. */
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "store/describe.h"
#include "store/repair.h"

/* The classic form goes no deeper, and counts what is longer than this. */
#define DEEPEST 2
#define LONGEST 3

/* ---- Python's texts ---------------------------------------------------------------------------------------- */

static void add_quoted(struct tt_str *out, const char *text, size_t length)
{
	char quote = memchr(text, '\'', length) && !memchr(text, '"', length) ? '"' : '\'';

	tt_str_addc(out, quote);
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\\' || text[i] == quote)
			tt_str_addc(out, '\\');
		if (text[i] == '\n')
			tt_str_adds(out, "\\n");
		else
			tt_str_addc(out, text[i]);
	}
	tt_str_addc(out, quote);
}

static void add_scalar(struct tt_str *out, const struct tt_json *value)
{
	char text[TT_FMT_MAX];
	int64_t whole;
	uint64_t large = 0;
	double real = 0;
	bool truth = false;

	switch (tt_json_kind(value)) {
	case TT_JSON_BOOL:
		tt_json_bool(&truth, value);
		tt_str_adds(out, truth ? "True" : "False");
		break;
	case TT_JSON_REAL:
		tt_json_real(&real, value);
		tt_str_add(out, text, tt_fmt_double(text, real));
		break;
	case TT_JSON_INT:
		if (tt_json_int(&whole, value)) {
			tt_str_addi(out, whole);
		} else {
			tt_json_uint(&large, value);
			tt_str_addu(out, large);
		}
		break;
	default:
		tt_str_adds(out, "None");
	}
}

static void add_repr(struct tt_str *out, const struct tt_json *value)
{
	struct tt_json_iter it = tt_json_iter(value);
	bool object = tt_json_kind(value) == TT_JSON_OBJECT;
	size_t length;
	const char *text = tt_json_string(value, &length);

	if (text) {
		add_quoted(out, text, length);
		return;
	}
	if (!object && tt_json_kind(value) != TT_JSON_ARRAY) {
		add_scalar(out, value);
		return;
	}
	tt_str_addc(out, object ? '{' : '[');
	for (bool first = true; tt_json_next(&it); first = false) {
		tt_str_adds(out, first ? "" : ", ");
		if (object) {
			add_quoted(out, it.key, it.key_length);
			tt_str_adds(out, ": ");
		}
		add_repr(out, it.value);
	}
	tt_str_addc(out, object ? '}' : ']');
}

void tt_describe_python(struct tt_str *out, const struct tt_json *value)
{
	size_t length;
	const char *text = tt_json_string(value, &length);

	if (text)
		tt_str_add(out, text, length);
	else
		add_repr(out, value);
}

/* ---- memory ------------------------------------------------------------------------------------------------- */

/* A text without the type before it: "BufferType::L1". */
static const char *without(const struct tt_json *value, const char *type)
{
	const char *text = tt_json_string(value, NULL);
	size_t length = strlen(type);

	if (!text)
		return "";
	return strncmp(text, type, length) == 0 ? text + length : text;
}

static void add_core(struct tt_str *out, const struct tt_json *core)
{
	tt_str_addc(out, '(');
	add_repr(out, tt_json_get(core, "x"));
	tt_str_addc(out, ',');
	add_repr(out, tt_json_get(core, "y"));
	tt_str_addc(out, ')');
}

static void add_range(struct tt_str *out, const struct tt_json *range)
{
	add_core(out, tt_json_at(range, 0));
	tt_str_adds(out, "→");
	add_core(out, tt_json_at(range, 1));
}

static bool is_core(const struct tt_json *value)
{
	return tt_json_get(value, "x") != NULL;
}

/* A pair of cores, or ranges: the classic form knows of exactly two. */
static void add_grid(struct tt_str *out, const struct tt_json *grid, bool classic)
{
	struct tt_json_iter it = tt_json_iter(grid);
	size_t count = tt_json_count(grid);

	if (count == 2 && is_core(tt_json_at(grid, 0))) {
		tt_str_addc(out, '[');
		add_range(out, grid);
		tt_str_addc(out, ']');
		return;
	}
	if (tt_json_kind(tt_json_at(grid, 0)) != TT_JSON_ARRAY || (classic && count != 2)) {
		tt_describe_python(out, grid);
		return;
	}
	tt_str_addc(out, '[');
	for (bool first = true; tt_json_next(&it); first = false) {
		tt_str_adds(out, first ? "" : ", ");
		add_range(out, it.value);
	}
	tt_str_addc(out, ']');
}

static bool is_shard(const struct tt_json *shard)
{
	return tt_json_kind(shard) == TT_JSON_OBJECT && tt_json_count(shard);
}

/* [224, 32], also from "{224, 32}". */
static bool add_shape(struct tt_str *out, const struct tt_json *shape)
{
	size_t length;
	const char *text = tt_json_string(shape, &length);

	if (!text) {
		tt_describe_python(out, shape);
		return tt_json_kind(shape) == TT_JSON_ARRAY;
	}
	if (length < 2)
		return false;
	tt_str_addc(out, '[');
	tt_str_add(out, text + 1, length - 2);
	tt_str_addc(out, ']');
	return true;
}

/* shard(shard_shape=..., grid=..., orientation=...), or nothing. */
static void add_shard(struct tt_str *out, const struct tt_json *memory, const char *before,
		      bool classic)
{
	const struct tt_json *shard = tt_json_get(memory, "nd_shard_spec"), *shape, *orientation;

	if (!is_shard(shard))
		shard = tt_json_get(memory, "shard_spec");
	if (!is_shard(shard))
		return;
	shape = tt_json_get(shard, "shard_shape");
	if (!shape)
		shape = tt_json_get(shard, "shape");
	orientation = tt_json_get(shard, "orientation");
	tt_str_adds(out, before);
	tt_str_adds(out, "shard(");
	if (shape) {
		tt_str_adds(out, "shard_shape=");
		add_shape(out, shape);
	}
	if (tt_json_count(tt_json_get(shard, "grid"))) {
		tt_str_adds(out, shape ? ", grid=" : "grid=");
		add_grid(out, tt_json_get(shard, "grid"), classic);
	}
	if (orientation)
		tt_str_addf(out, ", orientation=%s", without(orientation, "ShardOrientation::"));
	tt_str_addc(out, ')');
}

/* L1_HEIGHT_SHARDED */
static void add_memory(struct tt_str *out, const struct tt_json *memory)
{
	const char *layout = without(tt_json_get(memory, "memory_layout"), "TensorMemoryLayout::"),
		   *buffer = without(tt_json_get(memory, "buffer_type"), "BufferType::");

	if (*layout && *buffer)
		tt_str_addf(out, "%s_%s", buffer, layout);
	else
		tt_str_adds(out, "Unknown memory");
}

/* In the guide's form a shard is on a line of its own. */
static void add_tensor(struct tt_str *out, const struct tt_json *tensor, bool classic)
{
	const struct tt_json *spec = tt_json_get(tensor, "tensor_spec"),
			     *page = tt_json_get(spec, "tensor_layout"),
			     *memory = tt_json_get(page, "memory_config"),
			     *shape = tt_json_get(spec, "logical_shape");

	if (!spec) {
		tt_str_adds(out, "Tensor(...)");
		return;
	}
	tt_str_adds(out, "Tensor(shape=");
	if (shape)
		tt_describe_python(out, shape);
	else
		tt_str_adds(out, "Unknown shape");
	tt_str_addf(out, ", dtype=%s, memory=",
		    tt_json_get(page, "dtype") ? without(tt_json_get(page, "dtype"), "DataType::")
					       : "Unknown dtype");
	add_memory(out, memory);
	add_shard(out, memory, classic ? ", " : ",\n        ", classic);
	tt_str_addc(out, ')');
}

static void add_memory_config(struct tt_str *out, const struct tt_json *memory, bool classic)
{
	tt_str_adds(out, "MemoryConfig(");
	add_memory(out, memory);
	add_shard(out, memory, classic ? ", " : ",\n        ", classic);
	tt_str_addc(out, ')');
}

/* Tensors, memory configurations and shapes look alike in both forms; false when it is none of them. */
static bool add_known(struct tt_str *out, const struct tt_json *value, bool classic)
{
	const struct tt_json *tensor = tt_json_get(value, "Tensor"),
			     *memory = tt_json_get(value, "MemoryConfig"),
			     *shape = tt_json_get(value, "Shape");

	if (tensor) {
		add_tensor(out, tensor, classic);
	} else if (tt_json_get(value, "Scalar")) {
		tt_str_adds(out, "Scalar(");
		tt_describe_python(out, tt_json_get(value, "Scalar"));
		tt_str_addc(out, ')');
	} else if (memory) {
		add_memory_config(out, memory, classic);
	} else if (shape) {
		const struct tt_json *inner = tt_json_get(shape, "shape");

		tt_str_adds(out, "Shape(");
		tt_describe_python(out, inner ? inner : shape);
		tt_str_addc(out, ')');
	} else {
		return false;
	}
	return true;
}

/* ---- the classic form ------------------------------------------------------------------------------------------ */

static void add_classic(struct tt_str *out, const struct tt_json *value, int depth)
{
	struct tt_json_iter it = tt_json_iter(value);
	bool object = tt_json_kind(value) == TT_JSON_OBJECT;
	size_t length;
	const char *text = tt_json_string(value, &length);

	if (depth > DEEPEST) {
		tt_str_adds(out, "...");
	} else if (text) {
		tt_str_addc(out, '"');
		tt_str_add(out, text, length);
		tt_str_addc(out, '"');
	} else if (!object && tt_json_kind(value) != TT_JSON_ARRAY) {
		add_scalar(out, value);
	} else if (object && add_known(out, value, true)) {
		return;
	} else if (tt_json_count(value) > LONGEST) {
		tt_str_addf(out, object ? "Dict(%zu keys)" : "List(%zu items)",
			    tt_json_count(value));
	} else {
		tt_str_addc(out, object ? '{' : '[');
		for (bool first = true; tt_json_next(&it); first = false) {
			tt_str_adds(out, first ? "" : ", ");
			if (object) {
				tt_str_add(out, it.key, it.key_length);
				tt_str_adds(out, ": ");
			}
			add_classic(out, it.value, depth + 1);
		}
		tt_str_addc(out, object ? '}' : ']');
	}
}

/* ---- the guide's form --------------------------------------------------------------------------------------------- */

static void add_guide(struct tt_str *out, const struct tt_json *value, bool inside);

/* Name(field=value, ...) */
static void add_named(struct tt_str *out, const char *name, const struct tt_json *fields)
{
	struct tt_json_iter it = tt_json_iter(fields);

	tt_str_addf(out, "%s(", name);
	for (bool first = true; tt_json_next(&it); first = false) {
		tt_str_adds(out, first ? "" : ", ");
		tt_str_add(out, it.key, it.key_length);
		tt_str_addc(out, '=');
		add_guide(out, it.value, true);
	}
	tt_str_addc(out, ')');
}

static void add_guide(struct tt_str *out, const struct tt_json *value, bool inside)
{
	struct tt_json_iter it = tt_json_iter(value), first = it;
	bool object = tt_json_kind(value) == TT_JSON_OBJECT;
	size_t length;
	const char *text = tt_json_string(value, &length);

	if (text) {
		tt_str_adds(out, inside ? "" : "\"");
		tt_str_add(out, text, length);
		tt_str_adds(out, inside ? "" : "\"");
	} else if (!object && tt_json_kind(value) != TT_JSON_ARRAY) {
		add_scalar(out, value);
	} else if (object && add_known(out, value, false)) {
		return;
	} else if (tt_json_get(value, "tensor_spec")) {
		add_tensor(out, value, false);
	} else if (object && tt_json_count(value) == 1 && tt_json_next(&first) &&
		   tt_json_kind(first.value) == TT_JSON_OBJECT) {
		add_named(out, first.key, first.value);
	} else {
		tt_str_addc(out, object ? '{' : '[');
		for (bool start = true; tt_json_next(&it); start = false) {
			tt_str_adds(out, start ? "" : ", ");
			if (object)
				tt_str_addf(out, "%s: ", it.key);
			add_guide(out, it.value, inside);
		}
		tt_str_addc(out, object ? '}' : ']');
	}
}

/* ---- what was not parsed -------------------------------------------------------------------------------------------- */

/* Tensor(shape=[...], PARSE_ERROR) where the text has a shape; else false. */
static bool add_lost_tensor(struct tt_str *out, const char *info)
{
	static const char key[] = "\"logical_shape\":[";
	const char *shape = strstr(info, key), *end;

	if (!shape)
		return false;
	shape += sizeof(key) - 1;
	end = shape + strspn(shape, "0123456789, -");
	if (*end != ']' || end == shape)
		return false;
	tt_str_adds(out, "Tensor(shape=[");
	tt_str_add(out, shape, (size_t)(end - shape));
	tt_str_adds(out, "], PARSE_ERROR)");
	return true;
}

/* The first so many characters of a text. */
static size_t first_characters(const char *text, size_t most)
{
	size_t length = 0;

	for (; text[length]; length++)
		if ((text[length] & 0xc0) != 0x80 && !most--)
			break;
	return length;
}

static void add_classic_lost(struct tt_str *out, const struct tt_json *element, const char *info)
{
	const struct tt_json *value = tt_json_get(tt_json_get(element, "UnparsedElement"), "error");
	const char *error = tt_json_string(value, NULL);

	if (add_lost_tensor(out, info))
		return;
	error = error ? error : "Unknown error";
	tt_str_addf(out, "UnparsedElement(error: %.*s...)", (int)first_characters(error, 50),
		    error);
}

/* Topology(PARSE_ERROR): the name of what was left out, where the text has one. */
static void add_guide_lost(struct tt_str *out, const char *info)
{
	const char *name = strstr(info, ": {\""), *end;

	if (add_lost_tensor(out, info))
		return;
	end = name ? strchr(name + 4, '"') : NULL;
	if (end && end > name + 4)
		tt_str_addf(out, "%.*s(PARSE_ERROR)", (int)(end - name - 4), name + 4);
	else
		tt_str_adds(out, "PARSE_ERROR");
}

bool tt_describe_is_nothing(const struct tt_json *element)
{
	struct tt_json_iter it = tt_json_iter(element);
	const char *text;

	if (!tt_json_next(&it) || tt_repair_unparsed(element, NULL))
		return false;
	text = tt_json_string(it.value, NULL);
	return tt_json_kind(it.value) == TT_JSON_NULL ||
	       (text && (strcmp(text, "nullopt") == 0 || strstr(text, "unsupported type") ||
			 strstr(text, "std::reference_wrapper")));
}

tt_status tt_describe_element(struct tt_str *out, struct tt_repair *repair,
			      const struct tt_json *element, const struct tt_describe *how)
{
	size_t length = 0;
	const char *info = tt_repair_unparsed(element, &length);
	const struct tt_json *repaired = NULL;
	struct tt_json_iter it;

	if (info)
		TT_TRY(tt_repair_text(&repaired, repair, info, length));
	it = tt_json_iter(repaired ? repaired : element);
	if (!tt_json_next(&it)) {
		tt_str_adds(out, "{}");
	} else if (how->classic && info) {
		/* It recovers tensors and nothing else. */
		if (tt_json_get(it.value, "Tensor") && repaired)
			add_classic(out, it.value, 0);
		else
			add_classic_lost(out, element, info);
	} else if (how->classic) {
		add_classic(out, element, 0);
	} else if (info && !repaired) {
		add_guide_lost(out, info);
	} else {
		add_guide(out, it.value, false);
	}
	return tt_str_status(out);
}
