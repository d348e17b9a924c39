/*
 * fold.c: images whose squares of elements become channels: what a convolution with a stride as
 * large as its window may begin with.
 *
 * Models ttnn::fold() of ttnn 0.81 (data_movement/fold): padding (shards are padded by a halo of
 * windows of one element), tiles that become rows, new shards before and behind the program.
 */
#include "ops/conv/fold.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "device/work_split.h"
#include "golden/golden_window.h"
#include "ops/conv/halo.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"
#include "tensor/core.h"
#include "tensor/shape.h"
#include "tensor/tile.h"

#define MOST_PADS (INT32_MAX / 4) /* of a side */

/* [height, width], [top, bottom, left, right], or that and [front, back] of the channels. */
static tt_status read_pads(uint32_t out[6], const struct tt_call *call)
{
	int64_t items[6] = {0};
	size_t count;

	TT_TRY(tt_call_ints(items, &count, 6, call, "padding"));
	for (size_t i = 0; i < 6; i++) {
		out[i] = i >= count && count != 2 ? 0 : (uint32_t)items[i];
		if (count == 2)
			out[i] = i < 4 ? (uint32_t)items[i / 2] : 0;
		TT_NEED(out[i] <= MOST_PADS, "Fold: padding of %u is too much", out[i]);
	}
	return TTNN_OK;
}

/* Zeros around height and width, and behind the channels. */
static tt_status pad(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
		     const uint32_t pads[6])
{
	struct ttnn_value sides[4][2], dims[4];

	for (int d = 0; d < 4; d++) {
		sides[d][0] = ttnn_v_int(d ? pads[2 * (d - 1)] : 0);
		sides[d][1] = ttnn_v_int(d ? pads[2 * (d - 1) + 1] : 0);
		dims[d] = ttnn_v_list(sides[d], 2);
	}
	return TT_CALL(out, call, "ttnn.pad", {NULL, ttnn_v_tensor(in)},
		       {"padding", ttnn_v_list(dims, 4)}, {"value", ttnn_v_real(0)});
}

static tt_status to_rows(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	return TT_CALL(out, call, "ttnn.to_layout", {NULL, ttnn_v_tensor(in)},
		       {"layout", ttnn_v_layout(TTNN_ROW_MAJOR)});
}

/* use_transpose_as_fold: images with channels first. Shards default to a grid of 2 × 2 cores. */
static tt_status by_transposing(struct tt_call *call, struct tt_tensor *in, const uint32_t *pads)
{
	int64_t sizes[4];
	struct ttnn_shape shape = {.rank = 4};
	struct tt_fold fold = {.in = in,
			       .down = (uint32_t)tt_call_int(call, "stride_h", 1),
			       .across = (uint32_t)tt_call_int(call, "stride_w", 1),
			       .pads = pads,
			       .cores = tt_call_core_set(call, "grid_size"),
			       .memory = tt_call_memory(call, "override_memory_config")};
	size_t count;

	TT_TRY(tt_call_ints(sizes, &count, 4, call, "output_shape"));
	for (size_t d = 0; d < count; d++)
		shape.dim[d] = (uint32_t)sizes[d];
	if (count == 4)
		fold.shape = &shape;
	if (!tt_tensor_is_sharded(in))
		return tt_fold_by_transposing(call, &fold);
	TT_REQUIRE(in->spec.memory.layout == TTNN_HEIGHT_SHARDED, "tt::exception",
		   "fold op does not support non height-sharding!");
	if (!fold.cores)
		TT_TRY(tt_core_set_grid(&fold.cores, 2, 2));
	return tt_fold_shards_by_transposing(call, &fold);
}

/* Shards hold whole rows of squares, or they are cut anew: on as many cores as divide those rows. */
static tt_status reshard(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	const uint32_t *dim = in->spec.shape.dim;
	uint64_t row = (uint64_t)dim[2] * (uint64_t)tt_call_int(call, "stride_h", 1);
	uint64_t rows = row ? (uint64_t)dim[0] * dim[1] * dim[2] / row : 0;
	struct ttnn_core grid = tt_grid_size(tt_tensor_device(in)->grid);
	uint64_t cores = (uint64_t)grid.x * grid.y;
	struct ttnn_shard_spec shard = in->spec.memory.shard;
	struct ttnn_memory_config memory;

	*out = in;
	if (!row || shard.height % row == 0)
		return TTNN_OK;
	while (cores > 1 && rows % cores)
		cores--;
	shard.height = (uint32_t)tt_align_to((uint64_t)dim[0] * dim[1] * dim[2] / cores, row);
	TT_TRY(tt_split_cores(&shard.grid, grid, (struct ttnn_core){0, 0}, cores,
			      TTNN_ORIENT_ROW_MAJOR));
	TT_TRY(ttnn_memory_config_sharded(&memory, in->spec.memory.layout, in->spec.memory.buffer,
					  &shard));
	return TT_CALL(out, call, "ttnn.reshard", {NULL, ttnn_v_tensor(in)},
		       {NULL, ttnn_v_memory(&memory)});
}

/* Rows and columns around images in shards: what windows of one element see, padding included. */
static tt_status pad_images(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			    const uint32_t pads[6])
{
	const uint32_t *dim = in->spec.shape.dim;
	struct tt_slide slide = {.batch = dim[0],
				 .in = {dim[1], dim[2]},
				 .window = {1, 1},
				 .stride = {1, 1},
				 .pad = {pads[0], pads[1], pads[2], pads[3]},
				 .dilation = {1, 1},
				 .cores_c = 1,
				 .cores = in->spec.memory.shard.grid,
				 .cores_nhw =
					 (uint32_t)ttnn_core_set_cores(in->spec.memory.shard.grid)};
	struct ttnn_shape padded = {
		4, {dim[0], dim[1] + pads[0] + pads[1], dim[2] + pads[2] + pads[3], dim[3]}};
	struct tt_halo_args halo = {.slide = &slide, .fp32 = in->spec.dtype == TTNN_FLOAT32};
	struct tt_haloed haloed;
	struct tt_tensor *sticks;

	TT_NEED(slide.cores_nhw, "Fold: the input has no shards");
	TT_TRY(tt_call_reshape(
		&sticks, call,
		&(struct tt_reshape_args){
			.in = in, .shape = &TT_SHAPE(1, 1, dim[0] * dim[1] * dim[2], dim[3])}));
	tt_call_own(call, sticks);
	TT_TRY(tt_halo(&haloed, call, sticks, &halo));
	ttnn_tensor_unref(haloed.image);
	tt_call_own(call, haloed.halo);
	TT_TRY(tt_call_reshape(out, call,
			       &(struct tt_reshape_args){.in = haloed.halo, .shape = &padded}));
	tt_call_drop(call, haloed.halo);
	tt_call_drop(call, sticks);
	return TTNN_OK;
}

/* More channels of shards. */
static tt_status pad_channels(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			      const uint32_t pads[6])
{
	struct ttnn_shape shape = in->spec.shape, start = {4, {0, 0, 0, pads[4]}};

	shape.dim[3] += pads[4] + pads[5];
	return TT_CALL(out, call, "ttnn.pad", {NULL, ttnn_v_tensor(in)},
		       {"output_padded_shape", ttnn_v_shape(&shape)},
		       {"input_tensor_start", ttnn_v_shape(&start)}, {"value", ttnn_v_real(0)});
}

/* Steps of shards in L1: each is assigned to the same variable upstream. */
static tt_status prepare_shards(struct tt_tensor **in, struct tt_call *call, const uint32_t pads[6])
{
	struct tt_tensor *next;

	if (pads[0] | pads[1] | pads[2] | pads[3]) {
		TT_TRY(pad_images(&next, call, *in, pads));
		tt_fold_assign(in, call, next);
	}
	if (pads[4] | pads[5]) {
		TT_TRY(pad_channels(&next, call, *in, pads));
		tt_fold_assign(in, call, next);
	}
	if ((*in)->spec.layout == TTNN_TILE) {
		TT_TRY(to_rows(&next, call, *in));
		tt_fold_assign(in, call, next);
	}
	TT_TRY(reshard(&next, call, *in));
	if (next != *in)
		tt_fold_assign(in, call, next);
	return TTNN_OK;
}

static tt_status to_memory(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			   const struct ttnn_memory_config *memory)
{
	return TT_CALL(out, call, "ttnn.to_memory_config", {NULL, ttnn_v_tensor(in)},
		       {NULL, ttnn_v_memory(memory)});
}

/* Whether rows of block or width shards begin where nothing can be read. */
static bool is_cut_badly(const struct tt_tensor *in)
{
	const struct ttnn_memory_config *memory = &in->spec.memory;

	return memory->has_shard && memory->layout != TTNN_HEIGHT_SHARDED &&
	       in->spec.layout == TTNN_ROW_MAJOR &&
	       memory->shard.width * tt_element_bytes(in) %
			       tt_memory_alignment(tt_tensor_device(in), memory->buffer) !=
		       0;
}

/* Steps of all others: pads, then rows, unless the program takes the tiles as they are. */
static tt_status prepare(struct tt_tensor **in, struct tt_call *call, const uint32_t pads[6])
{
	static const struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	uint32_t h = (uint32_t)tt_call_int(call, "stride_h", 1);
	struct tt_tensor *next;

	if (is_cut_badly(*in)) {
		TT_TRY(to_memory(&next, call, *in, &l1));
		tt_fold_assign(in, call, next);
	}
	if (pads[0] | pads[1] | pads[2] | pads[3] | pads[4] | pads[5]) {
		TT_TRY(pad(&next, call, *in, pads));
		tt_fold_assign(in, call, next);
	}
	if ((*in)->spec.layout == TTNN_TILE && !tt_fold_takes_tiles(*in, h)) {
		TT_TRY(to_rows(&next, call, *in));
		tt_fold_assign(in, call, next);
	}
	return TTNN_OK;
}

/* The result in override_memory_config; shards that were left open follow those of the input. */
static tt_status place(struct tt_tensor **result, struct tt_call *call, const struct tt_tensor *in)
{
	const struct ttnn_memory_config *given = tt_call_memory(call, "override_memory_config");
	const struct tt_tensor *first = tt_call_tensor(call, "input");
	const uint32_t *dim = (*result)->spec.shape.dim;
	uint64_t patch =
		(uint64_t)(tt_call_int(call, "stride_h", 1) * tt_call_int(call, "stride_w", 1));
	struct ttnn_memory_config memory;
	struct tt_tensor *next;

	if (!given)
		return TTNN_OK;
	memory = *given;
	if (!in->spec.memory.has_shard || in->spec.memory.layout != given->layout)
		in = first;
	if (given->layout != TTNN_INTERLEAVED && !given->has_shard && !given->has_nd_shard) {
		if (in->spec.memory.has_shard && in->spec.memory.layout == given->layout)
			TT_TRY(tt_fold_rescaled(&memory, &in->spec.memory, given->buffer, patch));
		else
			TT_TRY(tt_fold_shards(&memory, in, given,
					      (uint32_t[]){dim[0] * dim[1] * dim[2], dim[3]}));
	}
	if (ttnn_memory_config_equal(&memory, &(*result)->spec.memory))
		return TTNN_OK;
	TT_TRY(to_memory(&next, call, *result, &memory));
	tt_fold_assign(result, call, next);
	return TTNN_OK;
}

/* In upstream's order: pads, rows, shards, the program, which refuses what is no image, the memory that was asked for. */
static tt_status fold_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input"), *result;
	const struct ttnn_memory_config *memory = &in->spec.memory;
	const struct ttnn_value attrs[] = {*tt_call_arg(call, "stride_h"),
					   *tt_call_arg(call, "stride_w"),
					   *tt_call_arg(call, "collapse_output")};
	bool transposes = tt_call_bool(call, "use_transpose_as_fold", false);
	uint32_t pads[6];

	TT_TRY(tt_need_device(in));
	TT_TRY(read_pads(pads, call));
	TT_REQUIRE(!(transposes && tt_call_bool(call, "collapse_output", false)),
		   "!(use_transpose_as_fold && collapse_output)",
		   "Fold: collapse_output=True is not supported with use_transpose_as_fold=True "
		   "(legacy path bypasses prim::fold). Drop use_transpose_as_fold to use "
		   "collapse_output.");
	if (in->spec.shape.rank == 4 && attrs[0].integer > 0 && attrs[1].integer > 0) {
		if (transposes)
			return by_transposing(call, in, pads);
		if (memory->has_shard && memory->layout == TTNN_HEIGHT_SHARDED &&
		    memory->buffer == TTNN_L1)
			TT_TRY(prepare_shards(&in, call, pads));
		else
			TT_TRY(prepare(&in, call, pads));
	}
	TT_TRY(TT_LAUNCH(&result, call, &tt_fold_program, TT_INPUTS(in), .attrs = attrs));
	tt_call_own(call, result);
	TT_TRY(place(&result, call, in));
	tt_call_return(call, ttnn_tensor_ref(result));
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.fold",
	 .family = "fold",
	 .doc = "Squares of an image's elements become channels of one.",
	 .sigs = {"input: Tensor, stride_h: int, stride_w: int, use_transpose_as_fold: bool = "
		  "False, output_shape: Shape? = None, padding: sizes = [], grid_size: "
		  "CoreRangeSet? = None, override_memory_config: MemoryConfig? = None, "
		  "collapse_output: bool = False"},
	 .expand = fold_expand,
	 .golden = tt_golden_fold,
	 .pcc = 0.999},
};

const struct tt_op_family tt_family_fold = {"fold", ops, TT_COUNT(ops)};
