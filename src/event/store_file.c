#include "event/store_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/pack.h"
#include "event/announce.h"

/* ---- heads ---------------------------------------------------------------------------------------------- */

void tt_process_command(char *out, size_t room)
{
	int fd = tt_fd_open("/proc/self/cmdline", O_RDONLY);
	ssize_t length = fd < 0 ? 0 : read(fd, out, room - 1);

	if (fd >= 0)
		close(fd);
	if (length < 0)
		length = 0;
	while (length && !out[length - 1])
		length--;
	for (ssize_t i = 0; i < length; i++)
		if (!out[i])
			out[i] = ' ';
	out[length] = '\0';
}

static void add_body(struct tt_str *out, const struct tt_store *store)
{
	uint64_t ring = store->options.last_ops;
	char command[4096];

	tt_process_command(command, sizeof(command));
	tt_encode_number(out, (uint64_t)getpid());
	tt_encode_number(out, (uint64_t)store->wall_ns);
	tt_encode_text(out, program_invocation_short_name);
	tt_encode_text(out, command);
	tt_encode_text(out, TTNN_VERSION);
	tt_encode_number(out, ring);
	tt_encode_kinds(out);
}

static tt_status make_head(struct tt_str *out, const struct tt_store *store)
{
	struct tt_str body = {0};
	tt_status status;

	add_body(&body, store);
	tt_trace_head_add(out, &body);
	status = tt_str_status(&body);
	tt_str_deinit(&body);
	return status == TTNN_OK ? tt_str_status(out) : status;
}

static void add_row(struct tt_str *out, const struct tt_chunk_row *row)
{
#define TT_X(name) tt_encode_number(out, row->name);
	TT_CHUNK_ROW_LIST(TT_X)
#undef TT_X
}

/* Totals, names and places of all chunks; with the lock held. */
static void add_index(struct tt_str *out, const struct tt_store *store)
{
	tt_encode_number(out, store->lost);
	tt_encode_text(out, store->reason);
	tt_encode_number(out, TT_EVENT_KINDS);
	for (int i = 0; i < TT_EVENT_KINDS; i++)
		tt_encode_number(out, store->counts[i]);
	tt_encode_number(out, store->names.count);
	for (size_t i = 0; i < store->names.count; i++) {
		const struct tt_map_entry *entry = &store->names.entries[i];

		tt_encode_number(out, (uint64_t)(unsigned char)entry->key[0] - 1);
		tt_encode_text(out, entry->key + 1);
		tt_encode_number(out, entry->number);
	}
	tt_encode_number(out, store->places.count);
	for (size_t i = 0; i < store->places.count; i++)
		add_row(out, &store->places.data[i].row);
}

/* The index as a chunk with the tail behind it, for a file that is `offset` bytes long. */
static tt_status make_index(struct tt_str *out, struct tt_store *store, uint64_t offset)
{
	unsigned char head_bytes[TT_CHUNK_HEAD_SIZE], tail[TT_TAIL_SIZE];
	struct tt_chunk_head head = {.type = TT_CHUNK_INDEX};
	struct tt_str index = {0};
	tt_status status;

	add_index(&index, store);
	status = tt_str_status(&index);
	if (status == TTNN_OK && index.length > TT_CHUNK_MAX)
		status = tt_fail(TTNN_UNSUPPORTED, "the index would be too large");
	if (status == TTNN_OK) {
		head.raw_size = head.stored_size = (uint32_t)index.length;
		head.stored_crc = tt_crc32(0, index.data, index.length);
		tt_chunk_head_put(head_bytes, &head);
		tt_tail_put(tail, offset);
		tt_str_add(out, (const char *)head_bytes, sizeof(head_bytes));
		tt_str_add(out, index.data, index.length);
		tt_str_add(out, (const char *)tail, sizeof(tail));
		status = tt_str_status(out);
	}
	tt_str_deinit(&index);
	return status;
}

/* ---- writing -------------------------------------------------------------------------------------------- */

static const char *shown_path(const struct tt_store *store)
{
	return store->path ? store->path : "the temporary file of a capture";
}

/* 0, or errno: then what was written in vain is cut off again. */
static int write_at(struct tt_store *store, const void *data, size_t size, uint64_t offset)
{
	int error = tt_fd_write_at(store->fd, data, size, offset);

	if (error && ftruncate(store->fd, (off_t)store->offset) != 0)
		error = errno;
	return error;
}

static tt_status fail(const struct tt_store *store, int error)
{
	return tt_fail(TTNN_IO, "%s: %s", shown_path(store), strerror(error));
}

static tt_status write_head(struct tt_store *store)
{
	struct tt_str head = {0};
	tt_status status = make_head(&head, store);
	int error = status == TTNN_OK ? write_at(store, head.data, head.length, 0) : 0;

	if (error)
		status = fail(store, error);
	if (status == TTNN_OK) {
		store->offset = head.length;
		store->head_checksum = tt_get_u32((const unsigned char *)head.data + 16);
		store->head_written = true;
	}
	tt_str_deinit(&head);
	return status;
}

/* "X.ttrace" is "X.2.ttrace" as the second of that name. */
static tt_status number_path(char **out, const char *path, unsigned number)
{
	size_t length = tt_length_without(path, strlen(path), TT_TRACE_SUFFIX);
	struct tt_str text = {0};

	tt_str_add(&text, path, length);
	tt_str_addf(&text, ".%u%s", number, path + length);
	return tt_str_take(out, &text);
}

/* A name that was not there: those of ended processes with the same number are never taken. */
static tt_status open_unused(struct tt_store *store)
{
	char *path = NULL;

	for (unsigned number = 2;; number++) {
		const char *tried = path ? path : store->path;

		store->fd = tt_fd_open(tried, O_RDWR | O_CREAT | O_EXCL);
		if (store->fd >= 0)
			break;
		if (errno != EEXIST || number == UINT32_MAX) {
			tt_status status = tt_fail(TTNN_IO, "%s: %s", tried, strerror(errno));

			tt_free(path);
			return status;
		}
		tt_free(path);
		path = NULL;
		TT_TRY(number_path(&path, store->path, number));
	}
	if (path) {
		tt_free(store->path);
		store->path = path;
	}
	store->own_name = true;
	return TTNN_OK;
}

static tt_status open_named(struct tt_store *store)
{
	if (store->options.automatic && !store->own_name)
		return open_unused(store);
	store->fd = tt_fd_open(store->path, O_RDWR | O_CREAT | O_TRUNC);
	return store->fd < 0 ? fail(store, errno) : TTNN_OK;
}

static tt_status open_unnamed(struct tt_store *store)
{
	const char *base = tt_fd_temp_directory();

	store->fd = tt_fd_nameless(base);
	return store->fd < 0 ? tt_fail(TTNN_IO, "%s: %s", base, strerror(errno)) : TTNN_OK;
}

/*
 * As long as it is locked its process runs. Someone may just be looking whether it does: that takes a moment.
 * Who has it for longer may complete the file with what lies beside it, so nothing is put there. Where files
 * have no locks nobody gets one.
 */
static void lock_file(struct tt_store *store)
{
	int error = tt_fd_lock(store->fd);

	for (int i = 0; i < 50 && error == EAGAIN; i++) {
		usleep(200);
		error = tt_fd_lock(store->fd);
	}
	if (error != EAGAIN)
		return;
	store->live.failed = true;
	store->warn_lock = true;
}

tt_status tt_store_file_open(struct tt_store *store)
{
	if (store->fd < 0 && !store->path)
		TT_TRY(open_unnamed(store));
	if (store->fd < 0) {
		TT_TRY(open_named(store));
		lock_file(store);
		if (store->options.automatic)
			tt_announce_file(store->path);
	}
	return store->head_written ? TTNN_OK : write_head(store);
}

tt_status tt_store_file_chunk(struct tt_store *store, const struct tt_chunk_head *head,
			      const unsigned char *data)
{
	unsigned char bytes[TT_CHUNK_HEAD_SIZE];
	int error;

	tt_chunk_head_put(bytes, head);
	error = write_at(store, bytes, sizeof(bytes), store->offset);
	if (!error)
		error = write_at(store, data, head->stored_size, store->offset + sizeof(bytes));
	return error ? fail(store, error) : TTNN_OK;
}

tt_status tt_store_file_finish(struct tt_store *store)
{
	struct tt_str index = {0};
	tt_status status = make_index(&index, store, store->offset);
	int error =
		status == TTNN_OK ? write_at(store, index.data, index.length, store->offset) : 0;

	tt_str_deinit(&index);
	return error ? fail(store, error) : status;
}

/* ---- dumps ---------------------------------------------------------------------------------------------- */

/* What a file of the chunks in memory is made of. They are ours: the store may give up the oldest meanwhile. */
struct dump {
	struct tt_str head, index;
	struct tt_chunk_place *places;
	size_t count;
};

/* With the lock held. */
static tt_status plan_dump(struct dump *out, struct tt_store *store)
{
	uint64_t offset;

	TT_TRY(make_head(&out->head, store));
	offset = out->head.length;
	for (size_t i = 0; i < store->places.count; i++) {
		store->places.data[i].row.offset = offset;
		offset += TT_CHUNK_HEAD_SIZE + store->places.data[i].row.stored_size;
	}
	TT_TRY(make_index(&out->index, store, offset));
	return tt_store_places(&out->places, &out->count, store);
}

static void write_dump(struct tt_file_out *file, const struct dump *dump)
{
	tt_file_write(file, dump->head.data, dump->head.length);
	for (size_t i = 0; i < dump->count; i++) {
		const struct tt_chunk_place *place = &dump->places[i];
		unsigned char bytes[TT_CHUNK_HEAD_SIZE];

		tt_chunk_head_put(bytes, &place->chunk->head);
		tt_file_write(file, bytes, sizeof(bytes));
		tt_file_write(file, place->chunk->data, place->row.stored_size);
	}
	tt_file_write(file, dump->index.data, dump->index.length);
}

static void free_dump(struct dump *dump)
{
	for (size_t i = 0; i < dump->count; i++)
		tt_chunk_unref(dump->places[i].chunk);
	tt_free(dump->places);
	tt_str_deinit(&dump->head);
	tt_str_deinit(&dump->index);
}

/* The first dump finds a name, which the others keep. With the lock held. */
static tt_status claim_name(struct tt_store *store)
{
	if (!store->options.automatic || store->own_name)
		return TTNN_OK;
	TT_TRY(open_unused(store));
	close(store->fd);
	store->fd = -1;
	tt_announce_file(store->path);
	return TTNN_OK;
}

/* Without the lock: a file of many megabytes takes its time, and recording goes on meanwhile. */
static tt_status save_dump(const struct tt_store *store, const struct dump *dump)
{
	struct tt_file_out *file;
	tt_status status;
	bool before;

	TT_TRY(tt_file_create(&file, store->path));
	before = tt_deadline_hush(true);
	write_dump(file, dump);
	status = tt_file_commit(file);
	tt_deadline_hush(before);
	return status;
}

tt_status tt_store_file_dump(struct tt_store *store)
{
	struct dump dump = {0};
	tt_status status;

	/* Those of the writer and of users may meet: one after the other, so that the last is the newest. */
	tt_lock_take(&store->lock);
	while (store->dumping)
		pthread_cond_wait(&store->done, &store->lock.mutex);
	store->dumping = true;
	status = claim_name(store);
	if (status == TTNN_OK)
		status = plan_dump(&dump, store);
	tt_lock_give(&store->lock);
	if (status == TTNN_OK)
		status = save_dump(store, &dump);
	free_dump(&dump);
	tt_lock_take(&store->lock);
	store->dumping = false;
	pthread_cond_broadcast(&store->done);
	tt_lock_give(&store->lock);
	return status;
}
