/* event/store.h: where the chunks of a capture go. @threads */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "event/store.h"

#include "test.h"

#define BYTES 200000

/* A chunk of noise, so that it is not packed; the same for the same number. */
static tt_status add_chunk(struct tt_store *store, uint64_t number)
{
	struct tt_chunk *chunk = tt_store_chunk(store, BYTES);
	uint64_t state = number;

	if (!chunk)
		return tt_fail_nomem();
	for (size_t i = 0; i + 8 <= BYTES; i += 8) {
		uint64_t noise = test_random(&state);

		memcpy(chunk->data + i, &noise, sizeof(noise));
	}
	memset(&chunk->head, 0, sizeof(chunk->head));
	chunk->head.type = TT_CHUNK_EVENTS;
	chunk->head.raw_size = BYTES;
	chunk->head.sequence = (uint32_t)number;
	chunk->head.events = chunk->head.operations = 1;
	tt_store_add(store, chunk, NULL, 0);
	return TTNN_OK;
}

/* ---- dumps ---------------------------------------------------------------------------------------------- */

static atomic_bool added;

static void *dump(void *store)
{
	CHECK_OK(tt_store_dump(store));
	return NULL;
}

static void *add_one_more(void *store)
{
	CHECK_OK(add_chunk(store, 5));
	tt_store_drain(store);
	atomic_store(&added, true);
	return NULL;
}

static size_t read_all(char *out, size_t room, int fd)
{
	size_t size = 0;
	ssize_t got;

	while (size < room && (got = read(fd, out + size, room - size)) > 0)
		size += (size_t)got;
	return size;
}

/* The chunks that stand in a file, by their numbers; wherever it ends is the index. */
static size_t list_chunks(uint32_t numbers[8], const char *file, size_t size)
{
	size_t at = TT_TRACE_HEAD_SIZE + tt_get_u32((const unsigned char *)file + 12), count = 0;
	struct tt_chunk_head head;

	while (at + TT_CHUNK_HEAD_SIZE <= size && count < 8 &&
	       tt_chunk_head_get(&head, (const unsigned char *)file + at) &&
	       head.type == TT_CHUNK_EVENTS) {
		numbers[count++] = head.sequence;
		at += TT_CHUNK_HEAD_SIZE + head.stored_size;
	}
	return count;
}

/* The file is a pipe that nobody empties: as long as the dump waits for it, others record. */
TEST(recording_goes_on_during_a_dump)
{
	const char *path = test_path("pipe");
	struct tt_store store;
	uint32_t numbers[8] = {0};
	pthread_t dumper, recorder;
	size_t room = 8 * BYTES, size, count;
	char *file = malloc(room);
	int fd;

	CHECK(mkfifo(path, 0600) == 0);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	CHECK_OK(tt_store_init(&store, &(struct tt_store_options){.path = path, .last_ops = 1000}));
	for (uint64_t i = 1; i < 5; i++)
		CHECK_OK(add_chunk(&store, i));
	tt_store_drain(&store);
	pthread_create(&dumper, NULL, dump, &store);
	CHECK(poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, -1) ==
	      1); /* it is being written */
	CHECK(fcntl(fd, F_SETFL, 0) == 0);
	pthread_create(&recorder, NULL, add_one_more, &store);
	for (int i = 0; i < 5000 && !atomic_load(&added); i++)
		usleep(1000);
	CHECK(atomic_load(&added));
	size = read_all(file, room, fd);
	pthread_join(dumper, NULL);
	pthread_join(recorder, NULL);
	count = list_chunks(numbers, file, size);
	CHECK_INT(count, 4);
	for (uint32_t i = 0; i < count; i++)
		CHECK_INT(numbers[i], i + 1);
	close(fd);
	free(file);
	tt_store_deinit(&store);
}

/* ---- locks ---------------------------------------------------------------------------------------------- */

/* Who has the lock may complete the file: nothing lies beside it then, and that is said. */
TEST(a_locked_file_has_none_beside)
{
	const char *path = test_path("x.ttrace"), *told = test_path("told");
	int locked = open(path, O_RDWR | O_CREAT, 0600), old = dup(STDERR_FILENO);
	int log = open(told, O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct tt_store store;
	char text[1000] = "";

	CHECK(tt_fd_lock(locked) == 0);
	dup2(log, STDERR_FILENO);
	CHECK_OK(tt_store_init(&store, &(struct tt_store_options){.path = path}));
	CHECK_OK(add_chunk(&store, 1));
	dup2(old, STDERR_FILENO);
	CHECK(access(test_path("x.ttrace.live"), F_OK) != 0);
	CHECK_OK(tt_store_finish(&store));
	CHECK_INT(store.events, 1);
	CHECK_INT(store.lost, 0);
	CHECK(pread(log, text, sizeof(text) - 1, 0) > 0);
	CHECK(strstr(text, "x.ttrace is locked by another process"));
	tt_store_deinit(&store);
	close(locked);
	close(log);
	close(old);
}

TEST(a_file_has_one_beside)
{
	struct tt_store store;

	CHECK_OK(tt_store_init(&store, &(struct tt_store_options){.path = test_path("y.ttrace")}));
	CHECK_OK(add_chunk(&store, 1));
	CHECK(access(test_path("y.ttrace.live"), F_OK) == 0);
	CHECK_OK(tt_store_finish(&store));
	CHECK(access(test_path("y.ttrace.live"), F_OK) != 0);
	tt_store_deinit(&store);
}

SCENARIO(dumps_while_memory_runs_out)
{
	struct tt_store store;
	tt_status status;

	TT_TRY(tt_store_init(&store, &(struct tt_store_options){.path = test_path("z.ttrace"),
								.last_ops = 1000}));
	status = add_chunk(&store, 1);
	tt_store_drain(&store);
	if (status == TTNN_OK)
		status = tt_store_dump(&store);
	tt_store_deinit(&store);
	return status;
}
