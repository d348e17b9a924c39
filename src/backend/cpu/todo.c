/* todo.c: jobs that are described but not there yet. */
#include "backend/cpu/cpu.h"

#define MISSING(name)                                                                              \
	tt_status tt_cpu_##name(const struct tt_##name##_job *job)                                 \
	{                                                                                          \
		(void)job;                                                                         \
		return tt_fail(TTNN_UNSUPPORTED, "the CPU backend has no " #name " yet");          \
	}
MISSING(conv)
MISSING(pool)
MISSING(resize)
