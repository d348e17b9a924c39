/*
 * partition.c: mesh_partition: every chip keeps its own part of a tensor.
 *
 * Models MeshPartitionDeviceOperation of ttnn 0.81 (ccl/mesh_partition), whose program on each chip is that of a slice: its
 * refusals and buffers are those of the slice program.
 */
#include <inttypes.h>

#include "golden/golden_collective.h"
#include "ops/collective/collective.h"
#include "ops/movement/movement.h"

#define ATTRS(X)                                                                                   \
	X(DIM, "dim")                                                                              \
	X(AXIS, "cluster_axis")                                                                    \
	X(MEMORY, "output_mem_config")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);

static tt_status partition_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_shape shape = in->shape;
	int64_t rank = shape.rank, least = rank < 4 ? 4 : rank;
	int32_t dim = (int32_t)tt_attr_u32(launch, DIM); /* counted without a sign from here on */

	TT_REQUIRE(dim >= -least && dim < rank, "tt::exception",
		   "ShapeBase[] index out of range. %d not in [-%d, %d)", dim, (int)least,
		   (int)rank);
	if (dim >= -rank)
		shape.dim[dim < 0 ? dim + rank : dim] /= tt_group_members(launch);
	return tt_spec_simple(&launch->specs[0], &shape, in->dtype, in->layout,
			      launch->attrs[MEMORY].memory);
}

static tt_status partition_validate(struct tt_launch *launch)
{
	const struct ttnn_shape *shape = &launch->inputs[0]->spec.shape;
	uint32_t size = tt_group_members(launch);
	struct tt_str text = {0};

	TT_REQUIRE(tt_attr_u32(launch, DIM) < shape->rank, "operation_attributes.dim < rank",
		   "dim must be less than the rank of the input tensor");
	TT_REQUIRE(tt_group_axis(&launch->attrs[AXIS]) < 2,
		   "!(operation_attributes.cluster_axis.has_value() && "
		   "operation_attributes.cluster_axis.value() > 1)",
		   "Only support cluster axis of None, 0 or 1");
	if (shape->dim[tt_attr_u32(launch, DIM)] % size == 0)
		return TTNN_OK;
	tt_shape_list(&text, shape);
	tt_fail_cond(TTNN_INVALID, "input_shape[operation_attributes.dim] % cluster_axis_size == 0",
		     "input shape Shape(%s) must be divisible by cluster axis size %u",
		     tt_str_text(&text), size);
	tt_str_deinit(&text);
	return TTNN_INVALID;
}

/* The part of a chip, as a slice of the padded tensor. */
static void part_of(struct ttnn_shape *start, struct ttnn_shape *end,
		    const struct tt_launch *launch, uint32_t chip)
{
	uint32_t dim = tt_attr_u32(launch, DIM);
	struct tt_group group;
	uint32_t extent;

	*end = launch->inputs[0]->spec.padded;
	*start = (struct ttnn_shape){.rank = end->rank};
	extent = end->dim[dim] / tt_group_members(launch);
	tt_group_find(&group, launch->device, tt_group_axis(&launch->attrs[AXIS]), chip);
	start->dim[dim] = group.own * extent;
	end->dim[dim] = start->dim[dim] + extent;
}

/* Rows whose parts begin where reads are aligned, and others: programs differ. */
enum { ALIGNED, OFF, KINDS };

static uint32_t partition_part(const struct tt_launch *launch, uint32_t chip)
{
	struct tt_tensor *in = launch->inputs[0];
	struct ttnn_shape start, end;

	part_of(&start, &end, launch, chip);
	return tt_shape_last(&start, 1) * tt_element_bytes(in) % tt_page_alignment(in) &&
			       in->spec.layout == TTNN_ROW_MAJOR
		       ? OFF
		       : ALIGNED;
}

/* Refusals of the slices come when programs are built; the buffers of a kind are those of its first chip. */
static tt_status partition_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint32_t chips = launch->device->rows * launch->device->cols, first = chips;
	struct ttnn_shape start, end;
	struct tt_part part = {launch->inputs[0], &start, &end, launch->attrs[MEMORY].memory};

	for (uint32_t chip = chips; chip-- > 0;) {
		part_of(&start, &end, launch, chip);
		TT_TRY(tt_slice_plan(NULL, launch, &part));
		if (partition_part(launch, chip) == launch->part)
			first = chip;
	}
	if (first == chips)
		return TTNN_OK;
	part_of(&start, &end, launch, first);
	return tt_slice_plan(plan, launch, &part);
}

static tt_status serve_part(struct tt_tensor *out, const struct tt_launch *launch, uint32_t chip,
			    const struct tt_group *group)
{
	struct tt_share part = tt_share_whole(launch, tt_attr_u32(launch, DIM));

	part.extent /= group->count;
	part.from = (int64_t)part.extent * group->own;
	return tt_share_receive(out, launch, chip, &part);
}
TT_SERVE(part, 0)

static uint64_t partition_spread(const struct tt_launch *launch)
{
	return tt_group_spread(launch->inputs[0], tt_group_axis(&launch->attrs[AXIS]),
			       TT_GROUP_DIVIDED, tt_attr_u32(launch, DIM));
}

static const struct tt_prog program = {
	.device_op = "MeshPartitionDeviceOperation",
	.prim = "ttnn::prim::mesh_partition",
	.attrs = &schema,
	.infer = partition_infer,
	.validate = partition_validate,
	TT_FACTORY("ttnn::operations::ccl::MeshPartitionDeviceOperation::MeshPartition",
		   partition_memory),
	TT_KERNEL(part_kernel),
	.spread = partition_spread,
	.cost = tt_cost_unmodelled_move,
	.per_chip = true,
	.part = partition_part,
	.parts = KINDS,
	.together = true,
};

static tt_status partition_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	int64_t axis = tt_group_axis(tt_call_arg(call, "cluster_axis"));
	int64_t dim = tt_call_int(call, "dim", 0), rank = in->spec.shape.rank;

	TT_REQUIRE(tt_tensor_device(in), "storage_type == DEVICE",
		   "%s: the tensor must be on a device", call->entry->op->name);
	if (tt_group_size(tt_tensor_device(in), axis) == 1) {
		tt_call_return(call, ttnn_tensor_ref(in));
		return TTNN_OK;
	}
	dim += dim < 0 ? rank : 0;
	return TT_LAUNCH_RETURN(call, &program, TT_INPUTS(in),
				TT_BIND(call, schema, [DIM] = ttnn_v_int((uint32_t)dim),
					[MEMORY] = tt_value_memory_or_like(call, in)));
}

static const struct tt_op ops[] = {
	{
		.name = "ttnn.mesh_partition",
		.doc = "Every device keeps its own part of the tensor.",
		.sigs = {"input_tensor: Tensor, dim: int, cluster_axis: int? = None, *, "
			 "memory_config: MemoryConfig? = None"},
		.expand = partition_expand,
		.golden = tt_golden_partition,
		TT_PROGRAMS(&program),
	},
};

const struct tt_op_family tt_family_mesh_partition = {"collective", ops, TT_COUNT(ops)};
