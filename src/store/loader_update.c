/* loader_update.c: what the guides' tracing plugin does with operations, one by one: cleaning, adding to a master file. */
#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "base/str.h"
#include "store/loader.h"
#include "store/repair.h"

/* Appends the arguments of an operation, repaired. */
static tt_status repaired(struct tt_str *out, const struct tt_json *args)
{
	struct tt_repair repair = {0};
	size_t lost;
	tt_status status = tt_repair_args(out, &lost, &repair, args);

	tt_repair_deinit(&repair);
	return status == TTNN_OK ? tt_str_status(out) : status;
}

static tt_status clean(struct tt_str *out, const struct tt_json *operation)
{
	struct tt_json_iter it = tt_json_iter(operation);
	struct tt_str args = {0};
	tt_status status = TTNN_OK;
	struct tt_jsonw w;

	if (!it.object)
		return tt_fail(TTNN_INVALID,
			       "an operation is {\"operation\", \"arguments\"}, not %s",
			       tt_json_kind_name(operation));
	tt_jsonw_init_str(&w, out, (struct tt_jsonw_style){0});
	tt_jsonw_object(&w);
	while (status == TTNN_OK && tt_json_next(&it)) {
		tt_jsonw_keyn(&w, it.key, it.key_length);
		if (strcmp(it.key, "arguments") != 0) {
			tt_jsonw_value(&w, it.value);
			continue;
		}
		tt_str_clear(&args);
		status = repaired(&args, it.value);
		tt_jsonw_raw(&w, tt_str_text(&args), args.length);
	}
	tt_jsonw_end(&w);
	if (status == TTNN_OK)
		status = tt_jsonw_finish(&w);
	tt_str_deinit(&args);
	return status == TTNN_OK ? tt_str_status(out) : status;
}

enum ttnn_status ttnn_configs_clean(char **out, const char *json, size_t length)
{
	struct tt_json_doc *doc;
	struct tt_str text = {0};
	tt_status status;

	TT_TRY(tt_json_parse(&doc, json, length, "the operation"));
	status = clean(&text, tt_json_root(doc));
	tt_json_free(doc);
	if (status == TTNN_OK)
		return tt_str_take(out, &text);
	tt_str_deinit(&text);
	return status;
}

static tt_status add_operation(size_t *added, struct tt_master *master,
			       const struct tt_json *operation, const char *source)
{
	const struct tt_json *args = tt_json_get(operation, "arguments");
	struct tt_master_call call = {
		.op = tt_json_string(tt_json_get(operation, "operation"), NULL), .source = source};
	struct tt_str text = {0};
	tt_status status;
	bool is_new = false;

	if (!call.op ||
	    (tt_json_kind(args) != TT_JSON_ARRAY && tt_json_kind(args) != TT_JSON_OBJECT))
		return tt_fail(TTNN_INVALID,
			       "an operation is {\"operation\": NAME, \"arguments\": [...]}");
	call.layout = tt_json_kind(args) == TT_JSON_OBJECT ? TT_MASTER_V2 : TT_MASTER_V1;
	status = repaired(&text, args);
	call.args = tt_str_text(&text);
	call.length = text.length;
	if (status == TTNN_OK)
		status = tt_master_add(&is_new, master, &call);
	*added += status == TTNN_OK && is_new;
	tt_str_deinit(&text);
	return status;
}

static tt_status add_all(size_t *added, struct tt_master *master, const struct tt_json *list,
			 const char *source)
{
	struct tt_json_iter it = tt_json_iter(list);

	if (tt_json_kind(list) != TT_JSON_ARRAY)
		return tt_fail(TTNN_INVALID, "operations are a list, not %s",
			       tt_json_kind_name(list));
	while (tt_json_next(&it))
		TT_TRY(add_operation(added, master, it.value, source));
	return TTNN_OK;
}

enum ttnn_status ttnn_configs_update(size_t *added, const char *path, const char *json,
				     size_t length, const char *source)
{
	struct tt_json_doc *doc;
	struct tt_master *master = NULL;
	size_t count = 0;
	tt_status status;

	TT_TRY(tt_json_parse(&doc, json, length, "the operations"));
	status = tt_master_edit(&master, path, TT_MASTER_V1);
	if (status == TTNN_OK)
		status = add_all(&count, master, tt_json_root(doc), source);
	if (status == TTNN_OK)
		status = tt_master_save(master, path, tt_master_layout(master));
	if (status == TTNN_OK)
		*added = count;
	tt_master_free(master);
	tt_json_free(doc);
	return status;
}
