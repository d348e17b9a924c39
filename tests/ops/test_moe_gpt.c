/* @slow experts of one shape that are multiplied with on a ring of cores: each case reads millions of weights */
#include "test.h"

#include "golden.h"
#include "ops/given_mesh.h"

static const char *const name = "ttnn.experimental.moe_gpt";

/* Gate and up, and down, of so many experts with small numbers, made once for all cases. */
static void make_weights(ttnn_tensor *out[2], uint64_t *state, uint32_t experts)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct ttnn_spec_args args = {.shape = {6, {12, 1, experts, i ? 2 : 4, 2912, 128}},
					      .dtype = TTNN_BFLOAT4_B,
					      .layout = TTNN_TILE};

		out[i] = golden_make(&args, state, -0.06, 0.06);
	}
}

static struct ttnn_spec_args in_one_shard(uint32_t rows, uint32_t columns, enum ttnn_dtype dtype)
{
	struct ttnn_core_range range = {{2, 1}, {2, 1}};
	struct ttnn_spec_args args = {
		.shape = {2, {rows, columns}},
		.dtype = dtype,
		.memory = {.layout = TTNN_HEIGHT_SHARDED, .buffer = TTNN_L1, .has_shard = true}};

	args.memory.shard = (struct ttnn_shard_spec){.height = rows, .width = columns};
	CHECK_OK(ttnn_core_set_make(&args.memory.shard.grid, &range, 1));
	return args;
}

/* Of 16 experts the first `own` that a mapping names are on the first chip. */
static void add_case(struct given *given, uint32_t n, ttnn_tensor *const weights[2], uint32_t chips)
{
	uint32_t tokens = 8 + 2 * (n % 5), k = 1 + n % 4, own = weights[0]->spec.shape.dim[2];
	struct ttnn_spec_args in = {.shape = {2, {tokens, 2880}}, .dtype = TTNN_BFLOAT16};
	struct ttnn_spec_args ids = in_one_shard(tokens, k, TTNN_UINT16);
	int32_t mapping[8 * 16], choices[16 * 4];
	ttnn_tensor *table;

	for (uint32_t i = 0; i < chips * 16; i++)
		mapping[i] = i % 16 == n % 4 || (own > 1 && i % 16 == 9) ? 0 : 1 + (int)(i % 7);
	given_tensor(given, "input_tensor", &in, -1, 1);
	for (uint32_t i = 0; i < tokens * k; i++)
		choices[i] = (int32_t)((i / k * 3 + i % k * 5 + n) % (n % 3 ? 16 : 8));
	table = given_tensor(given, "expert_indices", &ids, 0, 1);
	for (uint32_t chip = 0; chip < chips; chip++)
		given_put(table, chip, choices);
	ids.dtype = TTNN_BFLOAT16;
	given_tensor(given, "expert_scores", &ids, 0, 1);
	given_numbers(given, "expert_mapping", &(struct ttnn_shape){2, {chips, 16}}, TTNN_UINT16,
		      mapping);
	given_add(given, "w0_w1_tensor", ttnn_v_tensor(weights[0]));
	given_add(given, "w2_tensor", ttnn_v_tensor(weights[1]));
	if (n % 3 == 1) {
		given_add(given, "output_height_shard_dim", ttnn_v_int(2));
		given_add(given, "output_width_shard_dim", ttnn_v_int(3));
	}
}

TEST(experts_on_a_ring)
{
	struct given given = {.state = 5};
	ttnn_tensor *one[2], *two[2];

	golden_keep_memory();
	make_weights(one, &given.state, 1);
	for (uint32_t n = 0; n < 17; n++) {
		add_case(&given, n, one, 1);
		given_case(&given, name, n, 40);
	}
	for (uint32_t i = 0; i < 2; i++)
		ttnn_tensor_unref(one[i]);
	make_weights(two, &given.state, 2);
	for (uint32_t n = 3; n < 4; n++) {
		add_case(&given, n, two, 1);
		given_case(&given, name, n, 40);
	}
	for (uint32_t i = 0; i < 2; i++)
		ttnn_tensor_unref(two[i]);
}

/* Chips of a mesh have tokens of those along an axis. */
TEST(experts_of_a_mesh)
{
	struct given given = {.state = 6};
	ttnn_tensor *one[2];

	given_mesh(1, 2);
	make_weights(one, &given.state, 1);
	for (uint32_t n = 0; n < 2; n++) {
		add_case(&given, n, one, 2);
		given_add(&given, "cluster_axis", ttnn_v_int(n));
		given_case(&given, name, n, 40);
	}
	for (uint32_t i = 0; i < 2; i++)
		ttnn_tensor_unref(one[i]);
	golden_close();
	golden_check_family("moe_gpt");
}
