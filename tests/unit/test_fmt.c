/* numbers as text, against what Python wrote (tests/data/json/make.py) */
#include "test.h"

#include "base/file.h"
#include "base/fmt.h"
#include "base/utf8.h"

TEST(doubles_as_python_writes_them)
{
	size_t size, count = 0;
	char *data, *save = NULL;

	CHECK_OK(tt_file_read(&data, &size, "tests/data/json/doubles.txt.gz"));
	for (char *line = strtok_r(data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		uint64_t bits = strtoull(line, NULL, 16);
		char text[TT_FMT_MAX];
		double number;

		memcpy(&number, &bits, sizeof(number));
		CHECK_INT(tt_fmt_double(text, number), strlen(line + 17));
		CHECK_STR(text, line + 17);
		count++;
	}
	CHECK(count > 18000);
	tt_free(data);
}

/* The fewest digits by trial: the C library's printing and reading share nothing with ours. */
static int fewest_digits(float number)
{
	for (int digits = 1;; digits++) {
		char text[TT_FMT_MAX];

		snprintf(text, sizeof(text), "%.*e", digits - 1, (double)number);
		if (strtof(text, NULL) == number)
			return digits;
	}
}

static int digits_in(const char *text)
{
	size_t zeros = strspn(text, "0."), all = strcspn(text, "e");
	int count = 0;

	while (all > zeros && (text[all - 1] == '0' || text[all - 1] == '.'))
		all--;
	for (size_t i = zeros; i < all; i++)
		count += text[i] != '.';
	return count;
}

TEST(floats_are_shortest_and_read_back)
{
	uint64_t state = 3;
	char text[TT_FMT_MAX];

	for (uint32_t i = 0; i < 255 * 100; i++) {
		uint32_t bits = i / 100 << 23;
		float number;

		bits |= i % 100 == 0   ? 0u
			: i % 100 == 1 ? 0x7fffffu
				       : (uint32_t)(test_random(&state) & 0x7fffff);
		if (!bits)
			continue;
		memcpy(&number, &bits, sizeof(number));
		tt_fmt_float(text, number);
		if (strtof(text, NULL) != number)
			TEST_FAIL("%a becomes %s", (double)number, text);
		/* At powers of two one digit less may do than trial by nearest finds. */
		if (digits_in(text) > fewest_digits(number) ||
		    (i % 100 && digits_in(text) != fewest_digits(number)))
			TEST_FAIL("%s has not the fewest digits", text);
	}
	CHECK_INT(tt_fmt_float(text, 0.1f), 3);
	CHECK_STR(text, "0.1");
	tt_fmt_float(text, -16777216.0f);
	CHECK_STR(text, "-16777216.0");
	tt_fmt_float(text, -INFINITY);
	CHECK_STR(text, "-inf");
	tt_fmt_float(text, -NAN);
	CHECK_STR(text, "nan");
}

TEST(integers)
{
	static const struct {
		int64_t number;
		const char *text;
	} rows[] = {{0, "0"},
		    {9, "9"},
		    {10, "10"},
		    {-1, "-1"},
		    {100, "100"},
		    {12345, "12345"},
		    {INT64_MAX, "9223372036854775807"},
		    {INT64_MIN, "-9223372036854775808"}};
	char text[TT_FMT_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_INT(tt_fmt_i64(text, rows[i].number), strlen(rows[i].text));
		CHECK_STR(text, rows[i].text);
	}
	tt_fmt_u64(text, UINT64_MAX);
	CHECK_STR(text, "18446744073709551615");
}

TEST(every_code_point_survives_utf8)
{
	for (uint32_t code = 0; code <= 0x10ffff; code += code < 0x3000 ? 1 : 17) {
		char text[4];
		size_t length = tt_utf8_put(text, code);
		uint32_t back;

		if (code >= 0xd800 && code < 0xe000)
			continue;
		if (tt_utf8_get(&back, text, length) != length || back != code)
			TEST_FAIL("U+%04x becomes U+%04x", code, back);
		if (length > 1 &&
		    (tt_utf8_get(&back, text, length - 1) != length - 1 || back != TT_UTF8_BAD))
			TEST_FAIL("U+%04x cut off becomes U+%04x", code, back);
	}
}
