/*
 * params_file.h: where parameter files go: numbers, paths, writing at once or behind the calls.
 * Called by params.c alone; any thread.
 */
#ifndef TT_TRACE_PARAMS_FILE_H
#define TT_TRACE_PARAMS_FILE_H

#include "base/file.h"
#include "base/str.h"

/*
 * The next number, from 1. Processes that were forked share the count, so that no two files of them
 * have the same one. A number whose file came to nothing is given back and used again.
 */
uint64_t tt_params_number_take(void);
void tt_params_number_return(uint64_t number);
uint64_t tt_params_number_get(void);
/* In a process that did not begin the count this begins one of its own, until it is set back to a number of that. */
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

/* The beginning of a session's file: the count. After it "F/path" or "D/path" and a zero byte for all that was made. */
#define TT_PARAMS_SESSION_HEAD 4096

/* Writes it now, making its directory when there is none. */
tt_status tt_params_file_write(const char *path, const struct tt_str *text);

/* The same for one that is written piece by piece; tt_file_discard() gives it up. */
tt_status tt_params_file_create(struct tt_file_out **out, const char *path);
tt_status tt_params_file_commit(struct tt_file_out *file, const char *path);

/* Hands it to the writing thread, waiting while that has too much to do. Takes it over. */
void tt_params_file_queue(struct tt_params_file *file);

/* Returns when all that was queued is written. */
void tt_params_file_flush(void);

void tt_params_file_free(struct tt_params_file *file);

#endif
