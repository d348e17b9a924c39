#include "report/forms.h"

#include <string.h>

#include "base/fmt.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "trace/pattern.h"

/* In a key: the param is a number, whichever. */
#define NUMBER ((uint64_t)1 << 32)

/* ---- keys ---------------------------------------------------------------------------- */

/* Room in the key; what has none is told by TT_VEC_RESERVE() when the key is complete. */
static char *key_room(struct tt_report_forms *forms, size_t size)
{
	char *to;

	if (forms->key.room - forms->key.count < size && !TT_VEC_RESERVE(&forms->key, size)) {
		forms->failed = true;
		return NULL;
	}
	to = forms->key.data + forms->key.count;
	forms->key.count += size;
	return to;
}

static void add_text(struct tt_report_forms *forms, const char *text, size_t length)
{
	char *to = key_room(forms, length);

	if (to)
		memcpy(to, text, length);
}

static void add_word(struct tt_report_forms *forms, uint64_t word)
{
	char *to = key_room(forms, sizeof(word));

	if (to)
		memcpy(to, &word, sizeof(word));
}

/* The same where there is room. */
static inline void put_word(struct tt_report_forms *forms, uint64_t word)
{
	memcpy(forms->key.data + forms->key.count, &word, sizeof(word));
	forms->key.count += sizeof(word);
}

static inline void put_words(struct tt_report_forms *forms, const char *text, size_t length)
{
	put_word(forms, length);
	memcpy(forms->key.data + forms->key.count, text, length);
	forms->key.count += length;
}

static void add_words(struct tt_report_forms *forms, const char *text, size_t length)
{
	add_word(forms, length);
	add_text(forms, text, length);
}

static tt_status add_value(struct tt_report_forms *forms, int64_t value)
{
	int64_t *to = TT_VEC_PUSH(&forms->values);

	if (!to)
		return tt_fail_nomem();
	*to = value;
	return TTNN_OK;
}

/* Calls add_value() for the numbers in a text, and adds the text between to the key. */
static tt_status add_places(struct tt_report_forms *forms, const char *text, size_t length)
{
	size_t from = 0, start = forms->key.count;
	int64_t number;

	add_word(forms, 0);
	for (size_t i = 0; i < length;) {
		size_t end = i;

		while (end < length && text[end] >= '0' && text[end] <= '9')
			end++;
		if (end == i) {
			i++;
			continue;
		}
		if (tt_report_is_number(&number, text + i, end - i)) {
			add_text(forms, text + from, i - from);
			add_text(forms, "\1", 1);
			TT_TRY(add_value(forms, number));
			from = end;
		}
		i = end;
	}
	add_text(forms, text + from, length - from);
	if (!forms->failed) { /* its length, for what follows */
		uint64_t size = forms->key.count - start;

		memcpy(forms->key.data + start, &size, sizeof(size));
	}
	return TTNN_OK;
}

static bool is_places(const struct tt_report_forms *forms, const struct tt_graph_param *param)
{
	return param->key == TT_KEY_DEVICE_TENSORS && param->kind == TT_GRAPH_STRING &&
	       forms->devices->rows.count;
}

/* Whether a param is a number that may vary. */
static bool is_number(int64_t *out, const struct tt_graph_param *param)
{
	switch ((enum tt_graph_value)param->kind) {
	case TT_GRAPH_INT:
		*out = param->integer;
		return true;
	case TT_GRAPH_DIGITS:
		*out = (int64_t)param->unsigned_integer;
		return param->unsigned_integer < (uint64_t)1000000000 * 1000000000;
	case TT_GRAPH_STRING:
		return tt_report_is_number(out, param->text, param->length);
	default:
		return false;
	}
}

/* Whether its duration is a number that may vary. */
static bool has_time(const struct tt_graph_node *node)
{
	return node->has_duration && node->duration <= INT64_MAX;
}

/* Room for all of the key but its arguments and stack, and for the values. */
static bool make_room(struct tt_report_forms *forms, const struct tt_graph_node *node)
{
	size_t bytes = (8 + 4 * (size_t)node->param_count) * sizeof(uint64_t);
	size_t values = 1 + (size_t)node->param_count;

	for (uint32_t i = 0; i < node->param_count; i++) {
		const struct tt_graph_param *param = &node->params[i];

		if (param->kind == TT_GRAPH_STRING || param->kind == TT_GRAPH_RAW) {
			bytes += param->length;
			values += is_places(forms, param) ? param->length : 0;
		}
	}
	return (forms->key.room >= bytes || TT_VEC_RESERVE(&forms->key, bytes)) &&
	       (forms->values.room >= values || TT_VEC_RESERVE(&forms->values, values));
}

/*
 * All of a node but its numbers is its key; those are in forms->values. `numbered`: the number of its arguments stands for
 * them, if it has one.
 */
static tt_status make_key(struct tt_report_forms *forms, const struct tt_graph_node *node,
			  bool numbered)
{
	int64_t number;

	forms->key.count = forms->values.count = 0;
	forms->failed = false;
	if (!make_room(forms, node))
		return tt_fail_nomem();
	put_word(forms, (uint64_t)node->type | (uint64_t)node->has_duration << 8 |
				(uint64_t)node->null_params << 9 | (uint64_t)node->bare << 10 |
				(uint64_t)has_time(node) << 11 |
				(uint64_t)(uint32_t)node->level << 32);
	if (has_time(node))
		forms->values.data[forms->values.count++] = (int64_t)node->duration;
	else if (node->has_duration)
		put_word(forms, node->duration);
	for (uint32_t i = 0; i < node->param_count; i++) {
		const struct tt_graph_param *param = &node->params[i];
		uint64_t what = (uint64_t)param->key << 8 | param->kind;

		if (is_number(&number, param)) {
			put_word(forms, what | NUMBER);
			forms->values.data[forms->values.count++] = number;
			continue;
		}
		put_word(forms, what);
		if (is_places(forms, param)) {
			TT_TRY(add_places(forms, param->text, param->length));
		} else if (param->kind == TT_GRAPH_STRING || param->kind == TT_GRAPH_RAW) {
			put_words(forms, param->text, param->length);
		} else {
			put_word(forms, param->unsigned_integer);
		}
	}
	put_word(forms, node->argument_count | (uint64_t)node->thread << 32);
	numbered = numbered && node->arguments_number;
	if (numbered)
		put_word(forms, node->arguments_number);
	for (uint32_t i = 0; !numbered && i < node->argument_count; i++)
		add_words(forms, node->arguments[i], strlen(node->arguments[i]));
	for (uint32_t i = 0; i < node->stack_count; i++)
		add_words(forms, node->stack[i], strlen(node->stack[i]));
	if (node->type == TT_GRAPH_OTHER)
		add_words(forms, node->type_name, strlen(node->type_name));
	return forms->failed ? tt_fail_nomem() : TTNN_OK;
}

/* ---- making -------------------------------------------------------------------------- */

void tt_report_form_free(struct tt_report_form *form)
{
	if (!form)
		return;
	tt_json_parser_deinit(&form->parser);
	tt_free((void *)form->shape.text);
	tt_free((void *)form->shape.holes);
	tt_free(form->slots);
	tt_free(form->values);
	tt_free(form->digits);
	tt_free(form->places);
	tt_free(form->memo);
	tt_str_deinit(&form->written);
	tt_free(form);
}

/* The JSON of a node without what it refers to. */
static tt_status make_json(struct tt_report_form *form, struct tt_report_forms *forms,
			   const struct tt_graph_node *node)
{
	struct tt_graph_node alone = *node;
	struct tt_json_part part = {.name = "node"};
	struct tt_jsonw w;

	alone.connection_count = alone.input_count = 0;
	tt_str_clear(&forms->text);
	tt_jsonw_init_str(&w, &forms->text, (struct tt_jsonw_style){.compact = true, .utf8 = true});
	tt_graph_write_node(&w, forms->keys, &alone, NULL);
	TT_TRY(tt_jsonw_finish(&w));
	part.whole = tt_str_text(&forms->text);
	part.length = forms->text.length;
	TT_TRY(tt_json_parser_read(&form->json, &form->parser, &part));
	form->counter = tt_json_get(form->json, "counter");
	form->entry = tt_report_node_entry(form->json);
	return TTNN_OK;
}

static void add_slot(struct tt_report_form *form, const struct tt_json *value,
		     enum tt_report_slot_kind kind, size_t more)
{
	form->slots[form->slot_count++] =
		(struct tt_report_slot){value, (uint16_t)kind, (uint16_t)more};
}

/* A number of a node: which of the values it is. */
static void note_number(struct tt_report_form *form, const struct tt_graph_param *param, size_t at)
{
	static const uint16_t keys[] = {
#define X(name) [TT_FORM_##name] = TT_KEY_##name,
		TT_REPORT_FORM_NUMBERS(X)
#undef X
	};

	for (int i = 0; i < TT_FORM_NUMBERS; i++)
		if (param->key == keys[i])
			form->at[i] = at + 1;
	if ((form->entry.kind == TT_NODE_TENSOR && param->key == TT_KEY_TENSOR_ID) ||
	    (form->entry.kind == TT_NODE_ALLOCATE && param->key == TT_KEY_ADDRESS)) {
		form->id_value = at + 1;
		form->id_is_text = form->slots[form->slot_count - 1].kind == TT_SLOT_TEXT;
	}
	form->quiet &= param->key != TT_KEY_NAME;
}

/* Where in the JSON the numbers of nodes go. Its members are those of the node, in order. */
static tt_status find_slots(struct tt_report_form *form, struct tt_report_forms *forms,
			    const struct tt_graph_node *node)
{
	const struct tt_json *params = tt_json_get(form->json, "params");
	struct tt_json_iter it = tt_json_iter(params);
	size_t at = has_time(node), before;
	int64_t number;

	form->slots = tt_calloc(node->param_count + 2, sizeof(*form->slots));
	form->digits = tt_calloc(node->param_count + 2, sizeof(*form->digits));
	if (!form->slots || !form->digits)
		return tt_fail_nomem();
	form->timed = has_time(node);
	form->quiet = form->entry.kind == TT_NODE_END;
	if (form->timed)
		add_slot(form, tt_json_get(form->json, "duration_ns"), TT_SLOT_NUMBER, 1);
	for (uint32_t i = 0; i < node->param_count && tt_json_next(&it); i++) {
		const struct tt_graph_param *param = &node->params[i];

		before = at;
		form->quiet &= param->key != TT_KEY_ABORTED;
		if (is_places(forms, param)) {
			forms->values.count = 0;
			forms->key.count = 0;
			TT_TRY(add_places(forms, param->text, param->length));
			at += forms->values.count;
			add_slot(form, it.value, TT_SLOT_PLACES, at - before);
			form->places_at = before;
			form->places_count = at - before;
			form->places = tt_strdup(param->text);
			if (!form->places)
				return tt_fail_nomem();
		} else if (is_number(&number, param)) {
			add_slot(form, it.value,
				 tt_json_kind(it.value) == TT_JSON_INT ? TT_SLOT_NUMBER
								       : TT_SLOT_TEXT,
				 1);
			note_number(form, param, at);
			at++;
		}
	}
	return TTNN_OK;
}

/* Its shape. Should the numbers of the draft be others than those of the node, it is exact. */
static tt_status make_shape(struct tt_report_form *form, struct tt_report_forms *forms)
{
	struct tt_report_drafts *drafts = &forms->drafts;
	struct tt_report_hole *holes;
	struct tt_report_draft draft;
	const int64_t *number;
	size_t values = 0;
	char *text;

	tt_report_drafts_clear(drafts);
	TT_TRY(tt_report_draft_make(&draft, drafts, forms->devices, form->json));
	text = tt_alloc(draft.length + 1);
	holes = tt_calloc(draft.holes + 1, sizeof(*holes));
	form->shape = (struct tt_report_shape){text, draft.length, holes, draft.holes,
					       (uint32_t)1 << 31 | ++forms->last_shape};
	if (!text || !holes)
		return tt_fail_nomem();
	memcpy(text, tt_str_text(&drafts->text), draft.length);
	if (draft.holes)
		memcpy(holes, drafts->holes.data, draft.holes * sizeof(*holes));
	number = drafts->numbers.data;
	for (size_t i = 0; i < draft.holes; i++) {
		if (holes[i].kind == TT_HOLE_OWN)
			continue;
		if (holes[i].kind == TT_HOLE_VALUE || holes[i].kind == TT_HOLE_DEVICE)
			form->exact |=
				values >= form->value_count || form->values[values++] != *number;
		number++; /* lists are empty here: that is their count */
	}
	form->exact |= values != form->value_count;
	return TTNN_OK;
}

static tt_status fill_form(struct tt_report_form *form, struct tt_report_forms *forms,
			   const struct tt_graph_node *node)
{
	form->value_count = forms->values.count;
	form->values = tt_calloc(form->value_count + 1, sizeof(*form->values));
	if (!form->values)
		return tt_fail_nomem();
	if (form->value_count)
		memcpy(form->values, forms->values.data, form->value_count * sizeof(*form->values));
	TT_TRY(make_json(form, forms, node));
	form->bytes = 3 * (forms->key.count + forms->text.length) + 1024;
	TT_TRY(make_shape(form, forms));
	return find_slots(form, forms, node);
}

static tt_status new_form(struct tt_report_form **out, struct tt_report_forms *forms,
			  const struct tt_graph_node *node)
{
	struct tt_report_form *form = tt_calloc(1, sizeof(*form)), **kept;
	tt_status status;

	if (!form)
		return tt_fail_nomem();
	status = fill_form(form, forms, node);
	kept = status == TTNN_OK ? TT_VEC_PUSH(&forms->all) : NULL;
	if (!kept) {
		tt_report_form_free(form);
		return status == TTNN_OK ? tt_fail_nomem() : status;
	}
	*kept = form;
	forms->bytes += form->bytes;
	*out = form;
	return TTNN_OK;
}

/* The form of a key, or NULL. Of exact ones, neighbours have equal numbers, if any. */
static struct tt_report_form *form_of(const struct tt_map_entry *entry,
				      const struct tt_report_forms *forms)
{
	struct tt_report_form *form = entry->pointer;

	if (form && form->exact &&
	    memcmp(form->values, forms->values.data, form->value_count * sizeof(*form->values)) !=
		    0)
		return NULL;
	return form;
}

/* The form that the whole key leads to, made if there is none. */
static tt_status find_whole(struct tt_report_form **out, struct tt_report_forms *forms,
			    const struct tt_graph_node *node)
{
	struct tt_map_entry *entry;

	TT_TRY(make_key(forms, node, false));
	entry = tt_map_add(&forms->map, forms->key.data, forms->key.count, NULL);
	if (!entry)
		return tt_fail_nomem();
	*out = form_of(entry, forms);
	if (*out)
		return TTNN_OK;
	TT_TRY(new_form(out, forms, node));
	entry->pointer = *out;
	return TTNN_OK;
}

/* The form of the short key: numbers of arguments may be given anew, so that the whole key decides. */
static tt_status find_short(struct tt_report_form **out, struct tt_report_forms *forms,
			    const struct tt_graph_node *node)
{
	struct tt_map_entry *entry =
		tt_map_add(&forms->map, forms->key.data, forms->key.count, NULL);
	size_t at;

	if (!entry)
		return tt_fail_nomem();
	*out = form_of(entry, forms);
	if (*out)
		return TTNN_OK;
	at = (size_t)(entry - forms->map.entries);
	TT_TRY(find_whole(out, forms, node));
	entry = &forms->map.entries[at]; /* which may have moved */
	entry->pointer = *out;
	(*out)->key = entry->key;
	(*out)->key_length = entry->length;
	forms->bytes += entry->length + 64;
	return make_key(forms, node, true); /* its values */
}

/* Nodes of a loop follow one another as before: then there is no need to search. */
static struct tt_report_form *guess(const struct tt_report_forms *forms)
{
	struct tt_report_form *form = forms->before ? forms->before->after : NULL;

	if (form && !form->exact && form->key_length == forms->key.count &&
	    memcmp(form->key, forms->key.data, forms->key.count) == 0)
		return form;
	return NULL;
}

/* Whether those are the numbers that its pattern says. */
static bool is_alike(const struct tt_report_forms *forms, const struct tt_graph_node *node)
{
	size_t count = forms->values.count;

	return count == node->number_count &&
	       (!count ||
		memcmp(forms->values.data, node->numbers, count * sizeof(*node->numbers)) == 0);
}

tt_status tt_report_form_find(struct tt_report_form **out, struct tt_report_forms *forms,
			      const struct tt_graph_node *node)
{
	struct tt_report_form *form;

	if (node->pattern && node->pattern->form) {
		*out = forms->before = node->pattern->form;
		forms->numbers = node->numbers;
		forms->number_count = node->number_count;
		return TTNN_OK;
	}
	TT_TRY(make_key(forms, node, true));
	form = guess(forms);
	if (!form)
		TT_TRY(find_short(&form, forms, node));
	if (forms->before)
		forms->before->after = form;
	forms->before = form;
	if (node->pattern && !form->exact && is_alike(forms, node))
		node->pattern->form = form;
	forms->numbers = forms->values.data;
	forms->number_count = forms->values.count;
	*out = form;
	return TTNN_OK;
}

void tt_report_forms_forget(struct tt_report_forms *forms)
{
	tt_map_clear(&forms->map);
	forms->before = NULL;
	forms->bytes = 0;
	forms->all.count = 0;
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* The text of device_tensors with these numbers in the places of its own. */
static tt_status write_places(struct tt_report_form *form, const int64_t *values)
{
	const char *text = form->places;
	size_t length = strlen(text), from = 0;
	int64_t number;

	tt_str_clear(&form->written);
	for (size_t i = 0; i < length;) {
		size_t end = i;

		while (end < length && text[end] >= '0' && text[end] <= '9')
			end++;
		if (end > i && tt_report_is_number(&number, text + i, end - i)) {
			tt_str_add(&form->written, text + from, i - from);
			tt_str_addi(&form->written, *values++);
			from = end;
		}
		i = end > i ? end : i + 1;
	}
	tt_str_add(&form->written, text + from, length - from);
	return tt_str_status(&form->written);
}

/* Puts the numbers of a node into the JSON of its form. */
tt_status tt_report_form_put(struct tt_report_form *form, int64_t counter, const int64_t *values)
{
	const int64_t *value = values;

	tt_json_parser_set_int(form->counter, counter);
	for (size_t i = 0; i < form->slot_count; i++) {
		const struct tt_report_slot *slot = &form->slots[i];

		if (slot->kind == TT_SLOT_NUMBER) {
			tt_json_parser_set_int(slot->value, *value);
		} else if (slot->kind == TT_SLOT_TEXT) {
			size_t length = tt_fmt_i64(form->digits[i], *value);

			form->digits[i][length] = '\0';
			tt_json_parser_set_text(slot->value, form->digits[i], length);
		} else {
			TT_TRY(write_places(form, value));
			tt_json_parser_set_text(slot->value, tt_str_text(&form->written),
						form->written.length);
		}
		value += slot->more;
	}
	return TTNN_OK;
}

struct tt_report_entry tt_report_form_entry(const struct tt_report_form *form,
					    const int64_t *values)
{
	struct tt_report_entry entry = form->entry;

	if (!form->id_value)
		return entry;
	entry.value = values[form->id_value - 1];
	/* An id of a number counts when it is not 0; written as a text it always does. */
	if (entry.kind == TT_NODE_TENSOR)
		entry.has_value = form->id_is_text || entry.value;
	return entry;
}

bool tt_report_form_varies(const struct tt_report_form *form, const struct tt_json *value)
{
	for (size_t i = 0; i < form->slot_count; i++)
		if (form->slots[i].value == value)
			return true;
	return false;
}

void tt_report_forms_deinit(struct tt_report_forms *forms)
{
	TT_VEC_DEINIT(&forms->all);
	tt_map_deinit(&forms->map);
	TT_VEC_DEINIT(&forms->key);
	tt_str_deinit(&forms->text);
	tt_report_drafts_deinit(&forms->drafts);
	TT_VEC_DEINIT(&forms->values);
}
