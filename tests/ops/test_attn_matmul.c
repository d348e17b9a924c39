/* products of new tokens with the matrices of their users, against their golden */
#include "test.h"

#include "event/value.h"
#include "golden.h"
#include "ops/given.h"
#include "ops/golden_cases.h"

static void add_grid(struct given *given, uint32_t x, uint32_t y)
{
	given_add(given, "compute_with_storage_grid_size",
		  (struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = {x, y}});
}

static void add_both(struct given *given, const struct ttnn_spec_args *a,
		     const struct ttnn_spec_args *b)
{
	given_tensor(given, "input_tensor_a", a, -2, 2);
	given_tensor(given, "input_tensor_b", b, -2, 2);
}

static enum ttnn_dtype dtype_of(uint32_t n)
{
	return n % 4 == 3 ? TTNN_BFLOAT8_B : TTNN_BFLOAT16;
}

TEST(one_head_of_keys)
{
	static const uint32_t ks[] = {32, 50, 96, 64}, ns[] = {64, 33, 32, 70, 128};
	struct given given = {.state = 3};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t users = n % 5 == 4 ? 64 : 32, k = ks[n % 4], columns = ns[n % 5];
		struct ttnn_spec_args a = given_spec(dtype_of(n), 1, 1 + n % 9, users, k);
		struct ttnn_spec_args b = given_spec(dtype_of(n / 2), users, 1, k, columns);

		if (n % 7 == 6)
			a.shape.dim[2] = users - 5;
		golden_put(&a, n % 2 ? GOLDEN_L1 : GOLDEN_DRAM);
		add_both(&given, &a, &b);
		add_grid(&given, 1 + n % 8, 8);
		if (n % 6 == 1)
			given_add(&given, "dtype", ttnn_v_dtype(TTNN_BFLOAT8_B));
		given_case(&given, "ttnn.experimental.attn_matmul", n, 2);
	}
}

TEST(out_of_a_cache)
{
	static const uint32_t tokens[] = {1, 32, 40, 64, 100};
	struct given given = {.state = 4};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		bool transposed = n % 2;
		uint32_t count = tokens[n % 5], whole = (count + 31) / 32 * 32, k = n % 3 ? 64 : 40;
		const struct ttnn_spec_args a =
			given_spec(dtype_of(n), 1, 1 + n % 5, 32, transposed ? k : whole);
		const struct ttnn_spec_args b =
			given_spec(dtype_of(n / 3), 32, 1, n % 7 ? 128 : 101, k);

		add_both(&given, &a, &b);
		add_grid(&given, 8, 8);
		given_add(&given, "num_tokens", ttnn_v_int(count));
		given_add(&given, "transpose_hw", ttnn_v_bool(transposed));
		given_case(&given, "ttnn.experimental.attn_matmul_from_cache", n, 2);
	}
}

TEST(groups_of_heads)
{
	struct given given = {.state = 5};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t groups = 1 + n % 3, k = n % 4 ? 64 : 50;
		const struct ttnn_spec_args a =
			given_spec(dtype_of(n), 1, groups * (1 + n % 4), 32, k);
		const struct ttnn_spec_args b =
			given_spec(dtype_of(n / 2), 32, groups, k, n % 5 ? 64 : 70);

		add_both(&given, &a, &b);
		add_grid(&given, 8, 4 + n % 5);
		given_case(&given, "ttnn.experimental.group_attn_matmul", n, 2);
	}
}

TEST(shards_of_a_head_each)
{
	static const struct ttnn_memory_config height = {.buffer = TTNN_L1,
							 .layout = TTNN_HEIGHT_SHARDED};
	struct given given = {.state = 6};
	struct ttnn_spec_args a = given_spec(TTNN_BFLOAT16, 1, 4, 32, 64);
	const struct ttnn_spec_args b = given_spec(TTNN_BFLOAT16, 32, 2, 64, 96);

	golden_put(&a, GOLDEN_HEIGHT);
	add_both(&given, &a, &b);
	add_grid(&given, 8, 8);
	given_add(&given, "memory_config", ttnn_v_memory(&height));
	given_case(&given, "ttnn.experimental.group_attn_matmul", 0, 2);
}

TEST(goldens_refuse_what_does_not_fit)
{
	struct given given = {.state = 7};
	const struct ttnn_spec_args a = given_spec(TTNN_BFLOAT16, 1, 3, 32, 64);
	const struct ttnn_spec_args b = given_spec(TTNN_BFLOAT16, 32, 2, 64, 32);

	add_both(&given, &a, &b);
	add_grid(&given, 8, 8);
	given_refused(&given, "ttnn.experimental.group_attn_matmul",
		      "Number of q_heads must be divisible by kv_heads!");
}

TEST(zz_all_rows)
{
	golden_check_family("attn_matmul");
	golden_close();
}
