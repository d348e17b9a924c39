/*
 * map_rows.c: element-wise jobs on strided arrays.
 *
 * Dimensions that lie alike in all tensors become one, so what remains innermost is a long run: in
 * it an operand either moves along with the output or stays at one element. A piece is a part of a
 * run, or as many short runs as it has room for.
 */
#include <string.h>

#include "backend/cpu/map_kernel.h"
#include "base/pool.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#define OUT 3 /* the output's place behind the operands' */

struct walk {
	const struct tt_map_work *work;
	uint32_t dims; /* at least 2: runs, and elements of a run */
	uint64_t extent[TTNN_MAX_RANK + 2];
	uint64_t stride[4][TTNN_MAX_RANK + 2]; /* elements; 0 where broadcast */
	size_t runs, length;                   /* of a full piece */
	uint64_t down, across;                 /* pieces along the last two dimensions */
	bool bf16;                             /* operands and result, and nothing in between */
};

/* One piece: where it begins in each tensor, and its size. */
struct piece {
	uint64_t at[4];
	size_t runs, length;
};

/* ---- dimensions ------------------------------------------------------------------------------- */

static uint64_t stride_of(const struct tt_area *area, uint32_t back)
{
	if (tt_shape_last(&area->shape, back) == 1)
		return 0;
	return back == 1 ? 1 : area->step[area->shape.rank - back] * area->cols;
}

/* Adds a dimension outside of those so far (which are kept innermost first for now). */
static void add_dim(struct walk *walk, uint64_t extent, const uint64_t stride[4])
{
	uint32_t last = walk->dims - 1;
	bool merges = walk->dims > 0;

	if (extent == 1)
		return;
	for (int k = 0; k < 4 && merges; k++)
		merges = stride[k] == walk->stride[k][last] * walk->extent[last];
	if (merges) {
		walk->extent[last] *= extent;
		return;
	}
	for (int k = 0; k < 4; k++)
		walk->stride[k][walk->dims] = stride[k];
	walk->extent[walk->dims++] = extent;
}

static void find_dims(struct walk *walk)
{
	const struct tt_map_work *work = walk->work;
	const struct tt_area *out = &work->out;
	uint64_t stride[4];

	if (tt_area_is_tiled(out)) { /* all alike: one run */
		for (int k = 0; k < 4; k++)
			stride[k] =
				k == OUT || (k < (int)work->job->arity && !work->in[k].constant);
		add_dim(walk, out->rows * out->cols, stride);
		return;
	}
	for (uint32_t back = 1; back <= out->shape.rank; back++) {
		for (uint32_t k = 0; k < OUT; k++)
			stride[k] = k >= work->job->arity || work->in[k].constant
					    ? 0
					    : stride_of(&work->in[k].area, back);
		stride[OUT] = stride_of(out, back);
		add_dim(walk, tt_shape_last(&out->shape, back), stride);
	}
}

/* Where rows of one element have padding, single elements become the runs. */
static void split_elements(struct walk *walk)
{
	bool apart = false;

	for (int k = 0; k < 4; k++)
		apart |= walk->stride[k][0] > 1;
	if (!apart)
		return;
	memmove(&walk->extent[1], walk->extent, walk->dims * sizeof(walk->extent[0]));
	walk->extent[0] = 1;
	for (int k = 0; k < 4; k++) {
		memmove(&walk->stride[k][1], walk->stride[k],
			walk->dims * sizeof(walk->stride[k][0]));
		walk->stride[k][0] = walk->stride[k][1] != 0;
	}
	walk->dims++;
}

/* Turns the dimensions round, outermost first, with two of them at least. */
static void order_dims(struct walk *walk)
{
	static const uint64_t none[4];

	while (walk->dims < 2) {
		for (int k = 0; k < 4; k++)
			walk->stride[k][walk->dims] = none[k];
		walk->extent[walk->dims++] = 1;
	}
	for (uint32_t i = 0, j = walk->dims - 1; i < j; i++, j--) {
		uint64_t extent = walk->extent[i];

		walk->extent[i] = walk->extent[j];
		walk->extent[j] = extent;
		for (int k = 0; k < 4; k++) {
			uint64_t stride = walk->stride[k][i];

			walk->stride[k][i] = walk->stride[k][j];
			walk->stride[k][j] = stride;
		}
	}
}

/* ---- loading and storing ----------------------------------------------------------------------- */

/* Lanes of an operand that is the same for all runs, or for all elements of a run. */
static void load_broadcast(const struct walk *walk, uint32_t which, char *lanes,
			   const uint8_t *from, const struct piece *piece)
{
	const struct tt_lane_kind *kind = &walk->work->kind;
	enum ttnn_dtype dtype = walk->work->in[which].area.dtype;
	size_t bytes = tt_dtype_bytes(dtype), run = piece->length * kind->bytes;
	uint64_t next = walk->stride[which][walk->dims - 2];

	if (walk->stride[which][walk->dims - 1] && next == 0) {
		tt_lanes_load(kind, lanes, from, dtype, piece->length);
		for (size_t i = 1; i < piece->runs; i++)
			memcpy(lanes + i * run, lanes, run);
		return;
	}
	for (size_t i = 0; i < piece->runs; i++, from += next * bytes) {
		if (walk->stride[which][walk->dims - 1]) {
			tt_lanes_load(kind, lanes + i * run, from, dtype, piece->length);
		} else {
			tt_lanes_load(kind, lanes + i * run, from, dtype, 1);
			tt_lanes_repeat(kind, lanes + i * run, lanes + i * run, piece->length);
		}
	}
}

/* Whether the runs of a piece follow each other without gaps. */
static bool is_dense(const struct walk *walk, uint32_t which, const struct piece *piece)
{
	return walk->stride[which][walk->dims - 1] &&
	       (piece->runs == 1 || walk->stride[which][walk->dims - 2] == piece->length);
}

static const void *load(const struct walk *walk, uint32_t which, union tt_lanes *room,
			const struct piece *piece)
{
	const struct tt_map_operand *in = &walk->work->in[which];
	const struct tt_lane_kind *kind = &walk->work->kind;
	enum ttnn_dtype dtype = in->area.dtype;
	const uint8_t *from;

	if (in->constant) /* the lanes are set already */
		return room;
	from = (const uint8_t *)in->area.data + piece->at[which] * tt_dtype_bytes(dtype);
	if (!is_dense(walk, which, piece)) {
		load_broadcast(walk, which, (char *)room, from, piece);
		return room;
	}
	if (tt_lanes_are(kind, dtype))
		return from;
	tt_lanes_load(kind, room, from, dtype, piece->runs * piece->length);
	return room;
}

static void run_piece(const struct walk *walk, union tt_lanes rooms[7], const struct piece *piece)
{
	const struct tt_map_work *work = walk->work;
	enum ttnn_dtype dtype = work->out.dtype;
	size_t bytes = tt_dtype_bytes(dtype), count = piece->runs * piece->length;
	uint8_t *to = (uint8_t *)work->out.data + piece->at[OUT] * bytes;
	bool dense = is_dense(walk, OUT, piece);
	void *result = dense && tt_lanes_are(&work->kind, dtype) ? (void *)to : &rooms[6];
	const void *in[3] = {NULL, NULL, NULL};

	if (walk->bf16 && dense && is_dense(walk, 0, piece) && is_dense(walk, 1, piece)) {
		work->kind.real_fns->binary_bf16[work->job->op](
			(uint16_t *)to, (const uint16_t *)work->in[0].area.data + piece->at[0],
			(const uint16_t *)work->in[1].area.data + piece->at[1], count,
			work->job->params);
		return;
	}
	for (uint32_t k = 0; k < work->job->arity; k++)
		in[k] = load(walk, k, &rooms[k], piece);
	tt_map_apply(work, result, &rooms[3], in, count);
	if (result == to)
		return;
	if (dense) {
		tt_lanes_store(&work->kind, to, dtype, result, count);
		return;
	}
	for (size_t i = 0; i < piece->runs; i++)
		tt_lanes_store(&work->kind, to + i * walk->stride[OUT][walk->dims - 2] * bytes,
			       dtype, (const char *)result + i * piece->length * work->kind.bytes,
			       piece->length);
}

/* ---- all pieces -------------------------------------------------------------------------------- */

/* Moves along dimension d of every tensor. */
static void advance(struct piece *piece, const struct walk *walk, uint32_t d, uint64_t by)
{
	for (int k = 0; k < 4; k++)
		piece->at[k] += by * walk->stride[k][d];
}

/* What is left of an extent, which is more than nothing, up to `most`. */
static size_t cut(uint64_t extent, uint64_t from, size_t most)
{
	return extent > from && extent - from < most ? (size_t)(extent - from) : most;
}

/* Pieces are numbered along the runs first, then over runs, then over the outer dimensions. */
static struct piece piece_at(const struct walk *walk, uint64_t number)
{
	uint32_t inner = walk->dims - 1;
	uint64_t along = number % walk->across * walk->length, run;
	struct piece piece = {{0}, 0, cut(walk->extent[inner], along, walk->length)};

	number /= walk->across;
	run = number % walk->down * walk->runs;
	number /= walk->down;
	piece.runs = cut(walk->extent[inner - 1], run, walk->runs);
	advance(&piece, walk, inner, along);
	advance(&piece, walk, inner - 1, run);
	for (uint32_t d = inner - 1; d-- > 0;) {
		advance(&piece, walk, d, number % walk->extent[d]);
		number /= walk->extent[d];
	}
	return piece;
}

static void run_pieces(void *context, size_t begin, size_t end)
{
	const struct walk *walk = context;
	const struct tt_map_work *work = walk->work;
	union tt_lanes rooms[7]; /* of operands, of steps, of the result */

	for (uint32_t k = 0; k < work->job->arity; k++)
		if (work->in[k].constant)
			tt_lanes_set(&work->kind, &rooms[k], work->in[k].value,
				     walk->runs * walk->length);
	for (uint64_t number = begin; number < end; number++) {
		struct piece piece = piece_at(walk, number);

		run_piece(walk, rooms, &piece);
	}
}

/* Whether a function of two operands has a form without lanes in between. */
static bool all_bf16(const struct tt_map_work *work)
{
	const struct tt_map_job *job = work->job;

	if (job->arity != 2 || work->kind.whole || !work->kind.real_fns->binary_bf16[job->op] ||
	    job->pre_count[0] || job->pre_count[1] || job->post_count ||
	    work->out.dtype != TTNN_BFLOAT16)
		return false;
	for (int k = 0; k < 2; k++)
		if (work->in[k].constant || work->in[k].area.dtype != TTNN_BFLOAT16)
			return false;
	return true;
}

void tt_map_rows(const struct tt_map_work *work)
{
	struct walk
		walk; /* large, and of most dimensions nothing is needed: so it is not cleared */
	uint64_t pieces, inner;

	walk.work = work;
	walk.bf16 = all_bf16(work);
	walk.dims = 0;
	for (int k = 0; k < 4; k++)
		walk.stride[k][0] = 0;
	find_dims(&walk);
	split_elements(&walk);
	order_dims(&walk);
	inner = walk.extent[walk.dims - 1];
	walk.length = cut(inner, 0, TT_CPU_PIECE);
	walk.runs = cut(walk.extent[walk.dims - 2], 0, TT_CPU_PIECE / walk.length);
	walk.across = tt_div_up(inner, walk.length);
	walk.down = tt_div_up(walk.extent[walk.dims - 2], walk.runs);
	pieces = walk.across * walk.down;
	for (uint32_t d = 0; d + 2 < walk.dims; d++)
		pieces *= walk.extent[d];
	tt_pool_for((size_t)pieces, TT_CPU_GRAIN / (walk.runs * walk.length), run_pieces, &walk);
}
