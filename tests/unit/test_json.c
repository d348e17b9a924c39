/* reading JSON documents */
#include "test.h"

#include "base/file.h"
#include "base/json.h"

static struct tt_json_doc *parse(const char *text)
{
	struct tt_json_doc *doc = NULL;

	CHECK_OK(tt_json_parse(&doc, text, strlen(text), "t"));
	return doc;
}

TEST(values_of_every_kind)
{
	struct tt_json_doc *doc =
		parse("{\"n\": null, \"b\": true, \"i\": -3, \"r\": 2.5, "
		      "\"s\": \"a\\u00e9\\u0000z\", \"a\": [1, [2, 3], 4], \"o\": {}}");
	const struct tt_json *root = tt_json_root(doc), *array = tt_json_get(root, "a");
	static const struct {
		const char *key;
		enum tt_json_kind kind;
		const char *name;
	} rows[] = {
		{"n", TT_JSON_NULL, "null"},        {"b", TT_JSON_BOOL, "a boolean"},
		{"i", TT_JSON_INT, "an integer"},   {"r", TT_JSON_REAL, "a number"},
		{"s", TT_JSON_STRING, "a string"},  {"a", TT_JSON_ARRAY, "an array"},
		{"o", TT_JSON_OBJECT, "an object"}, {"x", TT_JSON_ABSENT, "nothing"},
	};
	size_t length;
	int64_t integer;
	double real;
	bool boolean;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_INT(tt_json_kind(tt_json_get(root, rows[i].key)), rows[i].kind);
		CHECK_STR(tt_json_kind_name(tt_json_get(root, rows[i].key)), rows[i].name);
	}
	CHECK(tt_json_bool(&boolean, tt_json_get(root, "b")) && boolean);
	CHECK(!tt_json_bool(&boolean, tt_json_get(root, "i")));
	CHECK(tt_json_int(&integer, tt_json_get(root, "i")) && integer == -3);
	CHECK(tt_json_real(&real, tt_json_get(root, "i")) && real == -3);
	CHECK(tt_json_real(&real, tt_json_get(root, "r")) && real == 2.5);
	CHECK(!tt_json_int(&integer, tt_json_get(root, "r")));
	CHECK(memcmp(tt_json_string(tt_json_get(root, "s"), &length), "a\xc3\xa9\0z", 6) == 0);
	CHECK_INT(length, 5);
	CHECK(!tt_json_string(array, &length));
	CHECK_INT(tt_json_count(array), 3);
	CHECK_INT(tt_json_count(root), 7);
	CHECK_INT(tt_json_count(tt_json_get(root, "s")), 0);
	CHECK(tt_json_int(&integer, tt_json_at(array, 2)) && integer == 4);
	CHECK(!tt_json_at(array, 3) && !tt_json_at(root, 0) && !tt_json_get(array, "a"));
	CHECK(!tt_json_get(NULL, "a") && !tt_json_at(NULL, 0) && tt_json_count(NULL) == 0);
	tt_json_free(doc);
	tt_json_free(NULL);
}

TEST(numbers_keep_64_bits)
{
	struct tt_json_doc *doc =
		parse("[9223372036854775807, -9223372036854775808, "
		      "18446744073709551615, 9007199254740993, 1.0, 1e400, NaN, "
		      "-Infinity, 18446744073709551616, 9223372036854775808, -1, -0]");
	const struct tt_json *root = tt_json_root(doc);
	int64_t i = 0;
	uint64_t u = 0;
	double d = 0;

	CHECK(tt_json_int(&i, tt_json_at(root, 0)) && i == INT64_MAX);
	CHECK(tt_json_int(&i, tt_json_at(root, 1)) && i == INT64_MIN);
	CHECK(!tt_json_uint(&u, tt_json_at(root, 1)));
	CHECK(!tt_json_int(&i, tt_json_at(root, 2)));
	CHECK(tt_json_uint(&u, tt_json_at(root, 2)) && u == UINT64_MAX);
	CHECK(tt_json_int(&i, tt_json_at(root, 3)) && i == 9007199254740993);
	CHECK_INT(tt_json_kind(tt_json_at(root, 4)), TT_JSON_REAL);
	CHECK(tt_json_int(&i, tt_json_at(root, 4)) && i == 1);
	CHECK(tt_json_real(&d, tt_json_at(root, 5)) && isinf(d));
	CHECK(!tt_json_uint(&u, tt_json_at(root, 5)));
	CHECK(tt_json_real(&d, tt_json_at(root, 6)) && isnan(d));
	CHECK(!tt_json_int(&i, tt_json_at(root, 6)) && !tt_json_uint(&u, tt_json_at(root, 6)));
	CHECK(tt_json_real(&d, tt_json_at(root, 7)) && d == -INFINITY);
	CHECK_INT(tt_json_kind(tt_json_at(root, 8)), TT_JSON_REAL);
	CHECK(tt_json_real(&d, tt_json_at(root, 8)) && d == 0x1p64);
	CHECK(!tt_json_uint(&u, tt_json_at(root, 8)));
	CHECK(tt_json_uint(&u, tt_json_at(root, 9)) && u == 9223372036854775808u);
	CHECK(!tt_json_uint(&u, tt_json_at(root, 10)));
	CHECK(tt_json_uint(&u, tt_json_at(root, 11)) && u == 0);
	tt_json_free(doc);
}

TEST(iteration_keeps_the_order)
{
	struct tt_json_doc *doc = parse("{\"z\": [1, {\"q\": []}], \"a\": 2, \"m\": {\"k\": 3}}");
	struct tt_json_iter it = tt_json_iter(tt_json_root(doc));
	char keys[8] = "";
	int64_t sum = 0, i;

	while (tt_json_next(&it)) {
		strncat(keys, it.key, it.key_length);
		if (tt_json_int(&i, it.value))
			sum += i;
	}
	CHECK_STR(keys, "zam");
	CHECK_INT(sum, 2);
	it = tt_json_iter(tt_json_get(tt_json_root(doc), "z"));
	CHECK(tt_json_next(&it) && !it.key && tt_json_kind(it.value) == TT_JSON_INT);
	CHECK(tt_json_next(&it) && !it.key && tt_json_kind(it.value) == TT_JSON_OBJECT);
	CHECK(!tt_json_next(&it) && !tt_json_next(&it));
	it = tt_json_iter(NULL);
	CHECK(!tt_json_next(&it));
	tt_json_free(doc);
}

TEST(errors_name_line_and_column)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{"", "t:1:1: "},
		{"[1,\n 2,, 3]", "t:2:4: "},
		{"{\"\\n\\n\\n\": 1,\n\"\xc3\xa9\": x}", "t:2:6: "},
		{"[1] 2", "t:1:5: "},
		{"\"\xff\"", "t:1:2: "},
		{"[\"abc", "t:1:6: "},
		{"01", "t:1:1: number with leading zero"},
	};
	struct tt_json_doc *doc;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_FAILS(tt_json_parse(&doc, rows[i].text, strlen(rows[i].text), "t"),
			    TTNN_FORMAT, rows[i].says);
}

TEST(files_plain_and_packed)
{
	const char *path = test_path("a.json");
	const char *bad = "{\"a\\nb\": 1,\n \"c\": ?}";
	struct tt_json_doc *doc;
	int64_t i = 0;

	CHECK_OK(tt_file_save(path, "{\"a\\nb\": 7}", 11));
	CHECK_OK(tt_json_load(&doc, path));
	CHECK(tt_json_int(&i, tt_json_get(tt_json_root(doc), "a\nb")) && i == 7);
	tt_json_free(doc);
	CHECK_OK(tt_file_save(path, bad, strlen(bad)));
	CHECK_FAILS(tt_json_load(&doc, path), TTNN_FORMAT, "a.json:2:7: ");
	remove(path);
	CHECK_FAILS(tt_json_load(&doc, path), TTNN_NOTFOUND, "No such file");
}

static char *nested(size_t depth)
{
	char *text = calloc(1, 2 * depth + 1);

	memset(text, '[', depth);
	memset(text + depth, ']', depth);
	return text;
}

/* Brackets in strings do not count, and lines do: 1 + 300 + 211 open before the one that is told. */
static void where_it_is_too_deep(void)
{
	static const char begin[] = "[\n  \"[{\\\"[[\", [], {},\n";
	struct tt_json_doc *doc;
	char text[4096], message[64];
	size_t at = sizeof(begin) - 1, line;

	memcpy(text, begin, at);
	memset(text + at, '[', 300);
	text[at += 300] = '\n';
	line = ++at;
	memset(text + at, '[', 300);
	memset(text + at + 300, ']', 601);
	CHECK_INT(TT_JSON_DEPTH, 512);
	snprintf(message, sizeof(message), "t:4:%d: nested too deep", 512 - 301 + 1);
	CHECK_FAILS(tt_json_parse(&doc, text, line + 300 + 601, "t"), TTNN_FORMAT, message);
}

TEST(deep_nesting_is_refused)
{
	static const struct {
		size_t depth;
		bool fits;
	} rows[] = {{1, true}, {TT_JSON_DEPTH, true}, {TT_JSON_DEPTH + 1, false}, {1000000, false}};
	struct tt_json_doc *doc;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = nested(rows[i].depth);

		if (rows[i].fits) {
			CHECK_OK(tt_json_parse(&doc, text, strlen(text), "t"));
			tt_json_free(doc);
		} else {
			CHECK_FAILS(tt_json_parse(&doc, text, strlen(text), "t"), TTNN_FORMAT,
				    "t:1:513: nested too deep");
		}
		free(text);
	}
	where_it_is_too_deep();
	/* Side by side is not deep. */
	doc = parse("[[],[[]],{\"a\":{}},[[[]]]]");
	tt_json_free(doc);
}

SCENARIO(parsing_survives_exhaustion)
{
	const char *path = test_path("b.json");
	struct tt_json_doc *doc;

	TT_TRY(tt_json_parse(&doc, "{\"a\": [1, 2, 3]}", 16, "t"));
	tt_json_free(doc);
	TT_TRY(tt_file_save(path, "[1, 2]", 6));
	TT_TRY(tt_json_load(&doc, path));
	tt_json_free(doc);
	return TTNN_OK;
}
