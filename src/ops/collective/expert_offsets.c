/*
 * expert_offsets.c: where tokens of each chip go in the buffers of experts, from how many each chip has for them.
 *
 * Models OffsetCumsumDeviceOperation of ttnn 0.81 (deepseek_prefill) with its factory, behind an all_gather: refusals, specs,
 * placements, memory, one program for each chip.
 */
#include <inttypes.h>
#include <string.h>

#include "golden/golden_dispatch.h"
#include "ops/collective/exchange.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"
#include "ops/values.h"
#include "tensor/spread.h"

#define ATTRS(X)                                                                                   \
	X(AXIS, "cluster_axis")                                                                    \
	X(EACH, "experts_per_chip")
TT_ATTRS(schema, "OffsetCumsumParams", ATTRS);
enum { OFFSETS, TOTALS, REGIONS, ALL, OUTPUTS };

/* Those of the chip, totals, regions, and the offsets of all chips. */
static tt_status cumsum_infer(struct tt_launch *launch)
{
	static const struct ttnn_memory_config plain = {.buffer = TTNN_DRAM};
	const struct ttnn_shape *in = &launch->inputs[0]->spec.shape;
	struct ttnn_shape shape = {2, {1, tt_shape_last(in, 1)}};

	launch->output_count = OUTPUTS;
	for (size_t i = OFFSETS; i < OUTPUTS; i++) {
		if (i == ALL)
			shape.dim[0] = tt_shape_last(in, 2);
		TT_TRY(tt_spec_simple(&launch->specs[i], &shape, TTNN_UINT32, TTNN_ROW_MAJOR,
				      &plain));
	}
	return TTNN_OK;
}

static tt_status cumsum_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	int64_t each = launch->attrs[EACH].integer;

	TT_REQUIRE(in->dtype == TTNN_UINT32,
		   "input_tensor.dtype() == tt::tt_metal::DataType::UINT32",
		   "Only UINT32 is supported for inputs!");
	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR,
		   "input_tensor.layout() == tt::tt_metal::Layout::ROW_MAJOR",
		   "Only ROW_MAJOR layout is supported for inputs!");
	TT_REQUIRE(in->padded.rank == 2, "input_shape.size() == 2",
		   "Input tensor must be 2D [num_devices, n_routed_experts], got %u dimensions",
		   in->padded.rank);
	TT_REQUIRE(in->padded.dim[0] > 0, "input_shape[-2] > 0",
		   "H (num_devices) must be > 0, got %u", in->padded.dim[0]);
	TT_REQUIRE(in->padded.dim[1] > 0, "input_shape[-1] > 0",
		   "W (n_routed_experts) must be > 0, got %u", in->padded.dim[1]);
	TT_REQUIRE(each > 0 && in->padded.dim[1] % each == 0,
		   "args.experts_per_chip > 0 && input_shape[-1] % args.experts_per_chip == 0",
		   "n_routed_experts (%u) must be divisible by experts_per_chip (%" PRId64 ")",
		   in->padded.dim[1], each);
	return TTNN_OK;
}

static tt_status cumsum_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t rows = launch->inputs[0]->spec.padded.dim[0];
	const ttnn_core_set *first;

	TT_TRY(tt_core_set_grid(&first, 1, 1));
	return TT_PLAN(
		plan, first,
		TT_CB_ROW(0, "in", .pages = rows, .page = tt_aligned_page(launch->inputs[0])),
		TT_CB_ROW(1, "out", .pages = 1, .page = tt_aligned_page(launch->outputs[OFFSETS])),
		TT_CB_ROW(2, "all", .pages = rows, .page = tt_aligned_page(launch->outputs[ALL])));
}

/* Regions of the experts of a chip are behind each other, in whole tiles. */
static uint32_t region_step(uint32_t count)
{
	return count > UINT32_MAX - TT_TILE ? UINT32_MAX / TT_TILE * TT_TILE
					    : (count + TT_TILE - 1) / TT_TILE * TT_TILE;
}

static tt_status cumsum_kernel(struct tt_launch *launch)
{
	const struct ttnn_shape *shape = &launch->inputs[0]->spec.shape;
	uint64_t rows = shape->dim[0], width = shape->dim[1], count;
	uint64_t each = (uint64_t)launch->attrs[EACH].integer;
	struct tt_group group;
	uint32_t *out[OUTPUTS];
	double *in;

	TT_TRY(tt_values_of(&in, &count, launch, 0));
	for (size_t i = OFFSETS; i < OUTPUTS; i++) {
		out[i] = tt_arena_calloc(launch->arena, (rows + 1) * width, sizeof(*out[i]));
		TT_NEED_MEMORY(out[i]);
	}
	for (uint64_t i = 0; i < count; i++) {
		out[ALL][i] = out[TOTALS][i % width];
		out[TOTALS][i % width] += (uint32_t)in[i];
	}
	for (uint64_t e = 0; e < width; e++)
		out[REGIONS][e] =
			e % each ? out[REGIONS][e - 1] + region_step(out[TOTALS][e - 1]) : 0;
	for (uint64_t i = 0; i < count; i++)
		out[ALL][i] += out[REGIONS][i % width];
	tt_group_find(&group, launch->device, launch->attrs[AXIS].integer, launch->chip);
	if (group.own < rows)
		memcpy(out[OFFSETS], &out[ALL][group.own * width], width * sizeof(*out[ALL]));
	for (size_t i = OFFSETS; i < OUTPUTS; i++)
		TT_TRY(tt_values_write(launch->outputs[i], out[i], TTNN_UINT32));
	return TTNN_OK;
}

/* Every chip has its own along each axis. */
static uint64_t cumsum_spread(const struct tt_launch *launch)
{
	uint64_t out = launch->inputs[0]->spread;
	struct tt_spread axis;

	for (unsigned i = 0; (axis = tt_spread_at(out, i)).extent; i++)
		out = tt_spread_with(out, i, (struct tt_spread){axis.extent, true, (int32_t)i});
	return out;
}

/* The program of a chip knows its place in the group alone. */
static int64_t cumsum_axis(const struct tt_launch *launch)
{
	return launch->attrs[AXIS].integer;
}

static const struct tt_prog program = {
	.device_op = "OffsetCumsumDeviceOperation",
	.prim = "ttnn::prim::offset_cumsum",
	.attrs = &schema,
	.infer = cumsum_infer,
	.validate = cumsum_validate,
	TT_FACTORY("ttnn::experimental::prim::OffsetCumsumProgramFactory", cumsum_memory),
	TT_KERNEL(cumsum_kernel),
	.cost = tt_cost_unmodelled_move,
	.spread = cumsum_spread,
	.per_chip = true,
	.shared_across = cumsum_axis,
	.mute = true,
};

/* All counts to everybody, in rows. */
static tt_status gather_counts(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	struct ttnn_shape row = {2, {1, tt_shape_last(&in->spec.shape, 1)}};

	TT_TRY(tt_call_owned(call,
			     TT_CALL(out, call, "ttnn.reshape", {"input_tensor", ttnn_v_tensor(in)},
				     {"shape", ttnn_v_shape(&row)}),
			     out));
	TT_TRY(tt_call_owned(call,
			     TT_CALL(out, call, "ttnn.all_gather",
				     {"input_tensor", ttnn_v_tensor(*out)}, {"dim", ttnn_v_int(0)},
				     {"cluster_axis", *tt_call_arg(call, "cluster_axis")},
				     {"memory_config", *tt_call_arg(call, "memory_config")},
				     {"num_links", *tt_call_arg(call, "num_links")},
				     {"use_l1_small_for_semaphores",
				      *tt_call_arg(call, "use_l1_small_for_semaphores")}),
			     out));
	if ((*out)->spec.layout == TTNN_ROW_MAJOR)
		return TTNN_OK;
	return tt_call_owned(call,
			     TT_CALL(out, call, "ttnn.to_layout", {"tensor", ttnn_v_tensor(*out)},
				     {"layout", ttnn_v_layout(TTNN_ROW_MAJOR)}),
			     out);
}

static tt_status cumsum_expand(struct tt_call *call)
{
	struct tt_tensor *counts = NULL, *all;
	int64_t axis = tt_call_int(call, "cluster_axis", 0);

	TT_NEED(tt_call_tensor(call, "input_tensor")->spec.shape.rank,
		"offset_cumsum: counts have at least one dimension");
	TT_TRY(gather_counts(&counts, call, tt_call_tensor(call, "input_tensor")));
	TT_TRY(TT_LAUNCH_RETURN(call, &program, TT_INPUTS(counts),
				TT_BIND(call, schema, [AXIS] = ttnn_v_int(axis))));
	/* the chips of a group all have the last one */
	all = call->results[ALL];
	all->spread = tt_spread_with(
		all->spread, (unsigned)axis,
		(struct tt_spread){.extent = tt_spread_at(all->spread, (unsigned)axis).extent});
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.deepseek_prefill.offset_cumsum",
	 .family = "expert_offsets",
	 .doc = "Where tokens of each chip go in the buffers of experts, from how many there are.",
	 .sigs = {"input_tensor: Tensor, cluster_axis: size, num_links: size, experts_per_chip: "
		  "size, memory_config: MemoryConfig, use_l1_small_for_semaphores: bool = False"},
	 .expand = cumsum_expand,
	 .golden = tt_golden_offset_cumsum,
	 .pcc = 0.9999,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_expert_offsets = {"expert_offsets", ops, TT_COUNT(ops)};
