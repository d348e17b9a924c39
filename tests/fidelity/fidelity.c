/*
 * fidelity: runs recorded programs on this library and compares with what was recorded.
 *
 *	build/tests/fidelity/fidelity                         what `make test` runs: all programs, and the
 *	                                                      scores must not fall below the committed ones
 *	build/tests/fidelity/fidelity --only '^unary/'        some of them, and a table
 *	build/tests/fidelity/fidelity --show unary/relu/dram  expected against got
 *	build/tests/fidelity/fidelity --starve 20 --list-failures outcome   each 20 times with an allocation
 *	                                                      that fails
 *	build/tests/fidelity/fidelity --mutate 20 --list-failures outcome   each 20 times with other arguments
 *	build/tests/fidelity/fidelity --list-failures specs   which miss an aspect, and by what
 *
 * fidelity.h tells how it is made. A folder of recordings has a folder for each device ("n150") with
 * files of programs, one JSON object a line, gzip (tests/data/reference/README.md).
 */
#include <dirent.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/opt.h"
#include "fidelity.h"

#define DATA "tests/data/reference/programs"
#define MINIMUM "tests/data/reference/minimum.txt"
#define REASONS "tests/data/reference/reasons.txt"
#define DOCS "docs/fidelity.md"

/* ---- options ------------------------------------------------------------------------------------------ */

static const char *only = "", *label_only, *show, *failures, *json_path;
static struct tt_opt_list minima;
static bool by_operation, write_docs, write_minimum;
static bool plain; /* as a test: without options */
static int64_t job_count, each;
/* A limit that no program comes near on a machine with much else to do, nor under a sanitizer. */
static double seconds = 600;

static const struct tt_opt options[] = {
	{"only", 0, TT_OPT_STRING, &only, "REGEX", "only programs whose name fits"},
	{"label", 0, TT_OPT_STRING, &label_only, "NAME", "only this device"},
	{"machine", 0, TT_OPT_STRING, &fid_machine, "NAME",
	 "run them on another one: for the aspect memory"},
	{"databases", 0, TT_OPT_FLAG, &fid_databases, NULL,
	 "of the aspect memory also the databases of both dialects"},
	{"show", 0, TT_OPT_STRING, &show, "PROGRAM", "print expected against got, in this process"},
	{"list-failures", 0, TT_OPT_STRING, &failures, "ASPECT",
	 "print which miss it, and by what"},
	{"min", 0, TT_OPT_LIST, &minima, "ASPECT=PCT",
	 "exit 1 when less of it passes, of programs whose operations exist, in either half"},
	{"by-operation", 0, TT_OPT_FLAG, &by_operation, NULL,
	 "a row of the table for each operation, not for each file of programs"},
	{"json", 0, TT_OPT_STRING, &json_path, "FILE", "write all verdicts"},
	{"write-docs", 0, TT_OPT_FLAG, &write_docs, NULL, "write " DOCS},
	{"write-minimum", 0, TT_OPT_FLAG, &write_minimum, NULL,
	 "write " MINIMUM ": what is reached now"},
	{"jobs", 'j', TT_OPT_INT, &job_count, "N", "children at a time (default: processors)"},
	{"starve", 0, TT_OPT_INT, &fid_starvings, "N",
	 "instead, run each N times with another allocation failing: none may end badly"},
	{"mutate", 0, TT_OPT_INT, &fid_mutations, "N",
	 "instead, run each N times with a few values changed: none may end badly"},
	{"from", 0, TT_OPT_INT, &fid_first_mutation, "N",
	 "the first of these mutations (default: 1); FIDELITY_LOUD=1 tells of each"},
	{"each", 0, TT_OPT_INT, &each, "N", "only each N-th program of a file"},
	{"timeout", 0, TT_OPT_DOUBLE, &seconds, "SECONDS", "for one program (default: 600)"},
	{0},
};

/* ---- recordings ----------------------------------------------------------------------------------------- */

/* The programs of one file. */
struct file {
	struct tt_arena arena;
	TT_VEC(struct tt_json_doc *) docs;
	TT_VEC(struct fid_program) programs;
};

static void close_file(struct file *file)
{
	for (size_t i = 0; i < file->docs.count; i++)
		tt_json_free(file->docs.data[i]);
	TT_VEC_DEINIT(&file->docs);
	TT_VEC_DEINIT(&file->programs);
	tt_arena_deinit(&file->arena);
}

/* Which half: FNV-1a of the name, the same everywhere and for ever. */
static bool is_held(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
	return hash >> 32 & 1;
}

static tt_status add_line(struct file *file, const char *line, size_t length, const char *path,
			  const char *label, const regex_t *wanted)
{
	struct tt_json_doc **slot;
	struct tt_json_doc *doc;
	struct fid_program *program;
	const char *name;

	TT_TRY(tt_json_parse(&doc, line, length, path));
	slot = TT_VEC_PUSH(&file->docs);
	if (!slot) {
		tt_json_free(doc);
		return tt_fail_nomem();
	}
	*slot = doc;
	name = tt_json_string(tt_json_get(tt_json_root(doc), "name"), NULL);
	if (!name)
		return tt_fail(TTNN_FORMAT, "%s: a program without a name", path);
	if (regexec(wanted, name, 0, NULL, 0) != 0 || (show && strcmp(show, name) != 0))
		return TTNN_OK;
	program = TT_VEC_PUSH(&file->programs);
	if (!program)
		return tt_fail_nomem();
	*program = (struct fid_program){
		.name = name,
		.label = label,
		.record = tt_json_root(doc),
		.have = fid_have(tt_json_root(doc)),
		.held = is_held(name),
	};
	return TTNN_OK;
}

static tt_status open_file(struct file *file, const char *path, const char *label,
			   const regex_t *wanted)
{
	tt_status status = TTNN_OK;
	char *text;
	size_t size;

	TT_TRY(tt_file_read(&text, &size, path));
	for (size_t at = 0, end; at < size && status == TTNN_OK; at = end + 1) {
		const char *newline = memchr(text + at, '\n', size - at);

		end = newline ? (size_t)(newline - text) : size;
		if (end > at)
			status = add_line(file, text + at, end - at, path, label, wanted);
	}
	tt_free(text);
	return status;
}

/* ---- running ---------------------------------------------------------------------------------------------- */

/* What a row of the table is about: the part before the slash, or what the program calls last. */
static const char *family_of(struct tt_arena *arena, const struct fid_program *program)
{
	struct tt_json_iter it = tt_json_iter(tt_json_get(program->record, "body"));
	const char *call = NULL;

	if (!by_operation)
		return tt_arena_strndup(arena, program->name, strcspn(program->name, "/"));
	while (tt_json_next(&it)) {
		const char *name = tt_json_string(tt_json_get(it.value, "call"), NULL);

		call = name ? name : call;
	}
	return tt_arena_strdup(arena, call ? call : "nothing");
}

static tt_status add_outcomes(struct fid_tally *tally, const struct file *file,
			      struct fid_result (*results)[FID_MODES])
{
	for (size_t i = 0; i < file->programs.count; i++) {
		const struct fid_program *program = &file->programs.data[i];
		struct fid_outcome *outcome = TT_VEC_PUSH(&tally->outcomes);

		if (!outcome)
			return tt_fail_nomem();
		*outcome = (struct fid_outcome){
			.name = tt_arena_strdup(&tally->arena, program->name),
			.label = tt_arena_strdup(&tally->arena, program->label),
			.family = family_of(&tally->arena, program),
			.have = program->have,
			.held = program->held,
		};
		memcpy(outcome->results, results[i], sizeof(outcome->results));
		if (!outcome->name || !outcome->label || !outcome->family)
			return tt_fail_nomem();
		TT_TRY(fid_tally_refusals(tally, program, results[i]));
	}
	return TTNN_OK;
}

static void show_all(const struct file *file)
{
	for (size_t i = 0; i < file->programs.count; i++)
		for (enum fid_mode mode = 0; mode < FID_MODES; mode++)
			fid_show(&file->programs.data[i], mode);
}

/* A sanitizer takes eight times as long: as a test it sees each eighth program, whose scores may be a little lower. */
#ifdef __SANITIZE_ADDRESS__
#define EACH 8
#define LENIENCE 1.0
#else
#define EACH 1
#define LENIENCE 0.0
#endif

static void keep_some(struct file *file)
{
	size_t kept = 0, step = each > 0 ? (size_t)each : plain || fid_starvings ? EACH : 1;

	for (size_t i = each > 0 ? (size_t)fid_first_mutation % step : 0; i < file->programs.count;
	     i += step)
		file->programs.data[kept++] = file->programs.data[i];
	file->programs.count = kept;
}

static tt_status run_file(struct fid_tally *tally, const char *path, const char *label,
			  const regex_t *wanted)
{
	struct fid_jobs jobs = {.jobs = job_count > 0 ? (size_t)job_count
						      : (size_t)sysconf(_SC_NPROCESSORS_ONLN),
				.seconds = seconds};
	struct fid_result(*results)[FID_MODES] = NULL;
	struct file file = {0};
	tt_status status = open_file(&file, path, label, wanted);

	keep_some(&file);
	if (status == TTNN_OK && show)
		show_all(&file);
	if (status == TTNN_OK && !show && file.programs.count) {
		results = tt_calloc(file.programs.count, sizeof(*results));
		status = results ? fid_run_all(results, &tally->arena, file.programs.data,
					       file.programs.count, &jobs)
				 : tt_fail_nomem();
		if (status == TTNN_OK)
			status = add_outcomes(tally, &file, results);
		tt_free(results);
	}
	close_file(&file);
	return status;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Every file of programs in a folder, and in the folders in it, which are named after devices. */
static tt_status run_folder(struct fid_tally *tally, const char *folder, const char *label,
			    const regex_t *wanted)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_visible, alphasort);
	tt_status status = TTNN_OK;

	if (count < 0)
		return tt_fail(TTNN_NOTFOUND, "%s is no folder", folder);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		char path[1024];

		snprintf(path, sizeof(path), "%s/%s", folder, name);
		if (status == TTNN_OK && label && ends_with(name, ".jsonl.gz"))
			status = run_file(tally, path, label, wanted);
		else if (status == TTNN_OK && !label && (!label_only || !strcmp(label_only, name)))
			status = run_folder(tally, path, name, wanted);
		free(entries[i]);
	}
	free(entries);
	return status;
}

/* ---- minimum scores ------------------------------------------------------------------------------------------ */

static int aspect_of(const char *name, size_t length)
{
	for (int a = 0; a < FID_ASPECT_COUNT; a++)
		if (strlen(fid_aspect_names[a]) == length &&
		    strncmp(fid_aspect_names[a], name, length) == 0)
			return a;
	return -1;
}

/* Checks "ASPECT=PCT" in both halves; adds up how many hold. */
static tt_status check_minimum(int counts[2], const struct fid_tally *tally, const char *text)
{
	size_t length = strcspn(text, "= ");
	int aspect = aspect_of(text, length);
	double percent = text[length] ? strtod(text + length + 1, NULL) : -1;

	if (aspect < 0 || percent < 0)
		return tt_fail(TTNN_INVALID, "\"%s\" is no ASPECT=PERCENT", text);
	percent -= plain ? LENIENCE : 0;
	for (int half = 0; half < 2; half++) {
		struct fid_filter filter = {.have_only = true, .half = half};
		double got = fid_percent(fid_tally_count(tally, &filter, (enum fid_aspect)aspect));

		counts[got + 1e-9 < percent]++;
		if (got + 1e-9 < percent)
			printf("FAILED %s, %s half: %.1f %% is below %.1f %%\n",
			       fid_aspect_names[aspect], half ? "held" : "dev", got, percent);
	}
	return TTNN_OK;
}

static tt_status check_minimum_file(int counts[2], const struct fid_tally *tally)
{
	tt_status status = TTNN_OK;
	char *text, *save;
	size_t size;

	TT_TRY(tt_file_read(&text, &size, MINIMUM));
	for (char *line = strtok_r(text, "\n", &save); line && status == TTNN_OK;
	     line = strtok_r(NULL, "\n", &save))
		if (*line != '#')
			status = check_minimum(counts, tally, line);
	tt_free(text);
	return status;
}

static tt_status write_minimum_file(const struct fid_tally *tally)
{
	struct tt_str out = {0};
	tt_status status;

	tt_str_adds(
		&out,
		"# What each half must reach, in percent of the runs of programs whose\n"
		"# operations exist. Written by build/tests/fidelity/fidelity --write-minimum.\n");
	for (enum fid_aspect a = 0; a < FID_ASPECT_COUNT; a++) {
		struct fid_filter dev = {.have_only = true, .half = 0}, held = dev;
		double first, second;

		held.half = 1;
		first = fid_percent(fid_tally_count(tally, &dev, a));
		second = fid_percent(fid_tally_count(tally, &held, a));
		tt_str_addf(&out, "%s %.1f\n", fid_aspect_names[a],
			    first < second ? first : second);
	}
	status = tt_str_status(&out);
	if (status == TTNN_OK)
		status = tt_file_save(MINIMUM, out.data, out.length);
	tt_str_deinit(&out);
	return status;
}

/* ---- the command ------------------------------------------------------------------------------------------------ */

static int fail(void)
{
	fprintf(stderr, "fidelity: %s\n", ttnn_error());
	return TT_EXIT_ERROR;
}

static tt_status report(int counts[2], struct fid_tally *tally, bool test)
{
	if (failures) {
		int aspect = aspect_of(failures, strlen(failures));

		if (aspect < 0)
			return tt_fail(TTNN_INVALID, "there is no aspect %s", failures);
		fid_print_failures(tally, (enum fid_aspect)aspect);
	} else if (!show) {
		fid_print_table(tally);
		fid_print_totals(tally);
	}
	if (json_path)
		TT_TRY(fid_write_json(json_path, tally));
	if (write_docs)
		TT_TRY(fid_write_docs(DOCS, REASONS, tally));
	if (write_minimum)
		TT_TRY(write_minimum_file(tally));
	for (size_t i = 0; i < minima.count; i++)
		TT_TRY(check_minimum(counts, tally, minima.data[i]));
	return test ? check_minimum_file(counts, tally) : TTNN_OK;
}

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	const char *folder = count ? operands[0] : DATA;
	struct fid_tally tally = {0};
	int counts[2] = {0};
	tt_status status;
	regex_t wanted;

	(void)cmd;
	if (regcomp(&wanted, only, REG_EXTENDED | REG_NOSUB) != 0) {
		tt_fail(TTNN_INVALID, "a bad pattern: %s", only);
		return fail();
	}
	status = tt_op_registry();
	if (status == TTNN_OK)
		status = run_folder(&tally, folder, NULL, &wanted);
	if (status == TTNN_OK)
		status = report(counts, &tally, plain);
	regfree(&wanted);
	fid_tally_deinit(&tally);
	TT_VEC_DEINIT(&minima);
	if (status != TTNN_OK)
		return fail();
	if (plain || counts[1])
		printf("%d passed, %d failed\n", counts[0], counts[1]);
	return counts[1] ? TT_EXIT_NO : TT_EXIT_DONE;
}

int main(int argc, char **argv)
{
	static const struct tt_cmd cmd = {
		.name = "fidelity",
		.help = "run recorded programs and compare",
		.operands = "[FOLDER]",
		.most = 1,
		.options = options,
		.run = run,
	};

	plain = argc == 1;
	return tt_cmd_run(&cmd, "fidelity", (size_t)argc - 1, argv + 1);
}
