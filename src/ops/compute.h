/*
 * compute.h: how exactly a program computes: the config that a caller gave, or the operation's own.
 */
#ifndef TT_OPS_COMPUTE_H
#define TT_OPS_COMPUTE_H

#include "ops/objects.h"
#include "ops/op.h"

enum tt_fidelity { TT_LOFI = 0, TT_HIFI2 = 2, TT_HIFI3 = 3, TT_HIFI4 = 4 };

/* What an operation takes when its caller gives no config. HiFi3 is HiFi4 on Blackhole. */
struct tt_compute_usual {
	enum tt_fidelity fidelity;
	bool approx, fp32, l1_acc;
};

/*
 * The value of an attribute of that type, in the call's arena: `given` (NULL, or anything that is no
 * config: none), or the usual one. A failure to allocate gives None.
 */
struct ttnn_value tt_compute_config(struct tt_call *call, const struct ttnn_value *given,
				    const struct tt_compute_usual *usual);

/* One of its switches; false when there is no config. */
bool tt_compute_has(const struct ttnn_value *config, enum tt_compute_field field);

/* How many tiles the matrix engine holds at a time. */
uint32_t tt_compute_tiles(const struct ttnn_value *config);

#endif
