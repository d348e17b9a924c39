/* fidelity_memory.c: what views say of device memory, against a model that adds it up event by event. */
#include "fidelity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "event/capture.h"
#include "memory_model.h"
#include "trace/memory.h"
#include "trace/session.h"

struct fid_memory {
	struct memory_model model;
	struct tt_capture *capture;
	enum ttnn_run_mode mode;
};

struct fid_memory *fid_memory_begin(struct tt_device *device, enum fid_mode mode)
{
	struct fid_memory *m = calloc(1, sizeof(*m));

	if (!m || tt_capture_begin(&m->capture, &(struct tt_capture_options){0}) != TTNN_OK)
		abort();
	m->mode = mode == FID_NORMAL ? TTNN_RUN_NORMAL : TTNN_RUN_NO_DISPATCH;
	memory_model_begin(&m->model, device);
	return m;
}

static void compare_sums(struct tt_str *out, const char *what, size_t which,
			 const struct memory_sums *got, const struct memory_sums *want)
{
	if (memcmp(got, want, sizeof(*got)) != 0)
		fid_line(out,
			 "%s %zu: %" PRIu64 " in DRAM, %" PRIu64 " in L1, %" PRIu64
			 " of a core, not %" PRIu64 ", %" PRIu64 ", %" PRIu64,
			 what, which, got->dram, got->l1, got->core, want->dram, want->l1,
			 want->core);
}

static struct memory_sums sums_at(const struct tt_memory_point *point)
{
	return (struct memory_sums){point->dram, point->l1, tt_memory_core(point)};
}

/* The peaks, and what is there after each allocation and free. */
static void compare(struct tt_str *out, const char *what, const struct tt_graph *graph,
		    const struct memory_model *model)
{
	struct tt_memory memory;
	struct memory_sums sums;
	size_t at = 0;

	if (tt_memory_of(&memory, graph) != TTNN_OK) {
		fid_line(out, "%s: %s", what, ttnn_error());
		return;
	}
	sums.dram = memory.points[memory.dram.node].dram;
	sums.l1 = memory.points[memory.l1.node].l1;
	sums.core = tt_memory_core(&memory.points[memory.core.node]);
	compare_sums(out, what, 0, &sums, &model->peak);
	for (size_t i = 0; i < graph->count; i++) {
		if (graph->nodes[i].type != TT_GRAPH_BUFFER_ALLOCATE &&
		    graph->nodes[i].type != TT_GRAPH_BUFFER_DEALLOCATE)
			continue;
		if (at < model->after_count) {
			sums = sums_at(&memory.points[i]);
			compare_sums(out, what, i, &sums, &model->after[at]);
		}
		at++;
	}
	if (at != model->after_count)
		fid_line(out, "%s: %zu events of buffers, not %zu", what, at, model->after_count);
	if (memory.shareless)
		fid_line(out, "%s: %zu shares of banks are not known", what, memory.shareless);
	tt_memory_deinit(&memory);
}

/* The same graph read from its JSON, which has no events behind it. */
static void compare_json(struct tt_str *out, const struct tt_graph *graph,
			 const struct memory_model *model)
{
	struct tt_graph read;
	char *text = NULL;

	if (tt_graph_json(&text, graph, 0) != TTNN_OK ||
	    tt_graph_parse(&read, text, strlen(text), "graph") != TTNN_OK) {
		fid_line(out, "json: %s", ttnn_error());
	} else {
		compare(out, "json", &read, model);
		tt_graph_deinit(&read);
	}
	tt_free(text);
}

void fid_memory_end(struct tt_str *out, struct fid_memory *m)
{
	static const char *const names[] = {"seed", "tt-metal"};
	struct tt_source *source;

	memory_model_end(&m->model);
	if (tt_capture_stop(NULL, m->capture) != TTNN_OK ||
	    tt_source_open_capture(&source, m->capture) != TTNN_OK)
		abort();
	for (int dialect = 0; dialect < 2; dialect++) {
		struct tt_project_options options = {
			.dialect = (enum ttnn_dialect)dialect, .mode = m->mode, .actual = m->mode};
		struct tt_graph graph;

		if (tt_graph_from_source(&graph, source, &options) != TTNN_OK) {
			fid_line(out, "%s: %s", names[dialect], ttnn_error());
			continue;
		}
		compare(out, names[dialect], &graph, &m->model);
		if (dialect == TTNN_DIALECT_SEED)
			compare_json(out, &graph, &m->model);
		tt_graph_deinit(&graph);
	}
	tt_source_close(source);
	tt_capture_free(m->capture);
	memory_model_free(&m->model);
	free(m);
}
