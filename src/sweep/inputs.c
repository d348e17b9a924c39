/* inputs.c: random tensors for a configuration. */
#include "sweep/inputs.h"

#include <pthread.h>
#include <string.h>

#include "base/large.h"
#include "base/mem.h"
#include "device/devtensor.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#define POOL ((size_t)1 << 20) /* random numbers, read from a random place on */
#define ANY 100                /* integers that index nothing stay below this */

/* ---- numbers ---------------------------------------------------------------------------------------- */

static uint64_t next(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

uint64_t tt_inputs_random(struct tt_inputs *inputs)
{
	return next(&inputs->state);
}

/* Made once, kept for good: numbers of [-1, 1), and the same in bfloat16, which needs no conversion then. */
static float *pool;
static uint16_t *half_pool;
static tt_status pool_status;

static void fill_pool(void)
{
	float *numbers = tt_alloc(POOL * sizeof(*pool));
	uint16_t *halves = tt_alloc(POOL * sizeof(*half_pool));
	uint64_t state = 7;

	pool_status = numbers && halves ? TTNN_OK : TTNN_NOMEM;
	for (size_t i = 0; pool_status == TTNN_OK && i < POOL; i++)
		numbers[i] = (float)((double)(next(&state) >> 11) / 4503599627370496.0 - 1);
	if (pool_status == TTNN_OK)
		pool_status = tt_convert(halves, TTNN_BFLOAT16, numbers, TTNN_FLOAT32, POOL);
	pool = numbers;
	half_pool = halves;
}

/* The type in which a tensor's numbers are made. */
static enum ttnn_dtype made_as(const struct ttnn_tensor_spec *spec)
{
	if (tt_dtype_is_integer(spec->dtype))
		return TTNN_INT32;
	return spec->dtype == TTNN_BFLOAT16 ? TTNN_BFLOAT16 : TTNN_FLOAT32;
}

/* ---- indices ------------------------------------------------------------------------------------------ */

/*
 * Arguments that index another one: along which dimension (below 0: from the end) it is indexed, or which argument says
 * so, and how many places each of its rows has. The first row that fits counts.
 */
static const struct index_rule {
	const char *op; /* NULL: any */
	const char *arg;
	const char *of[2]; /* the first that is there */
	const char *dim_arg;
	int dim;
	uint32_t times;
	uint32_t most;
	bool distinct; /* all different, as far as there are enough */
} index_rules[] = {
	{"ttnn.embedding", "input_tensor", {"weight"}, NULL, -2, 1, TT_INPUTS_TABLE, false},
	{NULL, "page_table", {"cache_tensor", "input_tensor_k"}, NULL, 0, 1, 0, true},
	{NULL, "page_table_tensor", {"cache_tensor", "input_tensor_k"}, NULL, 0, 1, 0, true},
	{NULL, "update_idxs_tensor", {"cache_tensor", "input_tensor_k"}, NULL, 2, 8, 0, false},
	{NULL, "cur_pos_tensor", {"cache_tensor", "input_tensor_k"}, NULL, 2, 8, 0, false},
	{"ttnn.gather", "index", {"input"}, "dim", 0, 1, 0, false},
	{"ttnn.scatter", "index", {"input"}, "dim", 0, 1, 0, true},
	{NULL, "batch_id", {"input_tensor_a"}, NULL, 0, 1, 0, true},
};

static const struct tt_input *wanted(const struct tt_inputs *inputs, const char *arg)
{
	for (size_t i = 0; arg && i < inputs->wanted_count; i++)
		if (strcmp(inputs->wanted[i].arg, arg) == 0)
			return &inputs->wanted[i];
	return NULL;
}

static const struct index_rule *rule_of(const struct tt_inputs *inputs, const char *arg)
{
	for (size_t i = 0; i < sizeof(index_rules) / sizeof(index_rules[0]); i++) {
		const struct index_rule *rule = &index_rules[i];

		if (strcmp(rule->arg, arg) == 0 && (!rule->op || strcmp(rule->op, inputs->op) == 0))
			return rule;
	}
	return NULL;
}

/* How many places an index can point to; 0: it indexes nothing that is there. */
static uint64_t places(const struct tt_inputs *inputs, const struct index_rule *rule)
{
	const struct tt_input *of = rule ? wanted(inputs, rule->of[0]) : NULL;
	int64_t dim = rule ? rule->dim : 0;
	uint64_t count;

	if (rule && !of)
		of = wanted(inputs, rule->of[1]);
	if (!of)
		return 0;
	for (size_t i = 0; rule->dim_arg && i < inputs->survey.count; i++)
		if (strcmp(inputs->survey.args[i].name, rule->dim_arg) == 0 &&
		    inputs->survey.args[i].value.kind == TTNN_VALUE_INT)
			dim = inputs->survey.args[i].value.integer;
	dim += dim < 0 ? (int64_t)of->shape.rank : 0;
	if (dim < 0 || dim >= (int64_t)of->shape.rank)
		return 0;
	count = (uint64_t)of->shape.dim[dim] * rule->times;
	return rule->most && count > rule->most ? rule->most : count;
}

static void fill_integers(int32_t *data, uint64_t count, struct tt_inputs *inputs, const char *arg)
{
	const struct index_rule *rule = rule_of(inputs, arg);
	uint64_t bound = places(inputs, rule), first = next(&inputs->state);

	for (uint64_t i = 0; i < count; i++)
		if (bound && rule->distinct)
			data[i] = (int32_t)((first % bound + i * 7919) % bound);
		else
			data[i] = (int32_t)(next(&inputs->state) % (bound ? bound : ANY));
}

/* ---- tensors -------------------------------------------------------------------------------------------- */

/* Random numbers, from random places of the pool on. */
static void fill_reals(void *data, uint64_t count, struct tt_inputs *inputs, size_t size)
{
	const uint8_t *from = size == 2 ? (const uint8_t *)half_pool : (const uint8_t *)pool;

	for (uint64_t done = 0; done < count;) {
		uint64_t at = next(&inputs->state) % POOL;
		uint64_t part = POOL - at < count - done ? POOL - at : count - done;

		memcpy((uint8_t *)data + done * size, from + at * size, part * size);
		done += part;
	}
}

/* Numbers of the type made_as(). Free with tt_large_free(). */
static tt_status fill(void **out, size_t *bytes, const struct tt_traced_tensor *tensor,
		      struct tt_inputs *inputs)
{
	enum ttnn_dtype type = made_as(&tensor->spec);
	size_t size = tt_dtype_bytes(type);
	uint64_t count;

	TT_TRY(ttnn_shape_volume(&count, &tensor->spec.shape));
	inputs->elements += count;
	inputs->too_large = inputs->largest && inputs->elements > inputs->largest;
	if (inputs->too_large)
		return tt_fail(TTNN_UNSUPPORTED, "more than %llu elements",
			       (unsigned long long)inputs->largest);
	*bytes = (count + 1) * size;
	*out = tt_large_alloc(*bytes);
	if (!*out)
		return tt_fail_nomem();
	if (type == TTNN_INT32)
		fill_integers(*out, count, inputs, tensor->arg);
	else
		fill_reals(*out, count, inputs, size);
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

/* Every device of a mesh but the first gets data of its own. */
static tt_status differ(ttnn_tensor *tensor, const struct tt_traced_tensor *like,
			struct tt_inputs *inputs)
{
	for (uint32_t chip = 1; chip < ttnn_tensor_shard_count(tensor); chip++) {
		ttnn_tensor *host = NULL, *part = NULL;
		void *data = NULL;
		tt_status status;
		size_t bytes;

		TT_TRY(fill(&data, &bytes, like, inputs));
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

static tt_status place(ttnn_tensor **out, ttnn_tensor *host, const struct tt_traced_tensor *tensor,
		       const struct tt_inputs *inputs)
{
	static const struct ttnn_memory_config dram;
	tt_status status;

	if (tensor->on_host) {
		*out = host;
		return TTNN_OK;
	}
	status = to_device(out, host, inputs->device, inputs->plain ? &dram : &tensor->spec.memory);
	ttnn_tensor_unref(host);
	return status;
}

static tt_status make_tensor(ttnn_tensor **out, void *context,
			     const struct tt_traced_tensor *tensor)
{
	struct tt_inputs *inputs = context;
	struct ttnn_tensor_spec spec = tensor->spec;
	ttnn_tensor *host = NULL;
	tt_status status;
	void *data = NULL;
	size_t bytes;

	if (inputs->count == TT_INPUTS_MAX)
		return tt_fail(TTNN_INVALID, "more than %d tensors", TT_INPUTS_MAX);
	if (inputs->plain)
		TT_TRY(ttnn_tensor_spec_make(&spec,
					     &(struct ttnn_spec_args){.shape = spec.shape,
								      .dtype = spec.dtype,
								      .layout = spec.layout}));
	TT_TRY(fill(&data, &bytes, tensor, inputs));
	status = ttnn_tensor_from_data(&host, data, made_as(&spec), &spec, 0);
	tt_large_free(data, bytes);
	TT_TRY(status);
	TT_TRY(place(out, host, tensor, inputs));
	inputs->made[inputs->count++] = *out;
	return inputs->apart ? differ(*out, tensor, inputs) : TTNN_OK;
}

/* ---- calls ------------------------------------------------------------------------------------------------ */

/* Notes what is wanted: bounds of indices depend on tensors that come later. */
static tt_status survey_tensor(ttnn_tensor **out, void *context,
			       const struct tt_traced_tensor *tensor)
{
	struct tt_inputs *inputs = context;

	*out = NULL;
	if (inputs->wanted_count == TT_INPUTS_MAX)
		return tt_fail(TTNN_INVALID, "more than %d tensors", TT_INPUTS_MAX);
	inputs->wanted[inputs->wanted_count++] = (struct tt_input){tensor->arg, tensor->spec.shape};
	return TTNN_OK;
}

static tt_status bind_config(struct tt_traced_call *out, struct tt_arena *arena, const void *what,
			     const struct tt_traced_maker *maker)
{
	return tt_traced_bind(out, arena, what, maker);
}

struct tt_call_source tt_call_of_config(const struct tt_traced_config *config)
{
	return (struct tt_call_source){config->op, bind_config, config};
}

tt_status tt_inputs_survey(struct tt_inputs *inputs, struct tt_arena *arena,
			   const struct tt_call_source *source)
{
	inputs->op = source->op;
	inputs->wanted_count = 0;
	return source->bind(&inputs->survey, arena, source->what,
			    &(struct tt_traced_maker){survey_tensor, inputs, inputs->device});
}

uint64_t tt_inputs_places(const struct tt_inputs *inputs, const char *arg)
{
	return places(inputs, rule_of(inputs, arg));
}

tt_status tt_inputs_bind(struct tt_traced_call *out, struct tt_inputs *inputs,
			 struct tt_arena *arena, const struct tt_call_source *source)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fill_pool);
	if (pool_status != TTNN_OK)
		return tt_fail_nomem();
	TT_TRY(tt_inputs_survey(inputs, arena, source));
	return source->bind(out, arena, source->what,
			    &(struct tt_traced_maker){make_tensor, inputs, inputs->device});
}

void tt_inputs_drop(struct tt_inputs *inputs)
{
	while (inputs->count)
		ttnn_tensor_unref(inputs->made[--inputs->count]);
	inputs->elements = 0;
}
