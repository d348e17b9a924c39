/* chip_order.c: see chip_order.h. */
#include "ops/chip_order.h"

#include <stdbool.h>

#include "device/device.h"
#include "ops/op.h"

/* One number more into a hash. */
static uint64_t mix(uint64_t hash, uint64_t number)
{
	uint64_t x = hash + 0x9e3779b97f4a7c15u + number;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* Of a list of attributes, as an object's own hash. */
#define SEED 1234u
static uint64_t hash_object(uint64_t attributes)
{
	return mix(SEED, attributes);
}

/* Of the range of one coordinate, which it begins and ends with; a coordinate is a list of two. */
static uint64_t hash_place(uint32_t row, uint32_t col)
{
	uint64_t coordinate = hash_object(mix(0, mix(mix(mix(0, 2), row), col)));

	return hash_object(mix(mix(0, coordinate), coordinate));
}

/* The list of a hash table: a new one is the first of its bucket, or the first of all. */
struct list {
	uint32_t items[TT_CHIPS_MAX];
	uint32_t count;
};

static void add(struct list *list, uint32_t item, const uint64_t *hashes, uint64_t buckets)
{
	uint32_t at = 0;

	while (at < list->count && hashes[list->items[at]] % buckets != hashes[item] % buckets)
		at++;
	if (at == list->count)
		at = 0;
	for (uint32_t i = list->count++; i > at; i--)
		list->items[i] = list->items[i - 1];
	list->items[at] = item;
}

void tt_chip_order(uint32_t *out, uint32_t rows, uint32_t cols)
{
	static const uint32_t sizes[] = {13, 29, 59, 127}; /* of tables that grow */
	struct list list = {.count = 0};
	uint64_t hashes[TT_CHIPS_MAX];
	uint32_t chips = rows * cols;
	const uint32_t *size = sizes;

	for (uint32_t i = 0; chips > TT_CHIPS_MAX && i < chips; i++)
		out[i] = chips - 1 - i;
	if (chips > TT_CHIPS_MAX)
		return;
	for (uint32_t i = 0; i < chips; i++) {
		hashes[i] = hash_place(i / cols, i % cols);
		if (i == *size) { /* all move into a larger one, in the order they have */
			struct list old = list;

			size++;
			list.count = 0;
			for (uint32_t k = 0; k < old.count; k++)
				add(&list, old.items[k], hashes, *size);
		}
		add(&list, i, hashes, *size);
	}
	for (uint32_t i = 0; i < chips; i++)
		out[i] = list.items[i];
}

/* A table of so few has what was put there last in front. */
static void order_parts(uint32_t *order, const struct tt_launch *launch)
{
	uint32_t chips = launch->device->rows * launch->device->cols, used = 0;

	for (uint32_t part = launch->prog->parts; part-- > 0;)
		for (uint32_t chip = 0; chip < chips; chip++)
			if (launch->prog->part(launch, chip) == part)
				order[used++] = chip;
	for (uint32_t chip = 0; chip < chips; chip++)
		if (launch->prog->part(launch, chip) == TT_NO_PART)
			order[used++] = chip;
}

/* Rows or columns of chips that have one program together, the last first. */
static void order_places(uint32_t *order, const struct tt_launch *launch)
{
	uint32_t rows = launch->device->rows, cols = launch->device->cols;
	bool across = launch->prog->shared_across(launch) > 0;

	for (uint32_t i = 0; i < rows * cols; i++)
		order[i] = across ? i % rows * cols + cols - 1 - i / rows
				  : (rows - 1 - i / cols) * cols + i % cols;
}

uint32_t tt_launch_programs(const struct tt_launch *launch)
{
	const struct tt_device *device = launch->device;

	if (!launch->prog->per_chip)
		return 1;
	if (!launch->prog->shared_across)
		return device->rows * device->cols;
	return launch->prog->shared_across(launch) > 0 ? device->cols : device->rows;
}

uint32_t *tt_launch_order(const struct tt_launch *launch)
{
	uint32_t *order = NULL;

	if (launch->prog->per_chip && !launch->prog->in_order)
		order = tt_arena_alloc(launch->arena, launch->device->rows * launch->device->cols *
							      sizeof(*order));
	if (order && tt_launch_programs(launch) < launch->device->rows * launch->device->cols)
		order_places(order, launch);
	else if (order && launch->prog->few)
		order_parts(order, launch);
	else if (order)
		tt_chip_order(order, launch->device->rows, launch->device->cols);
	return order;
}
