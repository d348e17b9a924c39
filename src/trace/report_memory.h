/*
 * report_memory.h: what reports tell of device memory beyond the graph: the pages of L1 buffers, and
 * the buffers that live when each outermost function ends. Written with the switch TTNN_GRAPH_PAGES.
 *
 * Read from the events of a capture while its devices are open (a buffer that nobody tells of was there
 * before, if it is there now or was freed meanwhile), or from a trace, which tells of its devices. All buffers
 * of the capture are kept: this is not for traces of any length.
 */
#ifndef TT_TRACE_REPORT_MEMORY_H
#define TT_TRACE_REPORT_MEMORY_H

#include "base/jsonw.h"
#include "trace/stream.h"

struct tt_graph_report_memory;

/*
 * Reads a whole source (rewinds it first). `live`: its devices are those that are open here, and what
 * lives on them was there before if nobody tells of it; else all that is known is what the source tells.
 */
tt_status tt_graph_report_memory_read(struct tt_graph_report_memory **out, struct tt_source *source,
				      bool live);

/* NULL is fine. */
void tt_graph_report_memory_free(struct tt_graph_report_memory *memory);

/* The member "buffer_pages": pages of all buffers in L1 that live now. */
void tt_graph_report_memory_pages(struct tt_jsonw *w, const struct tt_graph_report_memory *memory);

/*
 * The member "buffer_pages_by_address": pages of all buffers in L1 that were allocated, with the nodes
 * that tell so; left out when there are none.
 */
tt_status tt_graph_report_memory_allocations(struct tt_jsonw *w,
					     const struct tt_graph_report_memory *memory,
					     struct tt_stream *stream);

/* The member "per_operation_buffers"; left out when no outermost function ended. */
tt_status tt_graph_report_memory_operations(struct tt_jsonw *w,
					    const struct tt_graph_report_memory *memory,
					    struct tt_stream *stream);

/* The cluster descriptor of the machine that a device was opened on, else nothing. */
void tt_graph_report_cluster(struct tt_str *out);

/* The same of a profile's machine, if there is such a profile here. */
void tt_graph_report_cluster_of(struct tt_str *out, const char *profile_name);

#endif
