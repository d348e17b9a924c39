/*
 * gate.c: one tensor opens and closes another: gates as language models have them, each a line: the
 * recipe by which upstream computes it, and the value as its textbook has it.
 */
#include <math.h>

#include "golden/golden.h"
#include "ops/recipe.h"

struct row {
	const char *text;
	double (*value)(double gate, double up, const double *number);
};

static tt_status gate_expand(struct tt_call *call)
{
	const struct row *row = call->entry->op->row;
	const struct tt_recipe recipe = {.text = row->text,
					 .memory = tt_call_memory(call, "memory_config")};

	return tt_recipe_run(call, &recipe);
}

/* The arguments behind the two tensors are its numbers. */
static tt_status gate_golden(struct tt_golden *golden)
{
	const struct row *row = golden->op->row;
	const struct tt_array *gate = tt_golden_in(golden, "gate"),
			      *up = tt_golden_in(golden, "up");
	struct tt_array *out = gate ? tt_golden_out(golden, &gate->shape, gate->dtype) : NULL;
	double numbers[2] = {0, 0};

	TT_GOLDEN_NEED(out && up);
	for (int i = 0; i < 2; i++)
		tt_value_number(&numbers[i], &golden->call.args->values[2 + i]);
	for (uint64_t i = 0; i < out->count; i++)
		*tt_at(out, i) = row->value(*tt_at(gate, i), *tt_at(up, i), numbers);
	return TTNN_OK;
}

/* ---- rows --------------------------------------------------------------------------------------- */

#define ON "sub_core_grids=sub_core_grids)"
#define SIGMOID(x) (1 / (1 + exp(-(x))))

/* X(name, numbers, doc, recipe, value): of gate and up, with number[0] and number[1]. */
#define GATES(X)                                                                                   \
	X(clamped_silu_glu, "limit: float", "silu(min(gate, limit)) clamp(up, -limit, limit).",    \
	  "return multiply(gate, up, input_tensor_a_activations=[MINIMUM(limit), SILU], "          \
	  "input_tensor_b_activations=[CLAMP_TSS(-limit, limit)], " ON,                            \
	  fmin(gate, number[0]) * SIGMOID(fmin(gate, number[0])) *                                 \
		  fmax(-number[0], fmin(up, number[0])))                                           \
	X(situ_glu, "beta1: float, beta2: float", "softcap(gate) sigmoid(gate) softcap(up).",      \
	  "t = softcap(gate, beta1, " ON "; "                                                      \
	  "_ = multiply(t, sigmoid(gate, " ON ", output_tensor=t, " ON "; "                        \
	  "return multiply(t, softcap(up, beta2, " ON ", " ON,                                     \
	  number[0] * tanh(gate / number[0]) * SIGMOID(gate) * number[1] * tanh(up / number[1]))

#define VALUE(name, numbers, doc, recipe, expression)                                              \
	static double value_##name(double gate, double up, const double *number)                   \
	{                                                                                          \
		return expression;                                                                 \
	}
GATES(VALUE)

#define ROW(name_, numbers, doc_, recipe, expression)                                              \
	{.name = "ttnn." #name_,                                                                   \
                                                                                                   \
	 .doc = doc_,                                                                              \
	 .sigs = {"gate: Tensor, up: Tensor, " numbers ", *, memory_config: MemoryConfig? = "      \
		  "None, sub_core_grids: CoreRangeSet? = None, sub_device_id: SubDeviceId? = "     \
		  "None"},                                                                         \
	 .expand = gate_expand,                                                                    \
	 .golden = gate_golden,                                                                    \
	 .row = &(const struct row){recipe, value_##name_}},

static const struct tt_op ops[] = {GATES(ROW)};

const struct tt_op_family tt_family_gate = {"gate", ops, TT_COUNT(ops)};
