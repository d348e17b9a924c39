/*
 * pool_whole.c: pools whose windows follow from the result: the average over whole images, which is a
 * sum over rows, and windows that adapt to the size wanted.
 */
#include "base/str.h"
#include "ops/conv/pool_ops.h"
#include "ops/movement/movement.h"

#define WINDOWS_MOST (1u << 20)

/* ---- whole images ------------------------------------------------------------------------------------ */

bool tt_pool_is_mean(const struct tt_pool *pool, const struct tt_tensor *in)
{
	const struct tt_slide *s = &pool->slide;
	/* Tiles with rows of two images are untilized, for which there are no block floats. */
	bool mixed = (uint64_t)s->in[0] * s->in[1] % TT_TILE != 0;

	return pool->kind == TT_POOL_AVERAGE && s->window[0] == s->in[0] &&
	       s->window[1] == s->in[1] && !s->pad[0] && !s->pad[1] && !s->pad[2] && !s->pad[3] &&
	       s->batch && s->channels && s->in[0] && s->in[1] && !tt_tensor_is_sharded(in) &&
	       !(mixed && tt_dtype_is_block(in->spec.dtype));
}

/* *tensor becomes what an operation makes of it; what is not the caller's own goes. */
static tt_status replace(struct tt_tensor **tensor, struct tt_call *call, const char *name,
			 struct ttnn_arg arg)
{
	bool own = *tensor != tt_call_tensor(call, "input_tensor");
	struct tt_tensor *next;
	tt_status status = TT_CALL(&next, call, name, {"tensor", ttnn_v_tensor(*tensor)}, arg);

	if (status != TTNN_OK)
		return status;
	if (own)
		tt_call_overwrite(call, *tensor);
	*tensor = tt_call_own(call, next);
	return TTNN_OK;
}

/* As [n, 1, h × w, c]; in tiles only where no tile has rows of two images. */
static tt_status take_rows(struct tt_tensor **tensor, struct tt_call *call,
			   const struct tt_pool *pool, const struct ttnn_memory_config *memory)
{
	const struct tt_slide *s = &pool->slide;
	struct ttnn_shape shape = {4, {s->batch, 1, s->in[0] * s->in[1], s->channels}};
	struct tt_reshape_args args = {.shape = &shape};
	struct tt_tensor *view;

	if (memory)
		TT_TRY(replace(tensor, call, "ttnn.to_memory_config",
			       (struct ttnn_arg){"memory_config", ttnn_v_memory(memory)}));
	if ((*tensor)->spec.layout == TTNN_TILE && shape.dim[2] % TT_TILE)
		TT_TRY(replace(tensor, call, "ttnn.to_layout",
			       (struct ttnn_arg){"layout", ttnn_v_layout(TTNN_ROW_MAJOR)}));
	if (ttnn_shape_equal(&shape, &(*tensor)->spec.shape))
		return TTNN_OK;
	args.in = *tensor;
	TT_TRY(tt_call_reshape(&view, call, &args));
	*tensor = tt_call_own(call, view);
	return TTNN_OK;
}

tt_status tt_pool_mean(struct tt_call *call, struct tt_tensor *in, const struct tt_pool *pool,
		       const struct ttnn_memory_config *memory)
{
	const struct tt_slide *s = &pool->slide;
	double count = pool->divisor ? (double)pool->divisor : (double)s->in[0] * s->in[1];
	struct ttnn_shape shape = {4, {1, 1, s->batch, s->channels}};
	struct ttnn_arg args[] = {{"input_tensor", {0}},
				  {"dim", ttnn_v_int(2)},
				  {"keepdim", ttnn_v_bool(true)},
				  {"compute_kernel_config", pool->compute},
				  {"scalar", ttnn_v_real(1 / count)},
				  {"output_layout", ttnn_v_layout(pool->layout)}};
	struct tt_tensor *sum, *out;
	tt_status status;

	TT_TRY(take_rows(&in, call, pool, memory));
	args[0].value = ttnn_v_tensor(in);
	TT_TRY(tt_call_op(&sum, call, "ttnn.sum", args, TT_COUNT(args) - (s->batch == 1 ? 0 : 1)));
	if (sum->spec.layout == TTNN_ROW_MAJOR)
		status = tt_call_view(&out, call, sum, &shape, &shape);
	else
		status = tt_call_reshape(&out, call,
					 &(struct tt_reshape_args){.in = sum, .shape = &shape});
	tt_call_overwrite(call, sum);
	TT_TRY(status);
	if (out->spec.layout == pool->layout) {
		tt_call_return(call, out);
		return TTNN_OK;
	}
	tt_call_own(call, out);
	TT_TRY(replace(&out, call, "ttnn.to_layout",
		       (struct ttnn_arg){"layout", ttnn_v_layout(pool->layout)}));
	tt_call_return(call, ttnn_tensor_ref(out));
	return TTNN_OK;
}

tt_status tt_pool_expand_global(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *pooled, *out;
	const struct ttnn_shape *is = &in->spec.shape;
	struct ttnn_memory_config plain = {.layout = TTNN_INTERLEAVED,
					   .buffer = in->spec.memory.buffer};
	struct ttnn_arg flat[] = {{NULL, {0}}, {NULL, ttnn_v_memory(&plain)}};
	uint32_t n = is->rank == 4 ? is->dim[0] : 1, c = is->rank < 3 ? 1 : is->dim[is->rank - 1];
	uint32_t h = is->dim[is->rank == 4], w = is->dim[(is->rank == 4) + 1];
	struct ttnn_shape window = {2, {h, w}}, one = {2, {1, 1}}, none = {2, {0, 0}};
	struct ttnn_shape shape = {4, {n, 1, 1, c}};

	if (is->rank < 2 || is->rank > 4)
		return tt_fail(TTNN_INVALID,
			       "global_avg_pool2d expects rank 2, 3, or 4 input, got rank %u",
			       (unsigned)is->rank);
	if (tt_tensor_is_sharded(in)) {
		flat[0].value = ttnn_v_tensor(in);
		TT_TRY(tt_call_python(&in, call, "ttnn.to_memory_config", flat, TT_COUNT(flat)));
		tt_call_own(call, in);
	}
	struct ttnn_arg args[] = {
		{"input_tensor", ttnn_v_tensor(in)},
		{"batch_size", ttnn_v_int(n)},
		{"input_h", ttnn_v_int(h)},
		{"input_w", ttnn_v_int(w)},
		{"channels", ttnn_v_int(c)},
		{"kernel_size", ttnn_v_shape(&window)},
		{"stride", ttnn_v_shape(&one)},
		{"padding", ttnn_v_shape(&none)},
		{"memory_config", *tt_call_arg(call, "memory_config")},
		{"dtype", ttnn_v_dtype(tt_call_dtype(call, "dtype", TTNN_BFLOAT16))},
		{"output_layout", ttnn_v_layout(TTNN_TILE)},
	};
	TT_TRY(tt_call_python(&pooled, call, "ttnn.avg_pool2d", args, TT_COUNT(args)));
	tt_call_own(call, pooled);
	struct ttnn_arg back[] = {{NULL, ttnn_v_tensor(pooled)}, {NULL, ttnn_v_shape(&shape)}};
	return tt_call_give(call, tt_call_python(&out, call, "ttnn.reshape", back, TT_COUNT(back)),
			    &out);
}

/* ---- windows that adapt ------------------------------------------------------------------------------ */

/* One dimension: the elements [first, end) that make result i of `out`. */
struct share {
	uint32_t in, out;
};

static uint32_t first_of(struct share share, uint32_t i)
{
	return (uint32_t)((uint64_t)i * share.in / share.out);
}

static uint32_t end_of(struct share share, uint32_t i)
{
	return (uint32_t)((((uint64_t)i + 1) * share.in + share.out - 1) / share.out);
}

static uint32_t size_of(struct share share, uint32_t i)
{
	return end_of(share, i) - first_of(share, i);
}

/* Whether all but the first and last have one size; and whether those are no larger. */
static bool middle_alike(struct share share)
{
	for (uint32_t i = 2; i + 1 < share.out; i++)
		if (size_of(share, i) != size_of(share, 1))
			return false;
	return true;
}

static bool borders_fit(struct share share)
{
	return share.out <= 2 || (size_of(share, 0) <= size_of(share, 1) &&
				  size_of(share, share.out - 1) <= size_of(share, 1));
}

static bool all_alike(struct share share)
{
	for (uint32_t i = 1; i < share.out; i++)
		if (size_of(share, i) != size_of(share, 0))
			return false;
	return true;
}

/* Windows of a pool along one dimension. */
struct line {
	uint32_t window, stride, before, after;
};

static struct line line_of(struct share share, bool alike)
{
	struct line line = {.window = (share.in + share.out - 1) / share.out,
			    .stride = share.in / share.out};
	uint32_t middle, first, last;

	if (alike || share.out < 3)
		return line;
	middle = line.window = size_of(share, 1);
	first = size_of(share, 0);
	last = size_of(share, share.out - 1);
	if (first < middle || last < middle)
		line.stride = middle - 1;
	line.before = first < middle ? middle - first : 0;
	line.after = last < middle ? middle - last : 0;
	return line;
}

/* Whether these windows cover just the elements that they should. */
static bool is_right(const struct line *line, struct share share)
{
	for (uint32_t i = 0; i < share.out; i++) {
		int64_t first = (int64_t)i * line->stride - line->before;
		int64_t end = first + line->window;

		if ((first > 0 ? first : 0) != first_of(share, i) ||
		    (end < share.in ? end : share.in) != end_of(share, i))
			return false;
	}
	return true;
}

static void emit_sizes(struct tt_str *text, const char *name, struct share share)
{
	if (middle_alike(share) && borders_fit(share))
		return;
	tt_str_addf(text, "%s kernel pattern [", name);
	for (uint32_t i = 0; i < share.out; i++)
		tt_str_addf(text, "%s%u", i ? "," : "", (unsigned)size_of(share, i));
	tt_str_addf(text, "] - ");
	if (!middle_alike(share))
		tt_str_addf(text, "middle elements not uniform, ");
	if (!borders_fit(share))
		tt_str_addf(text, "border elements larger than middle (padding won't help), ");
}

static tt_status refuse(const struct share share[2], const struct line line[2], bool right)
{
	struct tt_str text = {0};
	tt_status status;

	emit_sizes(&text, "Height", share[0]);
	emit_sizes(&text, "Width", share[1]);
	if (!right)
		tt_str_addf(&text,
			    "Calculated pooling parameters (kernel=[%u,%u], stride=[%u,%u], "
			    "padding=[%u,%u,%u,%u]) do not produce uniform pooling behavior, ",
			    line[0].window, line[1].window, line[0].stride, line[1].stride,
			    line[0].before, line[0].after, line[1].before, line[1].after);
	status = tt_fail(TTNN_INVALID,
			 "Adaptive pooling configuration not supported. %sCorrectable patterns "
			 "require uniform middle kernels AND borders <= middle AND calculated "
			 "pooling parameters must produce uniform behavior. Input shape: (%u,%u), "
			 "Output shape: (%u,%u).",
			 tt_str_text(&text), share[0].in, share[1].in, share[0].out, share[1].out);
	tt_str_deinit(&text);
	return status;
}

/* Each window of a line is looked at: no more than images have. */
static bool can_make(uint32_t out, uint32_t in)
{
	return out > 0 && out / 4 <= in && out <= WINDOWS_MOST;
}

tt_status tt_pool_adapt(struct tt_slide *slide, const uint32_t out[2])
{
	struct share share[2] = {{slide->in[0], out[0]}, {slide->in[1], out[1]}};
	struct line line[2];
	bool alike, right;

	if (!can_make(out[0], slide->in[0]) || !can_make(out[1], slide->in[1]))
		return tt_fail(TTNN_INVALID,
			       "an adaptive pool cannot make %u × %u of %u × %u elements", out[0],
			       out[1], slide->in[0], slide->in[1]);
	alike = all_alike(share[0]) && all_alike(share[1]);
	for (int d = 0; d < 2; d++)
		line[d] = line_of(share[d], alike);
	right = is_right(&line[0], share[0]) && is_right(&line[1], share[1]);
	for (int d = 0; d < 2; d++) {
		if (!right || !middle_alike(share[d]) || !borders_fit(share[d]))
			return refuse(share, line, right);
		slide->window[d] = line[d].window;
		slide->stride[d] = line[d].stride;
		slide->pad[2 * d] = line[d].before;
		slide->pad[2 * d + 1] = line[d].after;
	}
	return TTNN_OK;
}
