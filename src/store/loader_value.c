#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/value.h"
#include "store/loader.h"
#include "tensor/enums.h"
#include "tensor/read.h"
#include "tensor/value_json.h"

/* ---- arguments ----------------------------------------------------------------------------------------- */

/* The value of a one-member object of this name. */
static const struct tt_json *only(const struct tt_json *element, const char *key)
{
	struct tt_json_iter it = tt_json_iter(element);

	return it.object && tt_json_next(&it) && strcmp(it.key, key) == 0 ? it.value : NULL;
}

const struct tt_json *tt_loader_named(const struct tt_json *args, const char *name)
{
	struct tt_json_iter it = tt_json_iter(args);

	if (tt_json_kind(args) == TT_JSON_OBJECT)
		return tt_json_get(args, name);
	while (tt_json_next(&it)) {
		const struct tt_json *value = only(it.value, name);

		if (value)
			return value;
	}
	return NULL;
}

const struct tt_json *tt_loader_arg(const struct tt_json *args, size_t number)
{
	char name[32];

	snprintf(name, sizeof(name), "arg%zu", number);
	return tt_loader_named(args, name);
}

/* ---- JSON as it is -------------------------------------------------------------------------------------- */

static tt_status copy_text(struct ttnn_value *out, struct tt_arena *arena, const char *text,
			   size_t length)
{
	char *copy = tt_arena_strndup(arena, text, length);

	if (!copy)
		return tt_fail_nomem();
	*out = ttnn_v_string(copy);
	return TTNN_OK;
}

static tt_status copy_container(struct ttnn_value *out, struct tt_arena *arena,
				const struct tt_json *value)
{
	struct tt_json_iter it = tt_json_iter(value);
	size_t count = tt_json_count(value) * (it.object ? 2 : 1), done = 0;
	struct ttnn_value *items = tt_arena_calloc(arena, count + 1, sizeof(*items));

	if (!items)
		return tt_fail_nomem();
	while (tt_json_next(&it)) {
		if (it.object)
			TT_TRY(copy_text(&items[done++], arena, it.key, it.key_length));
		TT_TRY(tt_loader_json(&items[done++], arena, it.value));
	}
	*out = ttnn_v_list(items, count);
	if (it.object)
		out->kind = TTNN_VALUE_DICT;
	return TTNN_OK;
}

tt_status tt_loader_json(struct ttnn_value *out, struct tt_arena *arena,
			 const struct tt_json *value)
{
	size_t length = 0;
	const char *text = tt_json_string(value, &length);
	int64_t integer;
	double real;
	bool flag;

	if (text)
		return copy_text(out, arena, text, length);
	switch (tt_json_kind(value)) {
	case TT_JSON_ARRAY:
	case TT_JSON_OBJECT:
		return copy_container(out, arena, value);
	case TT_JSON_BOOL:
		tt_json_bool(&flag, value);
		*out = ttnn_v_bool(flag);
		return TTNN_OK;
	case TT_JSON_INT:
		if (tt_json_int(&integer, value)) {
			*out = ttnn_v_int(integer);
			return TTNN_OK;
		}
		/* fallthrough */
	case TT_JSON_REAL:
		tt_json_real(&real, value);
		*out = ttnn_v_real(real);
		return TTNN_OK;
	default:
		*out = ttnn_v_none();
		return TTNN_OK;
	}
}

/* ---- numbers and members ---------------------------------------------------------------------------------- */

bool tt_loader_number(struct ttnn_value *out, const struct tt_json *value)
{
	const char *text = tt_json_string(value, NULL);
	char *end;
	long long integer;
	double real;
	bool flag;

	if (tt_json_bool(&flag, value)) {
		*out = ttnn_v_bool(flag);
		return true;
	}
	if (!text) {
		int64_t whole;

		if (tt_json_kind(value) == TT_JSON_INT && tt_json_int(&whole, value))
			*out = ttnn_v_int(whole);
		else if (tt_json_real(&real, value))
			*out = ttnn_v_real(real);
		else
			return false;
		return true;
	}
	errno = 0;
	integer = strtoll(text, &end, 10);
	if (end != text && !*end && !errno) {
		*out = ttnn_v_int(integer);
		return true;
	}
	real = strtod(text, &end);
	*out = ttnn_v_real(real);
	return end != text && !*end;
}

static tt_status no_numbers(void)
{
	return tt_fail(TTNN_NOTFOUND, "the argument is no list of numbers");
}

static tt_status numbers_of_list(struct ttnn_value *out, struct tt_arena *arena,
				 const struct tt_json *list)
{
	struct ttnn_value *items = tt_arena_calloc(arena, tt_json_count(list) + 1, sizeof(*items));
	struct tt_json_iter it = tt_json_iter(list);
	size_t count = 0;

	if (!items)
		return tt_fail_nomem();
	for (; tt_json_next(&it); count++)
		if (!tt_loader_number(&items[count], it.value))
			TT_TRY(tt_loader_numbers(&items[count], arena, it.value));
	*out = ttnn_v_list(items, count);
	return TTNN_OK;
}

/* "[1, 2]", "{1, 2}", "Shape([1, 2])", "[[0, 0], [0, 13]]" */
static tt_status numbers_of_text(struct ttnn_value *out, struct tt_arena *arena, const char *text)
{
	char *copy = tt_arena_strdup(arena, text), *start, *end;
	struct tt_json_doc *doc;
	tt_status status;

	if (!copy)
		return tt_fail_nomem();
	for (char *at = copy; *at; at++)
		*at = strchr("{(", *at) ? '[' : strchr("})", *at) ? ']' : *at;
	start = strchr(copy, '[');
	end = strrchr(copy, ']');
	if (!start || !end)
		return no_numbers();
	if (start[1] == '[' && strncmp(text, "Shape(", 6) == 0) {
		start++;
		end--;
	}
	status = tt_json_parse(&doc, start, (size_t)(end - start) + 1, "numbers");
	if (status != TTNN_OK)
		return status == TTNN_NOMEM ? status : no_numbers();
	status = numbers_of_list(out, arena, tt_json_root(doc));
	tt_json_free(doc);
	return status;
}

tt_status tt_loader_numbers(struct ttnn_value *out, struct tt_arena *arena,
			    const struct tt_json *value)
{
	const char *text = tt_json_string(value, NULL);

	if (!text)
		text = tt_json_string(tt_json_get(value, "value"), NULL); /* of {"type": "Shape"} */
	if (text)
		return numbers_of_text(out, arena, text);
	if (tt_json_get(value, "Shape"))
		value = tt_json_get(value, "Shape");
	return tt_json_kind(value) == TT_JSON_ARRAY ? numbers_of_list(out, arena, value)
						    : no_numbers();
}

bool tt_loader_enum(struct ttnn_value *out, const struct tt_enum *type, const struct tt_json *value)
{
	size_t length = 0;
	const char *text = tt_json_string(value, &length);
	int64_t member;

	if (!text)
		text = tt_json_string(tt_json_get(value, "repr"), &length);
	if (!text || !tt_enum_parse(&member, type, text, length))
		return false;
	*out = tt_value_enum(type, member);
	return true;
}

/* ---- memory ------------------------------------------------------------------------------------------------- */

bool tt_loader_is_memory(const struct tt_json *value)
{
	return tt_json_get(value, "MemoryConfig") || tt_json_get(value, "memory_layout");
}

static tt_status read_memory(struct ttnn_memory_config *out, const struct tt_json *value)
{
	struct ttnn_memory_config read;

	if (tt_json_get(value, "MemoryConfig"))
		value = tt_json_get(value, "MemoryConfig");
	TT_TRY(tt_json_read_memory_config(&read, value));
	if (read.has_nd_shard && !read.has_shard && read.layout != TTNN_ND_SHARDED &&
	    read.nd_shard.shape.rank == 2) { /* a file may have but one of the two */
		read.shard = (struct ttnn_shard_spec){
			read.nd_shard.grid, read.nd_shard.shape.dim[0], read.nd_shard.shape.dim[1],
			read.nd_shard.orientation};
		read.has_shard = true;
	}
	/* The guide's layout has no room for an ND shard, only for its shape in two dimensions. */
	if (read.has_shard && !(read.created_with_nd_shard && read.has_nd_shard))
		return ttnn_memory_config_sharded(out, read.layout, read.buffer, &read.shard);
	*out = read;
	return TTNN_OK;
}

tt_status tt_loader_memory(struct ttnn_memory_config *out, const struct tt_json *value)
{
	tt_status status = read_memory(out, value);

	/* Cores that there cannot be are a mistake of the file, not of who asks. */
	return status == TTNN_INVALID ? tt_fail_prefix(TTNN_FORMAT, "a memory config") : status;
}

tt_status tt_loader_memory_value(struct ttnn_value *out, struct tt_arena *arena,
				 const struct ttnn_memory_config *config)
{
	struct ttnn_memory_config *copy = tt_arena_alloc(arena, sizeof(*copy));

	if (!copy)
		return tt_fail_nomem();
	*copy = *config;
	*out = ttnn_v_memory(copy);
	return TTNN_OK;
}

/* ---- tensors -------------------------------------------------------------------------------------------------- */

/* {"tensor_spec": ...}, whatever is around it. */
static const struct tt_json *tensor_v1(const struct tt_json *value)
{
	if (tt_json_get(value, "Tensor"))
		value = tt_json_get(value, "Tensor");
	return tt_json_get(value, "tensor_spec") ? value : NULL;
}

static bool is_tensor_v2(const struct tt_json *value)
{
	const char *type = tt_json_string(tt_json_get(value, "type"), NULL);

	return type && strcmp(type, "ttnn.Tensor") == 0;
}

bool tt_loader_is_tensor(const struct tt_json *value)
{
	return tensor_v1(value) || is_tensor_v2(value);
}

static tt_status shape_value(struct ttnn_value *out, struct tt_arena *arena,
			     const struct ttnn_shape *shape)
{
	struct ttnn_value *items = tt_arena_calloc(arena, shape->rank + 1, sizeof(*items));

	if (!items)
		return tt_fail_nomem();
	for (uint32_t i = 0; i < shape->rank; i++)
		items[i] = ttnn_v_int(shape->dim[i]);
	*out = ttnn_v_list(items, shape->rank);
	return TTNN_OK;
}

/* A member, or the text itself when there is no such member; `other` when there is nothing at all. */
static tt_status member_value(struct ttnn_value *out, struct tt_arena *arena,
			      const struct tt_enum *type, const struct tt_json *value,
			      int64_t other)
{
	size_t length = 0;
	const char *text = tt_json_string(value, &length);

	if (tt_loader_enum(out, type, value))
		return TTNN_OK;
	if (text)
		return copy_text(out, arena, text, length);
	*out = tt_value_enum(type, other);
	return TTNN_OK;
}

tt_status tt_loader_tensor(struct tt_loader_tensor *out, struct tt_arena *arena,
			   const struct tt_json *value)
{
	const struct tt_json *v1 = tensor_v1(value), *spec = tt_json_get(v1, "tensor_spec"),
			     *page = v1 ? tt_json_get(spec, "tensor_layout") : value,
			     *whole = v1 ? v1 : value,
			     *dtype = tt_json_get(page, v1 ? "dtype" : "original_dtype"),
			     *storage = tt_json_get(whole, "storage_type");
	/* Without a layout (in lists of tensors, and in the oldest files) rows show by their alignment. */
	int64_t layout =
		tt_json_count(tt_json_get(page, "alignment")) == 1 ? TTNN_ROW_MAJOR : TTNN_TILE;

	*out = (struct tt_loader_tensor){0};
	TT_TRY(tt_json_read_shape(&out->extents, v1 ? tt_json_get(spec, "logical_shape")
						    : tt_json_get(whole, "original_shape")));
	TT_TRY(shape_value(&out->shape, arena, &out->extents));
	TT_TRY(member_value(&out->dtype, arena, &tt_enum_dtype, dtype, TTNN_BFLOAT16));
	TT_TRY(member_value(&out->layout, arena, &tt_enum_layout, tt_json_get(whole, "layout"),
			    layout));
	if (tt_json_get(page, "memory_config"))
		TT_TRY(tt_loader_memory(&out->config, tt_json_get(page, "memory_config")));
	out->storage = ttnn_v_string("StorageType::DEVICE");
	if (tt_json_string(storage, NULL))
		TT_TRY(tt_loader_json(&out->storage, arena, storage));
	if (tt_json_get(whole, "tensor_placement"))
		TT_TRY(tt_loader_json(&out->placement, arena,
				      tt_json_get(whole, "tensor_placement")));
	return TTNN_OK;
}

static tt_status add_tensor(struct tt_loader_call *out, const struct tt_json *value)
{
	struct tt_loader_tensor *tensor = &out->tensors[out->tensor_count];

	if (out->tensor_count == TT_LOADER_TENSORS)
		return TTNN_OK;
	TT_TRY(tt_loader_tensor(tensor, out->arena, value));
	out->tensor_count += tensor->extents.rank > 0;
	return TTNN_OK;
}

static tt_status add_tensors(struct tt_loader_call *out, const struct tt_json *value)
{
	struct tt_json_iter it = tt_json_iter(value);

	if (tt_loader_is_tensor(value))
		return add_tensor(out, value);
	while (tt_json_kind(value) == TT_JSON_ARRAY && tt_json_next(&it))
		if (tt_loader_is_tensor(it.value))
			TT_TRY(add_tensor(out, it.value));
	return TTNN_OK;
}

tt_status tt_loader_read(struct tt_loader_call *out, struct tt_arena *arena,
			 const struct tt_json *args)
{
	struct tt_json_iter it = tt_json_iter(args);
	size_t count = tt_json_count(args);

	memset(out, 0, sizeof(*out));
	out->arena = arena;
	out->args = args;
	if (!it.object) { /* by position, whatever their names */
		while (tt_json_next(&it)) {
			struct tt_json_iter inner = tt_json_iter(it.value);

			if (inner.object && tt_json_next(&inner))
				TT_TRY(add_tensors(out, inner.value));
		}
		return TTNN_OK;
	}
	for (size_t i = 0; i < count; i++)
		TT_TRY(add_tensors(out, tt_loader_arg(args, i)));
	while (tt_json_next(&it))
		if (strncmp(it.key, "arg", 3) != 0)
			TT_TRY(add_tensors(out, it.value));
	return TTNN_OK;
}
