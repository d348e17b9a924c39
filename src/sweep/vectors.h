/*
 * vectors.h: vector files (docs/formats/vectors.md): the parameter sets of a sweep module, by suite and hash.
 *
 *	{ SUITE: { HASH: { PARAMETERS..., "suite_name", "validity", "invalid_reason", "status", "sweep_name",
 *	                   "timestamp", "input_hash", "tag" }, ... }, ... }
 *
 * The one place that writes such files and knows their hashes: `ttnn sweep gen` and the Python generator
 * (include/ttnn_sweep.h) come here alike. Nothing is shared between calls: any thread may call.
 */
#ifndef TT_SWEEP_VECTORS_H
#define TT_SWEEP_VECTORS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "base/status.h"

/* The text of a hash, SHA-224 in hexadecimal digits, and the zero byte. */
#define TT_VECTOR_HASH 57

/* One parameter set. Texts are borrowed during a call. */
struct tt_vector {
	/*
	 * JSON of one object: the parameters in the order of their declaration, with values as the file has them. What
	 * stands there is the caller's: texts as Python's str(), {"type": ..., "data": ...}, or plain JSON.
	 */
	const char *params;
	size_t length;
	bool invalid;       /* VectorValidity.INVALID ... */
	const char *reason; /* ... because of this; NULL: "" */
};

struct tt_vector_suite {
	const char *module;    /* "model_traced.add_model_traced" */
	const char *name;      /* "model_traced" */
	const char *tag;       /* NULL: the user's name, $USER */
	const char *timestamp; /* "2026-11-15_02-32-24"; NULL: now, local time */
	const struct tt_vector *vectors;
	size_t count;
};

/* The hash of a vector of this suite: covers all but timestamp, input_hash and tag. TTNN_FORMAT: no object. */
tt_status tt_vector_hash(char out[TT_VECTOR_HASH], const struct tt_vector_suite *suite,
			 const struct tt_vector *vector);

struct tt_vectors_saved {
	size_t count; /* different vectors of the suite: equal ones are one */
	bool written; /* false: the file had them all already, with this tag, or there are none */
	char moved[512]; /* where an old file went that could not be read; or "" */
};

/*
 * Puts a suite into a file; its other suites stay. An empty suite is not written, nor one that the file has already (the
 * same hashes with the same tag). The file is replaced when it is complete; one that is no vector file is moved
 * aside as FILE.corrupted.TIME. Directories are made.
 */
tt_status tt_vectors_save(struct tt_vectors_saved *out, const char *path,
			  const struct tt_vector_suite *suite);

/* "vectors_export/MODULE.json" in `out`. TTNN_INVALID when a name has slashes, or is too long for a file. */
tt_status tt_vectors_path(char *out, size_t room, const char *directory, const char *module);

/* A vector of a file; everything lives as long as the file is open. */
struct tt_vector_entry {
	const char *suite, *hash; /* its place in the file */
	const char *module;       /* its sweep_name; "" when it has none */
	bool invalid;
	const char *reason;
	const struct tt_json *object; /* all of it, with the members that are no parameters */
};

struct tt_vector_file {
	struct tt_json_doc *doc;
	struct tt_vector_entry *entries; /* in the order of the file */
	size_t count;
};

/* Reads a file, gzip or plain. TTNN_FORMAT with file and place when it is none. */
tt_status tt_vector_file_open(struct tt_vector_file *out, const char *path);
/* All zero is fine. */
void tt_vector_file_close(struct tt_vector_file *file);

/* Whether a member of a vector is none of its parameters: "suite_name", "tag" and the like. */
bool tt_vector_is_header(const char *key, size_t length);

#endif
