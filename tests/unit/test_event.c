/* typed values and the switch through which everything is told */
#include "test.h"

#include "event/event.h"

TEST(values_keep_absent_none_and_default_apart)
{
	struct ttnn_value absent = {0}, none = ttnn_v_none(), zero = ttnn_v_int(0);

	CHECK(!tt_value_given(&absent) && absent.kind == TTNN_VALUE_ABSENT);
	CHECK(!tt_value_given(&none) && none.kind == TTNN_VALUE_NONE);
	CHECK(tt_value_given(&zero));
	CHECK_INT(ttnn_v_memory(NULL).kind, TTNN_VALUE_NONE);
	CHECK_INT(ttnn_v_tensor(NULL).kind, TTNN_VALUE_NONE);
	CHECK(sizeof(struct ttnn_value) <= 24);
}

TEST(values_as_numbers)
{
	struct ttnn_value half = ttnn_v_real(0.5), three = ttnn_v_real(3), yes = ttnn_v_bool(true);
	struct ttnn_value huge = ttnn_v_real(1e300), text = ttnn_v_string("x");
	double real = 0;
	int64_t integer = 0;

	CHECK(tt_value_number(&real, &half) && real == 0.5);
	CHECK(!tt_value_integer(&integer, &half));
	CHECK(tt_value_integer(&integer, &three) && integer == 3);
	CHECK(tt_value_integer(&integer, &yes) && integer == 1);
	CHECK(!tt_value_integer(&integer, &huge));
	CHECK(!tt_value_number(&real, &text));
	CHECK_STR(tt_value_kind_name(&text), "a string");
}

TEST(enumerations_have_upstreams_numbers)
{
	int64_t value = -1;

	CHECK_STR(tt_enum_name(&tt_enum_dtype, TTNN_BFLOAT8_B), "BFLOAT8_B");
	CHECK(tt_enum_find(&value, &tt_enum_dtype, "INT32") && value == 7);
	CHECK(tt_enum_find(&value, &tt_enum_memory_layout, "BLOCK_SHARDED") && value == 4);
	CHECK(!tt_enum_find(&value, &tt_enum_dtype, "int32"));
	CHECK(!tt_enum_name(&tt_enum_memory_layout, 1));
}

struct counter {
	struct tt_event_listener listener;
	int heard[TT_EVENT_KINDS];
};

static void count(struct tt_event_listener *self, const struct tt_event *event)
{
	((struct counter *)self)->heard[event->kind]++;
}

TEST(nobody_listens_then_somebody_does)
{
	struct counter counter = {.listener.emit = count};
	struct tt_event mark = {.kind = TT_EVENT_MARK, .mark.text = "here"};

	CHECK(!tt_event_on());
	tt_event_emit(&mark);
	CHECK(tt_event_listen(&counter.listener) == NULL);
	CHECK(tt_event_on());
	tt_event_emit(&mark);
	CHECK(tt_event_listen(NULL) == &counter.listener);
	CHECK(!tt_event_on());
	tt_event_emit(&mark);
	CHECK_INT(counter.heard[TT_EVENT_MARK], 1);
}

TEST(held_events_are_told_by_who_holds_them)
{
	struct counter counter = {.listener.emit = count};
	struct tt_event mark = {.kind = TT_EVENT_MARK, .mark.text = "here"}, kept[2];
	struct tt_event_held held = {.events = kept, .room = 2};

	tt_event_listen(&counter.listener);
	tt_event_hold(&held);
	for (int i = 0; i < 3; i++)
		tt_event_emit(&mark);
	tt_event_hold(NULL);
	CHECK_INT(counter.heard[TT_EVENT_MARK], 0);
	CHECK_INT(held.count, 2);
	CHECK_STR(kept[1].mark.text, "here");
	tt_event_emit_all(kept, held.count);
	CHECK_INT(counter.heard[TT_EVENT_MARK], 2);

	/* Who is mute keeps nothing, and stays mute. */
	tt_event_mute(true);
	held.count = 0;
	tt_event_hold(&held);
	tt_event_emit(&mark);
	tt_event_hold(NULL);
	tt_event_emit(&mark);
	CHECK(tt_event_mute(false));
	CHECK_INT(held.count, 0);
	CHECK_INT(counter.heard[TT_EVENT_MARK], 2);
	tt_event_listen(NULL);
}
