#include "trace/relay.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/pool.h"

/* Events of a batch, batches, bytes of stack. */
#define EVENTS 512
#define BATCHES 4
#define STACK ((size_t)1 << 20)

struct batch {
	struct tt_seen seen[EVENTS];
	size_t count;
	struct tt_arena arena; /* what they point at, but for what lives as long as its chunk */
};

struct tt_relay {
	struct tt_source *source;
	struct batch *batches; /* a ring; NULL: there is no thread */
	size_t at;             /* of the events of the batch that the caller has */
	bool has;              /* the caller has one */
	pthread_t thread;
	bool running;
	/* No matter of a fork (base/lock.h): it is shared within one call, which no child goes on with. */
	pthread_mutex_t lock; /* of what is below */
	pthread_cond_t moved; /* any of it */
	size_t filled, used;  /* batches, since the beginning */
	bool waiting, waited; /* the thread, or the caller, for the other */
	bool ended, stop;
	tt_status status;
	char message[512];
};

/* ---- the thread ------------------------------------------------------------------------------------------ */

/* Hands the batch over that is being filled, and waits until at most `most` are on their way. False: it is to stop. */
static bool hand_over(struct tt_relay *relay, size_t most)
{
	struct batch *batch = &relay->batches[relay->filled % BATCHES];
	bool go_on;

	if (batch->count)
		tt_source_swap(relay->source, &batch->arena);
	pthread_mutex_lock(&relay->lock);
	if (batch->count) {
		relay->filled++;
		if (relay->waited)
			pthread_cond_broadcast(&relay->moved);
	}
	while (!relay->stop && relay->filled - relay->used > most) {
		relay->waiting = true;
		pthread_cond_wait(&relay->moved, &relay->lock);
		relay->waiting = false;
	}
	go_on = !relay->stop;
	pthread_mutex_unlock(&relay->lock);
	batch = &relay->batches[relay->filled % BATCHES];
	batch->count = 0;
	tt_arena_reset(&batch->arena);
	return go_on;
}

/* What events point at goes with their chunk: they have to be used before. */
static void finish_chunk(void *context)
{
	hand_over(context, 0);
}

static void *work(void *context)
{
	struct tt_relay *relay = context;
	const struct tt_seen *seen;
	tt_status status;

	while ((status = tt_source_next(&seen, relay->source)) == TTNN_OK && seen) {
		struct batch *batch = &relay->batches[relay->filled % BATCHES];

		batch->seen[batch->count++] = *seen;
		if (batch->count == EVENTS && !hand_over(relay, BATCHES - 1))
			break;
	}
	hand_over(relay, BATCHES - 1);
	pthread_mutex_lock(&relay->lock);
	relay->ended = true;
	relay->status = status;
	if (status != TTNN_OK)
		snprintf(relay->message, sizeof(relay->message), "%s", ttnn_error());
	pthread_cond_broadcast(&relay->moved);
	pthread_mutex_unlock(&relay->lock);
	return NULL;
}

/* Signals are for the threads of the program. */
static void start(struct tt_relay *relay)
{
	struct tt_source_hold hold = {finish_chunk, relay};
	pthread_attr_t attributes;
	sigset_t all, before;

	relay->batches = tt_calloc(BATCHES, sizeof(*relay->batches));
	if (!relay->batches || pthread_attr_init(&attributes) != 0)
		return;
	pthread_attr_setstacksize(&attributes, STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	tt_source_hold(relay->source, &hold);
	relay->running = pthread_create(&relay->thread, &attributes, work, relay) == 0;
	if (!relay->running)
		tt_source_hold(relay->source, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

/* ---- the caller ------------------------------------------------------------------------------------------ */

tt_status tt_relay_new(struct tt_relay **out, struct tt_source *source, bool beside)
{
	struct tt_relay *relay = tt_calloc(1, sizeof(*relay));

	if (!relay)
		return tt_fail_nomem();
	relay->source = source;
	pthread_mutex_init(&relay->lock, NULL);
	pthread_cond_init(&relay->moved, NULL);
	*out = relay;
	if (beside && tt_pool_threads() > 1)
		start(relay);
	return TTNN_OK;
}

/* Gives the batch back that the caller has, and takes the next; false behind the last. */
static bool take(struct tt_relay *relay)
{
	bool more;

	pthread_mutex_lock(&relay->lock);
	relay->used += relay->has;
	if (relay->has && relay->waiting)
		pthread_cond_broadcast(&relay->moved);
	while (relay->filled == relay->used && !relay->ended) {
		relay->waited = true;
		pthread_cond_wait(&relay->moved, &relay->lock);
		relay->waited = false;
	}
	more = relay->filled != relay->used;
	pthread_mutex_unlock(&relay->lock);
	relay->has = more;
	relay->at = 0;
	return more;
}

tt_status tt_relay_next(const struct tt_seen **out, struct tt_relay *relay)
{
	const struct batch *batch;

	if (!relay->running)
		return tt_source_next(out, relay->source);
	*out = NULL;
	if (!relay->has || relay->at == relay->batches[relay->used % BATCHES].count)
		if (!take(relay))
			return relay->status == TTNN_OK ? TTNN_OK
			       : relay->status == TTNN_NOMEM
				       ? tt_fail_nomem()
				       : tt_fail(relay->status, "%s", relay->message);
	batch = &relay->batches[relay->used % BATCHES];
	*out = &batch->seen[relay->at++];
	return TTNN_OK;
}

void tt_relay_free(struct tt_relay *relay)
{
	if (!relay)
		return;
	pthread_mutex_lock(&relay->lock);
	relay->stop = true;
	pthread_cond_broadcast(&relay->moved);
	pthread_mutex_unlock(&relay->lock);
	if (relay->running) {
		pthread_join(relay->thread, NULL);
		tt_source_hold(relay->source, NULL);
	}
	for (int i = 0; relay->batches && i < BATCHES; i++)
		tt_arena_deinit(&relay->batches[i].arena);
	tt_free(relay->batches);
	pthread_cond_destroy(&relay->moved);
	pthread_mutex_destroy(&relay->lock);
	tt_free(relay);
}
