/*
 * summary.h: what a run came to, out of its rows: by operation, model and reason of failure; as text, Markdown, JSON and as a
 * page (page.c); and two runs beside each other. Called by `ttnn sweep results`.
 */
#ifndef TT_SWEEP_SUMMARY_H
#define TT_SWEEP_SUMMARY_H

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "sweep/results.h"

/* A row of a run. Texts are in the summary's arena. */
struct tt_summary_row {
	const char *vector, *module, *operation, *model; /* the last two may be NULL */
	const char *message, *exception, *notes;         /* NULL: none */
	long long configuration;                         /* -1: none */
	enum tt_sweep_status status;
	enum tt_sweep_how how;
	double pcc, ms; /* NAN: not known */
	double seconds; /* from its begin to its end */
	bool cached;
};

/* Rows that have something in common. */
struct tt_summary_group {
	const char *name;
	uint64_t total, failed, skipped, expected; /* expected: failed as it should */
	uint64_t hows[TT_SWEEP_HOWS];              /* of those that passed */
	double least_pcc;                          /* NAN: none */
	double ms;
	const char *first; /* where it was seen first: "OPERATION/NUMBER" */
};
typedef TT_VEC(struct tt_summary_group) tt_summary_groups;

struct tt_summary {
	struct tt_arena arena;
	char *run, *status, *contents, *host, *start, *end,
		*git_sha;                   /* of the arena; may be NULL */
	TT_VEC(struct tt_summary_row) rows; /* in their order */
	struct tt_summary_group all;
	tt_summary_groups operations; /* those with most failures first */
	tt_summary_groups models;     /* likewise */
	tt_summary_groups reasons;    /* of failures, without numbers; the most frequent first */
	tt_summary_groups notes;      /* what stood in or was moved, by operation */
};

/* Reads a run of a database by its name; NULL or "last": the newest. TTNN_NOTFOUND: there is none. */
tt_status tt_summary_read(struct tt_summary *out, const char *database, const char *run);
void tt_summary_free(struct tt_summary *summary);

/* Whether a status is a failure: neither passed nor left out nor expected to fail. */
bool tt_summary_failed(enum tt_sweep_status status);

/* Appends the totals as the guides have them; of the groups only `all` is needed. */
void tt_summary_totals(struct tt_str *out, const struct tt_summary *summary);
/* Appends the first line of a text of others that is not empty, not for ever and without its control characters. */
void tt_summary_line(struct tt_str *out, const char *text);
/* Appends it as text: the totals, then tables. */
void tt_summary_text(struct tt_str *out, const struct tt_summary *summary);
/* Appends it as Markdown: a page for docs/. */
void tt_summary_markdown(struct tt_str *out, const struct tt_summary *summary);
/* Appends it as JSON. */
tt_status tt_summary_json(struct tt_str *out, const struct tt_summary *summary);
/* Appends it as one page of HTML that needs nothing else, with charts. */
void tt_summary_page(struct tt_str *out, const struct tt_summary *summary);

/* Two runs. */
struct tt_summary_change {
	uint64_t worse, better, gone, added, same;
};
/* Appends what changed from one to the other; worse are vectors that passed and do not any more, or less plainly. */
void tt_summary_compare(struct tt_summary_change *counts, struct tt_str *out,
			const struct tt_summary *before, const struct tt_summary *after);

/* Appends the names of the runs of a database, the newest first. */
tt_status tt_summary_runs(struct tt_str *out, const char *database);

#endif
