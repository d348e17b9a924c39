/* moe_compute: experts of other extents than 2880, as they were packed for the ring of cores, on one device; @slow */
#include "test.h"

#include "golden.h"
#include "ops/given_mesh.h"
#include "ops/op_enums.h"

static const char *const name = "ttnn.experimental.moe_compute";

static struct ttnn_spec_args in_one_shard(uint32_t rows, uint32_t columns, enum ttnn_dtype dtype)
{
	struct ttnn_core_range range = {{7, 7}, {7, 7}};
	struct ttnn_spec_args args = {
		.shape = {3, {1, rows, columns}},
		.dtype = dtype,
		.memory = {.layout = TTNN_HEIGHT_SHARDED, .buffer = TTNN_L1, .has_shard = true}};

	args.memory.shard = (struct ttnn_shard_spec){.height = rows, .width = columns};
	CHECK_OK(ttnn_core_set_make(&args.memory.shard.grid, &range, 1));
	return args;
}

static uint32_t up(uint32_t count, uint32_t step)
{
	return (count + step - 1) / step;
}

/* Extents, and how much of gate and up a bank has of them. */
struct extents {
	uint32_t in, between, blocks, rows;
	bool bias;
};
static const struct extents extents[] = {
	{256, 384, 1, 224, false}, {64, 384, 1, 224, false}, {256, 384, 1, 224, true},
	{512, 384, 2, 224, false}, {320, 480, 2, 224, true}, {96, 768, 1, 224, false},
	{416, 416, 2, 224, true},
};

static void add_weights(struct given *given, const struct extents *extent, uint32_t layers,
			uint32_t experts)
{
	uint32_t high = up(extent->between / 32 + extent->bias, 7) * 7 * 32;
	uint32_t groups = up(up(extent->in / 32, 12), 4);
	struct ttnn_core_range range = {{0, 0}, {11, 0}};
	struct ttnn_spec_args args = {
		.shape = {6, {12, layers, experts, extent->blocks, extent->rows, 128}},
		.dtype = layers > 1 ? TTNN_BFLOAT8_B : TTNN_BFLOAT4_B,
		.layout = TTNN_TILE,
		.memory = {.layout = TTNN_HEIGHT_SHARDED, .buffer = TTNN_DRAM, .has_shard = true}};

	CHECK_OK(ttnn_core_set_make(&args.memory.shard.grid, &range, 1));
	args.memory.shard.width = 128;
	args.memory.shard.height = layers * experts * extent->blocks * extent->rows;
	given_tensor(given, "matmul_w0_w1_tensor", &args, -0.2, 0.2);
	args.shape.dim[3] = groups;
	args.shape.dim[4] = high;
	args.memory.shard.height = layers * experts * groups * high;
	given_tensor(given, "matmul_w2_tensor", &args, -0.2, 0.2);
}

static void add_case(struct given *given, uint32_t n)
{
	const struct extents *extent = &extents[n % TT_COUNT(extents)];
	uint32_t tokens = 1 + n * 5 % 33, k = 1 + n % 4, experts = 1 + n % 3,
		 layers = 1 + n % 5 / 4;
	struct ttnn_spec_args in = {.shape = {3, {1, tokens, extent->in}}, .dtype = TTNN_BFLOAT16};
	struct ttnn_spec_args ids = in_one_shard(tokens, k, TTNN_UINT16);
	int32_t mapping[8] = {0}, choices[64 * 4];

	for (uint32_t i = 0; i < 8; i++)
		mapping[i] = i % 3 == n % 3 && i / 3 < experts ? 0 : 1;
	for (uint32_t i = 0; i < tokens * k; i++)
		choices[i] = (int32_t)((i / k * 3 + i % k + n) % 8);
	given_tensor(given, "tilize_input_tensor", &in, -1, 1);
	given_put(given_tensor(given, "tilize_expert_indices_tensor", &ids, 0, 1), 0, choices);
	ids.dtype = TTNN_BFLOAT16;
	given_tensor(given, "tilize_expert_scores_tensor", &ids, 0, 1);
	given_numbers(given, "tilize_expert_mapping_tensor", &(struct ttnn_shape){2, {1, 8}},
		      TTNN_UINT16, mapping);
	add_weights(given, extent, layers, experts);
	given_add(given, "layer_id", ttnn_v_int(layers - 1));
	given_add(given, "output_height_shard_dim", ttnn_v_int(n % 5 == 3 ? 4 : 2));
	given_add(given, "intermediate_size", ttnn_v_int(extent->between));
	given_add(given, "has_bias", ttnn_v_bool(extent->bias));
	given_add(given, "activation_type", tt_value_enum(&tt_enum_moe_activation, n % 4));
	if (n % 4 == 3)
		given_add(given, "activation_limit", ttnn_v_real(0.5));
	if (n % 3 == 0)
		given_add(given, "compute_only", ttnn_v_bool(true));
	if (n % 3 == 2)
		given_add(given, "cluster_axis", ttnn_v_int(n % 2));
}

TEST(experts_of_one_device)
{
	struct given given = {.state = 5};

	golden_keep_memory();
	for (uint32_t n = 0; n < 24; n++) {
		add_case(&given, n);
		given_case(&given, name, n, 40);
	}
	golden_close();
	golden_check_family("moe_compute");
}
