/*
 * embedding.c: rows of a table, picked by indices, and the gradient of that.
 *
 * Models EmbeddingsDeviceOperation of ttnn 0.81 (embedding/device) with its three factories,
 * chosen by what indices and result are: EmbeddingsRMProgramFactory (rows in, rows out),
 * EmbeddingsFusedProgramFactory (rows in, tiles out: it tilizes itself, which wants extents of
 * whole tiles), EmbeddingsTilizedIndicesProgramFactory (indices in tiles); and
 * EmbeddingBackwardDeviceOperation: refusals, memory, cores. Not modelled: which core fetches
 * which row.
 */
#include "backend/backend.h"
#include "golden/golden.h"
#include "ops/movement/movement.h"
#include "ops/op_enums.h"

#define ATTRS(X)                                                                                   \
	X(MEMORY, "output_mem_config")                                                             \
	X(TILIZED, "tilized")                                                                      \
	X(TYPE, "embeddings_type")                                                                 \
	X(PAD, "pad_token")
TT_ATTRS(schema, "EmbeddingParams", ATTRS);

enum { INDICES, WEIGHT, INPUTS };

/* ---- specs and refusals ------------------------------------------------------------------------- */

/* [batch, 1, indices, width], in tiles if the program makes them. */
static tt_status embedding_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *indices = &launch->inputs[INDICES]->spec;
	const struct ttnn_tensor_spec *weight = &launch->inputs[WEIGHT]->spec;
	struct ttnn_shape shape =
		TT_SHAPE(indices->shape.rank ? indices->shape.dim[0] : 1, 1,
			 tt_shape_last(&indices->shape, 1), tt_shape_last(&weight->shape, 1));

	bool tiles = launch->attrs[TILIZED].boolean && indices->layout == TTNN_ROW_MAJOR;

	return tt_infer_one(launch, &shape, weight->dtype, tiles ? TTNN_TILE : TTNN_ROW_MAJOR);
}

static tt_status embedding_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *indices = &launch->inputs[INDICES]->spec;
	const struct ttnn_tensor_spec *weight = &launch->inputs[WEIGHT]->spec;

	TT_REQUIRE(indices->dtype == TTNN_UINT32 || indices->dtype == TTNN_BFLOAT16,
		   "a.dtype() == DataType::UINT32 or a.dtype() == DataType::BFLOAT16",
		   "Input must be UINT32 or BFLOAT16");
	TT_REQUIRE(weight->dtype == TTNN_BFLOAT16, "weights.dtype() == DataType::BFLOAT16",
		   "Weights tensor must have BFLOAT16 dtype");
	TT_REQUIRE(weight->memory.layout == TTNN_INTERLEAVED,
		   "weights.memory_config().memory_layout() == TensorMemoryLayout::INTERLEAVED",
		   "Embedding does not currently support sharded weights");
	TT_REQUIRE(weight->padded.dim[0] == 1 && weight->padded.dim[1] == 1,
		   "weights.padded_shape()[0] == 1 && weights.padded_shape()[1] == 1",
		   "First two dimensions for the weights must be 1 but got %u and %u",
		   weight->padded.dim[0], weight->padded.dim[1]);
	TT_REQUIRE(launch->attrs[TYPE].integer != TT_EMBEDDING_PADDED ||
			   tt_value_given(&launch->attrs[PAD]),
		   "operation_attributes.pad_token.has_value()",
		   "Pad token must be specified when PADDED Embeddings Type is specified");
	return TTNN_OK;
}

/* ---- program memory ------------------------------------------------------------------------------- */

/* Rows that every core keeps at hand: the one of the padding token, or both of a table of two. */
static uint64_t kept_rows(const struct tt_launch *launch)
{
	switch (launch->attrs[TYPE].integer) {
	case TT_EMBEDDING_PADDED:
		return 1;
	case TT_EMBEDDING_BINARY:
		return 2;
	default:
		return 0;
	}
}

static uint64_t kept_row(const struct tt_launch *launch)
{
	return tt_align_to(launch->inputs[WEIGHT]->spec.page_bytes, 32);
}

static uint64_t index_count(const struct tt_launch *launch)
{
	const struct ttnn_shape *shape = &launch->outputs[0]->spec.shape;
	uint64_t count = 1;

	for (uint32_t back = 2; back <= shape->rank; back++)
		count *= tt_shape_last(shape, back);
	return count;
}

/* Cores for units of work: those of the output's shards, or as many as it takes. */
static tt_status cores_for(struct tt_work_split *out, const struct tt_launch *launch,
			   uint64_t units)
{
	TT_TRY(tt_split_work(out, launch->device->info.compute_grid, units, TTNN_ORIENT_COL_MAJOR));
	if (launch->outputs[0]->spec.memory.has_shard)
		out->all = launch->outputs[0]->spec.memory.shard.grid;
	return TTNN_OK;
}

/* Whole rows, one at a time; two of them where a core has more than one to fetch. */
static tt_status rows_plain(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *indices = launch->inputs[INDICES];
	uint64_t align = tt_memory_alignment(launch->device, indices->spec.memory.buffer);
	uint64_t row = tt_align_to(launch->inputs[WEIGHT]->spec.page_bytes,
				   tt_page_alignment(launch->inputs[WEIGHT]));
	bool sharded = tt_tensor_is_sharded(launch->outputs[0]);
	struct tt_work_split split;

	TT_TRY(cores_for(&split, launch, index_count(launch)));
	return TT_PLAN(plan, split.all,
		       TT_DFB_ROW(0, "output",
				  .pages = sharded              ? 0
					   : split.units[0] > 1 ? 2
								: 1,
				  .page = row),
		       TT_SCRATCH_ROW(1, "index_scratch",
				      .pages = align / tt_element_bytes(indices), .page = TT_TILE),
		       TT_SCRATCH_ROW(2, "weight_cache", .pages = kept_rows(launch),
				      .page = kept_row(launch)));
}

/* Indices in tiles: a core reads a tile for each line of a face. */
static tt_status rows_tiled(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_shape *shape = &launch->inputs[INDICES]->spec.shape;
	uint64_t row = tt_align_to(launch->inputs[WEIGHT]->spec.page_bytes,
				   tt_page_alignment(launch->inputs[WEIGHT]));
	struct tt_work_split split;
	uint64_t count = 1;

	for (uint32_t back = 1; back <= shape->rank; back++)
		count *= tt_shape_last(shape, back);
	TT_TRY(cores_for(&split, launch, tt_div_up(count, TT_FACE)));
	return TT_PLAN(
		plan, split.all, TT_DFB_ROW(0, "output", .pages = 2, .page = row),
		TT_SCRATCH_ROW(1, "index_scratch", .pages = 1,
			       .page = tt_tile_bytes_of(launch->inputs[INDICES]->spec.dtype)),
		TT_SCRATCH_ROW(2, "weight_cache", .pages = kept_rows(launch),
			       .page = kept_row(launch)));
}

/*
 * How many tiles of a row a core makes at a time: the whole row twice while that is short, once while
 * it fits, else the largest part of equal size.
 */
static uint64_t fused_tiles(const struct tt_launch *launch, uint64_t width, uint64_t both)
{
	const uint64_t most = 128;

	if (2 * width <= most)
		return 2 * width;
	return width * both <= tt_l1_free(launch->device) ? width : tt_split_divisor(width, most);
}

/* A row of 32 indices is fetched and tilized at once, in pieces of the width that fit into L1. */
static tt_status rows_fused(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *weight = launch->inputs[WEIGHT], *out = launch->outputs[0];
	uint64_t in_tile = tt_tile_bytes_of(weight->spec.dtype);
	uint64_t out_tile = tt_tile_bytes_of(out->spec.dtype);
	bool sharded = out->spec.memory.has_shard;
	uint64_t width = sharded ? out->spec.memory.shard.width / TT_TILE
				 : tt_div_up(tt_shape_last(&weight->spec.padded, 1), TT_TILE);
	uint64_t tiles = fused_tiles(launch, width, in_tile + out_tile);
	struct tt_work_split split;

	TT_TRY(cores_for(&split, launch, index_count(launch) / TT_TILE));
	return TT_PLAN(
		plan, split.all, TT_DFB_ROW(0, "src0_cb", .pages = tiles, .page = in_tile),
		TT_DFB_ROW(1, "output_cb", .pages = sharded ? tt_shard_tiles(&out->spec) : tiles,
			   .page = out_tile, .backing = sharded ? out : NULL),
		TT_SCRATCH_ROW(2, "src1_cb", .pages = TT_TILE,
			       .page = tt_element_bytes(launch->inputs[INDICES])),
		TT_SCRATCH_ROW(3, "src2_cb", .pages = kept_rows(launch), .page = kept_row(launch)));
}

enum { FUSED, PLAIN, TILED };
static const struct tt_factory factories[] = {
	[PLAIN] = {.name = "ttnn::prim::EmbeddingsRMProgramFactory", .memory = rows_plain},
	[FUSED] = {.name = "ttnn::prim::EmbeddingsFusedProgramFactory", .memory = rows_fused},
	[TILED] = {.name = "ttnn::prim::EmbeddingsTilizedIndicesProgramFactory",
		   .memory = rows_tiled},
};

static tt_status embedding_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = launch->inputs[INDICES]->spec.layout == TTNN_TILE ? TILED
	       : launch->attrs[TILIZED].boolean                  ? FUSED
								 : PLAIN;
	return TTNN_OK;
}

static tt_status embedding_kernel(struct tt_launch *launch)
{
	return tt_backend_get()->index(&(struct tt_index_job){.out = launch->outputs[0],
							      .in = launch->inputs[WEIGHT],
							      .index = launch->inputs[INDICES],
							      .kind = TT_INDEX_EMBEDDING});
}

/* Rows become tiles by the matrix engine. */
static void embedding_cost(struct tt_cost *cost, const struct tt_launch *launch)
{
	cost->moves = launch->outputs[0]->spec.layout != TTNN_TILE;
}

static const struct tt_prog program = {
	.device_op = "EmbeddingsDeviceOperation",
	.prim = "ttnn::prim::embedding",
	.attrs = &schema,
	.infer = embedding_infer,
	.validate = embedding_validate,
	TT_FACTORIES(factories),
	.choose = embedding_choose,
	TT_KERNEL(embedding_kernel),
	.cost = embedding_cost,
};

/* ---- the operation ------------------------------------------------------------------------------------ */

/*
 * The table in rows and in four dimensions: upstream's wrapper converts one in tiles, which
 * costs a copy of the whole table each time.
 */
static tt_status table_of(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *weight)
{
	struct ttnn_shape shape;

	if (weight->spec.layout == TTNN_TILE) {
		const struct ttnn_arg args[] = {
			{NULL, ttnn_v_tensor(weight)},
			{NULL, tt_value_enum(&tt_enum_layout, TTNN_ROW_MAJOR)}};

		TT_TRY(tt_call_op(&weight, call, "ttnn.to_layout", args, TT_COUNT(args)));
		tt_call_own(call, weight);
	}
	*out = weight;
	if (weight->spec.shape.rank >= 4)
		return TTNN_OK;
	shape = TT_SHAPE(1, 1, tt_shape_last(&weight->spec.shape, 2),
			 tt_shape_last(&weight->spec.shape, 1));
	return tt_call_owned(call, tt_call_view(out, call, weight, &shape, &shape), out);
}

/* The indices as batches of one row each; those in tiles stay as they are. */
static tt_status indices_of(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *indices)
{
	const struct ttnn_shape *own = &indices->spec.shape;
	struct ttnn_shape shape;

	*out = indices;
	if (own->rank == 4 || indices->spec.layout == TTNN_TILE)
		return TTNN_OK;
	shape = TT_SHAPE(own->rank > 1 ? own->dim[0] : 1, 1, 1, tt_shape_last(own, 1));
	return tt_call_owned(call, tt_call_view(out, call, indices, &shape, &shape), out);
}

struct requests {
	struct tt_tensor *indices, *weight, *output; /* as given */
	enum ttnn_layout layout;
	enum ttnn_dtype dtype;
	bool fused; /* the program makes tiles itself, if the indices are no tiles */
};

/*
 * What the caller asked for and what that means: block floats cannot be tables of rows, so
 * bfloat16 comes out.
 */
static struct requests requests_of(const struct tt_call *call)
{
	struct requests w = {
		.indices = tt_call_tensor(call, "input_tensor"),
		.weight = tt_call_tensor(call, "weight"),
		.output = tt_call_tensor(call, "output_tensor"),
	};
	const struct ttnn_value *layout = tt_call_arg(call, "layout");

	w.layout =
		tt_value_given(layout) ? (enum ttnn_layout)layout->integer : w.weight->spec.layout;
	w.dtype = tt_call_dtype(call, "dtype",
				w.weight->spec.dtype == TTNN_BFLOAT8_B ? TTNN_BFLOAT16
								       : w.weight->spec.dtype);
	w.fused = w.layout == TTNN_TILE &&
		  tt_shape_last(&w.indices->spec.shape, 1) % TT_TILE == 0 &&
		  tt_shape_last(&w.weight->spec.shape, 1) % TT_TILE == 0;
	return w;
}

/* A padding index makes its row zeros, and another kernel. */
static tt_status embedding_gather(struct tt_tensor **out, struct tt_call *call,
				  const struct requests *w, struct tt_tensor *const inputs[INPUTS])
{
	const struct ttnn_value *pad = tt_call_arg(call, "padding_idx");
	struct ttnn_value attrs[schema_count];

	attrs[MEMORY] = tt_value_memory_or_like(call, w->indices);
	attrs[TILIZED] = ttnn_v_bool(w->fused);
	attrs[TYPE] = *tt_call_arg(call, "embeddings_type");
	if (tt_value_given(pad))
		attrs[TYPE] = tt_value_enum(&tt_enum_embeddings, TT_EMBEDDING_PADDED);
	attrs[PAD] = *pad;
	return TT_LAUNCH(out, call, &program, .attrs = attrs, .inputs = inputs,
			 .input_count = INPUTS, .outputs = &w->output, .output_count = 1);
}

/*
 * The result in the shape, layout and type that were asked for. The program gives [batch, 1,
 * indices, width] in its own layout; what is left is a view, a to_layout and a typecast, in this
 * order, and each one appears in recordings.
 */
static tt_status embedding_finish(struct tt_call *call, const struct requests *w,
				  struct tt_tensor *out)
{
	const struct ttnn_shape *own = &out->spec.shape;
	struct ttnn_shape shape =
		TT_SHAPE(own->dim[0], tt_shape_last(own, 2), tt_shape_last(own, 1));
	struct ttnn_shape padded;
	struct tt_tensor *next;

	if (w->indices->spec.shape.rank == 1)
		shape = TT_SHAPE(shape.dim[1], shape.dim[2]);
	padded = out->spec.layout == TTNN_TILE ? tt_shape_in_tiles(&shape) : shape;
	TT_TRY(tt_call_view(&next, call, tt_call_own(call, out), &shape, &padded));
	if (w->layout != next->spec.layout) {
		const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(next)},
						{NULL, tt_value_enum(&tt_enum_layout, w->layout)}};
		struct tt_tensor *other;
		tt_status status;

		status = tt_call_op(&other, call, "ttnn.to_layout", args, TT_COUNT(args));
		tt_call_overwrite(call, out);
		tt_call_overwrite(call, next);
		TT_TRY(status);
		next = other;
	}
	if (w->dtype != next->spec.dtype) {
		const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(next)},
						{NULL, ttnn_v_dtype(w->dtype)}};
		struct tt_tensor *other;

		tt_call_own(call, next);
		TT_TRY(tt_call_op(&other, call, "ttnn.typecast", args, TT_COUNT(args)));
		next = other;
	}
	tt_call_return(call, next);
	return TTNN_OK;
}

static tt_status embedding_expand(struct tt_call *call)
{
	struct requests w = requests_of(call);
	struct tt_tensor *inputs[INPUTS], *out;

	TT_TRY(tt_need_device(w.indices));
	TT_TRY(table_of(&inputs[WEIGHT], call, w.weight));
	TT_TRY(indices_of(&inputs[INDICES], call, w.indices));
	TT_REQUIRE(w.layout == TTNN_TILE || w.dtype == inputs[WEIGHT]->spec.dtype ||
			   inputs[WEIGHT]->spec.dtype != TTNN_BFLOAT16,
		   "!typecast_needed",
		   "Can only typecast output embeddings when producing TILE_LAYOUT output");
	TT_TRY(embedding_gather(&out, call, &w, inputs));
	if (!w.output)
		return embedding_finish(call, &w, out);
	tt_call_return(call, out);
	return TTNN_OK;
}

/* Where in a table the row begins that an index names. */
static tt_status golden_row(uint64_t *out, double index, uint64_t rows, uint64_t width)
{
	if (!(index >= 0 && index < (double)rows))
		return tt_fail(TTNN_INVALID, "index %g is outside of a table of %llu rows", index,
			       (unsigned long long)rows);
	*out = (uint64_t)index * width;
	return TTNN_OK;
}

static tt_status embedding_golden(struct tt_golden *golden)
{
	const struct tt_array *indices = tt_golden_in(golden, "input_tensor");
	const struct tt_array *weight = tt_golden_in(golden, "weight");
	struct ttnn_shape shape;
	struct tt_array *out;
	uint64_t width, row = 0;

	if (!indices || !weight)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	width = tt_shape_last(&weight->shape, 1);
	shape = TT_SHAPE(indices->shape.dim[0], tt_shape_last(&indices->shape, 1), (uint32_t)width);
	if (indices->shape.rank == 1)
		shape = TT_SHAPE(indices->shape.dim[0], (uint32_t)width);
	out = tt_golden_out(golden, &shape, tt_call_dtype(&golden->call, "dtype", weight->dtype));
	if (!out)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	if (out->count != indices->count * width)
		return tt_fail(TTNN_INVALID, "embedding takes indices in one or two dimensions");
	for (uint64_t i = 0; i < out->count; i++) {
		if (i % width == 0)
			TT_TRY(golden_row(&row, *tt_at(indices, i / width), weight->count / width,
					  width));
		*tt_at(out, i) = *tt_at(weight, row + i % width);
	}
	return TTNN_OK;
}

/* ---- gradients: every row of the table grows by those that came of it ------------------------- */

#define BW_ATTRS(X)                                                                                \
	X(BW_MEMORY, "output_mem_config")                                                          \
	X(BW_TYPE, "output_dtype")                                                                 \
	X(BW_ROWS, "num_embeddings")
TT_ATTRS(bw_schema, "EmbeddingBackwardParams", BW_ATTRS);

static tt_status bw_infer(struct tt_launch *launch)
{
	struct ttnn_shape shape = TT_SHAPE(1, 1, (uint32_t)launch->attrs[BW_ROWS].integer,
					   tt_shape_last(&launch->inputs[1]->spec.shape, 1));

	return tt_infer_one(launch, &shape, (enum ttnn_dtype)launch->attrs[BW_TYPE].integer,
			    TTNN_TILE);
}

static tt_status bw_check_gradient(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *index = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *grad = &launch->inputs[1]->spec;

	TT_REQUIRE(grad->layout == TTNN_TILE, "grad_tensor.layout() == Layout::TILE",
		   "Gradient tensor layout must be TILE but got Layout::ROW_MAJOR");
	TT_REQUIRE(grad->dtype == TTNN_BFLOAT16 || grad->dtype == TTNN_BFLOAT8_B,
		   "grad_tensor.dtype() == DataType::BFLOAT16 or grad_tensor.dtype() == "
		   "DataType::BFLOAT8_B",
		   "Output gradient tensor must be BFLOAT16 or BFLOAT8_B");
	TT_REQUIRE((int64_t)grad->dtype == launch->attrs[BW_TYPE].integer,
		   "grad_tensor.dtype() == args.output_dtype",
		   "Output and input gradient tensors must have the same dtype");
	TT_REQUIRE(grad->padded.rank == 4 && grad->padded.dim[0] == 1 && grad->padded.dim[1] == 1,
		   "grad_tensor_shape[0] == 1 && grad_tensor_shape[1] == 1",
		   "First two dimensions for the gradient tensor must be 1, but found %u && %u.",
		   tt_shape_last(&grad->padded, 4), tt_shape_last(&grad->padded, 3));
	TT_REQUIRE(grad->padded.dim[3] % TT_TILE == 0, "grad_tensor_shape[-1] % TILE_WIDTH == 0",
		   "Number of columns in the gradient tensor must be divisible by tile width");
	TT_REQUIRE(grad->padded.dim[2] == index->padded.dim[0] * index->padded.dim[3],
		   "grad_tensor_shape[2] == index_tensor_shape[0] * index_tensor_shape[-1]",
		   "Number of rows in gradient tensor must be equal to number of indices in index "
		   "tensor");
	return TTNN_OK;
}

static tt_status bw_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *index = &launch->inputs[0]->spec;

	TT_REQUIRE(index->layout == TTNN_ROW_MAJOR, "index_tensor.layout() == Layout::ROW_MAJOR",
		   "Error");
	TT_REQUIRE(index->dtype == TTNN_UINT32 || index->dtype == TTNN_BFLOAT16,
		   "index_tensor.dtype() == DataType::UINT32 or index_tensor.dtype() == "
		   "DataType::BFLOAT16",
		   "Index tensor must be UINT32 or BFLOAT16");
	TT_REQUIRE(index->padded.dim[3] % TT_TILE == 0, "index_tensor_shape[-1] % TILE_WIDTH == 0",
		   "Number of columns in the index tensor must be divisible by tile width");
	return bw_check_gradient(launch);
}

/*
 * Gradients are added column by column of tiles: a core has some columns and walks all indices,
 * 32 at a time. cb_mask says which of a chunk's rows belong to the row of the table that is
 * being added to.
 */
static tt_status bw_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *index = launch->inputs[0], *grad = launch->inputs[1];
	uint64_t tile = tt_tile_bytes_of(grad->spec.dtype);
	uint64_t out_tile = tt_tile_bytes_of(launch->outputs[0]->spec.dtype);
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid,
			     grad->spec.padded.dim[3] / TT_TILE, TTNN_ORIENT_COL_MAJOR));
	return TT_PLAN(
		plan, split.all, TT_CB_ROW(0, "cb_grad", .pages = split.units[0], .page = tile),
		TT_CB_ROW(1, "cb_index", .pages = 1, .page = TT_TILE * tt_element_bytes(index)),
		TT_CB_ROW(2, "cb_out_intermed", .pages = split.units[0], .page = out_tile),
		TT_CB_ROW(24, "cb_mask", .pages = 1, .page = TT_TILE),
		TT_CB_ROW(25, "cb_chunk_count_scratch", .pages = 1, .page = 16),
		TT_CB_ROW(16, "cb_id_out0", .pages = split.units[0], .page = out_tile));
}

static tt_status bw_kernel(struct tt_launch *launch)
{
	return tt_backend_get()->index(&(struct tt_index_job){.out = launch->outputs[0],
							      .in = launch->inputs[1],
							      .index = launch->inputs[0],
							      .kind = TT_INDEX_ADD_ROWS});
}

static const struct tt_prog bw_program = {
	.device_op = "EmbeddingBackwardDeviceOperation",
	.prim = "ttnn::prim::embedding_backward",
	.attrs = &bw_schema,
	.infer = bw_infer,
	.validate = bw_validate,
	TT_FACTORY("ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::prim::"
		   "EmbeddingBackwardDeviceOperation>::DirectDescriptorFactory",
		   bw_memory),
	TT_KERNEL(bw_kernel),
};

static tt_status bw_expand(struct tt_call *call)
{
	struct tt_tensor *index = tt_call_tensor(call, "input_tensor");
	struct tt_tensor *weight = tt_call_tensor(call, "weight_tensor");
	struct tt_tensor *grad = tt_call_tensor(call, "output_gradient_tensor");
	struct tt_tensor *given = tt_call_tensor(call, "output_tensor");
	const struct ttnn_shape *own = &index->spec.shape;
	struct ttnn_shape shape =
		TT_SHAPE(own->rank > 1 ? own->dim[0] : 1, 1, 1, tt_shape_last(own, 1));
	struct ttnn_value attrs[bw_schema_count] = {
		[BW_MEMORY] = tt_value_memory_or_like(call, grad),
		[BW_TYPE] = ttnn_v_dtype(tt_call_dtype(call, "dtype", grad->spec.dtype)),
		[BW_ROWS] = ttnn_v_int(tt_shape_last(&weight->spec.shape, 2)),
	};

	TT_TRY(tt_need_device(index));
	TT_TRY(tt_need_device(grad));
	if (!ttnn_shape_equal(own, &shape)) {
		TT_TRY(tt_call_view(&index, call, index, &shape, &shape));
		tt_call_own(call, index);
	}
	return TT_LAUNCH_RETURN(call, &bw_program, .attrs = attrs,
				.inputs = (struct tt_tensor *[]){index, grad}, .input_count = 2,
				TT_OUTPUTS(given));
}

static tt_status bw_golden(struct tt_golden *golden)
{
	const struct tt_array *index = tt_golden_in(golden, "input_tensor");
	const struct tt_array *weight = tt_golden_in(golden, "weight_tensor");
	const struct tt_array *grad = tt_golden_in(golden, "output_gradient_tensor");
	struct ttnn_shape shape;
	struct tt_array *out;
	uint64_t width, row = 0;

	if (!index || !weight || !grad)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	width = tt_shape_last(&grad->shape, 1);
	if (grad->count != index->count * width)
		return tt_fail(TTNN_INVALID, "%llu indices have no gradients of %llu numbers",
			       (unsigned long long)index->count, (unsigned long long)grad->count);
	shape = TT_SHAPE(1, 1, tt_shape_last(&weight->shape, 2), (uint32_t)width);
	out = tt_golden_out(golden, &shape, grad->dtype);
	if (!out)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	for (uint64_t i = 0; i < grad->count; i++) {
		if (i % width == 0)
			TT_TRY(golden_row(&row, *tt_at(index, i / width), shape.dim[2], width));
		*tt_at(out, row + i % width) += *tt_at(grad, i);
	}
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.embedding_bw",
	 .doc = "The gradient of the table: the sum of those of the rows that came of each row.",
	 .sigs = {"input_tensor: Tensor, weight_tensor: Tensor, output_gradient_tensor: Tensor, *, "
		  "dtype: DataType? = None, memory_config: MemoryConfig? = None, output_tensor: "
		  "Tensor? = None"},
	 .expand = bw_expand,
	 .golden = bw_golden,
	 TT_PROGRAMS(&bw_program)},
	{.name = "ttnn.embedding",
	 .doc = "The rows of a table that the indices name.",
	 .sigs = {"input_tensor: Tensor, weight: Tensor, *, padding_idx: int? = None, layout: "
		  "Layout? = None, embeddings_type: EmbeddingsType = GENERIC, dtype: DataType? = "
		  "None, memory_config: MemoryConfig? = None, output_tensor: Tensor? = None"},
	 .expand = embedding_expand,
	 .golden = embedding_golden,
	 .pcc = 0.9999,
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_embedding = {"embedding", ops, TT_COUNT(ops)};
