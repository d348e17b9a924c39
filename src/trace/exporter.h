/*
 * exporter.h: the forms in which traces and graphs are written for others, as rows. A layer that has some has a table of
 * its own; `ttnn export` joins them. To add one: a row in the table of the layer that can write it.
 */
#ifndef TT_TRACE_EXPORTER_H
#define TT_TRACE_EXPORTER_H

#include "trace/session.h"
#include "trace/source.h"

/* What is to be written. */
struct tt_export_job {
	const char *const *paths; /* the inputs: one, but of forms that take them together */
	size_t count;
	const char *to;   /* a file, or a folder of them; NULL: `print` gets what there is */
	const char *root; /* stands above all stacks; NULL: nothing does */
	void (*print)(void *context, const void *data, size_t size);
	const struct tt_export_options *options;
	uint64_t lost, damaged; /* set: records that were lost, traces that are not complete */
};

struct tt_export_options {
	enum ttnn_dialect dialect;
	const char *params_style;              /* "seed" or "tt-metal" */
	const struct tt_source_window *window; /* NULL: whole traces */
	const char *label;                     /* of a bar that shows how far it is, or NULL */
	uint32_t levels;                       /* calls down to this level; 0: all */
	bool no_fold, pages, cores, old_tracy;
};

/* What becomes of several inputs. */
enum tt_export_several {
	TT_EXPORT_EACH,     /* a file each, in one folder */
	TT_EXPORT_FOLDERS,  /* a folder each, in one folder */
	TT_EXPORT_MERGED,   /* one text; the inputs are its roots */
	TT_EXPORT_TOGETHER, /* one file of all of them */
};

/* The options that not every form takes. */
enum {
	TT_EXPORT_LEVELS = 1,
	TT_EXPORT_NO_FOLD = 2,
	TT_EXPORT_PAGES = 4,
	TT_EXPORT_CORES = 8,
	TT_EXPORT_VERSION = 16
};

struct tt_exporter {
	const char *name, *help;
	/* Text goes to *out; one that writes files by itself leaves a word about that, or nothing. */
	tt_status (*write)(struct tt_str *out, struct tt_export_job *job);
	bool files; /* writes them itself */
	enum tt_export_several several;
	const char *ending;      /* of a file beside others */
	unsigned takes;          /* options */
	const char *traces_only; /* (optional) what they are, if they are made of traces alone */
	bool folder;             /* there is no place for it but a folder */
	bool no_report;          /* a report again would lose what its graph does not tell */
};

struct tt_exporters {
	const struct tt_exporter *rows;
	size_t count;
};
extern const struct tt_exporters tt_trace_exporters;

/* Opens the first input with the part that is wanted of it; refuses one that is no trace if a part is. */
tt_status tt_export_open(struct tt_input *out, const struct tt_export_job *job);

/* All nodes of the first input, if they are not too many. */
tt_status tt_export_graph(struct tt_graph *out, const struct tt_export_job *job);

#endif
