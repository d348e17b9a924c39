/* how much keys matter to queries, against its golden */
#include "test.h"

#include "golden.h"
#include "ops/given.h"
#include "ops/given_mesh.h"
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

/* What the ring of a call has: rows of a chip, its part of the keys, chips, and how they are spread. */
struct ring {
	uint32_t rows, cols, heads, queries, width, part, slots;
	int64_t axis, chunk;
	bool cut, sub;
};

static struct ring ring_of(uint32_t n)
{
	struct ring r = {.rows = n % 3 ? 1 : 2,
			 .cols = n % 3 == 1 ? 4 : 2,
			 .heads = 1 + n % 3,
			 .queries = 32 * (1 + n % 2),
			 .width = 32 * (1 + n % 4 / 3),
			 .part = 128,
			 .slots = n % 4 == 1 ? 2 : 1,
			 .axis = n % 3 ? 1 : n / 3 % 2};

	if (n % 2)
		r.chunk = r.queries;
	r.cut = n % 6 == 3;
	r.sub = n % 6 == 0 && n;
	if (r.sub)
		r.chunk = 2 * r.queries;
	return r;
}

static void add_ring(struct given *given, struct tt_arena *arena, const struct ring *r, uint32_t n)
{
	static const struct tt_enum_row rows[] = {{1, "Linear"}};
	static const struct tt_enum topology = {"Topology", rows, 1};
	enum ttnn_dtype dtype = n % 5 == 4 ? TTNN_BFLOAT8_B : TTNN_BFLOAT16;
	uint32_t chips = r->axis ? r->cols : r->rows;
	const struct ttnn_spec_args specs[] = {
		given_spec(dtype, 1, r->heads, r->queries, r->width),
		given_spec(dtype, 1, 1, chips * r->part, r->width),
		given_spec(TTNN_BFLOAT16, 1, 1, r->queries, r->heads),
		given_spec(dtype, r->slots, 1, r->part, r->width),
	};

	given_chips(given, "q", &specs[0], -1, 1);
	given_tensor(given, "k", &specs[1], 0, 0);
	given_chips(given, "weights", &specs[2], -1, 1);
	given_chips(given, "k_local", &specs[3], -1, 1);
	given_add(given, "ag_multi_device_global_semaphore", given_list(given, 0, 1, 2));
	given_add(given, "cluster_axis", ttnn_v_int(r->axis));
	given_add(given, "topology", tt_value_enum(&topology, 1));
	add_units(given, arena, (const int64_t[]){32, n % 2 ? 64 : 32, 0});
	if (r->chunk) {
		given_add(given, "block_cyclic_sp_axis", ttnn_v_int(r->axis));
		given_add(given, "block_cyclic_chunk_local", ttnn_v_int(r->chunk));
	}
	if (r->sub)
		given_add(given, "seq_subshard_axis", ttnn_v_int(!r->axis));
	if (r->cut && r->chunk == 64)
		given_add(given, "block_cyclic_cache_tp_sharded", ttnn_v_bool(true));
}

/* Numbers that are on the device. */
static void add_numbers(struct given *given, uint32_t n)
{
	const struct ttnn_shape one = {1, {1}};
	int32_t start = 32 * (int32_t)(n % 7), end = start + 70, user = 1;

	given_numbers(given, "chunk_start_idx_tensor", &one, TTNN_UINT32, &start);
	if (n % 3)
		given_numbers(given, "valid_end_tensor", &one, TTNN_UINT32, &end);
	if (n % 4 != 1)
		return;
	given_numbers(given, "cache_batch_idx_tensor", &one, TTNN_UINT32, &user);
}

TEST(rings)
{
	struct given given = {.state = 3};
	struct tt_arena arena = {0};

	for (uint32_t n = 0; n < 2 * CASES; n++) {
		struct ring r = ring_of(n);

		given_mesh_of("p150_x4", r.rows, r.cols);
		add_ring(&given, &arena, &r, n);
		if (r.chunk && n % 5 == 1) {
			add_numbers(&given, n);
		} else {
			if (n % 4)
				given_add(&given, "chunk_start_idx", ttnn_v_int(32 * (n % 7)));
			if (r.slots > 1)
				given_add(&given, "cache_batch_idx", ttnn_v_int(n % 8 / 4));
			if (n % 7 == 3)
				given_add(&given, "kv_len", ttnn_v_int(224));
			if (!r.chunk && n % 8 == 2)
				given_add(&given, "key_compression_ratio", ttnn_v_int(4));
		}
		given_case(&given, "ttnn.experimental.ring_indexer_score_dsa", n, 4);
	}
	tt_arena_deinit(&arena);
}

TEST(zz_all_rows)
{
	golden_check_family("indexer_ring");
	golden_check_family("indexer_score");
	golden_close();
}
