/*
 * quantization.c: reals as whole numbers on a scale and back: quantize, requantize, dequantize. With
 * numbers as scale and zero point it is one program; tensors make it several operations.
 */
#include <math.h>

#include "golden/golden.h"
#include "ops/eltwise/binary.h"
#include "ops/eltwise/binary_ops.h"
#include "ops/eltwise/eltwise.h"
#include "ops/movement/movement.h"
#include "ops/op_enums.h"
#include "ops/recipe.h"

/* A scale with its zero point, each a tensor or a number. */
struct scale {
	struct tt_tensor *factor, *zero;
	double factor_number, zero_number;
};

/* A conversion under way. */
struct change {
	struct tt_tensor *input;
	bool has_axis;
	uint32_t axis;
	enum ttnn_dtype dtype;
	struct tt_tensor *output;
	const struct ttnn_memory_config *memory;
};

/* ---- arguments -------------------------------------------------------------------------------- */

static void read_scale(struct scale *out, const struct tt_call *call, const char *factor,
		       const char *zero)
{
	*out = (struct scale){.factor = tt_call_tensor(call, factor),
			      .zero = tt_call_tensor(call, zero)};
	tt_value_number(&out->factor_number, tt_call_arg(call, factor));
	tt_value_number(&out->zero_number, tt_call_arg(call, zero));
}

/* The dtype is the given output's, if nobody says otherwise. */
static tt_status read_change(struct change *out, const struct tt_call *call,
			     enum ttnn_dtype fallback)
{
	const struct ttnn_value *axis = tt_call_arg(call, "axis");

	*out = (struct change){.input = tt_call_tensor(call, "input_tensor"),
			       .has_axis = tt_value_given(axis),
			       .output = tt_call_tensor(call, "output_tensor"),
			       .memory = tt_call_memory(call, "memory_config")};
	out->dtype = tt_call_dtype(call, "dtype", out->output ? out->output->spec.dtype : fallback);
	TT_REQUIRE(!out->output || out->output->spec.dtype == out->dtype,
		   "output_dtype.value() == output_tensor->dtype()",
		   "Mismatching output_dtype and output tensor dtype");
	return TTNN_OK;
}

static bool is_whole(enum ttnn_dtype dtype)
{
	return dtype == TTNN_INT32 || dtype == TTNN_UINT8;
}

/* Negative ones count from the end. */
static tt_status check_axis(struct change *change, int64_t axis)
{
	int64_t rank = change->input->spec.shape.rank;

	TT_REQUIRE(axis >= -rank && axis < rank, "axis >= -rank && axis < rank",
		   "Axis %lld is outside the range [%lld, %lld]", (long long)axis, (long long)-rank,
		   (long long)rank - 1);
	change->axis = (uint32_t)(axis < 0 ? axis + rank : axis);
	return TTNN_OK;
}

/* How many numbers a tensor has: one, one for each channel, or one where others may have more. */
enum fit { ONE_NUMBER, CHANNELS, ONE_OF_LIST };

/* Upstream checks calls with an axis in functions of their own, whose words differ. */
static tt_status check_factor(struct change *change, const struct tt_tensor *factor, enum fit fit,
			      int64_t axis)
{
	bool one = fit == ONE_NUMBER;
	uint64_t count;

	if (!factor)
		return TTNN_OK;
	if (!one)
		TT_TRY(check_axis(change, axis));
	TT_REQUIRE(!tt_dtype_is_integer(factor->spec.dtype),
		   one ? "tt::tt_metal::is_floating_point(dtype)"
		       : "tt::tt_metal::is_floating_point(scale_dtype)",
		   "Quantization only takes floating-point number scales");
	TT_REQUIRE(!tt_dtype_is_block(factor->spec.dtype),
		   one ? "!tt::tt_metal::is_block_float(dtype)"
		       : "!tt::tt_metal::is_block_float(scale_dtype)",
		   "Unsupported quantization scale data type");
	TT_TRY(ttnn_shape_volume(&count, &factor->spec.shape));
	if (fit != CHANNELS) {
		TT_REQUIRE(count == 1,
			   one ? "scale.logical_volume() == 1u" : "scale_p->logical_volume() == 1u",
			   "Per-tensor quantization only takes scalar-tensor scales");
		return TTNN_OK;
	}
	TT_REQUIRE(factor->spec.shape.rank == 1, "scale_p->logical_shape().rank() == 1",
		   "Per-channel quantization expects 1D scale tensors");
	TT_REQUIRE(change->input->spec.shape.dim[change->axis] == count,
		   "input_tensor.logical_shape()[axis] == scale_p->logical_volume()",
		   "Size of the scale tensor doesn't match the size of the input tensor along the "
		   "given axis");
	return TTNN_OK;
}

/* The same for zero points, which are int32. */
static tt_status check_zero(struct change *change, const struct tt_tensor *zero, enum fit fit,
			    int64_t axis)
{
	bool one = fit == ONE_NUMBER;
	uint64_t count;

	if (!zero)
		return TTNN_OK;
	if (!one)
		TT_TRY(check_axis(change, axis));
	TT_REQUIRE(zero->spec.dtype == TTNN_INT32,
		   one ? "dtype == ttnn::DataType::INT32"
		       : "zero_point_dtype == ttnn::DataType::INT32",
		   "Quantization only takes int32 zero-points for now");
	TT_TRY(ttnn_shape_volume(&count, &zero->spec.shape));
	if (fit != CHANNELS) {
		TT_REQUIRE(count == 1,
			   one ? "zero_point.logical_volume() == 1u"
			       : "zero_point_p->logical_volume() == 1u",
			   "Per-tensor quantization only takes scalar-tensor zero-points");
		return TTNN_OK;
	}
	TT_REQUIRE(zero->spec.shape.rank == 1, "zero_point_p->logical_shape().rank() == 1",
		   "Per-channel quantization expects 1D zero-point tensors");
	TT_REQUIRE(change->input->spec.shape.dim[change->axis] == count,
		   "input_tensor.logical_shape()[axis] == zero_point_p->logical_volume()",
		   "Size of the zero-point tensor doesn't match the size of the input tensor along "
		   "the given axis");
	return TTNN_OK;
}

/* Channels need tensors. */
static tt_status check_scale(struct change *change, const struct tt_call *call,
			     const struct scale *scale)
{
	int64_t axis = tt_call_int(call, "axis", 0);
	enum fit fit = change->has_axis ? CHANNELS : ONE_NUMBER;

	if (change->has_axis)
		TT_REQUIRE(scale->factor, "std::holds_alternative<Tensor>(scale)",
			   "Per-channel quantization expects 1D scale tensors");
	TT_TRY(check_factor(change, scale->factor, fit, axis));
	return check_zero(change, scale->zero, fit, axis);
}

/* Channels are not converted to small types. */
static tt_status check_narrow(const struct change *change, const char *verb)
{
	TT_REQUIRE(!change->has_axis || change->dtype != TTNN_UINT8,
		   "!(axis.has_value() && is_narrow_quantized_dtype(c_dtype))",
		   "Per-channel (axis) %s does not support int8/uint8 output yet; use int32 output "
		   "or per-tensor %s",
		   verb, verb);
	return TTNN_OK;
}

/* ---- steps -------------------------------------------------------------------------------------- */

/* One number per channel, laid along the axis so that it goes with the input. */
static tt_status lay(struct tt_tensor **tensor, struct tt_call *call, const struct change *change,
		     enum ttnn_dtype dtype)
{
	struct ttnn_shape shape = change->input->spec.shape;
	struct ttnn_arg args[] = {{NULL, {0}}, {NULL, ttnn_v_shape(&shape)}};
	struct tt_tensor *whole;

	if (!*tensor || !change->has_axis)
		return TTNN_OK;
	for (uint32_t i = 0; i < shape.rank; i++)
		shape.dim[i] = i == change->axis ? shape.dim[i] : 1;
	TT_TRY(tt_binary_cast(tensor, call, dtype));
	whole = *tensor;
	args[0].value = ttnn_v_tensor(whole);
	TT_TRY(tt_call_op(tensor, call, "ttnn.reshape", args, 2));
	tt_call_own(call, *tensor);
	tt_call_drop(call, whole);
	return TTNN_OK;
}

/* The program: QUANT and REQUANT a × b + zero, rounded; DEQUANT (a + zero) × b. */
static tt_status run_program(struct tt_tensor **out, struct tt_call *call, enum tt_binary_fn fn,
			     const struct change *change, const struct scale *by)
{
	struct ttnn_value fields[3] = {tt_value_enum(&tt_enum_unary, TT_UNARY_ZERO_POINT)};
	struct ttnn_value post, list;
	const struct tt_binary_args args = {.fn = fn,
					    .a = change->input,
					    .b = by->factor,
					    .scalar = by->factor_number,
					    .output = change->output,
					    .dtype = &change->dtype,
					    .memory = change->memory,
					    .post = &list};

	fields[2] = ttnn_v_real(by->zero_number);
	fields[1] = ttnn_v_list(&fields[2], 1);
	post = tt_value_object(&tt_schema_unary, fields);
	list = ttnn_v_list(&post, 1);
	return tt_binary_launch(out, call, &args);
}

static tt_status cook(struct tt_tensor **out, struct tt_call *call, const char *text,
		      const struct tt_recipe_name *names, size_t count)
{
	const struct tt_recipe recipe = {.text = text, .names = names, .name_count = count};

	TT_TRY(tt_recipe_run(call, &recipe));
	*out = call->results[--call->result_count];
	return TTNN_OK;
}

static struct ttnn_value either(struct tt_tensor *tensor, double number)
{
	return tensor ? ttnn_v_tensor(tensor) : ttnn_v_real((double)(float)number);
}

static struct ttnn_value memory_or_none(const struct change *change)
{
	return change->memory ? ttnn_v_memory(change->memory) : ttnn_v_none();
}

/* With a tensor as zero point: operations one after the other, in the input's type. */
static tt_status quantize_in_steps(struct tt_tensor **out, struct tt_call *call,
				   const struct change *change, const struct scale *by)
{
	enum ttnn_dtype real = change->input->spec.dtype;
	const struct tt_recipe_name names[] = {
		{"a", ttnn_v_tensor(change->input)},
		{"s", either(by->factor, by->factor_number)},
		{"z", ttnn_v_tensor(by->zero)},
		{"real", ttnn_v_dtype(real)},
		{"whole", ttnn_v_dtype(change->dtype)},
		{"m", memory_or_none(change)},
		{"o", change->output ? ttnn_v_tensor(change->output) : ttnn_v_none()}};
	bool cast_factor = by->factor && by->factor->spec.dtype != real;
	bool cast_zero = by->zero->spec.dtype != real;
	static const char *const texts[2][2] = {
		{"d = divide(a, s); return typecast(add(d, z, dtype=real), whole, "
		 "memory_config=m, output_tensor=o)",
		 "d = divide(a, s); return typecast(add(d, typecast(z, real), dtype=real), whole, "
		 "memory_config=m, output_tensor=o)"},
		{"d = divide(a, typecast(s, real)); return typecast(add(d, z, dtype=real), whole, "
		 "memory_config=m, output_tensor=o)",
		 "d = divide(a, typecast(s, real)); return typecast(add(d, typecast(z, real), "
		 "dtype=real), whole, memory_config=m, output_tensor=o)"},
	};

	return cook(out, call, texts[cast_factor][cast_zero], names, 7);
}

/* One program with numbers or a scale tensor; a zero point tensor makes it several operations. */
static tt_status quantize(struct tt_tensor **out, struct tt_call *call, struct change *change,
			  const struct scale *given)
{
	struct scale by = *given;
	enum ttnn_dtype real;

	if (tt_dtype_is_block(change->input->spec.dtype))
		TT_TRY(tt_binary_cast(&change->input, call, TTNN_BFLOAT16));
	real = change->input->spec.dtype;
	TT_REQUIRE(!tt_dtype_is_integer(real), "tt::tt_metal::is_floating_point(a_dtype)",
		   "Quantize only takes floating-point number inputs");
	TT_REQUIRE(is_whole(change->dtype), "is_supported_quantized_dtype(c_dtype)",
		   "Quantize only supports int32, int8 or uint8 outputs for now, got DataType::%s",
		   tt_dtype_text(change->dtype));
	TT_TRY(check_narrow(change, "quantize"));
	TT_TRY(check_scale(change, call, given));
	TT_TRY(lay(&by.factor, call, change, TTNN_FLOAT32));
	TT_TRY(lay(&by.zero, call, change, real));
	if (!by.zero) {
		by.factor_number = (double)(1.0f / (float)by.factor_number);
		if (by.factor) {
			const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(by.factor)}};

			TT_TRY(tt_call_op(&by.factor, call, "ttnn.reciprocal", args, 1));
			tt_call_own(call, by.factor);
		}
		return run_program(out, call, TT_BINARY_QUANT, change, &by);
	}
	return quantize_in_steps(out, call, change, &by);
}

/* (x - z) × s; small types are not subtracted from. */
static tt_status dequantize(struct tt_tensor **out, struct tt_call *call, struct change *change,
			    const struct scale *given)
{
	struct scale by = *given;

	TT_REQUIRE(is_whole(change->input->spec.dtype), "is_supported_quantized_dtype(a_dtype)",
		   "Dequantize only supports int32, int8 or uint8 inputs for now, got DataType::%s",
		   tt_dtype_text(change->input->spec.dtype));
	TT_REQUIRE(change->dtype == TTNN_FLOAT32 || change->dtype == TTNN_BFLOAT16,
		   "c_dtype == DataType::FLOAT32 || c_dtype == DataType::BFLOAT16",
		   "Dequantize only supports bf16/f32 outputs for now");
	TT_TRY(check_scale(change, call, given));
	TT_TRY(lay(&by.factor, call, change, TTNN_FLOAT32));
	TT_TRY(lay(&by.zero, call, change, TTNN_INT32));
	if (!by.zero) {
		by.zero_number = -by.zero_number;
		return run_program(out, call, TT_BINARY_DEQUANT, change, &by);
	}
	const struct tt_recipe_name names[] = {
		{"a", ttnn_v_tensor(change->input)},
		{"s", either(by.factor, by.factor_number)},
		{"z", ttnn_v_tensor(by.zero)},
		{"float", ttnn_v_dtype(TTNN_FLOAT32)},
		{"whole", ttnn_v_dtype(TTNN_INT32)},
		{"real", ttnn_v_dtype(change->dtype)},
		{"m", memory_or_none(change)},
		{"o", change->output ? ttnn_v_tensor(change->output) : ttnn_v_none()}};

	static const char *const texts[2][2] = {
		{"d = typecast(subtract(a, z), float); "
		 "return multiply(d, s, dtype=real, memory_config=m, output_tensor=o)",
		 "d = typecast(subtract(a, z), float); return multiply(d, typecast(s, float), "
		 "dtype=real, memory_config=m, output_tensor=o)"},
		{"d = typecast(subtract(typecast(a, whole), z), float); "
		 "return multiply(d, s, dtype=real, memory_config=m, output_tensor=o)",
		 "d = typecast(subtract(typecast(a, whole), z), float); return multiply(d, "
		 "typecast(s, float), dtype=real, memory_config=m, output_tensor=o)"},
	};
	bool narrow = change->input->spec.dtype == TTNN_UINT8;

	TT_TRY(cook(out, call, texts[narrow][by.factor && by.factor->spec.dtype != TTNN_FLOAT32],
		    names, TT_COUNT(names)));
	if (change->has_axis) { /* what lay() made goes before requantize() goes on */
		tt_call_drop(call, by.zero);
		tt_call_drop(call, by.factor);
	}
	return TTNN_OK;
}

/* ---- operations ------------------------------------------------------------------------------------- */

/* int32 without a dtype. */
static tt_status expand_quantize(struct tt_call *call)
{
	struct change change;
	struct scale by;
	struct tt_tensor *out;

	TT_TRY(read_change(&change, call, TTNN_INT32));
	read_scale(&by, call, "scale", "zero_point");
	return tt_call_give(call, quantize(&out, call, &change, &by), &out);
}

/* bfloat16 without a dtype. */
static tt_status expand_dequantize(struct tt_call *call)
{
	struct change change;
	struct scale by;
	struct tt_tensor *out;

	TT_TRY(read_change(&change, call, TTNN_BFLOAT16));
	read_scale(&by, call, "scale", "zero_point");
	return tt_call_give(call, dequantize(&out, call, &change, &by), &out);
}

/* Whether a tensor has a number for each channel. */
static bool has_channels(const struct change *change, const struct tt_tensor *tensor)
{
	uint64_t count;

	return ttnn_shape_volume(&count, &tensor->spec.shape) == TTNN_OK &&
	       count == change->input->spec.shape.dim[change->axis];
}

/* A scale and its zero point both have channels, or neither: *fit. */
static tt_status fit_pair(enum fit *fit, const struct change *change, const struct scale *scale,
			  bool in)
{
	bool factor = has_channels(change, scale->factor), zero = has_channels(change, scale->zero);
	static const char *const are[] = {"is not", "is"};

	TT_REQUIRE(factor == zero,
		   in ? "in_scale_is_full_size == in_zero_point_is_full_size"
		      : "out_scale_is_full_size == out_zero_point_is_full_size",
		   "%s scale and %s zero-point must both be per-channel or both be per-tensor, but "
		   "got: %s scale %s per-channel, %s zero-point %s per-channel",
		   in ? "Input" : "Output", in ? "input" : "output", in ? "input" : "output",
		   are[factor], in ? "input" : "output", are[zero]);
	*fit = factor ? CHANNELS : ONE_OF_LIST;
	return TTNN_OK;
}

/* As float32, along the axis if it has channels. */
static tt_status spread(struct scale *scale, struct tt_call *call, const struct change *change,
			enum fit fit)
{
	if (fit == CHANNELS) {
		TT_TRY(lay(&scale->factor, call, change, TTNN_FLOAT32));
		return lay(&scale->zero, call, change, TTNN_FLOAT32);
	}
	TT_TRY(tt_binary_cast(&scale->factor, call, TTNN_FLOAT32));
	return tt_binary_cast(&scale->zero, call, TTNN_FLOAT32);
}

/* With an axis, all of it tensors: the scales are put together first. */
static tt_status requantize_tensors(struct tt_tensor **out, struct tt_call *call,
				    struct change *change, const struct scale *scales)
{
	struct scale in = scales[0], to = scales[1];
	int64_t axis = tt_call_int(call, "axis", 0);
	enum fit fits[2];

	if (axis >= (int64_t)change->input->spec.shape.rank)
		return tt_need_dim(&change->input->spec.shape, (uint32_t)axis);
	TT_TRY(check_axis(change, axis));
	TT_TRY(fit_pair(&fits[0], change, &in, true));
	TT_TRY(fit_pair(&fits[1], change, &to, false));
	for (int i = 0; i < 2; i++) {
		TT_TRY(check_factor(change, scales[i].factor, fits[i], axis));
		TT_TRY(check_zero(change, scales[i].zero, fits[i], axis));
	}
	TT_TRY(spread(&in, call, change, fits[0]));
	TT_TRY(spread(&to, call, change, fits[1]));
	const struct tt_recipe_name names[] = {
		{"a", ttnn_v_tensor(change->input)},
		{"s", ttnn_v_tensor(in.factor)},
		{"z", ttnn_v_tensor(in.zero)},
		{"t", ttnn_v_tensor(to.factor)},
		{"y", ttnn_v_tensor(to.zero)},
		{"float", ttnn_v_dtype(TTNN_FLOAT32)},
		{"whole", ttnn_v_dtype(change->dtype)},
		{"m", memory_or_none(change)},
		{"o", change->output ? ttnn_v_tensor(change->output) : ttnn_v_none()}};

	return cook(out, call,
		    "f = divide(s, t); k = multiply(z, f); n = subtract(y, k); "
		    "d = multiply(typecast(a, float), f); "
		    "return typecast(add(d, n), whole, memory_config=m, output_tensor=o)",
		    names, 9);
}

/* All four are numbers: one program. */
static tt_status requantize_numbers(struct tt_tensor **out, struct tt_call *call,
				    const struct change *change, const struct scale *scales)
{
	double ratio = scales[0].factor_number / scales[1].factor_number;
	const struct scale by = {.factor_number = ratio,
				 .zero_number =
					 scales[1].zero_number - ratio * scales[0].zero_number};

	return run_program(out, call, TT_BINARY_REQUANT, change, &by);
}

/* With numbers one program, with all tensors a recipe, else back and forth through bfloat16. */
static tt_status expand_requantize(struct tt_call *call)
{
	struct scale scales[2];
	struct change change, first;
	struct tt_tensor *out;

	TT_TRY(read_change(&change, call, TTNN_INT32));
	read_scale(&scales[0], call, "in_scale", "in_zero_point");
	read_scale(&scales[1], call, "out_scale", "out_zero_point");
	TT_REQUIRE(is_whole(change.input->spec.dtype), "is_supported_quantized_dtype(a_dtype)",
		   "Requantize only supports int32, int8 or uint8 inputs for now, got DataType::%s",
		   tt_dtype_text(change.input->spec.dtype));
	TT_REQUIRE(is_whole(change.dtype), "is_supported_quantized_dtype(c_dtype)",
		   "Requantize only supports int32, int8 or uint8 outputs for now, got "
		   "DataType::%s",
		   tt_dtype_text(change.dtype));
	TT_TRY(check_narrow(&change, "requantize"));
	if (!scales[0].factor && !scales[0].zero && !scales[1].factor && !scales[1].zero) {
		TT_TRY(requantize_numbers(&out, call, &change, scales));
	} else if (change.has_axis && scales[0].factor && scales[0].zero && scales[1].factor &&
		   scales[1].zero) {
		TT_TRY(requantize_tensors(&out, call, &change, scales));
	} else {
		first = change;
		first.dtype = TTNN_BFLOAT16;
		first.output = NULL;
		first.memory = NULL;
		first.has_axis = change.has_axis && scales[0].factor; /* numbers have none */
		change.has_axis = change.has_axis && scales[1].factor;
		TT_TRY(dequantize(&out, call, &first, &scales[0]));
		change.input = tt_call_own(call, out);
		TT_TRY(quantize(&out, call, &change, &scales[1]));
	}
	tt_call_return(call, out);
	return TTNN_OK;
}

/* ---- golden ------------------------------------------------------------------------------------------- */

/* The number of an argument that goes with this element. */
static double number_at(struct tt_golden *golden, const char *name, const struct tt_array *in,
			uint64_t index)
{
	const struct ttnn_value *value = tt_call_arg(&golden->call, name);
	const struct tt_array *array;
	uint64_t at[TTNN_MAX_RANK];
	double number = 0;
	int64_t axis;

	if (value->kind != TTNN_VALUE_TENSOR) {
		tt_value_number(&number, value);
		return number;
	}
	array = tt_golden_in(golden, name);
	if (!array)
		return NAN;
	if (array->count == 1)
		return *tt_at(array, 0);
	axis = tt_call_int(&golden->call, "axis", 0);
	tt_array_coordinate(at, in, index);
	return *tt_at(array, at[axis < 0 ? axis + in->shape.rank : axis]);
}

/* What is done: reals from, or to, whole numbers on one scale or from one to another. */
enum direction { TO_WHOLE, TO_REAL, BETWEEN };
static const enum direction to_whole = TO_WHOLE, to_real = TO_REAL, between = BETWEEN;

/*
 * Rounded to even. With a number as the last zero point a program does it, whose whole numbers are
 * those of a byte with a sign, or of one without.
 */
static double whole(const struct tt_golden *golden, const char *zero, enum ttnn_dtype dtype,
		    double x)
{
	double most = dtype == TTNN_UINT8 ? 255 : 127;

	x = nearbyint(x);
	if (tt_call_arg(&golden->call, zero)->kind == TTNN_VALUE_TENSOR)
		return x;
	return fmin(fmax(x, dtype == TTNN_UINT8 ? 0 : -most), most);
}

/* By the textbook. */
static tt_status quantization_golden(struct tt_golden *golden)
{
	enum direction direction = *(const enum direction *)golden->op->row;
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	const char *factor = direction == BETWEEN ? "in_scale" : "scale";
	const char *zero = direction == BETWEEN ? "in_zero_point" : "zero_point";
	enum ttnn_dtype dtype = tt_call_dtype(&golden->call, "dtype",
					      direction == TO_REAL ? TTNN_BFLOAT16 : TTNN_INT32);
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, dtype) : NULL;

	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < in->count; i++) {
		double x = *tt_at(in, i), s = number_at(golden, factor, in, i);
		double z = number_at(golden, zero, in, i);

		if (direction == TO_WHOLE)
			*tt_at(out, i) = whole(golden, zero, dtype, x / s + z);
		else if (direction == TO_REAL)
			*tt_at(out, i) = (x - z) * s;
		else
			*tt_at(out, i) = whole(golden, "out_zero_point", dtype,
					       (x - z) * s / number_at(golden, "out_scale", in, i) +
						       number_at(golden, "out_zero_point", in, i));
	}
	return TTNN_OK;
}

/* ---- rows ----------------------------------------------------------------------------------------------- */

#define TAIL                                                                                       \
	"*, axis: int? = None, dtype: DataType? = None, memory_config: MemoryConfig? = None, "     \
	"output_tensor: Tensor? = None"
#define ONE(name) name "scale: Tensor | float, " name "zero_point: Tensor | int, "
#define OP(name_, doc_, expand_, row_, signature)                                                  \
	{                                                                                          \
		.name = "ttnn." name_, .doc = doc_, .sigs = {signature}, .expand = expand_,        \
		.golden = quantization_golden, .pcc = 0.99, .row = row_                            \
	}

static const struct tt_op ops[] = {
	OP("dequantize", "The reals that whole numbers on a scale stand for: (x - zero) scale.",
	   expand_dequantize, &to_real, "input_tensor: Tensor, " ONE("") TAIL),
	OP("quantize", "Whole numbers on a scale: x / scale + zero, rounded.", expand_quantize,
	   &to_whole, "input_tensor: Tensor, " ONE("") TAIL),
	OP("requantize", "Whole numbers of one scale as those of another.", expand_requantize,
	   &between, "input_tensor: Tensor, " ONE("in_") ONE("out_") TAIL),
};

const struct tt_op_family tt_family_quantization = {"quantization", ops, TT_COUNT(ops)};
