#include "report/pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/pytext.h"

/* Of more lists than this it is not asked whether they are apart, which takes the square of it. */
#define APART_MAX 64

/* Adds what a chunk covers to the one with the same key, or as a new one behind the others. */
static tt_status merge(struct tt_report_pages *pages, const struct tt_report_chunk *chunk)
{
	struct tt_report_chunk *into;
	struct tt_map_entry *entry;
	bool added;

	entry = tt_map_add(&pages->found, &chunk->key, sizeof(chunk->key), &added);
	if (!entry)
		return tt_fail_nomem();
	if (added) {
		entry->number = pages->chunks.count;
		into = TT_VEC_PUSH(&pages->chunks);
		if (!into)
			return tt_fail_nomem();
		*into = *chunk;
		return TTNN_OK;
	}
	into = &pages->chunks.data[entry->number];
	if (chunk->start < into->start)
		into->start = chunk->start;
	if (chunk->end > into->end)
		into->end = chunk->end;
	if (chunk->page_size > into->page_size)
		into->page_size = chunk->page_size;
	into->pages += chunk->pages;
	return TTNN_OK;
}

void tt_report_pages_begin(struct tt_report_pages *pages)
{
	tt_map_clear(&pages->found);
	pages->chunks.count = 0;
}

tt_status tt_report_pages_add(struct tt_report_pages *pages, struct tt_report_chunk *chunk)
{
	if (__builtin_add_overflow(chunk->start, chunk->page_size, &chunk->end))
		return tt_fail(TTNN_FORMAT, "a page ends beyond the numbers of 64 bits");
	return merge(pages, chunk);
}

static tt_status merge_page(struct tt_report_pages *pages, const struct tt_json *page)
{
	enum { ADDRESS, BANK, TYPE, X, Y, DEVICE, PAGE_ADDRESS, PAGE_SIZE, COUNT };
	static const struct tt_json_key keys[COUNT] = {
		TT_JSON_KEY("address"),      TT_JSON_KEY("bank_id"),  TT_JSON_KEY("buffer_type"),
		TT_JSON_KEY("core_x"),       TT_JSON_KEY("core_y"),   TT_JSON_KEY("device_id"),
		TT_JSON_KEY("page_address"), TT_JSON_KEY("page_size")};
	const struct tt_json *found[COUNT];
	struct tt_report_chunk chunk = {.pages = 1};

	tt_json_pick(found, page, keys, COUNT);
	tt_py_int(&chunk.key.device, found[DEVICE]);
	tt_py_int(&chunk.key.address, found[ADDRESS]);
	tt_py_int(&chunk.key.bank, found[BANK]);
	tt_py_int(&chunk.key.core_x, found[X]);
	tt_py_int(&chunk.key.core_y, found[Y]);
	tt_py_int(&chunk.key.type, found[TYPE]);
	tt_py_int(&chunk.start, found[PAGE_ADDRESS]);
	tt_py_int(&chunk.page_size, found[PAGE_SIZE]);
	if (tt_json_kind(found[DEVICE]) != TT_JSON_STRING)
		chunk.key.device = pages->map(pages->context, chunk.key.device);
	return tt_report_pages_add(pages, &chunk);
}

static tt_status merge_pages(struct tt_report_pages *pages, const struct tt_json *list)
{
	struct tt_json_iter it = tt_json_iter(list);

	while (tt_json_next(&it))
		TT_TRY(merge_page(pages, it.value));
	return TTNN_OK;
}

/* The chunks may lie anywhere, as those in maps do. */
static tt_status write_chunks(struct tt_report_pages *pages, const void *chunks, size_t count,
			      int64_t operation)
{
	for (size_t i = 0; i < count; i++) {
		struct tt_report_chunk chunk;
		int64_t row[12];

		memcpy(&chunk, (const char *)chunks + i * sizeof(chunk), sizeof(chunk));
		row[0] = operation;
		row[1] = chunk.key.device;
		row[2] = chunk.key.address;
		row[3] = chunk.key.bank;
		row[4] = chunk.key.core_x;
		row[5] = chunk.key.core_y;
		row[6] = chunk.start;
		row[7] = chunk.end - chunk.start;
		row[8] = chunk.page_size;
		row[9] = chunk.pages;
		row[10] = chunk.key.type;
		row[11] = pages->rank;
		TT_TRY(tt_report_insert_ints(pages->db, TT_REPORT_BUFFER_CHUNKS, row, 12));
	}
	pages->rows += count;
	return TTNN_OK;
}

/* ---- pages per address ---------------------------------------------------------------------- */

/* Whether all chunks made so far are of one address. */
static bool have_one_address(const struct tt_report_pages *pages)
{
	const struct tt_report_chunk *chunks = pages->chunks.data;

	for (size_t i = 1; i < pages->chunks.count; i++)
		if (chunks[i].key.address != chunks[0].key.address)
			return false;
	return true;
}

/* The chunks made so far become a snapshot of an address. */
tt_status tt_report_pages_snapshot(struct tt_report_pages *pages, int64_t address, int64_t counter)
{
	struct tt_report_snapshot *snapshot = TT_VEC_PUSH(&pages->snapshots);
	struct tt_map_entry *list =
		tt_map_add(&pages->lists, pages->chunks.data ? (void *)pages->chunks.data : "",
			   pages->chunks.count * sizeof(*pages->chunks.data), NULL);

	if (!list || !snapshot)
		return tt_fail_nomem();
	list->number = have_one_address(pages);
	*snapshot = (struct tt_report_snapshot){
		.address = address,
		.counter = counter,
		.number = (uint32_t)pages->snapshots.count,
		.chunks = (uint32_t)(list - pages->lists.entries),
	};
	return TTNN_OK;
}

static int by_counter(const void *a, const void *b)
{
	const struct tt_report_snapshot *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	if (left->counter != right->counter)
		return left->counter < right->counter ? -1 : 1;
	return (left->number > right->number) - (left->number < right->number);
}

/* The elements of an address: snapshots, or (older) the pages themselves. */
static tt_status read_address(struct tt_report_pages *pages, struct tt_report_source *source,
			      int64_t address, struct tt_json_parser *parser)
{
	bool first = true, bare = false;

	tt_report_pages_begin(pages);
	if (source->element_kind(source) != TT_JSON_ARRAY)
		return TTNN_OK;
	source->enter(source);
	while (source->next(source)) {
		struct tt_report_place place = source->place(source);
		const struct tt_json *element, *counter;
		int64_t number = 0;

		TT_TRY(source->status(source));
		TT_TRY(source->fetch(&element, source, parser, &place));
		counter = tt_json_get(element, "alloc_counter");
		bare = first ? !counter : bare;
		first = false;
		if (bare) {
			TT_TRY(merge_page(pages, element));
			continue;
		}
		if (!tt_py_int(&number, counter))
			return source->fail(source, &place, "pages without their alloc_counter");
		tt_report_pages_begin(pages);
		TT_TRY(merge_pages(pages, tt_json_get(element, "pages")));
		TT_TRY(tt_report_pages_snapshot(pages, address, number));
	}
	TT_TRY(source->status(source));
	return bare || first ? tt_report_pages_snapshot(pages, address, 0) : TTNN_OK;
}

tt_status tt_report_pages_read(struct tt_report_pages *pages, struct tt_report_source *source)
{
	struct tt_json_parser parser = {0};
	tt_status status = source->walk(source, TT_GRAPH_PART_PAGES_BY_ADDRESS);

	while (status == TTNN_OK && source->next(source)) {
		const char *key = source->key(source);
		struct tt_report_place place;
		int64_t address;

		if (tt_py_int_text(&address, key, strlen(key))) {
			status = read_address(pages, source, address, &parser);
			continue;
		}
		place = source->place(source);
		status = source->status(source);
		if (status == TTNN_OK)
			status = source->fail(source, &place, "pages of what is no address");
	}
	tt_json_parser_deinit(&parser);
	return status == TTNN_OK ? source->status(source) : status;
}

/* The latest snapshot up to a counter, else the earliest; NULL when the address has none. */
static const struct tt_map_entry *find_snapshot(const struct tt_report_pages *pages,
						int64_t address, int64_t counter)
{
	const struct tt_report_snapshot *all = pages->snapshots.data;
	struct tt_report_snapshot wanted = {
		.address = address, .counter = counter, .number = UINT32_MAX};
	size_t low = 0, high = pages->snapshots.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_counter(&all[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && all[low - 1].address == address)
		return &pages->lists.entries[all[low - 1].chunks];
	if (low < pages->snapshots.count && all[low].address == address)
		return &pages->lists.entries[all[low].chunks];
	return NULL;
}

/* Finds the lists of chunks of the buffers in a list. */
static tt_status find_used(struct tt_report_pages *pages, const struct tt_report_buffers *buffers,
			   const struct tt_report_list *list)
{
	pages->used.count = 0;
	for (size_t i = 0; i < list->count; i++) {
		uint32_t known = buffers->listed.data[list->first + i];
		const struct tt_map_entry *snapshot, **used;
		struct tt_report_buffer buffer;

		memcpy(&buffer, buffers->known.entries[known].key, sizeof(buffer));
		snapshot = find_snapshot(pages, buffer.address, list->end);
		if (!snapshot || !snapshot->length)
			continue;
		used = TT_VEC_PUSH(&pages->used);
		if (!used)
			return tt_fail_nomem();
		*used = snapshot;
	}
	return TTNN_OK;
}

static int64_t address_of(const struct tt_map_entry *list)
{
	struct tt_report_chunk first;

	memcpy(&first, list->key, sizeof(first));
	return first.key.address;
}

/* Whether no two of the lists found have chunks to be merged: each has an address of its own. */
static bool are_apart(const struct tt_report_pages *pages)
{
	size_t count = pages->used.count;

	for (size_t i = 0; i < count; i++) {
		if (!pages->used.data[i]->number || count > APART_MAX)
			return false;
		for (size_t k = 0; k < i; k++)
			if (address_of(pages->used.data[i]) == address_of(pages->used.data[k]))
				return false;
	}
	return true;
}

static tt_status write_list(struct tt_report_pages *pages, const struct tt_report_buffers *buffers,
			    const struct tt_report_list *list)
{
	size_t size = sizeof(struct tt_report_chunk);
	bool apart;

	TT_TRY(find_used(pages, buffers, list));
	apart = are_apart(pages);
	tt_report_pages_begin(pages);
	for (size_t i = 0; i < pages->used.count; i++) {
		const struct tt_map_entry *chunks = pages->used.data[i];

		if (apart)
			TT_TRY(write_chunks(pages, chunks->key, chunks->length / size,
					    list->operation));
		for (size_t at = 0; !apart && at < chunks->length; at += size) {
			struct tt_report_chunk chunk;

			memcpy(&chunk, chunks->key + at, size);
			TT_TRY(merge(pages, &chunk));
		}
	}
	return write_chunks(pages, pages->chunks.data, pages->chunks.count, list->operation);
}

tt_status tt_report_pages_write(struct tt_report_pages *pages,
				const struct tt_report_buffers *buffers)
{
	if (pages->snapshots.count)
		qsort(pages->snapshots.data, pages->snapshots.count, sizeof(*pages->snapshots.data),
		      by_counter);
	for (size_t i = 0; i < buffers->lists.count; i++)
		if (buffers->lists.data[i].operation)
			TT_TRY(write_list(pages, buffers, &buffers->lists.data[i]));
	return TTNN_OK;
}

/* ---- one list of pages ---------------------------------------------------------------------- */

tt_status tt_report_pages_flat(struct tt_report_pages *pages, struct tt_report_source *source,
			       int64_t operation)
{
	struct tt_json_parser parser = {0};
	tt_status status = source->walk(source, TT_GRAPH_PART_PAGES);

	tt_report_pages_begin(pages);
	while (status == TTNN_OK && source->next(source)) {
		struct tt_report_place place = source->place(source);
		const struct tt_json *page;

		status = source->status(source);
		if (status == TTNN_OK)
			status = source->fetch(&page, source, &parser, &place);
		if (status == TTNN_OK)
			status = merge_page(pages, page);
	}
	tt_json_parser_deinit(&parser);
	TT_TRY(status);
	TT_TRY(source->status(source));
	return tt_report_pages_end(pages, operation);
}

tt_status tt_report_pages_end(struct tt_report_pages *pages, int64_t operation)
{
	return write_chunks(pages, pages->chunks.data, pages->chunks.count, operation);
}

void tt_report_pages_reset(struct tt_report_pages *pages)
{
	tt_map_clear(&pages->lists);
	pages->snapshots.count = 0;
	tt_report_pages_begin(pages);
}

void tt_report_pages_deinit(struct tt_report_pages *pages)
{
	tt_map_deinit(&pages->lists);
	tt_map_deinit(&pages->found);
	TT_VEC_DEINIT(&pages->snapshots);
	TT_VEC_DEINIT(&pages->chunks);
	TT_VEC_DEINIT(&pages->used);
}
