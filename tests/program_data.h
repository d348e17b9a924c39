/* program_data.h: reading tests/data/program: chips, and sets of cores as texts. */
#ifndef TT_TESTS_PROGRAM_DATA_H
#define TT_TESTS_PROGRAM_DATA_H

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "device/program.h"
#include "tensor/core.h"
#include "tensor/read.h"
#include "tensor/text.h"
#include "test.h"

static const struct {
	const char *name;
	struct tt_program_limits limits;
} data_chips[] = {
	{"n150", {105824, 1499136, 32, 32, {8, 8}, {8, 9}}},
	{"p150", {111744, 1572864, 64, 64, {11, 10}, {12, 10}}},
	{"p150_x4", {111744, 1572864, 64, 64, {11, 10}, {12, 10}}},
};

static inline const struct tt_program_limits *data_limits(const struct tt_json *chip)
{
	const char *name = tt_json_string(chip, NULL);

	for (size_t i = 0; name && i < sizeof(data_chips) / sizeof(data_chips[0]); i++)
		if (strcmp(data_chips[i].name, name) == 0)
			return &data_chips[i].limits;
	TEST_FAIL("no chip %s", name ? name : "?");
	return &data_chips[0].limits;
}

/* The file tests/data/program/NAME.json.gz; NULL when it cannot be read. */
static inline struct tt_json_doc *data_load(const char *name)
{
	char path[256];
	struct tt_json_doc *doc = NULL;

	snprintf(path, sizeof(path), "tests/data/program/%s.json.gz", name);
	CHECK_OK(tt_json_load(&doc, path));
	return doc;
}

static inline uint64_t data_uint(const struct tt_json *value)
{
	uint64_t number = 0;

	if (!tt_json_uint(&number, value))
		TEST_FAIL("not a number but %s", tt_json_kind_name(value));
	return number;
}

static inline uint64_t data_uint_at(const struct tt_json *array, size_t index)
{
	return data_uint(tt_json_at(array, index));
}

/* "{[0-0 - 7-7], ...}" as a set; NULL when it is none. */
static inline const ttnn_core_set *data_set(const char *text)
{
	const ttnn_core_set *set = NULL;

	CHECK_OK(tt_read_core_set(&set, tt_span(text ? text : "?")));
	return set;
}

static inline const ttnn_core_set *data_set_at(const struct tt_json *array, size_t index)
{
	return data_set(tt_json_string(tt_json_at(array, index), NULL));
}

/* The text of a set; the next but three call overwrites it. */
static inline const char *data_text(const ttnn_core_set *set)
{
	static struct tt_str texts[4];
	static int turn;
	struct tt_str *text = &texts[turn++ % 4];

	tt_str_clear(text);
	tt_text_core_set(text, set, TTNN_DIALECT_TT_METAL);
	return tt_str_text(text);
}

/* Whether the last failure of this thread has this [condition, message]. */
static inline bool data_error_is(const struct tt_json *error)
{
	const char *condition = tt_json_string(tt_json_at(error, 0), NULL);
	const char *message = tt_json_string(tt_json_at(error, 1), NULL);

	return condition && message && strcmp(condition, tt_fail_condition()) == 0 &&
	       strcmp(message, ttnn_error()) == 0;
}

#endif
