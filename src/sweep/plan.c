/* plan.c: which vectors are run. */
#include "sweep/plan.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/jsondump.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "db/db.h"
#include "sweep/plan_parts.h"

/* ---- one vector ------------------------------------------------------------------------------------------- */

tt_status tt_plan_config(struct tt_traced_config *out, struct tt_json_doc **doc,
			 const struct tt_plan *plan, const struct tt_plan_vector *vector)
{
	struct tt_str text = {0};
	bool applies = true;
	tt_status status;

	*doc = NULL;
	*out = plan->configs.data[vector->config].traced;
	if (!vector->mutate)
		return TTNN_OK;
	status = tt_mutate(&text, &applies, out->args, vector->mutation);
	if (status == TTNN_OK && !applies)
		status = tt_fail(TTNN_INVALID, "the mutation gives no other configuration");
	if (status == TTNN_OK)
		status = tt_json_parse(doc, tt_str_text(&text), text.length, "mutation");
	if (status == TTNN_OK)
		out->args = tt_json_root(*doc);
	tt_str_deinit(&text);
	return status;
}

static void write_params(struct tt_str *out, const struct tt_traced_config *config,
			 const struct tt_plan_vector *vector)
{
	char mutation[TT_MUTATION_NAME];
	struct tt_jsonw w;

	tt_mutation_name(mutation, vector->mutation);
	tt_jsonw_init_str(&w, out, (struct tt_jsonw_style){.utf8 = true});
	tt_jsonw_object(&w);
	tt_jsonw_key_string(&w, "operation", config->op);
	tt_jsonw_key_int(&w, "configuration", (int64_t)config->number);
	tt_jsonw_key_int(&w, "seed", (int64_t)vector->seed);
	tt_jsonw_key_string(&w, "mutation", mutation);
	tt_jsonw_key_string(&w, "traced_source", config->source);
	tt_jsonw_key_string(&w, "positions", config->python ? "python" : "2025-11");
	tt_jsonw_key(&w, "arguments");
	tt_jsonw_value(&w, config->args);
	tt_jsonw_end(&w);
	if (tt_jsonw_finish(&w) != TTNN_OK)
		out->failed = true;
}

tt_status tt_plan_params(struct tt_str *out, const struct tt_plan *plan,
			 const struct tt_plan_vector *vector)
{
	struct tt_traced_config config;
	struct tt_json_doc *doc;

	TT_TRY(tt_plan_config(&config, &doc, plan, vector));
	write_params(out, &config, vector);
	tt_json_free(doc);
	return tt_str_status(out);
}

static tt_status keep(struct tt_plan *plan, const struct tt_plan_vector *vector)
{
	struct tt_plan_vector *kept;
	struct tt_map_entry *entry;
	bool added;

	entry = tt_map_add(&plan->hashes, vector->hash, strlen(vector->hash), &added);
	if (!entry)
		return tt_fail_nomem();
	if (!added) /* the same vector twice */
		return TTNN_OK;
	kept = TT_VEC_PUSH(&plan->vectors);
	if (!kept)
		return tt_fail_nomem();
	*kept = *vector;
	kept->position = plan->position++;
	return TTNN_OK;
}

static bool is_wanted(const struct tt_plan_vector *vector, const struct tt_plan_options *options)
{
	return !options->vector || strcmp(options->vector, vector->hash) == 0;
}

/* Adds a vector whose hash is that of its content; not one whose mutation does not apply. */
static tt_status add_vector(struct tt_plan *plan, struct tt_plan_vector *vector,
			    const struct tt_plan_options *options)
{
	struct tt_vector_suite suite = {.module = plan->configs.data[vector->config].traced.op,
					.name = vector->suite};
	struct tt_str params = {0};
	tt_status status = tt_plan_params(&params, plan, vector);

	if (status == TTNN_INVALID && vector->mutate) {
		tt_str_deinit(&params);
		return TTNN_OK;
	}
	if (status == TTNN_OK)
		status = tt_vector_hash(vector->hash, &suite,
					&(struct tt_vector){.params = tt_str_text(&params),
							    .length = params.length,
							    .invalid = vector->invalid,
							    .reason = vector->reason});
	tt_str_deinit(&params);
	return status == TTNN_OK && is_wanted(vector, options) ? keep(plan, vector) : status;
}

/* ---- configurations of masters -------------------------------------------------------------------------------- */

/* "ttnn.add" is meant by itself, by "ttnn::add", "add", and by patterns of these. */
static bool names(const char *op, const char *wanted)
{
	struct tt_str dotted = {0};
	const char *last = strrchr(op, '.');
	bool same;

	for (const char *c = wanted; *c; c++) {
		if (c[0] == ':' && c[1] == ':')
			c++;
		tt_str_addc(&dotted, *c == ':' ? '.' : *c);
	}
	same = fnmatch(tt_str_text(&dotted), op, 0) == 0 ||
	       (last && fnmatch(tt_str_text(&dotted), last + 1, 0) == 0) ||
	       (strncmp(op, "ttnn.", 5) == 0 && fnmatch(tt_str_text(&dotted), op + 5, 0) == 0);
	tt_str_deinit(&dotted);
	return same;
}

static bool op_wanted(const char *op, const struct tt_plan_options *options)
{
	for (size_t i = 0; i < options->op_count; i++)
		if (names(op, options->ops[i]))
			return true;
	return !options->op_count;
}

static tt_status add_choice(struct tt_plan *plan, const struct tt_plan_vector *base,
			    struct tt_mutation mutation, const struct tt_plan_options *options)
{
	struct tt_plan_vector vector = *base;

	vector.mutation = mutation;
	vector.mutate = true;
	return add_vector(plan, &vector, options);
}

/* The next of all combinations; false behind the last. */
static bool next_case(struct tt_mutation *mutation)
{
	for (unsigned kind = TT_MUTATION_KINDS; kind-- > 0;) {
		if (++mutation->choice[kind] < tt_mutation_choices((enum tt_mutation_kind)kind))
			return true;
		mutation->choice[kind] = 0;
	}
	return false;
}

static tt_status add_mutations(struct tt_plan *plan, const struct tt_plan_vector *base,
			       const struct tt_plan_options *options)
{
	struct tt_mutation mutation = {0};

	if (options->all_cases) {
		while (next_case(&mutation))
			TT_TRY(add_choice(plan, base, mutation, options));
		return TTNN_OK;
	}
	for (unsigned kind = 0; kind < TT_MUTATION_KINDS; kind++)
		for (unsigned i = 1;
		     options->kinds[kind] && i < tt_mutation_choices((enum tt_mutation_kind)kind);
		     i++) {
			struct tt_mutation one = {0};

			one.choice[kind] = (unsigned char)i;
			TT_TRY(add_choice(plan, base, one, options));
		}
	return TTNN_OK;
}

static tt_status add_config(struct tt_plan *plan, const struct tt_traced_config *traced,
			    const char *digest)
{
	struct tt_plan_config *config = TT_VEC_PUSH(&plan->configs);

	if (!config)
		return tt_fail_nomem();
	*config = (struct tt_plan_config){*traced, digest};
	return TTNN_OK;
}

/* Of all that was read from it: a store of a server is no file. */
static tt_status digest_store(char out[TT_DIGEST_TEXT], const struct tt_traced *traced)
{
	struct tt_str text = {0};
	tt_status status;

	for (size_t i = 0; i < traced->count; i++) {
		const struct tt_traced_config *config = &traced->configs[i];

		tt_str_addf(&text, "%s %zu %d %s ", config->op, config->number, config->python,
			    config->source);
		tt_json_dump(&text, config->args);
		tt_str_addc(&text, '\n');
	}
	status = tt_str_status(&text);
	if (status == TTNN_OK)
		status = tt_digest_text(out, TT_SHA256, tt_str_text(&text), text.length);
	tt_str_deinit(&text);
	return status;
}

static tt_status digest_master(const char **out, struct tt_plan *plan,
			       const struct tt_traced *traced, const char *path)
{
	char digest[TT_DIGEST_TEXT];
	char *data;
	size_t size;
	tt_status status;

	if (tt_db_is_url(path)) {
		status = digest_store(digest, traced);
	} else {
		TT_TRY(tt_file_read(&data, &size, path));
		status = tt_digest_text(digest, TT_SHA256, data, size);
		tt_free(data);
	}
	*out = status == TTNN_OK ? tt_arena_strdup(&plan->arena, digest) : NULL;
	return status == TTNN_OK && !*out ? tt_fail_nomem() : status;
}

/* Reads a master, whose configurations the plan then has. */
static tt_status load_master(struct tt_traced **out, const char **digest, struct tt_plan *plan,
			     const char *path)
{
	struct tt_traced **place = TT_VEC_PUSH(&plan->masters);
	tt_status status;

	if (!place)
		return tt_fail_nomem();
	*place = tt_calloc(1, sizeof(**place));
	if (!*place) {
		plan->masters.count--;
		return tt_fail_nomem();
	}
	*out = *place;
	status = tt_traced_load(*out, path);
	if (status == TTNN_OK)
		return digest_master(digest, plan, *out, path);
	tt_free(*out);
	plan->masters.count--;
	return status;
}

tt_status tt_plan_add_master(struct tt_plan *plan, const char *path,
			     const struct tt_plan_options *options)
{
	struct tt_traced *traced;
	const char *digest;

	TT_TRY(load_master(&traced, &digest, plan, path));
	for (size_t i = 0; i < traced->count; i++) {
		struct tt_plan_vector vector = {.config = (uint32_t)plan->configs.count,
						.seed = options->seed,
						.suite = TT_PLAN_SUITE};

		if (!op_wanted(traced->configs[i].op, options) ||
		    (options->every > 1 && i % options->every))
			continue;
		TT_TRY(add_config(plan, &traced->configs[i], digest));
		TT_TRY(add_vector(plan, &vector, options));
		TT_TRY(add_mutations(plan, &vector, options));
	}
	return TTNN_OK;
}

tt_status tt_plan_load(const char **digest, struct tt_plan *plan, const char *path)
{
	struct tt_traced *traced;

	TT_TRY(load_master(&traced, digest, plan, path));
	for (size_t i = 0; i < traced->count; i++)
		TT_TRY(add_config(plan, &traced->configs[i], *digest));
	return TTNN_OK;
}

tt_status tt_plan_take(struct tt_plan *plan, struct tt_plan_vector *vector,
		       const struct tt_plan_options *options)
{
	return op_wanted(plan->configs.data[vector->config].traced.op, options)
		       ? add_vector(plan, vector, options)
		       : TTNN_OK;
}

/* ---- vector files ----------------------------------------------------------------------------------------------- */

static const char *text_of(const struct tt_json *object, const char *key)
{
	const char *text = tt_json_string(tt_json_get(object, key), NULL);

	return text ? text : "";
}

static tt_status add_entry(struct tt_plan *plan, const struct tt_vector_entry *entry,
			   const char *path, const struct tt_plan_options *options)
{
	const struct tt_json *object = entry->object;
	struct tt_traced_config traced = {
		.op = text_of(object, "operation"),
		.source = text_of(object, "traced_source"),
		.args = tt_json_get(object, "arguments"),
		.python = strcmp(text_of(object, "positions"), "python") == 0};
	struct tt_plan_vector vector = {.config = (uint32_t)plan->configs.count,
					.invalid = entry->invalid,
					.reason = entry->reason,
					.suite = entry->suite};
	struct tt_plan_options wanted = *options;
	uint64_t number = 0;

	if (!op_wanted(traced.op, options))
		return TTNN_OK;
	if (tt_json_kind(traced.args) != TT_JSON_ARRAY ||
	    (tt_json_get(object, "seed") &&
	     !tt_json_uint(&vector.seed, tt_json_get(object, "seed"))) ||
	    !tt_mutation_parse(&vector.mutation, *text_of(object, "mutation")
							 ? text_of(object, "mutation")
							 : "recorded"))
		return tt_fail(TTNN_FORMAT, "%s: vector %.56s of %.60s is no native vector", path,
			       entry->hash, entry->suite);
	tt_json_uint(&number, tt_json_get(object, "configuration"));
	traced.number = (size_t)number;
	if (wanted.vector && strcmp(wanted.vector, entry->hash) == 0)
		wanted.vector = NULL;
	TT_TRY(add_config(plan, &traced, ""));
	/* Its hash is that of its content, also if somebody changed that: what passed was another vector. */
	return add_vector(plan, &vector, &wanted);
}

tt_status tt_plan_add_vectors(struct tt_plan *plan, size_t *others, const char *path,
			      const struct tt_plan_options *options)
{
	struct tt_vector_file **place = TT_VEC_PUSH(&plan->files), *file;
	tt_status status;

	if (!place)
		return tt_fail_nomem();
	*place = file = tt_calloc(1, sizeof(*file));
	status = file ? tt_vector_file_open(file, path) : tt_fail_nomem();
	if (status != TTNN_OK) {
		tt_free(file);
		plan->files.count--;
		return status;
	}
	for (size_t i = 0; i < file->count; i++) {
		const struct tt_vector_entry *entry = &file->entries[i];

		if (options->suite && strcmp(options->suite, entry->suite) != 0)
			continue;
		if (!*text_of(entry->object, "operation"))
			(*others)++;
		else
			TT_TRY(add_entry(plan, entry, path, options));
	}
	return TTNN_OK;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

void tt_plan_shard(struct tt_plan *plan, uint64_t index, uint64_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < plan->vectors.count; i++)
		if (i % count == index)
			plan->vectors.data[kept++] = plan->vectors.data[i];
	plan->vectors.count = kept;
}

tt_status tt_plan_digest(char out[TT_DIGEST_TEXT], const struct tt_plan *plan)
{
	struct tt_str text = {0};
	tt_status status;

	for (size_t i = 0; i < plan->vectors.count; i++)
		tt_str_add(&text, plan->vectors.data[i].hash, strlen(plan->vectors.data[i].hash));
	status = tt_str_status(&text);
	if (status == TTNN_OK)
		status = tt_digest_text(out, TT_SHA256, tt_str_text(&text), text.length);
	tt_str_deinit(&text);
	return status;
}

void tt_plan_deinit(struct tt_plan *plan)
{
	for (size_t i = 0; i < plan->masters.count; i++) {
		tt_traced_free(plan->masters.data[i]);
		tt_free(plan->masters.data[i]);
	}
	for (size_t i = 0; i < plan->files.count; i++) {
		tt_vector_file_close(plan->files.data[i]);
		tt_free(plan->files.data[i]);
	}
	TT_VEC_DEINIT(&plan->masters);
	TT_VEC_DEINIT(&plan->files);
	TT_VEC_DEINIT(&plan->configs);
	TT_VEC_DEINIT(&plan->vectors);
	tt_map_deinit(&plan->hashes);
	tt_arena_deinit(&plan->arena);
	*plan = (struct tt_plan){0};
}
