#include "trace/same.h"

#include <string.h>

#include "base/mem.h"

#define RENAMED_MAX 16 /* calls that pass a tensor on */

/* What a tensor is known by; and which numbers occur. */
enum key { KEY_BUFFER, KEY_ID, KEY_NODE, KEY_SEEN };

tt_status tt_same_init(struct tt_same *same, const struct tt_graph *graph)
{
	memset(same, 0, sizeof(*same));
	same->graph = graph;
	same->buffer_of = tt_calloc(graph->count + 1, sizeof(*same->buffer_of));
	if (!same->buffer_of)
		return tt_fail_nomem();
	for (size_t i = graph->count; i-- > 0;) {
		const struct tt_graph_node *node = &graph->nodes[i];
		uint64_t key[2] = {0, KEY_SEEN};

		if (node->type == TT_GRAPH_TENSOR &&
		    tt_graph_number(&key[0], node, TT_KEY_TENSOR_ID) &&
		    !tt_map_add(&same->known, key, sizeof(key), NULL))
			return tt_fail_nomem();
		for (uint32_t k = 0; node->type == TT_GRAPH_BUFFER && k < node->connection_count;
		     k++)
			same->buffer_of[node->connections[k]] = (uint32_t)i + 1;
	}
	return TTNN_OK;
}

struct tt_map_entry *tt_same_buffer(struct tt_same *same, uint32_t buffer)
{
	uint64_t key[2] = {(uint64_t)buffer + 1, KEY_BUFFER};

	return tt_map_add(&same->known, key, sizeof(key), NULL);
}

struct tt_map_entry *tt_same_find(struct tt_same *same, uint32_t tensor)
{
	uint64_t key[2] = {0, KEY_ID};

	if (same->buffer_of[tensor])
		return tt_same_buffer(same, same->buffer_of[tensor] - 1);
	if (!tt_graph_number(&key[0], &same->graph->nodes[tensor], TT_KEY_TENSOR_ID)) {
		key[0] = tensor;
		key[1] = KEY_NODE;
	}
	return tt_map_add(&same->known, key, sizeof(key), NULL);
}

struct tt_map_entry *tt_same_renamed(const struct tt_same *same, uint32_t tensor)
{
	uint64_t id, key[2];

	if (same->buffer_of[tensor] ||
	    !tt_graph_number(&id, &same->graph->nodes[tensor], TT_KEY_TENSOR_ID))
		return NULL;
	for (uint64_t back = 1; back <= RENAMED_MAX && back <= id; back++) {
		key[0] = id - back;
		key[1] = KEY_SEEN;
		if (!tt_map_find(&same->known, key, sizeof(key)))
			continue;
		key[1] = KEY_ID;
		return tt_map_find(&same->known, key, sizeof(key));
	}
	return NULL;
}

void tt_same_deinit(struct tt_same *same)
{
	tt_free(same->buffer_of);
	tt_map_deinit(&same->known);
}
