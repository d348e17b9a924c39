/*
 * layer_norm.h: between layer_norm.c (layer_norm, rms_norm and their program), layer_norm_memory.c (its memory),
 * layer_norm_distributed.c (the halves before and after an all-gather) and layer_norm_parts.c (what these compute).
 */
#ifndef TT_OPS_NORM_LAYER_NORM_H
#define TT_OPS_NORM_LAYER_NORM_H

#include "backend/backend.h"
#include "ops/compute.h"
#include "ops/norm/norm.h"

enum tt_norm_stage { TT_NORM_WHOLE, TT_NORM_BEFORE_GATHER, TT_NORM_AFTER_GATHER };

/* Attributes of the program, and its inputs. */
enum {
	TT_NORM_TYPE,
	TT_NORM_STAGE,
	TT_NORM_EPS,
	TT_NORM_MEMORY,
	TT_NORM_CONFIG,
	TT_NORM_COMPUTE,
	TT_NORM_DTYPE,
	TT_NORM_ACTIVATION,
	TT_NORM_ATTRS
};
enum { TT_NORM_IN, TT_NORM_RESIDUAL, TT_NORM_WEIGHT, TT_NORM_BIAS, TT_NORM_STATS, TT_NORM_INPUTS };

/* What a caller wants of the program. NULL tensors are not there. */
struct tt_norm_args {
	enum tt_norm_kind type; /* LAYER or RMS */
	enum tt_norm_stage stage;
	struct tt_tensor *inputs[TT_NORM_INPUTS];
	const struct ttnn_memory_config *memory; /* NULL: the input's */
	const struct ttnn_value *config;         /* a program config, or none */
	struct ttnn_value compute;               /* tt_compute_config() */
	struct ttnn_value dtype;                 /* none: the input's */
	struct ttnn_value activation;            /* (optional) of results */
	double eps;
};
tt_status tt_norm_launch(struct tt_tensor **out, struct tt_call *call,
			 const struct tt_norm_args *args);

/* Whether the compute config of a launch accumulates in float32. */
bool tt_norm_fp32(const struct tt_launch *launch);

/* How shards are worked on: from the program config, or from the shards. */
struct tt_norm_blocks {
	struct ttnn_core grid; /* around the shards */
	uint64_t h, w;         /* tiles of a core */
};
struct tt_norm_blocks tt_norm_blocks(const struct tt_launch *launch);

/* The memory of the two factories. */
tt_status tt_norm_rows_interleaved(struct tt_plan *plan, const struct tt_launch *launch);
tt_status tt_norm_rows_sharded(struct tt_plan *plan, const struct tt_launch *launch);

/*
 * Of in (+ residual): the sum of squares of each row, and for LAYER the sum, a tile column each. Averages, as
 * programs over shards have them, are the mean first and then that of squares.
 */
tt_status tt_norm_sums(const struct tt_norm_job *job, bool averages);

/* Normalises with the sums, or averages, of all devices side by side instead of the input's own. */
tt_status tt_norm_apply(const struct tt_norm_job *job, struct tt_tensor *stats, bool averages);

/*
 * The same by means and variances: those of each row, a tile each; the mean of all devices and 1 / sqrt(variance +
 * epsilon); both halves of layer_norm with them.
 */
tt_status tt_norm_parts(struct tt_tensor *out, struct tt_tensor *in);
tt_status tt_norm_join(struct tt_tensor **mean, struct tt_tensor **factor, struct tt_tensor *stats,
		       double epsilon);
tt_status tt_norm_parts_of(const struct tt_norm_job *job);
tt_status tt_norm_apply_parts(const struct tt_norm_job *job, struct tt_tensor *stats);

/* Cores for the tile rows of a tensor, row by row of the grid. */
tt_status tt_norm_cores(const ttnn_core_set **out, const struct tt_launch *launch);

#endif
