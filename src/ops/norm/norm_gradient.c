#include "ops/norm/norm_gradient.h"

#include "backend/backend.h"
#include "ops/moreh.h"
#include "ops/usual.h"

/* ---- forward ------------------------------------------------------------------------------------- */

static tt_status column(struct tt_tensor **out, struct tt_tensor *rows, enum tt_reduce_kind kind)
{
	TT_TRY(tt_scratch_width(out, &rows->spec.shape, 1));
	return tt_backend_get()->reduce(&(struct tt_reduce_job){
		.out = *out, .in = rows, .kind = kind, .dims = 2, .scale = 1});
}

tt_status tt_norm_mean(struct tt_tensor *out, struct tt_tensor *rows)
{
	struct tt_tensor *narrow;

	TT_TRY(column(&narrow, rows, TT_REDUCE_MEAN));
	return tt_backend_get()->reshape(out, narrow);
}

tt_status tt_norm_rstd(struct tt_tensor *out, struct tt_tensor *rows, double epsilon)
{
	const struct tt_unary_step steps[] = {
		{.fn = TT_UNARY_ADD_UNARY_SFPU, .count = 1, .params = {epsilon}},
		{.fn = TT_UNARY_RSQRT},
	};
	struct tt_tensor *narrow;

	TT_TRY(column(&narrow, rows, TT_REDUCE_VAR));
	TT_TRY(tt_moreh_apply(narrow, narrow, steps, TT_COUNT(steps)));
	return tt_backend_get()->reshape(out, narrow);
}

/* ---- backward ------------------------------------------------------------------------------------ */

tt_status tt_norm_rows(struct tt_norm_rows *out, const struct tt_norm_given *given, uint64_t rows,
		       uint64_t cols)
{
	struct tt_tensor *const sides[] = {given->mean, given->rstd, given->dy, given->x};
	struct tt_tensor *mean;
	uint64_t volume;

	for (size_t i = 0; i < TT_COUNT(sides); i++) {
		TT_TRY(ttnn_shape_volume(&volume, &sides[i]->spec.shape));
		TT_NEED(volume == (i < 2 ? rows : rows * cols),
			"The tensors of a normalisation's gradient do not fit together");
	}
	*out = (struct tt_norm_rows){.rows = rows, .cols = cols};
	TT_TRY(tt_moreh_matrix(&mean, rows, 1, given->mean));
	TT_TRY(tt_moreh_matrix(&out->rstd, rows, 1, given->rstd));
	TT_TRY(tt_moreh_matrix(&out->dy, rows, cols, given->dy));
	TT_TRY(tt_moreh_matrix(&out->y, rows, cols, given->x));
	TT_TRY(tt_moreh_map(out->y, TT_BINARY_SUB, out->y, mean));
	return tt_moreh_map(out->y, TT_BINARY_MUL, out->y, out->rstd);
}

/* (n dy - sum(dy) - y sum(y dy)) rstd / n */
tt_status tt_norm_gradient(struct tt_tensor *out, const struct tt_norm_rows *rows,
			   struct tt_tensor *dy)
{
	struct tt_tensor *product, *sum, *along;
	double n = (double)rows->cols;

	TT_TRY(tt_scratch_f32(&product, &rows->y->spec.shape));
	TT_TRY(tt_moreh_sum(&sum, dy, 2));
	TT_TRY(tt_moreh_map(product, TT_BINARY_MUL, rows->y, dy));
	TT_TRY(tt_moreh_sum(&along, product, 2));
	TT_TRY(tt_moreh_map(product, TT_BINARY_MUL, rows->y, along));
	TT_TRY(tt_moreh_map(product, TT_BINARY_ADD, product, sum));
	TT_TRY(tt_moreh_map_number(product, TT_BINARY_DIV, product, n));
	TT_TRY(tt_moreh_map(product, TT_BINARY_SUB, dy, product));
	TT_TRY(tt_moreh_map(product, TT_BINARY_MUL, product, rows->rstd));
	return tt_backend_get()->reshape(out, product);
}

/* ---- memory -------------------------------------------------------------------------------------- */

/* A row whose tiles do not all fit is read tile by tile, and needs one buffer less. */
tt_status tt_norm_gradient_memory(struct tt_plan *plan, const struct tt_launch *launch,
				  const ttnn_core_set *cores, const struct tt_norm_buffers *buffers)
{
	uint64_t tile = buffers->tile, sum = buffers->sum, inner = buffers->inner;
	struct tt_buffer_row rows[] = {
		TT_DFB_ROW(0, "dy", .pages = 1, .page = tile),
		TT_DFB_ROW(1, "x", .pages = 1, .page = tile),
		TT_DFB_ROW(2, "mean", .pages = 1, .page = tile),
		TT_DFB_ROW(3, "rstd", .pages = 1, .page = tile),
		TT_DFB_ROW(4, "scaler", .pages = 1, .page = tile),
		TT_DFB_ROW(5, "n_recip_n", .pages = 2, .page = tile),
		TT_DFB_ROW(6, "gamma", .pages = buffers->gamma, .page = tile),
		TT_DFB_ROW(7, "mask_h_w", .pages = buffers->masks ? 2 : 0, .page = tile),
		TT_DFB_ROW(16, "dx", .pages = 1, .page = tile),
		TT_DFB_ROW(24, "dycopy", .pages = inner, .page = sum),
		TT_DFB_ROW(25, "y", .pages = inner, .page = sum),
		TT_DFB_ROW(26, "dysum", .pages = 1, .page = sum),
		TT_DFB_ROW(27, "ydysum", .pages = 1, .page = sum),
		TT_DFB_ROW(28, "recip_nrstd", .pages = 1, .page = sum),
		TT_DFB_ROW(29, "tmp1", .pages = 1, .page = sum),
		TT_DFB_ROW(30, "tmp2", .pages = 1, .page = sum),
		TT_DFB_ROW(31, "tmp3", .pages = 1, .page = sum),
	};

	if (tt_buffers_bytes(rows, TT_COUNT(rows)) >=
	    launch->device->limits.l1_size - launch->device->limits.l1_base) {
		rows[9].pages = rows[10].pages = 1;
		rows[16].pages = 0;
	}
	return tt_plan_buffers(plan, cores, rows, TT_COUNT(rows));
}

tt_status tt_norm_gain_memory(struct tt_plan *plan, const ttnn_core_set *cores,
			      const struct tt_norm_gain_buffers *buffers)
{
	uint64_t tile = buffers->tile, sum = buffers->sum;

	return TT_PLAN(plan, cores, TT_DFB_ROW(0, "dy", .pages = 1, .page = tile),
		       TT_DFB_ROW(1, "x", .pages = 1, .page = tile),
		       TT_DFB_ROW(2, "mean", .pages = 1, .page = tile),
		       TT_DFB_ROW(3, "rstd", .pages = 1, .page = tile),
		       TT_DFB_ROW(4, "scaler", .pages = 1, .page = tile),
		       TT_DFB_ROW(5, "mask_h", .pages = buffers->mask_h, .page = tile),
		       TT_DFB_ROW(6, "mask_w", .pages = buffers->mask_w, .page = tile),
		       TT_DFB_ROW(16, "dgamma", .pages = buffers->gamma, .page = tile),
		       TT_DFB_ROW(17, "dbeta", .pages = buffers->beta, .page = tile),
		       TT_DFB_ROW(24, "y", .pages = 1, .page = sum),
		       TT_DFB_ROW(25, "ydy", .pages = 1, .page = sum),
		       TT_DFB_ROW(26, "dyadd", .pages = 1, .page = sum),
		       TT_DFB_ROW(27, "ydyadd", .pages = 1, .page = sum),
		       TT_DFB_ROW(28, "xmm", .pages = 1, .page = sum),
		       TT_DFB_ROW(29, "dycopy", .pages = 1, .page = sum));
}
