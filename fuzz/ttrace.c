/*
 * ttrace.c: any bytes as a trace. As they are, with all checksums made right, and as the records of a chunk,
 * so that the reader gets past them. All that can be read is read twice and must be the same, and all
 * projections are made of it.
 */
#include "projections.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_trace(const void *data, size_t size)
{
	struct tt_source *source;

	if (tt_source_open_bytes(&source, data, size, "fuzz") == TTNN_OK)
		project(source);
}

/* A head, chunks and a tail whose checksums fit, as far as there are any. */
static void repair(unsigned char *data, size_t size)
{
	size_t at = TT_TRACE_HEAD_SIZE;
	uint32_t body;

	if (size < at || memcmp(data, TT_TRACE_MAGIC, TT_TRACE_MAGIC_SIZE) != 0)
		return;
	body = tt_get_u32(data + 12);
	if (body > size - at)
		return;
	tt_put_u32(data + 16, tt_crc32(0, data + at, body));
	tt_put_u32(data + 20, tt_crc32(0, data, 20));
	for (at += body; size - at >= TT_CHUNK_HEAD_SIZE;) {
		uint32_t stored = tt_get_u32(data + at + 20);

		if (tt_get_u32(data + at) != TT_CHUNK_MAGIC)
			break;
		if (stored > size - at - TT_CHUNK_HEAD_SIZE)
			tt_put_u32(data + at + 20,
				   stored = (uint32_t)(size - at - TT_CHUNK_HEAD_SIZE));
		if (!tt_get_u32(data + at + 16))
			tt_put_u32(data + at + 24, stored);
		tt_put_u32(data + at + 8, tt_crc32(0, data + at + TT_CHUNK_HEAD_SIZE, stored));
		tt_put_u32(data + at + 4, tt_crc32(0, data + at + 8, TT_CHUNK_HEAD_SIZE - 8));
		at += TT_CHUNK_HEAD_SIZE + stored;
	}
	if (size - at >= TT_TAIL_SIZE)
		tt_put_u32(data + size - 8, tt_crc32(0, data + size - TT_TAIL_SIZE, 16));
}

static void read_repaired(const uint8_t *data, size_t size)
{
	unsigned char *copy = tt_alloc(size + 1);

	if (!copy)
		return;
	memcpy(copy, data, size);
	repair(copy, size);
	read_trace(copy, size);
	tt_free(copy);
}

static void read_records(const uint8_t *data, size_t size)
{
	unsigned char bytes[TT_CHUNK_HEAD_SIZE];
	struct tt_chunk_head head = {.type = TT_CHUNK_EVENTS,
				     .raw_size = (uint32_t)size,
				     .stored_size = (uint32_t)size,
				     .tick = (uint64_t)1 << 32};
	struct tt_str file = {0};

	head.stored_crc = tt_crc32(0, data, size);
	tt_chunk_head_put(bytes, &head);
	add_head(&file);
	tt_str_add(&file, (const char *)bytes, sizeof(bytes));
	tt_str_add(&file, (const char *)data, size);
	if (tt_str_status(&file) == TTNN_OK)
		read_trace(file.data, file.length);
	tt_str_deinit(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 1 << 16)
		return 0;
	if (size >= TT_TRACE_MAGIC_SIZE && memcmp(data, TT_TRACE_MAGIC, TT_TRACE_MAGIC_SIZE) == 0) {
		read_trace(data, size);
		read_repaired(data, size);
	} else {
		read_records(data, size);
	}
	return 0;
}
