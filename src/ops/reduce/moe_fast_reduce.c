/*
 * moe_fast_reduce.c: sums over a dimension before the last two, cut into tensors along the last one; with the scores of experts
 * as factors too. Models DeepseekMoEFastReduceNCDeviceOperation and DeepseekMoEFastReduceNCFusedDeviceOperation of ttnn 0.81
 * with a factory each: specs, refusals, memory, cores. A choice of an expert that the mapping does not name counts for nothing.
 */
#include <inttypes.h>
#include <math.h>

#include "backend/backend.h"
#include "golden/golden.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"
#include "ops/values.h"

#define ATTRS(X)                                                                                   \
	X(DIM, "dim")                                                                              \
	X(SPLIT, "split_size")                                                                     \
	X(MEMORY, "output_memory_config")                                                          \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(schema, "DeepseekMoEFastReduceNCParams", ATTRS);

#define FUSED_ATTRS(X)                                                                             \
	X(FUSED_DIM, "reduce_dim")                                                                 \
	X(FUSED_SPLIT, "split_size")                                                               \
	X(FUSED_AXIS, "cluster_axis")                                                              \
	X(FUSED_MEMORY, "output_memory_config")                                                    \
	X(FUSED_SHARED, "num_shared_experts")                                                      \
	X(FUSED_SCALE, "shared_expert_scale")                                                      \
	X(FUSED_COMPUTE, "compute_kernel_config")
TT_ATTRS(fused_schema, "DeepseekMoEFastReduceNCFusedParams", FUSED_ATTRS);
#define MOST_AT_ONCE 8

/* Both programs have these. */
static int64_t dim_of(const struct tt_launch *launch)
{
	return launch->attrs[0].integer;
}

static int64_t split_of(const struct tt_launch *launch)
{
	return launch->attrs[1].integer;
}

static tt_status fast_reduce_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *memory =
		tt_launch_attr(launch, "output_memory_config")->memory;
	int64_t split = split_of(launch), dim = dim_of(launch);
	uint32_t width = tt_shape_last(&in->shape, 1), rank = in->shape.rank;
	struct ttnn_shape shape = in->shape;

	TT_REQUIRE(split > 0 && width % split == 0,
		   "operation_attributes.split_size > 0 && input_shape[-1] % "
		   "operation_attributes.split_size == 0",
		   "split_size (%" PRId64 ") must be greater than 0 and divide the last dim (%u)",
		   split, width);
	TT_NEED(dim >= 0 && dim < rank,
		"ShapeBase[] index out of range. %" PRId64 " not in [-%u, %u)", dim, rank, rank);
	TT_NEED(width > 0 && width / split <= TT_OUTPUTS_MAX,
		"1 to %d tensors of a split are possible, not %" PRId64, TT_OUTPUTS_MAX,
		width / split);
	shape.dim[dim] = 1;
	shape.dim[rank - 1] = dim == rank - 1 ? 1 : (uint32_t)split;
	if (dim == rank - 1)
		shape.dim[dim] /= (uint32_t)(width / split);
	launch->output_count = (size_t)(width / split);
	for (size_t i = 0; i < launch->output_count; i++)
		TT_TRY(tt_spec_simple(&launch->specs[i], &shape, in->dtype, TTNN_TILE, memory));
	return TTNN_OK;
}

/* `name` is what upstream calls the program. */
static tt_status check_input(const struct tt_launch *launch, const char *name)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint32_t rank = in->shape.rank;
	uint64_t parts = tt_shape_last(&in->padded, 1) / (uint64_t)split_of(launch);

	TT_REQUIRE(in->layout == TTNN_TILE, "tensor.layout() == layout",
		   "%s input only supports TILE layout.", name);
	TT_REQUIRE(in->dtype == TTNN_BFLOAT16 || in->dtype == TTNN_BFLOAT8_B, "dtype_supported",
		   "%s input only supports specific data types. [BFLOAT16, BFLOAT8_B] ", name);
	TT_REQUIRE(rank > 2, "input_rank > 2",
		   "input tensor rank must be greater than 2, but has %u", rank);
	TT_REQUIRE(dim_of(launch) <= rank - 3, "reduction_dim <= input_rank - 3",
		   "reduction dim must be between 0 and %u, but has %" PRId64, rank - 3,
		   dim_of(launch));
	TT_REQUIRE(parts && tt_shape_last(&in->padded, 1) % (parts * TT_TILE) == 0,
		   "split_dim_size % (num_output_tensors * tt::constants::TILE_WIDTH) == 0",
		   "input tensor width must be divisible by %" PRIu64, parts * TT_TILE);
	return TTNN_OK;
}

static tt_status fast_reduce_validate(struct tt_launch *launch)
{
	return check_input(launch, "DeepseekMoEFastReduceNC");
}

/* The extent of what is added up, and the cores among which the tiles of the result go. */
static tt_status split_sums(struct tt_work_split *out, uint32_t *extent,
			    const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	*extent = in->padded.dim[dim_of(launch)];
	return tt_split_work(out, tt_grid_size(launch->grid), in->pages / (*extent ? *extent : 1),
			     TTNN_ORIENT_ROW_MAJOR);
}

static tt_status fast_reduce_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_work_split split;
	uint32_t extent;

	TT_TRY(split_sums(&split, &extent, launch));
	return TT_PLAN(plan, split.all,
		       TT_CB_ROW(0, "compute_input_0",
				 .pages = 2 * tt_split_divisor(extent ? extent : 1, MOST_AT_ONCE),
				 .page = tt_page_in0(launch)),
		       TT_CB_ROW(1, "compute_input_1", .pages = 1, .page = tt_page_bf16(launch)),
		       TT_CB_ROW(16, "compute_output", .pages = 2, .page = tt_page_out0(launch)));
}

/* All sums in rows, of which each tensor takes its columns. */
static tt_status cut(struct tt_launch *launch, struct tt_tensor *sum)
{
	const struct ttnn_shape *part = &launch->outputs[0]->spec.shape;
	int64_t start[TTNN_MAX_RANK] = {0};

	for (size_t i = 0; i < launch->output_count; i++) {
		start[part->rank - 1] = (int64_t)i * split_of(launch);
		TT_TRY(tt_move_part(
			launch->outputs[i], sum,
			&(struct tt_move_block){.extent = part->dim, .in_start = start}));
	}
	return TTNN_OK;
}

static tt_status add_up(struct tt_launch *launch, struct tt_tensor *in)
{
	struct tt_tensor *sum;
	uint32_t dim = (uint32_t)dim_of(launch);
	struct tt_reduce_job job = {.in = in, .kind = TT_REDUCE_SUM, .dims = 1u << dim, .scale = 1};
	struct ttnn_shape shape = in->spec.shape;

	shape.dim[dim] = 1;
	TT_TRY(tt_scratch_f32(&sum, &shape));
	job.out = sum;
	TT_TRY(tt_backend_get()->reduce(&job));
	return cut(launch, sum);
}

static tt_status fast_reduce_kernel(struct tt_launch *launch)
{
	return add_up(launch, launch->inputs[0]);
}

static const struct tt_prog prog = {
	.device_op = "DeepseekMoEFastReduceNCDeviceOperation",
	.prim = "ttnn::prim::deepseek_moe_fast_reduce_nc",
	.attrs = &schema,
	.infer = fast_reduce_infer,
	.validate = fast_reduce_validate,
	TT_FACTORY("ttnn::experimental::prim::DeepseekMoEFastReduceNCProgramFactory",
		   fast_reduce_memory),
	TT_KERNEL(fast_reduce_kernel),
	.drops_forward = true,
};

/* ---- with the scores of experts ------------------------------------------------------------------------------ */

enum { INPUT, SCORES, CHOICES, MAPPING };

static tt_status check_scores(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[INPUT]->spec;
	const struct ttnn_tensor_spec *scores = &launch->inputs[SCORES]->spec;
	uint32_t extent, rows = tt_shape_last(&in->padded, 2);
	int64_t shared = launch->attrs[FUSED_SHARED].integer;

	TT_REQUIRE(scores->layout == TTNN_ROW_MAJOR, "tensor.layout() == layout",
		   "DeepseekMoEFastReduceNCFused scores only supports ROW_MAJOR layout.");
	TT_REQUIRE(
		scores->dtype == TTNN_BFLOAT16, "dtype_supported",
		"DeepseekMoEFastReduceNCFused scores only supports specific data types. [BFLOAT16] ");
	TT_REQUIRE(scores->shape.rank == 4, "scores_rank == 4",
		   "scores tensor must be rank 4, but has %u", scores->shape.rank);
	TT_REQUIRE(in->shape.rank == 4, "input_rank == 4",
		   "input tensor must be rank 4, but has %u", in->shape.rank);
	extent = in->padded.dim[dim_of(launch)];
	TT_REQUIRE(shared <= extent, "num_shared_experts_val <= reduction_dim_size",
		   "num_shared_experts (%" PRId64 ") must not exceed reduction dim size (%u)",
		   shared, extent);
	TT_REQUIRE(scores->shape.dim[3] == extent - shared,
		   "scores_shape[-1] == num_routed_experts",
		   "scores last dim (%u) must equal num_routed_experts (%" PRId64
		   " = reduction_dim_size %u - num_shared_experts %" PRId64 ")",
		   scores->shape.dim[3], extent - shared, extent, shared);
	TT_REQUIRE(scores->shape.dim[0] + TT_TILE > rows && scores->shape.dim[0] <= rows,
		   "(scores_shape[0] > num_tokens - tt::constants::TILE_HEIGHT) && "
		   "(scores_shape[0] <= num_tokens)",
		   "scores dim 0 (tokens in slice = %u) must be between %u and %u (the rows of the "
		   "input's last row tile)",
		   scores->shape.dim[0], rows - TT_TILE + 1, rows);
	return TTNN_OK;
}

static tt_status fused_validate(struct tt_launch *launch)
{
	TT_REQUIRE(launch->attrs[FUSED_AXIS].integer <= 1, "operation_attributes.cluster_axis <= 1",
		   "cluster_axis must be 0 or 1 (got %" PRId64 ")",
		   launch->attrs[FUSED_AXIS].integer);
	TT_TRY(check_input(launch, "DeepseekMoEFastReduceNCFused"));
	return check_scores(launch);
}

/* A row of tokens as a core has it. */
static uint64_t row_bytes(const struct tt_launch *launch, size_t input)
{
	return tt_align_to(tt_aligned_page(launch->inputs[input]),
			   tt_memory_alignment(launch->device, TTNN_L1));
}

static tt_status fused_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t tokens = launch->inputs[SCORES]->spec.shape.dim[0];
	struct tt_work_split split;
	uint32_t extent;

	TT_TRY(split_sums(&split, &extent, launch));
	return TT_PLAN(
		plan, split.all,
		TT_CB_ROW(0, "cb_in_act",
			  .pages = 2 * tt_split_divisor(extent ? extent : 1, MOST_AT_ONCE),
			  .page = tt_page_in0(launch)),
		TT_CB_ROW(1, "cb_scores", .pages = extent * tt_div_up(tokens, TT_TILE),
			  .page = tt_page_bf16(launch)),
		TT_CB_ROW(2, "cb_scores_rm", .pages = tokens, .page = row_bytes(launch, SCORES)),
		TT_CB_ROW(3, "cb_expert_indices", .pages = launch->inputs[CHOICES]->spec.pages,
			  .page = row_bytes(launch, CHOICES)),
		TT_CB_ROW(4, "cb_expert_mapping", .pages = launch->inputs[MAPPING]->spec.pages,
			  .page = row_bytes(launch, MAPPING)),
		TT_CB_ROW(16, "cb_out", .pages = 2, .page = tt_page_out0(launch)));
}

/* Values of an input in rows. */
struct rows {
	double *values;
	uint64_t count, width;
};

static tt_status read_rows(struct rows *out, const struct tt_launch *launch, size_t input)
{
	out->width = tt_shape_last(&launch->inputs[input]->spec.shape, 1);
	TT_TRY(tt_values_of(&out->values, &out->count, launch, input));
	out->count /= out->width ? out->width : 1;
	return TTNN_OK;
}

/* Whether the expert that a token chose is in the chip's column (axis 0) or row of the mesh. */
static bool on_axis(const struct tt_launch *launch, const struct rows *mapping, double expert)
{
	uint32_t cols = launch->device->cols, chip = launch->chip;
	uint64_t row = mapping->count == 1 ? 0 : chip;
	double owner;

	if (row >= mapping->count || !(expert >= 0 && expert < (double)mapping->width))
		return false;
	owner = mapping->values[row * mapping->width + (uint64_t)expert];
	if (!(owner >= 0 && owner <= UINT16_MAX))
		return false;
	return launch->attrs[FUSED_AXIS].integer ? (uint32_t)owner / cols == chip / cols
						 : (uint32_t)owner % cols == chip % cols;
}

/* The scale as it goes to the chip: the upper half of its bits. */
static float shared_scale(const struct tt_launch *launch)
{
	float scale = (float)launch->attrs[FUSED_SCALE].real;
	uint32_t bits;

	memcpy(&bits, &scale, sizeof(bits));
	bits &= 0xffff0000u;
	memcpy(&scale, &bits, sizeof(scale));
	return scale;
}

/* A factor for each row of what is added up. */
static tt_status find_factors(struct tt_tensor **out, const struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[INPUT]->spec.shape;
	struct ttnn_shape shape = TT_SHAPE(1, 1, in->dim[2], 1);
	uint64_t extent = in->dim[dim_of(launch)], tokens;
	uint64_t routed = extent - (uint64_t)launch->attrs[FUSED_SHARED].integer;
	struct rows scores, choices, mapping;
	float *factors;

	shape.dim[dim_of(launch)] = (uint32_t)extent;
	TT_TRY(tt_scratch_f32(out, &shape));
	factors = tt_tensor_data(*out);
	TT_TRY(read_rows(&scores, launch, SCORES));
	TT_TRY(read_rows(&choices, launch, CHOICES));
	TT_TRY(read_rows(&mapping, launch, MAPPING));
	tokens = launch->inputs[SCORES]->spec.shape.dim[0];
	for (uint64_t e = 0; e < extent; e++)
		for (uint64_t t = 0; t < tokens && t < in->dim[2]; t++)
			if (e >= routed)
				factors[e * in->dim[2] + t] = shared_scale(launch);
			else if (t < choices.count && e < choices.width && t < scores.count &&
				 on_axis(launch, &mapping, choices.values[t * choices.width + e]))
				factors[e * in->dim[2] + t] =
					(float)scores.values[t * scores.width + e];
	return TTNN_OK;
}

static tt_status fused_kernel(struct tt_launch *launch)
{
	struct tt_map_job job = {.arity = 2, .in = {launch->inputs[INPUT]}, .op = TT_BINARY_MUL};

	TT_TRY(find_factors(&job.in[1], launch));
	TT_TRY(tt_scratch_f32(&job.out, &launch->inputs[INPUT]->spec.shape));
	TT_TRY(tt_backend_get()->map(&job));
	return add_up(launch, job.out);
}

static const struct tt_prog fused_prog = {
	.device_op = "DeepseekMoEFastReduceNCFusedDeviceOperation",
	.prim = "ttnn::prim::deepseek_moe_fast_reduce_nc_fused",
	.attrs = &fused_schema,
	.infer = fast_reduce_infer,
	.validate = fused_validate,
	TT_FACTORY("ttnn::experimental::prim::DeepseekMoEFastReduceNCFusedMeshWorkloadFactory",
		   fused_memory),
	TT_KERNEL(fused_kernel),
	.drops_forward = true,
	.per_chip = true, /* each knows where it is */
};

/* ---- the operations ------------------------------------------------------------------------------------------ */

static tt_status launch_plain(struct tt_call *call, const char *dim_name)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .fp32 = true};
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	int64_t dim = tt_call_int(call, dim_name, 0);

	TT_TRY(tt_need_device(in));
	return TT_LAUNCH_RETURN(
		call, &prog, TT_INPUTS(in),
		TT_BIND(call, schema, [DIM] = ttnn_v_int(dim < 0 ? dim + in->spec.shape.rank : dim),
			[COMPUTE] = tt_compute_config(
				call, tt_call_arg(call, "compute_kernel_config"), &usual)));
}

static tt_status fast_reduce_expand(struct tt_call *call)
{
	return launch_plain(call, "dim");
}

static tt_status fused_expand(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .fp32 = true};
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	struct tt_tensor *scores = tt_call_tensor(call, "scores_tensor");
	int64_t dim = tt_call_int(call, "reduce_dim", 0);

	if (!scores)
		return launch_plain(call, "reduce_dim");
	TT_TRY(tt_need_device(in));
	return TT_LAUNCH_RETURN(
		call, &fused_prog,
		TT_INPUTS(in, scores, tt_call_tensor(call, "expert_indices_tensor"),
			  tt_call_tensor(call, "expert_mapping_tensor")),
		TT_BIND(call, fused_schema,
			[FUSED_DIM] = ttnn_v_int(dim < 0 ? dim + in->spec.shape.rank : dim),
			[FUSED_COMPUTE] = tt_compute_config(
				call, tt_call_arg(call, "compute_kernel_config"), &usual)));
}

/* Tensors for what is added up over a dimension, and which one takes an element of the input. */
static tt_status golden_parts(struct tt_golden *golden, const struct tt_array *in, int64_t *dim)
{
	uint64_t split = (uint64_t)tt_call_int(&golden->call, "split_size", 0), parts;
	struct ttnn_shape shape;

	TT_GOLDEN_NEED(in && in->shape.rank > 2 && split);
	*dim += *dim < 0 ? in->shape.rank : 0;
	parts = in->shape.dim[tt_from_end(&in->shape, 1)] / split;
	TT_GOLDEN_NEED(*dim >= 0 && *dim + 2 < in->shape.rank && parts && parts <= TT_OUTPUTS_MAX);
	shape = in->shape;
	shape.dim[*dim] = 1;
	shape.dim[tt_from_end(&shape, 1)] = (uint32_t)split;
	for (uint64_t i = 0; i < parts; i++)
		TT_GOLDEN_NEED(tt_golden_out(golden, &shape, in->dtype));
	return TTNN_OK;
}

static double *golden_sum(struct tt_golden *golden, uint64_t *at, int64_t dim)
{
	uint32_t rank = golden->out[0].shape.rank;
	uint64_t split = golden->out[0].shape.dim[rank - 1], column = at[rank - 1];
	size_t last = golden->out_count - 1;
	struct tt_array *out = &golden->out[column / split < last ? column / split : last];

	at[dim] = 0;
	at[rank - 1] = column % split;
	return tt_at(out, tt_array_index(out, at));
}

static tt_status fast_reduce_golden(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	int64_t dim = tt_call_int(&golden->call, "dim", 0);
	uint64_t at[TTNN_MAX_RANK];

	TT_TRY(golden_parts(golden, in, &dim));
	for (uint64_t i = 0; i < in->count; i++) {
		tt_array_coordinate(at, in, i);
		*golden_sum(golden, at, dim) += *tt_at(in, i);
	}
	return TTNN_OK;
}

/* The score of a token's choice, where its expert is in the first column (axis 0) or row of the mesh. */
static double golden_score(struct tt_golden *golden, uint64_t token, uint64_t choice)
{
	const struct tt_array *scores = tt_golden_in(golden, "scores_tensor");
	const struct tt_array *choices = tt_golden_in(golden, "expert_indices_tensor");
	const struct tt_array *mapping = tt_golden_in(golden, "expert_mapping_tensor");
	const struct tt_device *device = tt_tensor_device(tt_golden_tensor(golden, "input_tensor"));
	uint64_t cols = device ? device->cols : 1, k, owner;

	if (!scores || !choices)
		return *tt_array_stray();
	k = tt_shape_last(&scores->shape, 1);
	if (token * k + choice >= scores->count)
		return 0;
	owner = (uint64_t)*tt_at(
		mapping,
		(uint64_t)*tt_at(choices, token * tt_shape_last(&choices->shape, 1) + choice));
	if (tt_call_int(&golden->call, "cluster_axis", 0) ? owner / cols : owner % cols)
		return 0;
	return *tt_at(scores, token * k + choice);
}

static tt_status fused_golden(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	int64_t dim = tt_call_int(&golden->call, "reduce_dim", 0);
	uint64_t at[TTNN_MAX_RANK], routed;
	double scale = tt_call_real(&golden->call, "shared_expert_scale", 1);
	int exponent;

	TT_TRY(golden_parts(golden, in, &dim));
	golden->first_chip = true;
	routed = in->shape.dim[dim] - (uint64_t)tt_call_int(&golden->call, "num_shared_experts", 0);
	if (!tt_call_tensor(&golden->call, "scores_tensor"))
		routed = 0, scale = 1;
	/* Eight bits of it are kept. */
	scale = frexp(scale, &exponent);
	scale = ldexp(trunc(ldexp(scale, 8)), exponent - 8);
	for (uint64_t i = 0; i < in->count; i++) {
		double factor;

		tt_array_coordinate(at, in, i);
		factor = at[dim] < routed ? golden_score(golden, at[2], at[dim]) : scale;
		*golden_sum(golden, at, dim) += factor * *tt_at(in, i);
	}
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.deepseek_moe_fast_reduce_nc",
	 .doc = "Sums over a dimension before the last two, cut into tensors along the last one.",
	 .sigs = {"input_tensor: Tensor, dim: int, *, split_size: int, output_memory_config: "
		  "MemoryConfig = DRAM, compute_kernel_config: ComputeConfig? = None"},
	 .expand = fast_reduce_expand,
	 .golden = fast_reduce_golden,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&prog)},
	{.name = "ttnn.experimental.deepseek_moe_fast_reduce_nc_fused",
	 .doc = "The same of what experts give, by their scores where they are on the axis of a mesh.",
	 .sigs = {"input_tensor: Tensor, expert_indices_tensor: Tensor, expert_mapping_tensor: "
		  "Tensor, reduce_dim: int, *, split_size: size, cluster_axis: size, "
		  "output_memory_config: MemoryConfig = DRAM, scores_tensor: Tensor? = None, "
		  "num_shared_experts: size = 0, shared_expert_scale: float = 1.0, "
		  "compute_kernel_config: ComputeConfig? = None"},
	 .expand = fused_expand,
	 .golden = fused_golden,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&prog, &fused_prog)},
};

const struct tt_op_family tt_family_moe_fast_reduce = {"moe_fast_reduce", ops, TT_COUNT(ops)};
