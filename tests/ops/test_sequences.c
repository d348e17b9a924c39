/* heads of pairs, parts of caches and rows of complex numbers, against their goldens */
#include "test.h"

#include "golden.h"
#include "ops/given.h"
#include "ops/golden_cases.h"

#define CASES 22

static const enum ttnn_dtype dtypes[] = {TTNN_BFLOAT16, TTNN_FLOAT32, TTNN_BFLOAT8_B};

TEST(pairs)
{
	struct given given = {.state = 1};

	for (uint32_t n = 0; n < CASES; n++) {
		struct ttnn_spec_args in =
			given_spec(dtypes[n % 3], 1 + n % 5, 1 + n % 3,
				   32 * (1 + n % 2) - (n % 3 == 1 ? 7 : 0), 32 * (1 + n % 3));

		golden_put(&in, n % 4 == 3 ? GOLDEN_L1 : GOLDEN_DRAM);
		given_tensor(&given, "input_tensor", &in, -3, 3);
		given_case(&given, "ttnn.experimental.nlp_concat_heads_boltz", n, 1);
	}
}

TEST(halves)
{
	struct given given = {.state = 5};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t heads = 1 + n % 4, width = 32 * (2 + n % 3);
		struct ttnn_spec_args in =
			given_spec(dtypes[n % 3], 1 + n % 3, 1, 40 + 32 * (n % 2), heads * width);

		given_tensor(&given, "input", &in, -3, 3);
		given_add(&given, "num_heads", ttnn_v_int(heads));
		given_add(&given, "split_head_dim",
			  ttnn_v_int(n % 2 && width > 64 ? width - 32 : 32));
		given_case(&given, "ttnn.experimental.nlp_create_q_heads_split", n, 1);
	}
}

TEST(parts)
{
	struct given given = {.state = 2};

	for (uint32_t n = 0; n < CASES; n++) {
		struct ttnn_spec_args in =
			given_spec(dtypes[n % 3], 1 + n % 4, 1 + n % 3, 192, 32 * (1 + n % 3));

		given_tensor(&given, "input_tensor", &in, -3, 3);
		given_add(&given, "seq_len_start", ttnn_v_int(32 * (n % 3)));
		given_add(&given, "seq_len_end", ttnn_v_int(96 + 32 * (n % 4)));
		given_case(&given, "ttnn.experimental.nlp_kv_cache_load_slice", n, 1);
	}
}

TEST(products)
{
	static const char *const names[] = {"a_real", "a_imag", "b_real", "b_imag"};
	struct given given = {.state = 3};

	for (uint32_t n = 0; n < CASES; n++) {
		struct ttnn_spec_args in = {.dtype = dtypes[n % 2]};

		in.shape = (struct ttnn_shape){1 + n % 3, {1 + n % 5, 1 + n % 3, 1 + n}};
		in.shape.dim[in.shape.rank - 1] = 1 + n * 31;
		for (size_t i = 0; i < TT_COUNT(names); i++)
			given_tensor(&given, names[i], &in, -2, 2);
		given_case(&given, "ttnn.experimental.complex_mul", n, 2);
	}
}

TEST(planes)
{
	struct given given = {.state = 4};

	for (uint32_t n = 0; n < CASES; n++) {
		struct ttnn_spec_args in = {.dtype = dtypes[n % 2]};

		in.shape = (struct ttnn_shape){2 + n % 3, {1 + n % 2, 1 + n % 3, 1, 1}};
		in.shape.dim[in.shape.rank - 2] = 32 * (1 + n % 3);
		in.shape.dim[in.shape.rank - 1] = 32 * (1 + n % 4);
		given_tensor(&given, "input", &in, -2, 2);
		given_case(&given, "ttnn.experimental.transpose_rm", n, 1);
	}
}

TEST(pairs_to_heads)
{
	static const enum ttnn_dtype kinds[] = {TTNN_BFLOAT16, TTNN_FLOAT32, TTNN_BFLOAT8_B};
	struct given given = {.state = 21};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t heads = 1 + n % 4, kv = n % 3 == 2 ? 1 : heads,
			 wide = n == 3 ? 16 : 32 * (1 + n % 2);
		uint32_t side = n % 5 == 4 ? 40 : 32 * (1 + n % 2), rows = n % 6 == 5 ? 20 : side;
		bool apart = n % 4 == 1;
		const struct ttnn_spec_args in = given_spec(
			kinds[n % 3], 1, rows, side, (apart ? heads : heads + 2 * kv) * wide);
		const struct ttnn_spec_args pair =
			given_spec(kinds[n % 3], 1, rows, side, 2 * kv * wide);

		given_tensor(&given, "input", &in, -2, 2);
		if (apart)
			given_tensor(&given, "input_kv", &pair, -2, 2);
		given_add(&given, "num_heads", ttnn_v_int(heads));
		if (kv != heads || n % 2)
			given_add(&given, "num_kv_heads", ttnn_v_int(kv));
		if (n % 3)
			given_add(&given, "transpose_k_heads", ttnn_v_bool(false));
		given_case(&given, "ttnn.experimental.nlp_create_qkv_heads_boltz", n, 1);
	}
}

TEST(rows_to_pages)
{
	struct given given = {.state = 22};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t pages = 1 + n % 4, heads = 1 + n % 3, rows = 32 * (1 + n % 2),
			 count = 1 + n % 9;
		const struct ttnn_spec_args cache =
			given_spec(TTNN_BFLOAT16, pages, heads, rows, 32 * (1 + n % 2));
		const struct ttnn_spec_args in =
			given_spec(TTNN_BFLOAT16, 1, heads, count, 32 * (1 + n % 2));
		int32_t places[16];

		for (uint32_t i = 0; i < 16; i++)
			places[i] = (int32_t)(i * 37 + n * 11) % (int32_t)(pages * rows + 9) - 4;
		if (n % 3 == 1)
			places[count / 2] = places[0];
		given_tensor(&given, "cache_tensor1", &cache, -2, 2);
		given_tensor(&given, "input_tensor1", &in, -2, 2);
		given_tensor(&given, "cache_tensor2", &cache, -2, 2);
		given_tensor(&given, "input_tensor2", &in, -2, 2);
		given_numbers(&given, "physical_update_idxs_tensor",
			      &(struct ttnn_shape){2, {1, n % 2 ? 16 : count}}, TTNN_INT32, places);
		given_case(&given, "ttnn.experimental.indexed_fused_update_cache", n, 1);
	}
}

TEST(zz_all_rows)
{
	golden_check_family("heads_boltz");
	golden_check_family("heads_pairs");
	golden_check_family("indexed_cache");
	golden_check_family("heads_q_split");
	golden_check_family("rows_complex");
	golden_close();
}
