#include "base/pack.h"

#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"

#define LEVEL 1

struct tt_packer {
	ZSTD_CCtx *context;
};

tt_status tt_packer_new(struct tt_packer **out)
{
	struct tt_packer *packer = tt_alloc(sizeof(*packer));

	if (!packer)
		return tt_fail_nomem();
	packer->context = ZSTD_createCCtx();
	if (!packer->context) {
		tt_free(packer);
		return tt_fail_nomem();
	}
	*out = packer;
	return TTNN_OK;
}

void tt_packer_free(struct tt_packer *packer)
{
	if (!packer)
		return;
	ZSTD_freeCCtx(packer->context);
	tt_free(packer);
}

size_t tt_pack_bound(size_t size)
{
	return ZSTD_compressBound(size);
}

tt_status tt_pack(void *out, size_t *packed, struct tt_packer *packer, const void *data,
		  size_t size)
{
	size_t done =
		ZSTD_compressCCtx(packer->context, out, tt_pack_bound(size), data, size, LEVEL);

	if (ZSTD_isError(done))
		return tt_fail(TTNN_INTERNAL, "packing %zu bytes: %s", size,
			       ZSTD_getErrorName(done));
	*packed = done;
	return TTNN_OK;
}

tt_status tt_pack_part(void *out, size_t *packed, struct tt_packer *packer, const void *data,
		       size_t size)
{
	ZSTD_inBuffer in = {data, size, 0};
	ZSTD_outBuffer to = {out, tt_pack_part_bound(size), 0};
	size_t left = ZSTD_compressStream2(packer->context, &to, &in, ZSTD_e_flush);

	if (ZSTD_isError(left) || left)
		return tt_fail(TTNN_INTERNAL, "packing %zu bytes: %s", size,
			       left && !ZSTD_isError(left) ? "no room" : ZSTD_getErrorName(left));
	*packed = to.pos;
	return TTNN_OK;
}

/* A part may be several blocks, and have the head of the stream before it. */
size_t tt_pack_part_bound(size_t size)
{
	return ZSTD_compressBound(size) + 64;
}

struct tt_unpacker {
	ZSTD_DCtx *context;
};

tt_status tt_unpacker_new(struct tt_unpacker **out)
{
	struct tt_unpacker *unpacker = tt_alloc(sizeof(*unpacker));

	if (!unpacker)
		return tt_fail_nomem();
	unpacker->context = ZSTD_createDCtx();
	if (!unpacker->context) {
		tt_free(unpacker);
		return tt_fail_nomem();
	}
	*out = unpacker;
	return TTNN_OK;
}

void tt_unpacker_free(struct tt_unpacker *unpacker)
{
	if (!unpacker)
		return;
	ZSTD_freeDCtx(unpacker->context);
	tt_free(unpacker);
}

/* What zstd said about a block. */
static tt_status check_unpacked(size_t done, size_t size, size_t packed)
{
	if (ZSTD_isError(done))
		return tt_fail(TTNN_FORMAT, "packed data of %zu bytes: %s", packed,
			       ZSTD_getErrorName(done));
	if (done != size)
		return tt_fail(TTNN_FORMAT, "packed data holds %zu bytes, not %zu", done, size);
	return TTNN_OK;
}

tt_status tt_unpacker_unpack(void *out, size_t size, struct tt_unpacker *unpacker, const void *data,
			     size_t packed)
{
	size_t done = ZSTD_decompressDCtx(unpacker->context, out, size, data, packed);

	return check_unpacked(done, size, packed);
}

tt_status tt_unpack(void *out, size_t size, const void *data, size_t packed)
{
	return check_unpacked(ZSTD_decompress(out, size, data, packed), size, packed);
}

uint32_t tt_crc32(uint32_t seed, const void *data, size_t size)
{
	return (uint32_t)crc32_z(seed, data, size);
}
