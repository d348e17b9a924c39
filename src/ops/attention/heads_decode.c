/*
 * heads_decode.c: heads while single tokens are made: a row for each user, a core for each too.
 *
 * Models, of ttnn 0.81 (experimental/transformer), NLPCreateQKVHeadsDecodeDeviceOperation with
 * its factories for interleaved and sharded rows, and NLPConcatHeadsDecodeDeviceOperation with
 * both of its factories (the grid from its corner, a sub-grid): refusals, memory, cores. Not
 * modelled: of the first, the factory of a part of the grid.
 */
#include "backend/backend.h"
#include "ops/attention/heads.h"
#include "ops/movement/movement.h"

/* ---- taking apart ------------------------------------------------------------------------------------ */

#define ATTRS(X)                                                                                   \
	X(Q_HEADS, "num_q_heads")                                                                  \
	X(KV_HEADS, "num_kv_heads")                                                                \
	X(HEAD_DIM, "head_dim")                                                                    \
	X(OVERLAP, "overlap_qk_coregrid")                                                          \
	X(OFFSET, "input_on_subcoregrids")                                                         \
	X(SLICE, "slice_size")                                                                     \
	X(MEMORY, "output_mem_config")
TT_ATTRS(schema, "NlpCreateQkvHeadsDecodeParams", ATTRS);
enum { IN, BATCH_OFFSET, INPUTS };

/* How many users: as many as rows, or as one slice of them has. */
static uint32_t users(const struct tt_launch *launch)
{
	return tt_value_given(&launch->attrs[SLICE])
		       ? tt_attr_u32(launch, SLICE)
		       : tt_shape_last(&launch->inputs[IN]->spec.shape, 2);
}

/* A user's heads are the rows of a tile, on a core of its own. */
static tt_status infer_one(struct ttnn_tensor_spec *out, const struct tt_launch *launch,
			   uint32_t heads, struct ttnn_core start)
{
	uint32_t width = tt_attr_u32(launch, HEAD_DIM);
	struct ttnn_shape shape = TT_SHAPE(1, users(launch), heads, width);
	struct ttnn_shard_spec shard = {.height = (uint32_t)tt_align_to(heads, TT_TILE),
					.width = width};
	struct ttnn_memory_config memory;

	TT_TRY(tt_split_cores(&shard.grid, launch->device->info.compute_grid, start, users(launch),
			      TTNN_ORIENT_ROW_MAJOR));
	TT_TRY(ttnn_memory_config_sharded(&memory, TTNN_HEIGHT_SHARDED, TTNN_L1, &shard));
	return tt_spec_simple(out, &shape, launch->inputs[IN]->spec.dtype, TTNN_TILE, &memory);
}

/*
 * Queries, keys and values are height sharded, user by user. Values share the queries' cores;
 * keys do too if overlap_qk_coregrid says so, else they follow behind.
 */
static tt_status heads_decode_infer(struct tt_launch *launch)
{
	struct ttnn_core zero = {0, 0}, next = {0, 0};
	uint32_t across = launch->device->info.compute_grid.x;

	/* Queries and keys beside each other: the keys' cores follow those of the queries. */
	if (!launch->attrs[OVERLAP].boolean)
		next = (struct ttnn_core){users(launch) % across, users(launch) / across};
	launch->output_count = 3;
	TT_TRY(infer_one(&launch->specs[0], launch, tt_attr_u32(launch, Q_HEADS), zero));
	TT_TRY(infer_one(&launch->specs[1], launch, tt_attr_u32(launch, KV_HEADS), next));
	return infer_one(&launch->specs[2], launch, tt_attr_u32(launch, KV_HEADS), zero);
}

static tt_status heads_decode_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;

	TT_REQUIRE(in->layout == TTNN_TILE, "input_tensor.layout() == Layout::TILE",
		   "Input tensor layout must be TILE but got Layout::%s",
		   tt_enum_name(&tt_enum_layout, in->layout));
	if (in->memory.has_shard && !launch->attrs[OVERLAP].boolean)
		TT_REQUIRE(tt_attr_u32(launch, HEAD_DIM) % in->memory.shard.width == 0,
			   "operation_attributes.head_dim % "
			   "input_tensor.shard_spec().value().shape[1] == 0",
			   "We don't support partial heads in shards when q and k heads are not "
			   "overlapping coregrid");
	return TTNN_OK;
}

/*
 * Lines of a face that memory cannot give alone, as they are shorter than what it is aligned to, are
 * read into a buffer that holds a head; its bytes. 0: they can be read where they are.
 */
static uint64_t line_of(const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[IN];
	uint64_t align = tt_memory_alignment(launch->device, in->spec.memory.buffer);

	if (tt_tensor_is_sharded(in) || tt_element_bytes(in) * TT_FACE >= align)
		return 0;
	return tt_attr_u32(launch, HEAD_DIM) * tt_element_bytes(in) + align;
}

/* The outputs, each where it lies; before them a tile of offsets when a slice is taken. */
static tt_status heads_decode_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *offset = launch->inputs[BATCH_OFFSET];
	static const char *const out_names[] = {"q_output_cb", "k_output_cb", "v_output_cb"};
	uint64_t tile = tt_tile_bytes_of(launch->inputs[IN]->spec.dtype), line = line_of(launch);

	if (offset)
		TT_TRY(TT_PLAN(plan, launch->outputs[0]->spec.memory.shard.grid,
			       TT_DFB_ROW(15, "batch_offset_cb", .pages = 1,
					  .page = tt_tile_bytes_of(offset->spec.dtype))));
	for (uint32_t i = 0; i < 3; i++) {
		struct tt_tensor *out = launch->outputs[i];

		TT_TRY(TT_PLAN(plan, out->spec.memory.shard.grid,
			       TT_DFB_ROW(16 + i, out_names[i], .pages = tt_shard_tiles(&out->spec),
					  .page = tile, .backing = out)));
	}
	return TT_PLAN(plan, launch->outputs[0]->spec.memory.shard.grid,
		       TT_DFB_ROW(19, "reader_scratch_cb", .pages = line != 0, .page = line),
		       TT_DFB_ROW(20, "writer_scratch_cb", .pages = line != 0, .page = line));
}

static tt_status heads_decode_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = tt_tensor_is_sharded(launch->inputs[IN]);
	return TTNN_OK;
}

/* Row u, columns of head h, to [0, u, h]: from a row on that a slice of users begins with. */
static tt_status decode_heads_take(struct tt_tensor *out, struct tt_tensor *in, uint32_t row,
				   uint32_t column)
{
	const struct ttnn_shape *shape = &out->spec.shape;
	const struct tt_move_loop loops[] = {
		{shape->dim[1], 2, 1, 1, 1},
		{shape->dim[2], 3, 2, shape->dim[3], 1},
		{shape->dim[3], 3, 3, 1, 1},
	};
	struct tt_move_job job = {.out = out, .in = in, .loops = loops, .loop_count = 3};

	job.in_start[2] = row;
	job.in_start[3] = column;
	return tt_backend_get()->move(&job);
}

/* batch_offset says which part of the users this device has, in slices. */
static tt_status heads_decode_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[IN], *offset = launch->inputs[BATCH_OFFSET];
	uint32_t width = tt_attr_u32(launch, HEAD_DIM), q = tt_attr_u32(launch, Q_HEADS) * width,
		 row = 0;

	if (offset && offset->spec.shape.rank) {
		double first = 0;

		TT_TRY(tt_tensor_numbers(&first, 1, offset));
		row = (uint32_t)first * users(launch);
	}
	if (row + users(launch) > tt_shape_last(&in->spec.shape, 2))
		return tt_fail(TTNN_INVALID, "the slice of users ends beyond the input");
	TT_TRY(decode_heads_take(launch->outputs[0], in, row, 0));
	TT_TRY(decode_heads_take(launch->outputs[1], in, row, q));
	return decode_heads_take(launch->outputs[2], in, row,
				 q + tt_attr_u32(launch, KV_HEADS) * width);
}

static const struct tt_factory factories[] = {
	{.name = "ttnn::experimental::prim::NLPCreateQKVHeadsDecodeInterleavedProgramFactory",
	 .memory = heads_decode_rows},
	{.name = "ttnn::experimental::prim::NLPCreateQKVHeadsDecodeShardedProgramFactory",
	 .memory = heads_decode_rows},
};
static const struct tt_prog program = {
	.device_op = "NLPCreateQKVHeadsDecodeDeviceOperation",
	.prim = "ttnn::prim::nlp_create_qkv_heads_decode",
	.attrs = &schema,
	.infer = heads_decode_infer,
	.validate = heads_decode_validate,
	TT_FACTORIES(factories),
	.choose = heads_decode_choose,
	TT_KERNEL(heads_decode_kernel),
	.cost = tt_cost_unmodelled_move,
};

static tt_status decode_heads_create(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	struct tt_tensor *const inputs[INPUTS] = {in, tt_call_tensor(call, "batch_offset")};
	int64_t heads = tt_call_int(call, "num_heads", 0);
	int64_t kv_heads = tt_call_int(call, "num_kv_heads", heads);
	const struct ttnn_value *list = tt_call_arg(call, "output_tensors");
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct ttnn_memory_config shards = {
		.layout = TTNN_HEIGHT_SHARDED, .buffer = TTNN_L1, .has_shard = true};
	struct tt_tensor *given[3] = {0};
	struct ttnn_value attrs[schema_count];

	TT_TRY(tt_need_dim(&in->spec.padded, 3));
	if (heads <= 0 || kv_heads <= 0)
		return tt_fail(TTNN_INVALID, "the number of heads must be positive");
	TT_REQUIRE(in->spec.padded.dim[3] % (heads + 2 * kv_heads) == 0,
		   "input_tensor.padded_shape()[3] % (num_heads + 2 * num_kv_heads_val) == 0",
		   "Unsupported input shape");
	for (uint32_t i = 0; list->kind == TTNN_VALUE_LIST && i < 3 && i < list->count; i++)
		given[i] = list->items[i].tensor;
	attrs[Q_HEADS] = ttnn_v_int(heads);
	attrs[KV_HEADS] = ttnn_v_int(kv_heads);
	attrs[HEAD_DIM] = ttnn_v_int(in->spec.padded.dim[3] / (heads + 2 * kv_heads));
	attrs[OVERLAP] = ttnn_v_bool(!tt_tensor_is_sharded(in) ||
				     tt_call_bool(call, "overlap_qk_coregrid", true));
	attrs[OFFSET] = ttnn_v_bool(false);
	attrs[SLICE] = *tt_call_arg(call, "slice_size");
	shards.shard.grid = memory && memory->has_shard ? memory->shard.grid
			    : tt_tensor_device(in)      ? tt_tensor_device(in)->grid
							: NULL;
	shards.has_shard = shards.shard.grid != NULL;
	attrs[MEMORY] = ttnn_v_memory(&shards);
	return TT_LAUNCH_RETURN(call, &program, .attrs = attrs, .inputs = inputs,
				.input_count = INPUTS, .outputs = given, .output_count = 3);
}

/* ---- putting together ---------------------------------------------------------------------------------- */

#define CONCAT_ATTRS(X)                                                                            \
	X(HEADS, "num_heads")                                                                      \
	X(ON_SUBGRID, "on_subcoregrids")                                                           \
	X(SUBGRID, "sub_core_grids", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>")
TT_ATTRS(concat_schema, "NlpConcatHeadsDecodeParams", CONCAT_ATTRS);

/* One row for each user, padded to a tile, a head on a core. */
static tt_status decode_concat_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_value *subgrid = &launch->attrs[SUBGRID];
	uint32_t heads = (uint32_t)launch->attrs[HEADS].integer;
	struct ttnn_shard_spec shard = {.height = TT_TILE};
	struct ttnn_memory_config memory;
	struct ttnn_shape shape;

	if (launch->outputs[0]) {
		launch->specs[0] = launch->outputs[0]->spec;
		return TTNN_OK;
	}
	TT_TRY(tt_need_dim(&in->shape, 3));
	shard.width = in->shape.dim[3];
	shape = TT_SHAPE(in->shape.dim[0], 1, TT_TILE, shard.width * heads);
	if (subgrid->kind == TTNN_VALUE_CORE_SET && in->memory.has_shard)
		TT_TRY(tt_split_cores_in(&shard.grid, subgrid->core_set,
					 ttnn_core_set_ranges(in->memory.shard.grid, NULL)[0].start,
					 heads, TTNN_ORIENT_ROW_MAJOR));
	else
		TT_TRY(tt_split_cores(&shard.grid, launch->device->info.compute_grid,
				      (struct ttnn_core){0, 0}, heads, TTNN_ORIENT_ROW_MAJOR));
	TT_TRY(ttnn_memory_config_sharded(&memory, TTNN_WIDTH_SHARDED, TTNN_L1, &shard));
	return tt_spec_simple(&launch->specs[0], &shape, in->dtype, TTNN_TILE, &memory);
}

static tt_status decode_concat_validate(struct tt_launch *launch)
{
	TT_REQUIRE(tt_tensor_is_sharded(launch->inputs[0]), "input_tensor.is_sharded()",
		   "Input tensor must be sharded");
	return TTNN_OK;
}

static tt_status decode_concat_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *out = launch->outputs[0];

	return TT_PLAN(plan, out->spec.memory.shard.grid,
		       TT_DFB_ROW(16, "q_output_cb", .pages = tt_shard_tiles(&out->spec),
				  .page = tt_tile_bytes_of(out->spec.dtype), .backing = out));
}

static tt_status decode_concat_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = launch->attrs[ON_SUBGRID].boolean;
	return TTNN_OK;
}

/* Rows of users that are not there are 0. */
static tt_status decode_concat_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	uint32_t heads = (uint32_t)launch->attrs[HEADS].integer;
	const struct ttnn_shape *shape = &in->spec.shape;
	uint32_t most = shape->dim[2] < heads ? shape->dim[2] : heads;
	const struct tt_move_loop loops[] = {
		{shape->dim[1] < TT_TILE ? shape->dim[1] : TT_TILE, 1, 2, 1, 1},
		{most, 2, 3, 1, shape->dim[3]},
		{shape->dim[3], 3, 3, 1, 1},
	};

	TT_TRY(tt_backend_get()->fill(out, 0, TT_FILL_ALL));
	return tt_backend_get()->move(
		&(struct tt_move_job){.out = out, .in = in, .loops = loops, .loop_count = 3});
}

static const struct tt_factory concat_factories[] = {
	{.name = "ttnn::experimental::prim::NLPConcatHeadsDecodeProgramFactory",
	 .memory = decode_concat_rows},
	{.name = "ttnn::experimental::prim::NLPConcatHeadsDecodeSubcoregridsProgramFactory",
	 .memory = decode_concat_rows},
};
static const struct tt_prog concat_program = {
	.device_op = "NLPConcatHeadsDecodeDeviceOperation",
	.prim = "ttnn::prim::nlp_concat_heads_decode",
	.attrs = &concat_schema,
	.infer = decode_concat_infer,
	.validate = decode_concat_validate,
	TT_FACTORIES(concat_factories),
	.choose = decode_concat_choose,
	TT_KERNEL(decode_concat_kernel),
	.cost = tt_cost_unmodelled_move,
};

static tt_status decode_concat(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	struct tt_tensor *given = tt_call_tensor(call, "output_tensor");
	const ttnn_core_set *subgrid = tt_call_core_set(call, "sub_core_grids");
	int64_t heads = tt_call_int(call, "num_heads", 0);
	struct ttnn_value attrs[concat_schema_count];

	if (heads <= 0)
		return tt_fail(TTNN_INVALID, "the number of heads must be positive");
	attrs[HEADS] = ttnn_v_int(heads);
	attrs[ON_SUBGRID] = ttnn_v_bool(subgrid != NULL);
	attrs[SUBGRID] = subgrid ? ttnn_v_core_set(subgrid) : ttnn_v_none();
	return TT_LAUNCH_RETURN(call, &concat_program, .attrs = attrs, TT_INPUTS(in),
				TT_OUTPUTS(given));
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.nlp_concat_heads_decode",
	 .doc = "The heads of each user beside each other, a core for each head.",
	 .sigs = {"input_tensor: Tensor, *, num_heads: int, memory_config: MemoryConfig? = None, "
		  "output_tensor: Tensor? = None, sub_core_grids: CoreRangeSet? = None"},
	 .expand = decode_concat,
	 .golden = tt_golden_concat_heads_decode,
	 .pcc = 0.9999,
	 TT_PROGRAMS(&concat_program)},
	{.name = "ttnn.experimental.nlp_create_qkv_heads_decode",
	 .doc = "Queries, keys and values of each head and user, a core for each user.",
	 .sigs = {"input_tensor: Tensor, *, num_heads: int, num_kv_heads: int? = None, "
		  "output_tensors: Tensors? = None, overlap_qk_coregrid: bool? = True, "
		  "batch_offset: Tensor? = None, slice_size: int? = None, memory_config: "
		  "MemoryConfig? = None"},
	 .expand = decode_heads_create,
	 .golden = tt_golden_create_heads_decode,
	 .pcc = 0.9999,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_heads_decode = {"heads_decode", ops, TT_COUNT(ops)};
