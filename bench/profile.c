/*
 * Performance reports: operations per second from a trace to a CSV, to the folder of viewers, and from a CSV back to a
 * table, with the memory that it takes. A first argument is the number of operations in thousands.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "event/alike.h"
#include "event/capture.h"
#include "profile/ops_report.h"
#include "profile/perf_sum.h"
#include "tensor/core.h"

static char trace[] = "/tmp/ttnn_bench_profile.XXXXXX";
static int failures;

/* Seconds of the processor, all threads together: the same on a machine that has other work too. */
static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void expect(enum ttnn_status status)
{
	if (status != TTNN_OK && !failures++)
		fprintf(stderr, "%s\n", ttnn_error());
}

static long peak_kb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* ---- a trace ---------------------------------------------------------------------------------------------- */

static const struct tt_field fields[] = {{.name = "binary_op_type"}, {.name = "memory_config"},
					 {.name = "dtype"},          {.name = "scalar"},
					 {.name = "worker_grid"},    {.name = "is_sfpu"}};
static const struct tt_schema schema = {"operation_attributes_t", fields, 6, false};

static void emit(enum tt_event_kind kind, struct tt_event event)
{
	event.kind = kind;
	tt_event_emit(&event);
}

/* As the launcher tells of an addition: one of some programs, on one chip. */
static void tell_operation(uint64_t number, struct ttnn_tensor_spec *specs,
			   const ttnn_core_set *cores)
{
	struct ttnn_tensor_spec *spec = &specs[number % 8];
	struct tt_event_tensor tensors[2];
	struct ttnn_value args[] = {ttnn_v_string("BinaryOpType::ADD"),
				    ttnn_v_memory(&spec->memory),
				    ttnn_v_dtype(spec->dtype),
				    ttnn_v_none(),
				    ttnn_v_core_set(cores),
				    ttnn_v_bool(true)};
	struct ttnn_value facts[TT_FACT_VALUES];

	for (int i = 0; i < 2; i++)
		tensors[i] = (struct tt_event_tensor){.id = number * 2 + (uint64_t)i,
						      .spec = spec,
						      .on_device = true,
						      .owns = true,
						      .buffer_id = number + 1,
						      .address = 4096,
						      .device_id = 1,
						      .spread = TT_SPREAD_LINE};
	tt_event_facts_values(facts,
			      &(struct tt_event_facts){.hash = 77 + number % 8,
						       .cores = cores,
						       .computes = true,
						       .has_fidelity = true,
						       .fidelity = 4,
						       .source = "src/ops/eltwise/binary.c"});
	emit(TT_EVENT_PLACE, (struct tt_event){.place = {"model.py", "forward", 60}});
	emit(TT_EVENT_SCOPE_BEGIN,
	     (struct tt_event){.begin = {.kind = TT_SCOPE_OPERATION, .name = "ttnn::add"}});
	emit(TT_EVENT_SCOPE_BEGIN, (struct tt_event){.begin = {.kind = TT_SCOPE_DEVICE_OP,
							       .name = "BinaryNgDeviceOperation",
							       .schema = &schema,
							       .args = args,
							       .arg_count = 6,
							       .inputs = tensors,
							       .input_count = 2}});
	emit(TT_EVENT_PROGRAM,
	     (struct tt_event){.program = {.device_id = 1,
					   .cache_hit = true,
					   .facts = {facts, TT_FACT_VALUES,
						     tt_block_hash(facts, TT_FACT_VALUES)}}});
	emit(TT_EVENT_PROGRAM_LAUNCH,
	     (struct tt_event){.launch = {.device_id = 1, .launch = number, .cores = cores}});
	emit(TT_EVENT_PROGRAM_RUN, (struct tt_event){.run = {.device_id = 1,
							     .launch = number,
							     .name = "BinaryNgDeviceOperation",
							     .whole = 900,
							     .kernel = 800,
							     .threads = 2,
							     .busy_min = 300,
							     .busy_max = 500,
							     .busy = 800,
							     .starts = 50}});
	emit(TT_EVENT_SCOPE_END, (struct tt_event){.end = {.outputs = tensors, .output_count = 1}});
	emit(TT_EVENT_SCOPE_END, (struct tt_event){0});
}

static void record(uint64_t count)
{
	struct ttnn_tensor_spec specs[8];
	const ttnn_core_set *cores;
	struct tt_capture *capture;

	expect(tt_core_set_grid(&cores, 8, 8));
	for (uint32_t i = 0; i < 8; i++)
		expect(ttnn_tensor_spec_make(
			&specs[i], &(struct ttnn_spec_args){.shape = {4, {1, 1, 32, 32 + 32 * i}},
							    .dtype = TTNN_BFLOAT16,
							    .layout = TTNN_TILE}));
	expect(tt_capture_begin(&capture, &(struct tt_capture_options){.path = trace}));
	for (uint64_t i = 1; i <= count && !failures; i++)
		tell_operation(i, specs, cores);
	expect(tt_capture_stop(NULL, capture));
	tt_capture_free(capture);
}

/* ---- what is made of it ----------------------------------------------------------------------------------- */

static void show_csv(uint64_t count, enum ttnn_dialect dialect, const char *what)
{
	struct tt_ops_input input = {trace};
	struct tt_ops_options options = {.dialect = dialect};
	struct tt_ops_totals totals;
	double begin = now(), took;

	expect(tt_ops_csv(&totals, &input, 1, &options, "/dev/null"));
	took = now() - begin;
	printf("%-28s %9.0f operations/s, %6ld kB at most, %llu rows\n", what, (double)count / took,
	       peak_kb(), (unsigned long long)totals.rows);
}

static void show_reading(uint64_t count)
{
	struct tt_perf_file file = {.path = trace};
	struct tt_perf_sum sum = {0};
	double begin = now(), took;

	expect(tt_perf_file_open(&file));
	expect(tt_perf_sum_file(&sum, &file));
	took = now() - begin;
	printf("%-28s %9.0f operations/s, %17ld kB at most\n", "show --profile TRACE",
	       (double)count / took, peak_kb());
	tt_perf_sum_deinit(&sum);
}

int main(int argc, char **argv)
{
	uint64_t count = 1000 * (argc > 1 ? strtoull(argv[1], NULL, 10) : 1000);
	struct stat facts;
	int fd = mkstemp(trace);

	if (fd < 0)
		return 1;
	close(fd);
	record(count);
	if (stat(trace, &facts) == 0)
		printf("%llu operations, %.1f bytes each in the trace\n", (unsigned long long)count,
		       (double)facts.st_size / (double)count);
	show_csv(count, TTNN_DIALECT_SEED, "export csv");
	show_csv(count, TTNN_DIALECT_TT_METAL, "export csv --dialect tt-metal");
	show_reading(count);
	unlink(trace);
	return failures != 0;
}
