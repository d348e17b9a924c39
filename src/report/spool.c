#include "report/spool.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

/* Bytes of a part, about: what is worth a system call. */
#define PART ((size_t)64 << 10)

void tt_spool_init(struct tt_spool *spool, size_t size, const char *directory)
{
	*spool = (struct tt_spool){.size = size, .directory = directory};
	while ((size << (spool->shift + 1)) <= PART)
		spool->shift++;
}

static bool fail(struct tt_spool *spool, int error)
{
	spool->status = error == ENOMEM ? tt_fail_nomem()
					: tt_fail(TTNN_IO, "%s: a temporary file: %s",
						  spool->directory, strerror(error));
	return false;
}

static bool write_part(struct tt_spool *spool, struct tt_spool_part *part)
{
	size_t size = spool->size << spool->shift, done = 0;

	if (!spool->fd) {
		int fd = tt_fd_nameless(spool->directory);

		if (fd < 0)
			return fail(spool, errno);
		spool->fd = fd + 1;
	}
	while (done < size) {
		ssize_t wrote = pwrite(spool->fd - 1, part->data + done, size - done,
				       (off_t)(part->number * size + done));

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return fail(spool, wrote < 0 ? errno : ENOSPC);
		done += (size_t)wrote;
	}
	part->changed = false;
	return true;
}

/* Makes the part of that number the one in its place. */
static bool bring(struct tt_spool *spool, struct tt_spool_part *part, uint64_t number)
{
	size_t size = spool->size << spool->shift;
	bool is_new = number << spool->shift >= spool->count;
	int error;

	if (!part->data) {
		part->data = tt_calloc(1, size); /* what is written must be known */
		if (!part->data)
			return fail(spool, ENOMEM);
	}
	if (part->used && part->changed && !write_part(spool, part))
		return false;
	part->used = false;
	error = is_new ? 0 : tt_fd_read_at(spool->fd - 1, part->data, size, number * size);
	if (error)
		return fail(spool, error);
	part->number = number;
	part->used = true;
	return true;
}

void *tt_spool_bring(struct tt_spool *spool, uint64_t index, bool change)
{
	uint64_t number = index >> spool->shift, pair = number % TT_SPOOL_PAIRS;
	struct tt_spool_part *part = &spool->parts[2 * pair + spool->older[pair]];

	spool->older[pair] = !spool->older[pair];
	if (spool->status != TTNN_OK || !bring(spool, part, number))
		return NULL;
	part->changed |= change;
	return part->data + (index & (((uint64_t)1 << spool->shift) - 1)) * spool->size;
}

tt_status tt_spool_extend(struct tt_spool *spool, const void *records, size_t count)
{
	const char *from = records;

	while (count) {
		uint64_t each = (uint64_t)1 << spool->shift;
		uint64_t left = each - (spool->count & (each - 1));
		size_t some = left < count ? (size_t)left : count;
		void *to = tt_spool_reach(spool, spool->count, true);

		if (!to)
			return tt_spool_status(spool);
		memcpy(to, from, some * spool->size);
		spool->count += some;
		from += some * spool->size;
		count -= some;
	}
	return TTNN_OK;
}

tt_status tt_spool_status(const struct tt_spool *spool)
{
	return spool->status;
}

void tt_spool_clear(struct tt_spool *spool)
{
	if (!spool->count)
		return;
	/* The first part stays where it is: a short list is filled again and again. */
	for (int i = 0; i < TT_SPOOL_PARTS; i++) {
		spool->parts[i].used &= spool->parts[i].number == 0;
		spool->parts[i].changed = false;
	}
	spool->count = 0;
	spool->status = TTNN_OK;
}

void tt_spool_deinit(struct tt_spool *spool)
{
	for (int i = 0; i < TT_SPOOL_PARTS; i++)
		tt_free(spool->parts[i].data);
	if (spool->fd)
		close(spool->fd - 1);
	*spool = (struct tt_spool){0};
}
