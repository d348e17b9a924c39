#include "report/draft.h"

#include <string.h>

#include "base/fmt.h"
#include "base/jsondump.h"
#include "base/mem.h"
#include "report/pytext.h"

int64_t tt_report_devices_map(void *devices, int64_t raw)
{
	const struct tt_report_devices *known = devices;

	for (size_t i = 0; i < known->rows.count; i++)
		if (known->rows.data[i].raw == raw)
			return (int64_t)i;
	return raw;
}

tt_status tt_report_device_tensors(const struct tt_json **out, struct tt_json_parser *parser,
				   const char *text, size_t length)
{
	struct tt_json_part part = {.name = "device_tensors", .whole = text, .length = length};
	tt_status status;

	*out = NULL;
	if (!text || !length)
		return TTNN_OK;
	status = tt_json_parser_read(out, parser, &part);
	if (status != TTNN_OK || tt_json_kind(*out) != TT_JSON_ARRAY)
		*out = NULL;
	return status == TTNN_FORMAT ? TTNN_OK : status;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static void add_device(struct tt_str *out, struct tt_report_devices *devices,
		       const struct tt_json *value)
{
	int64_t id;

	if (tt_json_kind(value) == TT_JSON_INT && tt_json_int(&id, value))
		tt_str_addi(out, tt_report_devices_map(devices, id));
	else
		tt_json_dump(out, value);
}

/* The text of device_tensors, its ids mapped, as Python writes it again. */
static void add_device_tensors(struct tt_report_drafts *drafts, struct tt_report_devices *devices,
			       const struct tt_json *value)
{
	struct tt_str *inner = &drafts->inner;
	size_t length = 0;
	const char *text = tt_json_string(value, &length), *before = "";
	const struct tt_json *list;
	struct tt_json_iter it;

	if (tt_report_device_tensors(&list, &drafts->parser, text, length) != TTNN_OK)
		drafts->text.failed = true;
	it = tt_json_iter(list);
	if (!list) {
		tt_json_dump(&drafts->text, value);
		return;
	}
	tt_str_clear(inner);
	tt_str_addc(inner, '[');
	while (tt_json_next(&it)) {
		struct tt_json_iter field = tt_json_iter(it.value);
		bool first = true;

		tt_str_adds(inner, before);
		before = ", ";
		if (!field.object) {
			tt_json_dump(inner, it.value);
			continue;
		}
		tt_str_addc(inner, '{');
		for (; tt_json_next(&field); first = false) {
			tt_json_dump_key(inner, field.key, field.key_length, first);
			if (TT_REPORT_IS_KEY(&field, "device_id") ||
			    TT_REPORT_IS_KEY(&field, "mesh_device_id"))
				add_device(inner, devices, field.value);
			else
				tt_json_dump(inner, field.value);
		}
		tt_str_addc(inner, '}');
	}
	tt_str_addc(inner, ']');
	drafts->text.failed |= inner->failed;
	tt_json_dump_text(&drafts->text, tt_str_text(inner), inner->length);
}

void tt_report_draft_params(struct tt_report_drafts *drafts, struct tt_report_devices *devices,
			    const struct tt_json *params)
{
	struct tt_str *out = &drafts->text;
	struct tt_json_iter it = tt_json_iter(params);
	bool first = true;
	int64_t id;

	if (!devices->rows.count || !it.object) {
		tt_json_dump(out, params);
		return;
	}
	tt_str_addc(out, '{');
	for (; tt_json_next(&it); first = false) {
		tt_json_dump_key(out, it.key, it.key_length, first);
		if (TT_REPORT_IS_KEY(&it, "device_tensors"))
			add_device_tensors(drafts, devices, it.value);
		else if (TT_REPORT_IS_KEY(&it, "device_id") &&
			 tt_json_kind(it.value) == TT_JSON_STRING && tt_py_int(&id, it.value))
			tt_str_addi(out, tt_report_devices_map(devices, id));
		else if (TT_REPORT_IS_KEY(&it, "device_id"))
			add_device(out, devices, it.value);
		else
			tt_json_dump(out, it.value);
	}
	tt_str_addc(out, '}');
}

static tt_status add_hole(struct tt_report_drafts *drafts, size_t start, int64_t reference,
			  int32_t index)
{
	struct tt_report_hole *hole = TT_VEC_PUSH(&drafts->holes);

	if (!hole)
		return tt_fail_nomem();
	*hole = (struct tt_report_hole){drafts->text.length - start, reference, 0, index};
	return TTNN_OK;
}

/* A list of references: numbers become holes, anything else is written. */
static tt_status add_references(struct tt_report_drafts *drafts, size_t start,
				const struct tt_json *list, bool connections)
{
	struct tt_str *out = &drafts->text;
	struct tt_json_iter it = tt_json_iter(list);
	int32_t index = 0;
	int64_t reference;

	if (tt_json_kind(list) != TT_JSON_ARRAY) {
		tt_json_dump(out, list);
		return TTNN_OK;
	}
	tt_str_addc(out, '[');
	for (; tt_json_next(&it); index++) {
		if (index)
			tt_str_add(out, ", ", 2);
		if (tt_json_int(&reference, it.value))
			TT_TRY(add_hole(drafts, start, reference,
					connections ? index : TT_REPORT_HOLE_INPUT));
		else
			tt_json_dump(out, it.value);
	}
	tt_str_addc(out, ']');
	return TTNN_OK;
}

static tt_status add_own(struct tt_report_drafts *drafts, size_t start)
{
	return add_hole(drafts, start, 0, TT_REPORT_HOLE_OWN);
}

static tt_status add_members(struct tt_report_draft *draft, struct tt_report_drafts *drafts,
			     struct tt_report_devices *devices, const struct tt_json *node)
{
	bool first = true, has_counter = false, has_id = false;
	struct tt_json_iter it = tt_json_iter(node);
	struct tt_str *out = &drafts->text;

	for (; tt_json_next(&it); first = false) {
		tt_json_dump_key(out, it.key, it.key_length, first);
		if (TT_REPORT_IS_KEY(&it, "counter")) {
			has_counter = true;
			tt_json_int(&draft->counter, it.value);
			TT_TRY(add_own(drafts, draft->text));
		} else if (TT_REPORT_IS_KEY(&it, "id")) {
			has_id = true;
			TT_TRY(add_own(drafts, draft->text));
		} else if (TT_REPORT_IS_KEY(&it, "connections")) {
			TT_TRY(add_references(drafts, draft->text, it.value, true));
		} else if (TT_REPORT_IS_KEY(&it, "input_tensors")) {
			TT_TRY(add_references(drafts, draft->text, it.value, false));
		} else if (TT_REPORT_IS_KEY(&it, "params")) {
			tt_report_draft_params(drafts, devices, it.value);
		} else {
			tt_json_dump(out, it.value);
		}
	}
	if (!has_counter) {
		tt_str_adds(out, first ? "\"counter\": " : ", \"counter\": ");
		TT_TRY(add_own(drafts, draft->text));
	}
	if (has_id)
		return TTNN_OK;
	tt_str_adds(out, ", \"id\": ");
	return add_own(drafts, draft->text);
}

tt_status tt_report_draft_make(struct tt_report_draft *out, struct tt_report_drafts *drafts,
			       struct tt_report_devices *devices, const struct tt_json *node)
{
	*out = (struct tt_report_draft){.text = drafts->text.length, .hole = drafts->holes.count};
	tt_str_add(&drafts->text, ", {", 3);
	TT_TRY(add_members(out, drafts, devices, node));
	tt_str_addc(&drafts->text, '}');
	out->length = drafts->text.length - out->text;
	out->holes = drafts->holes.count - out->hole;
	return tt_str_status(&drafts->text);
}

void tt_report_drafts_clear(struct tt_report_drafts *drafts)
{
	tt_str_clear(&drafts->text);
	drafts->holes.count = 0;
}

void tt_report_drafts_deinit(struct tt_report_drafts *drafts)
{
	tt_str_deinit(&drafts->text);
	tt_str_deinit(&drafts->inner);
	TT_VEC_DEINIT(&drafts->holes);
	tt_json_parser_deinit(&drafts->parser);
}
