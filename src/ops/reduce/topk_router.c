/*
 * topk_router.c: the router of a mixture of experts: scores of all experts for each token, its best, and how much each counts.
 *
 * Models TopkRouterGptDeviceOperation of ttnn 0.81 with its one factory: specs, refusals, memory, cores. Cores beside banks of DRAM are a
 * ring in four groups; the last of a group adds up what the others have, one of these gathers all.
 */
#include <inttypes.h>
#include <math.h>

#include "golden/golden_experts.h"
#include "ops/expert_ring.h"
#include "ops/experts.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"
#include "ops/values.h"

#define ATTRS(X)                                                                                   \
	X(BEST, "k")                                                                               \
	X(EXPERTS, "num_experts")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);
enum { TOKENS, WEIGHT, BIAS, INPUTS };
#define ALL_EXPERTS 128u
#define GROUPS 4u

static tt_status router_infer(struct tt_launch *launch)
{
	struct ttnn_spec_args args = {.dtype = TTNN_UINT16, .memory = {.buffer = TTNN_L1}};
	const struct ttnn_shape *in = &launch->inputs[TOKENS]->spec.shape;
	uint32_t best = tt_attr_u32(launch, BEST);

	TT_NEED(in->rank, "topk_router_gpt: tokens must be rows");
	args.shape = TT_SHAPE(in->dim[0], best);
	args.alignment = TT_SHAPE(TT_TILE, best ? best : 1); /* none is refused later */
	launch->output_count = 2;
	TT_TRY(ttnn_tensor_spec_make(&launch->specs[0], &args));
	args.dtype = TTNN_BFLOAT16;
	return ttnn_tensor_spec_make(&launch->specs[1], &args);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

#define NAME(lower, text) tt_arena_printf(launch->arena, "%s" text, lower)

static tt_status check_kind(const struct tt_launch *launch, int which, const char *lower,
			    const char *upper)
{
	const struct ttnn_tensor_spec *spec = &launch->inputs[which]->spec;
	const char *layout = NAME(lower, ".layout() == Layout::TILE");
	const char *dtype = NAME(lower, ".dtype() == DataType::BFLOAT16");

	TT_NEED_MEMORY(layout);
	TT_NEED_MEMORY(dtype);
	TT_REQUIRE(spec->layout == TTNN_TILE, layout,
		   "%s tensor must have TILE layout, got Layout::%s", upper,
		   tt_enum_name(&tt_enum_layout, (int64_t)spec->layout));
	TT_REQUIRE(spec->dtype == TTNN_BFLOAT16, dtype,
		   "%s tensor must have BFLOAT16 dtype, got DataType::%s", upper,
		   tt_enum_name(&tt_enum_dtype, (int64_t)spec->dtype));
	return TTNN_OK;
}

static tt_status check_shapes(const struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[TOKENS]->spec.shape;
	const struct ttnn_shape *weight = &launch->inputs[WEIGHT]->spec.shape;
	const struct ttnn_shape *bias = &launch->inputs[BIAS]->spec.shape;
	int64_t experts = launch->attrs[EXPERTS].integer;

	TT_REQUIRE(in->rank == 2, "input_shape.rank() == 2",
		   "Input tensor must be rank 2, got rank %u", in->rank);
	TT_REQUIRE(in->dim[0] >= 1 && in->dim[0] <= TT_TILE, "B >= 1 && B <= 32",
		   "topk_router_gpt requires batch_size in [1, 32], got %u", in->dim[0]);
	TT_REQUIRE(in->dim[1] % TT_TILE == 0, "hidden_dim % 32 == 0",
		   "Input hidden_dim must be divisible by 32 (tile size), got %u", in->dim[1]);
	TT_REQUIRE(weight->rank == 2, "weight_shape.rank() == 2",
		   "Weight tensor must be rank 2, got rank %u", weight->rank);
	TT_REQUIRE(weight->dim[0] == in->dim[1], "weight_shape[0] == hidden_dim",
		   "Weight tensor dim 0 must match input hidden_dim %u, got %u", in->dim[1],
		   weight->dim[0]);
	TT_REQUIRE(weight->dim[1] == experts, "weight_shape[1] == attrs.num_experts",
		   "Weight tensor dim 1 must match num_experts %" PRId64 ", got %u", experts,
		   weight->dim[1]);
	TT_REQUIRE(bias->rank == 2, "bias_shape.rank() == 2",
		   "Bias tensor must be rank 2, got rank %u", bias->rank);
	TT_REQUIRE(bias->dim[0] == in->dim[0], "bias_shape[0] == B",
		   "Bias tensor dim 0 must match batch size %u, got %u", in->dim[0], bias->dim[0]);
	TT_REQUIRE(bias->dim[1] == experts, "bias_shape[1] == attrs.num_experts",
		   "Bias tensor dim 1 must match num_experts %" PRId64 ", got %u", experts,
		   bias->dim[1]);
	return TTNN_OK;
}

static tt_status router_validate(struct tt_launch *launch)
{
	int64_t best = launch->attrs[BEST].integer, experts = launch->attrs[EXPERTS].integer;

	TT_REQUIRE(best >= 1 && best <= TT_TILE, "attrs.k >= 1 && attrs.k <= 32",
		   "topk_router_gpt requires k in range [1, 32], got %" PRId64, best);
	TT_REQUIRE(experts == ALL_EXPERTS, "attrs.num_experts == 128",
		   "topk_router_gpt only supports num_experts=128 (hardcoded 4-group "
		   "architecture), got %" PRId64,
		   experts);
	for (int i = 0; i < INPUTS; i++)
		TT_NEED(tt_tensor_device(launch->inputs[i]) == tt_tensor_device(launch->inputs[0]),
			"All tensors must be on the same device");
	TT_TRY(check_kind(launch, TOKENS, "input", "Input"));
	TT_TRY(check_kind(launch, WEIGHT, "weight", "Weight"));
	TT_TRY(check_kind(launch, BIAS, "bias", "Bias"));
	return check_shapes(launch);
}

/* ---- memory ------------------------------------------------------------------------------------------------------- */

/* The ring, and of it the last core of each group; the first of those gathers. */
struct ring {
	const ttnn_core_set *all, *workers, *collector;
	uint32_t group; /* cores of one */
};

static tt_status ring_find(struct ring *out, const struct tt_launch *launch)
{
	struct tt_ring_core ring[TT_RING_MOST];
	struct ttnn_core cores[TT_RING_MOST], workers[GROUPS];
	uint32_t count;

	TT_TRY(tt_ring_cores(ring, &count, launch->device));
	TT_NEED(count >= 2 * GROUPS,
		"topk_router_gpt requires at least %u DRAM-aligned cores, got %u", 2 * GROUPS,
		count);
	for (uint32_t i = 0; i < count; i++)
		cores[i] = ring[i].core;
	out->group = count / GROUPS;
	for (uint32_t i = 0; i < GROUPS; i++)
		workers[i] = cores[(i + 1) * out->group - 1];
	TT_TRY(tt_cores_set(&out->all, cores, count));
	TT_TRY(tt_cores_set(&out->workers, workers, GROUPS));
	return tt_cores_set(&out->collector, workers, 1);
}

static tt_status router_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t page = tt_page_bf16(launch), inner = launch->inputs[TOKENS]->spec.shape.dim[1];
	uint64_t best = tt_div_up(launch->attrs[BEST].integer, 8) * 8, tiles;
	struct ring ring;

	TT_TRY(ring_find(&ring, launch));
	tiles = tt_div_up(inner / TT_TILE, ring.group);
	TT_TRY(TT_PLAN(plan, ring.all, TT_CB_ROW(0, "cb_weight", .pages = tiles, .page = page),
		       TT_CB_ROW(1, "cb_input", .pages = tiles, .page = page),
		       TT_CB_ROW(2, "cb_partial_recv", .pages = ring.group - 1, .page = page),
		       TT_CB_ROW(3, "cb_local_out", .pages = 1, .page = page)));
	TT_TRY(TT_PLAN(plan, ring.workers, TT_CB_ROW(4, "cb_bias", .pages = 1, .page = page),
		       TT_CB_ROW(5, "cb_index", .pages = 1, .page = page),
		       TT_CB_ROW(6, "cb_topk_val", .pages = 1, .page = page),
		       TT_CB_ROW(8, "cb_gathered_val", .pages = GROUPS, .page = page),
		       TT_CB_ROW(9, "cb_gathered_ind", .pages = GROUPS, .page = page)));
	return TT_PLAN(plan, ring.collector,
		       TT_CB_ROW(10, "cb_intermed_val", .pages = 2, .page = page),
		       TT_CB_ROW(11, "cb_intermed_ind", .pages = 1, .page = page),
		       TT_CB_ROW(12, "cb_softmax_mask", .pages = 1, .page = page),
		       TT_CB_ROW(13, "cb_softmax_tmp", .pages = 1, .page = page),
		       TT_CB_ROW(14, "cb_reduce_scalar", .pages = 1, .page = page),
		       TT_CB_ROW(15, "cb_bcast_scaler", .pages = 1, .page = page),
		       TT_CB_ROW(16, "cb_final_out", .pages = 2, .page = page),
		       TT_CB_ROW(19, "cb_dispatch", .pages = 1, .page = 2 * TT_TILE * best * 2));
}

/* ---- numbers ------------------------------------------------------------------------------------------------------ */

struct router {
	double *tokens, *weight, *bias;
	uint64_t inner;
	uint32_t best;
};

static void route(uint16_t *experts, float *weights, const struct router *router, uint64_t token)
{
	double scores[ALL_EXPERTS], sum = 0;
	uint32_t places[TT_TILE];

	for (uint32_t e = 0; e < ALL_EXPERTS; e++)
		scores[e] = router->bias[token * ALL_EXPERTS + e];
	for (uint64_t i = 0; i < router->inner; i++)
		for (uint32_t e = 0; e < ALL_EXPERTS; e++)
			scores[e] += router->tokens[token * router->inner + i] *
				     router->weight[i * ALL_EXPERTS + e];
	for (uint32_t e = 0; e < ALL_EXPERTS; e++)
		scores[e] = tt_experts_rounded(scores[e]);
	tt_experts_best(places, router->best, scores, ALL_EXPERTS);
	for (uint32_t i = 0; i < router->best; i++)
		sum += exp(scores[places[i]] - scores[places[0]]);
	for (uint32_t i = 0; i < router->best; i++) {
		experts[i] = (uint16_t)places[i];
		weights[i] = (float)(exp(scores[places[i]] - scores[places[0]]) / sum);
	}
}

static tt_status router_kernel(struct tt_launch *launch)
{
	struct router router = {.best = tt_attr_u32(launch, BEST),
				.inner = launch->inputs[TOKENS]->spec.shape.dim[1]};
	uint64_t tokens = launch->inputs[TOKENS]->spec.shape.dim[0], unused;
	uint16_t experts[TT_TILE * TT_TILE];
	float weights[TT_TILE * TT_TILE];

	TT_TRY(tt_values_of(&router.tokens, &unused, launch, TOKENS));
	TT_TRY(tt_values_of(&router.weight, &unused, launch, WEIGHT));
	TT_TRY(tt_values_of(&router.bias, &unused, launch, BIAS));
	for (uint64_t token = 0; token < tokens; token++)
		route(&experts[token * router.best], &weights[token * router.best], &router, token);
	TT_TRY(tt_values_write(launch->outputs[0], experts, TTNN_UINT16));
	return tt_values_write(launch->outputs[1], weights, TTNN_FLOAT32);
}

static const struct tt_prog program = {
	.device_op = "TopkRouterGptDeviceOperation",
	.prim = "ttnn::prim::topk_router_gpt",
	.attrs = &schema,
	.infer = router_infer,
	.validate = router_validate,
	TT_FACTORY("ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::operations::"
		   "experimental::topk_router_gpt::TopkRouterGptDeviceOperation>::"
		   "DirectDescriptorFactory",
		   router_memory),
	TT_KERNEL(router_kernel),
	.drops_forward = true,
	.mute = true,
};

static tt_status router_expand(struct tt_call *call)
{
	return TT_LAUNCH_RETURN(call, &program,
				TT_INPUTS(tt_call_tensor(call, "input_tensor"),
					  tt_call_tensor(call, "weight_tensor"),
					  tt_call_tensor(call, "bias_tensor")),
				TT_BIND(call, schema, [BEST] = {0}));
}

/* ---- golden -------------------------------------------------------------------------------------------------------- */

/* An expert's place is how many score more, or as much and come before it. */
static tt_status golden(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	const struct tt_array *weight = tt_golden_in(golden, "weight_tensor");
	const struct tt_array *bias = tt_golden_in(golden, "bias_tensor");
	uint32_t best = (uint32_t)tt_call_int(&golden->call, "k", 4);
	struct tt_array *experts, *shares;
	struct ttnn_shape shape;

	TT_GOLDEN_NEED(in && weight && bias && in->shape.rank == 2 && weight->shape.rank == 2);
	shape = TT_SHAPE(in->shape.dim[0], best);
	experts = tt_golden_out(golden, &shape, TTNN_UINT16);
	shares = tt_golden_out(golden, &shape, TTNN_BFLOAT16);
	TT_GOLDEN_NEED(experts && shares && weight->shape.dim[1] == ALL_EXPERTS);
	for (uint64_t token = 0; token < shape.dim[0]; token++) {
		double scores[ALL_EXPERTS] = {0}, sum = 0;

		for (uint32_t e = 0; e < ALL_EXPERTS; e++) {
			for (uint64_t i = 0; i < in->shape.dim[1]; i++)
				scores[e] += *tt_at(in, token * in->shape.dim[1] + i) *
					     *tt_at(weight, i * ALL_EXPERTS + e);
			scores[e] =
				tt_golden_bf16(scores[e] + *tt_at(bias, token * ALL_EXPERTS + e));
		}
		for (uint32_t e = 0; e < ALL_EXPERTS; e++) {
			uint64_t rank = tt_golden_rank(scores, ALL_EXPERTS, e);

			if (rank >= best)
				continue;
			*tt_at(experts, token * best + rank) = e;
			*tt_at(shares, token * best + rank) = exp(scores[e]);
			sum += exp(scores[e]);
		}
		for (uint32_t i = 0; i < best; i++)
			*tt_at(shares, token * best + i) /= sum;
	}
	return TTNN_OK;
}

static const struct tt_prog *const programs[] = {&program, NULL};
static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.topk_router_gpt",
	 .family = "topk_router",
	 .doc = "The best experts of each token and their shares: a product, a bias, the largest, a softmax.",
	 .sigs = {"input_tensor: Tensor, *, weight_tensor: Tensor, bias_tensor: Tensor, k: size = "
		  "4, num_experts: size = 128"},
	 .gives = "Tensor, Tensor",
	 .expand = router_expand,
	 .golden = golden,
	 .pcc = 0.999,
	 .programs = programs},
};

const struct tt_op_family tt_family_topk_router = {"topk_router", ops, TT_COUNT(ops)};
