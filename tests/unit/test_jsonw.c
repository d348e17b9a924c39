/* the JSON writer, against what Python wrote (tests/data/json/make.py) */
#include "test.h"

#include "base/json.h"
#include "base/jsonw.h"

#define DATA "tests/data/json/"

TEST(documents_as_python_writes_them)
{
	static const struct {
		const char *file;
		struct tt_jsonw_style style;
	} rows[] = {
		{DATA "values.default.json", {0}},
		{DATA "values.compact.json", {.compact = true}},
		{DATA "values.utf8.json", {.utf8 = true}},
		{DATA "values.indent2.json", {.indent = 2}},
		{DATA "values.indent4.json", {.indent = 4, .utf8 = true}},
		{DATA "values.indent2compact.json", {.indent = 2, .compact = true}},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tt_json_doc *doc = NULL;
		struct tt_str text = {0};
		struct tt_jsonw w;
		size_t size = 0;
		char *want = NULL;

		/* Each file is read and written as each other one. */
		for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
			CHECK_OK(tt_json_load(&doc, rows[k].file));
			tt_str_clear(&text);
			tt_jsonw_init_str(&w, &text, rows[i].style);
			tt_jsonw_value(&w, tt_json_root(doc));
			CHECK_OK(tt_jsonw_finish(&w));
			CHECK_OK(tt_file_read(&want, &size, rows[i].file));
			CHECK(text.length == size && memcmp(text.data, want, size) == 0);
			tt_free(want);
			tt_json_free(doc);
		}
		tt_str_deinit(&text);
	}
}

TEST(containers_on_one_line)
{
	struct tt_str text = {0};
	struct tt_jsonw w;
	bool before;

	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){.indent = 2});
	tt_jsonw_array(&w);
	for (int i = 0; i < 2; i++) {
		tt_jsonw_array(&w);
		before = tt_jsonw_inline(&w, true);
		CHECK(!before);
		tt_jsonw_array(&w);
		tt_jsonw_int(&w, i);
		tt_jsonw_int(&w, 7);
		tt_jsonw_end(&w);
		tt_jsonw_array(&w);
		tt_jsonw_end(&w);
		tt_jsonw_end(&w);
		CHECK(tt_jsonw_inline(&w, before));
	}
	tt_jsonw_end(&w);
	CHECK_OK(tt_jsonw_finish(&w));
	CHECK_STR(tt_str_text(&text), "[\n  [[0, 7], []],\n  [[1, 7], []]\n]");
	tt_str_deinit(&text);
}

static size_t unhex(char *out, const char *text)
{
	size_t length = strcspn(text, " ") / 2;

	for (size_t i = 0; i < length; i++) {
		char pair[3] = {text[2 * i], text[2 * i + 1], 0};

		out[i] = (char)strtol(pair, NULL, 16);
	}
	return length;
}

TEST(broken_utf8_is_replaced_as_python_does)
{
	char *data, *save = NULL, bytes[64];
	struct tt_str text = {0};
	struct tt_jsonw w;
	size_t size;
	int count = 0;

	CHECK_OK(tt_file_read(&data, &size, DATA "broken_utf8.txt"));
	for (char *line = strtok_r(data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		tt_str_clear(&text);
		tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){0});
		tt_jsonw_stringn(&w, bytes, unhex(bytes, line));
		CHECK_OK(tt_jsonw_finish(&w));
		CHECK_STR(tt_str_text(&text), strchr(line, ' ') + 1);
		count++;
	}
	CHECK(count > 500);
	tt_str_deinit(&text);
	tt_free(data);
}

TEST(a_text_by_hand)
{
	struct tt_str text = {0};
	struct tt_jsonw w;

	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){0});
	tt_jsonw_object(&w);
	tt_jsonw_key_string(&w, "name", "ttnn::add");
	tt_jsonw_key_string(&w, "none", NULL);
	tt_jsonw_key_int(&w, "count", -5);
	tt_jsonw_key(&w, "raw");
	tt_jsonw_raw(&w, "[1,2]", 5);
	tt_jsonw_key(&w, "list");
	tt_jsonw_array(&w);
	tt_jsonw_uint(&w, UINT64_MAX);
	tt_jsonw_bool(&w, false);
	tt_jsonw_real(&w, 2.0);
	tt_jsonw_end(&w);
	tt_jsonw_end(&w);
	CHECK_OK(tt_jsonw_finish(&w));
	CHECK_STR(tt_str_text(&text),
		  "{\"name\": \"ttnn::add\", \"none\": null, \"count\": -5, \"raw\": [1,2], "
		  "\"list\": [18446744073709551615, false, 2.0]}");
	tt_str_deinit(&text);
}

/* Letters are calls: what is no JSON has to be refused. */
TEST(wrong_orders_are_refused)
{
	static const struct {
		const char *calls, *says;
	} rows[] = {
		{"", "nothing was written"},
		{"[", "still open"},
		{"]", "an end too many"},
		{"[]]", "an end too many"},
		{"nn", "a text has one value"},
		{"{n", "needs a key"},
		{"{k]", "without a value"},
		{"{kk", "two keys"},
		{"[k", "outside of an object"},
		{"k", "outside of an object"},
		{"{kn]", NULL},
		{"[n{]n]", NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tt_str text = {0};
		struct tt_jsonw w;

		tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){.indent = 2});
		for (const char *call = rows[i].calls; *call; call++)
			switch (*call) {
			case '[':
				tt_jsonw_array(&w);
				break;
			case '{':
				tt_jsonw_object(&w);
				break;
			case ']':
				tt_jsonw_end(&w);
				break;
			case 'k':
				tt_jsonw_key(&w, "k");
				break;
			default:
				tt_jsonw_null(&w);
			}
		if (rows[i].says)
			CHECK_FAILS(tt_jsonw_finish(&w), TTNN_STATE, rows[i].says);
		else
			CHECK_OK(tt_jsonw_finish(&w));
		tt_str_deinit(&text);
	}
}

TEST(depth_is_bounded)
{
	struct tt_str text = {0};
	struct tt_jsonw w;

	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){0});
	for (int i = 0; i < TT_JSON_DEPTH + 1; i++)
		tt_jsonw_array(&w);
	CHECK_FAILS(tt_jsonw_finish(&w), TTNN_STATE, "nested too deep");
	tt_str_deinit(&text);
}

SCENARIO(writing_survives_exhaustion)
{
	const char *path = test_path("w.json");
	struct tt_file_out *file;
	struct tt_str text = {0};
	struct tt_jsonw w;
	tt_status status;

	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){.indent = 4});
	tt_jsonw_array(&w);
	for (int i = 0; i < 3000; i++)
		tt_jsonw_real(&w, i / 7.0);
	tt_jsonw_end(&w);
	status = tt_jsonw_finish(&w);
	if (status == TTNN_OK)
		status = tt_str_status(&text);
	tt_str_deinit(&text);
	TT_TRY(status);
	TT_TRY(tt_file_create(&file, path));
	tt_jsonw_init_file(&w, file, (struct tt_jsonw_style){0});
	tt_jsonw_string(&w, "text");
	status = tt_jsonw_finish(&w);
	if (status == TTNN_OK)
		return tt_file_commit(file);
	tt_file_discard(file);
	return status;
}
