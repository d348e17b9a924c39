#include "report/schema.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

/* Bytes of a page: upstream's, and what is written fastest. */
#define STORED_PAGE 4096
#define VIEWED_PAGE 32768

/* Bytes of a text that is held in memory at once; rows of buffers that are still stored (some 1 GB). */
#define TEXT_MAX ((uint64_t)32 << 20)
#define BUFFER_ROWS_MAX ((uint64_t)20 << 20)

/* Who creates a table. */
enum when {
	ALWAYS,
	WITH_PLACEMENT,
	WHEN_STORED, /* only with as_tables */
	WHEN_VIEWED, /* only without */
};

struct table {
	const char *name;
	const char *columns; /* separated by newlines; "rank" is added behind unless `no_rank` */
	const char *behind;  /* (optional) what stands behind rank: columns, constraints */
	const char *insert;  /* "INSERT" or with "OR ..." */
	int width;           /* columns without rank */
	bool no_rank;
	enum when when;
};

#define IGNORE "INSERT OR IGNORE"
#define REPLACE "INSERT OR REPLACE"
#define COMPARISON                                                                                 \
	"tensor_id int\ngolden_tensor_id int\nmatches int\ndesired_pcc float\nactual_pcc float"

static const struct table tables[TT_REPORT_TABLE_COUNT] = {
	[TT_REPORT_DEVICES] = {"devices",
			       "device_id int\nnum_y_cores int\nnum_x_cores int\n"
			       "num_y_compute_cores int\nnum_x_compute_cores int\n"
			       "worker_l1_size int\nl1_num_banks int\nl1_bank_size int\n"
			       "address_at_first_l1_bank int\naddress_at_first_l1_cb_buffer int\n"
			       "num_banks_per_storage_core int\nnum_compute_cores int\n"
			       "num_storage_cores int\ntotal_l1_memory int\n"
			       "total_l1_for_tensors int\ntotal_l1_for_interleaved_buffers int\n"
			       "total_l1_for_sharded_buffers int\ncb_limit int",
			       NULL, "INSERT", 18, false, ALWAYS},
	[TT_REPORT_OPERATIONS] = {"operations", "operation_id int\nname text\nduration float",
				  "UNIQUE(operation_id, rank)", REPLACE, 3, false, ALWAYS},
	[TT_REPORT_OPERATION_ARGUMENTS] = {"operation_arguments",
					   "operation_id int\nname text\nvalue text", NULL,
					   "INSERT", 3, false, WHEN_STORED},
	[TT_REPORT_SUB_DEVICE_MANAGERS] = {"sub_device_managers",
					   "device_id int\nsub_device_manager_id int",
					   "UNIQUE(device_id, sub_device_manager_id, rank)", IGNORE,
					   2, false, WITH_PLACEMENT},
	[TT_REPORT_SUB_DEVICES] = {"sub_devices",
				   "device_id int\nsub_device_manager_id int\nsub_device_id int\n"
				   "worker_core_ranges text",
				   "UNIQUE(device_id, sub_device_manager_id, sub_device_id, rank)",
				   IGNORE, 4, false, WITH_PLACEMENT},
	[TT_REPORT_OPERATION_EXECUTIONS] = {"operation_executions",
					    "execution_id int\noperation_id int\ndevice_id int\n"
					    "physical_device_id int\nruntime_id int\n"
					    "global_call_count int\ncommand_queue_id int",
					    "UNIQUE(execution_id, rank)", REPLACE, 7, false,
					    WITH_PLACEMENT},
	[TT_REPORT_EXECUTION_SUB_DEVICES] = {"execution_sub_devices",
					     "execution_id int\ndevice_id int\n"
					     "sub_device_manager_id int\nsub_device_id int",
					     "UNIQUE(execution_id, device_id, "
					     "sub_device_manager_id, sub_device_id, rank)",
					     IGNORE, 4, false, WITH_PLACEMENT},
	[TT_REPORT_TENSORS] = {"tensors",
			       "tensor_id int\nshape text\ndtype text\nlayout text\n"
			       "memory_config text\ndevice_id int\naddress int\nbuffer_type int",
			       "UNIQUE(tensor_id, rank)", IGNORE, 8, false, ALWAYS},
	[TT_REPORT_DEVICE_TENSORS] = {"device_tensors", "tensor_id int\ndevice_id int\naddress int",
				      NULL, "INSERT", 3, false, ALWAYS},
	[TT_REPORT_BUFFERS] = {"buffers",
			       "operation_id int\ndevice_id int\naddress int\n"
			       "max_size_per_bank int\nbuffer_type int\nbuffer_layout int",
			       NULL, "INSERT", 6, false, WHEN_STORED},
	[TT_REPORT_CAPTURED_GRAPH] = {"captured_graph", "operation_id int\ncaptured_graph text",
				      NULL, "INSERT", 2, false, WHEN_STORED},
	[TT_REPORT_NODES] = {"nodes",
			     "operation_id int\nunique_id int\nnode_operation_id int\nname text",
			     NULL, "INSERT", 4, false, ALWAYS},
	[TT_REPORT_EDGES] = {"edges",
			     "operation_id int\nsource_unique_id int\nsink_unique_id int\n"
			     "source_output_index int\nsink_input_index int\nkey int",
			     NULL, "INSERT", 6, false, WHEN_STORED},
	[TT_REPORT_REPORT_METADATA] = {"report_metadata", "key text UNIQUE\nvalue text", NULL,
				       REPLACE, 2, true, ALWAYS},
	[TT_REPORT_ERRORS] = {"errors",
			      "operation_id int\noperation_name text\nerror_type text\n"
			      "error_message text\nstack_trace text\ntimestamp text",
			      NULL, "INSERT", 6, false, ALWAYS},
	[TT_REPORT_SOURCE_FILES] = {"source_files",
				    "id INTEGER PRIMARY KEY\npath text UNIQUE NOT NULL\n"
				    "contents text",
				    NULL, IGNORE, 3, true, ALWAYS},
	[TT_REPORT_STACK_TRACES] = {"stack_traces",
				    "operation_id int\nstack_trace text\n"
				    "source_file_id int REFERENCES source_files(id)",
				    NULL, "INSERT", 3, false, ALWAYS},
	[TT_REPORT_INPUT_TENSORS] = {"input_tensors",
				     "operation_id int\ninput_index int\ntensor_id int", NULL,
				     "INSERT", 3, false, ALWAYS},
	[TT_REPORT_OUTPUT_TENSORS] = {"output_tensors",
				      "operation_id int\noutput_index int\ntensor_id int", NULL,
				      "INSERT", 3, false, ALWAYS},
	[TT_REPORT_TENSOR_LIFETIME] = {"tensor_lifetime",
				       "tensor_id int\nproducer_operation_id int\n"
				       "last_use_operation_id int\ndeallocate_operation_id int\n"
				       "producer_source_file text\nproducer_source_line int\n"
				       "last_use_source_file text\nlast_use_source_line int",
				       "UNIQUE(tensor_id, rank)", REPLACE, 8, false, ALWAYS},
	[TT_REPORT_TENSOR_CONSUMERS] = {"tensor_consumers",
					"tensor_id int\noperation_id int\ninput_index int",
					"UNIQUE(tensor_id, operation_id, input_index, rank)",
					IGNORE, 3, false, WHEN_STORED},
	[TT_REPORT_TENSOR_PRODUCERS] = {"tensor_producers",
					"tensor_id int\noperation_id int\noutput_index int",
					"UNIQUE(tensor_id, operation_id, output_index, rank)",
					IGNORE, 3, false, WHEN_STORED},
	[TT_REPORT_LOCAL_COMPARISONS] = {"local_tensor_comparison_records", COMPARISON,
					 "UNIQUE(tensor_id, rank)", "INSERT", 5, false, ALWAYS},
	[TT_REPORT_GLOBAL_COMPARISONS] = {"global_tensor_comparison_records", COMPARISON,
					  "UNIQUE(tensor_id, rank)", "INSERT", 5, false, ALWAYS},
	[TT_REPORT_BUFFER_CHUNKS] = {"buffer_chunks",
				     "operation_id int\ndevice_id int\naddress int\nbank_id int\n"
				     "core_x int\ncore_y int\nchunk_address int\nchunk_size int\n"
				     "page_size int\nnum_pages int\nbuffer_type int",
				     NULL, "INSERT", 11, false, ALWAYS},
	/*
	 * Instead of the texts of each operation: its template, whose pieces have a number of the list behind
	 * them (`path`), and its arguments, which are texts of a list (compact.h).
	 */
	[TT_REPORT_OPERATION_CALLS] = {"operation_calls",
				       "operation_id int\ntemplate int\nnumbers text\n"
				       "arguments int",
				       NULL, "INSERT", 4, false, WHEN_VIEWED},
	[TT_REPORT_GRAPH_PIECES] = {"graph_pieces", "template int\npiece int\ntext text\npath text",
				    "PRIMARY KEY(template, piece)", "INSERT", 4, true, WHEN_VIEWED},
	[TT_REPORT_ARGUMENT_LISTS] = {"argument_lists",
				      "list int\nposition int\nname text\nvalue int",
				      "PRIMARY KEY(list, position)", "INSERT", 4, true,
				      WHEN_VIEWED},
	[TT_REPORT_ARGUMENT_TEXTS] = {"argument_texts", "id INTEGER PRIMARY KEY\ntext text", NULL,
				      "INSERT", 2, true, WHEN_VIEWED},
	/*
	 * Instead of all live buffers for every operation: the operations in their order, each with
	 * its block, and per block the buffers with the operations between which they live.
	 */
	[TT_REPORT_BUFFER_OPS] = {"buffer_ops",
				  "seq INTEGER PRIMARY KEY\nblock int\noperation_id int", NULL,
				  "INSERT", 3, false, WHEN_VIEWED},
	[TT_REPORT_BUFFER_SPANS] = {"buffer_spans",
				    "block int\nposition int\nfirst_seq int\nlast_seq int\n"
				    "device_id int\naddress int\nmax_size_per_bank int\n"
				    "buffer_type int\nbuffer_layout int",
				    "PRIMARY KEY(block, position, first_seq)", "INSERT", 9, true,
				    WHEN_VIEWED},
};

#define CAPTURED_INDEX "idx_captured_graph_operation_id"

/*
 * Tables that may have millions of rows, of integers and short texts: those of a new file are filled without SQLite
 * (db/fill.h). Their indexes are those below. Names and widths are added.
 */
static const struct tt_db_fill_table fills[TT_REPORT_TABLE_COUNT] = {
	[TT_REPORT_OPERATIONS] = {.index_count = 1,
				  .indexes = {{.name = "sqlite_autoindex_operations_1",
					       .count = 2,
					       .columns = {0, 3}}}},
	[TT_REPORT_TENSORS] = {.index_count = 1,
			       .indexes = {{.name = "sqlite_autoindex_tensors_1",
					    .count = 2,
					    .columns = {0, 8}}}},
	[TT_REPORT_DEVICE_TENSORS] =
		{.index_count = 1,
		 .indexes = {{.name = "idx_device_tensors_tensor_id", .count = 1, .columns = {0}}}},
	[TT_REPORT_CAPTURED_GRAPH] =
		{.index_count = 1,
		 .indexes = {{.name = CAPTURED_INDEX, .count = 1, .columns = {0}}}},
	[TT_REPORT_NODES] = {.index_count = 0},
	[TT_REPORT_INPUT_TENSORS] =
		{.index_count = 2,
		 .indexes = {{.name = "idx_input_tensors_operation_id", .count = 1, .columns = {0}},
			     {.name = "idx_input_tensors_tensor_id", .count = 1, .columns = {2}}}},
	[TT_REPORT_OUTPUT_TENSORS] =
		{.index_count = 2,
		 .indexes = {{.name = "idx_output_tensors_operation_id",
			      .count = 1,
			      .columns = {0}},
			     {.name = "idx_output_tensors_tensor_id", .count = 1, .columns = {2}}}},
	[TT_REPORT_BUFFER_CHUNKS] = {.index_count = 1,
				     .indexes = {{.name = "idx_buffer_chunks_operation_id",
						  .count = 1,
						  .columns = {0}}}},
	[TT_REPORT_OPERATION_CALLS] = {.index_count = 1,
				       .indexes = {{.name = "idx_operation_calls_operation_id",
						    .count = 1,
						    .columns = {0}}}},
	[TT_REPORT_BUFFER_OPS] =
		{.numbered = true,
		 .index_count = 1,
		 .indexes = {{.name = "idx_buffer_ops_operation_id", .count = 1, .columns = {2}}}},
	[TT_REPORT_BUFFER_SPANS] = {.keyed = true,
				    .index_count = 2,
				    .indexes = {{.name = "idx_buffer_spans_l1",
						 .count = 9,
						 .columns = {7, 0, 1, 2, 3, 4, 5, 6, 8},
						 .some = true,
						 .where = 7,
						 .is = 1},
						{.name = "idx_buffer_spans_address",
						 .count = 9,
						 .columns = {5, 0, 1, 2, 3, 4, 6, 7, 8}}}},
};

/* Whether rows of a table take that way. Where nothing is a view one table has more than all others together. */
static bool is_filled(const struct tt_report_db *db, enum tt_report_table table)
{
	bool unique = table == TT_REPORT_OPERATIONS || table == TT_REPORT_TENSORS;

	if (!db->fill || (unique && !db->alone))
		return false;
	if (db->as_tables)
		return table == TT_REPORT_BUFFER_CHUNKS;
	return fills[table].index_count || table == TT_REPORT_NODES;
}

/*
 * ttnn-visualizer looks for captured_graph in tables alone, and filters those alone by rank: the first is a table up to
 * a limit, and the two behind it are where there is a rank besides 0. A cross join keeps the loops in this order, which
 * is the order of the rows.
 */
struct view {
	const char *name, *select;
};

enum { VIEW_CAPTURED, VIEW_BUFFERS, VIEW_ARGUMENTS };

static const struct view views[] = {
	[VIEW_CAPTURED] =
		{"captured_graph",
		 "SELECT c.operation_id, (SELECT\n"
		 "  group_concat(text || coalesce(json_extract(c.numbers, path), ''), '')\n"
		 "  FROM (SELECT p.text, p.path FROM graph_pieces p WHERE p.template = c.template ORDER BY p.piece))\n"
		 "  AS captured_graph, c.rank FROM operation_calls c"},
	[VIEW_BUFFERS] = {"buffers",
			  "SELECT o.operation_id, s.device_id, s.address, s.max_size_per_bank,\n"
			  "  s.buffer_type, nullif(s.buffer_layout, -1) AS buffer_layout, o.rank\n"
			  "  FROM buffer_ops o CROSS JOIN buffer_spans s\n"
			  "  WHERE s.block = o.block AND o.seq BETWEEN s.first_seq AND s.last_seq"},
	[VIEW_ARGUMENTS] =
		{"operation_arguments",
		 "SELECT c.operation_id, a.name, t.text AS value, c.rank\n"
		 "  FROM operation_calls c CROSS JOIN argument_lists a ON a.list = c.arguments\n"
		 "  CROSS JOIN argument_texts t ON t.id = a.value"},
	{"edges",
	 "SELECT g.operation_id,\n"
	 "  coalesce(json_extract(n.value, '$.counter'), 0) AS source_unique_id,\n"
	 "  c.value AS sink_unique_id, c.key AS source_output_index, 0 AS sink_input_index, c.key AS key,\n"
	 "  g.rank FROM captured_graph g CROSS JOIN json_each(g.captured_graph) n\n"
	 "  CROSS JOIN json_each(n.value, '$.connections') c"},
	{"tensor_consumers", "SELECT tensor_id, operation_id, input_index, rank\n"
			     "  FROM input_tensors"},
	{"tensor_producers", "SELECT tensor_id, operation_id, output_index, rank\n"
			     "  FROM output_tensors"},
	{"buffer_pages",
	 "WITH RECURSIVE pages AS (\n"
	 "  SELECT c.rowid AS chunk, 0 AS page_index FROM buffer_chunks c UNION ALL\n"
	 "  SELECT chunk, page_index + 1 FROM pages JOIN buffer_chunks c ON c.rowid = chunk\n"
	 "  WHERE page_index + 1 < c.num_pages)\n"
	 "SELECT c.operation_id, c.device_id, c.address, c.core_y, c.core_x, c.bank_id, p.page_index,\n"
	 "  c.chunk_address + p.page_index * c.page_size AS page_address, c.page_size, c.buffer_type,\n"
	 "  c.rank FROM pages p JOIN buffer_chunks c ON c.rowid = p.chunk ORDER BY c.rowid, p.page_index"},
};

/*
 * Of tables that are filled while the graph is walked, in about the order of the index: the thread that
 * writes keeps them right on the way. To make those of long texts at the end would read all of that
 * again, too.
 */
static const char early_indexes[] =
	"CREATE INDEX idx_buffer_ops_operation_id ON buffer_ops (operation_id);\n"
	"CREATE INDEX idx_operation_calls_operation_id ON operation_calls (operation_id);\n"
	"CREATE INDEX idx_stack_traces_operation_id ON stack_traces (operation_id);\n";

/*
 * Made at the end: that is faster for what comes there, in no order. Those of the spans serve views of
 * L1 and of one address; they must not begin with the block, or all views would take their order.
 * Views of DRAM, which most spans are of, are faster without.
 */
static const char indexes[] =
	"CREATE INDEX idx_buffer_spans_l1 ON buffer_spans (buffer_type, block, position, first_seq,"
	" last_seq, device_id, address, max_size_per_bank, buffer_layout) WHERE buffer_type = 1;"
	"CREATE INDEX idx_buffer_spans_address ON buffer_spans (address, block, position, first_seq,"
	" last_seq, device_id, max_size_per_bank, buffer_type, buffer_layout);"
	"CREATE INDEX idx_input_tensors_operation_id ON input_tensors (operation_id);"
	"CREATE INDEX idx_input_tensors_tensor_id ON input_tensors (tensor_id);"
	"CREATE INDEX idx_output_tensors_operation_id ON output_tensors (operation_id);"
	"CREATE INDEX idx_output_tensors_tensor_id ON output_tensors (tensor_id);"
	"CREATE INDEX idx_device_tensors_tensor_id ON device_tensors (tensor_id);"
	"CREATE INDEX idx_buffer_chunks_operation_id ON buffer_chunks (operation_id);";

static const struct tt_report_version versions[] = {
	{"3.5", .storage_type = true, .placement = true, .operation_errors = true},
	{"3.3", .storage_type = false, .placement = false, .operation_errors = false},
};

const struct tt_report_version *tt_report_version_find(const char *name)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (strcmp(versions[i].name, name) == 0)
			return &versions[i];
	return NULL;
}

const struct tt_report_version *tt_report_version_default(void)
{
	return &versions[0];
}

/* The next part of "3.10" that is a number, or 0 at the end. */
static unsigned long next_part(const char **text)
{
	while (**text) {
		const char *start = *text;
		unsigned long number = 0;
		bool digits = *start && *start != '.';

		for (; **text && **text != '.'; ++*text) {
			digits = digits && **text >= '0' && **text <= '9';
			number = number * 10 + (unsigned long)(**text - '0');
		}
		if (**text)
			++*text;
		if (digits)
			return number;
	}
	return 0;
}

bool tt_report_version_older(const char *stored, const char *current)
{
	if (!stored)
		return true;
	while (*stored || *current) {
		unsigned long a = next_part(&stored), b = next_part(&current);

		if (a != b)
			return a < b;
	}
	return false;
}

/* ---- creating ------------------------------------------------------------------------------- */

static bool is_present(const struct tt_report_db *db, const struct table *table)
{
	switch (table->when) {
	case WITH_PLACEMENT:
		return db->version->placement;
	case WHEN_STORED:
		return db->as_tables;
	case WHEN_VIEWED:
		return !db->as_tables;
	default:
		return true;
	}
}

static bool has_storage_type(const struct tt_report_db *db, enum tt_report_table table)
{
	return table == TT_REPORT_TENSORS && db->version->storage_type;
}

static bool has_size(const struct tt_report_db *db, enum tt_report_table table)
{
	return table == TT_REPORT_TENSORS && !db->as_tables;
}

static void add_create(struct tt_str *sql, const struct tt_report_db *db,
		       enum tt_report_table which)
{
	const struct table *table = &tables[which];

	tt_str_addf(sql, "CREATE TABLE IF NOT EXISTS %s (\n    ", table->name);
	for (const char *c = table->columns; *c; c++) {
		if (*c == '\n')
			tt_str_adds(sql, ",\n    ");
		else
			tt_str_addc(sql, *c);
	}
	if (!table->no_rank)
		tt_str_adds(sql, ",\n    rank int NOT NULL DEFAULT 0");
	if (has_storage_type(db, which))
		tt_str_adds(sql, ",\n    storage_type text");
	if (has_size(db, which))
		tt_str_adds(sql, ",\n    size int");
	if (table->behind)
		tt_str_addf(sql, ",\n    %s", table->behind);
	tt_str_addf(sql, "\n)%s;\n",
		    table->behind && strncmp(table->behind, "PRIMARY", 7) == 0 ? " WITHOUT ROWID"
									       : "");
}

static void add_view(struct tt_str *sql, const struct view *view)
{
	tt_str_addf(sql, "CREATE VIEW %s AS %s;\n", view->name, view->select);
}

static tt_status create_all(struct tt_report_db *db)
{
	struct tt_str sql = {0};
	tt_status status;

	for (int i = 0; i < TT_REPORT_TABLE_COUNT; i++)
		if (is_present(db, &tables[i]))
			add_create(&sql, db, (enum tt_report_table)i);
	tt_str_adds(&sql, "CREATE INDEX IF NOT EXISTS idx_stack_traces_source_file_id ON "
			  "stack_traces (source_file_id);\n");
	if (!db->as_tables) {
		tt_str_addf(&sql, "%s%s", early_indexes, db->fill ? indexes : "");
		for (size_t i = VIEW_CAPTURED + 1; i < sizeof(views) / sizeof(views[0]); i++)
			add_view(&sql, &views[i]);
	}
	tt_str_addf(&sql,
		    "INSERT OR REPLACE INTO report_metadata (key, value) VALUES "
		    "('schema_version', '%s')",
		    db->version->name);
	status = tt_str_status(&sql);
	if (status == TTNN_OK)
		status = tt_db_exec(db->db, tt_str_text(&sql));
	tt_str_deinit(&sql);
	return status;
}

static unsigned page_size(const struct tt_report_db *db)
{
	return db->as_tables ? STORED_PAGE : VIEWED_PAGE;
}

static tt_status open_file(struct tt_report_db *db)
{
	return tt_db_create(&db->db, db->path, page_size(db));
}

/* The folder that the file is in. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? tt_strndup(path, (size_t)(slash + 1 - path)) : tt_strdup(".");
}

tt_status tt_report_db_init(struct tt_report_db *out, const char *path,
			    const struct tt_report_db_options *options)
{
	tt_status status;

	*out = (struct tt_report_db){.version = options->version,
				     .as_tables = options->as_tables,
				     .as_views = options->as_views,
				     .alone = options->alone,
				     .text_limit = options->text_limit,
				     .path = tt_strdup(path),
				     .directory = folder_of(path)};
	status = out->path && out->directory ? TTNN_OK : tt_fail_nomem();
	if (status == TTNN_OK && access(path, F_OK) != 0)
		status = tt_db_fill_new(&out->fill, out->directory, page_size(out));
	if (status == TTNN_OK && out->fill && !out->as_tables && !out->as_views)
		status = tt_db_fill_new(&out->texts, out->directory, page_size(out));
	if (status == TTNN_OK)
		status = open_file(out);
	if (status == TTNN_OK)
		status = create_all(out);
	if (status != TTNN_OK)
		tt_report_db_deinit(out);
	return status;
}

/* ---- filling -------------------------------------------------------------------------------- */

static tt_status prepare(struct tt_report_db *db, enum tt_report_table table)
{
	const struct table *row = &tables[table];
	int width = row->width + !row->no_rank + has_storage_type(db, table) + has_size(db, table);
	struct tt_db_fill_table *fill = &db->fills[table];
	struct tt_str sql = {0};
	tt_status status;

	if (is_filled(db, table)) {
		*fill = fills[table];
		fill->name = row->name;
		fill->width = width;
		fill->index_count = db->as_tables ? 0 : fill->index_count;
		return tt_db_fill_stmt(&db->inserts[table], db->db,
				       table == TT_REPORT_CAPTURED_GRAPH ? db->texts : db->fill,
				       fill);
	}
	tt_str_addf(&sql, "%s INTO %s VALUES (?", row->insert, row->name);
	for (int i = 1; i < width; i++)
		tt_str_adds(&sql, ", ?");
	tt_str_addc(&sql, ')');
	status = tt_str_status(&sql);
	if (status == TTNN_OK)
		status = tt_db_prepare(&db->inserts[table], db->db, tt_str_text(&sql));
	tt_str_deinit(&sql);
	return status;
}

tt_status tt_report_insert(struct tt_db_stmt **out, struct tt_report_db *db,
			   enum tt_report_table table)
{
	if (!db->inserts[table])
		TT_TRY(prepare(db, table));
	*out = db->inserts[table];
	return TTNN_OK;
}

tt_status tt_report_insert_ints(struct tt_report_db *db, enum tt_report_table table,
				const int64_t *values, int count)
{
	struct tt_db_stmt *insert;

	TT_TRY(tt_report_insert(&insert, db, table));
	for (int i = 0; i < count; i++)
		tt_db_bind_int(insert, i, values[i]);
	return tt_db_run(insert);
}

size_t tt_report_db_text_room(const struct tt_report_db *db)
{
	uint64_t left = db->text_limit - db->text_bytes;

	return !db->texts ? 0 : (size_t)(left < TEXT_MAX ? left : TEXT_MAX);
}

void tt_report_db_text_drop(struct tt_report_db *db)
{
	tt_db_stmt_free(db->inserts[TT_REPORT_CAPTURED_GRAPH]);
	db->inserts[TT_REPORT_CAPTURED_GRAPH] = NULL;
	tt_db_fill_free(db->texts);
	db->texts = NULL;
	tt_log(TT_LOG_WARN,
	       "the graphs of the operations are too long for a table: captured_graph is a view, which ttnn-visualizer "
	       "does not see; --tables stores them");
}

tt_status tt_report_db_size(struct tt_report_db *db, const struct tt_report_sizing *sizing)
{
	struct tt_report_sizing *slot = TT_VEC_PUSH(&db->sizings);

	if (!slot)
		return tt_fail_nomem();
	*slot = *sizing;
	return TTNN_OK;
}

static void free_inserts(struct tt_report_db *db)
{
	for (int i = 0; i < TT_REPORT_TABLE_COUNT; i++) {
		tt_db_stmt_free(db->inserts[i]);
		db->inserts[i] = NULL;
	}
}

/* Of equal rows upstream keeps the first. There are some only where operation ids collide. */
static tt_status store_users(struct tt_report_db *db)
{
	static const enum tt_report_table which[] = {TT_REPORT_TENSOR_CONSUMERS,
						     TT_REPORT_TENSOR_PRODUCERS};
	struct tt_str sql = {0};
	tt_status status;

	for (int i = 0; i < 2; i++) {
		tt_str_addf(&sql, "DROP VIEW %s;", tables[which[i]].name);
		add_create(&sql, db, which[i]);
		tt_str_addf(
			&sql,
			"INSERT OR IGNORE INTO %s SELECT tensor_id, operation_id, %s_index, rank "
			"FROM %s_tensors ORDER BY rowid;",
			tables[which[i]].name, i ? "output" : "input", i ? "output" : "input");
	}
	status = tt_str_status(&sql);
	if (status == TTNN_OK)
		status = tt_db_exec(db->db, tt_str_text(&sql));
	tt_str_deinit(&sql);
	return status;
}

/* Sizes of tensors that buffers tell. Few tensors need that. */
static tt_status find_sizes(struct tt_report_db *db)
{
	static const char sql[] =
		"UPDATE tensors SET size = (SELECT min(s.max_size_per_bank) FROM buffer_ops o "
		"CROSS JOIN buffer_spans s WHERE o.seq = ?1 AND s.block = o.block "
		"AND o.seq BETWEEN s.first_seq AND s.last_seq "
		"AND s.device_id = ?2 AND s.address = ?3) WHERE tensor_id = ?4 AND rank = ?5 "
		"AND device_id = ?2 AND address = ?3 AND size IS NULL";
	struct tt_db_stmt *update;
	tt_status status = TTNN_OK;

	TT_TRY(tt_db_prepare(&update, db->db, sql));
	for (size_t i = 0; status == TTNN_OK && i < db->sizings.count; i++) {
		const struct tt_report_sizing *s = &db->sizings.data[i];

		tt_db_bind_int(update, 0, s->seq);
		tt_db_bind_int(update, 1, s->device);
		tt_db_bind_int(update, 2, s->address);
		tt_db_bind_int(update, 3, s->tensor);
		tt_db_bind_int(update, 4, s->rank);
		status = tt_db_run(update);
	}
	tt_db_stmt_free(update);
	return status;
}

static tt_status close_file(struct tt_report_db *db)
{
	struct tt_db *file = db->db;

	free_inserts(db);
	db->db = NULL;
	return tt_db_close(file);
}

/* Whether views have to become tables, in which ranks can be told apart. */
static bool wants_ranked(const struct tt_report_db *db)
{
	return db->ranked && !db->as_tables && !db->as_views && db->buffer_rows <= BUFFER_ROWS_MAX;
}

static tt_status store_ranked(struct tt_report_db *db)
{
	static const struct {
		enum tt_report_table table;
		int view;
	} which[] = {{TT_REPORT_BUFFERS, VIEW_BUFFERS},
		     {TT_REPORT_OPERATION_ARGUMENTS, VIEW_ARGUMENTS}};
	struct tt_str sql = {0};
	tt_status status;

	for (int i = 0; i < 2; i++) {
		const char *name = tables[which[i].table].name;

		tt_str_addf(&sql, "DROP VIEW %s;\n", name);
		add_create(&sql, db, which[i].table);
		tt_str_addf(&sql,
			    "INSERT INTO %s %s;\n"
			    "CREATE INDEX idx_%s_operation_id ON %s (operation_id);\n",
			    name, views[which[i].view].select, name, name);
	}
	status = tt_str_status(&sql);
	if (status == TTNN_OK)
		status = tt_db_exec(db->db, tt_str_text(&sql));
	tt_str_deinit(&sql);
	return status;
}

/* The place of the texts: the table that takes them, or the view. */
static tt_status create_captured(struct tt_report_db *db)
{
	struct tt_str sql = {0};
	tt_status status;

	if (db->texts) {
		add_create(&sql, db, TT_REPORT_CAPTURED_GRAPH);
		tt_str_adds(&sql,
			    "CREATE INDEX " CAPTURED_INDEX " ON captured_graph (operation_id);\n");
	} else {
		add_view(&sql, &views[VIEW_CAPTURED]);
	}
	status = tt_str_status(&sql);
	if (status == TTNN_OK)
		status = tt_db_exec(db->db, tt_str_text(&sql));
	tt_str_deinit(&sql);
	return status;
}

/* What is made of rows that are in the file. */
static tt_status complete(struct tt_report_db *db)
{
	if (db->as_tables)
		return TTNN_OK;
	if (db->collided)
		TT_TRY(store_users(db));
	if (wants_ranked(db))
		TT_TRY(store_ranked(db));
	else if (db->ranked)
		tt_log(TT_LOG_WARN,
		       "buffers and operation_arguments are views, of which ttnn-visualizer shows all ranks at once; "
		       "--tables stores them");
	if (db->sizings.count)
		TT_TRY(find_sizes(db));
	return db->fill ? TTNN_OK : tt_db_exec(db->db, indexes);
}

tt_status tt_report_db_finish(struct tt_report_db *db)
{
	TT_TRY(tt_db_flush(db->db));
	if (!db->as_tables)
		TT_TRY(create_captured(db));
	if (!db->fill) {
		TT_TRY(complete(db));
		return close_file(db);
	}
	TT_TRY(close_file(db));
	TT_TRY(tt_db_fill_finish(db->fill, db->path));
	if (db->texts)
		TT_TRY(tt_db_fill_finish(db->texts, db->path));
	if (db->as_tables || (!db->collided && !db->ranked && !db->sizings.count))
		return TTNN_OK;
	TT_TRY(open_file(db));
	TT_TRY(complete(db));
	return close_file(db);
}

void tt_report_db_deinit(struct tt_report_db *db)
{
	tt_db_give_up(db->db);
	free_inserts(db);
	tt_db_discard(db->db);
	db->db = NULL;
	tt_db_fill_free(db->fill);
	tt_db_fill_free(db->texts);
	db->fill = db->texts = NULL;
	TT_VEC_DEINIT(&db->sizings);
	tt_free(db->directory);
	tt_free(db->path);
	db->path = db->directory = NULL;
}
