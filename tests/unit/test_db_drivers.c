/* Both drivers of databases behind one interface; PostgreSQL where a server is installed. */
#include "base/str.h"
#include "db/db.h"
#include "db/sql_dialect.h"
#include "db_ask.h"
#include "postgres.h"
#include "test.h"

/* Calls a check with each database that there is, fresh. */
static void each(void (*run)(struct tt_db *db, const char *path))
{
	char path[] = "/tmp/ttnn-db-XXXXXX";
	const char *url = postgres_url();
	struct tt_db *db;
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	close(fd);
	for (int i = 0; i < 2; i++) {
		const char *name = i ? url : path;

		if (!name)
			continue;
		CHECK_OK(tt_db_share(&db, name, 1000));
		CHECK_OK(tt_db_exec(db, "drop table if exists t"));
		run(db, name);
		CHECK_OK(tt_db_close(db));
	}
	unlink(path);
}

static void check_values(struct tt_db *db, const char *path)
{
	static const char strange[] = "it's \"?\" \\ \t\n \xc3\xa9";
	struct tt_db_stmt *insert, *select;
	bool row;

	(void)path;
	CHECK_OK(tt_db_exec(db, "create table t (id {id}, n {int}, r {real}, s text)"));
	CHECK_OK(tt_db_prepare(&insert, db,
			       "insert into t (n, r, s) values (?, ?, ?) returning id"));
	tt_db_bind_int(insert, 0, INT64_MAX);
	tt_db_bind_real(insert, 1, 0.1);
	tt_db_bind_text(insert, 2, strange, sizeof(strange) - 1);
	CHECK_OK(tt_db_next(&row, insert));
	CHECK(row);
	CHECK_INT(tt_db_int(insert, 0), 1);
	CHECK_OK(tt_db_next(&row, insert));
	CHECK(!row);
	tt_db_bind_int(insert, 0, -1);
	tt_db_bind_null(insert, 1);
	tt_db_bind_text(insert, 2, "", 0);
	CHECK_OK(tt_db_run(insert));
	tt_db_stmt_free(insert);
	CHECK_OK(tt_db_prepare(&select, db,
			       "select n, r, s, '?' from t where n = ? or n = ? order by id"));
	tt_db_bind_int(select, 0, INT64_MAX);
	tt_db_bind_int(select, 1, -1);
	CHECK_OK(tt_db_next(&row, select));
	CHECK_INT(tt_db_int(select, 0), INT64_MAX);
	CHECK(tt_db_real(select, 1) == 0.1);
	CHECK_STR(tt_db_text(select, 2), strange);
	CHECK_INT(tt_db_length(select, 2), sizeof(strange) - 1);
	CHECK_STR(tt_db_text(select, 3), "?");
	CHECK_OK(tt_db_next(&row, select));
	CHECK(!tt_db_text(select, 1));
	CHECK_STR(tt_db_text(select, 2), "");
	tt_db_stmt_free(select);
	CHECK_FAILS(tt_db_exec(db, "select 1 from nowhere"), TTNN_IO, "nowhere");
	CHECK(!tt_db_away(db));
}

TEST(values_come_back_from_either)
{
	each(check_values);
}

static void check_transactions(struct tt_db *db, const char *path)
{
	struct tt_db_stmt *insert;
	struct tt_db *other;

	CHECK_OK(tt_db_exec(db, "create table t (n {int} unique)"));
	CHECK_OK(tt_db_share(&other, path, 1000));
	CHECK_OK(tt_db_prepare(&insert, db, "insert into t values (?)"));
	CHECK_OK(tt_db_begin(db));
	for (int i = 0; i < 300; i++) {
		tt_db_bind_int(insert, 0, i);
		CHECK_OK(tt_db_run(insert));
	}
	CHECK_INT(ask(db, "select count(*) from t"), 300);
	CHECK_INT(ask(other, "select count(*) from t"), 0);
	CHECK_OK(tt_db_commit(db));
	CHECK_INT(ask(other, "select count(*) from t"), 300);
	/* What breaks a constraint is told by the commit at the latest, and nothing of it stays. */
	CHECK_OK(tt_db_begin(db));
	tt_db_bind_int(insert, 0, 1000);
	CHECK_OK(tt_db_run(insert));
	tt_db_bind_int(insert, 0, 7);
	if (tt_db_run(insert) == TTNN_OK)
		CHECK(tt_db_commit(db) == TTNN_INVALID);
	tt_db_rollback(db);
	CHECK_INT(ask(other, "select count(*) from t"), 300);
	tt_db_stmt_free(insert);
	CHECK_OK(tt_db_close(other));
}

TEST(transactions_are_all_or_nothing)
{
	each(check_transactions);
}

static void check_copy(struct tt_db *db, const char *path)
{
	struct tt_db_stmt *copy;
	char text[64];

	(void)path;
	CHECK_OK(tt_db_exec(db, "create table t (n {int}, r {real}, s text)"));
	CHECK_OK(tt_db_begin(db));
	CHECK_OK(tt_db_copy(&copy, db, "t", "n, r, s"));
	for (int i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "%d\ttab\\N \\. \n\r", i);
		tt_db_bind_int(copy, 0, i);
		tt_db_bind_real(copy, 1, i / 8.0);
		tt_db_bind_text(copy, 2, i % 2 ? text : NULL, strlen(text));
		CHECK_OK(tt_db_run(copy));
	}
	CHECK_OK(tt_db_copy_end(copy));
	CHECK_OK(tt_db_commit(db));
	CHECK_INT(ask(db, "select count(*) from t where s is null"), 2500);
	CHECK_INT(ask(db, "select sum(n) from t"), 5000 * 4999 / 2);
	CHECK_INT(ask(db, "select n from t where s = '4999\ttab\\N \\. \n\r'"), 4999);
}

TEST(many_rows_are_copied)
{
	each(check_copy);
}

static void check_hostile(struct tt_db *db, const char *path)
{
	static const char bytes[] = "a\0b\xff\xc3"; /* a zero byte, and what is no UTF-8 */
	struct tt_db_stmt *insert;
	size_t huge = 4 << 20;
	char *text = malloc(huge);

	memset(text, 'x', huge);
	CHECK_OK(tt_db_exec(db, "create table t (s text)"));
	CHECK_OK(tt_db_prepare(&insert, db, "insert into t values (?)"));
	tt_db_bind_text(insert, 0, bytes, sizeof(bytes) - 1);
	CHECK_OK(tt_db_run(insert));
	tt_db_bind_text(insert, 0, text, huge);
	CHECK_OK(tt_db_run(insert));
	tt_db_stmt_free(insert);
	CHECK_INT(ask(db, "select count(*) from t"), 2);
	CHECK_INT(ask(db, "select max(length(s)) from t"), huge);
	if (tt_db_is_url(path))
		CHECK_INT(ask(db, "select min(length(s)) from t"), 5);
	free(text);
}

TEST(hostile_texts_are_taken)
{
	each(check_hostile);
}

/* The server is stopped and started again: statements go on. */
TEST(a_server_comes_back)
{
	struct tt_db_stmt *insert;
	struct tt_db *db;

	if (!postgres_url())
		return;
	CHECK_OK(tt_db_share(&db, postgres_url(), 1000));
	CHECK_OK(tt_db_exec(db, "drop table if exists t; create table t (n {int})"));
	CHECK_OK(tt_db_prepare(&insert, db, "insert into t values (?)"));
	tt_db_bind_int(insert, 0, 1);
	CHECK_OK(tt_db_run(insert));
	CHECK_INT(postgres_command("stop", ""), 0);
	CHECK(tt_db_run(insert) == TTNN_IO);
	CHECK(tt_db_away(db));
	CHECK(tt_db_reconnect(db) == TTNN_IO);
	CHECK_INT(postgres_command("start", ""), 0);
	CHECK_OK(tt_db_reconnect(db));
	CHECK(!tt_db_away(db));
	CHECK_OK(tt_db_run(insert));
	tt_db_stmt_free(insert);
	CHECK_INT(ask(db, "select count(*) from t"), 2);
	CHECK_OK(tt_db_close(db));
	CHECK_FAILS(tt_db_share(&db, "postgresql://nobody@/nothing?host=/nowhere", 0), TTNN_IO,
		    "nowhere");
}

/* A child that was not told to forget the connection ends nothing of its parent's. */
TEST(a_child_leaves_the_connection_alone)
{
	struct tt_db_stmt *select;
	struct tt_db *db;
	int status = -1;
	bool row;
	pid_t child;

	if (!postgres_url())
		return;
	CHECK_OK(tt_db_share(&db, postgres_url(), 1000));
	CHECK_OK(tt_db_prepare(&select, db, "select 7"));
	child = fork();
	if (child == 0) {
		bool refused = tt_db_exec(db, "select 1") == TTNN_IO;

		tt_db_stmt_free(select);
		tt_db_discard(db);
		_exit(refused ? 0 : 1);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK_OK(tt_db_next(&row, select));
	CHECK_INT(tt_db_int(select, 0), 7);
	tt_db_stmt_free(select);
	CHECK_OK(tt_db_close(db));
}

TEST(passwords_are_refused_and_hidden)
{
	static const char *const bad[] = {
		"postgresql://user:secret@host/db", "postgres://user:@host/db",
		"POSTGRESQL://u:se@cret@host/db",   "postgresql:///db?host=x&password=secret",
		"postgresql:///db?passw%6Frd=s",    "postgresql:///db?sslpassword=secret",
		"postgresql://u:se?cret@host/db",   "postgresql://u:se#cret@host/db",
		"postgresql://u:se/cret@host/db",   "postgresql:///db?a=b&scram_client_key=secret"};
	static const char *const good[] = {"postgresql://user@host:5432/db",
					   "postgresql://[::1]:5/db",
					   "postgresql://host:5432/d@b?user=a:b",
					   "postgresql://a:1,b:2/db?x=@",
					   "postgresql://host",
					   "postgresql:///db?host=/tmp/a:b@c&user=password",
					   "a:b@c.sqlite",
					   "results.sqlite"};
	char text[] = "in postgresql://u:secret@h/db or password=secret with hush, at "
		      "postgresql://h: a@b";

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		CHECK_FAILS(tt_db_check_url(bad[i]), TTNN_INVALID, "PGPASSWORD");
		CHECK(!strstr(ttnn_error(), "secret"));
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		CHECK_OK(tt_db_check_url(good[i]));
	setenv("PGPASSWORD", "hush", 1);
	tt_db_redact(text);
	unsetenv("PGPASSWORD");
	CHECK_STR(text, "in postgresql://u:******@h/db or password=****** with ****, at "
			"postgresql://h: a@b");
}

TEST(words_that_no_dialect_knows_are_told)
{
	struct tt_str text = {0};

	CHECK_FAILS(tt_dialect_expand(&text, "select {nonsense}", TT_DB_SQLITE), TTNN_INTERNAL,
		    "nonsense");
	tt_str_deinit(&text);
}
