/* repair.c: texts of elements that are not JSON. */
#include "store/repair.h"

#include <string.h>

#include "base/fmt.h"
#include "base/jsondump.h"
#include "store/sorted.h"

/*
 * What to write for what is found; `inside` is the state that the row needs, `then` the next. To add one: a row, and a
 * text in tests/formats/test_master.c.
 */
static const struct {
	const char *found, *instead;
	char inside, then; /* 0: any, and stays */
	bool number;       /* only before a number */
} repairs[] = {
	{"} - {", "}, {", 0, 0, false},                /* a range of cores */
	{"\"grid\":{[", "\"grid\":[[", 0, 'g', false}, /* several ranges */
	{"]}", "]]", 'g', ' ', false},
	{"\"compute_grid\":", "\"compute_grid\":[", 0, 'c', true}, /* 8,8 without brackets */
	{", \"", "], \"", 'c', ' ', false},
	{"}", "]}", 'c', ' ', false},
	{": \"[{", ": [{", 0, 't', false}, /* tensors in a text whose quotes are not escaped */
	{"}]\"", "}]", 't', ' ', false},
};
#define REPAIRS (sizeof(repairs) / sizeof(repairs[0]))

/* Stands for what was left out. */
static const char elided[] = "{...}";

void tt_repair_deinit(struct tt_repair *repair)
{
	tt_json_parser_deinit(&repair->parser);
	tt_str_deinit(&repair->text);
}

const char *tt_repair_unparsed(const struct tt_json *element, size_t *length)
{
	return tt_json_string(tt_json_get(tt_json_get(element, "UnparsedElement"), "element_info"),
			      length);
}

static bool starts(const char *text, const char *end, const char *found)
{
	size_t length = strlen(found);

	return (size_t)(end - text) >= length && memcmp(text, found, length) == 0;
}

/* The row that applies at `text`, or REPAIRS. */
static size_t find_row(const char *text, const char *end, char grid, char tensors)
{
	for (size_t i = 0; i < REPAIRS; i++) {
		char state = repairs[i].inside == 't' ? tensors : grid;
		const char *behind = text + strlen(repairs[i].found);

		if ((repairs[i].inside && repairs[i].inside != state) ||
		    !starts(text, end, repairs[i].found))
			continue;
		if (repairs[i].number && (behind == end || *behind < '0' || *behind > '9'))
			continue;
		return i;
	}
	return REPAIRS;
}

static void rewrite(struct tt_str *out, const char *text, size_t length)
{
	const char *end = text + length;
	char grid = ' ', tensors = ' ';

	while (text < end) {
		size_t i = find_row(text, end, grid, tensors);

		if (i == REPAIRS) {
			tt_str_addc(out, *text++);
			continue;
		}
		if (repairs[i].then)
			*(repairs[i].inside == 't' || repairs[i].then == 't' ? &tensors : &grid) =
				repairs[i].then;
		tt_str_adds(out, repairs[i].instead);
		text += strlen(repairs[i].found);
	}
}

tt_status tt_repair_text(const struct tt_json **out, struct tt_repair *repair, const char *text,
			 size_t length)
{
	const struct tt_json *element;
	struct tt_json_fault fault;
	tt_status status;
	char *copy;

	if (out)
		*out = NULL;
	tt_str_clear(&repair->text);
	if (memmem(text, length, elided, strlen(elided)))
		return TTNN_OK;
	rewrite(&repair->text, text, length);
	TT_TRY(tt_str_status(&repair->text));
	copy = tt_json_parser_room(&repair->parser, repair->text.length);
	if (!copy)
		return tt_fail_nomem();
	memcpy(copy, tt_str_text(&repair->text), repair->text.length);
	status = tt_json_parser_take(&element, &fault, &repair->parser, repair->text.length, 0);
	if (status == TTNN_OK && tt_json_kind(element) == TT_JSON_OBJECT &&
	    tt_json_count(element) == 1) {
		if (out)
			*out = element;
		return TTNN_OK;
	}
	tt_str_clear(&repair->text);
	return status == TTNN_FORMAT ? TTNN_OK : status;
}

bool tt_repair_needed(const struct tt_json *args)
{
	struct tt_json_iter it = tt_json_iter(args);

	if (tt_json_kind(args) != TT_JSON_ARRAY)
		return false;
	while (tt_json_next(&it))
		if (tt_repair_unparsed(it.value, NULL))
			return true;
	return false;
}

tt_status tt_repair_args(struct tt_str *out, size_t *lost, struct tt_repair *repair,
			 const struct tt_json *args)
{
	struct tt_json_iter it = tt_json_iter(args);
	bool first = true;

	*lost = 0;
	if (tt_json_kind(args) != TT_JSON_ARRAY) {
		tt_json_dump(out, args);
		return tt_str_status(out);
	}
	tt_str_addc(out, '[');
	for (; tt_json_next(&it); first = false) {
		size_t length = 0;
		const char *info = tt_repair_unparsed(it.value, &length);
		const struct tt_json *element = NULL;

		if (!first)
			tt_str_addc(out, ',');
		if (info)
			TT_TRY(tt_repair_text(&element, repair, info, length));
		*lost += info && !element;
		/* As it was read, so that numbers look as they do elsewhere. */
		tt_json_dump(out, element ? element : it.value);
	}
	tt_str_addc(out, ']');
	return tt_str_status(out);
}

/* ---- the text by which configurations are told apart ------------------------------------------------- */

/* Keys of shapes that some tracers wrote as texts. */
static bool is_shape_key(const char *key, size_t length)
{
	static const char *const keys[] = {"shape", "shard_shape", "tile_shape", "face_shape"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strlen(keys[i]) == length && memcmp(keys[i], key, length) == 0)
			return true;
	return false;
}

/* Appends "{224, 32}" or "[224, 32]" as [224,32]; false when the text is nothing like it. */
static bool add_shape(struct tt_str *out, const char *text, size_t length)
{
	char *to;

	if (length < 2 || !((text[0] == '{' && text[length - 1] == '}') ||
			    (text[0] == '[' && text[length - 1] == ']')))
		return false;
	for (size_t i = 1; i + 1 < length; i++)
		if ((text[i] < '0' || text[i] > '9') && text[i] != ',' && text[i] != ' ')
			return false;
	to = tt_str_room(out, length + 1);
	if (!to)
		return true;
	*to++ = '[';
	for (size_t i = 1; i + 1 < length; i++)
		if (text[i] != ' ')
			*to++ = text[i];
	*to++ = ']';
	tt_str_end(out, to);
	return true;
}

/* Appends 5"shape" and what follows it. With its length no text looks like another, and need not be escaped. */
static void add_text(struct tt_str *out, const char *text, size_t length, char behind)
{
	char *to = tt_str_room(out, length + TT_FMT_MAX + 3);

	if (!to)
		return;
	to += tt_fmt_u64(to, length);
	*to++ = '"';
	memcpy(to, text, length);
	to += length;
	*to++ = '"';
	if (behind)
		*to++ = behind;
	tt_str_end(out, to);
}

static void add_value(struct tt_str *out, const struct tt_json *value);

static void add_members(struct tt_str *out, const struct tt_json *object)
{
	struct tt_sorted_member few[TT_SORTED_FEW], *members = tt_sorted_members(few, object);

	if (!members) {
		out->failed = true;
		return;
	}
	tt_str_addc(out, '{');
	for (size_t i = 0; i < tt_json_count(object); i++) {
		size_t length;
		const char *text = tt_json_string(members[i].value, &length);

		add_text(out, members[i].key, members[i].length, ':');
		if (!text || !is_shape_key(members[i].key, members[i].length) ||
		    !add_shape(out, text, length))
			add_value(out, members[i].value);
		tt_str_addc(out, ',');
	}
	tt_str_addc(out, '}');
	tt_sorted_free(members, few);
}

static void add_number(struct tt_str *out, const struct tt_json *value)
{
	char text[TT_FMT_MAX];
	uint64_t whole = 0;
	int64_t number;
	double real = 0;

	if (tt_json_kind(value) == TT_JSON_REAL) {
		tt_json_real(&real, value);
		tt_str_add(out, text, tt_fmt_double(text, real));
	} else if (tt_json_int(&number, value)) {
		tt_str_addi(out, number);
	} else {
		tt_json_uint(&whole, value);
		tt_str_addu(out, whole);
	}
}

static void add_value(struct tt_str *out, const struct tt_json *value)
{
	struct tt_json_iter it = tt_json_iter(value);
	size_t length;
	const char *text;
	bool flag = false;

	switch (tt_json_kind(value)) {
	case TT_JSON_OBJECT:
		add_members(out, value);
		return;
	case TT_JSON_ARRAY:
		tt_str_addc(out, '[');
		for (bool first = true; tt_json_next(&it); first = false) {
			if (!first)
				tt_str_addc(out, ',');
			add_value(out, it.value);
		}
		tt_str_addc(out, ']');
		return;
	case TT_JSON_STRING:
		text = tt_json_string(value, &length);
		add_text(out, text, length, 0);
		return;
	case TT_JSON_INT:
	case TT_JSON_REAL:
		add_number(out, value);
		return;
	case TT_JSON_BOOL:
		tt_json_bool(&flag, value);
		tt_str_addc(out, flag ? 't' : 'f');
		return;
	default:
		tt_str_addc(out, 'n');
	}
}

void tt_repair_canonical(struct tt_str *out, const struct tt_json *args)
{
	add_value(out, args);
}
