/* fold.c: images whose squares of elements become channels. */
#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "device/split.h"
#include "ops/cost.h"
#include "ops/golden_window.h"
#include "ops/movement.h"
#include "ops/rows.h"
#include "tensor/core.h"
#include "tensor/shape.h"
#include "tensor/spec.h"

/* ---- the program ------------------------------------------------------------------------------------- */

enum { DOWN, ACROSS, COLLAPSE, ATTRS };

static const struct tt_field fields[ATTRS] = {
	[DOWN] = {.name = "stride_h"},
	[ACROSS] = {.name = "stride_w"},
	[COLLAPSE] = {.name = "collapse_output"},
};
static const struct tt_schema schema = {"operation_attributes_t", fields, ATTRS, false};

static uint32_t down(const struct tt_launch *launch)
{
	return (uint32_t)launch->attrs[DOWN].integer;
}

static uint32_t across(const struct tt_launch *launch)
{
	return (uint32_t)launch->attrs[ACROSS].integer;
}

static enum ttnn_dtype folded_dtype(enum ttnn_dtype dtype)
{
	return dtype == TTNN_FLOAT32 || dtype == TTNN_UINT16 ? dtype : TTNN_BFLOAT16;
}

static struct ttnn_shape folded_shape(const struct ttnn_shape *in, uint32_t h, uint32_t w)
{
	const uint32_t *dim = in->dim;

	return (struct ttnn_shape){4, {dim[0], dim[1] / h, dim[2] / w, dim[3] * h * w}};
}

static tt_status infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint32_t h = down(launch), w = across(launch);
	struct ttnn_spec_args args = {.shape = folded_shape(&in->shape, h, w),
				      .dtype = folded_dtype(in->dtype),
				      .memory = in->memory};
	struct ttnn_shard_spec shard = in->memory.shard;
	const uint32_t *dim = args.shape.dim;

	launch->output_count = 1;
	if (launch->attrs[COLLAPSE].boolean)
		args.shape = (struct ttnn_shape){4, {1, 1, dim[0] * dim[1] * dim[2], dim[3]}};
	if (tt_tensor_is_sharded(launch->inputs[0])) {
		shard.height /= h * w;
		shard.width *= h * w;
		TT_TRY(ttnn_memory_config_sharded(&args.memory, in->memory.layout,
						  in->memory.buffer, &shard));
	}
	return ttnn_tensor_spec_make(&launch->specs[0], &args);
}

static tt_status validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const uint32_t *dim = in->padded.dim;
	uint32_t h = down(launch), w = across(launch);

	if (tt_tensor_is_sharded(launch->inputs[0])) {
		TT_REQUIRE(in->memory.layout == TTNN_HEIGHT_SHARDED,
			   "input_tensor.memory_config().memory_layout() == "
			   "TensorMemoryLayout::HEIGHT_SHARDED",
			   "Fold: Only height-sharded input tensors are supported.");
		TT_REQUIRE(in->memory.shard.height % (dim[2] * h) == 0,
			   "shard_shape[0] % (input_shape[2] * stride_h) == 0",
			   "Fold: Shard height must be divisible by input width times stride_h for "
			   "proper folding operation.");
		return TTNN_OK;
	}
	TT_REQUIRE(dim[1] % h == 0, "input_shape[1] % stride_h == 0",
		   "Fold: Input height must be divisible by stride_h.");
	TT_REQUIRE(dim[2] % w == 0, "input_shape[2] % stride_w == 0",
		   "Fold: Input width must be divisible by stride_w.");
	return TTNN_OK;
}

/* Numbers: 0 tiles read at once, 1 pages, 2 and 3 their bytes, 4 bytes of a row of results. */
static tt_status plan_tiles(struct tt_launch *launch, struct tt_move_work *work)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec,
				      *out = &launch->outputs[0]->spec;
	const uint32_t *dim = in->padded.dim;
	uint64_t rows = (uint64_t)dim[0] * (in->shape.dim[1] / down(launch));
	struct ttnn_core grid = tt_grid_size(launch->device->grid);
	uint64_t share = tt_div_up(rows, (uint64_t)grid.x * grid.y);

	TT_TRY(tt_split_cores(&work->cores[0], grid, (struct ttnn_core){0, 0},
			      tt_div_up(rows, share), TTNN_ORIENT_ROW_MAJOR));
	work->number[0] = work->number[1] = (uint64_t)down(launch) * (dim[2] / 32) * (dim[3] / 32);
	work->number[2] = tt_tile_bytes_of(in->dtype);
	work->number[3] = tt_tile_bytes_of(out->dtype);
	work->number[4] = in->shape.dim[2] / across(launch) * out->page_bytes;
	return TTNN_OK;
}

/* Where pages are padded, a result is put together in a buffer of its own. */
static tt_status plan_rows(struct tt_launch *launch, struct tt_move_work *work)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec,
				      *out = &launch->outputs[0]->spec;
	struct ttnn_core grid = tt_grid_size(launch->device->grid);
	uint64_t alignment = tt_memory_alignment(launch->device, TTNN_DRAM);
	uint64_t stick = in->page_bytes, results = out->rows;
	uint64_t share = tt_div_up(results, (uint64_t)grid.x * grid.y);

	TT_TRY(tt_split_cores(&work->cores[0], grid, (struct ttnn_core){0, 0},
			      tt_div_up(results, share), TTNN_ORIENT_ROW_MAJOR));
	work->number[0] = 2;
	work->number[2] = (uint64_t)down(launch) * across(launch) * tt_align_to(stick, alignment);
	if (stick % alignment) {
		work->number[1] = 1;
		work->number[3] = out->page_bytes;
	}
	return TTNN_OK;
}

enum { MULTI_CORE, DRAM };

static tt_status choose(uint32_t *out, struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_move_work *work = tt_move_work_new(launch);

	if (!work)
		return TTNN_NOMEM;
	*out = tt_tensor_is_sharded(launch->inputs[0]) ? MULTI_CORE : DRAM;
	if (*out == DRAM)
		return in->layout == TTNN_TILE ? plan_tiles(launch, work) : plan_rows(launch, work);
	work->cores[0] = in->memory.shard.grid;
	work->number[0] = in->memory.shard.height;
	work->number[1] = launch->outputs[0]->spec.memory.shard.height;
	work->number[2] = tt_aligned_page(launch->inputs[0]);
	work->number[3] = tt_aligned_page(launch->outputs[0]);
	return TTNN_OK;
}

static const struct tt_mem_row shard_rows[] = {
	{TT_DFB, 0, .pages = tt_number0, .page = tt_number2, .cores = tt_work_cores0,
	 .backing = tt_back_in0},
	{TT_DFB, 1, .pages = tt_number1, .page = tt_number3, .cores = tt_work_cores0,
	 .backing = tt_back_out0},
};
static const struct tt_mem_row dram_rows[] = {
	{TT_DFB, 0, .pages = tt_number0, .page = tt_number2, .cores = tt_work_cores0},
	{TT_DFB, 1, .when = tt_has1, .pages = tt_number1, .page = tt_number3,
	 .cores = tt_work_cores0},
	{TT_DFB, 2, .when = tt_has4, .page_count = 1, .page = tt_number4, .cores = tt_work_cores0},
};
static const struct tt_factory factories[] = {
	[MULTI_CORE] = {"ttnn::operations::data_movement::Fold::MultiCore", shard_rows,
			TT_COUNT(shard_rows), NULL},
	[DRAM] = {"ttnn::operations::data_movement::Fold::MultiCoreDRAMFold", dram_rows,
		  TT_COUNT(dram_rows), NULL},
};

/* ---- numbers ------------------------------------------------------------------------------------------- */

/* Into a tensor of [n, h, w, c] or of one matrix. */
static tt_status fold_into(struct tt_tensor *out, struct tt_tensor *in, uint32_t h, uint32_t w)
{
	const uint32_t *dim = in->spec.shape.dim;
	uint32_t rows = dim[1] / h, cols = dim[2] / w;
	bool flat = out->spec.shape.dim[0] != dim[0] || out->spec.shape.dim[1] != rows;
	const struct tt_move_loop loops[] = {
		{dim[0], 0, flat ? 2 : 0, 1, flat ? (int64_t)rows * cols : 1},
		{rows, 1, flat ? 2 : 1, h, flat ? cols : 1},
		{cols, 2, 2, w, 1},
		{h, 1, 3, 1, (int64_t)w * dim[3]},
		{w, 2, 3, 1, dim[3]},
		{dim[3], 3, 3, 1, 1},
	};
	struct tt_move_job job = {
		.out = out, .in = in, .loops = loops, .loop_count = TT_COUNT(loops)};

	return tt_backend_get()->move(&job);
}

static tt_status kernel(struct tt_launch *launch)
{
	return fold_into(launch->outputs[0], launch->inputs[0], down(launch), across(launch));
}

static const struct tt_prog prog = {
	.device_op = "Fold",
	.prim = "ttnn::prim::fold",
	.attrs = &schema,
	.infer = infer,
	.validate = validate,
	.factories = factories,
	.factory_count = TT_COUNT(factories),
	.choose = choose,
	TT_KERNEL(kernel),
	.cost = tt_cost_unmodelled_move,
};

/* ---- the operation ------------------------------------------------------------------------------------- */

/* [height, width], [top, bottom, left, right], or that and [front, back] of the channels. */
static tt_status read_pads(uint32_t out[6], bool *any, const struct tt_call *call)
{
	int64_t items[6] = {0};
	size_t count;

	TT_TRY(tt_call_ints(items, &count, 6, call, "padding"));
	*any = false;
	for (size_t i = 0; i < 6; i++) {
		out[i] = i >= count && count != 2 ? 0 : (uint32_t)items[i];
		if (count == 2)
			out[i] = i < 4 ? (uint32_t)items[i / 2] : 0;
		*any = *any || out[i];
	}
	return TTNN_OK;
}

static tt_status pad(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
		     const uint32_t pads[6])
{
	struct ttnn_value sides[4][2], dims[4];
	struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(in)},
				  {"padding", ttnn_v_list(dims, 4)},
				  {"value", ttnn_v_real(0)}};

	for (int d = 0; d < 4; d++) {
		sides[d][0] = ttnn_v_int(d ? pads[2 * (d - 1)] : 0);
		sides[d][1] = ttnn_v_int(d ? pads[2 * (d - 1) + 1] : 0);
		dims[d] = ttnn_v_list(sides[d], 2);
	}
	TT_TRY(tt_call_op(out, call, "ttnn.pad", args, TT_COUNT(args)));
	tt_call_own(call, *out);
	return TTNN_OK;
}

static tt_status to_rows(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(in)},
				  {"layout", ttnn_v_layout(TTNN_ROW_MAJOR)}};

	TT_TRY(tt_call_op(out, call, "ttnn.to_layout", args, 2));
	tt_call_own(call, *out);
	return TTNN_OK;
}

static tt_status launch_fold(struct tt_call *call, struct tt_tensor *in)
{
	struct ttnn_value attrs[ATTRS] = {*tt_call_arg(call, "stride_h"),
					  *tt_call_arg(call, "stride_w"),
					  *tt_call_arg(call, "collapse_output")};
	struct tt_program_args args = {
		.prog = &prog, .attrs = attrs, .inputs = &in, .input_count = 1};
	struct tt_tensor *out;

	TT_TRY(tt_call_program(&out, call, &args));
	tt_call_return(call, out);
	return TTNN_OK;
}

static tt_status expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input");
	bool sharded = tt_tensor_is_sharded(in), any;
	uint32_t pads[6];

	TT_TRY(tt_need_device(in));
	TT_TRY(read_pads(pads, &any, call));
	if (tt_call_bool(call, "use_transpose_as_fold", false) || (sharded && any))
		return tt_fail(TTNN_UNSUPPORTED,
			       "fold by transposing, or of padded shards, is not supported");
	if (in->spec.shape.rank != 4 || tt_call_int(call, "stride_h", 0) < 1 ||
	    tt_call_int(call, "stride_w", 0) < 1)
		return tt_fail(TTNN_INVALID, "Fold op only supports 4D tensors");
	if (any)
		TT_TRY(pad(&in, call, in, pads));
	if (in->spec.layout == TTNN_TILE && (sharded || in->spec.shape.dim[3] % 32))
		TT_TRY(to_rows(&in, call, in));
	return launch_fold(call, in);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.fold",
	 .family = "fold",
	 .doc = "Squares of an image's elements become channels of one.",
	 .sigs = {"input: Tensor, stride_h: int, stride_w: int, use_transpose_as_fold: bool = "
		  "False, output_shape: Shape? = None, padding: sizes = [], grid_size: "
		  "CoreRangeSet? = None, override_memory_config: MemoryConfig? = None, "
		  "collapse_output: bool = False"},
	 .expand = expand,
	 .golden = tt_golden_fold,
	 .pcc = 0.999},
};

const struct tt_op_family tt_family_fold = {"fold", ops, TT_COUNT(ops)};
