/* The performance model against rows of real profiles. */
#include "test.h"

#include "base/file.h"
#include "base/json.h"
#include "device/perf.h"
#include "device/profile.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct ttnn_tensor_spec matrix(uint64_t rows, uint64_t cols, enum ttnn_dtype dtype,
				      enum ttnn_buffer_type buffer)
{
	return (struct ttnn_tensor_spec){
		.dtype = dtype, .rows = rows, .cols = cols, .memory = {.buffer = buffer}};
}

/* ---- products ------------------------------------------------------------------------------- */

TEST(passes_of_fidelities)
{
	CHECK_INT(tt_perf_passes(0), 1); /* LoFi */
	CHECK_INT(tt_perf_passes(2), 2);
	CHECK_INT(tt_perf_passes(3), 3);
	CHECK_INT(tt_perf_passes(4), 4);
	CHECK_INT(tt_perf_passes(255), 0); /* Invalid */
}

/* One tile by one tile, as upstream's own test expects it. */
TEST(one_tile_product)
{
	struct tt_perf_product product = {32, 32, 32, 1, 1};
	struct ttnn_tensor_spec tile = matrix(32, 32, TTNN_BFLOAT16, TTNN_DRAM);
	const struct ttnn_tensor_spec *both[] = {&tile, &tile};
	struct tt_perf_work work = {
		.inputs = both, .input_count = 2, .outputs = both, .output_count = 1};
	struct tt_profile *profile;
	struct tt_perf perf;
	char text[40];

	CHECK_OK(tt_profile_open(&profile, "n150"));
	work.cycles = tt_perf_product_cycles(&product, 64);
	perf = tt_perf_ideal(&profile->arch, &work);
	CHECK_INT(perf.compute_ns, 1);
	CHECK_INT(perf.bandwidth_ns, 7);
	CHECK_INT(perf.ideal_ns, 7);
	snprintf(text, sizeof(text), "%.16g", (double)tt_perf_request(&perf, &tile));
	CHECK_STR(text, "292.5714416503906");
	tt_profile_unref(profile);
}

TEST(products)
{
	static const struct {
		const char *profile;
		struct tt_perf_product product;
		uint32_t cores;
		uint64_t cycles, compute_ns;
	} rows[] = {
		/* 2·512³·2 / (64·4096) */
		{"n150", {512, 512, 512, 1, 2}, 64, 2048, 2048},
		{"n150", {4096, 4096, 4096, 1, 2}, 64, 1048576, 1048576},
		/* a tile product takes 16 cycles for each pass: 65,536 / 4,096 */
		{"n150", {32, 32, 32, 1, 4}, 1, 64, 64},
		{"p150", {1024, 1024, 1024, 8, 1}, 110, 38131, 28246},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct tt_perf_work work = {0};
		struct tt_profile *profile;

		CHECK_OK(tt_profile_open(&profile, rows[i].profile));
		work.cycles = tt_perf_product_cycles(&rows[i].product, rows[i].cores);
		CHECK_INT(work.cycles, rows[i].cycles);
		CHECK_INT(tt_perf_ideal(&profile->arch, &work).compute_ns, rows[i].compute_ns);
		tt_profile_unref(profile);
	}
	CHECK_INT(tt_perf_pool_cycles(3 * 3 * 56 * 56 * 64, 64), 14);
}

/* Nothing to compute, and nobody to do it: numbers, not whatever a cast makes of them. */
TEST(nothing_and_nobody)
{
	struct tt_perf_product empty = {0},
			       some = {.k = 32, .m = 32, .n = 32, .batch = 1, .passes = 1};

	CHECK(tt_perf_product_cycles(&empty, 0) == 0);
	CHECK(tt_perf_product_cycles(&empty, 64) == 0);
	CHECK(tt_perf_product_cycles(&some, 0) == UINT64_MAX);
	CHECK(tt_perf_pool_cycles(0, 0) == 0);
	CHECK(tt_perf_pool_cycles(1, 0) == UINT64_MAX);
}

TEST(bandwidth)
{
	struct ttnn_tensor_spec block = matrix(1024, 1024, TTNN_BFLOAT8_B, TTNN_DRAM);
	struct ttnn_tensor_spec l1 = matrix(4096, 4096, TTNN_FLOAT32, TTNN_L1);
	const struct ttnn_tensor_spec *inputs[] = {&l1}, *outputs[] = {&block};
	struct tt_perf_work work = {.inputs = inputs, .input_count = 1};
	struct tt_profile *profile;

	CHECK_OK(tt_profile_open(&profile, "p150"));
	CHECK_INT(tt_perf_ideal(&profile->arch, &work).bandwidth_ns, 1);
	work.outputs = outputs;
	work.output_count = 1;
	/* 2^20 bytes at 512 GiB/s */
	CHECK_INT(tt_perf_ideal(&profile->arch, &work).bandwidth_ns, 1907);
	CHECK_INT(TT_PERF_NONE.ideal_ns, 1);
	tt_profile_unref(profile);
}

/* ---- transfers --------------------------------------------------------------------------------- */

static void read_shape(struct ttnn_shape *out, const struct tt_json *list)
{
	*out = (struct ttnn_shape){.rank = (uint32_t)tt_json_count(list)};
	for (uint32_t i = 0; i < out->rank; i++) {
		int64_t n = 0;

		CHECK(tt_json_int(&n, tt_json_at(list, i)));
		out->dim[i] = (uint32_t)n;
	}
}

static void read_spec(struct ttnn_tensor_spec *out, const struct tt_json *row)
{
	const char *memory = tt_json_string(tt_json_get(row, "memory"), NULL);
	const char *layout = tt_json_string(tt_json_get(row, "layout"), NULL);
	const struct tt_json *padded = tt_json_get(row, "padded");
	struct ttnn_shape pair;

	*out = (struct ttnn_tensor_spec){.tile = {32, 32, false}, .rows = 1};
	read_shape(&out->shape, tt_json_get(row, "shape"));
	read_shape(&out->padded, padded ? padded : tt_json_get(row, "shape"));
	CHECK_OK(ttnn_dtype_find(&out->dtype, tt_json_string(tt_json_get(row, "dtype"), NULL)));
	out->layout = strcmp(layout, "TILE") == 0 ? TTNN_TILE : TTNN_ROW_MAJOR;
	for (uint32_t i = 0; i + 1 < out->padded.rank; i++)
		out->rows *= out->padded.dim[i];
	out->cols = out->padded.dim[out->padded.rank - 1];
	out->memory.buffer = strncmp(memory, "DRAM", 4) == 0 ? TTNN_DRAM : TTNN_L1;
	if (!strstr(memory, "SHARDED"))
		return;
	out->memory.layout = strstr(memory, "HEIGHT")  ? TTNN_HEIGHT_SHARDED
			     : strstr(memory, "WIDTH") ? TTNN_WIDTH_SHARDED
						       : TTNN_BLOCK_SHARDED;
	out->memory.has_shard = true;
	read_shape(&pair, tt_json_get(row, "grid"));
	CHECK_OK(ttnn_core_set_make(
		&out->memory.shard.grid,
		&(struct ttnn_core_range){{0, 0}, {pair.dim[0] - 1, pair.dim[1] - 1}}, 1));
	read_shape(&pair, tt_json_get(row, "shard"));
	out->memory.shard.height = pair.dim[0];
	out->memory.shard.width = pair.dim[1];
}

/*
 * How operations used the model in that release: cycles for a tile in rows of more than eight, and
 * whether the time of the result counted.
 */
static const struct {
	const char *op;
	struct tt_perf_move move;
	uint32_t wide_tile_cycles;
	bool free_result;
} users[] = {
	{"Untilize", {0}, 195, false},
	{"PermuteDeviceOperation", {.per_face_row = true}, 0, true},
	{"SliceDeviceOperation", {.output_only = true}, 0, false},
	{"ConcatDeviceOperation", {.joins = true}, 0, false},
};

static void check_row(const struct tt_json *row, const struct tt_arch *arch)
{
	const char *op = tt_json_string(tt_json_get(row, "op"), NULL);
	struct ttnn_tensor_spec input, output;
	const struct ttnn_tensor_spec *in = &input, *out = &output;
	struct tt_perf_move move = {0};
	struct tt_perf_work work = {
		.inputs = &in, .outputs = &out, .input_count = 1, .output_count = 1};
	int64_t compute = 0, bandwidth = 0, ideal = 0;
	struct tt_perf perf;
	double rate = 0;

	read_spec(&input, tt_json_get(row, "input"));
	read_spec(&output, tt_json_get(row, "output"));
	for (size_t i = 0; i < COUNT(users); i++)
		if (strcmp(users[i].op, op) == 0) {
			move = users[i].move;
			work.output_count = !users[i].free_result;
			if (input.cols > 256)
				move.compute_cycles = users[i].wide_tile_cycles *
						      (input.rows * input.cols / 1024);
		}
	move.input = in;
	move.output = out;
	work.cycles = tt_perf_move_cycles(arch, (struct tt_grid){5, 4}, &move);
	perf = tt_perf_ideal(arch, &work);
	CHECK(tt_json_int(&compute, tt_json_get(row, "compute")));
	CHECK(tt_json_int(&bandwidth, tt_json_get(row, "bandwidth")));
	CHECK(tt_json_int(&ideal, tt_json_get(row, "ideal")));
	CHECK(tt_json_real(&rate, tt_json_get(row, "output_rate")));
	if ((uint64_t)compute != perf.compute_ns)
		TEST_FAIL("%s: %" PRIu64 " ns, not %" PRId64, op, perf.compute_ns, compute);
	CHECK_INT(perf.bandwidth_ns, bandwidth);
	CHECK_INT(perf.ideal_ns, ideal);
	CHECK((double)tt_perf_request(&perf, out) == rate);
}

/*
 * Rows of a profile of September 2025, taken on a Blackhole with 5 × 4 cores. That release ran its
 * model with 1.2 GHz and with 96 GB/s of DRAM there.
 */
TEST(recorded_moves)
{
	struct tt_profile *profile;
	char *text, *line, *end;
	size_t size, count = 0;
	struct tt_arch arch;

	CHECK_OK(tt_profile_open(&profile, "p150"));
	arch = profile->arch;
	arch.clock_mhz = 1200;
	arch.dram_gb_per_s = 96;
	CHECK_OK(tt_file_read(&text, &size, "tests/data/devices/perf.jsonl"));
	for (line = text; line < text + size; line = end + 1, count++) {
		struct tt_json_doc *doc;

		end = strchr(line, '\n');
		CHECK_OK(tt_json_parse(&doc, line, (size_t)(end - line), "perf.jsonl"));
		check_row(tt_json_root(doc), &arch);
		tt_json_free(doc);
	}
	CHECK_INT(count, 81);
	tt_free(text);
	tt_profile_unref(profile);
}
