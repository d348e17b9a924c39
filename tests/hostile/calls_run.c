/* calls_run.c: one random call: its device, its text, what becomes of it. See calls.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "device/progcache.h"
#include "event/value_text.h"
#include "hostile/calls.h"

#define PATIENCE 300000000u /* ns: calls that take longer are cancelled */

/* ---- devices ----------------------------------------------------------------------------------------- */

/* Where calls are made; to add one: a row. */
static struct place {
	const char *profile;
	uint32_t rows, cols;
	unsigned share; /* of a hundred calls */
	ttnn_device *device;
} places[] = {
	{"n150", 1, 1, 70, NULL},
	{"t3k", 1, 2, 10, NULL},
	{"t3k", 2, 2, 10, NULL},
	{"p150", 1, 1, 10, NULL},
};
static ttnn_device *other, *closed;
static ttnn_tensor *gone;

static ttnn_device *open_place(struct place *place)
{
	struct ttnn_device_options options = {.profile = place->profile};
	struct ttnn_mesh_options mesh = {.rows = place->rows, .cols = place->cols};

	if (!place->device && ttnn_mesh_open(&place->device, &mesh, &options) != TTNN_OK) {
		fprintf(stderr, "%s: %s\n", place->profile, ttnn_error());
		exit(2);
	}
	return place->device;
}

/* A device that is closed, with a tensor that was on it. */
static void open_others(void)
{
	struct ttnn_device_options options = {.profile = "n150"};
	struct ttnn_spec_args args = {.shape = {2, {32, 32}}, .layout = TTNN_TILE};
	struct ttnn_tensor_spec spec;

	if (ttnn_device_open(&other, 0, &options) != TTNN_OK ||
	    ttnn_device_open(&closed, 0, &options) != TTNN_OK ||
	    ttnn_tensor_spec_make(&spec, &args) != TTNN_OK ||
	    tt_device_tensor_new(&gone, closed, &spec) != TTNN_OK) {
		fprintf(stderr, "%s\n", ttnn_error());
		exit(2);
	}
	ttnn_device_close(closed);
}

static void draw_place(struct calls_draft *draft)
{
	uint64_t number = calls_random(draft, 100);
	struct place *place = places;

	for (; number >= place->share; place++)
		number -= place->share;
	if (!other)
		open_others();
	draft->device = open_place(place);
	draft->where = place->profile;
	draft->other = other;
	draft->closed = closed;
	draft->gone = gone;
}

/* ---- texts ------------------------------------------------------------------------------------------------ */

static void value_text(struct tt_str *out, const struct ttnn_value *value);

static void tensor_text(struct tt_str *out, ttnn_tensor *tensor)
{
	const struct ttnn_tensor_spec *spec = &tensor->spec;
	bool plain = spec->memory.layout == TTNN_INTERLEAVED;
	const struct ttnn_value parts[] = {
		ttnn_v_shape(&spec->shape), ttnn_v_dtype(spec->dtype), ttnn_v_layout(spec->layout),
		plain ? tt_value_enum(&tt_enum_buffer_type, (int64_t)spec->memory.buffer)
		      : ttnn_v_memory(&spec->memory)};

	tt_str_adds(out, "Tensor(");
	for (size_t i = 0; i < TT_COUNT(parts); i++) {
		value_text(out, &parts[i]);
		tt_str_adds(out, i + 1 < TT_COUNT(parts) ? ", " : "");
	}
	if (!ttnn_tensor_is_allocated(tensor))
		tt_str_adds(out, ", deallocated");
	else if (!tt_tensor_device(tensor))
		tt_str_adds(out, ", on host");
	tt_str_addc(out, ')');
}

static void value_text(struct tt_str *out, const struct ttnn_value *value)
{
	char *text = NULL;

	if (value->kind == TTNN_VALUE_TENSOR) {
		tensor_text(out, value->tensor);
	} else if (value->kind == TTNN_VALUE_LIST) {
		tt_str_addc(out, '[');
		for (uint32_t i = 0; i < value->count; i++) {
			tt_str_adds(out, i ? ", " : "");
			value_text(out, &value->items[i]);
		}
		tt_str_addc(out, ']');
	} else if (ttnn_value_text(&text, value) == TTNN_OK) {
		tt_str_adds(out, text);
		ttnn_free(text);
	}
}

static void print_call(const struct calls_draft *draft, const struct calls_which *which)
{
	const struct ttnn_device_info *info = ttnn_device_get_info(draft->device);
	struct tt_str text = {0};

	tt_str_addf(&text, "    %s%s(", draft->entry->op->name, which->golden ? ".golden" : "");
	for (size_t i = 0; i < draft->count; i++) {
		tt_str_addf(&text, "%s%s=", i ? ", " : "", draft->args[i].name);
		value_text(&text, &draft->args[i].value);
	}
	tt_str_addf(&text, ") on %s %u x %u%s%s", draft->where, info->rows, info->cols,
		    draft->dry ? ", dry" : "", draft->sparse ? ", tensors too" : "");
	fprintf(stderr, "%s\n", tt_str_text(&text));
	tt_str_deinit(&text);
}

/* ---- a call ------------------------------------------------------------------------------------------------- */

static uint64_t begun;

static bool go_on(void)
{
	return tt_clock_ns() - begun < PATIENCE;
}

static enum calls_outcome outcome_of(tt_status status, const struct calls_which *which)
{
	if (which->print && status != TTNN_OK)
		fprintf(stderr, "    %s: %s\n", ttnn_status_name(status), ttnn_error());
	if (status == TTNN_OK)
		return CALLS_RAN;
	if (!*ttnn_error())
		return CALLS_SILENT;
	return status == TTNN_INTERNAL ? CALLS_INTERNAL : CALLS_REFUSED;
}

static enum calls_outcome call(struct calls_draft *draft, const struct calls_which *which)
{
	enum ttnn_frontend frontend =
		calls_random(draft, 2) ? TTNN_FRONTEND_PYTHON : TTNN_FRONTEND_C;
	struct ttnn_results results = {.count = 0};
	tt_status status;

	begun = tt_clock_ns();
	ttnn_set_poll(go_on);
	status = which->golden ? ttnn_op_golden(&results, draft->entry, draft->args, draft->count)
			       : ttnn_op_call(&results, draft->entry, draft->args, draft->count,
					      frontend);
	ttnn_set_poll(NULL);
	for (size_t i = 0; i < results.count && status == TTNN_OK; i++)
		ttnn_tensor_unref(results.tensors[i]);
	return outcome_of(status, which);
}

/* Some captures are read, too. */
static void end_capture(struct calls_draft *draft)
{
	ttnn_graph *graph = NULL;
	char *json = NULL;

	if (ttnn_graph_end(&graph) == TTNN_OK && calls_chance(draft, 25) &&
	    ttnn_graph_json(&json, graph, 0) == TTNN_OK)
		ttnn_free(json);
	ttnn_graph_free(graph);
}

static void give_back(struct calls_draft *draft)
{
	for (size_t i = 0; i < draft->tensors.count; i++)
		ttnn_tensor_unref(draft->tensors.data[i]);
	for (size_t i = 0; i < draft->objects.count; i++)
		ttnn_object_free(draft->objects.data[i]);
	TT_VEC_DEINIT(&draft->tensors);
	TT_VEC_DEINIT(&draft->objects);
	tt_arena_deinit(&draft->arena);
	tt_progcache_clear(&draft->device->programs);
}

static uint64_t state_of(const struct calls_which *which)
{
	uint64_t hash = 0xcbf29ce484222325u ^ which->seed * 0x9e3779b97f4a7c15u ^ which->round;

	for (const char *at = which->entry->op->name; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
	return hash;
}

enum calls_outcome calls_make(const struct calls_which *which)
{
	struct calls_draft draft = {.entry = which->entry, .state = state_of(which)};
	uint64_t way = calls_random(&draft, 8);
	bool captured = way < 3 && !which->golden;
	enum calls_outcome outcome = CALLS_RAN;

	draft.dry = captured && way < 2;
	draft.sparse = draft.dry && way == 0;
	draw_place(&draft);
	if (captured && draft.sparse)
		ttnn_graph_begin_as(TTNN_RUN_NO_DISPATCH, TTNN_DIALECT_TT_METAL);
	calls_draw(&draft);
	if (captured && !draft.sparse)
		ttnn_graph_begin_as(draft.dry ? TTNN_RUN_NO_DISPATCH : TTNN_RUN_NORMAL,
				    calls_random(&draft, 2) ? TTNN_DIALECT_TT_METAL
							    : TTNN_DIALECT_SEED);
	if (which->print)
		print_call(&draft, which);
	if (!which->only_print)
		outcome = call(&draft, which);
	if (captured)
		end_capture(&draft);
	give_back(&draft);
	return outcome;
}
