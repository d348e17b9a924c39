/*
 * What graphs, views and databases say of device memory, against what was really there: sums over the
 * buffers that live, made here from the events alone.
 */
#include "test.h"

#include <ttnn_frontend.h>

#include "db_ask.h"
#include "device/device.h"
#include "event/capture.h"
#include "report/report.h"
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
