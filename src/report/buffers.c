#include "report/buffers.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/pytext.h"
#include "tensor/enums.h"

/*
 * So many operations are a block, unless there is no room between two positions before; more where so many
 * buffers live that this many of them are one operation's share.
 */
#define BLOCK 64
#define SHARE 4
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

/* In their order most often, but for those that went on to the next block, which were ended last. */
static void sort_spans(struct tt_report_track *track)
{
	struct tt_report_span *spans = track->spans.data;
	size_t count = track->spans.count, sorted = 1;

	while (sorted < count && spans[sorted - 1].position < spans[sorted].position)
		sorted++;
	if (sorted < count)
		qsort(spans, count, sizeof(*spans), by_position);
}

static tt_status write_span(struct tt_report_buffers *buffers, const struct tt_report_span *s)
{
	const struct tt_report_buffer *b = &s->buffer;
	int64_t row[] = {s->block,   s->position, s->first, s->last,  b->device,
			 b->address, b->size,     b->type,  b->layout};

	return tt_report_insert_ints(buffers->db, TT_REPORT_BUFFER_SPANS, row, 9);
}

/* Writes the spans of the block. */
static tt_status write_block(struct tt_report_buffers *buffers, struct tt_report_track *track)
{
	if (!buffers->db->as_tables && track->spans.count) {
		sort_spans(track);
		for (size_t i = 0; i < track->spans.count; i++)
			TT_TRY(write_span(buffers, &track->spans.data[i]));
	}
	track->spans.count = 0;
	track->block = 0;
	return TTNN_OK;
}

/* What is open goes on in the next block, with positions in its order. */
static tt_status cut_span(struct tt_report_buffers *buffers, struct tt_report_track *track,
			  struct tt_report_open *open)
{
	TT_TRY(end_span(buffers, track, open));
	if (open->first <= buffers->seq)
		open->first = buffers->seq + 1;
	track->position += GAP;
	open->position = track->position;
	return TTNN_OK;
}

static bool is_full(const struct tt_report_buffers *buffers, const struct tt_report_track *track,
		    size_t open)
{
	int64_t most = (int64_t)(open / SHARE);

	return track->block &&
	       buffers->seq + 1 - track->block_start >= (most > BLOCK ? most : BLOCK);
}

/* ---- what lives ------------------------------------------------------------------------------- */

static struct tt_report_alive *place(const struct tt_report_live *live, uint32_t number)
{
	return number ? &live->places.data[number - 1] : NULL;
}

static tt_status end_live_block(struct tt_report_buffers *buffers)
{
	struct tt_report_live *live = &buffers->live;

	live->track.position = 0;
	for (uint32_t at = live->first; at; at = place(live, at)->after)
		TT_TRY(cut_span(buffers, &live->track, &place(live, at)->open));
	return write_block(buffers, &live->track);
}

/* A free place, which becomes the last of all. */
static struct tt_report_alive *new_place(uint32_t *number, struct tt_report_live *live)
{
	struct tt_report_alive *alive;

	if (live->free) {
		*number = live->free;
		alive = place(live, *number);
		live->free = alive->after;
	} else {
		alive = live->places.count < UINT32_MAX - 1 ? TT_VEC_PUSH(&live->places) : NULL;
		*number = (uint32_t)live->places.count;
	}
	if (!alive)
		return NULL;
	*alive = (struct tt_report_alive){.before = live->last, .fresh = true};
	if (live->last)
		place(live, live->last)->after = *number;
	else
		live->first = *number;
	live->last = *number;
	live->count++;
	return alive;
}

/* A buffer as it is stored. */
static struct tt_report_buffer stored(const struct tt_report_buffers *buffers,
				      const struct tt_report_buffer *told)
{
	struct tt_report_buffer buffer = *told;

	if (!buffers->strict && buffer.layout != TTNN_INTERLEAVED &&
	    buffer.layout != TTNN_HEIGHT_SHARDED && buffer.layout != TTNN_WIDTH_SHARDED &&
	    buffer.layout != TTNN_BLOCK_SHARDED)
		buffer.layout = TT_REPORT_NO_LAYOUT;
	return buffer;
}

tt_status tt_report_buffers_add(struct tt_report_buffers *buffers,
				const struct tt_report_buffer *buffer, size_t node)
{
	struct tt_report_live *live = &buffers->live;
	uint64_t address = (uint64_t)buffer->address;
	uint32_t number;
	struct tt_report_alive *alive = new_place(&number, live);

	if (!alive)
		return tt_fail_nomem();
	buffers->changes++;
	live->track.position += GAP;
	alive->open = (struct tt_report_open){stored(buffers, buffer), live->track.position,
					      buffers->seq + 1, node};
	alive->older = tt_intmap_get(&live->by_address, address);
	if (alive->older)
		place(live, alive->older)->younger = number;
	TT_TRY(tt_intmap_set(&live->by_address, address, number));
	if (node == TT_REPORT_NO_NODE)
		return TTNN_OK;
	alive->node_older = tt_intmap_get(&live->by_node, node);
	return tt_intmap_set(&live->by_node, node, number);
}

/* Takes it out of those with its node. */
static tt_status leave_node(struct tt_report_live *live, uint32_t number)
{
	struct tt_report_alive *alive = place(live, number);
	size_t node = alive->open.node;
	uint32_t at = tt_intmap_get(&live->by_node, node);

	if (at == number && alive->node_older)
		return tt_intmap_set(&live->by_node, node, alive->node_older);
	if (at == number)
		tt_intmap_remove(&live->by_node, node);
	for (; at && at != number; at = place(live, at)->node_older)
		if (place(live, at)->node_older == number)
			place(live, at)->node_older = alive->node_older;
	return TTNN_OK;
}

/* Takes it out of the order, of those with its address, and of those with a node. */
static tt_status end_place(struct tt_report_buffers *buffers, uint32_t number)
{
	struct tt_report_live *live = &buffers->live;
	struct tt_report_alive *alive = place(live, number);
	uint64_t address = (uint64_t)alive->open.buffer.address;
	tt_status status = end_span(buffers, &live->track, &alive->open);

	buffers->changes++;
	if (alive->before)
		place(live, alive->before)->after = alive->after;
	else
		live->first = alive->after;
	if (alive->after)
		place(live, alive->after)->before = alive->before;
	else
		live->last = alive->before;
	if (alive->older)
		place(live, alive->older)->younger = alive->younger;
	if (alive->younger)
		place(live, alive->younger)->older = alive->older;
	else if (alive->older && status == TTNN_OK)
		status = tt_intmap_set(&live->by_address, address, alive->older);
	else
		tt_intmap_remove(&live->by_address, address);
	if (status == TTNN_OK && alive->open.node != TT_REPORT_NO_NODE)
		status = leave_node(live, number);
	*alive = (struct tt_report_alive){.after = live->free};
	live->free = number;
	live->count--;
	return status;
}

tt_status tt_report_buffers_remove(struct tt_report_buffers *buffers, int64_t address)
{
	uint32_t number;

	while ((number = tt_intmap_get(&buffers->live.by_address, (uint64_t)address)))
		TT_TRY(end_place(buffers, number));
	return TTNN_OK;
}

tt_status tt_report_buffers_remove_node(struct tt_report_buffers *buffers, bool *lived,
					int64_t *address, size_t node)
{
	uint32_t number = tt_intmap_get(&buffers->live.by_node, node);

	*lived = number > 0;
	if (!*lived)
		return TTNN_OK;
	*address = place(&buffers->live, number)->open.buffer.address;
	return end_place(buffers, number);
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

static tt_status end_given_block(struct tt_report_buffers *buffers)
{
	struct tt_report_given *given = &buffers->given;

	given->track.position = 0;
	for (size_t i = 0; i < given->open.count; i++)
		TT_TRY(cut_span(buffers, &given->track, &given->open.data[i]));
	return write_block(buffers, &given->track);
}

/*
 * Makes the open list the given one. What both have at the front and at the end goes on; the rest
 * between ends, and new spans get positions in between. A new block where there is no room.
 */
static tt_status follow_given(struct tt_report_buffers *buffers, const struct tt_report_list *list)
{
	struct tt_report_given *track = &buffers->given;
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
		TT_TRY(end_given_block(buffers));
	}
	for (size_t i = front; i < old - back; i++)
		TT_TRY(end_span(buffers, &track->track, &track->open.data[i]));
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

tt_status tt_report_buffers_listed(struct tt_report_buffers *buffers,
				   const struct tt_report_buffer *buffer)
{
	struct tt_report_buffer key = stored(buffers, buffer);
	struct tt_map_entry *entry = tt_map_add(&buffers->known, &key, sizeof(key), NULL);
	uint32_t *listed = TT_VEC_PUSH(&buffers->listed);

	if (!entry || !listed)
		return tt_fail_nomem();
	*listed = (uint32_t)(entry - buffers->known.entries);
	buffers->lists.data[buffers->lists.count - 1].count++;
	return TTNN_OK;
}

tt_status tt_report_buffers_list(struct tt_report_buffers *buffers, int64_t counter)
{
	struct tt_report_list *list = TT_VEC_PUSH(&buffers->lists);
	struct tt_map_entry *entry =
		tt_map_add(&buffers->by_counter, &counter, sizeof(counter), NULL);

	if (!list || !entry)
		return tt_fail_nomem();
	*list = (struct tt_report_list){.counter = counter, .first = buffers->listed.count};
	entry->number = buffers->lists.count - 1;
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

	tt_json_pick(found, row, keys, COUNT);
	tt_py_int(&buffer.address, found[ADDRESS]);
	tt_py_int(&buffer.layout, found[LAYOUT]);
	tt_py_int(&buffer.type, found[TYPE]);
	tt_py_int(&buffer.device, found[DEVICE]);
	tt_py_int(&buffer.size, found[SIZE]);
	if (tt_json_kind(found[DEVICE]) == TT_JSON_INT)
		buffer.device = map(context, buffer.device);
	return tt_report_buffers_listed(buffers, &buffer);
}

static tt_status read_list(struct tt_report_buffers *buffers, int64_t counter,
			   const struct tt_json *rows,
			   int64_t (*map)(void *context, int64_t device), void *context)
{
	struct tt_json_iter it = tt_json_iter(rows);

	TT_TRY(tt_report_buffers_list(buffers, counter));
	while (tt_json_next(&it))
		TT_TRY(read_buffer(buffers, it.value, map, context));
	return TTNN_OK;
}

tt_status tt_report_buffers_read(struct tt_report_buffers *buffers, struct tt_report_source *source,
				 int64_t (*map)(void *context, int64_t device), void *context)
{
	struct tt_json_parser parser = {0};
	tt_status status;

	if (source->kind(source, TT_GRAPH_PART_OPERATION_BUFFERS) != TT_JSON_OBJECT)
		return TTNN_OK;
	status = source->walk(source, TT_GRAPH_PART_OPERATION_BUFFERS);
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
	struct tt_db_stmt *insert;

	TT_TRY(tt_report_insert(&insert, buffers->db, TT_REPORT_BUFFERS));
	for (int i = 0; i < 7; i++)
		tt_db_bind_int(insert, i, row[i]);
	if (!buffers->strict && buffer->layout == TT_REPORT_NO_LAYOUT)
		tt_db_bind_null(insert, 5);
	return tt_db_run(insert);
}

/* Devices of what no operation saw yet, in the order of the list. */
static tt_status note_live(struct tt_report_buffers *buffers)
{
	struct tt_report_live *live = &buffers->live;
	uint32_t at = live->last, from = 0;

	for (; at && place(live, at)->fresh; at = place(live, at)->before)
		from = at;
	for (at = from; at; at = place(live, at)->after) {
		place(live, at)->fresh = false;
		if (place(live, at)->open.first == buffers->seq + 1)
			TT_TRY(tt_idset_add(&buffers->devices,
					    place(live, at)->open.buffer.device));
	}
	return TTNN_OK;
}

static tt_status note_given(struct tt_report_buffers *buffers)
{
	const struct tt_report_given *given = &buffers->given;

	for (size_t i = 0; i < given->open.count; i++)
		if (given->open.data[i].first == buffers->seq + 1)
			TT_TRY(tt_idset_add(&buffers->devices, given->open.data[i].buffer.device));
	return TTNN_OK;
}

/* The rows of `buffers`, where that is a table. */
static tt_status store_rows(struct tt_report_buffers *buffers, int64_t operation, bool given)
{
	const struct tt_report_live *live = &buffers->live;

	for (size_t i = 0; given && i < buffers->given.open.count; i++)
		TT_TRY(store_row(buffers, operation, &buffers->given.open.data[i].buffer));
	for (uint32_t at = given ? 0 : live->first; at; at = place(live, at)->after)
		TT_TRY(store_row(buffers, operation, &place(live, at)->open.buffer));
	return TTNN_OK;
}

tt_status tt_report_buffers_operation(struct tt_report_buffers *buffers, int64_t operation,
				      struct tt_report_list *given)
{
	struct tt_report_track *track = given ? &buffers->given.track : &buffers->live.track;

	if (given && is_full(buffers, track, buffers->given.open.count))
		TT_TRY(end_given_block(buffers));
	else if (!given && is_full(buffers, track, buffers->live.count))
		TT_TRY(end_live_block(buffers));
	if (given)
		TT_TRY(follow_given(buffers, given));
	if (!track->block) {
		track->block = ++buffers->blocks;
		track->block_start = buffers->seq + 1;
	}
	TT_TRY(given ? note_given(buffers) : note_live(buffers));
	buffers->seq++;
	buffers->rows += given ? buffers->given.open.count : buffers->live.count;
	if (buffers->db->as_tables)
		return store_rows(buffers, operation, given);
	return tt_report_insert_ints(
		buffers->db, TT_REPORT_BUFFER_OPS,
		(int64_t[]){buffers->seq, track->block, operation, buffers->rank}, 4);
}

tt_status tt_report_buffers_finish(struct tt_report_buffers *buffers)
{
	TT_TRY(end_live_block(buffers));
	return end_given_block(buffers);
}

static void find_size(int64_t *size, bool *any, const struct tt_report_buffer *buffer,
		      const struct tt_report_buffer *at)
{
	if (buffer->device != at->device || buffer->address != at->address)
		return;
	if (!*any || buffer->size < *size)
		*size = buffer->size;
	*any = true;
}

bool tt_report_buffers_find(int64_t *size, const struct tt_report_buffers *buffers,
			    const struct tt_report_buffer *at, bool given)
{
	const struct tt_report_live *live = &buffers->live;
	uint32_t number = given ? 0 : tt_intmap_get(&live->by_address, (uint64_t)at->address);
	bool any = false;

	for (; number; number = place(live, number)->older)
		find_size(size, &any, &place(live, number)->open.buffer, at);
	for (size_t i = 0; given && i < buffers->given.open.count; i++)
		find_size(size, &any, &buffers->given.open.data[i].buffer, at);
	return any;
}

static void reset_track(struct tt_report_track *track)
{
	track->spans.count = 0;
	track->block = track->position = 0;
}

void tt_report_buffers_reset(struct tt_report_buffers *buffers)
{
	struct tt_report_live *live = &buffers->live;

	reset_track(&live->track);
	reset_track(&buffers->given.track);
	live->places.count = live->count = 0;
	live->first = live->last = live->free = 0;
	tt_intmap_clear(&live->by_address);
	tt_intmap_clear(&live->by_node);
	buffers->given.open.count = 0;
	buffers->listed.count = buffers->lists.count = 0;
	tt_map_clear(&buffers->known);
	tt_map_clear(&buffers->by_counter);
	tt_idset_clear(&buffers->devices);
}

void tt_report_buffers_deinit(struct tt_report_buffers *buffers)
{
	TT_VEC_DEINIT(&buffers->live.track.spans);
	TT_VEC_DEINIT(&buffers->live.places);
	tt_intmap_deinit(&buffers->live.by_address);
	tt_intmap_deinit(&buffers->live.by_node);
	TT_VEC_DEINIT(&buffers->given.track.spans);
	TT_VEC_DEINIT(&buffers->given.open);
	TT_VEC_DEINIT(&buffers->listed);
	TT_VEC_DEINIT(&buffers->lists);
	tt_map_deinit(&buffers->known);
	tt_map_deinit(&buffers->by_counter);
	tt_idset_deinit(&buffers->devices);
}
