/*
 * diagram.h: a picture before it is drawn: boxes inside boxes, and links between any two of them.
 *
 * Made from a graph (tt_diagram_calls), folded, laid out, then written by svg.h.
 * Box 0 is the page. A link is drawn between the two outermost boxes that it joins: from the bottom of
 * one to the top of the other, within the scope that holds both; where several tensors go the same way
 * a label on the line names them. A line at the border of a repetition goes on inside of it, from a
 * port (a box without extent that is not drawn) or to one. What always holds after
 * tt_diagram_layout(): a box lies inside its parent, two boxes of which neither holds the other do
 * not intersect, and a tensor is given back below every box of its scope that uses it.
 */
#ifndef TT_REPORT_DIAGRAM_H
#define TT_REPORT_DIAGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "report/layered.h"
#include "trace/box_kinds.h"
#include "trace/graph.h"

#define TT_BOX_NONE UINT32_MAX

/* Memory of one sort that a RELEASE gives back. */
struct tt_freed {
	const char *memory; /* "DRAM 4 KiB"; NULL: of further sorts */
	uint32_t count;
	struct tt_freed *next;
};

struct tt_box {
	enum tt_box_kind kind;
	bool failed;           /* drawn in the colour of errors */
	bool gone;             /* stands for an equal box that is drawn: `same` */
	bool nested;           /* holds calls, not chips alone */
	bool nameless;         /* a RELEASE that what it frees tells all of */
	uint32_t parent, same; /* TT_BOX_NONE: none */
	uint32_t time;         /* boxes of a scope are ordered by it */
	uint32_t times;        /* how many of these there are (REPEAT, chips); 0 and 1: one */
	/* Links that leave it and end in tags; of a TAG or PORT: the box that it stands for. */
	uint32_t far;
	bool joined;                      /* a PORT: a line goes on from there */
	const char *title, *detail, *tip; /* any may be NULL but the title; labels have lines */
	struct tt_freed *freed;           /* of a RELEASE; diagram_release.h fills it */
	uint64_t hash;                    /* equal for boxes of equal content */
	double x, y, width, height;
};

enum tt_link_kind {
	TT_LINK_TENSOR,   /* to a call that takes a tensor */
	TT_LINK_LAST_USE, /* to where it is given back, from the call that used it last: dashed */
	TT_LINK_USE,      /* to there, from another: not drawn */
};

struct tt_link {
	uint32_t from, to;
	enum tt_link_kind kind;
	uint32_t tensor;  /* equal for links of the same tensor */
	const char *text; /* what the tensor is; may be NULL */
	const char *tip;  /* may be NULL */
};

/* A drawn link, half of one with a label, or the line from a tag to its box. */
struct tt_line {
	uint32_t from, to, link, count;       /* count: tensors on it */
	bool dashed, open;                    /* open: ends in a label, without an arrow */
	const struct tt_layout_point *points; /* relative to the corner of `scope` */
	uint32_t point_count;
	uint32_t scope;
};

struct tt_diagram {
	TT_VEC(struct tt_box) boxes;
	TT_VEC(struct tt_link) links;
	TT_VEC(struct tt_line) lines;
	const char *title;       /* above the picture */
	uint32_t folded;         /* boxes that folding left out */
	uint32_t *child_at;      /* children of box i: children[child_at[i]] .. */
	uint32_t *children;      /* ... in order of time; made by tt_diagram_index() */
	struct tt_arena arena;   /* texts and points */
	struct tt_arena scratch; /* children */
};

/* All zero is a valid empty diagram; this makes the page. */
tt_status tt_diagram_init(struct tt_diagram *diagram, const char *title);
void tt_diagram_deinit(struct tt_diagram *diagram);

/* A new box; its number, or TT_BOX_NONE when memory is exhausted. Texts are borrowed. */
uint32_t tt_diagram_box(struct tt_diagram *diagram, enum tt_box_kind kind, uint32_t parent,
			const char *title);
tt_status tt_diagram_link(struct tt_diagram *diagram, const struct tt_link *link);

/* Lists the children of every box that is drawn. */
tt_status tt_diagram_index(struct tt_diagram *diagram);

/*
 * All boxes that are drawn, the page first, each before what it holds, in scratch memory; the count, or 0
 * when memory is exhausted. Wants the children listed.
 */
uint32_t tt_diagram_list(uint32_t **out, struct tt_diagram *diagram);

/* Computes the hash of every box that is drawn, from titles, details and content. */
tt_status tt_diagram_hash(struct tt_diagram *diagram);

/*
 * Folds what repeats: neighbours of equal content, or sequences of them, are drawn once within a box
 * that tells how often. Links of the others move to the one that is drawn; those from one turn to the
 * next are left out.
 */
tt_status tt_diagram_fold(struct tt_diagram *diagram);

/* Gives all boxes and lines their places. */
tt_status tt_diagram_layout(struct tt_diagram *diagram);

/* Width of a text in units of the drawing, of the widest line; `size` is that of the letters. */
double tt_diagram_text_width(const char *text, double size);

/* The text if it is not wider than that, else as much of it as is and "…"; NULL: no memory. */
const char *tt_diagram_fit(struct tt_arena *arena, const char *text, double width, double size);

/* Sizes of letters and lines, shared with the writer. */
#define TT_HEADING_SIZE 15.0
#define TT_TITLE_SIZE 11.0
#define TT_TITLE_LINE 15.0
#define TT_DETAIL_SIZE 9.5
#define TT_DETAIL_LINE 12.0
#define TT_CHIP_SIZE 9.0
#define TT_CHIP_LINE 13.0
#define TT_LABEL_LINE 11.0
#define TT_BOX_PAD 7.0

/* A box is made this wide for a text; a longer one is cut where the box is not wider for other reasons. */
#define TT_TEXT_ROOM 640.0

/* ---- from graphs ------------------------------------------------------------------------------- */

/* What is drawn of a graph. All zero is the default. */
struct tt_diagram_options {
	bool flow;       /* the levelized graph: calls and tensors, no memory events */
	uint32_t levels; /* deepest level of calls, at most 60; 0: all that fit, 1 for `flow` */
	bool no_fold;    /* repeated layers as often as they are */
	bool fold;       /* also in small graphs */
	size_t calls;    /* outermost ones, from the first; 0: all */
};

/* The calls, nested as they were called; links are tensors. */
tt_status tt_diagram_calls(struct tt_diagram *out, const struct tt_graph *graph,
			   const struct tt_diagram_options *options);

#endif
