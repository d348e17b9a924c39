/*
 * results_parts.h: between results.c, which fills the database, results_file.c, which makes files of it, and summary.c, which
 * reads it.
 */
#ifndef TT_SWEEP_RESULTS_PARTS_H
#define TT_SWEEP_RESULTS_PARTS_H

#include "base/arena.h"
#include "base/jsonw.h"
#include "base/vec.h"
#include "db/db.h"
#include "sweep/results.h"

#define TT_RESULTS_VERSION 1

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
	struct tt_db_stmt *has, *find, *insert, *remember;
	struct tt_arena arena;
	TT_VEC(struct tt_results_row) waiting;
	uint64_t waiting_ns; /* since when the first waits */
};

/* Opens a database of results to read from. TTNN_FORMAT when it is none, or of another version. */
tt_status tt_results_db_open(struct tt_db **out, const char *path);

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
