#include "golden/golden.h"

#include <string.h>

#include "base/mem.h"
#include "device/devtensor.h"

static struct tt_array *new_array(struct tt_arena *arena, struct tt_array *array,
				  const struct ttnn_shape *shape, enum ttnn_dtype dtype)
{
	array->shape = *shape;
	array->dtype = dtype;
	if (ttnn_shape_volume(&array->count, shape) != TTNN_OK)
		return NULL;
	array->data = tt_arena_calloc(arena, array->count + 1, sizeof(double));
	if (!array->data) {
		tt_fail_nomem();
		return NULL;
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

struct tt_array *tt_golden_temp(struct tt_golden *golden, const struct ttnn_shape *shape)
{
	struct tt_array *array = tt_arena_alloc(golden->arena, sizeof(*array));

	if (!array) {
		tt_fail_nomem();
		return NULL;
	}
	return new_array(golden->arena, array, shape, TTNN_FLOAT32);
}

const struct tt_array *tt_golden_read(struct tt_golden *golden, struct tt_tensor *tensor)
{
	const struct ttnn_tensor_spec *spec = ttnn_tensor_get_spec(tensor);
	struct tt_array *array = tt_golden_temp(golden, &spec->shape);

	if (!array)
		return NULL;
	array->dtype = spec->dtype;
	if (tt_tensor_numbers(array->data, array->count, tensor) != TTNN_OK)
		return NULL;
	return array;
}

const struct tt_array *tt_golden_in(struct tt_golden *golden, const char *name)
{
	struct tt_tensor *tensor = tt_call_tensor(&golden->call, name);

	return tensor ? tt_golden_read(golden, tensor) : NULL;
}

tt_status tt_golden_run(struct tt_golden *out, struct tt_arena *arena, const char *name,
			const struct ttnn_arg *args, size_t arg_count)
{
	const struct tt_op_entry *entry = tt_op_find(name);
	struct tt_args *resolved = tt_arena_calloc(arena, 1, sizeof(*resolved));

	if (!entry)
		return tt_fail(TTNN_NOTFOUND, "there is no operation %s", name);
	if (!entry->op->golden)
		return tt_fail(TTNN_UNSUPPORTED, "%s has no golden function", name);
	if (!resolved)
		return tt_fail_nomem();
	TT_TRY(tt_sig_resolve(resolved, &entry->overloads, args, arg_count));
	entry = tt_op_fitting(entry, resolved);
	memset(out, 0, sizeof(*out));
	out->op = entry->op;
	out->arena = arena;
	out->call = (struct tt_call){.entry = entry, .args = resolved, .arena = arena};
	return entry->op->golden(out);
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
		coordinate[d] = index % array->shape.dim[d];
		index /= array->shape.dim[d];
	}
}

double tt_array_broadcast(const struct tt_array *array, const struct ttnn_shape *of,
			  const uint64_t *coordinate)
{
	uint32_t lead = of->rank - array->shape.rank;
	uint64_t index = 0;

	for (uint32_t d = 0; d < array->shape.rank; d++) {
		uint64_t extent = array->shape.dim[d];

		index = index * extent + (extent == 1 ? 0 : coordinate[lead + d]);
	}
	return array->data[index];
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
