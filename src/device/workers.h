/*
 * workers.h: where the cores of a harvested chip lie, and which of them are close to DRAM. The
 * device answers with it what operations and reports ask about single cores.
 *
 * A logical core is numbered over what harvesting left. Behind the last logical row or column come
 * the harvested ones, where upstream's tables also have them.
 */
#ifndef TT_DEVICE_WORKERS_H
#define TT_DEVICE_WORKERS_H

#include "device/profile.h"

/* The cores of one chip. */
struct tt_workers {
	const struct tt_arch *arch;
	uint32_t dram_harvest;
	struct tt_grid logical, compute;
	uint32_t columns[TT_ARCH_LINES], rows[TT_ARCH_LINES]; /* logical → NoC 0 */
};

/* The cores of chip number `chip` of a profile, when those of `compute` compute. */
void tt_workers_init(struct tt_workers *out, const struct tt_profile *profile, size_t chip,
		     struct tt_grid compute);

/* What commands call a logical core. */
tt_status tt_workers_translate(struct ttnn_core *out, const struct tt_workers *workers,
			       struct ttnn_core logical);

/* The way back. */
tt_status tt_workers_logical(struct ttnn_core *out, const struct tt_workers *workers,
			     struct ttnn_core translated);

/* The core for each DRAM bank that reads it best over NoC 0 or 1; as upstream chooses them. */
tt_status tt_workers_dram(struct ttnn_core *out, const struct tt_workers *workers, uint32_t noc);

#endif
