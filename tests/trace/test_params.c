/*
 * parameter files: what is in them, where they go, what happens when they cannot be written
 * @threads
 */
#include "test.h"

#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ttnn_frontend.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "event/capture.h"
#include "event/value.h"
#include "trace/params.h"
#include "trace/source.h"

/* ---- a directory of files ---------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
	(void)info, (void)kind, (void)at;
	return remove(path);
}

static void remove_all(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* How many files of a directory have numbers first .. last, each once; -1: others are there too. */
static long numbered(const char *path, uint64_t first, uint64_t last)
{
	size_t room = (size_t)(last - first + 1);
	unsigned char *seen = calloc(room, 1);
	DIR *dir = opendir(path);
	struct dirent *entry;
	long count = 0;

	while (dir && (entry = readdir(dir))) {
		char *end;
		unsigned long long number = strtoull(entry->d_name, &end, 10);

		if (entry->d_name[0] == '.')
			continue;
		if (number < first || number > last || *end != '_' || seen[number - first]++ ||
		    !strstr(end, ".json") || strstr(end, ".tmp")) {
			fprintf(stderr, "unexpected: %s\n", entry->d_name);
			count = -1;
			break;
		}
		count++;
	}
	if (dir)
		closedir(dir);
	free(seen);
	return count;
}

/* The text of the file with this number; free with tt_free(). */
static char *text_of(const char *path, const char *beginning)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char name[1024], *text = NULL;
	size_t size;

	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, beginning, strlen(beginning)) != 0)
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		CHECK_OK(tt_file_read(&text, &size, name));
		break;
	}
	if (dir)
		closedir(dir);
	return text;
}

/* The text with every line's indent and newline gone, and what changes from run to run as 0. */
static void squeeze(char *text)
{
	char *to = text;

	for (const char *at = text; *at; at++) {
		if (*at == '\n') {
			while (at[1] == ' ')
				at++;
			continue;
		}
		*to++ = *at;
	}
	*to = 0;
}

/* ---- calls --------------------------------------------------------------------------------------------- */

static ttnn_device *open_device(void)
{
	ttnn_device *device = NULL;

	CHECK_OK(ttnn_device_open(&device, 0, NULL));
	return device;
}

/* full([2, 3], 1.5, device=...) */
static tt_status full(ttnn_tensor **out, ttnn_device *device)
{
	static const struct ttnn_shape shape = {2, {2, 3}};
	struct ttnn_arg args[] = {{NULL, ttnn_v_shape(&shape)},
				  {NULL, ttnn_v_real(1.5)},
				  {"dtype", ttnn_v_dtype(TTNN_BFLOAT16)},
				  {"layout", ttnn_v_layout(TTNN_TILE)},
				  {"device", ttnn_v_device(device)}};

	return ttnn_call_one(out, "ttnn.full", args, 5, TTNN_FRONTEND_C);
}

static tt_status add(ttnn_tensor **out, ttnn_tensor *a, ttnn_tensor *b)
{
	struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(a)}, {NULL, ttnn_v_tensor(b)}};

	return ttnn_call_one(out, "ttnn.add", args, 2, TTNN_FRONTEND_C);
}

static void trace_to(const char *path, bool values)
{
	remove_all(path);
	ttnn_params_set_counter(0);
	CHECK_OK(ttnn_params_trace(true, values, path));
}

static void stop(void)
{
	CHECK_OK(ttnn_params_trace(false, false, NULL));
}

/* ---- content ------------------------------------------------------------------------------------------- */

/* Written down by hand from the documents. */
#define SEED_TENSOR                                                                                       \
	"{\"type\": \"ttnn.Tensor\",\"shape\": [2, 3],\"dtype\": \"float32\",\"values\": "                \
	"[[1.5, 1.5, 1.5], [1.5, 1.5, 1.5]],\"original_shape\": [2, 3],\"original_dtype\": \"bfloat16\"," \
	"\"layout\": \"TILE\",\"storage_type\": \"DEVICE_STORAGE\"}"

TEST(seed_dialect_is_as_documented)
{
	ttnn_device *device = open_device();
	ttnn_tensor *a, *sum;
	const char *dir = test_path("seed");
	char *text, stamp[64] = "", expected[4096], *at;

	trace_to(dir, true);
	CHECK_OK(ttnn_params_set_dialect("seed"));
	CHECK_OK(full(&a, device));
	CHECK_OK(add(&sum, a, a));
	stop();
	CHECK_INT(numbered(dir, 1, 2), 2);
	text = text_of(dir, "2_ttnn_add_");
	CHECK(text != NULL);
	if (text) {
		CHECK(text[strlen(text) - 1] == '}'); /* as json.dump: no newline */
		squeeze(text);
		at = strstr(text, "\"timestamp\": \"");
		if (at)
			snprintf(stamp, sizeof(stamp), "%.22s", at + 14);
		snprintf(
			expected, sizeof(expected),
			"{\"operation_number\": 2,\"operation_name\": \"ttnn.add\",\"timestamp\": "
			"\"%s\",\"args\": [{\"position\": 0,\"value\": " SEED_TENSOR
			"},{\"position\": 1,\"value\": " SEED_TENSOR
			"}],\"kwargs\": {},\"num_tensors\": 3,\"return_value\": {\"type\": "
			"\"ttnn.Tensor\",\"shape\": [2, 3],\"dtype\": \"float32\",\"values\": "
			"[[3.0, 3.0, 3.0], [3.0, 3.0, 3.0]],\"original_shape\": [2, 3],\"original_dtype\": "
			"\"bfloat16\",\"layout\": \"TILE\",\"storage_type\": \"DEVICE_STORAGE\"}}",
			stamp);
		CHECK_STR(text, expected);
	}
	tt_free(text);
	text = text_of(dir, "1_ttnn_full_");
	CHECK(text && strstr(text, "\"type\": \"MeshDevice\",") &&
	      strstr(text, "\"value\": \"MeshDevice(1x1 grid, 1 devices)\""));
	CHECK(text && strstr(text, "\"repr\": \"DataType.BFLOAT16\""));
	tt_free(text);
	ttnn_tensor_unref(a);
	ttnn_tensor_unref(sum);
	ttnn_device_unref(device);
	remove_all(dir);
}

TEST(tt_metal_dialect_names_mesh_and_memory)
{
	ttnn_device *device = open_device();
	ttnn_tensor *a;
	const char *dir = test_path("metal");
	char *text;

	trace_to(dir, false);
	CHECK_OK(ttnn_params_set_dialect("tt-metal"));
	CHECK_OK(full(&a, device));
	stop();
	CHECK_OK(ttnn_params_set_dialect("seed"));
	CHECK_FAILS(ttnn_params_set_dialect("latin"), TTNN_NOTFOUND, "no dialect latin");
	text = text_of(dir, "1_ttnn_full_");
	CHECK(text != NULL);
	if (text) {
		squeeze(text);
		CHECK(strncmp(text,
			      "{\"operation_id\": 1,\"operation_name\": \"ttnn.full\",\"args\": [",
			      57) == 0);
		CHECK(strstr(text,
			     "{\"type\": \"MeshDevice\",\"repr\": \"MeshDevice(1x1 grid, 1 devices)\","
			     "\"shape\": [1,1],\"device_ids\": [0]}") != NULL);
		CHECK(strstr(text,
			     "\"return_value\": {\"type\": \"ttnn.Tensor\",\"original_shape\": [2,3],"
			     "\"original_dtype\": \"DataType.BFLOAT16\",\"mesh_device\": "
			     "{\"placements\": [\"PlacementReplicate\"],"
			     "\"distribution_shape\": [1],\"shape\": [1,1],\"device_ids\": [0]},"
			     "\"shape\": [2,3],\"dtype\": \"DataType.BFLOAT16\",\"layout\": "
			     "\"Layout.TILE\",\"storage_type\": \"StorageType.DEVICE\",\"memory_config\": "
			     "{\"memory_layout\": \"TensorMemoryLayout.INTERLEAVED\",\"buffer_type\": "
			     "\"BufferType.DRAM\",\"shard_spec\": \"None\",\"is_sharded\": false,"
			     "\"interleaved\": true,\"hash\": ") != NULL);
	}
	tt_free(text);
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
	remove_all(dir);
}

static void check_json(const struct ttnn_value *value, bool values, const char *expected)
{
	char *text = NULL;

	CHECK_OK(ttnn_params_json(&text, value, values));
	CHECK_STR(text, expected);
	ttnn_free(text);
}

TEST(values_of_every_kind)
{
	struct ttnn_shape shape = {2, {4, 5}}, empty = {2, {0, 3}};
	struct ttnn_value two[] = {ttnn_v_int(1), ttnn_v_none()}, value;
	struct ttnn_value pairs[] = {ttnn_v_string("a"), ttnn_v_real(0.1), ttnn_v_int(7),
				     ttnn_v_bool(true),  ttnn_v_none(),    ttnn_v_string("x")};
	const struct ttnn_value torch[] = {ttnn_v_string("type"),  ttnn_v_string("torch.Tensor"),
					   ttnn_v_string("shape"), ttnn_v_shape(&shape),
					   ttnn_v_string("dtype"), ttnn_v_string("torch.bfloat16")};
	struct ttnn_tensor_spec spec;
	struct ttnn_spec_args args = {.shape = empty};
	ttnn_tensor *tensor;

	value = ttnn_v_list(two, 2);
	check_json(&value, false, "[1, null]");
	value = ttnn_v_dict(pairs, 6);
	check_json(&value, false, "{\"a\": 0.1, \"7\": true, \"null\": \"x\"}");
	value = ttnn_v_shape(&shape);
	check_json(&value, false, "[4, 5]");
	value = ttnn_v_layout(TTNN_TILE);
	check_json(&value, false, "{\"type\": \"Layout\", \"repr\": \"Layout.TILE\"}");
	value = (struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = {7, 6}};
	check_json(&value, false, "{\"type\": \"CoreCoord\", \"value\": \"7-6\"}");
	value = ttnn_v_dict(torch, 6);
	check_json(&value, true,
		   "{\"type\": \"torch.Tensor\", \"shape\": [4, 5], \"dtype\": \"bfloat16\"}");
	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	CHECK_OK(ttnn_tensor_new(&tensor, &spec));
	value = ttnn_v_tensor(tensor);
	check_json(&value, true,
		   "{\"type\": \"ttnn.Tensor\", \"shape\": [0, 3], \"dtype\": \"float32\", "
		   "\"values\": [], \"original_shape\": [0, 3], \"original_dtype\": \"bfloat16\", "
		   "\"layout\": \"ROW_MAJOR\", \"storage_type\": \"HOST_STORAGE\"}");
	ttnn_tensor_unref(tensor);
}

/* ---- where they go, and what happens when they cannot ------------------------------------------------------ */

TEST(nothing_is_written_when_off_but_what_is_refused)
{
	ttnn_device *device = open_device();
	ttnn_tensor *a, *b = NULL;
	const char *dir = test_path("off");
	static const struct ttnn_shape odd = {2, {5, 7}};
	struct ttnn_arg args[] = {{NULL, {0}}, {NULL, {0}}};
	char *text;

	trace_to(dir, false);
	stop();
	CHECK_OK(full(&a, device));
	CHECK(access(dir, F_OK) != 0);
	trace_to(dir, false);
	args[0].value = ttnn_v_tensor(a);
	args[1].value = ttnn_v_shape(&odd);
	CHECK(ttnn_call_one(&b, "ttnn.add", args, 2, TTNN_FRONTEND_C) != TTNN_OK);
	CHECK_INT(ttnn_params_counter(), 1);
	CHECK(strstr(ttnn_error(), "ttnn.add") != NULL); /* not what making the folder said */
	text = text_of(dir, "1_ttnn_add_");
	CHECK(text && strstr(text, "\"num_tensors\": 1,\n  \"error\": \""));
	CHECK(text && strstr(text, "ttnn.add(): incompatible function arguments"));
	CHECK(text && !strstr(text, "return_value"));
	tt_free(text);
	stop();
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
}

/* The operation goes on, numbers are used again, the next good directory has no gap. */
TEST(a_directory_that_cannot_be_is_no_harm)
{
	ttnn_device *device = open_device();
	const char *file = test_path("file"), *dir = test_path("after");
	uint64_t lost = ttnn_params_flush();
	char inside[600];
	ttnn_tensor *a;

	CHECK_OK(tt_file_save(file, "x", 1));
	snprintf(inside, sizeof(inside), "%s/deeper/still", file);
	trace_to(dir, false);
	CHECK_OK(full(&a, device));
	ttnn_tensor_unref(a);
	CHECK_OK(ttnn_params_trace(true, false, inside)); /* below a file: like a read-only disk */
	tt_log_set_level(TT_LOG_ERROR);
	for (int i = 0; i < 3; i++) {
		CHECK_OK(full(&a, device));
		ttnn_tensor_unref(a);
	}
	CHECK_OK(ttnn_params_trace(true, true, inside));
	CHECK_OK(full(&a, device));
	ttnn_tensor_unref(a);
	tt_log_set_level(TT_LOG_WARN);
	CHECK_INT(ttnn_params_flush() - lost, 4);
	CHECK_OK(ttnn_params_trace(true, false, dir));
	CHECK_OK(full(&a, device));
	ttnn_tensor_unref(a);
	remove_all(dir); /* gone meanwhile: it is made again */
	CHECK_OK(full(&a, device));
	ttnn_tensor_unref(a);
	stop();
	CHECK_INT(numbered(dir, 3, 3), 1);
	ttnn_device_unref(device);
	remove_all(dir);
}

/* Behind the calls many files may wait that come to nothing: all their numbers are used again. */
TEST(many_files_that_fail_leave_no_gap)
{
	ttnn_device *device = open_device();
	const char *file = test_path("file"), *dir = test_path("filled");
	char inside[600];
	ttnn_tensor *a;

	CHECK_OK(tt_file_save(file, "x", 1));
	snprintf(inside, sizeof(inside), "%s/deeper", file);
	trace_to(inside, false);
	ttnn_params_async(true);
	tt_log_set_level(TT_LOG_ERROR);
	for (int turn = 0; turn < 2; turn++) {
		for (int i = 0; i < 1500; i++) {
			CHECK_OK(full(&a, device));
			ttnn_tensor_unref(a);
		}
		ttnn_params_flush();
		CHECK_OK(ttnn_params_trace(true, false, dir));
	}
	tt_log_set_level(TT_LOG_WARN);
	stop();
	ttnn_params_async(false);
	CHECK_INT(numbered(dir, 1, 1500), 1500);
	ttnn_device_unref(device);
	remove_all(dir);
}

/* A limit on file sizes is a full disk that anyone can have. */
TEST(a_full_disk_leaves_no_half_file)
{
	ttnn_device *device = open_device();
	const char *dir = test_path("full");
	struct rlimit before, little;
	uint64_t lost = ttnn_params_flush();
	ttnn_tensor *a, *b;

	trace_to(dir, false);
	CHECK_OK(full(&a, device));
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	little = (struct rlimit){100, before.rlim_max};
	setrlimit(RLIMIT_FSIZE, &little);
	tt_log_set_level(TT_LOG_ERROR);
	CHECK_OK(add(&b, a, a));
	ttnn_tensor_unref(b);
	CHECK_OK(ttnn_params_set(TTNN_PARAMS_VALUES, true));
	CHECK_OK(add(&b, a, a));
	CHECK_OK(ttnn_params_set(TTNN_PARAMS_VALUES, false));
	ttnn_tensor_unref(b);
	setrlimit(RLIMIT_FSIZE, &before);
	tt_log_set_level(TT_LOG_WARN);
	CHECK_OK(add(&b, a, a));
	ttnn_tensor_unref(b);
	stop();
	CHECK_INT(ttnn_params_flush() - lost, 2);
	CHECK_INT(numbered(dir, 1, 2), 2);
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
	remove_all(dir);
}

/* ---- threads and processes ----------------------------------------------------------------------------------- */

#define EACH 40

static void *call_often(void *pointer)
{
	ttnn_tensor *tensor = pointer, *sum;

	for (int i = 0; i < EACH; i++)
		if (add(&sum, tensor, tensor) == TTNN_OK)
			ttnn_tensor_unref(sum);
	return NULL;
}

static void run_threads(const char *dir, bool async)
{
	ttnn_device *device = open_device();
	pthread_t threads[8];
	ttnn_tensor *a;

	CHECK_OK(full(&a, device));
	trace_to(dir, false);
	ttnn_params_async(async);
	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, call_often, a);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	stop();
	ttnn_params_async(false);
	CHECK_INT(numbered(dir, 1, 8 * EACH), 8 * EACH);
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
	remove_all(dir);
}

TEST(numbers_of_eight_threads_have_no_gaps)
{
	run_threads(test_path("threads"), false);
}

TEST(so_have_those_of_the_writing_thread)
{
	run_threads(test_path("async"), true);
}

#if defined(__SANITIZE_THREAD__)
#define FORKS 0 /* not supported with threads about */
#else
#define FORKS 1
#endif

TEST(a_fork_in_the_middle_shares_the_count)
{
	ttnn_device *device = open_device();
	const char *dir = test_path("fork");
	ttnn_tensor *a;
	int status = 0;
	pid_t child;

	if (!FORKS) {
		ttnn_device_unref(device);
		return;
	}
	CHECK_OK(full(&a, device));
	trace_to(dir, false);
	ttnn_params_async(true);
	call_often(a);
	child = fork();
	call_often(a);
	if (child == 0) {
		ttnn_params_flush();
		_exit(0);
	}
	waitpid(child, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	stop();
	ttnn_params_async(false);
	CHECK_INT(numbered(dir, 1, 3 * EACH), 3 * EACH);
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
	remove_all(dir);
}

/* ---- from a trace -------------------------------------------------------------------------------------------- */

/* Without the number of seconds, which the recorder and the tracer read one after the other. */
static void blank_stamp(char *text)
{
	char *at = text ? strstr(text, "\"timestamp\": \"") : NULL;

	if (at)
		memset(at + 14, '0', 22);
}

TEST(a_trace_gives_the_same_files)
{
	const char *live = test_path("live"), *made = test_path("made"),
		   *path = test_path("a.ttrace");
	static const char *const files[] = {"1_ttnn_full_", "2_ttnn_add_", "3_ttnn_deallocate_"};
	ttnn_device *device = open_device();
	struct tt_capture *capture;
	struct tt_source *source;
	ttnn_tensor *a, *b;
	struct ttnn_arg arg;
	struct ttnn_results none;
	uint64_t count;

	for (size_t i = 0; i < 2; i++) {
		const struct tt_params_style *style = tt_params_style_at(i);

		CHECK_OK(tt_capture_begin(&capture, &(struct tt_capture_options){.path = path}));
		trace_to(live, false);
		CHECK_OK(ttnn_params_set_dialect(style->name));
		CHECK_OK(full(&a, device));
		CHECK_OK(add(&b, a, a));
		arg = (struct ttnn_arg){NULL, ttnn_v_tensor(b)};
		CHECK_OK(ttnn_call(&none, "ttnn.deallocate", &arg, 1, TTNN_FRONTEND_C));
		stop();
		CHECK_OK(tt_capture_stop(NULL, capture));
		tt_capture_free(capture);
		CHECK_OK(tt_source_open(&source, path));
		CHECK_OK(tt_params_export(&count, source, made, style));
		tt_source_close(source);
		CHECK_INT(count, 3);
		for (size_t k = 0; k < 3; k++) {
			char *want = text_of(live, files[k]), *got = text_of(made, files[k]);

			blank_stamp(want);
			blank_stamp(got);
			CHECK_STR(got, want ? want : "no such file");
			tt_free(want);
			tt_free(got);
		}
		ttnn_tensor_unref(a);
		ttnn_tensor_unref(b);
		remove_all(live);
		remove_all(made);
	}
	CHECK_OK(ttnn_params_set_dialect("seed"));
	ttnn_device_unref(device);
}

/* ---- for want of memory ----------------------------------------------------------------------------------- */

SCENARIO(a_file_while_memory_runs_out)
{
	struct ttnn_shape shape = {2, {4, 5}};
	struct ttnn_value items[] = {ttnn_v_int(1), ttnn_v_shape(&shape)};
	struct ttnn_arg args[] = {{NULL, ttnn_v_list(items, 2)}, {"x", ttnn_v_layout(TTNN_TILE)}};
	struct ttnn_told_call call = {.name = "ttnn.test", .args = args, .arg_count = 2};
	const char *dir = test_path("memory");
	char *path;

	call.result = ttnn_v_none();
	for (int values = 0; values < 2; values++) {
		TT_TRY(ttnn_params_write(&path, &call, dir, values));
		remove(path);
		ttnn_free(path);
	}
	rmdir(dir);
	return TTNN_OK;
}
