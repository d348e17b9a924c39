/* A recording as rows of a performance report. */
#include "profile/walk.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/vec.h"
#include "profile/known.h"
#include "profile/row_queue.h"

/* A program of the operation on one chip. */
struct launch {
	uint32_t mesh, chip;
	uint64_t number;
	bool ran;
	uint64_t end_ns;
	struct tt_event_program_run run;
};

/* A device operation that is under way. */
struct operation {
	struct tt_ops_seen seen;
	uint64_t begin_ns;
	uint32_t depth; /* of its scope */
	bool cache_hit;
	TT_VEC(struct tt_ops_tensor) tensors;
	TT_VEC(struct launch) launches;
};

struct thread {
	TT_VEC(struct operation) operations; /* the innermost last; `open` of them are under way */
	size_t open;
	const char *name;                  /* of the outermost */
	uint64_t outer;                    /* its number */
	struct tt_event_place next, place; /* of the scope that comes, of the outermost one */
	char *loc, *const_eval, *metadata; /* what marks said last */
	bool replays;
	uint64_t replay_ns;
	struct tt_event_metal_trace replay;
};

/* The rows of a trace that was captured, until it is released. */
struct captured {
	uint32_t mesh, id;
	bool open; /* it is being captured */
	TT_VEC(struct tt_ops_row) rows;
	size_t next; /* that will probably run next */
};

struct mesh {
	uint32_t id;
	struct tt_ops_chip *chip;
};

struct tt_ops_walk {
	struct tt_source *source;
	struct tt_ops_place place;
	struct tt_ops_known known;
	struct tt_arena arena; /* chips */
	TT_VEC(struct mesh) meshes;
	TT_VEC(struct thread) threads;
	TT_VEC(struct captured) captured;
	struct tt_ops_queue waiting;
	size_t under_way; /* operations and replays, of all threads */
	struct tt_ops_row last;
	bool ended;
};

/* ---- rows that wait --------------------------------------------------------------------------------------- */

/* Before this time nothing comes any more. */
static uint64_t settled(const struct tt_ops_walk *walk)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; walk->under_way && i < walk->threads.count; i++) {
		const struct thread *thread = &walk->threads.data[i];

		if (thread->open && thread->operations.data[0].begin_ns < first)
			first = thread->operations.data[0].begin_ns;
		if (thread->replays && thread->replay_ns < first)
			first = thread->replay_ns;
	}
	return first;
}

/* ---- what is known ---------------------------------------------------------------------------------------- */

static struct thread *thread_of(struct tt_ops_walk *walk, uint32_t number)
{
	struct thread *thread;

	while (walk->threads.count <= number) {
		thread = TT_VEC_PUSH(&walk->threads);
		if (!thread)
			return NULL;
		*thread = (struct thread){0};
	}
	return &walk->threads.data[number];
}

/* Upstream's clock where a device has none. */
#define USUAL_MHZ 1000

static tt_status on_device(struct tt_ops_walk *walk, const struct tt_event_device *event)
{
	const struct ttnn_device_info *info = event->info;
	struct tt_ops_chip *chip;
	struct mesh *mesh = NULL;
	uint32_t *ids;

	if (!info)
		return TTNN_OK;
	for (size_t i = 0; i < walk->meshes.count && !mesh; i++)
		if (walk->meshes.data[i].id == event->device_id)
			mesh = &walk->meshes.data[i];
	if (!mesh)
		mesh = TT_VEC_PUSH(&walk->meshes);
	chip = mesh ? tt_arena_calloc(&walk->arena, 1, sizeof(*chip)) : NULL;
	if (!chip)
		return tt_fail_nomem();
	chip->arch = tt_arena_strdup(&walk->arena, tt_ops_arch(info));
	chip->clock_mhz = info->clock_mhz ? info->clock_mhz : USUAL_MHZ;
	chip->cores = info->compute_grid.x * info->compute_grid.y;
	chip->count = info->chips ? info->chip_count : 0;
	ids = tt_arena_calloc(&walk->arena, chip->count + 1, sizeof(*ids));
	if (!ids || !chip->arch)
		return tt_fail_nomem();
	if (chip->count)
		memcpy(ids, info->chips, chip->count * sizeof(*ids));
	chip->ids = ids;
	*mesh = (struct mesh){event->device_id, chip};
	return TTNN_OK;
}

static const struct tt_ops_chip *chip_of(const struct tt_ops_walk *walk, uint32_t mesh)
{
	static const struct tt_ops_chip unknown = {.arch = "", .clock_mhz = USUAL_MHZ};

	for (size_t i = 0; i < walk->meshes.count; i++)
		if (walk->meshes.data[i].id == mesh)
			return walk->meshes.data[i].chip;
	return &unknown;
}

static struct captured *captured_of(struct tt_ops_walk *walk, uint32_t mesh, uint32_t id)
{
	for (size_t i = 0; i < walk->captured.count; i++)
		if (walk->captured.data[i].mesh == mesh && walk->captured.data[i].id == id)
			return &walk->captured.data[i];
	return NULL;
}

static struct captured *capturing(struct tt_ops_walk *walk, uint32_t mesh)
{
	for (size_t i = 0; i < walk->captured.count; i++)
		if (walk->captured.data[i].mesh == mesh && walk->captured.data[i].open)
			return &walk->captured.data[i];
	return NULL;
}

static void forget_rows(struct captured *captured)
{
	for (size_t i = 0; i < captured->rows.count; i++)
		tt_ops_row_deinit(&captured->rows.data[i]);
	TT_VEC_DEINIT(&captured->rows);
}

/* ---- operations ------------------------------------------------------------------------------------------- */

static tt_status add_tensors(struct operation *operation, const struct tt_event_tensor *tensors,
			     size_t count)
{
	if (!TT_VEC_RESERVE(&operation->tensors, count))
		return tt_fail_nomem();
	for (size_t i = 0; i < count; i++)
		tt_ops_tensor_of(&operation->tensors.data[operation->tensors.count++], &tensors[i]);
	return TTNN_OK;
}

static tt_status begin_operation(struct tt_ops_walk *walk, struct thread *thread,
				 const struct tt_seen *told)
{
	const struct tt_event_scope_begin *begin = &told->event.begin;
	struct operation *operation;

	if (thread->open == thread->operations.count) {
		operation = TT_VEC_PUSH(&thread->operations);
		if (!operation)
			return tt_fail_nomem();
		*operation = (struct operation){0};
	}
	operation = &thread->operations.data[thread->open++];
	walk->under_way++;
	operation->tensors.count = operation->launches.count = 0;
	operation->cache_hit = false;
	operation->begin_ns = told->time_ns;
	operation->depth = told->depth;
	operation->seen =
		(struct tt_ops_seen){.name = begin->name, .inputs = (uint32_t)begin->input_count};
	if (begin->schema) {
		operation->seen.attributes =
			tt_ops_known_attributes(&operation->seen.number, &walk->known, begin);
		if (!operation->seen.attributes)
			return tt_fail_nomem();
	}
	return add_tensors(operation, begin->inputs, begin->input_count);
}

static void close_operation(struct tt_ops_walk *walk, struct thread *thread)
{
	struct operation *operation = &thread->operations.data[--thread->open];

	tt_ops_attributes_unref(operation->seen.attributes);
	operation->seen.attributes = NULL;
	walk->under_way--;
}

static struct operation *innermost(struct thread *thread)
{
	return thread->open ? &thread->operations.data[thread->open - 1] : NULL;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* What the device told: in cycles of its clock; threads cannot be busier than the kernel took. */
static void take_run(struct tt_ops_row *row, const struct tt_event_program_run *run,
		     uint64_t end_ns)
{
	uint32_t mhz = row->chip->clock_mhz;
	uint64_t whole = least(run->whole, end_ns), kernel = least(run->kernel, whole), most;

	row->ran = true;
	row->fw_begin = tt_ops_cycles(end_ns - whole, mhz);
	row->kernel_begin = tt_ops_cycles(end_ns - kernel, mhz);
	row->fw_end = row->kernel_end = tt_ops_cycles(end_ns, mhz);
	if (!run->threads)
		return;
	most = tt_ops_ns(row->kernel_end - row->kernel_begin, mhz);
	row->has_busy = true;
	row->busy_max = least(run->busy_max, most);
	row->busy_min = least(run->busy_min, row->busy_max);
	row->busy_avg = least(run->busy / run->threads, row->busy_max);
	if (row->busy_avg < row->busy_min)
		row->busy_avg = row->busy_min;
	row->starts = least(run->starts, most);
}

static bool copy_said(char **out, const char *text)
{
	*out = text ? tt_strdup(text) : NULL;
	return !text || *out;
}

/* Where it was called from. */
static bool take_place(struct tt_ops_row *row, const struct thread *thread)
{
	row->file = thread->place.file;
	row->line = thread->place.line;
	row->name = thread->name;
	row->outer = thread->outer;
	return copy_said(&row->loc, thread->loc) &&
	       copy_said(&row->const_eval, thread->const_eval) &&
	       copy_said(&row->metadata, thread->metadata);
}

static void put_ids(struct tt_ops_row *row, const struct tt_ops_walk *walk, uint32_t mesh,
		    uint32_t chip, uint64_t launch)
{
	row->mesh = mesh;
	row->device = chip;
	row->chip = chip_of(walk, mesh);
	row->call = (walk->place.first_launch + launch) << 10 | (chip & 1023);
	row->process = walk->place.process;
}

/* A row for one chip; captured operations did not run. */
static tt_status emit_launch(struct tt_ops_walk *walk, const struct thread *thread, uint32_t number,
			     const struct launch *launch, struct tt_ops_row *row)
{
	struct captured *captured = capturing(walk, launch->mesh);
	struct tt_ops_row *kept;

	put_ids(row, walk, launch->mesh, launch->chip, launch->number);
	row->thread = number;
	row->order_ns = row->begin_ns;
	if (!take_place(row, thread)) {
		tt_ops_row_deinit(row);
		return tt_fail_nomem();
	}
	if (launch->ran && !captured)
		take_run(row, &launch->run, launch->end_ns + walk->place.offset_ns);
	kept = captured ? TT_VEC_PUSH(&captured->rows) : NULL;
	if (captured && (!kept || !tt_ops_row_copy(kept, row))) {
		if (kept)
			captured->rows.count--;
		tt_ops_row_deinit(row);
		return tt_fail_nomem();
	}
	return tt_ops_queue_add(&walk->waiting, row);
}

static tt_status end_operation(struct tt_ops_walk *walk, struct thread *thread, uint32_t number,
			       const struct tt_seen *seen)
{
	struct operation *operation = innermost(thread);
	tt_status status = TTNN_OK;

	if (operation->launches.count) {
		struct tt_ops_program *program;

		TT_TRY(add_tensors(operation, seen->event.end.outputs,
				   seen->event.end.output_count));
		operation->seen.tensors = operation->tensors.data;
		operation->seen.outputs = (uint32_t)seen->event.end.output_count;
		program = tt_ops_known_program(&walk->known, &operation->seen);
		if (!program)
			return tt_fail_nomem();
		for (size_t i = 0; status == TTNN_OK && i < operation->launches.count; i++) {
			struct tt_ops_row row = {
				.kind = TT_OPS_DEVICE,
				.program = program,
				.begin_ns = operation->begin_ns + walk->place.offset_ns,
				.duration_ns = seen->event.end.duration_ns,
				.cache_hit = operation->cache_hit,
			};

			program->refs++;
			status = emit_launch(walk, thread, number, &operation->launches.data[i],
					     &row);
		}
		tt_ops_program_unref(program);
	}
	close_operation(walk, thread);
	return status;
}

static tt_status on_launch(struct thread *thread, const struct tt_event_program_launch *event)
{
	struct operation *operation = innermost(thread);
	struct launch *launch = operation ? TT_VEC_PUSH(&operation->launches) : NULL;

	if (!operation)
		return TTNN_OK;
	if (!launch)
		return tt_fail_nomem();
	*launch = (struct launch){
		.mesh = event->device_id, .chip = event->chip_id, .number = event->launch};
	return TTNN_OK;
}

/* ---- replays ---------------------------------------------------------------------------------------------- */

/* The row of the capture; operations run again in the order in which they were captured. */
static const struct tt_ops_row *find_captured(struct tt_ops_walk *walk,
					      const struct tt_event_program_run *run)
{
	struct captured *captured = captured_of(walk, run->device_id, run->trace_id);
	uint64_t call = (walk->place.first_launch + run->launch) << 10 | (run->chip_id & 1023);

	for (size_t i = 0; captured && i < captured->rows.count; i++) {
		size_t at = (captured->next + i) % captured->rows.count;

		if (captured->rows.data[at].call == call) {
			captured->next = at + 1;
			return &captured->rows.data[at];
		}
	}
	return NULL;
}

static tt_status emit_replayed(struct tt_ops_walk *walk, const struct thread *thread,
			       uint32_t number, const struct tt_seen *seen)
{
	const struct tt_event_program_run *run = &seen->event.run;
	const struct tt_ops_row *captured = find_captured(walk, run);
	uint64_t began = thread->replays ? thread->replay_ns : seen->time_ns;
	struct tt_ops_row row = {.kind = TT_OPS_DEVICE};

	if (captured) {
		if (!tt_ops_row_copy(&row, captured))
			return tt_fail_nomem();
	} else {
		/* It was captured before the recording began: its name alone is known. */
		row.program = tt_ops_known_program(
			&walk->known, &(struct tt_ops_seen){.name = run->name ? run->name : ""});
		if (!row.program)
			return tt_fail_nomem();
		row.begin_ns = began + walk->place.offset_ns;
		put_ids(&row, walk, run->device_id, run->chip_id, run->launch);
	}
	row.thread = number;
	row.order_ns = began + walk->place.offset_ns;
	row.trace_id = run->trace_id;
	row.session = run->session;
	row.cache_hit = true;
	take_run(&row, run, seen->time_ns + walk->place.offset_ns);
	return tt_ops_queue_add(&walk->waiting, &row);
}

static tt_status on_run(struct tt_ops_walk *walk, struct thread *thread, uint32_t number,
			const struct tt_seen *seen)
{
	const struct tt_event_program_run *run = &seen->event.run;
	struct operation *operation = innermost(thread);

	if (run->session)
		return emit_replayed(walk, thread, number, seen);
	for (size_t i = 0; operation && i < operation->launches.count; i++) {
		struct launch *launch = &operation->launches.data[i];

		if (launch->number != run->launch || launch->chip != run->chip_id)
			continue;
		launch->ran = true;
		launch->run = *run;
		launch->end_ns = seen->time_ns;
	}
	return TTNN_OK;
}

static void end_replay(struct tt_ops_walk *walk, struct thread *thread)
{
	if (thread->replays)
		walk->under_way--;
	thread->replays = false;
}

static tt_status begin_capture(struct tt_ops_walk *walk, const struct tt_event_metal_trace *event)
{
	struct captured *captured = captured_of(walk, event->device_id, event->trace_id);

	if (captured)
		forget_rows(captured);
	else
		captured = TT_VEC_PUSH(&walk->captured);
	if (!captured)
		return tt_fail_nomem();
	*captured =
		(struct captured){.mesh = event->device_id, .id = event->trace_id, .open = true};
	return TTNN_OK;
}

static void end_capture(struct tt_ops_walk *walk, const struct tt_event_metal_trace *event)
{
	struct captured *captured = captured_of(walk, event->device_id, event->trace_id);

	if (captured && event->step == TT_METAL_TRACE_RELEASE) {
		forget_rows(captured);
		*captured = walk->captured.data[--walk->captured.count];
	} else if (captured) {
		captured->open = false;
	}
}

static tt_status on_metal_trace(struct tt_ops_walk *walk, struct thread *thread, uint32_t number,
				const struct tt_seen *seen)
{
	const struct tt_event_metal_trace *event = &seen->event.metal_trace;
	struct tt_ops_row row = {.kind = TT_OPS_TRACE,
				 .order_ns = seen->time_ns + walk->place.offset_ns,
				 .begin_ns = seen->time_ns + walk->place.offset_ns,
				 .mesh = event->device_id,
				 .chip = chip_of(walk, event->device_id),
				 .process = walk->place.process,
				 .thread = number,
				 .trace_id = event->trace_id,
				 .session = event->session,
				 .step = (enum tt_ops_step)event->step};

	end_replay(walk, thread);
	if (event->step == TT_METAL_TRACE_DONE || (unsigned)event->step > TT_METAL_TRACE_DONE)
		return TTNN_OK;
	if (event->step == TT_METAL_TRACE_BEGIN)
		TT_TRY(begin_capture(walk, event));
	else if (event->step != TT_METAL_TRACE_REPLAY)
		end_capture(walk, event);
	else {
		thread->replays = true;
		thread->replay_ns = seen->time_ns;
		thread->replay = *event;
		walk->under_way++;
	}
	return tt_ops_queue_add(&walk->waiting, &row);
}

/* ---- marks ------------------------------------------------------------------------------------------------ */

/* Marks that say something of the operations behind them; of the thread. */
static const char *const tags[] = {"MLIR_OP_LOCATION", "MLIR_CONST_EVAL_OP",
				   "MLIR_PROGRAM_METADATA"};

/* What the mark says, if it begins with the tag: "TAG" with a detail, or "TAG;value". NULL: it does not. */
static const char *said(const struct tt_event_mark *mark, const char *tag)
{
	size_t length = strlen(tag);

	if (strncmp(mark->text, tag, length) != 0)
		return NULL;
	if (mark->text[length] == ';')
		return mark->text + length + 1;
	if (mark->text[length])
		return NULL;
	return mark->detail ? mark->detail : "";
}

/* Whether it was such a mark. */
static bool take_said(struct thread *thread, const struct tt_event_mark *mark, tt_status *status)
{
	char **places[] = {&thread->loc, &thread->const_eval, &thread->metadata};

	for (size_t i = 0; i < TT_COUNT(tags); i++) {
		const char *text = said(mark, tags[i]);

		if (!text)
			continue;
		tt_free(*places[i]);
		*places[i] = tt_strdup(text);
		if (!*places[i])
			*status = tt_fail_nomem();
		return true;
	}
	return false;
}

/* A message of Tracy's may be a signpost too. */
#define SIGNPOST "TT_SIGNPOST: "

/* The pytest plugin's words where tests begin and end are none: tools show what lies behind the last signpost. */
#define TEST_MARK "ttnn.test."

static tt_status on_mark(struct tt_ops_walk *walk, struct thread *thread, uint32_t number,
			 const struct tt_seen *seen)
{
	const struct tt_event_mark *mark = &seen->event.mark;
	const char *text = mark->text ? mark->text : "", *message = mark->detail, *line;
	struct tt_ops_row row = {.kind = TT_OPS_SIGNPOST,
				 .order_ns = seen->time_ns + walk->place.offset_ns,
				 .begin_ns = seen->time_ns + walk->place.offset_ns,
				 .process = walk->place.process,
				 .thread = number};
	tt_status status = TTNN_OK;

	if (mark->kind == TT_MARK_FRAME || !mark->text || take_said(thread, mark, &status))
		return status;
	if (strncmp(text, SIGNPOST, strlen(SIGNPOST)) == 0)
		text += strlen(SIGNPOST);
	else if (mark->kind != TT_MARK_SIGNPOST || strncmp(text, TEST_MARK, strlen(TEST_MARK)) == 0)
		return TTNN_OK;
	line = strchr(text, '\n');
	if (line && !message)
		message = line + 1;
	row.text = tt_strndup(text, line ? (size_t)(line - text) : strlen(text));
	if (!row.text || !copy_said(&row.message, message)) {
		tt_ops_row_deinit(&row);
		return tt_fail_nomem();
	}
	return tt_ops_queue_add(&walk->waiting, &row);
}

/* ---- events ----------------------------------------------------------------------------------------------- */

static tt_status on_begin(struct tt_ops_walk *walk, struct thread *thread,
			  const struct tt_seen *seen)
{
	const struct tt_event_scope_begin *begin = &seen->event.begin;

	end_replay(walk, thread);
	if (seen->depth == 0) {
		thread->name = begin->name;
		thread->outer = seen->op;
		thread->place = thread->next;
	}
	thread->next = (struct tt_event_place){0};
	if (begin->kind != TT_SCOPE_DEVICE_OP)
		return TTNN_OK;
	return begin_operation(walk, thread, seen);
}

static tt_status on_end(struct tt_ops_walk *walk, struct thread *thread, const struct tt_seen *seen)
{
	if (!thread->open || thread->operations.data[thread->open - 1].depth != seen->depth)
		return TTNN_OK;
	return end_operation(walk, thread, seen->thread, seen);
}

static tt_status on_program(struct tt_ops_walk *walk, struct thread *thread,
			    const struct tt_event_program *program)
{
	struct operation *operation = innermost(thread);

	if (!operation)
		return TTNN_OK;
	operation->cache_hit = program->cache_hit;
	return tt_ops_known_facts(&operation->seen.facts, &walk->known, program);
}

static tt_status on_event(struct tt_ops_walk *walk, const struct tt_seen *seen)
{
	struct thread *thread = thread_of(walk, seen->thread);

	if (!thread)
		return tt_fail_nomem();
	switch (seen->event.kind) {
	case TT_EVENT_SCOPE_BEGIN:
		return on_begin(walk, thread, seen);
	case TT_EVENT_SCOPE_END:
		return on_end(walk, thread, seen);
	case TT_EVENT_PROGRAM:
		return on_program(walk, thread, &seen->event.program);
	case TT_EVENT_PROGRAM_LAUNCH:
		return on_launch(thread, &seen->event.launch);
	case TT_EVENT_PROGRAM_RUN:
		return on_run(walk, thread, seen->thread, seen);
	case TT_EVENT_METAL_TRACE:
		return on_metal_trace(walk, thread, seen->thread, seen);
	case TT_EVENT_PLACE:
		thread->next = seen->event.place;
		return TTNN_OK;
	case TT_EVENT_MARK:
		return on_mark(walk, thread, seen->thread, seen);
	case TT_EVENT_DEVICE_OPEN:
		return on_device(walk, &seen->event.device);
	default:
		return TTNN_OK;
	}
}

/* ---- walking ---------------------------------------------------------------------------------------------- */

#define WANTED                                                                                     \
	(TT_WANT(SCOPE_BEGIN) | TT_WANT(SCOPE_END) | TT_WANT(PROGRAM) | TT_WANT(PROGRAM_LAUNCH) |  \
	 TT_WANT(PROGRAM_RUN) | TT_WANT(METAL_TRACE) | TT_WANT(PLACE) | TT_WANT(MARK) |            \
	 TT_WANT(DEVICE_OPEN))

tt_status tt_ops_walk_new(struct tt_ops_walk **out, struct tt_source *source,
			  const struct tt_ops_place *place)
{
	struct tt_ops_walk *walk = tt_calloc(1, sizeof(*walk));

	if (!walk)
		return tt_fail_nomem();
	walk->source = source;
	walk->place = *place;
	walk->known.dialect = walk->known.style.dialect = place->dialect;
	tt_source_want(source,
		       &(struct tt_source_wants){.kinds = WANTED, .values = true, .tensors = true});
	*out = walk;
	return TTNN_OK;
}

tt_status tt_ops_walk_next(struct tt_ops_row **out, struct tt_ops_walk *walk)
{
	const struct tt_seen *seen;

	tt_ops_row_deinit(&walk->last);
	*out = NULL;
	for (;;) {
		/* What is under way when a recording ends stays without a row. */
		if (walk->waiting.count &&
		    (walk->ended || walk->waiting.data[0].row.order_ns <=
					    (walk->under_way ? settled(walk) + walk->place.offset_ns
							     : UINT64_MAX))) {
			tt_ops_queue_take(&walk->last, &walk->waiting);
			*out = &walk->last;
			return TTNN_OK;
		}
		if (walk->ended)
			return TTNN_OK;
		TT_TRY(tt_source_next(&seen, walk->source));
		if (!seen)
			walk->ended = true;
		else
			TT_TRY(on_event(walk, seen));
	}
}

static void free_thread(struct tt_ops_walk *walk, struct thread *thread)
{
	while (thread->open)
		close_operation(walk, thread);
	for (size_t i = 0; i < thread->operations.count; i++) {
		TT_VEC_DEINIT(&thread->operations.data[i].tensors);
		TT_VEC_DEINIT(&thread->operations.data[i].launches);
	}
	TT_VEC_DEINIT(&thread->operations);
	tt_free(thread->loc);
	tt_free(thread->const_eval);
	tt_free(thread->metadata);
}

void tt_ops_walk_free(struct tt_ops_walk *walk)
{
	if (!walk)
		return;
	tt_ops_row_deinit(&walk->last);
	for (size_t i = 0; i < walk->threads.count; i++)
		free_thread(walk, &walk->threads.data[i]);
	for (size_t i = 0; i < walk->captured.count; i++)
		forget_rows(&walk->captured.data[i]);
	tt_ops_queue_deinit(&walk->waiting);
	TT_VEC_DEINIT(&walk->threads);
	TT_VEC_DEINIT(&walk->captured);
	TT_VEC_DEINIT(&walk->meshes);
	tt_ops_known_deinit(&walk->known);
	tt_arena_deinit(&walk->arena);
	tt_free(walk);
}
