/*
 * regroup.c: what chips hold, cut another way: everybody's parts to everybody along another dimension, and a run of rows of all in
 * even parts.
 *
 * Models, of ttnn 0.81, the device operations AllToAllAsyncGeneric, AllToAllAsync and SliceReshardAsync: output specs, refusals, one
 * program for each chip with its buffers, and the semaphores that the first makes itself. Not modelled: routes and links (one, unless
 * more are asked for).
 */
#include <inttypes.h>
#include <stdio.h>
#include <ttnn_frontend.h>

#include "device/device.h"
#include "device/devtensor.h"
#include "golden/golden_collective.h"
#include "ops/collective/collective.h"
#include "ops/cost.h"
#include "ops/dims.h"
#include "ops/mem_rows.h"
#include "ops/usual.h"
#include "tensor/core.h"
#include "tensor/enums.h"
#include "tensor/shape.h"
#include "tensor/spec.h"

/* Of every one a part along one dimension, put behind each other along another. */
static tt_status serve_everybody(struct tt_tensor *out, const struct tt_launch *launch,
				 uint32_t chip, const struct tt_group *group)
{
	struct tt_share part = tt_share_whole(launch, tt_attr_dim(launch, "out_dim"));

	(void)chip;
	part.to_dim = tt_attr_dim(launch, "in_dim");
	part.extent /= group->count;
	part.from = (int64_t)part.extent * group->own;
	/* Along one dimension the parts are behind each other as they are cut. */
	for (uint32_t i = 0; i < group->count; i++) {
		part.to = (int64_t)i * (part.to_dim == part.dim
						? part.extent
						: launch->inputs[0]->spec.shape.dim[part.to_dim]);
		TT_TRY(tt_share_receive(out, launch, group->chips[i], &part));
	}
	return TTNN_OK;
}
TT_SERVE(everybody, 0)

/* Rows that may be of several members, from where they lie when all members are behind each other. */
static tt_status serve_reshard(struct tt_tensor *out, const struct tt_launch *launch, uint32_t chip,
			       const struct tt_group *group)
{
	struct tt_share part = tt_share_whole(launch, tt_attr_dim(launch, "dim"));
	uint64_t extent = part.extent, rows = out->spec.shape.dim[part.dim];
	uint64_t at =
		(uint64_t)tt_launch_attr(launch, "output_dim_offset")->integer + group->own * rows;

	(void)chip;
	for (uint64_t row = 0; row < rows; row += part.extent) {
		uint64_t left = extent - (at + row) % extent;

		part.from = (int64_t)((at + row) % extent);
		part.to = (int64_t)row;
		part.extent = (uint32_t)(left < rows - row ? left : rows - row);
		TT_TRY(tt_share_receive(out, launch, group->chips[(at + row) / extent], &part));
	}
	return TTNN_OK;
}
TT_SERVE(reshard, 0)

/* ---- attributes and program memory --------------------------------------------------------------------------- */

#define GENERIC(X)                                                                                 \
	X(G_IN, "in_dim")                                                                          \
	X(G_OUT, "out_dim")                                                                        \
	X(G_LINKS, "num_links")                                                                    \
	X(G_SIZE, "num_devices")                                                                   \
	X(G_MEMORY, "output_mem_config")                                                           \
	X(G_TOPOLOGY, "topology")                                                                  \
	X(G_SUB_DEVICE, "sub_device_id")                                                           \
	X(G_AXIS, "cluster_axis")                                                                  \
	X(G_LOGICAL, "logical_core_candidates", .text = TT_TEXT_ALWAYS, .fixed = "{}")             \
	X(G_VIRTUAL, "drain_virtual_cores", .text = TT_TEXT_ALWAYS, .fixed = "{}")
TT_ATTRS(generic_schema, "AllToAllAsyncGenericParams", GENERIC);

#define EVERYBODY(X)                                                                               \
	X(IN, "in_dim")                                                                            \
	X(OUT, "out_dim")                                                                          \
	X(LINKS, "num_links")                                                                      \
	X(MEMORY, "output_mem_config")                                                             \
	X(TOPOLOGY, "topology")                                                                    \
	X(AXIS, "cluster_axis")
TT_ATTRS(everybody_schema, "<AllToAllAsyncParams>", EVERYBODY);

#define RESHARD(X)                                                                                 \
	X(R_DIM, "dim")                                                                            \
	X(R_OFFSET, "output_dim_offset")                                                           \
	X(R_ROWS, "output_dim_shape")                                                              \
	X(R_AXIS, "cluster_axis")                                                                  \
	X(R_LINKS, "num_links")                                                                    \
	X(R_MEMORY, "output_mem_config")
TT_ATTRS(reshard_schema, "<SliceReshardAsyncParams>", RESHARD);

/* Large messages have three workers in each direction, and a core for what stays; small ones two cores. */
static tt_status generic_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t page = launch->inputs[0]->spec.page_bytes;
	uint32_t lanes = tt_group_members(launch) < 4 && !tt_group_is_ring(launch)
				 ? tt_group_members(launch) - 1
				 : 3;
	uint64_t together = (uint64_t)tt_link_count(launch) * lanes * tt_packet_pages(launch);
	uint64_t packets = page && together ? launch->outputs[0]->spec.bytes / page / together : 0;
	struct tt_senders senders = {.workers = 1};
	const ttnn_core_set *cores;

	if (lanes > 1 && packets >= (tt_group_is_ring(launch) ? 4 : 16))
		senders = (struct tt_senders){.workers = lanes, .mux = 1, .more = 1};
	TT_TRY(tt_sender_cores(&cores, launch, &senders));
	return TT_PLAN(plan, cores,
		       TT_CB_ROW(0, "sender", .pages = 3 * tt_packet_pages(launch), .page = page),
		       TT_CB_ROW(1, "packet_header", .pages = 4, .page = 96));
}

static tt_status reshard_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const ttnn_core_set *cores;

	TT_TRY(tt_sender_cores(&cores, launch, &(struct tt_senders){.workers = 1}));
	return TT_PLAN(
		plan, cores,
		TT_CB_ROW(0, "sender", .pages = 3, .page = launch->inputs[0]->spec.page_bytes));
}
/* Two semaphores, on all cores. */
static tt_status generic_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = 0;
	return tt_keep_semaphores(launch, 2, false);
}

/* One core sends, and as many as there are members receive what they are to copy. */
static tt_status everybody_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t page = launch->inputs[0]->spec.page_bytes;
	uint32_t members = tt_group_members(launch);
	struct ttnn_core_range ranges[TT_GROUP_MAX + 1];
	const ttnn_core_set *sender, *receivers, *grid = launch->device->grid;

	TT_REQUIRE(members < ttnn_core_set_cores(grid), "ring_size < num_cores",
		   "Not enough cores available for %u members", members);
	for (uint32_t i = 0; i <= members; i++)
		ranges[i].start = ranges[i].end = tt_core_set_at(grid, i, TTNN_ORIENT_ROW_MAJOR);
	TT_TRY(ttnn_core_set_make(&sender, ranges, 1));
	TT_TRY(ttnn_core_set_make(&receivers, &ranges[1], members));
	return TT_PLAN(plan, sender,
		       TT_CB_ROW(0, "sender", .pages = 3 * tt_packet_pages(launch), .page = page),
		       TT_CB_ROW(1, "packet_header", .pages = 8, .page = 96),
		       TT_CB_ROW(2, "receiver", .pages = 3 * tt_packet_pages(launch), .page = page,
				 .cores = receivers));
}

/* ---- specs and refusals ------------------------------------------------------------------------------------- */

/* One dimension grows by as much as the other shrinks. */
static tt_status everybody_infer(struct tt_launch *launch)
{
	struct ttnn_shape shape = launch->inputs[0]->spec.shape;

	shape.dim[tt_attr_dim(launch, "in_dim")] *= tt_group_members(launch);
	shape.dim[tt_attr_dim(launch, "out_dim")] /= tt_group_members(launch);
	return tt_infer_reshaped(launch, &shape);
}

/* Only halves of tiles may be empty, and only in rows. */
static tt_status check_padding(uint32_t dim, const struct ttnn_shape *shape, const char *which)
{
	bool last = dim + 1 == shape->rank;
	uint32_t extent = shape->dim[dim];
	char format[160];

	if (dim + 2 < shape->rank || extent % (last ? 32 : 16) == 0)
		return TTNN_OK;
	snprintf(format, sizeof(format),
		 "%u dimension %s. %s tensor shape %%s , but has %u padding", dim,
		 last ? "doesn't support padding, so must be divisible by 32"
		      : "support only 0 or 16 padding, so must be divisible by 16",
		 which, extent % 32);
	return tt_fail_shapes(TTNN_INVALID, "shape[dim] % tile == 0", format, shape, shape);
}

static tt_status generic_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_shape out = in->shape;
	uint32_t from = tt_attr_dim(launch, "in_dim"), to = tt_attr_dim(launch, "out_dim");

	TT_NEED(tt_link_count(launch), "num_links must be positive");
	TT_REQUIRE(
		in->shape.dim[to] % tt_group_members(launch) == 0,
		"input_shape[operation_attributes.out_dim] % operation_attributes.num_devices == 0",
		"AllToAllAsync: input tensor dimension %u must be divisible by num_devices %u",
		in->shape.dim[to], tt_group_members(launch));
	TT_REQUIRE(in->layout == TTNN_TILE, "input_tensor.layout() == Layout::TILE",
		   "Unsupported input layout Layout::%s.", "ROW_MAJOR");
	out.dim[from] *= tt_group_members(launch);
	out.dim[to] /= tt_group_members(launch);
	TT_TRY(check_padding(from, &in->shape, "Input"));
	return check_padding(to, &out, "Output");
}

/* Into a tensor of the caller's, whatever it is like. */
static tt_status given_infer(struct tt_launch *launch)
{
	launch->output_count = 1;
	tt_infer_given(launch, 0);
	return TTNN_OK;
}

/* From rows to columns or back, of tensors of rank 4 in DRAM, into what was given. */
static tt_status everybody_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *between = &launch->inputs[1]->spec;
	struct ttnn_shape want = in->padded;
	uint32_t from = tt_attr_dim(launch, "in_dim"), to = tt_attr_dim(launch, "out_dim");

	TT_REQUIRE(in->memory.buffer == TTNN_DRAM, "buffer_type() == BufferType::DRAM",
		   "AllToAllAsync: Input tensor must be in DRAM, but is in BufferType::%s",
		   tt_enum_name(&tt_enum_buffer_type, in->memory.buffer));
	TT_REQUIRE(in->layout == TTNN_TILE, "input_tensor.layout() == Layout::TILE",
		   "Unsupported input layout Layout::%s.", "ROW_MAJOR");
	TT_REQUIRE(from == 2 || from == 3,
		   "operation_attributes.in_dim == 2 || operation_attributes.in_dim == 3",
		   "AllToAllAsync: in_dim must be 2 or 3, but is %u", from);
	TT_REQUIRE(to == 2 || to == 3,
		   "operation_attributes.out_dim == 2 || operation_attributes.out_dim == 3",
		   "AllToAllAsync: out_dim must be 2 or 3, but is %u", to);
	TT_REQUIRE(from != to, "operation_attributes.in_dim != operation_attributes.out_dim",
		   "AllToAllAsync: in_dim and out_dim must be different, but are both %u", from);
	TT_REQUIRE(in->shape.rank == 4, "input_tensor.padded_shape().size() == 4",
		   "AllToAllAsync: input tensor must have 4 dimensions");
	TT_NEED(in->shape.dim[to] == in->padded.dim[to] &&
			in->shape.dim[from] == in->padded.dim[from],
		"AllToAllAsync: dimensions that are cut or joined must be whole tiles");
	TT_REQUIRE(in->padded.dim[to] % tt_group_members(launch) == 0,
		   "input_tensor.padded_shape()[operation_attributes.out_dim] % "
		   "operation_attributes.ring_size == 0",
		   "AllToAllAsync: input tensor dimension %u must be divisible by ring_size %u",
		   in->padded.dim[to], tt_group_members(launch));
	TT_REQUIRE(between->dtype == in->dtype,
		   "intermediate_buffer.dtype() == input_tensor.dtype()",
		   "Intermediate buffer dtype must match input tensor dtype");
	TT_REQUIRE(launch->outputs[0]->spec.dtype == in->dtype,
		   "output_buffer.dtype() == input_tensor.dtype()",
		   "Output buffer dtype must match input tensor dtype");
	want.dim[from] *= tt_group_members(launch);
	want.dim[to] /= tt_group_members(launch);
	if (!ttnn_shape_equal(&between->padded, &want))
		return tt_fail_shapes(TTNN_INVALID, "intermediate_shape == expected_shape",
				      "Intermediate buffer shape %s must match expected shape %s "
				      "for AllToAllAsync",
				      &between->padded, &want);
	if (!ttnn_shape_equal(&launch->outputs[0]->spec.padded, &want))
		return tt_fail_shapes(TTNN_INVALID, "output_shape == expected_shape",
				      "Output buffer shape %s must match expected shape %s for "
				      "AllToAllAsync",
				      &launch->outputs[0]->spec.padded, &want);
	TT_REQUIRE(tt_link_count(launch) == 1, "operation_attributes.num_links == 1",
		   "AllToAllAsync: num_links must be 1, but is %u", tt_link_count(launch));
	return TTNN_OK;
}

static tt_status reshard_infer(struct tt_launch *launch)
{
	struct ttnn_shape shape = launch->inputs[0]->spec.shape;

	shape.dim[tt_attr_dim(launch, "dim")] =
		(uint32_t)launch->attrs[R_ROWS].integer / tt_group_members(launch);
	return tt_infer_reshaped(launch, &shape);
}

static tt_status reshard_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	int64_t axis = launch->attrs[R_AXIS].integer, rows = launch->attrs[R_ROWS].integer;

	TT_REQUIRE(launch->attrs[R_DIM].integer == 0, "args.dim == 0",
		   "Error, neighbor pad currently only supports sharding dim 0, provided %" PRId64,
		   launch->attrs[R_DIM].integer);
	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR, "tensor_args.layout() == Layout::ROW_MAJOR",
		   "Unsupported input tensor layout Layout::%s.", "TILE");
	TT_REQUIRE(in->memory.layout == TTNN_INTERLEAVED, "!tensor_args.is_sharded()",
		   "Slice reshard does not support sharded input tensors.");
	TT_REQUIRE(rows % tt_group_members(launch) == 0,
		   "!(args.output_dim_shape % args.ring_size)",
		   "Output dim shape must be divisible by num devices on cluster axis");
	TT_REQUIRE(axis == 0 || axis == 1, "args.cluster_axis == 0 || args.cluster_axis == 1",
		   "Unsupported cluster axis %" PRId64 ".", axis);
	TT_TRY(tt_check_links(launch));
	TT_REQUIRE(launch->attrs[R_OFFSET].integer + rows <=
			   (int64_t)in->shape.dim[0] * tt_group_members(launch),
		   "output_dim_offset + output_dim_shape <= dim",
		   "Rows %" PRId64 " to %" PRId64 " are not all there",
		   launch->attrs[R_OFFSET].integer, launch->attrs[R_OFFSET].integer + rows);
	return TTNN_OK;
}

/* ---- programs and calls -------------------------------------------------------------------------------------- */

#define PROGRAM(name, schema_, device_, prim_)                                                     \
	.device_op = device_, .prim = "ttnn::prim::" prim_, .attrs = &schema_,                     \
	.cost = tt_cost_unmodelled_move, .per_chip = true, .together = true,                       \
	TT_KERNEL(name##_kernel)
static const struct tt_prog generic_program = {
	PROGRAM(everybody, generic_schema, "AllToAllAsyncGenericDeviceOperation",
		"all_to_all_async_generic"),
	.infer = everybody_infer,
	TT_FACTORY("ttnn::experimental::prim::AllToAllAsyncGenericProgram", generic_memory),
	.validate = generic_validate,
	.choose = generic_choose,
};
static const struct tt_prog everybody_program = {
	PROGRAM(everybody, everybody_schema, "AllToAllAsyncDeviceOperation", "all_to_all_async"),
	.infer = given_infer,
	TT_FACTORY("ttnn::experimental::prim::AllToAllAsyncProgram", everybody_memory),
	.validate = everybody_validate,
};
static const struct tt_prog reshard_program = {
	PROGRAM(reshard, reshard_schema, "SliceReshardAsyncDeviceOperation", "slice_reshard_async"),
	.infer = reshard_infer,
	TT_FACTORY("ttnn::experimental::prim::SliceReshardAsyncProgramFactory", reshard_memory),
	.validate = reshard_validate,
};

/* The tensor on a mesh, and two dimensions of it. */
static tt_status begin(struct tt_tensor **in, struct ttnn_value *from, struct ttnn_value *to,
		       struct tt_call *call)
{
	uint32_t dims[2];

	*in = tt_call_tensor(call, "input_tensor");
	TT_REQUIRE(tt_tensor_device(*in), "storage_type == DEVICE",
		   "%s: the tensor must be on a device", call->entry->op->name);
	TT_TRY(tt_normal_dim(&dims[0], tt_call_int(call, "in_dim", 0), (*in)->spec.shape.rank));
	TT_TRY(tt_normal_dim(&dims[1], tt_call_int(call, "out_dim", 0), (*in)->spec.shape.rank));
	*from = ttnn_v_int(dims[0]);
	*to = ttnn_v_int(dims[1]);
	return TTNN_OK;
}

static tt_status generic_expand(struct tt_call *call)
{
	int64_t axis = tt_group_axis(tt_call_arg(call, "cluster_axis"));
	struct ttnn_value from, to;
	struct tt_tensor *in;

	TT_TRY(begin(&in, &from, &to, call));
	return TT_LAUNCH_RETURN(
		call, &generic_program, TT_INPUTS(in),
		TT_OUTPUTS(tt_call_tensor(call, "persistent_output_buffer")),
		TT_BIND(call, generic_schema, [G_IN] = from, [G_OUT] = to,
			[G_SIZE] = ttnn_v_int(tt_group_size(tt_tensor_device(in), axis)),
			[G_MEMORY] = tt_value_memory_or_like(call, in),
			[G_TOPOLOGY] = tt_group_topology(tt_tensor_device(in),
							 tt_call_arg(call, "topology"), axis)));
}

/* The buffer on the way is among what the program is given, and so is that of the result. */
static tt_status everybody_expand(struct tt_call *call)
{
	struct tt_tensor *between = tt_call_tensor(call, "persistent_intermediate_buffer");
	struct tt_tensor *out = tt_call_tensor(call, "persistent_output_buffer"), *in;
	struct ttnn_value from, to;

	TT_TRY(begin(&in, &from, &to, call));
	return TT_LAUNCH_RETURN(call, &everybody_program, TT_INPUTS(in, between), TT_OUTPUTS(out),
				TT_BIND(call, everybody_schema, [IN] = from, [OUT] = to,
					[MEMORY] = tt_value_memory_or_like(call, in)));
}

static tt_status reshard_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	const struct tt_device *device = tt_tensor_device(in);
	int64_t rows = tt_call_int(call, "output_dim_shape", 0);
	uint32_t dim;

	TT_REQUIRE(device, "storage_type == DEVICE", "%s: the tensor must be on a device",
		   call->entry->op->name);
	TT_TRY(tt_normal_dim(&dim, tt_call_int(call, "dim", 0), in->spec.shape.rank));
	TT_REQUIRE(rows >= 0 && rows <= UINT32_MAX &&
			   tt_call_int(call, "output_dim_offset", 0) >= 0,
		   "output_dim_shape >= 0", "Rows are counted from the first");
	TT_REQUIRE(tt_group_size(device, tt_call_int(call, "cluster_axis", 0)) > 1,
		   "num_devices > 1",
		   "slice_reshard_async op will only work for num_devices > 1, but has %u",
		   tt_group_size(device, tt_call_int(call, "cluster_axis", 0)));
	return TT_LAUNCH_RETURN(call, &reshard_program, TT_INPUTS(in),
				TT_BIND(call, reshard_schema, [R_DIM] = ttnn_v_int(dim),
					[R_MEMORY] = tt_value_memory_or_like(call, in)));
}

#define MORE ", memory_config: MemoryConfig? = None, topology: Topology"
#define ROW(name_, expand_, golden_, doc_, sig_)                                                   \
	{                                                                                          \
		.name = "ttnn.experimental." name_, .doc = doc_, .sigs = {sig_},                   \
		.expand = expand_, .golden = golden_, .pcc = 0.999                                 \
	}

static const struct tt_op ops[] = {
	ROW("all_to_all_async_generic", generic_expand, tt_golden_all_to_all,
	    "Every device gets its part of the tensors of all, along another dimension than it was cut.",
	    "input_tensor: Tensor, in_dim: int, out_dim: int, *, "
	    "persistent_output_buffer: Tensor? = None, num_links: int? = None" MORE
	    "? = None, subdevice_id: SubDeviceId? = None, cluster_axis: int? = None"),
	ROW("all_to_all_async", everybody_expand, tt_golden_all_to_all,
	    "Every device gets its part of the tensors of all, along another dimension than it was cut.",
	    "input_tensor: Tensor, persistent_intermediate_buffer: Tensor, "
	    "persistent_output_buffer: Tensor, in_dim: int, out_dim: int, "
	    "multi_device_global_semaphore: any, *, num_links: int = 1" MORE
	    " = Ring, subdevice_id: SubDeviceId? = None"),
	ROW("slice_reshard_async", reshard_expand, tt_golden_slice_reshard,
	    "A run of the rows of all devices, in even parts.",
	    "input_tensor: Tensor, dim: int, output_dim_offset: int, output_dim_shape: int, "
	    "cluster_axis: int, final_semaphore: any, barrier_semaphore: any, *, "
	    "num_links: int? = 1" MORE "? = Linear"),
};

const struct tt_op_family tt_family_regroup = {"collective", ops, TT_COUNT(ops)};
