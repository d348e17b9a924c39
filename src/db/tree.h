/*
 * tree.h: the pages of a table or an index, written without SQLite (fill.c). Their leaves come while rows do and
 * go to a stock of pages, which has no numbers yet: what is above them is written when the stock has become the end
 * of a file.
 */
#ifndef TT_DB_TREE_H
#define TT_DB_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/vec.h"

/* Bytes of the header of a file. */
#define TT_DB_HEADER 100

/* A page number to be written into a page, both by their places in the stock. */
struct tt_db_patch {
	uint64_t offset, page;
};

/* Pages on their way. */
struct tt_db_stock {
	uint32_t page_size;
	const char *directory; /* borrowed */
	int fd;                /* + 1, of a file without a name; 0: none yet */
	uint64_t count;
	TT_VEC(struct tt_db_patch) patches;
	/* Of the file that they become part of. */
	int file;
	const char *path;
	uint32_t before, pages; /* pages that were there; with those written so far */
};

/* A page that needs one above it, and the entry that comes behind its own: in `between`, or a rowid. */
struct tt_db_child {
	uint64_t page; /* in the stock; of those above leaves: its number */
	int64_t rowid;
	size_t first, size;
};

struct tt_db_children {
	struct tt_db_child *data;
	size_t count, room;
};

struct tt_db_tree {
	struct tt_db_stock *stock;
	bool index;
	unsigned char *page;            /* being filled */
	size_t cells, pointer, content; /* how many; where the next offset goes; the last begins */
	size_t last;                    /* bytes of the last cell */
	int64_t rowid;                  /* of that */
	size_t held, held_room;         /* bytes of a cell that has no room; of `entry` */
	unsigned char *entry;
	size_t most; /* bytes of the largest cell of an index */
	struct tt_db_children leaves;
	TT_VEC(unsigned char) between;
	TT_VEC(struct tt_db_patch)
	longs; /* of the page being filled: where it leads to rests of rows */
};

tt_status tt_db_tree_init(struct tt_db_tree *tree, struct tt_db_stock *stock, bool index);

/* A row of a table, whose rowids grow. The record is of any length. */
tt_status tt_db_tree_row(struct tt_db_tree *tree, int64_t rowid, const unsigned char *record,
			 size_t size);

/* An entry of an index, in order, of at most some hundred bytes. */
tt_status tt_db_tree_entry(struct tt_db_tree *tree, const unsigned char *record, size_t size);

/* Puts the last leaf into the stock, unless it is the only one. */
tt_status tt_db_tree_end(struct tt_db_tree *tree);

/* The stock becomes the end of a file of so many pages. The path is for messages. */
tt_status tt_db_stock_pour(struct tt_db_stock *stock, int file, const char *path, uint32_t pages);

/* What is above the leaves; the topmost page is `root`. */
tt_status tt_db_tree_finish(struct tt_db_tree *tree, uint32_t root);

void tt_db_tree_deinit(struct tt_db_tree *tree);
void tt_db_stock_deinit(struct tt_db_stock *stock);

#endif
