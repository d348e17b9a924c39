/* vectors.c: vector files. */
#include "sweep/vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/jsonw.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "store/sorted.h"

#define STAMP 20 /* "2026-11-15_02-32-24" and its zero byte */

static const char *const headers[] = {"suite_name", "validity",  "invalid_reason", "status",
				      "sweep_name", "timestamp", "input_hash",     "tag"};

bool tt_vector_is_header(const char *key, size_t length)
{
	for (size_t i = 0; i < TT_COUNT(headers); i++)
		if (strlen(headers[i]) == length && memcmp(headers[i], key, length) == 0)
			return true;
	return false;
}

/* ---- hashes ------------------------------------------------------------------------------------------- */

static void dump_sorted(struct tt_jsonw *w, const struct tt_json *value);

static void dump_object(struct tt_jsonw *w, const struct tt_json *object)
{
	struct tt_sorted_member few[TT_SORTED_FEW];
	struct tt_sorted_member *members = tt_sorted_members(few, object);

	if (!members) {
		w->status = tt_fail_nomem();
		return;
	}
	tt_jsonw_object(w);
	for (size_t i = 0; i < tt_json_count(object); i++) {
		tt_jsonw_keyn(w, members[i].key, members[i].length);
		dump_sorted(w, members[i].value);
	}
	tt_jsonw_end(w);
	tt_sorted_free(members, few);
}

static void dump_sorted(struct tt_jsonw *w, const struct tt_json *value)
{
	struct tt_json_iter it = tt_json_iter(value);

	switch (tt_json_kind(value)) {
	case TT_JSON_OBJECT:
		dump_object(w, value);
		return;
	case TT_JSON_ARRAY:
		tt_jsonw_array(w);
		while (tt_json_next(&it))
			dump_sorted(w, it.value);
		tt_jsonw_end(w);
		return;
	default:
		tt_jsonw_value(w, value);
	}
}

/* What the vector is, beside its parameters. */
static void write_state(struct tt_jsonw *w, const struct tt_vector_suite *suite,
			const struct tt_vector *vector)
{
	tt_jsonw_key_string(w, "suite_name", suite->name);
	tt_jsonw_key_string(w, "validity",
			    vector->invalid ? "VectorValidity.INVALID" : "VectorValidity.VALID");
	tt_jsonw_key_string(w, "invalid_reason", vector->reason ? vector->reason : "");
	tt_jsonw_key_string(w, "status", "VectorStatus.CURRENT");
	tt_jsonw_key_string(w, "sweep_name", suite->module);
}

static void write_params(struct tt_jsonw *w, const struct tt_json *params)
{
	struct tt_json_iter it = tt_json_iter(params);

	while (tt_json_next(&it)) {
		tt_jsonw_keyn(w, it.key, it.key_length);
		tt_jsonw_value(w, it.value);
	}
}

static bool are_params(const struct tt_json *value)
{
	struct tt_json_iter it = tt_json_iter(value);

	if (tt_json_kind(value) != TT_JSON_OBJECT)
		return false;
	while (tt_json_next(&it))
		if (tt_vector_is_header(it.key, it.key_length))
			return false;
	return true;
}

static tt_status parse_params(struct tt_json_doc **out, const struct tt_vector *vector)
{
	TT_TRY(tt_json_parse(out, vector->params, vector->length, "vector"));
	if (are_params(tt_json_root(*out)))
		return TTNN_OK;
	tt_json_free(*out);
	*out = NULL;
	return tt_fail(TTNN_FORMAT, "the parameters of a vector are no object, or one of them is "
				    "called as a member that every vector has");
}

static tt_status hash_of(char out[TT_VECTOR_HASH], const struct tt_vector_suite *suite,
			 const struct tt_vector *vector, const struct tt_json *params)
{
	struct tt_json_doc *doc = NULL;
	struct tt_str text = {0}, sorted = {0};
	char digest[TT_DIGEST_TEXT];
	struct tt_jsonw w;
	tt_status status;

	/* All members once as they come, then read again to be sorted. */
	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){.utf8 = true});
	tt_jsonw_object(&w);
	write_params(&w, params);
	write_state(&w, suite, vector);
	tt_jsonw_end(&w);
	status = tt_jsonw_finish(&w);
	if (status == TTNN_OK)
		status = tt_str_status(&text);
	if (status == TTNN_OK)
		status = tt_json_parse(&doc, tt_str_text(&text), text.length, "vector");
	if (status == TTNN_OK) {
		tt_jsonw_init_str(&w, &sorted,
				  (struct tt_jsonw_style){.compact = true, .utf8 = true});
		dump_sorted(&w, tt_json_root(doc));
		status = tt_jsonw_finish(&w);
	}
	if (status == TTNN_OK)
		status = tt_str_status(&sorted);
	if (status == TTNN_OK)
		status = tt_digest_text(digest, TT_SHA224, sorted.data, sorted.length);
	if (status == TTNN_OK)
		memcpy(out, digest, TT_VECTOR_HASH);
	tt_json_free(doc);
	tt_str_deinit(&text);
	tt_str_deinit(&sorted);
	return status;
}

tt_status tt_vector_hash(char out[TT_VECTOR_HASH], const struct tt_vector_suite *suite,
			 const struct tt_vector *vector)
{
	struct tt_json_doc *doc;
	tt_status status;

	TT_TRY(parse_params(&doc, vector));
	status = hash_of(out, suite, vector, tt_json_root(doc));
	tt_json_free(doc);
	return status;
}

/* ---- writing -------------------------------------------------------------------------------------------- */

/* A suite on its way into a file: its vectors by hash, in the order in which hashes came first. */
struct saving {
	const struct tt_vector_suite *suite;
	const char *tag, *timestamp;
	struct tt_json_doc **docs; /* of each vector */
	struct tt_map by_hash;     /* the last vector of that hash */
};

static tt_status hash_all(struct saving *saving)
{
	const struct tt_vector_suite *suite = saving->suite;

	saving->docs = tt_calloc(suite->count + 1, sizeof(struct tt_json_doc *));
	if (!saving->docs)
		return tt_fail_nomem();
	for (size_t i = 0; i < suite->count; i++) {
		struct tt_map_entry *entry;
		char hash[TT_VECTOR_HASH];

		TT_TRY(parse_params(&saving->docs[i], &suite->vectors[i]));
		TT_TRY(hash_of(hash, suite, &suite->vectors[i], tt_json_root(saving->docs[i])));
		entry = tt_map_add(&saving->by_hash, hash, TT_VECTOR_HASH - 1, NULL);
		if (!entry)
			return tt_fail_nomem();
		entry->number = i;
	}
	return TTNN_OK;
}

static bool is_unchanged(const struct saving *saving, const struct tt_json *old)
{
	struct tt_json_iter it = tt_json_iter(old);

	if (tt_json_kind(old) != TT_JSON_OBJECT || tt_json_count(old) != saving->by_hash.count)
		return false;
	while (tt_json_next(&it)) {
		const char *tag = tt_json_string(tt_json_get(it.value, "tag"), NULL);

		if (!tt_map_find(&saving->by_hash, it.key, it.key_length) || !tag ||
		    strcmp(tag, saving->tag) != 0)
			return false;
	}
	return true;
}

static void write_suite(struct tt_jsonw *w, const struct saving *saving)
{
	tt_jsonw_object(w);
	for (size_t i = 0; i < saving->by_hash.count; i++) {
		const struct tt_map_entry *entry = &saving->by_hash.entries[i];

		tt_jsonw_key(w, entry->key);
		tt_jsonw_object(w);
		write_params(w, tt_json_root(saving->docs[entry->number]));
		write_state(w, saving->suite, &saving->suite->vectors[entry->number]);
		tt_jsonw_key_string(w, "timestamp", saving->timestamp);
		tt_jsonw_key_string(w, "input_hash", entry->key);
		tt_jsonw_key_string(w, "tag", saving->tag);
		tt_jsonw_end(w);
	}
	tt_jsonw_end(w);
}

/* The file with its suites in their order; a new one comes last. */
static void write_file(struct tt_jsonw *w, const struct saving *saving, const struct tt_json *old)
{
	struct tt_json_iter it = tt_json_iter(old);
	bool done = false;

	tt_jsonw_object(w);
	while (tt_json_next(&it)) {
		bool ours = strcmp(it.key, saving->suite->name) == 0;

		tt_jsonw_keyn(w, it.key, it.key_length);
		if (ours)
			write_suite(w, saving);
		else
			tt_jsonw_value(w, it.value);
		done |= ours;
	}
	if (!done) {
		tt_jsonw_key(w, saving->suite->name);
		write_suite(w, saving);
	}
	tt_jsonw_end(w);
}

static void stamp(char out[STAMP], const char *format)
{
	time_t seconds = (time_t)(tt_clock_wall_ns() / 1000000000);
	struct tm parts;

	if (!localtime_r(&seconds, &parts) || !strftime(out, STAMP, format, &parts))
		snprintf(out, STAMP, "1970-01-01_00-00-00");
}

/* What is there already; one that cannot be read goes aside. */
static tt_status load_old(struct tt_json_doc **old, struct tt_vectors_saved *out, const char *path)
{
	tt_status status = tt_json_load(old, path);
	char time[STAMP];

	if (status == TTNN_OK && tt_json_kind(tt_json_root(*old)) != TT_JSON_OBJECT) {
		tt_json_free(*old);
		*old = NULL;
		status = TTNN_FORMAT;
	}
	if (status == TTNN_NOTFOUND)
		return TTNN_OK;
	if (status != TTNN_FORMAT)
		return status;
	stamp(time, "%Y%m%d_%H%M%S");
	snprintf(out->moved, sizeof(out->moved), "%s.corrupted.%s", path, time);
	return rename(path, out->moved) == 0 ? TTNN_OK
					     : tt_fail(TTNN_IO,
						       "%s is no vector file, and cannot "
						       "be moved aside",
						       path);
}

static tt_status save(struct tt_vectors_saved *out, const char *path, const struct saving *saving,
		      const struct tt_json *old)
{
	struct tt_file_out *file;
	struct tt_jsonw w;
	tt_status status;

	out->count = saving->by_hash.count;
	if (!out->count || is_unchanged(saving, tt_json_get(old, saving->suite->name)))
		return TTNN_OK;
	TT_TRY(tt_file_create(&file, path));
	tt_jsonw_init_file(&w, file, (struct tt_jsonw_style){.indent = 2});
	write_file(&w, saving, old);
	status = tt_jsonw_finish(&w);
	if (status != TTNN_OK) {
		tt_file_discard(file);
		return status;
	}
	out->written = true;
	return tt_file_commit(file);
}

static tt_status make_directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char directory[4096];

	if (!slash || slash == path)
		return TTNN_OK;
	if ((size_t)(slash - path) >= sizeof(directory))
		return tt_fail(TTNN_INVALID, "the name of a vector file is too long");
	snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path), path);
	return tt_file_make_dirs(directory);
}

tt_status tt_vectors_save(struct tt_vectors_saved *out, const char *path,
			  const struct tt_vector_suite *suite)
{
	const char *user = getenv("USER");
	struct saving saving = {.suite = suite,
				.tag = suite->tag ? suite->tag
				       : user     ? user
						  : "unknown",
				.timestamp = suite->timestamp};
	struct tt_json_doc *old = NULL;
	char now[STAMP];
	tt_status status;

	*out = (struct tt_vectors_saved){0};
	if (!suite->module || !suite->name)
		return tt_fail(TTNN_INVALID, "a suite of vectors needs a module and a name");
	stamp(now, "%Y-%m-%d_%H-%M-%S");
	saving.timestamp = suite->timestamp ? suite->timestamp : now;
	status = hash_all(&saving);
	if (status == TTNN_OK)
		status = make_directory_of(path);
	if (status == TTNN_OK)
		status = load_old(&old, out, path);
	if (status == TTNN_OK)
		status = save(out, path, &saving, old ? tt_json_root(old) : NULL);
	for (size_t i = 0; saving.docs && i < suite->count; i++)
		tt_json_free(saving.docs[i]);
	tt_free(saving.docs);
	tt_map_deinit(&saving.by_hash);
	tt_json_free(old);
	return status;
}

tt_status tt_vectors_path(char *out, size_t room, const char *directory, const char *module)
{
	if (!*module || *module == '.' || strchr(module, '/') || strlen(module) > 200)
		return tt_fail(TTNN_INVALID, "'%.200s' is no name of a sweep module", module);
	if (snprintf(out, room, "%s/%s.json", directory, module) >= (int)room)
		return tt_fail(TTNN_INVALID, "the name of a vector file is too long");
	return TTNN_OK;
}

/* ---- reading ---------------------------------------------------------------------------------------------- */

static const char *text_of(const struct tt_json *object, const char *key)
{
	const char *text = tt_json_string(tt_json_get(object, key), NULL);

	return text ? text : "";
}

static tt_status list(struct tt_vector_file *out, const char *path, size_t count)
{
	struct tt_json_iter suites = tt_json_iter(tt_json_root(out->doc));

	out->entries = tt_calloc(count + 1, sizeof(*out->entries));
	if (!out->entries)
		return tt_fail_nomem();
	while (tt_json_next(&suites)) {
		struct tt_json_iter it = tt_json_iter(suites.value);

		while (tt_json_next(&it)) {
			struct tt_vector_entry *entry = &out->entries[out->count];

			if (tt_json_kind(it.value) != TT_JSON_OBJECT)
				return tt_fail(TTNN_FORMAT,
					       "%s: vector %.60s of suite %.60s is no object", path,
					       it.key, suites.key);
			*entry = (struct tt_vector_entry){
				.suite = suites.key,
				.hash = it.key,
				.module = text_of(it.value, "sweep_name"),
				.reason = text_of(it.value, "invalid_reason"),
				.object = it.value,
				.invalid = strcmp(text_of(it.value, "validity"),
						  "VectorValidity.INVALID") == 0,
			};
			out->count++;
		}
	}
	return TTNN_OK;
}

static tt_status count_vectors(size_t *out, const struct tt_json *root, const char *path)
{
	struct tt_json_iter it = tt_json_iter(root);

	*out = 0;
	if (tt_json_kind(root) != TT_JSON_OBJECT)
		return tt_fail(TTNN_FORMAT, "%s: no vector file: it has no suites", path);
	while (tt_json_next(&it)) {
		if (tt_json_kind(it.value) != TT_JSON_OBJECT)
			return tt_fail(TTNN_FORMAT, "%s: no vector file: suite %.60s is no object",
				       path, it.key);
		*out += tt_json_count(it.value);
	}
	return TTNN_OK;
}

tt_status tt_vector_file_open(struct tt_vector_file *out, const char *path)
{
	tt_status status;
	size_t count;

	*out = (struct tt_vector_file){0};
	TT_TRY(tt_json_load(&out->doc, path));
	status = count_vectors(&count, tt_json_root(out->doc), path);
	if (status == TTNN_OK)
		status = list(out, path, count);
	if (status != TTNN_OK)
		tt_vector_file_close(out);
	return status;
}

void tt_vector_file_close(struct tt_vector_file *file)
{
	tt_free(file->entries);
	tt_json_free(file->doc);
	*file = (struct tt_vector_file){0};
}
