/*
 * layout_place.c: where boxes stand in their rows. Every vertex wants to be at the mean of those it is
 * joined to; a row's places are the ones nearest to the wishes (sum of weighted squares) that keep
 * order and distance. That is an isotonic regression, solved exactly by pooling neighbours whose
 * wishes conflict, in linear time.
 */
#include <math.h>

#include "report/layout_graph.h"

#define SWEEPS 12

/* What a wish weighs: edges that pass should be straight before boxes are centred. */
#define WEIGHT_PASSING 6.0
#define WEIGHT_IDLE 0.01

/*
 * How much a neighbour counts that nothing leads to, or that only trails: inputs and what is given back
 * stand around the line of operations.
 */
#define PULL_WEAK 0.002

struct pool {
	double sum, weight; /* of weighted wishes; of weights */
	uint32_t count;     /* vertices in it */
};

/* How far apart the middles of two neighbours stand. */
static double distance(const struct tt_layout_graph *graph, uint32_t left, uint32_t right)
{
	const struct tt_layout_vertex *a = &graph->vertices[left], *b = &graph->vertices[right];
	double gap = graph->style->gap_x;

	if (!a->box && !b->box)
		gap *= 0.5;
	return (a->width + b->width) / 2 + gap;
}

static bool is_source(const struct tt_layout_graph *graph, uint32_t vertex)
{
	return graph->near_at[1][vertex] == graph->near_at[1][vertex + 1];
}

/*
 * The wish of a vertex, from the sides asked for (bit 0: below, bit 1: above); false when nothing is
 * there.
 */
static bool request(double *out, const struct tt_layout_graph *graph, uint32_t vertex,
		    unsigned sides)
{
	double sum = 0, pulls = 0;

	for (int side = 0; side < 2; side++) {
		if (!(sides >> side & 1))
			continue;
		for (uint32_t n = graph->near_at[side][vertex];
		     n < graph->near_at[side][vertex + 1]; n++) {
			uint32_t other = graph->near[side][n];
			bool weak = side ? is_source(graph, other) : graph->vertices[other].aside;
			double pull = weak ? PULL_WEAK : 1;

			sum += graph->vertices[other].x * pull;
			pulls += pull;
		}
	}
	if (pulls == 0)
		return false;
	*out = sum / pulls;
	return true;
}

/* Whether any edge ends here. */
static bool joined(const struct tt_layout_graph *graph, uint32_t vertex)
{
	return !is_source(graph, vertex) ||
	       graph->near_at[0][vertex] != graph->near_at[0][vertex + 1];
}

static double weight(const struct tt_layout_graph *graph, uint32_t vertex)
{
	if (!graph->vertices[vertex].box)
		return WEIGHT_PASSING;
	return is_source(graph, vertex) || graph->vertices[vertex].aside ? PULL_WEAK : 1;
}

static void place_row(struct tt_layout_graph *graph, uint32_t row, unsigned sides,
		      struct pool *pools)
{
	uint32_t start = graph->row_at[row], end = graph->row_at[row + 1], pool_count = 0;
	double offset = 0, wanted, past = NAN;

	for (uint32_t i = start; i < end; i++) {
		uint32_t vertex = graph->order[i];
		double heavy = weight(graph, vertex);

		if (i > start)
			offset += distance(graph, graph->order[i - 1], vertex);
		graph->keys[i] = offset;
		/* What nothing is joined to stays where it is, or goes with the one before it. */
		if (!request(&wanted, graph, vertex, sides)) {
			wanted = isnan(past) || joined(graph, vertex) ? graph->vertices[vertex].x
								      : past + offset;
			heavy = WEIGHT_IDLE;
		}
		past = wanted - offset;
		pools[pool_count++] = (struct pool){past * heavy, heavy, 1};
		while (pool_count > 1) {
			struct pool *last = &pools[pool_count - 1], *before = last - 1;

			if (before->sum * last->weight <= last->sum * before->weight)
				break;
			before->sum += last->sum;
			before->weight += last->weight;
			before->count += last->count;
			pool_count--;
		}
	}
	uint32_t i = start;
	for (uint32_t p = 0; p < pool_count; p++) {
		for (uint32_t n = 0; n < pools[p].count; n++, i++)
			graph->vertices[graph->order[i]].x =
				pools[p].sum / pools[p].weight + graph->keys[i];
	}
}

/* At first every row is packed around 0. */
static void pack_row(struct tt_layout_graph *graph, uint32_t row)
{
	uint32_t start = graph->row_at[row], end = graph->row_at[row + 1];
	double x = 0;

	for (uint32_t i = start; i < end; i++) {
		if (i > start)
			x += distance(graph, graph->order[i - 1], graph->order[i]);
		graph->vertices[graph->order[i]].x = x;
	}
	for (uint32_t i = start; i < end; i++)
		graph->vertices[graph->order[i]].x -= x / 2;
}

tt_status tt_layout_place(struct tt_layout_graph *graph, struct tt_arena *arena)
{
	struct pool *pools = tt_arena_calloc(arena, graph->vertex_count + 1, sizeof(*pools));

	if (!pools)
		return tt_fail_nomem();
	for (uint32_t row = 0; row < graph->row_count; row++)
		pack_row(graph, row);
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		/* One side in turn first, which moves far; both sides in the end, which balances. */
		unsigned both = sweep >= SWEEPS / 2 ? 3 : 0;

		if (sweep % 2 == 0) {
			for (uint32_t row = 0; row < graph->row_count; row++)
				place_row(graph, row, both | 2, pools);
		} else {
			for (uint32_t row = graph->row_count; row-- > 0;)
				place_row(graph, row, both | 1, pools);
		}
	}
	return TTNN_OK;
}
