/*
 * reduce_ops.c: sum, mean, max, min over any dimensions, and what passes of the programs they take.
 *
 * Width and height have a program. A dimension before them is brought to the place of the height
 * first, except by sums, which have a program for them. Several dimensions are several passes, the
 * last dimension first.
 */
#include "ops/reduce/reduce.h"

#include <math.h>

#include "golden/golden_reduction.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"
#include "ops/reduce/reduce_program.h"

/* ---- which dimensions ------------------------------------------------------------------------------- */

/* Padding that does not change the result. */
tt_status tt_reduction_tilize(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			      double padding)
{
	struct ttnn_shape padded = in->spec.shape;
	struct ttnn_arg args[] = {{"input_tensor", ttnn_v_tensor(in)},
				  {"output_tensor_shape", ttnn_v_shape(&padded)},
				  {"pad_value", ttnn_v_real(padding)},
				  {"memory_config", ttnn_v_memory(&in->spec.memory)}};

	if (padded.rank < 2) {
		padded.dim[1] = padded.dim[0];
		padded.dim[0] = 1;
		padded.rank = 2;
	}
	for (uint32_t back = 1; back <= 2; back++) {
		uint32_t *extent = &padded.dim[padded.rank - back];

		*extent = (uint32_t)tt_align_to(*extent, 32);
	}
	return tt_call_op(out, call, "ttnn.tilize_with_val_padding", args, TT_COUNT(args));
}

/* ---- what a call wants -------------------------------------------------------------------------------- */

struct request {
	struct tt_call *call;
	enum tt_reduce_math math;
	double scalar;
	const struct ttnn_memory_config *memory;
	struct ttnn_value compute;
	const ttnn_core_set *cores;
	bool fast;
	bool tiles, untiled; /* tiles are asked for; or rows are */
};

/* One step: these dimensions, this factor, this type and shape of the result. */
struct step {
	struct tt_tensor *in;
	enum tt_reduce_math math;
	enum tt_reduce_dim dim;
	double factor;
	enum ttnn_dtype dtype;
	const struct ttnn_shape *shape;
};

/* 0 for sums; for extremes what every element beats. */
static double padding_of(const struct request *request, enum ttnn_dtype dtype)
{
	bool max = request->math == TT_MATH_MAX;

	if (!max && request->math != TT_MATH_MIN)
		return 0;
	if (dtype == TTNN_INT32)
		return max ? INT32_MIN : INT32_MAX;
	if (dtype == TTNN_UINT32)
		return max ? 0 : UINT32_MAX;
	return max ? -INFINITY : INFINITY;
}

static tt_status reshape(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			 const struct ttnn_shape *shape)
{
	return tt_call_reshape(out, call, &(struct tt_reshape_args){.in = in, .shape = shape});
}

/* ---- width and height ------------------------------------------------------------------------------------ */

/* Floats of 32 bits are summed as such unless that is switched off. */
static bool is_exact(const struct request *request, enum ttnn_dtype dtype)
{
	return dtype == TTNN_FLOAT32 && !request->fast &&
	       tt_compute_has(&request->compute, TT_COMPUTE_FP32);
}

static bool is_vector(const struct request *request, enum tt_reduce_math math,
		      enum ttnn_dtype dtype)
{
	return is_exact(request, dtype) || (math == TT_MATH_MIN && dtype == TTNN_BFLOAT16);
}

/* A matrix of one tile is reduced at once, but not by the vector unit. */
static bool at_once(const struct request *request, const struct step *step)
{
	const struct ttnn_tensor_spec *in = &step->in->spec;
	struct tt_reduce_tiles tiles = tt_reduce_tiles_of(in);

	return step->dim == TT_DIM_HW && tiles.width * tiles.height * tiles.matrices == 1 &&
	       in->dtype != TTNN_INT32 && !is_vector(request, step->math, in->dtype);
}

/*
 * Means of rows are sums with a factor. A minimum is the negative maximum, where the vector unit
 * does not do it itself. Factors go into the scaler tile, or behind the sums where that is more
 * exact.
 */
static struct tt_reduce_pass pass_of(const struct request *request, const struct step *step,
				     struct tt_tensor *in)
{
	enum ttnn_dtype dtype = in->spec.dtype;
	bool extreme = step->math == TT_MATH_MAX || step->math == TT_MATH_MIN;
	bool exact = is_exact(request, dtype);
	struct tt_reduce_pass pass = {
		.in = in,
		.math = step->math,
		.dim = step->dim,
		.scaler = 1,
		.post = 1,
		.memory = request->memory,
		.dtype = step->dtype,
		.compute = request->compute,
		.cores = request->cores,
		.rows = in->spec.layout == TTNN_ROW_MAJOR,
		.vector = is_vector(request, step->math, dtype),
		.slices = 1,
		.layout = request->tiles ? TTNN_TILE : in->spec.layout,
	};

	if (step->math == TT_MATH_AVG && (exact || pass.rows))
		pass.math = TT_MATH_SUM;
	pass.negate = step->math == TT_MATH_MIN && !pass.vector && dtype != TTNN_INT32;
	if (pass.negate)
		pass.math = TT_MATH_MAX;
	if (extreme || exact || dtype == TTNN_INT32 || at_once(request, step))
		pass.mode = TT_SCALER_POST;
	else
		pass.mode = TT_SCALER_TILE;
	*(pass.mode == TT_SCALER_POST ? &pass.post : &pass.scaler) = step->factor;
	return pass;
}

/* Tiles, or rows, from which on a height is cut when there are cores without work. */
#define TALL_TILES 20
#define TALL_ROWS 8

/*
 * Tall and narrow tensors have too few columns for all cores: their height is cut, and the slices
 * are reduced again.
 */
static uint32_t slices_of(const struct request *request, const struct tt_tensor *in)
{
	struct tt_reduce_tiles tiles = tt_reduce_tiles_of(&in->spec);
	const ttnn_core_set *grid = request->cores ? request->cores : tt_tensor_device(in)->grid;
	uint64_t columns = tiles.width * tiles.matrices, slices;
	uint64_t tall = in->spec.layout == TTNN_TILE ? TALL_TILES : TALL_ROWS;
	bool extreme = request->math == TT_MATH_MAX || request->math == TT_MATH_MIN;

	if (tiles.height < tall || columns == 0 || tt_tensor_is_sharded(in) ||
	    tt_memory_config_is_sharded(request->memory) || in->spec.dtype == TTNN_INT32 ||
	    in->spec.dtype == TTNN_UINT32 || (extreme && in->spec.dtype == TTNN_BFLOAT8_B))
		return 1;
	slices = ttnn_core_set_cores(grid) / columns;
	if (slices > tiles.height)
		slices = tiles.height;
	return slices > 1 ? (uint32_t)slices : 1;
}

/* What sums have between two passes: whole numbers stay what they are. */
static enum ttnn_dtype between_dtype(enum ttnn_dtype dtype)
{
	return tt_dtype_is_integer(dtype) ? dtype : TTNN_FLOAT32;
}

/*
 * Slices of the height first, then what they gave: a tall tensor with few columns would keep few
 * cores busy. Sums between the passes are of a wider type; factor and mean come last.
 */
static tt_status height_in_slices(struct tt_tensor **out, const struct request *request,
				  const struct step *step, uint32_t slices)
{
	struct tt_reduce_pass first = pass_of(request, step, step->in), second;
	bool rows = first.rows, sums = step->math == TT_MATH_SUM || step->math == TT_MATH_AVG;
	struct tt_tensor *partial;

	if (step->math == TT_MATH_AVG)
		first.math = TT_MATH_SUM;
	first.scaler = first.post = 1;
	first.mode = TT_SCALER_NONE;
	first.dtype = sums ? between_dtype(step->in->spec.dtype) : step->in->spec.dtype;
	first.slices = slices;
	first.layout = TTNN_ROW_MAJOR;
	TT_TRY(tt_reduce_pass(&partial, request->call, &first));
	second = pass_of(request, step, partial);
	second.math = first.math;
	second.layout = request->tiles     ? TTNN_TILE
			: request->untiled ? TTNN_ROW_MAJOR
					   : step->in->spec.layout;
	second.scaler = second.post = 1;
	second.vector = is_exact(request, step->in->spec.dtype) ||
			(!rows && step->in->spec.dtype != TTNN_BFLOAT8_B);
	second.mode = second.vector ? TT_SCALER_POST : TT_SCALER_TILE;
	*(second.vector ? &second.post : &second.scaler) = step->factor;
	return tt_call_drop_after(request->call, tt_reduce_pass(out, request->call, &second),
				  partial);
}

/*
 * Width, then height: two passes of the program, of which the second has the factor. Sums of
 * bfloat16 stay in float32 between them if the compute config says float32.
 */
static tt_status both(struct tt_tensor **out, const struct request *request,
		      const struct step *step)
{
	enum ttnn_dtype dtype = step->in->spec.dtype;
	struct tt_reduce_pass wide = pass_of(request, step, step->in), tall;
	struct tt_tensor *column;

	wide.dim = TT_DIM_W;
	wide.scaler = wide.post = 1;
	wide.mode = TT_SCALER_NONE;
	wide.dtype = dtype;
	if (wide.math == TT_MATH_SUM && dtype == TTNN_BFLOAT16 &&
	    tt_compute_has(&request->compute, TT_COMPUTE_FP32))
		wide.dtype = TTNN_FLOAT32;
	tall = pass_of(request, step, step->in);
	tall.dim = TT_DIM_H;
	TT_TRY(tt_reduce_pass(&column, request->call, &wide));
	tall.in = column;
	return tt_call_drop_after(request->call, tt_reduce_pass(out, request->call, &tall), column);
}

/* Both dimensions at once only where upstream has it. */
static tt_status pass_4d(struct tt_tensor **out, const struct request *request,
			 const struct step *step)
{
	struct tt_reduce_pass pass;
	uint32_t slices;

	if (step->dim == TT_DIM_HW && !at_once(request, step))
		return both(out, request, step);
	slices = step->dim == TT_DIM_H ? slices_of(request, step->in) : 1;
	if (slices > 1)
		return height_in_slices(out, request, step, slices);
	pass = pass_of(request, step, step->in);
	return tt_reduce_pass(out, request->call, &pass);
}

/* Whether rows are reduced as they are. */
static bool takes_rows(const struct step *step)
{
	enum ttnn_dtype dtype = step->in->spec.dtype;

	return step->dim != TT_DIM_HW && (step->math == TT_MATH_SUM || step->math == TT_MATH_AVG) &&
	       (dtype == TTNN_BFLOAT16 || dtype == TTNN_FLOAT32) && !tt_tensor_is_sharded(step->in);
}

/* As a tensor of four dimensions: the very same, or a view. */
static tt_status to_4d(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	struct ttnn_shape shape = in->spec.shape;

	if (shape.rank > 4)
		return tt_call_fold_to_4d(out, call, in, NULL);
	while (shape.rank < 4) {
		for (uint32_t d = shape.rank++; d > 0; d--)
			shape.dim[d] = shape.dim[d - 1];
		shape.dim[0] = 1;
	}
	if (ttnn_shape_equal(&shape, &in->spec.shape)) {
		*out = ttnn_tensor_ref(in);
		return TTNN_OK;
	}
	return reshape(out, call, in, &shape);
}

/*
 * Reduces the last one or two dimensions; the result has the step's shape. Rows are tilized
 * first unless the pass takes rows, padded with what does not count: 0, or an infinity for
 * extremes.
 */
static tt_status reduce_last(struct tt_tensor **out, const struct request *request,
			     const struct step *step)
{
	struct step inner = *step;
	struct tt_tensor *cube, *reduced = NULL;
	tt_status status;

	TT_TRY(to_4d(&cube, request->call, step->in));
	inner.in = cube;
	if (!tt_tensor_device(cube)) {
		status = tt_fail_cond(TTNN_INVALID,
				      "input_tensor.storage_type() == ttnn::StorageType::DEVICE",
				      "Expected input tensor to be on device");
	} else if (cube->spec.layout == TTNN_TILE || takes_rows(&inner)) {
		status = pass_4d(&reduced, request, &inner);
	} else {
		status = tt_reduction_tilize(&inner.in, request->call, cube,
					     padding_of(request, cube->spec.dtype));
		if (status == TTNN_OK) {
			status = pass_4d(&reduced, request, &inner);
			tt_call_drop(request->call, inner.in);
		}
	}
	if (status == TTNN_OK)
		status = reshape(out, request->call, reduced, step->shape);
	if (reduced)
		tt_call_drop(request->call, reduced);
	ttnn_tensor_unref(cube);
	return status;
}

/* ---- dimensions before them ---------------------------------------------------------------------------- */

/* A dimension before the last two takes the place of the height; padding must not count. */
static tt_status swap_with_height(struct tt_tensor **out, const struct request *request,
				  struct tt_tensor *in, uint32_t dim)
{
	uint32_t dims[] = {dim, in->spec.shape.rank - 2};

	return tt_call_transpose(
		out, request->call,
		&(struct tt_permute_args){.in = in,
					  .dims = dims,
					  .memory = request->memory,
					  .pad_value = padding_of(request, in->spec.dtype)});
}

/*
 * What a variable loses when it is set again goes without a scope. What was given stays: the variable
 * was one of its owners.
 */
static void assign(struct tt_call *call, struct tt_tensor **variable, struct tt_tensor *value,
		   const struct tt_tensor *given)
{
	if (*variable == given)
		ttnn_tensor_unref(*variable);
	else
		tt_call_overwrite(call, *variable);
	*variable = value;
}

/*
 * One dimension, kept with an extent of 1. An outer one changes places with the height, is
 * reduced there and put back, each by an operation of its own. *tensor becomes the result;
 * step.in was given.
 */
static tt_status reduce_one(struct tt_tensor **tensor, const struct request *request,
			    struct step step, uint32_t dim)
{
	const struct tt_tensor *given = step.in;
	struct tt_tensor *next;
	struct ttnn_shape shape;
	uint32_t rank = (*tensor)->spec.shape.rank;
	bool outer = dim + 2 < rank;

	if (outer) {
		TT_TRY(swap_with_height(&next, request, *tensor, dim));
		assign(request->call, tensor, next, given);
	}
	shape = (*tensor)->spec.shape;
	step.dim = dim + 1 == rank ? TT_DIM_W : TT_DIM_H;
	shape.dim[step.dim == TT_DIM_W ? rank - 1 : rank - 2] = 1;
	step.shape = &shape;
	step.in = *tensor;
	TT_TRY(reduce_last(&next, request, &step));
	assign(request->call, tensor, next, given);
	if (outer) {
		TT_TRY(swap_with_height(&next, request, *tensor, dim));
		assign(request->call, tensor, next, given);
	}
	return TTNN_OK;
}

/*
 * Several passes, the last dimension first. Sums have the factor in the first pass, others in
 * the last: that is where upstream multiplies, and rounding shows it. A mean of several
 * dimensions is a sum with a factor.
 */
static tt_status reduce_each(struct tt_tensor **out, const struct request *request,
			     struct tt_tensor *in, const struct tt_reduction_dims *dims)
{
	bool sums = request->math == TT_MATH_SUM || request->math == TT_MATH_AVG;
	bool all = dims->count == in->spec.shape.rank;
	struct step step = {.in = in, .math = request->math};
	struct tt_tensor *tensor = ttnn_tensor_ref(in);
	double factor = request->scalar;
	tt_status status = TTNN_OK;

	if (request->math == TT_MATH_AVG) {
		for (uint32_t i = 0; i < dims->count; i++)
			factor /= in->spec.shape.dim[dims->dim[i]];
		if (dims->count > 1)
			step.math = TT_MATH_SUM;
	}
	for (uint32_t i = dims->count; i-- > 0 && status == TTNN_OK;) {
		bool first = i + 1 == dims->count, last = i == 0;

		step.factor = (sums ? first : last) ? factor : 1;
		step.dtype = sums && !all && !last ? between_dtype(in->spec.dtype) : in->spec.dtype;
		status = reduce_one(&tensor, request, step, dims->dim[i]);
	}
	if (status == TTNN_OK)
		*out = tensor;
	else if (tensor == in) /* the call may own it, too, and goes on doing so */
		ttnn_tensor_unref(tensor);
	else
		tt_call_drop(request->call, tensor);
	return status;
}

/*
 * The sum over outer dimensions, without their padding, by the program for that
 * (reduce_outer.c), one dimension after the other from the innermost. *tensor becomes the
 * result.
 */
static tt_status sum_outer(struct tt_tensor **tensor, const struct request *request,
			   const struct tt_reduction_dims *dims, enum ttnn_dtype dtype)
{
	const enum ttnn_dtype exact = between_dtype((*tensor)->spec.dtype);
	uint32_t rank = (*tensor)->spec.shape.rank, outer = 0;
	struct tt_tensor *sum = *tensor, *next, *passed = NULL;

	while (outer < dims->count && dims->dim[outer] + 2 < rank)
		outer++;
	for (uint32_t i = outer; i-- > 0;) {
		struct tt_reduce_outer pass = {.in = sum,
					       .dim = dims->dim[i],
					       .memory = request->memory,
					       .compute = request->compute,
					       .cores = request->cores};
		tt_status status;

		if (dims->count > 1 && dims->count < rank)
			pass.dtype = i == 0 && outer == dims->count ? &dtype : &exact;
		status = tt_reduce_outer(&next, request->call, &pass);
		if (status != TTNN_OK) {
			if (passed)
				tt_call_drop(request->call, passed);
			return status;
		}
		if (i == 0 && passed)
			tt_call_drop(request->call, passed);
		else if (passed)
			tt_call_overwrite(request->call, passed);
		passed = sum = next;
	}
	*tensor = sum;
	return TTNN_OK;
}

/* The transposed padding is not part of the result. */
static tt_status cut_padding(struct tt_tensor **tensor, const struct request *request,
			     const struct ttnn_shape *shape)
{
	struct ttnn_shape begin = {shape->rank, {0}};
	struct tt_tensor *next;

	if (ttnn_shape_equal(&(*tensor)->spec.shape, shape))
		return TTNN_OK;
	TT_TRY(tt_call_slice(
		&next, request->call,
		&(struct tt_part){
			.in = *tensor, .begin = &begin, .end = shape, .memory = request->memory}));
	tt_call_overwrite(request->call, *tensor);
	*tensor = next;
	return TTNN_OK;
}

/* ---- whole calls ----------------------------------------------------------------------------------------- */

/* Which of width and height are reduced, and whether they are all. */
static enum tt_reduce_dim last_dims(const struct tt_reduction_dims *dims, uint32_t rank, bool *only)
{
	bool width = dims->dim[dims->count - 1] + 1 == rank;

	*only = dims->count == 1 && dims->dim[0] + 2 >= rank;
	if (dims->count == 2 && width && dims->dim[0] + 2 == rank) {
		*only = true;
		return TT_DIM_HW;
	}
	return width ? TT_DIM_W : TT_DIM_H;
}

/* The factor of a step over these last dimensions. */
static double factor_of(const struct request *request, const struct ttnn_shape *shape,
			const struct tt_reduction_dims *dims)
{
	double factor = request->scalar;

	for (uint32_t i = 0; request->math == TT_MATH_AVG && i < dims->count; i++)
		factor /= shape->dim[dims->dim[i]];
	return factor;
}

/*
 * Sums over outer dimensions, then over what is left of the last two: fewer tiles are left for
 * the slower passes.
 */
static tt_status expand_outer(struct tt_tensor **out, const struct request *request,
			      struct tt_tensor *in, const struct tt_reduction_dims *dims, bool keep)
{
	struct ttnn_shape shape = tt_reduction_shape(&in->spec.shape, dims, keep), inner;
	struct tt_tensor *tiles;
	struct tt_reduction_dims outer = {0}, rest = {0};
	struct tt_tensor *sum = in;
	struct step step = {
		.math = TT_MATH_SUM, .factor = 1, .dtype = in->spec.dtype, .shape = &shape};
	uint32_t rank = in->spec.shape.rank;
	tt_status status;
	bool only;

	if (in->spec.layout == TTNN_ROW_MAJOR) {
		TT_TRY(tt_reduction_tilize(&sum, request->call, in, 0));
		tt_call_own(request->call, sum);
	}
	for (uint32_t i = 0; i < dims->count; i++) {
		struct tt_reduction_dims *to = dims->dim[i] + 2 < rank ? &outer : &rest;

		to->dim[to->count++] = dims->dim[i];
	}
	inner = tt_reduction_shape(&in->spec.shape, &outer, true);
	tiles = sum;
	TT_TRY(sum_outer(&sum, request, dims, in->spec.dtype));
	if (tiles != in && tiles != sum)
		tt_call_drop(request->call, tiles);
	status = cut_padding(&sum, request, &inner);
	if (status != TTNN_OK) {
		tt_call_drop(request->call, sum);
		return status;
	}
	if (rest.count == 0 && keep) {
		*out = sum;
		return TTNN_OK;
	}
	tt_call_own(request->call, sum);
	if (rest.count == 0)
		return reshape(out, request->call, sum, &shape);
	step.in = sum;
	step.dim = last_dims(&rest, rank, &only);
	return reduce_last(out, request, &step);
}

/*
 * Numbers never see padding here, but block floats share an exponent with it: an infinity would wipe
 * out its neighbours.
 */
static tt_status fill_padding(struct tt_tensor **out, const struct request *request,
			      struct tt_tensor *in)
{
	struct ttnn_arg args[] = {{"input_tensor", ttnn_v_tensor(in)},
				  {"fill_value", ttnn_v_real(padding_of(request, in->spec.dtype))}};

	if (tt_dtype_is_block(in->spec.dtype))
		args[1].value = ttnn_v_real(0);
	if (in->spec.dtype == TTNN_INT32 || in->spec.dtype == TTNN_UINT32)
		args[1].value = ttnn_v_int((int64_t)args[1].value.real);
	return tt_call_op(out, request->call, "ttnn.fill_implicit_tile_padding", args,
			  TT_COUNT(args));
}

/*
 * Sums of outer dimensions by their own program; width and height directly; the rest one dimension
 * at a time.
 */
static tt_status reduce(struct tt_tensor **out, const struct request *request, struct tt_tensor *in,
			const struct tt_reduction_dims *dims, bool keep)
{
	enum ttnn_dtype dtype = in->spec.dtype;
	uint32_t rank = in->spec.shape.rank;
	struct ttnn_shape shape = tt_reduction_shape(&in->spec.shape, dims, keep);
	struct step step = {.in = in, .math = request->math, .dtype = dtype, .shape = &shape};
	struct tt_tensor *kept;
	bool only;

	if (request->math == TT_MATH_SUM && request->scalar == 1 && dims->dim[0] + 2 < rank &&
	    (dtype == TTNN_BFLOAT16 || dtype == TTNN_BFLOAT8_B))
		return expand_outer(out, request, in, dims, keep);
	step.dim = last_dims(dims, rank, &only);
	if (only) {
		step.factor = factor_of(request, &in->spec.shape, dims);
		return reduce_last(out, request, &step);
	}
	TT_TRY(reduce_each(&kept, request, in, dims));
	return tt_call_drop_after(request->call, reshape(out, request->call, kept, &shape), kept);
}

/* ---- operations ------------------------------------------------------------------------------------------- */

struct row {
	enum tt_reduce_math math;
};

/* output_layout is a conversion behind everything else. */
static tt_status to_asked_layout(struct tt_tensor **tensor, struct tt_call *call)
{
	const struct ttnn_value *layout = tt_call_arg(call, "output_layout");
	struct ttnn_arg args[] = {{"tensor", ttnn_v_tensor(*tensor)}, {"layout", *layout}};
	struct tt_tensor *next;

	if (layout->kind != TTNN_VALUE_ENUM || layout->integer == (int64_t)(*tensor)->spec.layout)
		return TTNN_OK;
	TT_REQUIRE(
		!tt_dtype_is_block((*tensor)->spec.dtype),
		"*output_layout != Layout::ROW_MAJOR || "
		"!tt::tt_metal::is_block_float(tensor.dtype())",
		"output_layout=ROW_MAJOR is not supported for a DataType::%s result: block-float "
		"formats only exist in TILE layout, so honoring the request would silently widen "
		"the dtype to BFLOAT16. Reduce to TILE and typecast explicitly if a row-major "
		"result is needed.",
		tt_enum_name(&tt_enum_dtype, (*tensor)->spec.dtype));
	TT_TRY(tt_call_op(&next, call, "ttnn.to_layout", args, TT_COUNT(args)));
	tt_call_drop(call, *tensor);
	*tensor = next;
	return TTNN_OK;
}

tt_status tt_reduce_empty(struct tt_call *call, struct tt_tensor *in, enum tt_reduce_math math,
			  const struct tt_reduction_dims *dims)
{
	struct ttnn_shape shape =
		tt_reduction_shape(&in->spec.shape, dims, tt_call_bool(call, "keepdim", false));
	struct tt_tensor *out;

	TT_TRY(tt_need_device(in));
	for (uint32_t i = 0; i < dims->count; i++)
		if ((math == TT_MATH_MAX || math == TT_MATH_MIN) &&
		    in->spec.shape.dim[dims->dim[i]] == 0)
			return tt_fail(TTNN_INVALID,
				       "Expected reduction dim %u to have non-zero size",
				       dims->dim[i]);
	return tt_call_give(call,
			    TT_CALL(&out, call, "ttnn.full", {"shape", ttnn_v_shape(&shape)},
				    {"fill_value", ttnn_v_real(math == TT_MATH_SUM ? 0 : NAN)},
				    {"dtype", ttnn_v_dtype(in->spec.dtype)},
				    {"layout", ttnn_v_layout(in->spec.layout)},
				    {"device", ttnn_v_device(tt_tensor_device(in))},
				    {"memory_config", ttnn_v_memory(tt_memory_or_like(call, in))}),
			    &out);
}

static const struct tt_compute_usual usual = {.fidelity = TT_HIFI3, .fp32 = true};

/*
 * In upstream's order. Nothing to reduce gives what is neutral: 0 for sums, an infinity for
 * extremes. A negative factor swaps largest and smallest.
 */
static tt_status reduce_expand(struct tt_call *call)
{
	const struct row *row = call->entry->op->row;
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *out;
	const struct ttnn_value *layout = tt_call_arg(call, "output_layout");
	struct request request = {
		.call = call,
		.math = row->math,
		.scalar = tt_call_real(call, "scalar", 1),
		.memory = tt_memory_or_like(call, in),
		.compute =
			tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual),
		.cores = tt_call_core_set(call, "sub_core_grids"),
		.fast = tt_call_bool(call, "fast_and_approximate_mode", false),
		.tiles = layout->kind == TTNN_VALUE_ENUM && layout->integer == TTNN_TILE,
		.untiled = layout->kind == TTNN_VALUE_ENUM && layout->integer == TTNN_ROW_MAJOR,
	};
	bool keep = tt_call_bool(call, "keepdim", false);
	struct tt_reduction_dims dims;
	enum ttnn_dtype dtype = in->spec.dtype;
	tt_status status;
	uint64_t volume;

	if (request.scalar < 0 && (row->math == TT_MATH_MAX || row->math == TT_MATH_MIN))
		request.math = row->math == TT_MATH_MAX ? TT_MATH_MIN : TT_MATH_MAX;
	TT_TRY(tt_reduction_dims(&dims, call, "dim", in->spec.shape.rank));
	TT_REQUIRE(row->math != TT_MATH_AVG || (dtype != TTNN_INT32 && dtype != TTNN_UINT32),
		   "dt != DataType::INT32 && dt != DataType::UINT32",
		   "ttnn.mean does not support integer inputs - got DataType::%s.",
		   tt_enum_name(&tt_enum_dtype, dtype));
	TT_TRY(ttnn_shape_volume(&volume, &in->spec.shape));
	if (volume == 0)
		return tt_reduce_empty(call, in, row->math, &dims);
	if (in->spec.layout == TTNN_TILE && tt_tensor_device(in)) {
		TT_TRY(fill_padding(&in, &request, in));
		tt_call_own(call, in);
	}
	if (in->spec.shape.rank == 0) /* itself */
		return tt_call_give(call,
				    TT_CALL(&out, call, "ttnn.clone", {"input", ttnn_v_tensor(in)},
					    {"memory_config", ttnn_v_memory(request.memory)}),
				    &out);
	TT_TRY(reduce(&out, &request, in, &dims, keep));
	status = to_asked_layout(&out, call);
	if (status == TTNN_OK)
		tt_call_return(call, out);
	else
		tt_call_drop(call, out);
	return status;
}

#define SIG                                                                                        \
	"input_tensor: Tensor, dim: int | ints ? = None, keepdim: bool = False, *, "               \
	"memory_config: MemoryConfig? = None, compute_kernel_config: ComputeConfig? = None, "      \
	"scalar: float = 1.0, correction: bool? = None, sub_core_grids: CoreRangeSet? = None, "    \
	"fast_and_approximate_mode: bool = False"

#define OP(name_, math_, golden_, sig_, doc_)                                                      \
	{                                                                                          \
		.name = "ttnn." name_, .doc = doc_, .sigs = {sig_}, .expand = reduce_expand,       \
		.golden = golden_, .row = &(const struct row)                                      \
		{                                                                                  \
			math_                                                                      \
		}                                                                                  \
	}

static const struct tt_op ops[] = {
	OP("sum", TT_MATH_SUM, tt_golden_sum, SIG ", output_layout: Layout? = None",
	   "The sum over dimensions."),
	OP("mean", TT_MATH_AVG, tt_golden_mean, SIG ", output_layout: Layout? = None",
	   "The mean over dimensions."),
	OP("max", TT_MATH_MAX, tt_golden_max, SIG, "The largest value over dimensions."),
	OP("min", TT_MATH_MIN, tt_golden_min, SIG, "The smallest value over dimensions."),
};

const struct tt_op_family tt_family_reduction = {"reduction", ops, TT_COUNT(ops)};
