/* Program memory: placement, checks, cuts; against recordings, a slow model and public numbers. */
#include <inttypes.h>

#include "device/program.h"
#include "device/work_split.h"
#include "program_data.h"
#include "tensor/core.h"
#include "test.h"

#define CIRCULAR TT_MEMORY_CIRCULAR_BUFFER
#define DATAFLOW TT_MEMORY_DATAFLOW_BUFFER
#define SCRATCH TT_MEMORY_SCRATCHPAD

/* Wormhole before the release, whose base the public numbers have. */
static const struct tt_program_limits older = {105664, 1499136, 32, 32, {8, 8}, {8, 9}};
static const struct tt_program_limits n150 = {105824, 1499136, 32, 32, {8, 8}, {8, 9}};
static const struct tt_program_limits p150 = {111744, 1572864, 64, 64, {11, 10}, {12, 10}};

static struct tt_program_row buffer(enum tt_program_memory_kind kind, uint32_t index, uint64_t size,
				    const char *cores)
{
	return (struct tt_program_row){.kind = kind,
				       .view_count = 1,
				       .views = {{index, (uint32_t)size ? (uint32_t)size : 1}},
				       .size = size,
				       .cores = data_set(cores)};
}

static tt_status add(struct tt_program *program, struct tt_program_row row,
		     const struct tt_program_limits *limits)
{
	return tt_program_add(program, &row, limits);
}

/* ---- recordings ---------------------------------------------------------------------------- */

/* Places one recorded launch; returns how many addresses of its own are as recorded. */
static size_t compare_launch(struct tt_program *program, const struct tt_json *launch,
			     const struct tt_json *sets, const struct tt_program_limits *limits)
{
	struct tt_json_iter it = tt_json_iter(launch);
	size_t same = 0, i = 0;

	tt_program_start(program);
	while (tt_json_next(&it)) {
		struct tt_program_row row = {.kind = CIRCULAR};

		row.size = data_uint_at(it.value, 0);
		row.cores = data_set_at(sets, data_uint_at(it.value, 1));
		row.borrowed = data_uint_at(it.value, 2) != 0;
		row.address = row.borrowed ? data_uint_at(it.value, 3) : 0;
		CHECK_OK(tt_program_add(program, &row, limits));
	}
	CHECK_OK(tt_program_place(program, limits));
	CHECK_OK(tt_program_check(program, limits, TT_PROGRAM_L1_EMPTY));
	for (it = tt_json_iter(launch); tt_json_next(&it); i++) {
		const struct tt_program_row *row = &program->rows.data[i];

		if (row->borrowed)
			continue;
		if (row->address == data_uint_at(it.value, 3))
			same++;
		else
			TEST_FAIL("circular buffer %zu is at %" PRIu64 ", not %" PRIu64, i,
				  row->address, data_uint_at(it.value, 3));
	}
	return same;
}

TEST(recorded_addresses)
{
	struct tt_json_doc *doc = data_load("recorded");
	const struct tt_json *root = tt_json_root(doc), *sets = tt_json_get(root, "sets");
	struct tt_json_iter programs = tt_json_iter(tt_json_get(root, "programs"));
	size_t count = 0, launches = 0, addresses = 0, borrowed = 0;
	struct tt_program program = {0};

	while (tt_json_next(&programs)) {
		const struct tt_program_limits *limits = data_limits(tt_json_at(programs.value, 0));
		struct tt_json_iter it = tt_json_iter(tt_json_at(programs.value, 2));

		count++;
		while (tt_json_next(&it)) {
			size_t same = compare_launch(&program, it.value, sets, limits);

			launches++;
			addresses += same;
			for (size_t i = 0; i < program.rows.count; i++)
				borrowed += program.rows.data[i].borrowed;
		}
	}
	printf("recorded: %zu programs, %zu launches, %zu addresses as recorded (and %zu borrowed)\n",
	       count, launches, addresses, borrowed);
	CHECK_INT(count, 1552);
	CHECK_INT(launches, 2208);
	CHECK_INT(addresses, 8037);
	CHECK_INT(borrowed, 1581);
	tt_program_deinit(&program);
	tt_json_free(doc);
}

/* The number after "in program " of a message, which the test's program then takes as its id. */
static uint64_t id_in(const char *message)
{
	const char *at = message ? strstr(message, "in program ") : NULL;

	return at ? strtoull(at + strlen("in program "), NULL, 10) : 0;
}

static tt_status launch_case(struct tt_program *program, const struct tt_json *given,
			     const struct tt_program_limits *limits)
{
	const struct tt_json *error = tt_json_get(given, "error");
	struct tt_json_iter rows = tt_json_iter(tt_json_get(given, "rows"));
	uint64_t lowest = data_uint(tt_json_get(given, "lowest"));

	tt_program_start(program);
	program->id = id_in(tt_json_string(tt_json_at(error, 1), NULL));
	while (tt_json_next(&rows)) {
		struct tt_program_row row = {.kind = CIRCULAR, .view_count = 1};

		row.views[0] = (struct tt_program_view){(uint32_t)data_uint_at(rows.value, 0),
							(uint32_t)data_uint_at(rows.value, 2)};
		row.size = data_uint_at(rows.value, 1);
		row.cores = data_set_at(rows.value, 3);
		row.address = data_uint_at(rows.value, 4);
		row.borrowed = row.address != 0;
		TT_TRY(tt_program_add(program, &row, limits));
	}
	if (tt_program_takes_room(program))
		TT_TRY(tt_program_place(program, limits));
	return tt_program_check(program, limits, lowest ? lowest : TT_PROGRAM_L1_EMPTY);
}

/* The addresses the library showed; it shows none when it refused before placing. */
static size_t compare_addresses(const struct tt_program *program, const struct tt_json *addresses)
{
	struct tt_json_iter it = tt_json_iter(addresses);
	size_t i = 0, own = 0;

	if (!tt_json_count(addresses))
		return 0;
	CHECK_INT(program->rows.count, tt_json_count(addresses));
	for (; tt_json_next(&it) && i < program->rows.count; i++) {
		CHECK_INT(program->rows.data[i].address, data_uint(it.value));
		own += !program->rows.data[i].borrowed;
	}
	return own;
}

TEST(random_circular_buffers)
{
	struct tt_json_doc *doc = data_load("circular");
	struct tt_json_iter chips = tt_json_iter(tt_json_root(doc));
	size_t cases = 0, addresses = 0, refusals = 0;
	struct tt_program program = {0};

	while (tt_json_next(&chips)) {
		const struct tt_program_limits *limits = data_limits(tt_json_at(chips.value, 0));
		struct tt_json_iter it = tt_json_iter(tt_json_at(chips.value, 1));

		while (tt_json_next(&it)) {
			const struct tt_json *error = tt_json_get(it.value, "error");
			bool refused = tt_json_kind(error) == TT_JSON_ARRAY;
			tt_status status = launch_case(&program, it.value, limits);

			cases++;
			refusals += refused;
			if (refused != (status != TTNN_OK) || (refused && !data_error_is(error)))
				TEST_FAIL("case %zu: %s, not %s", cases, ttnn_error(),
					  tt_json_string(tt_json_at(error, 1), NULL));
			addresses +=
				compare_addresses(&program, tt_json_get(it.value, "addresses"));
		}
	}
	printf("circular buffers: %zu programs, %zu addresses and %zu refusals as the library\n",
	       cases, addresses, refusals);
	CHECK_INT(cases, 900);
	CHECK_INT(addresses, 3962);
	CHECK_INT(refusals, 191);
	tt_program_deinit(&program);
	tt_json_free(doc);
}

TEST(dataflow_buffers_clash)
{
	struct tt_json_doc *doc = data_load("dataflow");
	struct tt_json_iter chips = tt_json_iter(tt_json_root(doc));
	struct tt_program program = {0};
	size_t cases = 0;

	while (tt_json_next(&chips)) {
		const struct tt_program_limits *limits = data_limits(tt_json_at(chips.value, 0));
		struct tt_json_iter it = tt_json_iter(tt_json_at(chips.value, 1));

		while (tt_json_next(&it)) {
			struct tt_json_iter rows = tt_json_iter(tt_json_at(it.value, 1));
			const char *message = tt_json_string(tt_json_at(it.value, 3), NULL);

			tt_program_start(&program);
			program.id = id_in(message);
			while (tt_json_next(&rows)) {
				bool pad = *tt_json_string(tt_json_at(rows.value, 0), NULL) == 's';
				struct tt_program_row row = {.kind = pad ? SCRATCH : DATAFLOW};

				row.size = data_uint_at(rows.value, 1);
				row.cores = data_set_at(rows.value, 2);
				row.borrowed = data_uint_at(rows.value, 3) != 0;
				CHECK_OK(tt_program_add(&program, &row, limits));
			}
			CHECK_OK(tt_program_place(&program, limits));
			CHECK_FAILS(tt_program_check(&program, limits, data_uint_at(it.value, 2)),
				    TTNN_DEVICE_OOM, message);
			cases++;
		}
	}
	printf("dataflow buffers: %zu refusals as the library\n", cases);
	CHECK_INT(cases, 420);
	tt_program_deinit(&program);
	tt_json_free(doc);
}

/* ---- cuts ---------------------------------------------------------------------------------- */

/* Which rule cuts these cores as they are: the split of a grid, cores one by one, or the normal cut. */
static const char *cut_rule(const ttnn_core_set *set)
{
	const struct ttnn_core grids[] = {{8, 8}, {11, 10}};
	const struct ttnn_core origin = {0, 0};
	size_t cores = ttnn_core_set_cores(set), count;
	const ttnn_core_set *cut;

	ttnn_core_set_ranges(set, &count);
	if (count == 1)
		return "one range";
	for (int g = 0; g < 2; g++) {
		if (tt_split_cores(&cut, grids[g], origin, cores, TTNN_ORIENT_ROW_MAJOR) ==
			    TTNN_OK &&
		    cut == set)
			return "rows";
		if (tt_split_cores(&cut, grids[g], origin, cores, TTNN_ORIENT_COL_MAJOR) ==
			    TTNN_OK &&
		    cut == set)
			return "columns";
	}
	CHECK_OK(tt_core_set_merge(&cut, set, NULL));
	if (cut == set)
		return "normal";
	CHECK_OK(tt_split_singles(&cut, cut, cores, TTNN_ORIENT_COL_MAJOR));
	return cut == set ? "single cores" : "none";
}

TEST(cuts_of_circular_buffers)
{
	static const char *const rules[] = {"one range", "rows",         "columns",
					    "normal",    "single cores", "none"};
	size_t counts[6] = {0};
	struct tt_json_doc *doc = data_load("cuts");
	struct tt_json_iter it = tt_json_iter(tt_json_get(tt_json_root(doc), "circular_buffer"));

	while (tt_json_next(&it)) {
		const ttnn_core_set *set = data_set_at(it.value, 0);
		const char *rule = cut_rule(set);

		CHECK_STR(data_text(set), tt_json_string(tt_json_at(it.value, 0), NULL));
		for (size_t i = 0; i < 6; i++)
			counts[i] += strcmp(rule, rules[i]) == 0;
	}
	printf("cuts of circular buffers:");
	for (size_t i = 0; i < 6; i++)
		printf(" %zu %s%s", counts[i], rules[i], i < 5 ? "," : "\n");
	CHECK_INT(counts[0] + counts[1] + counts[2] + counts[3] + counts[4], 78);
	CHECK_INT(counts[5], 0);
	tt_json_free(doc);
}

/* Dataflow buffers and scratchpads show the normal cut, whatever cut the cores came in. */
TEST(cuts_of_dataflow_buffers)
{
	static const char *const kinds[] = {"dataflow_buffer", "scratchpad"};
	struct tt_json_doc *doc = data_load("cuts");
	struct tt_program program = {0};
	size_t texts = 0;

	for (int kind = 0; kind < 2; kind++) {
		struct tt_json_iter it = tt_json_iter(tt_json_get(tt_json_root(doc), kinds[kind]));

		while (tt_json_next(&it)) {
			const char *text = tt_json_string(tt_json_at(it.value, 0), NULL);
			struct tt_program_row row = {.kind = kind ? SCRATCH : DATAFLOW, .size = 32};
			const ttnn_core_set *set = data_set(text);

			CHECK_OK(tt_split_singles(&row.cores, set, ttnn_core_set_cores(set),
						  TTNN_ORIENT_COL_MAJOR));
			tt_program_start(&program);
			CHECK_OK(tt_program_add(&program, &row, &n150));
			CHECK_STR(data_text(program.rows.data[0].cores), text);
			texts++;
		}
	}
	printf("cuts of dataflow buffers and scratchpads: %zu texts in the normal cut\n", texts);
	CHECK_INT(texts, 176);
	tt_program_deinit(&program);
	tt_json_free(doc);
}

/* ---- a slow model --------------------------------------------------------------------------- */

/*
 * On sets of one-core ranges the rule is simple: a buffer starts behind all that lies on any of its
 * cores. The model keeps an end per core; the code keeps ends per range.
 */
TEST(random_single_cores)
{
	uint64_t state = 11;
	struct tt_program program = {0};

	for (int turn = 0; turn < 3000; turn++) {
		const struct tt_program_limits *limits = turn % 2 ? &n150 : &p150;
		uint64_t ends[64] = {0}, want[12];
		size_t rows = 1 + test_random(&state) % 12;

		tt_program_start(&program);
		for (size_t i = 0; i < rows; i++) {
			struct ttnn_core_range cores[64];
			struct tt_program_row row = {.kind = CIRCULAR, .view_count = 1};
			uint64_t mask = test_random(&state) & test_random(&state), end = 0;
			size_t count = 0;

			mask = mask ? mask : 1;
			for (uint32_t k = 0; k < 64; k++)
				if (mask >> k & 1) {
					cores[count].start = (struct ttnn_core){k % 8, k / 8};
					cores[count].end = cores[count].start;
					count++;
					end = ends[k] > end ? ends[k] : end;
				}
			row.size = 1 + test_random(&state) % 5000;
			row.views[0] = (struct tt_program_view){(uint32_t)i, (uint32_t)row.size};
			CHECK_OK(ttnn_core_set_make(&row.cores, cores, count));
			CHECK_OK(tt_program_add(&program, &row, limits));
			while (limits->l1_base + end != 0 &&
			       (limits->l1_base + end) % limits->alignment)
				end++;
			want[i] = limits->l1_base + end;
			for (uint32_t k = 0; k < 64; k++)
				if (mask >> k & 1)
					ends[k] = end + row.size;
		}
		CHECK_OK(tt_program_place(&program, limits));
		for (size_t i = 0; i < rows; i++)
			CHECK_INT(program.rows.data[i].address, want[i]);
	}
	tt_program_deinit(&program);
}

/* The way for equal sets and the general way agree: one more row elsewhere asks for the latter. */
TEST(stack_and_regions_agree)
{
	uint64_t state = 5;
	struct tt_program a = {0}, b = {0};

	for (int turn = 0; turn < 1000; turn++) {
		size_t rows = 1 + test_random(&state) % 10;

		tt_program_start(&a);
		tt_program_start(&b);
		for (size_t i = 0; i < rows; i++) {
			struct tt_program_row row = buffer(DATAFLOW, 0, test_random(&state) % 9000,
							   "{[0-0 - 4-3], [0-4 - 3-7]}");

			row.kind = test_random(&state) % 4 ? DATAFLOW : SCRATCH;
			row.borrowed = row.kind == DATAFLOW && test_random(&state) % 5 == 0;
			CHECK_OK(tt_program_add(&a, &row, &n150));
			CHECK_OK(tt_program_add(&b, &row, &n150));
		}
		CHECK_OK(add(&b, buffer(DATAFLOW, 0, 64, "{[7-7 - 7-7]}"), &n150));
		CHECK_OK(tt_program_place(&a, &n150));
		CHECK_OK(tt_program_place(&b, &n150));
		for (size_t i = 0; i < rows; i++)
			CHECK_INT(a.rows.data[i].address, b.rows.data[i].address);
		for (size_t i = 0; i < b.regions.count; i++)
			if (b.regions.data[i].range.end.x != 7)
				CHECK_INT(b.regions.data[i].end, a.regions.data[0].end);
	}
	tt_program_deinit(&a);
	tt_program_deinit(&b);
}

/* ---- public numbers ------------------------------------------------------------------------- */

TEST(placement_of_the_documents)
{
	static const uint64_t sizes[] = {65536, 65536, 32768, 8192};
	static const uint64_t want[] = {105664, 171200, 236736, 269504};
	struct tt_program program = {0};

	tt_program_start(&program);
	for (uint32_t i = 0; i < 4; i++)
		CHECK_OK(add(&program, buffer(CIRCULAR, i, sizes[i], "{[0-0 - 7-7]}"), &older));
	CHECK_OK(tt_program_place(&program, &older));
	for (uint32_t i = 0; i < 4; i++)
		CHECK_INT(program.rows.data[i].address, want[i]);
	CHECK_OK(tt_program_check(&program, &older, 277696));
	CHECK_FAILS(
		tt_program_check(&program, &older, 277695), TTNN_DEVICE_OOM,
		"L1 buffer allocated at 277695 and static circular buffer region ends at 277696");
	tt_program_deinit(&program);
}

/* Buffers on disjoint ranges share addresses; one on both starts behind the longer one. */
TEST(disjoint_ranges)
{
	struct tt_program program = {0};

	tt_program_start(&program);
	CHECK_OK(add(&program, buffer(CIRCULAR, 0, 4096, "{[0-0 - 3-7]}"), &n150));
	CHECK_OK(add(&program, buffer(CIRCULAR, 0, 100, "{[4-0 - 7-7]}"), &n150));
	CHECK_OK(add(&program, buffer(CIRCULAR, 1, 64, "{[0-0 - 3-7], [4-0 - 7-7]}"), &n150));
	CHECK_OK(add(&program, buffer(CIRCULAR, 2, 64, "{[4-0 - 7-7]}"), &n150));
	CHECK_OK(tt_program_place(&program, &n150));
	CHECK_INT(program.rows.data[0].address, 105824);
	CHECK_INT(program.rows.data[1].address, 105824);
	CHECK_INT(program.rows.data[2].address, 105824 + 4096);
	CHECK_INT(program.rows.data[3].address, 105824 + 4096 + 64);
	tt_program_deinit(&program);
}

/* A row that lies in a tensor stays there, a scratchpad too, on the same cores or on others. */
TEST(borrowed_scratchpads)
{
	static const char *const cores[] = {"{[0-0 - 3-7]}", "{[0-0 - 7-7]}"};

	for (int i = 0; i < 2; i++) {
		struct tt_program_row pad = buffer(SCRATCH, 0, 4096, cores[i]);
		struct tt_program program = {0};

		pad.borrowed = true;
		pad.address = 1000000;
		tt_program_start(&program);
		CHECK_OK(add(&program, buffer(DATAFLOW, 0, 4096, cores[0]), &n150));
		CHECK_OK(add(&program, pad, &n150));
		CHECK_OK(add(&program, buffer(SCRATCH, 0, 64, cores[0]), &n150));
		CHECK_OK(tt_program_place(&program, &n150));
		CHECK_INT(program.rows.data[1].address, 1000000);
		CHECK_INT(program.rows.data[2].address, 105824 + 4096);
		tt_program_deinit(&program);
	}
}

TEST(messages_of_the_documents)
{
	struct tt_program program = {0};

	tt_program_start(&program);
	program.id = 7;
	CHECK_OK(add(&program, buffer(CIRCULAR, 0, 1372032 - p150.l1_base, "{[0-0 - 10-8]}"),
		     &p150));
	CHECK_OK(tt_program_place(&program, &p150));
	CHECK_FAILS(tt_program_check(&program, &p150, 1314560), TTNN_DEVICE_OOM,
		    "Statically allocated circular buffers in program 7 clash with L1 buffers on "
		    "core range [0-0 - 10-8]. L1 buffer allocated at 1314560 and static circular "
		    "buffer region ends at 1372032");
	CHECK_STR(tt_fail_condition(), "tt::exception");
	tt_program_start(&program);
	CHECK_OK(
		add(&program, buffer(CIRCULAR, 0, 2005824 - p150.l1_base, "{[0-0 - 0-0]}"), &p150));
	CHECK_OK(tt_program_place(&program, &p150));
	CHECK_FAILS(tt_program_check(&program, &p150, TT_PROGRAM_L1_EMPTY), TTNN_DEVICE_OOM,
		    "grow to 2005824 B which is beyond max L1 size of 1572864 B");
	tt_program_start(&program);
	CHECK_OK(
		add(&program, buffer(DATAFLOW, 0, 4824416 - n150.l1_base, "{[0-0 - 7-7]}"), &n150));
	CHECK_OK(tt_program_place(&program, &n150));
	CHECK_FAILS(
		tt_program_check(&program, &n150, 100), TTNN_DEVICE_OOM,
		"Statically allocated dataflow buffers on core range [0-0 - 7-7] grow to 4824416 "
		"B which is beyond max L1 size of 1499136 B");
	tt_program_deinit(&program);
}

/* ---- refusals ------------------------------------------------------------------------------- */

TEST(rows_refused)
{
	struct tt_program program = {0};
	struct tt_program_row row = buffer(CIRCULAR, 3, 8192, "{[0-0 - 3-0]}");

	tt_program_start(&program);
	row.borrowed = true;
	row.room = 4096;
	CHECK_FAILS(tt_program_add(&program, &row, &n150), TTNN_INVALID,
		    "Cannot set circular buffer size to 8192. This is larger than the associated "
		    "dynamically allocated L1 buffer bank size of 4096 B");
	CHECK_STR(tt_fail_condition(), "total_size <= max_size");
	row.room = 0;
	row.views[0].page_size = 0;
	CHECK_FAILS(tt_program_add(&program, &row, &n150), TTNN_INVALID, "by page size 0 B");
	row.views[0].page_size = 2048;
	row.view_count = 2;
	row.views[1] = (struct tt_program_view){5, 3000};
	CHECK_FAILS(tt_program_add(&program, &row, &n150), TTNN_INVALID,
		    "Total circular buffer size 8192 B must be divisible by page size 3000 B");
	row.views[1].page_size = 4096;
	CHECK_OK(tt_program_add(&program, &row, &n150));
	CHECK_FAILS(add(&program, buffer(CIRCULAR, 5, 64, "{[3-0 - 7-7]}"), &n150), TTNN_INVALID,
		    "Cannot add circular buffer at index 5");
	CHECK_OK(add(&program, buffer(CIRCULAR, 5, 64, "{[4-0 - 7-7]}"), &n150));
	CHECK_FAILS(add(&program, buffer(DATAFLOW, 0, 64, "{[0-0 - 0-0]}"), &n150), TTNN_INVALID,
		    "Cannot add dataflow buffer to a program with circular buffers");
	row.view_count = TT_PROGRAM_VIEWS + 1;
	CHECK_FAILS(tt_program_add(&program, &row, &n150), TTNN_INVALID, "at most 4");
	tt_program_start(&program);
	CHECK_OK(add(&program, buffer(SCRATCH, 0, 64, "{[0-0 - 0-0]}"), &n150));
	CHECK_FAILS(add(&program, buffer(CIRCULAR, 0, 64, "{[0-0 - 0-0]}"), &n150), TTNN_INVALID,
		    "Cannot add circular buffer to a program that already has dataflow buffers");
	CHECK_FAILS(add(&program, buffer(DATAFLOW, 0, (uint64_t)1 << 32, "{[0-0 - 0-0]}"), &n150),
		    TTNN_INVALID, "A dataflow buffer of 4294967296 B is larger than any L1");
	CHECK_INT(program.rows.count, 1);
	tt_program_deinit(&program);
}

/* Which core is named: the library walks columns of a range for L1, rows for units of work. */
TEST(cores_off_the_grid)
{
	static const struct {
		const char *cores, *l1, *unit;
	} rows[] = {
		{"{[7-8 - 9-10]}", "core 7-9 is outside the worker grid 8x9", "node (7,8)"},
		{"{[8-5 - 9-6]}", "core 8-5 ", "node (8,5)"},
		{"{[0-9 - 0-9]}", "core 0-9 ", "node (0,9)"},
		{"{[6-5 - 6-9]}", "core 6-9 ", "node (6,8)"},
		{"{[7-7 - 9-9]}", "core 7-9 ", "node (8,7)"},
		{"{[9-0 - 9-0], [8-1 - 8-1]}", "core 9-0 ", "node (9,0)"},
	};
	struct tt_program program = {0};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		tt_program_start(&program);
		CHECK_OK(add(&program, buffer(CIRCULAR, 0, 32, rows[i].cores), &n150));
		CHECK_FAILS(tt_program_place(&program, &n150), TTNN_INVALID, rows[i].l1);
		CHECK_FAILS(tt_program_check_unit("main", data_set(rows[i].cores), &n150),
			    TTNN_INVALID, rows[i].unit);
	}
	CHECK_FAILS(tt_program_check_unit("eltwise_unary", data_set("{[0-0 - 8-0]}"), &n150),
		    TTNN_INVALID,
		    "WorkUnitSpec 'eltwise_unary' targets node (8,0), which is out of bounds. The "
		    "compute worker grid on this device is 8x8.");
	CHECK_OK(tt_program_check_unit("main", data_set("{[0-0 - 7-7]}"), &n150));
	CHECK_FAILS(
		tt_program_check_kernel("reader", data_set("{[0-0 - 0-8]}"), &n150), TTNN_INVALID,
		"Illegal kernel placement for reader, Kernels cannot be placed on dispatch cores!");
	CHECK_FAILS(tt_program_check_kernel("reader", data_set("{[7-7 - 9-9]}"), &n150),
		    TTNN_INVALID, "dispatch cores");
	CHECK_OK(tt_program_check_kernel("reader", data_set("{[0-0 - 8-0]}"), &n150));
	CHECK_OK(tt_program_check_kernel("reader", data_set("{[0-9 - 0-9]}"), &n150));
	tt_program_deinit(&program);
}

/* Nothing but borrowed rows: no room taken, nothing can clash. */
TEST(borrowed_only)
{
	struct tt_program program = {0};
	struct tt_program_row row = buffer(CIRCULAR, 0, 4096, "{[0-0 - 3-0]}");

	tt_program_start(&program);
	CHECK(!tt_program_takes_room(&program));
	CHECK_OK(tt_program_place(&program, &n150));
	CHECK_OK(tt_program_check(&program, &n150, 0));
	row.borrowed = true;
	row.address = 1495040;
	CHECK_OK(tt_program_add(&program, &row, &n150));
	CHECK(!tt_program_takes_room(&program));
	CHECK_OK(tt_program_place(&program, &n150));
	CHECK_OK(tt_program_check(&program, &n150, 0));
	CHECK_INT(program.rows.data[0].address, 1495040);
	CHECK_OK(add(&program, buffer(CIRCULAR, 1, 64, "{[0-0 - 3-0]}"), &n150));
	CHECK(tt_program_takes_room(&program));
	CHECK_OK(tt_program_place(&program, &n150));
	CHECK_INT(program.rows.data[0].address, 1495040);
	CHECK_INT(program.rows.data[1].address, 105824);
	/* a set without cores is placed, but takes nothing */
	tt_program_start(&program);
	CHECK_OK(add(&program, buffer(CIRCULAR, 0, 24, "{}"), &n150));
	CHECK_OK(tt_program_place(&program, &n150));
	CHECK_OK(tt_program_check(&program, &n150, 0));
	CHECK_INT(program.rows.data[0].address, 105824);
	tt_program_deinit(&program);
}

static tt_status fill(struct tt_program *program)
{
	static const struct ttnn_core_range ranges[2][2] = {{{{0, 0}, {4, 3}}, {{0, 4}, {3, 7}}},
							    {{{0, 0}, {0, 7}}, {{1, 0}, {1, 3}}}};

	for (uint32_t i = 0; i < 20; i++) {
		struct tt_program_row row = {.kind = i < 12 ? DATAFLOW : SCRATCH, .size = 64};

		TT_TRY(ttnn_core_set_make(&row.cores, ranges[i % 3 == 0], 2));
		TT_TRY(tt_program_add(program, &row, &n150));
	}
	TT_TRY(tt_program_place(program, &n150));
	return tt_program_check(program, &n150, TT_PROGRAM_L1_EMPTY);
}

SCENARIO(memory_runs_out)
{
	struct tt_program program = {0};
	tt_status status;

	tt_program_start(&program);
	status = fill(&program);
	if (status == TTNN_OK) {
		tt_program_start(&program);
		status = fill(&program);
	}
	tt_program_deinit(&program);
	return status;
}
