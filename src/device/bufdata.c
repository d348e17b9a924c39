/* What buffers of modelled chips contain: host memory, made when it is first asked for. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "device/buffer.h"
#include "device/device.h"

static tt_status check(const struct tt_buffer *buffer, uint32_t chip)
{
	if (chip >= buffer->memory->chips)
		return tt_fail(TTNN_INVALID, "there is no chip %" PRIu32 " in a mesh of %" PRIu32,
			       chip, buffer->memory->chips);
	if (buffer->mode == TT_BUFFER_SHADOW || buffer->mode == TT_BUFFER_BLIND)
		return tt_fail(TTNN_STATE, "the buffer of a dry run has no data");
	if (!tt_buffer_is_readable(buffer))
		return tt_fail(TTNN_STATE, "the buffer was deallocated: its data is gone");
	return TTNN_OK;
}

/* What a chip has now, with a reference of the caller's to it. */
static struct tt_buffer_slot present(struct tt_buffer *buffer, uint32_t chip)
{
	struct tt_buffer_slot slot = {NULL, false};

	tt_lock_take(&buffer->memory->lock);
	if (buffer->data && buffer->data[chip].storage) {
		slot = buffer->data[chip];
		tt_storage_ref(slot.storage);
	}
	tt_lock_give(&buffer->memory->lock);
	return slot;
}

/*
 * Puts bytes in the place of `old`, to which the caller has a reference (NULL: none were there).
 * False when others were put there meanwhile, or the buffer was deallocated.
 */
static bool exchange(struct tt_buffer *buffer, uint32_t chip, const struct tt_storage *old,
		     struct tt_buffer_slot slot)
{
	struct tt_storage *replaced = NULL;
	bool done;

	tt_lock_take(&buffer->memory->lock);
	done = buffer->data && buffer->data[chip].storage == old;
	if (done) {
		replaced = buffer->data[chip].storage;
		buffer->data[chip] = slot;
		tt_storage_ref(slot.storage);
	}
	tt_lock_give(&buffer->memory->lock);
	tt_storage_unref(replaced);
	return done;
}

/* Slots for all chips, made once. */
static tt_status ensure_slots(struct tt_buffer *buffer)
{
	struct tt_buffer_slot *slots = tt_calloc(buffer->memory->chips, sizeof(*slots));

	if (!slots)
		return tt_fail_nomem();
	tt_lock_take(&buffer->memory->lock);
	if (!buffer->data && tt_buffer_is_readable(buffer)) {
		buffer->data = slots;
		slots = NULL;
	}
	tt_lock_give(&buffer->memory->lock);
	tt_free(slots);
	return TTNN_OK;
}

/* New bytes with the content that this access may rely on. */
static tt_status renew(struct tt_storage **out, const struct tt_storage *old, uint64_t bytes,
		       enum tt_buffer_access access)
{
	if (access != TT_BUFFER_OVERWRITE && !old)
		return tt_storage_zeroed(out, bytes);
	TT_TRY(tt_storage_new(out, bytes));
	if (access != TT_BUFFER_OVERWRITE)
		memcpy((*out)->data, old->data, (size_t)bytes);
	return TTNN_OK;
}

/* Replaces what is there by new bytes; *done is false when another thread was faster. */
static tt_status replace(struct tt_storage **out, bool *done, struct tt_buffer *buffer,
			 uint32_t chip, enum tt_buffer_access access)
{
	struct tt_storage *old = present(buffer, chip).storage, *made = NULL;
	tt_status status = old ? TTNN_OK : ensure_slots(buffer);

	if (status == TTNN_OK)
		status = renew(&made, old, buffer->layout.size, access);
	*done = status == TTNN_OK &&
		exchange(buffer, chip, old, (struct tt_buffer_slot){made, true});
	tt_storage_unref(old);
	if (*done)
		*out = made;
	else
		tt_storage_unref(made);
	return status;
}

/* ---- parts --------------------------------------------------------------------------------- */

#define WINDOW_ALIGN 64 /* as host memory is */

/* The bytes of a part: those of the whole where they lie, or a copy of its stretches that is put back. */
struct window {
	struct tt_storage storage; /* first: others see only this */
	struct tt_storage *whole, *copy;
	struct tt_buffer_part part;
	bool writes;
};

static void copy_stretches(const struct window *window, bool back)
{
	const struct tt_buffer_part *part = &window->part;
	char *whole = (char *)window->whole->data + part->offset, *own = window->storage.data;

	for (uint64_t done = 0; done < window->storage.bytes; done += part->run) {
		memcpy(back ? whole : own + done, back ? own + done : whole, (size_t)part->run);
		whole += part->pitch;
	}
}

static void close_window(struct tt_storage *storage)
{
	struct window *window = (struct window *)storage;

	if (window->copy && window->writes)
		copy_stretches(window, true);
	tt_storage_unref(window->copy);
	tt_storage_unref(window->whole);
	tt_free(window);
}

static const struct tt_storage_ops window_ops = {.name = "host", .destroy = close_window};

/* Takes over the reference to the bytes of the whole when it succeeds. */
static tt_status open_window(struct tt_storage **out, struct tt_storage *whole,
			     const struct tt_buffer *buffer, enum tt_buffer_access access)
{
	const struct tt_buffer_part *part = &buffer->part;
	char *bytes = (char *)whole->data + part->offset;
	struct window *window = tt_calloc(1, sizeof(*window));
	tt_status status = TTNN_OK;

	if (!window)
		return tt_fail_nomem();
	window->whole = whole;
	window->part = *part;
	window->writes = access != TT_BUFFER_READ;
	if (part->run < buffer->layout.size || (uintptr_t)bytes % WINDOW_ALIGN != 0)
		status = tt_storage_new(&window->copy, buffer->layout.size);
	if (status != TTNN_OK) {
		tt_free(window);
		return status;
	}
	tt_storage_init(&window->storage, &window_ops, window->copy ? window->copy->data : bytes,
			buffer->layout.size);
	if (window->copy && access != TT_BUFFER_OVERWRITE)
		copy_stretches(window, false);
	*out = &window->storage;
	return TTNN_OK;
}

static tt_status part_data(struct tt_storage **out, struct tt_buffer *buffer, uint32_t chip,
			   enum tt_buffer_access access)
{
	struct tt_storage *whole;
	tt_status status;

	TT_TRY(check(buffer, chip));
	TT_TRY(tt_buffer_data(&whole, buffer->part.whole, chip,
			      access == TT_BUFFER_READ ? access : TT_BUFFER_UPDATE));
	status = open_window(out, whole, buffer, access);
	if (status != TTNN_OK)
		tt_storage_unref(whole);
	return status;
}

static tt_status set_part(struct tt_buffer *buffer, uint32_t chip, const struct tt_storage *storage)
{
	struct tt_storage *own;

	TT_TRY(part_data(&own, buffer, chip, TT_BUFFER_OVERWRITE));
	memcpy(own->data, storage->data, (size_t)storage->bytes);
	tt_storage_unref(own);
	return TTNN_OK;
}

/* ---- the door ------------------------------------------------------------------------------ */

tt_status tt_buffer_data(struct tt_storage **out, struct tt_buffer *buffer, uint32_t chip,
			 enum tt_buffer_access access)
{
	if (buffer->mode == TT_BUFFER_PART)
		return part_data(out, buffer, chip, access);
	for (bool done = false; !done;) {
		struct tt_buffer_slot slot;

		TT_TRY(check(buffer, chip));
		slot = present(buffer, chip);
		/* Two references: the buffer's and the one just taken. */
		if (slot.storage && (access == TT_BUFFER_READ ||
				     (slot.own && atomic_load(&slot.storage->refs) == 2))) {
			*out = slot.storage;
			return TTNN_OK;
		}
		tt_storage_unref(slot.storage);
		TT_TRY(replace(out, &done, buffer, chip, access));
	}
	return TTNN_OK;
}

tt_status tt_buffer_set_data(struct tt_buffer *buffer, uint32_t chip, struct tt_storage *storage)
{
	if (!storage->data || storage->bytes != buffer->layout.size)
		return tt_fail(TTNN_INVALID,
			       "a buffer of %" PRIu64 " bytes cannot take %" PRIu64 " bytes of %s",
			       buffer->layout.size, storage->bytes, storage->ops->name);
	if (buffer->mode == TT_BUFFER_PART)
		return set_part(buffer, chip, storage);
	for (bool done = false; !done;) {
		struct tt_storage *old;
		tt_status status;

		TT_TRY(check(buffer, chip));
		old = present(buffer, chip).storage;
		status = old ? TTNN_OK : ensure_slots(buffer);
		done = status == TTNN_OK &&
		       exchange(buffer, chip, old, (struct tt_buffer_slot){storage, false});
		tt_storage_unref(old);
		TT_TRY(status);
	}
	return TTNN_OK;
}

void tt_buffer_drop_data(struct tt_buffer *buffer)
{
	struct tt_buffer_slot *slots;

	tt_lock_take(&buffer->memory->lock);
	slots = buffer->data;
	buffer->data = NULL;
	tt_lock_give(&buffer->memory->lock);
	for (uint32_t i = 0; slots && i < buffer->memory->chips; i++)
		tt_storage_unref(slots[i].storage);
	tt_free(slots);
}

/* ---- storage of tensors -------------------------------------------------------------------- */

struct device_storage {
	struct tt_storage storage; /* first: others see only this */
	struct tt_buffer *buffer;
	uint32_t chip;
};

static void destroy(struct tt_storage *storage)
{
	struct device_storage *own = (struct device_storage *)storage;

	tt_buffer_unref(own->buffer);
	tt_free(own);
}

static struct tt_storage_place place(const struct tt_storage *storage)
{
	const struct tt_buffer *buffer = ((const struct device_storage *)storage)->buffer;
	const struct tt_device *device =
		atomic_load_explicit(&buffer->memory->device, memory_order_acquire);
	struct tt_storage_place out = {.open = device != NULL};

	if (device) {
		out.rows = device->rows;
		out.cols = device->cols;
	}
	if (!tt_buffer_is_readable(buffer))
		return out;
	out.buffer_id = buffer->id;
	out.address = buffer->address;
	out.device_id = buffer->memory->device_id;
	return out;
}

static void viewed(struct tt_storage *storage, bool begins)
{
	tt_buffer_viewed(((struct device_storage *)storage)->buffer, begins);
}

static const struct tt_storage_ops device_ops = {
	.name = "device", .destroy = destroy, .place = place, .viewed = viewed};

tt_status tt_buffer_storage_new(struct tt_storage **out, struct tt_buffer *buffer, uint32_t chip)
{
	struct device_storage *own = tt_calloc(1, sizeof(*own));

	if (!own)
		return tt_fail_nomem();
	tt_storage_init(&own->storage, &device_ops, NULL, buffer->layout.size);
	own->buffer = tt_buffer_ref(buffer);
	own->chip = chip;
	*out = &own->storage;
	return TTNN_OK;
}

struct tt_buffer *tt_buffer_of(uint32_t *chip, const struct tt_storage *storage)
{
	const struct device_storage *own = (const struct device_storage *)storage;

	if (storage->ops != &device_ops)
		return NULL;
	if (chip)
		*chip = own->chip;
	return own->buffer;
}
