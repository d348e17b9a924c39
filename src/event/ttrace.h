/*
 * ttrace.h: the parts of a .ttrace file that its writer (event/store.c) and its reader
 * (trace/source.c) share. docs/formats/ttrace.md describes the whole.
 *
 *	+------+---------+-------+---------+-------+---   ---+-------+---------+------+
 *	| head | chunk   | data  | chunk   | data  |   ...   | index | data    | tail |
 *	|      | head    |       | head    |       |         | head  |         |      |
 *	+------+---------+-------+---------+-------+---   ---+-------+---------+------+
 *
 * A chunk holds records of one thread and needs no other chunk to be read. Numbers are little-endian.
 */
#ifndef TT_EVENT_TTRACE_H
#define TT_EVENT_TTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define TT_TRACE_SUFFIX ".ttrace"
#define TT_TRACE_MAGIC "\x89ttrace\n"
#define TT_TRACE_MAGIC_SIZE 8
#define TT_TRACE_VERSION 2
/* Magic, version, length and checksum of the body. */
#define TT_TRACE_HEAD_SIZE 24
/* A file whose head claims more is none of ours. */
#define TT_TRACE_BODY_MAX ((uint32_t)1 << 20)

#define TT_CHUNK_MAGIC 0x4b435454u /* "TTCK" */
#define TT_TAIL_MAGIC 0x444e4554u  /* "TEND" */
#define TT_TAIL_SIZE 24
/* No chunk becomes larger, packed or not. */
#define TT_CHUNK_MAX ((uint32_t)16 << 20)
/* Kinds of events that a chunk's head counts. */
#define TT_CHUNK_KINDS 32

enum tt_chunk_type {
	TT_CHUNK_EVENTS = 1,
	TT_CHUNK_INDEX = 2,
};

enum tt_chunk_codec {
	TT_CODEC_PLAIN = 0,
	TT_CODEC_ZSTD = 1,
};

/*
 * The head of a chunk, in the order of the file; X(bits, name). The first two are the magic number and
 * the checksum of the rest.
 */
#define TT_CHUNK_HEAD_LIST(X)                                                                      \
	X(32, stored_crc)                                                                          \
	X(32, type)        /* enum tt_chunk_type */                                                \
	X(32, codec)       /* enum tt_chunk_codec */                                               \
	X(32, stored_size) /* bytes that follow the head */                                        \
	X(32, raw_size)    /* the same unpacked */                                                 \
	X(32, thread)      /* from 0 */                                                            \
	X(32, sequence)    /* of the thread's chunks, from 0 */                                    \
	X(32, events)                                                                              \
	X(32, operations) /* outermost calls that begin in it */                                   \
	X(32, depth)      /* scopes that are open where it begins */                               \
	X(64, op)         /* the outermost call that is open or was last where it begins */        \
	X(64, first_ns)   /* times since the capture began: of the first record... */              \
	X(64, last_ns)    /* ...and of the last */                                                 \
	X(64, tick)       /* of the records' times, in 2^-32 nanoseconds */

struct tt_chunk_head {
#define TT_X(bits, name) uint##bits##_t name;
	TT_CHUNK_HEAD_LIST(TT_X)
#undef TT_X
	uint32_t counts[TT_CHUNK_KINDS]; /* events of each kind */
};

/* Magic, checksum, ten 32-bit and four 64-bit numbers, the counts. */
#define TT_CHUNK_HEAD_SIZE (4 * 12 + 8 * 4 + 4 * TT_CHUNK_KINDS)

/* Appends the head of a file, then its body: what it tells of its process and of the events. */
void tt_trace_head_add(struct tt_str *out, const struct tt_str *body);

/* Writes a head with its magic number and checksum. */
void tt_chunk_head_put(unsigned char out[TT_CHUNK_HEAD_SIZE], const struct tt_chunk_head *head);

/* Reads one; false when magic, checksum or sizes are wrong. */
bool tt_chunk_head_get(struct tt_chunk_head *out, const unsigned char *data);

/* Where a chunk is. The index of a file has these rows. X(name) */
#define TT_CHUNK_ROW_LIST(X)                                                                       \
	X(offset) /* of its head in the file */                                                    \
	X(stored_size)                                                                             \
	X(raw_size)                                                                                \
	X(thread)                                                                                  \
	X(sequence)                                                                                \
	X(events)                                                                                  \
	X(operations)                                                                              \
	X(op)                                                                                      \
	X(first_ns)                                                                                \
	X(last_ns)

struct tt_chunk_row {
#define TT_X(name) uint64_t name;
	TT_CHUNK_ROW_LIST(TT_X)
#undef TT_X
};

struct tt_chunk_row tt_chunk_row_of(const struct tt_chunk_head *head, uint64_t offset);

/* The end of a complete file: where the index is. */
void tt_tail_put(unsigned char out[TT_TAIL_SIZE], uint64_t index_offset);
bool tt_tail_get(uint64_t *index_offset, const unsigned char *data);

void tt_put_u32(unsigned char *out, uint32_t number);
void tt_put_u64(unsigned char *out, uint64_t number);
uint32_t tt_get_u32(const unsigned char *data);
uint64_t tt_get_u64(const unsigned char *data);

#endif
