/*
 * llama_matmul.c: llama_rs_matmul, a product and, beside it, a sum of shards of which each device gets its part: of another
 * tensor, or of the first of two products with the same rows.
 *
 * Models Matmul_RS of ttnn 0.81: it is made of the program of llama_reduce.c and of a ring of ops/matmul (gather_in0), of
 * which it has the specs, refusals and buffers. The product keeps to cores that the sum does not work on. Not modelled: how the first product signals that it is there.
 */
#include "golden/golden_fused.h"
#include "ops/collective/fused_matmul.h"
#include "ops/collective/llama.h"
#include "ops/usual.h"

#define RS_ATTRS(X)                                                                                \
	X(RS, "rs", .text = TT_TEXT_FIXED, .fixed = "LlamaReduceScatterDeviceOperation()")         \
	X(SUM, "rs_op")                                                                            \
	X(PRODUCT, "matmul")
TT_ATTRS(rs_schema, "operation_attributes_t", RS_ATTRS);

/* Both products are inputs too, if there are two. */
enum { ADDED, BUFFER, A, B, FIRST, SECOND, ALSO, INPUTS };
#define RING_BUFFERS 6u /* the sum has those before */

/* ---- the two programs in one ----------------------------------------------------------------------------------- */

/* The place of the sum among the outputs: behind one product or two. */
static size_t sum_place(const struct tt_launch *launch)
{
	return launch->inputs[ALSO] ? 2 : 1;
}

/* The launch of the sum within that of both. */
static struct tt_launch sum_of(const struct tt_launch *launch)
{
	struct tt_launch part = *launch;
	size_t place = sum_place(launch);

	part.prog = &tt_prog_llama_scatter;
	part.attrs = launch->attrs[SUM].items;
	part.input_count = BUFFER + 1;
	part.specs = &launch->specs[place];
	part.outputs[0] = launch->outputs[place];
	part.output_count = 1;
	return part;
}

static tt_status rs_infer(struct tt_launch *launch)
{
	struct tt_launch sum = sum_of(launch);
	size_t products = sum_place(launch);

	launch->output_count = products + 1;
	for (size_t i = 0; i < products; i++)
		tt_infer_given(launch, i);
	return sum.prog->infer(&sum);
}

/* The sum is there when a product is made. */
static tt_status rs_infer_output(struct tt_launch *launch, size_t which)
{
	if (which == sum_place(launch))
		return TTNN_OK;
	return tt_matmul_result(&launch->specs[which], launch->extra);
}

static tt_status rs_validate(struct tt_launch *launch)
{
	const struct tt_matmul_plan *plan = launch->extra;
	struct tt_launch sum = sum_of(launch);

	TT_TRY(tt_matmul_refused(plan));
	TT_TRY(tt_matmul_check(&plan->matmul, &plan->config, &launch->specs[0]));
	TT_TRY(sum.prog->validate(&sum));
	TT_NEED(tt_value_given(&launch->attrs[PRODUCT].items[0]), "bad optional access");
	TT_NEED(plan->config.kind == TT_MATMUL_1D, "std::get: wrong index for variant");
	TT_REQUIRE(plan->config.gather_a, "start_cb_index == tt::CBIndex::c_0",
		   "mcast does not support a non-zero start cb index");
	return TTNN_OK;
}

static tt_status rs_choose(uint32_t *out, struct tt_launch *launch)
{
	struct tt_launch sum = sum_of(launch);
	struct tt_matmul_plan *plan;

	*out = 0;
	TT_TRY(tt_fused_keep_plan(&plan, launch));
	plan->first_buffer = RING_BUFFERS;
	return tt_llama_scatter_cores(&plan->taken, &sum);
}

static tt_status rs_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_launch sum = sum_of(launch);

	TT_TRY(sum.prog->factories[0].memory(plan, &sum));
	return tt_matmul_memory(plan, launch);
}

/* Every chip's product with these weights. */
static tt_status multiply(const struct tt_launch *launch, struct tt_tensor *weights,
			  struct tt_tensor *result)
{
	struct tt_launch part = *launch;

	part.prog = &tt_prog_matmul;
	part.inputs = (struct tt_tensor *const[]){launch->inputs[A], weights, NULL};
	part.input_count = 3;
	part.outputs[0] = result;
	part.output_count = 1;
	return tt_part_run(&part);
}

static tt_status rs_kernel(struct tt_launch *launch)
{
	struct tt_launch sum = sum_of(launch);

	TT_TRY(multiply(launch, launch->inputs[B], launch->outputs[0]));
	if (launch->inputs[ALSO])
		TT_TRY(multiply(launch, launch->inputs[ALSO], launch->outputs[1]));
	return sum.prog->kernel(&sum);
}

static const struct tt_prog rs_program = {
	.device_op = "Matmul_RS",
	.prim = "ttnn::prim::llama_rs_matmul",
	.attrs = &rs_schema,
	.infer = rs_infer,
	.infer_output = rs_infer_output,
	.validate = rs_validate,
	.choose = rs_choose,
	TT_KERNEL(rs_kernel),
	TT_FACTORY("ttnn::operations::experimental::ccl::Matmul_RS::Matmul_RS_PF", rs_memory),
	.per_chip = true,
	.together = true,
	.drops_forward = true,
	.last_first = true,
};

/* ---- the call ---------------------------------------------------------------------------------------------------- */

/* Two products are made before the program, which fills them in. */
static tt_status make_products(struct tt_tensor **out, struct tt_call *call,
			       const struct tt_matmul_plan *plan)
{
	struct ttnn_tensor_spec spec;

	TT_TRY(tt_matmul_result(&spec, plan));
	for (int i = 0; i < 2; i++) {
		TT_TRY(tt_call_create(&out[i], call, plan->matmul.device, &spec));
		tt_call_own(call, out[i]);
	}
	return TTNN_OK;
}

static tt_status rs_expand(struct tt_call *call)
{
	struct tt_fused_operands of = {.in = tt_call_tensor(call, "input_tensor"),
				       .a = tt_call_tensor(call, "input_tensor"),
				       .b = tt_call_tensor(call, "weight_tensor"),
				       .also = tt_call_tensor(call, "second_weight_tensor"),
				       .memory = "memory_config_mm"};
	struct tt_tensor *added = tt_call_tensor(call, "rs_tensor"), *products[2] = {NULL};
	struct ttnn_value attrs[rs_schema_count] = {0}, sum[TT_LLAMA_SCATTER_COUNT] = {0};
	struct tt_matmul_plan plan;

	TT_TRY(tt_async_on_mesh(call, of.a));
	TT_TRY(tt_llama_scatter_bind(sum, call, added ? added : of.a, "memory_config_rs"));
	TT_REQUIRE(!added != !of.also, "rs_tensor.has_value() ^ second_weight_tensor.has_value()",
		   "Exactly one of rs_tensor or second_weight_tensor must have a value");
	TT_TRY(tt_fused_product(&plan, &attrs[PRODUCT], call, &of));
	if (of.also)
		TT_TRY(make_products(products, call, &plan));
	attrs[RS] = ttnn_v_int(0); /* an object without fields */
	attrs[SUM] = tt_value_object(tt_prog_llama_scatter.attrs, sum);
	return TT_LAUNCH_RETURN(call, &rs_program,
				TT_INPUTS(added ? added : products[0],
					  tt_call_tensor(call, "intermediate_packet_buffer"), of.a,
					  of.b, products[0], products[1], of.also),
				TT_OUTPUTS(products[0], products[1]), .attrs = attrs,
				.extra = &plan, .in_place = of.also != NULL);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.llama_rs_matmul",
	 .doc = "A product, and the shards of the devices of a row added up, a part for each device.",
	 .sigs = {"input_tensor: Tensor, weight_tensor: Tensor, "
		  "intermediate_packet_buffer: Tensor, dim: int, cross_device_semaphore: any, "
		  "cluster_axis: int, mesh_device: Device, num_links: int? = None, "
		  "subdevice_id: SubDeviceId, *, second_weight_tensor: Tensor? = None, "
		  "rs_tensor: Tensor? = None, topology: Topology = Linear, "
		  "memory_config_rs: MemoryConfig? = None, "
		  "memory_config_mm: MemoryConfig? = None, "
		  "compute_kernel_config: ComputeConfig? = None, global_cb: GlobalCb? = None, "
		  "core_grid: CoreGrid? = None, transpose_a: bool = False, "
		  "transpose_b: bool = False, dtype: DataType? = None, "
		  "program_config: MatmulConfig? = None, activation: str? = None, "
		  "output_tile: Tile? = None, optional_output_tensor: Tensor? = None, "
		  "use_noc1_only: bool = False"},
	 .expand = rs_expand,
	 .golden = tt_golden_llama_rs_matmul,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&rs_program)},
};

const struct tt_op_family tt_family_llama_matmul = {"llama_matmul", ops, TT_COUNT(ops)};
