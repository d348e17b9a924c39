/*
 * fidelity_database.c: the databases that a run's trace and the reports of its captures become in the two dialects,
 * against each other. What differs between the dialects by design stands here, and nowhere else: everything that is
 * left is a mistake.
 */
#include "fidelity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "db/db.h"
#include "event/capture.h"
#include "report/report.h"
#include "trace/source.h"

bool fid_databases;

static char folder[3072];

enum { SEED, METAL, DATABASES };

static const struct {
	const char *report, *trace_db, *report_db;
	enum ttnn_dialect dialect;
} files[DATABASES] = {
	[SEED] = {"seed.json", "trace-seed.sqlite", "seed.sqlite", TTNN_DIALECT_SEED},
	[METAL] = {"tt-metal.json", "trace-tt-metal.sqlite", "tt-metal.sqlite",
		   TTNN_DIALECT_TT_METAL},
};

struct tt_capture *fid_database_begin(void)
{
	struct tt_capture *capture = NULL;
	char path[sizeof(folder) + 32];

	snprintf(folder, sizeof(folder), "%s/ttnn_fidelity.XXXXXX", tt_fd_temp_directory());
	if (!mkdtemp(folder))
		abort();
	snprintf(path, sizeof(path), "%s/run.ttrace", folder);
	if (tt_capture_begin(&capture, &(struct tt_capture_options){.path = path}) != TTNN_OK)
		abort();
	return capture;
}

void fid_reports_begin(enum ttnn_run_mode mode)
{
	ttnn_graph_set(TTNN_GRAPH_PAGES, true);
	for (int i = 0; i < DATABASES; i++)
		if (ttnn_graph_begin_as(mode, files[i].dialect) != TTNN_OK)
			abort();
}

void fid_reports_end(struct tt_str *out)
{
	char path[sizeof(folder) + 32];

	for (int i = DATABASES; i-- > 0;) {
		snprintf(path, sizeof(path), "%s/%s", folder, files[i].report);
		if (ttnn_graph_end_to_file(NULL, path) != TTNN_OK)
			fid_line(out, "databases: no report: %s", ttnn_error());
	}
}

/* ---- operations ------------------------------------------------------------------------------------------ */

/* One row of "operations". Those that both databases have get the same number. */
struct operation {
	int64_t id, functions; /* in its graph: 1 is itself alone */
	char name[120];        /* without what differs between C++ and Python */
	bool apart; /* it failed, or ends elsewhere than the other: what lives then is not compared */
	int64_t number; /* 0: the other one does not have it */
};

struct database {
	struct tt_db *db;
	TT_VEC(struct operation) operations;
};

/* "ttnn::add" and "ttnn.add" are "add"; "ttnn::Tensor::cpu" and "Tensor::cpu" are "Tensor.cpu". */
static void set_name(char out[120], const char *name)
{
	size_t length = 0;

	if (strncmp(name, "ttnn", 4) == 0)
		name += 4 + strspn(name + 4, ":.");
	for (; *name && length + 1 < 120; name++) {
		if (name[0] == ':' && name[1] == ':')
			name++;
		out[length++] = *name == ':' ? '.' : *name;
	}
	out[length] = 0;
}

static struct tt_db_stmt *prepare(struct tt_db *db, const char *sql)
{
	struct tt_db_stmt *statement;

	if (tt_db_prepare(&statement, db, sql) != TTNN_OK)
		abort();
	return statement;
}

static void list_operations(struct database *of)
{
	struct tt_db_stmt *select = prepare(
		of->db,
		"SELECT operation_id, name, (SELECT count(*) FROM json_each(g.captured_graph) WHERE "
		"json_extract(value, '$.node_type') = 'function_start'), EXISTS (SELECT 1 FROM errors "
		"e WHERE e.operation_id = o.operation_id) FROM operations o LEFT JOIN captured_graph g "
		"USING (operation_id) ORDER BY operation_id");
	bool row = true;

	while (tt_db_next(&row, select) == TTNN_OK && row) {
		struct operation *operation = TT_VEC_PUSH(&of->operations);

		if (!operation)
			abort();
		*operation = (struct operation){.id = tt_db_int(select, 0),
						.functions = tt_db_int(select, 2),
						.apart = tt_db_int(select, 3) != 0};
		set_name(operation->name, tt_db_text(select, 1));
	}
	tt_db_stmt_free(select);
}

/*
 * Operations with other names by design: the default dialect has the operation of the library, tt-metal the functions of
 * Python that upstream makes it of; the last of them is compared.
 */
static const struct {
	const char *seed, *metal[2];
} made_of[] = {
	{"divide", {"div", NULL}},
	{"global_avg_pool2d", {"avg_pool2d", "reshape"}},
};
#define MADE_OF (sizeof(made_of) / sizeof(made_of[0]))

/* How many operations of tt-metal from `at` on are this one; 0: another is there. */
static size_t same(const struct operation *seed, const struct database *metal, size_t at)
{
	const struct operation *there = metal->operations.data;
	size_t count = metal->operations.count;

	if (at < count && strcmp(there[at].name, seed->name) == 0)
		return 1;
	for (size_t i = 0; i < MADE_OF; i++) {
		size_t found = 0;

		if (strcmp(made_of[i].seed, seed->name) != 0)
			continue;
		while (found < 2 && made_of[i].metal[found] && at + found < count &&
		       strcmp(there[at + found].name, made_of[i].metal[found]) == 0)
			found++;
		return found == 2 || (found && !made_of[i].metal[found]) ? found : 0;
	}
	return 0;
}

/* Methods of tensors are operations in the default dialect; in tt-metal what they do on the host is, or nothing. */
static bool is_method(const struct operation *operation)
{
	return strncmp(operation->name, "Tensor.", 7) == 0 ||
	       strncmp(operation->name, "tt.", 3) == 0;
}

/*
 * A call that no signature fits ends in Python, whose functions tt-metal has; nothing is inside. The default
 * dialect begins where the library does.
 */
static bool is_refused(const struct operation *metal, const struct operation *next,
		       const struct operation *seed)
{
	if (metal->functions != 1)
		return false;
	if (!seed || strcmp(seed->name, metal->name) != 0)
		return true;
	return next && next->functions > 1 && strcmp(seed->name, next->name) == 0;
}

/* Pairs the operations in their order; false when there is one that the other database should have. */
static bool pair(struct tt_str *out, struct database all[DATABASES])
{
	size_t i = 0, k = 0;
	int64_t number = 0;

	for (;;) {
		struct operation *seed =
			i < all[SEED].operations.count ? &all[SEED].operations.data[i] : NULL;
		struct operation *metal =
			k < all[METAL].operations.count ? &all[METAL].operations.data[k] : NULL;
		const struct operation *next;
		size_t parts;

		if (!seed && !metal)
			return true;
		next = metal && k + 1 < all[METAL].operations.count ? metal + 1 : NULL;
		if (metal && (is_method(metal) || is_refused(metal, next, seed))) {
			k++;
			continue;
		}
		if (seed && is_method(seed)) {
			i++;
			continue;
		}
		parts = seed ? same(seed, &all[METAL], k) : 0;
		if (!parts) {
			fid_line(out, "databases: operation %s, not %s", seed ? seed->name : "none",
				 metal ? metal->name : "none");
			return false;
		}
		metal += parts - 1;
		seed->number = metal->number = ++number;
		seed->apart = metal->apart = seed->apart || metal->apart || parts > 1;
		i++;
		k += parts;
	}
}

/* The numbers, for the queries. */
static void add_numbers(const struct database *of)
{
	struct tt_db_stmt *insert;

	if (tt_db_exec(of->db, "CREATE TEMP TABLE common (operation_id INTEGER PRIMARY KEY, number "
			       "int, apart int)") != TTNN_OK)
		abort();
	insert = prepare(of->db, "INSERT INTO common VALUES (?, ?, ?)");
	for (size_t i = 0; i < of->operations.count; i++) {
		const struct operation *operation = &of->operations.data[i];

		if (!operation->number)
			continue;
		tt_db_bind_int(insert, 0, operation->id);
		tt_db_bind_int(insert, 1, operation->number);
		tt_db_bind_int(insert, 2, operation->apart);
		if (tt_db_run(insert) != TTNN_OK)
			abort();
	}
	tt_db_stmt_free(insert);
}

/* ---- what they tell ---------------------------------------------------------------------------------------- */

/*
 * By design tt-metal tells of buffers as upstream does: not at an operation that failed, and of those without an
 * address (dry runs) only of the last. Which tensors an operation takes and gives Python's records tell it, which
 * these runs do not have: so the default dialect is compared with the events. Of tt-metal the chips that programs are on
 * are devices, too: those with buffers are counted.
 */
static const struct {
	const char *sql;
	bool shared; /* only what both tell of: the same before the colon */
} queries[] = {
	{"SELECT 'device ' || device_id || ': ' || num_y_cores || ' x ' || num_x_cores || ', ' || "
	 "l1_num_banks || ' banks of ' || l1_bank_size FROM devices ORDER BY device_id",
	 true},
	{"SELECT number || ': buffer of ' || dense_rank() OVER (ORDER BY device_id) || ' ' || address || ' ' || max_size_per_bank || ' ' || "
	 "min(buffer_type, 1) || ' ' || buffer_layout FROM buffers JOIN common USING (operation_id) WHERE "
	 "address AND NOT apart ORDER BY number, device_id, address, max_size_per_bank, buffer_type",
	 false},
	{"SELECT number || ': pages of ' || dense_rank() OVER (ORDER BY device_id) || ' ' || address || ' ' || bank_id || ' ' || core_x || ' ' "
	 "|| core_y || ' ' || chunk_address || ' ' || chunk_size || ' ' || page_size || ' ' || num_pages || ' ' || buffer_type FROM buffer_chunks "
	 "JOIN common USING (operation_id) WHERE NOT apart ORDER BY number, device_id, address, bank_id, core_x, core_y, chunk_address, buffer_type",
	 false},
	{"SELECT 'at most ' || max(n) || ' of a bank' FROM (SELECT sum(max_size_per_bank) n FROM buffers JOIN "
	 "common USING (operation_id) WHERE buffer_type AND address AND NOT apart GROUP BY operation_id)",
	 false},
	{"SELECT 'tensor ' || tensor_id || ': ' || replace(shape, 'ttnn.', '') || ' ' || "
	 "lower(replace(dtype, 'DataType.', '')) || ' ' || replace(layout, 'Layout.', '') || ' ' || "
	 "coalesce(buffer_type, '-') FROM tensors ORDER BY tensor_id",
	 true},
	{"SELECT 'place of tensor ' || tensor_id || ': ' || address || ' of ' || dense_rank() OVER (ORDER BY "
	 "device_id) FROM tensors WHERE address IS NOT NULL ORDER BY tensor_id",
	 true},
};
#define QUERIES (sizeof(queries) / sizeof(queries[0]))

static void ask(struct tt_str *out, struct tt_db *db, const char *sql)
{
	struct tt_db_stmt *select = prepare(db, sql);
	bool row = true;

	while (tt_db_next(&row, select) == TTNN_OK && row) {
		const char *text = tt_db_text(select, 0);

		tt_str_addf(out, "%s\n", text ? text : "NULL");
	}
	tt_db_stmt_free(select);
}

static bool same_line(const char *a, const char *b)
{
	size_t length = strcspn(a, "\n");

	return strcspn(b, "\n") == length && strncmp(a, b, length) == 0;
}

static const char *next_line(const char *text)
{
	text += strcspn(text, "\n");
	return text + (*text == '\n');
}

static void tell(struct tt_str *out, const char *seed, const char *metal)
{
	fid_line(out, "databases: %.*s, not %.*s", (int)strcspn(seed, "\n"), seed,
		 (int)strcspn(metal, "\n"), metal);
}

/* The first line that is other. */
static void compare_lines(struct tt_str *out, const char *seed, const char *metal)
{
	while (*seed && same_line(seed, metal)) {
		seed = next_line(seed);
		metal = next_line(metal);
	}
	if (*seed || *metal)
		tell(out, seed, metal);
}

/* The line of the same thing, or NULL. */
static const char *find_line(const char *lines, const char *like)
{
	size_t length = strcspn(like, ":") + 1;

	while (*lines && strncmp(lines, like, length) != 0)
		lines = next_line(lines);
	return *lines ? lines : NULL;
}

static void compare_shared(struct tt_str *out, const char *seed, const char *metal)
{
	for (; *metal; metal = next_line(metal)) {
		const char *line = find_line(seed, metal);

		if (line && !same_line(line, metal)) {
			tell(out, line, metal);
			return;
		}
	}
}

static void compare(struct tt_str *out, struct database all[DATABASES])
{
	for (int i = 0; i < DATABASES; i++)
		list_operations(&all[i]);
	if (!pair(out, all))
		return;
	for (int i = 0; i < DATABASES; i++)
		add_numbers(&all[i]);
	for (size_t i = 0; i < QUERIES; i++) {
		struct tt_str answers[DATABASES] = {0};

		for (int k = 0; k < DATABASES; k++)
			ask(&answers[k], all[k].db, queries[i].sql);
		(queries[i].shared ? compare_shared : compare_lines)(
			out, tt_str_text(&answers[SEED]), tt_str_text(&answers[METAL]));
		for (int k = 0; k < DATABASES; k++)
			tt_str_deinit(&answers[k]);
	}
}

/* ---- what operations take and give --------------------------------------------------------------------------- */

/* A tensor without a number of its own is in no table; one that comes twice is there once. */
static void add_tensors(struct tt_str *out, const char *what, int64_t operation,
			const struct tt_event_tensor *tensors, size_t count)
{
	size_t known = 0;

	for (size_t i = 0; i < count; i++) {
		bool again = tensors[i].id == UINT64_MAX;

		for (size_t k = 0; k < i && !again; k++)
			again = tensors[k].id == tensors[i].id;
		if (!again)
			tt_str_addf(out, "%" PRId64 ": %s %zu is tensor %" PRIu64 "\n", operation,
				    what, known++, tensors[i].id);
	}
}

/* Upstream leaves out what is brought here before anything is computed, and how that is done. */
static bool is_listed(const char *name, int64_t before)
{
	return strcmp(name, "ttnn::convert_python_tensor_to_tt_tensor") != 0 &&
	       (before || strcmp(name, "ttnn::from_torch") != 0);
}

/* The tensors of outermost operations, as their events tell them. */
static void read_events(struct tt_str *inputs, struct tt_str *outputs, const char *path)
{
	const struct tt_seen *seen;
	struct tt_source *source;
	unsigned operations = 0; /* that are open */
	uint64_t open = 0;       /* a bit for each scope, the innermost last: whether it is one */
	int64_t number = 0;

	if (tt_source_open(&source, path) != TTNN_OK)
		abort();
	while (tt_source_next(&seen, source) == TTNN_OK && seen) {
		const struct tt_event *event = &seen->event;

		if (event->kind == TT_EVENT_SCOPE_BEGIN) {
			bool is_operation = event->begin.kind == TT_SCOPE_OPERATION;

			if (is_operation && !operations)
				is_operation = is_listed(event->begin.name, number);
			if (is_operation && operations++ == 0)
				add_tensors(inputs, "input", ++number, event->begin.inputs,
					    event->begin.input_count);
			open = open << 1 | is_operation;
		} else if (event->kind == TT_EVENT_SCOPE_END) {
			if ((open & 1) && --operations == 0)
				add_tensors(outputs, "output", number, event->end.outputs,
					    event->end.output_count);
			open >>= 1;
		}
	}
	tt_source_close(source);
}

/* Drops the lines of operations of which nothing is told. */
static void keep_told(struct tt_str *found, const char *told, const char *what)
{
	struct tt_str kept = {0};

	for (const char *line = tt_str_text(found); *line; line = next_line(line)) {
		char start[64];
		const char *other = told;
		size_t length = (size_t)snprintf(start, sizeof(start), "%.*s%s",
						 (int)strspn(line, "0123456789"), line, what);

		while (*other && strncmp(other, start, length) != 0)
			other = next_line(other);
		if (*other)
			tt_str_add(&kept, line, (size_t)(next_line(line) - line));
	}
	tt_str_deinit(found);
	*found = kept;
}

static void compare_tensors(struct tt_str *out, struct tt_db *seed)
{
	static const char *const sql[] = {
		"SELECT operation_id || ': input ' || input_index || ' is tensor ' || tensor_id FROM "
		"input_tensors ORDER BY operation_id, input_index",
		/* Of one that failed: what it had made. */
		"SELECT operation_id || ': output ' || output_index || ' is tensor ' || tensor_id FROM "
		"output_tensors WHERE operation_id NOT IN (SELECT operation_id FROM errors) ORDER BY "
		"operation_id, output_index"};
	struct tt_str told[2] = {0}, found[2] = {0};
	char path[sizeof(folder) + 32];

	snprintf(path, sizeof(path), "%s/run.ttrace", folder);
	read_events(&told[0], &told[1], path);
	for (int i = 0; i < 2; i++) {
		ask(&found[i], seed, sql[i]);
		/* One that takes or gives none itself has those of the functions inside, as upstream has it. */
		keep_told(&found[i], tt_str_text(&told[i]), i ? ": output" : ": input");
		compare_lines(out, tt_str_text(&found[i]), tt_str_text(&told[i]));
		tt_str_deinit(&found[i]);
		tt_str_deinit(&told[i]);
	}
}

/* ---- the whole --------------------------------------------------------------------------------------------- */

static tt_status import(struct database *out, const char *file, const char *name,
			enum ttnn_dialect dialect)
{
	struct tt_report_counts counts;
	char input[sizeof(folder) + 32], path[sizeof(folder) + 32];
	struct tt_report_options options = {.input = input,
					    .output = folder,
					    .db_name = name,
					    .pages = true,
					    .dialect = dialect};

	snprintf(input, sizeof(input), "%s/%s", folder, file);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	TT_TRY(tt_report_import(&counts, &options));
	return tt_db_open(&out->db, path);
}

/* The default dialect names the device that was opened, which is one. */
static void compare_devices(struct tt_str *out, struct tt_db *seed)
{
	struct tt_str more = {0};

	ask(&more, seed, "SELECT count(*) || ' devices' FROM devices HAVING count(*) > 1");
	compare_lines(out, tt_str_text(&more), "");
	tt_str_deinit(&more);
}

/* The databases of the trace, or of the reports; those of the trace know what the events say. */
static void compare_files(struct tt_str *out, bool trace)
{
	struct database all[DATABASES] = {0};
	tt_status status[DATABASES];

	for (int i = 0; i < DATABASES; i++)
		status[i] =
			import(&all[i], trace ? "run.ttrace" : files[i].report,
			       trace ? files[i].trace_db : files[i].report_db, files[i].dialect);
	if (status[SEED] != status[METAL])
		fid_line(out, "databases: %s, not %s: %s", ttnn_status_name(status[SEED]),
			 ttnn_status_name(status[METAL]), ttnn_error());
	if (status[SEED] == TTNN_OK && status[METAL] == TTNN_OK)
		compare(out, all);
	if (status[SEED] == TTNN_OK)
		compare_devices(out, all[SEED].db);
	if (status[SEED] == TTNN_OK && trace)
		compare_tensors(out, all[SEED].db);
	for (int i = 0; i < DATABASES; i++) {
		tt_db_close(all[i].db);
		TT_VEC_DEINIT(&all[i].operations);
	}
}

void fid_database_end(struct tt_str *out, struct tt_capture *capture)
{
	char command[sizeof(folder) + 16];

	tt_capture_free(capture);
	compare_files(out, true);
	compare_files(out, false);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	if (system(command) != 0)
		abort();
}
