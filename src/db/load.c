/*
 * Rows are copied into batches; a thread of its own writes full ones while the next are filled. The
 * thread starts with the first full batch: small databases never have one. There are few batches, so
 * a writer that cannot follow holds up the caller, and memory stays small.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "db/stmt.h"

#define BATCH ((size_t)512 << 10)
#define BATCHES 4
#define STACK ((size_t)256 << 10)

struct batch {
	char *data;
	size_t used;
};

struct tt_db_load {
	struct batch batches[BATCHES];
	pthread_t thread;
	bool running; /* the caller's own, as is the batch being filled */
	/* No matter of a fork (base/lock.h): it is shared within one call, which no child goes on with. */
	pthread_mutex_t lock;   /* of what is below */
	pthread_cond_t moved;   /* `filled`, `written` or `stop` */
	size_t filled, written; /* batches since the beginning; those between are the thread's */
	bool stop, drop;        /* the thread ends; batches are passed by unwritten */
	tt_status status;       /* the first failure, and its message */
	char message[512];
};

tt_status tt_db_load_new(struct tt_db_load **out)
{
	struct tt_db_load *load = tt_calloc(1, sizeof(*load));

	if (!load)
		return tt_fail_nomem();
	for (int i = 0; i < BATCHES; i++)
		load->batches[i].data = tt_alloc(BATCH);
	for (int i = 0; i < BATCHES; i++)
		if (!load->batches[i].data) {
			for (int k = 0; k < BATCHES; k++)
				tt_free(load->batches[k].data);
			tt_free(load);
			return tt_fail_nomem();
		}
	pthread_mutex_init(&load->lock, NULL);
	pthread_cond_init(&load->moved, NULL);
	*out = load;
	return TTNN_OK;
}

/* ---- a row in a batch: the statement, its values with their texts behind each --------------------- */

static char *put(char *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	return to + size;
}

static size_t row_size(const struct tt_db_stmt *stmt)
{
	size_t size = sizeof(stmt) + (size_t)stmt->count * sizeof(struct tt_db_value);

	for (int i = 0; i < stmt->count; i++) {
		if (stmt->values[i].kind != TT_DB_TEXT)
			continue;
		if (stmt->values[i].length > BATCH)
			return SIZE_MAX;
		size += stmt->values[i].length;
	}
	return size;
}

static void put_row(struct batch *batch, struct tt_db_stmt *stmt)
{
	char *to = put(batch->data + batch->used, &stmt, sizeof(stmt));

	to = put(to, stmt->values, (size_t)stmt->count * sizeof(*stmt->values));
	for (int i = 0; i < stmt->count; i++)
		if (stmt->values[i].kind == TT_DB_TEXT)
			to = put(to, stmt->values[i].text, stmt->values[i].length);
	batch->used = (size_t)(to - batch->data);
}

static tt_status write_batch(struct batch *batch)
{
	struct tt_db_value values[TT_DB_PARAMETERS];
	const char *at = batch->data, *end = at + batch->used;
	struct tt_db_stmt *stmt;

	while (at < end) {
		size_t size;

		memcpy(&stmt, at, sizeof(stmt));
		at += sizeof(stmt);
		size = (size_t)stmt->count * sizeof(*values);
		memcpy(values, at, size);
		at += size;
		for (int i = 0; i < stmt->count; i++)
			if (values[i].kind == TT_DB_TEXT) {
				values[i].text = at;
				at += values[i].length;
			}
		TT_TRY(tt_db_write(stmt, values));
	}
	return TTNN_OK;
}

/* ---- failures: with the lock held, or without a thread -------------------------------------------------- */

static void keep(struct tt_db_load *load, tt_status status)
{
	if (status == TTNN_OK)
		return;
	load->status = status;
	snprintf(load->message, sizeof(load->message), "%s", ttnn_error());
}

static tt_status tell(const struct tt_db_load *load)
{
	return load->status == TTNN_OK ? TTNN_OK : tt_fail(load->status, "%s", load->message);
}

/* ---- the thread ------------------------------------------------------------------------------------ */

static void *write_batches(void *context)
{
	struct tt_db_load *load = context;

	pthread_mutex_lock(&load->lock);
	for (;;) {
		struct batch *batch = &load->batches[load->written % BATCHES];
		tt_status status = TTNN_OK;

		if (load->stop)
			break;
		if (load->written == load->filled) {
			pthread_cond_wait(&load->moved, &load->lock);
			continue;
		}
		if (load->status == TTNN_OK && !load->drop) {
			pthread_mutex_unlock(&load->lock);
			status = write_batch(batch);
			pthread_mutex_lock(&load->lock);
		}
		keep(load, status);
		load->written++;
		pthread_cond_broadcast(&load->moved);
	}
	pthread_mutex_unlock(&load->lock);
	return NULL;
}

/* Signals are for the threads of the program. */
static void start(struct tt_db_load *load)
{
	pthread_attr_t attributes;
	sigset_t all, before;

	if (load->running || pthread_attr_init(&attributes) != 0)
		return;
	pthread_attr_setstacksize(&attributes, STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	load->running = pthread_create(&load->thread, &attributes, write_batches, load) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

/* Gives the present batch away and waits until at most `left` are on their way. */
static tt_status hand_over(struct tt_db_load *load, size_t left)
{
	struct batch *batch = &load->batches[load->filled % BATCHES];
	tt_status status;

	pthread_mutex_lock(&load->lock);
	if (batch->used) {
		load->filled++;
		pthread_cond_broadcast(&load->moved);
	}
	while (load->filled - load->written > left)
		pthread_cond_wait(&load->moved, &load->lock);
	status = tell(load);
	pthread_mutex_unlock(&load->lock);
	load->batches[load->filled % BATCHES].used = 0;
	return status;
}

/* ---- the caller ------------------------------------------------------------------------------------ */

/* The present batch, by the caller itself: there is no thread. */
static tt_status write_here(struct tt_db_load *load)
{
	struct batch *batch = &load->batches[load->filled % BATCHES];

	if (load->status == TTNN_OK)
		keep(load, write_batch(batch));
	batch->used = 0;
	return tell(load);
}

tt_status tt_db_load_drain(struct tt_db_load *load)
{
	return load->running ? hand_over(load, 0) : write_here(load);
}

void tt_db_load_drop(struct tt_db_load *load)
{
	pthread_mutex_lock(&load->lock);
	load->drop = true;
	while (load->running && load->filled != load->written)
		pthread_cond_wait(&load->moved, &load->lock);
	load->drop = false;
	pthread_mutex_unlock(&load->lock);
	load->batches[load->filled % BATCHES].used = 0;
}

tt_status tt_db_load_add(struct tt_db_load *load, struct tt_db_stmt *stmt)
{
	size_t size = row_size(stmt);

	if (size > BATCH) { /* not worth a copy */
		TT_TRY(tt_db_load_drain(load));
		return tt_db_write(stmt, stmt->values);
	}
	if (load->batches[load->filled % BATCHES].used + size > BATCH) {
		start(load);
		TT_TRY(load->running ? hand_over(load, BATCHES - 1) : write_here(load));
	}
	put_row(&load->batches[load->filled % BATCHES], stmt);
	return TTNN_OK;
}

void tt_db_load_free(struct tt_db_load *load)
{
	if (!load)
		return;
	pthread_mutex_lock(&load->lock);
	load->stop = true;
	pthread_cond_broadcast(&load->moved);
	pthread_mutex_unlock(&load->lock);
	if (load->running)
		pthread_join(load->thread, NULL);
	pthread_cond_destroy(&load->moved);
	pthread_mutex_destroy(&load->lock);
	for (int i = 0; i < BATCHES; i++)
		tt_free(load->batches[i].data);
	tt_free(load);
}
