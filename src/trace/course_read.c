/* course_read.c: what the nodes of a graph tell of device memory, for graphs that were read from JSON. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "tensor/enums.h"
#include "trace/course.h"

/* Buffers are known by their nodes, those that no node stands for by their place in the first one's list. */
#define ID_OF_NODE(node) ((uint64_t)(node) + 1)
#define ID_OF_PLACE(place) (UINT64_MAX - (place))

#define RANGES_MAX 1024

struct reading {
	const struct tt_graph *graph;
	struct tt_course_maker maker;
};

static uint64_t number_of(const struct tt_graph_node *node, enum tt_graph_key key)
{
	uint64_t number = 0;

	tt_graph_number(&number, node, key);
	return number;
}

/* What a node says of a buffer, under this id. */
static struct tt_event_buffer facts_of(const struct tt_graph_node *node, uint64_t id)
{
	bool l1 = strcmp(tt_graph_string(node, TT_KEY_TYPE), "L1") == 0;

	return (struct tt_event_buffer){
		.buffer_id = id,
		.device_id = (uint32_t)number_of(node, TT_KEY_DEVICE_ID),
		.type = l1 ? TTNN_L1 : TTNN_DRAM,
		.size = number_of(node, TT_KEY_SIZE),
		.bank_size = number_of(node, TT_KEY_BANK_SIZE),
	};
}

/* ---- what was there before ------------------------------------------------------------------------ */

static int64_t member(const struct tt_json *object, const char *key, int64_t otherwise)
{
	int64_t number;

	return tt_json_int(&number, tt_json_get(object, key)) && number >= 0 ? number : otherwise;
}

/* One of the buffers that the start of the capture lists. */
static tt_status read_listed(struct tt_course_maker *maker, uint64_t nodes,
			     const struct tt_json *row, uint64_t place)
{
	const char *type = tt_json_string(tt_json_get(row, "type"), NULL);
	int64_t node = member(row, "node", -1), kind = TTNN_DRAM;
	bool named = node >= 0 && (uint64_t)node < nodes;
	struct tt_event_buffer buffer = {
		.buffer_id = named ? ID_OF_NODE(node) : ID_OF_PLACE(place),
		.device_id = (uint32_t)member(row, "device_id", 0),
		.size = (uint64_t)member(row, "size", 0),
		.bank_size = (uint64_t)member(row, "max_size_per_bank", 0),
	};

	if (type)
		tt_enum_find(&kind, &tt_enum_buffer_type, type);
	buffer.type = (enum ttnn_buffer_type)kind;
	TT_TRY(tt_course_there(maker, &buffer));
	return named ? tt_course_name(maker, buffer.buffer_id, (uint32_t)node) : TTNN_OK;
}

tt_status tt_course_read_start(struct tt_course_maker *maker, const struct tt_graph_node *node,
			       uint64_t nodes)
{
	const char *text = tt_graph_string(node, TT_KEY_BUFFERS);
	struct tt_json_part part = {.name = "buffers", .whole = text, .length = strlen(text)};
	struct tt_json_parser parser = {0};
	const struct tt_json *list = NULL;
	struct tt_json_iter it;
	tt_status status = part.length ? tt_json_parser_read(&list, &parser, &part) : TTNN_OK;
	uint64_t place = 0;

	if (status == TTNN_FORMAT)
		status = TTNN_OK; /* another's, then */
	it = tt_json_iter(list);
	while (status == TTNN_OK && tt_json_next(&it))
		status = read_listed(maker, nodes, it.value, place++);
	tt_json_parser_deinit(&parser);
	return status;
}

struct tt_event_buffer tt_course_read_buffer(const struct tt_graph_node *node, uint32_t number)
{
	return facts_of(node, ID_OF_NODE(number));
}

/* Buffers that no node allocates were there before, wherever they are mentioned first. */
static tt_status read_unborn(struct reading *r)
{
	const struct tt_graph *graph = r->graph;
	bool *born = tt_calloc(graph->count + 1, sizeof(*born));
	tt_status status = born ? TTNN_OK : tt_fail_nomem();

	for (size_t i = 0; born && i < graph->count; i++)
		if (graph->nodes[i].type == TT_GRAPH_BUFFER_ALLOCATE &&
		    graph->nodes[i].connection_count)
			born[graph->nodes[i].connections[0]] = true;
	for (uint32_t i = 0; status == TTNN_OK && i < graph->count; i++) {
		struct tt_event_buffer buffer;

		if (graph->nodes[i].type != TT_GRAPH_BUFFER || born[i])
			continue;
		buffer = tt_course_read_buffer(&graph->nodes[i], i);
		status = tt_course_there(&r->maker, &buffer);
		if (status == TTNN_OK)
			status = tt_course_name(&r->maker, buffer.buffer_id, i);
	}
	tt_free(born);
	return status;
}

/* ---- nodes ------------------------------------------------------------------------------------------ */

/* An allocation or a free of the buffer that node `of` stands for. */
static tt_status read_buffer(struct tt_course_maker *maker, const struct tt_graph_node *node,
			     uint32_t number, uint32_t of)
{
	struct tt_event_buffer buffer = facts_of(node, ID_OF_NODE(of));
	bool comes = node->type == TT_GRAPH_BUFFER_ALLOCATE;

	TT_TRY(tt_course_name(maker, buffer.buffer_id, of)); /* of one that leaves */
	TT_TRY(comes ? tt_course_take(maker, &buffer, number)
		     : tt_course_give(maker, &buffer, number));
	return tt_course_name(maker, buffer.buffer_id, of);
}

/* "{[0-0 - 7-7]}" and "{[(x=0,y=0) - (x=7,y=7)]}": four numbers are a range, whatever is between. */
static size_t read_ranges(struct ttnn_core_range *out, const char *text)
{
	uint32_t numbers[4];
	size_t count = 0, at = 0;
	bool none = strcmp(text, "{}") == 0;

	while (count < RANGES_MAX) {
		text += strcspn(text, "0123456789");
		if (!*text)
			break;
		numbers[at++] = (uint32_t)strtoul(text, NULL, 10);
		text += strspn(text, "0123456789");
		if (at < 4)
			continue;
		out[count++] = (struct ttnn_core_range){{numbers[0], numbers[1]},
							{numbers[2], numbers[3]}};
		at = 0;
	}
	if (!count && !none)
		out[count++] = (struct ttnn_core_range){0};
	return count;
}

static tt_status read_row(struct tt_course_maker *maker, const struct tt_graph_node *node,
			  uint32_t number)
{
	struct ttnn_core_range ranges[RANGES_MAX];
	struct tt_event_program_memory row = {
		.size = number_of(node, TT_KEY_SIZE),
		.borrowed =
			tt_graph_flag(node, TT_KEY_GLOBAL) || tt_graph_flag(node, TT_KEY_BORROWS),
		.device_id = (uint32_t)number_of(node, TT_KEY_DEVICE_ID),
	};
	size_t count = read_ranges(ranges, tt_graph_string(node, TT_KEY_CORES));

	return tt_course_ranges(maker, &row, ranges, count, number);
}

tt_status tt_course_read_node(struct tt_course_maker *maker, const struct tt_graph_node *node,
			      uint32_t number, int64_t of)
{
	switch ((enum tt_graph_type)node->type) {
	case TT_GRAPH_BUFFER_ALLOCATE:
	case TT_GRAPH_BUFFER_DEALLOCATE:
		return of < 0 ? TTNN_OK : read_buffer(maker, node, number, (uint32_t)of);
	case TT_GRAPH_CB_ALLOCATE:
	case TT_GRAPH_DFB_ALLOCATE:
	case TT_GRAPH_SCRATCHPAD_ALLOCATE:
		return read_row(maker, node, number);
	case TT_GRAPH_CB_DEALLOCATE_ALL:
		return tt_course_release(maker, (uint32_t)number_of(node, TT_KEY_DEVICE_ID),
					 number);
	default:
		return TTNN_OK;
	}
}

/* The node of the buffer that a node of a whole graph is about, or -1. */
static int64_t buffer_of(const struct tt_graph *graph, const struct tt_graph_node *node)
{
	if (!node->connection_count || graph->nodes[node->connections[0]].type != TT_GRAPH_BUFFER)
		return -1;
	return node->connections[0];
}

tt_status tt_course_read(struct tt_course *out, const struct tt_graph *graph)
{
	struct reading *r = tt_calloc(1, sizeof(*r));
	tt_status status = r ? TTNN_OK : tt_fail_nomem();

	memset(out, 0, sizeof(*out));
	if (!r)
		return status;
	out->bank = graph->l1_bank;
	r->graph = graph;
	r->maker.course = out;
	r->maker.device_id = TT_COURSE_NONE;
	r->maker.again = true; /* a node may stand for all that lay at an address */
	if (graph->count)
		status = tt_course_read_start(&r->maker, &graph->nodes[0], graph->count);
	if (status == TTNN_OK)
		status = read_unborn(r);
	for (uint32_t i = 0; status == TTNN_OK && i < graph->count; i++)
		status = tt_course_read_node(&r->maker, &graph->nodes[i], i,
					     buffer_of(graph, &graph->nodes[i]));
	tt_course_maker_deinit(&r->maker);
	tt_free(r);
	if (status != TTNN_OK)
		tt_course_deinit(out);
	return status;
}
