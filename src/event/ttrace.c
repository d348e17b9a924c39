#include "event/ttrace.h"

#include <string.h>

#include "base/pack.h"

void tt_trace_head_add(struct tt_str *out, const struct tt_str *body)
{
	unsigned char head[TT_TRACE_HEAD_SIZE] = {0};

	memcpy(head, TT_TRACE_MAGIC, TT_TRACE_MAGIC_SIZE);
	tt_put_u32(head + 8, TT_TRACE_VERSION);
	tt_put_u32(head + 12, (uint32_t)body->length);
	tt_put_u32(head + 16, tt_crc32(0, tt_str_text(body), body->length));
	tt_put_u32(head + 20, tt_crc32(0, head, 20));
	tt_str_add(out, (const char *)head, sizeof(head));
	tt_str_add(out, tt_str_text(body), body->length);
}

void tt_put_u32(unsigned char *out, uint32_t number)
{
	for (int i = 0; i < 4; i++)
		out[i] = (unsigned char)(number >> (8 * i));
}

void tt_put_u64(unsigned char *out, uint64_t number)
{
	tt_put_u32(out, (uint32_t)number);
	tt_put_u32(out + 4, (uint32_t)(number >> 32));
}

uint32_t tt_get_u32(const unsigned char *data)
{
	return (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 |
	       (uint32_t)data[3] << 24;
}

uint64_t tt_get_u64(const unsigned char *data)
{
	return tt_get_u32(data) | (uint64_t)tt_get_u32(data + 4) << 32;
}

void tt_chunk_head_put(unsigned char out[TT_CHUNK_HEAD_SIZE], const struct tt_chunk_head *head)
{
	unsigned char *at = out + 8;

#define TT_X(bits, name)                                                                           \
	tt_put_u##bits(at, head->name);                                                            \
	at += bits / 8;
	TT_CHUNK_HEAD_LIST(TT_X)
#undef TT_X
	for (int i = 0; i < TT_CHUNK_KINDS; i++, at += 4)
		tt_put_u32(at, head->counts[i]);
	tt_put_u32(out, TT_CHUNK_MAGIC);
	tt_put_u32(out + 4, tt_crc32(0, out + 8, TT_CHUNK_HEAD_SIZE - 8));
}

bool tt_chunk_head_get(struct tt_chunk_head *out, const unsigned char *data)
{
	const unsigned char *at = data + 8;

	if (tt_get_u32(data) != TT_CHUNK_MAGIC ||
	    tt_get_u32(data + 4) != tt_crc32(0, at, TT_CHUNK_HEAD_SIZE - 8))
		return false;
#define TT_X(bits, name)                                                                           \
	out->name = tt_get_u##bits(at);                                                            \
	at += bits / 8;
	TT_CHUNK_HEAD_LIST(TT_X)
#undef TT_X
	for (int i = 0; i < TT_CHUNK_KINDS; i++, at += 4)
		out->counts[i] = tt_get_u32(at);
	return out->stored_size <= TT_CHUNK_MAX && out->raw_size <= TT_CHUNK_MAX;
}

struct tt_chunk_row tt_chunk_row_of(const struct tt_chunk_head *head, uint64_t offset)
{
	struct tt_chunk_row row = {
		.offset = offset,
		.stored_size = head->stored_size,
		.raw_size = head->raw_size,
		.thread = head->thread,
		.sequence = head->sequence,
		.events = head->events,
		.operations = head->operations,
		.op = head->op,
		.first_ns = head->first_ns,
		.last_ns = head->last_ns,
	};

	return row;
}

void tt_tail_put(unsigned char out[TT_TAIL_SIZE], uint64_t index_offset)
{
	tt_put_u64(out, index_offset);
	tt_put_u64(out + 8, TT_TRACE_VERSION);
	tt_put_u32(out + 16, tt_crc32(0, out, 16));
	tt_put_u32(out + 20, TT_TAIL_MAGIC);
}

bool tt_tail_get(uint64_t *index_offset, const unsigned char *data)
{
	if (tt_get_u32(data + 20) != TT_TAIL_MAGIC ||
	    tt_get_u32(data + 16) != tt_crc32(0, data, 16))
		return false;
	*index_offset = tt_get_u64(data);
	return true;
}
