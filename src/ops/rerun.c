#include "ops/rerun.h"

#include <inttypes.h>
#include <string.h>
#include <ttnn_frontend.h>

#include "base/lock.h"
#include "base/mem.h"
#include "device/device.h"
#include "device/devtensor.h"

#define NO_BUFFER SIZE_MAX

/* A buffer that calls of a trace use. */
struct used_buffer {
	uint64_t id, address;
	struct tt_buffer_layout layout;
	size_t maker; /* 1 + the step that made it; 0: none did */
	size_t last;  /* the last step that uses it */
	bool before;  /* it was there when the capture began */
	bool stays;   /* still there when the capture ended */
	size_t whole; /* of a part: the index of its buffer; else NO_BUFFER */
	struct tt_buffer_part part;
};

/* A tensor among arguments: which buffer, and how it is seen. */
struct used_tensor {
	size_t buffer;
	uint32_t chip;
	bool view;
	uint64_t spread;
	struct ttnn_tensor_spec spec;
	struct tt_mesh_layout *layout; /* of a spread tensor, without its storages */
};

/* One call. Tensors in its values are numbers: count is 1 + the index of a used_tensor. */
struct step {
	const struct tt_op_entry *entry;
	struct ttnn_arg *args;
	size_t arg_count;
	size_t *results; /* buffers by index, or NO_BUFFER */
	size_t result_count;
	uint64_t *launches; /* the numbers that its programs had */
	size_t launch_count;
};

struct trace {
	uint32_t refs; /* under the lock */
	uint32_t id, queue;
	uint32_t sessions;    /* how often it was run */
	uint64_t last_before; /* the newest buffer when the capture began */
	bool open;
	struct tt_arena arena;
	TT_VEC(struct step) steps;
	TT_VEC(struct used_buffer) buffers;
	TT_VEC(struct used_tensor) tensors;
	TT_VEC(struct tt_tensor *) hosts; /* tensors on the host that calls were given */
	struct trace *next;
};

/* What is kept with a device: its traces, newest first. */
struct traces {
	struct trace *newest;
};

atomic_int tt_rerun_captures;
TT_LOCK_STATIC(lock, TT_RANK_RERUN, NULL); /* of all traces */

/* The capture that recorded a program of the call that is running: where, and 1 + its id. */
static _Thread_local struct {
	struct tt_devmem *memory; /* a reference; NULL: there was none */
	uint32_t capture;
	TT_VEC(uint64_t) numbers; /* of its programs */
} launched;

/* What this thread runs again. */
static _Thread_local struct {
	const struct step *step;
	size_t next; /* of its launches */
	uint32_t trace_id, session;
} replayed;

/* ---- lives ------------------------------------------------------------------------------------ */

static void free_trace(struct trace *trace)
{
	for (size_t i = 0; i < trace->tensors.count; i++)
		tt_mesh_layout_unref(trace->tensors.data[i].layout);
	for (size_t i = 0; i < trace->hosts.count; i++)
		ttnn_tensor_unref(trace->hosts.data[i]);
	TT_VEC_DEINIT(&trace->steps);
	TT_VEC_DEINIT(&trace->buffers);
	TT_VEC_DEINIT(&trace->tensors);
	TT_VEC_DEINIT(&trace->hosts);
	tt_arena_deinit(&trace->arena);
	tt_free(trace);
}

static void unref_trace(struct trace *trace)
{
	bool last;

	tt_lock_take(&lock);
	last = --trace->refs == 0;
	tt_lock_give(&lock);
	if (last)
		free_trace(trace);
}

/* Ends the recording of a trace, if it goes on. Under the lock. */
static void stop(struct trace *trace)
{
	if (trace->open)
		atomic_fetch_sub(&tt_rerun_captures, 1);
	trace->open = false;
}

/* Takes a trace out of its list and ends it. What the list had of it is the caller's. Under the lock. */
static struct trace *unlink_trace(struct tt_device *device, struct trace **at)
{
	struct trace *trace = *at;

	*at = trace->next;
	if (trace->open)
		atomic_store(&device->capturing, 0);
	stop(trace);
	return trace;
}

/* When the device is closed. */
static void drop_all(struct tt_device *device)
{
	struct trace *first = NULL, *next;
	struct traces *traces;

	tt_lock_take(&lock);
	traces = atomic_exchange(&device->kept, NULL);
	while (traces && traces->newest) {
		struct trace *trace = unlink_trace(device, &traces->newest);

		trace->next = first;
		first = trace;
	}
	tt_lock_give(&lock);
	for (; first; first = next) {
		next = first->next;
		unref_trace(first);
	}
	tt_free(traces);
}

/* The traces of a device, made when the first one is. Under the lock. */
static tt_status traces_of(struct traces **out, struct tt_device *device)
{
	*out = atomic_load(&device->kept);
	if (*out)
		return TTNN_OK;
	*out = tt_calloc(1, sizeof(**out));
	TT_NEED_MEMORY(*out);
	device->drop_kept = drop_all;
	atomic_store(&device->kept, *out);
	return TTNN_OK;
}

/* The place in the list that holds a trace, or NULL. Under the lock. */
static struct trace **find_place(struct tt_device *device, uint32_t id)
{
	struct traces *traces = atomic_load(&device->kept);
	struct trace **at = traces ? &traces->newest : NULL;

	while (at && *at && (*at)->id != id)
		at = &(*at)->next;
	return at && *at ? at : NULL;
}

/* Under the lock. */
static struct trace *find_trace(struct tt_device *device, uint32_t id)
{
	struct trace **at = find_place(device, id);

	return at ? *at : NULL;
}

/* Goes inside a device's memory, so that it is not closed meanwhile. */
static tt_status enter(struct tt_device *device)
{
	TT_TRY(tt_device_check_open(device));
	if (tt_devmem_enter(device->memory))
		return TTNN_OK;
	return tt_fail(TTNN_STATE, "device %u is closed", device->id);
}

/* ---- refusals --------------------------------------------------------------------------------- */

static bool captures(const struct tt_device *device)
{
	return tt_rerun_on() && device && atomic_load(&device->capturing) && !tt_rerunning() &&
	       tt_run_mode() == TTNN_RUN_NORMAL;
}

tt_status tt_rerun_check_new(const struct tt_device *device)
{
	if (!captures(device))
		return TTNN_OK;
	return tt_fail_cond(TTNN_STATE, "!mesh_cq.trace_id().has_value()",
			    "Cannot load new binaries during trace capture."
			    "This program is not yet in program cache. "
			    "Warm up before capturing a trace."
			    "See the operation's hash signature for arguments that must match.");
}

tt_status tt_rerun_check_write(const struct tt_device *device)
{
	if (!captures(device))
		return TTNN_OK;
	return tt_fail_cond(
		TTNN_STATE, "!trace_id_.has_value()",
		"Writes are not supported during trace capture. trace id: %" PRIuLEAST32,
		atomic_load(&device->capturing) - 1);
}

tt_status tt_rerun_check_read(const struct tt_device *device)
{
	if (!captures(device))
		return TTNN_OK;
	return tt_fail_cond(TTNN_STATE, "!trace_id_.has_value()",
			    "Reads are not supported during trace capture.");
}

/*
 * A program was launched while a capture is open on its device. Numbers of launches are kept
 * with the call, so that profiles can say which of them a replay repeats.
 */
bool tt_rerun_note_launch(const struct tt_device *device, uint64_t number)
{
	uint32_t capture = captures(device) ? (uint32_t)atomic_load(&device->capturing) : 0;
	uint64_t *place;

	if (tt_rerunning())
		replayed.next++;
	if (!capture)
		return false;
	/* Without memory profiles do not know which launch a replay repeats, which is all. */
	place = TT_VEC_PUSH(&launched.numbers);
	if (place)
		*place = number;
	/* The door must know of the end of this call, also when the capture ends before. */
	if (!launched.memory) {
		atomic_fetch_add(&tt_rerun_captures, 1);
		launched.memory = tt_devmem_ref(device->memory);
		launched.capture = capture;
	}
	return true;
}

bool tt_rerun_current(struct tt_event_program_run *run)
{
	const struct step *step = replayed.step;

	if (!tt_rerunning() || !step)
		return false;
	run->launch = replayed.next && replayed.next <= step->launch_count
			      ? step->launches[replayed.next - 1]
			      : 0;
	run->trace_id = replayed.trace_id;
	run->session = replayed.session;
	return true;
}

/* A step of a trace's life, for profiles. */
static void emit_step(enum tt_metal_trace_step step, const struct tt_device *device, uint32_t id,
		      uint32_t session)
{
	struct tt_event event = {.kind = TT_EVENT_METAL_TRACE,
				 .metal_trace = {step, device->id, id, session}};

	if (tt_event_profile_on() && tt_event_on())
		tt_event_emit(&event);
}

/* ---- recording -------------------------------------------------------------------------------- */

/* The index of a buffer among those of the trace, the newest first: they are used soon after. */
static tt_status use_buffer(size_t *out, struct trace *trace, const struct tt_buffer *buffer,
			    size_t maker)
{
	struct used_buffer *used;
	size_t whole = NO_BUFFER;

	if (buffer->mode == TT_BUFFER_PART)
		TT_TRY(use_buffer(&whole, trace, buffer->part.whole, 0));
	for (size_t i = trace->buffers.count; i-- > 0;)
		if (trace->buffers.data[i].id == buffer->id) {
			trace->buffers.data[i].last = trace->steps.count;
			*out = i;
			return TTNN_OK;
		}
	used = TT_VEC_PUSH(&trace->buffers);
	TT_NEED_MEMORY(used);
	*used = (struct used_buffer){
		.id = buffer->id,
		.address = buffer->address,
		.layout = buffer->layout,
		.maker = maker,
		.before = buffer->id <= trace->last_before,
		.last = trace->steps.count,
		.whole = whole,
		.part = buffer->part,
	};
	*out = trace->buffers.count - 1;
	return TTNN_OK;
}

/*
 * An argument of a captured call: of a device tensor its buffer's place and spec are kept, not
 * its storage, which would keep the memory; host tensors are kept themselves.
 */
static tt_status keep_tensor(struct ttnn_value *value, struct trace *trace)
{
	struct tt_tensor *tensor = value->tensor, **host;
	struct used_tensor used = {
		.view = tensor->view, .spread = tensor->spread, .spec = tensor->spec};
	struct tt_buffer *buffer = tt_buffer_of(&used.chip, tensor->storage);
	struct used_tensor *place;

	value->count = 0;
	if (!buffer) {
		host = TT_VEC_PUSH(&trace->hosts);
		TT_NEED_MEMORY(host);
		*host = ttnn_tensor_ref(tensor);
		return TTNN_OK;
	}
	TT_TRY(use_buffer(&used.buffer, trace, buffer, 0));
	/* Without its storages, which would keep the buffer. */
	if (tensor->layout)
		TT_TRY(tt_mesh_layout_like(&used.layout, tensor->layout));
	place = TT_VEC_PUSH(&trace->tensors);
	if (!place) {
		tt_mesh_layout_unref(used.layout);
		return tt_fail_nomem();
	}
	*place = used;
	value->tensor = NULL;
	value->count = (uint32_t)trace->tensors.count;
	return TTNN_OK;
}

/* Replaces the tensors in a value of the trace's own. */
static tt_status keep_value(struct ttnn_value *value, struct trace *trace)
{
	if (value->kind == TTNN_VALUE_TENSOR && value->tensor)
		return keep_tensor(value, trace);
	for (uint32_t i = 0; tt_value_has_items(value) && i < value->count; i++)
		TT_TRY(keep_value((struct ttnn_value *)&value->items[i], trace));
	return TTNN_OK;
}

static tt_status keep_args(struct step *step, struct trace *trace, const struct ttnn_arg *args)
{
	step->args = tt_arena_calloc(&trace->arena, step->arg_count, sizeof(*step->args));
	if (step->arg_count && !step->args)
		return tt_fail_nomem();
	for (size_t i = 0; i < step->arg_count; i++) {
		if (args[i].name) {
			step->args[i].name = tt_arena_strdup(&trace->arena, args[i].name);
			TT_NEED_MEMORY(step->args[i].name);
		}
		TT_TRY(tt_value_copy(&step->args[i].value, &trace->arena, &args[i].value));
		TT_TRY(keep_value(&step->args[i].value, trace));
	}
	return TTNN_OK;
}

static tt_status keep_results(struct step *step, struct trace *trace,
			      const struct ttnn_results *results)
{
	step->results = tt_arena_calloc(&trace->arena, results->count, sizeof(*step->results));
	if (results->count && !step->results)
		return tt_fail_nomem();
	step->result_count = results->count;
	for (size_t i = 0; i < results->count; i++) {
		const struct tt_tensor *tensor = results->tensors[i];
		struct tt_buffer *buffer = tensor ? tt_buffer_of(NULL, tensor->storage) : NULL;

		step->results[i] = NO_BUFFER;
		if (buffer)
			TT_TRY(use_buffer(&step->results[i], trace, buffer,
					  trace->steps.count + 1));
	}
	return TTNN_OK;
}

static tt_status keep_launches(struct step *step, struct trace *trace)
{
	size_t count = launched.numbers.count;

	step->launches = tt_arena_calloc(&trace->arena, count + 1, sizeof(*step->launches));
	TT_NEED_MEMORY(step->launches);
	step->launch_count = count;
	if (count)
		memcpy(step->launches, launched.numbers.data, count * sizeof(*step->launches));
	return TTNN_OK;
}

/* Adds a call to a trace. Under the lock. */
static tt_status keep(struct trace *trace, struct step *step, const struct ttnn_arg *args,
		      const struct ttnn_results *results)
{
	struct step *place;

	TT_TRY(keep_args(step, trace, args));
	TT_TRY(keep_results(step, trace, results));
	TT_TRY(keep_launches(step, trace));
	place = TT_VEC_PUSH(&trace->steps);
	TT_NEED_MEMORY(place);
	*place = *step;
	return TTNN_OK;
}

/* Inside the memory of this device, whose capture left out kernels of the call. */
static tt_status keep_call(struct tt_device *device, struct step *step, const struct ttnn_arg *args,
			   const struct ttnn_results *results)
{
	struct trace *trace;
	tt_status status;

	tt_lock_take(&lock);
	trace = find_trace(device, launched.capture - 1);
	status =
		trace && trace->open
			? keep(trace, step, args, results)
			: tt_fail(TTNN_STATE, "the capture of trace %u ended while %s was recorded",
				  launched.capture - 1, step->entry->op->name);
	tt_lock_give(&lock);
	return status;
}

/*
 * A call is over: if it launched anything, it is a step of the capture. What cannot be kept
 * fails the call.
 */
tt_status tt_rerun_note(const struct tt_op_entry *entry, const struct ttnn_arg *args,
			size_t arg_count, struct ttnn_results *results, tt_status status)
{
	struct step step = {.entry = entry, .arg_count = arg_count};
	struct tt_devmem *memory = launched.memory;

	if (!memory)
		return status;
	launched.memory = NULL;
	atomic_fetch_sub(&tt_rerun_captures, 1);
	if (status == TTNN_OK) {
		if (tt_devmem_enter(memory)) {
			status = keep_call(atomic_load(&memory->device), &step, args, results);
			tt_devmem_leave(memory);
		} else {
			status = tt_fail(TTNN_STATE, "the device was closed while %s was recorded",
					 entry->op->name);
		}
		for (size_t i = 0; status != TTNN_OK && i < results->count; i++)
			ttnn_tensor_unref(results->tensors[i]);
		if (status != TTNN_OK)
			results->count = 0;
	}
	TT_VEC_DEINIT(&launched.numbers);
	tt_devmem_unref(memory);
	return status;
}

/* ---- running again ---------------------------------------------------------------------------- */

/* A run of a trace: which buffer stands for each of the trace's now. */
struct run {
	const struct trace *trace;
	struct tt_buffer *
		*now; /* by index, each a reference; NULL: not made yet, or not needed more */
	struct tt_buffer **live;
	size_t live_count;
	struct tt_devmem *memory;
	struct tt_arena arena;
};

/* What lies where this buffer lay, if it is as large. Borrowed. */
static struct tt_buffer *find_live(const struct run *run, const struct used_buffer *used)
{
	for (size_t i = 0; i < run->live_count; i++) {
		struct tt_buffer *buffer = run->live[i];

		if (buffer->address == used->address && buffer->layout.type == used->layout.type &&
		    buffer->layout.size == used->layout.size &&
		    buffer->layout.page_size == used->layout.page_size)
			return buffer;
	}
	return NULL;
}

/* A buffer that no step makes, as the run's own reference. */
static tt_status find_input(struct tt_buffer **out, const struct run *run,
			    const struct used_buffer *used)
{
	const struct tt_buffer_options loose = {.mode = TT_BUFFER_LOOSE};
	const struct tt_buffer_layout *layout = &used->layout;
	bool placed = layout->size && (used->before || used->stays); /* empty ones have no place */
	struct tt_buffer *live = placed ? find_live(run, used) : NULL;

	if (live) {
		*out = tt_buffer_ref(live);
		return TTNN_OK;
	}
	/* Made during the capture, and given up: like the results of steps it is made again. */
	if (!layout->size || !used->before)
		return tt_buffer_new(out, run->memory, layout, &loose);
	return tt_fail(TTNN_STATE,
		       "trace %u uses %" PRIu64 " bytes of %s at address %" PRIu64
		       ", where no such tensor lies any more",
		       run->trace->id, layout->size, layout->type == TTNN_DRAM ? "DRAM" : "L1",
		       used->address);
}

static tt_status find_inputs(struct run *run)
{
	for (size_t i = 0; i < run->trace->buffers.count; i++)
		if (!run->trace->buffers.data[i].maker &&
		    run->trace->buffers.data[i].whole == NO_BUFFER)
			TT_TRY(find_input(&run->now[i], run, &run->trace->buffers.data[i]));
	return TTNN_OK;
}

/* A part that no step made, in what stands for its whole now. */
static tt_status renew_part(struct run *run, size_t index)
{
	const struct used_buffer *used = &run->trace->buffers.data[index];
	struct tt_buffer_options options = {.mode = TT_BUFFER_PART};
	struct tt_buffer_part part = used->part;

	if (run->now[index] || used->whole == NO_BUFFER)
		return TTNN_OK;
	TT_TRY(renew_part(run, used->whole));
	part.whole = run->now[used->whole];
	options.part = &part;
	if (!part.whole)
		return TTNN_OK;
	return tt_buffer_new(&run->now[index], run->memory, &used->layout, &options);
}

/* A tensor for this run, in whatever buffer is at the place now. */
static tt_status renew_tensor(struct ttnn_value *value, struct run *run)
{
	const struct used_tensor *used = &run->trace->tensors.data[value->count - 1];
	struct tt_buffer *buffer;
	tt_status status;

	TT_TRY(renew_part(run, used->buffer));
	buffer = run->now[used->buffer];
	if (!buffer)
		return tt_fail(TTNN_STATE, "trace %u uses a tensor that it did not make",
			       run->trace->id);
	status = tt_device_tensor_in(&value->tensor, buffer, used->chip, &used->spec, used->layout);
	if (status != TTNN_OK)
		return status;
	value->tensor->view = used->view;
	value->tensor->spread = used->spread;
	return TTNN_OK;
}

/* Puts tensors where numbers stand; those that are made are to be given back by forget_value(). */
static tt_status renew_value(struct ttnn_value *value, struct run *run)
{
	if (value->kind == TTNN_VALUE_TENSOR && value->count)
		return renew_tensor(value, run);
	for (uint32_t i = 0; tt_value_has_items(value) && i < value->count; i++)
		TT_TRY(renew_value((struct ttnn_value *)&value->items[i], run));
	return TTNN_OK;
}

static void forget_value(struct ttnn_value *value)
{
	if (value->kind == TTNN_VALUE_TENSOR && value->count)
		ttnn_tensor_unref(value->tensor);
	for (uint32_t i = 0; tt_value_has_items(value) && i < value->count; i++)
		forget_value((struct ttnn_value *)&value->items[i]);
}

/* A result of a call: it stands for the recorded one, whose tensor gets its values if there is one. */
static tt_status take_result(struct run *run, size_t index, struct tt_tensor *tensor)
{
	const struct used_buffer *used;
	struct tt_buffer *made, *live;

	if (index == NO_BUFFER || !tensor || run->now[index])
		return TTNN_OK;
	used = &run->trace->buffers.data[index];
	made = tt_buffer_of(NULL, tensor->storage);
	if (!made || made->layout.size != used->layout.size)
		return tt_fail(TTNN_INTERNAL, "trace %u: a call gives something else now",
			       run->trace->id);
	live = used->stays ? find_live(run, used) : NULL;
	if (live && live != made)
		TT_TRY(tt_buffer_adopt(live, made));
	run->now[index] = tt_buffer_ref(live ? live : made);
	return TTNN_OK;
}

/*
 * The call again, with tensors of this run; what it makes belongs to the places where its
 * results were.
 */
static tt_status run_step(struct run *run, const struct step *step)
{
	struct ttnn_arg *args = tt_arena_calloc(&run->arena, step->arg_count + 1, sizeof(*args));
	struct ttnn_results results = {.count = 0};
	tt_status status = args ? TTNN_OK : tt_fail_nomem();
	size_t made = 0;

	for (; made < step->arg_count && status == TTNN_OK; made++) {
		args[made].name = step->args[made].name;
		status = tt_value_copy(&args[made].value, &run->arena, &step->args[made].value);
		if (status == TTNN_OK)
			status = renew_value(&args[made].value, run);
	}
	if (status == TTNN_OK)
		status = ttnn_op_call(&results, step->entry, args, step->arg_count,
				      TTNN_FRONTEND_METHOD);
	for (size_t i = 0; i < results.count; i++) {
		if (status == TTNN_OK && i < step->result_count)
			status = take_result(run, step->results[i], results.tensors[i]);
		ttnn_tensor_unref(results.tensors[i]);
	}
	for (size_t i = 0; i < made; i++)
		forget_value(&args[i].value);
	tt_arena_reset(&run->arena);
	return status;
}

/* What no later step needs goes at once. */
static void let_go(struct run *run, size_t step)
{
	for (size_t i = 0; i < run->trace->buffers.count; i++)
		if (run->now[i] && run->trace->buffers.data[i].last == step) {
			tt_buffer_unref(run->now[i]);
			run->now[i] = NULL;
		}
}

/*
 * Quiet: a replay is one event for whoever listens. Run modes are the capture's, not the
 * caller's.
 */
static tt_status run_steps(struct run *run)
{
	bool muted = tt_event_mute(true), before = tt_rerunning_set(true);
	enum ttnn_run_mode mode = tt_run_mode_set(TTNN_RUN_NORMAL);
	tt_status status = find_inputs(run);

	for (size_t i = 0; i < run->trace->steps.count && status == TTNN_OK; i++) {
		replayed.step = &run->trace->steps.data[i];
		replayed.next = 0;
		status = run_step(run, &run->trace->steps.data[i]);
		let_go(run, i);
	}
	for (size_t i = 0; i < run->trace->buffers.count; i++)
		tt_buffer_unref(run->now[i]);
	replayed.step = NULL;
	tt_run_mode_set(mode);
	tt_rerunning_set(before);
	tt_event_mute(muted);
	return status;
}

static tt_status run_trace(const struct trace *trace, struct tt_device *device)
{
	struct run run = {.trace = trace, .memory = device->memory};
	tt_status status;

	run.now = tt_calloc(trace->buffers.count + 1, sizeof(struct tt_buffer *));
	TT_NEED_MEMORY(run.now);
	status = tt_devmem_list(&run.live, &run.live_count, device->memory);
	if (status == TTNN_OK) {
		status = run_steps(&run);
		tt_devmem_free_list(run.live, run.live_count);
	}
	tt_arena_deinit(&run.arena);
	tt_free(run.now);
	return status;
}

/* ---- the interface ---------------------------------------------------------------------------- */

static tt_status check_queue(const struct tt_device *device, uint32_t queue)
{
	if (queue < device->info.queues)
		return TTNN_OK;
	return tt_fail_cond(TTNN_INVALID, "id < mesh_command_queues_.size()",
			    "cq_id %u is out of range", queue);
}

/* Inside. */
static tt_status begin(uint32_t *id, struct tt_device *device, uint32_t queue)
{
	static atomic_uint_least32_t next_id;
	struct trace *trace = tt_calloc(1, sizeof(*trace));
	struct traces *traces;
	tt_status status;

	TT_NEED_MEMORY(trace);
	*trace = (struct trace){.refs = 1, .queue = queue, .open = true};
	trace->id = (uint32_t)atomic_fetch_add(&next_id, 1);
	tt_lock_take(&lock);
	status = traces_of(&traces, device);
	if (status == TTNN_OK && atomic_load(&device->capturing))
		status = tt_fail_cond(
			TTNN_STATE, "!this->mesh_command_queues_[cq_id]->trace_id().has_value()",
			"CQ %u is already being used for tracing tid %u", queue, trace->id);
	if (status == TTNN_OK) {
		trace->last_before = tt_buffer_last_id();
		trace->next = traces->newest;
		traces->newest = trace;
		atomic_fetch_add(&tt_rerun_captures, 1);
		atomic_store(&device->capturing, trace->id + 1);
		*id = trace->id;
	}
	tt_lock_give(&lock);
	if (status != TTNN_OK)
		free_trace(trace);
	return status;
}

enum ttnn_status ttnn_device_trace_begin(uint32_t *id, ttnn_device *device, uint32_t queue)
{
	tt_status status;

	TT_TRY(enter(device));
	status = check_queue(device, queue);
	if (status == TTNN_OK)
		status = begin(id, device, queue);
	if (status == TTNN_OK)
		emit_step(TT_METAL_TRACE_BEGIN, device, *id, 0);
	tt_devmem_leave(device->memory);
	return status;
}

/* Which of the buffers that a trace uses are still there. */
static tt_status find_staying(struct trace *trace, struct tt_device *device)
{
	struct tt_buffer **live;
	size_t count;

	TT_TRY(tt_devmem_list(&live, &count, device->memory));
	for (size_t i = 0; i < trace->buffers.count; i++)
		for (size_t k = 0; k < count && !trace->buffers.data[i].stays; k++)
			trace->buffers.data[i].stays = live[k]->id == trace->buffers.data[i].id;
	tt_devmem_free_list(live, count);
	return TTNN_OK;
}

enum ttnn_status ttnn_device_trace_end(ttnn_device *device, uint32_t id, uint32_t queue)
{
	struct trace *broken = NULL, **at;
	tt_status status;

	TT_TRY(enter(device));
	tt_lock_take(&lock);
	at = find_place(device, id);
	if (!at || !(*at)->open || (*at)->queue != queue) {
		status = tt_fail_cond(TTNN_STATE,
				      "this->mesh_command_queues_[cq_id]->trace_id() == trace_id",
				      "CQ %u is not being used for tracing tid %u", queue, id);
	} else {
		status = find_staying(*at, device);
		if (status != TTNN_OK)
			broken = unlink_trace(device, at);
		else
			stop(*at);
		atomic_store(&device->capturing, 0);
	}
	tt_lock_give(&lock);
	if (broken)
		unref_trace(broken);
	if (status == TTNN_OK)
		emit_step(TT_METAL_TRACE_END, device, id, 0);
	tt_devmem_leave(device->memory);
	return status;
}

/* A finished trace as one more reference, and the number of the run that begins. Inside. */
static tt_status get_finished(struct trace **out, uint32_t *session, struct tt_device *device,
			      uint32_t id)
{
	tt_status status = TTNN_OK;
	struct trace *trace;

	tt_lock_take(&lock);
	trace = find_trace(device, id);
	if (!trace)
		status = tt_fail_cond(TTNN_STATE, "trace_buffer != nullptr",
				      "Trace instance %u must exist on Mesh device %u's active "
				      "sub-device manager %u",
				      id, device->id, device->id - device->closes_parent);
	else if (trace->open)
		status = tt_fail(TTNN_STATE, "trace %u is still being captured", id);
	else
		trace->refs++;
	*session = status == TTNN_OK ? ++trace->sessions : 0;
	tt_lock_give(&lock);
	*out = trace;
	return status;
}

enum ttnn_status ttnn_device_trace_run(ttnn_device *device, uint32_t id)
{
	struct trace *trace;
	uint32_t session;
	tt_status status;

	TT_TRY(enter(device));
	status = get_finished(&trace, &session, device, id);
	if (status == TTNN_OK) {
		replayed.trace_id = id;
		replayed.session = session;
		emit_step(TT_METAL_TRACE_REPLAY, device, id, session);
		status = run_trace(trace, device);
		emit_step(TT_METAL_TRACE_DONE, device, id, session);
		unref_trace(trace);
	}
	tt_devmem_leave(device->memory);
	return status;
}

void ttnn_device_trace_release(ttnn_device *device, uint32_t id)
{
	struct trace *trace = NULL, **at;

	/* Closing has released all. */
	if (!tt_devmem_enter(device->memory))
		return;
	tt_lock_take(&lock);
	at = find_place(device, id);
	if (at)
		trace = unlink_trace(device, at);
	tt_lock_give(&lock);
	if (trace) {
		unref_trace(trace);
		emit_step(TT_METAL_TRACE_RELEASE, device, id, 0);
	}
	tt_devmem_leave(device->memory);
}

bool ttnn_device_trace_active(const ttnn_device *device)
{
	return atomic_load(&device->capturing) != 0;
}
