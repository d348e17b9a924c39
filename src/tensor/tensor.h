/*
 * tensor.h: the tensor object: a spec and reference counted storage.
 *
 * Everything above this layer holds tensors through ttnn_tensor (struct tt_tensor here). A tensor
 * is immutable once its maker hands it out; views and shards share storage by counting references,
 * so counts are atomic and nothing else needs a lock.
 *
 * Storage is an object with operations of its own: host memory and mapped files here, memory of a
 * modelled device in the layer that models it, which embeds struct tt_storage as its first member.
 */
#ifndef TT_TENSOR_TENSOR_H
#define TT_TENSOR_TENSOR_H

#include <stdatomic.h>

#include "base/file.h"
#include "base/status.h"
#include "tensor/spread.h"

/* ---- storage ------------------------------------------------------------------------------- */

struct tt_storage;

/* Where storage lies on a device. */
struct tt_storage_place {
	bool open;          /* the device was not closed */
	uint64_t buffer_id; /* 0: deallocated */
	uint64_t address;
	uint32_t device_id; /* of the mesh */
	uint32_t rows, cols;
};

struct tt_storage_ops {
	const char *name; /* "host": for messages */
	/* Called once, when the last owner lets go: frees what the storage holds, and the storage. */
	void (*destroy)(struct tt_storage *storage);
	/* (optional) Where it lies; storage without it is on the host. */
	struct tt_storage_place (*place)(const struct tt_storage *storage);
	bool hollow; /* of a dry run: on the host, without values; conversions give another one */
	/*
	 * (optional) A view of it begins or ends. Storage that has this can be given up before its
	 * last owner lets go, and views outlive that: their bytes stay until they are given up, too.
	 */
	void (*viewed)(struct tt_storage *storage, bool begins);
};

struct tt_storage {
	const struct tt_storage_ops *ops;
	atomic_uint_least32_t refs;
	void *data; /* the bytes in this process's memory; NULL when they are not there */
	uint64_t bytes;
};

/* Starts a storage with one owner: for the makers of storage kinds. */
void tt_storage_init(struct tt_storage *storage, const struct tt_storage_ops *ops, void *data,
		     uint64_t bytes);

/* Host memory, not cleared, from base/large.h: 64-byte aligned, large blocks used again. */
tt_status tt_storage_new(struct tt_storage **out, uint64_t bytes);

/* The same, of zeros. */
tt_status tt_storage_zeroed(struct tt_storage **out, uint64_t bytes);

/*
 * `bytes` bytes at `offset` of a mapped file. Keeps the mapping for as long as the storage lives;
 * copies instead when the bytes are few or not aligned well. Must lie inside the map.
 */
struct tt_mapping;
tt_status tt_storage_new_mapped(struct tt_storage **out, struct tt_mapping *mapping,
				uint64_t offset, uint64_t bytes);

/* A mapped file that several storages share. */
tt_status tt_mapping_new(struct tt_mapping **out, const char *path);
const struct tt_file_map *tt_mapping_get(const struct tt_mapping *mapping);
void tt_mapping_unref(struct tt_mapping *mapping);

struct tt_storage *tt_storage_ref(struct tt_storage *storage);
/* NULL is fine. */
void tt_storage_unref(struct tt_storage *storage);

/* ---- shards -------------------------------------------------------------------------------- */

/* One device's part of a tensor. */
struct tt_shard {
	struct ttnn_shape coord; /* on the mesh; the rank is the mesh's */
	struct tt_storage *storage;
};

/*
 * How a tensor lies on a mesh of several devices: every shard has the tensor's spec. The tensor's spread
 * tells how the shards came about: positions of its distribution, row-major, are at coords[i].
 * Shards that share data share their storage. Reference counted; immutable once it is in a tensor.
 */
struct tt_mesh_layout {
	atomic_uint_least32_t refs;
	struct ttnn_shape mesh;
	size_t coord_count, shard_count;
	struct ttnn_shape *coords; /* one for each position of the distribution */
	struct tt_shard *shards;
};

/* Room for the counts; everything zeroed, storages NULL. */
tt_status tt_mesh_layout_new(struct tt_mesh_layout **out, size_t coords, size_t shards);
/* As `from` is laid out, without storages. */
tt_status tt_mesh_layout_like(struct tt_mesh_layout **out, const struct tt_mesh_layout *from);
/* NULL is fine. */
void tt_mesh_layout_unref(struct tt_mesh_layout *layout);

/* Whether a tensor without a mesh layout has the same: one device of a 1 × 1 mesh. */
bool tt_mesh_layout_is_plain(const struct tt_mesh_layout *layout);

/* ---- tensors ------------------------------------------------------------------------------- */

/* What the owners of a view share: whether it was given up. The tensor it is a view of may be, before. */
struct tt_view_state {
	atomic_uint_least32_t refs;
	atomic_bool gone;
};

struct tt_tensor {
	atomic_uint_least32_t refs;
	bool view;                   /* shares the storage of a tensor of another shape */
	struct tt_view_state *state; /* of a view of storage that counts them; else NULL */
	uint64_t id;                 /* counts tensors in the process, from 0 */
	uint64_t spread;             /* over the devices of a mesh: tensor/spread.h */
	struct ttnn_tensor_spec spec;
	struct tt_storage *storage;    /* of the only shard, or of the first */
	struct tt_mesh_layout *layout; /* NULL: one device */
};

/*
 * A tensor over storage that exists; takes over one reference to each of storage and layout (which
 * may be NULL), also when it fails. With a layout, storage is its first shard's. Spread as a row of
 * one device: the caller's to change.
 */
tt_status tt_tensor_wrap(ttnn_tensor **out, const struct ttnn_tensor_spec *spec,
			 struct tt_storage *storage, struct tt_mesh_layout *layout);

/* Another tensor over the same storage, spread the same way; NULL: with the same spec. */
tt_status tt_tensor_share(ttnn_tensor **out, ttnn_tensor *tensor,
			  const struct ttnn_tensor_spec *spec);

/* A view, if it is one, is given up; true when it was not before. */
bool tt_tensor_give_up_view(ttnn_tensor *tensor);

/* As ttnn_tensor_new(), but the content is not cleared: for makers who fill it. */
tt_status tt_tensor_alloc(ttnn_tensor **out, const struct ttnn_tensor_spec *spec);

/*
 * Numbers of tensors. While a capture counts as upstream's do (tt_tensor_renumbering > 0), results
 * get another number on their way out: tt_tensor_renumber(). The setter is for tests.
 */
uint64_t tt_tensor_next_id(void);
/* While on, tensors that this thread makes get no number: nobody outside sees them. Returns what it was. */
#define TT_TENSOR_NO_ID UINT64_MAX
bool tt_tensor_hide(bool on);
void tt_tensor_set_next_id(uint64_t id);
extern atomic_int tt_tensor_renumbering;
static inline void tt_tensor_renumber(ttnn_tensor *tensor)
{
	if (__builtin_expect(atomic_load_explicit(&tt_tensor_renumbering, memory_order_relaxed) > 0,
			     0))
		tensor->id = tt_tensor_next_id();
}

/* The bytes of a tensor its maker has not handed out yet. */
void *tt_tensor_data(ttnn_tensor *tensor);

/* Refuses tensors whose one and only block of bytes is not in host memory; `what` is for words. */
tt_status tt_tensor_need_host(const ttnn_tensor *tensor, const char *what);

#endif
