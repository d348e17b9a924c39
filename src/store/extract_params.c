/* extract_params.c: configurations of parameter files, one JSON for each operation, and of folders of them. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/vec.h"
#include "store/clean.h"
#include "store/extract.h"
#include "store/names.h"

/* ---- one file ------------------------------------------------------------------------------------------ */

/* Arguments by position and by name, {"arg0": VALUE, "dtype": VALUE}. */
static void write_args(struct tt_jsonw *w, struct tt_master_machine *machine,
		       const struct tt_json *record)
{
	struct tt_json_iter it = tt_json_iter(tt_json_get(record, "args"));
	char key[32];

	tt_jsonw_object(w);
	for (int64_t next = 0; tt_json_next(&it); next++) {
		int64_t position = next;

		tt_json_int(&position, tt_json_get(it.value, "position"));
		snprintf(key, sizeof(key), "arg%lld", (long long)position);
		tt_jsonw_key(w, key);
		tt_clean_value(w, machine, tt_json_get(it.value, "value"));
	}
	it = tt_json_iter(tt_json_get(record, "kwargs"));
	while (tt_json_next(&it)) {
		if (tt_clean_dropped(it.key))
			continue;
		tt_jsonw_keyn(w, it.key, it.key_length);
		tt_clean_value(w, machine, it.value);
	}
	tt_jsonw_end(w);
}

tt_status tt_extract_record(struct tt_extract *extract, const struct tt_json *record,
			    const struct tt_extract_run *run)
{
	const char *name = tt_json_string(tt_json_get(record, "operation_name"), NULL);
	struct tt_master_call call = {.layout = TT_MASTER_V2,
				      .source = run->source,
				      .trace_uid = run->trace_uid,
				      .pytest_args = run->pytest_args,
				      .machine = run->machine};
	struct tt_str op = {0}, args = {0};
	tt_status status = TTNN_OK;
	struct tt_jsonw w;

	if (!name)
		return tt_fail(TTNN_FORMAT, "a parameter file has no \"operation_name\"");
	if (tt_json_get(record, "error")) /* it was refused */
		return TTNN_OK;
	tt_names_dotted(&op, name);
	if (tt_extract_wants(extract, tt_str_text(&op))) {
		tt_jsonw_init_str(&w, &args, (struct tt_jsonw_style){.compact = true});
		write_args(&w, &call.machine, record);
		status = tt_jsonw_finish(&w);
		call.op = tt_str_text(&op);
		call.args = tt_str_text(&args);
		call.length = args.length;
		if (!call.source)
			call.source = extract->source ? extract->source : "unknown";
		if (status == TTNN_OK)
			status = tt_str_status(&args);
		if (status == TTNN_OK)
			status = tt_extract_give(extract, &call);
	}
	tt_str_deinit(&op);
	tt_str_deinit(&args);
	return status;
}

/* ---- folders ------------------------------------------------------------------------------------------- */

struct entry {
	char *name;
	uint64_t number; /* that the file begins with */
	bool folder;
};

struct folder {
	const char *path;
	TT_VEC(struct entry) entries;
};

static int by_number(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void path_of(struct tt_str *out, const struct folder *folder, const char *name)
{
	tt_str_clear(out);
	tt_str_addf(out, "%s/%s", folder->path, name);
}

static bool is_link(const char *path)
{
	struct stat info;

	return lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

/* Parameter files in the order of their numbers, and folders. */
static tt_status list(struct folder *folder)
{
	DIR *directory = opendir(folder->path);
	const struct dirent *row;
	struct tt_str path = {0};
	tt_status status = TTNN_OK;

	if (!directory)
		return tt_fail(TTNN_IO, "%s: the folder cannot be read: %s", folder->path,
			       strerror(errno));
	while (status == TTNN_OK && (row = readdir(directory))) {
		struct entry *entry;
		struct stat info;

		path_of(&path, folder, row->d_name);
		if (*row->d_name == '.' || stat(tt_str_text(&path), &info) != 0 ||
		    (!S_ISDIR(info.st_mode) && !tt_ends_with(row->d_name, ".json")))
			continue;
		/* A link to a folder may lead back here. */
		if (S_ISDIR(info.st_mode) && is_link(tt_str_text(&path)))
			continue;
		entry = TT_VEC_PUSH(&folder->entries);
		if (entry)
			*entry = (struct entry){tt_strdup(row->d_name),
						strtoull(row->d_name, NULL, 10),
						S_ISDIR(info.st_mode)};
		if (!entry || !entry->name)
			status = tt_fail_nomem();
	}
	closedir(directory);
	tt_str_deinit(&path);
	if (status == TTNN_OK && folder->entries.count)
		qsort(folder->entries.data, folder->entries.count, sizeof(*folder->entries.data),
		      by_number);
	return status;
}

static tt_status load(struct tt_json_doc **out, const struct folder *folder, const char *name)
{
	struct tt_str path = {0};
	tt_status status;

	*out = NULL;
	path_of(&path, folder, name);
	status = tt_json_load(out, tt_str_text(&path));
	tt_str_deinit(&path);
	return status;
}

static const char *text_of(const struct tt_json *object, const char *key)
{
	return tt_json_string(tt_json_get(object, key), NULL);
}

/* What `_trace_metadata.json` says, as long as the document lives. */
static void read_run(struct tt_extract_run *run, const struct tt_json *meta)
{
	const struct tt_json *machine = tt_json_get(meta, "machine_info");
	uint64_t cards = 0;

	if (tt_json_kind(machine) == TT_JSON_ARRAY)
		machine = tt_json_at(machine, 0);
	run->source = text_of(meta, "test_source");
	run->trace_uid = text_of(meta, "trace_uid");
	run->pytest_args = text_of(meta, "pytest_args");
	run->machine.board_type = text_of(machine, "board_type");
	run->machine.device_series = text_of(machine, "device_series");
	if (!run->machine.device_series)
		run->machine.device_series =
			tt_json_string(tt_json_at(tt_json_get(machine, "device_series"), 0), NULL);
	tt_json_uint(&cards, tt_json_get(machine, "card_count"));
	run->machine.card_count = (uint32_t)cards;
}

static tt_status extract_files(struct tt_extract *extract, const struct folder *folder,
			       const struct tt_extract_run *run)
{
	for (size_t i = 0; i < folder->entries.count; i++) {
		const struct entry *entry = &folder->entries.data[i];
		struct tt_json_doc *doc;
		tt_status status;

		if (entry->folder || *entry->name == '_')
			continue;
		TT_TRY(load(&doc, folder, entry->name));
		status = TTNN_OK;
		if (tt_json_get(tt_json_root(doc), "operation_name"))
			status = tt_extract_record(extract, tt_json_root(doc), run);
		tt_json_free(doc);
		TT_TRY(status);
	}
	return TTNN_OK;
}

/* Whether a folder of a test counts, and tells of the test. */
static tt_status judge(bool *wanted, bool *known, struct tt_extract *extract, const char *path)
{
	struct folder folder = {.path = path};
	struct tt_extract_test test;
	struct tt_json_doc *doc;
	tt_status status = load(&doc, &folder, "_status.json");

	*known = status == TTNN_OK;
	*wanted = false;
	if (status != TTNN_OK)
		return status == TTNN_NOTFOUND ? TTNN_OK : status;
	test = (struct tt_extract_test){.name = text_of(tt_json_root(doc), "test_nodeid"),
					.outcome = text_of(tt_json_root(doc), "status")};
	if (test.outcome)
		*wanted = strcmp(test.outcome, "passed") == 0 ||
			  (extract->include_failed && strcmp(test.outcome, "failed") == 0);
	if (extract->test && test.name && test.outcome)
		status = extract->test(extract->context, &test);
	tt_json_free(doc);
	return status;
}

static tt_status extract_below(struct tt_extract *extract, const char *path,
			       const struct tt_extract_run *above);

/* If any folder tells how its test ended, only those count whose tests passed. */
static tt_status extract_folders(struct tt_extract *extract, const struct folder *folder,
				 const struct tt_extract_run *run)
{
	struct tt_str path = {0};
	tt_status status = TTNN_OK;
	bool any = false;

	for (int round = 0; round < 2 && status == TTNN_OK; round++)
		for (size_t i = 0; i < folder->entries.count && status == TTNN_OK; i++) {
			struct tt_extract quiet = *extract;
			bool wanted, known;

			if (!folder->entries.data[i].folder)
				continue;
			if (!round)
				quiet.test = NULL;
			path_of(&path, folder, folder->entries.data[i].name);
			status = judge(&wanted, &known, &quiet, tt_str_text(&path));
			any |= known;
			if (round && status == TTNN_OK && (wanted || !any))
				status = extract_below(extract, tt_str_text(&path), run);
		}
	tt_str_deinit(&path);
	return status;
}

static tt_status extract_below(struct tt_extract *extract, const char *path,
			       const struct tt_extract_run *above)
{
	struct folder folder = {.path = path};
	struct tt_extract_run run = *above;
	struct tt_json_doc *meta = NULL;
	tt_status status = list(&folder);

	if (status == TTNN_OK) {
		status = load(&meta, &folder, "_trace_metadata.json");
		if (status == TTNN_OK)
			read_run(&run, tt_json_root(meta));
		else if (status == TTNN_NOTFOUND)
			status = TTNN_OK;
	}
	if (status == TTNN_OK)
		status = extract_files(extract, &folder, &run);
	if (status == TTNN_OK)
		status = extract_folders(extract, &folder, &run);
	tt_json_free(meta);
	for (size_t i = 0; i < folder.entries.count; i++)
		tt_free(folder.entries.data[i].name);
	TT_VEC_DEINIT(&folder.entries);
	return status;
}

tt_status tt_extract_params(struct tt_extract *extract, const char *directory)
{
	return extract_below(extract, directory, &(struct tt_extract_run){0});
}
