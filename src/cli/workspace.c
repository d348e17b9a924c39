/* ttnn workspace: the folder that the command lines of TT-NN's documents are run in. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/embed.h"
#include "base/file.h"
#include "base/str.h"
#include "cli/cli.h"

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

static tt_status put_file(size_t *kept, const struct tt_embedded *file, const char *directory)
{
	struct tt_str path = {0};
	tt_status status;

	tt_str_addf(&path, "%s/%s", directory, file->name);
	status = tt_str_status(&path);
	if (status == TTNN_OK)
		status = make_parent(tt_str_text(&path));
	if (status == TTNN_OK && !force && access(tt_str_text(&path), F_OK) == 0)
		++*kept;
	else if (status == TTNN_OK)
		status = tt_file_save(tt_str_text(&path), file->data, file->size);
	tt_str_deinit(&path);
	return status;
}

static int run(const struct tt_cmd *cmd, size_t count, char **given)
{
	const char *directory = given[0];
	size_t written = 0, kept = 0;

	(void)cmd;
	(void)count;
	for (const struct tt_embedded *file = tt_embedded_workspace; file->name; file++, written++)
		if (put_file(&kept, file, directory) != TTNN_OK)
			return cli_fail();
	printf("%s: %zu files", directory, written - kept);
	if (kept)
		printf(", %zu were there already (--force replaces them)", kept);
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
