/*
 * delta_recurrent.c: gated delta nets token by token: a state of keys × values for each head, which decays and learns what it did
 * not foretell.
 *
 * Models FusedRecurrentGatedDeltaRuleDeviceOperation of ttnn 0.81 with its one factory, and what upstream does before and behind it: specs,
 * refusals, memory, cores. Not modelled: rounding between the steps of a token.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "golden/golden_attention.h"
#include "ops/attention/delta_rule.h"
#include "ops/attention/heads.h"
#include "ops/compute.h"
#include "ops/creation/creation.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"
#include "ops/values.h"

#define ATTRS(X)                                                                                   \
	X(HEADS, "BH")                                                                             \
	X(TOKENS, "T")                                                                             \
	X(KEY, "key_dim")                                                                          \
	X(VALUE, "val_dim")                                                                        \
	X(FINAL, "output_final_state")                                                             \
	X(EACH, "output_per_token_state")                                                          \
	X(MEMORY, "output_mem_config")                                                             \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(schema, "FusedRecurrentGatedDeltaRuleParams", ATTRS);
enum { Q, K, V, DECAY, BETA, STATE, RING, INPUTS };
#define NAME "fused_recurrent_gated_delta_rule: "

/* ---- specs and refusals -------------------------------------------------------------------------------------- */

/* With a ring of states, the ring itself is the second result. */
static tt_status recurrent_infer(struct tt_launch *launch)
{
	const struct ttnn_memory_config *memory = launch->attrs[MEMORY].memory;
	uint32_t heads = tt_attr_u32(launch, HEADS), rows = heads * tt_attr_u32(launch, TOKENS);
	const struct ttnn_shape out = TT_SHAPE(rows, 1, tt_attr_u32(launch, VALUE));
	const struct ttnn_shape state =
		TT_SHAPE(launch->attrs[EACH].boolean ? rows : heads, tt_attr_u32(launch, KEY),
			 tt_attr_u32(launch, VALUE));

	launch->output_count = 2;
	TT_TRY(tt_spec_simple(&launch->specs[0], &out, TTNN_FLOAT32, TTNN_TILE, memory));
	if (!tt_infer_given(launch, 1))
		TT_TRY(tt_spec_simple(&launch->specs[1], &state, TTNN_FLOAT32, TTNN_TILE, memory));
	return TTNN_OK;
}

static tt_status check_width(const struct tt_launch *launch, int attr)
{
	uint32_t width = tt_attr_u32(launch, attr);

	TT_REQUIRE(width && width % TT_TILE == 0,
		   attr == KEY ? "attrs.key_dim >= TILE_WIDTH && attrs.key_dim % TILE_WIDTH == 0"
			       : "attrs.val_dim >= TILE_WIDTH && attrs.val_dim % TILE_WIDTH == 0",
		   NAME "%s must be a non-zero multiple of %u, got %u",
		   attr == KEY ? "key_dim" : "val_dim", TT_TILE, width);
	return TTNN_OK;
}

static tt_status check_input(const struct tt_launch *launch, int input, const char *name,
			     const uint32_t want[3])
{
	const struct ttnn_tensor_spec *spec = &launch->inputs[input]->spec;

	TT_REQUIRE(!tt_memory_config_is_sharded(&spec->memory), "!t.is_sharded()",
		   NAME "%s must be interleaved, not sharded", name);
	TT_REQUIRE(spec->layout == TTNN_TILE, "t.layout() == Layout::TILE",
		   NAME "%s must be TILE layout", name);
	TT_REQUIRE(spec->dtype == TTNN_FLOAT32, "t.dtype() == DataType::FLOAT32",
		   NAME "%s must be fp32, got DataType::%s", name,
		   tt_enum_name(&tt_enum_dtype, (int64_t)spec->dtype));
	TT_REQUIRE(spec->shape.rank == 3, "shape.rank() == expected.size()",
		   NAME "%s must be rank %u, got rank %u", name, 3, spec->shape.rank);
	for (uint32_t i = 0; i < 3; i++)
		TT_REQUIRE(spec->shape.dim[i] == want[i], "static_cast<uint32_t>(shape[i]) == e",
			   NAME "%s dim[%u] must be %u, got %u", name, i, want[i],
			   spec->shape.dim[i]);
	return TTNN_OK;
}

/* The ring is the state's, one for each token and head; which of them a head starts from is in the tensor. */
static tt_status check_ring(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *ring = &launch->inputs[RING]->spec;
	const struct ttnn_shape *shape = &ring->shape;
	uint32_t heads = tt_attr_u32(launch, HEADS);

	TT_REQUIRE(launch->attrs[EACH].boolean, "attrs.output_per_token_state",
		   NAME "initial_state_block_idx requires output_per_token_state");
	TT_REQUIRE(launch->inputs[STATE], "in.initial_state.has_value()",
		   NAME "initial_state_block_idx requires initial_state (the ring)");
	TT_REQUIRE(!tt_memory_config_is_sharded(&ring->memory), "!idx.is_sharded()",
		   NAME "initial_state_block_idx must be interleaved");
	TT_REQUIRE(ring->layout == TTNN_ROW_MAJOR, "idx.layout() == Layout::ROW_MAJOR",
		   NAME "initial_state_block_idx must be ROW_MAJOR");
	TT_REQUIRE(ring->dtype == TTNN_UINT32 || ring->dtype == TTNN_INT32,
		   "idx.dtype() == DataType::UINT32 || idx.dtype() == DataType::INT32",
		   NAME "initial_state_block_idx must be uint32 or int32, got DataType::%s",
		   tt_enum_name(&tt_enum_dtype, (int64_t)ring->dtype));
	if ((shape->rank != 1 || shape->dim[0] != heads) &&
	    (shape->rank != 2 || shape->dim[0] != 1 || shape->dim[1] != heads)) {
		char text[128];

		snprintf(text, sizeof(text),
			 NAME "initial_state_block_idx must be [%u] or [1,%u], got %%s", heads,
			 heads);
		return tt_fail_shapes(TTNN_INVALID, "shape_ok", text, shape, shape);
	}
	return TTNN_OK;
}

static tt_status recurrent_validate(struct tt_launch *launch)
{
	uint32_t heads = tt_attr_u32(launch, HEADS), rows = heads * tt_attr_u32(launch, TOKENS);
	uint32_t key = tt_attr_u32(launch, KEY), value = tt_attr_u32(launch, VALUE);

	TT_REQUIRE(launch->attrs[TOKENS].integer >= 1, "attrs.T >= 1",
		   NAME "T must be >= 1, got %u", tt_attr_u32(launch, TOKENS));
	TT_REQUIRE(heads >= 1, "attrs.BH >= 1", NAME "B*HV must be >= 1, got %u", heads);
	TT_TRY(check_width(launch, KEY));
	TT_TRY(check_width(launch, VALUE));
	TT_REQUIRE(tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32), "fp32_dest_acc_en",
		   NAME "requires fp32_dest_acc_en (the recurrent state is carried in fp32 DST)");
	TT_TRY(check_input(launch, Q, "q", (const uint32_t[]){rows, 1, key}));
	TT_TRY(check_input(launch, K, "k", (const uint32_t[]){rows, 1, key}));
	TT_TRY(check_input(launch, V, "v", (const uint32_t[]){rows, 1, value}));
	TT_TRY(check_input(launch, DECAY, "decay", (const uint32_t[]){rows, 1, 1}));
	TT_TRY(check_input(launch, BETA, "beta", (const uint32_t[]){rows, 1, 1}));
	if (launch->inputs[STATE])
		TT_TRY(check_input(
			launch, STATE, "initial_state",
			(const uint32_t[]){launch->inputs[RING] ? rows : heads, key, value}));
	return launch->inputs[RING] ? check_ring(launch) : TTNN_OK;
}

static tt_status recurrent_choose(uint32_t *out, struct tt_launch *launch)
{
	struct ttnn_core grid = launch->device->info.compute_grid;

	*out = 0;
	TT_REQUIRE(tt_attr_u32(launch, HEADS) <= grid.x * grid.y, "BH <= grid.x * grid_y",
		   "num_heads %u exceeds compute cores %u", tt_attr_u32(launch, HEADS),
		   grid.x * grid.y);
	return TTNN_OK;
}

static tt_status recurrent_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t keys = launch->attrs[KEY].integer / TT_TILE, tile = tt_page_f32(launch);
	uint64_t values = launch->attrs[VALUE].integer / TT_TILE, state = keys * values;
	uint64_t numbers = launch->attrs[TOKENS].integer > 1 ? 2 : 1;
	const struct tt_tensor *ring = launch->inputs[RING];
	const ttnn_core_set *cores;

	TT_TRY(tt_delta_cores(&cores, launch, tt_attr_u32(launch, HEADS)));
	return TT_PLAN(plan, cores, TT_CB_ROW(0, "q", .pages = keys, .page = tile),
		       TT_CB_ROW(1, "k", .pages = keys, .page = tile),
		       TT_CB_ROW(2, "v", .pages = values, .page = tile),
		       TT_CB_ROW(3, "decay", .pages = numbers, .page = tile),
		       TT_CB_ROW(4, "beta", .pages = numbers, .page = tile),
		       TT_CB_ROW(5, "S", .pages = state, .page = tile),
		       TT_CB_ROW(6, "out", .pages = 2 * values, .page = tile),
		       TT_CB_ROW(7, "state_out", .pages = 2 * state, .page = tile),
		       TT_CB_ROW(8, "s2", .pages = state, .page = tile),
		       TT_CB_ROW(9, "s3", .pages = state, .page = tile),
		       TT_CB_ROW(10, "sd", .pages = state, .page = tile),
		       TT_CB_ROW(11, "vread", .pages = values, .page = tile),
		       TT_CB_ROW(12, "u", .pages = values, .page = tile),
		       TT_CB_ROW(13, "kcol", .pages = keys, .page = tile),
		       TT_CB_ROW(16, "blkidx", .pages = ring ? 1 : 0,
				 .page = ring ? tt_aligned_page(ring) : 0));
}

/* ---- numbers -------------------------------------------------------------------------------------------------- */

/* What one token makes of a state: it decays, is told what it should say of the key, and asked. */
static void token(double *state, double *out, double *const at[], const uint32_t size[2])
{
	uint32_t keys = size[0], values = size[1];

	for (uint32_t v = 0; v < values; v++) {
		double said = 0;

		for (uint32_t k = 0; k < keys; k++) {
			state[k * values + v] *= *at[DECAY];
			said += at[K][k] * state[k * values + v];
		}
		said = *at[BETA] * (at[V][v] - said);
		for (uint32_t k = 0; k < keys; k++) {
			state[k * values + v] += at[K][k] * said;
			out[v] += at[Q][k] * state[k * values + v];
		}
	}
}

/* The state that a head starts from. */
static tt_status first_state(double **out, const struct tt_launch *launch, uint64_t size)
{
	uint64_t heads = tt_attr_u32(launch, HEADS), blocks = heads * tt_attr_u32(launch, TOKENS);
	double *ring, *which;

	if (!launch->inputs[RING])
		return tt_delta_numbers(out, launch, STATE, heads * size);
	*out = tt_delta_zeros(launch, heads * size);
	TT_NEED_MEMORY(*out);
	TT_TRY(tt_delta_numbers(&ring, launch, STATE, blocks * size));
	TT_TRY(tt_delta_numbers(&which, launch, RING, heads));
	for (uint64_t h = 0; h < heads; h++) {
		TT_NEED(which[h] >= 0 && which[h] < (double)blocks,
			NAME "block %g of a ring of %" PRIu64, which[h], blocks);
		memcpy(&(*out)[h * size], &ring[(uint64_t)which[h] * size], size * sizeof(double));
	}
	return TTNN_OK;
}

static tt_status recurrent_kernel(struct tt_launch *launch)
{
	const uint32_t size[2] = {tt_attr_u32(launch, KEY), tt_attr_u32(launch, VALUE)};
	const uint32_t width[STATE] = {size[0], size[0], size[1], 1, 1};
	uint64_t heads = tt_attr_u32(launch, HEADS), tokens = tt_attr_u32(launch, TOKENS);
	uint64_t area = (uint64_t)size[0] * size[1];
	double *values[STATE], *at[STATE], *out, *state, *each = NULL;

	for (size_t i = 0; i < STATE; i++)
		TT_TRY(tt_delta_numbers(&values[i], launch, i, heads * tokens * width[i]));
	TT_TRY(first_state(&state, launch, area));
	out = tt_delta_zeros(launch, heads * tokens * size[1]);
	TT_NEED_MEMORY(out);
	if (launch->attrs[EACH].boolean) {
		each = tt_delta_zeros(launch, heads * tokens * area);
		TT_NEED_MEMORY(each);
	}
	for (uint64_t n = 0; n < heads * tokens; n++) {
		uint64_t head = n / tokens, place = n % tokens * heads + head;

		for (size_t i = 0; i < STATE; i++)
			at[i] = &values[i][n * width[i]];
		token(&state[head * area], &out[n * size[1]], at, size);
		if (each)
			memcpy(&each[place * area], &state[head * area], area * sizeof(*each));
	}
	TT_TRY(tt_delta_write(launch, 0, out));
	return tt_delta_write(launch, 1, each ? each : state);
}

static const struct tt_prog program = {
	.device_op = "FusedRecurrentGatedDeltaRuleDeviceOperation",
	.prim = "ttnn::prim::fused_recurrent_gated_delta_rule",
	.attrs = &schema,
	.infer = recurrent_infer,
	.validate = recurrent_validate,
	.choose = recurrent_choose,
	TT_FACTORY("ttnn::prim::FusedRecurrentGatedDeltaRuleProgramFactory", recurrent_memory),
	TT_KERNEL(recurrent_kernel),
	.drops_forward = true,
};

/* ---- before and behind it -------------------------------------------------------------------------------------- */

/* What upstream has in variables, in its order, and what the program made of it. */
struct recurrent {
	struct tt_call *call;
	struct tt_tensor *at[INPUTS], *made[2], *results[2];
	struct ttnn_shape q, v; /* [batches, tokens, heads, width] */
	bool final, each;
};

/* As rows of tiles, [rows, 1, width]: what is in a tile changes, so that it goes through rows. */
static tt_status by_rows(struct tt_tensor **at, struct tt_call *call, uint32_t rows, uint32_t width)
{
	const struct ttnn_shape shape = TT_SHAPE(rows, 1, width);
	struct tt_tensor *t = ttnn_tensor_ref(*at), *out;
	tt_status status = tt_delta_step(&t, call, "ttnn.to_layout", ttnn_v_layout(TTNN_ROW_MAJOR));

	if (status == TTNN_OK)
		status = tt_delta_step(&t, call, "ttnn.reshape", ttnn_v_shape(&shape));
	if (status == TTNN_OK)
		status = TT_CALL(&out, call, "ttnn.to_layout", {NULL, ttnn_v_tensor(t)},
				 {NULL, ttnn_v_layout(TTNN_TILE)});
	tt_call_drop(call, t);
	return tt_call_assign(at, call, status, &out);
}

/* A variable that becomes rows of heads, as float32. */
static tt_status split(struct tt_tensor **at, struct recurrent *r, struct tt_tensor *in,
		       const struct ttnn_shape *heads)
{
	const struct tt_delta_heads as = {
		{heads->rank - 1, {r->q.dim[0] * heads->dim[2], r->q.dim[1], heads->dim[3]}},
		TTNN_FLOAT32};
	struct tt_tensor *made;
	tt_status status = tt_delta_split(&made, r->call, in, &as);

	tt_call_overwrite(r->call, *at);
	*at = made;
	return status;
}

/* Queries and keys of a head go to all heads of values that share it. */
static tt_status prepare_heads(struct recurrent *r, struct tt_tensor *v)
{
	struct tt_call *call = r->call;
	uint32_t groups = r->v.dim[2] / r->q.dim[2];

	TT_TRY(split(&r->at[Q], r, r->at[Q], &r->q));
	TT_TRY(split(&r->at[K], r, r->at[K], &r->q));
	for (int i = Q; groups > 1 && i <= K; i++) {
		struct tt_tensor *next;
		tt_status status = TT_CALL(&next, call, "ttnn.repeat_interleave",
					   {NULL, ttnn_v_tensor(r->at[i])},
					   {NULL, ttnn_v_int(groups)}, {NULL, ttnn_v_int(0)});

		TT_TRY(tt_call_assign(&r->at[i], call, status, &next));
	}
	return split(&r->at[V], r, v, &r->v);
}

static tt_status prepare_numbers(struct recurrent *r)
{
	uint32_t rows = r->v.dim[0] * r->v.dim[2] * r->q.dim[1];
	const struct ttnn_shape heads = {3, {r->v.dim[0], r->v.dim[1], r->v.dim[2]}};
	struct tt_call *call = r->call;
	struct tt_tensor *g = NULL;
	tt_status status = split(&g, r, tt_call_tensor(call, "g"), &heads);

	if (status == TTNN_OK)
		status = TT_CALL(&r->at[DECAY], call, "ttnn.exp", {NULL, ttnn_v_tensor(g)});
	TT_TRY(tt_call_drop_after(call, status, g));
	TT_TRY(split(&r->at[BETA], r, tt_call_tensor(call, "beta"), &heads));
	for (int i = Q; r->q.dim[1] > 1 && i <= V; i++)
		TT_TRY(by_rows(&r->at[i], call, rows, i == V ? r->v.dim[3] : r->q.dim[3]));
	TT_TRY(by_rows(&r->at[DECAY], call, rows, 1));
	return by_rows(&r->at[BETA], call, rows, 1);
}

/* A ring stays what it is. */
static tt_status prepare_state(struct recurrent *r)
{
	static const struct ttnn_memory_config dram;
	struct tt_call *call = r->call;
	struct tt_tensor *given = tt_call_tensor(call, "initial_state");
	const struct ttnn_shape shape =
		TT_SHAPE(r->q.dim[0] * r->v.dim[2], r->q.dim[3], r->v.dim[3]);
	tt_status status;

	if (given)
		r->at[STATE] = ttnn_tensor_ref(given);
	if (r->at[RING])
		return TTNN_OK;
	if (!given)
		return TT_CALL(&r->at[STATE], call, "ttnn.zeros", {"shape", ttnn_v_shape(&shape)},
			       {"dtype", ttnn_v_dtype(TTNN_FLOAT32)},
			       {"layout", ttnn_v_layout(TTNN_TILE)},
			       {"device", ttnn_v_device(call->device)},
			       {"memory_config", ttnn_v_memory(&dram)});
	TT_TRY(tt_delta_cast(&r->at[STATE], call, TTNN_FLOAT32));
	given = r->at[STATE];
	status = TT_CALL(&r->at[STATE], call, "ttnn.reshape", {NULL, ttnn_v_tensor(given)},
			 {NULL, ttnn_v_shape(&shape)});
	if (status != TTNN_OK)
		r->at[STATE] = NULL;
	return tt_call_drop_after(call, status, given);
}

static tt_status launch_tokens(struct recurrent *r)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .fp32 = true};
	static const struct ttnn_memory_config dram;
	struct tt_call *call = r->call;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	const struct ttnn_shape *rows = &r->at[Q]->spec.shape;
	uint32_t tokens = r->q.dim[1];
	struct tt_tensor *outputs[2] = {NULL, r->at[RING] ? r->at[STATE] : NULL};
	struct ttnn_value attrs[schema_count] = {
		[TOKENS] = ttnn_v_int(tokens),
		[FINAL] = ttnn_v_bool(r->final && !r->each),
		[EACH] = ttnn_v_bool(r->each),
		[MEMORY] = ttnn_v_memory(memory ? memory : &dram),
	};
	size_t count = 2;

	attrs[COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	TT_REQUIRE(tokens >= 1, "T >= 1", NAME "T must be >= 1, got %u", tokens);
	TT_REQUIRE(rows->dim[0] % tokens == 0, "BHT % T == 0",
		   "q dim0 (%u) must be divisible by T (%u)", rows->dim[0], tokens);
	attrs[HEADS] = ttnn_v_int(rows->dim[0] / tokens);
	attrs[KEY] = ttnn_v_int(rows->dim[2]);
	attrs[VALUE] = ttnn_v_int(r->at[V]->spec.shape.dim[2]);
	return tt_call_programs(r->made, &count, call,
				&(struct tt_program_args){.prog = &program,
							  .attrs = attrs,
							  .inputs = r->at,
							  .input_count = INPUTS,
							  .outputs = outputs,
							  .output_count = 2,
							  .in_place = r->at[RING]});
}

/* Rows of heads become heads of tokens again. */
static tt_status finish_rows(struct recurrent *r)
{
	const struct ttnn_shape heads =
		TT_SHAPE(r->q.dim[0], r->v.dim[2], r->q.dim[1], r->v.dim[3]);
	struct tt_tensor **out = &r->results[0];

	*out = ttnn_tensor_ref(r->made[0]);
	TT_TRY(tt_delta_step(out, r->call, "ttnn.to_layout", ttnn_v_layout(TTNN_ROW_MAJOR)));
	TT_TRY(tt_delta_step(out, r->call, "ttnn.reshape", ttnn_v_shape(&heads)));
	TT_TRY(tt_delta_swap(out, r->call));
	return tt_delta_step(out, r->call, "ttnn.to_layout", ttnn_v_layout(TTNN_TILE));
}

/* States lie token after token, of all batches: with several, batches and tokens change places. */
static tt_status finish_states(struct recurrent *r)
{
	static const struct ttnn_value dims[] = {{.kind = TTNN_VALUE_INT, .integer = 1},
						 {.kind = TTNN_VALUE_INT, .integer = 0},
						 {.kind = TTNN_VALUE_INT, .integer = 2},
						 {.kind = TTNN_VALUE_INT, .integer = 3},
						 {.kind = TTNN_VALUE_INT, .integer = 4}};
	uint32_t batches = r->q.dim[0], tokens = r->q.dim[1], heads = r->v.dim[2];
	const struct ttnn_shape by_token =
		TT_SHAPE(tokens, batches, heads, r->q.dim[3], r->v.dim[3]);
	const struct ttnn_shape each = TT_SHAPE(1, tokens, heads, r->q.dim[3], r->v.dim[3]);
	const struct ttnn_shape last = TT_SHAPE(batches, heads, r->q.dim[3], r->v.dim[3]);
	struct tt_tensor **out = &r->results[1], *states;
	tt_status status;

	if (!r->each && !r->final)
		return TTNN_OK;
	*out = ttnn_tensor_ref(r->made[1]);
	if (r->at[RING])
		return TTNN_OK;
	if (!r->each || batches == 1)
		return tt_delta_step(out, r->call, "ttnn.reshape",
				     ttnn_v_shape(r->each ? &each : &last));
	TT_TRY(tt_delta_step(out, r->call, "ttnn.to_layout", ttnn_v_layout(TTNN_ROW_MAJOR)));
	TT_TRY(tt_delta_step(out, r->call, "ttnn.reshape", ttnn_v_shape(&by_token)));
	TT_TRY(tt_delta_step(out, r->call, "ttnn.permute", ttnn_v_list(dims, TT_COUNT(dims))));
	states = *out;
	status = TT_CALL(out, r->call, "ttnn.to_layout", {NULL, ttnn_v_tensor(states)},
			 {NULL, ttnn_v_layout(TTNN_TILE)});
	if (status != TTNN_OK)
		*out = NULL;
	return tt_call_drop_after(r->call, status, states);
}

static tt_status recurrent_steps(struct recurrent *r)
{
	struct tt_call *call = r->call;
	struct tt_tensor *q = ttnn_tensor_ref(tt_call_tensor(call, "q"));
	float scale = (float)tt_call_real(call, "scale", 1.0f / sqrtf((float)r->q.dim[3]));
	tt_status status = tt_delta_cast(&q, call, TTNN_FLOAT32);

	if (status == TTNN_OK)
		status = TT_CALL(&r->at[Q], call, "ttnn.multiply", {NULL, ttnn_v_tensor(q)},
				 {NULL, ttnn_v_real(scale)});
	TT_TRY(tt_call_drop_after(call, status, q));
	r->at[K] = ttnn_tensor_ref(tt_call_tensor(call, "k"));
	TT_TRY(tt_delta_cast(&r->at[K], call, TTNN_FLOAT32));
	TT_TRY(prepare_heads(r, tt_call_tensor(call, "v")));
	TT_TRY(prepare_numbers(r));
	TT_TRY(prepare_state(r));
	TT_TRY(launch_tokens(r));
	TT_TRY(finish_rows(r));
	return finish_states(r);
}

/* q and k [batches, tokens, heads, keys], v with heads and values of its own. */
static tt_status read_shapes(const struct tt_call *call, struct recurrent *r)
{
	r->q = tt_call_tensor(call, "q")->spec.shape;
	r->v = tt_call_tensor(call, "v")->spec.shape;
	for (uint32_t i = 0; i < 4; i++)
		TT_TRY(tt_need_dim(&r->q, i));
	TT_TRY(tt_need_dim(&r->v, 2));
	TT_TRY(tt_need_dim(&r->v, 3));
	TT_NEED(r->q.rank == 4 && r->v.rank == 4, NAME "q and v have four dimensions");
	TT_NEED(r->q.dim[2] && r->q.dim[3], NAME "there are no heads");
	return TTNN_OK;
}

static tt_status recurrent_expand(struct tt_call *call)
{
	struct recurrent r = {.call = call};
	tt_status status;

	TT_REQUIRE(!tt_call_bool(call, "use_qk_l2norm", false), "!use_qk_l2norm",
		   NAME "use_qk_l2norm not done here; L2-normalize q/k on host");
	TT_TRY(tt_need_device(tt_call_tensor(call, "q")));
	TT_TRY(read_shapes(call, &r));
	TT_REQUIRE(r.v.dim[2] % r.q.dim[2] == 0, "HV % H == 0",
		   "HV (%u) must be divisible by H (%u)", r.v.dim[2], r.q.dim[2]);
	r.final = tt_call_bool(call, "output_final_state", false);
	r.each = tt_call_bool(call, "output_per_token_state", false);
	r.at[RING] = tt_call_tensor(call, "initial_state_block_idx");
	status = recurrent_steps(&r);
	for (size_t i = 0; i < 2; i++)
		tt_call_return(call, r.results[i]);
	tt_call_drop_all(call, r.made, 2);
	for (int i = STATE; i >= Q; i--)
		tt_call_drop(call, r.at[i]);
	return status;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.transformer.fused_recurrent_gated_delta_rule",
	 .doc = "Gated delta nets, token after token.",
	 .sigs = {"q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, *, scale: float? = None, "
		  "initial_state: Tensor? = None, initial_state_block_idx: Tensor? = None, "
		  "output_final_state: bool = False, output_per_token_state: bool = False, "
		  "use_qk_l2norm: bool = False, memory_config: MemoryConfig? = None, "
		  "compute_kernel_config: ComputeConfig? = None"},
	 .expand = recurrent_expand,
	 .golden = tt_golden_delta_recurrent,
	 .gives = "Tensor, Tensor",
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_delta_recurrent = {"delta_recurrent", ops, TT_COUNT(ops)};
