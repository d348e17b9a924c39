/*
 * Reports: whatever the bytes are, an import succeeds or says why, in every form of the database, and
 * leaves nothing behind when it fails.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "report/report.h"
#include "scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char output[4200];

/* Removes what an import made; how many files that were. */
static size_t clear(void)
{
	DIR *dir = opendir(output);
	struct dirent *entry;
	char path[4500];
	size_t count = 0;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", output, entry->d_name);
			unlink(path);
			count++;
		}
	if (dir)
		closedir(dir);
	rmdir(output);
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = scratch(0);
	struct tt_report_options options = {.input = path, .output = output};
	struct tt_report_counts counts;

	tt_log_set_level(TT_LOG_ERROR);
	snprintf(output, sizeof(output), "%s.out", path);
	if (tt_file_save(path, data, size) != TTNN_OK)
		return 0;
	for (int i = 0; i < 3; i++) {
		options.as_tables = i == 1;
		options.strict = i == 2;
		options.schema = i == 1 ? "3.3" : NULL;
		if (tt_report_import(&counts, &options) != TTNN_OK) {
			if (clear())
				abort();
		} else if (!clear()) {
			abort();
		}
	}
	return 0;
}
