/* results_status.c: what became of a vector, and how it was judged, as texts. */
#include <string.h>
#include <strings.h>

#include "sweep/results_parts.h"

static const char *const status_texts[TT_SWEEP_STATUSES] = {
	[TT_SWEEP_PASS] = "pass",
	[TT_SWEEP_FAIL_ASSERT_EXCEPTION] = "fail_assert_exception",
	[TT_SWEEP_FAIL_CRASH_HANG] = "fail_crash_hang",
	[TT_SWEEP_NOT_RUN] = "skipped",
	[TT_SWEEP_FAIL_L1_OUT_OF_MEM] = "fail_l1_out_of_mem",
	[TT_SWEEP_FAIL_WATCHER] = "fail_watcher",
	[TT_SWEEP_FAIL_UNSUPPORTED_DEVICE_PERF] = "fail_unsupported_device_perf",
	[TT_SWEEP_XFAIL] = "xfail",
	[TT_SWEEP_XPASS] = "xpass",
};

static const char *const how_texts[TT_SWEEP_HOWS] = {
	[TT_SWEEP_PLAIN] = "plain",
	[TT_SWEEP_STAND_IN] = "stand-in",
	[TT_SWEEP_MOVED] = "moved",
	[TT_SWEEP_UNJUDGED] = "unjudged",
};

const char *tt_sweep_status_text(enum tt_sweep_status status)
{
	return status < TT_SWEEP_STATUSES ? status_texts[status] : "error";
}

bool tt_sweep_status_find(enum tt_sweep_status *out, const char *text)
{
	for (unsigned i = 0; i < TT_SWEEP_STATUSES; i++)
		if (strcmp(status_texts[i], text) == 0) {
			*out = (enum tt_sweep_status)i;
			return true;
		}
	return false;
}

enum tt_sweep_status tt_sweep_status_of(const char *exception)
{
	if (strstr(exception, "Out of Memory: Not enough space to allocate"))
		return TT_SWEEP_FAIL_L1_OUT_OF_MEM;
	return strstr(exception, "Watcher") ? TT_SWEEP_FAIL_WATCHER
					    : TT_SWEEP_FAIL_ASSERT_EXCEPTION;
}

enum tt_sweep_status tt_sweep_status_in(enum tt_sweep_status status, const char *suite)
{
	if (strncasecmp(suite, "xfail", 5) != 0)
		return status;
	switch (status) {
	case TT_SWEEP_PASS:
		return TT_SWEEP_XPASS;
	case TT_SWEEP_FAIL_ASSERT_EXCEPTION:
	case TT_SWEEP_FAIL_L1_OUT_OF_MEM:
	case TT_SWEEP_FAIL_WATCHER:
	case TT_SWEEP_FAIL_UNSUPPORTED_DEVICE_PERF:
		return TT_SWEEP_XFAIL;
	default:
		return status;
	}
}

const char *tt_sweep_how_text(enum tt_sweep_how how)
{
	return how < TT_SWEEP_HOWS ? how_texts[how] : how_texts[TT_SWEEP_PLAIN];
}

bool tt_sweep_how_find(enum tt_sweep_how *out, const char *text)
{
	for (unsigned i = 0; i < TT_SWEEP_HOWS; i++)
		if (strcmp(how_texts[i], text) == 0) {
			*out = (enum tt_sweep_how)i;
			return true;
		}
	return false;
}
