#include "report/tensors.h"

#include <string.h>

#include "base/mem.h"
#include "report/pytext.h"

uint32_t tt_report_tensors_text(struct tt_report_tensors *tensors, const char *text, size_t length)
{
	struct tt_map_entry *entry = tt_map_add(&tensors->texts, text, length, NULL);

	return entry ? (uint32_t)(entry - tensors->texts.entries) + 1 : 0;
}

/* ---- rows of nodes -------------------------------------------------------------------------- */

/* int(value) or NULL for None. */
static struct tt_report_maybe number_of(bool *good, const struct tt_json *params, const char *key)
{
	const struct tt_json *value = tt_json_get(params, key);
	struct tt_report_maybe number = {0};

	if (!value || tt_json_kind(value) == TT_JSON_NULL)
		return number;
	number.set = tt_py_int(&number.value, value);
	*good &= number.set;
	return number;
}

/* Device ids are mapped where they are numbers, or texts of numbers. */
static void map_device(const struct tt_report_tensors *tensors, struct tt_report_maybe *device)
{
	if (device->set && tensors->devices)
		device->value = tt_report_devices_map(tensors->devices, device->value);
}

/* A text with "::" as "."; what is no text as str() has it. */
static tt_status text_of(uint32_t *out, struct tt_report_tensors *tensors,
			 const struct tt_json *value, bool dots)
{
	struct tt_str text = {0};
	tt_status status;

	*out = 0;
	if (!value || tt_json_kind(value) == TT_JSON_NULL)
		return TTNN_OK;
	tt_py_str(&text, value);
	if (dots && text.data) {
		char *to = text.data;

		for (const char *from = text.data; *from; to++) {
			bool colons = from[0] == ':' && from[1] == ':';

			*to = colons ? '.' : *from;
			from += colons ? 2 : 1;
		}
		text.length = (size_t)(to - text.data);
	}
	status = tt_str_status(&text);
	if (status == TTNN_OK) {
		*out = tt_report_tensors_text(tensors, tt_str_text(&text), text.length);
		status = *out ? TTNN_OK : tt_fail_nomem();
	}
	tt_str_deinit(&text);
	return status;
}

/* Of the kind of memory: a number, or its name as the first documents have it (upstream refuses that). */
static struct tt_report_maybe type_of(bool *good, const struct tt_report_tensors *tensors,
				      const struct tt_json *params)
{
	const struct tt_json *value = tt_json_get(params, "buffer_type");
	struct tt_report_maybe type = {.set = true};

	if (!tensors->strict && tt_report_buffer_type(&type.value, value))
		return type;
	return number_of(good, params, "buffer_type");
}

tt_status tt_report_tensor_row(struct tt_report_tensor *out, bool *good,
			       struct tt_report_tensors *tensors, int64_t id,
			       const struct tt_json *params)
{
	static const struct {
		const char *key;
		bool dots;
	} texts[] = {{"shape", false},
		     {"dtype", true},
		     {"layout", true},
		     {"memory_config", false},
		     {"storage_type", false}};
	bool newer = tensors->db->version->storage_type;

	*out = (struct tt_report_tensor){.id = id};
	for (int i = 0; i < TT_TENSOR_TEXTS; i++)
		TT_TRY(text_of(&out->texts[i], tensors, tt_json_get(params, texts[i].key),
			       texts[i].dots));
	if (!tt_json_get(params, "shape"))
		out->texts[TT_TENSOR_SHAPE] = tt_report_tensors_text(tensors, "", 0);
	out->device = number_of(good, params, "device_id");
	map_device(tensors, &out->device);
	out->address = number_of(good, params, "address");
	out->type = type_of(good, tensors, params);
	if (!newer)
		out->type.set = true;
	if (newer && !out->texts[TT_TENSOR_STORAGE] &&
	    (out->texts[TT_TENSOR_MEMORY] || out->address.set))
		out->texts[TT_TENSOR_STORAGE] = tt_report_tensors_text(tensors, "DEVICE", 6);
	return TTNN_OK;
}

/* Whether this id, as it is written, was there before. */
static tt_status is_new(bool *out, struct tt_report_tensors *tensors, const struct tt_json *raw,
			int64_t id)
{
	size_t length;
	const char *text = tt_json_string(raw, &length);

	if (text) {
		if (!tt_map_add(&tensors->seen_texts, text, length, out))
			return tt_fail_nomem();
		return TTNN_OK;
	}
	*out = !tt_idset_has(&tensors->seen, id);
	return tt_idset_add(&tensors->seen, id);
}

static tt_status add_places(struct tt_report_tensors *tensors, int64_t id,
			    const struct tt_json *params)
{
	size_t length = 0;
	const char *text = tt_json_string(tt_json_get(params, "device_tensors"), &length);
	const struct tt_json *list;
	struct tt_json_iter it;

	TT_TRY(tt_report_device_tensors(&list, &tensors->parser, text, length));
	it = tt_json_iter(list);
	while (tt_json_next(&it)) {
		const struct tt_json *mesh = tt_json_get(it.value, "mesh_device_id");
		struct tt_report_tensor_place *place = TT_VEC_PUSH(&tensors->places);
		bool good = true;

		if (!place)
			return tt_fail_nomem();
		place->id = id;
		place->device = number_of(&good, it.value, mesh ? "mesh_device_id" : "device_id");
		if (tt_json_kind(mesh ? mesh : tt_json_get(it.value, "device_id")) == TT_JSON_INT)
			map_device(tensors, &place->device);
		place->address = number_of(&good, it.value, "address");
	}
	return TTNN_OK;
}

tt_status tt_report_tensors_node(struct tt_report_tensors *tensors, bool *good,
				 const struct tt_json *params)
{
	const struct tt_json *raw = tt_json_get(params, "tensor_id");
	struct tt_report_tensor *row;
	struct tt_map_entry *owner;
	bool fresh, added;
	int64_t id;

	*good = true;
	if (!tt_py_true(raw))
		return TTNN_OK;
	if (!tt_py_int(&id, raw)) {
		*good = false;
		return TTNN_OK;
	}
	TT_TRY(is_new(&fresh, tensors, raw, id));
	if (!fresh)
		return TTNN_OK;
	row = TT_VEC_PUSH(&tensors->rows);
	if (!row)
		return tt_fail_nomem();
	TT_TRY(tt_report_tensor_row(row, good, tensors, id, params));
	if (row->address.set) {
		owner = tt_map_add(&tensors->owners, &row->address.value, sizeof(int64_t), &added);
		if (!owner)
			return tt_fail_nomem();
		if (added)
			owner->number = (uint64_t)id;
	}
	return add_places(tensors, id, params);
}

bool tt_report_tensors_owner(int64_t *id, const struct tt_report_tensors *tensors, int64_t address)
{
	const struct tt_map_entry *owner = tt_map_find(&tensors->owners, &address, sizeof(address));

	if (owner)
		*id = (int64_t)owner->number;
	return owner;
}

tt_status tt_report_tensors_use(struct tt_report_tensors *tensors, bool output, int64_t operation,
				int64_t id)
{
	struct tt_report_use *use =
		output ? TT_VEC_PUSH(&tensors->outputs) : TT_VEC_PUSH(&tensors->inputs);

	if (!use)
		return tt_fail_nomem();
	*use = (struct tt_report_use){operation, id};
	return TTNN_OK;
}

/* ---- which rows stay ------------------------------------------------------------------------ */

static bool is_on_device(const struct tt_report_tensors *tensors,
			 const struct tt_report_tensor *row)
{
	uint32_t storage = row->texts[TT_TENSOR_STORAGE];

	if (row->device.set)
		return true;
	return tensors->db->version->storage_type && storage &&
	       strcmp(tensors->texts.entries[storage - 1].key, "DEVICE") == 0;
}

/* Before schema 3.4 such rows had their texts as they are, and "" for what is absent. */
static tt_status older_texts(struct tt_report_tensor *row, struct tt_report_tensors *tensors,
			     const struct tt_json *params)
{
	static const char *const keys[] = {"shape", "dtype", "layout", "memory_config"};

	for (int i = 0; i < 4; i++) {
		const struct tt_json *value = tt_json_get(params, keys[i]);
		struct tt_str text = {0};
		tt_status status;

		if (value)
			tt_py_str(&text, value);
		status = tt_str_status(&text);
		if (status == TTNN_OK)
			row->texts[i] =
				tt_report_tensors_text(tensors, tt_str_text(&text), text.length);
		tt_str_deinit(&text);
		TT_TRY(status);
	}
	return TTNN_OK;
}

/* Tensors that only Python knows get the row of the node that was there in their place. */
static tt_status add_missing(struct tt_report_tensors *tensors, struct tt_report_graph *graph,
			     const struct tt_idset *used, const struct tt_idset *existing)
{
	struct tt_idset missing = {0};
	tt_status status = TTNN_OK;
	size_t at = 0;
	int64_t id;

	while (status == TTNN_OK && tt_idset_next(&id, &at, used))
		if (!tt_idset_has(existing, id))
			status = tt_idset_add(&missing, id);
	for (at = 0; status == TTNN_OK && tt_idset_next(&id, &at, &missing);) {
		const struct tt_map_entry *pair = tt_map_find(&tensors->paired, &id, sizeof(id));
		const struct tt_json *node, *params;
		struct tt_report_tensor *row;
		bool good = true;

		if (!pair)
			continue;
		status = tt_report_graph_again(&node, graph, pair->number);
		row = status == TTNN_OK ? TT_VEC_PUSH(&tensors->rows) : NULL;
		if (status == TTNN_OK && !row)
			status = tt_fail_nomem();
		if (status != TTNN_OK)
			break;
		params = tt_json_get(node, "params");
		status = tt_report_tensor_row(row, &good, tensors, id, params);
		if (status == TTNN_OK && !tensors->db->version->storage_type)
			status = older_texts(row, tensors, params);
	}
	tt_idset_deinit(&missing);
	return status;
}

/* Drops host tensors that nothing uses; `kept` becomes the ids of the rest. */
static tt_status filter_rows(struct tt_report_tensors *tensors, struct tt_idset *kept,
			     struct tt_report_graph *graph)
{
	struct tt_idset used = {0};
	tt_status status = TTNN_OK;
	size_t count = 0;

	for (size_t i = 0; status == TTNN_OK && i < tensors->inputs.count; i++)
		status = tt_idset_add(&used, tensors->inputs.data[i].id);
	for (size_t i = 0; status == TTNN_OK && i < tensors->outputs.count; i++)
		status = tt_idset_add(&used, tensors->outputs.data[i].id);
	for (size_t i = 0; status == TTNN_OK && i < tensors->rows.count; i++) {
		struct tt_report_tensor *row = &tensors->rows.data[i];

		if (!is_on_device(tensors, row) && !tt_idset_has(&used, row->id))
			continue;
		status = tt_idset_add(kept, row->id);
		tensors->rows.data[count++] = *row;
	}
	if (status == TTNN_OK) {
		tensors->rows.count = count;
		status = add_missing(tensors, graph, &used, kept);
	}
	for (size_t i = count; status == TTNN_OK && i < tensors->rows.count; i++)
		status = tt_idset_add(kept, tensors->rows.data[i].id);
	tt_idset_deinit(&used);
	return status;
}

/* Of each operation the first use of a tensor that has a row stays. */
static size_t filter_uses(struct tt_report_use *uses, size_t count, const struct tt_idset *kept)
{
	size_t to = 0, start = 0;

	for (size_t i = 0; i < count; i++) {
		size_t j;

		if (to == start || uses[i].operation != uses[start].operation)
			start = to;
		if (!tt_idset_has(kept, uses[i].id))
			continue;
		for (j = start; j < to && (uses[j].id != uses[i].id ||
					   uses[j].operation != uses[i].operation);)
			j++;
		if (j == to)
			uses[to++] = uses[i];
	}
	return to;
}

static tt_status write_uses(struct tt_report_tensors *tensors, bool output)
{
	const struct tt_report_use *uses = output ? tensors->outputs.data : tensors->inputs.data;
	size_t count = output ? tensors->outputs.count : tensors->inputs.count;
	int64_t index = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t operation = tensors->base + uses[i].operation, id = uses[i].id;

		index = i && uses[i - 1].operation == uses[i].operation ? index + 1 : 0;
		TT_TRY(tt_report_insert_ints(
			tensors->db, output ? TT_REPORT_OUTPUT_TENSORS : TT_REPORT_INPUT_TENSORS,
			(int64_t[]){operation, index, id, tensors->rank}, 4));
		if (!tensors->db->as_tables)
			continue;
		TT_TRY(tt_report_insert_ints(tensors->db,
					     output ? TT_REPORT_TENSOR_PRODUCERS
						    : TT_REPORT_TENSOR_CONSUMERS,
					     (int64_t[]){id, operation, index, tensors->rank}, 4));
	}
	return TTNN_OK;
}

/* ---- writing -------------------------------------------------------------------------------- */

static void bind_maybe(struct tt_db_stmt *insert, int at, const struct tt_report_maybe *number)
{
	if (number->set)
		tt_db_bind_int(insert, at, number->value);
	else
		tt_db_bind_null(insert, at);
}

static void bind_text(struct tt_db_stmt *insert, int at, const struct tt_report_tensors *tensors,
		      uint32_t text)
{
	const struct tt_map_entry *entry = text ? &tensors->texts.entries[text - 1] : NULL;

	tt_db_bind_text(insert, at, entry ? entry->key : NULL, entry ? entry->length : 0);
}

tt_status tt_report_tensor_insert(struct tt_report_tensors *tensors,
				  const struct tt_report_tensor *row,
				  const struct tt_report_maybe *size)
{
	struct tt_db_stmt *insert;
	int at = 9;

	TT_TRY(tt_report_insert(&insert, tensors->db, TT_REPORT_TENSORS));
	tt_db_bind_int(insert, 0, row->id);
	for (int i = 0; i < TT_TENSOR_STORAGE; i++)
		bind_text(insert, 1 + i, tensors, row->texts[i]);
	bind_maybe(insert, 5, &row->device);
	bind_maybe(insert, 6, &row->address);
	bind_maybe(insert, 7, &row->type);
	tt_db_bind_int(insert, 8, tensors->rank);
	if (tensors->db->version->storage_type)
		bind_text(insert, at++, tensors, row->texts[TT_TENSOR_STORAGE]);
	if (!tensors->db->as_tables)
		bind_maybe(insert, at, size);
	return tt_db_run(insert);
}

/* Operation of the first use of each tensor: as an input, else as an output. */
static tt_status first_uses(struct tt_map *out, const struct tt_report_tensors *tensors)
{
	bool added;

	for (int output = 0; output < 2; output++) {
		size_t count = output ? tensors->outputs.count : tensors->inputs.count;

		for (size_t i = 0; i < count; i++) {
			const struct tt_report_use *use =
				output ? &tensors->outputs.data[i] : &tensors->inputs.data[i];
			struct tt_map_entry *entry =
				tt_map_add(out, &use->id, sizeof(use->id), &added);

			if (!entry)
				return tt_fail_nomem();
			if (added)
				entry->number = (uint64_t)use->operation;
		}
	}
	return TTNN_OK;
}

/* The size per bank of the buffer behind a tensor when it was first used. */
static struct tt_report_maybe size_of(const struct tt_report_tensors *tensors,
				      const struct tt_report_tensor *row,
				      const struct tt_map *first,
				      const struct tt_report_buffers *buffers)
{
	const struct tt_map_entry *use = tt_map_find(first, &row->id, sizeof(row->id));
	const struct tt_report_operation *operation;
	struct tt_report_buffer at = {.device = row->device.value, .address = row->address.value};
	struct tt_report_maybe size = {0};

	if (!use || !row->device.set || !row->address.set)
		return size;
	operation = &tensors->operations.data[use->number - 1];
	size.set =
		tt_report_buffers_find(&size.value, buffers, operation->block, operation->seq, &at);
	return size;
}

static tt_status write_rows(struct tt_report_tensors *tensors,
			    const struct tt_report_buffers *buffers)
{
	struct tt_map first = {0};
	tt_status status = tensors->db->as_tables ? TTNN_OK : first_uses(&first, tensors);

	for (size_t i = 0; status == TTNN_OK && i < tensors->rows.count; i++) {
		const struct tt_report_tensor *row = &tensors->rows.data[i];
		struct tt_report_maybe size = {0};

		if (!tensors->db->as_tables)
			size = size_of(tensors, row, &first, buffers);
		status = tt_report_tensor_insert(tensors, row, &size);
	}
	tt_map_deinit(&first);
	return status;
}

/* Places of tensors that stay, each once. */
static tt_status write_places(struct tt_report_tensors *tensors, uint64_t *count,
			      const struct tt_idset *kept)
{
	struct tt_map seen = {0};
	struct tt_db_stmt *insert;
	tt_status status = tt_report_insert(&insert, tensors->db, TT_REPORT_DEVICE_TENSORS);

	for (size_t i = 0; status == TTNN_OK && i < tensors->places.count; i++) {
		const struct tt_report_tensor_place *place = &tensors->places.data[i];
		int64_t key[] = {place->id, place->device.set, place->device.value,
				 place->address.set, place->address.value};
		bool added = true;

		if (!tt_idset_has(kept, place->id))
			continue;
		if (!tt_map_add(&seen, key, sizeof(key), &added)) {
			status = tt_fail_nomem();
			break;
		}
		if (!added)
			continue;
		++*count;
		tt_db_bind_int(insert, 0, place->id);
		bind_maybe(insert, 1, &place->device);
		bind_maybe(insert, 2, &place->address);
		tt_db_bind_int(insert, 3, tensors->rank);
		status = tt_db_run(insert);
	}
	tt_map_deinit(&seen);
	return status;
}

tt_status tt_report_tensors_finish(struct tt_report_tensors *tensors,
				   struct tt_report_tensor_counts *counts,
				   struct tt_report_graph *graph,
				   const struct tt_report_buffers *buffers)
{
	struct tt_idset kept = {0};
	tt_status status = filter_rows(tensors, &kept, graph);

	if (status == TTNN_OK) {
		tensors->inputs.count =
			filter_uses(tensors->inputs.data, tensors->inputs.count, &kept);
		tensors->outputs.count =
			filter_uses(tensors->outputs.data, tensors->outputs.count, &kept);
		counts->inputs += tensors->inputs.count;
		counts->outputs += tensors->outputs.count;
		counts->tensors += tensors->rows.count;
		status = write_uses(tensors, false);
	}
	if (status == TTNN_OK)
		status = write_uses(tensors, true);
	if (status == TTNN_OK)
		status = write_rows(tensors, buffers);
	if (status == TTNN_OK)
		status = write_places(tensors, &counts->places, &kept);
	tt_idset_deinit(&kept);
	return status;
}

void tt_report_tensors_reset(struct tt_report_tensors *tensors)
{
	tensors->rows.count = tensors->places.count = tensors->operations.count = 0;
	tensors->inputs.count = tensors->outputs.count = 0;
	tt_idset_clear(&tensors->seen);
	tt_map_clear(&tensors->seen_texts);
	tt_map_clear(&tensors->owners);
	tt_map_clear(&tensors->paired);
}

void tt_report_tensors_deinit(struct tt_report_tensors *tensors)
{
	TT_VEC_DEINIT(&tensors->rows);
	TT_VEC_DEINIT(&tensors->places);
	TT_VEC_DEINIT(&tensors->operations);
	TT_VEC_DEINIT(&tensors->inputs);
	TT_VEC_DEINIT(&tensors->outputs);
	tt_idset_deinit(&tensors->seen);
	tt_map_deinit(&tensors->seen_texts);
	tt_map_deinit(&tensors->owners);
	tt_map_deinit(&tensors->paired);
	tt_map_deinit(&tensors->texts);
	tt_json_parser_deinit(&tensors->parser);
}
