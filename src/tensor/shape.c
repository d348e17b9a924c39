#include "tensor/shape.h"

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"

static tt_status fail_rank(size_t rank)
{
	return tt_fail(TTNN_INVALID, "A shape of %zu dimensions: at most %d are possible", rank,
		       TTNN_MAX_RANK);
}

tt_status tt_shape_check(const struct ttnn_shape *shape)
{
	return shape->rank > TTNN_MAX_RANK ? fail_rank(shape->rank) : TTNN_OK;
}

enum ttnn_status ttnn_shape_make(struct ttnn_shape *out, const int64_t *dims, size_t rank)
{
	struct ttnn_shape shape = {0};

	if (rank > TTNN_MAX_RANK)
		return fail_rank(rank);
	for (size_t i = 0; i < rank; i++) {
		if (dims[i] < 0 || dims[i] > UINT32_MAX)
			return tt_fail(TTNN_INVALID,
				       "Dimension %zu of a shape is %" PRId64
				       ": an extent is a number from 0 to %" PRIu32,
				       i, dims[i], UINT32_MAX);
		shape.dim[i] = (uint32_t)dims[i];
	}
	shape.rank = (uint32_t)rank;
	*out = shape;
	return TTNN_OK;
}

/* A zero anywhere makes the product 0, however large the other extents are. */
static tt_status product(uint64_t *out, const struct ttnn_shape *shape, uint32_t count)
{
	struct tt_str text = {0};
	uint64_t total = 1;

	TT_TRY(tt_shape_check(shape));
	for (uint32_t i = 0; i < count; i++)
		if (shape->dim[i] == 0)
			total = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (!__builtin_mul_overflow(total, shape->dim[i], &total))
			continue;
		tt_shape_list(&text, shape);
		tt_fail(TTNN_INVALID, "Shape(%s) holds more elements than 64 bits can count",
			tt_str_text(&text));
		tt_str_deinit(&text);
		return TTNN_INVALID;
	}
	*out = total;
	return TTNN_OK;
}

enum ttnn_status ttnn_shape_volume(uint64_t *out, const struct ttnn_shape *shape)
{
	return product(out, shape, shape->rank);
}

tt_status tt_shape_rows(uint64_t *out, const struct ttnn_shape *shape)
{
	return product(out, shape, shape->rank ? shape->rank - 1 : 0);
}

bool ttnn_shape_equal(const struct ttnn_shape *a, const struct ttnn_shape *b)
{
	return a->rank == b->rank && a->rank <= TTNN_MAX_RANK &&
	       memcmp(a->dim, b->dim, a->rank * sizeof(a->dim[0])) == 0;
}

uint64_t tt_shape_hash(uint64_t seed, const struct ttnn_shape *shape)
{
	return tt_hash(tt_hash_u64(seed, shape->rank), shape->dim,
		       tt_shape_rank(shape) * sizeof(shape->dim[0]));
}

void tt_shape_list(struct tt_str *str, const struct ttnn_shape *shape)
{
	tt_str_addc(str, '[');
	for (uint32_t i = 0; i < tt_shape_rank(shape); i++) {
		if (i > 0)
			tt_str_adds(str, ", ");
		tt_str_addu(str, shape->dim[i]);
	}
	tt_str_addc(str, ']');
}
