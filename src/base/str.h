/*
 * str.h: a string that grows. All zero is a valid empty one.
 *
 * A failed append leaves a mark instead of a status at every call: append all you want, then ask
 * tt_str_status() or take the text with tt_str_take(), which both tell.
 */
#ifndef TT_BASE_STR_H
#define TT_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct tt_str {
	char *data; /* zero-terminated once anything was appended; NULL before */
	size_t length, room;
	bool failed;
};

void tt_str_add(struct tt_str *str, const char *text, size_t length);
void tt_str_adds(struct tt_str *str, const char *text);
void tt_str_addc(struct tt_str *str, char c);
void tt_str_addf(struct tt_str *str, const char *format, ...) TTNN_PRINTF(2, 3);
void tt_str_addu(struct tt_str *str, uint64_t number);
void tt_str_addi(struct tt_str *str, int64_t number);

/*
 * Room for so many characters, which the caller writes where this points, and then says where they end;
 * NULL when memory is exhausted, which is remembered as ever.
 */
char *tt_str_room(struct tt_str *str, size_t size);
void tt_str_end(struct tt_str *str, const char *end);

/* The text so far, never NULL. Borrowed until the next append. */
const char *tt_str_text(const struct tt_str *str);

/* TTNN_OK, or TTNN_NOMEM when an append failed. */
tt_status tt_str_status(const struct tt_str *str);

/* Hands the text out (free with tt_free()) and empties the string; frees it when it had failed. */
tt_status tt_str_take(char **out, struct tt_str *str);

/* Whether a text ends so: the suffix of a file. */
bool tt_ends_with(const char *text, const char *end);

/* How long the first `length` characters are without this end; the same if they are nothing else or end otherwise. */
size_t tt_length_without(const char *text, size_t length, const char *end);

/* Empties, keeps the room. */
void tt_str_clear(struct tt_str *str);
void tt_str_deinit(struct tt_str *str);

#endif
