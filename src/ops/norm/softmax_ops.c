/*
 * softmax_ops.c: the forms of softmax: over any dimension, scaled and masked, in place, and with the
 * scale of an attention head.
 */
#include <inttypes.h>
#include <math.h>

#include "golden/golden_reduction.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"
#include "ops/norm/softmax.h"
#include "ops/reduce/reduce.h"

#define RANK 4

/* ---- shapes --------------------------------------------------------------------------------------------- */

/* With dimensions of extent 1 in front until there are four; a tensor with more stays. */
static tt_status to_4d(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	struct ttnn_shape shape = in->spec.shape;

	if (shape.rank >= RANK) {
		*out = in;
		return TTNN_OK;
	}
	while (shape.rank < RANK) {
		for (uint32_t d = shape.rank++; d > 0; d--)
			shape.dim[d] = shape.dim[d - 1];
		shape.dim[0] = 1;
	}
	return tt_call_owned(
		call,
		tt_call_reshape(out, call, &(struct tt_reshape_args){.in = in, .shape = &shape}),
		out);
}

/* Gives the result under the caller's shape: always a view, even of the same shape. */
static tt_status give(struct tt_call *call, struct tt_tensor *result,
		      const struct ttnn_shape *shape)
{
	struct tt_tensor *out;
	tt_status status = tt_call_view_to(&out, call, result, shape);

	tt_call_drop(call, result);
	if (status == TTNN_OK)
		tt_call_return(call, out);
	return status;
}

static struct ttnn_value compute_of(struct tt_call *call, const struct tt_tensor *in)
{
	const struct tt_compute_usual usual = {
		.fidelity = TT_HIFI3, .approx = in->spec.dtype != TTNN_FLOAT32, .fp32 = true};

	return tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
}

static tt_status need_device(const struct tt_tensor *in)
{
	TT_REQUIRE(tt_tensor_device(in), "input_tensor.device() != nullptr",
		   "input_tensor.device() == nullptr, No device found, move input_tensor to "
		   "device");
	return TTNN_OK;
}

/* The dimension of a tensor that has `rank` of them. */
static tt_status dim_of(uint32_t *out, const struct tt_call *call, uint32_t rank)
{
	int64_t dim = tt_call_int(call, "dim", -1);

	TT_NEED(dim >= -(int64_t)rank && dim < (int64_t)rank,
		"Dimension out of range (expected to be in range of [%d, %d], but got %" PRId64 ")",
		-(int)rank, (int)rank - 1, dim);
	*out = (uint32_t)(dim < 0 ? dim + rank : dim);
	return TTNN_OK;
}

/* Rows as tiles, whose padding counts for nothing. *tiled is the tensor itself when it has tiles. */
static tt_status to_tiles(struct tt_tensor **tiled, struct tt_call *call, struct tt_tensor *in)
{
	*tiled = in;
	if (in->spec.layout == TTNN_TILE)
		return TTNN_OK;
	return tt_reduction_tilize(tiled, call, in, -INFINITY);
}

static void drop_tiles(struct tt_call *call, struct tt_tensor *tiled, const struct tt_tensor *in)
{
	if (tiled && tiled != in)
		tt_call_drop(call, tiled);
}

/* ---- softmax --------------------------------------------------------------------------------------------- */

/* Through four dimensions, and back to the shape at the end. */
static tt_status expand_softmax(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *cube, *tiled, *result;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	uint32_t rank = in->spec.shape.rank, dim;
	struct tt_softmax_args args = {.type = TT_SOFTMAX_PLAIN,
				       .memory = memory ? memory : &in->spec.memory,
				       .stable = tt_call_bool(call, "numeric_stable", true)};
	tt_status status;

	TT_TRY(dim_of(&dim, call, rank));
	TT_TRY(need_device(in));
	args.compute = compute_of(call, in);
	TT_TRY(to_4d(&cube, call, in));
	args.dim = rank > RANK ? dim : dim + RANK - rank;
	tiled = cube;
	/* Upstream compares with the rank before. */
	if (args.dim + 1 == rank && rank <= RANK)
		TT_TRY(to_tiles(&tiled, call, cube));
	args.in = tiled;
	status = tt_softmax_launch(&result, call, &args);
	drop_tiles(call, tiled, cube);
	return status == TTNN_OK ? give(call, result, &in->spec.shape) : status;
}

/* Only over the last dimension. */
static tt_status expand_in_place(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *result;
	uint32_t dim;
	struct tt_softmax_args args = {.type = TT_SOFTMAX_IN_PLACE,
				       .memory = &in->spec.memory,
				       .config = tt_call_arg(call, "program_config"),
				       .stable = tt_call_bool(call, "numeric_stable", true)};

	TT_TRY(dim_of(&dim, call, in->spec.shape.rank));
	TT_TRY(need_device(in));
	TT_NEED(in->spec.shape.rank <= RANK, "Tensor rank is greater than 4");
	args.compute = compute_of(call, in);
	TT_TRY(to_4d(&args.in, call, in));
	TT_REQUIRE(dim + 1 == args.in->spec.shape.rank,
		   "dim == input_tensor.logical_shape().size() - 1",
		   "Invalid dimension: %u. Currently softmax inplace supports dim -1.", dim);
	args.dim = dim;
	TT_TRY(tt_softmax_launch(&result, call, &args));
	return give(call, result, &in->spec.shape);
}

/* ---- scaled and masked ----------------------------------------------------------------------------------- */

/* Refusals of the operation; the program has more (softmax.c). */
static tt_status check_mask(const struct tt_tensor *in, const struct tt_tensor *mask)
{
	const struct ttnn_shape *a = &in->spec.padded, *b = &mask->spec.padded;
	uint32_t rows = tt_shape_last(b, 2);

	TT_REQUIRE(tt_shape_last(a, 1) == tt_shape_last(b, 1),
		   "input_tensor.padded_shape()[-1] == mask.value().padded_shape()[-1]",
		   "Input and mask inner dimensions must match, got input: %u vs mask: %u",
		   tt_shape_last(a, 1), tt_shape_last(b, 1));
	TT_REQUIRE(a->dim[0] == b->dim[0],
		   "input_tensor.padded_shape()[0] == mask.value().padded_shape()[0]",
		   "Input and mask batch sizes must match, got input: %u vs mask: %u", a->dim[0],
		   b->dim[0]);
	TT_REQUIRE(rows == 1 || rows == in->spec.tile.height,
		   "mask.value().padded_shape()[-2] == 1 or mask.value().padded_shape()[-2] == "
		   "input_tensor.tensor_spec().tile().get_height()",
		   "Mask height must be 1 or input tensor tile height (%u), got: %u. A full "
		   "causal mask is not accepted here; for causal attention use "
		   "ttnn::transformer::scaled_dot_product_attention with is_causal=true.",
		   (unsigned)in->spec.tile.height, rows);
	for (uint32_t i = 1; i + 2 < a->rank; i++)
		TT_REQUIRE(i >= b->rank || b->dim[i] == 1, "mask.value().padded_shape()[i] == 1",
			   "Mask intermediate dimension %u must be 1, got: %u. This path "
			   "requires head-uniform masks; apply a per-head bias with a separate "
			   "ttnn::add before ttnn::softmax.",
			   i, b->dim[i]);
	return TTNN_OK;
}

/* What scaled and masked forms are given. */
struct masked {
	struct tt_tensor *in, *mask;     /* mask: (optional) */
	const double *scale;             /* (optional) */
	const struct ttnn_value *config; /* (optional) */
	const struct ttnn_memory_config *memory;
	bool causal, stable;
};

/* Input and mask become tiles first; what was made for that goes when the program has run. */
static tt_status scale_mask(struct tt_tensor **out, struct tt_call *call, const struct masked *want)
{
	struct tt_tensor *tiled, *mask = want->mask;
	struct tt_softmax_args args = {.type = TT_SOFTMAX_SCALE_MASK,
				       .dim = want->in->spec.shape.rank - 1,
				       .scale = want->scale,
				       .memory = want->memory,
				       .compute = compute_of(call, want->in),
				       .causal = want->causal,
				       .stable = want->stable};
	tt_status status;

	TT_TRY(to_tiles(&tiled, call, want->in));
	status = mask ? check_mask(want->in, mask) : TTNN_OK;
	if (status == TTNN_OK && mask)
		status = to_tiles(&mask, call, want->mask);
	if (status == TTNN_OK) {
		args.in = tiled;
		args.mask = mask;
		status = tt_softmax_launch(out, call, &args);
		drop_tiles(call, mask, want->mask);
	}
	drop_tiles(call, tiled, want->in);
	return status;
}

/* The scale argument, or NULL. */
static const double *scale_of(double *out, const struct tt_call *call)
{
	return tt_value_number(out, tt_call_arg(call, "scale")) ? out : NULL;
}

/* exp(x × scale + mask) over the last dimension. */
static tt_status expand_scale_mask(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *result;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	double scale;
	struct masked want = {.mask = tt_call_tensor(call, "mask"),
			      .scale = scale_of(&scale, call),
			      .memory = memory ? memory : &in->spec.memory,
			      .causal = tt_call_bool(call, "is_causal_mask", false),
			      .stable = tt_call_bool(call, "numeric_stable", true)};

	TT_TRY(need_device(in));
	TT_TRY(to_4d(&want.in, call, in));
	TT_TRY(scale_mask(&result, call, &want));
	return give(call, result, &in->spec.shape);
}

/* In place, the mask as it is. */
static tt_status scale_mask_in_place(struct tt_tensor **out, struct tt_call *call,
				     const struct masked *want, enum tt_softmax_type type)
{
	struct tt_softmax_args args = {.type = type,
				       .in = want->in,
				       .mask = want->mask,
				       .dim = want->in->spec.shape.rank - 1,
				       .scale = want->scale,
				       .memory = &want->in->spec.memory,
				       .config = want->config,
				       .compute = compute_of(call, want->in),
				       .causal = want->causal,
				       .stable = want->stable};

	return tt_softmax_launch(out, call, &args);
}

/* The same over its input; hw: the form for causal masks of height and width. */
static tt_status run_in_place(struct tt_call *call, bool hw)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *result;
	double scale;
	struct masked want = {.mask = tt_call_tensor(call, "mask"),
			      .scale = scale_of(&scale, call),
			      .config = tt_call_arg(call, "program_config"),
			      .causal = hw || tt_call_bool(call, "is_causal_mask", false),
			      .stable = tt_call_bool(call, "numeric_stable", false)};

	TT_TRY(need_device(in));
	TT_TRY(to_4d(&want.in, call, in));
	TT_TRY(scale_mask_in_place(&result, call, &want,
				   hw ? TT_SOFTMAX_CAUSAL_HW_IN_PLACE
				      : TT_SOFTMAX_SCALE_MASK_IN_PLACE));
	return give(call, result, &in->spec.shape);
}

static tt_status expand_scale_mask_in_place(struct tt_call *call)
{
	return run_in_place(call, false);
}

static tt_status expand_causal_hw_in_place(struct tt_call *call)
{
	return run_in_place(call, true);
}

/* ---- of attention heads ------------------------------------------------------------------------------------ */

/* 1 over the root of the size of a head. */
static double head_scale(const struct tt_call *call)
{
	int64_t size = tt_call_int(call, "head_size", 0);

	return size > 0 ? (double)(1.0f / sqrtf((float)size)) : 1;
}

/*
 * Written in Python upstream: with a mask it is one program, without one a multiply and a plain
 * softmax.
 */
static tt_status expand_attention(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "tensor"), *result, *scaled;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	double scale = head_scale(call);
	struct masked want = {.in = in,
			      .mask = tt_call_tensor(call, "attention_mask"),
			      .scale = &scale,
			      .memory = memory ? memory : &in->spec.memory,
			      .causal = tt_call_bool(call, "causal_mask", false),
			      .stable = true};
	struct ttnn_arg factors[] = {{NULL, ttnn_v_tensor(in)}, {NULL, ttnn_v_real(scale)}};
	struct tt_softmax_args args = {.type = TT_SOFTMAX_PLAIN,
				       .memory = want.memory,
				       .dim = in->spec.shape.rank - 1,
				       .stable = true};

	TT_TRY(need_device(in));
	if (!in->spec.shape.rank)
		return tt_fail(TTNN_UNSUPPORTED, "attention_softmax of a scalar is not supported");
	if (want.mask) {
		return tt_call_give(call, scale_mask(&result, call, &want), &result);
	}
	TT_TRY(tt_call_op(&scaled, call, "ttnn.multiply", factors, TT_COUNT(factors)));
	tt_call_own(call, scaled);
	args.in = scaled;
	args.compute = compute_of(call, scaled);
	return tt_call_give(call, tt_softmax_launch(&result, call, &args), &result);
}

/* Upstream's takes a program_config and leaves it aside. */
static tt_status expand_attention_in_place(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "tensor"), *result;
	double scale = head_scale(call);
	struct masked want = {.in = in,
			      .mask = tt_call_tensor(call, "attention_mask"),
			      .scale = &scale,
			      .causal = tt_call_bool(call, "causal_mask", false),
			      .stable = true};

	TT_TRY(need_device(in));
	TT_REQUIRE(want.mask, "attention_mask.has_value()",
		   "Cannot apply divide by sqrt(head_size) using in-place version when "
		   "attention_mask is not set.");
	return tt_call_give(
		call, scale_mask_in_place(&result, call, &want, TT_SOFTMAX_SCALE_MASK_IN_PLACE),
		&result);
}

/* ---- the rows --------------------------------------------------------------------------------------------- */

#define MASKED "input_tensor: Tensor, scale: float? = None, mask: Tensor? = None, *, "
#define COMPUTE "compute_kernel_config: ComputeConfig? = None, numeric_stable: bool = "
#define HEAD                                                                                       \
	"tensor: Tensor, *, head_size: int? = None, attention_mask: Tensor? = None, "              \
	"program_config: ProgramConfig? = None, causal_mask: bool? = False, "                      \
	"memory_config: MemoryConfig? = None"

#define OP(name_, expand_, golden_, sig_, doc_)                                                    \
	{                                                                                          \
		.name = name_, .doc = doc_, .sigs = {sig_}, .expand = expand_, .golden = golden_   \
	}

static const struct tt_op ops[] = {
	OP("ttnn.softmax", expand_softmax, tt_golden_softmax,
	   "input_tensor: Tensor, dim: int = -1, *, memory_config: MemoryConfig? = None, " COMPUTE
	   "True",
	   "exp(x) over its sum along a dimension."),
	OP("ttnn.softmax_in_place", expand_in_place, tt_golden_softmax,
	   "input_tensor: Tensor, dim: int = -1, *, program_config: ProgramConfig? = None, " COMPUTE
	   "True",
	   "Softmax of the last dimension, into its argument."),
	OP("ttnn.scale_mask_softmax", expand_scale_mask, tt_golden_scale_mask_softmax,
	   MASKED "memory_config: MemoryConfig? = None, is_causal_mask: bool = False, " COMPUTE
		  "True",
	   "Softmax of the last dimension of x * scale + mask."),
	OP("ttnn.scale_mask_softmax_in_place", expand_scale_mask_in_place,
	   tt_golden_scale_mask_softmax,
	   MASKED "program_config: ProgramConfig? = None, is_causal_mask: bool = False, " COMPUTE
		  "False",
	   "Softmax of the last dimension of x * scale + mask, into its argument."),
	OP("ttnn.scale_causal_mask_hw_dims_softmax_in_place", expand_causal_hw_in_place,
	   tt_golden_scale_causal_softmax,
	   MASKED "program_config: ProgramConfig? = None, " COMPUTE "False",
	   "Softmax of the last dimension of x * scale + mask, of shards, into its argument."),
	OP("ttnn.transformer.attention_softmax", expand_attention, tt_golden_attention_softmax,
	   HEAD, "Softmax of the last dimension with the scale of an attention head."),
	OP("ttnn.transformer.attention_softmax_", expand_attention_in_place,
	   tt_golden_attention_softmax, HEAD, "The same, into its argument."),
};

const struct tt_op_family tt_family_softmax = {"softmax", ops, TT_COUNT(ops)};
