/* walking JSON texts piece by piece, and the scanner underneath */
#include "test.h"

#include <sys/resource.h>

#include "base/cpu.h"
#include "base/file.h"
#include "base/jsonscan.h"
#include "base/jsonslice.h"
#include "base/str.h"
#include "json_equal.h"

static uint64_t seed = 7;

static unsigned pick(unsigned below)
{
	return (unsigned)(test_random(&seed) % below);
}

/* Crosses blocks of 64 bytes. */
#define LONG_TEXT                                                                                  \
	"\"a fairly long text, to cross blocks of "                                                \
	"sixty-four bytes \\\\ with a quote \\\" and brackets ]]]}}} inside of it\""

/* A random value with awkward strings and spaces. */
static void make_value(struct tt_str *out, int depth)
{
	static const char *const scalars[] = {
		"0",
		"-17",
		"2.5e-3",
		"true",
		"false",
		"null",
		"NaN",
		"-Infinity",
		"\"\"",
		"\"\\\\\"",
		"\"[{\"",
		"\"\\\"]}\"",
		"\"\\\\\\\"\"",
		"\"\\u00e9\xc3\xa9\"",
		"18446744073709551615",
		LONG_TEXT,
	};
	static const char *const spaces[] = {"", "", "", " ", "\n", "\t\r\n  "};
	unsigned kind = depth > 0 ? pick(4) : 0, count;

	tt_str_adds(out, spaces[pick(6)]);
	if (kind < 2) {
		tt_str_adds(out, scalars[pick(sizeof(scalars) / sizeof(scalars[0]))]);
	} else {
		tt_str_addc(out, kind == 2 ? '[' : '{');
		count = pick(6);
		for (unsigned i = 0; i < count; i++) {
			tt_str_adds(out, i ? "," : "");
			if (kind == 3)
				tt_str_addf(out, "%s\"k%s%u\"%s:", spaces[pick(6)],
					    pick(2) ? "\\n]" : "", i, spaces[pick(6)]);
			make_value(out, depth - 1);
		}
		tt_str_adds(out, spaces[pick(6)]);
		tt_str_addc(out, kind == 2 ? ']' : '}');
	}
	tt_str_adds(out, spaces[pick(6)]);
}

/* Both readers accept the text and see the same, or both refuse. */
static bool agree(const char *text, size_t length, int enter)
{
	struct tt_json_doc *doc = NULL;
	struct tt_jsonslice *slices = NULL;
	tt_status whole = tt_json_parse(&doc, text, length, "t");
	bool same;

	CHECK_OK(tt_jsonslice_text(&slices, text, length, "t"));
	if (whole == TTNN_OK)
		same = tt_jsonslice_next(slices) &&
		       json_slices_equal(slices, tt_json_root(doc), enter) &&
		       !tt_jsonslice_next(slices) && tt_jsonslice_status(slices) == TTNN_OK;
	else
		same = !tt_jsonslice_next(slices) || !json_slices_equal(slices, NULL, 0) ||
		       tt_jsonslice_next(slices) || tt_jsonslice_status(slices) != TTNN_OK;
	tt_jsonslice_free(slices);
	tt_json_free(doc);
	return same;
}

TEST(slices_see_what_the_whole_reader_sees)
{
	struct tt_str text = {0};

	for (int i = 0; i < 3000; i++) {
		tt_str_clear(&text);
		make_value(&text, 5);
		for (int enter = 0; enter < 4; enter++)
			if (!agree(text.data, text.length, enter))
				TEST_FAIL("differ on %s", text.data);
	}
	tt_str_deinit(&text);
}

/* Reads everything, entering all containers; false when the text is refused. */
static bool walk(struct tt_jsonslice *slices)
{
	while (tt_jsonslice_next(slices))
		if (tt_jsonslice_kind(slices) != TT_JSON_ABSENT) {
			tt_jsonslice_enter(slices);
			walk(slices);
		} else {
			tt_jsonslice_read(slices);
		}
	return tt_jsonslice_status(slices) == TTNN_OK;
}

TEST(damage_is_refused_by_both_or_none)
{
	struct tt_str text = {0};
	int refused = 0;

	for (int i = 0; i < 20000; i++) {
		static const char bytes[] = "[]{},:\"\\ 0a\n\x01\xff";
		struct tt_json_doc *doc = NULL;
		struct tt_jsonslice *slices;
		bool whole;

		tt_str_clear(&text);
		make_value(&text, 3);
		for (unsigned n = 1 + pick(2); n; n--)
			text.data[pick((unsigned)text.length)] = bytes[pick(sizeof(bytes))];
		whole = tt_json_parse(&doc, text.data, text.length, "t") == TTNN_OK;
		tt_json_free(doc);
		CHECK_OK(tt_jsonslice_text(&slices, text.data, text.length, "t"));
		if (walk(slices) != whole)
			TEST_FAIL("%s by the whole reader only: %s", whole ? "accepted" : "refused",
				  text.data);
		tt_jsonslice_free(slices);
		refused += !whole;
	}
	CHECK(refused > 2000 && refused < 18000);
	tt_str_deinit(&text);
}

/* Files that are much larger than what is looked at: the same as texts in memory. */
TEST(windows_do_not_show)
{
	const char *path = test_path("window.json");
	struct tt_str text = {0};
	int long_ones = 0, refused = 0;

	for (int i = 0; i < 3000; i++) {
		struct tt_jsonslice *file, *memory;
		char before[300] = "";
		bool same;

		tt_str_clear(&text);
		make_value(&text, 6);
		if (i % 3 == 0)
			text.data[pick((unsigned)text.length)] = "[]{},:\"\\ 0a"[pick(11)];
		long_ones += text.length > 500;
		CHECK_OK(tt_file_save(path, text.data, text.length));
		CHECK_OK(tt_jsonslice_open(&file, path));
		tt_jsonslice_set_window(file, 1 + 64 * (size_t)pick(6));
		CHECK_OK(tt_jsonslice_text(&memory, text.data, text.length, path));
		same = walk(memory);
		if (!same)
			snprintf(before, sizeof(before), "%s", ttnn_error());
		refused += !same;
		if (walk(file) != same || (!same && strcmp(before, ttnn_error()) != 0))
			TEST_FAIL("%s; in memory: %s: %s", same ? "accepted" : ttnn_error(), before,
				  text.data);
		tt_jsonslice_free(memory);
		tt_jsonslice_free(file);
	}
	CHECK(long_ones > 100);
	CHECK(refused > 100);
	remove(path);
	tt_str_deinit(&text);
}

TEST(fetching_from_a_file_through_windows)
{
	const char *path = test_path("fetch.json");
	struct tt_jsonslice_place places[200];
	struct tt_json_parser parser = {0};
	struct tt_jsonslice *slices;
	struct tt_str text = {0};
	size_t count = 0;

	tt_str_addc(&text, '[');
	for (int i = 0; i < 200; i++)
		tt_str_addf(&text, "%s{\"n\": %d, \"x\": \"%0*d\"}", i ? ", " : "", i,
			    (int)pick(400) + 1, i);
	tt_str_addc(&text, ']');
	CHECK_OK(tt_file_save(path, text.data, text.length));
	CHECK_OK(tt_jsonslice_open(&slices, path));
	tt_jsonslice_set_window(slices, 256);
	tt_jsonslice_next(slices);
	for (tt_jsonslice_enter(slices); tt_jsonslice_next(slices);)
		places[count++] = tt_jsonslice_place(slices);
	CHECK_INT(count, 200);
	for (int i = 0; i < 2000; i++) {
		unsigned which = pick(200);
		const struct tt_json *value;
		int64_t n = -1;

		CHECK_OK(tt_jsonslice_fetch(&value, slices, &parser, &places[which]));
		CHECK(tt_json_int(&n, tt_json_get(value, "n")) && n == which);
	}
	tt_json_parser_deinit(&parser);
	tt_jsonslice_free(slices);
	tt_str_deinit(&text);
	remove(path);
}

/* Byte by byte: the obvious way. */
static size_t slow_close(const char *text, size_t size, size_t at, size_t depth)
{
	bool string = false;

	for (; at < size; at++) {
		char c = text[at];

		if (string && c == '\\')
			at++;
		else if (c == '"')
			string = !string;
		else if (!string && (c == '[' || c == '{'))
			depth++;
		else if (!string && (c == ']' || c == '}') && --depth == 0)
			return at + 1;
	}
	return TT_JSONSCAN_NONE;
}

/* With the scanner, which stops on the way now and then. */
static size_t close_in_pieces(const char *text, size_t size, size_t start, size_t depth)
{
	struct tt_jsonscan scan = {.depth = depth};
	size_t end = TT_JSONSCAN_NONE;

	while (end == TT_JSONSCAN_NONE && start < size) {
		size_t stop = start + TT_JSONSCAN_BLOCK * (size_t)(1 + pick(3));

		stop = stop < size ? stop : size;
		end = tt_jsonscan_close(&scan, text, stop, start);
		start = stop;
	}
	return end;
}

TEST(scanners_of_all_instruction_sets_agree)
{
	/* Outside of strings no backslash makes sense, so none is put there. */
	static const char inside[] = "\\\\\\\"ab[]{}", outside[] = "[]{}[{ab, ";
	enum tt_isa before = tt_cpu_isa();
	char text[500];

	for (int round = 0; round < 20000; round++) {
		size_t size = 1 + pick(sizeof(text) - 1), start = pick((unsigned)size), want;
		bool string = false, escape = false;

		for (size_t i = 0; i < size; i++) {
			text[i] = string                  ? inside[pick(sizeof(inside) - 1)]
				  : pick(8) && i >= start ? outside[pick(sizeof(outside) - 1)]
							  : '"';
			if (i < start)
				text[i] = 'x';
			else if (text[i] == '"' && !escape)
				string = !string;
			escape = string && text[i] == '\\' && !escape;
		}
		want = slow_close(text, size, start, 1 + (size_t)round % 5);
		for (int isa = 0; isa < TT_ISA_COUNT; isa++)
			if (tt_cpu_force_isa((enum tt_isa)isa) &&
			    close_in_pieces(text, size, start, 1 + (size_t)round % 5) != want)
				TEST_FAIL("%s: differs on %.*s", tt_cpu_isa_name((enum tt_isa)isa),
					  (int)(size - start), text + start);
	}
	tt_cpu_force_isa(before);
}

TEST(errors_count_lines_of_the_whole_text)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{"", "t:1:1: unexpected end"},
		{"[1,\n [2,\n  3 4]]", "t:3:5: "},
		{"{\"a\": 1,\n \"b\" 2}", "t:2:6: "},
		{"{\"a\": 1,\n b: 2}", "t:2:2: "},
		{"{\"\\x\": 1}", "t:1:4: invalid escaped"},
		{"[1,\n\n]", "t:3:1: trailing comma"},
		{"[1]\n]", "t:2:1: unexpected content after document"},
		{"[1,", "t:1:4: unexpected end"},
		{"[\"a", "t:1:4: unexpected end"},
		{"[[1, 2}]", "t:1:7: "},
		{"[1 2]", "t:1:4: unexpected character, expected a comma"},
	};
	struct tt_jsonslice *slices;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_OK(tt_jsonslice_text(&slices, rows[i].text, strlen(rows[i].text), "t"));
		if (tt_jsonslice_next(slices))
			for (tt_jsonslice_enter(slices); tt_jsonslice_next(slices);)
				tt_jsonslice_read(slices);
		tt_jsonslice_next(slices);
		CHECK_FAILS(tt_jsonslice_status(slices), TTNN_FORMAT, rows[i].says);
		tt_jsonslice_free(slices);
	}
}

TEST(entering_leaving_and_passing_over)
{
	const char *text =
		"{\"big\": [[1, \"]\"], {\"x\": []}, 3], \"small\": {\"n\": 5}, \"end\": 0}";
	struct tt_jsonslice *slices;
	int64_t n = 0;
	size_t total;

	CHECK_OK(tt_jsonslice_text(&slices, text, strlen(text), "t"));
	CHECK(tt_jsonslice_next(slices) && !tt_jsonslice_key(slices, NULL));
	CHECK_INT(tt_jsonslice_kind(slices), TT_JSON_OBJECT);
	tt_jsonslice_enter(slices);
	CHECK(tt_jsonslice_next(slices));
	CHECK_STR(tt_jsonslice_key(slices, NULL), "big");
	tt_jsonslice_enter(slices);
	CHECK(tt_jsonslice_next(slices) && !tt_jsonslice_key(slices, NULL));
	CHECK_INT(tt_json_count(tt_jsonslice_read(slices)), 2);
	CHECK_INT(tt_json_count(tt_jsonslice_read(slices)), 2); /* as often as one likes */
	tt_jsonslice_leave(slices);
	CHECK(tt_jsonslice_next(slices));
	CHECK_STR(tt_jsonslice_key(slices, NULL), "small");
	CHECK(tt_json_int(&n, tt_json_get(tt_jsonslice_read(slices), "n")) && n == 5);
	CHECK(tt_jsonslice_next(slices));
	CHECK_STR(tt_jsonslice_key(slices, NULL), "end");
	CHECK(!tt_jsonslice_next(slices) && !tt_jsonslice_next(slices));
	CHECK_OK(tt_jsonslice_status(slices));
	CHECK_INT(tt_jsonslice_tell(slices, &total), total);
	tt_jsonslice_free(slices);

	CHECK_OK(tt_jsonslice_text(&slices, "[1]", 3, "t"));
	tt_jsonslice_next(slices);
	tt_jsonslice_enter(slices);
	tt_jsonslice_next(slices);
	tt_jsonslice_enter(slices);
	CHECK_FAILS(tt_jsonslice_status(slices), TTNN_FORMAT, "t:1:2: expected an array");
	CHECK(!tt_jsonslice_next(slices) && !tt_jsonslice_read(slices));
	tt_jsonslice_free(slices);
	tt_jsonslice_free(NULL);
}

TEST(depth_counts_from_the_root)
{
	size_t depth = TT_JSON_DEPTH + 1;
	char *text = calloc(1, 2 * depth + 1);
	struct tt_jsonslice *slices;

	memset(text, '[', depth);
	memset(text + depth, ']', depth);
	for (int cut = 0; cut < 2; cut++) {
		CHECK_OK(tt_jsonslice_text(&slices, text + cut, 2 * (depth - (size_t)cut), "t"));
		for (int i = 0; i < 100 && tt_jsonslice_next(slices); i++)
			tt_jsonslice_enter(slices);
		tt_jsonslice_next(slices);
		tt_jsonslice_read(slices);
		if (cut)
			CHECK_OK(tt_jsonslice_status(slices));
		else
			CHECK_FAILS(tt_jsonslice_status(slices), TTNN_FORMAT, "nested too deep");
		tt_jsonslice_free(slices);
	}
	CHECK_OK(tt_jsonslice_text(&slices, text, 2 * depth, "t"));
	CHECK(!walk(slices));
	tt_jsonslice_free(slices);
	free(text);
}

static long resident_kb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

TEST(memory_stays_small_on_large_files)
{
	const char *path = test_path("large.json");
	struct tt_file_out *file;
	struct tt_jsonslice *slices;
	static char row[1000];
	long before;
	int count = 0;

	memset(row, 'x', sizeof(row));
	CHECK_OK(tt_file_create(&file, path));
	tt_file_write(file, "[", 1);
	for (int i = 0; i < 80000; i++) {
		tt_file_write(file, i ? ",\n\"" : "\"", i ? 3 : 1);
		tt_file_write(file, row, sizeof(row));
		tt_file_write(file, "\"", 1);
	}
	tt_file_write(file, "]", 1);
	CHECK_OK(tt_file_commit(file));
	before = resident_kb();
	CHECK_OK(tt_jsonslice_open(&slices, path));
	tt_jsonslice_next(slices);
	for (tt_jsonslice_enter(slices); tt_jsonslice_next(slices); count++)
		tt_jsonslice_read(slices);
	CHECK_OK(tt_jsonslice_status(slices));
	CHECK_INT(count, 80000);
	tt_jsonslice_free(slices);
	CHECK(resident_kb() - before < 8 << 10); /* of 80 MB */
	remove(path);
}

SCENARIO(slices_survive_exhaustion)
{
	const char *path = test_path("s.json"), *text = "{\"a\": [1, {\"b\\n\": 2}], \"c\": {}}";
	struct tt_jsonslice *slices;
	tt_status status;

	TT_TRY(tt_file_save(path, text, strlen(text)));
	TT_TRY(tt_jsonslice_open(&slices, path));
	walk(slices);
	status = tt_jsonslice_status(slices);
	tt_jsonslice_free(slices);
	return status;
}
