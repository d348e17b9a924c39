/*
 * grouped_gate.c: the experts that a token goes to, and their weights, of groups of experts. Models
 * DeepseekGroupedGateDeviceOperation of ttnn 0.81 with its one factory: specs, refusals, memory, cores, numbers of
 * bfloat16 on the way. Not modelled: the order of experts that are equal.
 */
#include <inttypes.h>
#include <math.h>

#include "golden/golden_experts.h"
#include "ops/experts.h"
#include "ops/movement/movement.h"
#include "ops/values.h"

#define ATTRS(X)                                                                                   \
	X(GROUPS, "n_groups")                                                                      \
	X(SUMMED, "summed_experts_per_group")                                                      \
	X(TOP, "topk_groups")                                                                      \
	X(ACTIVE, "n_activated_experts")                                                           \
	X(SCALE, "route_scale")                                                                    \
	X(EPSILON, "epsilon")                                                                      \
	X(MEMORY, "output_mem_config")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);
enum { SCORES, BIAS };
/* What the program can be asked for, alone. */
#define ALL_EXPERTS 256
#define ALL_GROUPS 8
#define SUMMED_EXPERTS 2
#define TOP_GROUPS 4
#define ACTIVE_EXPERTS 8

static tt_status gate_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[SCORES]->spec;
	const struct ttnn_memory_config *memory = launch->attrs[MEMORY].memory;
	struct ttnn_shape shape = in->shape;

	TT_NEED(shape.rank > 1, "grouped gates take scores of two dimensions or more, not of %u",
		shape.rank);
	shape.dim[shape.rank - 1] = (uint32_t)launch->attrs[ACTIVE].integer;
	launch->output_count = 2;
	TT_TRY(tt_spec_simple(&launch->specs[0], &shape, in->dtype, in->layout, memory));
	return tt_spec_simple(&launch->specs[1], &shape, TTNN_UINT16, in->layout, memory);
}

static tt_status check_number(const struct tt_launch *launch, int attr, int64_t only,
			      const char *condition)
{
	int64_t number = launch->attrs[attr].integer;

	TT_REQUIRE(number == only, condition, "%s must be %" PRId64 " at the moment. Got %" PRId64,
		   schema_fields[attr].name, only, number);
	return TTNN_OK;
}

static tt_status gate_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *scores = &launch->inputs[SCORES]->spec;
	const struct ttnn_tensor_spec *bias = &launch->inputs[BIAS]->spec;
	uint32_t experts = tt_shape_last(&scores->shape, 1);

	TT_REQUIRE(scores->dtype == TTNN_BFLOAT16, "scores.dtype() == DataType::BFLOAT16",
		   "Scores tensor must be BFLOAT16");
	TT_REQUIRE(scores->layout == TTNN_TILE, "scores.layout() == Layout::TILE",
		   "Scores tensor must be TILE layout");
	TT_REQUIRE(bias->dtype == TTNN_BFLOAT16, "bias.dtype() == DataType::BFLOAT16",
		   "Bias tensor must be BFLOAT16");
	TT_REQUIRE(bias->layout == TTNN_TILE, "bias.layout() == Layout::TILE",
		   "Bias tensor must be TILE layout");
	TT_REQUIRE(ttnn_shape_equal(&scores->shape, &bias->shape),
		   "scores.logical_shape() == bias.logical_shape()",
		   "Scores and bias must have the same shape");
	TT_TRY(check_number(launch, SUMMED, SUMMED_EXPERTS,
			    "attributes.summed_experts_per_group == 2"));
	TT_TRY(check_number(launch, GROUPS, ALL_GROUPS, "attributes.n_groups == 8"));
	TT_TRY(check_number(launch, TOP, TOP_GROUPS, "attributes.topk_groups == 4"));
	TT_REQUIRE(experts == ALL_EXPERTS, "scores.logical_shape()[-1] == 256",
		   "Experts must be 256. Got %u", experts);
	return check_number(launch, ACTIVE, ACTIVE_EXPERTS, "attributes.n_activated_experts == 8");
}

/* ---- the program -------------------------------------------------------------------------------------------- */

static tt_status gate_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[SCORES]->spec;
	uint64_t width = ALL_EXPERTS / TT_TILE;
	uint64_t page = tt_page_in0(launch), place = tt_tile_bytes_of(TTNN_UINT16);
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, tt_grid_size(launch->grid), in->pages / width,
			     TTNN_ORIENT_COL_MAJOR));
	return TT_PLAN(
		plan, split.all, TT_CB_ROW(0, "cb_in_scores", .pages = 2 * width, .page = page),
		TT_CB_ROW(1, "cb_in_bias", .pages = 2 * width, .page = page),
		TT_CB_ROW(2, "cb_out_weights", .pages = 2, .page = page),
		TT_CB_ROW(3, "cb_out_indices", .pages = 2, .page = place),
		TT_CB_ROW(4, "cb_sigmoid_scores", .pages = width, .page = page),
		TT_CB_ROW(5, "cb_biased_scores", .pages = width, .page = page),
		TT_CB_ROW(6, "cb_sorted_group_scores", .pages = 2, .page = page),
		TT_CB_ROW(7, "cb_sorted_expert_indices_temp", .pages = 2, .page = page),
		TT_CB_ROW(8, "cb_expert_index_template", .pages = width, .page = page),
		TT_CB_ROW(9, "cb_group_index_template", .pages = 1, .page = page),
		TT_CB_ROW(11, "cb_top_experts_per_group", .pages = SUMMED_EXPERTS, .page = page),
		TT_CB_ROW(10, "cb_group_summed_scores", .pages = 1, .page = page),
		TT_CB_ROW(12, "cb_sorted_group_order", .pages = 1, .page = place),
		TT_CB_ROW(13, "cb_winning_group_scores", .pages = TOP_GROUPS, .page = page),
		TT_CB_ROW(14, "cb_winning_group_indices", .pages = TOP_GROUPS, .page = place),
		TT_CB_ROW(15, "cb_reduce_intermediate", .pages = 2, .page = page),
		TT_CB_ROW(16, "cb_final_indices_transposed", .pages = 2, .page = place),
		TT_CB_ROW(17, "cb_reduce_ones_scalar", .pages = 1, .page = page),
		TT_CB_ROW(18, "cb_epsilon_scalar", .pages = 1, .page = page),
		TT_CB_ROW(19, "cb_route_scale_scalar", .pages = 1, .page = page),
		TT_CB_ROW(20, "cb_normalized_scores", .pages = 2, .page = page),
		TT_CB_ROW(21, "cb_reciprocal_sums", .pages = 2, .page = page),
		TT_CB_ROW(22, "cb_gathered_sigmoid", .pages = 2, .page = page));
}

struct gate {
	const double *scores, *bias;
	double scale, epsilon;
};

static void choose_experts(float *weights, uint16_t *experts, const struct gate *gate)
{
	static const struct tt_expert_groups groups = {ALL_EXPERTS, ALL_GROUPS, SUMMED_EXPERTS,
						       TOP_GROUPS, false};
	double sigmoid[ALL_EXPERTS], biased[ALL_EXPERTS], sum = gate->epsilon;
	uint32_t chosen[ACTIVE_EXPERTS];

	for (uint32_t e = 0; e < ALL_EXPERTS; e++) {
		sigmoid[e] = tt_experts_rounded(1 / (1 + exp(-gate->scores[e])));
		biased[e] = tt_experts_rounded(sigmoid[e] + gate->bias[e]);
	}
	tt_experts_leave_groups(biased, &groups);
	tt_experts_best(chosen, ACTIVE_EXPERTS, biased, ALL_EXPERTS);
	for (uint32_t i = 0; i < ACTIVE_EXPERTS; i++)
		sum += sigmoid[chosen[i]];
	for (uint32_t i = 0; i < ACTIVE_EXPERTS; i++) {
		weights[i] = (float)(sigmoid[chosen[i]] / sum * gate->scale);
		experts[i] = (uint16_t)chosen[i];
	}
}

static tt_status gate_kernel(struct tt_launch *launch)
{
	struct gate gate = {.scale = launch->attrs[SCALE].real,
			    .epsilon = launch->attrs[EPSILON].real};
	double *scores, *bias;
	uint16_t *experts;
	float *weights;
	uint64_t count;

	TT_TRY(tt_values_of(&scores, &count, launch, SCORES));
	TT_TRY(tt_values_of(&bias, &count, launch, BIAS));
	count /= ALL_EXPERTS;
	weights = tt_arena_alloc(launch->arena, (count + 1) * ACTIVE_EXPERTS * sizeof(*weights));
	experts = tt_arena_alloc(launch->arena, (count + 1) * ACTIVE_EXPERTS * sizeof(*experts));
	if (!weights || !experts)
		return tt_fail_nomem();
	for (uint64_t i = 0; i < count; i++) {
		gate.scores = &scores[i * ALL_EXPERTS];
		gate.bias = &bias[i * ALL_EXPERTS];
		choose_experts(&weights[i * ACTIVE_EXPERTS], &experts[i * ACTIVE_EXPERTS], &gate);
	}
	TT_TRY(tt_values_write(launch->outputs[0], weights, TTNN_FLOAT32));
	return tt_values_write(launch->outputs[1], experts, TTNN_UINT16);
}

static const struct tt_prog prog = {
	.device_op = "DeepseekGroupedGateDeviceOperation",
	.prim = "ttnn::prim::deepseek_grouped_gate",
	.attrs = &schema,
	.infer = gate_infer,
	.validate = gate_validate,
	TT_FACTORY("ttnn::operations::experimental::reduction::DeepseekGroupedGateDeviceOperation::"
		   "ProgramFactory",
		   gate_memory),
	TT_KERNEL(gate_kernel),
	.mute = true, /* in an array */
};

static tt_status gate_expand(struct tt_call *call)
{
	struct tt_tensor *scores = tt_call_tensor(call, "scores");
	struct tt_tensor *inputs[] = {scores, tt_call_tensor(call, "bias")};

	return TT_LAUNCH_RETURN(call, &prog, .inputs = inputs, .input_count = TT_COUNT(inputs),
				TT_BIND(call,
					schema, [MEMORY] = tt_value_memory_or_like(call, scores),
					[SCALE] = ttnn_v_real(tt_call_real(call, "route_scale", 1)),
					[EPSILON] = ttnn_v_real(tt_call_real(call, "epsilon", 0))));
}

/* ---- golden --------------------------------------------------------------------------------------------------- */

static void golden_token(double *weights, double *experts, const struct gate *gate)
{
	double sigmoid[ALL_EXPERTS], biased[ALL_EXPERTS], sum = 0;

	for (uint32_t e = 0; e < ALL_EXPERTS; e++) {
		sigmoid[e] = tt_golden_bf16(1 / (1 + exp(-gate->scores[e])));
		biased[e] = tt_golden_bf16(sigmoid[e] + gate->bias[e]);
	}
	tt_golden_leave_groups(biased);
	for (uint32_t e = 0; e < ALL_EXPERTS; e++) {
		uint32_t rank = tt_golden_rank(biased, ALL_EXPERTS, e);

		if (rank >= ACTIVE_EXPERTS)
			continue;
		experts[rank] = e;
		weights[rank] = sigmoid[e];
		sum += sigmoid[e];
	}
	for (uint32_t i = 0; i < ACTIVE_EXPERTS; i++)
		weights[i] *= gate->scale / (sum + gate->epsilon);
}

static tt_status grouped_gate_golden(struct tt_golden *golden)
{
	const struct tt_array *scores = tt_golden_in(golden, "scores");
	const struct tt_array *bias = tt_golden_in(golden, "bias");
	struct gate gate = {.scale = tt_call_real(&golden->call, "route_scale", 1),
			    .epsilon = tt_call_real(&golden->call, "epsilon", 0)};
	struct tt_array *weights, *experts;
	struct ttnn_shape shape;

	TT_GOLDEN_NEED(scores && bias && scores->shape.rank && scores->count == bias->count &&
		       scores->shape.dim[scores->shape.rank - 1] == ALL_EXPERTS);
	shape = scores->shape;
	shape.dim[shape.rank - 1] = ACTIVE_EXPERTS;
	weights = tt_golden_out(golden, &shape, scores->dtype);
	experts = tt_golden_out(golden, &shape, TTNN_UINT16);
	TT_GOLDEN_NEED(weights && experts);
	for (uint64_t i = 0; i < scores->count / ALL_EXPERTS; i++) {
		gate.scores = &scores->data[i * ALL_EXPERTS];
		gate.bias = &bias->data[i * ALL_EXPERTS];
		golden_token(tt_array_span(weights, i * ACTIVE_EXPERTS, ACTIVE_EXPERTS),
			     tt_array_span(experts, i * ACTIVE_EXPERTS, ACTIVE_EXPERTS), &gate);
	}
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.deepseek_grouped_gate",
	 .doc = "The experts of the best groups that a token goes to: their weights and numbers.",
	 .sigs = {"scores: Tensor, bias: Tensor, *, n_groups: int = 8, summed_experts_per_group: "
		  "int = 2, topk_groups: int = 4, n_activated_experts: int = 8, route_scale: float "
		  "= 1.0, epsilon: float = 1e-20, memory_config: MemoryConfig? = None"},
	 .expand = gate_expand,
	 .golden = grouped_gate_golden,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&prog)},
};

const struct tt_op_family tt_family_grouped_gate = {"grouped_gate", ops, TT_COUNT(ops)};
