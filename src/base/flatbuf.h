/*
 * flatbuf.h: reading and building FlatBuffers, as much of them as our file formats need.
 *
 * A FlatBuffer is a little-endian tree of tables. A table starts with the distance back to its
 * vtable, which holds, per field number, where in the table that field lies (0: absent, the default
 * counts). Strings, vectors and other tables are referred to by the distance forward.
 *
 * Reading: every position is checked against the buffer before it is touched, so any bytes are
 * safe to read; what does not fit fails with TTNN_FORMAT. Nothing is copied: the buffer must
 * outlive what was found in it.
 *
 * Building: back to front, children before parents, fields by falling size and number, equal
 * vtables once: a builder used in the same order as Google's leaves the same bytes. A failed
 * allocation is remembered; ask tt_fb_builder_status() at the end.
 */
#ifndef TT_BASE_FLATBUF_H
#define TT_BASE_FLATBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/vec.h"

/* ---- reading ----------------------------------------------------------------------------- */

struct tt_fb {
	const uint8_t *data;
	size_t size;
};

/* All zero (fb NULL) is an absent table. Copies are free. */
struct tt_fb_table {
	const struct tt_fb *fb;
	size_t at, vtable;
	uint16_t vtable_size, size;
};

/* `count` elements of the given size at `data`; all zero is an absent vector. */
struct tt_fb_vector {
	const struct tt_fb *fb;
	const uint8_t *data;
	uint32_t count;
};

/* The root table. `fb` is kept by reference. */
tt_status tt_fb_root(struct tt_fb_table *out, const struct tt_fb *fb);

/* Whether the bytes after the root offset are this identifier of four characters. */
bool tt_fb_has_identifier(const struct tt_fb *fb, const char *identifier);

/* An unsigned little-endian number of 1, 2, 4 or 8 bytes; `fallback` when the field is absent. */
tt_status tt_fb_get(uint64_t *out, const struct tt_fb_table *table, unsigned field, size_t bytes,
		    uint64_t fallback);

/* A table inside a table; *out is all zero when the field is absent. */
tt_status tt_fb_get_table(struct tt_fb_table *out, const struct tt_fb_table *table, unsigned field);

/* A vector of elements of `bytes` bytes; *out is all zero when the field is absent. */
tt_status tt_fb_get_vector(struct tt_fb_vector *out, const struct tt_fb_table *table,
			   unsigned field, size_t bytes);

/* A struct of `bytes` bytes that the field refers to (a union member); NULL when absent. */
tt_status tt_fb_get_struct(const uint8_t **out, const struct tt_fb_table *table, unsigned field,
			   size_t bytes);

/* Element `index` (below count) of a vector of tables, never absent. */
tt_status tt_fb_element(struct tt_fb_table *out, const struct tt_fb_vector *vector, uint32_t index);

/* A little-endian number of 1, 2, 4 or 8 bytes at any address. */
uint64_t tt_fb_load(const uint8_t *at, size_t bytes);

/* ---- building ---------------------------------------------------------------------------- */

#define TT_FB_MAX_FIELDS 16

/* What was built, by its distance from the end of the buffer; 0 is nothing. */
typedef uint32_t tt_fb_ref;

/* All zero is a valid empty builder. */
struct tt_fb_builder {
	uint8_t *data; /* `room` bytes, the last `size` of them are built */
	size_t room, size, align;
	size_t table; /* where the open table began */
	unsigned count;
	struct {
		unsigned field;
		size_t at;
	} fields[TT_FB_MAX_FIELDS]; /* of the open table */
	TT_VEC(tt_fb_ref) vtables;
	bool failed;
};

/* Opens a table; one at a time, so children are built before. */
void tt_fb_table_begin(struct tt_fb_builder *builder);

/* Adds a number unless it is the field's default. Add wide fields first, high numbers first. */
void tt_fb_add(struct tt_fb_builder *builder, unsigned field, size_t bytes, uint64_t value,
	       uint64_t fallback);

/* Adds a reference, unless it is 0. */
void tt_fb_add_ref(struct tt_fb_builder *builder, unsigned field, tt_fb_ref ref);

tt_fb_ref tt_fb_table_end(struct tt_fb_builder *builder);

tt_fb_ref tt_fb_vector_u32(struct tt_fb_builder *builder, const uint32_t *values, size_t count);
tt_fb_ref tt_fb_vector_refs(struct tt_fb_builder *builder, const tt_fb_ref *refs, size_t count);

/* A struct of 64-bit numbers, outside of any table. */
tt_fb_ref tt_fb_struct_u64(struct tt_fb_builder *builder, const uint64_t *values, size_t count);

/* Pads what is built so far to a multiple of `bytes`, and the whole buffer at the end. */
void tt_fb_align(struct tt_fb_builder *builder, size_t bytes);

/* Puts the root reference in front: builder->size bytes at tt_fb_builder_data() are the buffer. */
void tt_fb_finish(struct tt_fb_builder *builder, tt_fb_ref root);

/* The bytes built so far. Borrowed until the next call that builds. */
const uint8_t *tt_fb_builder_data(const struct tt_fb_builder *builder);

/* TTNN_OK, or TTNN_NOMEM when anything could not be built. */
tt_status tt_fb_builder_status(const struct tt_fb_builder *builder);

void tt_fb_builder_deinit(struct tt_fb_builder *builder);

#endif
