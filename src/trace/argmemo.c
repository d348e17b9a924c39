#include "trace/argmemo.h"

#include <string.h>

#include "base/mem.h"
#include "event/value_kinds.h"

/* Bytes that are remembered. */
#define REMEMBERED ((size_t)6 << 20)

/* ---- keys ------------------------------------------------------------------------------------------- */

/* Room for so many bytes of the key; the last word is filled up with zeros. NULL when memory is exhausted. */
static inline void *room(struct tt_argmemo *memo, size_t size)
{
	size_t words = (size + sizeof(uint64_t) - 1) / sizeof(uint64_t);
	uint64_t *to;

	if (memo->key.room - memo->key.count < words && !TT_VEC_RESERVE(&memo->key, words))
		return NULL;
	to = memo->key.data + memo->key.count;
	if (words)
		to[words - 1] = 0;
	memo->key.count += words;
	return to;
}

static bool add_bytes(struct tt_argmemo *memo, const void *bytes, size_t size)
{
	void *to = room(memo, size);

	if (to && size)
		memcpy(to, bytes, size);
	return to;
}

static bool add_two(struct tt_argmemo *memo, uint64_t first, uint64_t second)
{
	uint64_t *to = room(memo, 2 * sizeof(*to));

	if (!to)
		return false;
	to[0] = first;
	to[1] = second;
	return true;
}

static bool add_seen(struct tt_argmemo *memo, const struct tt_event_tensor *tensor,
		     struct tt_argtext_style *style)
{
	uint64_t spec = memo->by_address
				? (uint64_t)(uintptr_t)tensor->spec
				: tt_spectext_number(&style->specs, tensor->spec, style->dialect);

	return spec &&
	       add_two(memo, TTNN_VALUE_SEEN_TENSOR | (uint64_t)tensor->on_device << 8, spec);
}

static bool add_values(struct tt_argmemo *memo, const struct ttnn_value *values, size_t count,
		       struct tt_argtext_style *style);

/* What a value points to, after its kind. */
static bool add_pointed(struct tt_argmemo *memo, uint64_t kind, const void *bytes, size_t size)
{
	return add_two(memo, kind, size) && add_bytes(memo, bytes, size);
}

/* All that the text of a value depends on, for each word of event/value_kinds.h. */
#define ADD(word, expression)                                                                      \
	static inline bool add_##word(struct tt_argmemo *memo, uint64_t kind,                      \
				      const struct ttnn_value *value,                              \
				      struct tt_argtext_style *style)                              \
	{                                                                                          \
		(void)memo;                                                                        \
		(void)kind;                                                                        \
		(void)value;                                                                       \
		(void)style;                                                                       \
		return expression;                                                                 \
	}
#define ADD_STRUCT(word) ADD(word, add_pointed(memo, kind, value->word, sizeof(*value->word)))

/* clang-format off */
ADD(boolean, add_two(memo, kind, value->boolean))
ADD(integer, add_two(memo, kind, (uint64_t)value->integer))
ADD(member, add_two(memo, kind, (uint64_t)(uintptr_t)value->enumeration) &&
	    add_bytes(memo, &value->integer, sizeof(value->integer)))
ADD(text, add_pointed(memo, kind, value->text, strlen(value->text)))
ADD(shape, add_pointed(memo, kind, value->shape->dim,
		       value->shape->rank * sizeof(*value->shape->dim)))
ADD_STRUCT(memory)
ADD_STRUCT(tile)
ADD_STRUCT(shard)
ADD_STRUCT(nd_shard)
ADD(seen_tensor, add_seen(memo, value->seen, style))
ADD(items, add_bytes(memo, &kind, sizeof(kind)) &&
	   add_values(memo, value->items, value->count, style))
ADD(object, add_two(memo, kind, (uint64_t)(uintptr_t)value->schema) &&
	    add_values(memo, value->items, value->schema->count, style))
ADD(alive, false)
/* clang-format on */
/* What a value holds in itself is there as a number. */
#define add_empty add_integer
#define add_real add_integer
#define add_core add_integer
#define add_core_set add_integer
#define add_seen_device add_integer
#define add_tensor add_alive
#define add_device add_alive

/* False: it is alive, or memory is exhausted. */
static bool add_value(struct tt_argmemo *memo, const struct ttnn_value *value,
		      struct tt_argtext_style *style)
{
	uint64_t kind = value->kind | (uint64_t)value->count << 8;

	switch ((enum ttnn_value_kind)value->kind) {
#define ROW(KIND, name, content, alike, text, json)                                                \
	TT_VALUE_CASE(KIND, add_##content(memo, kind, value, style))
		TT_VALUE_KIND_LIST(ROW)
#undef ROW
	case TTNN_VALUE_KINDS:
		break;
	}
	return false;
}

/* Values that point to nothing: what they are is in themselves. */
#define FLAT                                                                                       \
	(1u << TTNN_VALUE_ABSENT | 1u << TTNN_VALUE_NONE | 1u << TTNN_VALUE_INT |                  \
	 1u << TTNN_VALUE_REAL | 1u << TTNN_VALUE_CORE_SET | 1u << TTNN_VALUE_SEEN_DEVICE)

/* Words that those have at most, and members of enumerations: they are written in place. */
#define WORDS 3

static bool add_values(struct tt_argmemo *memo, const struct ttnn_value *values, size_t count,
		       struct tt_argtext_style *style)
{
	for (size_t i = 0; i < count; i++) {
		const struct ttnn_value *value = &values[i];
		bool member = value->kind == TTNN_VALUE_ENUM;
		uint64_t *to;

		if (memo->key.room - memo->key.count < WORDS &&
		    !TT_VEC_RESERVE(&memo->key, WORDS * (count - i)))
			return false;
		if (!member && !(FLAT >> value->kind & 1)) {
			if (!add_value(memo, value, style))
				return false;
			continue;
		}
		to = memo->key.data + memo->key.count;
		to[0] = value->kind | (uint64_t)value->count << 8;
		to[1] = member ? (uint64_t)(uintptr_t)value->enumeration : (uint64_t)value->integer;
		to[2] = (uint64_t)value->integer;
		memo->key.count += member ? 3 : 2;
	}
	return true;
}

/* Whether there is a key, of so many of the arguments. */
static bool make_key(struct tt_argmemo *memo, const struct tt_event_scope_begin *begin,
		     struct tt_argtext_style *style, size_t count)
{
	bool good;

	memo->key.count = 0;
	/* Equal values have other texts where more of them were given: defaults at the end have none. */
	good = add_two(memo, (uint64_t)begin->arg_count << 32 | begin->left_out,
		       (uint64_t)(uintptr_t)begin->schema ^ (uint64_t)begin->kind << 56) &&
	       add_values(memo, begin->args, count, style);
	/* Only device operations have texts of their inputs; there they are as good as arguments. */
	for (size_t i = 0; good && begin->kind == TT_SCOPE_DEVICE_OP && i < begin->input_count; i++)
		good = add_seen(memo, &begin->inputs[i], style);
	return good;
}

/*
 * A key for calls of one chunk: what arguments have in common there is told by where it is. In `brief`; without words if
 * there is none.
 */
static void make_brief(struct tt_argmemo *memo, const struct tt_event_scope_begin *begin,
		       struct tt_argtext_style *style)
{
	const struct tt_args_same *same = &memo->same;
	bool good;

	memo->brief.count = 0;
	if (!same->chunk || same->from > begin->arg_count)
		return;
	memo->by_address = true;
	good = make_key(memo, begin, style, same->from) && add_two(memo, same->chunk, same->from) &&
	       add_two(memo, (uint64_t)(uintptr_t)same->values, 0) &&
	       TT_VEC_RESERVE(&memo->brief, memo->key.count);
	memo->by_address = false;
	if (!good)
		return;
	memcpy(memo->brief.data, memo->key.data, memo->key.count * sizeof(*memo->key.data));
	memo->brief.count = memo->key.count;
}

/* ---- texts ------------------------------------------------------------------------------------------ */

static bool make_texts(struct tt_argmemo_texts *out, struct tt_argmemo *memo,
		       const struct tt_event_scope_begin *begin, struct tt_argtext_style *style)
{
	size_t count = tt_argtext_count(begin);

	out->texts = tt_arena_calloc(&memo->arena, count + 1, sizeof(*out->texts));
	out->count = (uint32_t)count;
	memo->bytes += (count + 1) * sizeof(*out->texts);
	for (size_t i = 0; out->texts && i < count; i++) {
		tt_str_clear(&memo->text);
		tt_argtext(&memo->text, begin, i, style);
		out->texts[i] = memo->text.failed
					? NULL
					: tt_arena_strndup(&memo->arena, tt_str_text(&memo->text),
							   memo->text.length);
		if (!out->texts[i])
			return false;
		memo->bytes += memo->text.length + 1;
	}
	return out->texts;
}

static void forget(struct tt_argmemo *memo)
{
	tt_map_clear(&memo->known);
	tt_arena_reset(&memo->arena);
	memo->bytes = 0;
	memo->before = NULL;
}

/* Texts of the key, if calls come as they came before. */
static struct tt_argmemo_texts *guess(const struct tt_argmemo *memo, size_t size)
{
	struct tt_argmemo_texts *after = memo->before ? memo->before->after : NULL;

	return after && after->size == size && memcmp(after->key, memo->key.data, size) == 0 ? after
											     : NULL;
}

/* The same by the key for this chunk. */
static struct tt_argmemo_texts *guess_brief(struct tt_argmemo *memo)
{
	struct tt_argmemo_texts *after = memo->before ? memo->before->after : NULL;
	size_t words = memo->brief.count;

	if (!words || !after || !after->number || after->brief_words != words ||
	    memcmp(after->brief, memo->brief.data, words * sizeof(*after->brief)) != 0)
		return NULL;
	memo->before = after;
	return after;
}

/* Where memory is short it is looked for in full again. */
static void keep_brief(struct tt_argmemo *memo, struct tt_argmemo_texts *texts)
{
	size_t words = memo->brief.count;

	if (texts->brief_room < words) {
		texts->brief = tt_arena_alloc(&memo->arena, words * sizeof(*texts->brief));
		texts->brief_room = texts->brief ? words : 0;
		memo->bytes += words * sizeof(*texts->brief);
	}
	texts->brief_words = texts->brief ? words : 0;
	if (texts->brief_words)
		memcpy(texts->brief, memo->brief.data, words * sizeof(*texts->brief));
}

/* Those of the key, which there is; new ones have no texts yet. */
static struct tt_argmemo_texts *find(struct tt_argmemo *memo)
{
	size_t size = memo->key.count * sizeof(*memo->key.data);
	struct tt_argmemo_texts *texts = guess(memo, size);
	struct tt_map_entry *entry;

	if (!texts) {
		entry = tt_map_add(&memo->known, memo->key.data, size, NULL);
		if (entry && !entry->pointer) {
			entry->pointer = tt_arena_calloc(&memo->arena, 1, sizeof(*texts));
			memo->bytes += size + 64;
		}
		texts = entry ? entry->pointer : NULL;
		if (texts) {
			texts->key = entry->key;
			texts->size = size;
		}
	}
	if (texts && memo->before)
		memo->before->after = texts;
	if (texts)
		memo->before = texts;
	return texts;
}

const struct tt_argmemo_texts *tt_argmemo_find(struct tt_argmemo *memo,
					       const struct tt_event_scope_begin *begin,
					       struct tt_argtext_style *style)
{
	struct tt_argmemo_texts *texts;

	if (memo->bytes > REMEMBERED)
		forget(memo);
	make_brief(memo, begin, style);
	texts = guess_brief(memo);
	if (texts)
		return texts;
	if (make_key(memo, begin, style, begin->arg_count))
		texts = find(memo);
	else
		texts = tt_arena_calloc(&memo->arena, 1, sizeof(*texts));
	if (texts)
		keep_brief(memo, texts);
	if (!texts || texts->number)
		return texts;
	if (!make_texts(texts, memo, begin, style))
		return NULL;
	texts->number = ++memo->numbers;
	return texts;
}

void tt_argmemo_deinit(struct tt_argmemo *memo)
{
	tt_map_deinit(&memo->known);
	tt_arena_deinit(&memo->arena);
	TT_VEC_DEINIT(&memo->key);
	TT_VEC_DEINIT(&memo->brief);
	tt_str_deinit(&memo->text);
	memset(memo, 0, sizeof(*memo));
}
