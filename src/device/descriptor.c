/*
 * The file, as upstream writes it (maps are keyed by chip id):
 *
 *	arch: {0: wormhole_b0}
 *	chips: {0: [x, y, rack, shelf]}
 *	chip_unique_ids: {0: number}
 *	ethernet_connections: [[{chip: 0, chan: 8}, {chip: 1, chan: 0}], ...]
 *	chips_with_mmio: [0: pci device, ...]
 *	harvesting: {0: {noc_translation: true, harvest_mask: 64, dram_harvesting_mask: 0, ...}}
 *	chip_to_bus_id: {0: "0x01"}
 *	boards: [[{board_id: number}, {board_type: n150}, {chips: [0]}], ...]
 *	asic_locations: {0: 0}
 *	chip_pci_bdfs: {0: 0000:01:00.0}
 *
 * All but arch may be missing or empty; other keys are not read.
 */
#include "device/descriptor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct reader {
	struct tt_cluster *cluster;
	const struct tt_yaml_doc *doc;
	struct tt_arena *arena;
};

/* Upstream's files have spelled the architectures in several ways. */
static const struct {
	const char *spelling, *name;
} arch_names[] = {
	{"wormhole_b0", "wormhole_b0"},
	{"wormhole", "wormhole_b0"},
	{"blackhole", "blackhole"},
	{"quasar", "quasar"},
};

static const char *arch_name(const char *spelling)
{
	for (size_t i = 0; i < sizeof(arch_names) / sizeof(arch_names[0]); i++)
		if (strcasecmp(arch_names[i].spelling, spelling) == 0)
			return arch_names[i].name;
	return NULL;
}

size_t tt_cluster_find(const struct tt_cluster *cluster, uint64_t id)
{
	for (size_t i = 0; i < cluster->chip_count; i++)
		if (cluster->chips[i].id == id)
			return i;
	return cluster->chip_count;
}

/* The chip that a key or value of the file names; NULL, and the message set, when it is none. */
static struct tt_cluster_chip *find_chip(struct reader *r, const struct tt_yaml *node,
					 const char *id)
{
	struct tt_yaml number = {.kind = TT_YAML_TEXT, .line = node->line, .text = id};
	uint64_t value;
	size_t index;

	if (tt_yaml_uint(&value, r->doc, &number, "a chip's id", UINT32_MAX) != TTNN_OK)
		return NULL;
	index = tt_cluster_find(r->cluster, value);
	if (index < r->cluster->chip_count)
		return &r->cluster->chips[index];
	tt_yaml_fail(r->doc, node, "chip %.20s is not among the chips of \"arch\"", id);
	return NULL;
}

static tt_status read_arch(struct reader *r, const struct tt_yaml *root)
{
	struct tt_cluster *cluster = r->cluster;
	const struct tt_yaml *arch;

	TT_TRY(tt_yaml_need(&arch, r->doc, root, "arch"));
	TT_TRY(tt_yaml_expect(r->doc, arch, "\"arch\"", TT_YAML_MAP));
	if (arch->count == 0 || arch->count > TT_CLUSTER_CHIPS)
		return tt_yaml_fail(r->doc, arch, "\"arch\" names %zu chips; 1 to %d are possible",
				    arch->count, TT_CLUSTER_CHIPS);
	cluster->chips = tt_arena_calloc(r->arena, arch->count, sizeof(*cluster->chips));
	if (!cluster->chips)
		return tt_fail_nomem();
	for (const struct tt_yaml *item = arch->first; item; item = item->next) {
		struct tt_cluster_chip *chip = &cluster->chips[cluster->chip_count];
		struct tt_yaml key = {.kind = TT_YAML_TEXT, .line = item->line, .text = item->key};
		const char *name;

		TT_TRY(tt_yaml_u32(&chip->id, r->doc, &key, "a chip's id"));
		TT_TRY(tt_yaml_text(&name, r->doc, item, "an architecture"));
		if (!arch_name(name))
			return tt_yaml_fail(r->doc, item, "the architecture \"%.80s\" is unknown",
					    name);
		if (cluster->arch && strcmp(cluster->arch, arch_name(name)) != 0)
			return tt_yaml_fail(r->doc, item, "chips of two architectures: %s and %s",
					    cluster->arch, arch_name(name));
		cluster->arch = arch_name(name);
		chip->noc_translation = true;
		cluster->chip_count++;
	}
	return TTNN_OK;
}

/* ---- what is told per chip: one row for each key of the file --------------------------------- */

static tt_status read_coord(struct reader *r, struct tt_cluster_chip *chip,
			    const struct tt_yaml *node)
{
	chip->has_coord = true;
	return tt_yaml_u32s(chip->coord, 4, r->doc, node, "a chip's coordinate");
}

static tt_status read_unique(struct reader *r, struct tt_cluster_chip *chip,
			     const struct tt_yaml *node)
{
	return tt_yaml_uint(&chip->unique_id, r->doc, node, "a unique id", UINT64_MAX);
}

static tt_status read_bus(struct reader *r, struct tt_cluster_chip *chip,
			  const struct tt_yaml *node)
{
	chip->has_bus = true;
	return tt_yaml_u32(&chip->bus, r->doc, node, "a bus id");
}

static tt_status read_location(struct reader *r, struct tt_cluster_chip *chip,
			       const struct tt_yaml *node)
{
	chip->has_location = true;
	return tt_yaml_u32(&chip->location, r->doc, node, "a location");
}

static tt_status read_bdf(struct reader *r, struct tt_cluster_chip *chip,
			  const struct tt_yaml *node)
{
	const char *text;

	TT_TRY(tt_yaml_text(&text, r->doc, node, "a PCI address"));
	chip->bdf = tt_arena_strdup(r->arena, text);
	return chip->bdf ? TTNN_OK : tt_fail_nomem();
}

static tt_status read_harvest(struct reader *r, struct tt_cluster_chip *chip,
			      const struct tt_yaml *node)
{
	const struct {
		const char *key;
		uint32_t *to;
	} masks[] = {
		{"harvest_mask", &chip->harvest},
		{"dram_harvesting_mask", &chip->dram_harvest},
		{"eth_harvesting_mask", &chip->eth_harvest},
		{"pcie_harvesting_mask", &chip->pcie_harvest},
		{"l2cpu_harvesting_mask", &chip->l2cpu_harvest},
	};
	const struct tt_yaml *value = tt_yaml_find(node, "noc_translation");

	TT_TRY(tt_yaml_expect(r->doc, node, "the harvesting of a chip", TT_YAML_MAP));
	if (value)
		TT_TRY(tt_yaml_bool(&chip->noc_translation, r->doc, value, "noc_translation"));
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		value = tt_yaml_find(node, masks[i].key);
		if (value)
			TT_TRY(tt_yaml_u32(masks[i].to, r->doc, value, masks[i].key));
	}
	return TTNN_OK;
}

static const struct {
	const char *key;
	tt_status (*read)(struct reader *, struct tt_cluster_chip *, const struct tt_yaml *);
} chip_maps[] = {
	{"chips", read_coord},
	{"chip_unique_ids", read_unique},
	{"harvesting", read_harvest},
	{"chip_to_bus_id", read_bus},
	{"asic_locations", read_location},
	{"chip_pci_bdfs", read_bdf},
};

static tt_status read_chip_maps(struct reader *r, const struct tt_yaml *root)
{
	for (size_t i = 0; i < sizeof(chip_maps) / sizeof(chip_maps[0]); i++) {
		const struct tt_yaml *map = tt_yaml_find(root, chip_maps[i].key);

		if (!map)
			continue;
		TT_TRY(tt_yaml_expect(r->doc, map, chip_maps[i].key, TT_YAML_MAP));
		for (const struct tt_yaml *item = map->first; item; item = item->next) {
			struct tt_cluster_chip *chip = find_chip(r, item, item->key);

			if (!chip)
				return TTNN_FORMAT;
			TT_TRY(chip_maps[i].read(r, chip, item));
		}
	}
	return TTNN_OK;
}

/* ---- lists ------------------------------------------------------------------------------- */

static tt_status read_mmio(struct reader *r, const struct tt_yaml *root)
{
	const struct tt_yaml *list = tt_yaml_find(root, "chips_with_mmio");

	if (!list)
		return TTNN_OK;
	TT_TRY(tt_yaml_expect(r->doc, list, "\"chips_with_mmio\"", TT_YAML_LIST));
	for (const struct tt_yaml *item = list->first; item; item = item->next) {
		struct tt_cluster_chip *chip;

		if (item->kind != TT_YAML_MAP || item->count != 1)
			return tt_yaml_fail(r->doc, item,
					    "expected \"chip: device\" in \"chips_with_mmio\"");
		chip = find_chip(r, item, item->first->key);
		if (!chip)
			return TTNN_FORMAT;
		chip->has_pci = true;
		TT_TRY(tt_yaml_u32(&chip->pci, r->doc, item->first, "a PCI device"));
	}
	return TTNN_OK;
}

static tt_status read_link_end(struct tt_cluster_link *link, struct reader *r,
			       const struct tt_yaml *node, int end)
{
	const struct tt_yaml *id, *channel;
	struct tt_cluster_chip *chip;
	uint64_t number;

	TT_TRY(tt_yaml_expect(r->doc, node, "one end of a link", TT_YAML_MAP));
	TT_TRY(tt_yaml_need(&id, r->doc, node, "chip"));
	TT_TRY(tt_yaml_need(&channel, r->doc, node, "chan"));
	chip = find_chip(r, id, id->text);
	if (!chip)
		return TTNN_FORMAT;
	TT_TRY(tt_yaml_uint(&number, r->doc, channel, "a channel", TT_CLUSTER_CHANNELS - 1));
	link->chip[end] = (uint32_t)(chip - r->cluster->chips);
	link->channel[end] = (uint32_t)number;
	return TTNN_OK;
}

static tt_status read_links(struct reader *r, const struct tt_yaml *root)
{
	const struct tt_yaml *list = tt_yaml_find(root, "ethernet_connections");
	struct tt_cluster *cluster = r->cluster;

	if (!list)
		return TTNN_OK;
	TT_TRY(tt_yaml_expect(r->doc, list, "\"ethernet_connections\"", TT_YAML_LIST));
	cluster->links = tt_arena_calloc(r->arena, list->count, sizeof(*cluster->links));
	if (!cluster->links)
		return tt_fail_nomem();
	for (const struct tt_yaml *item = list->first; item; item = item->next) {
		struct tt_cluster_link *link = &cluster->links[cluster->link_count];

		if (item->kind != TT_YAML_LIST || item->count != 2)
			return tt_yaml_fail(r->doc, item, "a link has two ends");
		TT_TRY(read_link_end(link, r, item->first, 0));
		TT_TRY(read_link_end(link, r, item->first->next, 1));
		cluster->link_count++;
	}
	return TTNN_OK;
}

/* The value of a key in a list of maps with one key each, or NULL. */
static const struct tt_yaml *find_in_list(const struct tt_yaml *list, const char *key)
{
	for (const struct tt_yaml *item = list->first; item; item = item->next)
		if (tt_yaml_find(item, key))
			return tt_yaml_find(item, key);
	return NULL;
}

static tt_status read_board(struct reader *r, struct tt_cluster_board *board,
			    const struct tt_yaml *node)
{
	const struct tt_yaml *id, *type, *chips;
	const char *name;

	TT_TRY(tt_yaml_expect(r->doc, node, "a board", TT_YAML_LIST));
	id = find_in_list(node, "board_id");
	type = find_in_list(node, "board_type");
	chips = find_in_list(node, "chips");
	if (!id || !type || !chips)
		return tt_yaml_fail(r->doc, node,
				    "a board has \"board_id\", \"board_type\" and \"chips\"");
	TT_TRY(tt_yaml_uint(&board->id, r->doc, id, "a board's id", UINT64_MAX));
	TT_TRY(tt_yaml_text(&name, r->doc, type, "a board's type"));
	board->type = tt_arena_strdup(r->arena, name);
	if (!board->type)
		return tt_fail_nomem();
	TT_TRY(tt_yaml_expect(r->doc, chips, "the chips of a board", TT_YAML_LIST));
	for (const struct tt_yaml *item = chips->first; item; item = item->next) {
		struct tt_cluster_chip *chip = find_chip(r, item, item->text);

		if (!chip)
			return TTNN_FORMAT;
		chip->board = (uint32_t)(board - r->cluster->boards);
	}
	return TTNN_OK;
}

static tt_status read_boards(struct reader *r, const struct tt_yaml *root)
{
	const struct tt_yaml *list = tt_yaml_find(root, "boards");
	struct tt_cluster *cluster = r->cluster;
	struct tt_cluster_board *board;

	if (list)
		TT_TRY(tt_yaml_expect(r->doc, list, "\"boards\"", TT_YAML_LIST));
	cluster->board_count = list ? list->count : 0;
	cluster->boards = tt_arena_calloc(r->arena, cluster->board_count, sizeof(*board));
	if (!cluster->boards)
		return tt_fail_nomem();
	for (size_t i = 0; i < cluster->chip_count; i++)
		cluster->chips[i].board = (uint32_t)cluster->board_count;
	board = cluster->boards;
	for (const struct tt_yaml *item = list ? list->first : NULL; item; item = item->next)
		TT_TRY(read_board(r, board++, item));
	return TTNN_OK;
}

/* ---- the whole ---------------------------------------------------------------------------- */

bool tt_descriptor_is(const struct tt_yaml_doc *doc)
{
	const struct tt_yaml *arch = tt_yaml_find(doc->root, "arch");

	return tt_yaml_find(doc->root, "harvesting") ||
	       tt_yaml_find(doc->root, "ethernet_connections") ||
	       tt_yaml_find(doc->root, "chips_with_mmio") ||
	       (arch && arch->kind == TT_YAML_MAP && arch->first && arch->first->key[0] >= '0' &&
		arch->first->key[0] <= '9');
}

static int by_id(const void *a, const void *b)
{
	const struct tt_cluster_chip *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

tt_status tt_cluster_check(const struct tt_cluster *cluster, const struct tt_yaml_doc *doc)
{
	for (size_t i = 1; i < cluster->chip_count; i++)
		if (cluster->chips[i].id <= cluster->chips[i - 1].id)
			return tt_yaml_fail(doc, doc->root, "chip %u is given twice or after %u",
					    cluster->chips[i].id, cluster->chips[i - 1].id);
	for (size_t i = 0; i < cluster->link_count; i++)
		if (cluster->links[i].chip[0] == cluster->links[i].chip[1])
			return tt_yaml_fail(doc, doc->root, "chip %u is linked to itself",
					    cluster->chips[cluster->links[i].chip[0]].id);
	return TTNN_OK;
}

tt_status tt_descriptor_read(struct tt_cluster *out, const struct tt_yaml_doc *doc,
			     struct tt_arena *arena)
{
	struct tt_cluster cluster = {0};
	struct reader r = {&cluster, doc, arena};
	const struct tt_yaml *root = doc->root;

	if (root->kind != TT_YAML_MAP)
		return tt_yaml_fail(doc, root, "a cluster descriptor is a map");
	TT_TRY(read_arch(&r, root));
	/* Links and boards name chips by index, so the order is final before they are read. */
	qsort(cluster.chips, cluster.chip_count, sizeof(*cluster.chips), by_id);
	TT_TRY(read_chip_maps(&r, root));
	TT_TRY(read_mmio(&r, root));
	TT_TRY(read_links(&r, root));
	TT_TRY(read_boards(&r, root));
	TT_TRY(tt_cluster_check(&cluster, doc));
	*out = cluster;
	return TTNN_OK;
}

/* ---- writing ----------------------------------------------------------------------------- */

/* The writers of one entry of a map of chips return false when the chip has none. */

static bool write_coord(struct tt_str *out, const struct tt_cluster_chip *chip)
{
	if (!chip->has_coord)
		return false;
	tt_str_addf(out, "  %u:\n", chip->id);
	for (int i = 0; i < 4; i++)
		tt_str_addf(out, "    - %u\n", chip->coord[i]);
	return true;
}

static bool write_unique(struct tt_str *out, const struct tt_cluster_chip *chip)
{
	uint64_t known = chip->unique_id ? chip->unique_id : (uint64_t)chip->id << 32;

	tt_str_addf(out, "  %u: %" PRIu64 "\n", chip->id, known);
	return true;
}

static bool write_harvest(struct tt_str *out, const struct tt_cluster_chip *chip)
{
	tt_str_addf(out,
		    "  %u:\n    noc_translation: %s\n    harvest_mask: %u\n"
		    "    dram_harvesting_mask: %u\n    eth_harvesting_mask: %u\n"
		    "    pcie_harvesting_mask: %u\n    l2cpu_harvesting_mask: %u\n",
		    chip->id, chip->noc_translation ? "true" : "false", chip->harvest,
		    chip->dram_harvest, chip->eth_harvest, chip->pcie_harvest, chip->l2cpu_harvest);
	return true;
}

static bool write_bus(struct tt_str *out, const struct tt_cluster_chip *chip)
{
	if (chip->has_bus)
		tt_str_addf(out, "  %u: \"0x%02x\"\n", chip->id, chip->bus);
	return chip->has_bus;
}

static bool write_location(struct tt_str *out, const struct tt_cluster_chip *chip)
{
	if (chip->has_location)
		tt_str_addf(out, "  %u: %u\n", chip->id, chip->location);
	return chip->has_location;
}

static bool write_bdf(struct tt_str *out, const struct tt_cluster_chip *chip)
{
	if (chip->bdf)
		tt_str_addf(out, "  %u: %s\n", chip->id, chip->bdf);
	return chip->bdf != NULL;
}

static bool write_pci(struct tt_str *out, const struct tt_cluster_chip *chip)
{
	if (chip->has_pci)
		tt_str_addf(out, "  - %u: %u\n", chip->id, chip->pci);
	return chip->has_pci;
}

static bool write_lanes(struct tt_str *out, const struct tt_cluster_chip *chip)
{
	if (chip->has_pci)
		tt_str_addf(out, "  %u: ~\n", chip->id);
	return chip->has_pci;
}

static void write_map(struct tt_str *out, const struct tt_cluster *cluster, const char *key,
		      bool (*write)(struct tt_str *, const struct tt_cluster_chip *))
{
	bool any = false;

	tt_str_addf(out, "%s:\n", key);
	for (size_t i = 0; i < cluster->chip_count; i++)
		any |= write(out, &cluster->chips[i]);
	if (!any)
		tt_str_adds(out, "  {}\n");
}

static void write_links(struct tt_str *out, const struct tt_cluster *cluster)
{
	tt_str_adds(out, "ethernet_connections:\n");
	for (size_t i = 0; i < cluster->link_count; i++) {
		const struct tt_cluster_link *link = &cluster->links[i];

		tt_str_adds(out, "  -\n");
		for (int end = 0; end < 2; end++)
			tt_str_addf(out, "    - chip: %u\n      chan: %u\n",
				    cluster->chips[link->chip[end]].id, link->channel[end]);
	}
	if (cluster->link_count == 0)
		tt_str_adds(out, "  []\n");
	tt_str_adds(out, "ethernet_connections_to_remote_devices:\n  []\n");
}

static void write_boards(struct tt_str *out, const struct tt_cluster *cluster)
{
	tt_str_adds(out, "boards:\n");
	for (size_t b = 0; b < cluster->board_count; b++) {
		tt_str_addf(out, "  -\n    - board_id: %" PRIu64 "\n    - board_type: %s\n",
			    cluster->boards[b].id, cluster->boards[b].type);
		tt_str_adds(out, "    - chips:\n");
		for (size_t i = 0; i < cluster->chip_count; i++)
			if (cluster->chips[i].board == b)
				tt_str_addf(out, "        - %u\n", cluster->chips[i].id);
	}
	if (cluster->board_count == 0)
		tt_str_adds(out, "  []\n");
}

void tt_descriptor_write(struct tt_str *out, const struct tt_cluster *cluster)
{
	tt_str_adds(out, "arch:\n");
	for (size_t i = 0; i < cluster->chip_count; i++)
		tt_str_addf(out, "  %u: %s\n", cluster->chips[i].id, cluster->arch);
	write_map(out, cluster, "chips", write_coord);
	write_map(out, cluster, "chip_unique_ids", write_unique);
	write_links(out, cluster);
	write_map(out, cluster, "chips_with_mmio", write_pci);
	tt_str_adds(out, "io_device_type: PCIe\n");
	write_map(out, cluster, "harvesting", write_harvest);
	write_map(out, cluster, "chip_to_bus_id", write_bus);
	write_boards(out, cluster);
	write_map(out, cluster, "asic_locations", write_location);
	write_map(out, cluster, "chip_pci_bdfs", write_bdf);
	write_map(out, cluster, "chip_pcie_lane_counts", write_lanes);
	/* Upstream's text ends without a newline. */
	if (!out->failed && out->length)
		out->data[--out->length] = '\0';
}
