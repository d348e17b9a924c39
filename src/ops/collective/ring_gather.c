/*
 * ring_gather.c: ring_attention_all_gather_async, which gives each device of a row or column what the others have of one
 * tensor or of several, behind one another; its own part stays out, since attention reads that where it is.
 *
 * Models RingAttentionAllGatherAsyncDeviceOperation of ttnn 0.81: specs, refusals, and the buffers of its workers, which are
 * those beside ring attention. Not modelled: which worker sends what.
 */
#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "golden/golden_collective.h"
#include "ops/collective/fused.h"
#include "ops/op_enums.h"
#include "ops/usual.h"

#define ATTRS(X)                                                                                   \
	X(DIM, "dim")                                                                              \
	X(LINKS, "num_links")                                                                      \
	X(SIZE, "ring_size")                                                                       \
	X(MEMORY, "output_mem_config")                                                             \
	X(TOPOLOGY, "topology")                                                                    \
	X(SUB_DEVICE, "sub_device_id")                                                             \
	X(AXIS, "cluster_axis")                                                                    \
	X(SIGNALS, "semaphore", .unkeyed = true)                                                   \
	X(COUNT, "inputs", .unprinted = true)                                                      \
	X(GIVEN, "outputs", .unprinted = true)
TT_ATTRS(schema, "<RingAttentionAllGatherAsyncParams>", ATTRS);

#define MOST 16u /* tensors */

/* The inputs come first, then the outputs that were given. */
static const struct ttnn_tensor_spec *given_spec(const struct tt_launch *launch, uint32_t which)
{
	return &launch->inputs[tt_attr_u32(launch, COUNT) + which]->spec;
}

static tt_status ring_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *first = &launch->inputs[0]->spec;
	uint32_t dim = tt_attr_u32(launch, DIM);

	launch->output_count = tt_attr_u32(launch, tt_attr_u32(launch, GIVEN) ? GIVEN : COUNT);
	for (uint32_t i = 0; i < launch->output_count; i++) {
		struct ttnn_shape shape = launch->inputs[i]->spec.shape;

		if (tt_infer_given(launch, i))
			continue;
		TT_TRY(tt_need_dim(&shape, dim));
		TT_REQUIRE((uint64_t)shape.dim[dim] * tt_attr_u32(launch, SIZE) <= UINT32_MAX,
			   "extent <= UINT32_MAX", "there is too much to be gathered");
		shape.dim[dim] *= tt_attr_u32(launch, SIZE);
		TT_TRY(tt_spec_simple(&launch->specs[i], &shape, first->dtype, first->layout,
				      launch->attrs[MEMORY].memory));
	}
	return TTNN_OK;
}

/* ---- refusals -------------------------------------------------------------------------------------------------- */

static tt_status check_inputs(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *first = &launch->inputs[0]->spec;

	for (uint32_t i = 0; i < tt_attr_u32(launch, COUNT); i++) {
		const struct ttnn_tensor_spec *in = &launch->inputs[i]->spec;

		TT_REQUIRE(in->layout == TTNN_TILE, "input_tensor.layout() == Layout::TILE",
			   "Input tensor %u must be tiled", i);
		TT_REQUIRE(in->dtype == first->dtype, "input_tensor.dtype() == dtype",
			   "All input tensors must have the same dtype. Input tensor %u has dtype "
			   "DataType::%s but expected DataType::%s",
			   i, ttnn_dtype_name(in->dtype, TTNN_DIALECT_TT_METAL),
			   ttnn_dtype_name(first->dtype, TTNN_DIALECT_TT_METAL));
		TT_REQUIRE(ttnn_memory_config_equal(&in->memory, &first->memory),
			   "input_tensor.memory_config() == memory_config",
			   "All input tensors must have the same memory config. Input tensor %u "
			   "has different memory config",
			   i);
	}
	TT_REQUIRE(tt_attr_u32(launch, LINKS) > 0, "operation_attributes.num_links > 0",
		   "Error, num_links should be more than 0 but has 0");
	TT_REQUIRE(first->memory.layout == TTNN_INTERLEAVED,
		   "memory_config.memory_layout() == TensorMemoryLayout::INTERLEAVED",
		   "Unsupported memory layout TensorMemoryLayout::%s.",
		   tt_enum_name(&tt_enum_memory_layout, first->memory.layout));
	return TTNN_OK;
}

/* A given tensor may have room for more than there is. */
static tt_status check_extents(const struct tt_launch *launch, uint32_t i)
{
	const struct ttnn_shape *in = &launch->inputs[i]->spec.shape,
				*out = &given_spec(launch, i)->shape;
	uint32_t dim = tt_attr_u32(launch, DIM), size = tt_attr_u32(launch, SIZE);

	TT_NEED(in->rank == out->rank && dim < in->rank,
		"Output tensor %u has another rank than its input", i);
	for (uint32_t d = 0; d < out->rank; d++) {
		uint64_t want = (uint64_t)in->dim[d] * (d == dim ? size : 1);

		TT_REQUIRE(d != dim || out->dim[d] >= want,
			   "output_shape[d] >= expected_output_shape[d]",
			   "Output tensor %u gather dim %u too small: got %u, expected >= %u (= "
			   "input_dim * ring_size %u)",
			   i, d, out->dim[d], (uint32_t)want, size);
		TT_REQUIRE(d == dim || out->dim[d] == want,
			   "output_shape[d] == expected_output_shape[d]",
			   "Output tensor %u non-gather dim %u mismatch: got %u, expected %u", i, d,
			   out->dim[d], (uint32_t)want);
	}
	return TTNN_OK;
}

static tt_status check_outputs(const struct tt_launch *launch)
{
	uint32_t given = tt_attr_u32(launch, GIVEN), count = tt_attr_u32(launch, COUNT);

	if (!given)
		return TTNN_OK;
	TT_REQUIRE(given == count, "output_tensors.size() == input_tensors.size()",
		   "Number of output tensors (%u) must match number of input tensors (%u)", given,
		   count);
	for (uint32_t i = 0; i < given; i++) {
		const struct ttnn_tensor_spec *out = given_spec(launch, i);

		TT_REQUIRE(out->layout == TTNN_TILE, "output_tensor.layout() == Layout::TILE",
			   "Output tensor %u must be tiled", i);
		TT_REQUIRE(out->dtype == launch->inputs[0]->spec.dtype,
			   "output_tensor.dtype() == dtype",
			   "Output tensor %u dtype should match input tensors but has DataType::%s",
			   i, ttnn_dtype_name(out->dtype, TTNN_DIALECT_TT_METAL));
		TT_REQUIRE(
			ttnn_memory_config_equal(&out->memory, launch->attrs[MEMORY].memory),
			"output_tensor.memory_config() == operation_attributes.output_mem_config",
			"Output tensor %u memory config should match output_mem_config", i);
		TT_TRY(check_extents(launch, i));
	}
	return TTNN_OK;
}

static tt_status ring_validate(struct tt_launch *launch)
{
	uint64_t cores = ttnn_core_set_cores(launch->grid);
	uint64_t want = 2ull * tt_attr_u32(launch, LINKS);

	TT_TRY(check_inputs(launch));
	TT_TRY(check_outputs(launch));
	TT_REQUIRE(want <= cores, "sender_reserved_cores.size() == num_reserved_ccl_cores",
		   "Ring attention requested %llu CCL cores but only %llu are available in the "
		   "selected worker region",
		   (unsigned long long)want, (unsigned long long)cores);
	return tt_check_semaphores(&launch->attrs[SIGNALS], 1);
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

static tt_status ring_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	return tt_ring_sender_rows(
		plan, launch,
		&(struct tt_ring_senders){.links = tt_attr_u32(launch, LINKS),
					  .page = tt_tensor_tile_bytes(launch->inputs[0])});
}

/* What the other chips of a group have, to its own chip. */
static tt_status gather_on(struct tt_launch *launch, uint32_t which, const struct tt_group *group)
{
	struct tt_share part = tt_share_whole(launch, tt_attr_u32(launch, DIM));
	bool given = tt_attr_u32(launch, GIVEN) > 0;
	struct tt_launch one = *launch;
	struct tt_tensor *out;
	tt_status status = TTNN_OK;

	one.inputs = &launch->inputs[which];
	part.extent = one.inputs[0]->spec.shape.dim[part.dim];
	TT_TRY(tt_tensor_resident(&out, launch->outputs[which], group->chips[group->own],
				  given ? TT_BUFFER_UPDATE : TT_BUFFER_OVERWRITE));
	if (!given)
		status = tt_backend_get()->fill(out, 0, TT_FILL_ALL);
	for (uint32_t i = 0; i < group->count && status == TTNN_OK; i++) {
		part.to = (int64_t)i * part.extent;
		if (i != group->own)
			status = tt_share_receive(out, &one, group->chips[i], &part);
	}
	ttnn_tensor_unref(out);
	return status;
}

static tt_status ring_kernel(struct tt_launch *launch)
{
	struct tt_group group;

	for (uint32_t chip = 0; chip < launch->device->rows * launch->device->cols; chip++) {
		tt_group_find(&group, launch->device, tt_group_axis(&launch->attrs[AXIS]), chip);
		for (uint32_t i = 0; i < launch->output_count; i++)
			TT_TRY(gather_on(launch, i, &group));
	}
	return TTNN_OK;
}

static const struct tt_prog program = {
	.device_op = "RingAttentionAllGatherAsyncDeviceOperation",
	.prim = "ttnn::prim::ring_attention_all_gather_async",
	.attrs = &schema,
	.infer = ring_infer,
	.validate = ring_validate,
	TT_KERNEL(ring_kernel),
	TT_FACTORY("ttnn::experimental::prim::"
		   "RingAttentionAllGatherAsyncMultiCoreWithWorkersProgramFactory",
		   ring_memory),
	.per_chip = true,
	.together = true,
	.drops_forward = true,
};

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static tt_status bind(struct ttnn_value *attrs, struct tt_call *call, struct tt_tensor *in)
{
	const struct ttnn_value *memory = tt_call_arg(call, "memory_config");
	int64_t dim = tt_call_int(call, "dim", 0), rank = in->spec.shape.rank;
	int64_t axis = tt_group_axis(tt_call_arg(call, "cluster_axis"));
	struct tt_device *device = tt_tensor_device(in);

	dim += dim < 0 ? rank : 0;
	TT_REQUIRE(dim >= -rank && dim <= rank - 1, "gather_dim >= -rank && gather_dim <= rank - 1",
		   "Dimension input should be in between -%d and %d, but has %d", (int)rank,
		   (int)rank - 1, (int)tt_call_int(call, "dim", 0));
	attrs[DIM] = ttnn_v_int(dim < 0 ? dim + rank : dim);
	attrs[LINKS] = ttnn_v_int(tt_call_int(call, "num_links", 1));
	attrs[SIZE] = ttnn_v_int(tt_group_size(device, axis));
	attrs[MEMORY] = tt_value_given(memory) ? *memory : ttnn_v_memory(&in->spec.memory);
	attrs[TOPOLOGY] = tt_group_topology(device, tt_call_arg(call, "topology"), axis);
	attrs[SUB_DEVICE] = *tt_call_arg(call, "subdevice_id");
	attrs[AXIS] = *tt_call_arg(call, "cluster_axis");
	attrs[SIGNALS] = *tt_call_arg(call, "multi_device_global_semaphore");
	return TTNN_OK;
}

static tt_status ring_expand(struct tt_call *call)
{
	const struct ttnn_value *in = tt_call_arg(call, "input_tensor");
	const struct ttnn_value *out = tt_call_arg(call, "persistent_output_buffer");
	struct tt_tensor *tensors[2 * MOST] = {NULL};
	struct ttnn_value attrs[schema_count] = {0};
	const ttnn_core_set *cores;

	if (!in->count)
		return tt_fail(TTNN_RANGE, "vector::_M_range_check: __n (which is 0) >= "
					   "this->size() (which is 0)");
	TT_NEED(in->count <= MOST && out->count <= MOST, "at most %u tensors are gathered at once",
		MOST);
	for (uint32_t i = 0; i < in->count; i++) {
		tensors[i] = tt_value_item_tensor(in, i);
		TT_TRY(tt_async_on_mesh(call, tensors[i]));
	}
	for (uint32_t i = 0; i < out->count; i++)
		tensors[in->count + i] = tt_value_item_tensor(out, i);
	TT_TRY(bind(attrs, call, tensors[0]));
	attrs[COUNT] = ttnn_v_int(in->count);
	attrs[GIVEN] = ttnn_v_int(out->count);
	TT_TRY(tt_group_cores(&cores, call, tt_tensor_device(tensors[0])));
	return TT_LAUNCH_RETURN(call, &program, .inputs = tensors,
				.input_count = in->count + out->count,
				.outputs = &tensors[in->count], .output_count = out->count,
				.attrs = attrs, .grid = cores, .in_place = out->count > 0);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.ring_attention_all_gather_async",
	 .doc = "What the other devices of a row or column have, behind one another.",
	 .sigs = {"input_tensor: Tensors, persistent_output_buffer: Tensors, dim: int, *, "
		  "multi_device_global_semaphore: any, num_links: size? = None, "
		  "cluster_axis: size, mesh_device: Device, memory_config: MemoryConfig? = None, "
		  "topology: Topology, subdevice_id: SubDeviceId? = None"},
	 .expand = ring_expand,
	 .golden = tt_golden_ring_gather,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_ring_gather = {"llama_matmul", ops, TT_COUNT(ops)};
