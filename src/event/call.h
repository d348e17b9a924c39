/*
 * call.h: calls as their users wrote them (TT_EVENT_CALL). They cost their tellers more than other
 * events (a binding turns every argument into a value), so they have a switch of their own.
 */
#ifndef TT_EVENT_CALL_H
#define TT_EVENT_CALL_H

#include "event/event.h"

extern atomic_int tt_event_calls; /* how many want them; read through tt_event_calls_on() */

static inline bool tt_event_calls_on(void)
{
	return __builtin_expect(atomic_load_explicit(&tt_event_calls, memory_order_relaxed), 0);
}

/* A listener that wants calls says so, and takes it back; any thread. */
void tt_event_want_calls(bool want);

#endif
