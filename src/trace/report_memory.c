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

/* A key of an object, which are in the order of texts: "10" before "2". */
struct key {
	char text[24];
	uint64_t number;
	uint64_t order; /* of equal ones, and what it stands for */
};

struct tt_graph_report_memory {
	TT_VEC(struct span) spans;
	bool live;                           /* the devices are open here */
	TT_VEC(struct tt_devmem *) memories; /* of the devices, each a reference */
	struct tt_map by_id;                 /* buffer id → index of its span + 1 */
	uint64_t events, allocations;
	/* Of the nodes: the counters of those that allocate, in order; the outermost functions that ended, and when. */
	TT_VEC(int64_t) counters;
	TT_VEC(struct key) ends; /* in the order of texts */
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
	TT_VEC_DEINIT(&memory->counters);
	TT_VEC_DEINIT(&memory->ends);
	tt_map_deinit(&memory->by_id);
	tt_free(memory);
}

/* ---- pages --------------------------------------------------------------------------------------- */

static bool has_pages(const struct span *span)
{
	return span->memory && span->buffer.real &&
	       (span->buffer.type == TTNN_L1 || span->buffer.type == TTNN_L1_SMALL);
}

/* All pages of a buffer. */
static tt_status tell_pages(const struct span *span, const struct tt_memory_sink *sink,
			    void *context)
{
	struct tt_buffer buffer = {.memory = span->memory, .address = span->buffer.address};
	struct tt_buffer_walk walk = {0};
	struct tt_buffer_page page;

	if (span->known)
		buffer.layout = span->layout;
	else if (tt_buffer_layout_raw(&buffer.layout, span->memory, span->buffer.type,
				      span->buffer.size, span->buffer.page_size) != TTNN_OK)
		return TTNN_OK;
	while (tt_buffer_next_page(&page, &walk, &buffer))
		TT_TRY(sink->page(context, &(struct tt_memory_page){
						   .address = (int64_t)span->buffer.address,
						   .bank = page.reported_bank,
						   .type = span->buffer.type,
						   .core_x = page.core.x,
						   .core_y = page.core.y,
						   .device = span->buffer.device_id,
						   .page_address = (int64_t)page.address,
						   .page_index = (int64_t)page.index,
						   .page_size = (int64_t)span->buffer.page_size}));
	return TTNN_OK;
}

tt_status tt_graph_report_memory_living(const struct tt_graph_report_memory *memory,
					const struct tt_memory_sink *sink, void *context)
{
	for (size_t i = 0; i < memory->spans.count; i++) {
		const struct span *span = &memory->spans.data[i];

		if (span->died == FOREVER && has_pages(span))
			TT_TRY(tell_pages(span, sink, context));
	}
	return TTNN_OK;
}

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
	key->number = number;
	key->order = order;
}

tt_status tt_graph_report_memory_allocated(const struct tt_graph_report_memory *memory,
					   const struct tt_memory_sink *sink, void *context)
{
	struct key *keys = tt_calloc(memory->spans.count + 1, sizeof(*keys));
	tt_status status = keys ? TTNN_OK : tt_fail_nomem();
	size_t count = 0;

	for (size_t i = 0; keys && i < memory->spans.count; i++) {
		const struct span *span = &memory->spans.data[i];

		if (span->allocation && span->allocation <= memory->counters.count &&
		    has_pages(span))
			set_key(&keys[count++], span->buffer.address, i);
	}
	if (count > 0)
		qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 0; status == TTNN_OK && i < count; i++) {
		const struct span *span = &memory->spans.data[keys[i].order];

		status = sink->allocation(context, span->buffer.address,
					  memory->counters.data[span->allocation - 1]);
		if (status == TTNN_OK)
			status = tell_pages(span, sink, context);
	}
	tt_free(keys);
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

tt_status tt_graph_report_memory_ended(const struct tt_graph_report_memory *memory,
				       const struct tt_memory_sink *sink, void *context)
{
	for (size_t k = 0; k < memory->ends.count; k++) {
		uint64_t time = memory->ends.data[k].order;

		TT_TRY(sink->operation(context, memory->ends.data[k].number));
		for (size_t i = 0; i < memory->spans.count; i++) {
			const struct span *span = &memory->spans.data[i];

			if (span->born > time || span->died <= time || !span->buffer.real)
				continue;
			TT_TRY(sink->buffer(context,
					    &(struct tt_memory_buffer){
						    .address = (int64_t)span->buffer.address,
						    .layout = span->buffer.layout,
						    .type = span->buffer.type,
						    .device = span->buffer.device_id,
						    .bank_size = (int64_t)listed_bytes(span)}));
		}
	}
	return TTNN_OK;
}

/* ---- what nodes tell ------------------------------------------------------------------------------- */

static tt_status note_node(struct tt_graph_report_memory *m, const struct tt_graph_node *node,
			   uint64_t time, int64_t open)
{
	int64_t *counter;
	struct key *key;

	if (node->type == TT_GRAPH_BUFFER_ALLOCATE) {
		counter = TT_VEC_PUSH(&m->counters);
		if (!counter)
			return tt_fail_nomem();
		*counter = node->counter;
	}
	if (node->level != 1 || node->type != TT_GRAPH_FUNCTION_END)
		return TTNN_OK;
	key = TT_VEC_PUSH(&m->ends);
	if (!key)
		return tt_fail_nomem();
	set_key(key, (uint64_t)open, time);
	return TTNN_OK;
}

tt_status tt_graph_report_memory_number(struct tt_graph_report_memory *memory,
					struct tt_stream *stream)
{
	const struct tt_graph_node *node;
	uint64_t time = 0;
	int64_t open = 0;

	memory->counters.count = memory->ends.count = 0;
	TT_TRY(tt_stream_restart(stream));
	for (;;) {
		TT_TRY(tt_stream_next(&node, stream));
		if (!node)
			break;
		time += node->type == TT_GRAPH_BUFFER_ALLOCATE ||
			node->type == TT_GRAPH_BUFFER_DEALLOCATE;
		if (node->level == 1 && node->type == TT_GRAPH_FUNCTION_START)
			open = node->counter;
		TT_TRY(note_node(memory, node, time, open));
	}
	if (memory->ends.count)
		qsort(memory->ends.data, memory->ends.count, sizeof(*memory->ends.data),
		      compare_keys);
	return TTNN_OK;
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
