/* loss.c: how far a prediction is from what it should be, element by element or in all. */
#include <math.h>

#include "golden/golden.h"
#include "ops/op_enums.h"
#include "ops/recipe.h"
#include "ops/usual.h"

struct row {
	const char *text;
	bool squared;
};

/* Element by element; sum or mean behind it. */
static tt_status loss_expand(struct tt_call *call)
{
	const struct row *row = call->entry->op->row;
	int64_t mode = tt_call_arg(call, "reduction")->integer;
	const struct tt_recipe recipe = {.text = row->text,
					 .memory = tt_call_memory(call, "memory_config")};
	const char *all = mode == TT_LOSS_MEAN ? "ttnn.mean" : "ttnn.sum";
	struct tt_tensor *loss, *out;
	tt_status status;

	TT_TRY(tt_recipe_run(call, &recipe));
	if (mode == TT_LOSS_NONE)
		return TTNN_OK;
	loss = tt_call_own(call, call->results[--call->result_count]);
	status = tt_call_op(&out, call, all, (struct ttnn_arg[]){{NULL, ttnn_v_tensor(loss)}}, 1);
	if (status != TTNN_OK)
		tt_call_drop(call, loss);
	return tt_call_give(call, status, &out);
}

/* The same in one loop. */
static tt_status loss_golden(struct tt_golden *golden)
{
	const struct row *row = golden->op->row;
	const struct tt_array *a = tt_golden_in(golden, "input_reference");
	const struct tt_array *b = tt_golden_in(golden, "input_prediction");
	int64_t mode = tt_call_arg(&golden->call, "reduction")->integer;
	struct ttnn_shape one = {0};
	struct tt_array *out;

	TT_GOLDEN_NEED(a && b);
	out = tt_golden_out(golden, mode == TT_LOSS_NONE ? &a->shape : &one, a->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < a->count; i++) {
		double distance = *tt_at(a, i) - *tt_at(b, i);

		distance = row->squared ? distance * distance : fabs(distance);
		*tt_at(out, mode == TT_LOSS_NONE ? i : 0) +=
			mode == TT_LOSS_MEAN ? distance / (double)a->count : distance;
	}
	return TTNN_OK;
}

#define SIGNATURE                                                                                  \
	"input_reference: Tensor, input_prediction: Tensor, *, reduction: LossReductionMode = "    \
	"NONE, memory_config: MemoryConfig? = None, output_tensor: Tensor? = None"
#define OP(name_, doc_, function, squared_)                                                        \
	{                                                                                          \
		.name = "ttnn." name_, .doc = doc_, .sigs = {SIGNATURE}, .expand = loss_expand,    \
		.golden = loss_golden, .row = &(const struct row)                                  \
		{                                                                                  \
			"return subtract(input_reference, input_prediction, "                      \
			"activations=[" function "], output_tensor=output_tensor)",                \
				squared_                                                           \
		}                                                                                  \
	}

static const struct tt_op ops[] = {
	OP("l1_loss", "The distance of a prediction, element by element, summed up or in the mean.",
	   "ABS", false),
	OP("mse_loss", "The same with the square of the distance.", "SQUARE", true),
};

const struct tt_op_family tt_family_loss = {"loss", ops, TT_COUNT(ops)};
