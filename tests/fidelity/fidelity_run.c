/* fidelity_run.c: runs the steps of a program and writes down what happened. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <ttnn_frontend.h>

#include "base/mem.h"
#include "device/buffer.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "fidelity.h"
#include "ops/gives.h"
#include "tensor/core.h"
#include "tensor/shape.h"
#include "tensor/text.h"
#include "trace/dialect.h"

/* ---- lines ------------------------------------------------------------------------------------------ */

void fid_line(struct tt_str *out, const char *format, ...)
{
	va_list list;
	char text[4096];

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	for (const char *at = text; *at; at++)
		if (*at == '\n')
			tt_str_adds(out, "\\n");
		else
			tt_str_addc(out, *at);
	tt_str_addc(out, '\n');
}

void fid_cores(struct tt_str *out, const ttnn_core_set *set)
{
	const ttnn_core_set *cut;

	if (tt_core_set_merge(&cut, set, NULL) == TTNN_OK)
		tt_text_core_set(out, cut, TTNN_DIALECT_TT_METAL);
	else
		tt_str_adds(out, ttnn_error());
}

/* ---- tensors ------------------------------------------------------------------------------------------ */

static void line_list(struct tt_str *out, const char *where, const char *what,
		      const struct ttnn_shape *shape)
{
	struct tt_str text = {0};

	tt_shape_list(&text, shape);
	fid_line(out, "%s.%s %s", where, what, tt_str_text(&text));
	tt_str_deinit(&text);
}

static void line_enum(struct tt_str *out, const char *where, const struct tt_enum *type,
		      int64_t value)
{
	struct tt_str text = {0};

	tt_text_enum(&text, type, value, ".");
	fid_line(out, "%s %s", where, tt_str_text(&text));
	tt_str_deinit(&text);
}

static void line_grid(struct tt_str *out, const char *where, const ttnn_core_set *set)
{
	struct tt_str text = {0};

	tt_text_core_set(&text, set, TTNN_DIALECT_TT_METAL);
	fid_line(out, "%s.grid %s", where, tt_str_text(&text));
	tt_str_deinit(&text);
}

static void lines_memory(struct tt_str *out, const char *where,
			 const struct ttnn_memory_config *memory)
{
	char inside[256];

	line_enum(out, where, &tt_enum_memory_layout, memory->layout);
	line_enum(out, where, &tt_enum_buffer_type, memory->buffer);
	if (memory->has_shard) {
		snprintf(inside, sizeof(inside), "%s.shard_spec", where);
		line_grid(out, inside, memory->shard.grid);
		fid_line(out, "%s.shape [%u, %u]", inside, memory->shard.height,
			 memory->shard.width);
		line_enum(out, inside, &tt_enum_orientation, memory->shard.orientation);
	}
	if (memory->has_nd_shard) {
		snprintf(inside, sizeof(inside), "%s.nd_shard_spec", where);
		line_grid(out, inside, memory->nd_shard.grid);
		line_list(out, inside, "shape", &memory->nd_shard.shape);
		line_enum(out, inside, &tt_enum_orientation, memory->nd_shard.orientation);
		line_enum(out, inside, &tt_enum_shard_strategy, memory->nd_shard.strategy);
	}
}

static void lines_tensor(struct tt_str *out, const char *where, const struct tt_tensor *tensor)
{
	const struct ttnn_tensor_spec *spec = &tensor->spec;
	bool device = tt_tensor_device(tensor) != NULL;

	line_list(out, where, "shape", &spec->shape);
	line_list(out, where, "padded_shape", &spec->padded);
	line_enum(out, where, &tt_enum_dtype, spec->dtype);
	line_enum(out, where, &tt_enum_layout, spec->layout);
	fid_line(out, "%s StorageType.%s", where, device ? "DEVICE" : "HOST");
	if (device && !tt_tensor_buffer(tensor))
		fid_line(out, "%s not allocated", where);
	else if (device)
		lines_memory(out, where, &spec->memory);
	if (spec->tile.height != 32 || spec->tile.width != 32)
		fid_line(out, "%s.tile [%u, %u]", where, spec->tile.height, spec->tile.width);
}

static void lines_torch(struct tt_str *out, const char *where, const struct tt_tensor *tensor)
{
	line_list(out, where, "torch", &tensor->spec.shape);
	fid_line(out, "%s torch.%s", where, ttnn_dtype_name(tensor->spec.dtype, TTNN_DIALECT_SEED));
}

static void lines_slot(struct tt_str *out, const struct fid_slot *slot)
{
	char where[128];

	if (slot->list)
		fid_line(out, "%s: %zu", slot->name, slot->count);
	else if (!slot->count)
		fid_line(out, "%s None", slot->name);
	for (size_t i = 0; i < slot->count; i++) {
		if (slot->list)
			snprintf(where, sizeof(where), "%s[%zu]", slot->name, i);
		else
			snprintf(where, sizeof(where), "%s", slot->name);
		if (!slot->tensors[i])
			fid_line(out, "%s None", where);
		else if (slot->torch)
			lines_torch(out, where, slot->tensors[i]);
		else
			lines_tensor(out, where, slot->tensors[i]);
	}
}

static void lines_address(struct tt_str *out, const struct fid_slot *slot)
{
	for (size_t i = 0; i < slot->count && !slot->made.kind; i++) {
		const struct tt_buffer *buffer =
			slot->tensors[i] ? tt_tensor_buffer(slot->tensors[i]) : NULL;

		if (buffer && slot->list)
			fid_line(out, "%s[%zu] %llu", slot->name, i,
				 (unsigned long long)buffer->address);
		else if (buffer)
			fid_line(out, "%s %llu", slot->name, (unsigned long long)buffer->address);
	}
}

/* ---- listening -------------------------------------------------------------------------------------------- */

#define DEPTH 64

struct ear {
	struct tt_event_listener base;
	struct fid_account *out;
	enum fid_mode mode;
	bool warm;
	struct {
		const char *name;
		bool written;
		bool guarded; /* a failure ends it, too, where it is written */
	} open[DEPTH];
	size_t depth, written;
};

static void hear_begin(struct ear *ear, const struct tt_event_scope_begin *begin)
{
	bool written = begin->kind != TT_SCOPE_OPERATION && begin->kind != TT_SCOPE_PRIM;

	/* The next call of the program ends what a failure left open. */
	if (!ear->depth)
		ear->written = 0;
	if (written && !ear->warm)
		fid_line(&ear->out->lines[FID_scopes], "%*s%s", (int)(2 * ear->written), "",
			 begin->name);
	if (ear->depth < DEPTH) {
		ear->open[ear->depth].name = begin->name;
		ear->open[ear->depth].written = written;
		ear->open[ear->depth].guarded =
			tt_dialect(TTNN_DIALECT_TT_METAL)->scopes[begin->kind].guarded;
	}
	ear->depth++;
	ear->written += written;
}

static void hear_end(struct ear *ear, bool aborted)
{
	if (!ear->depth)
		return;
	ear->depth--;
	if (ear->depth < DEPTH && (!aborted || ear->open[ear->depth].guarded))
		ear->written -= ear->open[ear->depth].written;
}

static void hear_program(struct ear *ear, const struct tt_event_program *program)
{
	const char *name = ear->depth && ear->depth <= DEPTH ? ear->open[ear->depth - 1].name : "?";

	if (ear->warm)
		fid_line(&ear->out->lines[FID_warm], "%s %s", name,
			 program->cache_hit ? "hit" : "miss");
	else
		fid_line(&ear->out->lines[FID_programs], "%s %s %u %s", name, program->factory,
			 program->factory_index, program->cache_hit ? "hit" : "miss");
}

static void hear_memory(struct ear *ear, const struct tt_event_program_memory *memory)
{
	static const char *const kinds[] = {"circular_buffer", "dataflow_buffer", "scratchpad"};
	struct tt_str cores = {0};

	/* Upstream tells of the other kinds in dry runs only. */
	if (ear->warm || memory->kind == TT_MEMORY_PLANNED ||
	    (ear->mode == FID_NORMAL && memory->kind != TT_MEMORY_CIRCULAR_BUFFER))
		return;
	fid_cores(&cores, memory->cores);
	fid_line(&ear->out->lines[FID_buffers], "%s %llu on %s%s", kinds[memory->kind],
		 (unsigned long long)memory->size, tt_str_text(&cores),
		 memory->borrowed ? " borrowed" : "");
	tt_str_deinit(&cores);
}

static void hear(struct tt_event_listener *self, const struct tt_event *event)
{
	struct ear *ear = (struct ear *)self;

	switch (event->kind) {
	case TT_EVENT_SCOPE_BEGIN:
		hear_begin(ear, &event->begin);
		break;
	case TT_EVENT_SCOPE_END:
		hear_end(ear, event->end.aborted);
		break;
	case TT_EVENT_PROGRAM:
		hear_program(ear, &event->program);
		break;
	case TT_EVENT_PROGRAM_MEMORY:
		hear_memory(ear, &event->memory);
		break;
	default:
		break;
	}
}

/* The graph of the body, or of a capture inside of it that has a name, as a user gets it. */
static void end_graph(struct tt_str *out, const char *name)
{
	struct tt_json_doc *doc = NULL;
	ttnn_graph *graph = NULL;
	char *text = NULL;
	tt_status status = ttnn_graph_end(&graph);

	if (status == TTNN_OK)
		status = ttnn_graph_json(&text, graph, 0);
	if (status == TTNN_OK)
		status = tt_json_parse(&doc, text, strlen(text), "graph");
	if (status != TTNN_OK)
		fid_line(out, "%s", ttnn_error());
	else if (name)
		fid_inner(out, name, tt_json_root(doc));
	else
		fid_nodes(out, tt_json_root(doc));
	tt_json_free(doc);
	ttnn_free(text);
	ttnn_graph_free(graph);
}

/* ---- steps --------------------------------------------------------------------------------------------------- */

/* How a step ended when it did not succeed. */
struct failure {
	bool missing; /* neither run nor refused: the library has no such thing */
	const char *type;
	char text[4096];
};

static tt_status fail_step(struct failure *failure, tt_status status, bool missing)
{
	const char *text = ttnn_error();

	failure->missing = missing;
	failure->type = status == TTNN_TYPE       ? "TypeError"
			: status == TTNN_RANGE    ? "IndexError"
			: status == TTNN_INTERNAL ? FID_INTERNAL
						  : "RuntimeError";
	snprintf(failure->text, sizeof(failure->text), "%s", *text ? text : tt_fail_condition());
	return status;
}

static tt_status keep_results(struct fid_names *names, const char *name,
			      const struct ttnn_results *results, bool list, bool torch)
{
	size_t count = results->count;
	ttnn_tensor **tensors = tt_arena_calloc(&names->arena, count + 1, sizeof(*tensors));
	struct fid_slot *slot = fid_slot_find(names, name), before = {0};

	if (!slot) {
		slot = TT_VEC_PUSH(&names->slots);
		if (slot)
			*slot = (struct fid_slot){0};
	}
	if (!slot || !tensors) {
		for (size_t i = 0; i < count; i++)
			tt_call_drop(NULL, results->tensors[i]);
		return tt_fail_nomem();
	}
	before = *slot;
	memcpy(tensors, results->tensors, count * sizeof(*tensors));
	*slot = (struct fid_slot){
		.name = name, .tensors = tensors, .count = count, .list = list, .torch = torch};
	fid_slot_clear(&before);
	return TTNN_OK;
}

/* Each result under a name of its own. */
static tt_status keep_each(struct fid_names *names, const struct tt_json *outs,
			   const struct ttnn_results *results)
{
	struct tt_json_iter it = tt_json_iter(outs);
	tt_status status = TTNN_OK;
	size_t i = 0;

	for (; status == TTNN_OK && i < results->count && tt_json_next(&it); i++)
		status = keep_results(
			names, tt_json_string(it.value, NULL),
			&(struct ttnn_results){.tensors = {results->tensors[i]}, .count = 1}, false,
			false);
	if (status == TTNN_OK && i < results->count)
		status = tt_fail(TTNN_INVALID, "%zu results, not %zu", results->count, i);
	return status;
}

static tt_status call_step(struct fid_names *names, const struct tt_json *step,
			   struct failure *failure)
{
	const struct tt_json *self = tt_json_get(step, "self");
	const char *out = tt_json_string(tt_json_get(step, "out"), NULL);
	struct tt_json_iter it = tt_json_iter(tt_json_get(step, "args"));
	const struct tt_op_entry *entry;
	struct ttnn_results results;
	struct fid_callee callee;
	struct ttnn_arg args[64];
	size_t count = 0;
	tt_status status;

	fid_callee(&callee, step);
	if (out && fid_makes(callee.op)) {
		status = fid_make(names, step, callee.op);
		return status == TTNN_OK ? status : fail_step(failure, status, false);
	}
	entry = callee.op ? tt_op_find(callee.op) : NULL;
	if (!entry)
		return fail_step(failure,
				 tt_fail(TTNN_NOTFOUND, "no operation %s",
					 tt_json_string(tt_json_get(step, "call"), NULL)),
				 true);
	memset(args, 0, sizeof(args));
	status = self ? fid_value(&args[count++].value, names, self, callee.torch) : TTNN_OK;
	for (int keywords = 0; keywords < 2 && status == TTNN_OK; keywords++) {
		while (status == TTNN_OK && count < 64 && tt_json_next(&it)) {
			args[count].name = it.key;
			status = fid_value(&args[count++].value, names, it.value, callee.torch);
		}
		it = tt_json_iter(tt_json_get(step, "kwargs"));
	}
	if (status == TTNN_OK && callee.torch)
		status = fid_map(names, args, count);
	if (status != TTNN_OK)
		return fail_step(failure, status, status == TTNN_NOTFOUND);
	fid_also_golden(entry, args, count);
	status = ttnn_call(&results, entry->op->name, args, count,
			   callee.frontend ? TTNN_FRONTEND_PYTHON : TTNN_FRONTEND_C);
	if (status != TTNN_OK)
		return fail_step(failure, status, false);
	if (tt_json_get(step, "outs"))
		return keep_each(names, tt_json_get(step, "outs"), &results);
	if (out)
		return keep_results(names, out, &results,
				    tt_gives_many(entry->op->gives) || results.count > 1,
				    strcmp(entry->op->name, "ttnn.to_torch") == 0);
	for (size_t i = 0; i < results.count; i++)
		tt_call_drop(NULL, results.tensors[i]);
	return TTNN_OK;
}

static enum ttnn_run_mode mode_named(const char *name)
{
	return strcmp(name, "NORMAL") == 0 ? TTNN_RUN_NORMAL : TTNN_RUN_NO_DISPATCH;
}

static tt_status run_step(struct fid_names *names, const struct tt_json *step,
			  struct failure *failure)
{
	const char *begin = tt_json_string(tt_json_get(step, "begin"), NULL);
	const char *end = tt_json_string(tt_json_get(step, "end"), NULL);
	const char *gone = tt_json_string(tt_json_get(step, "del"), NULL);
	struct fid_slot *slot = gone ? fid_slot_find(names, gone) : NULL;

	if (begin && ttnn_graph_begin_as(mode_named(begin), TTNN_DIALECT_TT_METAL) != TTNN_OK)
		return fail_step(failure, TTNN_STATE, false);
	if (end)
		end_graph(&names->captures, end);
	if (begin || end)
		return TTNN_OK;
	if (!gone)
		return call_step(names, step, failure);
	if (!slot)
		return fail_step(failure, tt_fail(TTNN_INVALID, "there is no %s", gone), false);
	slot->name = NULL;
	fid_slot_clear(slot);
	return TTNN_OK;
}

/* Runs all steps; writes outcome and text. False when one ended the program. */
bool fid_run_steps(struct fid_account *out, struct fid_names *names, const struct tt_json *steps,
		   bool setup)
{
	struct tt_json_iter it = tt_json_iter(steps);
	const char *where = setup ? "before the capture" : "in the capture";
	struct tt_str tolerated = {0};
	struct failure failure;
	bool may_fail;

	for (size_t index = 0; tt_json_next(&it); index++) {
		failure = (struct failure){.type = "RuntimeError"};
		if (run_step(names, it.value, &failure) == TTNN_OK)
			continue;
		fid_line(&out->lines[FID_text], "%s: %s", failure.type,
			 fid_message(&names->arena, failure.text));
		may_fail = false;
		if (!setup && tt_json_bool(&may_fail, tt_json_get(it.value, "may_fail")) &&
		    may_fail) {
			tt_str_addf(&tolerated, "%s%zu%s", tolerated.length ? ", " : "", index,
				    failure.missing ? " (not implemented)" : "");
			continue;
		}
		fid_line(&out->lines[FID_outcome], "%s %s, step %zu",
			 failure.missing ? "not implemented" : "refused", where, index);
		tt_str_deinit(&tolerated);
		return false;
	}
	if (!setup && tolerated.length)
		fid_line(&out->lines[FID_outcome], "ran, refusing steps %s",
			 tt_str_text(&tolerated));
	else if (!setup)
		fid_line(&out->lines[FID_outcome], "ran");
	tt_str_deinit(&tolerated);
	return true;
}

/* ---- the device afterwards -------------------------------------------------------------------------------------- */

static void lines_region(struct tt_str *out, struct tt_allocator *allocator,
			 enum ttnn_buffer_type type, uint32_t banks)
{
	struct tt_freelist_stats stats = tt_allocator_stats(allocator, type);
	const char *name = tt_enum_name(&tt_enum_buffer_type, type);
	struct tt_freelist_block *blocks = NULL;
	size_t count = 0;

	fid_line(out, "%s banks %u bank_bytes %llu allocated %llu largest_free %llu", name,
		 stats.total ? banks : 0, (unsigned long long)stats.total,
		 (unsigned long long)stats.taken, (unsigned long long)stats.largest_free);
	if (tt_allocator_blocks(&blocks, &count, allocator, type) != TTNN_OK)
		fid_line(out, "%s", ttnn_error());
	for (size_t i = 0; i < count; i++)
		if (blocks[i].taken)
			fid_line(out, "%s block [%llu, %llu]", name,
				 (unsigned long long)(blocks[i].address -
						      allocator->region[type].base),
				 (unsigned long long)blocks[i].size);
	tt_free(blocks);
}

void fid_lines_allocator(struct tt_str *out, struct tt_device *device)
{
	struct tt_allocator *allocator = &device->memory->allocator;

	lines_region(out, allocator, TTNN_DRAM, allocator->config.dram_banks);
	lines_region(out, allocator, TTNN_L1, allocator->config.l1_banks);
	lines_region(out, allocator, TTNN_L1_SMALL, allocator->config.l1_banks);
}

static size_t programs_in(struct tt_device *device)
{
	return (size_t)tt_progcache_stats(&device->programs).entries;
}

/* ---- a run ---------------------------------------------------------------------------------------------------------- */

void fid_names_deinit(struct fid_names *names)
{
	for (size_t i = 0; i < names->slots.count; i++)
		fid_slot_clear(&names->slots.data[i]);
	TT_VEC_DEINIT(&names->slots);
	tt_str_deinit(&names->captures);
	tt_arena_deinit(&names->arena);
}

/* A second owner for all that exists: what the body deletes or replaces lives on all the same. */
static tt_status copy_names(struct fid_names *to, struct fid_names *from)
{
	for (size_t i = 0; i < from->slots.count; i++) {
		struct fid_slot *slot = TT_VEC_PUSH(&to->slots);

		if (!slot)
			return tt_fail_nomem();
		*slot = from->slots.data[i];
		slot->given = true;
		slot->tensors =
			tt_arena_calloc(&to->arena, slot->count + 1, sizeof(*slot->tensors));
		if (!slot->tensors) {
			slot->count = 0;
			return tt_fail_nomem();
		}
		for (size_t k = 0; k < slot->count; k++)
			slot->tensors[k] = from->slots.data[i].tensors[k]
						   ? ttnn_tensor_ref(from->slots.data[i].tensors[k])
						   : NULL;
		if (slot->made.kind)
			TT_TRY(tt_value_copy(&slot->made, &to->arena, &from->slots.data[i].made));
	}
	return TTNN_OK;
}

static void lines_results(struct fid_account *out, struct fid_names *names,
			  const struct tt_json *outputs)
{
	struct tt_json_iter it = tt_json_iter(outputs);

	while (tt_json_next(&it)) {
		struct fid_slot *slot = fid_slot_find(names, it.key);

		if (!slot) {
			fid_line(&out->lines[FID_specs], "%s is missing", it.key);
			continue;
		}
		lines_slot(&out->lines[FID_specs], slot);
		lines_address(&out->lines[FID_addresses], slot);
	}
}

static void run_warm(struct fid_account *out, struct ear *ear, struct fid_names *given,
		     const struct tt_json *body)
{
	struct fid_names names = {.device = given->device};
	struct fid_account unused = {0};
	struct fid_memory *memory;

	if (copy_names(&names, given) == TTNN_OK) {
		ear->warm = true;
		memory = fid_memory_begin(names.device, FID_NORMAL);
		tt_event_listen(&ear->base);
		fid_run_steps(&unused, &names, body, false);
		tt_event_listen(NULL);
		fid_memory_end(&out->lines[FID_memory], memory);
		fid_line(&out->lines[FID_warm], "entries %zu", programs_in(names.device));
	}
	fid_account_deinit(&unused);
	fid_names_deinit(&names);
}

static void observe(struct fid_account *out, const struct fid_program *program, enum fid_mode mode,
		    struct fid_names *names)
{
	const struct tt_json *body = tt_json_get(program->record, "body");
	const struct tt_json *outputs = tt_json_get(fid_run(program, mode), "outputs");
	struct fid_names given = {.device = names->device};
	struct ear ear = {.base = {.emit = hear}, .out = out, .mode = mode};
	enum ttnn_run_mode run_mode = mode == FID_NORMAL ? TTNN_RUN_NORMAL : TTNN_RUN_NO_DISPATCH;
	struct fid_memory *memory;
	uint32_t depth;
	bool ran;

	if (!fid_run_steps(out, names, tt_json_get(program->record, "setup"), true))
		return;
	for (size_t i = 0; i < names->slots.count; i++)
		if (names->slots.data[i].name && !tt_json_get(outputs, names->slots.data[i].name))
			lines_address(&out->lines[FID_addresses], &names->slots.data[i]);
	if (copy_names(&given, names) != TTNN_OK) {
		fid_names_deinit(&given);
		return;
	}
	if (fid_databases)
		fid_reports_begin(run_mode);
	if (ttnn_graph_begin_as(run_mode, TTNN_DIALECT_TT_METAL) != TTNN_OK) {
		fid_line(&out->lines[FID_outcome], "no capture: %s", ttnn_error());
		fid_names_deinit(&given);
		return;
	}
	depth = ttnn_graph_depth();
	memory = fid_memory_begin(names->device, mode);
	tt_event_listen(&ear.base);
	ran = fid_run_steps(out, names, body, false);
	tt_event_listen(NULL);
	fid_memory_end(&out->lines[FID_memory], memory);
	while (ttnn_graph_depth() > depth) /* left by a failure */
		ttnn_graph_end(NULL);
	end_graph(&out->lines[FID_graph], NULL);
	if (fid_databases)
		fid_reports_end(&out->lines[FID_memory]);
	tt_str_adds(&out->lines[FID_graph], tt_str_text(&names->captures));
	if (ran)
		lines_results(out, names, outputs);
	fid_lines_allocator(&out->lines[FID_allocator], names->device);
	fid_line(&out->lines[FID_cache], "entries %zu", programs_in(names->device));
	if (ran && mode == FID_NORMAL) {
		fid_names_deinit(names);
		run_warm(out, &ear, &given, body);
	}
	fid_names_deinit(&given);
}

/* ---- without memory ----------------------------------------------------------------------------------------------- */

int64_t fid_starvings;

/* The body once more, its n-th allocation failing (0: none); what is wrong afterwards becomes lines. */
static uint64_t starve_once(struct tt_str *out, const struct fid_program *program,
			    enum fid_mode mode, struct fid_names *given, uint64_t n)
{
	struct fid_names names = {.device = given->device};
	struct fid_account account = {0};
	struct tt_str before = {0}, after = {0};
	uint64_t attempts = 0;
	bool struck;

	fid_lines_allocator(&before, names.device);
	if (copy_names(&names, given) == TTNN_OK &&
	    ttnn_graph_begin_as(mode == FID_NORMAL ? TTNN_RUN_NORMAL : TTNN_RUN_NO_DISPATCH,
				TTNN_DIALECT_TT_METAL) == TTNN_OK) {
		tt_mem_watch(true);
		tt_mem_fail_at(n);
		fid_run_steps(&account, &names, tt_json_get(program->record, "body"), false);
		struck = tt_mem_failed();
		attempts = tt_mem_attempts();
		tt_mem_fail_at(0);
		tt_mem_watch(false);
		while (ttnn_graph_depth() > 0)
			ttnn_graph_end(NULL);
		if (n && struck && strstr(tt_str_text(&account.lines[FID_text]), FID_INTERNAL))
			fid_line(out, "allocation %llu: %s", (unsigned long long)n,
				 tt_str_text(&account.lines[FID_text]));
	}
	fid_names_deinit(&names);
	tt_progcache_clear(&names.device->programs);
	fid_lines_allocator(&after, names.device);
	if (n && strcmp(tt_str_text(&before), tt_str_text(&after)) != 0)
		fid_line(out, "allocation %llu: device memory differs: %s", (unsigned long long)n,
			 tt_str_text(&after));
	tt_str_deinit(&before);
	tt_str_deinit(&after);
	fid_account_deinit(&account);
	return attempts;
}

/* What is spread evenly over all allocations of the body fails, one at a time. */
static void starve(struct tt_str *out, const struct fid_program *program, enum fid_mode mode,
		   struct fid_names *names)
{
	struct fid_account unused = {0};
	uint64_t all, times = (uint64_t)fid_starvings;

	if (fid_run_steps(&unused, names, tt_json_get(program->record, "setup"), true)) {
		starve_once(out, program, mode, names, 0); /* tables are made once */
		all = starve_once(out, program, mode, names, 0);
		times = times < all ? times : all;
		for (uint64_t i = 0; i < times; i++)
			starve_once(out, program, mode, names, 1 + i * all / times);
	}
	fid_account_deinit(&unused);
}

/* ---- a program ---------------------------------------------------------------------------------------------------- */

/* Recordings were made in a new process each. */
static void forget_numbers(void)
{
	tt_program_set_next_id(0);
	tt_device_set_next_id(0);
	tt_tensor_set_next_id(0);
	tt_launch_set_count(0);
}

void fid_starve(struct fid_result *out, struct tt_arena *arena, const struct fid_program *program,
		enum fid_mode mode)
{
	struct fid_names names = {0};
	struct tt_str lines = {0};

	forget_numbers();
	if (fid_device_open(&names.device, program->label,
			    tt_json_get(program->record, "device")) == TTNN_OK)
		starve(&lines, program, mode, &names);
	else
		fid_line(&lines, "no device: %s", ttnn_error());
	fid_names_deinit(&names);
	ttnn_device_unref(names.device);
	out->verdict[FID_outcome] = lines.length ? FID_FAILED : FID_PASSED;
	out->reason[FID_outcome] = tt_arena_strdup(arena, tt_str_text(&lines));
	tt_str_deinit(&lines);
}

void fid_observe(struct fid_account *out, const struct fid_program *program, enum fid_mode mode)
{
	struct fid_names names = {0};
	struct tt_capture *capture = NULL;
	tt_status status;

	forget_numbers();
	status = fid_device_open(&names.device, program->label,
				 tt_json_get(program->record, "device"));
	if (fid_databases)
		capture = fid_database_begin();
	if (status == TTNN_OK)
		observe(out, program, mode, &names);
	else
		fid_line(&out->lines[FID_outcome], "no device: %s", ttnn_error());
	if (fid_databases)
		fid_database_end(&out->lines[FID_memory], capture);
	fid_names_deinit(&names);
	ttnn_device_unref(names.device);
}

const char *fid_machine;

/* The fabric of an option "fabric"; several chips have lines without one. */
static void set_fabric(const struct tt_json *name, bool mesh)
{
	static const char *const names[] = {
		[TTNN_FABRIC_NONE] = "DISABLED",
		[TTNN_FABRIC_1D_NEIGHBORS] = "FABRIC_1D_NEIGHBOR_EXCHANGE",
		[TTNN_FABRIC_1D] = "FABRIC_1D",
		[TTNN_FABRIC_1D_RING] = "FABRIC_1D_RING",
		[TTNN_FABRIC_2D] = "FABRIC_2D",
		[TTNN_FABRIC_2D_TORUS_X] = "FABRIC_2D_TORUS_X",
		[TTNN_FABRIC_2D_TORUS_Y] = "FABRIC_2D_TORUS_Y",
		[TTNN_FABRIC_2D_TORUS_XY] = "FABRIC_2D_TORUS_XY",
	};
	const char *text = tt_json_string(name, NULL);

	ttnn_fabric_set(mesh ? TTNN_FABRIC_1D : TTNN_FABRIC_NONE);
	for (size_t i = 0; text && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], text) == 0)
			ttnn_fabric_set((enum ttnn_fabric)i);
}

/* A label is the name of a profile; several chips are opened as the mesh of all, or of an option "mesh". */
tt_status fid_device_open(struct tt_device **out, const char *label, const struct tt_json *options)
{
	struct ttnn_device_options open = {.profile = fid_machine ? fid_machine : label};
	const struct tt_json *mesh = tt_json_get(options, "mesh");
	struct ttnn_mesh_options shape = {0};
	struct ttnn_system_info system;
	uint64_t extent;

	tt_json_uint(&open.l1_small_size, tt_json_get(options, "l1_small_size"));
	tt_json_uint(&open.trace_region_size, tt_json_get(options, "trace_region_size"));
	TT_TRY(ttnn_system_info(&system, open.profile));
	set_fabric(tt_json_get(options, "fabric"), system.chip_count > 1);
	if (mesh && tt_json_uint(&extent, tt_json_at(mesh, 0)))
		shape.rows = (uint32_t)extent;
	if (mesh && tt_json_uint(&extent, tt_json_at(mesh, 1)))
		shape.cols = (uint32_t)extent;
	if (system.chip_count > 1)
		return ttnn_mesh_open(out, mesh ? &shape : NULL, &open);
	return ttnn_device_open(out, 0, &open);
}
