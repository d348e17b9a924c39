/*
 * all_gather.c: all_gather: every chip gets the parts of all, one behind the other.
 *
 * Models AllGatherDeviceOperation of ttnn 0.81 (ccl/all_gather): its two factories, of which one sends to all at once and
 * the other from neighbour to neighbour, and what it leaves to others: pages that would have to be put together anew are
 * broadcast and concatenated. Not modelled: routes.
 */
#include <inttypes.h>

#include "device/fabric.h"
#include "golden/golden_collective.h"
#include "ops/collective/collective.h"
#include "ops/movement/movement.h"
#include "ops/op_enums.h"

#define ATTRS(X)                                                                                   \
	X(FROM_END, "dim_from_end")                                                                \
	X(SPEC, "output_spec", .text = TT_TEXT_ALWAYS, .fixed = "<TensorSpec>")                    \
	X(AXIS, "cluster_axis")                                                                    \
	X(FABRIC, "fabric_config")                                                                 \
	X(TOPOLOGIES, "axis_topology", .text = TT_TEXT_ARRAY)                                      \
	X(STRAIGHT, "axis_is_straight", .text = TT_TEXT_ARRAY)                                     \
	X(DEVICES, "axis_num_devices", .text = TT_TEXT_ARRAY)                                      \
	X(LINKS, "axis_num_links", .text = TT_TEXT_ARRAY)                                          \
	X(SIZE, "num_devices")                                                                     \
	X(PACKET, "packet_size")                                                                   \
	X(SUB_DEVICE, "subdevice_id", .text = TT_TEXT_FIXED, .fixed = "<StrongType>")              \
	X(CORES, "sub_core_grid", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>")                \
	X(DIM, "dim", .unprinted = true)                                                           \
	X(MEMORY, "output_mem_config", .unprinted = true)                                          \
	X(GIVEN, "persistent_output_tensor", .unprinted = true)
TT_ATTRS(schema, "AllGatherParams", ATTRS);

/* ---- specs ------------------------------------------------------------------------------------------------- */

/* The dimension times as many as there are members; shards that were told by an n-dimensional spec are cut by it anew. */
static tt_status gathered(struct ttnn_tensor_spec *out, const struct ttnn_tensor_spec *in,
			  uint32_t dim, uint32_t size, const struct ttnn_memory_config *memory)
{
	struct ttnn_spec_args args = {.shape = in->shape,
				      .dtype = in->dtype,
				      .layout = in->layout,
				      .tile = in->tile,
				      .memory = *memory};

	if (memory->created_with_nd_shard)
		args.memory.has_shard = false;
	TT_NEED((uint64_t)args.shape.dim[dim] * size <= UINT32_MAX,
		"%u times %u elements are too many for a dimension", args.shape.dim[dim], size);
	args.shape.dim[dim] *= size;
	return ttnn_tensor_spec_make(out, &args);
}

static tt_status gather_infer(struct tt_launch *launch)
{
	if (tt_infer_given(launch, 0))
		return TTNN_OK;
	return gathered(&launch->specs[0], &launch->inputs[0]->spec, tt_attr_u32(launch, DIM),
			tt_attr_u32(launch, SIZE), launch->attrs[MEMORY].memory);
}

static tt_status check_given(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec,
				      *in = &launch->inputs[0]->spec;
	struct ttnn_shape want = in->padded;

	TT_REQUIRE(
		out->layout == in->layout, "output_tensor.layout() == input_tensor.layout()",
		"Output tensor layout Layout::%s should be same as input tensor layout Layout::%s",
		tt_enum_name(&tt_enum_layout, out->layout),
		tt_enum_name(&tt_enum_layout, in->layout));
	TT_REQUIRE(out->dtype == in->dtype, "output_tensor.dtype() == input_tensor.dtype()",
		   "Output tensor dtype DataType::%s should be same as input tensor dtype "
		   "DataType::%s",
		   tt_enum_name(&tt_enum_dtype, out->dtype),
		   tt_enum_name(&tt_enum_dtype, in->dtype));
	TT_REQUIRE(out->tile.height == in->tile.height && out->tile.width == in->tile.width,
		   "output_tensor.tensor_spec().page_config() == "
		   "input_tensor.tensor_spec().page_config()",
		   "Output tensor page config should be same as input tensor page config");
	want.dim[(int64_t)want.rank + launch->attrs[FROM_END].integer] *= tt_attr_u32(launch, SIZE);
	TT_REQUIRE(out->padded.rank == want.rank, "output_shape.size() == input_shape.size()",
		   "Output tensor shape should have same number of dimensions as input tensor but "
		   "has %u",
		   out->padded.rank);
	if (ttnn_shape_equal(&out->padded, &want))
		return TTNN_OK;
	return tt_fail_shapes(TTNN_INVALID, "output_shape == expected_output_shape",
			      "Output tensor shape must be %s, got %s", &want, &out->padded);
}

/* Without a fabric that was chosen nothing is in the way of any group. */
static tt_status gather_validate(struct tt_launch *launch)
{
	const struct tt_device *device = launch->device;
	bool chosen = ttnn_fabric_get() != TTNN_FABRIC_NONE;

	TT_REQUIRE(tt_attr_u32(launch, SIZE) > 1 || !chosen, "args.num_devices > 1",
		   "all_gather collective will only work for num_devices > 1, got %u",
		   tt_attr_u32(launch, SIZE));
	TT_REQUIRE(tt_fabric_is_plane((enum ttnn_fabric)launch->attrs[FABRIC].integer) ||
			   tt_group_axis(&launch->attrs[AXIS]) >= 0 || device->rows == 1 ||
			   device->cols == 1,
		   "fabric_is_2d || args.cluster_axis.has_value() || mesh_shape[0] == 1 || "
		   "mesh_shape[1] == 1",
		   "1D fabric on a 2D mesh_device requires cluster_axis to be set");
	return launch->attrs[GIVEN].boolean ? check_given(launch) : TTNN_OK;
}

/* ---- factories ---------------------------------------------------------------------------------------------- */

enum { MULTICAST, UNICAST };

/* Pages from which a ring of Wormhole goes from neighbour to neighbour, and the bytes of large ones. */
#define RING_PAGES 64
#define RING_LARGE_PAGES 20
#define LARGE_PAGE 4096
/* The same of Blackhole in bytes over a link: by the square of what is sent at once, up to a limit. */
#define SEND_ANCHOR 2048
#define LINK_ANCHOR 1000000
#define LINK_LIMIT 4000000

/* The axis that parts go along: where it is one. */
static uint32_t own_axis(const struct tt_launch *launch)
{
	int64_t axis = tt_group_axis(&launch->attrs[AXIS]);

	return axis >= 0 ? (uint32_t)axis : launch->attrs[DEVICES].items[0].integer <= 1;
}

static uint64_t bytes_of(const struct tt_tensor *tensor)
{
	return tensor->spec.bytes;
}

static bool is_unicast(const struct tt_launch *launch)
{
	const struct ttnn_value *attrs = launch->attrs;
	enum ttnn_fabric fabric = (enum ttnn_fabric)attrs[FABRIC].integer;
	uint32_t axis = own_axis(launch), links = (uint32_t)attrs[LINKS].items[axis].integer;
	uint64_t in = launch->inputs[0]->spec.page_bytes, out = launch->outputs[0]->spec.page_bytes;
	uint64_t most, sent = in < out ? in : out;

	if (tt_fabric_is_plane(fabric) && attrs[DEVICES].items[0].integer > 1 &&
	    attrs[DEVICES].items[1].integer > 1)
		return false;
	if (tt_fabric_is_plane(fabric) && !attrs[STRAIGHT].items[axis].boolean)
		return true;
	if (fabric == TTNN_FABRIC_1D_NEIGHBORS)
		return true;
	if (!tt_is_blackhole(launch->device))
		return attrs[TOPOLOGIES].items[axis].integer == TT_TOPOLOGY_RING &&
		       launch->inputs[0]->spec.pages >=
			       (in >= LARGE_PAGE ? RING_LARGE_PAGES : RING_PAGES);
	most = sent * sent * LINK_ANCHOR / ((uint64_t)SEND_ANCHOR * SEND_ANCHOR);
	return bytes_of(launch->inputs[0]) * tt_attr_u32(launch, SIZE) / (links ? links : 1) >=
	       (most < LINK_LIMIT ? most : LINK_LIMIT);
}

static tt_status gather_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = is_unicast(launch) ? UNICAST : MULTICAST;
	return tt_keep_semaphores(launch, 2, tt_has_l1_small(launch->device));
}

/* Three entries of packets; of tiles several packets each, as far as L1 goes. */
static uint64_t entry_bytes(const struct tt_launch *launch)
{
	uint64_t page = tt_aligned_page(launch->inputs[0]);
	uint64_t entry = page && page < TT_FABRIC_PAYLOAD ? TT_FABRIC_PAYLOAD / page * page : page;
	uint64_t most = tt_is_blackhole(launch->device) ? 4 : 3, room;

	if (launch->inputs[0]->spec.layout != TTNN_TILE || !entry)
		return entry;
	room = tt_l1_free(launch->device) / (3 * entry);
	return entry * (room < 1 ? 1 : room < most ? room : most);
}

static tt_status check_stripe(const struct tt_launch *launch)
{
	TT_REQUIRE(launch->inputs[0]->spec.shape.dim[tt_attr_u32(launch, DIM)] &&
			   tt_shape_last(&launch->inputs[0]->spec.shape, 1),
		   "output_chunks_per_stripe > 0", "output_chunks_per_stripe must be > 0");
	return TTNN_OK;
}

/* A core for every link of the axis that has fewer. */
static tt_status multicast_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_value *links = launch->attrs[LINKS].items;
	uint64_t down = (uint64_t)links[0].integer, along = (uint64_t)links[1].integer;
	uint64_t count = !down ? along : !along ? down : down < along ? down : along;
	uint64_t room = ttnn_core_set_cores(launch->grid), entry = entry_bytes(launch);
	const ttnn_core_set *cores;

	count = count ? count : 1;
	TT_REQUIRE(room, "fitted_links > 0",
		   "all_gather needs at least %u worker core(s) but only %u are available; provide "
		   "a larger sub_core_grid.",
		   1, 0);
	TT_TRY(tt_cores_first(&cores, launch->grid, count < room ? count : room,
			      TTNN_ORIENT_ROW_MAJOR));
	TT_TRY(check_stripe(launch));
	return TT_PLAN(plan, cores, TT_CB_ROW(0, "cb_src0", .pages = 3, .page = entry));
}

/* Workers for each way, by what a link of Blackhole has to carry. */
static uint32_t unicast_workers(const struct tt_launch *launch, uint64_t links)
{
	uint64_t in = tt_aligned_page(launch->inputs[0]), out = tt_aligned_page(launch->outputs[0]);
	uint64_t bytes = launch->outputs[0]->spec.pages * out / (links ? links : 1);

	if (!tt_is_blackhole(launch->device))
		return 2;
	if ((in < out ? in : out) >= 1536 && bytes >= 4000000)
		return bytes >= 20000000 ? 12 : 8;
	return bytes < 750000 ? 1 : 2;
}

/* For each link and way as many workers, and where they are several a core that they send through. */
static tt_status unicast_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t room = ttnn_core_set_cores(launch->grid);
	uint64_t links = (uint64_t)launch->attrs[LINKS].items[own_axis(launch)].integer;
	uint32_t workers = unicast_workers(launch, links), side;
	struct ttnn_core_range *ranges;
	const ttnn_core_set *cores;
	size_t used = 0;

	links = links ? links : 1;
	while (workers > 1 && links * 2 * (workers + 1) > room)
		workers--;
	side = workers + (workers > 1);
	if (links * 2 * side > room)
		links = room / (2 * side);
	TT_REQUIRE(links, "num_links > 0",
		   "all_gather needs at least %u worker cores but only %" PRIu64
		   " are available; provide a larger sub_core_grid.",
		   2 * side, room);
	ranges = tt_arena_alloc(launch->arena, (size_t)(links * 2 * side) * sizeof(*ranges));
	TT_NEED_MEMORY(ranges);
	for (uint64_t i = 0; i < links * 2 * side; i++) {
		if (workers > 1 && i % side == 0)
			continue;
		ranges[used].start = ranges[used].end =
			tt_core_set_at(launch->grid, i, TTNN_ORIENT_ROW_MAJOR);
		used++;
	}
	TT_TRY(ttnn_core_set_make(&cores, ranges, used));
	TT_TRY(check_stripe(launch));
	return TT_PLAN(plan, cores,
		       TT_CB_ROW(0, "cb_src0", .pages = 3, .page = entry_bytes(launch)));
}

/* ---- the program ---------------------------------------------------------------------------------------------- */

static tt_status serve_parts(struct tt_tensor *out, const struct tt_launch *launch, uint32_t chip,
			     const struct tt_group *group)
{
	struct tt_share part = tt_share_whole(launch, tt_attr_u32(launch, DIM));

	(void)chip;
	for (uint32_t i = 0; i < group->count; i++, part.to += part.extent)
		TT_TRY(tt_share_receive(out, launch, group->chips[i], &part));
	return TTNN_OK;
}
TT_SERVE(parts, 0)

static uint64_t gather_spread(const struct tt_launch *launch)
{
	return tt_group_spread(launch->inputs[0], tt_group_axis(&launch->attrs[AXIS]),
			       TT_GROUP_GATHERED, tt_attr_u32(launch, DIM));
}

static const struct tt_factory factories[] = {
	[MULTICAST] = TT_FACTORY_ROW("ttnn::operations::ccl::AllGatherMulticastFactory",
				     multicast_memory),
	[UNICAST] =
		TT_FACTORY_ROW("ttnn::operations::ccl::AllGatherUnicastFactory", unicast_memory),
};

static const struct tt_prog program = {
	.device_op = "AllGatherDeviceOperation",
	.prim = "ttnn::prim::all_gather",
	.attrs = &schema,
	.infer = gather_infer,
	.validate = gather_validate,
	TT_FACTORIES(factories),
	.choose = gather_choose,
	TT_KERNEL(parts_kernel),
	.spread = gather_spread,
	.cost = tt_cost_unmodelled_move,
	.per_chip = true,
	.together = true,
};

/* ---- other ways ------------------------------------------------------------------------------------------------- */

/* Upstream writes as much as this at once into what is cut finer. */
#define WRITE_ALIGNMENT 16

/* Whether pages would have to be made anew: padded along the dimension, or of sizes that do not go into each other. */
static tt_status needs_concat(bool *out, const struct tt_tensor *in, uint32_t dim, uint32_t size,
			      const struct ttnn_memory_config *memory)
{
	uint32_t at = dim + in->spec.padded.rank - in->spec.shape.rank;
	struct ttnn_shape padded = in->spec.padded;
	uint64_t page = in->spec.page_bytes, aligned = tt_aligned_page(in), large, small;
	struct ttnn_tensor_spec spec;

	*out = true;
	if (in->spec.shape.dim[dim] != padded.dim[at])
		return TTNN_OK;
	TT_TRY(gathered(&spec, &in->spec, dim, size, memory));
	padded.dim[at] *= size;
	large = page > spec.page_bytes ? page : spec.page_bytes;
	small = page > spec.page_bytes ? spec.page_bytes : page;
	*out = !ttnn_shape_equal(&spec.padded, &padded) || (small && large % small) ||
	       (page != spec.page_bytes && page != aligned) ||
	       (page > spec.page_bytes && spec.page_bytes % WRITE_ALIGNMENT) ||
	       (page <= spec.page_bytes &&
		tt_align_to(spec.page_bytes,
			    tt_memory_alignment(tt_tensor_device(in), memory->buffer)) < aligned);
	return TTNN_OK;
}

/* ---- the call ----------------------------------------------------------------------------------------------------- */

static tt_status gather_launch(struct tt_call *call, struct tt_tensor *in, uint32_t dim,
			       const struct ttnn_memory_config *memory)
{
	struct tt_tensor *given = tt_call_tensor(call, "output_tensor");
	struct tt_device *device = tt_tensor_device(in);
	struct ttnn_value attrs[schema_count] = {
		[FROM_END] = ttnn_v_int((int64_t)dim - in->spec.shape.rank),
		[AXIS] = *tt_call_arg(call, "cluster_axis"),
		[PACKET] = ttnn_v_int(TT_FABRIC_PAYLOAD),
		[SUB_DEVICE] = *tt_call_arg(call, "subdevice_id"),
		[CORES] = *tt_call_arg(call, "sub_core_grids"),
		[DIM] = ttnn_v_int(dim),
		[MEMORY] = ttnn_v_memory(memory),
		[GIVEN] = ttnn_v_bool(given != NULL),
	};
	const ttnn_core_set *cores;
	struct tt_group_axes axes;

	TT_TRY(tt_group_axes(&axes, call, device, tt_group_axis(&attrs[AXIS])));
	attrs[FABRIC] = axes.fabric;
	attrs[TOPOLOGIES] = axes.topologies;
	attrs[STRAIGHT] = axes.straight;
	attrs[DEVICES] = axes.devices;
	attrs[LINKS] = axes.links;
	attrs[SIZE] = ttnn_v_int(axes.size);
	TT_TRY(tt_group_cores(&cores, call, device));
	return TT_LAUNCH_RETURN(call, &program, TT_INPUTS(in), TT_OUTPUTS(given), .attrs = attrs,
				.grid = cores);
}

static tt_status gather_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *out;
	int64_t dim = tt_call_int(call, "dim", 0), rank = in->spec.shape.rank;
	int64_t axis = tt_group_axis(tt_call_arg(call, "cluster_axis"));
	const struct ttnn_memory_config *memory;
	const struct tt_device *device = tt_tensor_device(in);
	struct ttnn_value links;
	bool concat;

	TT_REQUIRE(device, "storage_type == DEVICE", "%s: the tensor must be on a device",
		   call->entry->op->name);
	TT_REQUIRE(dim >= -rank && dim < rank, "dim >= -input_rank && dim < input_rank",
		   "Invalid gather dim %" PRId64 " for %" PRId64 "D input tensor", dim, rank);
	TT_REQUIRE(axis < 2, "tt::exception",
		   "ShapeBase[] index out of range. %" PRId64 " not in [-4, 2)", axis);
	dim += dim < 0 ? rank : 0;
	memory = tt_memory_or_like(call, in);
	TT_TRY(needs_concat(&concat, in, (uint32_t)dim, tt_group_size(device, axis), memory));
	if (concat) {
		TT_TRY(tt_group_links(&links, call, device));
		return tt_call_give(
			call,
			tt_gather_by_concat(
				&out, call,
				&(struct tt_gather_args){
					.in = in,
					.dim = dim,
					.memory = tt_call_memory(call, "memory_config"),
					.axis = *tt_call_arg(call, "cluster_axis"),
					.sub_device = *tt_call_arg(call, "subdevice_id"),
					.links = links}),
			&out);
	}
	return gather_launch(call, in, (uint32_t)dim, memory);
}

static const struct tt_op ops[] = {
	{
		.name = "ttnn.all_gather",
		.doc = "Every device gets the parts of all, one behind the other.",
		.sigs = {"input_tensor: Tensor, dim: int, *, cluster_axis: int? = None, "
			 "subdevice_id: SubDeviceId? = None, memory_config: MemoryConfig? = None, "
			 "output_tensor: Tensor? = None, sub_core_grids: CoreRangeSet? = None, "
			 "num_links: int? = None, topology: enum? = None, "
			 "chunks_per_sync: int? = None, num_workers_per_link: int? = None, "
			 "num_buffers_per_channel: int? = None, "
			 "use_l1_small_for_semaphores: bool = False"},
		.expand = gather_expand,
		.golden = tt_golden_all_gather,
		TT_PROGRAMS(&program),
	},
};

const struct tt_op_family tt_family_all_gather = {"collective", ops, TT_COUNT(ops)};
