/*
 * JSON in and out: a text that is accepted is written in several styles and read back as the same,
 * and the cursor over slices accepts the same texts and sees the same values.
 */
#include <stdlib.h>

#include "../tests/json_equal.h"
#include "base/jsonw.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static void write_and_read(const struct tt_json *root, struct tt_jsonw_style style)
{
	struct tt_str text = {0};
	struct tt_json_doc *doc;
	struct tt_jsonw w;

	tt_jsonw_init_str(&w, &text, style);
	tt_jsonw_value(&w, root);
	check(tt_jsonw_finish(&w) == TTNN_OK && tt_str_status(&text) == TTNN_OK);
	check(tt_json_parse(&doc, text.data, text.length, "written") == TTNN_OK);
	check(json_equal(root, tt_json_root(doc)));
	tt_json_free(doc);
	tt_str_deinit(&text);
}

/* Without a document to compare with: whether the text is accepted when all of it is read. */
static bool accepted(struct tt_jsonslice *slices)
{
	while (tt_jsonslice_next(slices))
		if (tt_jsonslice_kind(slices) != TT_JSON_ABSENT) {
			tt_jsonslice_enter(slices);
			accepted(slices);
		} else {
			tt_jsonslice_read(slices);
		}
	return tt_jsonslice_status(slices) == TTNN_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct tt_jsonslice *slices;
	struct tt_json_doc *doc = NULL;
	bool good = tt_json_parse(&doc, text, size, "input") == TTNN_OK;

	check(tt_jsonslice_text(&slices, text, size, "input") == TTNN_OK);
	if (!good) {
		check(!accepted(slices));
	} else {
		const struct tt_json *root = tt_json_root(doc);

		check(tt_jsonslice_next(slices) && json_slices_equal(slices, root, 3));
		check(!tt_jsonslice_next(slices) && tt_jsonslice_status(slices) == TTNN_OK);
		write_and_read(root, (struct tt_jsonw_style){0});
		write_and_read(root, (struct tt_jsonw_style){.indent = 2, .utf8 = true});
		write_and_read(root, (struct tt_jsonw_style){.compact = true});
	}
	tt_jsonslice_free(slices);
	tt_json_free(doc);
	return 0;
}
