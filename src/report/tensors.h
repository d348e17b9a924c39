/*
 * tensors.h: the tensors of a report, which operations take and give them, and what follows from
 * both. Which rows there are is known at the end of a graph only.
 */
#ifndef TT_REPORT_TENSORS_H
#define TT_REPORT_TENSORS_H

#include "base/file.h"
#include "report/buffers.h"
#include "report/captured.h"
#include "report/ids.h"
#include "report/report_graph.h"

/* The texts of a tensor, as columns. */
enum {
	TT_TENSOR_SHAPE,
	TT_TENSOR_DTYPE,
	TT_TENSOR_LAYOUT,
	TT_TENSOR_MEMORY,
	TT_TENSOR_STORAGE,
	TT_TENSOR_TEXTS
};

/* A number that may be absent. */
struct tt_report_maybe {
	bool set;
	int64_t value;
};

struct tt_report_tensor {
	int64_t id;
	uint32_t texts[TT_TENSOR_TEXTS]; /* entry of texts + 1; 0: NULL */
	struct tt_report_maybe device, address, type;
};

struct tt_report_tensor_place {
	int64_t id;
	struct tt_report_maybe device, address;
};

struct tt_report_use {
	int64_t operation; /* counted from 1 in this file */
	int64_t id;
};

/* What is kept of an operation, for lifetimes. */
struct tt_report_operation {
	int64_t line;  /* innermost frame of its stack trace */
	uint32_t file; /* entry of texts + 1; 0: no trace */
	bool frees;    /* a deallocation by its name */
};

/* The first use of a tensor in the present operation. */
struct tt_report_first {
	int64_t id;
	bool output;
};

struct tt_report_tensors {
	struct tt_report_db *db;
	struct tt_report_devices *devices; /* NULL: ids are not mapped */
	const struct tt_report_buffers *buffers;
	int64_t rank, base; /* operation ids are base + 1, 2, ... */
	bool strict;
	struct tt_map texts;
	struct tt_spool rows;                          /* struct tt_report_tensor */
	struct tt_spool places;                        /* struct tt_report_tensor_place */
	struct tt_spool inputs, outputs;               /* struct tt_report_use */
	TT_VEC(struct tt_report_operation) operations; /* only if there will be lifetimes */
	TT_VEC(struct tt_report_first) firsts;
	struct tt_report_ids ids;
	bool twice;              /* an id was there as a number and as a text */
	bool unknown;            /* Python's records name ids of their own */
	struct tt_map odd_texts; /* ids that were texts as no number is written: others, though the
				    database has them as one */
	struct tt_map owners;    /* address -> id of the first tensor there */
	struct tt_map paired;    /* id that Python gave -> position of the node it stands for */
	struct tt_json_parser parser;
};

/* All zero, before the first use; temporary files are in that directory, whose name is borrowed. */
void tt_report_tensors_init(struct tt_report_tensors *tensors, const char *directory);

/*
 * A tensor node: a row, if it is the first of its id. False in *good: an id or number is none. What further nodes of
 * the form (or NULL) have in common with it may be kept in its memo.
 */
tt_status tt_report_tensors_node(struct tt_report_tensors *tensors, bool *good,
				 const struct tt_json *params, struct tt_report_form *form);

/* The same for a node of a form that has a memo. */
tt_status tt_report_tensors_again(struct tt_report_tensors *tensors,
				  const struct tt_report_form *form, const int64_t *values);

/* A row as upstream makes it of the params of a node; *good as above. */
tt_status tt_report_tensor_row(struct tt_report_tensor *out, bool *good,
			       struct tt_report_tensors *tensors, int64_t id,
			       const struct tt_json *params);
tt_status tt_report_tensor_insert(struct tt_report_tensors *tensors,
				  const struct tt_report_tensor *row,
				  const struct tt_report_maybe *size);

/* The first tensor that had an address. */
bool tt_report_tensors_owner(int64_t *id, const struct tt_report_tensors *tensors, int64_t address);

/* An operation takes (gives) a tensor. */
tt_status tt_report_tensors_use(struct tt_report_tensors *tensors, bool output, int64_t operation,
				int64_t id);

/*
 * The last operation saw the buffers as they are now (`given`: those that the report gave it), or none (`lost`):
 * so large are the tensors that it used first.
 */
enum tt_report_seen { TT_SEEN_LIVE, TT_SEEN_GIVEN, TT_SEEN_NONE };
tt_status tt_report_tensors_sizes(struct tt_report_tensors *tensors, enum tt_report_seen seen);

/* Entry of texts + 1; 0 when memory is exhausted. */
uint32_t tt_report_tensors_text(struct tt_report_tensors *tensors, const char *text, size_t length);

struct tt_report_tensor_counts {
	uint64_t tensors, places, inputs, outputs, lifetimes;
};

/* Writes all rows. The graph is asked for nodes again; buffers are finished. */
tt_status tt_report_tensors_finish(struct tt_report_tensors *tensors,
				   struct tt_report_tensor_counts *counts,
				   struct tt_report_graph *graph);

/* After that: computes and writes the lifetimes, also as JSON into a file opened if there are any. */
tt_status tt_report_lifetimes(struct tt_report_tensors *tensors, struct tt_file_out **file,
			      uint64_t *count, const char *path);

/* ---- tensors.c and tensor_forms.c ------------------------------------------------------------------ */

/* Adds a row of a node, and knows its id and address from now on. */
tt_status tt_report_tensors_add(struct tt_report_tensors *tensors,
				const struct tt_report_tensor *made);

/* Keeps in the form's memo what its nodes have in common with this row, which was made of the params. */
tt_status tt_report_tensors_learn(struct tt_report_form *form, const struct tt_report_tensor *row,
				  const struct tt_json *params);

void tt_report_tensors_reset(struct tt_report_tensors *tensors);
void tt_report_tensors_deinit(struct tt_report_tensors *tensors);

#endif
