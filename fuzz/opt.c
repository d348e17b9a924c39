/* Command lines of any words (split at newlines): parsed or refused with a sentence. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/opt.h"
#include "base/vec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool flag;
static int64_t integer;
static uint64_t bytes;
static double real;
static const char *string;
static struct tt_opt_list list;
static int choice;

static const struct tt_opt options[] = {
	{"flag", 'f', TT_OPT_FLAG, &flag, NULL, "a flag"},
	{"int", 'i', TT_OPT_INT, &integer, "N", "a number"},
	{"size", 's', TT_OPT_SIZE, &bytes, "BYTES", "a size"},
	{"double", 'd', TT_OPT_DOUBLE, &real, "X", "a number"},
	{"string", 0, TT_OPT_STRING, &string, "TEXT", "a text"},
	{NULL, 'l', TT_OPT_LIST, &list, "TEXT", "a list"},
	{"choice", 'c', TT_OPT_CHOICE, &choice, "one|two|three", "a choice"},
	{0},
};

static const struct tt_cmd cmd = {
	.name = "x", .help = "x", .operands = "A B", .least = 1, .most = 2, .options = options};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line = malloc(size + 1), *save = NULL, *words[64];
	struct tt_opt_result result;
	size_t count = 0;
	tt_status status;

	if (!line)
		abort();
	if (size)
		memcpy(line, data, size);
	line[size] = '\0';
	for (char *w = strtok_r(line, "\n", &save); w && count < 64;
	     w = strtok_r(NULL, "\n", &save))
		words[count++] = w;
	choice = 0;
	status = tt_opt_parse(&result, &cmd, count, words);
	if (status == TTNN_OK && !result.help && (result.count < 1 || result.count > 2))
		abort();
	if (status != TTNN_OK && (status != TTNN_INVALID || !ttnn_error()[0]))
		abort();
	if (choice < 0 || choice > 2)
		abort();
	TT_VEC_DEINIT(&list);
	free(line);
	return 0;
}
