/*
 * The pages of a SQLite file, as far as they are written here (numbers are big-endian; record.h has records and
 * varints):
 *
 *	file     page 1, page 2, ...; page 1 begins with the header: 16 page size, 20 bytes reserved per
 *	         page, 24 change counter, 28 pages, 44 schema format, 52 not 0: pages move by
 *	         themselves, 92 the change counter that 28 is valid for. The page at 1 GB is never used.
 *	page     kind, 0 0, cells (2), start of their content (2), 0, [right child (4)], offsets of the
 *	         cells (2 each), unused, the content of the cells, first cell last
 *	kinds    13 table leaf:  payload size, rowid, record        5 table: left child (4), rowid
 *	         10 index leaf:  payload size, record               2 index: left child, size, record
 *	long     a record that does not fit: its beginning, the number of a page (4), which has that of the next (4,
 *	         0: none) and more of the record
 *
 * A table has all rows in its leaves; the pages above say up to which rowid each child goes. An index
 * has its entries in all pages: those above lie between their children. The topmost page goes where SQLite
 * put the empty one.
 */
#include "db/tree.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "db/record.h"

enum { TABLE_LEAF = 13, TABLE_ABOVE = 5, INDEX_LEAF = 10, INDEX_ABOVE = 2 };

/* Bytes of the head of pages below and above; bytes of the stock that are copied at once. */
#define BELOW 8
#define ABOVE 12
#define COPY ((size_t)256 << 10)

#define PENDING ((uint64_t)1 << 30)

/* ---- the stock ------------------------------------------------------------------------------ */

static tt_status fail(const char *path, int error)
{
	return error == ENOMEM ? tt_fail_nomem()
			       : tt_fail(TTNN_IO, "%s: cannot write: %s", path, strerror(error));
}

static tt_status add_page(uint64_t *index, struct tt_db_stock *stock, const unsigned char *page)
{
	int error;

	if (!stock->fd) {
		int fd = tt_fd_nameless(stock->directory);

		if (fd < 0)
			return fail(stock->directory, errno);
		stock->fd = fd + 1;
	}
	error = tt_fd_write_at(stock->fd - 1, page, stock->page_size,
			       stock->count * stock->page_size);
	*index = stock->count++;
	return error ? fail(stock->directory, error) : TTNN_OK;
}

/* The number of a page behind those that were there. */
static uint64_t number_of(const struct tt_db_stock *stock, uint64_t index)
{
	uint64_t number = stock->before + 1 + index, unused = PENDING / stock->page_size + 1;

	return number + (stock->before < unused && number >= unused);
}

static tt_status write_page(struct tt_db_stock *stock, const unsigned char *page, uint64_t number)
{
	int error = tt_fd_write_at(stock->file, page, stock->page_size,
				   (number - 1) * stock->page_size);

	return error ? fail(stock->path, error) : TTNN_OK;
}

/* The number of a new page at the end. */
static tt_status new_page(uint64_t *number, struct tt_db_stock *stock)
{
	if (stock->pages >= UINT32_MAX - 2)
		return tt_fail(TTNN_INVALID, "%s: too many pages", stock->path);
	stock->pages++;
	stock->pages += stock->pages == PENDING / stock->page_size + 1;
	*number = stock->pages;
	return TTNN_OK;
}

static tt_status copy_pages(struct tt_db_stock *stock, unsigned char *room)
{
	uint64_t each = COPY / stock->page_size;

	for (uint64_t first = 0; first < stock->count; first += each) {
		uint64_t count = stock->count - first < each ? stock->count - first : each;
		int error = tt_fd_read_at(stock->fd - 1, room, count * stock->page_size,
					  first * stock->page_size);

		if (error)
			return fail(stock->directory, error);
		/* The page that is never used lies between two at most. */
		if (number_of(stock, first + count - 1) - number_of(stock, first) == count - 1) {
			error = tt_fd_write_at(stock->file, room, count * stock->page_size,
					       (number_of(stock, first) - 1) * stock->page_size);
			if (error)
				return fail(stock->path, error);
			continue;
		}
		for (uint64_t i = 0; i < count; i++)
			TT_TRY(write_page(stock, room + i * stock->page_size,
					  number_of(stock, first + i)));
	}
	return TTNN_OK;
}

static tt_status patch_pages(const struct tt_db_stock *stock)
{
	unsigned char big[4];

	for (size_t i = 0; i < stock->patches.count; i++) {
		const struct tt_db_patch *patch = &stock->patches.data[i];
		uint64_t page = patch->offset / stock->page_size;
		int error;

		tt_db_put_big(big, number_of(stock, patch->page), 4);
		error = tt_fd_write_at(stock->file, big, 4,
				       (number_of(stock, page) - 1) * stock->page_size +
					       patch->offset % stock->page_size);
		if (error)
			return fail(stock->path, error);
	}
	return TTNN_OK;
}

tt_status tt_db_stock_pour(struct tt_db_stock *stock, int file, const char *path, uint32_t pages)
{
	unsigned char *room = tt_alloc(COPY);
	tt_status status;

	stock->file = file;
	stock->path = path;
	stock->before = stock->pages = pages;
	if (!room)
		return tt_fail_nomem();
	if (pages + stock->count >= UINT32_MAX - 2)
		status = tt_fail(TTNN_INVALID, "%s: too many pages", path);
	else
		status = copy_pages(stock, room);
	tt_free(room);
	if (stock->count)
		stock->pages = (uint32_t)number_of(stock, stock->count - 1);
	return status == TTNN_OK ? patch_pages(stock) : status;
}

void tt_db_stock_deinit(struct tt_db_stock *stock)
{
	if (stock->fd)
		close(stock->fd - 1);
	stock->fd = 0;
	TT_VEC_DEINIT(&stock->patches);
}

/* ---- pages ---------------------------------------------------------------------------------- */

static void begin_page(struct tt_db_tree *tree, int kind)
{
	tree->page[0] = (unsigned char)kind;
	tree->cells = 0;
	tree->pointer = kind == TABLE_ABOVE || kind == INDEX_ABOVE ? ABOVE : BELOW;
	tree->content = tree->stock->page_size;
}

static bool has_room(const struct tt_db_tree *tree, size_t size)
{
	return tree->content - tree->pointer >= size + 2;
}

/* Room for a cell, which there is. */
static unsigned char *add_room(struct tt_db_tree *tree, size_t size)
{
	tree->content -= size;
	tt_db_put_big(tree->page + tree->pointer, tree->content, 2);
	tree->pointer += 2;
	tree->cells++;
	tree->last = size;
	return tree->page + tree->content;
}

static void add_cell(struct tt_db_tree *tree, const unsigned char *cell, size_t size)
{
	memcpy(add_room(tree, size), cell, size);
}

/* Completes the page. A content that starts at 65536 is written as 0. */
static void end_page(struct tt_db_tree *tree)
{
	unsigned char *page = tree->page;

	tt_db_put_big(page + 1, 0, 2);
	tt_db_put_big(page + 3, tree->cells, 2);
	tt_db_put_big(page + 5, tree->content, 2);
	page[7] = 0;
	memset(page + tree->pointer, 0, tree->content - tree->pointer);
}

/* The leaf goes; of an index with the cell that lies between it and the next. */
static tt_status end_leaf(struct tt_db_tree *tree, const unsigned char *between, size_t size)
{
	struct tt_db_child *child = TT_VEC_PUSH(&tree->leaves);

	if (!child || !TT_VEC_RESERVE(&tree->between, size))
		return tt_fail_nomem();
	*child = (struct tt_db_child){
		.rowid = tree->rowid, .first = tree->between.count, .size = size};
	if (size)
		memcpy(tree->between.data + tree->between.count, between, size);
	tree->between.count += size;
	end_page(tree);
	for (size_t i = 0; i < tree->longs.count; i++) {
		struct tt_db_patch *patch = TT_VEC_PUSH(&tree->stock->patches);

		if (!patch)
			return tt_fail_nomem();
		*patch = tree->longs.data[i];
		patch->offset += tree->stock->count * tree->stock->page_size;
	}
	tree->longs.count = 0;
	TT_TRY(add_page(&child->page, tree->stock, tree->page));
	begin_page(tree, tree->index ? INDEX_LEAF : TABLE_LEAF);
	return TTNN_OK;
}

tt_status tt_db_tree_init(struct tt_db_tree *tree, struct tt_db_stock *stock, bool index)
{
	memset(tree, 0, sizeof(*tree));
	tree->stock = stock;
	tree->index = index;
	tree->page = tt_alloc(stock->page_size);
	if (!tree->page)
		return tt_fail_nomem();
	begin_page(tree, index ? INDEX_LEAF : TABLE_LEAF);
	return TTNN_OK;
}

void tt_db_tree_deinit(struct tt_db_tree *tree)
{
	tt_free(tree->page);
	tt_free(tree->entry);
	TT_VEC_DEINIT(&tree->leaves);
	TT_VEC_DEINIT(&tree->between);
	TT_VEC_DEINIT(&tree->longs);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* How much of a record that does not fit stays in its leaf. */
static size_t local_size(const struct tt_db_stock *stock, size_t size)
{
	size_t most = stock->page_size - 35, least = (stock->page_size - 12) * 32 / 255 - 23;
	size_t local = least + (size - least) % (stock->page_size - 4);

	return size <= most ? size : local <= most ? local : least;
}

/* The rest of a record, in pages of its own, one behind another. */
static tt_status add_rest(uint64_t *first, struct tt_db_tree *tree, const unsigned char *rest,
			  size_t size)
{
	struct tt_db_stock *stock = tree->stock;
	size_t each = stock->page_size - 4;
	unsigned char *page = tt_alloc(stock->page_size);
	tt_status status = page ? TTNN_OK : tt_fail_nomem();
	struct tt_db_patch *patch;
	uint64_t index;

	*first = stock->count;
	for (; status == TTNN_OK && size;
	     rest += size < each ? size : each, size -= size < each ? size : each) {
		size_t part = size < each ? size : each;

		memset(page, 0, stock->page_size);
		memcpy(page + 4, rest, part);
		patch = part < size ? TT_VEC_PUSH(&stock->patches) : NULL;
		status = part < size && !patch ? tt_fail_nomem() : add_page(&index, stock, page);
		if (status == TTNN_OK && patch)
			*patch = (struct tt_db_patch){index * stock->page_size, index + 1};
	}
	tt_free(page);
	return status;
}

static tt_status add_long(struct tt_db_tree *tree, const unsigned char *head, size_t head_size,
			  const unsigned char *record, size_t size)
{
	size_t local = local_size(tree->stock, size), all = head_size + local + 4;
	unsigned char *at;
	struct tt_db_patch *patch;
	uint64_t first;

	if (!has_room(tree, all))
		TT_TRY(end_leaf(tree, NULL, 0));
	TT_TRY(add_rest(&first, tree, record + local, size - local));
	patch = TT_VEC_PUSH(&tree->longs);
	if (!patch)
		return tt_fail_nomem();
	at = add_room(tree, all);
	memcpy(at, head, head_size);
	memcpy(at + head_size, record, local);
	memset(at + head_size + local, 0, 4);
	*patch = (struct tt_db_patch){(size_t)(at - tree->page) + all - 4, first};
	return TTNN_OK;
}

tt_status tt_db_tree_row(struct tt_db_tree *tree, int64_t rowid, const unsigned char *record,
			 size_t size)
{
	unsigned char head[20], *end = tt_db_put_varint(head, size);
	size_t head_size, all;
	unsigned char *at;

	end = tt_db_put_varint(end, (uint64_t)rowid);
	head_size = (size_t)(end - head);
	all = head_size + size;
	if (size > tree->stock->page_size - 35) {
		TT_TRY(add_long(tree, head, head_size, record, size));
		tree->rowid = rowid;
		return TTNN_OK;
	}
	if (!has_room(tree, all))
		TT_TRY(end_leaf(tree, NULL, 0));
	at = add_room(tree, all);
	memcpy(at, head, head_size);
	memcpy(at + head_size, record, size);
	tree->rowid = rowid;
	return TTNN_OK;
}

/* ---- entries -------------------------------------------------------------------------------- */

static tt_status hold(struct tt_db_tree *tree, const unsigned char *cell, size_t size)
{
	if (tree->held_room < size) {
		unsigned char *room = tt_realloc(tree->entry, size);

		if (!room)
			return tt_fail_nomem();
		tree->entry = room;
		tree->held_room = size;
	}
	memcpy(tree->entry, cell, size);
	tree->held = size;
	return TTNN_OK;
}

tt_status tt_db_tree_entry(struct tt_db_tree *tree, const unsigned char *record, size_t size)
{
	unsigned char cell[1024], *end = tt_db_put_varint(cell, size);

	if (size > sizeof(cell) - 10)
		return tt_fail(TTNN_INTERNAL, "an entry of %zu bytes", size);
	memcpy(end, record, size);
	size += (size_t)(end - cell);
	tree->most = size > tree->most ? size : tree->most;
	/* One that had no room lies between two leaves, now that something comes behind it. */
	if (tree->held) {
		TT_TRY(end_leaf(tree, tree->entry, tree->held));
		tree->held = 0;
	}
	if (!has_room(tree, size))
		return hold(tree, cell, size);
	add_cell(tree, cell, size);
	return TTNN_OK;
}

/* The last entry of all had no room: the one before it goes between, and it gets a leaf. */
static tt_status end_held(struct tt_db_tree *tree)
{
	size_t size = tree->last;
	unsigned char between[1024];

	memcpy(between, tree->page + tree->content, size);
	tree->content += size;
	tree->pointer -= 2;
	tree->cells--;
	TT_TRY(end_leaf(tree, between, size));
	add_cell(tree, tree->entry, tree->held);
	tree->held = 0;
	return TTNN_OK;
}

tt_status tt_db_tree_end(struct tt_db_tree *tree)
{
	if (tree->held)
		TT_TRY(end_held(tree));
	return tree->leaves.count ? end_leaf(tree, NULL, 0) : TTNN_OK;
}

/* ---- what is above -------------------------------------------------------------------------- */

static void fill_above(struct tt_db_tree *tree, const struct tt_db_child *children, size_t count)
{
	unsigned char cell[1100], *end;

	begin_page(tree, tree->index ? INDEX_ABOVE : TABLE_ABOVE);
	for (size_t i = 0; i + 1 < count; i++) {
		tt_db_put_big(cell, children[i].page, 4);
		if (tree->index) {
			memcpy(cell + 4, tree->between.data + children[i].first, children[i].size);
			end = cell + 4 + children[i].size;
		} else {
			end = tt_db_put_varint(cell + 4, (uint64_t)children[i].rowid);
		}
		add_cell(tree, cell, (size_t)(end - cell));
	}
	tt_db_put_big(tree->page + BELOW, children[count - 1].page, 4);
	end_page(tree);
}

/* Level by level, until one page is above all. Pages of a level get about the same number. */
static tt_status write_levels(struct tt_db_tree *tree, uint32_t root)
{
	struct tt_db_children *level = &tree->leaves;
	size_t cell = 4 + (tree->index ? tree->most : 9);
	size_t most = (tree->stock->page_size - ABOVE) / (cell + 2) + 1;

	while (level->count > 1) {
		size_t count = level->count, pages = (count + most - 1) / most;

		for (size_t i = 0; i < pages; i++) {
			size_t first = count * i / pages, end = count * (i + 1) / pages;
			uint64_t number = root;

			if (pages > 1)
				TT_TRY(new_page(&number, tree->stock));
			fill_above(tree, level->data + first, end - first);
			TT_TRY(write_page(tree->stock, tree->page, number));
			level->data[i] = level->data[end - 1];
			level->data[i].page = number;
		}
		level->count = pages;
	}
	return TTNN_OK;
}

tt_status tt_db_tree_finish(struct tt_db_tree *tree, uint32_t root)
{
	if (tree->leaves.count) {
		for (size_t i = 0; i < tree->leaves.count; i++)
			tree->leaves.data[i].page =
				number_of(tree->stock, tree->leaves.data[i].page);
		return write_levels(tree, root);
	}
	for (size_t i = 0; i < tree->longs.count; i++)
		tt_db_put_big(tree->page + tree->longs.data[i].offset,
			      number_of(tree->stock, tree->longs.data[i].page), 4);
	end_page(tree);
	return write_page(tree->stock, tree->page, root);
}
