/* The performance report of a run. */
#include "profile/ops_report.h"

tt_status tt_ops_csv(struct tt_ops_totals *totals, const struct tt_ops_input *inputs, size_t count,
		     const struct tt_ops_options *options, const char *path)
{
	(void)inputs, (void)count, (void)options, (void)path;
	*totals = (struct tt_ops_totals){0};
	return tt_fail(TTNN_UNSUPPORTED, "Operation reports are not written yet.");
}

tt_status tt_ops_folder(struct tt_ops_totals *totals, const struct tt_ops_input *inputs,
			size_t count, const struct tt_ops_options *options, const char *folder)
{
	(void)inputs, (void)count, (void)options, (void)folder;
	*totals = (struct tt_ops_totals){0};
	return tt_fail(TTNN_UNSUPPORTED, "Operation reports are not written yet.");
}
