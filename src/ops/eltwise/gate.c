/*
 * gate.c: one tensor opens and closes another: gates as language models have them, each a line: the
 * recipe by which upstream computes it, and the value as its textbook has it.
 */
#include <math.h>

#include "device/device.h"
#include "golden/golden.h"
#include "ops/recipe.h"
#include "ops/usual.h"

#define L1_WIDTH 3072u

struct row {
	const char *text, *in_place; /* the second where nothing is made in L1 */
	double (*value)(double gate, double up, const double *number);
};

/* What is made on the way lies in L1 where rows are short and three tensors take three quarters of it at most. */
static bool fits_l1(const struct tt_tensor *gate)
{
	const struct ttnn_tensor_spec *spec = &gate->spec;
	struct tt_device *device = tt_tensor_device(gate);
	uint64_t bank;

	if (!device || tt_memory_config_is_sharded(&spec->memory) ||
	    tt_shape_last(&spec->shape, 1) > L1_WIDTH)
		return false;
	bank = tt_allocator_stats(&device->memory->allocator, TTNN_L1).total;
	return spec->bytes * 4 <= bank * device->memory->allocator.config.l1_banks;
}

static tt_status gate_expand(struct tt_call *call)
{
	static const struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	const struct row *row = call->entry->op->row;
	const struct tt_tensor *gate = tt_call_tensor(call, "gate");
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	bool fits = fits_l1(gate);
	const struct tt_recipe_name names[] = {
		{"inner", fits ? ttnn_v_memory(&l1) : *tt_call_arg(call, "memory_config")},
		{"outer", ttnn_v_memory(memory ? memory : &gate->spec.memory)}};
	const struct tt_recipe recipe = {.text = fits ? row->text : row->in_place,
					 .memory = memory,
					 .names = names,
					 .name_count = TT_COUNT(names)};

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
#define INNER                                                                                      \
	"memory_config=inner, "                                                                    \
	"sub_core_grids=sub_core_grids"
#define CLAMPED                                                                                    \
	"return multiply(gate, up, input_tensor_a_activations=[MINIMUM(limit), SILU], "            \
	"input_tensor_b_activations=[CLAMP_TSS(-limit, limit)], " ON
#define SITU                                                                                       \
	"t = softcap~(gate, beta1, " INNER "); "                                                   \
	"_ = multiply~(t, sigmoid~(gate, " INNER "), output_tensor=t, " INNER "); "                \
	"return multiply~(t, softcap~(up, beta2, " INNER "), "
#define SIGMOID(x) (1 / (1 + exp(-(x))))

/* X(name, numbers, doc, recipe, recipe in place, value): of gate and up, with number[0] and number[1]. */
#define GATES(X)                                                                                   \
	X(clamped_silu_glu, "limit: float", "silu(min(gate, limit)) clamp(up, -limit, limit).",    \
	  CLAMPED, CLAMPED,                                                                        \
	  fmin(gate, number[0]) * SIGMOID(fmin(gate, number[0])) *                                 \
		  fmax(-number[0], fmin(up, number[0])))                                           \
	X(situ_glu, "beta1: float, beta2: float", "softcap(gate) sigmoid(gate) softcap(up).",      \
	  SITU "memory_config=outer, " ON, SITU "output_tensor=t, memory_config=outer, " ON,       \
	  number[0] * tanh(gate / number[0]) * SIGMOID(gate) * number[1] * tanh(up / number[1]))

#define VALUE(name, numbers, doc, recipe, in_place, expression)                                    \
	static double value_##name(double gate, double up, const double *number)                   \
	{                                                                                          \
		return expression;                                                                 \
	}
GATES(VALUE)

#define ROW(name_, numbers, doc_, recipe, in_place, expression)                                    \
	{.name = "ttnn." #name_,                                                                   \
                                                                                                   \
	 .doc = doc_,                                                                              \
	 .sigs = {"gate: Tensor, up: Tensor, " numbers ", *, memory_config: MemoryConfig? = "      \
		  "None, sub_core_grids: CoreRangeSet? = None, sub_device_id: SubDeviceId? = "     \
		  "None"},                                                                         \
	 .expand = gate_expand,                                                                    \
	 .golden = gate_golden,                                                                    \
	 .row = &(const struct row){recipe, in_place, value_##name_}},

static const struct tt_op ops[] = {GATES(ROW)};

const struct tt_op_family tt_family_gate = {"gate", ops, TT_COUNT(ops)};
