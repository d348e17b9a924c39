/*
 * links.c: what operations between chips ask of the fabric: topology, links, cores that send, semaphores.
 *
 * Models get_usable_topology, get_num_links and choose_worker_cores of ttnn 0.81 as mock machines show them: a ring is
 * a mesh of one line whose ends have a link, or any such line where no axis is named.
 */
#include <inttypes.h>
#include <ttnn_frontend.h>

#include "device/fabric.h"
#include "ops/collective/collective.h"
#include "ops/op_enums.h"
#include "ops/usual.h"

struct ttnn_value tt_group_topology(const struct tt_device *device, const struct ttnn_value *asked,
				    int64_t axis)
{
	enum ttnn_fabric fabric = ttnn_fabric_get();
	uint32_t size = tt_group_size(device, axis);
	bool line = (device->rows == 1 || device->cols == 1) &&
		    (axis < 0 || (size > 2 && tt_fabric_is_wired(device, (uint32_t)axis)));
	bool ring = fabric == TTNN_FABRIC_1D_RING || fabric >= TTNN_FABRIC_2D_TORUS_X;

	if (asked->kind == TTNN_VALUE_ENUM)
		ring = asked->integer == TT_TOPOLOGY_RING || asked->integer == TT_TOPOLOGY_TORUS;
	return tt_value_enum(&tt_enum_topology,
			     ring && line && size > 2 ? TT_TOPOLOGY_RING : TT_TOPOLOGY_LINEAR);
}

struct ttnn_value tt_group_usual_topology(const struct tt_device *device,
					  const struct ttnn_value *asked, int64_t axis)
{
	struct ttnn_value out = tt_group_topology(device, asked, axis);

	if (asked->kind == TTNN_VALUE_ENUM
		    ? asked->integer == TT_TOPOLOGY_MESH || asked->integer == TT_TOPOLOGY_TORUS
		    : tt_fabric_is_plane(ttnn_fabric_get()))
		return tt_value_enum(&tt_enum_topology, out.integer == TT_TOPOLOGY_RING
								? TT_TOPOLOGY_TORUS
								: TT_TOPOLOGY_MESH);
	return out;
}

tt_status tt_group_links(struct ttnn_value *out, const struct tt_call *call,
			 const struct tt_device *device)
{
	const struct ttnn_value *given = tt_call_arg(call, "num_links");
	int64_t axis = tt_group_axis(tt_call_arg(call, "cluster_axis"));
	uint32_t down, along;

	*out = *given;
	if (tt_value_given(given))
		return TTNN_OK;
	TT_REQUIRE(axis < 2, "cluster_axis < 2", "Invalid cluster axis %" PRId64 ". Must be 0 or 1",
		   axis);
	down = device->rows > 1 && axis != 1 ? tt_fabric_links(device, 0) : UINT32_MAX;
	along = device->cols > 1 && axis != 0 ? tt_fabric_links(device, 1) : UINT32_MAX;
	*out = ttnn_v_int(down == UINT32_MAX && along == UINT32_MAX ? 1
			  : down < along                            ? down
								    : along);
	return TTNN_OK;
}

/* A value for each axis of the mesh. */
static tt_status pair(struct ttnn_value *out, struct tt_call *call,
		      const struct ttnn_value values[2])
{
	struct ttnn_value *items = tt_arena_alloc(call->arena, 2 * sizeof(*items));

	TT_NEED_MEMORY(items);
	items[0] = values[0];
	items[1] = values[1];
	*out = ttnn_v_list(items, 2);
	return TTNN_OK;
}

tt_status tt_group_axes(struct tt_group_axes *out, struct tt_call *call,
			const struct tt_device *device, int64_t axis)
{
	enum ttnn_fabric fabric = tt_fabric_of(axis < 0 && device->rows > 1 && device->cols > 1);
	struct ttnn_value topologies[2], straight[2], devices[2], links[2];

	for (uint32_t i = 0; i < 2; i++) {
		bool active = tt_fabric_extent(device, i) > 1 && (axis < 0 || axis == i);
		bool ring = active && tt_fabric_is_ring(device, fabric, i);

		topologies[i] = tt_value_enum(&tt_enum_topology,
					      ring ? TT_TOPOLOGY_RING : TT_TOPOLOGY_LINEAR);
		straight[i] = ttnn_v_bool(!active || tt_fabric_is_straight(device, i));
		devices[i] = ttnn_v_int(active ? tt_fabric_extent(device, i) : 1);
		links[i] = ttnn_v_int(active ? tt_fabric_links(device, i) : 0);
	}
	out->fabric = tt_value_enum(&tt_enum_fabric, fabric);
	out->size = (uint32_t)(devices[0].integer * devices[1].integer);
	TT_TRY(pair(&out->topologies, call, topologies));
	TT_TRY(pair(&out->straight, call, straight));
	TT_TRY(pair(&out->devices, call, devices));
	return pair(&out->links, call, links);
}

tt_status tt_group_cores(const ttnn_core_set **out, const struct tt_call *call,
			 struct tt_device *device)
{
	const ttnn_core_set *some = tt_call_core_set(call, "sub_core_grids");
	int64_t id;

	if (!some)
		some = tt_call_core_set(call, "sub_core_grid");
	*out = device->grid;
	if (tt_value_integer(&id, tt_call_arg(call, "subdevice_id"))) {
		TT_NEED(id >= 0, "subdevice_id is no number of a sub-device");
		TT_TRY(tt_device_sub_device(out, device, (uint64_t)id));
	}
	return some ? tt_core_set_intersect(out, *out, some) : TTNN_OK;
}

/* They stay as long as the program does. */
tt_status tt_keep_semaphores(struct tt_launch *launch, uint32_t count, bool small)
{
	const ttnn_core_set *grid = launch->grid;
	struct ttnn_spec_args args = {.shape = {2, {(uint32_t)ttnn_core_set_cores(grid), 4}},
				      .dtype = TTNN_UINT8,
				      .memory = {.layout = TTNN_HEIGHT_SHARDED,
						 .buffer = small ? TTNN_L1_SMALL : TTNN_L1,
						 .has_shard = true,
						 .shard = {.grid = grid, .height = 1, .width = 4}}};
	struct ttnn_tensor_spec spec;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	for (uint32_t i = 0; i < count; i++) {
		struct tt_tensor *semaphore;

		TT_TRY(ttnn_tensor_reserve(&semaphore, launch->device, &spec));
		TT_TRY(tt_launch_keep(launch, semaphore));
	}
	return TTNN_OK;
}

bool tt_has_l1_small(const struct tt_device *device)
{
	return device->setup.l1_small_size > 0;
}
