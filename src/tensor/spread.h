/*
 * spread.h: how the values of a tensor are spread over the devices of a mesh: upstream's distribution shape
 * and placements (TensorTopology) in one word, which every tensor has and traces tell.
 *
 * 16 bits for each dimension of the distribution, the first lowest: its extent (9 bits, 0: no more
 * dimensions), whether it cuts the tensor, and along which dimension (6 bits, plus 32).
 */
#ifndef TT_TENSOR_SPREAD_H
#define TT_TENSOR_SPREAD_H

#include <ttnn.h>

#define TT_SPREAD_DIMS 4                   /* of a distribution, at most */
#define TT_SPREAD_EXTENT 0x1ffu            /* the largest extent */
#define TT_SPREAD_LINE 0x8001u             /* a row of one device */
#define TT_SPREAD_MESH 0x80018001u         /* a mesh of 1 × 1 */
#define TT_SPREAD_CUTS 0x0200020002000200u /* the bits that say that a dimension cuts */

struct tt_spread {
	uint32_t extent;
	bool shard; /* cut along dimension `dim` of the tensor; else every position has the same data */
	int32_t dim; /* may count from the end (-1) */
};

/* Dimension i of a distribution; extent 0 behind the last. */
static inline struct tt_spread tt_spread_at(uint64_t spread, unsigned i)
{
	uint32_t bits = i < TT_SPREAD_DIMS ? (uint32_t)(spread >> (16 * i)) & 0xffff : 0;

	return (struct tt_spread){bits & 0x1ff, bits >> 9 & 1, (int32_t)(bits >> 10) - 32};
}

/* Whether one word can tell of this dimension. */
static inline bool tt_spread_fits(unsigned i, const struct tt_spread *axis)
{
	return i < TT_SPREAD_DIMS && axis->extent && axis->extent <= TT_SPREAD_EXTENT &&
	       (!axis->shard || (axis->dim >= -32 && axis->dim < 32));
}

/* The same with another dimension i. What does not fit is told as far as it does. */
static inline uint64_t tt_spread_with(uint64_t spread, unsigned i, struct tt_spread axis)
{
	uint64_t bits = (axis.extent & TT_SPREAD_EXTENT) | (uint64_t)axis.shard << 9 |
			(uint64_t)((axis.shard ? axis.dim : 0) + 32) % 64 << 10;

	if (i >= TT_SPREAD_DIMS)
		return spread;
	return (spread & ~(UINT64_C(0xffff) << (16 * i))) | bits << (16 * i);
}

static inline unsigned tt_spread_rank(uint64_t spread)
{
	unsigned rank = 0;

	while (rank < TT_SPREAD_DIMS && spread >> (16 * rank) & TT_SPREAD_EXTENT)
		rank++;
	return rank;
}

/* The shape of a distribution. */
static inline struct ttnn_shape tt_spread_extents(uint64_t spread)
{
	struct ttnn_shape extents = {.rank = tt_spread_rank(spread)};

	for (unsigned i = 0; i < extents.rank; i++)
		extents.dim[i] = tt_spread_at(spread, i).extent;
	return extents;
}

/* Every device of a mesh of this shape has the same. */
static inline uint64_t tt_spread_copies(const struct ttnn_shape *mesh)
{
	uint64_t spread = 0;

	for (unsigned i = 0; i < mesh->rank; i++)
		spread = tt_spread_with(spread, i, (struct tt_spread){.extent = mesh->dim[i]});
	return spread;
}

/* The first position of the distribution that has the same part: it differs only where there are copies. */
static inline size_t tt_spread_first(uint64_t spread, size_t position)
{
	size_t first = 0, step = 1;

	for (unsigned d = tt_spread_rank(spread); d-- > 0;) {
		struct tt_spread axis = tt_spread_at(spread, d);
		size_t extent = axis.extent ? axis.extent : 1;

		if (axis.shard)
			first += position / step % extent * step;
		step *= extent;
	}
	return first;
}

/* The tensors of a device operation; entries may be NULL. */
struct tt_spread_tensors {
	struct tt_tensor *const *inputs, *const *given; /* outputs that there are already */
	size_t input_count, given_count;
};

/*
 * How the result of a device operation is spread, as upstream's compute_output_placements_and_shape() has it: of
 * the tensors whose distribution has the most dimensions (only those that are cut count, if any is), the largest
 * extents, and the first cut of each dimension of the distribution and of the tensor. 0 without any tensor: the
 * result is the mesh's.
 */
uint64_t tt_spread_of_results(const struct tt_spread_tensors *of);

#endif
