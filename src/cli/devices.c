/* ttnn devices: the machines that the library knows, or one of them in detail. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <ttnn.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "device/device.h"

static bool as_json, as_profile, as_descriptor;
static const char *memory_map;
static const struct tt_opt options[] = {
	{"json", 0, TT_OPT_FLAG, &as_json, NULL, "print JSON"},
	{"map", 0, TT_OPT_STRING, &memory_map, "NAME", "base addresses of another release"},
	{"profile", 0, TT_OPT_FLAG, &as_profile, NULL,
	 "print the device as a profile file: converts a cluster descriptor"},
	{"descriptor", 0, TT_OPT_FLAG, &as_descriptor, NULL,
	 "print the device as a cluster descriptor file"},
	{0},
};

static const struct {
	const char *key;
	enum ttnn_buffer_type type;
} kinds[] = {{"dram", TTNN_DRAM}, {"l1", TTNN_L1}};

static tt_status open_device(ttnn_device **out, const char *name)
{
	struct ttnn_device_options opened = {.profile = name, .memory_map = memory_map};

	return ttnn_mesh_open(out, NULL, &opened);
}

/*
 * The next built-in device at or after *at, which goes on behind it; NULL behind the last. Devices
 * without the memory map that was asked for are left out.
 */
static tt_status open_next(ttnn_device **out, size_t *at)
{
	*out = NULL;
	while (ttnn_profile_name(*at)) {
		tt_status status = open_device(out, ttnn_profile_name((*at)++));

		if (status != TTNN_NOTFOUND || !memory_map)
			return status;
		*out = NULL;
	}
	return TTNN_OK;
}

static tt_status no_such_map(void)
{
	return tt_fail(TTNN_NOTFOUND, "no device has a memory map \"%s\"", memory_map);
}

/* "1.00 GiB", "1361 KiB": three digits or more, and the largest unit that gives them. */
static void add_bytes(struct tt_str *out, uint64_t bytes)
{
	if (bytes >= 1u << 30)
		tt_str_addf(out, "%.2f GiB", (double)bytes / (1u << 30));
	else
		tt_str_addf(out, "%" PRIu64 " KiB", bytes >> 10);
}

/* ---- the table ---------------------------------------------------------------------------- */

#define COLUMNS 8

static const char *const head[COLUMNS] = {"NAME", "ARCH", "CHIPS", "MESH",
					  "GRID", "DRAM", "L1",    "WHAT"};

struct line {
	char *cell[COLUMNS];
};

static tt_status fill_line(struct line *line, ttnn_device *device)
{
	const struct ttnn_device_info *info = ttnn_device_get_info(device);
	struct tt_str text[COLUMNS] = {0};
	tt_status status = TTNN_OK;

	tt_str_adds(&text[0], info->profile);
	tt_str_adds(&text[1], info->arch);
	tt_str_addu(&text[2], device->profile->cluster.chip_count);
	tt_str_addf(&text[3], "%" PRIu32 "x%" PRIu32, info->rows, info->cols);
	tt_str_addf(&text[4], "%" PRIu32 "x%" PRIu32, info->compute_grid.x, info->compute_grid.y);
	tt_str_addf(&text[5], "%" PRIu32 " x ", info->dram_banks);
	add_bytes(&text[5], info->dram_bank_size);
	tt_str_addf(&text[6], "%" PRIu32 " x ", info->l1_banks);
	add_bytes(&text[6], info->l1_size);
	tt_str_adds(&text[7], device->profile->title);
	for (size_t i = 0; i < COLUMNS; i++) {
		if (status == TTNN_OK)
			status = tt_str_take(&line->cell[i], &text[i]);
		tt_str_deinit(&text[i]);
	}
	return status;
}

static void print_table(const struct line *lines, size_t count)
{
	size_t width[COLUMNS];

	for (size_t c = 0; c < COLUMNS; c++) {
		width[c] = strlen(head[c]);
		for (size_t i = 0; i < count; i++)
			if (strlen(lines[i].cell[c]) > width[c])
				width[c] = strlen(lines[i].cell[c]);
	}
	for (size_t i = 0; i <= count; i++)
		for (size_t c = 0; c < COLUMNS; c++) {
			const char *text = i ? lines[i - 1].cell[c] : head[c];

			if (c + 1 < COLUMNS)
				printf("%-*s  ", (int)width[c], text);
			else
				printf("%s\n", text);
		}
}

static tt_status list_table(void)
{
	size_t room = 0, count = 0, at = 0;
	struct line *lines;
	tt_status status;

	while (ttnn_profile_name(room))
		room++;
	lines = tt_calloc(room, sizeof(*lines));
	if (!lines)
		return tt_fail_nomem();
	for (;;) {
		ttnn_device *device;

		status = open_next(&device, &at);
		if (status != TTNN_OK || !device)
			break;
		status = fill_line(&lines[count++], device);
		ttnn_device_unref(device);
		if (status != TTNN_OK)
			break;
	}
	if (status == TTNN_OK && count)
		print_table(lines, count);
	else if (status == TTNN_OK)
		status = no_such_map();
	for (size_t i = 0; i < count; i++)
		for (size_t c = 0; c < COLUMNS; c++)
			tt_free(lines[i].cell[c]);
	tt_free(lines);
	return status;
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void write_pair(struct tt_jsonw *w, const char *key, uint64_t a, uint64_t b)
{
	tt_jsonw_key(w, key);
	tt_jsonw_array(w);
	tt_jsonw_uint(w, a);
	tt_jsonw_uint(w, b);
	tt_jsonw_end(w);
}

static void write_memory(struct tt_jsonw *w, ttnn_device *device, size_t kind)
{
	const struct ttnn_device_info *info = ttnn_device_get_info(device);
	bool dram = kinds[kind].type == TTNN_DRAM;
	struct ttnn_memory_view view = {0};

	if (ttnn_device_memory(&view, device, kinds[kind].type) != TTNN_OK)
		w->status = TTNN_INTERNAL;
	tt_jsonw_key(w, kinds[kind].key);
	tt_jsonw_object(w);
	tt_jsonw_key_int(w, "banks", view.banks);
	tt_jsonw_key_int(w, "bank_bytes", (int64_t)(dram ? info->dram_bank_size : info->l1_size));
	tt_jsonw_key_int(w, "base", (int64_t)(dram ? info->dram_base : info->l1_base));
	tt_jsonw_key_int(w, "usable_bytes", (int64_t)view.bank_bytes);
	tt_jsonw_key_int(w, "alignment", dram ? info->dram_alignment : info->l1_alignment);
	tt_jsonw_end(w);
}

static void write_short(struct tt_jsonw *w, ttnn_device *device)
{
	const struct ttnn_device_info *info = ttnn_device_get_info(device);

	tt_jsonw_key_string(w, "name", info->profile);
	tt_jsonw_key_string(w, "title", device->profile->title);
	tt_jsonw_key_string(w, "arch", info->arch);
	tt_jsonw_key_string(w, "cluster", info->cluster);
	tt_jsonw_key_string(w, "board_type", info->board_type);
	tt_jsonw_key_string(w, "device_series", info->device_series);
	tt_jsonw_key_int(w, "card_count", info->card_count);
	tt_jsonw_key_int(w, "chips", (int64_t)device->profile->cluster.chip_count);
	write_pair(w, "mesh", info->rows, info->cols);
	write_pair(w, "logical_grid", info->logical_grid.x, info->logical_grid.y);
	write_pair(w, "compute_grid", info->compute_grid.x, info->compute_grid.y);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		write_memory(w, device, i);
}

static void write_row(struct tt_jsonw *w, ttnn_device *device)
{
	struct ttnn_device_row row;

	ttnn_device_get_row(&row, device);
	tt_jsonw_key(w, "report_row");
	tt_jsonw_object(w);
#define TTNN_X(name) tt_jsonw_key_int(w, #name, (int64_t)row.name);
	TTNN_DEVICE_ROW_LIST(TTNN_X)
#undef TTNN_X
	tt_jsonw_end(w);
}

static void write_lists(struct tt_jsonw *w, ttnn_device *device)
{
	const struct ttnn_device_info *info = ttnn_device_get_info(device);
	const struct tt_arch *arch = &device->profile->arch;
	struct ttnn_core workers[TT_ARCH_BANKS];
	tt_status status = ttnn_device_dram_workers(workers, device, 0);

	tt_jsonw_key(w, "order");
	tt_jsonw_array(w);
	for (uint32_t i = 0; i < info->chip_count; i++)
		tt_jsonw_uint(w, info->chips[i]);
	tt_jsonw_end(w);
	tt_jsonw_key(w, "memory_maps");
	tt_jsonw_array(w);
	for (size_t i = 0; i < arch->map_count; i++)
		tt_jsonw_string(w, arch->maps[i].name);
	tt_jsonw_end(w);
	tt_jsonw_key(w, "dram_workers");
	tt_jsonw_array(w);
	for (uint32_t i = 0; status == TTNN_OK && i < info->dram_banks; i++) {
		tt_jsonw_array(w);
		tt_jsonw_uint(w, workers[i].x);
		tt_jsonw_uint(w, workers[i].y);
		tt_jsonw_end(w);
	}
	tt_jsonw_end(w);
}

static void write_long(struct tt_jsonw *w, ttnn_device *device)
{
	const struct ttnn_device_info *info = ttnn_device_get_info(device);

	tt_jsonw_object(w);
	write_short(w, device);
	tt_jsonw_key_string(w, "dispatch", tt_dispatch_name(device->setup.dispatch));
	tt_jsonw_key_string(w, "memory_map", info->memory_map);
	tt_jsonw_key_int(w, "max_worker_l1_size", (int64_t)info->max_worker_l1_size);
	tt_jsonw_key_int(w, "circular_buffers", info->circular_buffers);
	tt_jsonw_key_int(w, "clock_mhz", info->clock_mhz);
	write_lists(w, device);
	write_row(w, device);
	tt_jsonw_end(w);
}

static tt_status write_one(struct tt_jsonw *w, const char *name)
{
	ttnn_device *device;

	TT_TRY(open_device(&device, name));
	write_long(w, device);
	ttnn_device_unref(device);
	return TTNN_OK;
}

static tt_status write_all(struct tt_jsonw *w)
{
	size_t at = 0, count = 0;
	ttnn_device *device;

	tt_jsonw_array(w);
	for (;; count++) {
		TT_TRY(open_next(&device, &at));
		if (!device)
			break;
		tt_jsonw_object(w);
		write_short(w, device);
		tt_jsonw_end(w);
		ttnn_device_unref(device);
	}
	tt_jsonw_end(w);
	return count ? TTNN_OK : no_such_map();
}

static tt_status print_json(const char *name)
{
	struct tt_str text = {0};
	struct tt_jsonw w;
	tt_status status;

	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){.indent = 2});
	status = name ? write_one(&w, name) : write_all(&w);
	if (status == TTNN_OK)
		status = tt_jsonw_finish(&w);
	if (status == TTNN_OK)
		status = tt_str_status(&text);
	if (status == TTNN_OK)
		puts(tt_str_text(&text));
	tt_str_deinit(&text);
	return status;
}

/* ---- one device ----------------------------------------------------------------------------- */

static void print_memory(const char *label, const struct ttnn_memory_view *view, uint64_t bank,
			 uint64_t base)
{
	struct tt_str text = {0};

	add_bytes(&text, bank);
	printf("%-18s%" PRIu32 " banks of %s; buffers from address %" PRIu64 ", %" PRIu64
	       " bytes a bank\n",
	       label, view->banks, tt_str_text(&text), base, view->bank_bytes);
	tt_str_deinit(&text);
}

static void print_mesh(const struct ttnn_device_info *info)
{
	for (uint32_t r = 0; r < info->rows; r++) {
		printf("%-18s", r ? "" : "chips");
		for (uint32_t c = 0; c < info->cols; c++)
			printf("%s%" PRIu32, c ? " " : "", info->chips[r * info->cols + c]);
		printf("\n");
	}
}

static tt_status print_device(const char *name)
{
	const struct ttnn_device_info *info;
	struct ttnn_memory_view dram = {0}, l1 = {0};
	const struct tt_profile *profile;
	const char *before = "; also ";
	ttnn_device *device;

	TT_TRY(open_device(&device, name));
	info = ttnn_device_get_info(device);
	profile = device->profile;
	ttnn_device_memory(&dram, device, TTNN_DRAM);
	ttnn_device_memory(&l1, device, TTNN_L1);
	printf("%s%s%s\n", info->profile, *profile->title ? ": " : "", profile->title);
	printf("%-18s%s (%s)\n", "architecture", info->arch,
	       profile->arch.products[profile->harvested].name);
	printf("%-18s%s, mesh %" PRIu32 "x%" PRIu32 " of %zu chip%s\n", "cluster", info->cluster,
	       info->rows, info->cols, profile->cluster.chip_count,
	       profile->cluster.chip_count == 1 ? "" : "s");
	printf("%-18s%s %s, %" PRIu32 " card%s\n", "machine", info->board_type,
	       *info->device_series ? info->device_series : "unknown", info->card_count,
	       info->card_count == 1 ? "" : "s");
	print_mesh(info);
	printf("%-18s%" PRIu32 "x%" PRIu32 ", of which %" PRIu32 "x%" PRIu32
	       " compute (dispatch: %s)\n",
	       "cores", info->logical_grid.x, info->logical_grid.y, info->compute_grid.x,
	       info->compute_grid.y, tt_dispatch_name(device->setup.dispatch));
	print_memory("DRAM", &dram, info->dram_bank_size, info->dram_base);
	print_memory("L1", &l1, info->l1_size, info->l1_base);
	printf("%-18sDRAM %" PRIu32 ", L1 %" PRIu32 ", PCIe %" PRIu32 "\n", "alignment",
	       info->dram_alignment, info->l1_alignment, info->pcie_alignment);
	printf("%-18s%" PRIu32 " a core\n", "circular buffers", info->circular_buffers);
	printf("%-18s%" PRIu32 " MHz\n", "clock", info->clock_mhz);
	printf("%-18s%s", "memory map", info->memory_map);
	for (size_t i = 0; i < profile->arch.map_count; i++)
		if (strcmp(profile->arch.maps[i].name, info->memory_map) != 0) {
			printf("%s%s", before, profile->arch.maps[i].name);
			before = ", ";
		}
	printf("\n");
	ttnn_device_unref(device);
	return TTNN_OK;
}

static tt_status print_file(const char *name)
{
	struct tt_profile *profile;
	struct tt_str text = {0};
	tt_status status;

	TT_TRY(tt_profile_open(&profile, name));
	if (as_profile) {
		tt_profile_write(&text, profile);
	} else {
		tt_descriptor_write(&text, &profile->cluster);
		tt_str_addc(&text, '\n');
	}
	status = tt_str_status(&text);
	if (status == TTNN_OK)
		fputs(tt_str_text(&text), stdout);
	tt_str_deinit(&text);
	tt_profile_unref(profile);
	return status;
}

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	const char *name = count ? operands[0] : NULL;
	tt_status status;

	(void)cmd;
	if (as_profile + as_descriptor + as_json > 1)
		status = tt_fail(TTNN_INVALID,
				 "--json, --profile and --descriptor exclude each other");
	else if (memory_map && (as_profile || as_descriptor))
		status = tt_fail(TTNN_INVALID,
				 "--map does nothing to the files that --profile and --descriptor "
				 "print");
	else if (as_profile || as_descriptor)
		status = print_file(name);
	else if (as_json)
		status = print_json(name);
	else
		status = name ? print_device(name) : list_table();
	return status == TTNN_OK ? TT_EXIT_DONE : cli_fail();
}

const struct tt_cmd cli_devices = {
	.name = "devices",
	.help = "print the machines that can be opened, or one of them",
	.operands = "[NAME|FILE]",
	.most = 1,
	.more = "NAME is a device of the list; FILE a profile or a cluster descriptor. TTNN_DEVICE names the\n"
		"device that programs open by default.",
	.options = options,
	.run = run,
};
