/* Devices and meshes, against what the released library tells about the same machines. */
#include "test.h"

#include "base/file.h"
#include "base/json.h"
#include "device/buffer.h"
#include "device/device.h"

#define RECORDED "tests/data/devices/"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- comparing with JSON -------------------------------------------------------------------------- */

static size_t compared, skipped; /* values of the recorded devices */
static const char *subject;      /* what is compared, for messages */

static int64_t number(const struct tt_json *value)
{
	int64_t n = -1;

	if (!tt_json_int(&n, value))
		TEST_FAIL("%s: %s instead of a number", subject, tt_json_kind_name(value));
	return n;
}

static void check_number(const struct tt_json *want, uint64_t got, const char *what)
{
	compared++;
	if ((uint64_t)number(want) != got)
		TEST_FAIL("%s: %s is %" PRIu64 ", not %" PRId64, subject, what, got, number(want));
}

static void check_text(const struct tt_json *want, const char *got, const char *what)
{
	const char *text = tt_json_string(want, NULL);

	compared++;
	if (!text || strcmp(text, got) != 0)
		TEST_FAIL("%s: %s is \"%s\", not \"%s\"", subject, what, got, text ? text : "?");
}

static void check_core(const struct tt_json *want, struct ttnn_core got, const char *what)
{
	check_number(tt_json_at(want, 0), got.x, what);
	check_number(tt_json_at(want, 1), got.y, what);
}

static void check_chips(const struct tt_json *want, const ttnn_device *device)
{
	const struct ttnn_device_info *info = ttnn_device_get_info(device);

	if (tt_json_count(want) != info->chip_count)
		TEST_FAIL("%s: %u chips, not %zu", subject, info->chip_count, tt_json_count(want));
	for (uint32_t i = 0; i < info->chip_count; i++)
		check_number(tt_json_at(want, i), info->chips[i], "a chip");
}

static size_t count_leaves(const struct tt_json *value)
{
	struct tt_json_iter it = tt_json_iter(value);
	size_t count = 0;

	if (tt_json_kind(value) != TT_JSON_ARRAY && tt_json_kind(value) != TT_JSON_OBJECT)
		return 1;
	while (tt_json_next(&it))
		count += count_leaves(it.value);
	return count;
}

/* ---- one recorded device, field by field ------------------------------------------------------------ */

static void check_device_text(const struct tt_json *want, const ttnn_device *device)
{
	char *text;

	CHECK_OK(ttnn_device_text(&text, device));
	check_text(want, text, "repr");
	ttnn_free(text);
}

static void check_arch(const struct tt_json *want, ttnn_device *device)
{
	char text[100];

	snprintf(text, sizeof(text), "Arch.%s", ttnn_device_get_info(device)->arch_name);
	check_text(want, text, "arch");
}

static void check_arch_name(const struct tt_json *want, ttnn_device *device)
{
	check_text(want, ttnn_device_get_info(device)->arch, "arch_name");
}

static void check_cluster(const struct tt_json *want, ttnn_device *device)
{
	char text[100];

	snprintf(text, sizeof(text), "ClusterType.%s", ttnn_device_get_info(device)->cluster);
	check_text(want, text, "cluster_type");
}

static void check_id(const struct tt_json *want, ttnn_device *device)
{
	check_number(want, ttnn_device_get_info(device)->id, "id");
}

static void check_ids(const struct tt_json *want, ttnn_device *device)
{
	check_chips(want, device);
}

static void check_mesh_shape(const struct tt_json *want, ttnn_device *device)
{
	char text[100];

	snprintf(text, sizeof(text), "MeshShape([%u, %u])", ttnn_device_get_info(device)->rows,
		 ttnn_device_get_info(device)->cols);
	check_text(want, text, "mesh_shape");
}

static void check_repr(const struct tt_json *want, ttnn_device *device)
{
	check_device_text(want, device);
}

static void check_compute_grid(const struct tt_json *want, ttnn_device *device)
{
	check_core(want, ttnn_device_get_info(device)->compute_grid, "compute_grid");
}

static void check_dram_grid(const struct tt_json *want, ttnn_device *device)
{
	struct ttnn_core grid = {ttnn_device_get_info(device)->dram_banks, 1};

	check_core(want, grid, "dram_grid");
}

static void check_core_grid(const struct tt_json *want, ttnn_device *device)
{
	struct ttnn_core grid = ttnn_device_get_info(device)->compute_grid;
	char text[100];

	snprintf(text, sizeof(text), "ttnn.CoreGrid(x=%u, y=%u)", grid.x, grid.y);
	check_text(want, text, "core_grid");
}

/* The value of a name in the row of a device. */
static uint64_t row_value(const struct ttnn_device_row *row, const char *name)
{
#define TTNN_X(field)                                                                              \
	if (strcmp(name, #field) == 0)                                                             \
		return row->field;
	TTNN_DEVICE_ROW_LIST(TTNN_X)
#undef TTNN_X
	TEST_FAIL("%s: the row of a device has no %s", subject, name);
	return 0;
}

static void check_row(const struct tt_json *want, ttnn_device *device)
{
	struct tt_json_iter it = tt_json_iter(want);
	struct ttnn_device_row row;

	ttnn_device_get_row(&row, device);
	while (tt_json_next(&it))
		check_number(it.value, row_value(&row, it.key), it.key);
	CHECK_INT(row.num_dram_channels, ttnn_device_get_info(device)->dram_banks);
}

static void check_sfpu(const struct tt_json *want, ttnn_device *device)
{
	const struct ttnn_device_info *info = ttnn_device_get_info(device);
	const struct {
		const char *key;
		float got;
	} values[] = {{"sfpu_eps", info->sfpu_eps},
		      {"sfpu_nan", info->sfpu_nan},
		      {"sfpu_inf", info->sfpu_inf}};

	for (size_t i = 0; i < COUNT(values); i++) {
		double number_wanted = 0;

		CHECK(tt_json_real(&number_wanted, tt_json_get(want, values[i].key)));
		CHECK((double)values[i].got == number_wanted);
		compared++;
	}
}

static void check_memory(const struct tt_json *want, ttnn_device *device)
{
	static const struct {
		const char *key;
		enum ttnn_buffer_type type;
	} kinds[] = {{"DRAM", TTNN_DRAM}, {"L1", TTNN_L1}, {"L1_SMALL", TTNN_L1_SMALL}};

	CHECK_INT(tt_json_count(want), COUNT(kinds));
	for (size_t i = 0; i < COUNT(kinds); i++) {
		const struct tt_json *kind = tt_json_get(want, kinds[i].key);
		struct ttnn_memory_view view;

		CHECK_OK(ttnn_device_memory(&view, device, kinds[i].type));
		check_number(tt_json_get(kind, "banks"), view.banks, "banks");
		check_number(tt_json_get(kind, "bank_bytes"), view.bank_bytes, "bank_bytes");
		check_number(tt_json_get(kind, "allocated"), view.allocated, "allocated");
		check_number(tt_json_get(kind, "largest_free"), view.largest_free, "largest_free");
		CHECK_INT(tt_json_count(tt_json_get(kind, "blocks")), 0);
		CHECK_INT(view.free, view.bank_bytes);
	}
}

static void check_alignment(const struct tt_json *want, ttnn_device *device)
{
	const struct ttnn_device_info *info = ttnn_device_get_info(device);

	check_number(tt_json_get(want, "dram"), info->dram_alignment, "DRAM alignment");
	check_number(tt_json_get(want, "l1"), info->l1_alignment, "L1 alignment");
}

static void check_max_l1(const struct tt_json *want, ttnn_device *device)
{
	check_number(want, ttnn_device_get_info(device)->max_worker_l1_size, "max_worker_l1");
}

static void check_defaults(const struct tt_json *want, ttnn_device *device)
{
	(void)device;
	check_number(tt_json_get(want, "DEFAULT_L1_SMALL_SIZE"), TTNN_DEFAULT_L1_SMALL_SIZE, "");
	check_number(tt_json_get(want, "DEFAULT_TRACE_REGION_SIZE"), TTNN_DEFAULT_TRACE_REGION_SIZE,
		     "");
	check_number(tt_json_get(want, "DEFAULT_WORKER_L1_SIZE"), TTNN_DEFAULT_WORKER_L1_SIZE, "");
}

static void check_base(const struct tt_json *want, ttnn_device *device)
{
	const struct ttnn_device_info *info = ttnn_device_get_info(device);

	check_number(tt_json_get(want, "DRAM"), info->dram_base, "DRAM base");
	check_number(tt_json_get(want, "L1"), info->l1_base, "L1 base");
}

static void check_worker_core(const struct tt_json *want, ttnn_device *device)
{
	struct ttnn_core worker = {0, 0}, back = {9, 9};

	CHECK_OK(ttnn_device_worker_core(&worker, device, (struct ttnn_core){0, 0}));
	check_core(want, worker, "worker core");
	CHECK_OK(ttnn_device_logical_core(&back, device, worker));
	CHECK(back.x == 0 && back.y == 0);
}

static void check_dram_workers(const struct tt_json *want, ttnn_device *device)
{
	struct ttnn_core workers[TT_ARCH_BANKS];

	CHECK_OK(ttnn_device_dram_workers(workers, device, 0));
	CHECK_INT(tt_json_count(want), ttnn_device_get_info(device)->dram_banks);
	for (size_t i = 0; i < tt_json_count(want); i++)
		check_core(tt_json_at(want, i), workers[i], "DRAM worker");
}

/* A tensor of one page for each L1 bank: where the pages lie, and which bank reports name. */
static void check_pages(const struct tt_json *want, ttnn_device *device)
{
	struct tt_buffer_layout layout;
	struct tt_buffer_walk walk = {0};
	struct tt_buffer_page page;
	struct tt_buffer *buffer = NULL;
	uint64_t banks = ttnn_device_get_info(device)->l1_banks;

	CHECK_OK(tt_buffer_layout_raw(&layout, device->memory, TTNN_L1, 2048 * banks, 2048));
	CHECK_OK(tt_buffer_new(&buffer, device->memory, &layout, NULL));
	CHECK_INT(tt_json_count(want), banks);
	while (buffer && tt_buffer_next_page(&page, &walk, buffer)) {
		const struct tt_json *row = tt_json_at(want, page.index);
		struct ttnn_core core = {0, 0};

		check_core(row, page.core, "the core of a page");
		check_number(tt_json_at(row, 2), page.reported_bank, "the bank of a page");
		CHECK_OK(ttnn_device_bank_core(&core, device, TTNN_L1, page.bank));
		CHECK(core.x == page.core.x && core.y == page.core.y);
	}
	tt_buffer_unref(buffer);
}

static uint64_t first_address(ttnn_device *device, enum ttnn_buffer_type type)
{
	struct tt_buffer_layout layout;
	struct tt_buffer *buffer;
	uint64_t address = 0;

	CHECK_OK(tt_buffer_layout_raw(&layout, device->memory, type, 2048, 2048));
	if (tt_buffer_new(&buffer, device->memory, &layout, NULL) == TTNN_OK) {
		address = buffer->address;
		tt_buffer_unref(buffer);
	}
	return address;
}

static void check_variant(const struct tt_json *want, const char *profile)
{
	const struct tt_json *options = tt_json_get(want, "options");
	struct ttnn_device_options set = {.profile = profile};
	struct tt_json_iter it = tt_json_iter(options);
	const struct tt_json *address = tt_json_get(want, "first_address");
	ttnn_device *device;

	while (tt_json_next(&it)) {
		uint64_t n = (uint64_t)number(it.value);

		if (strcmp(it.key, "l1_small_size") == 0)
			set.l1_small_size = n;
		else if (strcmp(it.key, "trace_region_size") == 0)
			set.trace_region_size = n;
		else if (strcmp(it.key, "worker_l1_size") == 0)
			set.worker_l1_size = n;
		else if (strcmp(it.key, "num_command_queues") == 0)
			set.queues = (uint32_t)n;
		else
			TEST_FAIL("%s: unknown option %s", subject, it.key);
		compared++;
	}
	CHECK_OK(ttnn_device_open(&device, 0, &set));
	check_memory(tt_json_get(want, "memory"), device);
	check_core(tt_json_get(want, "grid"), ttnn_device_get_info(device)->compute_grid, "grid");
	check_number(tt_json_get(address, "L1"), first_address(device, TTNN_L1), "first in L1");
	check_number(tt_json_get(address, "DRAM"), first_address(device, TTNN_DRAM),
		     "first in DRAM");
	CHECK_INT(tt_json_count(want), 4);
	ttnn_device_unref(device);
}

static void check_variants(const struct tt_json *want, ttnn_device *device)
{
	struct tt_json_iter it = tt_json_iter(want);

	while (tt_json_next(&it))
		check_variant(it.value, ttnn_device_get_info(device)->profile);
}

/* The mesh of all chips. The graph of an addition on it, and its result, are not for devices. */
static void check_mesh(const struct tt_json *want, ttnn_device *device)
{
	struct ttnn_device_options options = {.profile = ttnn_device_get_info(device)->profile};
	const struct tt_json *shape = tt_json_get(want, "shape");
	struct tt_json_iter it = tt_json_iter(want);
	ttnn_device *mesh;

	tt_device_set_next_id(0);
	CHECK_OK(ttnn_mesh_open(&mesh, NULL, &options));
	while (tt_json_next(&it)) {
		if (strcmp(it.key, "graph") == 0 || strcmp(it.key, "y") == 0)
			skipped += count_leaves(it.value);
		else if (strcmp(it.key, "shape") == 0)
			CHECK_INT(tt_json_count(shape), 2);
		else if (strcmp(it.key, "id") == 0)
			check_number(it.value, ttnn_device_get_info(mesh)->id, "mesh id");
		else if (strcmp(it.key, "repr") == 0)
			check_device_text(it.value, mesh);
		else if (strcmp(it.key, "device_ids") == 0)
			check_chips(it.value, mesh);
		else
			TEST_FAIL("%s: nothing compares mesh.%s", subject, it.key);
	}
	check_number(tt_json_at(shape, 0), ttnn_device_get_info(mesh)->rows, "rows");
	check_number(tt_json_at(shape, 1), ttnn_device_get_info(mesh)->cols, "cols");
	ttnn_device_unref(mesh);
}

static const struct {
	const char *key;
	void (*check)(const struct tt_json *want, ttnn_device *device);
} fields[] = {
	{"arch", check_arch},
	{"arch_name", check_arch_name},
	{"cluster_type", check_cluster},
	{"id", check_id},
	{"device_ids", check_ids},
	{"mesh_shape", check_mesh_shape},
	{"repr", check_repr},
	{"compute_grid", check_compute_grid},
	{"dram_grid", check_dram_grid},
	{"core_grid", check_core_grid},
	{"device_info", check_row},
	{"sfpu", check_sfpu},
	{"memory", check_memory},
	{"alignment", check_alignment},
	{"max_worker_l1_unreserved", check_max_l1},
	{"defaults", check_defaults},
	{"allocator_base", check_base},
	{"worker_core_of_0_0", check_worker_core},
	{"optimal_dram_workers", check_dram_workers},
	{"l1_page_to_core_and_reported_bank", check_pages},
	{"variants", check_variants},
	{"mesh", check_mesh},
};

static void check_field(const char *key, const struct tt_json *want, ttnn_device *device)
{
	for (size_t i = 0; i < COUNT(fields); i++)
		if (strcmp(fields[i].key, key) == 0) {
			fields[i].check(want, device);
			return;
		}
	TEST_FAIL("%s: nothing compares %s", subject, key);
}

TEST(recorded_devices)
{
	struct ttnn_device_options options = {0};
	size_t devices = 0;

	for (; tt_profile_name(devices); devices++) {
		struct tt_json_doc *doc;
		struct tt_json_iter it;
		ttnn_device *device;
		char path[200];

		subject = tt_profile_name(devices);
		snprintf(path, sizeof(path), RECORDED "%s.json", subject);
		CHECK_OK(tt_json_load(&doc, path));
		tt_device_set_next_id(0);
		options.profile = subject;
		CHECK_OK(ttnn_device_open(&device, 0, &options));
		it = tt_json_iter(tt_json_root(doc));
		CHECK_INT(tt_json_count(tt_json_root(doc)), COUNT(fields));
		while (tt_json_next(&it))
			check_field(it.key, it.value, device);
		ttnn_device_unref(device);
		tt_json_free(doc);
	}
	CHECK_INT(devices, 14);
	printf("%zu devices: %zu values compared, %zu left out (graph and result of an addition)\n",
	       devices, compared, skipped);
}

/* ---- recorded lines of questions ------------------------------------------------------------------- */

/* Calls `check` for each line of a file of JSON lines; returns how many. */
static size_t each_line(const char *path, void (*check)(const struct tt_json *row))
{
	char *text, *line, *end;
	size_t size, count = 0;

	if (tt_file_read(&text, &size, path) != TTNN_OK) {
		TEST_FAIL("%s", ttnn_error());
		return 0;
	}
	for (line = text; line < text + size; line = end + 1, count++) {
		struct tt_json_doc *doc;

		end = strchr(line, '\n');
		*end = '\0';
		subject = line;
		CHECK_OK(tt_json_parse(&doc, line, (size_t)(end - line), path));
		check(tt_json_root(doc));
		tt_json_free(doc);
	}
	tt_free(text);
	return count;
}

/* Every way to harvest a chip: grids, translated cores, workers next to DRAM. */
static void check_harvest(const struct tt_json *row)
{
	int64_t harvest = number(tt_json_get(row, "harvest"));
	int64_t dram = number(tt_json_get(row, "dram_harvest"));
	struct ttnn_core workers[TT_ARCH_BANKS], last;
	const struct tt_json *want = tt_json_get(row, "dram_workers");
	struct tt_profile *profile;
	struct tt_workers cores;
	struct tt_grid grid;
	char text[200];

	snprintf(text, sizeof(text),
		 "{\"arch\": \"%s\", \"chips\": [{\"harvest\": %d, \"dram_harvest\": %d}]}",
		 tt_json_string(tt_json_get(row, "arch"), NULL), (int)harvest, (int)dram);
	CHECK_OK(tt_profile_parse(&profile, text, strlen(text), "harvest"));
	grid = profile->arch.products[profile->harvested].compute[profile->dispatch];
	check_core(tt_json_get(row, "compute_grid"), (struct ttnn_core){grid.x, grid.y}, "grid");
	check_core(tt_json_get(row, "logical_grid"),
		   (struct ttnn_core){profile->logical.x, profile->logical.y}, "logical grid");
	check_number(tt_json_get(row, "dram_banks"), profile->dram_banks, "DRAM banks");
	tt_workers_init(&cores, profile, 0, grid);
	last = (struct ttnn_core){profile->logical.x - 1, profile->logical.y - 1};
	CHECK_OK(tt_workers_translate(&last, &cores, last));
	check_core(tt_json_get(row, "last_worker_core"), last, "last worker core");
	CHECK_OK(tt_workers_dram(workers, &cores, (uint32_t)number(tt_json_get(row, "noc"))));
	CHECK_INT(tt_json_count(want), profile->dram_banks);
	for (size_t i = 0; i < tt_json_count(want); i++)
		check_core(tt_json_at(want, i), workers[i], "DRAM worker");
	tt_profile_unref(profile);
}

TEST(recorded_harvesting)
{
	CHECK_INT(each_line(RECORDED "harvest.jsonl", check_harvest), 340);
}

static void read_pair(uint32_t *first, uint32_t *second, const struct tt_json *pair)
{
	*first = (uint32_t)number(tt_json_at(pair, 0));
	*second = (uint32_t)number(tt_json_at(pair, 1));
}

/* Opens what a row asks for, and does what it says to it. */
static tt_status open_recorded(ttnn_device **out, const struct tt_json *row)
{
	const struct tt_json *at = tt_json_get(row, "at"), *part = tt_json_get(row, "part");
	const struct tt_json *reshape = tt_json_get(row, "reshape");
	struct ttnn_device_options options = {
		.profile = tt_json_string(tt_json_get(row, "profile"), NULL)};
	struct ttnn_mesh_options mesh = {0}, inner = {.has_offset = true};
	uint32_t rows, cols;
	ttnn_device *device;
	tt_status status;

	read_pair(&mesh.rows, &mesh.cols, tt_json_get(row, "open"));
	if (at && !part) {
		mesh.has_offset = true;
		read_pair(&mesh.row, &mesh.col, at);
	}
	TT_TRY(ttnn_mesh_open(&device, &mesh, &options));
	if (part) {
		read_pair(&inner.rows, &inner.cols, part);
		read_pair(&inner.row, &inner.col, at);
		status = ttnn_device_submesh(out, device, &inner);
		ttnn_device_unref(device);
		return status;
	}
	*out = device;
	if (!reshape)
		return TTNN_OK;
	read_pair(&rows, &cols, reshape);
	status = ttnn_device_reshape(device, rows, cols);
	if (status != TTNN_OK)
		ttnn_device_unref(device);
	return status;
}

static void check_mesh_row(const struct tt_json *row)
{
	const char *error = tt_json_string(tt_json_get(row, "error"), NULL);
	ttnn_device *device;

	if (open_recorded(&device, row) != TTNN_OK) {
		CHECK_STR(ttnn_error(), error ? error : "(it opens)");
		return;
	}
	if (error)
		TEST_FAIL("opened instead of \"%s\"", error);
	else
		check_chips(tt_json_get(row, "chips"), device);
	ttnn_device_unref(device);
}

TEST(recorded_meshes)
{
	CHECK_INT(each_line(RECORDED "meshes.jsonl", check_mesh_row), 1461);
}
