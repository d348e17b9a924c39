/*
 * split.c: tensors cut into parts.
 *
 * Models SplitDeviceOperation of ttnn 0.81 (data_movement/split/device) with its one factory,
 * which cuts the last dimension in two or a few equal parts, and the slices that upstream makes
 * where it does not serve: refusals, memory, cores. Not modelled: the order of tiles.
 */
#include <inttypes.h>

#include "golden/golden_movement.h"
#include "ops/movement/movement.h"
#include "ops/movement/permute.h"
#include "ops/movement/shard_derive.h"
#include "ops/movement/shard_ops.h"
#include "ops/movement/slice.h"

/* ---- the program -------------------------------------------------------------------------------------------- */

#define ATTRS(X)                                                                                   \
	X(PARTS, "num_splits")                                                                     \
	X(DIM, "dim")                                                                              \
	X(MEMORY, "output_mem_config")
TT_ATTRS(schema, "SplitParams", ATTRS);

/* Equal parts of the width. */
static tt_status split_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_shape shape = in->shape;
	int64_t parts = launch->attrs[PARTS].integer;

	shape.dim[3] /= (uint32_t)parts;
	launch->output_count = (size_t)parts;
	TT_TRY(tt_spec_simple(&launch->specs[0], &shape, in->dtype, in->layout,
			      launch->attrs[MEMORY].memory));
	for (int64_t i = 1; i < parts; i++)
		launch->specs[i] = launch->specs[0];
	return TTNN_OK;
}

static tt_status split_validate(struct tt_launch *launch)
{
	TT_REQUIRE(tt_tensor_buffer(launch->inputs[0]), "input_tensor.buffer() != nullptr",
		   "Operands to TM need to be allocated in buffers on device!");
	return TTNN_OK;
}

/* The most cores, up to a limit, that share tiles evenly. */
static uint32_t even_cores(uint32_t tiles, uint32_t most)
{
	while (most > 1 && tiles % most)
		most--;
	return most ? most : 1;
}

/* Channels across, parts down: each core has tiles of one part. */
static tt_status split_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_shape *padded = &launch->inputs[0]->spec.padded;
	struct ttnn_core grid = tt_grid_size(launch->grid);
	uint32_t parts = (uint32_t)launch->attrs[PARTS].integer, chans = padded->dim[1];
	const ttnn_core_set *cores;

	TT_TRY(tt_core_set_grid(
		&cores, even_cores(padded->dim[2] / TT_TILE, grid.x / chans) * chans,
		even_cores(padded->dim[3] / TT_TILE / parts, grid.y / parts) * parts));
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "src0", .pages = 2,
				  .page = tt_tile_bytes_of(launch->inputs[0]->spec.dtype)));
}

/* Part after part. */
static tt_status split_kernel(struct tt_launch *launch)
{
	int64_t start[TTNN_MAX_RANK] = {0};

	for (size_t i = 0; i < launch->output_count; i++) {
		struct tt_tensor *out = launch->outputs[i];

		TT_TRY(tt_move_part(
			out, launch->inputs[0],
			&(struct tt_move_block){.extent = out->spec.shape.dim, .in_start = start}));
		start[3] += out->spec.shape.dim[3];
	}
	return TTNN_OK;
}

static void split_cost(struct tt_cost *cost, const struct tt_launch *launch)
{
	cost->moves = true;
	tt_cost_set_move(cost, launch, (struct tt_perf_move){.splits = true});
}

static const struct tt_prog prog = {
	.device_op = "SplitDeviceOperation",
	.prim = "ttnn::prim::split",
	.attrs = &schema,
	.infer = split_infer,
	.validate = split_validate,
	TT_FACTORY("ttnn::prim::SplitProgramFactory", split_memory),
	TT_KERNEL(split_kernel),
	.cost = split_cost,
};

/* ---- what is asked for ---------------------------------------------------------------------------------------- */

struct request {
	struct tt_tensor *in;
	uint32_t dim;
	const int64_t *sizes;
	size_t count;
	bool equal;                             /* all sizes are */
	const struct ttnn_memory_config *asked; /* (optional) */
	struct ttnn_memory_config memory;       /* of the parts */
};

/* ---- where the parts go ------------------------------------------------------------------------------------------ */

/* The padded shape of a part, if all have the same. */
static bool part_padded(struct ttnn_shape *out, const struct request *request)
{
	*out = request->in->spec.padded;
	if (!request->equal || out->dim[request->dim] % request->count)
		return false;
	out->dim[request->dim] /= (uint32_t)request->count;
	return true;
}

/* Whether many parts and the programs that make them fit into L1. */
static bool fits_l1(const struct request *request)
{
	const struct ttnn_tensor_spec *in = &request->in->spec;
	uint64_t volume, page = 1024 * tt_element_bytes(request->in), part;

	if (in->memory.buffer != TTNN_L1 || request->count <= 2)
		return true;
	if (ttnn_shape_volume(&volume, &in->padded) != TTNN_OK)
		return false;
	part = volume / request->count * tt_element_bytes(request->in);
	if (in->layout == TTNN_TILE) {
		page = tt_tile_bytes_of(in->dtype);
		part = volume / 1024 / request->count * page;
	}
	return (part + 4 * page) * request->count <= tt_l1_free(tt_tensor_device(request->in));
}

/* A sharded config without shards: the input's scaled, or new ones. */
static tt_status shards_for(struct request *request, const struct ttnn_memory_config *asked)
{
	const struct ttnn_tensor_spec *in = &request->in->spec;
	struct ttnn_shape padded;
	struct tt_shard_request want = {.device = tt_tensor_device(request->in),
					.padded = &padded,
					.layout = asked->layout,
					.orientation = in->memory.has_shard
							       ? in->memory.shard.orientation
							       : TTNN_ORIENT_ROW_MAJOR,
					.tiled = true};
	struct ttnn_shard_spec shard;

	request->memory = *asked;
	if (!tt_memory_config_is_sharded(asked) || asked->has_shard)
		return TTNN_OK;
	if (!part_padded(&padded, request)) {
		request->memory = (struct ttnn_memory_config){0};
		return TTNN_OK;
	}
	if (!in->memory.has_shard || in->memory.layout != asked->layout ||
	    !tt_shard_scale(&shard, &in->memory.shard, &in->padded, &padded))
		TT_TRY(tt_shard_make(&shard, &want, "Transpose"));
	return ttnn_memory_config_sharded(&request->memory, asked->layout, asked->buffer, &shard);
}

/* Parts stay in the input's memory if L1 has room for all of them; otherwise they go to DRAM. */
static tt_status decide_memory(struct request *request)
{
	const struct ttnn_tensor_spec *in = &request->in->spec;
	struct ttnn_shape padded;
	struct ttnn_shard_spec shard;

	if (request->asked)
		return shards_for(request, request->asked);
	request->memory = (struct ttnn_memory_config){0};
	if (!tt_tensor_is_sharded(request->in)) {
		if (fits_l1(request))
			request->memory = in->memory;
		return TTNN_OK;
	}
	if (!part_padded(&padded, request) || !in->memory.has_shard ||
	    !tt_shard_scale(&shard, &in->memory.shard, &in->padded, &padded) ||
	    (in->layout == TTNN_TILE && (shard.height % TT_TILE || shard.width % TT_TILE)) ||
	    !fits_l1(request))
		return TTNN_OK;
	return ttnn_memory_config_sharded(&request->memory, in->memory.layout, in->memory.buffer,
					  &shard);
}

/* ---- by the program ---------------------------------------------------------------------------------------------- */

/* The shape as four dimensions, folded or with ones in front. */
static struct ttnn_shape in_four(const struct ttnn_shape *shape)
{
	struct ttnn_shape four = {.rank = 4};

	if (shape->rank > 4)
		return tt_shape_folded(shape, 4);
	for (uint32_t back = 1; back <= 4; back++)
		four.dim[4 - back] = tt_shape_last(shape, back);
	return four;
}

/* Equal parts of the width of tiles, at least 64 × 64, within the grid. */
static bool program_serves(const struct request *request)
{
	const struct ttnn_tensor_spec *in = &request->in->spec;
	struct ttnn_shape four = in_four(&in->shape);
	struct ttnn_core grid = tt_grid_size(tt_tensor_device(request->in)->grid);
	bool two = request->count == 2;

	return request->equal && in->shape.rank >= 2 && request->dim == in->shape.rank - 1 &&
	       in->layout == TTNN_TILE &&
	       (uint64_t)four.dim[1] * (two ? four.dim[0] : 1) <= grid.x && four.dim[2] >= 64 &&
	       four.dim[3] >= 64 && tt_shape_last(&in->padded, 1) / 32 % request->count == 0 &&
	       (two || four.dim[0] == 1) && request->count <= grid.y && four.dim[3] % TT_TILE == 0;
}

/* Always along the last of four dimensions. */
static tt_status split_launch(struct tt_tensor **out, struct tt_call *call,
			      const struct request *request, struct tt_tensor *in)
{
	struct ttnn_value attrs[schema_count] = {
		[PARTS] = ttnn_v_int((int64_t)request->count),
		[DIM] = ttnn_v_int(3),
		[MEMORY] = ttnn_v_memory(&request->memory),
	};
	struct tt_program_args program = {
		.prog = &prog, .attrs = attrs, .inputs = &in, .input_count = 1};
	size_t count;

	return tt_call_programs(out, &count, call, &program);
}

/* Two parts of several batches: the batches are taken together. */
static tt_status launch_folded(struct tt_tensor **out, struct tt_call *call,
			       const struct request *request, struct tt_tensor *in)
{
	struct ttnn_shape shape = in->spec.shape, padded = in->spec.padded;
	struct ttnn_shape folded = shape, folded_padded = padded;
	struct tt_tensor *flat, *parts[2];
	tt_status status = TTNN_OK;

	if (request->count != 2 || shape.dim[0] <= 1)
		return split_launch(out, call, request, in);
	folded.dim[1] = folded_padded.dim[1] = shape.dim[0] * shape.dim[1];
	folded.dim[0] = folded_padded.dim[0] = 1;
	TT_TRY(tt_call_view(&flat, call, in, &folded, &folded_padded));
	tt_call_own(call, flat);
	TT_TRY(split_launch(parts, call, request, flat));
	shape.dim[3] /= 2;
	padded.dim[3] /= 2;
	for (size_t i = 0; i < 2; i++) {
		if (status == TTNN_OK)
			status = tt_call_view(&out[i], call, parts[i], &shape, &padded);
		if (status != TTNN_OK)
			tt_call_drop_all(call, out, i);
		tt_call_overwrite(call, parts[i]);
	}
	return status;
}

/* The parts come back under the rank of the input by views. */
static tt_status by_program(struct tt_call *call, const struct request *request)
{
	struct ttnn_shape shape = request->in->spec.shape;
	struct ttnn_arg view[] = {{"input_tensor", ttnn_v_none()}, {"shape", ttnn_v_shape(&shape)}};
	struct tt_tensor *four, *parts[TT_OUTPUTS_MAX], *part;
	tt_status status = TTNN_OK;

	shape.dim[shape.rank - 1] /= (uint32_t)request->count;
	TT_TRY(tt_call_in_4d(&four, call, request->in));
	tt_call_own(call, four);
	TT_TRY(launch_folded(parts, call, request, four));
	for (size_t i = 0; i < request->count; i++) {
		view[0].value = ttnn_v_tensor(parts[i]);
		if (status == TTNN_OK)
			status = tt_call_op(&part, call, "ttnn.view", view, TT_COUNT(view));
		if (status == TTNN_OK)
			tt_call_return(call, part);
	}
	tt_call_drop_all(call, parts, request->count);
	return status;
}

/* ---- by slices ------------------------------------------------------------------------------------------------------ */

/* Through DRAM where many parts of L1 go there anyway. */
static tt_status by_slices(struct tt_call *call, const struct request *request)
{
	const struct ttnn_memory_config *has = &request->in->spec.memory;
	struct ttnn_shape begin = {.rank = request->in->spec.shape.rank},
			  end = request->in->spec.shape;
	struct tt_part part = {.begin = &begin, .end = &end, .memory = &request->memory};
	static const struct ttnn_memory_config dram;
	struct tt_tensor *out;

	part.in = request->in;
	if (has->buffer == TTNN_L1 && request->memory.buffer == TTNN_DRAM && request->count > 2) {
		TT_TRY(tt_call_to_memory(&part.in, call, request->in, &dram));
		tt_call_own(call, part.in);
	}
	end.dim[request->dim] = 0;
	for (size_t i = 0; i < request->count; i++) {
		end.dim[request->dim] += (uint32_t)request->sizes[i];
		TT_TRY(tt_call_slice(&out, call, &part));
		tt_call_return(call, out);
		begin.dim[request->dim] += (uint32_t)request->sizes[i];
	}
	return TTNN_OK;
}

/* ---- the operations --------------------------------------------------------------------------------------------------- */

static tt_status check_count(uint64_t count)
{
	if (count > TT_OUTPUTS_MAX)
		return tt_fail(TTNN_UNSUPPORTED,
			       "a call gives %d tensors at most; there would be %" PRIu64,
			       TT_OUTPUTS_MAX, count);
	return TTNN_OK;
}

/* Refuses, with all the sizes in the text, what they cannot be. */
static tt_status bad_sizes(const struct request *request, const char *condition, const char *before,
			   const char *after)
{
	struct tt_str text = {0};
	tt_status status;

	tt_str_addc(&text, '{');
	for (size_t i = 0; i < request->count; i++)
		tt_str_addf(&text, "%s%" PRId64, i ? ", " : "", request->sizes[i]);
	tt_str_addc(&text, '}');
	status = tt_fail_cond(TTNN_INVALID, condition, "%s%s%s", before, tt_str_text(&text), after);
	tt_str_deinit(&text);
	return status;
}

/* Sizes are positive and cover the dimension exactly. */
static tt_status check_sizes(struct request *request)
{
	int64_t extent = request->in->spec.shape.dim[request->dim], left = extent;
	char before[96], after[64];

	TT_REQUIRE(request->count, "!split_sizes.empty()", "split_sizes must not be empty");
	for (size_t i = 0; i < request->count; i++)
		if (request->sizes[i] <= 0)
			return bad_sizes(request,
					 "std::all_of(split_sizes.begin(), split_sizes.end(), "
					 "[](const auto& x) { return x > 0; })",
					 "split_size should be greater than 0, instead got: ", "");
	snprintf(before, sizeof(before),
		 "split_sizes must sum exactly to the size of dimension %u (%" PRId64
		 "), but sizes ",
		 request->dim, extent);
	request->equal = true;
	for (size_t i = 0; i < request->count; i++) {
		if (request->sizes[i] > left)
			return bad_sizes(request, "s <= remaining", before, " over-cover it");
		left -= request->sizes[i];
		request->equal = request->equal && request->sizes[i] == request->sizes[0];
	}
	snprintf(after, sizeof(after), " under-cover it by %" PRId64, left);
	return left ? bad_sizes(request, "remaining == 0", before, after) : TTNN_OK;
}

/* The sizes, either as given or as many of one size as there are. */
static tt_status sizes_arg(struct request *request, struct tt_call *call)
{
	const struct ttnn_value *given = tt_call_arg(call, "split_size");
	uint64_t extent = request->in->spec.shape.dim[request->dim], count;
	int64_t *sizes;

	if (given->kind == TTNN_VALUE_LIST || given->kind == TTNN_VALUE_SHAPE) {
		count = given->kind == TTNN_VALUE_LIST ? given->count : given->shape->rank;
		TT_TRY(check_count(count));
		sizes = tt_arena_calloc(call->arena, count + 1, sizeof(*sizes));
		TT_NEED_MEMORY(sizes);
		request->sizes = sizes;
		return tt_call_ints(sizes, &request->count, count, call, "split_size");
	}
	count = tt_div_up(extent, (uint64_t)given->integer);
	TT_TRY(check_count(count));
	sizes = tt_arena_calloc(call->arena, count + 1, sizeof(*sizes));
	TT_NEED_MEMORY(sizes);
	for (uint64_t i = 0; i < count; i++)
		sizes[i] = i + 1 < count ? given->integer
					 : (int64_t)(extent - i * (uint64_t)given->integer);
	request->sizes = sizes;
	request->count = count;
	return TTNN_OK;
}

/* A number is the size of each part, a list their sizes. */
static tt_status expand_split(struct tt_call *call)
{
	struct request request = {.in = tt_call_tensor(call, "input_tensor"),
				  .asked = tt_call_memory(call, "memory_config")};
	const struct ttnn_value *size = tt_call_arg(call, "split_size");

	TT_REQUIRE(size->kind != TTNN_VALUE_INT || size->integer > 0, "split_size > 0",
		   "split_size must be greater than 0, but got: %" PRId64, size->integer);
	TT_TRY(tt_normal_dim(&request.dim, tt_call_int(call, "dim", 0),
			     request.in->spec.shape.rank));
	TT_TRY(sizes_arg(&request, call));
	TT_TRY(check_sizes(&request));
	TT_TRY(tt_need_device(request.in));
	TT_TRY(decide_memory(&request));
	return program_serves(&request) ? by_program(call, &request) : by_slices(call, &request);
}

/* So many parts at most, as in torch: rounded up, the last one smaller. */
static tt_status expand_chunk(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *out;
	int64_t chunks = tt_call_int(call, "chunks", 0), dim = tt_call_int(call, "dim", 0);
	struct ttnn_shape begin = {.rank = in->spec.shape.rank}, end = in->spec.shape;
	struct tt_part part = {.in = in, .begin = &begin, .end = &end};
	uint32_t extent, size;

	TT_REQUIRE(chunks > 0, "num_chunks > 0", "Number of chunks must be greater than zero");
	dim += dim < 0 ? begin.rank : 0;
	TT_REQUIRE(
		dim < begin.rank, "num_dims > dim",
		"... Invalid dimension for chunk operation, %u needs to be greater than %" PRId64,
		begin.rank, dim);
	if (dim < 0)
		return tt_normal_dim(&size, dim, begin.rank);
	extent = in->spec.shape.dim[dim];
	size = (uint32_t)tt_div_up(extent, (uint64_t)chunks);
	TT_TRY(check_count(size ? tt_div_up(extent, size) : 0));
	for (uint32_t start = 0; start < extent; start = end.dim[dim]) {
		begin.dim[dim] = start;
		end.dim[dim] = extent - start < size ? extent : start + size;
		TT_TRY(tt_call_slice(&out, call, &part));
		tt_call_return(call, out);
	}
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{TT_MOVE_ROW("chunk", expand_chunk, tt_golden_chunk,
		     "A tensor in a number of parts along a dimension.",
		     "input_tensor: Tensor, chunks: int, dim: int"),
	 .gives = "[Tensor]"},
	{TT_MOVE_ROW("split", expand_split, tt_golden_split,
		     "A tensor in parts of given sizes along a dimension.",
		     "input_tensor: Tensor, split_size: int, dim: int = 0, *, memory_config: "
		     "MemoryConfig? = None",
		     "input_tensor: Tensor, split_size: ints, dim: int = 0, *, memory_config: "
		     "MemoryConfig? = None"),
	 .gives = "[Tensor]"},
};

const struct tt_op_family tt_family_split = {"movement", ops, TT_COUNT(ops)};
