/*
 * descriptor.h: what chips a machine has and how they are wired, in the terms of upstream's
 * cluster descriptor files: their reader and writer. Profiles (device/profile.h) hold a cluster
 * too; device/wiring.h makes a mesh of it.
 */
#ifndef TT_DEVICE_DESCRIPTOR_H
#define TT_DEVICE_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "device/yaml.h"

/* More chips than this in one machine are refused. */
#define TT_CLUSTER_CHIPS 1024
/* Ethernet channels of a chip are numbered below this. */
#define TT_CLUSTER_CHANNELS 64

struct tt_cluster_chip {
	uint32_t id;
	uint32_t harvest; /* bit i: tensix row or column i is off, counted over the full chip */
	uint32_t dram_harvest; /* bit i: DRAM channel i is off */
	uint32_t eth_harvest, pcie_harvest, l2cpu_harvest;
	bool noc_translation;
	bool has_coord, has_bus, has_location, has_pci;
	uint32_t coord[4];  /* x, y, rack, shelf, as flashed */
	uint32_t bus;       /* PCI bus */
	uint32_t location;  /* of the chip on its board or tray */
	uint32_t pci;       /* the host reaches it by itself, as this device */
	uint64_t unique_id; /* 0: not known */
	const char *bdf;    /* PCI address "0000:01:00.0", or NULL */
	uint32_t board;     /* index; board_count when it is on none */
};

/* One ethernet link. Chips are named by index, not id. */
struct tt_cluster_link {
	uint32_t chip[2], channel[2];
};

struct tt_cluster_board {
	uint64_t id;
	const char *type; /* "n150", "p300", "ubb", ... */
};

/* Filled once, then constant. All memory belongs to an arena of the owner. */
struct tt_cluster {
	const char *arch;              /* "wormhole_b0", "blackhole" */
	struct tt_cluster_chip *chips; /* by rising id */
	size_t chip_count;
	struct tt_cluster_link *links;
	size_t link_count;
	struct tt_cluster_board *boards;
	size_t board_count;
};

/* Whether a document is a cluster descriptor (and no profile). */
bool tt_descriptor_is(const struct tt_yaml_doc *doc);

/* Reads a cluster; its memory comes from `arena`. */
tt_status tt_descriptor_read(struct tt_cluster *out, const struct tt_yaml_doc *doc,
			     struct tt_arena *arena);

/* Appends the descriptor of a cluster, as the released upstream writes it. */
void tt_descriptor_write(struct tt_str *out, const struct tt_cluster *cluster);

/* The index of a chip, or chip_count when there is none of this id. */
size_t tt_cluster_find(const struct tt_cluster *cluster, uint64_t id);

/* Fails unless ids are different and rise, and no chip is linked to itself. */
tt_status tt_cluster_check(const struct tt_cluster *cluster, const struct tt_yaml_doc *doc);

#endif
