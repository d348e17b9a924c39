#include "trace/session.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ttnn_frontend.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "device/devtensor.h"
#include "event/capture.h"
#include "event/ttrace.h"
#include "tensor/tensor.h"
#include "trace/graph_report.h"
#include "trace/params.h"
#include "trace/query.h"

/* ---- traces as graphs -------------------------------------------------------------------------------- */

enum ttnn_dialect tt_dialect_default(void)
{
	const char *name = tt_env("TTNN_DIALECT");

	return name && strcmp(name, "tt-metal") == 0 ? TTNN_DIALECT_TT_METAL : TTNN_DIALECT_SEED;
}

enum ttnn_dialect ttnn_dialect_of_environment(void)
{
	return tt_dialect_default();
}

enum ttnn_status ttnn_environment_check(void)
{
	return tt_env_check();
}

static tt_status project_all(struct tt_project *p, struct tt_source *source, uint64_t *last)
{
	const struct tt_seen *seen;

	tt_source_rewind(source);
	for (size_t i = 1;; i++) {
		TT_TRY(tt_source_next(&seen, source));
		if (!seen || p->status != TTNN_OK)
			return TTNN_OK;
		tt_project_event(p, &seen->event, seen->time_ns, seen->thread);
		*last = seen->time_ns > *last ? seen->time_ns : *last;
		if (i % 65536)
			continue;
		tt_deadline_poll();
		TT_TRY(tt_deadline_check());
	}
}

tt_status tt_graph_from_source(struct tt_graph *out, struct tt_source *source,
			       const struct tt_project_options *options)
{
	struct tt_project project;
	uint64_t last = 0;
	tt_status status;

	tt_project_init(&project, options);
	status = project_all(&project, source, &last);
	if (status == TTNN_OK)
		status = tt_project_finish(out, &project, last);
	tt_project_deinit(&project);
	return status;
}

bool tt_is_trace(const char *path)
{
	char magic[TT_TRACE_MAGIC_SIZE];
	struct stat facts;
	bool is;
	int fd;

	if (tt_ends_with(path, TT_TRACE_SUFFIX))
		return true;
	/* What cannot be read twice is not looked at: pipes. */
	if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode))
		return false;
	fd = tt_fd_open(path, O_RDONLY);
	if (fd < 0)
		return false;
	is = pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	     memcmp(magic, TT_TRACE_MAGIC, sizeof(magic)) == 0;
	close(fd);
	return is;
}

/* What comes through a pipe is read once, and then looked at. */
static tt_status open_pipe(struct tt_input *out, const char *path)
{
	TT_TRY(tt_file_read(&out->data, &out->size, path));
	if (out->size < TT_TRACE_MAGIC_SIZE ||
	    memcmp(out->data, TT_TRACE_MAGIC, TT_TRACE_MAGIC_SIZE) != 0)
		return TTNN_OK;
	return tt_source_open_bytes(&out->source, out->data, out->size, path);
}

tt_status tt_input_open(struct tt_input *out, const char *path)
{
	struct stat facts;
	tt_status status = TTNN_OK;

	memset(out, 0, sizeof(*out));
	out->path = path;
	if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode))
		status = open_pipe(out, path);
	else if (tt_is_trace(path))
		status = tt_source_open(&out->source, path);
	if (status != TTNN_OK)
		tt_input_close(out);
	return status;
}

tt_status tt_input_open_part(struct tt_input *out, const char *path,
			     const struct tt_source_window *window)
{
	tt_status status = TTNN_OK;

	TT_TRY(tt_input_open(out, path));
	if (window && out->source)
		status = tt_source_window(out->source, window);
	else if (window)
		status = tt_fail(TTNN_INVALID, "not a trace, and there are no parts of others");
	if (status == TTNN_OK)
		return TTNN_OK;
	tt_input_close(out);
	return tt_fail_prefix(status, "%s", path);
}

void tt_input_close(struct tt_input *input)
{
	tt_source_close(input->source);
	tt_free(input->data);
	memset(input, 0, sizeof(*input));
}

tt_status tt_input_stream(struct tt_stream **out, struct tt_input *input,
			  const struct tt_project_options *options)
{
	struct tt_stream_text text = {input->data, input->size};

	if (input->source)
		return tt_stream_open(out, input->source, options);
	return tt_stream_of_json(out, input->path, input->data ? &text : NULL, options->course);
}

tt_status tt_input_graph(struct tt_graph *out, struct tt_input *input,
			 const struct tt_project_options *options)
{
	tt_status status;

	memset(out, 0, sizeof(*out));
	if (input->source) {
		status = tt_graph_from_source(out, input->source, options);
		return status == TTNN_UNSUPPORTED ? tt_fail_prefix(status, "%s", input->path)
						  : status;
	}
	return tt_graph_take(out, input->path, input->data, input->size, options->most);
}

tt_status tt_graph_open(struct tt_graph *out, const char *path, enum ttnn_dialect dialect)
{
	struct tt_project_options options = {.dialect = dialect};
	struct tt_input input;
	tt_status status;

	memset(out, 0, sizeof(*out));
	TT_TRY(tt_input_open(&input, path));
	status = tt_input_graph(out, &input, &options);
	tt_input_close(&input);
	return status;
}

/* ---- captures ----------------------------------------------------------------------------------------- */

/* A capture that was begun and not ended; newest first. */
struct session {
	struct session *older;
	struct session *next, **link; /* of those of all threads; link NULL: not among them */
	char *where;                  /* the line of the program that began it, or NULL */
	long thread;                  /* the kernel's number */
	bool told;                    /* somebody has been warned that it is open */
	struct tt_capture *capture;
	struct tt_project_options options;
	enum ttnn_run_mode before; /* this thread's mode */
	int64_t wall_ns;
	uint64_t began_ns, ended_ns; /* ended: when its end was asked for; 0: it goes on */
};
static _Thread_local struct session *newest;

static atomic_bool switches[TTNN_GRAPH_SWITCHES];

/* Asked to be dry inside one that is not: 1, else 0. */
static int is_rehearsal(const struct session *s)
{
	return s->options.mode == TTNN_RUN_NO_DISPATCH && s->options.actual == TTNN_RUN_NORMAL;
}

static void forget_threads(struct tt_lock *unused);
static const struct tt_lock_forks forks = {.child = forget_threads};
TT_LOCK_STATIC(open_lock, TT_RANK_GRAPHS, &forks);
static struct session *open_sessions;

/* What a child of a fork has of its parent's captures is of no use: it says nothing of them. */
static void forget_threads(struct tt_lock *unused)
{
	(void)unused;
	for (struct session *s = open_sessions; s; s = s->next)
		s->link = NULL;
	open_sessions = NULL;
}

static void list(struct session *s)
{
	tt_lock_take(&open_lock);
	s->next = open_sessions;
	s->link = &open_sessions;
	if (s->next)
		s->next->link = &s->next;
	open_sessions = s;
	tt_lock_give(&open_lock);
}

static void unlist(struct session *s)
{
	tt_lock_take(&open_lock);
	if (s->link) {
		*s->link = s->next;
		if (s->next)
			s->next->link = s->link;
		s->link = NULL;
	}
	tt_lock_give(&open_lock);
}

static void free_session(struct session *s)
{
	tt_capture_free(s->capture);
	tt_free(s->where);
	tt_free(s);
}

/* "a NO_DISPATCH capture is open since 14:03:07, begun in model.py, line 12" */
static void describe(struct tt_str *out, const struct session *s)
{
	char stamp[TT_PARAMS_STAMP]; /* YYYYMMDD_HHMMSS_... */

	tt_params_stamp(stamp, s->wall_ns);
	tt_str_addf(out, "a %s capture is open since %.2s:%.2s:%.2s",
		    s->options.mode == TTNN_RUN_NO_DISPATCH ? "NO_DISPATCH" : "NORMAL", stamp + 9,
		    stamp + 11, stamp + 13);
	if (s->where)
		tt_str_addf(out, ", begun in %s", s->where);
}

/* That this thread has no capture, and who has one. */
static tt_status fail_without(void)
{
	struct tt_str text = {0};
	tt_status status;

	tt_lock_take(&open_lock);
	if (open_sessions) {
		tt_str_addf(&text, "; on thread %ld ", open_sessions->thread);
		describe(&text, open_sessions);
		tt_str_adds(&text, ": it is ended there");
	} else {
		tt_str_adds(&text, ", nor on another: nothing was begun, or it was ended already");
	}
	tt_lock_give(&open_lock);
	status = tt_fail(TTNN_STATE, "no graph capture is running on this thread%s",
			 text.failed ? "" : tt_str_text(&text));
	tt_str_deinit(&text);
	return status;
}

/* Takes the newest session off this thread. */
static struct session *leave(void)
{
	struct session *s = newest;

	newest = s->older;
	unlist(s);
	tt_run_mode_set(s->before);
	tt_run_rehearsals(-is_rehearsal(s));
	if (tt_dialect(s->options.dialect)->renumbers)
		atomic_fetch_sub(&tt_tensor_renumbering, 1);
	return s;
}

/* ---- threads that end ----------------------------------------------------------------------------------- */

static pthread_key_t at_exit;
static bool have_at_exit;

/* A thread takes its captures with it: nobody else could end them, and there is room for a few only. */
static void end_with_thread(void *unused)
{
	(void)unused;
	while (newest) {
		tt_log(TT_LOG_WARN, "a thread ended without ending the graph capture it had begun: "
				    "what that recorded is dropped");
		free_session(leave());
	}
}

static void make_key(void)
{
	have_at_exit = pthread_key_create(&at_exit, end_with_thread) == 0;
}

/* Any pointer will do: it makes that end_with_thread() is called. */
static void watch_thread(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_key);
	if (have_at_exit)
		pthread_setspecific(at_exit, &at_exit);
}

/* The process ends: what is open is dropped. */
__attribute__((destructor)) static void end_with_process(void)
{
	struct tt_str text = {0};

	tt_lock_take(&open_lock);
	for (const struct session *s = open_sessions; s; s = s->next) {
		tt_str_clear(&text);
		describe(&text, s);
		tt_log(TT_LOG_WARN, "the process ends, and %s: what it recorded is dropped",
		       tt_str_text(&text));
	}
	tt_lock_give(&open_lock);
	tt_str_deinit(&text);
}

/* ---- beginning and ending ------------------------------------------------------------------------------- */

enum ttnn_status ttnn_graph_open(char **out)
{
	struct tt_str text = {0};

	*out = NULL;
	if (!newest || newest->told)
		return TTNN_OK;
	newest->told = true;
	describe(&text, newest);
	tt_str_adds(&text, newest->options.actual == TTNN_RUN_NO_DISPATCH
				   ? ": nothing is computed until the outermost one ends"
				   : ": what begins now is inside of it");
	return tt_str_take(out, &text);
}

/* Captures nest; one that was forgotten, after a failure say, nests likewise. */
static void tell_open(void)
{
	char *text;

	if (tt_log_on(TT_LOG_WARN) && ttnn_graph_open(&text) == TTNN_OK && text) {
		tt_log(TT_LOG_WARN, "%s", text);
		tt_free(text);
	}
}

static tt_status new_session(struct session **out, const struct ttnn_graph_options *options)
{
	struct session *s = tt_calloc(1, sizeof(*s));
	tt_status status;

	if (!s)
		return tt_fail_nomem();
	s->options = (struct tt_project_options){.dialect = options->dialect,
						 .mode = options->mode,
						 .actual = newest ? newest->options.actual
								  : options->mode};
	s->thread = (long)syscall(SYS_gettid);
	s->where = options->where ? tt_strdup(options->where) : NULL;
	status = options->where && !s->where ? tt_fail_nomem() : TTNN_OK;
	if (status == TTNN_OK)
		status = tt_capture_begin(
			&s->capture,
			&(struct tt_capture_options){
				.this_thread = options->this_thread ||
					       !tt_dialect(options->dialect)->all_threads});
	if (status == TTNN_OK)
		*out = s;
	else
		free_session(s);
	return status;
}

enum ttnn_status ttnn_graph_begin_with(const struct ttnn_graph_options *options)
{
	const struct tt_dialect *rules = tt_dialect(options->dialect);
	struct session *s = NULL;

	TT_TRY(tt_env_check());
	tell_open();
	TT_TRY(new_session(&s, options));
	s->began_ns = tt_clock_ns();
	s->wall_ns = tt_capture_began(s->capture);
	s->before = tt_run_mode_set(s->options.actual);
	if (rules->renumbers)
		atomic_fetch_add(&tt_tensor_renumbering, 1);
	tt_run_rehearsals(is_rehearsal(s));
	s->older = newest;
	newest = s;
	list(s);
	watch_thread();
	return TTNN_OK;
}

enum ttnn_status ttnn_graph_begin_as(enum ttnn_run_mode mode, enum ttnn_dialect dialect)
{
	return ttnn_graph_begin_with(
		&(struct ttnn_graph_options){.mode = mode, .dialect = dialect});
}

enum ttnn_status ttnn_graph_begin(enum ttnn_run_mode mode)
{
	return ttnn_graph_begin_as(mode, tt_dialect_default());
}

uint32_t ttnn_graph_depth(void)
{
	uint32_t depth = 0;

	for (const struct session *s = newest; s; s = s->older)
		depth++;
	return depth;
}

/* The graph of a session, with its end or without, and the devices it used. */
static tt_status project_session(struct tt_graph *out, struct tt_graph_report *report,
				 const struct session *s)
{
	struct tt_project project;
	struct tt_source *source;
	tt_status status;
	uint64_t last = 0;

	TT_TRY(tt_source_open_capture(&source, s->capture));
	tt_project_init(&project, &s->options);
	status = project_all(&project, source, &last);
	report->wall_ns = s->wall_ns;
	report->duration_ns = s->ended_ns ? s->ended_ns - s->began_ns : 0;
	if (status == TTNN_OK)
		status = tt_graph_report_devices(report, project.devices.data,
						 project.devices.count);
	if (status == TTNN_OK && report->full)
		status = tt_graph_report_read(report, source);
	if (status == TTNN_OK)
		status = s->ended_ns ? tt_project_finish(out, &project, report->duration_ns)
				     : tt_project_take(out, &project);
	tt_project_deinit(&project);
	tt_source_close(source);
	return status;
}

static void tell_losses(const struct tt_capture_summary *summary)
{
	if (summary->lost)
		tt_log(TT_LOG_WARN, "the capture lost %llu records: %s",
		       (unsigned long long)summary->lost,
		       summary->reason ? summary->reason : "unknown");
}

/* Ends the newest session: `use` is given it once it has stopped. */
static tt_status end_session(tt_status (*use)(void *context, const struct session *s),
			     void *context)
{
	struct tt_capture_summary summary = {0};
	struct session *s;
	tt_status status;

	if (!newest)
		return fail_without();
	s = leave();
	s->ended_ns = tt_clock_ns();
	status = tt_capture_stop(&summary, s->capture);
	if (status == TTNN_OK)
		status = use(context, s);
	tell_losses(&summary);
	free_session(s);
	return status;
}

/* What is made of a session that ends. */
struct ending {
	struct tt_graph graph;
	struct tt_graph_report report;
	const char *path; /* of the report */
};

static tt_status make_graph(void *context, const struct session *s)
{
	struct ending *ending = context;

	return project_session(&ending->graph, &ending->report, s);
}

static tt_status hand_out(ttnn_graph **out, struct tt_graph *graph)
{
	ttnn_graph *copy;

	if (!out) {
		tt_graph_deinit(graph);
		return TTNN_OK;
	}
	copy = tt_alloc(sizeof(*copy));
	if (!copy) {
		tt_graph_deinit(graph);
		return tt_fail_nomem();
	}
	*copy = *graph;
	*out = copy;
	return TTNN_OK;
}

enum ttnn_status ttnn_graph_end(ttnn_graph **out)
{
	struct ending ending = {0};
	tt_status status = end_session(make_graph, &ending);

	tt_graph_report_deinit(&ending.report);
	return status == TTNN_OK ? hand_out(out, &ending.graph) : status;
}

/* ---- reports ---------------------------------------------------------------------------------------------- */

/* The directories above a file. */
static tt_status make_parents(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *above = slash && slash > path ? tt_strndup(path, (size_t)(slash - path)) : NULL;
	tt_status status = TTNN_OK;

	if (slash && slash > path)
		status = above ? tt_file_make_dirs(above) : tt_fail_nomem();
	tt_free(above);
	return status == TTNN_OK || status == TTNN_NOMEM ? status
							 : tt_fail_prefix(TTNN_IO, "%s", path);
}

static tt_status save_report(const char *path, const struct tt_graph_report *report,
			     struct tt_stream *stream)
{
	struct tt_file_out *file;
	struct tt_jsonw w;
	tt_status status;

	TT_TRY(make_parents(path));
	TT_TRY(tt_file_create(&file, path));
	tt_jsonw_init_file(&w, file, (struct tt_jsonw_style){.indent = 2, .utf8 = true});
	status = tt_graph_report_write(&w, report, stream);
	if (status == TTNN_OK)
		status = tt_jsonw_finish(&w);
	if (status == TTNN_OK)
		return tt_file_commit(file);
	tt_file_discard(file);
	return status;
}

/* The report of what a source tells. It has time and kind already, and learns devices and memory here. */
static tt_status report_stream(struct tt_graph_report *report, struct tt_source *source,
			       struct tt_stream *stream)
{
	const struct tt_stream_facts *facts = tt_stream_facts(stream);

	report->duration_ns = facts->duration_ns;
	TT_TRY(tt_graph_report_devices(report, facts->devices, facts->device_count));
	TT_TRY(tt_graph_report_read(report, source));
	return TTNN_OK;
}

tt_status tt_graph_report_from_source(struct tt_jsonw *w, struct tt_source *source,
				      const struct tt_project_options *options, bool pages)
{
	struct tt_graph_report report = {.wall_ns = tt_source_info(source)->began_ns,
					 .full = true,
					 .pages = pages,
					 .recorded = true};
	struct tt_stream *stream;
	tt_status status;

	TT_TRY(tt_stream_open(&stream, source, options));
	status = report_stream(&report, source, stream);
	if (status == TTNN_OK)
		status = tt_graph_report_write(w, &report, stream);
	tt_stream_close(stream);
	tt_graph_report_deinit(&report);
	return status;
}

tt_status tt_graph_report_around(struct tt_graph_report *out, struct tt_source *source,
				 struct tt_stream *stream, bool pages)
{
	*out = (struct tt_graph_report){.wall_ns = tt_source_info(source)->began_ns,
					.full = true,
					.pages = pages,
					.recorded = true};
	TT_TRY(report_stream(out, source, stream));
	if (out->memory)
		TT_TRY(tt_graph_report_memory_number(out->memory, stream));
	return tt_stream_restart(stream);
}

tt_status tt_graph_report_from_nodes(struct tt_jsonw *w, struct tt_stream *stream)
{
	struct tt_graph_report report = {.full = true,
					 .duration_ns = tt_stream_facts(stream)->duration_ns};

	return tt_graph_report_write(w, &report, stream);
}

/* The report of a session as it is made, without its graph in memory. */
static tt_status stream_report(void *context, const struct session *s)
{
	struct tt_project_options options = s->options;
	struct ending *ending = context;
	struct tt_stream *stream;
	struct tt_source *source;
	tt_status status;

	ending->report.wall_ns = s->wall_ns;
	options.end_ns = s->ended_ns - s->began_ns;
	TT_TRY(tt_source_open_capture(&source, s->capture));
	status = tt_stream_open(&stream, source, &options);
	if (status == TTNN_OK) {
		status = report_stream(&ending->report, source, stream);
		if (status == TTNN_OK)
			status = save_report(ending->path, &ending->report, stream);
		tt_stream_close(stream);
	}
	tt_source_close(source);
	return status;
}

/* The same for one whose graph is asked for, too. */
static tt_status save_graph(const struct ending *ending)
{
	struct tt_stream *stream;
	tt_status status;

	TT_TRY(tt_stream_of_graph(&stream, &ending->graph, false));
	status = save_report(ending->path, &ending->report, stream);
	tt_stream_close(stream);
	return status;
}

enum ttnn_status ttnn_graph_end_to_file(ttnn_graph **out, const char *path)
{
	struct ending ending = {
		.report = {.full = true, .pages = atomic_load(&switches[TTNN_GRAPH_PAGES])},
		.path = path};
	tt_status status;

	if (!*path)
		return tt_fail(TTNN_INVALID, "the path of a report is empty; the capture goes on");
	status = end_session(out ? make_graph : stream_report, &ending);
	if (status == TTNN_OK && out)
		status = save_graph(&ending);
	tt_graph_report_deinit(&ending.report);
	if (status == TTNN_OK)
		return hand_out(out, &ending.graph);
	tt_graph_deinit(&ending.graph);
	return status;
}

static tt_status write_now(struct tt_jsonw *w, const struct tt_graph_report *report,
			   const struct tt_graph *graph)
{
	struct tt_stream *stream;
	tt_status status;

	TT_TRY(tt_stream_of_graph(&stream, graph, false));
	status = tt_graph_report_write(w, report, stream);
	tt_stream_close(stream);
	return status;
}

enum ttnn_status ttnn_graph_report(char **out)
{
	struct tt_graph_report report = {.full = true,
					 .pages = atomic_load(&switches[TTNN_GRAPH_PAGES])};
	struct tt_graph graph = {0};
	struct tt_str text = {0};
	struct tt_jsonw w;
	tt_status status;

	if (!newest)
		return fail_without();
	status = project_session(&graph, &report, newest);
	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){.indent = 2, .utf8 = true});
	if (status == TTNN_OK)
		status = write_now(&w, &report, &graph);
	if (status == TTNN_OK)
		status = tt_jsonw_finish(&w);
	if (status == TTNN_OK)
		status = tt_str_take(out, &text);
	tt_str_deinit(&text);
	tt_graph_report_deinit(&report);
	tt_graph_deinit(&graph);
	return status;
}

/* ---- files, switches -------------------------------------------------------------------------------------- */

enum ttnn_status ttnn_graph_load(ttnn_graph **out, const char *path)
{
	struct tt_graph graph;

	TT_TRY(tt_graph_open(&graph, path, tt_dialect_default()));
	return hand_out(out, &graph);
}

enum ttnn_status ttnn_graph_parse(ttnn_graph **out, const char *json, size_t length)
{
	struct tt_graph graph;

	TT_TRY(tt_graph_parse(&graph, json, length, "graph"));
	return hand_out(out, &graph);
}

void ttnn_graph_free(ttnn_graph *graph)
{
	if (graph)
		tt_graph_deinit(graph);
	tt_free(graph);
}

void ttnn_graph_set(enum ttnn_graph_switch which, bool on)
{
	if ((unsigned)which >= TTNN_GRAPH_SWITCHES || atomic_exchange(&switches[which], on) == on)
		return;
	if (which == TTNN_GRAPH_STACKS)
		atomic_fetch_add(&tt_event_stacks.c, on ? 1 : -1);
	if (which == TTNN_GRAPH_PYTHON_STACKS)
		atomic_fetch_add(&tt_event_stacks.python, on ? 1 : -1);
}

bool ttnn_graph_is_set(enum ttnn_graph_switch which)
{
	return (unsigned)which < TTNN_GRAPH_SWITCHES && atomic_load(&switches[which]);
}
