#include "trace/course.h"

#include <string.h>

#include "base/mem.h"
#include "tensor/distribution.h"
#include "tensor/shape.h"

uint64_t tt_course_bank_size(const struct ttnn_tensor_spec *spec, uint64_t banks)
{
	struct tt_distribution distribution;
	uint64_t pages = 0;

	if (spec->memory.has_shard || spec->memory.has_nd_shard) {
		if (tt_distribution_make(&distribution, spec) == TTNN_OK)
			pages = tt_distribution_core_pages(&distribution);
	} else if (banks) {
		pages = tt_div_up(spec->pages, banks);
	}
	return pages * spec->page_bytes;
}

void tt_course_deinit(struct tt_course *course)
{
	TT_VEC_DEINIT(&course->buffers);
	TT_VEC_DEINIT(&course->steps);
}

void tt_course_maker_deinit(struct tt_course_maker *maker)
{
	tt_paged_deinit(&maker->ids);
	TT_VEC_DEINIT(&maker->empty);
	TT_VEC_DEINIT(&maker->leaving);
	TT_VEC_DEINIT(&maker->theres);
}

static tt_status add_step(struct tt_course_maker *maker, struct tt_course_step step)
{
	struct tt_course_step *slot = TT_VEC_PUSH(&maker->course->steps);

	if (!slot)
		return tt_fail_nomem();
	*slot = step;
	return TTNN_OK;
}

/* ---- buffers -------------------------------------------------------------------------------------- */

/* In the place of one that is not there any more, and will not be. */
#define GONE UINT32_MAX

static bool is_l1(enum ttnn_buffer_type type)
{
	return type != TTNN_DRAM && type != TTNN_TRACE;
}

/* A place for one more; UINT32_MAX when memory is exhausted. */
static uint32_t new_place(struct tt_course_maker *maker)
{
	if (maker->empty.count)
		return maker->empty.data[--maker->empty.count];
	if (!TT_VEC_RESERVE(&maker->course->buffers, 1))
		return UINT32_MAX;
	return (uint32_t)maker->course->buffers.count++;
}

bool tt_course_is_shareless(const struct tt_course_buffer *buffer)
{
	return buffer->l1 && buffer->size && !buffer->bank_size;
}

/* The place of a buffer in the course, or GONE; *added: it is new, or there again. */
static tt_status find_buffer(uint32_t *place, bool *added, struct tt_course_maker *maker,
			     const struct tt_event_buffer *told, bool comes_back)
{
	struct tt_course_buffer *buffer;
	uint32_t *slot;

	TT_TRY(tt_paged_at(&slot, &maker->ids, told->buffer_id));
	*added = !*slot || (*slot == GONE && comes_back);
	*place = *slot == GONE ? GONE : *slot - 1;
	if (*slot == GONE && !*added)
		return TTNN_OK;
	if (*added) {
		*place = new_place(maker);
		if (*place == UINT32_MAX)
			return tt_fail_nomem();
		buffer = &maker->course->buffers.data[*place];
		*buffer = (struct tt_course_buffer){
			.id = told->buffer_id,
			.size = told->size,
			.bank_size = told->bank_size,
			.device_id = told->device_id,
			.node = TT_COURSE_NONE,
			.l1 = is_l1(told->type),
		};
		*slot = *place + 1;
		maker->shareless += tt_course_is_shareless(buffer);
	}
	buffer = &maker->course->buffers.data[*place];
	if (tt_course_is_shareless(buffer) && told->bank_size)
		maker->shareless--;
	if (!buffer->bank_size)
		buffer->bank_size = told->bank_size;
	if (buffer->before)
		maker->theres.data[buffer->before - 1].bank_size = buffer->bank_size;
	return TTNN_OK;
}

/* A buffer that is new here was there before. */
static tt_status note_there(struct tt_course_maker *maker, uint32_t place)
{
	struct tt_course_buffer *buffer = &maker->course->buffers.data[place], *copy;

	buffer->there = true;
	if (!maker->passing)
		return TTNN_OK;
	copy = TT_VEC_PUSH(&maker->theres);
	if (!copy)
		return tt_fail_nomem();
	buffer->before = (uint32_t)maker->theres.count;
	*copy = *buffer;
	return TTNN_OK;
}

struct tt_event_buffer tt_course_told(const struct tt_course_buffer *buffer)
{
	return (struct tt_event_buffer){.buffer_id = buffer->id,
					.size = buffer->size,
					.bank_size = buffer->bank_size,
					.device_id = buffer->device_id,
					.type = buffer->l1 ? TTNN_L1 : TTNN_DRAM};
}

tt_status tt_course_there(struct tt_course_maker *maker, const struct tt_event_buffer *buffer)
{
	uint32_t place;
	bool added;

	TT_TRY(find_buffer(&place, &added, maker, buffer, false));
	return added ? note_there(maker, place) : TTNN_OK;
}

tt_status tt_course_take(struct tt_course_maker *maker, const struct tt_event_buffer *buffer,
			 uint32_t node)
{
	uint32_t place;
	bool added;

	TT_TRY(find_buffer(&place, &added, maker, buffer, maker->again));
	if (!added && !maker->again)
		return TTNN_OK;
	return add_step(maker, (struct tt_course_step){node, TT_COURSE_TAKE, place, 0});
}

/* Of a passing course: what is gone leaves its place to another, once its step was taken. */
static tt_status leave(struct tt_course_maker *maker, uint64_t id, uint32_t place)
{
	uint32_t *slot;

	TT_TRY(tt_paged_at(&slot, &maker->ids, id));
	*slot = GONE;
	slot = TT_VEC_PUSH(&maker->leaving);
	if (!slot)
		return tt_fail_nomem();
	*slot = place;
	return TTNN_OK;
}

tt_status tt_course_give(struct tt_course_maker *maker, const struct tt_event_buffer *buffer,
			 uint32_t node)
{
	uint32_t place;
	bool added;

	TT_TRY(find_buffer(&place, &added, maker, buffer, false));
	if (place == GONE)
		return TTNN_OK;
	if (added)
		TT_TRY(note_there(maker, place));
	if (maker->passing)
		TT_TRY(leave(maker, buffer->buffer_id, place));
	return add_step(maker, (struct tt_course_step){node, TT_COURSE_GIVE, place, 0});
}

bool tt_course_step(struct tt_course_step *out, struct tt_course_maker *maker, uint32_t before)
{
	struct tt_course *course = maker->course;

	if (maker->taken < course->steps.count && course->steps.data[maker->taken].node < before) {
		*out = course->steps.data[maker->taken++];
		return true;
	}
	if (maker->passing && maker->taken == course->steps.count) {
		maker->taken = course->steps.count = 0;
		if (maker->leaving.count && TT_VEC_RESERVE(&maker->empty, maker->leaving.count)) {
			memcpy(&maker->empty.data[maker->empty.count], maker->leaving.data,
			       maker->leaving.count * sizeof(*maker->leaving.data));
			maker->empty.count += maker->leaving.count;
			maker->leaving.count = 0;
		}
	}
	return false;
}

/* The buffer of an id that is there, or NULL. */
static tt_status buffer_of(struct tt_course_buffer **out, struct tt_course_maker *maker,
			   uint64_t id)
{
	uint32_t *entry;

	*out = NULL;
	TT_TRY(tt_paged_at(&entry, &maker->ids, id));
	if (*entry && *entry != GONE)
		*out = &maker->course->buffers.data[*entry - 1];
	return TTNN_OK;
}

tt_status tt_course_name(struct tt_course_maker *maker, uint64_t buffer_id, uint32_t node)
{
	struct tt_course_buffer *buffer;

	TT_TRY(buffer_of(&buffer, maker, buffer_id));
	if (buffer)
		buffer->node = node;
	return TTNN_OK;
}

tt_status tt_course_fill(struct tt_course_maker *maker, uint64_t buffer_id,
			 const struct ttnn_tensor_spec *spec)
{
	struct tt_course_buffer *buffer;

	TT_TRY(buffer_of(&buffer, maker, buffer_id));
	if (!buffer || buffer->shaped)
		return TTNN_OK;
	/* A copy: specs of events live until the next one is read. */
	buffer->shaped = true;
	buffer->shape = spec->shape;
	return TTNN_OK;
}

tt_status tt_course_knows(bool *out, struct tt_course_maker *maker, uint64_t buffer_id)
{
	uint32_t *entry;

	*out = false;
	TT_TRY(tt_paged_at(&entry, &maker->ids, buffer_id));
	*out = *entry != 0;
	return TTNN_OK;
}

/* ---- programs ------------------------------------------------------------------------------------- */

tt_status tt_course_release(struct tt_course_maker *maker, uint32_t device_id, uint32_t node)
{
	maker->device_id = device_id;
	if (maker->any)
		memset(maker->cores, 0, sizeof(maker->cores));
	maker->any = false;
	return add_step(maker, (struct tt_course_step){node, TT_COURSE_PROGRAM, device_id, 0});
}

static uint32_t clipped(uint32_t coordinate)
{
	return coordinate < TT_COURSE_GRID ? coordinate : TT_COURSE_GRID - 1;
}

/* A row that borrows nothing takes its size of each of its cores. */
static void occupy(uint64_t *cores, const struct tt_event_program_memory *row,
		   const struct ttnn_core_range *ranges, size_t count)
{
	for (size_t i = 0; i < count && !row->borrowed; i++)
		for (uint32_t y = clipped(ranges[i].start.y); y <= clipped(ranges[i].end.y); y++)
			for (uint32_t x = clipped(ranges[i].start.x); x <= clipped(ranges[i].end.x);
			     x++)
				cores[y * TT_COURSE_GRID + x] += row->size;
}

static uint64_t fullest(const uint64_t *cores)
{
	uint64_t most = 0;

	for (size_t i = 0; i < (size_t)TT_COURSE_GRID * TT_COURSE_GRID; i++)
		if (cores[i] > most)
			most = cores[i];
	return most;
}

/* The ranges of a row; of one whose cores are not known a single core. */
static const struct ttnn_core_range *ranges_of(size_t *count,
					       const struct tt_event_program_memory *row)
{
	static const struct ttnn_core_range first = {{0, 0}, {0, 0}};

	*count = 1;
	return row->cores ? ttnn_core_set_ranges(row->cores, count) : &first;
}

tt_status tt_course_ranges(struct tt_course_maker *maker, const struct tt_event_program_memory *row,
			   const struct ttnn_core_range *ranges, size_t count, uint32_t node)
{
	/* Every chip of a mesh tells of the same rows: the first is enough. */
	if (!maker->any)
		maker->chip_id = row->device_id;
	maker->any = true;
	if (maker->chip_id != row->device_id)
		return TTNN_OK;
	occupy(maker->cores, row, ranges, count);
	return add_step(maker, (struct tt_course_step){node, TT_COURSE_PROGRAM, maker->device_id,
						       fullest(maker->cores)});
}

tt_status tt_course_row(struct tt_course_maker *maker, const struct tt_event_program_memory *row,
			uint32_t node)
{
	size_t count;
	const struct ttnn_core_range *ranges = ranges_of(&count, row);

	return tt_course_ranges(maker, row, ranges, count, node);
}

tt_status tt_course_program(struct tt_course_maker *maker, const struct tt_event_program *program,
			    uint32_t node)
{
	struct tt_event_program_memory row;

	if (!program->memory.count)
		return TTNN_OK;
	memset(maker->cores, 0, sizeof(maker->cores));
	maker->any = true;
	maker->chip_id = TT_COURSE_NONE;
	maker->device_id = program->device_id;
	for (size_t i = 0; tt_event_memory_row(&row, program, i); i++) {
		size_t count;
		const struct ttnn_core_range *ranges = ranges_of(&count, &row);

		occupy(maker->cores, &row, ranges, count);
	}
	return add_step(maker, (struct tt_course_step){node, TT_COURSE_PROGRAM, program->device_id,
						       fullest(maker->cores)});
}
