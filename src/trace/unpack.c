#include "trace/unpack.h"

#include <string.h>

#include "base/mem.h"
#include "base/pack.h"

/* Buffers that wait for their next use; the larger ones of them are kept. */
#define SPARES 2

struct tt_unpack {
	const struct tt_trace_file *file;
	struct tt_unpacker *unpacker; /* NULL: nothing was packed so far */
	unsigned char *stored;
	size_t stored_room;
	struct tt_unpacked spares[SPARES];
};

tt_status tt_unpack_new(struct tt_unpack **out, const struct tt_trace_file *file)
{
	struct tt_unpack *unpack = tt_calloc(1, sizeof(*unpack));

	if (!unpack)
		return tt_fail_nomem();
	unpack->file = file;
	*out = unpack;
	return TTNN_OK;
}

void tt_unpack_free(struct tt_unpack *unpack)
{
	if (!unpack)
		return;
	for (int i = 0; i < SPARES; i++)
		tt_free(unpack->spares[i].raw);
	tt_unpacker_free(unpack->unpacker);
	tt_free(unpack->stored);
	tt_free(unpack);
}

/* ---- buffers -------------------------------------------------------------------------------------------- */

void tt_unpack_give(struct tt_unpack *unpack, struct tt_unpacked *chunk)
{
	struct tt_unpacked given = *chunk;

	if (!given.raw)
		return;
	*chunk = (struct tt_unpacked){0};
	for (int i = 0; i < SPARES; i++) {
		struct tt_unpacked smaller = unpack->spares[i];

		if (given.room > smaller.room) {
			unpack->spares[i] = given;
			given = smaller;
		}
	}
	tt_free(given.raw);
}

/* Room for `size` bytes and the slack. */
static bool take_room(struct tt_unpacked *out, struct tt_unpack *unpack, size_t size)
{
	size += TT_DECODER_SLACK;
	for (int i = 0; i < SPARES; i++) {
		struct tt_unpacked *spare = &unpack->spares[i];

		if (spare->room < size)
			continue;
		out->raw = spare->raw;
		out->room = spare->room;
		*spare = (struct tt_unpacked){0};
		return true;
	}
	out->raw = tt_alloc(size);
	out->room = out->raw ? size : 0;
	return out->raw;
}

static bool make_stored(struct tt_unpack *unpack, size_t size)
{
	if (size <= unpack->stored_room)
		return true;
	tt_free(unpack->stored);
	unpack->stored = tt_alloc(size);
	unpack->stored_room = unpack->stored ? size : 0;
	return unpack->stored;
}

/* ---- chunks --------------------------------------------------------------------------------------------- */

static tt_status unpack_data(struct tt_unpacked *out, struct tt_unpack *unpack,
			     const struct tt_chunk_place *place)
{
	const struct tt_chunk_head *head = &out->head;

	if (head->codec == TT_CODEC_PLAIN)
		return tt_trace_file_data(out->raw, head, unpack->file, place);
	if (!unpack->unpacker)
		TT_TRY(tt_unpacker_new(&unpack->unpacker));
	if (!make_stored(unpack, head->stored_size))
		return tt_fail_nomem();
	TT_TRY(tt_trace_file_data(unpack->stored, head, unpack->file, place));
	return tt_unpacker_unpack(out->raw, head->raw_size, unpack->unpacker, unpack->stored,
				  head->stored_size);
}

tt_status tt_unpack_get(struct tt_unpacked *out, struct tt_unpack *unpack, size_t place)
{
	const struct tt_chunk_place *found = &unpack->file->places[place];
	tt_status status;

	TT_TRY(tt_trace_file_head(&out->head, unpack->file, found));
	if (!take_room(out, unpack, out->head.raw_size))
		return tt_fail_nomem();
	status = unpack_data(out, unpack, found);
	if (status == TTNN_OK)
		memset(out->raw + out->head.raw_size, 0, TT_DECODER_SLACK);
	else
		tt_unpack_give(unpack, out);
	return status;
}
