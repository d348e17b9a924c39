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
 *   threads    results do not depend on the number of threads; nor on the instruction set, but for
 *              those of products (matrices, convolutions, attention), whose sums each set adds up
 *              in its own order.
 *   optional   a tensor marked so may be NULL.
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
 * shapes; leading extents of 1 do not count. An operand whose tensor is NULL is the number in scalar[]. Computed in integers when all
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
	bool average; /* y[i] = keep × y[i - 1] + (1 - keep) × x[i] instead, in reals */
	double keep;
};

/* States of state space models: `latent` of them for each channel, side by side. Rank 4, tiles or rows. */
enum tt_states_kind {
	TT_STATES_SPREAD, /* out = a × b; a may be one group of states, b one number for each group */
	TT_STATES_SUM,    /* out = the sum of each group of a */
	TT_STATES_SCAN, /* out = state = a × state + b, row after row */
};
struct tt_states_job {
	enum tt_states_kind kind;
	struct tt_tensor *out, *a, *b, *state; /* b: not of SUM; state: only of SCAN */
	uint32_t latent;
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
	TT_INDEX_ADD_ROWS,  /* out = 0; then out[index[i], :] grows by in[i, :] */
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
	uint32_t dim; /* GATHER, SCATTER */
};

/* ---- matrix products ------------------------------------------------------------------------------ */

/*
 * out = post(alpha × a · b + beta × bias). The last two dimensions are the matrices (of rank 1: one
 * row), those before are broadcast as numpy does. Any types; products are of float32, or of bfloat16
 * when both sides fit in it, and add up in float32. The output's elements, in row-major order, are
 * those of the broadcast batch × rows × columns.
 */
struct tt_matmul_job {
	struct tt_tensor *out, *a, *b;
	bool transpose_a, transpose_b;    /* the last two dimensions of a side are exchanged */
	double alpha;                     /* 1 for none */
	struct tt_tensor *bias;           /* (optional) broadcast to batch × rows × columns */
	double beta;                      /* 1 for none */
	const struct tt_unary_step *post; /* (optional) */
	uint32_t post_count;
};

/* ---- windows over images ----------------------------------------------------------------------------- */

/*
 * A window that slides over images. Images lie with their channels last: a tensor's elements, in
 * row-major order, are [batch, height, width, channels], whatever its shape is. Index 0 of a pair is
 * down, 1 across. Element (y, x) of the result sees rows y × stride[0] - pad[0] + k × dilation[0] of
 * the input, for k < kernel[0], and columns alike; what lies outside of the image is padding.
 */
struct tt_window {
	uint32_t batch, height, width, channels; /* of the input */
	uint32_t out_height, out_width;
	uint32_t kernel[2], stride[2], dilation[2];
	uint32_t pad[4]; /* top, left, bottom, right */
};

/* How the weights of a convolution lie. */
enum tt_weight_form {
	/*
	 * Elements in row-major order are [out, in / groups, kernel down, kernel across]; of a
	 * transposed convolution [in, out / groups, kernel down, kernel across].
	 */
	TT_WEIGHT_OIHW,
	/*
	 * The last two dimensions are a matrix with a column for each output channel (or more:
	 * what is beyond is not used). Its rows are [slices, kernel down, kernel across, depth]:
	 * input channel c is slice c / per, row c % per of its depth, where per is the number of
	 * input channels of a group divided by the slices, rounded up. Not for transposed ones.
	 */
	TT_WEIGHT_MATRIX,
};

/*
 * out = post(convolution of in with weight + bias). The transposed form is the gradient of the plain
 * one: input (y, x) adds to rows y × stride[0] - pad[0] + k × dilation[0] of the output.
 */
struct tt_conv_job {
	struct tt_tensor *out, *in, *weight;
	struct tt_tensor *bias; /* (optional) its first out_channels elements */
	struct tt_window window;
	uint32_t out_channels, groups;
	bool transposed;
	bool replicate; /* padding is the nearest element at the edge, not zeros */
	enum tt_weight_form form;
	uint32_t slices, depth;           /* MATRIX */
	const struct tt_unary_step *post; /* (optional) */
	uint32_t post_count;
};

/*
 * out = convolution of volumes [batch, depth, height, width, channels] with weights, + bias. A row of `out` is what
 * the windows of one place see times `weight` (plus `weight_low`), a matrix whose rows are [blocks of channels, depth,
 * height, width of the kernel, channels of a block]. What lies outside is zeros, the nearest element inside (replicate), or in
 * `halo`: rows of channels for places above, below, left and right of each slice, each [batch × depth, rows, columns]. Rows and
 * columns from mask[] on (0: none) are zeros, counted from the two numbers in `origin`. Around its places `out` has
 * out_pad[] rows and columns of zeros.
 */
struct tt_conv3d_job {
	struct tt_tensor *out, *in, *weight;
	struct tt_tensor *weight_low, *bias, *halo, *origin; /* (optional) */
	uint32_t kernel[3], stride[3], pad[3], dilation[3];
	uint32_t block; /* channels of a block; they divide into such */
	bool halves;    /* sums of blocks are rounded to bfloat16 */
	bool replicate;
	uint32_t mask[2], out_pad[2];
};

enum tt_pool_kind { TT_POOL_MAX, TT_POOL_AVERAGE };

/*
 * The largest element of a window, or the average. An average divides by `divisor` or, if that is 0,
 * by the elements of the window that lie inside of the image, or of image and padding if
 * count_padding: what ceil mode adds beyond the padding never counts.
 */
struct tt_pool_job {
	struct tt_tensor *out, *in;
	struct tt_tensor *indices; /* (optional) MAX: where it was, as row × width + column */
	enum tt_pool_kind kind;
	struct tt_window window;
	bool count_padding;
	double divisor;
};

/*
 * Images in another size (out_height × out_width of the window, of which kernel, stride, dilation
 * and pad are not used): each element is the nearest one of the input as floor(y × height /
 * out_height), or interpolated between the four around the middle of its place.
 */
struct tt_resize_job {
	struct tt_tensor *out, *in;
	struct tt_window window;
	bool linear;
};

/*
 * Images [batch, height, width, channels] where points of a grid lie, zeros outside: the grid's
 * elements are, point after point, x and y from -1 to 1 (with corners: the middles of the outermost
 * pixels), between which four pixels are weighted; or precomputed: row and column as the bits of
 * bfloat16 and, unless nearest, the weights of that pixel, the next one, and the two below. out has
 * the channels of a point one after the other. With weights there is one for each point, and out has
 * the weighted sum of every `together` points.
 */
struct tt_sample_job {
	struct tt_tensor *out, *in, *grid;
	struct tt_tensor *weights; /* (optional) */
	uint32_t together;         /* with them */
	bool nearest, precomputed, corners;
};

/*
 * Images [batch, height, width, channels] turned around a point. Numbers have 16 bits behind the point. Pixels
 * outside of the image are `fill`; linear weights four pixels, else the nearest is taken.
 */
struct tt_rotate_job {
	struct tt_tensor *out, *in;
	int64_t cosine, sine;
	int64_t center[2]; /* down, across */
	float fill;
	bool linear;
};

/*
 * A picture [3, height, width, times] in red, green and blue as three tensors of bytes, in row-major order: brightness of each
 * pixel, two colours of four pixels each. A byte is terms × (red, green, blue, 1), clamped, to the nearest whole number.
 */
struct tt_yuv_job {
	struct tt_tensor *out[3], *in;
	float terms[3][4];
};

/* ---- normalisation -------------------------------------------------------------------------------------- */

enum tt_norm_kind {
	TT_NORM_LAYER, /* along the last dimension */
	TT_NORM_RMS,   /* the same without subtracting the mean */
	TT_NORM_GROUP, /* [batch, .., channels]: each group of channels of each batch */
	TT_NORM_BATCH, /* [batch, channels, ..] with the mean and variance given */
};

/*
 * out = (x - mean) / sqrt(variance + epsilon) × gamma + beta, where x = in + residual. gamma, beta,
 * mean and variance hold, in row-major order, an element for each of the last dimension (BATCH: of
 * dimension 1); more are not used.
 */
struct tt_norm_job {
	struct tt_tensor *out, *in;
	struct tt_tensor *residual;        /* (optional) LAYER, RMS: of the input's shape */
	struct tt_tensor *gamma, *beta;    /* (optional) */
	struct tt_tensor *mean, *variance; /* BATCH alone */
	enum tt_norm_kind kind;
	uint32_t groups; /* GROUP */
	uint32_t
		part; /* (optional) GROUP: so many elements of gamma and beta, then padding to a whole tile, and so on */
	double epsilon;
	const struct tt_unary_step *post; /* (optional) */
	uint32_t post_count;
};

/* How many elements gamma has for channels in such parts; 0: without padding. */
static inline uint64_t tt_norm_vector(uint64_t channels, uint32_t part)
{
	return part ? channels / part * ((part + 31u) / 32 * 32) : channels;
}

/* ---- attention ------------------------------------------------------------------------------------------- */

/*
 * out = softmax(q · kᵀ × scale + mask) · v for each head of each batch.
 *
 *   q, out     [batch, heads, rows, width]; with `decode` [1, batch, heads, width]: one row each
 *   k, v       [batch or 1, key heads, columns, width]; heads is a multiple of the key heads, and a
 *              head uses key head number head / (heads / key heads). Without v the values are the
 *              first out-width columns of k. v and out have a width of their own, and v may have
 *              another number of heads if one number divides the other.
 *   pages      k and v are [blocks, key heads, block rows, width], and column j of batch b lies in
 *              row j % block rows of block pages[b, j / block rows]
 *   modulo     not 0: and column j where column j % modulo does; a multiple of the block rows
 *   mask       [batch or 1, heads or 1, rows or 1, columns]; with `decode` [batch or 1, 1, heads or
 *              1, columns]. Columns beyond its last one are not seen.
 *              It may have fewer heads, each for as many.
 *   chosen     [1, groups of heads, rows, any]: numbers of blocks of `block` columns that a row
 *              sees; 0xffffffff is none
 *   position   row i of a batch is at position start + i, or its own start from positions[batch]
 *              (one for all if there is but one);
 *              a start below 0 leaves zeros for that batch
 *   causal     a row sees the columns up to its position
 *   window     not 0: and, if causal, only the last `window` of those; else those at most window/2
 *              away
 *   segments   the first columns of parts of the sequence and, last, its end: a row sees the columns
 *              of its own part alone
 *   sink       the same number of elements for each head: its first one, times the scale, takes part
 *              in the softmax, with no value
 *
 * A row that sees no column is 0. Memory is linear in rows and columns; `chosen` takes their product.
 */
struct tt_attention_job {
	struct tt_tensor *out, *q, *k;
	struct tt_tensor *v, *mask, *pages, *segments, *sink; /* (optional) */
	struct tt_tensor *positions;  /* (optional) a whole number for each batch, or for all; or */
	const int32_t *position_list; /* (optional) the same, as many as there are batches */
	int64_t start;
	double scale;
	bool causal, decode;
	uint32_t window;
	uint32_t modulo; /* 0: none; with pages */
	uint32_t slot;   /* the batch of k and v that belongs to the first of q; without pages */
	struct tt_tensor *chosen; /* (optional) instead of a mask, for one batch */
	uint32_t block;
};

/*
 * Writes rows into a cache of keys or values: row i of batch b goes to position start + i (or from
 * positions[b] on) of cache batch batch_start + b, or batch_index[b]. Heads, rows and columns that only one side has
 * are left out, and so is a batch whose start is below 0.
 *
 *   in         [batch, heads, rows, width]; with `decode` [1, batch, heads, width]
 *   cache      [batch, heads, rows, width], or with pages [blocks, heads, block rows, width] as
 *              for attention, where the cache batch is a row of the page table; a block below 0
 *              is left out
 *   modulo     not 0, with pages: position p goes where p % modulo does, the last ones stay
 *   valid      with modulo: rows from this number on, made a whole number of blocks, are left out
 */
struct tt_cache_job {
	struct tt_tensor *cache, *in;
	struct tt_tensor *pages;       /* (optional) */
	struct tt_tensor *positions;   /* (optional) */
	const int32_t *position_list;  /* (optional) */
	struct tt_tensor *batch_index; /* (optional) a cache batch for each batch, or for all */
	struct tt_tensor *valid;       /* (optional) its first element */
	int64_t start;
	uint32_t batch_start;
	uint32_t modulo;
	bool decode;
};

enum tt_rotary_kind {
	TT_ROTARY_HALVES, /* turned(x) = (-second half, first half) of a row */
	TT_ROTARY_PAIRS,  /* turned(x) = (-x1, x0, -x3, x2, ..) */
	TT_ROTARY_MATRIX, /* turned(x) = x · matrix, which is as wide as a divisor of the row */
};

/*
 * out = x × cos + turned(x) × sin. cos and sin are broadcast to x as numpy does, but that row i of
 * x goes with their row start + i when they have more rows than one; with `same_row` all go with
 * row `start`.
 */
struct tt_rotary_job {
	struct tt_tensor *out, *in, *cos, *sin;
	struct tt_tensor *matrix; /* MATRIX: its last two dimensions */
	enum tt_rotary_kind kind;
	uint32_t start;
	bool same_row;
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
	tt_status (*states)(const struct tt_states_job *job);
	tt_status (*softmax)(const struct tt_softmax_job *job);
	tt_status (*sort)(const struct tt_sort_job *job);
	tt_status (*index)(const struct tt_index_job *job);
	/*
	 * count[0] is how many elements are not zero; `where` has the coordinates of each, one after
	 * the other, and zeros behind them.
	 */
	tt_status (*nonzero)(struct tt_tensor *count, struct tt_tensor *where,
			     struct tt_tensor *in);
	tt_status (*random)(const struct tt_random_job *job);
	tt_status (*matmul)(const struct tt_matmul_job *job);
	tt_status (*conv)(const struct tt_conv_job *job);
	tt_status (*conv3d)(const struct tt_conv3d_job *job);
	tt_status (*pool)(const struct tt_pool_job *job);
	tt_status (*resize)(const struct tt_resize_job *job);
	tt_status (*sample)(const struct tt_sample_job *job);
	tt_status (*rotate)(const struct tt_rotate_job *job);
	tt_status (*yuv)(const struct tt_yuv_job *job);
	tt_status (*norm)(const struct tt_norm_job *job);
	tt_status (*attention)(const struct tt_attention_job *job);
	tt_status (*cache)(const struct tt_cache_job *job);
	tt_status (*rotary)(const struct tt_rotary_job *job);
};

/* The backend in use: the best there is, or what TTNN_BACKEND names. Never NULL. */
const struct tt_backend *tt_backend_get(void);

extern const struct tt_backend tt_backend_cpu;

#endif
