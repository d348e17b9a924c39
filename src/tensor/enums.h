/*
 * enums.h: enumerations with upstream's names and numbers, as tables. Texts, files and arguments
 * all read and write members through these rows. Everything here is constant.
 */
#ifndef TT_TENSOR_ENUMS_H
#define TT_TENSOR_ENUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One member of an enumeration, such as {0, "BFLOAT16"}. */
struct tt_enum_row {
	int64_t value;
	const char *name;
};

/* An enumeration by upstream's name: rows are in ascending order of value. */
struct tt_enum {
	const char *name;
	const struct tt_enum_row *rows;
	size_t count;
};

/* To add one: a line here, its rows in enums.c. */
extern const struct tt_enum tt_enum_dtype, tt_enum_layout, tt_enum_buffer_type,
	tt_enum_memory_layout, tt_enum_orientation, tt_enum_shard_strategy, tt_enum_storage_type,
	tt_enum_math_fidelity;

/* The name of a member, or NULL. */
const char *tt_enum_name(const struct tt_enum *type, int64_t value);

/* The member of this name; false when there is none. */
bool tt_enum_find(int64_t *out, const struct tt_enum *type, const char *name);

/*
 * The same for any spelling found in files: "L1", "BufferType.L1", "BufferType::L1",
 * "ttnn.BufferType.L1", in any case. `length` bytes are read.
 */
bool tt_enum_parse(int64_t *out, const struct tt_enum *type, const char *text, size_t length);

#endif
