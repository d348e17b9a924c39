/* launch.h: between run.c, which emits scopes, launch.c, which launches, and launch_run.c, which computes. Nobody else includes it. */
#ifndef TT_OPS_LAUNCH_H
#define TT_OPS_LAUNCH_H

#include "device/device.h"
#include "device/program.h"
#include "ops/op.h"

/* Scopes; they cost one branch when nobody listens. Of `scope` all but its inputs is given. */
void tt_emit_begin(const struct tt_event_scope_begin *scope, struct tt_tensor *const *inputs,
		   size_t input_count);
void tt_emit_end(struct tt_tensor *const *outputs, size_t count, bool aborted);

/* Two scopes at once, the second in the first: while someone listens. Each takes so many of `inputs`. */
void tt_emit_begin_both(const struct tt_event_scope_begin scopes[2],
			struct tt_tensor *const *inputs, const size_t counts[2]);
void tt_emit_end_both(struct tt_tensor *const *outputs, size_t count, bool aborted);

void tt_emit_error(tt_status status);

/* Which output is made as the k-th. */
static inline size_t tt_launch_output_at(const struct tt_launch *launch, size_t k)
{
	size_t first = launch->prog->view ? launch->prog->view - 1 : 0;

	if (first)
		return (first + k) % launch->output_count;
	return launch->prog->last_first ? launch->output_count - 1 - k : k;
}

static inline uint32_t tt_launch_chips(const struct tt_device *device)
{
	return device->rows * device->cols;
}

/* ---- launch_run.c ------------------------------------------------------------------------------------------ */

/* Runs the kernel. What it makes on the way is its alone: nobody is told. */
tt_status tt_launch_compute(struct tt_launch *launch);

/* ---- facts.c: what is recorded of a program before it runs ------------------------------------------------ */

struct tt_facts {
	struct tt_facts *next;
	uint64_t shapes; /* programs that do not depend on them have facts for each */
	const ttnn_core_set *cores;
	struct tt_event_block block;
	struct ttnn_value values[TT_FACT_VALUES];
	struct ttnn_value rates[];
};

/* All that were made for a program; only ever grows. */
struct tt_facts_list {
	_Atomic(struct tt_facts *) first;
	atomic_uint_least32_t count;
};

/* The facts of a launch of this program; NULL when memory is exhausted. Any thread. */
const struct tt_facts *tt_facts_of(struct tt_facts_list *list, const struct tt_launch *launch,
				   const struct tt_program *program);
void tt_facts_free(struct tt_facts_list *list);

/* A hash of everything the program depends on, the same in every process. */
uint64_t tt_launch_hash(const struct tt_launch *launch);

#endif
