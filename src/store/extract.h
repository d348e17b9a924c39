/*
 * extract.h: configurations out of what was recorded: traces, graphs, reports, parameter files, other masters.
 *
 *	struct tt_extract extract = {.layout = TT_MASTER_V1, .call = add, .context = master};
 *
 *	TT_TRY(tt_extract_path(&extract, "run.ttrace"));
 *
 * Every call comes once for each time it was made, in the order of the source; who takes them joins the same ones
 * (master.h). What a trace holds decides what comes of it: V1 wants the operations, nested ones too, as graph capture of
 * November 2025 saw them; V2 the calls as their user wrote them. Graphs give V1, parameter files V2, whatever is wanted.
 *
 * Tests are told apart by the marks that ttnn's pytest plugin leaves (tt_extract_mark). Memory does not grow with the
 * length of a trace.
 */
#ifndef TT_STORE_EXTRACT_H
#define TT_STORE_EXTRACT_H

#include "base/json.h"
#include "store/master.h"

/* Marks around a test: "ttnn.test.begin" with the name of the test, "ttnn.test.end" with "passed NAME". */
#define TT_EXTRACT_BEGIN "ttnn.test.begin"
#define TT_EXTRACT_END "ttnn.test.end"

/* A test that was seen in a trace. */
struct tt_extract_test {
	const char *name;    /* "tests/test_x.py::test_y[1]" */
	const char *outcome; /* "passed", "failed", "skipped"; "killed" when its end is missing */
	uint64_t calls;      /* that it contributed */
};

struct tt_extract {
	enum tt_master_layout layout;
	const char *source; /* (optional) of calls that no test made; else the source's own words */
	const char *root;   /* (optional) sources below this directory are relative to it */
	const char *const *excluded; /* (optional) names besides those of names.h, dotted or not */
	size_t excluded_count;
	bool exclude_only; /* no others: not those of names.h */
	/* (optional) whether an operation, dotted, is one that is traced; else all ttnn.* are */
	bool (*listed)(void *context, const char *op);
	const char *trace_uid, *pytest_args; /* (optional) of a trace's run */
	bool include_failed;                 /* parameter files of failed tests, too */
	tt_status (*call)(void *context, const struct tt_master_call *call);
	tt_status (*test)(void *context, const struct tt_extract_test *test); /* (optional) */
	void *context;
	uint64_t calls; /* that were handed out */
};

/* What a path is decides: .ttrace, JSON of a graph, report or master (gzip or plain), or a folder of any of these. */
tt_status tt_extract_path(struct tt_extract *extract, const char *path);

/* The same for each kind. */
tt_status tt_extract_trace(struct tt_extract *extract, const char *path);
tt_status tt_extract_graph(struct tt_extract *extract, const char *path);
tt_status tt_extract_params(struct tt_extract *extract, const char *directory);

/* What `_trace_metadata.json` says of parameter files. All zero: nothing. */
struct tt_extract_run {
	const char *source, *trace_uid, *pytest_args;
	struct tt_master_machine machine;
};

/* One parameter file, of any dialect; one with an "error" is passed over. */
tt_status tt_extract_record(struct tt_extract *extract, const struct tt_json *record,
			    const struct tt_extract_run *run);

/* ---- between the files of this part ------------------------------------------------------------------ */

/* Whether calls of an operation, dotted, are wanted. */
bool tt_extract_wants(const struct tt_extract *extract, const char *op);

/* Hands a call out. */
tt_status tt_extract_give(struct tt_extract *extract, const struct tt_master_call *call);

/* The file of a test, "tests/test_x.py", with the model that its environment names where the file is for many. */
void tt_extract_source(struct tt_str *out, const struct tt_extract *extract, const char *test);

#endif
