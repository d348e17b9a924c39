#include "trace/trace_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/pack.h"
#include "trace/left.h"

/* How much is searched at a time for the next chunk behind a damaged one. */
#define SEARCH ((size_t)64 << 10)

/* ---- reading -------------------------------------------------------------------------------------------- */

/* Exactly these bytes; false when the file has them not, or cannot be read. */
static bool read_at(const struct tt_trace_file *file, void *out, size_t size, uint64_t offset)
{
	if (offset > file->info.file_bytes || size > file->info.file_bytes - offset)
		return false;
	if (file->fd < 0) {
		if (size)
			memcpy(out, file->bytes.data + offset, size);
		return true;
	}
	return tt_fd_read_at(file->fd, out, size, offset) == 0;
}

void tt_trace_file_damage(struct tt_trace_file *file, uint64_t offset, const char *what)
{
	if (file->info.damage)
		return;
	snprintf(file->damage, sizeof(file->damage), "%s", what);
	file->info.damage = file->damage;
	file->info.bad_offset = offset;
}

tt_status tt_trace_file_head(struct tt_chunk_head *head, const struct tt_trace_file *file,
			     const struct tt_chunk_place *place)
{
	unsigned char bytes[TT_CHUNK_HEAD_SIZE];

	if (place->chunk) {
		*head = place->chunk->head;
		return TTNN_OK;
	}
	if (!read_at(file, bytes, sizeof(bytes), place->row.offset) ||
	    !tt_chunk_head_get(head, bytes))
		return tt_fail(TTNN_FORMAT, "there is no chunk");
	/* A tiny chunk that claims to be huge is no chunk of ours. */
	if ((head->codec == TT_CODEC_PLAIN && head->stored_size != head->raw_size) ||
	    head->codec > TT_CODEC_ZSTD || head->raw_size / 4096 > head->stored_size)
		return tt_fail(TTNN_FORMAT, "a chunk of impossible size");
	return TTNN_OK;
}

tt_status tt_trace_file_data(unsigned char *out, const struct tt_chunk_head *head,
			     const struct tt_trace_file *file, const struct tt_chunk_place *place)
{
	if (place->chunk)
		memcpy(out, place->chunk->data, head->stored_size);
	else if (!read_at(file, out, head->stored_size, place->row.offset + TT_CHUNK_HEAD_SIZE) ||
		 tt_crc32(0, out, head->stored_size) != head->stored_crc)
		return tt_fail(TTNN_FORMAT, "a chunk with a wrong checksum");
	return TTNN_OK;
}

tt_status tt_trace_file_chunk(struct tt_chunk_head *head, unsigned char **stored,
			      const struct tt_trace_file *file, const struct tt_chunk_place *place)
{
	unsigned char *data;
	tt_status status;

	TT_TRY(tt_trace_file_head(head, file, place));
	if (place->chunk) {
		*stored = place->chunk->data;
		return TTNN_OK;
	}
	data = tt_alloc(head->stored_size + 1);
	if (!data)
		return tt_fail_nomem();
	status = tt_trace_file_data(data, head, file, place);
	if (status == TTNN_OK)
		*stored = data;
	else
		tt_free(data);
	return status;
}

/* ---- the head ------------------------------------------------------------------------------------------- */

static const char *get_name(struct tt_bytes *bytes, struct tt_terms *terms)
{
	const char *text;
	size_t length;

	if (!tt_bytes_text(&text, &length, bytes))
		return tt_terms_name(terms, "", 0);
	return tt_terms_name(terms, text, length);
}

/* Which fields the file's records have; those that we know must come first. */
static tt_status get_forms(struct tt_bytes *bytes, struct tt_terms *terms)
{
	uint64_t kinds = tt_bytes_number(bytes);

	if (kinds > TT_RECORD_KIND + 1)
		return tt_fail(TTNN_FORMAT, "it claims %" PRIu64 " kinds of records", kinds);
	for (unsigned i = 0; i < kinds; i++) {
		const char *name, *forms, *ours = i < TT_EVENT_KINDS ? tt_event_forms(i) : "";
		size_t name_length, length, common = strlen(ours);

		if (!tt_bytes_text(&name, &name_length, bytes) ||
		    !tt_bytes_text(&forms, &length, bytes) || length >= TT_CHUNK_KINDS)
			return tt_fail(TTNN_FORMAT, "its list of records makes no sense");
		if (length < common)
			common = length;
		if (memcmp(forms, ours, common) != 0 ||
		    (i < TT_EVENT_KINDS && (strlen(tt_event_kind_name(i)) != name_length ||
					    memcmp(name, tt_event_kind_name(i), name_length) != 0)))
			return tt_fail(TTNN_FORMAT, "its records are not of this version");
		memcpy(terms->forms[i], forms, length);
		terms->forms[i][length] = '\0';
	}
	return TTNN_OK;
}

static tt_status get_body(struct tt_trace_file *file, struct tt_terms *terms,
			  struct tt_bytes *bytes)
{
	struct tt_trace_info *info = &file->info;

	info->pid = tt_bytes_number(bytes);
	info->began_ns = (int64_t)tt_bytes_number(bytes);
	info->program = get_name(bytes, terms);
	info->arguments = get_name(bytes, terms);
	info->library = get_name(bytes, terms);
	file->last_ops = tt_bytes_number(bytes);
	TT_TRY(get_forms(bytes, terms));
	if (!info->program || !info->arguments || !info->library)
		return tt_fail_nomem();
	return bytes->bad ? tt_fail(TTNN_FORMAT, "its head makes no sense") : TTNN_OK;
}

static tt_status read_head(uint64_t *end, struct tt_trace_file *file, struct tt_terms *terms)
{
	unsigned char head[TT_TRACE_HEAD_SIZE], *body;
	struct tt_bytes bytes;
	uint32_t length;
	tt_status status;

	if (!read_at(file, head, sizeof(head), 0) ||
	    memcmp(head, TT_TRACE_MAGIC, TT_TRACE_MAGIC_SIZE) != 0)
		return tt_fail(TTNN_FORMAT, "not a .ttrace file");
	if (tt_get_u32(head + 20) != tt_crc32(0, head, 20))
		return tt_fail(TTNN_FORMAT, "the first %d bytes are damaged", TT_TRACE_HEAD_SIZE);
	file->info.version = tt_get_u32(head + 8);
	if (file->info.version != TT_TRACE_VERSION)
		return tt_fail(TTNN_FORMAT, "version %u of the format, this library reads %d",
			       file->info.version, TT_TRACE_VERSION);
	length = tt_get_u32(head + 12);
	if (length > TT_TRACE_BODY_MAX)
		return tt_fail(TTNN_FORMAT, "its head claims %u bytes", length);
	body = tt_alloc(length + 1);
	if (!body)
		return tt_fail_nomem();
	if (!read_at(file, body, length, sizeof(head))) {
		status = tt_fail(TTNN_FORMAT, "it ends at byte %" PRIu64 ", within its head",
				 file->info.file_bytes);
	} else if (tt_crc32(0, body, length) != tt_get_u32(head + 16)) {
		status = tt_fail(TTNN_FORMAT, "its head is damaged");
	} else {
		bytes = (struct tt_bytes){body, body + length, false};
		status = get_body(file, terms, &bytes);
	}
	tt_free(body);
	*end = file->head_end = sizeof(head) + length;
	file->checksum = tt_get_u32(head + 16);
	return status;
}

/* ---- chunks --------------------------------------------------------------------------------------------- */

static tt_status add_place(struct tt_trace_file *file, const struct tt_chunk_row *row)
{
	struct tt_trace_info *info = &file->info;

	if (!tt_vec_reserve(&file->places, &file->place_room, file->place_count, 1,
			    sizeof(*file->places)))
		return tt_fail_nomem();
	file->places[file->place_count++] = (struct tt_chunk_place){.row = *row};
	info->chunks++;
	info->events += row->events;
	info->operations += row->operations;
	info->raw_bytes += row->raw_size;
	if (row->last_ns > info->duration_ns)
		info->duration_ns = row->last_ns;
	return TTNN_OK;
}

static void count_kinds(struct tt_trace_file *file, const struct tt_chunk_head *head)
{
	for (int i = 0; i < TT_EVENT_KINDS; i++)
		file->info.counts[i] += head->counts[i];
}

tt_status tt_trace_file_add(struct tt_trace_file *file, const struct tt_chunk_head *head,
			    struct tt_chunk *chunk)
{
	struct tt_chunk_row row = tt_chunk_row_of(head, 0);

	TT_TRY(add_place(file, &row));
	file->places[file->place_count - 1].chunk = chunk;
	atomic_fetch_add_explicit(&chunk->refs, 1, memory_order_relaxed);
	count_kinds(file, head);
	return TTNN_OK;
}

/* The file ends within a chunk, unless more of them are found behind. */
static void note_torn(struct tt_trace_file *file, uint64_t offset)
{
	tt_trace_file_damage(file, offset, "the file ends within a chunk");
	file->info.bad_chunks++;
	if (!file->torn_count++)
		file->torn_offset = offset;
}

/* What was being written when the process ended is beside. */
static void forgive_torn(struct tt_trace_file *file)
{
	file->info.bad_chunks -= file->torn_count;
	if (file->torn_count && file->info.damage && file->info.bad_offset == file->torn_offset)
		file->info.damage = NULL;
	file->torn_count = 0;
}

/* The next place at or behind `offset` where a chunk's head is; the end of the file when there is none. */
static uint64_t find_chunk(const struct tt_trace_file *file, unsigned char *window, uint64_t offset)
{
	unsigned char here[TT_CHUNK_HEAD_SIZE];
	struct tt_chunk_head head;

	/* Mostly there is one: no more than heads is read of a long file. */
	if (read_at(file, here, sizeof(here), offset) && tt_chunk_head_get(&head, here))
		return offset;
	while (offset + TT_CHUNK_HEAD_SIZE <= file->info.file_bytes) {
		uint64_t left = file->info.file_bytes - offset;
		size_t size = left < SEARCH ? (size_t)left : SEARCH;

		if (!read_at(file, window, size, offset))
			break;
		for (size_t i = 0; i + TT_CHUNK_HEAD_SIZE <= size; i++)
			if (window[i] == (TT_CHUNK_MAGIC & 0xff) &&
			    tt_chunk_head_get(&head, window + i))
				return offset + i;
		offset += size - TT_CHUNK_HEAD_SIZE + 1;
	}
	return file->info.file_bytes;
}

/* A file without its index: an unfinished or damaged one. All whole chunks in it are found. */
static tt_status scan(struct tt_trace_file *file, uint64_t offset)
{
	unsigned char *window = tt_alloc(SEARCH);
	tt_status status = window ? TTNN_OK : tt_fail_nomem();

	while (status == TTNN_OK && offset < file->info.file_bytes) {
		uint64_t at = find_chunk(file, window, offset), size = file->info.file_bytes;
		struct tt_chunk_head head;
		unsigned char bytes[TT_CHUNK_HEAD_SIZE];

		if (at != offset && at == size) {
			note_torn(file, offset);
		} else if (at != offset) {
			tt_trace_file_damage(file, offset, "bytes that are no chunk");
			file->info.bad_chunks++;
		}
		if (at == size || !read_at(file, bytes, sizeof(bytes), at) ||
		    !tt_chunk_head_get(&head, bytes))
			break;
		offset = at + sizeof(bytes) + head.stored_size;
		if (offset > size) {
			note_torn(file, at);
			/* Its size may be the damage: whole ones may follow. */
			offset = at + 1;
			continue;
		}
		file->torn_count = 0;
		if (head.type == TT_CHUNK_EVENTS) {
			struct tt_chunk_row row = tt_chunk_row_of(&head, at);

			status = add_place(file, &row);
			count_kinds(file, &head);
		}
	}
	tt_free(window);
	return status;
}

/* ---- the index ------------------------------------------------------------------------------------------ */

static int compare_names(const void *a, const void *b)
{
	const struct tt_trace_name *left = a, *right = b;

	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	return strcmp(left->name, right->name);
}

static struct tt_trace_name *new_names(struct tt_trace_file *file, struct tt_terms *terms,
				       uint64_t count)
{
	struct tt_trace_name *names = tt_arena_calloc(&terms->arena, count + 1, sizeof(*names));

	file->info.names = names;
	file->info.name_count = names ? (size_t)count : 0;
	return names;
}

static tt_status get_names(struct tt_trace_file *file, struct tt_terms *terms,
			   struct tt_bytes *bytes)
{
	uint64_t count = tt_bytes_number(bytes);
	struct tt_trace_name *names;

	if (count > (uint64_t)(bytes->end - bytes->at))
		return tt_fail(TTNN_FORMAT, "the index is damaged");
	names = new_names(file, terms, count);
	if (!names)
		return tt_fail_nomem();
	for (uint64_t i = 0; i < count; i++) {
		uint64_t kind = tt_bytes_number(bytes);

		names[i].kind = kind <= TT_SCOPE_HOST ? (enum tt_scope_kind)kind : TT_SCOPE_HOST;
		names[i].name = get_name(bytes, terms);
		names[i].count = tt_bytes_number(bytes);
		if (!names[i].name)
			return tt_fail_nomem();
	}
	qsort(names, (size_t)count, sizeof(*names), compare_names);
	return TTNN_OK;
}

static tt_status get_index(struct tt_trace_file *file, struct tt_terms *terms,
			   struct tt_bytes *bytes)
{
	uint64_t kinds, chunks;

	file->info.lost = tt_bytes_number(bytes);
	get_name(bytes, terms);
	kinds = tt_bytes_number(bytes);
	for (uint64_t i = 0; i < kinds && !bytes->bad; i++) {
		uint64_t count = tt_bytes_number(bytes);

		if (i < TT_EVENT_KINDS)
			file->info.counts[i] = count;
	}
	TT_TRY(get_names(file, terms, bytes));
	chunks = tt_bytes_number(bytes);
	for (uint64_t i = 0; i < chunks && !bytes->bad; i++) {
		struct tt_chunk_row row;

#define TT_X(name) row.name = tt_bytes_number(bytes);
		TT_CHUNK_ROW_LIST(TT_X)
#undef TT_X
		if (!bytes->bad)
			TT_TRY(add_place(file, &row));
	}
	return bytes->bad ? tt_fail(TTNN_FORMAT, "the index is damaged") : TTNN_OK;
}

/* TTNN_FORMAT: there is no index, or it is of no use. */
static tt_status read_index(struct tt_trace_file *file, struct tt_terms *terms)
{
	struct tt_chunk_place place = {0};
	unsigned char tail[TT_TAIL_SIZE], *data;
	struct tt_chunk_head head;
	struct tt_bytes bytes;
	tt_status status;

	if (file->info.file_bytes < TT_TAIL_SIZE ||
	    !read_at(file, tail, sizeof(tail), file->info.file_bytes - TT_TAIL_SIZE) ||
	    !tt_tail_get(&place.row.offset, tail))
		return tt_fail(TTNN_FORMAT, "no index");
	TT_TRY(tt_trace_file_chunk(&head, &data, file, &place));
	bytes = (struct tt_bytes){data, data + head.raw_size, false};
	if (head.type == TT_CHUNK_INDEX && head.codec == TT_CODEC_PLAIN)
		status = get_index(file, terms, &bytes);
	else
		status = tt_fail(TTNN_FORMAT, "no index");
	tt_free(data);
	return status;
}

/* What a useless index left behind. */
static void forget_index(struct tt_trace_file *file)
{
	struct tt_trace_info *info = &file->info;

	file->place_count = 0;
	info->chunks = info->events = info->operations = info->raw_bytes = info->lost = 0;
	info->duration_ns = 0;
	info->names = NULL;
	info->name_count = 0;
	memset(info->counts, 0, sizeof(info->counts));
}

/* ---- opening -------------------------------------------------------------------------------------------- */

static tt_status read_all(struct tt_trace_file *file, struct tt_terms *terms, struct tt_left *left)
{
	uint64_t offset = 0;
	tt_status status;

	TT_TRY(read_head(&offset, file, terms));
	status = read_index(file, terms);
	if (status == TTNN_FORMAT) {
		forget_index(file);
		status = scan(file, offset);
		if (status == TTNN_OK && left->chunks.count && left->checksum == file->checksum) {
			forgive_torn(file);
			status = tt_left_merge(file, terms, left);
		}
	} else {
		file->info.complete = status == TTNN_OK;
	}
	file->bad_at_open = file->info.bad_chunks;
	return status;
}

/* What lies beside is read first: chunks go from there into the trace, whose process may run. */
static tt_status open_named(struct tt_trace_file *file, struct tt_terms *terms, const char *path,
			    struct tt_left *left)
{
	size_t size;
	tt_status status;

	TT_TRY(tt_left_open(left, path));
	TT_TRY(tt_file_open(&file->fd, &size, path));
	file->own_fd = true;
	file->info.file_bytes = size;
	status = read_all(file, terms, left);
	return status == TTNN_FORMAT ? tt_fail_prefix(status, "%s", path) : status;
}

tt_status tt_trace_file_open(struct tt_trace_file *file, struct tt_terms *terms, const char *path)
{
	struct tt_left left = {0};
	tt_status status = open_named(file, terms, path, &left);

	tt_left_deinit(&left);
	return status;
}

tt_status tt_trace_file_bytes(struct tt_trace_file *file, struct tt_terms *terms,
			      const struct tt_trace_bytes *bytes,
			      const struct tt_trace_bytes *beside)
{
	struct tt_left left = {0};
	tt_status status = beside ? tt_left_bytes(&left, beside) : TTNN_OK;

	file->bytes = *bytes;
	file->info.file_bytes = bytes->size;
	if (status == TTNN_OK)
		status = read_all(file, terms, &left);
	tt_left_deinit(&left);
	return status == TTNN_FORMAT ? tt_fail_prefix(status, "%s", bytes->name) : status;
}

/* With the store's lock held. */
static tt_status take_counts(struct tt_trace_file *file, struct tt_terms *terms,
			     const struct tt_store *store)
{
	struct tt_trace_name *names = new_names(file, terms, store->names.count);

	if (!names)
		return tt_fail_nomem();
	for (size_t i = 0; i < store->names.count; i++) {
		const struct tt_map_entry *entry = &store->names.entries[i];

		names[i].kind = (enum tt_scope_kind)((unsigned char)entry->key[0] - 1);
		names[i].name = tt_terms_name(terms, entry->key + 1, entry->length - 1);
		names[i].count = entry->number;
		if (!names[i].name)
			return tt_fail_nomem();
	}
	if (store->names.count)
		qsort(names, store->names.count, sizeof(*names), compare_names);
	memcpy(file->info.counts, store->counts, sizeof(file->info.counts));
	file->info.lost = store->lost;
	file->info.began_ns = store->wall_ns;
	file->last_ops = store->options.last_ops;
	return TTNN_OK;
}

tt_status tt_trace_file_capture(struct tt_trace_file *file, struct tt_terms *terms,
				struct tt_capture *capture)
{
	struct tt_trace_info *info = &file->info;
	struct tt_store *store;
	tt_status status;

	TT_TRY(tt_capture_store(&store, capture));
	TT_TRY(tt_store_list(&file->places, &file->place_count, &file->fd, store));
	for (int i = 0; i < TT_EVENT_KINDS; i++)
		memcpy(terms->forms[i], tt_event_forms(i), strlen(tt_event_forms(i)));
	for (size_t i = 0; i < file->place_count; i++) {
		const struct tt_chunk_row *row = &file->places[i].row;

		info->chunks++;
		info->events += row->events;
		info->operations += row->operations;
		info->raw_bytes += row->raw_size;
		if (row->last_ns > info->duration_ns)
			info->duration_ns = row->last_ns;
	}
	info->version = TT_TRACE_VERSION;
	info->pid = (uint64_t)getpid();
	info->program = tt_terms_name(terms, program_invocation_short_name,
				      strlen(program_invocation_short_name));
	info->arguments = tt_terms_name(terms, "", 0);
	info->library = tt_terms_name(terms, TTNN_VERSION, strlen(TTNN_VERSION));
	if (!info->program || !info->arguments || !info->library)
		return tt_fail_nomem();
	info->complete = true;
	tt_lock_take(&store->lock);
	info->file_bytes = store->offset;
	status = take_counts(file, terms, store);
	tt_lock_give(&store->lock);
	return status;
}

void tt_trace_file_close(struct tt_trace_file *file)
{
	for (size_t i = 0; i < file->place_count; i++)
		tt_chunk_unref(file->places[i].chunk);
	tt_free(file->places);
	if (file->own_fd)
		close(file->fd);
}
