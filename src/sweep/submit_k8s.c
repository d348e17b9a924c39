/*
 * submit_k8s.c: the Job for Kubernetes (batch/v1, completionMode Indexed: from version 1.24 on). Texts are written as JSON
 * has them, which YAML reads alike.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/jsonw.h"
#include "db/db.h"
#include "sweep/submit_parts.h"

static void text(struct tt_str *out, const char *value)
{
	struct tt_jsonw w;

	tt_jsonw_init_str(&w, out, (struct tt_jsonw_style){0});
	tt_jsonw_string(&w, value);
	if (tt_jsonw_finish(&w) != TTNN_OK)
		out->failed = true;
}

/* Names of objects: small letters, digits, '-' and '.', from a letter or digit to one. */
static tt_status check_name(const char *option, const char *name)
{
	size_t length = strlen(name);
	bool good = length && length <= 253 && isalnum((unsigned char)name[0]) &&
		    isalnum((unsigned char)name[length - 1]);

	for (size_t i = 0; good && i < length; i++)
		good = islower((unsigned char)name[i]) || isdigit((unsigned char)name[i]) ||
		       name[i] == '-' || name[i] == '.';
	return good ? TTNN_OK
		    : tt_fail(TTNN_INVALID,
			      "%s: '%.60s' is no name for Kubernetes: small letters, digits, - and .",
			      option, name);
}

static void head(struct tt_str *out, const struct tt_submit *submit, const char *name)
{
	tt_str_addf(out, "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: %s\n", name);
	if (submit->name_space)
		tt_str_addf(out, "  namespace: %s\n", submit->name_space);
	tt_str_adds(out, "  labels:\n    app.kubernetes.io/name: ttnn-sweep\n    ttnn-run: ");
	text(out, submit->run);
	tt_str_addf(out,
		    "\nspec:\n  completionMode: Indexed\n  completions: %" PRIu64
		    "\n  parallelism: %" PRIu64 "\n  backoffLimit: %" PRIu64 "\n",
		    submit->shards, submit->shards, submit->shards * submit->retries);
}

static void resources(struct tt_str *out, const struct tt_submit *submit)
{
	if (!submit->cpus && !submit->memory)
		return;
	tt_str_adds(out, "          resources:\n");
	for (int i = 0; i < 2; i++) {
		tt_str_adds(out, i ? "            limits:\n" : "            requests:\n");
		if (submit->cpus)
			tt_str_addf(out, "              cpu: \"%" PRIu64 "\"\n", submit->cpus);
		if (submit->memory)
			tt_str_addf(out, "              memory: \"%" PRIu64 "Ki\"\n",
				    (submit->memory + 1023) / 1024);
	}
}

static tt_status selector(struct tt_str *out, const struct tt_submit *submit)
{
	for (size_t i = 0; i < submit->extra_count; i++) {
		const char *extra = submit->extra[i], *equals = strchr(extra, '=');
		struct tt_str key = {0};

		if (!equals || equals == extra)
			return tt_fail(TTNN_INVALID,
				       "--extra: '%.80s' is no label of nodes such as disk=fast",
				       extra);
		if (!i)
			tt_str_adds(out, "      nodeSelector:\n");
		tt_str_add(&key, extra, (size_t)(equals - extra));
		tt_str_adds(out, "        ");
		text(out, tt_str_text(&key));
		tt_str_adds(out, ": ");
		text(out, equals + 1);
		tt_str_addc(out, '\n');
		out->failed |= key.failed;
		tt_str_deinit(&key);
	}
	return TTNN_OK;
}

static tt_status container(struct tt_str *out, const struct tt_submit *submit)
{
	struct tt_str command = {0};
	tt_status status = tt_submit_command(&command, submit, "$((JOB_COMPLETION_INDEX + 1))");

	if (submit->cpus)
		tt_str_addf(&command, " -j %" PRIu64, submit->cpus);
	/* 1: some vectors failed. They have rows, and the task has done its work. */
	tt_str_adds(&command, " -q || [ $? = 1 ]");
	if (status == TTNN_OK)
		status = tt_str_status(&command);
	if (status == TTNN_OK) {
		tt_str_adds(out, "      containers:\n        - name: sweep\n          image: ");
		text(out, submit->image);
		tt_str_adds(
			out,
			"\n          command:\n            - /bin/sh\n            - -c\n            - ");
		text(out, tt_str_text(&command));
		tt_str_addc(out, '\n');
	}
	tt_str_deinit(&command);
	return status;
}

tt_status tt_submit_k8s(struct tt_str *out, const struct tt_submit *submit)
{
	char name[TT_SUBMIT_NAME];
	uint64_t seconds = 0;

	TT_TRY(tt_db_check_url(submit->db));
	if (!strstr(submit->db, "://"))
		return tt_fail(
			TTNN_INVALID,
			"--db: pods cannot see the file %.200s: a postgresql:// address is needed",
			submit->db);
	if (!submit->image)
		return tt_fail(TTNN_INVALID,
			       "--engine k8s needs --image NAME, made of deploy/Containerfile");
	tt_submit_name(name, submit->run);
	TT_TRY(check_name("run", name));
	if (submit->name_space)
		TT_TRY(check_name("--namespace", submit->name_space));
	if (submit->secret)
		TT_TRY(check_name("--secret", submit->secret));
	if (submit->time)
		TT_TRY(tt_submit_seconds(&seconds, submit->time));
	head(out, submit, name);
	tt_str_adds(
		out,
		"  template:\n    metadata:\n      labels:\n        app.kubernetes.io/name: ttnn-sweep\n"
		"    spec:\n      restartPolicy: Never\n");
	if (seconds)
		tt_str_addf(out, "      activeDeadlineSeconds: %" PRIu64 "\n", seconds);
	TT_TRY(selector(out, submit));
	TT_TRY(container(out, submit));
	if (submit->secret)
		tt_str_addf(
			out,
			"          env:\n            - name: PGPASSWORD\n              valueFrom:\n"
			"                secretKeyRef:\n                  name: %s\n                  key: password\n",
			submit->secret);
	resources(out, submit);
	return tt_str_status(out);
}
