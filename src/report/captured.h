/*
 * captured.h: the part of the graph that belongs to one operation, as JSON text with its nodes
 * renumbered, and its edges.
 *
 * Nodes are written as they come. The numbers that refer to other nodes are left out until all are
 * known, and filled in at the end.
 */
#ifndef TT_REPORT_CAPTURED_H
#define TT_REPORT_CAPTURED_H

#include "base/json.h"
#include "base/str.h"
#include "base/vec.h"
#include "report/schema.h"

/* Raw device ids and the numbers 0, 1, ... they become; none: ids stay as they are. */
struct tt_report_device {
	int64_t raw, dram_channels, l1_banks;
};
struct tt_report_devices {
	TT_VEC(struct tt_report_device) rows; /* by raw id */
};

/* The number of a raw id, or itself when it is not known. */
int64_t tt_report_devices_map(void *devices, int64_t raw);

/* A number to be filled in. */
struct tt_report_hole {
	size_t at; /* in text */
	int64_t reference;
	uint32_t node; /* new number of the node it is in */
	int32_t index; /* among its connections; -1: an input tensor, no edge */
};

struct tt_report_captured {
	struct tt_report_devices *devices;
	struct tt_str text, whole;
	TT_VEC(struct tt_report_hole) holes;
	TT_VEC(int64_t) counters;  /* old, of the nodes 1, 2, ... */
	TT_VEC(uint32_t) renumber; /* new number + 1 of old counter - least; 0: none */
	struct tt_json_parser parser;
};

/* No node. */
void tt_report_captured_clear(struct tt_report_captured *captured);

/* Appends a node. */
tt_status tt_report_captured_add(struct tt_report_captured *captured, const struct tt_json *node);

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

/* The list of a device_tensors text, as a value of `parser`; NULL when it is no JSON list. */
const struct tt_json *tt_report_device_tensors(struct tt_json_parser *parser, const char *text,
					       size_t length);

#endif
