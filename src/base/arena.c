#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/large.h"

#define CHUNK_FIRST ((size_t)4096)
#define CHUNK_MOST ((size_t)1 << 20)
#define ALIGNMENT alignof(max_align_t)

struct tt_arena_chunk {
	struct tt_arena_chunk *older;
	size_t size;
	alignas(max_align_t) char data[];
};

static bool grow(struct tt_arena *arena, size_t size)
{
	size_t want = arena->chunks ? arena->chunks->size * 2 : CHUNK_FIRST;
	struct tt_arena_chunk *chunk;

	if (want > CHUNK_MOST)
		want = CHUNK_MOST;
	if (want < size)
		want = size;
	if (want > SIZE_MAX - sizeof(*chunk))
		return false;
	chunk = tt_large_alloc(sizeof(*chunk) + want);
	if (!chunk)
		return false;
	chunk->older = arena->chunks;
	chunk->size = want;
	arena->chunks = chunk;
	arena->next = chunk->data;
	arena->end = chunk->data + want;
	return true;
}

void *tt_arena_alloc(struct tt_arena *arena, size_t size)
{
	size_t rounded = (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
	void *block;

	if (rounded < size)
		return NULL;
	if ((size_t)(arena->end - arena->next) < rounded && !grow(arena, rounded))
		return NULL;
	block = arena->next;
	if (rounded)
		arena->next += rounded;
	arena->bytes += rounded;
	return block ? block : tt_arena_alloc(arena, 1);
}

void *tt_arena_calloc(struct tt_arena *arena, size_t count, size_t size)
{
	void *block;

	if (size && count > SIZE_MAX / size)
		return NULL;
	block = tt_arena_alloc(arena, count * size);
	if (block)
		memset(block, 0, count * size);
	return block;
}

char *tt_arena_strndup(struct tt_arena *arena, const char *text, size_t length)
{
	char *copy = length == SIZE_MAX ? NULL : tt_arena_alloc(arena, length + 1);

	if (!copy)
		return NULL;
	if (length)
		memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

char *tt_arena_strdup(struct tt_arena *arena, const char *text)
{
	return tt_arena_strndup(arena, text, strlen(text));
}

char *tt_arena_printf(struct tt_arena *arena, const char *format, ...)
{
	va_list args;
	char *text;
	int length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length < 0)
		return NULL;
	text = tt_arena_alloc(arena, (size_t)length + 1);
	if (!text)
		return NULL;
	va_start(args, format);
	vsnprintf(text, (size_t)length + 1, format, args);
	va_end(args);
	return text;
}

static void free_chunks(struct tt_arena_chunk *chunk)
{
	while (chunk) {
		struct tt_arena_chunk *older = chunk->older;

		tt_large_free(chunk, sizeof(*chunk) + chunk->size);
		chunk = older;
	}
}

void tt_arena_reset(struct tt_arena *arena)
{
	if (!arena->chunks)
		return;
	free_chunks(arena->chunks->older);
	arena->chunks->older = NULL;
	arena->next = arena->chunks->data;
	arena->bytes = 0;
}

void tt_arena_deinit(struct tt_arena *arena)
{
	free_chunks(arena->chunks);
	memset(arena, 0, sizeof(*arena));
}
