#include "cli/sweep_join.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/sweep.h"

static char path[4096];
static struct tt_json_doc *request;

static const char *text_of(const struct tt_json *object, const char *key)
{
	const struct tt_json *value = tt_json_get(object, key);

	return value && tt_json_kind(value) == TT_JSON_STRING ? tt_json_string(value, NULL) : NULL;
}

static tt_status set_options(const struct tt_json *root)
{
	const struct tt_json *ops = tt_json_get(root, "op");

	for (size_t i = 0; ops && i < tt_json_count(ops); i++) {
		const char **place = TT_VEC_PUSH(&sweep_ops);

		if (!place)
			return tt_fail_nomem();
		*place = tt_json_string(tt_json_at(ops, i), NULL);
		if (!*place)
			return tt_fail(TTNN_FORMAT,
				       "the request of the run is not as it was submitted");
	}
	sweep_suite = text_of(root, "suite");
	sweep_vector = text_of(root, "vector");
	sweep_mutate = text_of(root, "mutate");
	if (!tt_json_int(&sweep_seed, tt_json_get(root, "seed")) ||
	    !tt_json_int(&sweep_every, tt_json_get(root, "every")) || sweep_every < 1 ||
	    !tt_json_bool(&sweep_all_cases, tt_json_get(root, "all_cases")))
		return tt_fail(TTNN_FORMAT, "the request of the run is not as it was submitted");
	return TTNN_OK;
}

static tt_status make_file(void)
{
	const char *folder = getenv("TMPDIR");
	int fd;

	snprintf(path, sizeof(path), "%.4000s/ttnn-master-XXXXXX",
		 folder && *folder ? folder : "/tmp");
	fd = mkstemp(path);
	if (fd < 0) {
		tt_status status = tt_fail(TTNN_IO, "%s: %s", path, strerror(errno));

		*path = '\0';
		return status;
	}
	close(fd);
	return TTNN_OK;
}

tt_status sweep_join(struct tt_job *out, const char *database, const char *run)
{
	tt_status status = tt_job_find(out, database, run);

	if (status == TTNN_NOTFOUND) {
		*out = (struct tt_job){0};
		return TTNN_OK;
	}
	TT_TRY(status);
	TT_TRY(tt_json_parse(&request, out->request, strlen(out->request), "request"));
	TT_TRY(set_options(tt_json_root(request)));
	TT_TRY(make_file());
	TT_TRY(tt_job_master(out, database, path));
	sweep_master = path;
	return TTNN_OK;
}

void sweep_join_loaded(void)
{
	if (*path)
		unlink(path);
}

void sweep_join_end(struct tt_job *job)
{
	sweep_join_loaded();
	tt_json_free(request);
	request = NULL;
	tt_job_deinit(job);
}
