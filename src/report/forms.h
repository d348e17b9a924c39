/*
 * forms.h: nodes of a trace that differ in numbers only are of one form. What is made of a node (its JSON value
 * for the walk, its shape for the texts of operations) is made once for each form; then numbers are put in.
 *
 * One thread finds forms; what it found another may use, put numbers into, and free when nobody refers to it.
 */
#ifndef TT_REPORT_FORMS_H
#define TT_REPORT_FORMS_H

#include "report/report_graph.h"
#include "trace/stream.h"

/* A number of a form's JSON. */
struct tt_report_slot {
	const struct tt_json *value;
	uint16_t kind; /* enum tt_report_slot_kind */
	uint16_t more; /* numbers in its text, of TT_SLOT_PLACES */
};
enum tt_report_slot_kind {
	TT_SLOT_NUMBER,
	TT_SLOT_TEXT,   /* written as a text */
	TT_SLOT_PLACES, /* those in the text of device_tensors */
};

/* Params whose numbers the walk reads: TT_FORM_ADDRESS has the key TT_KEY_ADDRESS. To add one: a name. */
#define TT_REPORT_FORM_NUMBERS(X)                                                                  \
	X(TENSOR_ID)                                                                               \
	X(DEVICE_ID) X(ADDRESS) X(BUFFER_TYPE) X(SIZE) X(PAGE_SIZE) X(NUM_CORES) X(BANK_SIZE)
enum tt_report_form_number {
#define X(name) TT_FORM_##name,
	TT_REPORT_FORM_NUMBERS(X)
#undef X
		TT_FORM_NUMBERS
};

struct tt_report_form {
	struct tt_report_shape shape;
	struct tt_report_entry entry; /* of its first node */
	struct tt_json_parser parser;
	const struct tt_json *json, *counter;
	struct tt_report_slot *slots;
	size_t slot_count;
	size_t value_count;
	int64_t *values;                /* of its first node */
	char (*digits)[24];             /* of TT_SLOT_TEXT */
	char *places;                   /* text of TT_SLOT_PLACES as the stream has it */
	size_t places_at, places_count; /* which of the values are its numbers */
	struct tt_str written;          /* the same with other numbers */
	bool exact;                 /* its numbers are not told apart: all nodes of it have these */
	size_t at[TT_FORM_NUMBERS]; /* which of the values is that of a param, + 1; 0: none is */
	size_t id_value; /* which of them is a tensor's id or an allocation's address, likewise */
	bool id_is_text; /* it is written as a text */
	bool timed;      /* the first value is the duration */
	bool quiet;      /* an end whose name is no number, and nothing went wrong */
	int64_t note;    /* the walk's */
	void *memo;      /* (optional) the walk's, too: what its nodes have in common; tt_free() */
	size_t bytes;
	const char *key; /* of its nodes, in the map */
	size_t key_length;
	struct tt_report_form *after; /* that of the node behind the last one of it: a guess */
};

/* All zero but the first two is a valid empty one. */
struct tt_report_forms {
	struct tt_report_devices *devices;
	const struct tt_graph *keys; /* has the names of keys */
	struct tt_map map;           /* key -> form */
	TT_VEC(struct tt_report_form *) all;
	size_t bytes;
	struct tt_report_form *before; /* of the node that was looked at last */
	TT_VEC(char) key;              /* of the present one */
	struct tt_str text;
	struct tt_report_drafts drafts;
	TT_VEC(int64_t) values; /* of that node, if it was described */
	const int64_t *numbers; /* of the last one that was found */
	size_t number_count;
	uint32_t last_shape;
	bool failed; /* there was no memory for the key */
};

/* The form of a node, made if there is none; its numbers are forms->numbers until the next call. */
tt_status tt_report_form_find(struct tt_report_form **out, struct tt_report_forms *forms,
			      const struct tt_graph_node *node);

/*
 * No further node is of the forms that there are; those in forms->all become the caller's. Patterns of nodes must be
 * forgotten, too.
 */
void tt_report_forms_forget(struct tt_report_forms *forms);

/* Puts the numbers of a node into the JSON of its form. */
tt_status tt_report_form_put(struct tt_report_form *form, int64_t counter, const int64_t *values);

/* The number of a param among the values; *out stays if it is none of them. */
static inline void tt_report_form_number(int64_t *out, const struct tt_report_form *form,
					 const int64_t *values, enum tt_report_form_number which)
{
	if (form->at[which])
		*out = values[form->at[which] - 1];
}

/* Whether a value of its JSON is one of the numbers. */
bool tt_report_form_varies(const struct tt_report_form *form, const struct tt_json *value);

/* What is kept of a node with these numbers. */
struct tt_report_entry tt_report_form_entry(const struct tt_report_form *form,
					    const int64_t *values);

/* NULL is fine. */
void tt_report_form_free(struct tt_report_form *form);

/* Frees all but the forms. */
void tt_report_forms_deinit(struct tt_report_forms *forms);

#endif
