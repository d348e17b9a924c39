/*
 * moreh_arange.c: numbers at equal distances, made on the device. Models MorehArangeOperation of ttnn 0.81 with its one factory: specs,
 * refusals, memory, cores. Numbers are computed in float32.
 */
#include <math.h>

#include "backend/backend.h"
#include "golden/golden_moreh.h"
#include "ops/moreh.h"
#include "ops/movement/movement.h"

#define ATTRS(X)                                                                                   \
	X(START, "start")                                                                          \
	X(END, "end")                                                                              \
	X(STEP, "step")                                                                            \
	X(ROWS, "untilize_out")                                                                    \
	X(DEVICE, "mesh_device")                                                                   \
	X(DTYPE, "dtype")                                                                          \
	X(MEMORY, "memory_config")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);

static const char wrong_way[] = "((step > 0) && (end >= start)) || ((step < 0) && (end <= start))";
static const char wrong_way_text[] = "Upper bound and larger bound inconsistent with step sign.";

/* As upstream counts them: a number below zero is a very large one, none at all is 0. */
static uint32_t count_of(const struct tt_launch *launch)
{
	float count = ceilf(((float)launch->attrs[END].real - (float)launch->attrs[START].real) /
			    (float)launch->attrs[STEP].real);

	return fabsf(count) < 9e18f ? (uint32_t)(int64_t)count : 0;
}

/* One row of tiles, or a vector in rows. Upstream makes a tensor of 4 billion elements before it looks at signs. */
static tt_status arange_infer(struct tt_launch *launch)
{
	uint32_t count = count_of(launch);
	double way =
		(launch->attrs[END].real - launch->attrs[START].real) / launch->attrs[STEP].real;
	bool rows = launch->attrs[ROWS].boolean;
	struct ttnn_shape shape = {rows ? 1 : 2, {rows ? count : 1, count}};

	TT_REQUIRE(!(way < 0), wrong_way, "%s", wrong_way_text);
	return tt_infer_one(launch, &shape, (enum ttnn_dtype)launch->attrs[DTYPE].integer,
			    rows ? TTNN_ROW_MAJOR : TTNN_TILE);
}

static tt_status check_given(const struct tt_launch *launch)
{
	const struct tt_tensor *given = launch->inputs[0];
	bool rows = launch->attrs[ROWS].boolean;

	if (!given)
		return TTNN_OK;
	TT_REQUIRE((int64_t)given->spec.dtype == launch->attrs[DTYPE].integer,
		   "dtype == output->dtype()",
		   "If output is provided as input, its dtype should match the dtype parameter.");
	TT_REQUIRE(given->spec.memory.layout == TTNN_INTERLEAVED,
		   "output->memory_config().memory_layout() == TensorMemoryLayout::INTERLEAVED",
		   "Output memory config layout must be INTERLEAVED but got TensorMemoryLayout::%s",
		   tt_enum_name(&tt_enum_memory_layout, (int64_t)given->spec.memory.layout));
	TT_REQUIRE(!rows || given->spec.layout == TTNN_ROW_MAJOR,
		   "output_layout == Layout::ROW_MAJOR",
		   "Error: output_layout must be Layout::ROW_MAJOR when untilize_out");
	TT_REQUIRE(rows || given->spec.layout == TTNN_TILE, "output_layout == Layout::TILE",
		   "Error: output_layout must be Layout::TILE when !untilize_out");
	return TTNN_OK;
}

static tt_status arange_validate(struct tt_launch *launch)
{
	double start = launch->attrs[START].real, end = launch->attrs[END].real;
	double step = launch->attrs[STEP].real;
	enum ttnn_dtype dtype = (enum ttnn_dtype)launch->attrs[DTYPE].integer;

	TT_REQUIRE(step != 0, "step != 0", "step must be nonzero.");
	TT_REQUIRE((step > 0 && end >= start) || (step < 0 && end <= start), wrong_way, "%s",
		   wrong_way_text);
	TT_REQUIRE(dtype != TTNN_BFLOAT8_B, "dtype != DataType::BFLOAT8_B",
		   "moreh arange not support bfloat8_b dtype.");
	TT_REQUIRE(dtype != TTNN_UINT32, "dtype != DataType::UINT32",
		   "moreh arange not support uint32 dtype.");
	return check_given(launch);
}

/* The kernel knows three types. */
static tt_status arange_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;
	struct tt_work_split split;

	TT_REQUIRE(out->dtype == TTNN_BFLOAT16 || out->dtype == TTNN_INT32 ||
			   out->dtype == TTNN_FLOAT32,
		   "tt::exception", "moreh_arange: unsupported output dtype DataType::%s",
		   tt_enum_name(&tt_enum_dtype, (int64_t)out->dtype));
	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid,
			     tt_div_up(tt_shape_last(&out->padded, 1), TT_TILE),
			     TTNN_ORIENT_COL_MAJOR));
	return TT_PLAN(plan, split.all,
		       TT_CB_ROW(16, "out", .pages = 1, .page = tt_page_out0(launch)));
}

static tt_status arange_kernel(struct tt_launch *launch)
{
	return tt_backend_get()->range(launch->outputs[0], (float)launch->attrs[START].real,
				       (float)launch->attrs[STEP].real);
}

static const struct tt_prog program = {
	.device_op = "MorehArangeOperation",
	.prim = "ttnn::prim::moreh_arange",
	.attrs = &schema,
	.infer = arange_infer,
	.validate = arange_validate,
	TT_FACTORY("ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::operations::moreh::"
		   "moreh_arange::MorehArangeOperation>::DirectDescriptorFactory",
		   arange_memory),
	TT_KERNEL(arange_kernel),
};

static tt_status arange_expand(struct tt_call *call)
{
	struct tt_tensor *given = tt_call_tensor(call, "output");

	call->device = tt_call_arg(call, "device")->device;
	return TT_LAUNCH_RETURN(
		call, &program, TT_INPUTS(given), TT_OUTPUTS(given), .in_place = true,
		TT_BIND(call, schema, [START] = ttnn_v_real(tt_call_real(call, "start", 0)),
			[END] = ttnn_v_real(tt_call_real(call, "end", 0)),
			[STEP] = ttnn_v_real(tt_call_real(call, "step", 1)),
			[DEVICE] = *tt_call_arg(call, "device")));
}

static const struct tt_op ops[] = {
	{.name = "ttnn.moreh_arange",
	 .doc = "Numbers from a start up to an end, made on the device.",
	 .sigs = {"start: float = 0, end: float, step: float = 1, device: Device, *, output: Tensor? = "
		  "None, untilize_out: bool = False, dtype: DataType = BFLOAT16, memory_config: "
		  "MemoryConfig = DRAM"},
	 .expand = arange_expand,
	 .golden = tt_golden_moreh_arange,
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_moreh_arange = {"moreh_arange", ops, TT_COUNT(ops)};
