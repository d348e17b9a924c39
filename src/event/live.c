#include "event/live.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/pack.h"
#include "event/ttrace.h"

_Static_assert(sizeof(atomic_uint_least32_t) == 4, "a number in the file is one in memory");

/* ---- the file ------------------------------------------------------------------------------------------- */

void tt_live_path(struct tt_str *out, const char *path)
{
	tt_str_addf(out, "%s%s", path, TT_LIVE_SUFFIX);
}

static char *live_path(const char *path)
{
	struct tt_str text = {0};
	char *out = NULL;

	tt_live_path(&text, path);
	return tt_str_take(&out, &text) == TTNN_OK ? out : NULL;
}

static bool write_head(int fd, uint32_t checksum)
{
	unsigned char head[TT_LIVE_HEAD_SIZE];

	memcpy(head, TT_LIVE_MAGIC, TT_LIVE_MAGIC_SIZE);
	tt_put_u32(head + 8, TT_LIVE_VERSION);
	tt_put_u32(head + 12, checksum);
	tt_put_u32(head + 16, tt_crc32(0, head, 16));
	return tt_fd_reserve(fd, 0, TT_LIVE_UNIT) == 0 &&
	       tt_fd_write_at(fd, head, sizeof(head), 0) == 0;
}

void tt_live_open(struct tt_live *live, const char *path, uint32_t checksum)
{
	char *name = live->open || live->failed ? NULL : live_path(path);

	if (!name)
		return;
	/* The name alone goes: a process that writes that file goes on with it. */
	unlink(name);
	live->fd = tt_fd_open(name, O_RDWR | O_CREAT | O_EXCL);
	live->open = live->fd >= 0 && write_head(live->fd, checksum);
	live->failed = !live->open;
	live->end = TT_LIVE_UNIT;
	if (live->failed && live->fd >= 0) {
		close(live->fd);
		unlink(name);
	}
	tt_free(name);
}

void tt_live_remove(const struct tt_live *live, const char *path)
{
	char *name = live->open ? live_path(path) : NULL;
	struct stat ours, there;

	if (name && fstat(live->fd, &ours) == 0 && stat(name, &there) == 0 &&
	    ours.st_dev == there.st_dev && ours.st_ino == there.st_ino)
		unlink(name);
	tt_free(name);
}

void tt_live_deinit(struct tt_live *live)
{
	if (live->open)
		close(live->fd);
	TT_VEC_DEINIT(&live->unused);
	*live = (struct tt_live){0};
}

/* ---- slots ---------------------------------------------------------------------------------------------- */

static bool map_slot(struct tt_live_slot *out, const struct tt_live *live,
		     const struct tt_live_region *region)
{
	void *map = mmap(NULL, region->size, PROT_READ | PROT_WRITE, MAP_SHARED, live->fd,
			 (off_t)region->offset);

	if (map == MAP_FAILED)
		return false;
	*out = (struct tt_live_slot){map, region->offset, region->size};
	return true;
}

static bool find_unused(struct tt_live_region *out, struct tt_live *live, uint64_t size)
{
	for (size_t i = 0; i < live->unused.count; i++)
		if (live->unused.data[i].size == size) {
			*out = live->unused.data[i];
			live->unused.data[i] = live->unused.data[--live->unused.count];
			return true;
		}
	return false;
}

/* With its magic and size on the disk before anything else, so that readers find the way to the next. */
static bool add_region(struct tt_live_region *out, struct tt_live *live, uint64_t size)
{
	unsigned char head[TT_SLOT_HEAD_SIZE] = {0};

	*out = (struct tt_live_region){live->end, size};
	tt_put_u32(head + TT_SLOT_AT_MAGIC, TT_SLOT_MAGIC);
	tt_put_u32(head + TT_SLOT_AT_SIZE, (uint32_t)size);
	if (tt_fd_reserve(live->fd, out->offset, size) != 0 ||
	    tt_fd_write_at(live->fd, head, sizeof(head), out->offset) != 0) {
		/* What was reserved in vain is given back; if it cannot be it is no slot to readers. */
		(void)!ftruncate(live->fd, (off_t)live->end);
		return false;
	}
	live->end += size;
	return true;
}

static void keep_region(struct tt_live *live, const struct tt_live_region *region)
{
	struct tt_live_region *kept = TT_VEC_PUSH(&live->unused);

	if (kept) /* else its place in the file is lost until the end */
		*kept = *region;
}

bool tt_live_take(struct tt_live_slot *out, struct tt_live *live, size_t room)
{
	uint64_t size = (room + TT_SLOT_HEAD_SIZE + TT_LIVE_UNIT - 1) / TT_LIVE_UNIT * TT_LIVE_UNIT;
	struct tt_live_region region;

	if (!live->open || (!find_unused(&region, live, size) && !add_region(&region, live, size)))
		return false;
	if (map_slot(out, live, &region))
		return true;
	keep_region(live, &region);
	return false;
}

void tt_live_unmap(struct tt_live_slot *slot)
{
	if (slot->map)
		munmap(slot->map, slot->size);
	*slot = (struct tt_live_slot){0};
}

void tt_live_return(struct tt_live *live, struct tt_live_slot *slot)
{
	tt_live_clear(slot);
	keep_region(live, &(struct tt_live_region){slot->offset, slot->size});
	tt_live_unmap(slot);
}

void tt_live_begin(struct tt_live_slot *slot, const struct tt_chunk_head *head)
{
	tt_put_u32(slot->map + TT_SLOT_AT_THREAD, head->thread);
	tt_put_u32(slot->map + TT_SLOT_AT_SEQUENCE, head->sequence);
	tt_put_u32(slot->map + TT_SLOT_AT_DEPTH, head->depth);
	tt_put_u64(slot->map + TT_SLOT_AT_OP, head->op);
	tt_put_u64(slot->map + TT_SLOT_AT_FIRST_NS, head->first_ns);
	tt_put_u64(slot->map + TT_SLOT_AT_TICK, head->tick);
}

/* Before anything of the next chunk is put there. */
void tt_live_clear(struct tt_live_slot *slot)
{
	atomic_store(tt_live_committed(slot), 0);
}
