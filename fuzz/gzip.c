/* Bytes taken for gzip data are unpacked or refused; packed here, they come back as they were. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/file.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int good)
{
	if (!good)
		abort();
}

static void pack_and_unpack(const uint8_t *data, size_t size)
{
	z_stream z = {0};
	size_t room, back_size;
	uint8_t *packed;
	char *back;

	check(deflateInit2(&z, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
	room = deflateBound(&z, (uLong)size);
	packed = malloc(room);
	check(packed != NULL);
	z.next_in = (Bytef *)(uintptr_t)data;
	z.avail_in = (uInt)size;
	z.next_out = packed;
	z.avail_out = (uInt)room;
	check(deflate(&z, Z_FINISH) == Z_STREAM_END);
	check(tt_file_gunzip(&back, &back_size, packed, z.total_out, "packed") == TTNN_OK);
	check(back_size == size && (!size || memcmp(back, data, size) == 0));
	deflateEnd(&z);
	free(packed);
	tt_free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;
	size_t length;

	if (tt_file_gunzip(&text, &length, data, size, "input") == TTNN_OK) {
		check(text[length] == '\0');
		tt_free(text);
	}
	pack_and_unpack(data, size);
	return 0;
}
