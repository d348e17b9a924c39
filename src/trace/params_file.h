/*
 * params_file.h: where parameter files go: numbers, paths, writing at once or behind the calls.
 * Called by params.c alone; any thread.
 */
#ifndef TT_TRACE_PARAMS_FILE_H
#define TT_TRACE_PARAMS_FILE_H

#include "base/str.h"

/*
 * The next number, from 1. Processes that were forked share the count, so that no two files of them
 * have the same one. A number whose file came to nothing is given back and used again.
 */
uint64_t tt_params_number_take(void);
void tt_params_number_return(uint64_t number);
uint64_t tt_params_number_get(void);
/* In a forked child this begins a count of its own. */
void tt_params_number_set(uint64_t number);

/* A text on its way to its file. */
struct tt_params_file {
	char *name; /* of the operation, for messages */
	char *path;
	uint64_t number;
	struct tt_str text;
	struct tt_params_file *next;
};

/* Calls failed() for those that cannot be written; before the first of the functions below. */
void tt_params_file_init(void (*failed)(const char *name, const char *why));

/* Writes it now, making its directory when there is none. */
tt_status tt_params_file_write(const char *path, const struct tt_str *text);

/* Hands it to the writing thread, waiting while that has too much to do. Takes it over. */
void tt_params_file_queue(struct tt_params_file *file);

/* Returns when all that was queued is written. */
void tt_params_file_flush(void);

/* Remembers a file, and removes all that are remembered with directories that become empty. */
void tt_params_file_remember(const char *path);
void tt_params_file_clean(void);

void tt_params_file_free(struct tt_params_file *file);

#endif
