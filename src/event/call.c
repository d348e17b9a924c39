#include "event/call.h"

#include <ttnn_frontend.h>

#include "base/mem.h"

atomic_int tt_event_calls;

void tt_event_want_calls(bool want)
{
	atomic_fetch_add(&tt_event_calls, want ? 1 : -1);
}

bool ttnn_calls_heard(void)
{
	return tt_event_calls_on();
}

struct ttnn_value ttnn_v_dict(const struct ttnn_value *items, size_t count)
{
	return (struct ttnn_value){
		.kind = TTNN_VALUE_DICT, .count = (uint32_t)count, .items = items};
}

/* Positional arguments go to the front of room[2 * count], names and values behind them. */
static void tell(const char *name, const struct ttnn_arg *args, size_t count,
		 const struct ttnn_value *result, struct ttnn_value *room)
{
	struct tt_event event = {.kind = TT_EVENT_CALL};
	struct ttnn_value values[TT_CALL_VALUES];
	size_t placed = 0, named = 0;

	for (size_t i = 0; i < count; i++)
		if (!args[i].name)
			room[placed++] = args[i].value;
	for (size_t i = 0; i < count; i++) {
		if (!args[i].name)
			continue;
		room[placed + named++] = ttnn_v_string(args[i].name);
		room[placed + named++] = args[i].value;
	}
	values[TT_CALL_ARGS] = ttnn_v_list(room, placed);
	values[TT_CALL_KWARGS] = ttnn_v_dict(room + placed, named);
	values[TT_CALL_RESULT] = *result;
	event.call = (struct tt_event_call){
		.name = name, .values = values, .value_count = TT_CALL_VALUES};
	tt_event_emit(&event);
}

void ttnn_tell_call(const char *name, const struct ttnn_arg *args, size_t arg_count,
		    const struct ttnn_value *result)
{
	struct ttnn_value few[64], *many;

	if (arg_count <= sizeof(few) / sizeof(few[0]) / 2) {
		tell(name, args, arg_count, result, few);
		return;
	}
	many = tt_calloc(arg_count, 2 * sizeof(*many));
	if (many) /* else it is lost, as other events are for want of memory */
		tell(name, args, arg_count, result, many);
	tt_free(many);
}
