#include "backend/cpu/dnnl.h"

#include "backend/cpu/dnnl_plan.h"

#if TT_HAS_DNNL
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/large.h"
#include "base/pool.h"

#define LEAST_WORK ((size_t)1 << 18) /* products that are worth a call */
#define FULL_WORK                                                                                  \
	((size_t)1 << 21) /* the same of float32: our own are as fast below, and need no plan */
#define SQUARE 16         /* rows and columns that are turned together, so that lines are used up */

bool tt_dnnl_wants(bool half, size_t work)
{
	const struct tt_dnnl *dnnl;

	if (work < LEAST_WORK)
		return false;
	dnnl = tt_dnnl_get();
	if (!dnnl || tt_cpu_isa() != dnnl->isa)
		return false;
	if (dnnl->everything)
		return true;
	return half ? dnnl->half : dnnl->isa == TT_ISA_AVX512 && work >= FULL_WORK;
}

/* ---- calls --------------------------------------------------------------------------------------- */

/*
 * Kernels of oneDNN before 3.12 let the stack pointer point into their scratch memory while they
 * run, and a signal's frame would be written in front of that. So no signal may come to this thread
 * meanwhile, nor may those of the C library itself, which pthread_sigmask() leaves out. They come
 * when the call has ended, which is soon. Returns whether it was done, for unblock().
 */
static bool block_signals(uint64_t *before)
{
	uint64_t all = UINT64_MAX;

	return syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, before, sizeof(all)) == 0;
}

static void unblock_signals(uint64_t before)
{
	(void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
}

/* An argument of a call. */
struct argument {
	int what;
	tt_dnnl_borrowed desc;
	void *data;
};

static bool execute(const struct tt_dnnl *dnnl, dnnl_primitive_t primitive, dnnl_stream_t stream,
		    const dnnl_exec_arg_t *args, int count)
{
	uint64_t signals = 0;
	bool blocked = block_signals(&signals);
	bool good = dnnl->primitive_execute(primitive, stream, count, args) == dnnl_success &&
		    dnnl->stream_wait(stream) == dnnl_success;

	if (blocked)
		unblock_signals(signals);
	return good;
}

static bool call(const struct tt_dnnl *dnnl, dnnl_primitive_t primitive,
		 const struct argument *arguments, int count)
{
	dnnl_exec_arg_t args[4];
	dnnl_stream_t stream = NULL;
	int made = 0, before = tt_dnnl_alone(dnnl);
	bool good = dnnl->stream_create(&stream, dnnl->engine, dnnl_stream_default_flags) ==
		    dnnl_success;

	for (; good && made < count; made += good) {
		args[made].arg = arguments[made].what;
		good = dnnl->memory_create(&args[made].memory, arguments[made].desc, dnnl->engine,
					   arguments[made].data) == dnnl_success;
	}
	good = good && execute(dnnl, primitive, stream, args, count);
	while (made)
		dnnl->memory_destroy(args[--made].memory);
	if (stream)
		dnnl->stream_destroy(stream);
	tt_dnnl_not_alone(dnnl, before);
	return good;
}

/* ---- dense rows ---------------------------------------------------------------------------------- */

#define COPY_TRANSPOSED(name, type)                                                                \
	static void name(type *to, const struct tt_matrix *from, size_t rows, size_t cols)         \
	{                                                                                          \
		const type *data = from->data;                                                     \
                                                                                                   \
		for (size_t row = 0; row < rows; row += SQUARE)                                    \
			for (size_t col = 0; col < cols; col += SQUARE)                            \
				for (size_t i = row; i < rows && i < row + SQUARE; i++)            \
					for (size_t k = col; k < cols && k < col + SQUARE; k++)    \
						to[i * cols + k] = data[i * from->row_step +       \
									k * from->col_step];       \
	}
COPY_TRANSPOSED(copy_transposed_half, uint16_t)
COPY_TRANSPOSED(copy_transposed_full, float)

static void copy_dense(void *to, const struct tt_matrix *from, size_t rows, size_t cols)
{
	size_t bytes = from->half ? sizeof(uint16_t) : sizeof(float);

	if (from->col_step != 1 && from->half)
		copy_transposed_half(to, from, rows, cols);
	else if (from->col_step != 1)
		copy_transposed_full(to, from, rows, cols);
	else if (from->row_step == cols)
		memcpy(to, from->data, rows * cols * bytes);
	else
		for (size_t i = 0; i < rows; i++)
			memcpy((uint8_t *)to + i * cols * bytes,
			       (const uint8_t *)from->data + i * from->row_step * bytes,
			       cols * bytes);
}

/* ---- packing ------------------------------------------------------------------------------------- */

static size_t up(size_t count, size_t unit)
{
	return (count + unit - 1) / unit;
}

/* What packs a block, where oneDNN has its own order for it. */
struct reorder {
	struct tt_dnnl_desc from;
	dnnl_primitive_desc_t pd;
	dnnl_primitive_t primitive;
};

struct packing {
	const struct tt_dnnl_plan *plan;
	const struct tt_matrix *b;
	void *out;
	size_t pieces;                /* of the depth */
	struct reorder reorder[2][2]; /* [depth][col] */
	atomic_bool failed;
};

static bool reorder_init(struct reorder *out, const struct packing *packing, int piece, int col)
{
	const struct tt_dnnl_plan *plan = packing->plan;
	const struct tt_dnnl *dnnl = plan->dnnl;
	const struct tt_dnnl_right *right = &plan->right[piece][col];

	if (!right->pd || right->plain)
		return true;
	return tt_dnnl_desc_init(&out->from, dnnl,
				 (const size_t[]){plan->depth[piece], plan->cols[col]},
				 tt_dnnl_type(plan),
				 (const size_t[]){packing->b->row_step, packing->b->col_step}) &&
	       dnnl->reorder_primitive_desc_create(&out->pd, TT_DNNL_LEND(&out->from), dnnl->engine,
						   right->weights, dnnl->engine,
						   NULL) == dnnl_success &&
	       dnnl->primitive_create(&out->primitive, out->pd) == dnnl_success;
}

static void reorder_deinit(struct reorder *reorder, const struct tt_dnnl *dnnl)
{
	if (reorder->primitive)
		dnnl->primitive_destroy(reorder->primitive);
	if (reorder->pd)
		dnnl->primitive_desc_destroy(reorder->pd);
	tt_dnnl_desc_deinit(&reorder->from, dnnl);
}

static bool pack_block(const struct packing *packing, size_t col, size_t piece)
{
	const struct tt_dnnl_plan *plan = packing->plan;
	size_t row = piece * TT_DNNL_DEPTH, from = col * TT_DNNL_COLS;
	int last_col = plan->size.cols - from < TT_DNNL_COLS;
	int last_piece = plan->size.depth - row < TT_DNNL_DEPTH;
	const struct tt_dnnl_right *right = &plan->right[last_piece][last_col];
	const struct reorder *reorder = &packing->reorder[last_piece][last_col];
	struct tt_matrix part = tt_matrix_at(packing->b, row, from);
	void *to = (uint8_t *)packing->out + tt_dnnl_packed_at(plan, col, piece);

	if (right->plain) {
		size_t used = plan->depth[last_piece] * plan->cols[last_col] *
			      (packing->b->half ? sizeof(uint16_t) : sizeof(float));

		copy_dense(to, &part, plan->depth[last_piece], plan->cols[last_col]);
		memset((uint8_t *)to + used, 0, right->bytes - used);
		return true;
	}
	return call(plan->dnnl, reorder->primitive,
		    (const struct argument[]){
			    {DNNL_ARG_FROM, TT_DNNL_LEND(&reorder->from), (void *)part.data},
			    {DNNL_ARG_TO, right->weights, to}},
		    2);
}

static void pack_blocks(void *context, size_t begin, size_t end)
{
	struct packing *packing = context;

	for (size_t n = begin; n < end; n++)
		if (!pack_block(packing, n / packing->pieces, n % packing->pieces))
			atomic_store(&packing->failed, true);
}

bool tt_dnnl_pack(void *out, const struct tt_dnnl_plan *plan, const struct tt_matrix *b)
{
	const struct tt_dnnl *dnnl = plan->dnnl;
	struct packing packing = {
		.plan = plan, .b = b, .out = out, .pieces = up(plan->size.depth, TT_DNNL_DEPTH)};
	size_t count = packing.pieces * up(plan->size.cols, TT_DNNL_COLS);
	int before = tt_dnnl_make_begin(dnnl);
	bool good = true;

	for (int i = 0; good && i < 4; i++)
		good = reorder_init(&packing.reorder[i / 2][i % 2], &packing, i / 2, i % 2);
	tt_dnnl_make_end(dnnl, before);
	if (good)
		tt_pool_for(count, 1, pack_blocks, &packing);
	before = tt_dnnl_make_begin(dnnl);
	for (int i = 0; i < 4; i++)
		reorder_deinit(&packing.reorder[i / 2][i % 2], dnnl);
	tt_dnnl_make_end(dnnl, before);
	return good && !atomic_load(&packing.failed);
}

/* ---- products ------------------------------------------------------------------------------------- */

struct run {
	const struct tt_dnnl_plan *plan;
	const struct tt_gemm *gemm;
	size_t row_blocks, col_blocks;
	_Atomic tt_status status;
};

/* Memory of a block: rows of the left side, then oneDNN's. */
struct room {
	uint8_t *block;
	size_t left_bytes, bytes;
};

static size_t largest(size_t a, size_t b)
{
	return a > b ? a : b;
}

static bool room_init(struct room *room, const struct tt_dnnl_plan *plan, int row, int col)
{
	size_t depth = plan->depth[0] ? plan->depth[0] : plan->depth[1];

	room->left_bytes = up(plan->rows[row] * depth * sizeof(float), TT_DNNL_LINE) * TT_DNNL_LINE;
	room->bytes = room->left_bytes + largest(plan->first[row][col].scratch_bytes,
						 largest(plan->more[0][row][col].scratch_bytes,
							 plan->more[1][row][col].scratch_bytes));
	room->block = tt_large_alloc(room->bytes);
	return room->block != NULL;
}

/* Part of the left side, dense: where it lies, or in `room`. */
static const void *load_left(float *room, const struct run *run, const struct tt_gemm_part *part)
{
	struct tt_matrix a = run->gemm->left(run->gemm->context, room, part);

	if (a.row_step == part->depth && a.col_step == 1)
		return a.data;
	copy_dense(room, &a, part->rows, part->depth);
	return room;
}

static tt_status run_block(const struct run *run, size_t n)
{
	const struct tt_dnnl_plan *plan = run->plan;
	size_t row = n % run->row_blocks * TT_DNNL_ROWS, col = n / run->row_blocks;
	size_t from = col * TT_DNNL_COLS, depth = plan->size.depth;
	int last_row = plan->size.rows - row < TT_DNNL_ROWS;
	int last_col = plan->size.cols - from < TT_DNNL_COLS;
	struct tt_gemm_part part = {.row = row, .rows = plan->rows[last_row]};
	struct room room;
	bool good = true;

	if (!room_init(&room, plan, last_row, last_col))
		return TTNN_NOMEM;
	for (; good && part.from < depth && tt_deadline_check() == TTNN_OK;
	     part.from += TT_DNNL_DEPTH) {
		size_t piece = part.from / TT_DNNL_DEPTH;
		int last = depth - part.from < TT_DNNL_DEPTH;
		const struct tt_dnnl_block *block = piece ? &plan->more[last][last_row][last_col]
							  : &plan->first[last_row][last_col];

		part.depth = plan->depth[last];
		struct argument arguments[4] = {
			{DNNL_ARG_SRC, TT_DNNL_LEND(&block->a),
			 (void *)load_left((float *)room.block, run, &part)},
			{DNNL_ARG_WEIGHTS, plan->right[last][last_col].weights,
			 (uint8_t *)run->gemm->right->data + tt_dnnl_packed_at(plan, col, piece)},
			{DNNL_ARG_DST, TT_DNNL_LEND(&block->c),
			 run->gemm->c + row * run->gemm->step + from},
			{DNNL_ARG_SCRATCHPAD, block->scratch, room.block + room.left_bytes},
		};

		good = call(plan->dnnl, block->primitive, arguments, block->scratch_bytes ? 4 : 3);
	}
	tt_large_free(room.block, room.bytes);
	return good ? TTNN_OK : TTNN_INTERNAL;
}

static void run_blocks(void *context, size_t begin, size_t end)
{
	struct run *run = context;

	for (size_t n = begin; n < end; n++) {
		tt_status status = run_block(run, n);

		if (status != TTNN_OK)
			run->status = status;
	}
}

tt_status tt_dnnl_run(const struct tt_dnnl_plan *plan, const struct tt_gemm *gemm)
{
	struct run run = {
		.plan = plan,
		.gemm = gemm,
		.row_blocks = up(plan->size.rows, TT_DNNL_ROWS),
		.col_blocks = up(plan->size.cols, TT_DNNL_COLS),
	};

	tt_pool_for(run.row_blocks * run.col_blocks, 1, run_blocks, &run);
	if (run.status == TTNN_INTERNAL)
		return tt_fail(TTNN_INTERNAL,
			       "oneDNN could not compute a block of a product of %zu x %zu x %zu; "
			       "TTNN_DNNL=0 leaves it out",
			       plan->size.rows, plan->size.depth, plan->size.cols);
	return run.status == TTNN_OK ? TTNN_OK : tt_fail_nomem();
}
#else
bool tt_dnnl_wants(bool half, size_t work)
{
	(void)half;
	(void)work;
	return false;
}

struct tt_dnnl_plan *tt_dnnl_plan_get(const struct tt_dnnl_size *size)
{
	(void)size;
	return NULL;
}

void tt_dnnl_plan_release(struct tt_dnnl_plan *plan)
{
	(void)plan;
}

size_t tt_dnnl_bytes(const struct tt_dnnl_plan *plan)
{
	(void)plan;
	return SIZE_MAX;
}

bool tt_dnnl_pack(void *out, const struct tt_dnnl_plan *plan, const struct tt_matrix *b)
{
	(void)out;
	(void)plan;
	(void)b;
	return false;
}

tt_status tt_dnnl_run(const struct tt_dnnl_plan *plan, const struct tt_gemm *gemm)
{
	(void)plan;
	(void)gemm;
	return tt_fail(TTNN_INTERNAL, "there is no oneDNN");
}
#endif
