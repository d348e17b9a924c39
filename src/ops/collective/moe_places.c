/* moe_places.c: see moe_places.h. */
#include "ops/collective/moe_places.h"

#include <inttypes.h>

#include "device/device.h"
#include "ops/expert_ring.h"
#include "ops/movement/movement.h"
#include "tensor/core.h"

#define STRIP 2u /* columns */
#define HIGH 2u  /* rows that only cores that tilize have */

/* Cores of a grid, a bit for each. */
struct cells {
	uint32_t row[TT_MOE_SIDE];
};

struct box {
	uint32_t x, y, width, height;
};

static bool has(const struct cells *cells, uint32_t x, uint32_t y)
{
	return x < TT_MOE_SIDE && y < TT_MOE_SIDE && (cells->row[y] >> x & 1);
}

static void add_core(struct cells *cells, struct ttnn_core core)
{
	if (core.x < TT_MOE_SIDE && core.y < TT_MOE_SIDE)
		cells->row[core.y] |= 1u << core.x;
}

static bool is_free(const struct cells *taken, const struct box *box)
{
	for (uint32_t y = 0; y < box->height; y++)
		for (uint32_t x = 0; x < box->width; x++)
			if (has(taken, box->x + x, box->y + y))
				return false;
	return true;
}

static void add_box(struct cells *cells, const struct box *box)
{
	for (uint32_t y = 0; y < box->height; y++)
		for (uint32_t x = 0; x < box->width; x++)
			add_core(cells, (struct ttnn_core){box->x + x, box->y + y});
}

static struct box around(const struct ttnn_core *cores, uint64_t count)
{
	uint32_t left = UINT32_MAX, low = UINT32_MAX, right = 0, high = 0;

	for (uint64_t i = 0; i < count; i++) {
		left = cores[i].x < left ? cores[i].x : left;
		low = cores[i].y < low ? cores[i].y : low;
		right = cores[i].x > right ? cores[i].x : right;
		high = cores[i].y > high ? cores[i].y : high;
	}
	return (struct box){left, low, right - left + 1, high - low + 1};
}

/* What is being placed. */
struct site {
	struct ttnn_core grid;
	struct cells mux, taken;
	uint64_t combining;
	uint32_t tiles;
	struct ttnn_core ring[TT_RING_MOST], tilizer[TT_MOE_TILIZERS];
	uint32_t ring_count, tilizer_count;
	struct box combine;
};

/* The rectangle furthest east, then lowest, that nobody has, in rows from one on to before another. */
static bool find_box(struct box *out, const struct site *site, uint32_t width, uint32_t height,
		     const uint32_t rows[2])
{
	if (!width || !height || width > site->grid.x)
		return false;
	for (uint32_t x = site->grid.x - width + 1; x-- > 0;)
		for (uint32_t y = rows[0]; y + height <= rows[1]; y++) {
			*out = (struct box){x, y, width, height};
			if (is_free(&site->taken, out))
				return true;
		}
	return false;
}

/* In two columns, or else in the widest rectangle of just as many. An odd number in two columns would leave one out. */
static bool place_combine(struct site *site)
{
	uint32_t high = site->grid.y > HIGH ? site->grid.y - HIGH : 1;
	const uint32_t rows[] = {0, high < site->grid.y ? high : site->grid.y};
	uint32_t count = (uint32_t)site->combining;

	if (site->combining > (uint64_t)site->grid.x * rows[1])
		return false;
	if (find_box(&site->combine, site, STRIP, (count + STRIP - 1) / STRIP, rows)) {
		if (count == 1)
			site->combine.width = 1;
		return count == 1 || count % STRIP == 0;
	}
	for (uint32_t width = count; width > 0; width--)
		if (count % width == 0 &&
		    find_box(&site->combine, site, width, count / width, rows))
			return true;
	return false;
}

/* As many as divide the tiles, at most four. */
static uint32_t tilizers_wanted(uint32_t tiles)
{
	uint32_t count = tiles < TT_MOE_TILIZERS ? tiles : TT_MOE_TILIZERS;

	while (count > 1 && tiles % count)
		count--;
	return count ? count : 1;
}

/* A square in the two highest rows, or what is free there from its end; as many as divide the tiles. */
static bool place_tilize(struct site *site)
{
	const uint32_t rows[] = {site->grid.y > HIGH ? site->grid.y - HIGH : 0, site->grid.y};
	struct ttnn_core *cores = site->tilizer;
	uint32_t count = 0;
	struct box box;

	if (find_box(&box, site, 2, HIGH, rows)) {
		for (uint32_t i = 0; i < TT_MOE_TILIZERS; i++)
			cores[count++] = (struct ttnn_core){box.x + 1 - i / 2, box.y + 1 - i % 2};
	} else {
		for (uint32_t y = rows[1]; y-- > rows[0];)
			for (uint32_t x = site->grid.x; x-- > 0 && count < TT_MOE_TILIZERS;)
				if (!has(&site->taken, x, y))
					cores[count++] = (struct ttnn_core){x, y};
	}
	for (uint32_t n = tilizers_wanted(site->tiles); n > 0; n--) {
		if (site->tiles % n || n > count)
			continue;
		box = around(cores, n);
		site->tilizer_count = n;
		if (is_free(&site->taken, &box))
			return true;
	}
	return false;
}

/* All that goes beside a ring. */
static bool place_beside(struct site *site)
{
	struct box ring = around(site->ring, site->ring_count);

	site->taken = site->mux;
	add_box(&site->taken, &ring);
	if (!place_combine(site))
		return false;
	add_box(&site->taken, &site->combine);
	return place_tilize(site);
}

/* The ring in rows from a row on, east of which the strip has room; a row begins in the west, or is left out. */
static bool row_ring(struct site *site, uint32_t first, uint32_t size)
{
	uint32_t high = site->grid.y > HIGH ? site->grid.y - HIGH : 1;
	uint32_t wide = site->grid.x > STRIP ? site->grid.x - STRIP : 1;

	site->ring_count = 0;
	for (uint32_t y = first; y < high; y++)
		for (uint32_t x = 0; x < wide && !has(&site->mux, 0, y); x++)
			if (!has(&site->mux, x, y) && site->ring_count < size)
				site->ring[site->ring_count++] = (struct ttnn_core){x, y};
	return site->ring_count == size;
}

/* Beside the banks, if nobody keeps one of those cores. */
static tt_status bank_ring(bool *out, struct site *site, struct tt_device *device)
{
	struct tt_ring_core ring[TT_RING_MOST];

	TT_TRY(tt_ring_cores(ring, &site->ring_count, device));
	*out = true;
	for (uint32_t i = 0; i < site->ring_count; i++) {
		site->ring[i] = ring[i].core;
		*out = *out && !has(&site->mux, ring[i].core.x, ring[i].core.y);
	}
	return TTNN_OK;
}

static tt_status tell_places(struct tt_moe_places *out, const struct site *site)
{
	const struct box *box = &site->combine;
	const ttnn_core_set *both;
	struct box all;

	out->combiner_count = 0;
	for (uint32_t x = 0; x < box->width; x++)
		for (uint32_t y = 0; y < box->height; y++)
			out->combiner[out->combiner_count++] =
				(struct ttnn_core){box->x + x, box->y + y};
	TT_TRY(tt_cores_set(&out->ring, site->ring, site->ring_count));
	TT_TRY(tt_cores_set(&out->tilizers, site->tilizer, site->tilizer_count));
	TT_TRY(tt_cores_set(&out->combiners, out->combiner, out->combiner_count));
	TT_TRY(tt_core_set_merge(&both, out->tilizers, out->ring));
	TT_TRY(tt_core_set_merge(&out->all, both, out->combiners));
	all = around((struct ttnn_core[]){{box->x, box->y},
					  {box->x + box->width - 1, box->y + box->height - 1}},
		     2);
	out->around = (struct ttnn_core_range){{all.x, all.y},
					       {all.x + all.width - 1, all.y + all.height - 1}};
	for (uint32_t i = 0; i < site->ring_count + site->tilizer_count; i++) {
		struct ttnn_core core =
			i < site->ring_count ? site->ring[i] : site->tilizer[i - site->ring_count];

		all = around((struct ttnn_core[]){out->around.start, out->around.end, core}, 3);
		out->around = (struct ttnn_core_range){
			{all.x, all.y}, {all.x + all.width - 1, all.y + all.height - 1}};
	}
	return TTNN_OK;
}

tt_status tt_moe_place(struct tt_moe_places *out, struct tt_device *device, uint64_t combining,
		       uint32_t tiles, const ttnn_core_set *mux)
{
	struct site site = {
		.grid = device->info.compute_grid, .combining = combining, .tiles = tiles};
	uint64_t kept = mux ? ttnn_core_set_cores(mux) : 0;
	uint32_t size;
	bool placed;

	TT_REQUIRE(combining, "!this->ranges().empty()",
		   "Cannot get bounding_box of an empty CoreRangeSet!");
	TT_NEED(site.grid.x <= TT_MOE_SIDE && site.grid.y <= TT_MOE_SIDE,
		"a grid of %u by %u cores is too large", site.grid.x, site.grid.y);
	for (uint64_t i = 0; i < kept; i++)
		add_core(&site.mux, tt_core_set_at(mux, i, TTNN_ORIENT_ROW_MAJOR));
	TT_TRY(bank_ring(&placed, &site, device));
	size = site.ring_count;
	placed = placed && place_beside(&site);
	for (uint32_t y = 0; y < site.grid.y && !placed; y++)
		placed = row_ring(&site, y, size) && place_beside(&site);
	TT_REQUIRE(placed, "placed.has_value()",
		   "moe_compute: could not place a column-0-anchored compact %u-core matmul ring "
		   "together with %" PRIu64
		   " combine + %u tilize cores disjointly, avoiding %" PRIu64
		   " mux cores, on the %ux%u worker grid",
		   size, combining, tilizers_wanted(tiles), kept, site.grid.x, site.grid.y);
	return tell_places(out, &site);
}
