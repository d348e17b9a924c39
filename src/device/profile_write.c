/* The way back from a profile to its file, in the layout of the files of data/profiles. */
#include <inttypes.h>

#include "base/jsonw.h"
#include "device/profile.h"

static void add_string(struct tt_str *out, const char *text)
{
	struct tt_jsonw w;

	tt_jsonw_init_str(&w, out, (struct tt_jsonw_style){.utf8 = true});
	tt_jsonw_string(&w, text);
	if (tt_jsonw_finish(&w) != TTNN_OK)
		out->failed = true;
}

static void add_pair(struct tt_str *out, const char *key, const char *text)
{
	tt_str_addf(out, "\t\"%s\": ", key);
	add_string(out, text);
	tt_str_adds(out, ",\n");
}

static void write_boards(struct tt_str *out, const struct tt_cluster *cluster)
{
	if (cluster->board_count == 0)
		return;
	tt_str_adds(out, "\t\"boards\": [");
	for (size_t b = 0; b < cluster->board_count; b++) {
		const char *comma = "";

		tt_str_addf(out, "%s\n\t\t{\"type\": ", b ? "," : "");
		add_string(out, cluster->boards[b].type);
		tt_str_addf(out, ", \"id\": %" PRIu64 ", \"chips\": [", cluster->boards[b].id);
		for (size_t i = 0; i < cluster->chip_count; i++)
			if (cluster->chips[i].board == b) {
				tt_str_addf(out, "%s%" PRIu32, comma, cluster->chips[i].id);
				comma = ", ";
			}
		tt_str_adds(out, "]}");
	}
	tt_str_adds(out, "\n\t],\n");
}

/* What is 0 or not known is left out. */
static void write_chip(struct tt_str *out, const struct tt_cluster_chip *chip)
{
	const struct {
		const char *key;
		uint32_t number;
		bool known;
	} numbers[] = {
		{"dram_harvest", chip->dram_harvest, chip->dram_harvest},
		{"eth_harvest", chip->eth_harvest, chip->eth_harvest},
		{"pcie_harvest", chip->pcie_harvest, chip->pcie_harvest},
		{"l2cpu_harvest", chip->l2cpu_harvest, chip->l2cpu_harvest},
		{"pci", chip->pci, chip->has_pci},
		{"bus", chip->bus, chip->has_bus},
		{"location", chip->location, chip->has_location},
	};

	tt_str_addf(out, "{\"id\": %" PRIu32 ", \"harvest\": %" PRIu32, chip->id, chip->harvest);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i].known)
			tt_str_addf(out, ", \"%s\": %" PRIu32, numbers[i].key, numbers[i].number);
	if (chip->has_coord)
		tt_str_addf(out,
			    ", \"coord\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 "]",
			    chip->coord[0], chip->coord[1], chip->coord[2], chip->coord[3]);
	if (chip->unique_id)
		tt_str_addf(out, ", \"unique_id\": %" PRIu64, chip->unique_id);
	if (!chip->noc_translation)
		tt_str_adds(out, ", \"noc_translation\": false");
	if (chip->bdf) {
		tt_str_adds(out, ", \"bdf\": ");
		add_string(out, chip->bdf);
	}
	tt_str_addc(out, '}');
}

static void write_chips(struct tt_str *out, const struct tt_cluster *cluster)
{
	tt_str_adds(out, "\t\"chips\": [");
	for (size_t i = 0; i < cluster->chip_count; i++) {
		tt_str_addf(out, "%s\n\t\t", i ? "," : "");
		write_chip(out, &cluster->chips[i]);
	}
	tt_str_adds(out, "\n\t]");
}

static void write_links(struct tt_str *out, const struct tt_cluster *cluster)
{
	if (cluster->link_count == 0)
		return;
	tt_str_adds(out, ",\n\t\"links\": [");
	for (size_t i = 0; i < cluster->link_count; i++) {
		const struct tt_cluster_link *link = &cluster->links[i];

		tt_str_addf(out, "%s%s[%" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 "]",
			    i ? "," : "", i % 6 ? " " : "\n\t\t", cluster->chips[link->chip[0]].id,
			    link->channel[0], cluster->chips[link->chip[1]].id, link->channel[1]);
	}
	tt_str_adds(out, "\n\t]");
}

void tt_profile_write(struct tt_str *out, const struct tt_profile *profile)
{
	tt_str_adds(out, "{\n");
	add_pair(out, "name", profile->name);
	if (*profile->title)
		add_pair(out, "title", profile->title);
	add_pair(out, "arch", profile->arch.name);
	add_pair(out, "cluster", profile->type->name);
	add_pair(out, "board_type", profile->board_type);
	if (*profile->device_series)
		add_pair(out, "device_series", profile->device_series);
	tt_str_addf(out, "\t\"card_count\": %" PRIu32 ",\n", profile->card_count);
	tt_str_addf(out, "\t\"mesh\": [%" PRIu32 ", %" PRIu32 "],\n\t\"order\": [", profile->rows,
		    profile->cols);
	for (uint32_t i = 0; i < profile->rows * profile->cols; i++)
		tt_str_addf(out, "%s%" PRIu32, i ? ", " : "",
			    profile->cluster.chips[profile->order[i]].id);
	tt_str_adds(out, "],\n");
	add_pair(out, "dispatch", tt_dispatch_name(profile->dispatch));
	if (profile->memory_map)
		add_pair(out, "memory_map", profile->memory_map);
	write_boards(out, &profile->cluster);
	write_chips(out, &profile->cluster);
	write_links(out, &profile->cluster);
	tt_str_adds(out, "\n}\n");
}
