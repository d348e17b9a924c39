/* ttnn workspace: the folder that the command lines of TT-NN's documents are run in. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <ttnn_frontend.h>
#include <unistd.h>

#include "base/embed.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/workspace_modules.h"

static bool force;
static const struct tt_opt options[] = {
	{"force", 'f', TT_OPT_FLAG, &force, NULL, "replace files that are there already"},
	{0},
};

/* The directory of a path, made when it is missing. */
static tt_status make_parent(const char *path)
{
	struct tt_str parent = {0};
	tt_status status;

	tt_str_add(&parent, path, (size_t)(strrchr(path, '/') - path));
	status = tt_str_status(&parent);
	if (status == TTNN_OK)
		status = tt_file_make_dirs(tt_str_text(&parent));
	tt_str_deinit(&parent);
	return status;
}

/* ---- files that are made of others ----------------------------------------------------------------- */

/* Writes a file of the workspace from one of data/workspace. */
typedef tt_status make_file(const char *path, const struct tt_embedded *source);

static tt_status unpack(const char *path, const struct tt_embedded *source)
{
	char *text;
	size_t size;
	tt_status status;

	TT_TRY(tt_file_gunzip(&text, &size, source->data, source->size, source->name));
	status = tt_file_save(path, text, size);
	tt_free(text);
	return status;
}

/* Names in the order of strcmp(). */
typedef TT_VEC(const char *) names_list;

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Methods of tensors are in no list of upstream's: what they do is no operation of a model. */
static bool is_method(const char *name)
{
	return strncmp(name, "ttnn.Tensor.", 12) == 0;
}

static tt_status own_names(names_list *names)
{
	const char *alias, *of;
	const ttnn_op *op;

	for (size_t i = 0; (op = ttnn_op_at(i)); i++) {
		struct ttnn_op_info info;
		const char **name;

		ttnn_op_get_info(&info, op);
		if (is_method(info.name))
			continue;
		name = TT_VEC_PUSH(names);
		if (!name)
			return tt_fail_nomem();
		*name = info.name;
	}
	for (size_t i = 0; (alias = ttnn_op_alias(&of, i)); i++) {
		const char **name = TT_VEC_PUSH(names);

		if (!name)
			return tt_fail_nomem();
		*name = alias;
	}
	qsort(names->data, names->count, sizeof(*names->data), compare_names);
	return TTNN_OK;
}

/* The lines of upstream's list that are none of these names. */
static void add_others(struct tt_str *text, const names_list *own, const struct tt_embedded *source)
{
	const char *at = (const char *)source->data, *end = at + source->size;

	for (size_t length; at < end; at += length + 1) {
		char name[256];
		const char *key = name;

		length = strcspn(at, "\n");
		snprintf(name, sizeof(name), "%.*s", (int)length, at);
		if (!bsearch(&key, own->data, own->count, sizeof(*own->data), compare_names))
			tt_str_addf(text, "%s\n", name);
	}
}

/*
 * The names of this library's operations, an empty line, and those names of upstream's list that it has no operation for.
 * Readers take a name from each line and pass over the empty one.
 */
static tt_status list_operations(const char *path, const struct tt_embedded *source)
{
	names_list own = {0};
	struct tt_str text = {0};
	tt_status status = own_names(&own);

	for (size_t i = 0; i < own.count; i++)
		if (!i || strcmp(own.data[i - 1], own.data[i]) != 0)
			tt_str_addf(&text, "%s\n", own.data[i]);
	tt_str_addc(&text, '\n');
	add_others(&text, &own, source);
	if (status == TTNN_OK)
		status = tt_str_status(&text);
	if (status == TTNN_OK)
		status = tt_file_save(path, tt_str_text(&text), text.length);
	tt_str_deinit(&text);
	TT_VEC_DEINIT(&own);
	return status;
}

#define MASTER "model_tracer/traced_operations/ttnn_operations_master.json"

/* To add one: a row, and its source in data/workspace. What users add to is never replaced. */
static const struct {
	const char *name, *source;
	make_file *make;
	bool grows;
} made[] = {
	{MASTER, "ttnn_operations_master.json.gz", unpack, true},
	{"tests/sweep_framework/Allops.txt", "Allops.txt", list_operations, false},
};

/* Names that lead to others: the older guide has the tracer's files at the root. */
static const struct {
	const char *name, *target;
} links[] = {
	{"analyze_operations.py", "model_tracer/analyze_operations.py"},
	{"generic_ops_tracer.py", "model_tracer/generic_ops_tracer.py"},
	{"traced_operations", "model_tracer/traced_operations"},
};

static const struct tt_embedded *find_source(const char *name)
{
	const struct tt_embedded *source = tt_embedded_sources;

	while (source->name && strcmp(source->name, name) != 0)
		source++;
	return source;
}

/* ---- the folder ----------------------------------------------------------------------------------------- */

struct putting {
	const char *directory;
	size_t written, kept;
};

/* The path of a name, with the directories above it; *there says whether it is to be left alone. */
static tt_status begin(struct tt_str *path, bool *there, struct putting *p, const char *name,
		       bool replace)
{
	struct stat found;

	tt_str_addf(path, "%s/%s", p->directory, name);
	TT_TRY(tt_str_status(path));
	TT_TRY(make_parent(tt_str_text(path)));
	*there = lstat(tt_str_text(path), &found) == 0 && (!replace || S_ISDIR(found.st_mode));
	p->kept += *there;
	p->written += !*there;
	return TTNN_OK;
}

/* A script can be run by its name. */
static tt_status put_text(const char *path, const struct tt_embedded *file)
{
	TT_TRY(tt_file_save(path, file->data, file->size));
	if (file->size > 2 && memcmp(file->data, "#!", 2) == 0 && chmod(path, 0755) != 0)
		return tt_fail(TTNN_IO, "%s: cannot make it executable: %s", path, strerror(errno));
	return TTNN_OK;
}

static tt_status put_link(const char *path, const char *target)
{
	if (force && unlink(path) != 0 && errno != ENOENT)
		return tt_fail(TTNN_IO, "%s: cannot remove it: %s", path, strerror(errno));
	if (symlink(target, path) != 0)
		return tt_fail(TTNN_IO, "%s: cannot make a link: %s", path, strerror(errno));
	return TTNN_OK;
}

static tt_status put_module(void *context, const char *name, const char *text, size_t length)
{
	struct tt_str path = {0};
	tt_status status;
	bool there;

	status = begin(&path, &there, context, name, force);
	if (status == TTNN_OK && !there)
		status = tt_file_save(tt_str_text(&path), text, length);
	tt_str_deinit(&path);
	return status;
}

static tt_status put_modules(struct putting *p)
{
	struct tt_str master = {0};
	tt_status status;

	tt_str_addf(&master, "%s/" MASTER, p->directory);
	status = tt_str_status(&master);
	if (status == TTNN_OK)
		status = cli_workspace_modules(tt_str_text(&master), put_module, p);
	tt_str_deinit(&master);
	return status;
}

static tt_status put_all(struct putting *p)
{
	struct tt_str path = {0};
	tt_status status = TTNN_OK;
	bool there;

	for (const struct tt_embedded *file = tt_embedded_workspace;
	     status == TTNN_OK && file->name; file++) {
		tt_str_clear(&path);
		status = begin(&path, &there, p, file->name, force);
		if (status == TTNN_OK && !there)
			status = put_text(tt_str_text(&path), file);
	}
	for (size_t i = 0; status == TTNN_OK && i < TT_COUNT(made); i++) {
		tt_str_clear(&path);
		status = begin(&path, &there, p, made[i].name, force && !made[i].grows);
		if (status == TTNN_OK && !there)
			status = made[i].make(tt_str_text(&path), find_source(made[i].source));
	}
	for (size_t i = 0; status == TTNN_OK && i < TT_COUNT(links); i++) {
		tt_str_clear(&path);
		status = begin(&path, &there, p, links[i].name, force);
		if (status == TTNN_OK && !there)
			status = put_link(tt_str_text(&path), links[i].target);
	}
	tt_str_deinit(&path);
	return status == TTNN_OK ? put_modules(p) : status;
}

static int run(const struct tt_cmd *cmd, size_t count, char **given)
{
	struct putting p = {.directory = given[0]};

	(void)cmd;
	(void)count;
	if (put_all(&p) != TTNN_OK)
		return cli_fail();
	printf("%s: %zu files", p.directory, p.written);
	if (p.kept && !force)
		printf(", %zu were there already (--force replaces all but the master)", p.kept);
	else if (p.kept)
		printf(", %zu left alone: the master holds what was traced, folders are yours",
		       p.kept);
	printf("\n");
	return TT_EXIT_DONE;
}

const struct tt_cmd cli_workspace = {
	.name = "workspace",
	.help = "make the folder that TT-NN's documented commands run in",
	.options = options,
	.operands = "DIR",
	.least = 1,
	.most = 1,
	.run = run,
};
