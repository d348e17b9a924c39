/*
 * graph_report.h: the report of a graph capture: JSON with the graph, the devices it used, and when it was.
 */
#ifndef TT_TRACE_GRAPH_REPORT_H
#define TT_TRACE_GRAPH_REPORT_H

#include "trace/report_memory.h"
#include "trace/stream.h"

#define TT_GRAPH_REPORT_VERSION 1

struct tt_graph_report_device {
	uint32_t id;
	struct ttnn_device_row row;
	char arch[64];
};

/* All zero is a valid empty one. */
struct tt_graph_report {
	int64_t wall_ns;
	uint64_t duration_ns; /* 0: it goes on */
	bool full;            /* to be written: with all that is below */
	bool pages;           /* also of device memory; then `memory` is read */
	bool recorded;        /* of a trace: its devices are not open here */
	char profile[64];     /* of the first device */
	struct tt_graph_report_memory *memory;
	struct tt_str cluster; /* descriptor of the machine; may be empty */
	TT_VEC(struct tt_graph_report_device) devices;
};

/* The devices that had memory allocated, freed or used by programs. */
tt_status tt_graph_report_devices(struct tt_graph_report *report,
				  const struct tt_project_device *devices, size_t count);

/* Reads what is told besides the graph: of the open devices, and of the source if pages are wanted. */
tt_status tt_graph_report_read(struct tt_graph_report *report, struct tt_source *source);

/*
 * The devices that nodes of memory name, by number. Programs run on chips, which have numbers of their own: such a row is
 * that of the device the chip belongs to, and all chips of a machine are alike. A report without devices names none.
 */
#define TT_GRAPH_REPORT_DEVICES_MAX 1024
size_t tt_graph_report_ids(uint32_t ids[TT_GRAPH_REPORT_DEVICES_MAX],
			   const struct tt_graph_report *report,
			   const struct tt_stream_facts *facts);
const struct tt_graph_report_device *tt_graph_report_device(const struct tt_graph_report *report,
							    uint32_t id);

/* When it was and who wrote it, by name; says how many there are. */
#define TT_GRAPH_REPORT_FACTS 5
struct tt_graph_report_fact {
	const char *name;
	int64_t number;
	const char *text; /* NULL: the number */
};
size_t tt_graph_report_metadata(struct tt_graph_report_fact out[TT_GRAPH_REPORT_FACTS],
				const struct tt_graph_report *report);

/*
 * Members in alphabetical order. What a dialect does not have is left out: the nodes know their own, and are gone
 * through once, with what is told of memory several times.
 */
tt_status tt_graph_report_write(struct tt_jsonw *w, const struct tt_graph_report *report,
				struct tt_stream *stream);

void tt_graph_report_deinit(struct tt_graph_report *report);

#endif
