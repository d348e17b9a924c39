/* survey.c: what of a recording must be known before its first row is written. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "profile/walk.h"

/* Profiles speak of two architectures; of others tools know nothing. */
const char *tt_ops_arch(const struct ttnn_device_info *info)
{
	const char *family = info->arch_family ? info->arch_family : "";

	return strcmp(family, "wormhole_b0") == 0 || strcmp(family, "blackhole") == 0 ? family : "";
}

static void survey_device(struct tt_ops_survey *out, const struct ttnn_device_info *info)
{
	uint32_t cores = info ? info->compute_grid.x * info->compute_grid.y : 0;

	if (!info)
		return;
	if (cores > out->cores)
		out->cores = cores;
	if (!out->clock_mhz)
		out->clock_mhz = info->clock_mhz;
	if (!out->arch[0])
		snprintf(out->arch, sizeof(out->arch), "%s", tt_ops_arch(info));
}

/* The device operation that a thread is in. */
struct surveyed {
	uint32_t depth;
	uint32_t inputs;
	bool open, launched;
};

static uint32_t most(uint32_t a, size_t b)
{
	return b > a ? (uint32_t)b : a;
}

static void survey_event(struct tt_ops_survey *out, struct surveyed *thread,
			 const struct tt_seen *seen)
{
	const struct tt_event *event = &seen->event;

	if (event->kind == TT_EVENT_DEVICE_OPEN) {
		survey_device(out, event->device.info);
	} else if (event->kind == TT_EVENT_PROGRAM_LAUNCH) {
		out->operations++;
		thread->launched = true;
		if (event->launch.launch > out->launches)
			out->launches = event->launch.launch;
	} else if (event->kind == TT_EVENT_PROGRAM_RUN) {
		out->operations += event->run.session != 0;
	} else if (event->kind == TT_EVENT_SCOPE_BEGIN) {
		if (event->begin.kind == TT_SCOPE_DEVICE_OP)
			*thread = (struct surveyed){seen->depth, (uint32_t)event->begin.input_count,
						    true, false};
	} else if (thread->open && thread->depth == seen->depth) {
		if (thread->launched) {
			out->inputs = most(out->inputs, thread->inputs);
			out->outputs = most(out->outputs, event->end.output_count);
		}
		thread->open = false;
	}
}

tt_status tt_ops_survey(struct tt_ops_survey *out, struct tt_source *source, uint64_t limit)
{
	TT_VEC(struct surveyed) threads = {0};
	const struct tt_seen *seen;
	tt_status status;

	tt_source_want(source, &(struct tt_source_wants){
				       .kinds = TT_WANT(SCOPE_BEGIN) | TT_WANT(SCOPE_END) |
						TT_WANT(PROGRAM_LAUNCH) | TT_WANT(PROGRAM_RUN) |
						TT_WANT(DEVICE_OPEN),
				       .tensors = true});
	while ((status = tt_source_next(&seen, source)) == TTNN_OK && seen) {
		if (limit && out->operations >= limit)
			break;
		while (threads.count <= seen->thread) {
			struct surveyed *thread = TT_VEC_PUSH(&threads);

			if (!thread) {
				TT_VEC_DEINIT(&threads);
				return tt_fail_nomem();
			}
			*thread = (struct surveyed){0};
		}
		survey_event(out, &threads.data[seen->thread], seen);
	}
	TT_VEC_DEINIT(&threads);
	return status;
}
