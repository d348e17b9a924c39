#include "device/profile.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/env.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"

#define DEFAULT_PROFILE "n150"
#define ARCH_PREFIX "arch/"

struct reader {
	struct tt_profile *profile;
	const struct tt_yaml_doc *doc;
};

/* ---- built-in files ------------------------------------------------------------------------ */

static const struct tt_embedded *find_embedded(const char *prefix, const char *name)
{
	size_t length = strlen(prefix);

	for (const struct tt_embedded *file = tt_embedded_profiles; file->name; file++)
		if (strncmp(file->name, prefix, length) == 0 &&
		    strcmp(file->name + length, name) == 0)
			return file;
	return NULL;
}

const char *tt_profile_name(size_t i)
{
	for (const struct tt_embedded *file = tt_embedded_profiles; file->name; file++)
		if (!strchr(file->name, '/') && i-- == 0)
			return file->name;
	return NULL;
}

static tt_status copy_text(const char **out, struct tt_profile *profile, const char *text)
{
	*out = tt_arena_strdup(&profile->arena, text);
	return *out ? TTNN_OK : tt_fail_nomem();
}

/* The tables of an architecture that is part of the library; node is what named it. */
static tt_status read_builtin_arch(struct reader *r, const char *name, const struct tt_yaml *node)
{
	const struct tt_embedded *file = find_embedded(ARCH_PREFIX, name);
	struct tt_yaml_doc doc;
	tt_status status;

	if (!file)
		return tt_yaml_fail(r->doc, node, "the architecture \"%.80s\" is unknown", name);
	TT_TRY(tt_yaml_parse(&doc, (const char *)file->data, file->size, file->name));
	status = tt_arch_read(&r->profile->arch, &doc, doc.root, &r->profile->arena);
	tt_yaml_deinit(&doc);
	return status;
}

/* ---- the chips of a profile ------------------------------------------------------------------ */

static tt_status read_chip_key(struct reader *r, struct tt_cluster_chip *chip,
			       const struct tt_yaml *node)
{
	const struct {
		const char *key;
		uint32_t *to;
		bool *has;
	} numbers[] = {
		{"id", &chip->id, NULL},
		{"harvest", &chip->harvest, NULL},
		{"dram_harvest", &chip->dram_harvest, NULL},
		{"eth_harvest", &chip->eth_harvest, NULL},
		{"pcie_harvest", &chip->pcie_harvest, NULL},
		{"l2cpu_harvest", &chip->l2cpu_harvest, NULL},
		{"pci", &chip->pci, &chip->has_pci},
		{"bus", &chip->bus, &chip->has_bus},
		{"location", &chip->location, &chip->has_location},
	};
	const char *text;

	for (size_t i = 0; i < TT_COUNT(numbers); i++)
		if (strcmp(node->key, numbers[i].key) == 0) {
			if (numbers[i].has)
				*numbers[i].has = true;
			return tt_yaml_u32(numbers[i].to, r->doc, node, node->key);
		}
	if (strcmp(node->key, "coord") == 0) {
		chip->has_coord = true;
		return tt_yaml_u32s(chip->coord, 4, r->doc, node, node->key);
	}
	if (strcmp(node->key, "unique_id") == 0)
		return tt_yaml_uint(&chip->unique_id, r->doc, node, node->key, UINT64_MAX);
	if (strcmp(node->key, "noc_translation") == 0)
		return tt_yaml_bool(&chip->noc_translation, r->doc, node, node->key);
	if (strcmp(node->key, "bdf") == 0) {
		TT_TRY(tt_yaml_text(&text, r->doc, node, node->key));
		return copy_text(&chip->bdf, r->profile, text);
	}
	return tt_yaml_fail(r->doc, node, "a chip has no \"%.80s\"", node->key);
}

static tt_status read_chips(struct reader *r, const struct tt_yaml *list)
{
	struct tt_cluster *cluster = &r->profile->cluster;

	TT_TRY(tt_yaml_expect(r->doc, list, "\"chips\"", TT_YAML_LIST));
	if (list->count == 0 || list->count > TT_CLUSTER_CHIPS)
		return tt_yaml_fail(r->doc, list, "\"chips\" are %zu; 1 to %d are possible",
				    list->count, TT_CLUSTER_CHIPS);
	cluster->chips = tt_arena_calloc(&r->profile->arena, list->count, sizeof(*cluster->chips));
	if (!cluster->chips)
		return tt_fail_nomem();
	for (const struct tt_yaml *item = list->first; item; item = item->next) {
		struct tt_cluster_chip *chip = &cluster->chips[cluster->chip_count];

		TT_TRY(tt_yaml_expect(r->doc, item, "a chip", TT_YAML_MAP));
		chip->id = (uint32_t)cluster->chip_count;
		chip->noc_translation = true;
		for (const struct tt_yaml *key = item->first; key; key = key->next)
			TT_TRY(read_chip_key(r, chip, key));
		cluster->chip_count++;
	}
	return TTNN_OK;
}

/* The index of the chip whose id a number of the file is. */
static tt_status read_chip_id(uint32_t *out, struct reader *r, const struct tt_yaml *node)
{
	uint32_t id;
	size_t index;

	TT_TRY(tt_yaml_u32(&id, r->doc, node, "a chip's id"));
	index = tt_cluster_find(&r->profile->cluster, id);
	if (index == r->profile->cluster.chip_count)
		return tt_yaml_fail(r->doc, node, "there is no chip %" PRIu32, id);
	*out = (uint32_t)index;
	return TTNN_OK;
}

static tt_status read_board(struct reader *r, struct tt_cluster_board *board,
			    const struct tt_yaml *node)
{
	struct tt_cluster *cluster = &r->profile->cluster;
	const struct tt_yaml *value;
	const char *text;
	uint32_t chip;

	TT_TRY(tt_yaml_expect(r->doc, node, "a board", TT_YAML_MAP));
	for (value = node->first; value; value = value->next)
		if (strcmp(value->key, "type") != 0 && strcmp(value->key, "id") != 0 &&
		    strcmp(value->key, "chips") != 0)
			return tt_yaml_fail(r->doc, value, "a board has no \"%.80s\"", value->key);
	TT_TRY(tt_yaml_need(&value, r->doc, node, "type"));
	TT_TRY(tt_yaml_text(&text, r->doc, value, "a board's type"));
	TT_TRY(copy_text(&board->type, r->profile, text));
	value = tt_yaml_find(node, "id");
	if (value)
		TT_TRY(tt_yaml_uint(&board->id, r->doc, value, "a board's id", UINT64_MAX));
	TT_TRY(tt_yaml_need(&value, r->doc, node, "chips"));
	TT_TRY(tt_yaml_expect(r->doc, value, "the chips of a board", TT_YAML_LIST));
	for (const struct tt_yaml *item = value->first; item; item = item->next) {
		TT_TRY(read_chip_id(&chip, r, item));
		if (cluster->chips[chip].board != cluster->board_count)
			return tt_yaml_fail(r->doc, item, "chip %" PRIu32 " is on two boards",
					    cluster->chips[chip].id);
		cluster->chips[chip].board = (uint32_t)(board - cluster->boards);
	}
	return TTNN_OK;
}

static tt_status read_boards(struct reader *r, const struct tt_yaml *list)
{
	struct tt_cluster *cluster = &r->profile->cluster;
	struct tt_cluster_board *board;

	if (list)
		TT_TRY(tt_yaml_expect(r->doc, list, "\"boards\"", TT_YAML_LIST));
	cluster->board_count = list ? list->count : 0;
	board = tt_arena_calloc(&r->profile->arena, cluster->board_count, sizeof(*board));
	if (!board)
		return tt_fail_nomem();
	cluster->boards = board;
	for (size_t i = 0; i < cluster->chip_count; i++)
		cluster->chips[i].board = (uint32_t)cluster->board_count;
	for (const struct tt_yaml *item = list ? list->first : NULL; item; item = item->next)
		TT_TRY(read_board(r, board++, item));
	return TTNN_OK;
}

/* [chip, channel, chip, channel] each. */
static tt_status read_links(struct reader *r, const struct tt_yaml *list)
{
	struct tt_cluster *cluster = &r->profile->cluster;
	uint32_t number[4];

	if (!list)
		return TTNN_OK;
	TT_TRY(tt_yaml_expect(r->doc, list, "\"links\"", TT_YAML_LIST));
	cluster->links = tt_arena_calloc(&r->profile->arena, list->count, sizeof(*cluster->links));
	if (!cluster->links)
		return tt_fail_nomem();
	for (const struct tt_yaml *item = list->first; item; item = item->next) {
		struct tt_cluster_link *link = &cluster->links[cluster->link_count++];

		TT_TRY(tt_yaml_u32s(number, 4, r->doc, item, "a link"));
		TT_TRY(read_chip_id(&link->chip[0], r, item->first));
		TT_TRY(read_chip_id(&link->chip[1], r, item->first->next->next));
		link->channel[0] = number[1];
		link->channel[1] = number[3];
		if (number[1] >= TT_CLUSTER_CHANNELS || number[3] >= TT_CLUSTER_CHANNELS)
			return tt_yaml_fail(r->doc, item, "channels are 0 to %d",
					    TT_CLUSTER_CHANNELS - 1);
	}
	return TTNN_OK;
}

/* ---- what follows from the chips ------------------------------------------------------------- */

static uint32_t count_bits(uint32_t mask)
{
	return (uint32_t)__builtin_popcount(mask);
}

static uint32_t banks_left(const struct tt_arch *arch, uint32_t harvest)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < arch->dram_bank_count; i++)
		count += !(harvest >> arch->dram_banks[i].channel & 1);
	return count;
}

/* "two" where upstream says so. */
static const char *number_word(uint32_t n)
{
	static const char *const words[] = {"no", "one", "two", "three", "four"};

	return n < TT_COUNT(words) ? words[n] : "so many";
}

static tt_status settle_harvest(struct reader *r, const struct tt_yaml *node)
{
	struct tt_profile *p = r->profile;
	const struct tt_cluster_chip *chips = p->cluster.chips;
	uint32_t lines = p->arch.harvests_columns ? p->arch.full.x : p->arch.full.y;

	p->harvested = count_bits(chips[0].harvest);
	p->dram_banks = banks_left(&p->arch, chips[0].dram_harvest);
	for (size_t i = 0; i < p->cluster.chip_count; i++) {
		if (lines < 32 && chips[i].harvest >> lines)
			return tt_yaml_fail(r->doc, node,
					    "chip %" PRIu32 ": harvest mask %" PRIu32
					    " names more than the %" PRIu32 " %s there are",
					    chips[i].id, chips[i].harvest, lines,
					    p->arch.harvests_columns ? "columns" : "rows");
		if (count_bits(chips[i].harvest) != p->harvested)
			return tt_yaml_fail(r->doc, node,
					    "Number of harvested Tensix mismatch across devices");
		if (banks_left(&p->arch, chips[i].dram_harvest) != p->dram_banks)
			return tt_yaml_fail(r->doc, node,
					    "Number of harvested Dram mismatch across devices");
	}
	if (p->harvested >= p->arch.product_count)
		return tt_yaml_fail(r->doc, node,
				    "At most %s rows or cols can be harvested, but detected "
				    "%" PRIu32 " along harvested axis",
				    number_word(p->arch.product_count - 1), p->harvested);
	if (p->dram_banks == 0)
		return tt_yaml_fail(r->doc, node, "all DRAM channels are harvested");
	p->logical = p->arch.full;
	*(p->arch.harvests_columns ? &p->logical.x : &p->logical.y) -= p->harvested;
	return TTNN_OK;
}

static tt_status settle_dispatch(struct reader *r, const struct tt_yaml *node)
{
	struct tt_profile *p = r->profile;
	const struct tt_grid *grid;

	p->dispatch = p->type->ethernet_dispatch ? TT_DISPATCH_ETHERNET : p->arch.dispatch;
	if (node)
		TT_TRY(tt_dispatch_read(&p->dispatch, r->doc, node));
	grid = &p->arch.products[p->harvested].compute[p->dispatch];
	if (grid->x == 0)
		return tt_yaml_fail(r->doc, node, "%s (%s) has no grid for %s dispatch",
				    p->arch.name, p->arch.products[p->harvested].name,
				    tt_dispatch_name(p->dispatch));
	return TTNN_OK;
}

/* The mesh as the file gives it; what it leaves out follows from the links. */
static tt_status settle_mesh(struct reader *r, const struct tt_yaml *mesh,
			     const struct tt_yaml *order)
{
	struct tt_profile *p = r->profile;
	size_t chips = p->cluster.chip_count, place = 0;
	uint32_t shape[2];

	p->order = tt_arena_calloc(&p->arena, chips, sizeof(*p->order));
	if (!p->order)
		return tt_fail_nomem();
	if (!mesh && !order)
		return tt_wiring_mesh(&p->rows, &p->cols, p->order, &p->cluster);
	if (!mesh || !order)
		return tt_yaml_fail(r->doc, mesh ? mesh : order,
				    "\"mesh\" and \"order\" are given together or not at all");
	TT_TRY(tt_yaml_u32s(shape, 2, r->doc, mesh, "\"mesh\""));
	if (shape[0] == 0 || shape[1] == 0 || shape[0] > chips || shape[1] > chips / shape[0])
		return tt_yaml_fail(r->doc, mesh,
				    "a mesh of %" PRIu32 " x %" PRIu32 " is not possible with %zu "
				    "chips",
				    shape[0], shape[1], chips);
	TT_TRY(tt_yaml_expect(r->doc, order, "\"order\"", TT_YAML_LIST));
	p->rows = shape[0];
	p->cols = shape[1];
	if (order->count != (size_t)p->rows * p->cols)
		return tt_yaml_fail(r->doc, order, "\"order\" has %zu chips, not %zu", order->count,
				    (size_t)p->rows * p->cols);
	for (const struct tt_yaml *item = order->first; item; item = item->next, place++) {
		TT_TRY(read_chip_id(&p->order[place], r, item));
		for (size_t i = 0; i < place; i++)
			if (p->order[i] == p->order[place])
				return tt_yaml_fail(r->doc, item, "chip %.20s is given twice",
						    item->text);
	}
	return TTNN_OK;
}

static tt_status settle_type(struct reader *r, const struct tt_yaml *node)
{
	const char *text;

	if (!node)
		return tt_wiring_type(&r->profile->type, &r->profile->cluster);
	TT_TRY(tt_yaml_text(&text, r->doc, node, "\"cluster\""));
	r->profile->type = tt_cluster_type_find(text);
	if (!r->profile->type)
		return tt_yaml_fail(r->doc, node, "the cluster type \"%.80s\" is unknown", text);
	return TTNN_OK;
}

/* "Wormhole" of "wormhole_b0" */
static tt_status name_board_type(struct tt_profile *profile)
{
	const char *arch = profile->arch.name;
	char *name = tt_arena_strndup(&profile->arena, arch, strcspn(arch, "_"));

	if (!name)
		return tt_fail_nomem();
	*name = (char)toupper((unsigned char)*name);
	profile->board_type = name;
	return TTNN_OK;
}

/* What a record of this machine says of it; boards tell what the profile does not. */
static tt_status settle_machine(struct reader *r, const struct tt_yaml *cards)
{
	struct tt_profile *profile = r->profile;
	const struct tt_cluster *cluster = &profile->cluster;

	profile->card_count = cluster->board_count ? (uint32_t)cluster->board_count : 1;
	if (cards)
		TT_TRY(tt_yaml_u32(&profile->card_count, r->doc, cards, "\"card_count\""));
	if (!profile->device_series)
		profile->device_series = cluster->board_count && cluster->boards[0].type
						 ? cluster->boards[0].type
						 : "";
	return profile->board_type ? TTNN_OK : name_board_type(profile);
}

static tt_status settle_memory_map(struct reader *r, const struct tt_yaml *node)
{
	const char *text;

	if (!node)
		return TTNN_OK;
	TT_TRY(tt_yaml_text(&text, r->doc, node, "\"memory_map\""));
	if (!tt_arch_map_find(&r->profile->arch, text))
		return tt_yaml_fail(r->doc, node, "%s has no memory map \"%.80s\"",
				    r->profile->arch.name, text);
	return copy_text(&r->profile->memory_map, r->profile, text);
}

/* "n150" of "profiles/n150.json" */
static tt_status name_after_file(struct tt_profile *profile, const char *path)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	const char *dot = strrchr(base, '.');

	profile->name = tt_arena_strndup(&profile->arena, base,
					 dot && dot > base ? (size_t)(dot - base) : strlen(base));
	return profile->name ? TTNN_OK : tt_fail_nomem();
}

/* ---- reading ------------------------------------------------------------------------------- */

static const char *const keys[] = {"name",  "title",      "arch",          "cluster",   "mesh",
				   "order", "dispatch",   "memory_map",    "boards",    "chips",
				   "links", "board_type", "device_series", "card_count"};

static tt_status check_keys(struct reader *r)
{
	for (const struct tt_yaml *item = r->doc->root->first; item; item = item->next) {
		size_t i = 0;

		while (i < TT_COUNT(keys) && strcmp(keys[i], item->key) != 0)
			i++;
		if (i == TT_COUNT(keys))
			return tt_yaml_fail(r->doc, item, "a profile has no \"%.80s\"", item->key);
	}
	return TTNN_OK;
}

static tt_status read_texts(struct reader *r)
{
	const struct {
		const char *key, **to;
	} texts[] = {{"name", &r->profile->name},
		     {"title", &r->profile->title},
		     {"board_type", &r->profile->board_type},
		     {"device_series", &r->profile->device_series}};

	for (size_t i = 0; i < TT_COUNT(texts); i++) {
		const struct tt_yaml *node = tt_yaml_find(r->doc->root, texts[i].key);
		const char *text;

		if (!node)
			continue;
		TT_TRY(tt_yaml_text(&text, r->doc, node, texts[i].key));
		if (texts[i].to == &r->profile->name && !*text)
			return tt_yaml_fail(r->doc, node, "the name of a profile is not empty");
		TT_TRY(copy_text(texts[i].to, r->profile, text));
	}
	return TTNN_OK;
}

static tt_status read_arch(struct reader *r, const struct tt_yaml *root)
{
	const struct tt_yaml *node;
	const char *name;

	TT_TRY(tt_yaml_need(&node, r->doc, root, "arch"));
	if (node->kind == TT_YAML_MAP) {
		TT_TRY(tt_arch_read(&r->profile->arch, r->doc, node, &r->profile->arena));
	} else {
		TT_TRY(tt_yaml_text(&name, r->doc, node, "\"arch\""));
		TT_TRY(read_builtin_arch(r, name, node));
	}
	r->profile->cluster.arch = r->profile->arch.name;
	return TTNN_OK;
}

static tt_status read_profile(struct reader *r)
{
	const struct tt_yaml *root = r->doc->root, *chips;

	if (root->kind != TT_YAML_MAP)
		return tt_yaml_fail(r->doc, root, "a profile is a map");
	TT_TRY(check_keys(r));
	TT_TRY(read_texts(r));
	TT_TRY(read_arch(r, root));
	TT_TRY(tt_yaml_need(&chips, r->doc, root, "chips"));
	TT_TRY(read_chips(r, chips));
	TT_TRY(read_boards(r, tt_yaml_find(root, "boards")));
	TT_TRY(read_links(r, tt_yaml_find(root, "links")));
	TT_TRY(tt_cluster_check(&r->profile->cluster, r->doc));
	TT_TRY(settle_harvest(r, chips));
	TT_TRY(settle_type(r, tt_yaml_find(root, "cluster")));
	TT_TRY(settle_mesh(r, tt_yaml_find(root, "mesh"), tt_yaml_find(root, "order")));
	TT_TRY(settle_machine(r, tt_yaml_find(root, "card_count")));
	TT_TRY(settle_memory_map(r, tt_yaml_find(root, "memory_map")));
	return settle_dispatch(r, tt_yaml_find(root, "dispatch"));
}

static tt_status read_descriptor(struct reader *r)
{
	struct tt_profile *p = r->profile;

	TT_TRY(tt_descriptor_read(&p->cluster, r->doc, &p->arena));
	TT_TRY(read_builtin_arch(r, p->cluster.arch, tt_yaml_find(r->doc->root, "arch")));
	p->cluster.arch = p->arch.name;
	TT_TRY(settle_harvest(r, tt_yaml_find(r->doc->root, "harvesting")));
	TT_TRY(settle_type(r, NULL));
	TT_TRY(settle_mesh(r, NULL, NULL));
	TT_TRY(settle_machine(r, NULL));
	return settle_dispatch(r, NULL);
}

tt_status tt_profile_parse(struct tt_profile **out, const char *text, size_t length,
			   const char *name)
{
	struct tt_profile *profile;
	struct tt_yaml_doc doc;
	struct reader r;
	tt_status status;

	TT_TRY(tt_yaml_parse(&doc, text, length, name));
	profile = tt_calloc(1, sizeof(*profile));
	if (!profile) {
		tt_yaml_deinit(&doc);
		return tt_fail_nomem();
	}
	atomic_init(&profile->references, 1);
	profile->title = "";
	r = (struct reader){profile, &doc};
	status = name_after_file(profile, name);
	if (status == TTNN_OK)
		status = tt_descriptor_is(&doc) ? read_descriptor(&r) : read_profile(&r);
	tt_yaml_deinit(&doc);
	if (status == TTNN_OK)
		*out = profile;
	else
		tt_profile_unref(profile);
	return status;
}

static bool is_path(const char *name)
{
	const char *dot = strrchr(name, '.');

	return strchr(name, '/') ||
	       (dot && (strcmp(dot, ".json") == 0 || strcmp(dot, ".yaml") == 0 ||
			strcmp(dot, ".yml") == 0));
}

static tt_status fail_unknown(const char *name)
{
	struct tt_str list = {0};
	tt_status status;

	for (size_t i = 0; tt_profile_name(i); i++)
		tt_str_addf(&list, "%s%s", i ? ", " : "", tt_profile_name(i));
	status = tt_str_status(&list);
	if (status == TTNN_OK)
		status = tt_fail(TTNN_NOTFOUND,
				 "no device is called \"%s\"; there are %s, and any profile or "
				 "cluster descriptor by its path",
				 name, tt_str_text(&list));
	tt_str_deinit(&list);
	return status;
}

tt_status tt_profile_open(struct tt_profile **out, const char *name)
{
	const struct tt_embedded *file;
	tt_status status;
	char *text;
	size_t size;

	if (!name)
		name = tt_env("TTNN_DEVICE");
	if (!name || !*name)
		name = DEFAULT_PROFILE;
	if (!is_path(name)) {
		file = strchr(name, '/') ? NULL : find_embedded("", name);
		return file ? tt_profile_parse(out, (const char *)file->data, file->size,
					       file->name)
			    : fail_unknown(name);
	}
	TT_TRY(tt_file_read(&text, &size, name));
	status = tt_profile_parse(out, text, size, name);
	tt_free(text);
	return status;
}

struct tt_profile *tt_profile_ref(struct tt_profile *profile)
{
	atomic_fetch_add_explicit(&profile->references, 1, memory_order_relaxed);
	return profile;
}

void tt_profile_unref(struct tt_profile *profile)
{
	if (!profile ||
	    atomic_fetch_sub_explicit(&profile->references, 1, memory_order_acq_rel) != 1)
		return;
	tt_arena_deinit(&profile->arena);
	tt_free(profile);
}
