/* Operations that are a collective and something else, on meshes whose chips have other numbers each, against their goldens. */
#include "test.h"

#include "event/value.h"
#include "golden.h"
#include "ops/given_mesh.h"
#include "ops/objects.h"

static const char *const gather_matmul = "ttnn.experimental.all_gather_matmul_async";
static const char *const matmul_scatter = "ttnn.experimental.matmul_reduce_scatter_async";

#define CORE(x_, y_) ((struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = {x_, y_}})

/* Blocks of one tile; the product is on so many columns and rows of cores. */
static struct ttnn_value block_config(struct tt_arena *arena, int64_t cols, int64_t rows)
{
	const struct ttnn_arg fields[] = {
		{"compute_with_storage_grid_size", CORE((uint32_t)cols, (uint32_t)rows)},
		{"in0_block_w", ttnn_v_int(1)},
		{"out_subblock_h", ttnn_v_int(1)},
		{"out_subblock_w", ttnn_v_int(1)},
		{"per_core_M", ttnn_v_int(1)},
		{"per_core_N", ttnn_v_int(1)},
		{"transpose_mcast", ttnn_v_bool(false)},
		{"fused_activation", ttnn_v_none()},
		{"fuse_batch", ttnn_v_bool(false)},
	};
	struct ttnn_value config;

	CHECK_OK(tt_object_make(&config, arena, "MatmulMultiCoreReuseMultiCastProgramConfig",
				fields, TT_COUNT(fields)));
	return config;
}

TEST(products_of_what_is_gathered)
{
	struct given given = {.state = 5};
	struct tt_arena arena = {0};

	given_mesh(1, 8);
	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		enum ttnn_dtype dtype = n % 4 == 3 ? TTNN_FLOAT32 : TTNN_BFLOAT16;
		uint32_t rows = 32 * (1 + n % 3) - (n % 5 == 2 ? 7 : 0), width = 32 * (1 + n % 2);
		uint32_t columns = 32 * (1 + n % 4);
		const struct ttnn_spec_args a = given_spec(dtype, 1, 1, rows, width),
					    b = given_spec(dtype, 1, 1, 8 * width, columns),
					    all = given_spec(dtype, 1, 1, rows, 8 * width),
					    bias = given_spec(dtype, 1, 1, 1, columns);

		given_chips(&given, NULL, &a, -2, 2);
		given_chips(&given, NULL, &b, -2, 2);
		if (n % 3 == 1)
			given_tensor(&given, "persistent_output_buffer", &all, 0, 0);
		if (n % 4 == 1)
			given_chips(&given, "bias", &bias, -2, 2);
		given_add(&given, "dim", ttnn_v_int(3));
		given_add(&given, "multi_device_global_semaphore", given_list(&given, 0, 1, 2));
		given_add(&given, "all_gather_core_grid_offset", CORE(0, 6));
		given_add(&given, "program_config", block_config(&arena, 8, 6));
		given_case(&given, gather_matmul, n, 8);
	}
	tt_arena_deinit(&arena);
}

TEST(sums_of_products)
{
	struct given given = {.state = 6};
	struct tt_arena arena = {0};

	given_mesh(1, 8);
	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		enum ttnn_dtype dtype = n % 4 == 3 ? TTNN_FLOAT32 : TTNN_BFLOAT16;
		uint32_t batches = 1 + n % 2, rows = 32 * (1 + n % 3), depth = 32 * (1 + n % 4);
		const struct ttnn_spec_args a = given_spec(dtype, batches, 1, rows, depth),
					    b = given_spec(dtype, 1, 1, depth, 256),
					    between = given_spec(dtype, batches, 1, rows, 256),
					    out = given_spec(dtype, batches, 1, rows, 32),
					    bias = given_spec(dtype, 1, 1, 1, 256);

		given_chips(&given, NULL, &a, -2, 2);
		given_chips(&given, NULL, &b, -2, 2);
		given_tensor(&given, NULL, &between, 0, 0);
		given_tensor(&given, "persistent_output_buffer", &out, 0, 0);
		if (n % 4 == 1)
			given_chips(&given, "bias", &bias, -2, 2);
		given_add(&given, "dim", ttnn_v_int(3));
		given_add(&given, "multi_device_global_semaphore", given_list(&given, 0, 1, 3));
		given_add(&given, "reduce_scatter_core_grid_offset", CORE(0, 6));
		given_add(&given, "program_config", block_config(&arena, 8, 6));
		/* Eight products are rounded before they are added up. */
		given_case(&given, matmul_scatter, n, 30);
	}
	tt_arena_deinit(&arena);
}

TEST(zz_all_rows)
{
	golden_check_family("collective_fused");
	golden_close();
}
