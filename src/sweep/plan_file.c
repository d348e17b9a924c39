/*
 * plan_file.c: plans as files: vector files of each operation, and lists (docs/formats/vectors.md):
 *
 *	# ttnn sweep vectors 1
 *	master SHA256 PATH
 *	OPERATION NUMBER SEED MUTATION
 *	...
 *
 * A "master" line holds for the vectors behind it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "db/db.h"
#include "sweep/plan.h"
#include "sweep/plan_parts.h"

static const char first_line[] = "# ttnn sweep vectors 1";

/* ---- vector files ------------------------------------------------------------------------------------------- */

/* The vectors of one module and suite, whose first is `first`. */
static tt_status write_module(struct tt_plan_written *out, const struct tt_plan *plan, size_t first,
			      const char *directory, const char *tag)
{
	const struct tt_plan_vector *head = &plan->vectors.data[first];
	struct tt_vector_suite suite = {.module = plan->configs.data[head->config].traced.op,
					.name = head->suite,
					.tag = tag};
	TT_VEC(struct tt_vector) vectors = {0};
	struct tt_str *texts = tt_calloc(plan->vectors.count, sizeof(*texts));
	struct tt_vectors_saved saved = {0};
	tt_status status = texts ? TTNN_OK : tt_fail_nomem();
	char path[4096];

	for (size_t i = first; status == TTNN_OK && i < plan->vectors.count; i++) {
		const struct tt_plan_vector *vector = &plan->vectors.data[i];
		struct tt_vector *next;

		if (strcmp(plan->configs.data[vector->config].traced.op, suite.module) != 0 ||
		    strcmp(vector->suite, suite.name) != 0)
			continue;
		status = tt_plan_params(&texts[i], plan, vector);
		next = TT_VEC_PUSH(&vectors);
		if (!next)
			status = tt_fail_nomem();
		else
			*next = (struct tt_vector){tt_str_text(&texts[i]), texts[i].length,
						   vector->invalid, vector->reason};
	}
	suite.vectors = vectors.data;
	suite.count = vectors.count;
	if (status == TTNN_OK)
		status = tt_vectors_path(path, sizeof(path), directory, suite.module);
	if (status == TTNN_OK)
		status = tt_vectors_save(&saved, path, &suite);
	out->files++;
	out->vectors += saved.count;
	out->unchanged += !saved.written;
	for (size_t i = 0; texts && i < plan->vectors.count; i++)
		tt_str_deinit(&texts[i]);
	tt_free(texts);
	TT_VEC_DEINIT(&vectors);
	return status;
}

tt_status tt_plan_write(struct tt_plan_written *out, const struct tt_plan *plan,
			const char *directory, const char *tag)
{
	struct tt_map seen = {0};
	tt_status status = TTNN_OK;

	*out = (struct tt_plan_written){0};
	for (size_t i = 0; status == TTNN_OK && i < plan->vectors.count; i++) {
		const struct tt_plan_vector *vector = &plan->vectors.data[i];
		struct tt_str key = {0};
		bool added = false;

		tt_str_addf(&key, "%s %s", plan->configs.data[vector->config].traced.op,
			    vector->suite);
		if (!tt_map_add(&seen, tt_str_text(&key), key.length, &added))
			status = tt_fail_nomem();
		tt_str_deinit(&key);
		if (status == TTNN_OK && added)
			status = write_module(out, plan, i, directory, tag);
	}
	tt_map_deinit(&seen);
	return status;
}

/* ---- lists ---------------------------------------------------------------------------------------------------- */

tt_status tt_plan_write_list(const struct tt_plan *plan, const char *path, const char *master)
{
	const char *digest = plan->configs.count ? plan->configs.data[0].master : "";
	struct tt_str text = {0};
	tt_status status;

	tt_str_addf(&text, "%s\nmaster %s %s\n", first_line, digest, master);
	for (size_t i = 0; i < plan->vectors.count; i++) {
		const struct tt_plan_vector *vector = &plan->vectors.data[i];
		const struct tt_traced_config *config = &plan->configs.data[vector->config].traced;
		char mutation[TT_MUTATION_NAME];

		tt_mutation_name(mutation, vector->mutation);
		tt_str_addf(&text, "%s %zu %llu %s\n", config->op, config->number,
			    (unsigned long long)vector->seed, mutation);
	}
	status = tt_str_status(&text);
	if (status == TTNN_OK)
		status = tt_file_save(path, tt_str_text(&text), text.length);
	tt_str_deinit(&text);
	return status;
}

bool tt_plan_is_list(const char *path)
{
	size_t length = strlen("# ttnn sweep vectors");
	char begin[32] = "";
	FILE *file = fopen(path, "re");
	bool is = file && fread(begin, 1, length, file) == length &&
		  strncmp(begin, first_line, length) == 0;

	if (file)
		fclose(file);
	return is;
}

/* A list that is being read. */
struct reading {
	struct tt_plan *plan;
	const char *path;
	const struct tt_plan_options *options;
	size_t line;
	struct tt_map known; /* "OPERATION NUMBER": the configuration, of the present master */
};

static tt_status fail_line(const struct reading *r, const char *what)
{
	return tt_fail(TTNN_FORMAT, "%s:%zu: %s", r->path, r->line, what);
}

/* A master that is not where the list says may be beside the list. */
static tt_status find_master(struct tt_str *out, const struct reading *r, const char *name)
{
	const char *slash = strrchr(r->path, '/');

	if (*name == '/' || tt_db_is_url(name) || access(name, F_OK) == 0 || !slash)
		tt_str_adds(out, name);
	else
		tt_str_addf(out, "%.*s/%s", (int)(slash - r->path), r->path, name);
	return tt_str_status(out);
}

static tt_status read_master(struct reading *r, char *words)
{
	char *name = strchr(words, ' ');
	struct tt_str path = {0};
	const char *digest;
	size_t first = r->plan->configs.count;
	tt_status status;

	if (!name)
		return fail_line(r, "expected master DIGEST PATH");
	*name++ = '\0';
	status = find_master(&path, r, name);
	if (status == TTNN_OK)
		status = tt_plan_load(&digest, r->plan, tt_str_text(&path));
	if (status == TTNN_OK && strcmp(digest, words) != 0)
		status = tt_fail(TTNN_INVALID, "%s:%zu: %s is not what the list was made of",
				 r->path, r->line, tt_str_text(&path));
	tt_str_deinit(&path);
	TT_TRY(status);
	tt_map_clear(&r->known);
	for (size_t i = first; i < r->plan->configs.count; i++) {
		const struct tt_traced_config *config = &r->plan->configs.data[i].traced;
		struct tt_map_entry *entry;
		char key[256];

		snprintf(key, sizeof(key), "%.200s %zu", config->op, config->number);
		entry = tt_map_add(&r->known, key, strlen(key), NULL);
		if (!entry)
			return tt_fail_nomem();
		entry->number = i;
	}
	return TTNN_OK;
}

static tt_status read_vector(struct reading *r, char *text)
{
	char *words[4] = {text}, *end, key[256];
	struct tt_plan_vector vector = {.suite = TT_PLAN_SUITE};
	const struct tt_map_entry *entry;

	for (int i = 1; i < 4; i++) {
		words[i] = strchr(words[i - 1], ' ');
		if (!words[i])
			return fail_line(r, "expected OPERATION NUMBER SEED MUTATION");
		*words[i]++ = '\0';
	}
	vector.seed = strtoull(words[2], &end, 10);
	if (*end || !tt_mutation_parse(&vector.mutation, words[3]))
		return fail_line(r, "no seed, or no mutation");
	snprintf(key, sizeof(key), "%.200s %.40s", words[0], words[1]);
	entry = tt_map_finds(&r->known, key);
	if (!entry)
		return fail_line(r, "the master has no such configuration");
	vector.config = (uint32_t)entry->number;
	vector.mutate = strcmp(words[3], "recorded") != 0;
	return tt_plan_take(r->plan, &vector, r->options);
}

static tt_status read_line(struct reading *r, char *line)
{
	if (r->line == 1)
		return strcmp(line, first_line) == 0
			       ? TTNN_OK
			       : fail_line(r, "no list of vectors of version 1");
	if (!*line || *line == '#')
		return TTNN_OK;
	return strncmp(line, "master ", 7) == 0 ? read_master(r, line + 7) : read_vector(r, line);
}

tt_status tt_plan_add_list(struct tt_plan *plan, const char *path,
			   const struct tt_plan_options *options)
{
	struct reading r = {.plan = plan, .path = path, .options = options};
	char *text, *line;
	size_t size;
	tt_status status;

	TT_TRY(tt_file_read(&text, &size, path));
	status = memchr(text, 0, size) ? tt_fail(TTNN_FORMAT, "%s: it has zero bytes", path)
				       : TTNN_OK;
	for (line = text; status == TTNN_OK && line;) {
		char *end = strchr(line, '\n');

		if (end)
			*end++ = '\0';
		r.line++;
		status = read_line(&r, line);
		line = end;
	}
	tt_map_deinit(&r.known);
	tt_free(text);
	return status;
}
