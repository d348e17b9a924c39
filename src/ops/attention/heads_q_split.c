/*
 * heads_q_split.c: heads of queries in two parts, the columns before and behind a place. Models NlpCreateHeadsDeviceOperation of
 * ttnn 0.81 with its factory Interleaved, as nlp_create_q_heads_split launches it: specs, refusals, memory, cores.
 */
#include "backend/backend.h"
#include "ops/attention/heads.h"
#include "ops/creation/creation.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"

#define ATTRS(X)                                                                                   \
	X(HEADS, "num_q_heads")                                                                    \
	X(KV_HEADS, "num_kv_heads")                                                                \
	X(WIDTH, "head_dim")                                                                       \
	X(TRANSPOSE, "transpose_k_heads")                                                          \
	X(TIED, "kv_tied")                                                                         \
	X(MEMORY, "output_mem_config")                                                             \
	X(SPLIT, "q_split_head_dim")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);

/* Columns of a part of a head. */
static uint32_t part_width(const struct tt_launch *launch, size_t part)
{
	uint32_t split = tt_attr_u32(launch, SPLIT);

	return part ? tt_attr_u32(launch, WIDTH) - split : split;
}

static tt_status q_split_check(const struct tt_launch *launch)
{
	uint32_t width = tt_attr_u32(launch, WIDTH), split = tt_attr_u32(launch, SPLIT);

	TT_REQUIRE(!tt_memory_config_is_sharded(&launch->inputs[0]->spec.memory),
		   "!input_tensor.is_sharded()", "Q head split requires interleaved input");
	TT_REQUIRE(split && split < width && split % TT_TILE == 0 && width % TT_TILE == 0,
		   "split > 0 && split < operation_attributes.head_dim && split % TILE_WIDTH == 0 "
		   "&& operation_attributes.head_dim % TILE_WIDTH == 0",
		   "Q head split requires two nonempty tile-aligned channel regions");
	return TTNN_OK;
}

/* The third result would be values, of no heads. */
static tt_status q_split_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	TT_TRY(q_split_check(launch));
	launch->output_count = 3;
	for (size_t i = 0; i < 3; i++) {
		const struct ttnn_shape shape = TT_SHAPE(
			in->shape.dim[0], i < 2 ? tt_attr_u32(launch, HEADS) : 0, in->shape.dim[2],
			i < 2 ? part_width(launch, i) : tt_attr_u32(launch, WIDTH));

		TT_TRY(tt_spec_simple(&launch->specs[i], &shape, in->dtype, TTNN_TILE,
				      launch->attrs[MEMORY].memory));
	}
	return TTNN_OK;
}

static tt_status q_split_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *out = launch->attrs[MEMORY].memory;

	TT_TRY(tt_heads_check_tiles(in, "input_tensor.layout() == Layout::TILE"));
	TT_REQUIRE(in->padded.dim[1] == 1, "input_shape[1] == 1",
		   "Unsupported input sequence length %u is not equal to 1", in->padded.dim[1]);
	TT_REQUIRE(out->layout == TTNN_INTERLEAVED,
		   "operation_attributes.output_mem_config.memory_layout() == "
		   "TensorMemoryLayout::INTERLEAVED",
		   "Output memory config layout must be INTERLEAVED but got TensorMemoryLayout::%s",
		   tt_enum_name(&tt_enum_memory_layout, out->layout));
	return TTNN_OK;
}

/* A row of tiles of a head at a time, as many at once as divide it: 8, 4 or else 2, double. */
static tt_status q_split_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint64_t wide = tt_attr_u32(launch, WIDTH) / TT_TILE;
	uint64_t block = wide % 8 == 0 ? 8 : wide % 4 == 0 ? 4 : 2;
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_for(&cores, launch,
			    (uint64_t)in->padded.dim[0] * (in->padded.dim[2] / TT_TILE) *
				    tt_attr_u32(launch, HEADS)));
	return TT_PLAN(
		plan, cores,
		TT_DFB_ROW(1, "src1_cb", .pages = 2 * block, .page = tt_tile_bytes_of(in->dtype)));
}

static tt_status q_split_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0];
	const uint32_t *dim = in->spec.shape.dim;

	for (size_t i = 0; i < 2; i++) {
		uint32_t width = part_width(launch, i);
		const struct tt_move_loop loops[] = {
			{dim[0], 0, 0, 1, 1},
			{tt_attr_u32(launch, HEADS), 3, 1, tt_attr_u32(launch, WIDTH), 1},
			{dim[2], 2, 2, 1, 1},
			{width, 3, 3, 1, 1},
		};

		TT_TRY(tt_backend_get()->move(&(struct tt_move_job){
			.out = launch->outputs[i],
			.in = in,
			.loops = loops,
			.loop_count = TT_COUNT(loops),
			.in_start = {0, 0, 0, i ? tt_attr_u32(launch, SPLIT) : 0},
		}));
	}
	return TTNN_OK;
}

static const struct tt_prog program = {
	.device_op = "NlpCreateHeadsDeviceOperation",
	.prim = "ttnn::prim::nlp_create_qkv_heads",
	.attrs = &schema,
	.infer = q_split_infer,
	.validate = q_split_validate,
	TT_FACTORY("ttnn::operations::experimental::transformer::NlpCreateHeadsDeviceOperation::"
		   "Interleaved",
		   q_split_memory),
	TT_KERNEL(q_split_kernel),
	.drops_forward = true,
	.cost = tt_cost_unmodelled_move,
};

static tt_status q_split_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input");
	const struct ttnn_tensor_spec *spec = &in->spec;
	int64_t heads = tt_call_int(call, "num_heads", 0);
	uint32_t width = tt_shape_last(&spec->shape, 1);
	struct tt_tensor *out[3];
	size_t count = 3;

	TT_TRY(tt_need_device(in));
	TT_REQUIRE(spec->shape.rank == 4 && heads > 0,
		   "input.logical_shape().rank() == 4 && num_heads > 0",
		   "Expected rank-4 input and nonzero head count");
	TT_REQUIRE(width == tt_shape_last(&spec->padded, 1) && width % heads == 0,
		   "input.logical_shape()[3] == input.padded_shape()[3] && "
		   "input.logical_shape()[3] % num_heads == 0",
		   "Q width must be unpadded and divisible by num_heads");
	TT_TRY(tt_call_programs(
		out, &count, call,
		&(struct tt_program_args){
			.prog = &program,
			TT_INPUTS(in),
			TT_BIND(call, schema, [HEADS] = ttnn_v_int(heads),
				[KV_HEADS] = ttnn_v_int(0), [WIDTH] = ttnn_v_int(width / heads),
				[TRANSPOSE] = ttnn_v_bool(false), [TIED] = ttnn_v_bool(false),
				[MEMORY] = tt_value_memory_or_like(call, in),
				[SPLIT] = ttnn_v_int(tt_call_int(call, "split_head_dim", 0)))}));
	tt_call_return(call, out[0]);
	tt_call_return(call, out[1]);
	tt_call_drop(call, out[2]);
	return TTNN_OK;
}

static tt_status golden_q_split(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in4(golden, "input");
	uint64_t heads = (uint64_t)tt_call_int(&golden->call, "num_heads", 0), width;
	uint64_t split = (uint64_t)tt_call_int(&golden->call, "split_head_dim", 0);
	struct ttnn_shape shape;
	struct tt_array *out[2];

	TT_GOLDEN_NEED(in && heads && in->shape.dim[1] == 1);
	width = in->shape.dim[3] / heads;
	shape = TT_SHAPE(in->shape.dim[0], (uint32_t)heads, in->shape.dim[2], (uint32_t)split);
	out[0] = tt_golden_out(golden, &shape, in->dtype);
	shape.dim[3] = (uint32_t)(width - split);
	out[1] = tt_golden_out(golden, &shape, in->dtype);
	TT_GOLDEN_NEED(out[0] && out[1]);
	for (uint64_t i = 0; i < in->count; i++) {
		uint64_t column = i % width, head = i / width % heads, row = i / width / heads;
		uint64_t rows = in->shape.dim[2];
		uint64_t place = (row / rows * heads + head) * rows + row % rows;

		if (column < split)
			*tt_at(out[0], place * split + column) = *tt_at(in, i);
		else
			*tt_at(out[1], place * (width - split) + column - split) = *tt_at(in, i);
	}
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.nlp_create_q_heads_split",
	 .doc = "Heads of queries in two parts, the columns before and behind a place.",
	 .sigs = {"input: Tensor, *, num_heads: size, split_head_dim: size, memory_config: "
		  "MemoryConfig? = None"},
	 .expand = q_split_expand,
	 .golden = golden_q_split,
	 .pcc = 0.9999,
	 .gives = "Tensor, Tensor",
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_heads_q_split = {"heads_q_split", ops, TT_COUNT(ops)};
