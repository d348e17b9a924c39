/* a trace as a database: the same as of the report that it can be exported to; edges apart from nodes. @threads */
#include "test.h"

#include <ttnn_ops.h>

#include "base/file.h"
#include "base/str.h"
#include "db/db.h"
#include "report/report.h"
#include "trace/session.h"
#include "trace/stream.h"

/* So many that some edges are far, a node has thousands, and there are threads; tensors of several kinds and lives. */
#define CALLS 2600

static void run_program(const char *path)
{
	struct ttnn_memory_config l1 = {.buffer = TTNN_L1}, dram = {.buffer = TTNN_DRAM};
	struct ttnn_zeros_options options = {.dtype = ttnn_v_dtype(TTNN_BFLOAT16),
					     .layout = ttnn_v_layout(TTNN_TILE)};
	ttnn_tensor *kept[8] = {0}, *made;
	ttnn_device *device;
	ttnn_trace *trace;

	CHECK_OK(ttnn_trace_begin(&trace, &(struct ttnn_trace_options){.path = path}));
	CHECK_OK(ttnn_device_open(&device, 0, &(struct ttnn_device_options){.profile = "n150"}));
	options.device = ttnn_v_device(device);
	for (int i = 0; i < 8; i++) {
		struct ttnn_shape shape = {2, {32, 32 * (1 + i % 3)}};

		options.dtype = ttnn_v_dtype(i % 2 ? TTNN_FLOAT32 : TTNN_BFLOAT16);
		options.memory_config = ttnn_v_memory(i % 3 ? &dram : &l1);
		CHECK_OK(ttnn_zeros(&kept[i], &shape, &options));
	}
	for (int i = 0; i < CALLS; i++) {
		int which = i % 7 ? 0 : i / 7 % 8;

		if (i % 3)
			CHECK_OK(ttnn_add(&made, kept[which], ttnn_v_tensor(kept[which]), NULL));
		else
			CHECK_OK(ttnn_relu(&made, kept[which], NULL));
		if (i % 50 == 49 && which) {
			ttnn_tensor_unref(kept[which]);
			kept[which] = made;
		} else {
			ttnn_tensor_unref(made);
		}
	}
	for (int i = 0; i < 8; i++)
		ttnn_tensor_unref(kept[i]);
	ttnn_device_unref(device);
	CHECK_OK(ttnn_trace_end(NULL, trace));
}

static const char *make_trace(void)
{
	static char path[512];

	if (!*path) {
		snprintf(path, sizeof(path), "%s", test_path("run.ttrace"));
		run_program(path);
	}
	return path;
}

/* ---- edges ----------------------------------------------------------------------------------------- */

/* Nodes in blocks, edges of each when they are there. */
static void read_apart(struct tt_str *out, struct tt_stream *stream)
{
	const struct tt_graph_node *node;
	struct tt_near_block block = {0};
	uint32_t nodes = 0, number = 0, to;
	bool more = true;

	tt_stream_trace_apart(stream);
	while (number < nodes || more) {
		for (uint32_t end = nodes + TT_NEAR_BLOCK; more && nodes < end; nodes += more) {
			CHECK_OK(tt_stream_next(&node, stream));
			more = node;
		}
		if (more && nodes < number + 3 * TT_NEAR_BLOCK)
			continue;
		CHECK_OK(tt_stream_trace_near(&block, stream));
		CHECK(tt_near_sort(&block));
		for (uint32_t i = 0; i < TT_NEAR_BLOCK && number < nodes; i++, number++) {
			size_t count;
			const uint32_t *near = tt_near_of(&count, &block, i);

			tt_str_addf(out, "%u:", number);
			for (size_t k = 0; k < count; k++)
				tt_str_addf(out, " %u", near[k]);
			while (tt_stream_trace_far(&to, stream, number))
				tt_str_addf(out, " %u", to);
			tt_str_addc(out, '\n');
		}
	}
	CHECK_OK(tt_stream_trace_status(stream));
	tt_near_block_deinit(&block);
}

static void read_together(struct tt_str *out, struct tt_stream *stream)
{
	const struct tt_graph_node *node;
	uint32_t to;

	while (tt_stream_next(&node, stream) == TTNN_OK && node) {
		tt_str_addf(out, "%u:", (unsigned)node->counter);
		while (tt_stream_edge(&to, stream))
			if (node->counter) /* those of the start of all nobody reads apart */
				tt_str_addf(out, " %u", to);
		tt_str_addc(out, '\n');
	}
}

TEST(edges_apart_are_those_of_nodes)
{
	struct tt_source *source;

	CHECK_OK(tt_source_open(&source, make_trace()));
	for (int dialect = 0; dialect < 2; dialect++) {
		struct tt_project_options how = {.dialect = (enum ttnn_dialect)dialect};
		struct tt_str together = {0}, apart = {0};
		struct tt_stream *stream;

		CHECK_OK(tt_stream_open(&stream, source, &how));
		read_together(&together, stream);
		tt_stream_close(stream);
		how.apart = true;
		CHECK_OK(tt_stream_open(&stream, source, &how));
		read_apart(&apart, stream);
		tt_stream_close(stream);
		CHECK(together.length > 100000);
		CHECK(strcmp(tt_str_text(&together), tt_str_text(&apart)) == 0);
		tt_str_deinit(&together);
		tt_str_deinit(&apart);
	}
	tt_source_close(source);
}

/* ---- databases ------------------------------------------------------------------------------------- */

static void export_report(const char *path, const char *trace, enum ttnn_dialect dialect,
			  bool pages)
{
	struct tt_project_options how = {.dialect = dialect};
	struct tt_source *source;
	struct tt_file_out *file;
	struct tt_jsonw w;

	CHECK_OK(tt_source_open(&source, trace));
	CHECK_OK(tt_file_create(&file, path));
	tt_jsonw_init_file(&w, file, (struct tt_jsonw_style){.compact = true, .utf8 = true});
	CHECK_OK(tt_graph_report_from_source(&w, source, &how, pages));
	CHECK_OK(tt_jsonw_finish(&w));
	CHECK_OK(tt_file_commit(file));
	tt_source_close(source);
}

/* All rows of a query, as text. */
static void ask(struct tt_str *out, struct tt_db *db, const char *sql, int columns)
{
	struct tt_db_stmt *select;
	bool row = true;

	CHECK_OK(tt_db_prepare(&select, db, sql));
	while (tt_db_next(&row, select) == TTNN_OK && row) {
		for (int i = 0; i < columns; i++) {
			const char *text = tt_db_text(select, i);

			tt_str_adds(out, text ? text : "NULL");
			tt_str_addc(out, '|');
		}
		tt_str_addc(out, '\n');
	}
	tt_db_stmt_free(select);
}

static void read_database(struct tt_str *out, const char *input, enum ttnn_dialect dialect,
			  bool pages)
{
	static const struct {
		const char *sql;
		int columns;
	} queries[] = {
		{"select * from operations", 4},
		{"select * from tensors", 11},
		{"select * from device_tensors", 4},
		{"select * from nodes", 5},
		{"select * from input_tensors", 4},
		{"select * from output_tensors", 4},
		{"select * from buffers where operation_id % 40 = 1", 7},
		{"select operation_id, length(captured_graph), captured_graph from captured_graph "
		 "where operation_id % 100 = 1",
		 3},
		{"select * from operation_arguments where operation_id % 40 = 1", 4},
		{"select * from buffer_chunks where operation_id % 40 = 1", 12},
	};
	struct tt_report_options options = {
		.input = input, .output = test_path("db"), .pages = pages, .dialect = dialect};
	struct tt_report_counts counts = {0};
	struct tt_db *db;
	char path[4096];

	CHECK_OK(tt_report_import(&counts, &options));
	snprintf(path, sizeof(path), "%s/db.sqlite", options.output);
	CHECK_OK(tt_db_open(&db, path));
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
		ask(out, db, queries[i].sql, queries[i].columns);
	tt_db_discard(db);
	tt_str_addf(out, "%" PRIu64 " edges\n", counts.edges);
}

TEST(a_trace_is_the_same_database_as_its_report)
{
	for (int i = 0; i < 4; i++) {
		enum ttnn_dialect dialect = i % 2 ? TTNN_DIALECT_TT_METAL : TTNN_DIALECT_SEED;
		struct tt_str trace = {0}, report = {0};
		const char *json = test_path("report.json");
		bool pages = i >= 2;

		export_report(json, make_trace(), dialect, pages);
		read_database(&trace, make_trace(), dialect, pages);
		read_database(&report, json, dialect, pages);
		CHECK(trace.length > 100000);
		CHECK(strcmp(tt_str_text(&trace), tt_str_text(&report)) == 0);
		tt_str_deinit(&trace);
		tt_str_deinit(&report);
	}
}
