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

/* A page of a buffer, and a buffer that lives. */
struct tt_memory_page {
	int64_t address, bank, type, core_x, core_y, device; /* of its buffer */
	int64_t page_address, page_index, page_size;
};
struct tt_memory_buffer {
	int64_t address, layout, type, device, bank_size;
};

/* Who is told of them: a writer of JSON (below), the importer. */
struct tt_memory_sink {
	/* The pages that follow are those of an allocation, which the node with this counter tells of. */
	tt_status (*allocation)(void *context, uint64_t address, int64_t counter);
	tt_status (*page)(void *context, const struct tt_memory_page *page);
	/* The buffers that follow live when an outermost function ends; the counter is that of its start. */
	tt_status (*operation)(void *context, uint64_t counter);
	tt_status (*buffer)(void *context, const struct tt_memory_buffer *buffer);
};

/* Goes through the nodes for the numbers of those that tell of allocations and ends: before they are asked for. */
tt_status tt_graph_report_memory_number(struct tt_graph_report_memory *memory,
					struct tt_stream *stream);

/* Pages of all buffers in L1 that live now. */
tt_status tt_graph_report_memory_living(const struct tt_graph_report_memory *memory,
					const struct tt_memory_sink *sink, void *context);

/* Pages of all buffers in L1 that were allocated, by address in the order of texts. */
tt_status tt_graph_report_memory_allocated(const struct tt_graph_report_memory *memory,
					   const struct tt_memory_sink *sink, void *context);

/* The buffers that live when each outermost function ends, by number in the order of texts. */
tt_status tt_graph_report_memory_ended(const struct tt_graph_report_memory *memory,
				       const struct tt_memory_sink *sink, void *context);

/*
 * The same as members of a report: "buffer_pages"; "buffer_pages_by_address", left out when there are none;
 * "per_operation_buffers", left out when no outermost function ended.
 */
tt_status tt_graph_report_memory_pages(struct tt_jsonw *w,
				       const struct tt_graph_report_memory *memory);
tt_status tt_graph_report_memory_allocations(struct tt_jsonw *w,
					     const struct tt_graph_report_memory *memory);
tt_status tt_graph_report_memory_operations(struct tt_jsonw *w,
					    const struct tt_graph_report_memory *memory);

/* The cluster descriptor of the machine that a device was opened on, else nothing. */
void tt_graph_report_cluster(struct tt_str *out);

/* The same of a profile's machine, if there is such a profile here. */
void tt_graph_report_cluster_of(struct tt_str *out, const char *profile_name);

#endif
