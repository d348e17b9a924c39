#include "trace/memory_course.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

/* ---- over time --------------------------------------------------------------------------------------- */

/* What buffers take of a bank of L1 on one device. */
struct bank {
	uint32_t device_id;
	uint64_t bytes;
};

/* A buffer while it is there. */
struct life {
	bool live;
	uint64_t bank_size; /* that was counted: more may be known when it goes */
	const char *maker;
	uint32_t held[TT_MEMORY_VIEWS]; /* place among the holders of each peak + 1 */
};

struct running {
	struct tt_stream *stream;
	struct tt_map *texts;
	TT_VEC(struct life) lives; /* by place in the course */
	TT_VEC(struct bank) banks;
	uint64_t program;        /* of the last one */
	uint32_t program_device; /* TT_COURSE_NONE: not known */
	uint32_t core_device;    /* of the fullest core */
	const char *operation[64];
	size_t depth;
	struct tt_memory_point now;
	struct tt_memory_moment moment; /* of the node that came last */
	struct tt_memory *peaks;        /* those that are looked into, or NULL */
	/* Who is told of each moment, as soon as it is over. */
	void (*tell)(void *context, const struct tt_memory_moment *moment);
	void *context;
};

static struct bank *bank_of(struct running *r, uint32_t device_id)
{
	struct bank *bank;

	for (size_t i = 0; i < r->banks.count; i++)
		if (r->banks.data[i].device_id == device_id)
			return &r->banks.data[i];
	bank = TT_VEC_PUSH(&r->banks);
	if (bank)
		*bank = (struct bank){.device_id = device_id};
	return bank;
}

/* The life of the buffer at a place of the course; NULL when memory is exhausted. */
static struct life *life_of(struct running *r, uint32_t place)
{
	while (r->lives.count <= place) {
		struct life *life = TT_VEC_PUSH(&r->lives);

		if (!life)
			return NULL;
		*life = (struct life){0};
	}
	return &r->lives.data[place];
}

static const char *operation_of(const struct running *r)
{
	size_t depth = r->depth < 64 ? r->depth : 64;

	return depth ? r->operation[depth - 1] : "";
}

/* What was not known of a holder when it was noted. */
static tt_status complete_holders(struct running *r, const struct life *life,
				  const struct tt_course_buffer *buffer)
{
	struct tt_str text = {0};
	tt_status status = TTNN_OK;

	for (int view = 0; status == TTNN_OK && r->peaks && view < TT_MEMORY_VIEWS; view++) {
		struct tt_memory_holder *holder;
		const struct tt_map_entry *shape;

		if (!life->held[view])
			continue;
		holder = &r->peaks->peaks[view].holders.data[life->held[view] - 1];
		holder->buffer = buffer->node;
		tt_str_clear(&text);
		holder->shape = "";
		status = tt_stream_shape(&text, r->stream, buffer);
		if (status != TTNN_OK)
			break;
		shape = tt_map_add(r->texts, tt_str_text(&text), text.length, NULL);
		if (shape)
			holder->shape = shape->key;
		else
			status = tt_fail_nomem();
	}
	tt_str_deinit(&text);
	return status;
}

static tt_status change(struct running *r, uint32_t which, bool live)
{
	const struct tt_course_buffer *buffer = &tt_stream_course(r->stream)->buffers.data[which];
	uint64_t *total = buffer->l1 ? &r->now.l1 : &r->now.dram;
	struct bank *bank = bank_of(r, buffer->device_id);
	struct life *life = life_of(r, which);
	uint64_t share;

	if (!bank || !life)
		return tt_fail_nomem();
	if (life->live == live)
		return TTNN_OK;
	if (!live)
		TT_TRY(complete_holders(r, life, buffer));
	share = live ? buffer->bank_size : life->bank_size;
	*life = (struct life){
		.live = live, .bank_size = share, .maker = live ? operation_of(r) : NULL};
	*total += live ? buffer->size : 0 - buffer->size;
	if (buffer->l1)
		bank->bytes += live ? share : 0 - share;
	return TTNN_OK;
}

/* The fullest core: on the device with the fullest banks, or on that of the program. */
static void find_core(struct running *r)
{
	struct tt_memory_point *now = &r->now;
	bool anywhere = r->program_device == TT_COURSE_NONE;

	now->program = r->program;
	now->core_buffers = 0;
	now->core_program = r->program;
	r->core_device = r->program_device;
	for (size_t i = 0; i < r->banks.count; i++) {
		const struct bank *bank = &r->banks.data[i];
		uint64_t program =
			anywhere || bank->device_id == r->program_device ? r->program : 0;

		if (bank->bytes + program < tt_memory_core(now) ||
		    (bank->bytes + program == tt_memory_core(now) && !bank->bytes))
			continue;
		now->core_buffers = bank->bytes;
		now->core_program = program;
		r->core_device = bank->device_id;
	}
}

static tt_status do_step(struct running *r, const struct tt_course_step *step)
{
	switch (step->kind) {
	case TT_COURSE_TAKE:
		return change(r, step->which, true);
	case TT_COURSE_GIVE:
		return change(r, step->which, false);
	case TT_COURSE_PROGRAM:
		r->program = step->bytes;
		r->program_device = step->which;
		break;
	}
	return TTNN_OK;
}

/* What is there before the first node. */
static tt_status begin(struct running *r)
{
	const struct tt_course *course = tt_stream_course(r->stream);

	r->program_device = TT_COURSE_NONE;
	for (uint32_t i = 0; i < course->buffers.count; i++) {
		if (!course->buffers.data[i].there)
			continue;
		TT_TRY(change(r, i, true));
		r->lives.data[i].maker = "";
	}
	return TTNN_OK;
}

/* A node has come: an operation is under way from its start on. */
static tt_status arrive(struct running *r, const struct tt_graph_node *node, uint32_t number)
{
	bool operation = tt_graph_is_operation(node);
	const struct tt_map_entry *name;

	r->moment = (struct tt_memory_moment){
		.number = number,
		.type = node->type,
		.type_name = node->type < TT_GRAPH_OTHER ? tt_graph_type_name(node) : "other",
		.is_operation = operation,
	};
	if (node->type != TT_GRAPH_FUNCTION_START || !operation)
		return TTNN_OK;
	name = tt_map_finds(r->texts, tt_graph_string(node, TT_KEY_NAME));
	if (!name) {
		const char *text = tt_graph_string(node, TT_KEY_NAME);

		name = tt_map_add(r->texts, text, strlen(text), NULL);
	}
	if (!name)
		return tt_fail_nomem();
	if (r->depth++ < 64)
		r->operation[r->depth - 1] = name->key;
	return TTNN_OK;
}

/* All that happened before node `next` is written has happened. */
static tt_status conclude(struct running *r, uint32_t next)
{
	struct tt_course_step step;

	while (tt_stream_step(&step, r->stream, next))
		TT_TRY(do_step(r, &step));
	find_core(r);
	r->moment.operation = operation_of(r);
	r->moment.point = r->now;
	r->tell(r->context, &r->moment);
	/* An operation is under way up to its end. */
	if (r->moment.type == TT_GRAPH_FUNCTION_END)
		r->depth -= r->depth && r->moment.is_operation;
	return TTNN_OK;
}

static tt_status run(struct running *r)
{
	const struct tt_graph_node *node;
	uint32_t number = 0;

	TT_TRY(tt_stream_restart(r->stream));
	TT_TRY(begin(r));
	for (;; number++) {
		TT_TRY(tt_stream_next(&node, r->stream));
		if (number)
			TT_TRY(conclude(r, node ? number : UINT32_MAX));
		if (!node)
			return TTNN_OK;
		TT_TRY(arrive(r, node, number));
	}
}

static void deinit(struct running *r)
{
	TT_VEC_DEINIT(&r->lives);
	TT_VEC_DEINIT(&r->banks);
}

tt_status tt_memory_each(struct tt_stream *stream,
			 void (*tell)(void *context, const struct tt_memory_moment *moment),
			 void *context)
{
	struct tt_map texts = {0};
	struct running r = {.stream = stream, .texts = &texts, .tell = tell, .context = context};
	tt_status status = run(&r);

	deinit(&r);
	tt_map_deinit(&texts);
	return status;
}

/* ---- the peaks --------------------------------------------------------------------------------------- */

uint64_t tt_memory_value(const struct tt_memory_point *point, enum tt_memory_view view)
{
	return view == TT_MEMORY_CORE ? tt_memory_core(point)
	       : view == TT_MEMORY_L1 ? point->l1
				      : point->dram;
}

/* The first time: how high, and where. */
struct heights {
	struct tt_memory *out;
	uint64_t nodes;
};

/* Every stretch has a node, so in short graphs one is in several. */
static void raise_bars(uint64_t *bars, uint64_t number, uint64_t nodes, uint64_t value)
{
	for (uint64_t bar = nodes ? number * TT_MEMORY_BARS / nodes : TT_MEMORY_BARS;
	     bar < TT_MEMORY_BARS; bar++) {
		uint64_t from = bar * nodes / TT_MEMORY_BARS;

		if (from > number)
			return;
		if ((number == from || number < (bar + 1) * nodes / TT_MEMORY_BARS) &&
		    value > bars[bar])
			bars[bar] = value;
	}
}

static void measure(void *context, const struct tt_memory_moment *moment)
{
	struct heights *h = context;
	struct tt_memory *out = h->out;

	for (int view = 0; view < TT_MEMORY_VIEWS; view++) {
		struct tt_memory_peak *peak = &out->peaks[view];
		uint64_t value = tt_memory_value(&moment->point, view);

		if (!moment->number || value > tt_memory_value(&peak->point, view)) {
			peak->node = moment->number;
			peak->point = moment->point;
		}
		raise_bars(out->bars[view], moment->number, h->nodes, value);
	}
}

static int by_size(const void *a, const void *b)
{
	const struct tt_memory_holder *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return x->buffer < y->buffer ? -1 : x->buffer > y->buffer;
}

static int by_bank(const void *a, const void *b)
{
	const struct tt_memory_holder *x = a, *y = b;

	if (x->bank_size != y->bank_size)
		return x->bank_size > y->bank_size ? -1 : 1;
	return by_size(a, b);
}

/* The second time: who is there after the node of a peak; of the fullest core those on its device. */
struct looking {
	struct running running;
	tt_status status;
};

static void note_holders(struct looking *l, struct tt_memory_peak *peak, enum tt_memory_view view)
{
	struct running *r = &l->running;
	const struct tt_course *course = tt_stream_course(r->stream);

	for (uint32_t i = 0; i < r->lives.count; i++) {
		const struct tt_course_buffer *buffer = &course->buffers.data[i];
		struct tt_memory_holder *holder;

		if (!r->lives.data[i].live || buffer->l1 != (view != TT_MEMORY_DRAM) ||
		    (view == TT_MEMORY_CORE && buffer->device_id != r->core_device))
			continue;
		holder = TT_VEC_PUSH(&peak->holders);
		if (!holder) {
			l->status = TTNN_NOMEM;
			return;
		}
		*holder = (struct tt_memory_holder){.size = buffer->size,
						    .bank_size = buffer->bank_size,
						    .maker = r->lives.data[i].maker};
		r->lives.data[i].held[view] = (uint32_t)peak->holders.count;
	}
}

static void look(void *context, const struct tt_memory_moment *moment)
{
	struct looking *l = context;

	for (int view = 0; view < TT_MEMORY_VIEWS; view++) {
		struct tt_memory_peak *peak = &l->running.peaks->peaks[view];

		if (peak->node != moment->number)
			continue;
		peak->operation = moment->operation;
		note_holders(l, peak, view);
	}
}

static tt_status find_holders(struct tt_memory *out, struct tt_stream *stream)
{
	struct looking l = {.running = {.stream = stream,
					.texts = &out->texts,
					.peaks = out,
					.tell = look,
					.context = &l}};
	tt_status status = run(&l.running);

	for (uint32_t i = 0; status == TTNN_OK && i < l.running.lives.count; i++)
		status = complete_holders(&l.running, &l.running.lives.data[i],
					  &tt_stream_course(stream)->buffers.data[i]);
	deinit(&l.running);
	if (status == TTNN_OK && l.status != TTNN_OK)
		status = tt_fail_nomem();
	return status;
}

tt_status tt_memory_of(struct tt_memory *out, struct tt_stream *stream)
{
	struct heights heights = {out, tt_stream_facts(stream)->nodes};
	tt_status status;

	memset(out, 0, sizeof(*out));
	out->bank = tt_stream_facts(stream)->bank;
	out->shareless = tt_stream_facts(stream)->shareless;
	for (int view = 0; view < TT_MEMORY_VIEWS; view++)
		out->peaks[view].operation = "";
	status = tt_memory_each(stream, measure, &heights);
	if (status == TTNN_OK)
		status = find_holders(out, stream);
	for (int view = 0; view < TT_MEMORY_VIEWS; view++) {
		struct tt_memory_peak *peak = &out->peaks[view];

		if (peak->holders.count)
			qsort(peak->holders.data, peak->holders.count, sizeof(*peak->holders.data),
			      view == TT_MEMORY_CORE ? by_bank : by_size);
	}
	if (status != TTNN_OK)
		tt_memory_deinit(out);
	return status;
}

void tt_memory_deinit(struct tt_memory *memory)
{
	for (int view = 0; view < TT_MEMORY_VIEWS; view++)
		TT_VEC_DEINIT(&memory->peaks[view].holders);
	tt_map_deinit(&memory->texts);
}
