/* texts of arguments that are remembered are those that would be made. */
#include "trace/argmemo.h"

#include <string.h>

#include "event/event.h"
#include "test.h"

static struct ttnn_value values[3];

static struct tt_event_scope_begin call(void)
{
	return (struct tt_event_scope_begin){
		.kind = TT_SCOPE_OPERATION, .name = "f", .args = values, .arg_count = 3};
}

/* The number of the call's texts, which must be those that argtext.h makes. */
static uint64_t find(struct tt_argmemo *memo, struct tt_argtext_style *style)
{
	struct tt_event_scope_begin begin = call();
	const struct tt_argmemo_texts *found = tt_argmemo_find(memo, &begin, style);
	struct tt_str text = {0};

	CHECK(found);
	if (!found)
		return 0;
	CHECK_INT(found->count, 3);
	for (size_t i = 0; i < 3; i++) {
		tt_str_clear(&text);
		tt_argtext(&text, &begin, i, style);
		CHECK_STR(found->texts[i], tt_str_text(&text));
	}
	tt_str_deinit(&text);
	return found->number;
}

TEST(texts_are_made_once)
{
	struct tt_argtext_style style = {.dialect = TTNN_DIALECT_SEED};
	struct ttnn_shape shape = {.rank = 2, .dim = {3, 4}}, other = {.rank = 2, .dim = {3, 5}};
	struct tt_argmemo memo = {0};
	uint64_t first, second;

	values[0] = (struct ttnn_value){.kind = TTNN_VALUE_INT, .integer = 7};
	values[1] = (struct ttnn_value){.kind = TTNN_VALUE_SHAPE, .shape = &shape};
	values[2] = (struct ttnn_value){.kind = TTNN_VALUE_STRING, .text = "abc", .count = 3};
	first = find(&memo, &style);
	CHECK_INT(find(&memo, &style), first);
	/* Each part counts: kinds, numbers, what is pointed to. */
	values[1].shape = &other;
	second = find(&memo, &style);
	CHECK(second != first);
	other.dim[1] = 4; /* another shape in the same place */
	CHECK_INT(find(&memo, &style), first);
	values[0] = (struct ttnn_value){.kind = TTNN_VALUE_BOOL, .boolean = true};
	CHECK(find(&memo, &style) != first);
	values[2].text = "abcdefghi";
	values[2].count = 9;
	CHECK(find(&memo, &style) != first);
	values[2] = (struct ttnn_value){.kind = TTNN_VALUE_LIST, .count = 2, .items = values};
	CHECK(find(&memo, &style) != first);
	tt_argmemo_deinit(&memo);
	tt_spectexts_deinit(&style.specs);
}

/* Defaults that nobody gave have no texts; the same values that were given have. */
TEST(defaults_that_were_given_count)
{
	struct tt_argtext_style style = {.dialect = TTNN_DIALECT_SEED};
	struct tt_event_scope_begin begin = call();
	struct tt_argmemo memo = {0};

	for (int i = 0; i < 3; i++)
		values[i] = (struct ttnn_value){.kind = TTNN_VALUE_NONE};
	for (uint32_t left_out = 0; left_out < 3; left_out++) {
		const struct tt_argmemo_texts *found;

		begin.left_out = left_out;
		found = tt_argmemo_find(&memo, &begin, &style);
		CHECK_INT(found ? found->count : 0, 3 - left_out);
	}
	tt_argmemo_deinit(&memo);
	tt_spectexts_deinit(&style.specs);
}

/* Ever new arguments are forgotten; numbers are not given twice. */
TEST(memory_has_a_limit)
{
	struct tt_argtext_style style = {.dialect = TTNN_DIALECT_SEED};
	struct tt_argmemo memo = {0};
	uint64_t last = 0;
	size_t most = 0;

	for (int i = 0; i < 3; i++)
		values[i] = (struct ttnn_value){.kind = TTNN_VALUE_INT};
	for (int i = 0; i < 100000; i++) {
		struct tt_event_scope_begin begin = call();
		const struct tt_argmemo_texts *found;

		values[0].integer = i;
		found = tt_argmemo_find(&memo, &begin, &style);
		CHECK(found && found->number > last);
		last = found ? found->number : last;
		most = memo.bytes > most ? memo.bytes : most;
	}
	CHECK(most < (size_t)7 << 20);
	CHECK_INT(last, 100000);
	tt_argmemo_deinit(&memo);
	tt_spectexts_deinit(&style.specs);
}
