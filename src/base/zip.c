/*
 * zip.c. An archive, all numbers little-endian:
 *
 *	member      "PK\3\4", what is common (below), length of the name, 0; the name; the packed bytes
 *	...
 *	directory   for each: "PK\1\2", version that wrote it, what is common, length of the name, 8 zero bytes,
 *	            permissions, offset of the member; the name
 *	end         "PK\5\6", 0, 0, members, members, size and offset of the directory, 0
 *
 *	common      version 20, flags (bit 11: names are UTF-8), method 8 (deflate), time 0, date 1980-01-01, CRC-32,
 *	            packed size, size
 */
#include "base/zip.h"

#include <string.h>
#include <zlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/pack.h"
#include "base/str.h"

#define MOST_SIZE ((size_t)1 << 30)
#define MOST_MEMBERS 65535

struct tt_zip {
	struct tt_file_out *file;
	struct tt_str directory;
	uint64_t offset;
	unsigned members;
	tt_status status; /* the first failure besides the file's own */
	const char *why;
};

static void *zip_alloc(void *context, uInt count, uInt size)
{
	(void)context;
	return tt_calloc(count, size);
}

static void zip_free(void *context, void *block)
{
	(void)context;
	tt_free(block);
}

tt_status tt_zip_create(struct tt_zip **out, const char *path)
{
	struct tt_zip *zip = tt_calloc(1, sizeof(*zip));
	tt_status status = zip ? tt_file_create(&zip->file, path) : tt_fail_nomem();

	*out = status == TTNN_OK ? zip : NULL;
	if (status != TTNN_OK)
		tt_free(zip);
	return status;
}

static void put(struct tt_str *out, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		tt_str_addc(out, (char)(value >> (8 * i) & 0xff));
}

/* Packs without a head, as ZIP has it. */
static bool deflate_all(struct tt_str *out, const void *data, size_t size)
{
	z_stream z = {.zalloc = zip_alloc, .zfree = zip_free};
	char *room;
	size_t bound;
	bool done;

	if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return false;
	bound = deflateBound(&z, (uLong)size);
	room = tt_str_room(out, bound);
	z.next_in = (Bytef *)(uintptr_t)data; /* zlib only reads it */
	z.avail_in = (uInt)size;
	z.next_out = (Bytef *)room;
	z.avail_out = (uInt)bound;
	done = room && deflate(&z, Z_FINISH) == Z_STREAM_END;
	if (done)
		tt_str_end(out, room + z.total_out);
	deflateEnd(&z);
	return done;
}

static void add_common(struct tt_str *out, uint32_t crc, size_t packed, size_t size)
{
	put(out, 20, 2);
	put(out, 1 << 11, 2);
	put(out, 8, 2);
	put(out, 0, 2);
	put(out, 1 << 5 | 1, 2);
	put(out, crc, 4);
	put(out, packed, 4);
	put(out, size, 4);
}

static void fail(struct tt_zip *zip, tt_status status, const char *why)
{
	if (zip->status == TTNN_OK) {
		zip->status = status;
		zip->why = why;
	}
}

void tt_zip_add(struct tt_zip *zip, const char *name, const void *data, size_t size)
{
	struct tt_str head = {0}, packed = {0};
	uint32_t crc = tt_crc32(0, data, size);

	if (size > MOST_SIZE || zip->members == MOST_MEMBERS || zip->offset > MOST_SIZE) {
		fail(zip, TTNN_INVALID, "an archive has at most 65,535 members and 1 GB");
		return;
	}
	if (!deflate_all(&packed, data, size)) {
		fail(zip, TTNN_NOMEM, "out of memory");
		tt_str_deinit(&packed);
		return;
	}
	tt_str_add(&head, "PK\3\4", 4);
	add_common(&head, crc, packed.length, size);
	put(&head, strlen(name), 2);
	put(&head, 0, 2);
	tt_str_adds(&head, name);

	tt_str_add(&zip->directory, "PK\1\2", 4);
	put(&zip->directory, 3 << 8 | 20, 2); /* of Unix: permissions are such */
	add_common(&zip->directory, crc, packed.length, size);
	put(&zip->directory, strlen(name), 2);
	put(&zip->directory, 0, 8); /* extra, comment, disk, attributes */
	put(&zip->directory, (uint32_t)0100644 << 16, 4);
	put(&zip->directory, zip->offset, 4);
	tt_str_adds(&zip->directory, name);

	if (tt_str_status(&head) != TTNN_OK || tt_str_status(&zip->directory) != TTNN_OK)
		fail(zip, TTNN_NOMEM, "out of memory");
	tt_file_write(zip->file, tt_str_text(&head), head.length);
	tt_file_write(zip->file, tt_str_text(&packed), packed.length);
	zip->offset += head.length + packed.length;
	zip->members++;
	tt_str_deinit(&head);
	tt_str_deinit(&packed);
}

tt_status tt_zip_commit(struct tt_zip *zip)
{
	size_t size = zip->directory.length;
	tt_status status;

	tt_str_add(&zip->directory, "PK\5\6", 4);
	put(&zip->directory, 0, 4);
	put(&zip->directory, zip->members, 2);
	put(&zip->directory, zip->members, 2);
	put(&zip->directory, size, 4);
	put(&zip->directory, zip->offset, 4);
	put(&zip->directory, 0, 2);
	if (tt_str_status(&zip->directory) != TTNN_OK)
		fail(zip, TTNN_NOMEM, "out of memory");
	if (zip->status == TTNN_OK) {
		tt_file_write(zip->file, tt_str_text(&zip->directory), zip->directory.length);
		status = tt_file_commit(zip->file);
	} else {
		tt_file_discard(zip->file);
		status = tt_fail(zip->status, "%s", zip->why);
	}
	tt_str_deinit(&zip->directory);
	tt_free(zip);
	return status;
}

void tt_zip_discard(struct tt_zip *zip)
{
	tt_file_discard(zip->file);
	tt_str_deinit(&zip->directory);
	tt_free(zip);
}
