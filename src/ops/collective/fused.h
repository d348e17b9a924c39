/*
 * fused.h: for programs that are made of a collective and another program (fused_*.c): each of them as a launch within
 * that of both, whose inputs, outputs and attributes are some of it. Its functions then do for the whole what they do
 * for a program of their own.
 */
#ifndef TT_OPS_COLLECTIVE_FUSED_H
#define TT_OPS_COLLECTIVE_FUSED_H

#include "backend/backend.h"
#include "ops/collective/async.h"

/* The kernel of a part that knows one chip, on every chip: its tensors are those of the mesh. */
tt_status tt_part_run(const struct tt_launch *part);

/* What all chips of a group have of a tensor, put together along a dimension; in every chip's `out`. */
struct tt_gathering {
	struct tt_tensor *out, *in;
	uint32_t dim;
	const struct ttnn_value *axis;
};
tt_status tt_part_gather(const struct tt_launch *launch, const struct tt_gathering *gathering);

/* A tensor on a chip, in this thread's care; NULL of NULL. */
tt_status tt_part_here(struct tt_tensor **out, struct tt_tensor *tensor, uint32_t chip);

/* values = values op with, an enum tt_binary_fn; as they are without `with`. */
tt_status tt_part_combine(struct tt_tensor *values, struct tt_tensor *with, uint32_t op);

/* Rows brought to a scale take the place of what they were. The job's tensors are not read. */
tt_status tt_part_normed(struct tt_tensor **values, struct tt_norm_job job);

/* The same of rows of the first input (dimension 3) that lie across a group: the part of the group's own chip. */
tt_status tt_part_norm(struct tt_tensor **out, const struct tt_launch *launch,
		       const struct tt_group *group, struct tt_norm_job job);

/* An offset of cores, an argument of this name. */
tt_status tt_part_offset(struct ttnn_value *out, const struct tt_call *call, const char *name);

/* More semaphores than `last` are needed: else the refusal of a list that has none there. */
tt_status tt_check_semaphores(const struct ttnn_value *given, uint32_t last);

/* Cores that upstream knows to be free in Llama, one for each link: they send. */
tt_status tt_llama_senders(const ttnn_core_set **out, const struct tt_launch *launch,
			   uint32_t links);

/* The first cores of a set from which others were taken, as it lists them. */
tt_status tt_first_left(const ttnn_core_set **out, const ttnn_core_set *left, uint32_t count);

/* The cores of queries, keys or values (which: 0, 1, 2), a row on each: they follow each other. */
tt_status tt_head_cores(const ttnn_core_set **out, const ttnn_core_set *cores, uint32_t which,
			uint32_t rows);

#endif
