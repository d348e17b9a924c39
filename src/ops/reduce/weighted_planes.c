/*
 * weighted_planes.c: planes added up, each row of each with its weight, for several sets of weights at once. Models
 * AttnResWeightedReduceNCDeviceOperation of ttnn 0.81 (deepseek_prefill) with its one factory: specs, refusals, memory, cores.
 */
#include <inttypes.h>

#include "device/generation.h"
#include "golden/golden.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"
#include "ops/values.h"

#define ATTRS(X)                                                                                   \
	X(DIM, "dim")                                                                              \
	X(MEMORY, "output_mem_config")                                                             \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(schema, "AttnResWeightedReduceNCParams", ATTRS);
enum { PLANES, WEIGHTS };

static tt_status planes_infer(struct tt_launch *launch)
{
	struct ttnn_shape shape = launch->inputs[PLANES]->spec.shape;

	shape.dim[launch->attrs[DIM].integer] = 1;
	shape.dim[0] = launch->inputs[WEIGHTS]->spec.shape.dim[0];
	launch->output_count = 1;
	return tt_spec_simple(&launch->specs[0], &shape, launch->inputs[PLANES]->spec.dtype,
			      TTNN_TILE, launch->attrs[MEMORY].memory);
}

static tt_status check_types(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[PLANES]->spec;
	const struct ttnn_tensor_spec *weights = &launch->inputs[WEIGHTS]->spec;

	TT_REQUIRE(in->layout == TTNN_TILE, "tensor.layout() == layout",
		   "AttnResWeightedReduceNC input only supports TILE layout.");
	TT_REQUIRE(in->dtype == TTNN_BFLOAT16, "dtype_supported",
		   "AttnResWeightedReduceNC input only supports specific data types. [BFLOAT16] ");
	TT_REQUIRE(weights->layout == TTNN_TILE, "tensor.layout() == layout",
		   "AttnResWeightedReduceNC weight only supports TILE layout.");
	TT_REQUIRE(weights->dtype == TTNN_BFLOAT16 || weights->dtype == TTNN_FLOAT32,
		   "dtype_supported",
		   "AttnResWeightedReduceNC weight only supports specific data types. [BFLOAT16, "
		   "FLOAT32] ");
	TT_REQUIRE(!tt_memory_config_is_sharded(&in->memory) &&
			   !tt_memory_config_is_sharded(&weights->memory) &&
			   !tt_memory_config_is_sharded(launch->attrs[MEMORY].memory),
		   "!input.memory_config().is_sharded() && !weight.memory_config().is_sharded() && "
		   "!args.output_mem_config.is_sharded()",
		   "AttnResWeightedReduceNC supports interleaved operands only");
	return TTNN_OK;
}

static tt_status planes_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[PLANES]->spec;
	const struct ttnn_tensor_spec *weights = &launch->inputs[WEIGHTS]->spec;
	int64_t dim = launch->attrs[DIM].integer;

	TT_REQUIRE(tt_is_blackhole(launch->device), "arch == tt::ARCH::BLACKHOLE",
		   "AttnResWeightedReduceNC is only supported on Blackhole, got %s",
		   launch->device->info.arch);
	TT_TRY(check_types(launch));
	TT_REQUIRE(dim == 1, "args.dim == 1",
		   "AttnResWeightedReduceNC supports dim == 1 only, got %" PRId64, dim);
	TT_REQUIRE(in->shape.rank == 4 && weights->shape.rank == 4,
		   "input_shape.rank() == 4 && weight_shape.rank() == 4",
		   "AttnResWeightedReduceNC requires rank-4 operands, got input rank %u and weight "
		   "rank %u",
		   in->shape.rank, weights->shape.rank);
	TT_REQUIRE(weights->shape.dim[3] == 1, "weight.logical_shape()[-1] == 1",
		   "AttnResWeightedReduceNC weight must carry one scalar per row, i.e. a logical "
		   "last dim of 1, got %u",
		   weights->shape.dim[3]);
	for (uint32_t i = 1; i < 3; i++)
		TT_REQUIRE(in->shape.dim[i] == weights->shape.dim[i] &&
				   in->padded.dim[i] == weights->padded.dim[i],
			   "input_logical[i] == weight_logical[i] && input_shape[i] == "
			   "weight_shape[i]",
			   "AttnResWeightedReduceNC weight dim %u is %u (%u padded) but input's is "
			   "%u (%u padded); the candidate and row dims must match",
			   i, weights->shape.dim[i], weights->padded.dim[i], in->shape.dim[i],
			   in->padded.dim[i]);
	TT_REQUIRE(in->padded.dim[0] == 1, "input_shape[0] == 1",
		   "AttnResWeightedReduceNC takes an unbatched input, got dim 0 of %u; the batch "
		   "comes from the weight",
		   in->padded.dim[0]);
	return TTNN_OK;
}

/* As many sets at once as the matrix engine holds tiles; tile after tile of a plane, row of cores after row. */
static tt_status planes_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[PLANES]->spec.padded;
	uint64_t sets = launch->inputs[WEIGHTS]->spec.shape.dim[0];
	uint64_t most = tt_compute_tiles(&launch->attrs[COMPUTE]), planes = in->dim[1];
	uint64_t units = (uint64_t)in->dim[2] / TT_TILE * (in->dim[3] / TT_TILE);
	struct tt_work_split split;

	most = sets < most ? sets : most;
	TT_TRY(tt_split_work(&split, tt_grid_size(launch->grid), units, TTNN_ORIENT_ROW_MAJOR));
	return TT_PLAN(plan, split.all,
		       TT_CB_ROW(0, "input", .pages = 2 * planes, .page = tt_page_in0(launch)),
		       TT_CB_ROW(1, "weight", .pages = most * planes, .page = tt_page_in1(launch)),
		       TT_CB_ROW(16, "output", .pages = 2 * most, .page = tt_page_out0(launch)));
}

static tt_status planes_kernel(struct tt_launch *launch)
{
	const struct ttnn_shape *shape = &launch->inputs[PLANES]->spec.shape;
	uint64_t planes = shape->dim[1], rows = shape->dim[2], width = shape->dim[3], count;
	uint64_t sets = launch->inputs[WEIGHTS]->spec.shape.dim[0];
	double *in, *weights;
	float *out;

	TT_TRY(tt_values_of(&in, &count, launch, PLANES));
	TT_TRY(tt_values_of(&weights, &count, launch, WEIGHTS));
	out = tt_arena_calloc(launch->arena, sets * rows * width + 1, sizeof(*out));
	TT_NEED_MEMORY(out);
	for (uint64_t i = 0; i < sets * planes * rows; i++) {
		uint64_t set = i / rows / planes, row = i % rows;
		const double *from = &in[i % (planes * rows) * width];
		float *to = &out[(set * rows + row) * width];

		for (uint64_t c = 0; c < width; c++)
			to[c] += (float)(from[c] * weights[i]);
	}
	return tt_values_write(launch->outputs[0], out, TTNN_FLOAT32);
}

static const struct tt_prog program = {
	.device_op = "AttnResWeightedReduceNCDeviceOperation",
	.prim = "ttnn::prim::attn_res_weighted_reduce_nc",
	.attrs = &schema,
	.infer = planes_infer,
	.validate = planes_validate,
	TT_FACTORY("ttnn::experimental::prim::AttnResWeightedReduceNCProgramFactory",
		   planes_memory),
	TT_KERNEL(planes_kernel),
};

static tt_status planes_expand(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {TT_HIFI4, false, true, false};
	struct tt_tensor *in = tt_call_tensor(call, "input");
	const struct ttnn_value *compute = tt_call_arg(call, "compute_kernel_config");
	int64_t dim = tt_call_int(call, "dim", 1), rank = in->spec.shape.rank;

	TT_NEED(tt_call_tensor(call, "weight")->spec.shape.rank,
		"attn_res_weighted_reduce_nc: weights have dimensions");
	TT_REQUIRE(dim >= -rank && dim < rank, "normalized_index >= 0 and normalized_index < rank",
		   "Index is out of bounds for the rank, should be between 0 and %" PRId64
		   " however is %" PRIu64,
		   rank - 1, (uint64_t)(dim < 0 ? dim + rank : dim));
	return TT_LAUNCH_RETURN(call, &program, TT_INPUTS(in, tt_call_tensor(call, "weight")),
				TT_BIND(call,
					schema, [DIM] = ttnn_v_int(dim < 0 ? dim + rank : dim),
					[MEMORY] = tt_value_memory_or_like(call, in),
					[COMPUTE] = tt_compute_config(call, compute, &usual)));
}

/* Element by element: all planes, each with the weight of the row. */
static tt_status golden(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input");
	const struct tt_array *weights = tt_golden_in(golden, "weight");
	struct ttnn_shape shape;
	struct tt_array *out;

	TT_GOLDEN_NEED(in && weights && in->shape.rank == 4 && weights->shape.rank == 4);
	shape = in->shape;
	shape.dim[0] = weights->shape.dim[0];
	shape.dim[1] = 1;
	out = tt_golden_out(golden, &shape, in->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t at[TTNN_MAX_RANK], own[TTNN_MAX_RANK] = {0};

		tt_array_coordinate(at, out, i);
		for (at[1] = 0; at[1] < in->shape.dim[1]; at[1]++) {
			const uint64_t place[] = {0, at[1], at[2], at[3]};

			own[0] = at[0];
			own[1] = at[1];
			own[2] = at[2];
			*tt_at(out, i) += *tt_at(in, tt_array_index(in, place)) *
					  *tt_at(weights, tt_array_index(weights, own));
		}
	}
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.deepseek_prefill.attn_res_weighted_reduce_nc",
	 .family = "weighted_planes",
	 .doc = "Planes added up, each row with its weight, for each set of weights.",
	 .sigs = {"input: Tensor, weight: Tensor, *, dim: int = 1, memory_config: MemoryConfig? = "
		  "None, compute_kernel_config: ComputeConfig? = None"},
	 .expand = planes_expand,
	 .golden = golden,
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_weighted_planes = {"weighted_planes", ops, TT_COUNT(ops)};
