/* attention over two sequences against its golden */
#include "test.h"

#include "event/value.h"
#include "golden.h"
#include "ops/given.h"
#include "ops/golden_cases.h"
#include "ops/objects.h"

static const char *const joint = "ttnn.transformer.joint_scaled_dot_product_attention";

/* A program config with chunks of so many rows of queries and of keys. */
static void add_config(struct given *given, struct tt_arena *arena, int64_t q, int64_t k)
{
	const struct ttnn_arg fields[] = {
		{"compute_with_storage_grid_size",
		 {.kind = TTNN_VALUE_CORE, .core = {(uint32_t)(q / 32) + 1, 4}}},
		{"q_chunk_size", ttnn_v_int(q)},
		{"k_chunk_size", ttnn_v_int(k)},
	};
	struct ttnn_value config;

	CHECK_OK(tt_object_make(&config, arena, "SDPAProgramConfig", fields, TT_COUNT(fields)));
	given_add(given, "program_config", config);
	given_add(given, "joint_strategy", ttnn_v_string("rear"));
}

static void add_tensors(struct given *given, const struct ttnn_spec_args *first,
			const struct ttnn_spec_args *second)
{
	for (int i = 0; i < 6; i++)
		given_tensor(given, NULL, i < 3 ? first : second, -2, 2);
}

TEST(two_sequences)
{
	static const uint32_t first[] = {32, 64, 40, 100, 1, 128}, second[] = {32, 7, 96, 33};
	struct given given = {.state = 5};
	struct tt_arena arena = {0};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		enum ttnn_dtype dtype = n % 5 == 3 ? TTNN_BFLOAT8_B : TTNN_BFLOAT16;
		uint32_t batches = 1 + n % 2, heads = 1 + n % 3, width = 32 * (1 + n % 4 / 2);
		const struct ttnn_spec_args one =
			given_spec(dtype, batches, heads, first[n % TT_COUNT(first)], width);
		const struct ttnn_spec_args other =
			given_spec(dtype, batches, heads, second[n % TT_COUNT(second)], width);

		add_tensors(&given, &one, &other);
		add_config(&given, &arena, n % 2 ? 32 : 64, n % 3 ? 32 : 128);
		if (n % 4 == 1)
			given_add(&given, "scale", ttnn_v_real(0.3));
		given_case(&given, joint, n, 3);
	}
	tt_arena_deinit(&arena);
}

TEST(one_sequence_is_empty)
{
	struct given given = {.state = 6};
	struct tt_arena arena = {0};
	const struct ttnn_spec_args one = given_spec(TTNN_BFLOAT16, 1, 2, 70, 32);
	struct ttnn_spec_args none = one;

	none.shape.dim[2] = 0;
	add_tensors(&given, &one, &none);
	add_config(&given, &arena, 32, 32);
	given_case(&given, joint, 0, 3);
	tt_arena_deinit(&arena);
}

TEST(goldens_refuse_what_does_not_fit)
{
	struct given given = {.state = 7};
	struct tt_arena arena = {0};
	const struct ttnn_spec_args one = given_spec(TTNN_BFLOAT16, 1, 2, 32, 32);
	const struct ttnn_spec_args other = given_spec(TTNN_BFLOAT16, 1, 1, 32, 32);

	add_tensors(&given, &one, &other);
	add_config(&given, &arena, 32, 32);
	given_refused(&given, joint, "Joint K num_heads must be equal to K num_heads");
	tt_arena_deinit(&arena);
}

TEST(zz_all_rows)
{
	golden_check_family("attention_joint");
	golden_close();
}
