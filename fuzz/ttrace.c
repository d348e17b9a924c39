/*
 * ttrace.c: any bytes as a trace. As they are, and as the records of a chunk whose checksums are right,
 * so that the reader gets past them. All that can be read is read twice and must be the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/pack.h"
#include "event/encode.h"
#include "event/value_text.h"
#include "trace/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t read_value(uint64_t hash, const struct ttnn_value *value)
{
	struct tt_event_tensor tensor;
	struct tt_str text = {0};

	if (tt_value_seen_tensor(&tensor, value))
		return tt_hash_u64(hash, tensor.id + tensor.spec->bytes);
	tt_value_text(&text, value);
	hash = tt_hash(hash, tt_str_text(&text), text.length);
	tt_str_deinit(&text);
	return hash;
}

static uint64_t read_event(uint64_t hash, const struct tt_seen *seen)
{
	const struct tt_event *event = &seen->event;

	hash = tt_hash_u64(hash, (uint64_t)event->kind + seen->time_ns + seen->op + seen->depth);
	if (event->kind == TT_EVENT_SCOPE_BEGIN) {
		hash = tt_hash(hash, event->begin.name, strlen(event->begin.name));
		for (size_t i = 0; i < event->begin.arg_count; i++)
			hash = read_value(hash, &event->begin.args[i]);
	}
	return hash;
}

static uint64_t read_all(struct tt_source *source)
{
	const struct tt_seen *seen;
	uint64_t hash = 0;

	while (tt_source_next(&seen, source) == TTNN_OK && seen)
		hash = read_event(hash, seen);
	return hash;
}

static void read_trace(const void *data, size_t size)
{
	struct tt_source *source;
	uint64_t hash;

	if (tt_source_open_bytes(&source, data, size, "fuzz") != TTNN_OK)
		return;
	hash = read_all(source);
	tt_source_rewind(source);
	if (read_all(source) != hash)
		abort();
	tt_source_close(source);
}

static void add_head(struct tt_str *out)
{
	unsigned char head[TT_TRACE_HEAD_SIZE] = {0};
	struct tt_str body = {0};

	for (int i = 0; i < 6; i++) /* process, time, three texts, the ring */
		tt_encode_number(&body, 0);
	tt_encode_number(&body, TT_EVENT_KINDS);
	for (int i = 0; i < TT_EVENT_KINDS; i++) {
		tt_encode_text(&body, tt_event_kind_name(i));
		tt_encode_text(&body, tt_event_forms(i));
	}
	memcpy(head, TT_TRACE_MAGIC, TT_TRACE_MAGIC_SIZE);
	tt_put_u32(head + 8, TT_TRACE_VERSION);
	tt_put_u32(head + 12, (uint32_t)body.length);
	tt_put_u32(head + 16, tt_crc32(0, tt_str_text(&body), body.length));
	tt_put_u32(head + 20, tt_crc32(0, head, 20));
	tt_str_add(out, (const char *)head, sizeof(head));
	tt_str_add(out, tt_str_text(&body), body.length);
	tt_str_deinit(&body);
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
	if (size > 1 << 20)
		return 0;
	read_trace(data, size);
	read_records(data, size);
	return 0;
}
