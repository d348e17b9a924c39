/* filling a database behind the caller's back. @threads */
#include "db/db.h"

#include "base/file.h"
#include "db_ask.h"

#define ROWS 60000

static tt_status open_two(struct tt_db **db, struct tt_db_stmt **a, struct tt_db_stmt **b,
			  const char *path)
{
	remove(path);
	TT_TRY(tt_db_create(db, path, 4096));
	TT_TRY(tt_db_exec(*db, "create table a (n int unique, t text, r real, x);"
			       "create table b (n int)"));
	TT_TRY(tt_db_prepare(a, *db, "insert into a values (?, ?, ?, ?)"));
	return tt_db_prepare(b, *db, "insert into b values (?)");
}

static tt_status add(struct tt_db_stmt *stmt, int64_t n, const char *text, size_t length)
{
	tt_db_bind_int(stmt, 0, n);
	tt_db_bind_text(stmt, 1, text, length);
	tt_db_bind_real(stmt, 2, (double)n / 2);
	tt_db_bind_null(stmt, 3);
	return tt_db_run(stmt);
}

TEST(rows_arrive_in_their_order)
{
	const char *path = test_path("rows.sqlite");
	size_t large = (size_t)3 << 20; /* more than is kept on the way */
	char *huge = calloc(1, large), text[64];
	struct tt_db_stmt *a, *b;
	struct tt_db *db;

	memset(huge, 'h', large);
	CHECK_OK(open_two(&db, &a, &b, path));
	for (int64_t i = 0; i < ROWS; i++) {
		int length = snprintf(text, sizeof(text), "row %d", (int)i);

		CHECK_OK(add(a, i, i == 777 ? huge : text, i == 777 ? large : (size_t)length));
		memset(text, 'z', sizeof(text)); /* it is the caller's again */
		tt_db_bind_int(b, 0, ROWS - i);
		CHECK_OK(tt_db_run(b));
		if (i == ROWS / 2)
			CHECK_INT(ask(db, "select count(*) from a"), i + 1);
	}
	CHECK_OK(tt_db_flush(db));
	tt_db_stmt_free(a);
	tt_db_stmt_free(b);
	CHECK_OK(tt_db_close(db));
	free(huge);
	CHECK_OK(tt_db_open(&db, path));
	CHECK_INT(
		ask(db, "select count(*) from a where n = rowid - 1 and r = n / 2.0 and x is null"),
		ROWS);
	CHECK_INT(ask(db, "select count(*) from a where t = 'row ' || n"), ROWS - 1);
	CHECK_INT(ask(db, "select length(t) from a where n = 777"), (long long)large);
	CHECK_INT(ask(db, "select count(*) from b where n = 60001 - rowid"), ROWS);
	tt_db_discard(db);
	remove(path);
}

/* Told by whatever comes next, at the latest by the end; nothing hangs. */
TEST(a_failure_on_the_way_is_told)
{
	const char *path = test_path("failure.sqlite");
	struct tt_db_stmt *a, *b;
	tt_status status = TTNN_OK;
	struct tt_db *db;

	for (int early = 0; early < 2; early++) {
		CHECK_OK(open_two(&db, &a, &b, path));
		for (int64_t i = 0; status == TTNN_OK && i < (early ? 2 : ROWS); i++)
			status = add(a, i == 1 ? 0 : i, "t", 1);
		if (status == TTNN_OK)
			status = tt_db_flush(db);
		CHECK_FAILS(status, TTNN_INVALID, "UNIQUE constraint failed: a.n");
		status = TTNN_OK;
		tt_db_stmt_free(a);
		tt_db_stmt_free(b);
		tt_db_discard(db);
		remove(path);
	}
}

/* Nobody flushes, nobody asks: rows are written all the same, and the end tells what failed. */
TEST(freed_statements_write_their_rows)
{
	static const int64_t counts[] = {2, ROWS}; /* by the caller, by the thread */
	const char *path = test_path("freed.sqlite");
	struct tt_db_stmt *a, *b;
	struct tt_db *db;

	for (int i = 0; i < 2; i++) {
		CHECK_OK(open_two(&db, &a, &b, path));
		for (int64_t n = 0; n < counts[i]; n++)
			CHECK_OK(add(a, n, "t", 1));
		tt_db_stmt_free(a);
		tt_db_stmt_free(b);
		CHECK_OK(tt_db_close(db));
		CHECK_OK(tt_db_open(&db, path));
		CHECK_INT(ask(db, "select count(*) from a"), counts[i]);
		tt_db_discard(db);

		CHECK_OK(open_two(&db, &a, &b, path));
		for (int64_t n = 0; n < counts[i]; n++)
			if (add(a, n == 1 ? 0 : n, "t", 1) != TTNN_OK)
				break;
		tt_db_stmt_free(a);
		tt_db_stmt_free(b);
		CHECK_FAILS(tt_db_close(db), TTNN_INVALID, "UNIQUE constraint failed: a.n");
		remove(path);
	}
}

TEST(parameters_that_are_none_are_told)
{
	static const int wrong[] = {-1, 1, 1000};
	const char *path = test_path("beyond.sqlite");
	struct tt_db_stmt *a, *b;
	struct tt_db *db;
	bool row;

	CHECK_OK(open_two(&db, &a, &b, path));
	for (int i = 0; i < 3; i++) {
		tt_db_bind_int(b, 0, i);
		tt_db_bind_int(b, wrong[i], 7);
		CHECK_FAILS(tt_db_run(b), TTNN_INTERNAL, "of a statement with 1");
		tt_db_bind_null(b, wrong[i]);
		CHECK_FAILS(tt_db_next(&row, b), TTNN_INTERNAL, "of a statement with 1");
	}
	CHECK_OK(tt_db_run(b));
	tt_db_stmt_free(a);
	tt_db_stmt_free(b);
	CHECK_INT(ask(db, "select count(*) from b where n = 2"), 1);
	CHECK_INT(ask(db, "select count(*) from b"), 1);
	CHECK_OK(tt_db_close(db));
	remove(path);
}

TEST(giving_up_leaves_rows_unwritten)
{
	const char *path = test_path("given_up.sqlite");
	struct tt_db_stmt *a, *b;
	struct tt_db *db;

	/* One that fails too: it is never tried. */
	CHECK_OK(open_two(&db, &a, &b, path));
	for (int64_t i = 0; i < 3; i++)
		CHECK_OK(add(a, i / 2, "t", 1));
	tt_db_give_up(db);
	tt_db_stmt_free(a);
	tt_db_stmt_free(b);
	CHECK_INT(ask(db, "select count(*) from a"), 0);
	tt_db_discard(db);
	/* With the thread at work at least those that it never got are missing. */
	CHECK_OK(open_two(&db, &a, &b, path));
	for (int64_t i = 0; i < ROWS; i++)
		CHECK_OK(add(a, i, "t", 1));
	tt_db_give_up(db);
	tt_db_stmt_free(a);
	tt_db_stmt_free(b);
	CHECK(ask(db, "select count(*) from a") < ROWS);
	tt_db_discard(db);
	remove(path);
}

SCENARIO(filling)
{
	const char *path = test_path("s.sqlite");
	struct tt_db_stmt *a = NULL, *b = NULL;
	struct tt_db *db = NULL;
	tt_status status = open_two(&db, &a, &b, path);

	for (int64_t i = 0; status == TTNN_OK && i < 100; i++)
		status = add(a, i, "t", 1);
	if (status != TTNN_OK)
		tt_db_give_up(db);
	tt_db_stmt_free(a);
	tt_db_stmt_free(b);
	if (status == TTNN_OK)
		status = tt_db_close(db);
	else
		tt_db_discard(db);
	remove(path);
	return status;
}

/* ---- shared files ---------------------------------------------------------------------------- */

TEST(a_shared_file_has_transactions_and_real_numbers)
{
	const char *path = test_path("shared.sqlite");
	struct tt_db *one, *other;
	struct tt_db_stmt *stmt;
	bool row;

	CHECK_OK(tt_db_share(&one, path, 1000));
	CHECK_OK(tt_db_share(&other, path, 50));
	CHECK_OK(tt_db_exec(one, "create table a (r real, t text)"));
	CHECK_OK(tt_db_begin(one));
	CHECK_OK(tt_db_prepare(&stmt, one, "insert into a values (?, ?)"));
	tt_db_bind_real(stmt, 0, 0.1);
	tt_db_bind_text(stmt, 1, "two words", 9);
	CHECK_OK(tt_db_run(stmt));
	tt_db_stmt_free(stmt);
	/* Others see nothing of it yet, and a second writer gives up after its time. */
	CHECK_INT(ask(other, "select count(*) from a"), 0);
	CHECK_FAILS(tt_db_begin(other), TTNN_IO, "locked");
	CHECK_OK(tt_db_commit(one));
	CHECK_INT(ask(other, "select count(*) from a"), 1);
	CHECK_OK(tt_db_begin(other));
	CHECK_OK(tt_db_exec(other, "delete from a"));
	tt_db_rollback(other);
	tt_db_rollback(other); /* again: nothing */
	CHECK_OK(tt_db_prepare(&stmt, one, "select r, t from a"));
	CHECK_OK(tt_db_next(&row, stmt));
	CHECK(row && tt_db_real(stmt, 0) == 0.1);
	CHECK_INT(tt_db_length(stmt, 1), 9);
	tt_db_reset(stmt);
	CHECK_OK(tt_db_next(&row, stmt));
	CHECK(row);
	tt_db_stmt_free(stmt);
	CHECK_OK(tt_db_close(one));
	CHECK_OK(tt_db_close(other));
}
