#include "backend/cpu/dnnl_plan.h"

#if TT_HAS_DNNL
#include "base/lock.h"
#include "base/mem.h"

#define PLANS 64 /* that are kept */

/* ---- calls --------------------------------------------------------------------------------------- */

/*
 * Guards the plans, and is held while oneDNN makes a primitive: its own cache has a lock too, which
 * a child would find taken for ever if another thread was there at the time of fork().
 */
static void forget_users(struct tt_lock *unused);
static const struct tt_lock_forks forks = {.child = forget_users};
TT_LOCK_STATIC(lock, TT_RANK_DNNL, &forks);

int tt_dnnl_make_begin(const struct tt_dnnl *dnnl)
{
	tt_lock_take(&lock);
	return tt_dnnl_alone(dnnl);
}

void tt_dnnl_make_end(const struct tt_dnnl *dnnl, int before)
{
	tt_dnnl_not_alone(dnnl, before);
	tt_lock_give(&lock);
}

/* ---- descriptors --------------------------------------------------------------------------------- */

bool tt_dnnl_desc_init(struct tt_dnnl_desc *out, const struct tt_dnnl *dnnl, const size_t size[2],
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

void tt_dnnl_desc_deinit(struct tt_dnnl_desc *desc, const struct tt_dnnl *dnnl)
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

dnnl_data_type_t tt_dnnl_type(const struct tt_dnnl_plan *plan)
{
	return plan->size.half ? dnnl_bf16 : dnnl_f32;
}

/* The result is added to what is there. */
static bool set_add(const struct tt_dnnl *dnnl, dnnl_primitive_attr_t attr)
{
	dnnl_post_ops_t ops = NULL;
	bool good = dnnl->post_ops_create(&ops) == dnnl_success;

#if DNNL_VERSION_MAJOR >= 3
	good = good && dnnl->post_ops_append_sum(ops, 1, 0, dnnl_f32) == dnnl_success;
#else
	good = good && dnnl->post_ops_append_sum(ops, 1) == dnnl_success;
#endif
	good = good && dnnl->primitive_attr_set_post_ops(attr, ops) == dnnl_success;
	if (ops)
		dnnl->post_ops_destroy(ops);
	return good;
}

/* The sides of a product. */
struct sides {
	tt_dnnl_borrowed a, b, c;
	bool add;
};

/* NULL when there is no such product. Its scratch memory is the caller's, so threads may share it. */
static dnnl_primitive_desc_t product(const struct tt_dnnl *dnnl, const struct sides *sides)
{
	dnnl_primitive_attr_t attr;
	dnnl_primitive_desc_t pd = NULL;
	bool good;

	if (dnnl->primitive_attr_create(&attr) != dnnl_success)
		return NULL;
	good = dnnl->primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user) ==
		       dnnl_success &&
	       (!sides->add || set_add(dnnl, attr));
#if DNNL_VERSION_MAJOR >= 3
	good = good && dnnl->matmul_primitive_desc_create(&pd, dnnl->engine, sides->a, sides->b,
							  NULL, sides->c, attr) == dnnl_success;
#else
	dnnl_matmul_desc_t desc;

	good = good &&
	       dnnl->matmul_desc_init(&desc, sides->a, sides->b, NULL, sides->c) == dnnl_success &&
	       dnnl->primitive_desc_create(&pd, &desc, attr, dnnl->engine, NULL) == dnnl_success;
#endif
	dnnl->primitive_attr_destroy(attr);
	return good ? pd : NULL;
}

/* ---- plans --------------------------------------------------------------------------------------- */

/* at: which rows, columns and depth, full or last. */
static bool set_block(struct tt_dnnl_plan *plan, struct tt_dnnl_block *block, const int at[3],
		      bool add)
{
	const struct tt_dnnl *dnnl = plan->dnnl;
	size_t rows = plan->rows[at[0]], cols = plan->cols[at[1]], depth = plan->depth[at[2]];

	if (!rows || !cols || !depth)
		return true;
	if (!tt_dnnl_desc_init(&block->a, dnnl, (const size_t[]){rows, depth}, tt_dnnl_type(plan),
			       (const size_t[]){depth, 1}) ||
	    !tt_dnnl_desc_init(&block->c, dnnl, (const size_t[]){rows, cols}, dnnl_f32,
			       (const size_t[]){plan->size.step, 1}))
		return false;
	block->pd = product(dnnl, &(struct sides){TT_DNNL_LEND(&block->a),
						  plan->right[at[2]][at[1]].weights,
						  TT_DNNL_LEND(&block->c), add});
	if (!block->pd || dnnl->primitive_create(&block->primitive, block->pd) != dnnl_success)
		return false;
	block->scratch = dnnl->primitive_desc_query_md(block->pd, dnnl_query_scratchpad_md, 0);
	block->scratch_bytes = block->scratch ? dnnl->memory_desc_get_size(block->scratch) : 0;
	return true;
}

/* How a right side of so many columns lies packed: as a full block of rows wants it. */
static bool set_right(struct tt_dnnl_plan *plan, struct tt_dnnl_right *right, size_t depth,
		      size_t cols)
{
	const struct tt_dnnl *dnnl = plan->dnnl;
	const size_t size[] = {depth, cols};
	struct tt_dnnl_desc a = {0}, b = {0}, c = {0}, rows = {0};
	dnnl_data_type_t type = tt_dnnl_type(plan);
	bool good;

	if (!depth || !cols)
		return true;
	good = tt_dnnl_desc_init(&a, dnnl, (const size_t[]){TT_DNNL_ROWS, depth}, type,
				 (const size_t[]){depth, 1}) &&
	       tt_dnnl_desc_init(&b, dnnl, size, type, NULL) &&
	       tt_dnnl_desc_init(&c, dnnl, (const size_t[]){TT_DNNL_ROWS, cols}, dnnl_f32,
				 (const size_t[]){plan->size.step, 1}) &&
	       tt_dnnl_desc_init(&rows, dnnl, size, type, (const size_t[]){cols, 1});
	if (good)
		right->pd = product(dnnl, &(struct sides){TT_DNNL_LEND(&a), TT_DNNL_LEND(&b),
							  TT_DNNL_LEND(&c), false});
	if (right->pd) {
		right->weights = dnnl->primitive_desc_query_md(right->pd, dnnl_query_weights_md, 0);
		right->bytes = (dnnl->memory_desc_get_size(right->weights) + TT_DNNL_LINE - 1) /
			       TT_DNNL_LINE * TT_DNNL_LINE;
		right->plain = dnnl->memory_desc_equal(right->weights, TT_DNNL_LEND(&rows));
	}
	tt_dnnl_desc_deinit(&a, dnnl);
	tt_dnnl_desc_deinit(&b, dnnl);
	tt_dnnl_desc_deinit(&c, dnnl);
	tt_dnnl_desc_deinit(&rows, dnnl);
	return right->pd != NULL;
}

static void block_deinit(struct tt_dnnl_block *block, const struct tt_dnnl *dnnl)
{
	if (block->primitive)
		dnnl->primitive_destroy(block->primitive);
	if (block->pd)
		dnnl->primitive_desc_destroy(block->pd);
	tt_dnnl_desc_deinit(&block->a, dnnl);
	tt_dnnl_desc_deinit(&block->c, dnnl);
}

static void plan_free(struct tt_dnnl_plan *plan)
{
	const struct tt_dnnl *dnnl = plan->dnnl;

	for (int i = 0; i < 4; i++) {
		block_deinit(&plan->first[i / 2][i % 2], dnnl);
		block_deinit(&plan->more[0][i / 2][i % 2], dnnl);
		block_deinit(&plan->more[1][i / 2][i % 2], dnnl);
		if (plan->right[i / 2][i % 2].pd)
			dnnl->primitive_desc_destroy(plan->right[i / 2][i % 2].pd);
	}
	tt_free(plan);
}

static void cut(size_t out[2], size_t whole, size_t most)
{
	out[0] = whole >= most ? most : 0;
	out[1] = whole % most;
}

/* All blocks of some rows and columns. */
static bool set_blocks(struct tt_dnnl_plan *plan, int row, int col)
{
	bool deep = plan->depth[0] > 0;

	if (!set_block(plan, &plan->first[row][col], (const int[]){row, col, !deep}, false))
		return false;
	if (plan->size.depth >= 2 * (size_t)TT_DNNL_DEPTH &&
	    !set_block(plan, &plan->more[0][row][col], (const int[]){row, col, 0}, true))
		return false;
	return !deep || set_block(plan, &plan->more[1][row][col], (const int[]){row, col, 1}, true);
}

static struct tt_dnnl_plan *plan_new(const struct tt_dnnl *dnnl, const struct tt_dnnl_size *size)
{
	struct tt_dnnl_plan *plan = tt_calloc(1, sizeof(*plan));
	bool good = plan != NULL;

	if (!plan)
		return NULL;
	plan->dnnl = dnnl;
	plan->size = *size;
	cut(plan->rows, size->rows, TT_DNNL_ROWS);
	cut(plan->cols, size->cols, TT_DNNL_COLS);
	cut(plan->depth, size->depth, TT_DNNL_DEPTH);
	for (int i = 0; good && i < 4; i++)
		good = set_right(plan, &plan->right[i / 2][i % 2], plan->depth[i / 2],
				 plan->cols[i % 2]);
	for (int i = 0; good && i < 4; i++)
		good = set_blocks(plan, i / 2, i % 2);
	if (good)
		return plan;
	plan_free(plan);
	return NULL;
}

/* ---- packed right sides -------------------------------------------------------------------------- */

/* Of all blocks of a column. */
static size_t column_bytes(const struct tt_dnnl_plan *plan, int col)
{
	size_t full = plan->size.depth / TT_DNNL_DEPTH, bytes;

	if (__builtin_mul_overflow(full, plan->right[0][col].bytes, &bytes) ||
	    __builtin_add_overflow(bytes, plan->right[1][col].bytes, &bytes))
		return SIZE_MAX;
	return bytes;
}

size_t tt_dnnl_packed_at(const struct tt_dnnl_plan *plan, size_t col, size_t piece)
{
	int last = plan->size.cols - col * TT_DNNL_COLS < TT_DNNL_COLS;

	return col * column_bytes(plan, 0) + piece * plan->right[0][last].bytes;
}

size_t tt_dnnl_bytes(const struct tt_dnnl_plan *plan)
{
	size_t full = plan->size.cols / TT_DNNL_COLS, bytes;

	if (__builtin_mul_overflow(full, column_bytes(plan, 0), &bytes) ||
	    __builtin_add_overflow(bytes, column_bytes(plan, 1), &bytes))
		return SIZE_MAX;
	return bytes;
}

/* ---- plans that are kept ------------------------------------------------------------------------- */

/* Guarded by lock. */
static struct tt_dnnl_plan *plans;
static uint32_t plan_count;
static uint64_t calls;

static bool is_same(const struct tt_dnnl_size *a, const struct tt_dnnl_size *b)
{
	return a->rows == b->rows && a->depth == b->depth && a->cols == b->cols &&
	       a->step == b->step && a->half == b->half;
}

/* The longest unused that nobody uses; false when there is none. */
static bool drop_oldest(void)
{
	struct tt_dnnl_plan **oldest = NULL, *plan;

	for (struct tt_dnnl_plan **link = &plans; *link; link = &(*link)->next)
		if ((*link)->users == 0 && (!oldest || (*link)->used < (*oldest)->used))
			oldest = link;
	if (!oldest)
		return false;
	plan = *oldest;
	*oldest = plan->next;
	plan_count--;
	plan_free(plan);
	return true;
}

struct tt_dnnl_plan *tt_dnnl_plan_get(const struct tt_dnnl_size *size)
{
	const struct tt_dnnl *dnnl = tt_dnnl_get();
	struct tt_dnnl_plan *plan;
	int before;

	if (!dnnl)
		return NULL;
	before = tt_dnnl_make_begin(dnnl);
	for (plan = plans; plan && !is_same(&plan->size, size); plan = plan->next)
		;
	if (!plan) {
		/* Room is made first: the new one has no user yet. */
		while (plan_count >= PLANS && drop_oldest())
			;
		plan = plan_new(dnnl, size);
		if (plan) {
			plan->next = plans;
			plans = plan;
			plan_count++;
		}
	}
	if (plan) {
		plan->users++;
		plan->used = ++calls;
	}
	tt_dnnl_make_end(dnnl, before);
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
#endif
