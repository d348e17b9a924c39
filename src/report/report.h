/*
 * report.h: makes a database for ttnn-visualizer of reports. Called by `ttnn import` and by
 * python/ttnn/graph_report.py.
 */
#ifndef TT_REPORT_H
#define TT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ttnn.h>

#include "base/status.h"
#include "base/str.h"

struct tt_report_options {
	const char *input;   /* a report or a trace, or a folder of them */
	const char *output;  /* folder, made if absent */
	const char *db_name; /* NULL: db.sqlite */
	const char *schema;  /* NULL: the newest */
	bool strict;         /* as upstream in everything: what it refuses, what it appends to */
	bool as_tables;      /* no views, no additions; strict has this too */
	bool as_views;       /* all that can be a view is one: the smallest database */
	bool svg;            /* also pictures, in output/graphs */
	bool pages;          /* of traces: also where device memory lay */
	enum ttnn_dialect dialect; /* of the graphs of traces */
	size_t value_limit;        /* larger single values are refused; 0: TT_REPORT_VALUE_LIMIT */
	uint64_t
		text_limit; /* captured_graph is a table up to so many bytes; 0: TT_REPORT_TEXT_LIMIT */
};

#define TT_REPORT_VALUE_LIMIT ((size_t)256 << 20)
#define TT_REPORT_TEXT_LIMIT ((uint64_t)1 << 30)

struct tt_report_counts {
	uint64_t files, devices, operations, tensors, places, buffers, edges, errors, traces;
	uint64_t comparisons, lifetimes, consumers, producers, chunks;
	uint64_t pictures;  /* files of them */
	bool cluster, mesh; /* files written */
	uint64_t left;      /* files of the folder that are no reports of this version, or broken */
	uint64_t broken;    /* of these */
	char fault[1024];   /* what is wrong with the first that is broken */
};

/*
 * Imports. The database is built under a temporary name and takes the place of what was there only
 * when all went well; so do the files beside it. Files of a folder that are broken do not keep the others out, unless
 * `strict`: they are counted and named, in the database too (report_metadata: left_out).
 */
tt_status tt_report_import(struct tt_report_counts *counts,
			   const struct tt_report_options *options);

/* Appends the lines that tell what was imported. */
void tt_report_summary(struct tt_str *out, const struct tt_report_counts *counts,
		       const struct tt_report_options *options);

/* The failure of an import that left broken files out, which is no other one. */
tt_status tt_report_verdict(const struct tt_report_counts *counts,
			    const struct tt_report_options *options);

/* A remote's URL without what may be secret in it: user, password, query, fragment. */
tt_status tt_report_clean_url(struct tt_str *out, const char *url);

#endif
