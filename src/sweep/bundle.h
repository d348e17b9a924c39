/*
 * bundle.h: what Apache Superset imports: the database of results, its views as datasets, charts and one dashboard, in a ZIP
 * archive. Called by `ttnn sweep dashboard`. No password is in it: Superset asks for it, or takes that of its own environment.
 */
#ifndef TT_SWEEP_BUNDLE_H
#define TT_SWEEP_BUNDLE_H

#include "base/status.h"

/* Writes the archive for the database at this address or path. The same address gives the same bytes. */
tt_status tt_bundle_write(const char *path, const char *database);

#endif
