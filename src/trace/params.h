/*
 * params.h: one JSON text per operation: what was given to it and what it gave (docs/params.md).
 *
 * A projection of the event TT_EVENT_CALL, live (params.c writes a file before the call returns) or
 * read from a trace (ttnn export params). Dialects are rows of a table; nothing else asks which it is.
 */
#ifndef TT_TRACE_PARAMS_H
#define TT_TRACE_PARAMS_H

#include "base/jsonw.h"
#include "event/event.h"

/* What a tensor has in a dialect, in the order of its row. */
enum tt_params_field {
	TT_PARAMS_END,
	TT_PARAMS_TYPE,
	TT_PARAMS_SHAPE,
	TT_PARAMS_DTYPE, /* of the values when they are written */
	TT_PARAMS_VALUES,
	TT_PARAMS_ORIGINAL_SHAPE,
	TT_PARAMS_ORIGINAL_DTYPE,
	TT_PARAMS_MESH,
	TT_PARAMS_LAYOUT,
	TT_PARAMS_STORAGE,
	TT_PARAMS_MEMORY,
};

/* One dialect. To make another thing differ: a field here and its values in params_text.c. */
struct tt_params_style {
	const char *name;        /* "seed" */
	const char *number_key;  /* of the operation's number */
	const char *directory;   /* where files go when nothing says where */
	bool timestamp;          /* has one inside, not only in the file's name */
	bool num_tensors;        /* counts tensors in arguments and result */
	bool inlined;            /* lists of numbers stand on one line */
	bool shards;             /* values of a tensor on several devices are all of theirs */
	bool errors;             /* calls that failed have a file, with "error" */
	bool tests;              /* "test": which one made it */
	bool qualified;          /* "DataType.BFLOAT16", not "bfloat16", in tensors */
	bool objects;            /* memory configs, compute configs and devices field by field */
	enum ttnn_dialect texts; /* of values */
	enum tt_params_field tensor[10];
};

/* The row of a name, or NULL; row i, NULL behind the last. Row 0 is the default. */
const struct tt_params_style *tt_params_style(const char *name);
const struct tt_params_style *tt_params_style_at(size_t i);

/* "20260115_104616_345678", local time, and its zero byte. */
#define TT_PARAMS_STAMP 32
void tt_params_stamp(char out[TT_PARAMS_STAMP], int64_t wall_ns);

/* How calls are written. All zero but style is: without values, live tensors only, of no test. */
struct tt_params_writer {
	const struct tt_params_style *style;
	bool values;      /* of tensors, too */
	const char *test; /* (optional) that made the call */
	/* (optional) what is known of a device that a trace names; NULL: nothing */
	const struct ttnn_device_info *(*device)(void *context, uint32_t device_id);
	void *context;
	/* Why values of a tensor are missing: it is written without them. TTNN_OK when none are. */
	tt_status missing;
};

/* One value as it stands in a file. Errors stick in w. */
void tt_params_value(struct tt_jsonw *w, struct tt_params_writer *writer,
		     const struct ttnn_value *value);

/* The whole text of a call. */
void tt_params_call(struct tt_jsonw *w, struct tt_params_writer *writer, uint64_t number,
		    const char *stamp, const struct tt_event_call *call);

/*
 * The files that ttnn_params_trace() would have written for the calls of a trace, into a directory that
 * is made when it is missing; how many. Traces hold no values of tensors.
 */
struct tt_source;
tt_status tt_params_export(uint64_t *count, struct tt_source *source, const char *directory,
			   const struct tt_params_style *style);

/* "3_ttnn_add_20260115_104616_345678.json", appended. */
void tt_params_file_name(struct tt_str *out, uint64_t number, const char *name, const char *stamp);

#endif
