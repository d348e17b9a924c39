/*
 * moe.c: the weight of the first expert among the likeliest ones of each row.
 *
 * Models MoeDeviceOperation of ttnn 0.81 (reduction/moe/device) with its one factory: specs,
 * refusals, memory, the one core that works. It is a topk of 32, a mask of what is beyond k, and
 * a softmax of that in one program. Not modelled: rounding between these steps.
 */
#include <math.h>

#include "golden/golden_reduction.h"
#include "ops/reduce/reduce_program.h"
#include "ops/usual.h"
#include "ops/values.h"

#define ATTRS(X)                                                                                   \
	X(K, "k")                                                                                  \
	X(MEMORY, "output_memory_config")
TT_ATTRS(schema, "MoeParams", ATTRS);
enum { IN, EXPERTS, LIKELIEST };
#define ONLY_K 32

/* One weight a row. */
static tt_status moe_infer(struct tt_launch *launch)
{
	struct ttnn_shape shape = launch->inputs[IN]->spec.shape;

	if (shape.rank)
		shape.dim[shape.rank - 1] = 1;
	TT_TRY(tt_check_given(launch, 0, &shape));
	return tt_infer_one(launch, &shape, launch->inputs[IN]->spec.dtype, TTNN_TILE);
}

/* One row, as wide as it must be. */
static bool is_row(const struct ttnn_shape *shape, uint32_t width)
{
	for (uint32_t i = 0; i + 1 < shape->rank; i++)
		if (shape->dim[i] != 1)
			return false;
	return shape->rank && tt_shape_last(shape, 1) == width;
}

/* Both masks have this text, with other words. */
static tt_status fail_mask(const char *condition, bool topk, const struct ttnn_shape *shape,
			   uint32_t width)
{
	const char *width_name = topk ? "k" : "input_shape[-1]";
	struct tt_str text = {0};

	tt_str_adds(&text, "Shape(");
	tt_shape_list(&text, shape);
	tt_str_addc(&text, ')');
	tt_fail_cond(TTNN_INVALID, condition,
		     "%s mask must be row-broadcastable with last dim == %s. Got rank=%u and "
		     "shape=%s for %s=%u",
		     topk ? "Topk" : "Expert", width_name, shape->rank, tt_str_text(&text),
		     width_name, width);
	tt_str_deinit(&text);
	return TTNN_INVALID;
}

/*
 * k is always 32: a mask of -inf takes away what is too many. Widths are powers of two, for the
 * sort.
 */
static tt_status moe_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const struct ttnn_tensor_spec *experts = &launch->inputs[EXPERTS]->spec;
	const struct ttnn_tensor_spec *likeliest = &launch->inputs[LIKELIEST]->spec;
	uint32_t width = tt_shape_last(&in->padded, 1), k = (uint32_t)launch->attrs[K].integer;
	uint32_t rows;

	TT_REQUIRE(in->padded.rank == 4, "input_shape.rank() == 4",
		   "Input shape must be 4D, got %u", in->padded.rank);
	TT_REQUIRE(k == ONLY_K, "args.k == 32",
		   "K must be equal to 32, pad with -infinity if necessary to get 32, got %u", k);
	TT_REQUIRE(width >= 2 * ONLY_K, "input_shape[-1] >= 64",
		   "Input shape inner dim %u must be a multiple of 64, pad with -infinity if "
		   "necessary",
		   width);
	TT_REQUIRE((width & (width - 1)) == 0, "(input_shape[-1] & (input_shape[-1] - 1)) == 0",
		   "Input shape inner dim %u must be a power of 2, pad with -infinity if necessary",
		   width);
	rows = in->padded.dim[0] * in->padded.dim[1] * in->padded.dim[2];
	TT_REQUIRE(rows % TT_TILE == 0,
		   "(input_shape[0] * input_shape[1] * input_shape[2]) % 32 == 0",
		   "Input height (combined input_shape[0-2]) %u must be a multiple of 32", rows);
	TT_REQUIRE(!tt_memory_config_is_sharded(launch->attrs[MEMORY].memory),
		   "args.output_memory_config.is_sharded() == false",
		   "Sharded implementation not supported yet");
	TT_REQUIRE(in->layout == TTNN_TILE, "input_tensor.layout() == Layout::TILE",
		   "The input must be in tiled format");
	if (!is_row(&likeliest->shape, k))
		return fail_mask("is_row_broadcastable_mask(topk_logical_shape, args.k)", true,
				 &likeliest->shape, k);
	if (!is_row(&experts->shape, tt_shape_last(&in->shape, 1)))
		return fail_mask(
			"is_row_broadcastable_mask(expert_logical_shape, input_logical_shape[-1])",
			false, &experts->shape, tt_shape_last(&in->shape, 1));
	TT_REQUIRE(tt_shape_last(&likeliest->padded, 2) == 32, "topk_shape[-2] == 32",
		   "Topk shape inner dim must be padded to 32, got %u",
		   tt_shape_last(&likeliest->padded, 2));
	TT_REQUIRE(tt_shape_last(&experts->padded, 2) == 32, "expert_shape[-2] == 32",
		   "Expert shape inner dim must be padded to 32, got %u",
		   tt_shape_last(&experts->padded, 2));
	return TTNN_OK;
}

/* One core sorts row after row of tiles: values and places beside each other, transposed. */
static tt_status moe_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_reduce_tiles tiles = tt_reduce_tiles_of(&launch->inputs[IN]->spec);
	uint64_t value = tt_page_in0(launch), place = tt_tile_bytes_of(TTNN_UINT16);
	uint64_t rows = tiles.matrices * tiles.height, width = tiles.width;
	bool whole = launch->inputs[IN]->spec.dtype == TTNN_FLOAT32;
	const ttnn_core_set *first;

	TT_TRY(tt_core_set_grid(&first, 1, 1));
	return TT_PLAN(
		plan, first, TT_DFB_ROW(0, "input", .pages = 4, .page = value),
		TT_DFB_ROW(1, "expert_mask", .pages = width, .page = tt_page_in1(launch)),
		TT_DFB_ROW(2, "topk_mask", .pages = 1, .page = tt_page_in2(launch)),
		TT_DFB_ROW(3, "scale", .pages = 1,
			   .page = tt_tile_bytes_of(whole ? TTNN_FLOAT32 : TTNN_BFLOAT16)),
		TT_DFB_ROW(4, "index", .pages = 4, .page = place),
		/* As many whole tiles as fit in the room that places take. */
		TT_DFB_ROW(5, "input_transposed", .pages = width * place / value, .page = value),
		TT_DFB_ROW(6, "index_transposed", .pages = width, .page = place),
		TT_DFB_ROW(7, "values", .pages = rows, .page = place),
		TT_DFB_ROW(8, "output_ind", .pages = rows, .page = place),
		TT_DFB_ROW(9, "cur_max", .pages = rows, .page = value),
		TT_DFB_ROW(10, "cur_sum", .pages = rows, .page = value),
		TT_DFB_ROW(11, "masked", .pages = rows, .page = value),
		TT_DFB_ROW(12, "out", .pages = 2, .page = tt_page_out0(launch)));
}

/* The weight of the first value among the 32 largest, if it is one of them. */
static double weight_of_first(const double *values, uint64_t width, const double *mask)
{
	double largest[ONLY_K], top = -INFINITY, sum = 0, own = 0;
	uint32_t found = 0, first = ONLY_K;

	for (uint64_t i = 0; i < width; i++) {
		uint32_t at = found;

		while (at && values[i] > largest[at - 1])
			at--;
		if (at == ONLY_K)
			continue;
		found += found < ONLY_K;
		for (uint32_t k = found - 1; k > at; k--)
			largest[k] = largest[k - 1];
		largest[at] = values[i];
		if (i == 0)
			first = at;
		else if (at <= first && first < ONLY_K)
			first++;
	}
	for (uint32_t k = 0; k < found; k++)
		top = fmax(top, largest[k] += mask[k]);
	for (uint32_t k = 0; k < found; k++) {
		double weight = exp(largest[k] - top);

		sum += weight;
		if (k == first)
			own = weight;
	}
	return own / sum;
}

/* The mask is added, so that -inf takes an expert out. */
static tt_status moe_kernel(struct tt_launch *launch)
{
	uint64_t width = tt_shape_last(&launch->inputs[IN]->spec.shape, 1), count, unused;
	double *values, *experts, *mask;
	float *weights;

	TT_TRY(tt_values_of(&values, &count, launch, IN));
	TT_TRY(tt_values_of(&experts, &unused, launch, EXPERTS));
	TT_TRY(tt_values_of(&mask, &unused, launch, LIKELIEST));
	weights = tt_arena_alloc(launch->arena, (count / width + 1) * sizeof(*weights));
	TT_NEED_MEMORY(weights);
	for (uint64_t row = 0; row < count / width; row++) {
		double *line = &values[row * width];

		for (uint64_t i = 0; i < width; i++)
			line[i] += experts[i];
		weights[row] = (float)weight_of_first(line, width, mask);
	}
	return tt_values_write(launch->outputs[0], weights, TTNN_FLOAT32);
}

static const struct tt_prog program = {
	.device_op = "MoeDeviceOperation",
	.prim = "ttnn::prim::moe",
	.attrs = &schema,
	.infer = moe_infer,
	.validate = moe_validate,
	TT_FACTORY("ttnn::prim::MoeProgramFactory", moe_memory),
	TT_KERNEL(moe_kernel),
};

/* Interleaved in DRAM without a memory config. */
static tt_status moe_expand(struct tt_call *call)
{
	static const struct ttnn_memory_config plain = {.buffer = TTNN_DRAM};
	static const char *const names[] = {"input_tensor", "expert_mask_tensor",
					    "topk_mask_tensor"};
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct tt_tensor *inputs[TT_COUNT(names)];

	for (size_t i = 0; i < TT_COUNT(names); i++) {
		inputs[i] = tt_call_tensor(call, names[i]);
		TT_REQUIRE(tt_tensor_device(inputs[i]), "tt::exception",
			   "Device Operations expect device tensors as inputs");
	}
	return TT_LAUNCH_RETURN(
		call, &program, .inputs = inputs, .input_count = TT_COUNT(names),
		TT_OUTPUTS(tt_call_tensor(call, "output_tensor")),
		TT_BIND(call, schema, [MEMORY] = ttnn_v_memory(memory ? memory : &plain)));
}

static const struct tt_op ops[] = {
	{.name = "ttnn.moe",
	 .doc = "The weight of the first expert among the likeliest ones of each row.",
	 .sigs = {"input_tensor: Tensor, expert_mask_tensor: Tensor, topk_mask_tensor: Tensor, "
		  "k: int = 32, *, memory_config: MemoryConfig ? = None, "
		  "output_tensor: Tensor ? = None"},
	 .expand = moe_expand,
	 .golden = tt_golden_moe},
};

const struct tt_op_family tt_family_moe = {"moe", ops, TT_COUNT(ops)};
