/*
 * report.h: the report of a graph capture: JSON with the graph, the devices it used, and when it was.
 */
#ifndef TT_TRACE_REPORT_H
#define TT_TRACE_REPORT_H

#include "trace/project.h"

#define TT_REPORT_VERSION 1

struct tt_report_device {
	uint32_t id;
	struct ttnn_device_row row;
	char arch[64];
};

/* All zero is a valid empty one. */
struct tt_report {
	int64_t wall_ns;
	uint64_t duration_ns; /* 0: it goes on */
	bool pages;           /* the pages of all L1 buffers, as they are now */
	TT_VEC(struct tt_report_device) devices;
};

/* The devices that had memory allocated, freed or used by programs. */
tt_status tt_report_devices(struct tt_report *report, const struct tt_project *p);

void tt_report_write(struct tt_jsonw *w, const struct tt_report *report,
		     const struct tt_graph *graph);

void tt_report_deinit(struct tt_report *report);

#endif
