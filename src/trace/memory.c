#include "trace/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

bool tt_graph_is_operation(const struct tt_graph_node *node)
{
	const char *name = tt_graph_string(node, TT_KEY_NAME);

	if (node->type != TT_GRAPH_FUNCTION_START && node->type != TT_GRAPH_FUNCTION_END)
		return false;
	return strncmp(name, "ttnn.", 5) == 0 ||
	       (strncmp(name, "ttnn::", 6) == 0 && strncmp(name, "ttnn::prim::", 12) != 0) ||
	       node->level == 1;
}

static bool is_l1(const struct tt_graph_node *node)
{
	return strcmp(tt_graph_string(node, TT_KEY_TYPE), "L1") == 0;
}

static uint64_t size_of(const struct tt_graph_node *node)
{
	uint64_t size = 0;

	tt_graph_number(&size, node, TT_KEY_SIZE);
	return size;
}

/* ---- over time --------------------------------------------------------------------------------------- */

struct course {
	const struct tt_graph *graph;
	bool *live;         /* by buffer node */
	bool *born;         /* by buffer node: it is allocated in the graph */
	const char **maker; /* by buffer node */
	const char *operation[64];
	size_t depth;
};

static void change(struct course *c, struct tt_memory_point *now, uint32_t buffer, bool live)
{
	const struct tt_graph_node *node = &c->graph->nodes[buffer];
	uint64_t *total = is_l1(node) ? &now->l1 : &now->dram;

	if (c->live[buffer] == live)
		return;
	c->live[buffer] = live;
	if (live)
		*total += size_of(node);
	else
		*total -= size_of(node);
}

static const char *operation_of(const struct course *c)
{
	size_t depth = c->depth < 64 ? c->depth : 64;

	return depth ? c->operation[depth - 1] : "";
}

static void follow(struct course *c, struct tt_memory_point *now, uint32_t i)
{
	const struct tt_graph_node *node = &c->graph->nodes[i];
	uint32_t buffer = node->connection_count ? node->connections[0] : 0;
	bool known = node->connection_count && c->graph->nodes[buffer].type == TT_GRAPH_BUFFER;

	switch ((enum tt_graph_type)node->type) {
	case TT_GRAPH_FUNCTION_START:
		if (tt_graph_is_operation(node) && c->depth++ < 64)
			c->operation[c->depth - 1] = tt_graph_string(node, TT_KEY_NAME);
		break;
	case TT_GRAPH_FUNCTION_END:
		c->depth -= c->depth && tt_graph_is_operation(node);
		break;
	case TT_GRAPH_BUFFER:
		if (!c->born[i])
			change(c, now, i, true);
		break;
	case TT_GRAPH_BUFFER_ALLOCATE:
		if (known) {
			change(c, now, buffer, true);
			c->maker[buffer] = operation_of(c);
		}
		break;
	case TT_GRAPH_BUFFER_DEALLOCATE:
		if (known)
			change(c, now, buffer, false);
		break;
	case TT_GRAPH_CB_ALLOCATE:
		now->program += tt_graph_flag(node, TT_KEY_GLOBAL) ? 0 : size_of(node);
		break;
	case TT_GRAPH_DFB_ALLOCATE:
		now->program += tt_graph_flag(node, TT_KEY_BORROWS) ? 0 : size_of(node);
		break;
	case TT_GRAPH_SCRATCHPAD_ALLOCATE:
		now->program += size_of(node);
		break;
	case TT_GRAPH_CB_DEALLOCATE_ALL:
		now->program = 0;
		break;
	default:
		break;
	}
}

static void restart(struct course *c)
{
	memset(c->live, 0, c->graph->count * sizeof(*c->live));
	c->depth = 0;
}

/* ---- at the peak ------------------------------------------------------------------------------------- */

static const char *shape_in(const struct tt_graph *graph, const struct tt_graph_node *buffer)
{
	for (uint32_t i = 0; i < buffer->connection_count; i++) {
		const struct tt_graph_node *node = &graph->nodes[buffer->connections[i]];

		if (node->type == TT_GRAPH_TENSOR)
			return tt_graph_string(node, TT_KEY_SHAPE);
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

/* Who is there after node `peak`. */
static tt_status holders(struct tt_memory *out, struct course *c, size_t peak, bool l1)
{
	struct tt_memory_point now = {0};

	restart(c);
	for (uint32_t i = 0; i < c->graph->count && i <= peak; i++)
		follow(c, &now, i);
	for (uint32_t i = 0; i < c->graph->count; i++) {
		const struct tt_graph_node *node = &c->graph->nodes[i];
		struct tt_memory_holder *holder;

		if (!c->live[i] || is_l1(node) != l1)
			continue;
		holder = l1 ? TT_VEC_PUSH(&out->l1) : TT_VEC_PUSH(&out->dram);
		if (!holder)
			return tt_fail_nomem();
		*holder = (struct tt_memory_holder){.buffer = i,
						    .size = size_of(node),
						    .shape = shape_in(c->graph, node),
						    .maker = c->maker[i] ? c->maker[i] : ""};
	}
	if (l1 && out->l1.count)
		qsort(out->l1.data, out->l1.count, sizeof(*out->l1.data), by_size);
	if (!l1 && out->dram.count)
		qsort(out->dram.data, out->dram.count, sizeof(*out->dram.data), by_size);
	return TTNN_OK;
}

static tt_status measure(struct tt_memory *out, struct course *c)
{
	struct tt_memory_point now = {0};

	for (size_t i = 0; i < c->graph->count; i++) {
		const struct tt_graph_node *node = &c->graph->nodes[i];

		if (node->type == TT_GRAPH_BUFFER_ALLOCATE && node->connection_count)
			c->born[node->connections[0]] = true;
	}
	restart(c);
	for (uint32_t i = 0; i < c->graph->count; i++) {
		const struct tt_memory_point *l1 = &out->points[out->peak_l1];

		follow(c, &now, i);
		out->points[i] = now;
		if (now.l1 + now.program > l1->l1 + l1->program)
			out->peak_l1 = i;
		if (now.dram > out->points[out->peak_dram].dram)
			out->peak_dram = i;
	}
	TT_TRY(holders(out, c, out->peak_l1, true));
	return holders(out, c, out->peak_dram, false);
}

tt_status tt_memory_of(struct tt_memory *out, const struct tt_graph *graph)
{
	struct course c = {.graph = graph};
	size_t count = graph->count + 1;
	tt_status status;

	memset(out, 0, sizeof(*out));
	out->points = tt_calloc(count, sizeof(*out->points));
	c.live = tt_calloc(2 * count, sizeof(*c.live));
	c.born = c.live ? c.live + count : NULL;
	c.maker = tt_calloc(count, sizeof(*c.maker));
	status = out->points && c.live && c.maker ? measure(out, &c) : tt_fail_nomem();
	tt_free(c.live);
	tt_free(c.maker);
	if (status != TTNN_OK)
		tt_memory_deinit(out);
	return status;
}

void tt_memory_deinit(struct tt_memory *memory)
{
	tt_free(memory->points);
	memory->points = NULL;
	TT_VEC_DEINIT(&memory->l1);
	TT_VEC_DEINIT(&memory->dram);
}
