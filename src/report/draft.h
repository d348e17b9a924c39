/*
 * draft.h: nodes of a graph as JSON text, before it is known which numbers they get.
 *
 * The numbers of a node and of those it refers to depend on the operation that it becomes part of, so
 * they are left out: holes, to be filled by captured.c. So are the numbers among its values (addresses, times),
 * for many nodes are the same but for those: they are of one shape, whose text is kept once. Threads write drafts
 * ahead.
 */
#ifndef TT_REPORT_DRAFT_H
#define TT_REPORT_DRAFT_H

#include "base/json.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

/* Raw device ids and the numbers 0, 1, ... they become; none: ids stay as they are. */
struct tt_report_device {
	int64_t raw, dram_channels, l1_banks;
};
struct tt_report_devices {
	TT_VEC(struct tt_report_device) rows; /* by raw id */
	bool names; /* drafts call functions by their param `operation`, where they have one */
};

/* The number of a raw id, or itself when it is not known. */
int64_t tt_report_devices_map(void *devices, int64_t raw);

/* What a hole is for, and which of a draft's numbers are for it. */
enum tt_report_hole_kind {
	TT_HOLE_OWN,         /* the node's own number: none */
	TT_HOLE_CONNECTIONS, /* all references of a list: how many, then each */
	TT_HOLE_INPUTS,
	TT_HOLE_CONNECTION, /* one of a list that has other things too: itself */
	TT_HOLE_INPUT,
	TT_HOLE_VALUE,  /* a number among the values */
	TT_HOLE_DEVICE, /* the same, a raw device id, which is mapped */
};

struct tt_report_hole {
	uint32_t at;    /* in the text */
	uint16_t kind;  /* enum tt_report_hole_kind */
	uint16_t index; /* of TT_HOLE_CONNECTION: its place in the list */
};

/* Many drafts, one behind another. All zero is a valid empty one. */
struct tt_report_drafts {
	struct tt_str text, inner, piece;
	TT_VEC(struct tt_report_hole) holes; /* their places count from the start of their draft */
	TT_VEC(struct tt_report_hole) inner_holes;
	TT_VEC(int64_t) numbers; /* for the holes, in their order */
	struct tt_json_parser parser;
};

struct tt_report_draft {
	size_t text, length;    /* of drafts->text */
	size_t hole, holes;     /* first and count */
	size_t number, numbers; /* likewise */
	int64_t counter;        /* old number */
};

/* Appends a node; different drafts may be made by different threads. */
tt_status tt_report_draft_make(struct tt_report_draft *out, struct tt_report_drafts *drafts,
			       struct tt_report_devices *devices, const struct tt_json *node);

/* Appends the node of a single deallocation: it is number 1, connected to 2. False in *connected: to none. */
tt_status tt_report_draft_free(struct tt_report_draft *out, struct tt_report_drafts *drafts,
			       struct tt_report_devices *devices, const struct tt_json *node,
			       bool *connected);

/* Whether a text is a number from 0 on as it is always written, so that it may be a hole. */
bool tt_report_is_number(int64_t *out, const char *text, size_t length);

/* Nodes alike: the text and the holes of a draft, kept once. */
struct tt_report_shape {
	const char *text;
	size_t length;
	const struct tt_report_hole *holes;
	size_t hole_count;
	uint32_t id; /* from 1 */
};

/* All zero is a valid empty one. */
struct tt_report_shapes {
	struct tt_map map; /* the holes and the text -> its shape */
	struct tt_arena arena;
	struct tt_str key;
	size_t bytes;  /* about, of all of them */
	uint32_t last; /* id; they are never used again */
};

/* The shape of a draft, which lives until tt_report_shapes_clear(). */
tt_status tt_report_shape_find(const struct tt_report_shape **out, struct tt_report_shapes *shapes,
			       const struct tt_report_draft *draft,
			       const struct tt_report_drafts *drafts);
void tt_report_shapes_clear(struct tt_report_shapes *shapes);
void tt_report_shapes_deinit(struct tt_report_shapes *shapes);

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
