/*
 * outbuf.h: bytes on their way out, gathered so that each costs little: what the writers of timelines write to.
 */
#ifndef TT_PROFILE_OUTBUF_H
#define TT_PROFILE_OUTBUF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/fmt.h"

#define TT_OUTBUF_ROOM 65536

/* Where the bytes of a timeline go. */
struct tt_timeline_out {
	void (*write)(void *context, const void *data, size_t size);
	void *context;
};

struct tt_outbuf {
	struct tt_timeline_out out;
	size_t length;
	char data[TT_OUTBUF_ROOM];
};

static inline void tt_outbuf_flush(struct tt_outbuf *b)
{
	if (b->length)
		b->out.write(b->out.context, b->data, b->length);
	b->length = 0;
}

/* Room for `size` bytes, at most TT_OUTBUF_ROOM; the caller says with tt_outbuf_end() where they end. */
static inline char *tt_outbuf_room(struct tt_outbuf *b, size_t size)
{
	if (TT_OUTBUF_ROOM - b->length < size)
		tt_outbuf_flush(b);
	return b->data + b->length;
}

static inline void tt_outbuf_end(struct tt_outbuf *b, const char *end)
{
	b->length = (size_t)(end - b->data);
}

static inline void tt_outbuf_add(struct tt_outbuf *b, const void *data, size_t size)
{
	if (TT_OUTBUF_ROOM - b->length < size)
		tt_outbuf_flush(b);
	if (size > TT_OUTBUF_ROOM) {
		b->out.write(b->out.context, data, size);
		return;
	}
	memcpy(b->data + b->length, data, size);
	b->length += size;
}

static inline void tt_outbuf_adds(struct tt_outbuf *b, const char *text)
{
	tt_outbuf_add(b, text, strlen(text));
}

static inline void tt_outbuf_addu(struct tt_outbuf *b, uint64_t number)
{
	char *at = tt_outbuf_room(b, TT_FMT_MAX);

	tt_outbuf_end(b, at + tt_fmt_u64(at, number));
}

#endif
