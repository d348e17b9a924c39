/* What a bank of memory has at an address: the bytes of the pages that lie there. */
#include <inttypes.h>
#include <string.h>
#include <ttnn_frontend.h>

#include "device/buffer.h"
#include "device/device.h"

/* Bytes of a bank that are wanted. */
struct window {
	uint8_t *out;
	uint64_t first, end;
	uint32_t bank;
};

/* Copies what a page and the window have in common. */
static void copy_page(const struct window *window, const struct tt_buffer_page *page,
		      const struct tt_buffer *buffer, const struct tt_storage *storage)
{
	uint64_t from = page->address, to = from + buffer->layout.page_size;
	uint64_t offset = page->index * buffer->layout.page_size;

	if (offset >= storage->bytes)
		return;
	if (to - from > storage->bytes - offset)
		to = from + storage->bytes - offset;
	if (from < window->first) {
		offset += window->first - from;
		from = window->first;
	}
	if (to > window->end)
		to = window->end;
	if (from < to)
		memcpy(window->out + (from - window->first),
		       (const uint8_t *)storage->data + offset, (size_t)(to - from));
}

/* Interleaved pages are dealt to the banks in turn: those of one bank follow from the first. */
static void copy_interleaved(const struct window *window, const struct tt_buffer *buffer,
			     const struct tt_storage *storage)
{
	const struct tt_buffer_layout *layout = &buffer->layout;
	uint32_t banks = tt_devmem_banks(buffer->memory, layout->type)->count;
	uint64_t row = window->first > buffer->address
			       ? (window->first - buffer->address) / layout->aligned_page
			       : 0;

	for (uint64_t index = row * banks; index < layout->pages; index++) {
		struct tt_buffer_page page = tt_buffer_find_page(buffer, index);

		if (page.address >= window->end)
			return;
		if (page.bank == window->bank)
			copy_page(window, &page, buffer, storage);
	}
}

static void copy_sharded(const struct window *window, const struct tt_buffer *buffer,
			 const struct tt_storage *storage)
{
	struct tt_buffer_walk walk = {0};
	struct tt_buffer_page page;

	while (tt_buffer_next_page(&page, &walk, buffer))
		if (page.bank == window->bank && page.address < window->end)
			copy_page(window, &page, buffer, storage);
}

static tt_status copy_buffer(const struct window *window, struct tt_buffer *buffer, uint32_t chip)
{
	const struct tt_buffer_layout *layout = &buffer->layout;
	struct tt_storage *storage;

	if (layout->type != TTNN_DRAM || buffer->mode != TT_BUFFER_REAL ||
	    buffer->address >= window->end || buffer->address + layout->bank_bytes <= window->first)
		return TTNN_OK;
	TT_TRY(tt_buffer_data(&storage, buffer, chip, TT_BUFFER_READ));
	if (layout->cores)
		copy_sharded(window, buffer, storage);
	else
		copy_interleaved(window, buffer, storage);
	tt_storage_unref(storage);
	return TTNN_OK;
}

enum ttnn_status ttnn_device_read_bank(void *out, size_t bytes, ttnn_device *device,
				       const struct ttnn_bank_place *at)
{
	struct window window = {out, at->address, at->address + bytes, at->bank};
	const struct tt_banks *banks = tt_devmem_banks(device->memory, TTNN_DRAM);
	struct tt_buffer **buffers;
	tt_status status = TTNN_OK;
	size_t count;

	if (at->chip >= device->memory->chips)
		return tt_fail(TTNN_INVALID, "there is no chip %" PRIu32 " in a mesh of %" PRIu32,
			       at->chip, device->memory->chips);
	if (at->bank >= banks->count)
		return tt_fail_cond(TTNN_INVALID, "dram_view < desc_to_use.get_num_dram_views()",
				    "Bounds-Error -- dram_view=%" PRIu32
				    " is outside of num_dram_views=%" PRIu32,
				    at->bank, banks->count);
	if (window.end < at->address)
		return tt_fail(TTNN_INVALID, "there is no address %" PRIu64 " in DRAM",
			       at->address);
	memset(out, 0, bytes);
	TT_TRY(tt_devmem_list(&buffers, &count, device->memory));
	for (size_t i = 0; i < count && status == TTNN_OK; i++)
		status = copy_buffer(&window, buffers[i], at->chip);
	tt_devmem_free_list(buffers, count);
	return status;
}
