/*
 * calls.c: random calls of every operation of the tables: valid ones, ones with one thing wrong, absurd ones; with tensors
 * that are deallocated, empty, on the host, of no dimension, of other types and places; computed and dry, on one chip and on
 * small meshes. Whatever is called gives a result or is refused in words: no process ends, none hangs.
 *
 *	calls [--seed N] [--calls M] [--first K] [--only OP] [--golden | --both] [--jobs J] [--loud]
 *	calls --seed N --call K [--golden]        prints this call and makes it, in this process
 *
 * Calls are numbered from 0, through the operations in order of their names again and again. They run in children; one
 * that ends or hangs is named with the number of its call, and the rest goes on. --only OP makes M calls of one
 * operation; --golden computes goldens instead of calling, --both a quarter as many besides; --loud prints internal
 * errors, too, and which operations never ran. Without --calls TTNN_TEST_CALLS says how many, or there are some thousand,
 * TTNN_TEST_LONG times. Without any argument, as tests/run has it: --both. The last line is "N passed, N failed".
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/pool.h"
#include "hostile/calls.h"

#define USUAL_CALLS 6470
#define BATCH 500 /* calls of one child */
#define JOBS_MAX 16
#define OPERATIONS_MAX 2048
#define ROOM ((rlim_t)4 << 30) /* bytes of addresses that a child may have */
#define NS 1000000000u

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif
#define HANG (SANITIZED ? 120u : 20u) /* seconds for one call */

/* The sanitizer's memory cannot be limited by addresses. The rest is as tests/run sets it. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1:intercept_tls_get_addr=0:detect_leaks=0:"
	       "max_allocation_size_mb=512:hard_rss_limit_mb=6000:quarantine_size_mb=64";
}

__attribute__((visibility("default"))) const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return "print_stacktrace=1";
}

static struct {
	uint64_t seed, first, calls;
	const char *only;
	bool golden, loud, both;
	long jobs;
	int64_t call; /* -1: all */
} options = {.seed = 1, .jobs = 2, .call = -1};

/* What a child says while it runs, in memory that both see. */
struct said {
	_Atomic uint64_t call, since; /* under way, and when it began */
	_Atomic uint64_t counts[CALLS_OUTCOMES];
	atomic_bool ran[OPERATIONS_MAX]; /* by place in `entries`: a call gave a result */
};

static struct job {
	pid_t pid;          /* 0: none */
	uint64_t next, end; /* its calls */
	struct said *said;
} jobs[JOBS_MAX];
static uint64_t lost, made, failed;

/* ---- which operation -------------------------------------------------------------------------------- */

static const struct tt_op_entry **entries; /* with goldens only, for those */
static uint64_t entry_count;

static bool list_entries(void)
{
	size_t count;
	const struct tt_op_entry *all = tt_op_all(&count);

	free(entries);
	entries = calloc(count + 1, sizeof(void *));
	entry_count = 0;
	for (size_t i = 0; i < count && entries && entry_count < OPERATIONS_MAX; i++)
		if (!options.golden || all[i].op->golden)
			entries[entry_count++] = &all[i];
	return entry_count > 0;
}

/* The n-th call of the run: its number. */
static uint64_t number_of(uint64_t n)
{
	static uint64_t at = UINT64_MAX;

	if (!options.only)
		return options.first + n;
	for (uint64_t i = 0; i < entry_count && at == UINT64_MAX; i++)
		if (strcmp(entries[i]->op->name, options.only) == 0)
			at = i;
	if (at == UINT64_MAX) {
		fprintf(stderr, "there is no operation %s\n", options.only);
		exit(2);
	}
	return at + (options.first / entry_count + n) * entry_count;
}

static struct calls_which call_of(uint64_t number)
{
	return (struct calls_which){.entry = entries[number % entry_count],
				    .seed = options.seed,
				    .round = number / entry_count,
				    .golden = options.golden};
}

/* ---- children -------------------------------------------------------------------------------------------- */

static void limit(void)
{
	if (!SANITIZED)
		setrlimit(RLIMIT_AS, &(struct rlimit){ROOM, ROOM});
	if (options.call < 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	tt_pool_set_threads(2);
}

/* Prints a call, in a child: drawing it may be what ends. */
static void describe(uint64_t number)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct calls_which which = call_of(number);

		limit();
		which.print = which.only_print = true;
		calls_make(&which);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void work(struct job *job)
{
	limit();
	for (uint64_t n = job->next; n < job->end; n++) {
		struct calls_which which = call_of(number_of(n));
		enum calls_outcome outcome;

		atomic_store(&job->said->since, tt_clock_ns());
		atomic_store(&job->said->call, n);
		outcome = calls_make(&which);
		atomic_fetch_add(&job->said->counts[outcome], 1);
		if (outcome == CALLS_RAN)
			atomic_store(&job->said->ran[number_of(n) % entry_count], true);
		if (outcome == CALLS_SILENT || (outcome == CALLS_INTERNAL && options.loud)) {
			fprintf(stderr, "%s seed %llu call %llu: %s\n", which.entry->op->name,
				(unsigned long long)options.seed, (unsigned long long)number_of(n),
				outcome == CALLS_SILENT ? "refused without a word" : ttnn_error());
			if (outcome == CALLS_INTERNAL)
				continue;
			which.print = which.only_print = true;
			calls_make(&which);
		}
	}
	_exit(0);
}

static void start(struct job *job)
{
	pid_t pid;

	atomic_store(&job->said->call, job->next);
	atomic_store(&job->said->since, tt_clock_ns());
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		work(job);
	if (pid < 0) {
		perror("fork");
		exit(2);
	}
	job->pid = pid;
}

/* A child is over: names the call that ended it, and goes on after that. */
static void ended(struct job *job, int status, bool hung)
{
	uint64_t n = atomic_load(&job->said->call);
	struct calls_which which = call_of(number_of(n));

	job->pid = 0;
	job->next = job->end;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return;
	fprintf(stderr, "%s seed %llu call %llu%s: ", which.entry->op->name,
		(unsigned long long)options.seed, (unsigned long long)number_of(n),
		options.golden ? " golden" : "");
	if (hung)
		fprintf(stderr, "still running after %u s\n", HANG);
	else if (WIFSIGNALED(status))
		fprintf(stderr, "the process ended: %s\n", strsignal(WTERMSIG(status)));
	else
		fprintf(stderr, "the process ended with exit code %d\n", WEXITSTATUS(status));
	describe(number_of(n));
	lost++;
	job->next = n + 1;
}

static void look_after(struct job *job)
{
	uint64_t since = atomic_load(&job->said->since), now = tt_clock_ns();
	bool hung = now - since > HANG * (uint64_t)NS;
	int status;

	if (!job->pid)
		return;
	if (hung)
		kill(job->pid, SIGKILL);
	if (waitpid(job->pid, &status, hung ? 0 : WNOHANG) == job->pid)
		ended(job, status, hung);
}

static void run_all(void)
{
	uint64_t next = 0;
	bool busy = true;

	while (busy) {
		busy = false;
		for (long i = 0; i < options.jobs; i++) {
			struct job *job = &jobs[i];

			look_after(job);
			if (!job->pid && job->next == job->end && next < options.calls) {
				job->next = next;
				job->end =
					next + BATCH < options.calls ? next + BATCH : options.calls;
				next = job->end;
			}
			if (!job->pid && job->next < job->end)
				start(job);
			busy |= job->pid != 0;
		}
		usleep(2000);
	}
}

/* ---- the program ------------------------------------------------------------------------------------------- */

static uint64_t total(enum calls_outcome outcome)
{
	uint64_t sum = 0;

	for (long i = 0; i < options.jobs; i++)
		sum += atomic_load(&jobs[i].said->counts[outcome]);
	return sum;
}

/* How many operations gave a result; --loud names the others. */
static uint64_t count_ran(void)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i < entry_count; i++) {
		bool ran = false;

		for (long k = 0; k < options.jobs; k++)
			ran |= atomic_load(&jobs[k].said->ran[i]);
		count += ran;
		if (!ran && options.loud)
			fprintf(stderr, "%s never ran\n", entries[i]->op->name);
	}
	return count;
}

static void throw_all(void)
{
	for (long i = 0; i < JOBS_MAX; i++) {
		memset(jobs[i].said, 0, sizeof(*jobs[i].said));
		jobs[i].next = jobs[i].end = 0;
	}
	lost = 0;
	run_all();
	made += options.calls;
	failed += lost + total(CALLS_SILENT);
	printf("%llu %s: %llu ran, %llu were refused, %llu had internal errors, %llu ended their "
	       "process; of %llu operations %llu ran\n",
	       (unsigned long long)options.calls, options.golden ? "goldens" : "calls",
	       (unsigned long long)total(CALLS_RAN), (unsigned long long)total(CALLS_REFUSED),
	       (unsigned long long)total(CALLS_INTERNAL), (unsigned long long)lost,
	       (unsigned long long)entry_count, (unsigned long long)count_ran());
}

/* One call, here. */
static int repeat(void)
{
	struct calls_which which = call_of((uint64_t)options.call);
	enum calls_outcome outcome;

	limit();
	which.print = true;
	outcome = calls_make(&which);
	if (outcome == CALLS_RAN)
		fprintf(stderr, "    ran\n");
	printf("%d passed, %d failed\n", outcome != CALLS_SILENT, outcome == CALLS_SILENT);
	return outcome == CALLS_SILENT;
}

static void take_numbers(const char *word, const char *text)
{
	unsigned long long number = strtoull(text, NULL, 10);

	if (strcmp(word, "--seed") == 0)
		options.seed = number;
	else if (strcmp(word, "--calls") == 0)
		options.calls = number;
	else if (strcmp(word, "--first") == 0)
		options.first = number;
	else if (strcmp(word, "--call") == 0)
		options.call = (int64_t)number;
	else if (strcmp(word, "--only") == 0)
		options.only = text;
	else if (strcmp(word, "--jobs") == 0 && number > 0 && number <= JOBS_MAX)
		options.jobs = (long)number;
	else {
		fprintf(stderr, "calls: what is %s %s?\n", word, text);
		exit(2);
	}
}

static void take_options(int argc, char **argv)
{
	const char *usual = getenv("TTNN_TEST_CALLS"), *times = getenv("TTNN_TEST_LONG");

	options.calls = usual   ? strtoull(usual, NULL, 10)
			: times ? USUAL_CALLS * strtoull(times, NULL, 10)
				: USUAL_CALLS;
	options.both = argc == 1;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--golden") == 0)
			options.golden = true;
		else if (strcmp(argv[i], "--both") == 0)
			options.both = true;
		else if (strcmp(argv[i], "--loud") == 0)
			options.loud = true;
		else
			take_numbers(argv[i], i + 1 < argc ? argv[i + 1] : ""), i++;
	}
}

int main(int argc, char **argv)
{
	struct said *said;

	take_options(argc, argv);
	if (!list_entries()) {
		fprintf(stderr, "there are no operations\n");
		return 2;
	}
	if (options.call >= 0)
		return repeat();
	said = mmap(NULL, JOBS_MAX * sizeof(*said), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (said == MAP_FAILED)
		return 2;
	for (long i = 0; i < JOBS_MAX; i++)
		jobs[i].said = &said[i];
	throw_all();
	if (options.both) {
		options.golden = true;
		options.calls /= 4;
		list_entries();
		throw_all();
	}
	printf("%llu passed, %llu failed\n", (unsigned long long)(made - failed),
	       (unsigned long long)failed);
	return failed > 0;
}
