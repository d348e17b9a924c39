/* upsample.c: larger images. */
#include "ops/conv/upsample.h"

#include <string.h>

#include "golden/golden_window.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"

/* ---- between elements ------------------------------------------------------------------------------------ */

/* An image that is not sharded is spread over as many cores as there are. */
static tt_status spread(struct tt_tensor **out, struct ttnn_memory_config *memory,
			struct tt_call *call, struct tt_tensor *in)
{
	struct ttnn_core grid = tt_grid_size(tt_tensor_device(in)->grid);
	const uint32_t *dim = in->spec.shape.dim;
	uint64_t rows = (uint64_t)dim[0] * dim[1] * dim[2], cores = (uint64_t)grid.x * grid.y;
	struct ttnn_shard_spec shard = {.width = dim[3]};
	struct ttnn_arg args[] = {{"tensor", ttnn_v_tensor(in)}, {"memory_config", {0}}};

	TT_REQUIRE(rows > 0, "shard_shape_in_pages.volume() != 0",
		   "Shard shape must have non zero volume!");
	cores = cores < rows ? cores : rows;
	shard.height = (uint32_t)tt_div_up(rows, cores);
	TT_TRY(tt_split_cores(&shard.grid, grid, (struct ttnn_core){0, 0}, cores,
			      TTNN_ORIENT_ROW_MAJOR));
	TT_TRY(ttnn_memory_config_sharded(memory, TTNN_HEIGHT_SHARDED, TTNN_L1, &shard));
	args[1].value = ttnn_v_memory(memory);
	return tt_call_owned(call, tt_call_op(out, call, "ttnn.to_memory_config", args, 2), out);
}

static tt_status flatten(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	const uint32_t *dim = in->spec.shape.dim;
	struct ttnn_shape shape = {4, {1, 1, dim[0] * dim[1] * dim[2], dim[3]}};
	struct tt_reshape_args args = {.in = in, .shape = &shape};

	return tt_call_owned(call, tt_call_reshape(out, call, &args), out);
}

static tt_status upsample_place(struct tt_call *call, struct tt_tensor *tensor)
{
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct ttnn_arg args[] = {{"tensor", ttnn_v_tensor(tensor)}, {"memory_config", {0}}};
	struct tt_tensor *out;
	tt_status status;

	if (!memory || ttnn_memory_config_equal(memory, &tensor->spec.memory)) {
		tt_call_return(call, tensor);
		return TTNN_OK;
	}
	args[1].value = ttnn_v_memory(memory);
	status = tt_call_op(&out, call, "ttnn.to_memory_config", args, 2);
	tt_call_overwrite(call, tensor);
	if (status == TTNN_OK)
		tt_call_return(call, out);
	return status;
}

static tt_status run_linear(struct tt_call *call, struct tt_tensor *in,
			    const struct tt_upsample *given)
{
	struct tt_upsample copy = *given, *up = &copy;
	const uint32_t *dim = in->spec.padded.dim;
	struct tt_slide slide = {.batch = dim[0],
				 .channels = in->spec.shape.dim[3],
				 .in = {dim[1], dim[2]},
				 .window = {2, 2},
				 .stride = {1, 1},
				 .pad = {1, 1, 1, 1},
				 .dilation = {1, 1},
				 .cores_c = 1,
				 .bilinear = true,
				 .scale = {(uint32_t)up->scale[0], (uint32_t)up->scale[1]}};
	struct tt_halo_args halo = {.slide = &slide, .compute = &up->compute};
	struct ttnn_memory_config memory = *up->memory;
	struct tt_tensor *out;
	tt_status status;

	if (!slide.scale[0] || !slide.scale[1])
		return tt_fail(TTNN_INVALID, "scale_factor_h must be positive, got 0");
	if (!tt_tensor_is_sharded(in))
		TT_TRY(spread(&in, &memory, call, in));
	up->memory = &memory;
	up->slide = &slide;
	slide.cores = in->spec.memory.shard.grid;
	slide.cores_nhw = (uint32_t)ttnn_core_set_cores(slide.cores);
	TT_TRY(flatten(&in, call, in));
	TT_TRY(tt_halo(&up->haloed, call, in, &halo));
	tt_call_own(call, up->haloed.halo);
	status = tt_upsample_launch(&out, call, up->haloed.halo, up);
	ttnn_tensor_unref(up->haloed.image);
	return status == TTNN_OK ? upsample_place(call, out) : status;
}

/* ---- the operation ----------------------------------------------------------------------------------------- */

static void read_scale(float out[2], const struct ttnn_value *value)
{
	double number;

	for (uint32_t d = 0; d < 2; d++) {
		const struct ttnn_value *one = value;

		if (value->kind == TTNN_VALUE_LIST)
			one = d < value->count ? &value->items[d] : NULL;
		out[d] = one && tt_value_number(&number, one) ? (float)number : 0;
	}
}

static struct ttnn_value read_compute(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true};

	return tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
}

static tt_status upsample_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *out;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	const struct ttnn_value *mode = tt_call_arg(call, "mode");
	struct tt_upsample up = {.memory = memory ? memory : &in->spec.memory};

	TT_TRY(tt_need_device(in));
	if (in->spec.shape.rank > 4)
		return tt_fail(TTNN_INVALID, "upsample takes images of four dimensions");
	memcpy(up.nhwc, in->spec.shape.dim, sizeof(up.nhwc));
	read_scale(up.scale, tt_call_arg(call, "scale_factor"));
	up.compute = read_compute(call);
	up.mode = mode->kind == TTNN_VALUE_STRING ? mode->text : "nearest";
	up.linear = strcmp(up.mode, "bilinear") == 0;
	if (up.linear)
		TT_TRY(tt_upsample_check_rank(in));
	if (up.linear)
		return run_linear(call, in, &up);
	return tt_call_give(call, tt_upsample_launch(&out, call, in, &up), &out);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.upsample",
	 .doc = "Images larger by a factor: the nearest elements, or between the four nearest.",
	 .sigs = {"input_tensor: Tensor, scale_factor: int | ints | float | floats, *, mode: str = "
		  "nearest, memory_config: MemoryConfig? = None, compute_kernel_config: "
		  "ComputeConfig? = None"},
	 .expand = upsample_expand,
	 .golden = tt_golden_upsample},
};

const struct tt_op_family tt_family_upsample = {"upsample", ops, TT_COUNT(ops)};
