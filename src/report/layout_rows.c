/*
 * layout_rows.c: which row a box stands in. As high as what it depends on allows; then as low as what
 * depends on it allows, where that makes no edge longer: so weights stand beside the operation that
 * wants them and not at the top of the page. What trails goes below in the end.
 */
#include <string.h>

#include "report/layout_graph.h"

/* Places passed by edges, for each node: more, and shorter edges count as far. */
#define PASSED_PER_NODE 30
#define PASSED_MIN 20000

/* The edges below each node, those of node i at below[at[i]] .. below[at[i + 1]]. */
struct fan {
	uint32_t *at, *below, *in_degree;
};

/* An edge as it is laid out: downwards in time. */
static void ends(const struct tt_layout_edge *edge, uint32_t *up, uint32_t *down)
{
	*up = edge->from < edge->to ? edge->from : edge->to;
	*down = edge->from < edge->to ? edge->to : edge->from;
}

static tt_status build_fan(struct fan *fan, const struct tt_layout *layout, struct tt_arena *arena)
{
	uint32_t up, down;

	fan->at = tt_arena_calloc(arena, (size_t)layout->node_count + 2, sizeof(uint32_t));
	fan->below = tt_arena_calloc(arena, (size_t)layout->edge_count + 1, sizeof(uint32_t));
	fan->in_degree = tt_arena_calloc(arena, (size_t)layout->node_count + 1, sizeof(uint32_t));
	if (!fan->at || !fan->below || !fan->in_degree)
		return tt_fail_nomem();
	for (uint32_t i = 0; i < layout->edge_count; i++) {
		ends(&layout->edges[i], &up, &down);
		if (up != down && !layout->edges[i].trailing) {
			fan->at[up + 2]++;
			fan->in_degree[down]++;
		}
	}
	for (uint32_t i = 2; i < layout->node_count + 2; i++)
		fan->at[i] += fan->at[i - 1];
	for (uint32_t i = 0; i < layout->edge_count; i++) {
		ends(&layout->edges[i], &up, &down);
		if (up != down && !layout->edges[i].trailing)
			fan->below[fan->at[up + 1]++] = down;
	}
	return TTNN_OK;
}

static void assign(uint32_t *row, const struct fan *fan, const struct tt_layout *layout)
{
	uint32_t count = layout->node_count;

	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t e = fan->at[i]; e < fan->at[i + 1]; e++) {
			if (row[fan->below[e]] <= row[i])
				row[fan->below[e]] = row[i] + 1;
		}
	}
	for (uint32_t i = count; i-- > 0;) {
		uint32_t lowest = UINT32_MAX, out = fan->at[i + 1] - fan->at[i];

		for (uint32_t e = fan->at[i]; e < fan->at[i + 1]; e++)
			lowest = row[fan->below[e]] < lowest ? row[fan->below[e]] : lowest;
		if (out > 0 && out >= fan->in_degree[i] && !layout->nodes[i].port)
			row[i] = lowest - 1;
	}
	for (uint32_t i = 1; i < count; i++) {
		if (!fan->in_degree[i] && fan->at[i] == fan->at[i + 1])
			row[i] = row[i - 1];
	}
}

/* What trails stands just below the lowest box that it follows. */
static void assign_trailing(uint32_t *row, const struct tt_layout *layout)
{
	uint32_t up, down;

	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < layout->edge_count; i++) {
			ends(&layout->edges[i], &up, &down);
			if (!layout->edges[i].trailing || up == down)
				continue;
			if (pass == 0 || row[down] <= row[up])
				row[down] = pass ? row[up] + 1 : 0;
		}
	}
}

/* Ports that lead out are in the last row; those that lead in, with nothing above, in the first. */
static void assign_last(uint32_t *row, const struct tt_layout *layout)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < layout->node_count; i++)
		last = row[i] > last ? row[i] : last;
	for (uint32_t i = 0; i < layout->node_count; i++) {
		if (layout->nodes[i].port == TT_LAYOUT_PORT_OUT)
			row[i] = last;
	}
}

/*
 * Breaks rows that are too wide into several and leaves out those that are empty. Nodes of one row
 * do not depend on each other, so that any of them may come first: the earlier. Ports, which come
 * before or after all others, break none.
 */
static tt_status split(struct tt_layout_rows *rows, const struct tt_layout *layout,
		       struct tt_arena *arena)
{
	size_t most = (size_t)layout->node_count + 1;
	uint32_t *parts = tt_arena_calloc(arena, most, sizeof(*parts));
	uint32_t *first = tt_arena_calloc(arena, most + 1, sizeof(*first));
	double *width = tt_arena_calloc(arena, most, sizeof(*width));

	if (!parts || !first || !width)
		return tt_fail_nomem();
	/* Which part of its row each node falls into: parts[] counts them, first[] numbers them. */
	for (int pass = 0; pass < 2; pass++) {
		memset(parts, 0, sizeof(*parts) * most);
		for (uint32_t i = 0; i < layout->node_count; i++) {
			uint32_t row = rows->row[i];
			double wide = layout->nodes[i].width + layout->style->gap_x;

			if (layout->nodes[i].port)
				wide = 0;

			if (!parts[row] || width[row] + wide > layout->style->row_width) {
				parts[row]++;
				width[row] = 0;
			}
			width[row] += wide;
			if (pass == 1)
				rows->row[i] = first[row] + parts[row] - 1;
		}
		if (pass == 0) {
			for (size_t row = 0; row < most; row++)
				first[row + 1] = first[row] + parts[row];
			rows->count = first[most];
		}
	}
	return TTNN_OK;
}

static void mark_far(const struct tt_layout_rows *rows, struct tt_layout *layout)
{
	uint64_t most = (uint64_t)layout->node_count * PASSED_PER_NODE + PASSED_MIN, passed;
	uint32_t limit = layout->style->far_rows;

	do {
		passed = 0;
		for (uint32_t i = 0; i < layout->edge_count; i++) {
			struct tt_layout_edge *edge = &layout->edges[i];
			uint32_t up, down, span;

			ends(edge, &up, &down);
			span = rows->row[down] - rows->row[up];
			edge->far = !edge->hidden && span > limit;
			passed += edge->hidden || edge->far || !span ? 0 : span - 1;
		}
		limit = limit * 3 / 4;
	} while (passed > most && limit > 0);
}

tt_status tt_layout_rows(struct tt_layout_rows *rows, struct tt_layout *layout,
			 struct tt_arena *arena)
{
	struct fan fan;

	rows->row = tt_arena_calloc(arena, (size_t)layout->node_count + 1, sizeof(uint32_t));
	if (!rows->row)
		return tt_fail_nomem();
	TT_TRY(build_fan(&fan, layout, arena));
	assign(rows->row, &fan, layout);
	assign_trailing(rows->row, layout);
	assign_last(rows->row, layout);
	TT_TRY(split(rows, layout, arena));
	mark_far(rows, layout);
	return TTNN_OK;
}
