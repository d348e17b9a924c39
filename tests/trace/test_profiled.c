/* what profiles are told of programs: facts, times on each chip, replays, zones and marks */
#include "test.h"

#include <ttnn_frontend.h>
#include <ttnn_ops.h>
#include <ttnn_zones.h>

#include "base/pool.h"
#include "event/event.h"
#include "trace/source.h"

static ttnn_tensor *tensor_of(ttnn_device *device, uint32_t height, uint32_t width,
			      enum ttnn_dtype dtype)
{
	struct ttnn_shape shape = {2, {height, width}};
	ttnn_tensor *tensor = NULL;

	CHECK_OK(ttnn_ones(&tensor, &shape,
			   &(struct ttnn_ones_options){.dtype = ttnn_v_dtype(dtype),
						       .layout = ttnn_v_layout(TTNN_TILE),
						       .device = ttnn_v_device(device)}));
	return tensor;
}

/* ---- what was told ---------------------------------------------------------------------------- */

/* The last of each kind that belongs to a program of this name. */
struct found {
	bool facts;
	struct tt_event_facts fact;
	double input_bw[4];
	uint64_t cores, programs, runs, launch, launched;
	struct tt_event_program_run run[8];
	uint64_t ended_ns[8];
	bool hit;
	char source[64];
};

static void note_facts(struct found *found, const struct tt_event_program *program)
{
	found->programs++;
	found->hit = program->cache_hit;
	found->facts = tt_event_facts_read(&found->fact, program);
	if (!found->facts)
		return;
	found->cores = found->fact.cores ? ttnn_core_set_cores(found->fact.cores) : 0;
	for (size_t i = 0; i < found->fact.input_bw_count && i < 4; i++)
		found->input_bw[i] = found->fact.input_bw[i].real;
	snprintf(found->source, sizeof(found->source), "%s", found->fact.source);
}

static void find(struct found *found, const char *path, const char *name)
{
	struct tt_source *source;
	const struct tt_seen *seen;
	bool inside = false;

	*found = (struct found){.facts = false};
	CHECK_OK(tt_source_open(&source, path));
	while (tt_source_next(&seen, source) == TTNN_OK && seen) {
		const struct tt_event *event = &seen->event;

		if (event->kind == TT_EVENT_SCOPE_BEGIN && event->begin.kind == TT_SCOPE_DEVICE_OP)
			inside = strcmp(event->begin.name, name) == 0;
		if (event->kind == TT_EVENT_PROGRAM && inside)
			note_facts(found, &event->program);
		if (event->kind == TT_EVENT_PROGRAM_LAUNCH && inside)
			found->launched = event->launch.launch;
		if (event->kind != TT_EVENT_PROGRAM_RUN || strcmp(event->run.name, name) != 0)
			continue;
		found->ended_ns[found->runs % 8] = seen->time_ns;
		found->run[found->runs++ % 8] = event->run;
	}
	tt_source_close(source);
}

static ttnn_trace *begin(const char *path, bool profile)
{
	ttnn_trace *trace = NULL;

	CHECK_OK(ttnn_trace_begin(&trace,
				  &(struct ttnn_trace_options){.path = path, .profile = profile}));
	return trace;
}

static void add_once(ttnn_device *device, uint32_t height, uint32_t width, enum ttnn_dtype dtype)
{
	ttnn_tensor *a = tensor_of(device, height, width, dtype), *sum = NULL;

	CHECK_OK(ttnn_add(&sum, a, ttnn_v_tensor(a), NULL));
	ttnn_tensor_unref(sum);
	ttnn_tensor_unref(a);
}

static ttnn_device *open_chip(void)
{
	ttnn_device *device = NULL;

	CHECK_OK(ttnn_device_open(&device, 0, &(struct ttnn_device_options){.profile = "n150"}));
	return device;
}

/* ---- facts ------------------------------------------------------------------------------------ */

/* One program takes any shape: what it has in L1 says nothing of the cores that have work. */
TEST(cores_are_those_with_work_also_of_a_cached_program)
{
	static const struct {
		uint32_t height, width;
		uint64_t cores;
	} rows[] = {{256, 256, 64}, {32, 32, 1}, {32, 96, 3}, {256, 256, 64}, {1024, 1024, 64}};
	ttnn_device *device = open_chip();
	struct found found;
	uint64_t hash = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *path = test_path("cores.ttrace");
		ttnn_trace *trace = begin(path, false);

		add_once(device, rows[i].height, rows[i].width, TTNN_FLOAT32);
		CHECK_OK(ttnn_trace_end(NULL, trace));
		find(&found, path, "BinaryNgDeviceOperation");
		CHECK_INT(found.programs, 1);
		CHECK(found.facts && found.hit == (i > 0));
		CHECK_INT(found.cores, rows[i].cores);
		CHECK(!i || found.fact.hash == hash);
		hash = found.fact.hash;
		remove(path);
	}
	/* As the row of an addition in a real profile: 1, 1, 1 and no rates. */
	CHECK(found.fact.computes && found.fact.has_fidelity && !found.fact.modelled);
	CHECK_INT(found.fact.fidelity, 4);
	CHECK_STR(found.source, "src/ops/eltwise/binary.c");
	CHECK_INT(found.runs, 0); /* nobody profiled */
	ttnn_device_unref(device);
}

/* More than a program keeps facts of. */
TEST(many_shapes_of_one_program)
{
	const char *path = test_path("shapes.ttrace");
	ttnn_device *device = open_chip();
	const struct tt_seen *seen;
	struct tt_source *source;
	uint32_t tiles = 0;
	bool inside = false;
	ttnn_trace *trace;

	add_once(device, 32, 32, TTNN_BFLOAT16);
	trace = begin(path, false);
	for (uint32_t i = 1; i <= 80; i++)
		add_once(device, 32, 32 * i, TTNN_BFLOAT16);
	CHECK_OK(ttnn_trace_end(NULL, trace));
	CHECK_OK(tt_source_open(&source, path));
	while (tt_source_next(&seen, source) == TTNN_OK && seen) {
		const struct tt_event *event = &seen->event;
		struct tt_event_facts facts;

		if (event->kind == TT_EVENT_SCOPE_BEGIN && event->begin.kind == TT_SCOPE_DEVICE_OP)
			inside = strcmp(event->begin.name, "BinaryNgDeviceOperation") == 0;
		if (event->kind != TT_EVENT_PROGRAM || !inside)
			continue;
		tiles++;
		CHECK(tt_event_facts_read(&facts, &event->program));
		CHECK_INT(ttnn_core_set_cores(facts.cores), tiles < 64 ? tiles : 64);
	}
	CHECK_INT(tiles, 80);
	tt_source_close(source);
	ttnn_device_unref(device);
	remove(path);
}

/* Upstream's own expectation of a product of two tiles. */
TEST(a_product_of_one_tile)
{
	const char *path = test_path("product.ttrace");
	ttnn_device *device = open_chip();
	ttnn_trace *trace = begin(path, false);
	ttnn_tensor *a = tensor_of(device, 32, 32, TTNN_BFLOAT16), *product = NULL;
	struct found found;

	CHECK_OK(ttnn_matmul(&product, a, a, NULL));
	CHECK_OK(ttnn_trace_end(NULL, trace));
	find(&found, path, "MatmulDeviceOperation");
	CHECK(found.facts && found.fact.modelled && found.fact.computes);
	CHECK_INT(found.cores, 1);
	CHECK_INT(found.fact.compute_ns, 1);
	CHECK_INT(found.fact.bandwidth_ns, 7);
	CHECK_INT(found.fact.ideal_ns, 7);
	CHECK_INT(found.fact.input_bw_count, 2);
	CHECK_INT(found.fact.output_bw_count, 1);
	CHECK(found.input_bw[0] == 292.5714416503906 && found.input_bw[1] == found.input_bw[0]);
	CHECK_INT(found.fact.fidelity, 2);
	ttnn_tensor_unref(product);
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
	remove(path);
}

/* A transposition moves data; only that of rows and columns goes through the matrix engine. */
TEST(what_moves_has_no_fidelity)
{
	const char *path = test_path("moves.ttrace");
	ttnn_device *device = open_chip();
	ttnn_tensor *a = tensor_of(device, 64, 96, TTNN_BFLOAT16), *rows = NULL, *other = NULL;
	ttnn_trace *trace = begin(path, false);
	struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	struct found found;

	CHECK_OK(ttnn_to_memory_config(&other, a, &l1, NULL));
	CHECK_OK(ttnn_transpose(&rows, a, 0, 1, NULL));
	CHECK_OK(ttnn_trace_end(NULL, trace));
	find(&found, path, "CopyDeviceOperation");
	CHECK(found.facts && !found.fact.computes && !found.fact.has_fidelity);
	CHECK(found.fact.modelled && found.fact.compute_ns > 1);
	CHECK_INT(found.cores, 6);
	find(&found, path, "TransposeDeviceOperation");
	CHECK(found.facts && found.fact.computes && found.fact.fidelity == 4);
	CHECK(found.fact.modelled && found.fact.ideal_ns >= found.fact.compute_ns);
	ttnn_tensor_unref(rows);
	ttnn_tensor_unref(other);
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
	remove(path);
}

/* Operations on a tensor of 64 × 96, each with the device operation that it launches. */
static void run_each(ttnn_tensor *a, ttnn_tensor **out)
{
	struct ttnn_value twice[] = {ttnn_v_tensor(a), ttnn_v_tensor(a)};
	struct ttnn_value transposed[] = {ttnn_v_int(1), ttnn_v_int(0)};
	struct ttnn_shape shape = {2, {96, 64}};

	CHECK_OK(ttnn_concat(&out[0], ttnn_v_list(twice, 2), NULL));
	CHECK_OK(ttnn_untilize(&out[1], a, NULL));
	CHECK_OK(ttnn_tilize(&out[2], out[1], NULL));
	CHECK_OK(ttnn_reshape(&out[3], a, &shape, NULL));
	CHECK_OK(ttnn_softmax(&out[4], a, NULL));
	CHECK_OK(ttnn_relu(&out[5], a, NULL));
	CHECK_OK(ttnn_typecast(&out[6], a, TTNN_FLOAT32, NULL));
	CHECK_OK(ttnn_clone(&out[7], a, NULL));
	CHECK_OK(ttnn_permute(&out[8], out[1], ttnn_v_list(transposed, 2), NULL));
	CHECK_OK(ttnn_layer_norm(&out[9], a, NULL));
}

/* Which have arithmetic, and a model, is as in profiles of cards (September 2025). */
TEST(operations_cost_what_profiles_of_cards_say)
{
	static const struct {
		const char *name;
		bool computes, modelled;
		size_t rates;
	} rows[] = {
		{"ConcatDeviceOperation", false, true, 2},
		{"UntilizeCodegenDeviceOperation", true, true, 1},
		{"TilizeDeviceOperation", true, true, 1},
		{"ReshapeViewDeviceOperation", false, true, 1},
		{"SoftmaxDeviceOperation", true, true, 1},
		{"UnaryDeviceOperation", true, false, 0},
		{"TypecastDeviceOperation", true, false, 0},
		{"CloneOperation", false, true, 1},
		{"LayerNormDeviceOperation", true, false, 0},
	};
	const char *path = test_path("costs.ttrace");
	ttnn_device *device = open_chip();
	ttnn_tensor *a = tensor_of(device, 64, 96, TTNN_BFLOAT16), *out[10] = {NULL};
	ttnn_trace *trace = begin(path, false);

	run_each(a, out);
	CHECK_OK(ttnn_trace_end(NULL, trace));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct found found;

		find(&found, path, rows[i].name);
		if (!found.facts || found.fact.computes != rows[i].computes ||
		    found.fact.has_fidelity != rows[i].computes ||
		    found.fact.modelled != rows[i].modelled ||
		    found.fact.input_bw_count != rows[i].rates)
			TEST_FAIL("%s: %d %d %d %zu", rows[i].name, found.facts,
				  found.fact.computes, found.fact.modelled,
				  found.fact.input_bw_count);
		CHECK(found.cores >= 1 && found.cores <= 64);
		CHECK(!found.fact.modelled ||
		      (found.fact.ideal_ns >= found.fact.compute_ns &&
		       found.fact.ideal_ns >= found.fact.bandwidth_ns && found.fact.compute_ns));
	}
	for (size_t i = 0; i < 10; i++)
		ttnn_tensor_unref(out[i]);
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
	remove(path);
}

/* ---- times ------------------------------------------------------------------------------------ */

static void check_run(const struct tt_event_program_run *run)
{
	CHECK(run->kernel > 0 && run->whole >= run->kernel);
	CHECK(run->threads >= 1);
	CHECK(run->busy_min <= run->busy_max && run->busy_max <= run->kernel);
	CHECK(run->busy_min * run->threads <= run->busy &&
	      run->busy <= run->busy_max * run->threads);
	CHECK(run->starts <= run->kernel);
}

TEST(a_kernel_has_an_end_and_threads_that_were_busy)
{
	const char *path = test_path("threads.ttrace");
	ttnn_device *device = open_chip();
	struct found found;
	ttnn_trace *trace;

	tt_pool_set_threads(3);
	trace = begin(path, true);
	add_once(device, 2048, 2048, TTNN_FLOAT32);
	CHECK_OK(ttnn_trace_end(NULL, trace));
	tt_pool_set_threads(0);
	find(&found, path, "BinaryNgDeviceOperation");
	CHECK_INT(found.runs, 1);
	CHECK_INT(found.run[0].launch, found.launched);
	CHECK_INT(found.run[0].session, 0);
	CHECK(found.run[0].threads <= 3);
	check_run(&found.run[0]);
	ttnn_device_unref(device);
	remove(path);
}

/* Chip after chip: each has its own start and end. */
TEST(chips_of_a_mesh_have_times_of_their_own)
{
	const char *path = test_path("mesh.ttrace");
	ttnn_device *mesh = NULL;
	struct found found;
	ttnn_trace *trace;

	CHECK_OK(ttnn_mesh_open(&mesh, &(struct ttnn_mesh_options){.rows = 1, .cols = 2},
				&(struct ttnn_device_options){.profile = "n300"}));
	trace = begin(path, true);
	add_once(mesh, 256, 256, TTNN_BFLOAT16);
	CHECK_OK(ttnn_trace_end(NULL, trace));
	find(&found, path, "BinaryNgDeviceOperation");
	CHECK_INT(found.runs, 2);
	CHECK(found.run[0].chip_id != found.run[1].chip_id);
	CHECK_INT(found.run[0].launch, found.run[1].launch);
	check_run(&found.run[0]);
	check_run(&found.run[1]);
	/* The second begins when the first has ended; a tick may be lost in between. */
	CHECK(found.ended_ns[1] - found.run[1].whole + 1 >= found.ended_ns[0]);
	ttnn_device_unref(mesh);
	remove(path);
}

/* ---- replays ---------------------------------------------------------------------------------- */

struct steps {
	uint64_t counts[TT_METAL_TRACE_DONE + 1];
	uint32_t last_session, id;
	uint64_t scopes;
};

static void count_steps(struct steps *out, const char *path)
{
	struct tt_source *source;
	const struct tt_seen *seen;

	*out = (struct steps){.scopes = 0};
	CHECK_OK(tt_source_open(&source, path));
	while (tt_source_next(&seen, source) == TTNN_OK && seen) {
		out->scopes += seen->event.kind == TT_EVENT_SCOPE_BEGIN;
		if (seen->event.kind != TT_EVENT_METAL_TRACE)
			continue;
		out->counts[seen->event.metal_trace.step]++;
		out->id = seen->event.metal_trace.trace_id;
		if (seen->event.metal_trace.session)
			out->last_session = seen->event.metal_trace.session;
	}
	tt_source_close(source);
}

TEST(replays_tell_the_launches_that_were_captured)
{
	const char *path = test_path("replays.ttrace");
	ttnn_device *device = open_chip();
	ttnn_tensor *a = tensor_of(device, 64, 64, TTNN_BFLOAT16), *sum = NULL, *twice = NULL;
	ttnn_trace *trace;
	struct found found;
	struct steps steps;
	uint32_t id;

	add_once(device, 64, 64, TTNN_BFLOAT16);
	trace = begin(path, true);
	CHECK_OK(ttnn_device_trace_begin(&id, device, 0));
	CHECK_OK(ttnn_add(&sum, a, ttnn_v_tensor(a), NULL));
	CHECK_OK(ttnn_add(&twice, sum, ttnn_v_tensor(sum), NULL));
	CHECK_OK(ttnn_device_trace_end(device, id, 0));
	for (int i = 0; i < 3; i++)
		CHECK_OK(ttnn_device_trace_run(device, id));
	ttnn_device_trace_release(device, id);
	CHECK_OK(ttnn_trace_end(NULL, trace));
	find(&found, path, "BinaryNgDeviceOperation");
	/* Nothing ran when it was captured; then two programs three times. */
	CHECK_INT(found.programs, 2);
	CHECK_INT(found.runs, 6);
	for (uint64_t i = 0; i < 6; i++) {
		CHECK_INT(found.run[i].trace_id, id);
		CHECK_INT(found.run[i].session, i / 2 + 1);
		CHECK_INT(found.run[i].launch, found.launched - 1 + i % 2);
		check_run(&found.run[i]);
	}
	count_steps(&steps, path);
	CHECK_INT(steps.counts[TT_METAL_TRACE_BEGIN], 1);
	CHECK_INT(steps.counts[TT_METAL_TRACE_END], 1);
	CHECK_INT(steps.counts[TT_METAL_TRACE_REPLAY], 3);
	CHECK_INT(steps.counts[TT_METAL_TRACE_DONE], 3);
	CHECK_INT(steps.counts[TT_METAL_TRACE_RELEASE], 1);
	CHECK_INT(steps.id, id);
	CHECK_INT(steps.last_session, 3);
	ttnn_tensor_unref(twice);
	ttnn_tensor_unref(sum);
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
	remove(path);
}

/* ---- zones and marks -------------------------------------------------------------------------- */

static void say_things(void)
{
	TTNN_ZONE("outer");
	ttnn_zone_begin(&(struct ttnn_zone){.function = "inner", .file = "x.py", .line = 7});
	ttnn_mark("MLIR_OP_LOCATION", "loc(a;b)");
	ttnn_message("MLIR_CONST_EVAL_OP;false", 0);
	ttnn_message("`TT_SIGNPOST: run: 1\nand more`", 0);
	ttnn_message("`TT_SIGNPOST: start`", 0);
	ttnn_message("plain", 0xf0f8ff);
	ttnn_frame();
	ttnn_emit_place("model.py", "forward", 12);
	ttnn_zone_end_as("renamed", 0xff);
	ttnn_zone_end();
}

TEST(zones_and_marks_as_they_were_said)
{
	const char *path = test_path("zones.ttrace");
	static const char *const expected[] = {"22 outer say_things",
					       "22 - inner",
					       "9 MLIR_OP_LOCATION|loc(a;b)|0",
					       "9 MLIR_CONST_EVAL_OP|false|0",
					       "9 run: 1|and more|0",
					       "9 start|-|0",
					       "9 plain|-|1",
					       "9 |-|2",
					       "21 model.py:12",
					       "23 renamed -",
					       "23 - -"};
	ttnn_trace *trace = begin(path, true);
	const struct tt_seen *seen;
	struct tt_source *source;
	size_t count = 0;

	say_things();
	CHECK_OK(ttnn_trace_end(NULL, trace));
	say_things(); /* nobody hears */
	CHECK_OK(tt_source_open(&source, path));
	while (tt_source_next(&seen, source) == TTNN_OK && seen) {
		const struct tt_event *event = &seen->event;
		char line[200] = "";

		if (event->kind == TT_EVENT_MARK)
			snprintf(line, sizeof(line), "9 %s|%s|%d", event->mark.text,
				 event->mark.detail ? event->mark.detail : "-", event->mark.kind);
		else if (event->kind == TT_EVENT_PLACE)
			snprintf(line, sizeof(line), "21 %s:%u", event->place.file,
				 event->place.line);
		else if (event->kind == TT_EVENT_ZONE_BEGIN || event->kind == TT_EVENT_ZONE_END)
			snprintf(line, sizeof(line), "%d %s %s", event->kind,
				 event->zone.name ? event->zone.name : "-",
				 event->zone.function ? event->zone.function : "-");
		else
			continue;
		CHECK(count < sizeof(expected) / sizeof(expected[0]));
		CHECK_STR(line, expected[count++]);
	}
	CHECK_INT(count, sizeof(expected) / sizeof(expected[0]));
	tt_source_close(source);
	remove(path);
}
