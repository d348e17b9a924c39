/*
 * layered.h: a layered drawing of one directed graph: boxes in rows, edges downwards.
 *
 * Called for every scope of a diagram (diagram.h). What always holds for the result:
 * - no two boxes intersect, tags included;
 * - an edge leaves its first box at the bottom, enters its last one at the top and touches no other
 *   box: it passes a row where a place was kept for it;
 * - a drawing much higher than wide continues in a further column;
 * - an edge over very many rows is not drawn: its target gets a tag instead, which stands for all
 *   such edges into it.
 * The work is linear in nodes and rows passed by edges, and those are bounded. No globals.
 */
#ifndef TT_REPORT_LAYERED_H
#define TT_REPORT_LAYERED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

#define TT_LAYOUT_NONE UINT32_MAX

/* Where lines pass the border of the drawing: above the first row, or below the last. */
enum tt_layout_port { TT_LAYOUT_NO_PORT, TT_LAYOUT_PORT_IN, TT_LAYOUT_PORT_OUT };

struct tt_layout_node {
	double width, height; /* given */
	/* given: one has no extent; nothing is straight above or below it up to the border */
	enum tt_layout_port port;
	double tag_width; /* given: of a tag that names it */
	double x, y;      /* the corner at the top left */
};

struct tt_layout_point {
	double x, y;
};

/*
 * From one node to another. The points are those of the drawn line, from its start: two of them with
 * the same x or the same y are joined by a straight line, others by a curve that is vertical at both
 * ends. No points: the edge is far (its target has a tag), trails into another column, or is from a node
 * to itself.
 */
struct tt_layout_edge {
	uint32_t from, to; /* given: indices of nodes */
	/* given: where it leaves and enters these, from their left; 0: anywhere */
	double from_x, to_x;
	bool hidden;   /* given: only puts `to` below `from`; is not drawn, gets no points */
	bool trailing; /* given: and `from` stands as if it were not there; none leaves `to` */
	bool far;
	const struct tt_layout_point *points;
	uint32_t point_count;
};

/* "from elsewhere", above a node. */
struct tt_layout_tag {
	uint32_t node;        /* that has far edges */
	uint32_t edge, count; /* the first of them, and how many there are */
	double x, y, width; /* x, y: the corner at the top left; the height is that of the style */
	struct tt_layout_point points[8]; /* from the tag to the node, as those of edges */
	uint32_t point_count;
};

struct tt_layout_style {
	double gap_x, gap_y;  /* between boxes of a row; between rows */
	double row_width;     /* rows are broken when wider */
	double column_height; /* drawings not higher are left in one column ... */
	double aspect;        /* ... others get this width for a height of 1 */
	double tag_height;    /* of tags */
	double tag_more;      /* what a tag is wider if it stands for several edges */
	uint32_t far_rows;    /* edges over more rows are far */
};
extern const struct tt_layout_style tt_layout_default;

struct tt_layout {
	const struct tt_layout_style *style;
	struct tt_layout_node
		*nodes;      /* in order of time: edges from a later node to an earlier one */
	uint32_t node_count; /* are laid out as if turned round, and drawn as they are */
	struct tt_layout_edge *edges;
	uint32_t edge_count;
	/* the result */
	struct tt_layout_tag *tags;
	uint32_t tag_count;
	uint32_t columns;
	double width, height;
};

/*
 * Places everything, from (0, 0) on. Points and tags come from `arena`; scratch memory is given back.
 * A node without edges stands in the row of the node before it.
 */
tt_status tt_layout_run(struct tt_layout *layout, struct tt_arena *arena);

#endif
