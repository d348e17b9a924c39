#include "report/tensors.h"

#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "report/pytext.h"

uint32_t tt_report_tensors_text(struct tt_report_tensors *tensors, const char *text, size_t length)
{
	struct tt_map_entry *entry = tt_map_add(&tensors->texts, text, length, NULL);

	return entry ? (uint32_t)(entry - tensors->texts.entries) + 1 : 0;
}

/* The size of a tensor's buffer, by its first use as an input or output, from the buffers as they are. */
static void find_size(struct tt_report_id *known, bool output, struct tt_report_tensors *tensors,
		      bool given)
{
	struct tt_report_buffer at = {.device = known->device, .address = known->address};
	bool found = known->placed &&
		     tt_report_buffers_find(&known->size[output], tensors->buffers, &at, given);

	known->state[output] = found ? TT_SIZE_KNOWN : TT_SIZE_NONE;
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
	size_t length = 0;
	const char *plain = tt_json_string(value, &length);
	struct tt_str text = {0};
	tt_status status;

	*out = 0;
	if (!value || tt_json_kind(value) == TT_JSON_NULL)
		return TTNN_OK;
	if (plain && !(dots && memmem(plain, length, "::", 2))) {
		*out = tt_report_tensors_text(tensors, plain, length);
		return *out ? TTNN_OK : tt_fail_nomem();
	}
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

static tt_status row_texts(struct tt_report_tensor *out, struct tt_report_tensors *tensors,
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

	for (int i = 0; i < TT_TENSOR_TEXTS; i++)
		TT_TRY(text_of(&out->texts[i], tensors, tt_json_get(params, texts[i].key),
			       texts[i].dots));
	if (!tt_json_get(params, "shape"))
		out->texts[TT_TENSOR_SHAPE] = tt_report_tensors_text(tensors, "", 0);
	return TTNN_OK;
}

static void row_numbers(struct tt_report_tensor *out, bool *good, struct tt_report_tensors *tensors,
			const struct tt_json *params)
{
	bool newer = tensors->db->version->storage_type;

	out->device = number_of(good, params, "device_id");
	map_device(tensors, &out->device);
	out->address = number_of(good, params, "address");
	out->type = type_of(good, tensors, params);
	if (!newer)
		out->type.set = true;
	if (newer && !out->texts[TT_TENSOR_STORAGE] &&
	    (out->texts[TT_TENSOR_MEMORY] || out->address.set))
		out->texts[TT_TENSOR_STORAGE] = tt_report_tensors_text(tensors, "DEVICE", 6);
}

tt_status tt_report_tensor_row(struct tt_report_tensor *out, bool *good,
			       struct tt_report_tensors *tensors, int64_t id,
			       const struct tt_json *params)
{
	*out = (struct tt_report_tensor){.id = id};
	TT_TRY(row_texts(out, tensors, params));
	row_numbers(out, good, tensors, params);
	return TTNN_OK;
}

/* Whether a text is the number as Python writes it. */
static bool is_plain(const char *text, size_t length, int64_t number)
{
	char plain[TT_FMT_MAX];

	return length == tt_fmt_i64(plain, number) && memcmp(plain, text, length) == 0;
}

/* Whether this id, as it is written, was not there before. */
static tt_status is_new(bool *out, struct tt_report_tensors *tensors, const struct tt_json *raw,
			int64_t id)
{
	size_t length;
	const char *text = tt_json_string(raw, &length);
	struct tt_report_id *known;

	TT_TRY(tt_report_ids_at(&known, &tensors->ids, id));
	if (text && !is_plain(text, length, id)) {
		if (!tt_map_add(&tensors->odd_texts, text, length, out))
			return tt_fail_nomem();
		return TTNN_OK;
	}
	*out = text ? !known->as_text : !known->as_number;
	if (text)
		known->as_text = true;
	else
		known->as_number = true;
	return TTNN_OK;
}

/* Of two rows with one id the database keeps the first: the size of that one counts. */
static tt_status note_row(struct tt_report_tensors *tensors, const struct tt_report_tensor *row)
{
	struct tt_report_id *known;

	TT_TRY(tt_report_ids_at(&known, &tensors->ids, row->id));
	if (known->has_row) {
		tensors->twice = true;
		return TTNN_OK;
	}
	known->has_row = true;
	known->placed = row->device.set && row->address.set;
	known->device = row->device.value;
	known->address = row->address.value;
	if (known->state[1] == TT_SIZE_LATER && known->changes == tensors->buffers->changes)
		find_size(known, 1, tensors, false);
	return TTNN_OK;
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
		struct tt_report_tensor_place *place = tt_spool_push(&tensors->places);
		bool good = true;

		if (!place)
			return tt_spool_status(&tensors->places);
		place->id = id;
		place->device = number_of(&good, it.value, mesh ? "mesh_device_id" : "device_id");
		if (tt_json_kind(mesh ? mesh : tt_json_get(it.value, "device_id")) == TT_JSON_INT)
			map_device(tensors, &place->device);
		place->address = number_of(&good, it.value, "address");
	}
	return TTNN_OK;
}

tt_status tt_report_tensors_add(struct tt_report_tensors *tensors,
				const struct tt_report_tensor *made)
{
	struct tt_report_tensor *row;
	struct tt_map_entry *owner;
	bool added;

	TT_TRY(note_row(tensors, made));
	row = tt_spool_append(&tensors->rows);
	if (!row)
		return tt_spool_status(&tensors->rows);
	*row = *made;
	if (!made->address.set)
		return TTNN_OK;
	owner = tt_map_add(&tensors->owners, &made->address.value, sizeof(int64_t), &added);
	if (!owner)
		return tt_fail_nomem();
	if (added)
		owner->number = (uint64_t)made->id;
	return TTNN_OK;
}

tt_status tt_report_tensors_node(struct tt_report_tensors *tensors, bool *good,
				 const struct tt_json *params, struct tt_report_form *form)
{
	const struct tt_json *raw = tt_json_get(params, "tensor_id");
	struct tt_report_tensor made;
	bool fresh;
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
	TT_TRY(tt_report_tensor_row(&made, good, tensors, id, params));
	TT_TRY(tt_report_tensors_add(tensors, &made));
	if (form && *good)
		TT_TRY(tt_report_tensors_learn(form, &made, params));
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
	struct tt_spool *list = output ? &tensors->outputs : &tensors->inputs;
	struct tt_report_use *use = tt_spool_append(list);
	struct tt_report_first *first;
	struct tt_report_id *known;

	if (!use)
		return tt_spool_status(list);
	*use = (struct tt_report_use){operation, id};
	TT_TRY(tt_report_ids_at(&known, &tensors->ids, id));
	known->used = true;
	if (tensors->db->as_tables || known->state[output] != TT_SIZE_UNUSED)
		return TTNN_OK;
	known->state[output] = TT_SIZE_NONE;
	first = TT_VEC_PUSH(&tensors->firsts);
	if (!first)
		return tt_fail_nomem();
	*first = (struct tt_report_first){id, output};
	return TTNN_OK;
}

tt_status tt_report_tensors_sizes(struct tt_report_tensors *tensors, enum tt_report_seen seen)
{
	for (size_t i = 0; seen != TT_SEEN_NONE && i < tensors->firsts.count; i++) {
		const struct tt_report_first *first = &tensors->firsts.data[i];
		struct tt_report_id *known;

		TT_TRY(tt_report_ids_at(&known, &tensors->ids, first->id));
		if (known->has_row) {
			find_size(known, first->output, tensors, seen == TT_SEEN_GIVEN);
			continue;
		}
		known->state[first->output] = TT_SIZE_LATER;
		known->seq[first->output] = tensors->buffers->seq;
		if (first->output) /* nothing is like what was given */
			known->changes =
				seen == TT_SEEN_GIVEN ? UINT64_MAX : tensors->buffers->changes;
	}
	tensors->firsts.count = 0;
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

/* All ids that are used, in the order in which Python has them. */
static tt_status all_used(struct tt_idset *used, struct tt_report_tensors *tensors)
{
	struct tt_spool *lists[] = {&tensors->inputs, &tensors->outputs};

	for (int list = 0; list < 2; list++)
		for (uint64_t i = 0; i < lists[list]->count; i++) {
			const struct tt_report_use *use = tt_spool_at(lists[list], i);

			if (!use)
				return tt_spool_status(lists[list]);
			TT_TRY(tt_idset_add(used, use->id));
		}
	return TTNN_OK;
}

/* Those of them that have no row. */
static tt_status find_missing(struct tt_idset *missing, struct tt_report_tensors *tensors)
{
	struct tt_idset used = {0};
	struct tt_report_id *known;
	tt_status status = all_used(&used, tensors);
	size_t at = 0;
	int64_t id;

	while (status == TTNN_OK && tt_idset_next(&id, &at, &used)) {
		status = tt_report_ids_at(&known, &tensors->ids, id);
		if (status == TTNN_OK && !known->kept)
			status = tt_idset_add(missing, id);
	}
	tt_idset_deinit(&used);
	return status;
}

/* Tensors that only Python knows get the row of the node that was there in their place. */
static tt_status add_missing(struct tt_report_tensors *tensors, struct tt_report_graph *graph)
{
	struct tt_idset missing = {0};
	tt_status status = find_missing(&missing, tensors);
	size_t at = 0;
	int64_t id;

	while (status == TTNN_OK && tt_idset_next(&id, &at, &missing)) {
		const struct tt_map_entry *pair = tt_map_find(&tensors->paired, &id, sizeof(id));
		const struct tt_json *node, *params;
		struct tt_report_tensor made, *row;
		struct tt_report_id *known;
		bool good = true;

		if (!pair)
			continue;
		status = tt_report_graph_again(&node, graph, pair->number);
		if (status != TTNN_OK)
			break;
		params = tt_json_get(node, "params");
		status = tt_report_tensor_row(&made, &good, tensors, id, params);
		if (status == TTNN_OK && !tensors->db->version->storage_type)
			status = older_texts(&made, tensors, params);
		if (status == TTNN_OK)
			status = tt_report_ids_at(&known, &tensors->ids, id);
		if (status != TTNN_OK)
			break;
		known->kept = true;
		row = tt_spool_push(&tensors->rows);
		if (row)
			*row = made;
		else
			status = tt_spool_status(&tensors->rows);
	}
	tt_idset_deinit(&missing);
	return status;
}

/* Drops host tensors that nothing uses. */
static tt_status filter_rows(struct tt_report_tensors *tensors, struct tt_report_graph *graph)
{
	struct tt_spool *rows = &tensors->rows;
	uint64_t count = 0;

	for (uint64_t i = 0; i < rows->count; i++) {
		const struct tt_report_tensor *row = tt_spool_at(rows, i);
		struct tt_report_tensor copy, *to;
		struct tt_report_id *known;

		if (!row)
			return tt_spool_status(rows);
		copy = *row;
		TT_TRY(tt_report_ids_at(&known, &tensors->ids, copy.id));
		if (!is_on_device(tensors, &copy) && !known->used)
			continue;
		known->kept = true;
		if (count++ == i)
			continue;
		to = tt_spool_change(rows, count - 1);
		if (!to)
			return tt_spool_status(rows);
		*to = copy;
	}
	rows->count = count;
	/* Nodes without rows are what Python alone told of. */
	return tensors->unknown ? add_missing(tensors, graph) : TTNN_OK;
}

/* The uses of one operation that stay. */
struct stay {
	TT_VEC(int64_t) ids;
	int64_t operation;
};

/* Of each operation the first use of a tensor that has a row stays. */
static tt_status filter_uses(struct tt_report_tensors *tensors, struct tt_spool *uses,
			     struct stay *stay)
{
	uint64_t count = 0;

	stay->ids.count = 0;
	for (uint64_t i = 0; i < uses->count; i++) {
		const struct tt_report_use *use = tt_spool_at(uses, i);
		struct tt_report_use copy, *to;
		struct tt_report_id *known;
		int64_t *id;
		size_t k = 0;

		if (!use)
			return tt_spool_status(uses);
		copy = *use;
		if (copy.operation != stay->operation)
			stay->ids.count = 0;
		stay->operation = copy.operation;
		TT_TRY(tt_report_ids_at(&known, &tensors->ids, copy.id));
		if (!known->kept)
			continue;
		while (k < stay->ids.count && stay->ids.data[k] != copy.id)
			k++;
		if (k < stay->ids.count)
			continue;
		id = TT_VEC_PUSH(&stay->ids);
		if (!id)
			return tt_fail_nomem();
		*id = copy.id;
		if (count++ == i)
			continue;
		to = tt_spool_change(uses, count - 1);
		if (!to)
			return tt_spool_status(uses);
		*to = copy;
	}
	uses->count = count;
	return TTNN_OK;
}

static tt_status write_uses(struct tt_report_tensors *tensors, bool output)
{
	struct tt_spool *uses = output ? &tensors->outputs : &tensors->inputs;
	int64_t index = 0, before = 0;

	for (uint64_t i = 0; i < uses->count; i++) {
		const struct tt_report_use *use = tt_spool_at(uses, i);
		int64_t operation, id;

		if (!use)
			return tt_spool_status(uses);
		operation = tensors->base + use->operation;
		id = use->id;
		index = i && before == operation ? index + 1 : 0;
		before = operation;
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
	struct tt_report_id *known;
	struct tt_db_stmt *insert;
	int at = 9;

	TT_TRY(tt_report_ids_at(&known, &tensors->ids, row->id));
	if (known->written) /* of two rows with one id the first counts */
		return TTNN_OK;
	known->written = true;
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

/*
 * The size per bank of the buffer behind a tensor when it was first used: as an input, else as an output. Where its
 * place was not known while the operation's buffers were at hand the rows of those tell in the end.
 */
static tt_status size_of(struct tt_report_maybe *size, struct tt_report_tensors *tensors,
			 const struct tt_report_tensor *row)
{
	struct tt_report_id *known;
	bool output;

	TT_TRY(tt_report_ids_at(&known, &tensors->ids, row->id));
	if (!row->device.set || !row->address.set || known->written)
		return TTNN_OK;
	output = known->state[0] == TT_SIZE_UNUSED;
	if (known->state[output] == TT_SIZE_KNOWN)
		*size = (struct tt_report_maybe){true, known->size[output]};
	if (known->state[output] == TT_SIZE_LATER)
		return tt_report_db_size(
			tensors->db,
			&(struct tt_report_sizing){row->id, tensors->rank, known->seq[output],
						   row->device.value, row->address.value});
	return TTNN_OK;
}

static tt_status write_rows(struct tt_report_tensors *tensors)
{
	for (uint64_t i = 0; i < tensors->rows.count; i++) {
		const struct tt_report_tensor *row = tt_spool_at(&tensors->rows, i);
		struct tt_report_maybe size = {0};
		struct tt_report_tensor copy;

		if (!row)
			return tt_spool_status(&tensors->rows);
		copy = *row;
		if (!tensors->db->as_tables)
			TT_TRY(size_of(&size, tensors, &copy));
		TT_TRY(tt_report_tensor_insert(tensors, &copy, &size));
	}
	return TTNN_OK;
}

/* Whether it is the first of its kind: places of a tensor come together, unless an id was there twice. */
static tt_status is_first(bool *first, struct tt_map *seen,
			  const struct tt_report_tensor_place *place)
{
	int64_t key[] = {place->id, place->device.set, place->device.value, place->address.set,
			 place->address.value};

	return tt_map_add(seen, key, sizeof(key), first) ? TTNN_OK : tt_fail_nomem();
}

static tt_status place_row(struct tt_report_tensors *tensors,
			   const struct tt_report_tensor_place *place)
{
	struct tt_db_stmt *insert;

	TT_TRY(tt_report_insert(&insert, tensors->db, TT_REPORT_DEVICE_TENSORS));
	tt_db_bind_int(insert, 0, place->id);
	bind_maybe(insert, 1, &place->device);
	bind_maybe(insert, 2, &place->address);
	tt_db_bind_int(insert, 3, tensors->rank);
	return tt_db_run(insert);
}

/* Places of tensors that stay, each once. */
static tt_status each_place(struct tt_report_tensors *tensors, uint64_t *count, struct tt_map *seen)
{
	int64_t before = 0;

	for (uint64_t i = 0; i < tensors->places.count; i++) {
		const struct tt_report_tensor_place *place = tt_spool_at(&tensors->places, i);
		struct tt_report_id *known;
		bool first = false;

		if (!place)
			return tt_spool_status(&tensors->places);
		if (place->id != before && !tensors->twice)
			tt_map_clear(seen);
		before = place->id;
		TT_TRY(tt_report_ids_at(&known, &tensors->ids, place->id));
		if (known->kept)
			TT_TRY(is_first(&first, seen, place));
		if (!first)
			continue;
		++*count;
		TT_TRY(place_row(tensors, place));
	}
	return TTNN_OK;
}

static tt_status write_places(struct tt_report_tensors *tensors, uint64_t *count)
{
	struct tt_map seen = {0};
	tt_status status = each_place(tensors, count, &seen);

	tt_map_deinit(&seen);
	return status;
}

tt_status tt_report_tensors_finish(struct tt_report_tensors *tensors,
				   struct tt_report_tensor_counts *counts,
				   struct tt_report_graph *graph)
{
	struct stay stay = {0};
	tt_status status = filter_rows(tensors, graph);

	if (status == TTNN_OK)
		status = filter_uses(tensors, &tensors->inputs, &stay);
	if (status == TTNN_OK)
		status = filter_uses(tensors, &tensors->outputs, &stay);
	TT_VEC_DEINIT(&stay.ids);
	TT_TRY(status);
	counts->inputs += tensors->inputs.count;
	counts->outputs += tensors->outputs.count;
	counts->tensors += tensors->rows.count;
	TT_TRY(write_uses(tensors, false));
	TT_TRY(write_uses(tensors, true));
	TT_TRY(write_rows(tensors));
	return write_places(tensors, &counts->places);
}

void tt_report_tensors_init(struct tt_report_tensors *tensors, const char *directory)
{
	tt_spool_init(&tensors->rows, sizeof(struct tt_report_tensor), directory);
	tt_spool_init(&tensors->places, sizeof(struct tt_report_tensor_place), directory);
	tt_spool_init(&tensors->inputs, sizeof(struct tt_report_use), directory);
	tt_spool_init(&tensors->outputs, sizeof(struct tt_report_use), directory);
	tt_report_ids_init(&tensors->ids, directory);
}

void tt_report_tensors_reset(struct tt_report_tensors *tensors)
{
	tt_spool_clear(&tensors->rows);
	tt_spool_clear(&tensors->places);
	tt_spool_clear(&tensors->inputs);
	tt_spool_clear(&tensors->outputs);
	tensors->operations.count = tensors->firsts.count = 0;
	tensors->twice = tensors->unknown = false;
	tt_report_ids_clear(&tensors->ids);
	tt_map_clear(&tensors->odd_texts);
	tt_map_clear(&tensors->owners);
	tt_map_clear(&tensors->paired);
}

void tt_report_tensors_deinit(struct tt_report_tensors *tensors)
{
	tt_spool_deinit(&tensors->rows);
	tt_spool_deinit(&tensors->places);
	tt_spool_deinit(&tensors->inputs);
	tt_spool_deinit(&tensors->outputs);
	TT_VEC_DEINIT(&tensors->operations);
	TT_VEC_DEINIT(&tensors->firsts);
	tt_report_ids_deinit(&tensors->ids);
	tt_map_deinit(&tensors->odd_texts);
	tt_map_deinit(&tensors->owners);
	tt_map_deinit(&tensors->paired);
	tt_map_deinit(&tensors->texts);
	tt_json_parser_deinit(&tensors->parser);
}
