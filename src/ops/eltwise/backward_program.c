/*
 * backward_program.c: gradients that upstream computes in one program, tile by tile. All others
 * are recipes of ordinary operations (backward.c).
 *
 * Models UnaryBackwardDeviceOperation (gelu, tanh, sigmoid) and BinaryBackwardDeviceOperation of
 * ttnn 0.81 (eltwise/unary_backward, binary_backward), each with its one factory: specs,
 * refusals, memory, cores. Not modelled: polynomials of the engine.
 */
#include "ops/eltwise/backward_program.h"

#include <stdio.h>

#include "backend/backend.h"
#include "ops/movement/movement.h"

enum { FN, DTYPE, MEMORY, UNARY_ATTRS, WANTED = UNARY_ATTRS, BINARY_ATTRS };

static const struct tt_enum_row unary_fns[] = {
	{TT_TANH_BW, "TANH_BW"},
	{TT_SIGMOID_BW, "SIGMOID_BW"},
	{TT_GELU_BW, "GELU_BW"},
	{TT_GELU_TANH_BW, "GELU_TANH_BW"},
};
static const struct tt_enum enum_unary = {"UnaryBackwardOpType", unary_fns, 4};
static const struct tt_enum_row binary_fns[] = {{0, "MUL_BW"}};
static const struct tt_enum enum_binary = {"BinaryBackwardOpType", binary_fns, 1};

static const struct tt_field attr_fields[BINARY_ATTRS] = {
	[FN] = {.name = "op_type"},
	[DTYPE] = {.name = "output_dtype"},
	[MEMORY] = {.name = "output_memory_config"},
	[WANTED] = {.name = "are_required_outputs", .text = TT_TEXT_FIXED, .fixed = "array(1, 1)"},
};
static const struct tt_schema unary_schema = {"UnaryBackwardParams", attr_fields, UNARY_ATTRS,
					      false};
static const struct tt_schema binary_schema = {"BinaryBackwardParams", attr_fields, BINARY_ATTRS,
					       false};

/* ---- what is refused ---------------------------------------------------------------------------- */

static const char *fn_name(const struct tt_launch *launch)
{
	const struct ttnn_value *fn = &launch->attrs[FN];

	return fn->enumeration == &enum_binary ? "MUL_BW" : unary_fns[fn->integer].name;
}

/* Floats only; the text names function and operand. */
static tt_status check_operand(const struct tt_launch *launch, const struct tt_tensor *tensor,
			       const char *what)
{
	const char *name = fn_name(launch);

	TT_REQUIRE(!tt_dtype_is_integer(tensor->spec.dtype), "is_supported_dtype(tensor.dtype())",
		   "%s operation only supports floating-point dtypes (bfloat16, float32, "
		   "bfloat8_b, bfloat4_b), but %s has dtype DataType::%s.",
		   name, what, ttnn_dtype_name(tensor->spec.dtype, TTNN_DIALECT_TT_METAL));
	return TTNN_OK;
}

/* No broadcasting. */
static tt_status check_shape(const struct tt_launch *launch)
{
	const struct ttnn_shape *grad = &launch->inputs[0]->spec.shape;
	const struct ttnn_shape *in = &launch->inputs[1]->spec.shape;
	char message[200];

	if (ttnn_shape_equal(grad, in))
		return TTNN_OK;
	snprintf(message, sizeof(message),
		 "%s operation requires grad_output and input to have the same logical shape, but "
		 "got %%s and %%s.",
		 fn_name(launch));
	return tt_fail_shapes(TTNN_INVALID, "grad_output.logical_shape() == input.logical_shape()",
			      message, grad, in);
}

/* ---- one operand ------------------------------------------------------------------------------------ */

static tt_status backward_unary_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[1]->spec;

	return tt_infer_one(launch, &in->shape, in->dtype, in->layout);
}

/* In upstream's order: input first. */
static tt_status backward_unary_validate(struct tt_launch *launch)
{
	enum ttnn_layout layouts[] = {launch->inputs[0]->spec.layout,
				      launch->inputs[1]->spec.layout};

	TT_TRY(check_operand(launch, launch->inputs[1], "the input tensor"));
	TT_TRY(check_operand(launch, launch->inputs[0], "the grad_output tensor"));
	TT_REQUIRE(layouts[0] == layouts[1], "grad_output.layout() == input.layout()",
		   "%s operation requires grad_output and input to have the same layout, but got "
		   "Layout::%s and Layout::%s.",
		   fn_name(launch), layouts[0] == TTNN_TILE ? "TILE" : "ROW_MAJOR",
		   layouts[1] == TTNN_TILE ? "TILE" : "ROW_MAJOR");
	return check_shape(launch);
}

/* ---- its memory ----------------------------------------------------------------------------------------- */

/* Whether both operands and the result lie in shards of the same kind: then buffers are the shards. */
static bool in_shards(const struct tt_launch *launch)
{
	const struct ttnn_memory_config *first = &launch->inputs[0]->spec.memory;

	return first->has_shard && first->buffer == TTNN_L1 &&
	       launch->inputs[0]->spec.layout == TTNN_TILE &&
	       ttnn_memory_config_equal(first, &launch->inputs[1]->spec.memory) &&
	       ttnn_memory_config_equal(first, &launch->outputs[0]->spec.memory);
}

static bool in_rows(const struct tt_launch *launch)
{
	return launch->inputs[1]->spec.layout == TTNN_ROW_MAJOR;
}

/* Rows that fill their pages go together until they are as much as a tile; others go alone. */
static uint64_t work_units(const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[1];
	uint64_t width = in->spec.cols, together = 1;

	if (in->spec.layout == TTNN_TILE)
		return in->spec.pages;
	if (width && width < 1024 && tt_aligned_page(in) == width * tt_element_bytes(in))
		together = 1024 / width;
	return (in->spec.rows + together - 1) / together;
}

/* Rows are read and then put in place: room for what alignment shifts, beside a tile. */
#define STAGING_SLACK 96

/* Shards are buffers as they lie. Rows go through a staging page each. */
static tt_status backward_unary_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	bool shards = in_shards(launch);
	const ttnn_core_set *cores = shards ? launch->inputs[0]->spec.memory.shard.grid : NULL;
	uint64_t pages = shards ? tt_shard_tiles(&launch->inputs[0]->spec) : 2;
	uint64_t staging = tt_page_in1(launch) + STAGING_SLACK;
	struct tt_work_split split;

	if (!shards) {
		TT_TRY(tt_split_work(&split, launch->device->info.compute_grid, work_units(launch),
				     TTNN_ORIENT_COL_MAJOR));
		cores = split.all;
	}
	return TT_PLAN(
		plan, cores,
		TT_CB_ROW(0, "cb_grad_out", .pages = pages, .page = tt_page_in0(launch),
			  .backing = shards ? launch->inputs[0] : NULL),
		TT_CB_ROW(1, "cb_input", .pages = pages, .page = tt_page_in1(launch),
			  .backing = shards ? launch->inputs[1] : NULL),
		TT_CB_ROW(2, "cb_grad_in", .pages = pages, .page = tt_page_out0(launch),
			  .backing = shards ? launch->outputs[0] : NULL),
		TT_CB_ROW(3, "staging of grad_out", .pages = in_rows(launch), .page = staging),
		TT_CB_ROW(4, "staging of input", .pages = in_rows(launch), .page = staging));
}

/* The gradient times a slope of the input, as one job. */
static tt_status backward_unary_kernel(struct tt_launch *launch)
{
	static const enum tt_unary_fn slopes[] = {
		[TT_TANH_BW] = TT_UNARY_TANH_SLOPE,
		[TT_SIGMOID_BW] = TT_UNARY_SIGMOID_SLOPE,
		[TT_GELU_BW] = TT_UNARY_GELU_SLOPE,
		[TT_GELU_TANH_BW] = TT_UNARY_GELU_TANH_SLOPE,
	};
	const struct tt_unary_step slope = {.fn = slopes[launch->attrs[FN].integer]};
	const struct tt_map_job job = {.out = launch->outputs[0],
				       .arity = 2,
				       .in = {launch->inputs[0], launch->inputs[1]},
				       .pre = {NULL, &slope},
				       .pre_count = {0, 1},
				       .op = TT_BINARY_MUL};

	return tt_backend_get()->map(&job);
}

static const struct tt_prog unary_program = {
	.device_op = "UnaryBackwardDeviceOperation",
	.prim = "ttnn::prim::unary_backward",
	.attrs = &unary_schema,
	.infer = backward_unary_infer,
	.validate = backward_unary_validate,
	TT_FACTORY("ttnn::operations::unary_backward::UnaryBackwardProgramFactory",
		   backward_unary_memory),
	TT_KERNEL(backward_unary_kernel),
};

/* The dtype is the input's. */
tt_status tt_unary_backward_launch(struct tt_tensor **out, struct tt_call *call,
				   const struct tt_unary_backward_args *args)
{
	const struct ttnn_memory_config *memory =
		args->memory ? args->memory : &args->input->spec.memory;
	const struct ttnn_value attrs[UNARY_ATTRS] = {
		[FN] = tt_value_enum(&enum_unary, args->fn),
		[DTYPE] = ttnn_v_dtype(args->input->spec.dtype),
		[MEMORY] = ttnn_v_memory(memory),
	};

	return TT_LAUNCH(out, call, &unary_program, .attrs = attrs,
			 TT_INPUTS(args->grad, args->input), TT_OUTPUTS(args->output));
}

/* ---- a product ----------------------------------------------------------------------------------------- */

/* Refusals come before the specs, as upstream does it. */
static tt_status backward_binary_infer(struct tt_launch *launch)
{
	static const char *const names[] = {"the grad_output tensor", "the input tensor",
					    "the other tensor"};

	for (size_t i = 0; i < 3; i++)
		TT_TRY(check_operand(launch, launch->inputs[i], names[i]));
	launch->output_count = 2;
	for (size_t i = 0; i < 2; i++) {
		const struct ttnn_tensor_spec *in = &launch->inputs[1 + i]->spec;

		if (launch->outputs[i])
			launch->specs[i] = launch->outputs[i]->spec;
		else
			TT_TRY(tt_spec_simple(&launch->specs[i], &in->shape, in->dtype, TTNN_TILE,
					      launch->attrs[MEMORY].memory));
	}
	return TTNN_OK;
}

/* Two tiles of everything, by tile over the grid. */
static tt_status backward_binary_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *second = &launch->outputs[1]->spec;
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_by_tile(&cores, launch));
	return TT_PLAN(plan, cores,
		       TT_CB_ROW(0, "cb_grad_out", .pages = 2, .page = tt_page_in0(launch)),
		       TT_CB_ROW(1, "cb_input", .pages = 2, .page = tt_page_in1(launch)),
		       TT_CB_ROW(2, "cb_other", .pages = 2, .page = tt_page_in2(launch)),
		       TT_CB_ROW(3, "cb_grad_a", .pages = 2, .page = tt_page_out0(launch)),
		       TT_CB_ROW(4, "cb_grad_b", .pages = 2,
				 .page = tt_dtype_tile_bytes(second->dtype, &second->tile)));
}

/* grad × b and grad × a. */
static tt_status backward_binary_kernel(struct tt_launch *launch)
{
	for (size_t i = 0; i < 2; i++) {
		const struct tt_map_job job = {.out = launch->outputs[i],
					       .arity = 2,
					       .in = {launch->inputs[0], launch->inputs[2 - i]},
					       .op = TT_BINARY_MUL};

		TT_TRY(tt_backend_get()->map(&job));
	}
	return TTNN_OK;
}

static const struct tt_prog binary_program = {
	.device_op = "BinaryBackwardDeviceOperation",
	.prim = "ttnn::prim::binary_backward",
	.attrs = &binary_schema,
	.infer = backward_binary_infer,
	TT_FACTORY("ttnn::operations::binary_backward::BinaryBackwardProgramFactory",
		   backward_binary_memory),
	TT_KERNEL(backward_binary_kernel),
};

/* DTYPE stays unset. */
tt_status tt_mul_backward_launch(struct tt_tensor *out[2], struct tt_call *call,
				 const struct tt_mul_backward_args *args)
{
	const struct ttnn_memory_config *memory =
		args->memory ? args->memory : &args->a->spec.memory;
	const struct ttnn_value attrs[BINARY_ATTRS] = {
		[FN] = tt_value_enum(&enum_binary, 0),
		[DTYPE] = ttnn_v_dtype(TTNN_DTYPE_COUNT),
		[MEMORY] = ttnn_v_memory(memory),
		[WANTED] = ttnn_v_bool(true),
	};
	struct tt_tensor *const inputs[] = {args->grad, args->a, args->b};
	const struct tt_program_args launch = {.prog = &binary_program,
					       .attrs = attrs,
					       .inputs = inputs,
					       .input_count = 3,
					       .outputs = args->outputs,
					       .output_count = 2};
	size_t count;

	return tt_call_programs(out, &count, call, &launch);
}
