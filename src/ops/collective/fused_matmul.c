/*
 * fused_matmul.c: a collective and a matrix product in one program: all_gather_matmul_async, which multiplies what it
 * gathers, and matmul_reduce_scatter_async, which adds up products and gives each chip its part.
 *
 * Models AllGatherMatmulAsyncDeviceOperation and MatmulReduceScatterAsyncDeviceOperation of ttnn 0.81: each is made of a
 * program of async_program.c and one of ops/matmul, of which it has the specs, refusals and buffers. The first is
 * refused along a line; the second goes round a ring whatever was asked for. Not modelled: signals between the two,
 * and a result that is gathered in rows.
 */
#include <inttypes.h>
#include <string.h>

#include "device/device.h"
#include "golden/golden_fused.h"
#include "ops/activation.h"
#include "ops/collective/fused_matmul.h"
#include "ops/compute.h"
#include "ops/objects.h"
#include "ops/op_enums.h"
#include "ops/usual.h"

#define GATHER_ATTRS(X)                                                                            \
	X(COLLECTIVE, "all_gather_async_attributes")                                               \
	X(TENSORS, "all_gather_async_tensor_args")                                                 \
	X(PRODUCT, "matmul_struct")                                                                \
	X(OFFSET, "all_gather_core_grid_offset", .text = TT_TEXT_FIXED, .fixed = "<xy_pair>")
TT_ATTRS(gather_matmul_schema, "AllGatherMatmulAsyncParams", GATHER_ATTRS);

/* The same rows, of which nothing is printed. */
static const struct tt_schema matmul_scatter_schema = {"<MatmulReduceScatterAsyncParams>",
						       gather_matmul_schema_fields,
						       gather_matmul_schema_count, false};

static const struct tt_field tensor_fields[] = {{.name = "input_tensor"},
						{.name = "persistent_output_buffer"}};
static const struct tt_schema tensor_schema = {"AllGatherAsyncInputs", tensor_fields, 2, false};

enum { IN, WEIGHT, BIAS, GIVEN_BETWEEN, INPUTS };

/* ---- the two programs in one ----------------------------------------------------------------------------------- */

/* The plan of the product, whose first operand is what was really gathered. */
static const struct tt_matmul_plan *plan_of(const struct tt_launch *launch)
{
	return launch->work ? launch->work : launch->extra;
}

/* The launch of one of them, within that of both: of a collective, with this input and these attributes. */
static struct tt_launch collective_part(const struct tt_launch *launch, const struct tt_prog *prog,
					struct tt_tensor *const *input)
{
	struct tt_launch part = *launch;

	part.prog = prog;
	part.attrs = launch->attrs[COLLECTIVE].items;
	part.inputs = input;
	part.input_count = 1;
	return part;
}

/* What depends on neither semaphores nor tensors on the way. */
static void fused_key(struct tt_key *key, const struct tt_launch *launch)
{
	const struct ttnn_value *items = launch->attrs[COLLECTIVE].items;

	for (size_t i = 0; i < TT_ASYNC_COUNT; i++)
		if (i != TT_ASYNC_SEMAPHORES && i != TT_ASYNC_BARRIER)
			tt_key_values(key, &items[i], 1);
	tt_key_number(key, tt_value_given(&items[TT_ASYNC_BARRIER]));
	tt_key_values(key, &launch->attrs[PRODUCT], 2);
	for (size_t i = 0; i < launch->input_count; i++) {
		tt_key_number(key, launch->inputs[i] != NULL);
		if (launch->inputs[i])
			tt_key_spec(key, &launch->inputs[i]->spec);
	}
}

/* Every chip's product of what it has of `a` and its weights. */
static tt_status multiply_all(const struct tt_launch *launch, struct tt_tensor *a,
			      struct tt_tensor *result)
{
	struct tt_launch part = *launch;

	part.prog = &tt_prog_matmul;
	part.inputs = (struct tt_tensor *const[]){a, launch->inputs[WEIGHT], launch->inputs[BIAS]};
	part.input_count = 3;
	part.outputs[0] = result;
	part.output_count = 1;
	part.extra = plan_of(launch);
	return tt_part_run(&part);
}

/* The buffers of the product, whose result is this output. */
static tt_status product_memory(struct tt_plan *plan, const struct tt_launch *launch,
				struct tt_tensor *result)
{
	struct tt_launch part = *launch;

	part.outputs[0] = result;
	return tt_matmul_memory(plan, &part);
}

tt_status tt_fused_keep_plan(struct tt_matmul_plan **out, struct tt_launch *launch)
{
	*out = tt_arena_alloc(launch->arena, sizeof(**out));
	TT_NEED_MEMORY(*out);
	**out = *(const struct tt_matmul_plan *)launch->extra;
	launch->work = *out;
	return TTNN_OK;
}

/* ---- refusals ----------------------------------------------------------------------------------------------------- */

/* Blocks of the depth must be whole. It is read from the operands as they are, also where one is turned. */
static tt_status check_depth(const struct tt_matmul_plan *plan)
{
	const struct tt_matmul *matmul = &plan->matmul;
	uint32_t a = tt_shape_last(&matmul->a->spec.padded, 1);
	uint32_t b = tt_shape_last(&matmul->b->spec.padded, 2);

	TT_REQUIRE(plan->config.kind == TT_MATMUL_1D || a == b,
		   "a_shape_padded[-1] == b_shape_padded[-2]",
		   "Dimension K (A.shape[-1] = %u, B.shape[-2] = %u) must match for matmul", a, b);
	TT_REQUIRE(a == b, "a_shape_padded[-1] == b_shape_padded[-2]",
		   "Dimension K (A.shape[-1] and B.shape[-2]) must match for A and B in bmm_op");
	TT_REQUIRE(plan->config.k && matmul->k % plan->config.k == 0, "Kt % in0_block_w == 0",
		   "Kt (%u) must be divisible by in0_block_w (%u)", matmul->k, plan->config.k);
	return TTNN_OK;
}

static bool has_config(const struct tt_launch *launch)
{
	return tt_value_given(&launch->attrs[PRODUCT].items[0]);
}

/* ---- gathering, then multiplying ------------------------------------------------------------------------------------ */

static tt_status gather_matmul_infer(struct tt_launch *launch)
{
	struct tt_launch part = collective_part(launch, &tt_prog_gather_async, launch->inputs);

	launch->output_count = 2;
	if (!tt_infer_given(launch, 0))
		TT_TRY(tt_prog_gather_async.infer(&part));
	return tt_matmul_result(&launch->specs[1], launch->extra);
}

/* Parts lie behind each other in shards, one for each chip. */
static tt_status check_gathered(const struct tt_launch *launch, const struct tt_tensor *given)
{
	const struct ttnn_memory_config *memory = &given->spec.memory;
	struct ttnn_shape shape = launch->inputs[IN]->spec.shape;

	TT_REQUIRE(!memory->has_shard || ttnn_core_set_cores(memory->shard.grid) ==
						 tt_group_size(launch->device, -1),
		   "operation_attributes.all_gather_async_attributes.ring_size == "
		   "num_all_gather_output_shards",
		   "AllGatherMatmulAsync requires number of tensor slices to equal the number of "
		   "output shards of the all_gather.");
	shape.dim[3] *= tt_group_size(launch->device, -1);
	return tt_check_given(launch, 0, &shape);
}

static tt_status gather_matmul_validate(struct tt_launch *launch)
{
	const struct tt_matmul_plan *plan = launch->extra;
	struct tt_launch part = collective_part(launch, &tt_prog_gather_async, launch->inputs);
	const struct ttnn_shape *in = &launch->inputs[IN]->spec.padded;
	struct tt_tensor *given = launch->inputs[GIVEN_BETWEEN];

	TT_REQUIRE(in->rank == 4 && launch->inputs[WEIGHT]->spec.shape.rank == 4,
		   "input_tensor.logical_shape().rank() == 4 && "
		   "weight_tensor.logical_shape().rank() == 4",
		   "AllGatherMatmulAsync requires input tensors to be of rank 4");
	if (given) {
		TT_TRY(tt_prog_gather_async.validate(&part));
		TT_TRY(tt_matmul_refused(plan));
		TT_TRY(tt_matmul_check(&plan->matmul, &plan->config, &launch->specs[1]));
	}
	TT_REQUIRE(part.attrs[TT_ASYNC_DIM].integer == 3,
		   "operation_attributes.all_gather_async_attributes.dim == 3",
		   "AllGatherMatmulAsync requires dim=3 for the AllGather operations.");
	TT_REQUIRE(in->dim[0] == 1 && in->dim[1] == 1,
		   "input_tensor.padded_shape()[0] == 1 && input_tensor.padded_shape()[1] == 1",
		   "AllGatherMatmulAsync requires input tensor to have batch size of 1.");
	TT_NEED(has_config(launch), "bad optional access");
	TT_REQUIRE(plan->config.kind == TT_MATMUL_1D || plan->config.kind == TT_MATMUL_2D,
		   "tt::exception",
		   "Unsupported MatmulProgramConfig type for AllGatherMatmulAsync. Needs to be 1D "
		   "or 2D Multicast.");
	if (given)
		TT_TRY(check_gathered(launch, given));
	TT_TRY(check_depth(plan));
	TT_TRY(tt_matmul_check(&plan->matmul, &plan->config, &launch->specs[1]));
	TT_REQUIRE(tt_group_is_ring(&part), "!((topology == ccl::Topology::Linear) && fuse_op)",
		   "linear is not support when using fused for all-gather");
	return tt_check_semaphores(&part.attrs[TT_ASYNC_SEMAPHORES], 1);
}

static tt_status gather_matmul_choose(uint32_t *out, struct tt_launch *launch)
{
	struct tt_matmul_plan *plan;

	*out = 0;
	TT_TRY(tt_fused_keep_plan(&plan, launch));
	plan->matmul.a = launch->outputs[0];
	return TTNN_OK;
}

static tt_status gather_matmul_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_launch part = collective_part(launch, &tt_prog_gather_async, launch->inputs);

	TT_TRY(product_memory(plan, launch, launch->outputs[1]));
	return tt_prog_gather_async.factories[0].memory(plan, &part);
}

static tt_status gather_matmul_kernel(struct tt_launch *launch)
{
	struct tt_launch part = collective_part(launch, &tt_prog_gather_async, launch->inputs);

	TT_TRY(tt_prog_gather_async.kernel(&part));
	return multiply_all(launch, launch->outputs[0], launch->outputs[1]);
}

/* ---- multiplying, then adding up ------------------------------------------------------------------------------------ */

/* The second output is given: each chip's part of the sum. */
static tt_status matmul_scatter_infer(struct tt_launch *launch)
{
	launch->output_count = 2;
	tt_infer_given(launch, 1);
	return tt_matmul_result(&launch->specs[0], launch->extra);
}

/* Shards cannot signal; the ring is one line of chips; several batches need room for all of them on the way. */
static tt_status check_ring(const struct tt_launch *launch)
{
	const struct tt_device *device = launch->device;
	const struct ttnn_tensor_spec *mm = &launch->specs[0];
	const struct tt_tensor *between = launch->inputs[GIVEN_BETWEEN];

	TT_REQUIRE(launch->inputs[IN]->spec.memory.layout != TTNN_BLOCK_SHARDED,
		   "initialized_fused_op && initialized_reduce_scatter",
		   "MatmulFusedOpSignaler not initialized fully.");
	TT_REQUIRE(device->rows == 1 || device->cols == 1, "forwarding_direction.has_value()",
		   "Could not find any forwarding direction from src (M0, D%u) to dst (M0, D%u)",
		   device->cols - 1, device->cols);
	TT_REQUIRE(mm->shape.dim[0] == 1 || between->spec.pages >= mm->pages,
		   "intermediate_tensor.buffer()->num_pages() >= input_tensor_num_pages",
		   "reduce_scatter_minimal_async: the tiled intermediate must hold the whole input "
		   "(%" PRIu64 " pages) so that each of the %u batches can stage into its own "
		   "region; got %" PRIu64 " pages. Allocate it with the input tensor's shape.",
		   (uint64_t)mm->pages, mm->shape.dim[0], (uint64_t)between->spec.pages);
	return TTNN_OK;
}

static tt_status matmul_scatter_validate(struct tt_launch *launch)
{
	const struct tt_matmul_plan *plan = launch->extra;
	const struct ttnn_value *items = launch->attrs[COLLECTIVE].items;
	struct ttnn_shape shape = launch->specs[0].shape;
	uint32_t size = (uint32_t)items[TT_ASYNC_SIZE].integer;

	TT_TRY(tt_matmul_refused(plan));
	TT_TRY(tt_matmul_check(&plan->matmul, &plan->config, &launch->specs[0]));
	TT_REQUIRE(items[TT_ASYNC_DIM].integer == 3, "args.reduce_scatter_params.dim == 3",
		   "MatmulReduceScatterAsync requires dim=3 for the ReduceScatter operations.");
	TT_REQUIRE(!has_config(launch) || plan->config.kind == TT_MATMUL_2D, "tt::exception",
		   "Unsupported MatmulProgramConfig type for MatmulReduceScatterAsync. Needs to be "
		   "2D Multicast.");
	TT_NEED(has_config(launch), "bad optional access");
	TT_REQUIRE(shape.rank == 4 && shape.dim[3] % size == 0, "input_shape[dim] % ring_size == 0",
		   "Dimension 3 must be divisible by ring_size");
	shape.dim[3] /= size;
	TT_TRY(tt_check_given(launch, 1, &shape));
	TT_TRY(check_depth(plan));
	TT_TRY(tt_check_semaphores(&items[TT_ASYNC_SEMAPHORES], 2));
	return check_ring(launch);
}

static tt_status matmul_scatter_choose(uint32_t *out, struct tt_launch *launch)
{
	struct tt_matmul_plan *plan;

	*out = 0;
	return tt_fused_keep_plan(&plan, launch);
}

/* Round a ring, as if that had been asked for. */
static tt_status matmul_scatter_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_launch part =
		collective_part(launch, &tt_prog_scatter_async, &launch->outputs[0]);
	struct ttnn_value attrs[TT_ASYNC_COUNT];

	for (size_t i = 0; i < TT_ASYNC_COUNT; i++)
		attrs[i] = part.attrs[i];
	attrs[TT_ASYNC_TOPOLOGY] = tt_value_enum(&tt_enum_topology, TT_TOPOLOGY_RING);
	part.attrs = attrs;
	TT_TRY(tt_prog_scatter_async.factories[0].memory(plan, &part));
	return product_memory(plan, launch, launch->outputs[0]);
}

static tt_status matmul_scatter_kernel(struct tt_launch *launch)
{
	struct tt_launch part =
		collective_part(launch, &tt_prog_scatter_async, &launch->outputs[0]);

	TT_TRY(multiply_all(launch, launch->inputs[IN], launch->outputs[0]));
	return tt_prog_scatter_async.kernel(&part);
}

/* ---- programs --------------------------------------------------------------------------------------------------------- */

#define PROGRAM(name, device_, prim_, factory_)                                                    \
	.device_op = device_, .prim = "ttnn::prim::" prim_, .attrs = &name##_schema,               \
	.infer = name##_infer, .validate = name##_validate, .choose = name##_choose,               \
	.key = fused_key, TT_KERNEL(name##_kernel),                                                \
	TT_FACTORY("ttnn::experimental::prim::" factory_, name##_memory), .cost = tt_cost_product, \
	.per_chip = true, .together = true, .drops_forward = true
static const struct tt_prog gather_matmul = {
	PROGRAM(gather_matmul, "AllGatherMatmulAsyncDeviceOperation", "all_gather_matmul_async",
		"AllGatherMatmulAsyncMeshWorkloadFactory")};
static const struct tt_prog matmul_scatter = {
	PROGRAM(matmul_scatter, "MatmulReduceScatterAsyncDeviceOperation",
		"matmul_reduce_scatter_async", "MatmulReduceScatterAsyncMeshWorkloadFactory"),
	.mute = true};

/* ---- calls --------------------------------------------------------------------------------------------------------------- */

tt_status tt_fused_product(struct tt_matmul_plan *out, struct ttnn_value *attrs,
			   struct tt_call *call, const struct tt_fused_operands *of)
{
	const struct ttnn_value *config = tt_call_arg(call, "program_config"),
				*grid = tt_call_arg(call, "core_grid"),
				*tile = tt_call_arg(call, "output_tile"), *ring;
	const struct ttnn_memory_config *memory = tt_call_memory(call, of->memory);
	enum ttnn_dtype dtype = tt_call_dtype(call, "dtype", of->in->spec.dtype);
	struct tt_matmul_config read;
	struct tt_matmul matmul = {.call = call,
				   .a = of->a,
				   .b = of->b,
				   .also = of->also,
				   .bias = tt_call_tensor(call, "bias"),
				   .transpose_a = tt_call_bool(call, "transpose_a", false),
				   .transpose_b = tt_call_bool(call, "transpose_b", false),
				   .memory = memory ? *memory : of->in->spec.memory,
				   .has_grid = grid->kind == TTNN_VALUE_CORE,
				   .global_cb = *tt_call_arg(call, "global_cb"),
				   .sub_device_id = ttnn_v_none()};

	TT_NEED(tt_tensor_device(of->b) && of->b->spec.shape.rank > 1 && of->a->spec.shape.rank > 1,
		"%s: operands must be matrices on a device", call->entry->op->name);
	TT_TRY(tt_global_cb_read(&ring, &matmul.global_cb));
	if (matmul.has_grid)
		matmul.user_grid = grid->core;
	matmul.batched = tt_matmul_batch(&of->b->spec.shape) > 1;
	TT_TRY(tt_activation_of(&matmul.activation, call->arena, tt_call_arg(call, "activation")));
	if (tt_value_given(config))
		TT_TRY(tt_matmul_config_read(&read, config));
	TT_TRY(tt_matmul_complete(&matmul, tt_value_given(config) ? &read : NULL, &dtype,
				  tile->kind == TTNN_VALUE_TILE ? tile->tile : NULL,
				  tt_call_arg(call, "compute_kernel_config")));
	return tt_matmul_plan_make(out, attrs, &matmul, tt_value_given(config) ? &read : NULL);
}

/* The same of what the two operations call their operands; `a` is what is multiplied in the end. */
static tt_status plan_product(struct tt_matmul_plan *out, struct ttnn_value *attrs,
			      struct tt_call *call, struct tt_tensor *a)
{
	return tt_fused_product(
		out, attrs, call,
		&(struct tt_fused_operands){.in = tt_call_tensor(call, "input_tensor"),
					    .a = a,
					    .b = tt_call_tensor(call, "weight_tensor"),
					    .memory = "memory_config_mm"});
}

/* Attributes of the collective, as an object. Where its senders begin is its own and the whole program's. */
static tt_status bind_collective(struct ttnn_value **out, struct ttnn_value *attrs,
				 struct tt_call *call, const struct tt_prog *prog,
				 const struct tt_async_request *request)
{
	const char *name = prog == &tt_prog_gather_async ? "all_gather_core_grid_offset"
							 : "reduce_scatter_core_grid_offset";
	struct ttnn_value *fields = tt_arena_alloc(call->arena, TT_ASYNC_COUNT * sizeof(*fields));

	TT_NEED_MEMORY(fields);
	memset(fields, 0, TT_ASYNC_COUNT * sizeof(*fields));
	TT_TRY(tt_async_bind(fields, call, request));
	TT_TRY(tt_part_offset(&attrs[OFFSET], call, name));
	fields[TT_ASYNC_OFFSET] = attrs[OFFSET];
	attrs[COLLECTIVE] = tt_value_object(prog->attrs, fields);
	*out = fields;
	return TTNN_OK;
}

/* A tensor of what will be gathered stands for it while the product is planned, as upstream makes one. */
static tt_status stand_in(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			  const struct tt_async_request *request)
{
	struct ttnn_shape shape = in->spec.shape;
	struct ttnn_tensor_spec spec;
	int64_t dim = request->dim;

	TT_REQUIRE(dim >= 0 && dim < shape.rank, "gather_dim >= -rank && gather_dim <= rank - 1",
		   "Dimension input should be in between -%u and %d, but has %lld", shape.rank,
		   (int)shape.rank - 1, (long long)dim);
	shape.dim[dim] *= tt_group_size(tt_tensor_device(in), -1);
	TT_TRY(tt_spec_simple(&spec, &shape, in->spec.dtype, in->spec.layout, request->memory));
	TT_TRY(tt_call_create(out, call, tt_tensor_device(in), &spec));
	tt_call_own(call, *out);
	return TTNN_OK;
}

static tt_status gather_matmul_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"),
			 *given = tt_call_tensor(call, "persistent_output_buffer"), *a = given;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config_ag");
	struct tt_async_request request = {
		.in = in,
		.dim = tt_call_int(call, "dim", 0),
		.memory = memory ? memory : &in->spec.memory,
		.semaphores = tt_call_arg(call, "multi_device_global_semaphore"),
		.barrier = tt_call_arg(call, "barrier_semaphore")};
	struct ttnn_value attrs[gather_matmul_schema_count] = {0};
	struct ttnn_value tensors[2] = {ttnn_v_tensor(in),
					given ? ttnn_v_tensor(given) : ttnn_v_none()};
	struct ttnn_value *fields;
	struct tt_matmul_plan plan;

	TT_TRY(tt_async_on_mesh(call, in));
	if (!given)
		TT_TRY(stand_in(&a, call, in, &request));
	TT_TRY(bind_collective(&fields, attrs, call, &tt_prog_gather_async, &request));
	attrs[TENSORS] = tt_value_object(&tensor_schema, tensors);
	TT_TRY(plan_product(&plan, &attrs[PRODUCT], call, a));
	fields[TT_ASYNC_WORKERS] = ttnn_v_int(tt_call_int(call, "num_workers_per_link", 1));
	TT_TRY(TT_LAUNCH_RETURN(
		call, &gather_matmul, TT_INPUTS(in, plan.matmul.b, plan.matmul.bias, given),
		TT_OUTPUTS(given), .attrs = attrs, .extra = &plan, .in_place = given != NULL));
	if (!given)
		tt_call_drop(call, a);
	return TTNN_OK;
}

static tt_status matmul_scatter_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"),
			 *between = tt_call_tensor(call, "persistent_intermediate_buffer"),
			 *given = tt_call_tensor(call, "persistent_output_buffer");
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config_rs");
	struct tt_async_request request = {
		.in = in,
		.dim = tt_call_int(call, "dim", 0),
		.memory = memory ? memory : &in->spec.memory,
		.semaphores = tt_call_arg(call, "multi_device_global_semaphore"),
		.barrier = tt_call_arg(call, "barrier_semaphore")};
	static const struct tt_compute_usual sums = {.fidelity = TT_HIFI4, .fp32 = true};
	struct ttnn_value attrs[gather_matmul_schema_count] = {0}, none = ttnn_v_none(), *fields;
	struct tt_matmul_plan plan;

	TT_TRY(tt_async_on_mesh(call, in));
	TT_TRY(bind_collective(&fields, attrs, call, &tt_prog_scatter_async, &request));
	TT_TRY(plan_product(&plan, &attrs[PRODUCT], call, in));
	plan.fused = TT_MATMUL_BEFORE;
	fields[TT_ASYNC_COMPUTE] =
		plan.matmul.dtype == TTNN_FLOAT32 ? tt_compute_config(call, &none, &sums) : none;
	return TT_LAUNCH_RETURN(call, &matmul_scatter,
				TT_INPUTS(in, plan.matmul.b, plan.matmul.bias, between, given),
				TT_OUTPUTS(NULL, given), .attrs = attrs, .extra = &plan,
				.in_place = true);
}

/* ---- rows ------------------------------------------------------------------------------------------------------------------ */

#define PRODUCT_ARGS                                                                               \
	"subdevice_id: SubDeviceId? = None, memory_config_mm: MemoryConfig? = None, "              \
	"transpose_a: bool = False, transpose_b: bool = False, dtype: DataType? = None, "          \
	"program_config: MatmulConfig? = None, activation: str? = None, "                          \
	"compute_kernel_config: ComputeConfig? = None, core_grid: CoreGrid? = None"

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.all_gather_matmul_async",
	 .doc = "The parts of all devices, one behind the other, and their product with a matrix.",
	 .sigs = {"input_tensor: Tensor, weight_tensor: Tensor, "
		  "persistent_output_buffer: Tensor? = None, dim: int, "
		  "multi_device_global_semaphore: any, all_gather_core_grid_offset: CoreCoord, *, "
		  "bias: Tensor? = None, num_links: int = 1, "
		  "memory_config_ag: MemoryConfig? = None, topology: Topology = Ring, "
		  "barrier_semaphore: any? = None, " PRODUCT_ARGS
		  ", chunks_per_sync: int? = None, num_workers_per_link: int? = None, "
		  "num_buffers_per_channel: int? = None"},
	 .expand = gather_matmul_expand,
	 .golden = tt_golden_gather_matmul,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&gather_matmul)},
	{.name = "ttnn.experimental.matmul_reduce_scatter_async",
	 .doc = "Each device's product with its matrix, and its part of the sum of all products.",
	 .sigs = {"input_tensor: Tensor, weight_tensor: Tensor, "
		  "persistent_intermediate_buffer: Tensor, persistent_output_buffer: Tensor, "
		  "dim: int, multi_device_global_semaphore: any, "
		  "reduce_scatter_core_grid_offset: CoreCoord, *, barrier_semaphore: any? = None, "
		  "bias: Tensor? = None, num_links: int? = None, "
		  "memory_config_rs: MemoryConfig? = None, "
		  "intermediate_memory_config_rs: MemoryConfig? = None, "
		  "topology: Topology = Ring, " PRODUCT_ARGS},
	 .expand = matmul_scatter_expand,
	 .golden = tt_golden_matmul_scatter,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&matmul_scatter)},
};

const struct tt_op_family tt_family_fused_matmul = {"collective_fused", ops, TT_COUNT(ops)};
