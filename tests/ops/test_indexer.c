/* how much keys matter to queries, against its golden */
#include "test.h"

#include "golden.h"
#include "ops/given.h"
#include "ops/golden_cases.h"
#include "ops/objects.h"

#define CASES 24

/* Queries of heads, keys that all share, of several users where there is a slot. */
static void add_pair(struct given *given, uint32_t n, uint32_t heads, uint32_t keys)
{
	enum ttnn_dtype dtype = n % 4 == 3 ? TTNN_BFLOAT8_B : TTNN_BFLOAT16;
	uint32_t width = 32 * (1 + n % 3), slots = 1 + n % 5 / 4;
	const struct ttnn_spec_args q = given_spec(dtype, 1, heads, 32 * (1 + n % 3), width);
	const struct ttnn_spec_args k = given_spec(dtype, slots, 1, keys, width);

	given_tensor(given, "q", &q, -1, 1);
	given_tensor(given, "k", &k, -1, 1);
	if (slots > 1)
		given_add(given, "cache_batch_idx", ttnn_v_int(1));
}

static void add_units(struct given *given, struct tt_arena *arena, const int64_t units[3])
{
	const struct ttnn_arg args[] = {{"q_chunk_size", ttnn_v_int(units[0])},
					{"k_chunk_size", ttnn_v_int(units[1])},
					{"head_group_size", ttnn_v_int(units[2])}};
	struct ttnn_value config;

	CHECK_OK(tt_object_make(&config, arena, "IndexerScoreProgramConfig", args, TT_COUNT(args)));
	given_add(given, "program_config", config);
}

TEST(together)
{
	struct given given = {.state = 1};
	struct tt_arena arena = {0};

	golden_profile = "p150"; /* only Blackhole has it */
	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t heads = 1 + n % 4, rows = 32 * (1 + n % 3), ratio = n % 6 == 5 ? 4 : 1;
		const struct ttnn_spec_args weights = given_spec(TTNN_BFLOAT16, 1, 1, rows, heads);

		add_pair(&given, n, heads, 160);
		given_tensor(&given, "weights", &weights, -1, 1);
		if (n % 3)
			given_add(&given, "chunk_start_idx", ttnn_v_int(32 * (n % 5)));
		if (n % 3 == 2)
			given_add(&given, "kv_len", ttnn_v_int(160));
		if (ratio > 1)
			given_add(&given, "key_compression_ratio", ttnn_v_int(ratio));
		if (n % 2)
			add_units(&given, &arena, (const int64_t[]){32, 64, n % 4 == 1 ? 0 : 1});
		given_case(&given, "ttnn.experimental.indexer_score_dsa", n, 4);
	}
	tt_arena_deinit(&arena);
}

TEST(groups)
{
	struct given given = {.state = 2};
	struct tt_arena arena = {0};

	golden_profile = "p150"; /* only Blackhole has it */
	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t groups = 1 + n % 3, heads = groups * (1 + n % 2);

		add_pair(&given, n, heads, 512);
		given_add(&given, "num_groups", ttnn_v_int(groups));
		given_add(&given, "chunk_start_idx", ttnn_v_int(32 * (n * 5 % 13)));
		given_add(&given, "scale", ttnn_v_real(0.125));
		if (n % 2) {
			add_units(&given, &arena, (const int64_t[]){32, 256, 0});
			given_add(&given, "block_size", ttnn_v_int(32));
		} else {
			add_units(&given, &arena, (const int64_t[]){32, 64, 0});
		}
		given_case(&given, "ttnn.experimental.indexer_score_msa", n, 4);
	}
	tt_arena_deinit(&arena);
}

TEST(zz_all_rows)
{
	golden_check_family("indexer_score");
	golden_close();
}
