#include "device/wiring.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/vec.h"

/* Steps after which the search for a layout gives up: no real wiring needs nearly as many. */
#define MAX_STEPS 20000000

/* ---- products ---------------------------------------------------------------------------- */

static const struct tt_cluster_type types[] = {
	/* clang-format off */
	{"INVALID", 0, false},         {"N150", 1, false},      {"N300", 2, true},
	{"T3K", 3, true},              {"GALAXY", 4, false},    {"TG", 5, false},
	{"P100", 6, false},            {"P150", 7, false},      {"P150_X2", 8, false},
	{"P150_X4", 9, false},         {"SIMULATOR_WH", 10, false},
	{"SIMULATOR_BH", 11, false},   {"N300_2x2", 12, true},  {"P150_X8", 13, false},
	{"P300", 14, false},           {"SIMULATOR_QUASAR", 15, false},
	{"BLACKHOLE_GALAXY", 16, false}, {"P300_X2", 17, false}, {"CUSTOM", 18, false},
	/* clang-format on */
};

/*
 * Which boards make which product: the first row that fits. chips 0 is any number; rows × cols
 * is a mesh that the links must form, 0 × 0 any.
 */
static const struct product {
	const char *board;
	uint32_t chips, rows, cols;
	const char *type;
} products[] = {
	/* clang-format off */
	{"n150", 0, 0, 0, "N150"},
	{"n300", 8, 2, 4, "T3K"},
	{"n300", 4, 2, 2, "N300_2x2"},
	{"n300", 0, 0, 0, "N300"},
	{"p100", 1, 0, 0, "P100"},
	{"p150", 1, 0, 0, "P150"},
	{"p150", 2, 0, 0, "P150_X2"},
	{"p150", 4, 0, 0, "P150_X4"},
	{"p150", 8, 0, 0, "P150_X8"},
	{"p300", 2, 0, 0, "P300"},
	{"p300", 4, 0, 0, "P300_X2"},
	{"ubb", 0, 0, 0, "GALAXY"},
	{"ubb_blackhole", 0, 0, 0, "BLACKHOLE_GALAXY"},
	{"p100", 0, 0, 0, "CUSTOM"},
	{"p150", 0, 0, 0, "CUSTOM"},
	{"p300", 0, 0, 0, "CUSTOM"},
	/* clang-format on */
};

/* Other names of the same boards. */
static const struct {
	const char *name, *board;
} board_names[] = {
	{"p150a", "p150"},
	{"p150c", "p150"},
	{"p300a", "p300"},
	{"ubb_wormhole", "ubb"},
};

const struct tt_cluster_type *tt_cluster_type_find(const char *name)
{
	for (size_t i = 0; i < TT_COUNT(types); i++)
		if (strcasecmp(types[i].name, name) == 0)
			return &types[i];
	return NULL;
}

static const char *board_type(const char *name)
{
	for (size_t i = 0; i < TT_COUNT(board_names); i++)
		if (strcasecmp(board_names[i].name, name) == 0)
			return board_names[i].board;
	return name;
}

/* The one type of all boards, or NULL. */
static const char *common_board(const struct tt_cluster *cluster)
{
	const char *type = cluster->board_count ? board_type(cluster->boards[0].type) : NULL;

	for (size_t i = 1; i < cluster->board_count; i++)
		if (strcasecmp(board_type(cluster->boards[i].type), type) != 0)
			return NULL;
	return type;
}

/* ---- places ------------------------------------------------------------------------------ */

/* Where in the machine a chip sits; chips are tried in this order. */
struct place {
	uint32_t tray, location, chip;
};

/* Trays of known machines' PCI buses; on any other bus the number of the bus is the tray. */
static const struct {
	uint32_t bus, tray;
} bus_trays[] = {
	{0x21, 1}, {0xb1, 1}, {0x01, 2}, {0xca, 2}, {0x31, 3}, {0x43, 3},
	{0x42, 4}, {0x4b, 4}, {0x61, 4}, {0xa1, 5}, {0x81, 6}, {0xe1, 8},
};

/* The trays of a galaxy by the upper half of the bus number; the lower half is the location. */
static const struct {
	const char *board;
	uint8_t bus_of_tray[4];
} galaxies[] = {
	{"ubb", {0xc0, 0x80, 0x00, 0x40}},
	{"ubb_blackhole", {0x00, 0x40, 0xc0, 0x80}},
};

static uint32_t tray_of_bus(uint32_t bus, const char *board, uint32_t *location)
{
	for (size_t i = 0; board && i < TT_COUNT(galaxies); i++)
		for (uint32_t tray = 0; tray < 4 && strcasecmp(galaxies[i].board, board) == 0;
		     tray++)
			if ((bus & 0xf0) == galaxies[i].bus_of_tray[tray]) {
				*location = bus & 0x0f;
				return tray + 1;
			}
	for (size_t i = 0; i < TT_COUNT(bus_trays); i++)
		if (bus_trays[i].bus == bus)
			return bus_trays[i].tray;
	return bus;
}

static struct place place_of(const struct tt_cluster *cluster, uint32_t index, const char *board)
{
	const struct tt_cluster_chip *chip = &cluster->chips[index];
	struct place place = {0, chip->location, index};

	if (!chip->has_location)
		place.location = chip->has_pci ? 0 : 1;
	if (chip->has_bus)
		place.tray = tray_of_bus(chip->bus, board, &place.location);
	else if (chip->board < cluster->board_count)
		place.tray = cluster->boards[chip->board].id & 0xffff;
	return place;
}

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->tray != y->tray)
		return x->tray < y->tray ? -1 : 1;
	if (x->location != y->location)
		return x->location < y->location ? -1 : 1;
	return x->chip < y->chip ? -1 : x->chip > y->chip;
}

/* ---- laying out -------------------------------------------------------------------------- */

struct layout {
	size_t chips;
	bool *linked;         /* chips × chips, by rank in `places` */
	struct place *places; /* sorted */
	bool *used;           /* by rank */
	uint32_t *at;         /* rank at each place of the mesh */
	uint32_t rows, cols;
	uint32_t steps;
};

static void free_layout(struct layout *l)
{
	tt_free(l->linked);
	tt_free(l->places);
	tt_free(l->used);
	tt_free(l->at);
}

/* Inside a Blackhole galaxy channels 8 and 9 join the trays across; no mesh uses them. */
static bool counts(const struct tt_cluster_link *link, const char *board)
{
	bool galaxy = board && strcasecmp(board, "ubb_blackhole") == 0;

	return !galaxy || (link->channel[0] != 8 && link->channel[0] != 9);
}

static tt_status init_layout(struct layout *l, const struct tt_cluster *cluster)
{
	const char *board = common_board(cluster);
	size_t n = cluster->chip_count;
	uint32_t *rank = tt_calloc(n, sizeof(*rank));

	*l = (struct layout){.chips = n};
	l->linked = tt_calloc(n * n, sizeof(*l->linked));
	l->places = tt_calloc(n, sizeof(*l->places));
	l->used = tt_calloc(n, sizeof(*l->used));
	l->at = tt_calloc(n, sizeof(*l->at));
	if (!rank || !l->linked || !l->places || !l->used || !l->at) {
		tt_free(rank);
		free_layout(l);
		return tt_fail_nomem();
	}
	for (uint32_t i = 0; i < n; i++)
		l->places[i] = place_of(cluster, i, board);
	qsort(l->places, n, sizeof(*l->places), by_place);
	for (uint32_t i = 0; i < n; i++)
		rank[l->places[i].chip] = i;
	for (size_t i = 0; i < cluster->link_count; i++) {
		uint32_t a = rank[cluster->links[i].chip[0]], b = rank[cluster->links[i].chip[1]];

		if (counts(&cluster->links[i], board))
			l->linked[a * n + b] = l->linked[b * n + a] = true;
	}
	tt_free(rank);
	return TTNN_OK;
}

/* Fills the places from `place` on, row by row; the first way found is the smallest. */
static bool fill(struct layout *l, uint32_t place)
{
	if (place == l->rows * l->cols)
		return true;
	for (uint32_t i = 0; i < l->chips; i++) {
		const bool *linked = &l->linked[i * l->chips];

		if (l->used[i] || l->steps++ > MAX_STEPS)
			continue;
		if (place % l->cols && !linked[l->at[place - 1]])
			continue;
		if (place >= l->cols && !linked[l->at[place - l->cols]])
			continue;
		l->used[i] = true;
		l->at[place] = i;
		if (fill(l, place + 1))
			return true;
		l->used[i] = false;
	}
	return false;
}

static bool try_shape(struct layout *l, uint32_t rows, uint32_t cols)
{
	l->rows = rows;
	l->cols = cols;
	memset(l->used, 0, l->chips * sizeof(*l->used));
	return fill(l, 0);
}

static bool try_product(struct layout *l, const struct product *product)
{
	return product->rows == 0 || try_shape(l, product->rows, product->cols);
}

tt_status tt_wiring_type(const struct tt_cluster_type **out, const struct tt_cluster *cluster)
{
	const char *board = common_board(cluster), *found = "INVALID";
	struct layout l;

	TT_TRY(init_layout(&l, cluster));
	for (size_t i = 0; board && i < TT_COUNT(products); i++)
		if (strcasecmp(products[i].board, board) == 0 &&
		    (products[i].chips == 0 || products[i].chips == cluster->chip_count) &&
		    try_product(&l, &products[i])) {
			found = products[i].type;
			break;
		}
	free_layout(&l);
	*out = tt_cluster_type_find(found);
	return TTNN_OK;
}

static bool is_odd(uint32_t extent)
{
	return extent > 1 && extent % 2;
}

/* The best mesh of exactly `chips` chips of the wanted kind, flat (one dimension) or not. */
static bool try_count(struct layout *l, uint32_t chips, bool flat)
{
	uint32_t side = 1;

	while ((side + 1) * (side + 1) <= chips)
		side++;
	for (uint32_t small = side; small > 0; small--) {
		uint32_t large = chips / small;

		if (chips % small || is_odd(large) || is_odd(small) || (small == 1) != flat)
			continue;
		/* Eight chips lie down, all other meshes stand. */
		if (small == 2 && large == 4 ? try_shape(l, 2, 4) : try_shape(l, large, small))
			return true;
	}
	return false;
}

tt_status tt_wiring_mesh(uint32_t *rows, uint32_t *cols, uint32_t *order,
			 const struct tt_cluster *cluster)
{
	struct layout l;
	bool found = false;

	TT_TRY(init_layout(&l, cluster));
	for (int flat = 0; flat < 2 && !found; flat++)
		for (uint32_t n = (uint32_t)cluster->chip_count; n > 0 && !found; n--)
			found = try_count(&l, n, flat);
	/* One chip alone fits always; that was tried last, also when the steps were used up. */
	for (uint32_t i = 0; i < l.rows * l.cols; i++)
		order[i] = l.places[l.at[i]].chip;
	*rows = l.rows;
	*cols = l.cols;
	free_layout(&l);
	return TTNN_OK;
}
