/*
 * broadcast.c: every chip's tensor to all others, and one chip's.
 *
 * Models AllBroadcastDeviceOperation and BroadcastDeviceOperation of ttnn 0.81 (ccl/all_broadcast, ccl/broadcast): refusals,
 * one program for each chip with the buffer of its senders, and two semaphores. Without an axis all_broadcast goes over one
 * axis after the other. Not modelled: routes.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "device/fabric.h"
#include "golden/golden_collective.h"
#include "ops/collective/collective.h"
#include "ops/movement/movement.h"
#include "ops/op_enums.h"
#include "tensor/text.h"

#define BROADCAST_ATTRS(X)                                                                         \
	X(LINKS, "num_links")                                                                      \
	X(SIZE, "ring_size")                                                                       \
	X(MEMORY, "output_mem_config")                                                             \
	X(AXIS, "cluster_axis")                                                                    \
	X(SUB_DEVICE, "subdevice_id", .text = TT_TEXT_FIXED, .fixed = "<StrongType>")              \
	X(TOPOLOGY, "topology")                                                                    \
	X(SMALL, "use_l1_small_for_semaphores")                                                    \
	X(SENDER, "sender_coord", .unprinted = true)
TT_ATTRS(schema, "AllBroadcastParams", BROADCAST_ATTRS);
static const struct tt_schema one_schema = {"<BroadcastParams>", schema_fields, schema_count,
					    false};

/* ---- the programs ----------------------------------------------------------------------------------------- */

/* As many outputs as there are members; or the one. */
static tt_status broadcast_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_spec_args args = {.shape = in->shape,
				      .dtype = in->dtype,
				      .layout = in->layout,
				      .tile = in->tile,
				      .memory = *launch->attrs[MEMORY].memory};

	launch->output_count = launch->prog->attrs == &schema ? tt_attr_u32(launch, SIZE) : 1;
	TT_TRY(ttnn_tensor_spec_make(&launch->specs[0], &args));
	for (size_t i = 1; i < launch->output_count; i++)
		launch->specs[i] = launch->specs[0];
	return TTNN_OK;
}

static tt_status broadcast_validate(struct tt_launch *launch)
{
	int64_t links = launch->attrs[LINKS].integer;
	struct ttnn_core_range box;

	TT_REQUIRE(links > 0, "operation_attributes.num_links > 0",
		   "Error, num_links should be more than 0 but has %" PRId64, links);
	TT_TRY(tt_core_set_box(&box, launch->device->grid));
	TT_REQUIRE(links <= (int64_t)box.end.y + 1,
		   "operation_attributes.num_links <= "
		   "input_tensor.device()->compute_with_storage_grid_size().y",
		   "Worker cores used by links are parallelized over rows");
	return TTNN_OK;
}

/* Neighbours of the first chip lie in one direction where a ring was asked for and none is wired. */
static tt_status check_ring(const struct tt_launch *launch)
{
	const struct tt_device *device = launch->device;
	int64_t axis = tt_group_axis(&launch->attrs[AXIS]);
	bool along = axis < 0 ? device->cols > 1 : axis == 1;

	if (launch->attrs[TOPOLOGY].integer != TT_TOPOLOGY_RING ||
	    ttnn_fabric_get() == TTNN_FABRIC_NONE || tt_attr_u32(launch, SIZE) < 3 ||
	    tt_fabric_is_wired(device, along))
		return TTNN_OK;
	return tt_fail_cond(
		TTNN_INVALID, "!used_directions.contains(dir_opt.value())",
		"Multiple ethernet cores in the same direction "
		"(eth_chan_directions::%s) are not currently supported. This restriction "
		"will be removed in a future update when proper multi-core routing is "
		"implemented.",
		along == (device->cols <= device->profile->cols) ? "EAST" : "SOUTH");
}

static tt_status broadcast_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = 0;
	TT_TRY(tt_keep_semaphores(launch, 2, launch->attrs[SMALL].boolean));
	return check_ring(launch);
}

/* Three packets of tiles; of rows two, if as many go into a packet, which is a power of two for bfloat16. */
static tt_status broadcast_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint64_t page = tt_aligned_page(launch->inputs[0]), pages;
	uint64_t channel = tt_fabric_channel(tt_fabric_of(false));
	uint64_t packet = in->dtype == TTNN_BFLOAT16 ? 4096 : channel;
	const ttnn_core_set *cores;

	if (in->layout != TTNN_TILE && tt_is_cut_across(&in->memory) &&
	    in->memory.shard.width < tt_shape_last(&in->padded, 1))
		page = in->memory.shard.width * tt_element_bytes(launch->inputs[0]);
	if (in->layout == TTNN_TILE)
		pages = page ? channel / page : 0;
	else
		pages = page && packet / page >= 2 ? 2 : 1;
	TT_REQUIRE(tt_attr_u32(launch, LINKS) <= ttnn_core_set_cores(launch->grid),
		   "num_cores >= num_links", "Not enough cores available for %u links",
		   tt_attr_u32(launch, LINKS));
	TT_TRY(tt_cores_first(&cores, launch->grid, tt_attr_u32(launch, LINKS),
			      TTNN_ORIENT_ROW_MAJOR));
	return TT_PLAN(plan, cores, TT_CB_ROW(0, "cb_src0", .pages = 3 * pages, .page = page));
}

static tt_status copy_chip(const struct tt_launch *launch, size_t output, uint32_t to,
			   uint32_t from)
{
	struct tt_tensor *in, *out;
	tt_status status;

	TT_TRY(tt_tensor_resident(&in, launch->inputs[0], from, TT_BUFFER_READ));
	status = tt_tensor_resident(&out, launch->outputs[output], to, TT_BUFFER_OVERWRITE);
	if (status == TTNN_OK) {
		status = tt_backend_get()->reshape(out, in);
		ttnn_tensor_unref(out);
	}
	ttnn_tensor_unref(in);
	return status;
}

/* Output i of every chip is the input of chip i of its group. */
static tt_status broadcast_kernel(struct tt_launch *launch)
{
	const struct tt_device *device = launch->device;

	for (uint32_t chip = 0; chip < device->rows * device->cols; chip++) {
		struct tt_group group;

		tt_group_find(&group, device, tt_group_axis(&launch->attrs[AXIS]), chip);
		for (uint32_t i = 0; i < group.count; i++)
			TT_TRY(copy_chip(launch, i, chip, group.chips[i]));
	}
	return TTNN_OK;
}

static tt_status broadcast_one_kernel(struct tt_launch *launch)
{
	const struct tt_device *device = launch->device;

	for (uint32_t chip = 0; chip < device->rows * device->cols; chip++)
		TT_TRY(copy_chip(launch, 0, chip, tt_attr_u32(launch, SENDER)));
	return TTNN_OK;
}

static uint64_t broadcast_spread(const struct tt_launch *launch)
{
	return tt_group_spread(launch->inputs[0], tt_group_axis(&launch->attrs[AXIS]),
			       TT_GROUP_SAME, 0);
}

#define PROGRAM(device_, prim_, factory_, schema_, kernel_)                                        \
	.device_op = device_, .prim = "ttnn::prim::" prim_, .attrs = &(schema_),                   \
	.infer = broadcast_infer, .validate = broadcast_validate, .choose = broadcast_choose,      \
	TT_FACTORY("ttnn::prim::" factory_, broadcast_memory), TT_KERNEL(kernel_),                 \
	.spread = broadcast_spread, .cost = tt_cost_unmodelled_move, .per_chip = true,             \
	.kept_order = TT_KEPT_FORWARD, .together = true
static const struct tt_prog all_program = {PROGRAM("AllBroadcastDeviceOperation", "all_broadcast",
						   "AllBroadcastProgramFactory", schema,
						   broadcast_kernel),
					   .drops_forward = true};
static const struct tt_prog one_program = {PROGRAM("BroadcastDeviceOperation", "broadcast",
						   "BroadcastProgramFactory", one_schema,
						   broadcast_one_kernel)};

/* ---- calls -------------------------------------------------------------------------------------------------- */

/* Whether the tensor was spread along a line. */
static bool is_line(const struct tt_tensor *in)
{
	uint32_t wide = 0;

	for (unsigned i = 0; i < tt_spread_rank(in->spread); i++)
		wide += tt_spread_at(in->spread, i).extent > 1;
	return wide < 2;
}

static tt_status refuse_alone(struct tt_call *call, const struct tt_tensor *in, bool all)
{
	struct ttnn_shape mesh = tt_spread_extents(in->spread);
	uint32_t size = tt_group_size(tt_tensor_device(in),
				      tt_group_axis(tt_call_arg(call, "cluster_axis")));
	struct tt_str text = {0};
	tt_status status;

	tt_text_shape(&text, &mesh, TTNN_DIALECT_TT_METAL);
	status = tt_fail_cond(TTNN_INVALID, "num_devices > 1",
			      "%s op will only work for num_devices > 1, but has %u, shape: Mesh%s",
			      all ? "all_broadcast" : "broadcast", size, tt_str_text(&text));
	tt_str_deinit(&text);
	return status;
}

static tt_status broadcast_launch(struct tt_call *call, const struct tt_prog *program,
				  struct ttnn_value topology)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	struct tt_device *device = tt_tensor_device(in);
	int64_t axis = tt_group_axis(tt_call_arg(call, "cluster_axis"));
	bool all = program == &all_program;
	struct ttnn_value links, sender;
	const ttnn_core_set *cores;

	TT_TRY(tt_group_links(&links, call, device));
	/* Alone it takes one link, whatever there is. */
	if (all && !tt_value_given(tt_call_arg(call, "num_links")))
		links = ttnn_v_int(1);
	TT_REQUIRE(all || axis >= 0 || is_line(in) || ttnn_fabric_get() == TTNN_FABRIC_NONE,
		   "tensor_topology_shape.is_line_topology()",
		   "broadcast op is only supported for a linear tensor topology shape");
	TT_REQUIRE(axis < 2, "mesh_shape.dims() > cluster_axis.value()",
		   "cluster axis %" PRId64 " is out of range for mesh shape rank 2", axis);
	if (tt_group_size(device, axis) < 2 && ttnn_fabric_get() != TTNN_FABRIC_NONE)
		return refuse_alone(call, in, all);
	TT_REQUIRE(tt_group_size(device, axis) <= TT_OUTPUTS_MAX, "num_devices <= 64",
		   "%s takes at most %d devices", call->entry->op->name, TT_OUTPUTS_MAX);
	TT_TRY(tt_group_place(&sender, call, "sender_coord"));
	TT_TRY(tt_group_cores(&cores, call, device));
	return TT_LAUNCH_RETURN(
		call, program, TT_INPUTS(in), .grid = cores,
		TT_BIND(call,
			schema, [LINKS] = links, [SIZE] = ttnn_v_int(tt_group_size(device, axis)),
			[MEMORY] = tt_value_memory_or_like(call, in), [TOPOLOGY] = topology,
			[SMALL] = ttnn_v_bool(
				tt_call_bool(call, "use_l1_small_for_semaphores", false)),
			[SENDER] = sender));
}

/* Down the columns, then what came of it along the rows. */
static tt_status broadcast_by_axes(struct tt_call *call, struct tt_tensor *in)
{
	struct tt_tensor *tensors[TT_OUTPUTS_MAX] = {in};
	size_t count = 1, done = 0;
	tt_status status = TTNN_OK;

	TT_REQUIRE(tt_group_size(tt_tensor_device(in), -1) <= TT_OUTPUTS_MAX, "num_devices <= 64",
		   "%s takes at most %d devices", call->entry->op->name, TT_OUTPUTS_MAX);
	for (int axis = 0; axis < 2 && status == TTNN_OK; axis++) {
		struct tt_tensor *next[TT_OUTPUTS_MAX];
		size_t made = 0;

		for (done = 0; done < count && status == TTNN_OK; done++) {
			struct ttnn_results parts;
			const struct ttnn_arg args[] = {
				{"input_tensor", ttnn_v_tensor(tensors[done])},
				{"cluster_axis", ttnn_v_int(axis)},
				{"subdevice_id", *tt_call_arg(call, "subdevice_id")},
				{"memory_config", *tt_call_arg(call, "memory_config")},
				{"num_links", *tt_call_arg(call, "num_links")},
				{"topology", *tt_call_arg(call, "topology")},
				{"use_l1_small_for_semaphores",
				 *tt_call_arg(call, "use_l1_small_for_semaphores")}};

			status = tt_call_op_all(&parts, call, "ttnn.all_broadcast", args,
						TT_COUNT(args));
			for (size_t i = 0; status == TTNN_OK && i < parts.count; i++)
				next[made++] = parts.tensors[i];
			if (tensors[done] != in)
				tt_call_drop(call, tensors[done]);
		}
		for (; done < count; done++)
			if (tensors[done] != in)
				tt_call_drop(call, tensors[done]);
		memcpy(tensors, next, made * sizeof(tensors[0]));
		count = made;
	}
	for (size_t i = 0; i < count; i++)
		if (status == TTNN_OK)
			tt_call_return(call, tensors[i]);
		else
			tt_call_drop(call, tensors[i]);
	return status;
}

static tt_status on_device(const struct tt_call *call, const struct tt_tensor *in)
{
	TT_REQUIRE(tt_tensor_device(in), "storage_type == DEVICE",
		   "%s: the tensor must be on a device", call->entry->op->name);
	return TTNN_OK;
}

/* A ring is taken as it was asked for; the fabric's own is none here. */
static tt_status all_broadcast_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	const struct ttnn_value *asked = tt_call_arg(call, "topology");
	const struct tt_device *device = tt_tensor_device(in);

	TT_TRY(on_device(call, in));
	if (!tt_value_given(tt_call_arg(call, "cluster_axis")) && device->rows > 1 &&
	    device->cols > 1)
		return broadcast_by_axes(call, in);
	return broadcast_launch(call, &all_program,
				asked->kind == TTNN_VALUE_ENUM
					? *asked
					: tt_value_enum(&tt_enum_topology, TT_TOPOLOGY_LINEAR));
}

static tt_status broadcast_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");

	TT_TRY(on_device(call, in));
	return broadcast_launch(
		call, &one_program,
		tt_group_topology(tt_tensor_device(in), tt_call_arg(call, "topology"),
				  tt_group_axis(tt_call_arg(call, "cluster_axis"))));
}

#define PLACE                                                                                      \
	"cluster_axis: int? = None, subdevice_id: SubDeviceId? = None, "                           \
	"memory_config: MemoryConfig? = None, num_links: int? = None, topology: enum? = None"

static const struct tt_op ops[] = {
	{.name = "ttnn.all_broadcast",
	 .doc = "Every device gets the tensors of all, each as a tensor of its own.",
	 .sigs = {"input_tensor: Tensor, *, " PLACE ", use_l1_small_for_semaphores: bool = False"},
	 .expand = all_broadcast_expand,
	 .golden = tt_golden_all_broadcast,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&all_program)},
	{.name = "ttnn.broadcast",
	 .doc = "Every device gets the tensor of one.",
	 .sigs = {"input_tensor: Tensor, sender_coord: sizes, *, " PLACE},
	 .expand = broadcast_expand,
	 .golden = tt_golden_broadcast,
	 TT_PROGRAMS(&one_program)},
};

const struct tt_op_family tt_family_broadcast = {"collective", ops, TT_COUNT(ops)};
