/* tables written as pages: SQLite must see what it would have written itself. */
#include "db/bulk.h"

#include <inttypes.h>

#include "db_ask.h"

#define COLUMNS 4

static const struct tt_db_bulk_table indexed = {"a", COLUMNS, "i", 1};
static const struct tt_db_bulk_table bare = {"a", COLUMNS, NULL, 0};

/* Values around the limits of each size of integers, and any. */
static int64_t value(uint64_t *state)
{
	uint64_t random = test_random(state);
	uint64_t edge = (uint64_t)1 << random % 64;

	switch (random >> 8 & 3) {
	case 0:
		return (int64_t)(random >> 10 & 3);
	case 1:
		return (int64_t)((random & 64 ? edge : 0 - edge) + (random >> 10 & 1));
	case 2:
		return (int64_t)(test_random(state) >> random % 64);
	default:
		return (int64_t)test_random(state);
	}
}

static void make_row(int64_t *row, uint64_t *state)
{
	for (int i = 0; i < COLUMNS; i++)
		row[i] = value(state);
	row[1] = row[1] % 50; /* many rows of a key, in no order */
}

/* A file with the empty table "a", and "b" with the rows as SQLite stores them. */
static void create(const char *path, unsigned page_size, bool index, int64_t rows)
{
	struct tt_db_stmt *insert;
	uint64_t state = (uint64_t)rows + 1;
	int64_t row[COLUMNS];
	struct tt_db *db;

	remove(path);
	CHECK_OK(tt_db_create(&db, path, page_size));
	CHECK_OK(tt_db_exec(db, "create table a (k int, l int, m int, n int);"
				"create table b (k int, l int, m int, n int)"));
	if (index)
		CHECK_OK(tt_db_exec(db, "create index i on a (l)"));
	CHECK_OK(tt_db_prepare(&insert, db, "insert into b values (?, ?, ?, ?)"));
	for (int64_t r = 0; r < rows; r++) {
		make_row(row, &state);
		for (int i = 0; i < COLUMNS; i++)
			tt_db_bind_int(insert, i, row[i]);
		CHECK_OK(tt_db_run(insert));
	}
	tt_db_stmt_free(insert);
	CHECK_OK(tt_db_close(db));
}

static void fill(const char *path, bool index, int64_t rows)
{
	uint64_t state = (uint64_t)rows + 1;
	struct tt_db_bulk *bulk;
	int64_t row[COLUMNS];

	CHECK_OK(tt_db_bulk_open(&bulk, path, index ? &indexed : &bare));
	CHECK(bulk);
	for (int64_t r = 0; bulk && r < rows; r++) {
		make_row(row, &state);
		CHECK_OK(tt_db_bulk_add(bulk, row));
	}
	CHECK_OK(tt_db_bulk_close(bulk));
}

static void check(const char *path, bool index, int64_t rows)
{
	struct tt_db *db;

	CHECK_OK(tt_db_open(&db, path));
	CHECK_INT(ask(db, "select integrity_check = 'ok' from pragma_integrity_check"), 1);
	CHECK_INT(ask(db, "select count(*) from a"), rows);
	CHECK_INT(ask(db, "select count(*) from a join b on a.rowid = b.rowid and a.k = b.k and"
			  " a.l = b.l and a.m = b.m and a.n = b.n"),
		  rows);
	CHECK_INT(
		ask(db,
		    "select count(*) from (select rowid r, lag(rowid) over () p from a not indexed)"
		    " where r <= p"),
		0);
	if (index)
		CHECK_INT(ask(db, "select count(*) from (select l, count(*) c from a indexed by i"
				  " group by l) join (select l, count(*) c from b group by l)"
				  " using (l, c)"),
			  ask(db, "select count(distinct l) from b"));
	tt_db_discard(db);
}

TEST(rows_are_as_sqlite_writes_them)
{
	static const int64_t counts[] = {0, 1, 2, 15, 40, 41, 300, 5000, 40000};
	static const unsigned sizes[] = {1024, 4096, 32768, 65536};
	const char *path = test_path("bulk.sqlite");

	for (size_t i = 0; i < 4; i++)
		for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++)
			for (int index = 0; index < 2; index++) {
				create(path, sizes[i], index, counts[k]);
				fill(path, index, counts[k]);
				check(path, index, counts[k]);
			}
	remove(path);
}

/* Every number of rows around the first pages: none is left without entries. */
TEST(pages_split_anywhere)
{
	const char *path = test_path("bulk.sqlite");

	for (int64_t rows = 20; rows < 160; rows++) {
		create(path, 1024, true, rows);
		fill(path, true, rows);
		check(path, true, rows);
	}
	remove(path);
}

TEST(sqlite_goes_on_with_the_file)
{
	const char *path = test_path("bulk.sqlite");
	struct tt_db *db;

	create(path, 1024, true, 3000);
	fill(path, true, 3000);
	CHECK_OK(tt_db_create(&db, path, 1024));
	CHECK_OK(tt_db_exec(db,
			    "insert into a select * from a; delete from a where rowid % 3 = 0;"
			    "insert into b select * from b; delete from b where rowid % 3 = 0"));
	CHECK_OK(tt_db_close(db));
	check(path, true, 4000);
	remove(path);
}

TEST(what_is_not_plain_is_left_to_sqlite)
{
	static const char *const changes[] = {
		"insert into a values (1, 2, 3, 4)",
		"create index other on a (k)",
		"drop index i",
		"drop table a",
	};
	const char *path = test_path("bulk.sqlite");
	struct tt_db_bulk *bulk;
	struct tt_db *db;

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		create(path, 4096, true, 3);
		CHECK_OK(tt_db_create(&db, path, 4096));
		CHECK_OK(tt_db_exec(db, changes[i]));
		CHECK_OK(tt_db_close(db));
		CHECK_OK(tt_db_bulk_open(&bulk, path, &indexed));
		CHECK(!bulk);
		tt_db_bulk_discard(bulk);
	}
	remove(path);
	CHECK_FAILS(tt_db_bulk_open(&bulk, path, &indexed), TTNN_NOTFOUND, "bulk.sqlite");
	CHECK_OK(tt_db_bulk_close(NULL));
}

SCENARIO(filling_pages)
{
	const char *path = test_path("s.sqlite");
	struct tt_db_bulk *bulk = NULL;
	struct tt_db *db = NULL;
	tt_status status;

	remove(path);
	status = tt_db_create(&db, path, 1024);
	if (status == TTNN_OK)
		status = tt_db_exec(db, "create table a (k int, l int, m int, n int);"
					"create index i on a (l)");
	if (status == TTNN_OK)
		status = tt_db_close(db);
	else
		tt_db_discard(db);
	if (status == TTNN_OK)
		status = tt_db_bulk_open(&bulk, path, &indexed);
	for (int64_t i = 0; status == TTNN_OK && i < 2000; i++)
		status = tt_db_bulk_add(bulk, (int64_t[]){i, i % 7, -i, 1});
	if (status == TTNN_OK)
		status = tt_db_bulk_close(bulk);
	else
		tt_db_bulk_discard(bulk);
	remove(path);
	return status;
}
