/*
 * The nodes of a trace, as trace/stream.h gives them, without JSON between.
 *
 * Nodes that differ in numbers only are of one form. What is made of a node (its JSON value for the walk, its
 * shape for the texts of operations) is made once for each form; then numbers are put in. Nodes ahead are kept
 * until their turn, and of tensors, which later functions may give again, what it takes to add them to another
 * operation.
 */
#include <string.h>

#include "base/fmt.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "report/graph.h"
#include "trace/stream.h"

/* Connections of a node that are kept in memory; bytes of forms that are remembered. */
#define LINKS_MAX 4096
#define FORMS ((size_t)16 << 20)

/* In a key: the param is a number, whichever. */
#define NUMBER ((uint64_t)1 << 32)

/* A number of a form's JSON. */
struct slot {
	const struct tt_json *value;
	uint16_t kind; /* enum slot_kind */
	uint16_t more; /* numbers in its text, of SLOT_PLACES */
};
enum slot_kind {
	SLOT_NUMBER,
	SLOT_TEXT,   /* written as a text */
	SLOT_PLACES, /* those in the text of device_tensors */
};

struct form {
	struct tt_report_shape shape;
	struct tt_report_entry entry; /* of its first node */
	struct tt_json_parser parser;
	const struct tt_json *json, *counter;
	const struct tt_json *id; /* value of the entry: a tensor's id, an address */
	struct slot *slots;
	size_t slot_count;
	size_t value_count;
	int64_t *values;       /* of its first node */
	char (*digits)[24];    /* of SLOT_TEXT */
	char *places;          /* text of SLOT_PLACES as the stream has it */
	struct tt_str written; /* the same with other numbers */
	bool exact;            /* its numbers are not told apart: all nodes of it have these */
	size_t id_value;       /* which of the values `id` is, + 1; 0: none */
	size_t bytes;
};

/* A node that is walked or ahead. */
struct window {
	struct form *form;
	int64_t counter;
	TT_VEC(int64_t) values, connections, inputs;
	uint64_t first, count; /* connections in `links`, if there are too many */
};

/* A tensor's node that was walked. */
struct saved {
	struct form *form;
	int64_t counter;
	uint64_t first; /* in `links`: connections, then values */
	uint64_t connections, values;
};

struct tt_report_graph_trace {
	struct tt_stream *stream;
	uint64_t count;      /* of all nodes */
	struct tt_map forms; /* key -> form */
	TT_VEC(struct form *) all;
	size_t bytes;
	struct tt_str key, text;
	struct tt_report_drafts drafts;
	TT_VEC(int64_t) values;
	struct window **window; /* a ring of `room`, a power of two */
	size_t room, head, held;
	struct tt_spool links; /* int64_t */
	struct tt_spool saved; /* struct saved */
	struct form *kept;     /* of the start of the present operation */
	size_t kept_position;
	uint32_t last_shape;
};

/* ---- forms: keys ---------------------------------------------------------------------------- */

static void add_word(struct tt_str *key, uint64_t word)
{
	char *to = tt_str_room(key, sizeof(word));

	if (!to)
		return;
	memcpy(to, &word, sizeof(word));
	tt_str_end(key, to + sizeof(word));
}

static void add_words(struct tt_str *key, const char *text, size_t length)
{
	add_word(key, length);
	tt_str_add(key, text, length);
}

static tt_status add_value(struct tt_report_graph_trace *trace, int64_t value)
{
	int64_t *to = TT_VEC_PUSH(&trace->values);

	if (!to)
		return tt_fail_nomem();
	*to = value;
	return TTNN_OK;
}

/* Calls add_value() for the numbers in a text, and adds the text between to the key. */
static tt_status add_places(struct tt_report_graph_trace *trace, const char *text, size_t length)
{
	size_t from = 0, start = trace->key.length;
	int64_t number;

	add_word(&trace->key, 0);
	for (size_t i = 0; i < length;) {
		size_t end = i;

		while (end < length && text[end] >= '0' && text[end] <= '9')
			end++;
		if (end == i) {
			i++;
			continue;
		}
		if (tt_report_is_number(&number, text + i, end - i)) {
			tt_str_add(&trace->key, text + from, i - from);
			tt_str_addc(&trace->key, '\1');
			TT_TRY(add_value(trace, number));
			from = end;
		}
		i = end;
	}
	tt_str_add(&trace->key, text + from, length - from);
	if (!trace->key.failed) { /* its length, for what follows */
		uint64_t size = trace->key.length - start;

		memcpy(trace->key.data + start, &size, sizeof(size));
	}
	return TTNN_OK;
}

static bool is_places(const struct tt_report_graph *graph, const struct tt_graph_param *param)
{
	return param->key == TT_KEY_DEVICE_TENSORS && param->kind == TT_GRAPH_STRING &&
	       graph->options.devices->rows.count;
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

/* All of a node but its numbers is its key; those are in trace->values. */
static tt_status make_key(struct tt_report_graph *graph, const struct tt_graph_node *node)
{
	struct tt_report_graph_trace *trace = graph->trace;
	struct tt_str *key = &trace->key;
	int64_t number;

	tt_str_clear(key);
	trace->values.count = 0;
	add_word(key, (uint64_t)node->type | (uint64_t)node->has_duration << 8 |
			      (uint64_t)node->null_params << 9 | (uint64_t)node->bare << 10 |
			      (uint64_t)has_time(node) << 11 |
			      (uint64_t)(uint32_t)node->level << 32);
	if (has_time(node))
		TT_TRY(add_value(trace, (int64_t)node->duration));
	else if (node->has_duration)
		add_word(key, node->duration);
	for (uint32_t i = 0; i < node->param_count; i++) {
		const struct tt_graph_param *param = &node->params[i];
		uint64_t what = (uint64_t)param->key << 8 | param->kind;

		if (is_number(&number, param)) {
			add_word(key, what | NUMBER);
			TT_TRY(add_value(trace, number));
			continue;
		}
		add_word(key, what);
		if (is_places(graph, param)) {
			TT_TRY(add_places(trace, param->text, param->length));
		} else if (param->kind == TT_GRAPH_STRING || param->kind == TT_GRAPH_RAW) {
			add_words(key, param->text, param->length);
		} else {
			add_word(key, param->unsigned_integer);
		}
	}
	add_word(key, node->argument_count);
	for (uint32_t i = 0; i < node->argument_count; i++)
		add_words(key, node->arguments[i], strlen(node->arguments[i]));
	for (uint32_t i = 0; i < node->stack_count; i++)
		add_words(key, node->stack[i], strlen(node->stack[i]));
	if (node->type == TT_GRAPH_OTHER)
		add_words(key, node->type_name, strlen(node->type_name));
	return tt_str_status(key);
}

/* ---- forms: making -------------------------------------------------------------------------- */

static void free_form(struct form *form)
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
	tt_str_deinit(&form->written);
	tt_free(form);
}

/* The JSON of a node without what it refers to. */
static tt_status make_json(struct form *form, struct tt_report_graph_trace *trace,
			   const struct tt_graph_node *node)
{
	struct tt_graph_node alone = *node;
	struct tt_json_part part = {.name = "node"};
	struct tt_jsonw w;

	alone.connection_count = alone.input_count = 0;
	tt_str_clear(&trace->text);
	tt_jsonw_init_str(&w, &trace->text, (struct tt_jsonw_style){.compact = true, .utf8 = true});
	tt_graph_write_node(&w, trace->stream->keys, &alone, NULL);
	TT_TRY(tt_jsonw_finish(&w));
	part.whole = tt_str_text(&trace->text);
	part.length = trace->text.length;
	TT_TRY(tt_json_parser_read(&form->json, &form->parser, &part));
	form->counter = tt_json_get(form->json, "counter");
	form->entry = tt_report_node_entry(form->json);
	return TTNN_OK;
}

static void add_slot(struct form *form, const struct tt_json *value, enum slot_kind kind,
		     size_t more)
{
	form->slots[form->slot_count++] = (struct slot){value, (uint16_t)kind, (uint16_t)more};
}

/* Where in the JSON the numbers of nodes go. Its members are those of the node, in order. */
static tt_status find_slots(struct form *form, struct tt_report_graph *graph,
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
	if (has_time(node))
		add_slot(form, tt_json_get(form->json, "duration_ns"), SLOT_NUMBER, 1);
	for (uint32_t i = 0; i < node->param_count && tt_json_next(&it); i++) {
		const struct tt_graph_param *param = &node->params[i];
		bool named =
			(form->entry.kind == TT_NODE_TENSOR && param->key == TT_KEY_TENSOR_ID) ||
			(form->entry.kind == TT_NODE_ALLOCATE && param->key == TT_KEY_ADDRESS);

		before = at;
		if (is_places(graph, param)) {
			graph->trace->values.count = 0;
			tt_str_clear(&graph->trace->key);
			TT_TRY(add_places(graph->trace, param->text, param->length));
			at += graph->trace->values.count;
			add_slot(form, it.value, SLOT_PLACES, at - before);
			form->places = tt_strdup(param->text);
			if (!form->places)
				return tt_fail_nomem();
		} else if (is_number(&number, param)) {
			add_slot(form, it.value,
				 tt_json_kind(it.value) == TT_JSON_INT ? SLOT_NUMBER : SLOT_TEXT,
				 1);
			form->id_value = named ? at + 1 : form->id_value;
			at++;
		}
	}
	return TTNN_OK;
}

/* Its shape. Should the numbers of the draft be others than those of the node, it is exact. */
static tt_status make_shape(struct form *form, struct tt_report_graph *graph)
{
	struct tt_report_drafts *drafts = &graph->trace->drafts;
	struct tt_report_hole *holes;
	struct tt_report_draft draft;
	const int64_t *number;
	size_t values = 0;
	char *text;

	tt_report_drafts_clear(drafts);
	TT_TRY(tt_report_draft_make(&draft, drafts, graph->options.devices, form->json));
	text = tt_alloc(draft.length + 1);
	holes = tt_calloc(draft.holes + 1, sizeof(*holes));
	form->shape = (struct tt_report_shape){text, draft.length, holes, draft.holes,
					       ++graph->options.captured->shapes.last};
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

static tt_status fill_form(struct form *form, struct tt_report_graph *graph,
			   const struct tt_graph_node *node)
{
	struct tt_report_graph_trace *trace = graph->trace;

	form->value_count = trace->values.count;
	form->values = tt_calloc(form->value_count + 1, sizeof(*form->values));
	if (!form->values)
		return tt_fail_nomem();
	if (form->value_count)
		memcpy(form->values, trace->values.data, form->value_count * sizeof(*form->values));
	form->bytes = 3 * trace->key.length + 1024;
	TT_TRY(make_json(form, trace, node));
	TT_TRY(make_shape(form, graph));
	return find_slots(form, graph, node);
}

static tt_status new_form(struct form **out, struct tt_report_graph *graph,
			  const struct tt_graph_node *node)
{
	struct tt_report_graph_trace *trace = graph->trace;
	struct form *form = tt_calloc(1, sizeof(*form)), **kept;
	tt_status status;

	if (!form)
		return tt_fail_nomem();
	status = fill_form(form, graph, node);
	kept = status == TTNN_OK ? TT_VEC_PUSH(&trace->all) : NULL;
	if (!kept) {
		free_form(form);
		return status == TTNN_OK ? tt_fail_nomem() : status;
	}
	*kept = form;
	trace->bytes += form->bytes;
	*out = form;
	return TTNN_OK;
}

/* The form of a node; its numbers are in trace->values. */
static tt_status find_form(struct form **out, struct tt_report_graph *graph,
			   const struct tt_graph_node *node)
{
	struct tt_report_graph_trace *trace = graph->trace;
	struct tt_map_entry *entry;
	struct form *form;
	bool added;

	TT_TRY(make_key(graph, node));
	entry = tt_map_add(&trace->forms, trace->key.data, trace->key.length, &added);
	if (!entry)
		return tt_fail_nomem();
	form = entry->pointer;
	if (!form) {
		TT_TRY(new_form(&form, graph, node));
		entry->pointer = form;
		TT_TRY(make_key(graph, node)); /* its values */
	} else if (form->exact && memcmp(form->values, trace->values.data,
					 form->value_count * sizeof(*form->values)) != 0) {
		TT_TRY(new_form(&form, graph, node));
		entry->pointer = form; /* neighbours have equal numbers, if any */
		TT_TRY(make_key(graph, node));
	}
	*out = form;
	return TTNN_OK;
}

/* ---- the window ----------------------------------------------------------------------------- */

static struct window *window_at(const struct tt_report_graph_trace *trace, size_t at)
{
	return trace->window[(trace->head + at) & (trace->room - 1)];
}

static tt_status widen(struct tt_report_graph_trace *trace)
{
	size_t room = trace->room ? 2 * trace->room : 16;
	struct window **window = tt_calloc(room, sizeof(*window));

	if (!window)
		return tt_fail_nomem();
	for (size_t i = 0; i < trace->room; i++)
		window[i] = window_at(trace, i);
	tt_free(trace->window);
	trace->window = window;
	trace->head = 0;
	for (size_t i = trace->room; i < room; i++) {
		window[i] = tt_calloc(1, sizeof(**window));
		if (!window[i]) {
			trace->room = i; /* no power of two, but nobody reads on */
			return tt_fail_nomem();
		}
	}
	trace->room = room;
	return TTNN_OK;
}

static tt_status add_link(struct tt_report_graph_trace *trace, int64_t number)
{
	int64_t *to = tt_spool_push(&trace->links);

	if (!to)
		return tt_spool_status(&trace->links);
	*to = number;
	return TTNN_OK;
}

/* The references of a node. Nobody asks for those of the start of all, which leads everywhere. */
static tt_status read_edges(struct tt_report_graph_trace *trace, struct window *to, bool wanted)
{
	int64_t *link;
	uint32_t edge;

	to->connections.count = 0;
	to->count = 0;
	while (wanted && tt_stream_edge(&edge, trace->stream)) {
		if (to->connections.count == LINKS_MAX && !to->count) {
			to->first = trace->links.count;
			for (; to->count < LINKS_MAX; to->count++)
				TT_TRY(add_link(trace, to->connections.data[to->count]));
		}
		if (to->count) {
			TT_TRY(add_link(trace, edge));
			to->count++;
			continue;
		}
		link = TT_VEC_PUSH(&to->connections);
		if (!link)
			return tt_fail_nomem();
		*link = edge;
	}
	return TTNN_OK;
}

static tt_status copy_numbers(struct window *to, const struct tt_report_graph_trace *trace,
			      const struct tt_graph_node *node)
{
	to->values.count = to->inputs.count = 0;
	if (!TT_VEC_RESERVE(&to->values, trace->values.count + 1) ||
	    !TT_VEC_RESERVE(&to->inputs, (size_t)node->input_count + 1))
		return tt_fail_nomem();
	to->values.count = trace->values.count;
	if (to->values.count)
		memcpy(to->values.data, trace->values.data,
		       to->values.count * sizeof(*to->values.data));
	for (uint32_t i = 0; i < node->input_count; i++)
		to->inputs.data[to->inputs.count++] = node->inputs[i];
	return TTNN_OK;
}

/* What is kept of the node behind those seen. */
static tt_status note_entry(struct tt_report_graph *graph, const struct window *at)
{
	struct tt_report_entry *entry = tt_spool_push(&graph->entries);
	const struct form *form = at->form;

	if (!entry)
		return tt_spool_status(&graph->entries);
	*entry = form->entry;
	if (!form->id_value)
		return TTNN_OK;
	entry->value = at->values.data[form->id_value - 1];
	/* An id of a number counts when it is not 0; written as a text it always does. */
	if (form->entry.kind == TT_NODE_TENSOR)
		for (size_t i = 0, k = 0; i < form->slot_count; k += form->slots[i++].more)
			if (k == form->id_value - 1)
				entry->has_value = form->slots[i].kind == SLOT_TEXT || entry->value;
	return TTNN_OK;
}

/* Takes the next node of the stream into the window; none at the end. */
static tt_status pull(struct tt_report_graph *graph)
{
	struct tt_report_graph_trace *trace = graph->trace;
	const struct tt_graph_node *node;
	struct window *to;

	TT_TRY(tt_stream_next(&node, trace->stream));
	if (!node)
		return TTNN_OK;
	if (trace->held == trace->room)
		TT_TRY(widen(trace));
	to = window_at(trace, trace->held);
	TT_TRY(find_form(&to->form, graph, node));
	to->counter = node->counter;
	TT_TRY(copy_numbers(to, trace, node));
	TT_TRY(read_edges(trace, to, node->type != TT_GRAPH_CAPTURE_START));
	trace->held++;
	return note_entry(graph, to);
}

/* A tensor's node leaves the window. */
static tt_status save(struct tt_report_graph *graph, const struct window *from)
{
	struct tt_report_graph_trace *trace = graph->trace;
	struct tt_report_entry *entry;
	struct saved *saved;
	uint64_t first = from->count ? from->first : trace->links.count;
	uint64_t links = from->count ? from->count : from->connections.count;

	/* Those in `links` lie before other nodes' by now: then they are written again. */
	if (from->count && from->first + from->count != trace->links.count) {
		first = trace->links.count;
		for (uint64_t i = 0; i < from->count; i++) {
			const int64_t *link = tt_spool_at(&trace->links, from->first + i);
			int64_t number = link ? *link : 0;

			TT_TRY(link ? add_link(trace, number) : tt_spool_status(&trace->links));
		}
	}
	for (size_t i = 0; !from->count && i < from->connections.count; i++)
		TT_TRY(add_link(trace, from->connections.data[i]));
	for (size_t i = 0; i < from->values.count; i++)
		TT_TRY(add_link(trace, from->values.data[i]));
	saved = trace->saved.count < UINT32_MAX - 1 ? tt_spool_push(&trace->saved) : NULL;
	entry = saved ? tt_spool_change(&graph->entries, graph->next - 1) : NULL;
	if (!entry)
		return trace->saved.status != TTNN_OK ? trace->saved.status : tt_fail_nomem();
	*saved = (struct saved){from->form, from->counter, first, links, from->values.count};
	entry->saved = (uint32_t)trace->saved.count;
	return TTNN_OK;
}

/* ---- the walked node ------------------------------------------------------------------------ */

/* The text of device_tensors with these numbers in the places of its own. */
static tt_status write_places(struct form *form, const int64_t *values)
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
static tt_status put_numbers(struct form *form, const struct window *from)
{
	const int64_t *value = from->values.data;

	tt_json_parser_set_int(form->counter, from->counter);
	for (size_t i = 0; i < form->slot_count; i++) {
		const struct slot *slot = &form->slots[i];

		if (slot->kind == SLOT_NUMBER) {
			tt_json_parser_set_int(slot->value, *value);
		} else if (slot->kind == SLOT_TEXT) {
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

tt_status tt_report_trace_next(struct tt_report_node *out, struct tt_report_graph *graph)
{
	struct tt_report_graph_trace *trace = graph->trace;
	const struct window *front;

	if (graph->next) {
		front = window_at(trace, 0);
		if (front->form->entry.kind == TT_NODE_TENSOR)
			TT_TRY(save(graph, front));
		trace->head = (trace->head + 1) & (trace->room - 1);
		trace->held--;
	}
	if (!trace->held)
		TT_TRY(pull(graph));
	if (!trace->held)
		return TTNN_OK;
	front = window_at(trace, 0);
	TT_TRY(put_numbers(front->form, front));
	*out = (struct tt_report_node){
		.json = front->form->json,
		.position = graph->next++,
		.kind = (enum tt_report_node_kind)front->form->entry.kind,
		.connections = front->connections.data,
		.connection_count = front->connections.count,
		.inputs = front->inputs.data,
		.input_count = front->inputs.count,
	};
	return TTNN_OK;
}

/*
 * Outputs that are new come right behind the end of their function, with buffers that nobody told of before: what
 * is behind another node is none.
 */
tt_status tt_report_trace_see(struct tt_report_graph *graph, uint64_t position)
{
	struct tt_report_graph_trace *trace = graph->trace;

	while (position >= graph->entries.count) {
		const struct window *last = trace->held ? window_at(trace, trace->held - 1) : NULL;
		uint64_t before = graph->entries.count;

		if (trace->held > 1 && last->form->entry.kind != TT_NODE_TENSOR &&
		    last->form->entry.kind != TT_NODE_BUFFER)
			return TTNN_OK;
		TT_TRY(pull(graph));
		if (graph->entries.count == before)
			return TTNN_OK;
	}
	return TTNN_OK;
}

tt_status tt_report_trace_again(const struct tt_json **node, struct tt_report_graph *graph,
				size_t position)
{
	*node = graph->trace->kept && graph->trace->kept_position == position
			? graph->trace->kept->json
			: NULL;
	return TTNN_OK;
}

void tt_report_trace_hold(struct tt_report_graph *graph)
{
	graph->trace->kept = window_at(graph->trace, 0)->form;
	graph->trace->kept_position = graph->next - 1;
}

/* ---- captured nodes ------------------------------------------------------------------------- */

/* The numbers of a node. */
struct numbers {
	const int64_t *connections, *inputs, *values; /* NULL: in `links` */
	uint64_t connection_count, input_count;
	uint64_t first, first_value; /* in `links` */
};

static tt_status keep_number(struct tt_report_graph *graph, const int64_t *list, uint64_t first,
			     uint64_t at)
{
	const int64_t *number = list ? &list[at] : tt_spool_at(&graph->trace->links, first + at);

	if (!number)
		return tt_spool_status(&graph->trace->links);
	return tt_report_captured_number(graph->options.captured, *number);
}

static tt_status keep_list(struct tt_report_graph *graph, const int64_t *list, uint64_t first,
			   uint64_t count)
{
	TT_TRY(tt_report_captured_number(graph->options.captured, (int64_t)count));
	for (uint64_t i = 0; i < count; i++)
		TT_TRY(keep_number(graph, list, first, i));
	return TTNN_OK;
}

static tt_status keep(struct tt_report_graph *graph, const struct form *form, int64_t counter,
		      const struct numbers *n)
{
	struct tt_report_captured *captured = graph->options.captured;
	struct tt_report_captured_node node = {&form->shape, counter,
					       form->entry.kind == TT_NODE_CAPTURE_START ||
						       form->entry.kind == TT_NODE_CAPTURE_END};
	const int64_t *values = form->exact ? form->values : n->values, *number;
	uint64_t value = 0;

	TT_TRY(tt_report_captured_begin(captured, &node));
	for (size_t i = 0; i < form->shape.hole_count; i++) {
		switch ((enum tt_report_hole_kind)form->shape.holes[i].kind) {
		case TT_HOLE_CONNECTIONS:
			TT_TRY(keep_list(graph, n->connections, n->first, n->connection_count));
			break;
		case TT_HOLE_INPUTS:
			TT_TRY(keep_list(graph, n->inputs, 0, n->input_count));
			break;
		case TT_HOLE_VALUE:
			TT_TRY(keep_number(graph, values, n->first_value, value++));
			break;
		case TT_HOLE_DEVICE:
			number = values ? &values[value]
					: tt_spool_at(&graph->trace->links, n->first_value + value);
			if (!number)
				return tt_spool_status(&graph->trace->links);
			value++;
			TT_TRY(tt_report_captured_number(
				captured, tt_report_devices_map(captured->devices, *number)));
			break;
		default:
			break;
		}
	}
	return TTNN_OK;
}

tt_status tt_report_trace_keep(struct tt_report_graph *graph, size_t position)
{
	struct tt_report_graph_trace *trace = graph->trace;
	size_t walked = graph->next - 1;
	struct numbers n = {0};
	struct tt_report_entry entry;
	const struct saved *kept;
	struct saved saved;

	if (position >= walked && position - walked < trace->held) {
		const struct window *at = window_at(trace, position - walked);

		n = (struct numbers){at->count ? NULL : at->connections.data,
				     at->inputs.data,
				     at->values.data,
				     at->count ? at->count : at->connections.count,
				     at->inputs.count,
				     at->first,
				     0};
		return keep(graph, at->form, at->counter, &n);
	}
	TT_TRY(tt_report_graph_at(&entry, NULL, graph, (int64_t)position));
	if (!entry.saved)
		return TTNN_OK;
	kept = tt_spool_at(&trace->saved, entry.saved - 1);
	if (!kept)
		return tt_spool_status(&trace->saved);
	saved = *kept;
	n = (struct numbers){.connection_count = saved.connections,
			     .first = saved.first,
			     .first_value = saved.first + saved.connections};
	return keep(graph, saved.form, saved.counter, &n);
}

/* ---- beginning, end ------------------------------------------------------------------------- */

/* Whether a node ahead is of this form. */
static bool is_ahead(const struct tt_report_graph_trace *trace, const struct form *form)
{
	for (size_t i = 0; i < trace->held; i++)
		if (window_at(trace, i)->form == form)
			return true;
	return false;
}

/* Forms of tensors stay: their nodes may be asked for. Others are made again. */
void tt_report_trace_tidy(struct tt_report_graph *graph)
{
	struct tt_report_graph_trace *trace = graph->trace;
	size_t kept = 0;

	trace->kept = NULL;
	if (trace->bytes < FORMS)
		return;
	tt_map_clear(&trace->forms);
	trace->bytes = 0;
	for (size_t i = 0; i < trace->all.count; i++) {
		struct form *form = trace->all.data[i];

		if (form->entry.kind == TT_NODE_TENSOR || is_ahead(trace, form))
			trace->all.data[kept++] = form;
		else
			free_form(form);
	}
	trace->all.count = kept;
}

uint64_t tt_report_trace_count(const struct tt_report_graph *graph)
{
	return graph->trace->count;
}

tt_status tt_report_trace_init(struct tt_report_graph *graph)
{
	struct tt_report_graph_trace *trace = tt_calloc(1, sizeof(*trace));

	if (!trace)
		return tt_fail_nomem();
	graph->trace = trace;
	trace->stream = graph->source->stream;
	trace->count = tt_stream_facts(trace->stream)->nodes;
	tt_spool_init(&trace->links, sizeof(int64_t), graph->options.directory);
	tt_spool_init(&trace->saved, sizeof(struct saved), graph->options.directory);
	return TTNN_OK;
}

void tt_report_trace_deinit(struct tt_report_graph *graph)
{
	struct tt_report_graph_trace *trace = graph->trace;

	if (!trace)
		return;
	for (size_t i = 0; i < trace->all.count; i++)
		free_form(trace->all.data[i]);
	TT_VEC_DEINIT(&trace->all);
	tt_map_deinit(&trace->forms);
	for (size_t i = 0; i < trace->room; i++) {
		TT_VEC_DEINIT(&trace->window[i]->values);
		TT_VEC_DEINIT(&trace->window[i]->connections);
		TT_VEC_DEINIT(&trace->window[i]->inputs);
		tt_free(trace->window[i]);
	}
	tt_free(trace->window);
	TT_VEC_DEINIT(&trace->values);
	tt_str_deinit(&trace->key);
	tt_str_deinit(&trace->text);
	tt_report_drafts_deinit(&trace->drafts);
	tt_spool_deinit(&trace->links);
	tt_spool_deinit(&trace->saved);
	tt_free(trace);
	graph->trace = NULL;
}
