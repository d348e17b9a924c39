/*
 * cost.h: what programs cost, for tt_prog.cost: those that many share. Operations with a cost of their own have it
 * beside their program. What has a model, and which, is as in upstream's release of September 2025.
 */
#ifndef TT_OPS_COST_H
#define TT_OPS_COST_H

#include "device/perf.h"
#include "ops/op.h"

/* Cores of the launch's grid that share so many units of work; NULL: no units. */
const ttnn_core_set *tt_cost_split(const struct tt_launch *launch, uint64_t units);

/* MathFidelity's code for a program's arithmetic, by its attribute compute_kernel_config. */
uint32_t tt_cost_fidelity(const struct tt_launch *launch);

/* How many cores compute on the device. */
uint32_t tt_cost_grid(const struct tt_launch *launch);

/* ---- for tt_prog.cost --------------------------------------------------------------------------- */

/* Data goes from the first input to the first output; nothing is computed. */
void tt_cost_move(struct tt_cost *cost, const struct tt_launch *launch);
/* The same, and the types may differ: then something is. */
void tt_cost_convert(struct tt_cost *cost, const struct tt_launch *launch);
/* The same, and something is. */
void tt_cost_computed_move(struct tt_cost *cost, const struct tt_launch *launch);
/* The same, by tiles that are packed as rows. */
void tt_cost_untilize(struct tt_cost *cost, const struct tt_launch *launch);
/* Data is moved, and there is no model of how. */
void tt_cost_unmodelled_move(struct tt_cost *cost, const struct tt_launch *launch);
/* Nothing is known but the time of tensors in DRAM: with arithmetic, and without but for tiles. */
void tt_cost_tensors(struct tt_cost *cost, const struct tt_launch *launch);
void tt_cost_moved_tensors(struct tt_cost *cost, const struct tt_launch *launch);

/* A product of matrices: the first two inputs. */
void tt_cost_product(struct tt_cost *cost, const struct tt_launch *launch);

/* Sets the cycles of such a move; what `move` has no tensors of are the first input and output. */
void tt_cost_set_move(struct tt_cost *cost, const struct tt_launch *launch,
		      struct tt_perf_move move);

/* Sets the cycles of a product at the cost's fidelity. */
void tt_cost_set_product(struct tt_cost *cost, const struct tt_launch *launch,
			 const struct tt_perf_product *product);

#endif
