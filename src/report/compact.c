#include "report/compact.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"

/* Bytes that are remembered, and of a piece; templates of one text before all its numbers vary. */
#define REMEMBERED ((size_t)12 << 20)
#define PIECE ((size_t)256 << 10)
#define VERSIONS 8

/* ---- pieces --------------------------------------------------------------------------------- */

/* Writes what was gathered; `variable` follows, or none if negative. */
static void write_piece(struct tt_report_pieces *pieces, int64_t variable)
{
	struct tt_db_stmt *insert;
	char path[32];
	int length;

	if (pieces->status == TTNN_OK)
		pieces->status = tt_str_status(&pieces->text);
	if (pieces->status == TTNN_OK)
		pieces->status =
			tt_report_insert(&insert, pieces->compact->db, TT_REPORT_GRAPH_PIECES);
	if (pieces->status != TTNN_OK)
		return;
	length = snprintf(path, sizeof(path), "$[%" PRId64 "]", variable);
	tt_db_bind_int(insert, 0, pieces->id);
	tt_db_bind_int(insert, 1, pieces->piece++);
	tt_db_bind_text(insert, 2, tt_str_text(&pieces->text), pieces->text.length);
	tt_db_bind_text(insert, 3, variable < 0 ? NULL : path, (size_t)length);
	pieces->status = tt_db_run(insert);
	tt_str_clear(&pieces->text);
}

void tt_report_pieces_text(struct tt_report_pieces *pieces, const char *text, size_t length)
{
	if (pieces->most && pieces->text.length > pieces->most)
		return;
	if (pieces->counts) {
		pieces->length += length;
		return;
	}
	tt_str_add(&pieces->text, text, length);
	if (pieces->text.length > PIECE && !pieces->most)
		write_piece(pieces, -1);
}

size_t tt_report_pieces_room(const struct tt_report_pieces *pieces)
{
	return pieces->most ? SIZE_MAX : PIECE - pieces->text.length;
}

void tt_report_pieces_number(struct tt_report_pieces *pieces, int64_t number)
{
	const struct tt_report_template *template = pieces->template;
	uint32_t class =
		template ? pieces->compact->classes.data[template->first + pieces->number] : 0;
	char digits[TT_FMT_MAX];

	pieces->number++;
	if (class)
		write_piece(pieces, (int64_t) class - 1);
	else
		tt_report_pieces_text(pieces, digits, tt_fmt_i64(digits, number));
}

static tt_status write_template(struct tt_report_compact *compact, int64_t id,
				const struct tt_report_template *template,
				const struct tt_report_words *words)
{
	struct tt_report_pieces pieces = {.compact = compact, .template = template, .id = id};
	tt_status status = words->write(words->context, &pieces);

	write_piece(&pieces, -1);
	tt_str_deinit(&pieces.text);
	return status == TTNN_OK ? pieces.status : status;
}

/* ---- templates ------------------------------------------------------------------------------ */

static void forget(struct tt_report_compact *compact)
{
	tt_map_clear(&compact->families);
	tt_map_clear(&compact->lists);
	tt_map_clear(&compact->texts);
	compact->templates.count = compact->classes.count = compact->values.count = 0;
	compact->before = 0;
	compact->remembered = 0;
}

/* Whether the template is the one of this text; its variables, then. */
static bool fits(struct tt_report_compact *compact, const struct tt_report_template *template,
		 const int64_t *numbers)
{
	uint32_t known = 0;

	for (size_t i = 0; i < template->count; i++) {
		uint32_t class = compact->classes.data[template->first + i];

		if (!class) {
			if (numbers[i] != compact->values.data[template->first + i])
				return false;
		} else if (class > known) {
			compact->variables.data[known++] = numbers[i];
		} else if (compact->variables.data[class - 1] != numbers[i]) {
			return false;
		}
	}
	return true;
}

/*
 * The classes of a template that fits both the text of the old one and this: what differs from a number
 * that was always the same varies; numbers that were equal in both are one variable.
 */
static tt_status refine(struct tt_report_compact *compact, struct tt_report_template *template,
			const int64_t *numbers)
{
	bool all = ++template->versions >= VERSIONS;

	template->variables = 0;
	tt_map_clear(&compact->pairs);
	for (size_t i = 0; i < template->count; i++) {
		uint32_t *class = &compact->classes.data[template->first + i];
		int64_t value = compact->values.data[template->first + i];
		int64_t key[] = {*class, *class ? 0 : value, numbers[i], all ? (int64_t)i : 0};
		struct tt_map_entry *pair;
		bool added;

		if (!*class && value == numbers[i] && !all)
			continue;
		pair = tt_map_add(&compact->pairs, key, sizeof(key), &added);
		if (!pair)
			return tt_fail_nomem();
		if (added)
			pair->number = ++template->variables;
		*class = (uint32_t)pair->number;
		compact->variables.data[pair->number - 1] = numbers[i];
	}
	return TTNN_OK;
}

static tt_status new_template(struct tt_report_compact *compact, struct tt_map_entry *family,
			      const struct tt_report_words *words)
{
	struct tt_report_template *template = TT_VEC_PUSH(&compact->templates);
	size_t first = compact->classes.count;

	if (!template || !TT_VEC_RESERVE(&compact->classes, words->count) ||
	    !TT_VEC_RESERVE(&compact->values, words->count))
		return tt_fail_nomem();
	family->number = compact->templates.count - 1;
	*template = (struct tt_report_template){.id = ++compact->last_template,
						.first = first,
						.count = words->count,
						.key = family->key,
						.key_length = words->key_length};
	if (words->count) {
		memset(compact->classes.data + first, 0,
		       words->count * sizeof(*compact->classes.data));
		memcpy(compact->values.data + first, words->numbers,
		       words->count * sizeof(*words->numbers));
	}
	compact->classes.count = compact->values.count = first + words->count;
	compact->remembered += 2 * words->key_length + 12 * words->count + 128;
	return write_template(compact, template->id, template, words);
}

static tt_status list_numbers(struct tt_report_compact *compact, uint32_t count)
{
	struct tt_str *out = &compact->numbers;
	char text[512];
	size_t used = 0;

	tt_str_clear(out);
	for (uint32_t i = 0; i < count; i++) {
		text[used++] = i ? ',' : '[';
		used += tt_fmt_i64(text + used, compact->variables.data[i]);
		if (used > sizeof(text) - TT_FMT_MAX - 2) {
			tt_str_add(out, text, used);
			used = 0;
		}
	}
	if (count)
		text[used++] = ']';
	if (used)
		tt_str_add(out, text, used);
	return tt_str_status(out);
}

/* The template of a text's family, if texts come as they came before; NULL: it is to be looked for. */
static struct tt_report_template *guess(const struct tt_report_compact *compact,
					const struct tt_report_words *words)
{
	struct tt_report_template *found;

	if (!compact->before)
		return NULL;
	found = &compact->templates.data[compact->templates.data[compact->before - 1].after];
	return found->key_length == words->key_length &&
			       memcmp(found->key, words->key, words->key_length) == 0
		       ? found
		       : NULL;
}

/* The next text may be another's. */
static void follow(struct tt_report_compact *compact, const struct tt_report_template *found)
{
	size_t at = (size_t)(found - compact->templates.data);

	if (compact->before)
		compact->templates.data[compact->before - 1].after = at;
	compact->before = at + 1;
}

tt_status tt_report_compact_text(int64_t *template, const struct tt_str **numbers,
				 struct tt_report_compact *compact,
				 const struct tt_report_words *words)
{
	struct tt_report_template *newest;
	struct tt_map_entry *family;
	bool added;

	*numbers = &compact->numbers;
	tt_str_clear(&compact->numbers);
	if (!words->key) {
		*template = ++compact->last_template;
		return write_template(compact, *template, NULL, words);
	}
	if (compact->remembered > REMEMBERED)
		forget(compact);
	compact->variables.count = 0;
	if (!TT_VEC_RESERVE(&compact->variables, words->count + 1))
		return tt_fail_nomem();
	newest = guess(compact, words);
	if (!newest) {
		family = tt_map_add(&compact->families, words->key, words->key_length, &added);
		if (!family)
			return tt_fail_nomem();
		if (added) {
			TT_TRY(new_template(compact, family, words));
			follow(compact, &compact->templates.data[family->number]);
			*template = compact->last_template;
			return TTNN_OK;
		}
		newest = &compact->templates.data[family->number];
	}
	follow(compact, newest);
	if (!fits(compact, newest, words->numbers)) {
		TT_TRY(refine(compact, newest, words->numbers));
		newest->id = ++compact->last_template;
		TT_TRY(write_template(compact, newest->id, newest, words));
	}
	*template = newest->id;
	return list_numbers(compact, newest->variables);
}

/* ---- arguments ------------------------------------------------------------------------------ */

void tt_report_compact_begin(struct tt_report_compact *compact)
{
	if (compact->remembered > REMEMBERED)
		forget(compact);
	tt_str_clear(&compact->list);
}

/* The id of a text; new ones are stored. */
static tt_status text_id(int64_t *id, struct tt_report_compact *compact, const char *text,
			 size_t length)
{
	bool added;
	struct tt_map_entry *entry = tt_map_add(&compact->texts, text, length, &added);
	struct tt_db_stmt *insert;

	if (!entry)
		return tt_fail_nomem();
	if (!added) {
		*id = (int64_t)entry->number;
		return TTNN_OK;
	}
	*id = ++compact->last_text;
	entry->number = (uint64_t)*id;
	compact->remembered += length + 64;
	TT_TRY(tt_report_insert(&insert, compact->db, TT_REPORT_ARGUMENT_TEXTS));
	tt_db_bind_int(insert, 0, *id);
	tt_db_bind_text(insert, 1, text, length);
	return tt_db_run(insert);
}

tt_status tt_report_compact_argument(struct tt_report_compact *compact, const char *name,
				     const char *text, size_t length)
{
	int64_t value;

	TT_TRY(text_id(&value, compact, text, length));
	tt_str_add(&compact->list, (const char *)&value, sizeof(value));
	tt_str_add(&compact->list, name, strlen(name) + 1);
	return tt_str_status(&compact->list);
}

tt_status tt_report_compact_arguments(int64_t *id, struct tt_report_compact *compact)
{
	const char *at = tt_str_text(&compact->list), *end = at + compact->list.length;
	struct tt_map_entry *entry;
	struct tt_db_stmt *insert;
	bool added;

	*id = 0;
	if (at == end)
		return TTNN_OK;
	entry = tt_map_add(&compact->lists, at, compact->list.length, &added);
	if (!entry)
		return tt_fail_nomem();
	if (added) {
		entry->number = (uint64_t)++compact->last_list;
		compact->remembered += compact->list.length + 64;
	}
	*id = (int64_t)entry->number;
	TT_TRY(tt_report_insert(&insert, compact->db, TT_REPORT_ARGUMENT_LISTS));
	for (int64_t i = 0; added && at < end; i++) {
		int64_t value;

		memcpy(&value, at, sizeof(value));
		at += sizeof(value);
		tt_db_bind_int(insert, 0, *id);
		tt_db_bind_int(insert, 1, i);
		tt_db_bind_text(insert, 2, at, strlen(at));
		tt_db_bind_int(insert, 3, value);
		TT_TRY(tt_db_run(insert));
		at += strlen(at) + 1;
	}
	return TTNN_OK;
}

void tt_report_compact_deinit(struct tt_report_compact *compact)
{
	tt_map_deinit(&compact->families);
	tt_map_deinit(&compact->lists);
	tt_map_deinit(&compact->texts);
	tt_map_deinit(&compact->pairs);
	TT_VEC_DEINIT(&compact->templates);
	TT_VEC_DEINIT(&compact->classes);
	TT_VEC_DEINIT(&compact->values);
	TT_VEC_DEINIT(&compact->variables);
	tt_str_deinit(&compact->numbers);
	tt_str_deinit(&compact->list);
}
