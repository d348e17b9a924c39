/* seen.c: what is told of tensors and devices, live or read from a trace; and stacks. */
#include <execinfo.h>
#include <ttnn_frontend.h>

#include "base/lock.h"
#include "event/event.h"
#include "tensor/tensor.h"

/* ---- tensors ------------------------------------------------------------------------------------------ */

static uint64_t spread_of(const struct tt_mesh_layout *layout)
{
	uint64_t spread = 0;

	for (uint32_t i = 0; i < layout->distribution.rank && i < 4; i++) {
		struct tt_placement placement = {0};
		uint64_t bits;

		if (i < layout->placement_count)
			placement = layout->placements[i];
		bits = (layout->distribution.dim[i] & 0x1ff) | (uint64_t)placement.shard << 9 |
		       (uint64_t)((placement.shard ? placement.dim : 0) + 32) % 64 << 10;
		spread |= bits << (16 * i);
	}
	return spread;
}

void tt_event_describe(struct tt_event_tensor *out, const struct tt_tensor *tensor)
{
	const struct tt_storage *storage = tensor->storage;

	const struct tt_mesh_layout *layout = tensor->layout;

	*out = (struct tt_event_tensor){
		.id = tensor->id,
		.spec = &tensor->spec,
		.owns = !tensor->view,
		.spread = layout            ? spread_of(layout)
			  : tensor->on_mesh ? TT_SPREAD_MESH
					    : TT_SPREAD_LINE,
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

static void tell_device(const struct tt_event_device *device, enum tt_event_kind kind)
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
	tell_device(&known->device, TT_EVENT_DEVICE_OPEN);
}

void tt_event_device_close(struct tt_event_known *known)
{
	struct tt_event_device closed = known->device;

	closed.info = NULL;
	closed.row = NULL;
	if (!known->listed)
		return;
	tell_device(&closed, TT_EVENT_DEVICE_CLOSE);
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

bool tt_value_seen_device(uint32_t *device_id, const struct ttnn_value *value)
{
	if (value->kind == TTNN_VALUE_DEVICE)
		*device_id = ttnn_device_get_info(value->device)->id;
	else if (value->kind == TTNN_VALUE_SEEN_DEVICE)
		*device_id = value->count;
	else
		return false;
	return true;
}

/* ---- stacks ------------------------------------------------------------------------------------------- */

#define FRAMES_MAX 64

struct tt_event_stacks tt_event_stacks;

bool ttnn_stacks_heard(void)
{
	return atomic_load_explicit(&tt_event_stacks.python, memory_order_relaxed) && tt_event_on();
}

void ttnn_tell_stack(const char *const *lines, size_t count)
{
	struct tt_event event = {.kind = TT_EVENT_STACK};
	struct tt_event_frame frames[FRAMES_MAX];

	count = count < FRAMES_MAX ? count : FRAMES_MAX;
	for (size_t i = 0; i < count; i++)
		frames[i] = (struct tt_event_frame){.text = lines[i]};
	event.stack = (struct tt_event_stack){frames, count, .python = true};
	tt_event_emit(&event);
}

void tt_event_tell_c_stack(unsigned skip)
{
	struct tt_event event = {.kind = TT_EVENT_STACK};
	struct tt_event_frame frames[FRAMES_MAX];
	void *addresses[FRAMES_MAX];
	int count;

	if (!tt_event_on())
		return;
	count = backtrace(addresses, FRAMES_MAX);
	skip++; /* this function */
	for (int i = (int)skip; i < count; i++)
		frames[i - (int)skip] =
			(struct tt_event_frame){.address = (uint64_t)(uintptr_t)addresses[i]};
	event.stack.frames = frames;
	event.stack.count = count > (int)skip ? (size_t)(count - (int)skip) : 0;
	tt_event_emit(&event);
}
