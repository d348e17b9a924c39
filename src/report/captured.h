/*
 * captured.h: the part of the graph that belongs to one operation, as JSON text with its nodes
 * renumbered, and its edges.
 *
 * Drafts of nodes (draft.h) are joined as they come. The numbers that they leave out are filled in at
 * the end, when all nodes are known.
 */
#ifndef TT_REPORT_CAPTURED_H
#define TT_REPORT_CAPTURED_H

#include "report/draft.h"
#include "report/schema.h"

struct tt_report_captured {
	struct tt_report_devices *devices;
	struct tt_str text, whole;
	TT_VEC(struct tt_report_hole) holes;
	TT_VEC(int64_t) counters;       /* old, of the nodes 1, 2, ... */
	TT_VEC(uint32_t) renumber;      /* new number + 1 of old counter - least; 0: none */
	struct tt_report_drafts drafts; /* of single deallocations */
	struct tt_json_parser parser;
};

/* No node. */
void tt_report_captured_clear(struct tt_report_captured *captured);

/* Appends a node: its draft, which is in `texts`. */
tt_status tt_report_captured_add(struct tt_report_captured *captured,
				 const struct tt_report_draft *draft,
				 const struct tt_report_drafts *texts);

/* Where the rows go. */
struct tt_report_target {
	struct tt_report_db *db;
	int64_t operation, rank;
	uint64_t *edges; /* counts them */
};

/* Writes the rows: the text with a first and a last node around, and the edges. */
tt_status tt_report_captured_write(struct tt_report_captured *captured,
				   const struct tt_report_target *target);

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
