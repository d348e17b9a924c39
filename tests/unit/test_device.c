/* Devices and meshes: ids, lifetimes, options, refusals. @threads */
#include "test.h"

#include <pthread.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "device/buffer.h"
#include "device/device.h"
#include "event/event.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct ttnn_device_options *with(struct ttnn_device_options options)
{
	static struct ttnn_device_options kept;

	kept = options;
	return &kept;
}

/* Where the first buffer of a kind lies. */
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

/* ---- ids, lifetimes, events -------------------------------------------------------------------------- */

TEST(ids_count_in_the_process)
{
	struct ttnn_mesh_options one = {.rows = 1, .cols = 1};
	ttnn_device *device, *mesh, *sub;

	tt_device_set_next_id(0);
	for (uint32_t id = 1; id <= 3; id += 2) {
		CHECK_OK(ttnn_device_open(&device, 0, NULL));
		CHECK_INT(ttnn_device_get_info(device)->id, id);
		CHECK_INT(ttnn_device_get_info(device)->chips[0], 0);
		CHECK_INT(device->memory->device_id, id);
		ttnn_device_close(device);
		CHECK_INT(ttnn_device_get_info(device)->id, id);
		ttnn_device_unref(device);
	}
	CHECK_FAILS(ttnn_device_open(&device, 5, NULL), TTNN_INVALID, "n150 has no chip 5");
	CHECK_OK(ttnn_mesh_open(&mesh, NULL, NULL));
	CHECK_INT(ttnn_device_get_info(mesh)->id, 4);
	CHECK_OK(ttnn_device_submesh(&sub, mesh, &one));
	CHECK_INT(ttnn_device_get_info(sub)->id, 5);
	ttnn_device_unref(sub);
	ttnn_device_unref(mesh);
}

TEST(a_chip_is_in_a_mesh_once)
{
	static const uint32_t twice[] = {0, 0}, both[] = {1, 0};
	struct ttnn_mesh_options mesh = {.rows = 1, .cols = 2, .chips = twice, .chip_count = 2};
	ttnn_device *device = NULL;

	CHECK_FAILS(ttnn_mesh_open(&device, &mesh,
				   with((struct ttnn_device_options){.profile = "n300"})),
		    TTNN_INVALID, "chip 0 is in the mesh twice, at places 0 and 1");
	mesh.chips = both;
	CHECK_OK(ttnn_mesh_open(&device, &mesh,
				with((struct ttnn_device_options){.profile = "n300"})));
	CHECK_INT(ttnn_device_get_info(device)->chips[0], 1);
	ttnn_device_unref(device);
}

TEST(reshaping_is_for_empty_meshes)
{
	ttnn_device *mesh = NULL;
	struct tt_buffer_layout layout;
	struct tt_buffer *buffer;

	CHECK_OK(ttnn_mesh_open(&mesh, NULL, with((struct ttnn_device_options){.profile = "t3k"})));
	CHECK_OK(tt_buffer_layout_raw(&layout, mesh->memory, TTNN_L1, 2048, 2048));
	CHECK_OK(tt_buffer_new(&buffer, mesh->memory, &layout, NULL));
	CHECK_FAILS(ttnn_device_reshape(mesh, 1, 8), TTNN_STATE,
		    "a mesh with 1 buffers in its memory cannot be reshaped");
	CHECK_INT(ttnn_device_get_info(mesh)->rows, 2);
	CHECK_OK(ttnn_device_reshape(mesh, 2, 4)); /* as it is */
	tt_buffer_unref(buffer);
	CHECK_OK(ttnn_device_reshape(mesh, 1, 8));
	CHECK_INT(ttnn_device_get_info(mesh)->cols, 8);
	ttnn_device_unref(mesh);
}

TEST(program_cache_counts)
{
	struct tt_progcache_key key = {"k", 1};
	struct tt_progcache_entry *entry = NULL;
	uint64_t hits = 9, misses = 9;
	ttnn_device *device;

	CHECK_OK(ttnn_device_open(&device, 0, NULL));
	ttnn_device_program_cache_counts(&hits, &misses, device);
	CHECK(hits == 0 && misses == 0);
	CHECK_OK(tt_progcache_find(&entry, &device->programs, &key, "p"));
	CHECK_OK(tt_progcache_add(&entry, &device->programs, &key,
				  &(struct tt_progcache_payload){NULL, NULL}));
	tt_progcache_unref(entry);
	for (int i = 0; i < 2; i++) {
		CHECK_OK(tt_progcache_find(&entry, &device->programs, &key, "p"));
		tt_progcache_unref(entry);
	}
	ttnn_device_program_cache_counts(&hits, &misses, device);
	CHECK(hits == 2 && misses == 1);
	ttnn_device_unref(device);
}

/* Every mesh device has an allocator of its own: addresses repeat, also on the same chip. */
TEST(allocators_are_apart)
{
	struct ttnn_device_options t3k = {.profile = "t3k"};
	struct ttnn_mesh_options part = {.rows = 2, .cols = 2};
	struct tt_buffer_layout layout;
	struct tt_buffer *a, *b;
	ttnn_device *mesh, *sub, **list;
	size_t count;

	CHECK_OK(ttnn_mesh_open(&mesh, NULL, &t3k));
	CHECK_OK(ttnn_device_submesh(&sub, mesh, &part));
	CHECK_INT(sub->memory->chips, 4);
	CHECK_OK(tt_buffer_layout_raw(&layout, mesh->memory, TTNN_L1, 2048, 2048));
	CHECK_OK(tt_buffer_new(&a, mesh->memory, &layout, NULL));
	CHECK_INT(first_address(sub, TTNN_L1), a->address);
	CHECK_OK(tt_buffer_new(&b, sub->memory, &layout, NULL));
	CHECK_OK(ttnn_device_submeshes(&list, &count, mesh));
	CHECK_INT(count, 1);
	CHECK(count == 1 && list[0] == sub);
	ttnn_device_unref(list[0]);
	ttnn_free(list);
	ttnn_device_close(mesh); /* closes the submesh too */
	CHECK(!tt_buffer_is_allocated(a) && !tt_buffer_is_allocated(b));
	CHECK_FAILS(ttnn_device_submesh(&sub, mesh, &part), TTNN_STATE, "is closed");
	ttnn_device_unref(sub);
	ttnn_device_unref(mesh);
	tt_buffer_unref(a); /* buffers may outlive their device */
	tt_buffer_unref(b);
}

TEST(cutting)
{
	struct ttnn_device_options t3k = {.profile = "t3k"};
	static const uint32_t want[4][2] = {{4, 0}, {2, 6}, {5, 1}, {3, 7}};
	ttnn_device *mesh, **parts;
	size_t count = 0;

	tt_device_set_next_id(0);
	CHECK_OK(ttnn_mesh_open(&mesh, NULL, &t3k));
	CHECK_OK(ttnn_device_cut(&parts, &count, mesh, 1, 2));
	CHECK_INT(count, 4);
	for (size_t i = 0; i < count; i++) {
		const struct ttnn_device_info *info = ttnn_device_get_info(parts[i]);

		CHECK_INT(info->id, i + 1);
		CHECK_INT(info->chips[0], want[i][0]);
		CHECK_INT(info->chips[1], want[i][1]);
		ttnn_device_unref(parts[i]);
	}
	ttnn_free(parts);
	CHECK_FAILS(ttnn_device_cut(&parts, &count, mesh, 2, 3), TTNN_INVALID,
		    "Shape MeshShape([2, 4]) is not divisible by submesh shape MeshShape([2, 3]) "
		    "along dimension 1");
	CHECK_FAILS(ttnn_device_cut(&parts, &count, mesh, 0, 3), TTNN_INVALID,
		    "All dimensions must be positive.");
	ttnn_device_unref(mesh);
}

static struct {
	struct tt_event_listener listener;
	uint32_t opened[8], closed[8];
	size_t opened_count, closed_count;
} heard;

static void hear(struct tt_event_listener *self, const struct tt_event *event)
{
	(void)self;
	if (event->kind == TT_EVENT_DEVICE_OPEN && heard.opened_count < 8)
		heard.opened[heard.opened_count++] = event->device.device_id;
	if (event->kind == TT_EVENT_DEVICE_CLOSE && heard.closed_count < 8)
		heard.closed[heard.closed_count++] = event->device.device_id;
}

TEST(opening_and_closing_is_told)
{
	ttnn_device *device;

	tt_device_set_next_id(10);
	heard.listener.emit = hear;
	tt_event_listen(&heard.listener);
	CHECK_OK(ttnn_device_open(&device, 0, NULL));
	CHECK_INT(heard.opened_count, 2);
	CHECK_INT(heard.opened[0], 10);
	CHECK_INT(heard.opened[1], 11);
	ttnn_device_close(device);
	ttnn_device_close(device);
	ttnn_device_unref(device);
	tt_event_listen(NULL);
	CHECK_INT(heard.closed_count, 2);
	CHECK_INT(heard.closed[0], 11);
	CHECK_INT(heard.closed[1], 10);
}

/* ---- options ------------------------------------------------------------------------------------- */

TEST(dispatch_takes_cores)
{
	static const struct {
		const char *profile;
		enum ttnn_dispatch dispatch;
		enum ttnn_dispatch_axis axis;
		uint32_t x, y;
		const char *error;
	} rows[] = {
		/* clang-format off */
		{"n150", TTNN_DISPATCH_WORKER, TTNN_AXIS_AUTO, 8, 8, NULL},
		{"n150", TTNN_DISPATCH_WORKER, TTNN_AXIS_ROW, 8, 8, NULL},
		{"n150", TTNN_DISPATCH_WORKER, TTNN_AXIS_COLUMN, 7, 9, NULL},
		{"n150", TTNN_DISPATCH_AUTO, TTNN_AXIS_COLUMN, 7, 9, NULL},
		{"n150", TTNN_DISPATCH_ETHERNET, TTNN_AXIS_AUTO, 8, 8, NULL},
		{"n150", TTNN_DISPATCH_ETHERNET, TTNN_AXIS_ROW, 8, 8, NULL},
		{"n150", TTNN_DISPATCH_ETHERNET, TTNN_AXIS_COLUMN, 0, 0, "COL axis is not supported for ETH dispatch core type"},
		{"n150", TTNN_DISPATCH_SLOW, TTNN_AXIS_AUTO, 8, 9, NULL},
		{"n300", TTNN_DISPATCH_AUTO, TTNN_AXIS_AUTO, 8, 8, NULL},
		{"n300", TTNN_DISPATCH_WORKER, TTNN_AXIS_AUTO, 8, 7, NULL},
		{"n300", TTNN_DISPATCH_WORKER, TTNN_AXIS_COLUMN, 7, 8, NULL},
		{"t3k", TTNN_DISPATCH_WORKER, TTNN_AXIS_ROW, 8, 7, NULL},
		{"p150", TTNN_DISPATCH_WORKER, TTNN_AXIS_AUTO, 11, 10, NULL},
		{"p150", TTNN_DISPATCH_WORKER, TTNN_AXIS_COLUMN, 11, 10, NULL},
		{"p150", TTNN_DISPATCH_WORKER, TTNN_AXIS_ROW, 0, 0, "ROW dispatch core axis is not supported for blackhole arch unless fabric tensix MUX is enabled"},
		{"p150", TTNN_DISPATCH_ETHERNET, TTNN_AXIS_COLUMN, 0, 0, "COL axis is not supported for ETH dispatch core type"},
		/* clang-format on */
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct ttnn_device_options options = {.profile = rows[i].profile,
						      .dispatch = rows[i].dispatch,
						      .axis = rows[i].axis};
		ttnn_device *device;

		if (ttnn_device_open(&device, 0, &options) != TTNN_OK) {
			CHECK_STR(ttnn_error(), rows[i].error ? rows[i].error : "(it opens)");
			continue;
		}
		CHECK(!rows[i].error);
		CHECK_INT(ttnn_device_get_info(device)->compute_grid.x, rows[i].x);
		CHECK_INT(ttnn_device_get_info(device)->compute_grid.y, rows[i].y);
		CHECK_INT(device->limits.grid.y, rows[i].y);
		ttnn_device_unref(device);
	}
}

TEST(generations_and_memory_maps)
{
	struct ttnn_device_options options = {0};
	ttnn_device *device;

	setenv("TTNN_GENERATION", "classic", 1);
	CHECK_OK(ttnn_device_open(&device, 0, NULL));
	CHECK_INT(ttnn_device_get_info(device)->generation, TTNN_GENERATION_CLASSIC);
	CHECK_STR(ttnn_device_get_info(device)->memory_map, "classic");
	CHECK_INT(first_address(device, TTNN_DRAM), 1920032);
	ttnn_device_unref(device);
	options.generation = TTNN_GENERATION_RELEASE;
	CHECK_OK(ttnn_device_open(&device, 0, &options));
	CHECK_INT(first_address(device, TTNN_DRAM), 1048640);
	ttnn_device_unref(device);
	setenv("TTNN_GENERATION", "modern", 1);
	CHECK_FAILS(ttnn_device_open(&device, 0, NULL), TTNN_INVALID,
		    "TTNN_GENERATION is \"modern\"; it can be one of release-0.81|classic");
	unsetenv("TTNN_GENERATION");
	options = (struct ttnn_device_options){.memory_map = "head-2026-08", .profile = "p150"};
	CHECK_OK(ttnn_device_open(&device, 0, &options));
	CHECK_INT(ttnn_device_get_info(device)->generation, TTNN_GENERATION_RELEASE);
	CHECK_INT(ttnn_device_get_info(device)->dram_base, 5848704);
	CHECK_INT(device->limits.l1_base, 111616);
	ttnn_device_unref(device);
	options.memory_map = "old-viz-sample";
	CHECK_FAILS(ttnn_device_open(&device, 0, &options), TTNN_NOTFOUND,
		    "blackhole has no memory map \"old-viz-sample\"; it has release-0.81, "
		    "head-2026-08, classic");
}

/* The row of the captured report (section 9.2): the older release on the same chip. */
TEST(row_of_the_capture)
{
	struct ttnn_device_options options = {.memory_map = "capture-2025/26"};
	struct ttnn_device_row row;
	ttnn_device *device;

	tt_device_set_next_id(0);
	CHECK_OK(ttnn_device_open(&device, 0, &options));
	ttnn_device_get_row(&row, device);
	CHECK_INT(row.worker_l1_size, 1499136);
	CHECK_INT(row.l1_bank_size, 1395424);
	CHECK_INT(row.address_at_first_l1_cb_buffer, 103712);
	CHECK_INT(row.total_l1_memory, 95944704);
	CHECK_INT(row.total_l1_for_interleaved_buffers, 89307136);
	CHECK_INT(row.dram_size_per_channel, 1073741824);
	CHECK_INT(ttnn_device_get_info(device)->id, 1);
	CHECK_INT(ttnn_device_get_info(device)->chips[0], 0);
	ttnn_device_unref(device);
}

TEST(absurd_sizes)
{
	static const struct {
		struct ttnn_device_options options;
		const char *message, *condition;
	} wrong[] = {
		{{.worker_l1_size = 1463969},
		 "Worker L1 size 1463969 is larger than max size 1463968",
		 "worker_l1_size <= max_worker_l1_size"},
		{{.worker_l1_size = UINT64_MAX},
		 "Worker L1 size 18446744073709551615 is larger",
		 ""},
		{{.worker_l1_size = 1}, "Reserved size must be less than bank size", ""},
		{{.l1_small_size = 1393312},
		 "Reserved size must be less than bank size",
		 "config.l1_small_size < config.worker_l1_size - config.l1_unreserved_base"},
		{{.l1_small_size = UINT64_MAX}, "Reserved size must be less than bank size", ""},
		{{.trace_region_size = UINT64_MAX}, "trace_region_size 18446744073709551615", ""},
		{{.queues = 3}, "a device has 1 or 2 command queues, not 3", ""},
		{{.profile = "n151"}, "no device is called \"n151\"", ""},
	};
	ttnn_device *device;

	tt_device_set_next_id(0);
	for (size_t i = 0; i < COUNT(wrong); i++) {
		tt_status status = ttnn_device_open(&device, 0, &wrong[i].options);

		CHECK(status == TTNN_INVALID || status == TTNN_NOTFOUND);
		CHECK(strstr(ttnn_error(), wrong[i].message));
		if (*wrong[i].condition)
			CHECK_STR(tt_fail_condition(), wrong[i].condition);
	}
	/* The most that is possible starts behind the firmware. */
	CHECK_OK(ttnn_device_open(&device, 0,
				  with((struct ttnn_device_options){.worker_l1_size = 1463968})));
	CHECK_INT(ttnn_device_get_info(device)->l1_base, 35168);
	CHECK_INT(ttnn_device_get_info(device)->id, 1); /* what failed took no number */
	ttnn_device_unref(device);
}

TEST(wrong_questions)
{
	struct ttnn_memory_view view;
	struct ttnn_core core;
	struct ttnn_mesh_options given = {.rows = 1, .cols = 2, .chip_count = 1};
	const uint32_t chips[] = {0, 9};
	ttnn_device *device;

	CHECK_OK(ttnn_device_open(&device, 0, NULL));
	CHECK_FAILS(ttnn_device_memory(&view, device, TTNN_SYSTEM_MEMORY), TTNN_INVALID,
		    "a device has no memory of type 2");
	CHECK_FAILS(ttnn_device_bank_core(&core, device, TTNN_L1, 64), TTNN_INVALID,
		    "there is no bank 64, there are 64");
	CHECK_FAILS(ttnn_device_worker_core(&core, device, (struct ttnn_core){8, 0}), TTNN_INVALID,
		    "No core coordinate found at location: (8, 0, TENSIX, LOGICAL)");
	CHECK_FAILS(ttnn_device_logical_core(&core, device, (struct ttnn_core){17, 18}),
		    TTNN_INVALID, "(17, 18, TENSIX, TRANSLATED)");
	CHECK_FAILS(ttnn_device_dram_workers(&core, device, 2), TTNN_INVALID, "NoC 0 and NoC 1");
	CHECK_OK(ttnn_device_memory(&view, device, TTNN_TRACE));
	CHECK_INT(view.banks, 12);
	CHECK_INT(view.bank_bytes, 0);
	CHECK_INT(ttnn_device_program_cache_entries(device), 0);
	ttnn_device_unref(device);
	given.chips = chips;
	CHECK_FAILS(ttnn_mesh_open(&device, &given,
				   with((struct ttnn_device_options){.profile = "n300"})),
		    TTNN_INVALID,
		    "Shape and values size mismatch; shape mesh_size: 2, values size: 1");
	given.chip_count = 2;
	CHECK_FAILS(ttnn_mesh_open(&device, &given,
				   with((struct ttnn_device_options){.profile = "n300"})),
		    TTNN_INVALID, "n300 has no chip 9");
}

/* ---- a chip that is not in the library ---------------------------------------------------------------- */

/* The whole file: an architecture of its own and one chip of it. */
static void write_chip(const char *path, uint32_t columns, uint32_t banks)
{
	struct tt_str text = {0};

	tt_str_addf(
		&text,
		"{\"title\": \"a small chip\", \"chips\": [{\"harvest\": 1}],\n"
		"\"arch\": {\"name\": \"tiny\", \"text\": \"TINY\", \"family\": \"blackhole\",\n"
		"\"code\": 9, \"noc\": [12, 6], \"rows\": [1, 2, 3, 4],\n"
		"\"translated_rows\": [1, 2, 3, 4], \"harvest\": \"rows\",\n"
		"\"dispatch\": \"tensix_row\", \"columns\": [");
	for (uint32_t i = 0; i < columns; i++)
		tt_str_addf(&text, "%s%u", i ? ", " : "", i + 1);
	tt_str_adds(&text, "], \"translated_columns\": [");
	for (uint32_t i = 0; i < columns; i++)
		tt_str_addf(&text, "%s%u", i ? ", " : "", i + 1);
	tt_str_addf(
		&text,
		"],\n\"products\": [{\"name\": \"full\", \"compute\": {\"tensix_row\": [%u, 3]}},\n"
		"{\"name\": \"less\", \"compute\": {\"tensix_row\": [%u, 2]}}],\n"
		"\"l1_bytes\": 1048576, \"l1_align\": 16, \"eth_cores\": 0,\n"
		"\"eth_l1_bytes\": 0, \"pcie_align\": 32, \"circular_buffers\": 32,\n"
		"\"noc_burst\": 4096, \"clock_mhz\": 800, \"idle_clock_mhz\": 100,\n"
		"\"eps\": 1e-7, \"nan\": 7e19, \"inf\": 1e38,\n"
		"\"dram\": {\"align\": 32, \"channels\": %u, \"bank_bytes\": 268435456,\n"
		"\"gb_per_s\": 50, \"banks\": [",
		columns, columns, banks);
	for (uint32_t i = 0; i < banks; i++)
		tt_str_addf(
			&text,
			"%s{\"channel\": %u, \"offset\": 0, \"noc0\": [0, %u], \"noc1\": [0, %u]}",
			i ? ", " : "", i, i, i);
	tt_str_adds(&text, "]},\n\"memory_maps\": [{\"name\": \"own\", \"firmware_end\": 32768,\n"
			   "\"kernel_config\": 65536, \"dram_profiler\": 0, \"dram_print\": 0}],\n"
			   "\"noc_model\": {\"clock_ghz\": 0.8, \"dram_latency\": 1,\n"
			   "\"local_latency\": 1, \"read_latency\": 1, \"write_latency\": 1,\n"
			   "\"dram_limit\": 50, \"l1_limit\": 32, \"size\": [32], \"dram\": [1],\n"
			   "\"local\": [1], \"read\": [1], \"write\": [1]}}}\n");
	CHECK_OK(tt_file_save(path, tt_str_text(&text), text.length));
	tt_str_deinit(&text);
}

TEST(a_new_chip_is_one_file)
{
	struct ttnn_device_options options = {0};
	const struct ttnn_device_info *info;
	struct ttnn_core workers[2];
	const char *path = test_path("chip.json");
	ttnn_device *device;

	options.profile = path;
	write_chip(path, 8, 2);
	CHECK_OK(ttnn_device_open(&device, 0, &options));
	info = ttnn_device_get_info(device);
	CHECK_STR(info->arch, "tiny");
	CHECK_STR(info->arch_family, "blackhole");
	CHECK_STR(info->cluster, "INVALID");
	CHECK_INT(info->logical_grid.y, 3);
	CHECK_INT(info->compute_grid.x, 8);
	CHECK_INT(info->compute_grid.y, 2);
	CHECK_INT(info->l1_banks, 16);
	CHECK_INT(info->l1_base, 98304);
	CHECK_INT(info->dram_base, 32);
	CHECK_INT(first_address(device, TTNN_L1), 1048576 - 2048);
	CHECK_OK(ttnn_device_dram_workers(workers, device, 0));
	ttnn_device_unref(device);

	write_chip(path, 5, 2); /* 10 banks of L1 are none that kernels can count with */
	CHECK_FAILS(
		ttnn_device_open(&device, 0, &options), TTNN_INVALID,
		"Invalid number of memory banks 10 for L1. Num banks must be power of 2 or have "
		"a dedicated modulo implementation");
	write_chip(path, 8, 3);
	CHECK_FAILS(ttnn_device_open(&device, 0, &options), TTNN_INVALID,
		    "Invalid number of memory banks 3 for DRAM.");
	write_chip(path, 0, 2);
	CHECK_FAILS(ttnn_device_open(&device, 0, &options), TTNN_FORMAT,
		    ".json:5: columns are 0; 1 to 32 are possible");
	write_chip(path, 12, 2);
	CHECK_FAILS(ttnn_device_open(&device, 0, &options), TTNN_FORMAT,
		    ".json:3: tensix cores outside of the 12 x 6 nodes");
	unlink(path);
}

/* ---- threads, memory --------------------------------------------------------------------------------- */

static void *open_and_close(void *argument)
{
	struct ttnn_mesh_options part = {.rows = 1, .cols = 2};
	ttnn_device *parent = argument, *sub, **list;
	size_t count;

	for (int i = 0; i < 20; i++) {
		CHECK_OK(ttnn_device_submesh(&sub, parent, &part));
		CHECK(first_address(sub, TTNN_DRAM) == 1048640);
		CHECK_OK(ttnn_device_submeshes(&list, &count, parent));
		while (count > 0)
			ttnn_device_unref(list[--count]);
		ttnn_free(list);
		if (i % 2)
			ttnn_device_close(sub);
		ttnn_device_unref(sub);
	}
	ttnn_device_unref(parent);
	return NULL;
}

TEST(threads)
{
	struct ttnn_device_options t3k = {.profile = "t3k"};
	pthread_t threads[4];
	ttnn_device *mesh;

	CHECK_OK(ttnn_mesh_open(&mesh, NULL, &t3k));
	for (size_t i = 0; i < COUNT(threads); i++)
		CHECK_INT(pthread_create(&threads[i], NULL, open_and_close, ttnn_device_ref(mesh)),
			  0);
	for (size_t i = 0; i < COUNT(threads); i++)
		pthread_join(threads[i], NULL);
	CHECK(!mesh->oldest && !mesh->newest);
	ttnn_device_unref(mesh);
}

SCENARIO(everything_allocates)
{
	struct ttnn_device_options options = {.profile = "p150_x4", .l1_small_size = 1024};
	ttnn_device *device, *mesh, **parts;
	struct ttnn_system_info system;
	size_t count = 0;
	tt_status status;
	char *text = NULL;

	TT_TRY(ttnn_system_info(&system, "t3k"));
	TT_TRY(ttnn_device_open(&device, 2, &options));
	status = ttnn_device_text(&text, device);
	ttnn_free(text);
	ttnn_device_unref(device);
	TT_TRY(status);
	TT_TRY(ttnn_mesh_open(&mesh, NULL, &options));
	status = ttnn_device_cut(&parts, &count, mesh, 1, 1);
	if (status == TTNN_OK)
		ttnn_device_close(mesh);
	while (count > 0)
		ttnn_device_unref(parts[--count]);
	if (status == TTNN_OK) {
		ttnn_free(parts);
		status = ttnn_device_reshape(mesh, 1, 4);
	}
	ttnn_device_unref(mesh);
	return status;
}

TEST(systems)
{
	struct ttnn_system_info system;

	CHECK_OK(ttnn_system_info(&system, "galaxy_bh"));
	CHECK_STR(system.name, "galaxy_bh");
	CHECK_STR(system.arch, "blackhole");
	CHECK_STR(system.cluster, "BLACKHOLE_GALAXY");
	CHECK_INT(system.cluster_code, 16);
	CHECK_INT(system.rows, 8);
	CHECK_INT(system.chip_count, 32);
	CHECK_STR(ttnn_profile_name(0), "galaxy_bh");
}
