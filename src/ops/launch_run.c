/* launch_run.c: the kernel of a launch, chip after chip or for all at once, and how long it took. See launch.h. */
#include <string.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/pool.h"
#include "device/buffer.h"
#include "ops/launch.h"
#include "ops/rerun.h"
#include "ops/usual.h"

/*
 * Whether two tensors lie in the same memory. Tensors of one buffer may have storages of their own:
 * arguments of a trace that is run again have.
 */
static bool shares(const struct tt_tensor *a, const struct tt_tensor *b)
{
	struct tt_buffer *first = tt_buffer_of(NULL, a->storage);
	struct tt_buffer *second = tt_buffer_of(NULL, b->storage);

	if (a->storage == b->storage)
		return true;
	return first && second && tt_buffer_root(first) == tt_buffer_root(second);
}

/* Makes the bytes of one chip's tensors available; an output that is also an input stays shared. */
static tt_status fetch(struct tt_launch *chip, struct tt_tensor **inputs,
		       const struct tt_launch *launch, uint32_t which)
{
	for (size_t i = 0; i < launch->output_count; i++) {
		enum tt_buffer_access access = TT_BUFFER_OVERWRITE;

		for (size_t k = 0; k < launch->input_count; k++)
			if (launch->inputs[k] && shares(launch->inputs[k], launch->outputs[i]))
				access = TT_BUFFER_UPDATE;
		TT_TRY(tt_tensor_resident(&chip->outputs[i], launch->outputs[i], which, access));
	}
	for (size_t k = 0; k < launch->input_count; k++)
		if (launch->inputs[k])
			TT_TRY(tt_tensor_resident(&inputs[k], launch->inputs[k], which,
						  TT_BUFFER_READ));
	return TTNN_OK;
}

/* Whether the backend finds all bytes by itself, each tensor having a buffer of its own. */
static bool is_simple(const struct tt_launch *launch)
{
	if (tt_launch_chips(launch->device) != 1)
		return false;
	for (size_t k = 0; k < launch->input_count; k++) {
		if (!launch->inputs[k])
			continue;
		if (launch->inputs[k]->layout)
			return false;
		for (size_t i = 0; i < launch->output_count; i++)
			if (shares(launch->inputs[k], launch->outputs[i]))
				return false;
	}
	for (size_t i = 0; i < launch->output_count; i++)
		if (launch->outputs[i]->layout)
			return false;
	return true;
}

/* A kernel that had to give up may have failed in many ways, or not at all. */
static tt_status finish_kernel(struct tt_launch *launch)
{
	tt_status status;

	tt_deadline_watch(true);
	status = tt_deadline_check();
	if (status == TTNN_OK)
		status = launch->prog->kernel(launch);
	tt_scratch_end();
	tt_deadline_watch(false);
	return tt_deadline_passed() ? tt_deadline_fail(launch->prog->device_op) : status;
}

/* What is measured of a kernel. */
struct timing {
	uint64_t began, kernel,
		ended; /* ticks: when the chip turned to it, when the kernel began */
	struct tt_pool_meter meter;
};

/* Of this chip of the device, or with all true of every one. */
static void emit_run(const struct tt_launch *launch, const struct timing *timing, bool all)
{
	const struct tt_pool_meter *meter = &timing->meter;
	struct tt_event event;
	struct tt_event_program_run *run = &event.run;
	uint64_t kernel = timing->ended - timing->kernel;
	uint64_t own = meter->waited < kernel ? kernel - meter->waited : 0;
	bool muted = false;

	event.kind = TT_EVENT_PROGRAM_RUN;
	event.ticks = timing->ended;
	*run = (struct tt_event_program_run){
		.device_id = launch->device->id,
		.launch = launch->number,
		.name = launch->prog->device_op,
		.whole = timing->ended - timing->began,
		.kernel = kernel,
		.threads = 1 + (uint32_t)__builtin_popcountll(meter->helped),
		.busy_min = own,
		.busy_max = own,
		.busy = own,
		.starts = meter->last > meter->first ? meter->last - meter->first : 0,
	};
	for (uint64_t left = meter->helped; left; left &= left - 1) {
		uint64_t busy = meter->busy[__builtin_ctzll(left)];

		busy = busy < kernel ? busy : kernel;
		run->busy += busy;
		run->busy_min = busy < run->busy_min ? busy : run->busy_min;
		run->busy_max = busy > run->busy_max ? busy : run->busy_max;
	}
	/* All else was emitted when it was captured. */
	if (tt_rerun_current(run))
		muted = tt_event_mute(false);
	for (uint32_t i = 0; i < (all ? tt_launch_chips(launch->device) : 1); i++) {
		run->chip_id = launch->device->chips[all ? i : launch->chip];
		tt_event_emit(&event);
	}
	if (run->session)
		tt_event_mute(muted);
}

/* The kernel of a chip that turned to it at `began`, or of all chips together. */
static tt_status run_kernel(struct tt_launch *launch, uint64_t began, bool all)
{
	struct timing timing;
	tt_status status;

	if (!began)
		return finish_kernel(launch);
	timing.began = began;
	timing.meter.helped = timing.meter.waited = timing.meter.first = timing.meter.last = 0;
	tt_pool_measure(&timing.meter);
	timing.kernel = tt_clock_ticks();
	status = finish_kernel(launch);
	timing.ended = tt_clock_ticks();
	tt_pool_measure(NULL);
	if (status == TTNN_OK)
		emit_run(launch, &timing, all);
	return status;
}

/* Now, if somebody profiles; else 0. */
static uint64_t profile_ticks(void)
{
	return tt_event_profile_on() && tt_event_on() ? tt_clock_ticks() : 0;
}

/* The kernel, chip after chip, on tensors whose bytes are at hand. */
static tt_status run_kernels(struct tt_launch *launch)
{
	tt_status status = TTNN_OK;

	if (launch->prog->together || is_simple(launch))
		return run_kernel(launch, profile_ticks(), true);
	for (uint32_t which = 0; which < tt_launch_chips(launch->device) && status == TTNN_OK;
	     which++) {
		struct tt_tensor *inputs[TT_PROGRAM_INPUTS_MAX] = {NULL};
		struct tt_launch chip = *launch;
		uint64_t began = profile_ticks();

		memset(chip.outputs, 0, sizeof(chip.outputs));
		chip.inputs = inputs;
		chip.chip = which;
		status = fetch(&chip, inputs, launch, which);
		if (status == TTNN_OK)
			status = run_kernel(&chip, began, false);
		for (size_t i = 0; i < launch->output_count; i++)
			ttnn_tensor_unref(chip.outputs[i]);
		for (size_t k = 0; k < launch->input_count; k++)
			ttnn_tensor_unref(inputs[k]);
	}
	return status;
}

tt_status tt_launch_compute(struct tt_launch *launch)
{
	bool before = tt_tensor_hide(true);
	tt_status status = run_kernels(launch);

	tt_tensor_hide(before);
	return status;
}
