/*
 * unpack.h: the records of a trace's chunks, read, checked and unpacked, in buffers that are used again. For
 * trace/source.c.
 *
 * Of a file with many chunks those that are expected are made ready by a thread beside the caller's, if
 * tt_pool_threads() allows one. It ends with tt_unpack_free(). A child after fork() goes on without it.
 */
#ifndef TT_TRACE_UNPACK_H
#define TT_TRACE_UNPACK_H

#include "trace/trace_file.h"

/* A chunk's records, with TT_DECODER_SLACK zeros behind them. All zero is none. */
struct tt_unpacked {
	struct tt_chunk_head head;
	unsigned char *raw; /* NULL: none */
	size_t room;
};

struct tt_unpack;

/* The file stays the caller's, who must not change its places meanwhile. */
tt_status tt_unpack_new(struct tt_unpack **out, const struct tt_trace_file *file);

/* Fills an empty *out with the chunk in this place of the file; TTNN_FORMAT: it is damaged. */
tt_status tt_unpack_get(struct tt_unpacked *out, struct tt_unpack *unpack, size_t place);

/* Says which place will be asked for soon. At most TT_UNPACK_AHEAD chunks wait; what is not asked for is forgotten. */
#define TT_UNPACK_AHEAD 3
void tt_unpack_expect(struct tt_unpack *unpack, size_t place);

/* Empties *chunk; its room is used again. One without records is fine. */
void tt_unpack_give(struct tt_unpack *unpack, struct tt_unpacked *chunk);

/* NULL is fine. Chunks that are out are not freed: give them back before. */
void tt_unpack_free(struct tt_unpack *unpack);

#endif
