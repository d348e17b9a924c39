/*
 * llama_gather.c: all_gather_concat, which puts the heads of the users of all chips of a row side by side, a row for each user.
 *
 * Models AllGatherConcatDeviceOperation of ttnn 0.81: spec, refusals, and buffers of who sends and of who has the result.
 * It takes 8 users of each chip, on cores that Llama has free, and tells cores of a fixed list. Not modelled: routes.
 */
#include <string.h>

#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "golden/golden_fused.h"
#include "ops/collective/fused.h"
#include "ops/op_enums.h"
#include "ops/usual.h"

#define ATTRS(X)                                                                                   \
	X(DIM, "dim")                                                                              \
	X(LINKS, "num_links")                                                                      \
	X(SIZE, "ring_size")                                                                       \
	X(MEMORY, "output_mem_config")                                                             \
	X(TOPOLOGY, "topology")                                                                    \
	X(SIGNAL, "semaphore", .unkeyed = true)                                                    \
	X(HEADS, "num_heads")                                                                      \
	X(NOC1, "use_noc1_only")                                                                   \
	X(AXIS, "cluster_axis")
TT_ATTRS(schema, "<AllGatherConcatParams>", ATTRS);

enum { IN, BUFFER };

#define USERS 32u    /* rows of the result, */
#define OWN_USERS 8u /* and those of one chip */
#define READERS 16u  /* cores that put heads together */
#define HEAD_WIDTH 128u
#define LAST_TOLD 9u /* the last row of cores that are told when heads are there */

static tt_status concat_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const struct ttnn_shape *dim = &in->padded;
	struct ttnn_shape shape = {4, {0}};
	uint64_t width;

	TT_TRY(tt_need_dim(dim, 3));
	width = (uint64_t)tt_attr_u32(launch, HEADS) * dim->dim[3];
	TT_NEED(width && width <= UINT32_MAX, "num_heads must be positive, and not too many");
	shape = TT_SHAPE(dim->dim[0], 1, dim->dim[1] > USERS ? dim->dim[1] : USERS,
			 (uint32_t)width);
	return tt_spec_simple(&launch->specs[0], &shape, in->dtype, TTNN_TILE,
			      launch->attrs[MEMORY].memory);
}

/* The eight users of a chip are on these cores. */
static bool on_usual_cores(const ttnn_core_set *cores)
{
	static const struct ttnn_core_range want[] = {{{1, 0}, {3, 1}}, {{1, 2}, {2, 2}}};
	const struct ttnn_core_range *own;
	size_t count;

	own = ttnn_core_set_ranges(cores, &count);
	return count >= TT_COUNT(want) && memcmp(own, want, sizeof(want)) == 0;
}

static tt_status concat_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	uint32_t links = tt_attr_u32(launch, LINKS);
	struct ttnn_core grid = launch->device->info.compute_grid;

	TT_REQUIRE(in->memory.has_shard, "is_sharded(impl_->buffer_layout_)", "Buffer not sharded");
	TT_REQUIRE(links > 0, "args.num_links > 0",
		   "Error, num_links should be more than 0 but is %u", links);
	TT_REQUIRE(links <= grid.y,
		   "args.num_links <= input_tensor.device()->compute_with_storage_grid_size().y",
		   "Worker cores used by %u links are parallelized over %u rows", links, grid.y);
	TT_REQUIRE(in->memory.layout == TTNN_HEIGHT_SHARDED,
		   "input_tensor.memory_config().memory_layout() == "
		   "TensorMemoryLayout::HEIGHT_SHARDED",
		   "Unsupported memory layout TensorMemoryLayout::%s.",
		   tt_enum_name(&tt_enum_memory_layout, in->memory.layout));
	TT_REQUIRE(on_usual_cores(in->memory.shard.grid),
		   "input_core_ranges[0].start_coord.x == 1 && input_core_ranges[0].end_coord.x == "
		   "3 && input_core_ranges[0].start_coord.y == 0 && "
		   "input_core_ranges[0].end_coord.y == 1 && input_core_ranges[1].start_coord.x == "
		   "1 && input_core_ranges[1].end_coord.x == 2 && "
		   "input_core_ranges[1].start_coord.y == 2 && input_core_ranges[1].end_coord.y == "
		   "2",
		   "Unsupported input core ranges!");
	TT_REQUIRE(in->padded.dim[0] == 1 && in->padded.dim[1] == OWN_USERS &&
			   in->padded.dim[3] == HEAD_WIDTH,
		   "padded_input_shape[0] == 1 && padded_input_shape[1] == 8 && "
		   "padded_input_shape[3] == 128",
		   "Unsupported input shape, should be [1, 8, 32, 128] or [1, 8, 8, 128]!");
	TT_NEED(launch->attrs[MEMORY].memory->has_shard &&
			launch->inputs[BUFFER]->spec.memory.has_shard,
		"bad optional access");
	TT_NEED(in->shape.rank == 4 && in->shape.dim[1] == OWN_USERS &&
			in->shape.dim[3] == HEAD_WIDTH &&
			tt_attr_u32(launch, HEADS) <= in->shape.dim[2],
		"there are %u heads, not %u", in->shape.dim[2], tt_attr_u32(launch, HEADS));
	TT_NEED(tt_attr_u32(launch, SIZE) * OWN_USERS <= USERS,
		"there are rows for %u users, not for those of %u devices", USERS,
		tt_attr_u32(launch, SIZE));
	return TTNN_OK;
}

static tt_status concat_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	struct tt_tensor *out = launch->outputs[0];
	const ttnn_core_set *cores = out->spec.memory.shard.grid, *senders;
	uint32_t links = tt_attr_u32(launch, LINKS), count = (uint32_t)ttnn_core_set_cores(cores);
	uint64_t pages = (uint64_t)OWN_USERS * tt_attr_u32(launch, HEADS) / links + 1, tile, bytes;

	TT_REQUIRE(count >= READERS, "cores.size() >= config.concat_num_cores",
		   "all_gather_concat output grid has %u cores; concat reader walks %u", count,
		   READERS);
	TT_TRY(tt_llama_senders(&senders, launch, links));
	TT_NEED(LAST_TOLD < launch->device->profile->logical.y,
		"No core coordinate found at location: (5, 9, TENSIX, LOGICAL)");
	tile = tt_tensor_tile_bytes(launch->inputs[IN]);
	bytes = (uint64_t)tt_shape_last(&out->spec.padded, 2) * (HEAD_WIDTH / 2) *
		(tt_dtype_bytes(in->dtype) ? tt_dtype_bytes(in->dtype) : 1);
	TT_REQUIRE(bytes % tile == 0, "tt::exception",
		   "Total circular buffer size %u B must be divisible by page size %u B",
		   (uint32_t)bytes, (uint32_t)tile);
	return TT_PLAN(
		plan, senders, TT_CB_ROW(0, "src0", .pages = pages, .page = in->page_bytes),
		TT_CB_ROW(1, "packet_header", .pages = 16, .page = 48),
		TT_CB_ROW(16, "q_output", .pages = bytes / tile, .page = tile, .cores = cores,
			  .backing = out),
		TT_CB_ROW(17, "pre_tilize", .pages = bytes / tile, .page = tile, .cores = cores));
}

/* The heads of the users of a chip, in rows from `first` on. */
static tt_status put_users(struct tt_tensor *out, const struct tt_launch *launch, uint32_t chip,
			   uint32_t first)
{
	const struct tt_move_loop loops[] = {
		{OWN_USERS, 1, 2, 1, 1},
		{tt_attr_u32(launch, HEADS), 2, 3, 1, HEAD_WIDTH},
		{HEAD_WIDTH, 3, 3, 1, 1},
	};
	struct tt_move_job job = {
		.out = out, .loops = loops, .loop_count = 3, .out_start = {0, 0, first, 0}};

	TT_TRY(tt_part_here(&job.in, launch->inputs[IN], chip));
	return tt_backend_get()->move(&job);
}

static tt_status serve_concat(struct tt_tensor *out, const struct tt_launch *launch, uint32_t chip,
			      const struct tt_group *group)
{
	(void)chip;
	TT_TRY(tt_backend_get()->fill(out, 0, TT_FILL_ALL));
	for (uint32_t i = 0; i < group->count; i++)
		TT_TRY(put_users(out, launch, group->chips[i], i * OWN_USERS));
	return TTNN_OK;
}
TT_SERVE(concat, 0)

static const struct tt_prog program = {
	.device_op = "AllGatherConcatDeviceOperation",
	.prim = "ttnn::prim::all_gather_concat",
	.attrs = &schema,
	.infer = concat_infer,
	.validate = concat_validate,
	TT_FACTORY("ttnn::experimental::prim::AllGatherConcatMeshWorkloadFactory", concat_memory),
	TT_KERNEL(concat_kernel),
	.per_chip = true,
	.together = true,
};

static tt_status concat_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	int64_t dim = tt_call_int(call, "dim", 0), rank = in->spec.shape.rank;
	int64_t axis = tt_call_int(call, "cluster_axis", 0) ? 1 : 0;
	struct ttnn_value attrs[schema_count] = {0};

	TT_TRY(tt_async_on_mesh(call, in));
	dim += dim < 0 ? rank : 0;
	TT_REQUIRE(dim >= -rank && dim <= rank - 1, "gather_dim >= -rank && gather_dim <= rank - 1",
		   "Dimension input should be in between -%d and %d, but has %d", (int)rank,
		   (int)rank - 1, (int)tt_call_int(call, "dim", 0));
	attrs[DIM] = ttnn_v_int(dim);
	attrs[LINKS] = ttnn_v_int(tt_call_int(call, "num_links", 1));
	attrs[SIZE] = ttnn_v_int(tt_group_size(tt_tensor_device(in), axis));
	attrs[MEMORY] = *tt_call_arg(call, "memory_config");
	attrs[SIGNAL] = *tt_call_arg(call, "multi_device_global_semaphore");
	attrs[AXIS] = ttnn_v_int(axis);
	tt_attrs_bind(call, &schema, attrs);
	return TT_LAUNCH_RETURN(call, &program,
				TT_INPUTS(in, tt_call_tensor(call, "buffer_tensor")),
				.attrs = attrs);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.all_gather_concat",
	 .doc = "The heads of the users of all devices side by side, a row for each user.",
	 .sigs = {"input_tensor: Tensor, buffer_tensor: Tensor, dim: int, cluster_axis: size, "
		  "mesh_device: Device, multi_device_global_semaphore: any, num_heads: size, "
		  "memory_config: MemoryConfig, *, use_noc1_only: bool = False, "
		  "num_links: size? = 1, topology: Topology = Linear, "
		  "subdevice_id: SubDeviceId? = None"},
	 .expand = concat_expand,
	 .golden = tt_golden_gather_concat,
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_llama_gather = {"collective_llama", ops, TT_COUNT(ops)};
