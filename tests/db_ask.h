/* db_ask.h: a number out of a database, for tests. */
#ifndef TT_TESTS_DB_ASK_H
#define TT_TESTS_DB_ASK_H

#include "db/db.h"
#include "test.h"

/* The first column of the first row; -1: there is none. */
static inline int64_t ask(struct tt_db *db, const char *sql)
{
	struct tt_db_stmt *select;
	int64_t number = -1;
	bool row = false;

	CHECK_OK(tt_db_prepare(&select, db, sql));
	CHECK_OK(tt_db_next(&row, select));
	if (row)
		number = tt_db_int(select, 0);
	tt_db_stmt_free(select);
	return number;
}

#endif
