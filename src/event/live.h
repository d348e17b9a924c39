/*
 * live.h: chunks that are being recorded, in a file beside the trace (docs/formats/ttrace.md). Their memory
 * is that file's, so what a process has recorded outlives it however it ends: by _exit(), by a signal,
 * by exec(). A process that ends as it should removes the file, for all of it is in the trace then.
 *
 *	+------+---------------------+---------------------+---
 *	| head | slot: head, records | slot: head, records | ...      all begin at multiples of 4096
 *	+------+---------------------+---------------------+---
 *
 * A slot holds one chunk. Whoever records says after each record how far its bytes are good; the
 * writer (event/store.c) says that there are none once the chunk is in the trace. So at any moment a
 * record is in one of the two files, or in both, and readers know chunks by thread and sequence.
 *
 * The store owns it and its lock guards it. trace/left.c reads it.
 */
#ifndef TT_EVENT_LIVE_H
#define TT_EVENT_LIVE_H

#include <stdatomic.h>

#include "base/status.h"
#include "base/str.h"
#include "base/vec.h"

#define TT_LIVE_SUFFIX ".live"
#define TT_LIVE_MAGIC "\x89ttlive\n"
#define TT_LIVE_MAGIC_SIZE 8
#define TT_LIVE_VERSION 1
/* Magic, version, the checksum in the head of the trace, a checksum of these. */
#define TT_LIVE_HEAD_SIZE 20
#define TT_LIVE_UNIT ((uint64_t)4096)

#define TT_SLOT_MAGIC 0x4c535454u /* "TTSL" */
#define TT_SLOT_HEAD_SIZE 64
/* Where its numbers are: of 32 bits... */
enum {
	TT_SLOT_AT_MAGIC = 0,
	TT_SLOT_AT_SIZE = 4,      /* with the head */
	TT_SLOT_AT_COMMITTED = 8, /* bytes of whole records; 0: the slot is empty */
	TT_SLOT_AT_THREAD = 12,
	TT_SLOT_AT_SEQUENCE = 16,
	TT_SLOT_AT_DEPTH = 20,
	/* ...and of 64; all but these are as in the head of a chunk. */
	TT_SLOT_AT_OP = 24,
	TT_SLOT_AT_FIRST_NS = 32,
	TT_SLOT_AT_TICK = 40,
};

/* A slot in memory; all zero is none. */
struct tt_live_slot {
	unsigned char *map;
	uint64_t offset, size;
};

struct tt_live_region {
	uint64_t offset, size;
};

/* All zero is one that was never opened. */
struct tt_live {
	bool open, failed;
	int fd;
	uint64_t end;
	TT_VEC(struct tt_live_region) unused; /* slots that are in no memory */
};

/* Appends the name of the file beside the trace of this path. */
void tt_live_path(struct tt_str *out, const char *path);

/*
 * Makes the file beside the trace of this path, whose head has this checksum. One that is left there
 * is replaced. Fails once and for all: then there are no slots.
 */
void tt_live_open(struct tt_live *live, const char *path, uint32_t checksum);

/* Takes the name away from the file, if it is still this one that has it. */
void tt_live_remove(const struct tt_live *live, const char *path);

/* Gives back the file; slots stay until each is unmapped. */
void tt_live_deinit(struct tt_live *live);

/* An empty slot for `room` bytes, whose place on the disk is sure; false when there is none. */
bool tt_live_take(struct tt_live_slot *out, struct tt_live *live, size_t room);

/* Gives back a slot: it is empty from now on. */
void tt_live_return(struct tt_live *live, struct tt_live_slot *slot);

/* Lets go of its memory alone: the file keeps what it holds. None is fine. */
void tt_live_unmap(struct tt_live_slot *slot);

/* Whose chunk a slot holds; while it is empty. The rest of the head is the encoder's to tell at the end. */
struct tt_chunk_head;
void tt_live_begin(struct tt_live_slot *slot, const struct tt_chunk_head *head);

/* What it holds is in the trace by now. */
void tt_live_clear(struct tt_live_slot *slot);

/* Where records are put, and where it is said how far they go: little-endian. */
static inline unsigned char *tt_live_data(const struct tt_live_slot *slot)
{
	return slot->map + TT_SLOT_HEAD_SIZE;
}

static inline atomic_uint_least32_t *tt_live_committed(const struct tt_live_slot *slot)
{
	return (atomic_uint_least32_t *)(void *)(slot->map + TT_SLOT_AT_COMMITTED);
}

#endif
