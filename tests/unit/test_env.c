/* The environment's variables: what is refused, and that rows and documentation agree. */
#include "base/env.h"

#include <ttnn.h>

#include "base/file.h"
#include "base/str.h"
#include "test.h"

static const struct {
	const char *name, *value, *message; /* NULL: it is taken */
} cases[] = {
	{"TTNN_DIALECT", "tt_metal",
	 "TTNN_DIALECT is \"tt_metal\"; it can be one of seed|tt-metal"},
	{"TTNN_DIALECT", "seed|tt-metal",
	 "TTNN_DIALECT is \"seed|tt-metal\"; it can be one of seed|tt-metal"},
	{"TTNN_DIALECT", "tt-metal", NULL},
	{"TTNN_DIALECT", "", NULL},
	{"TTNN_TRACE_PARAMS", "bogus",
	 "TTNN_TRACE_PARAMS is \"bogus\"; it can be one of 0|1|values|async"},
	{"TTNN_TRACE_PARAMS", "async", NULL},
	{"TT_METAL_OPERATION_TIMEOUT_SECONDS", "abc",
	 "TT_METAL_OPERATION_TIMEOUT_SECONDS is \"abc\"; it can be a number of seconds, 0 or more"},
	{"TT_METAL_OPERATION_TIMEOUT_SECONDS", "-1",
	 "TT_METAL_OPERATION_TIMEOUT_SECONDS is \"-1\"; it can be a number of seconds, 0 or more"},
	{"TT_METAL_OPERATION_TIMEOUT_SECONDS", "inf",
	 "TT_METAL_OPERATION_TIMEOUT_SECONDS is \"inf\"; it can be a number of seconds, 0 or more"},
	{"TT_METAL_OPERATION_TIMEOUT_SECONDS", "2.5", NULL},
	{"TTNN_NUM_THREADS", "0", "TTNN_NUM_THREADS is \"0\"; it can be a whole number from 1 on"},
	{"TTNN_NUM_THREADS", "99999999999999999999",
	 "TTNN_NUM_THREADS is \"99999999999999999999\"; it can be a whole number from 1 on"},
	{"TTNN_NUM_THREADS", "2", NULL},
	{"TTNN_POOL_MB", "-3", "TTNN_POOL_MB is \"-3\"; it can be a whole number from 0 on"},
	{"TTNN_POOL_MB", "0", NULL},
	{"TTNN_ISA", "sse9", "TTNN_ISA is \"sse9\"; it can be one of plain|avx2|avx512"},
};

TEST(typos_are_refused)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *before = getenv(cases[i].name);
		char *kept = before ? strdup(before) : NULL;
		tt_status status;

		setenv(cases[i].name, cases[i].value, 1);
		status = tt_env_check();
		CHECK(status == (cases[i].message ? TTNN_INVALID : TTNN_OK));
		if (cases[i].message)
			CHECK_STR(ttnn_error(), cases[i].message);
		if (kept)
			setenv(cases[i].name, kept, 1);
		else
			unsetenv(cases[i].name);
		free(kept);
	}
}

/* Whoever begins something is told, in C as well. */
TEST(devices_and_captures_refuse)
{
	ttnn_device *device = NULL;

	setenv("TTNN_DIALECT", "tt_metal", 1);
	CHECK(ttnn_device_open(&device, 0, NULL) == TTNN_INVALID);
	CHECK(strstr(ttnn_error(), "TTNN_DIALECT"));
	CHECK(ttnn_graph_begin(TTNN_RUN_NORMAL) == TTNN_INVALID);
	unsetenv("TTNN_DIALECT");
	CHECK(ttnn_device_open(&device, 0, NULL) == TTNN_OK);
	ttnn_device_unref(device);
}

TEST(the_page_has_every_row)
{
	size_t count;
	const struct tt_env_row *rows = tt_env_rows(&count);
	struct tt_str row = {0};
	char *page = NULL;
	size_t size = 0;

	CHECK(tt_file_read(&page, &size, "docs/environment.md") == TTNN_OK);
	for (size_t i = 0; i < count; i++) {
		CHECK(i == 0 || strcmp(rows[i - 1].name, rows[i].name) < 0);
		tt_str_clear(&row);
		tt_str_addf(&row, "| `%s` |", rows[i].name);
		if (!page || !strstr(page, tt_str_text(&row)))
			TEST_FAIL("docs/environment.md has no row %s", tt_str_text(&row));
	}
	tt_free(page);
	tt_str_deinit(&row);
}
