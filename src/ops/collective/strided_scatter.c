/*
 * strided_scatter.c: strided_reduce_scatter_async, which adds up what the chips of a ring have in the order in which a product
 * gives its blocks.
 *
 * Models StridedReduceScatterAsyncDeviceOperation of ttnn 0.81: specs, refusals, and the buffers of those who send. Not
 * modelled: strides, and who signals what.
 */
#include "device/device.h"
#include "golden/golden_collective.h"
#include "ops/collective/fused_minimal.h"
#include "ops/movement/movement.h"
#include "ops/op_enums.h"
#include "ops/usual.h"

#define SEMAPHORES .text = TT_TEXT_EACH, .fixed = "<GlobalSemaphore>", .unkeyed = true
#define BARRIER_OF .text = TT_TEXT_FIXED, .fixed = "<GlobalSemaphore>", .unkeyed = true
#define SUB_DEVICE .text = TT_TEXT_ALWAYS, .fixed = "<StrongType>"

#define SCATTER_ATTRS(X)                                                                           \
	X(DIM, "dim")                                                                              \
	X(LINKS, "num_links")                                                                      \
	X(SIZE, "ring_size")                                                                       \
	X(MEMORY, "output_mem_config")                                                             \
	X(BETWEEN, "optional_intermediate_mem_config")                                             \
	X(TOPOLOGY, "topology")                                                                    \
	X(SIGNALS, "semaphore", SEMAPHORES)                                                        \
	X(BARRIER, "barrier_semaphore", BARRIER_OF)                                                \
	X(PERSISTENT, "using_persistent_buffers")                                                  \
	X(SUB_DEVICE_OF, "sub_device_id", SUB_DEVICE)                                              \
	X(AXIS, "cluster_axis")                                                                    \
	X(WORKERS, "num_workers_per_link")                                                         \
	X(BUFFERS, "num_buffers_per_channel")                                                      \
	X(CORES_Y, "mm_cores_y")                                                                   \
	X(BLOCK_H, "mm_block_ht")                                                                  \
	X(BLOCK_W, "mm_block_wt")                                                                  \
	X(FULL_W, "mm_N_full_block_wt")                                                            \
	X(CHUNK_W, "chunk_width_in_mm_blocks")
TT_ATTRS(scatter_schema, "operation_attributes_t", SCATTER_ATTRS);

/* ---- what both have ---------------------------------------------------------------------------------------------------- */

/* The buffers of those who send pages of this tensor, and where they wait to be scaled and gated. */
tt_status tt_strided_memory(struct tt_plan *plan, const ttnn_core_set *cores,
			    const struct tt_launch *launch, bool gated)
{
	static const char *const names[] = {"input",          "intermediate", "reader_output",
					    "compute_output", "addcmul_temp", "addcmul_a",
					    "addcmul_b"};
	uint32_t packet = tt_packet_pages(launch), pages = 3 * (packet < 4 ? 4 * packet : 8);

	for (uint32_t i = 0; i < (gated ? 7 : 4); i++)
		TT_TRY(TT_PLAN(plan, cores,
			       TT_CB_ROW(i, names[i], .pages = (i == 4 ? 2u : 1u) * pages,
					 .page = launch->inputs[0]->spec.page_bytes)));
	return TTNN_OK;
}

/* Chips that follow each other neighbour each other, and the last the first. */
tt_status tt_strided_check_ring(const struct tt_launch *launch, const struct ttnn_value *axis)
{
	uint32_t rows = launch->device->rows, cols = launch->device->cols;

	TT_REQUIRE(rows == 1 || cols == 1 || tt_value_given(axis),
		   "forwarding_direction.has_value()",
		   "Could not find any forwarding direction from src (M0, D%u) to dst (M0, D%u)",
		   cols - 1, cols);
	return tt_blocks_check_ring(launch, tt_group_axis(axis));
}

/* ---- sums alone -------------------------------------------------------------------------------------------------------- */

static tt_status scatter_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_value *between = &launch->attrs[BETWEEN];
	struct ttnn_memory_config memory =
		between->kind == TTNN_VALUE_MEMORY ? *between->memory : in->memory;
	struct ttnn_shape shape = in->shape;
	uint32_t dim = tt_attr_u32(launch, DIM);

	TT_TRY(tt_need_dim(&shape, dim));
	launch->output_count = 2;
	shape.dim[0] = 1;
	if (memory.has_shard && between->kind != TTNN_VALUE_MEMORY)
		memory.shard.height = 1;
	if (!tt_infer_given(launch, 0))
		TT_TRY(tt_spec_simple(&launch->specs[0], &shape, in->dtype, in->layout, &memory));
	if (tt_infer_given(launch, 1))
		return TTNN_OK;
	shape = in->shape;
	shape.dim[dim] /= tt_attr_u32(launch, SIZE);
	return tt_spec_simple(&launch->specs[1], &shape, in->dtype, in->layout,
			      launch->attrs[MEMORY].memory);
}

/* A result that was given. */
static tt_status check_output(const struct tt_launch *launch)
{
	const struct tt_tensor *given = launch->inputs[2];
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint32_t dim = tt_attr_u32(launch, DIM), size = tt_attr_u32(launch, SIZE);

	if (!given)
		return TTNN_OK;
	TT_REQUIRE(given->spec.layout == in->layout,
		   "output_tensor.layout() == input_tensor.layout()",
		   "Output tensor layout must match input tensor layout");
	TT_REQUIRE(given->spec.dtype == in->dtype, "output_tensor.dtype() == input_tensor.dtype()",
		   "Output tensor dtype must match input tensor dtype");
	TT_REQUIRE(ttnn_memory_config_equal(&given->spec.memory, launch->attrs[MEMORY].memory),
		   "output_tensor.memory_config() == memory_config",
		   "Output tensor memory config must match provided memory_config");
	TT_NEED(given->spec.shape.rank == in->shape.rank,
		"Output tensor must have as many dimensions as the input tensor");
	for (uint32_t i = 0; i < in->padded.rank; i++) {
		TT_REQUIRE(i != dim || given->spec.padded.dim[i] == in->padded.dim[i] / size,
			   "output_shape[i] == input_shape[i] / ring_size",
			   "Output tensor dimension %u must be input dimension / ring_size", i);
		TT_REQUIRE(i == dim || given->spec.padded.dim[i] == in->padded.dim[i],
			   "output_shape[i] == input_shape[i]",
			   "Output tensor dimension %u must match input dimension", i);
	}
	return TTNN_OK;
}

/* Room on the way that was given. */
static tt_status check_between(const struct tt_launch *launch)
{
	const struct tt_tensor *given = launch->inputs[1];
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_value *memory = &launch->attrs[BETWEEN];
	struct ttnn_shape shape = in->shape;

	if (!given)
		return TTNN_OK;
	TT_REQUIRE(given->spec.layout == in->layout,
		   "intermediate_tensor.layout() == input_tensor.layout()",
		   "Intermediate tensor layout must match input tensor layout");
	TT_REQUIRE(given->spec.dtype == in->dtype,
		   "intermediate_tensor.dtype() == input_tensor.dtype()",
		   "Intermediate tensor dtype must match input tensor dtype");
	TT_REQUIRE(memory->kind != TTNN_VALUE_MEMORY ||
			   ttnn_memory_config_equal(&given->spec.memory, memory->memory),
		   "intermediate_tensor.memory_config() == "
		   "optional_intermediate_mem_config.value()",
		   "Intermediate tensor memory config must match provided intermediate_mem_config");
	shape.dim[0] = 1;
	if (ttnn_shape_equal(&given->spec.shape, &shape))
		return TTNN_OK;
	return tt_fail_shapes(TTNN_INVALID,
			      "intermediate_tensor.logical_shape() == expected_inter_shape",
			      "Intermediate tensor shape must be single-batch (batch dim 1), "
			      "expected %s but got %s",
			      &shape, &given->spec.shape);
}

static tt_status check_signals(const struct tt_launch *launch)
{
	const struct ttnn_value *signals = &launch->attrs[SIGNALS];
	const char *const blocks[] = {"mm_block_ht", "mm_block_wt"};

	for (int i = 0; i < 2; i++)
		TT_REQUIRE(tt_attr_u32(launch, BLOCK_H + i) > 0,
			   i ? "operation_attributes.mm_block_wt > 0"
			     : "operation_attributes.mm_block_ht > 0",
			   "%s must be > 0, got %u", blocks[i], tt_attr_u32(launch, BLOCK_H + i));
	TT_REQUIRE(signals->kind != TTNN_VALUE_LIST || signals->count == 3,
		   "operation_attributes.semaphore.size() == num_expected_semaphores",
		   "Expected 3 semaphores but got %u", signals->count);
	return TTNN_OK;
}

static tt_status scatter_validate(struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0];
	const struct ttnn_shape *shape = &in->spec.shape;
	uint32_t dim = tt_attr_u32(launch, DIM), size = tt_attr_u32(launch, SIZE);
	bool tiles = dim + 2 >= shape->rank;

	TT_REQUIRE(in->spec.page_bytes % tt_page_alignment(in) == 0,
		   "page_size % input_tensor.buffer()->alignment() == 0",
		   "reduce_scatter_minimal_async currently requires aligned pages");
	TT_REQUIRE(tt_attr_u32(launch, LINKS) > 0, "num_links > 0",
		   "num_links must be greater than 0");
	TT_REQUIRE(shape->rank > 1, "rank > 1",
		   "reduce_scatter currently supports rank 2 tensors at minimum");
	TT_REQUIRE(!tiles || in->spec.padded.dim[dim] / TT_TILE % size == 0,
		   "(input_shape[dim] / tile_size) % ring_size == 0",
		   "Number of tiles at dimension %u must be divisible by ring_size", dim);
	TT_REQUIRE(shape->dim[dim] % size == 0, "input_shape[dim] % ring_size == 0",
		   "Dimension %u must be divisible by ring_size", dim);
	TT_REQUIRE(in->spec.memory.layout != TTNN_BLOCK_SHARDED ||
			   in->spec.memory.buffer == TTNN_L1,
		   "input_tensor.memory_config().buffer_type() == BufferType::L1",
		   "DRAM block sharding not supported for input");
	TT_TRY(check_output(launch));
	TT_TRY(check_between(launch));
	TT_REQUIRE(dim == 3, "operation_attributes.dim == 3",
		   "strided_reduce_scatter_async only supports dim=3 (W), but got dim=%u", dim);
	if (shape->rank != 4 || shape->dim[1] != 1)
		return tt_fail_shapes(TTNN_INVALID,
				      "input_tensor.logical_shape().rank() == 4 && "
				      "input_tensor.logical_shape()[1] == 1",
				      "strided_reduce_scatter_async requires a 4D tensor with C=1, "
				      "but got shape %s",
				      shape, shape);
	TT_TRY(check_signals(launch));
	TT_NEED(in->spec.pages, "strided_reduce_scatter_async: there is nothing to add up");
	return tt_strided_check_ring(launch, &launch->attrs[AXIS]);
}

static tt_status scatter_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_senders senders = {.workers = tt_scatter_workers(launch), .mux = 1};
	const ttnn_core_set *cores;

	TT_TRY(tt_sender_cores(&cores, launch, &senders));
	return tt_strided_memory(plan, cores, launch, false);
}

static tt_status scatter_kernel(struct tt_launch *launch)
{
	return tt_group_serve(launch, 1, tt_serve_scatter);
}

static const struct tt_prog strided_scatter = {
	.device_op = "StridedReduceScatterAsyncDeviceOperation",
	.prim = "ttnn::prim::strided_reduce_scatter_async",
	.attrs = &scatter_schema,
	.infer = scatter_infer,
	.validate = scatter_validate,
	TT_FACTORY("ttnn::operations::experimental::ccl::strided_reduce_scatter_async::detail::"
		   "RingStridedReduceScatterMeshWorkloadFactory",
		   scatter_memory),
	TT_KERNEL(scatter_kernel),
	.per_chip = true,
	.together = true,
	.drops_forward = true,
};

/* How many chips add up, in a ring. */
tt_status tt_strided_bind(struct ttnn_value *size, struct tt_call *call, const struct tt_tensor *in)
{
	TT_TRY(tt_async_on_mesh(call, in));
	*size = ttnn_v_int(tt_group_size(tt_tensor_device(in),
					 tt_group_axis(tt_call_arg(call, "cluster_axis"))));
	return TTNN_OK;
}

static tt_status scatter_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *given[2],
			 *all[TT_OUTPUTS_MAX];
	const struct ttnn_value *buffers = tt_call_arg(call, "persistent_output_buffers");
	struct ttnn_value attrs[scatter_schema_count] = {0};
	int64_t dim = tt_call_int(call, "dim", 3);
	size_t count;

	for (size_t i = 0; i < 2; i++)
		given[i] = tt_value_item_tensor(buffers, i);
	TT_TRY(tt_strided_bind(&attrs[SIZE], call, in));
	dim += dim < 0 ? in->spec.shape.rank : 0;
	TT_NEED(dim >= 0, "strided_reduce_scatter_async: a tensor of %u dimensions has no such one",
		in->spec.shape.rank);
	TT_REQUIRE(attrs[SIZE].integer > 1, "num_devices > 1",
		   "strided_reduce_scatter_async op will only work for num_devices > 1, but has %d",
		   (int)attrs[SIZE].integer);
	attrs[TOPOLOGY] = *tt_call_arg(call, "topology");
	TT_REQUIRE(attrs[TOPOLOGY].integer == TT_TOPOLOGY_RING,
		   "topology == ttnn::ccl::Topology::Ring",
		   "strided_reduce_scatter_async currently only supports Ring topology");
	attrs[DIM] = ttnn_v_int(dim);
	attrs[MEMORY] = tt_value_memory_or_like(call, in);
	attrs[BETWEEN] = *tt_call_arg(call, "intermediate_memory_config");
	attrs[SIGNALS] = *tt_call_arg(call, "multi_device_global_semaphore");
	attrs[PERSISTENT] = ttnn_v_bool(tt_value_given(buffers));
	attrs[SUB_DEVICE_OF] = *tt_call_arg(call, "subdevice_id");
	tt_attrs_bind(call, &scatter_schema, attrs);
	TT_TRY(tt_call_programs(all, &count, call,
				&(struct tt_program_args){.prog = &strided_scatter,
							  TT_INPUTS(in, given[0], given[1]),
							  .outputs = given,
							  .output_count = 2,
							  .attrs = attrs,
							  .in_place = given[0] || given[1]}));
	tt_call_return(call, all[1]);
	tt_call_drop(call, all[0]);
	return TTNN_OK;
}

/* ---- rows ----------------------------------------------------------------------------------------------------------------- */

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.strided_reduce_scatter_async",
	 .doc = "The tensors of all devices of a ring added up, and each device gets its part.",
	 .sigs = {"input_tensor: Tensor, persistent_output_buffers: Tensors? = None, dim: int, "
		  "multi_device_global_semaphore: any, *, mm_block_ht: size, mm_block_wt: size, "
		  "barrier_semaphore: any? = None, num_links: size = 1, "
		  "memory_config: MemoryConfig? = None, "
		  "intermediate_memory_config: MemoryConfig? = None, topology: Topology = Ring, "
		  "subdevice_id: SubDeviceId? = None, cluster_axis: size? = None, "
		  "num_workers_per_link: size? = None, num_buffers_per_channel: size? = None, "
		  "mm_cores_y: size? = None, mm_N_full_block_wt: size? = None, "
		  "chunk_width_in_mm_blocks: size? = None"},
	 .expand = scatter_expand,
	 .golden = tt_golden_reduce_scatter,
	 .pcc = 0.999,
	 TT_PROGRAMS(&strided_scatter)},
};

const struct tt_op_family tt_family_strided_scatter = {"collective_strided", ops, TT_COUNT(ops)};
