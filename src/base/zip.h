/*
 * zip.h: writes ZIP archives: packed members one after another, then their directory. The same members give the same bytes:
 * no time is written. Called by what makes bundles for other programs.
 *
 *	TT_TRY(tt_zip_create(&zip, "bundle.zip"));
 *	tt_zip_add(zip, "metadata.yaml", text, length);
 *	TT_TRY(tt_zip_commit(zip));
 *
 * A failure is remembered and told by tt_zip_commit(). One thread at a time.
 */
#ifndef TT_BASE_ZIP_H
#define TT_BASE_ZIP_H

#include <stddef.h>

#include "base/status.h"

struct tt_zip;

/* Opens an archive beside `path`, which it replaces when it is complete. */
tt_status tt_zip_create(struct tt_zip **out, const char *path);

/* Adds a member of at most 1 GB; `name` is UTF-8 with '/' between folders. The bytes are borrowed during the call. */
void tt_zip_add(struct tt_zip *zip, const char *name, const void *data, size_t size);

/* Completes the archive under its name, or removes it and tells why. Frees `zip` either way. */
tt_status tt_zip_commit(struct tt_zip *zip);

/* Removes the unfinished archive and frees `zip`. */
void tt_zip_discard(struct tt_zip *zip);

#endif
