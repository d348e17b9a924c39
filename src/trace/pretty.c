/* pretty.c: graphs for people: indented text. */
#include <string.h>

#include "base/mem.h"
#include "trace/query.h"
#include "trace/stream.h"

/* ---- words ------------------------------------------------------------------------------------------ */

/* What a kind of node is called; then the param that is written behind it. NULL: no words. */
struct words {
	const char *seed, *metal;
	int key; /* -1: nothing */
};
static const struct words words[] = {
	[TT_GRAPH_CAPTURE_START] = {"Capture Start", "Capture Start", -1},
	[TT_GRAPH_CAPTURE_END] = {"Capture End", "Capture End", -1},
	[TT_GRAPH_FUNCTION_START] = {"Begin: ", "Function Start: ", TT_KEY_NAME},
	[TT_GRAPH_FUNCTION_END] = {"End: ", "Function End:   ", TT_KEY_NAME},
	[TT_GRAPH_TENSOR] = {"Add Tensor: ", "Add Tensor: ", TT_KEY_TENSOR_ID},
	[TT_GRAPH_BUFFER] = {"Add Device Buffer", "Add Device Buffer", -1},
	[TT_GRAPH_BUFFER_ALLOCATE] = {"Allocate Device Buffer", "Allocate Device Buffer", -1},
	[TT_GRAPH_BUFFER_DEALLOCATE] = {"Deallocate Device Buffer", "Deallocate Device Buffer", -1},
	[TT_GRAPH_CB_ALLOCATE] = {"Allocate Circular Buffer", "Allocate Circular Buffer", -1},
	[TT_GRAPH_CB_DEALLOCATE_ALL] = {"Deallocate All Circular Buffers",
					"Deallocate All Program-Scope L1", -1},
	[TT_GRAPH_DFB_ALLOCATE] = {"Allocate Dataflow Buffer", "Allocate Dataflow Buffer", -1},
	[TT_GRAPH_SCRATCHPAD_ALLOCATE] = {"Allocate Kernel Scratchpad",
					  "Allocate Kernel Scratchpad", -1},
	[TT_GRAPH_SUB_DEVICE_MANAGER] = {"Sub-Device Manager: ", "Sub-Device Manager: ",
					 TT_KEY_MANAGER_ID},
	[TT_GRAPH_PROGRAM_EXECUTION] = {"Program Execution: sub-device ",
					"Program Execution: sub-device ", TT_KEY_SUB_DEVICE_ID},
	[TT_GRAPH_ERROR] = {"Error: ", NULL, TT_KEY_ERROR_MESSAGE},
};

static void add_param(struct tt_str *out, const struct tt_graph_node *node, int key)
{
	const struct tt_graph_param *param = key < 0 ? NULL : tt_graph_find(node, (uint16_t)key);

	if (!param)
		return;
	if (param->kind == TT_GRAPH_STRING || param->kind == TT_GRAPH_RAW)
		tt_str_add(out, param->text, param->length);
	else if (param->kind == TT_GRAPH_DIGITS)
		tt_str_addu(out, param->unsigned_integer);
	else
		tt_str_addf(out, "%lld", (long long)param->integer);
}

static tt_status add_words(struct tt_str *out, enum ttnn_dialect dialect,
			   const struct tt_graph_node *node)
{
	const struct words *w = node->type < TT_GRAPH_OTHER ? &words[node->type] : NULL;
	bool seed = dialect == TTNN_DIALECT_SEED;

	if (!w || !(seed ? w->seed : w->metal)) {
		if (!seed)
			return tt_fail(TTNN_INVALID, "Unknown node type: %s",
				       tt_graph_type_name(node));
		tt_str_adds(out, tt_graph_type_name(node));
		return TTNN_OK;
	}
	tt_str_adds(out, seed ? w->seed : w->metal);
	add_param(out, node, w->key);
	return TTNN_OK;
}

void tt_query_subject(struct tt_str *out, const char *before, const struct tt_graph_node *node)
{
	int key = node->type < TT_GRAPH_OTHER ? words[node->type].key : -1;

	if (key < 0)
		return;
	tt_str_adds(out, before);
	add_param(out, node, key);
}

/* ---- text --------------------------------------------------------------------------------------------- */

/* Where lines go; a line, or one more of the line before. */
struct lines {
	struct tt_str out;
	void (*write)(void *context, const char *text, size_t length);
	void *context;
	struct tt_str last;
	size_t repeats;
};

#define PIECE 65536 /* bytes that are handed on at a time */

static void hand_on(struct lines *lines, size_t least)
{
	if (lines->out.length < least)
		return;
	lines->write(lines->context, tt_str_text(&lines->out), lines->out.length);
	tt_str_clear(&lines->out);
}

static void flush_line(struct lines *lines)
{
	if (lines->repeats) {
		tt_str_adds(&lines->out, tt_str_text(&lines->last));
		if (lines->repeats > 1)
			tt_str_addf(&lines->out, " (x%zu)", lines->repeats);
		tt_str_addc(&lines->out, '\n');
	}
	tt_str_clear(&lines->last);
	lines->repeats = 0;
	hand_on(lines, PIECE);
}

static void add_line(struct lines *lines, const struct tt_str *line)
{
	if (lines->repeats && strcmp(tt_str_text(&lines->last), tt_str_text(line)) == 0) {
		lines->repeats++;
		return;
	}
	flush_line(lines);
	tt_str_add(&lines->last, tt_str_text(line), line->length);
	lines->repeats = 1;
}

/* Of nodes that the capture made; the same line again is counted. */
static tt_status seed_line(struct lines *lines, struct tt_str *line, struct tt_stream *stream,
			   const struct tt_graph_node *node, int depth)
{
	if (!tt_stream_made(stream))
		return TTNN_OK;
	tt_str_clear(line);
	tt_str_addf(line, "%*s", 4 * depth, "");
	TT_TRY(add_words(line, TTNN_DIALECT_SEED, node));
	add_line(lines, line);
	return TTNN_OK;
}

static tt_status metal_line(struct lines *lines, enum ttnn_dialect dialect,
			    const struct tt_graph_node *node, int depth)
{
	struct tt_str *out = &lines->out;
	size_t width = 4 * depth < 50 ? (size_t)(50 - 4 * depth) : 0, start;

	tt_str_addf(out, "%*s", 4 * depth, "");
	start = out->length;
	TT_TRY(add_words(out, dialect, node));
	while (out->length - start < width && !out->failed)
		tt_str_addc(out, ' ');
	tt_str_addc(out, '\n');
	hand_on(lines, PIECE);
	return TTNN_OK;
}

static tt_status add_lines(struct lines *lines, struct tt_str *line, struct tt_stream *stream)
{
	enum ttnn_dialect dialect = tt_stream_facts(stream)->dialect;
	const struct tt_graph_node *node;
	int depth = 0;

	for (;;) {
		TT_TRY(tt_stream_next(&node, stream));
		if (!node)
			break;
		depth -= node->type == TT_GRAPH_FUNCTION_END && depth > 0;
		if (dialect == TTNN_DIALECT_SEED)
			TT_TRY(seed_line(lines, line, stream, node, depth));
		else
			TT_TRY(metal_line(lines, dialect, node, depth));
		depth += node->type == TT_GRAPH_FUNCTION_START;
	}
	flush_line(lines);
	lines->out.failed |= lines->last.failed | line->failed;
	TT_TRY(tt_str_status(&lines->out));
	hand_on(lines, 1);
	return TTNN_OK;
}

tt_status tt_query_pretty_stream(struct tt_stream *stream,
				 void (*write)(void *context, const char *text, size_t length),
				 void *context)
{
	struct lines lines = {.write = write, .context = context};
	struct tt_str line = {0};
	tt_status status = add_lines(&lines, &line, stream);

	tt_str_deinit(&lines.out);
	tt_str_deinit(&lines.last);
	tt_str_deinit(&line);
	return status;
}

static void append(void *context, const char *text, size_t length)
{
	tt_str_add(context, text, length);
}

tt_status tt_query_pretty(struct tt_str *out, const struct tt_graph *graph)
{
	struct tt_stream *stream;
	tt_status status;

	TT_TRY(tt_stream_of_graph(&stream, graph, false));
	status = tt_query_pretty_stream(stream, append, out);
	tt_stream_close(stream);
	return status == TTNN_OK ? tt_str_status(out) : status;
}
