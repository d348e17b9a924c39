#include "event/event.h"

atomic_bool tt_event_switch;
static _Atomic(struct tt_event_listener *) current;

void tt_event_emit(const struct tt_event *event)
{
	struct tt_event_listener *listener = atomic_load_explicit(&current, memory_order_acquire);

	if (listener)
		listener->emit(listener, event);
}

struct tt_event_listener *tt_event_listen(struct tt_event_listener *listener)
{
	struct tt_event_listener *before = atomic_exchange(&current, listener);

	atomic_store(&tt_event_switch, listener != NULL);
	return before;
}
