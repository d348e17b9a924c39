/*
 * post_combine.c: what experts gave for a token, weighted and added up. Models PostCombineReduceDeviceOperation of ttnn 0.81
 * (deepseek_prefill) with its one factory: specs, refusals, memory, cores. Experts are the dimension before the last; upstream takes
 * others, too, and reads what is not theirs.
 */
#include <inttypes.h>

#include "device/device.h"
#include "device/devtensor.h"
#include "device/work_split.h"
#include "golden/golden.h"
#include "ops/mem_rows.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"
#include "ops/values.h"
#include "tensor/enums.h"
#include "tensor/shape.h"
#include "tensor/tile.h"

#define ATTRS(X)                                                                                   \
	X(DIM, "expert_dim")                                                                       \
	X(MEMORY, "output_memory_config")
TT_ATTRS(schema, "PostCombineReduceParams", ATTRS);
enum { GIVEN, WEIGHTS, CHOICES, TABLE, INPUTS };
#define TILE_ELEMENTS (TT_TILE * TT_TILE) /* of a row that a tile of the kernel holds */
#define MOST_TILES 8                      /* that it adds up at once */

static tt_status post_combine_infer(struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[GIVEN]->spec.padded;
	struct ttnn_shape shape = {0};

	for (uint32_t i = 0; i < in->rank; i++)
		if (i != launch->attrs[DIM].integer)
			shape.dim[shape.rank++] = in->dim[i];
	launch->output_count = 1;
	return tt_spec_simple(&launch->specs[0], &shape, launch->inputs[GIVEN]->spec.dtype,
			      TTNN_TILE, launch->attrs[MEMORY].memory);
}

static tt_status check_shapes(const struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[GIVEN]->spec.padded;
	const struct ttnn_shape *weights = &launch->inputs[WEIGHTS]->spec.padded;

	TT_REQUIRE(!launch->inputs[CHOICES] == !launch->inputs[TABLE],
		   "indices.has_value() == expert_dispatch_table.has_value()",
		   "indices and expert_dispatch_table must be provided together or omitted "
		   "together; got indices=%s, expert_dispatch_table=%s",
		   launch->inputs[CHOICES] ? "true" : "false",
		   launch->inputs[TABLE] ? "true" : "false");
	TT_REQUIRE(in->rank >= 2, "combine_rank >= 2",
		   "combine_output rank must be at least 2 (expert + embedding dimensions), got %u",
		   in->rank);
	TT_REQUIRE(launch->attrs[DIM].integer < in->rank,
		   "operation_attributes.expert_dim < combine_rank",
		   "expert_dim %" PRId64 " must be less than combine_output rank %u",
		   launch->attrs[DIM].integer, in->rank);
	TT_REQUIRE(weights->rank == in->rank, "weights_rank == combine_rank",
		   "weights rank must match combine_output rank: got weights rank %u and "
		   "combine_output rank %u",
		   weights->rank, in->rank);
	for (uint32_t i = 0; i + 1 < in->rank; i++)
		TT_REQUIRE(weights->dim[i] == in->dim[i],
			   "weights_shape[dim] == combine_shape[dim]",
			   "weights padded_shape[%u] (%u) must match combine_output "
			   "padded_shape[%u] (%u)",
			   i, weights->dim[i], i, in->dim[i]);
	return TTNN_OK;
}

static tt_status post_combine_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[GIVEN]->spec, *choices, *table;
	const struct ttnn_tensor_spec *weights = &launch->inputs[WEIGHTS]->spec;

	TT_TRY(check_shapes(launch));
	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR,
		   "combine_output.layout() == ttnn::Layout::ROW_MAJOR",
		   "combine_output must be ROW_MAJOR");
	TT_REQUIRE(in->dtype == TTNN_BFLOAT16, "combine_output.dtype() == DataType::BFLOAT16",
		   "combine_output must be bfloat16");
	TT_REQUIRE(weights->layout == TTNN_ROW_MAJOR, "weights.layout() == ttnn::Layout::ROW_MAJOR",
		   "weights must be ROW_MAJOR");
	TT_REQUIRE(weights->dtype == TTNN_BFLOAT16, "weights.dtype() == DataType::BFLOAT16",
		   "weights must be bfloat16");
	if (!launch->inputs[CHOICES])
		return TTNN_OK;
	choices = &launch->inputs[CHOICES]->spec;
	table = &launch->inputs[TABLE]->spec;
	TT_REQUIRE(choices->layout == TTNN_ROW_MAJOR,
		   "indices->layout() == ttnn::Layout::ROW_MAJOR", "indices must be ROW_MAJOR");
	TT_REQUIRE(choices->dtype == TTNN_UINT16, "indices->dtype() == DataType::UINT16",
		   "indices must be uint16 (matching moe_grouped_topk output), got DataType::%s",
		   tt_enum_name(&tt_enum_dtype, (int64_t)choices->dtype));
	TT_REQUIRE(table->layout == TTNN_ROW_MAJOR,
		   "expert_dispatch_table->layout() == ttnn::Layout::ROW_MAJOR",
		   "expert_dispatch_table must be ROW_MAJOR");
	TT_REQUIRE(table->dtype == TTNN_INT32, "expert_dispatch_table->dtype() == DataType::INT32",
		   "expert_dispatch_table must be int32");
	return TTNN_OK;
}

static uint64_t token_count(const struct tt_launch *launch)
{
	uint64_t tokens = 1;

	for (int64_t i = 0; i < launch->attrs[DIM].integer; i++)
		tokens *= launch->inputs[GIVEN]->spec.padded.dim[i];
	return tokens;
}

static tt_status post_combine_choose(uint32_t *out, struct tt_launch *launch)
{
	uint32_t width = tt_shape_last(&launch->inputs[GIVEN]->spec.padded, 1);
	uint64_t tokens = token_count(launch), tiles = tt_div_up(width, TILE_ELEMENTS);

	*out = 0;
	TT_REQUIRE(width % TT_TILE == 0, "emb_dim % TILE_WIDTH == 0",
		   "Embedding dimension %u must be divisible by tile width (%u); remainder is %u",
		   width, TT_TILE, width % TT_TILE);
	TT_REQUIRE(tiles <= MOST_TILES, "emb_dim_cb_tiles <= 8",
		   "Embedding dimension tiles %" PRIu64 " must fit in 8 DST registers for batching",
		   tiles);
	TT_REQUIRE(tokens > 0, "num_tokens > 0",
		   "post_combine_reduce: num_tokens must be > 0, got %" PRIu64, tokens);
	TT_REQUIRE(tokens % TT_TILE == 0, "num_tokens % TOKENS_PER_CHUNK == 0",
		   "Number of tokens %" PRIu64 " must be divisible by %u for hardware tilization",
		   tokens, TT_TILE);
	return TTNN_OK;
}

/* 32 tokens at a time, row of cores after row. */
static tt_status post_combine_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *table = launch->inputs[TABLE], *choices = launch->inputs[CHOICES];
	uint64_t width = tt_shape_last(&launch->inputs[GIVEN]->spec.padded, 1);
	uint64_t tiles = tt_div_up(width, TILE_ELEMENTS), page = tt_page_bf16(launch);
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid,
			     token_count(launch) / TT_TILE, TTNN_ORIENT_ROW_MAJOR));
	return TT_PLAN(plan, split.all, TT_CB_ROW(0, "combine", .pages = tiles, .page = page),
		       TT_CB_ROW(1, "weight", .pages = 1, .page = page),
		       TT_CB_ROW(2, "dispatch_table", .pages = table ? table->spec.pages : 0,
				 .page = table ? tt_aligned_page(table) : 0),
		       TT_CB_ROW(3, "indices", .pages = choices ? TT_TILE : 0,
				 .page = choices ? tt_aligned_page(choices) : 0),
		       TT_CB_ROW(16, "output", .pages = TT_TILE * tiles, .page = page),
		       TT_CB_ROW(17, "rowmajor", .pages = TT_TILE * tiles, .page = page));
}

/* What an expert gave counts unless it is another group's, by the table, or without one has no weight. */
static tt_status post_combine_kernel(struct tt_launch *launch)
{
	const struct ttnn_shape *shape = &launch->inputs[GIVEN]->spec.shape;
	uint64_t width = tt_shape_last(shape, 1), experts = tt_shape_last(shape, 2), counts[INPUTS];
	uint64_t stride = tt_shape_last(&launch->inputs[WEIGHTS]->spec.shape, 1);
	double *values[INPUTS] = {NULL};
	float *sums;

	TT_NEED(launch->attrs[DIM].integer + 2 == shape->rank,
		"experts must be the dimension before the last");
	TT_NEED(experts && width && stride, "post_combine_reduce: there is nothing to add up");
	for (size_t i = 0; i < INPUTS; i++)
		if (launch->inputs[i])
			TT_TRY(tt_values_of(&values[i], &counts[i], launch, i));
	sums = tt_arena_calloc(launch->arena, counts[GIVEN] / experts + 1, sizeof(*sums));
	if (!sums)
		return tt_fail_nomem();
	for (uint64_t i = 0; i < counts[GIVEN] / width; i++) {
		double weight = values[WEIGHTS][i * stride];
		float *sum = &sums[i / experts * width];

		if (values[TABLE]
			    ? i >= counts[CHOICES] || values[CHOICES][i] >= (double)counts[TABLE] ||
				      values[TABLE][(uint64_t)values[CHOICES][i]] < 0
			    : weight == 0)
			continue;
		for (uint64_t c = 0; c < width; c++)
			sum[c] += (float)(weight * values[GIVEN][i * width + c]);
	}
	return tt_values_write(launch->outputs[0], sums, TTNN_FLOAT32);
}

static const struct tt_prog program = {
	.device_op = "PostCombineReduceDeviceOperation",
	.prim = "ttnn::prim::post_combine_reduce",
	.attrs = &schema,
	.infer = post_combine_infer,
	.validate = post_combine_validate,
	.choose = post_combine_choose,
	TT_FACTORY("ttnn::operations::experimental::deepseek_prefill::post_combine_reduce::"
		   "PostCombineReduceProgramFactory",
		   post_combine_memory),
	TT_KERNEL(post_combine_kernel),
};

static tt_status post_combine_expand(struct tt_call *call)
{
	static const struct ttnn_memory_config usual = {.buffer = TTNN_L1};
	const struct ttnn_memory_config *memory = tt_call_memory(call, "output_memory_config");

	return TT_LAUNCH_RETURN(
		call, &program,
		TT_INPUTS(tt_call_tensor(call, "combine_output"), tt_call_tensor(call, "weights"),
			  tt_call_tensor(call, "indices"),
			  tt_call_tensor(call, "expert_dispatch_table")),
		TT_BIND(call, schema, [MEMORY] = ttnn_v_memory(memory ? memory : &usual)));
}

/* Element by element: what its experts gave. */
static tt_status golden(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "combine_output");
	const struct tt_array *weights = tt_golden_in(golden, "weights");
	const struct tt_array *choices = tt_golden_in(golden, "indices");
	const struct tt_array *table = tt_golden_in(golden, "expert_dispatch_table");
	uint32_t experts, width;
	struct ttnn_shape shape;
	struct tt_array *out;

	TT_GOLDEN_NEED(in && weights && in->shape.rank > 1 && !choices == !table);
	shape = in->shape;
	experts = shape.dim[tt_from_end(&shape, 2)];
	width = shape.dim[tt_from_end(&shape, 1)];
	shape.dim[--shape.rank - 1] = width;
	out = tt_golden_out(golden, &shape, in->dtype);
	TT_GOLDEN_NEED(out && weights->count * width == in->count);
	for (uint64_t i = 0; i < out->count; i++)
		for (uint64_t e = 0; e < experts; e++) {
			uint64_t place = i / width * experts + e;
			double weight = *tt_at(weights, place);

			if (table && *tt_at(table, (uint64_t)*tt_at(choices, place)) < 0)
				weight = 0;
			*tt_at(out, i) += weight * *tt_at(in, place * width + i % width);
		}
	return TTNN_OK;
}

static const struct tt_prog *const programs[] = {&program, NULL};
static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.deepseek_prefill.post_combine_reduce",
	 .family = "post_combine",
	 .doc = "What experts gave for a token, weighted and added up.",
	 .sigs = {"combine_output: Tensor, weights: Tensor, indices: Tensor? = None, "
		  "expert_dispatch_table: Tensor? = None, *, expert_dim: size = 3, "
		  "output_memory_config: MemoryConfig? = None"},
	 .expand = post_combine_expand,
	 .golden = golden,
	 .pcc = 0.999,
	 .programs = programs},
};

const struct tt_op_family tt_family_post_combine = {"post_combine", ops, TT_COUNT(ops)};
