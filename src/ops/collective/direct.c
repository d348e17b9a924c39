/*
 * direct.c: reduce_scatter_minimal_direct: in a ring every part goes straight to whom it is for, who adds up what arrives.
 *
 * Models ReduceScatterMinimalDirectDeviceOperation of ttnn 0.81 (experimental/ccl/reduce_scatter_minimal_direct): refusals, the
 * buffer that parts arrive in, which is also that of the cores that add them up where it fits, and a semaphore for every chip
 * besides four. Not modelled: routes.
 */
#include <inttypes.h>

#include "device/fabric.h"
#include "golden/golden_collective.h"
#include "ops/collective/async.h"
#include "ops/collective/reduce_scatter.h"
#include "ops/movement/movement.h"

#define ATTRS(X)                                                                                   \
	X(DIM, "dim")                                                                              \
	X(MEMORY, "output_mem_config")                                                             \
	X(AXIS, "cluster_axis")                                                                    \
	X(FABRIC, "fabric_config")                                                                 \
	X(TOPOLOGIES, "axis_topology", .text = TT_TEXT_ARRAY)                                      \
	X(DEVICES, "axis_num_devices", .text = TT_TEXT_ARRAY)                                      \
	X(AXIS_LINKS, "axis_num_links", .text = TT_TEXT_ARRAY)                                     \
	X(SIZE, "num_devices")                                                                     \
	X(PACKET, "packet_size")                                                                   \
	X(LINKS, "num_links")                                                                      \
	X(SUB_DEVICE, "subdevice_id", .text = TT_TEXT_FIXED, .fixed = "<StrongType>")              \
	X(CORES, "sub_core_grid", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>")                \
	X(GIVEN, "persistent_output_tensor", .unprinted = true)                                    \
	X(GIVEN_STAGING, "persistent_staging_tensor", .unprinted = true)
TT_ATTRS(schema, "ReduceScatterMinimalDirectParams", ATTRS);

enum { RESULT, STAGING };

/* What a core may have of the buffer, and all cores together, before it is elsewhere. */
#define SHARD_BYTES (640u << 10)
#define L1_BYTES (4u << 20)
/* Semaphores besides those of the chips. */
#define OWN_SEMAPHORES 4

/* ---- how a part is cut ---------------------------------------------------------------------------------------- */

/* Tiles of a chunk, and chunks of a part. */
struct geometry {
	uint64_t tile, tiles, chunks;
};

static uint32_t pages_along(const struct ttnn_tensor_spec *in, uint32_t dim)
{
	uint32_t behind = in->shape.rank - 1 - dim;
	uint32_t extent = in->padded.dim[dim + in->padded.rank - in->shape.rank];

	return behind > 1 ? extent : extent / (behind ? in->tile.height : in->tile.width);
}

static tt_status find_geometry(struct geometry *out, const struct tt_tensor *tensor, uint32_t dim,
			       uint32_t size)
{
	const struct ttnn_tensor_spec *in = &tensor->spec;
	uint32_t rank = in->shape.rank, pages;
	uint64_t packet, most = in->dtype == TTNN_FLOAT32 ? 4 : 8;

	TT_REQUIRE(in->layout == TTNN_TILE, "input_tensor.layout() == ttnn::TILE_LAYOUT",
		   "reduce_scatter_minimal_direct requires TILE layout");
	TT_REQUIRE(rank >= 2, "rank >= 2",
		   "reduce_scatter_minimal_direct requires a rank >= 2 input, got rank %u", rank);
	TT_REQUIRE(
		dim + 2 < rank || in->padded.dim[dim] == in->shape.dim[dim],
		"dim < rank - 2 || padded_shape[dim] == input_tensor.logical_shape()[dim]",
		"scatter dim %u is tile-padded (logical %u vs padded %u); slice boundaries would "
		"not line up with the logical tensor",
		dim, in->shape.dim[dim], in->padded.dim[dim]);
	pages = pages_along(in, dim);
	TT_REQUIRE(pages % size == 0, "dim_size_pages % num_devices == 0",
		   "scatter dim %u (padded size %u, %u pages) must split into %u whole-page slices",
		   dim, in->padded.dim[dim], pages, size);
	packet = tt_fabric_channel(tt_fabric_of(false)) / in->page_bytes;
	TT_REQUIRE(packet, "interm_tiles_per_packet >= 1", "a tile must fit in a fabric packet");
	out->tile = in->page_bytes;
	out->tiles = 4 * (packet < 4 ? packet : 4);
	out->tiles = out->tiles < most ? out->tiles : most;
	out->chunks = tt_div_up(in->pages / size, out->tiles);
	return TTNN_OK;
}

/* Two halves of chunks from all: on each core a shard, if that is not too much. */
static tt_status staging_spec(struct ttnn_tensor_spec *out, const struct tt_tensor *in,
			      const struct geometry *geometry, uint32_t size)
{
	const ttnn_core_set *grid = tt_tensor_device(in)->grid;
	uint64_t page = geometry->tiles * geometry->tile, rows = 2 * geometry->chunks * size;
	struct ttnn_memory_config memory = {.buffer =
						    rows * page <= L1_BYTES ? TTNN_L1 : TTNN_DRAM};

	if (rows * page <= SHARD_BYTES) {
		memory.buffer = TTNN_L1;
		memory.layout = TTNN_HEIGHT_SHARDED;
		memory.has_shard = true;
		memory.shard = (struct ttnn_shard_spec){
			.grid = grid, .height = (uint32_t)rows, .width = (uint32_t)page};
		rows *= ttnn_core_set_cores(grid);
	}
	TT_NEED(rows <= UINT32_MAX, "there are too many chunks to scatter");
	return tt_spec_simple(out, &TT_SHAPE((uint32_t)rows, (uint32_t)page), TTNN_UINT8,
			      TTNN_ROW_MAJOR, &memory);
}

static tt_status find_specs(struct ttnn_tensor_spec out[2], const struct tt_tensor *in,
			    uint32_t dim, uint32_t size, const struct ttnn_memory_config *memory)
{
	struct ttnn_spec_args args = {.shape = in->spec.shape,
				      .dtype = in->spec.dtype,
				      .layout = in->spec.layout,
				      .tile = in->spec.tile,
				      .memory = *memory};
	struct geometry geometry;

	args.shape.dim[dim] /= size;
	TT_TRY(ttnn_tensor_spec_make(&out[RESULT], &args));
	TT_TRY(find_geometry(&geometry, in, dim, size));
	return staging_spec(&out[STAGING], in, &geometry, size);
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

static tt_status direct_infer(struct tt_launch *launch)
{
	launch->output_count = 2;
	return find_specs(launch->specs, launch->inputs[0], tt_attr_u32(launch, DIM),
			  tt_attr_u32(launch, SIZE), launch->attrs[MEMORY].memory);
}

/* What was given must be what would have been made. */
static tt_status check_given(const struct tt_launch *launch, size_t which, const char *format)
{
	const struct ttnn_tensor_spec *spec = &launch->outputs[which]->spec;

	if (ttnn_tensor_spec_equal(spec, &launch->specs[which]))
		return TTNN_OK;
	return tt_fail_specs("tensor.tensor_spec() == specs.at(idx)", format, spec,
			     &launch->specs[which]);
}

#define GIVEN_TEXT(what_)                                                                          \
	"Persistent " what_ " tensor spec %s does not match the computed spec %s; persistent "     \
	"buffers must come from reduce_scatter_minimal_direct_create_persistent_buffers"

static tt_status direct_validate(struct tt_launch *launch)
{
	uint32_t dim = tt_attr_u32(launch, DIM), size = tt_attr_u32(launch, SIZE);

	TT_TRY(check_given(launch, RESULT, GIVEN_TEXT("output")));
	TT_TRY(check_given(launch, STAGING, GIVEN_TEXT("staging")));
	TT_REQUIRE(size > 1, "args.num_devices > 1",
		   "reduce_scatter collective requires num_devices > 1, got %u", size);
	TT_REQUIRE(launch->inputs[0]->spec.shape.dim[dim] % size == 0,
		   "input_tensor.logical_shape()[args.dim] % args.num_devices == 0",
		   "scatter dim %u (size %u) must be divisible by num_devices %u", dim,
		   launch->inputs[0]->spec.shape.dim[dim], size);
	return TTNN_OK;
}

static bool is_ring(const struct tt_launch *launch)
{
	return launch->attrs[TOPOLOGIES].items[0].integer == TT_TOPOLOGY_RING ||
	       launch->attrs[TOPOLOGIES].items[1].integer == TT_TOPOLOGY_RING;
}

static tt_status direct_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = 0;
	TT_TRY(tt_keep_semaphores(launch, tt_attr_u32(launch, SIZE) + OWN_SEMAPHORES,
				  tt_has_l1_small(launch->device)));
	TT_REQUIRE(is_ring(launch) || ttnn_fabric_get() == TTNN_FABRIC_NONE,
		   "tt::tt_fabric::is_ring_or_torus(topology)",
		   "reduce_scatter_minimal_direct supports Ring topology only (a line would need "
		   "per-destination direction clamping)");
	return TTNN_OK;
}

static tt_status direct_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *staging = launch->outputs[STAGING];
	uint32_t size = tt_attr_u32(launch, SIZE), links = tt_attr_u32(launch, LINKS);
	bool sharded = tt_tensor_is_sharded(staging);
	const ttnn_core_set *cores;
	struct geometry geometry;

	TT_TRY(find_geometry(&geometry, launch->inputs[0], tt_attr_u32(launch, DIM), size));
	if (links > geometry.chunks)
		links = (uint32_t)geometry.chunks;
	TT_REQUIRE(links <= ttnn_core_set_cores(launch->grid),
		   "worker_cores_vec.size() == num_links",
		   "reduce_scatter_minimal_direct needs %u worker cores (one per link) but got %u",
		   links, (uint32_t)ttnn_core_set_cores(launch->grid));
	TT_TRY(tt_cores_first(&cores, launch->grid, links, TTNN_ORIENT_ROW_MAJOR));
	return TT_PLAN(
		plan, cores,
		TT_CB_ROW(0, "cb_send", .pages = 2 * geometry.tiles, .page = geometry.tile),
		TT_CB_ROW(16, "cb_out", .pages = 2 * geometry.tiles, .page = geometry.tile),
		TT_CB_ROW(1, "cb_reduce",
			  .pages = 2 * (sharded ? geometry.chunks : 1) * size * geometry.tiles,
			  .page = geometry.tile, .backing = sharded ? staging : NULL));
}

static tt_status direct_kernel(struct tt_launch *launch)
{
	return tt_group_serve(launch, RESULT, tt_serve_scatter);
}

static uint64_t direct_spread(const struct tt_launch *launch)
{
	return tt_group_spread(launch->inputs[0], tt_group_axis(&launch->attrs[AXIS]),
			       TT_GROUP_SCATTERED, tt_attr_u32(launch, DIM));
}

static const struct tt_prog program = {
	.device_op = "ReduceScatterMinimalDirectDeviceOperation",
	.prim = "ttnn::prim::reduce_scatter_minimal_direct",
	.attrs = &schema,
	.infer = direct_infer,
	.validate = direct_validate,
	TT_FACTORY("ttnn::experimental::prim::ReduceScatterMinimalDirectProgramFactory",
		   direct_memory),
	.choose = direct_choose,
	TT_KERNEL(direct_kernel),
	.spread = direct_spread,
	.per_chip = true,
	.together = true,
	.drops_forward = true,
	.kept_order = TT_KEPT_FORWARD,
};

/* ---- calls -------------------------------------------------------------------------------------------------------- */

bool tt_scatter_direct_can(const struct tt_scatter_args *args, uint32_t size)
{
	const struct ttnn_tensor_spec *in = &args->in->spec;
	uint32_t rank = in->shape.rank, pages;

	if (in->layout != TTNN_TILE || rank < 2 || size < 2 ||
	    size + OWN_SEMAPHORES > TT_KEPT_MAX || !in->page_bytes ||
	    in->page_bytes > TT_FABRIC_PAYLOAD)
		return false;
	if (args->dim + 2 >= rank && in->padded.dim[args->dim] != in->shape.dim[args->dim])
		return false;
	pages = pages_along(in, args->dim);
	return pages && pages % size == 0;
}

static tt_status direct_launch(struct tt_tensor **out, struct tt_call *call,
			       const struct tt_scatter_args *args, struct tt_tensor *staging)
{
	const struct tt_device *device = tt_tensor_device(args->in);
	struct ttnn_value cores_given = *tt_call_arg(call, "sub_core_grid");
	struct tt_tensor *all[TT_OUTPUTS_MAX];
	const ttnn_core_set *cores;
	struct tt_group_axes axes;
	size_t count;

	TT_TRY(tt_group_cores(&cores, call, tt_tensor_device(args->in)));
	TT_TRY(tt_group_axes(&axes, call, device,
			     tt_group_axis(tt_call_arg(call, "cluster_axis"))));
	TT_NEED(axes.size + OWN_SEMAPHORES <= TT_KEPT_MAX,
		"reduce_scatter_minimal_direct takes at most %d devices",
		TT_KEPT_MAX - OWN_SEMAPHORES);
	TT_TRY(tt_call_programs(
		all, &count, call,
		&(struct tt_program_args){
			.prog = &program,
			TT_INPUTS(args->in),
			TT_OUTPUTS(args->given, staging),
			.grid = cores,
			TT_BIND(call, schema, [DIM] = ttnn_v_int(args->dim),
				[MEMORY] = ttnn_v_memory(args->memory), [FABRIC] = axes.fabric,
				[TOPOLOGIES] = axes.topologies, [DEVICES] = axes.devices,
				[AXIS_LINKS] = axes.links, [SIZE] = ttnn_v_int(axes.size),
				[PACKET] = ttnn_v_int(TT_FABRIC_PAYLOAD), [LINKS] = args->links,
				[CORES] = cores_given.kind ? cores_given : ttnn_v_none(),
				[GIVEN] = ttnn_v_bool(args->given != NULL),
				[GIVEN_STAGING] = ttnn_v_bool(staging != NULL))}));
	tt_call_drop(call, all[STAGING]);
	*out = all[RESULT];
	return TTNN_OK;
}

tt_status tt_scatter_direct(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_scatter_args *args)
{
	return direct_launch(out, call, args, NULL);
}

/* The dimension and the axis of a call. */
static tt_status begin(struct tt_scatter_args *out, struct tt_call *call, uint32_t *size)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	const struct tt_device *device = tt_tensor_device(in);
	int64_t axis = tt_group_axis(tt_call_arg(call, "cluster_axis"));
	int64_t dim = tt_call_int(call, "dim", 0), rank = in->spec.shape.rank;

	TT_REQUIRE(device, "mesh_device != nullptr",
		   "Input tensor must be on a mesh device for reduce_scatter_minimal_direct");
	TT_REQUIRE(axis < 2, "!cluster_axis.has_value() || cluster_axis.value() < 2",
		   "reduce_scatter_minimal_direct cluster_axis %" PRId64
		   " is out of range; only axes 0 and 1 exist",
		   axis);
	dim += dim < 0 ? rank : 0;
	TT_REQUIRE(dim >= 0 && dim < rank, "args.dim >= 0 && args.dim < static_cast<int32_t>(rank)",
		   "scatter dim %" PRId64 " out of range for rank %" PRId64, dim, rank);
	*out = (struct tt_scatter_args){
		.in = in, .dim = (uint32_t)dim, .memory = tt_memory_or_like(call, in)};
	*size = tt_group_size(device, axis);
	return TTNN_OK;
}

static tt_status direct_expand(struct tt_call *call)
{
	const struct ttnn_value *buffers = tt_call_arg(call, "persistent_buffers");
	int64_t axis = tt_group_axis(tt_call_arg(call, "cluster_axis"));
	const struct tt_device *device;
	struct tt_scatter_args args;
	struct tt_tensor *out;
	uint32_t size, active, links;

	TT_TRY(begin(&args, call, &size));
	device = tt_tensor_device(args.in);
	TT_REQUIRE(
		!tt_value_given(buffers) || buffers->count == 2, "b.size() == 2",
		"reduce_scatter_minimal_direct persistent_buffers must be {output, staging}, got "
		"%u",
		buffers->count);
	TT_REQUIRE(
		axis >= 0 || device->rows == 1 || device->cols == 1,
		"cluster_axis.has_value() || mesh_shape[0] == 1 || mesh_shape[1] == 1",
		"reduce_scatter_minimal_direct requires an explicit cluster_axis on a "
		"MeshShape([%u, %u]) mesh: with both extents greater than one there is no single "
		"implied ring axis",
		device->rows, device->cols);
	active = axis >= 0 ? (uint32_t)axis : device->cols > 1;
	links = tt_fabric_extent(device, active) > 1 ? tt_fabric_links(device, active) : 1;
	args.links = *tt_call_arg(call, "num_links");
	if (!tt_value_given(&args.links))
		args.links = ttnn_v_int(links);
	TT_REQUIRE(args.links.integer >= 1 && args.links.integer <= links,
		   "resolved_num_links >= 1 && resolved_num_links <= available_links",
		   "reduce_scatter_minimal_direct num_links %" PRId64
		   " must be in [1, %u] (links available on axis %u)",
		   args.links.integer, links, active);
	args.given = tt_value_item_tensor(buffers, 0);
	return tt_call_give(
		call, direct_launch(&out, call, &args, tt_value_item_tensor(buffers, 1)), &out);
}

/* What a caller may allocate once: the buffer that parts arrive in, and the result where it is asked for. */
static tt_status buffers_expand(struct tt_call *call)
{
	struct ttnn_tensor_spec specs[2];
	struct tt_scatter_args args;
	struct tt_tensor *out;
	uint32_t size;

	TT_TRY(begin(&args, call, &size));
	TT_TRY(find_specs(specs, args.in, args.dim, size, &args.in->spec.memory));
	for (size_t i = call->entry->op->gives ? RESULT : STAGING; i <= STAGING; i++) {
		TT_TRY(tt_call_create(&out, call, tt_tensor_device(args.in), &specs[i]));
		tt_call_return(call, out);
	}
	return TTNN_OK;
}

#define ROW(name_, expand_, golden_, doc_, sig_)                                                   \
	.name = "ttnn.experimental.reduce_scatter_minimal_direct" name_, .doc = doc_,              \
	.sigs = {"input_tensor: Tensor, dim: int, *, cluster_axis: int? = None" sig_},             \
	.expand = expand_, .golden = golden_, .pcc = 0.999

static const struct tt_op ops[] = {
	{ROW("", direct_expand, tt_golden_reduce_scatter,
	     "The tensors of all devices of a ring added up, and each device gets its part, straight.",
	     ", num_links: int? = None, memory_config: MemoryConfig? = None, "
	     "persistent_buffers: Tensors? = None, subdevice_id: SubDeviceId? = None, "
	     "sub_core_grid: CoreRangeSet? = None"),
	 TT_PROGRAMS(&program)},
	{ROW("_create_persistent_buffers", buffers_expand, NULL,
	     "The result of reduce_scatter_minimal_direct and what it has on the way, to be given to it.",
	     ""),
	 .gives = "[Tensor]"},
	{ROW("_create_staging_buffer", buffers_expand, NULL,
	     "What reduce_scatter_minimal_direct has on the way, to be given to it.", "")},
};

const struct tt_op_family tt_family_reduce_scatter_direct = {"collective", ops, TT_COUNT(ops)};
