/*
 * diagram_calls.c: the call graph. A call is a box that holds the calls it made and chips for the memory
 * it took; a link is a tensor, from the call that gave it last to one that takes it. One that no
 * call gave is a box itself.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "report/diagram.h"
#include "report/diagram_text.h"
#include "trace/same.h"

#define CHIPS_MAX 12
#define LEVELS 8      /* drawn unless the options say otherwise */
#define LEVELS_MAX 60 /* so that walking them may recurse */
#define LARGE 40      /* calls: smaller graphs are drawn in all detail */

/* Which calls a tensor node feeds or comes from: a list for every function node. */
struct use {
	uint32_t tensor; /* node */
	uint32_t next;   /* use + 1 */
};

struct calls {
	struct tt_diagram *diagram;
	const struct tt_graph *graph;
	uint32_t levels;
	bool flow;         /* without memory events and calls that only give back */
	bool large;        /* without boxes for new tensors: their chips tell */
	uint32_t *uses_of; /* of each node: first use + 1 */
	TT_VEC(struct use) uses;
	TT_VEC(uint32_t) open;   /* boxes of calls that have not ended; box 0 at the bottom */
	TT_VEC(uint32_t) starts; /* their nodes, from 1 on */
	struct tt_same
		givers; /* of each tensor: the box that gave it last, plus 1; tensor boxes too */
	uint64_t first_given; /* lowest number of a tensor that a call gave */
	struct tt_arena scratch;
};

static tt_status add_use(struct calls *c, uint32_t function, uint32_t tensor)
{
	struct use *use = TT_VEC_PUSH(&c->uses);

	if (!use)
		return tt_fail_nomem();
	*use = (struct use){tensor, c->uses_of[function]};
	c->uses_of[function] = (uint32_t)c->uses.count;
	return TTNN_OK;
}

/* A call takes the tensors that connect to its start, and gives those its end connects to. */
static tt_status collect_uses(struct calls *c)
{
	const struct tt_graph *graph = c->graph;

	c->uses_of = tt_arena_calloc(&c->scratch, graph->count + 1, sizeof(*c->uses_of));
	if (!c->uses_of)
		return tt_fail_nomem();
	for (size_t i = graph->count; i-- > 0;) {
		const struct tt_graph_node *node = &graph->nodes[i];

		for (uint32_t k = node->connection_count; k-- > 0;) {
			uint32_t to = node->connections[k];
			enum tt_graph_type type = graph->nodes[to].type;

			if (node->type == TT_GRAPH_TENSOR && type == TT_GRAPH_FUNCTION_START)
				TT_TRY(add_use(c, to, (uint32_t)i));
			else if (node->type == TT_GRAPH_FUNCTION_END && type == TT_GRAPH_TENSOR)
				TT_TRY(add_use(c, (uint32_t)i, to));
		}
		for (uint32_t k = node->input_count; k-- > 0;) {
			if (node->type == TT_GRAPH_FUNCTION_START &&
			    graph->nodes[node->inputs[k]].type == TT_GRAPH_TENSOR)
				TT_TRY(add_use(c, (uint32_t)i, node->inputs[k]));
		}
	}
	return TTNN_OK;
}

/* Finds who gave a tensor under another number, if a call did. */
static void find_renamed(struct calls *c, struct tt_map_entry *entry, uint32_t tensor)
{
	const struct tt_map_entry *found = tt_same_renamed(&c->givers, tensor);

	if (found && found->number &&
	    c->diagram->boxes.data[found->number - 1].kind != TT_BOX_TENSOR)
		entry->number = found->number;
}

/*
 * Whether a tensor was made while the graph was captured, by something that is not in it: its number is
 * higher than one that a call gave.
 */
static bool born_inside(const struct calls *c, uint32_t tensor)
{
	uint64_t id;

	return c->open.count > 1 && c->first_given != UINT64_MAX &&
	       tt_graph_number(&id, &c->graph->nodes[tensor], TT_KEY_TENSOR_ID) &&
	       id > c->first_given;
}

static uint32_t top(const struct calls *c)
{
	return c->open.data[c->open.count - 1];
}

/* Takes the inputs of the call that starts at this node. */
static tt_status take_inputs(struct calls *c, uint32_t node, uint32_t box)
{
	struct tt_diagram *diagram = c->diagram;

	for (uint32_t use = c->uses_of[node]; use; use = c->uses.data[use - 1].next) {
		uint32_t tensor = c->uses.data[use - 1].tensor;
		const struct tt_graph_node *about = &c->graph->nodes[tensor];
		struct tt_map_entry *entry = tt_same_find(&c->givers, tensor);
		char *tip = tt_diagram_node_tip(&diagram->arena, c->graph, about);

		if (!entry || !tip)
			return tt_fail_nomem();
		if (!entry->number)
			find_renamed(c, entry, tensor);
		if (!entry->number && born_inside(c, tensor))
			continue;
		if (!entry->number) {
			char *title = tt_diagram_tensor_title(&diagram->arena, about);
			uint32_t made = title ? tt_diagram_box(diagram, TT_BOX_TENSOR, 0, title)
					      : TT_BOX_NONE;

			if (made == TT_BOX_NONE)
				return tt_fail_nomem();
			struct tt_box *tensor_box = &diagram->boxes.data[made];
			/* Just before the outermost call that wants it. */
			tensor_box->time = 2 * (c->starts.count ? c->starts.data[0] : node);
			tensor_box->tip = tip;
			tensor_box->detail = tt_diagram_tensor_text(&diagram->arena, about);
			if (!tensor_box->detail)
				return tt_fail_nomem();
			entry->number = (uint64_t)made + 1;
		}
		TT_TRY(tt_diagram_link(diagram, (uint32_t)(entry->number - 1), box, tip));
	}
	return TTNN_OK;
}

static tt_status start_call(struct calls *c, uint32_t index)
{
	const struct tt_graph_node *node = &c->graph->nodes[index];
	struct tt_diagram *diagram = c->diagram;
	const char *name = tt_graph_string(node, TT_KEY_NAME);
	uint32_t box = top(c);

	enum tt_box_kind kind = tt_diagram_call_kind(name);
	bool merged = (c->large && kind == TT_BOX_CREATE && box) ||
		      (c->flow && kind == TT_BOX_RELEASE) ||
		      diagram->boxes.data[box].kind == TT_BOX_RELEASE;

	/* What is not drawn belongs to the innermost call that is. */
	if (c->open.count <= c->levels && !merged) {
		box = tt_diagram_box(diagram, kind, box, tt_diagram_cut(&diagram->arena, name, 44));
		if (box == TT_BOX_NONE || !diagram->boxes.data[box].title)
			return tt_fail_nomem();
		diagram->boxes.data[box].time = 2 * index + 1;
		TT_TRY(take_inputs(c, index, box));
	} else if (box != 0) {
		TT_TRY(take_inputs(c, index, box));
	}
	uint32_t *slot = TT_VEC_PUSH(&c->open), *start = TT_VEC_PUSH(&c->starts);
	if (!slot || !start)
		return tt_fail_nomem();
	*slot = box;
	*start = index;
	return TTNN_OK;
}

/* The outputs of a call: its detail, and where others find them. */
static tt_status give_outputs(struct calls *c, uint32_t end, uint32_t box)
{
	struct tt_diagram *diagram = c->diagram;
	struct tt_str text = {0};
	int shown = 0;

	for (uint32_t use = c->uses_of[end]; use; use = c->uses.data[use - 1].next) {
		uint32_t tensor = c->uses.data[use - 1].tensor;
		struct tt_map_entry *entry = tt_same_find(&c->givers, tensor);
		char *about = tt_diagram_tensor_text(&diagram->arena, &c->graph->nodes[tensor]);

		if (!entry || !about) {
			tt_str_deinit(&text);
			return tt_fail_nomem();
		}
		entry->number = (uint64_t)box + 1;
		uint64_t id;
		if (tt_graph_number(&id, &c->graph->nodes[tensor], TT_KEY_TENSOR_ID) &&
		    id < c->first_given)
			c->first_given = id;
		if (shown++ < 2 && *about)
			tt_str_addf(&text, "%s%s", text.length ? ", " : "→ ", about);
		else if (shown == 3)
			tt_str_adds(&text, " …");
	}
	struct tt_box *call = &diagram->boxes.data[box];
	tt_status status = tt_str_status(&text);
	/* Of parts that are not drawn the last tells what the call gives. */
	if (text.length) {
		call->detail = tt_arena_strdup(&diagram->arena, tt_str_text(&text));
		status = call->detail ? status : tt_fail_nomem();
	}
	tt_str_deinit(&text);
	return status;
}

static tt_status end_call(struct calls *c, uint32_t index)
{
	struct tt_diagram *diagram = c->diagram;
	const struct tt_graph_node *node = &c->graph->nodes[index];

	if (c->open.count < 2)
		return TTNN_OK; /* an end without a start */
	uint32_t box = top(c), start = c->starts.data[c->starts.count - 1];
	bool own = box != c->open.data[c->open.count - 2];
	TT_TRY(give_outputs(c, index, box));
	if (own) {
		struct tt_box *call = &diagram->boxes.data[box];

		call->failed = tt_graph_flag(node, TT_KEY_ABORTED);
		call->tip = tt_diagram_call_tip(&diagram->arena, c->graph, start, index);
		if (!call->tip)
			return tt_fail_nomem();
		/* A call that gives nothing itself shows what its last part gave. */
		struct tt_box *outer = &diagram->boxes.data[call->parent];
		if (call->detail && call->kind != TT_BOX_RELEASE &&
		    outer->kind == TT_BOX_OPERATION && c->open.count > 2)
			outer->detail = call->detail;
	}
	c->open.count--;
	c->starts.count--;
	return TTNN_OK;
}

/* A call that gives a tensor back says what in its detail. */
static tt_status add_release(struct calls *c, const char *title)
{
	struct tt_box *box = &c->diagram->boxes.data[top(c)];

	box->detail = box->detail
			      ? tt_arena_printf(&c->diagram->arena, "%s, %s", box->detail, title)
			      : title;
	return box->detail ? TTNN_OK : tt_fail_nomem();
}

/* Puts a chip into the open call; one with the same text counts up. */
static tt_status add_chip(struct calls *c, enum tt_box_kind kind, const char *title, uint32_t index)
{
	struct tt_diagram *diagram = c->diagram;
	uint32_t scope = top(c), chips = 0;

	if (!title)
		return tt_fail_nomem();
	if (kind == TT_BOX_FREE && diagram->boxes.data[scope].kind == TT_BOX_RELEASE)
		return add_release(c, title);
	/* Those of this call are the last ones made, but for calls in between. */
	for (size_t i = diagram->boxes.count; i-- > (scope ? scope + 1 : 1) && chips < CHIPS_MAX;) {
		struct tt_box *chip = &diagram->boxes.data[i];

		if (chip->parent != scope || !tt_box_is_chip(chip->kind)) {
			if (diagram->boxes.count - i > 64)
				break; /* far away: a new one, so that this stays fast */
			continue;
		}
		chips++;
		if (chip->kind == kind && strcmp(chip->title, title) == 0) {
			chip->times = chip->times ? chip->times + 1 : 2;
			return TTNN_OK;
		}
		if (chip->kind == TT_BOX_MORE) {
			chip->times++;
			return TTNN_OK;
		}
	}
	if (chips == CHIPS_MAX)
		kind = TT_BOX_MORE;
	uint32_t box = tt_diagram_box(diagram, kind, scope, kind == TT_BOX_MORE ? "… more" : title);
	if (box == TT_BOX_NONE)
		return tt_fail_nomem();
	diagram->boxes.data[box].time = 2 * index + 1;
	diagram->boxes.data[box].tip =
		tt_diagram_node_tip(&diagram->arena, c->graph, &c->graph->nodes[index]);
	return diagram->boxes.data[box].tip ? TTNN_OK : tt_fail_nomem();
}

static tt_status memory_event(struct calls *c, uint32_t index)
{
	const struct tt_graph_node *node = &c->graph->nodes[index];
	struct tt_arena *arena = &c->diagram->arena;
	const char *type = tt_graph_string(node, TT_KEY_TYPE);
	bool dram = strcmp(type, "DRAM") == 0;
	uint64_t size = 0;

	tt_graph_number(&size, node, TT_KEY_SIZE);
	/* Some graphs tell the size with the buffer only. */
	if (!size && node->type == TT_GRAPH_BUFFER_DEALLOCATE && node->connection_count)
		tt_graph_number(&size, &c->graph->nodes[node->connections[0]], TT_KEY_SIZE);
	char bytes[32];
	tt_diagram_bytes(bytes, size);
	switch (node->type) {
	case TT_GRAPH_BUFFER_ALLOCATE:
		return add_chip(c, dram ? TT_BOX_DRAM : TT_BOX_L1,
				tt_arena_printf(arena, "%s %s", dram ? "DRAM" : "L1", bytes),
				index);
	case TT_GRAPH_BUFFER_DEALLOCATE:
		return add_chip(c, TT_BOX_FREE,
				tt_arena_printf(arena, "free %s %s", dram ? "DRAM" : "L1", bytes),
				index);
	case TT_GRAPH_CB_ALLOCATE:
		return add_chip(c, TT_BOX_PROGRAM, tt_arena_printf(arena, "CB %s", bytes), index);
	case TT_GRAPH_DFB_ALLOCATE:
		return add_chip(c, TT_BOX_PROGRAM, tt_arena_printf(arena, "DFB %s", bytes), index);
	case TT_GRAPH_SCRATCHPAD_ALLOCATE:
		return add_chip(c, TT_BOX_PROGRAM, tt_arena_printf(arena, "scratch %s", bytes),
				index);
	case TT_GRAPH_ERROR:
		return add_chip(
			c, TT_BOX_ERROR,
			tt_diagram_cut(arena, tt_graph_string(node, TT_KEY_ERROR_MESSAGE), 60),
			index);
	default:
		return TTNN_OK;
	}
}

static tt_status walk(struct calls *c)
{
	uint32_t *page = TT_VEC_PUSH(&c->open);

	if (!page)
		return tt_fail_nomem();
	*page = 0;
	TT_TRY(tt_same_init(&c->givers, c->graph));
	TT_TRY(collect_uses(c));
	for (uint32_t i = 0; i < c->graph->count; i++) {
		switch (c->graph->nodes[i].type) {
		case TT_GRAPH_FUNCTION_START:
			TT_TRY(start_call(c, i));
			break;
		case TT_GRAPH_FUNCTION_END:
			TT_TRY(end_call(c, i));
			break;
		default:
			if (!c->flow || c->graph->nodes[i].type == TT_GRAPH_ERROR)
				TT_TRY(memory_event(c, i));
			break;
		}
	}
	/* Calls that never ended. */
	for (size_t i = 1; i < c->open.count; i++) {
		struct tt_box *box = &c->diagram->boxes.data[c->open.data[i]];

		box->failed = true;
		box->detail = "did not end";
	}
	return TTNN_OK;
}

/* What the outer box says need not be said again. */
static void drop_repeated_details(struct tt_diagram *diagram)
{
	for (size_t i = diagram->boxes.count; i-- > 1;) {
		struct tt_box *box = &diagram->boxes.data[i];
		const struct tt_box *outer = &diagram->boxes.data[box->parent];

		if (box->kind != TT_BOX_TENSOR && box->detail && outer->detail &&
		    strcmp(box->detail, outer->detail) == 0)
			box->detail = NULL;
	}
}

tt_status tt_diagram_calls(struct tt_diagram *out, const struct tt_graph *graph,
			   const struct tt_diagram_options *options)
{
	struct calls c = {.diagram = out,
			  .graph = graph,
			  .first_given = UINT64_MAX,
			  .flow = options->flow,
			  .levels = options->levels ? options->levels
				    : options->flow ? 1
						    : LEVELS};
	size_t calls = 0;

	for (size_t i = 0; i < graph->count; i++)
		calls += graph->nodes[i].type == TT_GRAPH_FUNCTION_START;
	c.large = calls > LARGE;
	c.levels = c.levels > LEVELS_MAX ? LEVELS_MAX : c.levels;
	tt_status status = graph->count < UINT32_MAX / 2
				   ? walk(&c)
				   : tt_fail(TTNN_UNSUPPORTED, "a graph of %zu nodes is too large",
					     graph->count);

	tt_arena_deinit(&c.scratch);
	tt_same_deinit(&c.givers);
	TT_VEC_DEINIT(&c.uses);
	TT_VEC_DEINIT(&c.open);
	TT_VEC_DEINIT(&c.starts);
	TT_TRY(status);
	drop_repeated_details(out);
	if (!options->no_fold && (options->fold || c.large))
		TT_TRY(tt_diagram_fold(out));
	return TTNN_OK;
}
