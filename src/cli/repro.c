/* ttnn repro: a call of a trace as a program of its own. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/cli.h"
#include "sweep/repro.h"

static int language = TT_REPRO_PYTHON;
static const char *output;

static const struct tt_opt options[] = {
	{"lang", 'l', TT_OPT_CHOICE, &language, "c|python", "the language (default: python)"},
	{"output", 'o', TT_OPT_STRING, &output, "FILE", "where it goes (default: standard output)"},
	{0},
};

static tt_status write_repro(struct tt_str *out, const char *path, uint64_t number)
{
	const char *name = strrchr(path, '/');
	struct tt_recall recall;
	struct tt_source *source;
	tt_status status;

	TT_TRY(tt_source_open(&source, path));
	status = tt_recall_read(&recall, source, number);
	if (status == TTNN_OK) {
		status = tt_repro_write(out, &recall, (enum tt_repro_language)language,
					name ? name + 1 : path);
		tt_recall_free(&recall);
	}
	tt_source_close(source);
	return status;
}

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	struct tt_str text = {0};
	tt_status status;
	char *end;
	uint64_t number = strtoull(operands[1], &end, 10);

	(void)count;
	if (*end || !number) {
		tt_fail(TTNN_INVALID, "'%s' is no number of a call", operands[1]);
		return tt_cmd_complain(cmd->name);
	}
	status = write_repro(&text, operands[0], number);
	if (status == TTNN_OK && output)
		status = tt_file_save(output, tt_str_text(&text), text.length);
	else if (status == TTNN_OK)
		fwrite(tt_str_text(&text), 1, text.length, stdout);
	tt_str_deinit(&text);
	return status == TTNN_OK ? TT_EXIT_DONE : cli_fail();
}

const struct tt_cmd cli_repro = {
	.name = "repro",
	.help = "write a call of a trace as a program of its own",
	.options = options,
	.operands = "TRACE N",
	.least = 2,
	.most = 2,
	.more = "The program makes random tensors of the recorded shapes, types and places, makes the call and compares its\n"
		"result with the golden. It exits with 1 when they differ; in Python it is a test for pytest, too.",
	.run = run,
};
