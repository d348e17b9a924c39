/* permute.c: dimensions in another order. */
#include "ops/permute.h"

#include <inttypes.h>

#include "device/device.h"
#include "device/devtensor.h"
#include "ops/cost.h"
#include "ops/golden_movement.h"
#include "ops/movement.h"
#include "ops/rows.h"
#include "ops/shard.h"
#include "ops/shard_derive.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/spec.h"

/* ---- the program --------------------------------------------------------------------------------------- */

enum { DIMS, MEMORY, PAD_VALUE, ATTRS };

static const struct tt_field fields[ATTRS] = {
	[DIMS] = {.name = "dims", .text = TT_TEXT_SMALL},
	[MEMORY] = {.name = "output_mem_config"},
	[PAD_VALUE] = {.name = "pad_value"},
};
static const struct tt_schema schema = {"operation_attributes_t", fields, ATTRS, false};

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
	bool tiled = in->layout == TTNN_TILE;
	struct ttnn_shape padded = *shape;
	struct tt_shard_wish wish = {.device = launch->device,
				     .padded = &padded,
				     .layout = memory->layout,
				     .orientation = in->memory.has_shard
							    ? in->memory.shard.orientation
							    : TTNN_ORIENT_ROW_MAJOR,
				     .tiled = true};
	struct ttnn_shard_spec shard;

	for (uint32_t back = 1; tiled && back <= 2 && back <= padded.rank; back++)
		padded.dim[padded.rank - back] =
			(uint32_t)tt_align_to(padded.dim[padded.rank - back],
					      back == 1 ? in->tile.width : in->tile.height);
	if (!in->memory.has_shard || in->memory.layout != memory->layout ||
	    !tt_shard_scale(&shard, &in->memory.shard, &in->padded, &padded) ||
	    (tiled && (shard.height % 32 || shard.width % 32)))
		TT_TRY(tt_shard_make(&shard, &wish, "Transpose"));
	return ttnn_memory_config_sharded(memory, memory->layout, memory->buffer, &shard);
}

static tt_status infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_spec_args args = {.shape = {.rank = rank_of(launch)},
				      .dtype = in->dtype,
				      .layout = in->layout,
				      .memory = *launch->attrs[MEMORY].memory};

	launch->output_count = 1;
	for (uint32_t d = 0; d < rank_of(launch); d++)
		args.shape.dim[d] = in->shape.dim[dim_at(launch, d)];
	if (args.memory.created_with_nd_shard && args.memory.has_nd_shard)
		TT_TRY(nd_memory(&args.memory, launch));
	else if (tt_memory_config_is_sharded(&args.memory) && !args.memory.has_shard)
		TT_TRY(derive_shards(&args.memory, launch, &args.shape));
	return ttnn_tensor_spec_make(&launch->specs[0], &args);
}

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

/* Numbers: 0 the bytes of a row, 1 those of a square of 32 × 32 elements. */
static tt_status plan_rows(struct tt_launch *launch, struct tt_move_work *work, bool moves)
{
	const struct tt_tensor *in = launch->inputs[0];
	uint64_t rows = rows_of(&in->spec), width = tt_shape_last(&in->spec.shape, 1), x;

	if (!moves) {
		work->number[0] = tt_align_to(width * tt_element_bytes(in), tt_page_alignment(in));
		return tt_cores_for(&work->cores[0], launch, rows);
	}
	x = in->spec.shape.dim[dim_at(launch, rank_of(launch) - 1)];
	work->number[0] = 32 * tt_element_bytes(in);
	work->number[1] = 1024 * tt_element_bytes(in);
	return tt_cores_for(&work->cores[0], launch,
			    rows / x * tt_div_up(x, 32) * tt_div_up(width, 32));
}

/* Tiles of the output without those beside each other down: where its padding is written. */
static uint64_t padded_tiles(const struct tt_launch *launch, uint32_t back, uint32_t tile)
{
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;
	uint64_t beside = tt_shape_last(&out->padded, back) / tile;

	return beside ? out->rows * out->cols / 1024 / beside : 0;
}

/* Numbers: 0 bytes of a tile, 1 bytes of padding, 2 bytes of a tile when height and width swap. */
static tt_status plan_tile_rows(struct tt_launch *launch, struct tt_move_work *work)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;
	uint32_t rank = rank_of(launch);
	bool swap = dim_at(launch, rank - 1) == rank - 2;

	work->number[0] = tt_tile_bytes_of(in->dtype);
	if (swap)
		work->number[2] = work->number[0];
	if (tt_shape_last(&out->shape, 2) % 32)
		work->number[1] = 16 * tt_dtype_bytes(in->dtype);
	return cores_of_more(&work->cores[0], launch, in->rows * in->cols / 1024,
			     padded_tiles(launch, swap ? 1 : 2, 32));
}

static tt_status plan_tiles(struct tt_launch *launch, struct tt_move_work *work)
{
	const struct tt_tensor *in = launch->inputs[0];
	const struct ttnn_shape *shape = &in->spec.shape;
	uint32_t rank = rank_of(launch), x_dim = dim_at(launch, rank - 1);
	uint64_t line = 16 * tt_element_bytes(in), alignment = tt_page_alignment(in), blocks;

	blocks = tt_div_up(shape->dim[x_dim], 32) * tt_div_up(shape->dim[rank - 1], 32);
	for (uint32_t d = 0; d + 1 < rank; d++)
		if (d != x_dim)
			blocks *= shape->dim[d];
	work->number[0] =
		tt_tile_bytes_of(in->spec.dtype) + (alignment > line ? alignment - line : 0);
	if (shape->dim[dim_at(launch, rank - 2)] % 32)
		work->number[1] = line;
	return cores_of_more(&work->cores[0], launch, blocks, padded_tiles(launch, 2, 32));
}

static tt_status choose(uint32_t *out, struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *to = &launch->outputs[0]->spec;
	uint32_t rank = rank_of(launch);
	struct tt_move_work *work = tt_move_work_new(launch);

	if (!work)
		return TTNN_NOMEM;
	*out = pick(launch);
	if (*out == ROWS_STAY || *out == ROWS_MOVE)
		return plan_rows(launch, work, *out == ROWS_MOVE);
	if (*out == TILE_ROWS_STAY)
		return plan_tile_rows(launch, work);
	if (*out == TILES_MOVE)
		return plan_tiles(launch, work);
	work->number[0] = tt_tile_bytes_of(to->dtype);
	if (dim_at(launch, rank - 1) != rank - 1)
		work->number[2] = work->number[0];
	return tt_cores_for(&work->cores[0], launch, to->rows * to->cols / 1024);
}

static const struct tt_mem_row row_rows[] = {
	{TT_DFB, 0, .page_count = 2, .page = tt_number0, .cores = tt_work_cores0},
};
static const struct tt_mem_row square_rows[] = {
	{TT_DFB, 0, .page_count = 64, .page = tt_number0, .cores = tt_work_cores0},
	{TT_DFB, 2, .page_count = 64, .page = tt_number0, .cores = tt_work_cores0},
	{TT_DFB, 1, .page_count = 2, .page = tt_number1, .cores = tt_work_cores0},
};
static const struct tt_mem_row tile_rows[] = {
	{TT_DFB, 0, .page_count = 2, .page = tt_number0, .cores = tt_work_cores0},
	{TT_DFB, 1, .when = tt_has1, .page_count = 1, .page = tt_number1, .cores = tt_work_cores0},
	{TT_DFB, 2, .when = tt_has2, .page_count = 2, .page = tt_number2, .cores = tt_work_cores0},
};
static const struct tt_mem_row block_rows[] = {
	{TT_DFB, 0, .page_count = 2, .page = tt_number0, .cores = tt_work_cores0},
	{TT_DFB, 1, .page_count = 2, .page = tt_number0, .cores = tt_work_cores0},
	{TT_DFB, 2, .page_count = 2, .page = tt_number0, .cores = tt_work_cores0},
	{TT_DFB, 3, .when = tt_has1, .page_count = 1, .page = tt_number1, .cores = tt_work_cores0},
};

#define FACTORY(name, rows)                                                                        \
	{                                                                                          \
		"ttnn::operations::data_movement::PermuteDeviceOperation::" name, rows,            \
			TT_COUNT(rows), NULL                                                       \
	}

static const struct tt_factory factories[] = {
	[ROWS_STAY] = FACTORY("MultiCoreRowInvariant", row_rows),
	[ROWS_MOVE] = FACTORY("MultiCoreBlockedGeneric", square_rows),
	[TILES_STAY] = FACTORY("MultiCoreTileInvariant", tile_rows),
	[TILE_ROWS_STAY] = FACTORY("MultiCoreTileRowInvariant", tile_rows),
	[TILES_MOVE] = FACTORY("MultiCoreTiledGeneric", block_rows),
};

static tt_status kernel(struct tt_launch *launch)
{
	uint32_t dims[TTNN_MAX_RANK];

	for (uint32_t d = 0; d < rank_of(launch); d++)
		dims[d] = dim_at(launch, d);
	return tt_move_permute(launch->outputs[0], launch->inputs[0], dims);
}

static void cost(struct tt_cost *cost, const struct tt_launch *launch)
{
	size_t way = (size_t)(launch->factory - factories);

	/* Elements change their places in rows by the matrix engine. */
	cost->moves = way != ROWS_MOVE && way != TILES_MOVE;
	cost->inputs = 1;
	tt_cost_set_move(cost, launch, (struct tt_perf_move){.per_face_row = true});
}

static const struct tt_prog prog = {
	.device_op = "PermuteDeviceOperation",
	.prim = "ttnn::prim::permute",
	.attrs = &schema,
	.infer = infer,
	.factories = factories,
	.factory_count = TT_COUNT(factories),
	.choose = choose,
	TT_KERNEL(kernel),
	.cost = cost,
};

tt_status tt_permute_launch(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_permute_args *args)
{
	struct ttnn_value dims[TTNN_MAX_RANK], attrs[ATTRS];
	uint32_t rank = args->in->spec.shape.rank;
	struct tt_program_args program = {
		.prog = &prog, .attrs = attrs, .inputs = &args->in, .input_count = 1};

	for (uint32_t d = 0; d < rank; d++)
		dims[d] = ttnn_v_int(args->dims[d]);
	attrs[DIMS] = ttnn_v_list(dims, rank);
	attrs[MEMORY] = ttnn_v_memory(args->memory);
	attrs[PAD_VALUE] = ttnn_v_real(args->pad_value);
	return tt_call_program(out, call, &program);
}

/* ---- other operations ------------------------------------------------------------------------------------ */

tt_status tt_call_cast(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
		       enum ttnn_dtype dtype)
{
	struct ttnn_arg args[] = {{"input_tensor", ttnn_v_tensor(in)},
				  {"dtype", ttnn_v_dtype(dtype)}};

	return tt_call_op(out, call, "ttnn.typecast", args, TT_COUNT(args));
}

tt_status tt_call_to_4d(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	struct ttnn_arg args[] = {{"tensor", ttnn_v_tensor(in)}};

	return tt_call_op(out, call, "ttnn.unsqueeze_to_4D", args, TT_COUNT(args));
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

bool tt_permute_needs_detour(const struct tt_tensor *in)
{
	const struct ttnn_tensor_spec *spec = &in->spec;

	return spec->layout == TTNN_ROW_MAJOR &&
	       (spec->memory.layout == TTNN_BLOCK_SHARDED ||
		spec->memory.layout == TTNN_WIDTH_SHARDED) &&
	       spec->shape.rank >= 2 &&
	       (tt_shape_last(&spec->shape, 1) % 32 || tt_shape_last(&spec->shape, 2) % 32);
}

tt_status tt_permute_resolve(struct ttnn_memory_config *out, const struct tt_permute_args *args,
			     const struct ttnn_shape *padded, bool tiled)
{
	const struct ttnn_tensor_spec *in = &args->in->spec;
	struct tt_shard_wish wish = {.device = tt_tensor_device(args->in),
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
	TT_TRY(tt_shard_make(&shard, &wish, "Transpose"));
	if (!tiled)
		TT_TRY(tt_shard_align_rows(&found, &shard, &wish, tt_element_bytes(args->in),
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

static tt_status expand(struct tt_call *call)
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
	{TT_MOVE_ROW("permute", expand, tt_golden_permute, "Dimensions in another order.",
		     "input_tensor: Tensor, dims: ints, *, memory_config: MemoryConfig? = None, "
		     "pad_value: float = 0.0",
		     "input_tensor: Tensor, dims: ints, pad_value: float = 0.0")},
};

const struct tt_op_family tt_family_permute = {"permute", ops, TT_COUNT(ops)};
