/*
 * reduce_program.h: the programs under sum, mean, max, min, std and var, between the files that describe them
 * and the operations in reduce_ops.c.
 */
#ifndef TT_OPS_REDUCE_REDUCE_PROGRAM_H
#define TT_OPS_REDUCE_REDUCE_PROGRAM_H

#include "ops/reduce/reduce.h"

enum tt_reduce_math {
	TT_MATH_SUM,
	TT_MATH_AVG,
	TT_MATH_MAX,
	TT_MATH_MIN,
	TT_MATH_STD,
	TT_MATH_VAR
};
enum tt_reduce_dim { TT_DIM_H, TT_DIM_W, TT_DIM_HW };
extern const struct tt_enum tt_enum_reduce_math, tt_enum_reduce_dim;

/* Where the factor comes in: nowhere, as a tile that is multiplied with, or afterwards. */
enum tt_scaler_mode { TT_SCALER_NONE, TT_SCALER_TILE, TT_SCALER_POST };

/* One pass over height or width of a tensor of four dimensions. */
struct tt_reduce_pass {
	struct tt_tensor *in;
	enum tt_reduce_math math;
	enum tt_reduce_dim dim;
	double scaler, post; /* factors, by mode */
	enum tt_scaler_mode mode;
	const struct ttnn_memory_config *memory;
	enum ttnn_dtype dtype;
	struct ttnn_value compute;
	const ttnn_core_set *cores; /* (optional) */
	bool rows;                  /* the input is in rows and stays so */
	bool vector;                /* the vector unit does it */
	bool negate;                /* the least as the negative of the largest negative */
	uint32_t slices;            /* of the height, each reduced by itself; 1: the whole */
	enum ttnn_layout layout;    /* of the result */
};
tt_status tt_reduce_pass(struct tt_tensor **out, struct tt_call *call,
			 const struct tt_reduce_pass *pass);

/* A sum over one of the dimensions before the last two. */
struct tt_reduce_outer {
	struct tt_tensor *in;
	struct tt_tensor *out; /* (optional) given */
	int32_t dim;
	const struct ttnn_memory_config *memory;
	struct ttnn_value compute;
	const ttnn_core_set *cores;   /* (optional) */
	const enum ttnn_dtype *dtype; /* (optional) of the result */
};
tt_status tt_reduce_outer(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_reduce_outer *pass);

/* Deviation or variance over the last one, or the last two dimensions, and `batch` before them. */
struct tt_welford_pass {
	struct tt_tensor *in;
	enum tt_reduce_math math;
	enum tt_reduce_dim dim;
	double scalar;
	const struct ttnn_memory_config *memory;
	struct ttnn_value compute;
	const ttnn_core_set *cores; /* (optional) */
	bool correction;
	uint32_t batch;
};
tt_status tt_welford_pass(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_welford_pass *pass);

/* Ends a call on a tensor without elements: nothing, or no number, everywhere; no extremes of nothing. */
tt_status tt_reduce_empty(struct tt_call *call, struct tt_tensor *in, enum tt_reduce_math math,
			  const struct tt_reduction_dims *dims);

/*
 * The spec of a result: all of *args but the memory, which is spread over the cores asked for.
 * Upstream cuts shards with its spec for any rank, and the result tells so.
 */
tt_status tt_reduced_spec(struct ttnn_tensor_spec *out, struct ttnn_spec_args *args,
			  const struct ttnn_memory_config *asked,
			  const struct ttnn_tensor_spec *in);

/* Cores for so many units of work, column by column: of `asked`, a core set or None, or of the grid. */
tt_status tt_cores_of(const ttnn_core_set **out, const struct tt_launch *launch,
		      const struct ttnn_value *asked, uint64_t units);

#endif
