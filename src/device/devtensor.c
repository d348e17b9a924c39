#include "device/devtensor.h"

#include <inttypes.h>
#include <ttnn_frontend.h>

#include "base/mem.h"
#include "device/device.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/layout.h"

static _Thread_local enum ttnn_run_mode current;
static _Thread_local bool dry_addresses;
static _Thread_local bool rerunning;
static _Thread_local bool asking;
static _Thread_local int rehearsals;

enum ttnn_run_mode tt_run_mode(void)
{
	return current;
}

enum ttnn_run_mode tt_run_mode_set(enum ttnn_run_mode mode)
{
	enum ttnn_run_mode before = current;

	current = mode;
	return before;
}

int tt_run_rehearsals(int more)
{
	return rehearsals += more;
}

bool ttnn_set_dry_addresses(bool on)
{
	bool before = dry_addresses;

	dry_addresses = on;
	return before;
}

bool tt_rerunning(void)
{
	return rerunning;
}

bool tt_rerunning_set(bool on)
{
	bool before = rerunning;

	rerunning = on;
	return before;
}

bool tt_asking(void)
{
	return asking;
}

bool tt_asking_set(bool on)
{
	bool before = asking;

	asking = on;
	return before;
}

/* Where this thread's buffers get their addresses from now. */
static enum tt_buffer_mode buffer_mode(void)
{
	if (rerunning)
		return TT_BUFFER_LOOSE;
	if (current == TTNN_RUN_NORMAL)
		return TT_BUFFER_REAL;
	return dry_addresses ? TT_BUFFER_SHADOW : TT_BUFFER_BLIND;
}

/* One storage for each chip of a mesh, every one with the whole spec. */
static tt_status spread(struct tt_mesh_layout **out, struct tt_device *device,
			struct tt_buffer *buffer)
{
	uint32_t chips = device->rows * device->cols;
	struct tt_mesh_layout *layout;

	TT_TRY(tt_mesh_layout_new(&layout, chips, chips));
	layout->mesh = (struct ttnn_shape){2, {device->rows, device->cols}};
	for (uint32_t i = 0; i < chips; i++) {
		struct ttnn_shape coord = {2, {i / device->cols, i % device->cols}};
		tt_status status;

		layout->coords[i] = layout->shards[i].coord = coord;
		status = tt_buffer_storage_new(&layout->shards[i].storage, buffer, i);
		if (status != TTNN_OK) {
			tt_mesh_layout_unref(layout);
			return status;
		}
	}
	*out = layout;
	return TTNN_OK;
}

/* A tensor in this buffer, whose reference it takes, also when it fails. */
static tt_status wrap(struct tt_tensor **out, struct tt_device *device, struct tt_buffer *buffer,
		      const struct ttnn_tensor_spec *spec)
{
	struct tt_mesh_layout *layout = NULL;
	struct tt_storage *storage = NULL;
	tt_status status;

	if (device->memory->chips > 1) {
		status = spread(&layout, device, buffer);
		if (status == TTNN_OK)
			storage = tt_storage_ref(layout->shards[0].storage);
	} else {
		status = tt_buffer_storage_new(&storage, buffer, 0);
	}
	tt_buffer_unref(buffer);
	return status == TTNN_OK ? tt_tensor_wrap(out, spec, storage, layout) : status;
}

tt_status tt_device_tensor_new(struct tt_tensor **out, struct tt_device *device,
			       const struct ttnn_tensor_spec *spec)
{
	struct tt_buffer_options options = {.mode = buffer_mode()};
	struct tt_buffer_layout pages;
	struct tt_buffer *buffer;

	TT_TRY(tt_device_check_open(device));
	TT_TRY(tt_buffer_layout_make(&pages, device->memory, spec));
	TT_TRY(tt_buffer_new(&buffer, device->memory, &pages, &options));
	TT_TRY(wrap(out, device, buffer, spec));
	(*out)->spread = tt_spread_copies(&(struct ttnn_shape){2, {device->rows, device->cols}});
	return TTNN_OK;
}

enum ttnn_status ttnn_tensor_reserve(ttnn_tensor **out, ttnn_device *device,
				     const struct ttnn_tensor_spec *spec)
{
	bool hidden = ttnn_tensor_hide(true);
	tt_status status = tt_device_tensor_new(out, device, spec);

	ttnn_tensor_hide(hidden);
	return status;
}

/* The same shards of another buffer. */
static tt_status spread_like(struct tt_mesh_layout **out, const struct tt_mesh_layout *like,
			     struct tt_buffer *buffer)
{
	struct tt_mesh_layout *layout;
	tt_status status = TTNN_OK;

	TT_TRY(tt_mesh_layout_like(&layout, like));
	for (size_t i = 0; i < like->shard_count && status == TTNN_OK; i++)
		status = tt_buffer_storage_new(&layout->shards[i].storage, buffer, (uint32_t)i);
	if (status == TTNN_OK)
		*out = layout;
	else
		tt_mesh_layout_unref(layout);
	return status;
}

tt_status tt_device_tensor_in(struct tt_tensor **out, struct tt_buffer *buffer, uint32_t chip,
			      const struct ttnn_tensor_spec *spec,
			      const struct tt_mesh_layout *like)
{
	struct tt_mesh_layout *layout = NULL;
	struct tt_storage *storage;

	if (like) {
		TT_TRY(spread_like(&layout, like, buffer));
		storage = tt_storage_ref(layout->shards[0].storage);
	} else {
		TT_TRY(tt_buffer_storage_new(&storage, buffer, chip));
	}
	return tt_tensor_wrap(out, spec, storage, layout);
}

tt_status tt_device_tensor_part(struct tt_tensor **out, struct tt_tensor *tensor,
				const struct ttnn_tensor_spec *spec,
				const struct tt_buffer_part *part)
{
	struct tt_buffer_options options = {.mode = TT_BUFFER_PART, .part = part};
	struct tt_buffer_layout pages;
	struct tt_buffer *buffer;
	tt_status status;
	uint32_t chip;

	tt_buffer_of(&chip, tensor->storage);
	TT_TRY(tt_buffer_layout_make(&pages, part->whole->memory, spec));
	TT_TRY(tt_buffer_new(&buffer, part->whole->memory, &pages, &options));
	status = tt_device_tensor_in(out, buffer, chip, spec, tensor->layout);
	tt_buffer_unref(buffer);
	TT_TRY(status);
	(*out)->view = true;
	(*out)->spread = tensor->spread;
	return TTNN_OK;
}

tt_status tt_buffer_adopt(struct tt_buffer *buffer, struct tt_buffer *from)
{
	for (uint32_t chip = 0; buffer->layout.size && chip < buffer->memory->chips; chip++) {
		struct tt_storage *bytes;
		tt_status status;

		TT_TRY(tt_buffer_data(&bytes, from, chip, TT_BUFFER_READ));
		status = tt_buffer_set_data(buffer, chip, bytes);
		tt_storage_unref(bytes);
		TT_TRY(status);
	}
	return TTNN_OK;
}

tt_status tt_device_tensor_adopt(struct tt_tensor *tensor, struct tt_tensor *from)
{
	if (current == TTNN_RUN_NO_DISPATCH)
		return TTNN_OK;
	return tt_buffer_adopt(tt_tensor_buffer(tensor), tt_tensor_buffer(from));
}

tt_status tt_device_tensor_ghost(struct tt_tensor **out, struct tt_tensor *tensor)
{
	struct tt_buffer *old = tt_tensor_buffer(tensor), *buffer;
	struct tt_buffer_options options = {.mode = TT_BUFFER_GHOST, .address = old->address};
	struct tt_tensor *ghost;
	tt_status status;

	TT_TRY(tt_buffer_new(&buffer, old->memory, &old->layout, &options));
	TT_TRY(wrap(&ghost, tt_tensor_device(tensor), buffer, &tensor->spec));
	ghost->view = true;
	ghost->spread = tensor->spread;
	status = tt_device_tensor_adopt(ghost, tensor);
	if (status == TTNN_OK)
		*out = ghost;
	else
		ttnn_tensor_unref(ghost);
	return status;
}

struct tt_device *tt_tensor_device(const struct tt_tensor *tensor)
{
	struct tt_buffer *buffer = tt_buffer_of(NULL, tensor->storage);

	return buffer ? atomic_load_explicit(&buffer->memory->device, memory_order_acquire) : NULL;
}

struct tt_buffer *tt_tensor_buffer(const struct tt_tensor *tensor)
{
	struct tt_buffer *buffer = tt_buffer_of(NULL, tensor->storage);

	if (!buffer)
		return NULL;
	if (tensor->state) /* what it is a view of may be gone */
		return !atomic_load(&tensor->state->gone) && tt_buffer_is_readable(buffer) ? buffer
											   : NULL;
	return tt_buffer_is_allocated(buffer) ? buffer : NULL;
}

/* Whether nobody but this tensor, which has the layout alone, refers to its shards or the buffer. */
static bool shards_are_own(const struct tt_tensor *tensor, const struct tt_buffer *buffer)
{
	const struct tt_mesh_layout *layout = tensor->layout;
	uint32_t storages = 0;

	for (size_t i = 0; i < layout->shard_count; i++) {
		struct tt_storage *storage = layout->shards[i].storage;
		uint32_t uses = storage == tensor->storage;
		bool first = true;

		for (size_t k = 0; k < layout->shard_count; k++) {
			uses += layout->shards[k].storage == storage;
			first &= k >= i || layout->shards[k].storage != storage;
		}
		if (tt_buffer_of(NULL, storage) != buffer || atomic_load(&storage->refs) != uses)
			return false;
		storages += first;
	}
	return atomic_load(&buffer->refs) == storages;
}

bool tt_tensor_is_sole(const struct tt_tensor *tensor)
{
	struct tt_buffer *buffer = tt_tensor_buffer(tensor);

	if (!buffer)
		return false;
	/* Of a part only who has what it is a part of alone, too. */
	for (const struct tt_buffer *of = buffer; of->mode == TT_BUFFER_PART; of = of->part.whole)
		if (atomic_load(&of->part.whole->refs) != 1)
			return false;
	if (tensor->layout)
		return atomic_load(&tensor->layout->refs) == 1 && shards_are_own(tensor, buffer);
	return atomic_load(&tensor->storage->refs) == 1 && atomic_load(&buffer->refs) == 1;
}

bool tt_tensor_owns_alone(const struct tt_tensor *tensor)
{
	return atomic_load(&tensor->refs) == 1 && tt_tensor_is_sole(tensor);
}

bool ttnn_tensor_deallocate(ttnn_tensor *tensor, bool force)
{
	struct tt_buffer *buffer = tt_tensor_buffer(tensor);

	if (!buffer || !(force || tt_tensor_owns_alone(tensor)) ||
	    (rerunning && tt_buffer_root(buffer)->mode == TT_BUFFER_REAL))
		return false;
	tt_tensor_give_up(tensor);
	return true;
}

void tt_tensor_give_up(struct tt_tensor *tensor)
{
	struct tt_buffer *buffer = tt_buffer_of(NULL, tensor->storage);

	tt_tensor_give_up_view(tensor);
	/* Who gives up a part gives up what it is a part of, as upstream does. */
	for (; buffer; buffer = buffer->part.whole)
		tt_buffer_deallocate(buffer);
}

bool ttnn_tensor_is_allocated(const ttnn_tensor *tensor)
{
	return !tt_buffer_of(NULL, tensor->storage) || tt_tensor_buffer(tensor);
}

uint32_t tt_tensor_chips(const struct tt_tensor *tensor)
{
	return tensor->layout ? (uint32_t)tensor->layout->shard_count : 1;
}

/* Bytes at hand are no tensor that anyone counts. */
static tt_status wrap_hidden(struct tt_tensor **out, const struct ttnn_tensor_spec *spec,
			     struct tt_storage *storage)
{
	bool before = tt_tensor_hide(true);
	tt_status status = tt_tensor_wrap(out, spec, storage, NULL);

	tt_tensor_hide(before);
	return status;
}

tt_status tt_tensor_resident(struct tt_tensor **out, struct tt_tensor *tensor, uint32_t chip,
			     enum tt_buffer_access access)
{
	const struct tt_mesh_layout *layout = tensor->layout;
	struct tt_storage *storage = tensor->storage;
	struct tt_buffer *buffer;
	uint32_t own;

	if (layout && chip >= layout->shard_count)
		return tt_fail(TTNN_INVALID, "there is no shard %" PRIu32 ", the tensor has %zu",
			       chip, layout->shard_count);
	if (layout)
		storage = layout->shards[chip].storage;
	/* The storage knows its chip: a part that was taken out of a mesh lies on another than 0. */
	buffer = tt_buffer_of(&own, storage);
	if (buffer) {
		TT_TRY(tt_buffer_data(&storage, buffer, own, access));
		return wrap_hidden(out, &tensor->spec, storage);
	}
	if (layout)
		return wrap_hidden(out, &tensor->spec, tt_storage_ref(storage));
	*out = ttnn_tensor_ref(tensor);
	return TTNN_OK;
}

tt_status tt_tensor_numbers(double *out, uint64_t count, struct tt_tensor *tensor)
{
	const struct ttnn_tensor_spec *spec = &tensor->spec;
	enum ttnn_dtype plain = tt_dtype_is_block(spec->dtype) ? TTNN_FLOAT32 : spec->dtype;
	struct tt_tensor *resident;
	struct tt_area rows, area;
	tt_status status;
	void *elements;

	if (!count)
		return TTNN_OK;
	TT_TRY(tt_tensor_resident(&resident, tensor, 0, TT_BUFFER_READ));
	if (!resident->storage->data) {
		ttnn_tensor_unref(resident);
		return tt_fail(TTNN_STATE, "the buffer of a dry run has no data");
	}
	elements = tt_calloc(count, tt_dtype_bytes(plain));
	if (!elements) {
		ttnn_tensor_unref(resident);
		return tt_fail_nomem();
	}
	rows = tt_area_rows(elements, &spec->shape, plain);
	area = tt_area_of(resident->storage->data, spec);
	status = tt_layout_copy(&rows, &area, NULL);
	if (status == TTNN_OK)
		status = tt_convert_to_f64(out, elements, plain, count);
	tt_free(elements);
	ttnn_tensor_unref(resident);
	return status;
}
