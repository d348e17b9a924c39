/* seen.c: what is told of tensors and devices, live or read from a trace; and stacks. */
#include <dlfcn.h>
#include <execinfo.h>
#include <string.h>
#include <sys/auxv.h>
#include <ttnn_frontend.h>

#include "base/lock.h"
#include "base/symbols.h"
#include "event/event.h"
#include "tensor/tensor.h"

/* ---- tensors ------------------------------------------------------------------------------------------ */

void tt_event_describe(struct tt_event_tensor *out, const struct tt_tensor *tensor)
{
	const struct tt_storage *storage = tensor->storage;

	*out = (struct tt_event_tensor){
		.id = tensor->id,
		.spec = &tensor->spec,
		.owns = !tensor->view,
		.spread = tensor->spread,
	};
	if (storage && storage->ops->place) {
		struct tt_storage_place place = storage->ops->place(storage);

		out->on_device = place.open;
		out->buffer_id = place.buffer_id;
		out->address = place.address;
		out->device_id = place.device_id;
	}
}

bool tt_value_seen_tensor(struct tt_event_tensor *out, const struct ttnn_value *value)
{
	if (value->kind == TTNN_VALUE_TENSOR)
		tt_event_describe(out, value->tensor);
	else if (value->kind == TTNN_VALUE_SEEN_TENSOR)
		*out = *value->seen;
	else
		return false;
	return true;
}

/* ---- devices ------------------------------------------------------------------------------------------ */

static struct tt_event_known *oldest, *newest; /* those that are open */
TT_LOCK_STATIC(device_lock, TT_RANK_KNOWN, NULL);

static void emit_device(const struct tt_event_device *device, enum tt_event_kind kind)
{
	struct tt_event event = {.kind = kind, .device = *device};

	if (tt_event_on())
		tt_event_emit(&event);
}

void tt_event_device_open(struct tt_event_known *known)
{
	tt_lock_take(&device_lock);
	known->older = newest;
	known->newer = NULL;
	*(newest ? &newest->newer : &oldest) = known;
	newest = known;
	known->listed = true;
	tt_lock_give(&device_lock);
	emit_device(&known->device, TT_EVENT_DEVICE_OPEN);
}

void tt_event_device_close(struct tt_event_known *known)
{
	struct tt_event_device closed = known->device;

	closed.info = NULL;
	closed.row = NULL;
	if (!known->listed)
		return;
	emit_device(&closed, TT_EVENT_DEVICE_CLOSE);
	tt_lock_take(&device_lock);
	*(known->older ? &known->older->newer : &oldest) = known->newer;
	*(known->newer ? &known->newer->older : &newest) = known->older;
	known->listed = false;
	tt_lock_give(&device_lock);
}

void tt_event_each_device(void (*visit)(void *context, const struct tt_event_device *device),
			  void *context)
{
	tt_lock_take(&device_lock);
	for (const struct tt_event_known *known = oldest; known; known = known->newer)
		visit(context, &known->device);
	tt_lock_give(&device_lock);
}

bool tt_event_each_buffer(void (*visit)(void *context, const struct tt_event_buffer *buffer),
			  void *context)
{
	bool all = true;

	tt_lock_take(&device_lock);
	for (const struct tt_event_known *known = oldest; known; known = known->newer)
		if (known->each_buffer)
			all &= known->each_buffer(known, visit, context);
	tt_lock_give(&device_lock);
	return all;
}

bool tt_value_seen_device(uint32_t *device_id, const struct ttnn_value *value)
{
	if (value->kind == TTNN_VALUE_DEVICE)
		*device_id = tt_value_device_id(value->device);
	else if (value->kind == TTNN_VALUE_SEEN_DEVICE)
		*device_id = value->count;
	else
		return false;
	return true;
}

/* ---- program memory ----------------------------------------------------------------------------------- */

void tt_event_memory_values(struct ttnn_value *out, const struct tt_event_program_memory *row)
{
	out[TT_MEMORY_KIND] = ttnn_v_int(row->kind);
	out[TT_MEMORY_INDEX] = ttnn_v_int(row->index);
	out[TT_MEMORY_SIZE] = ttnn_v_int((int64_t)row->size);
	out[TT_MEMORY_ADDRESS] = ttnn_v_int((int64_t)row->address);
	out[TT_MEMORY_BORROWED] = ttnn_v_bool(row->borrowed);
	out[TT_MEMORY_CORES] = row->cores ? ttnn_v_core_set(row->cores) : ttnn_v_none();
}

bool tt_event_memory_row(struct tt_event_program_memory *out,
			 const struct tt_event_program *program, size_t row)
{
	const struct ttnn_value *values, *cores;

	if (row >= program->memory.count / TT_MEMORY_VALUES)
		return false;
	values = program->memory.values + row * TT_MEMORY_VALUES;
	cores = &values[TT_MEMORY_CORES];
	for (int i = TT_MEMORY_KIND; i <= TT_MEMORY_ADDRESS; i++)
		if (values[i].kind != TTNN_VALUE_INT || values[i].integer < 0)
			return false;
	if (values[TT_MEMORY_KIND].integer > TT_MEMORY_PLANNED ||
	    values[TT_MEMORY_BORROWED].kind != TTNN_VALUE_BOOL)
		return false;
	*out = (struct tt_event_program_memory){
		.kind = (enum tt_program_memory_kind)values[TT_MEMORY_KIND].integer,
		.index = (uint32_t)values[TT_MEMORY_INDEX].integer,
		.size = (uint64_t)values[TT_MEMORY_SIZE].integer,
		.address = (uint64_t)values[TT_MEMORY_ADDRESS].integer,
		.cores = cores->kind == TTNN_VALUE_CORE_SET ? cores->core_set : NULL,
		.borrowed = values[TT_MEMORY_BORROWED].boolean,
		.device_id = program->device_id,
	};
	return true;
}

/* ---- facts of programs -------------------------------------------------------------------------------- */

void tt_event_facts_values(struct ttnn_value *out, const struct tt_event_facts *facts)
{
	for (int i = 0; i < TT_FACT_VALUES; i++)
		out[i] = ttnn_v_none();
	out[TT_FACT_HASH] = ttnn_v_int((int64_t)facts->hash);
	if (facts->cores)
		out[TT_FACT_CORES] = ttnn_v_core_set(facts->cores);
	out[TT_FACT_COMPUTES] = ttnn_v_bool(facts->computes);
	if (facts->has_fidelity)
		out[TT_FACT_FIDELITY] = ttnn_v_int(facts->fidelity);
	if (facts->source)
		out[TT_FACT_SOURCE] = ttnn_v_string(facts->source);
	if (!facts->modelled)
		return;
	out[TT_FACT_COMPUTE_NS] = ttnn_v_int((int64_t)facts->compute_ns);
	out[TT_FACT_BANDWIDTH_NS] = ttnn_v_int((int64_t)facts->bandwidth_ns);
	out[TT_FACT_IDEAL_NS] = ttnn_v_int((int64_t)facts->ideal_ns);
	out[TT_FACT_INPUT_BW] = ttnn_v_list(facts->input_bw, facts->input_bw_count);
	out[TT_FACT_OUTPUT_BW] = ttnn_v_list(facts->output_bw, facts->output_bw_count);
}

static bool take_number(uint64_t *out, const struct ttnn_value *value)
{
	*out = value->kind == TTNN_VALUE_INT ? (uint64_t)value->integer : 0;
	return value->kind == TTNN_VALUE_INT;
}

static bool take_reals(const struct ttnn_value **out, size_t *count, const struct ttnn_value *value)
{
	*out = value->kind == TTNN_VALUE_LIST ? value->items : NULL;
	*count = *out ? value->count : 0;
	for (size_t i = 0; i < *count; i++)
		if ((*out)[i].kind != TTNN_VALUE_REAL)
			return false;
	return value->kind == TTNN_VALUE_LIST;
}

bool tt_event_facts_read(struct tt_event_facts *out, const struct tt_event_program *program)
{
	const struct ttnn_value *values = program->facts.values;
	uint64_t fidelity;

	*out = (struct tt_event_facts){0};
	if (program->facts.count < TT_FACT_VALUES ||
	    !take_number(&out->hash, &values[TT_FACT_HASH]))
		return false;
	if (values[TT_FACT_CORES].kind == TTNN_VALUE_CORE_SET)
		out->cores = values[TT_FACT_CORES].core_set;
	out->computes = values[TT_FACT_COMPUTES].kind == TTNN_VALUE_BOOL &&
			values[TT_FACT_COMPUTES].boolean;
	out->has_fidelity = take_number(&fidelity, &values[TT_FACT_FIDELITY]);
	out->fidelity = (uint32_t)fidelity;
	if (values[TT_FACT_SOURCE].kind == TTNN_VALUE_STRING)
		out->source = values[TT_FACT_SOURCE].text;
	out->modelled =
		take_number(&out->compute_ns, &values[TT_FACT_COMPUTE_NS]) &&
		take_number(&out->bandwidth_ns, &values[TT_FACT_BANDWIDTH_NS]) &&
		take_number(&out->ideal_ns, &values[TT_FACT_IDEAL_NS]) &&
		take_reals(&out->input_bw, &out->input_bw_count, &values[TT_FACT_INPUT_BW]) &&
		take_reals(&out->output_bw, &out->output_bw_count, &values[TT_FACT_OUTPUT_BW]);
	return true;
}

/* ---- stacks ------------------------------------------------------------------------------------------- */

#define FRAMES_MAX 64
/* The library's own that may be before them. */
#define OWN_MAX 192

struct tt_event_stacks tt_event_stacks;
atomic_int tt_event_profiles;

bool ttnn_stacks_heard(void)
{
	return atomic_load_explicit(&tt_event_stacks.python, memory_order_relaxed) && tt_event_on();
}

void ttnn_emit_stack(const char *const *lines, size_t count)
{
	struct tt_event event = {.kind = TT_EVENT_STACK};
	struct tt_event_frame frames[FRAMES_MAX];

	count = count < FRAMES_MAX ? count : FRAMES_MAX;
	for (size_t i = 0; i < count; i++)
		frames[i] = (struct tt_event_frame){.text = lines[i]};
	event.stack = (struct tt_event_stack){frames, count, .python = true};
	tt_event_emit(&event);
}

/* Where the object begins that an address is of; NULL when nobody knows. */
static const void *object_of(uint64_t address)
{
	Dl_info found = {0};

	return address && dladdr((const void *)(uintptr_t)address, &found) ? found.dli_fbase : NULL;
}

/*
 * The frames from the user's call inwards: of a library those in its object, and before them what stands between it and
 * the C library (a sanitizer); in a program that is linked statically those up to the outermost one with a public name.
 * 0 when that cannot be known.
 */
static int own_frames(void *const *addresses, int count)
{
	const void *own = object_of((uint64_t)(uintptr_t)own_frames);
	int frames = 0;

	if (own && own != object_of(getauxval(AT_ENTRY))) {
		while (frames < count && object_of((uint64_t)(uintptr_t)addresses[frames]) != own)
			frames++;
		while (frames < count && object_of((uint64_t)(uintptr_t)addresses[frames]) == own)
			frames++;
		return frames;
	}
	for (int i = 0; i < count; i++) {
		uint64_t offset;
		const char *name = tt_symbol_at(&offset, (uint64_t)(uintptr_t)addresses[i]);

		if (name && strncmp(name, "ttnn_", 5) == 0)
			frames = i + 1;
	}
	return frames;
}

void tt_event_emit_c_stack(void)
{
	struct tt_event event = {.kind = TT_EVENT_STACK};
	struct tt_event_frame frames[FRAMES_MAX];
	void *addresses[OWN_MAX + FRAMES_MAX];
	int count, first;

	if (!tt_event_on())
		return;
	count = backtrace(addresses, OWN_MAX + FRAMES_MAX);
	first = own_frames(addresses, count);
	first -= first > 0; /* that which the user called stays */
	for (int i = first; i < count && i - first < FRAMES_MAX; i++)
		frames[event.stack.count++] =
			(struct tt_event_frame){.address = (uint64_t)(uintptr_t)addresses[i]};
	event.stack.frames = frames;
	tt_event_emit(&event);
}
