/*
 * fold_transpose.c: images with channels first, folded by transposes and views: what ttnn::fold() does when
 * use_transpose_as_fold is given, of shards or not.
 */
#include "ops/movement/fold.h"
#include "ops/movement/movement.h"
#include "ops/movement/permute.h"
#include "ops/movement/slice.h"

static uint32_t whole_tiles(uint32_t extent)
{
	return (extent + TT_TILE - 1) / TT_TILE * TT_TILE;
}

/* *at becomes `next`, as an assignment does it: what it was is freed, unless it is the caller's. */
static void assign(struct tt_tensor **at, struct tt_call *call, struct tt_tensor *next)
{
	if (*at != tt_call_tensor(call, "input"))
		tt_call_overwrite(call, *at);
	*at = tt_call_own(call, next);
}

/* Height shards over `cores` for a tensor of this shape. */
static tt_status shards_of(struct ttnn_memory_config *out, const struct tt_fold *fold,
			   const struct ttnn_shape *shape)
{
	const uint32_t *dim = shape->dim;
	struct ttnn_shard_spec shard = {
		.grid = fold->cores,
		.height = (uint32_t)tt_div_up((uint64_t)dim[0] * dim[1] * dim[2],
					      ttnn_core_set_cores(fold->cores)),
		.width = dim[3],
		.orientation = fold->in->spec.memory.shard.orientation};

	return ttnn_memory_config_sharded(out, TTNN_HEIGHT_SHARDED, TTNN_L1, &shard);
}

/* More rows, `before` of them in front. */
static tt_status pad_rows(struct tt_tensor **at, struct tt_call *call, const struct tt_fold *fold,
			  const struct ttnn_shape *shape, uint32_t before)
{
	const struct ttnn_shape start = {4, {0, 0, before, 0}};
	struct ttnn_memory_config memory;
	struct tt_tensor *next;

	TT_TRY(shards_of(&memory, fold, shape));
	TT_TRY(TT_CALL(&next, call, "ttnn.pad", {NULL, ttnn_v_tensor(*at)},
		       {"output_padded_shape", ttnn_v_shape(shape)},
		       {"input_tensor_start", ttnn_v_shape(&start)}, {"value", ttnn_v_real(0)},
		       {"use_multicore", ttnn_v_bool(false)},
		       {"memory_config", ttnn_v_memory(&memory)}));
	assign(at, call, next);
	return TTNN_OK;
}

static tt_status swap(struct tt_tensor **at, struct tt_call *call, uint32_t a, uint32_t b)
{
	const uint32_t dims[2] = {a, b};
	struct tt_tensor *next;

	TT_TRY(tt_call_transpose(&next, call, &(struct tt_permute_args){.in = *at, .dims = dims}));
	assign(at, call, next);
	return TTNN_OK;
}

/* `stride` neighbours of dimension `from` become part of the next one. */
static tt_status fold_gather(struct tt_tensor **at, struct tt_call *call, int from, uint32_t stride)
{
	struct ttnn_shape shape = (*at)->spec.shape;
	struct tt_tensor *next;

	shape.dim[from] /= stride;
	shape.dim[from + 1] *= stride;
	TT_TRY(TT_CALL(&next, call, "ttnn.experimental.view", {NULL, ttnn_v_tensor(*at)},
		       {NULL, ttnn_v_shape(&shape)}));
	assign(at, call, next);
	return TTNN_OK;
}

/*
 * Upstream's chain: each direction is padded to whole tiles, turned to be the last, and gathered
 * by its stride; the real part is cut out at the end.
 */
tt_status tt_fold_shards_by_transposing(struct tt_call *call, const struct tt_fold *fold)
{
	const uint32_t *dim = fold->in->spec.shape.dim;
	uint32_t c = dim[1] + fold->pads[5], h = dim[2] + 2 * fold->pads[0],
		 w = dim[3] + 2 * fold->pads[2];
	const struct ttnn_shape taller = {4, {dim[0], c, whole_tiles(h), dim[3]}},
				both = {4, {dim[0], c, whole_tiles(h), whole_tiles(w)}},
				zero = {.rank = 4};
	struct ttnn_shape end = {
		4, {dim[0], h / fold->down, w / fold->across, c * fold->down * fold->across}};
	struct ttnn_memory_config memory;
	struct tt_tensor *at = fold->in, *out;
	struct tt_part part = {.begin = &zero, .end = &end};

	TT_TRY(pad_rows(&at, call, fold, &taller, fold->pads[0]));
	TT_TRY(swap(&at, call, 2, 3));
	TT_TRY(pad_rows(&at, call, fold, &both, fold->pads[2]));
	TT_TRY(swap(&at, call, 1, 2));
	TT_TRY(fold_gather(&at, call, 1, fold->across));
	TT_TRY(swap(&at, call, 2, 3));
	TT_TRY(fold_gather(&at, call, 2, fold->down));
	TT_TRY(swap(&at, call, 1, 2));
	if (fold->shape)
		end = *fold->shape;
	TT_TRY(shards_of(&memory, fold, &end));
	part.in = at;
	part.memory = fold->memory ? fold->memory : &memory;
	TT_TRY(tt_call_slice(&out, call, &part));
	assign(&at, call, ttnn_tensor_ref(out));
	tt_call_return(call, out);
	return TTNN_OK;
}

/* Takes `stride` of one dimension into the next. */
static tt_status reshape_on_device(struct tt_tensor **at, struct tt_call *call, int from,
				   uint32_t stride)
{
	static const struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	struct ttnn_shape shape = (*at)->spec.shape;

	shape.dim[from] /= stride;
	shape.dim[from + 1] *= stride;
	return tt_call_owned(
		call,
		TT_CALL(at, call, "ttnn.reshape_on_device", {NULL, ttnn_v_tensor(*at)},
			{NULL, ttnn_v_int(shape.dim[0])}, {NULL, ttnn_v_int(shape.dim[1])},
			{NULL, ttnn_v_int(shape.dim[2])}, {NULL, ttnn_v_int(shape.dim[3])},
			{"memory_config", ttnn_v_memory(&l1)}),
		at);
}

/* The same for interleaved images: one pad, one permute, two reshapes with transposes between. */
tt_status tt_fold_by_transposing(struct tt_call *call, const struct tt_fold *fold)
{
	static const struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	static const uint32_t order[] = {0, 3, 1, 2}, last[] = {2, 3}, middle[] = {1, 2};
	const uint32_t *dim = fold->in->spec.shape.dim;
	const struct ttnn_shape padded = {4,
					  {dim[0], dim[1] + fold->pads[5],
					   whole_tiles(dim[2] + fold->pads[0]),
					   whole_tiles(dim[3] + fold->pads[2])}},
				zero = {.rank = 4};
	struct tt_tensor *at, *out;

	TT_TRY(TT_CALL(&at, call, "ttnn.pad", {NULL, ttnn_v_tensor(fold->in)},
		       {"output_padded_shape", ttnn_v_shape(&padded)},
		       {"input_tensor_start", ttnn_v_shape(&zero)}, {"value", ttnn_v_real(0)}));
	tt_call_own(call, at);
	TT_TRY(tt_permute_launch(
		&at, call, &(struct tt_permute_args){.in = at, .dims = order, .memory = &l1}));
	tt_call_own(call, at);
	TT_TRY(reshape_on_device(&at, call, 1, fold->across));
	TT_TRY(tt_call_transpose(&at, call,
				 &(struct tt_permute_args){.in = at, .dims = last, .memory = &l1}));
	tt_call_own(call, at);
	TT_TRY(reshape_on_device(&at, call, 2, fold->down));
	TT_TRY(tt_call_transpose(
		&out, call, &(struct tt_permute_args){.in = at, .dims = middle, .memory = &l1}));
	if (fold->shape) {
		struct tt_part part = {tt_call_own(call, out), &zero, fold->shape, &l1};

		TT_TRY(tt_call_slice(&out, call, &part));
	}
	tt_call_return(call, out);
	return TTNN_OK;
}
