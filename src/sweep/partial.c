/* partial.c: parts of results that are too large to be checked whole. */
#include "sweep/partial.h"

#include <string.h>

#include "base/mem.h"
#include "tensor/shape.h"

#define WHOLE ((uint64_t)6 << 20)    /* elements up to which all is compared */
#define PRODUCT ((uint64_t)64 << 10) /* the same for products */
#define PARTS 3
#define LONG 8192 /* keys of an attention: a row of a longer one takes seconds */

/* What a part takes of a result: some rows, some columns, some matrices; of a table, what is in use. */
enum { ROWS, COLUMNS, BATCHES, IN_USE, WINDOWS };

struct window {
	uint32_t first, count;
};

static const uint32_t most[IN_USE] = {[ROWS] = 32, [COLUMNS] = 128, [BATCHES] = 2};

/*
 * Operations of which a part of the result depends on a part of their inputs: in which dimension,
 * counted from the end, each window lies (0: in none).
 */
static const struct parted {
	const char *op;
	struct {
		const char *arg;
		uint32_t back[WINDOWS];
	} in[4];
	uint32_t out[WINDOWS];
	bool product; /* its golden takes longer */
} parted[] = {
	{"ttnn.add",
	 {{"input_tensor_a", {2, 0, 3}}, {"input_tensor_b", {2, 0, 3}}},
	 {2, 0, 3},
	 false},
	{"ttnn.multiply",
	 {{"input_tensor_a", {2, 0, 3}}, {"input_tensor_b", {2, 0, 3}}},
	 {2, 0, 3},
	 false},
	{"ttnn.typecast", {{"input_tensor", {2, 0, 3}}}, {2, 0, 3}, false},
	{"ttnn.linear",
	 {{"input_tensor_a", {2, 0, 3}}, {"input_tensor_b", {0, 1, 3}}, {"bias", {0, 1, 0}}},
	 {2, 1, 3},
	 true},
	{"ttnn.matmul",
	 {{"input_tensor_a", {2, 0, 3}}, {"input_tensor_b", {0, 1, 3}}},
	 {2, 1, 3},
	 true},
	{"ttnn.rms_norm", {{"input_tensor", {2}}}, {2}, false},
	{"ttnn.embedding", {{"input_tensor", {1}}, {"weight", {0, 0, 0, 2}}}, {2}, false},
	{"ttnn.experimental.nlp_create_qkv_heads", {{"input", {2}}}, {2}, false},
	{"ttnn.experimental.nlp_concat_heads", {{"input_tensor", {2}}}, {2}, false},
	{"ttnn.experimental.rotary_embedding_llama",
	 {{"input_tensor", {2}}, {"cos_cache", {2}}, {"sin_cache", {2}}},
	 {2},
	 false},
	{"ttnn.transformer.scaled_dot_product_attention", {{"input_tensor_q", {2}}}, {2}, true},
};

static const struct parted *parted_of(const char *op)
{
	for (size_t i = 0; i < sizeof(parted) / sizeof(parted[0]); i++)
		if (strcmp(parted[i].op, op) == 0)
			return &parted[i];
	return NULL;
}

/* How far a dimension, counted from the end, reaches; 0 when there is none. */
static uint32_t reach(const ttnn_tensor *tensor, uint32_t back)
{
	const struct ttnn_shape *shape = &tensor->spec.shape;

	return back && back <= shape->rank ? shape->dim[shape->rank - back] : 0;
}

/* A part of a call: which, of what, and its tensors. */
struct part {
	const struct parted *how;
	struct window windows[WINDOWS];
	uint32_t whole[WINDOWS]; /* what they are windows of */
	struct ttnn_arg args[TT_ARGS_MAX];
	size_t arg_count;
	ttnn_tensor *cut[5];
	size_t cut_count;
};

/* The part of a tensor that lies in the windows. */
static tt_status cut(ttnn_tensor **out, ttnn_tensor *tensor, const struct part *part,
		     const uint32_t back[WINDOWS])
{
	static const struct ttnn_memory_config dram;
	const struct ttnn_shape *shape = &tensor->spec.shape;
	struct ttnn_value starts[TTNN_MAX_RANK], ends[TTNN_MAX_RANK], steps[TTNN_MAX_RANK];

	for (uint32_t d = 0; d < shape->rank; d++) {
		starts[d] = ttnn_v_int(0);
		ends[d] = ttnn_v_int(shape->dim[d]);
		steps[d] = ttnn_v_int(1);
	}
	for (int w = 0; w < WINDOWS; w++) {
		uint32_t d = back[w] <= shape->rank ? shape->rank - back[w] : 0;

		/* What is broadcast is not cut; a table that is longer than needed is. */
		if (!reach(tensor, back[w]) ||
		    (w != IN_USE && (!part->whole[w] || reach(tensor, back[w]) < part->whole[w])))
			continue;
		starts[d] = ttnn_v_int(part->windows[w].first);
		ends[d] = ttnn_v_int(part->windows[w].first + part->windows[w].count);
	}
	return ttnn_call_one(out, "ttnn.slice",
			     (struct ttnn_arg[]){{NULL, ttnn_v_tensor(tensor)},
						 {NULL, ttnn_v_list(starts, shape->rank)},
						 {NULL, ttnn_v_list(ends, shape->rank)},
						 {NULL, ttnn_v_list(steps, shape->rank)},
						 {"memory_config", ttnn_v_memory(&dram)}},
			     5, TTNN_FRONTEND_C);
}

static const struct ttnn_value *value_of(const struct tt_traced_call *call, const char *name)
{
	for (size_t i = 0; i < call->count; i++)
		if (strcmp(call->args[i].name, name) == 0)
			return &call->args[i].value;
	return NULL;
}

/* The additive mask of causal attention for these rows. */
static tt_status causal_mask(ttnn_tensor **out, const struct window *rows, uint32_t keys)
{
	struct ttnn_spec_args args = {.shape = TT_SHAPE(1, 1, rows->count, keys),
				      .dtype = TTNN_FLOAT32};
	struct ttnn_tensor_spec spec;
	tt_status status;
	float *data;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	data = tt_calloc((size_t)rows->count * keys, sizeof(*data));
	if (!data)
		return tt_fail_nomem();
	for (uint32_t r = 0; r < rows->count; r++)
		for (uint32_t k = rows->first + r + 1; k < keys; k++)
			data[(size_t)r * keys + k] = -1e30f;
	status = ttnn_tensor_from_data(out, data, TTNN_FLOAT32, &spec, 0);
	tt_free(data);
	return status;
}

static void drop_part(struct part *part)
{
	while (part->cut_count)
		ttnn_tensor_unref(part->cut[--part->cut_count]);
}

/* Random windows, in whole tiles, on the first result. */
static void choose_part(struct part *part, const struct ttnn_results *results,
			struct tt_inputs *inputs)
{
	part->windows[IN_USE] = (struct window){0, TT_INPUTS_TABLE};
	for (int w = 0; w < IN_USE; w++) {
		uint32_t whole = reach(results->tensors[0], part->how->out[w]), count = most[w];

		part->whole[w] = whole;
		if (whole < 2 * count)
			part->windows[w] = (struct window){0, whole};
		else
			part->windows[w] = (struct window){
				(uint32_t)(tt_inputs_random(inputs) % (whole / count)) * count,
				count};
	}
}

/* Whether a factor of a product is transposed: its rows are its columns then. */
static bool is_transposed(const struct part *part, const char *factor)
{
	static const char *const flags[][2] = {{"input_tensor_a", "transpose_a"},
					       {"input_tensor_b", "transpose_b"}};

	for (size_t f = 0; f < sizeof(flags) / sizeof(flags[0]); f++)
		for (size_t i = 0; strcmp(factor, flags[f][0]) == 0 && i < part->arg_count; i++)
			if (strcmp(part->args[i].name, flags[f][1]) == 0)
				return part->args[i].value.kind == TTNN_VALUE_BOOL &&
				       part->args[i].value.boolean;
	return false;
}

static tt_status take(struct part *part, struct ttnn_arg *arg, size_t k)
{
	ttnn_tensor **to = &part->cut[part->cut_count];
	uint32_t back[WINDOWS];

	for (int w = 0; w < WINDOWS; w++) {
		uint32_t d = part->how->in[k].back[w];

		back[w] = (d == 1 || d == 2) && is_transposed(part, arg->name) ? 3 - d : d;
	}
	TT_TRY(cut(to, arg->value.tensor, part, back));
	part->cut_count++;
	arg->value.tensor = *to;
	return TTNN_OK;
}

/* The argument of that name, added if the call has none; NULL when there is no room. */
static struct ttnn_arg *arg_of(struct part *part, const char *name)
{
	for (size_t i = 0; i < part->arg_count; i++)
		if (strcmp(part->args[i].name, name) == 0)
			return &part->args[i];
	if (part->arg_count == TT_ARGS_MAX)
		return NULL;
	part->args[part->arg_count] = (struct ttnn_arg){name, {0}};
	return &part->args[part->arg_count++];
}

/* Rows from the middle of causal attention see the keys up to their own place: a mask says which. */
static tt_status mask_part(struct part *part, const ttnn_tensor *keys)
{
	struct ttnn_arg *causal = arg_of(part, "is_causal"), *mask = arg_of(part, "attn_mask");

	if (!causal || !mask)
		return tt_fail(TTNN_INTERNAL, "%s has too many arguments", part->how->op);
	TT_TRY(causal_mask(&part->cut[part->cut_count], &part->windows[ROWS], reach(keys, 2)));
	causal->value = ttnn_v_bool(false);
	mask->value = ttnn_v_tensor(part->cut[part->cut_count++]);
	return TTNN_OK;
}

static tt_status make_part(struct part *part, const struct tt_traced_call *call)
{
	const struct ttnn_value *keys = value_of(call, "input_tensor_k"),
				*causal = value_of(call, "is_causal");

	memcpy(part->args, call->args, call->count * sizeof(call->args[0]));
	part->arg_count = call->count;
	for (size_t i = 0; i < call->count; i++) {
		struct ttnn_arg *arg = &part->args[i];

		for (size_t k = 0; k < 4 && part->how->in[k].arg; k++)
			if (strcmp(arg->name, part->how->in[k].arg) == 0 &&
			    arg->value.kind == TTNN_VALUE_TENSOR)
				TT_TRY(take(part, arg, k));
	}
	/* It is causal unless the call says otherwise. */
	if (keys && (!causal || causal->kind == TTNN_VALUE_ABSENT || causal->boolean))
		return mask_part(part, keys->tensor);
	return TTNN_OK;
}

static tt_status compare_part(struct tt_verdict *verdict, const char *op,
			      const struct tt_traced_call *call, const struct ttnn_results *results,
			      struct part *part)
{
	struct tt_arena arena = {0};
	struct tt_golden *golden = tt_arena_calloc(&arena, 1, sizeof(*golden));
	tt_status status = golden ? make_part(part, call) : tt_fail_nomem();

	if (status == TTNN_OK)
		status = tt_golden_run(golden, &arena, op, part->args, part->arg_count);
	for (size_t i = 0; status == TTNN_OK && i < results->count; i++) {
		ttnn_tensor *got = NULL;

		status = cut(&got, results->tensors[i], part, part->how->out);
		if (status == TTNN_OK)
			status = tt_verdict_add(verdict, got, &golden->out[i]);
		ttnn_tensor_unref(got);
	}
	drop_part(part);
	tt_arena_deinit(&arena);
	return status;
}

bool tt_partial_wanted(const char *op, uint64_t elements)
{
	const struct parted *how = parted_of(op);

	return how && elements > (how->product ? PRODUCT : WHOLE);
}

tt_status tt_partial_compare(struct tt_verdict *verdict, struct tt_inputs *inputs,
			     const struct tt_traced_call *call, const struct ttnn_results *results)
{
	const struct ttnn_value *keys = value_of(call, "input_tensor_k");
	int parts = keys && reach(keys->tensor, 2) > LONG ? 1 : PARTS;

	for (int i = 0; i < parts; i++) {
		struct part part = {.how = parted_of(inputs->op)};

		choose_part(&part, results, inputs);
		TT_TRY(compare_part(verdict, inputs->op, call, results, &part));
	}
	return TTNN_OK;
}
