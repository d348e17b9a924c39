/* op_call.c: what an expand function reads of its call */

#include "ops/op.h"

static const struct ttnn_value absent;

const struct ttnn_value *tt_call_arg(const struct tt_call *call, const char *name)
{
	int index = tt_sig_index(call->args->sig, name);

	return index < 0 ? &absent : &call->args->values[index];
}

bool tt_call_given(const struct tt_call *call, const char *name)
{
	int index = tt_sig_index(call->args->sig, name);

	return index >= 0 && (call->args->given >> index & 1);
}

struct tt_tensor *tt_call_tensor(const struct tt_call *call, const char *name)
{
	const struct ttnn_value *value = tt_call_arg(call, name);

	return value->kind == TTNN_VALUE_TENSOR ? value->tensor : NULL;
}

const struct ttnn_memory_config *tt_call_memory(const struct tt_call *call, const char *name)
{
	const struct ttnn_value *value = tt_call_arg(call, name);

	return value->kind == TTNN_VALUE_MEMORY ? value->memory : NULL;
}

const ttnn_core_set *tt_call_core_set(const struct tt_call *call, const char *name)
{
	const struct ttnn_value *value = tt_call_arg(call, name);

	return value->kind == TTNN_VALUE_CORE_SET ? value->core_set : NULL;
}

int64_t tt_call_int(const struct tt_call *call, const char *name, int64_t fallback)
{
	int64_t out;

	return tt_value_integer(&out, tt_call_arg(call, name)) ? out : fallback;
}

double tt_call_real(const struct tt_call *call, const char *name, double fallback)
{
	double out;

	return tt_value_number(&out, tt_call_arg(call, name)) ? out : fallback;
}

bool tt_call_bool(const struct tt_call *call, const char *name, bool fallback)
{
	const struct ttnn_value *value = tt_call_arg(call, name);

	return value->kind == TTNN_VALUE_BOOL ? value->boolean : fallback;
}

enum ttnn_dtype tt_call_dtype(const struct tt_call *call, const char *name,
			      enum ttnn_dtype fallback)
{
	const struct ttnn_value *value = tt_call_arg(call, name);

	return value->kind == TTNN_VALUE_ENUM ? (enum ttnn_dtype)value->integer : fallback;
}

tt_status tt_call_ints(int64_t *out, size_t *count, size_t most, const struct tt_call *call,
		       const char *name)
{
	const struct ttnn_value *value = tt_call_arg(call, name);
	size_t given;

	*count = 0;
	if (value->kind == TTNN_VALUE_INT) {
		out[(*count)++] = value->integer;
		return TTNN_OK;
	}
	if (value->kind != TTNN_VALUE_LIST && value->kind != TTNN_VALUE_SHAPE)
		return TTNN_OK;
	given = value->kind == TTNN_VALUE_LIST ? value->count : value->shape->rank;
	TT_NEED(given <= most, "%s: %s has %zu entries, at most %zu are possible",
		call->entry->op->name, name, given, most);
	for (size_t i = 0; i < given; i++)
		if (value->kind == TTNN_VALUE_SHAPE)
			out[i] = value->shape->dim[i];
		else if (!tt_value_integer(&out[i], &value->items[i]))
			return tt_fail(TTNN_INVALID, "%s: entry %zu of %s is %s, not an integer",
				       call->entry->op->name, i, name,
				       tt_value_kind_name(&value->items[i]));
	*count = given;
	return TTNN_OK;
}

void tt_call_return(struct tt_call *call, struct tt_tensor *tensor)
{
	if (call->result_count < TT_OUTPUTS_MAX)
		call->results[call->result_count++] = tensor;
	else
		ttnn_tensor_unref(tensor);
}

struct tt_tensor *tt_call_own(struct tt_call *call, struct tt_tensor *tensor)
{
	if (tensor && call->owned_count < TT_OUTPUTS_MAX)
		call->owned[call->owned_count++] = tensor;
	return tensor;
}

/*
 * Upstream asks a shape for a dimension before it checks the rank: this is what its accessor
 * says then. Ranks below four are filled up inside, so the text speaks of four.
 */
tt_status tt_need_dim(const struct ttnn_shape *shape, uint32_t index)
{
	if (index < shape->rank)
		return TTNN_OK;
	return tt_fail_cond(TTNN_INVALID, "tt::exception",
			    "ShapeBase[] index out of range. %u not in [-%u, %u)", index,
			    shape->rank > 4 ? shape->rank : 4, shape->rank);
}
