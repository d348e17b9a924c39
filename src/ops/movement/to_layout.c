/* to_layout.c: between rows and tiles, whichever way. */
#include <math.h>

#include "golden/golden_movement.h"
#include "ops/movement/movement.h"
#include "ops/movement/pad.h"

/* What the call asks for. */
struct request {
	const struct ttnn_memory_config *memory;
	struct ttnn_value dtype, cores; /* as given */
	double pad_value;
};

/* The padded shape of a shape in tiles in this memory; sharded memory may refuse. */
static tt_status tiled_shape(struct ttnn_shape *out, const struct tt_tensor *tensor,
			     const struct ttnn_shape *shape,
			     const struct ttnn_memory_config *memory)
{
	struct ttnn_spec_args args = {
		.shape = *shape,
		.dtype = tensor->spec.dtype == TTNN_FP8_E4M3 ? TTNN_BFLOAT16 : tensor->spec.dtype,
		.layout = TTNN_TILE,
		.tile = tensor->spec.tile,
		.memory = *memory};

	return tt_tensor_padded_shape(out, &args);
}

/* Rows cannot change dtype, but block floats of 8 bits become bfloat16. */
static tt_status check_dtype(const struct tt_tensor *tensor, const struct request *request)
{
	int64_t wanted = request->dtype.integer;

	TT_REQUIRE(!tt_value_given(&request->dtype) || wanted == (int64_t)tensor->spec.dtype ||
			   (tensor->spec.dtype == TTNN_BFLOAT8_B && wanted == TTNN_BFLOAT16),
		   "is_allowed_row_major_dtype(tensor_arg.dtype(), dtype)",
		   "dtype cannot be different from tensor dtype when converting to "
		   "ROW_MAJOR_LAYOUT on device (allowed exception: BFLOAT8_B -> BFLOAT16, which "
		   "untilize handles natively)!");
	return TTNN_OK;
}

static size_t add(struct ttnn_arg *args, size_t count, const char *name,
		  const struct ttnn_value *value)
{
	if (!tt_value_given(value))
		return count;
	args[count] = (struct ttnn_arg){name, *value};
	return count + 1;
}

/* ttnn::NAME(tensor, memory_config=, dtype=, sub_core_grids=) */
static tt_status call_plain(struct tt_tensor **out, struct tt_call *call, const char *name,
			    struct tt_tensor *in, const struct request *request)
{
	struct ttnn_value memory = ttnn_v_memory(request->memory);
	struct ttnn_arg args[4] = {{"input_tensor", ttnn_v_tensor(in)}};
	size_t count = add(args, 1, "memory_config", &memory);

	if (in->spec.layout == TTNN_ROW_MAJOR)
		count = add(args, count, "dtype", &request->dtype);
	count = add(args, count, "sub_core_grids", &request->cores);
	return tt_call_op(out, call, name, args, count);
}

/*
 * untilize where there is no padding, else untilize_with_unpadding, which takes the last element
 * of each dimension instead of its extent.
 */
static tt_status to_rows(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			 const struct request *request)
{
	struct ttnn_shape end = in->spec.shape;
	struct ttnn_value memory = ttnn_v_memory(request->memory);
	struct ttnn_arg args[4] = {{"input_tensor", ttnn_v_tensor(in)}};
	struct ttnn_shape padded; /* only asked for, as upstream does */
	size_t count = 2;

	TT_TRY(tiled_shape(&padded, in, &in->spec.shape, request->memory));
	TT_TRY(check_dtype(in, request));
	if (ttnn_shape_equal(&in->spec.shape, &in->spec.padded))
		return call_plain(out, call, "ttnn.untilize", in, request);
	for (uint32_t d = 0; d < end.rank; d++)
		end.dim[d]--;
	args[1] = (struct ttnn_arg){"output_tensor_end", ttnn_v_shape(&end)};
	count = add(args, count, "memory_config", &memory);
	count = add(args, count, "sub_core_grids", &request->cores);
	return tt_call_op(out, call, "ttnn.untilize_with_unpadding", args, count);
}

static tt_status check_shards(const struct tt_tensor *in)
{
	TT_NEED(!tt_tensor_is_sharded(in) ||
			(tt_shard_height(&in->spec.memory) % in->spec.tile.height == 0 &&
			 tt_shard_width(&in->spec.memory) % in->spec.tile.width == 0),
		"ttnn::to_layout: Sharded tensor must have shard shape that is a multiple of "
		"TILE_SIZE!");
	return TTNN_OK;
}

/*
 * Height shards of rows: no program pads and tilizes them at once, so they are padded by
 * ttnn.pad, tilized, and seen by a view with the shape that they had.
 */
static tt_status pad_and_tilize(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
				const struct ttnn_shape *padded, const struct request *request)
{
	uint32_t rank = in->spec.shape.rank;
	struct ttnn_value ends[TTNN_MAX_RANK][2], pairs[TTNN_MAX_RANK];
	struct ttnn_arg args[] = {{"input_tensor", ttnn_v_tensor(in)},
				  {"padding", ttnn_v_list(pairs, rank)},
				  {"value", ttnn_v_real(request->pad_value)}};
	struct tt_tensor *rows, *tiles;

	for (uint32_t d = 0; d < rank; d++) {
		uint32_t back = rank - d;

		ends[d][0] = ttnn_v_int(0);
		ends[d][1] = ttnn_v_int(back > 2 ? 0
						 : (int64_t)tt_shape_last(padded, back) -
							   tt_shape_last(&in->spec.shape, back));
		pairs[d] = ttnn_v_list(ends[d], 2);
	}
	TT_REQUIRE(!tt_value_given(&request->cores), "!sub_core_grids.has_value()",
		   "Pad OP does not currently support sub core grid");
	TT_TRY(tt_call_op(&rows, call, "ttnn.pad", args, TT_COUNT(args)));
	TT_TRY(tt_call_replace(&rows, call, call_plain(&tiles, call, "ttnn.tilize", rows, request),
			       &tiles));
	tt_call_own(call, tiles);
	return tt_call_view(out, call, tiles, &in->spec.shape, &tiles->spec.padded);
}

/*
 * The padding value in the dtype's kind: integers are cut and must be in range, as they go to
 * the kernel as bits.
 */
static tt_status pad_number(struct ttnn_value *out, enum ttnn_dtype dtype, double value)
{
	if (dtype == TTNN_BFLOAT16 || dtype == TTNN_FLOAT32) {
		*out = ttnn_v_real(value);
		return TTNN_OK;
	}
	if (dtype == TTNN_INT32)
		TT_REQUIRE(
			value >= INT32_MIN && value < 2147483648.0,
			"pad_value >= static_cast<float>(std::numeric_limits<int32_t>::min()) && "
			"pad_value < static_cast<float>(std::numeric_limits<int32_t>::max())",
			"Pad value must be in the range of INT32 type");
	else
		TT_REQUIRE(value >= 0 && value < 4294967296.0,
			   "pad_value >= 0.0f && pad_value < "
			   "static_cast<float>(std::numeric_limits<uint32_t>::max())",
			   "Pad value must be in the range of UINT32 type");
	*out = ttnn_v_int((int64_t)trunc(value));
	return TTNN_OK;
}

/* The arguments that were given, and no others: recordings show which. */
static tt_status tilize_padded(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			       const struct ttnn_shape *padded, const struct request *request)
{
	struct ttnn_value memory = ttnn_v_memory(request->memory);
	struct ttnn_arg args[6] = {{"input_tensor", ttnn_v_tensor(in)},
				   {"output_tensor_shape", ttnn_v_shape(padded)}};
	size_t count = 3;

	args[2].name = "pad_value";
	TT_TRY(pad_number(&args[2].value, in->spec.dtype, request->pad_value));
	count = add(args, count, "memory_config", &memory);
	count = add(args, count, "dtype", &request->dtype);
	count = add(args, count, "sub_core_grids", &request->cores);
	return tt_call_op(out, call, "ttnn.tilize_with_val_padding", args, count);
}

/* A tensor of one dimension becomes a row. */
static tt_status as_row(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	struct ttnn_shape row = {2, {1, tt_shape_last(&in->spec.padded, 1)}};

	if (in->spec.padded.rank >= 2) {
		*out = ttnn_tensor_ref(in);
		return TTNN_OK;
	}
	TT_REQUIRE(!tt_tensor_is_sharded(in), "!tensor.is_sharded()",
		   "ttnn::to_layout: Cannot convert a sharded device tensor with rank %u to "
		   "TILE_LAYOUT. Tilize requires shard dimensions divisible by tile size, but "
		   "rank promotion to 2D produces a shard height of 1. Move to interleaved "
		   "first, then tilize.",
		   in->spec.padded.rank);
	return tt_call_view(out, call, in, &in->spec.shape, &row);
}

/*
 * tilize for whole tiles, padding otherwise; height shards are padded first. A vector becomes a
 * row of a matrix on the way and is reshaped back.
 */
static tt_status to_tiles(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			  const struct request *request)
{
	struct ttnn_shape padded, again;
	struct tt_tensor *row, *tiles;

	TT_TRY(tiled_shape(&padded, in, &in->spec.shape, request->memory));
	TT_TRY(as_row(&row, call, in));
	tt_call_own(call, row);
	TT_TRY(tiled_shape(&again, row, &row->spec.padded, &row->spec.memory));
	if (ttnn_shape_equal(&row->spec.padded, &again)) {
		TT_TRY(check_shards(row));
		return call_plain(out, call, "ttnn.tilize", row, request);
	}
	if (in->spec.memory.layout == TTNN_HEIGHT_SHARDED)
		return pad_and_tilize(out, call, row, &padded, request);
	TT_TRY(tilize_padded(&tiles, call, row, &padded, request));
	if (in->spec.shape.rank >= 2) {
		*out = tiles;
		return TTNN_OK;
	}
	return tt_call_reshape(
		out, call,
		&(struct tt_reshape_args){.in = tt_call_own(call, tiles),
					  .shape = &in->spec.shape,
					  .sub_cores = tt_value_given(&request->cores)
							       ? request->cores.core_set
							       : NULL});
}

/* ---- on the host ------------------------------------------------------------------------------------------ */

/* Block floats have no rows: they stay as they are. */
static tt_status host_step(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			   enum ttnn_layout layout, double pad_value)
{
	struct ttnn_value args[] = {ttnn_v_tensor(in), ttnn_v_layout(layout)};
	tt_status status = TTNN_OK;

	tt_host_begin(call, "Tensor::to_layout", args, TT_COUNT(args));
	if (layout == TTNN_ROW_MAJOR && tt_dtype_is_block(in->spec.dtype)) {
		*out = ttnn_tensor_ref(in);
		tt_tensor_next_id(); /* upstream makes a tensor for it all the same */
	} else {
		status = ttnn_tensor_to_layout(out, in, layout, pad_value);
	}
	tt_host_end(call, status == TTNN_OK ? *out : NULL, status);
	return status;
}

/* Rows were made without padding: there is nothing left to cut off. */
static tt_status host_unpad(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *rows,
			    const struct ttnn_shape *shape)
{
	struct ttnn_value args[] = {ttnn_v_tensor(rows), ttnn_v_shape(shape)};
	tt_status status = TTNN_OK;

	tt_host_begin(call, "Tensor::unpad_from_tile", args, TT_COUNT(args));
	if (rows->spec.layout == TTNN_ROW_MAJOR)
		*out = ttnn_tensor_ref(rows);
	else
		status = tt_fail_cond(TTNN_INVALID, "tensor.layout() == Layout::ROW_MAJOR",
				      "Tensor layout must be ROW_MAJOR for unpadding");
	tt_host_end(call, status == TTNN_OK ? *out : NULL, status);
	return status;
}

/* On the host: converted, then cut to the shape. */
static tt_status host_rows(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	const struct ttnn_shape *shape = &in->spec.shape;
	struct tt_tensor *rows;

	TT_TRY(host_step(&rows, call, in, TTNN_ROW_MAJOR, 0));
	*out = rows;
	if (ttnn_shape_equal(shape, &in->spec.padded))
		return TTNN_OK;
	TT_TRY(host_unpad(out, call, tt_call_own(call, rows), shape));
	if (shape->rank >= 2)
		return TTNN_OK;
	return tt_call_view(out, call, tt_call_own(call, *out), shape, shape);
}

/* On the host: padded, then converted, then viewed under the shape. */
static tt_status host_tiles(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			    double pad_value)
{
	struct ttnn_shape padded = tt_shape_in_tiles(&in->spec.shape);
	const struct ttnn_shape start = {.rank = padded.rank};
	const struct ttnn_shape *const shapes[] = {&padded, &start};
	struct tt_tensor *rows, *more, *tiles;

	if (ttnn_shape_equal(&padded, &in->spec.shape))
		return host_step(out, call, in, TTNN_TILE, pad_value);
	TT_TRY(as_row(&rows, call, in));
	tt_call_own(call, rows);
	TT_TRY(tt_host_pad(&more, call, rows, shapes, pad_value));
	tt_call_own(call, more);
	TT_TRY(host_step(&tiles, call, more, TTNN_TILE, pad_value));
	tt_call_own(call, tiles);
	return tt_call_view(out, call, tiles, &in->spec.shape, &padded);
}

/* ---- the operation ---------------------------------------------------------------------------------------- */

/*
 * Host and device go different ways, each with its own scopes. The same layout is no work at
 * all, not even a copy: the tensor itself is returned.
 */
static tt_status to_layout_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "tensor"), *out;
	enum ttnn_layout layout = (enum ttnn_layout)tt_call_arg(call, "layout")->integer;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct request request = {.memory = memory ? memory : &in->spec.memory,
				  .dtype = *tt_call_arg(call, "dtype"),
				  .cores = *tt_call_arg(call, "sub_core_grids"),
				  .pad_value = tt_call_real(call, "pad_value", 0)};

	if (in->spec.layout == layout)
		out = ttnn_tensor_ref(in);
	else if (!tt_tensor_device(in) && layout == TTNN_TILE)
		TT_TRY(host_tiles(&out, call, in, request.pad_value));
	else if (!tt_tensor_device(in))
		TT_TRY(host_rows(&out, call, in));
	else if (layout == TTNN_TILE)
		TT_TRY(to_tiles(&out, call, in, &request));
	else
		TT_TRY(to_rows(&out, call, in, &request));
	tt_call_return(call, out);
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{TT_MOVE_ROW(
		"to_layout", to_layout_expand, tt_golden_same,
		"The same tensor in rows or in tiles.",
		"tensor: Tensor, layout: Layout, dtype: DataType? = None, memory_config: "
		"MemoryConfig? = None, sub_core_grids: CoreRangeSet? = None, pad_value: float = "
		"0.0")},
};

const struct tt_op_family tt_family_to_layout = {"movement", ops, TT_COUNT(ops)};
