#include "trace/left.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/pack.h"
#include "base/str.h"
#include "event/live.h"
#include "event/store.h"

/* A process has a few dozen slots; a damaged file may say anything. */
#define SLOTS_MAX 65536

/* ---- the file ------------------------------------------------------------------------------------------- */

/* A file or its bytes. */
struct input {
	int fd; /* -1: the bytes */
	const unsigned char *data;
	uint64_t size;
};

static bool read_at(const struct input *in, void *out, size_t size, uint64_t offset)
{
	if (offset > in->size || size > in->size - offset)
		return false;
	if (in->fd < 0) {
		memcpy(out, in->data + offset, size);
		return true;
	}
	return tt_fd_read_at(in->fd, out, size, offset) == 0;
}

static bool read_head(uint32_t *checksum, const struct input *in)
{
	unsigned char head[TT_LIVE_HEAD_SIZE];

	if (!read_at(in, head, sizeof(head), 0) ||
	    memcmp(head, TT_LIVE_MAGIC, TT_LIVE_MAGIC_SIZE) != 0 ||
	    tt_get_u32(head + 8) != TT_LIVE_VERSION ||
	    tt_get_u32(head + 16) != tt_crc32(0, head, 16))
		return false;
	*checksum = tt_get_u32(head + 12);
	return true;
}

static struct tt_chunk_head head_of(const unsigned char *slot, uint32_t size)
{
	return (struct tt_chunk_head){
		.type = TT_CHUNK_EVENTS,
		.codec = TT_CODEC_PLAIN,
		.stored_size = size,
		.raw_size = size,
		.thread = tt_get_u32(slot + TT_SLOT_AT_THREAD),
		.sequence = tt_get_u32(slot + TT_SLOT_AT_SEQUENCE),
		.depth = tt_get_u32(slot + TT_SLOT_AT_DEPTH),
		.op = tt_get_u64(slot + TT_SLOT_AT_OP),
		.first_ns = tt_get_u64(slot + TT_SLOT_AT_FIRST_NS),
		.tick = tt_get_u64(slot + TT_SLOT_AT_TICK),
	};
}

/* The chunk of a slot at `offset`, as far as the file has it. */
static tt_status read_chunk(struct tt_left *left, const struct input *in, const unsigned char *slot,
			    uint64_t offset)
{
	uint64_t start = offset + TT_SLOT_HEAD_SIZE, room = in->size - start;
	uint64_t most = tt_get_u32(slot + TT_SLOT_AT_SIZE) - (uint64_t)TT_SLOT_HEAD_SIZE;
	uint64_t size = tt_get_u32(slot + TT_SLOT_AT_COMMITTED);
	unsigned char again[TT_SLOT_HEAD_SIZE];
	struct tt_chunk *chunk, **kept;

	size = size < most ? size : most;
	size = size < room ? size : room;
	size = size < TT_CHUNK_MAX ? size : TT_CHUNK_MAX;
	if (!size)
		return TTNN_OK;
	kept = TT_VEC_PUSH(&left->chunks);
	if (!kept)
		return tt_fail_nomem();
	*kept = chunk = tt_chunk_new(size);
	if (!chunk) {
		left->chunks.count--;
		return tt_fail_nomem();
	}
	chunk->head = head_of(slot, (uint32_t)size);
	/* Its process may run, and have put another chunk there meanwhile; that one is young. */
	if (!read_at(in, chunk->data, size, start) || !read_at(in, again, sizeof(again), offset) ||
	    memcmp(slot + TT_SLOT_AT_THREAD, again + TT_SLOT_AT_THREAD,
		   sizeof(again) - TT_SLOT_AT_THREAD) != 0 ||
	    tt_get_u32(again + TT_SLOT_AT_COMMITTED) < tt_get_u32(slot + TT_SLOT_AT_COMMITTED)) {
		left->chunks.count--;
		tt_chunk_unref(chunk);
	}
	return TTNN_OK;
}

static tt_status read_slots(struct tt_left *left, const struct input *in)
{
	uint64_t offset = TT_LIVE_UNIT;

	if (!read_head(&left->checksum, in))
		return TTNN_OK;
	while (left->chunks.count < SLOTS_MAX) {
		unsigned char slot[TT_SLOT_HEAD_SIZE];
		uint32_t size;

		if (!read_at(in, slot, sizeof(slot), offset))
			return TTNN_OK;
		size = tt_get_u32(slot + TT_SLOT_AT_SIZE);
		if (tt_get_u32(slot + TT_SLOT_AT_MAGIC) != TT_SLOT_MAGIC || !size ||
		    size % TT_LIVE_UNIT)
			return TTNN_OK;
		TT_TRY(read_chunk(left, in, slot, offset));
		offset += size;
	}
	return TTNN_OK;
}

tt_status tt_left_bytes(struct tt_left *left, const struct tt_trace_bytes *bytes)
{
	struct input in = {-1, bytes->data, bytes->size};

	return read_slots(left, &in);
}

tt_status tt_left_open(struct tt_left *left, const char *path)
{
	struct tt_str name = {0};
	struct input in = {.fd = -1};
	struct stat facts;
	tt_status status;

	tt_live_path(&name, path);
	status = tt_str_status(&name);
	if (status == TTNN_OK)
		in.fd = tt_fd_open(tt_str_text(&name), O_RDONLY | O_NONBLOCK);
	tt_str_deinit(&name);
	if (status != TTNN_OK || in.fd < 0)
		return status;
	if (fstat(in.fd, &facts) == 0 && S_ISREG(facts.st_mode)) {
		in.size = (uint64_t)facts.st_size;
		status = read_slots(left, &in);
	}
	close(in.fd);
	return status;
}

void tt_left_deinit(struct tt_left *left)
{
	for (size_t i = 0; i < left->chunks.count; i++)
		tt_chunk_unref(left->chunks.data[i]);
	TT_VEC_DEINIT(&left->chunks);
}

/* ---- records -------------------------------------------------------------------------------------------- */

static tt_status count_event(struct tt_chunk_head *head, const struct tt_event *event,
			     const struct tt_measure *more)
{
	head->events++;
	if (event->kind < TT_EVENT_KINDS)
		head->counts[event->kind]++;
	if (event->kind == TT_EVENT_LOSS && more && more->lost)
		*more->lost += event->loss.records;
	if (event->kind == TT_EVENT_SCOPE_BEGIN && more && more->names &&
	    !tt_store_count_name(more->names,
				 &(struct tt_name_count){event->begin.name, event->begin.kind, 1}))
		return tt_fail_nomem();
	return TTNN_OK;
}

tt_status tt_left_measure(struct tt_chunk_head *head, struct tt_terms *terms,
			  const unsigned char *raw, const struct tt_measure *more)
{
	__extension__ typedef unsigned __int128 wide;
	struct tt_decoder decoder = {0};
	struct tt_arena arena = {0};
	tt_status status = TTNN_OK;
	size_t whole = 0;

	head->events = head->operations = 0;
	memset(head->counts, 0, sizeof(head->counts));
	tt_decoder_start(&decoder, terms, &arena,
			 &(struct tt_bytes){raw, raw + head->raw_size, false}, NULL);
	while (status == TTNN_OK && tt_decoder_peek(&decoder)) {
		struct tt_event event;
		bool begins;

		tt_arena_reset(&arena);
		status = tt_decoder_next(&event, &begins, &decoder);
		if (status != TTNN_OK)
			break;
		whole = (size_t)(decoder.bytes.at - raw);
		head->operations += begins;
		head->last_ns = head->first_ns + (uint64_t)((wide)decoder.ticks * head->tick >> 32);
		status = count_event(head, &event, more);
	}
	head->raw_size = (uint32_t)whole;
	tt_decoder_deinit(&decoder);
	tt_arena_deinit(&arena);
	return status == TTNN_FORMAT ? TTNN_OK : status;
}

/* ---- together ------------------------------------------------------------------------------------------- */

static struct tt_map_entry *note(struct tt_map *known, const struct tt_chunk_row *row, bool *added)
{
	uint64_t key[2] = {row->thread, row->sequence};

	return tt_map_add(known, (const char *)key, sizeof(key), added);
}

/* Chunks that are whole in the trace; what was written of others is of no use. */
static tt_status note_written(struct tt_map *known, struct tt_trace_file *file)
{
	for (size_t i = 0; i < file->place_count; i++) {
		struct tt_map_entry *entry = note(known, &file->places[i].row, NULL);

		if (!entry)
			return tt_fail_nomem();
		entry->number = i + 1;
	}
	return TTNN_OK;
}

static bool is_whole(struct tt_trace_file *file, const struct tt_chunk_place *place)
{
	struct tt_chunk_head head;
	unsigned char *stored;

	if (place->chunk)
		return true;
	if (tt_trace_file_chunk(&head, &stored, file, place) != TTNN_OK)
		return false;
	tt_free(stored);
	return true;
}

static tt_status add_chunk(struct tt_trace_file *file, struct tt_terms *terms,
			   struct tt_chunk *chunk, struct tt_map *known)
{
	struct tt_chunk_row row = tt_chunk_row_of(&chunk->head, 0);
	uint32_t committed = chunk->head.raw_size;
	struct tt_map_entry *entry;
	bool added;

	entry = note(known, &row, &added);
	if (!entry)
		return tt_fail_nomem();
	/* One that is known without a place held nothing that could be read. */
	if (!added && entry->number && is_whole(file, &file->places[entry->number - 1]))
		return TTNN_OK;
	TT_TRY(tt_left_measure(&chunk->head, terms, chunk->data, NULL));
	chunk->head.stored_size = chunk->head.raw_size;
	if (chunk->head.raw_size < committed) {
		tt_trace_file_damage(file, 0, "a record in the file beside makes no sense");
		file->info.bad_chunks++;
	}
	if (!chunk->head.events)
		return TTNN_OK;
	TT_TRY(tt_trace_file_add(file, &chunk->head, chunk));
	entry->number = file->place_count;
	return TTNN_OK;
}

tt_status tt_left_merge(struct tt_trace_file *file, struct tt_terms *terms, struct tt_left *left)
{
	struct tt_map known = {0};
	tt_status status;

	status = note_written(&known, file);
	for (size_t i = 0; status == TTNN_OK && i < left->chunks.count; i++)
		status = add_chunk(file, terms, left->chunks.data[i], &known);
	tt_map_deinit(&known);
	return status;
}
