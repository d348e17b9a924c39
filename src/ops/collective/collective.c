/*
 * collective.c: operations in which the chips of a mesh give each other their data.
 *
 * A group is what takes part together: all chips, or those of one row or column of the mesh
 * (cluster_axis). One program serves all operations: what each chip receives is a row of the table
 * `kinds`.
 *
 * Models, of ttnn 0.81, the device operations AllGather, ReduceScatter, AllReduce, Broadcast, PointToPoint and
 * MeshPartition: which chips take part, output specs, what each chip gets. Not modelled: their factories (one name
 * stands for them), and so program memory and cores, of which there is no recording; routes, links, workers and
 * semaphores; the order in which members are added up; the times of the fabric.
 */
#include <string.h>

#include "backend/backend.h"
#include "golden/golden.h"
#include "ops/collective/collective.h"
#include "ops/movement/movement.h"

enum kind { GATHER, REDUCE_SCATTER, ALL_REDUCE, BROADCAST, SEND, PARTITION };

enum { DIM, AXIS, MEMORY, SENDER, RECEIVER, ATTRS };

static const struct tt_field fields[ATTRS] = {
	[DIM] = {.name = "dim"},
	[AXIS] = {.name = "cluster_axis"},
	[MEMORY] = {.name = "output_mem_config"},
	[SENDER] = {.name = "sender"},
	[RECEIVER] = {.name = "receiver"},
};
static const struct tt_schema schema = {"CollectiveParams", fields, ATTRS, true};

/* How the extent of the dimension changes, whether members are added up, and what they have then. */
static const struct {
	bool grows, shrinks, adds;
	enum tt_group_result result;
} kinds[] = {
	[GATHER] = {.grows = true, .result = TT_GROUP_GATHERED},
	[REDUCE_SCATTER] = {.shrinks = true, .adds = true, .result = TT_GROUP_SCATTERED},
	[ALL_REDUCE] = {.adds = true},
	[BROADCAST] = {0},
	[SEND] = {0},
	[PARTITION] = {.shrinks = true, .result = TT_GROUP_DIVIDED},
};

/* ---- groups ----------------------------------------------------------------------------------------- */

/* All chips, or the column (axis 0) or row of the mesh that `chip` is in. */
void tt_group_find(struct tt_group *out, const struct tt_device *device, int64_t axis,
		   uint32_t chip)
{
	uint32_t rows = device->rows, cols = device->cols;

	out->count = out->own = 0;
	for (uint32_t i = 0; i < rows * cols && out->count < TT_GROUP_MAX; i++) {
		bool together =
			axis < 0 || (axis == 0 ? i % cols == chip % cols : i / cols == chip / cols);

		if (!together)
			continue;
		if (i == chip)
			out->own = out->count;
		out->chips[out->count++] = i;
	}
}

uint32_t tt_group_size(const struct tt_device *device, int64_t axis)
{
	if (axis < 0)
		return device->rows * device->cols;
	return axis == 0 ? device->rows : device->cols;
}

int64_t tt_group_axis(const struct ttnn_value *value)
{
	int64_t axis;

	return tt_value_integer(&axis, value) ? axis : -1;
}

/* ---- the program --------------------------------------------------------------------------------------- */

/* What a launch gets beside its attributes. */
struct request {
	enum kind kind;
	bool given; /* the output */
};

static enum kind kind_of(const struct tt_launch *launch)
{
	return ((const struct request *)launch->extra)->kind;
}

/* A tensor that is given to be sent to keeps what it has on all chips but one. */
static bool keeps(const struct tt_launch *launch, uint32_t chip)
{
	const struct request *request = launch->extra;

	return request->kind == SEND && request->given &&
	       chip != (uint32_t)launch->attrs[RECEIVER].integer;
}

/* What is sent must be what is received. */
static tt_status check_receiver(const struct ttnn_tensor_spec *out,
				const struct ttnn_tensor_spec *in)
{
	TT_REQUIRE(out->layout == in->layout, "output_tensor.layout() == input_tensor.layout()",
		   "Output tensor must have same layout as input");
	TT_REQUIRE(ttnn_tensor_spec_equal(out, in), "output_spec == output_tensor.tensor_spec()",
		   "Optional sparse output token tensor spec does not match computed output spec");
	return TTNN_OK;
}

/* Gathering multiplies the dimension by the group, scattering divides it. */
static tt_status collective_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint32_t size = tt_group_size(launch->device, tt_group_axis(&launch->attrs[AXIS]));
	enum kind kind = kind_of(launch);
	struct ttnn_shape shape = in->shape;
	uint32_t dim = (uint32_t)launch->attrs[DIM].integer;

	TT_REQUIRE(launch->device->rows * launch->device->cols <= TT_GROUP_MAX, "num_devices <= 64",
		   "A collective takes at most %d devices", TT_GROUP_MAX);
	if (kinds[kind].shrinks) {
		TT_REQUIRE(shape.dim[dim] % size == 0, "dim_size % num_devices == 0",
			   "Dimension %u of %u elements cannot be cut among %u devices", dim,
			   shape.dim[dim], size);
		shape.dim[dim] /= size;
	}
	if (kinds[kind].grows)
		shape.dim[dim] *= size;
	if (kind != SEND)
		TT_TRY(tt_check_given(launch, 0, &shape));
	else if (launch->outputs[0])
		TT_TRY(check_receiver(&launch->outputs[0]->spec, in));
	return tt_spec_simple(&launch->specs[0], &shape, in->dtype, in->layout,
			      launch->attrs[MEMORY].memory);
}

/* A part of one chip's tensor to its place in another's; `shift` adds dimensions in front. */
static tt_status move_part(struct tt_tensor *out, struct tt_tensor *in, const struct tt_share *part)
{
	struct tt_move_loop loops[TTNN_MAX_RANK];
	struct tt_move_job job = {.out = out, .in = in, .loops = loops};

	for (uint32_t d = 0; d < in->spec.shape.rank; d++)
		loops[job.loop_count++] = (struct tt_move_loop){
			.extent = d == part->dim ? part->extent : in->spec.shape.dim[d],
			.in_dim = (int32_t)d,
			.out_dim = (int32_t)(d + part->shift),
			.in_step = 1,
			.out_step = 1};
	job.in_start[part->dim] = part->from;
	job.out_start[part->to_dim + part->shift] = part->to;
	if (part->shift)
		job.out_start[0] = part->at;
	return tt_backend_get()->move(&job);
}

tt_status tt_share_receive(struct tt_tensor *out, const struct tt_launch *launch, uint32_t chip,
			   const struct tt_share *part)
{
	struct tt_tensor *in;
	tt_status status;

	TT_TRY(tt_tensor_resident(&in, launch->inputs[0], chip, TT_BUFFER_READ));
	status = move_part(out, in, part);
	ttnn_tensor_unref(in);
	return status;
}

tt_status tt_share_sum(struct tt_tensor *out, const struct tt_launch *launch,
		       const struct tt_group *group, struct tt_share part)
{
	const struct ttnn_shape *shape = &out->spec.shape;
	struct ttnn_spec_args args = {
		.dtype = tt_dtype_is_integer(out->spec.dtype) ? out->spec.dtype : TTNN_FLOAT32};
	struct ttnn_tensor_spec spec;
	struct tt_tensor *stack;
	tt_status status = TTNN_OK;

	TT_REQUIRE(shape->rank < TTNN_MAX_RANK, "rank < 8",
		   "A tensor of rank %u cannot be added up", shape->rank);
	args.shape.rank = shape->rank + 1;
	args.shape.dim[0] = group->count;
	memcpy(&args.shape.dim[1], shape->dim, shape->rank * sizeof(shape->dim[0]));
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(tt_tensor_alloc(&stack, &spec));
	part.shift = 1;
	for (uint32_t i = 0; i < group->count && status == TTNN_OK; i++) {
		part.at = i;
		status = tt_share_receive(stack, launch, group->chips[i], &part);
	}
	if (status == TTNN_OK)
		status = tt_backend_get()->reduce(&(struct tt_reduce_job){
			.out = out, .in = stack, .kind = TT_REDUCE_SUM, .dims = 1, .scale = 1});
	ttnn_tensor_unref(stack);
	return status;
}

/* What the chip at this place of the mesh gets. */
static tt_status serve(struct tt_tensor *out, const struct tt_launch *launch, uint32_t chip)
{
	const struct ttnn_value *attrs = launch->attrs;
	const struct ttnn_shape *shape = &launch->inputs[0]->spec.shape;
	struct tt_share part = {.dim = (uint32_t)attrs[DIM].integer,
				.to_dim = (uint32_t)attrs[DIM].integer};
	enum kind kind = kind_of(launch);
	uint32_t from = chip;
	struct tt_group group;

	tt_group_find(&group, launch->device, tt_group_axis(&attrs[AXIS]), chip);
	part.extent = shape->dim[part.dim];
	if (kinds[kind].shrinks) {
		part.extent /= group.count;
		part.from = (int64_t)part.extent * group.own;
	}
	if (kinds[kind].adds)
		return tt_share_sum(out, launch, &group, part);
	if (kind == GATHER) {
		for (uint32_t i = 0; i < group.count; i++, part.to += part.extent)
			TT_TRY(tt_share_receive(out, launch, group.chips[i], &part));
		return TTNN_OK;
	}
	if (kind == BROADCAST || (kind == SEND && chip == (uint32_t)attrs[RECEIVER].integer))
		from = (uint32_t)attrs[SENDER].integer;
	return tt_share_receive(out, launch, from, &part);
}

/* Runs once for all chips, and takes each one's part. */
static tt_status collective_kernel(struct tt_launch *launch)
{
	uint32_t chips = launch->device->rows * launch->device->cols;

	for (uint32_t chip = 0; chip < chips; chip++) {
		struct tt_tensor *out;
		tt_status status;

		if (keeps(launch, chip))
			continue;
		TT_TRY(tt_tensor_resident(&out, launch->outputs[0], chip, TT_BUFFER_OVERWRITE));
		status = serve(out, launch, chip);
		ttnn_tensor_unref(out);
		TT_TRY(status);
	}
	return TTNN_OK;
}

static uint64_t collective_spread(const struct tt_launch *launch)
{
	enum kind kind = kind_of(launch);

	if (kind == SEND)
		return launch->inputs[0]->spread;
	return tt_group_spread(launch, tt_group_axis(&launch->attrs[AXIS]), kinds[kind].result,
			       (uint32_t)launch->attrs[DIM].integer);
}

static const struct tt_factory factories[] = {{.name = "ttnn::prim::CollectiveProgramFactory"}};

#define PROGRAM(kind_, device_, prim_, cost_)                                                      \
	[kind_] = {                                                                                \
		.device_op = device_,                                                              \
		.prim = "ttnn::prim::" prim_,                                                      \
		.attrs = &schema,                                                                  \
		.infer = collective_infer,                                                         \
		.spread = collective_spread,                                                       \
		.factories = factories,                                                            \
		.factory_count = 1,                                                                \
		TT_KERNEL(collective_kernel),                                                      \
		.cost = cost_,                                                                     \
		.together = true,                                                                  \
	}
static const struct tt_prog programs[] = {
	PROGRAM(GATHER, "AllGatherDeviceOperation", "all_gather", tt_cost_unmodelled_move),
	PROGRAM(REDUCE_SCATTER, "ReduceScatterDeviceOperation", "reduce_scatter", NULL),
	PROGRAM(ALL_REDUCE, "AllReduceDeviceOperation", "all_reduce", NULL),
	PROGRAM(BROADCAST, "BroadcastDeviceOperation", "broadcast", tt_cost_unmodelled_move),
	PROGRAM(SEND, "PointToPointOp", "point_to_point", tt_cost_unmodelled_move),
	PROGRAM(PARTITION, "MeshPartitionDeviceOperation", "mesh_partition",
		tt_cost_unmodelled_move),
};

/* ---- calls -------------------------------------------------------------------------------------------------- */

/* A coordinate of the mesh as a chip's number; -1: none given. */
tt_status tt_group_place(struct ttnn_value *out, const struct tt_call *call, const char *name)
{
	const struct tt_device *device = call->device;
	int64_t at[2] = {0, 0};
	size_t count;

	*out = ttnn_v_int(-1);
	if (!tt_value_given(tt_call_arg(call, name)))
		return TTNN_OK;
	TT_TRY(tt_call_ints(at, &count, 2, call, name));
	TT_REQUIRE(count == 2 && at[0] >= 0 && at[0] < device->rows && at[1] >= 0 &&
			   at[1] < device->cols,
		   "coord in mesh", "%s is not on the mesh of %u x %u devices", name, device->rows,
		   device->cols);
	*out = ttnn_v_int(at[0] * device->cols + at[1]);
	return TTNN_OK;
}

/* Attributes of all kinds; those that a kind has no use for stay empty. */
static tt_status collective_run(struct tt_call *call, enum kind kind)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"),
			 *given = tt_call_tensor(call, "output_tensor");
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct ttnn_value attrs[ATTRS] = {[AXIS] = *tt_call_arg(call, "cluster_axis")};
	struct request request = {.kind = kind};
	uint32_t dim;

	TT_REQUIRE(tt_tensor_device(in), "storage_type == DEVICE",
		   "%s: the tensor must be on a device", call->entry->op->name);
	TT_TRY(tt_normal_dim(&dim, tt_call_int(call, "dim", 0), in->spec.shape.rank));
	attrs[DIM] = ttnn_v_int(dim);
	attrs[MEMORY] = ttnn_v_memory(memory ? memory : &in->spec.memory);
	TT_TRY(tt_group_place(&attrs[SENDER], call, "sender_coord"));
	TT_TRY(tt_group_place(&attrs[RECEIVER], call, "receiver_coord"));
	request.given = given != NULL;
	/* From a place to itself: nothing is to be done. */
	if (kind == SEND && given && attrs[SENDER].integer == attrs[RECEIVER].integer &&
	    tt_tensor_buffer(in) && tt_tensor_buffer(given) == tt_tensor_buffer(in)) {
		TT_TRY(check_receiver(&given->spec, &in->spec));
		tt_call_return(call, ttnn_tensor_ref(given));
		return TTNN_OK;
	}
	return TT_LAUNCH_RETURN(call, &programs[kind], .attrs = attrs, TT_INPUTS(in),
				TT_OUTPUTS(given), .extra = &request);
}

static tt_status collective_expand(struct tt_call *call)
{
	return collective_run(call, *(const enum kind *)call->entry->op->row);
}

/* ---- what the first chip should have -------------------------------------------------------------------------- */

/* Adds a tensor at a place along a dimension. */
static tt_status golden_add(struct tt_array *out, const struct tt_array *in, uint32_t dim,
			    uint64_t from, uint64_t to)
{
	uint64_t at[TTNN_MAX_RANK];

	for (uint64_t i = 0; i < in->count; i++) {
		tt_array_coordinate(at, in, i);
		if (at[dim] < from || at[dim] - from + to >= out->shape.dim[dim])
			continue;
		at[dim] += to - from;
		*tt_at(out, tt_array_index(out, at)) += *tt_at(in, i);
	}
	return TTNN_OK;
}

/* Judged on one chip where the chips' results differ. */
static tt_status collective_golden(struct tt_golden *golden)
{
	enum kind kind = *(const enum kind *)golden->op->row;
	struct tt_tensor *in = tt_call_tensor(&golden->call, "input_tensor");
	const struct tt_device *device = tt_tensor_device(in);
	int64_t axis = tt_group_axis(tt_call_arg(&golden->call, "cluster_axis"));
	uint32_t size = device ? tt_group_size(device, axis) : 0;
	struct ttnn_shape shape = in->spec.shape;
	struct ttnn_value sender;
	struct tt_group group;
	struct tt_array *out;
	uint32_t dim;

	TT_NEED(device, "%s: the golden needs a tensor on a mesh of chips", golden->op->name);
	TT_TRY(tt_normal_dim(&dim, tt_call_int(&golden->call, "dim", 0), shape.rank));
	golden->call.device = tt_tensor_device(in);
	TT_TRY(tt_group_place(&sender, &golden->call, "sender_coord"));
	tt_group_find(&group, device, axis, 0);
	if (kind == BROADCAST)
		group = (struct tt_group){.chips = {(uint32_t)sender.integer}, .count = 1};
	else if (kind == SEND || kind == PARTITION)
		group.count = 1;
	if (kinds[kind].grows)
		shape.dim[dim] *= group.count;
	if (kinds[kind].shrinks && size)
		shape.dim[dim] /= size;
	golden->first_chip = kinds[kind].shrinks || kind == SEND;
	out = tt_golden_out(golden, &shape, in->spec.dtype);
	for (uint32_t i = 0; out && i < group.count; i++) {
		const struct tt_array *member;
		struct tt_tensor *shard;

		TT_TRY(ttnn_tensor_shard(&shard, in, group.chips[i]));
		member = tt_golden_read(golden, shard);
		ttnn_tensor_unref(shard);
		TT_NEED_MEMORY(member);
		TT_TRY(golden_add(out, member, dim, 0,
				  kind == GATHER ? i * member->shape.dim[dim] : 0));
	}
	return out ? TTNN_OK : tt_fail_nomem();
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

#define LINKS "num_links: int? = None, topology: enum? = None"
#define WORKERS                                                                                    \
	"chunks_per_sync: int? = None, num_workers_per_link: int? = None, "                        \
	"num_buffers_per_channel: int? = None"
#define PLACE                                                                                      \
	"cluster_axis: int? = None, subdevice_id: SubDeviceId? = None, "                           \
	"memory_config: MemoryConfig? = None"

#define ROW(name_, kind_, doc_, ...)                                                               \
	{                                                                                          \
		.name = "ttnn." name_, .doc = doc_, .sigs = {__VA_ARGS__},                         \
		.expand = collective_expand, .golden = collective_golden,                          \
		.row = &(const enum kind){kind_},                                                  \
	}

static const struct tt_op ops[] = {
	ROW("all_gather", GATHER, "Every device gets the parts of all, one behind the other.",
	    "input_tensor: Tensor, dim: int, *, " PLACE ", output_tensor: Tensor? = None, "
	    "sub_core_grids: CoreRangeSet? = None, " LINKS ", " WORKERS
	    ", use_l1_small_for_semaphores: bool = False"),
	ROW("reduce_scatter", REDUCE_SCATTER,
	    "The tensors of all devices added up, and each device gets its part of the sum.",
	    "input_tensor: Tensor, dim: int, *, " PLACE
	    ", intermediate_memory_config: MemoryConfig? = None, output_tensor: Tensor? = None, " LINKS
	    ", " WORKERS ", compute_kernel_config: ComputeConfig? = None, "
	    "use_l1_small_for_semaphores: bool = False"),
	ROW("all_reduce", ALL_REDUCE, "Every device gets the sum of the tensors of all.",
	    "input_tensor: Tensor, *, " PLACE ", " LINKS),
	ROW("broadcast", BROADCAST, "Every device gets the tensor of one.",
	    "input_tensor: Tensor, sender_coord: sizes, *, " PLACE ", " LINKS),
	ROW("point_to_point", SEND, "One device gets the tensor of another.",
	    "input_tensor: Tensor, sender_coord: sizes, receiver_coord: sizes, *, "
	    "output_tensor: Tensor? = None, intermediate_tensor: Tensor? = None, "
	    "topology: enum? = None"),
	ROW("mesh_partition", PARTITION, "Every device keeps its own part of the tensor.",
	    "input_tensor: Tensor, dim: int, cluster_axis: int? = None, *, "
	    "memory_config: MemoryConfig? = None"),
};

const struct tt_op_family tt_family_collective = {"collective", ops, TT_COUNT(ops)};
