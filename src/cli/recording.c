#include "cli/recording.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "event/environment.h"

struct cli_recording_asked cli_recording_asked;

bool cli_recording_given(void)
{
	const struct cli_recording_asked *asked = &cli_recording_asked;

	return asked->first || asked->count || asked->last || asked->begin || asked->end;
}

void cli_recording_add(struct tt_str *words, const char *word, const char *value)
{
	tt_str_addf(words, "%s%s%s%s", words->length ? "," : "", word, value ? "=" : "",
		    value ? value : "");
}

void cli_recording_add_number(struct tt_str *words, const char *word, int64_t number)
{
	tt_str_addf(words, "%s%s=%" PRId64, words->length ? "," : "", word, number);
}

tt_status cli_recording_words(struct tt_str *words)
{
	const struct cli_recording_asked *asked = &cli_recording_asked;

	if ((asked->begin && strchr(asked->begin, ',')) || (asked->end && strchr(asked->end, ',')))
		return tt_fail(TTNN_INVALID, "a mark for --begin or --end has no commas");
	if (asked->first)
		cli_recording_add_number(words, "first", asked->first);
	if (asked->count)
		cli_recording_add_number(words, "count", asked->count);
	if (asked->last)
		cli_recording_add_number(words, "last", asked->last);
	if (asked->begin)
		cli_recording_add(words, "begin", asked->begin);
	if (asked->end)
		cli_recording_add(words, "end", asked->end);
	return TTNN_OK;
}

tt_status cli_recording_judge(const struct tt_str *words)
{
	struct ttnn_trace_options judged;
	tt_status status;
	char *copy;
	int number;

	TT_TRY(tt_str_status(words));
	copy = tt_strdup(tt_str_text(words));
	if (!copy)
		return tt_fail_nomem();
	status = tt_trace_parse_options(&judged, &number, copy);
	tt_free(copy);
	return status;
}
