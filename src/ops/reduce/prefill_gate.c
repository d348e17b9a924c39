/*
 * prefill_gate.c: the experts that tokens of a prefill go to, and their weights: the best by their scores, or those that a table has for
 * the token's word. Models MoeGroupedTopkDeviceOperation and MoeHashGateDeviceOperation of ttnn 0.81 (deepseek_prefill) with their
 * factories: specs, refusals, memory, cores, float32 on the way. Not modelled: the order of experts that are equal.
 */
#include <inttypes.h>
#include <math.h>

#include "golden/golden_gate.h"
#include "ops/experts.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"
#include "ops/values.h"

#define TOP_ATTRS(X)                                                                               \
	X(GROUPS, "n_groups")                                                                      \
	X(SUMMED, "summed_experts_per_group")                                                      \
	X(TOP, "topk_groups")                                                                      \
	X(ACTIVE, "n_activated_experts")                                                           \
	X(SCALE, "route_scale")                                                                    \
	X(EPSILON, "epsilon")                                                                      \
	X(STABLE, "stable_sort")                                                                   \
	X(FUNCTION, "score_func")                                                                  \
	X(MEMORY, "output_mem_config")                                                             \
	X(LAYOUT, "weights_layout")
TT_ATTRS(top_schema, "operation_attributes_t", TOP_ATTRS);
#define HASH_ATTRS(X)                                                                              \
	X(HASH_ACTIVE, "n_activated_experts")                                                      \
	X(HASH_SCALE, "route_scale")                                                               \
	X(HASH_EPSILON, "epsilon")                                                                 \
	X(HASH_FUNCTION, "score_func")                                                             \
	X(HASH_MEMORY, "output_mem_config")
TT_ATTRS(hash_schema, "operation_attributes_t", HASH_ATTRS);
enum { SCORES, BIAS, TOP_PADDING, BIASED };
enum { WORDS = 1, TABLE, HASH_PADDING };
/* What the program can be asked for with groups, alone, and at most. */
#define ALL_EXPERTS 256
#define ALL_GROUPS 8
#define SUMMED_EXPERTS 2
#define TOP_GROUPS 4
#define ACTIVE_EXPERTS 8
#define MOST_OF_ALL 64
#define MOST_IN_ROWS 32
#define SIGMOID "ScoreFunc::Sigmoid"
#define SQRT_SOFTPLUS "ScoreFunc::SqrtSoftplus"

/* ---- refusals ------------------------------------------------------------------------------------------------- */

static tt_status check_padding(const struct tt_tensor *padding)
{
	if (!padding)
		return TTNN_OK;
	TT_REQUIRE(padding->spec.dtype == TTNN_UINT32,
		   "padding_config->dtype() == tt::tt_metal::DataType::UINT32",
		   "Padding config tensor must be UINT32");
	TT_REQUIRE(padding->spec.layout == TTNN_ROW_MAJOR,
		   "padding_config->layout() == tt::tt_metal::Layout::ROW_MAJOR",
		   "Padding config tensor must be ROW_MAJOR layout");
	TT_REQUIRE(tt_shape_last(&padding->spec.shape, 1) >= 2,
		   "padding_config->logical_shape()[-1] >= 2",
		   "Padding config tensor must contain at least [num_real_tokens, pad_side]");
	return TTNN_OK;
}

static tt_status check_count(uint32_t experts, int64_t active, int64_t most, const char *why)
{
	char condition[64];

	TT_REQUIRE(experts % TT_TILE == 0, "experts % 32 == 0",
		   "Number of experts must be a multiple of the tile width (32). Got %u", experts);
	TT_REQUIRE(active > 0, "attributes.n_activated_experts > 0",
		   "n_activated_experts must be > 0");
	snprintf(condition, sizeof(condition), "attributes.n_activated_experts <= %" PRId64, most);
	TT_REQUIRE(active <= most, condition,
		   "n_activated_experts must be <= %" PRId64 " (%s). Got %" PRId64, most, why,
		   active);
	TT_REQUIRE(active <= experts, "attributes.n_activated_experts <= experts",
		   "n_activated_experts (%" PRId64 ") must be <= experts (%u)", active, experts);
	return TTNN_OK;
}

static tt_status check_only(const struct tt_launch *launch, int attr, int64_t only,
			    const char *condition)
{
	int64_t number = launch->attrs[attr].integer;

	TT_REQUIRE(number == only, condition, "%s must be %" PRId64 " at the moment. Got %" PRId64,
		   top_schema_fields[attr].name, only, number);
	return TTNN_OK;
}

static tt_status check_scores(const struct ttnn_tensor_spec *spec, const char *name, const char *as)
{
	char condition[160];

	snprintf(condition, sizeof(condition),
		 "%s.dtype() == tt::tt_metal::DataType::FLOAT32 || %s.dtype() == "
		 "tt::tt_metal::DataType::BFLOAT16",
		 as, as);
	TT_REQUIRE(spec->dtype == TTNN_FLOAT32 || spec->dtype == TTNN_BFLOAT16, condition,
		   "%s tensor must be FLOAT32 or BFLOAT16", name);
	snprintf(condition, sizeof(condition), "%s.layout() == tt::tt_metal::Layout::TILE", as);
	TT_REQUIRE(spec->layout == TTNN_TILE, condition, "%s tensor must be TILE layout", name);
	return TTNN_OK;
}

static tt_status check_biased(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *scores = &launch->inputs[SCORES]->spec, *out;

	if (!launch->inputs[BIASED])
		return TTNN_OK;
	out = &launch->inputs[BIASED]->spec;
	TT_REQUIRE(out->dtype == TTNN_FLOAT32,
		   "biased_scores->dtype() == tt::tt_metal::DataType::FLOAT32",
		   "biased_scores tensor must be FLOAT32");
	TT_REQUIRE(out->layout == TTNN_TILE,
		   "biased_scores->layout() == tt::tt_metal::Layout::TILE",
		   "biased_scores tensor must be TILE layout");
	TT_REQUIRE(ttnn_shape_equal(&out->shape, &scores->shape),
		   "biased_scores->logical_shape() == scores.logical_shape()",
		   "biased_scores tensor must have the same shape as scores");
	TT_REQUIRE(ttnn_shape_equal(&out->padded, &scores->padded),
		   "biased_scores->padded_shape() == scores.padded_shape()",
		   "biased_scores tensor must have the same padded shape as scores");
	TT_REQUIRE(out->tile.height == scores->tile.height && out->tile.width == scores->tile.width,
		   "biased_tile.get_width() == scores_tile.get_width() && "
		   "biased_tile.get_height() == scores_tile.get_height()",
		   "biased_scores tensor must have the same tile geometry as scores");
	return TTNN_OK;
}

static tt_status check_weights_layout(const struct tt_launch *launch)
{
	if (launch->attrs[LAYOUT].integer != TTNN_ROW_MAJOR)
		return TTNN_OK;
	TT_REQUIRE(!tt_memory_config_is_sharded(launch->attrs[MEMORY].memory),
		   "!attributes.output_mem_config.is_sharded()",
		   "ROW_MAJOR weights require interleaved output memory");
	TT_REQUIRE(launch->attrs[ACTIVE].integer <= MOST_IN_ROWS,
		   "attributes.n_activated_experts <= 32",
		   "ROW_MAJOR weights support at most 32 activated experts");
	return TTNN_OK;
}

static tt_status top_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *scores = &launch->inputs[SCORES]->spec;
	const struct ttnn_tensor_spec *bias = &launch->inputs[BIAS]->spec;
	uint32_t experts = tt_shape_last(&scores->shape, 1);

	TT_TRY(check_weights_layout(launch));
	TT_TRY(check_scores(scores, "Scores", "scores"));
	TT_TRY(check_scores(bias, "Bias", "bias"));
	TT_REQUIRE(ttnn_shape_equal(&scores->shape, &bias->shape),
		   "scores.logical_shape() == bias.logical_shape()",
		   "Scores and bias must have the same shape");
	TT_TRY(check_padding(launch->inputs[TOP_PADDING]));
	TT_TRY(check_biased(launch));
	TT_NEED(experts <= TT_EXPERTS_MAX, "%u experts are more than fit on a core", experts);
	if (launch->attrs[GROUPS].integer == 1)
		return check_count(experts, launch->attrs[ACTIVE].integer, MOST_OF_ALL,
				   "topk limit");
	TT_TRY(check_only(launch, SUMMED, SUMMED_EXPERTS,
			  "attributes.summed_experts_per_group == 2"));
	TT_TRY(check_only(launch, GROUPS, ALL_GROUPS, "attributes.n_groups == 8"));
	TT_TRY(check_only(launch, TOP, TOP_GROUPS, "attributes.topk_groups == 4"));
	TT_REQUIRE(experts == ALL_EXPERTS, "experts == 256", "Experts must be 256. Got %u",
		   experts);
	return check_only(launch, ACTIVE, ACTIVE_EXPERTS, "attributes.n_activated_experts == 8");
}

static tt_status hash_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *scores = &launch->inputs[SCORES]->spec;
	const struct ttnn_tensor_spec *words = &launch->inputs[WORDS]->spec;
	const struct ttnn_tensor_spec *table = &launch->inputs[TABLE]->spec;
	uint32_t experts = tt_shape_last(&scores->shape, 1), last = tt_shape_last(&table->shape, 1);
	int64_t active = launch->attrs[HASH_ACTIVE].integer;
	uint64_t ids = tt_shape_count(&words->shape), rows;

	TT_REQUIRE(scores->dtype == TTNN_FLOAT32,
		   "scores.dtype() == tt::tt_metal::DataType::FLOAT32",
		   "Scores tensor must be FLOAT32");
	TT_REQUIRE(scores->layout == TTNN_TILE, "scores.layout() == tt::tt_metal::Layout::TILE",
		   "Scores tensor must be TILE layout");
	TT_REQUIRE(words->dtype == TTNN_UINT32,
		   "input_ids.dtype() == tt::tt_metal::DataType::UINT32",
		   "input_ids tensor must be UINT32");
	TT_REQUIRE(words->layout == TTNN_ROW_MAJOR,
		   "input_ids.layout() == tt::tt_metal::Layout::ROW_MAJOR",
		   "input_ids tensor must be ROW_MAJOR layout");
	TT_REQUIRE(table->dtype == TTNN_UINT16, "tid2eid.dtype() == tt::tt_metal::DataType::UINT16",
		   "tid2eid tensor must be UINT16");
	TT_REQUIRE(table->layout == TTNN_ROW_MAJOR,
		   "tid2eid.layout() == tt::tt_metal::Layout::ROW_MAJOR",
		   "tid2eid tensor must be ROW_MAJOR layout");
	TT_TRY(check_padding(launch->inputs[HASH_PADDING]));
	TT_TRY(check_count(experts, active, MOST_IN_ROWS, "single index tile"));
	TT_REQUIRE(last >= active, "tid2eid.logical_shape()[-1] >= attributes.n_activated_experts",
		   "tid2eid last dim (%u) must be >= n_activated_experts (%" PRId64 ")", last,
		   active);
	rows = tt_shape_count(&scores->shape) / experts;
	TT_REQUIRE(ids >= rows, "input_ids.logical_shape().volume() >= num_token_rows",
		   "input_ids (%" PRIu64
		   " ids) must supply at least one id per score token row (%" PRIu64 ")",
		   ids, rows);
	return TTNN_OK;
}

/* ---- memory --------------------------------------------------------------------------------------------------- */

/* Weights and numbers of experts, in these layouts. */
static tt_status infer_both(struct tt_launch *launch, const struct ttnn_value *active,
			    const struct ttnn_memory_config *memory,
			    const enum ttnn_layout layouts[2])
{
	static const enum ttnn_dtype dtypes[] = {TTNN_BFLOAT16, TTNN_UINT16};
	struct ttnn_shape shape = launch->inputs[SCORES]->spec.shape;

	TT_NEED(shape.rank, "gates take scores of at least one dimension");
	shape.dim[shape.rank - 1] = (uint32_t)active->integer;
	launch->output_count = 2;
	for (size_t i = 0; i < 2; i++)
		TT_TRY(tt_spec_simple(&launch->specs[i], &shape, dtypes[i], layouts[i], memory));
	return TTNN_OK;
}

static tt_status top_infer(struct tt_launch *launch)
{
	const enum ttnn_layout layouts[] = {(enum ttnn_layout)launch->attrs[LAYOUT].integer,
					    launch->inputs[SCORES]->spec.layout};

	TT_TRY(infer_both(launch, &launch->attrs[ACTIVE], launch->attrs[MEMORY].memory, layouts));
	if (launch->outputs[2]) {
		launch->specs[2] = launch->outputs[2]->spec;
		launch->output_count = 3;
	}
	return TTNN_OK;
}

static tt_status hash_infer(struct tt_launch *launch)
{
	enum ttnn_layout own = launch->inputs[SCORES]->spec.layout;

	return infer_both(launch, &launch->attrs[HASH_ACTIVE], launch->attrs[HASH_MEMORY].memory,
			  (enum ttnn_layout[]){own, own});
}

static uint64_t width_tiles(const struct tt_launch *launch)
{
	return tt_tiles_across(launch->inputs[SCORES]);
}

/* Rows of tiles, column of cores after column. */
static tt_status gate_cores(const ttnn_core_set **out, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[SCORES]->spec;
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, tt_grid_size(launch->grid), in->pages / width_tiles(launch),
			     TTNN_ORIENT_COL_MAJOR));
	*out = split.all;
	return TTNN_OK;
}

/* The page of the configuration of padding, or without one of what it could be taken for. */
static uint64_t padding_page(const struct tt_launch *launch, size_t which)
{
	const struct tt_tensor *padding = launch->inputs[which];

	return tt_aligned_page(padding ? padding : launch->outputs[1]);
}

static tt_status top_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t width = width_tiles(launch), page = tt_page_f32(launch);
	uint64_t place = tt_tile_bytes_of(TTNN_UINT16), number = tt_tile_bytes_of(TTNN_UINT32);
	uint64_t active = tt_div_up(tt_attr_u32(launch, ACTIVE), TT_TILE);
	uint64_t groups = tt_div_up(tt_attr_u32(launch, GROUPS), TT_TILE);
	uint64_t summed = tt_attr_u32(launch, SUMMED), top = tt_attr_u32(launch, TOP);
	const ttnn_core_set *cores;

	TT_TRY(gate_cores(&cores, launch));
	return TT_PLAN(
		plan, cores,
		TT_CB_ROW(0, "cb_in_scores", .pages = 2 * width, .page = tt_page_in0(launch)),
		TT_CB_ROW(1, "cb_in_bias", .pages = 2 * width, .page = tt_page_in1(launch)),
		TT_CB_ROW(24, "cb_scores_fp32", .pages = 2 * width, .page = page),
		TT_CB_ROW(25, "cb_bias_fp32", .pages = 2 * width, .page = page),
		TT_CB_ROW(2, "cb_out_weights", .pages = 2 * active, .page = tt_page_bf16(launch)),
		TT_CB_ROW(3, "cb_out_indices", .pages = 2 * active, .page = place),
		TT_CB_ROW(4, "cb_sigmoid_scores", .pages = width, .page = page),
		TT_CB_ROW(5, "cb_biased_scores", .pages = width, .page = page),
		TT_CB_ROW(26, "cb_biased_dump", .pages = launch->inputs[BIASED] ? 2 * width : 0,
			  .page = page),
		TT_CB_ROW(6, "cb_sorted_group_scores", .pages = 2, .page = page),
		TT_CB_ROW(7, "cb_sorted_expert_indices_temp", .pages = 2, .page = number),
		TT_CB_ROW(8, "cb_expert_index_template", .pages = width, .page = number),
		TT_CB_ROW(9, "cb_group_index_template", .pages = groups, .page = number),
		TT_CB_ROW(11, "cb_top_experts_per_group", .pages = summed, .page = page),
		TT_CB_ROW(10, "cb_group_summed_scores", .pages = groups, .page = page),
		TT_CB_ROW(12, "cb_sorted_group_order", .pages = groups, .page = place),
		TT_CB_ROW(13, "cb_winning_group_scores", .pages = top, .page = page),
		TT_CB_ROW(14, "cb_winning_group_indices", .pages = top, .page = number),
		TT_CB_ROW(15, "cb_reduce_intermediate", .pages = 2 * active, .page = page),
		TT_CB_ROW(16, "cb_final_indices_transposed", .pages = 2 * active, .page = place),
		TT_CB_ROW(17, "cb_reduce_ones_scalar", .pages = 1, .page = page),
		TT_CB_ROW(18, "cb_epsilon_scalar", .pages = 1, .page = page),
		TT_CB_ROW(19, "cb_route_scale_scalar", .pages = 1, .page = page),
		TT_CB_ROW(20, "cb_normalized_scores", .pages = 2 * active, .page = page),
		TT_CB_ROW(21, "cb_reciprocal_sums", .pages = 2 * active, .page = page),
		TT_CB_ROW(22, "cb_gathered_sigmoid", .pages = 2 * active, .page = page),
		TT_CB_ROW(23, "cb_padding_config", .pages = 1,
			  .page = padding_page(launch, TOP_PADDING)));
}

static tt_status hash_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t width = width_tiles(launch), page = tt_page_in0(launch);
	uint64_t active = tt_div_up(tt_attr_u32(launch, HASH_ACTIVE), TT_TILE);
	uint64_t words = launch->inputs[WORDS]->spec.page_bytes;
	uint64_t row = tt_align_to(launch->inputs[TABLE]->spec.page_bytes,
				   launch->device->info.dram_alignment);
	const ttnn_core_set *cores;

	TT_TRY(gate_cores(&cores, launch));
	return TT_PLAN(
		plan, cores, TT_CB_ROW(0, "cb_in_scores", .pages = 2 * width, .page = page),
		TT_CB_ROW(2, "cb_out_weights", .pages = 2 * active, .page = tt_page_bf16(launch)),
		TT_CB_ROW(3, "cb_out_indices", .pages = 2 * active,
			  .page = tt_tile_bytes_of(TTNN_UINT16)),
		TT_CB_ROW(4, "cb_sigmoid_scores", .pages = width, .page = page),
		TT_CB_ROW(5, "cb_reduce_intermediate", .pages = 2 * active, .page = page),
		TT_CB_ROW(6, "cb_reduce_ones_scalar", .pages = 1, .page = page),
		TT_CB_ROW(7, "cb_epsilon_scalar", .pages = 1, .page = page),
		TT_CB_ROW(8, "cb_route_scale_scalar", .pages = 1, .page = page),
		TT_CB_ROW(9, "cb_normalized_scores", .pages = 2 * active, .page = page),
		TT_CB_ROW(10, "cb_reciprocal_sums", .pages = 2 * active, .page = page),
		TT_CB_ROW(11, "cb_gathered_sigmoid", .pages = 2 * active, .page = page),
		TT_CB_ROW(1, "cb_input_ids", .pages = 2, .page = words),
		TT_CB_ROW(13, "cb_tid2eid_row", .pages = 1, .page = TT_TILE * row),
		TT_CB_ROW(12, "cb_padding_config", .pages = 1,
			  .page = padding_page(launch, HASH_PADDING)));
}

/* ---- kernels --------------------------------------------------------------------------------------------------- */

/* A gate at work: what it was given, what it gives, and the token at hand. */
struct gate {
	const struct tt_launch *launch;
	double *scores;
	uint64_t experts, active, tokens, rows; /* rows: of a batch, which fills whole tiles */
	double scale, epsilon, real;            /* tokens of which there are so many, */
	bool softplus, padded, left;            /* the others in front, or behind */
	float *weights;
	uint16_t *chosen;
};

static double score_of(const struct gate *gate, double x)
{
	return gate->softplus ? sqrt(x > 20 ? x : log1p(exp(x))) : 1 / (1 + exp(-x));
}

static tt_status gate_begin(struct gate *gate, const struct tt_launch *launch, size_t padding)
{
	const struct ttnn_shape *shape = &launch->inputs[SCORES]->spec.shape;
	double *config;
	uint64_t count;

	gate->launch = launch;
	gate->experts = tt_shape_last(shape, 1);
	gate->rows = tt_shape_last(shape, 2);
	TT_TRY(tt_values_of(&gate->scores, &count, launch, SCORES));
	gate->tokens = count / gate->experts;
	for (uint64_t i = 0; i < count; i++)
		gate->scores[i] = score_of(gate, gate->scores[i]);
	gate->weights = tt_arena_calloc(launch->arena, gate->tokens * gate->active + 1,
					sizeof(*gate->weights));
	gate->chosen = tt_arena_calloc(launch->arena, gate->tokens * gate->active + 1,
				       sizeof(*gate->chosen));
	TT_NEED_MEMORY(gate->weights && gate->chosen);
	if (!launch->inputs[padding])
		return TTNN_OK;
	TT_TRY(tt_values_of(&config, &count, launch, padding));
	gate->real = count > 1 ? config[0] : 0;
	gate->left = count > 1 && config[1] != 0;
	gate->padded = count > 1 && gate->real < (double)gate->tokens;
	return TTNN_OK;
}

/* Rows are counted as they lie in tiles. */
static bool is_padding(const struct gate *gate, uint64_t token)
{
	uint64_t all = tt_div_up(gate->rows, TT_TILE) * TT_TILE;
	uint64_t place = token / gate->rows * all + token % gate->rows;
	double row = (double)place;

	if (!gate->padded)
		return false;
	return gate->left ? row < (double)gate->tokens - gate->real : row >= gate->real;
}

/* A token's experts and their weights; those of padding are none. */
static void gate_put(struct gate *gate, uint64_t token, const uint32_t *chosen)
{
	const double *scores = &gate->scores[token * gate->experts];
	uint64_t first = token * gate->active;
	double sum = gate->epsilon;

	for (uint64_t i = 0; i < gate->active; i++)
		sum += chosen[i] < gate->experts ? scores[chosen[i]] : 0;
	for (uint64_t i = 0; i < gate->active; i++) {
		double score = chosen[i] < gate->experts ? scores[chosen[i]] : 0;

		gate->weights[first + i] = (float)(score / sum * gate->scale);
		gate->chosen[first + i] =
			(uint16_t)(is_padding(gate, token) ? gate->experts : chosen[i]);
	}
}

static tt_status gate_end(const struct gate *gate)
{
	TT_TRY(tt_values_write(gate->launch->outputs[0], gate->weights, TTNN_FLOAT32));
	return tt_values_write(gate->launch->outputs[1], gate->chosen, TTNN_UINT16);
}

/* Where scores are asked for with their bias. */
static tt_status write_biased(const struct gate *gate, const double *biased)
{
	uint64_t count = gate->tokens * gate->experts;
	float *values;

	if (gate->launch->output_count < 3)
		return TTNN_OK;
	values = tt_arena_alloc(gate->launch->arena, (count + 1) * sizeof(*values));
	TT_NEED_MEMORY(values);
	for (uint64_t i = 0; i < count; i++)
		values[i] = (float)biased[i];
	return tt_values_write(gate->launch->outputs[2], values, TTNN_FLOAT32);
}

static tt_status top_kernel(struct tt_launch *launch)
{
	struct gate gate = {.active = tt_attr_u32(launch, ACTIVE),
			    .scale = launch->attrs[SCALE].real,
			    .epsilon = launch->attrs[EPSILON].real,
			    .softplus = strcmp(launch->attrs[FUNCTION].text, SIGMOID) != 0};
	static const struct tt_expert_groups groups = {ALL_EXPERTS, ALL_GROUPS, SUMMED_EXPERTS,
						       TOP_GROUPS, true};
	uint32_t chosen[MOST_OF_ALL];
	uint64_t count;
	double *bias;

	TT_TRY(gate_begin(&gate, launch, TOP_PADDING));
	TT_TRY(tt_values_of(&bias, &count, launch, BIAS));
	for (uint64_t i = 0; i < count; i++)
		bias[i] += gate.scores[i];
	TT_TRY(write_biased(&gate, bias));
	for (uint64_t token = 0; token < gate.tokens; token++) {
		double *biased = &bias[token * gate.experts];

		if (launch->attrs[GROUPS].integer > 1)
			tt_experts_leave_groups(biased, &groups);
		tt_experts_best(chosen, (uint32_t)gate.active, biased, (uint32_t)gate.experts);
		gate_put(&gate, token, chosen);
	}
	return gate_end(&gate);
}

static tt_status hash_kernel(struct tt_launch *launch)
{
	struct gate gate = {.active = tt_attr_u32(launch, HASH_ACTIVE),
			    .scale = launch->attrs[HASH_SCALE].real,
			    .epsilon = launch->attrs[HASH_EPSILON].real,
			    .softplus = strcmp(launch->attrs[HASH_FUNCTION].text, SIGMOID) != 0};
	uint64_t count, width = tt_shape_last(&launch->inputs[TABLE]->spec.shape, 1);
	uint64_t row = tt_shape_last(&launch->inputs[WORDS]->spec.shape, 1);
	uint32_t chosen[MOST_IN_ROWS];
	double *words, *table;

	TT_TRY(gate_begin(&gate, launch, HASH_PADDING));
	TT_TRY(tt_values_of(&words, &count, launch, WORDS));
	TT_TRY(tt_values_of(&table, &count, launch, TABLE));
	for (uint64_t token = 0; token < gate.tokens; token++) {
		/* a row of words for each row of tiles */
		uint64_t tile = token / gate.rows * tt_div_up(gate.rows, TT_TILE) +
				token % gate.rows / TT_TILE;
		uint64_t at = tile * row + token % gate.rows % TT_TILE;
		bool there = at < tt_shape_count(&launch->inputs[WORDS]->spec.shape);
		uint64_t word = there ? (uint64_t)words[at] : 0;

		for (uint64_t i = 0; i < gate.active; i++)
			chosen[i] =
				(word + 1) * width <= count ? (uint32_t)table[word * width + i] : 0;
		gate_put(&gate, token, chosen);
	}
	return gate_end(&gate);
}

/* ---- calls ----------------------------------------------------------------------------------------------------- */

#define PREFILL "ttnn::operations::experimental::deepseek_prefill::"
static const struct tt_prog top_program = {
	.device_op = "MoeGroupedTopkDeviceOperation",
	.prim = "ttnn::prim::moe_grouped_topk",
	.attrs = &top_schema,
	.infer = top_infer,
	.validate = top_validate,
	TT_FACTORY(PREFILL "moe_grouped_topk::MoeGroupedTopkDeviceOperation::ProgramFactory",
		   top_memory),
	TT_KERNEL(top_kernel),
	.mute = true, /* in an array */
};
static const struct tt_prog hash_program = {
	.device_op = "MoeHashGateDeviceOperation",
	.prim = "ttnn::prim::moe_hash_gate",
	.attrs = &hash_schema,
	.infer = hash_infer,
	.validate = hash_validate,
	TT_FACTORY(PREFILL "moe_hash_gate::MoeHashGateDeviceOperation::ProgramFactory",
		   hash_memory),
	TT_KERNEL(hash_kernel),
	.mute = true,
};

static tt_status function_of(struct ttnn_value *out, const struct tt_call *call)
{
	const char *name = tt_call_arg(call, "score_func")->text;

	TT_NEED(strcmp(name, "sigmoid") == 0 || strcmp(name, "sqrtsoftplus") == 0,
		"Unsupported score_func '%s'. Expected 'sigmoid' or 'sqrtsoftplus'.", name);
	*out = ttnn_v_string(strcmp(name, "sigmoid") == 0 ? SIGMOID : SQRT_SOFTPLUS);
	return TTNN_OK;
}

static tt_status top_expand(struct tt_call *call)
{
	struct tt_tensor *scores = tt_call_tensor(call, "scores");
	struct tt_tensor *biased = tt_call_tensor(call, "biased_scores"), *out[TT_OUTPUTS_MAX];
	struct ttnn_value function;
	size_t count;

	TT_TRY(function_of(&function, call));
	TT_TRY(tt_call_programs(
		out, &count, call,
		&(struct tt_program_args){
			.prog = &top_program,
			TT_INPUTS(scores, tt_call_tensor(call, "bias"),
				  tt_call_tensor(call, "padding_config"), biased),
			TT_OUTPUTS(NULL, NULL, biased),
			.in_place = true,
			TT_BIND(call, top_schema, [MEMORY] = tt_value_memory_or_like(call, scores),
				[FUNCTION] = function),
		}));
	for (size_t i = 0; i < count; i++) {
		if (i < 2)
			tt_call_return(call, out[i]);
		else
			ttnn_tensor_unref(out[i]);
	}
	return TTNN_OK;
}

static tt_status hash_expand(struct tt_call *call)
{
	struct tt_tensor *scores = tt_call_tensor(call, "scores");
	struct ttnn_value function;

	TT_TRY(function_of(&function, call));
	return TT_LAUNCH_RETURN(
		call, &hash_program,
		TT_INPUTS(scores, tt_call_tensor(call, "input_ids"),
			  tt_call_tensor(call, "tid2eid"), tt_call_tensor(call, "padding_config")),
		TT_BIND(call, hash_schema, [HASH_MEMORY] = tt_value_memory_or_like(call, scores),
			[HASH_FUNCTION] = function));
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.deepseek_prefill.moe_grouped_topk",
	 .doc = "The experts that tokens go to: the best of the best groups, or of all; with weights.",
	 .sigs = {"scores: Tensor, bias: Tensor, *, n_groups: size = 8, summed_experts_per_group: "
		  "size = 2, topk_groups: size = 4, n_activated_experts: size = 8, route_scale: "
		  "float = 1.0, epsilon: float = 1e-20, stable_sort: bool = False, score_func: str "
		  "= sigmoid, memory_config: MemoryConfig? = None, padding_config: Tensor? = "
		  "None, biased_scores: Tensor? = None, weights_layout: Layout = TILE"},
	 .expand = top_expand,
	 .golden = tt_golden_grouped_topk,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&top_program)},
	{.name = "ttnn.experimental.deepseek_prefill.moe_hash_gate",
	 .doc = "The experts that a table has for each token's word, and their weights.",
	 .sigs = {"scores: Tensor, input_ids: Tensor, tid2eid: Tensor, *, n_activated_experts: "
		  "size, route_scale: float = 1.0, epsilon: float = 1e-20, score_func: str = "
		  "sqrtsoftplus, memory_config: MemoryConfig? = None, padding_config: Tensor? "
		  "= None"},
	 .expand = hash_expand,
	 .golden = tt_golden_hash_gate,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&hash_program)},
};

const struct tt_op_family tt_family_prefill_gate = {"prefill_gate", ops, TT_COUNT(ops)};
