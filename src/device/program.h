/*
 * program.h: what a program occupies in the L1 of its cores, and where.
 *
 * A program has circular buffers, or dataflow buffers and scratchpads, never both. The operations
 * layer adds them one by one while it builds the program, has them placed, tells about them
 * (event/event.h) and has the outcome checked. When it does so is upstream's choice:
 *
 *	                    while building, in every mode   at launch, not in dry runs
 *	circular buffers    add                             place, tell, check
 *	dataflow buffers    add, place, check, tell         -
 *
 * So a dry run refuses dataflow buffers that do not fit, but not circular buffers, which then have
 * no address either.
 *
 * Buffers lie one behind the other from the base of L1, each at the same address on all its cores.
 * How far L1 is taken is kept per core range as it was given, not per core: the same cores cut into
 * other ranges may give other addresses. Circular buffers keep the cut they were given; dataflow
 * buffers and scratchpads get the normal one (tensor/core.h).
 *
 * A program belongs to one thread at a time.
 */
#ifndef TT_DEVICE_PROGRAM_H
#define TT_DEVICE_PROGRAM_H

#include "base/vec.h"
#include "event/event.h"

/* What a chip allows; read from its profile once, when a device is opened. */
struct tt_program_limits {
	uint64_t l1_base, l1_size;
	uint32_t alignment;      /* of every address: that of DRAM */
	uint32_t indices;        /* circular buffers of one core */
	struct ttnn_core grid;   /* columns and rows of cores that compute */
	struct ttnn_core worker; /* the same with the cores that dispatch */
};

/* As many numbers as upstream can count for any chip. */
#define TT_PROGRAM_INDICES 64

/* The number under which kernels know a circular buffer, and its unit there. */
struct tt_program_view {
	uint32_t index;
	uint32_t page_size;
};

#define TT_PROGRAM_VIEWS 4

struct tt_program_row {
	enum tt_program_memory_kind kind;
	uint32_t view_count; /* of a circular buffer; 0: not known, and not checked */
	struct tt_program_view views[TT_PROGRAM_VIEWS];
	const char *name; /* (optional) upstream's; a literal */
	uint64_t size;
	const ttnn_core_set *cores;
	bool borrowed;    /* lies in the buffer of a tensor and takes no room of its own */
	bool far;         /* when borrowed: that buffer is not in L1, which is refused */
	uint64_t room;    /* when borrowed: bytes of that buffer in a bank; 0: not known */
	uint64_t address; /* when borrowed: in that buffer; otherwise 0 until placed */
};

/* How far L1 is taken on a range of cores; 0: nothing there yet. */
struct tt_program_region {
	struct ttnn_core_range range;
	uint64_t end;
};

/* All zero is a valid program without memory. */
struct tt_program {
	uint64_t id; /* in messages */
	TT_VEC(struct tt_program_row) rows;
	TT_VEC(struct tt_program_region) regions; /* of the last placement */
	uint64_t indices;                         /* bit i: some circular buffer has number i */
	bool same_cores;                          /* of all rows */
	const ttnn_core_set *given, *normal;      /* the set cut last, and its normal cut */
};

/* Takes the next id and forgets the rows, but keeps their memory. Ids count in the process. */
void tt_program_start(struct tt_program *program);

/* For tests: the id that the next program gets, a multiple of what one takes. */
void tt_program_set_next_id(uint64_t id);

void tt_program_deinit(struct tt_program *program);

/* Adds a copy of row at the end; refuses sizes and numbers as upstream does. */
tt_status tt_program_add(struct tt_program *program, const struct tt_program_row *row,
			 const struct tt_program_limits *limits);

/*
 * Whether a row takes room of its own. Without one there is nothing to place, and upstream then
 * tells nothing at launch about circular buffers.
 */
bool tt_program_takes_room(const struct tt_program *program);

/* Gives every row that borrows nothing its address; also again, for other limits. */
tt_status tt_program_place(struct tt_program *program, const struct tt_program_limits *limits);

/* `lowest` for tt_program_check() when no buffer lies in L1. */
#define TT_PROGRAM_L1_EMPTY UINT64_MAX

/*
 * Whether what was placed fits: on the compute grid (circular buffers only), into L1, and below the
 * lowest address that a buffer in L1 has now.
 */
tt_status tt_program_check(const struct tt_program *program, const struct tt_program_limits *limits,
			   uint64_t lowest);

/* Whether a unit of work of a program with dataflow buffers stays on the compute grid. */
tt_status tt_program_check_unit(const char *name, const ttnn_core_set *cores,
				const struct tt_program_limits *limits);

/* Whether a kernel of a program with circular buffers keeps off the cores that dispatch. */
tt_status tt_program_check_kernel(const char *name, const ttnn_core_set *cores,
				  const struct tt_program_limits *limits);

#endif
