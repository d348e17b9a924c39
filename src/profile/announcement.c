#include "profile/announcement.h"

#include <string.h>

#include "base/pack.h"
#include "event/ttrace.h"
#include "trace/bytes.h"

enum tt_announcement_state tt_announcement_look(size_t *size, const void *data, size_t length)
{
	const unsigned char *bytes = data;
	size_t known = length < 8 ? length : 8;
	uint32_t body;

	if (memcmp(bytes, TT_ANNOUNCE_MAGIC, known) != 0)
		return TT_ANNOUNCEMENT_NONE;
	if (length < TT_ANNOUNCE_HEAD_SIZE)
		return TT_ANNOUNCEMENT_PART;
	body = tt_get_u32(bytes + 12);
	if (tt_get_u32(bytes + 8) != TT_ANNOUNCE_VERSION || body > TT_ANNOUNCE_BODY_MAX)
		return TT_ANNOUNCEMENT_NONE;
	*size = TT_ANNOUNCE_HEAD_SIZE + body;
	return length < *size ? TT_ANNOUNCEMENT_PART : TT_ANNOUNCEMENT_WHOLE;
}

/* A missing one is empty; one with a zero byte in it is wrong. NULL: no memory. */
static const char *read_text(struct tt_bytes *bytes, struct tt_arena *arena)
{
	const char *text;
	size_t length;
	char *copy;

	if (!tt_bytes_text(&text, &length, bytes))
		text = "", length = 0;
	copy = tt_arena_strndup(arena, text, length);
	if (!copy)
		return NULL;
	bytes->bad |= strlen(copy) != length;
	return copy;
}

tt_status tt_announcement_read(struct tt_announcement *out, struct tt_arena *arena,
			       const void *data, size_t size)
{
	const unsigned char *body = (const unsigned char *)data + TT_ANNOUNCE_HEAD_SIZE;
	struct tt_bytes bytes = {body, (const unsigned char *)data + size, false};
	uint64_t kind;
	bool memory = true;

	if (tt_get_u32((const unsigned char *)data + 16) !=
	    tt_crc32(0, body, size - TT_ANNOUNCE_HEAD_SIZE))
		return tt_fail(TTNN_FORMAT, "The checksum of an announcement is wrong.");
	kind = tt_bytes_number(&bytes);
	if (kind >= TT_ANNOUNCE_KINDS)
		return tt_fail(TTNN_FORMAT, "There is no announcement of that kind.");
	*out = (struct tt_announcement){.kind = (enum tt_announce_kind)kind};
	memory &= (out->key = read_text(&bytes, arena)) != NULL;
#define TT_READ_number(name) out->name = tt_bytes_number(&bytes);
#define TT_READ_text(name) memory &= (out->name = read_text(&bytes, arena)) != NULL;
#define TT_X(form, name) TT_READ_##form(name)
	TT_ANNOUNCED_LIST(TT_X)
#undef TT_X
	if (!memory)
		return tt_fail_nomem();
	return bytes.bad ? tt_fail(TTNN_FORMAT, "An announcement makes no sense.") : TTNN_OK;
}
