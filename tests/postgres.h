/*
 * postgres.h: a private PostgreSQL server for a test program (tests/cluster/postgres), if one is installed. It ends with the
 * program.
 */
#ifndef TT_TESTS_POSTGRES_H
#define TT_TESTS_POSTGRES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char postgres_directory[64], postgres_address[200];
static pid_t postgres_owner;

static inline int postgres_command(const char *what, const char *more)
{
	char command[300];
	int status;

	snprintf(command, sizeof(command), "tests/cluster/postgres %s %s %s", what,
		 postgres_directory, more);
	status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline void postgres_end(void)
{
	if (getpid() != postgres_owner || !*postgres_address)
		return;
	postgres_command("stop", "");
	snprintf(postgres_address, sizeof(postgres_address), "rm -rf %s", postgres_directory);
	if (system(postgres_address) != 0)
		fprintf(stderr, "%s stays\n", postgres_directory);
}

/* The URL of its database; NULL, and a line that says so, when there is no server to be had. */
static inline const char *postgres_url(void)
{
	if (postgres_owner)
		return *postgres_address ? postgres_address : NULL;
	postgres_owner = getpid();
	snprintf(postgres_directory, sizeof(postgres_directory), "/tmp/ttnn-pg-XXXXXX");
	if (!mkdtemp(postgres_directory))
		return NULL;
	if (postgres_command("start", "") != 0) {
		printf("skipped: no PostgreSQL server can be started\n");
		rmdir(postgres_directory);
		return NULL;
	}
	snprintf(postgres_address, sizeof(postgres_address), "postgresql://ttnn@/ttnn?host=%s/pg",
		 postgres_directory);
	atexit(postgres_end);
	return postgres_address;
}

#endif
