/*
 * reshape.c: the same elements under another shape. Where the bytes need not move it is a view of the
 * same buffer; otherwise a program moves them, on three dimensions of tiles or two of rows.
 */
#include <inttypes.h>

#include "golden/golden_movement.h"
#include "ops/movement/movement.h"
#include "ops/movement/reshape_program.h"
#include "ops/movement/shard_ops.h"
#include "tensor/sharding.h"

/* Everything a reshape depends on. */
struct reshape {
	struct tt_tensor *in;
	struct ttnn_shape shape, padded;
	struct ttnn_memory_config memory;
	bool has_memory; /* given by the caller */
	struct ttnn_value pad_value;
	const ttnn_core_set *cores;
	bool recreate, skip_fill;
};

static tt_status volume_of(uint64_t *out, const struct ttnn_shape *shape)
{
	return ttnn_shape_volume(out, shape);
}

/* ---- memory configs --------------------------------------------------------------------------------- */

static bool is_nd(const struct ttnn_memory_config *memory)
{
	return memory->layout == TTNN_ND_SHARDED || (memory->has_nd_shard && !memory->has_shard);
}

/* Whether two configs place a tensor alike, whichever kind of shard spec they came with. */
static bool same_place(const struct ttnn_memory_config *a, const struct ttnn_memory_config *b)
{
	if (ttnn_memory_config_equal(a, b))
		return true;
	if (a->layout != b->layout || a->buffer != b->buffer ||
	    a->per_core_allocation != b->per_core_allocation ||
	    a->range_lockstep_allocation != b->range_lockstep_allocation || is_nd(a) || is_nd(b))
		return false;
	if (a->has_nd_shard && b->has_nd_shard &&
	    !tt_nd_shard_spec_equal(&a->nd_shard, &b->nd_shard))
		return false;
	return a->has_shard && b->has_shard && tt_shard_spec_equal(&a->shard, &b->shard);
}

static struct ttnn_memory_config interleaved(enum ttnn_buffer_type buffer)
{
	return (struct ttnn_memory_config){.layout = TTNN_INTERLEAVED, .buffer = buffer};
}

/* The largest count up to max that cuts an extent into aligned parts; 0 when there is none. */
static uint32_t best_cut(uint64_t extent, uint32_t max, uint32_t align)
{
	for (uint32_t n = max; n > 0; n--)
		if (extent % n == 0 && extent / n % align == 0)
			return n;
	return 0;
}

/* The rectangle of cores that block shards of the output take. */
static tt_status block_cores(const ttnn_core_set **out, const struct ttnn_tensor_spec *spec,
			     const struct ttnn_core_range *box, bool by_row)
{
	bool tiled = spec->layout == TTNN_TILE;
	uint32_t x = box->end.x - box->start.x + 1, y = box->end.y - box->start.y + 1;
	uint32_t high = tiled ? spec->tile.height : 1;
	uint32_t wide = tiled ? spec->tile.width : 64 / tt_dtype_bytes(spec->dtype);
	uint32_t down = best_cut(spec->rows, by_row ? y : x, high);
	uint32_t across = best_cut(spec->cols, by_row ? x : y, wide);
	struct ttnn_core_range range = {box->start, box->start};

	*out = NULL;
	if (!down || !across)
		return TTNN_OK;
	range.end.x += (by_row ? across : down) - 1;
	range.end.y += (by_row ? down : across) - 1;
	return ttnn_core_set_make(out, &range, 1);
}

/* A given block sharding is kept when it covers the output in whole tiles. */
static bool covers(const struct ttnn_memory_config *memory, const struct ttnn_tensor_spec *spec,
		   const struct ttnn_core_range *box)
{
	bool by_row = memory->shard.orientation == TTNN_ORIENT_ROW_MAJOR;
	bool tiled = spec->layout == TTNN_TILE;
	uint64_t x = box->end.x - box->start.x + 1, y = box->end.y - box->start.y + 1;
	uint32_t high = tiled ? spec->tile.height : 1;
	uint32_t wide = tiled ? spec->tile.width : 64 / tt_dtype_bytes(spec->dtype);

	return memory->shard.height % high == 0 && memory->shard.width % wide == 0 &&
	       (by_row ? y : x) * memory->shard.height >= spec->rows &&
	       (by_row ? x : y) * memory->shard.width >= spec->cols;
}

/*
 * The shards of the output on the cores of the input's; interleaved when they cannot be. `spec` is
 * the interleaved output, `now` the input's memory, for a layout that was given without shards.
 */
static tt_status output_shards(struct ttnn_memory_config *out, const struct reshape *args,
			       const struct ttnn_tensor_spec *spec, bool honour)
{
	struct ttnn_memory_config memory = args->memory;
	const struct ttnn_memory_config *now = &args->in->spec.memory;
	struct tt_shard_target target;
	struct ttnn_tensor_spec sharded;
	struct ttnn_core_range box;

	if (!memory.has_shard && now->has_shard) {
		memory.has_shard = true;
		memory.shard = now->shard;
		honour = false;
	}
	TT_REQUIRE(memory.has_shard, "memory_config.shard_spec().has_value()",
		   "ttnn.reshape: sharded output memory_config (layout=TensorMemoryLayout::%s) was "
		   "supplied without a shard_spec, and no input_shard_spec is available (input is "
		   "likely interleaved). Either provide a shard_spec on memory_config or omit "
		   "memory_config to inherit it from the input tensor.",
		   tt_enum_name(&tt_enum_memory_layout, (int64_t)memory.layout));
	*out = interleaved(memory.buffer);
	TT_TRY(tt_core_set_box(&box, memory.shard.grid));
	if (tt_core_range_cores(&box) != ttnn_core_set_cores(memory.shard.grid))
		return TTNN_OK;
	target = (struct tt_shard_target){memory.shard.grid, memory.shard.orientation};
	if (memory.layout == TTNN_BLOCK_SHARDED) {
		if (honour && covers(&memory, spec, &box)) {
			*out = memory;
			return TTNN_OK;
		}
		TT_TRY(block_cores(&target.grid, spec, &box,
				   memory.shard.orientation == TTNN_ORIENT_ROW_MAJOR));
		if (!target.grid)
			return TTNN_OK;
	}
	TT_TRY(tt_spec_shard_2d(&sharded, spec, memory.layout, &target));
	*out = sharded.memory;
	return TTNN_OK;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static struct ttnn_shape as_matrix(const struct ttnn_shape *shape)
{
	return tt_shape_folded(
		shape->rank < 2 ? &(struct ttnn_shape){2, {1, tt_shape_last(shape, 1)}} : shape, 2);
}

static tt_status to_interleaved(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	struct ttnn_memory_config memory = interleaved(in->spec.memory.buffer);

	return TT_CALL(out, call, "ttnn.sharded_to_interleaved",
		       {"input_tensor", ttnn_v_tensor(in)},
		       {"memory_config", ttnn_v_memory(&memory)});
}

static tt_status check_no_cores(const struct reshape *args)
{
	TT_REQUIRE(!args->cores, "!sub_core_grid.has_value()",
		   "Sharded reshape does not support sub core grid specification\n");
	return TTNN_OK;
}

/* Two dimensions to two, by way of interleaved memory. */
static tt_status move_matrix(struct tt_tensor **out, struct tt_temps *temps,
			     struct tt_tensor *matrix, const struct reshape *args)
{
	struct tt_call *call = temps->call;
	struct ttnn_shape shape = as_matrix(&args->shape), padded = as_matrix(&args->padded);
	struct ttnn_memory_config memory = args->memory, shards;
	struct tt_reshape_view_args view = {
		.shape = &shape, .padded = &padded, .memory = &memory, .cores = args->cores};
	struct tt_tensor *rows = matrix, *moved;

	if (tt_tensor_is_sharded(matrix)) {
		TT_TRY(check_no_cores(args));
		TT_TRY(to_interleaved(&rows, call, matrix));
		tt_temps_keep(temps, rows);
	}
	if (!tt_memory_config_is_sharded(&args->memory))
		return tt_reshape_view_launch(out, call, rows, &view);
	memory = interleaved(args->memory.buffer);
	TT_TRY(tt_reshape_view_launch(&moved, call, rows, &view));
	tt_temps_keep(temps, moved);
	TT_TRY(check_no_cores(args));
	TT_TRY(output_shards(&shards, args, &moved->spec, false));
	if (tt_memory_config_is_sharded(&shards))
		return tt_call_to_shards(out, call, moved, &shards, NULL);
	*out = ttnn_tensor_ref(moved);
	return TTNN_OK;
}

/* Through a matrix of rows: leading dimensions cost nothing, since rows follow each other. */
static tt_status reshape_rows(struct tt_tensor **out, struct tt_call *call,
			      const struct reshape *args)
{
	struct ttnn_shape shape = as_matrix(&args->in->spec.shape);
	struct ttnn_shape padded = as_matrix(&args->in->spec.padded);
	struct tt_temps temps = {.call = call};
	struct tt_tensor *matrix, *moved;

	TT_TRY(tt_call_perform_view(&matrix, call, args->in, &shape, &padded));
	tt_call_own(call, matrix);
	TT_TRY(tt_temps_end(&temps, move_matrix(&moved, &temps, matrix, args)));
	tt_call_own(call, moved);
	return tt_call_perform_view(out, call, moved, &args->shape, &args->padded);
}

/* ---- tiles ------------------------------------------------------------------------------------------- */

static struct ttnn_shape in_3d(const struct ttnn_shape *shape)
{
	struct ttnn_shape out = {3, {1, tt_shape_last(shape, 2), tt_shape_last(shape, 1)}};

	return shape->rank > 3 ? tt_shape_folded(shape, 3) : shape->rank == 3 ? *shape : out;
}

static bool has_tile_padding(const struct ttnn_shape *shape)
{
	return tt_shape_last(shape, 1) % TT_TILE || tt_shape_last(shape, 2) % TT_TILE;
}

/* New tiles have padding that nobody wrote. */
static tt_status fill_padding(struct tt_tensor **tensor, struct tt_call *call,
			      const struct reshape *args)
{
	struct ttnn_value value =
		tt_value_given(&args->pad_value) ? args->pad_value : ttnn_v_real(0);
	struct tt_tensor *filled = NULL;

	return tt_call_replace(tensor, call,
			       TT_CALL(&filled, call, "ttnn.fill_implicit_tile_padding",
				       {"input_tensor", ttnn_v_tensor(*tensor)},
				       {"fill_value", value}),
			       &filled);
}

/* The output as it would be interleaved: what shards are worked out from. */
static tt_status plain_output(struct ttnn_tensor_spec *out, const struct tt_tensor *in,
			      const struct ttnn_shape *shape, enum ttnn_buffer_type buffer)
{
	struct ttnn_shape padded = tt_shape_in_tiles(shape);
	struct ttnn_spec_args args = {.shape = *shape,
				      .dtype = in->spec.dtype,
				      .layout = TTNN_TILE,
				      .tile = in->spec.tile,
				      .memory = interleaved(buffer)};

	return tt_tensor_spec_padded(out, &args, &padded);
}

/* Fills through interleaved memory when the tensor is sharded. */
static tt_status fill_any(struct tt_tensor **tensor, struct tt_call *call,
			  const struct reshape *args)
{
	struct ttnn_memory_config shards = (*tensor)->spec.memory;
	struct tt_tensor *plain, *back;

	if (!tt_memory_config_is_sharded(&shards))
		return fill_padding(tensor, call, args);
	TT_TRY(to_interleaved(&plain, call, *tensor));
	TT_TRY(fill_padding(&plain, call, args));
	tt_call_own(call, plain);
	TT_TRY(tt_call_to_shards(&back, call, plain, &shards, NULL));
	tt_call_overwrite(call, *tensor);
	*tensor = back;
	return TTNN_OK;
}

/* Block floats are moved as bfloat16, interleaved; padding must not spoil their exponents. */
static tt_status move_blocks(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *cube,
			     const struct reshape *args)
{
	struct ttnn_shape shape = in_3d(&args->shape), padded = tt_shape_in_tiles(&shape);
	bool sharded = tt_memory_config_is_sharded(&args->memory);
	struct ttnn_memory_config memory =
		sharded ? interleaved(args->memory.buffer) : args->memory;
	struct tt_reshape_view_args view = {
		.shape = &shape, .padded = &padded, .memory = &memory, .recreate = args->recreate};
	struct tt_tensor *plain = cube, *wide, *moved, *narrow;
	struct ttnn_memory_config shards;
	tt_status status;

	TT_REQUIRE(!args->cores, "!sub_core_grid.has_value()",
		   "Block-float reshape does not support sub core grid specification\n");
	if (tt_tensor_is_sharded(cube))
		TT_TRY(to_interleaved(&plain, call, cube));
	status = tt_call_cast(&wide, call, plain, TTNN_BFLOAT16);
	if (plain != cube)
		tt_call_overwrite(call, plain);
	TT_TRY(status);
	tt_call_own(call, wide);
	TT_TRY(tt_reshape_view_launch(&moved, call, wide, &view));
	if (has_tile_padding(&shape))
		TT_TRY(fill_padding(&moved, call, args));
	TT_TRY(tt_call_overwrite_after(
		call, tt_call_cast(&narrow, call, moved, args->in->spec.dtype), moved));
	*out = narrow;
	if (!sharded)
		return TTNN_OK;
	status = output_shards(&shards, args, &narrow->spec, args->has_memory);
	if (status == TTNN_OK && !tt_memory_config_is_sharded(&shards))
		return TTNN_OK;
	if (status == TTNN_OK)
		status = tt_call_to_shards(out, call, narrow, &shards, NULL);
	tt_call_overwrite(call, narrow);
	return status;
}

/*
 * Three dimensions: matrices of tiles. Shards of the result are worked out from the interleaved
 * one.
 */
static tt_status move_cube(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *cube,
			   const struct reshape *args)
{
	struct ttnn_shape shape = in_3d(&args->shape), padded = tt_shape_in_tiles(&shape);
	struct ttnn_memory_config memory = args->memory;
	struct tt_reshape_view_args view = {.shape = &shape,
					    .padded = &padded,
					    .memory = &memory,
					    .cores = args->cores,
					    .recreate = args->recreate};
	bool sharded = tt_memory_config_is_sharded(&args->memory);
	struct ttnn_tensor_spec plain;

	if (sharded) {
		TT_TRY(check_no_cores(args));
		TT_TRY(plain_output(&plain, cube, &shape, args->memory.buffer));
		TT_TRY(output_shards(&memory, args, &plain, args->has_memory));
		if (tt_tensor_is_sharded(cube) && !tt_memory_config_is_sharded(&memory)) {
			TT_TRY(to_interleaved(&cube, call, cube));
			tt_call_own(call, cube);
		}
	}
	TT_TRY(tt_reshape_view_launch(out, call, cube, &view));
	if (tt_value_given(&args->pad_value) && !args->skip_fill && has_tile_padding(&shape))
		return fill_any(out, call, args);
	return TTNN_OK;
}

/* To three dimensions by a view, moved, and back by a view. */
static tt_status reshape_tiles(struct tt_tensor **out, struct tt_call *call,
			       const struct reshape *args)
{
	struct ttnn_shape cube_shape = in_3d(&args->in->spec.shape);
	struct ttnn_shape cube_padded = tt_shape_in_tiles(&cube_shape);
	struct ttnn_shape padded = tt_shape_in_tiles(&args->shape);
	struct tt_tensor *cube, *moved;

	TT_TRY(tt_call_perform_view(&cube, call, args->in, &cube_shape, &cube_padded));
	tt_call_own(call, cube);
	if (tt_dtype_is_block(args->in->spec.dtype))
		TT_TRY(move_blocks(&moved, call, cube, args));
	else
		TT_TRY(move_cube(&moved, call, cube, args));
	tt_call_own(call, moved);
	return tt_call_perform_view(out, call, moved, &args->shape, &padded);
}

/* ---- which way --------------------------------------------------------------------------------------- */

/* The last dimension stays, and so do rows of tiles: then it is a view. */
static bool keeps_places(const struct reshape *args)
{
	const struct ttnn_tensor_spec *in = &args->in->spec;
	uint32_t high = tt_shape_last(&args->shape, 2), was = tt_shape_last(&in->shape, 2);

	return tt_shape_last(&in->shape, 1) == tt_shape_last(&args->shape, 1) &&
	       tt_memory_config_is_sharded(&args->memory) ==
		       tt_memory_config_is_sharded(&in->memory) &&
	       (args->memory.buffer == TTNN_L1) == (in->memory.buffer == TTNN_L1) &&
	       (in->layout == TTNN_ROW_MAJOR || high == was ||
		(high % TT_TILE == 0 && was % TT_TILE == 0));
}

/* ND shards go through DRAM; the result's shards follow the input's counts. */
static tt_status nd_output(struct ttnn_memory_config *out, const struct reshape *args,
			   const struct tt_tensor *result)
{
	const struct ttnn_memory_config *memory = &args->memory;
	const struct ttnn_shape *to = &result->spec.padded, *from = &args->in->spec.padded;
	struct ttnn_nd_shard_spec shard = memory->nd_shard;
	bool tiled = args->in->spec.layout == TTNN_TILE;

	*out = *memory;
	if (args->has_memory || !memory->has_nd_shard)
		return TTNN_OK;
	shard.shape.rank = to->rank;
	for (uint32_t back = 1; back <= to->rank; back++) {
		uint32_t part = tt_shape_last(&memory->nd_shard.shape, back), *extent;
		uint64_t shards = tt_div_up(tt_shape_last(from, back), part ? part : 1);
		uint64_t cut = tt_div_up(tt_shape_last(to, back), shards ? shards : 1);

		extent = &shard.shape.dim[to->rank - back];
		if (tiled && back <= 2 && to->rank >= 2)
			cut = tt_align_to(cut, TT_TILE);
		*extent = cut > tt_shape_last(to, back) ? tt_shape_last(to, back) : (uint32_t)cut;
	}
	return ttnn_memory_config_nd(out, memory->buffer, &shard);
}

static tt_status reshape(struct tt_tensor **out, struct tt_call *call, const struct reshape *given);

/* ND shards go through DRAM and are cut again at the end. */
static tt_status reshape_nd(struct tt_tensor **out, struct tt_call *call,
			    const struct reshape *args)
{
	static const struct ttnn_memory_config dram;
	struct reshape plain = *args;
	struct ttnn_memory_config memory;
	struct tt_tensor *moved;

	if (is_nd(&args->in->spec.memory)) {
		TT_TRY(tt_call_to_memory(&plain.in, call, args->in, &dram));
		tt_call_own(call, plain.in);
	}
	plain.memory = dram;
	plain.has_memory = true;
	TT_TRY(reshape(&moved, call, &plain));
	tt_call_own(call, moved);
	TT_TRY(nd_output(&memory, args, moved));
	return tt_call_to_memory(out, call, moved, &memory);
}

/* Shapes of other volumes, as far as upstream lets them pass: a view, padding and all. */
static tt_status reshape_volume(struct tt_tensor **out, struct tt_call *call,
				const struct reshape *args)
{
	const struct ttnn_tensor_spec *in = &args->in->spec;

	TT_REQUIRE(in->layout == TTNN_TILE && args->padded.rank >= 2 &&
			   tt_shape_last(&args->padded, 2) % in->tile.height == 0 &&
			   tt_shape_last(&args->padded, 1) % in->tile.width == 0 &&
			   tt_shape_last(&in->padded, 1) == tt_shape_last(&args->padded, 1),
		   "false", "Attempting to reshape between two shapes with different volumes");
	return tt_call_view(out, call, args->in, &args->shape, &args->padded);
}

/* ND shards stay where they are if the padded shape does. */
static bool only_logical(const struct reshape *args, bool moves)
{
	const struct ttnn_tensor_spec *in = &args->in->spec;
	struct ttnn_shape padded = args->padded;

	if (in->layout == TTNN_TILE && args->shape.rank >= 2 && has_tile_padding(&args->shape))
		padded = tt_shape_in_tiles(&args->shape);
	return is_nd(&in->memory) && !moves && args->shape.rank > 1 && in->memory.has_nd_shard &&
	       ttnn_shape_equal(&padded, &in->padded) &&
	       tt_shape_last(&args->shape, 1) == tt_shape_last(&in->shape, 1);
}

/* Upstream's order of shortcuts: nothing, a move, a view; then the programs. */
static tt_status reshape(struct tt_tensor **out, struct tt_call *call, const struct reshape *given)
{
	struct reshape copy = *given, *args = &copy;
	struct tt_tensor *in = args->in;
	bool same = ttnn_shape_equal(&in->spec.shape, &args->shape) &&
		    ttnn_shape_equal(&in->spec.padded, &args->padded);
	bool moves = !same_place(&args->memory, &in->spec.memory);
	uint64_t was, is;

	if (same && !moves) {
		*out = ttnn_tensor_ref(in);
		return TTNN_OK;
	}
	TT_TRY(volume_of(&was, &in->spec.shape));
	TT_TRY(volume_of(&is, &args->shape));
	TT_REQUIRE(was || !is, "logical_shape.volume() == 0",
		   "Tensor volume is 0, but shape's volume is not");
	TT_REQUIRE(!was || is, "logical_shape.volume() != 0",
		   "Tensor volume is not 0, but shape volume is 0");
	if (!was || !tt_tensor_device(in))
		return tt_call_view(out, call, in, &args->shape, &args->padded);
	if (same && !(tt_memory_config_is_sharded(&args->memory) && !args->memory.has_shard &&
		      !args->memory.has_nd_shard))
		return tt_call_to_memory(out, call, in, &args->memory);
	if (args->memory.has_shard && args->memory.has_nd_shard) /* sized for the old shape */
		args->memory.has_nd_shard = args->memory.created_with_nd_shard = false;
	if (only_logical(args, moves))
		return tt_call_perform_view(out, call, in, &args->shape, &args->padded);
	if (is_nd(&args->memory) || is_nd(&in->spec.memory))
		return reshape_nd(out, call, args);
	if (keeps_places(args))
		return tt_call_perform_view(out, call, in, &args->shape, &args->padded);
	if (was != is)
		return reshape_volume(out, call, args);
	return in->spec.layout == TTNN_ROW_MAJOR ? reshape_rows(out, call, args)
						 : reshape_tiles(out, call, args);
}

/* ---- arguments --------------------------------------------------------------------------------------- */

/* The shape as it was given, -1 and all. */
static tt_status fail_shape(const char *format, const int64_t *dims, size_t rank)
{
	struct tt_str text = {0};

	for (size_t i = 0; i < rank; i++)
		tt_str_addf(&text, "%" PRId64 ",", dims[i]);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	tt_fail_cond(TTNN_INVALID, "tt::exception", format, tt_str_text(&text));
#pragma GCC diagnostic pop
	tt_str_deinit(&text);
	return TTNN_INVALID;
}

/* A shape of which one extent may be -1: what is left over. */
static tt_status infer_shape(struct ttnn_shape *out, const struct tt_tensor *in,
			     const int64_t *given, size_t rank)
{
	int64_t dims[TTNN_MAX_RANK], volume = 1, open = -1;
	bool zero = false;
	uint64_t was;

	TT_TRY(volume_of(&was, &in->spec.shape));
	for (size_t i = 0; i < rank; i++) {
		dims[i] = given[i];
		if (given[i] == -1 && open != -1)
			return fail_shape(
				"Shape cannot have more than 1 elements that is set to -1! "
				"Shape used: (%s)",
				given, rank);
		if (given[i] == -1)
			open = (int64_t)i;
		else if (__builtin_mul_overflow(volume, given[i], &volume))
			return tt_fail(TTNN_INVALID, "a shape of more than 2^63 elements");
		zero = zero || given[i] == 0;
	}
	if (zero && open != -1)
		return fail_shape("cannot reshape tensor of 0 elements into shape (%s) because the "
				  "unspecified dimension size -1 can be any value and is ambiguous",
				  given, rank);
	TT_REQUIRE(open != -1 || volume == (int64_t)was, "new_volume == old_volume",
		   "Invalid arguments to reshape");
	TT_REQUIRE(open == -1 || (int64_t)was % volume == 0, "old_volume % new_volume == 0",
		   "Invalid arguments to reshape");
	if (open != -1)
		dims[open] = (int64_t)was / volume;
	return ttnn_shape_make(out, dims, rank);
}

/* A Shape is taken as it is; a list may hold one -1. */
static tt_status shape_arg(struct ttnn_shape *out, const struct tt_call *call,
			   const struct tt_tensor *in)
{
	const struct ttnn_value *value = tt_call_arg(call, "shape");
	int64_t dims[TTNN_MAX_RANK];
	size_t rank;

	if (value->kind == TTNN_VALUE_SHAPE) {
		*out = *value->shape;
		return TTNN_OK;
	}
	TT_TRY(tt_call_ints(dims, &rank, TTNN_MAX_RANK, call, "shape"));
	return infer_shape(out, in, dims, rank);
}

static tt_status return_reshaped(struct tt_call *call, const struct reshape *args)
{
	struct tt_tensor *out;

	return tt_call_give(call, reshape(&out, call, args), &out);
}

/* A padded shape beside the logical one is a signature of its own. */
static tt_status expand_reshape(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct reshape args = {.in = in,
			       .memory = memory ? *memory : in->spec.memory,
			       .has_memory = memory != NULL,
			       .pad_value = *tt_call_arg(call, "pad_value"),
			       .cores = tt_call_core_set(call, "sub_core_grids"),
			       .recreate = tt_call_int(call, "reshape_tile_mode", 0) == 1,
			       .skip_fill = tt_call_bool(call, "skip_padding_fill", false)};

	if (tt_call_given(call, "padded_shape")) {
		TT_TRY(tt_call_shape(&args.shape, call, "logical_shape"));
		TT_TRY(tt_call_shape(&args.padded, call, "padded_shape"));
	} else {
		TT_TRY(shape_arg(&args.shape, call, in));
		args.padded = args.shape;
	}
	return return_reshaped(call, &args);
}

/* ttnn.view never copies: what would need to is refused. */
static tt_status expand_view(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *out;
	const struct ttnn_tensor_spec *spec = &in->spec;
	uint32_t high, was = tt_shape_last(&spec->shape, 2);
	struct ttnn_shape shape;
	uint64_t before, after;

	TT_TRY(shape_arg(&shape, call, in));
	high = tt_shape_last(&shape, 2);
	TT_TRY(volume_of(&before, &spec->shape));
	TT_TRY(volume_of(&after, &shape));
	if (ttnn_shape_equal(&shape, &spec->shape)) {
		tt_call_return(call, ttnn_tensor_ref(in));
		return TTNN_OK;
	}
	TT_REQUIRE(before == after, "shape.volume() == tensor.logical_volume()",
		   "Invalid view, logical volumes are changing from %" PRIu64 " to %" PRIu64,
		   before, after);
	TT_REQUIRE(tt_tensor_device(in),
		   "ttnn::has_storage_type_of(tensor, ttnn::StorageType::DEVICE)",
		   "View requires the tensor be stored on device, use reshape instead");
	TT_REQUIRE(tt_shape_last(&shape, 1) == tt_shape_last(&spec->shape, 1),
		   "(tensor_shape[-1] == shape[-1])",
		   "The last dimension can not change in view, attempting to change last "
		   "dimension from %u to %u, use reshape instead",
		   tt_shape_last(&spec->shape, 1), tt_shape_last(&shape, 1));
	TT_REQUIRE(
		spec->layout == TTNN_ROW_MAJOR || high == was ||
			(high % spec->tile.height == 0 && was % spec->tile.height == 0),
		"(tensor.layout() == ttnn::ROW_MAJOR_LAYOUT) || (tensor_shape_second_last_dim == "
		"shape_second_last_dim) || ((shape_second_last_dim % tile_second_dim == 0) && "
		"(tensor_shape_second_last_dim % tile_second_dim == 0))",
		"Invalid second last dims for TILED reshape, from %u to %u, use reshape instead\n",
		was, high);
	return tt_call_give(call, tt_call_perform_view(&out, call, in, &shape, &shape), &out);
}

/* ---- squeeze and unsqueeze ----------------------------------------------------------------------------- */

/* Dimensions are dropped from the last on, so that the others keep their numbers. */
static void sort_falling(int64_t *dims, size_t count)
{
	for (size_t i = 1; i < count; i++)
		for (size_t k = i; k > 0 && dims[k] > dims[k - 1]; k--) {
			int64_t larger = dims[k];

			dims[k] = dims[k - 1];
			dims[k - 1] = larger;
		}
}

static void remove_dim(struct ttnn_shape *shape, uint32_t dim)
{
	for (shape->rank--; dim < shape->rank; dim++)
		shape->dim[dim] = shape->dim[dim + 1];
}

/* The dimensions to take out, from the last one on: those given, or all. */
static tt_status squeeze_dims(int64_t *dims, size_t *count, const struct tt_call *call,
			      uint32_t rank)
{
	TT_TRY(tt_call_ints(dims, count, TTNN_MAX_RANK, call, "dim"));
	if (!tt_value_given(tt_call_arg(call, "dim")))
		for (*count = 0; *count < rank; ++*count)
			dims[*count] = (int64_t)*count;
	for (size_t i = 0; i < *count; i++)
		if (dims[i] < 0)
			dims[i] += rank;
	sort_falling(dims, *count);
	return TTNN_OK;
}

/* Dimensions of 1 go; others are left as they are, as in torch. */
static tt_status expand_squeeze(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	struct reshape args = {.in = in,
			       .shape = in->spec.shape,
			       .padded = in->spec.padded,
			       .memory = in->spec.memory};
	uint32_t rank = in->spec.shape.rank;
	int64_t dims[TTNN_MAX_RANK];
	size_t count;

	TT_TRY(squeeze_dims(dims, &count, call, rank));
	TT_NEED(rank || count != 1 || dims[0] == 0 || dims[0] == -1,
		"Dimension out of range (expected to be of [-1, 0], but got %" PRId64 ")", dims[0]);
	for (size_t i = 0; rank && i < count; i++) {
		TT_REQUIRE(i == 0 || dims[i] != dims[i - 1], "dim != dims[i - 1]",
			   "dim %" PRId64 " appears multiple times in the list of dims", dims[i]);
		TT_REQUIRE(dims[i] >= 0 && dims[i] < rank,
			   "(dim >= 0) && (dim < input_tensor_rank)",
			   "Dimension out of range (expected to be in range of [-%u,%u], but got "
			   "%" PRId64 ")",
			   rank, rank - 1, dims[i]);
		if (in->spec.shape.dim[dims[i]] != 1)
			continue;
		remove_dim(&args.shape, (uint32_t)dims[i]);
		remove_dim(&args.padded, (uint32_t)dims[i]);
	}
	if (args.shape.rank == rank) {
		tt_call_return(call, ttnn_tensor_ref(in));
		return TTNN_OK;
	}
	return return_reshaped(call, &args);
}

/* A dimension of 1 more, anywhere. */
static tt_status expand_unsqueeze(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	struct reshape args = {.in = in, .memory = in->spec.memory};
	const struct ttnn_shape *shape = &in->spec.shape;
	int64_t dim = tt_call_int(call, "dim", 0), max = shape->rank;

	TT_REQUIRE(dim >= -max - 1 && dim <= max, "(dim >= min_dim) && (dim <= max_dim)",
		   "Dimension out of range (expected to be in range of [%" PRId64 ",%" PRId64
		   "], but got %" PRId64 ")",
		   -max - 1, max, dim);
	TT_NEED(shape->rank != TTNN_MAX_RANK, "a tensor has at most %d dimensions", TTNN_MAX_RANK);
	dim += dim < 0 ? max + 1 : 0;
	for (int64_t d = 0; d <= max; d++)
		args.shape.dim[d] = d == dim ? 1 : shape->dim[d > dim ? d - 1 : d];
	args.shape.rank = shape->rank + 1;
	args.padded = args.shape;
	return return_reshaped(call, &args);
}

/* Ones in front, up to four dimensions. */
static tt_status expand_unsqueeze_4d(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "tensor");
	struct reshape args = {.in = in, .memory = in->spec.memory};

	if (in->spec.shape.rank == 4) {
		tt_call_return(call, ttnn_tensor_ref(in));
		return TTNN_OK;
	}
	TT_NEED(in->spec.shape.rank <= 4, "Tensor rank is greater than 4");
	args.shape.rank = 4;
	for (uint32_t back = 1; back <= 4; back++)
		args.shape.dim[4 - back] = tt_shape_last(&in->spec.shape, back);
	args.padded = args.shape;
	return return_reshaped(call, &args);
}

/* ---- the rows -------------------------------------------------------------------------------------------- */

#define TAIL                                                                                       \
	"*, memory_config: MemoryConfig? = None, pad_value: int | float ? = None, "                \
	"reshape_tile_mode: enum? = None, sub_core_grids: CoreRangeSet? = None, "                  \
	"skip_padding_fill: bool = False"

/* The same bytes under another shape, whatever its elements then are. */
static tt_status expand_raw_view(struct tt_call *call)
{
	static const char *const names[] = {"N", "C", "H", "W"};
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *out;
	int64_t dims[TTNN_MAX_RANK];
	struct ttnn_shape shape;
	size_t rank = TT_COUNT(names);

	if (tt_value_given(tt_call_arg(call, "shape"))) {
		TT_TRY(shape_arg(&shape, call, in));
	} else {
		for (size_t i = 0; i < rank; i++)
			dims[i] = tt_call_int(call, names[i], 0);
		TT_TRY(ttnn_shape_make(&shape, dims, rank));
	}
	return tt_call_give(call, tt_call_view(&out, call, in, &shape, &shape), &out);
}

static const struct tt_op ops[] = {
	{TT_MOVE_ROW("experimental.view", expand_raw_view, tt_golden_raw_view,
		     "Another shape over the same buffer.",
		     "input_tensor: Tensor, N: int, C: int, H: int, W: int",
		     "input_tensor: Tensor, shape: ints")},
	{TT_MOVE_ROW("reshape", expand_reshape, tt_golden_reshape,
		     "The same elements under another shape.",
		     "input_tensor: Tensor, shape: Shape, " TAIL,
		     "input_tensor: Tensor, logical_shape: Shape, padded_shape: Shape, " TAIL,
		     "input_tensor: Tensor, shape: ints, " TAIL)},
	{TT_MOVE_ROW("squeeze", expand_squeeze, tt_golden_squeeze,
		     "Without dimensions of extent 1.",
		     "input_tensor: Tensor, dim: int | ints ? = None")},
	{TT_MOVE_ROW("Tensor.reshape", expand_reshape, tt_golden_reshape,
		     "The method form of reshape.", "input_tensor: Tensor, shape: Shape",
		     "input_tensor: Tensor, shape: ints")},
	{TT_MOVE_ROW("unsqueeze", expand_unsqueeze, tt_golden_unsqueeze, "With one more dimension.",
		     "input_tensor: Tensor, dim: int"),
	 .adds_dim = true},
	{TT_MOVE_ROW("unsqueeze_to_4D", expand_unsqueeze_4d, tt_golden_unsqueeze_4d,
		     "With as many dimensions of extent 1 in front as make four.",
		     "tensor: Tensor")},
	{TT_MOVE_ROW(
		"view", expand_view, tt_golden_reshape,
		"Another shape over the same buffer; refused where elements would have to move.",
		"input_tensor: Tensor, shape: ints", "input_tensor: Tensor, shape: Shape")},
};

const struct tt_op_family tt_family_reshape = {"movement", ops, TT_COUNT(ops)};
