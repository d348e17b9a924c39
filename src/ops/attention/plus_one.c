/*
 * plus_one.c: counters of positions, counted up in place; -1 stays -1 if so asked
 * (skip_negative_entries), as it marks users who are not there.
 *
 * Models PlusOneDeviceOperation of ttnn 0.81 (experimental/plusone) with its one factory:
 * refusals, memory, cores.
 */
#include "backend/backend.h"
#include "ops/attention/kv_cache.h"
#include "ops/movement/movement.h"

#define ATTRS(X)                                                                                   \
	X(SUBGRID, "sub_core_grids", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>")             \
	X(SKIP, "skip_negative_entries")
TT_ATTRS(schema, "PlusoneParams", ATTRS);

static tt_status plus_one_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	TT_REQUIRE(
		in->dtype == TTNN_INT32 || in->dtype == TTNN_UINT32,
		"input_tensor.dtype() == tt::tt_metal::DataType::INT32 || input_tensor.dtype() == "
		"tt::tt_metal::DataType::UINT32",
		"Only INT32 and UINT32 is supported for inputs!");
	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR,
		   "input_tensor.layout() == tt::tt_metal::Layout::ROW_MAJOR",
		   "Only ROW_MAJOR layout is supported for inputs!");
	TT_REQUIRE(in->padded.rank >= 1 && in->padded.rank <= 4,
		   "input_shape.size() >= 1 && input_shape.size() <= 4",
		   "must have 1 to 4 dimensions for input tensor");
	return TTNN_OK;
}

/*
 * One core does it all, the first of the sub-grid; shards are counted up by all cores of a
 * sub-grid that was given.
 */
static tt_status plus_one_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0];
	const struct ttnn_value *grid = &launch->attrs[SUBGRID];
	const ttnn_core_set *cores =
		grid->kind == TTNN_VALUE_CORE_SET ? grid->core_set : launch->grid;
	struct ttnn_core_range first = {.start = ttnn_core_set_ranges(cores, NULL)[0].start};

	first.end = first.start;
	TT_TRY(ttnn_core_set_make(&cores, &first, 1));
	if (in->spec.memory.has_shard && grid->kind == TTNN_VALUE_CORE_SET)
		cores = grid->core_set;
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "src0_cb", .pages = 1, .page = tt_aligned_page(in),
				  .backing = in->spec.memory.has_shard ? in : NULL));
}

static tt_status plus_one_kernel(struct tt_launch *launch)
{
	static const struct tt_unary_step one = {.fn = TT_UNARY_ADD_UNARY_SFPU, .params = {1}};
	static const struct tt_unary_step counts = {.fn = TT_UNARY_GEZ};
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];

	if (!launch->attrs[SKIP].boolean)
		return tt_backend_get()->map(&(struct tt_map_job){
			.out = out, .arity = 1, .in = {in}, .post = &one, .post_count = 1});
	return tt_backend_get()->map(&(struct tt_map_job){.out = out,
							  .arity = 3,
							  .in = {in, in, in},
							  .pre = {&counts, &one, NULL},
							  .pre_count = {1, 1, 0},
							  .op = TT_TERNARY_WHERE});
}

static const struct tt_prog program = {
	.device_op = "PlusOneDeviceOperation",
	.prim = "ttnn::prim::plus_one",
	.attrs = &schema,
	.infer = tt_cache_infer,
	.validate = plus_one_validate,
	TT_FACTORY("ttnn::experimental::prim::PlusOneProgramFactory", plus_one_memory),
	TT_KERNEL(plus_one_kernel),
	.cost = tt_cost_unmodelled_move,
};

static tt_status plus_one_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	const struct ttnn_value attrs[schema_count] = {
		[SUBGRID] = *tt_call_arg(call, "sub_core_grids"),
		[SKIP] = *tt_call_arg(call, "skip_negative_entries"),
	};

	return tt_cache_launch(
		call, &(struct tt_program_args){.prog = &program, .attrs = attrs, TT_INPUTS(in)});
}

static const struct tt_op ops[] = {
	{.name = "ttnn.plus_one",
	 .doc = "Counts every entry up by one, in place.",
	 .sigs = {"input_tensor: Tensor, sub_core_grids: CoreRangeSet? = None, "
		  "skip_negative_entries: bool = False"},
	 .expand = plus_one_expand,
	 .golden = tt_golden_plus_one,
	 .pcc = 0.9999},
};

const struct tt_op_family tt_family_plus_one = {"kv_cache", ops, TT_COUNT(ops)};
