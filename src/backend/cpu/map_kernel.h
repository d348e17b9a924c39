/*
 * map_kernel.h: an element-wise job under way, for map_kernel.c (which prepares it) and the two ways to run it.
 */
#ifndef TT_BACKEND_CPU_MAP_KERNEL_H
#define TT_BACKEND_CPU_MAP_KERNEL_H

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/lane.h"

struct tt_map_operand {
	bool constant; /* `value` everywhere */
	double value;
	struct tt_area area; /* lies as the output does: rows, or the same tiles */
	struct tt_scratch scratch;
};

struct tt_map_work {
	const struct tt_map_job *job;
	struct tt_session session;
	struct tt_lane_kind kind;
	struct tt_area out;
	struct tt_map_operand in[3];
};

/* All functions of the job, on `count` lanes. out may be one of in[]; room is for steps between. */
void tt_map_apply(const struct tt_map_work *work, void *out, union tt_lanes room[3],
		  const void *const in[3], size_t count);

/* Output and operands in rows, or all in tiles that lie alike and hold no block floats. */
void tt_map_rows(const struct tt_map_work *work);

/* Output and operands in the same tiles, not transposed. */
void tt_map_tiles(const struct tt_map_work *work);

#endif
