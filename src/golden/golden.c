/*
 * golden.c: what goldens share: their arrays of float64, reading arguments, broadcasting, fused
 * activations; and the call of one (tt_golden_run()).
 *
 * An index outside of an array does not end the process, but the golden: goldens are written for
 * arguments that fit, and anyone may call them with others. Loops of thousands of lines cannot all ask
 * whether to go on, so this is the one place of the library from which is jumped: over goldens only,
 * which own nothing, to their door.
 */
#include "golden/golden.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <string.h>
#include <unistd.h>

#include "base/deadline.h"
#include "device/devtensor.h"
#include "golden/golden_door.h"
#include "ops/activation.h"
#include "ops/sound.h"

/* ---- ending ------------------------------------------------------------------------------------------ */

#define STEPS 4096 /* elements between two looks at the clock: some microseconds */

enum ending { STRAYED = 1, STOPPED, FAILED };

atomic_int tt_golden_steps;
static _Thread_local jmp_buf *door; /* of the golden under way */

void tt_golden_look(void)
{
	atomic_store_explicit(&tt_golden_steps, STEPS, memory_order_relaxed);
	if (door && tt_deadline_stop())
		longjmp(*door, STOPPED);
}

double *tt_array_stray(void)
{
	static _Thread_local double apart;

	if (door)
		longjmp(*door, STRAYED);
	apart = 0;
	return &apart;
}

double *tt_array_span(const struct tt_array *array, uint64_t first, uint64_t count)
{
	int left = atomic_load_explicit(&tt_golden_steps, memory_order_relaxed);

	if (!count)
		return NULL;
	left -= count < STEPS ? (int)count : STEPS;
	atomic_store_explicit(&tt_golden_steps, left, memory_order_relaxed);
	if (left < 0)
		tt_golden_look();
	if (!array || first >= array->count || count > array->count - first)
		return tt_array_stray();
	return array->data + first;
}

uint32_t tt_array_extent(const struct tt_array *array, uint32_t d)
{
	if (array && d < array->shape.rank)
		return array->shape.dim[d];
	tt_array_stray();
	return 1;
}

int64_t tt_whole(double value)
{
	if (isnan(value))
		return 0;
	if (value >= 0x1p63)
		return INT64_MAX;
	return value <= -0x1p63 ? INT64_MIN : (int64_t)value;
}

/* ---- arrays ------------------------------------------------------------------------------------------- */

#define PIECE (UINT64_C(1) << 23)

/* What one golden may take: half of the machine's memory, so that zeros for nothing do not end the process. */
static uint64_t most_bytes(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2 : UINT64_MAX;
}

/* One element more than counted: what an empty shape is asked for. */
static struct tt_array *new_array(struct tt_arena *arena, struct tt_array *array,
				  const struct ttnn_shape *shape, enum ttnn_dtype dtype)
{
	uint64_t most = most_bytes();

	array->shape = *shape;
	array->dtype = dtype;
	if (ttnn_shape_volume(&array->count, shape) != TTNN_OK)
		return NULL;
	array->data = NULL;
	if (arena->bytes <= most && array->count < (most - arena->bytes) / sizeof(double))
		array->data = tt_arena_alloc(arena, (array->count + 1) * sizeof(double));
	if (!array->data) {
		tt_fail_nomem();
		return NULL;
	}
	for (uint64_t i = 0; i <= array->count; i += PIECE) {
		uint64_t left = array->count + 1 - i;

		if (i)
			tt_golden_look();
		memset(array->data + i, 0, (left < PIECE ? left : PIECE) * sizeof(double));
	}
	return array;
}

struct tt_array *tt_golden_out(struct tt_golden *golden, const struct ttnn_shape *shape,
			       enum ttnn_dtype dtype)
{
	struct tt_array *array;

	if (golden->out_count == TT_OUTPUTS_MAX) {
		tt_fail(TTNN_INTERNAL, "%s: more outputs than possible", golden->op->name);
		return NULL;
	}
	array = new_array(golden->arena, &golden->out[golden->out_count], shape, dtype);
	golden->out_count += array != NULL;
	return array;
}

/* An array that is no result; freed with the arena. */
struct tt_array *tt_golden_temp(struct tt_golden *golden, const struct ttnn_shape *shape)
{
	struct tt_array *array = tt_arena_alloc(golden->arena, sizeof(*array));

	if (!array) {
		tt_fail_nomem();
		return NULL;
	}
	return new_array(golden->arena, array, shape, TTNN_FLOAT32);
}

/* What was read of a tensor of the call, and its values: goldens ask for them as often as they like. */
struct tt_golden_seen {
	const struct tt_tensor *tensor;
	uint32_t chip; /* of a mesh; WHOLE: all of it */
	struct tt_tensor *
		part; /* that chip's, while it is read; given back in the end if reading was ended */
	struct tt_array array;
	struct tt_golden_seen *before;
};
#define WHOLE UINT32_MAX

/* The numbers of a tensor wherever it is, as they are logically: no padding, no tiles. */
static bool fill(struct tt_array *array, struct tt_arena *arena, struct tt_tensor *tensor)
{
	const struct ttnn_tensor_spec *spec = ttnn_tensor_get_spec(tensor);

	return new_array(arena, array, &spec->shape, spec->dtype) &&
	       tt_tensor_numbers(array->data, array->count, tensor) == TTNN_OK;
}

static void give_back(struct tt_golden_seen *seen)
{
	ttnn_tensor_unref(seen->part);
	seen->part = NULL;
}

static const struct tt_array *see(struct tt_golden *golden, struct tt_tensor *tensor, uint32_t chip)
{
	struct tt_golden_seen *seen = golden->seen;

	while (seen && (seen->tensor != tensor || seen->chip != chip))
		seen = seen->before;
	if (seen)
		return &seen->array;
	seen = tt_arena_calloc(golden->arena, 1, sizeof(*seen));
	if (!seen) {
		tt_fail_nomem();
		return NULL;
	}
	seen->before = golden->seen;
	golden->seen = seen;
	if (chip != WHOLE && ttnn_tensor_shard(&seen->part, tensor, chip) != TTNN_OK)
		return NULL;
	if (!fill(&seen->array, golden->arena, seen->part ? seen->part : tensor))
		return NULL;
	give_back(seen);
	seen->tensor = tensor; /* it is whole: others may have it */
	seen->chip = chip;
	return &seen->array;
}

const struct tt_array *tt_golden_read(struct tt_golden *golden, struct tt_tensor *tensor)
{
	return see(golden, tensor, WHOLE);
}

const struct tt_array *tt_golden_part(struct tt_golden *golden, struct tt_tensor *tensor,
				      uint32_t chip)
{
	return tensor ? see(golden, tensor, chip) : NULL;
}

const struct tt_array *tt_golden_in(struct tt_golden *golden, const char *name)
{
	struct tt_tensor *tensor = tt_call_tensor(&golden->call, name);

	return tensor ? tt_golden_read(golden, tensor) : NULL;
}

struct tt_tensor *tt_golden_tensor(const struct tt_golden *golden, const char *name)
{
	struct tt_tensor *tensor = tt_call_tensor(&golden->call, name);

	if (tensor)
		return tensor;
	tt_fail(TTNN_INVALID, "%s: the golden needs %s", golden->op->name, name);
	longjmp(*door, FAILED);
}

struct tt_device *tt_golden_device(const struct tt_golden *golden, const char *name)
{
	struct tt_device *device = tt_tensor_device(tt_golden_tensor(golden, name));

	if (device)
		return device;
	tt_fail(TTNN_INVALID, "%s: %s must be on a device", golden->op->name, name);
	longjmp(*door, FAILED);
}

const struct tt_array *tt_golden_in4(struct tt_golden *golden, const char *name)
{
	const struct tt_array *array = tt_golden_in(golden, name);

	if (!array || array->shape.rank == 4)
		return array;
	tt_fail(TTNN_INVALID, "%s: %s has %u dimensions instead of four", golden->op->name, name,
		array->shape.rank);
	return NULL;
}

/* ---- arguments that no operation takes -------------------------------------------------------------- */

/*
 * What is asked of numbers by their names, whatever the operation. To add one: its row. Goldens themselves check what
 * more must hold between their arguments.
 */
enum number {
	DIMENSION, /* of the first tensor, or of the first in a list; counted from its end when negative */
	NATURAL, /* 0 or more */
	POSITIVE,
};
static const struct {
	const char *name;
	enum number kind;
} numbers[] = {
	{"dim", DIMENSION},           {"dim0", DIMENSION},       {"dim1", DIMENSION},
	{"dim2", DIMENSION},          {"dims", DIMENSION},       {"axis", DIMENSION},
	{"batch_size", POSITIVE},     {"channels", POSITIVE},    {"chunks", POSITIVE},
	{"chunk_start_idx", NATURAL}, {"dilation", POSITIVE},    {"groups", NATURAL},
	{"in_channels", POSITIVE},    {"input_h", POSITIVE},     {"input_height", POSITIVE},
	{"input_length", POSITIVE},   {"input_w", POSITIVE},     {"input_width", POSITIVE},
	{"kernel_size", POSITIVE},    {"num_groups", POSITIVE},  {"num_heads", POSITIVE},
	{"num_kv_heads", POSITIVE},   {"num_q_heads", POSITIVE}, {"out_channels", POSITIVE},
	{"stride", POSITIVE},         {"stride_h", POSITIVE},    {"stride_w", POSITIVE},
};

/* Dimensions of what dimensions are counted of; a scalar is a row of one. */
static int64_t counted_rank(const struct tt_call *call)
{
	for (size_t i = 0; i < call->args->sig->count; i++) {
		const struct ttnn_value *value = &call->args->values[i];

		if (value->kind == TTNN_VALUE_LIST && value->count)
			value = &value->items[0];
		if (value->kind == TTNN_VALUE_TENSOR) {
			int64_t rank = value->tensor->spec.shape.rank;

			return call->entry->op->adds_dim ? rank + 1 : rank ? rank : 1;
		}
	}
	return 0;
}

static tt_status check_number(const struct tt_call *call, const char *name, enum number kind,
			      const struct ttnn_value *value)
{
	int64_t rank = kind == DIMENSION ? counted_rank(call) : 0, least = kind == POSITIVE;

	if (value->kind == TTNN_VALUE_LIST)
		for (uint32_t i = 0; i < value->count; i++)
			TT_TRY(check_number(call, name, kind, &value->items[i]));
	if (value->kind == TTNN_VALUE_SHAPE)
		for (uint32_t d = 0; d < value->shape->rank; d++)
			TT_TRY(check_number(call, name, kind,
					    &(struct ttnn_value){.kind = TTNN_VALUE_INT,
								 .integer = value->shape->dim[d]}));
	if (value->kind != TTNN_VALUE_INT)
		return TTNN_OK;
	if (kind == DIMENSION && rank && (value->integer < -rank || value->integer >= rank))
		return tt_fail(TTNN_INVALID,
			       "%s: %s is %" PRId64 ", and can be from %" PRId64 " to %" PRId64,
			       call->entry->op->name, name, value->integer, -rank, rank - 1);
	if (kind != DIMENSION && (value->integer < least || value->integer > INT32_MAX))
		return tt_fail(TTNN_INVALID,
			       "%s: %s is %" PRId64 ", and can be from %" PRId64 " to %d",
			       call->entry->op->name, name, value->integer, least, INT32_MAX);
	return TTNN_OK;
}

/*
 * Arguments by their names, since these mean the same in all operations: a dimension within the
 * rank, a size above zero. What an operation refuses for reasons of its own is not asked here.
 */
static tt_status check_arguments(const struct tt_call *call)
{
	const struct tt_sig *sig = call->args->sig;

	for (size_t i = 0; i < sig->count; i++)
		for (size_t k = 0; k < TT_COUNT(numbers); k++)
			if (strcmp(sig->args[i].name, numbers[k].name) == 0)
				TT_TRY(check_number(call, numbers[k].name, numbers[k].kind,
						    &call->args->values[i]));
	return TTNN_OK;
}

/*
 * The golden itself: the only function that is jumped to, so that none of its variables is lost. What it reads of devices may be
 * missing when it was cancelled meanwhile.
 */
static tt_status compute(struct tt_golden *golden)
{
	jmp_buf *before = door, here;
	tt_status status;

	switch (setjmp(here)) {
	case 0:
		door = &here;
		status = golden->op->golden(golden);
		door = before;
		return tt_deadline_stop() ? tt_deadline_fail(golden->op->name) : status;
	case STOPPED:
		door = before;
		return tt_deadline_fail(golden->op->name);
	case FAILED:
		door = before;
		return TTNN_INVALID; /* the message is set */
	default:
		door = before;
		return tt_fail(TTNN_INVALID,
			       "%s: the shapes and numbers of its arguments do not fit together",
			       golden->op->name);
	}
}

tt_status tt_golden_run(struct tt_golden *out, struct tt_arena *arena, const char *name,
			const struct ttnn_arg *args, size_t arg_count)
{
	const struct tt_op_entry *entry = tt_op_find(name);
	struct tt_args *resolved = tt_arena_calloc(arena, 1, sizeof(*resolved));
	tt_status status;

	if (!entry)
		return tt_fail(TTNN_NOTFOUND, "there is no operation %s", name);
	if (!entry->op->golden)
		return tt_fail(TTNN_UNSUPPORTED, "%s has no golden function", name);
	TT_NEED_MEMORY(resolved);
	TT_TRY(tt_sig_resolve(resolved, &entry->overloads, args, arg_count));
	TT_TRY(tt_args_sound(resolved));
	entry = tt_op_fitting(entry, resolved);
	memset(out, 0, sizeof(*out));
	out->op = entry->op;
	out->arena = arena;
	out->call = (struct tt_call){.entry = entry, .args = resolved, .arena = arena};
	TT_TRY(check_arguments(&out->call));
	tt_deadline_begin();
	tt_deadline_watch(true);
	status = tt_golden_ask(&out->call);
	if (status == TTNN_OK)
		status = compute(out);
	tt_deadline_watch(false);
	for (struct tt_golden_seen *seen = out->seen; seen; seen = seen->before)
		give_back(seen);
	return status;
}

uint64_t tt_array_index(const struct tt_array *array, const uint64_t *coordinate)
{
	uint64_t index = 0;

	for (uint32_t d = 0; d < array->shape.rank; d++)
		index = index * array->shape.dim[d] + coordinate[d];
	return index;
}

void tt_array_coordinate(uint64_t *coordinate, const struct tt_array *array, uint64_t index)
{
	for (uint32_t d = array->shape.rank; d-- > 0;) {
		uint32_t extent = array->shape.dim[d] ? array->shape.dim[d] : 1;

		coordinate[d] = index % extent;
		index /= extent;
	}
}

/* The element that a coordinate of the larger shape sees: extents of 1 repeat. */
double tt_array_broadcast(const struct tt_array *array, const struct ttnn_shape *of,
			  const uint64_t *coordinate)
{
	uint32_t lead = of->rank - array->shape.rank;
	uint64_t index = 0;

	if (array->shape.rank > of->rank)
		return *tt_at(array, array->count);
	for (uint32_t d = 0; d < array->shape.rank; d++) {
		uint64_t extent = array->shape.dim[d];

		index = index * extent + (extent == 1 ? 0 : coordinate[lead + d]);
	}
	return *tt_at(array, index);
}

bool tt_broadcast_shape(struct ttnn_shape *out, const struct ttnn_shape *a,
			const struct ttnn_shape *b)
{
	uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
	struct ttnn_shape shape = {.rank = rank};

	for (uint32_t back = 1; back <= rank; back++) {
		uint32_t left = back <= a->rank ? a->dim[a->rank - back] : 1;
		uint32_t right = back <= b->rank ? b->dim[b->rank - back] : 1;

		if (left != right && left != 1 && right != 1)
			return false;
		shape.dim[rank - back] = left == 1 ? right : left;
	}
	*out = shape;
	return true;
}

tt_status tt_golden_activate(struct tt_array *array, struct tt_golden *golden,
			     const struct ttnn_value *activation)
{
	struct tt_unary_step steps[TT_UNARY_STEPS_MAX];
	struct ttnn_value value, chain;
	size_t count;

	TT_TRY(tt_activation_of(&value, golden->arena, activation));
	if (!tt_value_given(&value))
		return TTNN_OK;
	chain = ttnn_v_list(&value, 1);
	TT_TRY(tt_unary_steps(steps, &count, &chain));
	for (uint64_t i = 0; i < array->count; i++)
		*tt_at(array, i) = tt_golden_chain(steps, count, array->dtype, *tt_at(array, i));
	return TTNN_OK;
}
