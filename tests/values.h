/*
 * values.h: reads the recorded rows of tests/data/values (see record.py there) into values of the
 * tensor layer. For test programs only.
 */
#ifndef TT_TESTS_VALUES_H
#define TT_TESTS_VALUES_H

#include "base/json.h"
#include "base/str.h"
#include "tensor/core.h"
#include "tensor/enums.h"
#include "tensor/value_json.h"

#define VALUES_DATA "tests/data/values/"

/* [[x0, y0, x1, y1], ...] as a set. */
static inline const ttnn_core_set *row_cores(const struct tt_json *ranges)
{
	struct tt_json_iter it = tt_json_iter(ranges);
	struct ttnn_core_range list[128];
	const ttnn_core_set *set = NULL;
	uint64_t number[4] = {0};
	size_t count = 0;

	while (tt_json_next(&it)) {
		for (size_t i = 0; i < 4; i++)
			CHECK(tt_json_uint(&number[i], tt_json_at(it.value, i)));
		list[count++] =
			(struct ttnn_core_range){{(uint32_t)number[0], (uint32_t)number[1]},
						 {(uint32_t)number[2], (uint32_t)number[3]}};
	}
	CHECK_OK(ttnn_core_set_make(&set, list, count));
	return set;
}

static inline int64_t row_enum(const struct tt_json *row, const char *key,
			       const struct tt_enum *type)
{
	const char *name = tt_json_string(tt_json_get(row, key), NULL);
	int64_t member = 0;

	if (!name || !tt_enum_parse(&member, type, name, strlen(name)))
		TEST_FAIL("\"%s\" is no member of %s", name ? name : "(none)", type->name);
	return member;
}

/* shape, dtype, layout and the optional memory and tile of a row. */
static inline struct ttnn_spec_args row_spec(const struct tt_json *row)
{
	struct ttnn_spec_args args = {0};
	const struct tt_json *tile = tt_json_get(row, "tile"), *memory = tt_json_get(row, "memory");
	uint64_t height = 0, width = 0;

	CHECK_OK(tt_json_read_shape(&args.shape, tt_json_get(row, "shape")));
	args.dtype = (enum ttnn_dtype)row_enum(row, "dtype", &tt_enum_dtype);
	args.layout = (enum ttnn_layout)row_enum(row, "layout", &tt_enum_layout);
	if (tile) {
		CHECK(tt_json_uint(&height, tt_json_at(tile, 0)));
		CHECK(tt_json_uint(&width, tt_json_at(tile, 1)));
		args.tile = (struct ttnn_tile){(uint32_t)height, (uint32_t)width, false};
	}
	if (memory)
		CHECK_OK(tt_json_read_memory_config(&args.memory, memory));
	return args;
}

/* The last failure has the condition and text of a recorded {"condition", "text"}. */
static inline void check_refusal(const struct tt_json *refused)
{
	CHECK_STR(tt_fail_condition(), tt_json_string(tt_json_get(refused, "condition"), NULL));
	CHECK_STR(ttnn_error(), tt_json_string(tt_json_get(refused, "text"), NULL));
}

#endif
