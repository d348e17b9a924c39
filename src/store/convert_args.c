/* convert_args.c: lists of arguments from layout to layout. */
#include "store/convert_args.h"

#include <stdio.h>
#include <string.h>

#include "store/convert_parts.h"
#include "store/sorted.h"

void tt_convert_deinit(struct tt_convert *convert)
{
	tt_repair_deinit(&convert->repair);
	tt_json_parser_deinit(&convert->parser);
	tt_str_deinit(&convert->text);
}

/* The key of an element that stays unparsed: in its text, else by its position. */
static void put_lost_key(struct tt_jsonw *w, const char *info, size_t position)
{
	char name[32];
	size_t length = strncmp(info, "{\"", 2) == 0 ? strcspn(info + 2, "\"\\") : 0;

	if (length && info[2 + length] == '"') {
		tt_jsonw_keyn(w, info + 2, length);
		return;
	}
	snprintf(name, sizeof(name), "arg%zu", position);
	tt_jsonw_key(w, name);
}

/* [{"argN": VALUE}, ...] as {"argN": VALUE, ...}. */
static tt_status to_v2(struct tt_jsonw *w, struct tt_convert *convert, const struct tt_json *args)
{
	struct tt_json_iter it = tt_json_iter(args);

	tt_jsonw_object(w);
	for (size_t i = 0; tt_json_next(&it); i++) {
		const struct tt_json *element = it.value, *repaired = NULL;
		struct tt_json_iter member;
		size_t length = 0;
		const char *info = tt_repair_unparsed(element, &length);

		if (info)
			TT_TRY(tt_repair_text(&repaired, &convert->repair, info, length));
		if (info && !repaired) {
			put_lost_key(w, info, i);
			tt_jsonw_object(w);
			tt_jsonw_key(w, "error");
			tt_jsonw_value(
				w, tt_json_get(tt_json_get(element, "UnparsedElement"), "error"));
			tt_jsonw_key_string(w, "type", "Unparsed");
			tt_jsonw_key(w, "value");
			tt_jsonw_stringn(w, info, length);
			tt_jsonw_end(w);
			continue;
		}
		member = tt_json_iter(repaired ? repaired : element);
		while (tt_json_next(&member)) {
			tt_jsonw_keyn(w, member.key, member.key_length);
			tt_convert_to_v2(w, member.value);
		}
	}
	tt_jsonw_end(w);
	return TTNN_OK;
}

/* "arg7" is the eighth; others have no place. */
static bool place_of(size_t *out, const char *key, size_t length)
{
	size_t number = 0;

	if (length < 4 || length > 7 || memcmp(key, "arg", 3) != 0)
		return false;
	/* "arg01" is a name of its own, not another "arg1". */
	if (key[3] == '0' && length > 4)
		return false;
	for (size_t i = 3; i < length; i++) {
		if (key[i] < '0' || key[i] > '9')
			return false;
		number = 10 * number + (size_t)(key[i] - '0');
	}
	*out = number;
	return true;
}

static void put_element(struct tt_jsonw *w, const struct tt_json_iter *member)
{
	const char *type = tt_json_string(tt_json_get(member->value, "type"), NULL);

	tt_jsonw_object(w);
	if (type && strcmp(type, "Unparsed") == 0) {
		tt_jsonw_key(w, "UnparsedElement");
		tt_jsonw_object(w);
		tt_jsonw_key(w, "error");
		tt_jsonw_value(w, tt_json_get(member->value, "error"));
		tt_jsonw_key(w, "element_info");
		tt_jsonw_value(w, tt_json_get(member->value, "value"));
		tt_jsonw_end(w);
	} else {
		tt_jsonw_keyn(w, member->key, member->key_length);
		tt_convert_to_v1(w, member->value);
	}
	tt_jsonw_end(w);
}

/* The next member in the order of V1: by position, then those with names of their own as they stand. */
static bool next_by_place(struct tt_json_iter *out, const struct tt_json *args, size_t *place)
{
	size_t best = SIZE_MAX, at;

	for (struct tt_json_iter it = tt_json_iter(args); tt_json_next(&it);)
		if (place_of(&at, it.key, it.key_length) && at >= *place && at < best) {
			best = at;
			*out = it;
		}
	*place = best == SIZE_MAX ? best : best + 1;
	return best != SIZE_MAX;
}

static tt_status to_v1(struct tt_jsonw *w, const struct tt_json *args)
{
	struct tt_json_iter it;
	size_t place = 0, ignored;

	if (tt_json_kind(args) != TT_JSON_OBJECT)
		return tt_fail(TTNN_FORMAT, "arguments of the layout of 2026 are an object, not %s",
			       tt_json_kind_name(args));
	tt_jsonw_array(w);
	while (next_by_place(&it, args, &place))
		put_element(w, &it);
	for (it = tt_json_iter(args); tt_json_next(&it);)
		if (!place_of(&ignored, it.key, it.key_length))
			put_element(w, &it);
	tt_jsonw_end(w);
	return TTNN_OK;
}

/* Between the two layouts of lists. */
static tt_status to_list(struct tt_jsonw *w, struct tt_convert *convert, const struct tt_json *args,
			 enum tt_master_layout to)
{
	struct tt_json_iter it = tt_json_iter(args);

	tt_jsonw_array(w);
	while (tt_json_next(&it)) {
		const struct tt_json *element = it.value, *repaired = NULL;
		struct tt_json_iter member;
		size_t length = 0;
		const char *info = tt_repair_unparsed(element, &length);

		if (info)
			TT_TRY(tt_repair_text(&repaired, &convert->repair, info, length));
		if ((info && !repaired) || tt_json_kind(element) != TT_JSON_OBJECT) {
			tt_jsonw_value(w, element);
			continue;
		}
		tt_jsonw_object(w);
		member = tt_json_iter(repaired ? repaired : element);
		while (tt_json_next(&member)) {
			tt_jsonw_keyn(w, member.key, member.key_length);
			tt_convert_list(w, member.value, to);
		}
		tt_jsonw_end(w);
	}
	tt_jsonw_end(w);
	return TTNN_OK;
}

/* One step, as text. */
static tt_status step(struct tt_str *out, struct tt_convert *convert, const struct tt_json *args,
		      enum tt_master_layout from, enum tt_master_layout to)
{
	struct tt_jsonw w;

	tt_jsonw_init_str(&w, out, (struct tt_jsonw_style){0});
	if (from == TT_MASTER_V2)
		TT_TRY(to_v1(&w, args));
	else if (to == TT_MASTER_V2)
		TT_TRY(to_v2(&w, convert, args));
	else
		TT_TRY(to_list(&w, convert, args, to));
	TT_TRY(tt_jsonw_finish(&w));
	return tt_str_status(out);
}

static tt_status again(const struct tt_json **out, struct tt_convert *convert)
{
	return tt_json_parser_read(out, &convert->parser,
				   &(struct tt_json_part){.name = "arguments",
							  .whole = tt_str_text(&convert->text),
							  .length = convert->text.length});
}

tt_status tt_convert_args(struct tt_str *out, struct tt_convert *convert,
			  const struct tt_json *args, enum tt_master_layout from,
			  enum tt_master_layout to)
{
	bool aside = from == TT_MASTER_V2 && to == TT_MASTER_SEED;

	if (aside || (to == TT_MASTER_V2 && from != to)) {
		tt_str_clear(&convert->text);
		TT_TRY(step(&convert->text, convert, args, from, aside ? TT_MASTER_V1 : to));
		TT_TRY(again(&args, convert));
	}
	if (to == TT_MASTER_V2) {
		tt_sorted_dump(out, args);
		return tt_str_status(out);
	}
	return step(out, convert, args, aside ? TT_MASTER_V1 : from, to);
}
