/*
 * traced.c: configurations of master files as calls (docs/formats/master.md). Whatever the layout of the file, arguments
 * are read as V1 has them:
 *
 *	[{"arg0": VALUE}, {"memory_config": VALUE}, ...]
 *
 * VALUE is a text ("nullopt", "1", "0.125", "[1, 2]", "DataType::BFLOAT16"), {"Tensor": {...}},
 * {"MemoryConfig": {...}}, {"Shape": [...]} or a configuration object by its name. "[ unsupported type , ...]" and
 * "{...}" are lost for good, and so are elements that stay unparsed.
 */
#include "sweep/traced.h"

#include <stdlib.h>
#include <string.h>

#include "base/jsondump.h"
#include "base/str.h"
#include "ops/objects.h"
#include "ops/op_enums.h"
#include "store/convert_args.h"
#include "store/order.h"
#include "store/repair.h"
#include "tensor/enums.h"
#include "tensor/value_json.h"

/* ---- the file ------------------------------------------------------------------------------------- */

/* Appends the arguments of a configuration as a list of V1. */
static tt_status add_list(struct tt_str *out, struct tt_master *master,
			  struct tt_json_parser *parser, struct tt_convert *convert,
			  const struct tt_traced_config *config)
{
	enum tt_master_layout layout = tt_master_layout(master);
	const struct tt_json *args;
	size_t op;

	if (!tt_master_find(&op, 1, master, config->op))
		return tt_fail(TTNN_INTERNAL, "%s is gone", config->op);
	TT_TRY(tt_master_repaired(&args, master, parser, op, config->number));
	tt_str_adds(out, out->length > 1 ? ",\n" : "");
	if (layout == TT_MASTER_V1) {
		tt_json_dump(out, args);
		return tt_str_status(out);
	}
	return tt_convert_args(out, convert, args, layout, TT_MASTER_V1);
}

/* Notes all configurations; their arguments come later. */
static tt_status list_configs(struct tt_traced *out, struct tt_master *master)
{
	size_t ops = tt_master_op_count(master), all = 0;

	for (size_t op = 0; op < ops; op++)
		all += tt_master_config_count(master, op);
	out->configs = tt_arena_calloc(&out->arena, all + 1, sizeof(*out->configs));
	if (!out->configs)
		return tt_fail_nomem();
	for (size_t op = 0; op < ops; op++) {
		struct tt_str name = {0};
		const char *kept;

		tt_master_spell(&name, tt_master_op_name(master, op), TT_MASTER_V2);
		kept = name.failed ? NULL : tt_arena_strdup(&out->arena, tt_str_text(&name));
		tt_str_deinit(&name);
		if (!kept)
			return tt_fail_nomem();
		for (size_t i = 0; i < tt_master_config_count(master, op); i++) {
			struct tt_master_config config;

			tt_master_config(&config, master, op, i);
			out->configs[out->count] = (struct tt_traced_config){
				.op = kept,
				.source = tt_arena_strdup(&out->arena, config.source),
				.number = i,
				.python = tt_master_layout(master) == TT_MASTER_V2,
			};
			if (!out->configs[out->count++].source)
				return tt_fail_nomem();
		}
	}
	return TTNN_OK;
}

/* Reads all arguments into one document. */
static tt_status read_args(struct tt_traced *out, struct tt_master *master, const char *path)
{
	struct tt_json_parser parser = {0};
	struct tt_convert convert = {0};
	struct tt_str text = {0};
	tt_status status = TTNN_OK;
	struct tt_json_iter it;

	tt_str_addc(&text, '[');
	for (size_t i = 0; status == TTNN_OK && i < out->count; i++)
		status = add_list(&text, master, &parser, &convert, &out->configs[i]);
	tt_str_addc(&text, ']');
	if (status == TTNN_OK)
		status = tt_str_status(&text);
	if (status == TTNN_OK)
		status = tt_json_parse(&out->doc, tt_str_text(&text), text.length, path);
	if (status == TTNN_OK) {
		it = tt_json_iter(tt_json_root(out->doc));
		for (size_t i = 0; i < out->count && tt_json_next(&it); i++)
			out->configs[i].args = it.value;
	}
	tt_json_parser_deinit(&parser);
	tt_convert_deinit(&convert);
	tt_str_deinit(&text);
	return status;
}

tt_status tt_traced_load(struct tt_traced *out, const char *path)
{
	struct tt_master *master;
	tt_status status;

	*out = (struct tt_traced){0};
	TT_TRY(tt_master_open(&master, path));
	status = list_configs(out, master);
	if (status == TTNN_OK)
		status = read_args(out, master, path);
	tt_master_free(master);
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

tt_status tt_traced_spec(struct ttnn_tensor_spec *out, bool *on_host, const struct tt_json *tensor)
{
	static const struct tt_traced_config nowhere = {.op = "a tensor"};
	const struct binding b = {.config = &nowhere, .arg = "its specification"};
	const struct tt_json *spec = tt_json_get(tensor, "tensor_spec"),
			     *page = tt_json_get(spec, "tensor_layout");
	const char *storage = tt_json_string(tt_json_get(tensor, "storage_type"), NULL);
	struct ttnn_spec_args args = {0};
	int64_t dtype, layout;

	TT_TRY(tt_json_read_shape(&args.shape, tt_json_get(spec, "logical_shape")));
	TT_TRY(read_enum(&dtype, &b, &tt_enum_dtype, tt_json_get(page, "dtype")));
	/* In lists the layout is missing: tiles show by their alignment. */
	layout = tt_json_count(tt_json_get(page, "alignment")) > 1 ? TTNN_TILE : TTNN_ROW_MAJOR;
	if (tt_json_get(tensor, "layout"))
		TT_TRY(read_enum(&layout, &b, &tt_enum_layout, tt_json_get(tensor, "layout")));
	TT_TRY(tt_json_read_memory_config(&args.memory, tt_json_get(page, "memory_config")));
	args.dtype = (enum ttnn_dtype)dtype;
	args.layout = (enum ttnn_layout)layout;
	/* Mostly it is the layout's own; results of some operations keep another. */
	if (tt_json_count(tt_json_get(page, "alignment")))
		TT_TRY(tt_json_read_shape(&args.alignment, tt_json_get(page, "alignment")));
	*on_host = storage && strstr(storage, "HOST");
	return ttnn_tensor_spec_make(out, &args);
}

static tt_status read_tensor(ttnn_tensor **out, const struct binding *b,
			     const struct tt_json *value, size_t item)
{
	struct tt_traced_tensor tensor = {.arg = b->arg, .item = item};
	tt_status status = tt_traced_spec(&tensor.spec, &tensor.on_host, value);

	if (status != TTNN_OK)
		return tt_fail_prefix(status, "%s, configuration %zu: %s", b->config->op,
				      b->config->number, b->arg);
	return b->maker->tensor(out, b->maker->context, &tensor);
}

static tt_status read_value(struct ttnn_value *out, const struct binding *b,
			    const struct tt_json *value);

/* Tensors, which have no names in lists, or whatever else. */
static tt_status read_list(struct ttnn_value *out, const struct binding *b,
			   const struct tt_json *list)
{
	size_t count = tt_json_count(list), done = 0;
	struct ttnn_value *items = tt_arena_calloc(b->arena, count + 1, sizeof(*items));
	struct tt_json_iter it = tt_json_iter(list);

	if (!items)
		return tt_fail_nomem();
	while (tt_json_next(&it)) {
		const char *text = tt_json_string(it.value, NULL);
		ttnn_tensor *tensor;

		if (tt_json_get(it.value, "tensor_spec")) {
			TT_TRY(read_tensor(&tensor, b, it.value, done));
			items[done++] = ttnn_v_tensor(tensor);
		} else if (
			text) { /* a member of an enumeration, where the argument is a list of them */
			if (!tt_traced_member(&items[done++], text))
				return bad(b, text);
		} else {
			TT_TRY(read_value(&items[done++], b, it.value));
		}
	}
	*out = ttnn_v_list(items, count);
	return TTNN_OK;
}

/* {"op_type": 2, "param": [1.0]}: an activation by its number. */
static tt_status read_activation(struct ttnn_value *out, const struct binding *b,
				 const struct tt_json *value, int64_t type)
{
	const struct tt_json *list = tt_json_get(value, "param");
	size_t count = tt_json_count(list), done = 0;
	struct ttnn_value *params = tt_arena_calloc(b->arena, count + 1, sizeof(*params));
	struct tt_json_iter it = tt_json_iter(list);
	struct ttnn_arg args[2] = {{"op_type", tt_value_enum(&tt_enum_unary, type)},
				   {"params", {0}}};
	double real;

	if (!params)
		return tt_fail_nomem();
	while (tt_json_next(&it)) {
		if (!tt_json_real(&real, it.value))
			return bad(b, "a parameter of an activation is no number");
		params[done++] = ttnn_v_real(real);
	}
	args[1].value = ttnn_v_list(params, count);
	return tt_object_make(out, b->arena, "UnaryWithParam", args, 2);
}

static tt_status read_field(struct ttnn_value *out, const struct binding *b,
			    const struct tt_overloads *fields, const char *name,
			    const struct tt_json *value)
{
	const char *text = tt_json_string(value, NULL);
	int64_t x, y;
	double real;
	char number[32];
	bool truth;

	if (tt_json_kind(value) == TT_JSON_NULL)
		text = "nullopt";
	if (tt_json_bool(&truth, value))
		text = truth ? "1" : "0";
	if (text)
		return tt_traced_text(out, b->arena, fields, name, text) ? TTNN_OK : bad(b, text);
	if (tt_json_kind(value) == TT_JSON_ARRAY && tt_json_int(&x, tt_json_at(value, 0)) &&
	    tt_json_int(&y, tt_json_at(value, 1))) {
		*out = (struct ttnn_value){.kind = TTNN_VALUE_CORE,
					   .core = {(uint32_t)x, (uint32_t)y}};
		return TTNN_OK;
	}
	if (tt_json_int(&x, tt_json_get(value, "op_type")))
		return read_activation(out, b, value, x);
	if (tt_json_int(&x, tt_json_get(value, "x")) && tt_json_int(&y, tt_json_get(value, "y"))) {
		*out = (struct ttnn_value){.kind = TTNN_VALUE_CORE,
					   .core = {(uint32_t)x, (uint32_t)y}};
		return TTNN_OK;
	}
	if ((tt_json_kind(value) == TT_JSON_OBJECT || tt_json_kind(value) == TT_JSON_ARRAY) &&
	    !tt_json_count(value)) { /* no cores */
		*out = (struct ttnn_value){.kind = TTNN_VALUE_CORE_SET};
		return ttnn_core_set_make(&out->core_set, NULL, 0);
	}
	if (tt_json_kind(value) == TT_JSON_ARRAY) {
		*out = (struct ttnn_value){.kind = TTNN_VALUE_CORE_SET};
		return tt_json_read_core_set(&out->core_set, value);
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
	const char *printed = tt_json_string(tt_json_get(value, "value"), NULL);
	size_t count = 0;

	if (printed && tt_json_count(value) == 1)
		return tt_traced_printed(out, b->arena, printed);
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

/* Whether a text stands for what could not be printed. */
static bool is_lost(const char *text)
{
	return strncmp(text, "[ unsupported", 13) == 0 || strncmp(text, "[{", 2) == 0 ||
	       strncmp(text, "[any", 4) == 0;
}

static tt_status lost(struct ttnn_value *out, const struct binding *b)
{
	struct tt_traced_call *call = b->call;
	const char *note;

	call->lost++;
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

	if (text && is_lost(text))
		return lost(out, b);
	if (text && b->overloads)
		return tt_traced_text(out, b->arena, b->overloads, b->arg, text) ? TTNN_OK
										 : bad(b, text);
	if (tt_json_kind(value) == TT_JSON_ARRAY)
		return read_list(out, b, value);
	if (tt_json_kind(value) != TT_JSON_OBJECT || !tt_json_next(&it) ||
	    tt_json_kind(it.value) == TT_JSON_NULL)
		return lost(out, b);
	if (strcmp(it.key, "MeshDevice") == 0) {
		*out = ttnn_v_device(b->maker->device);
		return TTNN_OK;
	}
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

static tt_status make_none(ttnn_tensor **out, void *context, const struct tt_traced_tensor *tensor)
{
	(void)out;
	(void)context;
	return tt_fail(TTNN_FORMAT, "%s: a tensor inside of an object", tensor->arg);
}

tt_status tt_traced_object(struct ttnn_value *out, struct tt_arena *arena,
			   const struct tt_json *object)
{
	static const struct tt_traced_config nowhere = {.op = "an object"};
	static const struct tt_traced_maker maker = {.tensor = make_none};
	struct tt_json_iter it = tt_json_iter(object);
	struct tt_traced_call call = {0};
	const struct binding b = {
		.call = &call, .config = &nowhere, .arena = arena, .maker = &maker, .arg = ""};

	if (!tt_json_next(&it) || tt_json_kind(it.value) != TT_JSON_OBJECT)
		return tt_fail(TTNN_FORMAT, "no object of a configuration");
	return read_value(out, &b, object);
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

/* "arg7" is the eighth argument. */
static bool place_of(size_t *out, const char *key)
{
	char *end;

	if (strncmp(key, "arg", 3) != 0 || !key[3])
		return false;
	*out = strtoul(key + 3, &end, 10);
	return !*end;
}

/*
 * The name that a key of a configuration has in a signature; NULL: it has none. Calls of 2026 are as Python made them;
 * those of November 2025 have all arguments by position (`placed`).
 */
static const char *name_in(const struct tt_sig *sig, const char *key, bool placed)
{
	size_t place;
	int index;

	if (place_of(&place, key))
		return place < sig->count && (placed || !sig->args[place].keyword_only)
			       ? sig->args[place].name
			       : NULL;
	index = tt_sig_index(sig, key);
	return index < 0 ? NULL : sig->args[index].name;
}

/* Whether a signature has the argument of an element, and takes it if it is a text. */
static bool has_element(const struct binding *b, const struct tt_overloads *one,
			const struct tt_json *element, bool placed)
{
	struct tt_json_iter member = tt_json_iter(element);
	struct ttnn_value value;
	const char *name, *text;

	if (tt_repair_unparsed(element, NULL))
		return true;
	name = tt_json_next(&member) ? name_in(&one->sigs[0], member.key, placed) : NULL;
	text = tt_json_string(member.value, NULL);
	return name &&
	       (!text || is_lost(text) || tt_traced_text(&value, b->arena, one, name, text));
}

/* Whether all arguments that a signature demands are there. */
static bool has_required(const struct tt_sig *sig, const struct tt_json *args, bool placed)
{
	for (size_t i = 0; i < sig->count; i++) {
		struct tt_json_iter it = tt_json_iter(args), member;
		bool found = sig->args[i].has_default;

		while (!found && tt_json_next(&it)) {
			const char *name;

			member = tt_json_iter(it.value);
			name = tt_json_next(&member) ? name_in(sig, member.key, placed) : NULL;
			found = tt_repair_unparsed(it.value, NULL) || name == sig->args[i].name;
		}
		if (!found)
			return false;
	}
	return true;
}

/* The first signature that takes all elements, as far as that can be told before there are tensors. */
static const struct tt_sig *find_sig(const struct binding *b, bool placed)
{
	for (size_t i = 0; i < b->overloads->count; i++) {
		struct tt_overloads one = {.name = b->overloads->name, .count = 1};
		struct tt_json_iter it = tt_json_iter(b->config->args);
		bool fits = true;

		one.sigs[0] = b->overloads->sigs[i];
		while (fits && tt_json_next(&it))
			fits = has_element(b, &one, it.value, placed);
		if (fits && has_required(&one.sigs[0], b->config->args, placed))
			return &b->overloads->sigs[i];
	}
	return NULL;
}

static bool is_named(const struct tt_json *element)
{
	struct tt_json_iter it = tt_json_iter(element);
	size_t place;

	return !tt_repair_unparsed(element, NULL) && tt_json_next(&it) && !place_of(&place, it.key);
}

/* The arguments that the positions of a configuration stand for: those of a release, or of a signature. */
struct names {
	const char *order; /* NULL: the signature's */
	const struct tt_sig *sig;
};

/*
 * Of Python calls a signature that takes the arguments; else the order of November 2025, which also those have that were
 * converted from it; else a signature that is long enough.
 */
static tt_status find_names(struct names *out, const struct binding *b)
{
	const struct tt_traced_config *config = b->config;
	struct tt_json_iter it = tt_json_iter(config->args);
	size_t placed = 0;

	while (tt_json_next(&it))
		placed += !is_named(it.value);
	*out = (struct names){0};
	if (config->python)
		out->sig = find_sig(b, false);
	if (!out->sig)
		out->order = tt_order_names(config->op, placed);
	if (!out->sig && !out->order)
		out->sig = find_sig(b, true);
	for (size_t i = 0; !out->order && !out->sig && i < b->overloads->count; i++)
		if (b->overloads->sigs[i].count >= placed)
			out->sig = &b->overloads->sigs[i];
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

/* Elements are objects, or lost; whatever a file has. */
static tt_status check_elements(const struct binding *b)
{
	struct tt_json_iter it = tt_json_iter(b->config->args);

	while (tt_json_next(&it))
		if (tt_json_kind(it.value) == TT_JSON_ARRAY)
			return bad(b, "an argument is a list, not {\"argN\": VALUE}");
	return TTNN_OK;
}

static const struct tt_json *first_member(const struct tt_json *element)
{
	struct tt_json_iter it = tt_json_iter(element);

	return tt_json_next(&it) ? it.value : NULL;
}

tt_status tt_traced_bind(struct tt_traced_call *out, struct tt_arena *arena,
			 const struct tt_traced_config *config, const struct tt_traced_maker *maker)
{
	const struct tt_op_entry *entry = tt_op_find(config->op);
	struct tt_json_iter it = tt_json_iter(config->args);
	struct binding b = {out, arena, config, maker, NULL, ""};
	struct names names;
	size_t lost_before;

	*out = (struct tt_traced_call){0};
	TT_TRY(tt_op_registry());
	if (!entry)
		return tt_fail(TTNN_NOTFOUND, "there is no operation %s", config->op);
	b.overloads = &entry->overloads;
	TT_TRY(check_elements(&b));
	TT_TRY(find_names(&names, &b));
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
		lost_before = out->lost;
		out->args[out->count].name = b.arg;
		TT_TRY(read_element(&out->args[out->count].value, &b, it.value));
		if (out->lost == lost_before && !tt_repair_unparsed(it.value, NULL))
			out->recorded[out->count] = first_member(it.value);
		out->count++;
	}
	return TTNN_OK;
}
