/*
 * host.c: making tensors from data and from other tensors, on the host: from and to plain rows,
 * to another layout or data type, padding and unpadding.
 *
 * A tensor of several shards is converted shard by shard; shards that share data go on sharing it.
 */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/layout.h"
#include "tensor/shape.h"
#include "tensor/spec.h"
#include "tensor/tensor.h"
#include "tensor/tile.h"
#include "tensor/tile_copy.h"

/* ---- from and to plain rows ------------------------------------------------------------------ */

static tt_status check_plain(enum ttnn_dtype dtype)
{
	if (!tt_dtype_find(dtype))
		return tt_fail(TTNN_INVALID, "%u is no data type", (unsigned)dtype);
	if (tt_dtype_is_block(dtype))
		return tt_fail(TTNN_INVALID, "%s has no single elements: use float32 for the data",
			       ttnn_dtype_name(dtype, TTNN_DIALECT_SEED));
	return TTNN_OK;
}

enum ttnn_status ttnn_tensor_from_data(ttnn_tensor **out, const void *data,
				       enum ttnn_dtype data_dtype,
				       const struct ttnn_tensor_spec *spec, double pad_value)
{
	struct tt_area rows = tt_area_rows(data, &spec->shape, data_dtype), area;
	ttnn_tensor *tensor;
	tt_status status;

	TT_TRY(check_plain(data_dtype));
	TT_TRY(tt_tensor_alloc(&tensor, spec));
	area = tt_area_of(tt_tensor_data(tensor), spec);
	status = tt_layout_copy(&area, &rows, &pad_value);
	if (status != TTNN_OK) {
		ttnn_tensor_unref(tensor);
		return status;
	}
	*out = tensor;
	return TTNN_OK;
}

enum ttnn_status ttnn_tensor_to_data(void *data, size_t bytes, enum ttnn_dtype data_dtype,
				     const ttnn_tensor *tensor)
{
	const struct ttnn_tensor_spec *spec = &tensor->spec;
	struct tt_area rows, area;
	uint64_t volume;

	TT_TRY(check_plain(data_dtype));
	TT_TRY(tt_tensor_need_host(tensor, "reading the elements"));
	TT_TRY(ttnn_shape_volume(&volume, &spec->shape));
	/* The tensor is in memory, so this is far below 64 bits. */
	if (bytes != volume * tt_dtype_bytes(data_dtype))
		return tt_fail(TTNN_INVALID, "%" PRIu64 " elements of %s are not %zu bytes", volume,
			       ttnn_dtype_name(data_dtype, TTNN_DIALECT_SEED), bytes);
	rows = tt_area_rows(data, &spec->shape, data_dtype);
	area = tt_area_of(tensor->storage->data, spec);
	return tt_layout_copy(&rows, &area, NULL);
}

/* ---- tensor to tensor ------------------------------------------------------------------------ */

/* What is done to the bytes of each shard. */
struct change {
	struct ttnn_tensor_spec to;
	tt_status (*work)(void *dst, const void *src, const struct change *change);
	const struct ttnn_tensor_spec *from;
	const double *pad_value;
	const uint32_t *start; /* of a part, or of where the whole goes */
};

static tt_status change_storage(struct tt_storage **out, const struct tt_storage *storage,
				const struct change *change)
{
	struct tt_storage *made;
	tt_status status;

	TT_TRY(tt_storage_new(&made, change->to.bytes));
	status = change->work(made->data, storage->data, change);
	if (status != TTNN_OK)
		tt_storage_unref(made);
	else
		*out = made;
	return status;
}

static tt_status change_layout(struct tt_mesh_layout **out, const struct tt_mesh_layout *old,
			       const struct change *change)
{
	struct tt_mesh_layout *layout;
	tt_status status = TTNN_OK;

	TT_TRY(tt_mesh_layout_like(&layout, old));
	for (size_t i = 0; i < old->shard_count && status == TTNN_OK; i++) {
		size_t same = 0;

		while (old->shards[same].storage != old->shards[i].storage)
			same++;
		if (same < i)
			layout->shards[i].storage = tt_storage_ref(layout->shards[same].storage);
		else
			status = change_storage(&layout->shards[i].storage, old->shards[i].storage,
						change);
	}
	if (status != TTNN_OK)
		tt_mesh_layout_unref(layout);
	else
		*out = layout;
	return status;
}

static tt_status change_tensor(ttnn_tensor **out, ttnn_tensor *tensor, struct change *change)
{
	struct tt_mesh_layout *layout = NULL;
	struct tt_storage *storage;

	if (tensor->storage->ops->hollow) {
		TT_TRY(tt_tensor_share(out, tensor, &change->to));
		(*out)->view = false;
		return TTNN_OK;
	}
	if (!tensor->storage->data)
		return tt_tensor_need_host(tensor, "a conversion on the host");
	change->from = &tensor->spec;
	if (tensor->layout) {
		TT_TRY(change_layout(&layout, tensor->layout, change));
		storage = tt_storage_ref(layout->shards[0].storage);
	} else {
		TT_TRY(change_storage(&storage, tensor->storage, change));
	}
	TT_TRY(tt_tensor_wrap(out, &change->to, storage, layout));
	(*out)->spread = tensor->spread;
	return TTNN_OK;
}

static tt_status copy_elements(void *dst, const void *src, const struct change *change)
{
	struct tt_area to = tt_area_of(dst, &change->to), from = tt_area_of(src, change->from);

	return tt_layout_copy(&to, &from, change->pad_value);
}

/* Whether a tensor is padded to whole tiles: then its padding stays when it is tiled. */
static bool fills_tiles(const struct ttnn_tensor_spec *spec)
{
	return tt_shape_last(&spec->padded, 1) % TT_TILE_DEFAULT.width == 0 &&
	       tt_shape_last(&spec->padded, 2) % TT_TILE_DEFAULT.height == 0;
}

enum ttnn_status ttnn_tensor_to_layout(ttnn_tensor **out, ttnn_tensor *tensor,
				       enum ttnn_layout layout, double pad_value)
{
	struct ttnn_spec_args args = tt_tensor_spec_args(&tensor->spec);
	struct change change = {.work = copy_elements, .pad_value = &pad_value};

	if (layout == tensor->spec.layout) {
		*out = ttnn_tensor_ref(tensor);
		return TTNN_OK;
	}
	args.layout = layout;
	args.tile = (struct ttnn_tile){0};
	if (layout != TTNN_TILE || !fills_tiles(&tensor->spec))
		args.alignment = (struct ttnn_shape){0};
	TT_TRY(ttnn_tensor_spec_make(&change.to, &args));
	return change_tensor(out, tensor, &change);
}

/* The same places, other numbers: padding is converted like everything else. */
static tt_status convert_elements(void *dst, const void *src, const struct change *change)
{
	const struct ttnn_tensor_spec *to = &change->to, *from = change->from;

	if (to->layout != from->layout)
		return copy_elements(dst, src, change);
	if (to->layout == TTNN_TILE)
		return tt_convert_tiles(dst, to->dtype, src, from->dtype,
					&(struct tt_tile_run){to->tile, (size_t)to->pages});
	return tt_convert(dst, to->dtype, src, from->dtype, (size_t)(to->rows * to->cols));
}

static tt_status fail_narrow(const struct tt_dtype *dtype)
{
	return tt_fail(TTNN_UNSUPPORTED,
		       "to_dtype: %s cross-type conversion is only supported to/from FLOAT32",
		       dtype->upper);
}

enum ttnn_status ttnn_tensor_to_dtype(ttnn_tensor **out, ttnn_tensor *tensor, enum ttnn_dtype dtype)
{
	const struct ttnn_tensor_spec *spec = &tensor->spec;
	const struct tt_dtype *from = tt_dtype_find(spec->dtype), *to = tt_dtype_find(dtype);
	struct ttnn_spec_args args = tt_tensor_spec_args(spec);
	static const double zero = 0;
	struct change change = {.work = convert_elements, .pad_value = &zero};

	if (dtype == spec->dtype) {
		*out = ttnn_tensor_ref(tensor);
		return TTNN_OK;
	}
	if (to && to->layouts == TT_DTYPE_ROWS && spec->dtype != TTNN_FLOAT32)
		return fail_narrow(to);
	if (from->layouts == TT_DTYPE_ROWS && dtype != TTNN_FLOAT32)
		return fail_narrow(from);
	args.dtype = dtype;
	if (tt_dtype_is_block(dtype))
		args.layout = TTNN_TILE;
	TT_TRY(ttnn_tensor_spec_make(&change.to, &args));
	if (change.to.rows != spec->rows || change.to.cols != spec->cols)
		return tt_fail(TTNN_UNSUPPORTED,
			       "to_dtype: Converting layout to Layout::TILE implicitly changed "
			       "physical shape from (%" PRIu64 ", %" PRIu64 ") to (%" PRIu64
			       ", %" PRIu64 ") due to alignment constraints. This is currently "
			       "unsupported. Please pad the tensor explicitly before conversion.",
			       spec->rows, spec->cols, change.to.rows, change.to.cols);
	return change_tensor(out, tensor, &change);
}

/* ---- padding --------------------------------------------------------------------------------- */

/*
 * The alignment that gives this padded shape: two entries when only height and width are padded,
 * else one for each dimension, in matrix rows from the third on.
 */
static tt_status alignment_for(struct ttnn_shape *out, const struct ttnn_shape *shape,
			       const struct ttnn_shape *padded)
{
	uint32_t rank = padded->rank, entries = 2;
	uint64_t rows;

	for (uint32_t back = 3; back <= rank; back++)
		if (tt_shape_last(shape, back) != tt_shape_last(padded, back))
			entries = rank;
	out->rank = entries < rank ? entries : rank;
	rows = tt_shape_last(padded, 2);
	for (uint32_t back = 1; back <= out->rank; back++) {
		uint64_t entry = tt_shape_last(padded, back);

		if (back > 2) {
			entry *= rows;
			rows = entry;
		}
		if (entry > UINT32_MAX)
			return tt_fail(TTNN_INVALID, "padding to %" PRIu64 " rows is too much",
				       entry);
		out->dim[out->rank - back] = entry ? (uint32_t)entry : 1;
	}
	return TTNN_OK;
}

static tt_status need_rows(const ttnn_tensor *tensor, const char *doing)
{
	if (tensor->spec.layout != TTNN_ROW_MAJOR)
		return tt_fail_cond(TTNN_INVALID, "tensor.layout() == Layout::ROW_MAJOR",
				    "Tensor layout must be ROW_MAJOR for %s", doing);
	return TTNN_OK;
}

/* The same extents with ones in front. */
static struct ttnn_shape extend(const struct ttnn_shape *shape, uint32_t rank)
{
	struct ttnn_shape wide = {.rank = rank > shape->rank ? rank : shape->rank};

	for (uint32_t back = 1; back <= wide.rank; back++)
		wide.dim[wide.rank - back] = tt_shape_last(shape, back);
	return wide;
}

/* All that rows store, as elements of a shape: padding counts like the rest. */
static struct tt_area stored_area(const void *data, const struct ttnn_tensor_spec *spec,
				  uint32_t rank)
{
	struct ttnn_shape shape = extend(&spec->padded, rank);

	return tt_area_rows(data, &shape, spec->dtype);
}

static tt_status pad_elements(void *dst, const void *src, const struct change *change)
{
	const struct ttnn_tensor_spec *spec = &change->to;
	uint32_t rank = spec->padded.rank;
	struct tt_area from = stored_area(src, change->from, rank);
	struct tt_area to = stored_area(dst, spec, rank);
	struct tt_area part = tt_area_part(&to, change->start, &from.shape);
	uint8_t element[4];

	TT_TRY(tt_layout_pad_element(element, spec->dtype, *change->pad_value));
	tt_tile_fill(dst, element, tt_dtype_bytes(spec->dtype), (size_t)(spec->rows * spec->cols));
	return tt_layout_copy(&part, &from, NULL);
}

/* `padded` has at least as many dimensions as what is stored now. */
static tt_status pad_tensor(ttnn_tensor **out, ttnn_tensor *tensor, const struct ttnn_shape *padded,
			    const uint32_t *start, double pad_value)
{
	const struct ttnn_shape old = extend(&tensor->spec.padded, padded->rank);
	struct ttnn_spec_args args = tt_tensor_spec_args(&tensor->spec);
	struct change change = {.work = pad_elements, .pad_value = &pad_value, .start = start};

	TT_TRY(need_rows(tensor, "padding"));
	for (uint32_t d = 0; d < old.rank; d++)
		if ((uint64_t)start[d] + old.dim[d] > padded->dim[d])
			return tt_fail(TTNN_INVALID,
				       "dimension %u has %u elements with its padding and does not "
				       "fit into %u from %u on",
				       d, old.dim[d], padded->dim[d], start[d]);
	TT_TRY(alignment_for(&args.alignment, &args.shape, padded));
	args.memory =
		(struct ttnn_memory_config){0}; /* its shards would not fit: upstream drops them */
	TT_TRY(ttnn_tensor_spec_make(&change.to, &args));
	if (!ttnn_shape_equal(&change.to.padded, padded))
		return tt_fail(TTNN_UNSUPPORTED, "no alignment leads to that padded shape");
	return change_tensor(out, tensor, &change);
}

static const uint32_t origin[TTNN_MAX_RANK];

enum ttnn_status ttnn_tensor_pad(ttnn_tensor **out, ttnn_tensor *tensor,
				 const struct ttnn_shape *padded, const uint32_t *start,
				 double pad_value)
{
	if (padded->rank != tensor->spec.padded.rank)
		return tt_fail(TTNN_INVALID,
			       "padding to %u dimensions: the tensor has %u with its padding",
			       padded->rank, tensor->spec.padded.rank);
	return pad_tensor(out, tensor, padded, start ? start : origin, pad_value);
}

enum ttnn_status ttnn_tensor_pad_to_tile(ttnn_tensor **out, ttnn_tensor *tensor, double pad_value)
{
	struct ttnn_shape padded = extend(&tensor->spec.padded, 2);

	for (uint32_t d = padded.rank - 2; d < padded.rank; d++) {
		uint64_t extent;

		if (!tt_round_up(&extent, padded.dim[d], 32) || extent > UINT32_MAX)
			return tt_fail(TTNN_INVALID, "dimension %u is too large to be padded", d);
		padded.dim[d] = (uint32_t)extent;
	}
	return pad_tensor(out, tensor, &padded, origin, pad_value);
}

static tt_status copy_part(void *dst, const void *src, const struct change *change)
{
	struct ttnn_shape shape = extend(&change->to.shape, change->from->padded.rank);
	struct tt_area from = stored_area(src, change->from, shape.rank);
	struct tt_area to = tt_area_of(dst, &change->to);
	uint32_t more = shape.rank - to.shape.rank;

	/* Dimensions of one element take no steps. */
	memmove(to.step + more, to.step, to.shape.rank * sizeof(to.step[0]));
	to.shape = shape;
	from = tt_area_part(&from, change->start, &shape);
	return tt_layout_copy(&to, &from, NULL);
}

/* `shape` has at most as many dimensions as what is stored; `start` speaks of the latter. */
static tt_status unpad_tensor(ttnn_tensor **out, ttnn_tensor *tensor, const uint32_t *start,
			      const struct ttnn_shape *shape)
{
	struct ttnn_spec_args args = tt_tensor_spec_args(&tensor->spec);
	struct change change = {.work = copy_part, .start = start};

	args.shape = *shape;
	args.alignment = (struct ttnn_shape){0};
	args.memory = (struct ttnn_memory_config){0};
	TT_TRY(ttnn_tensor_spec_make(&change.to, &args));
	return change_tensor(out, tensor, &change);
}

enum ttnn_status ttnn_tensor_unpad(ttnn_tensor **out, ttnn_tensor *tensor, const uint32_t *start,
				   const uint32_t *end)
{
	const struct ttnn_shape *old = &tensor->spec.padded;
	struct ttnn_shape shape = {.rank = old->rank};

	TT_TRY(need_rows(tensor, "unpadding"));
	for (uint32_t d = 0; d < old->rank; d++) {
		if (start[d] > end[d] || end[d] > old->dim[d])
			return tt_fail(TTNN_INVALID,
				       "dimension %u has %u elements with its padding: no part "
				       "from %u to %u",
				       d, old->dim[d], start[d], end[d]);
		shape.dim[d] = end[d] - start[d];
	}
	return unpad_tensor(out, tensor, start, &shape);
}

enum ttnn_status ttnn_tensor_unpad_from_tile(ttnn_tensor **out, ttnn_tensor *tensor,
					     const struct ttnn_shape *shape)
{
	const struct ttnn_shape *old = &tensor->spec.padded;

	TT_TRY(tt_shape_check(shape));
	TT_TRY(need_rows(tensor, "unpadding"));
	if (tt_shape_last(old, 1) % 32 || tt_shape_last(old, 2) % 32)
		return tt_fail_cond(TTNN_INVALID,
				    "tensor.padded_shape()[-2] % constants::TILE_HEIGHT == 0 && "
				    "tensor.padded_shape()[-1] % constants::TILE_WIDTH == 0",
				    "Last 2 dims of input shape must be multiples of 32");
	for (uint32_t back = 1; back <= old->rank || back <= shape->rank; back++) {
		uint32_t have = tt_shape_last(old, back), want = tt_shape_last(shape, back);

		if (want > have || (back > 2 && want != have))
			return tt_fail(TTNN_INVALID,
				       "dimension %u from the end has %u elements with its "
				       "padding: unpadding leaves no %u",
				       back, have, want);
	}
	return unpad_tensor(out, tensor, origin, shape);
}
