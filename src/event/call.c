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

tt_status tt_event_call_make(struct tt_event_call *out, struct tt_call_room *room, const char *name,
			     const struct ttnn_arg *args, size_t count)
{
	struct ttnn_value *items = room->few;
	size_t placed = 0, named = 0;

	room->many = NULL;
	if (count > sizeof(room->few) / sizeof(room->few[0]) / 2) {
		items = room->many = tt_calloc(count, 2 * sizeof(*items));
		if (!items)
			return tt_fail_nomem();
	}
	for (size_t i = 0; i < count; i++)
		if (!args[i].name)
			items[placed++] = args[i].value;
	for (size_t i = 0; i < count; i++) {
		if (!args[i].name)
			continue;
		items[placed + named++] = ttnn_v_string(args[i].name);
		items[placed + named++] = args[i].value;
	}
	room->values[TT_CALL_ARGS] = ttnn_v_list(items, placed);
	room->values[TT_CALL_KWARGS] = ttnn_v_dict(items + placed, named);
	room->values[TT_CALL_RESULT] = ttnn_v_none();
	*out = (struct tt_event_call){
		.name = name, .values = room->values, .value_count = TT_CALL_VALUES};
	return TTNN_OK;
}

void tt_call_room_free(struct tt_call_room *room)
{
	tt_free(room->many);
}

static void emit(const char *name, const struct ttnn_arg *args, size_t arg_count,
		 const struct ttnn_value *result, const char *error)
{
	struct tt_event event = {.kind = TT_EVENT_CALL};
	struct tt_call_room room;

	if (tt_event_call_make(&event.call, &room, name, args, arg_count) != TTNN_OK)
		return; /* lost, as other events are for want of memory */
	if (!error)
		room.values[TT_CALL_RESULT] = *result;
	event.call.error = error;
	tt_event_emit(&event);
	tt_call_room_free(&room);
}

void ttnn_emit_call(const char *name, const struct ttnn_arg *args, size_t arg_count,
		    const struct ttnn_value *result, const char *error)
{
	char *before, *condition;

	if (!error) {
		emit(name, args, arg_count, result, NULL);
		return;
	}
	/* Who hears of it may fail, too; and `error` may be the thread's own. */
	before = tt_strdup(ttnn_error());
	condition = tt_strdup(tt_fail_condition());
	if (before && condition) {
		emit(name, args, arg_count, NULL, error == ttnn_error() ? before : error);
		tt_fail_cond(TTNN_OK, condition, "%s", before);
	}
	tt_free(before);
	tt_free(condition);
}
