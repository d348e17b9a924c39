/* diagram_text.c: the words in pictures of graphs. */
#include "report/diagram_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"

#define ARGUMENTS_MAX 16
#define ARGUMENT_CUT 140
#define SHAPE_CUT 100

/* Hands a string over to an arena. */
static char *take(struct tt_arena *arena, struct tt_str *str)
{
	char *text = str->failed ? NULL : tt_arena_strndup(arena, tt_str_text(str), str->length);

	tt_str_deinit(str);
	return text;
}

static void add_cut(struct tt_str *str, const char *text, size_t most)
{
	size_t length = strlen(text), i = 0;

	for (size_t n = 0; i < length; n++) {
		uint32_t code;
		size_t bytes = tt_utf8_get(&code, text + i, length - i);

		if (n + 1 == most && i + bytes < length) {
			tt_str_adds(str, "…");
			return;
		}
		if (code < 0x20 || code == 0x7f)
			tt_str_addc(str, ' ');
		else
			tt_str_add(str, text + i, bytes);
		i += bytes;
	}
}

char *tt_diagram_cut(struct tt_arena *arena, const char *text, size_t most)
{
	struct tt_str str = {0};

	add_cut(&str, text, most);
	return take(arena, &str);
}

void tt_diagram_bytes(char out[32], uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	size_t unit = 0;
	uint64_t tenths = bytes > UINT64_MAX / 10 ? UINT64_MAX : bytes * 10;

	for (; tenths >= 10240 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		tenths = (tenths + 512) / 1024;
	if (tenths % 10 == 0 || tenths >= 1000)
		snprintf(out, 32, "%" PRIu64 " %s", (tenths + 5) / 10, units[unit]);
	else
		snprintf(out, 32, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10,
			 units[unit]);
}

/* "BFLOAT16" of "DataType::BFLOAT16". */
static const char *last_name(const char *text)
{
	const char *colon = strrchr(text, ':');

	return colon ? colon + 1 : text;
}

char *tt_diagram_tensor_title(struct tt_arena *arena, const struct tt_graph_node *node)
{
	uint64_t id;

	if (tt_graph_number(&id, node, TT_KEY_TENSOR_ID))
		return tt_arena_printf(arena, "tensor %" PRIu64, id);
	return tt_arena_strdup(arena, "tensor");
}

/* Where a tensor is, as its memory configuration or buffer type tells; "" when nowhere. */
static const char *place(const struct tt_graph_node *node)
{
	const char *config = tt_graph_string(node, TT_KEY_MEMORY_CONFIG);
	uint64_t type;

	if (strstr(config, "L1") || strstr(tt_graph_string(node, TT_KEY_BUFFER_TYPE), "L1"))
		return " L1";
	if (strstr(config, "DRAM") || strstr(tt_graph_string(node, TT_KEY_BUFFER_TYPE), "DRAM"))
		return " DRAM";
	if (tt_graph_number(&type, node, TT_KEY_BUFFER_TYPE))
		return type == 0 ? " DRAM" : type == 1 ? " L1" : "";
	return "";
}

bool tt_diagram_in_l1(const struct tt_graph_node *node)
{
	return strcmp(place(node), " L1") == 0;
}

char *tt_diagram_tensor_text(struct tt_arena *arena, const struct tt_graph_node *node)
{
	const char *shape = tt_graph_string(node, TT_KEY_SHAPE);
	const char *open = strchr(shape, '['), *close = open ? strrchr(open, ']') : NULL;
	const char *dtype = last_name(tt_graph_string(node, TT_KEY_DTYPE));
	const char *layout = last_name(tt_graph_string(node, TT_KEY_LAYOUT));
	struct tt_str str = {0};

	if (close)
		tt_str_addf(&str, "%.*s%s",
			    (int)(close - open > SHAPE_CUT ? SHAPE_CUT : close - open + 1), open,
			    close - open > SHAPE_CUT ? "…" : "");
	if (*dtype)
		tt_str_addf(&str, " %.20s", dtype);
	if (*layout)
		tt_str_addf(&str, " %s", strcmp(layout, "ROW_MAJOR") == 0 ? "RM" : layout);
	tt_str_adds(&str, place(node));
	return take(arena, &str);
}

/* "key: value" lines. */
static void add_params(struct tt_str *str, const struct tt_graph *graph,
		       const struct tt_graph_node *node)
{
	for (uint32_t i = 0; i < node->param_count; i++) {
		const struct tt_graph_param *param = &node->params[i];

		tt_str_addf(str, "\n%s: ", tt_graph_key_name(graph, param->key));
		switch ((enum tt_graph_value)param->kind) {
		case TT_GRAPH_STRING:
		case TT_GRAPH_RAW:
			add_cut(str, param->text, ARGUMENT_CUT);
			break;
		case TT_GRAPH_INT:
		case TT_GRAPH_BOOL:
			tt_str_addf(str, "%" PRId64, param->integer);
			break;
		case TT_GRAPH_UINT:
		case TT_GRAPH_DIGITS:
			tt_str_addu(str, param->unsigned_integer);
			break;
		}
	}
}

char *tt_diagram_node_tip(struct tt_arena *arena, const struct tt_graph *graph,
			  const struct tt_graph_node *node)
{
	struct tt_str str = {0};

	tt_str_addf(&str, "%s, node %" PRId64, tt_graph_type_name(node), node->counter);
	add_params(&str, graph, node);
	return take(arena, &str);
}

/* "1.25 ms": three digits. */
static void add_duration(struct tt_str *str, uint64_t ns)
{
	static const char *const units[] = {"ns", "µs", "ms", "s"};
	size_t unit = 0;
	uint64_t hundredths = ns > UINT64_MAX / 100 ? UINT64_MAX : ns * 100;

	for (; hundredths >= 100000 && unit < 3; unit++)
		hundredths /= 1000;
	tt_str_addf(str, "\n%" PRIu64 ".%02" PRIu64 " %s", hundredths / 100, hundredths % 100,
		    units[unit]);
}

char *tt_diagram_call_tip(struct tt_arena *arena, const struct tt_graph *graph, uint32_t start,
			  uint32_t end)
{
	const struct tt_graph_node *node = &graph->nodes[start], *last = &graph->nodes[end];
	struct tt_str str = {0};
	uint64_t duration = last->duration;

	add_cut(&str, tt_graph_string(node, TT_KEY_NAME), 400);
	tt_str_addf(&str, "\nnodes %" PRId64 " to %" PRId64, node->counter, last->counter);
	if (duration || tt_graph_number(&duration, last, TT_KEY_DURATION))
		add_duration(&str, duration);
	if (tt_graph_find(last, TT_KEY_ABORT_REASON)) {
		tt_str_adds(&str, "\nfailed: ");
		add_cut(&str, tt_graph_string(last, TT_KEY_ABORT_REASON), 400);
	}
	for (uint32_t i = 0; i < node->argument_count && i < ARGUMENTS_MAX; i++) {
		tt_str_addf(&str, "\n%u: ", i);
		add_cut(&str, node->arguments[i], ARGUMENT_CUT);
	}
	if (node->argument_count > ARGUMENTS_MAX)
		tt_str_addf(&str, "\n… %u more arguments", node->argument_count - ARGUMENTS_MAX);
	return take(arena, &str);
}
