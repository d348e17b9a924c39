/* views.h: views of the database of results, for dashboards (bundle.h) and for whoever writes SQL. Called by results_tables.c. */
#ifndef TT_SWEEP_VIEWS_H
#define TT_SWEEP_VIEWS_H

#include "base/status.h"
#include "db/db.h"

/* Grows with each change of a view, so that databases that are there get it. */
#define TT_VIEWS_VERSION 1

/* Makes the views where they are absent or old. The caller has begun a transaction, and made the tables. */
tt_status tt_results_make_views(struct tt_db *db);

#endif
