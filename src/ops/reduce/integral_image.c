/*
 * integral_image.c: sums over all pixels up to each, down and across. Models IntImgDeviceOperation of ttnn 0.81:
 * refusals, memory, its eight cores. Not modelled: rounding on the way.
 */
#include "backend/backend.h"
#include "golden/golden_reduction.h"
#include "ops/movement/movement.h"

static const struct tt_schema schema = {.name = "IntImgParams"};

static tt_status integral_image_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	return tt_spec_simple(&launch->specs[0], &in->shape, in->dtype, TTNN_TILE, &in->memory);
}

static tt_status integral_image_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	TT_REQUIRE(in->shape.rank == 4, "input_shape.rank() == 4",
		   "intimg supports only 4D tensors, the input tensor has %u instead",
		   in->shape.rank);
	TT_REQUIRE(in->shape.dim[0] == 1, "input_shape[0] == 1",
		   "intimg supports only one batch, found %u instead", in->shape.dim[0]);
	TT_REQUIRE(in->layout == TTNN_TILE, "input_layout == Layout::TILE",
		   "only tile layout is supported, Layout::%s was provided instead",
		   tt_enum_name(&tt_enum_layout, in->layout));
	TT_REQUIRE(in->dtype == TTNN_BFLOAT16 || in->dtype == TTNN_FLOAT32,
		   "input_dtype == DataType::BFLOAT16 || input_dtype == DataType::FLOAT32",
		   "only bf16 and fp32 dtypes are supported, DataType::%s was provided instead",
		   tt_enum_name(&tt_enum_dtype, in->dtype));
	return TTNN_OK;
}

/* Blocks of so many tiles go through, on a rectangle of so many cores. */
#define BLOCK_DEPTH 48
#define SMALL 2
#define CORES_X 2
#define CORES_Y 4

static tt_status integral_image_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	static const struct ttnn_core_range box = {{0, 0}, {CORES_X - 1, CORES_Y - 1}};
	uint64_t tile = tt_page_in0(launch);
	const ttnn_core_set *cores;

	TT_TRY(ttnn_core_set_make(&cores, &box, 1));
	return TT_PLAN(plan, cores, TT_DFB_ROW(0, "start", .pages = SMALL, .page = tile),
		       TT_DFB_ROW(1, "input", .pages = BLOCK_DEPTH, .page = tile),
		       TT_DFB_ROW(2, "acc", .pages = SMALL, .page = tile),
		       TT_DFB_ROW(3, "cumsum_stage_0", .pages = BLOCK_DEPTH, .page = tile),
		       TT_DFB_ROW(4, "cumsum_stage_1", .pages = BLOCK_DEPTH, .page = tile),
		       TT_DFB_ROW(5, "cumsum_stage_2", .pages = BLOCK_DEPTH, .page = tile),
		       TT_DFB_ROW(6, "output", .pages = BLOCK_DEPTH, .page = tile),
		       TT_DFB_ROW(7, "axis_2_buffer", .pages = SMALL, .page = tile),
		       TT_DFB_ROW(8, "axis_3_buffer", .pages = BLOCK_DEPTH, .page = tile));
}

static tt_status integral_image_kernel(struct tt_launch *launch)
{
	struct tt_tensor *out = launch->outputs[0];

	TT_TRY(tt_backend_get()->scan(
		&(struct tt_scan_job){.out = out, .in = launch->inputs[0], .dim = 1}));
	return tt_backend_get()->scan(&(struct tt_scan_job){.out = out, .in = out, .dim = 2});
}

static const struct tt_prog prog = {
	.device_op = "IntImgDeviceOperation",
	.prim = "ttnn::prim::intimg",
	.attrs = &schema,
	.infer = integral_image_infer,
	.validate = integral_image_validate,
	TT_FACTORY("ttnn::experimental::prim::IntImgDeviceOperation::ProgramFactory",
		   integral_image_memory),
	TT_KERNEL(integral_image_kernel),
};

static tt_status integral_image_expand(struct tt_call *call)
{
	struct tt_tensor *out;

	return tt_call_give(
		call, TT_LAUNCH(&out, call, &prog, TT_INPUTS(tt_call_tensor(call, "input_tensor"))),
		&out);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.intimg",
	 .doc = "The sum of all pixels of [1, width, height, channels] up to each, for each channel.",
	 .sigs = {"input_tensor: Tensor"},
	 .expand = integral_image_expand,
	 .golden = tt_golden_integral_image},
};

const struct tt_op_family tt_family_integral_image = {"scan", ops, TT_COUNT(ops)};
