/* heads out of separate blocks, and those of BERT large, against their goldens */
#include "test.h"

#include "event/value.h"
#include "golden.h"
#include "ops/given.h"
#include "ops/golden_cases.h"

static const char *const separate = "ttnn.experimental.create_qkv_heads_from_separate_tensors";
static const char *const concatenate = "ttnn.experimental.concatenate_heads";

/* Blocks of a batch and so many columns on each core. */
static void put_in_blocks(struct ttnn_spec_args *spec, uint32_t across, bool turned)
{
	uint32_t down = spec->shape.dim[0];
	struct ttnn_shard_spec shard = {
		.height = (spec->shape.dim[2] + 31) / 32 * 32,
		.width = spec->shape.dim[3] / across,
		.orientation = turned ? TTNN_ORIENT_COL_MAJOR : TTNN_ORIENT_ROW_MAJOR,
	};

	CHECK_OK(tt_core_set_grid(&shard.grid, turned ? down : across, turned ? across : down));
	CHECK_OK(ttnn_memory_config_sharded(&spec->memory, TTNN_BLOCK_SHARDED, TTNN_L1, &shard));
}

TEST(separate_blocks)
{
	static const enum ttnn_dtype dtypes[] = {TTNN_BFLOAT16, TTNN_FLOAT32, TTNN_BFLOAT8_B};
	static const struct ttnn_memory_config height = {.buffer = TTNN_L1,
							 .layout = TTNN_HEIGHT_SHARDED};
	struct given given = {.state = 3};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t batches = 1 + n % 3, across = 1 + n % 4 / 2, width = 32 * (1 + n % 2);
		uint32_t kv_heads = across * (1 + n % 3), heads = kv_heads * (1 + n % 5 / 3);
		struct ttnn_spec_args q =
			given_spec(dtypes[n % 3], batches, 1, 32 * (2 + n % 2), heads * width);
		struct ttnn_spec_args kv = given_spec(dtypes[n % 3], batches, 1,
						      n % 4 == 1 ? 77 : 64, 2 * kv_heads * width);

		put_in_blocks(&q, across, n % 5 == 2);
		put_in_blocks(&kv, across, n % 5 == 2);
		given_tensor(&given, "input", &q, -4, 4);
		given_tensor(&given, "input_kv", &kv, -4, 4);
		given_add(&given, "num_heads", ttnn_v_int(heads));
		given_add(&given, "num_kv_heads", ttnn_v_int(kv_heads));
		given_add(&given, "transpose_k_heads", ttnn_v_bool(n % 2));
		given_add(&given, "memory_config", ttnn_v_memory(&height));
		given_case(&given, separate, n, 1);
	}
}

TEST(goldens_refuse_what_does_not_fit)
{
	struct given given = {.state = 4};
	const struct ttnn_spec_args q = given_spec(TTNN_BFLOAT16, 1, 1, 32, 64);

	given_tensor(&given, "input", &q, -4, 4);
	given_tensor(&given, "input_kv", &q, -4, 4);
	given_add(&given, "num_heads", ttnn_v_int(2));
	given_refused(&given, separate, "bad optional access");
	golden_close();
}

/* It takes twelve columns of cores: a chip of Blackhole's galaxy has them. */
TEST(heads_of_bert)
{
	struct given given = {.state = 5};

	CHECK_OK(ttnn_device_open(&golden_opened, 0,
				  &(struct ttnn_device_options){.profile = "galaxy_bh"}));
	for (uint32_t n = 0; n < 20; n++) {
		struct ttnn_spec_args in =
			given_spec(n % 3 == 2 ? TTNN_BFLOAT8_B : TTNN_BFLOAT16, 7 + n % 3, 16,
				   n % 5 ? 384 : 370, n % 7 == 4 ? 40 : 64);

		golden_put(&in, n % 2 ? GOLDEN_L1 : GOLDEN_DRAM);
		given_tensor(&given, "input_tensor", &in, -4, 4);
		given_add(&given, "compute_with_storage_grid_size",
			  (struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = {12, 9}});
		given_case(&given, concatenate, n, 1);
	}
}

TEST(zz_all_rows)
{
	golden_check_family("heads_separate");
	golden_close();
}
