/*
 * embed.h: files that are part of the library. `scripts/embed` writes them as C at build time; see
 * the Makefile for the tables that exist. Anyone may read them; they are never freed.
 */
#ifndef TT_BASE_EMBED_H
#define TT_BASE_EMBED_H

#include <stddef.h>

/* A table of these ends with a row whose name is NULL; rows are sorted by name. */
struct tt_embedded {
	const char *name;          /* path below the table's directory, without the suffix */
	const unsigned char *data; /* a zero byte follows the last one */
	size_t size;
};

/* data/profiles, without ".json" */
extern const struct tt_embedded tt_embedded_profiles[];

/* python/compat, whole names */
extern const struct tt_embedded tt_embedded_workspace[];

/* data/workspace: what `ttnn workspace` makes other files of */
extern const struct tt_embedded tt_embedded_sources[];

#endif
