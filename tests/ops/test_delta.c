/* gated delta nets against their goldens */
#include "test.h"

#include "golden.h"
#include "ops/given.h"
#include "ops/golden_cases.h"
#include "ops/objects.h"

#define CASES 22
#define RECURRENT "ttnn.transformer.fused_recurrent_gated_delta_rule"
#define SEQ "ttnn.transformer.gated_delta_attn_seq"

/* Queries, keys and values of heads, and what decays and learns: small numbers, so that states stay small. */
static void add_heads(struct given *given, const uint32_t size[6], enum ttnn_dtype dtype)
{
	uint32_t batches = size[0], tokens = size[1], heads = size[2], all = size[3];
	const struct ttnn_spec_args q = given_spec(dtype, batches, tokens, heads, size[4]);
	const struct ttnn_spec_args v = given_spec(dtype, batches, tokens, all, size[5]);
	const struct ttnn_spec_args number = given_spec(dtype, batches, tokens, all, 0);

	given_tensor(given, "q", &q, -0.3, 0.3);
	given_tensor(given, "k", &q, -0.3, 0.3);
	given_tensor(given, "v", &v, -1, 1);
	given_tensor(given, "g", &number, -1, 0);
	given_tensor(given, "beta", &number, 0, 1);
}

TEST(tokens)
{
	struct given given = {.state = 1};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t heads = 1 + n % 3;
		const uint32_t size[6] = {1 + n % 5 / 3,       1 + n % 4,        heads,
					  heads * (1 + n % 2), 32 * (1 + n % 2), 32 * (1 + n % 3)};
		struct ttnn_spec_args state = given_spec(n % 6 == 5 ? TTNN_BFLOAT16 : TTNN_FLOAT32,
							 size[0], size[3], size[4], size[5]);

		add_heads(&given, size, n % 4 == 3 ? TTNN_BFLOAT16 : TTNN_FLOAT32);
		if (n % 3)
			given_tensor(&given, "initial_state", &state, -1, 1);
		if (n % 4 < 2)
			given_add(&given, "output_final_state", ttnn_v_bool(n % 4 == 1));
		if (n % 4 == 2)
			given_add(&given, "output_per_token_state", ttnn_v_bool(true));
		if (n % 5 == 4)
			given_add(&given, "scale", ttnn_v_real(0.5));
		given_case(&given, RECURRENT, n, 1);
	}
}

TEST(ring)
{
	struct given given = {.state = 2};

	for (uint32_t n = 0; n < 6; n++) {
		const uint32_t size[6] = {1 + n % 2, 1 + n % 3, 1, 2, 32, 32};
		uint32_t heads = size[0] * size[3];
		struct ttnn_spec_args state =
			given_spec(TTNN_FLOAT32, 0, heads * size[1], size[4], size[5]);
		int32_t blocks[4];

		for (uint32_t h = 0; h < heads; h++)
			blocks[h] = (int32_t)(h + heads * (n % size[1]));
		add_heads(&given, size, TTNN_FLOAT32);
		given_tensor(&given, "initial_state", &state, -1, 1);
		given_numbers(&given, "initial_state_block_idx",
			      n % 2 ? &(struct ttnn_shape){1, {heads}}
				    : &(struct ttnn_shape){2, {1, heads}},
			      n % 2 ? TTNN_UINT32 : TTNN_INT32, blocks);
		given_add(&given, "output_per_token_state", ttnn_v_bool(true));
		given_case(&given, RECURRENT, n, 1);
	}
}

TEST(chunks)
{
	static const char *const names[] = {"L_unit",  "v_beta_sc", "k_bd_sc", "intra_attn",
					    "q_decay", "k_decay_t", "dl_exp",  "L_inv"};
	struct given given = {.state = 3};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t heads = 1 + n % 3, chunks = 1 + n % 4 / 2;

		for (size_t i = 0; i < TT_COUNT(names); i++) {
			uint32_t rows = i == 6 ? 1 : 128, columns = i == 6 ? 1 : i == 7 ? 32 : 128;
			struct ttnn_spec_args in =
				given_spec(TTNN_FLOAT32, heads, chunks, rows, columns);

			given_tensor(&given, names[i], &in, i == 6 ? 0 : -0.1, i == 6 ? 1 : 0.1);
		}
		if (n % 2) {
			struct ttnn_spec_args state = given_spec(TTNN_FLOAT32, 0, heads, 128, 128);

			given_tensor(&given, "initial_state", &state, -1, 1);
		}
		given_case(&given, SEQ, n, 1);
	}
}

/* Flat queries, keys and values have their heads side by side. */
static void add_flat(struct given *given, const uint32_t size[6])
{
	const uint32_t widths[] = {size[2] * size[5], size[2] * size[5], size[3] * size[5]};
	static const char *const names[] = {"q", "k", "v"};
	const struct ttnn_spec_args number =
		given_spec(TTNN_BFLOAT16, size[0], size[1], size[3], 0);

	for (size_t i = 0; i < TT_COUNT(names); i++) {
		struct ttnn_spec_args in =
			given_spec(TTNN_BFLOAT16, size[0], size[1], widths[i], 0);

		given_tensor(given, names[i], &in, -1, 1);
	}
	given_tensor(given, "g", &number, -1, 0);
	given_tensor(given, "beta", &number, 0, 1);
}

static void add_config(struct given *given, struct tt_arena *arena, uint32_t n)
{
	static const char *const names[] = {"ChunkGdnPhasedProgramConfig",
					    "ChunkGdnFusedProgramConfig",
					    "ChunkGdnMonoProgramConfig"};
	struct ttnn_value config;

	if (n >= TT_COUNT(names))
		return;
	CHECK_OK(tt_object_make(&config, arena, names[n], NULL, 0));
	given_add(given, "program_config", config);
}

TEST(rules)
{
	struct given given = {.state = 4};
	struct tt_arena arena = {0};

	for (uint32_t n = 0; n < 2 * CASES; n++) {
		uint32_t heads = 1 + n % 2, chunk = n % 5 == 4 ? 64 : 32;
		bool flat = n % 7 == 3;
		const uint32_t size[6] = {1 + n % 3 / 2,
					  flat ? 64 : 20 + n * 7 % 90,
					  heads,
					  heads * (1 + n % 3 / 2),
					  32 * (1 + n % 2),
					  32 * (1 + n % 3 / 2)};
		struct ttnn_spec_args state =
			given_spec(n % 6 == 5 ? TTNN_BFLOAT16 : TTNN_FLOAT32, size[0], size[3],
				   flat ? size[5] : size[4], size[5]);

		if (flat)
			add_flat(&given, size);
		else
			add_heads(&given, size, n % 4 == 3 ? TTNN_FLOAT32 : TTNN_BFLOAT16);
		if (n % 3)
			given_tensor(&given, "initial_state", &state, -1, 1);
		given_add(&given, "chunk_size", ttnn_v_int(flat ? 32 : chunk));
		given_add(&given, "output_final_state", ttnn_v_bool(n % 2));
		given_add(&given, "output_head_major", ttnn_v_bool(n % 4 == 2));
		if (n % 5 == 2)
			given_add(&given, "scale", ttnn_v_real(0.5));
		add_config(&given, &arena, flat ? n % 2 : n % 4);
		given_case(&given, "ttnn.transformer.chunk_gated_delta_rule", n, 300);
	}
	tt_arena_deinit(&arena);
}

TEST(zz_all_rows)
{
	golden_check_family("delta_chunk");
	golden_check_family("delta_recurrent");
	golden_check_family("delta_rule");
	golden_close();
}
