/*
 * Runs in one database by 1, 2 and 4 runners who do nothing but claim vectors and write results: rows a second, and what a
 * row costs a server and a runner of processor time. The tables are filled: use a database that is thrown away.
 *
 *	build/bench/database postgresql://ttnn@/ttnn?host=DIR/pg [ROWS [BATCH]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "sweep/claims.h"
#include "sweep/results_parts.h"

#define PARAMETERS 1500 /* bytes of a row's parameters, as those of real masters have */

struct told {
	double rows, wall, server, runner;
};

static double processor(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec +
	       (double)usage.ru_stime.tv_sec + 1e-6 * (double)usage.ru_stime.tv_usec;
}

/* Processor time of the server's process for this connection, if it is on this machine. */
static double server_seconds(struct tt_db *db)
{
	char path[64], line[1024], *rest = NULL;
	double ticks = 0;
	int64_t pid = 0;
	FILE *file;

	if (tt_results_number(&pid, db, "select pg_backend_pid()") != TTNN_OK)
		return NAN;
	snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
	file = fopen(path, "r");
	if (file && fgets(line, sizeof(line), file))
		rest = strrchr(line, ')');
	/* Behind the name: a letter, ten numbers, then the two of user and system. */
	for (int i = 0; rest && i < 12; i++)
		rest = strchr(rest + 1, ' ');
	if (rest)
		ticks = strtod(rest, &rest);
	if (rest)
		ticks += strtod(rest, NULL);
	if (file)
		fclose(file);
	return ticks / (double)sysconf(_SC_CLK_TCK);
}

static tt_status work(struct told *out, const struct tt_plan *plan, const char *url,
		      const struct tt_claims_options *options, const char *run)
{
	static char params[PARAMETERS];
	struct tt_sweep_result result = {.module = "ttnn.add",
					 .suite = "model_traced",
					 .message = "0.9999",
					 .pcc = 0.9999,
					 .bound = 0.99,
					 .error = 0.1,
					 .operation = "ttnn.add",
					 .params = params};
	uint64_t begin = tt_clock_ns();
	struct tt_results *results;
	tt_claims claims = {0};

	snprintf(params, sizeof(params), "{\"arguments\": \"%0*d\"}", PARAMETERS - 30, 0);
	result.params_length = strlen(params);
	TT_TRY(tt_results_open(&results, &(struct tt_results_options){
						 .database = url, .join = run, .no_files = true}));
	TT_TRY(tt_claims_begin(results, plan, options));
	do {
		claims.count = 0;
		TT_TRY(tt_claims_take(&claims, results));
		for (size_t i = 0; i < claims.count; i++) {
			result.vector = plan->vectors.data[claims.data[i].number].hash;
			result.position = claims.data[i].number;
			result.begin_ns = result.end_ns = tt_clock_wall_ns();
			TT_TRY(tt_results_add(results, &result));
		}
		TT_TRY(tt_results_tick(results, true));
		out->rows += (double)claims.count;
	} while (claims.count);
	out->wall = 1e-9 * (double)(tt_clock_ns() - begin);
	out->server = server_seconds(results->db);
	out->runner = processor(RUSAGE_SELF);
	return tt_results_leave(results);
}

static void run(const struct tt_plan *plan, const char *url, unsigned runners, unsigned batch)
{
	struct told all = {0}, one;
	char name[32];
	int ends[2];

	snprintf(name, sizeof(name), "bench-%u-%llx", runners, (unsigned long long)tt_clock_ns());
	if (pipe(ends) != 0)
		exit(2);
	fflush(stdout);
	for (unsigned i = 0; i < runners; i++)
		if (fork() == 0) {
			struct tt_claims_options options = {.shard = i + 1,
							    .shards = runners,
							    .lease_ms = 60000,
							    .batch = batch};

			one = (struct told){0};
			if (work(&one, plan, url, &options, name) != TTNN_OK)
				fprintf(stderr, "%s\n", ttnn_error());
			_exit(write(ends[1], &one, sizeof(one)) != sizeof(one));
		}
	for (unsigned i = 0; i < runners; i++) {
		if (read(ends[0], &one, sizeof(one)) != sizeof(one))
			exit(2);
		all.rows += one.rows;
		all.server += one.server;
		all.runner += one.runner;
		all.wall = one.wall > all.wall ? one.wall : all.wall;
	}
	while (wait(NULL) > 0)
		continue;
	close(ends[0]);
	close(ends[1]);
	printf("%7u %7u %8.0f %10.0f %16.3f %16.3f\n", runners, batch, all.rows,
	       all.rows / all.wall, 1e3 * all.server / all.rows, 1e3 * all.runner / all.rows);
}

int main(int argc, char **argv)
{
	size_t rows = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000;
	unsigned batch = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 64;
	struct tt_plan plan = {0};

	if (argc < 2)
		return 2;
	for (size_t i = 0; i < rows; i++) {
		struct tt_plan_vector *vector = TT_VEC_PUSH(&plan.vectors);

		if (!vector)
			return 2;
		*vector = (struct tt_plan_vector){.position = i};
		snprintf(vector->hash, sizeof(vector->hash), "%056zx", i);
	}
	printf("runners   batch     rows     rows/s  server ms a row  runner ms a row\n");
	for (unsigned runners = 1; runners <= 4; runners *= 2)
		run(&plan, argv[1], runners, batch);
	TT_VEC_DEINIT(&plan.vectors);
	return 0;
}
