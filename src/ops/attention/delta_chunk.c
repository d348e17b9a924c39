/*
 * delta_chunk.c: gated delta nets in chunks of tokens: chunk_gated_delta_rule. Models what upstream's operation does before and behind its
 * programs (delta_chunk_program.c): heads first, whole chunks, tables of the device.
 */
#include <inttypes.h>
#include <math.h>

#include "golden/golden_attention.h"
#include "ops/attention/delta_chunk.h"
#include "ops/attention/heads.h"
#include "ops/compute.h"
#include "ops/creation/creation.h"
#include "ops/op_enums.h"

#define NAME "chunk_gated_delta_rule: "

/* Sizes, and upstream's variables. Tables that were not given are made by the call. */
struct chunked {
	struct tt_delta_chunks to;
	struct tt_tensor *made[TT_DELTA_INPUTS]; /* what the call has to give up */
	struct tt_tensor *out, *final;
	uint32_t batches, tokens, heads, all, keys, values; /* all: heads of values */
	uint32_t chunk, count, pad;
	bool flat_qk, flat_v;
};

/* ---- sizes ---------------------------------------------------------------------------------------------------- */

static tt_status read_values(struct chunked *c, const struct ttnn_shape *v)
{
	const struct ttnn_shape *beta = &c->to.inputs[TT_DELTA_BETA]->spec.shape;

	TT_TRY(tt_need_dim(c->flat_v ? beta : v, 2));
	c->all = c->flat_v ? beta->dim[2] : v->dim[2];
	TT_NEED(c->all && v->rank > 2, NAME "there are no heads");
	if (!c->flat_v)
		TT_TRY(tt_need_dim(v, 3));
	c->values = c->flat_v ? v->dim[2] / c->all : v->dim[3];
	TT_NEED(c->values, NAME "there are no values");
	return TTNN_OK;
}

static tt_status read_sizes(struct chunked *c)
{
	const struct ttnn_shape *q = &c->to.inputs[TT_DELTA_Q]->spec.shape;
	const struct ttnn_shape *v = &c->to.inputs[TT_DELTA_V]->spec.shape;

	TT_TRY(tt_need_dim(q, 1));
	c->batches = q->dim[0];
	c->tokens = q->dim[1];
	c->flat_v = v->rank == 3;
	c->flat_qk = q->rank == 3;
	TT_TRY(read_values(c, v));
	if (!c->flat_qk)
		TT_TRY(tt_need_dim(q, 3));
	TT_TRY(tt_need_dim(q, 2));
	c->keys = c->flat_qk ? c->values : q->dim[3];
	TT_NEED(c->keys && c->tokens && c->batches, NAME "there are no tokens");
	c->heads = c->flat_qk ? q->dim[2] / c->keys : q->dim[2];
	TT_REQUIRE(!c->flat_qk || q->dim[2] == c->heads * c->keys, "qs[2] == H * K",
		   "flat q width %u != H*K (%u*%u); flat q/k path assumes K==V", q->dim[2],
		   c->heads, c->keys);
	TT_NEED(c->heads, NAME "there are no heads");
	TT_REQUIRE(c->all % c->heads == 0, "HV % H == 0", "HV (%u) must be divisible by H (%u)",
		   c->all, c->heads);
	TT_REQUIRE(c->chunk == TT_TILE || c->chunk == 2 * TT_TILE,
		   "chunk_size == tt::constants::TILE_HEIGHT || chunk_size == 2 * "
		   "tt::constants::TILE_HEIGHT",
		   "chunk_gdn: chunk_size must be 32 or 64 (got %u)", c->chunk);
	c->count = (uint32_t)tt_div_up(c->tokens, c->chunk);
	c->pad = c->count * c->chunk - c->tokens;
	return TTNN_OK;
}

/* ---- before --------------------------------------------------------------------------------------------------- */

/* Heads first, in bfloat16; flat ones are only cast. */
static tt_status split(struct chunked *c, int input)
{
	struct tt_tensor *in = c->to.inputs[input];
	bool v = input == TT_DELTA_V, flat = v ? c->flat_v : c->flat_qk;
	const struct tt_delta_heads as = {
		{3, {c->batches * (v ? c->all : c->heads), c->tokens, v ? c->values : c->keys}},
		TTNN_BFLOAT16};

	if (!flat)
		return tt_delta_split(&c->made[input], c->to.call, in, &as);
	c->made[input] = ttnn_tensor_ref(in);
	return tt_delta_cast(&c->made[input], c->to.call, TTNN_BFLOAT16);
}

/* Queries and keys for all heads of values, and queries scaled; flat ones are so in the kernel. */
static tt_status share_heads(struct chunked *c, double scale)
{
	bool norm = c->flat_qk && c->chunk == TT_TILE;
	struct tt_call *call = c->to.call;

	for (int i = TT_DELTA_Q; !c->flat_qk && c->all > c->heads && i <= TT_DELTA_K; i++) {
		struct tt_tensor *next;
		tt_status status = TT_CALL(
			&next, call, "ttnn.repeat_interleave", {NULL, ttnn_v_tensor(c->made[i])},
			{NULL, ttnn_v_int(c->all / c->heads)}, {NULL, ttnn_v_int(0)});

		TT_TRY(tt_call_assign(&c->made[i], call, status, &next));
	}
	return norm ? TTNN_OK
		    : tt_delta_step(&c->made[TT_DELTA_Q], call, "ttnn.multiply",
				    ttnn_v_real(scale));
}

static tt_status zeros(struct tt_tensor **out, struct tt_call *call, const struct ttnn_shape *shape,
		       enum ttnn_dtype dtype)
{
	static const struct ttnn_memory_config dram;

	return TT_CALL(out, call, "ttnn.zeros", {"shape", ttnn_v_shape(shape)},
		       {"dtype", ttnn_v_dtype(dtype)}, {"layout", ttnn_v_layout(TTNN_TILE)},
		       {"device", ttnn_v_device(call->device)},
		       {"memory_config", ttnn_v_memory(&dram)});
}

/* Zeros behind the tokens, up to a whole chunk. */
static tt_status pad(struct chunked *c, int input)
{
	bool v = input == TT_DELTA_V;
	struct tt_tensor **at = &c->made[input], *rest, *next;
	const struct ttnn_shape shape =
		TT_SHAPE(c->batches * c->all, c->pad, v ? c->values : c->keys);
	struct ttnn_value parts[2];
	tt_status status;

	if (!c->pad || (v ? c->flat_v : c->flat_qk))
		return TTNN_OK;
	TT_TRY(zeros(&rest, c->to.call, &shape, (*at)->spec.dtype));
	parts[0] = ttnn_v_tensor(*at);
	parts[1] = ttnn_v_tensor(rest);
	status = TT_CALL(&next, c->to.call, "ttnn.concat", {NULL, ttnn_v_list(parts, 2)},
			 {NULL, ttnn_v_int(1)});
	tt_call_drop(c->to.call, rest);
	return tt_call_assign(at, c->to.call, status, &next);
}

/* What the program takes: a view of each in chunks. */
static tt_status by_chunks(struct chunked *c, int input)
{
	bool v = input == TT_DELTA_V;
	const struct ttnn_shape shape =
		TT_SHAPE(c->batches * c->all, c->count, c->chunk, v ? c->values : c->keys);

	if (v ? c->flat_v : c->flat_qk) {
		c->to.inputs[input] = ttnn_tensor_ref(c->made[input]);
		return TTNN_OK;
	}
	c->to.inputs[input] = NULL;
	return TT_CALL(&c->to.inputs[input], c->to.call, "ttnn.reshape",
		       {NULL, ttnn_v_tensor(c->made[input])}, {NULL, ttnn_v_shape(&shape)});
}

/* A table of the device: ones on the diagonal, under it, everywhere, and in three quarters of a tile each. */
static float table_value(int table, uint32_t row, uint32_t column)
{
	uint32_t quarter = column / TT_TILE, place = column % TT_TILE;

	switch (table) {
	case TT_DELTA_EYE:
		return row == column;
	case TT_DELTA_TRIL:
		return column <= row;
	case TT_DELTA_ONES:
		return 1;
	default:
		return (row >= TT_FACE) == (quarter > 0) && (place >= TT_FACE) == (quarter == 1);
	}
}

static tt_status make_table(struct chunked *c, int table)
{
	uint32_t rows = table == TT_DELTA_MASKS ? TT_TILE : c->chunk;
	uint32_t columns = table == TT_DELTA_MASKS ? 3 * TT_TILE : c->chunk;
	struct ttnn_spec_args args = {
		.shape = TT_SHAPE(1, 1, rows, columns), .dtype = TTNN_FLOAT32, .layout = TTNN_TILE};
	float *values =
		tt_arena_calloc(c->to.call->arena, (uint64_t)rows * columns, sizeof(*values));
	struct ttnn_tensor_spec spec;
	struct tt_tensor *host;
	tt_status status;

	TT_NEED_MEMORY(values);
	for (uint32_t i = 0; i < rows * columns; i++)
		values[i] = table_value(table, i / columns, i % columns);
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(ttnn_tensor_from_data(&host, values, TTNN_FLOAT32, &spec, 0));
	status = tt_host_to_device(&c->made[table], c->to.call, host, c->to.call->device, NULL);
	ttnn_tensor_unref(host);
	c->to.inputs[table] = c->made[table];
	return status;
}

/* The caller's tables, all four, or the call's own. */
static tt_status read_tables(struct chunked *c)
{
	static const char *const names[] = {"eye", "tril", "ones", "masks"};
	bool all = true;

	for (int i = 0; i < (int)TT_COUNT(names); i++) {
		c->to.inputs[TT_DELTA_EYE + i] = tt_call_tensor(c->to.call, names[i]);
		all = all && c->to.inputs[TT_DELTA_EYE + i];
	}
	for (int i = 0; !all && i < (int)TT_COUNT(names); i++)
		TT_TRY(make_table(c, TT_DELTA_EYE + i));
	return TTNN_OK;
}

static tt_status read_state(struct chunked *c)
{
	const struct ttnn_shape shape = TT_SHAPE(c->batches * c->all, c->keys, c->values);
	struct tt_tensor *given = tt_call_tensor(c->to.call, "initial_state");
	struct tt_tensor *state, *made = NULL;
	tt_status status;

	if (!given) {
		status = zeros(&made, c->to.call, &shape, TTNN_FLOAT32);
	} else {
		state = ttnn_tensor_ref(given);
		status = tt_delta_cast(&state, c->to.call, TTNN_FLOAT32);
		if (status == TTNN_OK)
			status =
				TT_CALL(&made, c->to.call, "ttnn.reshape",
					{NULL, ttnn_v_tensor(state)}, {NULL, ttnn_v_shape(&shape)});
		tt_call_drop(c->to.call, state);
	}
	c->made[TT_DELTA_STATE] = c->to.inputs[TT_DELTA_STATE] = status == TTNN_OK ? made : NULL;
	return status;
}

/* Decay and what is learnt stay as they are if the kernels read their type. */
static tt_status read_gates(struct chunked *c)
{
	for (int i = TT_DELTA_G; i <= TT_DELTA_BETA; i++) {
		struct tt_tensor *in = c->to.inputs[i];

		c->made[i] = ttnn_tensor_ref(in);
		if (in->spec.dtype != TTNN_BFLOAT16)
			TT_TRY(tt_delta_cast(&c->made[i], c->to.call, TTNN_FLOAT32));
		c->to.inputs[i] = c->made[i];
	}
	return TTNN_OK;
}

/* ---- behind ---------------------------------------------------------------------------------------------------- */

/* Tokens first again, in rows, without what was padded; or heads first as they are. */
static tt_status finish(struct chunked *c, bool major)
{
	const struct ttnn_shape rows =
		TT_SHAPE(c->batches * c->all, c->count * c->chunk, c->values);
	const struct ttnn_shape heads = TT_SHAPE(c->batches, c->all, c->tokens, c->values);
	const struct ttnn_value ends[] = {ttnn_v_int(rows.dim[0]), ttnn_v_int(c->tokens),
					  ttnn_v_int(c->values)};
	const struct ttnn_value starts[] = {ttnn_v_int(0), ttnn_v_int(0), ttnn_v_int(0)};
	struct tt_call *call = c->to.call;
	struct tt_tensor *next;

	c->out = ttnn_tensor_ref(c->to.results[0]);
	if (!major || c->pad)
		TT_TRY(tt_delta_step(&c->out, call, "ttnn.to_layout",
				     ttnn_v_layout(TTNN_ROW_MAJOR)));
	TT_TRY(tt_delta_step(&c->out, call, "ttnn.reshape", ttnn_v_shape(&rows)));
	if (c->pad)
		TT_TRY(tt_call_assign(
			&c->out, call,
			TT_CALL(&next, call, "ttnn.slice", {NULL, ttnn_v_tensor(c->out)},
				{NULL, ttnn_v_list(starts, 3)}, {NULL, ttnn_v_list(ends, 3)}),
			&next));
	if (major && !c->pad)
		return TTNN_OK;
	if (major) {
		next = c->out;
		c->out = NULL;
		return tt_call_drop_after(call,
					  TT_CALL(&c->out, call, "ttnn.to_layout",
						  {NULL, ttnn_v_tensor(next)},
						  {NULL, ttnn_v_layout(TTNN_TILE)}),
					  next);
	}
	TT_TRY(tt_delta_step(&c->out, call, "ttnn.reshape", ttnn_v_shape(&heads)));
	return tt_delta_swap(&c->out, call);
}

static tt_status finish_state(struct chunked *c)
{
	const struct ttnn_shape shape = TT_SHAPE(c->batches, c->all, c->keys, c->values);

	if (!c->to.final)
		return TTNN_OK;
	return TT_CALL(&c->final, c->to.call, "ttnn.reshape",
		       {NULL, ttnn_v_tensor(c->to.results[1])}, {NULL, ttnn_v_shape(&shape)});
}

/* ---- the operation --------------------------------------------------------------------------------------------- */

static void describe(struct chunked *c, double scale)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .fp32 = true};
	static const struct ttnn_memory_config dram;
	struct tt_call *call = c->to.call;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct ttnn_value *shape = c->to.shape;

	shape[TT_DELTA_HEADS] = ttnn_v_int(c->batches * c->all);
	shape[TT_DELTA_CHUNKS] = ttnn_v_int(c->count);
	shape[TT_DELTA_CHUNK] = ttnn_v_int(c->chunk);
	shape[TT_DELTA_KEY] = ttnn_v_int(c->keys);
	shape[TT_DELTA_VALUE] = ttnn_v_int(c->values);
	shape[TT_DELTA_V_FLAT] = ttnn_v_bool(c->flat_v);
	shape[TT_DELTA_V_HEADS] = ttnn_v_int(c->all);
	shape[TT_DELTA_QK_FLAT] = ttnn_v_bool(c->flat_qk);
	shape[TT_DELTA_QK_HEADS] = ttnn_v_int(c->heads);
	shape[TT_DELTA_NORM] = ttnn_v_bool(c->flat_qk && c->chunk == TT_TILE);
	shape[TT_DELTA_SCALE] = ttnn_v_real(scale);
	c->to.memory = ttnn_v_memory(memory ? memory : &dram);
	c->to.compute = tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	c->to.config = tt_call_arg(call, "program_config");
	c->to.final = tt_call_bool(call, "output_final_state", false);
}

static tt_status prepare(struct chunked *c, double scale)
{
	for (int i = TT_DELTA_Q; i <= TT_DELTA_V; i++)
		TT_TRY(split(c, i));
	TT_TRY(read_gates(c));
	TT_TRY(share_heads(c, scale));
	for (int i = TT_DELTA_Q; i <= TT_DELTA_V; i++)
		TT_TRY(pad(c, i));
	return TTNN_OK;
}

/* `views` are the program's tensors of q, k and v, which the call has besides. */
static tt_status steps(struct chunked *c, double scale)
{
	for (int i = TT_DELTA_Q; i <= TT_DELTA_V; i++)
		TT_TRY(by_chunks(c, i));
	TT_TRY(read_tables(c));
	TT_TRY(read_state(c));
	TT_REQUIRE(!c->flat_v || !c->pad, "!flat_v || pad == 0",
		   "OPT-A flat v requires T (%u) to be a multiple of chunk_size (%u)", c->tokens,
		   c->chunk);
	TT_REQUIRE(!c->flat_qk || c->chunk == TT_TILE, "!flat_qk || qk_norm",
		   "OPT-A flat q/k needs the in-kernel norm (chunk_size == 32)");
	TT_REQUIRE(!c->flat_qk || !c->pad, "!flat_qk || pad == 0",
		   "OPT-A flat q/k requires T (%u) to be a multiple of chunk_size (%u)", c->tokens,
		   c->chunk);
	describe(c, scale);
	TT_TRY(tt_delta_run(&c->to));
	TT_TRY(finish_state(c));
	return finish(c, tt_call_bool(c->to.call, "output_head_major", false));
}

static tt_status chunk_expand(struct tt_call *call)
{
	static const char *const names[] = {"q", "k", "v", "g", "beta"};
	struct chunked c = {.to.call = call};
	double scale;
	tt_status status;

	TT_REQUIRE(!tt_call_bool(call, "use_qk_l2norm", false), "!use_qk_l2norm",
		   NAME "use_qk_l2norm not yet supported; pre-normalize q/k on host");
	for (size_t i = 0; i < TT_COUNT(names); i++) {
		c.to.inputs[i] = tt_call_tensor(call, names[i]);
		TT_TRY(tt_need_device(c.to.inputs[i]));
	}
	c.chunk = (uint32_t)tt_call_int(call, "chunk_size", 2 * TT_TILE);
	TT_TRY(read_sizes(&c));
	scale = (float)tt_call_real(call, "scale", 1.0f / sqrtf((float)c.keys));
	status = prepare(&c, scale);
	if (status == TTNN_OK) {
		for (int i = TT_DELTA_Q; i <= TT_DELTA_V; i++)
			c.to.inputs[i] = NULL;
		status = steps(&c, scale);
		for (int i = TT_DELTA_Q; i <= TT_DELTA_V; i++)
			tt_call_overwrite(call, c.to.inputs[i]);
	}
	tt_call_return(call, c.out);
	tt_call_return(call, c.final);
	for (int i = 1; i >= 0; i--)
		tt_call_drop(call, c.to.results[i]);
	for (int i = TT_DELTA_STATE; i >= TT_DELTA_Q; i--)
		tt_call_drop(call, c.made[i]);
	return status;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.transformer.chunk_gated_delta_rule",
	 .doc = "Gated delta nets, chunks of tokens at a time.",
	 .sigs = {"q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, *, scale: float? = None, "
		  "initial_state: Tensor? = None, output_final_state: bool = False, chunk_size: size = "
		  "64, use_qk_l2norm: bool = False, output_head_major: bool = False, program_config: "
		  "ProgramConfig? = None, wy_inverse: ChunkGdnWyInverse = AUTO, memory_config: "
		  "MemoryConfig? = None, compute_kernel_config: ComputeConfig? = None, eye: Tensor? = "
		  "None, tril: Tensor? = None, ones: Tensor? = None, masks: Tensor? = None"},
	 .expand = chunk_expand,
	 .golden = tt_golden_delta_chunk,
	 .pcc = 0.999,
	 .gives = "Tensor, Tensor",
	 .programs = tt_delta_programs},
};

const struct tt_op_family tt_family_delta_chunk = {"delta_chunk", ops, TT_COUNT(ops)};
