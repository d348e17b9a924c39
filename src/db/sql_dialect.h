/*
 * sql_dialect.h: what SQLite and PostgreSQL say differently. Callers of db.h write it as words in braces, "{now}"; the rows of
 * sql_dialect.c are all of them. Everything else is SQL that both understand: "insert ... on conflict do nothing",
 * "returning id".
 */
#ifndef TT_DB_SQL_DIALECT_H
#define TT_DB_SQL_DIALECT_H

#include <stdbool.h>

#include "base/status.h"
#include "base/str.h"

enum tt_db_dialect { TT_DB_SQLITE, TT_DB_POSTGRESQL, TT_DB_DIALECTS };

/* Whether there are such words in it. */
bool tt_dialect_differs(const char *sql);

/* Appends the SQL with these words in a dialect. TTNN_INTERNAL: a word that there is not. */
tt_status tt_dialect_expand(struct tt_str *out, const char *sql, enum tt_db_dialect dialect);

#endif
