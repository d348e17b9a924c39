/* what takes prompts in, chunk by chunk, and gives their tokens to experts, against its goldens */
#include "test.h"

#include "golden.h"
#include "ops/given.h"
#include "ops/golden_cases.h"
#include "ops/op_enums.h"

#define CASES 22
#define PREFILL "ttnn.experimental.deepseek_prefill."

static struct ttnn_spec_args cache_spec(uint32_t n, uint32_t heads, uint32_t rows, uint32_t width)
{
	static const enum ttnn_dtype dtypes[] = {TTNN_BFLOAT16, TTNN_FLOAT32, TTNN_BFLOAT8_B};
	struct ttnn_spec_args spec = given_spec(dtypes[n % 3], 4, heads, rows, width);

	if (n % 3 == 0 && n % 2)
		spec.layout = TTNN_ROW_MAJOR;
	return spec;
}

/* A number as it is, or in a tensor. */
static void add_number(struct given *given, const char *name, int32_t number, bool held)
{
	if (held)
		given_numbers(given, name, &(struct ttnn_shape){4, {1, 1, 1, 1}}, TTNN_UINT32,
			      &number);
	else
		given_add(given, name, ttnn_v_int(number));
}

static void add_layer(struct given *given, uint32_t n)
{
	given_add(given, "layer_idx", ttnn_v_int(n / 2 % 2));
	given_add(given, "num_layers", ttnn_v_int(2));
	given_add(given, "cluster_axis", n % 4 == 3 ? ttnn_v_int(1) : ttnn_v_int(0));
}

TEST(chunks)
{
	struct given given = {.state = 1};

	for (uint32_t n = 0; n < 2 * CASES; n++) {
		uint32_t rows = 32 * (1 + n % 4 / 2), heads = 1 + n % 5 / 4;
		struct ttnn_spec_args cache = cache_spec(n, heads, 192, 64), in = cache;
		int32_t prior = 32 * (int32_t)(n % 5 - n % 5 / 4);

		in.shape.dim[0] = 1;
		in.shape.dim[2] = rows;
		given_tensor(&given, "cache", &cache, -3, 3);
		given_tensor(&given, "input", &in, -3, 3);
		add_number(&given, "slot_idx", n % 2, n % 3 == 1);
		add_number(&given, "kv_actual_global", prior, n % 3 == 1);
		add_layer(&given, n);
		if (n % 4 == 1)
			add_number(&given, "valid_global", prior + (int32_t)n % 30, n % 3 == 1);
		given_case(&given, PREFILL "update_padded_kv_cache", n, 1);
	}
}

TEST(chunks_of_two_parts)
{
	struct given given = {.state = 2};

	for (uint32_t n = 0; n < 6; n++) {
		struct ttnn_spec_args cache = cache_spec(3, 1, 128, 96 + 32 * (n % 2));
		struct ttnn_spec_args in = given_spec(TTNN_BFLOAT16, 1, 1, 64, 64), rope = in;

		rope.shape.dim[3] = 32 + 32 * (n % 2);
		given_tensor(&given, "cache", &cache, -3, 3);
		given_tensor(&given, "input", &in, -3, 3);
		given_tensor(&given, "rope", &rope, -3, 3);
		add_number(&given, "slot_idx", 1, n > 3);
		add_number(&given, "kv_actual_global", 32 * (n % 3), n > 3);
		add_layer(&given, n);
		given_case(&given, PREFILL "update_padded_kv_cache", n, 1);
	}
}

TEST(ends)
{
	struct given given = {.state = 3};

	for (uint32_t n = 0; n < 2 * CASES; n++) {
		struct ttnn_spec_args cache = cache_spec(n, 1, 256, 32 * (1 + n % 2));
		bool held = n % 4 == 2 && cache.layout == TTNN_TILE;

		given_tensor(&given, "cache", &cache, -3, 3);
		add_number(&given, "slot_idx", n % 2, held);
		add_number(&given, "valid_global", (int32_t)(n * 13 % 256), held);
		add_layer(&given, n);
		given_add(&given, "chunk_size_global", ttnn_v_int(128));
		if (n % 2)
			given_add(&given, "pad_align", ttnn_v_int(n % 3 ? 64 : 32));
		given_case(&given, PREFILL "zero_padded_kv_cache", n, 1);
	}
}

TEST(padding)
{
	struct given given = {.state = 4};

	for (uint32_t n = 0; n < CASES; n++) {
		struct ttnn_spec_args config = {.dtype = TTNN_UINT32};
		int32_t start = 32 * (int32_t)(n % 6);

		config.shape = (struct ttnn_shape){2, {1 + n % 5 / 4, 2 + n % 3}};
		given_tensor(&given, "config", &config, 0, 9);
		add_number(&given, "actual_start", start, true);
		add_number(&given, "actual_end", start + (int32_t)(n * 7 % 90), true);
		given_add(&given, "tokens_per_chip", ttnn_v_int(32 * (1 + n % 2)));
		given_add(&given, "pad_side", ttnn_v_int(n % 2));
		given_add(&given, "cluster_axis", ttnn_v_int(n / 2 % 2));
		given_case(&given, PREFILL "moe_padding_config", n, 1);
	}
}

TEST(angles)
{
	struct given given = {.state = 8};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t width = 32 * (1 + n % 3), heads = 1 + n % 4;
		struct ttnn_spec_args in =
			given_spec(n % 4 == 3 ? TTNN_FLOAT32 : TTNN_BFLOAT16, 1 + n % 5 / 4, heads,
				   32 * (1 + n % 2), width);
		struct ttnn_spec_args table =
			given_spec(TTNN_BFLOAT16, 1, n % 6 == 5 ? heads : 1, 192, width);
		struct ttnn_spec_args matrix = given_spec(TTNN_BFLOAT16, 1, 1, 32, 32), prefix;

		if (n % 3 == 1)
			in.shape.dim[3] += 64;
		prefix = in;
		prefix.shape.dim[3] = 32 * (1 + n % 2);
		given_tensor(&given, "input", &in, -2, 2);
		given_tensor(&given, "cos", &table, -1, 1);
		given_tensor(&given, "sin", &table, -1, 1);
		given_tensor(&given, "trans_mat", &matrix, -1, 1);
		add_number(&given, "kv_actual_global", 32 * (n % 5), n % 4 == 1);
		given_add(&given, "cluster_axis", ttnn_v_int(n % 2));
		if (n % 3 == 1) {
			given_add(&given, "rotary_dim", ttnn_v_int(width));
			given_add(&given, "rotary_offset", ttnn_v_int(32 * (n % 2 + 1)));
		}
		if (n % 4 == 2)
			given_tensor(&given, "concat_prefix", &prefix, -2, 2);
		given_case(&given, PREFILL "rotary_embedding_indexed", n, 4);
	}
}

/* ---- tokens of experts ------------------------------------------------------------------------------------ */

/* Regions of eight experts, some of which are empty, and four that are the chip's own. */
static void add_regions(struct given *given, uint32_t n)
{
	int32_t start[8], counts[8], table[4], next = 0;

	for (int32_t i = 0; i < 8; i++) {
		start[i] = next;
		counts[i] = (i * 11 + (int32_t)n * 5) % 50;
		next += (counts[i] + 31) / 32 * 32;
	}
	for (int32_t i = 0; i < 4; i++)
		table[i] = (i * 3 + (int32_t)n) % 8;
	given_numbers(given, "start",
		      n % 2 ? &(struct ttnn_shape){2, {1, 8}} : &(struct ttnn_shape){1, {8}},
		      TTNN_UINT32, start);
	given_numbers(given, "counts", &(struct ttnn_shape){1, {8}}, TTNN_UINT32, counts);
	given_numbers(given, "global_expert_idx_table", &(struct ttnn_shape){1, {4}}, TTNN_UINT32,
		      table);
	given_add(given, "local_expert_id", ttnn_v_int(n % 4));
}

TEST(regions)
{
	struct given given = {.state = 5};

	for (uint32_t n = 0; n < CASES; n++) {
		struct ttnn_spec_args all = given_spec(n % 3 ? TTNN_BFLOAT16 : TTNN_BFLOAT8_B, 0, 0,
						       512, 32 * (1 + n % 3)),
				      own = all;

		own.shape.dim[0] = 32 * (1 + n % 4);
		given_tensor(&given, "global_tensor", &all, -3, 3);
		add_regions(&given, n);
		given_add(&given, "max_dispatched_tokens_per_expert", ttnn_v_int(own.shape.dim[0]));
		given_case(&given, PREFILL "extract", n, 1);
		given_tensor(&given, "global_tensor", &all, -3, 3);
		given_tensor(&given, "local_tensor", &own, -3, 3);
		add_regions(&given, n);
		given_case(&given, PREFILL "insert", n, 1);
	}
}

TEST(counts)
{
	struct given given = {.state = 6};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t experts = 8 + n * 3;
		struct ttnn_spec_args chosen =
			given_spec(TTNN_UINT16, 0, 0, 64 * (1 + n % 3), 1 + n % 16);
		struct ttnn_spec_args mask = {.dtype = TTNN_INT32};

		mask.shape = n % 2 ? (struct ttnn_shape){1, {experts}}
				   : (struct ttnn_shape){2, {1, experts + n % 3}};
		golden_put(&chosen, n % 4 == 3 ? GOLDEN_L1 : GOLDEN_DRAM);
		given_tensor(&given, "input_tensor", &chosen, 0, experts + 1);
		given_tensor(&given, "expert_mask", &mask, -2, 4);
		given_add(&given, "n_routed_experts", ttnn_v_int(experts));
		given_add(&given, "num_experts_per_token", ttnn_v_int(1 + n % 16 * (n % 3) / 2));
		given_case(&given, PREFILL "masked_bincount", n, 1);
	}
}

TEST(sums)
{
	struct given given = {.state = 7};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t tokens = 32 * (1 + n % 3), experts = 1 + n % 6, width = 32 * (1 + n % 4);
		struct ttnn_spec_args in = {.dtype = TTNN_BFLOAT16}, weights, choices = in;
		int32_t table[12];

		in.shape = (struct ttnn_shape){5, {1, 1, tokens, experts, width}};
		weights = in;
		weights.shape.dim[4] = 1;
		given_tensor(&given, "combine_output", &in, -2, 2);
		given_tensor(&given, "weights", &weights, 0, 1);
		if (n % 2) {
			choices.dtype = TTNN_UINT16;
			choices.shape = (struct ttnn_shape){4, {1, 1, tokens, experts}};
			given_tensor(&given, "indices", &choices, 0, 11);
			for (int32_t i = 0; i < 12; i++)
				table[i] = (i + (int32_t)n) % 4 - 1;
			given_numbers(&given, "expert_dispatch_table",
				      &(struct ttnn_shape){1, {12}}, TTNN_INT32, table);
		}
		given_case(&given, PREFILL "post_combine_reduce", n, 4);
	}
}

/* How many tokens are none, and on which side. */
static void add_padding(struct given *given, uint32_t n, uint32_t tokens)
{
	int32_t config[] = {(int32_t)(tokens * (n % 4) / 4), (int32_t)n % 2};

	if (n % 3 == 1)
		given_numbers(given, "padding_config", &(struct ttnn_shape){2, {1, 2}}, TTNN_UINT32,
			      config);
}

TEST(best_experts)
{
	static const struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	struct given given = {.state = 9};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t rows = n % 5 == 4 ? 37 : 32 * (1 + n % 2), batches = 1 + n % 7 / 6;
		uint32_t experts = n % 2 ? 32 * (1 + n % 4) : 256;
		struct ttnn_spec_args scores =
			given_spec(n % 3 ? TTNN_FLOAT32 : TTNN_BFLOAT16, batches, 1, rows, experts);
		struct ttnn_spec_args bias = scores;

		bias.dtype = n % 4 == 3 ? TTNN_BFLOAT16 : scores.dtype;
		given_tensor(&given, "scores", &scores, -3, 3);
		given_tensor(&given, "bias", &bias, -1, 1);
		if (n % 2) {
			given_add(&given, "n_groups", ttnn_v_int(1));
			given_add(&given, "n_activated_experts", ttnn_v_int(1 + n * 3 % 32));
		}
		given_add(&given, "route_scale", ttnn_v_real(n % 4 ? 2.5 : 1));
		if (n % 6 > 3)
			given_add(&given, "score_func", ttnn_v_string("sqrtsoftplus"));
		if (n % 4 > 1)
			given_add(&given, "weights_layout", ttnn_v_layout(TTNN_ROW_MAJOR));
		if (n % 5 == 1)
			given_add(&given, "memory_config", ttnn_v_memory(&l1));
		add_padding(&given, n, rows * batches);
		given_case(&given, PREFILL "moe_grouped_topk", n, 4);
	}
}

TEST(biased_scores)
{
	struct ttnn_spec_args spec = given_spec(TTNN_FLOAT32, 1, 1, 32, 64);
	struct given given = {.state = 10};
	struct ttnn_results results;
	double scores[32 * 64], bias[32 * 64], biased[32 * 64];

	CHECK_OK(tt_tensor_numbers(scores, 32 * 64, given_tensor(&given, "scores", &spec, -3, 3)));
	CHECK_OK(tt_tensor_numbers(bias, 32 * 64, given_tensor(&given, "bias", &spec, -1, 1)));
	given_tensor(&given, "biased_scores", &spec, 0, 1);
	given_add(&given, "n_groups", ttnn_v_int(1));
	CHECK_OK(ttnn_call(&results, PREFILL "moe_grouped_topk", given.args, given.count,
			   TTNN_FRONTEND_C));
	CHECK(results.count == 2);
	CHECK_OK(tt_tensor_numbers(biased, 32 * 64, given.tensors[2]));
	for (size_t i = 0; i < 32 * 64; i++)
		CHECK(fabs(biased[i] - bias[i] - 1 / (1 + exp(-scores[i]))) < 1e-6);
	for (size_t i = 0; i < results.count; i++)
		ttnn_tensor_unref(results.tensors[i]);
	given_free(&given);
}

TEST(experts_of_words)
{
	struct given given = {.state = 11};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t rows = n % 5 == 4 ? 37 : 32 * (1 + n % 2), batches = 1 + n % 7 / 6;
		uint32_t experts = 32 * (1 + n % 9), active = 1 + n * 5 % 16;
		struct ttnn_spec_args scores = given_spec(TTNN_FLOAT32, batches, 1, rows, experts);
		struct ttnn_spec_args words = {.dtype = TTNN_UINT32},
				      table = {.dtype = TTNN_UINT16};

		words.shape = (struct ttnn_shape){2, {batches * ((rows + 31) / 32), 32}};
		table.shape = (struct ttnn_shape){2, {50, active + n % 3}};
		given_tensor(&given, "scores", &scores, -3, 3);
		given_tensor(&given, "input_ids", &words, 0, 50);
		given_tensor(&given, "tid2eid", &table, 0, experts);
		given_add(&given, "n_activated_experts", ttnn_v_int(active));
		given_add(&given, "route_scale", ttnn_v_real(n % 4 ? 2.5 : 1));
		if (n % 4 == 3)
			given_add(&given, "score_func", ttnn_v_string("sigmoid"));
		add_padding(&given, n, rows * batches);
		given_case(&given, PREFILL "moe_hash_gate", n, 4);
	}
}

static void ffn_case(struct given *given, uint32_t n, uint32_t rows, uint32_t width,
		     uint32_t hidden)
{
	enum ttnn_dtype dtype = n % 3 == 2 ? TTNN_BFLOAT8_B : TTNN_BFLOAT16;
	struct ttnn_spec_args x = given_spec(dtype, n % 4 == 3, n % 4 == 3, rows, width);
	struct ttnn_spec_args up = given_spec(dtype, 0, 0, width, hidden);
	struct ttnn_spec_args down = given_spec(dtype, 0, 0, hidden, width), out = x;

	given_tensor(given, "x", &x, -2, 2);
	given_tensor(given, "gate_proj", &up, -0.1, 0.1);
	given_tensor(given, "up_proj", &up, -0.1, 0.1);
	given_tensor(given, "down_proj", &down, -0.1, 0.1);
	if (n % 5 == 1)
		given_tensor(given, "output", &out, 0, 1);
	given_case(given, PREFILL "routed_expert_ffn", n, 16);
}

TEST(experts)
{
	struct given given = {.state = 12};

	for (uint32_t n = 0; n < CASES; n++)
		ffn_case(&given, n, n == 7 ? 2080 : 32 * (1 + n % 4), 32 * (1 + n % 3),
			 32 * (1 + n % 5));
	golden_close();
	golden_profile = "p150";
	for (uint32_t n = 0; n < 6; n++)
		ffn_case(&given, n, n == 3 || n == 1 ? 2080 : 32 * (1 + n % 4), 512,
			 32 * (1 + n % 5));
	golden_close();
	golden_profile = "n150";
}

/* A list of weights or biases of so many experts, in items of the case from `first` on. */
static void add_weights(struct given *given, const char *name, const struct ttnn_spec_args *spec,
			uint32_t first, uint32_t count)
{
	for (uint32_t e = 0; e < count; e++) {
		ttnn_tensor *tensor = golden_make(spec, &given->state, -0.2, 0.2);

		given->tensors[given->tensor_count++] = tensor;
		given->items[first + e] = ttnn_v_tensor(tensor);
	}
	given_add(given, name, ttnn_v_list(&given->items[first], count));
}

static void unified_case(struct given *given, uint32_t n)
{
	uint32_t width = 32 * (1 + n % 3), hidden = 32 * (1 + n % 4), kind = n % 4;
	bool biased = (kind == 1 || kind == 2) && n % 8 < 4;
	enum ttnn_dtype dtype = n % 3 ? TTNN_BFLOAT8_B : TTNN_BFLOAT16;
	struct ttnn_spec_args x =
		given_spec(n % 5 == 4 ? TTNN_BFLOAT16 : TTNN_BFLOAT8_B, 0, 0, 512, width);
	struct ttnn_spec_args up = given_spec(dtype, 0, 0, width, hidden);
	struct ttnn_spec_args down = given_spec(dtype, 0, 0, hidden, width);
	struct ttnn_spec_args bias = given_spec(TTNN_BFLOAT16, 0, 0, 1, hidden), last = bias;

	if (n % 5 == 4)
		x.layout = TTNN_ROW_MAJOR;
	last.shape.dim[1] = width;
	given_tensor(given, "dispatched_buffer", &x, -2, 2);
	add_regions(given, n);
	given->args[given->count - 4].name = "expert_region_offsets";
	given->args[given->count - 3].name = "expert_token_counts";
	given->count--; /* not an expert alone */
	add_weights(given, "gate_projs", &up, 0, 2);
	add_weights(given, "up_projs", &up, 2, 2);
	add_weights(given, "down_projs", &down, 4, 2);
	given_add(given, "max_dispatched_tokens_per_expert", ttnn_v_int(n % 6 ? 64 : 32));
	given_add(given, "activation",
		  tt_value_enum(&tt_enum_routed_expert_activation, (int64_t)kind));
	if (biased) {
		add_weights(given, "gate_biases", &bias, 6, 2);
		add_weights(given, "up_biases", &bias, 8, 2);
		add_weights(given, "down_biases", &last, 10, 2);
	}
	if (n % 7 == 3)
		given_add(given, "min_active_tokens", ttnn_v_int(20));
	if (n % 7 == 5)
		given_add(given, "max_active_tokens", ttnn_v_int(30));
	given_case(given, PREFILL "unified_routed_expert_moe", n, 16);
}

TEST(all_experts)
{
	struct given given = {.state = 13};

	golden_close();
	golden_profile = "p150";
	for (uint32_t n = 0; n < CASES; n++)
		unified_case(&given, n);
	golden_close();
	golden_profile = "n150";
}

static struct ttnn_spec_args rows_of(enum ttnn_dtype dtype, uint32_t n, uint32_t width)
{
	struct ttnn_spec_args spec =
		given_spec(dtype, n % 4 == 3, n % 4 > 1, 7 + 32 * (n % 3), width);

	spec.layout = TTNN_ROW_MAJOR;
	return spec;
}

/* Scales of tokens, also as bits behind three other numbers. */
static void add_scales(struct given *given, uint32_t n, uint32_t blocks)
{
	struct ttnn_spec_args scales = {.dtype = TTNN_FLOAT32};
	int32_t bits[512 * 5];

	scales.shape = (struct ttnn_shape){2, {512, blocks}};
	given_add(given, "token_count_aware", ttnn_v_bool(true));
	given_add(given, "experts_per_chip", ttnn_v_int(1 + n % 4));
	if (n % 2) {
		given_tensor(given, "input_scale", &scales, 0.1, 3);
		return;
	}
	for (uint32_t i = 0; i < 512 * (3 + blocks); i++) {
		float scale = 0.25F * (float)(1 + i % 13);

		memcpy(&bits[i], &scale, sizeof(scale));
		if (i % (3 + blocks) < 3)
			bits[i] = (int32_t)i;
	}
	given_numbers(given, "metadata", &(struct ttnn_shape){2, {512, 3 + blocks}}, TTNN_INT32,
		      bits);
}

static void cast_cases(struct given *given, uint32_t n)
{
	uint32_t blocks = 1 + n % 2;
	struct ttnn_spec_args in =
		rows_of(n % 2 ? TTNN_BFLOAT16 : TTNN_FLOAT32, n, 128 * (1 + n % 3));
	struct ttnn_spec_args codes = rows_of(TTNN_FP8_E4M3, n, 128 * blocks), scales = codes;

	if (n % 5 == 2)
		in.layout = TTNN_TILE;
	given_tensor(given, "input_tensor", &in, -9, 9);
	given_add(given, "round_scale_to_power_of_two", ttnn_v_bool(n % 4 > 1));
	given_case(given, PREFILL "per_token_cast_to_fp8", n, 16);
	scales.dtype = TTNN_FLOAT32;
	scales.shape.dim[scales.shape.rank - 1] = blocks;
	if (n % 3 == 1)
		codes.shape = (struct ttnn_shape){2, {512, 128 * blocks}};
	given_tensor(given, "input_e4m3", &codes, -200, 200);
	if (n % 3 == 1) {
		add_regions(given, n);
		given->args[given->count - 4].name = "expert_region_offsets";
		given->args[given->count - 3].name = "expert_token_counts";
		given->count--;
		add_scales(given, n, blocks);
	} else {
		given_tensor(given, "input_scale", &scales, 0.1, 3);
	}
	if (n % 4 == 3)
		given_add(given, "output_dtype", ttnn_v_dtype(TTNN_FLOAT32));
	given_case(given, PREFILL "per_token_cast_back", n, 4);
}

TEST(blocks_of_fp8)
{
	struct given given = {.state = 14};

	golden_close();
	golden_profile = "p150";
	for (uint32_t n = 0; n < CASES; n++) {
		struct ttnn_spec_args latent = rows_of(TTNN_FP8_E4M3, n, 512), scales = latent,
				      rope = latent;
		int32_t numbers[8 * 128 * 64];

		cast_cases(&given, n);
		latent.shape = (struct ttnn_shape){2, {1 + n * 5 % 90, 512}};
		scales.shape = rope.shape = latent.shape;
		scales.shape.dim[1] = 4;
		rope.shape.dim[1] = 64;
		/* no bits that are no numbers of FP8 */
		for (uint32_t i = 0; i < TT_COUNT(numbers); i++)
			numbers[i] = 1 + (int32_t)(i * 7 + n) % 8;
		given_tensor(&given, "latent", &latent, -200, 200);
		given_numbers(&given, "scales", &scales.shape, TTNN_FLOAT32, numbers);
		given_numbers(&given, "rope", &rope.shape, TTNN_BFLOAT16, numbers);
		given_case(&given, PREFILL "pack_scaled_fp8_kv_cache", n, 1);
	}
	golden_close();
	golden_profile = "n150";
}

TEST(weighted)
{
	struct given given = {.state = 15};

	golden_close();
	golden_profile = "p150";
	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t rows = n % 3 ? 32 * (1 + n % 2) : 21, planes = 1 + n % 5;
		struct ttnn_spec_args in =
			given_spec(TTNN_BFLOAT16, 1, planes, rows, 32 * (1 + n % 3) - n % 2);
		struct ttnn_spec_args weight = given_spec(n % 4 > 1 ? TTNN_FLOAT32 : TTNN_BFLOAT16,
							  1 + n * 2 % 9, planes, rows, 1);

		golden_put(&in, n % 5 == 4 ? GOLDEN_L1 : GOLDEN_DRAM);
		given_tensor(&given, "input", &in, -2, 2);
		given_tensor(&given, "weight", &weight, -1, 1);
		if (n % 3 == 1)
			given_add(&given, "dim", ttnn_v_int(n % 2 ? -3 : 1));
		given_case(&given, PREFILL "attn_res_weighted_reduce_nc", n, 4);
	}
	golden_close();
	golden_profile = "n150";
}

TEST(zz_all_rows)
{
	golden_check_family("weighted_planes");
	golden_check_family("fp8_blocks");
	golden_check_family("unified_ffn");
	golden_check_family("routed_ffn");
	golden_check_family("prefill_gate");
	golden_check_family("post_combine");
	golden_check_family("rotary_indexed");
	golden_check_family("expert_regions");
	golden_check_family("padding_config");
	golden_check_family("padded_cache");
	golden_close();
}
