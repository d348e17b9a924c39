#include "report/buffers.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/pytext.h"
#include "tensor/enums.h"

/* So many operations are a block, unless there is no room between two positions before. */
#define BLOCK 64
#define GAP ((int64_t)1 << 24)

bool tt_report_buffer_type(int64_t *out, const struct tt_json *name)
{
	const char *text = tt_json_string(name, NULL);

	return text && tt_enum_find(out, &tt_enum_buffer_type, text);
}

/* ---- blocks and spans ----------------------------------------------------------------------- */

static tt_status end_span(struct tt_report_buffers *buffers, struct tt_report_track *track,
			  const struct tt_report_open *open)
{
	struct tt_report_span *span;

	if (open->first > buffers->seq) /* no operation saw it */
		return TTNN_OK;
	span = TT_VEC_PUSH(&track->spans);
	if (!span)
		return tt_fail_nomem();
	*span = (struct tt_report_span){track->block, open->position, open->first, buffers->seq,
					open->buffer};
	return TTNN_OK;
}

static int by_position(const void *a, const void *b)
{
	const struct tt_report_span *left = a, *right = b;

	return (left->position > right->position) - (left->position < right->position);
}

static tt_status write_span(struct tt_report_buffers *buffers, const struct tt_report_span *s)
{
	const struct tt_report_buffer *b = &s->buffer;
	int64_t row[] = {s->block,   s->position, s->first, s->last,  b->device,
			 b->address, b->size,     b->type,  b->layout};

	return tt_report_insert_ints(buffers->db, TT_REPORT_BUFFER_SPANS, row, 9);
}

/* Ends the block; what is open goes on in the next, with positions in its order. */
static tt_status end_block(struct tt_report_buffers *buffers, struct tt_report_track *track)
{
	struct tt_report_block *block;
	struct tt_report_span *to;

	for (size_t i = 0; i < track->open.count; i++) {
		TT_TRY(end_span(buffers, track, &track->open.data[i]));
		track->open.data[i].first = buffers->seq + 1;
		track->open.data[i].position = ((int64_t)i + 1) * GAP;
	}
	track->position = (int64_t)track->open.count * GAP;
	if (track->spans.count) {
		qsort(track->spans.data, track->spans.count, sizeof(*track->spans.data),
		      by_position);
		block = TT_VEC_PUSH(&buffers->ended);
		if (!block || !TT_VEC_RESERVE(&buffers->spans, track->spans.count))
			return tt_fail_nomem();
		*block = (struct tt_report_block){track->block, buffers->spans.count,
						  track->spans.count};
		to = buffers->spans.data + buffers->spans.count;
		memcpy(to, track->spans.data, track->spans.count * sizeof(*to));
		buffers->spans.count += track->spans.count;
		for (size_t i = 0; !buffers->db->as_tables && i < track->spans.count; i++)
			TT_TRY(write_span(buffers, &to[i]));
		track->spans.count = 0;
	}
	track->block = 0;
	return TTNN_OK;
}

tt_status tt_report_buffers_add(struct tt_report_buffers *buffers,
				const struct tt_report_buffer *buffer, size_t node)
{
	struct tt_report_track *track = &buffers->live;
	struct tt_report_open *open = TT_VEC_PUSH(&track->open);

	if (!open)
		return tt_fail_nomem();
	track->position += GAP;
	*open = (struct tt_report_open){*buffer, track->position, buffers->seq + 1, node};
	return TTNN_OK;
}

tt_status tt_report_buffers_remove(struct tt_report_buffers *buffers, int64_t address)
{
	struct tt_report_track *track = &buffers->live;
	size_t kept = 0;

	for (size_t i = 0; i < track->open.count; i++) {
		struct tt_report_open *open = &track->open.data[i];

		if (open->buffer.address == address)
			TT_TRY(end_span(buffers, track, open));
		else if (kept++ != i)
			track->open.data[kept - 1] = *open;
	}
	track->open.count = kept;
	return TTNN_OK;
}

tt_status tt_report_buffers_remove_node(struct tt_report_buffers *buffers, bool *lived,
					int64_t *address, size_t node)
{
	struct tt_report_track *track = &buffers->live;
	struct tt_report_open *open = track->open.data;
	size_t at = track->open.count;

	/* What is freed is mostly young. */
	while (at && open[at - 1].node != node)
		at--;
	*lived = at > 0;
	if (!*lived)
		return TTNN_OK;
	open += at - 1;
	*address = open->buffer.address;
	TT_TRY(end_span(buffers, track, open));
	memmove(open, open + 1, (track->open.count - at) * sizeof(*open));
	track->open.count--;
	return TTNN_OK;
}

/* ---- lists that the report gives ------------------------------------------------------------ */

static bool is_same(const struct tt_report_buffer *a, const struct tt_report_buffer *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static struct tt_report_buffer given_at(const struct tt_report_buffers *buffers,
					const struct tt_report_list *list, size_t at)
{
	uint32_t entry = buffers->listed.data[list->first + at];
	struct tt_report_buffer buffer;

	memcpy(&buffer, buffers->known.entries[entry].key, sizeof(buffer));
	return buffer;
}

/*
 * Makes the open list the given one. What both have at the front and at the end goes on; the rest
 * between ends, and new spans get positions in between. A new block where there is no room.
 */
static tt_status follow_given(struct tt_report_buffers *buffers, const struct tt_report_list *list)
{
	struct tt_report_track *track = &buffers->given;
	size_t front = 0, back = 0, old = track->open.count, fresh;
	int64_t low = 0, high, step = 0;
	struct tt_report_open *open;

	for (; front < old && front < list->count; front++) {
		struct tt_report_buffer buffer = given_at(buffers, list, front);

		if (!is_same(&track->open.data[front].buffer, &buffer))
			break;
	}
	for (; back < old - front && back < list->count - front; back++) {
		struct tt_report_buffer buffer = given_at(buffers, list, list->count - 1 - back);

		if (!is_same(&track->open.data[old - 1 - back].buffer, &buffer))
			break;
	}
	fresh = list->count - front - back;
	for (int tries = 0; tries < 2; tries++) {
		low = front ? track->open.data[front - 1].position : 0;
		high = back ? track->open.data[old - back].position
			    : low + ((int64_t)fresh + 1) * GAP;
		step = (high - low) / ((int64_t)fresh + 1);
		if (step > 0 || tries)
			break;
		TT_TRY(end_block(buffers, track));
	}
	for (size_t i = front; i < old - back; i++)
		TT_TRY(end_span(buffers, track, &track->open.data[i]));
	if (!TT_VEC_RESERVE(&track->open, fresh))
		return tt_fail_nomem();
	open = track->open.data;
	if (back)
		memmove(open + front + fresh, open + old - back, back * sizeof(*open));
	track->open.count = list->count;
	for (size_t i = 0; i < fresh; i++)
		open[front + i] = (struct tt_report_open){given_at(buffers, list, front + i),
							  low + step * ((int64_t)i + 1),
							  buffers->seq + 1, TT_REPORT_NO_NODE};
	return TTNN_OK;
}

static tt_status read_buffer(struct tt_report_buffers *buffers, const struct tt_json *row,
			     int64_t (*map)(void *context, int64_t device), void *context)
{
	enum { ADDRESS, LAYOUT, TYPE, DEVICE, SIZE, COUNT };
	static const struct tt_json_key keys[COUNT] = {
		TT_JSON_KEY("address"), TT_JSON_KEY("buffer_layout"), TT_JSON_KEY("buffer_type"),
		TT_JSON_KEY("device_id"), TT_JSON_KEY("max_size_per_bank")};
	const struct tt_json *found[COUNT];
	struct tt_report_buffer buffer = {0};
	struct tt_map_entry *entry;
	uint32_t *listed;

	tt_json_pick(found, row, keys, COUNT);
	tt_py_int(&buffer.address, found[ADDRESS]);
	tt_py_int(&buffer.layout, found[LAYOUT]);
	tt_py_int(&buffer.type, found[TYPE]);
	tt_py_int(&buffer.device, found[DEVICE]);
	tt_py_int(&buffer.size, found[SIZE]);
	if (tt_json_kind(found[DEVICE]) == TT_JSON_INT)
		buffer.device = map(context, buffer.device);
	entry = tt_map_add(&buffers->known, &buffer, sizeof(buffer), NULL);
	listed = TT_VEC_PUSH(&buffers->listed);
	if (!entry || !listed)
		return tt_fail_nomem();
	*listed = (uint32_t)(entry - buffers->known.entries);
	return TTNN_OK;
}

static tt_status read_list(struct tt_report_buffers *buffers, int64_t counter,
			   const struct tt_json *rows,
			   int64_t (*map)(void *context, int64_t device), void *context)
{
	struct tt_report_list *list = TT_VEC_PUSH(&buffers->lists);
	struct tt_json_iter it = tt_json_iter(rows);
	struct tt_map_entry *entry;

	if (!list)
		return tt_fail_nomem();
	*list = (struct tt_report_list){.counter = counter, .first = buffers->listed.count};
	while (tt_json_next(&it))
		TT_TRY(read_buffer(buffers, it.value, map, context));
	list->count = buffers->listed.count - list->first;
	entry = tt_map_add(&buffers->by_counter, &counter, sizeof(counter), NULL);
	if (!entry)
		return tt_fail_nomem();
	entry->number = buffers->lists.count - 1;
	return TTNN_OK;
}

tt_status tt_report_buffers_read(struct tt_report_buffers *buffers, struct tt_report_source *source,
				 int64_t (*map)(void *context, int64_t device), void *context)
{
	struct tt_json_parser parser = {0};
	tt_status status;

	if (source->kind(source, TT_REPORT_PART_OPERATION_BUFFERS) != TT_JSON_OBJECT)
		return TTNN_OK;
	status = source->walk(source, TT_REPORT_PART_OPERATION_BUFFERS);
	while (status == TTNN_OK && source->next(source)) {
		const char *key = source->key(source);
		struct tt_report_place place = source->place(source);
		const struct tt_json *rows = NULL;
		int64_t counter;

		status = source->status(source);
		if (status == TTNN_OK && !tt_py_int_text(&counter, key, strlen(key)))
			status = source->fail(source, &place, "buffers of what is no node");
		if (status == TTNN_OK)
			status = source->fetch(&rows, source, &parser, &place);
		if (status == TTNN_OK)
			status = read_list(buffers, counter, rows, map, context);
	}
	tt_json_parser_deinit(&parser);
	return status == TTNN_OK ? source->status(source) : status;
}

struct tt_report_list *tt_report_buffers_given(struct tt_report_buffers *buffers, int64_t counter)
{
	struct tt_map_entry *entry = tt_map_find(&buffers->by_counter, &counter, sizeof(counter));

	return entry ? &buffers->lists.data[entry->number] : NULL;
}

/* ---- operations ----------------------------------------------------------------------------- */

static tt_status store_row(struct tt_report_buffers *buffers, int64_t operation,
			   const struct tt_report_buffer *buffer)
{
	int64_t row[] = {operation,    buffer->device, buffer->address, buffer->size,
			 buffer->type, buffer->layout, buffers->rank};

	return tt_report_insert_ints(buffers->db, TT_REPORT_BUFFERS, row, 7);
}

static tt_status note_devices(struct tt_report_buffers *buffers,
			      const struct tt_report_track *track)
{
	for (size_t i = 0; i < track->open.count; i++)
		if (track->open.data[i].first == buffers->seq + 1)
			TT_TRY(tt_idset_add(&buffers->devices, track->open.data[i].buffer.device));
	return TTNN_OK;
}

tt_status tt_report_buffers_operation(struct tt_report_buffers *buffers, int64_t operation,
				      struct tt_report_list *given)
{
	struct tt_report_track *track = given ? &buffers->given : &buffers->live;

	if (track->block && buffers->seq + 1 - track->block_start >= BLOCK)
		TT_TRY(end_block(buffers, track));
	if (given)
		TT_TRY(follow_given(buffers, given));
	if (!track->block) {
		track->block = ++buffers->blocks;
		track->block_start = buffers->seq + 1;
	}
	TT_TRY(note_devices(buffers, track));
	buffers->seq++;
	buffers->rows += track->open.count;
	if (buffers->db->as_tables) {
		for (size_t i = 0; i < track->open.count; i++)
			TT_TRY(store_row(buffers, operation, &track->open.data[i].buffer));
		return TTNN_OK;
	}
	return tt_report_insert_ints(
		buffers->db, TT_REPORT_BUFFER_OPS,
		(int64_t[]){buffers->seq, track->block, operation, buffers->rank}, 4);
}

static int by_block(const void *a, const void *b)
{
	const struct tt_report_block *left = a, *right = b;

	return (left->block > right->block) - (left->block < right->block);
}

tt_status tt_report_buffers_finish(struct tt_report_buffers *buffers)
{
	TT_TRY(end_block(buffers, &buffers->live));
	TT_TRY(end_block(buffers, &buffers->given));
	if (buffers->ended.count)
		qsort(buffers->ended.data, buffers->ended.count, sizeof(*buffers->ended.data),
		      by_block);
	return TTNN_OK;
}

bool tt_report_buffers_find(int64_t *size, const struct tt_report_buffers *buffers, int64_t block,
			    int64_t seq, const struct tt_report_buffer *at)
{
	struct tt_report_block wanted = {.block = block};
	const struct tt_report_block *found =
		buffers->ended.count ? bsearch(&wanted, buffers->ended.data, buffers->ended.count,
					       sizeof(wanted), by_block)
				     : NULL;
	bool any = false;

	for (size_t i = 0; found && i < found->count; i++) {
		const struct tt_report_span *span = &buffers->spans.data[found->first + i];

		if (span->first > seq || seq > span->last || span->buffer.device != at->device ||
		    span->buffer.address != at->address)
			continue;
		if (!any || span->buffer.size < *size)
			*size = span->buffer.size;
		any = true;
	}
	return any;
}

static void reset_track(struct tt_report_track *track)
{
	track->open.count = track->spans.count = 0;
	track->block = track->position = 0;
}

void tt_report_buffers_reset(struct tt_report_buffers *buffers)
{
	reset_track(&buffers->live);
	reset_track(&buffers->given);
	buffers->spans.count = buffers->ended.count = 0;
	buffers->listed.count = buffers->lists.count = 0;
	tt_map_clear(&buffers->known);
	tt_map_clear(&buffers->by_counter);
	tt_idset_clear(&buffers->devices);
}

void tt_report_buffers_deinit(struct tt_report_buffers *buffers)
{
	TT_VEC_DEINIT(&buffers->live.open);
	TT_VEC_DEINIT(&buffers->live.spans);
	TT_VEC_DEINIT(&buffers->given.open);
	TT_VEC_DEINIT(&buffers->given.spans);
	TT_VEC_DEINIT(&buffers->spans);
	TT_VEC_DEINIT(&buffers->ended);
	TT_VEC_DEINIT(&buffers->listed);
	TT_VEC_DEINIT(&buffers->lists);
	tt_map_deinit(&buffers->known);
	tt_map_deinit(&buffers->by_counter);
	tt_idset_deinit(&buffers->devices);
}
