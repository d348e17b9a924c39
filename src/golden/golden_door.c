/*
 * golden_door.c: what an operation refuses its golden refuses too, in the same words: before a golden runs the operation
 * does, dry, on tensors that stand for those of the call (tt_call_rehearse()).
 *
 * Tensors of a device stand as they are, those on the host as if they were on one. Nobody said how these would lie there and
 * with which bits: the operation may have them in any way of the table below. Refusals that speak of such things,
 * of memory, cores and the like, are none for a golden, which only has numbers: it checks by itself then.
 */
#include <ctype.h>
#include <string.h>

#include "device/device.h"
#include "device/devtensor.h"
#include "golden/golden_door.h"
#include "tensor/layout.h"

/* How tensors of the host may lie on a device. The usual ways first. To add one: its row. */
struct way {
	enum ttnn_layout floats, wholes;
	enum ttnn_dtype real, whole; /* TTNN_DTYPE_COUNT: as they are */
};
#define AS_IS TTNN_DTYPE_COUNT
static const struct way ways[] = {
	{TTNN_TILE, TTNN_TILE, TTNN_BFLOAT16, AS_IS},
	{TTNN_ROW_MAJOR, TTNN_ROW_MAJOR, TTNN_BFLOAT16, AS_IS},
	{TTNN_TILE, TTNN_TILE, AS_IS, AS_IS},
	{TTNN_ROW_MAJOR, TTNN_ROW_MAJOR, AS_IS, AS_IS},
	{TTNN_TILE, TTNN_ROW_MAJOR, TTNN_BFLOAT16, AS_IS},
	{TTNN_TILE, TTNN_TILE, TTNN_BFLOAT16, TTNN_UINT32},
	{TTNN_TILE, TTNN_TILE, TTNN_BFLOAT16, TTNN_UINT16},
	{TTNN_TILE, TTNN_ROW_MAJOR, TTNN_BFLOAT16, TTNN_UINT32},
	{TTNN_TILE, TTNN_ROW_MAJOR, TTNN_BFLOAT16, TTNN_INT32},
	{TTNN_ROW_MAJOR, TTNN_ROW_MAJOR, TTNN_BFLOAT16, TTNN_UINT32},
	{TTNN_ROW_MAJOR, TTNN_ROW_MAJOR, TTNN_BFLOAT16, TTNN_UINT16},
	{TTNN_TILE, TTNN_TILE, TTNN_BFLOAT8_B, TTNN_UINT32},
	{TTNN_TILE, TTNN_TILE, TTNN_FLOAT32, TTNN_UINT32},
	{TTNN_ROW_MAJOR, TTNN_ROW_MAJOR, TTNN_FLOAT32, TTNN_UINT32},
};

/*
 * Words, or their beginnings, by which refusals speak of how and where tensors lie, in lower case; and those by which they
 * speak of types, which tensors of the host have none of their own. To add one: its word.
 */
static const char *const of_place[] = {
	"align",     "arch",      "bank",      "buffer",    "chip",      "circular", "config",
	"core",      "cluster",   "device",    "dram",      "fabric",    "grid",     "host",
	"interleav", "kernel",    "l1",        "layout",    "memory",    "mesh",     "page",
	"program",   "row major", "row_major", "row-major", "semaphore", "shard",    "stick",
	"storage",   "subblock",  "tile",      "tiliz",     "worker",
};
static const char *const of_type[] = {
	"bfloat",     "data format", "data type", "data_format", "data_type",
	"dataformat", "datatype",    "dtype",     "float32",     "fp32",
	"fp8",        "int32",       "int8",      "uint",        "format",
};

/* ---- stand-ins ------------------------------------------------------------------------------------------- */

#define MOST (4 * TT_OUTPUTS_MAX)

struct cast {
	struct tt_arena *arena;
	struct tt_device *device; /* of those on the host */
	const struct way *way;
	struct tt_args *args;
	struct tt_tensor *of[MOST], *instead[MOST];
	size_t count;
	bool host; /* there are some on the host */
};

static tt_status place(struct tt_tensor **out, struct tt_device *device,
		       const struct ttnn_tensor_spec *spec, const struct tt_tensor *like)
{
	struct tt_buffer_options blind = {.mode = TT_BUFFER_BLIND};
	struct tt_buffer_layout pages;
	struct tt_buffer *buffer;
	tt_status status;

	TT_TRY(tt_buffer_layout_make(&pages, device->memory, spec));
	TT_TRY(tt_buffer_new(&buffer, device->memory, &pages, &blind));
	status = tt_device_tensor_in(out, buffer, 0, spec, like ? like->layout : NULL);
	tt_buffer_unref(buffer);
	if (status == TTNN_OK && like)
		(*out)->spread = like->spread;
	return status;
}

/* A tensor of the host as it would lie on the device. */
static tt_status place_host(struct tt_tensor **out, const struct cast *cast,
			    const struct tt_tensor *tensor)
{
	const struct way *way = cast->way;
	bool whole = tt_dtype_is_integer(tensor->spec.dtype);
	enum ttnn_dtype dtype = whole ? way->whole : way->real;
	struct ttnn_spec_args args = {.shape = tensor->spec.shape,
				      .dtype = dtype == AS_IS ? tensor->spec.dtype : dtype,
				      .layout = whole ? way->wholes : way->floats};
	struct ttnn_tensor_spec spec;

	if (tt_dtype_is_block(args.dtype))
		args.layout = TTNN_TILE;
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	return place(out, cast->device, &spec, NULL);
}

/* One tensor given twice stays one. */
static tt_status stand_in(struct tt_tensor **out, struct cast *cast, struct tt_tensor *tensor)
{
	struct tt_device *own = tt_tensor_device(tensor);

	for (size_t i = 0; i < cast->count; i++)
		if (cast->of[i] == tensor) {
			*out = cast->instead[i];
			return TTNN_OK;
		}
	if (cast->count == MOST)
		return tt_fail(TTNN_UNSUPPORTED, "more tensors than a call has");
	if (own)
		TT_TRY(place(out, own, &tensor->spec, tensor));
	else
		TT_TRY(place_host(out, cast, tensor));
	cast->of[cast->count] = tensor;
	cast->instead[cast->count++] = *out;
	return TTNN_OK;
}

static tt_status replace(struct ttnn_value *value, struct cast *cast)
{
	struct ttnn_value *items;

	if (value->kind == TTNN_VALUE_TENSOR)
		return stand_in(&value->tensor, cast, value->tensor);
	if (value->kind != TTNN_VALUE_LIST || !value->count)
		return TTNN_OK;
	items = tt_arena_alloc(cast->arena, value->count * sizeof(*items));
	TT_NEED_MEMORY(items);
	memcpy(items, value->items, value->count * sizeof(*items));
	for (uint32_t i = 0; i < value->count; i++)
		TT_TRY(replace(&items[i], cast));
	value->items = items;
	return TTNN_OK;
}

/* The first device among the tensors and arguments; and whether there are tensors of the host. */
static void survey(struct cast *cast, const struct ttnn_value *value)
{
	struct tt_device *device = NULL;

	for (uint32_t i = 0; value->kind == TTNN_VALUE_LIST && i < value->count; i++)
		survey(cast, &value->items[i]);
	if (value->kind == TTNN_VALUE_DEVICE)
		device = value->device;
	if (value->kind == TTNN_VALUE_TENSOR) {
		device = tt_tensor_device(value->tensor);
		cast->host |= !device;
	}
	if (!cast->device)
		cast->device = device;
}

/* ---- asking ------------------------------------------------------------------------------------------------ */

static bool is_word(const char *text, const char *at, const char *word)
{
	for (size_t i = 0; word[i]; i++)
		if (tolower((unsigned char)at[i]) != word[i])
			return false;
	return at == text || !isalpha((unsigned char)at[-1]) || isupper((unsigned char)*at);
}

static bool speaks_of(const char *text, const char *const *words, size_t count)
{
	for (const char *at = text; *at; at++)
		for (size_t i = 0; i < count; i++)
			if (is_word(text, at, words[i]))
				return true;
	return false;
}

/* Whether the last refusal is one of numbers: of shapes, ranges, and types that tensors have. */
static bool concerns_golden(const struct cast *cast)
{
	const char *texts[] = {ttnn_error(), tt_fail_condition()};

	for (size_t i = 0; i < TT_COUNT(texts); i++)
		if (speaks_of(texts[i], of_place, TT_COUNT(of_place)) ||
		    (cast->host && speaks_of(texts[i], of_type, TT_COUNT(of_type))))
			return false;
	return true;
}

static tt_status ask(struct cast *cast, const struct tt_call *call, const struct way *way)
{
	struct tt_args *args = cast->args;
	bool muted = tt_event_mute(true), hidden = tt_tensor_hide(true);
	tt_status status = TTNN_OK;

	*args = *call->args;
	cast->way = way;
	for (size_t i = 0; i < args->sig->count && status == TTNN_OK; i++)
		status = replace(&args->values[i], cast);
	if (status == TTNN_OK)
		status = tt_call_rehearse(call->entry, args);
	else if (status == TTNN_INVALID)
		status = TTNN_UNSUPPORTED; /* cannot be there: says nothing of the operation */
	while (cast->count)
		ttnn_tensor_unref(cast->instead[--cast->count]);
	tt_tensor_hide(hidden);
	tt_event_mute(muted);
	return status;
}

tt_status tt_golden_ask(const struct tt_call *call)
{
	struct tt_arena arena = {0};
	struct cast *cast = tt_arena_calloc(&arena, 1, sizeof(*cast));
	const char *message = NULL, *condition = NULL;
	tt_status status = TTNN_OK;

	TT_NEED_MEMORY(cast);
	cast->arena = &arena;
	cast->args = tt_arena_alloc(&arena, sizeof(*cast->args));
	TT_NEED_MEMORY(cast->args);
	for (size_t i = 0; i < call->args->sig->count; i++)
		survey(cast, &call->args->values[i]);
	if (!cast->device && cast->host)
		status = tt_device_model(&cast->device);
	for (size_t i = 0; i < (cast->host ? TT_COUNT(ways) : 1) && status != TTNN_NOMEM; i++) {
		status = ask(cast, call, &ways[i]);
		if (status == TTNN_OK || status == TTNN_CANCELLED || status == TTNN_TIMEOUT)
			break;
		if (status != TTNN_INVALID || message || !concerns_golden(cast))
			continue;
		message = tt_arena_strdup(&arena, ttnn_error());
		condition = tt_arena_strdup(&arena, tt_fail_condition());
	}
	if (status != TTNN_OK && status != TTNN_CANCELLED && status != TTNN_TIMEOUT) {
		status = TTNN_OK;
		if (message)
			status = condition && *condition
					 ? tt_fail_cond(TTNN_INVALID, condition, "%s", message)
					 : tt_fail(TTNN_INVALID, "%s", message);
	}
	tt_arena_deinit(&arena);
	return status;
}
