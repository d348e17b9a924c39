/*
 * memory_model.h: device memory in the plainest way: a listener that keeps a list of what lives, and adds
 * all of it up again after every event. It shares nothing with the recorder, the reader, the projection
 * and the views.
 */
#ifndef TT_TESTS_MEMORY_MODEL_H
#define TT_TESTS_MEMORY_MODEL_H

#include <stdlib.h>

#include "base/mem.h"
#include "device/device.h"
#include "event/event.h"

#define MEMORY_MODEL_GRID 16

struct memory_sums {
	uint64_t dram, l1, core;
};

struct memory_model {
	struct tt_event_listener listener;
	struct tt_event_buffer *live;
	size_t live_count, live_room;
	struct tt_event_program_memory rows[512]; /* of the last program, of every chip */
	size_t row_count;
	uint32_t program_device;
	struct memory_sums peak;
	struct memory_sums *after; /* each allocation and free */
	size_t after_count, after_room;
};

static inline void memory_model_keep(struct memory_model *m, const struct tt_event_buffer *buffer)
{
	for (size_t i = 0; i < m->live_count; i++)
		if (m->live[i].buffer_id == buffer->buffer_id)
			return;
	if (m->live_count == m->live_room) {
		m->live_room = m->live_room ? 2 * m->live_room : 16;
		m->live = realloc(m->live, m->live_room * sizeof(*m->live));
		if (!m->live)
			abort();
	}
	m->live[m->live_count++] = *buffer;
}

static inline void memory_model_drop(struct memory_model *m, uint64_t id)
{
	for (size_t i = 0; i < m->live_count; i++)
		if (m->live[i].buffer_id == id)
			m->live[i--] = m->live[--m->live_count];
}

/* What the rows on one chip take of a core. */
static inline uint64_t memory_model_rows(const struct memory_model *m, uint32_t chip, uint32_t x,
					 uint32_t y)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < m->row_count; i++) {
		const struct tt_event_program_memory *row = &m->rows[i];
		size_t count = 0;
		const struct ttnn_core_range *range = ttnn_core_set_ranges(row->cores, &count);

		for (; count && row->device_id == chip && !row->borrowed; count--, range++)
			if (x >= range->start.x && x <= range->end.x && y >= range->start.y &&
			    y <= range->end.y)
				sum += row->size;
	}
	return sum;
}

static inline uint64_t memory_model_program(const struct memory_model *m)
{
	uint64_t most = 0;

	for (size_t i = 0; i < m->row_count; i++)
		for (uint32_t x = 0; x < MEMORY_MODEL_GRID; x++)
			for (uint32_t y = 0; y < MEMORY_MODEL_GRID; y++) {
				uint64_t sum = memory_model_rows(m, m->rows[i].device_id, x, y);

				most = sum > most ? sum : most;
			}
	return most;
}

static inline struct memory_sums memory_model_sums(const struct memory_model *m)
{
	struct memory_sums sums = {.core = memory_model_program(m)};
	uint64_t program = sums.core;

	for (size_t i = 0; i < m->live_count; i++) {
		uint64_t core = m->live[i].device_id == m->program_device ? program : 0;

		if (m->live[i].type == TTNN_DRAM || m->live[i].type == TTNN_TRACE) {
			sums.dram += m->live[i].size;
			continue;
		}
		sums.l1 += m->live[i].size;
		for (size_t k = 0; k < m->live_count; k++)
			if (m->live[k].type != TTNN_DRAM && m->live[k].type != TTNN_TRACE &&
			    m->live[k].device_id == m->live[i].device_id)
				core += m->live[k].bank_size;
		sums.core = core > sums.core ? core : sums.core;
	}
	return sums;
}

static inline void memory_model_hear(struct tt_event_listener *self, const struct tt_event *event)
{
	struct memory_model *m = (struct memory_model *)self;
	struct memory_sums sums;
	bool buffer = false;

	switch (event->kind) {
	case TT_EVENT_BUFFER_ALLOC:
		memory_model_keep(m, &event->buffer);
		buffer = true;
		break;
	case TT_EVENT_BUFFER_FREE:
		memory_model_drop(m, event->buffer.buffer_id);
		buffer = true;
		break;
	case TT_EVENT_PROGRAM_RELEASE:
		m->row_count = 0;
		m->program_device = event->device.device_id;
		break;
	case TT_EVENT_PROGRAM_MEMORY:
		if (event->memory.kind != TT_MEMORY_PLANNED && m->row_count < 512)
			m->rows[m->row_count++] = event->memory;
		break;
	case TT_EVENT_PROGRAM:
		if (event->program.memory.count)
			m->row_count = 0;
		for (size_t i = 0; i < event->program.memory.count; i += TT_MEMORY_VALUES) {
			const struct ttnn_value *v = &event->program.memory.values[i];

			m->program_device = event->program.device_id;
			m->rows[m->row_count++] = (struct tt_event_program_memory){
				.size = (uint64_t)v[TT_MEMORY_SIZE].integer,
				.borrowed = v[TT_MEMORY_BORROWED].boolean,
				.cores = v[TT_MEMORY_CORES].core_set};
		}
		break;
	default:
		return;
	}
	sums = memory_model_sums(m);
	m->peak.dram = sums.dram > m->peak.dram ? sums.dram : m->peak.dram;
	m->peak.l1 = sums.l1 > m->peak.l1 ? sums.l1 : m->peak.l1;
	m->peak.core = sums.core > m->peak.core ? sums.core : m->peak.core;
	if (!buffer)
		return;
	if (m->after_count == m->after_room) {
		m->after_room = m->after_room ? 2 * m->after_room : 64;
		m->after = realloc(m->after, m->after_room * sizeof(*m->after));
		if (!m->after)
			abort();
	}
	m->after[m->after_count++] = sums;
}

/* Begins with what lives on a device, or on none (NULL). */
static inline void memory_model_begin(struct memory_model *m, struct tt_device *device)
{
	struct tt_event_buffer *there = NULL;
	size_t count = 0;

	*m = (struct memory_model){.listener = {.emit = memory_model_hear}};
	if (device && tt_devmem_facts(&there, &count, device->memory) != TTNN_OK)
		abort();
	for (size_t i = 0; i < count; i++)
		memory_model_keep(m, &there[i]);
	tt_free(there);
	m->peak = memory_model_sums(m);
	if (tt_event_attach(&m->listener) != TTNN_OK)
		abort();
}

static inline void memory_model_end(struct memory_model *m)
{
	tt_event_detach(&m->listener);
}

static inline void memory_model_free(struct memory_model *m)
{
	free(m->live);
	free(m->after);
}

#endif
