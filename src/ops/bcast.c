/*
 * bcast.c: the older form of broadcasting: one of three operations with an operand that is one row, one
 * column or one number per matrix; and what is built on it: deviations and normalisation per matrix.
 */
#include <math.h>

#include "backend/backend.h"
#include "device/device.h"
#include "ops/enums.h"
#include "ops/golden.h"
#include "ops/movement.h"
#include "ops/recipe.h"
#include "ops/rows.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

/* ---- the program ------------------------------------------------------------------------------- */

enum { MATH, DIM, MEMORY, IN_PLACE, ATTRS };

/* Upstream's order; those of sharded operands are not here. */
enum { FACTORY_H, FACTORY_W = 3, FACTORY_HW, FACTORIES };

static const struct tt_field attr_fields[ATTRS] = {
	[MATH] = {.name = "math_op"},
	[DIM] = {.name = "dim"},
	[MEMORY] = {.name = "output_mem_config"},
	[IN_PLACE] = {.name = "in_place"},
};
static const struct tt_schema attrs_schema = {"BcastParams", attr_fields, ATTRS, false};

static tt_status infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	launch->output_count = 1;
	if (launch->outputs[0]) {
		launch->specs[0] = launch->outputs[0]->spec;
		return TTNN_OK;
	}
	return tt_spec_simple(&launch->specs[0], &in->shape, in->dtype, TTNN_TILE,
			      launch->attrs[MEMORY].memory);
}

/* One matrix for all, or as many as there are. */
static tt_status validate(struct tt_launch *launch)
{
	const struct ttnn_shape *a = &launch->inputs[0]->spec.shape;
	const struct ttnn_shape *b = &launch->inputs[1]->spec.shape;
	uint64_t batches = 1;

	for (uint32_t back = 3; back <= b->rank; back++)
		batches *= tt_shape_last(b, back);
	for (uint32_t back = 3; back <= a->rank && batches != 1; back++)
		TT_REQUIRE(tt_shape_last(a, back) == tt_shape_last(b, back),
			   "input_shape_a[i] == input_shape_b[i]",
			   "Broadcast with batch is currently only supported when bN*bC=1 or N & C "
			   "match or equivalent");
	return TTNN_OK;
}

/* ---- its memory ----------------------------------------------------------------------------------- */

static bool in_shards(const struct tt_launch *launch)
{
	const struct ttnn_memory_config *memory = &launch->inputs[0]->spec.memory;

	return memory->has_shard && memory->buffer == TTNN_L1;
}

static struct tt_tensor *shard_in0(const struct tt_launch *launch)
{
	return in_shards(launch) ? launch->inputs[0] : NULL;
}

static struct tt_tensor *shard_out0(const struct tt_launch *launch)
{
	return in_shards(launch) ? launch->outputs[0] : NULL;
}

static uint64_t pages(const struct tt_launch *launch)
{
	return in_shards(launch) ? tt_shard_tiles(&launch->inputs[0]->spec) : 2;
}

static tt_status cores(const ttnn_core_set **out, const struct tt_launch *launch)
{
	*out = in_shards(launch) ? launch->inputs[0]->spec.memory.shard.grid : launch->grid;
	return TTNN_OK;
}

static const struct tt_mem_row rows[] = {
	{TT_DFB, 0, .pages = pages, .page = tt_page_in0, .cores = cores, .backing = shard_in0},
	{TT_DFB, 1, .page_count = 2, .page = tt_page_in1, .cores = cores},
	{TT_DFB, 2, .pages = pages, .page = tt_page_out0, .cores = cores, .backing = shard_out0},
};
static const struct tt_factory factories[FACTORIES] = {
	[FACTORY_H] = {"ttnn::prim::BcastMultiCoreHProgramFactory", rows, TT_COUNT(rows), NULL},
	[FACTORY_W] = {"ttnn::prim::BcastMultiCoreWProgramFactory", rows, TT_COUNT(rows), NULL},
	[FACTORY_HW] = {"ttnn::prim::BcastMultiCoreHWProgramFactory", rows, TT_COUNT(rows), NULL},
};

static tt_status choose(uint32_t *out, struct tt_launch *launch)
{
	int64_t dim = launch->attrs[DIM].integer;

	*out = dim == TT_BCAST_H ? FACTORY_H : dim == TT_BCAST_W ? FACTORY_W : FACTORY_HW;
	return TTNN_OK;
}

static tt_status kernel(struct tt_launch *launch)
{
	static const enum tt_binary_fn fns[] = {TT_BINARY_ADD, TT_BINARY_SUB, TT_BINARY_MUL};
	const struct tt_map_job job = {.out = launch->outputs[0],
				       .arity = 2,
				       .in = {launch->inputs[0], launch->inputs[1]},
				       .op = fns[launch->attrs[MATH].integer]};

	return tt_backend_get()->map(&job);
}

static const struct tt_prog program = {
	.device_op = "BcastDeviceOperation",
	.prim = "ttnn::prim::bcast",
	.attrs = &attrs_schema,
	.infer = infer,
	.validate = validate,
	.factories = factories,
	.factory_count = FACTORIES,
	.choose = choose,
	.kernel = kernel,
};

/* ---- bcast ------------------------------------------------------------------------------------------ */

static tt_status check_operand(const struct tt_tensor *a, const struct tt_tensor *b, int64_t dim)
{
	const struct ttnn_shape *left = &a->spec.padded, *right = &b->spec.padded;
	uint32_t height = tt_shape_last(right, 2), width = tt_shape_last(right, 1);

	if (dim == TT_BCAST_W) {
		TT_REQUIRE(tt_shape_last(left, 2) == height,
			   "input_tensor_a.padded_shape()[-2] == input_tensor_b.padded_shape()[-2]",
			   "Input tensor A height (%u) must equal input tensor B height (%u) for "
			   "width broadcast",
			   tt_shape_last(left, 2), height);
		TT_REQUIRE(width == 32, "input_tensor_b.padded_shape()[-1] == TILE_WIDTH",
			   "Input tensor B width (%u) must equal TILE_WIDTH (32) for tile layout",
			   width);
	}
	if (dim == TT_BCAST_H) {
		TT_REQUIRE(tt_shape_last(left, 1) == width,
			   "input_tensor_a.padded_shape()[-1] == input_tensor_b.padded_shape()[-1]",
			   "Input tensor A width (%u) must equal input tensor B width (%u)",
			   tt_shape_last(left, 1), width);
		TT_REQUIRE(height == 32, "input_tensor_b.padded_shape()[-2] == TILE_HEIGHT",
			   "Input tensor B height (%u) must equal TILE_HEIGHT (32) for tile layout",
			   height);
	}
	if (dim == TT_BCAST_HW)
		TT_REQUIRE(height == 32 && width == 32,
			   "input_tensor_b.padded_shape()[-2] == TILE_HEIGHT && "
			   "input_tensor_b.padded_shape()[-1] == TILE_WIDTH",
			   "Error");
	return TTNN_OK;
}

static tt_status tiled(struct tt_tensor **tensor, struct tt_call *call)
{
	const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(*tensor)},
					{NULL, ttnn_v_layout(TTNN_TILE)}};

	if ((*tensor)->spec.layout == TTNN_TILE)
		return TTNN_OK;
	TT_TRY(tt_call_op(tensor, call, "ttnn.to_layout", args, 2));
	tt_call_own(call, *tensor);
	return TTNN_OK;
}

static tt_status expand_bcast(struct tt_call *call)
{
	struct tt_tensor *a = tt_call_tensor(call, "input_a"), *out;
	struct tt_tensor *b = tt_call_tensor(call, "input_b");
	struct tt_tensor *given = tt_call_tensor(call, "output_tensor");
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	const struct ttnn_value *dim = tt_call_arg(call, "dim");

	TT_TRY(check_operand(a, b, dim->integer));
	TT_TRY(tiled(&a, call));
	TT_TRY(tiled(&b, call));
	memory = given ? &given->spec.memory : memory ? memory : &a->spec.memory;
	const struct ttnn_value attrs[ATTRS] = {
		[MATH] = *tt_call_arg(call, "math_op"),
		[DIM] = *dim,
		[MEMORY] = ttnn_v_memory(memory),
		[IN_PLACE] = ttnn_v_bool(false),
	};
	struct tt_tensor *const inputs[] = {a, b};

	TT_TRY(tt_call_program(&out, call,
			       &(struct tt_program_args){.prog = &program,
							 .attrs = attrs,
							 .inputs = inputs,
							 .input_count = 2,
							 .outputs = &given,
							 .output_count = 1}));
	tt_call_return(call, out);
	return TTNN_OK;
}

static tt_status golden_bcast(struct tt_golden *golden)
{
	const struct tt_array *a = tt_golden_in(golden, "input_a");
	const struct tt_array *b = tt_golden_in(golden, "input_b");
	struct tt_array *out = a ? tt_golden_out(golden, &a->shape, a->dtype) : NULL;
	int64_t math = tt_call_arg(&golden->call, "math_op")->integer;
	uint64_t at[TTNN_MAX_RANK];

	if (!out || !b)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	for (uint64_t i = 0; i < a->count; i++) {
		double y;

		tt_array_coordinate(at, a, i);
		y = tt_array_broadcast(b, &a->shape, at);
		out->data[i] = math == TT_BCAST_ADD   ? a->data[i] + y
			       : math == TT_BCAST_SUB ? a->data[i] - y
						      : a->data[i] * y;
	}
	return TTNN_OK;
}

/* ---- matrix by matrix -------------------------------------------------------------------------------- */

/* How much of the way is gone: the deviation from the mean is common to all. */
enum part { VARIANCE, DEVIATION, NORMALISED };
static const enum part variance = VARIANCE, deviation = DEVIATION, normalised = NORMALISED;

#define CENTRED "m = mean~(input_tensor, dims, True); d = bcast~(input_tensor, m, sub, hw); "
#define SPREAD "s = square(d); v = sum(s, dims, True, scalar=share); "

static tt_status expand_matrix(struct tt_call *call)
{
	static const char *const texts[] = {
		[VARIANCE] = CENTRED SPREAD "return v",
		[DEVIATION] = CENTRED SPREAD "drop s; drop d; drop m; return sqrt(v)",
		[NORMALISED] = CENTRED SPREAD
		"drop s; return multiply(d, v, input_tensor_b_activations=[RSQRT])",
	};
	const struct ttnn_shape *shape = &tt_call_tensor(call, "input_tensor")->spec.shape;
	const struct ttnn_value dims[] = {ttnn_v_int(-2), ttnn_v_int(-1)};
	float share = 1.0f / (float)((uint64_t)tt_shape_last(shape, 1) * tt_shape_last(shape, 2));
	const struct tt_recipe_name names[] = {
		{"dims", ttnn_v_list(dims, 2)},
		{"sub", tt_value_enum(&tt_enum_bcast_math, TT_BCAST_SUB)},
		{"hw", tt_value_enum(&tt_enum_bcast_dim, TT_BCAST_HW)},
		{"share", ttnn_v_real((double)share)}};
	const struct tt_recipe recipe = {.text = texts[*(const enum part *)call->entry->op->row],
					 .memory = tt_call_memory(call, "memory_config"),
					 .names = names,
					 .name_count = 4};

	return tt_recipe_run(call, &recipe);
}

static tt_status golden_matrix(struct tt_golden *golden)
{
	enum part part = *(const enum part *)golden->op->row;
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct ttnn_shape shape;
	struct tt_array *out;
	uint64_t size;

	if (!in)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	shape = in->shape;
	size = (uint64_t)tt_shape_last(&shape, 1) * tt_shape_last(&shape, 2);
	for (uint32_t back = 1; back <= 2 && part != NORMALISED; back++)
		shape.dim[shape.rank - back] = 1;
	out = tt_golden_out(golden, &shape, in->dtype);
	if (!out)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	for (uint64_t matrix = 0; matrix < in->count / size; matrix++) {
		const double *x = &in->data[matrix * size];
		double mean = 0, spread = 0;

		for (uint64_t i = 0; i < size; i++)
			mean += x[i] / (double)size;
		for (uint64_t i = 0; i < size; i++)
			spread += (x[i] - mean) * (x[i] - mean) / (double)size;
		for (uint64_t i = 0; i < size && part == NORMALISED; i++)
			out->data[matrix * size + i] = (x[i] - mean) / sqrt(spread);
		if (part != NORMALISED)
			out->data[matrix] = part == DEVIATION ? sqrt(spread) : spread;
	}
	return TTNN_OK;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

#define MC "memory_config: MemoryConfig? = None"
#define OP(name_, doc_, expand_, golden_, row_, signature)                                         \
	{                                                                                          \
		.name = "ttnn." name_, .family = "bcast", .doc = doc_, .sigs = {signature},        \
		.expand = expand_, .golden = golden_, .pcc = 0.999, .row = row_                    \
	}
#define MATRIX(name, doc, row)                                                                     \
	OP(name, doc, expand_matrix, golden_matrix, row, "input_tensor: Tensor, *, " MC)

static const struct tt_op ops[] = {
	OP("bcast", "a with a row, a column or a number for each of its matrices.", expand_bcast,
	   golden_bcast, NULL,
	   "input_a: Tensor, input_b: Tensor, math_op: BcastOpMath, dim: BcastOpDim, *, " MC
	   ", output_tensor: Tensor? = None"),
	MATRIX("normalize_hw", "Each matrix with mean 0 and deviation 1.", &normalised),
	MATRIX("std_hw", "The standard deviation of each matrix.", &deviation),
	MATRIX("var_hw", "The variance of each matrix.", &variance),
};

const struct tt_op_family tt_family_bcast = {"bcast", ops, sizeof(ops) / sizeof(ops[0])};
