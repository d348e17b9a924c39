/*
 * slice.c: parts of tensors. Tiles are cut at tiles; any other part is taken of rows, which may mean
 * a way there and back.
 */
#include "ops/movement/slice.h"

#include <inttypes.h>

#include "golden/golden_movement.h"
#include "ops/movement/shard_derive.h"
#include "ops/movement/shard_ops.h"

/* What is asked for, as given. */
struct request {
	struct tt_tensor *in, *out; /* out: given, or NULL */
	int64_t begin[TTNN_MAX_RANK], end[TTNN_MAX_RANK], step[TTNN_MAX_RANK];
	size_t begins, ends, steps;             /* how many of each */
	const struct ttnn_memory_config *asked; /* (optional) */
	const struct ttnn_value *pad_value;     /* absent or none: padding stays as it is */
	const ttnn_core_set *cores;             /* (optional) */
};

/* What is made of it: the same with indices from the front. */
struct cut {
	const struct request *request;
	struct ttnn_shape begin, end, step;
	bool steps;                       /* any */
	bool by_rows;                     /* the part cannot be cut at tiles */
	struct ttnn_memory_config memory; /* of the output */
};

static uint32_t extent_of(const struct cut *cut, const struct ttnn_shape *end, uint32_t d)
{
	return (end->dim[d] - cut->begin.dim[d] + cut->step.dim[d] - 1) / cut->step.dim[d];
}

static struct ttnn_tile tile_of(const struct tt_tensor *in)
{
	if (in->spec.layout == TTNN_TILE)
		return in->spec.tile;
	return (struct ttnn_tile){.height = 32, .width = 32};
}

/* At least one tile, rounded up. */
static uint32_t in_tiles(uint64_t extent, uint32_t tile)
{
	return (uint32_t)tt_align_to(extent ? extent : 1, tile);
}

/* ---- shards of the output -------------------------------------------------------------------------------- */

/* Tiles are cut at tiles: their extents are rounded up. */
static struct ttnn_shape output_dims(const struct cut *cut)
{
	struct ttnn_tile tile = tile_of(cut->request->in);
	struct ttnn_shape shape = {.rank = cut->begin.rank};

	for (uint32_t d = 0; d < shape.rank; d++)
		shape.dim[d] = extent_of(cut, &cut->end, d);
	if (!cut->by_rows) {
		shape.dim[shape.rank - 2] = in_tiles(shape.dim[shape.rank - 2], tile.height);
		shape.dim[shape.rank - 1] = in_tiles(shape.dim[shape.rank - 1], tile.width);
	}
	return shape;
}

/* A share of an extent, in whole tiles where there are tiles. */
static uint32_t share(const struct cut *cut, uint64_t extent, uint64_t parts, uint32_t tile)
{
	uint64_t part = tt_div_up(extent, parts ? parts : 1);

	return cut->by_rows ? (uint32_t)part : in_tiles(part, tile);
}

/* The shards of the input cut down to the part, on the same cores. */
static tt_status fit_shards(struct cut *cut)
{
	struct ttnn_shard_spec shard = cut->memory.shard;
	struct ttnn_shape dims = output_dims(cut);
	struct ttnn_tile tile = tile_of(cut->request->in);
	uint64_t cores = ttnn_core_set_cores(shard.grid), rows;
	uint32_t cols = tt_shape_last(&dims, 1);
	struct ttnn_core_range box;

	TT_TRY(tt_shape_rows(&rows, &dims));
	if (cut->memory.layout == TTNN_HEIGHT_SHARDED) {
		shard.height = share(cut, rows, cores, tile.height);
		shard.width = cols;
	} else if (cut->memory.layout == TTNN_WIDTH_SHARDED) {
		shard.height = (uint32_t)rows;
		shard.width = share(cut, cols, cores, tile.width);
	} else {
		uint32_t high, wide;

		TT_TRY(tt_core_set_box(&box, shard.grid));
		high = box.end.y - box.start.y + 1;
		wide = box.end.x - box.start.x + 1;
		TT_REQUIRE(cores == (uint64_t)high * wide,
			   "shard_spec_val.num_cores() == grid_h * grid_w",
			   "BLOCK_SHARDED grid must be a full rectangle; got %" PRIu64
			   " cores for %ux%u bounding box",
			   cores, high, wide);
		shard.height = share(cut, rows, high, tile.height);
		shard.width = share(cut, cols, wide, tile.width);
	}
	if (shard.height == cut->memory.shard.height && shard.width == cut->memory.shard.width)
		return TTNN_OK;
	return ttnn_memory_config_sharded(&cut->memory, cut->memory.layout, cut->memory.buffer,
					  &shard);
}

/* Without a word of the caller, shards of the input are made to fit the part. */
static tt_status fit_memory(struct cut *cut)
{
	struct tt_tensor *in = cut->request->in;
	const struct ttnn_memory_config *memory = &cut->memory;
	struct ttnn_tile tile = tile_of(in);
	struct ttnn_nd_shard_spec nd;
	struct ttnn_shape dims;

	if (cut->request->asked || cut->request->out || !tt_tensor_is_sharded(in))
		return TTNN_OK;
	if (memory->has_shard && in->spec.shape.rank >= 2 && memory->layout != TTNN_ND_SHARDED)
		return fit_shards(cut);
	if (memory->layout != TTNN_ND_SHARDED || !memory->has_nd_shard ||
	    memory->nd_shard.shape.rank > in->spec.shape.rank)
		return TTNN_OK;
	dims = output_dims(cut);
	nd = tt_nd_shard_fit(&memory->nd_shard, &in->spec.padded, &dims,
			     cut->by_rows ? NULL : &tile);
	if (ttnn_shape_equal(&nd.shape, &memory->nd_shard.shape))
		return TTNN_OK;
	return ttnn_memory_config_nd(&cut->memory, memory->buffer, &nd);
}

/* A sharded config without shards gets those of the tensor, or new ones. */
static tt_status slice_resolve(struct ttnn_memory_config *out, const struct cut *cut,
			       struct tt_tensor *source, const enum ttnn_orientation *order)
{
	const struct ttnn_memory_config *has = &source->spec.memory;
	struct tt_shard_request request = {.device = tt_tensor_device(source),
					   .padded = &source->spec.padded,
					   .layout = cut->memory.layout,
					   .tiled = true};
	struct ttnn_shard_spec shard = has->shard;

	*out = cut->memory;
	if (!tt_memory_config_is_sharded(out) || out->has_shard || out->has_nd_shard)
		return TTNN_OK;
	request.orientation = order            ? *order
			      : has->has_shard ? has->shard.orientation
					       : TTNN_ORIENT_ROW_MAJOR;
	if (!has->has_shard || has->layout != out->layout)
		TT_TRY(tt_shard_make(&shard, &request, "Transpose"));
	return ttnn_memory_config_sharded(out, out->layout, out->buffer, &shard);
}

/* ---- where the result goes ---------------------------------------------------------------------------------- */

static struct tt_tensor *landing(const struct request *request, const struct tt_tensor *source)
{
	bool can = request->out && tt_tensor_device(source) &&
		   source->spec.layout == request->out->spec.layout &&
		   tt_tensor_buffer(source) != tt_tensor_buffer(request->out);

	return can ? request->out : NULL;
}

static tt_status to_memory(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			   const struct ttnn_memory_config *memory, struct tt_tensor *given)
{
	struct ttnn_arg args[] = {{"tensor", ttnn_v_tensor(in)},
				  {"memory_config", ttnn_v_memory(memory)},
				  {"output_tensor", ttnn_v_tensor(given)}};

	return tt_call_op(out, call, "ttnn.to_memory_config", args, given ? 3 : 2);
}

static tt_status to_layout(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			   enum ttnn_layout layout, const struct ttnn_memory_config *memory)
{
	struct ttnn_arg args[] = {{"tensor", ttnn_v_tensor(in)},
				  {"layout", ttnn_v_layout(layout)},
				  {"memory_config", ttnn_v_memory(memory)}};

	return tt_call_op(out, call, "ttnn.to_layout", args, memory ? 3 : 2);
}

/* The result in the memory and layout that it must have; the source stays the caller's. */
static tt_status slice_finish(struct tt_tensor **out, struct tt_call *call, const struct cut *cut,
			      struct tt_tensor *source)
{
	struct ttnn_memory_config memory;
	struct tt_tensor *moved, *result;

	if (!tt_tensor_device(source)) {
		*out = ttnn_tensor_ref(source);
		return TTNN_OK;
	}
	TT_TRY(slice_resolve(&memory, cut, source, NULL));
	TT_TRY(to_memory(&moved, call, source, &memory, landing(cut->request, source)));
	TT_TRY(tt_call_overwrite_after(
		call, to_layout(&result, call, moved, cut->request->in->spec.layout, NULL), moved));
	return tt_call_into(out, call, cut->request->out, result);
}

/* ---- taking the part ------------------------------------------------------------------------------------------- */

static tt_status slice_take(struct tt_tensor **out, struct tt_call *call,
			    const struct request *request);

static bool splits_width(const struct ttnn_memory_config *memory)
{
	return memory->layout == TTNN_BLOCK_SHARDED || memory->layout == TTNN_WIDTH_SHARDED;
}

static bool has_odd_row(const struct tt_tensor *in, const struct ttnn_memory_config *memory)
{
	return memory->has_shard &&
	       memory->shard.width * tt_element_bytes(in) %
		       tt_memory_alignment(tt_tensor_device(in), memory->buffer);
}

/* Whether rows in shards must be brought together first; and whether the output must be cut later. */
static bool detour_in(const struct cut *cut)
{
	const struct tt_tensor *in = cut->request->in;
	const struct ttnn_shape *shape = &in->spec.shape;
	bool odd_width = tt_shape_last(shape, 1) % TT_TILE != 0;

	if (in->spec.layout != TTNN_ROW_MAJOR || !tt_tensor_is_sharded(in))
		return false;
	if (splits_width(&in->spec.memory))
		return odd_width || cut->request->begin[shape->rank - 1] != 0 ||
		       has_odd_row(in, &in->spec.memory);
	if (shape->rank < 2 || (!odd_width && tt_shape_last(shape, 2) % TT_TILE == 0))
		return false;
	return !(cut->memory.layout == TTNN_HEIGHT_SHARDED && cut->memory.has_shard && !cut->steps);
}

static bool detour_out(const struct cut *cut)
{
	const struct tt_tensor *in = cut->request->in;

	return in->spec.layout == TTNN_ROW_MAJOR && splits_width(&cut->memory) &&
	       (tt_shape_last(&in->spec.shape, 1) % TT_TILE || has_odd_row(in, &cut->memory));
}

static bool lacks_shards(const struct cut *cut)
{
	return tt_memory_config_is_sharded(&cut->memory) && !cut->memory.has_shard &&
	       (!tt_tensor_is_sharded(cut->request->in) ||
		cut->request->in->spec.memory.layout != cut->memory.layout);
}

/*
 * A part of shards that the program cannot take: through interleaved L1, and into shards at the
 * end.
 */
static tt_status take_apart(struct tt_tensor **out, struct tt_call *call, const struct cut *cut)
{
	const struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	struct tt_tensor *in = cut->request->in, *together = NULL, *part = NULL, *moved;
	struct ttnn_memory_config memory;
	struct request inner = *cut->request;
	tt_status status = TTNN_OK;

	if (detour_in(cut))
		status = tt_call_to_memory(&together, call, in, &l1);
	inner.in = together ? together : in;
	inner.out = NULL;
	inner.asked = &l1;
	if (status == TTNN_OK)
		status = slice_take(&part, call, &inner);
	if (status == TTNN_OK)
		status = slice_resolve(
			&memory, cut, part,
			in->spec.memory.has_shard ? &in->spec.memory.shard.orientation : NULL);
	if (status == TTNN_OK && ttnn_memory_config_equal(&part->spec.memory, &memory)) {
		status = tt_call_into(out, call, cut->request->out, part);
		part = NULL;
	} else if (status == TTNN_OK) {
		status = to_memory(&moved, call, part, &memory, landing(cut->request, part));
		if (status == TTNN_OK)
			status = tt_call_into(out, call, cut->request->out, moved);
	}
	tt_call_drop(call, part);
	tt_call_drop(call, together);
	return status;
}

/* The shape of the part, and what it has with its padding; whether it is empty. */
static tt_status part_shapes(struct ttnn_shape *actual, struct ttnn_shape *padded, bool *empty,
			     const struct cut *cut, const struct ttnn_shape *ends)
{
	*empty = false;
	actual->rank = padded->rank = cut->begin.rank;
	for (uint32_t d = 0; d < actual->rank; d++) {
		TT_REQUIRE(cut->end.dim[d] >= cut->begin.dim[d],
			   "modified_ends[i] >= modified_begins[i]",
			   "End %u must be greater than or equal to start %u", cut->end.dim[d],
			   cut->begin.dim[d]);
		actual->dim[d] = extent_of(cut, &cut->end, d);
		*empty = *empty || !actual->dim[d];
		padded->dim[d] = extent_of(cut, ends, d);
		padded->dim[d] = padded->dim[d] ? padded->dim[d] : 1;
	}
	return TTNN_OK;
}

/* An empty part is made by ttnn.empty, or is the given output. */
static tt_status take_nothing(struct tt_tensor **out, struct tt_call *call, const struct cut *cut,
			      const struct ttnn_shape *shape)
{
	const struct request *request = cut->request;
	const struct ttnn_tensor_spec *in = &request->in->spec;
	struct tt_device *device = tt_tensor_device(request->in);

	TT_REQUIRE(device, "input.storage_type() == StorageType::DEVICE",
		   "Host tensor slice cannot return a scalar or empty tensor");
	if (!request->out)
		return TT_CALL(out, call, "ttnn.empty", {"shape", ttnn_v_shape(shape)},
			       {"dtype", ttnn_v_dtype(in->dtype)},
			       {"layout", ttnn_v_layout(in->layout)},
			       {"device", ttnn_v_device(device)},
			       {"memory_config",
				ttnn_v_memory(request->asked ? request->asked : &in->memory)});
	*out = ttnn_tensor_ref(request->out);
	return TTNN_OK;
}

/* Only if a pad value was given, and the cut left elements behind it in the last tiles. */
static bool needs_fill(const struct cut *cut, const struct ttnn_shape *actual,
		       const struct ttnn_shape *padded)
{
	const struct ttnn_shape *in = &cut->request->in->spec.shape;

	for (uint32_t back = 1; back <= 2; back++)
		if (tt_shape_last(actual, back) != tt_shape_last(padded, back) &&
		    tt_shape_last(in, back) != tt_shape_last(actual, back))
			return tt_value_given(cut->request->pad_value);
	return false;
}

/* The part of `in`, whose layout is the one to cut in. */
static tt_status take_part(struct tt_tensor **out, struct tt_call *call, const struct cut *cut,
			   struct tt_tensor *in)
{
	struct ttnn_tile tile = tile_of(cut->request->in);
	struct ttnn_shape ends = cut->end, actual, padded;
	struct tt_slice_args args = {.in = in,
				     .out = landing(cut->request, in),
				     .start = &cut->begin,
				     .end = &ends,
				     .step = &cut->step,
				     .memory = &cut->memory,
				     .cores = cut->request->cores};
	struct tt_tensor *part, *view, *filled;
	bool empty;

	if (in->spec.layout == TTNN_TILE) {
		ends.dim[ends.rank - 2] = in_tiles(ends.dim[ends.rank - 2], tile.height);
		ends.dim[ends.rank - 1] = in_tiles(ends.dim[ends.rank - 1], tile.width);
	}
	TT_TRY(part_shapes(&actual, &padded, &empty, cut, &ends));
	if (empty)
		return take_nothing(out, call, cut, &actual);
	TT_TRY(tt_slice_launch(&part, call, &args));
	TT_TRY(tt_call_overwrite_after(call, tt_call_view(&view, call, part, &actual, &padded),
				       part));
	if (needs_fill(cut, &actual, &padded)) {
		TT_TRY(tt_call_overwrite_after(call,
					       TT_CALL(&filled, call,
						       "ttnn.fill_implicit_tile_padding",
						       {"input_tensor", ttnn_v_tensor(view)},
						       {"fill_value", *cut->request->pad_value}),
					       view));
		view = filled;
	}
	return tt_call_drop_after(call, slice_finish(out, call, cut, view), view);
}

/* The whole tensor with steps of 1: nothing to cut. */
static bool is_whole(const struct request *request)
{
	const struct ttnn_shape *shape = &request->in->spec.shape;

	for (uint32_t d = 0; d < shape->rank; d++)
		if (request->step[d] != 1 || request->begin[d] != 0 ||
		    request->end[d] != shape->dim[d])
			return false;
	return true;
}

/* Starts, ends and steps for every dimension; steps are not zero. */
static tt_status check_counts(const struct request *request)
{
	uint32_t rank = request->in->spec.shape.rank;

	TT_REQUIRE(rank == request->begins, "input_rank == begins.size()",
		   "Input rank %u and begins %zu must have the same size", rank, request->begins);
	TT_REQUIRE(request->begins == request->ends, "begins.size() == ends.size()",
		   "Start %zu and end %zu must have the same size", request->begins, request->ends);
	TT_REQUIRE(request->steps == request->begins, "step.size() == begins.size()",
		   "Step %zu must have the same size as start %zu and end", request->steps,
		   request->begins);
	for (uint32_t d = 0; d < rank; d++)
		TT_REQUIRE((uint32_t)request->step[d], "args.step[i] > 0",
			   "Step(%u) = 0 should be positive", d);
	return TTNN_OK;
}

/* Negative numbers count from the end. Steps, and starts within a tile, need rows. */
static void plan(struct cut *cut)
{
	const struct request *request = cut->request;
	const struct ttnn_shape *shape = &request->in->spec.shape;
	struct ttnn_tile tile = tile_of(request->in);
	uint32_t rank = shape->rank;

	cut->begin.rank = cut->end.rank = cut->step.rank = rank;
	for (uint32_t d = 0; d < rank; d++) {
		int64_t extent = shape->dim[d], begin = request->begin[d], end = request->end[d];

		cut->begin.dim[d] = (uint32_t)(begin < 0 ? begin + extent : begin);
		cut->end.dim[d] = (uint32_t)(end < 0 ? end + extent : end);
		cut->step.dim[d] = (uint32_t)request->step[d];
		cut->steps = cut->steps || request->step[d] != 1;
	}
	cut->by_rows = request->in->spec.layout != TTNN_TILE || cut->steps || rank == 1 ||
		       cut->begin.dim[rank - 1] % tile.width ||
		       cut->begin.dim[rank - 2] % tile.height;
}

/* Everything that a slice by numbers does. */
static tt_status slice_take(struct tt_tensor **out, struct tt_call *call,
			    const struct request *request)
{
	struct ttnn_memory_config before;
	struct cut cut = {.request = request};
	struct tt_tensor *in;

	if (!request->in->spec.shape.rank) {
		*out = ttnn_tensor_ref(request->in);
		return TTNN_OK;
	}
	TT_TRY(check_counts(request));
	cut.memory = request->out     ? request->out->spec.memory
		     : request->asked ? *request->asked
				      : request->in->spec.memory;
	before = cut.memory;
	if (is_whole(request))
		return slice_finish(out, call, &cut, request->in);
	plan(&cut);
	TT_TRY(fit_memory(&cut));
	if (tt_tensor_device(request->in) &&
	    (detour_in(&cut) || detour_out(&cut) || lacks_shards(&cut)))
		return take_apart(out, call, &cut);
	if (!cut.by_rows)
		return take_part(out, call, &cut, request->in);
	TT_REQUIRE(!cut.steps || request->in->spec.dtype != TTNN_BFLOAT8_B,
		   "input.dtype() != DataType::BFLOAT8_B",
		   "Strided slice is not supported for BFLOAT8 tensors");
	TT_TRY(to_layout(&in, call, request->in, TTNN_ROW_MAJOR, &before));
	return tt_call_drop_after(call, take_part(out, call, &cut, in), in);
}

/* ---- the operation ----------------------------------------------------------------------------------------------- */

static void all_ones(struct request *request)
{
	for (request->steps = 0; request->steps < request->begins; request->steps++)
		request->step[request->steps] = 1;
}

static tt_status check_line(const struct tt_tensor *tensor, const char *condition, const char *what)
{
	TT_REQUIRE(tensor->spec.shape.rank == 1, condition,
		   "The %s tensor for slicing must be in 1D shape, but got %uD", what,
		   tensor->spec.shape.rank);
	return TTNN_OK;
}

/* The numbers of a tensor of indices. */
static tt_status read_line(int64_t *out, size_t *count, struct tt_call *call,
			   struct tt_tensor *tensor)
{
	double numbers[TTNN_MAX_RANK];
	struct tt_tensor *host;
	tt_status status;

	*count = tensor->spec.shape.dim[0];
	TT_NEED(*count <= TTNN_MAX_RANK, "a tensor has at most %d dimensions", TTNN_MAX_RANK);
	TT_TRY(tt_host_from_device(&host, call, tensor));
	status = tt_tensor_numbers(numbers, *count, host);
	ttnn_tensor_unref(host);
	TT_TRY(status);
	for (size_t i = 0; i < *count; i++)
		out[i] = (int64_t)numbers[i];
	return TTNN_OK;
}

/* The part is said by tensors on the device: it is known only when the program runs. */
static tt_status take_by_tensors(struct tt_tensor **out, struct tt_call *call,
				 const struct request *request)
{
	struct tt_tensor *starts = tt_call_tensor(call, "starts"),
			 *ends = tt_call_tensor(call, "ends");
	bool both = tt_value_given(tt_call_arg(call, "slice_dim")) &&
		    tt_value_given(tt_call_arg(call, "num_devices"));
	struct ttnn_shape zeros = {.rank = request->in->spec.shape.rank}, ones = zeros;
	struct tt_slice_args args = {.in = request->in,
				     .out = request->out,
				     .start = &zeros,
				     .end = &zeros,
				     .step = &ones,
				     .memory = request->out     ? &request->out->spec.memory
					       : request->asked ? request->asked
								: &request->in->spec.memory,
				     .cores = request->cores,
				     .starts = starts,
				     .ends = ends,
				     .dim = (uint32_t)tt_call_int(call, "slice_dim", 0),
				     .parts = (uint32_t)tt_call_int(call, "num_devices", 1),
				     .inherits = !request->asked && !request->out};

	for (uint32_t d = 0; d < ones.rank; d++)
		ones.dim[d] = 1;
	TT_REQUIRE(both, "slice_dim.has_value() && num_devices.has_value()",
		   "slice_dim and num_devices must be provided for device-only tensor args slice");
	TT_REQUIRE(tt_tensor_device(starts),
		   "output_tensor_start.storage_type() == StorageType::DEVICE",
		   "Start tensor must be on device for tensor args slice");
	TT_REQUIRE(tt_tensor_device(ends),
		   "output_tensor_end.storage_type() == StorageType::DEVICE",
		   "End tensor must be on device for tensor args slice");
	return tt_slice_launch(out, call, &args);
}

/*
 * Starts and ends as tensors: read on the device by its own program for tiles, otherwise on the
 * host.
 */
static tt_status slice_tensors(struct tt_tensor **out, struct tt_call *call,
			       struct request *request)
{
	struct tt_tensor *starts = tt_call_tensor(call, "starts"),
			 *ends = tt_call_tensor(call, "ends");
	bool by_device = request->in->spec.layout == TTNN_TILE;

	TT_TRY(check_line(starts, "output_tensor_start.logical_shape().rank() == 1", "start"));
	TT_TRY(check_line(ends, "output_tensor_end.logical_shape().rank() == 1", "end"));
	TT_TRY(tt_call_ints(request->step, &request->steps, TTNN_MAX_RANK, call, "slice_step"));
	for (size_t i = 0; i < request->steps; i++)
		by_device = by_device && request->step[i] == 1;
	TT_REQUIRE(tt_tensor_device(request->in),
		   "input_tensor.storage_type() == StorageType::DEVICE",
		   "Input tensor must be on device for tensor args slice");
	if (by_device)
		return take_by_tensors(out, call, request);
	TT_TRY(read_line(request->begin, &request->begins, call, starts));
	TT_TRY(read_line(request->end, &request->ends, call, ends));
	if (!tt_value_given(tt_call_arg(call, "slice_step")))
		all_ones(request);
	return slice_take(out, call, request);
}

/* Three signatures, with long and short names and with tensors. */
static tt_status expand_slice(struct tt_call *call)
{
	bool short_names = tt_call_given(call, "starts");
	const char *steps = short_names ? "steps" : "slice_step";
	struct request request = {.in = tt_call_tensor(call, "input_tensor"),
				  .out = tt_call_tensor(call, "output_tensor"),
				  .asked = tt_call_memory(call, "memory_config"),
				  .pad_value = tt_call_arg(call, "pad_value"),
				  .cores = tt_call_core_set(call, "sub_core_grids")};
	struct tt_tensor *out;

	if (tt_call_tensor(call, "starts")) {
		TT_TRY(slice_tensors(&out, call, &request));
	} else {
		TT_TRY(tt_call_ints(request.begin, &request.begins, TTNN_MAX_RANK, call,
				    short_names ? "starts" : "slice_start"));
		TT_TRY(tt_call_ints(request.end, &request.ends, TTNN_MAX_RANK, call,
				    short_names ? "ends" : "slice_end"));
		TT_TRY(tt_call_ints(request.step, &request.steps, TTNN_MAX_RANK, call, steps));
		if (!tt_value_given(tt_call_arg(call, steps)))
			all_ones(&request);
		TT_TRY(slice_take(&out, call, &request));
	}
	tt_call_return(call, out);
	return TTNN_OK;
}

tt_status tt_call_slice(struct tt_tensor **out, struct tt_call *call, const struct tt_part *part)
{
	struct ttnn_arg args[] = {{"input_tensor", ttnn_v_tensor(part->in)},
				  {"slice_start", ttnn_v_shape(part->begin)},
				  {"slice_end", ttnn_v_shape(part->end)},
				  {"memory_config", ttnn_v_memory(part->memory)}};

	return tt_call_op(out, call, "ttnn.slice", args, part->memory ? 4 : 3);
}

#define TAIL                                                                                       \
	"*, memory_config: MemoryConfig? = None, output_tensor: Tensor? = None, pad_value: "       \
	"float? = None, "

static const struct tt_op ops[] = {
	{TT_MOVE_ROW(
		"slice", expand_slice, tt_golden_slice, "A part of a tensor.",
		"input_tensor: Tensor, starts: Tensor, ends: Tensor, slice_step: sizes? = None, " TAIL
		"slice_dim: size? = None, num_devices: size? = None, sub_core_grids: "
		"CoreRangeSet? = None",
		"input_tensor: Tensor, starts: sizes, ends: sizes, steps: sizes, " TAIL
		"sub_core_grids: CoreRangeSet? = None",
		"input_tensor: Tensor, slice_start: ints, slice_end: ints, slice_step: ints? = "
		"None, " TAIL "sub_core_grids: CoreRangeSet? = None")},
};

const struct tt_op_family tt_family_slice = {"movement", ops, TT_COUNT(ops)};
