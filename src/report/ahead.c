#include "report/ahead.h"

#include <pthread.h>
#include <signal.h>

#include "base/mem.h"
#include "base/pool.h"

/* Bytes of a batch, and of an element that is left to the caller. */
#define BATCH ((size_t)64 << 10)
#define LARGE ((size_t)1 << 20)

/* Threads, where there are processors; a part that is worth one; bytes of stack. */
#define THREADS 2
#define WORTH ((size_t)256 << 10)
#define STACK ((size_t)256 << 10)

struct tt_report_ahead {
	struct tt_report_source *source;
	struct tt_report_elements elements;
	struct tt_report_ahead_task task;
	enum tt_graph_part part;
	size_t taken; /* batches; the caller's own */
	pthread_t threads[THREADS];
	unsigned running;
	struct tt_report_batch batches[TT_REPORT_BATCHES];
	/* No matter of a fork (base/lock.h): it is shared within one call, which no child goes on with. */
	pthread_mutex_t lock;    /* of what is below */
	pthread_cond_t ready;    /* the batch that the caller waits for */
	pthread_cond_t space;    /* a batch may be claimed, or `stop` */
	size_t claimed, started; /* batches that somebody works on or did; elements in them */
	size_t released, wanted; /* batches; that which the caller waits for */
	bool done[TT_REPORT_BATCHES], stop;
};

/* ---- a batch -------------------------------------------------------------------------------- */

/* The next batch becomes the caller's to work on; NULL when there is none, or no room. Locked. */
static struct tt_report_batch *claim(struct tt_report_ahead *ahead)
{
	size_t first = ahead->started, count = 0, slot = ahead->claimed % TT_REPORT_BATCHES;
	struct tt_report_batch *batch = &ahead->batches[slot];
	struct tt_report_element *all = batch->elements;

	if (first == ahead->elements.count || ahead->claimed - ahead->released == TT_REPORT_BATCHES)
		return NULL;
	batch->status = TTNN_OK;
	for (; first + count < ahead->elements.count && count < TT_REPORT_BATCH_MAX; count++) {
		batch->status = ahead->source->element(&all[count], ahead->source, first + count);
		if (batch->status != TTNN_OK ||
		    (count && all[count].start + all[count].length - all[0].start > BATCH))
			break;
	}
	/* Where one is lost there is nothing more to read: the batch tells. */
	if (batch->status != TTNN_OK)
		count = ahead->elements.count - first;
	batch->number = ahead->claimed++;
	batch->slot = slot;
	batch->first = first;
	batch->count = count;
	batch->parsed = false;
	ahead->started = first + count;
	ahead->done[slot] = false;
	return batch;
}

/* What is no JSON is not told here: who reads the elements one by one finds out where. */
static tt_status parse(struct tt_report_ahead *ahead, struct tt_report_batch *batch)
{
	const struct tt_report_element *first = batch->elements;
	const struct tt_report_element *last = first + batch->count - 1;
	size_t length = last->start + last->length - first->start;
	struct tt_json_fault fault;
	tt_status status;
	char *text;

	for (size_t i = 0; i < batch->count; i++)
		if (first[i].length > LARGE || first[i].length > ahead->elements.limit)
			return TTNN_OK;
	text = tt_json_parser_room(&batch->parser, length + 2);
	if (!text)
		return tt_fail_nomem();
	text[0] = '[';
	if (ahead->source->copy(text + 1, ahead->source, ahead->part, first->start, length) !=
	    TTNN_OK)
		return TTNN_OK;
	text[1 + length] = ']';
	status = tt_json_parser_take(&batch->root, &fault, &batch->parser, length + 2,
				     ahead->elements.depth - 1);
	if (status == TTNN_FORMAT ||
	    (status == TTNN_OK && tt_json_count(batch->root) != batch->count))
		return TTNN_OK;
	TT_TRY(status);
	batch->parsed = true;
	return ahead->task.prepare ? ahead->task.prepare(ahead->task.context, batch) : TTNN_OK;
}

/* Works on a claimed batch. Comes and goes with the lock held. */
static void work(struct tt_report_ahead *ahead, struct tt_report_batch *batch)
{
	pthread_mutex_unlock(&ahead->lock);
	if (batch->status == TTNN_OK)
		batch->status = parse(ahead, batch);
	pthread_mutex_lock(&ahead->lock);
	ahead->done[batch->slot] = true;
	if (batch->number == ahead->wanted)
		pthread_cond_signal(&ahead->ready);
}

/* ---- the threads ---------------------------------------------------------------------------- */

static void *work_on(void *context)
{
	struct tt_report_ahead *ahead = context;

	pthread_mutex_lock(&ahead->lock);
	while (!ahead->stop && ahead->started < ahead->elements.count) {
		struct tt_report_batch *batch = claim(ahead);

		if (batch)
			work(ahead, batch);
		else
			pthread_cond_wait(&ahead->space, &ahead->lock);
	}
	pthread_mutex_unlock(&ahead->lock);
	return NULL;
}

/* As many as can be; none will do. Signals are for the threads of the program. */
static void start(struct tt_report_ahead *ahead)
{
	unsigned count = tt_pool_threads();
	pthread_attr_t attributes;
	sigset_t all, before;

	if (count < 2 || pthread_attr_init(&attributes) != 0)
		return;
	pthread_attr_setstacksize(&attributes, STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (; ahead->running < count && ahead->running < THREADS; ahead->running++)
		if (pthread_create(&ahead->threads[ahead->running], &attributes, work_on, ahead) !=
		    0)
			break;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

tt_status tt_report_ahead_new(struct tt_report_ahead **out, struct tt_report_source *source,
			      enum tt_graph_part part, const struct tt_report_ahead_task *task)
{
	struct tt_report_ahead *ahead = tt_calloc(1, sizeof(*ahead));
	struct tt_report_element first, last;

	if (!ahead)
		return tt_fail_nomem();
	ahead->source = source;
	ahead->part = part;
	ahead->task = *task;
	ahead->elements = source->elements(source, part);
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->ready, NULL);
	pthread_cond_init(&ahead->space, NULL);
	*out = ahead;
	if (ahead->elements.count && source->element(&first, source, 0) == TTNN_OK &&
	    source->element(&last, source, ahead->elements.count - 1) == TTNN_OK &&
	    last.start - first.start > WORTH)
		start(ahead);
	return TTNN_OK;
}

void tt_report_ahead_free(struct tt_report_ahead *ahead)
{
	if (!ahead)
		return;
	pthread_mutex_lock(&ahead->lock);
	ahead->stop = true;
	pthread_cond_broadcast(&ahead->space);
	pthread_mutex_unlock(&ahead->lock);
	for (unsigned i = 0; i < ahead->running; i++)
		pthread_join(ahead->threads[i], NULL);
	for (int i = 0; i < TT_REPORT_BATCHES; i++)
		tt_json_parser_deinit(&ahead->batches[i].parser);
	pthread_cond_destroy(&ahead->ready);
	pthread_cond_destroy(&ahead->space);
	pthread_mutex_destroy(&ahead->lock);
	tt_free(ahead);
}

/* ---- the caller ----------------------------------------------------------------------------- */

struct tt_report_batch *tt_report_ahead_take(struct tt_report_ahead *ahead)
{
	size_t slot = ahead->taken % TT_REPORT_BATCHES;
	struct tt_report_batch *batch;

	pthread_mutex_lock(&ahead->lock);
	ahead->wanted = ahead->taken;
	/* Nobody began with it, or others are still at it: then there is the next to begin with. */
	while (ahead->claimed == ahead->taken || !ahead->done[slot]) {
		batch = claim(ahead);
		if (batch)
			work(ahead, batch);
		else if (ahead->claimed == ahead->taken)
			break; /* it was the last */
		else
			pthread_cond_wait(&ahead->ready, &ahead->lock);
	}
	batch = ahead->claimed == ahead->taken ? NULL : &ahead->batches[slot];
	pthread_mutex_unlock(&ahead->lock);
	ahead->taken += batch != NULL;
	return batch;
}

void tt_report_ahead_release(struct tt_report_ahead *ahead)
{
	pthread_mutex_lock(&ahead->lock);
	ahead->released++;
	pthread_cond_signal(&ahead->space);
	pthread_mutex_unlock(&ahead->lock);
}
