/*
 * heads_groups.c: heads out of fused rows that are in blocks: for each head of keys its queries,
 * then the keys, then the values. Every core keeps the groups that it has, so nothing travels.
 *
 * Models CreateQKVHeadsDeviceOperation of ttnn 0.81 (experimental/transformer) with its one
 * factory, and the form for keys and values apart: memory, refusals. Not modelled: kernels'
 * addresses within a shard.
 */
#include "backend/backend.h"
#include "ops/attention/heads.h"
#include "ops/movement/movement.h"

#define ATTRS(X)                                                                                   \
	X(HEADS, "num_q_heads")                                                                    \
	X(KV_HEADS, "num_kv_heads")                                                                \
	X(WIDTH, "head_dim")                                                                       \
	X(TRANSPOSE, "transpose_k_heads")                                                          \
	X(MEMORY, "output_mem_config")
TT_ATTRS(schema, "CreateQKVHeadsParams", ATTRS);

/* Cores across the rows and across the columns of a block-sharded tensor. */
static tt_status spans(uint32_t *down, uint32_t *across, const struct ttnn_tensor_spec *in)
{
	struct ttnn_core_range box;
	bool transposed = in->memory.shard.orientation != TTNN_ORIENT_ROW_MAJOR;

	TT_TRY(tt_core_set_box(&box, in->memory.shard.grid));
	*down = (transposed ? box.end.x : box.end.y) + 1;
	*across = (transposed ? box.end.y : box.end.x) + 1;
	return TTNN_OK;
}

static struct ttnn_shape shape_of(const struct tt_launch *launch, int which)
{
	const struct ttnn_shape *in = &launch->inputs[0]->spec.padded;
	uint32_t heads = tt_attr_u32(launch, which ? KV_HEADS : HEADS),
		 width = tt_attr_u32(launch, WIDTH);

	if (which == 1 && launch->attrs[TRANSPOSE].boolean)
		return TT_SHAPE(in->dim[0], heads, width, in->dim[2]);
	return TT_SHAPE(in->dim[0], heads, in->dim[2], width);
}

/* On the cores of the input, whatever shards were asked for. */
static tt_status groups_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *wanted = launch->attrs[MEMORY].memory;

	launch->output_count = 3;
	for (int i = 0; i < 3; i++) {
		struct ttnn_shape shape = shape_of(launch, i);
		struct ttnn_memory_config memory = *wanted;
		uint32_t down = 1, across = 1;

		if (tt_infer_given(launch, (size_t)i))
			continue;
		if (in->memory.has_shard) {
			struct ttnn_shard_spec shard = in->memory.shard;
			uint64_t rows = (uint64_t)shape.dim[0] * shape.dim[1] * shape.dim[2];

			TT_TRY(spans(&down, &across, in));
			shard.height = (uint32_t)(rows / ((uint64_t)down * across));
			shard.width = shape.dim[3];
			if (shard.height && wanted->layout == TTNN_HEIGHT_SHARDED)
				TT_TRY(ttnn_memory_config_sharded(&memory, wanted->layout,
								  wanted->buffer, &shard));
		}
		TT_TRY(tt_spec_simple(&launch->specs[i], &shape, in->dtype, TTNN_TILE, &memory));
	}
	return TTNN_OK;
}

static tt_status check_input(const struct ttnn_tensor_spec *in)
{
	TT_TRY(tt_heads_check_tiles(in, "input_tensor.layout() == Layout::TILE"));
	TT_REQUIRE(tt_memory_config_is_sharded(&in->memory), "input_tensor.is_sharded()",
		   "Operands to TM must be sharded");
	TT_REQUIRE(in->padded.dim[1] == 1, "input_shape[1] == 1", "Unsupported input shape");
	if (!in->memory.has_shard)
		return tt_fail(TTNN_INVALID, "bad optional access");
	TT_REQUIRE(
		in->memory.layout == TTNN_BLOCK_SHARDED,
		"input_tensor.memory_config().memory_layout() == TensorMemoryLayout::BLOCK_SHARDED",
		"Input tensor memory layout must be BLOCK_SHARDED but got TensorMemoryLayout::%s",
		tt_enum_name(&tt_enum_memory_layout, in->memory.layout));
	return TTNN_OK;
}

/* What upstream's factory wants of the blocks. */
static tt_status check_groups(const struct tt_launch *launch, uint32_t across)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint32_t width = tt_attr_u32(launch, WIDTH), groups = tt_attr_u32(launch, KV_HEADS);

	TT_REQUIRE(width % TT_TILE == 0, "head_dim % TILE_WIDTH == 0",
		   "head dim %u needs to be a multiple of tile width 32", width);
	TT_REQUIRE(groups % across == 0, "groups % num_w_cores == 0",
		   "number of groups %u must be a multiple of the number of width cores %u", groups,
		   across);
	TT_REQUIRE(in->padded.dim[2] % in->memory.shard.height == 0,
		   "input_shape[2] % (block_ht * TILE_HEIGHT) == 0",
		   "Per core work load must be within a batch. The sequence length %u and elements "
		   "in each height shard %u must divide evenly",
		   in->padded.dim[2], in->memory.shard.height);
	return TTNN_OK;
}

static tt_status groups_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *memory = launch->attrs[MEMORY].memory;
	uint32_t heads = tt_attr_u32(launch, HEADS), kv_heads = tt_attr_u32(launch, KV_HEADS), down,
		 across;

	TT_TRY(check_input(in));
	TT_TRY(spans(&down, &across, in));
	TT_REQUIRE(heads % kv_heads == 0, "args.num_q_heads % args.num_kv_heads == 0",
		   "Number of q heads %u must fit evenly into number of kv heads %u", heads,
		   kv_heads);
	TT_REQUIRE(in->padded.dim[3] % (across * TT_TILE) == 0,
		   "input_shape[3] % (num_w_cores * tt::constants::TILE_WIDTH) == 0",
		   "Flattened hidden dimension %u must be a multiple of width cores %u * tile "
		   "width 32 to ensure that each core gets an even amount of tiles",
		   in->padded.dim[3], across);
	TT_REQUIRE(memory->layout == TTNN_HEIGHT_SHARDED,
		   "args.output_mem_config.memory_layout() == TensorMemoryLayout::HEIGHT_SHARDED",
		   "Output memory config layout must be HEIGHT_SHARDED but got "
		   "TensorMemoryLayout::%s",
		   tt_enum_name(&tt_enum_memory_layout, memory->layout));
	TT_REQUIRE(in->padded.dim[0] == down, "input_shape[0] == num_h_cores",
		   "Batch size %u must be equal to num cores %u", in->padded.dim[0], down);
	return check_groups(launch, across);
}

/* All where they lie; keys pass through tiles of their own to be transposed. */
static tt_status groups_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *const *out = launch->outputs;
	uint64_t tile = tt_tile_bytes_of(in->spec.dtype), keys = tt_shard_tiles(&out[1]->spec);

	return TT_PLAN(
		plan, in->spec.memory.shard.grid,
		TT_CB_ROW(0, "in", .pages = tt_shard_tiles(&in->spec), .page = tile, .backing = in),
		TT_CB_ROW(16, "q", .pages = tt_shard_tiles(&out[0]->spec), .page = tile,
			  .backing = out[0]),
		TT_CB_ROW(17, "k", .pages = keys, .page = tile, .backing = out[1]),
		TT_CB_ROW(18, "v", .pages = tt_shard_tiles(&out[2]->spec), .page = tile,
			  .backing = out[2]),
		TT_CB_ROW(24, "k_untransposed",
			  .pages = launch->attrs[TRANSPOSE].boolean ? keys : 0, .page = tile));
}

/* Queries, keys or values of every group. */
static tt_status groups_take(const struct tt_launch *launch, uint32_t which)
{
	uint32_t groups = tt_attr_u32(launch, KV_HEADS), width = tt_attr_u32(launch, WIDTH);
	uint32_t queries = tt_attr_u32(launch, HEADS) / groups, heads = which ? 1 : queries;
	bool transposed = which == 1 && launch->attrs[TRANSPOSE].boolean;
	const struct ttnn_shape *in = &launch->inputs[0]->spec.shape;
	const struct tt_move_loop loops[] = {
		{groups, 3, 1, (queries + 2) * width, heads},
		{in->dim[0], 0, 0, 1, 1},
		{heads, 3, 1, width, 1},
		{in->dim[2], 2, transposed ? 3 : 2, 1, 1},
		{width, 3, transposed ? 2 : 3, 1, 1},
	};
	struct tt_move_job job = {.out = launch->outputs[which],
				  .in = launch->inputs[0],
				  .loops = loops,
				  .loop_count = TT_COUNT(loops)};

	job.in_start[3] = which ? (queries + which - 1) * width : 0;
	return tt_backend_get()->move(&job);
}

static tt_status groups_kernel(struct tt_launch *launch)
{
	for (uint32_t i = 0; i < 3; i++)
		TT_TRY(groups_take(launch, i));
	return TTNN_OK;
}

static const struct tt_prog program = {
	.device_op = "CreateQKVHeadsDeviceOperation",
	.prim = "ttnn::prim::create_qkv_heads",
	.attrs = &schema,
	.infer = groups_infer,
	.validate = groups_validate,
	TT_FACTORY("ttnn::experimental::prim::CreateQKVHeadsProgramFactory", groups_memory),
	TT_KERNEL(groups_kernel),
	.mute = true,
	.cost = tt_cost_unmodelled_move,
};

tt_status tt_heads_groups(struct tt_tensor *out[3], struct tt_call *call,
			  const struct tt_heads_groups *args)
{
	struct tt_tensor *in = args->in;
	int64_t heads = args->heads, kv_heads = args->kv_heads;
	size_t count;

	TT_TRY(tt_need_device(in));
	TT_TRY(tt_need_dim(&in->spec.padded, 3));
	if (heads <= 0 || kv_heads <= 0)
		return tt_fail(TTNN_INVALID, "there must be heads");
	TT_REQUIRE(in->spec.padded.dim[3] % (uint64_t)(heads + 2 * kv_heads) == 0,
		   "input_tensor.padded_shape()[3] % (num_q_heads + (2 * num_kv_heads_val)) == 0",
		   "Flattened hidden dimension %u must be a multiple of the combined Q %lld, K "
		   "%lld and V %lld heads",
		   in->spec.padded.dim[3], (long long)heads, (long long)kv_heads,
		   (long long)kv_heads);
	return tt_call_programs(
		out, &count, call,
		&(struct tt_program_args){.prog = &program,
					  TT_INPUTS(in),
					  .outputs = args->given,
					  .output_count = 3,
					  .attrs = (struct ttnn_value[schema_count]){
						  [HEADS] = ttnn_v_int(heads),
						  [KV_HEADS] = ttnn_v_int(kv_heads),
						  [WIDTH] = ttnn_v_int(in->spec.padded.dim[3] /
								       (heads + 2 * kv_heads)),
						  [TRANSPOSE] = ttnn_v_bool(args->transpose),
						  [MEMORY] = tt_value_memory_or_like(call, in)}});
}

static tt_status groups_expand(struct tt_call *call)
{
	const struct ttnn_value *list = tt_call_arg(call, "output_tensors");
	struct tt_heads_groups args = {
		.in = tt_call_tensor(call, "input"),
		.heads = tt_call_int(call, "num_heads", 0),
		.transpose = tt_call_bool(call, "transpose_k_heads", true),
	};
	struct tt_tensor *out[3];

	args.kv_heads = tt_call_int(call, "num_kv_heads", args.heads);
	for (size_t i = 0; i < 3; i++)
		args.given[i] = tt_value_item_tensor(list, i);
	TT_TRY(tt_heads_groups(out, call, &args));
	for (int i = 0; i < 3; i++)
		tt_call_return(call, out[i]);
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.create_qkv_heads",
	 .doc = "Queries, keys and values of each head out of fused blocks, in which a head of keys follows its queries.",
	 .sigs = {"input: Tensor, *, num_heads: int, num_kv_heads: int? = None, "
		  "transpose_k_heads: bool = True, memory_config: MemoryConfig? = None, "
		  "output_tensors: any? = None"},
	 .expand = groups_expand,
	 .golden = tt_golden_grouped_heads,
	 .pcc = 0.9999,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_heads_groups = {"heads", ops, TT_COUNT(ops)};
