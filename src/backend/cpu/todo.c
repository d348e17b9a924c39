/* todo.c: jobs that are not there yet. */
#include "backend/cpu/cpu.h"

#define MISSING(name, type)                                                                        \
	tt_status tt_cpu_##name(const struct type *job)                                            \
	{                                                                                          \
		(void)job;                                                                         \
		return tt_fail(TTNN_UNSUPPORTED, "the CPU backend has no " #name " yet");          \
	}

MISSING(reduce, tt_reduce_job)
MISSING(scan, tt_scan_job)
MISSING(softmax, tt_softmax_job)
MISSING(sort, tt_sort_job)
MISSING(index, tt_index_job)
MISSING(random, tt_random_job)
