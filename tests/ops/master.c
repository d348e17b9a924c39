/*
 * master.c: runs the configurations traced from real models and compares each with its golden.
 *
 * Every configuration becomes a call of typed arguments on random tensors (seeded). Where the golden
 * of the whole would take minutes, random parts of the result are compared: the parts of the inputs
 * that they depend on go through the golden.
 */
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/large.h"
#include "base/mem.h"
#include "base/opt.h"
#include "device/devtensor.h"
#include "ops/golden.h"
#include "sweep/traced.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#define POOL ((size_t)1 << 20)       /* random numbers, read from a random place on */
#define TABLE 1000                   /* rows of embeddings in use: fewer than any table has */
#define WHOLE ((uint64_t)6 << 20)    /* elements up to which all is compared */
#define PRODUCT ((uint64_t)64 << 10) /* the same for products */
#define PARTS 3
#define LONG 8192 /* keys of an attention */

/* ---- options and totals ----------------------------------------------------------------------------- */

static const char *only = ".";
static int64_t every = 1, seed = 1, largest;
static bool verbose, list_lost;

static const struct tt_opt options[] = {
	{"only", 0, TT_OPT_STRING, &only, "REGEX", "only those whose OPERATION/NUMBER fits"},
	{"every", 0, TT_OPT_INT, &every, "N", "only each N-th (default: all)"},
	{"largest", 0, TT_OPT_INT, &largest, "N", "only those with at most N elements"},
	{"seed", 0, TT_OPT_INT, &seed, "N", "of the random tensors (default: 1)"},
	{"list-lost", 0, TT_OPT_FLAG, &list_lost, NULL,
	 "print what stands for arguments that the file lost"},
	{"verbose", 'v', TT_OPT_FLAG, &verbose, NULL, "print every configuration"},
	{0},
};

struct total {
	const char *op;
	size_t count, passed, stood_in, moved;
	double seconds, least; /* correlation */
};

static struct total totals[64];
static size_t total_count;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- random tensors ------------------------------------------------------------------------------------- */

/* What a configuration's tensors are made with. */
struct making {
	ttnn_device *device;
	const struct tt_traced_config *config;
	uint64_t state;
	ttnn_tensor *made[64];
	size_t count;
	uint64_t elements;
	bool skipped; /* larger than asked for */
	bool plain;   /* all interleaved in DRAM */
};

static uint64_t next(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static float *pool;
static uint16_t *half_pool; /* the same in bfloat16: what needs no conversion is made in a third */

static tt_status fill_pool(void)
{
	uint64_t state = 7;

	pool = tt_alloc(POOL * sizeof(*pool));
	half_pool = tt_alloc(POOL * sizeof(*half_pool));
	if (!pool || !half_pool)
		return tt_fail_nomem();
	for (size_t i = 0; i < POOL; i++)
		pool[i] = (float)((double)(next(&state) >> 11) / 4503599627370496.0 - 1);
	return tt_convert(half_pool, TTNN_BFLOAT16, pool, TTNN_FLOAT32, POOL);
}

/* The type in which a tensor's numbers are made. */
static enum ttnn_dtype made_as(const struct ttnn_tensor_spec *spec)
{
	if (tt_dtype_is_integer(spec->dtype))
		return TTNN_INT32;
	return spec->dtype == TTNN_BFLOAT16 ? TTNN_BFLOAT16 : TTNN_FLOAT32;
}

/* The tensor made for this argument, or NULL. */
static ttnn_tensor *made_for(const struct making *making, const char *const *names, const char *arg)
{
	for (size_t i = 0; i < making->count; i++)
		if (names[i] && strcmp(names[i], arg) == 0)
			return making->made[i];
	return NULL;
}

static const char *made_names[64];

/* Indices must point somewhere: the number they stay below, or 0 for any number. */
static uint64_t bound_of(const struct making *making, const char *arg)
{
	const struct tt_tensor *cache = made_for(making, made_names, "cache_tensor");
	const struct tt_tensor *keys = made_for(making, made_names, "input_tensor_k");

	cache = cache ? cache : keys;
	if (strcmp(making->config->op, "ttnn.embedding") == 0)
		return TABLE;
	if (strncmp(arg, "page_table", 10) == 0 && cache)
		return cache->spec.shape.dim[0];
	if ((strcmp(arg, "update_idxs_tensor") == 0 || strcmp(arg, "cur_pos_tensor") == 0) && cache)
		return cache->spec.shape.dim[2] * 8;
	return 0;
}

static void fill_integers(int32_t *data, uint64_t count, struct making *making, const char *arg)
{
	uint64_t bound = bound_of(making, arg);
	bool pages = strncmp(arg, "page_table", 10) == 0;
	uint64_t first = next(&making->state);

	for (uint64_t i = 0; i < count; i++)
		if (pages) /* blocks that are all different, as far as there are enough */
			data[i] = (int32_t)((first + i * 7919) % (bound ? bound : 1));
		else
			data[i] = (int32_t)(next(&making->state) % (bound ? bound : 100));
}

/* Random numbers, from random places of the pool on. */
static void fill_reals(void *data, uint64_t count, struct making *making, size_t size)
{
	const uint8_t *from = size == 2 ? (const uint8_t *)half_pool : (const uint8_t *)pool;
	uint64_t at = next(&making->state) % POOL;

	for (uint64_t done = 0; done < count;) {
		uint64_t part = POOL - at < count - done ? POOL - at : count - done;

		memcpy((uint8_t *)data + done * size, from + at * size, part * size);
		done += part;
		at = next(&making->state) % POOL;
	}
}

/* Numbers of the type made_as(). Free with tt_large_free(). */
static tt_status fill(void **out, size_t *bytes, const struct tt_traced_tensor *tensor,
		      struct making *making)
{
	enum ttnn_dtype type = made_as(&tensor->spec);
	size_t size = tt_dtype_bytes(type);
	uint64_t count;

	TT_TRY(ttnn_shape_volume(&count, &tensor->spec.shape));
	making->elements += count;
	making->skipped = largest && making->elements > (uint64_t)largest;
	if (making->skipped)
		return tt_fail(TTNN_UNSUPPORTED, "larger than --largest");
	*bytes = (count + 1) * size;
	*out = tt_large_alloc(*bytes);
	if (!*out)
		return tt_fail_nomem();
	if (type == TTNN_INT32)
		fill_integers(*out, count, making, tensor->arg);
	else
		fill_reals(*out, count, making, size);
	return TTNN_OK;
}

static tt_status to_device(ttnn_tensor **out, ttnn_tensor *host, ttnn_device *device,
			   const struct ttnn_memory_config *memory)
{
	return ttnn_call_one(out, "ttnn.to_device",
			     (struct ttnn_arg[]){{NULL, ttnn_v_tensor(host)},
						 {NULL, ttnn_v_device(device)},
						 {NULL, ttnn_v_memory(memory)}},
			     3, TTNN_FRONTEND_C);
}

/* On a mesh every device but the first gets data of its own. */
static tt_status differ(ttnn_tensor *tensor, const struct tt_traced_tensor *like,
			struct making *making)
{
	for (uint32_t chip = 1; chip < ttnn_tensor_shard_count(tensor); chip++) {
		ttnn_tensor *host = NULL, *part = NULL;
		void *data = NULL;
		tt_status status;
		size_t bytes;

		TT_TRY(fill(&data, &bytes, like, making));
		status = ttnn_tensor_from_data(&host, data, made_as(&tensor->spec), &tensor->spec,
					       0);
		tt_large_free(data, bytes);
		if (status == TTNN_OK)
			status = tt_tensor_resident(&part, tensor, chip, TT_BUFFER_OVERWRITE);
		if (status == TTNN_OK)
			memcpy(tt_tensor_data(part), tt_tensor_data(host),
			       (size_t)tensor->spec.bytes);
		ttnn_tensor_unref(part);
		ttnn_tensor_unref(host);
		TT_TRY(status);
	}
	return TTNN_OK;
}

static tt_status make_tensor(ttnn_tensor **out, void *context,
			     const struct tt_traced_tensor *tensor)
{
	struct making *making = context;
	static const struct ttnn_memory_config dram;
	struct ttnn_tensor_spec spec = tensor->spec;
	ttnn_tensor *host = NULL;
	tt_status status;
	void *data = NULL;
	size_t bytes;

	if (making->count == 64)
		return tt_fail(TTNN_INVALID, "too many tensors");
	if (making->plain)
		TT_TRY(ttnn_tensor_spec_make(&spec,
					     &(struct ttnn_spec_args){.shape = spec.shape,
								      .dtype = spec.dtype,
								      .layout = spec.layout}));
	TT_TRY(fill(&data, &bytes, tensor, making));
	status = ttnn_tensor_from_data(&host, data, made_as(&spec), &spec, 0);
	tt_large_free(data, bytes);
	TT_TRY(status);
	if (tensor->on_host) {
		*out = host;
	} else {
		status = to_device(out, host, making->device,
				   making->plain ? &dram : &tensor->spec.memory);
		ttnn_tensor_unref(host);
		TT_TRY(status);
	}
	made_names[making->count] = tensor->arg;
	making->made[making->count++] = *out;
	return differ(*out, tensor, making);
}

/* ---- comparing --------------------------------------------------------------------------------------------- */

struct verdict {
	double least; /* correlation */
	char why[400];
};

static double correlation(const double *a, const double *b, uint64_t count)
{
	double ma = 0, mb = 0, ab = 0, aa = 0, bb = 0;

	for (uint64_t i = 0; i < count; i++) {
		ma += a[i];
		mb += b[i];
	}
	ma /= (double)count;
	mb /= (double)count;
	for (uint64_t i = 0; i < count; i++) {
		ab += (a[i] - ma) * (b[i] - mb);
		aa += (a[i] - ma) * (a[i] - ma);
		bb += (b[i] - mb) * (b[i] - mb);
	}
	if (aa < 1e-30 && bb < 1e-30) /* two constants: the same one? */
		return fabs(ma - mb) <= 1e-2 * fmax(1, fabs(mb)) ? 1 : 0;
	return aa < 1e-30 || bb < 1e-30 ? 0 : ab / sqrt(aa * bb);
}

static tt_status compare_one(struct verdict *verdict, ttnn_tensor *got, const struct tt_array *want)
{
	double *values = tt_calloc(want->count + 1, sizeof(*values)), pcc;
	tt_status status;

	if (!values)
		return tt_fail_nomem();
	status = tt_tensor_numbers(values, want->count, got);
	pcc = want->count ? correlation(values, want->data, want->count) : 1;
	tt_free(values);
	if (!(pcc >= verdict->least))
		verdict->least = pcc;
	return status;
}

/* On a mesh all devices have to have the same. */
static tt_status compare(struct verdict *verdict, ttnn_tensor *got, const struct tt_array *want)
{
	if (!ttnn_shape_equal(&got->spec.shape, &want->shape))
		return tt_fail(TTNN_INVALID, "the result has another shape than the golden");
	for (size_t i = 0; i < ttnn_tensor_shard_count(got); i++) {
		ttnn_tensor *shard;
		tt_status status;

		TT_TRY(ttnn_tensor_shard(&shard, got, i));
		status = compare_one(verdict, shard, want);
		ttnn_tensor_unref(shard);
		TT_TRY(status);
	}
	return TTNN_OK;
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

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
} parted[] = {
	{"ttnn.add", {{"input_tensor_a", {2, 0, 3}}, {"input_tensor_b", {2, 0, 3}}}, {2, 0, 3}},
	{"ttnn.multiply",
	 {{"input_tensor_a", {2, 0, 3}}, {"input_tensor_b", {2, 0, 3}}},
	 {2, 0, 3}},
	{"ttnn.typecast", {{"input_tensor", {2, 0, 3}}}, {2, 0, 3}},
	{"ttnn.linear",
	 {{"input_tensor_a", {2, 0, 3}}, {"input_tensor_b", {0, 1, 0}}, {"bias", {0, 1, 0}}},
	 {2, 1, 3}},
	{"ttnn.matmul", {{"input_tensor_a", {2, 0, 3}}, {"input_tensor_b", {0, 1, 0}}}, {2, 1, 3}},
	{"ttnn.rms_norm", {{"input_tensor", {2}}}, {2}},
	{"ttnn.embedding", {{"input_tensor", {1}}, {"weight", {0, 0, 0, 2}}}, {2}},
	{"ttnn.experimental.nlp_create_qkv_heads", {{"input", {2}}}, {2}},
	{"ttnn.experimental.nlp_concat_heads", {{"input_tensor", {2}}}, {2}},
	{"ttnn.experimental.rotary_embedding_llama",
	 {{"input_tensor", {2}}, {"cos_cache", {2}}, {"sin_cache", {2}}},
	 {2}},
	{"ttnn.transformer.scaled_dot_product_attention", {{"input_tensor_q", {2}}}, {2}},
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
			struct making *making)
{
	part->windows[IN_USE] = (struct window){0, TABLE};
	for (int w = 0; w < IN_USE; w++) {
		uint32_t whole = reach(results->tensors[0], part->how->out[w]), count = most[w];

		part->whole[w] = whole;
		if (whole < 2 * count)
			part->windows[w] = (struct window){0, whole};
		else
			part->windows[w] = (struct window){
				(uint32_t)(next(&making->state) % (whole / count)) * count, count};
	}
}

static tt_status take(struct part *part, struct ttnn_arg *arg, size_t k)
{
	ttnn_tensor **to = &part->cut[part->cut_count];

	TT_TRY(cut(to, arg->value.tensor, part, part->how->in[k].back));
	part->cut_count++;
	arg->value.tensor = *to;
	return TTNN_OK;
}

static tt_status make_part(struct part *part, const struct tt_traced_call *call)
{
	const struct ttnn_value *keys = value_of(call, "input_tensor_k"),
				*causal = value_of(call, "is_causal");

	memcpy(part->args, call->args, call->count * sizeof(call->args[0]));
	for (size_t i = 0; i < call->count; i++) {
		struct ttnn_arg *arg = &part->args[i];

		for (size_t k = 0; k < 4 && part->how->in[k].arg; k++)
			if (strcmp(arg->name, part->how->in[k].arg) == 0 &&
			    arg->value.kind == TTNN_VALUE_TENSOR)
				TT_TRY(take(part, arg, k));
		if (!causal || !causal->boolean || !keys)
			continue;
		if (strcmp(arg->name, "is_causal") == 0)
			arg->value = ttnn_v_bool(false);
		if (strcmp(arg->name, "attn_mask") == 0) {
			TT_TRY(causal_mask(&part->cut[part->cut_count], &part->windows[ROWS],
					   reach(keys->tensor, 2)));
			arg->value = ttnn_v_tensor(part->cut[part->cut_count++]);
		}
	}
	return TTNN_OK;
}

static tt_status compare_part(struct verdict *verdict, const struct tt_traced_config *config,
			      const struct tt_traced_call *call, const struct ttnn_results *results,
			      struct part *part)
{
	struct tt_arena arena = {0};
	struct tt_golden *golden = tt_arena_calloc(&arena, 1, sizeof(*golden));
	tt_status status = golden ? make_part(part, call) : tt_fail_nomem();

	if (status == TTNN_OK)
		status = tt_golden_run(golden, &arena, config->op, part->args, call->count);
	for (size_t i = 0; status == TTNN_OK && i < results->count; i++) {
		ttnn_tensor *got = NULL;

		status = cut(&got, results->tensors[i], part, part->how->out);
		if (status == TTNN_OK)
			status = compare(verdict, got, &golden->out[i]);
		ttnn_tensor_unref(got);
	}
	drop_part(part);
	tt_arena_deinit(&arena);
	return status;
}

static tt_status compare_parts(struct verdict *verdict, const struct tt_traced_config *config,
			       const struct tt_traced_call *call,
			       const struct ttnn_results *results, struct making *making)
{
	const struct ttnn_value *keys = value_of(call, "input_tensor_k");
	/* A row of long attention takes seconds. */
	int parts = keys && reach(keys->tensor, 2) > LONG ? 1 : PARTS;

	for (int i = 0; i < parts; i++) {
		struct part part = {.how = parted_of(config->op)};

		choose_part(&part, results, making);
		TT_TRY(compare_part(verdict, config, call, results, &part));
	}
	return TTNN_OK;
}

/* ---- what was lost ---------------------------------------------------------------------------------------------------- */

static struct note {
	const char *op;
	char text[160];
	size_t count;
} notes[256];
static size_t note_count;

static void note(const char *op, const char *text)
{
	struct note *found = notes;

	while (found < notes + note_count &&
	       (strcmp(found->op, op) != 0 ||
		strncmp(found->text, text, sizeof(found->text) - 1) != 0))
		found++;
	if (found == notes + sizeof(notes) / sizeof(notes[0]))
		return;
	if (found == notes + note_count) {
		found->op = op;
		snprintf(found->text, sizeof(found->text), "%s", text);
		note_count++;
	}
	found->count++;
}

static void report_notes(void)
{
	printf("\n%14s  %s\n", "configurations", "operation, and what stands for what was lost");
	for (size_t i = 0; i < note_count; i++)
		printf("%14zu  %s: %s\n", notes[i].count, notes[i].op, notes[i].text);
}

/* ---- one configuration ------------------------------------------------------------------------------------------ */

/* Whether the golden of the whole takes too long. */
static bool is_giant(const struct tt_traced_config *config, const struct making *making)
{
	bool product = strstr(config->op, "linear") || strstr(config->op, "matmul") ||
		       strstr(config->op, "attention");

	return parted_of(config->op) && making->elements > (product ? PRODUCT : WHOLE);
}

static tt_status run_whole(struct verdict *verdict, const struct tt_traced_config *config,
			   const struct tt_traced_call *call)
{
	struct tt_arena arena = {0};
	struct tt_golden *golden = tt_arena_calloc(&arena, 1, sizeof(*golden));
	struct ttnn_results results = {.count = 0};
	tt_status status = golden ? TTNN_OK : tt_fail_nomem();

	/* First: some operations write into what they are given. */
	if (status == TTNN_OK)
		status = tt_golden_run(golden, &arena, config->op, call->args, call->count);
	if (status == TTNN_OK)
		status = ttnn_call(&results, config->op, call->args, call->count, TTNN_FRONTEND_C);
	/* Convolutions may give their prepared weights too, which are no part of the golden. */
	if (status == TTNN_OK && (!golden->out_count || results.count < golden->out_count))
		status = tt_fail(TTNN_INVALID, "%zu results, the golden has %zu", results.count,
				 golden->out_count);
	for (size_t i = 0; i < results.count; i++) {
		if (status == TTNN_OK && i < golden->out_count)
			status = compare(verdict, results.tensors[i], &golden->out[i]);
		ttnn_tensor_unref(results.tensors[i]);
	}
	tt_arena_deinit(&arena);
	return status;
}

static tt_status run_giant(struct verdict *verdict, const struct tt_traced_config *config,
			   const struct tt_traced_call *call, struct making *making)
{
	struct ttnn_results results = {.count = 0};
	tt_status status =
		ttnn_call(&results, config->op, call->args, call->count, TTNN_FRONTEND_C);

	if (status == TTNN_OK)
		status = compare_parts(verdict, config, call, &results, making);
	for (size_t i = 0; i < results.count; i++)
		ttnn_tensor_unref(results.tensors[i]);
	return status;
}

static tt_status run_call(struct verdict *verdict, const struct tt_traced_config *config,
			  const struct tt_traced_call *call, struct making *making)
{
	return is_giant(config, making) ? run_giant(verdict, config, call, making)
					: run_whole(verdict, config, call);
}

static void drop(struct making *making)
{
	while (making->count)
		ttnn_tensor_unref(making->made[--making->count]);
	making->elements = 0;
}

static bool is_placing(const char *name)
{
	return strcmp(name, "memory_config") == 0 || strcmp(name, "program_config") == 0 ||
	       strcmp(name, "sharded_memory_config") == 0;
}

/*
 * Some placements of then are refused now, by upstream too. Such a configuration runs in DRAM, and
 * the refusal is told.
 */
static tt_status run_plain(struct verdict *verdict, struct tt_arena *arena,
			   const struct tt_traced_config *config, struct tt_traced_call *call,
			   struct making *making)
{
	const char *why = tt_arena_printf(arena, "refused as placed: %.*s",
					  (int)strcspn(ttnn_error(), "\n"), ttnn_error());

	drop(making);
	making->plain = true;
	TT_TRY(tt_traced_bind(call, arena, config,
			      &(struct tt_traced_maker){make_tensor, making, making->device}));
	for (size_t i = 0; i < call->count; i++)
		if (is_placing(call->args[i].name))
			call->args[i].value = (struct ttnn_value){0};
	if (call->note_count < TT_TRACED_NOTES)
		call->notes[call->note_count++] = why;
	return run_call(verdict, config, call, making);
}

static void run_config(const struct tt_traced_config *config, struct total *total,
		       ttnn_device *device)
{
	const struct tt_op_entry *entry = tt_op_find(config->op);
	struct making making = {.device = device,
				.config = config,
				.state = (uint64_t)seed * 1000003 + config->number};
	struct verdict verdict = {.least = 2};
	struct tt_arena arena = {0};
	struct tt_traced_call call;
	double begin = now();
	tt_status status;

	verdict.least = 1;
	status = tt_traced_bind(&call, &arena, config,
				&(struct tt_traced_maker){make_tensor, &making, device});
	if (status == TTNN_OK)
		status = run_call(&verdict, config, &call, &making);
	if (status == TTNN_INVALID && !making.skipped) {
		status = run_plain(&verdict, &arena, config, &call, &making);
		total->moved += status == TTNN_OK;
	}
	if (status == TTNN_OK && !(verdict.least >= entry->op->pcc))
		status = tt_fail(TTNN_INVALID, "a correlation of %.6f, less than %g", verdict.least,
				 entry->op->pcc);
	if ((status != TTNN_OK && !making.skipped) || verbose)
		printf("%s %s %zu: %.5f, %.2f s%s%s\n", status == TTNN_OK ? "ok  " : "FAIL",
		       config->op, config->number, verdict.least, now() - begin,
		       status == TTNN_OK ? "" : ": ", status == TTNN_OK ? "" : ttnn_error());
	for (size_t i = 0; status == TTNN_OK && list_lost && i < call.note_count; i++) {
		printf("lost %s %zu: %s\n", config->op, config->number, call.notes[i]);
		note(config->op, call.notes[i]);
	}
	total->stood_in += call.note_count != 0;
	total->seconds += now() - begin;
	total->least = fmin(total->least, verdict.least);
	drop(&making);
	tt_arena_deinit(&arena);
	fflush(stdout);
	total->count += !making.skipped;
	total->passed += status == TTNN_OK;
}

/* ---- all of them ----------------------------------------------------------------------------------------------------- */

static struct total *total_of(const char *op)
{
	for (size_t i = 0; i < total_count; i++)
		if (strcmp(totals[i].op, op) == 0)
			return &totals[i];
	if (total_count == sizeof(totals) / sizeof(totals[0]))
		return &totals[total_count - 1];
	totals[total_count] = (struct total){.op = op, .least = 1};
	return &totals[total_count++];
}

static size_t report(void)
{
	size_t count = 0, passed = 0, stood_in = 0, moved = 0;
	double seconds = 0;

	printf("\n%-60s %6s %6s %9s %6s %9s %9s\n", "operation", "runs", "passed", "stand-ins",
	       "moved", "least pcc", "seconds");
	for (size_t i = 0; i < total_count; i++) {
		const struct total *total = &totals[i];

		printf("%-60s %6zu %6zu %9zu %6zu %9.5f %9.2f\n", total->op, total->count,
		       total->passed, total->stood_in, total->moved, total->least, total->seconds);
		count += total->count;
		passed += total->passed;
		stood_in += total->stood_in;
		moved += total->moved;
		seconds += total->seconds;
	}
	printf("%-60s %6zu %6zu %9zu %6zu %9s %9.2f\n", "all", count, passed, stood_in, moved, "",
	       seconds);
	return count - passed;
}

static tt_status run_all(size_t *failed, const char *path)
{
	struct tt_traced traced;
	ttnn_device *device, *pair;
	regex_t chosen;

	TT_TRY(fill_pool());
	TT_TRY(tt_op_registry());
	TT_TRY(tt_traced_load(&traced, path));
	TT_TRY(ttnn_device_open(
		&device, 0,
		&(struct ttnn_device_options){.profile = "n150", .l1_small_size = 24576}));
	TT_TRY(ttnn_mesh_open(&pair, &(struct ttnn_mesh_options){.rows = 1, .cols = 2},
			      &(struct ttnn_device_options){.profile = "n300"}));
	if (regcomp(&chosen, only, REG_EXTENDED | REG_NOSUB) != 0)
		return tt_fail(TTNN_INVALID, "--only: not a regular expression");
	for (size_t i = 0; i<traced.count; i += every> 0 ? (size_t)every : 1) {
		const struct tt_traced_config *config = &traced.configs[i];
		struct total *total = total_of(config->op);
		char name[160];

		snprintf(name, sizeof(name), "%s/%zu", config->op, config->number);
		if (regexec(&chosen, name, 0, NULL, 0) != 0)
			continue;
		/* What was traced on two devices runs on two. */
		run_config(config, total, strstr(config->op, "all_gather") ? pair : device);
	}
	*failed = report();
	if (list_lost)
		report_notes();
	regfree(&chosen);
	ttnn_device_unref(pair);
	ttnn_device_unref(device);
	tt_traced_free(&traced);
	tt_free(pool);
	tt_free(half_pool);
	return TTNN_OK;
}

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	size_t failed = 0;

	(void)cmd;
	if (run_all(&failed, count ? operands[0] : "tests/data/master/master_2025-11.json.gz") !=
	    TTNN_OK) {
		fprintf(stderr, "master: %s\n", ttnn_error());
		return 2;
	}
	return failed != 0;
}

int main(int argc, char **argv)
{
	static const struct tt_cmd cmd = {
		.name = "master",
		.help = "run configurations traced from models, and compare with their goldens",
		.operands = "[FILE]",
		.most = 1,
		.options = options,
		.run = run,
	};

	return tt_cmd_run(&cmd, "master", (size_t)argc - 1, argv + 1);
}
