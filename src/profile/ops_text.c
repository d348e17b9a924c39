/* ops_text.c: numbers and texts as Python prints them, for writers of performance reports. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "profile/columns.h"

/* Python leaves the others as they are. */
static const char *escape_of(unsigned char c)
{
	return c == '\\'   ? "\\\\"
	       : c == '\n' ? "\\n"
	       : c == '\r' ? "\\r"
	       : c == '\t' ? "\\t"
			   : NULL;
}

void tt_ops_repr(struct tt_str *out, const char *text)
{
	char quote = strchr(text, '\'') && !strchr(text, '"') ? '"' : '\'';

	tt_str_addc(out, quote);
	for (const char *at = text; *at; at++) {
		unsigned char c = (unsigned char)*at;
		const char *escape = escape_of(c);

		if (escape)
			tt_str_adds(out, escape);
		else if (c < 0x20 || c == 0x7f)
			tt_str_addf(out, "\\x%02x", c);
		else if (*at == quote)
			tt_str_addf(out, "\\%c", quote);
		else
			tt_str_addc(out, *at);
	}
	tt_str_addc(out, quote);
}

/* Thousandths of a number that is not near the middle of two, as text; false for others. */
static bool add_thousandths(struct tt_str *out, double number)
{
	double scaled = number * 1000, apart = scaled - floor(scaled);
	char text[TT_FMT_MAX];
	uint64_t whole;
	size_t length;

	if (!(scaled >= 0 && scaled < 1e12) || fabs(apart - 0.5) < 1e-4)
		return false;
	whole = (uint64_t)(scaled + 0.5);
	tt_str_addu(out, whole / 1000);
	/* A thousand more: so that zeros in front are digits too. */
	length = tt_fmt_u64(text, 1000 + whole % 1000);
	while (length > 2 && text[length - 1] == '0')
		length--;
	text[0] = '.';
	tt_str_add(out, text, length);
	return true;
}

void tt_ops_round3(struct tt_str *out, double number)
{
	char text[400], shortest[TT_FMT_MAX];

	if (add_thousandths(out, number))
		return;

	/* Rounds the number itself, half to even, as Python does; then the fewest digits. */
	snprintf(text, sizeof(text), "%.3f", number);
	tt_fmt_double(shortest, strtod(text, NULL));
	tt_str_adds(out, shortest);
}

double tt_ops_fpu_util(const struct tt_ops_row *row)
{
	const struct tt_ops_program *program = row->program;
	uint64_t ns = tt_ops_ns(row->kernel_end - row->kernel_begin, row->chip->clock_mhz);

	if (!ns)
		return 0;
	return 100.0 * (program->modelled ? (double)program->compute_ns : 1.0) / (double)ns;
}
