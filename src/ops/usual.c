#include "ops/usual.h"

#include <string.h>

const struct ttnn_value *tt_attrs_bind(const struct tt_call *call, const struct tt_schema *schema,
				       struct ttnn_value *attrs)
{
	for (size_t i = 0; i < schema->count; i++)
		if (attrs[i].kind == TTNN_VALUE_ABSENT)
			attrs[i] = *tt_call_arg(call, schema->fields[i].name);
	return attrs;
}

tt_status tt_launch_return(struct tt_call *call, const struct tt_program_args *args)
{
	struct tt_tensor *out[TT_OUTPUTS_MAX];
	size_t count;

	TT_TRY(tt_call_programs(out, &count, call, args));
	for (size_t i = 0; i < count; i++)
		tt_call_return(call, out[i]);
	return TTNN_OK;
}

const struct ttnn_memory_config *tt_memory_or_like(const struct tt_call *call,
						   const struct tt_tensor *like)
{
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");

	return memory ? memory : &like->spec.memory;
}

struct ttnn_value tt_value_memory_or_like(const struct tt_call *call, const struct tt_tensor *like)
{
	return ttnn_v_memory(tt_memory_or_like(call, like));
}

tt_status tt_call_shape(struct ttnn_shape *out, const struct tt_call *call, const char *name)
{
	int64_t dims[TTNN_MAX_RANK];
	size_t rank;

	TT_TRY(tt_call_ints(dims, &rank, TTNN_MAX_RANK, call, name));
	return ttnn_shape_make(out, dims, rank);
}

struct tt_tensor *tt_value_item_tensor(const struct ttnn_value *list, size_t place)
{
	if (list->kind != TTNN_VALUE_LIST || place >= list->count ||
	    list->items[place].kind != TTNN_VALUE_TENSOR)
		return NULL;
	return list->items[place].tensor;
}

struct ttnn_value tt_value_cores(const ttnn_core_set *cores)
{
	return cores ? ttnn_v_core_set(cores) : ttnn_v_none();
}

const struct ttnn_value *tt_launch_attr(const struct tt_launch *launch, const char *name)
{
	static const struct ttnn_value absent;

	for (size_t i = 0; i < launch->prog->attrs->count; i++)
		if (strcmp(launch->prog->attrs->fields[i].name, name) == 0)
			return &launch->attrs[i];
	return &absent;
}

static const struct ttnn_memory_config *memory_of(const struct tt_launch *launch)
{
	static const struct ttnn_memory_config none;

	for (size_t i = 0; i < launch->prog->attrs->count; i++)
		if (launch->attrs[i].kind == TTNN_VALUE_MEMORY)
			return launch->attrs[i].memory;
	return &none;
}

bool tt_infer_given(struct tt_launch *launch, size_t which)
{
	if (launch->outputs[which])
		launch->specs[which] = launch->outputs[which]->spec;
	return launch->outputs[which] != NULL;
}

tt_status tt_check_given(const struct tt_launch *launch, size_t which,
			 const struct ttnn_shape *shape)
{
	const struct tt_tensor *given = launch->outputs[which];

	TT_REQUIRE(!given || ttnn_shape_equal(&given->spec.shape, shape),
		   "preallocated_output.logical_shape() == output_spec.logical_shape()",
		   "%s: output tensor %zu has another shape than the result",
		   launch->prog->device_op, which);
	return TTNN_OK;
}

tt_status tt_infer_one(struct tt_launch *launch, const struct ttnn_shape *shape,
		       enum ttnn_dtype dtype, enum ttnn_layout layout)
{
	if (tt_infer_given(launch, 0))
		return TTNN_OK;
	return tt_spec_simple(&launch->specs[0], shape, dtype, layout, memory_of(launch));
}

tt_status tt_infer_padded(struct tt_launch *launch, const struct ttnn_shape *shape,
			  const struct ttnn_shape *padded, enum ttnn_dtype dtype,
			  enum ttnn_layout layout)
{
	struct ttnn_spec_args args = {
		.shape = *shape, .dtype = dtype, .layout = layout, .memory = *memory_of(launch)};

	return tt_tensor_spec_padded(&launch->specs[0], &args, padded);
}

tt_status tt_infer_in_place(struct tt_launch *launch)
{
	launch->specs[0] = launch->inputs[0]->spec;
	return TTNN_OK;
}

tt_status tt_infer_like_input(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	return tt_infer_one(launch, &in->shape, in->dtype, in->layout);
}

tt_status tt_infer_tiles(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	return tt_infer_one(launch, &in->shape, in->dtype, TTNN_TILE);
}

void *tt_work_new(struct tt_launch *launch, size_t size)
{
	launch->work = tt_arena_calloc(launch->arena, 1, size);
	if (!launch->work)
		tt_fail_nomem();
	return launch->work;
}
