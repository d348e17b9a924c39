/* tasks in child processes: answers, crashes, hangs, memory without end, a run that is stopped */
#include "test.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sweep/children.h"

enum { TASKS = 60, CRASH = 7, HANG = 11, GREEDY = 13, LEAVE = 17 };

struct state {
	uint64_t next, count, stop_after;
	unsigned ends[3], wrong;
	int signals[TASKS], codes[TASKS];
	unsigned char seen[TASKS];
	bool unable;
};

static bool next(void *context, uint64_t *task)
{
	struct state *state = context;

	*task = state->next;
	return state->next < state->count && (state->next++, true);
}

static tt_status begin(void *context)
{
	struct state *state = context;

	return state->unable ? tt_fail(TTNN_STATE, "no device for me") : TTNN_OK;
}

static size_t work(void *context, uint64_t task, void *answer)
{
	uint64_t square = task * task;

	(void)context;
	if (task == CRASH)
		abort();
	if (task == LEAVE)
		_exit(3);
	while (task == HANG)
		pause();
	while (task == GREEDY)
		if (mmap(NULL, 1 << 24, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
		    MAP_FAILED)
			_exit(9);
	memcpy(answer, &square, sizeof(square));
	return sizeof(square);
}

static tt_status done(void *context, const struct tt_worker_done *done)
{
	struct state *state = context;
	uint64_t square = 0;

	state->ends[done->end]++;
	state->seen[done->task]++;
	state->signals[done->task] = done->signal;
	state->codes[done->task] = done->code;
	if (done->size == sizeof(square))
		memcpy(&square, done->answer, sizeof(square));
	if (done->end == TT_WORKER_ANSWERED)
		state->wrong += square != done->task * done->task;
	return TTNN_OK;
}

static bool stop(void *context)
{
	const struct state *state = context;

	return state->stop_after && state->ends[TT_WORKER_ANSWERED] >= state->stop_after;
}

static struct tt_workers crew(struct state *state, unsigned jobs)
{
	return (struct tt_workers){.jobs = jobs,
				   .timeout_ns = 1000000000,
				   .context = state,
				   .next = next,
				   .begin = begin,
				   .work = work,
				   .done = done,
				   .stop = stop};
}

TEST(what_goes_wrong_is_a_result)
{
	struct state state = {.count = TASKS};
	struct tt_workers workers = crew(&state, 3);

	workers.memory = TT_WORKERS_LIMITED ? (uint64_t)2 << 30 : 0;
	if (!TT_WORKERS_LIMITED)
		state.count = GREEDY;
	CHECK_OK(tt_workers_run(&workers));
	for (uint64_t i = 0; i < state.count; i++)
		CHECK_INT(state.seen[i], 1);
	CHECK_INT(state.wrong, 0);
	CHECK_INT(state.signals[CRASH], SIGABRT);
	CHECK_INT(state.signals[HANG], SIGKILL);
	CHECK_INT(state.ends[TT_WORKER_HUNG], 1);
	if (!TT_WORKERS_LIMITED)
		return;
	CHECK_INT(state.codes[GREEDY], 9);
	CHECK_INT(state.codes[LEAVE], 3);
	CHECK_INT(state.ends[TT_WORKER_ANSWERED], TASKS - 4);
}

/* Takes long for the third task: meanwhile the second one ends. */
static bool next_late(void *context, uint64_t *task)
{
	struct state *state = context;

	if (state->next == 2)
		usleep(600000);
	return next(context, task);
}

static size_t work_in_turn(void *context, uint64_t task, void *answer)
{
	if (task == 1)
		usleep(100000);
	return work(context, task, answer);
}

TEST(who_answered_in_time_is_not_late)
{
	struct state state = {.count = 4};
	struct tt_workers workers = crew(&state, 2);

	workers.timeout_ns = 300000000;
	workers.next = next_late;
	workers.work = work_in_turn;
	CHECK_OK(tt_workers_run(&workers));
	CHECK_INT(state.ends[TT_WORKER_ANSWERED], 4);
}

TEST(a_run_can_be_stopped)
{
	struct state state = {.count = 6, .stop_after = 3};
	struct tt_workers workers = crew(&state, 2);

	CHECK_FAILS(tt_workers_run(&workers), TTNN_CANCELLED, "stopped");
	CHECK(state.ends[TT_WORKER_ANSWERED] >= 3);
}

TEST(who_cannot_begin_says_why)
{
	struct state state = {.count = 6, .unable = true};
	struct tt_workers workers = crew(&state, 2);

	CHECK_FAILS(tt_workers_run(&workers), TTNN_STATE, "no device for me");
}

TEST(no_tasks_are_no_failure)
{
	struct state state = {.count = 0};
	struct tt_workers workers = crew(&state, 4);

	CHECK_OK(tt_workers_run(&workers));
}
