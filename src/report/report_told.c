/* report_told.c: what a trace tells besides its nodes, as rows: devices, buffers, pages, metadata. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/report_file.h"
#include "trace/graph_report.h"
#include "trace/stream.h"

static uint64_t column_of(const struct ttnn_device_row *row, const char *column)
{
#define TTNN_X(name)                                                                               \
	if (strcmp(column, #name) == 0)                                                            \
		return row->name;
	TTNN_DEVICE_ROW_LIST(TTNN_X)
#undef TTNN_X
	return 0;
}

tt_status tt_report_told_devices(struct tt_report_import *import)
{
	const struct tt_graph_report *told = import->source->told;
	uint32_t ids[TT_GRAPH_REPORT_DEVICES_MAX];
	size_t count = tt_graph_report_ids(ids, told, tt_stream_facts(import->source->stream));
	struct tt_db_stmt *insert;

	import->devices.rows.count = 0;
	TT_TRY(tt_report_insert(&insert, &import->db, TT_REPORT_DEVICES));
	for (size_t i = 0; i < count; i++) {
		const struct ttnn_device_row *row = &tt_graph_report_device(told, ids[i])->row;
		struct tt_report_device *device = TT_VEC_PUSH(&import->devices.rows);

		if (!device)
			return tt_fail_nomem();
		*device = (struct tt_report_device){ids[i], (int64_t)row->num_dram_channels,
						    (int64_t)row->l1_num_banks};
		/* Ids in their order become 0, 1, ... */
		tt_db_bind_int(insert, 0, (int64_t)i);
		for (int k = 0; k < TT_REPORT_DEVICE_COLUMNS; k++)
			tt_db_bind_int(insert, 1 + k,
				       (int64_t)column_of(row, tt_report_device_columns[k]));
		tt_db_bind_int(insert, 1 + TT_REPORT_DEVICE_COLUMNS, import->rank);
		TT_TRY(tt_db_run(insert));
	}
	return TTNN_OK;
}

tt_status tt_report_told_metadata(struct tt_report_import *import)
{
	struct tt_graph_report_fact facts[TT_GRAPH_REPORT_FACTS];
	size_t count = tt_graph_report_metadata(facts, import->source->told);
	char number[24];

	for (size_t i = 0; i < count; i++) {
		const char *text = facts[i].text ? facts[i].text : number;

		snprintf(number, sizeof(number), "%" PRId64, facts[i].number);
		TT_TRY(tt_report_metadata_row(import, facts[i].name, text, strlen(text)));
	}
	return TTNN_OK;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The pages that come are those of this allocation. */
struct pages {
	struct tt_report_import *import;
	bool open;
	int64_t address, counter;
};

static tt_status end_allocation(struct pages *pages)
{
	return pages->open ? tt_report_pages_snapshot(&pages->import->pages, pages->address,
						      pages->counter)
			   : TTNN_OK;
}

static tt_status begin_allocation(void *context, uint64_t address, int64_t counter)
{
	struct pages *pages = context;

	TT_TRY(end_allocation(pages));
	tt_report_pages_begin(&pages->import->pages);
	pages->open = true;
	pages->address = (int64_t)address;
	pages->counter = counter;
	return TTNN_OK;
}

static tt_status add_page(void *context, const struct tt_memory_page *page)
{
	struct tt_report_import *import = ((struct pages *)context)->import;
	struct tt_report_chunk chunk = {
		.key = {tt_report_devices_map(&import->devices, page->device), page->address,
			page->bank, page->core_x, page->core_y, page->type},
		.start = page->page_address,
		.page_size = page->page_size,
		.pages = 1};

	return tt_report_pages_add(&import->pages, &chunk);
}

static tt_status begin_list(void *context, uint64_t counter)
{
	return tt_report_buffers_list(&((struct pages *)context)->import->buffers,
				      (int64_t)counter);
}

static tt_status add_buffer(void *context, const struct tt_memory_buffer *given)
{
	struct tt_report_import *import = ((struct pages *)context)->import;
	struct tt_report_buffer buffer = {
		.device = tt_report_devices_map(&import->devices, given->device),
		.address = given->address,
		.size = given->bank_size,
		.type = given->type,
		.layout = given->layout};

	return tt_report_buffers_listed(&import->buffers, &buffer);
}

static const struct tt_memory_sink sink = {begin_allocation, add_page, begin_list, add_buffer};

tt_status tt_report_told_buffers(struct tt_report_import *import)
{
	struct pages pages = {.import = import};

	return import->source->told->memory
		       ? tt_graph_report_memory_ended(import->source->told->memory, &sink, &pages)
		       : TTNN_OK;
}

tt_status tt_report_told_pages(struct tt_report_import *import)
{
	const struct tt_graph_report_memory *memory = import->source->told->memory;
	struct pages pages = {.import = import};

	if (!memory)
		return TTNN_OK;
	if (import->buffers.lists.count) {
		TT_TRY(tt_graph_report_memory_allocated(memory, &sink, &pages));
		TT_TRY(end_allocation(&pages));
		if (import->pages.snapshots.count)
			return tt_report_pages_write(&import->pages, &import->buffers);
	}
	tt_report_pages_begin(&import->pages);
	TT_TRY(tt_graph_report_memory_living(memory, &sink, &pages));
	return tt_report_pages_end(&import->pages, import->base + (import->number > 1));
}
