#include "report/report_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "report/pytext.h"
#include "report/svg.h"
#include "trace/graph_report.h"
#include "trace/session.h"

/* Operation ids of the second and later files of a rank start this much higher each. */
#define STRIDE 10000

const char *const tt_report_device_columns[TT_REPORT_DEVICE_COLUMNS] = {
	"num_y_cores",
	"num_x_cores",
	"num_y_compute_cores",
	"num_x_compute_cores",
	"worker_l1_size",
	"l1_num_banks",
	"l1_bank_size",
	"address_at_first_l1_bank",
	"address_at_first_l1_cb_buffer",
	"num_banks_per_storage_core",
	"num_compute_cores",
	"num_storage_cores",
	"total_l1_memory",
	"total_l1_for_tensors",
	"total_l1_for_interleaved_buffers",
	"total_l1_for_sharded_buffers",
	"cb_limit",
};

/* A value of JSON as SQLite takes it. */
static void bind_json(struct tt_db_stmt *insert, int at, const struct tt_json *value)
{
	int64_t whole;
	double real;
	size_t length;
	const char *text = tt_json_string(value, &length);
	bool flag;

	if (text)
		tt_db_bind_text(insert, at, text, length);
	else if (tt_json_bool(&flag, value))
		tt_db_bind_int(insert, at, flag);
	else if (tt_json_kind(value) == TT_JSON_INT && tt_json_int(&whole, value))
		tt_db_bind_int(insert, at, whole);
	else if (tt_json_real(&real, value))
		tt_db_bind_real(insert, at, real);
	else
		tt_db_bind_null(insert, at);
}

/* ---- devices -------------------------------------------------------------------------------- */

static int64_t field(const struct tt_json *object, const char *key)
{
	int64_t value = 0;

	tt_py_int(&value, tt_json_get(object, key));
	return value;
}

static int by_raw(const void *a, const void *b)
{
	const struct tt_report_device *left = a, *right = b;

	return (left->raw > right->raw) - (left->raw < right->raw);
}

/* Ids in their order become 0, 1, ...; of two devices with one id the last has the say on banks. */
static tt_status find_devices(struct tt_report_devices *devices, const struct tt_json *list)
{
	struct tt_json_iter it = tt_json_iter(list);
	size_t unique = 0;

	devices->rows.count = 0;
	while (tt_json_next(&it)) {
		struct tt_report_device *device = NULL;
		int64_t raw = field(it.value, "device_id");

		for (size_t i = 0; i < devices->rows.count; i++)
			if (devices->rows.data[i].raw == raw)
				device = &devices->rows.data[i];
		if (!device)
			device = TT_VEC_PUSH(&devices->rows);
		if (!device)
			return tt_fail_nomem();
		*device = (struct tt_report_device){raw, field(it.value, "num_dram_channels"),
						    field(it.value, "l1_num_banks")};
		unique++;
	}
	if (unique)
		qsort(devices->rows.data, devices->rows.count, sizeof(*devices->rows.data), by_raw);
	return TTNN_OK;
}

/* The files of one rank tell of the same devices again; upstream counts them each time. */
static tt_status count_devices(const struct tt_report_file_args *args)
{
	struct tt_report_import *import = args->import;

	for (size_t i = 0; i < import->devices.rows.count; i++) {
		int64_t key[2] = {import->rank, (int64_t)i};
		bool added;

		if (!tt_map_add(args->devices, key, sizeof(key), &added))
			return tt_fail_nomem();
		import->counts.devices += added || import->options->strict;
	}
	return TTNN_OK;
}

static tt_status write_devices(struct tt_report_import *import, const struct tt_json *list)
{
	struct tt_json_iter it = tt_json_iter(list);
	struct tt_db_stmt *insert;
	int columns = TT_REPORT_DEVICE_COLUMNS;

	TT_TRY(tt_report_insert(&insert, &import->db, TT_REPORT_DEVICES));
	while (tt_json_next(&it)) {
		int64_t raw = field(it.value, "device_id");

		tt_db_bind_int(insert, 0, tt_report_devices_map(&import->devices, raw));
		for (int i = 0; i < columns; i++) {
			const struct tt_json *value =
				tt_json_get(it.value, tt_report_device_columns[i]);

			if (value)
				bind_json(insert, 1 + i, value);
			else
				tt_db_bind_int(insert, 1 + i, 0);
		}
		tt_db_bind_int(insert, 1 + columns, import->rank);
		TT_TRY(tt_db_run(insert));
	}
	return TTNN_OK;
}

/* Null counts as absent unless upstream's way is wanted; anything else is no list. */
static bool must_be_array(const struct tt_report_import *import, enum tt_json_kind kind)
{
	return kind != TT_JSON_ARRAY && kind != TT_JSON_ABSENT &&
	       (kind != TT_JSON_NULL || import->options->strict);
}

static tt_status import_devices(const struct tt_report_file_args *args)
{
	struct tt_report_import *import = args->import;
	struct tt_json_parser parser = {0};
	const struct tt_json *list;
	tt_status status;

	if (import->source->told) {
		TT_TRY(tt_report_told_devices(import));
		return count_devices(args);
	}
	status = import->source->read(&list, import->source, TT_GRAPH_PART_DEVICES, &parser);
	if (status == TTNN_OK && list && must_be_array(import, tt_json_kind(list)))
		status = tt_fail(TTNN_FORMAT, "%s: \"devices\" must be an array, not %s",
				 import->path, tt_json_kind_name(list));
	if (status == TTNN_OK)
		status = find_devices(&import->devices, list);
	if (status == TTNN_OK)
		status = write_devices(import, list);
	if (status == TTNN_OK)
		status = count_devices(args);
	tt_json_parser_deinit(&parser);
	return status;
}

/* ---- comparisons ---------------------------------------------------------------------------- */

static tt_status compared_tensors(struct tt_report_import *import, const struct tt_json *list)
{
	struct tt_json_iter it = tt_json_iter(list);
	struct tt_report_maybe size = {0};
	struct tt_report_tensor row;
	bool good = true;
	int64_t id;

	import->tensors.devices = NULL; /* these ids are not mapped */
	while (tt_json_next(&it)) {
		if (!tt_py_int(&id, tt_json_get(it.value, "tensor_id")))
			return tt_fail(TTNN_FORMAT, "%s: a compared tensor without a tensor_id",
				       import->path);
		TT_TRY(tt_report_tensor_row(&row, &good, &import->tensors, id, it.value));
		if (!import->db.version->storage_type) { /* no defaults then */
			row.type.set =
				tt_json_get(it.value, "buffer_type") &&
				tt_json_kind(tt_json_get(it.value, "buffer_type")) != TT_JSON_NULL;
			if (!tt_json_get(it.value, "shape"))
				row.texts[TT_TENSOR_SHAPE] = 0;
		}
		import->counts.tensors++;
		TT_TRY(tt_report_tensor_insert(&import->tensors, &row, &size));
	}
	return TTNN_OK;
}

static tt_status compared_rows(const struct tt_report_file_args *args, const struct tt_json *list,
			       enum tt_report_table table)
{
	struct tt_report_import *import = args->import;
	struct tt_json_iter it = tt_json_iter(list);
	struct tt_db_stmt *insert;

	TT_TRY(tt_report_insert(&insert, &import->db, table));
	while (tt_json_next(&it)) {
		const struct tt_json *rank = tt_json_get(it.value, "rank");
		int64_t key[3] = {table, 0, import->rank}, golden;
		double desired = 0, actual = 0;
		bool added;

		if (!tt_py_int(&key[1], tt_json_get(it.value, "tensor_id")) ||
		    !tt_py_int(&golden, tt_json_get(it.value, "golden_tensor_id")) ||
		    !tt_json_real(&desired, tt_json_get(it.value, "desired_pcc")) ||
		    !tt_json_real(&actual, tt_json_get(it.value, "actual_pcc")) ||
		    (rank && !tt_py_int(&key[2], rank)))
			return tt_fail(TTNN_FORMAT, "%s: a comparison record is incomplete",
				       import->path);
		if (!tt_map_add(args->compared, key, sizeof(key), &added))
			return tt_fail_nomem();
		if (!added && !import->options->strict)
			continue; /* the records of a folder are met with each of its reports */
		tt_db_bind_int(insert, 0, key[1]);
		tt_db_bind_int(insert, 1, golden);
		tt_db_bind_int(insert, 2, tt_py_true(tt_json_get(it.value, "matches")));
		tt_db_bind_real(insert, 3, desired);
		tt_db_bind_real(insert, 4, actual);
		tt_db_bind_int(insert, 5, key[2]);
		TT_TRY(tt_db_run(insert));
		import->counts.comparisons++;
	}
	return TTNN_OK;
}

static tt_status import_comparisons(const struct tt_report_file_args *args)
{
	struct tt_report_import *import = args->import;
	struct tt_json_parser parser = {0};
	const struct tt_json *all;
	tt_status status;

	status = import->source->read(&all, import->source, TT_GRAPH_PART_COMPARISONS, &parser);
	if (status == TTNN_OK)
		status = compared_tensors(import, tt_json_get(all, "tensors"));
	if (status == TTNN_OK)
		status = compared_rows(args, tt_json_get(all, "local_tensor_comparison_records"),
				       TT_REPORT_LOCAL_COMPARISONS);
	if (status == TTNN_OK)
		status = compared_rows(args, tt_json_get(all, "global_tensor_comparison_records"),
				       TT_REPORT_GLOBAL_COMPARISONS);
	tt_json_parser_deinit(&parser);
	return status;
}

/* ---- metadata, files beside ----------------------------------------------------------------- */

tt_status tt_report_metadata_row(struct tt_report_import *import, const char *key,
				 const char *value, size_t length)
{
	struct tt_db_stmt *insert;

	TT_TRY(tt_report_insert(&insert, &import->db, TT_REPORT_REPORT_METADATA));
	tt_db_bind_text(insert, 0, key, strlen(key));
	tt_db_bind_text(insert, 1, value, length);
	return tt_db_run(insert);
}

static tt_status import_metadata(const struct tt_report_file_args *args,
				 const struct tt_json *metadata)
{
	struct tt_report_import *import = args->import;
	struct tt_json_iter it = tt_json_iter(metadata);

	if (import->source->told)
		TT_TRY(tt_report_told_metadata(import));
	while (it.object && tt_json_next(&it)) {
		tt_str_clear(&import->scratch);
		tt_py_str(&import->scratch, it.value);
		TT_TRY(tt_str_status(&import->scratch));
		TT_TRY(tt_report_metadata_row(import, it.key, tt_str_text(&import->scratch),
					      import->scratch.length));
	}
	if (!tt_json_get(metadata, "git_url"))
		TT_TRY(tt_report_metadata_row(import, "git_url", tt_str_text(&args->git->url),
					      args->git->url.length));
	if (!tt_json_get(metadata, "git_sha"))
		TT_TRY(tt_report_metadata_row(import, "git_sha", tt_str_text(&args->git->sha),
					      args->git->sha.length));
	return TTNN_OK;
}

struct yaml {
	const char *name; /* without its ending */
	int64_t world;
	const char *text;
	size_t length;
};

static tt_status add_side(struct tt_report_sides *sides, struct tt_file_out *file)
{
	struct tt_file_out **kept = TT_VEC_PUSH(&sides->files);

	if (!kept) {
		tt_file_discard(file);
		return tt_fail_nomem();
	}
	*kept = file;
	return TTNN_OK;
}

/* A text of the report as a file of its own, unless there is one. */
static tt_status save_yaml(const struct tt_report_file_args *args, bool *written,
			   const struct yaml *yaml)
{
	struct tt_report_import *import = args->import;
	struct tt_file_out *file = NULL;
	struct tt_str path = {0};
	tt_status status = TTNN_OK;
	bool added = false;

	tt_str_addf(&path, "%s/%s", import->options->output, yaml->name);
	if (yaml->world > 1)
		tt_str_addf(&path, "_%" PRId64 "_of_%" PRId64, import->rank + 1, yaml->world);
	tt_str_adds(&path, ".yaml");
	if (path.failed || !tt_map_add(&args->sides->paths, path.data, path.length, &added))
		status = tt_fail_nomem();
	else if (added && access(path.data, F_OK) != 0)
		status = tt_file_create(&file, path.data);
	if (status == TTNN_OK && file) {
		tt_file_write(file, yaml->text, yaml->length);
		*written = true;
		status = add_side(args->sides, file);
	}
	tt_str_deinit(&path);
	return status;
}

static tt_status import_yaml(const struct tt_report_file_args *args, bool *written,
			     enum tt_graph_part part, struct yaml yaml)
{
	struct tt_report_source *source = args->import->source;
	struct tt_json_parser parser = {0};
	const struct tt_json *value;
	tt_status status = source->read(&value, source, part, &parser);

	if (status == TTNN_OK && source->told && part == TT_GRAPH_PART_CLUSTER) {
		yaml.text = tt_str_text(&source->told->cluster);
		yaml.length = source->told->cluster.length;
	} else if (status == TTNN_OK) {
		yaml.text = tt_json_string(value, &yaml.length);
	}
	if (yaml.text && yaml.length)
		status = save_yaml(args, written, &yaml);
	tt_json_parser_deinit(&parser);
	return status;
}

/* ---- the graph ------------------------------------------------------------------------------ */

static tt_status import_lifetimes(const struct tt_report_file_args *args)
{
	struct tt_report_import *import = args->import;
	const char *slash = strrchr(import->path, '/'), *stem = slash ? slash + 1 : import->path;
	size_t length = tt_length_without(stem, strlen(stem), ".gz");
	struct tt_file_out *file = NULL;
	struct tt_str path = {0};
	const char *dot;
	tt_status status;

	dot = memrchr(stem, '.', length);
	if (dot && dot > stem)
		length = (size_t)(dot - stem);
	tt_str_addf(&path, "%s/%.*s.tensor_lifetime.json", import->options->output, (int)length,
		    stem);
	status = tt_str_status(&path);
	if (status == TTNN_OK)
		status = tt_report_lifetimes(&import->tensors, &file, &import->counts.lifetimes,
					     tt_str_text(&path));
	tt_str_deinit(&path);
	if (file && status != TTNN_OK)
		tt_file_discard(file);
	else if (file)
		status = add_side(args->sides, file);
	return status;
}

/* Buffers on devices that the report does not describe. */
static void warn_devices(const struct tt_report_import *import)
{
	struct tt_str known = {0};
	size_t at = 0, count = import->devices.rows.count;
	int64_t id;

	for (size_t i = 0; i < count; i++)
		tt_str_addf(&known, "%s%zu", i ? ", " : "", i);
	while (count && tt_idset_next(&id, &at, &import->buffers.devices))
		if (id < 0 || (uint64_t)id >= count)
			tt_log(TT_LOG_WARN,
			       "[graph import] buffers references device_id=%" PRId64
			       " which does not exist in devices table. Known devices: [%s]",
			       id, tt_str_text(&known));
	tt_str_deinit(&known);
}

/* A graph that is no list: absent, or a mistake. */
static tt_status check_graph(struct tt_report_import *import)
{
	struct tt_json_parser parser = {0};
	const struct tt_json *graph;
	tt_status status;

	/* One that may be large is not read to be refused. */
	if (import->source->kind(import->source, TT_GRAPH_PART_GRAPH) == TT_JSON_OBJECT)
		return tt_fail(TTNN_FORMAT, "%s: \"graph\" must be an array, not an object",
			       import->path);
	status = import->source->read(&graph, import->source, TT_GRAPH_PART_GRAPH, &parser);
	if (status == TTNN_OK && graph && must_be_array(import, tt_json_kind(graph)))
		status = tt_fail(TTNN_FORMAT, "%s: \"graph\" must be an array, not %s",
				 import->path, tt_json_kind_name(graph));
	tt_json_parser_deinit(&parser);
	return status;
}

static tt_status import_graph(const struct tt_report_file_args *args)
{
	struct tt_report_import *import = args->import;
	struct tt_report_source *source = import->source;
	enum tt_json_kind kind = source->kind(source, TT_GRAPH_PART_GRAPH);
	struct tt_report_tensor_counts counts = {0};

	if (import->options->svg)
		tt_report_picture_begin(&import->picture, source, import->path,
					import->options->dialect);
	if (kind != TT_JSON_ARRAY)
		return check_graph(import);
	TT_TRY(tt_report_records_read(&import->records, source));
	TT_TRY(tt_report_walk(import));
	TT_TRY(tt_report_tensors_finish(&import->tensors, &counts, &import->graph));
	import->counts.tensors += counts.tensors;
	import->counts.places += counts.places;
	import->counts.consumers += counts.inputs;
	import->counts.producers += counts.outputs;
	if (import->records.has_traces)
		TT_TRY(import_lifetimes(args));
	warn_devices(import);
	return TTNN_OK;
}

static tt_status import_pages(struct tt_report_import *import)
{
	struct tt_report_source *source = import->source;
	struct tt_report_pages *pages = &import->pages;

	if (source->told)
		return tt_report_told_pages(import);
	if (import->buffers.lists.count &&
	    source->kind(source, TT_GRAPH_PART_PAGES_BY_ADDRESS) == TT_JSON_OBJECT) {
		TT_TRY(tt_report_pages_read(pages, source));
		if (pages->snapshots.count)
			return tt_report_pages_write(pages, &import->buffers);
	}
	if (source->kind(source, TT_GRAPH_PART_PAGES) != TT_JSON_ARRAY)
		return TTNN_OK;
	return tt_report_pages_flat(pages, source, import->base + (import->number > 1));
}

/* ---- the file ------------------------------------------------------------------------------- */

static void reset(struct tt_report_import *import)
{
	tt_report_walk_reset(import);
	tt_report_records_reset(&import->records);
	tt_report_buffers_reset(&import->buffers);
	tt_report_pages_reset(&import->pages);
	tt_report_tensors_reset(&import->tensors);
	import->buffers.db = import->pages.db = import->tensors.db = import->traces.db =
		&import->db;
	import->captured.devices = import->tensors.devices = &import->devices;
	import->devices.names = !import->options->strict;
	import->captured.compact.db = &import->db;
	import->pages.map = tt_report_devices_map;
	import->pages.context = &import->devices;
	import->buffers.rank = import->pages.rank = import->tensors.rank = import->rank;
	import->tensors.base = import->base;
	import->tensors.buffers = &import->buffers;
	import->tensors.strict = import->buffers.strict = import->options->strict;
}

static tt_status import_parts(const struct tt_report_file_args *args,
			      const struct tt_json *metadata)
{
	struct tt_report_import *import = args->import;
	int64_t world = 1;

	tt_py_int(&world, tt_json_get(metadata, "world_size"));
	reset(import);
	TT_TRY(import_devices(args));
	TT_TRY(import->source->told
		       ? tt_report_told_buffers(import)
		       : tt_report_buffers_read(&import->buffers, import->source,
						tt_report_devices_map, &import->devices));
	TT_TRY(import_graph(args));
	TT_TRY(import_comparisons(args));
	import->tensors.devices = &import->devices;
	TT_TRY(import_metadata(args, metadata));
	TT_TRY(import_yaml(args, &import->counts.cluster, TT_GRAPH_PART_CLUSTER,
			   (struct yaml){"cluster_descriptor", world, NULL, 0}));
	TT_TRY(import_yaml(args, &import->counts.mesh, TT_GRAPH_PART_MESH,
			   (struct yaml){"physical_chip_mesh_coordinate_mapping", world, NULL, 0}));
	TT_TRY(import_pages(import));
	import->counts.files++;
	import->crowded |= import->number - 1 >= STRIDE;
	return TTNN_OK;
}

/* The rank; where upstream refuses, 0 and a warning unless strict. */
static tt_status find_rank(struct tt_report_import *import, const struct tt_json *metadata)
{
	const struct tt_json *rank = tt_json_get(metadata, "rank");
	bool none = !rank || tt_json_kind(rank) == TT_JSON_NULL;

	import->rank = 0;
	if (import->source->told)
		return TTNN_OK;
	if (tt_json_kind(metadata) != TT_JSON_OBJECT && import->options->strict)
		return tt_fail(TTNN_FORMAT, "Graph report missing metadata object: %s",
			       import->path);
	if (none && import->options->strict)
		return tt_fail(TTNN_FORMAT, "Graph report metadata missing required field rank: %s",
			       import->path);
	if (none) {
		tt_log(TT_LOG_INFO, "%s: no rank in its metadata; taken as rank 0", import->path);
		return TTNN_OK;
	}
	if (!tt_py_int(&import->rank, rank))
		return tt_fail(TTNN_FORMAT, "%s: the rank in its metadata is no number",
			       import->path);
	return TTNN_OK;
}

/* What is wrong with the version: a warning where upstream or a folder leaves such files out. */
static tt_status refuse_version(const struct tt_report_file_args *args,
				const struct tt_json *version)
{
	struct tt_report_import *import = args->import;
	struct tt_str text = {0};
	tt_status status = TTNN_OK;

	tt_str_addf(&text, "%s has version ", import->path);
	if (version)
		tt_py_str(&text, version);
	else
		tt_str_addc(&text, '0');
	tt_str_adds(&text, ", expected 1");
	if (import->options->strict)
		tt_log(TT_LOG_WARN, "%s", tt_str_text(&text));
	else if (args->in_folder)
		status = tt_report_leave(args->lefts, import->path, tt_str_text(&text), false);
	else if (version)
		status = tt_fail(TTNN_FORMAT, "%s", tt_str_text(&text));
	else
		status = tt_fail(TTNN_FORMAT, "%s has no version: it is not a graph report",
				 import->path);
	tt_str_deinit(&text);
	return status;
}

/* Whether this is a report of version 1. */
static tt_status check_version(bool *good, const struct tt_report_file_args *args)
{
	struct tt_report_source *source = args->import->source;
	struct tt_json_parser parser = {0};
	const struct tt_json *version;
	double number = 0;
	bool flag = false;
	tt_status status;

	*good = true;
	if (source->told)
		return TTNN_OK;
	status = source->read(&version, source, TT_GRAPH_PART_VERSION, &parser);
	*good = status == TTNN_OK && ((tt_json_real(&number, version) && number == 1) ||
				      (tt_json_bool(&flag, version) && flag));
	if (status == TTNN_OK && !*good)
		status = refuse_version(args, version);
	tt_json_parser_deinit(&parser);
	return status;
}

static tt_status import_source(const struct tt_report_file_args *args)
{
	struct tt_report_import *import = args->import;
	struct tt_json_parser parser = {0};
	const struct tt_json *metadata = NULL;
	struct tt_map_entry *files;
	bool good = false;
	tt_status status;

	status = import->source->read(&metadata, import->source, TT_GRAPH_PART_METADATA, &parser);
	if (status == TTNN_OK)
		status = find_rank(import, metadata);
	if (status == TTNN_OK)
		status = check_version(&good, args);
	if (status == TTNN_OK && good) {
		files = tt_map_add(args->ranks, &import->rank, sizeof(import->rank), NULL);
		if (files) {
			import->base = (int64_t)files->number++ * STRIDE;
			import->db.collided |= import->base && import->crowded;
			import->db.ranked |= import->rank != 0;
			status = import_parts(args, metadata);
		} else {
			status = tt_fail_nomem();
		}
	}
	tt_json_parser_deinit(&parser);
	return status;
}

/* Whether a JSON object looks like a report at all. */
static bool is_report(struct tt_report_source *source)
{
	return source->kind(source, TT_GRAPH_PART_VERSION) != TT_JSON_ABSENT ||
	       source->kind(source, TT_GRAPH_PART_GRAPH) != TT_JSON_ABSENT;
}

static tt_status open_source(struct tt_report_import *import, bool in_folder)
{
	const struct tt_report_options *options = import->options;

	if (tt_is_trace(import->path))
		return tt_report_source_trace(
			&import->source, import->path,
			&(struct tt_report_trace_options){.dialect = options->dialect,
							  .pages = options->pages,
							  .skip_empty = in_folder});
	return tt_report_source_json(
		&import->source, import->path,
		&(struct tt_report_json_options){.value_limit = options->value_limit
									? options->value_limit
									: TT_REPORT_VALUE_LIMIT,
						 .strict = options->strict});
}

/* A picture that cannot be drawn costs nobody the database. */
static void draw(struct tt_report_import *import)
{
	struct tt_graph graph;
	tt_status status = tt_report_picture_take(&graph, &import->picture, import->source);

	if (status == TTNN_OK)
		status = tt_svg_report(&import->counts.pictures, import->drawn, import->path,
				       &graph);
	tt_graph_deinit(&graph);
	if (status != TTNN_OK)
		tt_log(TT_LOG_WARN, "%s: no picture: %s", import->path, ttnn_error());
}

/* Whether another file may do where this one does not: it is the content that is wrong. */
static bool is_own(tt_status status, bool opened)
{
	return status == TTNN_FORMAT || status == TTNN_INVALID || status == TTNN_UNSUPPORTED ||
	       (!opened && (status == TTNN_IO || status == TTNN_NOTFOUND));
}

static tt_status import_opened(const struct tt_report_file_args *args)
{
	struct tt_report_import *import = args->import;
	bool kind = args->in_folder && !import->options->strict;

	if (!import->source && args->in_folder && tt_is_trace(import->path)) {
		tt_log(TT_LOG_INFO, "%s: nothing was called; left out", import->path);
		return TTNN_OK;
	}
	if (kind && (!import->source || !is_report(import->source))) {
		tt_str_clear(&import->scratch);
		tt_str_addf(&import->scratch, "%s: not a graph report; left out", import->path);
		return tt_report_leave(args->lefts, import->path, tt_str_text(&import->scratch),
				       false);
	}
	if (!import->source)
		return tt_fail(TTNN_FORMAT, "Graph report must be a JSON object: %s", import->path);
	return import_source(args);
}

tt_status tt_report_file(bool *own, const struct tt_report_file_args *args, const char *path)
{
	struct tt_report_import *import = args->import;
	tt_status status;
	struct stat info;

	import->path = path;
	import->size = stat(path, &info) == 0 ? (size_t)info.st_size : 0;
	import->begun_ns = tt_clock_ns();
	status = open_source(import, args->in_folder);
	*own = is_own(status, false);
	if (status != TTNN_OK)
		return status;
	status = import_opened(args);
	*own = is_own(status, true);
	tt_report_graph_deinit(&import->graph); /* after failures its threads still read */
	if (status == TTNN_OK && import->picture.wanted)
		draw(import);
	tt_report_picture_deinit(&import->picture);
	if (import->source)
		import->source->free(import->source);
	import->source = NULL;
	return status;
}
