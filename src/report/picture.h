/*
 * picture.h: the whole graph of a report while its database is made, for `ttnn import --svg`. Nodes and events are taken
 * as the import reads them, so no file is read for its picture. A graph that is too large, or nodes that make no sense
 * to a picture, cost the picture alone: whoever takes the graph is told.
 */
#ifndef TT_REPORT_PICTURE_H
#define TT_REPORT_PICTURE_H

#include "report/report_source.h"
#include "trace/project.h"

/* All zero is one that nobody asked for. */
struct tt_report_picture {
	bool wanted;
	struct tt_graph graph;         /* of JSON: the nodes so far */
	struct tt_graph_reader reader; /* of them */
	struct tt_project *project;    /* of a trace; NULL: of JSON */
	tt_status status;              /* what went wrong first, in these words */
	char *message;
};

/* Begins with a source before its nodes are read; the path and the source are borrowed. */
void tt_report_picture_begin(struct tt_report_picture *picture, struct tt_report_source *source,
			     const char *path, enum ttnn_dialect dialect);

/* The next node of JSON. Those of a trace come by themselves. */
void tt_report_picture_node(struct tt_report_picture *picture, const struct tt_json *node);

/* Behind the last node, when nobody reads any more: the graph, which is the caller's. */
tt_status tt_report_picture_take(struct tt_graph *out, struct tt_report_picture *picture,
				 struct tt_report_source *source);

/* It is as all zero then. */
void tt_report_picture_deinit(struct tt_report_picture *picture);

#endif
