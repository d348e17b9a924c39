#include "ops/gives.h"

#include <string.h>

static bool begins(const char *text, const char *word)
{
	return strncmp(text, word, strlen(word)) == 0;
}

bool tt_gives_pairs(const char *gives)
{
	return gives && begins(gives + (*gives == '['), "Complex");
}

bool tt_gives_many(const char *gives)
{
	return gives && (*gives == '[' || tt_gives_pairs(gives));
}

/* Results that are made into a tuple, and how far that is. */
struct tuple {
	const struct ttnn_results *results;
	struct ttnn_results_room *room;
	size_t tensors;
};

/* How many words stand in "(int, int)"; 1 without brackets. */
static uint32_t words_of(const char *part)
{
	uint32_t words = 1;

	for (; *part == '(' || (words > 1 && *part != ')'); part++)
		words += *part == ',' || *part == '(';
	return words > 1 ? words - 1 : 1;
}

/* The next part of the tuple; false: it was not asked for. */
static bool take(struct ttnn_value *out, struct tuple *tuple, const char *part)
{
	const struct ttnn_shape *extents = &tuple->results->extents;
	uint32_t words = words_of(part);
	struct ttnn_value *items = tuple->room->numbers;

	if (begins(part + (*part == '('), "int")) {
		if (extents->rank != words)
			return false;
		for (uint32_t i = 0; i < words; i++)
			items[i] = ttnn_v_int(extents->dim[i]);
	} else {
		if (tuple->tensors >= tuple->results->count)
			return false;
		items = &tuple->room->tensors[tuple->tensors];
		tuple->tensors += words;
	}
	*out = *part == '(' ? ttnn_v_list(items, words) : items[0];
	return true;
}

static const char *next_part(const char *part)
{
	if (*part == '(')
		part += strcspn(part, ")");
	part += strcspn(part, ",");
	return *part ? part + strspn(part, ", ") : part;
}

struct ttnn_value tt_gives_value(struct ttnn_results_room *room, const struct ttnn_results *results,
				 const char *gives)
{
	struct tuple tuple = {.results = results, .room = room};
	size_t most = sizeof(room->tensors) / sizeof(room->tensors[0]), count = 0;

	memset(room, 0, sizeof(*room));
	for (size_t i = 0; i < results->count && i < most; i++)
		room->tensors[i] = ttnn_v_tensor(results->tensors[i]);
	if (results->count == 0)
		return ttnn_v_none();
	if (!gives || !strchr(gives, ','))
		return tt_gives_many(gives) || results->count > 1
			       ? ttnn_v_list(room->tensors, results->count)
			       : room->tensors[0];
	most = sizeof(room->parts) / sizeof(room->parts[0]);
	for (const char *part = gives; *part && count < most; part = next_part(part))
		count += take(&room->parts[count], &tuple, part);
	return count == 1 ? room->parts[0] : ttnn_v_list(room->parts, count);
}
