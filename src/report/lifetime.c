/*
 * When tensors are made, last used and freed, and in which lines of a program.
 */
#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "report/tensors.h"

/* Operations counted from 1; 0: none. */
struct lifetime {
	int64_t id, producer, last_use, freed;
};

static int by_id(const void *a, const void *b)
{
	const struct lifetime *left = a, *right = b;

	return (left->id > right->id) - (left->id < right->id);
}

static struct lifetime *find(struct lifetime *all, size_t count, int64_t id)
{
	struct lifetime wanted = {.id = id};

	return count ? bsearch(&wanted, all, count, sizeof(*all), by_id) : NULL;
}

/* Uses come in the order of operations: so the first output and free count, and the last use. */
static tt_status collect(struct lifetime *all, size_t count, struct tt_report_tensors *tensors)
{
	for (uint64_t i = 0; i < tensors->outputs.count; i++) {
		const struct tt_report_use *use = tt_spool_at(&tensors->outputs, i);
		struct lifetime *one = use ? find(all, count, use->id) : NULL;

		if (!use)
			return tt_spool_status(&tensors->outputs);
		if (one && !one->producer)
			one->producer = use->operation;
	}
	for (uint64_t i = 0; i < tensors->inputs.count; i++) {
		const struct tt_report_use *use = tt_spool_at(&tensors->inputs, i);
		struct lifetime *one = use ? find(all, count, use->id) : NULL;

		if (!use)
			return tt_spool_status(&tensors->inputs);
		if (!one)
			continue;
		if (!tensors->operations.data[use->operation - 1].frees)
			one->last_use = use->operation;
		else if (!one->freed)
			one->freed = use->operation;
	}
	return TTNN_OK;
}

/* The ids that have rows, each once, in their order. */
static tt_status list_ids(struct lifetime *all, size_t *unique, struct tt_report_tensors *tensors)
{
	size_t count = 0, rows = (size_t)tensors->rows.count;

	for (size_t i = 0; i < rows; i++) {
		const struct tt_report_tensor *row = tt_spool_at(&tensors->rows, i);

		if (!row)
			return tt_spool_status(&tensors->rows);
		all[i].id = row->id;
	}
	qsort(all, rows, sizeof(*all), by_id);
	for (size_t i = 0; i < rows; i++)
		if (!count || all[count - 1].id != all[i].id)
			all[count++] = all[i];
	*unique = count;
	return TTNN_OK;
}

/* The file of an operation's trace and its line, or NULL. */
static const char *frame_of(int64_t *line, const struct tt_report_tensors *tensors,
			    int64_t operation)
{
	const struct tt_report_operation *op =
		operation ? &tensors->operations.data[operation - 1] : NULL;

	if (!op || !op->file)
		return NULL;
	*line = op->line;
	return tensors->texts.entries[op->file - 1].key;
}

static void write_number(struct tt_jsonw *w, const char *key, bool set, int64_t value)
{
	tt_jsonw_key(w, key);
	if (set)
		tt_jsonw_int(w, value);
	else
		tt_jsonw_null(w);
}

static void bind_number(struct tt_db_stmt *insert, int at, bool set, int64_t value)
{
	if (set)
		tt_db_bind_int(insert, at, value);
	else
		tt_db_bind_null(insert, at);
}

static tt_status write_one(struct tt_jsonw *w, struct tt_report_tensors *tensors,
			   const struct lifetime *one)
{
	static const char *const keys[] = {"producer_operation_id", "last_use_operation_id",
					   "deallocate_operation_id"};
	const int64_t operations[] = {one->producer, one->last_use, one->freed};
	int64_t made_line = 0, used_line = 0;
	const char *made = frame_of(&made_line, tensors, one->producer);
	const char *used = frame_of(&used_line, tensors, one->last_use);
	struct tt_db_stmt *insert;

	TT_TRY(tt_report_insert(&insert, tensors->db, TT_REPORT_TENSOR_LIFETIME));
	tt_jsonw_object(w);
	tt_jsonw_key_int(w, "tensor_id", one->id);
	tt_db_bind_int(insert, 0, one->id);
	for (int i = 0; i < 3; i++) {
		int64_t id = tensors->base + operations[i];

		write_number(w, keys[i], operations[i] > 0, id);
		bind_number(insert, 1 + i, operations[i] > 0, id);
	}
	tt_jsonw_key_string(w, "producer_source_file", made);
	write_number(w, "producer_source_line", made, made_line);
	tt_jsonw_key_string(w, "last_use_source_file", used);
	write_number(w, "last_use_source_line", used, used_line);
	tt_jsonw_key_int(w, "rank", tensors->rank);
	tt_jsonw_end(w);
	tt_db_bind_text(insert, 4, made, made ? strlen(made) : 0);
	bind_number(insert, 5, made, made_line);
	tt_db_bind_text(insert, 6, used, used ? strlen(used) : 0);
	bind_number(insert, 7, used, used_line);
	tt_db_bind_int(insert, 8, tensors->rank);
	return tt_db_run(insert);
}

tt_status tt_report_lifetimes(struct tt_report_tensors *tensors, struct tt_file_out **file,
			      uint64_t *count, const char *path)
{
	size_t unique = 0, rows = (size_t)tensors->rows.count;
	struct lifetime *all;
	tt_status status = TTNN_OK;
	struct tt_jsonw w;

	if (!rows)
		return TTNN_OK;
	TT_TRY(tt_file_create(file, path));
	all = tt_calloc(rows, sizeof(*all));
	if (!all)
		return tt_fail_nomem();
	status = list_ids(all, &unique, tensors);
	if (status == TTNN_OK)
		status = collect(all, unique, tensors);
	tt_jsonw_init_file(&w, *file, (struct tt_jsonw_style){.indent = 2});
	tt_jsonw_array(&w);
	for (size_t i = 0; status == TTNN_OK && i < unique; i++)
		status = write_one(&w, tensors, &all[i]);
	tt_jsonw_end(&w);
	if (status == TTNN_OK)
		status = tt_jsonw_finish(&w);
	*count += unique;
	tt_free(all);
	return status;
}
