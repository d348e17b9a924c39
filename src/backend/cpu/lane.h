/*
 * lane.h: arrays of values that functions are applied to: float32, or whole numbers in 64 bits.
 * Elements of any type are loaded into lanes, worked on and stored again.
 */
#ifndef TT_BACKEND_CPU_LANE_H
#define TT_BACKEND_CPU_LANE_H

#include <stddef.h>
#include <stdint.h>
#include <ttnn.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/fn_kernel.h"

/* Room for a piece of either kind. */
union tt_lanes {
	float real[TT_CPU_PIECE];
	int64_t whole[TT_CPU_PIECE];
};

/* The kind of lanes in use, with its functions. */
struct tt_lane_kind {
	bool whole;
	size_t bytes; /* of a lane */
	const struct tt_float_fns *real_fns;
	const struct tt_int_fns *int_fns;
};

struct tt_lane_kind tt_lane_kind(bool whole);

/* Between elements and lanes. Whole lanes load integers only; they store to any type. */
void tt_lanes_load(const struct tt_lane_kind *kind, void *lanes, const void *elements,
		   enum ttnn_dtype dtype, size_t count);
void tt_lanes_store(const struct tt_lane_kind *kind, void *elements, enum ttnn_dtype dtype,
		    const void *lanes, size_t count);

/* The same for one whole tile, block floats too, in the order that it is stored in. */
void tt_lanes_load_tile(const struct tt_lane_kind *kind, void *lanes, const void *elements,
			enum ttnn_dtype dtype, const struct ttnn_tile *tile);
void tt_lanes_store_tile(const struct tt_lane_kind *kind, void *elements, enum ttnn_dtype dtype,
			 const void *lanes, const struct ttnn_tile *tile);

/* The lanes are these elements already, so nothing needs to be loaded or stored. */
static inline bool tt_lanes_are(const struct tt_lane_kind *kind, enum ttnn_dtype dtype)
{
	return !kind->whole && dtype == TTNN_FLOAT32;
}

/* A number in all of `count` lanes. */
void tt_lanes_set(const struct tt_lane_kind *kind, void *lanes, double value, size_t count);

/* Lane 0 of `from` in `count` lanes of `lanes`. */
void tt_lanes_repeat(const struct tt_lane_kind *kind, void *lanes, const void *from, size_t count);

/* Whether the kind has this function; TYPECAST and IDENTITY it always has. */
bool tt_lanes_know(const struct tt_lane_kind *kind, enum tt_unary_fn fn);

/* Whole lanes become what an element of an integer type holds, between the functions of a chain. */
void tt_lanes_wrap(const struct tt_lane_kind *kind, void *lanes, enum ttnn_dtype dtype,
		   size_t count);

/* out = f(in); they may be the same. */
void tt_lanes_step(const struct tt_lane_kind *kind, void *out, const void *in, size_t count,
		   const struct tt_unary_step *step);

#endif
