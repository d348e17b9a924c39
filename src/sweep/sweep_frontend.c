/* sweep_frontend.c: <ttnn_sweep.h>: vector files, child processes and traced calls for other languages. */
#include <stdio.h>
#include <string.h>
#include <ttnn_sweep.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "store/names.h"
#include "sweep/children.h"
#include "sweep/replay.h"
#include "sweep/vectors.h"

/* ---- vector files ---------------------------------------------------------------------------------------- */

static const char *member_text(const struct tt_json *object, const char *key)
{
	return tt_json_string(tt_json_get(object, key), NULL);
}

/* A vector of the suite; the text of its parameters goes to the end of `texts`, whose place is told later. */
static void read_vector(struct tt_vector *out, struct tt_str *texts, const struct tt_json *given)
{
	size_t start = texts->length;
	struct tt_jsonw w;

	tt_jsonw_init_str(&w, texts, (struct tt_jsonw_style){.utf8 = true});
	tt_jsonw_value(&w, tt_json_get(given, "params"));
	(void)tt_jsonw_finish(&w);
	out->length = texts->length - start;
	out->reason = member_text(given, "reason");
	out->invalid = out->reason != NULL;
}

/* What is done with a suite that was read. */
typedef tt_status use_suite(void *out, const char *path, const struct tt_vector_suite *suite);

static tt_status read_vectors(struct tt_vector_suite *suite, const struct tt_json *list,
			      use_suite *use, void *out, const char *path)
{
	struct tt_json_iter it = tt_json_iter(list);
	struct tt_vector *vectors = tt_calloc(tt_json_count(list) + 1, sizeof(*vectors));
	struct tt_str texts = {0};
	size_t place = 0;
	tt_status status;

	if (!vectors)
		return tt_fail_nomem();
	while (tt_json_next(&it))
		read_vector(&vectors[suite->count++], &texts, it.value);
	status = tt_str_status(&texts);
	for (size_t i = 0; i < suite->count; place += vectors[i++].length)
		vectors[i].params = tt_str_text(&texts) + place;
	suite->vectors = vectors;
	if (status == TTNN_OK)
		status = use(out, path, suite);
	tt_str_deinit(&texts);
	tt_free(vectors);
	return status;
}

static tt_status read_suite(void *out, const char *path, use_suite *use, const char *json,
			    size_t length)
{
	struct tt_vector_suite suite = {0};
	const struct tt_json *root;
	struct tt_json_doc *doc;
	tt_status status;

	TT_TRY(tt_json_parse(&doc, json, length, "the suite"));
	root = tt_json_root(doc);
	suite.module = member_text(root, "module");
	suite.name = member_text(root, "suite");
	suite.tag = member_text(root, "tag");
	suite.timestamp = member_text(root, "timestamp");
	status = suite.module && suite.name
			 ? read_vectors(&suite, tt_json_get(root, "vectors"), use, out, path)
			 : tt_fail(TTNN_INVALID, "a suite has a module and a name");
	tt_json_free(doc);
	return status;
}

static tt_status save_suite(void *out, const char *path, const struct tt_vector_suite *suite)
{
	return tt_vectors_save(out, path, suite);
}

enum ttnn_status ttnn_sweep_save(char **out, const char *path, const char *json, size_t length)
{
	struct tt_vectors_saved saved = {0};
	struct tt_str text = {0};
	struct tt_jsonw w;
	tt_status status;

	TT_TRY(read_suite(&saved, path, save_suite, json, length));
	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){0});
	tt_jsonw_object(&w);
	tt_jsonw_key_int(&w, "count", (int64_t)saved.count);
	tt_jsonw_key(&w, "written");
	tt_jsonw_bool(&w, saved.written);
	tt_jsonw_key_string(&w, "moved", saved.moved);
	tt_jsonw_end(&w);
	status = tt_jsonw_finish(&w);
	if (status == TTNN_OK)
		return tt_str_take(out, &text);
	tt_str_deinit(&text);
	return status;
}

static void write_entry(struct tt_jsonw *w, const struct tt_vector_entry *entry)
{
	struct tt_json_iter it = tt_json_iter(entry->object);

	tt_jsonw_object(w);
	tt_jsonw_key_string(w, "suite", entry->suite);
	tt_jsonw_key_string(w, "hash", entry->hash);
	tt_jsonw_key_string(w, "module", entry->module);
	tt_jsonw_key(w, "invalid");
	tt_jsonw_bool(w, entry->invalid);
	tt_jsonw_key_string(w, "reason", entry->reason);
	tt_jsonw_key(w, "params");
	tt_jsonw_object(w);
	while (tt_json_next(&it)) {
		if (tt_vector_is_header(it.key, it.key_length))
			continue;
		tt_jsonw_keyn(w, it.key, it.key_length);
		tt_jsonw_value(w, it.value);
	}
	tt_jsonw_end(w);
	tt_jsonw_end(w);
}

static tt_status list_suite(void *out, const char *path, const struct tt_vector_suite *suite)
{
	tt_status status = TTNN_OK;
	struct tt_jsonw *w = out;

	(void)path;
	for (size_t i = 0; status == TTNN_OK && i < suite->count; i++) {
		const struct tt_vector *vector = &suite->vectors[i];
		struct tt_json_doc *doc = NULL;
		char hash[TT_VECTOR_HASH];

		status = tt_vector_hash(hash, suite, vector);
		if (status == TTNN_OK)
			status = tt_json_parse(&doc, vector->params, vector->length, "vector");
		if (status == TTNN_OK)
			write_entry(w, &(struct tt_vector_entry){
					       .suite = suite->name,
					       .hash = hash,
					       .module = suite->module,
					       .invalid = vector->invalid,
					       .reason = vector->reason ? vector->reason : "",
					       .object = tt_json_root(doc),
				       });
		tt_json_free(doc);
	}
	return status;
}

enum ttnn_status ttnn_sweep_vectors(char **out, const char *json, size_t length)
{
	struct tt_str text = {0};
	struct tt_jsonw w;
	tt_status status;

	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){0});
	tt_jsonw_array(&w);
	status = read_suite(&w, NULL, list_suite, json, length);
	tt_jsonw_end(&w);
	if (status == TTNN_OK)
		status = tt_jsonw_finish(&w);
	if (status == TTNN_OK)
		return tt_str_take(out, &text);
	tt_str_deinit(&text);
	return status;
}

enum ttnn_status ttnn_sweep_load(char **out, const char *path)
{
	struct tt_vector_file file;
	struct tt_str text = {0};
	struct tt_jsonw w;
	tt_status status;

	TT_TRY(tt_vector_file_open(&file, path));
	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){0});
	tt_jsonw_array(&w);
	for (size_t i = 0; i < file.count; i++)
		write_entry(&w, &file.entries[i]);
	tt_jsonw_end(&w);
	status = tt_jsonw_finish(&w);
	tt_vector_file_close(&file);
	if (status == TTNN_OK)
		return tt_str_take(out, &text);
	tt_str_deinit(&text);
	return status;
}

/* ---- child processes --------------------------------------------------------------------------------------- */

_Static_assert(TTNN_SWEEP_ANSWER == TT_WORKER_ANSWER, "an answer is an answer");

struct crew {
	const struct ttnn_sweep_work *work;
	uint64_t next;
};

static bool next_task(void *context, uint64_t *task)
{
	struct crew *crew = context;

	*task = crew->next;
	return crew->next < crew->work->count && ++crew->next;
}

static tt_status begin_child(void *context)
{
	const struct ttnn_sweep_work *work = ((struct crew *)context)->work;

	return work->begin ? work->begin(work->context) : TTNN_OK;
}

static size_t do_task(void *context, uint64_t task, void *answer)
{
	const struct ttnn_sweep_work *work = ((struct crew *)context)->work;

	return work->work(work->context, task, answer);
}

static tt_status task_done(void *context, const struct tt_worker_done *done)
{
	const struct ttnn_sweep_work *work = ((struct crew *)context)->work;
	struct ttnn_sweep_done told = {
		.task = done->task,
		.end = done->end == TT_WORKER_ANSWERED  ? TTNN_SWEEP_ANSWERED
		       : done->end == TT_WORKER_CRASHED ? TTNN_SWEEP_CRASHED
							: TTNN_SWEEP_HUNG,
		.signal = done->signal,
		.code = done->code,
		.answer = done->answer,
		.size = done->size,
	};

	return work->done(work->context, &told);
}

static bool should_stop(void *context)
{
	const struct ttnn_sweep_work *work = ((struct crew *)context)->work;

	return work->stop && work->stop(work->context);
}

enum ttnn_status ttnn_sweep_work(const struct ttnn_sweep_work *work)
{
	struct crew crew = {.work = work};

	return tt_workers_run(&(struct tt_workers){
		.jobs = work->jobs,
		.timeout_ns = work->timeout_ns,
		.memory = work->memory,
		.context = &crew,
		.next = next_task,
		.begin = begin_child,
		.work = do_task,
		.done = task_done,
		.stop = should_stop,
	});
}

/* ---- traced calls -------------------------------------------------------------------------------------------- */

struct tt_replayer {
	struct tt_traced traced;
	struct tt_replay_machine own;
};

enum ttnn_status ttnn_replayer_open(ttnn_replayer **out, const char *master)
{
	struct tt_replayer *replayer = tt_calloc(1, sizeof(*replayer));
	tt_status status;

	if (!replayer)
		return tt_fail_nomem();
	status = tt_traced_load(&replayer->traced, master);
	if (status != TTNN_OK) {
		tt_free(replayer);
		return status;
	}
	*out = replayer;
	return TTNN_OK;
}

void ttnn_replayer_free(ttnn_replayer *replayer)
{
	if (!replayer)
		return;
	tt_replay_close(&replayer->own);
	tt_traced_free(&replayer->traced);
	tt_free(replayer);
}

/* Whether a name, "add" or "experimental.x", means this operation. */
static bool is_named(const char *op, const char *name)
{
	size_t length = strlen(op), end = strlen(name);

	return strcmp(op, name) == 0 || (length > end + 1 && op[length - end - 1] == '.' &&
					 strcmp(op + length - end, name) == 0);
}

static const struct tt_traced_config *find_config(const struct tt_replayer *replayer,
						  const char *name, size_t number)
{
	for (size_t i = 0; i < replayer->traced.count; i++) {
		const struct tt_traced_config *config = &replayer->traced.configs[i];

		if (config->number == number && is_named(config->op, name))
			return config;
	}
	return NULL;
}

static void tell(struct ttnn_replay_result *out, const struct tt_replay_result *result,
		 const struct tt_traced_config *config)
{
	struct tt_str notes = {0};

	*out = (struct ttnn_replay_result){
		.passed = result->outcome == TT_REPLAY_PASSED ||
			  result->outcome == TT_REPLAY_UNJUDGED,
		.judged = result->outcome != TT_REPLAY_UNJUDGED,
		.stood_in = result->stood_in,
		.moved = result->moved,
		.pcc = result->pcc,
		.bound = result->bound,
		.error = result->error,
		.ns = result->ns,
	};
	for (size_t i = 0; i < result->note_count; i++)
		tt_str_addf(&notes, "%s%s", i ? "; " : "", result->notes[i]);
	snprintf(out->operation, sizeof(out->operation), "%s", config->op);
	snprintf(out->source, sizeof(out->source), "%s", config->source);
	snprintf(out->why, sizeof(out->why), "%s", result->why);
	snprintf(out->notes, sizeof(out->notes), "%s", tt_str_text(&notes));
	tt_str_deinit(&notes);
}

/* Two chips, where they give each other their data; the caller's device otherwise. */
static tt_status choose_machine(struct tt_replay_machine *out, struct tt_replayer *replayer,
				const char *op, ttnn_device *device)
{
	if (device && !tt_replay_apart(op)) {
		*out = (struct tt_replay_machine){.device = device};
		return TTNN_OK;
	}
	if (!replayer->own.device)
		TT_TRY(tt_replay_open(&replayer->own));
	*out = replayer->own;
	return TTNN_OK;
}

enum ttnn_status ttnn_replayer_run(struct ttnn_replay_result *out, ttnn_replayer *replayer,
				   const char *name, size_t number, ttnn_device *device)
{
	const struct tt_traced_config *config;
	struct tt_replay_machine machine;
	struct tt_replay_result result;
	struct tt_call_source source;
	struct tt_arena arena = {0};
	struct tt_str dotted = {0};
	tt_status status;

	TT_TRY(tt_op_registry());
	tt_names_dotted(&dotted, name);
	config = find_config(replayer, tt_str_text(&dotted), number);
	tt_str_deinit(&dotted);
	if (!config)
		return tt_fail(TTNN_NOTFOUND, "there is no configuration %zu of %s", number, name);
	TT_TRY(choose_machine(&machine, replayer, config->op, device));
	source = tt_call_of_config(config);
	status = tt_replay_run(
		&result, &arena, &machine, &source,
		&(struct tt_replay_options){.seed = 1000003 + number, .retrace = true});
	if (status == TTNN_OK)
		tell(out, &result, config);
	tt_arena_deinit(&arena);
	return status;
}
