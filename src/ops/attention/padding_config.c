/*
 * padding_config.c: how many of a chip's rows hold tokens of a chunk, and on which side the others are.
 *
 * Models MoePaddingConfigDeviceOperation of ttnn 0.81 (deepseek_prefill) with its factory: refusals, memory, cores.
 */
#include <inttypes.h>

#include "device/device.h"
#include "device/devtensor.h"
#include "ops/attention/kv_cache.h"
#include "ops/mem_rows.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"
#include "ops/values.h"
#include "tensor/core.h"
#include "tensor/memory.h"
#include "tensor/shape.h"

#define ATTRS(X)                                                                                   \
	X(TOKENS, "tokens_per_chip")                                                               \
	X(SIDE, "pad_side")                                                                        \
	X(AXIS, "cluster_axis")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);
enum { CONFIG, START, END };
#define NUMBER_BYTES 16 /* that the kernel keeps for a number out of a tensor */

static tt_status padding_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *config = &launch->inputs[CONFIG]->spec;
	int64_t axis = launch->attrs[AXIS].integer, side = launch->attrs[SIDE].integer;

	TT_REQUIRE(axis == 0 || axis == 1, "args.cluster_axis == 0 || args.cluster_axis == 1",
		   "cluster_axis (%" PRId64 ") must be 0 or 1", axis);
	TT_REQUIRE(launch->attrs[TOKENS].integer > 0, "args.tokens_per_chip > 0",
		   "tokens_per_chip must be positive");
	TT_REQUIRE(side == 0 || side == 1, "args.pad_side == 0 || args.pad_side == 1",
		   "pad_side (%" PRId64 ") must be 0 (right) or 1 (left)", side);
	TT_REQUIRE(config->dtype == TTNN_UINT32, "config.dtype() == DataType::UINT32",
		   "config must be UINT32");
	TT_REQUIRE(config->layout == TTNN_ROW_MAJOR, "config.layout() == Layout::ROW_MAJOR",
		   "config must be ROW_MAJOR");
	TT_REQUIRE(tt_shape_last(&config->shape, 1) >= 2, "config.logical_shape()[-1] >= 2",
		   "config last dim (%u) must hold at least [local_real_tokens, pad_side]",
		   tt_shape_last(&config->shape, 1));
	TT_REQUIRE(!tt_memory_config_is_sharded(&config->memory), "!config.is_sharded()",
		   "config must not be L1-sharded (it is a per-device DRAM row)");
	TT_TRY(tt_cache_check_number(launch, START, "actual_start"));
	return tt_cache_check_number(launch, END, "actual_end");
}

static tt_status padding_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const ttnn_core_set *first;

	TT_TRY(tt_core_set_grid(&first, 1, 1));
	return TT_PLAN(
		plan, first,
		TT_CB_ROW(0, "out", .pages = 1, .page = tt_aligned_page(launch->inputs[CONFIG])),
		TT_CB_ROW(1, "meta", .pages = 1, .page = NUMBER_BYTES));
}

/* The first row is all that is written: [tokens, side, 0, ...]. */
static tt_status padding_kernel(struct tt_launch *launch)
{
	struct tt_cache_share sp = tt_cache_share(launch, &launch->attrs[AXIS]);
	uint64_t rows = (uint64_t)launch->attrs[TOKENS].integer, count, unused, first;
	uint64_t width = tt_shape_last(&launch->inputs[CONFIG]->spec.shape, 1);
	double *config, *start, *end;
	uint32_t *values;

	TT_TRY(tt_values_of(&config, &count, launch, CONFIG));
	TT_TRY(tt_values_of(&start, &unused, launch, START));
	TT_TRY(tt_values_of(&end, &unused, launch, END));
	values = tt_arena_calloc(launch->arena, count + 2, sizeof(*values));
	if (!values)
		return tt_fail_nomem();
	for (uint64_t i = width; i < count; i++)
		values[i] = (uint32_t)config[i];
	first = tt_cache_first_row((uint64_t)start[0], rows, &sp);
	for (uint64_t i = 0; i < rows && (double)tt_cache_token(first + i, rows, &sp) < end[0]; i++)
		values[0]++;
	values[1] = (uint32_t)launch->attrs[SIDE].integer;
	return tt_values_write(launch->outputs[0], values, TTNN_UINT32);
}

static const struct tt_prog program = {
	.device_op = "MoePaddingConfigDeviceOperation",
	.prim = "ttnn::prim::moe_padding_config",
	.attrs = &schema,
	.infer = tt_cache_infer,
	.validate = padding_validate,
	TT_FACTORY("ttnn::operations::experimental::deepseek_prefill::moe_padding_config::"
		   "MoePaddingConfigDeviceOperation::MeshWorkloadFactory",
		   padding_memory),
	TT_KERNEL(padding_kernel),
	.per_chip = true,
};

static tt_status padding_expand(struct tt_call *call)
{
	return tt_cache_launch(
		call, &(struct tt_program_args){.prog = &program,
						TT_INPUTS(tt_call_tensor(call, "config"),
							  tt_call_tensor(call, "actual_start"),
							  tt_call_tensor(call, "actual_end")),
						TT_BIND(call, schema, [TOKENS] = {0})});
}

/* On one chip tokens are behind each other. */
static tt_status golden(struct tt_golden *golden)
{
	const struct tt_array *config = tt_golden_in(golden, "config");
	const struct tt_array *start = tt_golden_in(golden, "actual_start");
	const struct tt_array *end = tt_golden_in(golden, "actual_end");
	struct tt_array *out = config ? tt_golden_out(golden, &config->shape, config->dtype) : NULL;
	double rows = (double)tt_call_int(&golden->call, "tokens_per_chip", 0), more;

	TT_GOLDEN_NEED(out && start && end && out->count > 1);
	more = *tt_at(end, 0) - *tt_at(start, 0);
	for (uint64_t i = tt_shape_last(&config->shape, 1); i < out->count; i++)
		*tt_at(out, i) = *tt_at(config, i);
	*tt_at(out, 0) = more < 0 ? 0 : more < rows ? more : rows;
	*tt_at(out, 1) = (double)tt_call_int(&golden->call, "pad_side", 0);
	return TTNN_OK;
}

static const struct tt_prog *const programs[] = {&program, NULL};
static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.deepseek_prefill.moe_padding_config",
	 .family = "padding_config",
	 .doc = "How many rows of a chip hold tokens of a chunk, and where the others are.",
	 .sigs = {"config: Tensor, actual_start: Tensor, actual_end: Tensor, tokens_per_chip: "
		  "size, pad_side: size, cluster_axis: size"},
	 .expand = padding_expand,
	 .golden = golden,
	 .pcc = 0.9999,
	 .programs = programs},
};

const struct tt_op_family tt_family_padding_config = {"padding_config", ops, TT_COUNT(ops)};
