#include "db/fill.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/mem.h"
#include "db/record.h"
#include "db/tree.h"
#include "db/tuples.h"

/* Integers of a tuple and its record. */
#define INTS_ROOM (1 + 9 * TT_DB_TUPLE_MAX + TT_DB_SLACK)

/* A sorted tree: an index, or a table that is one. */
struct sorted {
	const char *name;
	const struct tt_db_fill_index *index; /* NULL: of a table */
	struct tt_db_tuples tuples;
	struct tt_db_tree tree;
	uint32_t root;
};

struct tt_db_filled {
	const struct tt_db_fill_table *table;
	struct tt_db_fill *fill;
	struct tt_db_tree tree; /* unless it is sorted */
	struct sorted sorted[3];
	int sorted_count;
	int64_t rows;
	uint32_t root;
	struct tt_db_filled *next;
};

struct tt_db_fill {
	struct tt_db_stock stock;
	struct tt_db_filled *tables;
	TT_VEC(unsigned char) record;
};

tt_status tt_db_fill_new(struct tt_db_fill **out, const char *directory, unsigned page_size)
{
	struct tt_db_fill *fill = tt_calloc(1, sizeof(*fill));

	if (!fill)
		return tt_fail_nomem();
	fill->stock.page_size = page_size;
	fill->stock.directory = directory;
	*out = fill;
	return TTNN_OK;
}

static tt_status add_sorted(struct tt_db_filled *filled, const struct tt_db_fill_index *index)
{
	struct sorted *sorted = &filled->sorted[filled->sorted_count++];
	bool keyed = filled->table->keyed;
	int width = !index ? filled->table->width : index->count + !keyed;

	sorted->name = index ? index->name : filled->table->name;
	sorted->index = index;
	tt_db_tuples_init(&sorted->tuples, width, filled->fill->stock.directory);
	return width <= TT_DB_TUPLE_MAX
		       ? TTNN_OK
		       : tt_fail(TTNN_INTERNAL, "%s: too many columns", sorted->name);
}

static tt_status add_table(struct tt_db_filled **out, struct tt_db_fill *fill,
			   const struct tt_db_fill_table *table)
{
	struct tt_db_filled *filled = tt_calloc(1, sizeof(*filled));

	if (!filled)
		return tt_fail_nomem();
	filled->table = table;
	filled->fill = fill;
	filled->next = fill->tables;
	fill->tables = filled;
	*out = filled;
	if (table->keyed)
		TT_TRY(add_sorted(filled, NULL));
	else
		TT_TRY(tt_db_tree_init(&filled->tree, &fill->stock, false));
	for (int i = 0; i < table->index_count; i++)
		TT_TRY(add_sorted(filled, &table->indexes[i]));
	return TTNN_OK;
}

tt_status tt_db_fill_stmt(struct tt_db_stmt **out, struct tt_db *db, struct tt_db_fill *fill,
			  const struct tt_db_fill_table *table)
{
	struct tt_db_stmt *stmt = tt_calloc(1, sizeof(*stmt));
	tt_status status;

	if (!stmt)
		return tt_fail_nomem();
	stmt->db = db;
	stmt->count = table->width;
	status = add_table(&stmt->fill, fill, table);
	if (status != TTNN_OK) {
		tt_free(stmt);
		return status;
	}
	*out = stmt;
	return TTNN_OK;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* An entry of each index, or of the table. */
static tt_status add_tuples(struct tt_db_filled *filled, const struct tt_db_value *values,
			    int64_t rowid)
{
	for (int i = 0; i < filled->sorted_count; i++) {
		struct sorted *sorted = &filled->sorted[i];
		const struct tt_db_fill_index *index = sorted->index;
		int64_t tuple[TT_DB_TUPLE_MAX];
		int count = 0;

		if (index && index->some && values[index->where].whole != index->is)
			continue;
		for (int k = 0; k < (index ? index->count : filled->table->width); k++)
			tuple[count++] = values[index ? index->columns[k] : k].whole;
		if (!filled->table->keyed)
			tuple[count++] = rowid;
		TT_TRY(tt_db_tuples_add(&sorted->tuples, tuple));
	}
	return TTNN_OK;
}

tt_status tt_db_fill_add(struct tt_db_filled *filled, const struct tt_db_value *values)
{
	static const struct tt_db_value none;
	const struct tt_db_fill_table *table = filled->table;
	struct tt_db_value numbered[TT_DB_PARAMETERS];
	struct tt_db_fill *fill = filled->fill;
	int64_t rowid = ++filled->rows;
	unsigned char *end;
	size_t room;

	if (table->numbered)
		rowid = values[0].whole;
	if (filled->sorted_count)
		TT_TRY(add_tuples(filled, values, rowid));
	if (table->keyed)
		return TTNN_OK;
	if (table->numbered) { /* its column is NULL: the rowid says it */
		memcpy(numbered, values, (size_t)table->width * sizeof(*values));
		numbered[0] = none;
		values = numbered;
	}
	room = tt_db_record_room(values, table->width);
	if (fill->record.room < room && !TT_VEC_RESERVE(&fill->record, room))
		return tt_fail_nomem();
	end = tt_db_put_record(fill->record.data, values, table->width);
	return tt_db_tree_row(&filled->tree, rowid, fill->record.data,
			      (size_t)(end - fill->record.data));
}

/* ---- the end -------------------------------------------------------------------------------- */

static tt_status write_sorted(struct sorted *sorted, struct tt_db_stock *stock)
{
	unsigned char record[INTS_ROOM];
	const int64_t *tuple;

	TT_TRY(tt_db_tree_init(&sorted->tree, stock, true));
	TT_TRY(tt_db_tuples_sort(&sorted->tuples));
	for (;;) {
		size_t size;

		TT_TRY(tt_db_tuples_next(&tuple, &sorted->tuples));
		if (!tuple)
			break;
		size = (size_t)(tt_db_put_ints(record, tuple, sorted->tuples.width) - record);
		TT_TRY(tt_db_tree_entry(&sorted->tree, record, size));
	}
	tt_db_tuples_deinit(&sorted->tuples);
	return tt_db_tree_end(&sorted->tree);
}

/* The root page of a table or index. */
static tt_status find_root(uint32_t *root, struct tt_db *db, const char *name)
{
	struct tt_db_stmt *select;
	tt_status status;
	bool row = false;

	TT_TRY(tt_db_prepare(&select, db, "select rootpage from sqlite_master where name = ?"));
	tt_db_bind_text(select, 0, name, strlen(name));
	status = tt_db_next(&row, select);
	*root = status == TTNN_OK && row ? (uint32_t)tt_db_int(select, 0) : 0;
	tt_db_stmt_free(select);
	if (status == TTNN_OK && *root < 2)
		return tt_fail(TTNN_INTERNAL, "there is no %s to be filled", name);
	return status;
}

static tt_status find_roots(struct tt_db_fill *fill, const char *path)
{
	struct tt_db *db;
	tt_status status;

	TT_TRY(tt_db_open(&db, path));
	status = TTNN_OK;
	for (struct tt_db_filled *f = fill->tables; f; f = f->next) {
		if (status == TTNN_OK)
			status = find_root(&f->root, db, f->table->name);
		for (int i = 0; status == TTNN_OK && i < f->sorted_count; i++)
			status = find_root(&f->sorted[i].root, db, f->sorted[i].name);
	}
	tt_db_discard(db);
	return status;
}

/* Whether the file is one that can be continued here. */
static bool is_plain(const unsigned char *header, uint32_t page_size, int fd)
{
	uint32_t size = tt_db_get_big(header + 16, 2);

	return (size == 1 ? 65536 : size) == page_size && header[20] == 0 &&
	       tt_db_get_big(header + 44, 4) >= 4 && tt_db_get_big(header + 52, 4) == 0 &&
	       tt_db_get_big(header + 24, 4) == tt_db_get_big(header + 92, 4) &&
	       lseek(fd, 0, SEEK_END) == (off_t)tt_db_get_big(header + 28, 4) * page_size;
}

static tt_status finish_file(struct tt_db_fill *fill, const char *path, int fd)
{
	unsigned char header[TT_DB_HEADER];
	uint32_t changes;
	int error;

	TT_TRY(tt_file_read_at(fd, header, TT_DB_HEADER, 0, path));
	if (!is_plain(header, fill->stock.page_size, fd))
		return tt_fail(TTNN_INTERNAL, "%s: this is no file to be filled", path);
	TT_TRY(tt_db_stock_pour(&fill->stock, fd, path, tt_db_get_big(header + 28, 4)));
	for (struct tt_db_filled *f = fill->tables; f; f = f->next) {
		if (!f->table->keyed)
			TT_TRY(tt_db_tree_finish(&f->tree, f->root));
		for (int i = 0; i < f->sorted_count; i++)
			TT_TRY(tt_db_tree_finish(&f->sorted[i].tree, f->sorted[i].root));
	}
	changes = tt_db_get_big(header + 24, 4) + 1;
	tt_db_put_big(header + 24, changes, 4);
	tt_db_put_big(header + 28, fill->stock.pages, 4);
	tt_db_put_big(header + 92, changes, 4);
	error = tt_fd_write_at(fd, header, TT_DB_HEADER, 0);
	return error ? tt_fail(TTNN_IO, "%s: cannot write: %s", path, strerror(error)) : TTNN_OK;
}

tt_status tt_db_fill_finish(struct tt_db_fill *fill, const char *path)
{
	tt_status status;
	int fd;

	for (struct tt_db_filled *f = fill->tables; f; f = f->next) {
		if (!f->table->keyed)
			TT_TRY(tt_db_tree_end(&f->tree));
		for (int i = 0; i < f->sorted_count; i++)
			TT_TRY(write_sorted(&f->sorted[i], &fill->stock));
	}
	TT_TRY(find_roots(fill, path));
	fd = tt_fd_open(path, O_RDWR);
	if (fd < 0)
		return tt_fail(TTNN_IO, "%s: cannot open: %s", path, strerror(errno));
	status = finish_file(fill, path, fd);
	if (close(fd) != 0 && status == TTNN_OK)
		status = tt_fail(TTNN_IO, "%s: cannot close: %s", path, strerror(errno));
	return status;
}

void tt_db_fill_free(struct tt_db_fill *fill)
{
	struct tt_db_filled *next;

	for (struct tt_db_filled *f = fill ? fill->tables : NULL; f; f = next) {
		next = f->next;
		tt_db_tree_deinit(&f->tree);
		for (int i = 0; i < f->sorted_count; i++) {
			tt_db_tuples_deinit(&f->sorted[i].tuples);
			tt_db_tree_deinit(&f->sorted[i].tree);
		}
		tt_free(f);
	}
	if (!fill)
		return;
	tt_db_stock_deinit(&fill->stock);
	TT_VEC_DEINIT(&fill->record);
	tt_free(fill);
}
