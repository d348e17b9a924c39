/*
 * arena.h: memory for everything with a common end. Allocate freely, free all at once.
 * Not for use by two threads at a time.
 */
#ifndef TT_BASE_ARENA_H
#define TT_BASE_ARENA_H

#include <stddef.h>

#include "base/status.h"

struct tt_arena_chunk;

/* All zero is a valid empty arena. */
struct tt_arena {
	struct tt_arena_chunk *chunks; /* newest first */
	char *next, *end;              /* free part of the newest chunk */
	size_t bytes;                  /* handed out so far */
};

/* size bytes aligned for any type, not cleared; NULL when exhausted. */
void *tt_arena_alloc(struct tt_arena *arena, size_t size);

/* The same, cleared; NULL also when count × size overflows. */
void *tt_arena_calloc(struct tt_arena *arena, size_t count, size_t size);

/* A copy with a zero byte behind it; NULL when exhausted. */
char *tt_arena_strndup(struct tt_arena *arena, const char *text, size_t length);
char *tt_arena_strdup(struct tt_arena *arena, const char *text);

/* printf into the arena; NULL when exhausted. */
char *tt_arena_printf(struct tt_arena *arena, const char *format, ...) TTNN_PRINTF(2, 3);

/* Forgets the content, keeps the newest chunk for reuse. */
void tt_arena_reset(struct tt_arena *arena);

/* Frees everything; the arena is empty and usable again. */
void tt_arena_deinit(struct tt_arena *arena);

#endif
