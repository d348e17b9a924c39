#include "ops/moreh.h"

#include "backend/backend.h"
#include "ops/compute.h"
#include "ops/usual.h"

struct ttnn_value tt_moreh_compute(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true};

	return tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
}

struct ttnn_value tt_moreh_memory(const struct tt_call *call, const char *name,
				  const struct tt_tensor *like)
{
	const struct ttnn_memory_config *memory = tt_call_memory(call, name);

	return ttnn_v_memory(memory ? memory : &like->spec.memory);
}

uint64_t tt_moreh_sum_bytes(const struct ttnn_value *compute, enum ttnn_dtype dtype)
{
	return tt_tile_bytes_of(tt_compute_has(compute, TT_COMPUTE_FP32) ? TTNN_FLOAT32 : dtype);
}

/* ---- refusals ------------------------------------------------------------------------------------ */

tt_status tt_moreh_check_one(const struct tt_tensor *tensor, const struct tt_moreh_names *names,
			     const char *name)
{
	enum ttnn_dtype dtype;

	if (!tensor || !name)
		return TTNN_OK;
	dtype = tensor->spec.dtype;
	TT_REQUIRE(tensor->spec.layout == TTNN_TILE, "tensor.layout() == layout",
		   "%s %s only supports TILE layout.", names->program, name);
	TT_REQUIRE(dtype == TTNN_BFLOAT16 || (names->block_floats && dtype == TTNN_BFLOAT8_B) ||
			   (names->integers && dtype == TTNN_INT32),
		   "dtype_supported", "%s %s only supports specific data types. [BFLOAT16%s%s] ",
		   names->program, name, names->block_floats ? ", BFLOAT8_B" : "",
		   names->integers ? ", INT32" : "");
	return TTNN_OK;
}

tt_status tt_moreh_check(const struct tt_launch *launch, const struct tt_moreh_names *names)
{
	for (size_t i = 0; i < launch->input_count && i < TT_MOREH_TENSORS; i++)
		TT_TRY(tt_moreh_check_one(launch->inputs[i], names, names->tensors[i]));
	return TTNN_OK;
}

/* All extents before the last are 1. */
bool tt_moreh_is_row(const struct tt_tensor *tensor)
{
	const struct ttnn_shape *shape = &tensor->spec.shape;

	if (shape->rank != 2 && shape->rank != 4)
		return false;
	for (uint32_t d = 0; d + 1 < shape->rank; d++)
		if (shape->dim[d] != 1)
			return false;
	return true;
}

bool tt_moreh_is_scalar(const struct tt_tensor *tensor)
{
	return tt_moreh_is_row(tensor) && tt_shape_last(&tensor->spec.shape, 1) == 1;
}

tt_status tt_moreh_required(bool *out, const struct tt_call *call, size_t place)
{
	const struct ttnn_value *list = tt_call_arg(call, "are_required_outputs");
	size_t count = list->kind == TTNN_VALUE_LIST ? list->count : 0;

	*out = true;
	if (list->kind != TTNN_VALUE_LIST)
		return TTNN_OK;
	if (place >= count)
		return tt_fail(TTNN_RANGE,
			       "vector<bool>::_M_range_check: __n (which is %zu) >= this->size() "
			       "(which is %zu)",
			       place, count);
	*out = list->items[place].boolean;
	return TTNN_OK;
}

/* ---- dimensions ----------------------------------------------------------------------------------- */

tt_status tt_moreh_dims(int64_t *out, size_t *count, const struct tt_call *call, uint32_t rank,
			bool sorted)
{
	TT_TRY(tt_call_ints(out, count, TTNN_MAX_RANK, call, "dim"));
	if (!*count)
		for (; *count < rank; ++*count)
			out[*count] = (int64_t)*count;
	for (size_t i = 1; i < *count && sorted; i++)
		for (size_t k = i; k > 0 && out[k] < out[k - 1]; k--) {
			int64_t keep = out[k];

			out[k] = out[k - 1];
			out[k - 1] = keep;
		}
	return TTNN_OK;
}

/* ---- outputs that may be left out ------------------------------------------------------------------ */

tt_status tt_moreh_launch(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_program_args *args, const struct tt_moreh_slots *slots)
{
	struct tt_program_args launch = *args;
	struct tt_tensor *given[TT_MOREH_SLOTS], *made[TT_OUTPUTS_MAX];
	size_t count = 0, next = 0;

	for (size_t i = 0; i < slots->count; i++)
		if (slots->there[i])
			given[count++] = slots->given[i];
	launch.outputs = given;
	launch.output_count = count;
	launch.extra = slots;
	launch.in_place = true;
	TT_TRY(tt_call_programs(made, &count, call, &launch));
	for (size_t i = 0; i < slots->count; i++)
		out[i] = slots->there[i] ? made[next++] : NULL;
	return TTNN_OK;
}

tt_status tt_moreh_launch_return(struct tt_call *call, const struct tt_program_args *args,
				 const struct tt_moreh_slots *slots)
{
	struct tt_tensor *out[TT_MOREH_SLOTS];

	TT_TRY(tt_moreh_launch(out, call, args, slots));
	for (size_t i = 0; i < slots->count; i++)
		tt_call_return(call, out[i]);
	return TTNN_OK;
}

bool tt_moreh_has(const struct tt_launch *launch, size_t slot)
{
	const struct tt_moreh_slots *slots = launch->extra;

	return slot < slots->count && slots->there[slot];
}

/* The outputs of a launch are those that are there, one after the other. */
struct tt_tensor *tt_moreh_slot(const struct tt_launch *launch, size_t slot)
{
	size_t place = 0;

	if (!tt_moreh_has(launch, slot))
		return NULL;
	for (size_t i = 0; i < slot; i++)
		place += tt_moreh_has(launch, i);
	return launch->outputs[place];
}

tt_status tt_moreh_infer(struct tt_launch *launch, const struct ttnn_tensor_spec *made)
{
	launch->output_count = 0;
	for (size_t i = 0; i < TT_MOREH_SLOTS; i++) {
		const struct tt_tensor *given = tt_moreh_slot(launch, i);

		if (tt_moreh_has(launch, i))
			launch->specs[launch->output_count++] = given ? given->spec : made[i];
	}
	return TTNN_OK;
}

/* ---- arithmetic between steps ----------------------------------------------------------------------- */

tt_status tt_moreh_view(struct tt_tensor **out, const struct ttnn_shape *shape,
			struct tt_tensor *in)
{
	TT_TRY(tt_scratch_f32(out, shape));
	return tt_backend_get()->reshape(*out, in);
}

tt_status tt_moreh_matrix(struct tt_tensor **out, uint64_t rows, uint64_t cols,
			  struct tt_tensor *in)
{
	return tt_moreh_view(out, &(struct ttnn_shape){2, {(uint32_t)rows, (uint32_t)cols}}, in);
}

tt_status tt_moreh_map(struct tt_tensor *out, enum tt_binary_fn fn, struct tt_tensor *a,
		       struct tt_tensor *b)
{
	return tt_backend_get()->map(
		&(struct tt_map_job){.out = out, .arity = 2, .in = {a, b}, .op = fn});
}

tt_status tt_moreh_map_number(struct tt_tensor *out, enum tt_binary_fn fn, struct tt_tensor *a,
			      double number)
{
	return tt_backend_get()->map(&(struct tt_map_job){
		.out = out, .arity = 2, .in = {a}, .scalar = {0, number}, .op = fn});
}

tt_status tt_moreh_apply(struct tt_tensor *out, struct tt_tensor *a,
			 const struct tt_unary_step *steps, size_t count)
{
	return tt_backend_get()->map(&(struct tt_map_job){
		.out = out, .arity = 1, .in = {a}, .post = steps, .post_count = (uint32_t)count});
}

tt_status tt_moreh_power(struct tt_tensor *out, struct tt_tensor *a, double power)
{
	const struct tt_unary_step steps[] = {
		{.fn = TT_UNARY_ABS},
		{.fn = TT_UNARY_POWER, .count = 1, .params = {power < 0 ? -power : power}},
		{.fn = TT_UNARY_RECIP},
	};

	return tt_moreh_apply(out, a, steps, power < 0 ? 3 : 2);
}

tt_status tt_moreh_sum(struct tt_tensor **out, struct tt_tensor *in, uint32_t dims)
{
	struct ttnn_shape shape = in->spec.shape;

	for (uint32_t d = 0; d < shape.rank; d++)
		if (dims >> d & 1)
			shape.dim[d] = 1;
	TT_TRY(tt_scratch_f32(out, &shape));
	return tt_backend_get()->reduce(&(struct tt_reduce_job){
		.out = *out, .in = in, .kind = TT_REDUCE_SUM, .dims = dims, .scale = 1});
}
