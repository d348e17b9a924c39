/* op_frontend.c: what <ttnn_frontend.h> says of operations, enumerations and objects. */
#include <string.h>
#include <ttnn_frontend.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "event/value_text.h"
#include "golden/golden.h"
#include "ops/families.h"
#include "ops/gives.h"
#include "ops/objects.h"

/* ---- operations ---------------------------------------------------------------------------------- */

const ttnn_op *ttnn_op_at(size_t i)
{
	size_t count;
	const struct tt_op_entry *all = tt_op_all(&count);

	return i < count ? &all[i] : NULL;
}

const ttnn_op *ttnn_op_find(const char *name)
{
	return tt_op_find(name);
}

const char *ttnn_op_alias(const char **of, size_t i)
{
	if (i >= tt_op_alias_count)
		return NULL;
	*of = tt_op_aliases[i].of;
	return tt_op_aliases[i].name;
}

void ttnn_op_get_info(struct ttnn_op_info *out, const ttnn_op *op)
{
	*out = (struct ttnn_op_info){
		.name = op->op->name,
		.cpp_name = op->cpp_name,
		.shown = op->op->frontend ? op->op->frontend : op->op->name,
		.family = op->op->family,
		.doc = op->op->doc,
		.signatures = op->overloads.count,
		.many = tt_gives_many(op->op->gives),
		.gives = op->op->gives ? op->op->gives : "Tensor",
		.golden = op->op->golden != NULL,
		.pcc = op->op->pcc,
	};
}

struct ttnn_value ttnn_results_value(struct ttnn_results_room *room,
				     const struct ttnn_results *results, const ttnn_op *op)
{
	return tt_gives_value(room, results, op->op->gives);
}

enum ttnn_status ttnn_op_signature(char **out, const ttnn_op *op, size_t i)
{
	const char *dot = strrchr(op->op->name, '.');
	struct tt_str text = {0};

	if (i >= op->overloads.count)
		return tt_fail(TTNN_NOTFOUND, "%s has no signature %zu", op->op->name, i);
	tt_sig_print(&text, &op->overloads.sigs[i], dot ? dot + 1 : op->op->name);
	return tt_str_take(out, &text);
}

void ttnn_tensor_drop(ttnn_tensor *tensor)
{
	if (tensor)
		tt_call_drop(NULL, tensor);
}

/* ---- golden functions ------------------------------------------------------------------------------ */

/* A number as 32 bits of the class that the dtype has. */
static void put(void *data, uint64_t i, enum ttnn_dtype dtype, double number)
{
	if (dtype == TTNN_FLOAT32)
		((float *)data)[i] = (float)number;
	else if (dtype == TTNN_INT32)
		((int32_t *)data)[i] = (int32_t)number;
	else
		((uint32_t *)data)[i] = (uint32_t)number;
}

static tt_status golden_tensor(ttnn_tensor **out, struct tt_arena *arena,
			       const struct tt_array *array)
{
	struct ttnn_spec_args args = {.shape = array->shape, .dtype = TTNN_FLOAT32};
	const struct tt_dtype *dtype = tt_dtype_find(array->dtype);
	enum ttnn_dtype wide = TTNN_FLOAT32;
	struct ttnn_tensor_spec spec;
	void *data = tt_arena_calloc(arena, array->count + 1, 4);

	TT_NEED_MEMORY(data);
	if (tt_dtype_is_integer(array->dtype)) {
		args.dtype = array->dtype;
		wide = dtype->kind == TT_DTYPE_SIGNED ? TTNN_INT32 : TTNN_UINT32;
	}
	for (uint64_t i = 0; i < array->count; i++)
		put(data, i, wide, array->data[i]);
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	return ttnn_tensor_from_data(out, data, wide, &spec, 0);
}

enum ttnn_status ttnn_op_golden(struct ttnn_results *out, const ttnn_op *op,
				const struct ttnn_arg *args, size_t arg_count)
{
	struct tt_golden *golden = tt_calloc(1, sizeof(*golden));
	struct tt_arena arena = {0};
	tt_status status;
	size_t made = 0;

	TT_NEED_MEMORY(golden);
	status = tt_golden_run(golden, &arena, op->op->name, args, arg_count);
	while (status == TTNN_OK && made < golden->out_count) {
		status = golden_tensor(&out->tensors[made], &arena, &golden->out[made]);
		made += status == TTNN_OK;
	}
	if (status == TTNN_OK) {
		out->count = made;
		out->extents.rank = 0;
	}
	while (status != TTNN_OK && made)
		ttnn_tensor_unref(out->tensors[--made]);
	tt_arena_deinit(&arena);
	tt_free(golden);
	return status;
}

/* ---- enumerations ------------------------------------------------------------------------------------ */

const char *ttnn_enum_name(const ttnn_enum *type)
{
	return type->name;
}

bool ttnn_enum_member(const char **name, int64_t *value, const ttnn_enum *type, size_t i)
{
	if (i >= type->count)
		return false;
	*name = type->rows[i].name;
	*value = type->rows[i].value;
	return true;
}

struct ttnn_value ttnn_v_enum(const ttnn_enum *type, int64_t member)
{
	return tt_value_enum(type, member);
}

/* ---- objects ------------------------------------------------------------------------------------------ */

struct tt_object {
	const char *kind;
	struct ttnn_value value;
	struct tt_arena arena; /* of all that the value points at */
};

/* Where upstream has the kinds; those not named are in "types". */
static const struct {
	const char *prefix, *module;
} modules[] = {
	{"UnaryWithParam", "activation"},
	{"WormholeCompute", "operations.core"},
	{"BlackholeCompute", "operations.core"},
	{"Matmul", "operations.matmul"},
	{"LayerNorm", "operations.normalization"},
	{"Softmax", "operations.normalization"},
	{"SDPA", "operations.transformer"},
	{"Conv", "operations.conv"},
	{"Op2D", "operations.conv"},
	{"GlobalS", "global_semaphore"},
	{"GlobalC", "global_circular_buffer"},
};

const char *ttnn_object_kind(const char **module, size_t i)
{
	const char *kind = tt_object_kind(i);

	*module = "types";
	for (size_t k = 0; kind && k < sizeof(modules) / sizeof(modules[0]); k++)
		if (strncmp(kind, modules[k].prefix, strlen(modules[k].prefix)) == 0)
			*module = modules[k].module;
	return kind;
}

/* The name of a kind as the table has it, which lives for ever. */
static const char *kept_name(const char *kind)
{
	const char *name;

	for (size_t i = 0; (name = tt_object_kind(i)); i++)
		if (strcmp(name, kind) == 0)
			return name;
	return NULL;
}

/* Makes the value in an arena of its own: the arguments' memory is the caller's. */
static tt_status make(struct tt_object *out, const char *kind, const struct ttnn_arg *args,
		      size_t arg_count)
{
	struct tt_arena arena = {0};
	struct ttnn_value value;
	tt_status status = tt_object_make(&value, &arena, kind, args, arg_count);

	if (status == TTNN_OK)
		status = tt_value_copy(&out->value, &out->arena, &value);
	tt_arena_deinit(&arena);
	return status;
}

enum ttnn_status ttnn_object_new(ttnn_object **out, const char *kind, const struct ttnn_arg *args,
				 size_t arg_count)
{
	struct tt_object *object = tt_calloc(1, sizeof(*object));
	tt_status status;

	TT_NEED_MEMORY(object);
	object->kind = kept_name(kind);
	status = make(object, kind, args, arg_count);
	if (status != TTNN_OK) {
		ttnn_object_free(object);
		return status;
	}
	*out = object;
	return TTNN_OK;
}

enum ttnn_status ttnn_object_from_value(ttnn_object **out, const char **kind,
					const struct ttnn_value *value)
{
	struct tt_object *object;
	tt_status status;

	*kind = value->kind == TTNN_VALUE_OBJECT ? tt_object_kind_of(value->schema) : NULL;
	if (!*kind)
		return tt_fail(TTNN_TYPE, "%s is no configuration object",
			       tt_value_kind_name(value));
	object = tt_calloc(1, sizeof(*object));
	TT_NEED_MEMORY(object);
	object->kind = *kind;
	status = tt_value_copy(&object->value, &object->arena, value);
	if (status != TTNN_OK) {
		ttnn_object_free(object);
		return status;
	}
	*out = object;
	return TTNN_OK;
}

void ttnn_object_free(ttnn_object *object)
{
	if (!object)
		return;
	tt_arena_deinit(&object->arena);
	tt_free(object);
}

struct ttnn_value ttnn_object_value(const ttnn_object *object)
{
	return object->value;
}

const char *ttnn_object_field(const ttnn_object *object, size_t i)
{
	const struct tt_schema *schema = object->value.schema;

	return i < schema->count ? schema->fields[i].name : NULL;
}

enum ttnn_status ttnn_object_set(ttnn_object *object, const char *field,
				 const struct ttnn_value *value)
{
	struct tt_object changed = {.kind = object->kind};
	struct ttnn_arg args[TT_ARGS_MAX];
	bool known = false;
	const char *name;
	tt_status status;
	size_t count = 0;

	for (; count < TT_ARGS_MAX && (name = ttnn_object_field(object, count)); count++) {
		bool this = strcmp(name, field) == 0;

		args[count] = (struct ttnn_arg){name, this ? *value : object->value.items[count]};
		known |= this;
	}
	if (!known)
		return tt_fail(TTNN_NOTFOUND, "%s has no field %s", object->kind, field);
	status = make(&changed, object->kind, args, count);
	if (status != TTNN_OK) {
		tt_arena_deinit(&changed.arena);
		return status;
	}
	tt_arena_deinit(&object->arena);
	*object = changed;
	return TTNN_OK;
}

/* ---- texts ------------------------------------------------------------------------------------------------ */

enum ttnn_status ttnn_value_text(char **out, const struct ttnn_value *value)
{
	struct tt_str text = {0};

	if (value->kind == TTNN_VALUE_OBJECT)
		tt_value_text(&text, value);
	else
		tt_sig_print_value(&text, value);
	return tt_str_take(out, &text);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

enum ttnn_status ttnn_value_json(char **out, const struct ttnn_value *value,
				 enum ttnn_dialect dialect)
{
	struct tt_str text = {0};
	struct tt_jsonw w;
	tt_status status;

	if (value->kind == TTNN_VALUE_TENSOR || value->kind == TTNN_VALUE_DEVICE)
		return tt_fail(TTNN_UNSUPPORTED, "%s has no JSON", tt_value_kind_name(value));
	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){.compact = true});
	tt_value_json(&w, value, dialect);
	status = tt_jsonw_finish(&w);
	if (status == TTNN_OK)
		return tt_str_take(out, &text);
	tt_str_deinit(&text);
	return status;
}
