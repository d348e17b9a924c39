#include "report/report_walk.h"

#include <string.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/jsondump.h"
#include "base/log.h"
#include "base/mem.h"
#include "report/forms.h"
#include "report/pytext.h"

/* Functions that are part of what is around them. */
static const char *const filtered[] = {
	"ttnn::convert_python_tensor_to_tt_tensor",
	"tt::tt_metal::detail::convert_tt_tensor_to_framework_tensor",
	"Tensor::deallocate",
	"Tensor::to_device",
	"Tensor::reshape",
	"tt::tt_metal::to_dtype",
};

tt_status tt_report_complain(struct tt_report_import *import, size_t position, const char *what)
{
	if (import->options->strict)
		return tt_report_graph_fail(&import->graph, position, what);
	if (import->warnings++ < 10)
		tt_log(TT_LOG_WARN, "%s: node %zu: %s", import->path, position, what);
	return TTNN_OK;
}

int64_t tt_report_counter(const struct tt_json *node)
{
	int64_t counter = 0;

	tt_json_int(&counter, tt_json_get(node, "counter"));
	return counter;
}

/* Upstream knows Python's name of it alone. */
static bool is_from_torch(const struct tt_report_import *import, const char *name)
{
	return strcmp(name, "ttnn.from_torch") == 0 ||
	       (!import->options->strict && strcmp(name, "ttnn::from_torch") == 0);
}

static bool is_filtered(const char *name)
{
	for (size_t i = 0; i < sizeof(filtered) / sizeof(filtered[0]); i++)
		if (strncmp(name, filtered[i], strlen(filtered[i])) == 0)
			return true;
	return false;
}

/* What was made of a form is kept with it. */
static tt_status learn(struct tt_report_form *form, const void *made, size_t size)
{
	form->memo = tt_alloc(size);
	if (!form->memo)
		return tt_fail_nomem();
	memcpy(form->memo, made, size);
	return TTNN_OK;
}

/* ---- the nodes of an operation -------------------------------------------------------------- */

static void forget_nodes(struct tt_report_import *import)
{
	import->nodes.count = import->placed.count = 0;
	tt_str_clear(&import->placed_texts);
	tt_report_captured_clear(&import->captured);
	tt_report_graph_tidy(&import->graph);
}

/* Those that tell where programs ran are read when the operation ends. */
static tt_status place(struct tt_report_import *import, const struct tt_report_node *node)
{
	struct tt_report_placed *placed = TT_VEC_PUSH(&import->placed);

	if (!placed)
		return tt_fail_nomem();
	*placed = (struct tt_report_placed){node->position, import->placed_texts.length,
					    node->kind == TT_NODE_MANAGER};
	tt_json_dump(&import->placed_texts, tt_json_get(node->json, "params"));
	tt_str_addc(&import->placed_texts, '\0');
	return tt_str_status(&import->placed_texts);
}

static tt_status remember(struct tt_report_import *import, const struct tt_report_node *node)
{
	size_t *at;

	if (node->kind == TT_NODE_MANAGER || node->kind == TT_NODE_EXECUTION)
		TT_TRY(place(import, node));
	if (import->writing)
		return tt_report_graph_keep(&import->graph, node->position);
	at = TT_VEC_PUSH(&import->nodes);
	if (!at)
		return tt_fail_nomem();
	*at = node->position;
	return TTNN_OK;
}

/* ---- functions ------------------------------------------------------------------------------ */

/* Keeps what the frame's node refers to as inputs. */
static tt_status keep_references(struct tt_report_import *import, const struct tt_report_node *node)
{
	for (size_t i = 0; i < node->input_count; i++) {
		int64_t *reference = TT_VEC_PUSH(&import->references);

		if (!reference)
			return tt_fail_nomem();
		*reference = node->inputs[i];
	}
	return TTNN_OK;
}

static tt_status begin_operation(struct tt_report_import *import, const struct tt_report_node *node,
				 const struct tt_report_frame *frame)
{
	const struct tt_map_entry *name = &import->tensors.texts.entries[frame->name - 1];
	struct tt_db_stmt *insert;

	import->visible++;
	import->depth++;
	import->aborted = false;
	import->inputs.count = import->outputs.count = 0;
	tt_idset_clear(&import->inner_outputs);
	tt_idset_clear(&import->inner_inputs);
	forget_nodes(import);
	import->writing = !tt_report_records_has_graph(&import->records, frame->record);
	tt_report_graph_hold(&import->graph);
	TT_TRY(remember(import, node));
	TT_TRY(tt_report_insert(&insert, &import->db, TT_REPORT_NODES));
	tt_db_bind_int(insert, 0, import->base + import->number);
	tt_db_bind_int(insert, 1, frame->counter);
	tt_db_bind_int(insert, 2, import->number);
	tt_db_bind_text(insert, 3, name->key, name->length);
	tt_db_bind_int(insert, 4, import->rank);
	return tt_db_run(insert);
}

/* What the start of a function says besides numbers. */
struct function {
	uint32_t name; /* entry of texts + 1 */
	bool filtered, from_torch, has_trace;
};

static tt_status read_function(struct function *out, struct tt_report_import *import,
			       const struct tt_report_node *node)
{
	const struct tt_json *params, *given;
	size_t length = 0;
	const char *name;
	bool lasts;

	if (node->form && node->form->memo) {
		memcpy(out, node->form->memo, sizeof(*out));
		return TTNN_OK;
	}
	params = tt_json_get(node->json, "params");
	given = tt_json_get(params, "name");
	name = tt_json_string(given, &length);
	lasts = name && node->form && !tt_report_form_varies(node->form, given);
	if (tt_json_kind(params) != TT_JSON_OBJECT || (given && !name))
		TT_TRY(tt_report_complain(import, node->position, "a function without a name"));
	if (!name) {
		name = "unknown";
		length = strlen(name);
	}
	*out = (struct function){
		.name = tt_report_tensors_text(&import->tensors, name, length),
		.filtered = is_filtered(name),
		.from_torch = is_from_torch(import, name),
		.has_trace = tt_py_true(tt_json_get(node->json, "stack_trace")),
	};
	if (!out->name)
		return tt_fail_nomem();
	return lasts ? learn(node->form, out, sizeof(*out)) : TTNN_OK;
}

static tt_status start_function(struct tt_report_import *import, const struct tt_report_node *node)
{
	const struct tt_map_entry *name;
	struct tt_report_frame *frame;
	struct function function;
	bool brought, filter;

	TT_TRY(read_function(&function, import, node));
	name = &import->tensors.texts.entries[function.name - 1];
	brought = !import->computed && function.from_torch;
	/* On a mesh the first one computes, too: upstream takes its steps for operations, and all later ones whole. */
	if (!import->options->strict && import->stack.count)
		brought = brought || import->stack.data[import->stack.count - 1].brought;
	filter = function.filtered || brought;
	if (!filter && import->visible == 0 && !function.from_torch)
		import->computed = true;
	frame = TT_VEC_PUSH(&import->stack);
	if (!frame)
		return tt_fail_nomem();
	*frame = (struct tt_report_frame){
		.counter = node->form ? node->counter : tt_report_counter(node->json),
		.position = node->position,
		.inputs = import->references.count,
		.name = function.name,
		.record = tt_report_records_take(&import->records, name->key, name->length),
		.nested = import->visible > 0 || filter,
		.brought = brought,
		.has_trace = function.has_trace,
	};
	TT_TRY(keep_references(import, node));
	if (!frame->nested)
		return begin_operation(import, node, frame);
	import->depth++;
	return TTNN_OK;
}

/* The tensor id of an entry; false when it is no tensor or has none. */
static tt_status tensor_id(bool *has, int64_t *id, struct tt_report_import *import,
			   const struct tt_report_entry *entry, size_t position)
{
	*has = entry->kind == TT_NODE_TENSOR && entry->has_value;
	if (*has)
		*id = entry->value;
	else if (entry->kind == TT_NODE_TENSOR && entry->bad_value)
		return tt_report_complain(import, position, "a tensor_id that is no number");
	return TTNN_OK;
}

/* The functions inside an operation say what goes in and out of it, if it does not itself. */
static tt_status lift(struct tt_report_import *import, const struct tt_report_frame *frame,
		      const struct tt_report_node *end)
{
	struct tt_report_entry entry;
	size_t position = 0, at = 0;
	int64_t id, *input;
	bool has;

	tt_idset_clear(&import->own_inputs);
	for (size_t i = frame->inputs; i < import->references.count; i++) {
		TT_TRY(tt_report_graph_at(&entry, &position, &import->graph,
					  import->references.data[i]));
		TT_TRY(tensor_id(&has, &id, import, &entry, position));
		if (has)
			TT_TRY(tt_idset_add(&import->own_inputs, id));
	}
	while (tt_idset_next(&id, &at, &import->own_inputs)) {
		TT_TRY(tt_idset_add(&import->inner_inputs, id));
		input = TT_VEC_PUSH(&import->inputs);
		if (!input)
			return tt_fail_nomem();
		*input = id;
	}
	for (size_t i = 0; i < end->connection_count; i++) {
		struct tt_report_output *output;

		TT_TRY(tt_report_graph_at(&entry, &position, &import->graph, end->connections[i]));
		TT_TRY(tensor_id(&has, &id, import, &entry, position));
		if (!has)
			continue;
		if (!tt_idset_has(&import->own_inputs, id)) /* else it works in place */
			TT_TRY(tt_idset_add(&import->inner_outputs, id));
		output = TT_VEC_PUSH(&import->outputs);
		if (!output)
			return tt_fail_nomem();
		*output = (struct tt_report_output){id, position};
	}
	return TTNN_OK;
}

static tt_status note_abort(struct tt_report_import *import, const struct tt_json *end)
{
	const struct tt_json *params = tt_json_get(end, "params");
	const char *aborted = tt_json_string(tt_json_get(params, "aborted"), NULL);
	const char *texts[2];
	uint32_t *into[] = {&import->abort_name, &import->abort_reason};

	if (!aborted || strcmp(aborted, "true") != 0 || import->aborted)
		return TTNN_OK;
	texts[0] = tt_json_string(tt_json_get(params, "name"), NULL);
	texts[1] = tt_json_string(tt_json_get(params, "abort_reason"), NULL);
	import->aborted = true;
	for (int i = 0; i < 2; i++) {
		const char *text = texts[i] ? texts[i] : i ? "" : "unknown";

		*into[i] = tt_report_tensors_text(&import->tensors, text, strlen(text));
		if (!*into[i])
			return tt_fail_nomem();
	}
	return TTNN_OK;
}

static tt_status end_function(struct tt_report_import *import, const struct tt_report_node *node)
{
	struct tt_report_frame *frame = NULL;
	tt_status status;

	if (import->stack.count)
		frame = &import->stack.data[--import->stack.count];
	import->depth--;
	if (frame && frame->nested) {
		if (!node->form || !node->form->quiet)
			TT_TRY(note_abort(import, node->json));
		status = lift(import, frame, node);
		import->references.count = frame->inputs;
		return status;
	}
	import->visible--;
	status = node->form && node->form->quiet ? TTNN_OK : tt_report_graph_settle(&import->graph);
	if (status == TTNN_OK)
		status = tt_report_operation_end(import, frame, node);
	if (frame)
		import->references.count = frame->inputs;
	import->aborted = false;
	import->writing = false;
	forget_nodes(import);
	import->number++;
	return status;
}

/* ---- memory --------------------------------------------------------------------------------- */

static int64_t param(bool *good, const struct tt_json *params, const char *key)
{
	const struct tt_json *value = tt_json_get(params, key);
	int64_t number = 0;

	if (value && tt_json_kind(value) != TT_JSON_NULL)
		*good &= tt_py_int(&number, value);
	return number;
}

/* How much of a buffer is in one bank, for reports that do not say. */
static int64_t size_per_bank(const struct tt_report_devices *devices,
			     const struct tt_report_buffer *buffer, int64_t page_size,
			     int64_t cores, bool interleaved)
{
	int64_t size = buffer->size, banks = cores, pages, per_bank;

	if (page_size <= 0 || size <= 0)
		return size;
	pages = size / page_size;
	if (interleaved) {
		banks = 0;
		if (buffer->device >= 0 && (uint64_t)buffer->device < devices->rows.count)
			banks = buffer->type == 0 ? devices->rows.data[buffer->device].dram_channels
						  : devices->rows.data[buffer->device].l1_banks;
	}
	if (banks <= 0)
		return size;
	per_bank = pages / banks + (pages % banks != 0);
	return per_bank * page_size;
}

/* The position of the first `buffer` that a node is connected with, or TT_REPORT_NO_NODE. */
static tt_status connected_buffer(size_t *out, struct tt_report_import *import,
				  const struct tt_report_node *node)
{
	struct tt_report_entry entry;

	for (size_t i = 0; i < node->connection_count; i++) {
		TT_TRY(tt_report_graph_at(&entry, out, &import->graph, node->connections[i]));
		if (entry.kind == TT_NODE_BUFFER)
			return TTNN_OK;
	}
	*out = TT_REPORT_NO_NODE;
	return TTNN_OK;
}

/* A buffer as params tell of it, which may lack some of it. */
struct told_buffer {
	struct tt_report_buffer buffer; /* the device by its raw id */
	int64_t page_size, cores, bank_size;
	bool has_device, has_bank_size, interleaved;
};

/*
 * The number of a layout of nodes: that of lists of buffers, which ttnn-visualizer reads. Upstream's importer counts the
 * names, and takes every other one for the first.
 */
static int64_t layout_number(const char *name, bool strict)
{
	static const struct {
		const char *name;
		int64_t number;
	} rows[] = {{"INTERLEAVED", TTNN_INTERLEAVED},
		    {"HEIGHT_SHARDED", TTNN_HEIGHT_SHARDED},
		    {"WIDTH_SHARDED", TTNN_WIDTH_SHARDED},
		    {"BLOCK_SHARDED", TTNN_BLOCK_SHARDED}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(name, rows[i].name) == 0)
			return strict ? (int64_t)i : rows[i].number;
	return strict ? 0 : TT_REPORT_NO_LAYOUT;
}

/* False: its numbers are none. */
static bool read_told(struct told_buffer *out, struct tt_report_import *import,
		      const struct tt_json *params)
{
	const struct tt_json *layout = tt_json_get(params, "layout");
	const char *text = layout ? tt_json_string(layout, NULL) : "INTERLEAVED";
	const char *name = text ? text : "";
	bool good = true;

	*out = (struct told_buffer){
		.buffer = {.device = param(&good, params, "device_id"),
			   .address = param(&good, params, "address"),
			   .type = param(&good, params, "buffer_type"),
			   .size = param(&good, params, "size")},
		.page_size = param(&good, params, "page_size"),
		.cores = param(&good, params, "num_cores"),
		.bank_size = param(&good, params, "max_size_per_bank"),
		.has_device = tt_json_get(params, "device_id"),
		.has_bank_size = tt_json_get(params, "max_size_per_bank"),
		.interleaved = strcmp(name, "INTERLEAVED") == 0,
	};
	/* The first reports have the kind of memory as a word only, which upstream passes by. */
	if (!import->options->strict && !tt_json_get(params, "buffer_type"))
		tt_report_buffer_type(&out->buffer.type, tt_json_get(params, "type"));
	out->buffer.layout = layout_number(name, import->options->strict);
	return good;
}

static struct tt_report_buffer make_buffer(struct tt_report_import *import,
					   const struct told_buffer *told)
{
	struct tt_report_buffer buffer = told->buffer;

	if (told->has_device)
		buffer.device = tt_report_devices_map(&import->devices, buffer.device);
	buffer.size = told->has_bank_size
			      ? told->bank_size
			      : size_per_bank(&import->devices, &buffer, told->page_size,
					      told->cores, told->interleaved);
	return buffer;
}

/* The buffer of a node; of one whose form was met before only numbers are new. */
static tt_status read_buffer(struct tt_report_buffer *out, struct tt_report_import *import,
			     const struct tt_report_node *node)
{
	struct tt_report_form *form = node->form;
	struct told_buffer told;

	if (form && form->memo) {
		memcpy(&told, form->memo, sizeof(told));
		tt_report_form_number(&told.buffer.device, form, node->values, TT_FORM_DEVICE_ID);
		tt_report_form_number(&told.buffer.address, form, node->values, TT_FORM_ADDRESS);
		tt_report_form_number(&told.buffer.type, form, node->values, TT_FORM_BUFFER_TYPE);
		tt_report_form_number(&told.buffer.size, form, node->values, TT_FORM_SIZE);
		tt_report_form_number(&told.page_size, form, node->values, TT_FORM_PAGE_SIZE);
		tt_report_form_number(&told.cores, form, node->values, TT_FORM_NUM_CORES);
		tt_report_form_number(&told.bank_size, form, node->values, TT_FORM_BANK_SIZE);
	} else {
		TT_TRY(tt_report_graph_settle(&import->graph));
		if (!read_told(&told, import, tt_json_get(node->json, "params")))
			TT_TRY(tt_report_complain(import, node->position,
						  "a buffer whose numbers are none"));
		else if (form)
			TT_TRY(learn(form, &told, sizeof(told)));
	}
	*out = make_buffer(import, &told);
	return TTNN_OK;
}

static tt_status allocate(struct tt_report_import *import, const struct tt_report_node *node)
{
	struct tt_report_buffer buffer;
	size_t of;

	TT_TRY(read_buffer(&buffer, import, node));
	TT_TRY(connected_buffer(&of, import, node));
	return tt_report_buffers_add(&import->buffers, &buffer, of);
}

/* Buffers that were there when the capture began, as dialect `seed` lists them. */
static tt_status start_capture(struct tt_report_import *import, const struct tt_report_node *node)
{
	size_t length = 0;
	const char *text =
		tt_json_string(tt_json_get(tt_json_get(node->json, "params"), "buffers"), &length);
	const struct tt_json *list;
	struct tt_json_iter it;

	if (import->options->strict || import->depth > 0)
		return TTNN_OK;
	TT_TRY(tt_report_device_tensors(&list, &import->captured.parser, text, length));
	it = tt_json_iter(list);
	while (tt_json_next(&it)) {
		struct tt_report_buffer buffer;
		struct told_buffer told;
		int64_t of;

		if (!read_told(&told, import, it.value))
			TT_TRY(tt_report_complain(import, node->position,
						  "a buffer whose numbers are none"));
		if (!tt_json_int(&of, tt_json_get(it.value, "node")) || of < 0)
			of = -1;
		buffer = make_buffer(import, &told);
		TT_TRY(tt_report_buffers_add(&import->buffers, &buffer,
					     of < 0 ? TT_REPORT_NO_NODE : (size_t)of));
	}
	return TTNN_OK;
}

/* The address a node frees: its own, or that of the allocation it is connected with. */
static tt_status freed_address(bool *has, int64_t *address, struct tt_report_import *import,
			       const struct tt_report_node *node)
{
	const struct tt_json *given = tt_json_get(tt_json_get(node->json, "params"), "address");
	struct tt_report_entry entry;

	*has = false;
	if (given) {
		*has = tt_py_int(address, given);
		return *has ? TTNN_OK
			    : tt_report_complain(import, node->position,
						 "an address that is no number");
	}
	for (size_t i = 0; i < node->connection_count; i++) {
		TT_TRY(tt_report_graph_at(&entry, NULL, &import->graph, node->connections[i]));
		if (entry.kind != TT_NODE_ALLOCATE)
			continue;
		*has = entry.has_value;
		*address = entry.value;
		return TTNN_OK;
	}
	return TTNN_OK;
}

/* Whether a deallocation says which address it frees, as all of its form do. */
static tt_status says_address(bool *out, const struct tt_report_node *node)
{
	if (node->form && node->form->memo) {
		memcpy(out, node->form->memo, sizeof(*out));
		return TTNN_OK;
	}
	*out = tt_json_get(tt_json_get(node->json, "params"), "address");
	return node->form ? learn(node->form, out, sizeof(*out)) : TTNN_OK;
}

static tt_status deallocate(struct tt_report_import *import, const struct tt_report_node *node)
{
	int64_t address, owner = 0, *input;
	bool has, told, owned = false;
	size_t of = TT_REPORT_NO_NODE;

	TT_TRY(says_address(&told, node));
	/* Ours of dialect `seed` name the buffer and no address. Upstream passes them by. */
	if (!import->options->strict && !told)
		TT_TRY(connected_buffer(&of, import, node));
	if (of != TT_REPORT_NO_NODE) {
		TT_TRY(tt_report_buffers_remove_node(&import->buffers, &has, &address, of));
	} else {
		if (node->form)
			TT_TRY(tt_report_graph_settle(&import->graph));
		TT_TRY(freed_address(&has, &address, import, node));
		if (has)
			TT_TRY(tt_report_buffers_remove(&import->buffers, address));
	}
	if (has)
		owned = tt_report_tensors_owner(&owner, &import->tensors, address);
	if (!import->stack.count) {
		/* The same graph in dialect `tt-metal` has a function around it that is no operation. */
		if (of != TT_REPORT_NO_NODE)
			return TTNN_OK;
		TT_TRY(tt_report_operation_free(import, node->json, owned, owner));
		import->number++;
	} else if (owned) {
		input = TT_VEC_PUSH(&import->inputs);
		if (!input)
			return tt_fail_nomem();
		*input = owner;
	}
	return TTNN_OK;
}

/* ---- errors --------------------------------------------------------------------------------- */

/* The operation around the innermost open function of that name, or NULL. */
static struct tt_report_frame *failed_frame(struct tt_report_import *import, const char *name)
{
	size_t at = import->stack.count;

	if (!*name)
		return NULL;
	for (; at; at--) {
		uint32_t text = import->stack.data[at - 1].name;

		if (strcmp(import->tensors.texts.entries[text - 1].key, name) == 0)
			break;
	}
	for (; at; at--)
		if (!import->stack.data[at - 1].nested)
			return &import->stack.data[at - 1];
	return NULL;
}

static tt_status error_node(struct tt_report_import *import, const struct tt_json *node)
{
	const struct tt_json *params = tt_json_get(node, "params");
	const char *type = tt_json_string(tt_json_get(params, "error_type"), NULL);
	const char *message = tt_json_string(tt_json_get(params, "error_message"), NULL);
	const char *operation = tt_json_string(tt_json_get(params, "error_operation"), NULL);
	struct tt_report_frame *frame;

	type = type ? type : "unknown";
	message = message ? message : "";
	operation = operation ? operation : "";
	frame = import->db.version->operation_errors ? failed_frame(import, operation) : NULL;
	if (!frame)
		return tt_report_error(import, &(struct tt_report_error){import->base, operation,
									 type, message, NULL});
	if (frame->error_type)
		return TTNN_OK;
	frame->error_type = tt_report_tensors_text(&import->tensors, type, strlen(type));
	frame->error_message = tt_report_tensors_text(&import->tensors, message, strlen(message));
	return frame->error_type && frame->error_message ? TTNN_OK : tt_fail_nomem();
}

/* ---- the walk ------------------------------------------------------------------------------- */

static tt_status tensor_node(struct tt_report_import *import, const struct tt_report_node *node)
{
	bool good;

	if (node->form && node->form->memo)
		return tt_report_tensors_again(&import->tensors, node->form, node->values);
	TT_TRY(tt_report_graph_settle(&import->graph));
	TT_TRY(tt_report_tensors_node(&import->tensors, &good, tt_json_get(node->json, "params"),
				      node->form));
	return good ? TTNN_OK
		    : tt_report_complain(import, node->position, "a tensor whose numbers are none");
}

/* Whose numbers are read from their JSON in any case. */
static bool is_read(enum tt_report_node_kind kind)
{
	return kind == TT_NODE_ERROR || kind == TT_NODE_MANAGER || kind == TT_NODE_EXECUTION ||
	       kind == TT_NODE_CAPTURE_START || kind == TT_NODE_CAPTURE_END;
}

static tt_status visit(struct tt_report_import *import, const struct tt_report_node *node)
{
	if (node->form && is_read(node->kind))
		TT_TRY(tt_report_graph_settle(&import->graph));
	if (import->depth > 0)
		TT_TRY(remember(import, node));
	switch (node->kind) {
	case TT_NODE_START:
		return start_function(import, node);
	case TT_NODE_END:
		return end_function(import, node);
	case TT_NODE_TENSOR:
		return tensor_node(import, node);
	case TT_NODE_ALLOCATE:
		return allocate(import, node);
	case TT_NODE_DEALLOCATE:
		return deallocate(import, node);
	case TT_NODE_ERROR:
		return error_node(import, node->json);
	case TT_NODE_CAPTURE_START:
		return start_capture(import, node);
	default:
		return TTNN_OK;
	}
}

/* Who waits for the import may give it up here. */
static tt_status tell_progress(struct tt_report_import *import)
{
	size_t at;

	if (++import->untold < 256)
		return TTNN_OK;
	import->untold = 0;
	if (import->begun_ns)
		tt_progress_leave_out(&import->progress, tt_clock_ns() - import->begun_ns);
	import->begun_ns = 0;
	at = tt_report_graph_emit(&import->graph, import->size);
	if (at > import->told) {
		tt_progress_add(&import->progress, at - import->told);
		import->told = at;
	}
	tt_deadline_poll();
	return tt_deadline_check();
}

tt_status tt_report_walk(struct tt_report_import *import)
{
	/* Where records have graphs of their own, few nodes are written. */
	struct tt_report_graph_options options = {
		.devices = &import->devices,
		.captured = &import->captured,
		.directory = import->options->output,
		.path = import->path,
		.drafting = import->records.graphs <= import->records.all.count / 2,
	};
	struct tt_report_node node;

	TT_TRY(tt_report_graph_init(&import->graph, import->source, &options));
	for (;;) {
		TT_TRY(tt_report_graph_next(&node, &import->graph));
		if (!node.json)
			break;
		tt_report_picture_node(&import->picture, node.json);
		TT_TRY(visit(import, &node));
		TT_TRY(tell_progress(import));
	}
	for (size_t i = 0; i < import->stack.count; i++)
		if (!import->stack.data[i].nested)
			TT_TRY(tt_report_operation_lost(import, &import->stack.data[i]));
	return tt_report_buffers_finish(&import->buffers);
}

void tt_report_walk_reset(struct tt_report_import *import)
{
	tt_report_graph_deinit(&import->graph);
	import->number = 1;
	import->visible = import->depth = 0;
	import->computed = import->writing = import->aborted = false;
	import->warnings = 0;
	import->told = 0;
	import->stack.count = import->references.count = 0;
	import->inputs.count = import->outputs.count = 0;
	tt_idset_clear(&import->inner_outputs);
	tt_idset_clear(&import->inner_inputs);
	tt_map_clear(&import->failed);
	forget_nodes(import);
}

void tt_report_walk_deinit(struct tt_report_import *import)
{
	tt_report_graph_deinit(&import->graph);
	TT_VEC_DEINIT(&import->stack);
	TT_VEC_DEINIT(&import->references);
	TT_VEC_DEINIT(&import->nodes);
	TT_VEC_DEINIT(&import->placed);
	TT_VEC_DEINIT(&import->inputs);
	TT_VEC_DEINIT(&import->outputs);
	tt_idset_deinit(&import->inner_outputs);
	tt_idset_deinit(&import->inner_inputs);
	tt_idset_deinit(&import->own_inputs);
	tt_map_deinit(&import->failed);
	tt_str_deinit(&import->placed_texts);
	tt_json_parser_deinit(&import->placing);
	tt_json_parser_deinit(&import->record);
	tt_str_deinit(&import->scratch);
}
