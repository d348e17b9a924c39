/*
 * products.c: matrix products, convolutions, attention and normalisation, in GFLOP/s or GB/s, and in
 * ratio to torch in the same run if TTNN_TORCH names a Python that has it (above 1: faster than
 * torch; than its float32 where it has no bfloat16 for this processor). Weights lie on a device and
 * were used before, as in a model; activations are tiles, but for inputs of convolutions, which come
 * to them in rows. With one thread, in processor time, unless TTNN_NUM_THREADS says more; then by the
 * clock. Arguments are parts of the names of the cases to run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/pool.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "tensor/shape.h"

#define TURNS 3 /* of both sides: what disturbs one for a while shall not decide */
#define ROUNDS 5
#define ROUND_SECONDS 10e-3
#define REST_MICROSECONDS 50000 /* until the other side's threads have stopped waiting for work */
#define NUMBERS 8

enum kind { MATMUL, LINEAR, CONV, SDPA, LAYER_NORM, SOFTMAX };
static const char *const kinds[] = {"matmul", "linear", "conv", "sdpa", "layer_norm", "softmax"};

struct bench {
	const char *name;
	enum kind kind;
	bool half;
	uint32_t n[NUMBERS];
};

/*
 * matmul, linear: rows, depth, columns. conv: batch, size, channels in, out, kernel, stride, pad,
 * groups. sdpa: batch, heads, key heads, rows, columns, width, causal. Others: rows, width.
 */
static const struct bench benches[] = {
	{"matmul 32 f32", MATMUL, false, {32, 32, 32}},
	{"matmul 64 f32", MATMUL, false, {64, 64, 64}},
	{"matmul 128 f32", MATMUL, false, {128, 128, 128}},
	{"matmul 256 f32", MATMUL, false, {256, 256, 256}},
	{"matmul 32 bf16", MATMUL, true, {32, 32, 32}},
	{"matmul 64 bf16", MATMUL, true, {64, 64, 64}},
	{"matmul 128 bf16", MATMUL, true, {128, 128, 128}},
	{"matmul 256 bf16", MATMUL, true, {256, 256, 256}},
	{"matmul 1024 f32", MATMUL, false, {1024, 1024, 1024}},
	{"matmul 2048 f32", MATMUL, false, {2048, 2048, 2048}},
	{"matmul 1024 bf16", MATMUL, true, {1024, 1024, 1024}},
	{"matmul 2048 bf16", MATMUL, true, {2048, 2048, 2048}},
	{"linear 1 row f32", LINEAR, false, {1, 4096, 4096}},
	{"linear 32 rows f32", LINEAR, false, {32, 4096, 4096}},
	{"linear 128 rows f32", LINEAR, false, {128, 768, 3072}},
	{"linear deep f32", LINEAR, false, {256, 16384, 512}},
	{"linear 1 row bf16", LINEAR, true, {1, 4096, 4096}},
	{"linear 32 rows bf16", LINEAR, true, {32, 4096, 4096}},
	{"linear 128 rows bf16", LINEAR, true, {128, 768, 3072}},
	{"conv 7x7/2 3-64 f32", CONV, false, {1, 224, 3, 64, 7, 2, 3, 1}},
	{"conv 1x1 64-256 f32", CONV, false, {1, 56, 64, 256, 1, 1, 0, 1}},
	{"conv 3x3 64-64 f32", CONV, false, {1, 56, 64, 64, 3, 1, 1, 1}},
	{"conv 3x3 128-128 f32", CONV, false, {1, 28, 128, 128, 3, 1, 1, 1}},
	{"conv 3x3/2 256-256 f32", CONV, false, {1, 28, 256, 256, 3, 2, 1, 1}},
	{"conv 1x1 1024-256 f32", CONV, false, {1, 14, 1024, 256, 1, 1, 0, 1}},
	{"conv 3x3 512-512 f32", CONV, false, {1, 7, 512, 512, 3, 1, 1, 1}},
	{"conv 3x3 depthwise f32", CONV, false, {1, 56, 144, 144, 3, 1, 1, 144}},
	{"conv 7x7/2 3-64 bf16", CONV, true, {1, 224, 3, 64, 7, 2, 3, 1}},
	{"conv 1x1 64-256 bf16", CONV, true, {1, 56, 64, 256, 1, 1, 0, 1}},
	{"conv 3x3 64-64 bf16", CONV, true, {1, 56, 64, 64, 3, 1, 1, 1}},
	{"conv 3x3 128-128 bf16", CONV, true, {1, 28, 128, 128, 3, 1, 1, 1}},
	{"conv 3x3/2 256-256 bf16", CONV, true, {1, 28, 256, 256, 3, 2, 1, 1}},
	{"conv 1x1 1024-256 bf16", CONV, true, {1, 14, 1024, 256, 1, 1, 0, 1}},
	{"conv 3x3 512-512 bf16", CONV, true, {1, 7, 512, 512, 3, 1, 1, 1}},
	{"sdpa prefill f32", SDPA, false, {1, 8, 8, 2048, 2048, 128, 0}},
	{"sdpa prefill causal f32", SDPA, false, {1, 8, 8, 2048, 2048, 128, 1}},
	{"sdpa prefill bf16", SDPA, true, {1, 8, 8, 2048, 2048, 128, 0}},
	{"sdpa prefill causal bf16", SDPA, true, {1, 8, 8, 2048, 2048, 128, 1}},
	{"sdpa decode f32", SDPA, false, {4, 32, 8, 1, 2048, 128, 0}},
	{"sdpa decode bf16", SDPA, true, {4, 32, 8, 1, 2048, 128, 0}},
	{"layer_norm f32", LAYER_NORM, false, {4096, 4096}},
	{"layer_norm bf16", LAYER_NORM, true, {8192, 4096}},
	{"softmax f32", SOFTMAX, false, {4096, 4096}},
	{"softmax bf16", SOFTMAX, true, {8192, 4096}},
};

static ttnn_device *device;
static unsigned threads = 1;

/* ---- helpers ------------------------------------------------------------------------------------- */

static double now(void)
{
	struct timespec ts;

	clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void must(tt_status status)
{
	if (status == TTNN_OK)
		return;
	fprintf(stderr, "%s\n", ttnn_error());
	exit(1);
}

/* On the device, random. */
static struct tt_tensor *make(const struct bench *bench, struct ttnn_shape shape,
			      enum ttnn_layout layout)
{
	struct ttnn_spec_args args = {.shape = shape,
				      .dtype = bench->half ? TTNN_BFLOAT16 : TTNN_FLOAT32,
				      .layout = layout};
	struct ttnn_tensor_spec spec;
	struct tt_tensor *tensor;

	must(ttnn_tensor_spec_make(&spec, &args));
	must(tt_device_tensor_new(&tensor, device, &spec));
	must(tt_backend_cpu.random(
		&(struct tt_random_job){.out = tensor, .seed = 1, .low = -1, .high = 1}));
	return tensor;
}

/* ---- our side ------------------------------------------------------------------------------------ */

union job {
	struct tt_matmul_job matmul;
	struct tt_conv_job conv;
	struct tt_attention_job attention;
	struct tt_norm_job norm;
	struct tt_softmax_job softmax;
};

static void run(const struct bench *bench, const union job *job)
{
	switch (bench->kind) {
	case MATMUL:
	case LINEAR:
		must(tt_backend_cpu.matmul(&job->matmul));
		break;
	case CONV:
		must(tt_backend_cpu.conv(&job->conv));
		break;
	case SDPA:
		must(tt_backend_cpu.attention(&job->attention));
		break;
	case LAYER_NORM:
		must(tt_backend_cpu.norm(&job->norm));
		break;
	case SOFTMAX:
		must(tt_backend_cpu.softmax(&job->softmax));
		break;
	}
}

static void prepare_conv(union job *job, const struct bench *bench, struct tt_tensor *tensor[4])
{
	const uint32_t *n = bench->n;
	uint32_t out = (n[1] + 2 * n[6] - n[4]) / n[5] + 1;

	job->conv = (struct tt_conv_job){
		.window = {n[0],
			   n[1],
			   n[1],
			   n[2],
			   out,
			   out,
			   {n[4], n[4]},
			   {n[5], n[5]},
			   {1, 1},
			   {n[6], n[6], n[6], n[6]}},
		.out_channels = n[3],
		.groups = n[7],
	};
	job->conv.in = tensor[0] =
		make(bench, TT_SHAPE(1, 1, n[0] * n[1] * n[1], n[2]), TTNN_ROW_MAJOR);
	job->conv.weight = tensor[1] =
		make(bench, TT_SHAPE(n[3], n[2] / n[7], n[4], n[4]), TTNN_ROW_MAJOR);
	job->conv.out = tensor[2] = make(bench, TT_SHAPE(1, 1, n[0] * out * out, n[3]), TTNN_TILE);
}

static void prepare(union job *job, const struct bench *bench, struct tt_tensor *tensor[4])
{
	const uint32_t *n = bench->n;

	memset(job, 0, sizeof(*job));
	switch (bench->kind) {
	case LINEAR:
		job->matmul.bias = tensor[3] = make(bench, TT_SHAPE(1, n[2]), TTNN_TILE);
		/* fall through */
	case MATMUL:
		job->matmul.alpha = job->matmul.beta = 1;
		job->matmul.a = tensor[0] = make(bench, TT_SHAPE(n[0], n[1]), TTNN_TILE);
		job->matmul.b = tensor[1] = make(bench, TT_SHAPE(n[1], n[2]), TTNN_TILE);
		job->matmul.out = tensor[2] = make(bench, TT_SHAPE(n[0], n[2]), TTNN_TILE);
		break;
	case CONV:
		prepare_conv(job, bench, tensor);
		break;
	case SDPA:
		job->attention.scale = 0.088;
		job->attention.causal = n[6];
		job->attention.q = tensor[0] =
			make(bench, TT_SHAPE(n[0], n[1], n[3], n[5]), TTNN_TILE);
		job->attention.k = tensor[1] =
			make(bench, TT_SHAPE(n[0], n[2], n[4], n[5]), TTNN_TILE);
		job->attention.v = tensor[2] =
			make(bench, TT_SHAPE(n[0], n[2], n[4], n[5]), TTNN_TILE);
		job->attention.out = tensor[3] =
			make(bench, TT_SHAPE(n[0], n[1], n[3], n[5]), TTNN_TILE);
		break;
	case LAYER_NORM:
		job->norm.epsilon = 1e-5;
		job->norm.in = tensor[0] = make(bench, TT_SHAPE(n[0], n[1]), TTNN_TILE);
		job->norm.gamma = job->norm.beta = tensor[1] =
			make(bench, TT_SHAPE(1, n[1]), TTNN_TILE);
		job->norm.out = tensor[2] = make(bench, TT_SHAPE(n[0], n[1]), TTNN_TILE);
		break;
	case SOFTMAX:
		job->softmax.scale = job->softmax.dim = 1;
		job->softmax.stable = true;
		job->softmax.in = tensor[0] = make(bench, TT_SHAPE(n[0], n[1]), TTNN_TILE);
		job->softmax.out = tensor[1] = make(bench, TT_SHAPE(n[0], n[1]), TTNN_TILE);
		break;
	}
}

static double measure(const struct bench *bench)
{
	struct tt_tensor *tensor[4] = {0};
	double best = 1e9;
	union job job;

	prepare(&job, bench, tensor);
	run(bench, &job);
	usleep(REST_MICROSECONDS);
	run(bench, &job); /* weights are kept from the second time on */
	for (int i = 0; i < ROUNDS; i++) {
		double begin = now(), seconds;
		int count = 0;

		do {
			run(bench, &job);
			count++;
		} while (now() - begin < ROUND_SECONDS);
		seconds = (now() - begin) / count;
		best = seconds < best ? seconds : best;
	}
	for (int i = 0; i < 4; i++)
		ttnn_tensor_unref(tensor[i]);
	return best;
}

/* ---- the other side ------------------------------------------------------------------------------- */

static FILE *ask, *answer;

static void start_torch(const char *python, const char *self)
{
	int to[2], from[2];
	char script[4096];

	if (!python || pipe(to) || pipe(from))
		return;
	if (fork() == 0) {
		const char *slash = strrchr(self, '/');
		/* From build/bench/products to bench/products.py. */
		snprintf(script, sizeof(script), "%.*s/../../bench/products.py",
			 (int)(slash ? slash - self : 1), slash ? self : ".");
		dup2(to[0], 0);
		dup2(from[1], 1);
		close(to[1]);
		close(from[0]);
		execlp(python, python, script, (char *)NULL);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	ask = fdopen(to[1], "w");
	answer = fdopen(from[0], "r");
}

/* Seconds, and whether they are those of float32; 0 when there is no torch. */
static double torch_seconds(bool *other, const struct bench *bench)
{
	double seconds = 0;
	char line[64];

	*other = false;
	if (!ask || !answer)
		return 0;
	fprintf(ask, "%u %s %s", threads, kinds[bench->kind], bench->half ? "bf16" : "f32");
	for (int i = 0; i < NUMBERS; i++)
		if (bench->n[i] || i < (bench->kind == CONV ? 8 : bench->kind == SDPA ? 7 : 0))
			fprintf(ask, " %u", bench->n[i]);
	fprintf(ask, "\n");
	fflush(ask);
	if (fgets(line, sizeof(line), answer))
		seconds = strtod(line, NULL);
	*other = seconds > 0 && strchr(line, '*');
	return seconds;
}

/* ---- all ------------------------------------------------------------------------------------------- */

/* In 10^9: operations, or bytes for what only reads and writes. */
static double amount(const struct bench *bench)
{
	const uint32_t *n = bench->n;
	double out = bench->kind == CONV ? ((n[1] + 2 * n[6] - n[4]) / n[5] + 1) : 0;

	switch (bench->kind) {
	case CONV:
		return 2e-9 * n[0] * out * out * n[2] / n[7] * n[3] * n[4] * n[4];
	case SDPA:
		return 4e-9 * n[0] * n[1] * n[3] * n[4] * n[5] / (n[6] ? 2 : 1);
	case LAYER_NORM:
	case SOFTMAX:
		return 2e-9 * n[0] * n[1] * (bench->half ? 2 : 4);
	default:
		return 2e-9 * n[0] * n[1] * n[2];
	}
}

static bool is_wanted(const struct bench *bench, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strstr(bench->name, argv[i]))
			return true;
	return argc < 2;
}

int main(int argc, char **argv)
{
	struct ttnn_device_options options = {.profile = "n150"};
	const char *count = getenv("TTNN_NUM_THREADS");

	threads = count && strtoul(count, NULL, 10) > 1 ? (unsigned)strtoul(count, NULL, 10) : 1;
	start_torch(getenv("TTNN_TORCH"), argv[0]);
	tt_pool_set_threads(threads);
	must(ttnn_mesh_open(&device, NULL, &options));
	printf("%-26s %10s %10s %10s\n", threads == 1 ? "one thread" : "threads", "ms", "G/s",
	       ask ? "torch" : "");
	for (size_t i = 0; i < sizeof(benches) / sizeof(benches[0]); i++) {
		double ours = 1e9, theirs = 1e9;
		bool other;

		if (!is_wanted(&benches[i], argc, argv))
			continue;
		for (int turn = 0; turn < TURNS; turn++) {
			ours = fmin(ours, measure(&benches[i]));
			theirs = fmin(theirs, torch_seconds(&other, &benches[i]));
		}
		printf("%-26s %10.3f %10.1f", benches[i].name, 1e3 * ours,
		       amount(&benches[i]) / ours);
		if (theirs > 0)
			printf(" %10.2f%s", theirs / ours, other ? " (its float32)" : "");
		printf("\n");
		fflush(stdout);
	}
	ttnn_device_close(device);
	return 0;
}
