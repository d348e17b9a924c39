/*
 * What graphs, views and databases say of device memory, against what was really there: sums over the
 * buffers that live, made here from the events alone.
 */
#include "test.h"

#include <ttnn_frontend.h>

#include "base/clock.h"
#include "db_ask.h"
#include "event/capture.h"
#include "memory_model.h"
#include "report/report.h"
#include "trace/memory_course.h"
#include "trace/query.h"
#include "trace/session.h"

/* ---- a device and what is done on it -------------------------------------------------------------- */

static ttnn_device *open_machine(const char *machine, uint32_t chips)
{
	ttnn_device *device = NULL;
	struct ttnn_device_options options = {.profile = machine};

	if (chips > 1)
		CHECK_OK(ttnn_mesh_open(
			&device, &(struct ttnn_mesh_options){.rows = 1, .cols = chips}, &options));
	else
		CHECK_OK(ttnn_device_open(&device, 0, &options));
	return device;
}

static ttnn_tensor *filled(ttnn_device *device, int64_t rows, int64_t columns,
			   enum ttnn_buffer_type where)
{
	struct ttnn_memory_config memory = {.buffer = where};
	struct ttnn_shape shape;
	ttnn_tensor *tensor = NULL;

	CHECK_OK(ttnn_shape_make(&shape, (int64_t[]){1, 1, rows, columns}, 4));
	CHECK_OK(ttnn_call_one(&tensor, "ttnn.full",
			       (struct ttnn_arg[]){
				       {"shape", ttnn_v_shape(&shape)},
				       {"fill_value", ttnn_v_real(1)},
				       {"dtype", ttnn_v_dtype(TTNN_BFLOAT16)},
				       {"layout", ttnn_v_layout(TTNN_TILE)},
				       {"device", ttnn_v_device(device)},
				       {"memory_config", ttnn_v_memory(&memory)},
			       },
			       6, TTNN_FRONTEND_PYTHON));
	return tensor;
}

static void add_once(ttnn_tensor *a)
{
	struct ttnn_arg args[] = {{.value = ttnn_v_tensor(a)}, {.value = ttnn_v_tensor(a)}};
	ttnn_tensor *sum = NULL;

	CHECK_OK(ttnn_call_one(&sum, "ttnn.add", args, 2, TTNN_FRONTEND_PYTHON));
	ttnn_tensor_drop(sum);
}

/* ---- databases ------------------------------------------------------------------------------------ */

/* The database of a report or a trace; the caller's to close. */
static struct tt_db *import(const char *input, enum ttnn_dialect dialect, const char *name)
{
	struct tt_report_counts counts;
	struct tt_report_options options = {
		.input = input, .output = test_path(""), .db_name = name, .dialect = dialect};
	struct tt_db *db = NULL;

	CHECK_OK(tt_report_import(&counts, &options));
	CHECK_OK(tt_db_open(&db, test_path(name)));
	return db;
}

TEST(ten_adds_leave_two_buffers_in_every_database)
{
	static const char *const inputs[] = {"adds.ttrace", "adds.json"};
	struct tt_capture_options trace = {.path = test_path("adds.ttrace")};
	struct tt_capture *capture = NULL;
	ttnn_device *device;
	ttnn_tensor *a;

	CHECK_OK(tt_capture_begin(&capture, &trace));
	CHECK_OK(ttnn_graph_begin_as(TTNN_RUN_NORMAL, TTNN_DIALECT_SEED));
	device = open_machine("n150", 1);
	a = filled(device, 32, 32, TTNN_DRAM);
	for (int i = 0; i < 10; i++)
		add_once(a);
	CHECK_OK(ttnn_graph_end_to_file(NULL, test_path("adds.json")));
	tt_capture_free(capture);
	for (int i = 0; i < 2; i++)
		for (int dialect = 0; dialect < 2; dialect++) {
			struct tt_db *db = import(test_path(inputs[i]), (enum ttnn_dialect)dialect,
						  "adds.sqlite");

			CHECK_INT(ask(db, "SELECT count(*) FROM operations WHERE name LIKE "
					  "'%add'"),
				  10);
			CHECK_INT(ask(db, "SELECT count(*) FROM operations WHERE name LIKE "
					  "'%allocate%'"),
				  0);
			CHECK_INT(ask(db, "SELECT max(n) FROM (SELECT count(*) n FROM buffers "
					  "GROUP BY operation_id)"),
				  2);
			CHECK_INT(ask(db, "SELECT count(*) FROM buffers"), 1 + 10 * 2);
			tt_db_close(db);
		}
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
}

/* ---- views ---------------------------------------------------------------------------------------- */

static ttnn_tensor *call(const char *name, ttnn_tensor *a, enum ttnn_buffer_type where)
{
	struct ttnn_memory_config memory = {.buffer = where};
	ttnn_tensor *out = NULL;

	CHECK_OK(ttnn_call_one(&out, name,
			       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(a)},
						   {"memory_config", ttnn_v_memory(&memory)}},
			       2, TTNN_FRONTEND_PYTHON));
	return out;
}

/* The peaks that `ttnn show` tells of a graph. */
static struct memory_sums peaks_of(const ttnn_graph *graph)
{
	struct memory_sums sums = {0};
	struct tt_stream *stream;
	struct tt_memory memory;

	CHECK_OK(tt_stream_of_graph(&stream, graph, true));
	CHECK_OK(tt_memory_of(&memory, stream));
	sums.dram = memory.peaks[TT_MEMORY_DRAM].point.dram;
	sums.l1 = memory.peaks[TT_MEMORY_L1].point.l1;
	sums.core = tt_memory_core(&memory.peaks[TT_MEMORY_CORE].point);
	tt_memory_deinit(&memory);
	tt_stream_close(stream);
	return sums;
}

static struct memory_sums peaks_in(const char *path)
{
	struct memory_sums sums;
	ttnn_graph *graph = NULL;

	CHECK_OK(ttnn_graph_load(&graph, path));
	sums = peaks_of(graph);
	ttnn_graph_free(graph);
	return sums;
}

static void check_peaks(const char *what, const struct memory_sums *got,
			const struct memory_sums *want)
{
	if (got->dram != want->dram || got->l1 != want->l1 || got->core != want->core)
		TEST_FAIL("%s: %" PRIu64 " in DRAM, %" PRIu64 " in L1, %" PRIu64
			  " of a core, not %" PRIu64 ", %" PRIu64 ", %" PRIu64,
			  what, got->dram, got->l1, got->core, want->dram, want->l1, want->core);
}

#define MEGABYTE (1024 * 1024)

/* A weight that is used after something else was freed, and one that is not used at all. */
TEST(buffers_from_before_count_from_the_start)
{
	for (int dialect = 0; dialect < 2; dialect++) {
		ttnn_device *device = open_machine("n150", 1);
		ttnn_tensor *a = filled(device, 2048, 1024, TTNN_DRAM);
		ttnn_tensor *weight = filled(device, 2048, 2048, TTNN_DRAM);
		ttnn_tensor *unused = filled(device, 512, 1024, TTNN_DRAM);
		struct memory_sums peaks;
		ttnn_graph *graph = NULL;
		struct tt_db *db;

		CHECK_OK(ttnn_graph_begin_as(TTNN_RUN_NORMAL, (enum ttnn_dialect)dialect));
		ttnn_tensor_drop(call("ttnn.exp", a, TTNN_DRAM));
		ttnn_tensor_drop(call("ttnn.exp", weight, TTNN_L1));
		CHECK_OK(ttnn_graph_end_to_file(&graph, test_path("before.json")));
		peaks = peaks_of(graph);
		CHECK_INT(peaks.dram, (4 + 8 + 1 + 4) * MEGABYTE);
		CHECK_INT(peaks.l1, 8 * MEGABYTE);
		peaks = peaks_in(test_path("before.json"));
		/* Files of dialect tt-metal are upstream's: nothing in them tells of what is not used. */
		CHECK_INT(peaks.dram, (4 + 8 + (dialect == TTNN_DIALECT_SEED) + 4) * MEGABYTE);
		ttnn_graph_free(graph);
		if (dialect == TTNN_DIALECT_SEED) {
			db = import(test_path("before.json"), TTNN_DIALECT_SEED, "before.sqlite");
			CHECK_INT(ask(db, "SELECT count(*) FROM buffers WHERE operation_id = 1"),
				  4);
			CHECK_INT(ask(db, "SELECT count(*) FROM buffers WHERE operation_id = 2"),
				  4);
			CHECK_INT(ask(db, "SELECT count(*) FROM tensors WHERE size IS NULL"), 0);
			CHECK_INT(ask(db, "SELECT count(*) FROM tensors"), 4);
			tt_db_close(db);
		}
		ttnn_tensor_drop(a);
		ttnn_tensor_drop(weight);
		ttnn_tensor_drop(unused);
		ttnn_device_unref(device);
	}
}

/* A buffer from before that is freed in the capture is gone then. */
TEST(buffers_from_before_that_are_freed_are_gone)
{
	ttnn_device *device = open_machine("n150", 1);
	ttnn_tensor *a = filled(device, 32, 32, TTNN_DRAM), *b = filled(device, 32, 32, TTNN_L1);
	struct tt_db *db;

	CHECK_OK(ttnn_graph_begin_as(TTNN_RUN_NORMAL, TTNN_DIALECT_SEED));
	add_once(a);
	ttnn_tensor_drop(b);
	add_once(a);
	CHECK_OK(ttnn_graph_end_to_file(NULL, test_path("gone.json")));
	db = import(test_path("gone.json"), TTNN_DIALECT_SEED, "gone.sqlite");
	CHECK_INT(ask(db, "SELECT count(*) FROM buffers WHERE operation_id = 1"), 3);
	CHECK_INT(ask(db, "SELECT count(*) FROM buffers WHERE operation_id = 2"), 2);
	tt_db_close(db);
	ttnn_tensor_drop(a);
	ttnn_device_unref(device);
}

TEST(program_memory_of_a_core_is_that_of_one_chip)
{
	static const struct {
		const char *name;
		uint32_t chips;
	} machines[] = {{"n150", 1}, {"n300", 2}, {"t3k", 8}};

	for (size_t i = 0; i < 3; i++) {
		ttnn_device *device = open_machine(machines[i].name, machines[i].chips);
		ttnn_tensor *a = filled(device, 32, 32, TTNN_DRAM);
		struct tt_query_core core;
		ttnn_graph *graph = NULL;

		for (int again = 0; again < 2; again++) {
			CHECK_OK(ttnn_graph_begin_as(TTNN_RUN_NORMAL, TTNN_DIALECT_SEED));
			add_once(a);
			CHECK_OK(ttnn_graph_end_to_file(&graph, test_path("mesh.json")));
			CHECK_INT(peaks_of(graph).core, 12288);
			CHECK_INT(peaks_in(test_path("mesh.json")).core, 12288);
			CHECK_INT(tt_query_peak_l1(graph), 12288);
			CHECK_OK(tt_query_per_core(&core, graph, 0));
			CHECK_INT(core.circular, 12288);
			CHECK_INT(core.total, 12288);
			ttnn_graph_free(graph);
		}
		ttnn_tensor_drop(a);
		ttnn_device_unref(device);
	}
}

TEST(program_memory_is_told_of_cached_programs)
{
	for (int dialect = 0; dialect < 2; dialect++) {
		ttnn_device *device = open_machine("n150", 1);
		ttnn_tensor *a = filled(device, 32, 32, TTNN_DRAM);

		for (int again = 0; again < 3; again++) {
			ttnn_graph *graph = NULL;

			CHECK_OK(ttnn_graph_begin_as(TTNN_RUN_NORMAL, (enum ttnn_dialect)dialect));
			ttnn_tensor_drop(call("ttnn.exp", a, TTNN_DRAM));
			CHECK_OK(ttnn_graph_end_to_file(&graph, test_path("cached.json")));
			CHECK_INT(peaks_of(graph).core, 8192);
			/* Upstream writes nothing of such a program. */
			if (dialect == TTNN_DIALECT_SEED) {
				CHECK_INT(peaks_in(test_path("cached.json")).core, 8192);
				CHECK_INT(tt_query_peak_l1(graph), 8192);
			}
			ttnn_graph_free(graph);
		}
		ttnn_tensor_drop(a);
		ttnn_device_unref(device);
	}
}

/* Two buffers and a program in one core at one moment, not the largest of each. */
TEST(a_core_holds_what_is_there_at_one_moment)
{
	ttnn_device *device = open_machine("n150", 1);
	struct memory_model model;
	ttnn_tensor *a, *b, *c;
	ttnn_graph *graph = NULL;
	struct tt_stream *stream;
	struct tt_memory memory;

	CHECK_OK(ttnn_graph_begin_as(TTNN_RUN_NORMAL, TTNN_DIALECT_SEED));
	memory_model_begin(&model, device);
	a = filled(device, 512, 512, TTNN_L1);
	b = call("ttnn.exp", a, TTNN_L1);
	ttnn_tensor_drop(a);
	c = call("ttnn.softmax", b, TTNN_L1);
	memory_model_end(&model);
	CHECK_OK(ttnn_graph_end(&graph));
	CHECK_OK(tt_stream_of_graph(&stream, graph, true));
	CHECK_OK(tt_memory_of(&memory, stream));
	const struct tt_memory_point *point = &memory.peaks[TT_MEMORY_CORE].point;
	CHECK_INT(tt_memory_core(point), model.peak.core);
	/* 256 tiles on 64 banks; two of three tensors at a time. */
	CHECK_INT(point->core_buffers, 2 * 4 * 2048);
	CHECK_INT(memory.bank,
		  ttnn_device_get_info(device)->l1_size - ttnn_device_get_info(device)->l1_base);
	CHECK_INT(memory.peaks[TT_MEMORY_CORE].holders.count, 2);
	CHECK_INT(memory.peaks[TT_MEMORY_CORE].holders.data[0].bank_size, 4 * 2048);
	CHECK_INT(memory.peaks[TT_MEMORY_L1].point.l1, 2 * 512 * 512 * 2);
	tt_memory_deinit(&memory);
	tt_stream_close(stream);
	memory_model_free(&model);
	ttnn_graph_free(graph);
	ttnn_tensor_drop(b);
	ttnn_tensor_drop(c);
	ttnn_device_unref(device);
}

/* The time of a capture is over when its end is asked for, not when its graph is made. */
TEST(the_duration_of_a_capture_leaves_out_its_end)
{
	ttnn_device *device = open_machine("n150", 1);
	ttnn_tensor *a = filled(device, 32, 32, TTNN_DRAM);
	uint64_t before = tt_clock_ns(), asked, after;
	ttnn_graph *graph = NULL;

	CHECK_OK(ttnn_graph_begin_as(TTNN_RUN_NORMAL, TTNN_DIALECT_SEED));
	for (int i = 0; i < 2000; i++)
		add_once(a);
	asked = tt_clock_ns();
	CHECK_OK(ttnn_graph_end(&graph));
	after = tt_clock_ns();
	CHECK_INT(graph->nodes[graph->count - 1].type, TT_GRAPH_CAPTURE_END);
	CHECK(graph->nodes[graph->count - 1].duration < asked - before + (after - asked) / 2);
	ttnn_graph_free(graph);
	ttnn_tensor_drop(a);
	ttnn_device_unref(device);
}

TEST(views_say_where_they_lie)
{
	ttnn_device *device = open_machine("n150", 1);
	ttnn_tensor *a = filled(device, 64, 64, TTNN_DRAM), *view = NULL;
	ttnn_graph *graph = NULL;
	struct ttnn_shape shape;
	struct tt_db *db;
	size_t tensors = 0;

	CHECK_OK(ttnn_graph_begin_as(TTNN_RUN_NORMAL, TTNN_DIALECT_SEED));
	CHECK_OK(ttnn_shape_make(&shape, (int64_t[]){64, 64}, 2));
	CHECK_OK(ttnn_call_one(
		&view, "ttnn.reshape",
		(struct ttnn_arg[]){{NULL, ttnn_v_tensor(a)}, {NULL, ttnn_v_shape(&shape)}}, 2,
		TTNN_FRONTEND_PYTHON));
	ttnn_tensor_drop(call("ttnn.softmax", view, TTNN_DRAM));
	CHECK_OK(ttnn_graph_end_to_file(&graph, test_path("views.json")));
	for (size_t i = 0; i < graph->count; i++) {
		uint64_t number;

		if (graph->nodes[i].type != TT_GRAPH_TENSOR)
			continue;
		CHECK(tt_graph_number(&number, &graph->nodes[i], TT_KEY_ADDRESS) && number);
		CHECK(tt_graph_number(&number, &graph->nodes[i], TT_KEY_DEVICE_ID));
		tensors++;
	}
	CHECK(tensors >= 3);
	ttnn_graph_free(graph);
	db = import(test_path("views.json"), TTNN_DIALECT_SEED, "views.sqlite");
	CHECK_INT(
		ask(db, "SELECT count(*) FROM tensors WHERE address IS NULL OR device_id IS NULL"),
		0);
	CHECK_INT(ask(db, "SELECT count(*) FROM tensors WHERE size IS NULL AND tensor_id IN "
			  "(SELECT tensor_id FROM input_tensors UNION "
			  "SELECT tensor_id FROM output_tensors)"),
		  0);
	CHECK(ask(db, "SELECT count(*) FROM tensors") >= 3);
	tt_db_close(db);
	ttnn_tensor_drop(view);
	ttnn_tensor_drop(a);
	ttnn_device_unref(device);
}

/* A trace and a graph capture that begin in the middle, against the model; both dialects. */
TEST(peaks_are_those_of_the_model)
{
	struct tt_capture_options options = {.path = test_path("model.ttrace")};
	ttnn_device *device = open_machine("n300", 2);
	ttnn_tensor *a = filled(device, 256, 256, TTNN_L1), *b, *c;
	struct tt_capture *capture = NULL;
	struct memory_model model;
	ttnn_graph *graph = NULL;
	struct memory_sums peaks;

	memory_model_begin(&model, device);
	CHECK_OK(tt_capture_begin(&capture, &options));
	CHECK_OK(ttnn_graph_begin_as(TTNN_RUN_NORMAL, TTNN_DIALECT_SEED));
	for (int i = 0; i < 3; i++) {
		b = call("ttnn.exp", a, i % 2 ? TTNN_DRAM : TTNN_L1);
		c = call("ttnn.softmax", b, TTNN_L1);
		ttnn_tensor_drop(b);
		add_once(c);
		ttnn_tensor_drop(c);
	}
	CHECK_OK(ttnn_graph_end_to_file(&graph, test_path("model.json")));
	tt_capture_free(capture);
	memory_model_end(&model);
	peaks = peaks_of(graph);
	check_peaks("capture", &peaks, &model.peak);
	ttnn_graph_free(graph);
	peaks = peaks_in(test_path("model.json"));
	check_peaks("its file", &peaks, &model.peak);
	for (int dialect = 0; dialect < 2; dialect++) {
		struct tt_graph opened;

		CHECK_OK(tt_graph_open(&opened, test_path("model.ttrace"),
				       (enum ttnn_dialect)dialect));
		peaks = peaks_of(&opened);
		check_peaks("trace", &peaks, &model.peak);
		tt_graph_deinit(&opened);
	}
	memory_model_free(&model);
	ttnn_tensor_drop(a);
	ttnn_device_unref(device);
}
