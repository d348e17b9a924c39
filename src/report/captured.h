/*
 * captured.h: the part of the graph that belongs to one operation, as JSON text with its nodes
 * renumbered, and its edges.
 *
 * Nodes come as their shapes and numbers (draft.h). The numbers of nodes are filled in at the end, when all are
 * known. What is stored is the text, or what it takes to make it (compact.h).
 */
#ifndef TT_REPORT_CAPTURED_H
#define TT_REPORT_CAPTURED_H

#include "report/compact.h"
#include "report/draft.h"
#include "report/spool.h"

struct tt_report_captured_node {
	const struct tt_report_shape *shape;
	int64_t counter; /* old number */
	bool bound;      /* the start or the end of a capture */
};

/* Numbers of an operation that are always in memory. */
#define TT_REPORT_FEW 4096

struct tt_report_captured {
	struct tt_report_devices *devices;
	struct tt_report_shapes shapes;
	struct tt_report_compact compact;
	TT_VEC(struct tt_report_captured_node) nodes;
	int64_t few[TT_REPORT_FEW]; /* the first numbers of all nodes */
	size_t few_count;
	struct tt_spool numbers; /* those behind: int64_t */
	int64_t arguments;       /* list of the operation's, for the row */
	struct tt_str whole, text;
	TT_VEC(uint32_t) renumber;      /* new number + 1 of old counter - least; 0: none */
	TT_VEC(uint32_t) key;           /* of the text */
	TT_VEC(int64_t) values;         /* that may vary in it */
	struct tt_report_drafts drafts; /* of single deallocations */
	struct tt_json_parser parser;
};

/* All zero, before the first use; temporary files are in that directory, whose name is borrowed. */
void tt_report_captured_init(struct tt_report_captured *captured, const char *directory);

/* No node. */
void tt_report_captured_clear(struct tt_report_captured *captured);

/* Appends a node: its draft, which is in `texts`. */
tt_status tt_report_captured_add(struct tt_report_captured *captured,
				 const struct tt_report_draft *draft,
				 const struct tt_report_drafts *texts, bool bound);

/* The same in two steps: the node, then each of the numbers for its holes (raw ids of devices mapped). */
tt_status tt_report_captured_begin(struct tt_report_captured *captured,
				   const struct tt_report_captured_node *node);
tt_status tt_report_captured_beyond(struct tt_report_captured *captured, int64_t number);
static inline tt_status tt_report_captured_number(struct tt_report_captured *captured,
						  int64_t number)
{
	if (captured->few_count == TT_REPORT_FEW)
		return tt_report_captured_beyond(captured, number);
	captured->few[captured->few_count++] = number;
	return TTNN_OK;
}

tt_status tt_report_captured_numbers(struct tt_report_captured *captured, const int64_t *numbers,
				     size_t count);

/* Where the rows go. */
struct tt_report_target {
	struct tt_report_db *db;
	int64_t operation, rank;
	uint64_t *edges; /* counts them */
};

/* Writes the rows: the text with a first and a last node around, and the edges; `lost`: without bounds. */
tt_status tt_report_captured_write(struct tt_report_captured *captured,
				   const struct tt_report_target *target, bool lost);

/* The same for the graph of a single deallocation. */
tt_status tt_report_captured_write_free(struct tt_report_captured *captured,
					const struct tt_json *node,
					const struct tt_report_target *target);

/* The same for a graph that was captured apart: its nodes keep their numbers. */
tt_status tt_report_captured_write_own(struct tt_report_captured *captured,
				       const struct tt_json *nodes,
				       const struct tt_report_target *target);

void tt_report_captured_deinit(struct tt_report_captured *captured);

#endif
