#include "ops/dims.h"

#include <inttypes.h>

tt_status tt_normal_dim(uint32_t *out, int64_t dim, uint32_t rank)
{
	int64_t normal = dim < 0 ? dim + rank : dim;

	TT_REQUIRE(normal >= 0 && normal < rank,
		   "normalized_index >= 0 and normalized_index < rank",
		   "Index is out of bounds for the rank, should be between 0 and %d however is "
		   "%lld",
		   (int)rank - 1, (long long)normal);
	*out = (uint32_t)normal;
	return TTNN_OK;
}

static void sort(uint32_t *dims, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		for (uint32_t k = i; k > 0 && dims[k] < dims[k - 1]; k--) {
			uint32_t keep = dims[k];

			dims[k] = dims[k - 1];
			dims[k - 1] = keep;
		}
}

tt_status tt_reduction_dims(struct tt_reduction_dims *out, const struct tt_call *call,
			    const char *name, uint32_t rank)
{
	int64_t given[TTNN_MAX_RANK];
	size_t count;

	TT_TRY(tt_call_ints(given, &count, TTNN_MAX_RANK, call, name));
	out->count = (uint32_t)count;
	for (uint32_t i = 0; i < count; i++) {
		/* A scalar has a dimension here, as in torch. */
		int64_t dim = given[i] < 0 ? given[i] + (rank ? rank : 1) : given[i];

		TT_REQUIRE((dim >= 0 && dim < rank) || (rank == 0 && dim == 0),
			   "(dim_i >= 0 && dim_i < rank) || (rank == 0 && dim_i == 0)",
			   "Unsupported dim %" PRId64
			   " at index %u. After possible adjustment, needs to be at least 0 and "
			   "less than rank %u, or exactly 0 for a rank 0 tensor.",
			   dim, i, rank);
		out->dim[i] = (uint32_t)dim;
	}
	sort(out->dim, out->count);
	for (uint32_t i = 1; i < count; i++)
		TT_REQUIRE(out->dim[i] != out->dim[i - 1], "dim[i] != dim[i - 1]",
			   "reduce dim list contains a duplicate axis after sorting (indices %u "
			   "and %u, value %u)",
			   i - 1, i, out->dim[i]);
	if (count == 0)
		for (; out->count < rank; out->count++)
			out->dim[out->count] = out->count;
	return TTNN_OK;
}

struct ttnn_shape tt_reduction_shape(const struct ttnn_shape *in,
				     const struct tt_reduction_dims *dims, bool keep)
{
	struct ttnn_shape out = {0};

	for (uint32_t d = 0, i = 0; d < in->rank; d++) {
		bool reduced = i < dims->count && dims->dim[i] == d;

		i += reduced;
		if (!reduced || keep)
			out.dim[out.rank++] = reduced ? 1 : in->dim[d];
	}
	return out;
}
