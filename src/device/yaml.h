/*
 * yaml.h: the small part of YAML that cluster descriptors use, and JSON, which is YAML too, as a
 * tree that knows its lines. Chip profiles and cluster descriptors are read through it, so that
 * whatever is wrong in such a file is told with its line.
 *
 * Understood: block and flow lists and maps, plain and quoted scalars, comments, one document.
 * Refused by name: anchors, aliases, tags, block scalars, tabs as indentation, duplicate keys.
 *
 * Why not libyaml: it would replace the 400 lines that find scalars, lists and maps; the tree, its lines, the
 * duplicates, the refusals and the values stay. For that everyone who builds or runs the library would need one
 * library more, for files that most never open (a machine that is described by its owner). The reader is fuzzed
 * with both kinds of files (fuzz/profile.c).
 */
#ifndef TT_DEVICE_YAML_H
#define TT_DEVICE_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

enum tt_yaml_kind {
	TT_YAML_NONE, /* nothing, null or ~ */
	TT_YAML_TEXT,
	TT_YAML_LIST,
	TT_YAML_MAP,
};

/* Lives as long as its document. */
struct tt_yaml {
	enum tt_yaml_kind kind;
	uint32_t line;
	bool quoted;                  /* a text in quotes, so never a number */
	const char *key;              /* of this value in its map; "" elsewhere */
	const char *text;             /* of a TEXT; "" elsewhere */
	size_t count;                 /* of the values in a LIST or MAP */
	struct tt_yaml *first, *next; /* the first value inside; the value behind this one */
};

/* All zero is an empty document. Not for use by two threads while one reads a text into it. */
struct tt_yaml_doc {
	struct tt_arena arena;
	const char *name; /* stands before the line in messages */
	struct tt_yaml *root;
};

/* Reads `length` bytes; doc is overwritten, and empty after a failure. */
tt_status tt_yaml_parse(struct tt_yaml_doc *doc, const char *text, size_t length, const char *name);

/* The same for a file. */
tt_status tt_yaml_load(struct tt_yaml_doc *doc, const char *path);

/* An empty document is fine. */
void tt_yaml_deinit(struct tt_yaml_doc *doc);

/* The value of a key, or NULL: not there, or `map` is none. */
const struct tt_yaml *tt_yaml_find(const struct tt_yaml *map, const char *key);

/* Fails with "name:line: " before the message. */
tt_status tt_yaml_fail(const struct tt_yaml_doc *doc, const struct tt_yaml *node,
		       const char *format, ...) TTNN_PRINTF(3, 4);

/* ---- values of one kind; `what` names the value in messages -------------------------------- */

/* A whole number up to max, decimal or 0x hexadecimal, also in quotes. */
tt_status tt_yaml_uint(uint64_t *out, const struct tt_yaml_doc *doc, const struct tt_yaml *node,
		       const char *what, uint64_t max);
tt_status tt_yaml_u32(uint32_t *out, const struct tt_yaml_doc *doc, const struct tt_yaml *node,
		      const char *what);
tt_status tt_yaml_real(double *out, const struct tt_yaml_doc *doc, const struct tt_yaml *node,
		       const char *what);
tt_status tt_yaml_bool(bool *out, const struct tt_yaml_doc *doc, const struct tt_yaml *node,
		       const char *what);

/* A text; *out is borrowed from the document. */
tt_status tt_yaml_text(const char **out, const struct tt_yaml_doc *doc, const struct tt_yaml *node,
		       const char *what);

/* Fails unless node is of this kind. An empty value counts as an empty list or map. */
tt_status tt_yaml_expect(const struct tt_yaml_doc *doc, const struct tt_yaml *node,
			 const char *what, enum tt_yaml_kind kind);

/* Fails unless map has the key; *out is its value. */
tt_status tt_yaml_need(const struct tt_yaml **out, const struct tt_yaml_doc *doc,
		       const struct tt_yaml *map, const char *key);

/* Exactly `count` whole numbers in a list. */
tt_status tt_yaml_u32s(uint32_t *out, size_t count, const struct tt_yaml_doc *doc,
		       const struct tt_yaml *node, const char *what);

#endif
