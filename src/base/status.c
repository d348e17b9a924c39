#include "base/status.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define MESSAGE_MAX 16384
#define CONDITION_MAX 512

static _Thread_local char message[MESSAGE_MAX];
static _Thread_local char condition_text[CONDITION_MAX];

static const char *const names[] = {
#define TTNN_X(name, text) #name,
	TTNN_STATUS_LIST(TTNN_X)
#undef TTNN_X
};

const char *ttnn_status_name(enum ttnn_status status)
{
	size_t count = sizeof(names) / sizeof(names[0]);
	return (size_t)status < count ? names[status] : "?";
}

const char *ttnn_error(void)
{
	return message;
}

const char *ttnn_version(void)
{
	return TTNN_VERSION;
}

void ttnn_free(void *memory)
{
	tt_free(memory);
}

tt_status tt_fail(tt_status status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	condition_text[0] = '\0';
	return status;
}

tt_status tt_fail_cond(tt_status status, const char *condition, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	snprintf(condition_text, sizeof(condition_text), "%s", condition);
	return status;
}

tt_status tt_fail_prefix(tt_status status, const char *format, ...)
{
	char prefix[MESSAGE_MAX / 2];
	va_list args;
	size_t length;

	va_start(args, format);
	vsnprintf(prefix, sizeof(prefix), format, args);
	va_end(args);
	strncat(prefix, ": ", sizeof(prefix) - strlen(prefix) - 1);
	length = strlen(prefix);
	memmove(message + length, message, sizeof(message) - length);
	memcpy(message, prefix, length);
	message[sizeof(message) - 1] = '\0';
	return status;
}

tt_status tt_fail_nomem(void)
{
	return tt_fail(TTNN_NOMEM, "out of memory");
}

const char *tt_fail_condition(void)
{
	return condition_text;
}
