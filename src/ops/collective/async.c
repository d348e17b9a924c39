/*
 * async.c: collectives that take the caller's semaphores, as models call them: gathering, in order or reversed; reducing and scattering.
 * What is modelled of their programs is in async_program.c.
 */
#include "ops/collective/async.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "golden/golden_collective.h"
#include "ops/compute.h"
#include "ops/dims.h"
#include "ops/movement/movement.h"
#include "ops/op_enums.h"
#include "ops/usual.h"

/* ---- calls --------------------------------------------------------------------------------------------------------- */

/* The chips of a mesh, as its fabric numbers them; None without memory. */
static struct ttnn_value node_texts(struct tt_call *call, const struct tt_device *device)
{
	struct tt_str text = {0};
	char *kept;

	for (uint32_t i = 0; i < device->rows * device->cols; i++)
		tt_str_addf(&text, "%sM0D%u", i ? ", " : "{", i);
	tt_str_addc(&text, '}');
	kept = tt_arena_strdup(call->arena, tt_str_text(&text));
	tt_str_deinit(&text);
	return kept ? ttnn_v_string(kept) : ttnn_v_none();
}

tt_status tt_async_on_mesh(const struct tt_call *call, const struct tt_tensor *in)
{
	int64_t axis = tt_group_axis(tt_call_arg(call, "cluster_axis"));

	TT_REQUIRE(in && tt_tensor_device(in), "storage_type == DEVICE",
		   "%s: the tensor must be on a device", call->entry->op->name);
	TT_NEED(!tt_value_given(tt_call_arg(call, "cluster_axis")) || axis == 0 || axis == 1,
		"%s: cluster_axis is 0 or 1", call->entry->op->name);
	return TTNN_OK;
}

struct ttnn_value tt_sum_compute(struct tt_call *call, const struct tt_tensor *in)
{
	const struct ttnn_value *given = tt_call_arg(call, "compute_kernel_config");
	static const struct tt_compute_usual usual = {
		.fidelity = TT_HIFI4, .approx = true, .fp32 = true};

	if (in->spec.dtype != TTNN_FLOAT32 && !tt_value_given(given))
		return ttnn_v_none();
	return tt_compute_config(call, given, &usual);
}

tt_status tt_async_bind(struct ttnn_value *attrs, struct tt_call *call,
			const struct tt_async_request *request)
{
	struct tt_device *device = tt_tensor_device(request->in);
	const struct ttnn_value *axis = tt_call_arg(call, "cluster_axis");
	char *mesh =
		tt_arena_printf(call->arena, "MeshShape([%u, %u])", device->rows, device->cols);
	uint32_t dim;

	TT_TRY(tt_normal_dim(&dim, request->dim, request->in->spec.shape.rank));
	if (!mesh)
		return tt_fail_nomem();
	attrs[TT_ASYNC_DIM] = ttnn_v_int(dim);
	attrs[TT_ASYNC_LINKS] = ttnn_v_int(tt_call_int(call, "num_links", 1));
	attrs[TT_ASYNC_SIZE] = ttnn_v_int(tt_group_size(device, tt_group_axis(axis)));
	attrs[TT_ASYNC_MEMORY] =
		ttnn_v_memory(request->memory ? request->memory : &request->in->spec.memory);
	attrs[TT_ASYNC_BETWEEN] = *tt_call_arg(call, "intermediate_memory_config");
	attrs[TT_ASYNC_TOPOLOGY] =
		tt_group_topology(device, tt_call_arg(call, "topology"), tt_group_axis(axis));
	if (request->semaphores)
		attrs[TT_ASYNC_SEMAPHORES] = *request->semaphores;
	attrs[TT_ASYNC_BARRIER] = request->barrier ? *request->barrier : ttnn_v_none();
	attrs[TT_ASYNC_PERSISTENT] =
		ttnn_v_bool(tt_value_given(tt_call_arg(call, "persistent_output_buffers")));
	attrs[TT_ASYNC_COMPUTE] = tt_sum_compute(call, request->in);
	attrs[TT_ASYNC_MESH] = ttnn_v_string(mesh);
	attrs[TT_ASYNC_NODES] = node_texts(call, device);
	attrs[TT_ASYNC_REVERSED] = ttnn_v_bool(request->reversed);
	tt_attrs_bind(call, tt_prog_scatter_async.attrs, attrs);
	return TTNN_OK;
}

tt_status tt_async_gather(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_async_request *request, struct tt_tensor *given)
{
	struct ttnn_value attrs[TT_ASYNC_COUNT] = {0};

	TT_TRY(tt_async_bind(attrs, call, request));
	return TT_LAUNCH(out, call, &tt_prog_gather_async, TT_INPUTS(request->in),
			 TT_OUTPUTS(given), .attrs = attrs);
}

/* What was on the way goes as soon as the result is there. */
tt_status tt_async_scatter(struct tt_tensor **out, struct tt_call *call,
			   const struct tt_async_request *request)
{
	const struct ttnn_value *buffers = tt_call_arg(call, "persistent_output_buffers");
	struct ttnn_value attrs[TT_ASYNC_COUNT] = {0};
	struct tt_tensor *given[3], *all[TT_OUTPUTS_MAX];
	size_t count;

	for (size_t i = 0; i < 3; i++)
		given[i] = tt_value_item_tensor(buffers, i);
	TT_TRY(tt_async_bind(attrs, call, request));
	TT_TRY(tt_call_programs(all, &count, call,
				&(struct tt_program_args){.prog = &tt_prog_scatter_async,
							  TT_INPUTS(request->in),
							  .outputs = given,
							  .output_count = 3,
							  .attrs = attrs}));
	*out = all[1];
	for (size_t i = 0; i < count; i++)
		if (i != 1)
			tt_call_drop(call, all[i]);
	return TTNN_OK;
}

static tt_status gather_expand(struct tt_call *call)
{
	struct tt_tensor *given = tt_call_tensor(call, "persistent_output_buffer"), *out;
	struct tt_async_request request = {
		.in = tt_call_tensor(call, "input_tensor"),
		.dim = tt_call_int(call, "dim", 0),
		.memory = tt_call_memory(call, "memory_config"),
		.semaphores = tt_call_arg(call, "multi_device_global_semaphore"),
		.barrier = tt_call_arg(call, "barrier_semaphore"),
		.reversed =
			call->entry->op->row != NULL || tt_call_bool(call, "reverse_order", false)};

	TT_TRY(tt_async_on_mesh(call, request.in));
	if (!given)
		given = tt_call_tensor(call, "persistent_output_tensor");
	return tt_call_give(call, tt_async_gather(&out, call, &request, given), &out);
}

static tt_status scatter_expand(struct tt_call *call)
{
	struct tt_async_request request = {
		.in = tt_call_tensor(call, "input_tensor"),
		.dim = tt_call_int(call, "dim", 0),
		.memory = tt_call_memory(call, "memory_config"),
		.semaphores = tt_call_arg(call, "multi_device_global_semaphore"),
		.barrier = tt_call_arg(call, "barrier_semaphore")};
	struct tt_tensor *out;

	TT_TRY(tt_async_on_mesh(call, request.in));
	return tt_call_give(call, tt_async_scatter(&out, call, &request), &out);
}

/* What a caller may allocate once for reduce_scatter_minimal_async, where a ring has chunks. */
static tt_status buffers_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *out;
	int64_t axis = tt_group_axis(tt_call_arg(call, "cluster_axis"));
	const struct ttnn_value *compute = tt_call_arg(call, "compute_kernel_config");
	bool fp32 = in->spec.dtype == TTNN_FLOAT32 || tt_compute_has(compute, TT_COMPUTE_FP32);
	struct ttnn_tensor_spec specs[2];
	struct ttnn_value topology;
	uint32_t dim;

	TT_TRY(tt_async_on_mesh(call, in));
	topology = tt_group_topology(tt_tensor_device(in), tt_call_arg(call, "topology"), axis);
	TT_TRY(tt_normal_dim(&dim, tt_call_int(call, "dim", 0), in->spec.shape.rank));
	TT_REQUIRE(
		tt_ring_has_chunks(topology.integer == TT_TOPOLOGY_RING, dim, in->spec.shape.rank),
		"stage_spec.has_value()",
		"reduce_scatter_minimal_async_create_intermediate_buffer only applies to the "
		"contiguous fast path (Ring topology, scatter dim != 0). For other "
		"configurations the intermediate has the input tensor shape and can be "
		"allocated directly.");
	TT_TRY(tt_ring_specs(specs, in, dim, tt_group_size(tt_tensor_device(in), axis), fp32));
	for (size_t i = 0; i < 2; i++) {
		TT_TRY(tt_call_create(&out, call, tt_tensor_device(in), &specs[i]));
		tt_call_return(call, out);
	}
	return TTNN_OK;
}

/* ---- rows ------------------------------------------------------------------------------------------------------------ */

#define LINKS_ARGS(topology_) "num_links: int? = None, topology: Topology" topology_
#define WORKER_ARGS                                                                                \
	"chunks_per_sync: int? = None, num_workers_per_link: int? = None, "                        \
	"num_buffers_per_channel: int? = None"
#define PLACE_ARGS "memory_config: MemoryConfig? = None, subdevice_id: SubDeviceId? = None"
#define GATHER_MORE                                                                                \
	", use_optimal_ccl_for_llama: bool = False, barrier_semaphore: any? = None, "              \
	"sub_core_grids: CoreRangeSet? = None, " WORKER_ARGS
#define GATHER_ARGS                                                                                     \
	{                                                                                               \
		"input_tensor: Tensor, dim: int, multi_device_global_semaphore: any? = None, *, "       \
		"cluster_axis: int? = None, " PLACE_ARGS ", " LINKS_ARGS(" = Ring") GATHER_MORE,        \
			"input_tensor: Tensor, persistent_output_buffer: Tensor? = None, "              \
			"dim: int = 0, multi_device_global_semaphore: any? = None, *, "                 \
			"cluster_axis: int? = None, " PLACE_ARGS ", " LINKS_ARGS(" = Ring")             \
				GATHER_MORE ", use_broadcast: bool = False, "                           \
					    "reverse_order: bool = False",                              \
			"input_tensor: Tensor, dim: int, cluster_axis: int, mesh_device: Device, "      \
			"topology: Topology, multi_device_global_semaphore: any, *, "                   \
			"persistent_output_tensor: Tensor? = None, num_links: int? = None, " PLACE_ARGS \
				GATHER_MORE ", use_broadcast: bool = False"                             \
	}
#define ROW(name_, expand_, golden_, doc_)                                                         \
	.name = "ttnn.experimental." name_, .doc = doc_, .expand = expand_, .golden = golden_,     \
	.pcc = 0.999

static const struct tt_op ops[] = {
	{ROW("all_gather_async", gather_expand, tt_golden_all_gather,
	     "Every device gets the parts of all, one behind the other."),
	 .sigs = GATHER_ARGS},
	{ROW("all_gather_async_reversed", gather_expand, tt_golden_all_gather_reversed,
	     "Every device gets the parts of all, from the last device to the first."),
	 .sigs = GATHER_ARGS, .row = &tt_prog_gather_async},
	{ROW("reduce_scatter_minimal_async", scatter_expand, tt_golden_reduce_scatter,
	     "The tensors of all devices added up, and each device gets its part of the sum."),
	 .sigs = {"input_tensor: Tensor, persistent_output_buffers: Tensors? = None, "
		  "dim: int = 0, multi_device_global_semaphore: any? = None, *, "
		  "barrier_semaphore: any? = None, cluster_axis: int? = None, "
		  "subdevice_id: SubDeviceId? = None, memory_config: MemoryConfig? = None"
		  ", intermediate_memory_config: MemoryConfig? = None, " LINKS_ARGS(
			  " = Ring") ", " WORKER_ARGS
				     ", compute_kernel_config: ComputeConfig? = None"}},
	{ROW("reduce_scatter_minimal_async_create_intermediate_buffer", buffers_expand, NULL,
	     "What reduce_scatter_minimal_async has on the way round a ring, to be given to it."),
	 .sigs = {"input_tensor: Tensor, dim: int, *, topology: Topology = Ring, "
		  "cluster_axis: int? = None, compute_kernel_config: ComputeConfig? = None"},
	 .gives = "[Tensor]"},
};

const struct tt_op_family tt_family_collective_async = {"collective", ops, TT_COUNT(ops)};
