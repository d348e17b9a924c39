#include "trace/graph.h"

#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "event/event.h"
#include "trace/course.h"

#define X(constant, name) name,
static const char *const type_names[] = {TT_GRAPH_TYPES(X)};
static const char *const key_names[] = {TT_GRAPH_KEYS(X)};
#undef X

/* ---- making ------------------------------------------------------------------------------------------ */

struct tt_graph_node *tt_graph_add(struct tt_graph *graph, enum tt_graph_type type)
{
	struct tt_graph_node *node;

	if (graph->count >= UINT32_MAX ||
	    !tt_vec_reserve(&graph->nodes, &graph->room, graph->count, 1, sizeof(*node)))
		return NULL;
	node = &graph->nodes[graph->count];
	memset(node, 0, sizeof(*node));
	node->type = (uint8_t)type;
	node->counter = (int64_t)graph->count++;
	return node;
}

tt_status tt_graph_connect(struct tt_graph *graph, size_t from, size_t to)
{
	struct tt_graph_node *node = &graph->nodes[from];
	uint32_t count = node->connection_count;
	uint32_t *grown;

	/* The room is the power of two at or above the count: no field for it. */
	if ((count & (count - 1)) == 0) {
		grown = tt_arena_calloc(&graph->arena, count ? 2 * (size_t)count : 1,
					sizeof(*grown));
		if (!grown)
			return tt_fail_nomem();
		if (count)
			memcpy(grown, node->connections, count * sizeof(*grown));
		node->connections = grown;
	}
	node->connections[node->connection_count++] = (uint32_t)to;
	return TTNN_OK;
}

const char *tt_graph_text(struct tt_graph *graph, const char *text, size_t length)
{
	struct tt_map_entry *entry = tt_map_add(&graph->texts, text, length, NULL);

	return entry ? entry->key : NULL;
}

int tt_graph_key_number(struct tt_graph *graph, const char *key, size_t length)
{
	struct tt_map_entry *entry;
	bool added;

	for (int i = 0; i < TT_KEY_COUNT; i++)
		if (strlen(key_names[i]) == length && memcmp(key_names[i], key, length) == 0)
			return i;
	entry = tt_map_add(&graph->keys, key, length, &added);
	if (!entry || graph->keys.count > UINT16_MAX - TT_KEY_COUNT)
		return -1;
	if (added)
		entry->number = graph->keys.count - 1;
	return TT_KEY_COUNT + (int)entry->number;
}

void tt_graph_deinit(struct tt_graph *graph)
{
	tt_free(graph->nodes);
	tt_arena_deinit(&graph->arena);
	tt_map_deinit(&graph->texts);
	tt_map_deinit(&graph->keys);
	if (graph->course)
		tt_course_deinit(graph->course);
	tt_free(graph->course);
	memset(graph, 0, sizeof(*graph));
}

/* ---- looking ------------------------------------------------------------------------------------------- */

const char *tt_graph_type_name(const struct tt_graph_node *node)
{
	return node->type < TT_GRAPH_OTHER ? type_names[node->type] : node->type_name;
}

const char *tt_graph_key_name(const struct tt_graph *graph, uint16_t key)
{
	return key < TT_KEY_COUNT ? key_names[key] : graph->keys.entries[key - TT_KEY_COUNT].key;
}

const struct tt_graph_param *tt_graph_find(const struct tt_graph_node *node, uint16_t key)
{
	for (uint32_t i = 0; i < node->param_count; i++)
		if (node->params[i].key == key)
			return &node->params[i];
	return NULL;
}

const char *tt_graph_string(const struct tt_graph_node *node, enum tt_graph_key key)
{
	const struct tt_graph_param *param = tt_graph_find(node, (uint16_t)key);

	return param && param->kind == TT_GRAPH_STRING ? param->text : "";
}

static bool parse_number(uint64_t *out, const char *text)
{
	uint64_t number = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || number > (UINT64_MAX - 9) / 10)
			return false;
		number = number * 10 + (uint64_t)(*text - '0');
	}
	*out = number;
	return true;
}

bool tt_graph_number(uint64_t *out, const struct tt_graph_node *node, enum tt_graph_key key)
{
	const struct tt_graph_param *param = tt_graph_find(node, (uint16_t)key);

	if (!param)
		return false;
	switch ((enum tt_graph_value)param->kind) {
	case TT_GRAPH_STRING:
		return parse_number(out, param->text);
	case TT_GRAPH_INT:
		*out = (uint64_t)param->integer;
		return param->integer >= 0;
	case TT_GRAPH_UINT:
	case TT_GRAPH_DIGITS:
		*out = param->unsigned_integer;
		return true;
	default:
		return false;
	}
}

bool tt_graph_flag(const struct tt_graph_node *node, enum tt_graph_key key)
{
	const struct tt_graph_param *param = tt_graph_find(node, (uint16_t)key);

	if (!param)
		return false;
	if (param->kind == TT_GRAPH_STRING)
		return strcmp(param->text, "1") == 0 || strcmp(param->text, "true") == 0;
	return param->kind != TT_GRAPH_RAW && param->integer == 1;
}

bool tt_graph_names_operation(const char *name, int32_t level)
{
	return strncmp(name, "ttnn.", 5) == 0 ||
	       (strncmp(name, "ttnn::", 6) == 0 && strncmp(name, "ttnn::prim::", 12) != 0) ||
	       (level == 1 && strcmp(name, TT_SCOPE_DEALLOCATE) != 0);
}

bool tt_graph_is_operation(const struct tt_graph_node *node)
{
	if (node->type != TT_GRAPH_FUNCTION_START && node->type != TT_GRAPH_FUNCTION_END)
		return false;
	return tt_graph_names_operation(tt_graph_string(node, TT_KEY_NAME), node->level);
}
