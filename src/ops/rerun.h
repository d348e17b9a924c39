/*
 * rerun.h: traces as cards have them: the operations between ttnn_device_trace_begin() and _end(),
 * kept with their device, to be run again on whatever lies at the same addresses then.
 *
 * The door (run.c, launch.c) reports every outermost call while a capture is open anywhere; a call is
 * kept if it launched programs on a device that captures. Programs of a captured call are chosen and
 * checked as ever, but no kernel runs: as on a card, the first values come when the trace is run.
 *
 * A trace owns no device memory. It knows buffers by type and address: those it found there when the
 * capture began are looked for at the same place each time; those its calls made are made again without
 * a place (device/devtensor.h, tt_rerunning()), and what still lies at their address gets the values.
 * Buffers that were made meanwhile without any program are made again if they are gone.
 *
 * Closing a device waits for whoever is inside its memory (device/devmem.h), which all of this is.
 */
#ifndef TT_OPS_RERUN_H
#define TT_OPS_RERUN_H

#include "ops/op.h"

struct tt_device;

/* Captures that are open in this process, and calls recorded by one that have not ended yet. */
extern atomic_int tt_rerun_captures;

/* Whether there is any of them: one branch. */
static inline bool tt_rerun_on(void)
{
	return __builtin_expect(atomic_load_explicit(&tt_rerun_captures, memory_order_relaxed) > 0,
				0);
}

/*
 * An outermost call has ended with `status` and, if that is OK, with these results. Keeps it where it
 * must be kept. Returns `status`, or that memory is exhausted, or that the capture which kept kernels
 * from running has ended before the call: then the results, which have no values, are given back.
 */
tt_status tt_rerun_note(const struct tt_op_entry *entry, const struct ttnn_arg *args,
			size_t arg_count, struct ttnn_results *results, tt_status status);

/*
 * A program goes to this device, as launch `number` of the process; true when it is only recorded, and must not
 * run.
 */
bool tt_rerun_note_launch(const struct tt_device *device, uint64_t number);

/*
 * Whether the program that just ran was run again: then it gets the number of the launch that was captured, and
 * which trace and replay it belongs to.
 */
bool tt_rerun_current(struct tt_event_program_run *run);

/* Refusals while this device captures: a program that is not built yet, data to or from the host. */
tt_status tt_rerun_check_new(const struct tt_device *device);
tt_status tt_rerun_check_write(const struct tt_device *device);
tt_status tt_rerun_check_read(const struct tt_device *device);

#endif
