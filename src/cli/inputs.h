/*
 * inputs.h: the files that show and export read: files, and the traces and reports of folders.
 */
#ifndef TT_CLI_INPUTS_H
#define TT_CLI_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <ttnn.h>

#include "base/status.h"

struct cli_input {
	char *path;
	char *name; /* the file's, without folder and endings: "network-17" of trace/network-17.ttrace */
};

/* All zero is an empty list. */
struct cli_inputs {
	struct cli_input *data;
	size_t count, room;
	bool several; /* more than one file or a folder was asked for: answers say whose they are */
};

/*
 * Fills an empty list with the operands, and of folders with what `ttnn import` takes of them and graphs; what is
 * none of these, and traces in which nothing was called, are left out. Refuses a folder of which nothing remains.
 * Free the list also after a failure.
 */
tt_status cli_inputs_list(struct cli_inputs *out, size_t count, char **operands);

void cli_inputs_deinit(struct cli_inputs *inputs);

/* What a file of JSON is, by how it begins and the keys it has. */
enum cli_json { CLI_JSON_OTHER, CLI_JSON_GRAPH, CLI_JSON_REPORT };

/* Looks at a file of JSON, gzip or plain; fails if it is no JSON so far. */
tt_status cli_json_kind(enum cli_json *out, const char *path);

/* The dialect that an option chose; that of the surroundings when it is negative. */
enum ttnn_dialect cli_dialect(int chosen);

/* A text of others for the terminal: in one line, without its control characters, not for ever. */
#define CLI_SHOWN 160
const char *cli_shown(char out[CLI_SHOWN], const char *text);

/* Lets this process open as many files as it may: recordings of a run are read side by side, and a run may have thousands. */
void cli_open_many(void);

/* What is made goes to standard output at once: for struct tt_jsonw and the like. */
void cli_write_stdout(void *context, const void *data, size_t size);

#endif
