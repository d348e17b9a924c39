#include "cli/window.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct cli_window_asked cli_window_asked;

bool cli_window_given(void)
{
	const struct cli_window_asked *asked = &cli_window_asked;

	return asked->first || asked->count || asked->last || asked->begin || asked->end ||
	       asked->thread;
}

/* "12.5", "12.5ms", "3s", "10us", "7ns" as nanoseconds. */
static tt_status parse_time(uint64_t *out, const char *option, const char *text)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"", 1e6}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
	/* What strtod() takes besides (spaces, signs, exponents, hexadecimal digits, names) is no time. */
	const char *unit = text + strspn(text, "0123456789.");
	char *end;
	double number = strtod(text, &end);

	for (size_t i = 0; unit != text && end == unit && i < TT_COUNT(units); i++) {
		if (strcmp(unit, units[i].name) != 0)
			continue;
		number = round(number * units[i].ns);
		/* Hundreds of years; more does not fit. */
		*out = number < 0x1p63 ? (uint64_t)number : (uint64_t)1 << 63;
		return TTNN_OK;
	}
	return tt_fail(TTNN_INVALID,
		       "--%s %s is no time; write 12.5 (milliseconds), 2s, 30us or 5ns", option,
		       text);
}

static tt_status parse_thread(uint32_t *out, const char *text)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end || number >= UINT32_MAX)
		return tt_fail(TTNN_INVALID, "--thread %s is no number of a thread", text);
	*out = (uint32_t)number;
	return TTNN_OK;
}

static tt_status make_window(struct tt_source_window *out)
{
	const struct cli_window_asked *asked = &cli_window_asked;

	*out = (struct tt_source_window){.first_op = (uint64_t)asked->first,
					 .op_count = (uint64_t)asked->count,
					 .last_ops = (uint64_t)asked->last};
	if (asked->last && (asked->first || asked->count))
		return tt_fail(TTNN_INVALID, "--last and --%s cannot be given together",
			       asked->first ? "first" : "count");
	if (asked->begin)
		TT_TRY(parse_time(&out->begin_ns, "begin", asked->begin));
	if (asked->end) {
		TT_TRY(parse_time(&out->end_ns, "end", asked->end));
		if (out->end_ns <= out->begin_ns)
			return tt_fail(TTNN_INVALID, "--end %s is not after --begin %s", asked->end,
				       asked->begin ? asked->begin : "0");
	}
	if (asked->thread) {
		out->one_thread = true;
		TT_TRY(parse_thread(&out->thread, asked->thread));
	}
	return TTNN_OK;
}

tt_status cli_window_make(struct tt_source_window *out, bool *given)
{
	*given = cli_window_given();
	return *given ? make_window(out) : TTNN_OK;
}

tt_status cli_window_open(struct tt_input *out, const char *path)
{
	struct tt_source_window window;
	bool given;

	/* Before a long graph is read in vain. */
	TT_TRY(cli_window_make(&window, &given));
	return tt_input_open_part(out, path, given ? &window : NULL);
}
