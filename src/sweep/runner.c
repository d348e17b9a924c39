/* runner.c: vectors in child processes. */
#include "sweep/runner.h"

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ttnn_frontend.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/fmt.h"
#include "base/jsondump.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/progress.h"
#include "sweep/children.h"
#include "sweep/replay.h"
#include "sweep/results_parts.h"

#define SEED_STEP                                                                                  \
	1000003 /* between the seeds of a user: configurations have their own beside each other */

#define UNJUDGED "it ran: there is no golden to compare with"

unsigned tt_runner_processors(void)
{
	cpu_set_t set;
	int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;

	return count > 0 ? (unsigned)count : 1;
}

uint64_t tt_runner_memory(unsigned jobs)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	if (pages <= 0 || size <= 0)
		return 0;
	return (uint64_t)pages * (uint64_t)size / 10 * 8 / (jobs ? jobs : 1);
}

/* ---- in a child ------------------------------------------------------------------------------------------- */

/* What a child answers. */
struct answer {
	bool passed, unjudged, refused, skipped, stood_in, moved;
	double pcc, bound, error;
	uint64_t ns, texts, meant;
	char why[400];
	char notes[1024];
};

/* A run that is under way; children have a copy of it. */
struct state {
	struct tt_runner *how;
	size_t next;
	struct tt_progress progress;
	char label[64];
	tt_status status;
	bool stopped;      /* somebody wants it to end */
	tt_claims claimed; /* from `taken` on they are not begun yet */
	size_t taken;
	struct tt_map hung_suites; /* "MODULE SUITE" */
	int64_t *begin_ns;         /* of each vector, since 1970 */
	struct tt_replay_machine machine;
	struct tt_arena arena;
};

static tt_status begin_child(void *context)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP};
	struct state *state = context;

	/* Ctrl-C is for the parent, who decides what is still counted. */
	for (size_t i = 0; i < TT_COUNT(ignored); i++)
		signal(ignored[i], SIG_IGN);
	ttnn_set_poll(NULL);
	tt_results_forget(state->how->results);
	tt_pool_set_threads(state->how->threads);
	return tt_replay_open(&state->machine);
}

static void add_notes(struct answer *out, const struct tt_replay_result *result)
{
	size_t used = 0;

	for (size_t i = 0; i < result->note_count && used < sizeof(out->notes); i++)
		used += (size_t)snprintf(out->notes + used, sizeof(out->notes) - used, "%s%s",
					 i ? "; " : "", result->notes[i]);
}

static void take_result(struct answer *out, const struct tt_replay_result *result)
{
	out->passed = result->outcome == TT_REPLAY_PASSED;
	out->unjudged = result->outcome == TT_REPLAY_UNJUDGED;
	out->skipped = result->outcome == TT_REPLAY_SKIPPED;
	out->refused = result->refused;
	out->stood_in = result->stood_in;
	out->moved = result->moved;
	out->pcc = result->pcc;
	out->bound = result->bound;
	out->error = result->error;
	out->ns = result->ns;
	out->texts = result->texts;
	out->meant = result->meant;
	snprintf(out->why, sizeof(out->why), "%s", result->why);
	add_notes(out, result);
}

static bool is_mutated(const struct tt_plan_vector *vector)
{
	static const struct tt_mutation none;

	return memcmp(&vector->mutation, &none, sizeof(none)) != 0;
}

static size_t work(void *context, uint64_t task, void *bytes)
{
	struct state *state = context;
	struct tt_runner *how = state->how;
	const struct tt_plan_vector *vector = &how->plan->vectors.data[task];
	struct tt_replay_options options = {
		.largest = how->largest, .retrace = !how->no_retrace, .stay = is_mutated(vector)};
	struct answer answer = {.pcc = NAN, .bound = NAN, .error = NAN};
	struct tt_replay_result result;
	struct tt_traced_config config;
	struct tt_call_source source;
	struct tt_json_doc *doc = NULL;
	tt_status status;

	if (how->before)
		how->before(how->context, vector);
	status = tt_plan_config(&config, &doc, how->plan, vector);
	options.seed = vector->seed * SEED_STEP + config.number;
	source = tt_call_of_config(&config);
	if (status == TTNN_OK)
		status = tt_replay_run(&result, &state->arena, &state->machine, &source, &options);
	if (status == TTNN_NOMEM)
		return TT_WORKER_SPENT; /* the next child begins with all of its memory */
	if (status == TTNN_OK)
		take_result(&answer, &result);
	else
		snprintf(answer.why, sizeof(answer.why), "%s", ttnn_error());
	tt_json_free(doc);
	tt_arena_reset(&state->arena);
	memcpy(bytes, &answer, sizeof(answer));
	return sizeof(answer);
}

/* ---- in the parent: rows ------------------------------------------------------------------------------------ */

/* Parameters with the state of the vector, as op_params_set is made of them. */
static tt_status params_of(struct tt_str *out, const struct tt_plan *plan,
			   const struct tt_plan_vector *vector)
{
	TT_TRY(tt_plan_params(out, plan, vector));
	if (out->length && !out->failed)
		out->length--; /* the brace */
	tt_str_addf(out, ", \"validity\": \"%s\", \"invalid_reason\": ",
		    vector->invalid ? "INVALID" : "VALID");
	tt_json_dump_text(out, vector->reason ? vector->reason : "",
			  vector->reason ? strlen(vector->reason) : 0);
	tt_str_adds(out, ", \"status\": \"VectorStatus.CURRENT\"}");
	return tt_str_status(out);
}

/* The key that a pass is remembered under: of the build and of all that the vector is. */
static tt_status key_of(char out[TT_DIGEST_TEXT], const struct tt_runner *how,
			const struct tt_plan_vector *vector)
{
	struct tt_str text = {0};
	tt_status status;

	/* The hash is of all parameters; other limits leave out more, and never pass less. */
	tt_str_addf(&text, "%s %s %d", how->build, vector->hash, how->no_retrace);
	status = tt_str_status(&text);
	if (status == TTNN_OK)
		status = tt_digest_text(out, TT_SHA256, tt_str_text(&text), text.length);
	tt_str_deinit(&text);
	return status;
}

static void count(struct tt_runner *how, const struct tt_sweep_result *result)
{
	struct tt_runner_counts *counts = &how->counts;

	counts->statuses[result->status]++;
	if (result->status == TT_SWEEP_PASS || result->status == TT_SWEEP_XPASS)
		counts->hows[result->how]++;
	counts->cached += result->cached;
	counts->done++;
}

static bool is_failure(enum tt_sweep_status status)
{
	return status != TT_SWEEP_PASS && status != TT_SWEEP_NOT_RUN && status != TT_SWEEP_XFAIL;
}

static void show_progress(struct state *state, enum tt_sweep_status status)
{
	const uint64_t *statuses = state->how->counts.statuses;
	uint64_t failed = 0;

	if (is_failure(status)) {
		for (unsigned i = 0; i < TT_SWEEP_STATUSES; i++)
			failed += is_failure((enum tt_sweep_status)i) ? statuses[i] : 0;
		snprintf(state->label, sizeof(state->label), "sweep, %llu failed",
			 (unsigned long long)failed);
	}
	tt_progress_add(&state->progress, 1);
}

/* Completes the row of a vector and adds it. */
static tt_status add_row(struct state *state, size_t number, struct tt_sweep_result *result)
{
	struct tt_runner *how = state->how;
	const struct tt_plan_vector *vector = &how->plan->vectors.data[number];
	const struct tt_traced_config *config = &how->plan->configs.data[vector->config].traced;
	char key[TT_DIGEST_TEXT];
	struct tt_str params = {0};
	tt_status status = params_of(&params, how->plan, vector);

	result->module = result->operation = config->op;
	result->model = *config->source ? config->source : NULL;
	result->suite = vector->suite;
	result->vector = vector->hash;
	result->position = vector->position;
	result->begin_ns = state->begin_ns[number] ? state->begin_ns[number] : tt_clock_wall_ns();
	result->end_ns = tt_clock_wall_ns();
	result->params = tt_str_text(&params);
	result->params_length = params.length;
	result->status = tt_sweep_status_in(result->status, vector->suite);
	if (status == TTNN_OK && how->build) {
		status = key_of(key, how, vector);
		result->key = key;
	}
	if (status == TTNN_OK)
		status = tt_results_add(how->results, result);
	if (status == TTNN_OK) {
		count(how, result);
		show_progress(state, result->status);
		if (how->ended)
			how->ended(how->context, result);
	}
	tt_str_deinit(&params);
	result->key = result->params = NULL; /* they end here */
	return status;
}

static enum tt_sweep_how how_of(const struct answer *answer)
{
	return answer->unjudged   ? TT_SWEEP_UNJUDGED
	       : answer->moved    ? TT_SWEEP_MOVED
	       : answer->stood_in ? TT_SWEEP_STAND_IN
				  : TT_SWEEP_PLAIN;
}

static size_t fill_metrics(struct tt_sweep_metric out[4], const struct answer *answer)
{
	size_t used = 0;

	out[used++] = (struct tt_sweep_metric){"e2e_perf_ms", 1e-6 * (double)answer->ns};
	if (!isnan(answer->pcc))
		out[used++] = (struct tt_sweep_metric){"pcc", answer->pcc};
	if (answer->stood_in)
		out[used++] = (struct tt_sweep_metric){"stand_in", 1};
	if (answer->moved)
		out[used++] = (struct tt_sweep_metric){"moved_to_dram", 1};
	return used;
}

static tt_status add_answer(struct state *state, size_t number, const struct answer *answer)
{
	const struct tt_plan_vector *vector = &state->how->plan->vectors.data[number];
	struct tt_sweep_metric metrics[4];
	char pcc[TT_FMT_MAX] = "", why[500];
	struct tt_sweep_result result = {.pcc = answer->pcc,
					 .bound = answer->bound,
					 .error = answer->error,
					 .how = how_of(answer),
					 .notes = *answer->notes ? answer->notes : NULL,
					 .metrics = metrics};

	snprintf(why, sizeof(why), "%s", answer->why);
	state->how->counts.texts += answer->texts;
	state->how->counts.meant += answer->meant;
	if (answer->passed || answer->unjudged) {
		tt_fmt_double(pcc, answer->pcc);
		result.status = TT_SWEEP_PASS;
		result.message = answer->passed ? pcc : UNJUDGED;
		result.metric_count = fill_metrics(metrics, answer);
	} else if (answer->skipped) {
		result.status = TT_SWEEP_NOT_RUN;
		result.exception = "more elements than --largest allows";
	} else if (answer->refused && is_mutated(vector)) {
		state->how->counts.refused++;
		snprintf(why, sizeof(why), TT_SWEEP_INVALID_PREFIX "%s", answer->why);
		result.status = TT_SWEEP_NOT_RUN;
		result.exception = why;
	} else {
		result.status = tt_sweep_status_of(why);
		result.exception = result.message = why;
	}
	return add_row(state, number, &result);
}

/* ---- in the parent: tasks ------------------------------------------------------------------------------------ */

static tt_status note_hang(struct state *state, const struct tt_plan_vector *vector)
{
	struct tt_str key = {0};
	tt_status status = TTNN_OK;

	tt_str_addf(&key, "%s %s", state->how->plan->configs.data[vector->config].traced.op,
		    vector->suite);
	if (!tt_map_add(&state->hung_suites, tt_str_text(&key), key.length, NULL))
		status = tt_fail_nomem();
	tt_str_deinit(&key);
	return status;
}

static tt_status add_dead(struct state *state, const struct tt_worker_done *done)
{
	const struct tt_plan_vector *vector = &state->how->plan->vectors.data[done->task];
	bool hung = done->end == TT_WORKER_HUNG;
	bool exhausted = done->end == TT_WORKER_CRASHED && done->code == TT_WORKER_SPENT_CODE;
	char why[200] = TT_SWEEP_TIMED_OUT;
	struct tt_sweep_result result = {.status = TT_SWEEP_FAIL_CRASH_HANG,
					 .pcc = NAN,
					 .bound = NAN,
					 .error = NAN,
					 .exception = why};

	state->how->counts.hung += hung;
	state->how->counts.crashed += !hung && !exhausted;
	if (exhausted) {
		result.status = TT_SWEEP_FAIL_ASSERT_EXCEPTION;
		snprintf(why, sizeof(why), "out of memory: it took the %llu MB that it may",
			 (unsigned long long)(state->how->memory >> 20));
		result.message = why;
	} else if (!hung && done->signal)
		snprintf(why, sizeof(why), "its process died: %s (signal %d)",
			 strsignal(done->signal), done->signal);
	else if (!hung)
		snprintf(why, sizeof(why), "its process ended with exit code %d", done->code);
	if (hung && state->how->skip_on_timeout)
		TT_TRY(note_hang(state, vector));
	return add_row(state, done->task, &result);
}

static tt_status done(void *context, const struct tt_worker_done *done)
{
	struct state *state = context;
	struct answer answer;

	if (done->end != TT_WORKER_ANSWERED)
		return add_dead(state, done);
	if (done->size != sizeof(answer))
		return tt_fail(TTNN_INTERNAL, "a child answered %zu bytes", done->size);
	memcpy(&answer, done->answer, sizeof(answer));
	return add_answer(state, done->task, &answer);
}

static tt_status add_not_run(struct state *state, size_t number, const char *why)
{
	struct tt_sweep_result result = {.status = TT_SWEEP_NOT_RUN,
					 .pcc = NAN,
					 .bound = NAN,
					 .error = NAN,
					 .exception = why};

	return add_row(state, number, &result);
}

static tt_status add_invalid(struct state *state, size_t number)
{
	const char *reason = state->how->plan->vectors.data[number].reason;
	struct tt_str why = {0};
	tt_status status;

	if (!state->how->keep_invalid)
		return state->how->claims
			       ? tt_results_bear(
					 state->how->results,
					 tt_claims_drop(
						 state->how->results,
						 state->how->plan->vectors.data[number].hash))
			       : TTNN_OK;
	tt_str_addf(&why, TT_SWEEP_INVALID_PREFIX "%s", reason ? reason : "");
	status = tt_str_status(&why);
	if (status == TTNN_OK)
		status = add_not_run(state, number, tt_str_text(&why));
	tt_str_deinit(&why);
	return status;
}

/* Whether this build passed it before; then it has its row. */
static tt_status try_cache(bool *out, struct state *state, size_t number)
{
	struct tt_runner *how = state->how;
	struct tt_sweep_passed passed;
	struct tt_sweep_metric metrics[4];
	struct tt_sweep_result result = {.status = TT_SWEEP_PASS, .cached = true};
	char key[TT_DIGEST_TEXT], pcc[TT_FMT_MAX];
	struct answer answer = {0};

	*out = false;
	if (!how->build)
		return TTNN_OK;
	TT_TRY(key_of(key, how, &how->plan->vectors.data[number]));
	/* While the database is away nothing is remembered. */
	if (tt_results_away(how->results))
		return TTNN_OK;
	TT_TRY(tt_results_bear(how->results, tt_results_passed(out, &passed, how->results, key)));
	if (!*out)
		return TTNN_OK;
	tt_fmt_double(pcc, passed.pcc);
	result.message = passed.how == TT_SWEEP_UNJUDGED ? UNJUDGED : pcc;
	result.how = passed.how;
	result.pcc = answer.pcc = passed.pcc;
	result.bound = passed.bound;
	result.error = passed.error;
	result.notes = *passed.notes ? passed.notes : NULL;
	answer.ns = (uint64_t)(1e6 * passed.e2e_ms);
	answer.stood_in = passed.how == TT_SWEEP_STAND_IN;
	answer.moved = passed.how == TT_SWEEP_MOVED;
	result.metrics = metrics;
	result.metric_count = fill_metrics(metrics, &answer);
	return add_row(state, number, &result);
}

static bool suite_hung(const struct state *state, size_t number)
{
	const struct tt_plan_vector *vector = &state->how->plan->vectors.data[number];
	struct tt_str key = {0};
	bool hung;

	if (!state->hung_suites.count)
		return false;
	tt_str_addf(&key, "%s %s", state->how->plan->configs.data[vector->config].traced.op,
		    vector->suite);
	hung = tt_map_finds(&state->hung_suites, tt_str_text(&key)) != NULL;
	tt_str_deinit(&key);
	return hung;
}

/* Whether a vector needs a child; else it has its row, or needs none. */
static tt_status need_child(bool *out, struct state *state, size_t number)
{
	const struct tt_plan_vector *vector = &state->how->plan->vectors.data[number];
	bool there;

	*out = false;
	there = false;
	if (!state->how->claims)
		TT_TRY(tt_results_has(&there, state->how->results, vector->hash));
	if (there) {
		state->how->counts.before++;
		tt_progress_add(&state->progress, 1);
		return TTNN_OK;
	}
	if (vector->invalid)
		return add_invalid(state, number);
	if (suite_hung(state, number))
		return add_not_run(state, number, TT_SWEEP_SKIPPED_AFTER);
	TT_TRY(try_cache(&there, state, number));
	*out = !there;
	return TTNN_OK;
}

/* Whose runners died again and again is not begun once more. */
static tt_status add_deadly(struct state *state, size_t number, int64_t attempts)
{
	char why[120];
	struct tt_sweep_result result = {.status = TT_SWEEP_FAIL_CRASH_HANG,
					 .pcc = NAN,
					 .bound = NAN,
					 .error = NAN,
					 .exception = why};

	snprintf(why, sizeof(why), "it was begun %lld times, and its runner died each time",
		 (long long)attempts - 1);
	state->how->counts.crashed++;
	return add_row(state, number, &result);
}

/* The next vector that is claimed, or of the plan; false: there is none now. */
static bool pick(size_t *number, struct state *state)
{
	struct tt_claim claim;
	tt_status status;

	if (!state->how->claims) {
		*number = state->next++;
		return *number < state->how->plan->vectors.count;
	}
	while (state->status == TTNN_OK) {
		if (state->taken == state->claimed.count) {
			uint64_t begin = tt_clock_ns();

			state->taken = state->claimed.count = 0;
			if (tt_results_away(state->how->results))
				return false;
			status = tt_claims_take(&state->claimed, state->how->results);
			state->how->results->database_ns += tt_clock_ns() - begin;
			state->status = tt_results_bear(state->how->results, status);
			if (state->status != TTNN_OK || !state->claimed.count)
				return false;
		}
		claim = state->claimed.data[state->taken++];
		*number = claim.number;
		if (claim.attempts <= TT_CLAIMS_ATTEMPTS)
			return true;
		state->status = add_deadly(state, claim.number, claim.attempts);
	}
	return false;
}

static bool next(void *context, uint64_t *task)
{
	struct state *state = context;
	size_t number;

	while (state->status == TTNN_OK && !state->stopped && pick(&number, state)) {
		bool needed = false;

		state->status = need_child(&needed, state, number);
		state->stopped = tt_deadline_stop();
		if (state->status == TTNN_OK && needed && !state->stopped) {
			state->begin_ns[number] = tt_clock_wall_ns();
			*task = number;
			return true;
		}
	}
	return false;
}

static tt_status tick(struct state *state)
{
	struct tt_results *results = state->how->results;

	TT_TRY(tt_results_tick(results, false));
	if (!state->how->claims || tt_results_away(results))
		return TTNN_OK;
	return tt_results_bear(results, tt_claims_renew(results));
}

static bool stop(void *context)
{
	struct state *state = context;

	state->stopped |= tt_deadline_stop();
	if (state->status == TTNN_OK)
		state->status = tick(state);
	return state->stopped || state->status != TTNN_OK;
}

/*
 * All that could be claimed is done: waits until there is more, because a lease is over or the database is back. *more is
 * false when nothing is left, or others have been waited for as long as wanted.
 */
static tt_status wait_for_more(bool *more, struct state *state)
{
	struct tt_results *results = state->how->results;
	uint64_t begin = tt_clock_ns(), left = 1;

	for (*more = false;;) {
		TT_TRY(tt_results_settle(results));
		state->taken = state->claimed.count = 0;
		TT_TRY(tt_results_bear(results, tt_claims_take(&state->claimed, results)));
		*more = state->claimed.count > 0;
		if (!*more && !tt_results_away(results))
			TT_TRY(tt_results_bear(
				results, tt_claims_left(&left, results, state->how->claims->own)));
		if (*more || (!left && !tt_results_away(results)) ||
		    tt_clock_ns() - begin >= state->how->linger_ns)
			return TTNN_OK;
		for (int i = 0; i < 25 && !state->stopped; i++) {
			state->stopped |= tt_deadline_stop();
			usleep(20000);
		}
		if (state->stopped)
			return TTNN_OK;
	}
}

/* Rounds of children, until nothing is left. */
static tt_status run_claims(struct state *state, struct tt_workers *workers)
{
	bool more = true;

	while (more) {
		TT_TRY(tt_workers_run(workers));
		if (state->status != TTNN_OK || state->stopped)
			return TTNN_OK;
		TT_TRY(wait_for_more(&more, state));
	}
	return TTNN_OK;
}

/* ---- the run -------------------------------------------------------------------------------------------------- */

static void choose_defaults(struct tt_runner *runner)
{
	unsigned processors = tt_runner_processors();

	if (!runner->jobs)
		runner->jobs = processors;
	if (runner->jobs > runner->plan->vectors.count)
		runner->jobs = (unsigned)runner->plan->vectors.count;
	if (!runner->threads)
		runner->threads = processors > runner->jobs ? processors / runner->jobs : 1;
}

tt_status tt_runner_run(struct tt_runner *runner)
{
	struct state state = {.how = runner, .label = "sweep"};
	struct tt_workers workers = {.timeout_ns = runner->timeout_ns,
				     .memory = runner->memory,
				     .context = &state,
				     .next = next,
				     .begin = begin_child,
				     .work = work,
				     .done = done,
				     .stop = stop};
	tt_status status, written;

	runner->counts = (struct tt_runner_counts){0};
	if (!runner->plan->vectors.count)
		return tt_fail(TTNN_INVALID, "there are no vectors: nothing was tested");
	choose_defaults(runner);
	workers.jobs = runner->jobs;
	state.begin_ns = tt_calloc(runner->plan->vectors.count, sizeof(int64_t));
	if (!state.begin_ns)
		return tt_fail_nomem();
	tt_progress_init(&state.progress, state.label, runner->plan->vectors.count);
	state.progress.on &= !runner->quiet;
	if (runner->claims) {
		status = tt_claims_begin(runner->results, runner->plan, runner->claims);
		if (status == TTNN_OK)
			status = run_claims(&state, &workers);
	} else {
		status = tt_workers_run(&workers);
	}
	tt_progress_deinit(&state.progress);
	if (state.status != TTNN_OK) /* why it was stopped */
		status = state.status;
	else if (status == TTNN_OK && state.stopped)
		status = tt_fail(TTNN_CANCELLED, "stopped");
	written = tt_results_tick(runner->results, true);
	tt_claims_release(runner->results);
	TT_VEC_DEINIT(&state.claimed);
	tt_free(state.begin_ns);
	tt_map_deinit(&state.hung_suites);
	return status == TTNN_OK ? written : status;
}
