#include "base/str.h"

#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"

/* Room for `more` characters and the zero byte. */
static bool reserve(struct tt_str *str, size_t more)
{
	size_t need = str->length + more + 1;
	size_t room = str->room ? str->room : 64;
	char *data;

	if (str->failed || need < more)
		return false;
	if (need <= str->room)
		return true;
	while (room < need)
		room = room > SIZE_MAX / 2 ? need : room * 2;
	data = tt_realloc(str->data, room);
	if (!data) {
		str->failed = true;
		return false;
	}
	str->data = data;
	str->room = room;
	return true;
}

void tt_str_add(struct tt_str *str, const char *text, size_t length)
{
	if (!reserve(str, length))
		return;
	if (length)
		memcpy(str->data + str->length, text, length);
	str->length += length;
	str->data[str->length] = '\0';
}

char *tt_str_room(struct tt_str *str, size_t size)
{
	return reserve(str, size) ? str->data + str->length : NULL;
}

void tt_str_end(struct tt_str *str, const char *end)
{
	str->length = (size_t)(end - str->data);
	str->data[str->length] = '\0';
}

void tt_str_adds(struct tt_str *str, const char *text)
{
	tt_str_add(str, text, strlen(text));
}

void tt_str_addc(struct tt_str *str, char c)
{
	tt_str_add(str, &c, 1);
}

void tt_str_addf(struct tt_str *str, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length < 0 || !reserve(str, (size_t)length))
		return;
	va_start(args, format);
	vsnprintf(str->data + str->length, (size_t)length + 1, format, args);
	va_end(args);
	str->length += (size_t)length;
}

void tt_str_addu(struct tt_str *str, uint64_t number)
{
	char digits[TT_FMT_MAX];

	tt_str_add(str, digits, tt_fmt_u64(digits, number));
}

void tt_str_addi(struct tt_str *str, int64_t number)
{
	char digits[TT_FMT_MAX];

	tt_str_add(str, digits, tt_fmt_i64(digits, number));
}

const char *tt_str_text(const struct tt_str *str)
{
	return str->data ? str->data : "";
}

tt_status tt_str_status(const struct tt_str *str)
{
	return str->failed ? tt_fail_nomem() : TTNN_OK;
}

tt_status tt_str_take(char **out, struct tt_str *str)
{
	tt_str_add(str, "", 0); /* an empty string is a text too */
	if (str->failed) {
		tt_str_deinit(str);
		return tt_fail_nomem();
	}
	*out = str->data;
	memset(str, 0, sizeof(*str));
	return TTNN_OK;
}

void tt_str_clear(struct tt_str *str)
{
	str->length = 0;
	str->failed = false;
	if (str->data)
		str->data[0] = '\0';
}

void tt_str_deinit(struct tt_str *str)
{
	tt_free(str->data);
	memset(str, 0, sizeof(*str));
}

bool tt_ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && memcmp(text + length - tail, end, tail) == 0;
}

size_t tt_length_without(const char *text, size_t length, const char *end)
{
	size_t tail = strlen(end);

	return length > tail && memcmp(text + length - tail, end, tail) == 0 ? length - tail
									     : length;
}
