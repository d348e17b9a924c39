/*
 * pack.h: packed blocks (zstd) and checksums. The only user of <zstd.h>.
 */
#ifndef TT_BASE_PACK_H
#define TT_BASE_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Packs block after block; one thread at a time. */
struct tt_packer;

/* A fast packer (the library's level 1). Free it with tt_packer_free(), NULL is fine. */
tt_status tt_packer_new(struct tt_packer **out);
void tt_packer_free(struct tt_packer *packer);

/* Room that always suffices for `size` bytes packed. */
size_t tt_pack_bound(size_t size);

/* Packs into `out`, which has room for tt_pack_bound(size). */
tt_status tt_pack(void *out, size_t *packed, struct tt_packer *packer, const void *data,
		  size_t size);

/*
 * Packs the next part of one stream, whole: whoever has read it and those before can unpack it. `out` has room for
 * tt_pack_part_bound(size). A packer is used for this or for blocks, not for both.
 */
tt_status tt_pack_part(void *out, size_t *packed, struct tt_packer *packer, const void *data,
		       size_t size);
size_t tt_pack_part_bound(size_t size);

/* Unpacks block after block, which is faster than one by one; one thread at a time. */
struct tt_unpacker;
tt_status tt_unpacker_new(struct tt_unpacker **out);
/* NULL is fine. */
void tt_unpacker_free(struct tt_unpacker *unpacker);

/* As tt_unpack(). */
tt_status tt_unpacker_unpack(void *out, size_t size, struct tt_unpacker *unpacker, const void *data,
			     size_t packed);

/* Unpacks a block that must become exactly `size` bytes, whatever it claims. TTNN_FORMAT else. */
tt_status tt_unpack(void *out, size_t size, const void *data, size_t packed);

/* CRC-32 as zip and PNG compute it, continuing from `seed` (0 to start). */
uint32_t tt_crc32(uint32_t seed, const void *data, size_t size);

#endif
