/*
 * async_program.c: programs of collectives that take the caller's semaphores: gathering (in order or reversed), reducing and scattering,
 * and reducing through a buffer.
 *
 * Models, of ttnn 0.81, the device operations AllGatherAsync (default factory), ReduceScatterMinimalAsync (line and ring) and AllReduceAsync:
 * output specs, tensors on the way, and one program for each chip with its senders' buffers. A packet of the fabric has the bytes it has
 * on Wormhole; a link is one unless more are asked for; a ring is where one line is the whole mesh. Not modelled: factories for Llama's
 * shards and by broadcast; detours over other operations (rows, tiles that are cut), where one program does all; routes, and the order in
 * which members are added up.
 */
#include <inttypes.h>
#include <string.h>

#include "device/device.h"
#include "device/devtensor.h"
#include "device/fabric.h"
#include "ops/collective/async.h"
#include "ops/compute.h"
#include "ops/cost.h"
#include "ops/mem_rows.h"
#include "ops/op_enums.h"
#include "ops/usual.h"
#include "tensor/core.h"
#include "tensor/dtype.h"
#include "tensor/memory.h"
#include "tensor/shape.h"
#include "tensor/spec.h"

#define PACKET 4352u /* bytes that go through the fabric at once */
#define SINGLE 4096u /* so few bytes need one sender in each direction, */
#define FOUR 262144u /* and these four, when parts are gathered */

/* As many chips as take part, and whether the last of them neighbours the first. */
uint32_t tt_group_members(const struct tt_launch *launch)
{
	return tt_group_size(launch->device, tt_group_axis(tt_launch_attr(launch, "cluster_axis")));
}

bool tt_group_is_ring(const struct tt_launch *launch)
{
	return tt_launch_attr(launch, "topology")->integer == TT_TOPOLOGY_RING;
}

/* ---- kernels --------------------------------------------------------------------------------------------- */

/* One output of every chip, one chip after the other. */
tt_status tt_group_serve(struct tt_launch *launch, size_t output, tt_serve_fn *serve)
{
	int64_t axis = tt_group_axis(tt_launch_attr(launch, "cluster_axis"));

	for (uint32_t chip = 0; chip < launch->device->rows * launch->device->cols; chip++) {
		struct tt_group group;
		struct tt_tensor *out;
		tt_status status;

		tt_group_find(&group, launch->device, axis, chip);
		TT_TRY(tt_tensor_resident(&out, launch->outputs[output], chip,
					  TT_BUFFER_OVERWRITE));
		status = serve(out, launch, chip, &group);
		ttnn_tensor_unref(out);
		TT_TRY(status);
	}
	return TTNN_OK;
}

struct tt_share tt_share_whole(const struct tt_launch *launch, uint32_t dim)
{
	return (struct tt_share){
		.dim = dim, .to_dim = dim, .extent = launch->inputs[0]->spec.shape.dim[dim]};
}

uint32_t tt_attr_dim(const struct tt_launch *launch, const char *name)
{
	return (uint32_t)tt_launch_attr(launch, name)->integer;
}

/* The parts of all, one behind the other, from the first or from the last. */
static tt_status serve_gather(struct tt_tensor *out, const struct tt_launch *launch, uint32_t chip,
			      const struct tt_group *group)
{
	struct tt_share part = tt_share_whole(launch, tt_attr_dim(launch, "dim"));
	bool reversed = tt_launch_attr(launch, "reverse_order")->boolean;

	(void)chip;
	for (uint32_t i = 0; i < group->count; i++, part.to += part.extent)
		TT_TRY(tt_share_receive(out, launch,
					group->chips[reversed ? group->count - 1 - i : i], &part));
	return TTNN_OK;
}
TT_SERVE(gather, 0)

tt_status tt_serve_scatter(struct tt_tensor *out, const struct tt_launch *launch, uint32_t chip,
			   const struct tt_group *group)
{
	struct tt_share part = tt_share_whole(launch, tt_attr_dim(launch, "dim"));

	(void)chip;
	part.extent /= group->count;
	part.from = (int64_t)part.extent * group->own;
	return tt_share_sum(out, launch, group, part);
}
static tt_status scatter_kernel(struct tt_launch *launch)
{
	return tt_group_serve(launch, 1, tt_serve_scatter);
}

static tt_status serve_reduce(struct tt_tensor *out, const struct tt_launch *launch, uint32_t chip,
			      const struct tt_group *group)
{
	(void)chip;
	return tt_share_sum(out, launch, group, tt_share_whole(launch, 0));
}
TT_SERVE(reduce, 0)

/* ---- attributes ---------------------------------------------------------------------------------------------- */

static const struct tt_field fields[TT_ASYNC_COUNT] = {TT_ASYNC_ATTRS(TT_ATTR_FIELD)};
#define SCHEMA(name_, type_)                                                                       \
	static const struct tt_schema name_ = {type_, fields, TT_ASYNC_COUNT, false}
SCHEMA(scatter_schema, "ReduceScatterMinimalAsyncParams");
SCHEMA(gather_schema, "<AllGatherAsyncParams>");
SCHEMA(reduce_schema, "<AllReduceAsyncParams>");

uint32_t tt_link_count(const struct tt_launch *launch)
{
	const struct ttnn_value *links = tt_launch_attr(launch, "num_links");

	return links->kind == TTNN_VALUE_INT ? (uint32_t)links->integer : 1;
}

/* ---- program memory --------------------------------------------------------------------------------------------- */

/* The i-th core, row by row, behind an offset: it may lie outside of the grid. */
static struct ttnn_core sender_core(const struct tt_launch *launch, const struct ttnn_core *from,
				    uint32_t i)
{
	struct ttnn_core core = tt_core_set_at(launch->grid, i, TTNN_ORIENT_ROW_MAJOR);

	return from ? (struct ttnn_core){core.x + from->x, core.y + from->y} : core;
}

/* How many of the first cores lie outside of the grid behind an offset, and the first of them. */
static uint32_t cores_outside(struct ttnn_core *first, const struct tt_launch *launch,
			      const struct ttnn_core *from, uint32_t count)
{
	uint32_t outside = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct ttnn_core core = sender_core(launch, from, i);

		if (!tt_core_set_contains(launch->grid, core) && !outside++)
			*first = core;
	}
	return outside;
}

/* Without links upstream takes all cores there are, and so too many. */
static tt_status check_offset(const struct tt_launch *launch, const struct ttnn_core *from,
			      uint32_t count)
{
	uint32_t cores = (uint32_t)ttnn_core_set_cores(launch->grid), outside;
	struct ttnn_core first = {0, 0};

	count = count && count < cores ? count : cores;
	outside = cores_outside(&first, launch, from, count);
	TT_REQUIRE(outside == 0, "selection.all_placeable()",
		   "Core grid offset %u-%u pushed %u of the %u selected worker cores (first: "
		   "%u-%u) off the worker grid; kernels cannot be placed there. Request fewer "
		   "cores or use a smaller offset.",
		   from->x, from->y, outside, count, first.x, first.y);
	return TTNN_OK;
}

tt_status tt_sender_cores(const ttnn_core_set **out, const struct tt_launch *launch,
			  const struct tt_senders *senders)
{
	uint32_t side = senders->mux + senders->workers;
	uint32_t count = 2 * side + senders->more, links = tt_link_count(launch), used = 0;
	struct ttnn_core_range *ranges;

	if (senders->from)
		TT_TRY(check_offset(launch, senders->from, links * count));
	TT_NEED(senders->workers && senders->workers <= ttnn_core_set_cores(launch->grid),
		"num_workers_per_link (%u) must be positive, and at most as many as there are cores",
		senders->workers);
	TT_REQUIRE(links > 0 && (uint64_t)links * count <= ttnn_core_set_cores(launch->grid),
		   "num_cores >= core_count",
		   "Not enough cores available on the subdevice or device for the requested match "
		   "the number of links %u",
		   links);
	ranges = tt_arena_alloc(launch->arena, (size_t)links * count * sizeof(*ranges));
	if (!ranges)
		return tt_fail_nomem();
	for (uint32_t i = 0; i < links * count; i++) {
		uint32_t place = i % count;

		if (place < 2 * side && place % side < senders->mux)
			continue;
		ranges[used].start = ranges[used].end = sender_core(launch, senders->from, i);
		used++;
	}
	return ttnn_core_set_make(out, ranges, used);
}

uint32_t tt_packet_pages(const struct tt_launch *launch)
{
	uint64_t pages = PACKET / launch->inputs[0]->spec.page_bytes;

	return pages > 4 ? 4 : pages ? (uint32_t)pages : 1;
}

/* Bytes that go over a link. */
static double moved(const struct tt_launch *launch, const struct tt_tensor *all)
{
	double size = tt_group_members(launch);

	return (double)all->spec.bytes * (size - 1) / size / tt_link_count(launch) /
	       (tt_group_is_ring(launch) ? 2 : 1);
}

static uint32_t workers_of(const struct tt_launch *launch, uint32_t usual)
{
	const struct ttnn_value *given = tt_launch_attr(launch, "num_workers_per_link");

	return given->kind == TTNN_VALUE_INT ? (uint32_t)given->integer : usual;
}

/* Where the senders begin, if the launch says it. */
static const struct ttnn_core *offset_of(const struct tt_launch *launch)
{
	const struct ttnn_value *offset = tt_launch_attr(launch, "core_grid_offset");

	return offset->kind == TTNN_VALUE_CORE ? &offset->core : NULL;
}

/* All chips of several rows and columns are no line: one of its ends is not beside the next row's start. */
static tt_status check_route(const struct tt_launch *launch)
{
	const struct tt_device *device = launch->device;
	bool plane = device->rows > 1 && device->cols > 1 &&
		     tt_group_axis(&launch->attrs[TT_ASYNC_AXIS]) < 0;

	TT_REQUIRE(!plane || tt_fabric_is_plane(tt_fabric_of(true)),
		   "forwarding_direction.has_value()",
		   "Could not find any forwarding direction from src (M0, D%u) to dst (M0, D%u)",
		   device->cols - 1, device->cols);
	return TTNN_OK;
}

static tt_status gather_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	double bytes = moved(launch, launch->outputs[0]);
	struct tt_senders senders = {.workers = workers_of(launch, bytes > FOUR     ? 4
								   : bytes > SINGLE ? 2
										    : 1)};
	uint32_t width = tt_shape_last(&launch->outputs[0]->spec.padded, 1);
	uint32_t count = tt_group_members(launch);
	const ttnn_core_set *cores;

	TT_REQUIRE(!tt_launch_attr(launch, "reverse_order")->boolean ||
			   width % (TT_TILE * count) == 0,
		   "tensor_width % required_divisor == 0",
		   "When reverse_order=true, tensor width (%u) must be divisible by 32*num_devices "
		   "(32*%u = %u)",
		   width, count, TT_TILE * count);
	TT_TRY(check_route(launch));
	senders.mux = senders.workers > 1;
	senders.from = offset_of(launch);
	TT_TRY(tt_sender_cores(&cores, launch, &senders));
	return TT_PLAN(plan, cores,
		       TT_CB_ROW(0, "sender", .pages = 3 * tt_packet_pages(launch),
				 .page = launch->inputs[0]->spec.page_bytes));
}

/* As many workers as bytes are worth it: more of them along a ring. */
static uint32_t scatter_workers(const struct tt_launch *launch)
{
	static const double bounds[2][2] = {{5e5, 4e6}, {1048576, 52428800}};
	const double *bound = bounds[tt_group_is_ring(launch)];
	double bytes = moved(launch, launch->inputs[0]);

	if (bytes <= SINGLE)
		return 1;
	return bytes < bound[0] ? 2 : bytes > bound[1] ? 8 : 4;
}

uint32_t tt_scatter_workers(const struct tt_launch *launch)
{
	return workers_of(launch, scatter_workers(launch));
}

/* Fewer where an offset leaves no room for them. */
static tt_status fitting_workers(uint32_t *workers, const struct tt_launch *launch)
{
	uint32_t cores = (uint32_t)ttnn_core_set_cores(launch->grid);
	const struct ttnn_core *from = offset_of(launch);
	uint32_t links = tt_link_count(launch), left = cores;
	struct ttnn_core first;

	if (!from)
		return TTNN_OK;
	left -= cores_outside(&first, launch, from, cores);
	while (*workers > 1 && (uint64_t)links * 2 * (*workers + 1) > left)
		*workers /= 2;
	TT_REQUIRE(
		(uint64_t)links * 4 <= left, "tt::exception",
		"Not enough cores available on the subdevice or device for the requested "
		"configuration to match the number of links %u: %u worker cores stay on the grid "
		"after core_grid_offset (%u, %u), the smallest candidate needs %u",
		links, left, from->x, from->y, links * 4);
	return TTNN_OK;
}

tt_status tt_scatter_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	static const char *const names[] = {"input", "intermediate", "intermediate_2",
					    "reader_output", "compute_output"};
	bool fp32 =
		tt_compute_has(tt_launch_attr(launch, "compute_kernel_config"), TT_COMPUTE_FP32);
	uint32_t tiles = 4 * tt_packet_pages(launch), most = fp32 ? 4 : 8;
	struct tt_senders senders = {
		.workers = tt_scatter_workers(launch), .mux = 1, .from = offset_of(launch)};
	const ttnn_core_set *cores;

	TT_TRY(fitting_workers(&senders.workers, launch));
	TT_TRY(tt_sender_cores(&cores, launch, &senders));
	for (uint32_t i = 0; i < TT_COUNT(names); i++)
		if (i != 2 || tt_group_is_ring(launch))
			TT_TRY(TT_PLAN(plan, cores,
				       TT_CB_ROW(i, names[i],
						 .pages = (tt_group_is_ring(launch) ? 2u : 3u) *
							  (tiles < most ? tiles : most),
						 .page = launch->inputs[0]->spec.page_bytes)));
	return TTNN_OK;
}

static tt_status scatter_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	TT_TRY(check_route(launch));
	return tt_scatter_memory(plan, launch);
}

/* All tiles of a link on its sender, which reads from where the shards are; then what was sent, and its sum. */
static tt_status reduce_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec,
				      *out = &launch->outputs[0]->spec;
	const ttnn_core_set *cores = out->memory.shard.grid, *free, *senders, *all;
	struct ttnn_core_range ranges[TT_GROUP_MAX];
	uint32_t links = tt_link_count(launch);

	TT_TRY(tt_core_set_merge(&all, cores, in->memory.shard.grid));
	TT_TRY(tt_core_set_subtract(&free, launch->grid, all));
	TT_TRY(tt_core_set_merge(&free, free, NULL));
	TT_REQUIRE(links <= TT_GROUP_MAX && links <= ttnn_core_set_cores(free),
		   "num_cores >= num_links", "Not enough cores available for %u links", links);
	/* Rows come first, whatever the cut. */
	for (uint32_t i = 0, used = 0; used < links; i++) {
		struct ttnn_core core = tt_core_set_at(launch->grid, i, TTNN_ORIENT_ROW_MAJOR);

		if (tt_core_set_contains(free, core))
			ranges[used].start = ranges[used].end = core, used++;
	}
	TT_TRY(ttnn_core_set_make(&senders, ranges, links));
	TT_TRY(tt_core_set_merge(&all, cores, senders));
	return TT_PLAN(
		plan, senders,
		TT_CB_ROW(0, "sender", .pages = tt_div_up(in->pages, links),
			  .page = in->page_bytes),
		TT_CB_ROW(1, "packet_header", .pages = 8, .page = 96),
		TT_CB_ROW(2, "reduction", .pages = tt_shard_tiles(out) * tt_group_members(launch),
			  .page = in->page_bytes, .cores = all, .backing = launch->inputs[1]),
		TT_CB_ROW(3, "out", .pages = tt_shard_tiles(out), .page = out->page_bytes,
			  .cores = cores, .backing = launch->outputs[0]));
}

/* ---- specs and refusals ------------------------------------------------------------------------------------------- */

/* One output like the input, but for its shape. */
tt_status tt_infer_reshaped(struct tt_launch *launch, const struct ttnn_shape *shape)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	TT_TRY(tt_check_given(launch, 0, shape));
	return tt_infer_one(launch, shape, in->dtype, in->layout);
}

static tt_status gather_infer(struct tt_launch *launch)
{
	struct ttnn_shape shape = launch->inputs[0]->spec.shape;

	shape.dim[tt_attr_dim(launch, "dim")] *= tt_group_members(launch);
	return tt_infer_reshaped(launch, &shape);
}

tt_status tt_check_links(const struct tt_launch *launch)
{
	TT_REQUIRE(tt_link_count(launch) > 0, "args.num_links > 0",
		   "Error, num_links should be more than 0 but has %u", tt_link_count(launch));
	return TTNN_OK;
}

static tt_status gather_validate(struct tt_launch *launch)
{
	const struct ttnn_value *semaphores = &launch->attrs[TT_ASYNC_SEMAPHORES];

	TT_TRY(tt_check_links(launch));
	TT_REQUIRE(semaphores->kind != TTNN_VALUE_LIST || semaphores->count == 2,
		   "operation_attributes.semaphore.size() == 2",
		   "Default implementation requires 2 semaphores");
	return TTNN_OK;
}

/* Room for chunks of tiles in a ring, twice the input in a line; then the result, and what a ring sends last but one. */
tt_status tt_ring_specs(struct ttnn_tensor_spec out[2], const struct tt_tensor *input, uint32_t dim,
			uint32_t size, bool fp32)
{
	static const struct ttnn_memory_config dram = {.buffer = TTNN_DRAM};
	const struct ttnn_tensor_spec *in = &input->spec;
	uint64_t packet = in->page_bytes ? PACKET / in->page_bytes : 0,
		 tiles = 4 * (packet > 4 ? 4
			      : packet   ? packet
					 : 1);
	uint64_t batches = 1, channels = 1, chunks;
	uint32_t rank = in->padded.rank, last = rank > 3 && dim + 3 < rank ? dim : rank - 3;

	if (tiles > (fp32 ? 4 : 8))
		tiles = fp32 ? 4 : 8;
	for (uint32_t i = 0; rank > 2 && i + 2 < rank; i++)
		*(i < last ? &batches : &channels) *= in->padded.dim[i];
	if (rank > 2 && dim + 2 < rank)
		channels /= size;
	TT_NEED(in->page_bytes && batches && channels, "there is nothing to scatter");
	chunks = tt_div_up(in->pages / size / batches / channels, tiles) * channels;
	for (uint32_t i = 0; i < 2; i++)
		TT_TRY(tt_spec_simple(&out[i],
				      &TT_SHAPE((uint32_t)(i ? chunks : chunks * size),
						(uint32_t)(tiles * in->page_bytes)),
				      TTNN_UINT8, TTNN_ROW_MAJOR, &dram));
	return TTNN_OK;
}

/* Whether the room on the way is of chunks: in a ring, but not along batches. */
bool tt_ring_has_chunks(bool ring, uint32_t dim, uint32_t rank)
{
	return ring && (rank == 2 || rank > 4 || dim + 4 != rank);
}

static tt_status scatter_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint32_t dim = tt_attr_dim(launch, "dim"), size = tt_group_members(launch);
	struct ttnn_shape shape = in->shape, twice = in->padded;
	const struct ttnn_value *between = &launch->attrs[TT_ASYNC_BETWEEN];
	struct ttnn_memory_config memory =
		between->kind == TTNN_VALUE_MEMORY ? *between->memory : in->memory;
	struct ttnn_tensor_spec ring[2];

	TT_REQUIRE(shape.dim[dim] % size == 0, "input_shape[dim] % ring_size == 0",
		   "Dimension %u must be divisible by ring_size", dim);
	shape.dim[dim] /= size;
	launch->output_count = 2;
	if (tt_ring_has_chunks(tt_group_is_ring(launch), dim, shape.rank)) {
		TT_TRY(tt_ring_specs(
			ring, launch->inputs[0], dim, size,
			tt_compute_has(&launch->attrs[TT_ASYNC_COMPUTE], TT_COMPUTE_FP32)));
		launch->specs[0] = ring[0];
		launch->specs[2] = ring[1];
		launch->output_count = 3;
	} else {
		if (!tt_group_is_ring(launch))
			twice.dim[0] *= 2;
		if (!tt_group_is_ring(launch) && memory.has_shard &&
		    between->kind != TTNN_VALUE_MEMORY)
			memory.shard.height *= 2;
		TT_TRY(tt_spec_simple(&launch->specs[0], &twice, in->dtype, in->layout, &memory));
	}
	tt_infer_given(launch, 0);
	tt_infer_given(launch, 2);
	TT_TRY(tt_check_given(launch, 1, &shape));
	if (tt_infer_given(launch, 1))
		return TTNN_OK;
	return tt_spec_simple(&launch->specs[1], &shape, in->dtype, in->layout,
			      launch->attrs[TT_ASYNC_MEMORY].memory);
}

static tt_status scatter_validate(struct tt_launch *launch)
{
	const struct ttnn_value *semaphores = &launch->attrs[TT_ASYNC_SEMAPHORES];

	TT_REQUIRE(tt_link_count(launch) > 0, "num_links > 0", "num_links must be greater than 0");
	TT_REQUIRE(launch->inputs[0]->spec.shape.rank > 1, "rank > 1",
		   "reduce_scatter currently supports rank 2 tensors at minimum");
	TT_REQUIRE(semaphores->kind != TTNN_VALUE_LIST || semaphores->count == 3,
		   "operation_attributes.semaphore.size() == num_expected_semaphores",
		   "Expected 3 semaphores but got %u", semaphores->count);
	return TTNN_OK;
}

static tt_status scatter_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = !tt_group_is_ring(launch);
	return TTNN_OK;
}

static tt_status reduce_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	const struct ttnn_value *dtype = &launch->attrs[TT_ASYNC_DTYPE];

	return tt_infer_one(launch, &in->shape,
			    dtype->kind == TTNN_VALUE_ENUM ? (enum ttnn_dtype)dtype->integer
							   : in->dtype,
			    in->layout);
}

/* Shards lie side by side, and the buffer has room for everybody's. */
static tt_status reduce_validate(struct tt_launch *launch)
{
	const struct {
		const char *name;
		const struct ttnn_memory_config *memory;
	} places[] = {{"input tensor", &launch->inputs[0]->spec.memory},
		      {"buffer tensor ", &launch->inputs[1]->spec.memory},
		      {"output tensor ", launch->attrs[TT_ASYNC_MEMORY].memory}};
	const struct ttnn_shard_spec *buffer = &places[1].memory->shard,
				     *out = &places[2].memory->shard;
	uint64_t want = (uint64_t)out->height * out->width * tt_group_members(launch);

	TT_REQUIRE(tt_group_members(launch) % 2 == 0, "args.ring_size % 2 == 0",
		   "AllReduceAsync currently only supports even number of blocks in the reduction "
		   "kernel.");
	TT_TRY(tt_check_links(launch));
	for (size_t i = 0; i < TT_COUNT(places); i++)
		TT_REQUIRE(places[i].memory->layout == TTNN_WIDTH_SHARDED &&
				   places[i].memory->has_shard,
			   "memory_layout() == TensorMemoryLayout::WIDTH_SHARDED",
			   "Unsupported memory layout for %sTensorMemoryLayout::%s.",
			   places[i].name,
			   tt_enum_name(&tt_enum_memory_layout, places[i].memory->layout));
	TT_REQUIRE(
		tt_core_set_includes(buffer->grid, out->grid),
		"buffer_tensor.memory_config().shard_spec()->grid.contains(args.output_mem_config."
		"shard_spec()->grid)",
		"The output tensor must reside on a subset of the cores of the buffer tensor");
	TT_REQUIRE(want <= (uint64_t)buffer->height * buffer->width,
		   "output_shard_shape_volume * args.ring_size <= buffer_shard_shape_volume",
		   "The shard size for the buffer must be large enough to hold the intermediate "
		   "tensor. Require at least %" PRIu64 " but has %" PRIu64,
		   want, (uint64_t)buffer->height * buffer->width);
	return TTNN_OK;
}

/* ---- programs --------------------------------------------------------------------------------------------------- */

static const struct tt_factory scatter_factories[] = {
	{"ttnn::experimental::prim::RingReduceScatterMeshWorkloadFactory", scatter_memory},
	{"ttnn::experimental::prim::LineReduceScatterMeshWorkloadFactory", scatter_memory},
};

#define PROGRAM(name, device_, prim_)                                                              \
	.device_op = device_, .prim = "ttnn::prim::" prim_, .attrs = &name##_schema,               \
	.infer = name##_infer, .validate = name##_validate, TT_KERNEL(name##_kernel),              \
	.per_chip = true, .together = true
const struct tt_prog tt_prog_gather_async = {
	PROGRAM(gather, "AllGatherAsyncDeviceOperation", "all_gather_async"),
	TT_FACTORY("ttnn::experimental::prim::DefaultMeshWorkloadFactory", gather_memory),
	.cost = tt_cost_unmodelled_move,
};
const struct tt_prog tt_prog_scatter_async = {
	PROGRAM(scatter, "ReduceScatterMinimalAsyncDeviceOperation",
		"reduce_scatter_minimal_async"),
	TT_FACTORIES(scatter_factories),
	.choose = scatter_choose,
	.drops_forward = true,
};
const struct tt_prog tt_prog_reduce_async = {
	PROGRAM(reduce, "AllReduceAsyncDeviceOperation", "all_reduce_async"),
	TT_FACTORY("ttnn::experimental::prim::AllReduceAsyncMeshWorkloadFactory", reduce_memory),
};
