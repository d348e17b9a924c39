/* ttnn profile: runs a command and makes a performance report of all its processes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/inputs.h"
#include "cli/profile_files.h"
#include "cli/recording.h"
#include "cli/workload.h"
#include "event/viewer_broadcast.h"
#include "profile/server.h"
#include "profile/timeline.h"
#include "trace/left.h"

/* Upstream's exit code of a profile that was interrupted. */
#define EXIT_STOPPED 3
/* The shell's for a command that it did not find. */
#define EXIT_NOT_FOUND 127
/* Processes that are named; the others are counted. */
#define SHOWN 8

static const char *output = "device_ops_perf_trace.csv", *announce;
static int64_t port = -1, skipped, wait_seconds = 10;
static int dialect = -1;
static bool live, stacks, twice, quiet;

static const struct tt_opt options[] = {
	{"output", 'o', TT_OPT_STRING, &output, "OUTPUT",
	 "the report, under results/perf unless it is an absolute path (default: "
	 "device_ops_perf_trace.csv)"},
	{"port", 'p', TT_OPT_COUNT, &port, "PORT",
	 "the port of the server (default: 8086, or the next free one)"},
	{"live", 0, TT_OPT_FLAG, &live, NULL,
	 "Tracy's viewers can attach to the processes while they run, on PORT and the next ones"},
	{"announce", 0, TT_OPT_STRING, &announce, "ADDRESS[:PORT]",
	 "with --live: tell viewers of other machines, too, such as 255.255.255.255, and let them attach"},
	{"skip", 0, TT_OPT_POSITIVE, &skipped, "N",
	 "leave out the first N outermost calls of each process: its warm-up"},
	CLI_RECORDING_OPTIONS,
	{"stacks", 0, TT_OPT_FLAG, &stacks, NULL, "record where every call comes from"},
	{"dialect", 0, TT_OPT_CHOICE, &dialect, "seed|tt-metal", "the layout of the report"},
	{"wait", 0, TT_OPT_COUNT, &wait_seconds, "SECONDS",
	 "how long processes that outlive the command are waited for (default: 10)"},
	{"twice", 0, TT_OPT_FLAG, &twice, NULL,
	 "run the command without recording first, and say what the profile costs by comparison"},
	{"quiet", 'q', TT_OPT_FLAG, &quiet, NULL, "say what went wrong alone"},
	{0},
};

struct session {
	const char *command;
	struct tt_server *server;
	struct cli_workload workload;
	struct cli_profile_files files;
	struct tt_str words;         /* of TTNN_TRACE_OPTIONS */
	double lasted_ms, bare_ms;   /* the command; without recording, if that was asked for */
	double spent_ms, unspent_ms; /* the same in time of processors */
	int running;                 /* processes that record after all waiting */
	bool empty;                  /* the report has no operation */
};

/* ---- messages ------------------------------------------------------------------------------------------ */

#define SAY(...) fprintf(stderr, "ttnn profile: " __VA_ARGS__)

static const char *plural(uint64_t number, const char *one, const char *many)
{
	return number == 1 ? one : many;
}

/* Whether a process that has announced a recording runs. */
static bool runs(const struct tt_server_process *process)
{
	return process->file && !process->ended && kill((pid_t)process->pid, 0) == 0;
}

static void say_process(const struct tt_server_process *process)
{
	char text[CLI_SHOWN];

	SAY("process %" PRIu64 " (%s): ", process->pid, cli_shown(text, process->command));
	if (process->ended)
		fprintf(stderr, "%" PRIu64 " %s\n", process->operations,
			plural(process->operations, "call", "calls"));
	else
		fprintf(stderr, "%s; what it recorded before is in the report\n",
			runs(process) ? "still runs" : "ended early");
}

/* Which processes there were, if it is not one that ended as it should. */
static void say_processes(const struct session *s)
{
	size_t count, recorded = 0, told = 0;
	const struct tt_server_process *processes = tt_server_processes(&count, s->server);

	for (size_t i = 0; i < count; i++)
		recorded += processes[i].file != NULL;
	for (size_t i = 0; i < count; i++)
		if (processes[i].file && (recorded > 1 || !processes[i].ended) && told++ < SHOWN)
			say_process(&processes[i]);
	if (told > SHOWN)
		SAY("and %zu more processes\n", told - SHOWN);
	if (recorded < s->files.inputs.count)
		SAY("%zu of the processes did not announce themselves\n",
		    s->files.inputs.count - recorded);
}

/* What is missing is said in any case. */
static void say_losses(const struct session *s, const struct tt_ops_totals *totals)
{
	size_t count;
	const struct tt_server_process *processes = tt_server_processes(&count, s->server);
	uint64_t told = 0;

	for (size_t i = 0; i < count; i++) {
		if (!processes[i].lost)
			continue;
		told += processes[i].lost;
		SAY("%" PRIu64 " records of process %" PRIu64 " are lost: %s\n", processes[i].lost,
		    processes[i].pid, processes[i].reason);
	}
	if (totals->lost > told)
		SAY("%" PRIu64 " records are lost\n", totals->lost - told);
	if (totals->damaged)
		SAY("%" PRIu64 " %s not whole; the report is of what they hold\n", totals->damaged,
		    plural(totals->damaged, "recording is", "recordings are"));
}

/* What the profile cost: measured in the processes, and told by those that ended in order. */
static void say_overhead(const struct session *s)
{
	size_t count, told = 0;
	const struct tt_server_process *processes = tt_server_processes(&count, s->server);
	double recording = 0, writing = 0, telling = 0;
	uint64_t events = 0;

	for (size_t i = 0; i < count; i++) {
		told += processes[i].ended && processes[i].file;
		events += processes[i].events;
		recording += (double)processes[i].recorded_ns / 1e6;
		writing += (double)processes[i].written_ns / 1e6;
		telling += (double)processes[i].told_ns / 1e6;
	}
	if (!told)
		return;
	/* A process announces itself while it records the first event: that is told apart. */
	recording = recording > telling ? recording - telling : 0;
	SAY("overhead: %.2f ms of %.0f ms (%.2f %%): %" PRIu64 " records in %.2f ms (%.0f ns "
	    "each), %.2f ms to announce; beside it %.2f ms to pack and write\n",
	    recording + telling, s->lasted_ms, 100 * (recording + telling) / s->lasted_ms, events,
	    recording, events ? 1e6 * recording / (double)events : 0, telling, writing);
}

/* The whole of it, from two runs: with the telling, and what is slower because caches hold other things. */
static void say_comparison(const struct session *s)
{
	SAY("without recording: %.0f ms, %.0f ms of processors; with it %.0f ms (%+.1f %%), %.0f "
	    "ms of processors (%+.1f %%)\n",
	    s->bare_ms, s->unspent_ms, s->lasted_ms, 100 * (s->lasted_ms / s->bare_ms - 1),
	    s->spent_ms, 100 * (s->spent_ms / s->unspent_ms - 1));
}

static void say_nothing_recorded(const struct session *s)
{
	char text[CLI_SHOWN];
	size_t count;

	tt_server_processes(&count, s->server);
	cli_shown(text, s->command);
	if (s->workload.code == EXIT_NOT_FOUND)
		SAY("'%s': the shell did not find a command of it\n", text);
	if (!count)
		SAY("there is no report: no process of '%s' used the library, none came to port "
		    "%d\n",
		    text, tt_server_port(s->server));
	else
		SAY("there is no report: %zu %s of '%s' loaded the library, and recorded nothing%s\n",
		    count, plural(count, "process", "processes"), text,
		    cli_recording_given() ? " in the part that was asked for" : "");
	if (access(s->files.report, F_OK) == 0)
		SAY("%s is of an earlier profile\n", s->files.report);
}

static void say_no_operation(const struct session *s)
{
	char text[CLI_SHOWN];

	SAY("the report has no operation: '%s' called none%s\n", cli_shown(text, s->command),
	    cli_recording_given() || skipped ? " in the part that was asked for" : "");
}

static void say_time_out(const struct session *s)
{
	char text[CLI_SHOWN];

	SAY("'%s' on port %d timed out after %" PRId64 " seconds: %d of its processes still %s; "
	    "the report has what they recorded so far\n",
	    cli_shown(text, s->command), tt_server_port(s->server), wait_seconds, s->running,
	    plural((uint64_t)s->running, "runs", "run"));
	SAY("end what is left over before the next profile, or give that another port with -p\n");
}

/* ---- the command --------------------------------------------------------------------------------------- */

static tt_status make_words(struct session *s)
{
	if (skipped && cli_recording_asked.first)
		return tt_fail(TTNN_INVALID, "--skip and --first cannot be given together");
	if (skipped)
		cli_recording_asked.first = skipped + 1;
	TT_TRY(cli_recording_words(&s->words));
	cli_recording_add(&s->words, "profile", NULL);
	if (stacks)
		cli_recording_add(&s->words, "stacks", NULL);
	return cli_recording_judge(&s->words);
}

/* Where viewers look for the first process. */
static int live_port(void)
{
	return port > 0 ? (int)port : TT_SERVER_PORT;
}

static tt_status prepare(struct session *s)
{
	/* A live command has the port; the server takes any. */
	struct tt_server_options asked = {.port = live ? 0 : port};
	struct tt_viewer_broadcast broadcast = {.far = false};

	if (port > UINT16_MAX)
		return tt_fail(TTNN_INVALID, "--port: %" PRId64 " is no port; they end at 65535",
			       port);
	if (announce && !live)
		return tt_fail(TTNN_INVALID, "--announce is for --live");
	if (announce)
		TT_TRY(tt_viewer_broadcast_read(&broadcast, announce));
	if (live && !port)
		return tt_fail(TTNN_INVALID, "--live needs to know the port; 0 is any");
	TT_TRY(make_words(s));
	TT_TRY(cli_profile_files_make(&s->files, output));
	asked.directory = s->files.traces;
	TT_TRY(tt_server_open(&s->server, &asked));
	if (!quiet)
		SAY("listening on port %d%s\n", tt_server_port(s->server),
		    !live && port < 0 && tt_server_port(s->server) != TT_SERVER_PORT
			    ? ", as the usual one is taken"
			    : "");
	if (!quiet && live)
		SAY("viewers%s can attach to each process on the first free port from %d on\n",
		    broadcast.far ? " of all machines" : "", live_port());
	return TTNN_OK;
}

/* Whether a process that has announced itself runs. */
static bool somebody_runs(const struct session *s)
{
	size_t count;
	const struct tt_server_process *processes = tt_server_processes(&count, s->server);

	for (size_t i = 0; i < count; i++)
		if (runs(&processes[i]))
			return true;
	return false;
}

/* Processes may outlive the command. Those about to end have a moment, those that were announced have longer. */
static tt_status wait_for_others(struct session *s)
{
	const uint64_t second = 1000000000, began = tt_clock_ns();
	uint64_t patience = second / 2;
	bool said = quiet;

	for (;;) {
		uint64_t waited = tt_clock_ns() - began;

		TT_TRY(tt_server_drain(s->server));
		s->running = tt_traces_complete(s->files.traces, 0);
		if (!cli_workload_stopped(&s->workload) && somebody_runs(s))
			patience = (uint64_t)wait_seconds * second;
		/* One that was started last may not have come to its first call. */
		if ((!s->running && !s->workload.others) || waited >= patience)
			return TTNN_OK;
		if (!said && waited >= second) {
			SAY("waiting for %d %s of the command, %" PRId64 " seconds at most\n",
			    s->running, plural((uint64_t)s->running, "process", "processes"),
			    wait_seconds);
			said = true;
		}
		TT_TRY(tt_server_turn(s->server, 20, &s->workload.mask));
		cli_workload_step(&s->workload);
		if (cli_workload_stopped(&s->workload))
			patience = second / 2;
	}
}

/* Time that processors have spent on all children so far. */
static double spent_by_children(void)
{
	struct rusage spent;

	if (getrusage(RUSAGE_CHILDREN, &spent) != 0)
		return 0;
	return 1e3 * (double)(spent.ru_utime.tv_sec + spent.ru_stime.tv_sec) +
	       1e-3 * (double)(spent.ru_utime.tv_usec + spent.ru_stime.tv_usec);
}

/* Runs the command to its end; *lasted and *spent in milliseconds. */
static tt_status run_with(struct session *s, double *lasted, double *spent,
			  const struct cli_variable *variables)
{
	uint64_t began = tt_clock_ns();
	double before = spent_by_children();
	tt_status status = cli_workload_start(&s->workload, s->command, variables);

	if (status != TTNN_OK)
		return status;
	while (status == TTNN_OK && !s->workload.ended) {
		status = tt_server_turn(s->server, 200, &s->workload.mask);
		cli_workload_step(&s->workload);
	}
	*lasted = (double)(tt_clock_ns() - began) / 1e6;
	*spent = spent_by_children() - before;
	return status;
}

static tt_status run_command(struct session *s)
{
	const struct cli_variable none = {0};
	char viewers[16];
	const struct cli_variable variables[] = {
		{"TTNN_TRACE", s->files.traces},
		{"TTNN_TRACE_OPTIONS", tt_str_text(&s->words)},
		{"TTNN_PROFILE", tt_server_place(s->server)},
		{live ? "TTNN_LIVE" : NULL, viewers},
		{announce ? "TTNN_LIVE_ANNOUNCE" : NULL, announce},
		{0},
	};
	tt_status status = TTNN_OK;

	snprintf(viewers, sizeof(viewers), "%d", live_port());

	if (twice) {
		status = run_with(s, &s->bare_ms, &s->unspent_ms, &none);
		cli_workload_stop(&s->workload);
	}
	if (status == TTNN_OK && !cli_workload_stopped(&s->workload)) {
		status = run_with(s, &s->lasted_ms, &s->spent_ms, variables);
		if (status == TTNN_OK)
			status = wait_for_others(s);
		cli_workload_stop(&s->workload);
	}
	return status;
}

/* ---- the report ---------------------------------------------------------------------------------------- */

/* The same for Tracy's viewer. */
static tt_status write_timeline(const struct session *s)
{
	const struct cli_profile_files *files = &s->files;
	const char **paths = tt_calloc(files->inputs.count + 1, sizeof(*paths));
	struct tt_timeline_paths all = {paths, files->inputs.count, files->timeline};
	char *slash = strrchr(files->timeline, '/');
	struct tt_timeline_totals totals;
	tt_status status;

	if (!paths)
		return tt_fail_nomem();
	for (size_t i = 0; i < files->inputs.count; i++)
		paths[i] = files->inputs.data[i].path;
	*slash = 0; /* there is one: it is in results/perf or absolute */
	status = tt_file_make_dirs(*files->timeline ? files->timeline : "/");
	*slash = '/';
	if (status == TTNN_OK)
		status = tt_timeline_write(&totals, &all, &tt_timeline_tracy,
					   &(struct tt_timeline_options){.label = NULL});
	tt_free(paths);
	return status;
}

static tt_status write_report(struct session *s)
{
	const struct tt_ops_options how = {.dialect = cli_dialect(dialect)};
	struct tt_ops_totals totals = {0}, again;
	struct cli_profile_files *files = &s->files;
	tt_status status;

	if (!quiet || s->running)
		say_processes(s);
	/* Processes that run go on writing where they are. */
	if (s->running)
		say_time_out(s);
	else if (cli_profile_files_settle(files) != TTNN_OK)
		SAY("%s; the recordings stay in %s\n", ttnn_error(), files->traces);
	cli_open_many();
	status = tt_ops_csv(&totals, files->inputs.data, files->inputs.count, &how, files->report);
	if (status == TTNN_OK)
		status = tt_ops_folder(&again, files->inputs.data, files->inputs.count, &how,
				       files->folder);
	if (status == TTNN_OK)
		status = write_timeline(s);
	say_losses(s, &totals);
	if (status != TTNN_OK) {
		SAY("the report cannot be written; the recordings are in %s\n", files->traces);
		return status;
	}
	s->empty = !totals.operations;
	if (s->empty)
		say_no_operation(s);
	if (quiet)
		return TTNN_OK;
	SAY("%" PRIu64 " %s and %" PRIu64 " %s of %zu %s; recordings in %s\n", totals.operations,
	    plural(totals.operations, "operation", "operations"), totals.signposts,
	    plural(totals.signposts, "signpost", "signposts"), files->inputs.count,
	    plural(files->inputs.count, "process", "processes"), files->traces);
	say_overhead(s);
	if (twice)
		say_comparison(s);
	SAY("Wrote timeline to %s\n", files->timeline);
	SAY("Wrote report to %s\n", files->report);
	return TTNN_OK;
}

/* The command's own exit code, unless it went well and the profile did not. */
static int finish(struct session *s)
{
	uint64_t strangers = tt_server_strangers(s->server);
	int code = s->workload.code;

	if (strangers)
		SAY("%" PRIu64 " %s to port %d had nothing to say that makes sense\n", strangers,
		    plural(strangers, "connection", "connections"), tt_server_port(s->server));
	if (cli_workload_stopped(&s->workload)) {
		SAY("stopped by a signal: %s\n", strsignal(s->workload.signal));
		code = EXIT_STOPPED;
	}
	if (cli_profile_files_list(&s->files) != TTNN_OK)
		return code ? (cli_fail(), code) : cli_fail();
	if (!s->files.inputs.count) {
		say_losses(s, &(struct tt_ops_totals){0});
		say_nothing_recorded(s);
		return code ? code : TT_EXIT_NO;
	}
	if (write_report(s) != TTNN_OK)
		return code ? (cli_fail(), code) : cli_fail();
	return code || !s->empty ? code : TT_EXIT_NO;
}

/*
 * After the command there may be more options, as upstream's tool takes them. One that is wrong is said as it is; after a
 * command of one word it may be the command's own, and another word certainly is.
 */
static tt_status check_operands(size_t count, char **operands)
{
	const struct tt_cmd more = {.name = "profile", .most = 0, .options = options};
	struct tt_opt_result found;
	char word[256], fault[256] = "";
	tt_status status;

	if (count == 1)
		return TTNN_OK;
	if (*operands[1] != '-')
		return tt_fail(TTNN_INVALID,
			       "the command must be quoted: ttnn profile \"%s %s ...\"",
			       operands[0], operands[1]);
	snprintf(word, sizeof(word), "%s", operands[1]); /* parsing cuts it at "=" */
	status = tt_opt_parse(&found, &more, count - 1, operands + 1);
	if ((status == TTNN_OK && !found.help) || (status != TTNN_OK && strchr(operands[0], ' ')))
		return status;
	if (status != TTNN_OK)
		snprintf(fault, sizeof(fault), "%s; ", ttnn_error());
	return tt_fail(TTNN_INVALID,
		       "%san option of the command must be quoted with it: ttnn profile \"%s %s "
		       "...\"",
		       fault, operands[0], word);
}

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	struct session s = {.command = operands[0], .files.lock = -1};
	tt_status status;
	int code;

	(void)cmd;
	if (check_operands(count, operands) != TTNN_OK)
		return tt_cmd_complain("ttnn profile");
	cli_workload_survive();
	status = prepare(&s);
	if (status == TTNN_OK)
		status = run_command(&s);
	code = status == TTNN_OK ? finish(&s) : cli_fail();
	if (s.files.folder)
		cli_profile_files_remove(&s.files);
	tt_server_close(s.server);
	cli_profile_files_deinit(&s.files);
	tt_str_deinit(&s.words);
	return code;
}

const struct tt_cmd cli_profile = {
	.name = "profile",
	.help = "run a command and report how long its operations take",
	.operands = "\"COMMAND\"",
	.least = 1,
	.most = TT_CMD_ANY,
	.stop_at_operand = true,
	.more = "The command is one word, in quotes; the shell runs it. Every process of it that uses the library\n"
		"announces itself to the server and is part of the report.\n"
		"The exit code is the command's; 1 if that is 0 and nothing was recorded, 2 if the report cannot be\n"
		"written, 3 after Ctrl-C or SIGTERM, which end the command: the report has what was done before.\n",
	.options = options,
	.run = run,
};
