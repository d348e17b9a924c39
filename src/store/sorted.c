/* sorted.c: JSON with sorted keys. */
#include "store/sorted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsondump.h"
#include "base/mem.h"

static int by_key(const void *a, const void *b)
{
	const struct tt_sorted_member *left = a, *right = b;
	size_t length = left->length < right->length ? left->length : right->length;
	int order = memcmp(left->key, right->key, length);

	return order ? order : (left->length > right->length) - (left->length < right->length);
}

/* Mostly they are few, and sorted already. */
static void sort(struct tt_sorted_member *members, size_t count)
{
	if (count > TT_SORTED_FEW) {
		qsort(members, count, sizeof(*members), by_key);
		return;
	}
	for (size_t i = 1; i < count; i++)
		for (size_t j = i; j && by_key(&members[j - 1], &members[j]) > 0; j--) {
			struct tt_sorted_member other = members[j];

			members[j] = members[j - 1];
			members[j - 1] = other;
		}
}

struct tt_sorted_member *tt_sorted_members(struct tt_sorted_member few[TT_SORTED_FEW],
					   const struct tt_json *object)
{
	struct tt_json_iter it = tt_json_iter(object);
	size_t count = 0, all = tt_json_count(object);
	struct tt_sorted_member *members =
		all > TT_SORTED_FEW ? tt_calloc(all, sizeof(*members)) : few;

	while (members && tt_json_next(&it))
		members[count++] = (struct tt_sorted_member){it.key, it.key_length, it.value};
	if (members)
		sort(members, count);
	return members;
}

void tt_sorted_free(struct tt_sorted_member *members, const struct tt_sorted_member *few)
{
	if (members != few)
		tt_free(members);
}

static void dump(struct tt_str *out, const struct tt_json *value, bool lasting);

static bool key_is(const struct tt_sorted_member *member, const char *key)
{
	return member->length == strlen(key) && memcmp(member->key, key, member->length) == 0;
}

static bool is_left_out(const struct tt_sorted_member *member)
{
	return (key_is(member, "hash") && tt_json_kind(member->value) == TT_JSON_INT) ||
	       (key_is(member, "allowed_worker_cores") &&
		tt_json_kind(member->value) == TT_JSON_NULL);
}

/* {"type": "Shape", "value": "Shape([1, 32])"} as [1, 32]. */
static bool dump_shape(struct tt_str *out, const struct tt_json *object)
{
	const char *type = tt_json_string(tt_json_get(object, "type"), NULL);
	size_t length = 0;
	const char *text = tt_json_string(tt_json_get(object, "value"), &length);

	if (!type || strcmp(type, "Shape") != 0 || !text || length < 9 ||
	    memcmp(text, "Shape([", 7) != 0 || memcmp(text + length - 2, "])", 2) != 0 ||
	    strspn(text + 7, "-0123456789, ") != length - 9)
		return false;
	tt_str_add(out, text + 6, length - 7);
	return true;
}

static void dump_member(struct tt_str *out, const struct tt_sorted_member *member, bool lasting)
{
	if (lasting && key_is(member, "shard_spec") && tt_json_kind(member->value) == TT_JSON_NULL)
		tt_str_adds(out, "\"None\"");
	else
		dump(out, member->value, lasting);
}

static void dump_object(struct tt_str *out, const struct tt_json *object, bool lasting)
{
	struct tt_sorted_member few[TT_SORTED_FEW], *members;
	bool first = true;

	if (lasting && dump_shape(out, object))
		return;
	members = tt_sorted_members(few, object);
	if (!members) {
		out->failed = true;
		return;
	}
	tt_str_addc(out, '{');
	for (size_t i = 0; i < tt_json_count(object); i++) {
		if (lasting && is_left_out(&members[i]))
			continue;
		tt_json_dump_key(out, members[i].key, members[i].length, first);
		first = false;
		dump_member(out, &members[i], lasting);
	}
	tt_str_addc(out, '}');
	tt_sorted_free(members, few);
}

/* A text without " at 0x7f12...", where an object was printed that has no text of its own. */
static void dump_text(struct tt_str *out, const struct tt_json *value)
{
	struct tt_str kept = {0};
	size_t length;
	const char *text = tt_json_string(value, &length), *end = text + length, *found;

	while ((found = memmem(text, (size_t)(end - text), " at 0x", 6))) {
		size_t digits = strspn(found + 6, "0123456789abcdefABCDEF");

		tt_str_add(&kept, text, (size_t)(found - text) + (digits ? 0 : 6));
		text = found + 6 + digits;
	}
	tt_str_add(&kept, text, (size_t)(end - text));
	out->failed |= kept.failed;
	tt_json_dump_text(out, tt_str_text(&kept), kept.length);
	tt_str_deinit(&kept);
}

static void dump(struct tt_str *out, const struct tt_json *value, bool lasting)
{
	struct tt_json_iter it = tt_json_iter(value);
	size_t length;
	const char *text;
	double real;

	switch (tt_json_kind(value)) {
	case TT_JSON_OBJECT:
		dump_object(out, value, lasting);
		return;
	case TT_JSON_ARRAY:
		tt_str_addc(out, '[');
		for (bool first = true; tt_json_next(&it); first = false) {
			if (!first)
				tt_str_adds(out, ", ");
			dump(out, it.value, lasting);
		}
		tt_str_addc(out, ']');
		return;
	case TT_JSON_STRING:
		text = tt_json_string(value, &length);
		if (lasting && memmem(text, length, " at 0x", 6)) {
			dump_text(out, value);
			return;
		}
		break;
	case TT_JSON_REAL:
		if (tt_json_real(&real, value) && !isfinite(real)) {
			tt_str_adds(out, isnan(real) ? "\"nan\""
					 : real > 0  ? "\"inf\""
						     : "\"-inf\"");
			return;
		}
		break;
	default:
		break;
	}
	tt_json_dump(out, value);
}

void tt_sorted_dump(struct tt_str *out, const struct tt_json *value)
{
	dump(out, value, false);
}

void tt_sorted_dump_lasting(struct tt_str *out, const struct tt_json *value)
{
	dump(out, value, true);
}

static void add_hardware(struct tt_str *out, const struct tt_json *machine)
{
	const struct tt_json *series = tt_json_get(machine, "device_series"),
			     *cards = tt_json_get(machine, "card_count");

	if (tt_json_kind(series) == TT_JSON_ARRAY)
		series = tt_json_at(series, 0);
	tt_str_addc(out, '[');
	tt_json_dump(out, tt_json_get(machine, "board_type"));
	tt_str_adds(out, ", ");
	tt_json_dump(out, series);
	tt_str_adds(out, ", ");
	if (cards)
		tt_json_dump(out, cards);
	else
		tt_str_addc(out, '1');
	tt_str_addc(out, ']');
}

void tt_sorted_dump_machine(struct tt_str *out, const struct tt_json *machine)
{
	const struct tt_json *mesh = tt_json_get(machine, "mesh_device_shape");

	if (!tt_json_count(machine)) {
		tt_str_adds(out, "\"hardware\": null, \"mesh\": null");
		return;
	}
	tt_str_adds(out, "\"hardware\": ");
	add_hardware(out, machine);
	tt_str_adds(out, ", \"mesh\": {");
	if (!tt_json_count(mesh)) {
		tt_str_adds(out, "\"device_count\": ");
		tt_json_dump(out, tt_json_get(machine, "device_count"));
		tt_str_adds(out, ", ");
	}
	tt_str_adds(out, "\"mesh_shape\": ");
	tt_json_dump(out, tt_json_count(mesh) ? mesh : NULL);
	tt_str_adds(out, ", \"placement_type\": null, \"shard_dim\": null}");
}
