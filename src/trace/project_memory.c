/* Buffers, programs and what those take: the events of memory. */
#include <string.h>

#include "trace/project_parts.h"

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

void tt_project_on_buffer(struct tt_project *p, struct tt_project_thread *t,
			  const struct tt_event_buffer *told, enum tt_graph_type type)
{
	struct tt_node_buffer buffer = {.size = told->size,
					.type = told->type,
					.layout = told->layout,
					.device_id = told->device_id};
	uint32_t of = tt_project_buffer_node(p, t, told->buffer_id, &buffer);
	uint32_t node = tt_project_add(p, t, type);

	use_device(p, told->device_id);
	if (tt_project_describes(p) && p->status == TTNN_OK)
		tt_node_event(p, node, told);
	if (type == TT_GRAPH_BUFFER_ALLOCATE)
		tt_project_give(p, node, of);
	else
		tt_project_connect(p, node, of);
	tt_project_connect(p, tt_project_top(t), node);
	if (!tt_project_follows(p))
		return;
	/* Before, of one that leaves. */
	tt_project_follow(p, tt_course_name(&p->course, told->buffer_id, of));
	tt_project_follow(p, type == TT_GRAPH_BUFFER_ALLOCATE
				     ? tt_course_take(&p->course, told, node)
				     : tt_course_give(&p->course, told, node));
	tt_project_follow(p, tt_course_name(&p->course, told->buffer_id, of));
}

void tt_project_on_there(struct tt_project *p, const struct tt_event_buffer *told)
{
	struct tt_event_buffer *slot;
	bool known = false;

	/* One that another thread made meanwhile, or gave back, was told of already. */
	if (tt_project_follows(p))
		tt_project_follow(p, tt_course_knows(&known, &p->course, told->buffer_id));
	if (known || p->status != TTNN_OK)
		return;
	slot = TT_VEC_PUSH(&p->there);
	if (!slot) {
		tt_project_fail(p, tt_fail_nomem());
		return;
	}
	*slot = *told;
	if (tt_dialect_has(p->options.dialect, TT_GRAPH_CAPTURE_START, TT_KEY_BUFFERS))
		use_device(p, told->device_id);
	if (tt_project_follows(p))
		tt_project_follow(p, tt_course_there(&p->course, told));
}

static bool has_chip(const struct tt_project_device *device, uint32_t id)
{
	for (uint32_t i = 0; i < device->chip_count; i++)
		if (device->chips[i] == id)
			return true;
	return false;
}

/*
 * The device that events name, or whose chip they name, as chips have numbers of their own: one that has
 * memory (others are there, too: the whole machine), else the one that programs were launched on last. `launching`: the
 * other way round.
 */
static uint32_t opened_device(const struct tt_project *p, const struct tt_project_thread *t,
			      uint32_t id, bool launching)
{
	bool used = false, launched = false;

	for (size_t i = 0; i < p->devices.count; i++) {
		const struct tt_project_device *device = &p->devices.data[i];

		used = used || (device->used && device->id == id);
		launched = launched || (device->id == t->launched_on && has_chip(device, id));
	}
	return launched && (launching || !used) ? t->launched_on : id;
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

	uint32_t node = tt_project_hang(p, t, type);

	if (type == TT_GRAPH_CB_ALLOCATE)
		tt_project_follow(p, tt_chip_list_note(&p->chips, memory->device_id));
	if (tt_project_describes(p) && p->status == TTNN_OK)
		tt_node_memory(p, node, memory);
}

/*
 * Upstream tells of circular buffers when it places them, and of the other kinds in dry runs only;
 * a capture inside a dry one that did not ask for that hears of the other kinds alone.
 * A capture that was asked to be dry inside one that is not writes what it would have written, too.
 * Dialect `seed` has all of it, once for all chips, which have the same.
 */
void tt_project_on_memory(struct tt_project *p, struct tt_project_thread *t,
			  const struct tt_event_program_memory *told)
{
	bool dry = p->options.actual == TTNN_RUN_NO_DISPATCH;
	bool asked = p->options.mode == TTNN_RUN_NO_DISPATCH;
	bool circular = told->kind == TT_MEMORY_CIRCULAR_BUFFER;
	bool written = dry ? asked || !circular : circular;
	struct tt_event_program_memory row = *told;

	if (told->kind == TT_MEMORY_PLANNED && p->dialect->one_memory)
		return;
	if (!t->told_memory)
		t->chip = told->device_id;
	if (told->kind == TT_MEMORY_PLANNED)
		written = asked;
	else if (p->dialect->one_memory)
		written = t->chip == told->device_id;
	if (written && p->dialect->one_memory)
		row.device_id = opened_device(p, t, told->device_id, true);
	if (written)
		add_memory(p, t, &row);
	if (told->kind == TT_MEMORY_PLANNED)
		return;
	t->told_memory = true;
	if (tt_project_follows(p))
		tt_project_follow(p, tt_course_row(&p->course, told, tt_project_last_node(p)));
}

/* Where circular buffers of every program are written those of one that was built before are, too: where they were. */
static void write_again(struct tt_project *p, struct tt_project_thread *t,
			const struct tt_event_program *told)
{
	struct tt_event_program_memory row;

	for (size_t i = 0; tt_event_memory_row(&row, told, i); i++)
		add_memory(p, t, &row);
}

void tt_project_on_program(struct tt_project *p, struct tt_project_thread *t,
			   const struct tt_event_program *told)
{
	const struct tt_project_sink *sink = p->options.sink;

	if (p->dialect->programs && t->open.count && p->options.how == TT_PROJECT_GRAPH)
		tt_node_program(p, tt_project_top(t), told);
	else if (p->dialect->programs && t->open.count && sink && sink->program)
		sink->program(p->options.context, tt_project_top(t), told);
	if (p->dialect->one_memory && !t->told_memory)
		write_again(p, t, told);
	if (tt_project_follows(p))
		tt_project_follow(p, tt_course_program(&p->course, told, tt_project_last_node(p)));
	t->told_memory = false;
}

void tt_project_on_release(struct tt_project *p, struct tt_project_thread *t, uint32_t told)
{
	uint32_t device_id = p->dialect->one_memory ? opened_device(p, t, told, false) : told;
	uint32_t node = tt_project_add(p, t, TT_GRAPH_CB_DEALLOCATE_ALL);

	use_device(p, device_id);
	if (tt_project_describes(p) && p->status == TTNN_OK)
		tt_node_release(p, node, device_id);
	tt_project_connect(p, node, tt_project_top(t));
	tt_project_connect(p, tt_project_top(t), node);
	t->told_memory = false;
	t->launched_on = device_id;
	if (tt_project_follows(p))
		tt_project_follow(p, tt_course_release(&p->course, device_id, node));
}

void tt_project_on_launch(struct tt_project *p, struct tt_project_thread *t,
			  const struct tt_event_program_launch *told)
{
	struct tt_project_device *device = device_of(p, told->device_id);
	uint32_t node;

	if (!p->dialect->programs || !device)
		return;
	if (!device->managed) {
		node = tt_project_hang(p, t, TT_GRAPH_SUB_DEVICE_MANAGER);
		if (tt_project_describes(p) && p->status == TTNN_OK)
			tt_node_manager(p, node, told);
	}
	device->managed = true;
	node = tt_project_hang(p, t, TT_GRAPH_PROGRAM_EXECUTION);
	if (tt_project_describes(p) && p->status == TTNN_OK)
		tt_node_launch(p, node, told);
}

void tt_project_on_device(struct tt_project *p, const struct tt_event_device *told)
{
	struct tt_project_device *device = device_of(p, told->device_id);
	uint32_t *chips;

	if (!device || !told->info)
		return;
	chips = tt_arena_calloc(&p->kept, told->info->chip_count + 1, sizeof(*chips));
	if (!chips) {
		tt_project_fail(p, tt_fail_nomem());
		return;
	}
	memcpy(chips, told->info->chips, told->info->chip_count * sizeof(*chips));
	device->chips = chips;
	device->chip_count = told->info->chip_count;
	device->arch = tt_arena_strdup(&p->kept, told->info->arch_name);
	device->profile = tt_arena_strdup(&p->kept, told->info->profile);
	if (told->row)
		device->row = *told->row;
	if (!device->arch || !device->profile)
		tt_project_fail(p, tt_fail_nomem());
}
