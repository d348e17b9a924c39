#include "trace/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/course.h"

/* ---- over time --------------------------------------------------------------------------------------- */

/* What buffers take of a bank of L1 on one device. */
struct bank {
	uint32_t device_id;
	uint64_t bytes;
};

struct running {
	const struct tt_graph *graph;
	const struct tt_course *course;
	bool *live;         /* by buffer of the course */
	const char **maker; /* likewise */
	TT_VEC(struct bank) banks;
	uint64_t program;        /* of the last one */
	uint32_t program_device; /* TT_COURSE_NONE: not known */
	uint32_t core_device;    /* of the fullest core */
	size_t next;             /* step */
	const char *operation[64];
	size_t depth;
	struct tt_memory_point now;
};

static struct bank *bank_of(struct running *r, uint32_t device_id)
{
	struct bank *bank;

	for (size_t i = 0; i < r->banks.count; i++)
		if (r->banks.data[i].device_id == device_id)
			return &r->banks.data[i];
	bank = TT_VEC_PUSH(&r->banks);
	if (bank)
		*bank = (struct bank){.device_id = device_id};
	return bank;
}

static const char *operation_of(const struct running *r)
{
	size_t depth = r->depth < 64 ? r->depth : 64;

	return depth ? r->operation[depth - 1] : "";
}

static tt_status change(struct running *r, uint32_t which, bool live)
{
	const struct tt_course_buffer *buffer = &r->course->buffers.data[which];
	uint64_t *total = buffer->l1 ? &r->now.l1 : &r->now.dram;
	struct bank *bank = bank_of(r, buffer->device_id);

	if (!bank)
		return tt_fail_nomem();
	if (r->live[which] == live)
		return TTNN_OK;
	r->live[which] = live;
	*total += live ? buffer->size : 0 - buffer->size;
	if (buffer->l1)
		bank->bytes += live ? buffer->bank_size : 0 - buffer->bank_size;
	return TTNN_OK;
}

/* The fullest core: on the device with the fullest banks, or on that of the program. */
static void find_core(struct running *r)
{
	struct tt_memory_point *now = &r->now;
	bool anywhere = r->program_device == TT_COURSE_NONE;

	now->program = r->program;
	now->core_buffers = 0;
	now->core_program = r->program;
	r->core_device = r->program_device;
	for (size_t i = 0; i < r->banks.count; i++) {
		const struct bank *bank = &r->banks.data[i];
		uint64_t program =
			anywhere || bank->device_id == r->program_device ? r->program : 0;

		if (bank->bytes + program < tt_memory_core(now) ||
		    (bank->bytes + program == tt_memory_core(now) && !bank->bytes))
			continue;
		now->core_buffers = bank->bytes;
		now->core_program = program;
		r->core_device = bank->device_id;
	}
}

static tt_status do_step(struct running *r, const struct tt_course_step *step)
{
	switch (step->kind) {
	case TT_COURSE_TAKE:
		r->maker[step->which] = operation_of(r);
		return change(r, step->which, true);
	case TT_COURSE_GIVE:
		return change(r, step->which, false);
	case TT_COURSE_PROGRAM:
		r->program = step->bytes;
		r->program_device = step->which;
		break;
	}
	return TTNN_OK;
}

static tt_status begin(struct running *r)
{
	memset(r->live, 0, r->course->buffers.count * sizeof(*r->live));
	memset(&r->now, 0, sizeof(r->now));
	r->banks.count = r->depth = r->next = 0;
	r->program = 0;
	r->program_device = TT_COURSE_NONE;
	for (uint32_t i = 0; i < r->course->buffers.count; i++)
		if (r->course->buffers.data[i].there)
			TT_TRY(change(r, i, true));
	return TTNN_OK;
}

/* What is so after a node, and after what happened before the next one is written. */
static tt_status follow(struct running *r, uint32_t i)
{
	const struct tt_graph_node *node = &r->graph->nodes[i];

	if (node->type == TT_GRAPH_FUNCTION_START && tt_graph_is_operation(node) && r->depth++ < 64)
		r->operation[r->depth - 1] = tt_graph_string(node, TT_KEY_NAME);
	for (; r->next < r->course->steps.count && r->course->steps.data[r->next].node <= i;
	     r->next++)
		TT_TRY(do_step(r, &r->course->steps.data[r->next]));
	find_core(r);
	return TTNN_OK;
}

/* Behind the node: an operation is under way up to its end. */
static void leave(struct running *r, uint32_t i)
{
	const struct tt_graph_node *node = &r->graph->nodes[i];

	if (node->type == TT_GRAPH_FUNCTION_END)
		r->depth -= r->depth && tt_graph_is_operation(node);
}

/* ---- at the peak ------------------------------------------------------------------------------------- */

static const char *shape_in(const struct tt_graph *graph, uint32_t node)
{
	const struct tt_graph_node *buffer = node < graph->count ? &graph->nodes[node] : NULL;

	for (uint32_t i = 0; buffer && i < buffer->connection_count; i++) {
		const struct tt_graph_node *tensor = &graph->nodes[buffer->connections[i]];

		if (tensor->type == TT_GRAPH_TENSOR)
			return tt_graph_string(tensor, TT_KEY_SHAPE);
	}
	return "";
}

static int by_size(const void *a, const void *b)
{
	const struct tt_memory_holder *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return x->buffer < y->buffer ? -1 : x->buffer > y->buffer;
}

static int by_bank(const void *a, const void *b)
{
	const struct tt_memory_holder *x = a, *y = b;

	if (x->bank_size != y->bank_size)
		return x->bank_size > y->bank_size ? -1 : 1;
	return by_size(a, b);
}

/* Who is there after the node of a peak; of the fullest core those on its device. */
static tt_status find_holders(struct tt_memory_peak *peak, struct running *r, bool l1, bool core)
{
	TT_TRY(begin(r));
	peak->operation = "";
	for (uint32_t i = 0; i < r->graph->count && i <= peak->node; i++) {
		TT_TRY(follow(r, i));
		peak->operation = operation_of(r);
		leave(r, i);
	}
	for (uint32_t i = 0; i < r->course->buffers.count; i++) {
		const struct tt_course_buffer *buffer = &r->course->buffers.data[i];
		struct tt_memory_holder *holder;

		if (!r->live[i] || buffer->l1 != l1 ||
		    (core && buffer->device_id != r->core_device))
			continue;
		holder = TT_VEC_PUSH(&peak->holders);
		if (!holder)
			return tt_fail_nomem();
		*holder = (struct tt_memory_holder){.buffer = buffer->node,
						    .size = buffer->size,
						    .bank_size = buffer->bank_size,
						    .shape = shape_in(r->graph, buffer->node),
						    .maker = r->maker[i] ? r->maker[i] : ""};
	}
	if (peak->holders.count)
		qsort(peak->holders.data, peak->holders.count, sizeof(*peak->holders.data),
		      core ? by_bank : by_size);
	return TTNN_OK;
}

/* Whether nobody knows what a buffer takes of a bank. */
static bool is_shareless(const struct tt_course_buffer *buffer)
{
	return buffer->l1 && buffer->size && !buffer->bank_size;
}

static tt_status measure(struct tt_memory *out, struct running *r)
{
	const struct tt_memory_point *points = out->points;

	TT_TRY(begin(r));
	for (uint32_t i = 0; i < r->graph->count; i++) {
		TT_TRY(follow(r, i));
		out->points[i] = r->now;
		if (tt_memory_core(&r->now) > tt_memory_core(&points[out->core.node]))
			out->core.node = i;
		if (r->now.l1 > points[out->l1.node].l1)
			out->l1.node = i;
		if (r->now.dram > points[out->dram.node].dram)
			out->dram.node = i;
		leave(r, i);
	}
	for (size_t i = 0; i < r->course->buffers.count; i++)
		out->shareless += is_shareless(&r->course->buffers.data[i]);
	out->bank = r->course->bank;
	TT_TRY(find_holders(&out->core, r, true, true));
	TT_TRY(find_holders(&out->l1, r, true, false));
	return find_holders(&out->dram, r, false, false);
}

tt_status tt_memory_of(struct tt_memory *out, const struct tt_graph *graph)
{
	struct running r = {.graph = graph, .course = graph->course};
	struct tt_course read = {0};
	tt_status status;

	memset(out, 0, sizeof(*out));
	if (!r.course) {
		TT_TRY(tt_course_read(&read, graph));
		r.course = &read;
	}
	out->points = tt_calloc(graph->count + 1, sizeof(*out->points));
	r.live = tt_calloc(r.course->buffers.count + 1, sizeof(*r.live));
	r.maker = tt_calloc(r.course->buffers.count + 1, sizeof(*r.maker));
	status = out->points && r.live && r.maker ? measure(out, &r) : tt_fail_nomem();
	tt_free(r.live);
	tt_free(r.maker);
	TT_VEC_DEINIT(&r.banks);
	tt_course_deinit(&read);
	if (status != TTNN_OK)
		tt_memory_deinit(out);
	return status;
}

void tt_memory_deinit(struct tt_memory *memory)
{
	tt_free(memory->points);
	memory->points = NULL;
	TT_VEC_DEINIT(&memory->core.holders);
	TT_VEC_DEINIT(&memory->l1.holders);
	TT_VEC_DEINIT(&memory->dram.holders);
}
