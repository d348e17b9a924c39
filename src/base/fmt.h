/*
 * fmt.h: numbers as text, quickly, the same on every machine and in every locale.
 *
 * Floating-point numbers are written as Python writes them: the fewest digits that read back as the
 * same number, the closest of those, "1.0" and "1e-05" and "1e+16". Any thread may call.
 */
#ifndef TT_BASE_FMT_H
#define TT_BASE_FMT_H

#include <stddef.h>
#include <stdint.h>

/* Enough for any of these texts and their zero byte. */
#define TT_FMT_MAX 32

/* Each writes a zero-terminated text into buffer[TT_FMT_MAX] and returns its length. */
size_t tt_fmt_u64(char *buffer, uint64_t number);
size_t tt_fmt_i64(char *buffer, int64_t number);

/* As Python's repr(): also "nan", "inf", "-inf". */
size_t tt_fmt_double(char *buffer, double number);

/* The fewest digits for a float32, in the same style: 0.1f is "0.1". */
size_t tt_fmt_float(char *buffer, float number);

#endif
