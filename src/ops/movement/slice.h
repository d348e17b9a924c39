/* slice.h: between slice.c, which decides how a part is taken, and the program. */
#ifndef TT_OPS_MOVEMENT_SLICE_H
#define TT_OPS_MOVEMENT_SLICE_H

#include "ops/movement/movement.h"

/* The program: elements start, start + step ... before end, of each dimension. */
struct tt_slice_args {
	struct tt_tensor *in, *out; /* out: given, or NULL */
	const struct ttnn_shape *start, *end, *step;
	const struct ttnn_memory_config *memory;
	const ttnn_core_set *cores; /* (optional) */
	/* (optional) where the part begins and ends is in tensors: dimension `dim` in `parts` parts */
	struct tt_tensor *starts, *ends;
	uint32_t dim, parts;
	bool inherits; /* memory is the input's, its shards may be fitted */
};
tt_status tt_slice_launch(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_slice_args *args);

/* In how many reads rows of these bytes come: together as long as that is at most 4 KiB and evens out. */
uint64_t tt_slice_reads(uint64_t rows, uint64_t row_bytes);

#endif
