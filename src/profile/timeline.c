/* Recordings to a timeline: several are merged by time (timeline.h). */
#include "profile/timeline.h"

#include <stdio.h>
#include <string.h>

#include "base/deadline.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/progress.h"

#define POLL 65536 /* events after which somebody may give up */

/* What timelines are made of; the rest of a recording is passed over. */
static const struct tt_source_wants wants = {
	.kinds = TT_WANT(SCOPE_BEGIN) | TT_WANT(SCOPE_END) | TT_WANT(BUFFER_ALLOC) |
		 TT_WANT(BUFFER_FREE) | TT_WANT(BUFFER_THERE) | TT_WANT(PROGRAM) |
		 TT_WANT(PROGRAM_LAUNCH) | TT_WANT(PROGRAM_RUN) | TT_WANT(METAL_TRACE) |
		 TT_WANT(ERROR) | TT_WANT(MARK) | TT_WANT(DEVICE_OPEN) | TT_WANT(THREAD) |
		 TT_WANT(LOSS) | TT_WANT(PLACE) | TT_WANT(ZONE_BEGIN) | TT_WANT(ZONE_END),
	.values = true,
};

/* One recording; `seen` is its next event, NULL behind the last. */
struct input {
	struct tt_source *source;
	const struct tt_seen *seen;
	uint64_t began_ns; /* since the first one began */
};

struct inputs {
	struct input *data;
	size_t count;
	uint64_t events;
};

static uint64_t time_of(const struct input *input)
{
	return input->seen ? input->began_ns + input->seen->time_ns : UINT64_MAX;
}

static tt_status open_all(struct inputs *inputs, const struct tt_timeline_paths *paths,
			  const struct tt_timeline_options *options)
{
	size_t count = paths->count;
	int64_t first = INT64_MAX;

	inputs->data = tt_calloc(count + 1, sizeof(*inputs->data));
	if (!inputs->data)
		return tt_fail_nomem();
	inputs->count = count;
	for (size_t i = 0; i < count; i++) {
		struct tt_source **source = &inputs->data[i].source;
		const struct tt_trace_info *info;

		TT_TRY(tt_source_open(source, paths->inputs[i]));
		tt_source_want(*source, &wants);
		if (options->window)
			TT_TRY(tt_source_window(*source, options->window));
		info = tt_source_info(*source);
		inputs->events += info->events;
		if (info->began_ns < first)
			first = info->began_ns;
	}
	for (size_t i = 0; i < count; i++) {
		struct input *input = &inputs->data[i];

		input->began_ns = (uint64_t)(tt_source_info(input->source)->began_ns - first);
		TT_TRY(tt_source_next(&input->seen, input->source));
	}
	return TTNN_OK;
}

static void close_all(struct inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++)
		tt_source_close(inputs->data[i].source);
	tt_free(inputs->data);
}

/* The recording whose next event is the earliest, and when that of any other is. */
static size_t earliest(const struct inputs *inputs, uint64_t *others)
{
	uint64_t least = UINT64_MAX;
	size_t best = 0;

	*others = UINT64_MAX;
	for (size_t i = 0; i < inputs->count; i++) {
		uint64_t time = time_of(&inputs->data[i]);

		if (time < least) {
			*others = least;
			least = time;
			best = i;
		} else if (time < *others) {
			*others = time;
		}
	}
	return best;
}

/* What is on its way. */
struct writing {
	const struct tt_timeline_options *options;
	struct tt_file_out *file; /* NULL: standard output */
	struct tt_progress progress;
	struct tt_walk *walk;
};

static tt_status poll_once(struct writing *writing)
{
	if (writing->options->label)
		tt_progress_add(&writing->progress, POLL);
	tt_deadline_poll();
	TT_TRY(tt_deadline_check());
	if (writing->file)
		TT_TRY(tt_file_status(writing->file));
	return tt_walk_status(writing->walk);
}

static tt_status walk_all(struct writing *writing, struct inputs *inputs)
{
	uint64_t others, events = 0;
	size_t which;

	while (which = earliest(inputs, &others), inputs->data[which].seen) {
		struct input *input = &inputs->data[which];

		do {
			tt_walk_event(writing->walk, (uint32_t)which, input->seen, time_of(input));
			TT_TRY(tt_source_next(&input->seen, input->source));
			if (++events % POLL == 0)
				TT_TRY(poll_once(writing));
		} while (input->seen && time_of(input) <= others);
	}
	return tt_walk_status(writing->walk);
}

static void emit_processes(struct tt_walk *walk, const struct inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++) {
		const struct tt_trace_info *info = tt_source_info(inputs->data[i].source);
		struct tt_walk_process process = {.program = info->program,
						  .pid = info->pid,
						  .began_ns = info->began_ns,
						  .several = inputs->count > 1,
						  .runs = info->counts[TT_EVENT_PROGRAM_RUN] > 0};

		tt_walk_process(walk, &process);
	}
}

/* Those that are not whole, as it is known when all was read. */
static void count_damaged(struct tt_timeline_totals *totals, const struct inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++) {
		const struct tt_trace_info *info = tt_source_info(inputs->data[i].source);

		totals->damaged += !info->complete || info->bad_chunks;
	}
}

static void write_out(void *context, const void *data, size_t size)
{
	if (context)
		tt_file_write(context, data, size);
	else
		fwrite(data, 1, size, stdout);
}

static tt_status write_inputs(struct tt_timeline_totals *totals, struct inputs *inputs,
			      const struct tt_timeline_format *format, struct writing *writing)
{
	struct tt_timeline_out out = {write_out, writing->file};
	struct tt_timeline_writer *writer;
	tt_status status, closed;

	TT_TRY(format->open(&writer, &out, writing->options));
	status = tt_walk_new(&writing->walk, format, writer, writing->options);
	if (status != TTNN_OK) {
		format->close(writer, false);
		return status;
	}
	if (writing->options->label)
		tt_progress_init(&writing->progress, writing->options->label, inputs->events);
	emit_processes(writing->walk, inputs);
	status = walk_all(writing, inputs);
	tt_walk_end(writing->walk, totals);
	tt_walk_free(writing->walk);
	closed = format->close(writer, status == TTNN_OK);
	if (writing->options->label)
		tt_progress_deinit(&writing->progress);
	count_damaged(totals, inputs);
	return status == TTNN_OK ? closed : status;
}

tt_status tt_timeline_write(struct tt_timeline_totals *totals,
			    const struct tt_timeline_paths *paths,
			    const struct tt_timeline_format *format,
			    const struct tt_timeline_options *options)
{
	struct writing writing = {.options = options};
	struct inputs inputs = {0};
	tt_status status;

	*totals = (struct tt_timeline_totals){0};
	status = open_all(&inputs, paths, options);
	if (status == TTNN_OK && paths->output)
		status = tt_file_create(&writing.file, paths->output);
	if (status == TTNN_OK)
		status = write_inputs(totals, &inputs, format, &writing);
	if (status == TTNN_OK && writing.file)
		status = tt_file_commit(writing.file);
	else
		tt_file_discard(writing.file);
	close_all(&inputs);
	return status;
}
