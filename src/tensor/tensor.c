/* tensor.c: tensor objects, their storage and their shards. See tensor.h. */
#include "tensor/tensor.h"

#include <string.h>

#include "base/deadline.h"
#include "base/large.h"
#include "base/mem.h"

#define HOST_ALIGN 64
/* Smaller parts of a mapped file are copied: a mapping costs more than the bytes. */
#define MAP_LEAST ((uint64_t)1 << 20)

/* ---- storage ------------------------------------------------------------------------------- */

void tt_storage_init(struct tt_storage *storage, const struct tt_storage_ops *ops, void *data,
		     uint64_t bytes)
{
	storage->ops = ops;
	atomic_init(&storage->refs, 1);
	storage->data = data;
	storage->bytes = bytes;
}

struct tt_storage *tt_storage_ref(struct tt_storage *storage)
{
	atomic_fetch_add_explicit(&storage->refs, 1, memory_order_relaxed);
	return storage;
}

/* Whether that was the last owner. What other owners did to the object is visible then. */
static bool drop(atomic_uint_least32_t *refs)
{
	return atomic_fetch_sub_explicit(refs, 1, memory_order_acq_rel) == 1;
}

void tt_storage_unref(struct tt_storage *storage)
{
	if (storage && drop(&storage->refs))
		storage->ops->destroy(storage);
}

static void host_destroy(struct tt_storage *storage)
{
	tt_large_free(storage->data, (size_t)storage->bytes);
	tt_free(storage);
}

static const struct tt_storage_ops host_ops = {.name = "host", .destroy = host_destroy};

static tt_status make_storage(struct tt_storage **out, uint64_t bytes, void *(*alloc)(size_t))
{
	struct tt_storage *storage;
	void *data;

	if (bytes > SIZE_MAX)
		return tt_fail_nomem();
	storage = tt_alloc(sizeof(*storage));
	data = alloc((size_t)bytes);
	if (!storage || !data) {
		tt_free(storage);
		tt_large_free(data, (size_t)bytes);
		return tt_fail_nomem();
	}
	tt_storage_init(storage, &host_ops, data, bytes);
	*out = storage;
	return TTNN_OK;
}

tt_status tt_storage_new(struct tt_storage **out, uint64_t bytes)
{
	return make_storage(out, bytes, tt_large_alloc);
}

tt_status tt_storage_zeroed(struct tt_storage **out, uint64_t bytes)
{
	tt_status status;

	TT_TRY(make_storage(out, bytes, tt_large_zeroed));
	status = tt_deadline_check();
	if (status != TTNN_OK)
		tt_storage_unref(*out);
	return status;
}

struct tt_mapping {
	atomic_uint_least32_t refs;
	struct tt_file_map map;
};

tt_status tt_mapping_new(struct tt_mapping **out, const char *path)
{
	struct tt_mapping *mapping = tt_alloc(sizeof(*mapping));
	tt_status status;

	if (!mapping)
		return tt_fail_nomem();
	atomic_init(&mapping->refs, 1);
	status = tt_file_map(&mapping->map, path);
	if (status != TTNN_OK) {
		tt_free(mapping);
		return status;
	}
	*out = mapping;
	return TTNN_OK;
}

const struct tt_file_map *tt_mapping_get(const struct tt_mapping *mapping)
{
	return &mapping->map;
}

void tt_mapping_unref(struct tt_mapping *mapping)
{
	if (mapping && drop(&mapping->refs)) {
		tt_file_unmap(&mapping->map);
		tt_free(mapping);
	}
}

struct mapped_storage {
	struct tt_storage base;
	struct tt_mapping *mapping;
};

static void mapped_destroy(struct tt_storage *storage)
{
	struct mapped_storage *mapped = (struct mapped_storage *)storage;

	tt_mapping_unref(mapped->mapping);
	tt_free(mapped);
}

static const struct tt_storage_ops mapped_ops = {.name = "mapped file", .destroy = mapped_destroy};

tt_status tt_storage_new_mapped(struct tt_storage **out, struct tt_mapping *mapping,
				uint64_t offset, uint64_t bytes)
{
	const char *data = mapping->map.data + offset;
	struct mapped_storage *mapped;

	if (bytes < MAP_LEAST || (uintptr_t)data % HOST_ALIGN != 0) {
		TT_TRY(tt_storage_new(out, bytes));
		memcpy((*out)->data, data, (size_t)bytes);
		return TTNN_OK;
	}
	mapped = tt_alloc(sizeof(*mapped));
	if (!mapped)
		return tt_fail_nomem();
	/* Nobody writes to the storage of a finished tensor, so the const may go. */
	tt_storage_init(&mapped->base, &mapped_ops, (void *)(uintptr_t)data, bytes);
	atomic_fetch_add_explicit(&mapping->refs, 1, memory_order_relaxed);
	mapped->mapping = mapping;
	*out = &mapped->base;
	return TTNN_OK;
}

/* ---- shards -------------------------------------------------------------------------------- */

tt_status tt_mesh_layout_new(struct tt_mesh_layout **out, size_t coords, size_t shards)
{
	struct tt_mesh_layout *layout = tt_calloc(1, sizeof(*layout));

	if (!layout)
		return tt_fail_nomem();
	atomic_init(&layout->refs, 1);
	layout->coords = tt_calloc(coords, sizeof(*layout->coords));
	layout->shards = tt_calloc(shards, sizeof(*layout->shards));
	if (!layout->coords || !layout->shards) {
		tt_mesh_layout_unref(layout);
		return tt_fail_nomem();
	}
	layout->coord_count = coords;
	layout->shard_count = shards;
	*out = layout;
	return TTNN_OK;
}

tt_status tt_mesh_layout_like(struct tt_mesh_layout **out, const struct tt_mesh_layout *from)
{
	struct tt_mesh_layout *layout;

	TT_TRY(tt_mesh_layout_new(&layout, from->coord_count, from->shard_count));
	layout->mesh = from->mesh;
	for (size_t i = 0; i < from->coord_count; i++)
		layout->coords[i] = from->coords[i];
	for (size_t i = 0; i < from->shard_count; i++)
		layout->shards[i].coord = from->shards[i].coord;
	*out = layout;
	return TTNN_OK;
}

void tt_mesh_layout_unref(struct tt_mesh_layout *layout)
{
	if (!layout || !drop(&layout->refs))
		return;
	for (size_t i = 0; i < layout->shard_count; i++)
		tt_storage_unref(layout->shards[i].storage);
	tt_free(layout->coords);
	tt_free(layout->shards);
	tt_free(layout);
}

bool tt_mesh_layout_is_plain(const struct tt_mesh_layout *layout)
{
	static const struct ttnn_shape unit = {2, {1, 1}}, origin = {2, {0, 0}};

	return layout->shard_count == 1 && layout->coord_count == 1 &&
	       ttnn_shape_equal(&layout->mesh, &unit) &&
	       ttnn_shape_equal(&layout->coords[0], &origin) &&
	       ttnn_shape_equal(&layout->shards[0].coord, &origin);
}

/* ---- tensors ------------------------------------------------------------------------------- */

static atomic_uint_least64_t next_id;
atomic_int tt_tensor_renumbering;

static _Thread_local bool hidden;

bool tt_tensor_hide(bool on)
{
	bool before = hidden;

	hidden = on;
	return before;
}

uint64_t tt_tensor_next_id(void)
{
	return hidden ? TT_TENSOR_NO_ID
		      : atomic_fetch_add_explicit(&next_id, 1, memory_order_relaxed);
}

void tt_tensor_set_next_id(uint64_t id)
{
	atomic_store(&next_id, id);
}

tt_status tt_tensor_wrap(ttnn_tensor **out, const struct ttnn_tensor_spec *spec,
			 struct tt_storage *storage, struct tt_mesh_layout *layout)
{
	struct tt_tensor *tensor = tt_alloc(sizeof(*tensor));

	if (!tensor) {
		tt_storage_unref(storage);
		tt_mesh_layout_unref(layout);
		return tt_fail_nomem();
	}
	atomic_init(&tensor->refs, 1);
	tensor->view = false;
	tensor->state = NULL;
	tensor->spread = TT_SPREAD_LINE;
	tensor->id = tt_tensor_next_id();
	tensor->spec = *spec;
	tensor->storage = storage;
	tensor->layout = layout;
	*out = tensor;
	return TTNN_OK;
}

/* Of a new view, or that which another owner of the same view has. */
static tt_status share_state(ttnn_tensor *out, const ttnn_tensor *tensor, bool is_new)
{
	struct tt_storage *storage = tensor->storage;

	if (!is_new && tensor->state) {
		atomic_fetch_add_explicit(&tensor->state->refs, 1, memory_order_relaxed);
		out->state = tensor->state;
	}
	if (!is_new || !storage->ops->viewed)
		return TTNN_OK;
	out->state = tt_alloc(sizeof(*out->state));
	if (!out->state)
		return tt_fail_nomem();
	atomic_init(&out->state->refs, 1);
	atomic_init(&out->state->gone, tensor->state && atomic_load(&tensor->state->gone));
	if (!atomic_load(&out->state->gone))
		storage->ops->viewed(storage, true);
	return TTNN_OK;
}

bool tt_tensor_give_up_view(ttnn_tensor *tensor)
{
	if (!tensor->state || atomic_exchange(&tensor->state->gone, true))
		return false;
	tensor->storage->ops->viewed(tensor->storage, false);
	return true;
}

tt_status tt_tensor_share(ttnn_tensor **out, ttnn_tensor *tensor,
			  const struct ttnn_tensor_spec *spec)
{
	if (tensor->layout)
		atomic_fetch_add_explicit(&tensor->layout->refs, 1, memory_order_relaxed);
	TT_TRY(tt_tensor_wrap(out, spec ? spec : &tensor->spec, tt_storage_ref(tensor->storage),
			      tensor->layout));
	(*out)->view = spec || tensor->view;
	(*out)->spread = tensor->spread;
	if (share_state(*out, tensor, spec != NULL) == TTNN_OK)
		return TTNN_OK;
	ttnn_tensor_unref(*out);
	return TTNN_NOMEM;
}

tt_status tt_tensor_alloc(ttnn_tensor **out, const struct ttnn_tensor_spec *spec)
{
	struct tt_storage *storage;

	TT_TRY(tt_storage_new(&storage, spec->bytes));
	return tt_tensor_wrap(out, spec, storage, NULL);
}

void *tt_tensor_data(ttnn_tensor *tensor)
{
	return tensor->storage->data;
}

tt_status tt_tensor_need_host(const ttnn_tensor *tensor, const char *what)
{
	if (!tensor->storage->data)
		return tt_fail(TTNN_UNSUPPORTED, "%s needs a tensor on the host, this one is in %s",
			       what, tensor->storage->ops->name);
	if (tensor->layout && tensor->layout->shard_count != 1)
		return tt_fail(TTNN_UNSUPPORTED,
			       "%s needs a tensor on one device, this one is spread over %zu", what,
			       tensor->layout->shard_count);
	return TTNN_OK;
}

enum ttnn_status ttnn_tensor_new(ttnn_tensor **out, const struct ttnn_tensor_spec *spec)
{
	struct tt_storage *storage;

	TT_TRY(tt_storage_zeroed(&storage, spec->bytes));
	return tt_tensor_wrap(out, spec, storage, NULL);
}

ttnn_tensor *ttnn_tensor_ref(ttnn_tensor *tensor)
{
	atomic_fetch_add_explicit(&tensor->refs, 1, memory_order_relaxed);
	return tensor;
}

void ttnn_tensor_unref(ttnn_tensor *tensor)
{
	if (!tensor || !drop(&tensor->refs))
		return;
	if (tensor->state && drop(&tensor->state->refs)) {
		tt_tensor_give_up_view(tensor);
		tt_free(tensor->state);
	}
	tt_storage_unref(tensor->storage);
	tt_mesh_layout_unref(tensor->layout);
	tt_free(tensor);
}

const struct ttnn_tensor_spec *ttnn_tensor_get_spec(const ttnn_tensor *tensor)
{
	return &tensor->spec;
}

const void *ttnn_tensor_bytes(const ttnn_tensor *tensor)
{
	return tensor->storage->data;
}

size_t ttnn_tensor_shard_count(const ttnn_tensor *tensor)
{
	return tensor->layout ? tensor->layout->shard_count : 1;
}

enum ttnn_status ttnn_tensor_shard(ttnn_tensor **out, const ttnn_tensor *tensor, size_t index)
{
	if (index >= ttnn_tensor_shard_count(tensor))
		return tt_fail(TTNN_INVALID, "there is no shard %zu, the tensor has %zu", index,
			       ttnn_tensor_shard_count(tensor));
	TT_TRY(tt_tensor_wrap(out, &tensor->spec,
			      tt_storage_ref(tensor->layout ? tensor->layout->shards[index].storage
							    : tensor->storage),
			      NULL));
	if (tensor->storage->ops
		    ->place) /* upstream's is the tensor, of which it names one device */
		(*out)->spread = tensor->spread;
	return TTNN_OK;
}
