/*
 * bundle.c. The archive, whose files are YAML for Superset; as JSON is YAML, they are written as such:
 *
 *	ttnn_sweeps/metadata.yaml             that it is a dashboard
 *	ttnn_sweeps/databases/sweeps.yaml     the address
 *	ttnn_sweeps/datasets/sweeps/NAME.yaml    a view each, with its columns
 *	ttnn_sweeps/charts/NAME.yaml             a chart each: which dataset, what is asked for, how it is drawn
 *	ttnn_sweeps/dashboards/sweeps.yaml    where charts stand
 *
 * They refer to each other by UUIDs, which are made of names, so that a bundle that is imported again replaces the first.
 */
#include "sweep/bundle.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/zip.h"
#include "db/db.h"

#define ROOT "ttnn_sweeps/"

/* ---- what is shown ------------------------------------------------------------------------------------------------ */

/* A column: its type is TEXT, BIGINT or DOUBLE PRECISION. */
struct column {
	const char *name, *type;
};

/* Views of views.c, with the columns that charts may use. To add one: a row. */
struct dataset {
	const char *name;
	struct column columns[20];
};

/* clang-format off */
#define VECTOR_COLUMNS \
	{"run", "TEXT"}, {"started", "TEXT"}, {"vector", "TEXT"}, {"operation", "TEXT"}, {"model", "TEXT"}, \
	{"suite", "TEXT"}, {"status", "TEXT"}, {"how", "TEXT"}, {"passed", "BIGINT"}, {"failed", "BIGINT"}, \
	{"cached", "BIGINT"}, {"pcc", "DOUBLE PRECISION"}, {"bound", "DOUBLE PRECISION"}, {"pcc_range", "TEXT"}, \
	{"e2e_ms", "DOUBLE PRECISION"}, {"duration_range", "TEXT"}, {"message", "TEXT"}, {"exception", "TEXT"}

static const struct dataset datasets[] = {
	{"sweep_vectors", {VECTOR_COLUMNS}},
	{"sweep_failures", {VECTOR_COLUMNS}},
	{"sweep_runs",
	 {{"run", "TEXT"}, {"started", "TEXT"}, {"ended", "TEXT"}, {"run_status", "TEXT"}, {"contents", "TEXT"},
	  {"host", "TEXT"}, {"git_sha", "TEXT"}, {"build", "TEXT"}, {"vectors", "BIGINT"}, {"passed", "BIGINT"},
	  {"failed", "BIGINT"}, {"not_run", "BIGINT"}, {"pass_rate", "DOUBLE PRECISION"}}},
	{"sweep_operations",
	 {{"run", "TEXT"}, {"started", "TEXT"}, {"operation", "TEXT"}, {"vectors", "BIGINT"}, {"passed", "BIGINT"},
	  {"failed", "BIGINT"}, {"least_pcc", "DOUBLE PRECISION"}, {"mean_ms", "DOUBLE PRECISION"},
	  {"most_ms", "DOUBLE PRECISION"}}},
};
/* clang-format on */

/* A chart: a bar for each value of a column, or a table of rows. To add one: a row; the dashboard has it, too. */
struct chart {
	const char *name, *dataset;
	const char *by;     /* the column of the bars; NULL: a table */
	const char *metric; /* SQL; of a table: what it is sorted by, the greatest first */
	const char *label;
	const char *columns[8]; /* of a table */
	bool by_name;           /* bars in the order of their names; else the longest first */
	const char *help;
};

static const struct chart charts[] = {
	{.name = "Pass rate over runs",
	 .dataset = "sweep_runs",
	 .by = "started",
	 .metric = "max(pass_rate)",
	 .label = "passed, %",
	 .by_name = true,
	 .help = "Of the vectors of each run, how many of a hundred passed."},
	{.name = "Failures by operation",
	 .dataset = "sweep_failures",
	 .by = "operation",
	 .metric = "count(*)",
	 .label = "failures",
	 .help = "Vectors that failed, in all runs."},
	{.name = "Failures by model",
	 .dataset = "sweep_failures",
	 .by = "model",
	 .metric = "count(*)",
	 .label = "failures",
	 .help = "Vectors that failed, by the model they were traced from."},
	{.name = "PCC distribution",
	 .dataset = "sweep_vectors",
	 .by = "pcc_range",
	 .metric = "count(*)",
	 .label = "vectors",
	 .by_name = true,
	 .help = "Correlation with the golden."},
	{.name = "Durations",
	 .dataset = "sweep_vectors",
	 .by = "duration_range",
	 .metric = "count(*)",
	 .label = "vectors",
	 .by_name = true,
	 .help = "How long the calls took."},
	{.name = "Slowest vectors",
	 .dataset = "sweep_vectors",
	 .metric = "e2e_ms",
	 .columns = {"operation", "e2e_ms", "pcc", "status", "model", "run", "vector"},
	 .help = "The fifty calls that took longest."},
};

#define DATASETS (sizeof(datasets) / sizeof(*datasets))
#define CHARTS (sizeof(charts) / sizeof(*charts))
#define ROWS 1000 /* of a chart at most */
#define TABLE_ROWS 50

/* ---- writing -------------------------------------------------------------------------------------------------------- */

#define UUID_TEXT 37

/* One and the same for a name, in the form of version 8: made in a way of our own. */
static tt_status uuid(char out[UUID_TEXT], const char *kind, const char *name)
{
	char seed[256], digest[TT_DIGEST_TEXT];

	snprintf(seed, sizeof(seed), "ttnn sweep %s %s", kind, name);
	TT_TRY(tt_digest_text(digest, TT_SHA256, seed, strlen(seed)));
	snprintf(out, UUID_TEXT, "%.8s-%.4s-8%.3s-8%.3s-%.12s", digest, digest + 8, digest + 12,
		 digest + 15, digest + 18);
	return TTNN_OK;
}

static void key_bool(struct tt_jsonw *w, const char *key, bool value)
{
	tt_jsonw_key(w, key);
	tt_jsonw_bool(w, value);
}

static void key_uuid(struct tt_jsonw *w, const char *key, const char *kind, const char *name)
{
	char text[UUID_TEXT] = "";

	/* A system that refuses SHA-256 leaves an empty one, which Superset refuses in its turn. */
	(void)uuid(text, kind, name);
	tt_jsonw_key_string(w, key, text);
}

/* A file of the archive: begin, write, end. */
struct member {
	struct tt_str text;
	struct tt_jsonw w;
};

static struct tt_jsonw *member_begin(struct member *member)
{
	*member = (struct member){0};
	tt_jsonw_init_str(&member->w, &member->text, (struct tt_jsonw_style){.indent = 2});
	tt_jsonw_object(&member->w);
	return &member->w;
}

static tt_status member_end(struct tt_zip *zip, struct member *member, const char *name)
{
	tt_status status;

	tt_jsonw_end(&member->w);
	status = tt_jsonw_finish(&member->w);
	tt_str_addc(&member->text, '\n');
	if (status == TTNN_OK)
		status = tt_str_status(&member->text);
	if (status == TTNN_OK)
		tt_zip_add(zip, name, tt_str_text(&member->text), member->text.length);
	tt_str_deinit(&member->text);
	return status;
}

static tt_status add_metadata(struct tt_zip *zip)
{
	struct member member;
	struct tt_jsonw *w = member_begin(&member);

	tt_jsonw_key_string(w, "version", "1.0.0");
	tt_jsonw_key_string(w, "type", "Dashboard");
	tt_jsonw_key_string(w, "timestamp", "2026-01-01T00:00:00+00:00");
	return member_end(zip, &member, ROOT "metadata.yaml");
}

/* SQLAlchemy's address. */
static tt_status address(struct tt_str *out, const char *database)
{
	char room[PATH_MAX];
	const char *absolute;

	if (strstr(database, "://")) {
		/* "postgres://" is libpq's other name for it. */
		tt_str_addf(out, "postgresql%s", strstr(database, "://"));
		return tt_str_status(out);
	}
	absolute = realpath(database, room);
	tt_str_addf(out, "sqlite:///%s", absolute ? absolute : database);
	return tt_str_status(out);
}

static tt_status add_database(struct tt_zip *zip, const char *database)
{
	struct tt_str uri = {0};
	struct member member;
	struct tt_jsonw *w;
	tt_status status = address(&uri, database);

	if (status == TTNN_OK) {
		w = member_begin(&member);
		tt_jsonw_key_string(w, "database_name", "ttnn sweeps");
		tt_jsonw_key_string(w, "sqlalchemy_uri", tt_str_text(&uri));
		key_bool(w, "expose_in_sqllab", true);
		key_bool(w, "allow_run_async", false);
		key_bool(w, "allow_ctas", false);
		key_bool(w, "allow_cvas", false);
		key_bool(w, "allow_dml", false);
		key_bool(w, "allow_csv_upload", false);
		tt_jsonw_key(w, "extra");
		tt_jsonw_object(w);
		tt_jsonw_end(w);
		key_uuid(w, "uuid", "database", "sweeps");
		tt_jsonw_key_string(w, "version", "1.0.0");
		status = member_end(zip, &member, ROOT "databases/sweeps.yaml");
	}
	tt_str_deinit(&uri);
	return status;
}

static tt_status add_dataset(struct tt_zip *zip, const struct dataset *dataset)
{
	struct member member;
	struct tt_jsonw *w = member_begin(&member);
	char name[128];

	tt_jsonw_key_string(w, "table_name", dataset->name);
	key_uuid(w, "uuid", "dataset", dataset->name);
	key_uuid(w, "database_uuid", "database", "sweeps");
	tt_jsonw_key_string(w, "version", "1.0.0");
	key_bool(w, "filter_select_enabled", true);
	tt_jsonw_key(w, "columns");
	tt_jsonw_array(w);
	for (const struct column *column = dataset->columns; column->name; column++) {
		tt_jsonw_object(w);
		tt_jsonw_key_string(w, "column_name", column->name);
		tt_jsonw_key_string(w, "type", column->type);
		key_bool(w, "is_dttm", false);
		key_bool(w, "is_active", true);
		key_bool(w, "groupby", true);
		key_bool(w, "filterable", true);
		tt_jsonw_end(w);
	}
	tt_jsonw_end(w);
	tt_jsonw_key(w, "metrics");
	tt_jsonw_array(w);
	tt_jsonw_object(w);
	tt_jsonw_key_string(w, "metric_name", "count");
	tt_jsonw_key_string(w, "expression", "count(*)");
	tt_jsonw_end(w);
	tt_jsonw_end(w);
	snprintf(name, sizeof(name), ROOT "datasets/sweeps/%s.yaml", dataset->name);
	return member_end(zip, &member, name);
}

/* ---- charts --------------------------------------------------------------------------------------------------------- */

static void metric(struct tt_jsonw *w, const struct chart *chart)
{
	tt_jsonw_object(w);
	tt_jsonw_key_string(w, "expressionType", "SQL");
	tt_jsonw_key_string(w, "sqlExpression", chart->metric);
	tt_jsonw_key_string(w, "label", chart->label);
	key_bool(w, "hasCustomLabel", true);
	tt_jsonw_end(w);
}

static void metrics(struct tt_jsonw *w, const struct chart *chart)
{
	tt_jsonw_key(w, "metrics");
	tt_jsonw_array(w);
	if (chart->by)
		metric(w, chart);
	tt_jsonw_end(w);
}

static void texts(struct tt_jsonw *w, const char *key, const struct chart *chart)
{
	tt_jsonw_key(w, key);
	tt_jsonw_array(w);
	if (chart->by)
		tt_jsonw_string(w, chart->by);
	for (size_t i = 0; !chart->by && chart->columns[i]; i++)
		tt_jsonw_string(w, chart->columns[i]);
	tt_jsonw_end(w);
}

/* Rows without that number would come first in PostgreSQL. Pages and queries have different words for it. */
static void filter(struct tt_jsonw *w, const char *subject, const char *operator,
		   const char * column)
{
	tt_jsonw_object(w);
	tt_jsonw_key_string(w, subject, column);
	tt_jsonw_key_string(w, operator, "IS NOT NULL");
	if (strcmp(subject, "subject") == 0) {
		tt_jsonw_key_string(w, "clause", "WHERE");
		tt_jsonw_key_string(w, "expressionType", "SIMPLE");
	}
	tt_jsonw_end(w);
}

/* What is drawn, as the chart's own page keeps it. */
static void form(struct tt_jsonw *w, const struct chart *chart)
{
	tt_jsonw_object(w);
	tt_jsonw_key_string(w, "viz_type", chart->by ? "echarts_timeseries_bar" : "table");
	if (chart->by) {
		tt_jsonw_key_string(w, "x_axis", chart->by);
		tt_jsonw_key_string(w, "orientation", chart->by_name ? "vertical" : "horizontal");
		tt_jsonw_key_string(w, "x_axis_sort", chart->by_name ? chart->by : chart->label);
		key_bool(w, "x_axis_sort_asc", chart->by_name);
		key_bool(w, "show_value", true);
		metrics(w, chart);
		tt_jsonw_key(w, "groupby");
		tt_jsonw_array(w);
		tt_jsonw_end(w);
	} else {
		struct tt_str order = {0};

		tt_jsonw_key_string(w, "query_mode", "raw");
		texts(w, "all_columns", chart);
		tt_str_addf(&order, "[\"%s\", false]", chart->metric);
		tt_jsonw_key(w, "order_by_cols");
		tt_jsonw_array(w);
		tt_jsonw_string(w, tt_str_text(&order));
		tt_jsonw_end(w);
		tt_str_deinit(&order);
	}
	tt_jsonw_key_int(w, "row_limit", chart->by ? ROWS : TABLE_ROWS);
	tt_jsonw_key(w, "adhoc_filters");
	tt_jsonw_array(w);
	if (!chart->by)
		filter(w, "subject", "operator", chart->metric);
	tt_jsonw_end(w);
	tt_jsonw_end(w);
}

/* What is asked for. Superset puts its own number of the dataset in when it imports. */
static tt_status query(struct tt_str *out, const struct chart *chart)
{
	struct tt_jsonw w;

	tt_jsonw_init_str(&w, out, (struct tt_jsonw_style){0});
	tt_jsonw_object(&w);
	tt_jsonw_key(&w, "datasource");
	tt_jsonw_object(&w);
	tt_jsonw_key_int(&w, "id", 0);
	tt_jsonw_key_string(&w, "type", "table");
	tt_jsonw_end(&w);
	key_bool(&w, "force", false);
	tt_jsonw_key(&w, "queries");
	tt_jsonw_array(&w);
	tt_jsonw_object(&w);
	texts(&w, "columns", chart);
	if (chart->by)
		metrics(&w, chart);
	tt_jsonw_key(&w, "orderby");
	tt_jsonw_array(&w);
	tt_jsonw_array(&w);
	if (chart->by && !chart->by_name)
		metric(&w, chart);
	else
		tt_jsonw_string(&w, chart->by ? chart->by : chart->metric);
	tt_jsonw_bool(&w, chart->by_name);
	tt_jsonw_end(&w);
	tt_jsonw_end(&w);
	tt_jsonw_key(&w, "filters");
	tt_jsonw_array(&w);
	if (!chart->by)
		filter(&w, "col", "op", chart->metric);
	tt_jsonw_end(&w);
	tt_jsonw_key_int(&w, "row_limit", chart->by ? ROWS : TABLE_ROWS);
	tt_jsonw_end(&w);
	tt_jsonw_end(&w);
	tt_jsonw_key(&w, "form_data");
	form(&w, chart);
	tt_jsonw_key_string(&w, "result_format", "json");
	tt_jsonw_key_string(&w, "result_type", "full");
	tt_jsonw_end(&w);
	TT_TRY(tt_jsonw_finish(&w));
	return tt_str_status(out);
}

/* "Failures by model" as a file: Failures_by_model. */
static void file_name(char *out, size_t size, const struct chart *chart)
{
	snprintf(out, size, ROOT "charts/%s.yaml", chart->name);
	for (char *c = out; *c; c++)
		if (*c == ' ')
			*c = '_';
}

static tt_status add_chart(struct tt_zip *zip, const struct chart *chart)
{
	struct tt_str context = {0};
	struct member member;
	struct tt_jsonw *w;
	char name[128];
	tt_status status = query(&context, chart);

	if (status == TTNN_OK) {
		w = member_begin(&member);
		tt_jsonw_key_string(w, "slice_name", chart->name);
		tt_jsonw_key_string(w, "description", chart->help);
		tt_jsonw_key_string(w, "viz_type", chart->by ? "echarts_timeseries_bar" : "table");
		tt_jsonw_key(w, "params");
		form(w, chart);
		tt_jsonw_key_string(w, "query_context", tt_str_text(&context));
		key_uuid(w, "uuid", "chart", chart->name);
		key_uuid(w, "dataset_uuid", "dataset", chart->dataset);
		tt_jsonw_key_string(w, "version", "1.0.0");
		file_name(name, sizeof(name), chart);
		status = member_end(zip, &member, name);
	}
	tt_str_deinit(&context);
	return status;
}

/* ---- the dashboard -------------------------------------------------------------------------------------------------- */

#define WIDTH 6 /* of a chart; a row has twelve */

/* An element of the page: what it is, what is in it, what it is in. */
static void element(struct tt_jsonw *w, const char *id, const char *type,
		    const char *const *parents)
{
	tt_jsonw_key(w, id);
	tt_jsonw_object(w);
	tt_jsonw_key_string(w, "id", id);
	tt_jsonw_key_string(w, "type", type);
	tt_jsonw_key(w, "parents");
	tt_jsonw_array(w);
	for (; *parents; parents++)
		tt_jsonw_string(w, *parents);
	tt_jsonw_end(w);
	tt_jsonw_key(w, "children");
	tt_jsonw_array(w);
}

static void place_chart(struct tt_jsonw *w, size_t i, const char *row)
{
	char id[32];

	snprintf(id, sizeof(id), "CHART-%zu", i);
	element(w, id, "CHART", (const char *[]){"ROOT_ID", "GRID_ID", row, NULL});
	tt_jsonw_end(w);
	tt_jsonw_key(w, "meta");
	tt_jsonw_object(w);
	key_uuid(w, "uuid", "chart", charts[i].name);
	tt_jsonw_key_int(w, "chartId", 0);
	tt_jsonw_key_string(w, "sliceName", charts[i].name);
	tt_jsonw_key_int(w, "width", WIDTH);
	tt_jsonw_key_int(w, "height", 50);
	tt_jsonw_end(w);
	tt_jsonw_end(w);
}

static void position(struct tt_jsonw *w)
{
	char id[32];

	tt_jsonw_key(w, "position");
	tt_jsonw_object(w);
	tt_jsonw_key_string(w, "DASHBOARD_VERSION_KEY", "v2");
	element(w, "ROOT_ID", "ROOT", (const char *[]){NULL});
	tt_jsonw_string(w, "GRID_ID");
	tt_jsonw_end(w);
	tt_jsonw_end(w);
	element(w, "GRID_ID", "GRID", (const char *[]){"ROOT_ID", NULL});
	for (size_t i = 0; i < CHARTS; i += 2) {
		snprintf(id, sizeof(id), "ROW-%zu", i / 2);
		tt_jsonw_string(w, id);
	}
	tt_jsonw_end(w);
	tt_jsonw_end(w);
	for (size_t i = 0; i < CHARTS; i += 2) {
		char row[32];

		snprintf(row, sizeof(row), "ROW-%zu", i / 2);
		element(w, row, "ROW", (const char *[]){"ROOT_ID", "GRID_ID", NULL});
		for (size_t k = i; k < i + 2 && k < CHARTS; k++) {
			snprintf(id, sizeof(id), "CHART-%zu", k);
			tt_jsonw_string(w, id);
		}
		tt_jsonw_end(w);
		tt_jsonw_key(w, "meta");
		tt_jsonw_object(w);
		tt_jsonw_key_string(w, "background", "BACKGROUND_TRANSPARENT");
		tt_jsonw_end(w);
		tt_jsonw_end(w);
		for (size_t k = i; k < i + 2 && k < CHARTS; k++)
			place_chart(w, k, row);
	}
	tt_jsonw_end(w);
}

static tt_status add_dashboard(struct tt_zip *zip)
{
	struct member member;
	struct tt_jsonw *w = member_begin(&member);

	tt_jsonw_key_string(w, "dashboard_title", "ttnn sweeps");
	tt_jsonw_key_string(w, "description",
			    "Recorded configurations, run again against their goldens");
	tt_jsonw_key_string(w, "slug", "ttnn-sweeps");
	key_uuid(w, "uuid", "dashboard", "sweeps");
	tt_jsonw_key_string(w, "version", "1.0.0");
	key_bool(w, "published", true);
	position(w);
	tt_jsonw_key(w, "metadata");
	tt_jsonw_object(w);
	tt_jsonw_end(w);
	return member_end(zip, &member, ROOT "dashboards/sweeps.yaml");
}

tt_status tt_bundle_write(const char *path, const char *database)
{
	struct tt_zip *zip;
	tt_status status;

	TT_TRY(tt_db_check_url(database));
	TT_TRY(tt_zip_create(&zip, path));
	status = add_metadata(zip);
	if (status == TTNN_OK)
		status = add_database(zip, database);
	for (size_t i = 0; status == TTNN_OK && i < DATASETS; i++)
		status = add_dataset(zip, &datasets[i]);
	for (size_t i = 0; status == TTNN_OK && i < CHARTS; i++)
		status = add_chart(zip, &charts[i]);
	if (status == TTNN_OK)
		status = add_dashboard(zip);
	if (status != TTNN_OK) {
		tt_zip_discard(zip);
		return status;
	}
	return tt_zip_commit(zip);
}
