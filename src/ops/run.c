/*
 * run.c: the one door. Every operation and every program runs through here, and every scope,
 * program and error is emitted from here.
 */
#include <pthread.h>
#include <string.h>
#include <ttnn_frontend.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "device/buffer.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "device/generation.h"
#include "event/call.h"
#include "ops/gives.h"
#include "ops/launch.h"
#include "ops/rerun.h"
#include "ops/sound.h"

/* ---- the thread's context ------------------------------------------------------------------------ */

/* One arena per thread, reset when its outermost call returns. */
static _Thread_local struct tt_arena thread_arena;
static _Thread_local uint32_t depth;
static _Thread_local bool
	error_emitted;                 /* a failure is emitted where it happened, not again above */
static _Thread_local bool from_python; /* the outermost call */
static _Atomic(const struct ttnn_inner_calls *) inner_calls;

static pthread_key_t at_exit;
static pthread_once_t at_exit_once = PTHREAD_ONCE_INIT;

static void forget(void *arena)
{
	tt_arena_deinit(arena);
}

static void make_at_exit(void)
{
	pthread_key_create(&at_exit, forget);
	ttnn_params_environment();
}

/* A thread that ends gives its arena back. */
static void remember_thread(void)
{
	static _Thread_local bool remembered;

	if (remembered)
		return;
	pthread_once(&at_exit_once, make_at_exit);
	remembered = pthread_setspecific(at_exit, &thread_arena) == 0;
}

void tt_call_forget_thread(void)
{
	tt_arena_deinit(&thread_arena);
}

enum ttnn_run_mode ttnn_set_run_mode(enum ttnn_run_mode mode)
{
	return tt_run_mode_set(mode);
}

/* ---- telling ---------------------------------------------------------------------------------------- */

/* Describes up to `most` tensors, leaving out the missing ones; returns how many. */
static size_t describe_all(struct tt_event_tensor *out, size_t most,
			   struct tt_tensor *const *tensors, size_t count)
{
	size_t used = 0;

	for (size_t i = 0; i < count && used < most; i++)
		if (tensors[i])
			tt_event_describe(&out[used++], tensors[i]);
	return used;
}

void tt_emit_begin(const struct tt_event_scope_begin *scope, struct tt_tensor *const *inputs,
		   size_t input_count)
{
	struct tt_event_tensor described[2 * TT_OUTPUTS_MAX];
	struct tt_event event;

	if (!tt_event_on())
		return;
	tt_event_emit_stack();
	event.kind = TT_EVENT_SCOPE_BEGIN;
	event.ticks = 0;
	event.begin = *scope;
	event.begin.inputs = described;
	event.begin.input_count = describe_all(described, 2 * TT_OUTPUTS_MAX, inputs, input_count);
	tt_event_emit(&event);
}

void tt_emit_begin_both(const struct tt_event_scope_begin scopes[2],
			struct tt_tensor *const *inputs, const size_t counts[2])
{
	struct tt_event_tensor described[2 * TT_OUTPUTS_MAX];
	struct tt_event events[2];
	size_t most = counts[0] > counts[1] ? counts[0] : counts[1], used = 0;

	for (size_t i = 0; i < 2; i++) {
		events[i].kind = TT_EVENT_SCOPE_BEGIN;
		events[i].ticks = 0;
		events[i].begin = scopes[i];
		events[i].begin.inputs = described;
		events[i].begin.input_count = 0;
	}
	for (size_t i = 0; i < most && used < 2 * TT_OUTPUTS_MAX; i++) {
		if (!inputs[i])
			continue;
		tt_event_describe(&described[used++], inputs[i]);
		for (size_t k = 0; k < 2; k++)
			if (i < counts[k])
				events[k].begin.input_count = used;
	}
	if (!atomic_load_explicit(&tt_event_stacks.c, memory_order_relaxed)) {
		tt_event_emit_all(events, 2);
		return;
	}
	for (size_t i = 0; i < 2; i++) {
		tt_event_emit_stack();
		tt_event_emit(&events[i]);
	}
}

static void emit_ends(struct tt_tensor *const *outputs, size_t count, bool aborted, size_t scopes)
{
	struct tt_event_tensor described[TT_OUTPUTS_MAX];
	struct tt_event events[2];

	if (!tt_event_on())
		return;
	events[0].kind = TT_EVENT_SCOPE_END;
	events[0].ticks = 0;
	events[0].end = (struct tt_event_scope_end){
		.outputs = described,
		.output_count = describe_all(described, TT_OUTPUTS_MAX, outputs, count),
		.aborted = aborted,
	};
	events[1] = events[0];
	tt_event_emit_all(events, scopes);
}

void tt_emit_end(struct tt_tensor *const *outputs, size_t count, bool aborted)
{
	emit_ends(outputs, count, aborted, 1);
}

void tt_emit_end_both(struct tt_tensor *const *outputs, size_t count, bool aborted)
{
	emit_ends(outputs, count, aborted, 2);
}

void tt_emit_error(tt_status status)
{
	struct tt_event event = {.kind = TT_EVENT_ERROR};

	if (!tt_event_on() || error_emitted)
		return;
	error_emitted = true;
	event.error = (struct tt_event_error){
		.status = status, .message = ttnn_error(), .condition = tt_fail_condition()};
	tt_event_emit(&event);
}

void tt_host_begin(struct tt_call *call, const char *name, const struct ttnn_value *args,
		   size_t arg_count)
{
	struct tt_tensor *inputs[TT_OUTPUTS_MAX];
	size_t count = 0;

	(void)call;
	if (!tt_event_on())
		return;
	for (size_t i = 0; i < arg_count && count < TT_OUTPUTS_MAX; i++)
		if (args[i].kind == TTNN_VALUE_TENSOR)
			inputs[count++] = args[i].tensor;
	tt_emit_begin(
		&(struct tt_event_scope_begin){
			.kind = TT_SCOPE_HOST, .name = name, .args = args, .arg_count = arg_count},
		inputs, count);
}

void tt_host_end(struct tt_call *call, struct tt_tensor *result, tt_status status)
{
	if (status == TTNN_OK && result)
		tt_tensor_renumber(result);
	tt_host_end_as_is(call, result, status);
}

void tt_host_end_as_is(struct tt_call *call, struct tt_tensor *result, tt_status status)
{
	(void)call;
	if (status != TTNN_OK)
		tt_emit_error(status);
	tt_emit_end(&result, result ? 1 : 0, status != TTNN_OK);
}

/* ---- tensors -------------------------------------------------------------------------------------------- */

/* The begin, the event of its buffer, the end. */
enum { CREATED_BEGIN, CREATED_BUFFER, CREATED_END, CREATED_EVENTS };

/* The scope of a tensor that was made since `ticks`; events[CREATED_BUFFER] is there if `emitted` is 1. */
static void emit_created(struct tt_event *events, size_t emitted, struct tt_tensor *tensor,
			 struct tt_device *device, const struct ttnn_tensor_spec *spec)
{
	struct ttnn_value args[5];
	struct tt_event_tensor described;
	uint64_t now =
		tt_clock_ticks(); /* the events of whoever had the address before are out by now */
	size_t count = CREATED_BUFFER + emitted;

	args[0] = ttnn_v_shape(&spec->shape);
	args[1] = ttnn_v_dtype(spec->dtype);
	args[2] = ttnn_v_layout(spec->layout);
	args[3] = (struct ttnn_value){.kind = TTNN_VALUE_DEVICE, .device = device};
	args[4] = ttnn_v_memory(&spec->memory);
	tt_event_emit_stack();
	events[CREATED_BEGIN].kind = TT_EVENT_SCOPE_BEGIN;
	events[CREATED_BEGIN].begin =
		(struct tt_event_scope_begin){.kind = TT_SCOPE_CREATE,
					      .name = "tt::tt_metal::create_device_tensor",
					      .args = args,
					      .arg_count = 5};
	if (emitted)
		events[CREATED_BUFFER].ticks = now;
	if (tensor) {
		tt_event_describe(&described, tensor);
		events[count].kind = TT_EVENT_SCOPE_END;
		events[count].ticks = now;
		events[count++].end =
			(struct tt_event_scope_end){.outputs = &described, .output_count = 1};
	}
	tt_event_emit_all(events, count);
}

/* A type that the chips cannot have is refused inside the scope. */
static tt_status make_tensor(struct tt_tensor **out, struct tt_device *device,
			     const struct ttnn_tensor_spec *spec)
{
	TT_REQUIRE(spec->dtype != TTNN_FP8_E4M3 || tt_is_blackhole(device),
		   "tt::is_data_format_supported(tt::DataFormat::Fp8_e4m3, mesh_device.arch())",
		   "FP8_E4M3 is not supported on arch wormhole_b0");
	return tt_device_tensor_new(out, device, spec);
}

/* The event of the buffer's maker goes out with the scope around it. None is emitted of a buffer that did not stay. */
static tt_status create_aloud(struct tt_tensor **out, struct tt_device *device,
			      const struct ttnn_tensor_spec *spec)
{
	struct tt_event events[CREATED_EVENTS];
	struct tt_event_held held = {.events = &events[CREATED_BUFFER], .room = 1};
	tt_status status;

	events[CREATED_BEGIN].ticks = tt_clock_ticks();
	tt_event_hold(&held);
	status = make_tensor(out, device, spec);
	tt_event_hold(NULL);
	if (status == TTNN_OK) {
		tt_tensor_renumber(*out);
		emit_created(events, held.count, *out, device, spec);
		return TTNN_OK;
	}
	emit_created(events, 0, NULL, device, spec);
	tt_emit_error(status);
	tt_emit_end(NULL, 0, true);
	return status;
}

tt_status tt_call_create(struct tt_tensor **out, struct tt_call *call, struct tt_device *device,
			 const struct ttnn_tensor_spec *spec)
{
	(void)call;
	if (!device)
		return tt_device_check_open(device);
	if (tt_event_on())
		return create_aloud(out, device, spec);
	TT_TRY(make_tensor(out, device, spec));
	tt_tensor_renumber(*out);
	return TTNN_OK;
}

/* A tensor that is given up now does not go again at the end. */
static void disown(struct tt_call *call, const struct tt_tensor *tensor)
{
	for (size_t i = call ? call->owned_count : 0; i-- > 0;) {
		if (call->owned[i] != tensor)
			continue;
		call->owned_count--;
		memmove(&call->owned[i], &call->owned[i + 1],
			(call->owned_count - i) * sizeof(call->owned[0]));
		return;
	}
}

void tt_call_drop(struct tt_call *call, struct tt_tensor *tensor)
{
	bool last = tensor && tt_event_on() && tt_tensor_owns_alone(tensor);

	disown(call, tensor);
	if (last)
		tt_host_begin(call, TT_SCOPE_DEALLOCATE, NULL, 0);
	ttnn_tensor_unref(tensor);
	if (last)
		tt_host_end(call, NULL, TTNN_OK);
}

void tt_call_deallocate(struct tt_call *call, struct tt_tensor *tensor)
{
	struct tt_buffer *buffer = tt_tensor_buffer(tensor);

	tt_host_begin(call, TT_SCOPE_DEALLOCATE, NULL, 0);
	if (buffer && !(tt_rerunning() && tt_buffer_root(buffer)->mode == TT_BUFFER_REAL))
		tt_tensor_give_up(tensor);
	tt_host_end(call, NULL, TTNN_OK);
}

void tt_call_overwrite(struct tt_call *call, struct tt_tensor *tensor)
{
	disown(call, tensor);
	ttnn_tensor_unref(tensor);
}

/* ---- operations --------------------------------------------------------------------------------------------- */

static struct tt_device *device_of(const struct tt_args *args)
{
	for (size_t i = 0; i < args->sig->count; i++) {
		const struct ttnn_value *value = &args->values[i];

		if (value->kind == TTNN_VALUE_DEVICE)
			return value->device;
		if (value->kind == TTNN_VALUE_LIST && value->count)
			value = &value->items[0];
		if (value->kind == TTNN_VALUE_TENSOR && tt_tensor_device(value->tensor))
			return tt_tensor_device(value->tensor);
	}
	return NULL;
}

/* The memory of that device, closed or not. */
static struct tt_devmem *memory_of(const struct tt_args *args)
{
	for (size_t i = 0; i < args->sig->count; i++) {
		const struct ttnn_value *value = &args->values[i];
		const struct tt_buffer *buffer;

		if (value->kind == TTNN_VALUE_DEVICE)
			return value->device->memory;
		if (value->kind == TTNN_VALUE_LIST && value->count)
			value = &value->items[0];
		if (value->kind != TTNN_VALUE_TENSOR)
			continue;
		buffer = tt_buffer_of(NULL, value->tensor->storage);
		if (buffer)
			return buffer->memory;
	}
	return NULL;
}

/* The tensors of a value, in order. */
static size_t gather(struct tt_tensor **out, size_t count, size_t most,
		     const struct ttnn_value *value)
{
	if (value->kind == TTNN_VALUE_TENSOR && count < most)
		out[count++] = value->tensor;
	for (uint32_t i = 0; value->kind == TTNN_VALUE_LIST && i < value->count; i++)
		count = gather(out, count, most, &value->items[i]);
	return count;
}

static void emit_operation(const struct tt_op_entry *entry, const struct tt_args *args)
{
	struct tt_event_scope_begin scope = {.kind = TT_SCOPE_OPERATION,
					     .name = entry->cpp_name,
					     .schema = &args->sig->schema,
					     .args = args->values,
					     .arg_count = args->sig->count};
	struct tt_tensor *tensors[2 * TT_OUTPUTS_MAX];
	size_t count = 0;

	/* Behind the last argument that was given are defaults alone. */
	scope.left_out = (uint32_t)scope.arg_count;
	for (uint64_t given = args->given; given && scope.left_out; given >>= 1)
		scope.left_out--;
	for (size_t i = 0; i < args->sig->count; i++)
		if (args->values[i].kind == TTNN_VALUE_TENSOR ||
		    args->values[i].kind == TTNN_VALUE_LIST)
			count = gather(tensors, count, 2 * TT_OUTPUTS_MAX, &args->values[i]);
	tt_emit_begin(&scope, tensors, count);
}

static tt_status run(struct ttnn_results *out, struct tt_call *parent,
		     const struct tt_op_entry *entry, const struct tt_args *args)
{
	struct tt_devmem *memory = parent ? NULL : memory_of(args);
	bool inside = memory && tt_devmem_enter(memory);
	struct tt_call call; /* its lists are long and mostly empty: they are not cleared */
	tt_status status;

	call.entry = entry;
	call.args = args;
	call.parent = parent;
	call.arena = &thread_arena;
	call.device = device_of(args);
	call.result_count = call.owned_count = 0;
	call.extents.rank = 0;
	if (tt_event_on())
		emit_operation(entry, args);
	status = entry->op->expand(&call);
	while (call.owned_count)
		tt_call_drop(&call, call.owned[call.owned_count - 1]);
	if (status != TTNN_OK) {
		for (size_t i = 0; i < call.result_count; i++)
			tt_call_drop(&call, call.results[i]);
		call.result_count = 0;
		tt_emit_error(status);
	}
	tt_emit_end(call.results, call.result_count, status != TTNN_OK);
	for (size_t i = 0; i < call.result_count; i++)
		out->tensors[i] = call.results[i];
	out->count = call.result_count;
	out->pairs = tt_gives_pairs(entry->op->gives);
	out->extents.rank = call.extents.rank;
	for (uint32_t i = 0; i < call.extents.rank; i++)
		out->extents.dim[i] = call.extents.dim[i];
	if (inside)
		tt_devmem_leave(memory);
	return status;
}

/* What this thread does otherwise, and what it does while it rehearses. */
struct manner {
	enum ttnn_run_mode mode;
	bool addresses, rerunning, asking, muted, hidden, python, emitted;
};

static struct manner behave(struct manner manner)
{
	struct manner before = {.mode = tt_run_mode_set(manner.mode),
				.addresses = ttnn_set_dry_addresses(manner.addresses),
				.rerunning = tt_rerunning_set(manner.rerunning),
				.asking = tt_asking_set(manner.asking),
				.muted = tt_event_mute(manner.muted),
				.hidden = tt_tensor_hide(manner.hidden),
				.python = from_python,
				.emitted = error_emitted};

	from_python = manner.python;
	error_emitted = manner.emitted;
	return before;
}

tt_status tt_call_rehearse(const struct tt_op_entry *entry, const struct tt_args *args)
{
	struct manner before = behave((struct manner){
		.mode = TTNN_RUN_NO_DISPATCH, .asking = true, .muted = true, .hidden = true});
	struct ttnn_results results;
	tt_status status;

	depth++;
	remember_thread();
	status = run(&results, NULL, entry, args);
	for (size_t i = 0; status == TTNN_OK && i < results.count; i++)
		ttnn_tensor_unref(results.tensors[i]);
	if (--depth == 0)
		tt_arena_reset(&thread_arena);
	behave(before);
	return status;
}

static tt_status find(const struct tt_op_entry **out, const char *name)
{
	*out = tt_op_find(name);
	if (*out)
		return TTNN_OK;
	TT_TRY(tt_op_registry());
	return tt_fail(TTNN_NOTFOUND, "there is no operation %s", name);
}

static tt_status enter(struct ttnn_results *out, struct tt_call *parent,
		       const struct tt_op_entry *entry, const struct ttnn_arg *args,
		       size_t arg_count)
{
	struct tt_args resolved;

	TT_TRY(tt_sig_resolve(&resolved, &entry->overloads, args, arg_count));
	if (!parent)
		TT_TRY(tt_args_sound(&resolved));
	return run(out, parent, tt_op_fitting(entry, &resolved), &resolved);
}

static const char *shown_name(const struct tt_op *op)
{
	return op->frontend ? op->frontend : op->name;
}

/* What was called, as it was written, and what it gave, NULL if it failed: for who listens to that. */
static void emit_call(const struct tt_op *op, const struct ttnn_arg *args, size_t arg_count,
		      const struct ttnn_results *results)
{
	const char *name = from_python ? shown_name(op) : op->name;
	struct ttnn_results_room room;
	struct ttnn_value result;

	if (results)
		result = tt_gives_value(&room, results, op->gives);
	ttnn_emit_call(name, args, arg_count, &result, results ? NULL : ttnn_error());
}

/* Whether a result is what the operation was given, alone or among others. */
static bool is_in(const struct ttnn_value *value, const struct tt_tensor *result)
{
	bool found = value->kind == TTNN_VALUE_TENSOR && value->tensor == result;

	for (uint32_t i = 0; tt_value_has_items(value) && i < value->count && !found; i++)
		found = is_in(&value->items[i], result);
	return found;
}

static bool is_given(const struct tt_tensor *result, const struct ttnn_arg *args, size_t arg_count)
{
	for (size_t i = 0; i < arg_count; i++)
		if (is_in(&args[i].value, result))
			return true;
	return false;
}

/* A tensor of its own instead of a result, which stays if that fails. */
static tt_status share_result(struct tt_tensor **result, bool same_number)
{
	struct tt_tensor *given = *result, *own;
	bool before = tt_tensor_hide(same_number);
	tt_status status = tt_tensor_share(&own, given, NULL);

	tt_tensor_hide(before);
	TT_TRY(status);
	if (same_number)
		own->id = given->id;
	*result = own;
	ttnn_tensor_unref(given);
	return TTNN_OK;
}

/*
 * What Python is given back is a tensor of its own. While something records it has another number,
 * so that what went in keeps its own; parts of complex tensors keep theirs, as upstream's do.
 */
static tt_status hand_out(struct ttnn_results *results, const struct tt_op *op,
			  const struct ttnn_arg *args, size_t arg_count)
{
	bool parts = tt_gives_pairs(op->gives);
	tt_status status = TTNN_OK;

	for (size_t i = 0; i < results->count && status == TTNN_OK; i++) {
		struct tt_tensor *result = results->tensors[i];

		if (result && is_given(result, args, arg_count))
			status = share_result(&results->tensors[i], parts || !tt_event_on());
		else if (result && !parts)
			tt_tensor_renumber(result);
	}
	if (status == TTNN_OK)
		return TTNN_OK;
	for (size_t i = 0; i < results->count; i++)
		ttnn_tensor_unref(results->tensors[i]);
	results->count = 0;
	return status;
}

/* Of one that was cancelled pieces may be missing, whatever its parts said. */
static tt_status check_whole(struct ttnn_results *results, const struct tt_op_entry *entry)
{
	if (tt_deadline_check() == TTNN_OK)
		return TTNN_OK;
	for (size_t i = 0; i < results->count; i++)
		ttnn_tensor_unref(results->tensors[i]);
	results->count = 0;
	return tt_deadline_fail(entry->op->name);
}

enum ttnn_status ttnn_op_call(struct ttnn_results *out, const ttnn_op *entry,
			      const struct ttnn_arg *args, size_t arg_count,
			      enum ttnn_frontend frontend)
{
	bool python = frontend == TTNN_FRONTEND_PYTHON;
	bool shown = python && *shown_name(entry->op);
	tt_status status;

	if (shown)
		tt_emit_begin(&(struct tt_event_scope_begin){.kind = TT_SCOPE_FRONTEND,
							     .name = shown_name(entry->op)},
			      NULL, 0);
	if (depth++ == 0) {
		error_emitted = false;
		from_python = python;
		tt_deadline_begin();
		remember_thread();
	}
	status = enter(out, NULL, entry, args, arg_count);
	if (status == TTNN_OK && depth == 1)
		status = check_whole(out, entry);
	if (--depth == 0)
		tt_arena_reset(&thread_arena);
	if (tt_rerun_on() && !depth)
		status = tt_rerun_note(entry, args, arg_count, out, status);
	if (tt_event_calls_on() && frontend == TTNN_FRONTEND_C && !depth)
		emit_call(entry->op, args, arg_count, status == TTNN_OK ? out : NULL);
	if (shown)
		tt_emit_end(NULL, 0, status != TTNN_OK);
	return shown && status == TTNN_OK ? hand_out(out, entry->op, args, arg_count) : status;
}

enum ttnn_status ttnn_call(struct ttnn_results *out, const char *name, const struct ttnn_arg *args,
			   size_t arg_count, enum ttnn_frontend frontend)
{
	const struct tt_op_entry *entry;

	TT_TRY(find(&entry, name));
	return ttnn_op_call(out, entry, args, arg_count, frontend);
}

tt_status tt_call_op_all(struct ttnn_results *out, struct tt_call *parent, const char *name,
			 const struct ttnn_arg *args, size_t arg_count)
{
	const struct tt_op_entry *entry;

	TT_TRY(find(&entry, name));
	return enter(out, parent, entry, args, arg_count);
}

/* Takes the only result; an operation that gave none or several is a bug in its row. */
static tt_status only_result(struct tt_tensor **out, struct ttnn_results *results, const char *name)
{
	if (results->count == 1) {
		*out = results->tensors[0];
		return TTNN_OK;
	}
	for (size_t i = 0; i < results->count; i++)
		ttnn_tensor_unref(results->tensors[i]);
	return tt_fail(TTNN_INVALID, "%s gives %zu tensors, not one", name, results->count);
}

tt_status tt_call_op(struct tt_tensor **out, struct tt_call *parent, const char *name,
		     const struct ttnn_arg *args, size_t arg_count)
{
	struct ttnn_results results;

	TT_TRY(tt_call_op_all(&results, parent, name, args, arg_count));
	return only_result(out, &results, name);
}

bool tt_call_from_python(void)
{
	return from_python;
}

void ttnn_hear_inner_calls(const struct ttnn_inner_calls *listener)
{
	atomic_store(&inner_calls, listener);
}

tt_status tt_call_python(struct tt_tensor **out, struct tt_call *parent, const char *name,
			 const struct ttnn_arg *args, size_t arg_count)
{
	const struct ttnn_inner_calls *listener = from_python ? atomic_load(&inner_calls) : NULL;
	const struct tt_op_entry *entry;
	struct ttnn_results results;
	tt_status status;

	TT_TRY(find(&entry, name));
	if (listener)
		listener->begin(shown_name(entry->op), args, arg_count);
	if (from_python)
		tt_emit_begin(&(struct tt_event_scope_begin){.kind = TT_SCOPE_FRONTEND,
							     .name = shown_name(entry->op)},
			      NULL, 0);
	status = enter(&results, parent, entry, args, arg_count);
	if (from_python && tt_event_calls_on())
		emit_call(entry->op, args, arg_count, status == TTNN_OK ? &results : NULL);
	if (from_python)
		tt_emit_end(NULL, 0, status != TTNN_OK);
	if (from_python && status == TTNN_OK)
		status = hand_out(&results, entry->op, args, arg_count);
	if (listener)
		listener->end(status, status == TTNN_OK ? &results : NULL);
	return status == TTNN_OK ? only_result(out, &results, name) : status;
}

/* ---- operations of a binding's user --------------------------------------------------------------------------- */

bool ttnn_recording(void)
{
	return tt_event_on();
}

/* "ttnn.mine" as C++ would name it; NULL when memory is exhausted. */
static const char *name_in_cpp(const char *name)
{
	struct tt_str text = {0};
	const char *kept;

	for (; *name; name++)
		if (*name == '.')
			tt_str_adds(&text, "::");
		else
			tt_str_addc(&text, *name);
	kept = text.failed ? NULL : tt_event_intern(tt_str_text(&text));
	tt_str_deinit(&text);
	return kept;
}

bool ttnn_operation_begin(const char *name, const struct ttnn_arg *args, size_t arg_count)
{
	struct tt_event_scope_begin scope = {.kind = TT_SCOPE_FRONTEND};
	struct tt_tensor *tensors[2 * TT_OUTPUTS_MAX];
	struct ttnn_value values[TT_ARGS_MAX];
	const char *cpp_name;
	size_t count = 0;

	if (!tt_event_on())
		return false;
	scope.name = tt_event_intern(name);
	cpp_name = name_in_cpp(name);
	if (!scope.name || !cpp_name)
		return false;
	if (!depth)
		error_emitted = false;
	tt_emit_begin(&scope, NULL, 0);
	scope = (struct tt_event_scope_begin){
		.kind = TT_SCOPE_OPERATION, .name = cpp_name, .args = values};
	for (; scope.arg_count < arg_count && scope.arg_count < TT_ARGS_MAX; scope.arg_count++) {
		values[scope.arg_count] = args[scope.arg_count].value;
		count = gather(tensors, count, 2 * TT_OUTPUTS_MAX, &values[scope.arg_count]);
	}
	tt_emit_begin(&scope, tensors, count);
	return true;
}

void ttnn_operation_end(const struct ttnn_value *result, const char *error)
{
	struct tt_tensor *tensors[TT_OUTPUTS_MAX];
	size_t count = error ? 0 : gather(tensors, 0, TT_OUTPUTS_MAX, result);

	if (error)
		tt_emit_error(tt_fail(TTNN_INVALID, "%s", error));
	tt_emit_end(tensors, count, error);
	tt_emit_end(NULL, 0, error);
}

enum ttnn_status ttnn_call_one(ttnn_tensor **out, const char *name, const struct ttnn_arg *args,
			       size_t arg_count, enum ttnn_frontend frontend)
{
	struct ttnn_results results;

	TT_TRY(ttnn_call(&results, name, args, arg_count, frontend));
	return only_result(out, &results, name);
}
