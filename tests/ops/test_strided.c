/* Collectives in the order in which products take or give their blocks, on meshes, against their goldens. */
#include "test.h"

#include "event/value.h"
#include "golden.h"
#include "ops/activation.h"
#include "ops/given_mesh.h"
#include "ops/objects.h"
#include "ops/op_enums.h"

static const char *const gather = "ttnn.experimental.strided_all_gather_async";
static const char *const scatter = "ttnn.experimental.strided_reduce_scatter_async";
static const char *const minimal = "ttnn.experimental.minimal_matmul_strided_reduce_scatter_async";

#define CORE(x_, y_) ((struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = {x_, y_}})

static enum ttnn_dtype dtype_of(uint32_t n)
{
	static const enum ttnn_dtype dtypes[] = {TTNN_BFLOAT16, TTNN_FLOAT32, TTNN_BFLOAT8_B};

	return dtypes[n % 3];
}

TEST(parts_of_all)
{
	struct given given = {.state = 31};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t chips = n % 2 ? 2 : 8, dim = n % 5 == 4 ? 2 : 3;
		struct ttnn_spec_args in = given_spec(dtype_of(n), 1 + n % 2, 1 + n % 3,
						      dim == 2 ? 64 : 20 + n, 32 << n % 2),
				      all = in;

		given_mesh(1, chips);
		in.layout = n % 6 == 3 ? TTNN_ROW_MAJOR : TTNN_TILE;
		all.layout = in.layout;
		all.shape.dim[dim] *= chips;
		given_chips(&given, NULL, &in, -2, 2);
		if (n % 4 == 2)
			given_tensor(&given, "persistent_output_buffer", &all, 0, 0);
		else
			given_add(&given, "persistent_output_buffer", ttnn_v_none());
		given_add(&given, "dim", ttnn_v_int(dim));
		given_add(&given, "multi_device_global_semaphore", given_list(&given, 0, 1, 2));
		if (n % 3 == 1)
			given_add(&given, "mm_block_ht", ttnn_v_int(1));
		given_case(&given, gather, n, 1);
	}
}

TEST(sums_in_parts)
{
	struct given given = {.state = 32};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t chips = n % 2 ? 2 : 8;
		const struct ttnn_spec_args in =
			given_spec(dtype_of(n), 1 + n % 2, 1, 20 + 7 * n, chips * (32 << n % 3));

		given_mesh(1, chips);
		given_chips(&given, NULL, &in, -2, 2);
		given_add(&given, "dim", ttnn_v_int(n % 4 ? 3 : -1));
		given_add(&given, "multi_device_global_semaphore", given_list(&given, 0, 1, 3));
		given_add(&given, "mm_block_ht", ttnn_v_int(1 + n % 2));
		given_add(&given, "mm_block_wt", ttnn_v_int(1));
		given_case(&given, scatter, n, 10);
	}
}

/* A whole number on every chip. */
static void add_number(struct given *given, const char *name, int32_t number)
{
	given_numbers(given, name, &(struct ttnn_shape){1, {1}}, TTNN_UINT32, &number);
}

/* Parts of all, of one batch of several, or of what is in use. */
TEST(parts_in_use)
{
	struct given given = {.state = 35};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		bool rows = n % 6 == 3, batch = n % 3 == 1, part = n % 4 == 2 || n % 4 == 3;
		uint32_t dim = n % 5 == 4 && !batch && !part ? 3 : 2;
		struct ttnn_spec_args in = given_spec(rows ? TTNN_FLOAT32 : dtype_of(n),
						      batch ? 6 : 1, 1, 64 << n % 2, 64),
				      out = in;

		given_mesh(2, 4);
		in.layout = out.layout = rows ? TTNN_ROW_MAJOR : TTNN_TILE;
		out.shape.dim[0] = 1;
		out.shape.dim[dim] *= n % 2 ? 4 : 2;
		given_chips(&given, NULL, &in, -2, 2);
		given_add(&given, "dim", ttnn_v_int(dim));
		given_chips(&given, "output_tensor", &out, -2, 2);
		given_add(&given, "cluster_axis", ttnn_v_int(n % 2));
		if (batch && n % 2)
			given_add(&given, "input_batch_index", ttnn_v_int(n % 6));
		if (batch && n % 2 == 0) {
			add_number(&given, "input_batch_index_tensor", 1);
			given_add(&given, "batch_slot_num_layers", ttnn_v_int(3));
			given_add(&given, "batch_slot_layer_idx", ttnn_v_int(2));
		}
		if (n % 4 == 2)
			given_add(&given, "gathered_dim_size", ttnn_v_int(64));
		if (n % 4 == 3) {
			add_number(&given, "gathered_prefix_tensor", n % 8 == 3 ? 128 : 5);
			given_add(&given, "gathered_slab_global", ttnn_v_int(128));
		}
		given_case(&given, "ttnn.experimental.high_bw_all_gather", n, 1);
	}
}

static struct ttnn_value object(struct tt_arena *arena, const char *name,
				const struct ttnn_arg *fields, size_t count)
{
	struct ttnn_value config = {0};

	CHECK_OK(tt_object_make(&config, arena, name, fields, count));
	return config;
}

/* How a product is cut and computed, where it begins to send, and along what. */
static void add_product(struct given *given, struct tt_arena *arena)
{
	const struct ttnn_arg blocks[] = {
		{"M_block_size", ttnn_v_int(1)}, {"K_block_size", ttnn_v_int(1)},
		{"N_block_size", ttnn_v_int(1)}, {"subblock_h", ttnn_v_int(1)},
		{"subblock_w", ttnn_v_int(1)},   {"compute_with_storage_grid_size", CORE(2, 2)},
	};

	given_add(given, "dim", ttnn_v_int(3));
	given_add(given, "multi_device_global_semaphore", given_list(given, 0, 1, 3));
	given_add(given, "reduce_scatter_core_grid_offset", CORE(0, 4));
	given_add(given, "config", object(arena, "MinimalMatmulConfig", blocks, TT_COUNT(blocks)));
	given_add(given, "compute_kernel_config",
		  object(arena, "WormholeComputeKernelConfig",
			 (struct ttnn_arg[]){{"fp32_dest_acc_en", ttnn_v_bool(true)}}, 1));
}

TEST(sums_of_products_in_blocks)
{
	struct given given = {.state = 33};
	struct tt_arena arena = {0};
	struct ttnn_value gelu;

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		enum ttnn_dtype dtype = n % 4 == 3 ? TTNN_FLOAT32 : TTNN_BFLOAT16;
		uint32_t chips = n % 2 ? 2 : 8, rows = 32 * (1 + n % 3), depth = 32 * (1 + n % 4);
		uint32_t part = 32 << n % 2, columns = part * chips;
		const struct ttnn_spec_args a = given_spec(dtype, 1, 1, rows, depth),
					    b = given_spec(dtype, 1, 1, depth, columns),
					    bias = given_spec(dtype, 1, 1, 1, columns),
					    out = given_spec(dtype, 1, 1, rows, part),
					    gate = given_spec(dtype, 1, 1, n % 4 == 2 ? rows : 1,
							      part);

		given_mesh(1, chips);
		given_chips(&given, NULL, &a, -2, 2);
		given_chips(&given, NULL, &b, -2, 2);
		add_product(&given, &arena);
		if (n % 3 == 1)
			given_chips(&given, "bias", &bias, -2, 2);
		if (n % 5 == 4) {
			CHECK_OK(tt_activation_named(&gelu, &arena, "gelu"));
			given_add(&given, "fused_activation", gelu);
		}
		if (n % 6 == 5)
			given_tensor(&given, "optional_rs_output_tensor", &out, 0, 0);
		if (n % 2 == 0) {
			given_add(&given, "fused_ternary_scalar", ttnn_v_real(0.5));
			given_chips(&given, "addcmul_input_tensor1", &out, -2, 2);
			given_chips(&given, "addcmul_input_tensor2", &gate, -2, 2);
		}
		/* Products are rounded before they are added up. */
		given_case(&given, minimal, n, 30);
	}
	tt_arena_deinit(&arena);
}

/* What all chips have of the second result, one chip after the other. */
static void numbers_of(float *out, const struct given *given, uint32_t chips)
{
	struct ttnn_results results;
	ttnn_tensor *part;

	CHECK_OK(ttnn_call(&results, minimal, given->args, given->count, TTNN_FRONTEND_C));
	for (uint32_t i = 0; i < chips; i++) {
		CHECK_OK(tt_tensor_resident(&part, results.tensors[1], i, TT_BUFFER_READ));
		memcpy(&out[i * 1024], tt_tensor_data(part), 4096);
		ttnn_tensor_unref(part);
	}
	for (size_t i = 0; i < results.count; i++)
		ttnn_tensor_unref(results.tensors[i]);
}

/* The same numbers come of a product that is kept, and of one that is only in a window. */
TEST(products_in_a_window)
{
	static float kept[2][1024], window[2][1024];
	struct given given = {.state = 34};
	struct tt_arena arena = {0};
	const struct ttnn_spec_args a = given_spec(TTNN_FLOAT32, 1, 1, 64, 64),
				    b = given_spec(TTNN_FLOAT32, 1, 1, 64, 64);
	struct ttnn_shard_spec shard = {.height = 1, .width = 64};
	struct ttnn_spec_args counts = {
		.shape = {2, {64, 64}}, .dtype = TTNN_UINT32, .layout = TTNN_ROW_MAJOR};

	given_mesh(1, 2);
	given_chips(&given, NULL, &a, -2, 2);
	given_chips(&given, NULL, &b, -2, 2);
	add_product(&given, &arena);
	numbers_of(kept[0], &given, 2);
	CHECK_OK(tt_core_set_grid(&shard.grid, 8, 8));
	CHECK_OK(ttnn_memory_config_sharded(&counts.memory, TTNN_HEIGHT_SHARDED, TTNN_L1, &shard));
	given_add(&given, "mm_window_blocks", ttnn_v_int(1));
	given_tensor(&given, "mm_progress_counters", &counts, 0, 0);
	given_tensor(&given, "mm_credit_counters", &counts, 0, 0);
	numbers_of(window[0], &given, 2);
	CHECK(memcmp(kept, window, sizeof(kept)) == 0);
	given_free(&given);
	tt_arena_deinit(&arena);
}

TEST(zz_all_rows)
{
	golden_check_family("collective_strided");
	golden_close();
}
