/* complete.c: traces of processes that ended without ending them become whole files (trace/left.h). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/pack.h"
#include "base/str.h"
#include "trace/left.h"

/* ---- one trace ------------------------------------------------------------------------------------------ */

/* The records of a chunk of the file, unpacked; the caller's to free. */
static tt_status read_raw(struct tt_chunk_head *head, unsigned char **raw,
			  struct tt_trace_file *file, const struct tt_chunk_place *place)
{
	unsigned char *stored;
	tt_status status;

	TT_TRY(tt_trace_file_chunk(head, &stored, file, place));
	if (head->codec == TT_CODEC_PLAIN) {
		*raw = stored;
		return TTNN_OK;
	}
	*raw = tt_alloc(head->raw_size + 1);
	status =
		*raw ? tt_unpack(*raw, head->raw_size, stored, head->stored_size) : tt_fail_nomem();
	tt_free(stored);
	if (status != TTNN_OK)
		tt_free(*raw);
	return status;
}

/* A chunk that is in the file already: the index is to know it, if it can be read. */
static tt_status adopt(struct tt_store *store, struct tt_trace_file *file, struct tt_terms *terms,
		       const struct tt_chunk_place *place, const struct tt_measure *measure)
{
	struct tt_chunk_head head, found;
	unsigned char *raw = NULL;
	tt_status status = read_raw(&head, &raw, file, place);

	if (status == TTNN_FORMAT || status == TTNN_IO)
		return TTNN_OK;
	if (status != TTNN_OK)
		return status;
	found = head;
	status = tt_left_measure(&found, terms, raw, measure);
	if (status == TTNN_OK)
		tt_store_adopt(store, &head, place->row.offset);
	tt_free(raw);
	return status;
}

/* A chunk from beside: the store packs and writes it. */
static tt_status append(struct tt_store *store, struct tt_terms *terms, struct tt_chunk *left,
			const struct tt_measure *measure)
{
	struct tt_chunk *chunk = tt_store_chunk(store, left->head.raw_size);
	tt_status status;

	if (!chunk)
		return tt_fail_nomem();
	chunk->head = left->head;
	memcpy(chunk->data, left->data, left->head.raw_size);
	status = tt_left_measure(&chunk->head, terms, chunk->data, measure);
	if (status == TTNN_OK)
		tt_store_add(store, chunk, NULL, 0);
	else
		tt_store_reuse(store, chunk);
	return status;
}

/* The end of the last whole chunk: what comes behind was being written. */
static uint64_t whole_end(const struct tt_trace_file *file)
{
	uint64_t end = file->head_end;

	for (size_t i = 0; i < file->place_count; i++) {
		const struct tt_chunk_place *place = &file->places[i];
		uint64_t after = place->row.offset + TT_CHUNK_HEAD_SIZE + place->row.stored_size;

		if (!place->chunk && after > end)
			end = after;
	}
	return end;
}

/* Takes over the descriptor. */
static tt_status fold(struct tt_trace_file *file, struct tt_terms *terms, const char *path, int fd)
{
	uint64_t end = whole_end(file), told = 0;
	struct tt_store store;
	struct tt_measure measure = {&store.names, &told};
	tt_status status = tt_store_resume(&store, path, fd, end);

	if (status == TTNN_OK && ftruncate(fd, (off_t)end) != 0)
		status = tt_fail(TTNN_IO, "%s: %s", path, strerror(errno));
	for (size_t i = 0; status == TTNN_OK && i < file->place_count; i++)
		if (!file->places[i].chunk)
			status = adopt(&store, file, terms, &file->places[i], &measure);
	for (size_t i = 0; status == TTNN_OK && i < file->place_count; i++)
		if (file->places[i].chunk)
			status = append(&store, terms, file->places[i].chunk, &measure);
	tt_store_drain(&store);
	/* What could not be written is still beside: then the file is not completed. */
	if (status == TTNN_OK && store.lost)
		status = tt_fail(TTNN_IO, "%s", store.reason);
	store.lost = told; /* by its process */
	if (status == TTNN_OK)
		status = tt_store_finish(&store);
	tt_store_deinit(&store);
	return status;
}

static void remove_beside(const char *path)
{
	struct tt_str name = {0};

	tt_live_path(&name, path);
	if (tt_str_status(&name) == TTNN_OK)
		unlink(tt_str_text(&name));
	tt_str_deinit(&name);
}

tt_status tt_trace_complete(enum tt_completion *out, const char *path)
{
	struct tt_trace_file file = {.fd = -1};
	struct tt_terms terms = {0};
	tt_status status;
	int fd = tt_fd_open(path, O_RDWR | O_NONBLOCK);

	if (fd < 0)
		return tt_fail(TTNN_IO, "%s: %s", path, strerror(errno));
	*out = TT_COMPLETE_RUNNING;
	if (tt_fd_lock(fd) != 0) {
		close(fd);
		return TTNN_OK;
	}
	status = tt_trace_file_open(&file, &terms, path);
	*out = file.info.complete ? TT_COMPLETE_ALREADY : TT_COMPLETE_NOW;
	if (status == TTNN_OK && !file.info.complete)
		status = fold(&file, &terms, path, fd);
	else
		close(fd);
	if (status == TTNN_OK)
		remove_beside(path);
	tt_trace_file_close(&file);
	tt_terms_deinit(&terms);
	return status;
}

/* ---- all of a directory --------------------------------------------------------------------------------- */

static bool is_wanted(const char *path, int64_t since)
{
	struct tt_str beside = {0};
	struct stat facts;
	bool wanted = stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0;

	tt_live_path(&beside, path);
	wanted = wanted && tt_str_status(&beside) == TTNN_OK &&
		 (access(tt_str_text(&beside), F_OK) == 0 ||
		  (int64_t)facts.st_mtim.tv_sec * 1000000000 + facts.st_mtim.tv_nsec >= since);
	tt_str_deinit(&beside);
	return wanted;
}

int tt_traces_complete(const char *directory, int64_t since)
{
	DIR *listing = opendir(directory);
	struct dirent *entry;
	int running = 0;

	while (listing && (entry = readdir(listing))) {
		enum tt_completion done = TT_COMPLETE_ALREADY;
		struct tt_str path = {0};

		if (!tt_ends_with(entry->d_name, TT_TRACE_SUFFIX))
			continue;
		tt_str_addf(&path, "%s/%s", directory, entry->d_name);
		if (is_wanted(tt_str_text(&path), since) &&
		    tt_trace_complete(&done, tt_str_text(&path)) != TTNN_OK)
			tt_log(TT_LOG_WARN, "%s", ttnn_error());
		running += done == TT_COMPLETE_RUNNING;
		tt_str_deinit(&path);
	}
	if (listing)
		closedir(listing);
	return running;
}
