#include "base/utf8.h"

/* The sequences that exist: their first byte, how many more, and what the second may be. */
static const struct {
	unsigned char first, last, more, low, high;
} forms[] = {
	{0xc2, 0xdf, 1, 0x80, 0xbf}, /* c0 and c1 would be longer than needed */
	{0xe0, 0xe0, 2, 0xa0, 0xbf}, /* the same */
	{0xe1, 0xec, 2, 0x80, 0xbf}, /* any */
	{0xed, 0xed, 2, 0x80, 0x9f}, /* without surrogates */
	{0xee, 0xef, 2, 0x80, 0xbf}, /* any */
	{0xf0, 0xf0, 3, 0x90, 0xbf}, /* longer than needed */
	{0xf1, 0xf3, 3, 0x80, 0xbf}, /* any */
	{0xf4, 0xf4, 3, 0x80, 0x8f}, /* up to U+10FFFF */
};

size_t tt_utf8_get(uint32_t *code, const char *text, size_t length)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t form = 0, count = sizeof(forms) / sizeof(forms[0]);

	*code = at[0];
	if (at[0] < 0x80)
		return 1;
	while (form < count && !(at[0] >= forms[form].first && at[0] <= forms[form].last))
		form++;
	*code = TT_UTF8_BAD;
	if (form == count)
		return 1;
	for (size_t i = 1; i <= forms[form].more; i++) {
		unsigned char low = i == 1 ? forms[form].low : 0x80;
		unsigned char high = i == 1 ? forms[form].high : 0xbf;

		if (i >= length || at[i] < low || at[i] > high)
			return i;
	}
	*code = at[0] & (0x3fu >> forms[form].more);
	for (size_t i = 1; i <= forms[form].more; i++)
		*code = *code << 6 | (at[i] & 0x3f);
	return forms[form].more + 1u;
}

size_t tt_utf8_put(char out[4], uint32_t code)
{
	size_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
	static const unsigned char marks[] = {0, 0xc0, 0xe0, 0xf0};

	for (size_t i = more; i > 0; i--, code >>= 6)
		out[i] = (char)(0x80 | (code & 0x3f));
	out[0] = (char)(marks[more] | code);
	return more + 1;
}
