#include "backend/cpu/dnnl.h"

#include "backend/cpu/dnnl_load.h"

#if TT_HAS_DNNL
#include <stdatomic.h>
#include <string.h>

#include "base/large.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/pool.h"

/* A block of a product: one call. */
#define ROWS 256
#define COLS 512
#define PLANS 64 /* that are kept */
#define LINE 64

/* A memory descriptor is a struct in version 2, and what a pointer points to in version 3. */
struct desc {
	dnnl_memory_desc_t it;
};
#if DNNL_VERSION_MAJOR >= 3
#define BORROWED const_dnnl_memory_desc_t
#define LEND(desc) ((desc)->it)
#else
#define BORROWED const dnnl_memory_desc_t *
#define LEND(desc) (&(desc)->it)
#endif

/* A block of so many rows and columns. */
struct block {
	dnnl_primitive_desc_t pd;
	dnnl_primitive_t primitive;
	struct desc a, c;
	BORROWED scratch;
	size_t scratch_bytes;
};

/* Blocks are full (0) or the last ones (1). */
struct tt_dnnl_plan {
	struct tt_dnnl_plan *next;
	const struct tt_dnnl *dnnl;
	struct tt_dnnl_size size;
	size_t rows[2], cols[2]; /* of a block; 0: there is none */
	struct {
		dnnl_primitive_desc_t pd; /* owns weights */
		BORROWED weights;
		size_t bytes;
	} column[2];
	struct block block[2][2];
	uint32_t users;
	uint64_t used;
};

/* ---- descriptors --------------------------------------------------------------------------------- */

static bool desc_init(struct desc *out, const struct tt_dnnl *dnnl, const size_t size[2],
		      dnnl_data_type_t type, const size_t *steps)
{
	dnnl_dims_t dims = {(dnnl_dim_t)size[0], (dnnl_dim_t)size[1]}, strides = {0};

	if (steps) {
		strides[0] = (dnnl_dim_t)steps[0];
		strides[1] = (dnnl_dim_t)steps[1];
	}
#if DNNL_VERSION_MAJOR >= 3
	return (steps ? dnnl->memory_desc_create_with_strides(&out->it, 2, dims, type, strides)
		      : dnnl->memory_desc_create_with_tag(&out->it, 2, dims, type,
							  dnnl_format_tag_any)) == dnnl_success;
#else
	return (steps ? dnnl->memory_desc_init_by_strides(&out->it, 2, dims, type, strides)
		      : dnnl->memory_desc_init_by_tag(&out->it, 2, dims, type,
						      dnnl_format_tag_any)) == dnnl_success;
#endif
}

static void desc_deinit(struct desc *desc, const struct tt_dnnl *dnnl)
{
#if DNNL_VERSION_MAJOR >= 3
	if (desc->it)
		dnnl->memory_desc_destroy(desc->it);
	desc->it = NULL;
#else
	(void)desc;
	(void)dnnl;
#endif
}

static dnnl_data_type_t type_of(const struct tt_dnnl_plan *plan)
{
	return plan->size.half ? dnnl_bf16 : dnnl_f32;
}

/* NULL when there is no such product. Its scratch memory is the caller's, so threads may share it. */
static dnnl_primitive_desc_t product(const struct tt_dnnl *dnnl, BORROWED a, BORROWED b, BORROWED c)
{
	dnnl_primitive_attr_t attr;
	dnnl_primitive_desc_t pd = NULL;

	if (dnnl->primitive_attr_create(&attr) != dnnl_success)
		return NULL;
	dnnl->primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
#if DNNL_VERSION_MAJOR >= 3
	if (dnnl->matmul_primitive_desc_create(&pd, dnnl->engine, a, b, NULL, c, attr) !=
	    dnnl_success)
		pd = NULL;
#else
	dnnl_matmul_desc_t desc;

	if (dnnl->matmul_desc_init(&desc, a, b, NULL, c) != dnnl_success ||
	    dnnl->primitive_desc_create(&pd, &desc, attr, dnnl->engine, NULL) != dnnl_success)
		pd = NULL;
#endif
	dnnl->primitive_attr_destroy(attr);
	return pd;
}

/* ---- plans --------------------------------------------------------------------------------------- */

static bool set_block(struct tt_dnnl_plan *plan, struct block *block, size_t rows, int col)
{
	const struct tt_dnnl *dnnl = plan->dnnl;
	size_t depth = plan->size.depth, cols = plan->cols[col];

	if (!desc_init(&block->a, dnnl, (const size_t[]){rows, depth}, type_of(plan),
		       (const size_t[]){depth, 1}) ||
	    !desc_init(&block->c, dnnl, (const size_t[]){rows, cols}, dnnl_f32,
		       (const size_t[]){plan->size.step, 1}))
		return false;
	block->pd = product(dnnl, LEND(&block->a), plan->column[col].weights, LEND(&block->c));
	if (!block->pd || dnnl->primitive_create(&block->primitive, block->pd) != dnnl_success)
		return false;
	block->scratch = dnnl->primitive_desc_query_md(block->pd, dnnl_query_scratchpad_md, 0);
	block->scratch_bytes = block->scratch ? dnnl->memory_desc_get_size(block->scratch) : 0;
	return true;
}

/* How a right side of so many columns lies packed: as a full block of rows wants it. */
static bool set_column(struct tt_dnnl_plan *plan, int col)
{
	const struct tt_dnnl *dnnl = plan->dnnl;
	size_t depth = plan->size.depth, cols = plan->cols[col];
	struct desc a = {0}, b = {0}, c = {0};
	bool good = desc_init(&a, dnnl, (const size_t[]){ROWS, depth}, type_of(plan),
			      (const size_t[]){depth, 1}) &&
		    desc_init(&b, dnnl, (const size_t[]){depth, cols}, type_of(plan), NULL) &&
		    desc_init(&c, dnnl, (const size_t[]){ROWS, cols}, dnnl_f32,
			      (const size_t[]){plan->size.step, 1});

	if (good)
		plan->column[col].pd = product(dnnl, LEND(&a), LEND(&b), LEND(&c));
	desc_deinit(&a, dnnl);
	desc_deinit(&b, dnnl);
	desc_deinit(&c, dnnl);
	if (!plan->column[col].pd)
		return false;
	plan->column[col].weights =
		dnnl->primitive_desc_query_md(plan->column[col].pd, dnnl_query_weights_md, 0);
	plan->column[col].bytes =
		(dnnl->memory_desc_get_size(plan->column[col].weights) + LINE - 1) / LINE * LINE;
	return true;
}

static void plan_free(struct tt_dnnl_plan *plan)
{
	const struct tt_dnnl *dnnl = plan->dnnl;

	for (int i = 0; i < 4; i++) {
		struct block *block = &plan->block[i / 2][i % 2];

		if (block->primitive)
			dnnl->primitive_destroy(block->primitive);
		if (block->pd)
			dnnl->primitive_desc_destroy(block->pd);
		desc_deinit(&block->a, dnnl);
		desc_deinit(&block->c, dnnl);
		if (i < 2 && plan->column[i].pd)
			dnnl->primitive_desc_destroy(plan->column[i].pd);
	}
	tt_free(plan);
}

static struct tt_dnnl_plan *plan_new(const struct tt_dnnl *dnnl, const struct tt_dnnl_size *size)
{
	struct tt_dnnl_plan *plan = tt_calloc(1, sizeof(*plan));
	bool good = plan != NULL;

	if (!plan)
		return NULL;
	plan->dnnl = dnnl;
	plan->size = *size;
	plan->rows[0] = size->rows >= ROWS ? ROWS : 0;
	plan->rows[1] = size->rows % ROWS;
	plan->cols[0] = size->cols >= COLS ? COLS : 0;
	plan->cols[1] = size->cols % COLS;
	for (int col = 0; col < 2; col++) {
		good = good && (!plan->cols[col] || set_column(plan, col));
		for (int row = 0; row < 2; row++)
			if (good && plan->rows[row] && plan->cols[col])
				good = set_block(plan, &plan->block[row][col], plan->rows[row],
						 col);
	}
	if (good)
		return plan;
	plan_free(plan);
	return NULL;
}

/* ---- plans that are kept ------------------------------------------------------------------------- */

static void forget_users(struct tt_lock *lock);
static const struct tt_lock_forks forks = {.child = forget_users};
TT_LOCK_STATIC(lock, TT_RANK_DNNL, &forks);
static struct tt_dnnl_plan *plans;
static uint32_t plan_count;
static uint64_t calls;

static bool is_same(const struct tt_dnnl_size *a, const struct tt_dnnl_size *b)
{
	return a->rows == b->rows && a->depth == b->depth && a->cols == b->cols &&
	       a->step == b->step && a->half == b->half;
}

/* The caller holds the lock. */
static void drop_oldest(void)
{
	struct tt_dnnl_plan **oldest = NULL, *plan;

	for (struct tt_dnnl_plan **link = &plans; *link; link = &(*link)->next)
		if ((*link)->users == 0 && (!oldest || (*link)->used < (*oldest)->used))
			oldest = link;
	if (!oldest)
		return;
	plan = *oldest;
	*oldest = plan->next;
	plan_count--;
	plan_free(plan);
}

struct tt_dnnl_plan *tt_dnnl_plan_get(const struct tt_dnnl_size *size)
{
	const struct tt_dnnl *dnnl = tt_dnnl_get();
	struct tt_dnnl_plan *plan;

	if (!dnnl)
		return NULL;
	tt_lock_take(&lock);
	for (plan = plans; plan && !is_same(&plan->size, size); plan = plan->next)
		;
	if (!plan) {
		plan = plan_new(dnnl, size);
		if (plan) {
			plan->next = plans;
			plans = plan;
			if (++plan_count > PLANS)
				drop_oldest();
		}
	}
	if (plan) {
		plan->users++;
		plan->used = ++calls;
	}
	tt_lock_give(&lock);
	return plan;
}

void tt_dnnl_plan_release(struct tt_dnnl_plan *plan)
{
	if (!plan)
		return;
	tt_lock_take(&lock);
	plan->users--;
	tt_lock_give(&lock);
}

/* In the child of a fork: the jobs that used them are not here. */
static void forget_users(struct tt_lock *unused)
{
	(void)unused;
	for (struct tt_dnnl_plan *plan = plans; plan; plan = plan->next)
		plan->users = 0;
}

bool tt_dnnl_wants(bool half)
{
	const struct tt_dnnl *dnnl = tt_dnnl_get();

	if (!dnnl || tt_cpu_isa() != dnnl->isa)
		return false;
	return dnnl->everything || (half ? dnnl->half : dnnl->isa == TT_ISA_AVX512);
}

/* ---- calls --------------------------------------------------------------------------------------- */

/* Calls from this thread start no others; returns what was before. */
static int alone(const struct tt_dnnl *dnnl)
{
	int before = dnnl->get_threads && dnnl->set_threads ? dnnl->get_threads() : 1;

	if (before != 1)
		dnnl->set_threads(1);
	return before;
}

static void not_alone(const struct tt_dnnl *dnnl, int before)
{
	if (before != 1)
		dnnl->set_threads(before);
}

/* An argument of a call. */
struct argument {
	int what;
	BORROWED desc;
	void *data;
};

static bool call(const struct tt_dnnl *dnnl, dnnl_primitive_t primitive,
		 const struct argument *arguments, int count)
{
	dnnl_exec_arg_t args[4];
	dnnl_stream_t stream = NULL;
	bool good = dnnl->stream_create(&stream, dnnl->engine, dnnl_stream_default_flags) ==
		    dnnl_success;
	int made = 0, before = alone(dnnl);

	for (; good && made < count; made += good) {
		args[made].arg = arguments[made].what;
		good = dnnl->memory_create(&args[made].memory, arguments[made].desc, dnnl->engine,
					   arguments[made].data) == dnnl_success;
	}
	good = good && dnnl->primitive_execute(primitive, stream, count, args) == dnnl_success &&
	       dnnl->stream_wait(stream) == dnnl_success;
	not_alone(dnnl, before);
	while (made)
		dnnl->memory_destroy(args[--made].memory);
	if (stream)
		dnnl->stream_destroy(stream);
	return good;
}

/* ---- packing ------------------------------------------------------------------------------------- */

size_t tt_dnnl_bytes(const struct tt_dnnl_plan *plan)
{
	size_t full = plan->size.cols / COLS, bytes = plan->column[1].bytes;

	if (full && plan->column[0].bytes > (SIZE_MAX - bytes) / full)
		return SIZE_MAX;
	return full * plan->column[0].bytes + bytes;
}

static bool pack_column(void *out, const struct tt_dnnl_plan *plan, const struct tt_matrix *b,
			size_t from)
{
	const struct tt_dnnl *dnnl = plan->dnnl;
	int col = plan->size.cols - from < COLS;
	struct tt_matrix part = tt_matrix_at(b, 0, from);
	struct desc desc = {0};
	dnnl_primitive_desc_t pd = NULL;
	dnnl_primitive_t primitive = NULL;
	bool good = desc_init(&desc, dnnl, (const size_t[]){plan->size.depth, plan->cols[col]},
			      type_of(plan), (const size_t[]){b->row_step, b->col_step});
	void *to = (uint8_t *)out + from / COLS * plan->column[0].bytes;

	tt_lock_take(&lock); /* so that a fork does not find one of the library's own locks taken */
	good = good &&
	       dnnl->reorder_primitive_desc_create(&pd, LEND(&desc), dnnl->engine,
						   plan->column[col].weights, dnnl->engine,
						   NULL) == dnnl_success &&
	       dnnl->primitive_create(&primitive, pd) == dnnl_success;
	tt_lock_give(&lock);
	if (good) {
		struct argument arguments[2] = {{DNNL_ARG_FROM, LEND(&desc), (void *)part.data},
						{DNNL_ARG_TO, plan->column[col].weights, to}};

		good = call(dnnl, primitive, arguments, 2);
	}
	if (primitive)
		dnnl->primitive_destroy(primitive);
	if (pd)
		dnnl->primitive_desc_destroy(pd);
	desc_deinit(&desc, dnnl);
	return good;
}

bool tt_dnnl_pack(void *out, const struct tt_dnnl_plan *plan, const struct tt_matrix *b)
{
	for (size_t from = 0; from < plan->size.cols; from += COLS)
		if (!pack_column(out, plan, b, from))
			return false;
	return true;
}

/* ---- products ------------------------------------------------------------------------------------- */

struct run {
	const struct tt_dnnl_plan *plan;
	const struct tt_gemm *gemm;
	size_t row_blocks, col_blocks;
	_Atomic tt_status status;
};

static size_t element_bytes(const struct tt_dnnl_plan *plan)
{
	return plan->size.half ? sizeof(uint16_t) : sizeof(float);
}

/* Rows of the left side, dense: where they lie, or in `room`. */
static const void *load_left(float *room, const struct run *run, size_t row, size_t rows)
{
	size_t depth = run->plan->size.depth, bytes = element_bytes(run->plan);
	struct tt_gemm_part part = {row, rows, 0, depth};
	struct tt_matrix a = run->gemm->left(run->gemm->context, room, &part);

	if (a.row_step == depth && a.col_step == 1)
		return a.data;
	for (size_t i = 0; i < rows; i++)
		for (size_t k = 0; k < depth; k += a.col_step == 1 ? depth : 1) {
			struct tt_matrix from = tt_matrix_at(&a, i, k);

			memcpy((uint8_t *)room + (i * depth + k) * bytes, from.data,
			       a.col_step == 1 ? depth * bytes : bytes);
		}
	return room;
}

static bool run_block(const struct run *run, size_t n)
{
	const struct tt_dnnl_plan *plan = run->plan;
	size_t row = n % run->row_blocks * ROWS, from = n / run->row_blocks * COLS;
	int tail_row = plan->size.rows - row < ROWS, tail_col = plan->size.cols - from < COLS;
	const struct block *block = &plan->block[tail_row][tail_col];
	size_t rows = plan->rows[tail_row];
	size_t room_bytes = rows * plan->size.depth * sizeof(float);
	size_t bytes = room_bytes + block->scratch_bytes + LINE;
	uint8_t *room = tt_large_alloc(bytes);
	bool good;

	if (!room)
		return false;
	struct argument arguments[4] = {
		{DNNL_ARG_SRC, LEND(&block->a), (void *)load_left((float *)room, run, row, rows)},
		{DNNL_ARG_WEIGHTS, plan->column[tail_col].weights,
		 (uint8_t *)run->gemm->right->data + from / COLS * plan->column[0].bytes},
		{DNNL_ARG_DST, LEND(&block->c), run->gemm->c + row * run->gemm->step + from},
		{DNNL_ARG_SCRATCHPAD, block->scratch, room + (room_bytes + LINE - 1) / LINE * LINE},
	};

	good = call(plan->dnnl, block->primitive, arguments, block->scratch_bytes ? 4 : 3);
	tt_large_free(room, bytes);
	return good;
}

static void run_blocks(void *context, size_t begin, size_t end)
{
	struct run *run = context;

	for (size_t n = begin; n < end; n++)
		if (!run_block(run, n))
			run->status = TTNN_NOMEM;
}

tt_status tt_dnnl_run(const struct tt_dnnl_plan *plan, const struct tt_gemm *gemm)
{
	struct run run = {
		.plan = plan,
		.gemm = gemm,
		.row_blocks = (plan->size.rows + ROWS - 1) / ROWS,
		.col_blocks = (plan->size.cols + COLS - 1) / COLS,
	};

	tt_pool_for(run.row_blocks * run.col_blocks, 1, run_blocks, &run);
	return run.status == TTNN_OK ? TTNN_OK : tt_fail_nomem();
}

/* ---- trying -------------------------------------------------------------------------------------- */

bool tt_dnnl_try_half(const struct tt_dnnl *dnnl)
{
	static const struct tt_dnnl_size sizes[] = {
		{1, 64, 64, 64, true},     {32, 256, 512, 512, true}, {300, 96, 700, 700, true},
		{256, 2048, 96, 96, true}, {7, 33, 17, 17, true},
	};
	struct tt_dnnl mine = *dnnl;
	bool good = dnnl->engine_create(&mine.engine, dnnl_cpu, 0) == dnnl_success;

	for (size_t i = 0; good && i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct tt_dnnl_size *size = &sizes[i];
		struct tt_dnnl_plan *plan = plan_new(&mine, size);
		struct tt_matrix a = {tt_calloc(size->rows * size->depth, 2), true, size->depth, 1};
		struct tt_matrix b = {tt_calloc(size->cols * size->depth, 2), true, size->cols, 1};
		float *c = tt_calloc(size->rows * size->cols, sizeof(float));
		void *packed = plan ? tt_calloc(1, tt_dnnl_bytes(plan)) : NULL;
		struct tt_panels panels = {.data = packed};
		struct run run = {
			plan,
			&(struct tt_gemm){tt_gemm_left, &a, size->rows, &panels, c, size->step},
			(size->rows + ROWS - 1) / ROWS, (size->cols + COLS - 1) / COLS, 0};

		good = packed && a.data && b.data && c && tt_dnnl_pack(packed, plan, &b);
		for (size_t n = 0; good && n < run.row_blocks * run.col_blocks; n++)
			good = run_block(&run, n);
	}
	return good;
}
#else
/* In the child of a fork: the jobs that used them are not here. */
static void forget_users(struct tt_lock *unused)
{
	(void)unused;
	for (struct tt_dnnl_plan *plan = plans; plan; plan = plan->next)
		plan->users = 0;
}

bool tt_dnnl_wants(bool half)
{
	(void)half;
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
