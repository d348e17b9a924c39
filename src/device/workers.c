#include "device/workers.h"

#include <inttypes.h>
#include <string.h>

/* Working lines first, harvested ones behind. */
static void order_lines(uint32_t *out, const uint32_t *lines, uint32_t count, uint32_t harvest)
{
	for (uint32_t off = 0; off < 2; off++)
		for (uint32_t i = 0; i < count; i++)
			if ((harvest >> i & 1) == off)
				*out++ = lines[i];
}

void tt_workers_init(struct tt_workers *out, const struct tt_profile *profile, size_t chip,
		     struct tt_grid compute)
{
	const struct tt_arch *arch = &profile->arch;
	const struct tt_cluster_chip *info = &profile->cluster.chips[chip];

	*out = (struct tt_workers){.arch = arch,
				   .dram_harvest = info->dram_harvest,
				   .logical = profile->logical,
				   .compute = compute};
	order_lines(out->columns, arch->columns, arch->full.x,
		    arch->harvests_columns ? info->harvest : 0);
	order_lines(out->rows, arch->rows, arch->full.y,
		    arch->harvests_columns ? 0 : info->harvest);
}

tt_status tt_workers_translate(struct ttnn_core *out, const struct tt_workers *workers,
			       struct ttnn_core logical)
{
	if (logical.x >= workers->logical.x || logical.y >= workers->logical.y)
		return tt_fail(TTNN_INVALID,
			       "No core coordinate found at location: (%" PRIu32 ", %" PRIu32
			       ", TENSIX, LOGICAL)",
			       logical.x, logical.y);
	*out = (struct ttnn_core){workers->arch->translated_columns[logical.x],
				  workers->arch->translated_rows[logical.y]};
	return TTNN_OK;
}

/* The place of a number in a list, or count when it is not there. */
static uint32_t find(const uint32_t *list, uint32_t count, uint32_t number)
{
	uint32_t i = 0;

	while (i < count && list[i] != number)
		i++;
	return i;
}

tt_status tt_workers_logical(struct ttnn_core *out, const struct tt_workers *workers,
			     struct ttnn_core translated)
{
	const struct tt_arch *arch = workers->arch;
	uint32_t x = find(arch->translated_columns, workers->logical.x, translated.x);
	uint32_t y = find(arch->translated_rows, workers->logical.y, translated.y);

	if (x == workers->logical.x || y == workers->logical.y)
		return tt_fail(TTNN_INVALID,
			       "No core coordinate found at location: (%" PRIu32 ", %" PRIu32
			       ", TENSIX, TRANSLATED)",
			       translated.x, translated.y);
	*out = (struct ttnn_core){x, y};
	return TTNN_OK;
}

/* ---- next to DRAM --------------------------------------------------------------------------- */

struct plan {
	const struct tt_workers *workers;
	struct ttnn_core cores[TT_ARCH_BANKS]; /* on NoC 0, by bank */
	uint32_t count;
};

/* The tensix row at or below a DRAM core: some rows have none. */
static uint32_t row_below(const struct tt_arch *arch, uint32_t y)
{
	for (uint32_t i = 0; i < arch->full.y; i++)
		if (arch->rows[i] >= y)
			return arch->rows[i];
	return arch->rows[arch->full.y - 1];
}

/* Right of each bank's core. */
static void start_plan(struct plan *plan, uint32_t noc)
{
	const struct tt_arch *arch = plan->workers->arch;

	for (uint32_t i = 0; i < arch->dram_bank_count; i++) {
		const struct tt_arch_dram_bank *bank = &arch->dram_banks[i];

		if (plan->workers->dram_harvest >> bank->channel & 1)
			continue;
		plan->cores[plan->count++] =
			(struct ttnn_core){bank->noc[noc].x + 1, row_below(arch, bank->noc[noc].y)};
	}
}

/* Where columns are harvested: on to the right, until one computes. */
static void shift_right(struct plan *plan)
{
	const struct tt_workers *w = plan->workers;

	for (uint32_t i = 0; i < plan->count; i++)
		while (find(w->columns, w->compute.x, plan->cores[i].x) == w->compute.x &&
		       plan->cores[i].x + 1 < w->arch->noc_grid.x)
			plan->cores[i].x++;
}

static bool computes(const struct tt_workers *w, uint32_t y)
{
	return find(w->rows, w->compute.y, y) < w->compute.y;
}

/* The banks of one DRAM column: their place in the plan, and the rows they started with. */
struct group {
	uint32_t banks[TT_ARCH_BANKS], rows[TT_ARCH_BANKS];
	uint32_t count;
};

static uint32_t count_row(const struct group *group, uint32_t y)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < group->count; i++)
		count += group->rows[i] == y;
	return count;
}

/*
 * Another row for a bank whose own does not compute or is wanted twice: the first, from the top or
 * for the lowest rows from the bottom, that computes and that no bank of the group started with;
 * failing that the first that computes. noc_grid.y when there is none.
 */
static uint32_t other_row(const struct plan *plan, const struct group *group, uint32_t y)
{
	uint32_t height = plan->workers->arch->noc_grid.y;
	bool up = y + 1 >= plan->count;

	for (int taken = 0; taken < 2; taken++)
		for (uint32_t i = 0; i < height; i++) {
			uint32_t row = up ? height - 1 - i : i;

			if (computes(plan->workers, row) && (taken || !count_row(group, row)))
				return row;
		}
	return height;
}

/* Moves to the side too: cores that left their row are three, two, one columns further. */
static void shift_group(struct plan *plan, const struct group *group)
{
	uint32_t step = 3;

	for (uint32_t i = 0; i < group->count; i++) {
		struct ttnn_core *core = &plan->cores[group->banks[i]];
		uint32_t row;

		if (computes(plan->workers, core->y) && count_row(group, core->y) < 2)
			continue;
		row = other_row(plan, group, core->y);
		if (row == plan->workers->arch->noc_grid.y)
			continue;
		core->y = row;
		core->x += step;
		step -= step > 0;
	}
}

/* The lowest row first, then from the top down: the order in which rows are given away. */
static void sort_group(struct group *group, const struct plan *plan)
{
	uint32_t last;

	for (uint32_t i = 1; i < group->count; i++)
		for (uint32_t k = i;
		     k > 0 && plan->cores[group->banks[k]].y < plan->cores[group->banks[k - 1]].y;
		     k--) {
			uint32_t bank = group->banks[k];

			group->banks[k] = group->banks[k - 1];
			group->banks[k - 1] = bank;
		}
	last = group->banks[group->count - 1];
	memmove(&group->banks[1], &group->banks[0], (group->count - 1) * sizeof(last));
	group->banks[0] = last;
	for (uint32_t i = 0; i < group->count; i++)
		group->rows[i] = plan->cores[group->banks[i]].y;
}

/* Where rows are harvested: column by column of DRAM. */
static void shift_rows(struct plan *plan)
{
	uint32_t first = plan->cores[0].x;
	struct plan before = *plan;

	for (int other = 0; other < 2; other++) {
		struct group group = {0};

		for (uint32_t i = 0; i < plan->count; i++)
			if ((before.cores[i].x != first) == other)
				group.banks[group.count++] = i;
		if (group.count == 0)
			continue;
		sort_group(&group, plan);
		shift_group(plan, &group);
	}
}

tt_status tt_workers_dram(struct ttnn_core *out, const struct tt_workers *workers, uint32_t noc)
{
	const struct tt_arch *arch = workers->arch;
	struct plan plan = {.workers = workers};

	if (noc > 1)
		return tt_fail(TTNN_INVALID, "there is NoC 0 and NoC 1, not %" PRIu32, noc);
	start_plan(&plan, noc);
	if (arch->harvests_columns)
		shift_right(&plan);
	else
		shift_rows(&plan);
	for (uint32_t i = 0; i < plan.count; i++) {
		uint32_t x = find(workers->columns, arch->full.x, plan.cores[i].x);
		uint32_t y = find(workers->rows, arch->full.y, plan.cores[i].y);

		if (x == arch->full.x || y == arch->full.y)
			return tt_fail(TTNN_UNSUPPORTED,
				       "no worker core of %s is near to DRAM bank %" PRIu32,
				       arch->name, i);
		out[i] = (struct ttnn_core){x, y};
	}
	return TTNN_OK;
}
