/*
 * event_stage.h: events to tell in tests, the same for the same seed, and an ear that writes down what
 * it hears.
 */
#ifndef TT_TESTS_EVENT_STAGE_H
#define TT_TESTS_EVENT_STAGE_H

#include "event/alike.h"
#include "event/capture.h"
#include "event_text.h"
#include "tensor/core.h"
#include "test.h"
#include "trace/source.h"

/* ---- an ear that writes everything down -------------------------------------------------------------- */

struct ear {
	struct tt_event_listener listener;
	struct tt_str lines;
};

static inline void hear(struct tt_event_listener *self, const struct tt_event *event)
{
	struct ear *ear = (struct ear *)self;

	text_event(&ear->lines, event);
	tt_str_addc(&ear->lines, '\n');
}

/* All events of a source as lines, but those that no listener hears. */
static inline tt_status read_lines(struct tt_str *out, struct tt_source *source)
{
	const struct tt_seen *seen;

	for (;;) {
		TT_TRY(tt_source_next(&seen, source));
		if (!seen)
			return tt_str_status(out);
		if (seen->event.kind == TT_EVENT_THREAD)
			continue;
		text_event(out, &seen->event);
		tt_str_addc(out, '\n');
	}
}

static inline void check_same(const char *got, const char *want)
{
	size_t line = 1;

	while (*got && *want) {
		size_t a = strcspn(got, "\n"), b = strcspn(want, "\n");

		if (a != b || memcmp(got, want, a) != 0) {
			TEST_FAIL("event %zu is\n  %.*s, not\n  %.*s", line, (int)a, got, (int)b,
				  want);
			return;
		}
		got += a + 1;
		want += b + 1;
		line++;
	}
	if (*got || *want)
		TEST_FAIL("%s after event %zu", *got ? "more events" : "events missing", line - 1);
}

/* ---- events to tell ------------------------------------------------------------------------------------- */

static const struct tt_field config_fields[] = {
	{.name = "fidelity"},
	{.name = "fixed", .text = TT_TEXT_FIXED, .fixed = "<optional>", .unkeyed = true},
	{.name = "list", .omit_empty = true, .spaced = true, .json = "List"},
};
static const struct tt_schema config_schema = {"Config", config_fields, 3, true};
static const struct tt_enum_row color_rows[] = {{-1, "NONE"}, {0, "RED"}, {300, "BLUE"}};
static const struct tt_enum colors = {"Color", color_rows, 3};

struct stage {
	uint64_t random;
	struct ttnn_tensor_spec specs[4];
	const ttnn_core_set *sets[3];
	struct ttnn_value values[64];
	struct ttnn_value items[3][4];
	struct ttnn_value reals[2];
	struct ttnn_memory_config memory;
	struct ttnn_shard_spec shard;
	struct ttnn_nd_shard_spec nd_shard;
	struct tt_event_tensor tensors[5];
};

static inline void set_stage(struct stage *stage, uint64_t seed)
{
	struct ttnn_core_range two[] = {{{0, 0}, {3, 3}}, {{5, 1}, {6, 1}}};
	struct ttnn_spec_args args = {.layout = TTNN_TILE};

	*stage = (struct stage){.random = seed};
	CHECK_OK(tt_core_set_grid(&stage->sets[0], 8, 8));
	CHECK_OK(ttnn_core_set_make(&stage->sets[1], two, 2));
	CHECK_OK(tt_core_set_grid(&stage->sets[2], 1, 4));
	stage->shard = (struct ttnn_shard_spec){stage->sets[2], 32, 64, TTNN_ORIENT_COL_MAJOR};
	CHECK_OK(ttnn_memory_config_sharded(&stage->memory, TTNN_HEIGHT_SHARDED, TTNN_L1,
					    &stage->shard));
	stage->nd_shard = (struct ttnn_nd_shard_spec){
		.shape = {2, {32, 32}}, .grid = stage->sets[1], .strategy = TTNN_GRID_2D};
	for (int i = 0; i < 4; i++) {
		args.shape = (struct ttnn_shape){2, {32u * (1u + (unsigned)i), 64}};
		args.dtype = i == 1 ? TTNN_FLOAT32 : TTNN_BFLOAT16;
		if (i == 3) {
			args.shape.dim[0] = 128;
			args.memory = stage->memory;
		}
		CHECK_OK(ttnn_tensor_spec_make(&stage->specs[i], &args));
	}
}

static uint64_t draw(struct stage *stage, uint64_t below)
{
	return test_random(&stage->random) % below;
}

static inline size_t draw_tensors(struct stage *stage)
{
	size_t count = draw(stage, 5);

	for (size_t i = 0; i < count; i++) {
		bool device = draw(stage, 2);

		stage->tensors[i] = (struct tt_event_tensor){
			.id = draw(stage, 20) ? draw(stage, 50) : UINT64_MAX,
			.spec = &stage->specs[draw(stage, 4)],
			.on_device = device,
			.owns = draw(stage, 2),
		};
		if (!device)
			continue;
		stage->tensors[i].buffer_id = 1 + draw(stage, 1000);
		stage->tensors[i].address = draw(stage, 1u << 30);
		stage->tensors[i].device_id = (uint32_t)draw(stage, 3);
	}
	return count;
}

static inline size_t draw_values(struct stage *stage)
{
	struct ttnn_value *v = stage->values;
	size_t count = 0;

	v[count++] = (struct ttnn_value){0};
	v[count++] = ttnn_v_none();
	v[count++] = ttnn_v_bool(draw(stage, 2));
	v[count++] = ttnn_v_int((int64_t)test_random(&stage->random));
	v[count++] = ttnn_v_int(-(int64_t)draw(stage, 100));
	v[count++] = ttnn_v_real((double)draw(stage, 1000) / 7);
	v[count++] = ttnn_v_string(draw(stage, 2) ? "some text" : "");
	v[count++] = (struct ttnn_value){.kind = TTNN_VALUE_OPAQUE, .text = "<object>"};
	v[count++] = ttnn_v_dtype(TTNN_BFLOAT8_B);
	v[count++] = tt_value_enum(&colors, color_rows[draw(stage, 3)].value);
	v[count++] = tt_value_enum(&colors, 77); /* has no name */
	v[count++] = ttnn_v_shape(&stage->specs[draw(stage, 4)].shape);
	v[count++] = ttnn_v_memory(&stage->memory);
	v[count++] = ttnn_v_core_set(stage->sets[draw(stage, 3)]);
	v[count++] = (struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = {3, 9}};
	v[count++] = (struct ttnn_value){.kind = TTNN_VALUE_TILE, .tile = &stage->specs[0].tile};
	v[count++] = (struct ttnn_value){.kind = TTNN_VALUE_SHARD, .shard = &stage->shard};
	v[count++] = (struct ttnn_value){.kind = TTNN_VALUE_ND_SHARD, .nd_shard = &stage->nd_shard};
	stage->items[0][0] = ttnn_v_int(1);
	stage->items[0][1] = ttnn_v_none();
	v[count++] = ttnn_v_list(stage->items[0], draw(stage, 3));
	stage->items[1][0] = tt_value_enum(&tt_enum_math_fidelity, 4);
	stage->items[1][1] = v[count - 1];
	stage->items[1][2] = ttnn_v_list(NULL, 0);
	v[count++] = tt_value_object(&config_schema, stage->items[1]);
	v[count++] = (struct ttnn_value){.kind = TTNN_VALUE_SEEN_DEVICE, .count = 2};
	return count;
}

/* What is told of profiles. */
static inline void draw_profile(struct tt_event *event, struct stage *stage)
{
	switch (event->kind) {
	case TT_EVENT_PROGRAM_RUN:
		event->run = (struct tt_event_program_run){.chip_id = 3,
							   .launch = draw(stage, 1000),
							   .name = "BinaryNgDeviceOperation",
							   .threads = 2,
							   .trace_id = 1,
							   .session = (uint32_t)draw(stage, 3)};
		break;
	case TT_EVENT_METAL_TRACE:
		event->metal_trace = (struct tt_event_metal_trace){
			(enum tt_metal_trace_step)draw(stage, 5), 1, 2, (uint32_t)draw(stage, 3)};
		break;
	case TT_EVENT_PLACE:
		event->place = (struct tt_event_place){"model.py", "forward", 12};
		break;
	case TT_EVENT_ZONE_BEGIN:
		event->zone = (struct tt_event_zone){draw(stage, 2) ? "step" : NULL, "loop",
						     "loop.py", 7, 0xff0000};
		break;
	case TT_EVENT_ZONE_END:
		event->zone.name = draw(stage, 2) ? "named at its end" : NULL;
		break;
	default:
		break;
	}
}

static inline void draw_facts(struct tt_event_block *out, struct stage *stage,
			      struct ttnn_value *facts)
{
	stage->reals[0] = ttnn_v_real(292.5);
	stage->reals[1] = ttnn_v_real(0.125);
	tt_event_facts_values(facts, &(struct tt_event_facts){
					     .hash = test_random(&stage->random) | 1,
					     .cores = stage->sets[draw(stage, 3)],
					     .computes = true,
					     .has_fidelity = true,
					     .fidelity = 4,
					     .modelled = draw(stage, 2),
					     .compute_ns = 1,
					     .bandwidth_ns = 7,
					     .ideal_ns = 7,
					     .input_bw = stage->reals,
					     .input_bw_count = draw(stage, 3),
					     .output_bw = stage->reals,
					     .output_bw_count = 1,
					     .source = "src/ops/eltwise/binary.c",
				     });
	*out = (struct tt_event_block){facts, TT_FACT_VALUES, 0};
	out->hash = (uint64_t)facts[TT_FACT_HASH].integer;
}

static inline void draw_program(struct tt_event_program *out, struct stage *stage,
				struct ttnn_value *rows)
{
	out->factory = draw(stage, 2) ? "ProgramFactory" : NULL;
	out->cache_hit = true;
	out->device_id = (uint32_t)draw(stage, 3);
	if (!draw(stage, 3))
		return;
	tt_event_memory_values(
		rows, &(struct tt_event_program_memory){.kind = TT_MEMORY_SCRATCHPAD,
							.size = draw(stage, 3) << 40,
							.borrowed = draw(stage, 2),
							.cores = stage->sets[draw(stage, 3)]});
	out->memory = (struct tt_event_block){rows, TT_MEMORY_VALUES, 0};
	out->memory.hash = tt_block_hash(rows, TT_MEMORY_VALUES);
	draw_facts(&out->facts, stage, rows + TT_MEMORY_VALUES);
}

/* Tells one event of any kind that listeners hear. */
static inline void tell(struct stage *stage, enum tt_event_kind kind)
{
	static const char *const names[] = {"ttnn::add", "ttnn::prim::binary", "Tensor::to_device"};
	struct tt_event event = {.kind = kind};
	struct tt_event_frame frames[2] = {{.text = "File \"x.py\", line 1"}, {.text = ""}};
	struct ttnn_value rows[TT_MEMORY_VALUES + TT_FACT_VALUES];

	switch (kind) {
	case TT_EVENT_SCOPE_BEGIN:
		event.begin = (struct tt_event_scope_begin){
			.kind = (enum tt_scope_kind)draw(stage, 6),
			.name = names[draw(stage, 3)],
			.args = stage->values,
			.arg_count = draw_values(stage),
			.inputs = stage->tensors,
			.input_count = draw_tensors(stage),
		};
		if (draw(stage, 4) == 0) {
			event.begin.schema = &config_schema;
			event.begin.arg_count = 3;
		}
		break;
	case TT_EVENT_SCOPE_END:
		event.end = (struct tt_event_scope_end){.outputs = stage->tensors,
							.output_count = draw_tensors(stage),
							.aborted = draw(stage, 2)};
		break;
	case TT_EVENT_BUFFER_ALLOC:
	case TT_EVENT_BUFFER_FREE:
	case TT_EVENT_BUFFER_THERE:
		event.buffer = (struct tt_event_buffer){
			.buffer_id = draw(stage, 1u << 20),
			.device_id = 1,
			.type = (enum ttnn_buffer_type)draw(stage, 5),
			.layout = TTNN_BLOCK_SHARDED,
			.size = test_random(&stage->random),
			.page_size = 2048,
			.bank_size = 4096,
			.cores = 64,
			.address = draw(stage, 1u << 30),
			.real = draw(stage, 2),
		};
		break;
	case TT_EVENT_PROGRAM:
		draw_program(&event.program, stage, rows);
		break;
	case TT_EVENT_PROGRAM_MEMORY:
		event.memory = (struct tt_event_program_memory){
			.kind = (enum tt_program_memory_kind)draw(stage, 3),
			.index = 16,
			.size = 4096,
			.address = 99,
			.cores = stage->sets[draw(stage, 3)]};
		break;
	case TT_EVENT_PROGRAM_LAUNCH:
		event.launch.launch = draw(stage, 1000);
		event.launch.cores = stage->sets[0];
		break;
	case TT_EVENT_ERROR:
		event.error = (struct tt_event_error){TTNN_DEVICE_OOM, "it does not fit", "a < b"};
		break;
	case TT_EVENT_MARK:
		event.mark = (struct tt_event_mark){"step", draw(stage, 2) ? "1" : NULL,
						    (enum tt_mark_kind)draw(stage, 3),
						    (uint32_t)draw(stage, 1u << 24)};
		break;
	case TT_EVENT_TENSOR:
		event.mention = (struct tt_event_mention){stage->tensors, draw_tensors(stage)};
		break;
	case TT_EVENT_STACK:
		event.stack = (struct tt_event_stack){frames, 2, true};
		break;
	case TT_EVENT_PYTHON_IO:
		event.python_io.json = "{\"name\": \"ttnn.add\"}";
		break;
	case TT_EVENT_CALL:
		stage->items[2][0] = ttnn_v_list(stage->values, draw_values(stage));
		stage->items[0][0] = ttnn_v_string("key");
		stage->items[2][1] = (struct ttnn_value){
			.kind = TTNN_VALUE_DICT, .count = 2, .items = stage->items[0]};
		stage->items[2][2] = ttnn_v_none();
		event.call =
			(struct tt_event_call){"ttnn.add", stage->items[2], TT_CALL_VALUES, "text"};
		break;
	case TT_EVENT_PROGRAM_RUN:
	case TT_EVENT_METAL_TRACE:
	case TT_EVENT_PLACE:
	case TT_EVENT_ZONE_BEGIN:
	case TT_EVENT_ZONE_END:
		draw_profile(&event, stage);
		break;
	default:
		event.device.device_id = (uint32_t)draw(stage, 5);
		event.kind = TT_EVENT_PROGRAM_RELEASE;
		break;
	}
	tt_event_emit(&event);
}

/* Many events of all kinds, scopes in each other and all of them closed. */
static inline void tell_many(struct stage *stage, int count)
{
	int depth = 0;

	for (int i = 0; i < count; i++) {
		enum tt_event_kind kind = (enum tt_event_kind)draw(stage, TT_EVENT_KINDS);

		if (kind == TT_EVENT_SCOPE_END && !depth)
			kind = TT_EVENT_SCOPE_BEGIN;
		depth += kind == TT_EVENT_SCOPE_BEGIN;
		depth -= kind == TT_EVENT_SCOPE_END;
		tell(stage, kind);
	}
	while (depth--)
		tell(stage, TT_EVENT_SCOPE_END);
}

#endif
