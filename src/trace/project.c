#include "trace/project.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/distribution.h"
#include "tensor/shape.h"
#include "trace/argtext.h"
#include "trace/nodeparams.h"
#include "trace/source.h"

void tt_project_fail(struct tt_project *p, tt_status status)
{
	if (p->status != TTNN_OK)
		return;
	p->status = status;
	snprintf(p->message, sizeof(p->message), "%s", ttnn_error());
}

/* ---- nodes and edges ------------------------------------------------------------------------------- */

static uint32_t top(const struct tt_project_thread *t)
{
	return t->open.count ? t->open.data[t->open.count - 1].node : 0;
}

static void connect(struct tt_project *p, uint32_t from, uint32_t to)
{
	tt_status status = tt_graph_connect(&p->graph, from, to);

	if (status != TTNN_OK)
		tt_project_fail(p, status);
}

/* A new node inside the innermost function; node 0, and a failure, when memory is exhausted. */
static uint32_t add(struct tt_project *p, const struct tt_project_thread *t,
		    enum tt_graph_type type)
{
	struct tt_graph_node *node = tt_graph_add(&p->graph, type);

	if (!node) {
		tt_project_fail(p, tt_fail_nomem());
		return 0;
	}
	node->level = (int32_t)t->open.count;
	return (uint32_t)(p->graph.count - 1);
}

/* A new node that hangs on the innermost function. */
static uint32_t hang(struct tt_project *p, const struct tt_project_thread *t,
		     enum tt_graph_type type)
{
	uint32_t node = add(p, t, type);

	connect(p, top(t), node);
	return node;
}

/* The node of an id, or NULL with *slot for it. */
static struct tt_map_entry *node_of(struct tt_project *p, struct tt_map *map, uint64_t id,
				    bool *added)
{
	struct tt_map_entry *entry = tt_map_add(map, &id, sizeof(id), added);

	if (!entry)
		tt_project_fail(p, tt_fail_nomem());
	return entry;
}

/* After what follows from an event for the course. */
static void follow(struct tt_project *p, tt_status status)
{
	if (status != TTNN_OK)
		tt_project_fail(p, status);
}

/* The node after which something happens that has none of its own. */
static uint32_t last_node(const struct tt_project *p)
{
	return p->graph.count ? (uint32_t)(p->graph.count - 1) : 0;
}

static uint32_t buffer_node(struct tt_project *p, const struct tt_project_thread *t, uint64_t id,
			    const struct tt_node_buffer *buffer)
{
	bool added = false;
	struct tt_map_entry *entry = node_of(p, &p->buffers, id, &added);

	if (!entry)
		return 0;
	if (added) {
		entry->number = hang(p, t, TT_GRAPH_BUFFER);
		tt_node_buffer(p, (uint32_t)entry->number, buffer);
	}
	return (uint32_t)entry->number;
}

/* Bytes of a tensor in the fullest bank of L1, when nobody told: without the padding of pages. */
static uint64_t bank_size_of(const struct tt_project *p, const struct tt_event_tensor *tensor)
{
	const struct tt_project_device *device = NULL;
	const struct ttnn_tensor_spec *spec = tensor->spec;
	struct tt_distribution distribution;
	uint64_t pages = 0;

	for (size_t i = 0; i < p->devices.count; i++)
		if (p->devices.data[i].id == tensor->device_id)
			device = &p->devices.data[i];
	if (spec->memory.has_shard || spec->memory.has_nd_shard) {
		if (tt_distribution_make(&distribution, spec) == TTNN_OK)
			pages = tt_distribution_core_pages(&distribution);
	} else if (device && device->row.l1_num_banks) {
		pages = tt_div_up(spec->pages, device->row.l1_num_banks);
	}
	return pages * spec->page_bytes;
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

	if (tt_course_knows(&p->course, tensor->buffer_id))
		return;
	buffer.bank_size = bank_size_of(p, tensor);
	follow(p, tt_course_there(&p->course, &buffer));
}

/* A tensor is spoken of: its node, and that of its buffer behind it. */
static uint32_t mention(struct tt_project *p, const struct tt_project_thread *t,
			const struct tt_event_tensor *tensor)
{
	struct tt_node_buffer buffer;
	struct tt_map_entry *entry;
	bool added = true;
	uint32_t node;

	if (p->dialect->fresh_tensors) {
		node = add(p, t, TT_GRAPH_TENSOR);
	} else {
		entry = node_of(p, &p->tensors, tensor->id, &added);
		if (!entry)
			return 0;
		if (added)
			entry->number = add(p, t, TT_GRAPH_TENSOR);
		node = (uint32_t)entry->number;
	}
	if (added)
		tt_node_tensor(p, node, tensor);
	if (tensor->on_device && tensor->buffer_id && tensor->owns) {
		buffer = (struct tt_node_buffer){
			.size = tensor->spec->bytes,
			.type = tensor->spec->memory.buffer,
			.layout = tensor->spec->memory.layout,
			.device_id = tensor->device_id,
		};
		notice(p, tensor);
		connect(p, buffer_node(p, t, tensor->buffer_id, &buffer), node);
	}
	return node;
}

/* ---- functions ---------------------------------------------------------------------------------------- */

static void set_duration(struct tt_graph_node *node, uint64_t begin, uint64_t now)
{
	/* A clock that did not move between two calls is no reason to leave the field out. */
	node->duration = now > begin ? now - begin : 1;
	node->has_duration = true;
}

/* Ends the innermost function that is written; returns its end, 0 when there is none. */
static uint32_t close_top(struct tt_project *p, struct tt_project_thread *t, uint64_t now,
			  const char *reason, bool aborted)
{
	struct tt_project_open open;
	const char *name;
	uint32_t node;

	if (!t->open.count)
		return 0;
	open = t->open.data[t->open.count - 1];
	name = tt_graph_string(&p->graph.nodes[open.node], TT_KEY_NAME);
	node = hang(p, t, TT_GRAPH_FUNCTION_END);
	set_duration(&p->graph.nodes[node], open.begin, now);
	tt_node_function_end(p, node, name, reason, aborted);
	p->graph.nodes[node].level = p->graph.nodes[open.node].level;
	t->last_end = node;
	return node;
}

static void pop(struct tt_project_thread *t)
{
	t->open.count -= t->open.count > 0;
}

/* What an outermost call finds open was left by a failure. */
static void close_left(struct tt_project *p, struct tt_project_thread *t, uint64_t now,
		       const char *name)
{
	char reason[512];

	snprintf(reason, sizeof(reason),
		 "Operation did not complete: its graph scope was still open when '%s' started",
		 name);
	while (t->open.count) {
		close_top(p, t, now, reason, true);
		pop(t);
	}
}

static void add_arguments(struct tt_project *p, uint32_t node,
			  const struct tt_event_scope_begin *begin)
{
	size_t count = tt_argtext_count(begin);
	const char **texts = tt_arena_calloc(&p->graph.arena, count + 1, sizeof(*texts));

	for (size_t i = 0; texts && i < count; i++) {
		tt_str_clear(&p->text);
		tt_argtext(&p->text, begin, i, p->options.dialect);
		texts[i] = p->text.failed ? NULL
					  : tt_graph_text(&p->graph, tt_str_text(&p->text),
							  p->text.length);
		if (!texts[i])
			texts = NULL;
	}
	if (!texts) {
		tt_project_fail(p, tt_fail_nomem());
		return;
	}
	p->graph.nodes[node].arguments = texts;
	p->graph.nodes[node].argument_count = (uint32_t)count;
}

static void add_inputs(struct tt_project *p, struct tt_project_thread *t, uint32_t node,
		       const struct tt_event_scope_begin *begin)
{
	uint32_t *inputs;

	if (!begin->input_count)
		return;
	inputs = tt_arena_calloc(&p->graph.arena, begin->input_count, sizeof(*inputs));
	if (!inputs) {
		tt_project_fail(p, tt_fail_nomem());
		return;
	}
	for (size_t i = 0; i < begin->input_count; i++) {
		inputs[i] = mention(p, t, &begin->inputs[i]);
		connect(p, inputs[i], node);
	}
	p->graph.nodes[node].inputs = inputs;
	p->graph.nodes[node].input_count = (uint32_t)begin->input_count;
}

static bool is_written(const struct tt_project *p, const struct tt_event_scope_begin *begin)
{
	if (!p->dialect->scopes[begin->kind].written)
		return false;
	return !p->dialect->unwritten || strcmp(p->dialect->unwritten, begin->name) != 0;
}

static void start_function(struct tt_project *p, struct tt_project_thread *t,
			   const struct tt_event_scope_begin *begin, uint64_t now)
{
	const struct tt_scope_style *style = &p->dialect->scopes[begin->kind];
	struct tt_project_open *open;
	uint32_t node;

	if (begin->kind == TT_SCOPE_FRONTEND && t->scopes.count == 1)
		close_left(p, t, now, begin->name);
	node = add(p, t, TT_GRAPH_FUNCTION_START);
	p->graph.nodes[node].level++;
	tt_node_function_start(p, node, style->name ? style->name : begin->name,
			       tt_argtext_count(begin));
	add_arguments(p, node, begin);
	p->graph.nodes[node].stack = t->stack;
	p->graph.nodes[node].stack_count = t->stack_count;
	t->stack = NULL;
	t->stack_count = 0;
	t->stack_python = false;
	if (t->last_end >= 0)
		connect(p, (uint32_t)t->last_end, node);
	t->last_end = -1;
	connect(p, top(t), node);
	open = TT_VEC_PUSH(&t->open);
	if (!open) {
		tt_project_fail(p, tt_fail_nomem());
		return;
	}
	*open = (struct tt_project_open){node, now};
	if (style->takes)
		add_inputs(p, t, node, begin);
}

/* The arguments of an operation that is not written go to the function of a frontend that calls it. */
static void lend_arguments(struct tt_project *p, const struct tt_project_thread *t,
			   const struct tt_event_scope_begin *begin)
{
	size_t depth = t->scopes.count;

	if (depth < 2 || !t->open.count || t->scopes.data[depth - 2].kind != TT_SCOPE_FRONTEND ||
	    !t->scopes.data[depth - 2].written || p->graph.nodes[top(t)].argument_count)
		return;
	add_arguments(p, top(t), begin);
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
		.name = tt_graph_text(&p->graph, begin->name, strlen(begin->name)),
		.begin = now};
	if (scope->written)
		start_function(p, t, begin, now);
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
		connect(p, node, mention(p, t, &told->outputs[i]));
	pop(t);
}

/* ---- memory and programs ---------------------------------------------------------------------------------- */

static struct tt_project_device *device_of(struct tt_project *p, uint32_t id)
{
	struct tt_project_device *device;

	for (size_t i = 0; i < p->devices.count; i++)
		if (p->devices.data[i].id == id)
			return &p->devices.data[i];
	device = TT_VEC_PUSH(&p->devices);
	if (device)
		*device = (struct tt_project_device){.id = id};
	else
		tt_project_fail(p, tt_fail_nomem());
	return device;
}

static void use_device(struct tt_project *p, uint32_t id)
{
	struct tt_project_device *device = device_of(p, id);

	if (device)
		device->used = true;
}

static void on_buffer(struct tt_project *p, struct tt_project_thread *t,
		      const struct tt_event_buffer *told, enum tt_graph_type type)
{
	struct tt_node_buffer buffer = {.size = told->size,
					.type = told->type,
					.layout = told->layout,
					.device_id = told->device_id};
	uint32_t of = buffer_node(p, t, told->buffer_id, &buffer);
	uint32_t node = add(p, t, type);

	use_device(p, told->device_id);
	tt_node_event(p, node, told);
	connect(p, node, of);
	connect(p, top(t), node);
	follow(p, type == TT_GRAPH_BUFFER_ALLOCATE ? tt_course_take(&p->course, told, node)
						   : tt_course_give(&p->course, told, node));
}

static void on_there(struct tt_project *p, const struct tt_event_buffer *told)
{
	struct tt_event_buffer *slot;

	/* One that another thread made meanwhile, or gave back, was told of already. */
	if (tt_course_knows(&p->course, told->buffer_id))
		return;
	slot = TT_VEC_PUSH(&p->there);
	if (!slot) {
		tt_project_fail(p, tt_fail_nomem());
		return;
	}
	*slot = *told;
	if (tt_dialect_has(p->options.dialect, TT_GRAPH_CAPTURE_START, TT_KEY_BUFFERS))
		use_device(p, told->device_id);
	follow(p, tt_course_there(&p->course, told));
}

static void add_memory(struct tt_project *p, struct tt_project_thread *t,
		       const struct tt_event_program_memory *memory)
{
	static const enum tt_graph_type types[] = {
		[TT_MEMORY_CIRCULAR_BUFFER] = TT_GRAPH_CB_ALLOCATE,
		[TT_MEMORY_DATAFLOW_BUFFER] = TT_GRAPH_DFB_ALLOCATE,
		[TT_MEMORY_SCRATCHPAD] = TT_GRAPH_SCRATCHPAD_ALLOCATE,
		[TT_MEMORY_PLANNED] = TT_GRAPH_CB_ALLOCATE,
	};
	enum tt_graph_type type =
		p->dialect->one_memory ? TT_GRAPH_CB_ALLOCATE : types[memory->kind];

	tt_node_memory(p, hang(p, t, type), memory);
}

/*
 * Upstream tells of circular buffers when it places them, and of the other kinds in dry runs only;
 * a capture inside a dry one that did not ask for that hears of the other kinds alone.
 * A capture that was asked to be dry inside one that is not writes what it would have written, too.
 */
static void on_memory(struct tt_project *p, struct tt_project_thread *t,
		      const struct tt_event_program_memory *told)
{
	bool dry = p->options.actual == TTNN_RUN_NO_DISPATCH;
	bool asked = p->options.mode == TTNN_RUN_NO_DISPATCH;
	bool circular = told->kind == TT_MEMORY_CIRCULAR_BUFFER;
	bool written = dry ? asked || !circular : circular;

	if (told->kind == TT_MEMORY_PLANNED)
		written = asked && !p->dialect->one_memory;
	else if (p->dialect->one_memory)
		written = true;
	if (written)
		add_memory(p, t, told);
	if (told->kind == TT_MEMORY_PLANNED)
		return;
	t->told_memory = true;
	follow(p, tt_course_row(&p->course, told, last_node(p)));
}

/* Where circular buffers of every program are written those of one that was built before are, too. */
static void write_again(struct tt_project *p, struct tt_project_thread *t,
			const struct tt_event_program *told)
{
	const struct tt_project_device *device = device_of(p, told->device_id);
	struct tt_event_program_memory row;

	for (size_t i = 0; tt_event_memory_row(&row, told, i); i++) {
		if (!device || !device->chip_count) {
			add_memory(p, t, &row);
			continue;
		}
		for (uint32_t k = 0; k < device->chip_count; k++) {
			row.device_id = device->chips[k];
			add_memory(p, t, &row);
		}
	}
}

static void on_program(struct tt_project *p, struct tt_project_thread *t,
		       const struct tt_event_program *told)
{
	if (p->dialect->programs && t->open.count)
		tt_node_program(p, top(t), told);
	if (p->dialect->one_memory && !t->told_memory)
		write_again(p, t, told);
	follow(p, tt_course_program(&p->course, told, last_node(p)));
	t->told_memory = false;
}

static void on_release(struct tt_project *p, struct tt_project_thread *t, uint32_t device_id)
{
	uint32_t node = add(p, t, TT_GRAPH_CB_DEALLOCATE_ALL);

	use_device(p, device_id);
	tt_node_release(p, node, device_id);
	connect(p, node, top(t));
	connect(p, top(t), node);
	t->told_memory = false;
	follow(p, tt_course_release(&p->course, device_id, node));
}

static void on_launch(struct tt_project *p, struct tt_project_thread *t,
		      const struct tt_event_program_launch *told)
{
	struct tt_project_device *device = device_of(p, told->device_id);

	if (!p->dialect->programs || !device)
		return;
	if (!device->managed)
		tt_node_manager(p, hang(p, t, TT_GRAPH_SUB_DEVICE_MANAGER), told);
	device->managed = true;
	tt_node_launch(p, hang(p, t, TT_GRAPH_PROGRAM_EXECUTION), told);
}

static void on_device(struct tt_project *p, const struct tt_event_device *told)
{
	struct tt_project_device *device = device_of(p, told->device_id);
	uint32_t *chips;

	if (!device || !told->info)
		return;
	chips = tt_arena_calloc(&p->graph.arena, told->info->chip_count + 1, sizeof(*chips));
	if (!chips) {
		tt_project_fail(p, tt_fail_nomem());
		return;
	}
	memcpy(chips, told->info->chips, told->info->chip_count * sizeof(*chips));
	device->chips = chips;
	device->chip_count = told->info->chip_count;
	device->arch =
		tt_graph_text(&p->graph, told->info->arch_name, strlen(told->info->arch_name));
	device->profile =
		tt_graph_text(&p->graph, told->info->profile, strlen(told->info->profile));
	if (told->row)
		device->row = *told->row;
	if (!device->arch || !device->profile)
		tt_project_fail(p, tt_fail_nomem());
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
	for (size_t i = t->open.count; i-- > 0;) {
		const struct tt_graph_node *function = &p->graph.nodes[t->open.data[i].node];

		if (!function->stack_count)
			continue;
		p->graph.nodes[node].stack = function->stack;
		p->graph.nodes[node].stack_count = function->stack_count;
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
	node = hang(p, t, TT_GRAPH_ERROR);
	p->graph.nodes[node].level++;
	set_error_stack(p, t, node);
	tt_node_error(p, node, told, name ? name : "");
}

static void on_stack(struct tt_project *p, struct tt_project_thread *t,
		     const struct tt_event_stack *told)
{
	const char **before = t->stack;

	if (!p->dialect->stacks || !told->count)
		return;
	/* Python's own frames come first; those of C that follow are behind them. */
	if (told->python || !t->stack_python)
		t->stack_count = 0;
	t->stack =
		tt_arena_calloc(&p->graph.arena, t->stack_count + told->count, sizeof(*t->stack));
	if (t->stack && t->stack_count)
		memcpy(t->stack, before, t->stack_count * sizeof(*t->stack));
	t->stack_python = told->python;
	for (size_t i = 0; t->stack && i < told->count; i++) {
		const char *text;

		tt_str_clear(&p->text);
		tt_frame_text(&p->text, &told->frames[i]);
		text = tt_graph_text(&p->graph, tt_str_text(&p->text), p->text.length);
		if (!text) {
			tt_project_fail(p, tt_fail_nomem());
			return;
		}
		t->stack[t->stack_count++] = text;
	}
	if (!t->stack)
		tt_project_fail(p, tt_fail_nomem());
}

/* ---- events ----------------------------------------------------------------------------------------------------- */

static struct tt_project_thread *thread_of(struct tt_project *p, uint32_t number)
{
	struct tt_project_thread *t;

	for (size_t i = 0; i < p->threads.count; i++)
		if (p->threads.data[i].number == number)
			return &p->threads.data[i];
	t = TT_VEC_PUSH(&p->threads);
	if (t)
		*t = (struct tt_project_thread){.number = number, .last_end = -1};
	else
		tt_project_fail(p, tt_fail_nomem());
	return t;
}

void tt_project_init(struct tt_project *p, const struct tt_project_options *options)
{
	struct tt_graph_node *node;

	memset(p, 0, sizeof(*p));
	p->options = *options;
	p->dialect = tt_dialect(options->dialect);
	p->graph.dialect = options->dialect;
	node = tt_graph_add(&p->graph, TT_GRAPH_CAPTURE_START);
	if (node)
		node->null_params = p->dialect->typed;
	else
		tt_project_fail(p, tt_fail_nomem());
	p->graph.course = tt_calloc(1, sizeof(*p->graph.course));
	if (!p->graph.course)
		tt_project_fail(p, tt_fail_nomem());
	p->course.course = p->graph.course;
	p->course.device_id = TT_COURSE_NONE;
}

void tt_project_event(struct tt_project *p, const struct tt_event *event, uint64_t time_ns,
		      uint32_t thread)
{
	struct tt_project_thread *t = p->status == TTNN_OK ? thread_of(p, thread) : NULL;

	if (!t)
		return;
	switch (event->kind) {
	case TT_EVENT_SCOPE_BEGIN:
		on_begin(p, t, &event->begin, time_ns);
		break;
	case TT_EVENT_SCOPE_END:
		on_end(p, t, &event->end, time_ns);
		break;
	case TT_EVENT_BUFFER_ALLOC:
		on_buffer(p, t, &event->buffer, TT_GRAPH_BUFFER_ALLOCATE);
		break;
	case TT_EVENT_BUFFER_FREE:
		on_buffer(p, t, &event->buffer, TT_GRAPH_BUFFER_DEALLOCATE);
		break;
	case TT_EVENT_BUFFER_THERE:
		on_there(p, &event->buffer);
		break;
	case TT_EVENT_PROGRAM:
		on_program(p, t, &event->program);
		break;
	case TT_EVENT_PROGRAM_MEMORY:
		on_memory(p, t, &event->memory);
		break;
	case TT_EVENT_PROGRAM_RELEASE:
		on_release(p, t, event->device.device_id);
		break;
	case TT_EVENT_PROGRAM_LAUNCH:
		on_launch(p, t, &event->launch);
		break;
	case TT_EVENT_ERROR:
		on_error(p, t, &event->error);
		break;
	case TT_EVENT_DEVICE_OPEN:
		on_device(p, &event->device);
		break;
	case TT_EVENT_STACK:
		on_stack(p, t, &event->stack);
		break;
	default:
		break;
	}
}

/* ---- the end ---------------------------------------------------------------------------------------------------------- */

/* What is known at the end alone: which nodes stand for which buffers. */
static void complete(struct tt_project *p)
{
	for (size_t i = 0; i < p->buffers.count; i++) {
		uint64_t id;

		memcpy(&id, p->buffers.entries[i].key, sizeof(id));
		tt_course_name(&p->course, id, (uint32_t)p->buffers.entries[i].number);
	}
	for (size_t i = 0; i < p->devices.count; i++)
		if (p->devices.data[i].row.cb_limit > p->graph.l1_bank)
			p->graph.l1_bank = p->devices.data[i].row.cb_limit;
	p->graph.course->bank = p->graph.l1_bank;
	tt_node_capture_start(p);
}

tt_status tt_project_take(struct tt_graph *out, struct tt_project *p)
{
	if (p->status == TTNN_OK)
		complete(p);
	if (p->status != TTNN_OK)
		return tt_fail(p->status, "%s", p->message);
	*out = p->graph;
	memset(&p->graph, 0, sizeof(p->graph));
	return TTNN_OK;
}

tt_status tt_project_finish(struct tt_graph *out, struct tt_project *p, uint64_t end_ns)
{
	struct tt_project_thread none = {.last_end = -1};
	uint32_t node = p->status == TTNN_OK ? add(p, &none, TT_GRAPH_CAPTURE_END) : 0;
	bool linked = false;

	if (p->status == TTNN_OK) {
		set_duration(&p->graph.nodes[node], 0, end_ns);
		tt_node_capture_end(p, node);
	}
	for (size_t i = 0; i < p->threads.count && p->status == TTNN_OK; i++) {
		if (p->threads.data[i].last_end < 0)
			continue;
		connect(p, (uint32_t)p->threads.data[i].last_end, node);
		linked = true;
	}
	if (!linked && p->status == TTNN_OK)
		connect(p, 0, node);
	return tt_project_take(out, p);
}

void tt_project_deinit(struct tt_project *p)
{
	for (size_t i = 0; i < p->threads.count; i++) {
		TT_VEC_DEINIT(&p->threads.data[i].scopes);
		TT_VEC_DEINIT(&p->threads.data[i].open);
	}
	TT_VEC_DEINIT(&p->threads);
	TT_VEC_DEINIT(&p->devices);
	tt_course_maker_deinit(&p->course);
	TT_VEC_DEINIT(&p->there);
	tt_map_deinit(&p->buffers);
	tt_map_deinit(&p->tensors);
	tt_str_deinit(&p->text);
	tt_graph_deinit(&p->graph);
}
