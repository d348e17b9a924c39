/* softmax in all its forms against their goldens */
#include "test.h"

#include "golden.h"
#include "ops/given.h"
#include "ops/golden_cases.h"
#include "ops/objects.h"

#define TYPES (GOLDEN_FLOATS | GOLDEN_BIT(TTNN_BFLOAT8_B))

TEST(any_dimension)
{
	const struct golden_wants wants = {.dtypes = TYPES};
	uint64_t state = 1;

	for (size_t n = 0; n < GOLDEN_CASES; n++)
		for (int64_t dim = -5; dim < 0; dim++) {
			struct ttnn_spec_args spec = golden_input(n, &wants);
			bool stable = n % 3;
			ttnn_tensor *x;

			if (dim < -(int64_t)spec.shape.rank)
				continue;
			/* Ones that are not quite 1 have no correlation with ones. */
			stable |= spec.shape.dim[spec.shape.rank + dim] == 1;
			if (spec.shape.rank != 4)
				golden_put(&spec, n % 2 ? GOLDEN_DRAM : GOLDEN_L1);
			x = golden_make(&spec, &state, -4, 4);
			if (!(n == 7 ? golden_case_on_threads : golden_case)(
				    "ttnn.softmax",
				    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)},
							{NULL, ttnn_v_int(dim)},
							{"numeric_stable", ttnn_v_bool(stable)}},
				    3, 1))
				TEST_FAIL("case %zu, dimension %d", n, (int)dim);
			ttnn_tensor_unref(x);
		}
}

/* Programs for lines take the maximum off unasked: exponentials of large numbers stay in range. */
TEST(large_numbers_along_lines)
{
	uint64_t state = 2;

	for (uint32_t n = 0; n < 6; n++) {
		const struct ttnn_spec_args spec =
			given_spec(TTNN_BFLOAT16, 1, 1 + n % 3, 32 + 48 * n, 64);
		ttnn_tensor *x = golden_make(&spec, &state, -900, 900);

		golden_case("ttnn.softmax",
			    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)},
						{NULL, ttnn_v_int(n % 2 ? -2 : -3)},
						{"numeric_stable", ttnn_v_bool(false)}},
			    3, 1);
		ttnn_tensor_unref(x);
	}
}

TEST(rows_are_tilized)
{
	struct ttnn_spec_args spec = {.shape = {4, {2, 3, 45, 70}}, .layout = TTNN_ROW_MAJOR};
	uint64_t state = 2;
	ttnn_tensor *x = golden_make(&spec, &state, -4, 4);

	golden_case("ttnn.softmax", (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)}}, 1, 1);
	ttnn_tensor_unref(x);
}

TEST(in_place)
{
	const struct golden_wants wants = {.dtypes = TYPES, .min_rank = 4, .max_rank = 4};
	uint64_t state = 3;

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = golden_input(n, &wants);
		ttnn_tensor *x = golden_make(&spec, &state, -4, 4);

		golden_case("ttnn.softmax_in_place", (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)}},
			    1, 1);
		ttnn_tensor_unref(x);
	}
}

/* An input and a mask for it: one row for all rows, or a row for each. */
struct pair {
	ttnn_tensor *x, *mask;
};

static struct pair make_pair(size_t n, bool full, uint64_t *state)
{
	const struct golden_wants wants = {.dtypes = TYPES, .min_rank = 4, .max_rank = 4};
	struct ttnn_spec_args spec = golden_input(n, &wants), mask = {.dtype = spec.dtype};
	struct pair pair;

	mask.layout = TTNN_TILE;
	mask.shape = spec.shape;
	mask.shape.dim[1] = 1;
	if (!full)
		mask.shape.dim[2] = n % 2 ? 32 : 1;
	pair.x = golden_make(&spec, state, -4, 4);
	pair.mask = golden_make(&mask, state, -9, 0);
	return pair;
}

static void unref_pair(struct pair pair)
{
	ttnn_tensor_unref(pair.x);
	ttnn_tensor_unref(pair.mask);
}

TEST(masks)
{
	uint64_t state = 4;

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		struct pair row = make_pair(n, false, &state), all = make_pair(n, true, &state);

		golden_case("ttnn.scale_mask_softmax",
			    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(row.x)},
						{NULL, ttnn_v_real(0.25)},
						{NULL, ttnn_v_tensor(row.mask)}},
			    3, 1);
		golden_case("ttnn.transformer.attention_softmax",
			    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(row.x)},
						{"head_size", ttnn_v_int(16)},
						{"attention_mask", ttnn_v_tensor(row.mask)}},
			    3, 1);
		golden_case("ttnn.transformer.attention_softmax",
			    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(row.x)},
						{"head_size", ttnn_v_int(64)}},
			    2, 2);
		golden_case("ttnn.scale_mask_softmax_in_place",
			    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(row.x)},
						{NULL, ttnn_v_real(0.5)},
						{NULL, ttnn_v_tensor(row.mask)}},
			    3, 1);
		golden_case("ttnn.transformer.attention_softmax_",
			    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(row.x)},
						{"head_size", ttnn_v_int(16)},
						{"attention_mask", ttnn_v_tensor(row.mask)}},
			    3, 1);
		golden_case("ttnn.scale_mask_softmax_in_place",
			    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(all.x)},
						{NULL, ttnn_v_real(0.5)},
						{NULL, ttnn_v_tensor(all.mask)},
						{"is_causal_mask", ttnn_v_bool(true)}},
			    4, 1);
		unref_pair(row);
		unref_pair(all);
	}
}

/* Masks of their own for every head, in shards like the input's, and one row in pieces of a tile. */
TEST(masks_in_shards_and_pieces)
{
	uint64_t state = 6;

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t heads = 1 + (uint32_t)n % 4, pieces = 1 + (uint32_t)n % 5;
		struct ttnn_spec_args spec = {.shape = {4, {1, heads, 32, 32 * pieces}},
					      .layout = TTNN_TILE,
					      .dtype = n % 3 ? TTNN_BFLOAT16 : TTNN_FLOAT32};
		struct ttnn_spec_args row = {.shape = {4, {1, 1, pieces, 32}},
					     .layout = TTNN_ROW_MAJOR,
					     .dtype = TTNN_BFLOAT16};
		struct ttnn_shard_spec shard = {.height = 32, .width = 32 * pieces};
		const struct ttnn_value grid[] = {ttnn_v_int(heads), ttnn_v_int(1)};
		struct tt_arena arena = {0};
		struct ttnn_arg args[5];
		ttnn_tensor *x, *m;

		CHECK_OK(tt_core_set_grid(&shard.grid, heads, 1));
		CHECK_OK(ttnn_memory_config_sharded(&spec.memory, TTNN_HEIGHT_SHARDED, TTNN_L1,
						    &shard));
		x = golden_make(&spec, &state, -4, 4);
		m = golden_make(n % 2 ? &row : &spec, &state, -9, 0);
		args[0] = (struct ttnn_arg){NULL, ttnn_v_tensor(x)};
		args[1] = (struct ttnn_arg){NULL, ttnn_v_real(0.5)};
		args[2] = (struct ttnn_arg){NULL, ttnn_v_tensor(m)};
		args[3].name = "program_config";
		CHECK_OK(tt_object_make(&args[3].value, &arena,
					"SoftmaxShardedMultiCoreProgramConfig",
					(struct ttnn_arg[]){{NULL, ttnn_v_list(grid, 2)},
							    {NULL, ttnn_v_int(1)},
							    {NULL, ttnn_v_int(1)},
							    {NULL, ttnn_v_int(pieces)}},
					4));
		args[4] = (struct ttnn_arg){"is_causal_mask", ttnn_v_bool(n % 2 == 0)};
		golden_case("ttnn.scale_mask_softmax_in_place", args, 5, 1);
		ttnn_tensor_unref(x);
		ttnn_tensor_unref(m);
		tt_arena_deinit(&arena);
	}
}

/* The mask of all heads, of a tensor whose shards are whole rows. */
TEST(sharded_causal_masks)
{
	struct tt_arena arena = {0};
	uint64_t state = 5;

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t i = (uint32_t)n, heads = 1 + i % 4;
		uint32_t height = 32 * (1 + i % 3), width = 32 * (1 + i % 5);
		uint32_t turns = n % 2 && heads % 2 == 0 ? 2 : 1;
		struct ttnn_spec_args spec = {.shape = {4, {1, heads, height, width}},
					      .layout = TTNN_TILE,
					      .dtype = n % 3 ? TTNN_BFLOAT16 : TTNN_FLOAT32};
		struct ttnn_spec_args mask = {.shape = {4, {1, 1, height * turns, width}},
					      .layout = TTNN_TILE};
		struct ttnn_shard_spec shard = {.height = height, .width = width};
		const struct ttnn_value grid[] = {ttnn_v_int(heads), ttnn_v_int(1)};
		struct ttnn_value config;
		ttnn_tensor *x, *m;

		CHECK_OK(tt_core_set_grid(&shard.grid, heads, 1));
		CHECK_OK(ttnn_memory_config_sharded(&spec.memory, TTNN_HEIGHT_SHARDED, TTNN_L1,
						    &shard));
		CHECK_OK(tt_object_make(&config, &arena, "SoftmaxShardedMultiCoreProgramConfig",
					(struct ttnn_arg[]){{NULL, ttnn_v_list(grid, 2)},
							    {NULL, ttnn_v_int(1)},
							    {NULL, ttnn_v_int(height / 32)},
							    {NULL, ttnn_v_int(width / 32)}},
					4));
		x = golden_make(&spec, &state, -4, 4);
		m = golden_make(&mask, &state, -9, 0);
		golden_case("ttnn.scale_causal_mask_hw_dims_softmax_in_place",
			    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)},
						{NULL, ttnn_v_real(0.5)},
						{NULL, ttnn_v_tensor(m)},
						{"program_config", config}},
			    4, 1);
		ttnn_tensor_unref(x);
		ttnn_tensor_unref(m);
	}
	tt_arena_deinit(&arena);
}

TEST(every_row_was_tested)
{
	golden_check_family("softmax");
	golden_close();
}
