/*
 * usual.h: what most programs and launches share, so that a program file says only what is its own. Includes what
 * nearly all of them need: the words of tensors (op.h), devices and their tensors, cores, memory rows, costs.
 *
 *	static tt_status expand(struct tt_call *call)
 *	{
 *		struct tt_tensor *in = tt_call_tensor(call, "input");
 *
 *		return TT_LAUNCH_RETURN(call, &prog, TT_INPUTS(in),
 *					TT_BIND(call, schema, [MEMORY] = tt_value_memory_or_like(call, in)));
 *	}
 */
#ifndef TT_OPS_USUAL_H
#define TT_OPS_USUAL_H

#include "device/device.h"
#include "device/devtensor.h"
#include "device/work_split.h"
#include "ops/cost.h"
#include "ops/mem_rows.h"
#include "ops/op.h"
#include "ops/scratch.h"

/* ---- calling other operations ---------------------------------------------------------------- */

/* tt_call_op() with the arguments as a list: TT_CALL(&out, call, "ttnn.copy", {"input_a", a}, {"input_b", b}). */
#define TT_CALL(out, parent, name, ...)                                                            \
	tt_call_op(out, parent, name, (const struct ttnn_arg[]){__VA_ARGS__},                      \
		   TT_COUNT(((const struct ttnn_arg[]){__VA_ARGS__})))

/* The end of an expand(): the result is returned if the step that made it succeeded. Gives its status. */
static inline tt_status tt_call_give(struct tt_call *call, tt_status status,
				     struct tt_tensor *const *result)
{
	if (status == TTNN_OK)
		tt_call_return(call, *result);
	return status;
}

/* The same where the caller's tensor is the call's own from now on (tt_call_own()). */
static inline tt_status tt_call_owned(struct tt_call *call, tt_status status,
				      struct tt_tensor *const *made)
{
	if (status == TTNN_OK)
		tt_call_own(call, *made);
	return status;
}

/* The last call of an expand(): TT_CALL() whose result is returned. */
#define TT_CALL_RETURN(call, name, ...)                                                            \
	tt_call_return_op(call, name, (const struct ttnn_arg[]){__VA_ARGS__},                      \
			  TT_COUNT(((const struct ttnn_arg[]){__VA_ARGS__})))
static inline tt_status tt_call_return_op(struct tt_call *call, const char *name,
					  const struct ttnn_arg *args, size_t count)
{
	struct tt_tensor *out;

	return tt_call_give(call, tt_call_op(&out, call, name, args, count), &out);
}

/* Give a tensor up after the step that is their argument, whatever came of it; return its status. */
static inline tt_status tt_call_drop_after(struct tt_call *call, tt_status status,
					   struct tt_tensor *tensor)
{
	tt_call_drop(call, tensor);
	return status;
}
static inline tt_status tt_call_overwrite_after(struct tt_call *call, tt_status status,
						struct tt_tensor *tensor)
{
	tt_call_overwrite(call, tensor);
	return status;
}

/* *next takes the place of *tensor, which is overwritten in any case; after a failure it becomes NULL. */
static inline tt_status tt_call_assign(struct tt_tensor **tensor, struct tt_call *call,
				       tt_status status, struct tt_tensor *const *next)
{
	tt_call_overwrite(call, *tensor);
	*tensor = status == TTNN_OK ? *next : NULL;
	return status;
}

/* tt_call_drop() of several. */
static inline void tt_call_drop_all(struct tt_call *call, struct tt_tensor **tensors, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tt_call_drop(call, tensors[i]);
}

/* ---- launching -------------------------------------------------------------------------------- */

/* Members of struct tt_program_args, from lists of tensors. NULL: none there. */
#define TT_INPUTS(...)                                                                             \
	.inputs = (struct tt_tensor *[]){__VA_ARGS__},                                             \
	.input_count = TT_COUNT(((struct tt_tensor *[]){__VA_ARGS__}))
#define TT_OUTPUTS(...)                                                                            \
	.outputs = (struct tt_tensor *[]){__VA_ARGS__},                                            \
	.output_count = TT_COUNT(((struct tt_tensor *[]){__VA_ARGS__}))

/*
 * The member .attrs, from a list of [ID] = value; what is not in it is the call's argument of the attribute's
 * name. `schema_` is what TT_ATTRS() made.
 */
#define TT_BIND(call, schema_, ...)                                                                \
	.attrs = tt_attrs_bind(call, &(schema_), (struct ttnn_value[schema_##_count]){__VA_ARGS__})

/* Fills attributes that are absent from the call's arguments of the same names; returns them. */
const struct ttnn_value *tt_attrs_bind(const struct tt_call *call, const struct tt_schema *schema,
				       struct ttnn_value *attrs);

/* Launches a program with one output, into *out. Behind the program: members of struct tt_program_args. */
#define TT_LAUNCH(out, call, prog_, ...)                                                           \
	tt_call_program(out, call, &(struct tt_program_args){.prog = (prog_), __VA_ARGS__})

/* The same with any number of outputs, which are the results of the call. */
#define TT_LAUNCH_RETURN(call, prog_, ...)                                                         \
	tt_launch_return(call, &(struct tt_program_args){.prog = (prog_), __VA_ARGS__})
tt_status tt_launch_return(struct tt_call *call, const struct tt_program_args *args);

/* The call's argument "memory_config", or the memory config of the tensor when none was given. */
const struct ttnn_memory_config *tt_memory_or_like(const struct tt_call *call,
						   const struct tt_tensor *like);
/* The same as a value. */
struct ttnn_value tt_value_memory_or_like(const struct tt_call *call, const struct tt_tensor *like);

/* A shape argument without -1 in it. */
tt_status tt_call_shape(struct ttnn_shape *out, const struct tt_call *call, const char *name);

/* The tensor at a place of a list; NULL when it is no list, or has none there. */
struct tt_tensor *tt_value_item_tensor(const struct ttnn_value *list, size_t place);

/* A core set as a value; None when there is none. */
struct ttnn_value tt_value_cores(const ttnn_core_set *cores);

/* ---- programs --------------------------------------------------------------------------------- */

/* Members of struct tt_prog: a table of factories, or the only one, by its name and memory function. */
#define TT_FACTORIES(table) .factories = (table), .factory_count = TT_COUNT(table)
#define TT_FACTORY_ROW(name_, memory_)                                                             \
	{                                                                                          \
		.name = (name_), .memory = (memory_)                                               \
	}
#define TT_FACTORY(name_, memory_)                                                                 \
	.factories = &(const struct tt_factory){.name = (name_), .memory = (memory_)},             \
	.factory_count = 1

/*
 * What infer() does most often: one output. If it was given, its own spec holds; otherwise this shape, dtype
 * and layout, and the memory config that is among the attributes.
 */
tt_status tt_infer_one(struct tt_launch *launch, const struct ttnn_shape *shape,
		       enum ttnn_dtype dtype, enum ttnn_layout layout);

/* Shape, dtype and layout of the first input: what a program without an infer() does. */
tt_status tt_infer_like_input(struct tt_launch *launch);

/* The same shape, dtype and layout with a padded shape of its own; no output is ever given. */
tt_status tt_infer_padded(struct tt_launch *launch, const struct ttnn_shape *shape,
			  const struct ttnn_shape *padded, enum ttnn_dtype dtype,
			  enum ttnn_layout layout);

/* The spec of the first input, memory config and all: it is written in its place, or by its pattern. */
tt_status tt_infer_in_place(struct tt_launch *launch);

/* The same in tiles, whatever the layout of the input. */
tt_status tt_infer_tiles(struct tt_launch *launch);

/* Output `which` has the spec of the tensor that was given for it; false when none was. */
bool tt_infer_given(struct tt_launch *launch, size_t which);

/* Refuses a given output of another shape than what will be written to it; without one there is nothing to check. */
tt_status tt_check_given(const struct tt_launch *launch, size_t which,
			 const struct ttnn_shape *shape);

/* An attribute by its name; absent if the program has none such. For programs that share functions. */
const struct ttnn_value *tt_launch_attr(const struct tt_launch *launch, const char *name);

/* An attribute that is a number of things. */
static inline uint32_t tt_attr_u32(const struct tt_launch *launch, int attr)
{
	return (uint32_t)launch->attrs[attr].integer;
}

/* Zeroed memory for what choose() works out, as launch->work; NULL with the message set. */
void *tt_work_new(struct tt_launch *launch, size_t size);

#endif
