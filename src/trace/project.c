#include "trace/project.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"
#include "trace/argtext.h"
#include "trace/project_parts.h"
#include "trace/source.h"

void tt_project_fail(struct tt_project *p, tt_status status)
{
	if (p->status != TTNN_OK)
		return;
	p->status = status;
	snprintf(p->message, sizeof(p->message), "%s", ttnn_error());
}

tt_status tt_project_status(const struct tt_project *p)
{
	return p->status == TTNN_OK ? TTNN_OK : tt_fail(p->status, "%s", p->message);
}

/* ---- nodes and edges ------------------------------------------------------------------------------- */

void tt_project_connect(struct tt_project *p, uint32_t from, uint32_t to)
{
	tt_status status;

	if (p->options.how != TT_PROJECT_GRAPH) {
		if (p->options.sink && p->options.sink->edge)
			p->options.sink->edge(p->options.context, from, to);
		return;
	}
	status = tt_graph_connect(&p->graph, from, to);
	if (status != TTNN_OK)
		tt_project_fail(p, status);
}

/* The same to a node that was not there before a function, or an allocation, gave it. */
void tt_project_give(struct tt_project *p, uint32_t from, uint32_t to)
{
	tt_project_connect(p, from, to);
	if (p->options.how == TT_PROJECT_EDGES && p->options.sink->made)
		p->options.sink->made(p->options.context, to);
}

static void note_thread(struct tt_project *p, const struct tt_project_thread *t)
{
	if (!t->number)
		return;
	p->thread = p->thread ? p->thread : t->number;
	p->several |= p->thread != t->number;
	p->threads.data[t->number - 1].seen = true;
}

/* A new node inside the innermost function; node 0, and a failure, when memory is exhausted. */
uint32_t tt_project_add(struct tt_project *p, const struct tt_project_thread *t,
			enum tt_graph_type type)
{
	struct tt_graph_node *node;

	if (p->count == (p->options.most ? p->options.most : UINT32_MAX)) {
		tt_project_fail(p, tt_fail(TTNN_UNSUPPORTED,
					   "more than %u nodes, which is too much at once: "
					   "--first and --count choose a part",
					   p->count));
		return 0;
	}
	note_thread(p, t);
	if (!tt_project_describes(p))
		return tt_project_counts(p) ? p->count++ : 0;
	node = tt_graph_add(&p->graph, type);
	if (!node) {
		tt_project_fail(p, tt_fail_nomem());
		return 0;
	}
	node->level = (int32_t)t->open.count;
	node->counter = p->count;
	if (p->dialect->threads && (p->options.how == TT_PROJECT_GRAPH || p->options.several))
		node->thread = t->number;
	return p->count++;
}

/* A new node that hangs on the innermost function. */
uint32_t tt_project_hang(struct tt_project *p, const struct tt_project_thread *t,
			 enum tt_graph_type type)
{
	uint32_t node = tt_project_add(p, t, type);

	tt_project_connect(p, tt_project_top(t), node);
	return node;
}

/* One node cannot stand for all that have no number: copies of a binding's own. */
static bool is_nameless(const struct tt_project *p, const struct tt_event_tensor *tensor)
{
	return !p->dialect->fresh_tensors && tensor->id == TT_TENSOR_NO_ID;
}

/* Where the node of an id is noted, + 1; NULL after a failure. */
static uint32_t *node_of(struct tt_project *p, struct tt_paged *nodes, uint64_t id)
{
	uint32_t *node = NULL;
	tt_status status = tt_paged_at(&node, nodes, id);

	if (status != TTNN_OK)
		tt_project_fail(p, status);
	return node;
}

uint32_t tt_project_buffer(struct tt_project *p, uint64_t buffer_id)
{
	const uint32_t *node = node_of(p, &p->buffers, buffer_id);

	return node ? *node : 0;
}

/* After what follows from an event for the course. */
void tt_project_follow(struct tt_project *p, tt_status status)
{
	if (status != TTNN_OK)
		tt_project_fail(p, status);
}

uint32_t tt_project_buffer_node(struct tt_project *p, const struct tt_project_thread *t,
				uint64_t id, const struct tt_node_buffer *buffer)
{
	uint32_t *slot = node_of(p, &p->buffers, id);

	if (!slot)
		return 0;
	if (!*slot) {
		*slot = tt_project_hang(p, t, TT_GRAPH_BUFFER) + 1;
		if (tt_project_describes(p))
			tt_node_buffer(p, *slot - 1, buffer);
	}
	return *slot - 1;
}

/* A tensor whose buffer nobody told of: from before a recording, in part of one or in an older one. */
static void notice(struct tt_project *p, const struct tt_event_tensor *tensor)
{
	struct tt_event_buffer buffer = {
		.buffer_id = tensor->buffer_id,
		.device_id = tensor->device_id,
		.type = tensor->spec->memory.buffer,
		.size = tensor->spec->bytes,
	};
	uint64_t banks = 0;
	bool known = true;

	if (tt_project_follows(p))
		tt_project_follow(p, tt_course_knows(&known, &p->course, tensor->buffer_id));
	if (known || p->status != TTNN_OK)
		return;
	for (size_t i = 0; i < p->devices.count; i++)
		if (p->devices.data[i].id == tensor->device_id)
			banks = p->devices.data[i].row.l1_num_banks;
	buffer.bank_size = tt_course_bank_size(tensor->spec, banks);
	tt_project_follow(p, tt_course_there(&p->course, &buffer));
}

/* A tensor is spoken of: its node, and that of its buffer behind it. */
static uint32_t mention(struct tt_project *p, const struct tt_project_thread *t,
			const struct tt_event_tensor *tensor)
{
	struct tt_node_buffer buffer;
	uint32_t node, of, *slot;
	bool added = true;

	if (p->dialect->fresh_tensors) {
		node = tt_project_add(p, t, TT_GRAPH_TENSOR);
	} else {
		slot = node_of(p, &p->tensors, tensor->id);
		if (!slot)
			return 0;
		added = !*slot;
		if (added)
			*slot = tt_project_add(p, t, TT_GRAPH_TENSOR) + 1;
		node = *slot - 1;
	}
	if (added && tt_project_describes(p))
		tt_node_tensor(p, node, tensor);
	if (tensor->on_device && tensor->buffer_id && tensor->owns) {
		buffer = (struct tt_node_buffer){
			.size = tensor->spec->bytes,
			.type = tensor->spec->memory.buffer,
			.layout = tensor->spec->memory.layout,
			.device_id = tensor->device_id,
		};
		notice(p, tensor);
		of = tt_project_buffer_node(p, t, tensor->buffer_id, &buffer);
		tt_project_connect(p, of, node);
		if (p->options.course) {
			tt_project_follow(p, tt_course_name(&p->course, tensor->buffer_id, of));
			tt_project_follow(
				p, tt_course_fill(&p->course, tensor->buffer_id, tensor->spec));
		}
	}
	return node;
}

/* ---- functions ---------------------------------------------------------------------------------------- */

/* A clock that did not move between two calls is no reason to leave the field out. */
static uint64_t duration_of(uint64_t begin, uint64_t now)
{
	return now > begin ? now - begin : 1;
}

static void set_duration(struct tt_graph_node *node, uint64_t begin, uint64_t now)
{
	node->duration = duration_of(begin, now);
	node->has_duration = true;
}

/* Ends the innermost function that is written; returns its end, 0 when there is none. */
static uint32_t close_top(struct tt_project *p, struct tt_project_thread *t, uint64_t now,
			  const char *reason, bool aborted)
{
	const struct tt_project_sink *sink = p->options.sink;
	struct tt_project_call *call;
	uint32_t node;

	if (!t->open.count)
		return 0;
	call = &t->open.data[t->open.count - 1];
	node = tt_project_hang(p, t, TT_GRAPH_FUNCTION_END);
	if (tt_project_describes(p) && p->status == TTNN_OK) {
		set_duration(tt_project_node(p, node), call->begin, now);
		tt_project_node(p, node)->level = call->level;
		tt_node_function_end(p, node, call, reason, aborted);
	}
	t->last_end = node;
	if (sink && sink->end)
		sink->end(p->options.context, t->open.data, t->open.count,
			  duration_of(call->begin, now));
	if (t->open.count > 1)
		call[-1].inner_ns += duration_of(call->begin, now);
	return node;
}

static void free_stack(char **stack, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tt_free(stack[i]);
}

/* Forgets what was recorded for the next function, but so many frames. */
static void drop_stack(struct tt_project_thread *t, size_t but)
{
	for (size_t i = but; i < t->stack.count; i++)
		tt_free(t->stack.data[i]);
	t->stack.count = t->stack.count < but ? t->stack.count : but;
	t->stack_lines = t->stack_lines < but ? t->stack_lines : but;
}

static void pop(struct tt_project_thread *t)
{
	struct tt_project_call *call;

	if (!t->open.count)
		return;
	call = &t->open.data[--t->open.count];
	free_stack(call->stack, call->stack_count);
	tt_free(call->stack);
}

/* A copy for a node: in a graph each text is kept once. NULL when memory is exhausted. */
static const char *keep_text(struct tt_project *p, const struct tt_str *text)
{
	if (p->options.how == TT_PROJECT_GRAPH)
		return tt_graph_text(&p->graph, tt_str_text(text), text->length);
	return tt_arena_strndup(&p->graph.arena, tt_str_text(text), text->length);
}

/* What an outermost call finds open was left by a failure. */
static void close_left(struct tt_project *p, struct tt_project_thread *t, uint64_t now,
		       const char *name)
{
	const char *reason;

	if (!t->open.count)
		return;
	reason = "";
	if (tt_project_describes(p)) { /* else nobody reads it, and nobody would drop it */
		tt_str_clear(&p->text);
		tt_str_addf(&p->text,
			    "Operation did not complete: its graph scope was still open when '%s' "
			    "started",
			    name);
		reason = p->text.failed ? NULL : keep_text(p, &p->text);
	}
	for (; reason && t->open.count; pop(t))
		close_top(p, t, now, reason, true);
	if (t->open.count)
		tt_project_fail(p, tt_fail_nomem());
}

/* Of a node that goes on its way at once. */
static void show_arguments(struct tt_project *p, struct tt_graph_node *node,
			   const struct tt_event_scope_begin *begin)
{
	const struct tt_argmemo_texts *known = tt_argmemo_find(&p->arguments, begin, &p->style);

	if (!known) {
		tt_project_fail(p, tt_fail_nomem());
		return;
	}
	node->arguments = known->texts;
	node->argument_count = known->count;
	node->arguments_number = known->number;
}

static void add_arguments(struct tt_project *p, uint32_t node,
			  const struct tt_event_scope_begin *begin)
{
	size_t count = tt_argtext_count(begin);
	const char **texts;

	if (p->options.how == TT_PROJECT_NODES) {
		show_arguments(p, tt_project_node(p, node), begin);
		return;
	}
	texts = tt_arena_calloc(&p->graph.arena, count + 1, sizeof(*texts));
	for (size_t i = 0; texts && i < count; i++) {
		tt_str_clear(&p->text);
		tt_argtext(&p->text, begin, i, &p->style);
		texts[i] = p->text.failed ? NULL : keep_text(p, &p->text);
		if (!texts[i])
			texts = NULL;
	}
	if (!texts) {
		tt_project_fail(p, tt_fail_nomem());
		return;
	}
	tt_project_node(p, node)->arguments = texts;
	tt_project_node(p, node)->argument_count = (uint32_t)count;
}

static void add_inputs(struct tt_project *p, struct tt_project_thread *t, uint32_t node,
		       const struct tt_event_scope_begin *begin)
{
	uint32_t *inputs = NULL, count = 0;

	if (!begin->input_count)
		return;
	if (tt_project_describes(p)) {
		inputs = tt_arena_calloc(&p->graph.arena, begin->input_count, sizeof(*inputs));
		if (!inputs) {
			tt_project_fail(p, tt_fail_nomem());
			return;
		}
	}
	for (size_t i = 0; i < begin->input_count; i++) {
		uint32_t input;

		if (is_nameless(p, &begin->inputs[i]))
			continue;
		input = mention(p, t, &begin->inputs[i]);
		tt_project_connect(p, input, node);
		if (inputs)
			inputs[count++] = input;
	}
	if (inputs && p->status == TTNN_OK) {
		tt_project_node(p, node)->inputs = inputs;
		tt_project_node(p, node)->input_count = count;
	}
}

static const struct tt_project_name *know(struct tt_project *p, const char *name)
{
	struct tt_project_name *known =
		&p->names[((uintptr_t)name >> 4 ^ (uintptr_t)name >> 10) % TT_PROJECT_NAMES];

	if (known->name != name)
		*known = (struct tt_project_name){name, tt_graph_names_operation(name, 0),
						  p->dialect->unwritten &&
							  strcmp(p->dialect->unwritten, name) == 0};
	return known;
}

static bool is_written(struct tt_project *p, const struct tt_event_scope_begin *begin)
{
	return p->dialect->scopes[begin->kind].written && !know(p, begin->name)->unwritten;
}

/* Where a call was called from, for a node of it. */
static void set_stack(struct tt_project *p, uint32_t node, const struct tt_project_call *call)
{
	const char **texts = tt_arena_calloc(&p->graph.arena, call->stack_count, sizeof(*texts));

	for (uint32_t i = 0; texts && i < call->stack_count; i++) {
		texts[i] =
			p->options.how == TT_PROJECT_GRAPH
				? tt_graph_text(&p->graph, call->stack[i], strlen(call->stack[i]))
				: call->stack[i];
		if (!texts[i])
			texts = NULL;
	}
	tt_project_node(p, node)->stack = texts;
	tt_project_node(p, node)->stack_count = texts ? call->stack_count : 0;
	if (!texts)
		tt_project_fail(p, tt_fail_nomem());
}

/* "libttnn.so(ttnn::add+0x1c) [0x…]" of a frame in the library: which of its functions it is nobody needs to know. */
static char *named_frame(const char *frame, const char *name)
{
	const char *open = strrchr(frame, '('), *plus = open ? strchr(open, '+') : NULL;
	struct tt_str text = {0};
	char *out = NULL;

	if (!plus)
		return tt_strdup(frame);
	tt_str_addf(&text, "%.*s%s%s", (int)(open + 1 - frame), frame, name, plus);
	return tt_str_take(&out, &text) == TTNN_OK ? out : NULL;
}

static bool add_frame(struct tt_project_thread *t, char *text)
{
	char **slot = text ? TT_VEC_PUSH(&t->stack) : NULL;

	if (slot)
		*slot = text;
	else
		tt_free(text);
	return slot != NULL;
}

/* Of C: the function itself, those of the graph around it, then the user's. */
static bool name_frames(struct tt_project_thread *t, const char *name)
{
	const struct tt_project_call *around =
		t->open.count > 1 ? &t->open.data[t->open.count - 2] : NULL;
	char *own = named_frame(t->stack.data[t->stack_lines], name);

	if (!own)
		return false;
	tt_free(t->stack.data[t->stack_lines]);
	t->stack.data[t->stack_lines] = own;
	if (!around || around->stack_count <= around->stack_lines)
		return true;
	free_stack(t->stack.data + t->stack_lines + 1, t->stack.count - t->stack_lines - 1);
	t->stack.count = t->stack_lines + 1;
	for (uint32_t i = around->stack_lines; i < around->stack_count; i++)
		if (!add_frame(t, tt_strdup(around->stack[i])))
			return false;
	return true;
}

/* The stack that was recorded goes to the call, whose slot is open; its node has it too. */
static void move_stack(struct tt_project *p, struct tt_project_thread *t,
		       struct tt_project_call *call)
{
	if (t->stack.count > t->stack_lines && !name_frames(t, call->name))
		tt_project_fail(p, tt_fail_nomem());
	call->stack = t->stack.data;
	call->stack_count = (uint32_t)t->stack.count;
	call->stack_lines = (uint32_t)t->stack_lines;
	t->stack.data = NULL;
	t->stack.count = t->stack.room = t->stack_lines = 0;
	if (tt_project_describes(p) && call->stack_count)
		set_stack(p, call->node, call);
}

static void describe_function(struct tt_project *p, const struct tt_project_call *call,
			      const struct tt_event_scope_begin *begin)
{
	const struct tt_project_sink *sink = p->options.sink;
	struct tt_node_function function = {call->name, call->own_name, tt_argtext_count(begin),
					    NULL};

	tt_project_node(p, call->node)->level = call->level;
	if (!p->options.plain) {
		add_arguments(p, call->node, begin);
		if (sink && sink->future)
			function.program = sink->future(p->options.context, call->node);
	}
	if (p->status == TTNN_OK)
		tt_node_function_start(p, call->node, &function);
}

static void start_function(struct tt_project *p, struct tt_project_thread *t,
			   const struct tt_event_scope_begin *begin, uint64_t now)
{
	const struct tt_scope_style *style = &p->dialect->scopes[begin->kind];
	const struct tt_project_sink *sink = p->options.sink;
	struct tt_project_call call = {.name = style->name ? style->name : begin->name,
				       .own_name = style->name ? begin->name : NULL,
				       .begin = now},
			       *slot;
	uint32_t around;

	if (begin->kind == TT_SCOPE_FRONTEND && t->scopes.count == 1)
		close_left(p, t, now, begin->name);
	around = tt_project_top(t);
	call.level = (int32_t)t->open.count + 1;
	call.operation =
		know(p, call.name)->operation || tt_graph_names_operation(call.name, call.level);
	slot = TT_VEC_PUSH(&t->open);
	if (!slot) {
		tt_project_fail(p, tt_fail_nomem());
		return;
	}
	call.node = tt_project_add(p, t, TT_GRAPH_FUNCTION_START);
	if (p->status == TTNN_OK)
		move_stack(p, t, &call);
	if (p->status == TTNN_OK && tt_project_describes(p))
		describe_function(p, &call, begin);
	*slot = call;
	if (t->last_end >= 0)
		tt_project_connect(p, (uint32_t)t->last_end, call.node);
	t->last_end = -1;
	tt_project_connect(p, around, call.node);
	if (sink && sink->begin)
		sink->begin(p->options.context, t->open.data, t->open.count);
	if (style->takes && tt_project_counts(p) && p->status == TTNN_OK)
		add_inputs(p, t, call.node, begin);
}

/* The arguments of an operation that is not written go to the function of a frontend that calls it. */
static void lend_arguments(struct tt_project *p, const struct tt_project_thread *t,
			   const struct tt_event_scope_begin *begin)
{
	size_t depth = t->scopes.count;

	if (depth < 2 || !t->open.count || t->scopes.data[depth - 2].kind != TT_SCOPE_FRONTEND ||
	    !t->scopes.data[depth - 2].written ||
	    (*tt_project_node(p, tt_project_top(t))).argument_count)
		return;
	add_arguments(p, tt_project_top(t), begin);
}

static void on_begin(struct tt_project *p, struct tt_project_thread *t,
		     const struct tt_event_scope_begin *begin, uint64_t now)
{
	struct tt_project_scope *scope = TT_VEC_PUSH(&t->scopes);

	if (!scope || begin->kind >= TT_SCOPE_KINDS) {
		tt_project_fail(p, tt_fail_nomem());
		return;
	}
	*scope = (struct tt_project_scope){
		.kind = begin->kind,
		.written = is_written(p, begin),
		.name = begin->name, /* which lives as long as the source does */
	};
	if (scope->written)
		start_function(p, t, begin, now);
	else if (begin->kind != TT_SCOPE_FRONTEND && begin->kind != TT_SCOPE_OPERATION)
		drop_stack(t, 0);
	else if (p->options.call_arguments && begin->kind == TT_SCOPE_OPERATION)
		lend_arguments(p, t, begin);
}

/* Whether captures see what a function gives. */
static bool tells_outputs(const struct tt_project *p, const struct tt_project_scope *scope)
{
	const char *const *name = p->dialect->tuples;

	if (p->dialect->scopes[scope->kind].plain_end)
		return false;
	while (name && *name && strcmp(*name, scope->name) != 0)
		name++;
	return !name || !*name;
}

static void on_end(struct tt_project *p, struct tt_project_thread *t,
		   const struct tt_event_scope_end *told, uint64_t now)
{
	const struct tt_scope_style *style;
	struct tt_project_scope scope;
	uint32_t node;

	if (!t->scopes.count)
		return; /* of a function that began before the capture */
	scope = t->scopes.data[--t->scopes.count];
	style = &p->dialect->scopes[scope.kind];
	if (!scope.written || (told->aborted && !style->guarded))
		return;
	node = close_top(p, t, now, NULL, told->aborted && !style->plain_end);
	for (size_t i = 0; node && tells_outputs(p, &scope) && i < told->output_count; i++)
		if (!is_nameless(p, &told->outputs[i]))
			tt_project_give(p, node, mention(p, t, &told->outputs[i]));
	pop(t);
}

/* ---- errors and stacks --------------------------------------------------------------------------------------- */

/* The innermost operation, else the innermost scope. */
static const char *operation_of(const struct tt_project_thread *t)
{
	for (size_t i = t->scopes.count; i-- > 0;)
		if (t->scopes.data[i].kind == TT_SCOPE_OPERATION)
			return t->scopes.data[i].name;
	return t->scopes.count ? t->scopes.data[t->scopes.count - 1].name : "";
}

/* An error happened where the innermost function was called from whose stack is known. */
static void set_error_stack(struct tt_project *p, const struct tt_project_thread *t, uint32_t node)
{
	for (size_t i = t->open.count; i-- > 0;)
		if (t->open.data[i].stack_count) {
			set_stack(p, node, &t->open.data[i]);
			return;
		}
}

static void on_error(struct tt_project *p, struct tt_project_thread *t,
		     const struct tt_event_error *told)
{
	const char *name = operation_of(t);
	uint32_t node;

	if (!p->dialect->errors)
		return;
	node = tt_project_hang(p, t, TT_GRAPH_ERROR);
	if (!tt_project_describes(p) || p->status != TTNN_OK)
		return;
	tt_project_node(p, node)->level++;
	set_error_stack(p, t, node);
	tt_node_error(p, node, told, name ? name : "");
}

static void on_stack(struct tt_project *p, struct tt_project_thread *t,
		     const struct tt_event_stack *told)
{
	if (!(p->dialect->stacks || p->options.stacks) || !told->count || !tt_project_describes(p))
		return;
	/*
	 * Python's own frames come first; those of C follow them: once for a function of Python that the dialect may not
	 * write, once for the operation that it calls.
	 */
	drop_stack(t, told->python ? 0 : t->stack_lines);
	for (size_t i = 0; i < told->count; i++) {
		tt_str_clear(&p->text);
		tt_frame_text(&p->text, &told->frames[i]);
		if (!add_frame(t, p->text.failed ? NULL : tt_strdup(tt_str_text(&p->text)))) {
			tt_project_fail(p, tt_fail_nomem());
			return;
		}
	}
	if (told->python)
		t->stack_lines = t->stack.count;
}

/* ---- events ----------------------------------------------------------------------------------------------------- */

static struct tt_project_thread *thread_of(struct tt_project *p, uint32_t number)
{
	/* A source counts its threads from 0. */
	while (p->threads.count <= number) {
		struct tt_project_thread *t = TT_VEC_PUSH(&p->threads);

		if (!t) {
			tt_project_fail(p, tt_fail_nomem());
			return NULL;
		}
		*t = (struct tt_project_thread){.last_end = -1,
						.number = (uint32_t)p->threads.count};
	}
	return &p->threads.data[number];
}

void tt_project_init(struct tt_project *p, const struct tt_project_options *options)
{
	struct tt_project_thread none = {.last_end = -1};

	memset(p, 0, sizeof(*p));
	p->options = *options;
	p->dialect = tt_dialect(options->dialect);
	for (int type = 0; type < TT_GRAPH_OTHER; type++)
		p->lacks[type] = tt_dialect_lacks(options->dialect, (enum tt_graph_type)type);
	p->style.dialect = options->dialect;
	p->graph.dialect = options->dialect;
	tt_project_add(p, &none, TT_GRAPH_CAPTURE_START);
	if (tt_project_describes(p) && p->status == TTNN_OK)
		p->graph.nodes[0].null_params = p->dialect->typed;
	p->graph.course = tt_calloc(1, sizeof(*p->graph.course));
	if (!p->graph.course)
		tt_project_fail(p, tt_fail_nomem());
	p->course.course = p->graph.course;
	p->course.passing = options->how != TT_PROJECT_GRAPH;
	p->course.device_id = TT_COURSE_NONE;
}

void tt_project_event(struct tt_project *p, const struct tt_event *event, uint64_t time_ns,
		      uint32_t thread)
{
	struct tt_project_thread *t = p->status == TTNN_OK ? thread_of(p, thread) : NULL;

	if (!t || (!tt_project_counts(p) && event->kind > TT_EVENT_SCOPE_END))
		return;
	switch (event->kind) {
	case TT_EVENT_SCOPE_BEGIN:
		on_begin(p, t, &event->begin, time_ns);
		break;
	case TT_EVENT_SCOPE_END:
		on_end(p, t, &event->end, time_ns);
		break;
	case TT_EVENT_BUFFER_ALLOC:
		tt_project_on_buffer(p, t, &event->buffer, TT_GRAPH_BUFFER_ALLOCATE);
		break;
	case TT_EVENT_BUFFER_FREE:
		tt_project_on_buffer(p, t, &event->buffer, TT_GRAPH_BUFFER_DEALLOCATE);
		break;
	case TT_EVENT_BUFFER_THERE:
		tt_project_on_there(p, &event->buffer);
		break;
	case TT_EVENT_PROGRAM:
		tt_project_on_program(p, t, &event->program);
		break;
	case TT_EVENT_PROGRAM_MEMORY:
		tt_project_on_memory(p, t, &event->memory);
		break;
	case TT_EVENT_PROGRAM_RELEASE:
		tt_project_on_release(p, t, event->device.device_id);
		break;
	case TT_EVENT_PROGRAM_LAUNCH:
		tt_project_on_launch(p, t, &event->launch);
		break;
	case TT_EVENT_ERROR:
		on_error(p, t, &event->error);
		break;
	case TT_EVENT_DEVICE_OPEN:
		tt_project_on_device(p, &event->device);
		break;
	case TT_EVENT_STACK:
		on_stack(p, t, &event->stack);
		break;
	case TT_EVENT_THREAD:
		t->system_id = event->thread.system_id;
		t->name = tt_arena_strdup(&p->kept, event->thread.name ? event->thread.name : "");
		break;
	default:
		break;
	}
}

/* ---- the end ---------------------------------------------------------------------------------------------------------- */

/* What is known at the end alone: which nodes stand for which buffers. */
static void complete(struct tt_project *p)
{
	struct tt_course *course = p->graph.course;

	for (size_t i = 0; i < course->buffers.count; i++)
		course->buffers.data[i].node = tt_project_buffer(p, course->buffers.data[i].id) - 1;
	for (size_t i = 0; i < p->devices.count; i++)
		if (p->devices.data[i].row.cb_limit > p->graph.l1_bank)
			p->graph.l1_bank = p->devices.data[i].row.cb_limit;
	course->bank = p->graph.l1_bank;
	for (size_t i = 0; !p->several && i < p->graph.count; i++)
		p->graph.nodes[i].thread = 0;
}

tt_status tt_project_take(struct tt_graph *out, struct tt_project *p)
{
	if (p->status == TTNN_OK) {
		complete(p);
		tt_node_capture_start(p);
	}
	TT_TRY(tt_project_status(p));
	*out = p->graph;
	memset(&p->graph, 0, sizeof(p->graph));
	return TTNN_OK;
}

void tt_project_end(struct tt_project *p, uint64_t end_ns)
{
	struct tt_project_thread none = {.last_end = -1};
	uint32_t node = p->status == TTNN_OK ? tt_project_add(p, &none, TT_GRAPH_CAPTURE_END) : 0;
	bool linked = false;

	if (p->status == TTNN_OK && tt_project_describes(p)) {
		set_duration(tt_project_node(p, node), 0, end_ns);
		tt_node_capture_end(p, node);
	}
	for (size_t i = 0; i < p->threads.count && p->status == TTNN_OK; i++) {
		if (p->threads.data[i].last_end < 0)
			continue;
		tt_project_connect(p, (uint32_t)p->threads.data[i].last_end, node);
		linked = true;
	}
	if (!linked && p->status == TTNN_OK)
		tt_project_connect(p, 0, node);
}

tt_status tt_project_finish(struct tt_graph *out, struct tt_project *p, uint64_t end_ns)
{
	tt_project_end(p, end_ns);
	return tt_project_take(out, p);
}

void tt_project_first(struct tt_project *p)
{
	struct tt_graph_node *node;

	tt_project_drop(p);
	node = tt_graph_add(&p->graph, TT_GRAPH_CAPTURE_START);
	if (!node) {
		tt_project_fail(p, tt_fail_nomem());
		return;
	}
	node->null_params = p->dialect->typed;
	p->count = 1;
	p->options.how = TT_PROJECT_NODES;
	tt_node_capture_start(p);
}

void tt_project_drop(struct tt_project *p)
{
	p->graph.count = 0;
	tt_arena_reset(&p->graph.arena);
	if (tt_patterns_many(&p->patterns))
		tt_patterns_forget(&p->patterns);
}

void tt_project_deinit(struct tt_project *p)
{
	for (size_t i = 0; i < p->threads.count; i++) {
		struct tt_project_thread *t = &p->threads.data[i];

		TT_VEC_DEINIT(&t->scopes);
		while (t->open.count)
			pop(t);
		TT_VEC_DEINIT(&t->open);
		free_stack(t->stack.data, t->stack.count);
		TT_VEC_DEINIT(&t->stack);
	}
	TT_VEC_DEINIT(&p->threads);
	TT_VEC_DEINIT(&p->devices);
	TT_VEC_DEINIT(&p->chips);
	tt_course_maker_deinit(&p->course);
	TT_VEC_DEINIT(&p->there);
	tt_paged_deinit(&p->buffers);
	tt_paged_deinit(&p->tensors);
	tt_str_deinit(&p->text);
	tt_spectexts_deinit(&p->style.specs);
	tt_argmemo_deinit(&p->arguments);
	tt_patterns_deinit(&p->patterns);
	for (int i = 0; i < TT_PROJECT_CORES; i++)
		tt_str_deinit(&p->cores[i].text);
	tt_arena_deinit(&p->kept);
	tt_graph_deinit(&p->graph);
}
