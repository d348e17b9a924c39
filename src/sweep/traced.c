/*
 * traced.c: the master file of November 2025.
 *
 *	{"operations": {"ttnn::add": {"configurations": [
 *		{"arguments": [{"arg0": VALUE}, ...], "source": "models/..."}, ...]}, ...},
 *	 "metadata": {...}}
 *
 * VALUE is a text ("nullopt", "1", "0.125", "[1, 2]", "DataType::BFLOAT16"), {"Tensor": {...}},
 * {"MemoryConfig": {...}}, {"Shape": [...]} or a configuration object by its name. An element that
 * the tracer's own parser refused is {"UnparsedElement": {"error", "element_info": TEXT}} instead:
 * every sharded tensor among them. "[ unsupported type , ...]" and "{...}" are lost for good.
 */
#include "sweep/traced.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "ops/objects.h"
#include "store/order.h"
#include "store/repair.h"
#include "tensor/enums.h"
#include "tensor/value_json.h"

/* ---- the file ------------------------------------------------------------------------------------- */

/* "ttnn::transformer::x" as "ttnn.transformer.x". */
static const char *dotted(struct tt_arena *arena, const char *name)
{
	char *out = tt_arena_strdup(arena, name), *to = out;

	if (!out)
		return NULL;
	for (const char *from = name; *from; from++) {
		*to++ = *from == ':' ? '.' : *from;
		from += *from == ':' && from[1] == ':';
	}
	*to = '\0';
	return out;
}

static tt_status add_operation(struct tt_traced *out, const char *name, const struct tt_json *list)
{
	struct tt_json_iter it = tt_json_iter(list);
	const char *op = dotted(&out->arena, name);

	if (!op)
		return tt_fail_nomem();
	for (size_t number = 0; tt_json_next(&it); number++) {
		const struct tt_json *args = tt_json_get(it.value, "arguments");
		const char *source = tt_json_string(tt_json_get(it.value, "source"), NULL);

		/* The oldest files have the argument list alone. */
		if (!args && tt_json_kind(it.value) == TT_JSON_ARRAY)
			args = it.value;
		out->configs[out->count++] = (struct tt_traced_config){
			.op = op, .source = source ? source : "", .number = number, .args = args};
	}
	return TTNN_OK;
}

tt_status tt_traced_load(struct tt_traced *out, const char *path)
{
	struct tt_json_iter it;
	const struct tt_json *operations;
	tt_status status = TTNN_OK;
	size_t count = 0;

	*out = (struct tt_traced){0};
	TT_TRY(tt_json_load(&out->doc, path));
	operations = tt_json_get(tt_json_root(out->doc), "operations");
	if (tt_json_kind(operations) != TT_JSON_OBJECT) {
		tt_traced_free(out);
		return tt_fail(TTNN_FORMAT, "%s: no \"operations\": not a master file", path);
	}
	for (it = tt_json_iter(operations); tt_json_next(&it);)
		count += tt_json_count(tt_json_get(it.value, "configurations"));
	out->configs = tt_arena_calloc(&out->arena, count + 1, sizeof(*out->configs));
	if (!out->configs)
		status = tt_fail_nomem();
	for (it = tt_json_iter(operations); status == TTNN_OK && tt_json_next(&it);)
		status = add_operation(out, it.key, tt_json_get(it.value, "configurations"));
	if (status != TTNN_OK)
		tt_traced_free(out);
	return status;
}

void tt_traced_free(struct tt_traced *traced)
{
	tt_json_free(traced->doc);
	tt_arena_deinit(&traced->arena);
	*traced = (struct tt_traced){0};
}

/* ---- one argument ----------------------------------------------------------------------------------- */

/* What binding an argument needs to know. */
struct binding {
	struct tt_traced_call *call;
	struct tt_arena *arena;
	const struct tt_traced_config *config;
	const struct tt_traced_maker *maker;
	const struct tt_overloads *overloads;
	const char *arg; /* its name */
};

static tt_status bad(const struct binding *b, const char *what)
{
	return tt_fail(TTNN_FORMAT, "%s, configuration %zu: %s: %s", b->config->op,
		       b->config->number, b->arg, what);
}

static tt_status read_enum(int64_t *out, const struct binding *b, const struct tt_enum *type,
			   const struct tt_json *value)
{
	size_t length = 0;
	const char *text = tt_json_string(value, &length);

	if (!text || !tt_enum_parse(out, type, text, length))
		return bad(b, type->name);
	return TTNN_OK;
}

static tt_status read_tensor(ttnn_tensor **out, const struct binding *b,
			     const struct tt_json *value, size_t item)
{
	const struct tt_json *spec = tt_json_get(value, "tensor_spec"),
			     *page = tt_json_get(spec, "tensor_layout");
	struct tt_traced_tensor tensor = {.arg = b->arg, .item = item};
	struct ttnn_spec_args args = {0};
	const char *storage = tt_json_string(tt_json_get(value, "storage_type"), NULL);
	int64_t dtype, layout;

	TT_TRY(tt_json_read_shape(&args.shape, tt_json_get(spec, "logical_shape")));
	TT_TRY(read_enum(&dtype, b, &tt_enum_dtype, tt_json_get(page, "dtype")));
	/* In lists the layout is missing: tiles show by their alignment. A tensor that has neither is tiled. */
	layout = tt_json_count(tt_json_get(page, "alignment")) == 1 ? TTNN_ROW_MAJOR : TTNN_TILE;
	if (tt_json_get(value, "layout"))
		TT_TRY(read_enum(&layout, b, &tt_enum_layout, tt_json_get(value, "layout")));
	TT_TRY(tt_json_read_memory_config(&args.memory, tt_json_get(page, "memory_config")));
	args.dtype = (enum ttnn_dtype)dtype;
	args.layout = (enum ttnn_layout)layout;
	TT_TRY(ttnn_tensor_spec_make(&tensor.spec, &args));
	tensor.on_host = storage && strstr(storage, "HOST");
	return b->maker->tensor(out, b->maker->context, &tensor);
}

static tt_status read_tensors(struct ttnn_value *out, const struct binding *b,
			      const struct tt_json *list)
{
	size_t count = tt_json_count(list), done = 0;
	struct ttnn_value *items = tt_arena_calloc(b->arena, count + 1, sizeof(*items));
	struct tt_json_iter it = tt_json_iter(list);

	if (!items)
		return tt_fail_nomem();
	while (tt_json_next(&it)) {
		ttnn_tensor *tensor;

		TT_TRY(read_tensor(&tensor, b, it.value, done));
		items[done++] = ttnn_v_tensor(tensor);
	}
	*out = ttnn_v_list(items, count);
	return TTNN_OK;
}

static tt_status read_field(struct ttnn_value *out, const struct binding *b,
			    const struct tt_overloads *fields, const char *name,
			    const struct tt_json *value)
{
	const char *text = tt_json_string(value, NULL);
	int64_t x, y;
	double real;
	char number[32];

	if (text)
		return tt_traced_text(out, b->arena, fields, name, text) ? TTNN_OK : bad(b, text);
	if (tt_json_kind(value) == TT_JSON_ARRAY && tt_json_int(&x, tt_json_at(value, 0)) &&
	    tt_json_int(&y, tt_json_at(value, 1))) {
		*out = (struct ttnn_value){.kind = TTNN_VALUE_CORE,
					   .core = {(uint32_t)x, (uint32_t)y}};
		return TTNN_OK;
	}
	if (tt_json_int(&x, tt_json_get(value, "x")) && tt_json_int(&y, tt_json_get(value, "y"))) {
		*out = (struct ttnn_value){.kind = TTNN_VALUE_CORE,
					   .core = {(uint32_t)x, (uint32_t)y}};
		return TTNN_OK;
	}
	if (tt_json_kind(value) == TT_JSON_OBJECT && !tt_json_count(value)) { /* no cores */
		*out = (struct ttnn_value){.kind = TTNN_VALUE_CORE_SET};
		return ttnn_core_set_make(&out->core_set, NULL, 0);
	}
	if (!tt_json_real(&real, value))
		return bad(b, name);
	snprintf(number, sizeof(number), "%.17g", real);
	return tt_traced_text(out, b->arena, fields, name, number) ? TTNN_OK : bad(b, name);
}

/* The name of a field that was printed under another one. */
static const char *field_name(const char *printed)
{
	return strcmp(printed, "compute_grid") == 0 ? "compute_with_storage_grid_size" : printed;
}

/* {"WormholeComputeKernelConfig": {"math_fidelity": "LoFi", ...}} */
static tt_status read_object(struct ttnn_value *out, const struct binding *b, const char *name,
			     const struct tt_json *value)
{
	struct tt_overloads fields = {.name = name, .count = 1};
	struct ttnn_arg args[TT_ARGS_MAX];
	struct tt_json_iter it = tt_json_iter(value);
	size_t count = 0;

	TT_TRY(tt_object_signature(&fields.sigs[0], b->arena, name));
	while (tt_json_next(&it) && count < TT_ARGS_MAX) {
		const char *field = field_name(it.key);

		/* A field of then that there is no more. */
		if (tt_sig_index(&fields.sigs[0], field) < 0)
			continue;
		args[count].name = field;
		TT_TRY(read_field(&args[count].value, b, &fields, field, it.value));
		count++;
	}
	return tt_object_make(out, b->arena, name, args, count);
}

static tt_status lost(struct ttnn_value *out, const struct binding *b)
{
	struct tt_traced_call *call = b->call;
	const char *note;

	if (strcmp(b->arg, "device") == 0) {
		*out = ttnn_v_device(b->maker->device);
		return TTNN_OK;
	}
	if (!tt_traced_stand_in(out, &note, b->arena,
				&(struct tt_traced_lost){b->config->op, b->arg, call}))
		return bad(b, "lost, and nothing stands for it");
	if (call->note_count < TT_TRACED_NOTES)
		call->notes[call->note_count++] = note;
	return TTNN_OK;
}

static tt_status read_value(struct ttnn_value *out, const struct binding *b,
			    const struct tt_json *value)
{
	const char *text = tt_json_string(value, NULL);
	struct tt_json_iter it = tt_json_iter(value);
	struct ttnn_memory_config *memory;
	struct ttnn_shape *shape;
	ttnn_tensor *tensor;

	if (text && (strncmp(text, "[ unsupported", 13) == 0 || strncmp(text, "[{", 2) == 0 ||
		     strncmp(text, "[any", 4) == 0))
		return lost(out, b);
	if (text)
		return tt_traced_text(out, b->arena, b->overloads, b->arg, text) ? TTNN_OK
										 : bad(b, text);
	if (tt_json_kind(value) == TT_JSON_ARRAY)
		return read_tensors(out, b, value);
	if (tt_json_kind(value) != TT_JSON_OBJECT || !tt_json_next(&it))
		return lost(out, b);
	if (tt_json_kind(it.value) == TT_JSON_NULL)
		return lost(out, b);
	if (strcmp(it.key, "Tensor") == 0) {
		TT_TRY(read_tensor(&tensor, b, it.value, 0));
		*out = ttnn_v_tensor(tensor);
		return TTNN_OK;
	}
	if (strcmp(it.key, "MemoryConfig") == 0) {
		memory = tt_arena_calloc(b->arena, 1, sizeof(*memory));
		if (!memory)
			return tt_fail_nomem();
		*out = ttnn_v_memory(memory);
		return tt_json_read_memory_config(memory, it.value);
	}
	if (strcmp(it.key, "Shape") == 0) {
		shape = tt_arena_calloc(b->arena, 1, sizeof(*shape));
		if (!shape)
			return tt_fail_nomem();
		*out = ttnn_v_shape(shape);
		return tt_json_read_shape(shape, it.value);
	}
	return read_object(out, b, it.key, it.value);
}

/* {"argN": VALUE}, also inside of an element that was not parsed. */
static tt_status read_element(struct ttnn_value *out, const struct binding *b,
			      const struct tt_json *element)
{
	size_t length = 0;
	const char *info = tt_repair_unparsed(element, &length);
	struct tt_json_iter it = tt_json_iter(element);
	const struct tt_json *repaired = NULL;
	struct tt_repair repair = {0};
	tt_status status;

	if (!info)
		return tt_json_next(&it) ? read_value(out, b, it.value) : bad(b, "no value");
	status = tt_repair_text(&repaired, &repair, info, length);
	if (status == TTNN_OK) {
		it = tt_json_iter(repaired);
		status = tt_json_next(&it) ? read_value(out, b, it.value) : lost(out, b);
	}
	tt_repair_deinit(&repair);
	return status;
}

/* ---- calls --------------------------------------------------------------------------------------------- */

/* The place that an element says it has, {"arg3": ...}; false: it has a name, or none. */
static bool place_of(size_t *out, const struct tt_json *element)
{
	struct tt_json_iter it = tt_json_iter(element);
	char *end;

	if (!tt_json_next(&it) || strncmp(it.key, "arg", 3) != 0)
		return false;
	*out = strtoul(it.key + 3, &end, 10);
	return end != it.key + 3 && !*end;
}

static bool is_named(const struct tt_json *element)
{
	size_t place;

	return !place_of(&place, element) && !tt_repair_unparsed(element, NULL);
}

/* The arguments that the positions of a configuration stand for: those of a release, or of a signature. */
struct names {
	const char *order; /* NULL: the signature's */
	const struct tt_sig *sig;
};

static tt_status find_names(struct names *out, const struct tt_traced_config *config,
			    const struct tt_op_entry *entry)
{
	struct tt_json_iter it = tt_json_iter(config->args);
	size_t placed = 0;

	while (tt_json_next(&it))
		placed += !is_named(it.value);
	*out = (struct names){0};
	if (!config->python)
		out->order = tt_order_names(config->op, placed);
	for (size_t i = 0; !out->order && !out->sig && i < entry->overloads.count; i++)
		if (entry->overloads.sigs[i].count >= placed)
			out->sig = &entry->overloads.sigs[i];
	if (!out->order && !out->sig)
		return tt_fail(TTNN_NOTFOUND, "%s takes no %zu arguments", config->op, placed);
	return TTNN_OK;
}

/* The name of the next argument by position, in `arena`; "" for one that there is no more, NULL at the end. */
static const char *next_name(struct names *names, size_t place, struct tt_arena *arena)
{
	struct tt_order_word word;

	if (!names->order)
		return place < names->sig->count ? names->sig->args[place].name : NULL;
	if (!tt_order_next(&word, &names->order))
		return NULL;
	return tt_arena_strndup(arena, word.name, word.length);
}

tt_status tt_traced_bind(struct tt_traced_call *out, struct tt_arena *arena,
			 const struct tt_traced_config *config, const struct tt_traced_maker *maker)
{
	const struct tt_op_entry *entry = tt_op_find(config->op);
	struct tt_json_iter it = tt_json_iter(config->args);
	struct binding b = {out, arena, config, maker, NULL, ""};
	struct names names;

	*out = (struct tt_traced_call){0};
	TT_TRY(tt_op_registry());
	if (!entry)
		return tt_fail(TTNN_NOTFOUND, "there is no operation %s", config->op);
	TT_TRY(find_names(&names, config, entry));
	b.overloads = &entry->overloads;
	for (size_t place = 0; tt_json_next(&it);) {
		struct tt_json_iter member = tt_json_iter(it.value);

		if (is_named(it.value) && tt_json_next(&member))
			b.arg = member.key;
		else
			b.arg = next_name(&names, place++, arena);
		if (!b.arg || out->count == TT_ARGS_MAX) {
			b.arg = "";
			return bad(&b, "too many arguments");
		}
		if (!*b.arg)
			continue;
		out->args[out->count].name = b.arg;
		TT_TRY(read_element(&out->args[out->count].value, &b, it.value));
		out->count++;
	}
	return TTNN_OK;
}
