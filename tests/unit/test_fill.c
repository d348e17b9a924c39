/* tables filled without SQLite: it must see what it would have written itself. */
#include "db/fill.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "db_ask.h"

#define COLUMNS 4

/* The same rows go to each of them, and by SQLite to "b". */
static const struct tt_db_fill_table tables[] = {
	{.name = "a",
	 .width = COLUMNS,
	 .index_count = 1,
	 .indexes = {{.name = "i", .count = 1, .columns = {1}}}},
	{.name = "bare", .width = COLUMNS},
	{.name = "numbered",
	 .width = COLUMNS,
	 .numbered = true,
	 .index_count = 1,
	 .indexes = {{.name = "sqlite_autoindex_numbered_1", .count = 2, .columns = {2, 3}}}},
	{.name = "keyed",
	 .width = COLUMNS,
	 .keyed = true,
	 .index_count = 2,
	 .indexes = {{.name = "some",
		      .count = 4,
		      .columns = {1, 2, 3, 0},
		      .some = true,
		      .where = 1,
		      .is = 7},
		     {.name = "every", .count = 4, .columns = {1, 2, 3, 0}}}},
	{.name = "texts", .width = COLUMNS},
};
#define TABLES (sizeof(tables) / sizeof(tables[0]))

static const char schema[] =
	"create table b (k int, l int, m int, n int);"
	"create table a (k int, l int, m int, n int); create index i on a (l);"
	"create table bare (k int, l int, m int, n int);"
	"create table numbered (k integer primary key, l int, m int, n int, unique (m, n));"
	"create table keyed (k int, l int, m int, n int, primary key (k, l, m, n)) without rowid;"
	"create index some on keyed (l, m, n, k) where l = 7;"
	"create index every on keyed (l, m, n, k);"
	"create table texts (k text, l float, m int, n text);"
	"create table b_texts (k text, l float, m int, n text)";

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

/* Many rows of a key, in no order; what is unique is. */
static void bind_row(struct tt_db_stmt *insert, int64_t at, uint64_t *state, bool numbered)
{
	int64_t first = value(state);

	tt_db_bind_int(insert, 0, numbered ? 3 * at + 1 : first);
	tt_db_bind_int(insert, 1, value(state) % 50);
	tt_db_bind_int(insert, 2, value(state));
	tt_db_bind_int(insert, 3, at);
}

/* Texts of all lengths, up to some pages, NULL and reals. */
static void bind_texts(struct tt_db_stmt *insert, uint64_t *state, char *text, size_t room)
{
	uint64_t random = test_random(state);
	size_t length = random % 8 == 0 ? random / 8 % room : random / 8 % 40;

	memset(text, 'a' + (int)(random % 26), room);
	tt_db_bind_text(insert, 0, text, length);
	tt_db_bind_real(insert, 1, (double)(random % 1000) / 8);
	if (random & 64)
		tt_db_bind_null(insert, 2);
	else
		tt_db_bind_int(insert, 2, (int64_t)random);
	tt_db_bind_text(insert, 3, random & 128 ? NULL : text, random % 200);
}

static void add_rows(struct tt_db_stmt *insert, int64_t rows, bool numbered)
{
	uint64_t state = (uint64_t)rows + 1;

	for (int64_t r = 0; r < rows; r++) {
		bind_row(insert, r, &state, numbered);
		CHECK_OK(tt_db_run(insert));
	}
	tt_db_stmt_free(insert);
}

static void add_texts(struct tt_db_stmt *insert, int64_t rows, unsigned page_size)
{
	char *text = tt_alloc((size_t)4 * page_size);
	uint64_t state = 5;

	for (int64_t r = 0; text && r < rows && r < 500; r++) {
		bind_texts(insert, &state, text, (size_t)4 * page_size);
		CHECK_OK(tt_db_run(insert));
	}
	tt_db_stmt_free(insert);
	tt_free(text);
}

static void create(const char *path, unsigned page_size, int64_t rows)
{
	struct tt_db_fill *fill;
	struct tt_db_stmt *insert;
	struct tt_db *db;

	remove(path);
	CHECK_OK(tt_db_create(&db, path, page_size));
	CHECK_OK(tt_db_exec(db, schema));
	CHECK_OK(tt_db_fill_new(&fill, ".", page_size));
	CHECK_OK(tt_db_prepare(&insert, db, "insert into b values (?, ?, ?, ?)"));
	add_rows(insert, rows, false);
	CHECK_OK(tt_db_prepare(&insert, db, "insert into b_texts values (?, ?, ?, ?)"));
	add_texts(insert, rows, page_size);
	for (size_t i = 0; i + 1 < TABLES; i++) {
		CHECK_OK(tt_db_fill_stmt(&insert, db, fill, &tables[i]));
		add_rows(insert, rows, tables[i].numbered);
	}
	CHECK_OK(tt_db_fill_stmt(&insert, db, fill, &tables[TABLES - 1]));
	add_texts(insert, rows, page_size);
	CHECK_OK(tt_db_close(db));
	CHECK_OK(tt_db_fill_finish(fill, path));
	tt_db_fill_free(fill);
}

static void check(const char *path, int64_t rows)
{
	struct tt_db *db;

	CHECK_OK(tt_db_open(&db, path));
	CHECK_INT(ask(db, "select integrity_check = 'ok' from pragma_integrity_check"), 1);
	CHECK_INT(ask(db, "select count(*) from a"), rows);
	CHECK_INT(ask(db, "select count(*) from a join b on a.rowid = b.rowid and a.k = b.k and"
			  " a.l = b.l and a.m = b.m and a.n = b.n"),
		  rows);
	CHECK_INT(ask(db, "select count(*) from bare a join b on a.rowid = b.rowid and a.k = b.k"
			  " and a.l = b.l and a.m = b.m and a.n = b.n"),
		  rows);
	CHECK_INT(ask(db, "select count(*) from numbered a join b on a.k = 3 * b.n + 1 and"
			  " a.l = b.l and a.m = b.m and a.n = b.n"),
		  rows);
	CHECK_INT(ask(db, "select count(*) from (select k, l, m, n from keyed intersect"
			  " select k, l, m, n from b)"),
		  rows);
	CHECK_INT(ask(db, "select count(*) from keyed indexed by some where l = 7"),
		  ask(db, "select count(*) from b where l = 7"));
	CHECK_INT(
		ask(db,
		    "select count(*) from (select rowid r, lag(rowid) over () p from a not indexed)"
		    " where r <= p"),
		0);
	CHECK_INT(ask(db, "select count(*) from (select l, count(*) c from a indexed by i"
			  " group by l) join (select l, count(*) c from b group by l)"
			  " using (l, c)"),
		  ask(db, "select count(distinct l) from b"));
	CHECK_INT(ask(db, "select count(*) from texts a join b_texts b on a.rowid = b.rowid and"
			  " a.k is b.k and a.l = b.l and a.m is b.m and a.n is b.n and"
			  " typeof(a.l) = typeof(b.l)"),
		  rows < 500 ? rows : 500);
	tt_db_discard(db);
}

TEST(rows_are_as_sqlite_writes_them)
{
	static const int64_t counts[] = {0, 1, 2, 15, 40, 41, 300, 5000, 40000};
	static const unsigned sizes[] = {1024, 4096, 32768, 65536};
	const char *path = test_path("fill.sqlite");

	for (size_t i = 0; i < 4; i++)
		for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
			create(path, sizes[i], counts[k]);
			check(path, counts[k]);
		}
	remove(path);
}

/* Every number of rows around the first pages: none is left without entries. */
TEST(pages_split_anywhere)
{
	const char *path = test_path("fill.sqlite");

	for (int64_t rows = 20; rows < 160; rows++) {
		create(path, 1024, rows);
		check(path, rows);
	}
	remove(path);
}

/* More than is sorted at once, in parts that lie apart and in parts that do not. */
TEST(many_rows_are_sorted_on_disk)
{
	const char *path = test_path("fill.sqlite");

	create(path, 32768, 200000);
	check(path, 200000);
	remove(path);
}

TEST(sqlite_goes_on_with_the_file)
{
	const char *path = test_path("fill.sqlite");
	struct tt_db *db;

	create(path, 1024, 3000);
	CHECK_OK(tt_db_create(&db, path, 1024));
	CHECK_OK(tt_db_exec(db, "insert into a select * from a; delete from a where rowid % 3 = 0;"
				"update numbered set l = l + 1 where k % 2 = 0;"
				"delete from keyed where n % 5 = 0"));
	CHECK_INT(ask(db, "select count(*) from a"), 4000);
	CHECK_INT(ask(db, "select integrity_check = 'ok' from pragma_integrity_check"), 1);
	CHECK_OK(tt_db_close(db));
	remove(path);
}

TEST(what_cannot_be_filled_is_told)
{
	static const struct tt_db_fill_table none = {.name = "none", .width = 1};
	const char *path = test_path("fill.sqlite");
	struct tt_db_fill *fill;
	struct tt_db_stmt *insert;
	struct tt_db *db;

	remove(path);
	CHECK_OK(tt_db_fill_new(&fill, ".", 4096));
	CHECK_OK(tt_db_create(&db, path, 4096));
	CHECK_OK(tt_db_exec(db, "create table a (k int)"));
	CHECK_OK(tt_db_fill_stmt(&insert, db, fill, &none));
	tt_db_bind_int(insert, 0, 1);
	CHECK_OK(tt_db_run(insert));
	tt_db_bind_int(insert, 1, 1);
	CHECK_FAILS(tt_db_run(insert), TTNN_INTERNAL, "parameter 1");
	tt_db_stmt_free(insert);
	CHECK_OK(tt_db_close(db));
	CHECK_FAILS(tt_db_fill_finish(fill, path), TTNN_INTERNAL, "there is no none to be filled");
	tt_db_fill_free(fill);
	remove(path);
	CHECK_OK(tt_db_fill_new(&fill, ".", 4096));
	CHECK_FAILS(tt_db_fill_finish(fill, path), TTNN_NOTFOUND, "fill.sqlite");
	tt_db_fill_free(fill);
	tt_db_fill_free(NULL);
}

SCENARIO(filling_tables)
{
	const char *path = test_path("s.sqlite");
	struct tt_db_fill *fill = NULL;
	struct tt_db_stmt *insert = NULL;
	struct tt_db *db = NULL;
	tt_status status;

	remove(path);
	status = tt_db_create(&db, path, 1024);
	if (status == TTNN_OK)
		status = tt_db_exec(db, schema);
	if (status == TTNN_OK)
		status = tt_db_fill_new(&fill, ".", 1024);
	if (status == TTNN_OK)
		status = tt_db_fill_stmt(&insert, db, fill, &tables[0]);
	for (int64_t i = 0; status == TTNN_OK && i < 2000; i++) {
		for (int k = 0; k < COLUMNS; k++)
			tt_db_bind_int(insert, k, i * (k - 1) % 77);
		status = tt_db_run(insert);
	}
	tt_db_stmt_free(insert);
	if (status == TTNN_OK)
		status = tt_db_close(db);
	else
		tt_db_discard(db);
	if (status == TTNN_OK)
		status = tt_db_fill_finish(fill, path);
	tt_db_fill_free(fill);
	remove(path);
	return status;
}
