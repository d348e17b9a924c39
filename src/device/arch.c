#include "device/arch.h"
#include "base/vec.h"

#include <stddef.h>
#include <string.h>

static const char *const dispatch_names[TT_DISPATCH_COUNT] = {"tensix_row", "tensix_column",
							      "ethernet", "slow"};

const char *tt_dispatch_name(enum tt_dispatch dispatch)
{
	return dispatch_names[dispatch];
}

tt_status tt_dispatch_read(enum tt_dispatch *out, const struct tt_yaml_doc *doc,
			   const struct tt_yaml *node)
{
	const char *text;

	TT_TRY(tt_yaml_text(&text, doc, node, "\"dispatch\""));
	for (int i = 0; i < TT_DISPATCH_COUNT; i++)
		if (strcmp(text, dispatch_names[i]) == 0) {
			*out = (enum tt_dispatch)i;
			return TTNN_OK;
		}
	return tt_yaml_fail(doc, node,
			    "\"dispatch\" is tensix_row, tensix_column, ethernet or slow, not "
			    "\"%.80s\"",
			    text);
}

struct reader {
	struct tt_arch *arch;
	const struct tt_yaml_doc *doc;
	const struct tt_yaml *node;
	struct tt_arena *arena;
};

/* ---- plain numbers: one row each ---------------------------------------------------------- */

enum field_kind { U32, U64, REAL, FLOAT };

struct field {
	const char *key;
	enum field_kind kind;
	size_t offset;
	uint64_t min, max; /* of whole numbers */
};

/* clang-format off */
#define FIELD(key, kind, member, min, max) {key, kind, offsetof(struct tt_arch, member), min, max}
/* clang-format on */
#define GIB (1ull << 30)

static const struct field fields[] = {
	FIELD("code", U32, code, 0, 255),
	FIELD("l1_bytes", U64, l1_bytes, 65536, GIB),
	FIELD("l1_align", U32, l1_align, 1, 4096),
	FIELD("eth_cores", U32, eth_cores, 0, 1024),
	FIELD("eth_l1_bytes", U64, eth_l1_bytes, 0, GIB),
	FIELD("pcie_align", U32, pcie_align, 1, 4096),
	FIELD("circular_buffers", U32, circular_buffers, 1, 1024),
	FIELD("noc_burst", U32, noc_burst, 1, GIB),
	FIELD("clock_mhz", U32, clock_mhz, 1, 100000),
	FIELD("idle_clock_mhz", U32, idle_clock_mhz, 1, 100000),
	FIELD("eps", FLOAT, eps, 0, 0),
	FIELD("nan", FLOAT, nan, 0, 0),
	FIELD("inf", FLOAT, inf, 0, 0),
};

static const struct field dram_fields[] = {
	FIELD("align", U32, dram_align, 1, 4096),
	FIELD("channels", U32, dram_channels, 1, 32),
	FIELD("bank_bytes", U64, dram_bank_bytes, 1 << 20, 1024 * GIB),
	FIELD("gb_per_s", REAL, dram_gb_per_s, 0, 0),
};

static const struct field noc_fields[] = {
	FIELD("clock_ghz", REAL, noc.clock_ghz, 0, 0),
	FIELD("dram_latency", U32, noc.dram_latency, 0, 1 << 20),
	FIELD("local_latency", U32, noc.local_latency, 0, 1 << 20),
	FIELD("read_latency", U32, noc.read_latency, 0, 1 << 20),
	FIELD("write_latency", U32, noc.write_latency, 0, 1 << 20),
	FIELD("dram_limit", REAL, noc.dram_limit, 0, 0),
	FIELD("l1_limit", REAL, noc.l1_limit, 0, 0),
};

static tt_status read_field(struct reader *r, const struct tt_yaml *node, const struct field *field)
{
	char *to = (char *)r->arch + field->offset;
	uint64_t number;
	double real;

	if (field->kind == REAL || field->kind == FLOAT) {
		float single;

		TT_TRY(tt_yaml_real(&real, r->doc, node, field->key));
		single = (float)real;
		if (!(real > 0))
			return tt_yaml_fail(r->doc, node, "%s must be more than 0", field->key);
		if (field->kind == REAL)
			memcpy(to, &real, sizeof(real));
		else
			memcpy(to, &single, sizeof(single));
		return TTNN_OK;
	}
	TT_TRY(tt_yaml_uint(&number, r->doc, node, field->key, field->max));
	if (number < field->min)
		return tt_yaml_fail(r->doc, node, "%s is %llu, which is less than %llu", field->key,
				    (unsigned long long)number, (unsigned long long)field->min);
	if (field->kind == U64)
		memcpy(to, &number, sizeof(number));
	else
		memcpy(to, &(uint32_t){(uint32_t)number}, sizeof(uint32_t));
	return TTNN_OK;
}

static tt_status read_fields(struct reader *r, const struct tt_yaml *map, const struct field *list,
			     size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct tt_yaml *node;

		TT_TRY(tt_yaml_need(&node, r->doc, map, list[i].key));
		TT_TRY(read_field(r, node, &list[i]));
	}
	return TTNN_OK;
}

static tt_status read_text(const char **out, struct reader *r, const struct tt_yaml *map,
			   const char *key)
{
	const struct tt_yaml *node;
	const char *text;

	TT_TRY(tt_yaml_need(&node, r->doc, map, key));
	TT_TRY(tt_yaml_text(&text, r->doc, node, key));
	*out = tt_arena_strdup(r->arena, text);
	return *out ? TTNN_OK : tt_fail_nomem();
}

/* ---- the grid of cores --------------------------------------------------------------------- */

static tt_status read_lines(struct reader *r, uint32_t *out, uint32_t *count, const char *key)
{
	const struct tt_yaml *list;

	TT_TRY(tt_yaml_need(&list, r->doc, r->node, key));
	TT_TRY(tt_yaml_expect(r->doc, list, key, TT_YAML_LIST));
	if (list->count == 0 || list->count > TT_ARCH_LINES)
		return tt_yaml_fail(r->doc, list, "%s are %zu; 1 to %d are possible", key,
				    list->count, TT_ARCH_LINES);
	if (*count && *count != list->count)
		return tt_yaml_fail(r->doc, list, "%s are %zu, not %u as the tensix cores", key,
				    list->count, *count);
	*count = (uint32_t)list->count;
	TT_TRY(tt_yaml_u32s(out, list->count, r->doc, list, key));
	for (size_t i = 1; i < list->count; i++)
		if (out[i] <= out[i - 1])
			return tt_yaml_fail(r->doc, list, "%s must rise", key);
	return TTNN_OK;
}

static tt_status read_grid(struct reader *r)
{
	struct tt_arch *arch = r->arch;
	const struct tt_yaml *node;
	const char *text;
	uint32_t noc[2];

	TT_TRY(tt_yaml_need(&node, r->doc, r->node, "noc"));
	TT_TRY(tt_yaml_u32s(noc, 2, r->doc, node, "noc"));
	arch->noc_grid = (struct tt_grid){noc[0], noc[1]};
	TT_TRY(read_lines(r, arch->columns, &arch->full.x, "columns"));
	TT_TRY(read_lines(r, arch->rows, &arch->full.y, "rows"));
	TT_TRY(read_lines(r, arch->translated_columns, &arch->full.x, "translated_columns"));
	TT_TRY(read_lines(r, arch->translated_rows, &arch->full.y, "translated_rows"));
	if (arch->columns[arch->full.x - 1] >= noc[0] || arch->rows[arch->full.y - 1] >= noc[1])
		return tt_yaml_fail(r->doc, node, "tensix cores outside of the %u x %u nodes",
				    noc[0], noc[1]);
	TT_TRY(tt_yaml_need(&node, r->doc, r->node, "harvest"));
	TT_TRY(tt_yaml_text(&text, r->doc, node, "harvest"));
	arch->harvests_columns = strcmp(text, "columns") == 0;
	if (!arch->harvests_columns && strcmp(text, "rows") != 0)
		return tt_yaml_fail(r->doc, node, "harvest is rows or columns, not \"%.80s\"",
				    text);
	return TTNN_OK;
}

/* The cores that are left when `harvested` lines are off. */
static struct tt_grid left(const struct tt_arch *arch, uint32_t harvested)
{
	struct tt_grid grid = arch->full;

	*(arch->harvests_columns ? &grid.x : &grid.y) -= harvested;
	return grid;
}

static tt_status read_compute(struct reader *r, struct tt_arch_product *product,
			      const struct tt_yaml *node, struct tt_grid most)
{
	const struct tt_yaml *map;

	TT_TRY(tt_yaml_need(&map, r->doc, node, "compute"));
	TT_TRY(tt_yaml_expect(r->doc, map, "compute", TT_YAML_MAP));
	for (const struct tt_yaml *item = map->first; item; item = item->next) {
		struct tt_yaml key = {.kind = TT_YAML_TEXT, .line = item->line, .text = item->key};
		enum tt_dispatch dispatch;
		uint32_t grid[2];

		TT_TRY(tt_dispatch_read(&dispatch, r->doc, &key));
		TT_TRY(tt_yaml_u32s(grid, 2, r->doc, item, "a grid"));
		if (grid[0] == 0 || grid[1] == 0 || grid[0] > most.x || grid[1] > most.y)
			return tt_yaml_fail(r->doc, item,
					    "a grid of %u x %u cores is impossible: %u x %u are "
					    "left after harvesting",
					    grid[0], grid[1], most.x, most.y);
		product->compute[dispatch] = (struct tt_grid){grid[0], grid[1]};
	}
	product->compute[TT_DISPATCH_SLOW] = most;
	return TTNN_OK;
}

static tt_status read_products(struct reader *r)
{
	struct tt_arch *arch = r->arch;
	const struct tt_yaml *list, *dispatch;
	uint32_t lines = arch->harvests_columns ? arch->full.x : arch->full.y;

	TT_TRY(tt_yaml_need(&dispatch, r->doc, r->node, "dispatch"));
	TT_TRY(tt_dispatch_read(&arch->dispatch, r->doc, dispatch));
	TT_TRY(tt_yaml_need(&list, r->doc, r->node, "products"));
	TT_TRY(tt_yaml_expect(r->doc, list, "products", TT_YAML_LIST));
	if (list->count == 0 || list->count > lines)
		return tt_yaml_fail(r->doc, list, "products are %zu; 1 to %u are possible",
				    list->count, lines);
	arch->products = tt_arena_calloc(r->arena, list->count, sizeof(*arch->products));
	if (!arch->products)
		return tt_fail_nomem();
	for (const struct tt_yaml *item = list->first; item; item = item->next) {
		struct tt_arch_product *product = &arch->products[arch->product_count];

		TT_TRY(read_text(&product->name, r, item, "name"));
		TT_TRY(read_compute(r, product, item, left(arch, arch->product_count)));
		arch->product_count++;
	}
	return TTNN_OK;
}

/* ---- memory ------------------------------------------------------------------------------ */

static tt_status read_bank(struct reader *r, struct tt_arch_dram_bank *bank,
			   const struct tt_yaml *node)
{
	static const char *const nocs[2] = {"noc0", "noc1"};
	const struct tt_yaml *value;
	uint64_t channel;
	uint32_t core[2];

	TT_TRY(tt_yaml_need(&value, r->doc, node, "channel"));
	TT_TRY(tt_yaml_uint(&channel, r->doc, value, "channel", r->arch->dram_channels - 1));
	bank->channel = (uint32_t)channel;
	TT_TRY(tt_yaml_need(&value, r->doc, node, "offset"));
	TT_TRY(tt_yaml_uint(&bank->offset, r->doc, value, "offset", UINT64_MAX / 2));
	for (int i = 0; i < 2; i++) {
		TT_TRY(tt_yaml_need(&value, r->doc, node, nocs[i]));
		TT_TRY(tt_yaml_u32s(core, 2, r->doc, value, nocs[i]));
		if (core[0] >= r->arch->noc_grid.x || core[1] >= r->arch->noc_grid.y)
			return tt_yaml_fail(r->doc, value, "the core %u-%u is outside of the chip",
					    core[0], core[1]);
		bank->noc[i] = (struct ttnn_core){core[0], core[1]};
	}
	return TTNN_OK;
}

static bool is_power_of_2(uint64_t n)
{
	return n && (n & (n - 1)) == 0;
}

static tt_status read_dram(struct reader *r)
{
	struct tt_arch *arch = r->arch;
	const struct tt_yaml *dram, *banks;

	TT_TRY(tt_yaml_need(&dram, r->doc, r->node, "dram"));
	TT_TRY(read_fields(r, dram, dram_fields, TT_COUNT(dram_fields)));
	if (!is_power_of_2(arch->dram_align) || !is_power_of_2(arch->l1_align) ||
	    arch->dram_align % arch->l1_align)
		return tt_yaml_fail(r->doc, dram,
				    "alignments are powers of 2, that of DRAM a multiple of L1's");
	if (arch->dram_bank_bytes % arch->dram_align || arch->l1_bytes % arch->dram_align)
		return tt_yaml_fail(r->doc, dram,
				    "bank_bytes and l1_bytes are multiples of DRAM's alignment");
	TT_TRY(tt_yaml_need(&banks, r->doc, dram, "banks"));
	TT_TRY(tt_yaml_expect(r->doc, banks, "banks", TT_YAML_LIST));
	if (banks->count == 0 || banks->count > TT_ARCH_BANKS)
		return tt_yaml_fail(r->doc, banks, "banks are %zu; 1 to %d are possible",
				    banks->count, TT_ARCH_BANKS);
	for (const struct tt_yaml *item = banks->first; item; item = item->next)
		TT_TRY(read_bank(r, &arch->dram_banks[arch->dram_bank_count++], item));
	return TTNN_OK;
}

static tt_status read_map(struct reader *r, struct tt_memory_map *map, const struct tt_yaml *node)
{
	const struct {
		const char *key;
		uint32_t *to;
		uint64_t max;
	} sizes[] = {
		{"firmware_end", &map->firmware_end, r->arch->l1_bytes},
		{"kernel_config", &map->kernel_config, r->arch->l1_bytes},
		{"dram_profiler", &map->dram_profiler, GIB / 2},
		{"dram_print", &map->dram_print, GIB / 2},
	};

	TT_TRY(read_text(&map->name, r, node, "name"));
	for (size_t i = 0; i < TT_COUNT(sizes); i++) {
		const struct tt_yaml *value;
		uint64_t number;

		TT_TRY(tt_yaml_need(&value, r->doc, node, sizes[i].key));
		TT_TRY(tt_yaml_uint(&number, r->doc, value, sizes[i].key, sizes[i].max));
		*sizes[i].to = (uint32_t)number;
	}
	if (tt_memory_map_l1_base(map, r->arch, 0) >= r->arch->l1_bytes ||
	    tt_memory_map_dram_base(map, r->arch) >= r->arch->dram_bank_bytes)
		return tt_yaml_fail(r->doc, node, "memory map %.80s leaves no memory", map->name);
	return TTNN_OK;
}

static tt_status read_maps(struct reader *r)
{
	struct tt_arch *arch = r->arch;
	const struct tt_yaml *list;

	TT_TRY(tt_yaml_need(&list, r->doc, r->node, "memory_maps"));
	TT_TRY(tt_yaml_expect(r->doc, list, "memory_maps", TT_YAML_LIST));
	if (list->count == 0)
		return tt_yaml_fail(r->doc, list, "at least one memory map is needed");
	arch->maps = tt_arena_calloc(r->arena, list->count, sizeof(*arch->maps));
	if (!arch->maps)
		return tt_fail_nomem();
	for (const struct tt_yaml *item = list->first; item; item = item->next)
		TT_TRY(read_map(r, &arch->maps[arch->map_count++], item));
	return TTNN_OK;
}

/* ---- rates of the NoC ----------------------------------------------------------------------- */

static tt_status read_rates(struct reader *r)
{
	struct tt_noc_rates *rates = &r->arch->noc.rates;
	const struct {
		const char *key;
		float *to;
	} columns[] = {
		{"dram", rates->dram},
		{"local", rates->local},
		{"read", rates->read},
		{"write", rates->write},
	};
	const struct tt_yaml *model, *list;

	TT_TRY(tt_yaml_need(&model, r->doc, r->node, "noc_model"));
	TT_TRY(read_fields(r, model, noc_fields, TT_COUNT(noc_fields)));
	TT_TRY(tt_yaml_need(&list, r->doc, model, "size"));
	if (list->count == 0 || list->count > TT_ARCH_RATES)
		return tt_yaml_fail(r->doc, list, "sizes are %zu; 1 to %d are possible",
				    list->count, TT_ARCH_RATES);
	rates->count = (uint32_t)list->count;
	TT_TRY(tt_yaml_u32s(rates->size, rates->count, r->doc, list, "size"));
	for (size_t i = 0; i < rates->count; i++)
		if (!is_power_of_2(rates->size[i]) || (i && rates->size[i] <= rates->size[i - 1]))
			return tt_yaml_fail(r->doc, list, "sizes are rising powers of 2");
	for (size_t c = 0; c < TT_COUNT(columns); c++) {
		float *to = columns[c].to;
		double rate;

		TT_TRY(tt_yaml_need(&list, r->doc, model, columns[c].key));
		if (list->kind != TT_YAML_LIST || list->count != rates->count)
			return tt_yaml_fail(r->doc, list, "%s has not one rate for each size",
					    columns[c].key);
		for (const struct tt_yaml *item = list->first; item; item = item->next) {
			TT_TRY(tt_yaml_real(&rate, r->doc, item, "a rate"));
			if (!(rate > 0))
				return tt_yaml_fail(r->doc, item, "a rate must be more than 0");
			*to++ = (float)rate;
		}
	}
	return TTNN_OK;
}

/* ---- the whole ---------------------------------------------------------------------------- */

tt_status tt_arch_read(struct tt_arch *out, const struct tt_yaml_doc *doc,
		       const struct tt_yaml *node, struct tt_arena *arena)
{
	struct reader r = {out, doc, node, arena};

	*out = (struct tt_arch){0};
	if (node->kind != TT_YAML_MAP)
		return tt_yaml_fail(doc, node, "an architecture is a map");
	TT_TRY(read_text(&out->name, &r, node, "name"));
	TT_TRY(read_text(&out->text, &r, node, "text"));
	TT_TRY(read_text(&out->family, &r, node, "family"));
	TT_TRY(read_fields(&r, node, fields, TT_COUNT(fields)));
	TT_TRY(read_grid(&r));
	TT_TRY(read_products(&r));
	TT_TRY(read_dram(&r));
	TT_TRY(read_maps(&r));
	return read_rates(&r);
}

const struct tt_memory_map *tt_arch_map_find(const struct tt_arch *arch, const char *name)
{
	for (size_t i = 0; i < arch->map_count; i++)
		if (!name || strcmp(arch->maps[i].name, name) == 0)
			return &arch->maps[i];
	return NULL;
}

/* ---- base addresses ------------------------------------------------------------------------ */

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

uint64_t tt_memory_map_max_l1(const struct tt_memory_map *map, const struct tt_arch *arch)
{
	return arch->l1_bytes - map->firmware_end;
}

uint64_t tt_memory_map_l1_base(const struct tt_memory_map *map, const struct tt_arch *arch,
			       uint64_t worker_l1_size)
{
	uint64_t base = worker_l1_size ? arch->l1_bytes - worker_l1_size
				       : (uint64_t)map->firmware_end + map->kernel_config;

	return round_up(base, arch->dram_align);
}

/* A line for the barrier; the profiler; a line and the texts that kernels print. */
uint64_t tt_memory_map_dram_base(const struct tt_memory_map *map, const struct tt_arch *arch)
{
	uint64_t line = arch->dram_align;

	return line + round_up(map->dram_profiler, line) +
	       (map->dram_print ? line + map->dram_print : 0);
}
