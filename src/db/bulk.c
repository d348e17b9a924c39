/*
 * The pages of a SQLite file, as far as they are written here (numbers are big-endian; a varint has 7
 * bits per byte, the high bit says that more follow):
 *
 *	file     page 1, page 2, ...; page 1 begins with the header: 16 page size, 20 bytes reserved per
 *	         page, 24 change counter, 28 pages, 44 schema format, 52 not 0: pages move by
 *	         themselves, 92 the change counter that 28 is valid for. The page at 1 GB is never used.
 *	page     kind, 0 0, cells (2), start of their content (2), 0, [right child (4)], offsets of the
 *	         cells (2 each), unused, the content of the cells, first cell last
 *	kinds    13 table leaf:  payload size, rowid, record        5 table: left child (4), rowid
 *	         10 index leaf:  payload size, record               2 index: left child, size, record
 *	record   size of its head, a type per value, the values. Types: 1 to 6 are integers of 1, 2, 3,
 *	         4, 6, 8 bytes, 8 is the number 0, 9 the number 1.
 *
 * A table has all rows in its leaves; the pages above say up to which rowid each child goes. An index
 * has its entries (value, rowid) in all pages: those above lie between their children. Leaves are
 * written one behind another, then what is above, level by level; the topmost page goes where SQLite
 * put the empty one.
 */
#include "db/bulk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"
#include "db/db.h"

enum { TABLE_LEAF = 13, TABLE_ABOVE = 5, INDEX_LEAF = 10, INDEX_ABOVE = 2 };

/* Bytes of the header of a file, of pages below and above; of a cell of an index at most. */
#define HEADER 100
#define BELOW 8
#define ABOVE 12
#define ENTRY_MAX (4 + 1 + 3 + 8 + 8)

#define PENDING ((uint64_t)1 << 30)

/* Rows in their order that have the same value in the index. */
struct run {
	int64_t key, first, count;
};

/* A page that needs one above it, and the entry that comes behind its own. */
struct child {
	uint32_t page;
	int64_t key, rowid;
};

struct children {
	struct child *data;
	size_t count, room;
};

struct tt_db_bulk {
	int fd;
	char *path;
	int width, column;
	bool indexed, compact; /* compact: the types 8 and 9 are known */
	uint32_t page_size, table_root, index_root;
	uint32_t pages; /* of the file so far */
	/* The page being filled. */
	unsigned char *page;
	size_t cells, pointer, content; /* how many; where the next offset goes; the last begins */
	int64_t rows;
	struct children leaves;
	TT_VEC(struct run) runs;
};

/* ---- numbers -------------------------------------------------------------------------------- */

static void put_big(unsigned char *to, uint64_t value, int bytes)
{
	while (bytes--) {
		to[bytes] = (unsigned char)value;
		value >>= 8;
	}
}

static uint32_t get_big(const unsigned char *from, int bytes)
{
	uint32_t value = 0;

	while (bytes--)
		value = value << 8 | *from++;
	return value;
}

/* Of numbers below 2^56, which rowids are. */
static unsigned char *put_varint(unsigned char *to, uint64_t value)
{
	int more = 0;

	while (value >> 7 * (more + 1))
		more++;
	for (; more; more--)
		*to++ = (unsigned char)(value >> 7 * more | 0x80);
	*to++ = (unsigned char)(value & 0x7f);
	return to;
}

static int type_of(const struct tt_db_bulk *bulk, int64_t value)
{
	uint64_t size = (uint64_t)(value < 0 ? ~value : value);

	if (size <= 1 && value >= 0 && bulk->compact)
		return 8 + (int)value;
	return size < 1u << 7             ? 1
	       : size < 1u << 15          ? 2
	       : size < 1u << 23          ? 3
	       : size < 1u << 31          ? 4
	       : size < (uint64_t)1 << 47 ? 5
					  : 6;
}

/* Bytes of a value of each type. */
static const unsigned char sizes[10] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};

/* A record of integers; its end. */
static unsigned char *put_record(const struct tt_db_bulk *bulk, unsigned char *to,
				 const int64_t *values, int count)
{
	unsigned char *head = to + 1, *at = head + count;

	*to = (unsigned char)(1 + count);
	for (int i = 0; i < count; i++) {
		int type = type_of(bulk, values[i]);

		*head++ = (unsigned char)type;
		put_big(at, (uint64_t)values[i], sizes[type]);
		at += sizes[type];
	}
	return at;
}

/* ---- pages ---------------------------------------------------------------------------------- */

static tt_status fail(const struct tt_db_bulk *bulk, const char *what)
{
	return tt_fail(TTNN_IO, "%s: cannot %s: %s", bulk->path, what, strerror(errno));
}

static tt_status write_at(struct tt_db_bulk *bulk, const unsigned char *from, size_t size,
			  uint64_t offset)
{
	errno = tt_fd_write_at(bulk->fd, from, size, offset);
	return errno ? fail(bulk, "write") : TTNN_OK;
}

static void begin_page(struct tt_db_bulk *bulk, int kind)
{
	bulk->page[0] = (unsigned char)kind;
	bulk->cells = 0;
	bulk->pointer = kind == TABLE_ABOVE || kind == INDEX_ABOVE ? ABOVE : BELOW;
	bulk->content = bulk->page_size;
}

static bool has_room(const struct tt_db_bulk *bulk, size_t size)
{
	return bulk->content - bulk->pointer >= size + 2;
}

static void add_cell(struct tt_db_bulk *bulk, const unsigned char *cell, size_t size)
{
	bulk->content -= size;
	memcpy(bulk->page + bulk->content, cell, size);
	put_big(bulk->page + bulk->pointer, bulk->content, 2);
	bulk->pointer += 2;
	bulk->cells++;
}

/* The number of a new page at the end. */
static tt_status new_page(uint32_t *number, struct tt_db_bulk *bulk)
{
	if (bulk->pages >= UINT32_MAX - 2)
		return tt_fail(TTNN_INVALID, "%s: too many pages", bulk->path);
	bulk->pages++;
	bulk->pages += bulk->pages == PENDING / bulk->page_size + 1;
	*number = bulk->pages;
	return TTNN_OK;
}

/* Completes the page and writes it as this one. A content that starts at 65536 is written as 0. */
static tt_status end_page(struct tt_db_bulk *bulk, uint32_t number)
{
	unsigned char *page = bulk->page;

	put_big(page + 1, 0, 2);
	put_big(page + 3, bulk->cells, 2);
	put_big(page + 5, bulk->content, 2);
	page[7] = 0;
	memset(page + bulk->pointer, 0, bulk->content - bulk->pointer);
	return write_at(bulk, page, bulk->page_size, (uint64_t)(number - 1) * bulk->page_size);
}

static tt_status add_child(struct children *children, uint32_t page, int64_t key, int64_t rowid)
{
	struct child *child = TT_VEC_PUSH(children);

	if (!child)
		return tt_fail_nomem();
	*child = (struct child){page, key, rowid};
	return TTNN_OK;
}

/* ---- what is above -------------------------------------------------------------------------- */

static unsigned char *put_entry(const struct tt_db_bulk *bulk, unsigned char *to, int64_t key,
				int64_t rowid)
{
	unsigned char *end = put_record(bulk, to + 1, (int64_t[]){key, rowid}, 2);

	*to = (unsigned char)(end - to - 1);
	return end;
}

/* Of the largest entry of the index. */
static size_t entry_size(const struct tt_db_bulk *bulk)
{
	size_t key = 0;

	for (size_t i = 0; i < bulk->runs.count; i++) {
		size_t size = sizes[type_of(bulk, bulk->runs.data[i].key)];

		key = size > key ? size : key;
	}
	return 1 + 3 + key + sizes[type_of(bulk, bulk->rows)];
}

static tt_status write_above(struct tt_db_bulk *bulk, const struct child *children, size_t count,
			     int kind, uint32_t number)
{
	unsigned char cell[ENTRY_MAX], *end;

	begin_page(bulk, kind);
	for (size_t i = 0; i + 1 < count; i++) {
		put_big(cell, children[i].page, 4);
		end = kind == INDEX_ABOVE
			      ? put_entry(bulk, cell + 4, children[i].key, children[i].rowid)
			      : put_varint(cell + 4, (uint64_t)children[i].rowid);
		add_cell(bulk, cell, (size_t)(end - cell));
	}
	put_big(bulk->page + BELOW, children[count - 1].page, 4);
	return end_page(bulk, number);
}

/* Level by level, until one page is above all. Pages of a level get about the same number. */
static tt_status write_levels(struct tt_db_bulk *bulk, struct children *level, int kind,
			      uint32_t root)
{
	size_t cell = 4 + (kind == INDEX_ABOVE ? entry_size(bulk) : 9);
	size_t most = (bulk->page_size - ABOVE) / (cell + 2) + 1;

	while (level->count > 1) {
		size_t count = level->count, pages = (count + most - 1) / most;

		for (size_t i = 0; i < pages; i++) {
			size_t first = count * i / pages, end = count * (i + 1) / pages;
			uint32_t number = root;

			if (pages > 1)
				TT_TRY(new_page(&number, bulk));
			TT_TRY(write_above(bulk, level->data + first, end - first, kind, number));
			level->data[i] = level->data[end - 1];
			level->data[i].page = number;
		}
		level->count = pages;
	}
	return TTNN_OK;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static tt_status note_run(struct tt_db_bulk *bulk, int64_t key)
{
	struct run *run = bulk->runs.count ? &bulk->runs.data[bulk->runs.count - 1] : NULL;

	if (run && run->key == key) {
		run->count++;
		return TTNN_OK;
	}
	run = TT_VEC_PUSH(&bulk->runs);
	if (!run)
		return tt_fail_nomem();
	*run = (struct run){key, bulk->rows, 1};
	return TTNN_OK;
}

tt_status tt_db_bulk_add(struct tt_db_bulk *bulk, const int64_t *row)
{
	unsigned char record[1 + 9 * TT_DB_BULK_WIDTH], cell[20 + sizeof(record)], *end;
	size_t size = (size_t)(put_record(bulk, record, row, bulk->width) - record);
	uint32_t number = 0;

	end = put_varint(cell, size);
	end = put_varint(end, (uint64_t)bulk->rows + 1);
	memcpy(end, record, size);
	size += (size_t)(end - cell);
	if (!has_room(bulk, size)) {
		TT_TRY(new_page(&number, bulk));
		TT_TRY(end_page(bulk, number));
		TT_TRY(add_child(&bulk->leaves, number, 0, bulk->rows));
		begin_page(bulk, TABLE_LEAF);
	}
	add_cell(bulk, cell, size);
	bulk->rows++;
	return bulk->indexed ? note_run(bulk, row[bulk->column]) : TTNN_OK;
}

static tt_status end_table(struct tt_db_bulk *bulk)
{
	uint32_t number = bulk->table_root;

	if (bulk->leaves.count)
		TT_TRY(new_page(&number, bulk));
	TT_TRY(end_page(bulk, number));
	TT_TRY(add_child(&bulk->leaves, number, 0, bulk->rows));
	return write_levels(bulk, &bulk->leaves, TABLE_ABOVE, bulk->table_root);
}

/* ---- the index ------------------------------------------------------------------------------ */

static int by_key(const void *a, const void *b)
{
	const struct run *left = a, *right = b;

	if (left->key != right->key)
		return left->key < right->key ? -1 : 1;
	return (left->first > right->first) - (left->first < right->first);
}

/* The next entry of the sorted runs. */
static void next_entry(int64_t *key, int64_t *rowid, struct run **run)
{
	*key = (*run)->key;
	*rowid = (*run)->first++;
	if (!--(*run)->count)
		++*run;
}

/* Leaves get about the same number of entries; between two there is one for the page above. */
static tt_status write_index(struct tt_db_bulk *bulk)
{
	size_t most = (bulk->page_size - BELOW) / (entry_size(bulk) + 2);
	size_t rows = (size_t)bulk->rows, leaves = (rows + 1 + most) / (most + 1);
	size_t below = rows - (leaves - 1);
	struct run *run = bulk->runs.data;
	int64_t key = 0, rowid = 0;

	bulk->leaves.count = 0;
	qsort(bulk->runs.data, bulk->runs.count, sizeof(*bulk->runs.data), by_key);
	for (size_t i = 0; i < leaves; i++) {
		size_t count = below * (i + 1) / leaves - below * i / leaves;
		uint32_t number = bulk->index_root;

		begin_page(bulk, INDEX_LEAF);
		while (count--) {
			unsigned char cell[ENTRY_MAX], *end;

			next_entry(&key, &rowid, &run);
			end = put_entry(bulk, cell, key, rowid);
			add_cell(bulk, cell, (size_t)(end - cell));
		}
		if (leaves > 1)
			TT_TRY(new_page(&number, bulk));
		TT_TRY(end_page(bulk, number));
		if (i + 1 < leaves)
			next_entry(&key, &rowid, &run);
		TT_TRY(add_child(&bulk->leaves, number, key, rowid));
	}
	return write_levels(bulk, &bulk->leaves, INDEX_ABOVE, bulk->index_root);
}

/* ---- opening and closing -------------------------------------------------------------------- */

/* A number of the database, -1 when there is none. */
static tt_status ask(int64_t *out, struct tt_db *db, const char *sql, const char *name)
{
	struct tt_db_stmt *select;
	tt_status status;
	bool row = false;

	*out = -1;
	TT_TRY(tt_db_prepare(&select, db, sql));
	if (name)
		tt_db_bind_text(select, 0, name, strlen(name));
	status = tt_db_next(&row, select);
	if (status == TTNN_OK && row)
		*out = tt_db_int(select, 0);
	tt_db_stmt_free(select);
	return status;
}

/* The root pages; 0 when the objects are not as they should be. */
static tt_status find_roots(struct tt_db_bulk *bulk, const struct tt_db_bulk_table *table)
{
	static const char root[] = "select rootpage from sqlite_master where name = ?";
	int64_t table_root = 0, index_root = 0, indexes = 0;
	struct tt_db *db;
	tt_status status;

	TT_TRY(tt_db_open(&db, bulk->path));
	status = ask(&table_root, db, root, table->table);
	if (status == TTNN_OK && table->index)
		status = ask(&index_root, db, root, table->index);
	if (status == TTNN_OK)
		status = ask(
			&indexes, db,
			"select count(*) from sqlite_master where type = 'index' and tbl_name = ?",
			table->table);
	tt_db_discard(db);
	if (status != TTNN_OK)
		return status;
	if (table_root > 1 && index_root >= 0 && indexes == (table->index != NULL)) {
		bulk->table_root = (uint32_t)table_root;
		bulk->index_root = (uint32_t)index_root;
	}
	return TTNN_OK;
}

static bool read_at(const struct tt_db_bulk *bulk, unsigned char *to, size_t size, uint64_t offset)
{
	return tt_file_read_at(bulk->fd, to, size, offset, bulk->path) == TTNN_OK;
}

/* Whether a root is a leaf without cells. */
static bool is_empty(const struct tt_db_bulk *bulk, uint32_t root, int kind)
{
	unsigned char page[BELOW];

	return read_at(bulk, page, BELOW, (uint64_t)(root - 1) * bulk->page_size) &&
	       page[0] == kind && get_big(page + 3, 2) == 0;
}

/* Whether the file is one that can be continued here. */
static bool is_plain(struct tt_db_bulk *bulk)
{
	unsigned char header[HEADER];

	if (!bulk->table_root || !read_at(bulk, header, HEADER, 0))
		return false;
	bulk->page_size = get_big(header + 16, 2) == 1 ? 65536 : get_big(header + 16, 2);
	bulk->pages = get_big(header + 28, 4);
	bulk->compact = get_big(header + 44, 4) >= 4;
	return bulk->page_size >= 1024 && header[20] == 0 && get_big(header + 52, 4) == 0 &&
	       get_big(header + 24, 4) == get_big(header + 92, 4) &&
	       lseek(bulk->fd, 0, SEEK_END) == (off_t)bulk->pages * bulk->page_size &&
	       is_empty(bulk, bulk->table_root, TABLE_LEAF) &&
	       (!bulk->indexed || is_empty(bulk, bulk->index_root, INDEX_LEAF));
}

tt_status tt_db_bulk_open(struct tt_db_bulk **out, const char *path,
			  const struct tt_db_bulk_table *table)
{
	struct tt_db_bulk *bulk = tt_calloc(1, sizeof(*bulk));
	tt_status status;

	*out = NULL;
	if (!bulk)
		return tt_fail_nomem();
	*bulk = (struct tt_db_bulk){.fd = -1,
				    .width = table->width,
				    .column = table->column,
				    .indexed = table->index != NULL,
				    .path = tt_strdup(path)};
	status = bulk->path ? find_roots(bulk, table) : tt_fail_nomem();
	if (status == TTNN_OK) {
		bulk->fd = tt_fd_open(path, O_RDWR);
		status = bulk->fd < 0 ? fail(bulk, "open") : TTNN_OK;
	}
	if (status == TTNN_OK && is_plain(bulk)) {
		bulk->page = tt_alloc(bulk->page_size);
		status = bulk->page ? TTNN_OK : tt_fail_nomem();
		if (bulk->page) {
			begin_page(bulk, TABLE_LEAF);
			*out = bulk;
			return TTNN_OK;
		}
	}
	tt_db_bulk_discard(bulk);
	return status;
}

/* Tells the file how large it is. */
static tt_status end_file(struct tt_db_bulk *bulk)
{
	unsigned char header[HEADER];
	uint32_t changes;

	TT_TRY(tt_file_read_at(bulk->fd, header, HEADER, 0, bulk->path));
	changes = get_big(header + 24, 4) + 1;
	put_big(header + 24, changes, 4);
	put_big(header + 28, bulk->pages, 4);
	put_big(header + 92, changes, 4);
	return write_at(bulk, header, HEADER, 0);
}

tt_status tt_db_bulk_close(struct tt_db_bulk *bulk)
{
	tt_status status = TTNN_OK;

	if (bulk && bulk->rows) {
		status = end_table(bulk);
		if (status == TTNN_OK && bulk->indexed)
			status = write_index(bulk);
		if (status == TTNN_OK)
			status = end_file(bulk);
	}
	if (bulk && close(bulk->fd) != 0 && status == TTNN_OK)
		status = fail(bulk, "close");
	if (bulk)
		bulk->fd = -1;
	tt_db_bulk_discard(bulk);
	return status;
}

void tt_db_bulk_discard(struct tt_db_bulk *bulk)
{
	if (!bulk)
		return;
	if (bulk->fd >= 0)
		close(bulk->fd);
	TT_VEC_DEINIT(&bulk->leaves);
	TT_VEC_DEINIT(&bulk->runs);
	tt_free(bulk->page);
	tt_free(bulk->path);
	tt_free(bulk);
}
