/*
 * heads_pairs.c: heads of queries, keys and values of pairs of tokens, as Boltz has them: nlp_create_qkv_heads_boltz.
 *
 * Models NlpCreateHeadsBoltzDeviceOperation of ttnn 0.81, of inputs that are not in shards: specs, refusals, memory, cores.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "ops/attention/heads.h"
#include "ops/creation/creation.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"

#define ATTRS(X)                                                                                   \
	X(Q_HEADS, "num_q_heads")                                                                  \
	X(KV_HEADS, "num_kv_heads")                                                                \
	X(WIDTH, "head_dim")                                                                       \
	X(TURN, "transpose_k_heads")                                                               \
	X(MEMORY, "output_mem_config")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);
enum { IN, KV };
enum { OUT_Q, OUT_K, OUT_V, OUTPUTS };
#define BUFFERED 4 /* tiles on the way */

/* ---- specs and refusals ------------------------------------------------------------------------------------------- */

/* As many rows as columns, a head behind the other. */
static tt_status pairs_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	uint32_t side, wide = tt_attr_u32(launch, WIDTH), heads = tt_attr_u32(launch, KV_HEADS);
	struct ttnn_shape shapes[OUTPUTS];

	TT_TRY(tt_need_dim(&in->shape, 2));
	side = in->shape.dim[2];
	wide = (wide + TT_TILE - 1) / TT_TILE * TT_TILE;
	shapes[OUT_Q] = TT_SHAPE(tt_attr_u32(launch, Q_HEADS), side, side, wide);
	shapes[OUT_V] = shapes[OUT_K] = TT_SHAPE(heads, side, side, wide);
	if (launch->attrs[TURN].boolean)
		shapes[OUT_K] = TT_SHAPE(heads, wide, side, side);
	launch->output_count = OUTPUTS;
	for (size_t i = 0; i < OUTPUTS; i++) {
		if (tt_infer_given(launch, i)) {
			TT_TRY(tt_check_given(launch, i, &shapes[i]));
			continue;
		}
		TT_TRY(tt_spec_simple(&launch->specs[i], &shapes[i], in->dtype, TTNN_TILE,
				      launch->attrs[MEMORY].memory));
	}
	return TTNN_OK;
}

static tt_status check_kv(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec, *kv;

	if (!launch->inputs[KV])
		return TTNN_OK;
	kv = &launch->inputs[KV]->spec;
	TT_REQUIRE(kv->dtype == in->dtype, "input_tensor_kv.dtype() == input_tensor.dtype()",
		   "KV tensor dtype must be same as Q tensor dtype!");
	TT_REQUIRE(kv->layout == TTNN_TILE, "input_tensor_kv.layout() == Layout::TILE",
		   "Input tensor KV layout must be TILE but got Layout::ROW_MAJOR");
	TT_REQUIRE(kv->padded.dim[0] == in->padded.dim[0], "input_shape_kv[0] == input_shape[0]",
		   "KV tensor batch dim must be same as Q tensor batch!");
	TT_REQUIRE(kv->padded.dim[2] == in->padded.dim[2], "input_shape_kv[2] == input_shape[2]",
		   "KV tensor seq_len dim must be same as Q tensor seq_len!");
	return TTNN_OK;
}

static tt_status pairs_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const struct ttnn_memory_config *out = launch->attrs[MEMORY].memory;

	TT_REQUIRE(in->dtype == TTNN_FLOAT32 || in->dtype == TTNN_BFLOAT16 ||
			   in->dtype == TTNN_BFLOAT8_B,
		   "input_tensor.dtype() == tt::tt_metal::DataType::FLOAT32 || "
		   "input_tensor.dtype() == tt::tt_metal::DataType::BFLOAT16 || "
		   "input_tensor.dtype() == tt::tt_metal::DataType::BFLOAT8_B",
		   "Unsupported data type");
	TT_REQUIRE(in->layout == TTNN_TILE, "input_tensor.layout() == Layout::TILE",
		   "Input tensor layout must be TILE but got Layout::ROW_MAJOR");
	TT_REQUIRE(out->layout == TTNN_INTERLEAVED,
		   "operation_attributes.output_mem_config.memory_layout() == "
		   "TensorMemoryLayout::INTERLEAVED",
		   "Output memory config layout must be INTERLEAVED but got TensorMemoryLayout::%s",
		   tt_enum_name(&tt_enum_memory_layout, out->layout));
	TT_TRY(check_kv(launch));
	TT_NEED(in->shape.rank == 4 &&
			(!launch->inputs[KV] || launch->inputs[KV]->spec.shape.rank == 4),
		"pairs of tokens have four dimensions");
	return TTNN_OK;
}

/* ---- the program ---------------------------------------------------------------------------------------------------- */

static tt_status pairs_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const uint32_t *dim = launch->inputs[IN]->spec.padded.dim;
	bool turn = launch->attrs[TURN].boolean;
	uint64_t page = tt_page_in0(launch);
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_for(&cores, launch, (uint64_t)dim[0] * dim[1] * dim[2] / TT_TILE));
	return TT_PLAN(plan, cores, TT_CB_ROW(1, "in1", .pages = BUFFERED, .page = page),
		       TT_CB_ROW(0, "in0", .pages = turn ? BUFFERED : 0, .page = page),
		       TT_CB_ROW(16, "out", .pages = turn ? BUFFERED : 0, .page = page));
}

/* Heads from a column of the input on, to an output; where there is no number, there is 0. */
static tt_status take_heads(struct tt_tensor *out, struct tt_tensor *in,
			    const struct tt_launch *launch, const uint64_t from[2], bool turn)
{
	uint32_t wide = tt_attr_u32(launch, WIDTH), heads = (uint32_t)from[1], side;
	const uint32_t *dim = in->spec.shape.dim;
	int8_t row = turn ? 2 : 1;

	side = dim[1] < dim[2] ? dim[1] : dim[2];
	if (side != dim[2] || wide % TT_TILE)
		TT_TRY(tt_backend_get()->fill(out, 0, TT_FILL_ALL));
	return tt_backend_get()->move(
		&(struct tt_move_job){.out = out,
				      .in = in,
				      .loops =
					      (const struct tt_move_loop[]){
						      {heads, 3, 0, wide, 1},
						      {side, 1, row, 1, 1},
						      {dim[2], 2, row + 1, 1, 1},
						      {wide, 3, turn ? 1 : 3, 1, 1},
					      },
				      .loop_count = 4,
				      .in_start = {0, 0, 0, (int64_t)from[0]}});
}

static tt_status pairs_kernel(struct tt_launch *launch)
{
	uint64_t wide = tt_attr_u32(launch, WIDTH), q = tt_attr_u32(launch, Q_HEADS);
	uint64_t heads = tt_attr_u32(launch, KV_HEADS);
	struct tt_tensor *in = launch->inputs[IN], *kv = launch->inputs[KV];
	uint64_t from = kv ? 0 : q * wide;

	TT_TRY(take_heads(launch->outputs[OUT_Q], in, launch, (const uint64_t[]){0, q}, false));
	TT_TRY(take_heads(launch->outputs[OUT_K], kv ? kv : in, launch,
			  (const uint64_t[]){from, heads}, launch->attrs[TURN].boolean));
	return take_heads(launch->outputs[OUT_V], kv ? kv : in, launch,
			  (const uint64_t[]){from + heads * wide, heads}, false);
}

static const struct tt_prog program = {
	.device_op = "NlpCreateHeadsBoltzDeviceOperation",
	.prim = "ttnn::prim::nlp_create_qkv_heads_boltz",
	.attrs = &schema,
	.infer = pairs_infer,
	.validate = pairs_validate,
	TT_FACTORY(
		"ttnn::operations::experimental::transformer::NlpCreateHeadsBoltzDeviceOperation::"
		"Interleaved",
		pairs_memory),
	TT_KERNEL(pairs_kernel),
	.mute = true,
	.drops_forward = true,
	.cost = tt_cost_unmodelled_move,
};

/* ---- the call ------------------------------------------------------------------------------------------------------- */

static tt_status width_of(int64_t *out, const struct tt_tensor *in, const struct tt_tensor *kv,
			  const int64_t heads[2])
{
	uint32_t wide, all;

	TT_TRY(tt_need_dim(&in->spec.padded, 3));
	wide = in->spec.padded.dim[3];
	TT_REQUIRE(heads[0] > 0, "num_q_heads > 0", "num_q_heads must be greater than 0");
	TT_REQUIRE(heads[1] > 0, "num_kv_heads_val > 0", "num_kv_heads must be greater than 0");
	if (!kv) {
		TT_REQUIRE(
			wide % (heads[0] + 2 * heads[1]) == 0,
			"input_tensor_q.padded_shape()[3] % (num_q_heads + 2 * num_kv_heads_val) "
			"== 0",
			"Unsupported input shape");
		*out = wide / (heads[0] + 2 * heads[1]);
		return TTNN_OK;
	}
	TT_TRY(tt_need_dim(&kv->spec.padded, 3));
	all = kv->spec.padded.dim[3];
	*out = wide / heads[0];
	TT_REQUIRE(wide % heads[0] == 0, "input_tensor_q.padded_shape()[3] % num_q_heads == 0",
		   "Unsupported input shape");
	TT_REQUIRE(all % (2 * heads[1]) == 0,
		   "input_tensor_kv.value().padded_shape()[3] % (2 * num_kv_heads_val) == 0",
		   "Unsupported input shape");
	TT_REQUIRE(all / (2 * heads[1]) == *out,
		   "input_tensor_kv.value().padded_shape()[3] / (2 * num_kv_heads_val) == head_dim",
		   "Head dims must be the same for Q and K, V");
	return TTNN_OK;
}

static tt_status pairs_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input"),
			 *kv = tt_call_tensor(call, "input_kv");
	const struct ttnn_value *given = tt_call_arg(call, "output_tensors");
	int64_t q = tt_call_int(call, "num_heads", 0), wide = 0;
	const int64_t heads[2] = {q, tt_call_int(call, "num_kv_heads", q)};
	bool three = given->kind == TTNN_VALUE_LIST && given->count == OUTPUTS;

	TT_TRY(tt_need_device(in));
	if (kv)
		TT_TRY(tt_need_device(kv));
	if (tt_memory_config_is_sharded(&in->spec.memory))
		return tt_fail(TTNN_UNSUPPORTED, "heads in shards are not supported");
	TT_TRY(width_of(&wide, in, kv, heads));
	TT_NEED(q <= UINT16_MAX && heads[1] <= UINT16_MAX && wide, "there are no such heads");
	return TT_LAUNCH_RETURN(
		call, &program, TT_INPUTS(in, kv),
		TT_OUTPUTS(three ? tt_value_item_tensor(given, 0) : NULL,
			   three ? tt_value_item_tensor(given, 1) : NULL,
			   three ? tt_value_item_tensor(given, 2) : NULL),
		TT_BIND(call, schema, [Q_HEADS] = ttnn_v_int(q), [KV_HEADS] = ttnn_v_int(heads[1]),
			[WIDTH] = ttnn_v_int(wide), [MEMORY] = tt_value_memory_or_like(call, in)));
}

/* ---- the golden ------------------------------------------------------------------------------------------------------ */

/* Heads from a column on, of pairs [row, column], or turned. */
static tt_status golden_heads(struct tt_golden *golden, const struct tt_array *in,
			      const uint64_t at[3], bool turn)
{
	uint64_t from = at[0], heads = at[1], wide = at[2], all = in->shape.dim[3];
	uint32_t side = in->shape.dim[2], room = (uint32_t)((wide + 31) / 32 * 32);
	struct ttnn_shape shape = turn ? TT_SHAPE((uint32_t)heads, room, side, side)
				       : TT_SHAPE((uint32_t)heads, side, side, room);
	struct tt_array *out = tt_golden_out(golden, &shape, in->dtype);

	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t head = i / room / side / side, pair = turn ? i % (side * side) : i / room;
		uint64_t c = turn ? i / side / side % room : i % room;

		pair %= (uint64_t)side * side;
		if (c < wide && pair / side < in->shape.dim[1])
			*tt_at(out, i) = *tt_at(in, pair * all + from + head * wide + c);
	}
	return TTNN_OK;
}

static tt_status golden_pairs(struct tt_golden *golden)
{
	const struct tt_call *call = &golden->call;
	const struct tt_array *in = tt_golden_in4(golden, "input"),
			      *kv = tt_golden_in(golden, "input_kv");
	uint64_t q = (uint64_t)tt_call_int(call, "num_heads", 1), wide, from;
	uint64_t heads = (uint64_t)tt_call_int(call, "num_kv_heads", (int64_t)q);

	TT_GOLDEN_NEED(in);
	wide = in->shape.dim[3] / (kv ? q : q + 2 * heads);
	from = kv ? 0 : q * wide;
	TT_TRY(golden_heads(golden, in, (const uint64_t[]){0, q, wide}, false));
	TT_TRY(golden_heads(golden, kv ? kv : in, (const uint64_t[]){from, heads, wide},
			    tt_call_bool(call, "transpose_k_heads", true)));
	return golden_heads(golden, kv ? kv : in,
			    (const uint64_t[]){from + heads * wide, heads, wide}, false);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.nlp_create_qkv_heads_boltz",
	 .doc = "Heads of queries, keys and values of pairs of tokens.",
	 .sigs = {"input: Tensor, input_kv: Tensor? = None, *, num_heads: size, num_kv_heads: size? = "
		  "None, transpose_k_heads: bool = True, memory_config: MemoryConfig? = None, "
		  "output_tensors: any? = None"},
	 .expand = pairs_expand,
	 .golden = golden_pairs,
	 .pcc = 0.9999,
	 .gives = "Tensor, Tensor, Tensor",
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_heads_pairs = {"heads_pairs", ops, TT_COUNT(ops)};
