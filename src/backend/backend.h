/*
 * backend.h: where numbers are made. One struct of functions; `cpu` implements it here, others may
 * be loaded at run time.
 *
 * The operation layer describes work as jobs over device tensors and calls these functions; it never
 * sees a pointer to data. Every job obeys the same rules:
 *
 *   values     are those of the logical shape. What lies in padding afterwards is unspecified, and
 *              padding of inputs never influences a value.
 *   types      inputs and outputs may differ in dtype, layout and tile; the backend converts. Floats
 *              are computed in float32 (sums may use more) and rounded once, to nearest even, when
 *              stored; integers are computed in 64 bits, of which a result keeps the low ones.
 *              Block floats are rounded as if their padding were zero.
 *   aliasing   an output may be the same tensor as an input of the same shape (in-place forms).
 *   devices    a tensor lies on one chip: who has tensors on several gives their shards one by one.
 *   threads    results do not depend on the number of threads, nor on the instruction set.
 *   failure    a status; what outputs hold then is unspecified.
 */
#ifndef TT_BACKEND_BACKEND_H
#define TT_BACKEND_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "tensor/fn.h"
#include "tensor/tensor.h"

/* ---- element-wise ----------------------------------------------------------------------------- */

/*
 * out = post(op(pre[0](in[0]), pre[1](in[1]), pre[2](in[2]))), with numpy broadcasting of logical
 * shapes. An operand whose tensor is NULL is the number in scalar[]. Computed in integers when all
 * tensors that go in are of integers; a TYPECAST step (parameters: from, to) of floats makes the
 * whole chain one of floats. Without functions this converts: type, layout, tile.
 */
struct tt_map_job {
	struct tt_tensor *out;
	uint32_t arity;          /* 1, 2 or 3 */
	struct tt_tensor *in[3]; /* NULL: scalar */
	double scalar[3];
	const struct tt_unary_step *pre[3]; /* (optional) */
	uint32_t pre_count[3];
	uint32_t op;      /* arity 2: enum tt_binary_fn; 3: enum tt_ternary_fn; 1: none */
	double params[3]; /* of op */
	const struct tt_unary_step *post; /* (optional) */
	uint32_t post_count;
	bool as_float; /* integers in are computed as float32, not as integers */
};

/* ---- movement ------------------------------------------------------------------------------------ */

/*
 * Copies elements along nested loops. Loop l runs i = 0 .. extent-1 and adds i × in_step to
 * coordinate in_dim of the input and i × out_step to coordinate out_dim of the output, on top of
 * in_start and out_start. A dim of -1 moves nothing on that side. Several loops may move the same
 * dimension. So slices, permutations, concatenation, padding, repetition and broadcasting are all
 * this one job. Elements of the output that no loop reaches keep their value (beside new ones a
 * block float may round them anew). No element is written twice.
 */
struct tt_move_loop {
	uint32_t extent;
	int32_t in_dim, out_dim;
	int64_t in_step, out_step;
};
struct tt_move_job {
	struct tt_tensor *out, *in;
	const struct tt_move_loop *loops; /* outermost first */
	uint32_t loop_count;
	int64_t in_start[TTNN_MAX_RANK], out_start[TTNN_MAX_RANK];
};

/* What a fill reaches. */
enum tt_fill_region {
	TT_FILL_ALL,     /* padding too */
	TT_FILL_PADDING, /* only what layout and alignment added */
};

/* ---- reductions ------------------------------------------------------------------------------------ */

enum tt_reduce_kind {
	TT_REDUCE_SUM,
	TT_REDUCE_MEAN,
	TT_REDUCE_MAX,
	TT_REDUCE_MIN,
	TT_REDUCE_PROD,
	TT_REDUCE_VAR,
	TT_REDUCE_STD,
};

/*
 * Reduces the dimensions in `dims` (bit d) of `in`. The output's elements, in row-major order, are
 * those of the shape with these dimensions set to 1: a dropped dimension needs no other job.
 */
struct tt_reduce_job {
	struct tt_tensor *out, *in;
	enum tt_reduce_kind kind;
	uint32_t dims;
	double scale;      /* multiplies the result (1 for none) */
	double correction; /* VAR, STD: the divisor is count - correction */
};

/* Running sum or product along one dimension. */
struct tt_scan_job {
	struct tt_tensor *out, *in;
	uint32_t dim;
	bool product, reverse;
};

/* softmax(in × scale + mask) along dim; mask (optional) is broadcast. */
struct tt_softmax_job {
	struct tt_tensor *out, *in, *mask;
	uint32_t dim;
	double scale;
	bool stable; /* subtract the maximum first */
	bool causal; /* keep only j <= i + (columns - rows) */
	bool log;    /* log-softmax */
};

/*
 * Orders along dim: the first `count` values and where they were. Either output may be NULL. Equal
 * values keep their order; NaN counts as the largest.
 */
struct tt_sort_job {
	struct tt_tensor *values, *indices, *in;
	uint32_t dim;
	uint64_t count;
	bool descending;
};

/* ---- indexing ---------------------------------------------------------------------------------------- */

enum tt_index_kind {
	TT_INDEX_GATHER,    /* out[.., i, ..] = in[.., index[.., i, ..], ..] along dim */
	TT_INDEX_SCATTER,   /* out = in; then out[.., index[i], ..] takes source[i] along dim */
	TT_INDEX_EMBEDDING, /* out[i, :] = in[index[i], :] */
};

/* How an element of a scatter takes another, in row-major order of the index. */
enum tt_scatter_mode {
	TT_SCATTER_SET, /* the last one stays */
	TT_SCATTER_ADD,
	TT_SCATTER_MUL,
	TT_SCATTER_MIN,
	TT_SCATTER_MAX,
};

/* An index that is beyond the dimension is refused. */
struct tt_index_job {
	struct tt_tensor *out, *in, *index;
	struct tt_tensor *source; /* SCATTER alone */
	enum tt_index_kind kind;
	enum tt_scatter_mode mode;
	uint32_t dim; /* not for EMBEDDING */
};

/* ---- making values -------------------------------------------------------------------------------------- */

enum tt_random_kind { TT_RANDOM_UNIFORM, TT_RANDOM_NORMAL, TT_RANDOM_BERNOULLI };
struct tt_random_job {
	struct tt_tensor *out;
	enum tt_random_kind kind;
	uint64_t seed; /* the same seed gives the same values on every machine */
	double low,
		high; /* UNIFORM: [low, high). NORMAL: mean, deviation. BERNOULLI: probability */
	struct tt_tensor *probability; /* (optional) BERNOULLI: element by element */
};

/* ---- the interface ---------------------------------------------------------------------------------------- */

struct tt_backend {
	const char *name;
	/* Storage outside of any device's model, and the bytes behind storage of any kind. */
	tt_status (*storage)(struct tt_storage **out, uint64_t bytes);
	tt_status (*write)(struct tt_storage *storage, const void *bytes, uint64_t count);
	tt_status (*read)(void *bytes, struct tt_storage *storage, uint64_t count);

	tt_status (*map)(const struct tt_map_job *job);
	tt_status (*move)(const struct tt_move_job *job);
	/* The same elements in row-major order under another shape. */
	tt_status (*reshape)(struct tt_tensor *out, struct tt_tensor *in);
	/* The same bits under another dtype of the same size. */
	tt_status (*bitcast)(struct tt_tensor *out, struct tt_tensor *in);
	tt_status (*fill)(struct tt_tensor *out, double value, enum tt_fill_region region);
	/* out[i] = start + i × step, in row-major order. */
	tt_status (*range)(struct tt_tensor *out, double start, double step);
	tt_status (*reduce)(const struct tt_reduce_job *job);
	tt_status (*scan)(const struct tt_scan_job *job);
	tt_status (*softmax)(const struct tt_softmax_job *job);
	tt_status (*sort)(const struct tt_sort_job *job);
	tt_status (*index)(const struct tt_index_job *job);
	tt_status (*random)(const struct tt_random_job *job);
};

/* The backend in use: the best there is, or what TTNN_BACKEND names. Never NULL. */
const struct tt_backend *tt_backend_get(void);

extern const struct tt_backend tt_backend_cpu;

#endif
