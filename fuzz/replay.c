/*
 * replay.c: feeds a fuzz target with files instead of a fuzzing engine, so that `make test` runs
 * every input ever found. Arguments: files, and directories whose files are taken in turn.
 *
 * A target is fuzz/NAME.c with LLVMFuzzerTestOneInput(); its inputs are fuzz/corpus/NAME/.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int fail(const char *path)
{
	fprintf(stderr, "%s: %s\n", path, strerror(errno));
	return -1;
}

/* Runs one file. Its bytes are a block of just that size: reading past them is caught by asan. */
static int replay_file(const char *path, size_t size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = malloc(size ? size : 1);
	int result = 1;

	if (!file || !data || fread(data, 1, size, file) != size)
		result = fail(path);
	else
		LLVMFuzzerTestOneInput(data, size);
	if (file)
		fclose(file);
	free(data);
	return result;
}

/* Runs all files of a directory in order of their names. */
static int replay_directory(const char *path)
{
	struct dirent **names = NULL;
	int n = scandir(path, &names, NULL, alphasort), total = 0;

	if (n < 0)
		return fail(path);
	for (int i = 0; i < n; i++) {
		char child[4096];
		struct stat info;
		int count = 0;

		snprintf(child, sizeof(child), "%s/%s", path, names[i]->d_name);
		if (stat(child, &info) != 0)
			count = fail(child);
		else if (S_ISREG(info.st_mode))
			count = replay_file(child, (size_t)info.st_size);
		total = total < 0 || count < 0 ? -1 : total + count;
		free(names[i]);
	}
	free(names);
	return total;
}

int main(int argc, char **argv)
{
	int total = 0;

	for (int i = 1; i < argc; i++) {
		struct stat info;
		int count;

		if (stat(argv[i], &info) != 0)
			count = fail(argv[i]);
		else if (S_ISDIR(info.st_mode))
			count = replay_directory(argv[i]);
		else
			count = replay_file(argv[i], (size_t)info.st_size);
		if (count < 0)
			return 1;
		total += count;
	}
	printf("%d inputs\n", total);
	return total == 0;
}
