#include "event/viewer_names.h"

#include <string.h>

#include "event/value_text.h"

#define PASSING_MOST 16384 /* texts of this kind that are kept; later ones are not told */
#define TEXT_MOST 240      /* bytes of an argument: a viewer shows no more */
#define ALL_MOST 4096      /* of all arguments of a call */

static uint64_t number_of(struct tt_map *map, const void *key, size_t size, bool *added)
{
	struct tt_map_entry *entry = tt_map_add(map, key, size, added);

	if (!entry)
		return 0;
	if (*added)
		entry->number = map->count;
	return entry->number;
}

uint64_t tt_viewer_string(struct tt_viewer_names *names, const char *text)
{
	const char **place;
	bool added;
	uint64_t number = number_of(&names->strings, text, strlen(text), &added);

	if (!number || !added)
		return number;
	place = TT_VEC_PUSH(&names->texts);
	if (!place)
		return 0;
	*place = names->strings.entries[number - 1].key;
	return number;
}

const char *tt_viewer_string_of(const struct tt_viewer_names *names, uint64_t number)
{
	return number && number <= names->texts.count ? names->texts.data[number - 1] : NULL;
}

uint64_t tt_viewer_location(struct tt_viewer_names *names, const struct tt_event_zone *zone)
{
	const struct {
		const void *name, *file;
		uint64_t line;
	} key = {zone->name, zone->file, (uint64_t)zone->line << 32 | zone->color};
	struct tt_wire_location *place;
	bool added;
	uint64_t number = number_of(&names->locations, &key, sizeof(key), &added);

	if (!number || !added)
		return number;
	place = TT_VEC_PUSH(&names->places);
	if (!place)
		return 0;
	*place = (struct tt_wire_location){
		.name = tt_viewer_string(names, zone->name),
		.function = tt_viewer_string(names, zone->function ? zone->function : zone->name),
		.file = tt_viewer_string(names, zone->file ? zone->file : ""),
		.line = zone->line,
		.color = zone->color};
	return number;
}

uint64_t tt_viewer_passing(struct tt_viewer_names *names, const char *text)
{
	struct tt_map_entry *entry;
	size_t known = names->texts.count;
	uint64_t number;

	if (names->passing >= PASSING_MOST) {
		entry = tt_map_finds(&names->strings, text);
		return entry ? entry->number : 0;
	}
	number = tt_viewer_string(names, text);
	names->passing += names->texts.count - known;
	return number;
}

static void add_argument(struct tt_str *out, const struct ttnn_value *value)
{
	struct tt_event_tensor tensor;
	size_t from = out->length;

	if (tt_value_seen_tensor(&tensor, value)) {
		tt_value_text_glance(out, &tensor);
		return;
	}
	tt_value_text(out, value);
	tt_value_text_cut(out, from, TEXT_MOST);
}

uint64_t tt_viewer_arguments(struct tt_viewer_names *names,
			     const struct tt_event_scope_begin *begin)
{
	struct tt_str *out = &names->text;
	size_t given = begin->arg_count - begin->left_out;

	tt_str_clear(out);
	for (size_t i = 0; i < given && out->length < ALL_MOST; i++) {
		if (!tt_value_given(&begin->args[i]))
			continue;
		if (out->length)
			tt_str_addc(out, '\n');
		if (begin->schema && i < begin->schema->count && begin->schema->fields[i].name)
			tt_str_adds(out, begin->schema->fields[i].name);
		else
			tt_str_addf(out, "argument %zu", i);
		tt_str_adds(out, ": ");
		add_argument(out, &begin->args[i]);
	}
	if (!out->length || tt_str_status(out) != TTNN_OK)
		return 0;
	return tt_viewer_passing(names, tt_str_text(out));
}
