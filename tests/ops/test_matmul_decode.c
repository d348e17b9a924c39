/* products with weights that lie in blocks on cores, against their golden */
#include "test.h"

#include "golden.h"
#include "ops/given.h"
#include "ops/golden_cases.h"

static const char *const decode = "ttnn.experimental.matmul_decode";

/* Columns on so many cores of a row, of all rows there are. */
static void put_in_columns(struct ttnn_spec_args *spec, uint32_t cores)
{
	uint32_t rank = spec->shape.rank, tile = spec->tile.height ? spec->tile.height : 32;
	struct ttnn_shard_spec shard = {.width = spec->shape.dim[rank - 1] / cores};

	shard.height = (spec->shape.dim[rank - 2] + tile - 1) / tile * tile;
	for (uint32_t i = 0; i + 2 < rank; i++)
		shard.height *= spec->shape.dim[i];
	CHECK_OK(tt_core_set_grid(&shard.grid, cores, 1));
	CHECK_OK(ttnn_memory_config_sharded(&spec->memory, TTNN_WIDTH_SHARDED, TTNN_L1, &shard));
}

static enum ttnn_dtype dtype_of(uint32_t n)
{
	return n % 4 == 3 ? TTNN_BFLOAT8_B : n % 4 == 2 ? TTNN_FLOAT32 : TTNN_BFLOAT16;
}

/* Weights of one, two or four matrices or blocks, of 64 columns for each core. */
static void run(struct given *given, const struct ttnn_spec_args *a, const struct ttnn_spec_args *b,
		uint32_t n)
{
	given_tensor(given, "input_tensor_a", a, -2, 2);
	given_tensor(given, "input_tensor_b", b, -2, 2);
	if (n % 5 == 1)
		given_add(given, "dtype", ttnn_v_dtype(TTNN_BFLOAT8_B));
	given_case(given, decode, n, 2);
}

TEST(whole_columns)
{
	struct given given = {.state = 3};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t k = 64 * (1 + n % 3), columns = 32 * (2 + n % 4);
		struct ttnn_spec_args a = given_spec(TTNN_BFLOAT16, 1 + 9 * n % 40, k, 0, 0);
		struct ttnn_spec_args b = given_spec(dtype_of(n), k, columns, 0, 0);

		if (n % 6 == 5) {
			a.tile = (struct ttnn_tile){.height = 16, .width = 32};
			a.shape.dim[0] = 16;
		}
		put_in_columns(&a, 2);
		put_in_columns(&b, columns / 32);
		run(&given, &a, &b, n);
	}
}

TEST(blocks_of_rows)
{
	struct given given = {.state = 4};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t blocks = n % 2 ? 4 : 2, high = 32 * (1 + n % 3);
		struct ttnn_spec_args a =
			given_spec(TTNN_BFLOAT16, 1 + 7 * n % 33, blocks * high, 0, 0);
		struct ttnn_spec_args b = given_spec(dtype_of(n), high, blocks * 64, 0, 0);

		put_in_columns(&a, 2);
		put_in_columns(&b, 2 * blocks);
		given_add(&given, "partial_width_sharded", ttnn_v_bool(true));
		run(&given, &a, &b, n);
	}
}

TEST(blocks_of_matrices)
{
	struct given given = {.state = 5};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t each = 1 + n % 2, blocks = n % 3 ? 2 : 4, k = 64 * (1 + n % 2);
		struct ttnn_spec_args a =
			given_spec(TTNN_BFLOAT16, n % 4 ? 1 : 2, each * blocks / (n % 4 ? 1 : 2),
				   1 + 7 * n % 33, k);
		struct ttnn_spec_args b = given_spec(dtype_of(n), 1, 1, each * k, blocks * 64);

		put_in_columns(&a, 2);
		put_in_columns(&b, 2 * blocks);
		run(&given, &a, &b, n);
	}
}

TEST(goldens_refuse_what_does_not_fit)
{
	struct given given = {.state = 6};
	const struct ttnn_spec_args a = given_spec(TTNN_BFLOAT16, 1, 2, 32, 64);
	const struct ttnn_spec_args b = given_spec(TTNN_BFLOAT16, 1, 1, 32, 64);

	given_tensor(&given, "input_tensor_a", &a, -2, 2);
	given_tensor(&given, "input_tensor_b", &b, -2, 2);
	given_refused(&given, decode, "must be a multiple of K 64");
}

TEST(zz_all_rows)
{
	golden_check_family("matmul_decode");
	golden_close();
}
