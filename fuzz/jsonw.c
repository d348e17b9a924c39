/*
 * Any bytes as a string, and any eight as a number: what is written is JSON, the same in all styles,
 * and numbers read back exactly.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/jsonw.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static void write_string(struct tt_json_doc **out, const uint8_t *data, size_t size, bool utf8)
{
	struct tt_str text = {0};
	struct tt_jsonw w;

	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){.utf8 = utf8});
	tt_jsonw_stringn(&w, (const char *)data, size);
	check(tt_jsonw_finish(&w) == TTNN_OK && tt_str_status(&text) == TTNN_OK);
	check(tt_json_parse(out, text.data, text.length, "written") == TTNN_OK);
	tt_str_deinit(&text);
}

static void check_number(const uint8_t *data)
{
	char text[TT_FMT_MAX];
	double number;
	float small;

	memcpy(&number, data, sizeof(number));
	memcpy(&small, data, sizeof(small));
	check(tt_fmt_double(text, number) == strlen(text));
	check(strtod(text, NULL) == number || isnan(number));
	check(tt_fmt_float(text, small) == strlen(text));
	check(strtof(text, NULL) == small || isnan(small));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tt_json_doc *ascii, *utf8;
	const char *a, *b;
	size_t la, lb;

	write_string(&ascii, data, size, false);
	write_string(&utf8, data, size, true);
	a = tt_json_string(tt_json_root(ascii), &la);
	b = tt_json_string(tt_json_root(utf8), &lb);
	check(la == lb && memcmp(a, b, la) == 0);
	tt_json_free(ascii);
	tt_json_free(utf8);
	if (size >= 8)
		check_number(data);
	return 0;
}
