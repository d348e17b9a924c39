/*
 * params.c: the tracer: listens to calls and writes a file for each before it returns. docs/params.md
 * is its manual.
 */
#include "trace/params.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <ttnn_frontend.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/env.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "event/call.h"
#include "trace/params_file.h"

/* ---- switches --------------------------------------------------------------------------------------- */

static atomic_bool flags[TTNN_PARAMS_SERIALIZING + 1];
static atomic_bool async;
static _Atomic(const char *) directory; /* NULL: the style's own; never freed */
static _Atomic(const struct tt_params_style *) chosen;
static _Atomic(const char *) test; /* that runs; NULL: none; never freed */
TT_LOCK_STATIC(switch_lock, TT_RANK_PARAMS, NULL);
static _Thread_local unsigned busy; /* this thread is making a file */

static atomic_uint_least64_t lost;

void ttnn_params_lose(const char *name, const char *why)
{
	if (atomic_fetch_add(&lost, 1) == 0)
		tt_log(TT_LOG_WARN,
		       "the parameters of %s could not be written: %s (said once; the operation itself "
		       "is not affected)",
		       name, why ? why : ttnn_error());
}

/* So that a program whose files are missing says how many. */
static void say_lost(void)
{
	uint64_t count = ttnn_params_flush();

	if (count > 1)
		tt_log(TT_LOG_WARN, "%llu operations have no parameter file",
		       (unsigned long long)count);
}

static void choose_style(void)
{
	const char *name = tt_env("TTNN_PARAMS_DIALECT");
	const struct tt_params_style *style;

	if (!name)
		name = tt_env("TTNN_DIALECT");
	style = name ? tt_params_style(name) : NULL;
	atomic_store(&chosen, style ? style : tt_params_style_at(0));
}

static void start(void)
{
	const char *dir = tt_env("TTNN_OPERATION_TRACE_DIR");

	choose_style();
	if (dir)
		atomic_store(&directory, tt_event_intern(dir));
	tt_params_file_init(ttnn_params_lose);
	atexit(say_lost);
}

static void ensure_started(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start);
}

static const struct tt_params_style *style_now(void)
{
	ensure_started();
	return atomic_load(&chosen);
}

const char *ttnn_params_dir(void)
{
	const struct tt_params_style *style = style_now();
	const char *dir = atomic_load(&directory);

	return dir ? dir : style->directory;
}

enum ttnn_status ttnn_params_set_dir(const char *dir)
{
	const char *kept = NULL;

	ensure_started();
	if (dir && *dir && !(kept = tt_event_intern(dir)))
		return tt_fail_nomem();
	atomic_store(&directory, kept);
	return TTNN_OK;
}

const char *ttnn_params_dialect(void)
{
	return style_now()->name;
}

enum ttnn_status ttnn_params_set_dialect(const char *name)
{
	const struct tt_params_style *style = tt_params_style(name);

	if (!style)
		return tt_fail(TTNN_NOTFOUND, "there is no dialect %s of parameter files", name);
	ensure_started();
	atomic_store(&chosen, style);
	return TTNN_OK;
}

enum ttnn_status ttnn_params_set_test(const char *name)
{
	const char *kept = name ? tt_event_intern(name) : NULL;

	if (name && !kept)
		return tt_fail_nomem();
	atomic_store(&test, kept);
	return TTNN_OK;
}

uint64_t ttnn_params_counter(void)
{
	return tt_params_number_get();
}

void ttnn_params_set_counter(uint64_t number)
{
	tt_params_number_set(number);
}

/* ---- writing ------------------------------------------------------------------------------------------ */

bool ttnn_params_enter(void)
{
	if (busy || atomic_load(&flags[TTNN_PARAMS_SERIALIZING]))
		return false;
	busy++;
	return true;
}

void ttnn_params_leave(void)
{
	busy--;
}

/* One file in the making. */
struct job {
	const struct tt_event_call *call;
	struct tt_params_writer writer;
	uint64_t number;
	char stamp[TT_PARAMS_STAMP];
	struct tt_str path, text;
};

static const struct tt_jsonw_style pretty = {.indent = 2};

/* Values may be many: they go to the file as they are written, not through memory. */
static tt_status save_values(struct job *job)
{
	const char *path = tt_str_text(&job->path);
	struct tt_file_out *file;
	struct tt_jsonw w;
	tt_status status;

	TT_TRY(tt_params_file_create(&file, path));
	tt_jsonw_init_file(&w, file, pretty);
	tt_params_call(&w, &job->writer, job->number, job->stamp, job->call);
	status = tt_jsonw_finish(&w);
	if (status == TTNN_OK)
		return tt_params_file_commit(file, path);
	tt_file_discard(file);
	return status;
}

static tt_status hand_over(struct job *job)
{
	struct tt_params_file *file = tt_calloc(1, sizeof(*file));
	tt_status status = TTNN_OK;

	if (!file)
		return tt_fail_nomem();
	file->number = job->number;
	file->name = tt_strdup(job->call->name);
	file->path = tt_strdup(tt_str_text(&job->path));
	if (!file->name || !file->path)
		status = tt_fail_nomem();
	if (status != TTNN_OK) {
		tt_params_file_free(file);
		return status;
	}
	file->text = job->text;
	job->text = (struct tt_str){0};
	tt_params_file_queue(file);
	return TTNN_OK;
}

static tt_status save_text(struct job *job, bool later)
{
	struct tt_jsonw w;

	tt_jsonw_init_str(&w, &job->text, pretty);
	tt_params_call(&w, &job->writer, job->number, job->stamp, job->call);
	TT_TRY(tt_jsonw_finish(&w));
	TT_TRY(tt_str_status(&job->text));
	return later ? hand_over(job) : tt_params_file_write(tt_str_text(&job->path), &job->text);
}

/* The path of the file: DIR/3_ttnn_add_20260115_104616_345678.json */
static tt_status place(struct job *job, const char *dir)
{
	job->number = tt_params_number_take();
	tt_params_stamp(job->stamp, tt_clock_wall_ns());
	tt_str_adds(&job->path, dir);
	tt_str_addc(&job->path, '/');
	tt_params_file_name(&job->path, job->number, job->call->name, job->stamp);
	return tt_str_status(&job->path);
}

/* Does it; a number whose file came to nothing is free again. */
static tt_status save(struct job *job, const char *dir, bool later)
{
	tt_status status = place(job, dir);

	if (status == TTNN_OK)
		status = job->writer.values ? save_values(job) : save_text(job, later);
	tt_str_deinit(&job->text);
	if (status != TTNN_OK) {
		tt_params_number_return(job->number);
		return status;
	}
	if (job->writer.missing != TTNN_OK)
		TT_LOG_ONCE(TT_LOG_WARN, "%s: values of a tensor are missing: %s",
			    tt_str_text(&job->path), ttnn_error());
	return TTNN_OK;
}

enum ttnn_status ttnn_params_write(char **path, const struct ttnn_told_call *told, const char *dir,
				   bool values)
{
	struct job job = {
		.writer = {.style = style_now(), .values = values, .test = atomic_load(&test)}};
	struct tt_call_room room;
	struct tt_event_call call;
	tt_status status;

	TT_TRY(tt_event_call_make(&call, &room, told->name, told->args, told->arg_count));
	room.values[TT_CALL_RESULT] = told->result;
	job.call = &call;
	busy++;
	status = save(&job, dir ? dir : ttnn_params_dir(), false);
	busy--;
	tt_call_room_free(&room);
	if (status == TTNN_OK && path)
		return tt_str_take(path, &job.path);
	tt_str_deinit(&job.path);
	return status;
}

enum ttnn_status ttnn_params_json(char **out, const struct ttnn_value *value, bool values)
{
	struct tt_params_writer writer = {.style = style_now(), .values = values};
	struct tt_str text = {0};
	struct tt_jsonw w;
	tt_status status;

	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){0});
	tt_params_value(&w, &writer, value);
	status = tt_jsonw_finish(&w);
	if (status == TTNN_OK)
		return tt_str_take(out, &text);
	tt_str_deinit(&text);
	return status;
}

/* ---- listening ---------------------------------------------------------------------------------------- */

static void hear(struct tt_event_listener *self, const struct tt_event *event)
{
	struct job job = {.call = &event->call};
	bool before;

	(void)self;
	if (event->kind != TT_EVENT_CALL)
		return;
	job.writer.style = style_now();
	if ((event->call.error && !job.writer.style->errors) || !ttnn_params_enter())
		return;
	before = tt_deadline_hush(true);
	job.writer.test = atomic_load(&test);
	job.writer.values = atomic_load(&flags[TTNN_PARAMS_VALUES]);
	if (save(&job, ttnn_params_dir(), atomic_load(&async)) != TTNN_OK)
		ttnn_params_lose(event->call.name, NULL);
	tt_str_deinit(&job.path);
	tt_deadline_hush(before);
	ttnn_params_leave();
}

static struct tt_event_listener listener = {.emit = hear};

static tt_status enable(bool on)
{
	tt_status status = TTNN_OK;

	ensure_started();
	tt_lock_take(&switch_lock);
	if (on != atomic_load(&flags[TTNN_PARAMS_ENABLED])) {
		if (on)
			status = tt_event_attach(&listener);
		else
			tt_event_detach(&listener);
		if (status == TTNN_OK) {
			tt_event_want_calls(on);
			atomic_store(&flags[TTNN_PARAMS_ENABLED], on);
		}
	}
	tt_lock_give(&switch_lock);
	return status;
}

/* ---- the interface ------------------------------------------------------------------------------------ */

bool ttnn_params_get(enum ttnn_params_flag flag)
{
	return atomic_load(&flags[flag]) || (flag == TTNN_PARAMS_SERIALIZING && busy);
}

enum ttnn_status ttnn_params_set(enum ttnn_params_flag flag, bool on)
{
	if (flag == TTNN_PARAMS_ENABLED)
		return enable(on);
	atomic_store(&flags[flag], on);
	return TTNN_OK;
}

enum ttnn_status ttnn_params_trace(bool on, bool values, const char *dir)
{
	if (dir)
		TT_TRY(ttnn_params_set_dir(dir));
	atomic_store(&flags[TTNN_PARAMS_VALUES], values);
	TT_TRY(enable(on));
	if (!on)
		ttnn_params_flush();
	return TTNN_OK;
}

void ttnn_params_async(bool on)
{
	ensure_started();
	atomic_store(&async, on);
}

uint64_t ttnn_params_flush(void)
{
	tt_params_file_flush();
	return atomic_load(&lost);
}

void ttnn_params_environment(void)
{
	const char *request = tt_env("TTNN_TRACE_PARAMS");

	if (!request || strcmp(request, "0") == 0)
		return;
	ttnn_params_async(strcmp(request, "async") == 0);
	if (ttnn_params_trace(true, strcmp(request, "values") == 0, NULL) != TTNN_OK)
		ttnn_params_lose("any operation", NULL);
}
