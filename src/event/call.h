/*
 * call.h: calls as their users wrote them (TT_EVENT_CALL). They cost their tellers more than other
 * events (a binding turns every argument into a value), so they have a switch of their own.
 */
#ifndef TT_EVENT_CALL_H
#define TT_EVENT_CALL_H

#include "base/status.h"
#include "event/event.h"

extern atomic_int tt_event_calls; /* how many want them; read through tt_event_calls_on() */

static inline bool tt_event_calls_on(void)
{
	return __builtin_expect(atomic_load_explicit(&tt_event_calls, memory_order_relaxed), 0);
}

/* A listener that wants calls says so, and takes it back; any thread. */
void tt_event_want_calls(bool want);

/* Where the values of a call are put together: small ones inside. */
struct tt_call_room {
	struct ttnn_value values[TT_CALL_VALUES];
	struct ttnn_value few[64];
	struct ttnn_value *many;
};

/*
 * The arguments of a call by position and by name, in *room, which is to be freed when this
 * succeeds; the result is NONE until it is put into room->values.
 */
tt_status tt_event_call_make(struct tt_event_call *out, struct tt_call_room *room, const char *name,
			     const struct ttnn_arg *args, size_t count);
void tt_call_room_free(struct tt_call_room *room);

#endif
