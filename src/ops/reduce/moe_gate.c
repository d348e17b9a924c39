/*
 * moe_gate.c: the best experts of a token on each core, and how much each counts.
 *
 * Models DeepseekMoeGateDeviceOperation and GeneralizedMoeGateDeviceOperation of ttnn 0.81 (deepseek/moe) with their one factory each:
 * refusals, memory, cores. A core has the scores of one token in blocks of 256 experts, 16 by 16; biases and the experts' numbers lie
 * transposed. What upstream leaves undefined beside the results is zero here.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "golden/golden_experts.h"
#include "ops/experts.h"
#include "ops/usual.h"
#include "ops/values.h"

#define GATE_ATTRS(X)                                                                              \
	X(EPSILON, "eps")                                                                          \
	X(SCALE, "scaling_factor")                                                                 \
	X(SIGMOID, "enable_sigmoid")
TT_ATTRS(gate_schema, "operation_attributes_t", GATE_ATTRS);
#define GENERAL_ATTRS(X)                                                                           \
	X(GENERAL_EPSILON, "eps")                                                                  \
	X(GENERAL_SCALE, "scaling_factor")                                                         \
	X(GENERAL_SIGMOID, "enable_sigmoid")                                                       \
	X(BEST, "topk")                                                                            \
	X(SOFTMAX, "output_softmax")                                                               \
	X(GROUPED, "grouped")
TT_ATTRS(general_schema, "operation_attributes_t", GENERAL_ATTRS);
enum { SCORES, BIAS, NUMBERS, WEIGHTS, CHOSEN, TENSORS };
static const char *const names[TENSORS] = {
	"input_tensor",  "bias_tensor",           "input_indices_tensor",
	"output_tensor", "output_indices_tensor",
};
#define SIDE 16u
#define BLOCK (SIDE * SIDE) /* experts whose scores are in a tile */
#define MOST 8u             /* experts that are chosen */

static tt_status gate_infer(struct tt_launch *launch)
{
	launch->output_count = 2;
	launch->specs[0] = launch->inputs[WEIGHTS]->spec;
	launch->specs[1] = launch->inputs[CHOSEN]->spec;
	return TTNN_OK;
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static tt_status refuse(const char *condition, const char *text)
{
	return tt_fail_cond(TTNN_INVALID, condition, "%s", text);
}

static tt_status check_kinds(struct tt_tensor *const *in)
{
	char condition[96];

	for (int i = 0; i < TENSORS; i++)
		TT_NEED(tt_tensor_device(in[i]), "%s must be on device", names[i]);
	for (int i = 1; i < TENSORS; i++)
		TT_NEED(tt_tensor_device(in[i]) == tt_tensor_device(in[0]),
			"All tensors must be on the same device");
	for (int i = 0; i < TENSORS; i++) {
		bool number = i == NUMBERS || i == CHOSEN;
		const char *dtype = number ? "UINT16" : "BFLOAT16";

		snprintf(condition, sizeof(condition), "%s.dtype() == DataType::%s", names[i],
			 dtype);
		TT_REQUIRE(in[i]->spec.dtype == (number ? TTNN_UINT16 : TTNN_BFLOAT16), condition,
			   "%s must be %s", names[i], dtype);
	}
	for (int i = 0; i < TENSORS; i++) {
		snprintf(condition, sizeof(condition), "%s.is_sharded()", names[i]);
		TT_REQUIRE(tt_memory_config_is_sharded(&in[i]->spec.memory), condition,
			   "%s must be sharded", names[i]);
	}
	return TTNN_OK;
}

static bool is_block(const struct ttnn_shape *shape)
{
	return shape->rank >= 2 &&
	       (uint64_t)tt_shape_last(shape, 1) * tt_shape_last(shape, 2) == BLOCK;
}

/* `general` is the program that takes more than one block. */
static tt_status check_shapes(struct tt_tensor *const *in, bool general)
{
	const struct ttnn_shape *scores = &in[SCORES]->spec.shape;

	if (!ttnn_shape_equal(&in[BIAS]->spec.shape, scores))
		return refuse("bias_shape == in_shape",
			      "Bias and input tensors must have the same shape");
	if (!general && !ttnn_shape_equal(&in[NUMBERS]->spec.shape, scores))
		return refuse("in_idx_shape == in_shape",
			      "Input indices and input tensors must have the same shape");
	if (!ttnn_shape_equal(&in[CHOSEN]->spec.shape, &in[WEIGHTS]->spec.shape))
		return refuse("out_idx_shape == out_shape",
			      "Output indices and output tensors must have the same shape");
	if (scores->rank < 2)
		return refuse("in_shape.size() >= 2", "input_tensor must have rank >= 2");
	if (!is_block(scores))
		return refuse("h * w == 256", general ? "Input tensor must have 256 elements per "
							"block (last two dims = one 256-block)"
						      : "Input tensor must have 256 elements per "
							"shard (last two dims)");
	if (general && !is_block(&in[NUMBERS]->spec.shape))
		return refuse("idx_h * idx_w == 256",
			      "input_indices must have 256 elements (one block, last two dims)");
	for (int i = 0; i < TENSORS; i++)
		TT_NEED(in[i]->spec.memory.has_shard, "%s must have a shard spec", names[i]);
	return TTNN_OK;
}

static const struct ttnn_shard_spec *shard_of(const struct tt_tensor *tensor)
{
	return &tensor->spec.memory.shard;
}

static bool same_extents(const struct ttnn_shard_spec *a, const struct ttnn_shard_spec *b)
{
	return a->height == b->height && a->width == b->width;
}

static tt_status check_input_shards(struct tt_tensor *const *in, bool general)
{
	const struct ttnn_shard_spec *scores = shard_of(in[SCORES]), *bias = shard_of(in[BIAS]);
	const struct ttnn_shard_spec *numbers = shard_of(in[NUMBERS]);

	if (!same_extents(scores, bias))
		return refuse("input_shard.shape == bias_shard.shape",
			      "Input and bias shard shapes must match");
	if (scores->orientation != bias->orientation)
		return refuse("input_shard.orientation == bias_shard.orientation",
			      "Input and bias shard orientations must match");
	if (!tt_core_set_includes(bias->grid, scores->grid))
		return refuse("bias_shard.grid.contains(all_cores)",
			      "Bias shard grid must contain input shard grid");
	if (!same_extents(scores, numbers))
		return refuse(
			"input_shard.shape == in_indices_shard.shape",
			general ? "Input-indices shard shape must equal input shard shape: the "
				  "kernel consumes num_blocks index tiles (derived from the input "
				  "shard), so a mismatched index shard would hang or route with "
				  "invalid ids (one 32x32 index tile per 256-block; block b holds "
				  "global ids)"
				: "Input and input-indices shard shapes must match");
	if (scores->orientation != numbers->orientation)
		return refuse("input_shard.orientation == in_indices_shard.orientation",
			      "Input and input-indices orientations must match");
	if (!tt_core_set_includes(numbers->grid, scores->grid))
		return refuse("in_indices_shard.grid.contains(all_cores)",
			      "Input-indices shard grid must contain input shard grid");
	return TTNN_OK;
}

static tt_status check_output_shards(struct tt_tensor *const *in)
{
	const struct ttnn_shard_spec *out = shard_of(in[WEIGHTS]), *chosen = shard_of(in[CHOSEN]);

	if (!tt_core_set_includes(out->grid, chosen->grid) ||
	    !tt_core_set_includes(chosen->grid, out->grid))
		return refuse("output_shard.grid == out_indices_shard.grid",
			      "Output and output-indices shard grids must match");
	if (!same_extents(out, chosen))
		return refuse("output_shard.shape == out_indices_shard.shape",
			      "Output and output-indices shard shapes must match");
	if (out->orientation != chosen->orientation)
		return refuse("output_shard.orientation == out_indices_shard.orientation",
			      "Output orientations must match");
	if (!tt_core_set_includes(out->grid, shard_of(in[SCORES])->grid))
		return refuse("output_shard.grid.contains(all_cores)",
			      "Output shard grid must contain input compute grid");
	return TTNN_OK;
}

static bool same_tile(const struct tt_tensor *a, const struct tt_tensor *b)
{
	return a->spec.tile.height == b->spec.tile.height &&
	       a->spec.tile.width == b->spec.tile.width;
}

static bool is_whole_tile(const struct tt_tensor *tensor)
{
	return tensor->spec.tile.height == TT_TILE && tensor->spec.tile.width == TT_TILE;
}

static tt_status check_tiles(struct tt_tensor *const *in)
{
	if (!same_tile(in[SCORES], in[BIAS]))
		return refuse("in_tile == bias_tensor.tensor_spec().tile()",
			      "Input and bias tiles must match");
	if (!same_tile(in[SCORES], in[NUMBERS]))
		return refuse("in_tile == input_indices_tensor.tensor_spec().tile()",
			      "Input and input-indices tiles must match");
	if (!same_tile(in[WEIGHTS], in[CHOSEN]))
		return refuse("out_tile == output_indices_tensor.tensor_spec().tile()",
			      "Output tiles must match");
	if (!is_whole_tile(in[SCORES]))
		return refuse("in_tile.get_height() == 32 && in_tile.get_width() == 32",
			      "Input tile must be 32x32");
	if (!is_whole_tile(in[WEIGHTS]))
		return refuse("out_tile.get_height() == 32 && out_tile.get_width() == 32",
			      "Output tile must be 32x32");
	return TTNN_OK;
}

static tt_status check_all(struct tt_tensor *const *in, bool general)
{
	TT_TRY(check_kinds(in));
	TT_TRY(check_shapes(in, general));
	TT_TRY(check_input_shards(in, general));
	TT_TRY(check_output_shards(in));
	return check_tiles(in);
}

static tt_status check_output_extents(const struct ttnn_shard_spec *out)
{
	TT_REQUIRE(out->height == TT_TILE && out->width == TT_TILE,
		   "output_shard.shape[0] == 32 && output_shard.shape[1] == 32",
		   "Output shard shape must be 32x32");
	return TTNN_OK;
}

static tt_status gate_validate(struct tt_launch *launch)
{
	const struct ttnn_shard_spec *shard = shard_of(launch->inputs[SCORES]);

	TT_TRY(check_all(launch->inputs, false));
	TT_REQUIRE(shard->height == TT_TILE && shard->width == TT_TILE,
		   "input_shard.shape[0] == 32 && input_shard.shape[1] == 32",
		   "Input shard shape must be 32x32");
	return check_output_extents(shard_of(launch->inputs[WEIGHTS]));
}

static uint64_t block_count(const struct tt_launch *launch)
{
	return tt_shard_tiles(&launch->inputs[SCORES]->spec);
}

static tt_status check_options(const struct tt_launch *launch)
{
	int64_t best = launch->attrs[BEST].integer;

	TT_REQUIRE(best == 4 || best == 6 || best == 8,
		   "attrs.topk == 4 || attrs.topk == 6 || attrs.topk == 8",
		   "topk must be one of {4, 6, 8} (the kernel rank-mask + op tests cover only "
		   "these), got %" PRId64,
		   best);
	if (!launch->attrs[GROUPED].boolean)
		return TTNN_OK;
	TT_REQUIRE(best == MOST, "attrs.topk == 8",
		   "grouped mode (DeepSeek gate) is hardwired to top-8; got topk=%" PRId64, best);
	TT_REQUIRE(
		!launch->attrs[SOFTMAX].boolean, "!attrs.output_softmax",
		"grouped mode (DeepSeek gate) normalizes linearly (score/Σ); output_softmax must "
		"be false");
	return TTNN_OK;
}

static tt_status general_validate(struct tt_launch *launch)
{
	const struct ttnn_shard_spec *shard = shard_of(launch->inputs[SCORES]);
	uint64_t blocks;

	TT_TRY(check_options(launch));
	TT_TRY(check_all(launch->inputs, true));
	TT_REQUIRE(shard->height % TT_TILE == 0 && shard->width % TT_TILE == 0,
		   "input_shard.shape[0] % 32 == 0 && input_shard.shape[1] % 32 == 0",
		   "Input shard must be 32x32 tile-aligned (num_blocks tiles per core)");
	TT_TRY(check_output_extents(shard_of(launch->inputs[WEIGHTS])));
	blocks = block_count(launch);
	TT_REQUIRE(blocks >= 1, "num_blocks >= 1", "input shard must hold at least one 32x32 tile");
	TT_REQUIRE(blocks <= 2, "num_blocks <= 2",
		   "generalized_moe_gate supports up to 2 blocks (<=512 experts), got %" PRIu64,
		   blocks);
	TT_REQUIRE(!launch->attrs[GROUPED].boolean || blocks == 1,
		   "!attrs.grouped || num_blocks == 1",
		   "grouped mode (DeepSeek gate) is single-256-block only; got num_blocks=%" PRIu64,
		   blocks);
	return TTNN_OK;
}

/* ---- memory ------------------------------------------------------------------------------------------------------- */

static tt_status tensors_plan(struct tt_plan *plan, const struct tt_launch *launch)
{
	static const struct {
		uint32_t index, tensor;
	} rows[] = {{0, SCORES}, {1, BIAS}, {2, WEIGHTS}, {3, NUMBERS}, {4, CHOSEN}};

	for (uint32_t i = 0; i < TENSORS; i++) {
		struct tt_tensor *tensor = launch->inputs[rows[i].tensor];

		TT_TRY(TT_PLAN(plan, shard_of(tensor)->grid,
			       TT_CB_ROW(rows[i].index, names[rows[i].tensor],
					 .pages = tt_shard_tiles(&tensor->spec),
					 .page = tt_tensor_tile_bytes(tensor), .backing = tensor)));
	}
	return TTNN_OK;
}

/* Runs of more than one block are kept and joined. */
static tt_status general_plan(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t blocks = block_count(launch), page = tt_page_bf16(launch);

	TT_TRY(tensors_plan(plan, launch));
	return TT_PLAN(plan, shard_of(launch->inputs[SCORES])->grid,
		       TT_CB_ROW(5, "run_scores", .pages = blocks, .page = page),
		       TT_CB_ROW(6, "run_idx", .pages = blocks, .page = page),
		       TT_CB_ROW(7, "run_bias", .pages = blocks, .page = page),
		       TT_CB_ROW(8, "tilize", .pages = 2 * blocks, .page = page),
		       TT_CB_ROW(9, "tilize_idx", .pages = blocks, .page = page));
}

/* ---- numbers ------------------------------------------------------------------------------------------------------ */

struct gate {
	uint64_t blocks;
	uint32_t best;
	double epsilon, scale;
	bool sigmoid, softmax, grouped;
};

/* A tensor's numbers as a core sees them: block after block, of each the first face of its tile. */
struct seen {
	double *values;
	uint64_t blocks;
	uint32_t rows, columns;
};

static tt_status see(struct seen *out, const struct tt_launch *launch, size_t which)
{
	const struct ttnn_shape *shape = &launch->inputs[which]->spec.shape;
	uint64_t count;

	TT_TRY(tt_values_of(&out->values, &count, launch, which));
	out->rows = tt_shape_last(shape, 2);
	out->columns = tt_shape_last(shape, 1);
	out->blocks = count ? count / ((uint64_t)out->rows * out->columns) : 0;
	return TTNN_OK;
}

static double at(const struct seen *seen, uint64_t block, uint32_t row, uint32_t column)
{
	if (block >= seen->blocks || row >= seen->rows || column >= seen->columns)
		return 0;
	return seen->values[(block * seen->rows + row) * seen->columns + column];
}

/* Weights and numbers of the experts that are chosen for one token. */
static void choose(double *weights, double *chosen, const struct gate *gate,
		   const struct seen *seen, uint64_t token)
{
	static const struct tt_expert_groups groups = {BLOCK, 8, 2, 4, false};
	double scores[TT_EXPERTS_MAX], keys[TT_EXPERTS_MAX], sum = 0;
	uint32_t places[MOST], total = (uint32_t)gate->blocks * BLOCK;

	for (uint32_t e = 0; e < total; e++) {
		uint64_t block = token * gate->blocks + e / BLOCK;
		uint32_t row = e % BLOCK / SIDE, column = e % SIDE;

		scores[e] = at(&seen[SCORES], block, row, column);
		if (gate->sigmoid)
			scores[e] = tt_experts_rounded(1 / (1 + exp(-scores[e])));
		keys[e] = tt_experts_rounded(scores[e] + at(&seen[BIAS], block, column, row));
	}
	if (gate->grouped)
		tt_experts_leave_groups(keys, &groups);
	tt_experts_best(places, gate->best, keys, total);
	for (uint32_t i = 0; i < gate->best; i++) {
		uint32_t e = places[i];
		uint64_t block = token * gate->blocks + e / BLOCK;

		chosen[i] = at(&seen[NUMBERS], block, e % SIDE, e % BLOCK / SIDE);
		keys[i] = gate->softmax ? scores[e] : 0;
	}
	for (uint32_t i = 1; i < gate->best; i++)
		keys[0] = keys[i] > keys[0] ? keys[i] : keys[0];
	for (uint32_t i = 0; i < gate->best; i++) {
		double score = scores[places[i]];

		weights[i] = gate->softmax ? exp(score - keys[0]) : score;
		sum += weights[i];
	}
	for (uint32_t i = 0; i < gate->best; i++)
		weights[i] *= gate->scale / (sum + gate->epsilon);
}

/* The whole tile of a token's results: they are its first row. */
static void put(struct seen *out, uint64_t token, const double *results, uint32_t count)
{
	uint32_t tiles = tt_div_up32(out->rows, TT_TILE),
		 first = (uint32_t)(token % tiles) * TT_TILE;
	double *row = &out->values[(token / tiles * out->rows + first) * out->columns];

	for (uint32_t r = first; r < out->rows && r < first + TT_TILE; r++)
		for (uint32_t c = 0; c < out->columns; c++)
			*row++ = r == first && c < count ? results[c] : 0;
}

static tt_status gate_run(struct tt_launch *launch, const struct gate *gate)
{
	uint64_t tokens = ttnn_core_set_cores(shard_of(launch->inputs[SCORES])->grid), count;
	struct seen seen[TENSORS];
	uint16_t *numbers;
	float *weights;

	for (size_t i = 0; i < TENSORS; i++)
		TT_TRY(see(&seen[i], launch, i));
	for (uint64_t token = 0; token < tokens; token++) {
		double some[MOST], which[MOST];

		if ((token + 1) * gate->blocks > seen[SCORES].blocks ||
		    token >= seen[WEIGHTS].blocks * tt_div_up(seen[WEIGHTS].rows, TT_TILE))
			break;
		choose(some, which, gate, seen, token);
		put(&seen[WEIGHTS], token, some, gate->best);
		put(&seen[CHOSEN], token, which, gate->best);
	}
	count = seen[WEIGHTS].blocks * seen[WEIGHTS].rows * seen[WEIGHTS].columns;
	weights = tt_arena_calloc(launch->arena, count + 1, sizeof(*weights));
	numbers = tt_arena_calloc(launch->arena, count + 1, sizeof(*numbers));
	if (!weights || !numbers)
		return tt_fail_nomem();
	for (uint64_t i = 0; i < count; i++) {
		weights[i] = (float)seen[WEIGHTS].values[i];
		numbers[i] = (uint16_t)seen[CHOSEN].values[i];
	}
	TT_TRY(tt_values_write(launch->outputs[0], weights, TTNN_FLOAT32));
	return tt_values_write(launch->outputs[1], numbers, TTNN_UINT16);
}

static tt_status gate_kernel(struct tt_launch *launch)
{
	return gate_run(launch, &(struct gate){.blocks = 1,
					       .best = MOST,
					       .epsilon = launch->attrs[EPSILON].real,
					       .scale = launch->attrs[SCALE].real,
					       .sigmoid = launch->attrs[SIGMOID].boolean,
					       .grouped = true});
}

static tt_status general_kernel(struct tt_launch *launch)
{
	return gate_run(launch, &(struct gate){.blocks = block_count(launch),
					       .best = tt_attr_u32(launch, BEST),
					       .epsilon = launch->attrs[GENERAL_EPSILON].real,
					       .scale = launch->attrs[GENERAL_SCALE].real,
					       .sigmoid = launch->attrs[GENERAL_SIGMOID].boolean,
					       .softmax = launch->attrs[SOFTMAX].boolean,
					       .grouped = launch->attrs[GROUPED].boolean});
}

#define FACTORY "ttnn::operations::experimental::deepseek::moe::"
static const struct tt_prog gate_program = {
	.device_op = "DeepseekMoeGateDeviceOperation",
	.prim = "ttnn::prim::deepseek_moe_gate",
	.attrs = &gate_schema,
	.infer = gate_infer,
	.validate = gate_validate,
	TT_FACTORY(FACTORY "deepseek_moe_gate::program::DeepseekMoeGateProgramFactory",
		   tensors_plan),
	TT_KERNEL(gate_kernel),
	.mute = true,
};
static const struct tt_prog general_program = {
	.device_op = "GeneralizedMoeGateDeviceOperation",
	.prim = "ttnn::prim::generalized_moe_gate",
	.attrs = &general_schema,
	.infer = gate_infer,
	.validate = general_validate,
	TT_FACTORY(FACTORY "generalized_moe_gate::program::GeneralizedMoeGateProgramFactory",
		   general_plan),
	TT_KERNEL(general_kernel),
	.mute = true,
};

static tt_status gate_expand(struct tt_call *call)
{
	const struct tt_prog *prog = *(const struct tt_prog *const *)call->entry->op->row;
	struct ttnn_value attrs[general_schema_count] = {{0}};
	struct tt_tensor *inputs[TENSORS];

	for (int i = 0; i < TENSORS; i++)
		inputs[i] = tt_call_tensor(call, names[i]);
	return TT_LAUNCH_RETURN(call, prog, .attrs = tt_attrs_bind(call, prog->attrs, attrs),
				.inputs = inputs, .input_count = TENSORS,
				.outputs = &inputs[WEIGHTS], .output_count = 2, .in_place = true);
}

/* ---- golden -------------------------------------------------------------------------------------------------------- */

static tt_status gate_golden(struct tt_golden *golden)
{
	const struct tt_array *in[TENSORS];
	const struct tt_call *call = &golden->call;
	bool general = *(const struct tt_prog *const *)golden->op->row == &general_program;
	bool grouped, softmax;
	uint32_t best = (uint32_t)tt_call_int(call, "topk", MOST), total = BLOCK;
	struct tt_array *weights, *chosen;

	for (int i = 0; i < TENSORS; i++)
		in[i] = tt_golden_in(golden, names[i]);
	TT_GOLDEN_NEED(in[SCORES] && in[BIAS] && in[NUMBERS] && in[WEIGHTS]);
	TT_GOLDEN_NEED(in[WEIGHTS]->shape.rank == 3 && in[WEIGHTS]->shape.dim[1] == 1);
	grouped = !general || tt_call_bool(call, "grouped", false);
	softmax = general && tt_call_bool(call, "output_softmax", false);
	weights = tt_golden_out(golden, &in[WEIGHTS]->shape, TTNN_BFLOAT16);
	chosen = tt_golden_out(golden, &in[WEIGHTS]->shape, TTNN_UINT16);
	TT_GOLDEN_NEED(weights && chosen);
	total = (uint32_t)(in[SCORES]->count / weights->shape.dim[0]);
	TT_GOLDEN_NEED(total == BLOCK || total == 2 * BLOCK);
	for (uint64_t token = 0; token < weights->shape.dim[0]; token++) {
		double scores[2 * BLOCK], keys[2 * BLOCK], sum = tt_call_real(call, "eps", 1e-20);
		uint64_t line = token * weights->shape.dim[2];

		for (uint32_t e = 0; e < total; e++) {
			uint64_t first = token * total + e / BLOCK * BLOCK;

			scores[e] = *tt_at(in[SCORES], first + e % BLOCK);
			if (tt_call_bool(call, "enable_sigmoid", false))
				scores[e] = tt_golden_bf16(1 / (1 + exp(-scores[e])));
			keys[e] = tt_golden_bf16(
				scores[e] +
				*tt_at(in[BIAS], first + e % SIDE * SIDE + e % BLOCK / SIDE));
		}
		if (grouped)
			tt_golden_leave_groups(keys);
		for (uint32_t e = 0; e < total; e++) {
			uint32_t rank = tt_golden_rank(keys, total, e);

			if (rank >= best)
				continue;
			*tt_at(weights, line + rank) = softmax ? exp(scores[e]) : scores[e];
			*tt_at(chosen, line + rank) =
				*tt_at(in[NUMBERS], token * total + e / BLOCK * BLOCK +
							    e % SIDE * SIDE + e % BLOCK / SIDE);
			sum += *tt_at(weights, line + rank);
		}
		for (uint32_t i = 0; i < best; i++)
			*tt_at(weights, line + i) *=
				tt_call_real(call, "scaling_factor", 2.5) / sum;
	}
	return TTNN_OK;
}

#define SIG                                                                                        \
	"input_tensor: Tensor, *, bias_tensor: Tensor, input_indices_tensor: Tensor, "             \
	"output_tensor: Tensor, output_indices_tensor: Tensor, eps: float = 1e-20, "               \
	"scaling_factor: float = 2.5, enable_sigmoid: bool = False"
#define GATE_ROW(name_, program_, doc_, sig_)                                                      \
	{                                                                                          \
		.name = "ttnn.experimental.deepseek.moe." name_, .family = "moe_gate",             \
		.doc = doc_, .sigs = {sig_}, .gives = "Tensor, Tensor", .expand = gate_expand,     \
		.golden = gate_golden, .pcc = 0.999, .row = &(program_)[0], .programs = (program_) \
	}
static const struct tt_prog *const gate_programs[] = {&gate_program, NULL};
static const struct tt_prog *const general_programs[] = {&general_program, NULL};
static const struct tt_op ops[] = {
	GATE_ROW(
		"deepseek_moe_gate", gate_programs,
		"The eight best experts of a token, out of the four best of eight groups, on each core.",
		SIG),
	GATE_ROW("generalized_moe_gate", general_programs,
		 "The best experts of a token on each core, of all or out of groups.",
		 SIG ", topk: size = 8, output_softmax: bool = False, grouped: bool = False"),
};

const struct tt_op_family tt_family_moe_gate = {"moe_gate", ops, TT_COUNT(ops)};
