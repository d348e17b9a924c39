/*
 * permute.c: dimensions in another order.
 *
 * Models PermuteDeviceOperation of ttnn 0.81 (data_movement/permute/device): memory, cores,
 * shards of the output, and the choice of a factory (pick()) by which of the last two dimensions
 * stay last:
 *
 *	MultiCoreRowInvariant      rows: the last stays, whole rows are moved
 *	MultiCoreBlockedGeneric    rows: the last does not stay, blocks are transposed
 *	MultiCoreTileInvariant     tiles: the last two stay or swap: whole tiles are moved
 *	MultiCoreTileRowInvariant  tiles: one of the last two stays among them
 *	MultiCoreTiledGeneric      tiles: neither does
 *
 * and the swaps that upstream makes of permutations of four dimensions. Not modelled: the order
 * of writes within a tile.
 */
#include "ops/movement/permute.h"

#include <inttypes.h>

#include "golden/golden_movement.h"
#include "ops/movement/shard_derive.h"
#include "ops/movement/shard_ops.h"

/* ---- the program --------------------------------------------------------------------------------------- */

#define ATTRS(X)                                                                                   \
	X(DIMS, "dims", .text = TT_TEXT_SMALL)                                                     \
	X(MEMORY, "output_mem_config")                                                             \
	X(PAD_VALUE, "pad_value")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);

enum { ROWS_STAY, ROWS_MOVE, TILES_STAY, TILE_ROWS_STAY, TILES_MOVE };

static uint32_t dim_at(const struct tt_launch *launch, uint32_t i)
{
	return (uint32_t)launch->attrs[DIMS].items[i].integer;
}

static uint32_t rank_of(const struct tt_launch *launch)
{
	return launch->attrs[DIMS].count;
}

/* Input and output of ND shards: the shard is reordered like the tensor. */
static tt_status nd_memory(struct ttnn_memory_config *memory, const struct tt_launch *launch)
{
	const struct ttnn_memory_config *in = &launch->inputs[0]->spec.memory;
	struct ttnn_nd_shard_spec shard = memory->nd_shard;

	if (in->created_with_nd_shard && in->has_nd_shard &&
	    in->nd_shard.shape.rank == rank_of(launch)) {
		shard.shape.rank = rank_of(launch);
		for (uint32_t d = 0; d < rank_of(launch); d++)
			shard.shape.dim[d] = in->nd_shard.shape.dim[dim_at(launch, d)];
	}
	return ttnn_memory_config_nd(memory, memory->buffer, &shard);
}

/* Shards that were left to be derived: the input's, scaled, or new ones. */
static tt_status derive_shards(struct ttnn_memory_config *memory, const struct tt_launch *launch,
			       const struct ttnn_shape *shape)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_shape padded = *shape;

	for (uint32_t back = 1; in->layout == TTNN_TILE && back <= 2 && back <= padded.rank; back++)
		padded.dim[padded.rank - back] =
			(uint32_t)tt_align_to(padded.dim[padded.rank - back],
					      back == 1 ? in->tile.width : in->tile.height);
	return tt_shards_derive(memory, launch, &in->padded, &padded);
}

/* Shards that nobody described are derived from the new shape. */
static tt_status permute_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_spec_args args = {.shape = {.rank = rank_of(launch)},
				      .dtype = in->dtype,
				      .layout = in->layout,
				      .memory = *launch->attrs[MEMORY].memory};

	for (uint32_t d = 0; d < rank_of(launch); d++)
		args.shape.dim[d] = in->shape.dim[dim_at(launch, d)];
	if (args.memory.created_with_nd_shard && args.memory.has_nd_shard)
		TT_TRY(nd_memory(&args.memory, launch));
	else if (tt_memory_config_is_sharded(&args.memory) && !args.memory.has_shard)
		TT_TRY(derive_shards(&args.memory, launch, &args.shape));
	return ttnn_tensor_spec_make(&launch->specs[0], &args);
}

/* By what of a page stays together: rows whole, tiles whole, rows of tiles, or nothing. */
static uint32_t pick(const struct tt_launch *launch)
{
	uint32_t rank = rank_of(launch), last = dim_at(launch, rank - 1);
	uint32_t before = rank > 1 ? dim_at(launch, rank - 2) : 0;

	if (launch->inputs[0]->spec.layout == TTNN_ROW_MAJOR)
		return last == rank - 1 ? ROWS_STAY : ROWS_MOVE;
	if ((last == rank - 1 && before == rank - 2) || (last == rank - 2 && before == rank - 1))
		return TILES_STAY;
	return last == rank - 1 || last == rank - 2 ? TILE_ROWS_STAY : TILES_MOVE;
}

static tt_status cores_of_more(const ttnn_core_set **out, const struct tt_launch *launch,
			       uint64_t units, uint64_t others)
{
	const ttnn_core_set *a, *b;

	TT_TRY(tt_cores_for(&a, launch, units));
	TT_TRY(tt_cores_for(&b, launch, others));
	*out = ttnn_core_set_cores(a) > ttnn_core_set_cores(b) ? a : b;
	return TTNN_OK;
}

static uint64_t rows_of(const struct ttnn_tensor_spec *spec)
{
	uint64_t rows = 1;

	for (uint32_t back = 2; back <= spec->shape.rank; back++)
		rows *= tt_shape_last(&spec->shape, back);
	return rows;
}

/* Two rows. */
static tt_status permute_rows_stay_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0];
	uint64_t row = tt_shape_last(&in->spec.shape, 1) * tt_element_bytes(in);
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_for(&cores, launch, rows_of(&in->spec)));
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "cb_in", .pages = 2,
				  .page = tt_align_to(row, tt_page_alignment(in))));
}

/* Blocks of 32 × 32 elements: rows in, a tile to transpose, rows out. */
static tt_status permute_rows_move_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0];
	uint64_t rows = rows_of(&in->spec), width = tt_shape_last(&in->spec.shape, 1);
	uint64_t x = in->spec.shape.dim[dim_at(launch, rank_of(launch) - 1)];
	uint64_t row = TT_TILE * tt_element_bytes(in);
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_for(&cores, launch,
			    x ? rows / x * tt_div_up(x, TT_TILE) * tt_div_up(width, TT_TILE) : 0));
	return TT_PLAN(plan, cores, TT_DFB_ROW(0, "cb_in", .pages = 2 * TT_TILE, .page = row),
		       TT_DFB_ROW(2, "cb_out", .pages = 2 * TT_TILE, .page = row),
		       TT_DFB_ROW(1, "cb_tilize", .pages = 2, .page = TT_TILE * row));
}

/* Elements of a row of a face: what padding is written by. */
#define FACE_WIDTH 16

/* Tiles of the output without those beside each other down: where its padding is written. */
static uint64_t padded_tiles(const struct tt_launch *launch, uint32_t back)
{
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;
	uint64_t beside = tt_shape_last(&out->padded, back) / TT_TILE;

	return beside ? out->rows * out->cols / 1024 / beside : 0;
}

/* Two tiles; where the last two change places, two more for the transposed ones. */
static tt_status permute_tiles_stay_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;
	uint64_t tile = tt_tile_bytes_of(out->dtype);
	bool swap = dim_at(launch, rank_of(launch) - 1) != rank_of(launch) - 1;
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_for(&cores, launch, out->rows * out->cols / 1024));
	return TT_PLAN(plan, cores, TT_DFB_ROW(0, "cb_in", .pages = 2, .page = tile),
		       TT_DFB_ROW(2, "cb_out", .pages = swap ? 2 : 0, .page = tile));
}

/* Rows within tiles go to other tiles; padding rows are written from a line of a face. */
static tt_status permute_tile_rows_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint64_t tile = tt_tile_bytes_of(in->dtype);
	bool swap = dim_at(launch, rank_of(launch) - 1) == rank_of(launch) - 2;
	bool pads = tt_shape_last(&launch->outputs[0]->spec.shape, 2) % TT_TILE;
	const ttnn_core_set *cores;

	TT_TRY(cores_of_more(&cores, launch, in->rows * in->cols / 1024,
			     padded_tiles(launch, swap ? 1 : 2)));
	return TT_PLAN(plan, cores, TT_DFB_ROW(0, "cb_in", .pages = 2, .page = tile),
		       TT_DFB_ROW(1, "cb_padding", .pages = pads,
				  .page = FACE_WIDTH * tt_dtype_bytes(in->dtype)),
		       TT_DFB_ROW(2, "cb_out", .pages = swap ? 2 : 0, .page = tile));
}

/* Elements leave their rows: three buffers of two tiles, and a line of padding. */
static tt_status permute_tiles_move_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0];
	const struct ttnn_shape *shape = &in->spec.shape;
	uint32_t rank = rank_of(launch), x_dim = dim_at(launch, rank - 1);
	uint64_t line = FACE_WIDTH * tt_element_bytes(in), alignment = tt_page_alignment(in);
	uint64_t tile =
		tt_tile_bytes_of(in->spec.dtype) + (alignment > line ? alignment - line : 0);
	uint64_t blocks =
		tt_div_up(shape->dim[x_dim], TT_TILE) * tt_div_up(shape->dim[rank - 1], TT_TILE);
	bool pads = shape->dim[dim_at(launch, rank - 2)] % TT_TILE;
	const ttnn_core_set *cores;

	for (uint32_t d = 0; d + 1 < rank; d++)
		if (d != x_dim)
			blocks *= shape->dim[d];
	TT_TRY(cores_of_more(&cores, launch, blocks, padded_tiles(launch, 2)));
	return TT_PLAN(plan, cores, TT_DFB_ROW(0, "cb_in", .pages = 2, .page = tile),
		       TT_DFB_ROW(1, "cb_tilize", .pages = 2, .page = tile),
		       TT_DFB_ROW(2, "cb_out", .pages = 2, .page = tile),
		       TT_DFB_ROW(3, "cb_padding", .pages = pads, .page = line));
}

static tt_status permute_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = pick(launch);
	return TTNN_OK;
}

#define FACTORY(name_, memory_)                                                                    \
	TT_FACTORY_ROW("ttnn::operations::data_movement::PermuteDeviceOperation::" name_, memory_)

static const struct tt_factory factories[] = {
	[ROWS_STAY] = FACTORY("MultiCoreRowInvariant", permute_rows_stay_memory),
	[ROWS_MOVE] = FACTORY("MultiCoreBlockedGeneric", permute_rows_move_memory),
	[TILES_STAY] = FACTORY("MultiCoreTileInvariant", permute_tiles_stay_memory),
	[TILE_ROWS_STAY] = FACTORY("MultiCoreTileRowInvariant", permute_tile_rows_memory),
	[TILES_MOVE] = FACTORY("MultiCoreTiledGeneric", permute_tiles_move_memory),
};

static tt_status permute_kernel(struct tt_launch *launch)
{
	uint32_t dims[TTNN_MAX_RANK];

	for (uint32_t d = 0; d < rank_of(launch); d++)
		dims[d] = dim_at(launch, d);
	return tt_move_permute(launch->outputs[0], launch->inputs[0], dims);
}

static void permute_cost(struct tt_cost *cost, const struct tt_launch *launch)
{
	uint32_t way = tt_factory_index(launch);

	/* Elements change their places in rows by the matrix engine. */
	cost->moves = way != ROWS_MOVE && way != TILES_MOVE;
	cost->inputs = 1;
	tt_cost_set_move(cost, launch, (struct tt_perf_move){.per_face_row = true});
}

static const struct tt_prog prog = {
	.device_op = "PermuteDeviceOperation",
	.prim = "ttnn::prim::permute",
	.attrs = &schema,
	.infer = permute_infer,
	TT_FACTORIES(factories),
	.choose = permute_choose,
	TT_KERNEL(permute_kernel),
	.cost = permute_cost,
};

/* Dimensions as a list attribute: they are part of the cache key. */
tt_status tt_permute_launch(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_permute_args *args)
{
	struct ttnn_value dims[TTNN_MAX_RANK], attrs[schema_count];
	uint32_t rank = args->in->spec.shape.rank;

	for (uint32_t d = 0; d < rank; d++)
		dims[d] = ttnn_v_int(args->dims[d]);
	attrs[DIMS] = ttnn_v_list(dims, rank);
	attrs[MEMORY] = ttnn_v_memory(args->memory);
	attrs[PAD_VALUE] = ttnn_v_real(args->pad_value);
	return TT_LAUNCH(out, call, &prog, TT_INPUTS(args->in), .attrs = attrs);
}

/* ---- other operations ------------------------------------------------------------------------------------ */

tt_status tt_call_cast(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
		       enum ttnn_dtype dtype)
{
	return TT_CALL(out, call, "ttnn.typecast", {"input_tensor", ttnn_v_tensor(in)},
		       {"dtype", ttnn_v_dtype(dtype)});
}

tt_status tt_call_to_4d(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	return TT_CALL(out, call, "ttnn.unsqueeze_to_4D", {"tensor", ttnn_v_tensor(in)});
}

tt_status tt_call_in_4d(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	if (in->spec.shape.rank < 4)
		return tt_call_to_4d(out, call, in);
	return tt_call_fold_to_4d(out, call, in, NULL);
}

/* The last `rank` extents; what is left out must be 1. */
static tt_status last_of(struct ttnn_shape *out, const struct ttnn_shape *shape, uint32_t rank)
{
	out->rank = rank;
	for (uint32_t back = 1; back <= shape->rank; back++) {
		if (back <= rank)
			out->dim[rank - back] = tt_shape_last(shape, back);
		else
			TT_REQUIRE(tt_shape_last(shape, back) == 1, "(*this)[cur_idx] == 1",
				   "Can't convert shape rank");
	}
	return TTNN_OK;
}

tt_status tt_call_from_4d(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			  uint32_t rank)
{
	struct ttnn_shape shape, padded;
	struct tt_reshape_args args = {.in = in, .shape = &shape, .padded = &padded};

	TT_TRY(last_of(&shape, &in->spec.shape, rank));
	TT_TRY(last_of(&padded, &in->spec.padded, rank));
	return tt_call_reshape(out, call, &args);
}

tt_status tt_permute_inherits(struct ttnn_memory_config *out, const struct tt_tensor *in)
{
	const struct ttnn_memory_config *memory = &in->spec.memory;

	if (memory->created_with_nd_shard)
		return ttnn_memory_config_nd(out, memory->buffer, &memory->nd_shard);
	*out = (struct ttnn_memory_config){.layout = memory->layout, .buffer = memory->buffer};
	return TTNN_OK;
}

/* Rows cut by shards that are not whole tiles: upstream goes through interleaved L1. */
bool tt_permute_needs_detour(const struct tt_tensor *in)
{
	const struct ttnn_tensor_spec *spec = &in->spec;

	return spec->layout == TTNN_ROW_MAJOR &&
	       (spec->memory.layout == TTNN_BLOCK_SHARDED ||
		spec->memory.layout == TTNN_WIDTH_SHARDED) &&
	       spec->shape.rank >= 2 &&
	       (tt_shape_last(&spec->shape, 1) % TT_TILE ||
		tt_shape_last(&spec->shape, 2) % TT_TILE);
}

/* Shards for a memory config that names only a layout. */
tt_status tt_permute_resolve(struct ttnn_memory_config *out, const struct tt_permute_args *args,
			     const struct ttnn_shape *padded, bool tiled)
{
	const struct ttnn_tensor_spec *in = &args->in->spec;
	struct tt_shard_request request = {.device = tt_tensor_device(args->in),
					   .padded = padded,
					   .layout = args->memory->layout,
					   .orientation = in->memory.has_shard
								  ? in->memory.shard.orientation
								  : TTNN_ORIENT_ROW_MAJOR,
					   .tiled = tiled};
	struct ttnn_shard_spec shard;
	bool found;

	*out = *args->memory;
	if (!tt_memory_config_is_sharded(out) || out->has_shard ||
	    (out->created_with_nd_shard && out->has_nd_shard))
		return TTNN_OK;
	TT_TRY(tt_shard_make(&shard, &request, "Transpose"));
	if (!tiled)
		TT_TRY(tt_shard_align_rows(&found, &shard, &request, tt_element_bytes(args->in),
					   false));
	return ttnn_memory_config_sharded(out, out->layout, out->buffer, &shard);
}

/* ---- the operation ---------------------------------------------------------------------------------------- */

static bool is_order(const uint32_t *dims, uint32_t n, uint32_t c, uint32_t h, uint32_t w)
{
	return dims[0] == n && dims[1] == c && dims[2] == h && dims[3] == w;
}

static tt_status swap_dims(struct tt_tensor **out, struct tt_call *call,
			   const struct tt_permute_args *of, uint32_t a, uint32_t b)
{
	uint32_t dims[] = {a, b};
	struct tt_permute_args args = *of;

	args.dims = dims;
	args.pad_value = a == 1 && b == 2 ? of->pad_value : 0;
	return tt_call_transpose(out, call, &args);
}

/* Several swaps in one expression; only the last one is given the config. */
static tt_status swaps(struct tt_tensor **out, struct tt_call *call,
		       const struct tt_permute_args *of, const uint32_t (*pairs)[2], size_t count)
{
	struct tt_permute_args args = *of;
	struct tt_temps temps = {.call = call};
	tt_status status = TTNN_OK;

	for (size_t i = 0; i < count && status == TTNN_OK; i++) {
		args.memory = i + 1 == count ? of->memory : NULL;
		status = swap_dims(out, call, &args, pairs[i][0], pairs[i][1]);
		if (status == TTNN_OK && i + 1 < count)
			args.in = tt_temps_keep(&temps, *out);
	}
	return tt_temps_end(&temps, status);
}

/* What a sharded tensor of four dimensions goes through. */
static tt_status permute_shards(struct tt_tensor **out, struct tt_call *call,
				const struct tt_permute_args *of)
{
	static const uint32_t hc_wh[][2] = {{1, 2}, {2, 3}}, wh_hc[][2] = {{2, 3}, {1, 2}};
	static const uint32_t wh_hc_wh[][2] = {{2, 3}, {1, 2}, {2, 3}};
	struct tt_permute_args args = *of;
	struct ttnn_memory_config inherited;

	if (is_order(of->dims, 0, 2, 3, 1))
		return swaps(out, call, of, hc_wh, 2);
	if (is_order(of->dims, 0, 3, 1, 2))
		return swaps(out, call, of, wh_hc, 2);
	if (is_order(of->dims, 0, 3, 2, 1))
		return swaps(out, call, of, wh_hc_wh, 3);
	TT_TRY(tt_permute_inherits(&inherited, of->in));
	if (!args.memory)
		args.memory = &inherited;
	return tt_permute_launch(out, call, &args);
}

/* Single swaps are transposes, with programs of their own. */
static tt_status permute_4d(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_permute_args *of)
{
	struct tt_permute_args args = *of;

	if (is_order(of->dims, 0, 1, 2, 3)) {
		*out = ttnn_tensor_ref(of->in);
		return TTNN_OK;
	}
	if (is_order(of->dims, 0, 1, 3, 2))
		return swap_dims(out, call, of, 2, 3);
	if (is_order(of->dims, 0, 2, 1, 3))
		return swap_dims(out, call, of, 1, 2);
	if (is_order(of->dims, 1, 0, 2, 3))
		return swap_dims(out, call, of, 0, 1);
	if (tt_tensor_is_sharded(of->in))
		return permute_shards(out, call, of);
	if (!args.memory)
		args.memory = &of->in->spec.memory;
	return tt_permute_launch(out, call, &args);
}

/* bfloat8_b is reordered as bfloat16 unless tiles stay whole. */
static tt_status permute_any_4d(struct tt_tensor **out, struct tt_call *call,
				const struct tt_permute_args *of)
{
	bool whole = is_order(of->dims, 0, 1, 3, 2) || is_order(of->dims, 1, 0, 2, 3) ||
		     is_order(of->dims, 1, 0, 3, 2);
	struct tt_permute_args args = *of;
	struct tt_temps temps = {.call = call};
	struct tt_tensor *moved;
	tt_status status;

	if (of->in->spec.dtype != TTNN_BFLOAT8_B || whole || tt_tensor_is_sharded(of->in))
		return permute_4d(out, call, of);
	TT_TRY(tt_call_cast(&args.in, call, of->in, TTNN_BFLOAT16));
	tt_temps_keep(&temps, args.in);
	status = permute_4d(&moved, call, &args);
	if (status == TTNN_OK) {
		status = tt_call_cast(out, call, moved, TTNN_BFLOAT8_B);
		tt_call_overwrite(call, moved);
	}
	return tt_temps_end(&temps, status);
}

/* Up to four dimensions through permute_any_4d(); more by the program alone. */
static tt_status permute(struct tt_tensor **out, struct tt_call *call,
			 const struct tt_permute_args *of)
{
	static const struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	const struct ttnn_shape *shape = &of->in->spec.padded;
	struct ttnn_shape padded = {.rank = of->in->spec.shape.rank};
	struct tt_permute_args args = *of;
	struct ttnn_memory_config memory;

	if (tt_permute_needs_detour(of->in)) {
		for (uint32_t d = 0; d < padded.rank; d++)
			padded.dim[d] = shape->dim[of->dims[d]];
		if (of->memory) {
			TT_TRY(tt_permute_resolve(&memory, of, &padded, true));
			args.memory = &memory;
		}
		TT_TRY(tt_call_to_memory(&args.in, call, of->in, &l1));
		tt_call_own(call, args.in);
	}
	if (padded.rank <= 4)
		return permute_any_4d(out, call, &args);
	if (tt_tensor_is_sharded(args.in))
		TT_TRY(tt_permute_inherits(&memory, args.in));
	else
		memory = args.in->spec.memory;
	if (!args.memory)
		args.memory = &memory;
	return tt_permute_launch(out, call, &args);
}

/* Whether elements stay where they are. */
static bool is_nothing(const struct tt_tensor *in, const uint32_t *dims)
{
	const struct ttnn_shape *shape = &in->spec.shape;
	bool same = true, stay = true;

	for (uint32_t d = 0; d < shape->rank; d++) {
		same = same && dims[d] == d;
		stay = stay && shape->dim[dims[d]] == shape->dim[d] &&
		       (dims[d] == d || shape->dim[d] <= 1);
	}
	if (shape->rank <= 1 || same)
		return true;
	if (dims[shape->rank - 1] != shape->rank - 1 ||
	    (in->spec.layout == TTNN_TILE && dims[shape->rank - 2] != shape->rank - 2))
		return false;
	return stay;
}

/* A shard's rows are pages, and pages are aligned. */
static tt_status check_rows(const struct tt_permute_args *args)
{
	uint64_t alignment = tt_memory_alignment(tt_tensor_device(args->in), TTNN_L1);

	if (args->in->spec.layout != TTNN_ROW_MAJOR || !args->memory || !args->memory->has_shard)
		return TTNN_OK;
	TT_REQUIRE(args->memory->shard.width * tt_element_bytes(args->in) % alignment == 0,
		   "memory_config->shard_spec()->shape[1] * input_tensor.element_size() % "
		   "(l1_alignment) == 0",
		   "Shard page size must be aligned to %" PRIu64 "B for L1 Tensor", alignment);
	return TTNN_OK;
}

/* Less than four dimensions become four, and come back. */
static tt_status permute_any(struct tt_tensor **out, struct tt_call *call,
			     const struct tt_permute_args *of)
{
	uint32_t rank = of->in->spec.shape.rank, dims[4], more = 4 - rank;
	struct tt_permute_args args = *of;
	struct tt_tensor *moved;

	if (rank < 4) {
		TT_TRY(tt_call_to_4d(&args.in, call, of->in));
		tt_call_own(call, args.in);
	}
	TT_TRY(check_rows(of));
	if (rank >= 4)
		return permute(out, call, of);
	for (uint32_t d = 0; d < 4; d++)
		dims[d] = d < more ? d : of->dims[d - more] + more;
	args.dims = dims;
	TT_TRY(permute(&moved, call, &args));
	tt_call_own(call, moved);
	return tt_call_from_4d(out, call, moved, rank);
}

/* An order that changes nothing only moves the tensor. */
static tt_status permute_expand(struct tt_call *call)
{
	uint32_t normal[TTNN_MAX_RANK];
	struct tt_permute_args args = {.in = tt_call_tensor(call, "input_tensor"),
				       .dims = normal,
				       .memory = tt_call_memory(call, "memory_config"),
				       .pad_value = tt_call_real(call, "pad_value", 0)};
	uint32_t rank = args.in->spec.shape.rank;
	int64_t dims[TTNN_MAX_RANK];
	struct tt_tensor *out;
	size_t count;

	TT_TRY(tt_call_ints(dims, &count, TTNN_MAX_RANK, call, "dims"));
	TT_REQUIRE(count == rank, "input_rank == dims.size()",
		   "The number of dimensions in the tensor input does not match the length of the "
		   "desired ordering");
	TT_REQUIRE(tt_tensor_device(args.in), "is_device_tensor(input_tensor)",
		   "Tensor must already be on device");
	for (uint32_t d = 0; d < rank; d++)
		TT_TRY(tt_normal_dim(&normal[d], dims[d], rank));
	if (is_nothing(args.in, normal))
		TT_TRY(tt_call_to_memory(&out, call, args.in,
					 args.memory ? args.memory : &args.in->spec.memory));
	else
		TT_TRY(permute_any(&out, call, &args));
	tt_call_return(call, out);
	return TTNN_OK;
}

/* The operation, for other operations. */
tt_status tt_call_permute(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_permute_args *args)
{
	struct ttnn_value dims[TTNN_MAX_RANK];
	struct ttnn_arg given[4] = {{"input_tensor", ttnn_v_tensor(args->in)}};
	size_t count = 3;

	for (uint32_t d = 0; d < args->in->spec.shape.rank; d++)
		dims[d] = ttnn_v_int(args->dims[d]);
	given[1] = (struct ttnn_arg){"dims", ttnn_v_list(dims, args->in->spec.shape.rank)};
	given[2] = (struct ttnn_arg){"pad_value", ttnn_v_real(args->pad_value)};
	if (args->memory)
		given[count++] = (struct ttnn_arg){"memory_config", ttnn_v_memory(args->memory)};
	return tt_call_op(out, call, "ttnn.permute", given, count);
}

static const struct tt_op ops[] = {
	{TT_MOVE_ROW("permute", permute_expand, tt_golden_permute, "Dimensions in another order.",
		     "input_tensor: Tensor, dims: ints, *, memory_config: MemoryConfig? = None, "
		     "pad_value: float = 0.0",
		     "input_tensor: Tensor, dims: ints, pad_value: float = 0.0")},
};

const struct tt_op_family tt_family_permute = {"movement", ops, TT_COUNT(ops)};
