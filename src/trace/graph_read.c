/* graph_read.c: graphs and reports from JSON that anyone wrote: this library, upstream in any version, tests. */
#include <string.h>

#include "base/mem.h"
#include "trace/graph_read.h"

/* ---- the parts of a file ------------------------------------------------------------------------------------ */

static const char *const part_names[TT_GRAPH_PART_COUNT] = {
#define X(name, key) [TT_GRAPH_PART_##name] = (key),
	TT_GRAPH_PARTS(X)
#undef X
};

bool tt_graph_file_begin(struct tt_graph_file *file, struct tt_jsonslice *slices)
{
	*file = (struct tt_graph_file){.slices = slices};
	if (!tt_jsonslice_next(slices))
		return false;
	file->root = tt_jsonslice_kind(slices);
	return true;
}

bool tt_graph_file_next(enum tt_graph_part *out, struct tt_graph_file *file)
{
	bool first = !file->begun;

	file->begun = true;
	if (file->root == TT_JSON_ARRAY) {
		*out = TT_GRAPH_PART_GRAPH;
		return first;
	}
	if (file->root == TT_JSON_OBJECT && first)
		tt_jsonslice_enter(file->slices);
	while (file->root == TT_JSON_OBJECT && tt_jsonslice_next(file->slices)) {
		for (int i = 0; i < TT_GRAPH_PART_COUNT; i++) {
			*out = (enum tt_graph_part)i;
			if (tt_jsonslice_is(file->slices, part_names[i]))
				return true;
		}
	}
	return false;
}

tt_status tt_graph_file_end(struct tt_graph_file *file)
{
	while (tt_jsonslice_next(file->slices))
		;
	return tt_jsonslice_status(file->slices);
}

/* ---- one node ------------------------------------------------------------------------------------------------ */

#define X(constant, name) name,
static const char *const type_names[] = {TT_GRAPH_TYPES(X)};
#undef X

static tt_status fail(const struct tt_graph_reader *r, const char *what)
{
	return tt_fail(TTNN_FORMAT, "%s: node %zu: %s", r->name, r->before + r->graph->count - 1,
		       what);
}

/* A list of numbers of nodes; whether these exist is known at the end. */
static tt_status read_numbers(uint32_t **out, uint32_t *count, struct tt_graph_reader *r,
			      const struct tt_json *list)
{
	struct tt_json_iter it = tt_json_iter(list);
	size_t length = tt_json_count(list);

	if (!length)
		return TTNN_OK;
	if (length > UINT32_MAX / 2 || tt_json_kind(list) != TT_JSON_ARRAY)
		return fail(r, "connections are a list");
	*out = tt_arena_calloc(&r->graph->arena, length, sizeof(**out));
	if (!*out)
		return tt_fail_nomem();
	while (tt_json_next(&it)) {
		uint64_t number;

		if (!tt_json_uint(&number, it.value) || number >= UINT32_MAX)
			return fail(r, "a connection is not the number of a node");
		(*out)[(*count)++] = (uint32_t)number;
	}
	return TTNN_OK;
}

static tt_status read_texts(const char ***out, uint32_t *count, struct tt_graph_reader *r,
			    const struct tt_json *list)
{
	struct tt_json_iter it = tt_json_iter(list);
	size_t length = tt_json_count(list);

	if (!length)
		return TTNN_OK;
	if (length > UINT32_MAX / 2 || tt_json_kind(list) != TT_JSON_ARRAY)
		return fail(r, "arguments and stacks are lists");
	*out = tt_arena_calloc(&r->graph->arena, length, sizeof(**out));
	if (!*out)
		return tt_fail_nomem();
	while (tt_json_next(&it)) {
		size_t bytes;
		const char *text = tt_json_string(it.value, &bytes);

		if (!text)
			return fail(r, "an argument or a frame of a stack is not a string");
		text = tt_graph_text(r->graph, text, bytes);
		if (!text)
			return tt_fail_nomem();
		(*out)[(*count)++] = text;
	}
	return TTNN_OK;
}

static tt_status read_raw(struct tt_graph_param *out, struct tt_graph_reader *r,
			  const struct tt_json *value)
{
	struct tt_str text = {0};
	struct tt_jsonw w;
	tt_status status;

	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){.compact = true, .utf8 = true});
	tt_jsonw_value(&w, value);
	status = tt_jsonw_finish(&w);
	if (status == TTNN_OK)
		status = tt_str_status(&text);
	if (status == TTNN_OK) {
		out->kind = TT_GRAPH_RAW;
		out->length = (uint32_t)text.length;
		out->text = tt_graph_text(r->graph, tt_str_text(&text), text.length);
		status = out->text ? TTNN_OK : tt_fail_nomem();
	}
	tt_str_deinit(&text);
	return status;
}

static tt_status read_value(struct tt_graph_param *out, struct tt_graph_reader *r,
			    const struct tt_json *value)
{
	size_t length;
	const char *text = tt_json_string(value, &length);
	bool flag;

	if (text && length > UINT32_MAX)
		return fail(r, "a text is too long");
	if (text) {
		out->kind = TT_GRAPH_STRING;
		out->length = (uint32_t)length;
		out->text = tt_graph_text(r->graph, text, length);
		return out->text ? TTNN_OK : tt_fail_nomem();
	}
	r->typed = true;
	out->kind = TT_GRAPH_INT;
	if (tt_json_kind(value) == TT_JSON_INT && tt_json_int(&out->integer, value))
		return TTNN_OK;
	out->kind = TT_GRAPH_UINT;
	if (tt_json_kind(value) == TT_JSON_INT && tt_json_uint(&out->unsigned_integer, value))
		return TTNN_OK;
	if (tt_json_bool(&flag, value)) {
		out->kind = TT_GRAPH_BOOL;
		out->integer = flag;
		return TTNN_OK;
	}
	return read_raw(out, r, value);
}

static tt_status read_params(struct tt_graph_node *node, struct tt_graph_reader *r,
			     const struct tt_json *params)
{
	struct tt_json_iter it = tt_json_iter(params);
	size_t count = tt_json_count(params);

	node->null_params = tt_json_kind(params) == TT_JSON_NULL;
	r->typed |= node->null_params;
	if (!count)
		return TTNN_OK;
	if (tt_json_kind(params) != TT_JSON_OBJECT || count > UINT16_MAX)
		return fail(r, "params are no object");
	node->params = tt_arena_calloc(&r->graph->arena, count, sizeof(*node->params));
	if (!node->params)
		return tt_fail_nomem();
	while (tt_json_next(&it)) {
		struct tt_graph_param *param = &node->params[node->param_count];
		int key = tt_graph_key_number(r->graph, it.key, it.key_length);

		if (key < 0)
			return tt_fail_nomem();
		param->key = (uint16_t)key;
		TT_TRY(read_value(param, r, it.value));
		node->param_count++;
	}
	return TTNN_OK;
}

static tt_status read_type(struct tt_graph_node *node, struct tt_graph_reader *r,
			   const struct tt_json *json)
{
	size_t length;
	const char *name = tt_json_string(json, &length);

	if (!name)
		return fail(r, "node_type is not a string");
	for (node->type = 0; node->type < TT_GRAPH_OTHER; node->type++)
		if (strcmp(type_names[node->type], name) == 0)
			return TTNN_OK;
	node->type_name = tt_graph_text(r->graph, name, length);
	return node->type_name ? TTNN_OK : tt_fail_nomem();
}

static tt_status read_node(struct tt_graph_reader *r, const struct tt_json *json)
{
	struct tt_graph_node *node = tt_graph_add(r->graph, TT_GRAPH_OTHER);
	const struct tt_json *level, *duration;
	int64_t number;

	if (!node)
		return tt_fail_nomem();
	if (tt_json_kind(json) != TT_JSON_OBJECT)
		return fail(r, "is no object");
	node->counter = (int64_t)(r->before + r->graph->count - 1);
	TT_TRY(read_type(node, r, tt_json_get(json, "node_type")));
	TT_TRY(read_params(node, r, tt_json_get(json, "params")));
	TT_TRY(read_numbers(&node->connections, &node->connection_count, r,
			    tt_json_get(json, "connections")));
	TT_TRY(read_numbers(&node->inputs, &node->input_count, r,
			    tt_json_get(json, "input_tensors")));
	TT_TRY(read_texts(&node->arguments, &node->argument_count, r,
			  tt_json_get(json, "arguments")));
	TT_TRY(read_texts(&node->stack, &node->stack_count, r, tt_json_get(json, "stack_trace")));
	if (tt_json_int(&number, tt_json_get(json, "counter")))
		node->counter = number;
	duration = tt_json_get(json, "duration_ns");
	if (duration) {
		node->has_duration = tt_json_uint(&node->duration, duration);
		if (!node->has_duration)
			return fail(r, "duration_ns is not a number of nanoseconds");
	}
	level = tt_json_get(json, "stacking_level");
	node->bare = !level;
	if (level && (!tt_json_int(&number, level) || number < -1 || number > INT32_MAX))
		return fail(r, "stacking_level is not a small number");
	node->level = level ? (int32_t)number : 0;
	if (tt_json_int(&number, tt_json_get(json, "thread")) && number >= 0 && number < INT32_MAX)
		node->thread = (uint32_t)number + 1;
	return TTNN_OK;
}

/* ---- node by node --------------------------------------------------------------------------------------------- */

/* All are alike. */
void tt_graph_reader_devices(struct tt_graph_reader *r, const struct tt_json *devices)
{
	int64_t bank = 0;

	tt_json_int(&bank, tt_json_get(tt_json_at(devices, 0), "cb_limit"));
	r->bank = bank > 0 ? (uint64_t)bank : 0;
}

/* Goes to the next list of nodes, or behind all parts. Devices are noted on the way. */
static bool find_graph(struct tt_graph_reader *r)
{
	enum tt_graph_part part;

	while (tt_graph_file_next(&part, &r->file)) {
		if (part == TT_GRAPH_PART_GRAPH)
			return true;
		if (part == TT_GRAPH_PART_DEVICES)
			tt_graph_reader_devices(r, tt_jsonslice_read(r->file.slices));
	}
	return false;
}

tt_status tt_graph_reader_open(struct tt_graph_reader *r, const char *text, size_t length)
{
	struct tt_jsonslice *slices;

	tt_graph_reader_close(r);
	r->before = r->graph->count = 0;
	r->levelled = false;
	r->depth = 0;
	TT_TRY(text ? tt_jsonslice_text(&slices, text, length, r->name)
		    : tt_jsonslice_open(&slices, r->name));
	if (!tt_graph_file_begin(&r->file, slices)) {
		TT_TRY(tt_jsonslice_status(slices));
		return tt_fail(TTNN_FORMAT, "%s: there is nothing in it", r->name);
	}
	if (r->file.root != TT_JSON_ARRAY && r->file.root != TT_JSON_OBJECT)
		return tt_fail(TTNN_FORMAT, "%s: neither a list of nodes nor a report", r->name);
	if (!find_graph(r)) {
		TT_TRY(tt_jsonslice_status(slices));
		return tt_fail(TTNN_FORMAT, "%s: a report without a graph", r->name);
	}
	if (tt_jsonslice_kind(slices) != TT_JSON_ARRAY)
		return tt_fail(TTNN_FORMAT, "%s: a graph is a list of nodes", r->name);
	tt_jsonslice_enter(slices);
	return TTNN_OK;
}

tt_status tt_graph_reader_add(struct tt_graph_reader *r, const struct tt_json *node)
{
	if (r->most && r->graph->count == r->most)
		return tt_fail(TTNN_UNSUPPORTED,
			       "%s: more than %zu nodes, which is too much at once", r->name,
			       r->most);
	return read_node(r, node);
}

tt_status tt_graph_reader_next(bool *there, struct tt_graph_reader *r)
{
	struct tt_jsonslice *slices = r->file.slices;
	const struct tt_json *node = tt_jsonslice_next(slices) ? tt_jsonslice_read(slices) : NULL;

	*there = node != NULL;
	if (!node)
		return tt_jsonslice_status(slices);
	return tt_graph_reader_add(r, node);
}

tt_status tt_graph_reader_end(struct tt_graph_reader *r)
{
	while (find_graph(r))
		; /* the first counts */
	return tt_graph_file_end(&r->file);
}

void tt_graph_reader_close(struct tt_graph_reader *r)
{
	tt_jsonslice_free(r->file.slices);
	r->file = (struct tt_graph_file){0};
}

void tt_graph_read_level(struct tt_graph_reader *r, struct tt_graph_node *node)
{
	r->levelled |= !node->bare;
	if (r->levelled)
		return;
	r->depth += node->type == TT_GRAPH_FUNCTION_START;
	node->level = r->depth;
	if (node->type == TT_GRAPH_FUNCTION_END)
		r->depth -= r->depth > 0;
}

/* ---- all nodes at once ----------------------------------------------------------------------------------------- */

static tt_status check_numbers(const struct tt_graph_reader *r, size_t node,
			       const uint32_t *numbers, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (numbers[i] >= r->graph->count)
			return tt_fail(TTNN_FORMAT, "%s: node %zu: there is no node %u", r->name,
				       node, numbers[i]);
	return TTNN_OK;
}

tt_status tt_graph_reader_finish(struct tt_graph_reader *r)
{
	struct tt_graph *graph = r->graph;

	for (size_t i = 0; i < graph->count; i++) {
		struct tt_graph_node *node = &graph->nodes[i];

		TT_TRY(check_numbers(r, i, node->connections, node->connection_count));
		TT_TRY(check_numbers(r, i, node->inputs, node->input_count));
		tt_graph_read_level(r, node);
	}
	graph->l1_bank = r->bank;
	graph->dialect = r->typed ? TTNN_DIALECT_TT_METAL : TTNN_DIALECT_SEED;
	return TTNN_OK;
}

static tt_status read_all(struct tt_graph_reader *r, const char *text, size_t length)
{
	bool there = true;

	TT_TRY(tt_graph_reader_open(r, text, length));
	while (there)
		TT_TRY(tt_graph_reader_next(&there, r));
	TT_TRY(tt_graph_reader_end(r));
	return tt_graph_reader_finish(r);
}

tt_status tt_graph_take(struct tt_graph *out, const char *name, const char *text, size_t length,
			size_t most)
{
	struct tt_graph_reader r = {.graph = out, .name = name, .most = most};
	tt_status status;

	memset(out, 0, sizeof(*out));
	status = read_all(&r, text, length);
	if (status != TTNN_OK)
		tt_graph_deinit(out);
	tt_graph_reader_close(&r);
	return status;
}

tt_status tt_graph_load(struct tt_graph *out, const char *path)
{
	return tt_graph_take(out, path, NULL, 0, 0);
}

tt_status tt_graph_parse(struct tt_graph *out, const char *text, size_t length, const char *name)
{
	return tt_graph_take(out, name, text, length, 0);
}
