/*
 * diagram_calls.c: the call graph. A call is a box that holds the calls it made and chips for the memory
 * it took; a link is a tensor, from the call that gave it last to one that takes it. One that no call
 * gave is a box itself. Where a tensor is given back is a box too, in its place in time, and links
 * keep it below all calls that use the tensor.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "report/diagram.h"
#include "report/diagram_release.h"
#include "report/diagram_text.h"
#include "trace/same.h"

#define CHIPS_MAX 12
#define LEVELS 8      /* drawn unless the options say otherwise */
#define LEVELS_MAX 60 /* so that walking them may recurse */
#define LARGE 40      /* calls: smaller graphs are drawn in all detail ... */
#define REPEATING 24  /* ... and those not larger than this without folding */
#define NAME_CUT 400  /* no box is as wide */

/* Which calls a tensor node feeds or comes from: a list for every function node. */
struct use {
	uint32_t tensor; /* node */
	uint32_t next;   /* use + 1 */
};

/* A tensor as it is followed through the graph. */
struct followed {
	uint32_t giver; /* box that gave it last, or is it, + 1 */
	uint32_t users; /* the last user + 1 */
	uint32_t taker; /* node of the call that took it last */
	bool released;  /* and not used since */
};

struct user {
	uint32_t box;
	uint32_t next; /* the one before, user + 1 */
};

struct calls {
	struct tt_diagram *diagram;
	const struct tt_graph *graph;
	uint32_t levels;
	bool flow;                      /* without memory events and calls that only give back */
	size_t most;                    /* outermost calls that are drawn; 0: all */
	bool large;                     /* without boxes for new tensors: their chips tell */
	uint32_t *uses_of;              /* of each node: first use + 1 */
	const char **text_of, **tip_of; /* of each tensor's node; NULL: not yet wanted */
	TT_VEC(struct use) uses;
	TT_VEC(struct followed) tensors;
	TT_VEC(struct user) users;
	TT_VEC(uint32_t) open;   /* boxes of calls that have not ended; box 0 at the bottom */
	TT_VEC(uint32_t) starts; /* their nodes, from 1 on */
	struct tt_same same;     /* entries: a tensor's index in tensors + 1 */
	struct tt_map addresses; /* on devices: the tensor that has the memory there; the same */
	uint64_t first_given;    /* lowest number of a tensor that a call gave */
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
	c->text_of = tt_arena_calloc(&c->scratch, graph->count + 1, sizeof(*c->text_of));
	c->tip_of = tt_arena_calloc(&c->scratch, graph->count + 1, sizeof(*c->tip_of));
	if (!c->uses_of || !c->text_of || !c->tip_of)
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

/* The tensor of an entry; NULL when memory is exhausted. */
static struct followed *follow_entry(struct calls *c, struct tt_map_entry *entry)
{
	if (entry && !entry->number) {
		struct followed *made = TT_VEC_PUSH(&c->tensors);

		if (!made)
			return NULL;
		*made = (struct followed){.taker = UINT32_MAX};
		entry->number = c->tensors.count;
	}
	return entry ? &c->tensors.data[entry->number - 1] : NULL;
}

/*
 * A call may have given a tensor under another number. If the call that takes it now has taken that one
 * too, it is another of the same giver.
 */
static struct followed *follow_renamed(struct calls *c, struct tt_map_entry *entry, uint32_t node,
				       uint32_t call)
{
	struct followed *tensor = &c->tensors.data[entry->number - 1];
	const struct tt_map_entry *found = tt_same_renamed(&c->same, node);
	struct followed *before =
		found && found->number ? &c->tensors.data[found->number - 1] : NULL;

	if (!before || !before->giver ||
	    c->diagram->boxes.data[before->giver - 1].kind == TT_BOX_TENSOR)
		return tensor;
	if (before->taker == call) {
		tensor->giver = before->giver;
		return tensor;
	}
	entry->number = found->number;
	return before;
}

/* The tensor of a node that a call takes; NULL when memory is exhausted. */
static struct followed *follow_taken(struct calls *c, uint32_t node, uint32_t call)
{
	struct tt_map_entry *entry = tt_same_find(&c->same, node);
	struct followed *tensor = follow_entry(c, entry);

	if (tensor && !tensor->giver)
		tensor = follow_renamed(c, entry, node, call);
	if (tensor)
		tensor->taker = call;
	return tensor;
}

/* The entry of the tensor that has the memory at a node's address; NULL: the node tells none. */
static struct tt_map_entry *at_address(struct calls *c, uint32_t node)
{
	const struct tt_graph_node *about = &c->graph->nodes[node];
	uint64_t key[3] = {0, tt_diagram_in_l1(about), 0};

	tt_graph_number(&key[2], about, TT_KEY_DEVICE_ID);
	if (!tt_graph_number(&key[0], about, TT_KEY_ADDRESS))
		return NULL;
	return tt_map_add(&c->addresses, key, sizeof(key), NULL);
}

/* A tensor with a buffer of its own has the memory at its address: views have no more than that. */
static void note_address(struct calls *c, const struct followed *tensor, uint32_t node)
{
	struct tt_map_entry *there = c->same.buffer_of[node] ? at_address(c, node) : NULL;

	if (there)
		there->number = (uint64_t)(tensor - c->tensors.data) + 1;
}

/* Makes the texts about a tensor's node, once; the tooltip is for those that calls take. */
static tt_status describe(struct calls *c, uint32_t node, bool taken)
{
	const struct tt_graph_node *about = &c->graph->nodes[node];
	struct tt_arena *arena = &c->diagram->arena;

	if (!c->text_of[node])
		c->text_of[node] = tt_diagram_tensor_text(arena, about);
	if (taken && !c->tip_of[node])
		c->tip_of[node] = tt_diagram_node_tip(arena, c->graph, about);
	return c->text_of[node] && (!taken || c->tip_of[node]) ? TTNN_OK : tt_fail_nomem();
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

/* A box for a tensor that no call gave, just before the outermost call that wants it. */
static tt_status add_tensor(struct calls *c, struct followed *tensor, uint32_t node, uint32_t call)
{
	struct tt_diagram *diagram = c->diagram;
	char *title = tt_diagram_tensor_title(&diagram->arena, &c->graph->nodes[node]);
	uint32_t made = title ? tt_diagram_box(diagram, TT_BOX_TENSOR, 0, title) : TT_BOX_NONE;

	if (made == TT_BOX_NONE)
		return tt_fail_nomem();
	struct tt_box *box = &diagram->boxes.data[made];
	box->time = 2 * (c->starts.count ? c->starts.data[0] : call);
	box->tip = c->tip_of[node];
	box->detail = c->text_of[node];
	tensor->giver = made + 1;
	return TTNN_OK;
}

/* The box uses the tensor, until it is given back. */
static tt_status add_user(struct calls *c, struct followed *tensor, uint32_t box)
{
	if (tensor->users && c->users.data[tensor->users - 1].box == box)
		return TTNN_OK;
	struct user *user = TT_VEC_PUSH(&c->users);
	if (!user)
		return tt_fail_nomem();
	*user = (struct user){box, tensor->users};
	tensor->users = (uint32_t)c->users.count;
	tensor->released = false;
	return TTNN_OK;
}

/* So does it the memory of the tensor that this is a view of. */
static tt_status use_memory(struct calls *c, const struct followed *tensor, uint32_t node,
			    uint32_t box)
{
	const struct tt_map_entry *there = c->same.buffer_of[node] ? NULL : at_address(c, node);

	note_address(c, tensor, node);
	return there && there->number ? add_user(c, &c->tensors.data[there->number - 1], box)
				      : TTNN_OK;
}

/* The tensor is given back in the box: below its giver and all its users, the last of which is joined. */
static tt_status release_tensor(struct calls *c, struct followed *tensor, uint32_t box)
{
	struct tt_link link = {.to = box,
			       .kind = TT_LINK_LAST_USE,
			       .tensor = (uint32_t)(tensor - c->tensors.data)};

	if (tensor->released)
		return TTNN_OK;
	for (uint32_t user = tensor->users; user; user = c->users.data[user - 1].next) {
		link.from = c->users.data[user - 1].box;
		TT_TRY(tt_diagram_link(c->diagram, &link));
		link.kind = TT_LINK_USE;
	}
	if (tensor->giver) {
		link.from = tensor->giver - 1;
		TT_TRY(tt_diagram_link(c->diagram, &link));
	}
	tensor->users = 0;
	tensor->released = true;
	return TTNN_OK;
}

/* Takes the inputs of the call that starts at this node. */
static tt_status take_inputs(struct calls *c, uint32_t node, uint32_t box)
{
	struct tt_diagram *diagram = c->diagram;
	bool release = diagram->boxes.data[box].kind == TT_BOX_RELEASE;

	for (uint32_t use = c->uses_of[node]; use; use = c->uses.data[use - 1].next) {
		uint32_t input = c->uses.data[use - 1].tensor;
		struct followed *tensor = follow_taken(c, input, node);

		if (!tensor)
			return tt_fail_nomem();
		if (release) {
			TT_TRY(release_tensor(c, tensor, box));
			continue;
		}
		if (!tensor->giver && born_inside(c, input))
			continue;
		TT_TRY(describe(c, input, true));
		if (!tensor->giver)
			TT_TRY(add_tensor(c, tensor, input, node));
		TT_TRY(add_user(c, tensor, box));
		TT_TRY(use_memory(c, tensor, input, box));
		TT_TRY(tt_diagram_link(
			diagram, &(struct tt_link){.from = tensor->giver - 1,
						   .to = box,
						   .kind = TT_LINK_TENSOR,
						   .tensor = (uint32_t)(tensor - c->tensors.data),
						   .text = c->text_of[input],
						   .tip = c->tip_of[input]}));
	}
	return TTNN_OK;
}

/* A box for a call, in the innermost one that is open. */
static uint32_t add_call(struct calls *c, enum tt_box_kind kind, const char *name, uint32_t index)
{
	struct tt_diagram *diagram = c->diagram;
	uint32_t scope = top(c);
	const char *title = tt_diagram_cut(&diagram->arena, name, NAME_CUT);
	uint32_t box = TT_BOX_NONE;

	if (title && kind == TT_BOX_RELEASE)
		box = tt_release_box(diagram, title, scope);
	else if (title)
		box = tt_diagram_box(diagram, kind, scope, title);
	if (box == TT_BOX_NONE)
		return box;
	diagram->boxes.data[box].time = 2 * index + 1;
	diagram->boxes.data[scope].nested = true;
	return box;
}

static tt_status start_call(struct calls *c, uint32_t index)
{
	const struct tt_graph_node *node = &c->graph->nodes[index];
	struct tt_diagram *diagram = c->diagram;
	const char *name = tt_graph_string(node, TT_KEY_NAME);
	uint32_t box = top(c);

	enum tt_box_kind kind = tt_box_kind_of_call(name);
	bool merged = (c->large && kind == TT_BOX_CREATE && box) ||
		      (c->flow && kind == TT_BOX_RELEASE) ||
		      diagram->boxes.data[box].kind == TT_BOX_RELEASE;

	/* What is not drawn belongs to the innermost call that is. */
	if (c->open.count <= c->levels && !merged) {
		box = add_call(c, kind, name, index);
		if (box == TT_BOX_NONE)
			return tt_fail_nomem();
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

/* "→ [1, 32] BFLOAT16, 2 × [1, 64] BFLOAT16": equal ones that follow each other are counted. */
static void add_outputs(struct tt_str *out, const char *about, uint32_t times)
{
	if (!times || !*about)
		return;
	tt_str_adds(out, out->length ? ", " : "→ ");
	if (times > 1)
		tt_str_addf(out, "%u × ", times);
	tt_str_adds(out, about);
}

/* The outputs of a call: its detail, and where others find them. */
static tt_status give_outputs(struct calls *c, uint32_t end, uint32_t box)
{
	struct tt_diagram *diagram = c->diagram;
	struct tt_str text = {0};
	const char *about = "";
	uint32_t times = 0;
	tt_status status = TTNN_OK;

	for (uint32_t use = c->uses_of[end]; use && status == TTNN_OK;
	     use = c->uses.data[use - 1].next) {
		uint32_t output = c->uses.data[use - 1].tensor;
		struct followed *tensor = follow_entry(c, tt_same_find(&c->same, output));
		uint64_t id;

		status = tensor ? describe(c, output, false) : tt_fail_nomem();
		if (status != TTNN_OK)
			break;
		tensor->giver = box + 1;
		tensor->released = false;
		note_address(c, tensor, output);
		if (tt_graph_number(&id, &c->graph->nodes[output], TT_KEY_TENSOR_ID) &&
		    id < c->first_given)
			c->first_given = id;
		if (strcmp(about, c->text_of[output]) != 0) {
			add_outputs(&text, about, times);
			times = 0;
		}
		about = c->text_of[output];
		times++;
	}
	add_outputs(&text, about, times);
	if (status == TTNN_OK)
		status = tt_str_status(&text);
	struct tt_box *call = &diagram->boxes.data[box];
	/* Of parts that are not drawn the last tells what the call gives. */
	if (text.length && call->kind != TT_BOX_RELEASE && status == TTNN_OK) {
		call->detail = tt_diagram_cut(&diagram->arena, tt_str_text(&text), NAME_CUT);
		status = call->detail ? TTNN_OK : tt_fail_nomem();
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

/* Puts a chip into the open call; one with the same text counts up. */
static tt_status add_chip(struct calls *c, enum tt_box_kind kind, const char *title, uint32_t index)
{
	struct tt_diagram *diagram = c->diagram;
	uint32_t scope = top(c), chips = 0;

	if (!title)
		return tt_fail_nomem();
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

/*
 * Memory is freed: by the call that gives it back; in a call that makes no others, as a chip; else in its
 * place between calls.
 */
static tt_status free_memory(struct calls *c, const char *what, uint32_t index)
{
	struct tt_diagram *diagram = c->diagram;
	const struct tt_graph_node *node = &c->graph->nodes[index];
	uint32_t box = top(c);

	if (!what)
		return tt_fail_nomem();
	if (box && !diagram->boxes.data[box].nested &&
	    diagram->boxes.data[box].kind != TT_BOX_RELEASE)
		return add_chip(c, TT_BOX_FREE, tt_arena_printf(&diagram->arena, "free %s", what),
				index);
	if (diagram->boxes.data[box].kind != TT_BOX_RELEASE) {
		char *tip = tt_diagram_node_tip(&diagram->arena, c->graph, node);

		box = tip ? add_call(c, TT_BOX_RELEASE, "", index) : TT_BOX_NONE;
		if (box == TT_BOX_NONE)
			return tt_fail_nomem();
		diagram->boxes.data[box].tip = tip;
	}
	TT_TRY(tt_release_add(diagram, box, what));
	if (!node->connection_count)
		return TTNN_OK;
	struct followed *tensor = follow_entry(c, tt_same_buffer(&c->same, node->connections[0]));
	return tensor ? release_tensor(c, tensor, box) : tt_fail_nomem();
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
		return free_memory(c, tt_arena_printf(arena, "%s %s", dram ? "DRAM" : "L1", bytes),
				   index);
	case TT_GRAPH_CB_ALLOCATE:
		return add_chip(c, TT_BOX_PROGRAM, tt_arena_printf(arena, "CB %s", bytes), index);
	case TT_GRAPH_DFB_ALLOCATE:
		return add_chip(c, TT_BOX_PROGRAM, tt_arena_printf(arena, "DFB %s", bytes), index);
	case TT_GRAPH_SCRATCHPAD_ALLOCATE:
		return add_chip(c, TT_BOX_PROGRAM, tt_arena_printf(arena, "scratch %s", bytes),
				index);
	case TT_GRAPH_ERROR:
		return add_chip(c, TT_BOX_ERROR,
				tt_diagram_cut(arena, tt_graph_string(node, TT_KEY_ERROR_MESSAGE),
					       NAME_CUT),
				index);
	default:
		return TTNN_OK;
	}
}

static tt_status walk(struct calls *c)
{
	uint32_t *page = TT_VEC_PUSH(&c->open);
	size_t calls = 0;

	if (!page)
		return tt_fail_nomem();
	*page = 0;
	TT_TRY(tt_same_init(&c->same, c->graph));
	TT_TRY(collect_uses(c));
	for (uint32_t i = 0; i < c->graph->count; i++) {
		switch (c->graph->nodes[i].type) {
		case TT_GRAPH_FUNCTION_START:
			if (c->open.count == 1 && c->most && calls++ == c->most)
				return TTNN_OK;
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
			  .most = options->calls,
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
	tt_same_deinit(&c.same);
	tt_map_deinit(&c.addresses);
	TT_VEC_DEINIT(&c.uses);
	TT_VEC_DEINIT(&c.tensors);
	TT_VEC_DEINIT(&c.users);
	TT_VEC_DEINIT(&c.open);
	TT_VEC_DEINIT(&c.starts);
	TT_TRY(status);
	drop_repeated_details(out);
	if (!options->no_fold && (options->fold || calls > REPEATING))
		TT_TRY(tt_diagram_fold(out));
	return tt_release_merge(out);
}
