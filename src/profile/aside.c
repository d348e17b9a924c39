#include "profile/aside.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

static void file_tail(struct tt_aside *aside)
{
	int fd = aside->file ? aside->file - 1 : tt_fd_scratch();

	if (fd < 0) {
		aside->error = errno;
		return;
	}
	aside->file = fd + 1;
	aside->error = tt_fd_write(fd, tt_str_text(&aside->tail), aside->tail.length);
	aside->filed += aside->tail.length;
	tt_str_clear(&aside->tail);
}

void tt_aside_add(struct tt_aside *aside, const void *data, size_t size)
{
	if (aside->error)
		return;
	tt_str_add(&aside->tail, data, size);
	if (tt_str_status(&aside->tail) != TTNN_OK)
		aside->error = ENOMEM;
	else if (aside->tail.length >= TT_ASIDE_ROOM)
		file_tail(aside);
}

void tt_aside_set(struct tt_aside *aside, uint64_t at, uint32_t number)
{
	unsigned char bytes[4] = {(unsigned char)number, (unsigned char)(number >> 8),
				  (unsigned char)(number >> 16), (unsigned char)(number >> 24)};

	if (aside->error)
		return;
	if (at >= aside->filed)
		memcpy(aside->tail.data + (at - aside->filed), bytes, 4);
	else
		aside->error = tt_fd_write_at(aside->file - 1, bytes, 4, at);
}

tt_status tt_aside_read(struct tt_aside *aside,
			void (*take)(void *context, const void *data, size_t size), void *context)
{
	char *piece = NULL;
	uint64_t at = 0;

	if (!aside->error && aside->filed) {
		piece = tt_alloc(TT_ASIDE_ROOM);
		if (!piece)
			aside->error = ENOMEM;
	}
	while (!aside->error && at < aside->filed) {
		size_t size = aside->filed - at < TT_ASIDE_ROOM ? (size_t)(aside->filed - at)
								: TT_ASIDE_ROOM;

		aside->error = tt_fd_read_at(aside->file - 1, piece, size, at);
		if (!aside->error)
			take(context, piece, size);
		at += size;
	}
	tt_free(piece);
	if (aside->error == ENOMEM)
		return tt_fail_nomem();
	if (aside->error)
		return tt_fd_scratch_fail(aside->error);
	take(context, tt_str_text(&aside->tail), aside->tail.length);
	return TTNN_OK;
}

void tt_aside_deinit(struct tt_aside *aside)
{
	if (aside->file)
		close(aside->file - 1);
	tt_str_deinit(&aside->tail);
	*aside = (struct tt_aside){0};
}
