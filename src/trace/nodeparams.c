#include "trace/nodeparams.h"

#include <string.h>

#include "base/fmt.h"
#include "tensor/core.h"
#include "tensor/dtype.h"
#include "tensor/text.h"

/* ---- putting ----------------------------------------------------------------------------------------- */

/* Numbers that texts of nodes may have in the place of others: those that readers take for numbers. */
#define NUMBER_LIMIT ((uint64_t)1000000000 * 1000000000)

/* The params of a node, gathered. */
struct sheet {
	struct tt_project *p;
	enum tt_graph_type type;
	uint64_t lacks;                /* keys that are left out, as bits */
	struct tt_graph_param *params; /* TT_PROJECT_PARAMS of them */
	uint32_t count;
	struct tt_pattern *pattern; /* (optional) */
	bool known;                 /* by its reader: numbers are enough */
	int64_t *numbers;           /* TT_PROJECT_NUMBERS of them */
	uint32_t number_count;
};

static struct sheet begin(struct tt_project *p, uint32_t node)
{
	enum tt_graph_type type = tt_project_node(p, node)->type;

	return (struct sheet){.p = p, .type = type, .lacks = p->lacks[type], .params = p->params};
}

/* A number of the node. One that readers do not take for a number is none of a pattern. */
static void note(struct sheet *s, uint64_t number)
{
	if (number >= NUMBER_LIMIT || s->number_count == TT_PROJECT_NUMBERS)
		s->pattern = NULL;
	if (s->pattern)
		s->numbers[s->number_count++] = (int64_t)number;
}

/*
 * The same for a node of which these words tell all that is no number, besides its type and level. Its params are put in
 * a loop that lasts until end() is content.
 */
static struct sheet begin_like(struct tt_project *p, uint32_t node, uint64_t first, uint64_t second,
			       uint64_t third)
{
	const struct tt_graph_node *n = tt_project_node(p, node);
	struct sheet s = begin(p, node);
	struct tt_pattern_key key;

	if (!p->patterns.wanted || n->stack_count)
		return s;
	key = (struct tt_pattern_key){
		{n->type | (uint64_t)n->has_duration << 8 | (uint64_t)(uint32_t)n->level << 32,
		 n->argument_count | (uint64_t)n->thread << 32, n->arguments_number, first, second,
		 third}};
	s.pattern = tt_pattern_find(&p->patterns, &key);
	s.known = s.pattern && s.pattern->form;
	s.numbers = p->numbers;
	if (n->has_duration)
		note(&s, n->duration);
	return s;
}

/* What people read of nodes. */
static bool is_plain(enum tt_graph_key key)
{
	return key == TT_KEY_NAME || key == TT_KEY_TENSOR_ID || key == TT_KEY_SHAPE ||
	       key == TT_KEY_MANAGER_ID || key == TT_KEY_SUB_DEVICE_ID ||
	       key == TT_KEY_ERROR_MESSAGE;
}

static bool is_left_out(const struct sheet *s, enum tt_graph_key key)
{
	return (s->p->options.plain && !is_plain(key)) || (s->lacks >> key & 1);
}

static struct tt_graph_param *put(struct sheet *s, enum tt_graph_key key)
{
	if (is_left_out(s, key) || s->known || s->count == TT_PROJECT_PARAMS)
		return NULL;
	s->params[s->count].key = (uint16_t)key;
	return &s->params[s->count++];
}

/* Whether nodes go on their way at once, and what an event points to is there as long as they are. */
static bool is_passing(const struct sheet *s)
{
	return s->p->options.how == TT_PROJECT_NODES;
}

static void put_textn(struct sheet *s, enum tt_graph_key key, const char *text, size_t length)
{
	struct tt_graph_param *param = put(s, key);

	if (!param)
		return;
	param->kind = TT_GRAPH_STRING;
	param->length = (uint32_t)length;
	param->text = is_passing(s) ? text : tt_graph_text(&s->p->graph, text, length);
	if (!param->text)
		tt_project_fail(s->p, tt_fail_nomem());
}

static void put_text(struct sheet *s, enum tt_graph_key key, const char *text)
{
	if (!s->known)
		put_textn(s, key, text, strlen(text));
}

/* The text that was composed in the projection's string. */
static void put_composed(struct sheet *s, enum tt_graph_key key)
{
	const char *text = tt_str_text(&s->p->text);

	if (is_passing(s) && !(s->p->options.plain && !is_plain(key)))
		text = tt_arena_strndup(&s->p->graph.arena, text, s->p->text.length);
	if (text)
		put_textn(s, key, text, s->p->text.length);
	if (s->p->text.failed || !text)
		tt_project_fail(s->p, tt_fail_nomem());
}

/* Numbers that are texts in every dialect. */
static void put_digits(struct sheet *s, enum tt_graph_key key, uint64_t number)
{
	struct tt_graph_param *param;
	char digits[TT_FMT_MAX];

	if (!is_passing(s)) {
		put_textn(s, key, digits, tt_fmt_u64(digits, number));
		return;
	}
	if (s->pattern && !is_left_out(s, key))
		note(s, number);
	param = put(s, key);
	if (!param)
		return;
	param->kind = TT_GRAPH_DIGITS;
	param->unsigned_integer = number;
}

/* A number, or its digits where all params are texts. */
static void put_number(struct sheet *s, enum tt_graph_key key, uint64_t number)
{
	struct tt_graph_param *param;

	if (!s->p->dialect->typed) {
		put_digits(s, key, number);
		return;
	}
	if (s->pattern && !is_left_out(s, key))
		note(s, number);
	param = put(s, key);
	if (!param)
		return;
	param->kind = number > INT64_MAX ? TT_GRAPH_UINT : TT_GRAPH_INT;
	param->unsigned_integer = number;
}

/* The numbers of a node with a pattern. */
static void end_numbers(struct sheet *s, struct tt_graph_node *n)
{
	size_t size = s->number_count * sizeof(*s->numbers);
	int64_t *numbers = tt_arena_alloc(&s->p->graph.arena, size ? size : 1);

	if (!numbers) {
		tt_project_fail(s->p, tt_fail_nomem());
		return;
	}
	if (size)
		memcpy(numbers, s->numbers, size);
	n->pattern = s->pattern;
	n->numbers = numbers;
	n->number_count = s->number_count;
}

/* False: its numbers are none of its pattern; it begins anew, without. */
static bool end(struct sheet *s, uint32_t node)
{
	struct tt_graph_node *n = tt_project_node(s->p, node);

	if (s->pattern)
		end_numbers(s, n);
	if (s->known && s->pattern)
		return true;
	if (s->known) {
		s->known = false;
		return false;
	}
	n->params =
		tt_arena_alloc(&s->p->graph.arena, (s->count ? s->count : 1) * sizeof(*n->params));
	if (!n->params) {
		tt_project_fail(s->p, tt_fail_nomem());
		return true;
	}
	memcpy(n->params, s->params, s->count * sizeof(*n->params));
	n->param_count = s->count;
	n->null_params = !s->count && s->p->dialect->typed;
	return true;
}

static struct tt_str *compose(struct tt_project *p)
{
	tt_str_clear(&p->text);
	return &p->text;
}

/* ---- functions ------------------------------------------------------------------------------------------ */

static void put_program(struct sheet *s, const struct tt_event_program *program)
{
	struct tt_graph_param *hit = put(s, TT_KEY_CACHE_HIT);

	if (hit) {
		hit->kind = TT_GRAPH_BOOL;
		hit->integer = program->cache_hit;
	}
	put_number(s, TT_KEY_FACTORY_INDEX, program->factory_index);
	put_text(s, TT_KEY_FACTORY_TYPE, program->factory ? program->factory : "");
}

/* Its arguments have no number of their own if memory is exhausted. */
void tt_node_function_start(struct tt_project *p, uint32_t node,
			    const struct tt_node_function *function)
{
	const struct tt_event_program *program = function->program;
	struct sheet s =
		begin_like(p, node, (uintptr_t)function->name, program ? 1 + program->cache_hit : 0,
			   (uintptr_t)(program ? program->factory : function->operation));

	do {
		put_digits(&s, TT_KEY_INPUTS, function->inputs);
		put_text(&s, TT_KEY_NAME, function->name);
		if (function->operation)
			put_text(&s, TT_KEY_OPERATION, function->operation);
		if (program)
			put_program(&s, program);
	} while (!end(&s, node));
}

void tt_node_function_end(struct tt_project *p, uint32_t node, const struct tt_project_call *call,
			  const char *reason, bool aborted)
{
	/* What failed did not launch its program: readers pair ends with starts by name. */
	const char *operation = aborted ? NULL : call->own_name;
	struct sheet s =
		reason ? begin(p, node)
		       : begin_like(p, node, (uintptr_t)call->name, aborted, (uintptr_t)operation);

	do {
		if (reason)
			put_text(&s, TT_KEY_ABORT_REASON, reason);
		if (aborted)
			put_text(&s, TT_KEY_ABORTED, "true");
		if (tt_project_node(p, node)->has_duration)
			put_digits(&s, TT_KEY_DURATION, tt_project_node(p, node)->duration);
		put_text(&s, TT_KEY_NAME, call->name);
		if (operation)
			put_text(&s, TT_KEY_OPERATION, operation);
	} while (!end(&s, node));
}

void tt_node_capture_end(struct tt_project *p, uint32_t node)
{
	struct sheet s = begin(p, node);

	if (tt_project_node(p, node)->has_duration)
		put_digits(&s, TT_KEY_DURATION, tt_project_node(p, node)->duration);
	end(&s, node);
}

void tt_node_program(struct tt_project *p, uint32_t node, const struct tt_event_program *program)
{
	const struct tt_graph_node *n = tt_project_node(p, node);
	struct sheet s = begin(p, node);

	for (uint32_t i = 0; i < n->param_count && i < 2; i++)
		s.params[s.count++] = n->params[i];
	put_program(&s, program);
	end(&s, node);
}

void tt_node_error(struct tt_project *p, uint32_t node, const struct tt_event_error *error,
		   const char *operation)
{
	struct sheet s = begin(p, node);

	put_text(&s, TT_KEY_ERROR_MESSAGE, error->message);
	put_text(&s, TT_KEY_ERROR_OPERATION, operation);
	put_text(&s, TT_KEY_ERROR_TYPE, "exception");
	end(&s, node);
}

/* ---- tensors and buffers ---------------------------------------------------------------------------------- */

/* Of TRACE memory too: it is in DRAM. */
static const char *type_word(enum ttnn_buffer_type type)
{
	return type == TTNN_DRAM || type == TTNN_TRACE ? "DRAM" : "L1";
}

static const char *layout_word(enum ttnn_memory_layout layout)
{
	switch (layout) {
	case TTNN_INTERLEAVED:
	case TTNN_HEIGHT_SHARDED:
	case TTNN_WIDTH_SHARDED:
	case TTNN_BLOCK_SHARDED:
		return tt_enum_name(&tt_enum_memory_layout, layout);
	default:
		return "UNKNOWN";
	}
}

/* A number where params have types, else the name. */
static void put_buffer_type(struct sheet *s, enum ttnn_buffer_type type)
{
	const char *name = tt_enum_name(&tt_enum_buffer_type, type);

	if (s->p->dialect->typed)
		put_number(s, TT_KEY_BUFFER_TYPE, (uint64_t)type);
	else
		put_text(s, TT_KEY_BUFFER_TYPE, name ? name : "");
}

static const struct tt_project_device *find_device(const struct tt_project *p, uint32_t id)
{
	for (size_t i = p->devices.count; i-- > 0;)
		if (p->devices.data[i].id == id)
			return &p->devices.data[i];
	return NULL;
}

/* The numbers in the text that compose_chips() makes. */
static void note_chips(struct sheet *s, const struct tt_event_tensor *tensor,
		       const struct tt_project_device *device)
{
	uint32_t count = device ? device->chip_count : 1;

	for (uint32_t i = 0; s->pattern && i < count; i++) {
		uint32_t chip = device ? device->chips[i] : 0;

		note(s, tensor->address);
		note(s, chip);
		if (s->p->dialect->typed)
			note(s, tensor->owns ? tensor->device_id : chip);
	}
}

/* One object for each chip that has a part. */
static void compose_chips(struct tt_project *p, const struct tt_event_tensor *tensor,
			  const struct tt_project_device *device)
{
	struct tt_str *out = compose(p);
	uint32_t count = device ? device->chip_count : 1;

	tt_str_addc(out, '[');
	for (uint32_t i = 0; i < count; i++) {
		tt_str_adds(out, i ? ",{\"address\":" : "{\"address\":");
		tt_str_addu(out, tensor->address);
		tt_str_adds(out, ",\"device_id\":");
		tt_str_addu(out, device ? device->chips[i] : 0);
		/* The buffers of a view are those of the chips alone, of no mesh. */
		if (p->dialect->typed) {
			tt_str_adds(out, ",\"mesh_device_id\":");
			tt_str_addu(out, tensor->owns ? tensor->device_id
					 : device     ? device->chips[i]
						      : 0);
		}
		tt_str_addc(out, '}');
	}
	tt_str_addc(out, ']');
}

static void put_chips(struct sheet *s, const struct tt_event_tensor *tensor,
		      const struct tt_project_device *device)
{
	if (!s->known) {
		compose_chips(s->p, tensor, device);
		put_composed(s, TT_KEY_DEVICE_TENSORS);
	}
	if (!is_left_out(s, TT_KEY_DEVICE_TENSORS))
		note_chips(s, tensor, device);
}

static uint64_t logical_bytes(const struct ttnn_tensor_spec *spec)
{
	uint64_t volume = 0;

	if (ttnn_shape_volume(&volume, &spec->shape) != TTNN_OK)
		return 0;
	return volume * tt_dtype_bytes(spec->dtype);
}

/* A text of a tensor's spec. */
static void put_spec(struct sheet *s, enum tt_graph_key key, enum tt_spectext_kind kind,
		     const struct ttnn_tensor_spec *spec)
{
	if (s->known)
		return;
	tt_spectext_add(compose(s->p), &s->p->style.specs, kind, spec, s->p->options.dialect);
	put_composed(s, key);
}

/* A node of a tensor: what is no number of it is told by its spec, these bits and how many chips it is on. */
static struct sheet begin_tensor(struct tt_project *p, uint32_t node,
				 const struct tt_event_tensor *tensor,
				 const struct tt_project_device *device)
{
	uint64_t spec = p->patterns.wanted ? tt_spectext_number(&p->style.specs, tensor->spec,
								p->options.dialect)
					   : 0;
	uint64_t bits = (uint64_t)tensor->on_device | (uint64_t)(tensor->buffer_id != 0) << 1 |
			(uint64_t)tensor->owns << 2;

	return spec ? begin_like(p, node, spec, bits, device ? 1 + (uint64_t)device->chip_count : 0)
		    : begin(p, node);
}

void tt_node_tensor(struct tt_project *p, uint32_t node, const struct tt_event_tensor *tensor)
{
	const struct ttnn_tensor_spec *spec = tensor->spec;
	bool placed = tensor->on_device && tensor->buffer_id && !p->options.plain;
	bool located = placed && (tensor->owns || p->dialect->view_addresses);
	/* Where one lay that was given up is told without an address. */
	bool typed =
		placed || (tensor->on_device && !p->options.plain && !p->dialect->view_addresses);
	const struct tt_project_device *device = placed ? find_device(p, tensor->device_id) : NULL;
	struct sheet s = begin_tensor(p, node, tensor, device);

	do {
		if (located)
			put_number(&s, TT_KEY_ADDRESS, tensor->address);
		if (typed)
			put_buffer_type(&s, spec->memory.buffer);
		if (located)
			put_number(&s, TT_KEY_DEVICE_ID, tensor->device_id);
		if (placed)
			put_chips(&s, tensor, device);
		if (!p->options.plain) {
			put_spec(&s, TT_KEY_DTYPE, TT_SPECTEXT_DTYPE, spec);
			put_spec(&s, TT_KEY_LAYOUT, TT_SPECTEXT_LAYOUT, spec);
		}
		if (typed)
			put_spec(&s, TT_KEY_MEMORY_CONFIG, TT_SPECTEXT_MEMORY, spec);
		put_spec(&s, TT_KEY_SHAPE, TT_SPECTEXT_SHAPE, spec);
		put_number(&s, TT_KEY_SIZE, logical_bytes(spec));
		put_text(&s, TT_KEY_STORAGE_TYPE, tensor->on_device ? "DEVICE" : "HOST");
		put_number(&s, TT_KEY_TENSOR_ID, tensor->id);
	} while (!end(&s, node));
}

void tt_node_buffer(struct tt_project *p, uint32_t node, const struct tt_node_buffer *buffer)
{
	struct sheet s = begin_like(p, node, buffer->type, buffer->layout, 0);

	do {
		put_buffer_type(&s, buffer->type);
		put_number(&s, TT_KEY_DEVICE_ID, buffer->device_id);
		put_text(&s, TT_KEY_LAYOUT, layout_word(buffer->layout));
		put_number(&s, TT_KEY_SIZE, buffer->size);
		put_text(&s, TT_KEY_TYPE, type_word(buffer->type));
	} while (!end(&s, node));
}

void tt_node_event(struct tt_project *p, uint32_t node, const struct tt_event_buffer *buffer)
{
	struct sheet s = begin_like(p, node, buffer->type, buffer->layout, 0);

	do {
		put_number(&s, TT_KEY_ADDRESS, buffer->address);
		put_buffer_type(&s, buffer->type);
		put_number(&s, TT_KEY_DEVICE_ID, buffer->device_id);
		put_text(&s, TT_KEY_LAYOUT, layout_word(buffer->layout));
		/* Upstream keeps 32 bits of it. */
		put_number(&s, TT_KEY_BANK_SIZE,
			   p->dialect->typed ? (uint32_t)buffer->bank_size : buffer->bank_size);
		put_number(&s, TT_KEY_NUM_CORES, buffer->cores);
		put_number(&s, TT_KEY_PAGE_SIZE, buffer->page_size);
		put_number(&s, TT_KEY_SIZE, buffer->size);
		put_text(&s, TT_KEY_TYPE, type_word(buffer->type));
	} while (!end(&s, node));
}

/* The buffers from before the capture. */
static void put_there(struct sheet *s)
{
	struct tt_project *p = s->p;

	tt_str_addc(compose(p), '[');
	for (size_t i = 0; i < p->there.count; i++) {
		const struct tt_event_buffer *b = &p->there.data[i];
		int64_t node = (int64_t)tt_project_buffer(p, b->buffer_id) - 1;

		tt_str_addf(&p->text,
			    "%s{\"address\":%llu,\"device_id\":%u,\"layout\":\"%s\","
			    "\"max_size_per_bank\":%llu,",
			    i ? "," : "", (unsigned long long)b->address, b->device_id,
			    layout_word(b->layout), (unsigned long long)b->bank_size);
		if (node >= 0)
			tt_str_addf(&p->text, "\"node\":%lld,", (long long)node);
		tt_str_addf(
			&p->text, "\"num_cores\":%u,\"page_size\":%llu,\"size\":%llu,\"type\":\"",
			b->cores, (unsigned long long)b->page_size, (unsigned long long)b->size);
		tt_text_member(&p->text, &tt_enum_buffer_type, b->type, TTNN_DIALECT_SEED);
		tt_str_adds(&p->text, "\"}");
	}
	tt_str_addc(&p->text, ']');
	put_composed(s, TT_KEY_BUFFERS);
}

/* What the numbers of threads stand for. */
static void put_threads(struct sheet *s)
{
	struct tt_jsonw w;

	tt_jsonw_init_str(&w, compose(s->p),
			  (struct tt_jsonw_style){.compact = true, .utf8 = true});
	tt_jsonw_array(&w);
	for (size_t i = 0; i < s->p->threads.count; i++) {
		const struct tt_project_thread *t = &s->p->threads.data[i];

		if (!t->seen)
			continue;
		tt_jsonw_object(&w);
		tt_jsonw_key_int(&w, "id", (int64_t)t->system_id);
		tt_jsonw_key_string(&w, "name", t->name ? t->name : "");
		tt_jsonw_key_int(&w, "thread", (int64_t)i);
		tt_jsonw_end(&w);
	}
	tt_jsonw_end(&w);
	if (tt_jsonw_finish(&w) != TTNN_OK)
		tt_project_fail(s->p, tt_fail_nomem());
	put_composed(s, TT_KEY_THREADS);
}

void tt_node_capture_start(struct tt_project *p)
{
	struct sheet s = begin(p, 0);
	bool there = p->there.count && !(s.lacks >> TT_KEY_BUFFERS & 1);
	bool threads = p->several && !(s.lacks >> TT_KEY_THREADS & 1);

	if (there)
		put_there(&s);
	if (threads)
		put_threads(&s);
	if (there || threads)
		end(&s, 0);
}

/* ---- programs ------------------------------------------------------------------------------------------------ */

/* Circular buffers show the cut they were given, the others the normal one. Sets of cores are there for ever. */
static void put_cores(struct sheet *s, const struct tt_event_program_memory *memory)
{
	const ttnn_core_set *cores = memory->cores, *merged;
	struct tt_project *p = s->p;
	struct tt_project_cores *known;

	if (s->known)
		return;
	if (cores && memory->kind != TT_MEMORY_CIRCULAR_BUFFER &&
	    memory->kind != TT_MEMORY_PLANNED && tt_core_set_merge(&merged, cores, NULL) == TTNN_OK)
		cores = merged;
	if (!cores) {
		put_text(s, TT_KEY_CORES, "{}");
		return;
	}
	known = &p->cores[((uintptr_t)cores >> 4 ^ (uintptr_t)cores >> 9) % TT_PROJECT_CORES];
	if (known->cores != cores) {
		tt_str_clear(&known->text);
		tt_text_core_set(&known->text, cores, p->options.dialect);
		known->cores = cores;
	}
	if (known->text.failed) {
		known->cores = NULL;
		tt_project_fail(p, tt_fail_nomem());
		return;
	}
	/* Nodes of one event may show more sets than are remembered. */
	put_textn(s, TT_KEY_CORES,
		  is_passing(s) ? tt_arena_strndup(&p->graph.arena, tt_str_text(&known->text),
						   known->text.length)
				: tt_str_text(&known->text),
		  known->text.length);
}

void tt_node_memory(struct tt_project *p, uint32_t node,
		    const struct tt_event_program_memory *memory)
{
	const struct tt_text_style *style = tt_text_style(p->options.dialect);
	const char *borrowed = memory->borrowed ? style->yes : style->no;
	struct sheet s;

	if (p->options.plain)
		return;
	s = begin_like(p, node, (uintptr_t)memory->cores, memory->kind, memory->borrowed);
	do {
		put_number(&s, TT_KEY_ADDRESS, memory->address);
		if (s.type == TT_GRAPH_DFB_ALLOCATE)
			put_text(&s, TT_KEY_BORROWS, borrowed);
		put_cores(&s, memory);
		put_number(&s, TT_KEY_DEVICE_ID, memory->device_id);
		if (s.type == TT_GRAPH_CB_ALLOCATE)
			put_text(&s, TT_KEY_GLOBAL, borrowed);
		put_number(&s, TT_KEY_SIZE, memory->size);
	} while (!end(&s, node));
}

void tt_node_release(struct tt_project *p, uint32_t node, uint32_t device_id)
{
	struct sheet s = begin_like(p, node, 0, 0, 0);

	do {
		put_number(&s, TT_KEY_DEVICE_ID, device_id);
	} while (!end(&s, node));
}

/* [{"end":{"x":7,"y":7},"start":{"x":0,"y":0}}] */
static void add_ranges(struct tt_str *out, const ttnn_core_set *cores)
{
	size_t count = 0;
	const struct ttnn_core_range *ranges = cores ? ttnn_core_set_ranges(cores, &count) : NULL;

	tt_str_addc(out, '[');
	for (size_t i = 0; i < count; i++)
		tt_str_addf(out, "%s{\"end\":{\"x\":%u,\"y\":%u},\"start\":{\"x\":%u,\"y\":%u}}",
			    i ? "," : "", ranges[i].end.x, ranges[i].end.y, ranges[i].start.x,
			    ranges[i].start.y);
	tt_str_addc(out, ']');
}

void tt_node_manager(struct tt_project *p, uint32_t node,
		     const struct tt_event_program_launch *launch)
{
	struct sheet s = begin(p, node);

	put_number(&s, TT_KEY_DEVICE_ID, launch->device_id);
	put_number(&s, TT_KEY_MANAGER_ID, 0);
	tt_str_adds(compose(p), "[{\"sub_device_id\":0,\"worker_core_ranges\":");
	add_ranges(&p->text, launch->cores);
	tt_str_adds(&p->text, "}]");
	put_composed(&s, TT_KEY_SUB_DEVICES);
	end(&s, node);
}

void tt_node_launch(struct tt_project *p, uint32_t node,
		    const struct tt_event_program_launch *launch)
{
	struct sheet s = begin(p, node);

	put_number(&s, TT_KEY_QUEUE_ID, 0);
	put_number(&s, TT_KEY_DEVICE_ID, launch->device_id);
	put_number(&s, TT_KEY_CALL_COUNT, 1024 * launch->launch + launch->chip_id);
	put_number(&s, TT_KEY_PHYSICAL_ID, launch->chip_id);
	put_number(&s, TT_KEY_RUNTIME_ID, launch->launch);
	put_number(&s, TT_KEY_SUB_DEVICE_ID, 0);
	put_number(&s, TT_KEY_MANAGER_ID, 0);
	if (!p->options.plain) {
		add_ranges(compose(p), launch->cores);
		put_composed(&s, TT_KEY_WORKER_CORES);
	}
	end(&s, node);
}
