/*
 * draft.h: nodes of a graph as JSON text, before it is known which numbers they get.
 *
 * The numbers of a node and of those it refers to depend on the operation that it becomes part of, so
 * they are left out: holes, to be filled by captured.c. All else is the same whoever uses the node, and
 * threads write it ahead.
 */
#ifndef TT_REPORT_DRAFT_H
#define TT_REPORT_DRAFT_H

#include "base/json.h"
#include "base/str.h"
#include "base/vec.h"

/* Raw device ids and the numbers 0, 1, ... they become; none: ids stay as they are. */
struct tt_report_device {
	int64_t raw, dram_channels, l1_banks;
};
struct tt_report_devices {
	TT_VEC(struct tt_report_device) rows; /* by raw id */
};

/* The number of a raw id, or itself when it is not known. */
int64_t tt_report_devices_map(void *devices, int64_t raw);

/* What a hole is: among the connections of its node from 0 on, or one of these. */
enum { TT_REPORT_HOLE_INPUT = -1, TT_REPORT_HOLE_OWN = -2 };

/* A number to be filled in. */
struct tt_report_hole {
	size_t at; /* in the text */
	int64_t reference;
	uint32_t node; /* new number of the node it is in; not in drafts */
	int32_t index;
};

/* Many drafts, one behind another. All zero is a valid empty one. */
struct tt_report_drafts {
	struct tt_str text, inner;
	TT_VEC(struct tt_report_hole) holes; /* their places count from the start of their draft */
	struct tt_json_parser parser;
};

struct tt_report_draft {
	size_t text, length; /* of drafts->text */
	size_t hole, holes;  /* first and count */
	int64_t counter;     /* old number */
};

/* Appends a node; different drafts may be made by different threads. */
tt_status tt_report_draft_make(struct tt_report_draft *out, struct tt_report_drafts *drafts,
			       struct tt_report_devices *devices, const struct tt_json *node);

/* Appends the params of a node as they stand in drafts. */
void tt_report_draft_params(struct tt_report_drafts *drafts, struct tt_report_devices *devices,
			    const struct tt_json *params);

void tt_report_drafts_clear(struct tt_report_drafts *drafts);
void tt_report_drafts_deinit(struct tt_report_drafts *drafts);

/*
 * The list of a device_tensors text, as a value of `parser`; NULL when it is no JSON list. Fails when
 * memory is exhausted.
 */
tt_status tt_report_device_tensors(const struct tt_json **out, struct tt_json_parser *parser,
				   const char *text, size_t length);

/* Whether the member has this key, a string literal. */
#define TT_REPORT_IS_KEY(it, literal)                                                              \
	((it)->key_length == sizeof(literal) - 1 &&                                                \
	 memcmp((it)->key, (literal), sizeof(literal) - 1) == 0)

#endif
