/*
 * results_parts.h: between the files of the results: results.c has runs, results_tables.c their tables, results_rows.c
 * fills them, results_away.c bears that the database is away, results_file.c makes files of it, and summary.c reads it.
 */
#ifndef TT_SWEEP_RESULTS_PARTS_H
#define TT_SWEEP_RESULTS_PARTS_H

#include <string.h>

#include "base/arena.h"
#include "base/digest.h"
#include "base/jsonw.h"
#include "base/vec.h"
#include "db/db.h"
#include "sweep/results.h"

#define TT_RESULTS_VERSION 1
#define TT_RESULTS_WAIT_MS 60000 /* for other writers of a file */

/* "2026-11-15T02:31:16.169248Z" and its zero byte. */
#define TT_RESULTS_TIME 40

/* A row that waits to be written; its texts are in the arena. */
struct tt_results_row {
	struct tt_sweep_result result;
	const char *metrics; /* JSON, or NULL */
	double e2e_ms;
};

struct tt_results {
	struct tt_db *db;
	char *directory, *path; /* of files; of the database */
	bool no_files;
	int64_t run; /* the id of its row */
	char name[32], host[256];
	int64_t begin_ns;
	struct tt_db_stmt *has, *find, *insert, *remember, *state;
	struct tt_db_stmt *done;        /* the claim of a vector that has its row */
	bool cancelled;                 /* by somebody else, while it ran */
	struct tt_claims_state *claims; /* (optional) claims.c's */
	char runner[64];                /* unlike all others */
	char database_digest[TT_DIGEST_TEXT];
	int64_t skew_ns; /* what the database's clock is ahead of this machine's */
	/* While the database is away results go to a file. */
	struct tt_spool *spool; /* (optional) only where a database may be away */
	bool away;
	uint64_t away_ns, retry_ns, pause_ns,
		patience_ns;  /* since when; not before; between tries */
	uint64_t database_ns; /* spent on the database so far */
	struct tt_arena arena;
	TT_VEC(struct tt_results_row) waiting;
	uint64_t waiting_ns; /* since when the first waits */
};

/* A text, or NULL, as a parameter. */
static inline void tt_results_bind(struct tt_db_stmt *stmt, int at, const char *text)
{
	tt_db_bind_text(stmt, at, text, text ? strlen(text) : 0);
}

/* Adds a row to a run, in a transaction of the caller: one that is there already stays. */
tt_status tt_results_insert(struct tt_results *results, int64_t run,
			    const struct tt_results_row *row);

/* Writes the rows that wait in memory, in one transaction: all of them or none. */
tt_status tt_results_write_waiting(struct tt_results *results);

/* Frees what claims.c has. */
void tt_claims_free(struct tt_results *results);

/* Opens a database of results to read from. TTNN_FORMAT when it is none, or of another version. */
tt_status tt_results_db_open(struct tt_db **out, const char *path);

/* Opens one to write to; it is made if it is absent. */
tt_status tt_results_db_make(struct tt_db **out, const char *path);

/* Makes the tables that are missing; TTNN_FORMAT when they are of another version. */
tt_status tt_results_make_tables(struct tt_db *db, const char *path);

/* The number that a query gives. TTNN_NOTFOUND when it gives no row. */
tt_status tt_results_number(int64_t *out, struct tt_db *db, const char *sql);

/* A number of a row; NAN: none. */
double tt_results_real(struct tt_db_stmt *row, int column);

bool tt_sweep_how_find(enum tt_sweep_how *out, const char *text);

/* A moment as files have it. */
void tt_results_time(char out[TT_RESULTS_TIME], int64_t ns);

/* Makes the files of a run from its rows. */
tt_status tt_results_write_files(struct tt_results_files *out, struct tt_results *results);

#endif
