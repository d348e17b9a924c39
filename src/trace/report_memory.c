/* report_memory.c: pages of buffers, and the buffers that live when functions end. */
#include "trace/report_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "device/buffer.h"
#include "device/device.h"

#define FOREVER UINT64_MAX

/* A buffer, for as long as it lived. Places in time count the allocations and frees of the capture. */
struct span {
	struct tt_event_buffer buffer;
	uint64_t born, died;      /* born 0: before the capture; died FOREVER: it lives */
	uint64_t allocation;      /* which of all allocations it is, from 1; 0: none of them */
	struct tt_devmem *memory; /* borrowed from the list; NULL: the device is closed */
	struct tt_buffer_layout layout; /* when `known` */
	bool known;                     /* by a tensor in it, or because it lives */
};

struct tt_graph_report_memory {
	TT_VEC(struct span) spans;
	bool live;                           /* the devices are open here */
	TT_VEC(struct tt_devmem *) memories; /* of the devices, each a reference */
	struct tt_map by_id;                 /* buffer id → index of its span + 1 */
	uint64_t events, allocations;
	tt_status status;
};

/* ---- reading ----------------------------------------------------------------------------------- */

static void add_memory(void *context, const struct tt_event_device *device)
{
	struct tt_graph_report_memory *m = context;
	struct tt_devmem **slot = device->device ? TT_VEC_PUSH(&m->memories) : NULL;

	if (slot)
		*slot = tt_devmem_ref(device->device->memory);
	else if (device->device)
		m->status = TTNN_NOMEM;
}

static struct tt_devmem *memory_of(const struct tt_graph_report_memory *m, uint32_t device_id)
{
	for (size_t i = 0; i < m->memories.count; i++) {
		if (m->memories.data[i]->device_id == device_id)
			return m->memories.data[i];
	}
	return NULL;
}

/* What limits of a chip there may be: more than that is a damaged trace. */
#define GRID_MAX 1024
#define BANKS_MAX 4096

static bool is_alignment(uint32_t bytes)
{
	return bytes && bytes <= 1 << 20 && !(bytes & (bytes - 1));
}

/* The memory of a device that is not open here, with nothing in it: to know where pages lie. */
static tt_status add_recorded(struct tt_graph_report_memory *m,
			      const struct tt_event_device *device)
{
	const struct ttnn_device_info *info = device->info;
	struct tt_devmem_config config = {
		.allocator = {.dram_banks = info->dram_banks,
			      .dram_align = info->dram_alignment,
			      .l1_align = info->l1_alignment,
			      .dram_base = info->dram_base,
			      .dram_bank_size = info->dram_bank_size,
			      .l1_base = info->l1_base,
			      .l1_size = info->l1_size},
		.grid_width = info->compute_grid.x,
		.grid_height = info->compute_grid.y,
		.chips = 1,
		.device_id = device->device_id,
	};
	struct tt_devmem **slot;

	if (memory_of(m, device->device_id) || !config.grid_width || !config.grid_height ||
	    config.grid_width > GRID_MAX || config.grid_height > GRID_MAX || !info->dram_banks ||
	    info->dram_banks > BANKS_MAX || !is_alignment(info->dram_alignment) ||
	    !is_alignment(info->l1_alignment))
		return TTNN_OK;
	slot = TT_VEC_PUSH(&m->memories);
	if (!slot)
		return tt_fail_nomem();
	m->memories.count--; /* until it is there */
	TT_TRY(tt_devmem_new(slot, &config));
	m->memories.count++;
	return TTNN_OK;
}

/* The span of a buffer, made when it is new; NULL when memory is exhausted. */
static struct span *span_of(struct tt_graph_report_memory *m, const struct tt_event_buffer *buffer)
{
	struct tt_map_entry *entry =
		tt_map_add(&m->by_id, &buffer->buffer_id, sizeof(buffer->buffer_id), NULL);

	if (!entry)
		return NULL;
	if (!entry->number) {
		struct span *span = TT_VEC_PUSH(&m->spans);

		if (!span)
			return NULL;
		*span = (struct span){.buffer = *buffer,
				      .died = FOREVER,
				      .memory = memory_of(m, buffer->device_id)};
		entry->number = m->spans.count;
	}
	return &m->spans.data[entry->number - 1];
}

/* The first tensor in a buffer tells how its pages lie; later ones may be views. */
static void learn_layouts(struct tt_graph_report_memory *m, const struct tt_event_tensor *tensors,
			  size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct tt_map_entry *entry =
			tt_map_find(&m->by_id, &tensors[i].buffer_id, sizeof(tensors[i].buffer_id));
		struct span *span = entry ? &m->spans.data[entry->number - 1] : NULL;

		if (!span || span->known || !span->memory || !tensors[i].spec)
			continue;
		span->known = tt_buffer_layout_make(&span->layout, span->memory, tensors[i].spec) ==
			      TTNN_OK;
	}
}

static tt_status read_event(struct tt_graph_report_memory *m, const struct tt_event *event)
{
	struct span *span;

	switch (event->kind) {
	case TT_EVENT_BUFFER_ALLOC:
	case TT_EVENT_BUFFER_FREE:
		m->events++;
		m->allocations += event->kind == TT_EVENT_BUFFER_ALLOC;
		span = span_of(m, &event->buffer);
		if (!span)
			return tt_fail_nomem();
		if (event->kind == TT_EVENT_BUFFER_FREE) {
			span->died = m->events;
		} else {
			span->born = m->events;
			span->allocation = m->allocations;
		}
		return TTNN_OK;
	case TT_EVENT_BUFFER_THERE:
		/* Where devices are open, what lives now is asked of them, in the end. */
		return m->live || span_of(m, &event->buffer) ? TTNN_OK : tt_fail_nomem();
	case TT_EVENT_DEVICE_OPEN:
		return m->live || !event->device.info ? TTNN_OK : add_recorded(m, &event->device);
	case TT_EVENT_SCOPE_BEGIN:
		learn_layouts(m, event->begin.inputs, event->begin.input_count);
		return TTNN_OK;
	case TT_EVENT_SCOPE_END:
		learn_layouts(m, event->end.outputs, event->end.output_count);
		return TTNN_OK;
	case TT_EVENT_TENSOR:
		learn_layouts(m, event->mention.tensors, event->mention.count);
		return TTNN_OK;
	default:
		return TTNN_OK;
	}
}

/* Adds the buffers that live now: those without a span were there before the capture. */
static tt_status add_living(struct tt_graph_report_memory *m, struct tt_devmem *memory)
{
	struct tt_buffer **buffers;
	size_t count;
	tt_status status = TTNN_OK;

	TT_TRY(tt_devmem_list(&buffers, &count, memory));
	for (size_t i = 0; i < count && status == TTNN_OK; i++) {
		struct tt_event_buffer facts = tt_buffer_facts(buffers[i]);
		struct span *span = span_of(m, &facts);

		if (!span) {
			status = tt_fail_nomem();
			continue;
		}
		span->layout = buffers[i]->layout;
		span->known = true;
	}
	tt_devmem_free_list(buffers, count);
	return status;
}

static tt_status read_all(struct tt_graph_report_memory *m, struct tt_source *source)
{
	const struct tt_seen *seen;

	if (m->live)
		tt_event_each_device(add_memory, m);
	if (m->status != TTNN_OK)
		return tt_fail_nomem();
	tt_source_rewind(source);
	for (;;) {
		TT_TRY(tt_source_next(&seen, source));
		if (!seen)
			break;
		TT_TRY(read_event(m, &seen->event));
	}
	for (size_t i = 0; m->live && i < m->memories.count; i++)
		TT_TRY(add_living(m, m->memories.data[i]));
	return TTNN_OK;
}

tt_status tt_graph_report_memory_read(struct tt_graph_report_memory **out, struct tt_source *source,
				      bool live)
{
	struct tt_graph_report_memory *m = tt_calloc(1, sizeof(*m));
	tt_status status;

	if (!m)
		return tt_fail_nomem();
	m->live = live;
	status = read_all(m, source);
	if (status == TTNN_OK)
		*out = m;
	else
		tt_graph_report_memory_free(m);
	return status;
}

void tt_graph_report_memory_free(struct tt_graph_report_memory *memory)
{
	if (!memory)
		return;
	for (size_t i = 0; i < memory->memories.count; i++)
		tt_devmem_unref(memory->memories.data[i]);
	TT_VEC_DEINIT(&memory->memories);
	TT_VEC_DEINIT(&memory->spans);
	tt_map_deinit(&memory->by_id);
	tt_free(memory);
}

/* ---- pages --------------------------------------------------------------------------------------- */

static bool has_pages(const struct span *span)
{
	return span->memory && span->buffer.real &&
	       (span->buffer.type == TTNN_L1 || span->buffer.type == TTNN_L1_SMALL);
}

static void write_page(struct tt_jsonw *w, const struct span *span,
		       const struct tt_buffer_page *page)
{
	tt_jsonw_object(w);
	tt_jsonw_key_int(w, "address", (int64_t)span->buffer.address);
	tt_jsonw_key_int(w, "bank_id", page->reported_bank);
	tt_jsonw_key_int(w, "buffer_type", span->buffer.type);
	tt_jsonw_key_int(w, "core_x", page->core.x);
	tt_jsonw_key_int(w, "core_y", page->core.y);
	tt_jsonw_key_int(w, "device_id", span->buffer.device_id);
	tt_jsonw_key_int(w, "page_address", (int64_t)page->address);
	tt_jsonw_key_int(w, "page_index", (int64_t)page->index);
	tt_jsonw_key_int(w, "page_size", (int64_t)span->buffer.page_size);
	tt_jsonw_end(w);
}

/* All pages of a buffer, as values of an open array. */
static void write_pages(struct tt_jsonw *w, const struct span *span)
{
	struct tt_buffer buffer = {.memory = span->memory, .address = span->buffer.address};
	struct tt_buffer_walk walk = {0};
	struct tt_buffer_page page;

	if (span->known)
		buffer.layout = span->layout;
	else if (tt_buffer_layout_raw(&buffer.layout, span->memory, span->buffer.type,
				      span->buffer.size, span->buffer.page_size) != TTNN_OK)
		return;
	while (tt_buffer_next_page(&page, &walk, &buffer))
		write_page(w, span, &page);
}

void tt_graph_report_memory_pages(struct tt_jsonw *w, const struct tt_graph_report_memory *memory)
{
	tt_jsonw_key(w, "buffer_pages");
	tt_jsonw_array(w);
	for (size_t i = 0; i < memory->spans.count; i++) {
		const struct span *span = &memory->spans.data[i];

		if (span->died == FOREVER && has_pages(span))
			write_pages(w, span);
	}
	tt_jsonw_end(w);
}

/* A key of an object, which are in the order of texts: "10" before "2". */
struct key {
	char text[24];
	uint64_t order; /* of equal ones, and what it stands for */
};

static int compare_keys(const void *a, const void *b)
{
	const struct key *first = a, *second = b;
	int order = strcmp(first->text, second->text);

	if (order)
		return order;
	return first->order < second->order ? -1 : first->order > second->order;
}

static void set_key(struct key *key, uint64_t number, uint64_t order)
{
	snprintf(key->text, sizeof(key->text), "%" PRIu64, number);
	key->order = order;
}

/* The counters of the nodes that allocate buffers, in order; the caller's to free. */
struct counters {
	int64_t *data;
	size_t count, room;
};

static tt_status list_allocations(struct counters *out, struct tt_stream *stream)
{
	const struct tt_graph_node *node;

	TT_TRY(tt_stream_restart(stream));
	for (;;) {
		int64_t *counter;

		TT_TRY(tt_stream_next(&node, stream));
		if (!node)
			return TTNN_OK;
		if (node->type != TT_GRAPH_BUFFER_ALLOCATE)
			continue;
		counter = TT_VEC_PUSH(out);
		if (!counter)
			return tt_fail_nomem();
		*counter = node->counter;
	}
}

static void write_allocations(struct tt_jsonw *w, const struct tt_graph_report_memory *memory,
			      const struct key *keys, size_t count, const int64_t *nodes)
{
	if (!count)
		return;
	tt_jsonw_key(w, "buffer_pages_by_address");
	tt_jsonw_object(w);
	for (size_t i = 0; i < count; i++) {
		const struct span *span = &memory->spans.data[keys[i].order];
		bool first = i == 0 || strcmp(keys[i].text, keys[i - 1].text) != 0;
		bool last = i + 1 == count || strcmp(keys[i].text, keys[i + 1].text) != 0;

		if (first) {
			tt_jsonw_key(w, keys[i].text);
			tt_jsonw_array(w);
		}
		tt_jsonw_object(w);
		tt_jsonw_key_int(w, "alloc_counter", nodes[span->allocation - 1]);
		tt_jsonw_key(w, "pages");
		tt_jsonw_array(w);
		write_pages(w, span);
		tt_jsonw_end(w);
		tt_jsonw_end(w);
		if (last)
			tt_jsonw_end(w);
	}
	tt_jsonw_end(w);
}

tt_status tt_graph_report_memory_allocations(struct tt_jsonw *w,
					     const struct tt_graph_report_memory *memory,
					     struct tt_stream *stream)
{
	struct key *keys = tt_calloc(memory->spans.count + 1, sizeof(*keys));
	struct counters nodes = {0};
	tt_status status = keys ? list_allocations(&nodes, stream) : tt_fail_nomem();
	size_t count = 0;

	for (size_t i = 0; status == TTNN_OK && i < memory->spans.count; i++) {
		const struct span *span = &memory->spans.data[i];

		if (span->allocation && span->allocation <= nodes.count && has_pages(span))
			set_key(&keys[count++], span->buffer.address, i);
	}
	if (count > 0)
		qsort(keys, count, sizeof(*keys), compare_keys);
	if (status == TTNN_OK)
		write_allocations(w, memory, keys, count, nodes.data);
	tt_free(keys);
	TT_VEC_DEINIT(&nodes);
	return status;
}

/* ---- what lives when functions end -------------------------------------------------------------- */

/* Bytes in a bank without the padding of pages. */
static uint64_t listed_bytes(const struct span *span)
{
	uint64_t page = span->buffer.page_size, aligned = page;

	if (!page)
		return span->buffer.bank_size;
	if (span->memory) {
		uint64_t unit = tt_devmem_alignment(span->memory, span->buffer.type);

		aligned = unit ? (page + unit - 1) / unit * unit : page;
	}
	return span->buffer.bank_size / aligned * page;
}

static void write_living(struct tt_jsonw *w, const struct tt_graph_report_memory *memory,
			 uint64_t time)
{
	tt_jsonw_array(w);
	for (size_t i = 0; i < memory->spans.count; i++) {
		const struct span *span = &memory->spans.data[i];

		if (span->born > time || span->died <= time || !span->buffer.real)
			continue;
		tt_jsonw_object(w);
		tt_jsonw_key_int(w, "address", (int64_t)span->buffer.address);
		tt_jsonw_key_int(w, "buffer_layout", span->buffer.layout);
		tt_jsonw_key_int(w, "buffer_type", span->buffer.type);
		tt_jsonw_key_int(w, "device_id", span->buffer.device_id);
		tt_jsonw_key_int(w, "max_size_per_bank", (int64_t)listed_bytes(span));
		tt_jsonw_end(w);
	}
	tt_jsonw_end(w);
}

/* The outermost functions that ended, and when. */
struct keys {
	struct key *data;
	size_t count, room;
};

static tt_status list_ends(struct keys *out, struct tt_stream *stream)
{
	const struct tt_graph_node *node;
	uint64_t time = 0;
	int64_t open = 0;

	TT_TRY(tt_stream_restart(stream));
	for (;;) {
		struct key *key;

		TT_TRY(tt_stream_next(&node, stream));
		if (!node)
			return TTNN_OK;
		time += node->type == TT_GRAPH_BUFFER_ALLOCATE ||
			node->type == TT_GRAPH_BUFFER_DEALLOCATE;
		if (node->level != 1)
			continue;
		if (node->type == TT_GRAPH_FUNCTION_START)
			open = node->counter;
		if (node->type != TT_GRAPH_FUNCTION_END)
			continue;
		key = TT_VEC_PUSH(out);
		if (!key)
			return tt_fail_nomem();
		set_key(key, (uint64_t)open, time);
	}
}

tt_status tt_graph_report_memory_operations(struct tt_jsonw *w,
					    const struct tt_graph_report_memory *memory,
					    struct tt_stream *stream)
{
	struct keys keys = {0};
	tt_status status = list_ends(&keys, stream);

	if (status == TTNN_OK && keys.count) {
		qsort(keys.data, keys.count, sizeof(*keys.data), compare_keys);
		tt_jsonw_key(w, "per_operation_buffers");
		tt_jsonw_object(w);
		for (size_t i = 0; i < keys.count; i++) {
			tt_jsonw_key(w, keys.data[i].text);
			write_living(w, memory, keys.data[i].order);
		}
		tt_jsonw_end(w);
	}
	TT_VEC_DEINIT(&keys);
	return status;
}

/* ---- the machine ----------------------------------------------------------------------------------- */

static void add_cluster(void *context, const struct tt_event_device *device)
{
	struct tt_str *out = context;

	if (device->device && !out->length)
		tt_descriptor_write(out, &device->device->profile->cluster);
}

void tt_graph_report_cluster(struct tt_str *out)
{
	tt_event_each_device(add_cluster, out);
}

void tt_graph_report_cluster_of(struct tt_str *out, const char *profile_name)
{
	struct tt_profile *profile;

	if (tt_profile_open(&profile, profile_name) != TTNN_OK)
		return;
	tt_descriptor_write(out, &profile->cluster);
	tt_profile_unref(profile);
}
