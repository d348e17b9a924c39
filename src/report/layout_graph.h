/*
 * layout_graph.h: the graph of a layout while it is made: every edge goes from one row to the next.
 *
 * Only layout*.c see it. A vertex is a box (node or tag) or the place where an edge passes a row. Rows
 * are ranges of `order`, which holds vertices from left to right.
 */
#ifndef TT_REPORT_LAYOUT_GRAPH_H
#define TT_REPORT_LAYOUT_GRAPH_H

#include "report/layered.h"

struct tt_layout_vertex {
	double width, x;     /* x of the middle */
	uint32_t row, place; /* place: within the row */
	bool box;
	bool port;
	bool aside; /* pulls at nothing: what is given back, and the way to it */
};

/* A piece of an edge, between two rows. */
struct tt_layout_step {
	uint32_t up, down; /* vertices, of rows r and r + 1 */
};

struct tt_layout_graph {
	const struct tt_layout_style *style;
	struct tt_layout_vertex
		*vertices; /* the nodes first, then the tags, then the places passed */
	uint32_t vertex_count;
	struct tt_layout_step *steps;
	uint32_t step_count;
	uint32_t *row_at; /* row_count + 1: where rows start in order[] */
	uint32_t row_count;
	uint32_t *order;
	/* for each vertex what is below (0) and above (1) it: vertices, and the steps to them */
	uint32_t *near_at[2], *near[2], *near_step[2];
	double *keys;      /* scratch, one for each vertex */
	uint32_t *scratch; /* one for each vertex, and one more */
};

/* The nodes of a layout in rows. */
struct tt_layout_rows {
	uint32_t *row;  /* of each node */
	uint32_t count; /* of rows */
};

/* Puts every node into a row below those it depends on, and marks the edges that are far. */
tt_status tt_layout_rows(struct tt_layout_rows *rows, struct tt_layout *layout,
			 struct tt_arena *arena);

/* Orders every row so that few steps cross. Starts from the order that is there. */
tt_status tt_layout_arrange(struct tt_layout_graph *graph, struct tt_arena *arena);

/* Gives every vertex its x, in the order of its row. */
tt_status tt_layout_place(struct tt_layout_graph *graph, struct tt_arena *arena);

#endif
