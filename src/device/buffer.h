/*
 * buffer.h: buffers in the memory of a device: how the bytes of a tensor are cut into pages and
 * spread over banks, where they lie, and for how long.
 *
 * Interleaved pages go round the banks. The pages of a sharded tensor go to the cores its shards are
 * dealt to (tensor/distribution.h). Every bank sets aside as much as the fullest one needs, at the
 * same address.
 *
 * A buffer is shared by counting references. It can lose its memory before the last owner lets go
 * (tt_buffer_deallocate): all who share it see that at once. Allocation and deallocation are told as
 * events. Any thread may call any function; what is not said to be locked is constant.
 */
#ifndef TT_DEVICE_BUFFER_H
#define TT_DEVICE_BUFFER_H

#include "device/devmem.h"
#include "event/event.h"
#include "tensor/distribution.h"
#include "tensor/tensor.h"

/* How bytes lie in banks; nothing in it needs freeing. */
struct tt_buffer_layout {
	enum ttnn_buffer_type type;
	enum ttnn_memory_layout layout;
	uint64_t size;         /* bytes without any padding of pages */
	uint64_t page_size;    /* likewise */
	uint64_t aligned_page; /* bytes from page to page in a bank */
	uint64_t pages;
	uint64_t bank_pages;                 /* set aside in every bank */
	uint64_t bank_bytes;                 /* bank_pages × aligned_page */
	uint64_t total_bytes;                /* of all banks together, as messages count it */
	uint32_t banks;                      /* that hold a part of it */
	uint32_t cores;                      /* the same when sharded, else 0 */
	struct tt_distribution distribution; /* when sharded */
};

/* What tensors of this spec take; refuses shard grids that the device cannot serve. */
tt_status tt_buffer_layout_make(struct tt_buffer_layout *out, const struct tt_devmem *memory,
				const struct ttnn_tensor_spec *spec);

/* Interleaved bytes that are no tensor. */
tt_status tt_buffer_layout_raw(struct tt_buffer_layout *out, const struct tt_devmem *memory,
			       enum ttnn_buffer_type type, uint64_t size, uint64_t page_size);

/* Where a buffer gets its address from. */
enum tt_buffer_mode {
	TT_BUFFER_REAL,   /* the allocator of the device */
	TT_BUFFER_SHADOW, /* another allocator: a dry run that wants to know addresses */
	TT_BUFFER_BLIND,  /* nowhere: the address is 0 */
	TT_BUFFER_GHOST,  /* another buffer that gave it back; events do not tell of a ghost */
	TT_BUFFER_LOOSE,  /* nowhere, but it has data; events do not tell of it */
	TT_BUFFER_PART,   /* within another buffer; likewise */
};

/* Which bytes of a buffer are those of a part of it: stretches of `run` bytes, each `pitch` behind the last. */
struct tt_buffer_part {
	struct tt_buffer *whole;
	uint64_t offset, run, pitch;
	uint64_t address; /* from that of the whole */
};

/* All zero is a real buffer. */
struct tt_buffer_options {
	enum tt_buffer_mode mode;
	struct tt_allocator *shadow; /* for TT_BUFFER_SHADOW, outlives the buffer's allocation;
				      * NULL: that of the memory */
	enum tt_allocator_end from;
	uint64_t address;                  /* for TT_BUFFER_GHOST */
	const struct tt_buffer_part *part; /* for TT_BUFFER_PART; lies within the whole */
};

/* The bytes on one chip. */
struct tt_buffer_slot {
	struct tt_storage *storage; /* NULL: never asked for */
	bool own;                   /* made for the buffer; others' may be read only */
};

struct tt_buffer {
	atomic_uint_least32_t refs;
	struct tt_devmem *memory;
	struct tt_buffer_layout layout;
	uint64_t id; /* never used again in this process; blocks are tagged with its low 32 bits */
	uint64_t address;
	enum tt_buffer_mode mode;
	struct tt_buffer_part part; /* of a part, with a reference to the whole */

	struct tt_allocator *allocator;  /* NULL: the address is not an allocator's */
	atomic_bool allocated;           /* written with the memory's lock held */
	atomic_uint_least32_t views;     /* of tensors, not given up: they keep the data */
	struct tt_buffer *older, *newer; /* among the live buffers; likewise */
	struct tt_buffer_slot *data;     /* by chip; NULL until asked for; likewise */
};

/* A new buffer with one owner; TTNN_DEVICE_OOM when it does not fit. */
tt_status tt_buffer_new(struct tt_buffer **out, struct tt_devmem *memory,
			const struct tt_buffer_layout *layout,
			const struct tt_buffer_options *options);

/* The id of the newest buffer of this process: what is made from now on gets higher ones. */
uint64_t tt_buffer_last_id(void);

/* The buffer that has the memory of this one: itself, unless it is a part. Borrowed. */
struct tt_buffer *tt_buffer_root(struct tt_buffer *buffer);

/* One owner more; returns its argument. */
struct tt_buffer *tt_buffer_ref(struct tt_buffer *buffer);
/* One owner less; the last one deallocates. NULL is fine. */
void tt_buffer_unref(struct tt_buffer *buffer);

/*
 * Gives the memory back, for all who share the buffer; nothing happens the second time. In a dry run
 * that is only told: what was really allocated stays taken, as it does upstream.
 */
void tt_buffer_deallocate(struct tt_buffer *buffer);

/* It as events have it. */
struct tt_event_buffer tt_buffer_facts(const struct tt_buffer *buffer);

/* Whether events tell of it at all: not of empty ones, ghosts and loose ones. */
bool tt_buffer_is_for_events(const struct tt_buffer *buffer);

/* False after deallocation, and for every buffer of a closed device, dry and empty ones too. */
bool tt_buffer_is_allocated(const struct tt_buffer *buffer);

/*
 * Whether its data is there: until views of it are given up, too. What was deallocated may belong to someone
 * else by then; on a chip it is there until that one writes, and programs rely on it.
 */
bool tt_buffer_is_readable(const struct tt_buffer *buffer);

/* A view of a tensor begins or ends. */
void tt_buffer_viewed(struct tt_buffer *buffer, bool begins);

/* ---- pages --------------------------------------------------------------------------------- */

/* One page and where it lies. */
struct tt_buffer_page {
	uint64_t index;   /* in the tensor */
	uint64_t address; /* in the bank */
	uint32_t bank;
	uint32_t reported_bank; /* what upstream's reports say: one too high when interleaved */
	struct ttnn_core core;
};

/* Walks the pages in the order of reports; start with all zero. False at the end. */
struct tt_buffer_walk {
	uint64_t core, page; /* page of the core, or of the tensor when interleaved */
};
bool tt_buffer_next_page(struct tt_buffer_page *out, struct tt_buffer_walk *walk,
			 const struct tt_buffer *buffer);

/* Where page `index` of the tensor lies; index is below layout.pages. */
struct tt_buffer_page tt_buffer_find_page(const struct tt_buffer *buffer, uint64_t index);

/* Bytes per bank as upstream's list of buffers counts them: pages without their alignment. */
uint64_t tt_buffer_listed_bytes(const struct tt_buffer *buffer);

/* ---- data ---------------------------------------------------------------------------------- */

enum tt_buffer_access {
	TT_BUFFER_READ,      /* what was never written reads as 0 */
	TT_BUFFER_UPDATE,    /* some bytes will be written */
	TT_BUFFER_OVERWRITE, /* all bytes will be written: the old ones may be lost */
};

/*
 * The bytes of a buffer on one chip, layout.size of them, as its tensor lays them out. Memory is
 * taken when they are first asked for. *out is a reference of the caller's. What is written through those of
 * a part may be the whole's only when the last reference to them is given back. Bytes that anyone else
 * has a reference to, or that were set, are never written: the writer gets others, which are the
 * buffer's from then on. Not for two writers at a time. Refused in dry runs and after deallocation.
 */
tt_status tt_buffer_data(struct tt_storage **out, struct tt_buffer *buffer, uint32_t chip,
			 enum tt_buffer_access access);

/* Makes these the bytes of the buffer, without copying; the buffer takes a reference of its own. */
tt_status tt_buffer_set_data(struct tt_buffer *buffer, uint32_t chip, struct tt_storage *storage);

/* The storage of a tensor that lies in a buffer, on one chip. It keeps the buffer alive. */
tt_status tt_buffer_storage_new(struct tt_storage **out, struct tt_buffer *buffer, uint32_t chip);

/* The buffer a storage lies in, borrowed, or NULL; *chip may be NULL. */
struct tt_buffer *tt_buffer_of(uint32_t *chip, const struct tt_storage *storage);

/* For deallocation: lets go of all bytes. The memory's lock is not held. */
void tt_buffer_drop_data(struct tt_buffer *buffer);

#endif
