#include "report/ahead_trace.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"

/* Connections of a node that are kept in memory; bytes of forms that are remembered. */
#define LINKS_MAX 4096
#define FORMS ((size_t)12 << 20)

/*
 * Batches that are made ahead, and how many of them there are when who waits is woken: not for each. Those that wait for
 * their connections; nodes that are worth a thread; bytes of stack.
 */
#define AHEAD 6
#define ENOUGH 2
#define BEHIND 3
#define WORTH 4096
#define STACK ((size_t)1 << 20)

/* Forms that no further node is of, once a batch is given back. */
struct retired {
	struct tt_report_form *form;
	uint64_t batch; /* number of the first one that none of their nodes is in */
};

struct tt_report_ahead_trace {
	struct tt_stream *stream;
	const char *directory;
	struct tt_report_forms forms;              /* the thread's */
	uint64_t made;                             /* batches, likewise */
	struct tt_report_told_batch *bare[BEHIND]; /* likewise, without connections */
	size_t bare_count;
	bool read; /* likewise: all nodes are */
	pthread_t thread;
	bool running;
	uint64_t released;              /* batches; the caller's */
	TT_VEC(struct retired) leaving; /* likewise: of those below, what waits for its time */
	TT_VEC(struct tt_report_form *) staying; /* likewise: of tensors, until the end */
	/* No matter of a fork (base/lock.h): it is shared within one call, which no child goes on with. */
	pthread_mutex_t lock; /* of what is below */
	pthread_cond_t moved; /* any of it */
	struct tt_report_told_batch *first, *last, *spare;
	size_t waiting; /* batches from first to last */
	TT_VEC(struct retired) retired;
	bool ended, stop;
	tt_status status;
	char message[512];
};

/* ---- one node -------------------------------------------------------------------------------- */

static void drop_many(struct tt_report_told_batch *batch)
{
	for (int i = 0; batch->has_many && i < TT_REPORT_NODES_MAX; i++) {
		struct tt_report_told *node = &batch->nodes[i];

		if (node->many)
			tt_spool_deinit(node->many);
		tt_free(node->many);
		node->many = NULL;
	}
	batch->has_many = false;
}

static tt_status add_many(struct tt_report_told *to, int64_t number)
{
	int64_t *link = tt_spool_append(to->many);

	if (!link)
		return tt_spool_status(to->many);
	*link = number;
	return TTNN_OK;
}

/* The values and inputs of a node, behind those of the nodes before. */
static tt_status read_node(struct tt_report_told_batch *batch, struct tt_report_ahead_trace *ahead,
			   const struct tt_graph_node *node)
{
	const struct tt_report_forms *forms = &ahead->forms;
	struct tt_report_told *to = &batch->nodes[batch->count];
	size_t values, inputs = node->input_count;
	int64_t *numbers;

	TT_TRY(tt_report_form_find(&to->form, &ahead->forms, node));
	values = forms->number_count;
	if (batch->numbers.room - batch->numbers.count < values + inputs &&
	    !TT_VEC_RESERVE(&batch->numbers, values + inputs))
		return tt_fail_nomem();
	numbers = batch->numbers.data + batch->numbers.count;
	for (size_t i = 0; i < values; i++)
		numbers[i] = forms->numbers[i];
	for (size_t i = 0; i < inputs; i++)
		numbers[values + i] = node->inputs[i];
	batch->numbers.count += values + inputs;
	to->counter = node->counter;
	to->entry = tt_report_form_entry(to->form, numbers);
	to->value_count = (uint32_t)values;
	to->input_count = (uint32_t)inputs;
	return TTNN_OK;
}

static tt_status fill(struct tt_report_told_batch *batch, struct tt_report_ahead_trace *ahead)
{
	const struct tt_graph_node *node = NULL;

	batch->numbers.count = 0;
	for (batch->count = 0; batch->count < TT_REPORT_NODES_MAX; batch->count++) {
		TT_TRY(tt_stream_next(&node, ahead->stream));
		if (!node)
			break;
		TT_TRY(read_node(batch, ahead, node));
	}
	return TTNN_OK;
}

/* ---- its connections, by the caller ---------------------------------------------------------- */

/* There are too many connections for memory. */
static tt_status begin_many(struct tt_report_told_batch *batch, struct tt_report_told *to,
			    const char *directory)
{
	size_t first = batch->links.count - to->connection_count;

	to->many = tt_calloc(1, sizeof(*to->many));
	if (!to->many)
		return tt_fail_nomem();
	batch->has_many = true;
	tt_spool_init(to->many, sizeof(int64_t), directory);
	for (size_t i = first; i < batch->links.count; i++)
		TT_TRY(add_many(to, batch->links.data[i]));
	batch->links.count = first;
	to->connection_count = 0;
	return TTNN_OK;
}

static tt_status add_link(struct tt_report_told_batch *batch, struct tt_report_told *to,
			  uint32_t edge, const char *directory)
{
	if (to->connection_count == LINKS_MAX)
		TT_TRY(begin_many(batch, to, directory));
	if (to->many)
		return add_many(to, edge);
	if (batch->links.count == batch->links.room && !TT_VEC_RESERVE(&batch->links, 1))
		return tt_fail_nomem();
	batch->links.data[batch->links.count++] = edge;
	to->connection_count++;
	return TTNN_OK;
}

/* Near ones, then far ones. */
static tt_status read_edges(struct tt_report_told_batch *batch, struct tt_report_ahead_trace *ahead)
{
	uint32_t edge;

	batch->links.count = 0;
	if (!tt_near_sort(&batch->near))
		return tt_fail_nomem();
	for (size_t i = 0; i < batch->count; i++) {
		struct tt_report_told *to = &batch->nodes[i];
		size_t count;
		const uint32_t *near = tt_near_of(&count, &batch->near, i);
		size_t at_once = count < LINKS_MAX ? count : 0;

		if (batch->links.room - batch->links.count < at_once &&
		    !TT_VEC_RESERVE(&batch->links, at_once))
			return tt_fail_nomem();
		for (size_t k = 0; k < at_once; k++)
			batch->links.data[batch->links.count++] = near[k];
		to->connection_count = (uint32_t)at_once;
		for (size_t k = at_once; k < count; k++)
			TT_TRY(add_link(batch, to, near[k], ahead->directory));
		while (tt_stream_trace_far(&edge, ahead->stream, (uint32_t)to->counter))
			TT_TRY(add_link(batch, to, edge, ahead->directory));
	}
	return tt_stream_trace_status(ahead->stream);
}

/* The numbers of a batch stay where they are now. */
static tt_status connect(struct tt_report_told_batch *batch, struct tt_report_ahead_trace *ahead)
{
	const int64_t *numbers = batch->numbers.data, *links;

	TT_TRY(read_edges(batch, ahead));
	links = batch->links.data;
	for (size_t i = 0; i < batch->count; i++) {
		struct tt_report_told *to = &batch->nodes[i];

		to->values = numbers;
		to->inputs = numbers + to->value_count;
		to->connections = links;
		numbers += to->value_count + to->input_count;
		links += to->connection_count;
	}
	return TTNN_OK;
}

/* ---- batches --------------------------------------------------------------------------------- */

static void free_batch(struct tt_report_told_batch *batch)
{
	drop_many(batch);
	TT_VEC_DEINIT(&batch->numbers);
	TT_VEC_DEINIT(&batch->links);
	tt_near_block_deinit(&batch->near);
	tt_free(batch);
}

/* All forms so far: later nodes get new ones. Locked. */
static tt_status retire(struct tt_report_ahead_trace *ahead)
{
	struct tt_report_forms *forms = &ahead->forms;

	if (!TT_VEC_RESERVE(&ahead->retired, forms->all.count))
		return tt_fail_nomem();
	for (size_t i = 0; i < forms->all.count; i++)
		ahead->retired.data[ahead->retired.count++] =
			(struct retired){forms->all.data[i], ahead->made};
	tt_report_forms_forget(forms);
	return TTNN_OK;
}

/* A batch without connections behind the others, in this room or in new one. */
static tt_status make_bare(struct tt_report_ahead_trace *ahead, struct tt_report_told_batch *batch)
{
	if (!batch)
		batch = tt_calloc(1, sizeof(*batch));
	if (!batch)
		return tt_fail_nomem();
	ahead->bare[ahead->bare_count++] = batch;
	TT_TRY(fill(batch, ahead));
	ahead->read = batch->count < TT_REPORT_NODES_MAX;
	return TTNN_OK;
}

/* The first of them gets its near edges. */
static tt_status complete(struct tt_report_told_batch **out, struct tt_report_ahead_trace *ahead)
{
	struct tt_report_told_batch *batch = ahead->bare[0];

	TT_TRY(tt_stream_trace_near(&batch->near, ahead->stream));
	memmove(ahead->bare, ahead->bare + 1, --ahead->bare_count * sizeof(*ahead->bare));
	*out = batch;
	return TTNN_OK;
}

/* Hands a batch on. Locked. */
static void hand_over(struct tt_report_ahead_trace *ahead, struct tt_report_told_batch *batch)
{
	batch->next = NULL;
	if (ahead->last)
		ahead->last->next = batch;
	else
		ahead->first = batch;
	ahead->last = batch;
	ahead->waiting++;
}

/* Makes the next batch, and completes the one that can be now. Comes and goes with the lock held. */
static void make(struct tt_report_ahead_trace *ahead)
{
	struct tt_report_told_batch *batch = ahead->spare, *done = NULL;
	bool more = !ahead->read;
	tt_status status = TTNN_OK;

	if (batch && more)
		ahead->spare = batch->next;
	pthread_mutex_unlock(&ahead->lock);
	if (more)
		status = make_bare(ahead, batch);
	if (status == TTNN_OK && ahead->bare_count && (ahead->read || ahead->bare_count == BEHIND))
		status = complete(&done, ahead);
	pthread_mutex_lock(&ahead->lock);
	ahead->made += more;
	if (status == TTNN_OK && ahead->forms.bytes > FORMS &&
	    tt_stream_trace_forget(ahead->stream))
		status = retire(ahead);
	if (status != TTNN_OK) {
		ahead->status = status;
		snprintf(ahead->message, sizeof(ahead->message), "%s", ttnn_error());
	}
	if (done)
		hand_over(ahead, done);
	ahead->ended = status != TTNN_OK || (ahead->read && !ahead->bare_count);
	if (ahead->ended || ahead->waiting >= ENOUGH)
		pthread_cond_broadcast(&ahead->moved);
}

static void *work(void *context)
{
	struct tt_report_ahead_trace *ahead = context;

	pthread_mutex_lock(&ahead->lock);
	while (!ahead->stop && !ahead->ended) {
		if (ahead->waiting < AHEAD)
			make(ahead);
		else
			pthread_cond_wait(&ahead->moved, &ahead->lock);
	}
	pthread_mutex_unlock(&ahead->lock);
	return NULL;
}

/* Signals are for the threads of the program. Without a thread the caller makes what it takes. */
static void start(struct tt_report_ahead_trace *ahead)
{
	pthread_attr_t attributes;
	sigset_t all, before;

	if (tt_pool_threads() < 2 || tt_stream_facts(ahead->stream)->nodes < WORTH ||
	    pthread_attr_init(&attributes) != 0)
		return;
	pthread_attr_setstacksize(&attributes, STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ahead->running = pthread_create(&ahead->thread, &attributes, work, ahead) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

/* ---- the caller ------------------------------------------------------------------------------ */

tt_status tt_report_ahead_trace_new(struct tt_report_ahead_trace **out, struct tt_stream *stream,
				    struct tt_report_devices *devices, const char *directory)
{
	struct tt_report_ahead_trace *ahead = tt_calloc(1, sizeof(*ahead));

	if (!ahead)
		return tt_fail_nomem();
	ahead->stream = stream;
	ahead->directory = directory;
	ahead->forms.devices = devices;
	ahead->forms.keys = stream->keys;
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->moved, NULL);
	*out = ahead;
	tt_stream_trace_apart(stream);
	start(ahead);
	return TTNN_OK;
}

tt_status tt_report_ahead_trace_take(struct tt_report_told_batch **out,
				     struct tt_report_ahead_trace *ahead)
{
	tt_status status = TTNN_OK;

	*out = NULL;
	pthread_mutex_lock(&ahead->lock);
	while (!ahead->first && !ahead->ended) {
		if (ahead->running)
			pthread_cond_wait(&ahead->moved, &ahead->lock);
		else
			make(ahead);
	}
	if (ahead->status != TTNN_OK && !ahead->first) {
		status = ahead->status;
	} else if (ahead->first) {
		*out = ahead->first;
		ahead->first = ahead->first->next;
		if (!ahead->first)
			ahead->last = NULL;
		ahead->waiting--;
		if (ahead->waiting == AHEAD - ENOUGH)
			pthread_cond_broadcast(&ahead->moved);
	}
	pthread_mutex_unlock(&ahead->lock);
	if (status == TTNN_NOMEM)
		return tt_fail_nomem();
	if (status != TTNN_OK)
		return tt_fail(status, "%s", ahead->message);
	status = *out ? connect(*out, ahead) : TTNN_OK;
	if (status == TTNN_OK)
		return TTNN_OK;
	tt_report_ahead_trace_release(ahead, *out);
	*out = NULL;
	return status;
}

void tt_report_ahead_trace_release(struct tt_report_ahead_trace *ahead,
				   struct tt_report_told_batch *batch)
{
	drop_many(batch);
	ahead->released++;
	pthread_mutex_lock(&ahead->lock);
	batch->next = ahead->spare;
	ahead->spare = batch;
	pthread_mutex_unlock(&ahead->lock);
}

/* Takes over what was retired. */
static bool take_retired(struct tt_report_ahead_trace *ahead)
{
	bool any;

	pthread_mutex_lock(&ahead->lock);
	any = ahead->retired.count && TT_VEC_RESERVE(&ahead->leaving, ahead->retired.count);
	if (any)
		memcpy(ahead->leaving.data + ahead->leaving.count, ahead->retired.data,
		       ahead->retired.count * sizeof(*ahead->retired.data));
	if (any)
		ahead->leaving.count += ahead->retired.count;
	ahead->retired.count = any ? 0 : ahead->retired.count;
	pthread_mutex_unlock(&ahead->lock);
	return ahead->leaving.count > 0;
}

void tt_report_ahead_trace_tidy(struct tt_report_ahead_trace *ahead)
{
	size_t kept = 0;

	if (!ahead->leaving.count && !take_retired(ahead))
		return;
	if (ahead->leaving.data[ahead->leaving.count - 1].batch > ahead->released)
		return;
	for (size_t i = 0; i < ahead->leaving.count; i++) {
		struct tt_report_form *form = ahead->leaving.data[i].form, **stays = NULL;

		if (form->entry.kind != TT_NODE_TENSOR) {
			tt_report_form_free(form);
			continue;
		}
		stays = TT_VEC_PUSH(&ahead->staying);
		if (stays)
			*stays = form;
		else
			ahead->leaving.data[kept++].form = form;
	}
	ahead->leaving.count = kept;
}

void tt_report_ahead_trace_free(struct tt_report_ahead_trace *ahead)
{
	struct tt_report_told_batch *next;

	if (!ahead)
		return;
	pthread_mutex_lock(&ahead->lock);
	ahead->stop = true;
	pthread_cond_broadcast(&ahead->moved);
	pthread_mutex_unlock(&ahead->lock);
	if (ahead->running)
		pthread_join(ahead->thread, NULL);
	for (; ahead->first; ahead->first = next) {
		next = ahead->first->next;
		free_batch(ahead->first);
	}
	for (; ahead->spare; ahead->spare = next) {
		next = ahead->spare->next;
		free_batch(ahead->spare);
	}
	for (size_t i = 0; i < ahead->bare_count; i++)
		free_batch(ahead->bare[i]);
	for (size_t i = 0; i < ahead->forms.all.count; i++)
		tt_report_form_free(ahead->forms.all.data[i]);
	for (size_t i = 0; i < ahead->retired.count; i++)
		tt_report_form_free(ahead->retired.data[i].form);
	for (size_t i = 0; i < ahead->leaving.count; i++)
		tt_report_form_free(ahead->leaving.data[i].form);
	for (size_t i = 0; i < ahead->staying.count; i++)
		tt_report_form_free(ahead->staying.data[i]);
	TT_VEC_DEINIT(&ahead->retired);
	TT_VEC_DEINIT(&ahead->leaving);
	TT_VEC_DEINIT(&ahead->staying);
	tt_report_forms_deinit(&ahead->forms);
	pthread_cond_destroy(&ahead->moved);
	pthread_mutex_destroy(&ahead->lock);
	tt_free(ahead);
}
