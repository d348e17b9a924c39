/* fidelity_memory.c: what views say of device memory, against a model that adds it up event by event. */
#include "fidelity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "event/capture.h"
#include "memory_model.h"
#include "trace/memory_course.h"
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

/* Compares what is there after each allocation and free. */
struct comparison {
	struct tt_str *out;
	const char *what;
	const struct memory_model *model;
	size_t at;
};

static void compare_moment(void *context, const struct tt_memory_moment *moment)
{
	struct comparison *c = context;
	struct memory_sums sums = sums_at(&moment->point);

	if (moment->type != TT_GRAPH_BUFFER_ALLOCATE && moment->type != TT_GRAPH_BUFFER_DEALLOCATE)
		return;
	if (c->at < c->model->after_count)
		compare_sums(c->out, c->what, moment->number, &sums, &c->model->after[c->at]);
	c->at++;
}

/* The peaks, and what is there on the way. */
static void compare(struct tt_str *out, const char *what, struct tt_stream *stream,
		    const struct memory_model *model)
{
	struct comparison c = {out, what, model, 0};
	struct tt_memory memory;
	struct memory_sums sums;

	if (tt_memory_each(stream, compare_moment, &c) != TTNN_OK ||
	    tt_memory_of(&memory, stream) != TTNN_OK) {
		fid_line(out, "%s: %s", what, ttnn_error());
		return;
	}
	sums.dram = memory.peaks[TT_MEMORY_DRAM].point.dram;
	sums.l1 = memory.peaks[TT_MEMORY_L1].point.l1;
	sums.core = tt_memory_core(&memory.peaks[TT_MEMORY_CORE].point);
	compare_sums(out, what, 0, &sums, &model->peak);
	if (c.at != model->after_count)
		fid_line(out, "%s: %zu events of buffers, not %zu", what, c.at, model->after_count);
	if (memory.shareless)
		fid_line(out, "%s: %zu shares of banks are not known", what, memory.shareless);
	tt_memory_deinit(&memory);
}

static void compare_graph(struct tt_str *out, const char *what, const struct tt_graph *graph,
			  const struct memory_model *model)
{
	struct tt_stream *stream;

	if (tt_stream_of_graph(&stream, graph, true) != TTNN_OK) {
		fid_line(out, "%s: %s", what, ttnn_error());
		return;
	}
	compare(out, what, stream, model);
	tt_stream_close(stream);
}

/* The same graph read from its JSON, which has no events behind it. */
static void compare_json(struct tt_str *out, const char *text, const struct memory_model *model)
{
	struct tt_graph read;

	if (tt_graph_parse(&read, text, strlen(text), "graph") != TTNN_OK) {
		fid_line(out, "json: %s", ttnn_error());
	} else {
		compare_graph(out, "json", &read, model);
		tt_graph_deinit(&read);
	}
}

/* The nodes one by one are those of the graph, and know the same of memory. */
static void compare_stream(struct tt_str *out, const char *text, struct tt_source *source,
			   const struct tt_project_options *options,
			   const struct memory_model *model)
{
	struct tt_project_options how = *options;
	struct tt_stream *stream;
	struct tt_str told = {0};
	struct tt_jsonw w;

	how.course = true;
	if (tt_stream_open(&stream, source, &how) != TTNN_OK) {
		fid_line(out, "stream: %s", ttnn_error());
		return;
	}
	compare(out, "stream", stream, model);
	tt_jsonw_init_str(&w, &told, (struct tt_jsonw_style){.compact = true, .utf8 = true});
	if (tt_stream_restart(stream) != TTNN_OK || tt_stream_write(&w, stream) != TTNN_OK ||
	    tt_jsonw_finish(&w) != TTNN_OK)
		fid_line(out, "stream: %s", ttnn_error());
	else if (strcmp(tt_str_text(&told), text) != 0)
		fid_line(out, "stream: its nodes are others than those of the graph");
	tt_str_deinit(&told);
	tt_stream_close(stream);
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
		char *text = NULL;

		if (tt_graph_from_source(&graph, source, &options) != TTNN_OK ||
		    tt_graph_json(&text, &graph, 0) != TTNN_OK) {
			fid_line(out, "%s: %s", names[dialect], ttnn_error());
			continue;
		}
		compare_graph(out, names[dialect], &graph, &m->model);
		compare_stream(out, text, source, &options, &m->model);
		if (dialect == TTNN_DIALECT_SEED)
			compare_json(out, text, &m->model);
		tt_graph_deinit(&graph);
		tt_free(text);
	}
	tt_source_close(source);
	tt_capture_free(m->capture);
	memory_model_free(&m->model);
	free(m);
}
