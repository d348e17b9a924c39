/* cpu_backend.c: the CPU backend's struct, and what its kernels share. */
#include "backend/cpu/cpu_backend.h"

#include <inttypes.h>
#include <string.h>

#include "base/deadline.h"
#include "base/large.h"
#include "base/pool.h"
#include "device/buffer.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/tile.h"

#define COPY_GRAIN ((size_t)256 << 10) /* bytes */

/* ---- tensors --------------------------------------------------------------------------------- */

/* The bytes behind a storage, held by the session if they are a device's. */
static tt_status find_bytes(void **out, struct tt_session *session, struct tt_storage *storage,
			    enum tt_buffer_access access)
{
	struct tt_storage **held = &session->held[session->count];
	struct tt_buffer *buffer;
	uint32_t chip;

	*out = storage->data;
	if (*out)
		return TTNN_OK;
	buffer = tt_buffer_of(&chip, storage);
	if (!buffer)
		return tt_fail(TTNN_UNSUPPORTED, "%s storage has no bytes in this process",
			       storage->ops->name);
	if (session->count == sizeof(session->held) / sizeof(session->held[0]))
		return tt_fail(TTNN_INTERNAL, "too many tensors in one job");
	TT_TRY(tt_buffer_data(held, buffer, chip, access));
	*out = (*held)->data;
	session->count++;
	return TTNN_OK;
}

static tt_status open_tensor(struct tt_area *out, struct tt_session *session,
			     const struct tt_tensor *tensor, enum tt_buffer_access access)
{
	void *bytes;

	if (tensor->layout && tensor->layout->shard_count != 1)
		return tt_fail(TTNN_INTERNAL, "a kernel works on one device, the tensor is on %zu",
			       tensor->layout->shard_count);
	TT_TRY(find_bytes(&bytes, session, tensor->storage, access));
	tt_area_set(out, bytes, &tensor->spec);
	return TTNN_OK;
}

tt_status tt_session_read(struct tt_area *out, struct tt_session *session,
			  const struct tt_tensor *tensor)
{
	return open_tensor(out, session, tensor, TT_BUFFER_READ);
}

tt_status tt_session_write(struct tt_area *out, struct tt_session *session,
			   const struct tt_tensor *tensor, bool keep)
{
	return open_tensor(out, session, tensor, keep ? TT_BUFFER_UPDATE : TT_BUFFER_OVERWRITE);
}

tt_status tt_session_end(struct tt_session *session, tt_status status)
{
	while (session->count)
		tt_storage_unref(session->held[--session->count]);
	return status;
}

tt_status tt_cpu_volume(uint64_t *out, const struct tt_tensor *tensor)
{
	return ttnn_shape_volume(out, &tensor->spec.shape);
}

bool tt_area_is_dense(const struct tt_area *area)
{
	uint64_t rows = 1;

	if (tt_area_is_tiled(area) || area->cols != tt_shape_last(&area->shape, 1))
		return false;
	for (uint32_t back = 2; back <= area->shape.rank; back++) {
		uint32_t d = area->shape.rank - back;

		if (area->shape.dim[d] != 1 && area->step[d] != rows)
			return false;
		rows *= area->shape.dim[d];
	}
	return true;
}

bool tt_area_alike(const struct tt_area *a, const struct tt_area *b)
{
	if (!tt_tile_equal(&a->tile, &b->tile) || !ttnn_shape_equal(&a->shape, &b->shape) ||
	    a->rows != b->rows || a->cols != b->cols)
		return false;
	for (uint32_t d = 0; d + 1 < a->shape.rank; d++)
		if (a->step[d] != b->step[d])
			return false;
	return true;
}

bool tt_area_has_padding(const struct tt_area *area)
{
	uint64_t volume;

	return ttnn_shape_volume(&volume, &area->shape) != TTNN_OK ||
	       volume != area->rows * area->cols;
}

/* ---- scratch --------------------------------------------------------------------------------- */

tt_status tt_scratch_init(struct tt_scratch *out, const struct ttnn_shape *shape,
			  enum ttnn_dtype dtype, const struct ttnn_tile *tile)
{
	struct ttnn_spec_args args = {.shape = *shape, .dtype = dtype};
	struct ttnn_tensor_spec spec;

	*out = (struct tt_scratch){0};
	if (tile) {
		args.layout = TTNN_TILE;
		args.tile = *tile;
	}
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	if (spec.bytes > SIZE_MAX)
		return tt_fail_nomem();
	out->bytes = (size_t)spec.bytes;
	out->block = tt_large_alloc(out->bytes);
	if (!out->block)
		return tt_fail_nomem();
	out->area = tt_area_of(out->block, &spec);
	return TTNN_OK;
}

void tt_scratch_deinit(struct tt_scratch *scratch)
{
	if (!scratch->block)
		return;
	tt_large_free(scratch->block, scratch->bytes);
	scratch->block = NULL;
}

enum ttnn_dtype tt_cpu_single(enum ttnn_dtype dtype)
{
	return tt_dtype_is_block(dtype) ? TTNN_BFLOAT16 : dtype;
}

tt_status tt_cpu_rows(struct tt_area *out, struct tt_scratch *scratch, const struct tt_area *in,
		      enum ttnn_dtype dtype)
{
	*scratch = (struct tt_scratch){0};
	*out = *in;
	if (in->dtype == dtype && tt_area_is_dense(in))
		return TTNN_OK;
	TT_TRY(tt_scratch_init(scratch, &in->shape, dtype, NULL));
	*out = scratch->area;
	return tt_cpu_copy(out, in);
}

/* ---- copies ---------------------------------------------------------------------------------- */

struct bytes {
	uint8_t *out;
	const uint8_t *in;
};

static void copy_bytes(void *context, size_t begin, size_t end)
{
	const struct bytes *bytes = context;

	memcpy(bytes->out + begin, bytes->in + begin, end - begin);
}

void tt_cpu_memcpy(void *out, const void *in, uint64_t bytes)
{
	if (out != in)
		tt_pool_for((size_t)bytes, COPY_GRAIN, copy_bytes, &(struct bytes){out, in});
}

/* Whether all that is stored can be converted as it lies: padding must not touch an exponent. */
static bool converts_in_place(const struct tt_area *out, const struct tt_area *in)
{
	return tt_area_alike(out, in) &&
	       (out->dtype == in->dtype || !tt_dtype_is_block(out->dtype) ||
		!tt_area_has_padding(out));
}

tt_status tt_cpu_copy(const struct tt_area *out, const struct tt_area *in)
{
	static const double zero = 0;
	size_t elements = (size_t)(out->rows * out->cols);
	struct tt_tile_run run = {.tile = out->tile};

	if (elements == 0)
		return TTNN_OK;
	if (!converts_in_place(out, in))
		return tt_layout_copy(out, in, tt_area_is_tiled(out) ? &zero : NULL);
	if (tt_area_is_tiled(out))
		run.tiles = elements / (out->tile.height * out->tile.width);
	if (out->dtype == in->dtype)
		tt_cpu_memcpy(out->data, in->data,
			      tt_area_is_tiled(out)
				      ? run.tiles * tt_dtype_tile_bytes(out->dtype, &out->tile)
				      : elements * tt_dtype_bytes(out->dtype));
	else if (tt_area_is_tiled(out))
		return tt_convert_tiles(out->data, out->dtype, in->data, in->dtype, &run);
	else
		return tt_convert(out->data, out->dtype, in->data, in->dtype, elements);
	return tt_deadline_check();
}

/* ---- memory ---------------------------------------------------------------------------------- */

static tt_status check_room(const struct tt_storage *storage, uint64_t count)
{
	if (count > storage->bytes)
		return tt_fail(TTNN_INTERNAL, "%s storage of %" PRIu64 " bytes has not %" PRIu64,
			       storage->ops->name, storage->bytes, count);
	return TTNN_OK;
}

static tt_status write_storage(struct tt_storage *storage, const void *bytes, uint64_t count)
{
	struct tt_session session = {0};
	void *to;

	TT_TRY(check_room(storage, count));
	TT_TRY(find_bytes(&to, &session, storage,
			  count < storage->bytes ? TT_BUFFER_UPDATE : TT_BUFFER_OVERWRITE));
	tt_cpu_memcpy(to, bytes, count);
	return tt_session_end(&session, TTNN_OK);
}

static tt_status read_storage(void *bytes, struct tt_storage *storage, uint64_t count)
{
	struct tt_session session = {0};
	void *from;

	TT_TRY(check_room(storage, count));
	TT_TRY(find_bytes(&from, &session, storage, TT_BUFFER_READ));
	tt_cpu_memcpy(bytes, from, count);
	return tt_session_end(&session, TTNN_OK);
}

const struct tt_backend tt_backend_cpu = {
	.name = "cpu",
	.storage = tt_storage_new,
	.write = write_storage,
	.read = read_storage,
	.map = tt_cpu_map,
	.move = tt_cpu_move,
	.reshape = tt_cpu_reshape,
	.bitcast = tt_cpu_bitcast,
	.fill = tt_cpu_fill,
	.range = tt_cpu_range,
	.reduce = tt_cpu_reduce,
	.scan = tt_cpu_scan,
	.states = tt_cpu_states,
	.softmax = tt_cpu_softmax,
	.sort = tt_cpu_sort,
	.index = tt_cpu_index,
	.sample = tt_cpu_sample,
	.rotate = tt_cpu_rotate,
	.yuv = tt_cpu_yuv,
	.nonzero = tt_cpu_nonzero,
	.random = tt_cpu_random,
	.matmul = tt_cpu_matmul,
	.conv = tt_cpu_conv,
	.conv3d = tt_cpu_conv3d,
	.pool = tt_cpu_pool,
	.resize = tt_cpu_resize,
	.norm = tt_cpu_norm,
	.attention = tt_cpu_attention,
	.cache = tt_cpu_cache,
	.rotary = tt_cpu_rotary,
};
