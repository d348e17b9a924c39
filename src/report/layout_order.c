/*
 * layout_order.c: the order of boxes within their rows. Each is put at the mean place of what it is
 * joined to, row after row, down and up in turn; the order with the fewest crossings is kept.
 */
#include <stdlib.h>
#include <string.h>

#include "report/layout_graph.h"

#define SWEEPS 8

struct keyed {
	double key;
	uint32_t place, vertex;
};

static int compare(const void *a, const void *b)
{
	const struct keyed *first = a, *second = b;

	if (first->key != second->key)
		return first->key < second->key ? -1 : 1;
	return first->place < second->place ? -1 : first->place > second->place;
}

/* Sorts a row by where its neighbours in the row above (side 1) or below (side 0) stand. */
static void sort_row(struct tt_layout_graph *graph, uint32_t row, int side, struct keyed *keyed)
{
	uint32_t start = graph->row_at[row], count = graph->row_at[row + 1] - start;
	uint32_t *order = graph->order + start;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t vertex = order[i];
		uint32_t from = graph->near_at[side][vertex], to = graph->near_at[side][vertex + 1];
		double sum = 0;

		for (uint32_t n = from; n < to; n++)
			sum += graph->vertices[graph->near[side][n]].place;
		keyed[i] = (struct keyed){to > from ? sum / (to - from) : -1, i, vertex};
	}
	/* Those without neighbours stay beside the one they stand behind. */
	for (uint32_t i = 0; i < count; i++) {
		if (keyed[i].key < 0)
			keyed[i].key = i > 0 ? keyed[i - 1].key : 0;
	}
	qsort(keyed, count, sizeof(*keyed), compare);
	for (uint32_t i = 0; i < count; i++) {
		order[i] = keyed[i].vertex;
		graph->vertices[order[i]].place = i;
	}
}

/* Crossings between a row and the next: inversions, counted with a tree of sums. */
static uint64_t row_crossings(struct tt_layout_graph *graph, uint32_t row, uint32_t *tree)
{
	uint32_t below = graph->row_at[row + 2] - graph->row_at[row + 1];
	uint64_t crossings = 0;
	uint32_t seen = 0;

	memset(tree, 0, sizeof(*tree) * (below + 1));
	for (uint32_t i = graph->row_at[row]; i < graph->row_at[row + 1]; i++) {
		uint32_t vertex = graph->order[i];
		uint32_t from = graph->near_at[0][vertex], to = graph->near_at[0][vertex + 1];

		for (uint32_t n = from; n < to; n++) {
			uint32_t not_right = 0;

			for (uint32_t k = graph->vertices[graph->near[0][n]].place + 1; k > 0;
			     k &= k - 1)
				not_right += tree[k];
			crossings += seen - not_right;
		}
		for (uint32_t n = from; n < to; n++, seen++) {
			for (uint32_t k = graph->vertices[graph->near[0][n]].place + 1; k <= below;
			     k += k & -k)
				tree[k]++;
		}
	}
	return crossings;
}

static uint64_t crossings(struct tt_layout_graph *graph)
{
	uint64_t sum = 0;

	for (uint32_t row = 0; row + 1 < graph->row_count; row++)
		sum += row_crossings(graph, row, graph->scratch);
	return sum;
}

static void number_places(struct tt_layout_graph *graph)
{
	for (uint32_t row = 0; row < graph->row_count; row++) {
		for (uint32_t i = graph->row_at[row]; i < graph->row_at[row + 1]; i++)
			graph->vertices[graph->order[i]].place = i - graph->row_at[row];
	}
}

tt_status tt_layout_arrange(struct tt_layout_graph *graph, struct tt_arena *arena)
{
	size_t bytes = sizeof(uint32_t) * graph->vertex_count;
	struct keyed *keyed = tt_arena_calloc(arena, graph->vertex_count + 1, sizeof(*keyed));
	uint32_t *best = tt_arena_alloc(arena, bytes + 1);

	if (!keyed || !best)
		return tt_fail_nomem();
	number_places(graph);
	uint64_t fewest = crossings(graph);
	memcpy(best, graph->order, bytes);
	for (int sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
		if (sweep % 2 == 0) {
			for (uint32_t row = 1; row < graph->row_count; row++)
				sort_row(graph, row, 1, keyed);
		} else {
			for (uint32_t row = graph->row_count - 1; row-- > 0;)
				sort_row(graph, row, 0, keyed);
		}
		uint64_t now = crossings(graph);
		if (now < fewest) {
			fewest = now;
			memcpy(best, graph->order, bytes);
		}
	}
	memcpy(graph->order, best, bytes);
	number_places(graph);
	return TTNN_OK;
}
