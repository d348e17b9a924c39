/* report_memory_json.c: what reports tell of device memory, as JSON. */
#include <inttypes.h>
#include <stdio.h>

#include "trace/report_memory.h"

struct writer {
	struct tt_jsonw *w;
	bool begun;       /* the member, and in it the list of a key */
	uint64_t address; /* that key */
};

static tt_status write_page(void *context, const struct tt_memory_page *page)
{
	struct tt_jsonw *w = ((struct writer *)context)->w;

	tt_jsonw_object(w);
	tt_jsonw_key_int(w, "address", page->address);
	tt_jsonw_key_int(w, "bank_id", page->bank);
	tt_jsonw_key_int(w, "buffer_type", page->type);
	tt_jsonw_key_int(w, "core_x", page->core_x);
	tt_jsonw_key_int(w, "core_y", page->core_y);
	tt_jsonw_key_int(w, "device_id", page->device);
	tt_jsonw_key_int(w, "page_address", page->page_address);
	tt_jsonw_key_int(w, "page_index", page->page_index);
	tt_jsonw_key_int(w, "page_size", page->page_size);
	tt_jsonw_end(w);
	return TTNN_OK;
}

/* The list of a number, in the object that is the member. */
static void begin_list(struct writer *writer, const char *member, uint64_t number)
{
	char text[24];

	if (!writer->begun) {
		tt_jsonw_key(writer->w, member);
		tt_jsonw_object(writer->w);
		writer->begun = true;
	}
	snprintf(text, sizeof(text), "%" PRIu64, number);
	tt_jsonw_key(writer->w, text);
	tt_jsonw_array(writer->w);
}

/* The list, and the object around it. */
static void end_lists(struct writer *writer)
{
	if (!writer->begun)
		return;
	tt_jsonw_end(writer->w);
	tt_jsonw_end(writer->w);
}

static tt_status write_allocation(void *context, uint64_t address, int64_t counter)
{
	struct writer *writer = context;
	struct tt_jsonw *w = writer->w;
	bool again = writer->begun && writer->address == address;

	if (writer->begun) { /* the pages and the allocation before */
		tt_jsonw_end(w);
		tt_jsonw_end(w);
	}
	if (writer->begun && !again)
		tt_jsonw_end(w);
	if (!again)
		begin_list(writer, "buffer_pages_by_address", address);
	writer->address = address;
	tt_jsonw_object(w);
	tt_jsonw_key_int(w, "alloc_counter", counter);
	tt_jsonw_key(w, "pages");
	tt_jsonw_array(w);
	return TTNN_OK;
}

static tt_status write_operation(void *context, uint64_t counter)
{
	struct writer *writer = context;

	if (writer->begun)
		tt_jsonw_end(writer->w);
	begin_list(writer, "per_operation_buffers", counter);
	return TTNN_OK;
}

static tt_status write_buffer(void *context, const struct tt_memory_buffer *buffer)
{
	struct tt_jsonw *w = ((struct writer *)context)->w;

	tt_jsonw_object(w);
	tt_jsonw_key_int(w, "address", buffer->address);
	tt_jsonw_key_int(w, "buffer_layout", buffer->layout);
	tt_jsonw_key_int(w, "buffer_type", buffer->type);
	tt_jsonw_key_int(w, "device_id", buffer->device);
	tt_jsonw_key_int(w, "max_size_per_bank", buffer->bank_size);
	tt_jsonw_end(w);
	return TTNN_OK;
}

static const struct tt_memory_sink sink = {write_allocation, write_page, write_operation,
					   write_buffer};

tt_status tt_graph_report_memory_pages(struct tt_jsonw *w,
				       const struct tt_graph_report_memory *memory)
{
	struct writer writer = {.w = w};

	tt_jsonw_key(w, "buffer_pages");
	tt_jsonw_array(w);
	TT_TRY(tt_graph_report_memory_living(memory, &sink, &writer));
	tt_jsonw_end(w);
	return TTNN_OK;
}

tt_status tt_graph_report_memory_allocations(struct tt_jsonw *w,
					     const struct tt_graph_report_memory *memory)
{
	struct writer writer = {.w = w};

	TT_TRY(tt_graph_report_memory_allocated(memory, &sink, &writer));
	if (writer.begun) {
		tt_jsonw_end(w);
		tt_jsonw_end(w);
	}
	end_lists(&writer);
	return TTNN_OK;
}

tt_status tt_graph_report_memory_operations(struct tt_jsonw *w,
					    const struct tt_graph_report_memory *memory)
{
	struct writer writer = {.w = w};

	TT_TRY(tt_graph_report_memory_ended(memory, &sink, &writer));
	end_lists(&writer);
	return TTNN_OK;
}
