/*
 * arch.h: the tables of a chip architecture, read from data/profiles/arch (format:
 * docs/formats/profile.md). A profile holds one; the rest of device/ reads its numbers from here
 * and knows none by itself.
 */
#ifndef TT_DEVICE_ARCH_H
#define TT_DEVICE_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "device/yaml.h"

#define TT_ARCH_LINES 32 /* rows or columns of cores */
#define TT_ARCH_BANKS 64 /* DRAM banks */
#define TT_ARCH_RATES 16 /* sizes with a measured rate */

/* Where dispatch runs; each leaves another grid of cores for computing. */
enum tt_dispatch {
	TT_DISPATCH_TENSIX_ROW,    /* the last row of cores */
	TT_DISPATCH_TENSIX_COLUMN, /* the last column */
	TT_DISPATCH_ETHERNET,
	TT_DISPATCH_SLOW, /* on the host: all cores compute */
	TT_DISPATCH_COUNT
};

struct tt_grid {
	uint32_t x, y;
};

/* What is left of a chip with this many harvested rows or columns. */
struct tt_arch_product {
	const char *name;
	struct tt_grid compute[TT_DISPATCH_COUNT]; /* 0 × 0: not possible */
};

struct tt_arch_dram_bank {
	uint32_t channel;
	uint64_t offset;         /* of the bank inside its channel */
	struct ttnn_core noc[2]; /* the core that workers address, by NoC */
};

/* The sizes from which a release computes its base addresses. */
struct tt_memory_map {
	const char *name;
	uint32_t firmware_end;  /* L1 below is the firmware's */
	uint32_t kernel_config; /* ring of kernel arguments behind it */
	uint32_t dram_profiler; /* 0: built without the profiler */
	uint32_t dram_print;    /* 0: a release before there was one */
};

/* Measured rates of the NoC in bytes per nanosecond, by size of a transaction. */
struct tt_noc_rates {
	uint32_t count;
	uint32_t size[TT_ARCH_RATES]; /* rising powers of two */
	float dram[TT_ARCH_RATES], local[TT_ARCH_RATES];
	float read[TT_ARCH_RATES], write[TT_ARCH_RATES];
};

struct tt_noc {
	double clock_ghz;
	uint32_t dram_latency, local_latency, read_latency, write_latency; /* cycles */
	double dram_limit; /* of all cores together */
	double l1_limit;   /* of one NoC row or column */
	struct tt_noc_rates rates;
};

struct tt_arch {
	const char *name;              /* "wormhole_b0" */
	const char *text;              /* "WORMHOLE_B0" */
	const char *family;            /* of the rows that operations choose by architecture */
	uint32_t code;                 /* upstream's number */
	struct tt_grid noc_grid, full; /* all nodes; the tensix cores of a full chip */
	uint32_t columns[TT_ARCH_LINES], rows[TT_ARCH_LINES]; /* of tensix cores on NoC 0 */
	/* What a worker core is called in commands: harvested lines leave no gap there. */
	uint32_t translated_columns[TT_ARCH_LINES], translated_rows[TT_ARCH_LINES];
	bool harvests_columns; /* else rows */
	enum tt_dispatch dispatch;
	uint32_t product_count;
	struct tt_arch_product *products; /* by number of harvested lines */

	uint64_t l1_bytes, eth_l1_bytes;
	uint32_t l1_align, dram_align, pcie_align;
	uint32_t dram_channels, dram_bank_count;
	uint64_t dram_bank_bytes;
	struct tt_arch_dram_bank dram_banks[TT_ARCH_BANKS];
	uint32_t eth_cores, circular_buffers, noc_burst;
	uint32_t clock_mhz, idle_clock_mhz;
	float eps, nan, inf; /* of the vector unit */

	size_t map_count;
	struct tt_memory_map *maps; /* the first is the default */

	double dram_gb_per_s; /* what the performance model takes for the peak */
	struct tt_noc noc;
};

/* Reads an architecture; texts and lists come from `arena`. */
tt_status tt_arch_read(struct tt_arch *out, const struct tt_yaml_doc *doc,
		       const struct tt_yaml *node, struct tt_arena *arena);

/* The memory map of this name (NULL: the default one), or NULL. */
const struct tt_memory_map *tt_arch_map_find(const struct tt_arch *arch, const char *name);

/* The L1 address behind firmware and kernel ring, and the first free DRAM address. */
uint64_t tt_memory_map_l1_base(const struct tt_memory_map *map, const struct tt_arch *arch,
			       uint64_t worker_l1_size);
uint64_t tt_memory_map_dram_base(const struct tt_memory_map *map, const struct tt_arch *arch);

/* The most that can be asked for as worker_l1_size. */
uint64_t tt_memory_map_max_l1(const struct tt_memory_map *map, const struct tt_arch *arch);

/* The name of a way of dispatching in profile files: "tensix_row", ... */
const char *tt_dispatch_name(enum tt_dispatch dispatch);

/* The way that a text of a profile file names. */
tt_status tt_dispatch_read(enum tt_dispatch *out, const struct tt_yaml_doc *doc,
			   const struct tt_yaml *node);

#endif
