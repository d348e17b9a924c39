/*
 * topk_large.c: where the largest values of long rows are. Models TopkLargeIndicesDeviceOperation of ttnn 0.81 with
 * its one factory: specs, refusals (it is for Blackhole alone), memory, which calls share a program. Not modelled: the
 * order of equal values.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "golden/golden.h"
#include "ops/movement/movement.h"
#include "ops/reduce/reduce_program.h"
#include "ops/values.h"

#define ATTRS(X)                                                                                   \
	X(K, "k")                                                                                  \
	X(LENGTH_OF, "valid_length_tensor")                                                        \
	X(END_OF, "valid_end_tensor")                                                              \
	X(SUB_DEVICE, "subdevice_id", .text = TT_TEXT_ALWAYS, .fixed = "<StrongType>")             \
	X(CORES, "sub_core_grids", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>")               \
	X(LENGTH, "valid_length")                                                                  \
	X(OFFSET, "valid_length_offset")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);

#define MOST_K 2048
#define K_STEP 16
#define MOST_WIDTH (1u << 30)
#define NOWHERE UINT32_MAX /* the place of what is minus infinity */
#define TILE_ELEMENTS (TT_TILE * TT_TILE)

static tt_status topk_large_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_shape shape = in->shape;

	if (shape.rank)
		shape.dim[shape.rank - 1] = (uint32_t)launch->attrs[K].integer;
	return tt_spec_simple(&launch->specs[0], &shape, TTNN_UINT32, TTNN_ROW_MAJOR, &in->memory);
}

static tt_status check_input(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	int64_t k = launch->attrs[K].integer;

	TT_REQUIRE(k > 0 && k <= MOST_K && k % K_STEP == 0,
		   "attrs.k > 0 && attrs.k <= max_supported_k && attrs.k % 16 == 0",
		   "topk_large_indices supports k in [16, %d] in multiples of 16, got %" PRId64,
		   MOST_K, k);
	TT_REQUIRE(tt_is_blackhole(launch->device), "arch == tt::ARCH::BLACKHOLE",
		   "topk_large_indices is only supported on Blackhole architecture, got "
		   "wormhole_b0");
	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR, "input.layout() == Layout::ROW_MAJOR",
		   "topk_large_indices input must be ROW_MAJOR");
	TT_REQUIRE(in->dtype == TTNN_BFLOAT16, "input.dtype() == DataType::BFLOAT16",
		   "topk_large_indices input must be BFLOAT16");
	TT_REQUIRE(!tt_tensor_is_sharded(launch->inputs[0]), "!input.is_sharded()",
		   "topk_large_indices input must use interleaved memory");
	return TTNN_OK;
}

static tt_status topk_large_validate(struct tt_launch *launch)
{
	const struct ttnn_shape *shape = &launch->inputs[0]->spec.shape;
	const struct ttnn_value *length = &launch->attrs[LENGTH];
	uint64_t volume, width;

	TT_TRY(check_input(launch));
	TT_REQUIRE(shape->rank >= 1, "shape.rank() >= 1",
		   "topk_large_indices input must have rank >= 1");
	TT_TRY(ttnn_shape_volume(&volume, shape));
	width = shape->dim[shape->rank - 1];
	TT_REQUIRE(volume > 0, "num_rows > 0",
		   "topk_large_indices input must have at least one row");
	TT_REQUIRE(width >= (uint64_t)launch->attrs[K].integer, "n >= attrs.k",
		   "topk_large_indices input last dimension %" PRIu64 " must be >= k %" PRId64,
		   width, launch->attrs[K].integer);
	TT_REQUIRE(width <= MOST_WIDTH, "n <= max_row_elements",
		   "topk_large_indices initial implementation supports at most %u elements in the "
		   "last dimension; got %" PRIu64,
		   MOST_WIDTH, width);
	if (length->kind != TTNN_VALUE_INT)
		return TTNN_OK;
	TT_REQUIRE(length->integer > 0, "valid_length > 0",
		   "topk_large_indices valid_length must be > 0");
	TT_REQUIRE((uint64_t)length->integer <= width, "valid_length <= n",
		   "topk_large_indices valid_length %" PRId64
		   " must be <= the input last dimension %" PRIu64,
		   length->integer, width);
	return TTNN_OK;
}

/* ---- the program -------------------------------------------------------------------------------------------- */

/* How many elements are searched at once: the sizes that there are. */
static uint64_t window_of(uint64_t k)
{
	return k <= 512 ? 512 : k <= 1024 ? 1024 : 2048;
}

static tt_status topk_large_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t k = (uint64_t)launch->attrs[K].integer, window = window_of(k);
	uint64_t place = tt_element_bytes(launch->outputs[0]);

	return TT_PLAN(plan, launch->attrs[CORES].core_set,
		       TT_CB_ROW(0, "input", .pages = 2 * tt_div_up(window, TILE_ELEMENTS),
				 .page = TILE_ELEMENTS * tt_element_bytes(launch->inputs[0])),
		       TT_CB_ROW(1, "indices", .pages = 2, .page = window * place),
		       TT_CB_ROW(2, "indices_scratch", .pages = window > 512, .page = k * place));
}

/* Rows of any number and length share a program, and so do lengths that are searched. */
static void topk_large_key(struct tt_key *key, const struct tt_launch *launch)
{
	tt_key_values(key, &launch->attrs[K], 1);
	tt_key_values(key, &launch->attrs[CORES], 1);
	tt_key_layout(key, &launch->inputs[0]->spec);
	tt_key_number(key, launch->input_count);
}

struct found {
	double value;
	uint32_t place;
};

/* The largest first, of equal ones that which comes first; what is no number last. */
static int by_size(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (isnan(x->value) || isnan(y->value)) {
		int order = (isnan(x->value) != 0) - (isnan(y->value) != 0);

		return order ? order : (x->place > y->place) - (x->place < y->place);
	}
	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return (x->place > y->place) - (x->place < y->place);
}

/* So many elements of a row are searched, as numbers or tensors of one say. */
static tt_status searched(uint64_t *out, const struct tt_launch *launch, uint64_t width)
{
	const struct ttnn_value *length = &launch->attrs[LENGTH];
	double *numbers;
	uint64_t count;

	*out = length->kind == TTNN_VALUE_INT ? (uint64_t)length->integer : width;
	if (launch->input_count > 1 && launch->inputs[1]) {
		TT_TRY(tt_values_of(&numbers, &count, launch, 1));
		*out = (uint64_t)(numbers[0] + (double)launch->attrs[OFFSET].integer);
	}
	if (launch->input_count > 2 && launch->inputs[2]) {
		TT_TRY(tt_values_of(&numbers, &count, launch, 2));
		count = tt_align_to((uint64_t)numbers[0], TT_TILE);
		*out = count < *out ? count : *out;
	}
	*out = *out < width ? *out : width;
	return TTNN_OK;
}

static tt_status topk_large_kernel(struct tt_launch *launch)
{
	uint64_t k = (uint64_t)launch->attrs[K].integer, count, length;
	uint64_t width = tt_shape_last(&launch->inputs[0]->spec.shape, 1);
	struct found *row;
	uint32_t *places;
	double *values;

	TT_TRY(searched(&length, launch, width));
	TT_TRY(tt_values_of(&values, &count, launch, 0));
	row = tt_arena_alloc(launch->arena, (length + 1) * sizeof(*row));
	places = tt_arena_alloc(launch->arena, (count / width * k + 1) * sizeof(*places));
	if (!row || !places)
		return tt_fail_nomem();
	for (uint64_t r = 0; r < count / width; r++) {
		for (uint64_t i = 0; i < length; i++)
			row[i] = (struct found){values[r * width + i], (uint32_t)i};
		qsort(row, length, sizeof(*row), by_size);
		for (uint64_t i = 0; i < k; i++)
			places[r * k + i] =
				i < length && row[i].value != -INFINITY ? row[i].place : NOWHERE;
	}
	return tt_values_write(launch->outputs[0], places, TTNN_UINT32);
}

static const struct tt_prog prog = {
	.device_op = "TopkLargeIndicesDeviceOperation",
	.prim = "ttnn::prim::topk_large_indices",
	.attrs = &schema,
	.infer = topk_large_infer,
	.validate = topk_large_validate,
	TT_FACTORY("ttnn::operations::experimental::topk_large_indices::program::"
		   "TopkLargeIndicesProgramFactory",
		   topk_large_memory),
	.key = topk_large_key,
	TT_KERNEL(topk_large_kernel),
};

/* ---- the operation ------------------------------------------------------------------------------------------ */

/* Tensors of one number, which a captured trace can change between its runs. */
static tt_status check_lengths(const struct tt_call *call)
{
	const struct tt_tensor *length = tt_call_tensor(call, "valid_length_tensor");
	const struct tt_tensor *end = tt_call_tensor(call, "valid_end_tensor");
	const struct tt_tensor *both[] = {length, end};

	TT_NEED(!length || tt_call_arg(call, "valid_length")->kind != TTNN_VALUE_INT,
		"topk_large_indices takes valid_length or valid_length_tensor, not both");
	TT_NEED(!end || length,
		"topk_large_indices: valid_end_tensor requires valid_length_tensor");
	for (size_t i = 0; i < TT_COUNT(both); i++) {
		uint64_t count;

		if (!both[i])
			continue;
		TT_TRY(ttnn_shape_volume(&count, &both[i]->spec.shape));
		TT_NEED(count == 1 && both[i]->spec.dtype == TTNN_UINT32 &&
				both[i]->spec.layout == TTNN_ROW_MAJOR,
			"topk_large_indices: lengths in a tensor are one UINT32 in ROW_MAJOR");
	}
	return TTNN_OK;
}

static tt_status choose_cores(const ttnn_core_set **out, const struct tt_call *call,
			      struct tt_device *device)
{
	const struct ttnn_value *sub = tt_call_arg(call, "subdevice_id");

	*out = tt_call_core_set(call, "sub_core_grids");
	if (*out)
		return TTNN_OK;
	return tt_device_sub_device(out, device,
				    sub->kind == TTNN_VALUE_INT ? (uint64_t)sub->integer : 0);
}

static tt_status topk_large_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	const ttnn_core_set *cores;

	TT_REQUIRE(tt_tensor_device(in), "input_tensor.storage_type() == StorageType::DEVICE",
		   "topk_large_indices input must be on device");
	TT_TRY(check_lengths(call));
	TT_TRY(choose_cores(&cores, call, tt_tensor_device(in)));
	return TT_LAUNCH_RETURN(
		call, &prog,
		TT_INPUTS(in, tt_call_tensor(call, "valid_length_tensor"),
			  tt_call_tensor(call, "valid_end_tensor")),
		TT_BIND(call, schema, [LENGTH_OF] = ttnn_v_none(), [END_OF] = ttnn_v_none(),
			[CORES] = ttnn_v_core_set(cores)));
}

/* ---- golden --------------------------------------------------------------------------------------------------- */

/* The number of a tensor of one, or -1. */
static double only_number(struct tt_golden *golden, const char *name)
{
	const struct tt_array *array =
		tt_call_tensor(&golden->call, name) ? tt_golden_in(golden, name) : NULL;

	return array ? *tt_at(array, 0) : -1;
}

static uint64_t golden_length(struct tt_golden *golden, uint64_t width)
{
	double length = (double)tt_call_int(&golden->call, "valid_length", (int64_t)width);
	double given = only_number(golden, "valid_length_tensor");
	double end = only_number(golden, "valid_end_tensor");

	if (given >= 0)
		length = given + (double)tt_call_int(&golden->call, "valid_length_offset", 0);
	if (end >= 0)
		length = fmin(length, ceil(end / 32) * 32);
	return (uint64_t)fmin(fmax(length, 0), (double)width);
}

/* Each place that was not taken yet is looked at for every result. */
static tt_status topk_large_golden(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	uint64_t k = (uint64_t)tt_call_int(&golden->call, "k", 0), width, length;
	struct tt_array *out, *taken;
	struct ttnn_shape shape;

	TT_GOLDEN_NEED(in && in->shape.rank && k && k <= MOST_K);
	shape = in->shape;
	width = shape.dim[tt_from_end(&shape, 1)];
	shape.dim[tt_from_end(&shape, 1)] = (uint32_t)k;
	length = golden_length(golden, width);
	out = tt_golden_out(golden, &shape, TTNN_UINT32);
	taken = tt_golden_temp(golden, &in->shape);
	TT_GOLDEN_NEED(out && taken);
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t row = i / k * width, best = width;

		for (uint64_t c = 0; c < length; c++)
			if (*tt_at(taken, row + c) == 0 && *tt_at(in, row + c) > -INFINITY &&
			    (best == width || *tt_at(in, row + c) > *tt_at(in, row + best)))
				best = c;
		*tt_at(out, i) = best == width ? (double)NOWHERE : (double)best;
		if (best != width)
			*tt_at(taken, row + best) = 1;
	}
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.topk_large_indices",
	 .doc = "Where the largest values of long rows are, the largest first.",
	 .sigs = {"input_tensor: Tensor, *, k: int, valid_length: int? = None, "
		  "valid_length_tensor: Tensor? = None, valid_length_offset: int = 0, "
		  "subdevice_id: SubDeviceId? = None, sub_core_grids: CoreRangeSet? = None, "
		  "valid_end_tensor: Tensor? = None"},
	 .expand = topk_large_expand,
	 .golden = topk_large_golden,
	 TT_PROGRAMS(&prog)},
};

const struct tt_op_family tt_family_topk_large = {"topk_large", ops, TT_COUNT(ops)};
