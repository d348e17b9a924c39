#include "backend/backend.h"

const struct tt_backend *tt_backend_get(void)
{
	/* One so far: TTNN_BACKEND has nothing else to name. */
	return &tt_backend_cpu;
}
