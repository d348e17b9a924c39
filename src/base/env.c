#include "base/env.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct tt_env_row rows[] = {
	{"TTNN_CLOCK", TT_ENV_CHOICE, "os|tsc", "the clock of recordings (default: the processor's where it can be trusted)"},
	{"TTNN_CONFIG_OVERRIDES", TT_ENV_OTHER, "JSON", "Python: members of ttnn.CONFIG, after the file"},
	{"TTNN_CONFIG_PATH", TT_ENV_OTHER, "FILE", "Python: a JSON file with members of ttnn.CONFIG"},
	{"TTNN_DEVICE", TT_ENV_OTHER, "NAME|FILE", "the machine: a profile that `ttnn devices` lists, or a file (default: n150)"},
	{"TTNN_DIALECT", TT_ENV_CHOICE, "seed|tt-metal", "how graphs, reports and texts are written (default: seed)"},
	{"TTNN_DNNL", TT_ENV_OTHER, "0|all|FILE", "oneDNN: without it, for all products, or from that file (default: where it is faster)"},
	{"TTNN_GENERATION", TT_ENV_CHOICE, "release-0.81|classic", "whose memory map and programs (default: release-0.81)"},
	{"TTNN_ISA", TT_ENV_CHOICE, "plain|avx2|avx512", "the most that kernels use of the processor (default: what it has)"},
	{"TTNN_LIBPQ", TT_ENV_OTHER, "FILE", "PostgreSQL's client library, for databases of it (default: libpq.so.5)"},
	{"TTNN_LIVE", TT_ENV_COUNT, "PORT", "where Tracy's viewers attach to the process while it runs, or the next free port (`ttnn profile --live`)"},
	{"TTNN_LIVE_ANNOUNCE", TT_ENV_OTHER, "ADDRESS[:PORT]", "with TTNN_LIVE: viewers there are told of it, too, and can attach from other machines (`ttnn profile --announce`)"},
	{"TTNN_LOG", TT_ENV_CHOICE, "error|warn|info|debug", "what is said on stderr (default: warn)"},
	{"TTNN_NUM_THREADS", TT_ENV_COUNT, "N", "threads that work on an operation (default: the processors)"},
	{"TTNN_OPERATION_TRACE_DIR", TT_ENV_OTHER, "DIR", "where parameter files go (default: the dialect's own)"},
	{"TTNN_PARAMS_DIALECT", TT_ENV_CHOICE, "seed|tt-metal|2026-01", "how parameter files are written (default: TTNN_DIALECT)"},
	{"TTNN_POOL_MB", TT_ENV_SIZE, "N", "megabytes of large blocks that are kept for the next operation"},
	{"TTNN_PROFILE", TT_ENV_OTHER, "PORT:KEY", "where `ttnn profile`, which sets it, hears of the processes that it records"},
	{"TTNN_TRACE", TT_ENV_OTHER, "DIR", "record everything into that directory, as `ttnn trace` does"},
	{"TTNN_TRACE_OPTIONS", TT_ENV_OTHER, "WORDS", "options of that recording, with commas between them (`ttnn trace --help`)"},
	{"TTNN_TRACE_PARAMS", TT_ENV_CHOICE, "0|1|values|async", "a JSON file for every operation; with the values of tensors; by a thread of its own"},
	{"TT_METAL_OPERATION_TIMEOUT_SECONDS", TT_ENV_SECONDS, "SECONDS", "an operation that takes longer fails (default: 0, never)"},
};
/* clang-format on */

const struct tt_env_row *tt_env_rows(size_t *count)
{
	*count = sizeof(rows) / sizeof(rows[0]);
	return rows;
}

const char *tt_env(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static bool is_word_of(const char *words, const char *word)
{
	size_t length = strlen(word);

	if (strchr(word, '|'))
		return false;
	for (const char *at = words; at; at = strchr(at, '|')) {
		at += *at == '|';
		if (strncmp(at, word, length) == 0 && (at[length] == '|' || !at[length]))
			return true;
	}
	return false;
}

static bool is_whole(const char *text, unsigned long long least)
{
	char *end;
	unsigned long long number;

	errno = 0;
	number = strtoull(text, &end, 10);
	return isdigit((unsigned char)text[0]) && !*end && !errno && number >= least;
}

static bool is_seconds(const char *text)
{
	char *end;
	double number = strtod(text, &end);

	return end != text && !*end && number >= 0 && isfinite(number);
}

static tt_status check(const struct tt_env_row *row, const char *value)
{
	switch (row->kind) {
	case TT_ENV_CHOICE:
		if (is_word_of(row->values, value))
			return TTNN_OK;
		return tt_fail(TTNN_INVALID, "%s is \"%s\"; it can be one of %s", row->name, value,
			       row->values);
	case TT_ENV_COUNT:
	case TT_ENV_SIZE:
		if (is_whole(value, row->kind == TT_ENV_COUNT))
			return TTNN_OK;
		return tt_fail(TTNN_INVALID, "%s is \"%s\"; it can be a whole number from %d on",
			       row->name, value, row->kind == TT_ENV_COUNT);
	case TT_ENV_SECONDS:
		if (is_seconds(value))
			return TTNN_OK;
		return tt_fail(TTNN_INVALID,
			       "%s is \"%s\"; it can be a number of seconds, 0 or more", row->name,
			       value);
	case TT_ENV_OTHER:
		break;
	}
	return TTNN_OK;
}

tt_status tt_env_check(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *value = tt_env(rows[i].name);

		if (value)
			TT_TRY(check(&rows[i], value));
	}
	return TTNN_OK;
}
