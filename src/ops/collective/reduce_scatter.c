/*
 * reduce_scatter.c: reduce_scatter: the tensors of all chips added up, and each chip gets its part of the sum.
 *
 * Models ReduceScatterDeviceOperation of ttnn 0.81 (ccl/reduce_scatter), which has the programs of reduce_scatter_minimal_async
 * and semaphores of its own, and its choice of a way: small tensors in a ring go straight to whom they are for; parts that are no
 * whole tiles are padded; without an axis it goes over one axis after the other.
 */
#include <inttypes.h>

#include "device/fabric.h"
#include "golden/golden_collective.h"
#include "ops/collective/async.h"
#include "ops/collective/reduce_scatter.h"
#include "ops/movement/movement.h"
#include "ops/op_enums.h"

#define ATTRS(X)                                                                                   \
	X(MEMORY, "output_mem_config")                                                             \
	X(BETWEEN, "intermediate_memory_config")                                                   \
	X(DIM, "dim")                                                                              \
	X(AXIS, "cluster_axis")                                                                    \
	X(SUB_DEVICE, "subdevice_id", .text = TT_TEXT_FIXED, .fixed = "<StrongType>")              \
	X(TOPOLOGY, "topology")                                                                    \
	X(LINKS, "num_links")                                                                      \
	X(CHUNKS, "chunks_per_sync")                                                               \
	X(WORKERS, "num_workers_per_link")                                                         \
	X(BUFFERS, "num_buffers_per_channel")                                                      \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(SMALL, "use_l1_small_for_semaphores")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);

/* Of as many bytes a ring sends parts straight to whom they are for. */
#define DIRECT_BYTES (512u << 10)

/* ---- the program -------------------------------------------------------------------------------------------- */

/* What is on the way: the input once, or for each way along a line; then the part. */
static tt_status scatter_infer(struct tt_launch *launch)
{
	static const struct ttnn_memory_config dram = {.buffer = TTNN_DRAM};
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_value *between = &launch->attrs[BETWEEN];
	struct ttnn_spec_args args = {
		.shape = in->shape, .dtype = in->dtype, .layout = in->layout, .tile = in->tile};

	args.memory = between->kind == TTNN_VALUE_MEMORY ? *between->memory : dram;
	if (!tt_group_is_ring(launch) && args.shape.rank)
		args.shape.dim[0] *= 2;
	launch->output_count = 2;
	TT_TRY(ttnn_tensor_spec_make(&launch->specs[0], &args));
	args.shape = in->shape;
	args.shape.dim[tt_attr_u32(launch, DIM)] /= tt_group_members(launch);
	args.memory = *launch->attrs[MEMORY].memory;
	TT_TRY(ttnn_tensor_spec_make(&launch->specs[1], &args));
	return launch->outputs[1] ? tt_create_for_nothing(launch, 1) : TTNN_OK;
}

static tt_status check_given(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *given = &launch->outputs[1]->spec;

	if (ttnn_tensor_spec_equal(given, &launch->specs[1]))
		return TTNN_OK;
	return tt_fail_specs("tensor_args.optional_output_tensor.value().tensor_spec() == "
			     "output_specs.at(1)",
			     "Output tensor spec %s does not match computed output spec %s", given,
			     &launch->specs[1]);
}

static tt_status scatter_validate(struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0];
	uint32_t dim = tt_attr_u32(launch, DIM), rank = in->spec.shape.rank;
	uint32_t extent = in->spec.padded.dim[dim + in->spec.padded.rank - rank];
	uint32_t behind = rank - 1 - dim;

	TT_TRY(check_given(launch));
	TT_REQUIRE(in->spec.page_bytes % tt_page_alignment(in) == 0,
		   "page_size % input_tensor.buffer()->alignment() == 0",
		   "reduce_scatter currently requires aligned pages");
	TT_REQUIRE(tt_link_count(launch) > 0, "num_links > 0", "num_links must be greater than 0");
	TT_REQUIRE(rank > 1, "rank > 1",
		   "reduce_scatter currently supports rank 2 tensors at minimum");
	if (behind < 2)
		TT_REQUIRE(extent / 32 % tt_group_members(launch) == 0,
			   "(input_shape[dim] / tile_size) % ring_size == 0",
			   "Number of tiles at dimension %u must be divisible by ring_size", dim);
	/* Rows and tiles that are no whole parts pass upstream's refusals, and are lost there. */
	TT_REQUIRE((behind < 2 ? in->spec.shape.dim[dim] : extent) % tt_group_members(launch) == 0,
		   "input_shape[dim] % ring_size == 0",
		   "Dimension %u must be divisible by ring_size", dim);
	TT_REQUIRE(in->spec.memory.layout != TTNN_BLOCK_SHARDED ||
			   in->spec.memory.buffer == TTNN_L1,
		   "input_tensor.memory_config().buffer_type() == BufferType::L1",
		   "DRAM block sharding not supported for input");
	return TTNN_OK;
}

static tt_status scatter_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = 0;
	TT_TRY(tt_keep_semaphores(launch, 4, launch->attrs[SMALL].boolean));
	TT_REQUIRE(tt_group_members(launch) > 1 || ttnn_fabric_get() == TTNN_FABRIC_NONE,
		   "forward_coordinate.has_value() || backward_coordinate.has_value()",
		   "DEBUG: forward_coord or backward_coord is null");
	return TTNN_OK;
}

static tt_status scatter_kernel(struct tt_launch *launch)
{
	return tt_group_serve(launch, 1, tt_serve_scatter);
}

static uint64_t scatter_spread(const struct tt_launch *launch)
{
	return tt_group_spread(launch->inputs[0], tt_group_axis(&launch->attrs[AXIS]),
			       TT_GROUP_SCATTERED, tt_attr_u32(launch, DIM));
}

static const struct tt_prog program = {
	.device_op = "ReduceScatterDeviceOperation",
	.prim = "ttnn::prim::reduce_scatter",
	.attrs = &schema,
	.infer = scatter_infer,
	.validate = scatter_validate,
	TT_FACTORY("ttnn::operations::ccl::ReduceScatterDeviceOperation::ReduceScatterProgram",
		   tt_scatter_memory),
	.choose = scatter_choose,
	TT_KERNEL(scatter_kernel),
	.spread = scatter_spread,
	.per_chip = true,
	.together = true,
	.drops_forward = true,
	.last_first = true,
	.kept_order = TT_KEPT_LAST_FORWARD,
};

tt_status tt_scatter_along(struct tt_tensor **out, struct tt_call *call,
			   const struct tt_scatter_args *args)
{
	struct tt_tensor *all[TT_OUTPUTS_MAX];
	const ttnn_core_set *cores;
	size_t count;

	TT_TRY(tt_group_cores(&cores, call, tt_tensor_device(args->in)));
	TT_TRY(tt_call_programs(
		all, &count, call,
		&(struct tt_program_args){
			.prog = &program,
			TT_INPUTS(args->in),
			TT_OUTPUTS(NULL, args->given),
			.grid = cores,
			TT_BIND(call, schema, [MEMORY] = ttnn_v_memory(args->memory),
				[BETWEEN] =
					args->padded
						? ttnn_v_none()
						: *tt_call_arg(call, "intermediate_memory_config"),
				[DIM] = ttnn_v_int(args->dim), [TOPOLOGY] = args->topology,
				[LINKS] = args->links,
				[COMPUTE] = tt_sum_compute(call, args->in))}));
	tt_call_drop(call, all[0]);
	*out = all[1];
	return TTNN_OK;
}

/* ---- the call --------------------------------------------------------------------------------------------------- */

/* Whether parts are even, and no whole tiles. */
static bool needs_padding(const struct ttnn_tensor_spec *in, uint32_t dim, uint32_t size)
{
	uint32_t behind = in->shape.rank - 1 - dim, part = in->shape.dim[dim] / size;

	if (in->shape.dim[dim] % size)
		return false;
	if (in->layout == TTNN_ROW_MAJOR)
		return true;
	return behind < 2 && part % (behind ? in->tile.height : in->tile.width);
}

/* What the direct way has no words for keeps the other one. */
static bool goes_direct(const struct tt_call *call, const struct tt_scatter_args *args,
			uint32_t size)
{
	const struct ttnn_value none = {0};
	struct ttnn_value own = tt_group_topology(tt_tensor_device(args->in), &none,
						  tt_group_axis(tt_call_arg(call, "cluster_axis")));
	static const char *const others[] = {"chunks_per_sync", "num_workers_per_link",
					     "num_buffers_per_channel", "compute_kernel_config",
					     "intermediate_memory_config"};

	for (size_t i = 0; i < TT_COUNT(others); i++)
		if (tt_value_given(tt_call_arg(call, others[i])))
			return false;
	return args->topology.integer == TT_TOPOLOGY_RING && own.integer == TT_TOPOLOGY_RING &&
	       !tt_call_bool(call, "use_l1_small_for_semaphores", false) &&
	       args->in->spec.bytes <= DIRECT_BYTES && tt_scatter_direct_can(args, size);
}

static tt_status scatter_expand(struct tt_call *call)
{
	static const char *const others[] = {"dim",
					     "subdevice_id",
					     "memory_config",
					     "intermediate_memory_config",
					     "output_tensor",
					     "num_links",
					     "topology",
					     "chunks_per_sync",
					     "num_workers_per_link",
					     "num_buffers_per_channel",
					     "compute_kernel_config",
					     "use_l1_small_for_semaphores"};
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *out;
	int64_t axis = tt_group_axis(tt_call_arg(call, "cluster_axis"));
	int64_t dim = tt_call_int(call, "dim", 0), rank = in->spec.shape.rank;
	const struct tt_device *device = tt_tensor_device(in);
	struct tt_scatter_args args = {.in = in, .given = tt_call_tensor(call, "output_tensor")};
	uint32_t size;

	TT_REQUIRE(device, "storage_type == DEVICE", "%s: the tensor must be on a device",
		   call->entry->op->name);
	if (!tt_value_given(tt_call_arg(call, "cluster_axis")) && device->rows > 1 &&
	    device->cols > 1)
		return tt_call_by_axes(call, in, others, TT_COUNT(others));
	TT_REQUIRE(dim >= -rank && dim < rank, "normalized_index >= 0 and normalized_index < rank",
		   "Index is out of bounds for the rank, should be between 0 and %" PRId64
		   " however is %" PRId64,
		   rank - 1, dim < 0 ? dim + rank : dim);
	args.dim = (uint32_t)(dim < 0 ? dim + rank : dim);
	TT_TRY(tt_group_links(&args.links, call, device));
	TT_REQUIRE(axis < 2, "cluster_axis < 2", "Invalid cluster axis %" PRId64 ". Must be 0 or 1",
		   axis);
	args.topology = tt_group_topology(device, tt_call_arg(call, "topology"), axis);
	args.memory = tt_memory_or_like(call, in);
	size = tt_group_size(device, axis);
	if (needs_padding(&in->spec, args.dim, size))
		return tt_call_give(call, tt_scatter_padded(&out, call, &args), &out);
	if (goes_direct(call, &args, size))
		return tt_call_give(call, tt_scatter_direct(&out, call, &args), &out);
	return tt_call_give(call, tt_scatter_along(&out, call, &args), &out);
}

static const struct tt_op ops[] = {
	{
		.name = "ttnn.reduce_scatter",
		.doc = "The tensors of all devices added up, and each device gets its part of the sum.",
		.sigs = {"input_tensor: Tensor, dim: int, *, cluster_axis: int? = None, "
			 "subdevice_id: SubDeviceId? = None, memory_config: MemoryConfig? = None, "
			 "intermediate_memory_config: MemoryConfig? = None, "
			 "output_tensor: Tensor? = None, num_links: int? = None, "
			 "topology: enum? = None, chunks_per_sync: int? = None, "
			 "num_workers_per_link: int? = None, num_buffers_per_channel: int? = None, "
			 "compute_kernel_config: ComputeConfig? = None, "
			 "use_l1_small_for_semaphores: bool = False"},
		.expand = scatter_expand,
		.golden = tt_golden_reduce_scatter,
		TT_PROGRAMS(&program),
	},
};

const struct tt_op_family tt_family_reduce_scatter = {"collective", ops, TT_COUNT(ops)};
