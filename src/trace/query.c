#include "trace/query.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

tt_status tt_query_calltrace(const char *const **out, size_t *count, struct tt_arena *arena,
			     const struct tt_graph *graph)
{
	const char **names;
	size_t starts = 0;

	for (size_t i = 0; i < graph->count; i++)
		starts += graph->nodes[i].type == TT_GRAPH_FUNCTION_START;
	names = tt_arena_calloc(arena, starts + 1, sizeof(*names));
	if (!names)
		return tt_fail_nomem();
	*count = 0;
	for (size_t i = 0; i < graph->count; i++)
		if (graph->nodes[i].type == TT_GRAPH_FUNCTION_START)
			names[(*count)++] = tt_graph_string(&graph->nodes[i], TT_KEY_NAME);
	*out = names;
	return TTNN_OK;
}

/* ---- memory ------------------------------------------------------------------------------------------ */

static bool is_type(const struct tt_graph_node *node, const char *type)
{
	return strcmp(tt_graph_string(node, TT_KEY_TYPE), type) == 0;
}

static uint64_t size_of(const struct tt_graph_node *node)
{
	uint64_t size = 0;

	tt_graph_number(&size, node, TT_KEY_SIZE);
	return size;
}

/* The buffer that an allocation or a free is about; the node itself when it names none. */
static const struct tt_graph_node *buffer_of(const struct tt_graph *graph,
					     const struct tt_graph_node *node)
{
	return node->connection_count ? &graph->nodes[node->connections[0]] : node;
}

/* A total less a part: as upstream's arithmetic has it, or not below 0. */
static uint64_t less(const struct tt_graph *graph, uint64_t total, uint64_t part)
{
	if (graph->dialect == TTNN_DIALECT_SEED && part > total)
		return 0;
	return total - part;
}

/*
 * Program memory is told of every chip of a mesh, row by row, and all have the same: that of the first chip
 * since it was free is what a core holds. Upstream adds up all chips.
 */
struct first_chip {
	bool all, any;
	uint64_t id;
};

static bool is_first_chip(struct first_chip *first, const struct tt_graph_node *node)
{
	uint64_t id = 0;

	tt_graph_number(&id, node, TT_KEY_DEVICE_ID);
	if (!first->any)
		*first = (struct first_chip){first->all, true, id};
	return first->all || first->id == id;
}

/* Buffers that a top-level function is given, right behind its start; moves *at over them. */
static uint64_t given_buffers(size_t *at, const struct tt_graph *graph)
{
	uint64_t bytes = 0;

	for (; *at + 1 < graph->count; (*at)++) {
		const struct tt_graph_node *node = &graph->nodes[*at + 1];

		if (node->type == TT_GRAPH_BUFFER && is_type(node, "L1"))
			bytes += size_of(node);
		else if (node->type != TT_GRAPH_TENSOR)
			break;
	}
	return bytes;
}

uint32_t tt_query_peak_l1(const struct tt_graph *graph)
{
	uint64_t program = 0, buffers = 0;
	uint32_t peak = 0;
	size_t depth = 0;
	struct first_chip first = {.all = graph->dialect != TTNN_DIALECT_SEED};

	for (size_t i = 0; i < graph->count; i++) {
		const struct tt_graph_node *node = &graph->nodes[i], *buffer;
		uint32_t now;

		switch ((enum tt_graph_type)node->type) {
		case TT_GRAPH_FUNCTION_START:
			if (depth++ == 0)
				buffers += given_buffers(&i, graph);
			break;
		case TT_GRAPH_FUNCTION_END:
			depth -= depth > 0;
			break;
		case TT_GRAPH_DFB_ALLOCATE:
			if (tt_graph_flag(node, TT_KEY_BORROWS))
				break;
			/* fallthrough */
		case TT_GRAPH_CB_ALLOCATE:
		case TT_GRAPH_SCRATCHPAD_ALLOCATE:
			program += is_first_chip(&first, node) ? size_of(node) : 0;
			break;
		case TT_GRAPH_CB_DEALLOCATE_ALL:
			program = 0;
			first.any = false;
			break;
		case TT_GRAPH_BUFFER_ALLOCATE:
			if (is_type(node, "L1"))
				buffers += size_of(node);
			break;
		case TT_GRAPH_BUFFER_DEALLOCATE:
			buffer = buffer_of(graph, node);
			if (is_type(buffer, "L1"))
				buffers = less(graph, buffers, size_of(buffer));
			break;
		default:
			break;
		}
		now = (uint32_t)(program + buffers);
		peak = now > peak ? now : peak;
	}
	return peak;
}

/* Bytes that a buffer takes in the fullest core. */
static tt_status core_share(uint64_t *out, const struct tt_graph_node *node, uint32_t storage_cores)
{
	uint64_t size = size_of(node), page = 0, cores = 0, pages;

	if (tt_graph_number(out, node, TT_KEY_BANK_SIZE))
		return TTNN_OK;
	tt_graph_number(&page, node, TT_KEY_PAGE_SIZE);
	tt_graph_number(&cores, node, TT_KEY_NUM_CORES);
	cores = cores ? cores : storage_cores;
	if (!page || !cores)
		return tt_fail(TTNN_INVALID,
			       "node %lld: a buffer without max_size_per_bank; tell the number of "
			       "cores that interleaved buffers are spread over",
			       (long long)node->counter);
	pages = size / page + (size % page != 0);
	*out = (pages / cores + (pages % cores != 0)) * page;
	return TTNN_OK;
}

static void raise_peak(uint64_t *peak, uint64_t value)
{
	*peak = value > *peak ? value : *peak;
}

/* Program memory of one kind: more of it, and of the sum. */
static void take(uint64_t *kind, uint64_t *kind_peak, struct tt_query_core *now,
		 struct tt_query_core *peak, uint64_t size)
{
	*kind += size;
	now->total += size;
	raise_peak(kind_peak, *kind);
	raise_peak(&peak->total, now->total);
}

static tt_status core_buffer(struct tt_query_core *now, struct tt_query_core *peak,
			     const struct tt_graph *graph, const struct tt_graph_node *node,
			     uint32_t storage_cores)
{
	uint64_t size;

	if (is_type(node, "DRAM"))
		return TTNN_OK;
	TT_TRY(core_share(&size, node, storage_cores));
	if (node->type == TT_GRAPH_BUFFER_ALLOCATE) {
		take(&now->l1, &peak->l1, now, peak, size);
	} else {
		now->l1 = less(graph, now->l1, size);
		now->total = less(graph, now->total, size);
	}
	return TTNN_OK;
}

tt_status tt_query_per_core(struct tt_query_core *out, const struct tt_graph *graph,
			    uint32_t storage_cores)
{
	struct tt_query_core now = {0};
	struct first_chip first = {.all = graph->dialect != TTNN_DIALECT_SEED};

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < graph->count; i++) {
		const struct tt_graph_node *node = &graph->nodes[i];

		if (node->counter != (int64_t)i)
			return tt_fail(TTNN_INVALID, "node %zu has counter %lld", i,
				       (long long)node->counter);
		switch ((enum tt_graph_type)node->type) {
		case TT_GRAPH_CB_ALLOCATE:
			if (!tt_graph_flag(node, TT_KEY_GLOBAL) && is_first_chip(&first, node))
				take(&now.circular, &out->circular, &now, out, size_of(node));
			break;
		case TT_GRAPH_DFB_ALLOCATE:
			if (!tt_graph_flag(node, TT_KEY_BORROWS) && is_first_chip(&first, node))
				take(&now.dataflow, &out->dataflow, &now, out, size_of(node));
			break;
		case TT_GRAPH_SCRATCHPAD_ALLOCATE:
			if (is_first_chip(&first, node))
				take(&now.scratchpad, &out->scratchpad, &now, out, size_of(node));
			break;
		case TT_GRAPH_CB_DEALLOCATE_ALL:
			now.total -= now.circular + now.dataflow + now.scratchpad;
			now.circular = now.dataflow = now.scratchpad = 0;
			first.any = false;
			break;
		case TT_GRAPH_BUFFER_ALLOCATE:
		case TT_GRAPH_BUFFER_DEALLOCATE:
			TT_TRY(core_buffer(&now, out, graph, node, storage_cores));
			break;
		default:
			break;
		}
	}
	return TTNN_OK;
}

/* Sums wrap: what a file says of sizes is not ours to believe. */
struct tt_query_dram tt_query_dram(const struct tt_graph *graph)
{
	struct tt_query_dram out = {0};
	uint64_t allocated = 0, freed = 0;

	for (size_t i = 0; i < graph->count; i++) {
		const struct tt_graph_node *node = &graph->nodes[i];
		int64_t now;

		if (node->type == TT_GRAPH_BUFFER_DEALLOCATE)
			node = buffer_of(graph, node);
		else if (node->type != TT_GRAPH_BUFFER_ALLOCATE)
			continue;
		if (!is_type(node, "DRAM"))
			continue;
		*(graph->nodes[i].type == TT_GRAPH_BUFFER_ALLOCATE ? &allocated : &freed) +=
			size_of(node);
		now = (int64_t)(allocated - freed);
		out.peak = now > out.peak ? now : out.peak;
	}
	out.allocated = (int64_t)allocated;
	out.freed = (int64_t)freed;
	return out;
}

/* ---- outputs --------------------------------------------------------------------------------------------- */

static bool gives_tensor(const struct tt_graph *graph, const struct tt_graph_node *node)
{
	for (uint32_t i = 0; i < node->connection_count; i++)
		if (graph->nodes[node->connections[i]].type == TT_GRAPH_TENSOR)
			return true;
	return false;
}

/* The last function_end that gives a tensor, or NULL. */
static const struct tt_graph_node *last_giver(const struct tt_graph *graph)
{
	for (size_t i = graph->count; i-- > 0;) {
		const struct tt_graph_node *node = &graph->nodes[i];

		if (node->type == TT_GRAPH_FUNCTION_END && gives_tensor(graph, node))
			return node;
	}
	return NULL;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Sorts, and leaves each number once; returns how many are left. */
static size_t sort_once(uint32_t *numbers, size_t count)
{
	size_t kept = 0;

	if (!count)
		return 0;
	qsort(numbers, count, sizeof(*numbers), by_number);
	for (size_t i = 0; i < count; i++)
		if (!kept || numbers[i] != numbers[kept - 1])
			numbers[kept++] = numbers[i];
	return kept;
}

static bool contains(const uint32_t *numbers, size_t count, uint32_t number)
{
	return count && bsearch(&number, numbers, count, sizeof(*numbers), by_number);
}

tt_status tt_query_outputs(const uint32_t **out, size_t *count, struct tt_arena *arena,
			   const struct tt_graph *graph)
{
	const struct tt_graph_node *node = last_giver(graph);
	size_t used = 0;
	uint32_t *found;

	if (!node)
		return tt_fail_cond(
			TTNN_INVALID, "tt::exception",
			"No function_end node with tensor connections found in the trace");
	found = tt_arena_calloc(arena, node->connection_count, sizeof(*found));
	if (!found)
		return tt_fail_nomem();
	for (uint32_t i = 0; i < node->connection_count; i++)
		if (graph->nodes[node->connections[i]].type == TT_GRAPH_TENSOR)
			found[used++] = node->connections[i];
	*count = sort_once(found, used);
	*out = found;
	return TTNN_OK;
}

static tt_status count_made(struct tt_query_counts *out, const struct tt_graph *graph,
			    const uint32_t *outputs)
{
	TT_VEC(uint32_t) made = {0};
	tt_status status = TTNN_OK;

	for (size_t i = 0; i < graph->count && status == TTNN_OK; i++) {
		const struct tt_graph_node *node = &graph->nodes[i];
		uint32_t *slot;

		if (node->type != TT_GRAPH_FUNCTION_END || !node->connection_count ||
		    strcmp(tt_graph_string(node, TT_KEY_NAME), "create_device_tensor") != 0)
			continue;
		slot = TT_VEC_PUSH(&made);
		if (slot)
			*slot = node->connections[0];
		else
			status = tt_fail_nomem();
	}
	made.count = sort_once(made.data, made.count);
	for (size_t i = 0; made.data && i < made.count; i++)
		out->intermediate += !contains(outputs, out->output, made.data[i]);
	TT_VEC_DEINIT(&made);
	return status;
}

tt_status tt_query_counts(struct tt_query_counts *out, const struct tt_graph *graph)
{
	struct tt_arena arena = {0};
	const uint32_t *outputs = NULL;
	tt_status status = TTNN_OK;

	*out = (struct tt_query_counts){0};
	/* Upstream reads past the end of a trace without outputs; here there are none. */
	if (last_giver(graph))
		status = tt_query_outputs(&outputs, &out->output, &arena, graph);
	if (status == TTNN_OK)
		status = count_made(out, graph, outputs);
	tt_arena_deinit(&arena);
	return status;
}

tt_status tt_query_output_info(const struct tt_query_info **out, size_t *count,
			       struct tt_arena *arena, const struct tt_graph *graph)
{
	const uint32_t *outputs;
	size_t output_count, used = 0;
	struct tt_query_info *infos;

	TT_TRY(tt_query_outputs(&outputs, &output_count, arena, graph));
	infos = tt_arena_calloc(arena, output_count, sizeof(*infos));
	if (!infos)
		return tt_fail_nomem();
	for (size_t i = 0; i < graph->count; i++) {
		const struct tt_graph_node *buffer = &graph->nodes[i];

		if (buffer->type != TT_GRAPH_BUFFER)
			continue;
		for (uint32_t k = 0; k < buffer->connection_count; k++) {
			uint32_t tensor = buffer->connections[k];
			bool again =
				used == output_count || !contains(outputs, output_count, tensor);

			for (uint32_t j = 0; j < k && !again; j++)
				again = buffer->connections[j] == tensor;
			if (again)
				continue;
			infos[used++] = (struct tt_query_info){
				.shape = tt_graph_string(&graph->nodes[tensor], TT_KEY_SHAPE),
				/* Upstream's number has 32 bits. */
				.size = graph->dialect == TTNN_DIALECT_SEED
						? size_of(buffer)
						: (uint32_t)size_of(buffer),
				.l1 = is_type(buffer, "L1"),
			};
		}
	}
	*out = infos;
	*count = used;
	return TTNN_OK;
}

uint64_t tt_query_duration(const struct tt_graph *graph)
{
	for (size_t i = graph->count; i-- > 0;)
		if (graph->nodes[i].type == TT_GRAPH_CAPTURE_END)
			return graph->nodes[i].duration;
	return 0;
}
