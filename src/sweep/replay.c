/* replay.c: configurations run again, and judged. */
#include "sweep/replay.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "sweep/identity.h"
#include "sweep/partial.h"

#define L1_SMALL 24576 /* what the real models open devices with */

tt_status tt_replay_open(struct tt_replay_machine *out)
{
	tt_status status;

	*out = (struct tt_replay_machine){0};
	TT_TRY(tt_op_registry());
	status = ttnn_device_open(
		&out->device, 0,
		&(struct ttnn_device_options){.profile = "n150", .l1_small_size = L1_SMALL});
	if (status == TTNN_OK)
		status = ttnn_mesh_open(&out->pair,
					&(struct ttnn_mesh_options){.rows = 1, .cols = 2},
					&(struct ttnn_device_options){.profile = "n300"});
	if (status != TTNN_OK)
		tt_replay_close(out);
	return status;
}

tt_status tt_replay_open_as(struct tt_replay_machine *out, const char *profile, uint32_t rows,
			    uint32_t cols)
{
	struct ttnn_device_options options = {.profile = profile && *profile ? profile : NULL,
					      .l1_small_size = L1_SMALL};

	*out = (struct tt_replay_machine){0};
	TT_TRY(tt_op_registry());
	if (!rows)
		return ttnn_device_open(&out->device, 0, &options);
	return ttnn_mesh_open(&out->device, &(struct ttnn_mesh_options){.rows = rows, .cols = cols},
			      &options);
}

void tt_replay_close(struct tt_replay_machine *machine)
{
	ttnn_device_unref(machine->pair);
	ttnn_device_unref(machine->device);
	*machine = (struct tt_replay_machine){0};
}

bool tt_replay_apart(const char *op)
{
	const struct tt_op_entry *entry = tt_op_find(op);

	return entry && strcmp(entry->op->family, "collective") == 0;
}

static bool has_golden(const char *op)
{
	const struct tt_op_entry *entry = tt_op_find(op);

	return entry && entry->op->golden;
}

/* ---- one run ------------------------------------------------------------------------------------------- */

static void drop_results(struct ttnn_results *results)
{
	for (size_t i = 0; i < results->count; i++)
		ttnn_tensor_unref(results->tensors[i]);
	results->count = 0;
}

/* One run of a call, and what is known of it. */
struct attempt {
	const char *op;
	struct tt_inputs *inputs;
	struct tt_verdict *verdict;
	bool retrace;
	bool called; /* the operation took its arguments and ended */
	struct tt_identity_found found;
};

/* Calls, and traces that if it is asked for: the one place where a sweep runs an operation. */
static tt_status make_call(struct ttnn_results *results, struct attempt *attempt,
			   const struct tt_traced_call *call)
{
	struct tt_identity identity = {0};
	tt_status status;

	if (attempt->retrace)
		TT_TRY(tt_identity_begin(&identity));
	status = ttnn_call(results, attempt->op, call->args, call->count, TTNN_FRONTEND_C);
	attempt->called = status == TTNN_OK;
	if (status != TTNN_OK || !attempt->retrace) {
		tt_identity_drop(&identity);
		return status;
	}
	return tt_identity_end(&attempt->found, &identity, attempt->op, call);
}

static tt_status run_whole(struct attempt *attempt, const struct tt_traced_call *call)
{
	struct tt_arena arena = {0};
	struct tt_golden *golden = tt_arena_calloc(&arena, 1, sizeof(*golden));
	struct ttnn_results results = {.count = 0};
	tt_status status = golden ? TTNN_OK : tt_fail_nomem();

	/* The golden first: some operations write into what they are given. */
	if (status == TTNN_OK)
		status = tt_golden_run(golden, &arena, attempt->op, call->args, call->count);
	if (status == TTNN_OK)
		status = make_call(&results, attempt, call);
	/* Convolutions may give their prepared weights too, which are no part of the golden. */
	if (status == TTNN_OK && (!golden->out_count || results.count < golden->out_count))
		status = tt_fail(TTNN_INVALID, "%zu results, the golden has %zu", results.count,
				 golden->out_count);
	attempt->verdict->first = golden && golden->first_chip;
	for (size_t i = 0; status == TTNN_OK && i < golden->out_count; i++)
		status = tt_verdict_add(attempt->verdict, results.tensors[i], &golden->out[i]);
	drop_results(&results);
	tt_arena_deinit(&arena);
	return status;
}

static tt_status run_parts(struct attempt *attempt, const struct tt_traced_call *call)
{
	struct ttnn_results results = {.count = 0};
	tt_status status = make_call(&results, attempt, call);

	if (status == TTNN_OK)
		status = tt_partial_compare(attempt->verdict, attempt->inputs, call, &results);
	drop_results(&results);
	return status;
}

/* Without a golden: that it runs is all there is to see. */
static tt_status run_alone(struct attempt *attempt, const struct tt_traced_call *call)
{
	struct ttnn_results results = {.count = 0};
	tt_status status = make_call(&results, attempt, call);

	drop_results(&results);
	return status;
}

static tt_status run_call(struct attempt *attempt, const struct tt_traced_call *call)
{
	attempt->called = false;
	if (!has_golden(attempt->op))
		return run_alone(attempt, call);
	return tt_partial_wanted(attempt->op, attempt->inputs->elements) ? run_parts(attempt, call)
									 : run_whole(attempt, call);
}

static bool is_placing(const char *name)
{
	return strcmp(name, "memory_config") == 0 || strcmp(name, "program_config") == 0 ||
	       strcmp(name, "sharded_memory_config") == 0;
}

/*
 * Some placements of then are refused now, by upstream too. Such a configuration runs in DRAM, and
 * the refusal is told.
 */
static tt_status run_plain(struct attempt *attempt, struct tt_traced_call *call,
			   struct tt_arena *arena, const struct tt_call_source *source)
{
	const char *why = tt_arena_printf(arena, "refused as placed: %.*s",
					  (int)strcspn(ttnn_error(), "\n"), ttnn_error());

	tt_inputs_drop(attempt->inputs);
	attempt->inputs->plain = true;
	attempt->retrace = false;
	TT_TRY(tt_inputs_bind(call, attempt->inputs, arena, source));
	for (size_t i = 0; i < call->count; i++)
		if (is_placing(call->args[i].name))
			call->args[i].value = (struct ttnn_value){0};
	if (why && call->note_count < TT_TRACED_NOTES)
		call->notes[call->note_count++] = why;
	return run_call(attempt, call);
}

/* ---- its result ------------------------------------------------------------------------------------------- */

static void judge(struct tt_replay_result *out, tt_status status, const struct attempt *attempt)
{
	const struct tt_verdict *verdict = attempt->verdict;

	out->pcc = verdict->compared ? verdict->pcc : NAN;
	out->error = verdict->compared ? verdict->error : NAN;
	out->texts = attempt->found.texts;
	out->meant = attempt->found.meant;
	out->refused = status == TTNN_INVALID && !attempt->called;
	if (status == TTNN_OK && verdict->strange)
		status = tt_fail(TTNN_INVALID,
				 "it has a NaN or an infinity where the golden has a number");
	if (status == TTNN_OK && !verdict->compared && has_golden(attempt->op))
		status = tt_fail(TTNN_INTERNAL, "nothing of its result was compared");
	if (status == TTNN_OK && !(verdict->pcc >= out->bound))
		status = tt_fail(TTNN_INVALID, "a correlation of %.6f, less than %g", verdict->pcc,
				 out->bound);
	if (status == TTNN_OK && attempt->retrace && !attempt->found.same)
		status = tt_fail(TTNN_INVALID, "%s", attempt->found.why);
	out->outcome = status == TTNN_OK            ? TT_REPLAY_PASSED
		       : attempt->inputs->too_large ? TT_REPLAY_SKIPPED
						    : TT_REPLAY_FAILED;
	if (out->outcome == TT_REPLAY_PASSED && !has_golden(attempt->op))
		out->outcome = TT_REPLAY_UNJUDGED;
	if (out->outcome == TT_REPLAY_FAILED)
		snprintf(out->why, sizeof(out->why), "%s", ttnn_error());
}

tt_status tt_replay_run(struct tt_replay_result *out, struct tt_arena *arena,
			const struct tt_replay_machine *machine,
			const struct tt_call_source *source,
			const struct tt_replay_options *options)
{
	const struct tt_op_entry *entry = tt_op_find(source->op);
	struct tt_verdict verdict = {.pcc = 1};
	struct tt_traced_call call = {0};
	/* What was traced on two devices runs on two. */
	bool apart = tt_replay_apart(source->op);
	struct tt_inputs inputs = {.device =
					   machine->pair && apart ? machine->pair : machine->device,
				   .apart = apart,
				   .state = options->seed,
				   .largest = options->largest};
	struct attempt attempt = {.op = source->op,
				  .inputs = &inputs,
				  .verdict = &verdict,
				  .retrace = options->retrace};
	uint64_t begin = tt_clock_ns();
	tt_status status;

	*out = (struct tt_replay_result){.bound = entry ? entry->op->pcc : 1};
	status = tt_inputs_bind(&call, &inputs, arena, source);
	verdict.terms = (double)inputs.elements;
	if (status == TTNN_OK)
		status = run_call(&attempt, &call);
	if (status == TTNN_INVALID && !inputs.too_large && call.count && !options->stay &&
	    !attempt.called) {
		status = run_plain(&attempt, &call, arena, source);
		out->moved = status == TTNN_OK;
	}
	if (status == TTNN_NOMEM) {
		tt_inputs_drop(&inputs);
		return status;
	}
	judge(out, status, &attempt);
	memcpy(out->notes, call.notes, sizeof(out->notes));
	out->note_count = call.note_count;
	out->stood_in = call.note_count != 0;
	out->ns = tt_clock_ns() - begin;
	tt_inputs_drop(&inputs);
	return TTNN_OK;
}
