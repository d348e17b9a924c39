/* store_file.h: the file of a store (event/store.h). Only store.c and announce.c include it. */
#ifndef TT_EVENT_STORE_FILE_H
#define TT_EVENT_STORE_FILE_H

#include "event/store.h"

/*
 * Makes the file with its head, unless that was done: the named one, or one without a name. With the lock
 * held.
 */
tt_status tt_store_file_open(struct tt_store *store);

/* Appends a chunk at store->offset. What was written of it in vain is cut off again. */
tt_status tt_store_file_chunk(struct tt_store *store, const struct tt_chunk_head *head,
			      const unsigned char *data);

/* Appends the index and the tail. */
tt_status tt_store_file_finish(struct tt_store *store);

/* The command line of this process with blanks between its words; cut when it is long. */
void tt_process_command(char *out, size_t room);

/* A whole file of the chunks in memory, under a temporary name until it is complete. */
tt_status tt_store_file_dump(struct tt_store *store);

#endif
