/*
 * event.c: the switch, and who hears. Emitting takes no lock: every thread that tells owns a flag that
 * says "in the middle of it", and whoever detaches a listener waits until each flag was seen down.
 */
#include "event/event.h"

#include <string.h>

#include "base/lock.h"
#include "base/map.h"
#include "event/environment.h"
#include "event/grace.h"
#include "event/viewer.h"

atomic_bool tt_event_switch;

/* Here, because no program is linked without this file. */
__attribute__((constructor)) static void begin_with_the_process(void)
{
	tt_trace_from_environment();
	tt_viewer_from_environment();
}

/* ---- who hears -------------------------------------------------------------------------------------- */

static _Atomic(struct tt_event_listener *) slots[TT_LISTENERS_MAX];
static atomic_uint_least32_t taken; /* a bit for every slot in use */
TT_LOCK_STATIC(slot_lock, TT_RANK_SLOTS, NULL);

bool tt_event_mute(bool on)
{
	bool before = tt_speaker_own.mute;

	tt_speaker_own.mute = on;
	return before;
}

void tt_event_hold(struct tt_event_held *held)
{
	struct tt_speaker *self = &tt_speaker_own;

	if (held && self->mute)
		return;
	if (held || self->held)
		self->mute = held != NULL;
	self->held = held;
}

static void keep(struct tt_event_held *held, const struct tt_event *events, size_t count)
{
	for (size_t i = 0; i < count && held->count < held->room; i++)
		held->events[held->count++] = events[i];
}

static inline void deliver(struct tt_event_listener *listener, const struct tt_event *events,
			   size_t count)
{
	if (listener->emit_all) {
		listener->emit_all(listener, events, count);
		return;
	}
	for (size_t i = 0; i < count; i++)
		listener->emit(listener, &events[i]);
}

static void emit_everyone(const struct tt_event *events, size_t count)
{
	/* Entered before: whoever waits for this thread sees it inside, or it sees no listener. */
	for (uint32_t left = atomic_load(&taken); left; left &= left - 1) {
		struct tt_event_listener *listener = atomic_load(&slots[__builtin_ctz(left)]);

		if (listener)
			deliver(listener, events, count);
	}
}

void tt_event_emit_all(const struct tt_event *events, size_t count)
{
	struct tt_speaker *self = tt_speaker_own.mute ? NULL : tt_grace_enter();

	if (!self) {
		if (tt_speaker_own.held)
			keep(tt_speaker_own.held, events, count);
		return;
	}
	emit_everyone(events, count);
	tt_grace_leave(self);
}

void tt_event_emit(const struct tt_event *event)
{
	tt_event_emit_all(event, 1);
}

static void set_slot(int i, struct tt_event_listener *listener)
{
	uint32_t bit = (uint32_t)1 << i;

	atomic_store(&slots[i], listener);
	if (listener)
		atomic_fetch_or(&taken, bit);
	else
		atomic_fetch_and(&taken, ~bit);
	atomic_store(&tt_event_switch, atomic_load(&taken) != 0);
}

/* Slot 0 is for tt_event_listen(). */
tt_status tt_event_attach(struct tt_event_listener *listener)
{
	tt_status status = TTNN_OK;
	int i = 1;

	tt_lock_take(&slot_lock);
	while (i < TT_LISTENERS_MAX && atomic_load(&slots[i]))
		i++;
	if (i < TT_LISTENERS_MAX)
		set_slot(i, listener);
	else
		status = tt_fail(TTNN_STATE, "%d captures and other listeners are running already",
				 TT_LISTENERS_MAX - 1);
	tt_lock_give(&slot_lock);
	return status;
}

void tt_event_detach(struct tt_event_listener *listener)
{
	tt_lock_take(&slot_lock);
	for (int i = 0; i < TT_LISTENERS_MAX; i++)
		if (atomic_load(&slots[i]) == listener)
			set_slot(i, NULL);
	tt_lock_give(&slot_lock);
	tt_grace_wait();
}

struct tt_event_listener *tt_event_listen(struct tt_event_listener *listener)
{
	struct tt_event_listener *before;

	tt_lock_take(&slot_lock);
	before = atomic_load(&slots[0]);
	set_slot(0, listener);
	tt_lock_give(&slot_lock);
	tt_grace_wait();
	return before;
}

/* ---- names -------------------------------------------------------------------------------------------- */

TT_LOCK_STATIC(name_lock, TT_RANK_NAMES, NULL);
static struct tt_map names; /* never freed: that is what it is for */

const char *tt_event_intern(const char *text)
{
	const struct tt_map_entry *entry;
	const char *name;

	tt_lock_take(&name_lock);
	entry = tt_map_add(&names, text, strlen(text), NULL);
	name = entry ? entry->key : NULL;
	tt_lock_give(&name_lock);
	return name;
}
