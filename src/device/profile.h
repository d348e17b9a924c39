/*
 * profile.h: what a machine is, as data. A profile names an architecture (tables of the chip) and
 * a cluster (which chips, how harvested, how wired). Devices are opened on one.
 *
 * Profiles and architectures are the files of data/profiles (format: docs/formats/profile.md).
 * They are part of the library, so a program needs no files; a profile can also be read from a path,
 * and made from an upstream cluster descriptor. To add a chip: add a file, no code.
 *
 * Objects are constant after creation and shared between threads by reference count.
 */
#ifndef TT_DEVICE_PROFILE_H
#define TT_DEVICE_PROFILE_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/str.h"
#include "device/arch.h"
#include "device/descriptor.h"
#include "device/wiring.h"

struct tt_profile {
	struct tt_arena arena; /* of everything below */
	atomic_uint references;
	const char *name, *title;
	struct tt_arch arch;
	struct tt_cluster cluster;
	const struct tt_cluster_type *type;
	const char *board_type, *device_series; /* "Wormhole", "n300" */
	uint32_t card_count;
	uint32_t rows, cols; /* the mesh of all chips */
	uint32_t *order;     /* index of the chip at each place, row by row */
	enum tt_dispatch dispatch;
	const char *memory_map; /* NULL: the generation's */
	uint32_t harvested;     /* lines, the same on all chips */
	uint32_t dram_banks;    /* left after harvesting, the same on all chips */
	struct tt_grid logical; /* cores left after harvesting */
};

/*
 * A profile by name, or by path of a profile or cluster descriptor (what holds a '/' or ends in
 * .json, .yaml or .yml). NULL: the one of TTNN_DEVICE, else n150. Give back with tt_profile_unref().
 */
tt_status tt_profile_open(struct tt_profile **out, const char *name);

/* The same from a text; `name` stands for the file in messages. */
tt_status tt_profile_parse(struct tt_profile **out, const char *text, size_t length,
			   const char *name);

/* One owner more; returns its argument. */
struct tt_profile *tt_profile_ref(struct tt_profile *profile);
/* NULL is fine. */
void tt_profile_unref(struct tt_profile *profile);

/* The name of the built-in profile number i, sorted by name; NULL behind the last. */
const char *tt_profile_name(size_t i);

/*
 * Appends the profile as a profile file: this converts a cluster descriptor. The architecture is
 * written by its name.
 */
void tt_profile_write(struct tt_str *out, const struct tt_profile *profile);

#endif
