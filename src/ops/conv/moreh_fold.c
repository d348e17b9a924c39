/*
 * moreh_fold.c: windows of images put back where they were cut out, those that lie upon each other added up. A tensor [N, C x kernel,
 * windows] becomes [N, C, height, width]; N may be missing.
 *
 * Models MorehFoldOperation of ttnn 0.81 with its one factory: specs, refusals, memory, cores.
 */
#include "device/device.h"
#include "golden/golden_moreh.h"
#include "ops/movement/movement.h"
#include "ops/values.h"

#define ATTRS(X)                                                                                   \
	X(SIZE, "output_size")                                                                     \
	X(KERNEL, "kernel_size")                                                                   \
	X(DILATION, "dilation")                                                                    \
	X(PADDING, "padding")                                                                      \
	X(STRIDE, "stride")                                                                        \
	X(MEMORY, "memory_config")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);
enum { IN, GIVEN };

/* The number of an attribute for height (0) or width (1). */
static int64_t side(const struct tt_launch *launch, int attr, size_t which)
{
	return launch->attrs[attr].items[which].integer;
}

static tt_status check_pair(const struct tt_launch *launch, int attr)
{
	static const char *const names[] = {"output_size", "kernel_size", "dilation", "padding",
					    "stride"};
	static const char *const conditions[] = {
		"operation_attributes.output_size.size() == num_spatial_dims",
		"operation_attributes.kernel_size.size() == num_spatial_dims",
		"operation_attributes.dilation.size() == num_spatial_dims",
		"operation_attributes.padding.size() == num_spatial_dims",
		"operation_attributes.stride.size() == num_spatial_dims"};

	TT_REQUIRE(launch->attrs[attr].count == 2, conditions[attr], "Fold: %s takes 2 elements",
		   names[attr]);
	return TTNN_OK;
}

/* How often a window fits: at least once. */
static tt_status windows_of(int64_t *out, const struct tt_launch *launch, size_t which)
{
	int64_t room = side(launch, SIZE, which) + 2 * side(launch, PADDING, which) -
		       side(launch, DILATION, which) * (side(launch, KERNEL, which) - 1) - 1;

	TT_REQUIRE(side(launch, STRIDE, which) > 0, "operation_attributes.stride[i] > 0",
		   "Fold: stride must be greater than 0");
	TT_NEED(side(launch, KERNEL, which) > 0, "Fold: kernel_size must be greater than 0");
	TT_REQUIRE(room >= 0, "input_shape[input_rank - 1] == l",
		   "Fold: Invalid input tensor size");
	*out = room / side(launch, STRIDE, which) + 1;
	return TTNN_OK;
}

static tt_status moreh_fold_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	struct ttnn_shape shape = {0};
	int64_t kernel;

	if (tt_infer_given(launch, 0))
		return TTNN_OK;
	TT_TRY(check_pair(launch, SIZE));
	TT_TRY(check_pair(launch, KERNEL));
	TT_NEED(in->shape.rank >= 2, "Fold: Only support 3D or 2D input tensor");
	kernel = side(launch, KERNEL, 0) * side(launch, KERNEL, 1);
	TT_REQUIRE(kernel > 0, "kernel_size_product > 0",
		   "Fold: kernel_size must be greater than 0");
	if (in->shape.rank == 3)
		shape.dim[shape.rank++] = in->shape.dim[0];
	shape.dim[shape.rank++] = (uint32_t)(in->shape.dim[in->shape.rank == 3 ? 1 : 0] / kernel);
	shape.dim[shape.rank++] = (uint32_t)side(launch, SIZE, 0);
	shape.dim[shape.rank++] = (uint32_t)side(launch, SIZE, 1);
	return tt_infer_one(launch, &shape, in->dtype, in->layout);
}

/* A given output is the image that the windows were cut from. */
static tt_status check_given(const struct tt_launch *launch, uint32_t channels)
{
	const struct ttnn_shape *out;

	if (!launch->inputs[GIVEN])
		return TTNN_OK;
	out = &launch->inputs[GIVEN]->spec.shape;
	TT_REQUIRE(tt_shape_last(out, 3) == channels,
		   "output_shape[output_rank - 3] == input_shape[input_rank - 2] / "
		   "kernel_size_product",
		   "Fold: Invalid output tensor size");
	TT_REQUIRE(tt_shape_last(out, 2) == side(launch, SIZE, 0),
		   "output_shape[output_rank - 2] == operation_attributes.output_size[0]",
		   "Fold: Invalid output shape size");
	TT_REQUIRE(tt_shape_last(out, 1) == side(launch, SIZE, 1),
		   "output_shape[output_rank - 1] == operation_attributes.output_size[1]",
		   "Fold: Invalid output shape size");
	TT_REQUIRE(out->rank == 4 || out->rank == 3, "output_rank == 4 || output_rank == 3",
		   "Fold: Only support 4D and 3D output tensor");
	return TTNN_OK;
}

static tt_status moreh_fold_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	int64_t down, across, kernel;

	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR, "input.layout() == Layout::ROW_MAJOR",
		   "Fold: only support input in ROW_MAJOR");
	for (int attr = SIZE; attr <= STRIDE; attr++)
		TT_TRY(check_pair(launch, attr));
	TT_TRY(windows_of(&down, launch, 0));
	TT_TRY(windows_of(&across, launch, 1));
	kernel = side(launch, KERNEL, 0) * side(launch, KERNEL, 1);
	TT_REQUIRE(in->shape.rank == 3 || in->shape.rank == 2,
		   "(input_rank == 3) || (input_rank == 2)",
		   "Fold: Only support 3D or 2D input tensor");
	TT_REQUIRE(tt_shape_last(&in->shape, 1) == down * across,
		   "input_shape[input_rank - 1] == l", "Fold: Invalid input tensor size");
	TT_REQUIRE(tt_shape_last(&in->shape, 2) % kernel == 0,
		   "input_shape[input_rank - 2] % kernel_size_product == 0",
		   "Fold: Invalid input tensor size");
	return check_given(launch, (uint32_t)(tt_shape_last(&in->shape, 2) / kernel));
}

/* Rows of the image are given out; those of DRAM that are not aligned come by a buffer of their own. */
static tt_status moreh_fold_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;
	uint64_t bytes = tt_dtype_bytes(in->dtype);
	uint64_t row = bytes * tt_shape_last(&in->shape, 1);
	uint64_t dram = tt_memory_alignment(launch->device, TTNN_DRAM);
	bool scratch = in->memory.buffer == TTNN_DRAM && row % dram;
	const ttnn_core_set *cores;
	uint64_t volume;

	TT_TRY(ttnn_shape_volume(&volume, &out->shape));
	TT_TRY(tt_cores_for(&cores, launch, volume ? volume / tt_shape_last(&out->shape, 1) : 0));
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "input_cb", .pages = 2, .page = tt_align_to(row, 32)),
		       TT_DFB_ROW(16, "output_cb", .pages = 2,
				  .page = tt_align_to(bytes * tt_shape_last(&out->shape, 1), 32)),
		       TT_DFB_ROW(1, "scratch_cb", .pages = scratch ? 4 : 0,
				  .page = tt_align_to(row, dram)));
}

/* Where an element of a window lies along one side; -1 in the padding. */
static int64_t place_of(const struct tt_launch *launch, size_t which, int64_t window, int64_t k)
{
	int64_t at = window * side(launch, STRIDE, which) + k * side(launch, DILATION, which) -
		     side(launch, PADDING, which);

	return at < side(launch, SIZE, which) ? at : -1;
}

/* One plane of the output: the sum of its windows. */
static void add_windows(const struct tt_launch *launch, float *plane, const double *in,
			const int64_t *windows)
{
	for (int64_t ky = 0; ky < side(launch, KERNEL, 0); ky++)
		for (int64_t kx = 0; kx < side(launch, KERNEL, 1); kx++)
			for (int64_t w = 0; w < windows[0] * windows[1]; w++, in++) {
				int64_t y = place_of(launch, 0, w / windows[1], ky);
				int64_t x = place_of(launch, 1, w % windows[1], kx);

				if (y >= 0 && x >= 0)
					plane[y * side(launch, SIZE, 1) + x] += (float)*in;
			}
}

static tt_status moreh_fold_kernel(struct tt_launch *launch)
{
	uint64_t all, volume, kernel, plane;
	int64_t windows[2];
	double *in;
	float *out;

	TT_TRY(windows_of(&windows[0], launch, 0));
	TT_TRY(windows_of(&windows[1], launch, 1));
	kernel = (uint64_t)(side(launch, KERNEL, 0) * side(launch, KERNEL, 1)) *
		 (uint64_t)(windows[0] * windows[1]);
	plane = (uint64_t)(side(launch, SIZE, 0) * side(launch, SIZE, 1));
	TT_TRY(tt_values_of(&in, &all, launch, IN));
	TT_TRY(ttnn_shape_volume(&volume, &launch->outputs[0]->spec.shape));
	TT_NEED(all / kernel * plane == volume, "Fold: the output has another number of images");
	out = tt_arena_calloc(launch->arena, volume + 1, sizeof(*out));
	TT_NEED_MEMORY(out);
	for (uint64_t i = 0; i < all / kernel; i++)
		add_windows(launch, &out[i * plane], &in[i * kernel], windows);
	return tt_values_write(launch->outputs[0], out, TTNN_FLOAT32);
}

static const struct tt_prog program = {
	.device_op = "MorehFoldOperation",
	.prim = "ttnn::prim::moreh_fold",
	.attrs = &schema,
	.infer = moreh_fold_infer,
	.validate = moreh_fold_validate,
	TT_FACTORY("ttnn::operations::moreh::moreh_fold::MorehFoldOperation::MultiCore",
		   moreh_fold_memory),
	TT_KERNEL(moreh_fold_kernel),
};

static tt_status moreh_fold_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input"),
			 *given = tt_call_tensor(call, "output");

	return TT_LAUNCH_RETURN(
		call, &program, TT_INPUTS(in, given), TT_OUTPUTS(given), .in_place = true,
		TT_BIND(call, schema, [MEMORY] = tt_value_memory_or_like(call, in)));
}

static const struct tt_op ops[] = {
	{.name = "ttnn.moreh_fold",
	 .doc = "Windows put back where they were cut out of images, and added up.",
	 .sigs = {"input: Tensor, output: Tensor? = None, output_size: sizes, kernel_size: sizes, "
		  "dilation: sizes = [1, 1], padding: sizes = [0, 0], stride: sizes = [1, 1], "
		  "memory_config: MemoryConfig? = None"},
	 .expand = moreh_fold_expand,
	 .golden = tt_golden_moreh_fold,
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_moreh_fold = {"moreh_fold", ops, TT_COUNT(ops)};
