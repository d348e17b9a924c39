/*
 * heads_separate.c: heads out of blocks of queries and blocks of keys and values, in which the values of a head follow its
 * keys; and the heads of BERT large back beside each other.
 *
 * Models CreateQKVHeadsSeparateTensorsDeviceOperation and ConcatenateHeadsDeviceOperation of ttnn 0.81: memory, refusals.
 * The latter takes one shape alone, and twelve columns of cores, which few chips have.
 */
#include "backend/backend.h"
#include "ops/attention/heads.h"
#include "ops/movement/movement.h"
#include "ops/objects.h"

#define ATTRS(X)                                                                                   \
	X(HEADS, "num_q_heads")                                                                    \
	X(KV_HEADS, "num_kv_heads")                                                                \
	X(WIDTH, "head_dim")                                                                       \
	X(TRANSPOSE, "transpose_k_heads")                                                          \
	X(MEMORY, "output_mem_config")
TT_ATTRS(schema, "CreateQKVHeadsFromSeparateTensorsParams", ATTRS);
enum { Q, KV };

/* ---- queries apart from keys and values --------------------------------------------------------------- */

static uint32_t number(const struct tt_launch *launch, int attr)
{
	return (uint32_t)launch->attrs[attr].integer;
}

/* Cores across the rows and across the columns of the queries. */
static tt_status spans(uint32_t *down, uint32_t *across, const struct tt_launch *launch)
{
	const struct ttnn_shard_spec *shard = &launch->inputs[Q]->spec.memory.shard;
	bool turned = shard->orientation != TTNN_ORIENT_ROW_MAJOR;
	struct ttnn_core_range box;

	TT_TRY(tt_core_set_box(&box, shard->grid));
	*down = (turned ? box.end.x : box.end.y) + 1;
	*across = (turned ? box.end.y : box.end.x) + 1;
	return TTNN_OK;
}

static struct ttnn_shape shape_of(const struct tt_launch *launch, int which)
{
	const uint32_t *in = launch->inputs[which ? KV : Q]->spec.padded.dim;
	uint32_t heads = number(launch, which ? KV_HEADS : HEADS), width = number(launch, WIDTH);

	if (which == 1 && launch->attrs[TRANSPOSE].boolean)
		return TT_SHAPE(in[0], heads, width, in[2]);
	return TT_SHAPE(in[0], heads, in[2], width);
}

/* On the cores of the queries, an equal part each, whatever shards were asked for. */
/* What is not cut into shards says all the same which ones it would have, as upstream's does. */
static void name_shards(struct ttnn_memory_config *memory, const struct ttnn_shard_spec *shard)
{
	memory->has_shard = memory->has_nd_shard = true;
	memory->shard = *shard;
	memory->nd_shard =
		(struct ttnn_nd_shard_spec){.shape = TT_SHAPE(shard->height, shard->width),
					    .grid = shard->grid,
					    .orientation = shard->orientation,
					    .strategy = TTNN_ROUND_ROBIN_1D};
}

static tt_status separate_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *q = &launch->inputs[Q]->spec;
	const struct ttnn_memory_config *wanted = launch->attrs[MEMORY].memory;
	struct ttnn_core_range box;
	uint64_t cores;

	launch->output_count = 3;
	if (tt_infer_given(launch, 0) && tt_infer_given(launch, 1) && tt_infer_given(launch, 2))
		return TTNN_OK;
	TT_NEED(q->memory.has_shard, "bad optional access");
	TT_TRY(tt_core_set_box(&box, q->memory.shard.grid));
	cores = (uint64_t)(box.end.x - box.start.x + 1) * (box.end.y - box.start.y + 1);
	for (int i = 0; i < 3; i++) {
		struct ttnn_shape shape = shape_of(launch, i);
		struct ttnn_memory_config memory = *wanted;
		struct ttnn_shard_spec shard = q->memory.shard;

		shard.height =
			(uint32_t)((uint64_t)shape.dim[0] * shape.dim[1] * shape.dim[2] / cores);
		shard.width = shape.dim[3];
		if (tt_memory_config_is_sharded(wanted))
			TT_TRY(ttnn_memory_config_sharded(&memory, wanted->layout, wanted->buffer,
							  &shard));
		TT_TRY(tt_spec_simple(&launch->specs[i], &shape, q->dtype, TTNN_TILE, &memory));
		if (!tt_memory_config_is_sharded(wanted))
			name_shards(&launch->specs[i].memory, &shard);
	}
	return TTNN_OK;
}

static tt_status check_kinds(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *q = &launch->inputs[Q]->spec;
	const struct ttnn_tensor_spec *kv = &launch->inputs[KV]->spec;

	TT_REQUIRE(q->dtype == TTNN_FLOAT32 || q->dtype == TTNN_BFLOAT16 ||
			   q->dtype == TTNN_BFLOAT8_B,
		   "q_input_tensor.dtype() == tt::tt_metal::DataType::FLOAT32 || "
		   "q_input_tensor.dtype() == tt::tt_metal::DataType::BFLOAT16 || "
		   "q_input_tensor.dtype() == tt::tt_metal::DataType::BFLOAT8_B",
		   "Unsupported data format");
	TT_REQUIRE(kv->dtype == q->dtype, "kv_input_tensor.dtype() == q_input_tensor.dtype()",
		   "Unsupported data format");
	TT_REQUIRE(q->layout == TTNN_TILE && kv->layout == TTNN_TILE,
		   "q_input_tensor.layout() == Layout::TILE && kv_input_tensor.layout() == "
		   "Layout::TILE",
		   "Q and KV input tensors must have TILE layout but got Q: Layout::%s, KV: "
		   "Layout::%s",
		   tt_enum_name(&tt_enum_layout, q->layout),
		   tt_enum_name(&tt_enum_layout, kv->layout));
	TT_REQUIRE(tt_memory_config_is_sharded(&q->memory) &&
			   tt_memory_config_is_sharded(&kv->memory),
		   "q_input_tensor.is_sharded() && kv_input_tensor.is_sharded()",
		   "Operands to TM must be sharded");
	TT_NEED(q->memory.has_shard, "bad optional access");
	TT_REQUIRE(q->memory.layout == TTNN_BLOCK_SHARDED,
		   "q_input_tensor.memory_config().memory_layout() == "
		   "TensorMemoryLayout::BLOCK_SHARDED",
		   "Q input tensor memory layout must be BLOCK_SHARDED but got "
		   "TensorMemoryLayout::%s",
		   tt_enum_name(&tt_enum_memory_layout, q->memory.layout));
	TT_REQUIRE(kv->memory.layout == TTNN_BLOCK_SHARDED,
		   "kv_input_tensor.memory_config().memory_layout() == "
		   "TensorMemoryLayout::BLOCK_SHARDED",
		   "KV input tensor memory layout must be BLOCK_SHARDED but got "
		   "TensorMemoryLayout::%s",
		   tt_enum_name(&tt_enum_memory_layout, kv->memory.layout));
	return TTNN_OK;
}

/* Whole tiles for every core. */
static tt_status check_even(const struct tt_launch *launch, uint32_t down, uint32_t across)
{
	static const char *const conditions[][2] = {
		{"q_input_shape[3] % (num_w_cores * TILE_WIDTH) == 0",
		 "q_input_shape[0] * q_input_shape[2] % (num_h_cores * TILE_HEIGHT) == 0"},
		{"kv_input_shape[3] % (num_w_cores * TILE_WIDTH) == 0",
		 "kv_input_shape[0] * kv_input_shape[2] % (num_h_cores * TILE_HEIGHT) == 0"},
	};

	for (int i = Q; i <= KV; i++) {
		const uint32_t *dim = launch->inputs[i]->spec.padded.dim;

		TT_REQUIRE(dim[3] % (across * TT_TILE) == 0, conditions[i][0],
			   "Flattened hidden dimension %u must be a multiple of width cores %u * "
			   "tile width 32 to ensure that each core gets an even amount of tiles",
			   dim[3], across);
		TT_REQUIRE((uint64_t)dim[0] * dim[2] % ((uint64_t)down * TT_TILE) == 0,
			   conditions[i][1],
			   "Batch %u * Seq Len %u must be a multiple of height cores %u * tile "
			   "height 32 to ensure that each core gets an even amount of tiles",
			   dim[0], dim[2], down);
	}
	return TTNN_OK;
}

/* Tiles of a core: of queries, by upstream's count, and of keys. */
static tt_status check_room(const struct tt_launch *launch, uint32_t down, uint32_t across)
{
	const uint32_t *q = launch->inputs[Q]->spec.padded.dim;
	const uint32_t *kv = launch->inputs[KV]->spec.padded.dim;
	uint64_t q_rows = (uint64_t)q[0] * q[2] / ((uint64_t)across * TT_TILE);
	uint64_t q_cols = q[3] / (across * TT_TILE), k_cols = kv[3] / (2 * across * TT_TILE);
	uint64_t k_rows = (uint64_t)kv[0] * kv[2] / ((uint64_t)down * TT_TILE), bytes;

	TT_REQUIRE(q_rows > 0, "q_shard_ht > 0", "0 height shards on Q");
	TT_REQUIRE(q_cols > 0, "q_shard_wt > 0", "0 width shards on Q");
	TT_REQUIRE(k_rows > 0, "k_shard_ht > 0", "0 height shards on K");
	TT_REQUIRE(k_cols > 0, "k_shard_wt > 0", "0 width shards on K");
	bytes = 2 * (q_rows * q_cols + 2 * k_rows * k_cols) *
		tt_tile_bytes_of(launch->inputs[Q]->spec.dtype);
	TT_REQUIRE(launch->device->profile->arch.l1_bytes >= bytes,
		   "l1_size >= 2 * (per_core_q_tiles + 2 * per_core_k_tiles) * single_tile_size",
		   "Workload exceeds L1 capacity");
	TT_REQUIRE(q[0] == down, "q_input_shape[0] == num_h_cores",
		   "Batch size %u must be equal to num cores %u", q[0], down);
	return TTNN_OK;
}

static tt_status separate_validate(struct tt_launch *launch)
{
	const uint32_t *q = launch->inputs[Q]->spec.padded.dim;
	const uint32_t *kv = launch->inputs[KV]->spec.padded.dim;
	uint32_t heads = number(launch, HEADS), kv_heads = number(launch, KV_HEADS), down, across;

	TT_TRY(check_kinds(launch));
	TT_TRY(spans(&down, &across, launch));
	TT_REQUIRE(heads % across == 0, "operation_attributes.num_q_heads % num_w_cores == 0",
		   "Number of q heads %u must fit evenly into cores %u", heads, across);
	TT_REQUIRE(kv_heads % across == 0, "operation_attributes.num_kv_heads % num_w_cores == 0",
		   "Number of kv heads %u must fit evenly into cores %u", kv_heads, across);
	TT_REQUIRE(q[1] == 1 && kv[1] == 1, "q_input_shape[1] == 1 && kv_input_shape[1] == 1",
		   "Unsupported input shape");
	TT_REQUIRE(q[0] == kv[0], "q_input_shape[0] == kv_input_shape[0]",
		   "Q %u and KV %u batch size must match", q[0], kv[0]);
	TT_TRY(check_even(launch, down, across));
	TT_REQUIRE(q[3] / heads == kv[3] / (2 * kv_heads),
		   "(q_input_shape[3] / (operation_attributes.num_q_heads)) == (kv_input_shape[3] "
		   "/ (2 * operation_attributes.num_kv_heads))",
		   "Head dims must be equal in size! Q %u num_heads %u KV %u num_heads %u", q[3],
		   heads, kv[3], kv_heads);
	return check_room(launch, down, across);
}

/* All where they lie; keys pass through tiles of their own to be transposed. */
static tt_status separate_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *const *in = launch->inputs, *const *out = launch->outputs;
	uint64_t tile = tt_tile_bytes_of(in[Q]->spec.dtype), q = tt_shard_tiles(&in[Q]->spec);
	uint64_t k = tt_shard_tiles(&in[KV]->spec) / 2;

	return TT_PLAN(plan, in[Q]->spec.memory.shard.grid,
		       TT_CB_ROW(0, "q_in", .pages = q, .page = tile, .backing = in[Q]),
		       TT_CB_ROW(1, "kv_in", .pages = 2 * k, .page = tile, .backing = in[KV]),
		       TT_CB_ROW(16, "q", .pages = q, .page = tile, .backing = out[0]),
		       TT_CB_ROW(17, "k", .pages = k, .page = tile, .backing = out[1]),
		       TT_CB_ROW(18, "v", .pages = k, .page = tile, .backing = out[2]),
		       TT_CB_ROW(24, "k_untransposed",
				 .pages = launch->attrs[TRANSPOSE].boolean ? k : 0, .page = tile));
}

/* Queries, keys or values of every head. */
static tt_status separate_take(const struct tt_launch *launch, uint32_t which)
{
	uint32_t heads = number(launch, which ? KV_HEADS : HEADS), width = number(launch, WIDTH);
	struct tt_tensor *in = launch->inputs[which ? KV : Q];
	bool turned = which == 1 && launch->attrs[TRANSPOSE].boolean;
	const struct tt_move_loop loops[] = {
		{heads, 3, 1, which ? 2 * width : width, 1},
		{in->spec.shape.dim[0], 0, 0, 1, 1},
		{in->spec.shape.dim[2], 2, turned ? 3 : 2, 1, 1},
		{width, 3, turned ? 2 : 3, 1, 1},
	};
	struct tt_tensor *out = launch->outputs[which];

	if (in->spec.shape.dim[2] != in->spec.padded.dim[2])
		TT_TRY(tt_backend_get()->fill(out, 0, TT_FILL_ALL));
	return tt_backend_get()->move(&(struct tt_move_job){
		.out = out,
		.in = in,
		.loops = loops,
		.loop_count = TT_COUNT(loops),
		.in_start = {0, 0, 0, which == 2 ? width : 0},
	});
}

static tt_status separate_kernel(struct tt_launch *launch)
{
	for (uint32_t i = 0; i < 3; i++)
		TT_TRY(separate_take(launch, i));
	return TTNN_OK;
}

static const struct tt_prog program = {
	.device_op = "CreateQKVHeadsSeparateTensorsDeviceOperation",
	.prim = "ttnn::prim::create_qkv_heads_from_separate_tensors",
	.attrs = &schema,
	.infer = separate_infer,
	.validate = separate_validate,
	TT_FACTORY("ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::experimental::prim::"
		   "CreateQKVHeadsSeparateTensorsDeviceOperation>::DirectDescriptorFactory",
		   separate_memory),
	TT_KERNEL(separate_kernel),
	.drops_forward = true,
	.mute = true,
	.cost = tt_cost_unmodelled_move,
};

static tt_status separate(struct tt_call *call)
{
	struct tt_tensor *q = tt_call_tensor(call, "input"), *kv = tt_call_tensor(call, "input_kv");
	const struct ttnn_value *list = tt_call_arg(call, "output_tensors");
	int64_t heads = tt_call_int(call, "num_heads", 0);
	int64_t kv_heads = tt_call_int(call, "num_kv_heads", heads);

	TT_TRY(tt_need_device(q));
	TT_TRY(tt_need_dim(&q->spec.padded, 3));
	TT_TRY(tt_need_dim(&kv->spec.padded, 3));
	TT_NEED(heads > 0 && kv_heads > 0, "there must be heads");
	TT_REQUIRE(q->spec.padded.dim[3] % heads == 0,
		   "input_tensor_q.padded_shape()[3] % num_q_heads == 0",
		   "Flattened Q hidden dimension %u must be a multiple of Q heads %lld",
		   q->spec.padded.dim[3], (long long)heads);
	return TT_LAUNCH_RETURN(
		call, &program, TT_INPUTS(q, kv),
		TT_OUTPUTS(tt_value_item_tensor(list, 0), tt_value_item_tensor(list, 1),
			   tt_value_item_tensor(list, 2)),
		TT_BIND(call,
			schema, [HEADS] = ttnn_v_int(heads), [KV_HEADS] = ttnn_v_int(kv_heads),
			[WIDTH] = ttnn_v_int(q->spec.padded.dim[3] / heads),
			[MEMORY] = tt_value_memory_or_like(call, q)));
}

/* ---- the heads of BERT large ------------------------------------------------------------------------- */

#define CONCAT_ATTRS(X)                                                                            \
	X(CONCAT_GRID, "compute_with_storage_grid_size", .text = TT_TEXT_FIXED,                    \
	  .fixed = "<xy_pair>")                                                                    \
	X(CONCAT_MEMORY, "output_mem_config")
TT_ATTRS(concat_schema, "ConcatenateHeadsParams", CONCAT_ATTRS);
enum { BERT_HEADS = 16, BERT_ROWS = 384, BERT_WIDTH = 64 };

static struct ttnn_shape concat_shape(const struct tt_launch *launch)
{
	return TT_SHAPE(launch->inputs[0]->spec.padded.dim[0], 1, BERT_ROWS,
			BERT_HEADS * BERT_WIDTH);
}

static tt_status bert_concat_infer(struct tt_launch *launch)
{
	struct ttnn_shape shape;

	TT_TRY(tt_need_dim(&launch->inputs[0]->spec.padded, 0));
	shape = concat_shape(launch);
	return tt_infer_one(launch, &shape, launch->inputs[0]->spec.dtype, TTNN_TILE);
}

static tt_status bert_concat_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;
	uint32_t batch = in->padded.dim[0];
	const struct ttnn_shape shape = concat_shape(launch);
	const struct ttnn_shape wanted = TT_SHAPE(batch, BERT_HEADS, BERT_ROWS, BERT_WIDTH);
	struct ttnn_core grid = launch->attrs[CONCAT_GRID].core, most = tt_grid_size(launch->grid);

	TT_REQUIRE(batch >= 7 && batch <= 9, "batch_size >= 7 && batch_size <= 9",
		   "Input batch size must be between 7 to 9 for bert large TM ops!");
	TT_REQUIRE(in->dtype == TTNN_BFLOAT16 || in->dtype == TTNN_BFLOAT8_B,
		   "input_tensor.dtype() == tt::tt_metal::DataType::BFLOAT16 || "
		   "input_tensor.dtype() == tt::tt_metal::DataType::BFLOAT8_B",
		   "Unsupported data format");
	TT_REQUIRE(ttnn_shape_equal(&in->padded, &wanted),
		   "(input_tensor.padded_shape() == ttnn::Shape({batch_size, 16, 384, 64}))",
		   "Unsupported input shape");
	TT_REQUIRE(out->dtype == in->dtype,
		   "preallocated_output.value().dtype() == input_tensor.dtype()",
		   "Output dtype must be same as input dtype!");
	TT_REQUIRE(ttnn_shape_equal(&out->padded, &shape),
		   "preallocated_output.value().padded_shape() == ttnn::Shape({batch_size, 1, 384, "
		   "1024})",
		   "Output shape must be (batch_size, 1, 384, 1024)!");
	TT_REQUIRE(grid.x <= most.x && grid.y <= most.y,
		   "(args.compute_with_storage_grid_size.x <= "
		   "device_compute_with_storage_grid_size.x && "
		   "args.compute_with_storage_grid_size.y <= "
		   "device_compute_with_storage_grid_size.y)",
		   "Unsupported grid shape");
	return TTNN_OK;
}

/* A column of cores for each row of tiles, a row for each batch, whatever grid was given. */
static tt_status bert_concat_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const ttnn_core_set *cores;

	TT_TRY(tt_core_set_grid(&cores, BERT_ROWS / TT_TILE,
				launch->inputs[0]->spec.padded.dim[0]));
	return TT_PLAN(plan, cores,
		       TT_CB_ROW(0, "cb_src0", .pages = 2 * BERT_HEADS * BERT_WIDTH / TT_TILE,
				 .page = tt_page_in0(launch)));
}

static tt_status bert_concat_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	const uint32_t *dim = in->spec.shape.dim;
	const struct tt_move_loop loops[] = {
		{dim[0], 0, 0, 1, 1},
		{dim[1], 1, 3, 1, BERT_WIDTH},
		{dim[2], 2, 2, 1, 1},
		{dim[3], 3, 3, 1, 1},
	};

	if (!ttnn_shape_equal(&in->spec.shape, &in->spec.padded))
		TT_TRY(tt_backend_get()->fill(out, 0, TT_FILL_ALL));
	return tt_backend_get()->move(&(struct tt_move_job){
		.out = out, .in = in, .loops = loops, .loop_count = TT_COUNT(loops)});
}

static const struct tt_prog concat_program = {
	.device_op = "ConcatenateHeadsDeviceOperation",
	.prim = "ttnn::prim::concatenate_heads",
	.attrs = &concat_schema,
	.infer = bert_concat_infer,
	.validate = bert_concat_validate,
	TT_FACTORY("ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::experimental::prim::"
		   "ConcatenateHeadsDeviceOperation>::DirectDescriptorFactory",
		   bert_concat_memory),
	TT_KERNEL(bert_concat_kernel),
	.cost = tt_cost_unmodelled_move,
};

static tt_status concatenate(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	struct ttnn_value grid = {.kind = TTNN_VALUE_CORE};

	TT_TRY(tt_need_device(in));
	tt_object_core(&grid.core, tt_call_arg(call, "compute_with_storage_grid_size"));
	return TT_LAUNCH_RETURN(call, &concat_program, TT_INPUTS(in),
				TT_OUTPUTS(tt_call_tensor(call, "output_tensor")),
				TT_BIND(call, concat_schema, [CONCAT_GRID] = grid,
					[CONCAT_MEMORY] = tt_value_memory_or_like(call, in)));
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.concatenate_heads",
	 .doc = "The heads of BERT large beside each other: sixteen, 64 wide, of 384 rows.",
	 .sigs = {"input_tensor: Tensor, compute_with_storage_grid_size: CoreCoord, *, "
		  "memory_config: MemoryConfig? = None, output_tensor: Tensor? = None"},
	 .expand = concatenate,
	 .golden = tt_golden_concat_bert_heads,
	 .pcc = 0.9999,
	 TT_PROGRAMS(&concat_program)},
	{.name = "ttnn.experimental.create_qkv_heads_from_separate_tensors",
	 .doc = "Queries of each head out of blocks, keys and values out of others.",
	 .sigs = {"input: Tensor, input_kv: Tensor, *, num_heads: int, num_kv_heads: int? = None, "
		  "transpose_k_heads: bool = True, memory_config: MemoryConfig? = None, "
		  "output_tensors: any? = None"},
	 .expand = separate,
	 .golden = tt_golden_separate_heads,
	 .pcc = 0.9999,
	 .gives = "Tensor, Tensor, Tensor",
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_heads_separate = {"heads_separate", ops, TT_COUNT(ops)};
