/*
 * stmt.h: what the files of db/ share: the structs behind db.h, and what a driver is.
 */
#ifndef TT_DB_STMT_H
#define TT_DB_STMT_H

#include <sqlite3.h>

#include "db/db.h"
#include "db/sql_dialect.h"

/* Statements have at most so many parameters. */
#define TT_DB_PARAMETERS 32

enum tt_db_kind { TT_DB_NULL, TT_DB_INT, TT_DB_REAL, TT_DB_TEXT };

/* A parameter; all zero is NULL. */
struct tt_db_value {
	enum tt_db_kind kind;
	union {
		int64_t whole;
		double real;
		size_t length;
	};
	const char *text; /* borrowed */
};

struct tt_db_load;
struct tt_db_filled;

struct tt_pg;
struct tt_pg_result;

/* One kind of databases. Functions are those of db.h; SQL is in its words already. */
struct tt_db_driver {
	enum tt_db_dialect dialect;
	tt_status (*exec)(struct tt_db *db, const char *sql);
	tt_status (*begin)(struct tt_db *db);
	tt_status (*commit)(struct tt_db *db);
	void (*rollback)(struct tt_db *db);
	void (*close)(struct tt_db *db); /* also of one that could not be opened */
	tt_status (*reconnect)(struct tt_db *db);
	void (*forget)(struct tt_db *db);
	tt_status (*prepare)(struct tt_db_stmt *stmt, const char *sql); /* tells stmt->count */
	void (*release)(struct tt_db_stmt *stmt); /* also of one that could not be prepared */
	tt_status (*write)(struct tt_db_stmt *stmt, const struct tt_db_value *values);
	tt_status (*next)(bool *row, struct tt_db_stmt *stmt);
	const char *(*text)(struct tt_db_stmt *stmt, int column);
	size_t (*length)(struct tt_db_stmt *stmt, int column);
	int64_t (*whole)(struct tt_db_stmt *stmt, int column);
	double (*real)(struct tt_db_stmt *stmt, int column);
	void (*reset)(struct tt_db_stmt *stmt);
	tt_status (*copy_begin)(struct tt_db_stmt *stmt, const char *sql);
	tt_status (*copy_end)(struct tt_db_stmt *stmt);
};

extern const struct tt_db_driver tt_db_sqlite, tt_db_pg;

struct tt_db {
	const struct tt_db_driver *driver;
	sqlite3 *handle;  /* of SQLite */
	struct tt_pg *pg; /* of PostgreSQL */
	bool away;        /* the last failure was that */
	char *path;
	struct tt_db_load *load; /* (optional) rows are written by another thread */
	bool loading;            /* in the one transaction of tt_db_create() */
	bool given_up;           /* rows that are not written yet are dropped */
};

struct tt_db_stmt {
	struct tt_db *db;
	sqlite3_stmt *handle; /* of SQLite */
	char *sql;            /* of PostgreSQL, as these are */
	unsigned name, session;
	void *result;
	int row;
	bool copying;
	struct tt_db_filled *fill; /* (optional) takes the rows instead of SQLite */
	int count;                 /* of parameters */
	bool beyond;               /* a value was given for parameter `wrong`, which is none */
	int wrong;
	struct tt_db_value values[TT_DB_PARAMETERS], nowhere;
};

/* Runs a statement with these values to its end, on this thread. */
tt_status tt_db_write(struct tt_db_stmt *stmt, const struct tt_db_value *values);

/* Opens the file of db->path, with flags of SQLite. */
tt_status tt_db_sqlite_open(struct tt_db *db, int flags, int wait_ms);

/* Connects to the database of db->path. */
tt_status tt_db_pg_open(struct tt_db *db);

/* ---- fill.c ------------------------------------------------------------------------------------- */

/* Takes a copy of the values of a row. */
tt_status tt_db_fill_add(struct tt_db_filled *filled, const struct tt_db_value *values);

/* ---- load.c: rows on their way to the thread that writes them ------------------------------------ */

tt_status tt_db_load_new(struct tt_db_load **out);

/* Takes a copy of the statement's values. Failures may be those of rows before. */
tt_status tt_db_load_add(struct tt_db_load *load, struct tt_db_stmt *stmt);

/*
 * Waits until all rows are written: afterwards the database is the caller's own. A failure is kept and
 * told by every later call.
 */
tt_status tt_db_load_drain(struct tt_db_load *load);

/* Waits as well, and forgets rows that are not written yet. Fails not. */
void tt_db_load_drop(struct tt_db_load *load);

/* Ends the thread; rows that are not written yet are dropped. NULL is fine. */
void tt_db_load_free(struct tt_db_load *load);

#endif
