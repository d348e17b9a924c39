/* submit.c: what both schedulers share, and the script for Slurm. */
#include "sweep/submit.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/db.h"
#include "sweep/submit_parts.h"

void tt_submit_name(char out[TT_SUBMIT_NAME], const char *run)
{
	snprintf(out, TT_SUBMIT_NAME, "ttnn-sweep-%.40s", run);
}

tt_status tt_submit_seconds(uint64_t *out, const char *time)
{
	uint64_t part[4] = {0};
	const char *dash = strchr(time, '-'), *at = time;
	unsigned count = 0;
	bool good = true;

	while (good) {
		char *end;

		good = isdigit((unsigned char)*at) && count < 4;
		if (!good)
			break;
		part[count++] = strtoull(at, &end, 10);
		good = part[count - 1] < 1000000;
		at = end;
		if (!*at)
			break;
		good = good && (*at == ':' || (at == dash && count == 1));
		at++;
	}
	if (!good || (dash ? count < 2 : count > 3))
		return tt_fail(TTNN_INVALID,
			       "--time: '%.40s' is no time such as 30, 2:00:00 or 1-12", time);
	if (dash)
		*out = 86400 * part[0] + 3600 * part[1] + 60 * part[2] + part[3];
	else if (count == 3)
		*out = 3600 * part[0] + 60 * part[1] + part[2];
	else
		*out = 60 * part[0] + part[1];
	return *out ? TTNN_OK : tt_fail(TTNN_INVALID, "--time: '%.40s' is no time at all", time);
}

/* ---- Slurm ------------------------------------------------------------------------------------------------- */

tt_status tt_submit_quote(struct tt_str *out, const char *word)
{
	if (strpbrk(word, "\n\r"))
		return tt_fail(TTNN_INVALID, "'%.40s': a line break cannot be in a job's options",
			       word);
	tt_str_addc(out, '\'');
	for (const char *c = word; *c; c++)
		if (*c == '\'')
			tt_str_adds(out, "'\\''");
		else
			tt_str_addc(out, *c);
	tt_str_addc(out, '\'');
	return TTNN_OK;
}

/* An option of sbatch. Its lines know no quotes that all versions read alike, so that a value has no spaces. */
static tt_status directive(struct tt_str *out, const char *name, const char *value)
{
	for (const char *c = value; c && *c; c++)
		if (isspace((unsigned char)*c) || iscntrl((unsigned char)*c) ||
		    strchr("'\"\\#", *c))
			return tt_fail(
				TTNN_INVALID,
				"--%s: '%.80s' cannot stand in a job script: no spaces and quotes",
				name, value);
	if (value)
		tt_str_addf(out, "#SBATCH --%s=%s\n", name, value);
	return TTNN_OK;
}

static tt_status extras(struct tt_str *out, const struct tt_submit *submit)
{
	for (size_t i = 0; i < submit->extra_count; i++) {
		const char *extra = submit->extra[i];

		if (strncmp(extra, "--", 2) != 0 || strpbrk(extra, "\n\r#"))
			return tt_fail(
				TTNN_INVALID,
				"--extra: '%.80s' is no option of sbatch such as --constraint=fast",
				extra);
		tt_str_addf(out, "#SBATCH %s\n", extra);
	}
	return TTNN_OK;
}

static tt_status head(struct tt_str *out, const struct tt_submit *submit)
{
	char name[TT_SUBMIT_NAME];
	struct tt_str logs = {0};
	tt_status status;

	tt_submit_name(name, submit->run);
	tt_str_adds(out, "#!/bin/sh\n");
	tt_str_addf(out, "#SBATCH --job-name=%s\n#SBATCH --array=1-%" PRIu64 "\n", name,
		    submit->shards);
	tt_str_adds(out, "#SBATCH --requeue\n#SBATCH --open-mode=append\n#SBATCH --ntasks=1\n");
	tt_str_addf(&logs, "%s%s%s-%%a.log", submit->logs ? submit->logs : "",
		    submit->logs ? "/" : "", name);
	status = tt_str_status(&logs);
	if (status == TTNN_OK)
		status = directive(out, "output", tt_str_text(&logs));
	tt_str_deinit(&logs);
	TT_TRY(status);
	TT_TRY(directive(out, "partition", submit->partition));
	TT_TRY(directive(out, "account", submit->account));
	TT_TRY(directive(out, "time", submit->time));
	if (submit->cpus)
		tt_str_addf(out, "#SBATCH --cpus-per-task=%" PRIu64 "\n", submit->cpus);
	if (submit->memory)
		tt_str_addf(out, "#SBATCH --mem=%" PRIu64 "K\n", (submit->memory + 1023) / 1024);
	return extras(out, submit);
}

tt_status tt_submit_command(struct tt_str *out, const struct tt_submit *submit, const char *shard)
{
	TT_TRY(tt_submit_quote(out, submit->program));
	tt_str_adds(out, " sweep run --resume ");
	TT_TRY(tt_submit_quote(out, submit->run));
	tt_str_addf(out, " --shard \"%s/%" PRIu64 "\" --db ", shard, submit->shards);
	TT_TRY(tt_submit_quote(out, submit->db));
	for (size_t i = 0; i < submit->argument_count; i++) {
		tt_str_addc(out, ' ');
		TT_TRY(tt_submit_quote(out, submit->arguments[i]));
	}
	return TTNN_OK;
}

tt_status tt_submit_slurm(struct tt_str *out, const struct tt_submit *submit)
{
	uint64_t seconds;

	TT_TRY(tt_db_check_url(submit->db));
	if (submit->time)
		TT_TRY(tt_submit_seconds(&seconds, submit->time));
	TT_TRY(head(out, submit));
	tt_str_adds(
		out,
		"\n# Written by `ttnn sweep submit`. All that a task needs is in the database.\n");
	TT_TRY(tt_submit_command(out, submit, "$SLURM_ARRAY_TASK_ID"));
	tt_str_adds(out,
		    " -q -j \"${SLURM_CPUS_PER_TASK:-1}\"\ncode=$?\n"
		    "# 1: some vectors failed. They have rows, and the task has done its work.\n"
		    "[ \"$code\" -gt 1 ] || exit 0\n");
	tt_str_addf(
		out,
		"if [ \"${SLURM_RESTART_COUNT:-0}\" -lt %" PRIu64 " ]; then\n"
		"\techo \"task $SLURM_ARRAY_TASK_ID: exit code $code: it is put back into the queue\" >&2\n"
		"\tscontrol requeue \"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\" && sleep 60\n"
		"fi\nexit \"$code\"\n",
		submit->retries);
	return tt_str_status(out);
}
