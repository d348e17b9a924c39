/*
 * classic.c: what an older release does otherwise (generation `classic`): operands of two are made equal by repeating
 * the smaller, by a program that takes tile after tile.
 *
 * Models RepeatDeviceOperation as recordings of that release show it: memory, cores. Its source is not at hand.
 */
#include "ops/eltwise/eltwise.h"

#include "backend/backend.h"
#include "ops/usual.h"

/* ---- repeat ------------------------------------------------------------------------------------- */

#define ATTRS(X)                                                                                   \
	X(DIM, "repeat_dim")                                                                       \
	X(TIMES, "num_repeats")                                                                    \
	X(MEMORY, "output_mem_config")
TT_ATTRS(schema, "RepeatDeviceOperation", ATTRS);

/* The older release's repeat: one dimension at a time. */
static tt_status classic_repeat_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_shape shape = in->shape;
	uint32_t *extent = &shape.dim[launch->attrs[DIM].integer];

	TT_NEED(!__builtin_mul_overflow(*extent, (uint32_t)launch->attrs[TIMES].integer, extent),
		"repeat: the result is too large");
	return tt_infer_one(launch, &shape, in->dtype, in->layout);
}

/* As many cores as the result has pages, column after column. */
static tt_status classic_repeat_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid,
			     launch->outputs[0]->spec.pages, TTNN_ORIENT_COL_MAJOR));
	return TT_PLAN(
		plan, split.all,
		TT_CB_ROW(0, "cb_src0", .pages = 2,
			  .page = in->layout == TTNN_TILE ? tt_page_in0(launch) : in->page_bytes));
}

/* The first loop is the repetition. */
static tt_status classic_repeat_kernel(struct tt_launch *launch)
{
	const struct ttnn_shape *shape = &launch->inputs[0]->spec.shape;
	int32_t dim = (int32_t)launch->attrs[DIM].integer;
	struct tt_move_loop loops[TTNN_MAX_RANK + 1];
	struct tt_move_job job = {
		.out = launch->outputs[0], .in = launch->inputs[0], .loops = loops};

	loops[job.loop_count++] = (struct tt_move_loop){(uint32_t)launch->attrs[TIMES].integer, -1,
							dim, 0, shape->dim[dim]};
	for (int32_t i = 0; i < (int32_t)shape->rank; i++)
		loops[job.loop_count++] = (struct tt_move_loop){shape->dim[i], i, i, 1, 1};
	return tt_backend_get()->move(&job);
}

static const struct tt_prog program = {
	.device_op = "RepeatDeviceOperation",
	.prim = "ttnn::prim::repeat",
	.prim_args = 5,
	.prim_blind = true,
	.attrs = &schema,
	.infer = classic_repeat_infer,
	TT_FACTORY("RepeatProgramFactory", classic_repeat_memory),
	TT_KERNEL(classic_repeat_kernel),
	.cost = tt_cost_move,
};

tt_status tt_classic_repeat(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_classic_repeat_args *args)
{
	const struct ttnn_value attrs[schema_count] = {
		[DIM] = ttnn_v_int(args->dim),
		[TIMES] = ttnn_v_int(args->times),
		[MEMORY] = ttnn_v_memory(args->memory ? args->memory : &args->input->spec.memory),
	};
	return TT_LAUNCH(out, call, &program, .attrs = attrs, TT_INPUTS(args->input));
}

/* ---- operands of the same extents ----------------------------------------------------------------- */

/* Repeats `small` where it has 1 and `large` more, in front of the last two dimensions. */
static tt_status grow(struct tt_tensor **small, struct tt_call *call, const struct tt_tensor *large)
{
	const struct ttnn_shape *from = &(*small)->spec.shape, *to = &large->spec.shape;
	struct ttnn_value times[TTNN_MAX_RANK];
	bool needed = false;

	if (from->rank != to->rank || from->rank < 3)
		return TTNN_OK;
	for (uint32_t i = 0; i < from->rank; i++) {
		bool outer = i + 2 < from->rank && from->dim[i] == 1;

		times[i] = ttnn_v_int(outer ? to->dim[i] : 1);
		needed |= outer && to->dim[i] > 1;
	}
	if (needed) {
		const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(*small)},
						{NULL, ttnn_v_list(times, from->rank)}};

		TT_TRY(tt_call_op(small, call, "ttnn.repeat", args, 2));
		tt_call_own(call, *small);
	}
	return TTNN_OK;
}

tt_status tt_classic_level(struct tt_tensor **a, struct tt_tensor **b, struct tt_call *call)
{
	TT_TRY(grow(b, call, *a));
	return grow(a, call, *b);
}
