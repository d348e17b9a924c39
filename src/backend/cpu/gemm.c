#include "backend/cpu/gemm.h"

#include <stdatomic.h>
#include <string.h>

#include "backend/cpu/dnnl.h"
#include "base/cpu.h"
#include "base/deadline.h"
#include "base/large.h"
#include "base/pool.h"

#define WIDE_PANELS 32 /* of a task */
#define FEW_PANELS 4
#define ENOUGH_TASKS 8
#define SMALL_WORK 65536 /* products that are not worth another thread */

extern const struct tt_gemm_fns tt_gemm_plain;
#if defined(__x86_64__)
extern const struct tt_gemm_fns tt_gemm_avx2, tt_gemm_avx512;
#endif

const struct tt_gemm_fns *tt_gemm_fns_get(void)
{
	static const struct tt_gemm_fns *const levels[TT_ISA_COUNT] = {
		[TT_ISA_PLAIN] = &tt_gemm_plain,
#if defined(__x86_64__)
		[TT_ISA_AVX2] = &tt_gemm_avx2,
		[TT_ISA_AVX512] = &tt_gemm_avx512,
#endif
	};

	return levels[tt_cpu_isa()];
}

static size_t element_bytes(bool half)
{
	return half ? sizeof(uint16_t) : sizeof(float);
}

static size_t up(size_t count, size_t unit)
{
	return (count + unit - 1) / unit;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

struct tt_matrix tt_matrix_at(const struct tt_matrix *matrix, size_t row, size_t col)
{
	struct tt_matrix at = *matrix;

	at.data = (const uint8_t *)matrix->data +
		  (row * matrix->row_step + col * matrix->col_step) * element_bytes(matrix->half);
	return at;
}

/* ---- the right side -------------------------------------------------------------------------- */

void tt_panels_choose(struct tt_panels *panels, const struct tt_gemm_left *left)
{
	size_t work;

	panels->plan = NULL;
	if (left->half != panels->half || __builtin_mul_overflow(left->rows, panels->rows, &work) ||
	    __builtin_mul_overflow(work, panels->cols, &work) || !tt_dnnl_wants(panels->half, work))
		return;
	panels->plan = tt_dnnl_plan_get(&(struct tt_dnnl_size){
		left->rows, panels->rows, panels->cols, left->step, panels->half});
}

void tt_panels_release(struct tt_panels *panels)
{
	tt_dnnl_plan_release(panels->plan);
	panels->plan = NULL;
}

size_t tt_panels_bytes(const struct tt_panels *panels)
{
	size_t nr = panels->fns->nr, wide, count;

	if (panels->plan)
		return tt_dnnl_bytes(panels->plan);
	if (__builtin_mul_overflow(up(panels->cols, nr), nr * element_bytes(panels->half), &wide) ||
	    __builtin_mul_overflow(wide, panels->rows, &count))
		return SIZE_MAX;
	return count;
}

static void *panel_at(const struct tt_panels *panels, size_t panel, size_t row)
{
	return (uint8_t *)panels->data +
	       (panel * panels->rows + row) * panels->fns->nr * element_bytes(panels->half);
}

struct packing {
	const struct tt_panels *panels;
	const struct tt_matrix *b;
	size_t count, many, groups; /* panels, in groups of so many */
};

/* Tasks are blocks of rows of a group of panels. */
static void pack_blocks(void *context, size_t begin, size_t end)
{
	const struct packing *packing = context;
	const struct tt_panels *panels = packing->panels;
	size_t nr = panels->fns->nr;

	for (size_t n = begin; n < end; n++) {
		size_t row = n / packing->groups * TT_GEMM_DEPTH;
		size_t panel = n % packing->groups * packing->many;

		for (size_t p = panel; p < least(panel + packing->many, packing->count); p++) {
			struct tt_matrix part = tt_matrix_at(packing->b, row, p * nr);

			panels->fns->pack_right(panel_at(panels, p, row), &part,
						least(nr, panels->cols - p * nr),
						least(TT_GEMM_DEPTH, panels->rows - row));
		}
	}
}

tt_status tt_panels_pack(const struct tt_panels *panels, const struct tt_matrix *b)
{
	struct packing packing = {panels, b, up(panels->cols, panels->fns->nr), 1, 0};
	size_t tasks;

	if (panels->plan)
		return tt_dnnl_pack(panels->data, panels->plan, b)
			       ? TTNN_OK
			       : tt_fail(TTNN_INTERNAL, "oneDNN packs no weights");
	if (b->col_step == 1)
		packing.many = FEW_PANELS; /* what lies side by side is read at once */
	packing.groups = up(packing.count, packing.many);
	tasks = packing.groups * up(panels->rows, TT_GEMM_DEPTH);
	tt_pool_for(tasks, panels->rows * panels->cols < SMALL_WORK ? tasks : FEW_PANELS,
		    pack_blocks, &packing);
	return TTNN_OK;
}

/* ---- products ---------------------------------------------------------------------------------- */

struct run {
	const struct tt_gemm *gemm;
	const struct tt_gemm_fns *fns;
	size_t row_blocks, panels, wide;
	_Atomic tt_status status;
};

/* Memory of one task. */
struct room {
	float left[TT_GEMM_ROWS * TT_GEMM_STEP];
	float rows[TT_GEMM_MAX_MR * TT_GEMM_DEPTH];
	float panel[TT_GEMM_MAX_NR * TT_GEMM_DEPTH];
};

/* NOLINTNEXTLINE(readability-non-const-parameter): the type is that of every left side */
struct tt_matrix tt_gemm_left(const void *context, float *room, const struct tt_gemm_part *part)
{
	(void)room;
	return tt_matrix_at(context, part->row, part->from);
}

static void load_left(struct room *room, const struct run *run, const struct tt_gemm_part *part)
{
	size_t mr = run->fns->mr;

	for (size_t i = 0; i < part->rows; i += mr) {
		struct tt_gemm_part some = {part->row + i, least(mr, part->rows - i), part->from,
					    part->depth};
		struct tt_matrix a = run->gemm->left(run->gemm->context, room->rows, &some);

		run->fns->load_left(room->left + i * TT_GEMM_STEP, &a, some.rows, part->depth);
	}
}

/* All rows of a part with one panel. */
static void multiply(const struct run *run, struct room *room, const struct tt_gemm_part *part,
		     size_t panel)
{
	const struct tt_gemm *gemm = run->gemm;
	size_t mr = run->fns->mr, nr = run->fns->nr;
	struct tt_gemm_block block = {
		.b = panel_at(gemm->right, panel, part->from),
		.a_step = TT_GEMM_STEP,
		.depth = part->depth,
		.cols = (uint32_t)least(nr, gemm->right->cols - panel * nr),
		.add = part->from > 0,
	};

	if (gemm->right->half && part->rows <= mr) {
		block.half = (const void *)block.b; /* it is used once */
	} else if (gemm->right->half) {
		run->fns->widen(room->panel, (const void *)block.b, part->depth * nr);
		block.b = room->panel;
	}
	for (size_t i = 0; i < part->rows; i += mr) {
		block.a = room->left + i * TT_GEMM_STEP;
		block.rows = (uint32_t)least(mr, part->rows - i);
		run->fns->block(gemm->c + (part->row + i) * gemm->step + panel * nr, gemm->step,
				&block);
	}
}

static void run_tasks(void *context, size_t begin, size_t end)
{
	struct run *run = context;
	struct room *room = tt_large_alloc(sizeof(*room));

	if (!room) {
		run->status = TTNN_NOMEM;
		return;
	}
	for (size_t n = begin; n < end; n++) {
		size_t panel = n / run->row_blocks * run->wide, depth = run->gemm->right->rows;
		struct tt_gemm_part part = {.row = n % run->row_blocks * TT_GEMM_ROWS};

		part.rows = least(TT_GEMM_ROWS, run->gemm->rows - part.row);
		for (; part.from < depth && tt_deadline_check() == TTNN_OK;
		     part.from += TT_GEMM_DEPTH) {
			part.depth = least(TT_GEMM_DEPTH, depth - part.from);
			load_left(room, run, &part);
			for (size_t p = panel; p < least(panel + run->wide, run->panels); p++)
				multiply(run, room, &part, p);
		}
	}
	tt_large_free(room, sizeof(*room));
}

/* Rows of a product of no depth. */
static void clear_rows(void *context, size_t begin, size_t end)
{
	const struct tt_gemm *gemm = context;

	for (size_t i = begin; i < end; i++)
		memset(gemm->c + i * gemm->step, 0, gemm->right->cols * sizeof(float));
}

tt_status tt_gemm_run(const struct tt_gemm *gemm)
{
	const struct tt_gemm_fns *fns = gemm->right->fns;
	struct run run = {
		.gemm = gemm,
		.fns = fns,
		.row_blocks = up(gemm->rows, TT_GEMM_ROWS),
		.panels = up(gemm->right->cols, fns->nr),
		.wide = WIDE_PANELS,
	};
	size_t tasks;

	if (gemm->right->plan)
		return tt_dnnl_run(gemm->right->plan, gemm);
	if (gemm->right->rows == 0) {
		tt_pool_for(gemm->rows, SMALL_WORK / (gemm->right->cols + 1) + 1, clear_rows,
			    (void *)gemm);
		return TTNN_OK;
	}
	while (run.wide > FEW_PANELS && run.row_blocks * up(run.panels, run.wide) < ENOUGH_TASKS)
		run.wide /= 2;
	tasks = run.row_blocks * up(run.panels, run.wide);
	if (gemm->rows * gemm->right->cols * gemm->right->rows < SMALL_WORK)
		tt_pool_for(tasks, tasks, run_tasks, &run);
	else
		tt_pool_for(tasks, 1, run_tasks, &run);
	return run.status == TTNN_OK ? TTNN_OK : tt_fail_nomem();
}
