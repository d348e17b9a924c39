/* recall.c: calls of traces. */
#include "sweep/recall.h"

#include <stdio.h>
#include <string.h>
#include <ttnn_frontend.h>

#include "ops/objects.h"
#include "tensor/enums.h"

/* ---- values ---------------------------------------------------------------------------------------------- */

/*
 * What a trace names is not what the library has, only called the same: enumerations and objects are looked up by
 * name.
 */
static tt_status own_enum(struct ttnn_value *value)
{
	const char *module, *name = tt_enum_name(value->enumeration, value->integer);
	const ttnn_enum *type;
	int64_t member;

	for (size_t i = 0; name && (type = ttnn_enum_at(&module, i)); i++)
		if (strcmp(type->name, value->enumeration->name) == 0 &&
		    tt_enum_find(&member, type, name)) {
			*value = tt_value_enum(type, member);
			return TTNN_OK;
		}
	return tt_fail(TTNN_UNSUPPORTED, "there is no %s::%s", value->enumeration->name,
		       name ? name : "?");
}

static tt_status own(struct ttnn_value *value, struct tt_arena *arena);

/* Items are in the arena already, and ours to change. */
static tt_status own_items(struct ttnn_value *value, struct tt_arena *arena)
{
	struct ttnn_value *items = tt_arena_calloc(arena, value->count + 1u, sizeof(*items));

	if (!items)
		return tt_fail_nomem();
	for (uint32_t i = 0; i < value->count; i++) {
		items[i] = value->items[i];
		TT_TRY(own(&items[i], arena));
	}
	value->items = items;
	return TTNN_OK;
}

static tt_status own_object(struct ttnn_value *value, struct tt_arena *arena)
{
	const struct tt_schema *schema = tt_object_schema(value->schema->name);

	if (!schema || schema->count != value->count)
		return tt_fail(TTNN_UNSUPPORTED, "there is no %s of %u fields", value->schema->name,
			       value->count);
	if (schema == &tt_schema_global_cb)
		return tt_fail(TTNN_UNSUPPORTED, "a %s is memory of the program that made it",
			       schema->name);
	TT_TRY(own_items(value, arena));
	value->schema = schema;
	return TTNN_OK;
}

/* What a tensor was like lives until the next event only. */
static tt_status own_tensor(struct ttnn_value *value, struct tt_arena *arena)
{
	struct tt_event_tensor *seen = tt_arena_calloc(arena, 1, sizeof(*seen));
	struct ttnn_tensor_spec *spec = tt_arena_calloc(arena, 1, sizeof(*spec));

	if (!seen || !spec)
		return tt_fail_nomem();
	*seen = *value->seen;
	*spec = *seen->spec;
	seen->spec = spec;
	value->seen = seen;
	return TTNN_OK;
}

static tt_status own(struct ttnn_value *value, struct tt_arena *arena)
{
	switch ((enum ttnn_value_kind)value->kind) {
	case TTNN_VALUE_ENUM:
		return own_enum(value);
	case TTNN_VALUE_OBJECT:
		return own_object(value, arena);
	case TTNN_VALUE_LIST:
	case TTNN_VALUE_DICT:
		return own_items(value, arena);
	case TTNN_VALUE_SEEN_TENSOR:
		return own_tensor(value, arena);
	case TTNN_VALUE_OPAQUE:
		return tt_fail(TTNN_UNSUPPORTED, "only the text of an argument is known: %s",
			       value->text);
	default:
		return TTNN_OK;
	}
}

/* ---- reading --------------------------------------------------------------------------------------------- */

/* "ttnn::transformer::x" as "ttnn.transformer.x". */
static const char *dotted(struct tt_arena *arena, const char *name)
{
	char *out = tt_arena_strdup(arena, name), *to = out;

	for (const char *from = name; out && *from; from++) {
		*to++ = *from == ':' ? '.' : *from;
		from += *from == ':' && from[1] == ':';
	}
	if (out)
		*to = '\0';
	return out;
}

static tt_status take(struct tt_recall *out, const struct tt_event_scope_begin *scope)
{
	if (!scope->schema || scope->arg_count > scope->schema->count)
		return tt_fail(TTNN_FORMAT,
			       "the trace does not tell the names of arguments: it was "
			       "made by an older version");
	out->op = dotted(&out->arena, scope->name);
	if (!out->op)
		return tt_fail_nomem();
	for (size_t i = 0; i < scope->arg_count && i < TT_ARGS_MAX; i++) {
		struct ttnn_arg *arg = &out->args[out->count];

		if (i + scope->left_out >= scope->arg_count ||
		    scope->args[i].kind == TTNN_VALUE_ABSENT)
			continue;
		arg->name = tt_arena_strdup(&out->arena, scope->schema->fields[i].name);
		if (!arg->name)
			return tt_fail_nomem();
		TT_TRY(tt_value_copy(&arg->value, &out->arena, &scope->args[i]));
		TT_TRY(own(&arg->value, &out->arena));
		out->count++;
	}
	return TTNN_OK;
}

static void note_device(struct tt_recall *out, const struct ttnn_device_info *info)
{
	if (!info)
		return;
	snprintf(out->profile, sizeof(out->profile), "%s", info->profile ? info->profile : "");
	out->rows = info->chip_count > 1 ? info->rows : 0;
	out->cols = info->chip_count > 1 ? info->cols : 0;
}

static tt_status read(struct tt_recall *out, struct tt_source *source, uint64_t number)
{
	const struct tt_seen *seen;

	TT_TRY(tt_source_window(source,
				&(struct tt_source_window){.first_op = number, .op_count = 1}));
	for (;;) {
		TT_TRY(tt_source_next(&seen, source));
		if (!seen)
			return tt_fail(TTNN_NOTFOUND,
				       "call %llu: there is none that runs an operation",
				       (unsigned long long)number);
		if (seen->event.kind == TT_EVENT_DEVICE_OPEN)
			note_device(out, seen->event.device.info);
		if (seen->event.kind == TT_EVENT_SCOPE_BEGIN && seen->op == number &&
		    seen->event.begin.kind == TT_SCOPE_OPERATION)
			return take(out, &seen->event.begin);
	}
}

tt_status tt_recall_read(struct tt_recall *out, struct tt_source *source, uint64_t number)
{
	tt_status status;

	*out = (struct tt_recall){.number = number};
	status = read(out, source, number);
	if (status != TTNN_OK)
		tt_recall_free(out);
	return status;
}

void tt_recall_free(struct tt_recall *recall)
{
	tt_arena_deinit(&recall->arena);
	*recall = (struct tt_recall){0};
}

tt_status tt_recall_span(uint64_t *first, uint64_t *last, struct tt_source *source)
{
	const struct tt_seen *seen;

	*first = *last = 0;
	TT_TRY(tt_source_window(source, NULL));
	tt_source_want(source, &(struct tt_source_wants){.kinds = TT_WANT(SCOPE_BEGIN)});
	for (;;) {
		TT_TRY(tt_source_next(&seen, source));
		if (!seen)
			break;
		if (seen->op && (!*first || seen->op < *first))
			*first = seen->op;
		if (seen->op > *last)
			*last = seen->op;
	}
	tt_source_want(source, NULL);
	return TTNN_OK;
}

/* ---- making it again ------------------------------------------------------------------------------------- */

static tt_status remake(struct ttnn_value *value, struct tt_traced_tensor *wanted,
			struct tt_arena *arena, const struct tt_traced_maker *maker)
{
	struct tt_event_tensor tensor;
	struct ttnn_value *items;
	ttnn_tensor *made;

	if (value->kind == TTNN_VALUE_SEEN_DEVICE) {
		*value = ttnn_v_device(maker->device);
		return TTNN_OK;
	}
	if (tt_value_seen_tensor(&tensor, value)) {
		wanted->spec = *tensor.spec;
		wanted->on_host = !tensor.on_device;
		TT_TRY(maker->tensor(&made, maker->context, wanted));
		wanted->item++;
		*value = ttnn_v_tensor(made);
		return TTNN_OK;
	}
	if (value->kind != TTNN_VALUE_LIST)
		return TTNN_OK;
	items = tt_arena_calloc(arena, value->count + 1u, sizeof(*items));
	if (!items)
		return tt_fail_nomem();
	for (uint32_t i = 0; i < value->count; i++) {
		items[i] = value->items[i];
		TT_TRY(remake(&items[i], wanted, arena, maker));
	}
	value->items = items;
	return TTNN_OK;
}

static tt_status bind(struct tt_traced_call *out, struct tt_arena *arena, const void *what,
		      const struct tt_traced_maker *maker)
{
	const struct tt_recall *recall = what;

	*out = (struct tt_traced_call){.count = recall->count};
	for (size_t i = 0; i < recall->count; i++) {
		struct tt_traced_tensor wanted = {.arg = recall->args[i].name};

		out->args[i] = recall->args[i];
		TT_TRY(remake(&out->args[i].value, &wanted, arena, maker));
	}
	return TTNN_OK;
}

struct tt_call_source tt_call_of_recall(const struct tt_recall *recall)
{
	return (struct tt_call_source){recall->op, bind, recall};
}
